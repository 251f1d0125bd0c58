"""Intervals for the quantile curve of a reported score that is not the selection score: bootstraps.

The curve is the U-weighted quantile of the reported scores (see `order.quantile_best`). Nothing exact is known for it:
limits from the order statistics of the reported column alone hardly ever cover.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest.stats import limits
from levelbest.stats.methods import Found, Work
from levelbest.stats.resample import Ranked, allow, counts
from levelbest.stats.weights import subset_fraction

__all__ = ["quantile_draws", "quantile_methods"]

_CELLS = 1 << 16  # trials in one piece of resamples


def quantile_draws(trials: Ranked, q: float, drawn: IntArray) -> FloatArray:
    """The q-quantile of the reported score of the best of n, (n, resample), of resamples given as counts."""
    m = trials.n_trials
    b = drawn.shape[0]
    by_claim = np.argsort(trials.reported, kind="stable")
    worst_first = trials.reported[by_claim]
    out = np.empty((trials.n.size, b))
    if trials.one_column:
        rows = np.repeat(np.tile(trials.reported, b), drawn.ravel()).reshape(b, m)
    else:
        sizes = np.add.reduceat(drawn, trials.starts, axis=1)
        top = np.cumsum(sizes, axis=1)
        group = np.repeat(np.arange(trials.starts.size), np.diff(np.r_[trials.starts, m]))
        share = (drawn / np.maximum(sizes, 1)[:, group])[:, by_claim]
    for i, n in enumerate(trials.n):
        if trials.one_column:
            place = m * q ** (1 / n)
            even = abs(place - round(place)) <= 1e-12
            low = max(round(place) if even else int(np.ceil(place)), 1)
            out[i] = (rows[:, low - 1] + rows[:, min(low + even, m) - 1]) / 2
            continue
        below = subset_fraction(np.arange(m + 1), m, n)[top]
        weights = np.diff(below, axis=1, prepend=0.0)[:, group][:, by_claim] * share
        total = np.cumsum(weights, axis=1)
        reached = total >= q - 1e-12
        place = np.argmax(reached, axis=1)
        row = np.arange(b)
        value = worst_first[place]
        even = np.abs(total[row, place] - q) <= 1e-12
        if even.any():
            after = np.argmax((total > q + 1e-12) & (weights > 0), axis=1)
            value = np.where(even, (value + worst_first[after]) / 2, value)
        out[i] = value
    return out


def _resampled(work: Work, q: float) -> tuple[FloatArray, FloatArray]:
    """The estimate and its resamples."""
    allow(work.n_resamples, work.n.size)
    ones = np.ones((1, work.n_trials), dtype=np.int64)
    estimate = quantile_draws(work.trials, q, ones)[:, 0]
    draws = np.empty((work.n.size, work.n_resamples))
    piece = max(1, _CELLS // work.n_trials)
    rng = work.rng(0)
    for start in range(0, work.n_resamples, piece):
        cut = slice(start, min(start + piece, work.n_resamples))
        draws[:, cut] = quantile_draws(work.trials, q, counts(work.n_trials, cut.stop - start, rng))
    return estimate, draws


def quantile_methods(q: float, *, one_column: bool) -> dict[str, Callable[[Work], Found]]:
    """The bootstraps for the q-quantile curve, by name."""

    def percentile(work: Work) -> Found:
        _, draws = _resampled(work, q)
        pair = limits.percentile(draws, work.level(draws))
        note = "percentile bootstrap of the weighted quantile: nothing exact is known for a separate reported score"
        return work.settle(Found(*pair, note), jackknife=False)

    def basic(work: Work) -> Found:
        estimate, draws = _resampled(work, q)
        pair = limits.basic(draws, estimate, work.level(draws))
        return work.settle(Found(*pair, "percentile bootstrap of the quantile, mirrored"), jackknife=False)

    known: dict[str, Callable[[Work], Found]] = {"percentile": percentile, "basic": basic}
    return known if one_column else {"default": percentile, **known}
