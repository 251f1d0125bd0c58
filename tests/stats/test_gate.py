"""The gate's p-value is exact: against counting, and calibrated under no improvement."""

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest

from levelbest.errors import InputError
from levelbest.stats import claim_gate


def counted(m: int, n: int, above: int) -> Fraction:
    """The share of ways to place n attempts among m + n ranked runs with at most ``above`` baselines on top."""
    hits = sum(1 for places in combinations(range(m + n), n) if min(places) <= above)
    return Fraction(hits, comb(m + n, n))


@pytest.mark.parametrize(("m", "n"), [(1, 1), (3, 2), (5, 4), (7, 3)])
def test_p_value_is_the_share_of_placements(m, n):
    baseline = np.arange(m, dtype=float)
    for above in range(m):
        result = claim_gate(baseline, m - 1 - above + 0.5, n)
        assert result.baseline_at_least == above
        assert result.p_value == pytest.approx(float(counted(m, n, above)), rel=1e-14)
    assert claim_gate(baseline, -1.0, n).p_value == 1.0


def test_floor_is_attempts_over_all_runs():
    result = claim_gate(np.linspace(0, 1, 30), 2.0, 10)
    assert result.p_value == pytest.approx(10 / 40, rel=1e-14)
    assert result.smallest_possible_p == pytest.approx(10 / 40, rel=1e-15)
    assert not result.reachable
    assert "cannot be below 0.25" in str(result)
    assert "cannot tell" in str(result)
    assert result.baseline_trials_needed == 190  # 10 / (190 + 10) = .05


def test_the_needed_number_of_runs_is_the_smallest():
    for attempts in (1, 2, 3, 7, 19, 50):
        for confidence in (0.9, 0.95, 0.99):
            needed = claim_gate([0.0], 1.0, attempts, confidence=confidence).baseline_trials_needed
            level = Fraction(str(confidence))
            assert Fraction(attempts, needed + attempts) <= 1 - level < Fraction(attempts, needed - 1 + attempts)


def test_ties_count_against_the_claim():
    assert claim_gate([0.5, 0.5, 0.1], 0.5, 1).baseline_at_least == 2


def test_direction_is_a_mirror():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=40)
    up, down = claim_gate(scores, 1.9, 3), claim_gate(-scores, -1.9, 3, direction="min")
    assert up.p_value == down.p_value
    assert "as low as" in str(down)


def test_passing_says_so():
    result = claim_gate(np.zeros(99), 1.0, 1)
    assert result.passed
    assert result.p_value == pytest.approx(0.01)
    assert "more than luck at 95 % confidence" in str(result)
    assert "not more" not in str(result)


@pytest.mark.parametrize(("m", "n"), [(20, 1), (50, 5), (200, 10)])
@pytest.mark.parametrize("rounded", [False, True])
def test_calibrated_under_no_improvement(m, n, rounded):
    # 2,000 simulations. The p-values are exact, so P(p <= a) <= a; the bound is 4 Monte Carlo standard errors
    # (false alarm about 3e-5 per level, 24 looks).
    rng = np.random.default_rng([m, n, rounded])
    draws = rng.normal(size=(2000, m + n))
    if rounded:
        draws = np.round(draws)
    p = np.array([claim_gate(row[:m], row[m:].max(), n).p_value for row in draws])
    for level in (0.01, 0.05, 0.1, 0.2):
        assert np.mean(p <= level) <= level + 4 * np.sqrt(level * (1 - level) / 2000)


def test_exactly_calibrated_where_a_level_is_reachable():
    # continuous scores: P(p <= p_r) = p_r exactly; 4 standard errors (false alarm 6e-5 each, 3 looks)
    rng = np.random.default_rng(5)
    draws = rng.exponential(size=(4000, 64))
    p = np.array([claim_gate(row[:60], row[60:].max(), 4).p_value for row in draws])
    for level in np.unique(p)[:3]:
        assert np.mean(p <= level) == pytest.approx(level, abs=4 * np.sqrt(level * (1 - level) / 4000))


@pytest.mark.parametrize("attempts", [0, -1, 2.5, True])
def test_attempts_must_be_a_whole_number(attempts):
    with pytest.raises(InputError, match="attempts must be a whole number"):
        claim_gate([0.1, 0.2], 0.3, attempts)


def test_other_bad_input():
    with pytest.raises(InputError, match="claimed score must be a finite number"):
        claim_gate([0.1], float("nan"), 1)
    with pytest.raises(InputError, match="baseline must be finite"):
        claim_gate([0.1, float("nan")], 0.2, 1)
    with pytest.raises(InputError, match=r"did you mean 0\.95"):
        claim_gate([0.1], 0.2, 1, confidence=95)


def test_a_claim_that_is_no_number_is_refused_in_a_sentence():
    with pytest.raises(InputError, match="the claimed score must be a finite number, got 'high'"):
        claim_gate([0.1, 0.2], "high", 3)
