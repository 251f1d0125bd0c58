"""From draws to limits: order statistics of resampled estimates, for one budget at a time or for all at once.

A *level* is the probability left in one tail at one budget. Pointwise it is (1 - confidence) / 2. Simultaneously it
is found so that a share ``confidence`` of the draws stays inside the limits at every budget at once: each draw is
scored by the smallest tail it reaches at any budget, and the level is the (1 - confidence) quantile of those scores.
For studentised draws this is max |t| with each t replaced by its tail probability, so that no budget and no side takes
more than its part; with one budget it is the pointwise level.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from levelbest._check import FloatArray, IntArray

Draws = TypeVar("Draws", FloatArray, npt.NDArray[np.float32])
_FEW = 8
"""Places up to which partitioning a row is faster than sorting it."""


def order_statistic(draws: Draws, p: FloatArray | float) -> FloatArray:
    """The p-quantile of each row: order statistic (B + 1) p, interpolated; the extremes where B is too small for p."""
    low, high, _ = _places(draws.shape[-1], p)
    return pick(_ordered(draws, low, high), p)


def pick(ordered: Draws, p: FloatArray | float) -> FloatArray:
    """The p-quantile of each row of draws that are already in order; p may differ from row to row."""
    low, high, share = _places(ordered.shape[-1], p)
    rows = np.arange(ordered.shape[0])
    below, above = ordered[rows, low], ordered[rows, high]
    with np.errstate(invalid="ignore"):
        between = below + share * (above - below)
    # inf - inf and 0 * inf: equal neighbours need no interpolation, nor does a place that is whole
    return np.asarray(np.where((below == above) | (share == 0), below, between))


def _places(n_draws: int, p: FloatArray | float) -> tuple[IntArray, IntArray, FloatArray]:
    """The places next to a quantile in order, and how far it lies from the first to the second."""
    place = np.clip(np.asarray(p) * (n_draws + 1) - 1, 0, n_draws - 1)
    low = np.floor(place).astype(np.int64)
    return low, np.minimum(low + 1, n_draws - 1), place - low


def _ordered(draws: Draws, *places: IntArray) -> Draws:
    """The rows with what stands at these places in order."""
    wanted = np.unique(np.concatenate([np.atleast_1d(own) for own in places]))
    return np.sort(draws, axis=-1) if wanted.size > _FEW else np.partition(draws, wanted, axis=-1)


def local_level(draws: Iterable[FloatArray], alpha: float, *, tails: int = 2) -> float:
    """The tail probability at each budget with which a share ``alpha`` of the draws leaves the limits somewhere.

    ``draws`` are rows, one for each budget. ``tails`` is 2, or 1 for limits on the high side only, or -1 for the low
    side only. Draws that tie count as inside.
    """
    depth, n_draws = np.empty(0, dtype=np.int64), 0
    for row in draws:
        if not n_draws:
            n_draws = row.size
            depth = np.full(n_draws, n_draws)
        ordered = np.sort(row)
        if tails != 1:
            np.minimum(depth, np.searchsorted(ordered, row, side="right"), out=depth)
        if tails != -1:
            np.minimum(depth, n_draws - np.searchsorted(ordered, row, side="left"), out=depth)
    place = float(order_statistic(depth[None].astype(np.float64), alpha)[0])
    return float(place / (n_draws + 1))


def percentile(draws: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """The quantiles of the resampled estimates themselves."""
    (low, above, _), (below, high, _) = (_places(draws.shape[-1], p) for p in (level, 1 - level))
    ordered = _ordered(draws, low, above, below, high)
    return pick(ordered, level), pick(ordered, 1 - level)


def basic(draws: FloatArray, estimate: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """The percentile limits mirrored at the estimate."""
    low, high = percentile(draws, level)
    return 2 * estimate - high, 2 * estimate - low


def bca(draws: FloatArray, estimate: FloatArray, deviations: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
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
