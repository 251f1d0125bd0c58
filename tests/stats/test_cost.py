"""Budgets in cost: against enumeration of every order, against the U curve, and the limits."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from levelbest.errors import DataError, InputError
from levelbest.report.words.curves import cost_rule
from levelbest.stats import best_interval, cost_curve, expected_best
from levelbest.stats.budgets import Pool, cost_differences, spend
from levelbest.stats.budgets._cost_band import _trials_for
from levelbest.stats.budgets._orders import cost_horizon, expected


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
    assert "all 3 trials can be finished within 3; past that the data say nothing" in cost_rule(result)
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
    grid = cost_curve(np.arange(50.0), cost, n_orders=300).budget
    assert grid[0] == pytest.approx(np.median(cost))
    assert grid[-1] == pytest.approx(cost.sum() / 2)
    with pytest.raises(DataError, match="leave no budget"):
        cost_curve([1.0, 2.0], [1.0, 1.0])


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


def test_windows_of_an_order_are_its_rotations_spent_one_by_one():
    rng = np.random.default_rng(12)
    selection, reported = rng.integers(0, 6, 11).astype(float), rng.normal(size=11)
    cost = rng.integers(0, 4, 11) + 0.5
    pool = Pool(selection, reported, cost, -9.0, 1)
    grid = np.array([0.1, 0.5, 2.0, 7.0, 0.5 * cost.sum(), cost.sum()])
    spent = expected(pool, grid, 600, np.random.default_rng(0))
    # the same orders: 56 of them, all in one chunk, with 11 rotations each
    again = np.random.default_rng(0)
    bases = again.permuted(np.broadcast_to(np.arange(11), (56, 11)), axis=1)
    finished, nothing, values = np.zeros(6), np.zeros(6), np.zeros(6)
    for base in bases:
        for start in range(11):
            order = np.roll(base, -start)
            for k, budget in enumerate(grid):
                done = order[np.cumsum(cost[order]) <= budget * (1 + 1e-9)]
                finished[k] += done.size
                nothing[k] += done.size == 0
                tied = done[selection[done] == selection[done].max()] if done.size else done
                values[k] += reported[tied].mean() if done.size else -9.0
    assert spent.count == 616
    np.testing.assert_allclose(spent.finished, finished / 616, rtol=1e-12)
    np.testing.assert_allclose(spent.nothing, nothing / 616, atol=1e-12)
    np.testing.assert_allclose(spent.value, values / 616, rtol=1e-12)


def test_trials_that_a_budget_is_worth_are_those_that_find_the_same_winners():
    from math import comb

    edges = np.array([5, 12, 17, 19, 20])
    for n in (1, 4, 9):
        share = np.array([[comb(int(j), n) / comb(20, n) for j in edges]])
        worth = _trials_for(share, edges, 20)[0]
        possible = edges[:-1] >= n
        assert worth[:-1][possible] == pytest.approx(n, abs=1e-6)
        assert worth[-1] == 0  # at the last rank the share is 1 whatever n


@pytest.mark.parametrize("separate", [False, True])
def test_equal_costs_give_the_limits_of_the_trials(separate):
    rng = np.random.default_rng(13)
    selection = rng.beta(8, 2, 60)
    reported = selection - 0.05 * rng.random(60) if separate else None
    n = np.array([1, 3, 10, 30])
    over_cost = cost_curve(
        selection, np.full(60, 2.0), 2.0 * n, reported, confidence=0.95, bounds=(0, 1), n_resamples=20_000
    )
    over_trials = best_interval(selection, n, reported, bounds=(0, 1), n_resamples=20_000)
    width = over_trials.high - over_trials.low
    # 20,000 draws leave an error of about 1 % of the width in a 2.5 % quantile, and 20,000 orders about as much
    assert np.abs(over_cost.low - over_trials.low).max() < 0.06 * width.min()
    assert np.abs((over_cost.high - over_trials.high) / width).max() < 0.06


def test_limits_are_those_of_bounded_scores_and_differences_mirror():
    rng = np.random.default_rng(14)
    pools = []
    for centre in (0.5, 0.8):
        scores = rng.beta(20 * centre, 20 * (1 - centre), 40)
        pools.append(Pool(scores, scores, rng.exponential(size=40) + 0.1, 0.0, 1, (0.0, 1.0)))
    grid = np.array([2.0, 5.0, 10.0])
    families = [spend(pool, grid, 2000, 499, np.random.default_rng(place)) for place, pool in enumerate(pools)]
    band, back = cost_differences(families, [(0, 1), (1, 0)], 0.95)
    np.testing.assert_allclose(band.difference, families[0].orders.value - families[1].orders.value)
    assert (band.low <= band.difference).all()
    assert (band.difference <= band.high).all()
    assert band.certified.tolist() == [-1, -1, -1]
    np.testing.assert_allclose(back.difference, -band.difference)
    assert back.certified.tolist() == [1, 1, 1]
    assert (np.abs([band.low, band.high]) <= 1).all()


def test_limits_hold_where_cost_and_score_go_together():
    # 150 samples at nominal .90: a coverage below .82 has probability 1e-3 if the limits hold
    budget = np.array([3.0, 8.0, 20.0])
    master = np.random.default_rng(9)
    score = master.normal(size=(40_000, 60))
    finish = (np.exp(0.5 * score) + 0.2).cumsum(axis=1)
    truth = np.array([np.where(finish <= t, score, -4.0).max(axis=1).mean() for t in budget])
    hits = []
    for seed in range(150):
        one = np.random.default_rng([9, seed]).normal(size=50)
        band = cost_curve(one, np.exp(0.5 * one) + 0.2, budget, worst=-4.0, confidence=0.9, simultaneous=True,
                          n_resamples=200, n_orders=1000, rng=seed)  # fmt: skip
        hits.append(((band.low <= truth) & (truth <= band.high)).all())
    assert np.mean(hits) >= 0.82


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


@pytest.mark.parametrize("workers", [1, 2])
def test_the_jackknife_over_orders_leaves_trials_out(workers):
    # Six trials: every order is spent, and so is every order without one of them.
    rng = np.random.default_rng(21)
    selection, cost = rng.normal(size=6), rng.integers(1, 5, 6).astype(float)
    grid = np.array([1.0, 2.0, 4.0])
    pool = Pool(selection, selection, cost, -5.0, workers)
    spent = expected(pool, grid, 20_000, rng)
    kept = [np.delete(np.arange(6), out) for out in range(6)]
    without = np.array(
        [expected(Pool(selection[k], selection[k], cost[k], -5.0, workers), grid, 20_000, rng).value for k in kept]
    )
    np.testing.assert_allclose(spent.value, without.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(spent.sampling_error, np.sqrt(5 * without.var(axis=0)), rtol=1e-9)


def test_early_stopping_is_covered():
    # 60 % bad trials at cost 1, 40 % good ones at cost 10; at 2.5 mean costs the search finishes one good trial or none
    def drawn(rng, shape):
        good = rng.random(shape) < 0.4
        return np.where(good, 0.8, 0.4) + 0.05 * rng.standard_normal(shape), np.where(good, 10.0, 1.0)

    rng = np.random.default_rng(3)
    budget = np.array([2.5, 3.0]) * 4.6
    scores, cost = drawn(rng, (200_000, 20))
    spent = np.cumsum(cost, axis=1)
    truth = np.array([np.where(spent <= t, scores, 0.0).max(axis=1).mean() for t in budget])
    hits = np.zeros(2)
    for _ in range(60):
        scores, cost = drawn(rng, 200)
        curve = cost_curve(scores, cost, budget, worst=0.0, confidence=0.95, n_orders=4000, n_resamples=399, rng=rng)
        hits += (curve.low <= truth) & (truth <= curve.high)
    # At a true coverage of .95 fewer than 51 of 60 happen in .1 % of runs; at .75, as it was, 51 in 4 %.
    assert hits.min() >= 51, hits
