"""Few ranks and few budgets in place of all: what makes the limits of a curve cost no more than a sort.

Weights by rank change slowly far from both ends of the sample, and limits change slowly with the budget. So uniforms
are drawn at some ranks only (all of few trials, and of many ever fewer away from the ends), and limits are computed at
some budgets only, with a monotone cubic between them. Neither is a method of its own: with a rank at every 1/48 of its
distance from the end a weight is interpolated to 1e-4 where it matters, far below the Monte Carlo error, and limits at
a budget do not depend on which other budgets were asked for.
"""

from __future__ import annotations

import numpy as np

from levelbest._check import FloatArray, IntArray

_FINENESS = 48  # a rank d places from the nearer end is followed by one d / 48 places on
_WORST_PARTS, _LEAST_COARSE = 20 * _FINENESS, 8  # of the worst, so many parts of at least so many trials will do
_EVERY = 12  # up to here every budget is computed
_STEP, _LATE_STEP = 0.3, 0.6  # of log(n / (m + 1 - n)) between budgets that are computed, up to .8 m and beyond


def rank_edges(n_trials: int, *, fine_at_worst: bool = True) -> IntArray:
    """Ranks from 1, the worst, to n_trials: all near the ends, fewer in between; about 96 log(n_trials) of them.

    No budget gives one of the worst trials a weight above 1/m: where no score is far from the others, ranks need not be
    fine there.
    """
    last = n_trials // 2 + 1

    def reach(least: int) -> IntArray:
        ranks = [least]
        while ranks[-1] < last:
            ranks.append(ranks[-1] + max(least, ranks[-1] // _FINENESS))
        return np.array(ranks)

    coarse = n_trials // _WORST_PARTS
    from_worst = reach(1 if fine_at_worst or coarse < _LEAST_COARSE else coarse)
    return np.unique(np.clip(np.concatenate([from_worst, n_trials + 1 - reach(1)]), 1, n_trials))


def hats(edges: IntArray, places: IntArray, amounts: FloatArray) -> FloatArray:
    """Amounts at some ranks, shared out linearly to the edges on either side: sums over ranks as sums over edges."""
    left = np.clip(np.searchsorted(edges, places, side="right") - 1, 0, edges.size - 2)
    share = (places - edges[left]) / (edges[left + 1] - edges[left])
    lower = np.bincount(left, amounts * (1 - share), minlength=edges.size)
    return np.asarray(lower + np.bincount(left + 1, amounts * share, minlength=edges.size))


def node_budgets(n_trials: int) -> IntArray:
    """Budgets at which limits are computed: all of few, then log-spaced ones, closer again towards n_trials."""
    if n_trials <= 2 * _EVERY:
        return np.arange(1, n_trials + 1, dtype=np.int64)
    place = _place(np.array([_EVERY, 0.8 * n_trials, n_trials]), n_trials)
    steps = [np.arange(place[0] + _STEP, place[1], _STEP), np.arange(place[1], place[2] + _LATE_STEP, _LATE_STEP)]
    spaced = np.rint((n_trials + 1) / (1 + np.exp(-np.concatenate(steps))))
    return np.unique(np.concatenate([np.arange(1, _EVERY + 1), np.minimum(spaced, n_trials)]).astype(np.int64))


def nodes_for(n: IntArray, n_trials: int, *, jointly: bool) -> IntArray:
    """The budgets to compute for limits at the increasing budgets ``n``.

    Limits for each budget alone come from fixed nodes, so that they do not depend on the company. Limits for all of
    them ``jointly`` are those of the budgets asked for, or of the nodes between the first and the last where these are
    fewer.
    """
    grid = node_budgets(n_trials)
    if jointly:
        inside = grid[(grid > n[0]) & (grid < n[-1])]
        return n if n.size <= inside.size + 2 else np.concatenate([n[:1], inside, n[-1:]])
    after = np.searchsorted(grid, n)
    between = grid[after] != n
    around = (after[between, None] + np.arange(-2, 2)).ravel()  # a cubic needs two nodes on either side
    needed = np.unique(np.clip(np.concatenate([after[~between], around]), 0, grid.size - 1))
    return np.asarray(grid[needed])


def filled(nodes: IntArray, values: FloatArray, n: IntArray, n_trials: int) -> FloatArray:
    """Values known at the nodes, at all budgets ``n``: a cubic between nodes that adds no extremes of its own.

    Its slope at a node is the harmonic mean of those on either side (Fritsch and Butland 1984), 0 where they differ in
    sign.
    """
    if np.array_equal(nodes, n) or not np.isfinite(values).all():
        return values[np.clip(np.searchsorted(nodes, n), 0, nodes.size - 1)]
    x, at = _place(nodes, n_trials), _place(n, n_trials)
    step, rise = np.diff(x), np.diff(values)
    slope = rise / step
    inner = np.zeros(nodes.size)
    if nodes.size > 2:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            weight = (2 * step[1:] + step[:-1], step[1:] + 2 * step[:-1])
            mean = (weight[0] + weight[1]) / (weight[0] / slope[:-1] + weight[1] / slope[1:])
        inner[1:-1] = np.where(np.sign(slope[:-1]) * np.sign(slope[1:]) > 0, mean, 0.0)
    inner[0], inner[-1] = slope[0], slope[-1]
    k = np.clip(np.searchsorted(x, at, side="right") - 1, 0, nodes.size - 2)
    u = (at - x[k]) / step[k]
    first, second = inner[k] * step[k], inner[k + 1] * step[k]
    cubic = u * (first + u * (3 * rise[k] - 2 * first - second + u * (first + second - 2 * rise[k])))
    return np.asarray(values[k] + cubic)


def _place(n: FloatArray | IntArray, n_trials: int) -> FloatArray:
    """Where a budget lies on the scale on which limits are smooth: log n for small n, the trials left for large."""
    return np.asarray(np.log(n) - np.log(n_trials + 1.0 - n))
