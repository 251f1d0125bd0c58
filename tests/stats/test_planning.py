"""Plans are kept: what is promised is what new trials of the law reach."""

import math

import numpy as np
import pytest
from levelbest.stats.inference._dealings import decisive_factor, past_draws, step_down
from scipy import stats

from levelbest._check import budget_grid
from levelbest.errors import DataError, InputError
from levelbest.stats import best_interval
from levelbest.stats.budgets import runs_to_separate, trials_for_width, trials_to_separate
from levelbest.stats.inference import Question, Sample, decisive_t, search_contrasts


def test_the_planned_number_gives_the_width_on_average():
    # over 25 pilots the median answer is right to 25 %: each pilot's own error is known to about 15 %
    widths = [
        best_interval(
            np.random.default_rng([1, s]).normal(size=200), 5, method="studentised", n_resamples=300, rng=s
        ).width
        for s in range(30)
    ]
    truth = 200 * (np.mean(widths) / 0.4) ** 2
    needed = [
        trials_for_width(np.random.default_rng([2, s]).normal(size=60), 5, 0.4, n_resamples=300).needed
        for s in range(25)
    ]
    assert np.median(needed) == pytest.approx(truth, rel=0.25)


def test_an_answer_is_tried_out_on_the_pilot():
    x = np.random.default_rng(3).normal(size=80)
    found = trials_for_width(x, 4, 0.3, n_resamples=400)
    assert found.tried == pytest.approx(0.3, rel=0.05)
    assert found.low < found.needed < found.high
    half = trials_for_width(x, 4, 0.15, n_resamples=400)
    assert half.needed == pytest.approx(4 * found.needed, rel=0.15)


def delivered(a, b, sizes, n, n_samples, n_pairs=1):
    """How often a comparison of so many trials, over its own budgets, has a verdict for the first family at n."""
    grid = np.union1d(budget_grid(min(sizes) // 2, whole=100, points=60), [n])
    question = Question(((0, 1),), confidence=1 - 0.05 / n_pairs)
    won = 0
    for seed in range(n_samples):
        draw = np.random.default_rng([5, seed])
        families = [Sample(draw.choice(b, sizes[1])), Sample(draw.choice(a, sizes[0]))]
        pair = search_contrasts(families, grid, question, n_resamples=99).pairs[0]
        won += pair.certified[int(np.searchsorted(grid, n))] == -1
    return won / n_samples


@pytest.mark.parametrize(("n_pairs", "shift"), [(1, 0.9), (10, 1.8)])
def test_a_comparison_over_its_own_budgets_and_pairs_has_the_power_promised(n_pairs, shift):
    rng = np.random.default_rng(4)
    a, b = rng.normal(shift, 1, 500), rng.normal(0, 1, 500)
    planned = trials_to_separate(Sample(a), Sample(b), 5, n_pairs=n_pairs, n_resamples=200)
    assert planned.tried == pytest.approx(0.8, abs=0.05)
    # 60 samples: 3.5 standard errors of .8 are .18. Planned for one pair and the budgets 1 to 5, and for the upper
    # limit only, the power was .42, and .02 for one of ten pairs.
    assert abs(delivered(a, b, [int(planned.needed)] * 2, 5, 60, n_pairs) - 0.8) <= 0.18


@pytest.mark.parametrize(("sizes", "seed"), [((20, 100), 6), ((100, 20), 1)])
def test_the_power_now_is_that_of_as_many_trials_as_each_pilot_has(sizes, seed):
    rng = np.random.default_rng([7, seed])
    a, b = rng.normal(0.9, 1, sizes[0]), rng.normal(0, 1, sizes[1])
    now = trials_to_separate(Sample(a), Sample(b), 5, n_resamples=200).now
    # 50 samples: 3.5 standard errors of .6 are .24. By the t that a verdict takes with equal numbers of trials the
    # power now was .25 in the first case, and .91 in the second, of .64 and .63 in 200 samples.
    assert abs(delivered(a, b, sizes, 5, 50) - now) <= 0.24


def test_many_trials_of_one_family_leave_the_other_as_many_as_it_has():
    """40 trials tell hardly more against 40,000 than against 2,000; drawn in proportion they would be 2."""
    rng = np.random.default_rng(43)
    a, b = rng.normal(0.5, 1, 40), rng.normal(0, 1, 40_000)
    powers = [trials_to_separate(Sample(a), Sample(b[:size]), 5, n_resamples=200).now for size in (2_000, 40_000)]
    # each has a standard error of at most .08; in proportion they were .04 and .47
    assert powers[0] == pytest.approx(powers[1], abs=0.15)


def test_a_comparison_says_roughly_as_many_trials_as_the_plan():
    rng = np.random.default_rng([9, 0])
    a, b = Sample(rng.lognormal(0.5, 0.6, 30)), Sample(rng.lognormal(0, 0.6, 30))
    question = Question(((0, 1),), confidence=0.995, shown=5)
    pair = search_contrasts([a, b], np.arange(1, 16), question, n_resamples=99).pairs[0]
    planned = trials_to_separate(a, b, 5, n_pairs=10, n_resamples=200).needed
    # with the t that a verdict takes among 30 trials of a skewed law it was 2.1 times as many
    assert pair.further > 0
    assert 1 / 1.6 < (30 + pair.further) / planned < 1.6


@pytest.mark.parametrize("level", [0.3, 0.05, 0.01, 0.002, 0.0001])  # the last two are left to the tail
def test_a_p_value_crosses_the_level_at_the_factor(level):
    rng = np.random.default_rng(41)
    cells, tail = np.repeat(np.arange(5), 3), {"tail": 0.025, "freedom": 30.0}
    for _ in range(20):
        null, measured = np.abs(rng.standard_t(9, (5, 199))) / 2, rng.gamma(2, 1, 15)
        at = int(rng.integers(15))
        factor = decisive_factor(measured, null, cells, at, level, **tail)

        def p_value(times, measured=measured, null=null, at=at):
            larger = times * measured
            return past_draws(step_down(larger, null, cells), larger, null, **tail)[at]

        assert p_value(factor * 1.0001) <= level < p_value(factor * 0.9999)


@pytest.mark.parametrize("bounds", [(None, None), (-4.0, 5.0)])
def test_the_t_that_a_verdict_takes_is_that_of_the_verdict(bounds):
    grid, question, seen = np.arange(1, 21), Question(((0, 1),), bounds=bounds), []
    for seed in range(16):
        rng = np.random.default_rng([42, seed])
        families = [Sample(rng.normal(0.6, 1, 40).clip(-4, 5)), Sample(rng.normal(0, 1, 40).clip(-4, 5))]
        t, taken = decisive_t(families, grid, 3, question, np.zeros(20))
        if t > 0 and abs(t / taken - 1) > 0.1:  # nearer, other dealings might decide otherwise
            certified = search_contrasts(families, grid, question, n_resamples=99).pairs[0].certified[2]
            assert (certified == 1) == (t > taken)
            seen.append(t > taken)
    assert {True, False} == set(seen)


def test_a_plan_does_not_depend_on_the_order_of_the_families():
    rng = np.random.default_rng(40)
    a, b = Sample(rng.exponential(1.0, 200)), Sample(rng.normal(0, 1, 200))
    plans = [trials_to_separate(first, second, 3, n_resamples=200) for first, second in ((a, b), (b, a))]
    assert plans[0].needed == plans[1].needed
    assert plans[0].tried == plans[1].tried


def test_runs_are_the_fewest_with_the_power_by_welchs_test():
    a, b = np.array([1.0, 2, 3, 4]), np.array([3.0, 4, 5, 6])
    planned = runs_to_separate(a, b)
    assert runs_to_separate(b, a).needed == planned.needed
    sd = a.std(ddof=1)

    def power(runs):
        freedom = 2 * (runs - 1)
        return stats.nct.sf(stats.t.isf(0.025, freedom), freedom, 2 / (sd * math.sqrt(2 / runs)))

    assert power(planned.needed) >= 0.8 > power(planned.needed - 1)
    assert planned.now == pytest.approx(power(4))
    assert runs_to_separate(a, b, n_pairs=10).needed > planned.needed


def test_equal_families_cannot_be_promised_anything():
    rng = np.random.default_rng(6)
    a = rng.normal(size=40)
    found = trials_to_separate(Sample(a), Sample(a + 1e-9), 3, n_resamples=300)
    assert found.needed > 10_000 or math.isinf(found.needed)
    assert math.isinf(found.high)


def test_large_budgets_are_capped_at_a_quarter_of_the_pilot():
    x = np.random.default_rng(7).normal(size=40)
    found = trials_for_width(x, 30, 0.5, n_resamples=200)
    assert (found.n, found.asked, found.capped) == (10, 30, True)
    assert not trials_for_width(x, 10, 0.5, n_resamples=200).capped


def test_direction_is_a_mirror():
    x = np.random.default_rng(8).normal(size=40)
    up, down = (trials_for_width(s * x, 3, 0.4, direction=d, n_resamples=200) for s, d in ((1, "max"), (-1, "min")))
    assert up.needed == down.needed


def test_refusals():
    x = np.random.default_rng(9).normal(size=40)
    with pytest.raises(InputError, match="width wanted must be more than 0, got 0"):
        trials_for_width(x, 3, 0)
    with pytest.raises(DataError, match="a pilot of at least 8 trials in each family, got 4"):
        trials_for_width(x[:4], 1, 0.1)
    with pytest.raises(DataError, match="has no spread"):
        trials_for_width(np.ones(20), 1, 0.1)
    with pytest.raises(InputError, match=r"power must lie in \(0, 1\), got 80"):
        trials_to_separate(Sample(x), Sample(x), 3, power=80)
    with pytest.raises(InputError, match="n must be a whole number of at least 1, got 0"):
        trials_to_separate(Sample(x), Sample(x), 0)
