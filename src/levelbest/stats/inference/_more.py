"""Two families beyond their difference: relative improvement, who wins how often; and the best so far of a search."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy

from levelbest import _check
from levelbest._check import FloatArray
from levelbest.stats.bands import order_statistic
from levelbest.stats.best import Sample, best_weights
from levelbest.stats.inference._question import Pair
from levelbest.stats.inference._trials import TrialUnits

_FROM_ZERO = 3.0
"""Standard errors that a score must be away from zero for a ratio to it."""


def relative_improvement(
    units: TrialUnits, pair: Pair, confidence: float = 0.95
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(first - second) / |second| at the nodes of a pair, with pointwise intervals from draws ([B] D.1).

    NaN where the second's score is within three standard errors of zero: a ratio to something that may be nothing has
    no interval.
    """
    k = units.inside(pair)
    n, tail = units.nodes[:k], (1 - confidence) / 2
    (a, _), (b, of_b) = ((units.sides[f].best + units.side_at(f, n)[0], units.side_at(f, n)[1]) for f in pair)
    first, second = (units.family_draws(f) for f in pair)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = (a - b) / np.abs(b)
        low = (first.lower[:k] - second.upper[:k]) / np.abs(second.upper[:k])
        high = (first.upper[:k] - second.lower[:k]) / np.abs(second.lower[:k])
        ends = order_statistic(np.minimum(low, high), tail), order_statistic(np.maximum(low, high), 1 - tail)
        known = np.abs(b) > _FROM_ZERO * np.sqrt(of_b)
    low, high = np.minimum(ends[0], value), np.maximum(ends[1], value)
    return tuple(np.where(known, column, np.nan) for column in (value, low, high))  # type: ignore[return-value]


def chance_better(a: Sample, b: Sample, n: npt.ArrayLike, *, direction: str = "max") -> FloatArray:
    """The probability that the best of n of the first reports a better score than the best of n of the second.

    An unbiased estimate (U weights on both sides); a tie counts half.
    """
    first, second = (own.turned(direction).ordered() for own in (a, b))  # what is in order is counted faster
    budgets, _ = _check.as_budgets(n, min(first.n_trials, second.n_trials))
    weights = best_weights(first.selection, budgets), best_weights(second.selection, budgets)
    return np.clip(share_of_wins(first.claimed, second.claimed, *weights), 0, 1)


def share_of_wins(first: FloatArray, second: FloatArray, of_first: FloatArray, of_second: FloatArray) -> FloatArray:
    """How often a draw of the first scores by its weights beats one of the second, for every row of weights."""
    order = np.argsort(second, kind="stable")
    below = np.concatenate([np.zeros((of_second.shape[0], 1)), np.cumsum(of_second[:, order], axis=1)], axis=1)
    less, most = (np.searchsorted(second[order], first, side=side) for side in ("left", "right"))
    return np.asarray((of_first * (below[:, less] + below[:, most])).sum(axis=1) / 2)


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
    k = curves.shape[0]
    mean = curves.mean(axis=0)
    if k < 2:
        return mean, np.full(mean.size, np.nan), np.full(mean.size, np.nan)
    half = float(scipy.special.stdtrit(k - 1, (1 + confidence) / 2)) * curves.std(axis=0, ddof=1) / np.sqrt(k)
    return mean, mean - half, mean + half
