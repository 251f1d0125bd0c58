"""Differences of two families: against slow and obvious versions, exactness, multiplicity, and coverage."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from levelbest.errors import InputError
from levelbest.stats import difference_band, expected_best, quantile_best
from levelbest.stats.bands import _limits as limits
from levelbest.stats.bands._resample import Ranked
from levelbest.stats.best import Sample
from levelbest.stats.contrasts._families import half_of
from levelbest.stats.contrasts._paired import jackknife_errors, leave_one_out
from levelbest.stats.contrasts._pairwise import draw_families, pair_bands


def best_of(selection, reported, n):
    total = []
    for subset in combinations(range(len(selection)), n):
        top = max(selection[i] for i in subset)
        total.append(np.mean([reported[i] for i in subset if selection[i] == top]))
    return np.mean(total)


def drawn(families, pairs, n, n_resamples):
    return draw_families([Sample(scores) for scores in families], pairs, n, n_resamples=n_resamples, base=5)


@settings(max_examples=60)
@given(st.lists(st.integers(0, 3), min_size=3, max_size=6), st.randoms(use_true_random=False), st.booleans())
def test_leave_one_out_of_any_resample_is_the_enumerated_one(chosen, random, separate):
    m = len(chosen)
    selection = np.array(chosen, dtype=float)
    reported = np.array([random.uniform(-1, 1) for _ in range(m)]) if separate else None
    trials = Ranked(selection, np.arange(1, m), reported)
    counts = np.bincount([random.randrange(m) for _ in range(m)], minlength=m)[None]
    found = leave_one_out(trials, counts)[:, 0]
    picked = np.repeat(np.arange(m), counts[0])
    first = trials.selection[picked]
    second = first if reported is None else reported[trials.order][picked]
    for row, n in enumerate(trials.n):
        slow = np.array([best_of(np.delete(first, i), np.delete(second, i), n) for i in range(m)])
        fast = found[row][picked]
        assert fast - fast.mean() == pytest.approx(slow - slow.mean(), abs=1e-12)


def test_paired_errors_are_the_jackknife_over_pairs():
    rng = np.random.default_rng(0)
    a = rng.normal(size=9)
    b = a + 0.3 * rng.normal(size=9)
    n = np.array([1, 2, 4])
    ranked = [Ranked(one, n) for one in (a, b)]
    ones = np.ones((1, 9), dtype=np.int64)
    left = [leave_one_out(one, ones)[..., np.argsort(one.order)] for one in ranked]
    found = jackknife_errors(left[0] - left[1], ones)[:, 0]
    for row, budget in enumerate(n):
        each = np.array(
            [expected_best(np.delete(a, i), budget) - expected_best(np.delete(b, i), budget) for i in range(9)]
        )
        assert found[row] == pytest.approx(np.sqrt(8 / 9 * ((each - each.mean()) ** 2).sum()), rel=1e-10)


def test_differences_are_those_of_the_curves_and_turn_with_the_direction():
    rng = np.random.default_rng(1)
    a, b = rng.normal(1, 1, 30), rng.normal(0, 1, 40)
    n = [1, 3, 10]
    up = difference_band(a, b, n, n_resamples=300)
    assert up.difference == pytest.approx(expected_best(a, n) - expected_best(b, n))
    down = difference_band(-a, -b, n, direction="min", n_resamples=300)
    back = difference_band(b, a, n, n_resamples=300)
    assert down.difference == pytest.approx(up.difference)
    assert down.low == pytest.approx(up.low)
    assert back.difference == pytest.approx(-up.difference)
    assert (up.low <= up.difference).all()
    assert (up.difference <= up.high).all()


def test_the_band_is_max_t_over_the_budgets_measured_by_its_own_quantiles():
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=30), rng.normal(size=24)
    n = np.array([1, 2, 5, 12])
    draws = drawn([a, b], [(0, 1)], n, 500)
    t = (draws.deviations[0] - draws.deviations[1]) / np.sqrt(draws.variances[0] + draws.variances[1])
    up, down = limits.order_statistic(t, 0.975), limits.order_statistic(-t, 0.975)
    critical = np.sort(np.maximum(t / up[:, None], -t / down[:, None]).max(axis=0))
    level = 1 - 0.5 * 0.1
    place = level * 501 - 1
    low = int(place)
    expected = critical[low] + (place - low) * (critical[low + 1] - critical[low])
    (band,) = pair_bands(draws, 0.9)
    error = np.hypot(Ranked(a, n).error, Ranked(b, n).error)
    assert (band.difference - band.low) == pytest.approx(expected * up * error, rel=1e-5)
    assert (band.high - band.difference) == pytest.approx(expected * down * error, rel=1e-5)


def test_budgets_beyond_the_reach_have_a_difference_and_a_reason():
    rng = np.random.default_rng(8)
    a, b = rng.normal(size=30), rng.normal(size=30)
    for paired in (False, True):
        found = difference_band(a, b, [20], paired=paired, n_resamples=99)
        assert found.difference == pytest.approx(expected_best(a, [20]) - expected_best(b, [20]))
        assert np.isnan(found.low).all()
        assert found.reasons == ("beyond-half",)
    # many trials reach as far as some
    many, some = rng.normal(size=12_000), rng.normal(size=2_000)
    n = [288, 300, 1000, 1500]
    found = difference_band(many, some, n, n_resamples=99)
    assert found.difference == pytest.approx(expected_best(many, n) - expected_best(some, n))
    assert np.isfinite(found.low).tolist() == [True, True, True, False]
    assert found.reasons == ("beyond-half",)


def test_step_down_certifies_at_least_as_much_and_bands_agree_with_verdicts():
    pairs = list(combinations(range(4), 2))
    n = np.arange(1, 21)
    more = 0
    for seed in range(6):
        rng = np.random.default_rng([4, seed])
        draws = drawn([rng.normal(mean, 1, 40) for mean in (0, 4, 8, 8.8)], pairs, n, 300)
        plain = pair_bands(draws, 0.95)
        stepped = pair_bands(draws, 0.95, step_down=True)
        for one, two in zip(plain, stepped, strict=True):
            assert (np.abs(two.certified) >= np.abs(one.certified)).all()
            more += int(np.abs(two.certified).sum() - np.abs(one.certified).sum())
            assert (two.low[two.certified > 0] >= 0).all()
            assert (two.high[two.certified < 0] <= 0).all()
            undecided = two.certified == 0
            assert ((two.low < 0) & (two.high > 0))[undecided].all()
    assert more > 0


def test_several_pairs_widen_the_band():
    rng = np.random.default_rng(5)
    families = [rng.normal(size=40) for _ in range(5)]
    n = np.arange(1, 21)
    alone = pair_bands(drawn(families[:2], [(0, 1)], n, 1000), 0.95)[0]
    joint = pair_bands(drawn(families, list(combinations(range(5), 2)), n, 1000), 0.95)[0]
    assert ((joint.high - joint.low) > (alone.high - alone.low)).mean() > 0.9


def test_pairing_narrows_what_pairs_share():
    rng = np.random.default_rng(6)
    shared = rng.normal(size=60)
    a, b = shared + 0.2 * rng.normal(size=60), shared + 0.2 * rng.normal(size=60)
    n = np.arange(1, 11)
    paired = difference_band(a, b, n, paired=True, n_resamples=500)
    apart = difference_band(a, b, n, n_resamples=500)
    assert paired.difference == pytest.approx(apart.difference)
    assert np.mean((apart.high - apart.low) / (paired.high - paired.low)) > 2


def test_medians_of_one_column_are_exact_bands_at_the_root_of_the_level():
    from levelbest.stats.bands._quantiles import quantile_interval

    rng = np.random.default_rng(7)
    a, b = rng.normal(3, 1, 50), rng.normal(0, 1, 50)
    n = np.arange(1, 11)
    found = difference_band(a, b, n, statistic="median")
    bands = [quantile_interval(x, n, confidence=0.95**0.5, simultaneous=True) for x in (a, b)]
    assert found.method == "exact"
    assert found.low == pytest.approx(bands[0].low - bands[1].high)
    assert found.high == pytest.approx(bands[0].high - bands[1].low)
    assert found.difference == pytest.approx(quantile_best(a, n) - quantile_best(b, n))
    paired = difference_band(a, b, n, statistic="median", paired=True)
    assert ((paired.high - paired.low)[:5] >= (found.high - found.low)[:5]).all()


def test_medians_of_a_reported_score_are_a_bootstrap():
    rng = np.random.default_rng(8)
    a, b = rng.normal(size=(2, 40))
    ra, rb = a + 2 + rng.normal(size=40), b + rng.normal(size=40)
    found = difference_band(a, b, [1, 2, 5], reported=(ra, rb), statistic="median", n_resamples=400)
    assert found.method == "percentile"
    expected = quantile_best(a, [1, 2, 5], reported=ra) - quantile_best(b, [1, 2, 5], reported=rb)
    assert found.difference == pytest.approx(expected)
    assert (found.low < found.high).all()


def test_past_half_the_trials_there_are_no_limits():
    rng = np.random.default_rng(9)
    a, b = rng.normal(size=10), rng.normal(size=40)
    found = difference_band(a, b, [4, 5, 6, 10], n_resamples=200)
    assert half_of(10) == 5
    assert np.isfinite(found.low[:2]).all()
    assert np.isnan(found.low[2:]).all()
    assert found.difference == pytest.approx(expected_best(a, [4, 5, 6, 10]) - expected_best(b, [4, 5, 6, 10]))
    assert (found.certified[2:] == 0).all()
    assert found.reasons == ("beyond-half",)


def test_scores_without_spread_decide_nothing():
    found = difference_band(np.ones(20), np.ones(20), [1, 5], n_resamples=200)
    assert (found.certified == 0).all()
    assert np.isinf(found.low).all()
    assert found.reasons == ("no-spread",)


def test_a_seed_decides():
    rng = np.random.default_rng(10)
    a, b = rng.normal(size=(2, 20))
    one, same, other = (difference_band(a, b, [1, 5], n_resamples=200, rng=seed).low for seed in (1, 1, 2))
    assert (one == same).all()
    assert (one != other).any()


@pytest.mark.parametrize("paired", [False, True])
def test_no_false_verdicts_under_equal_laws(paired):
    # 200 samples: more than 19 false verdicts have probability 0.4 % if the rate is 5 % (it is near 2 %)
    false = 0
    for seed in range(200):
        rng = np.random.default_rng([11, seed, paired])
        a, b = rng.beta(8, 2, (2, 40)) + paired * rng.normal(size=40)
        false += difference_band(a, b, np.array([1, 2, 4, 8, 14, 20]), paired=paired, n_resamples=200).certified.any()
    assert false <= 19


def test_bad_input():
    with pytest.raises(InputError, match="as many trials in each family, got 3 and 4"):
        difference_band([1.0, 2, 3], [1.0, 2, 3, 4], [1], paired=True)
    with pytest.raises(InputError, match="n must be at most the number of trials, 3"):
        difference_band([1.0, 2, 3], [1.0, 2, 3, 4], [4])
    with pytest.raises(InputError, match="statistic must be 'mean', 'median' or a probability"):
        difference_band([1.0, 2, 3], [1.0, 2, 3, 4], [1], statistic="mode")
    with pytest.raises(InputError, match="n_resamples must be a whole number of at least 99"):
        difference_band([1.0, 2, 3], [1.0, 2, 3, 4], [1], n_resamples=5)
    with pytest.raises(InputError, match="at least 2 trials"):
        difference_band([1.0], [1.0, 2], [1])
