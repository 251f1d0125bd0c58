"""Budgets in cost: the best within T seconds, hours or dollars, where trials differ in cost.

The best within a budget is the best of a random number of trials. Orders of the observed trials are drawn without
replacement, each spends until the budget is used up, and the winner's reported score is averaged ([S] section 8).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import Bounds, FloatArray, Seed, cost_grid
from levelbest.errors import DataError, InputError
from levelbest.stats.best import expected_best, turned_bounds, turned_limits
from levelbest.stats.budgets._cost_band import Spending, spend
from levelbest.stats.budgets._many_trials import WHOLE_ORDERS_UP_TO
from levelbest.stats.budgets._orders import ROUNDING, Pool


@dataclass(frozen=True, eq=False)
class CostCurve:
    """The expected score of the winner within each budget of cost, one entry per budget.

    ``value`` is NaN past ``horizon``, where all the trials could be finished and the data say nothing more.
    ``nothing_finished`` is the chance that no trial ends in time: ``worst`` is then counted. ``mean_cost_value`` is the
    curve over trials with its axis multiplied by the mean cost ([D] 4.3), for comparison: it ignores that cost and
    score may be correlated. ``low`` and ``high`` are NaN where no confidence was given.
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
    low: FloatArray
    high: FloatArray
    confidence: float | None = None
    simultaneous: bool = False
    n_resamples: int | None = None

    def __str__(self) -> str:
        rows = [
            f"{t:g}: {v:.6g}" if np.isfinite(v) else f"{t:g}: undefined"
            for t, v in zip(self.budget, self.value, strict=True)
        ]
        head = f"expected best within a budget of cost, from {self.n_trials} trials and {self.n_orders} orders"
        return "; ".join([head, *rows])


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


def _budgets_within(array: FloatArray, horizon: float, workers: int) -> FloatArray:
    """Budgets at which a curve can be estimated: from one median cost to half the horizon, log-spaced."""
    high = 0.5 * horizon
    low = float(np.median(array))
    if not 0 < low < high:
        raise DataError(
            f"{array.size} trials of median cost {low:g} leave no budget for which a cost curve is defined with "
            f"{workers} "
            f"worker{'s' * (workers != 1)} (at most {high:g}); run more trials or use the trial axis"
        )
    return cost_grid(low, high, 30)


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
    bounds: Bounds | None = None,
    n_orders: int = 20_000,
    n_resamples: int = _check.N_RESAMPLES,
    rng: Seed = 0,
) -> CostCurve:
    """The expected reported score of the best trial finished within each budget of cost.

    Its parameters are those of a curve over trials and of costs; their names are part of the public interface.

    Parameters
    ----------
    selection, reported, direction
        As of `expected_best`.
    cost : array_like
        What each trial used up: finite, not negative.
    budget : float or array_like, optional
        Budgets of cost; by default a grid from the median cost of a trial to half of what all of them cost.
    worst : float, optional
        What counts where nothing finishes: the bound of the score where it has one; by default the worst score
        observed.
    workers : int
        How many trials run at once, each free worker taking the next.
    confidence : float, optional
        Adds limits, for each budget alone or ``simultaneous``.
    bounds : (float or None, float or None), optional
        Lowest and highest possible reported score.
    n_orders, n_resamples, rng
        Random orders behind the curve, draws behind the limits, and what decides both.

    Returns
    -------
    CostCurve
        NaN past the budget at which all the trials could be finished.

    Notes
    -----
    Orders of the trials are drawn without replacement and each spends until the budget is used up: unbiased for any
    dependence of score and cost. The limits are those of a curve over trials, at the number of trials with which the
    same winners would be found: see `docs/mathematics.md`, section 8.

    Examples
    --------
    >>> curve = cost_curve([0.6, 0.7, 0.8], [1, 1, 2], [1, 2])
    >>> curve.value.round(4).tolist()
    [0.6333, 0.7167]
    """
    chosen_by, claimed = _check.as_pair(selection, reported, at_least=2)
    sign = _check.sign_of(direction)
    spent = as_cost(cost, chosen_by.size)
    workers = _check.as_count(workers, "workers")
    requested = None if budget is None else as_cost_budgets(budget)
    generator = _check.as_rng(rng)
    y = chosen_by if claimed is None else claimed
    floor = float((sign * y).min()) if worst is None else sign * float(worst)
    turned = turned_bounds(_check.as_bounds(bounds, y, "reported"), direction)
    pool = Pool(sign * chosen_by, sign * y, spent, floor, workers, turned)
    grid = _budgets_within(spent, pool.horizon, workers) if requested is None else requested
    spending = spend(pool, grid, n_orders, 0 if confidence is None else n_resamples, generator)
    return curve_of(spending, direction, confidence, simultaneous=simultaneous)


def curve_of(spending: Spending, direction: str, confidence: float | None, *, simultaneous: bool) -> CostCurve:
    """The curve of trials that were spent, turned back; limits where they were drawn and are asked for."""
    pool, grid, orders, inside = spending.pool, spending.grid, spending.orders, spending.inside
    sign = _check.sign_of(direction)
    # in rising order very many trials need not be sorted again
    given = pool.ranked[:: int(sign)] if pool.y.size > WHOLE_ORDERS_UP_TO else slice(None)
    low = high = np.full(grid.size, np.nan)
    n_resamples = None
    if confidence is not None and spending.draws is not None:
        n_resamples = spending.draws.lower.shape[1]
        band = spending.draws.limits(_check.as_confidence(confidence), orders.value, simultaneous=simultaneous)
        ends = turned_limits(np.clip(band[0], *pool.bounds), np.clip(band[1], *pool.bounds), direction)
        low, high = (np.where(inside, side, np.nan) for side in ends)
    return CostCurve(
        budget=grid,
        value=np.where(inside, sign * orders.value, np.nan),
        monte_carlo_error=np.where(inside, orders.error, np.nan),
        nothing_finished=orders.nothing,
        trials_finished=np.where(inside, orders.finished, np.nan),
        mean_cost_value=mean_cost_values(
            sign * pool.selection[given], sign * pool.y[given], pool.cost, grid, pool.workers, direction
        ),
        n_trials=int(pool.cost.size),
        n_orders=orders.count,
        workers=pool.workers,
        direction=direction,
        worst=sign * pool.worst,
        horizon=pool.horizon,
        low=low,
        high=high,
        confidence=confidence,
        simultaneous=simultaneous,
        n_resamples=n_resamples,
    )


def as_cost_budgets(budget: npt.ArrayLike) -> FloatArray:
    """Budgets of cost: finite, not negative, one-dimensional."""
    grid = np.atleast_1d(np.asarray(budget, dtype=np.float64))
    if grid.ndim != 1 or grid.size == 0 or not np.isfinite(grid).all() or grid.min() < 0:
        raise InputError(f"a budget of cost must be a finite number of at least 0 (or a list of such), got {budget!r}")
    return grid


def mean_cost_values(
    selection: FloatArray,
    reported: FloatArray | None,
    cost: FloatArray,
    grid: FloatArray,
    workers: int,
    direction: str,
) -> FloatArray:
    """[D] 4.3: the curve over trials, its axis times the mean cost; linear between, NaN before 1 and past n_trials."""
    afforded = workers * grid / float(cost.mean())
    # the rounding of n * mean(cost) / mean(cost) must not lose the ends
    inside = (afforded >= 1 - ROUNDING) & (afforded <= selection.size * (1 + ROUNDING))
    whole = np.concatenate([np.floor(afforded), np.floor(afforded) + 1])
    n = np.unique(np.clip(whole, 1, selection.size)).astype(np.int64)
    curve = expected_best(selection, n, reported, direction=direction)
    return np.where(inside, np.interp(afforded, n, curve), np.nan)
