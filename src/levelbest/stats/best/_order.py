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
from levelbest.stats.best._sums import BEYOND_DIGITS, joint_sums, refined, weighted_sums
from levelbest.stats.best._weights import rank_weights, subset_fraction, weight_pieces, weight_rows

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

_V_LIMIT = 36.0  # where (1 - 1/m)^n < exp(-36) = 2.3e-16, v is the best score to the last digit


_MANY_TRIALS = 100_000  # from so many on spreads are taken from moments where they can be


@dataclass(frozen=True)
class _Ranked:
    """Trials best first."""

    scores: FloatArray
    """Reported scores, averaged within ties in the selection score."""
    starts: IntArray | None
    """Where each group of tied trials begins; None without ties that matter."""
    within: FloatArray | None
    """Sum of squares of the reported scores about their mean, per group, in units of ``scale``."""
    scale: float
    """The largest score in absolute value (1 if all are 0): squares are taken in units of it, so that they exist."""

    @property
    def counts(self) -> IntArray:
        assert self.starts is not None
        return np.diff(self.starts, append=self.scores.size)

    @property
    def width(self) -> float:
        """How far scores lie apart at most, in units of ``scale``; 0 if all are equal."""
        apart = float(self.scores.max() / self.scale - self.scores.min() / self.scale)
        return apart + (0.0 if self.within is None else math.sqrt(float(self.within.max())))


def _ranked(selection: FloatArray, reported: FloatArray | None, direction: str) -> _Ranked:
    claimed = selection if reported is None else reported
    scale = float(max(claimed.max(), -claimed.min())) or 1.0
    if reported is None:
        ordered = np.sort(selection)
        return _Ranked(ordered[::-1] if direction == "max" else ordered, None, None, scale)
    order = _best_first(selection, direction)
    scores = reported[order]
    starts = _group_starts(selection[order])
    if starts.size == scores.size:
        return _Ranked(scores, None, None, scale)
    counts = np.diff(starts, append=scores.size)
    means = np.repeat(np.add.reduceat(scores, starts) / counts, counts)
    return _Ranked(means, starts, np.add.reduceat(((scores - means) / scale) ** 2, starts), scale)


def _best_first(selection: FloatArray, direction: str) -> IntArray:
    order = np.argsort(selection, kind="stable")
    return order[::-1] if direction == "max" else order


def _group_starts(ordered: FloatArray) -> IntArray:
    return np.concatenate(([0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1))


def _budgets(n: npt.ArrayLike, n_trials: int, estimator: str) -> tuple[IntArray, bool]:
    if estimator != "v":
        return _check.as_budgets(n, n_trials)
    budgets, scalar = _check.as_budgets(n)
    limit = int(_V_LIMIT / -math.log1p(-1 / n_trials)) if n_trials > 1 else 1
    if budgets.max() > limit:
        raise InputError(
            f"n must be at most {limit} for the v estimator of {n_trials} trials, got {budgets.max()}: past that it is "
            "nothing but the best observed score; run more trials, or extrapolate with gaussian_best"
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


def mean_and_spread(
    selection: npt.ArrayLike,
    n: npt.ArrayLike,
    reported: npt.ArrayLike | None = None,
    *,
    estimator: str = "u",
    direction: str = "max",
) -> tuple[FloatArray, FloatArray]:
    """`expected_best` and `spread_of_best` at once, from one ranking, for budgets in rising order."""
    chosen_by, claimed = _check.as_pair(selection, reported)
    _check.as_direction(direction)
    _check.as_choice(estimator, ("u", "v"), "estimator")
    budgets, _ = _budgets(n, chosen_by.size, estimator)
    if (np.diff(budgets) <= 0).any():
        raise InputError("n must be in rising order, each budget once")
    ranked = _ranked(chosen_by, claimed, direction)
    if ranked.scores.size < _MANY_TRIALS:
        means = _means(ranked, budgets, estimator)
        return means, _spreads(ranked, budgets, estimator, means)
    both = joint_sums(np.stack([ranked.scores / ranked.scale, _squares(ranked)]), budgets, estimator)
    means = both[:, 0] * ranked.scale
    return means, _spreads(ranked, budgets, estimator, means, both[:, 1])


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
    unique, back = np.unique(budgets, return_inverse=True)
    out = np.empty(unique.size)
    step = max(1, (1 << 20) // chosen_by.size)
    for start in range(0, unique.size, step):
        weights = _weights(chosen_by, unique[start : start + step], "u", direction)[:, by_claim]
        out[start : start + step] = [_weighted_quantile(claimed[by_claim], row, level) for row in weights]
    return _shaped(out[back], scalar)


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
    unique, back = np.unique(budgets, return_inverse=True)
    return weighted_sums(ranked.scores, unique, estimator)[back]


def _centre(ranked: _Ranked) -> float:
    return float(ranked.scores.mean()) / ranked.scale


def _squares(ranked: _Ranked) -> FloatArray:
    """Squared distances from the mean of all, ties with their own spread, in units of ``scale``."""
    squares = (ranked.scores / ranked.scale - _centre(ranked)) ** 2
    if ranked.within is not None:
        squares += np.repeat(ranked.within / ranked.counts, ranked.counts)
    return squares


def _spreads(
    ranked: _Ranked,
    budgets: IntArray,
    estimator: str,
    known: FloatArray | None = None,
    moments: FloatArray | None = None,
) -> FloatArray:
    """Spreads; ``known`` are the means of the budgets, unique and rising, and ``moments`` those of `_squares`.

    Second moments cost as little as means, where a spread about its own mean touches every trial for each small n. They
    are used where at most six digits cancel.
    """
    unique, back = np.unique(budgets, return_inverse=True)
    scores, size = ranked.scores / ranked.scale, ranked.scores.size
    means = weighted_sums(scores, unique, estimator) if known is None else known / ranked.scale
    within = None if ranked.within is None else np.repeat(ranked.within / ranked.counts, ranked.counts)

    def compute(some: IntArray, cut: float) -> FloatArray:
        about = means[np.searchsorted(unique, some)]
        out = np.zeros(some.size)
        for rows, left, piece in weight_pieces(size, some, estimator, cut):
            kept = slice(left, left + piece.shape[1])
            out[rows] += np.einsum("ij,ij->i", piece, (scores[kept] - about[rows, None]) ** 2)
            if within is not None:
                out[rows] += piece @ within[kept]
        return np.asarray(np.sqrt(out))

    def needed(spreads: FloatArray) -> FloatArray:
        return np.asarray(BEYOND_DIGITS + 2 * np.log(ranked.width / spreads))

    if ranked.width == 0:
        return np.zeros(budgets.size)
    out = np.full(unique.size, np.nan)
    if moments is None and size >= _MANY_TRIALS:
        moments = weighted_sums(_squares(ranked), unique, estimator)
    if moments is not None:
        left = moments - (means - _centre(ranked)) ** 2
        out = np.sqrt(np.where(left > 1e-6 * moments, left, np.nan))
    dear = np.isnan(out)
    if dear.any():
        out[dear] = refined(compute, needed, unique[dear], size, estimator)
    return out[back] * ranked.scale


def _errors(ranked: _Ranked, budgets: IntArray, estimator: str) -> FloatArray:
    """Jackknife standard errors.

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
