"""Intervals over problems: known answers, joint bands, what is undefined and why, paired differences, plans."""

import numpy as np
import pytest
from scipy.stats import beta, t

from levelbest.errors import DataError, InputError
from levelbest.report.words.curves import why_no_interval
from levelbest.report.words.spending import problem_plan_words
from levelbest.stats import (
    best_interval,
    expected_best_by_group,
    group_difference,
    group_interval,
    group_variance,
    plan_groups,
)


def simulated(seed, n_groups=40, samples=16, law=(0.3, 0.7)):
    rng = np.random.default_rng(seed)
    rate = rng.beta(*law, n_groups)
    scores = (rng.random((n_groups, samples)) < rate[:, None]).astype(float)
    return scores.ravel(), np.repeat(np.arange(n_groups), samples)


def test_one_sample_each_is_clopper_pearson():
    scores = np.r_[np.ones(7), np.zeros(23)]
    best = expected_best_by_group(scores, np.arange(30), 1)
    found = group_interval(best, bounds=(0, 1), n_resamples=200_000, rng=1)
    assert found.method == "gaffke"
    # Monte Carlo error of a 2.5 % quantile from 200,000 draws: below .001 here, so .004 is beyond four of them
    assert found.low[0] == pytest.approx(beta.ppf(0.025, 7, 24), abs=0.004)
    assert found.high[0] == pytest.approx(beta.ppf(0.975, 8, 23), abs=0.004)


def test_exponentials_and_sorted_uniforms_give_the_same_limits():
    scores, group = simulated(0)
    best = expected_best_by_group(scores, group, [4])
    found = group_interval(best, bounds=(0, 1), n_resamples=100_000, rng=2)
    # the limits for the mean of one score column, which come from sorted uniforms
    other = best_interval(best.by_group[:, 0], 1, method="gaffke", bounds=(0, 1), n_resamples=100_000, rng=3)
    assert found.low[0] == pytest.approx(float(np.ravel(other.low)[0]), abs=0.004)
    assert found.high[0] == pytest.approx(float(np.ravel(other.high)[0]), abs=0.004)


def test_t_by_name_is_the_textbook():
    scores, group = simulated(1)
    best = expected_best_by_group(scores, group, [1, 4])
    found = group_interval(best, method="t", bounds=None, confidence=0.9)
    mean, error = best.by_group.mean(axis=0), best.by_group.std(axis=0, ddof=1) / np.sqrt(40)
    assert found.low == pytest.approx(mean - t.ppf(0.95, 39) * error)
    assert found.high == pytest.approx(mean + t.ppf(0.95, 39) * error)


def test_simultaneous_is_wider_and_the_same_for_one_budget():
    scores, group = simulated(2)
    best = expected_best_by_group(scores, group, [1, 2, 4, 8, 16])
    for method, bounds in (("gaffke", (0, 1)), ("studentised", None), ("t", None)):
        points = group_interval(best, method=method, bounds=bounds, rng=0)
        band = group_interval(best, method=method, bounds=bounds, simultaneous=True, rng=0)
        assert (band.low <= points.low).all()
        assert (band.high >= points.high).all()
        assert (points.low < best.value).all()
        assert (best.value < points.high).all()


def test_one_cluster_has_no_standard_error():
    best = expected_best_by_group([0, 1, 1, 0], ["a"] * 4, [1, 2])
    for method, bounds in (("gaffke", (0, 1)), ("studentised", None), ("t", None), (None, (0, 1))):
        found = group_interval(best, method=method, bounds=bounds, rng=0)
        assert np.isnan(found.low).all()
        assert np.isnan(found.high).all()
        assert set(found.why) == {"one-problem"}
        assert "one cluster does not exist" in why_no_interval(found.reasons)


def test_a_problem_of_weight_0_is_none():
    values, weights = [0.1, 0.5, 0.4, 0.9, 0.7, 0.2], np.array([1.0, 2.0, 0.0, 1.0, 3.0, 0.0])
    whole = expected_best_by_group(values, np.arange(6), [1], weights=weights)
    held = whole.select(weights > 0)
    for method, bounds in (("gaffke", (0, 1)), ("imagined", None), ("studentised", None), ("t", None)):
        one, other = (group_interval(best, method=method, bounds=bounds, rng=0) for best in (whole, held))
        assert (one.low[0], one.high[0]) == (other.low[0], other.high[0])
    # two problems that count are two, whatever stands beside them
    few = expected_best_by_group(values, np.arange(6), [1], weights=[1, 1, 0, 0, 0, 0])
    found = group_interval(few, rng=0)
    assert np.isnan(found.low[0])
    assert found.why == ("two-problems",)


def test_equal_problems_show_no_spread_but_bounds_help():
    best = expected_best_by_group([1.0] * 20, np.repeat(np.arange(10), 2), [1])
    for method in ("t", "studentised"):
        found = group_interval(best, method=method, rng=0)
        assert np.isnan(found.low[0])
        assert found.why == ("no-spread",)
    bounded = group_interval(best, bounds=(0, 1), rng=0)
    assert bounded.high[0] == 1.0
    assert bounded.low[0] == pytest.approx(0.025 ** (1 / 10), abs=0.02)  # Clopper-Pearson's, 10 of 10


def test_a_budget_that_one_group_allows_is_undefined_there_only():
    best = expected_best_by_group([0, 1, 1, 0, 1, 1, 0], ["a"] * 2 + ["b"] * 2 + ["c"] * 3, [1, 2, 3])
    found = group_interval(best, bounds=(0, 1), rng=0)
    assert np.isnan(found.low).tolist() == [False, False, True]
    assert "no interval for n = 3: " in why_no_interval(found.reasons)


def test_direction_is_a_mirror():
    scores, group = simulated(4)
    up = group_interval(expected_best_by_group(scores, group, [1, 4]), bounds=(0, 1), rng=5)
    down = group_interval(expected_best_by_group(1 - scores, group, [1, 4], direction="min"), bounds=(0, 1), rng=5)
    assert up.method == down.method == "gaffke"
    assert down.low == pytest.approx(1 - up.high, abs=0.01)  # other draws play the same part
    assert down.high == pytest.approx(1 - up.low, abs=0.01)


def test_a_seed_decides():
    best = expected_best_by_group(*simulated(6), [1, 4])
    one, two, other = (group_interval(best, bounds=(0, 1), n_resamples=500, rng=seed).low for seed in (1, 1, 2))
    assert one.tobytes() == two.tobytes() != other.tobytes()


def test_unequal_weights_move_the_interval_with_the_estimate():
    scores, group = simulated(7)
    heavy = {g: (10.0 if scores[group == g].mean() > 0.5 else 1.0) for g in range(40)}
    best = expected_best_by_group(scores, group, [1], weights=heavy)
    for method, bounds in (("gaffke", (0, 1)), ("studentised", None), ("t", None)):
        found = group_interval(best, method=method, bounds=bounds, rng=0)
        assert found.low[0] < best.value[0] < found.high[0]
    same = expected_best_by_group(scores, group, [1], weights=np.full(40, 3.0))
    plain = expected_best_by_group(scores, group, [1])
    for method, bounds in (("studentised", None), ("t", None)):
        a, b = (group_interval(one, method=method, bounds=bounds, rng=0) for one in (same, plain))
        assert a.low == pytest.approx(b.low)
    # weights that are given may vary, and a further problem weigh twice as much
    a, b = (group_interval(one, bounds=(0, 1), rng=0) for one in (same, plain))
    assert a.low[0] < b.low[0]
    assert a.high[0] > b.high[0]
    twice = expected_best_by_group(scores, group, [1], weights=np.full(40, 6.0))
    assert group_interval(twice, bounds=(0, 1), rng=0).low == pytest.approx(a.low)


def test_gaffke_needs_bounds():
    best = expected_best_by_group(*simulated(8), [1])
    with pytest.raises(InputError, match="needs both bounds"):
        group_interval(best, method="gaffke")
    with pytest.raises(InputError, match="percentages"):
        group_interval(expected_best_by_group([50.0, 60.0], ["a", "b"], [1]), bounds=(0, 1))


def test_paired_difference_is_of_the_same_problems():
    scores, group = simulated(9, n_groups=300)
    other = np.where(np.random.default_rng(1).random(scores.size) < 0.2, 0.0, scores)
    a, b = (expected_best_by_group(s, group, [1, 4, 16]) for s in (scores, other))
    found = group_difference(a, b, bounds=(0, 1))
    assert found.paired
    assert found.difference == pytest.approx(a.value - b.value)
    apart = group_interval(a, bounds=(0, 1), rng=0)
    assert (found.high - found.low)[0] < (apart.high - apart.low)[0]
    assert found.certified[0] == 1
    back = group_difference(b, a, bounds=(0, 1))
    assert back.difference == pytest.approx(-found.difference)
    assert back.certified[0] == -1


def test_limits_of_a_difference_allow_for_a_problem_that_was_not_seen():
    """Half of 20 problems are never solved, pass@16 of 64 samples: few problems decide. P(covered) is .97 or more, so
    that fewer than 135 of 150 covered is a false alarm in less than one of 10,000 seeds (binomial)."""
    problems, samples, k, covered = 20, 64, 16, 0
    rates = np.linspace(0, 1, 20_001)
    density = 6 * rates * (1 - rates)
    truth = 0.5 * np.trapezoid(density * ((1 - 0.7 * rates) ** k - (1 - rates) ** k), rates)
    for seed in range(150):
        rng = np.random.default_rng(seed)
        p = np.where(rng.random(problems) < 0.5, 0.0, rng.beta(2, 2, problems))
        group = np.repeat(np.arange(problems), samples)
        both = [expected_best_by_group(rng.random(group.size) < rate[group], group, [k]) for rate in (p, 0.7 * p)]
        difference = group_difference(*both, bounds=(0, 1))
        covered += difference.low[0] <= truth <= difference.high[0]
    assert covered >= 135


def test_limits_of_no_difference_at_all_are_those_of_bounds():
    """All 12 differences are 0: the 97.5 % quantile of the share of one further problem, a beta(1, 12)."""
    best = expected_best_by_group([0.25, 0.5] * 12, np.repeat(np.arange(12), 2), [1])
    difference = group_difference(best, best, bounds=(0, 1))
    assert difference.high[0] == pytest.approx(1 - 0.025 ** (1 / 12), abs=0.02)
    assert difference.low[0] == pytest.approx(-difference.high[0], abs=0.02)
    assert not difference.reasons


def test_groups_that_differ_are_listed():
    a = expected_best_by_group([0, 1, 1], ["p1", "p2", "p3"], [1])
    b = expected_best_by_group([0, 1, 1], ["p1", "p2", "p4"], [1])
    with pytest.raises(DataError, match=r"1 only in the first \(p3\) and 1 only in the second \(p4\)"):
        group_difference(a, b)


def test_variance_splits_into_problems_and_samples():
    # 4,000 problems: the relative error of a variance is about sqrt(2 / 4000) = 2 %, so 10 % is four of them
    scores, group = simulated(10, n_groups=4000, samples=8, law=(2, 2))
    split = group_variance(scores, group, [1, 8])
    assert split.between[0] ** 2 == pytest.approx(1 / 20, rel=0.1)  # Var beta(2, 2)
    assert split.within[0] ** 2 == pytest.approx((1 / 4 - 1 / 20) / 8, rel=0.1)  # E p (1 - p) / 8
    assert split.error[0] == pytest.approx(scores.reshape(4000, 8).mean(axis=1).std(ddof=1) / np.sqrt(4000))
    assert np.isnan(split.within[1])  # n = 8 of 8 samples leaves none to leave out
    assert np.isfinite(split.error[1])


def test_a_plan_names_problems_samples_and_floor():
    scores, group = simulated(11, n_groups=400, samples=8, law=(2, 2))
    now = group_variance(scores, group, [1])
    half = plan_groups(scores, group, 1, target=float(now.error[0]) / 2, others=[2, 4])
    assert half.groups_needed == pytest.approx(1600, abs=1)
    assert half.samples_needed is None
    assert half.floor == pytest.approx(float(now.between[0]) / 20)
    assert "do not suffice" in problem_plan_words(half)
    assert [n for n, _ in half.errors] == [1, 2, 4]
    slight = plan_groups(scores, group, 1, target=float(now.error[0]) * 0.95)
    assert slight.samples_needed is not None
    assert slight.samples_needed > 8
    met = plan_groups(scores, group, 1, target=1.0)
    assert "nothing more" in problem_plan_words(met)
    with pytest.raises(DataError, match="at least two"):
        plan_groups([0, 1], ["a", "a"], 1, target=0.1)


@pytest.mark.parametrize("law", [(0.3, 0.7), (2, 2)])
def test_the_default_covers(law):
    # 400 samples of 20 problems at .95: fewer than .915 covered has a false-alarm rate of about .002
    k, samples, hits = 4, 16, 0
    rng = np.random.default_rng(12)
    big = rng.beta(*law, 1_000_000)
    truth = float((1 - (1 - big) ** k).mean())
    for seed in range(400):
        best = expected_best_by_group(*simulated(seed + 1000, 20, samples, law), [k])
        found = group_interval(best, bounds=(0, 1), n_resamples=400, rng=seed)
        hits += found.low[0] <= truth <= found.high[0]
    assert hits >= 0.915 * 400


def test_weighted_errors_are_those_of_the_interval():
    rng = np.random.default_rng(8)
    sizes = rng.integers(3, 7, 15)
    group = np.repeat(np.arange(15), sizes)
    scores = rng.random(group.size)
    weights = rng.uniform(0.5, 3, 15)
    best = expected_best_by_group(scores, group, [1, 2], weights=weights)
    split = group_variance(scores, group, [1, 2], weights=weights)
    limits = group_interval(best, method="t")
    assert split.error == pytest.approx((limits.high - limits.low) / 2 / t.ppf(0.975, 14))
    # by hand, at n = 1, where a problem's estimate is its mean
    own = np.array([scores[group == i].var(ddof=1) / sizes[i] for i in range(15)])
    assert split.within[0] ** 2 / 15 == pytest.approx((weights**2 * own).sum() / weights.sum() ** 2)
    even = group_variance(scores, group, [1, 2], weights=np.full(15, 2.5))
    plain = group_variance(scores, group, [1, 2])
    for name in ("error", "between", "within"):
        assert getattr(even, name) == pytest.approx(getattr(plain, name))


def test_a_plan_does_not_believe_an_error_of_zero_nor_print_nan():
    group = np.repeat(np.arange(6), 4)
    solved = problem_plan_words(plan_groups(np.tile([0, 1, 0, 0], 6), group, 4, target=0.01))
    assert "all 6 problems have the same value" in solved
    assert "target is met" not in solved
    scores = np.r_[np.zeros(4), np.tile([0, 1, 0, 0], 5)]
    at_the_end = problem_plan_words(plan_groups(scores, group, 4, target=0.01))
    assert "cannot be estimated at n = 4, which is all that some problem has: plan for a smaller n" in at_the_end
    assert "nan" not in at_the_end


def test_weights_of_zero_are_no_evidence():
    scores, group = simulated(5, n_groups=4, samples=4)
    for weights, reason in (([0.0, 0.0, 1.0, 1.0], "no-weight"), ([1.0, 0.0, 1.0, 1.0], "one-problem")):
        best = expected_best_by_group(scores, group, [1, 2], weights=weights).select(np.array([0, 1]))
        for bounds in ((0, 1), None):
            found = group_interval(best, bounds=bounds, n_resamples=200, rng=0)
            assert np.isnan(found.low).all()
            assert np.isnan(found.high).all()
            assert found.why == (reason, reason)
