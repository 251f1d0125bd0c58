"""Curves: the expected or quantile best score against the budget, as a result with provenance."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import FloatArray, IntArray
from levelbest.cautions import Caution
from levelbest.errors import InputError
from levelbest.group_curves import group_curve, spread_of_groups, stratum_curves
from levelbest.large import LargeFamily, best_by_group_large
from levelbest.results import Curve, Stratum
from levelbest.stats.bands import LARGE, Interval
from levelbest.stats.bands import _interval as intervals
from levelbest.stats.best import _laws as laws
from levelbest.stats.best import _order as order
from levelbest.stats.problems import GroupBest, group_interval
from levelbest.trials import Metric, Scores, Trials

__all__ = [
    "Curve",
    "as_statistic",
    "budget_grid",
    "curve",
    "curves_of_families",
    "family_curves",
    "large_curves",
    "problem_curve",
]

WHOLE = 300
"""Up to this many trials a curve has a point at every budget; beyond, at log-spaced ones."""
POINTS = 150
_SAID_HERE = ("failures", "still-running", "no-reported")  # a curve says these itself, with the policy it used


def as_statistic(statistic: str | float) -> tuple[str, float | None]:
    """``mean``, ``median`` or a quantile between 0 and 1: its name, and the quantile where it is one."""
    if statistic == "mean":
        return "mean", None
    if statistic == "all":
        raise InputError("statistic 'all' (all of n succeed, pass^k) is of samples of problems; name them with --group")
    if statistic == "median":
        return "median", 0.5
    try:
        q = float(statistic)
    except (TypeError, ValueError):
        raise InputError(f"statistic must be mean, median or a quantile such as 0.9, got {statistic!r}") from None
    q = _check.as_quantile(q)
    return ("median" if q == 0.5 else f"{q:g}"), q


def budget_grid(n_trials: int, *, whole: int = WHOLE, points: int | None = None) -> IntArray:
    """Every budget up to ``n_trials`` where they are few, log-spaced ones where they are many."""
    if n_trials >= LARGE and points is None:  # the same budgets for every family, twelve to a power of ten
        steps = np.arange(int(12 * np.log10(n_trials)) + 1)
        return np.unique(np.append(np.rint(10 ** (steps / 12)), n_trials).astype(np.int64))
    points = points or POINTS
    if n_trials <= whole:
        return np.arange(1, n_trials + 1, dtype=np.int64)
    return np.unique(np.geomspace(1, n_trials, points).round().astype(np.int64))


def curve(
    trials: Trials,
    *,
    n: npt.ArrayLike | None = None,
    statistic: str | float = "mean",
    estimator: str = "u",
    interval: str = "default",
    confidence: float = 0.95,
    simultaneous: bool = False,
    failed: str = "worst",
    missing: str = "refuse",
    n_resamples: int = 2000,
    rng: int | None = 0,
) -> Curve:
    """The curve of one family: the reported score of the best of n by selection score, with an interval.

    ``rng`` is the random seed and part of the result. Budgets above the number of trials are left out and said.
    Where trials belong to problems (``group``), the best of n samples of each problem is averaged over problems, and
    intervals are over problems.
    """
    if trials.group is not None and len(trials.families) == 1:
        return _over_problems(
            trials, n=n, statistic="all" if statistic == "all" else as_statistic(statistic)[0], estimator=estimator,
            interval=interval, confidence=confidence, simultaneous=simultaneous, failed=failed, missing=missing,
            n_resamples=n_resamples, rng=rng,
        )  # fmt: skip
    scores = _ranked_if_many(trials.scores(failed, missing=missing))
    name, q = as_statistic(statistic)
    _check.as_choice(estimator, ("u", "v", "naive", "gaussian"), "estimator")
    if q is not None and estimator != "u":
        raise InputError(f"a quantile curve has one estimator, 'u', got {estimator!r}; use statistic='mean' for others")
    cautions = [caution for caution in trials.cautions if caution.code not in _SAID_HERE]
    budgets = budget_grid(scores.n_trials) if n is None else np.unique(_check.as_budgets(n)[0])
    if estimator != "gaussian":
        budgets = _within_the_data(budgets, scores, trials.families[0], cautions)
    value, spread = _estimate(scores, budgets, q, estimator, trials.metric.direction)
    options: dict[str, Any] = {"confidence": confidence, "simultaneous": simultaneous, "n_resamples": n_resamples}
    options |= {"rng": rng, "estimator": estimator}
    limits = _limits(trials, scores, budgets, q, interval, options)
    _describe(trials, scores, limits, cautions)
    return Curve(
        family=trials.families[0],
        n=budgets,
        value=value,
        low=np.asarray(limits.low),
        high=np.asarray(limits.high),
        spread=spread,
        cost=None if scores.cost is None else np.float64(_mean_cost(scores.cost)) * budgets,
        statistic=name,
        estimator=estimator,
        direction=trials.metric.direction,
        selection=trials.metric.selection,
        reported=trials.metric.reported if scores.reported is not None else None,
        cost_unit=trials.metric.cost_unit,
        method=limits.method,
        confidence=confidence,
        simultaneous=limits.simultaneous,
        note=limits.note or "",
        n_trials=scores.n_trials,
        n_failed=scores.n_failed,
        n_running=scores.n_running,
        failed=failed,
        horizon=limits.horizon,
        seed=rng,
        cautions=tuple(cautions),
    )


def _over_problems(trials: Trials, **options: Any) -> Curve:
    found = group_curve(trials, **options)
    scores = found.scores
    said = {caution.code for caution in found.cautions}
    cautions = [c for c in trials.cautions if c.code not in _SAID_HERE and c.code not in said]
    cautions += found.cautions
    _describe(trials, scores, found.limits, cautions, "samples")
    if options["statistic"] == "all":  # nothing picks among the samples
        cautions = [caution for caution in cautions if caution.code != "no-reported"]
    return problem_curve(
        found.best,
        found.limits,
        replace(found.metric, reported=found.metric.reported if scores.reported is not None else None),
        family=trials.families[0],
        cost=None if scores.cost is None else _mean_cost(scores.cost),
        counts=(scores.n_trials, scores.n_failed, scores.n_running),
        failed=options["failed"],
        seed=options["rng"],
        cautions=cautions,
        statistic=options["statistic"],
        strata=found.strata,
    )


def problem_curve(
    best: GroupBest,
    limits: Interval,
    metric: Metric,
    *,
    family: str,
    counts: tuple[int, int, int],
    failed: str,
    seed: int | None,
    cautions: Iterable[Caution],
    cost: float | None = None,
    statistic: str = "mean",
    strata: tuple[Stratum, ...] = (),
) -> Curve:
    """A curve over problems from its parts; ``counts`` are the samples, the failed and the running ones."""
    return Curve(
        family=family,
        n=best.n,
        value=best.value,
        low=np.asarray(limits.low),
        high=np.asarray(limits.high),
        spread=spread_of_groups(best),
        cost=None if cost is None else np.asarray(cost * best.n, dtype=np.float64),
        statistic=statistic,
        estimator="u",
        direction=metric.direction,
        selection=metric.selection,
        reported=metric.reported,
        cost_unit=metric.cost_unit,
        method=limits.method,
        confidence=limits.confidence,
        simultaneous=limits.simultaneous,
        note=limits.note,
        n_trials=counts[0],
        n_failed=counts[1],
        n_running=counts[2],
        failed=failed,
        horizon=None,
        seed=seed,
        cautions=tuple(cautions),
        problems=best,
        strata=strata,
    )


def family_curves(trials: Trials, **options: Any) -> tuple[Curve, ...]:
    """One curve for each family; the options are those of ``curve``."""
    return tuple(curve(trials[name], **options) for name in trials.families)


def large_curves(source: Any, *, statistic: str = "mean", rng: int | None = 0, **options: Any) -> tuple[Curve, ...]:
    """Curves over problems from Parquet files too large to hold.

    ``options`` are ``interval``, ``confidence``, ``simultaneous`` and ``n_resamples`` as of `curve`, and those of
    `levelbest.large.best_by_group_large`.
    """
    own = ("interval", "confidence", "simultaneous", "n_resamples")
    reading = {key: value for key, value in options.items() if key not in own}
    found = best_by_group_large(source, statistic=statistic, **reading)
    limits = {key: options[key] for key in own if key in options}
    return curves_of_families(found, statistic=statistic, rng=rng, **limits)


def curves_of_families(
    families: Iterable[LargeFamily],
    *,
    statistic: str = "mean",
    interval: str = "default",
    confidence: float = 0.95,
    simultaneous: bool = False,
    n_resamples: int = 2000,
    rng: int | None = 0,
) -> tuple[Curve, ...]:
    """The curves of families whose values by problem are known."""
    found = []
    for one in families:
        options: dict[str, Any] = {
            "method": interval, "confidence": confidence, "simultaneous": simultaneous, "bounds": one.metric.bounds,
            "n_resamples": n_resamples, "rng": rng,
        }  # fmt: skip
        limits = group_interval(one.best, **options)
        cautions = list(one.cautions)
        if one.n_failed:
            how = "counted as the worst score" if one.failed == "worst" else "dropped, which flatters the family"
            of = one.n_samples + (one.n_failed if one.failed == "drop" else 0)
            message = f"{one.n_failed} of {of} samples failed and are {how}"
            cautions.append(Caution("failures", message, one.family, one.n_failed))
        if limits.reason:
            cautions.append(Caution("beyond-horizon", limits.reason, one.family))
        found.append(
            problem_curve(
                one.best, limits, one.metric, family=one.family, counts=(one.n_samples, one.n_failed, 0),
                failed=one.failed, seed=rng, cautions=cautions, statistic=statistic,
                strata=stratum_curves(one.best, **options),
            )
        )  # fmt: skip
    return tuple(found)


def _ranked_if_many(scores: Scores) -> Scores:
    """Very many trials are sorted once here: what follows sorts them again, and sorted data are sorted in no time."""
    if scores.n_trials < LARGE:
        return scores
    by = np.argsort(scores.selection)
    reported, cost = (None if one is None else one[by] for one in (scores.reported, scores.cost))
    return replace(scores, selection=scores.selection[by], reported=reported, cost=cost, rows=scores.rows[by])


def _within_the_data(budgets: IntArray, scores: Scores, family: str, cautions: list[Caution]) -> IntArray:
    inside = budgets[budgets <= scores.n_trials]
    if inside.size == budgets.size:
        return budgets
    message = f"budgets above the {scores.n_trials} trials observed are left out: the curve ends where the data end"
    if not inside.size:
        _check.as_budgets(budgets, scores.n_trials)
    cautions.append(Caution("beyond-trials", message, family=family, value=float(budgets.max())))
    return inside


def _mean_cost(cost: FloatArray) -> float:
    """Over the trials whose cost is known; undefined where none is."""
    known = cost[np.isfinite(cost)]
    return float(known.mean()) if known.size else float("nan")


def _limits(
    trials: Trials, scores: Scores, budgets: IntArray, q: float | None, interval: str, options: dict[str, Any]
) -> Interval:
    if scores.n_trials < 2:
        nowhere = np.full(budgets.size, np.nan)
        return Interval(
            n=budgets, low=nowhere, high=nowhere, method="none", confidence=_check.as_confidence(options["confidence"]),
            simultaneous=options["simultaneous"], n_trials=scores.n_trials,
            reason="one trial tells nothing of the spread",
        )  # fmt: skip
    return intervals.best_interval(
        scores.selection,
        budgets,
        scores.reported,
        statistic="mean" if q is None else q,
        method=None if interval == "default" else interval,
        direction=trials.metric.direction,
        bounds=trials.metric.bounds,
        **options,
    )


def _estimate(
    scores: Scores, budgets: IntArray, q: float | None, estimator: str, direction: str
) -> tuple[FloatArray, FloatArray]:
    if q is not None:
        value = order.quantile_best(scores.selection, budgets, q, scores.reported, direction=direction)
        estimator = "u"
    elif estimator == "gaussian":
        value = laws.gaussian_best(scores.selection, budgets, scores.reported, direction=direction)
        return np.asarray(value), np.full(budgets.size, np.nan)
    elif estimator != "naive":
        return order.mean_and_spread(
            scores.selection, budgets, scores.reported, estimator=estimator, direction=direction
        )
    else:
        value = order.expected_best(
            scores.selection, budgets, scores.reported, estimator=estimator, direction=direction
        )
    spread = order.spread_of_best(scores.selection, budgets, scores.reported, estimator=estimator, direction=direction)
    return np.asarray(value), np.asarray(spread)


def _describe(trials: Trials, scores: Scores, limits: Any, cautions: list[Caution], units: str = "trials") -> None:
    family = trials.families[0]
    if scores.n_failed:
        how = "counted as the worst score" if scores.failed == "worst" else "dropped, which flatters the family"
        of = scores.n_trials if scores.failed == "worst" else scores.n_trials + scores.n_failed
        cautions.append(
            Caution("failures", f"{scores.n_failed} of {of} {units} failed and are {how}", family, scores.n_failed)
        )
    if scores.n_running:
        message = f"{scores.n_running} {units} are still running and are left out; intervals are for a finished sample"
        cautions.append(Caution("still-running", message, family, scores.n_running))
    if scores.reported is None:
        message = f"validation only: {trials.metric.selection} both selects the winner and is what is reported"
        if units == "samples":
            message = (
                f"{trials.metric.selection} picks the best of n and is what is reported: what an oracle reaches "
                "(pass@k for 0/1 scores); a verifier's score as --selection tells what can be reached without one"
            )
        cautions.append(Caution("no-reported", message, family))
    if limits.reason:
        cautions.append(Caution("beyond-horizon", limits.reason, family, limits.horizon))
