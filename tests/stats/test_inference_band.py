"""Differences of two families: against slow and obvious versions, exactness, multiplicity, and coverage."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from levelbest.errors import InputError
from levelbest.stats import best_weights, difference_band, expected_best, quantile_best
from levelbest.stats.bands._resample import Ranked
from levelbest.stats.inference import half_of
from levelbest.stats.inference._paired import jackknife_errors, leave_one_out


def best_of(selection, reported, n):
    total = []
    for subset in combinations(range(len(selection)), n):
        top = max(selection[i] for i in subset)
        total.append(np.mean([reported[i] for i in subset if selection[i] == top]))
    return np.mean(total)


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
    found = jackknife_errors(left[0] - left[1])[:, 0]
    for row, budget in enumerate(n):
        each = np.array(
            [expected_best(np.delete(a, i), budget) - expected_best(np.delete(b, i), budget) for i in range(9)]
        )
        assert found[row] == pytest.approx(np.sqrt(8 / 9 * ((each - each.mean()) ** 2).sum()), rel=1e-10)


def test_differences_are_those_of_the_curves_and_turn_with_the_direction():
    rng = np.random.default_rng(1)
    a, b = rng.normal(1, 1, 30), rng.normal(0, 1, 40)
    n = [1, 3, 10]
    up = difference_band(a, b, n)
    assert up.difference == pytest.approx(expected_best(a, n) - expected_best(b, n))
    down = difference_band(-a, -b, n, direction="min")
    back = difference_band(b, a, n)
    assert down.difference == pytest.approx(up.difference)
    assert down.low == pytest.approx(up.low)
    assert back.difference == pytest.approx(-up.difference)
    assert (up.low <= up.difference).all()
    assert (up.difference <= up.high).all()


def test_budgets_beyond_the_reach_have_a_difference_and_a_reason():
    rng = np.random.default_rng(8)
    a, b = rng.normal(size=30), rng.normal(size=30)
    for paired in (False, True):
        found = difference_band(a, b, [20], paired=paired)
        assert found.difference == pytest.approx(expected_best(a, [20]) - expected_best(b, [20]))
        assert np.isnan(found.low).all()
        assert found.reasons == ("beyond-half",)
    # many trials reach as far as some
    many, some = rng.normal(size=12_000), rng.normal(size=2_000)
    n = [288, 300, 1000, 1500]
    found = difference_band(many, some, n)
    assert found.difference == pytest.approx(expected_best(many, n) - expected_best(some, n))
    assert np.isfinite(found.low).tolist() == [True, True, True, False]
    assert found.reasons == ("beyond-half",)


def test_pairing_narrows_what_pairs_share():
    rng = np.random.default_rng(6)
    shared = rng.normal(size=60)
    a, b = shared + 0.2 * rng.normal(size=60), shared + 0.2 * rng.normal(size=60)
    n = np.arange(1, 11)
    paired = difference_band(a, b, n, paired=True)
    apart = difference_band(a, b, n)
    assert paired.difference == pytest.approx(apart.difference)
    assert np.mean((apart.high - apart.low) / (paired.high - paired.low)) > 2


def test_past_half_the_trials_there_are_no_limits():
    rng = np.random.default_rng(9)
    a, b = rng.normal(size=10), rng.normal(size=40)
    found = difference_band(a, b, [4, 5, 6, 10])
    assert half_of(10) == 5
    assert np.isfinite(found.low[:2]).all()
    assert np.isnan(found.low[2:]).all()
    assert found.difference == pytest.approx(expected_best(a, [4, 5, 6, 10]) - expected_best(b, [4, 5, 6, 10]))
    assert (found.certified[2:] == 0).all()
    assert found.reasons == ("beyond-half",)


def test_scores_without_spread_decide_nothing():
    found = difference_band(np.ones(20), np.ones(20), [1, 5])
    assert (found.certified == 0).all()
    assert np.isinf(found.low).all()
    assert found.reasons == ("no-spread",)


@pytest.mark.parametrize("paired", [False, True])
def test_no_false_verdicts_under_equal_distributions(paired):
    # 100 samples: more than 12 false verdicts have probability 0.15 % if the rate is 5 % (it is near 2 %)
    false = 0
    for seed in range(100):
        rng = np.random.default_rng([11, seed, paired])
        a, b = rng.beta(8, 2, (2, 40)) + paired * rng.normal(size=40)
        false += difference_band(a, b, np.array([1, 2, 4, 8, 14, 20]), paired=paired).certified.any()
    assert false <= 12


@pytest.mark.parametrize("paired", [False, True])
def test_medians_are_those_of_the_curves_with_limits_around_them(paired):
    rng = np.random.default_rng(7)
    a, b = rng.normal(3, 1, 50), rng.normal(0, 1, 50)
    n = np.arange(1, 11)
    found = difference_band(a, b, n, statistic="median", paired=paired)
    assert found.difference == pytest.approx(quantile_best(a, n) - quantile_best(b, n))
    assert (found.low <= found.difference).all()
    assert (found.difference <= found.high).all()
    assert (found.certified[:3] == 1).all()


def test_medians_of_a_reported_score_end_where_few_trials_speak():
    rng = np.random.default_rng(8)
    a, b = rng.normal(size=(2, 40))
    ra, rb = a + 2 + rng.normal(size=40), b + rng.normal(size=40)
    found = difference_band(a, b, [1, 2, 5, 15], reported=(ra, rb), statistic="median")
    expected = quantile_best(a, [1, 2, 5, 15], reported=ra) - quantile_best(b, [1, 2, 5, 15], reported=rb)
    assert found.difference == pytest.approx(expected)
    # the effective count of the best of n is 1 / sum of squared weights: at least 10 up to n = 6 of 40
    assert np.isfinite(found.low).tolist() == [True, True, True, False]
    weights = [np.square(best_weights(a, k)).sum() for k in (6, 7)]
    assert 1 / weights[0] >= 10 > 1 / weights[1]


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
