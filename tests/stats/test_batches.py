"""Intervals and spreads for very many trials: coverage in simulation, and agreement with the dear way."""

import numpy as np
import pytest
from scipy import stats as peer

from levelbest.stats import difference_band, expected_best
from levelbest.stats.bands import _batches as batches
from levelbest.stats.bands._interval import best_interval
from levelbest.stats.best import _moments as moments
from levelbest.stats.best import _order as order
from levelbest.stats.best._laws import law_best, normal_best
from levelbest.stats.contrasts._differences import difference_bands
from levelbest.stats.contrasts._samples import Sample

N = np.array([1, 10, 60])


@pytest.mark.parametrize("law", [peer.norm(), peer.expon(), peer.uniform()], ids=["normal", "exponential", "uniform"])
def test_batches_cover(law):
    # 400 samples of 2,560 trials, nominal .95: below .91 has probability 6e-4 at .95, and 2 in 10^2 at .93.
    truth = np.array([law_best(law, int(n)) for n in N])
    rng = np.random.default_rng(0)
    hits = np.zeros(N.size)
    for scores in law.rvs(size=(400, 2560), random_state=1):
        low, high = batches.batch_limits(scores, N, None, alpha=0.05, simultaneous=False, rng=rng)
        hits += (low <= truth) & (truth <= high)
    assert (hits / 400 >= 0.91).all()
    assert (hits / 400 <= 0.99).all()


def test_ties_in_the_selection_score_do_not_bias():
    # Reported scores rise with the row, and selection has two values: the order of rows would lift n = 50 to .98.
    m = 40_000
    selection, reported = np.tile([0.0, 1.0], m // 2), np.arange(m) / m
    low, high = batches.batch_limits(
        selection, np.array([1, 5, 50]), reported, alpha=0.001, simultaneous=False, rng=np.random.default_rng(3)
    )
    truth = order.expected_best(selection, [1, 5, 50], reported)
    assert ((low <= truth) & (truth <= high)).all()
    assert (high - low < 0.1).all()


def test_simultaneous_limits_are_wider_and_batches_end_where_they_are_full():
    scores = np.random.default_rng(4).normal(size=4000)
    n = np.array([1, 50, batches.batch_size(4000), batches.batch_size(4000) + 1, 4000])
    limits = {
        wide: batches.batch_limits(scores, n, None, alpha=0.05, simultaneous=wide, rng=np.random.default_rng(5))
        for wide in (False, True)
    }
    assert (limits[True][0][:3] < limits[False][0][:3]).all()
    assert np.isnan(limits[False][0]).tolist() == [False, False, False, True, True]


def test_the_default_of_a_large_family_is_that_of_batches_and_mirrors():
    scores = np.random.default_rng(6).normal(size=batches.LARGE)
    one = best_interval(scores, [1, 100, 50_000], rng=1)
    assert one.method == "batches"
    assert np.isnan(one.low).tolist() == [False, False, True]
    assert "name a method" in one.reason
    other = best_interval(-scores, [1, 100, 50_000], direction="min", rng=1)
    assert other.low[:2] == pytest.approx(-one.high[:2])
    again = best_interval(scores, [1, 100, 50_000], rng=1)
    assert np.array_equal(again.low, one.low, equal_nan=True)


@pytest.mark.parametrize("kind", ["one column", "reported", "ties", "an outlier"])
def test_spreads_of_many_trials_are_those_of_the_dear_way(kind, monkeypatch):
    rng = np.random.default_rng(7)
    selection = rng.normal(size=100_000)
    reported = None if kind in ("one column", "an outlier") else selection + rng.normal(size=selection.size)
    if kind == "ties":
        selection = np.round(selection, 1)
    if kind == "an outlier":
        selection[0] = -1e30
    n = np.array([1, 2, 30, 1000, 20_000, 100_000])
    means, spreads = order.mean_and_spread(selection, n, reported)
    monkeypatch.setattr(moments, "_MANY_TRIALS", 10**9)
    assert spreads == pytest.approx(order.spread_of_best(selection, n, reported), rel=1e-9, abs=1e-300)
    assert means == pytest.approx(order.expected_best(selection, n, reported), rel=1e-13)
    slow, again = order.mean_and_spread(selection, n, reported)
    assert again == pytest.approx(spreads, rel=1e-9, abs=1e-300)
    assert slow == pytest.approx(means, rel=1e-13)


def test_differences_of_many_trials_hold_over_all_budgets():
    # 200 samples at nominal .95: a coverage of .90 or less has probability 3e-3 if the bands hold
    n = np.array([1, 2, 5, 20, 100, 240])
    truth = normal_best(n) - np.sqrt(12) * (n / (n + 1) - 0.5)
    held = 0
    for seed in range(200):
        rng = np.random.default_rng([11, seed])
        families = [Sample(rng.normal(size=10_000)), Sample(np.sqrt(12) * (rng.random(10_000) - 0.5))]
        (found,) = difference_bands(families, [(0, 1)], n, n_resamples=499, rng=seed)
        held += bool(((found.low <= truth) & (truth <= found.high)).all())
    assert held > 0.90 * 200


def test_differences_of_many_trials_are_those_of_the_curves_and_end_at_a_batch():
    rng = np.random.default_rng(3)
    noise = rng.normal(size=12_000)
    a, b = noise + 0.1 * rng.normal(size=12_000), noise + 0.1 * rng.normal(size=12_000)
    tests = a + rng.normal(size=12_000), b + rng.normal(size=12_000)
    n = [1, 10, 100, 300, 500]
    apart = difference_band(a, b, n, n_resamples=299)
    assert apart.difference == pytest.approx(expected_best(a, n) - expected_best(b, n))
    assert np.isfinite(apart.low).tolist() == [one <= batches.batch_size(12_000) for one in n]
    assert "a fortieth of the trials of the smaller family, 288" in apart.reason
    together = difference_band(a, b, n, paired=True, n_resamples=299)
    assert together.difference == pytest.approx(apart.difference)
    # the standard deviation of a pair's difference is .14, that of two trials 1.42
    assert (together.high - together.low)[0] < 0.2 * (apart.high - apart.low)[0]
    both = difference_band(a, b, n, reported=tests, paired=True, n_resamples=299)
    assert both.difference == pytest.approx(expected_best(a, n, tests[0]) - expected_best(b, n, tests[1]))
