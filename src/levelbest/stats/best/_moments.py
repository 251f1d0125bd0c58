"""Means, spreads and standard errors of the best of n, from trials that are ranked once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest.stats.best._sums import BEYOND_DIGITS, refined, sums_of_columns, weighted_sums
from levelbest.stats.best._weights import weight_pieces, weight_rows

_MANY_TRIALS = 1 << 14  # from so many on spreads are taken from moments where they can be


@dataclass(frozen=True)
class BestFirst:
    """Trials best first."""

    scores: FloatArray
    """Reported scores, averaged within ties in the selection score."""
    scale: float
    """The largest score in absolute value (1 if all are 0): squares are taken in units of it, so that they exist."""
    starts: IntArray | None = None
    """Where each group of tied trials begins; None without ties that matter."""
    within: FloatArray | None = None
    """Sum of squares of the reported scores about their mean, per group, in units of ``scale``."""

    @property
    def counts(self) -> IntArray:
        """How many trials each group of ties has."""
        assert self.starts is not None
        return np.diff(self.starts, append=self.scores.size)

    @property
    def tie_squares(self) -> FloatArray | None:
        """Per trial, the mean square of its group of ties about its mean; None without ties that matter."""
        return None if self.within is None else np.repeat(self.within / self.counts, self.counts)

    @cached_property
    def centre(self) -> float:
        """The mean of all scores, in units of ``scale``."""
        return float(self.scores.mean()) / self.scale

    @cached_property
    def width(self) -> float:
        """How far scores lie apart at most, in units of ``scale``; 0 if all are equal."""
        apart = float(self.scores.max() / self.scale - self.scores.min() / self.scale)
        return apart + (0.0 if self.within is None else math.sqrt(float(self.within.max())))


def best_first(selection: FloatArray, reported: FloatArray | None, direction: str) -> BestFirst:
    """Rank the trials by selection score; ``reported`` None where that is what is reported."""
    claimed = selection if reported is None else reported
    scale = float(max(claimed.max(), -claimed.min())) or 1.0
    # Sorting is dear, and of very many trials it is done already.
    rising = bool((selection[1:] >= selection[:-1]).all())
    best = slice(None, None, -1 if direction == "max" else 1)
    if reported is None:
        return BestFirst((selection if rising else np.sort(selection))[best], scale)
    order = best if rising else order_of(selection, direction)
    scores = np.ascontiguousarray(reported[order])
    chosen_by = selection[order]
    if (chosen_by[1:] != chosen_by[:-1]).all():
        return BestFirst(scores, scale)
    starts = group_starts(chosen_by)
    counts = np.diff(starts, append=scores.size)
    means = np.repeat(np.add.reduceat(scores, starts) / counts, counts)
    return BestFirst(means, scale, starts, np.add.reduceat(((scores - means) / scale) ** 2, starts))


def order_of(selection: FloatArray, direction: str) -> IntArray:
    """Positions of the trials, best first."""
    order = np.argsort(selection, kind="stable")
    return order[::-1] if direction == "max" else order


def group_starts(ordered: FloatArray) -> IntArray:
    """Where each run of equal scores begins."""
    return np.concatenate(([0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1))


def means_of(ranked: BestFirst, budgets: IntArray, estimator: str) -> FloatArray:
    """The expected best of n for every budget."""
    unique, back = np.unique(budgets, return_inverse=True)
    return weighted_sums(ranked.scores, unique, estimator)[back]


def means_and_spreads(ranked: BestFirst, budgets: IntArray, estimator: str) -> tuple[FloatArray, FloatArray]:
    """The mean and the standard deviation of the best of n for every budget.

    Second moments cost as little as means, where a spread about its own mean touches every trial for each small n. Of
    many trials they are used where at most six digits cancel.
    """
    unique, back = np.unique(budgets, return_inverse=True)
    if ranked.width == 0:
        return means_of(ranked, budgets, estimator), np.zeros(budgets.size)
    if ranked.scores.size < _MANY_TRIALS:
        means = weighted_sums(ranked.scores, unique, estimator)
        spreads = np.full(unique.size, np.nan)
    else:
        squares = ranked.scores / ranked.scale
        squares -= ranked.centre
        squares *= squares
        if ranked.tie_squares is not None:
            squares += ranked.tie_squares
        means, moments = sums_of_columns([ranked.scores, squares], unique, estimator)
        left = moments - (means / ranked.scale - ranked.centre) ** 2
        spreads = np.sqrt(np.where(left > 1e-6 * moments, left, np.nan))
    dear = np.isnan(spreads)
    if dear.any():
        spreads[dear] = _about(ranked, means[dear] / ranked.scale, unique[dear], estimator)
    return means[back], spreads[back] * ranked.scale


def _about(ranked: BestFirst, means: FloatArray, budgets: IntArray, estimator: str) -> FloatArray:
    """The spread about ``means``, trial by trial, in units of ``scale``."""
    scores, within = ranked.scores / ranked.scale, ranked.tie_squares

    def compute(some: IntArray, cut: float) -> FloatArray:
        about = means[np.searchsorted(budgets, some)]
        out = np.zeros(some.size)
        for rows, left, piece in weight_pieces(scores.size, some, estimator, cut):
            kept = slice(left, left + piece.shape[1])
            out[rows] += np.einsum("ij,ij->i", piece, (scores[kept] - about[rows, None]) ** 2)
            if within is not None:
                out[rows] += piece @ within[kept]
        return np.asarray(np.sqrt(out))

    def needed(spreads: FloatArray) -> FloatArray:
        return np.asarray(BEYOND_DIGITS + 2 * np.log(ranked.width / spreads))

    return refined(compute, needed, budgets, scores.size, estimator)


def errors_of(ranked: BestFirst, budgets: IntArray, estimator: str) -> FloatArray:
    """Jackknife standard errors for every budget; u has none where n is the number of trials.

    Leaving out the trial at rank i instead of the next better one moves one score across rank i: with the weights w'
    of m - 1 trials the two estimates differ by w'_i times the spacing. Leaving out one of c tied trials also moves
    their mean by (mean - own score) / (c - 1), which carries the weight of the c - 1 left; these shifts sum to zero
    in each group, so that the two parts of the variance add.
    """
    unique, back = np.unique(budgets, return_inverse=True)
    size = ranked.scores.size
    usable = unique[unique < size] if estimator == "u" else unique
    spacings = -np.diff(ranked.scores / ranked.scale)

    def compute(some: IntArray, cut: float) -> FloatArray:
        out = np.empty(some.size)
        for rows, weights in weight_rows(size - 1, some, estimator, cut):
            wide = weights.shape[1]
            # Without the trial that has d better ones, minus without the best: the sum of the steps before d. Past the
            # last weight that counts the sum stays as it is, for size - wide trials.
            shifts = np.cumsum(weights * spacings[:wide], axis=1)
            last = shifts[:, -1:]
            mean = (shifts[:, :-1].sum(axis=1, keepdims=True) + last * (size - wide)) / size
            total = ((last - mean) ** 2 * (size - wide) + mean**2)[:, 0]
            total += ((shifts[:, :-1] - mean) ** 2).sum(axis=1)
            if ranked.within is not None:
                total += _within_ties(weights, ranked)
            out[rows] = np.sqrt(total * (size - 1) / size)
        return out

    def needed(errors: FloatArray) -> FloatArray:
        return np.asarray(BEYOND_DIGITS + np.log(ranked.width / errors) + 0.5 * math.log(size))

    out = np.full(unique.size, np.nan)
    if ranked.width == 0:
        out[: usable.size] = 0.0
    elif usable.size:
        out[: usable.size] = refined(compute, needed, usable, size - 1, estimator) * ranked.scale
    return out[back]


def _within_ties(weights: FloatArray, ranked: BestFirst) -> FloatArray:
    assert ranked.starts is not None
    assert ranked.within is not None
    counts = ranked.counts
    tied = np.flatnonzero((counts > 1) & (ranked.starts < weights.shape[1]))
    if tied.size == 0:
        return np.zeros(weights.shape[0])
    starts, counts = ranked.starts[tied], counts[tied]
    total = np.zeros((weights.shape[0], weights.shape[1] + 1))
    np.cumsum(weights, axis=1, out=total[:, 1:])
    stops = np.minimum(starts + counts - 1, weights.shape[1])
    held = total[:, stops] - total[:, starts]
    return np.asarray(held**2 @ (ranked.within[tied] / (counts - 1.0) ** 2))
