"""Budgets in cost: the best within T seconds, hours or dollars, where trials differ in cost.

The best within a budget is the best of a random number of trials. Orders of the observed trials are drawn without
replacement, each spends until the budget is used up, and the winner's reported score is averaged ([S] section 8).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import FloatArray, IntArray, Seed
from levelbest._grid import cost_grid
from levelbest.errors import DataError, InputError
from levelbest.stats.best import expected_best

__all__ = ["CostCurve", "cost_budgets", "cost_curve", "cost_horizon"]

_ROUNDING = 1e-9  # relative: ten costs of .1 finish within 1, although their sum in floating point exceeds it
_CHUNK = 1 << 21  # elements of one (orders, trials) array
_ENUMERATED = 7  # 6! orders and their rotations: every order of up to seven trials


@dataclass(frozen=True, eq=False)
class CostCurve:
    """The expected score of the winner within each budget of cost, one entry per budget.

    ``value`` is NaN past ``horizon``, where all the trials could be finished and the data say nothing more.
    ``nothing_finished`` is the chance that no trial ends in time: ``worst`` is then counted. ``mean_cost_value`` is
    the curve over trials with its axis multiplied by the mean cost ([D] 4.3), to set beside: it ignores that cost
    and score may go together. ``low`` and ``high`` are None where no band was asked.
    """

    budget: FloatArray
    value: FloatArray
    monte_carlo_error: FloatArray
    nothing_finished: FloatArray
    trials_finished: FloatArray
    mean_cost_value: FloatArray
    n_trials: int
    n_orders: int
    workers: int
    direction: str
    worst: float
    horizon: float
    low: FloatArray | None = None
    high: FloatArray | None = None
    confidence: float | None = None
    simultaneous: bool = False
    n_resamples: int | None = None
    reason: str | None = None

    def __str__(self) -> str:
        rows = [
            f"{t:g}: {v:.6g}" if np.isfinite(v) else f"{t:g}: undefined"
            for t, v in zip(self.budget, self.value, strict=True)
        ]
        head = f"expected best within a budget of cost, from {self.n_trials} trials and {self.n_orders} orders"
        return "; ".join([head, *rows, *([self.reason] if self.reason else [])])


def as_cost(cost: npt.ArrayLike, n_trials: int) -> FloatArray:
    """One finite cost per trial, none negative, not all zero."""
    array = _check.as_scores(cost, "cost")
    if array.size != n_trials:
        raise InputError(f"cost must have one number per trial, got {array.size} for {n_trials} trials")
    if array.min() < 0:
        raise InputError(f"cost must not be negative, got {array.min():g}; what a trial used up is at least 0")
    if array.max() == 0:
        raise InputError("cost must be more than 0 for some trial, got all zero; use the trial axis instead")
    return array


def cost_horizon(cost: FloatArray, workers: int = 1) -> float:
    """The largest budget at which no order of the observed trials can run out.

    One worker: all the trials together. Several: a worker that is given trials whenever it is free has, at the end,
    at least (total - (workers - 1) longest) / workers of work, because nobody starts the last one later than that.
    """
    total = math.fsum(cost)
    return float(max(0.0, (total - (workers - 1) * float(cost.max())) / workers))


def cost_budgets(cost: npt.ArrayLike, *, workers: int = 1, size: int = 30) -> FloatArray:
    """A grid of budgets that the data can speak of: from one median cost to half the horizon, evenly in logarithm."""
    array = np.asarray(cost, dtype=np.float64)
    high = 0.5 * cost_horizon(array, workers)
    low = float(np.median(array))
    if not 0 < low < high:
        raise DataError(
            f"{array.size} trials of median cost {low:g} leave no budget that a cost curve can speak of with {workers} "
            f"worker{'s' * (workers != 1)} (at most {high:g}); run more trials or use the trial axis"
        )
    return cost_grid(low, high, size)


def cost_curve(
    selection: npt.ArrayLike,
    cost: npt.ArrayLike,
    budget: npt.ArrayLike | None = None,
    reported: npt.ArrayLike | None = None,
    *,
    direction: str = "max",
    worst: float | None = None,
    workers: int = 1,
    confidence: float | None = None,
    simultaneous: bool = False,
    n_orders: int = 20_000,
    n_resamples: int = _check.N_RESAMPLES,
    rng: Seed = 0,
) -> CostCurve:
    """The expected reported score of the best trial finished within each budget of cost.

    ``worst`` is what counts where nothing finishes (default: the worst observed score; give the bound of the score
    where it has one). With ``workers`` several trials run at once, each free worker taking the next. A ``confidence``
    adds limits by a studentised bootstrap of the trials with their costs, for each budget or ``simultaneous``.
    """
    chosen_by, claimed = _check.as_pair(selection, reported, at_least=2)
    sign = _check.sign_of(direction)
    spent = as_cost(cost, chosen_by.size)
    workers = _check.as_count(workers, "workers")
    grid = as_cost_budgets(cost_budgets(spent, workers=workers) if budget is None else budget)
    generator = _check.as_rng(rng)
    y = chosen_by if claimed is None else claimed
    floor = float((sign * y).min()) if worst is None else sign * float(worst)
    pool = Pool(sign * chosen_by, sign * y, spent, floor, workers)
    value, error, nothing, finished, used = expected(pool, grid, n_orders, generator)
    horizon = cost_horizon(spent, workers)
    inside = within(grid, horizon, bool(spent.min() > 0))
    reason = None
    if not inside.all():
        reason = (
            f"all {spent.size} trials can be finished within {horizon:g}; past that the data say nothing about the best"
        )
    scaled = mean_cost_values(chosen_by, claimed, spent, grid, workers, direction)
    low = high = None
    if confidence is not None:
        from levelbest.stats.budgets import _cost_band as cost_band

        band = cost_band.band_limits(
            pool, grid, value, _check.as_confidence(confidence), simultaneous, n_resamples, generator
        )
        low, high = (sign * band[0], sign * band[1]) if sign > 0 else (sign * band[1], sign * band[0])
        low, high = np.where(inside, low, np.nan), np.where(inside, high, np.nan)
    return CostCurve(
        budget=grid,
        value=np.where(inside, sign * value, np.nan),
        monte_carlo_error=np.where(inside, error, np.nan),
        nothing_finished=nothing,
        trials_finished=np.where(inside, finished, np.nan),
        mean_cost_value=scaled,
        n_trials=int(spent.size),
        n_orders=used,
        workers=workers,
        direction=direction,
        worst=sign * floor,
        horizon=horizon,
        low=low,
        high=high,
        confidence=confidence,
        simultaneous=simultaneous,
        n_resamples=None if confidence is None else n_resamples,
        reason=reason,
    )


def as_cost_budgets(budget: npt.ArrayLike) -> FloatArray:
    """Budgets of cost: finite, not negative, one-dimensional."""
    grid = np.atleast_1d(np.asarray(budget, dtype=np.float64))
    if grid.ndim != 1 or grid.size == 0 or not np.isfinite(grid).all() or grid.min() < 0:
        raise InputError("a budget of cost must be a finite number of at least 0 (or a list of such), "
                         f"got {budget!r}")  # fmt: skip
    return grid


def within(grid: FloatArray, horizon: float, all_cost_something: bool) -> npt.NDArray[np.bool_]:
    """Where the estimate is unbiased: a further trial could not have finished too ([S] section 8)."""
    if all_cost_something:
        return grid <= horizon * (1 + _ROUNDING)
    return grid < horizon * (1 - _ROUNDING)


class Pool:
    """The trials to draw orders of, turned so that more is better; ``worst`` counts where none finishes."""

    def __init__(self, selection: FloatArray, y: FloatArray, cost: FloatArray, worst: float, workers: int) -> None:
        self.y, self.cost, self.worst, self.workers = y, cost, worst, workers
        _, first, rank = np.unique(selection, return_index=True, return_inverse=True)
        self.rank = rank.astype(np.int32)
        # Where tied trials report the same, the rank alone tells the winner's score.
        self.y_of_rank = y[first] if bool((y[first][rank] == y).all()) else None


def expected(
    pool: Pool, grid: FloatArray, n_orders: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, int]:
    """Of turned scores: value, Monte Carlo error, chance of no finish, mean number finished; and how many orders."""
    m = pool.y.size
    exact = m <= _ENUMERATED and n_orders >= math.factorial(m)
    sums: list[FloatArray] = []
    nothing = np.zeros(grid.size)
    finished = np.zeros(grid.size)
    used = 0
    for orders in _every_order(m) if exact else _rotated_orders(m, n_orders, rng):
        bases, rotations = orders.shape[:2]
        values, counts = spend(pool, orders.reshape(bases * rotations, m), grid)
        sums.append(values.reshape(bases, rotations, -1).mean(axis=1))
        nothing += (counts == 0).sum(axis=0)
        finished += counts.sum(axis=0)
        used += bases * rotations
    means = np.concatenate(sums)
    # The rotations of one order depend on each other: the order is the unit of the Monte Carlo error.
    error = np.zeros(grid.size) if exact else means.std(axis=0, ddof=1) / math.sqrt(len(means))
    return means.mean(axis=0), error, nothing / used, finished / used, used


def _every_order(m: int) -> Iterator[IntArray]:
    yield np.array(list(permutations(range(m))), dtype=np.int64)[:, None, :]


def _rotated_orders(m: int, n_orders: int, rng: np.random.Generator) -> Iterator[IntArray]:
    """Random orders with their rotations, (bases, rotations, m), in chunks.

    With all m rotations every trial comes first equally often, so the first-trial term has no error. At least 50
    orders are drawn, for the Monte Carlo error; more than 400 trials get evenly spaced rotations only.
    """
    rotations = min(m, 400)
    bases = max(50, -(-n_orders // rotations))
    shifts = (np.arange(rotations) * m) // rotations
    turned = (shifts[:, None] + np.arange(m)) % m
    step = max(1, _CHUNK // (rotations * m))
    for start in range(0, bases, step):
        size = min(step, bases - start)
        base = rng.permuted(np.broadcast_to(np.arange(m), (size, m)), axis=1)
        yield base[:, turned]


def spend(pool: Pool, orders: IntArray, grid: FloatArray) -> tuple[FloatArray, IntArray]:
    """For each order and budget: the winner's score among the trials finished in time, and how many those are."""
    rows = np.arange(orders.shape[0])[:, None]
    finish = _finish_times(pool.cost[orders], pool.workers)
    counts = np.stack([np.count_nonzero(finish <= t, axis=1) for t in grid * (1 + _ROUNDING)], axis=1)
    if pool.workers > 1:
        # A trial that starts later may finish earlier: follow the order of the finishes.
        orders = orders[rows, np.argsort(finish, axis=1, kind="stable")]
    orders = orders[:, : max(1, int(counts.max()))]
    last = np.maximum(counts - 1, 0)
    if pool.y_of_rank is None:
        values = _running_winner(pool.rank[orders], pool.y[orders])[rows, last]
    else:
        values = pool.y_of_rank[np.maximum.accumulate(pool.rank[orders], axis=1)[rows, last]]
    return np.where(counts > 0, values, pool.worst), counts


def _finish_times(cost: FloatArray, workers: int) -> FloatArray:
    """When each trial of each order ends: each worker takes the next trial as soon as it is free."""
    if workers == 1:
        return np.cumsum(cost, axis=1)
    rows = np.arange(cost.shape[0])
    free_at = np.zeros((cost.shape[0], workers))
    finish = np.empty_like(cost)
    for place in range(cost.shape[1]):
        worker = free_at.argmin(axis=1)
        finish[:, place] = free_at[rows, worker] + cost[:, place]
        free_at[rows, worker] = finish[:, place]
    return finish


def _running_winner(rank: npt.NDArray[np.int32], y: FloatArray) -> FloatArray:
    """The reported score of the winner of each prefix; trials tied for the win share it equally ([B] after eq. 7)."""
    best = np.maximum.accumulate(rank, axis=1)
    wins = rank == best
    first = np.ones_like(wins)
    first[:, 1:] = best[:, 1:] > best[:, :-1]
    since = np.maximum.accumulate(np.where(first, np.arange(rank.shape[1]), 0), axis=1)
    if (wins.sum(axis=1) == first.sum(axis=1)).all():
        return np.take_along_axis(y, since, axis=1)
    # Sums restart at each new best. Centring keeps the differences of running sums exact to rounding.
    centre = y.mean(axis=1, keepdims=True)
    total = np.cumsum(np.where(wins, y - centre, 0.0), axis=1)
    count = np.cumsum(wins, axis=1)
    at = since - 1
    before = np.where(at < 0, 0.0, np.take_along_axis(total, np.maximum(at, 0), axis=1))
    count_before = np.where(at < 0, 0, np.take_along_axis(count, np.maximum(at, 0), axis=1))
    shared: FloatArray = centre + (total - before) / (count - count_before)
    return shared


def mean_cost_values(
    selection: FloatArray,
    reported: FloatArray | None,
    cost: FloatArray,
    grid: FloatArray,
    workers: int,
    direction: str,
) -> FloatArray:
    """[D] 4.3: the curve over trials, its axis times the mean cost; linear between, NaN before 1 and past n_trials."""
    n = np.arange(1, selection.size + 1)
    curve = expected_best(selection, n, reported, direction=direction)
    afforded = workers * grid / float(cost.mean())
    # the rounding of n * mean(cost) / mean(cost) must not lose the ends
    inside = (afforded >= 1 - _ROUNDING) & (afforded <= selection.size * (1 + _ROUNDING))
    return np.where(inside, np.interp(afforded, n, curve), np.nan)
