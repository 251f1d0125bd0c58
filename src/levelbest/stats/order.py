"""The best of n trials: its expected reported score, its quantiles, its spread, and the error of the estimate.

Every estimate is a weighted mean of the reported scores, trials ranked by selection score; only the weights differ.

    u      draws without replacement ([T] section 3): unbiased, defined for n <= n_trials. The default.
    v      draws with replacement ([B] eq. 7, [D] eq. 8): biased low for n > 1 ([T] theorem 1).
    naive  the v weights of the first n trials alone ([D] eq. 7 as printed): for teaching and simulation.

Trials with equal selection scores share their weight equally ([B] after eq. 7).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import FloatArray, IntArray
from levelbest.errors import InputError
from levelbest.stats.weights import rank_weights, subset_fraction, weight_rows

__all__ = [
    "best_weights",
    "expected_best",
    "quantile_best",
    "rank_weights",
    "spread_of_best",
    "standard_error",
    "subset_fraction",
]

ESTIMATORS = ("u", "v", "naive")

_EXACT = 38.0  # exp(-38) = 3e-17: weight that no longer shows in a double
_UNDERFLOW = 745.0  # exp(-746) = 0
_V_LIMIT = 36  # (1 - 1/m)^(36 m) < 2.4e-16: from there on v returns the best score to the last digit


@dataclass(frozen=True)
class _Ranked:
    """Trials best first."""

    scores: FloatArray
    """Reported scores, averaged within ties in the selection score."""
    order: IntArray | None
    """Input positions, best first; None where nothing needs them (one score column)."""
    starts: IntArray | None
    """Where each group of tied trials begins; None without ties that matter."""
    within: FloatArray | None
    """Sum of squares of the reported scores about their mean, per group."""

    @property
    def counts(self) -> IntArray:
        assert self.starts is not None
        return np.diff(self.starts, append=self.scores.size)


def _ranked(selection: FloatArray, reported: FloatArray | None, direction: str) -> _Ranked:
    if reported is None:
        ordered = np.sort(selection)
        return _Ranked(ordered[::-1] if direction == "max" else ordered, None, None, None)
    order = _best_first(selection, direction)
    scores = reported[order]
    starts = _group_starts(selection[order])
    if starts.size == scores.size:
        return _Ranked(scores, order, None, None)
    counts = np.diff(starts, append=scores.size)
    means = np.repeat(np.add.reduceat(scores, starts) / counts, counts)
    return _Ranked(means, order, starts, np.add.reduceat((scores - means) ** 2, starts))


def _best_first(selection: FloatArray, direction: str) -> IntArray:
    order = np.argsort(selection, kind="stable")
    return order[::-1] if direction == "max" else order


def _group_starts(ordered: FloatArray) -> IntArray:
    return np.concatenate(([0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1))


def _budgets(n: npt.ArrayLike, n_trials: int, estimator: str) -> tuple[IntArray, bool]:
    if estimator != "v":
        return _check.as_budgets(n, n_trials)
    budgets, scalar = _check.as_budgets(n)
    if budgets.max() > _V_LIMIT * n_trials:
        raise InputError(
            f"n must be at most {_V_LIMIT} times the number of trials, {n_trials}, for the v estimator, got "
            f"{budgets.max()}: past that it is the best observed score; run more trials, or extrapolate with "
            "gaussian_best"
        )
    return budgets, scalar


def _shaped(values: FloatArray, scalar: bool) -> float | FloatArray:
    return float(values[0]) if scalar else values


def expected_best(
    selection: npt.ArrayLike,
    n: npt.ArrayLike,
    reported: npt.ArrayLike | None = None,
    *,
    estimator: str = "u",
    direction: str = "max",
) -> float | FloatArray:
    """The expected reported score of the best of n trials, the best being chosen by selection score.

    A float for one ``n``, an array for several; all of n = 1..n_trials cost O(m log m). For 0/1 scores this is pass@k.
    """
    chosen_by, claimed = _check.as_pair(selection, reported)
    _check.as_direction(direction)
    _check.as_choice(estimator, ESTIMATORS, "estimator")
    budgets, scalar = _budgets(n, chosen_by.size, estimator)
    if estimator == "naive":
        return _shaped(_on_prefixes(_means, chosen_by, claimed, budgets, direction), scalar)
    return _shaped(_means(_ranked(chosen_by, claimed, direction), budgets, estimator), scalar)


def spread_of_best(
    selection: npt.ArrayLike,
    n: npt.ArrayLike,
    reported: npt.ArrayLike | None = None,
    *,
    estimator: str = "u",
    direction: str = "max",
) -> float | FloatArray:
    """The standard deviation of the best of n itself, plug-in: how much one search of n trials differs from another.

    ([D] section 3.3.) It is not the error of the estimate: that is `standard_error`, and much smaller.
    """
    chosen_by, claimed = _check.as_pair(selection, reported)
    _check.as_direction(direction)
    _check.as_choice(estimator, ESTIMATORS, "estimator")
    budgets, scalar = _budgets(n, chosen_by.size, estimator)
    if estimator == "naive":
        return _shaped(_on_prefixes(_spreads, chosen_by, claimed, budgets, direction), scalar)
    return _shaped(_spreads(_ranked(chosen_by, claimed, direction), budgets, estimator), scalar)


def standard_error(
    selection: npt.ArrayLike,
    n: npt.ArrayLike,
    reported: npt.ArrayLike | None = None,
    *,
    estimator: str = "u",
    direction: str = "max",
) -> float | FloatArray:
    """The jackknife standard error of `expected_best`, in closed form: O(n_trials) for each n.

    Leaving one trial out leaves n_trials - 1, so u needs n < n_trials: among several ``n`` the undefined ones are NaN,
    and one undefined ``n`` is an error.
    """
    chosen_by, claimed = _check.as_pair(selection, reported, at_least=2)
    _check.as_direction(direction)
    _check.as_choice(estimator, ("u", "v"), "estimator with a standard error")
    n_trials = chosen_by.size
    budgets, scalar = _budgets(n, n_trials, estimator)
    if scalar and estimator == "u" and budgets[0] == n_trials:
        raise InputError(
            f"the standard error needs n to be less than the number of trials, {n_trials}, got {budgets[0]}: leaving "
            "one trial out leaves too few; run one more trial or ask for a smaller n"
        )
    return _shaped(_errors(_ranked(chosen_by, claimed, direction), budgets, estimator), scalar)


def best_weights(
    selection: npt.ArrayLike, n: npt.ArrayLike, *, estimator: str = "u", direction: str = "max"
) -> FloatArray:
    """The chance of each trial, in input order, to be the best of n: its weight in `expected_best`.

    One row per budget; for one ``n`` just the row.
    """
    chosen_by = _check.as_scores(selection, "selection")
    _check.as_direction(direction)
    _check.as_choice(estimator, ESTIMATORS, "estimator")
    budgets, scalar = _budgets(n, chosen_by.size, estimator)
    out = np.zeros((budgets.size, chosen_by.size))
    if estimator == "naive":
        for row, budget in enumerate(budgets):
            out[row, :budget] = _weights(chosen_by[:budget], budgets[row : row + 1], "v", direction)[0]
    else:
        out[:] = _weights(chosen_by, budgets, estimator, direction)
    return out[0] if scalar else out


def quantile_best(
    selection: npt.ArrayLike,
    n: npt.ArrayLike,
    q: float = 0.5,
    reported: npt.ArrayLike | None = None,
    *,
    direction: str = "max",
) -> float | FloatArray:
    """The q-quantile of the best of n; q counts from worse to better, so max and min are mirror images.

    One score column: the smallest score x, counted from worse to better, whose share F of trials no better is at least
    q^(1/n); where n_trials q^(1/n) is a whole number (to 1e-12), the mean of that score and the next better one, so
    that n = 1, q = 1/2 is the ordinary median.
    With reported scores: the same rule for the u-weighted distribution of the reported scores, ties in the selection
    score sharing their weight: the smallest reported score whose cumulated weight is at least q, or the mean of it and
    the next better one that has weight, where the cumulated weight is q (to 1e-12).
    """
    chosen_by, claimed = _check.as_pair(selection, reported)
    _check.as_direction(direction)
    level = _check.as_quantile(q)
    budgets, scalar = _check.as_budgets(n, chosen_by.size)
    if claimed is None:
        ordered = np.sort(chosen_by)
        worst_first = ordered if direction == "max" else ordered[::-1]
        return _shaped(_order_quantiles(worst_first, budgets, level), scalar)
    by_claim = _best_first(claimed, direction)[::-1]
    worst_first = claimed[by_claim]
    out = np.empty(budgets.size)
    for row in range(budgets.size):
        weights = _weights(chosen_by, budgets[row : row + 1], "u", direction)[0][by_claim]
        out[row] = _weighted_quantile(worst_first, weights, level)
    return _shaped(out, scalar)


def _order_quantiles(worst_first: FloatArray, budgets: IntArray, level: float) -> FloatArray:
    size = worst_first.size
    place = size * np.exp(math.log(level) / budgets)
    whole = np.rint(place)
    # A product of size m carries a rounding error of m eps: from m = 5,000 on 1e-12 would be below it.
    even = np.abs(place - whole) <= np.maximum(1e-12, 4 * np.finfo(float).eps * size)
    low = np.where(even, whole, np.ceil(place)).astype(np.int64)
    high = np.minimum(low + even, size)
    return np.asarray(_midpoint(worst_first[np.maximum(low, 1) - 1], worst_first[high - 1]))


def _weighted_quantile(worst_first: FloatArray, weights: FloatArray, level: float) -> float:
    held = np.flatnonzero(weights > 0)
    scores, total = worst_first[held], np.cumsum(weights[held])
    place = min(int(np.searchsorted(total, level - 1e-12)), held.size - 1)
    following = min(place + 1, held.size - 1) if abs(total[place] - level) <= 1e-12 else place
    return float(_midpoint(scores[place], scores[following]))


def _midpoint(a: npt.ArrayLike, b: npt.ArrayLike) -> npt.NDArray[np.float64]:
    # Halved first: the sum of two finite scores may not be finite.
    return np.where(np.equal(a, b), a, np.asarray(a) / 2 + np.asarray(b) / 2)


def _weights(selection: FloatArray, budgets: IntArray, estimator: str, direction: str) -> FloatArray:
    order = _best_first(selection, direction)
    starts = _group_starts(selection[order])
    ranked = rank_weights(selection.size, budgets, estimator)[:, ::-1]
    if starts.size < selection.size:
        counts = np.diff(starts, append=selection.size)
        ranked = np.repeat(np.add.reduceat(ranked, starts, axis=1) / counts, counts, axis=1)
    out = np.empty_like(ranked)
    out[:, order] = ranked
    return out


def _on_prefixes(
    statistic: Callable[[_Ranked, IntArray, str], FloatArray],
    selection: FloatArray,
    reported: FloatArray | None,
    budgets: IntArray,
    direction: str,
) -> FloatArray:
    """[D] eq. 7 as printed: of the first n trials, drawn n times with replacement."""
    out = np.empty(budgets.size)
    for row, budget in enumerate(budgets):
        claimed = None if reported is None else reported[:budget]
        ranked = _ranked(selection[:budget], claimed, direction)
        out[row] = statistic(ranked, budgets[row : row + 1], "v")[0]
    return out


def _means(ranked: _Ranked, budgets: IntArray, estimator: str) -> FloatArray:
    """Weighted means of the scores.

    Trials far from the best are left out where all of them together cannot change the last digit. That depends on the
    size of their scores: with one diverged loss of 1e30 the cut must lie deeper. A first cut is guessed from the best
    score, and where the mean then found is too small for it, made again for that mean.
    """
    unique, back = np.unique(budgets, return_inverse=True)
    largest = float(np.abs(ranked.scores).max())
    if largest == 0:
        return np.zeros(budgets.size)
    cut = min(_cut(largest, abs(float(ranked.scores[0]))), 2 * _EXACT)
    means = _sums(ranked.scores, unique, estimator, cut)
    for row, mean in enumerate(np.abs(means)):
        if (needed := _cut(largest, mean)) > cut:
            means[row] = _sums(ranked.scores, unique[row : row + 1], estimator, needed)[0]
    return means[back]


def _cut(largest: float, mean: float) -> float:
    if mean == 0:
        return _UNDERFLOW
    return min(_UNDERFLOW, _EXACT + max(0.0, math.log(largest) - math.log(mean)))


def _sums(scores: FloatArray, budgets: IntArray, estimator: str, cut: float) -> FloatArray:
    out = np.empty(budgets.size)
    for rows, weights in weight_rows(scores.size, budgets, estimator, cut):
        out[rows] = weights @ scores[: weights.shape[1]]
    return out


def _spreads(ranked: _Ranked, budgets: IntArray, estimator: str) -> FloatArray:
    unique, back = np.unique(budgets, return_inverse=True)
    scores = ranked.scores
    # Squares: twice the digits of the range, on top of what the smallest spread of a double needs.
    variances = np.empty(unique.size)
    within = None if ranked.within is None else np.repeat(ranked.within / ranked.counts, ranked.counts)
    for rows, weights in weight_rows(scores.size, unique, estimator, _UNDERFLOW):
        kept = scores[: weights.shape[1]]
        means = weights @ kept
        variances[rows] = np.einsum("ij,ij->i", weights, (kept - means[:, None]) ** 2)
        if within is not None:
            variances[rows] += weights @ within[: weights.shape[1]]
    return np.asarray(np.sqrt(variances)[back])


def _errors(ranked: _Ranked, budgets: IntArray, estimator: str) -> FloatArray:
    """Jackknife standard errors.

    Leaving out the trial at rank i instead of the next better one moves one score across rank i: with the weights w'
    of m - 1 trials the two estimates differ by w'_i times the spacing. Leaving out one of c tied trials also moves
    their mean by (mean - own score) / (c - 1), which carries the weight of the c - 1 left; these shifts sum to zero
    in each group, so that the two parts of the variance add.
    """
    unique, back = np.unique(budgets, return_inverse=True)
    size = ranked.scores.size
    out = np.full(unique.size, np.nan)
    usable = unique[unique < size] if estimator == "u" else unique
    spacings = -np.diff(ranked.scores)
    for rows, weights in weight_rows(size - 1, usable, estimator, _UNDERFLOW):
        wide = weights.shape[1]
        steps = weights * spacings[:wide]
        # Estimate without the trial that has d better ones, minus that without the best: -sum of the steps before d.
        shifts = np.cumsum(steps, axis=1)
        last = shifts[:, -1:]
        mean = (shifts[:, :-1].sum(axis=1, keepdims=True) + last * (size - wide)) / size
        squares = (shifts[:, :-1] - mean) ** 2
        total = squares.sum(axis=1) + ((last - mean) ** 2 * (size - wide) + mean**2)[:, 0]
        if ranked.within is not None:
            total += _within_ties(weights, ranked)
        out[rows] = np.sqrt(total * (size - 1) / size)
    return out[back]


def _within_ties(weights: FloatArray, ranked: _Ranked) -> FloatArray:
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
