"""Limits of averages over problems, the sampling unit: one column per budget or difference, one row per problem.

Samples of one problem are not independent evidence about other problems, so every method here resamples whole problems.

gaffke       Gaffke's (2005) limits for the mean of bounded scores. The gaps between sorted uniforms are exchangeable,
             so that for a mean the limits are quantiles of sum_i E_i x_i / sum_i E_i, E exponential, with one problem
             more at the bound: the upper one for the upper limit, the lower one for the lower. For 0/1 scores they are
             Clopper-Pearson's. One weight per problem serves every budget, system and difference, so that the draws
             are joint, and simultaneous limits follow from them.
imagined     the same with the further problem near the others instead of at the bound (see `imagined_ends`): 1.1 to
             1.35 times as wide as t where problems are spread out, and Gaffke's limits where few of them decide.
studentised  bootstrap of problems, each resample divided by its own standard error.
t            mean plus or minus a t quantile times the standard error.

Where problems are weighted, the further problem weighs as much as the heaviest, and twice the mean at least: a heavier
one may be unseen (12 problems of which each weighs 5 with a chance of .1, and those are all failed: with the heaviest
seen the limits covered .70 to .74).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from levelbest import _check
from levelbest._check import Bounds, FloatArray, Seed
from levelbest.errors import InputError
from levelbest.stats.bands import (
    Interval,
    Limits,
    Rule,
    Terms,
    allow,
    counts,
    interval_methods,
    local_level,
    order_statistic,
    studentise,
)
from levelbest.stats.inference import HEAVIER, imagined_ends, mean_draws, weighted_mean
from levelbest.stats.problems._groups import GroupBest, average_over_groups

GROUP_METHODS = interval_methods("problems")
_PROBLEM_WEIGHTS_AT_ONCE = 1 << 20  # exponentials in one piece

LowHigh = tuple[FloatArray, FloatArray]


def group_interval(
    best: GroupBest,
    *,
    method: str | None = None,
    confidence: float = 0.95,
    simultaneous: bool = False,
    bounds: Bounds | None = None,
    n_resamples: int = _check.N_RESAMPLES,
    rng: Seed = 0,
) -> Interval:
    """Limits for the average over the population of problems that the groups were drawn from.

    Parameters
    ----------
    best
        The values by problem, from `expected_best_by_group`.
    method
        One of `GROUP_METHODS`. The default is ``gaffke`` where both bounds are known, which no distribution of problems
        is known to break, and ``studentised`` without.
    confidence, simultaneous
        Of each budget alone or, simultaneous, of all of them together.
    bounds
        Of the reported score.
    n_resamples, rng
        How many draws of the problems' weights, and what decides them.

    Returns
    -------
    Interval
        Its ``n_trials`` is the number of groups.

    Notes
    -----
    Gaffke (2005), *Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative
    variable*; that its limits hold for every distribution is a conjecture, and docs/coverage-problems.md the evidence.

    Examples
    --------
    >>> from levelbest.stats.problems import expected_best_by_group, group_interval
    >>> best = expected_best_by_group([0, 1, 1, 1, 0, 0, 1, 1], ["a", "a", "b", "b", "c", "c", "d", "d"], [1, 2])
    >>> limits = group_interval(best, bounds=(0, 1), rng=0)
    >>> limits.method, bool((limits.low < best.value).all())
    ('gaffke', True)
    """
    if best.macro:
        settings: dict[str, Any] = {"method": method, "confidence": confidence, "simultaneous": simultaneous}
        settings |= {"bounds": bounds, "n_resamples": n_resamples, "rng": rng}
        return _task_mean(best, {label: group_interval(part, **settings) for label, part in best.by_stratum().items()})
    name = _check.as_choice("default" if method is None else method, GROUP_METHODS, "method")
    known = best.by_group[~np.isnan(best.by_group)]
    ends = _check.as_bounds(bounds, known, "scores")
    if name == "default":
        name = "studentised" if None in ends else "gaffke"
    terms = Terms(confidence, bool(simultaneous), best.direction, ends, n_resamples)
    columns, weights = best.by_unit()
    limits = mean_limits(columns, weights, name, terms, _check.as_rng(rng))
    low, high, rule = limits.low, limits.high, limits.rule
    if best.clusters is not None:  # where problems lack samples, clusters weigh less than they do here
        shift = best.value - average_over_groups(columns, weights)[0]
        low, high, rule = low + shift, high + shift, rule._replace(facts=(*rule.facts, ("clustered", True)))
    return Interval(
        n=best.n,
        low=low,
        high=high,
        method=name,
        confidence=confidence,
        simultaneous=terms.simultaneous,
        n_trials=int(best.groups.size),
        direction=best.direction,
        why=tuple(limits.why) if any(limits.why) else (),
        rule=rule,
        n_resamples=n_resamples,
    )


def _task_mean(best: GroupBest, parts: Mapping[str, Interval]) -> Interval:
    """Limits of a mean over tasks from those of each: their distances from the means add in squares.

    Zou and Donner (2008), *Construction of confidence limits about effect measures* (MOVER).
    """
    _, shares = best.tasks()
    inside = best.by_stratum()
    below, above = (
        np.sqrt(
            sum(
                np.square(share * (inside[label].value - np.asarray(getattr(limits, side))))
                for share, (label, limits) in zip(shares, parts.items(), strict=True)
            )
        )
        for side in ("low", "high")
    )
    first = next(iter(parts.values()))
    lacking = np.isnan(below) | np.isnan(above)
    return replace(
        first,
        low=best.value - below,
        high=best.value + above,
        n_trials=int(best.groups.size),
        why=tuple("no-problem" if lacks else None for lacks in lacking) if lacking.any() else (),
        rule=first.rule._replace(facts=(("n_groups", best.groups.size), *first.rule.facts[1:], ("tasks", shares.size))),
    )


def mean_limits(
    columns: FloatArray, weights: FloatArray | None, method: str, terms: Terms, rng: np.random.Generator
) -> Limits:
    """Limits for the mean of each column over its rows, by one of `GROUP_METHODS`.

    A row is a problem, NaN where the column does not have it; the bounds of the terms are those of the columns. Where
    there are none the code says why: ``no-problem`` that has so many samples, ``no-weight`` (all are 0),
    ``one-problem``, ``two-problems`` (too few without bounds) or ``no-spread``.
    """
    bounds = terms.bounds or (None, None)
    bounded = None not in bounds
    if method == "gaffke" and not bounded:
        raise InputError(
            f"method 'gaffke' needs both bounds of the score, got {bounds}; give bounds=(lowest, highest) or "
            "use method='studentised'"
        )
    given = (~np.isnan(columns)).sum(axis=0)
    if weights is not None:  # a problem of weight 0 is none: it neither widens nor narrows a limit
        columns, weights = columns[weights > 0], weights[weights > 0]
    counted = (~np.isnan(columns)).sum(axis=0)
    n_groups = columns.shape[0]
    rule = Rule.of(f"{method} over problems", n_groups=n_groups, bounds=bounds, weighted=weights is not None)
    nowhere = np.full(counted.size, np.nan)
    limits = Limits(nowhere, nowhere, rule, method)
    limits.drop(given == 0, "no-problem").drop(counted == 0, "no-weight").drop(counted == 1, "one-problem")
    usable = counted > 1
    if usable.any():
        part = columns[:, usable]
        each = np.ones(n_groups) if weights is None else weights / weights.max()
        if method == "studentised":
            ends = _studentised(part, each, terms, rng)
        elif method == "t":
            ends = _t(part, each, terms)
        else:
            further = _further_ends(part, bounds, near=method != "gaffke")
            weight = 1.0 if weights is None else max(1.0, HEAVIER * float(each.mean()))
            ends = _exponential_limits(part, each, terms, rng, further, weight)
        limits.low[usable], limits.high[usable] = np.clip(ends, *bounds) if bounded else ends
        if not (method == "gaffke" or (method == "imagined" and bounded)):
            still = np.zeros(counted.size, dtype=bool)
            still[usable] = weighted_mean(part, each)[1] == 0
            limits.drop(still, "no-spread")
        if method == "studentised":
            limits.drop(counted == 2, "two-problems")
    return limits


def _further_ends(part: FloatArray, bounds: Bounds, *, near: bool) -> LowHigh:
    """The worst and the best score that a further problem may have in each column: the bounds, or near the others."""
    ends = [bounds] * part.shape[1]
    if near:
        ends = [imagined_ends(np.sort(column[~np.isnan(column)]), bounds) for column in part.T]
    below, above = np.array(ends, dtype=np.float64).T
    return below, above


def _exponential_limits(
    part: FloatArray, each: FloatArray, terms: Terms, rng: np.random.Generator, ends: LowHigh, weight: float
) -> LowHigh:
    """Limits from exponential weights with a further problem of this ``weight``, whose score lies at the ``ends``."""
    level, n_draws = 1 - terms.confidence, terms.n_resamples
    allow(n_draws, part.shape[1], 3)
    known = ~np.isnan(part)
    held = each[:, None] if known.all() else known * each[:, None]
    sums = np.where(known, part, 0.0) * held
    lower, upper = mean_draws(sums, held, rng, ends, further=weight, n_draws=n_draws)
    level = local_level(np.vstack([upper, -lower]), level, tails=1) if terms.simultaneous else level / 2
    return order_statistic(lower, level), order_statistic(upper, 1 - level)


def _pieces(n_draws: int, n_groups: int) -> Iterator[slice]:
    """Draws of every problem's weight, so many at a time that they fit the cache."""
    size = max(1, _PROBLEM_WEIGHTS_AT_ONCE // n_groups)
    return (slice(start, min(start + size, n_draws)) for start in range(0, n_draws, size))


def _t(part: FloatArray, each: FloatArray, terms: Terms) -> LowHigh:
    from scipy.special import stdtrit

    value, variance, _ = weighted_mean(part, each)
    # Bonferroni over the columns
    level = (1 - terms.confidence) / 2 / (part.shape[1] if terms.simultaneous else 1)
    reach = stdtrit((~np.isnan(part)).sum(axis=0) - 1, 1 - level) * np.sqrt(variance)
    return value - reach, value + reach


def _studentised(part: FloatArray, each: FloatArray, terms: Terms, rng: np.random.Generator) -> LowHigh:
    (n_groups, n_columns), n_resamples, level = part.shape, terms.n_resamples, 1 - terms.confidence
    allow(n_resamples, n_columns, 3)
    value, variance, _ = weighted_mean(part, each)
    error = np.sqrt(variance)
    known, column = ~np.isnan(part), each[:, None]
    # Deviations from the mean: their sums do not cancel.
    off = np.where(known, part - value, 0.0)
    once, twice = off * column, (off * column) * off * column
    t = np.empty((n_columns, n_resamples))
    for cut in _pieces(n_resamples, n_groups):
        drawn = counts(n_groups, cut.stop - cut.start, rng).astype(np.float64)
        mass = drawn @ (known * column)
        number = drawn @ known.astype(np.float64)
        safe = np.where(mass > 0, mass, 1.0)
        shift, squares = drawn @ once / safe, drawn @ twice
        least = 1e-14 * np.maximum(squares, 1e-300)
        squares = squares - 2 * shift * (drawn @ (once * column)) + shift**2 * (drawn @ (known * column**2))
        spread = np.sqrt(np.maximum(squares, 0) * number / np.maximum(number - 1, 1)) / safe
        spread[squares <= least] = 0.0
        t[:, cut] = studentise(shift.T, spread.T.copy(), np.zeros(n_columns))
    level = local_level(t, level) if terms.simultaneous else level / 2
    with np.errstate(invalid="ignore"):  # a column without spread has no limits: it is told apart later
        return value - order_statistic(t, 1 - level) * error, value - order_statistic(t, level) * error
