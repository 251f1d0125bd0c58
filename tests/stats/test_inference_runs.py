"""Runs of one configuration: exchange of runs, closed testing over families, and limits that agree with verdicts."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import levelbest as lb
from levelbest.stats.inference import Hypotheses, run_contrasts
from levelbest.stats.inference._exchange import Exchange
from levelbest.stats.inference._means import MeanUnits
from levelbest.stats.inference._units import rounding_variance

PAIR = Hypotheses(pairs=((0, 1),))


def all_pairs(k, **more):
    return Hypotheses(pairs=tuple(combinations(range(k), 2)), **more)


def works(rng, size, share):
    """A model that works with probability ``share``: .9, else .1, both within .02."""
    return np.where(rng.random(size) < share, 0.9, 0.1) + 0.02 * rng.standard_normal(size)


# ---- Welch


def test_welch_is_scipys():
    rng = np.random.default_rng(3)
    a, b = rng.normal(1, 2, 7), rng.normal(0, 0.3, 19)
    between = MeanUnits([a[:, None], b[:, None]], np.array([1])).evidence((0, 1), np.array([1]))
    reference = stats.ttest_ind(a, b, equal_var=False)
    assert between.t[0] == pytest.approx(reference.statistic, rel=1e-12)
    assert between.freedom[0] == pytest.approx(reference.df, rel=1e-12)
    limits = reference.confidence_interval(0.95)
    contrast = run_contrasts([a, b], PAIR).pairs[0]
    # a verdict that the permutation confirms, so that the limits are Welch's own
    assert contrast.effect.certified == (1 if limits.low > 0 else 0)
    reach = stats.t.isf(0.025, between.freedom[0]) * between.error[0]
    assert between.difference[0] - reach == pytest.approx(limits.low, rel=1e-10)
    assert contrast.high[0] == pytest.approx(limits.high, rel=1e-10)


def test_scores_that_agree_to_the_last_digit_have_the_variance_of_rounding():
    assert rounding_variance(np.array([0.80, 0.80, 0.81, 0.84])) == pytest.approx(0.01**2 / 12)
    assert rounding_variance(np.array([0.1 + 0.2, 0.3, 0.4])) == pytest.approx(0.1**2 / 12)  # 0.30000000000000004
    assert rounding_variance(np.array([0.5, 0.5])) == 0
    diverged = np.array([-1e300, -1e30, -1e29, 0.80, 0.80, 0.81, 0.82, 0.83, 0.84, 0.80 - 1e-16])
    assert rounding_variance(diverged) == pytest.approx(0.01**2 / 12)
    flat = run_contrasts([np.full(3, 0.80), np.full(3, 0.81)], PAIR).pairs[0]
    t = 0.01 / math.sqrt(2 * 0.01**2 / 12 / 3)
    assert flat.p_value[0] == pytest.approx(2 * stats.t.sf(t, 4))


def test_no_spread_at_all_says_nothing():
    contrast = run_contrasts([np.full(5, 0.8), np.full(5, 0.8)], PAIR).pairs[0]
    assert contrast.effect.certified == 0
    assert (contrast.low[0], contrast.high[0]) == (-math.inf, math.inf)
    assert contrast.reasons == ("no-spread",)


def test_two_seeds_decide_nothing_and_say_so():
    contrast = run_contrasts([np.array([0.9, 0.91]), np.array([0.1, 0.11, 0.12])], PAIR).pairs[0]
    assert contrast.effect.certified == 0
    assert contrast.reasons == ("few-trials",)
    assert contrast.difference[0] == pytest.approx(0.905 - 0.11)
    assert contrast.low[0] == -math.inf
    bounded = run_contrasts([np.array([0.9, 0.91]), np.array([0.1, 0.11])], Hypotheses(((0, 1),), bounds=(0.0, 1.0)))
    assert (bounded.pairs[0].low[0], bounded.pairs[0].high[0]) == (-1, 1)


def test_three_seeds_far_apart_decide_and_lean_on_t():
    contrast = run_contrasts([np.array([8.0, 8.9, 7.4]), np.array([0.3, -0.5, 0.1])], PAIR).pairs[0]
    assert contrast.effect.certified == 1
    assert contrast.basis == "t"
    assert exchange([8.0, 8.9, 7.4], [0.3, -0.5, 0.1]).units.least_p((0, 1)) == pytest.approx(0.1)


# ---- further runs


def test_the_power_of_the_number_planned_is_that_of_new_runs_as_the_estimates_say():
    rng = np.random.default_rng(5)
    pilot = [rng.normal(0, 1, 30), rng.normal(0.5, 1, 30)]
    needed = run_contrasts(pilot, Hypotheses(((0, 1),), planned=1)).pairs[0].needed
    means, won = [(float(part.mean()), float(part.std(ddof=1))) for part in pilot], 0
    for at in range(400):
        draw = np.random.default_rng([5, at])
        runs = [draw.normal(*moments, int(needed.needed)) for moments in means]
        won += run_contrasts(runs, PAIR).pairs[0].effect.certified == -1
    # 400 samples: 3.5 standard errors of a share of .5 are .09
    assert abs(won / 400 - needed.tried) < 0.09


def test_few_runs_leave_open_how_many_more_are_needed():
    runs = np.array([1.0, 2.0, 3.0])
    contrast = run_contrasts([runs, runs.copy()], PAIR).pairs[0]
    assert math.isnan(contrast.further)
    assert (contrast.needed.code, contrast.needed.high) == ("few", math.inf)


# ---- permutations


def naive_p(a, b):
    """Every assignment, one at a time, in exact fractions: squared t, so that no root is taken."""

    def squared_t(first, second):
        sides = [[Fraction(x) for x in side] for side in (first, second)]
        means = [sum(side) / len(side) for side in sides]
        terms = [
            sum((x - mean) ** 2 for x in side) / (len(side) - 1) / len(side)
            for side, mean in zip(sides, means, strict=True)
        ]
        return (means[0] - means[1]) ** 2 / sum(terms)

    pooled, observed = [*a, *b], squared_t(a, b)
    reached = total = 0
    for chosen in combinations(range(len(pooled)), len(a)):
        rest = [x for i, x in enumerate(pooled) if i not in chosen]
        reached += squared_t([pooled[i] for i in chosen], rest) >= observed
        total += 1
    return reached / total


def exchange(*scores, level=0.5):
    units = MeanUnits([np.array(part, dtype=float)[:, None] for part in scores], np.ones(1, dtype=np.int64))
    families = tuple(range(len(scores)))
    observed = np.stack([units.observed(pair, units.nodes) for pair in combinations(families, 2)])
    return Exchange(units, families, units.nodes, observed, level)


@pytest.mark.parametrize(
    ("a", "b"), [((1, 5, 2, 8), (9, 12, 7, 11)), ((3, 4, 5), (1, 1, 2, 6, 9, 9)), ((2, 9, 4, 4, 7), (4, 4, 0, 1))]
)
def test_the_p_value_is_that_of_every_assignment(a, b):
    test = exchange(a, b)
    assert test.exact
    # below the rounding of whole numbers no variance is taken for true; none of these is so small
    assert test.p_values()[0] == pytest.approx(naive_p(a, b), abs=1e-12)


def test_drawn_assignments_approach_the_enumerated_ones(monkeypatch):
    rng = np.random.default_rng(0)
    a, b = rng.normal(0, 1, 6), rng.normal(1, 1, 8)
    enumerated = float(exchange(a, b).p_values()[0])
    monkeypatch.setattr("levelbest.stats.inference._exchange.EXACT_UP_TO", 1)
    test = exchange(a, b, level=enumerated)  # at its very level it is drawn as far as it goes
    drawn = float(test.p_values()[0])
    assert test.drawn > 5_000
    # five standard errors of a share of so many draws
    assert drawn == pytest.approx(enumerated, abs=5 * math.sqrt(enumerated / test.drawn))


def test_one_distribution_for_all_families_is_tested_by_every_assignment():
    scores = [np.array([1.0, 2.0, 4.5]), np.array([4.0, 7.0, 6.5]), np.array([5.0, 11.0])]
    pairs = [(0, 1), (0, 2), (1, 2)]

    def largest(parts):
        return max(abs(stats.ttest_ind(parts[a], parts[b], equal_var=False).statistic) for a, b in pairs)

    test = exchange(*scores)
    pooled, every = np.concatenate(scores), []
    for first in combinations(range(8), 3):
        left = [i for i in range(8) if i not in first]
        for second in combinations(left, 3):
            third = [i for i in left if i not in second]
            every.append([pooled[list(places)] for places in (first, second, third)])
    t = np.array([[abs(stats.ttest_ind(p[a], p[b], equal_var=False).statistic) for a, b in pairs] for p in every])
    assert np.sort(test.null[:, 0], axis=1) == pytest.approx(np.sort(t.T, axis=1))
    assert largest(scores) == pytest.approx(test.statistics.max())


def test_four_families_of_five_runs_far_apart_are_all_told_apart():
    """252 assignments of a pair give p-values down to .0079, just below .05 / 6: sampled ones would miss that."""
    rng = np.random.default_rng(3)
    answer = run_contrasts([rng.normal(30 * f, 1, 5) for f in range(4)], all_pairs(4))
    assert [pair.effect.certified for pair in answer.pairs] == [-1] * 6


@pytest.mark.parametrize(("k", "runs"), [(5, 3), (7, 4)])
def test_a_family_far_away_does_not_open_the_door_for_equal_ones(k, runs):
    """Two modes and one family far below: t alone named a winner among the equal ones in .21 and .38 of samples."""
    named = 0
    for at in range(60):
        rng = np.random.default_rng([at, k, runs])
        equal = np.where(rng.random((k, runs)) < 0.5, 0.6, 0.8) + rng.uniform(-0.01, 0.01, (k, runs))
        families = [*equal, -50 + 0.01 * rng.standard_normal(runs)]
        answer = run_contrasts(families, all_pairs(k + 1))
        named += any(pair.effect.certified for pair in answer.pairs if k not in pair.pair)
    # 60 samples of a true .06: more than 10 once in 1,200; t alone would name 12 and 22
    assert named <= 10


# ---- verdicts and limits


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_limits_exclude_zero_exactly_where_something_is_certified(data):
    k = data.draw(st.integers(2, 4))
    score = st.integers(0, 30).map(lambda whole: whole / 10)
    families = [np.array(data.draw(st.lists(score, min_size=1, max_size=8))) for _ in range(k)]
    answer = run_contrasts(families, all_pairs(k, bounds=(0.0, 3.0), worth=0.5))
    for one in answer.pairs:
        holds_zero = one.low[0] <= 0 <= one.high[0]
        assert holds_zero == (one.effect.certified == 0)
        assert one.low[0] <= one.difference[0] <= one.high[0] or not holds_zero
        assert -3 <= one.low[0] <= one.high[0] <= 3
        assert not one.negligible[0] or (one.low[0] > -0.5 and one.high[0] < 0.5)
        assert one.effect.certified == 0 or one.p_value[0] <= 0.05
    beaten = {one.pair[one.effect.certified > 0] for one in answer.pairs if one.effect.certified}
    assert len(beaten) < k  # the best of all cannot be beaten by a certified verdict in a cycle


def test_the_order_of_families_and_scores_does_not_matter():
    rng = np.random.default_rng(9)
    scores = [rng.normal(0.8 * f, 1, m) for f, m in enumerate((12, 15, 12))]
    plain = run_contrasts(scores, all_pairs(3))
    turned = run_contrasts([part[::-1] for part in scores[::-1]], all_pairs(3))
    for one in plain.pairs:
        a, b = one.pair
        other = next(c for c in turned.pairs if set(c.pair) == {2 - a, 2 - b})
        sign = 1 if other.pair == (2 - a, 2 - b) else -1
        assert other.effect.certified == sign * one.effect.certified
        assert other.p_value[0] == one.p_value[0]
        low, high = (one.low[0], one.high[0]) if sign > 0 else (-one.high[0], -one.low[0])
        assert (other.low[0], other.high[0]) == pytest.approx((low, high), rel=1e-12)


def test_a_shift_and_a_scale_change_nothing_but_the_units():
    rng = np.random.default_rng(4)
    scores = [rng.normal(f, 1, 9) for f in range(3)]
    plain = run_contrasts(scores, all_pairs(3))
    moved = run_contrasts([1e4 + 1e-3 * part for part in scores], all_pairs(3))
    for one, other in zip(plain.pairs, moved.pairs, strict=True):
        assert one.effect.certified == other.effect.certified
        assert 1e-3 * one.low[0] == pytest.approx(other.low[0], rel=1e-6)


def test_certified_families_are_ranked():
    rng = np.random.default_rng(6)
    scores = [rng.normal(mean, 1, 10) for mean in (0, 6, 6.2, 3)]
    answer = {one.pair: one.effect.certified for one in run_contrasts(scores, all_pairs(4)).pairs}
    assert answer == {(0, 1): -1, (0, 2): -1, (0, 3): -1, (1, 2): 0, (1, 3): 1, (2, 3): 1}
    runs = {"model": np.repeat(list("abcd"), 10), "seed": np.tile(np.arange(10), 4), "acc": np.concatenate(scores)}
    compared = lb.compare(runs, family="model", seed_column="seed", selection="acc", direction="max")
    assert compared.terms.design == "seeds"
    assert compared.possible_best == ("b", "c")


def test_no_false_winner_where_a_mode_is_absent_by_chance():
    """10 runs against 100 of a model that works one time in ten: Welch alone names a winner in a third of samples."""
    welch_alone = named = 0
    for at in range(150):
        rng = np.random.default_rng([77, at])
        scores = [works(rng, 10, 0.1), works(rng, 100, 0.1)]
        named += run_contrasts(scores, PAIR).pairs[0].effect.certified != 0
        welch_alone += stats.ttest_ind(*scores, equal_var=False).pvalue <= 0.05
    assert welch_alone > 33  # fewer of a true third once in 500
    assert named <= 16  # more of a true .05 once in 700


def test_five_models_two_deviations_apart_are_told_apart_with_ten_seeds():
    decided = []
    for at in range(20):
        rng = np.random.default_rng([78, at])
        answer = run_contrasts([rng.normal(2 * f, 1, 10) for f in range(5)], all_pairs(5))
        decided.append(np.mean([one.effect.certified == -1 for one in answer.pairs]))
    assert np.mean(decided) >= 0.95


def test_families_whose_scores_are_all_equal_are_told_apart_without_a_warning():
    runs = [np.full(5, 0.5), np.full(5, 0.5), np.full(5, 0.5), np.array([0.1, 0.1, 0.1, 0.1, 0.2])]
    answer = run_contrasts(runs, Hypotheses(tuple(combinations(range(4), 2))))
    winners = {pair.pair: pair.effect.certified for pair in answer.pairs}
    assert winners == {(0, 1): 0, (0, 2): 0, (1, 2): 0, (0, 3): 1, (1, 3): 1, (2, 3): 1}
