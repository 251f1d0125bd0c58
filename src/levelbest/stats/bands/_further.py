"""A further trial: where limits imagine it, of one score column and of separate reported scores.

Gaffke's limits (see `_gaffke`) put one further score at each bound, where any law allows it to be, and pay for that
however far the bound is: at n = m/2 of 80 accuracies about .78 they are a hundred standard errors wide. Here the
further scores lie near the others. With g the distance from the best score to the k-th best, k = sqrt(m) but at least 3
and at most a quarter of the trials,

    X_{m+1} = X_m + (.3 + .4 (1 - 1/n) + 1.4 (n - 1)/m) (1.35 + 8/m) g,     at most the bound,

and X_0 likewise on the worse side without the term in n/m: the larger n, the more rests on a trial that was not seen.
Where the best quarter of the trials ties, nothing tells what a better one would score: the bound stands, and without
one there is no interval. The steps of both limits are moved towards each other by .25/n of a spacing, less where scores
tie: Gaffke's limits are half a spacing too wide on each side for a smooth law, and just right for 0/1 scores.

What a better trial would report, where that is another score, lies in the range of what the best trials report, widened
on both sides by a part that grows with n.
"""

from __future__ import annotations

import math

import numpy as np

from levelbest._check import Bounds, FloatArray, IntArray

__all__ = ["FEWEST", "closer_by", "further_reports", "further_scores"]

FEWEST = 3
"""Trials that say anything about the next one."""


def further_scores(
    ordered: FloatArray, n: FloatArray | IntArray, bounds: Bounds = (None, None)
) -> tuple[FloatArray, FloatArray]:
    """X_0 and X_{m+1} at each budget, for scores in order, worst first; NaN for the best where nothing tells it."""
    m, (lowest, highest) = ordered.size, bounds
    near = (0.3 + 0.4 * (1 - 1 / n)) * (1.35 + 8 / m)
    far = near + 1.4 * (n - 1) / m * (1.35 + 8 / m)
    below = _beyond(near, ordered - ordered[0], lowest, float(ordered[0]), needed=False)
    above = _beyond(far, ordered[-1] - ordered[::-1], highest, float(ordered[-1]), needed=True)
    return ordered[0] - below, ordered[-1] + above


def closer_by(ordered: FloatArray, n: FloatArray | IntArray) -> FloatArray:
    """By what part of a spacing the steps of both limits are moved towards each other, at each budget."""
    distinct = np.count_nonzero(np.diff(ordered))
    return np.asarray(0.25 / n * (distinct / max(ordered.size - 1, 1)))


def _beyond(reach: FloatArray, away: FloatArray, bound: float | None, end: float, *, needed: bool) -> FloatArray:
    """How far beyond the last score a further one is imagined, given the distances of all scores from it, in order.

    NaN where nothing tells and it is ``needed``, 0 where it is not.
    """
    m = away.size
    gap = float(away[max(min(m // 4, round(math.sqrt(m))), min(FEWEST, m - 1))])
    if gap == 0:
        seen = away[: max(m // 4, min(FEWEST, m - 1)) + 1]
        gap = float(seen[seen > 0].min(initial=math.inf)) if (seen > 0).any() else 0.0
    room = math.inf if bound is None else abs(bound - end)
    if gap == 0 or m < FEWEST:
        return np.full(reach.size, room if math.isfinite(room) else (math.nan if needed else 0.0))
    return np.minimum(reach * gap, room)


def further_reports(
    selection: FloatArray, reported: FloatArray, n: FloatArray | IntArray, bounds: Bounds = (None, None)
) -> FloatArray:
    """What an imagined better trial reports at worst and at best, (2, n).

    The range of what the best m/n trials report, at least sqrt(3 m) and at most a quarter of all unless n < 4, widened
    by a part of it that grows with n.
    """
    m = selection.size
    lowest = -math.inf if bounds[0] is None else bounds[0]
    highest = math.inf if bounds[1] is None else bounds[1]
    if reported.min() == reported.max():  # nothing but the bounds tells what another trial might report
        return np.repeat([[lowest], [highest]], n.size, axis=1)
    # from the best trial down: the worst and the best that is reported so far, ties in the selection score together
    so_far = np.stack([np.minimum.accumulate(reported[::-1]), np.maximum.accumulate(reported[::-1])])
    last_of_tie = np.append(np.flatnonzero(np.diff(selection[::-1])), m - 1)
    fewest = max(min(m // 4, round(math.sqrt(3 * m))), min(FEWEST, m - 1))
    count = np.maximum(fewest, np.ceil(m / n)).astype(np.int64)
    seen = so_far[:, last_of_tie[np.searchsorted(last_of_tie, np.minimum(count, m - 1))]]
    width = np.where(seen[0] == seen[1], np.ptp(reported), seen[1] - seen[0])
    wider = (0.1 + 0.1 * (1 - 1 / n) + 0.3 * (n - 1) / m) * (1.2 + 9 / m) * width
    ends = np.stack([seen[0] - wider, seen[1] + wider])
    return np.asarray(np.clip(ends, lowest, highest))
