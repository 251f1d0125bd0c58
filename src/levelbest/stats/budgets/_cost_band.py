"""Limits for a cost curve: a studentised bootstrap of the trials with their costs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest.stats.budgets._cost import Pool, cost_horizon, expected, spend, within
from levelbest.stats.contrasts import Draws, PairBand, pair_bands

__all__ = ["Replicates", "band_limits", "cost_differences", "replicates"]

_GROUPS = 10  # of trials left out in turn, for the standard error
_ORDERS = 40  # per resample
_CHUNK = 1 << 21


class Replicates:
    """Resampled cost curves with their standard errors, and those of the data, (resamples, budgets)."""

    def __init__(self, value: FloatArray, error: FloatArray, own_error: FloatArray) -> None:
        self.value, self.error, self.own_error = value, error, own_error


def replicates(pool: Pool, grid: FloatArray, n_resamples: int, rng: np.random.Generator) -> Replicates:
    """Cost curves of resampled trials and their standard errors (a jackknife over ten groups of trials).

    The Monte Carlo noise of the few orders per resample widens every standard error by the same factor, that of the
    data's own too, which uses as many orders (averaged over repetitions): studentising cancels it.
    """
    m = pool.y.size
    size = max(1, _CHUNK // (_ORDERS * m))
    values, errors = [], []
    for start in range(0, n_resamples, size):
        picked = rng.integers(0, m, (min(size, n_resamples - start), m))
        value, error = _with_errors(pool, picked, grid, rng)
        values.append(value)
        errors.append(error)
    own = _with_errors(pool, np.broadcast_to(np.arange(m), (50, m)), grid, rng)[1]
    return Replicates(np.concatenate(values), np.concatenate(errors), np.sqrt((own**2).mean(axis=0)))


def _with_errors(
    pool: Pool, picked: IntArray, grid: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """For each row of picked trials: the cost curve, and its grouped-jackknife standard error."""
    b, m = picked.shape
    groups = min(_GROUPS, m)
    d = m // groups
    # What does not fill the groups is never left out: all parts have the same size.
    labels_of = np.where(np.arange(m) < groups * d, np.arange(m) % groups, -1)
    label = rng.permuted(np.broadcast_to(labels_of, (b, m)), axis=1)
    place = rng.permuted(np.broadcast_to(np.arange(m), (b * _ORDERS, m)), axis=1)
    row = np.repeat(np.arange(b), _ORDERS)[:, None]
    orders, labels = picked[row, place], label[row, place]

    def curve(kept: IntArray) -> FloatArray:
        mean: FloatArray = spend(pool, kept, grid)[0].reshape(b, _ORDERS, -1).mean(axis=1)
        return mean

    value = curve(orders)
    without = np.stack([curve(orders[labels != g].reshape(b * _ORDERS, m - d)) for g in range(groups)])
    spread = ((without - without.mean(axis=0)) ** 2).mean(axis=0) * (m - d) / d  # delete-d jackknife
    return value, np.sqrt(spread)


def band_limits(
    pool: Pool,
    grid: FloatArray,
    value: FloatArray,
    confidence: float,
    simultaneous: bool,
    n_resamples: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Low and high for scores turned so that more is better; NaN where nothing varies and so nothing is known."""
    drawn = replicates(pool, grid, n_resamples, rng)
    known = drawn.own_error > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (drawn.value - value) / drawn.error
    t[~np.isfinite(t)] = 0.0
    if simultaneous:
        factor = np.quantile(np.abs(t[:, known]).max(axis=1), confidence) if known.any() else np.nan
        low, high = value - factor * drawn.own_error, value + factor * drawn.own_error
    else:
        tail = (1 - confidence) / 2
        below, above = np.quantile(t, (tail, 1 - tail), axis=0)
        low, high = value - above * drawn.own_error, value - below * drawn.own_error
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def cost_differences(
    pools: Sequence[Pool],
    pairs: Sequence[tuple[int, int]],
    grid: FloatArray,
    *,
    confidence: float,
    step_down: bool,
    n_orders: int,
    n_resamples: int,
    rng: np.random.Generator,
) -> tuple[tuple[PairBand, ...], FloatArray]:
    """Differences of cost curves (turned scores) with bands over all pairs and budgets; and the curves themselves."""
    values, deviations, variances, own = [], [], [], []
    for pool in pools:
        value = expected(pool, grid, n_orders, rng)[0]
        drawn = replicates(pool, grid, n_resamples, rng)
        inside = within(grid, cost_horizon(pool.cost, pool.workers), bool(pool.cost.min() > 0))
        value = np.where(inside, value, np.nan)
        values.append(value)
        deviations.append((drawn.value - value).T.astype(np.float32))
        variances.append(np.square(drawn.error).T.astype(np.float32))
        own.append(np.square(drawn.own_error))
    draws = Draws(
        n=np.arange(grid.size),
        pairs=tuple(pairs),
        estimate=np.stack(values),
        variance=np.stack(own),
        deviations=np.stack(deviations),
        variances=np.stack(variances),
    )
    return pair_bands(draws, confidence, step_down=step_down), np.stack(values)
