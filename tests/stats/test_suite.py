"""These very problems: samples exchanged within each problem, against enumeration and published tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from scipy import stats

from levelbest.stats.best import Sample, expected_best
from levelbest.stats.inference import CountSamples, Hypotheses, ScoreSamples, SuiteUnits, decide
from levelbest.stats.problems import (
    expected_best_by_group,
    group_interval,
    pass_at_k,
    problem_contrasts,
    suite_contrasts,
    suite_interval,
)

ONE = np.array([1])
PAIR = Hypotheses(pairs=((0, 1),), bounds=(0, 1))


def counted(won: Sequence[int], sizes: Sequence[int], n: Sequence[int] = (1,)) -> CountSamples:
    return CountSamples(np.array(won), np.array(sizes), np.array(n), pass_at_k)


def scored(problems: Sequence[Sequence[float]], n: Sequence[int] = (1,)) -> ScoreSamples:
    every = np.concatenate([np.asarray(own, dtype=float) for own in problems])
    return ScoreSamples(Sample(every), np.array([len(own) for own in problems]), np.array(n))


def conditional_p(first: Sequence[int], second: Sequence[int], sizes: Sequence[int]) -> float:
    """The conditional test of Cochran, Mantel and Haenszel: the sum of independent hypergeometric counts, exactly."""
    chances, observed = {Fraction(0): Fraction(1)}, Fraction(0)
    for a, b, m in zip(first, second, sizes, strict=True):
        won, further = a + b, {}
        for fell in range(max(0, won - m), min(m, won) + 1):
            chance = Fraction(comb(won, fell) * comb(2 * m - won, m - fell), comb(2 * m, m))
            for total, before in chances.items():
                place = total + fell - Fraction(won, 2)
                further[place] = further.get(place, Fraction(0)) + before * chance
        chances, observed = further, observed + a - Fraction(won, 2)
    return float(sum(chance for total, chance in chances.items() if abs(total) >= abs(observed)))


@pytest.mark.parametrize(
    ("first", "second", "sizes"),
    [([2, 1, 2], [0, 0, 1], [2, 2, 2]), ([3, 0, 2], [1, 0, 0], [3, 3, 3]), ([4, 3], [1, 0], [4, 4])],
)
def test_the_p_value_is_that_of_the_conditional_test_of_cochran_mantel_and_haenszel(first, second, sizes):
    contrast = suite_contrasts([counted(first, sizes), counted(second, sizes)], PAIR).pairs[0]
    assert contrast.equal_p == pytest.approx(conditional_p(first, second, sizes), rel=1e-12)


def test_drawn_exchanges_are_close_to_the_exact_test():
    """20 problems of 10 samples: too many assignments to go through. False alarm below 1e-4 (4 standard errors)."""
    rng = np.random.default_rng(7)
    chance = rng.beta(1, 1, 20)
    first, second = rng.binomial(10, chance), rng.binomial(10, np.clip(chance - 0.04, 0, 1))
    exact = conditional_p(first.tolist(), second.tolist(), [10] * 20)
    units = SuiteUnits([counted(first, [10] * 20), counted(second, [10] * 20)])
    null = units.exchanged((0, 1), 20_000, np.random.default_rng(0))[0, 0]
    observed = units.observed((0, 1), ONE)[0]
    share = np.mean(null >= observed * (1 - 1e-9))
    assert share == pytest.approx(exact, abs=4 * np.sqrt(exact / 20_000))


@pytest.mark.parametrize("n", [1, 2])
def test_graded_scores_are_exchanged_within_problems(n):
    """Against every assignment of the samples of every problem, and the best of n of each by its definition."""
    first = [[0.9, 0.4, 0.8, 0.7], [0.3, 0.6, 0.5, 0.2]]
    second = [[0.1, 0.5, 0.2, 0.3], [0.4, 0.1, 0.35, 0.15]]

    def of_problem(pool: np.ndarray, mine: Sequence[int]) -> float:
        others = [i for i in range(pool.size) if i not in mine]
        return float(expected_best(pool[list(mine)], n)) - float(expected_best(pool[others], n))

    pools = [np.array([*a, *b]) for a, b in zip(first, second, strict=True)]
    apart = [[of_problem(pool, mine) for mine in combinations(range(8), 4)] for pool in pools]
    every = np.abs(np.add.outer(*apart)).ravel()
    exact = np.mean(every >= every[0] * (1 - 1e-9))
    contrast = suite_contrasts([scored(first, [n]), scored(second, [n])], PAIR).pairs[0]
    assert contrast.equal_p == pytest.approx(exact, rel=1e-12)


def test_counts_and_scores_of_0_and_1_are_the_same():
    rng = np.random.default_rng(3)
    won = rng.binomial(8, 0.6, (2, 12))
    counts = SuiteUnits([counted(own, [8] * 12, [1, 2, 4]) for own in won])
    scores = SuiteUnits([scored([[1.0] * c + [0.0] * (8 - c) for c in own], [1, 2, 4]) for own in won])
    for a, b in zip(counts.evidence((0, 1), counts.nodes), scores.evidence((0, 1), counts.nodes), strict=True):
        assert a == pytest.approx(b, rel=1e-9)


def test_one_sample_of_each_problem_is_mcnemars_exact_test():
    first, second = [1] * 9 + [0] * 2 + [1] * 5, [0] * 9 + [1] * 2 + [1] * 5
    contrast = suite_contrasts([counted(first, [1] * 16), counted(second, [1] * 16)], PAIR).pairs[0]
    assert contrast.equal_p == pytest.approx(stats.binomtest(9, 11).pvalue, rel=1e-12)


def test_samples_that_are_all_alike_have_the_limits_of_clopper_and_pearson():
    """40 problems of 5 samples, none a success: 0 of 200."""
    best = expected_best_by_group(np.zeros(200), np.repeat(np.arange(40), 5), [1])
    limits = suite_interval(best, counted([0] * 40, [5] * 40), bounds=(0, 1))
    exact = stats.binomtest(0, 200).proportion_ci(0.95).high
    assert limits.low[0] == 0
    assert limits.high[0] == pytest.approx(exact, rel=0.15)  # 2,000 draws of an exponential's .975 quantile: 4 %


def test_one_sample_of_each_problem_has_the_limits_of_clopper_and_pearson():
    """They hold for any rates of the problems (Hoeffding 1956)."""
    best = expected_best_by_group([1] * 23 + [0] * 17, np.arange(40), [1])
    limits = suite_interval(best, counted([1] * 23 + [0] * 17, [1] * 40), bounds=(0, 1))
    exact = stats.binomtest(23, 40).proportion_ci(0.95)
    assert (limits.low[0], limits.high[0]) == pytest.approx((exact.low, exact.high), abs=0.01)  # 2,000 draws


def drawn_suite(seed: int, samples: int, *, graded: bool) -> tuple[list, list]:
    """Two systems on 24 problems of two tasks, whose samples agree on which problems are hard."""
    rng = np.random.default_rng(seed)
    rates = np.clip(rng.beta(0.5, 0.5, 24) + np.array([[0.0], [0.1]]) * rng.random(24), 0.05, 0.95)
    size = (*rates.shape, samples)
    chance = np.broadcast_to(rates[:, :, None], size)
    scores = rng.beta(4 * chance, 4 - 4 * chance) if graded else (rng.random(size) < chance).astype(float)
    tasks = dict(enumerate(np.repeat(["a", "b"], [6, 18])))
    problem = np.repeat(np.arange(24), samples)
    bests = [expected_best_by_group(column.ravel(), problem, [1], strata=tasks) for column in scores]
    return bests, [scored(column.tolist()) for column in scores]


@pytest.mark.parametrize("samples", [1, 2, 3])
@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize("macro", [False, True])
def test_limits_for_the_suite_are_never_wider_than_those_over_problems(samples, graded, macro):
    for seed in range(12):
        bests, systems = drawn_suite(seed, samples, graded=graded)
        if macro:
            bests = [replace(best, macro=True).select(np.arange(24)) for best in bests]
        inside = suite_interval(bests[0], systems[0], bounds=(0, 1))
        over = group_interval(bests[0], bounds=(0, 1))
        assert over.low[0] <= inside.low[0] < bests[0].value[0] < inside.high[0] <= over.high[0]
        if samples > 1:
            continue
        assert (inside.low[0], inside.high[0]) == (over.low[0], over.high[0])
        first = bests[0]
        contrast = suite_contrasts(systems, PAIR, first.fixed_weights, first.tasks() if macro else None).pairs[0]
        beside = problem_contrasts(bests, PAIR).pairs[0]
        assert contrast.difference == pytest.approx(beside.difference)
        if contrast.certified[0] == beside.certified[0]:  # limits are cut where a verdict says so
            assert (contrast.low[0], contrast.high[0]) == pytest.approx((beside.low[0], beside.high[0]))


def test_one_sample_of_each_problem_is_compared_problem_by_problem():
    """12 of 200 problems only the first solves, 2 only the second; the systems agree on the rest, solved or not."""
    first, second = [1] * 12 + [0] * 2 + [1, 0] * 93, [0] * 12 + [1] * 2 + [1, 0] * 93
    contrast = suite_contrasts([counted(first, [1] * 200), counted(second, [1] * 200)], PAIR).pairs[0]
    assert contrast.equal_p == pytest.approx(stats.binomtest(2, 14).pvalue, abs=0.01)
    assert contrast.certified[0] == 1
    assert 0 < contrast.low[0] < 10 / 200 < contrast.high[0] < 0.1


def test_two_samples_of_problems_that_are_all_alike_are_covered():
    """No variance between problems, so either of the limits may be the narrower. Below 178 of 200 at .95: 5e-4."""
    rng = np.random.default_rng(5)
    covered = 0
    for won in rng.binomial(2, 0.5, (200, 20)):
        best = expected_best_by_group(np.stack([won > 0, won > 1], axis=1).ravel(), np.repeat(np.arange(20), 2), [1])
        limits = suite_interval(best, counted(won, [2] * 20), bounds=(0, 1))
        covered += int(limits.low[0] <= 0.5 <= limits.high[0])
    assert covered >= 178


def test_the_squared_error_of_a_mean_is_what_sampling_gives():
    """Unbiased for n = 1: over all outcomes of two problems of 3 samples with chances .2 and .7."""
    chances, expected, means = (0.2, 0.7), 0.0, []
    for won in product(range(4), repeat=2):
        weight = np.prod([stats.binom.pmf(c, 3, p) for c, p in zip(won, chances, strict=True)])
        variance = sum(c / 3 * (1 - c / 3) / 2 for c in won) / 4
        if 0 < sum(won) < 6 and variance > (0.5 / 3) ** 2:
            assert SuiteUnits([counted(won, [3, 3])]).curve(0, ONE).error[0] ** 2 == pytest.approx(variance)
        expected += weight * variance
        means.append((weight, sum(won) / 6))
    centre = sum(weight * mean for weight, mean in means)
    assert expected == pytest.approx(sum(weight * (mean - centre) ** 2 for weight, mean in means))


def test_three_of_twenty_tests_broken_are_decided_and_equal_ones_are_not():
    """10 runs each (18 to 8, 20 to 7, 17 to 4 of 20). Fewer than 28 of 40 decided at a rate of .9: 3e-4."""
    rng = np.random.default_rng(11)
    before = np.array([0.9, 1.0, 0.85, *[0.95] * 17])
    after = np.array([0.4, 0.35, 0.2, *[0.95] * 17])
    decided = {True: 0, False: 0}
    for same in (True, False):
        for _ in range(40):
            won = rng.binomial(10, before), rng.binomial(10, before if same else after)
            units = SuiteUnits([counted(own, [10] * 20) for own in won])
            decided[same] += int(decide(units, ONE, PAIR)[0].certified[0] != 0)
    assert decided[False] >= 28
    assert decided[True] <= 6  # more at a rate of .05: 1 %


def test_many_problems_are_drawn_from_the_normal_limit():
    rng = np.random.default_rng(2)
    won = rng.binomial(4, rng.beta(1, 1, 1200), (2, 1200))
    units = SuiteUnits([counted(own, [4] * 1200, [1, 2]) for own in won])
    null = units.exchanged((0, 1), 4000, np.random.default_rng(1))[0]
    assert np.mean(null > 1.96, axis=1) == pytest.approx([0.05, 0.05], abs=0.015)
    low, high = (np.quantile(own[0], q) for own, q in zip(units.family_draws(0), (0.025, 0.975), strict=True))
    value, error, _ = (column[0] for column in units.curve(0, ONE))
    assert (high - low) / (2 * 1.96 * error) == pytest.approx(1.0, abs=0.12)
    assert low < value < high


def test_three_systems_share_their_samples():
    sizes = [3, 3]
    systems = [counted(own, sizes) for own in ([3, 3], [1, 0], [0, 1])]
    question = Hypotheses(pairs=((0, 1), (0, 2), (1, 2)), bounds=(0, 1))
    first, _, last = suite_contrasts(systems, question).pairs
    assert first.difference[0] == pytest.approx(5 / 6)
    assert last.certified[0] == 0
