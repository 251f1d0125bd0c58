"""From draws to limits: order statistics of resampled estimates, for one budget at a time or for all at once.

A *level* is the probability left in one tail at one budget. Pointwise it is (1 - confidence) / 2. Simultaneously it
is found so that a share ``confidence`` of the draws stays inside the limits at every budget at once: each draw is
scored by the smallest tail it reaches at any budget, and the level is the (1 - confidence) quantile of those scores.
For studentised draws this is max |t| with each t replaced by its tail probability, so that no budget and no side takes
more than its part; with one budget it is the pointwise level.

*Few ranks and few budgets* stand for all. Weights by rank change slowly far from both ends of the sample, and limits
change slowly with the budget. So uniforms are drawn at some ranks only (all of few trials, and of many ever fewer away
from the ends), and limits are computed at some budgets only, with a monotone cubic between them. Neither is a method of
its own: with a rank at every 1/48 of its distance from the end a weight is interpolated to 1e-4 where it matters, far
below the Monte Carlo error, and limits at a budget do not depend on which other budgets were asked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from levelbest._check import FloatArray, IntArray

DrawArray = TypeVar("DrawArray", FloatArray, npt.NDArray[np.float32])
_RANK_FINENESS = 48  # a rank d places from the nearer end is followed by one d / 48 places on
_WORST_PARTS, _LEAST_COARSE = 20 * _RANK_FINENESS, 8  # of the worst, so many parts of at least so many trials will do
_EVERY = 12  # up to here every budget is computed
_EARLY_STEP, _LATE_STEP = 0.3, 0.6  # of log(n / (m + 1 - n)) between budgets that are computed, up to .8 m and beyond


def order_statistic(draws: DrawArray, p: FloatArray | float) -> FloatArray:
    """The p-quantile of each row: order statistic (B + 1) p, interpolated; the extremes where B is too small for p."""
    low, high, share = _places(draws.shape[-1], p)
    if np.ndim(p):
        return pick(np.sort(draws, axis=-1), p)
    # One place is found in a quarter of the time of two; the one before it is the largest of what is below.
    parted = np.partition(draws, high, axis=-1)
    above = parted[..., high]
    return _interpolated(parted[..., :high].max(axis=-1) if high > low else above, above, share)


def pick(ordered: DrawArray, p: FloatArray | float) -> FloatArray:
    """The p-quantile of each row of draws that are already in order; p may differ from row to row."""
    low, high, share = _places(ordered.shape[-1], p)
    rows = np.arange(ordered.shape[0])
    return _interpolated(ordered[rows, low], ordered[rows, high], share)


def _interpolated(below: DrawArray, above: DrawArray, share: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore"):
        between = below + share * (above - below)
    # inf - inf and 0 * inf: equal neighbours need no interpolation, nor does a place that is whole
    return np.asarray(np.where((below == above) | (share == 0), below, between))


def _places(n_draws: int, p: FloatArray | float) -> tuple[IntArray, IntArray, FloatArray]:
    """The places next to a quantile in order, and how far it lies from the first to the second."""
    place = np.clip(np.asarray(p) * (n_draws + 1) - 1, 0, n_draws - 1)
    low = np.floor(place).astype(np.int64)
    return low, np.minimum(low + 1, n_draws - 1), place - low


def local_level(draws: Iterable[FloatArray], alpha: float, *, tails: int = 2) -> float:
    """The tail probability at each budget with which a share ``alpha`` of the draws leaves the limits somewhere.

    ``draws`` are rows, one for each budget. ``tails`` is 2, or 1 for limits on the high side only, or -1 for the low
    side only. Draws that tie count as inside.
    """
    depth, n_draws, most = np.empty(0, dtype=np.int64), 0, 0
    for row in draws:
        if not n_draws:
            n_draws = row.size
            depth = np.full(n_draws, n_draws)
            most = min(math.ceil(alpha * (n_draws + 1)) + 2, n_draws)  # deeper ones cannot be the one looked for
        for side in (1, -1) if tails == 2 else (-tails,):
            _deepen(depth, row if side == 1 else -row, most)
    place = float(order_statistic(depth[None].astype(np.float64), alpha)[0])
    return float(place / (n_draws + 1))


def _deepen(depth: IntArray, row: FloatArray, most: int) -> None:
    """Lower each depth to the rank from below, that of the last draw it ties with, for the ``most`` lowest draws."""
    near = np.flatnonzero(row <= np.partition(row, most - 1)[most - 1])
    lowest = row[near]
    depth[near] = np.minimum(depth[near], np.searchsorted(np.sort(lowest), lowest, side="right"))


def percentile_limits(draws: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """The quantiles of the resampled estimates themselves."""
    ordered = np.sort(draws, axis=-1)
    return pick(ordered, level), pick(ordered, 1 - level)


def basic_limits(draws: FloatArray, estimate: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """The percentile limits mirrored at the estimate."""
    low, high = percentile_limits(draws, level)
    return 2 * estimate - high, 2 * estimate - low


def bca_limits(
    draws: FloatArray, estimate: FloatArray, deviations: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Bias-corrected and accelerated limits ([E] sections 3 and 7); ``deviations`` are the leave-one-out estimates."""
    from scipy.special import ndtr, ndtri

    n_draws = draws.shape[1]
    below = (draws < estimate[:, None]).sum(axis=1) + 0.5 * (draws == estimate[:, None]).sum(axis=1)
    bias = ndtri(np.clip(below / n_draws, 0.5 / n_draws, 1 - 0.5 / n_draws))
    squares = np.sum(deviations**2, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        # [E] eq. 6.6, with leave-one-out estimates for the influence function: larger when a low trial is left out
        acceleration = -np.sum(deviations**3, axis=1) / (6 * squares**1.5)

        def moved(p: float) -> FloatArray:
            z = bias + ndtri(p)
            return np.asarray(ndtr(bias + z / (1 - acceleration * z)))

        lows, highs = moved(level), moved(1 - level)
    known = np.isfinite(lows) & np.isfinite(highs)
    ordered = np.sort(draws, axis=-1)
    low, high = (pick(ordered, np.where(known, p, 0.5)) for p in (lows, highs))
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def studentise(draws: FloatArray, errors: FloatArray, estimate: FloatArray) -> FloatArray:
    """t = (resampled estimate - estimate) / its own standard error; the memory of ``errors`` holds the result.

    A resample without spread has t = -inf or +inf, or 0 where it repeats the estimate. Rows of NaN stay.
    """
    still = errors == 0
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.divide(draws - estimate[:, None], errors, out=errors)
    t[still & np.isnan(t)] = 0
    return t


def rank_edges(n_trials: int, *, fine_at_worst: bool = True) -> IntArray:
    """Ranks from 1, the worst, to n_trials: all near the ends, fewer in between; about 96 log(n_trials) of them.

    No budget gives one of the worst trials a weight above 1/m: where no score is far from the others, ranks need not be
    fine there.
    """
    coarse = n_trials // _WORST_PARTS
    ends = []
    for least in (1 if fine_at_worst or coarse < _LEAST_COARSE else coarse, 1):
        ranks = [least]
        while ranks[-1] <= n_trials // 2:
            ranks.append(ranks[-1] + max(least, ranks[-1] // _RANK_FINENESS))
        ends.append(np.array(ranks))
    from_worst, from_best = ends
    return np.unique(np.clip(np.concatenate([from_worst, n_trials + 1 - from_best]), 1, n_trials))


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
    steps = [
        np.arange(place[0] + _EARLY_STEP, place[1], _EARLY_STEP),
        np.arange(place[1], place[2] + _LATE_STEP, _LATE_STEP),
    ]
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
