"""Families of repeated searches: best-so-far curves over searches, with intervals and verdicts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import FloatArray, IntArray
from levelbest.cautions import Caution
from levelbest.comparisons import sentences
from levelbest.comparisons.plan import Plan, cautions_of, scope_words
from levelbest.comparisons.results import NOT_COMPARABLE, Comparison, PairComparison, Verdict, crossings, verdict_ranges
from levelbest.curves import Curve
from levelbest.errors import InputError
from levelbest.stats.contrasts import best_so_far, search_differences, search_interval
from levelbest.trials import Trials

__all__ = ["compare_searches", "search_curves"]

_POINTS = 10  # budgets compared: they share the error rate
_ADAPTIVE = ("adaptive-sampler", "trend", "repeated-configurations")  # no longer a worry: the unit is the search


def _curves(trials: Trials, failed: str, missing: str) -> tuple[list[str], FloatArray, int]:
    """One family's searches: their names, their best-so-far curves (search, n) to the shortest end, and failures."""
    assert trials.search is not None
    scores = trials.scores(failed, missing=missing)
    sign = 1.0 if trials.metric.direction == "max" else -1.0
    when = np.arange(len(trials)) if trials.order is None else trials.order
    names, parts = [], []
    codes = trials.search[scores.rows]
    for code in np.unique(codes):
        mine = np.flatnonzero(codes == code)
        mine = mine[np.argsort(when[scores.rows][mine], kind="stable")]
        reported = None if scores.reported is None else sign * scores.reported[mine]
        parts.append(best_so_far(sign * scores.selection[mine], reported))
        names.append(trials.searches[int(code)])
    shortest = min(one.size for one in parts)
    return names, np.stack([one[:shortest] for one in parts]), scores.n_failed


def search_curves(
    trials: Trials,
    *,
    n: npt.ArrayLike | None = None,
    confidence: float = 0.95,
    failed: str = "worst",
    missing: str = "refuse",
) -> tuple[Curve, ...]:
    """One curve per family: the mean best-so-far score over its searches, with Student's interval for each budget."""
    found = []
    for family in trials.families:
        one = trials[family]
        names, curves, n_failed = _curves(one, failed, missing)
        sign = 1.0 if one.metric.direction == "max" else -1.0
        budgets = np.arange(1, curves.shape[1] + 1)
        if n is not None:
            asked = np.unique(_check.as_budgets(n)[0])
            budgets = asked[asked <= curves.shape[1]]
            if not budgets.size:
                raise InputError(
                    f"n must be at most the length of {family}'s shortest search, {curves.shape[1]}, got {asked[0]}"
                )
        mean, low, high = search_interval(curves[:, budgets - 1], _check.as_confidence(confidence))
        if sign < 0:
            low, high = high, low
        k = len(names)
        note = f"Student's t over {k} searches, each to its {curves.shape[1]}th trial"
        cautions = [c for c in one.cautions if c.code not in _ADAPTIVE]
        if k < 2:
            note = "one search allows no interval: repeat the whole search with other seeds, at least 3 times"
            cautions.append(Caution("adaptive-sampler", note, family, 1.0))
        found.append(
            Curve(
                family=family,
                n=budgets,
                value=sign * mean,
                low=sign * low,
                high=sign * high,
                spread=curves[:, budgets - 1].std(axis=0, ddof=1) if k > 1 else np.full(budgets.size, np.nan),
                cost=None,
                statistic="mean",
                estimator="best so far",
                direction=one.metric.direction,
                selection=one.metric.selection,
                reported=one.metric.reported if missing != "selection" else None,
                cost_unit=one.metric.cost_unit,
                method="t",
                confidence=confidence,
                simultaneous=False,
                note=note,
                n_trials=one.n_trials,
                n_failed=n_failed,
                n_running=one.n_running,
                failed=failed,
                horizon=None,
                seed=None,
                cautions=tuple(cautions),
            )
        )
    return tuple(found)


def compare_searches(
    table: Trials,
    plan: Plan,
    *,
    baseline: str | None,
    n: npt.ArrayLike | None,
    confidence: float,
    failed: str,
    missing: str,
    rng: int | None,
) -> Comparison:
    """Verdicts between families of repeated searches."""
    every = [_curves(one, failed, missing) for one in plan.tables]
    shortest = min(curves.shape[1] for _, curves, _ in every)
    budgets = _budgets(n, shortest)
    curves = [one[:, budgets - 1] for _, one, _ in every]
    found = search_differences(curves, plan.pairs, budgets, confidence=confidence, direction=table.metric.direction)
    scores = [one.scores(failed, missing=missing) for one in plan.tables]
    pairs = []
    for (a, b), one in zip(plan.pairs, found, strict=True):
        names = plan.names[a], plan.names[b]
        comparable = np.isfinite(one.low) & np.isfinite(one.high)
        verdicts = list(verdict_ranges(budgets, one.certified, comparable, names, one.reason or ""))
        longest = max(every[a][1].shape[1], every[b][1].shape[1])
        if verdicts[-1].verdict != NOT_COMPARABLE and verdicts[-1].end == shortest < longest:
            why = f"some search ends after {shortest} trials"
            verdicts.append(Verdict(verdicts[-1].end + 1, float(longest), NOT_COMPARABLE, why))
        trials = [
            f"{plan.names[i]}: {len(every[i][0])} search{'es' * (len(every[i][0]) != 1)} of {every[i][1].shape[1]} "
            f"trials{f', {every[i][2]} failed' if every[i][2] else ''}"
            for i in (a, b)
        ]
        words = sentences.pair_sentence(
            names,
            verdicts,
            axis="trials",
            unit=None,
            confidence=confidence,
            scope=f"{scope_words(len(plan.pairs))}, for the best so far of a whole search",
            trials=(trials[0], trials[1]),
        )
        pairs.append(
            PairComparison(
                families=names,
                budget=budgets,
                difference=one.difference,
                low=one.low,
                high=one.high,
                verdicts=tuple(verdicts),
                sentence=words,
                method=one.method,
                paired=False,
                n_trials=(scores[a].n_trials, scores[b].n_trials),
                n_failed=(every[a][2], every[b][2]),
                crossings=crossings(budgets, one.difference, one.certified),
            )
        )
    cautions = [c for c in cautions_of(table, plan, scores, failed) if c.code not in _ADAPTIVE]
    for name, (searches, _, _) in zip(plan.names, every, strict=True):
        if len(searches) < 3:
            message = f"{len(searches)} search{'es' * (len(searches) != 1)}: repeat the whole search with other seeds"
            cautions.append(Caution("adaptive-sampler", message, name, float(len(searches))))
    n_limits = budgets.size * len(plan.pairs)
    return Comparison(
        pairs=tuple(pairs),
        families=plan.names,
        baseline=baseline,
        axis="trials",
        unit=None,
        statistic="mean best so far",
        direction=table.metric.direction,
        confidence=confidence,
        adjustment=f"Welch's t over searches, Bonferroni over {n_limits} budgets and pairs",
        failed=failed,
        seed=rng,
        n_resamples=0,
        cautions=tuple(dict.fromkeys(cautions)),
    )


def _budgets(n: npt.ArrayLike | None, shortest: int) -> IntArray:
    if n is None:
        return np.unique(np.geomspace(1, shortest, min(_POINTS, shortest)).round().astype(np.int64))
    asked = np.unique(_check.as_budgets(n)[0])
    inside = asked[asked <= shortest]
    if not inside.size:
        raise InputError(f"n must be at most the length of the shortest search, {shortest}, got {asked[0]}")
    return inside
