"""Orders of trials followed one by one, by any number of workers: each takes the next trial as soon as it is free."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from levelbest._check import FloatArray, IntArray

if TYPE_CHECKING:
    from levelbest.stats.budgets._orders import Pool

Followed = tuple[FloatArray, IntArray, IntArray, IntArray]
"""(order, limit) each: the winner's reported score, its rank or -1, how many trials are finished and how many begun."""


def followed(pool: Pool, orders: IntArray, limits: FloatArray) -> Followed:
    """What each order finishes within each limit."""
    rows = np.arange(orders.shape[0])[:, None]
    finish = _finish_times(pool.cost[orders], pool.workers)
    begun = finish - pool.cost[orders]
    counts, looked_at = (
        np.stack([np.count_nonzero(times <= t, axis=1) for t in limits], axis=1) for times in (finish, begun)
    )
    if pool.workers > 1:
        # A trial that starts later may finish earlier: follow the order of the finishes.
        orders = orders[rows, np.argsort(finish, axis=1, kind="stable")]
    orders = orders[:, : max(1, int(counts.max()))]
    last = np.maximum(counts - 1, 0)
    best = np.maximum.accumulate(pool.rank[orders], axis=1)[rows, last]
    if pool.y_of_rank is None:
        values = _running_winner(pool.rank[orders], pool.y[orders])[rows, last]
    else:
        values = pool.y_of_rank[best]
    some = counts > 0
    return np.where(some, values, pool.worst), np.where(some, best, -1), counts, looked_at


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
