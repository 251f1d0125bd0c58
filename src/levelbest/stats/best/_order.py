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
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from levelbest import _check
from levelbest._check import FloatArray, IntArray
from levelbest.errors import InputError
from levelbest.stats.best._moments import (
    BestFirst,
    best_first,
    errors_of,
    group_starts,
    means_and_spreads,
    means_of,
    order_of,
)
from levelbest.stats.best._samples import Sample
from levelbest.stats.best._statistics import Mean, Quantile, Statistic, order_quantiles, statistic_named
from levelbest.stats.best._weights import kept_weights, rank_weights

ESTIMATORS = ("u", "v", "naive")
Numbers: TypeAlias = ArrayLike

_V_LIMIT = 36.0  # where (1 - 1/m)^n < exp(-36) = 2.3e-16, v is the best score to the last digit
_WEIGHTS_AT_ONCE, _WEIGHTS_CACHED = 1 << 20, 1 << 14  # weights held together; those that are kept


Compute = Callable[[BestFirst, IntArray, str], FloatArray]
"""A number of the best of n for every budget, from ranked trials and by an estimator."""


def _validated(
    selection: Numbers,
    n: Numbers,
    reported: Numbers | None,
    estimator: str,
    direction: str,
    *,
    known: tuple[str, ...] = ESTIMATORS,
    at_least: int = 1,
) -> tuple[Sample, IntArray, bool]:
    """The scores, the budgets, and whether ``n`` was one number."""
    sample = Sample.of(selection, reported, at_least=at_least)
    _check.as_direction(direction)
    _check.as_choice(estimator, known, "estimator" if at_least == 1 else "estimator with a standard error")
    size = sample.n_trials
    budgets, scalar = _check.as_budgets(n, None if estimator == "v" else size)
    limit = int(_V_LIMIT / -math.log1p(-1 / size)) if size > 1 else 1
    if estimator == "v" and budgets.max() > limit:
        raise InputError(
            f"n must be at most {limit} for the v estimator of {size} trials, got {budgets.max()}: beyond that it is "
            "just the best observed score; run more trials, or extrapolate with gaussian_best"
        )
    return sample, budgets, scalar


def _computed(compute: Compute, sample: Sample, budgets: IntArray, estimator: str, direction: str) -> FloatArray:
    if estimator != "naive":
        return compute(best_first(sample.selection, sample.reported, direction), budgets, estimator)
    # [D] eq. 7 as printed: the first n trials, from which n are drawn with replacement
    firsts = [(n, sample.first(int(n))) for n in budgets]
    parts = [
        compute(best_first(sample.selection, sample.reported, direction), np.array([n]), "v") for n, sample in firsts
    ]
    return np.concatenate(parts)


def _as_given(values: FloatArray, scalar: bool) -> float | FloatArray:
    return float(values[0]) if scalar else values


def expected_best(
    selection: Numbers, n: Numbers, reported: Numbers | None = None, *, estimator: str = "u", direction: str = "max"
) -> float | FloatArray:
    """The expected reported score of the best of n trials, the best being chosen by selection score.

    Parameters
    ----------
    selection : array_like
        One finite selection score per trial.
    n : int or array_like of int
        Budgets: how many trials one may try.
    reported : array_like, optional
        What is reported of each trial, where that is not the selection score.
    estimator : {"u", "v", "naive"}
        Draws without replacement (unbiased, n <= n_trials), with replacement, or [D] eq. 7 as printed.
    direction : {"max", "min"}
        Whether higher or lower scores are better.

    Returns
    -------
    float or ndarray
        The expectation: a float for one ``n``, an array for several.

    Notes
    -----
    ``u`` is the U-statistic of Tang et al. 2020, section 3, ``v`` that of Bajgar et al. 2018, eq. 7, and Dodge et al.
    2019, eq. 8. Trials that tie in the selection score share their weight equally. For 0/1 scores ``u`` is pass@k (Chen
    et al. 2021). All of n = 1..n_trials cost O(m log m).

    Examples
    --------
    >>> expected_best([0.6, 0.7, 0.8], 2)
    0.7666666666666666
    >>> expected_best([0.6, 0.7, 0.8], [1, 3], reported=[0.5, 0.9, 0.6]).round(4).tolist()
    [0.6667, 0.6]
    """
    # Validate
    sample, budgets, scalar = _validated(selection, n, reported, estimator, direction)
    # Compute
    means = _computed(means_of, sample, budgets, estimator, direction)
    return _as_given(means, scalar)


def spread_of_best(
    selection: Numbers, n: Numbers, reported: Numbers | None = None, *, estimator: str = "u", direction: str = "max"
) -> float | FloatArray:
    """The standard deviation of the best of n itself: how much one search of n trials differs from another.

    Parameters
    ----------
    selection, n, reported, estimator, direction
        As of `expected_best`.

    Returns
    -------
    float or ndarray
        The standard deviation: a float for one ``n``, an array for several.

    Notes
    -----
    Plug-in, with the weights of the estimator (Dodge et al. 2019, section 3.3). It is not the error of the estimate:
    that is `standard_error`, and much smaller.

    Examples
    --------
    >>> round(spread_of_best([0.6, 0.7, 0.8], 2), 4)
    0.0471
    """
    # Validate
    sample, budgets, scalar = _validated(selection, n, reported, estimator, direction)
    # Compute
    spreads = _computed(lambda *ranked: means_and_spreads(*ranked)[1], sample, budgets, estimator, direction)
    return _as_given(spreads, scalar)


def mean_and_spread(
    selection: Numbers, n: Numbers, reported: Numbers | None = None, *, estimator: str = "u", direction: str = "max"
) -> tuple[FloatArray, FloatArray]:
    """`expected_best` and `spread_of_best` at once, from one ranking."""
    sample, budgets, _ = _validated(selection, n, reported, estimator, direction, known=("u", "v"))
    return means_and_spreads(best_first(sample.selection, sample.reported, direction), budgets, estimator)


def standard_error(
    selection: Numbers, n: Numbers, reported: Numbers | None = None, *, estimator: str = "u", direction: str = "max"
) -> float | FloatArray:
    """The jackknife standard error of `expected_best`.

    Parameters
    ----------
    selection, n, reported, direction
        As of `expected_best`.
    estimator : {"u", "v"}
        The estimator whose error is asked for.

    Returns
    -------
    float or ndarray
        The standard error: a float for one ``n``, an array for several.

    Notes
    -----
    In closed form, O(n_trials) for each n. Leaving one trial out leaves n_trials - 1, so u needs n < n_trials: among
    several ``n`` the undefined ones are NaN, and one undefined ``n`` is an error.

    Examples
    --------
    For n = 1 it is the standard error of a mean.

    >>> round(standard_error([0.6, 0.7, 0.8], 1), 4)
    0.0577
    """
    # Validate
    sample, budgets, scalar = _validated(selection, n, reported, estimator, direction, known=("u", "v"), at_least=2)
    if scalar and estimator == "u" and budgets[0] == sample.n_trials:
        raise InputError(
            f"the standard error needs n to be less than the number of trials, {sample.n_trials}, got {budgets[0]}: "
            "leaving one trial out leaves too few; run one more trial or ask for a smaller n"
        )
    # Compute
    errors = _computed(errors_of, sample, budgets, estimator, direction)
    return _as_given(errors, scalar)


def best_weights(selection: Numbers, n: Numbers, *, estimator: str = "u", direction: str = "max") -> FloatArray:
    """The chance of each trial to be the best of n: its weight in `expected_best`.

    Parameters
    ----------
    selection, n, estimator, direction
        As of `expected_best`.

    Returns
    -------
    ndarray
        In the order of the trials; one row per budget, for one ``n`` just the row.

    Notes
    -----
    C(j-1, n-1) / C(m, n) for the j-th worst of m trials (Tang et al. 2020), computed from logarithms, so that
    nothing overflows.

    Examples
    --------
    >>> best_weights([0.8, 0.6, 0.7], 2).round(4).tolist()
    [0.6667, 0.0, 0.3333]
    """
    # Validate
    sample, budgets, scalar = _validated(selection, n, None, estimator, direction)
    # Compute
    if estimator != "naive":
        weights = _weights(sample.selection, budgets, estimator, direction)
    else:
        weights = np.zeros((budgets.size, sample.n_trials))
        for row, budget in enumerate(budgets):
            weights[row, :budget] = _weights(sample.selection[:budget], budgets[row : row + 1], "v", direction)[0]
    return weights[0] if scalar else weights


def quantile_best(
    selection: Numbers, n: Numbers, q: float = 0.5, reported: Numbers | None = None, *, direction: str = "max"
) -> float | FloatArray:
    """The q-quantile of the reported score of the best of n.

    Parameters
    ----------
    selection, n, reported, direction
        As of `expected_best`.
    q : float
        A probability that counts from worse to better, so that max and min are mirror images.

    Returns
    -------
    float or ndarray
        The quantile: a float for one ``n``, an array for several.

    Notes
    -----
    One score column: the smallest score x, counted from worse to better, whose share F of trials no better is at least
    q^(1/n); where n_trials q^(1/n) is a whole number (to 1e-12), the mean of that score and the next better one, so
    that n = 1, q = 1/2 is the ordinary median (Lourie et al. 2023).
    With reported scores: the same rule for the u-weighted distribution of the reported scores, ties in the selection
    score sharing their weight: the smallest reported score whose cumulated weight is at least q, or the mean of it and
    the next better one that has weight, where the cumulated weight is q (to 1e-12).

    Examples
    --------
    >>> quantile_best([0.6, 0.7, 0.8, 0.9], [1, 3]).tolist()
    [0.75, 0.9]
    """
    # Validate
    statistic = Quantile(_check.as_quantile(q))
    sample, budgets, scalar = _validated(selection, n, reported, "u", direction)
    # Compute
    if sample.reported is not None:
        return _as_given(_functional(sample, budgets, statistic, direction), scalar)
    ordered = np.sort(sample.selection)
    worst_first = ordered if direction == "max" else ordered[::-1]
    return _as_given(order_quantiles(worst_first[None], budgets, statistic.q)[:, 0], scalar)


def best_statistic(
    selection: Numbers,
    n: Numbers,
    reported: Numbers | None = None,
    *,
    statistic: str | float = "mean",
    direction: str = "max",
) -> float | FloatArray:
    """Any statistic of the best of n, by name, of the u-weighted distribution of reported scores (Tang et al. 2020).

    Parameters
    ----------
    selection, n, reported, direction
        As of `expected_best`.
    statistic : str or float
        ``"mean"``, ``"median"``, a probability q, or the name of a registered statistic.

    Returns
    -------
    float or ndarray
        The value of the statistic: a float for one ``n``, an array for several.

    Examples
    --------
    >>> best_statistic([0.6, 0.7, 0.8, 0.9], 1, statistic="median")
    0.75
    """
    wanted = statistic_named(statistic)
    if isinstance(wanted, Mean):
        return expected_best(selection, n, reported, direction=direction)
    if isinstance(wanted, Quantile):
        return quantile_best(selection, n, wanted.q, reported, direction=direction)
    sample, budgets, scalar = _validated(selection, n, reported, "u", direction)
    return _as_given(_functional(sample, budgets, wanted, direction), scalar)


def _functional(sample: Sample, budgets: IntArray, statistic: Statistic, direction: str) -> FloatArray:
    """The statistic of the u-weighted distribution of the reported scores, for every budget."""
    worst_first = order_of(sample.claimed, direction)[::-1]
    scores = _check.sign_of(direction) * sample.claimed[worst_first]
    unique, back = np.unique(budgets, return_inverse=True)
    values = np.empty(unique.size)
    step = max(1, _WEIGHTS_AT_ONCE // scores.size)
    for start in range(0, unique.size, step):
        rows = slice(start, start + step)
        weights = _weights(sample.selection, unique[rows], "u", direction)[:, worst_first]
        values[rows] = _check.sign_of(direction) * statistic.of_distribution(scores, weights)
    return values[back]


def _weights(selection: FloatArray, budgets: IntArray, estimator: str, direction: str) -> FloatArray:
    """The weight of each trial, in the order given, one row per budget."""
    order = order_of(selection, direction)
    starts = group_starts(selection[order])
    if order.size * budgets.size <= _WEIGHTS_CACHED:
        ranked = kept_weights(order.size, tuple(budgets.tolist()), estimator)[:, ::-1]
    else:
        ranked = rank_weights(order.size, budgets, estimator)[:, ::-1]
    if starts.size < order.size:
        counts = np.diff(starts, append=order.size)
        ranked = np.repeat(np.add.reduceat(ranked, starts, axis=1) / counts, counts, axis=1)
    weights = np.empty_like(ranked)
    weights[:, order] = ranked
    return weights
