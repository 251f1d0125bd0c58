"""Two families at one budget, beyond the difference: relative improvement, who wins how often, permutation p-values."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import FloatArray, IntArray, Seed
from levelbest.stats.bands import Ranked, order_statistic
from levelbest.stats.best import best_weights
from levelbest.stats.contrasts._paired import jackknife_errors, leave_one_out
from levelbest.stats.contrasts._pairwise import Draws, widest
from levelbest.stats.contrasts._samples import Sample, check_pairing, turn

__all__ = ["chance_better", "permutation_p", "relative_improvement"]

_CELLS = 1 << 21


def relative_improvement(draws: Draws, at: int, confidence: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(first - second) / |second| at each budget, with a pointwise studentised bootstrap interval ([B] D.1).

    The standard error is that of first - r second, r their ratio, over |second|. NaN where the second's score is within
    three standard errors of zero: a ratio to something that may be nothing has no interval.
    """
    a, b = draws.pairs[at]
    first, second = draws.estimate[a], draws.estimate[b]
    shape = (slice(None), None)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = (first - second) / np.abs(second)
        error = np.sqrt(_ratio_variance(draws, at, first, second))
        moved_a, moved_b = first[shape] + draws.deviations[a], second[shape] + draws.deviations[b]
        drawn = (moved_a - moved_b) / np.abs(moved_b)
        t = (drawn - value[shape]) / np.sqrt(_ratio_variances(draws, at, moved_a, moved_b))
        t[np.isnan(t)] = 0
        tail = (1 - confidence) / 2
        low = value - order_statistic(t, 1 - tail) * error
        high = value - order_statistic(t, tail) * error
        known = np.abs(second) > 3 * np.sqrt(draws.variance[b])
    return tuple(np.where(known, column, np.nan) for column in (value, low, high))  # type: ignore[return-value]


def _ratio_variance(draws: Draws, at: int, first: FloatArray, second: FloatArray) -> FloatArray:
    a, b = draws.pairs[at]
    va, vb = draws.variance[a], draws.variance[b]
    shared = 0.0 if draws.pair_variance is None else (va + vb - draws.pair_variance[at]) / 2
    return _of_ratio(va, vb, shared, first, second)


def _ratio_variances(draws: Draws, at: int, first: FloatArray, second: FloatArray) -> FloatArray:
    a, b = draws.pairs[at]
    va, vb = draws.variances[a].astype(np.float64), draws.variances[b].astype(np.float64)
    shared = 0.0 if draws.pair_variances is None else (va + vb - draws.pair_variances[at]) / 2
    return _of_ratio(va, vb, shared, first, second)


def _of_ratio(
    va: FloatArray, vb: FloatArray, shared: FloatArray | float, first: FloatArray, second: FloatArray
) -> FloatArray:
    """The variance of first / second by the delta method; ``shared`` is the covariance."""
    ratio = first / second
    variance: FloatArray = np.maximum(va + ratio**2 * vb - 2 * ratio * shared, 0) / second**2
    return variance


def chance_better(a: Sample, b: Sample, n: npt.ArrayLike, *, direction: str = "max") -> FloatArray:
    """The probability that the best of n of the first reports a better score than the best of n of the second.

    An unbiased estimate (U weights on both sides); a tie counts half.
    """
    first, second = turn([a, b], direction)
    budgets, _ = _check.as_budgets(n, min(first.n_trials, second.n_trials))
    claim_a = first.selection if first.reported is None else first.reported
    claim_b = second.selection if second.reported is None else second.reported
    weights_a = best_weights(first.selection, budgets)
    weights_b = best_weights(second.selection, budgets)
    ranked = np.argsort(claim_b, kind="stable")
    below = np.concatenate([np.zeros((budgets.size, 1)), np.cumsum(weights_b[:, ranked], axis=1)], axis=1)
    less = np.searchsorted(claim_b[ranked], claim_a, side="left")
    most = np.searchsorted(claim_b[ranked], claim_a, side="right")
    chance: FloatArray = (weights_a * (below[:, less] + below[:, most]) / 2).sum(axis=1)
    return np.clip(chance, 0, 1)


def permutation_p(
    a: Sample,
    b: Sample,
    n: IntArray,
    *,
    paired: bool = False,
    direction: str = "max",
    n_permutations: int = 2_000,
    rng: Seed = 0,
) -> float:
    """The p-value of "both families have one law", by permuting trials (or swapping pairs): exact under that law.

    The statistic is the largest |t| over the budgets, t the studentised difference. At least 1 / (n_permutations + 1).
    """
    first, second = turn([a, b], direction)
    if paired:
        check_pairing([first, second])
    generator = _check.as_rng(rng)
    budgets = n[n <= widest(first.n_trials, second.n_trials)]
    if not budgets.size:
        return math.nan
    m = first.n_trials
    pooled = _pool(first, second)
    sides = [Ranked(pooled.selection, budgets, pooled.reported, size=one.n_trials) for one in (first, second)]
    rows = sides[0].order
    mine = np.zeros(pooled.n_trials, dtype=np.int64)
    mine[:m] = 1
    observed = _largest_t(sides, mine[None][:, rows], rows, m if paired else None)[0]
    at_least = 1
    piece = max(1, _CELLS // (pooled.n_trials * (2 * budgets.size if paired else 8)))
    for start in range(0, n_permutations, piece):
        size = min(piece, n_permutations - start)
        if paired:
            swapped = generator.integers(0, 2, (size, m))
            drawn = np.concatenate([1 - swapped, swapped], axis=1)
        else:
            drawn = generator.permuted(np.broadcast_to(mine, (size, mine.size)), axis=1)
        t = _largest_t(sides, drawn[:, rows], rows, m if paired else None)
        # equal up to rounding counts as equal: ties must not make the p-value too small
        at_least += int(np.count_nonzero(t >= observed * (1 - 1e-9)))
    return at_least / (n_permutations + 1)


def _pool(first: Sample, second: Sample) -> Sample:
    selection = np.concatenate([first.selection, second.selection])
    if first.reported is None or second.reported is None:
        return Sample(selection)
    return Sample(selection, np.concatenate([first.reported, second.reported]))


def _largest_t(sides: Sequence[Ranked], mine: IntArray, rows: npt.NDArray[np.intp], m: int | None) -> FloatArray:
    """max over n of |t| for each row of ``mine``: which pooled trials, in ranked order, belong to the first family."""
    if m is None:
        (value_a, error_a), (value_b, error_b) = (
            side.resampled(drawn, errors=True) for side, drawn in zip(sides, (mine, 1 - mine), strict=True)
        )
        error = np.hypot(error_a, error_b)
    else:
        value_a, value_b = (side.resampled(d)[0] for side, d in zip(sides, (mine, 1 - mine), strict=True))
        back = np.argsort(rows)
        deviations = []
        for side, drawn in zip(sides, (mine, 1 - mine), strict=True):
            left = leave_one_out(side, drawn)[..., back]
            chosen = drawn[:, back].astype(bool)
            deviations.append(np.where(chosen[:, :m], left[..., :m], left[..., m:]))
        error = jackknife_errors(deviations[0] - deviations[1], np.ones((mine.shape[0], m), dtype=np.int64))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(value_a - value_b) / error
    t[np.isnan(t)] = 0
    largest: FloatArray = t.max(axis=0)
    return largest
