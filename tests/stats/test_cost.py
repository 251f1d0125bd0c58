"""Budgets in cost: against enumeration of every order, against the U curve, and the limits."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from levelbest.errors import DataError, InputError
from levelbest.stats import cost_curve, expected_best
from levelbest.stats.budgets._cost import cost_budgets, cost_horizon


def enumerated(selection, cost, budget, reported=None, *, worst, workers=1):
    """Every order, one at a time, in exact arithmetic: the stupid way."""
    reported = selection if reported is None else reported
    total, nothing, count = Fraction(0), 0, 0
    for order in permutations(range(len(selection))):
        free = [Fraction(0)] * workers
        done = []
        for trial in order:
            worker = free.index(min(free))
            free[worker] += Fraction(cost[trial])
            if free[worker] <= Fraction(budget):
                done.append(trial)
        count += 1
        if not done:
            nothing += 1
            total += Fraction(worst)
            continue
        best = max(selection[i] for i in done)
        tied = [Fraction(reported[i]) for i in done if selection[i] == best]
        total += sum(tied) / len(tied)
    return float(total / count), nothing / count


CASES = [
    ([3, 1, 4, 1, 5], [2, 7, 1, 8, 2], None),
    ([3, 1, 4, 1, 5, 9], [2, 7, 1, 8, 2, 8], [2, 6, 5, 3, 5, 8]),
    ([1, 1, 2, 2, 2, 3, 3], [1, 5, 1, 3, 9, 2, 6], [4, 0, 7, 1, 2, 9, 3]),
]


@pytest.mark.parametrize(("selection", "cost", "reported"), CASES)
@pytest.mark.parametrize("workers", [1, 2])
def test_all_orders_of_few_trials_are_enumerated(selection, cost, reported, workers):
    horizon = cost_horizon(np.array(cost, float), workers)
    budgets = [b for b in (0, 1, 2, 5, 9, 11, 14) if b <= horizon]
    result = cost_curve(selection, cost, budgets, reported, worst=-1, workers=workers)
    assert (result.monte_carlo_error == 0).all()
    for at, budget in enumerate(budgets):
        value, nothing = enumerated(selection, cost, budget, reported, worst=-1, workers=workers)
        assert result.value[at] == pytest.approx(value, abs=1e-13)
        assert result.nothing_finished[at] == pytest.approx(nothing, abs=1e-13)


@pytest.mark.parametrize(("selection", "cost", "reported"), CASES)
@pytest.mark.parametrize("workers", [1, 2])
def test_random_orders_agree_with_enumeration(selection, cost, reported, workers):
    # fewer orders than there are in all, so they are drawn; 4.5 standard errors: 7e-6 for each of some 30 looks
    horizon = cost_horizon(np.array(cost, float), workers)
    budgets = [b for b in (1, 2, 5, 9, 11, 14) if b <= horizon]
    few = 119 if len(cost) == 5 else 700  # 50 orders and their rotations at least
    result = cost_curve(selection, cost, budgets, reported, worst=-1, workers=workers, n_orders=few, rng=3)
    for at, budget in enumerate(budgets):
        value, _ = enumerated(selection, cost, budget, reported, worst=-1, workers=workers)
        assert abs(result.value[at] - value) <= 4.5 * result.monte_carlo_error[at] + 1e-12
        # rotating makes a budget in which at most one trial finishes exact
        if budget < sum(sorted(cost)[:2]) and workers == 1:
            assert result.value[at] == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("tied", [False, True])
def test_equal_costs_give_the_u_curve(tied):
    rng = np.random.default_rng(1)
    selection, reported = rng.normal(size=(2, 40))
    if tied:
        selection = np.round(selection)
    n = np.array([1, 2, 5, 10, 20, 39, 40])
    result = cost_curve(selection, np.full(40, 0.1), 0.1 * n, reported, rng=0)
    u = expected_best(selection, n, reported)
    # 4.5 of the stated Monte Carlo errors (7e-6 each); where all orders agree the error is zero
    assert (np.abs(result.value - u) <= 4.5 * result.monte_carlo_error + 1e-12).all()
    assert result.value[0] == pytest.approx(u[0], abs=1e-12)
    assert result.value[-1] == pytest.approx(u[-1], abs=1e-12)
    assert result.monte_carlo_error.max() < 0.02
    # and the axis scaled by the mean cost is then the same curve
    assert result.mean_cost_value == pytest.approx(u, abs=1e-9)
    assert result.trials_finished == pytest.approx(n)


def test_equal_costs_with_workers_are_whole_rounds():
    scores = np.random.default_rng(2).normal(size=30)
    result = cost_curve(scores, np.ones(30), [1, 2, 4], workers=3, rng=0)
    u = expected_best(scores, np.array([3, 6, 12]))
    assert (np.abs(result.value - u) <= 4.5 * result.monte_carlo_error).all()


def test_unbiased_where_cost_and_score_go_together():
    """Against a long simulation of the law itself, where scaling by the mean cost is far off."""

    def draw(rng, size):
        quick = rng.random(size) < 0.5
        return np.where(quick, rng.normal(0, 1, size), rng.normal(1.5, 1, size)), np.where(quick, 1.0, 6.0)

    budget = np.array([2.0, 6.0, 12.0])
    rng = np.random.default_rng(11)
    score, cost = draw(rng, (100_000, 13))
    finish = cost.cumsum(axis=1)
    truth = np.array([np.where(finish <= t, score, -4.0).max(axis=1).mean() for t in budget])
    runs = [
        cost_curve(*draw(rng, 40), budget, worst=-4.0, n_orders=2000, rng=seed)  # horizon: at least 40 > 12
        for seed in range(120)
    ]
    values = np.array([run.value for run in runs])
    error = values.std(axis=0) / np.sqrt(len(runs))
    # 4 standard errors and the truth's own (about 3e-3): false alarm 6e-5 each of 3
    assert (np.abs(values.mean(axis=0) - truth) <= 4 * error + 0.01).all()
    scaled = np.mean([run.mean_cost_value for run in runs], axis=0)
    assert abs(scaled[2] - truth[2]) > 0.1


@given(
    st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 9), st.integers(-5, 5)), min_size=2, max_size=6),
    st.integers(1, 40),
)
@settings(max_examples=60)
def test_max_and_min_are_mirror_images(rows, budget):
    selection, cost, reported = map(list, zip(*rows, strict=True))
    up = cost_curve(selection, cost, [budget], reported, worst=-9)
    down = cost_curve(np.negative(selection), cost, [budget], np.negative(reported), worst=9, direction="min")
    assert np.allclose(up.value, -down.value, equal_nan=True, atol=1e-12)
    if budget <= sum(cost):
        assert up.value[0] == pytest.approx(enumerated(selection, cost, budget, reported, worst=-9)[0], abs=1e-12)


def test_past_the_data_is_undefined():
    result = cost_curve([1.0, 2.0, 3.0], [1.0, 1.0, 1.0], [3.0, 3.1])
    assert result.value[0] == 3.0
    assert np.isnan(result.value[1])
    assert "past that the data say nothing" in result.reason
    # free trials: at the total, one more could have finished
    assert np.isnan(cost_curve([1.0, 2.0, 3.0], [1.0, 1.0, 0.0], [2.0]).value[0])


def test_workers_shorten_the_horizon_so_that_no_order_runs_out():
    cost = np.array([1.0, 2.0, 3.0, 10.0])
    horizon = cost_horizon(cost, 2)
    for order in permutations(cost):
        free = [0.0, 0.0]
        for one in order:
            free[free.index(min(free))] += one
        assert min(free) >= horizon


def test_a_seed_decides():
    rng = np.random.default_rng(0)
    scores, cost = rng.normal(size=20), rng.exponential(size=20)
    one, same, other = (cost_curve(scores, cost, [3.0], n_orders=300, rng=seed).value[0] for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_the_grid_lies_within_the_data():
    cost = np.random.default_rng(0).exponential(size=50)
    grid = cost_budgets(cost)
    assert grid[0] == pytest.approx(np.median(cost))
    assert grid[-1] == pytest.approx(cost.sum() / 2)
    with pytest.raises(DataError, match="leave no budget"):
        cost_budgets([1.0, 1.0])


@pytest.mark.parametrize("simultaneous", [False, True])
def test_limits_surround_the_curve_and_mirror(simultaneous):
    rng = np.random.default_rng(4)
    score = rng.normal(size=40)
    cost = np.exp(0.5 * score) + 0.2
    budget = [2.0, 6.0, 15.0]
    keys = {"confidence": 0.9, "simultaneous": simultaneous, "n_resamples": 200, "n_orders": 2000, "rng": 0}
    up = cost_curve(score, cost, budget, **keys)
    down = cost_curve(-score, cost, budget, direction="min", **keys)
    assert (up.low < up.value).all()
    assert (up.value < up.high).all()
    assert np.allclose(up.low, -down.high)
    assert np.allclose(up.high, -down.low)


@pytest.mark.long
def test_limits_hold_where_cost_and_score_go_together():
    # 400 samples at nominal .90: a coverage below .845 has probability 5e-4 if the limits hold
    budget = np.array([3.0, 8.0, 20.0])
    master = np.random.default_rng(9)
    score = master.normal(size=(100_000, 60))
    finish = (np.exp(0.5 * score) + 0.2).cumsum(axis=1)
    truth = np.array([np.where(finish <= t, score, -4.0).max(axis=1).mean() for t in budget])
    hits = []
    for seed in range(400):
        one = np.random.default_rng([9, seed]).normal(size=50)
        band = cost_curve(one, np.exp(0.5 * one) + 0.2, budget, worst=-4.0, confidence=0.9, simultaneous=True,
                          n_resamples=200, n_orders=1000, rng=seed)  # fmt: skip
        hits.append(((band.low <= truth) & (truth <= band.high)).all())
    assert np.mean(hits) >= 0.845


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0, 2.0], [1.0], [1.0]), "one number per trial"),
        (([1.0, 2.0], [1.0, -1.0], [1.0]), "must not be negative"),
        (([1.0, 2.0], [0.0, 0.0], [1.0]), "use the trial axis"),
        (([1.0, 2.0], [1.0, np.nan], [1.0]), "cost must be finite"),
        (([1.0, 2.0], [1.0, 1.0], [-1.0]), "budget of cost"),
        (([1.0], [1.0], [1.0]), "at least 2 trials"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(InputError, match=message):
        cost_curve(*arguments)


def test_workers_must_be_a_count():
    with pytest.raises(InputError, match="workers must be a whole number of at least 1, got 0"):
        cost_curve([1.0, 2.0], [1.0, 1.0], [1.0], workers=0)
