"""Spreads and differences of very many trials: agreement with the slow way."""

import numpy as np
import pytest

from levelbest.stats import difference_band, expected_best
from levelbest.stats.best import _moments as moments
from levelbest.stats.best import _order as order


@pytest.mark.parametrize("kind", ["one column", "reported", "ties", "an outlier"])
def test_spreads_of_many_trials_are_those_of_the_slow_way(kind, monkeypatch):
    rng = np.random.default_rng(7)
    selection = rng.normal(size=100_000)
    reported = None if kind in ("one column", "an outlier") else selection + rng.normal(size=selection.size)
    if kind == "ties":
        selection = np.round(selection, 1)
    if kind == "an outlier":
        selection[0] = -1e30
    n = np.array([1, 2, 30, 1000, 20_000, 100_000])
    means, spreads = order.mean_and_spread(selection, n, reported)
    monkeypatch.setattr(moments, "BLOCKS_PAY", 10**9)
    assert spreads == pytest.approx(order.spread_of_best(selection, n, reported), rel=1e-9, abs=1e-300)
    assert means == pytest.approx(order.expected_best(selection, n, reported), rel=1e-13)
    slow, again = order.mean_and_spread(selection, n, reported)
    assert again == pytest.approx(spreads, rel=1e-9, abs=1e-300)
    assert slow == pytest.approx(means, rel=1e-13)


def test_differences_of_many_trials_are_those_of_the_curves_and_reach_to_half_of_them():
    rng = np.random.default_rng(3)
    size = 1_600  # more than are permuted one by one
    noise = rng.normal(size=size)
    a, b = noise + 0.1 * rng.normal(size=size), noise + 0.1 * rng.normal(size=size)
    tests = a + rng.normal(size=size), b + rng.normal(size=size)
    n = [1, 10, 100, 300, 500]
    apart = difference_band(a, b, n, n_resamples=299)
    assert apart.difference == pytest.approx(expected_best(a, n) - expected_best(b, n))
    assert np.isfinite(apart.low).all()
    assert apart.reasons == ()
    together = difference_band(a, b, n, paired=True, n_resamples=299)
    assert together.difference == pytest.approx(apart.difference)
    # the standard deviation of a pair's difference is .14, that of two trials 1.42
    assert (together.high - together.low)[0] < 0.2 * (apart.high - apart.low)[0]
    both = difference_band(a, b, n, reported=tests, paired=True, n_resamples=299)
    assert both.difference == pytest.approx(expected_best(a, n, tests[0]) - expected_best(b, n, tests[1]))
