"""Repeated searches: the unit is the whole search, its curve the best so far.

Trials of an adaptive search are not exchangeable, so no subset of them stands for a smaller budget. What is: whole
searches, repeated with other seeds. The best-so-far curves of k searches are k independent curves, and their mean at a
budget has Student's interval.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest.stats.contrasts._contrast import Band, Pair

__all__ = ["best_so_far", "search_differences", "search_interval"]


def best_so_far(selection: FloatArray, reported: FloatArray | None) -> FloatArray:
    """The reported score of the incumbent after each trial, in the order given; turned scores.

    A trial that only equals the incumbent does not replace it, as in a search that keeps its first best.
    """
    best = np.maximum.accumulate(selection)
    fresh = np.concatenate(([True], selection[1:] > best[:-1]))
    holder = np.maximum.accumulate(np.where(fresh, np.arange(selection.size), 0))
    curve: FloatArray = (selection if reported is None else reported)[holder]
    return curve


def search_interval(curves: FloatArray, confidence: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean over searches (rows) at each budget, low and high by Student's t; NaN limits for one search."""
    from scipy.special import stdtrit

    k = curves.shape[0]
    mean = curves.mean(axis=0)
    if k < 2:
        return mean, np.full(mean.size, np.nan), np.full(mean.size, np.nan)
    half = float(stdtrit(k - 1, (1 + confidence) / 2)) * curves.std(axis=0, ddof=1) / np.sqrt(k)
    return mean, mean - half, mean + half


def search_differences(
    curves: Sequence[FloatArray], pairs: Sequence[Pair], n: IntArray, *, confidence: float
) -> tuple[Band, ...]:
    """Differences of the mean best-so-far curves (searches, n), turned; Welch's t, the error shared by all of them.

    Few searches leave nothing to resample, so budgets and pairs share the error rate equally (Bonferroni). One search
    has no limits.
    """
    from scipy.special import stdtrit

    level = 1 - (1 - confidence) / (2 * n.size * len(pairs))
    bands = []
    for a, b in pairs:
        first, second = curves[a], curves[b]
        d = first.mean(axis=0) - second.mean(axis=0)
        sizes = first.shape[0], second.shape[0]
        half = np.full(n.size, np.nan)
        if min(sizes) > 1:
            parts = [search.var(axis=0, ddof=1) / search.shape[0] for search in (first, second)]
            total = parts[0] + parts[1]
            with np.errstate(divide="ignore", invalid="ignore"):
                freedom = total**2 / (parts[0] ** 2 / (sizes[0] - 1) + parts[1] ** 2 / (sizes[1] - 1))
            half = stdtrit(np.where(np.isfinite(freedom), freedom, 1.0), level) * np.sqrt(total)
            half = np.where(total > 0, half, np.inf)
        bands.append(Band.of(n, d, d - half, d + half))
    return tuple(bands)
