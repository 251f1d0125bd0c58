"""Budgets in cost of very many trials: windows against going round by hand, exact sums, and limits against theory."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from levelbest.stats import cost_curve, expected_best
from levelbest.stats.budgets import Pool
from levelbest.stats.budgets._many_trials import _drawn, _woven
from levelbest.stats.budgets._orders import _exact_sum


def spent_by_hand(order, pool, cost, limit, step):
    """Every window of an order, trial by trial: the mean value, the winners' ranks, how many trials finished."""
    values, winners, finished = [], [], 0
    for start in range(0, order.size, step):
        going = np.roll(order, -start)
        done = going[np.cumsum(cost[going]) <= limit]
        finished += done.size
        best = pool.rank[done].max() if done.size else -1
        winners.append(best)
        values.append(pool.y[done[pool.rank[done] == best]].mean() if done.size else pool.worst)
    return np.mean(values), winners, finished


@pytest.mark.parametrize("tied", [False, True])
def test_windows_of_a_long_order_are_those_spent_by_hand(tied):
    rng = np.random.default_rng(3)
    m = 700
    selection, y = rng.normal(size=(2, m))
    if tied:
        selection = np.round(selection)
    cost = rng.integers(0, 5, m)
    pool = Pool(selection, y if tied else selection, cost.astype(float), -9.0, 1)
    values = None if tied else np.append(pool.y_of_rank, pool.worst)
    total = int(cost.sum())
    limits = np.array([0, 1, 7, 7, 40, total // 3, total // 2, total // 2, total - 1, total, 3 * total])
    # 0: from every trial on; 100: so few are searched otherwise
    steps = np.array([0, 0, 0, 1, 3, 7, 0, 100, 100, 9, 100])
    drawn = _drawn(pool, cost, values, rng)
    order = drawn.order
    for spent in (drawn, drawn.woven()):
        outcomes = dict(spent.spend(limits, steps, np.ones(limits.size, dtype=bool)))
        assert sorted(outcomes) == list(range(limits.size))
        for i, (mean, winners, finished, _) in outcomes.items():
            by_hand = spent_by_hand(order, pool, cost, limits[i], max(1, steps[i]))
            assert mean == pytest.approx(by_hand[0], abs=1e-12)
            assert winners.tolist() == by_hand[1]
            assert finished == by_hand[2]
        order = _woven(order)


def test_trials_near_each_other_are_far_apart_once_woven():
    woven = _woven(np.arange(1010))
    assert sorted(woven) == list(range(1010))
    where = np.argsort(woven)
    # 31 rows of 32: neighbours in a row lie a column apart, but for the two that end one row and begin the next
    assert np.abs(np.diff(where[:992])).min() == 31


@given(st.lists(st.floats(0, 1e300) | st.floats(0, 1) | st.sampled_from([0.1, 1e-320, 2.0**60]), min_size=1))
def test_sums_are_rounded_once(numbers):
    assert _exact_sum(np.array(numbers)) == math.fsum(numbers)


@pytest.mark.parametrize("separate", [False, True])
def test_equal_costs_of_many_trials_give_the_u_curve(separate):
    rng = np.random.default_rng(1)
    m = 20_000
    selection = np.round(rng.normal(size=m), 2) if separate else rng.normal(size=m)
    reported = rng.normal(size=m) if separate else None
    n = np.array([1, 3, 9, 60, 500, 5000, m // 2, m])
    result = cost_curve(selection, np.full(m, 0.1), 0.1 * n, reported, rng=0)
    u = expected_best(selection, n, reported)
    assert result.trials_finished.tolist() == n.tolist()
    assert result.n_orders >= 20_000
    # every trial comes first once, and at the end all are there
    assert result.value[[0, -1]] == pytest.approx(u[[0, -1]], abs=1e-12)
    # the least that two orders can do: windows from every trial on, each as good as one without the others
    spread = np.std(selection if reported is None else reported)
    assert (np.abs(result.value - u) <= 4.5 * spread * np.sqrt(n / m / 2)).all()
    assert (result.monte_carlo_error[1:-1] > 0).all()


def test_limits_of_a_share_are_those_of_a_share():
    # All scores are 1, very nearly, and nothing is 0: the curve is the share of trials within the budget.
    m, rng = 20_000, np.random.default_rng(7)
    scores, cost = 1 - 1e-9 * rng.random(m), rng.exponential(size=m)
    budget = np.array([0.5, 1.0, 2.0])
    result = cost_curve(scores, cost, budget, worst=0.0, confidence=0.95, n_resamples=4000)
    share = (cost[:, None] <= budget).mean(axis=0)
    assert result.value == pytest.approx(share, abs=1e-8)
    width = 2 * 1.96 * np.sqrt(share * (1 - share) / m)
    # 4000 draws leave an error of some 2 % of the width in each limit
    assert result.high - result.low == pytest.approx(width, rel=0.1)


def test_a_budget_just_above_the_dearest_trial_may_be_too_small_for_another():
    # All scores are 1, very nearly, and nothing is 0: none of m trials was too dear, and 1 - .025^(1/m) may be.
    m, rng = 40, np.random.default_rng(8)
    scores, cost = 1 - 1e-9 * rng.random(m), rng.exponential(size=m)
    budget = np.array([1.01 * cost.max(), 4 * cost.max()])
    low = cost_curve(scores, cost, budget, worst=0.0, confidence=0.95, n_resamples=4000).low
    assert low == pytest.approx([0.025 ** (1 / m), 1.0], abs=0.01)  # 4 standard errors of a quantile of 4000 draws
    alike = cost_curve(scores, np.ones(m), np.array([1.5]), worst=0.0, confidence=0.95, n_resamples=4000).low
    assert alike == pytest.approx([1.0])
