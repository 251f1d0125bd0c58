"""Compare families: bands for the differences of their curves, and the verdicts that follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import IntArray
from levelbest.cautions import Caution
from levelbest.comparisons import sentences
from levelbest.comparisons.pairing import find_pairing
from levelbest.comparisons.plan import (
    Plan,
    budget_grid,
    cautions_of,
    family_scores,
    make_plan,
    scope_words,
    trial_words,
)
from levelbest.comparisons.results import (
    NOT_COMPARABLE,
    Comparison,
    PairComparison,
    Verdict,
    crossings,
    verdict_ranges,
)
from levelbest.errors import DataError, InputError
from levelbest.stats.contrasts import Difference, Sample, reach_words, turn, widest
from levelbest.stats.contrasts import _differences as contrast
from levelbest.stats.contrasts import _rivals as rivals
from levelbest.trials import Scores, Trials, one_table

__all__ = ["compare"]

_SHOWN = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000, 2000, 5000, 10_000)


def compare(
    trials: Trials | Sequence[Trials],
    *,
    baseline: str | None = None,
    n: npt.ArrayLike | None = None,
    statistic: str | float = "mean",
    confidence: float = 0.95,
    failed: str = "worst",
    missing: str = "refuse",
    axis: str = "trials",
    budget: npt.ArrayLike | None = None,
    workers: int = 1,
    paired: bool | None = None,
    p_values: bool = False,
    while_running: bool = False,
    n_resamples: int = 5_000,
    rng: int | None = 0,
    _survival: bool = True,
) -> Comparison:
    """Who is better at which budget: every family against the ``baseline``, or all against all.

    ``paired`` None pairs trials where every one has a partner with the same configuration and seed (or problem) in
    every family, and says so; True insists, False does not. ``axis="cost"`` compares at budgets of cost (``budget``,
    with ``workers`` at once) instead of numbers of trials ``n``. ``while_running`` uses limits that hold at every look
    at a search that still runs. The verdicts are for all pairs and budgets together, at the stated confidence. Where
    the trials belong to repeated searches (``Trials.search``), the unit is the whole search.
    """
    table = one_table(trials)
    _check.as_choice(axis, ("trials", "cost"), "axis")
    _check.as_choice(failed, ("worst", "drop"), "failure policy")
    confidence = _check.as_confidence(confidence)
    plan = make_plan(table, baseline)
    if table.group is not None and (axis == "cost" or while_running):
        what = "the axis is 'trials'" if axis == "cost" else "there are no limits that hold while samples arrive"
        raise InputError(
            f"over problems (--group) {what}; leave out {'--axis' if axis == 'cost' else '--while-running'}"
        )
    if table.search is not None:
        from levelbest.comparisons.searches import compare_searches

        if axis == "cost" or while_running or statistic != "mean":
            raise InputError(
                "repeated searches are compared by the mean best so far over trials, without other options"
            )
        return compare_searches(
            table, plan, baseline=baseline, n=n, confidence=confidence, failed=failed, missing=missing, rng=rng
        )
    if axis == "cost":
        from levelbest.comparisons.costs import compare_costs

        return compare_costs(
            table, plan, baseline=baseline, budget=budget, statistic=statistic, confidence=confidence, failed=failed,
            missing=missing, workers=workers, n_resamples=n_resamples, rng=rng,
        )  # fmt: skip
    if table.group is not None:
        from levelbest.comparisons.groups import compare_groups

        return compare_groups(
            table, plan, baseline=baseline, n=n, statistic=statistic, confidence=confidence, failed=failed,
            missing=missing, paired=paired, n_resamples=n_resamples, rng=rng, survival=_survival,
        )  # fmt: skip
    pairing = None if paired is False or while_running else find_pairing(plan.tables, required=paired is True)
    scores = family_scores(plan, failed, missing, pairing)
    samples = [Sample(one.selection, one.reported) for one in scores]
    budgets = budget_grid(n, [s.n_trials for s in samples], plan.pairs)
    direction = table.metric.direction
    cautions = cautions_of(table, plan, scores, failed, while_running)
    draws = None
    if while_running:
        from levelbest.comparisons.running import running_differences

        found = running_differences(table, plan, budgets, statistic, confidence, failed, missing)
    elif contrast.as_quantile(statistic) is None:
        turned = turn(samples, direction)
        draws = contrast.draw(turned, plan.pairs, budgets, paired=pairing is not None, n_resamples=n_resamples, rng=rng)
        found = contrast.mean_differences(
            draws, turned, confidence=confidence, direction=direction, step_down=len(plan.pairs) > 1
        )
    else:
        found = contrast.difference_bands(
            samples, plan.pairs, budgets, statistic=statistic, paired=pairing is not None, confidence=confidence,
            direction=direction, n_resamples=n_resamples, rng=rng,
        )  # fmt: skip
    if pairing is not None:
        message = f"compared pair by pair: every trial has a partner with the same {pairing.by} in every family"
        cautions = [c for c in cautions if c.code != "paired-design"]
        cautions.append(Caution("paired-design", message, value=float(scores[0].n_trials)))
    other = None
    if _survival and not while_running:
        other = _other_policy(
            table, scores, baseline=baseline, n=n, statistic=statistic, confidence=confidence, failed=failed,
            missing=missing, paired=paired, n_resamples=n_resamples, rng=rng,
        )  # fmt: skip
    pairs = []
    for at, difference in enumerate(found):
        a, b = plan.pairs[at]
        one = _pair(plan, scores, difference, at)
        shown = _shown(budgets, min(samples[a].n_trials, samples[b].n_trials))
        chance = rivals.chance_better(samples[a], samples[b], shown, direction=direction) if shown.size else shown
        one = replace(one, chance=tuple(zip(map(float, shown), map(float, chance), strict=True)))
        if draws is not None:
            one = replace(one, relative=_relative(draws, at, shown, confidence))
        if p_values and not while_running:
            p = rivals.permutation_p(
                samples[a], samples[b], budgets, paired=pairing is not None, direction=direction,
                n_permutations=n_resamples, rng=rng,
            )  # fmt: skip
            one = replace(one, p_value=None if np.isnan(p) else p)
        pairs.append(_with_words(one, table, scores, plan, at, other, confidence, failed))
    return Comparison(
        pairs=tuple(pairs),
        families=plan.names,
        baseline=baseline,
        axis="trials",
        unit=None,
        statistic=found[0].statistic,
        direction=direction,
        confidence=confidence,
        adjustment=_adjustment(found[0], len(plan.pairs)),
        failed=failed,
        seed=rng,
        n_resamples=n_resamples,
        while_running=while_running,
        cautions=tuple(dict.fromkeys(cautions)),
    )


def _pair(plan: Plan, scores: Sequence[Scores], found: Difference, at: int) -> PairComparison:
    a, b = plan.pairs[at]
    names = plan.names[a], plan.names[b]
    comparable = ~(np.isnan(found.low) | np.isnan(found.high)) & ~(np.isinf(found.low) & np.isinf(found.high))
    verdicts = list(verdict_ranges(found.n, found.certified, comparable, names, found.reason or ""))
    most = float(max(found.n_trials))
    limit = widest(*found.n_trials)
    if found.method == "studentised":
        for i, (one, after) in enumerate(pairwise(verdicts)):
            if one.verdict != NOT_COMPARABLE == after.verdict and one.start <= limit < one.end:
                # between the last budget compared and the next one asked for
                verdicts[i], verdicts[i + 1] = replace(one, end=float(limit)), replace(after, start=limit + 1.0)
    last = verdicts[-1]
    if last.verdict == NOT_COMPARABLE:
        verdicts[-1] = replace(last, end=max(most, last.end))
    elif found.method == "studentised" and last.end == limit < most:
        verdicts.append(Verdict(last.end + 1, most, NOT_COMPARABLE, reach_words(*found.n_trials)))
    return PairComparison(
        families=names,
        budget=found.n,
        difference=found.difference,
        low=found.low,
        high=found.high,
        verdicts=tuple(verdicts),
        sentence="",
        method=found.method,
        paired=found.paired,
        n_trials=found.n_trials,
        n_failed=(scores[a].n_failed, scores[b].n_failed),
        crossings=crossings(found.n, found.difference, found.certified),
    )


def _with_words(
    one: PairComparison,
    table: Trials,
    scores: Sequence[Scores],
    plan: Plan,
    at: int,
    other: dict[tuple[str, str], tuple[Verdict, ...]] | None,
    confidence: float,
    failed: str,
) -> PairComparison:
    """The same with its sentences, the claim at unequal budgets, and whether it survives the other policy."""
    metric = table.metric
    sign = 1.0 if metric.direction == "max" else -1.0
    a, b = plan.pairs[at]
    best = tuple(float(sign * (sign * scores[i].selection).max()) for i in (a, b))
    claim = sentences.claim_sentence(one.families, (best[0], best[1]), one.n_trials, metric.selection, metric.direction)
    survives = None
    extra = [] if claim is None else [claim]
    if other is not None:
        survives = sentences.same_verdicts(one.verdicts, other[one.families])
        how = "dropped" if failed == "worst" else "counted as the worst score"
        extra.append(
            f"The verdict is the same with failed trials {how}."
            if survives
            else f"The verdict changes with failed trials {how}."
        )
    words = sentences.pair_sentence(
        one.families,
        one.verdicts,
        axis="trials",
        unit=None,
        confidence=confidence,
        scope=scope_words(len(plan.pairs)),
        trials=trial_words(plan, scores, at, failed),
        extra=extra,
    )
    return replace(one, sentence=words, claim=claim, survives=survives)


def _adjustment(found: Difference, n_pairs: int) -> str:
    if found.method.startswith("exact") or found.method.startswith("anytime"):
        return "each family's exact band at an adjusted level"
    if found.method == "percentile":
        return "simultaneous over budgets" + (f", Bonferroni over {n_pairs} pairs" if n_pairs > 1 else "")
    return "max |t| over budgets" if n_pairs == 1 else f"step-down max |t| jointly over {n_pairs} pairs and budgets"


def _relative(draws: Any, at: int, shown: IntArray, confidence: float) -> tuple[tuple[float, float, float, float], ...]:
    value, low, high = rivals.relative_improvement(draws, at, confidence)
    places = np.flatnonzero(np.isin(draws.n, shown) & np.isfinite(value))
    return tuple((float(draws.n[i]), float(value[i]), float(low[i]), float(high[i])) for i in places)


def _shown(budgets: IntArray, n_trials: int) -> IntArray:
    """The budgets of the side tables: round ones, and all where they are few."""
    inside = budgets[budgets <= n_trials]
    return inside if inside.size <= 12 else inside[np.isin(inside, _SHOWN) | (inside == inside[-1])]


def _other_policy(
    table: Trials, scores: Sequence[Scores], **options: Any
) -> dict[tuple[str, str], tuple[Verdict, ...]] | None:
    """The verdicts under the other failure policy; None where nothing failed or the other policy leaves nothing."""
    if not any(one.n_failed for one in scores):
        return None
    options["failed"] = "drop" if options["failed"] == "worst" else "worst"
    try:
        other = compare(table, **options, _survival=False)
    except (DataError, InputError):
        return None
    return {one.families: one.verdicts for one in other.pairs}
