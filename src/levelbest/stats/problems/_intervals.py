"""Intervals for averages over problems, and for paired differences: the unit that varies is the problem.

Samples of one problem are not independent evidence about other problems, so every method here resamples whole problems.

gaffke       Gaffke's (2005) limits for the mean of bounded scores. The gaps between sorted uniforms are exchangeable,
             so that for a mean the limits are quantiles of sum_i E_i x_i / sum_i E_i, E exponential, with one problem
             more at the bound: the upper one for the upper limit, the lower one for the lower. For 0/1 scores they are
             Clopper-Pearson's. One weight per problem serves every budget, system and difference, so that the draws
             are joint, and simultaneous limits follow from them. The default where both bounds are known.
studentised  bootstrap of problems, each resample divided by its own standard error. The default without bounds.
t            mean plus or minus a t quantile times the standard error: by name only (it covers .30 in the worst cell).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from levelbest import _check
from levelbest._check import Bounds, FloatArray, IntArray, Seed
from levelbest.errors import DataError, InputError
from levelbest.stats.bands import Interval, allow, counts, local_level, order_statistic, studentise
from levelbest.stats.contrasts import Difference
from levelbest.stats.problems._groups import GroupBest, average_over_groups

__all__ = ["GROUP_METHODS", "group_difference", "group_differences", "group_interval", "mean_limits"]

GROUP_METHODS = ("default", "gaffke", "studentised", "t")
_CELLS = 1 << 20  # exponentials in one piece

ONE_GROUP = "one group cannot show how groups differ: a standard error from one cluster does not exist"
TWO_GROUPS = "two groups are too few to show how groups differ without bounds on the score"
NO_SPREAD = "every group has the same value, so the data cannot show how groups differ; bounds on the score would help"
NO_GROUP = "no group has so many samples"
NO_WEIGHT = "every group has weight 0"


@dataclass(frozen=True, eq=False)
class _Limits:
    low: FloatArray
    high: FloatArray
    method: str
    note: str
    why: list[str | None]


def group_interval(
    best: GroupBest,
    *,
    method: str | None = None,
    confidence: float = 0.95,
    simultaneous: bool = False,
    bounds: Bounds | None = None,
    n_resamples: int = 10_000,
    rng: Seed = None,
) -> Interval:
    """Limits for the average over the population of problems that the groups were drawn from.

    ``bounds`` are those of the reported score. ``n_trials`` of the result is the number of groups.
    """
    name = _check.as_choice("default" if method is None else method, GROUP_METHODS, "method")
    confidence = _check.as_confidence(confidence)
    known = best.by_group[~np.isnan(best.by_group)]
    ends = _check.as_bounds(bounds, known, "scores")
    found = mean_limits(
        best.by_group, best.weights, ends, method=name, confidence=confidence, simultaneous=simultaneous,
        n_resamples=_check.as_count(n_resamples, "n_resamples"), rng=_check.as_rng(rng),
    )  # fmt: skip
    return Interval(
        n=best.n,
        low=found.low,
        high=found.high,
        method=found.method,
        confidence=confidence,
        simultaneous=bool(simultaneous),
        n_trials=int(best.groups.size),
        direction=best.direction,
        reason=_reason(best.n, found.why),
        note=found.note,
        n_resamples=n_resamples,
    )


def group_difference(
    a: GroupBest,
    b: GroupBest,
    *,
    method: str | None = None,
    confidence: float = 0.95,
    simultaneous: bool = True,
    bounds: Bounds | None = None,
    n_resamples: int = 10_000,
    rng: Seed = 0,
) -> Difference:
    """The difference of two systems on the same problems, problem by problem, with a band over all the budgets."""
    return group_differences(
        [a, b], [(0, 1)], method=method, confidence=confidence, simultaneous=simultaneous, bounds=bounds,
        n_resamples=n_resamples, rng=rng,
    )[0]  # fmt: skip


def group_differences(
    systems: list[GroupBest],
    pairs: list[tuple[int, int]],
    *,
    method: str | None = None,
    confidence: float = 0.95,
    simultaneous: bool = True,
    bounds: Bounds | None = None,
    n_resamples: int = 10_000,
    rng: Seed = 0,
) -> list[Difference]:
    """Paired differences of several systems; the bands hold for all pairs and budgets at once.

    Positive where the first of a pair is better. A problem counts at n where both systems have n samples of it.
    """
    name = _check.as_choice("default" if method is None else method, GROUP_METHODS, "method")
    confidence = _check.as_confidence(confidence)
    first = systems[0]
    for one in systems[1:]:
        if not np.array_equal(one.n, first.n):
            raise InputError("systems must be compared at the same budgets n; compute them with one list of n")
        _same_groups(first, one)
    ends = _check.as_bounds(bounds)
    width = None if ends[0] is None or ends[1] is None else ends[1] - ends[0]
    sign = _check.sign_of(first.direction)
    columns = [sign * (systems[a].by_group - systems[b].by_group) for a, b in pairs]
    found = mean_limits(
        np.concatenate(columns, axis=1), first.weights, (None, None) if width is None else (-width, width), method=name,
        confidence=confidence, simultaneous=simultaneous, n_resamples=_check.as_count(n_resamples, "n_resamples"),
        rng=_check.as_rng(rng),
    )  # fmt: skip
    out = []
    for at, (column, (a, b)) in enumerate(zip(columns, pairs, strict=True)):
        here = slice(at * first.n.size, (at + 1) * first.n.size)
        value, _ = average_over_groups(column, first.weights)
        low, high = found.low[here], found.high[here]
        out.append(
            Difference(
                n=first.n,
                difference=value,
                low=low,
                high=high,
                certified=np.where(low > 0, 1, np.where(high < 0, -1, 0)).astype(np.int64),
                method=found.method,
                confidence=confidence,
                simultaneous=simultaneous,
                paired=True,
                n_trials=(int(systems[a].sizes.sum()), int(systems[b].sizes.sum())),
                statistic="mean",
                direction=first.direction,
                n_resamples=n_resamples,
                reason=_reason(first.n, found.why[here]),
            )
        )
    return out


def _same_groups(a: GroupBest, b: GroupBest) -> None:
    if np.array_equal(a.groups, b.groups):
        return
    alone = [sorted(set(map(str, one.groups)) - set(map(str, other.groups))) for one, other in ((a, b), (b, a))]
    parts = [
        f"{len(names)} only in the {which} ({', '.join(names[:5])}{', ...' * (len(names) > 5)})"
        for which, names in zip(("first", "second"), alone, strict=True)
        if names
    ]
    raise DataError(
        f"a paired comparison needs the same groups in both systems, and {' and '.join(parts)}; keep the common ones"
    )


def mean_limits(
    columns: FloatArray,
    weights: FloatArray | None,
    bounds: Bounds,
    *,
    method: str,
    confidence: float,
    simultaneous: bool,
    n_resamples: int,
    rng: np.random.Generator,
) -> _Limits:
    """Limits for the mean of each column over its rows (groups); NaN is a row that the column does not have."""
    known = ~np.isnan(columns)
    counts = known.sum(axis=0)
    weighty = counts if weights is None else (known & (weights > 0)[:, None]).sum(axis=0)
    bounded = None not in bounds
    name = ("gaffke" if bounded else "studentised") if method == "default" else method
    if name == "gaffke" and not bounded:
        raise InputError(
            f"method 'gaffke' needs both bounds of the score, got {bounds}; give bounds=(lowest, highest) or use "
            "method='studentised'"
        )
    why: list[str | None] = [
        NO_GROUP if count == 0 else NO_WEIGHT if held == 0 else ONE_GROUP if held == 1 else None
        for count, held in zip(counts, weighty, strict=True)
    ]
    usable = np.flatnonzero(weighty > 1)
    low, high = np.full(counts.size, np.nan), np.full(counts.size, np.nan)
    alpha = 1 - confidence
    if usable.size:
        part = columns[:, usable]
        each = np.ones(part.shape[0]) if weights is None else weights / weights.max()
        if name == "gaffke":
            lower, upper = _exponential_draws(part, each, bounds, n_resamples, rng)
            level = local_level(np.vstack([upper, -lower]), alpha, tails=1) if simultaneous else alpha / 2
            low[usable], high[usable] = order_statistic(lower, level), order_statistic(upper, 1 - level)
        else:
            value, error = _mean_and_error(part, each)
            level = alpha / 2
            if name == "t":
                from scipy.special import stdtrit

                if simultaneous:
                    level = alpha / (2 * usable.size)  # Bonferroni over the budgets
                reach = stdtrit(counts[usable] - 1, 1 - level) * error
                low[usable], high[usable] = value - reach, value + reach
            else:
                t = _bootstrap_t(part, each, value, n_resamples, rng)
                level = local_level(t, alpha) if simultaneous else level
                low[usable] = value - order_statistic(t, 1 - level) * error
                high[usable] = value - order_statistic(t, level) * error
            for i, still in zip(usable, error == 0, strict=True):
                few = name == "studentised" and counts[i] == 2
                if still or few:
                    low[i] = high[i] = np.nan
                    why[i] = NO_SPREAD if still else TWO_GROUPS
    if bounded:
        low, high = np.clip(low, *bounds), np.clip(high, *bounds)
    return _Limits(low, high, name, _note(name, columns.shape[0], bounds, weights is not None), why)


def _note(name: str, n_groups: int, bounds: Bounds, weighted: bool) -> str:
    words = {
        "gaffke": f"Gaffke-type limits for the mean over {n_groups} problems, scores within {_ends(bounds)}",
        "studentised": f"studentised bootstrap of {n_groups} problems",
        "t": f"t interval over {n_groups} problems: too narrow where few of them differ from the rest",
    }[name]
    return words + (", problems weighted" if weighted else "")


def _ends(bounds: Bounds) -> str:
    return " to ".join("none" if one is None else f"{one:g}" for one in bounds)


def _exponential_draws(
    columns: FloatArray, weights: FloatArray, bounds: Bounds, n_draws: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Draws whose quantiles are the lower and upper limits: (column, draw) each.

    The further problem at the bound weighs as much as the heaviest.
    """
    below, above = bounds
    assert below is not None
    assert above is not None
    n_groups, n_columns = columns.shape
    allow(n_draws, n_columns, 3)
    known = ~np.isnan(columns)
    scores = np.where(known, columns - below, 0.0) * weights[:, None]
    whole = bool(known.all())
    held = (weights[:, None] if whole else known * weights[:, None]).astype(np.float64)
    lower, upper = np.empty((n_columns, n_draws)), np.empty((n_columns, n_draws))
    piece = max(1, _CELLS // n_groups)
    for start in range(0, n_draws, piece):
        cut = slice(start, min(start + piece, n_draws))
        drawn = rng.standard_exponential((cut.stop - start, n_groups + 1))
        extra = drawn[:, -1:]
        total = drawn[:, :-1] @ scores
        mass = drawn[:, :-1] @ held + extra
        lower[:, cut] = (below + total / mass).T
        upper[:, cut] = (below + (total + extra * (above - below)) / mass).T
    return lower, upper


def _mean_and_error(columns: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The weighted mean of each column and its standard error over groups."""
    known = ~np.isnan(columns)
    held = known * weights[:, None]
    total = held.sum(axis=0)
    value = np.where(known, columns, 0.0).T @ weights / total
    deviations = np.where(known, columns - value, 0.0) * weights[:, None]
    counts = known.sum(axis=0)
    # rounding of equal values is not spread
    deviations[np.abs(deviations) < 1e-14 * np.maximum(np.abs(value), 1e-300)] = 0.0
    return value, np.sqrt((deviations**2).sum(axis=0) * counts / (counts - 1)) / total


def _bootstrap_t(
    columns: FloatArray, weights: FloatArray, value: FloatArray, n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """(column, resample): the resampled mean less the mean, in units of the resample's own standard error."""
    n_groups, n_columns = columns.shape
    allow(n_resamples, n_columns, 3)
    known = ~np.isnan(columns)
    # Deviations from the mean: their sums do not cancel.
    off = np.where(known, columns - value, 0.0)
    once, twice = off * weights[:, None], (off * weights[:, None]) * off * weights[:, None]
    crossed = once * weights[:, None]
    held = known * weights[:, None]
    squared = known * (weights**2)[:, None]
    out = np.empty((n_columns, n_resamples))
    piece = max(1, _CELLS // n_groups)
    for start in range(0, n_resamples, piece):
        cut = slice(start, min(start + piece, n_resamples))
        drawn = counts(n_groups, cut.stop - start, rng).astype(np.float64)
        mass = drawn @ held
        number = drawn @ known.astype(np.float64)
        safe = np.where(mass > 0, mass, 1.0)
        shift = drawn @ once / safe
        squares = drawn @ twice - 2 * shift * (drawn @ crossed) + shift**2 * (drawn @ squared)
        error = np.sqrt(np.maximum(squares, 0) * number / np.maximum(number - 1, 1)) / safe
        tiny = squares <= 1e-14 * np.maximum(drawn @ twice, 1e-300)
        error[tiny] = 0.0
        out[:, cut] = studentise(shift.T, error.T.copy(), np.zeros(n_columns))
    return out


def _reason(n: IntArray, why: list[str | None]) -> str | None:
    """One sentence per reason, with the budgets that it concerns unless it concerns all."""
    parts = []
    for reason in dict.fromkeys(text for text in why if text is not None):
        concerned = [int(k) for k, text in zip(n, why, strict=True) if text == reason]
        if len(concerned) == n.size:
            parts.append(f"no interval: {reason}")
        else:
            named = f"n = {concerned[0]}" + (f" to {concerned[-1]}" if len(concerned) > 1 else "")
            parts.append(f"no interval for {named}: {reason}")
    return "; ".join(parts) or None
