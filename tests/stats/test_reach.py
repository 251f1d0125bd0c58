"""Reading limits sideways: the budget that reaches a target."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from levelbest.errors import InputError
from levelbest.stats import best_interval, expected_best, normal_best
from levelbest.stats.budgets._reach import budget_to_reach, check_reachable

N = np.arange(1, 6)


def test_estimate_and_interval_are_where_the_lines_cross_the_target():
    found = budget_to_reach(N, [1, 2, 3, 4, 5], [0, 1, 2, 3, 4], [2, 3, 4, 5, 6], 3)
    assert (found.budget, found.low, found.high) == (3, 2, 4)


def test_not_within_the_data_is_infinite():
    found = budget_to_reach(N, [1, 2, 3, 4, 5], [0, 1, 2, 3, 4], [2, 3, 4, 5, 6], 5.5)
    assert (found.budget, found.low, found.high) == (np.inf, 5, np.inf)


def test_a_lower_limit_that_falls_again_does_not_count():
    found = budget_to_reach(N, [1, 2, 3, 4, 5], [0, 3, 2, 3, 4], [2, 3, 4, 5, 6], 3)
    assert found.high == 4
    # a simultaneous band proves the target reached where its lower limit first is
    band = budget_to_reach(N, [1, 2, 3, 4, 5], [0, 3, 2, 3, 4], [2, 3, 4, 5, 6], 3, simultaneous=True)
    assert band.high == 2


def test_undefined_limits_at_the_end_neither_reach_nor_spoil():
    found = budget_to_reach(N, [1, 2, 3, 4, 5], [0, 1, 3, np.nan, np.nan], [2, 3, 4, np.nan, np.nan], 3)
    assert found.high == 3
    found = budget_to_reach(N, [1, 2, 3, 4, 5], [0, 1, 2, np.nan, np.nan], [2, 3, 4, np.nan, np.nan], 3)
    assert found.high == np.inf


@given(st.lists(st.floats(-5, 5), min_size=3, max_size=8), st.floats(-5, 5))
def test_min_is_the_mirror_image(values, target):
    value = np.sort(values)
    n = np.arange(1, value.size + 1)
    up = budget_to_reach(n, value, value - 1, value + 1, target)
    down = budget_to_reach(n, -value, -value - 1, -value + 1, -target, direction="min")
    assert (up.budget, up.low, up.high) == (down.budget, down.low, down.high)


def test_costs_are_interpolated():
    found = budget_to_reach([10.0, 20.0], [1.0, 3.0], [0.0, 2.0], [2.0, 4.0], 2.0, between=True)
    assert (found.budget, found.low, found.high) == (15.0, 10.0, 20.0)


def test_the_interval_covers_the_true_budget():
    # normal scores: E[best of 8] = 1.4236, so the target 1.40 needs 8 trials. 150 samples at nominal .95: fewer than
    # 131 hits have probability 1e-4 if the interval holds.
    assert normal_best(7) < 1.40 < normal_best(8)
    n = np.arange(1, 25)
    hits = 0
    for seed in range(150):
        x = np.random.default_rng([3, seed]).normal(size=50)
        limits = best_interval(x, n, method="studentised", n_resamples=400, rng=seed)
        found = budget_to_reach(n, expected_best(x, n), limits.low, limits.high, 1.40)
        hits += found.low <= 8 <= found.high
    assert hits >= 131


def test_targets_on_the_wrong_side_are_refused():
    scores = np.array([0.5, 0.7])
    assert check_reachable(0.6, scores, "max", (0, 1)) == 0.6
    with pytest.raises(InputError, match=r"outside the bounds of the score, 0 to 1; is it a percentage\?"):
        check_reachable(60, scores, "max", (0, 1))
    with pytest.raises(InputError, match=r"worse than every trial .* check direction="):
        check_reachable(0.4, scores, "max", (0, 1))
    with pytest.raises(InputError, match=r"worse than every trial .* lower is better"):
        check_reachable(0.9, scores, "min", (None, None))
    with pytest.raises(InputError, match="a target must be a finite score, got 'high'"):
        check_reachable("high", scores, "max", (None, None))
