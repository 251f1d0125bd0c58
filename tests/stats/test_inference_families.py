"""Sets of families: what is exchanged among more than two, and over which budgets."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from levelbest.stats.best import Sample, expected_best, standardised
from levelbest.stats.inference import (
    Hypotheses,
    run_contrasts,
    search_contrasts,
    sign_contrasts,
    trial_contrasts,
    trial_units,
)
from levelbest.stats.inference._decide import PairTest, contrasts_of, decide
from levelbest.stats.inference._exchange import Exchange
from levelbest.stats.inference._families import Levels, closed, levels_of
from levelbest.stats.inference._means import MeanUnits
from levelbest.stats.inference._tasks import StratifiedUnits
from levelbest.stats.inference._trials import TrialUnits
from levelbest.stats.inference._units import root_of_cubes

PAIR, THREE = Hypotheses(pairs=((0, 1),)), Hypotheses(pairs=((0, 1), (0, 2), (1, 2)))


def largest_t(runs):
    """The largest |t| of Welch over all pairs of families: (..., family, run)."""
    mean, variance = runs.mean(axis=-1), runs.var(axis=-1, ddof=1) / runs.shape[-1]
    first, second = np.triu_indices(runs.shape[-2], 1)
    apart = np.abs(mean[..., first] - mean[..., second])
    return (apart / np.sqrt(variance[..., first] + variance[..., second])).max(axis=-1)


def test_the_p_value_of_equal_counts_is_that_of_the_largest_t():
    # Two modes: |t| leaps where one family has all of the one. A quantile for each pair by itself gave .02 for .12.
    # 5 deviations of what 700 assignments show, 12 times: a false alarm in 1e-5 of seeds.
    rng = np.random.default_rng(0)
    families = tuple(range(5))
    for _ in range(12):
        runs = np.sort(np.where(rng.random((5, 3)) < 0.5, 0.1, 0.9) + 0.02 * rng.normal(size=(5, 3)), axis=1)
        units = MeanUnits([row[:, None] for row in runs], np.array([1]))
        observed = np.stack([units.observed(pair, units.nodes) for pair in combinations(families, 2)])
        p_value = float(Exchange(units, families, units.nodes, observed, 0.036).p_values()[0])
        shuffled = rng.permuted(np.broadcast_to(runs.ravel(), (20_000, 15)), axis=1).reshape(-1, 5, 3)
        truth = float((largest_t(shuffled) >= largest_t(runs) * (1 - 1e-9)).mean())
        assert p_value == pytest.approx(truth, abs=5 * np.sqrt(truth * (1 - truth) / 700) + 2 / 700)


def test_a_pair_is_exchanged_as_far_as_it_goes_and_no_further():
    rng = np.random.default_rng(1)
    samples = [Sample(rng.normal(size=size)) for size in (2, 4, 4)]
    units = TrialUnits(samples, np.array([1, 2]))
    assert [units.reach(families) for families in ((0, 1), (1, 2), (0, 1, 2))] == [1, 2, 2]
    null = units.exchanged((0, 1, 2), None, rng)
    assert null.shape == (3, 2, 3150)
    assert not null[:2, 1].any()
    # the pair of four and four at n = 2, by every assignment
    scores = np.sort(np.concatenate([sample.selection for sample in samples]))
    expected = []
    for left_out in combinations(range(10), 2):
        rest = np.delete(scores, left_out)
        for chosen in combinations(range(8), 4):
            sides = [rest[list(chosen)], np.delete(rest, chosen)]
            values = [side @ [0, 1, 2, 3] / 6 for side in sides]
            without = [[np.delete(side, i) @ [0, 1, 2] / 3 for i in range(4)] for side in sides]
            error = np.sqrt(sum(3 * np.var(left) for left in without))
            expected.append(abs(values[0] - values[1]) / error)
    np.testing.assert_allclose(np.sort(null[2, 1]), np.sort(expected), rtol=1e-6)


@pytest.mark.parametrize(
    ("sizes", "against"), [((4, 6, 9, 30), False), ((5, 5, 10, 10, 20, 20), False), ((6, 3, 4, 6, 8), True)]
)
def test_nothing_is_decided_where_all_families_may_be_equal(sizes, against):
    """At any budget, also where only the larger families are left: the set of all is tested once for all budgets."""
    families = tuple(range(len(sizes)))
    pairs = tuple(pair for pair in combinations(families, 2) if not against or 0 in pair)
    n = np.arange(1, max(sizes) // 2 + 1)
    for seed in range(4):
        rng = np.random.default_rng([seed, *sizes])
        samples = [Sample(rng.normal(size=size) + 0.4 * place) for place, size in enumerate(sizes)]
        units = trial_units(samples, n, Hypotheses(pairs=pairs))
        levels = levels_of(units, pairs, len(pairs), 0.05)
        assert levels.ranges
        assert (levels.baseline == 0) == against
        hypotheses = Hypotheses(pairs=pairs)
        tests = {pair: PairTest(units, pair, hypotheses, n[n <= units.reach(pair)], levels.pair) for pair in pairs}
        adjusted = closed(units, tests, levels, 0.05).adjusted
        reach = n[n <= units.reach(families)]
        observed = np.zeros((len(list(combinations(families, 2))), reach.size))
        for row, pair in zip(observed, combinations(families, 2), strict=True):
            inside = reach[reach <= units.reach(pair)]
            row[: inside.size] = units.observed(pair, inside)
        of_all = Exchange(units, families, reach, observed, 0.05).p_values()
        for p_values in adjusted.values():
            assert (p_values >= of_all[: p_values.size] - 1e-12).all()


def test_no_p_value_of_a_median_is_below_that_of_its_budget_alone():
    # Three of 32 trials have a good mode: from a budget on the median leaps there, and a node beside that budget knows
    # nothing of it. In 3,000 permutations a p-value of .10 is seen within .03 (five standard errors).
    rng = np.random.default_rng(3)
    scores = rng.normal(0.31, 0.03, 64)
    scores[:3] = rng.normal(0.74, 0.015, 3)
    n = np.arange(1, 17)
    units = trial_units([Sample(scores[:32]), Sample(scores[32:])], n, Hypotheses(pairs=((0, 1),)), statistic="median")
    observed = units.observed((0, 1), n)
    p_values = Exchange(units, (0, 1), n, observed[None], 0.05).p_values()

    def medians(rows):
        return np.stack([np.quantile(rows, 0.5 ** (1 / k), axis=1, method="inverted_cdf") for k in n])

    shuffled = rng.permuted(np.broadcast_to(scores, (3000, 64)), axis=1)
    apart = np.abs(medians(shuffled[:, :32]) - medians(shuffled[:, 32:]))
    alone = (apart >= observed[:, None] * (1 - 1e-9)).mean(axis=1)
    assert (alone[observed > 0.2] > 0.1).any()
    assert (p_values >= alone - 0.03)[alone < 0.2].all()


@pytest.mark.parametrize("n_pairs", [1, 3, 10])
@pytest.mark.parametrize("winner", [0, 1])
def test_pairs_widen_limits_as_at_a_single_trial_where_the_winner_has_the_longer_tail(n_pairs, winner):
    """Elsewhere p-values are multiplied by the number of pairs, as at a single trial (Bonferroni)."""
    places = [(np.arange(size) + 0.5) / size for size in (40, 25)]
    lifts = [3.0 if family == winner else 0.0 for family in (0, 1)]
    samples = [Sample(stats.uniform.ppf(places[0]) + lifts[0]), Sample(stats.expon.ppf(places[1]) + lifts[1])]
    n = np.arange(1, 13)
    hypotheses = Hypotheses(pairs=((0, 1),))
    test = PairTest(trial_units(samples, n, hypotheses), (0, 1), hypotheses, n, 0.05 / n_pairs)
    p_values, share = test.student(n_pairs), test.exchange.local_share
    t, freedom = np.abs(test.evidence.t), test.evidence.freedom
    assert freedom[0] > 3 * freedom[-1]
    assert (np.sign(test.evidence.difference) == (1 if winner == 0 else -1)).all()
    alone = 2 * stats.t.sf(t, freedom) / share
    if winner == 1:  # exponential scores have the longer tail
        single = [stats.t.isf(0.025 * share / k, freedom[0]) for k in (1, n_pairs)]
        needed = stats.t.isf(0.025 * share, freedom) * single[1] / single[0]
        # a p-value is the level exactly where |t| is what is needed, and as far from it as Student's tail says
        expected = alone * 0.05 * share / (2 * stats.t.sf(needed, freedom))
    else:
        expected = n_pairs * alone
    np.testing.assert_allclose(p_values, np.minimum(1, expected), rtol=1e-9)
    welch = stats.ttest_ind(samples[0].selection, samples[1].selection, equal_var=False).pvalue
    assert p_values[0] == pytest.approx(min(1, n_pairs * welch / share[0]), rel=1e-6)


@pytest.mark.parametrize("reported", [False, True])
def test_third_moments_are_those_of_leaving_out_each_trial(reported):
    rng = np.random.default_rng(8)
    n = np.arange(1, 9)
    families = [np.round(rng.exponential(size=size), 1) for size in (18, 25)]  # with ties
    others = [scores + rng.normal(size=scores.size) if reported else None for scores in families]
    samples = [Sample(*columns) for columns in zip(families, others, strict=True)]
    units = trial_units(samples, n, Hypotheses(pairs=((0, 1),)))
    thirds = []
    for scores, other in zip(families, others, strict=True):
        left = []
        for i in range(scores.size):
            kept = None if other is None else np.delete(other, i)
            left.append(expected_best(np.delete(scores, i), n, kept))
        moved = (1 - 1 / scores.size) * (np.mean(left, axis=0) - left)
        thirds.append((moved**3).sum(axis=0))
    inside = units.inside((0, 1))
    third = (thirds[0] - thirds[1])[:inside]
    np.testing.assert_allclose(units.skew((0, 1)), np.cbrt(third), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("unit", [1e-140, 1e140])
def test_a_sum_of_cubes_neither_overflows_nor_vanishes(unit):
    rows = np.array([[1.0, -2.0, 3.0, 0.5], [0.0, 0.0, 0.0, 0.0]])
    np.testing.assert_allclose(root_of_cubes(rows * unit, axis=1), [unit * np.cbrt(20.125), 0.0], rtol=1e-12)


def equal_pairs(families):
    """Numbers of pairs that may be equal at once, from every way to put families into groups."""
    numbers = set()
    for groups in product(range(families), repeat=families):
        sizes = [groups.count(group) for group in set(groups)]
        numbers.add(sum(size * (size - 1) // 2 for size in sizes))
    return numbers


def test_pairs_that_may_be_equal_at_once_are_those_of_every_grouping():
    for families in range(2, 7):
        n_pairs = families * (families - 1) // 2
        levels = Levels(0.05, n_pairs, transitive=True, ranges=True, baseline=None)
        numbers = equal_pairs(families)
        for decided in range(n_pairs):
            assert levels.left(decided) == max(1, *(number for number in numbers if number <= n_pairs - decided))


def welch_with_shaffer(runs, alpha=0.05):
    """Pairs that differ by Welch's t, from the smallest p-value on."""
    pairs = list(combinations(range(len(runs)), 2))
    p_values = {(a, b): stats.ttest_ind(runs[a], runs[b], equal_var=False).pvalue for a, b in pairs}
    numbers, decided = equal_pairs(len(runs)), []
    for pair in sorted(pairs, key=p_values.get):
        left = max(1, *(number for number in numbers if number <= len(pairs) - len(decided)))
        if p_values[pair] > alpha / left:
            break
        decided.append(pair)
    return set(decided)


def test_several_families_are_decided_only_where_welch_with_shaffer_decides():
    """Under unequal spreads permutations alone name false winners: Student's t holds for all pairs together."""
    found = 0
    for seed in range(60):
        rng = np.random.default_rng([11, seed])
        runs = [rng.normal(0.9 * (place == 4), 1 + place, 10) for place in range(5)]
        pairs = tuple(combinations(range(5), 2))
        contrasts = run_contrasts(runs, Hypotheses(pairs=pairs)).pairs
        decided = {contrast.pair for contrast in contrasts if contrast.certified.any()}
        assert decided <= welch_with_shaffer(runs)
        found += len(decided)
    assert found


@pytest.mark.parametrize("sizes", [(20, 20, 20), (12, 30, 7), (24, 24, 60)])
@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_a_further_family_far_away_changes_no_verdict(sizes, statistic):
    """Neither by its share of the error nor by its nodes, its rounding or its draws."""
    n = np.arange(1, 13)
    for seed in range(6):
        rng = np.random.default_rng([seed, *sizes])
        scores = [np.round(rng.normal(0.7 * (place == 0), 1, size), 1) for place, size in enumerate(sizes)]
        alone, *_ = trial_contrasts([Sample(part) for part in scores[:2]], n, PAIR, statistic=statistic).pairs
        for far in (-1_000, 1_000):
            samples = [*map(Sample, scores[:2]), Sample(scores[2] + rng.random(sizes[2]) + far)]
            both, *_ = trial_contrasts(samples, n, THREE, statistic=statistic).pairs
            assert both.pair == alone.pair
            np.testing.assert_array_equal(both.certified, alone.certified)


def test_a_family_far_away_changes_no_verdict_of_runs_searches_and_tasks():
    for seed in range(6):
        rng = np.random.default_rng([5, seed])
        runs = [rng.normal(shift, 1, (12, 4)).cumsum(axis=1) for shift in (0.8, 0.0)]
        far = runs[0] - 1_000
        curves = [run_contrasts([part[:, 0] for part in parts], answer) for parts, answer in both_ways(runs, far)]
        curves += [search_contrasts(parts, np.arange(1, 5), answer) for parts, answer in both_ways(runs, far)]
        for parts, answer in both_ways(runs, far):
            tasks = [standardised([Sample(part[:, k]) for part in parts]) for k in (0, 1)]
            units = StratifiedUnits(tasks, np.arange(1, 4))
            curves.append(contrasts_of(decide(units, units.nodes, answer), answer))
        for alone, with_far in zip(curves[::2], curves[1::2], strict=True):
            np.testing.assert_array_equal(alone.pairs[0].certified, with_far.pairs[0].certified)


def both_ways(families, far):
    """Two families, and the same beside a third."""
    return ((families, PAIR), ([*families, far], THREE))


def test_draws_of_tasks_are_independent():
    """With the same trials on both tasks the variance of the mean is half of that of one. A ratio of two variances of
    2,000 draws each has a standard error of .05 of itself: .12 is five, a false alarm in 1e-6 of seeds."""
    sample = [Sample(np.random.default_rng(0).normal(size=12)) for _ in range(2)]
    tasks = [TrialUnits(sample, np.array([1]), task=k) for k in (0, 1)]
    one, two = (units.draws((0, 1)) for units in (tasks[0], StratifiedUnits([sample] * 2, np.array([1]))))
    ratio = np.var(two.lower + two.upper) / np.var(one.lower + one.upper)
    assert ratio == pytest.approx(0.5, abs=0.12)
    middles = [(draws.lower + draws.upper).ravel() for draws in (task.draws((0, 1)) for task in tasks)]
    assert abs(np.corrcoef(*middles)[0, 1]) < 5 / np.sqrt(2_000)


def test_families_with_equal_estimates_are_in_the_same_ranges():
    """Two families with the same scores have the same verdict against a third, in any order of the families."""
    a = [72.0, 72.0, 71.0]
    runs = {"a": a, "b": [*a, 215 / 3], "c": a, "d": [74.0, 71.0, 72.0], "e": [74.0, 74.0, 75.0, 75.0]}
    pairs, verdicts = tuple(combinations(range(5), 2)), []
    for names in ("abcde", "edcba", "cabed"):
        answer = run_contrasts([np.array(runs[name]) for name in names], Hypotheses(pairs))
        winners = {}
        for contrast in answer.pairs:
            assert contrast.p_value[0] <= 1
            first, second = (names[f] for f in contrast.pair)
            winners[frozenset((first, second))] = {1: first, -1: second, 0: ""}[int(contrast.certified[0])]
        verdicts.append(winners)
    assert verdicts[0] == verdicts[1] == verdicts[2]
    assert verdicts[0][frozenset("ae")] == verdicts[0][frozenset("ce")]


def test_few_assignments_of_several_tasks_are_all_gone_through():
    """The p-value of tasks that lie apart is that of the assignments that keep the units of each together."""
    tasks = [
        [Sample(np.arange(3) + 50.0), Sample(np.arange(4.0))],
        [Sample(np.arange(4) + 50.0), Sample(np.arange(3.0))],
    ]
    units = StratifiedUnits([standardised(task) for task in tasks], np.array([1]))
    n = np.array([1])
    test = Exchange(units, (0, 1), n, units.observed((0, 1), n)[None], 0.05)
    assert test.exact
    assert test.drawn == 35 * 35
    every = []
    for chosen in product(combinations(range(7), 3), combinations(range(7), 4)):
        value = variance = 0.0
        for task, places in zip(tasks, chosen, strict=True):
            pooled = np.concatenate([sample.selection for sample in standardised(task)])
            first, second = pooled[list(places)], np.delete(pooled, places)
            value += first.mean() - second.mean()
            variance += first.var(ddof=1) / first.size + second.var(ddof=1) / second.size
        every.append(abs(value) / np.sqrt(variance))
    expected = np.mean(np.array(every) >= units.observed((0, 1), n)[0] * (1 - 1e-9))
    assert test.p_values()[0] == pytest.approx(expected, rel=1e-12)


def test_names_of_tasks_change_no_draw():
    rng = np.random.default_rng(5)
    tasks = [standardised([Sample(rng.normal(0.6, 1, 12)), Sample(rng.normal(size=13))]) for _ in range(3)]
    first, second = (StratifiedUnits(order, np.arange(1, 5)) for order in (tasks, tasks[::-1]))
    np.testing.assert_array_equal(first.draws((0, 1)).lower, second.draws((0, 1)).lower)
    rngs = (np.random.default_rng(1) for _ in range(2))
    one, other = (units.exchanged((0, 1), 50, rng) for units, rng in zip((first, second), rngs, strict=True))
    np.testing.assert_allclose(one, other, rtol=1e-12)
    reported = StratifiedUnits([[Sample(s.selection, s.selection) for s in task] for task in tasks], np.arange(1, 5))
    assert reported.effective((0, 1), 4) == pytest.approx(3.0)


def test_a_system_with_few_samples_makes_no_other_pair_incomparable():
    rng = np.random.default_rng(0)
    n, unknown = np.array([4]), np.full(30, np.nan)
    a, b = (rng.random(30) < rate for rate in (0.9, 0.3))
    c = np.where(np.arange(30) < 1, 0.5, unknown)
    rows = [a - 1.0 * b, a - c, b - c]
    pairs = ((0, 1), (0, 2), (1, 2))
    answer = sign_contrasts([row[:, None] for row in rows], n, Hypotheses(pairs))
    alone = sign_contrasts([rows[0][:, None]], n, Hypotheses(pairs[:1]))
    assert alone.pairs[0].certified[0] == 1
    assert answer.pairs[0].certified[0] == 1
    assert answer.pairs[1].reasons
    assert answer.pairs[2].reasons
