"""Numbers that speak for or against a random sample: enumeration, scipy.stats, and designs built by hand."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as peer

from levelbest.stats.checks import _diagnostics as diagnostics

SCORES = st.lists(st.integers(-5, 5), min_size=3, max_size=30)


@given(st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=3, max_size=25))
def test_rank_correlation_is_spearmans_with_ties(pairs):
    a, b = np.array(pairs, dtype=float).T
    rho = diagnostics.rank_correlation(a, b)
    p_value = diagnostics.p_positive(rho, a.size)
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        assert np.isnan(rho)
        assert np.isnan(p_value)
        return
    theirs = peer.spearmanr(a, b, alternative="greater")
    assert rho == pytest.approx(theirs.statistic, abs=1e-12)
    assert p_value == pytest.approx(theirs.pvalue, abs=1e-9)


def test_trend_is_positive_where_later_trials_are_better_in_either_direction():
    losses = [5.0, 4.0, 3.0, 2.0, 1.0]
    assert diagnostics.trend(losses, direction="min") == 1.0
    assert diagnostics.trend(losses, direction="max") == -1.0
    assert diagnostics.trend(losses, order=[5, 4, 3, 2, 1], direction="max") == 1.0


def test_trend_of_exchangeable_scores_is_flagged_at_its_level():
    # 4,000 families of 30: with p < .01 (two-sided) the count is binomial(4000, .01), 40 +- 6.3;
    # outside 15..70 once in 10^4.
    rng = np.random.default_rng(1)
    flagged = sum(
        diagnostics.p_positive(abs(diagnostics.trend(row)), row.size) < 0.005 for row in rng.normal(size=(4000, 30))
    )
    assert 15 <= flagged <= 70


@given(SCORES)
def test_ties_and_distinct_values_by_counting(scores):
    assert diagnostics.distinct_values(scores) == len(set(scores))
    tied = sum(scores.count(score) > 1 for score in scores)
    assert diagnostics.tied_share(scores) == tied / len(scores)


def test_iqr_error_is_that_of_the_bootstrap():
    # Against 40,000 plain resamples: each side's sd is good to 1/sqrt(2 x 40,000) = .35 %; 2.5 % is far outside both.
    rng = np.random.default_rng(4)
    for scores in (rng.normal(size=21), np.round(rng.exponential(size=50), 1), rng.uniform(size=6)):
        plain = rng.choice(scores, size=(40_000, scores.size))
        low, high = np.quantile(plain, [0.25, 0.75], axis=1)
        assert diagnostics.iqr_error(scores, n_resamples=40_000) == pytest.approx((high - low).std(), rel=0.025)
    assert np.isnan(diagnostics.iqr_error([1.0, 2.0, 3.0]))


def test_iqr_error_is_decided_by_its_seed():
    scores = np.random.default_rng(5).normal(size=30)
    assert diagnostics.iqr_error(scores, rng=1) == diagnostics.iqr_error(scores, rng=1)
    assert diagnostics.iqr_error(scores, rng=1) != diagnostics.iqr_error(scores, rng=2)


def test_outlying_best_in_both_directions():
    family = [0.61, 0.62, 0.63, 0.64, 0.65, 0.66, 0.67, 0.68, 0.9756]
    found = diagnostics.outlying_best(family)
    low, high = np.quantile(family[:-1], [0.25, 0.75])
    assert found.position == 8
    assert found.distance == pytest.approx((0.9756 - high) / (high - low))
    assert found.gap == pytest.approx((0.9756 - 0.68) / (high - low))
    turned = diagnostics.outlying_best([-x for x in family], "min")
    assert (turned.distance, turned.gap) == pytest.approx((found.distance, found.gap))
    assert diagnostics.outlying_best([1.0] * 20) is None
    assert diagnostics.outlying_best([1.0, 2.0, 9.0]) is None


def codes(*columns):
    return [np.array(column) for column in columns]


def test_a_full_grid_is_a_grid_in_any_order_and_repeated():
    cells = list(itertools.product(range(2), range(3), range(4)))
    shuffled = [cells[i] for i in np.random.default_rng(6).permutation(len(cells))]
    grid = diagnostics.grid_design(codes(*zip(*shuffled, strict=True)))
    assert (grid.levels, grid.cells, grid.filled, grid.share) == ((2, 3, 4), 24, 24, 1.0)
    twice = diagnostics.grid_design(codes(*zip(*(shuffled + shuffled), strict=True)))
    assert twice.filled == 24
    partial = diagnostics.grid_design(codes(*zip(*shuffled[:21], strict=True)))
    assert partial.filled == 21


def test_random_search_is_hardly_ever_taken_for_a_grid():
    # At most 1 in 1,000 by the rule; 2,000 searches: more than 9 has probability below 10^-4.
    rng = np.random.default_rng(7)
    flagged = 0
    for _ in range(2000):
        levels = rng.integers(2, 5, size=3)
        columns = [rng.integers(0, k, size=int(rng.integers(4, 60))) for k in levels]
        size = min(map(len, columns))
        flagged += diagnostics.grid_design([column[:size] for column in columns]) is not None
    assert flagged <= 9
    continuous = [rng.permutation(50), rng.permutation(50)]
    assert diagnostics.grid_design(continuous) is None


@pytest.mark.parametrize("n_trials", [8, 25, 26, 60])
def test_values_that_do_not_repeat_cross_with_nothing(n_trials):
    rng = np.random.default_rng(8)
    continuous, two = rng.permutation(n_trials), rng.integers(0, 2, size=n_trials)
    assert diagnostics.grid_design([continuous, two]) is None
    nearly = np.r_[continuous[:-2], continuous[:2]]  # two values by chance twice, as rounding makes them
    assert diagnostics.grid_design([nearly, two]) is None


def test_a_grid_of_two_columns_with_one_run_missing_is_a_grid():
    cells = list(itertools.product(range(20), range(2)))
    assert diagnostics.grid_design(codes(*zip(*cells, strict=True))).filled == 40
    assert diagnostics.grid_design(codes(*zip(*cells[1:], strict=True))).filled == 39


def test_coverage_of_cells_by_enumeration():
    cells, draws = 4, 5
    exact = Fraction(0)
    for hits in itertools.product(range(cells), repeat=draws):
        exact += Fraction(len(set(hits)) >= 3, cells**draws)
    assert diagnostics._log_covered(draws, cells, 3) == pytest.approx(float(np.log(float(exact))))
    even = Fraction(0)
    for hits in itertools.product(range(3), repeat=6):
        even += Fraction(all(hits.count(cell) == 2 for cell in range(3)), 3**6)
    assert diagnostics.log_even(6, 3) == pytest.approx(float(np.log(float(even))))


def test_equal_steps():
    assert diagnostics.evenly_spaced([1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0])
    assert diagnostics.evenly_spaced([60, 10, 20, 30, 50, 40])
    assert not diagnostics.evenly_spaced([1, 2, 3, 4, 5])  # too few to tell
    assert not diagnostics.evenly_spaced([1, 2, 3, 4, 5, 6.5])
    assert not diagnostics.evenly_spaced([1, 1, 2, 3, 4, 5, 6])


def test_configuration_codes_agree_with_tuples():
    rng = np.random.default_rng(8)
    columns = [rng.integers(0, k, size=200) for k in (2, 5, 3)]
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    found = diagnostics.configuration_codes(columns, 200)
    for i, j in itertools.combinations(range(0, 200, 7), 2):
        assert (found[i] == found[j]) == (rows[i] == rows[j])


def test_stopping_at_the_first_success_is_counted():
    success, group = [0, 0, 1, 1, 0, 1, 0, 0], [0, 0, 0, 1, 2, 2, 3, 3]
    found = diagnostics.stops_at_success(success, group)
    assert (found.groups, found.batch) == (3, 1)
    assert found.log_chance == pytest.approx(np.log(1 / 3 * 1 * 1 / 2))
    success[4] = 1  # two successes in problem 2
    assert diagnostics.stops_at_success(success, group) is None
    assert diagnostics.stops_at_success([1, 0], [0, 0], order=[2, 1]).groups == 1
    assert diagnostics.stops_at_success([0, 0], [0, 0]) is None


def test_stopping_in_batches_is_counted():
    """Batches of 4: problem 0 stops after one, 1 after two, 2 after three, 3 never succeeds in three."""
    sizes, wins = [4, 8, 12, 12], {0: [1, 2], 1: [5], 2: [8, 9, 11], 3: []}
    group = np.repeat(range(4), sizes)
    success = np.concatenate([np.isin(np.arange(size), wins[g]) for g, size in enumerate(sizes)])
    found = diagnostics.stops_at_success(success, group)
    assert (found.groups, found.batch) == (3, 4)
    ways = [math.comb(4, c) / math.comb(s, c) for s, c in ((4, 2), (8, 1), (12, 3))]
    assert found.log_chance == pytest.approx(np.log(np.prod(ways)))
    assert diagnostics.stops_at_success(success, group, order=-np.arange(36)) is None
