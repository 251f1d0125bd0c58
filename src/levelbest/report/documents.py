"""Results as JSON documents: their numbers, and the sentences that people read beside them."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from levelbest._plain import picked, plain, rows_of
from levelbest.cautions import Caution, documents_of
from levelbest.report.words.answers import comparison_summary
from levelbest.report.words.cautions import caution_sentence
from levelbest.report.words.claims import claim_sentences, claim_steps
from levelbest.report.words.curves import cost_rule, reach_sentence, rule_words
from levelbest.report.words.plans import plan_sentences
from levelbest.report.words.tasks import normalised_words
from levelbest.report.words.verdicts import (
    adjustment_words,
    claim_sentence,
    pair_sentence,
    reason_words,
)
from levelbest.results import (
    BestFound,
    Claim,
    Comparison,
    CostCurveSet,
    Crossing,
    Curve,
    CurveSet,
    DividedRuns,
    Effect,
    FamilyCostCurve,
    FamilyVariance,
    Noise,
    OverTasks,
    PairComparison,
    Reach,
    Reaches,
    SpendPerSolved,
    Standing,
    Stratum,
    TaskComparison,
    TrialPlan,
    Variances,
    Verdict,
)
from levelbest.results.plan import Range
from levelbest.stats.budgets import Needed


@singledispatch
def document(result: object) -> dict[str, object]:
    """Plain values for JSON; a limit or value that does not exist is None."""
    raise TypeError(f"{type(result).__name__} has no JSON form")


@document.register
def _(result: Caution) -> dict[str, object]:
    return picked(result, "code", "family", "value") | {"message": caution_sentence(result)}


@document.register
def _(result: Verdict) -> dict[str, object]:
    row: dict[str, object] = {"from": result.start, "to": result.end, "verdict": result.verdict}
    if result.reason:
        row["reason"] = reason_words(result.reason)
    return row | ({"negligible": True} if result.negligible else {})


@document.register
def _(result: Crossing) -> dict[str, object]:
    return {"n": result.budget, "low": result.low, "high": result.high}


@document.register
def _(result: Effect) -> dict[str, object]:
    numbers = picked(result, "difference", "low", "high", "p_value", "winner", "negligible")
    return plain({"n": result.budget} | numbers | {"tested_alone": result.named})


@document.register
def _(result: Standing) -> dict[str, object]:
    counts = picked(result, "family", "n_trials", "n_failed", "n_running")
    place = picked(result, "value", "low", "high", "better_than", "worse_than")
    return plain(counts | {"n": result.budget} | place)


@document.register
def _(result: BestFound) -> dict[str, object]:
    return plain(picked(result, "family", "n_trials", "value") | {"configuration": dict(result.configuration)})


@document.register
def _(result: SpendPerSolved) -> dict[str, object]:
    return plain(picked(result, "family", "n", "value", "low", "high", "spend", "solved"))


@document.register
def _(result: PairComparison) -> dict[str, object]:
    scaled = [] if result.scaled is None else rows_of(n=result.budget, difference=result.scaled)
    return plain(
        {
            "families": result.families,
            "points": rows_of(n=result.budget, difference=result.difference, low=result.low, high=result.high),
            "verdicts": [document(verdict) | {"unseen": result.unseen} for verdict in result.verdicts],
            "unseen": result.unseen,
            "p_values": result.p_value,
            "effect": document(result.effect) | {"fixed_in_advance": result.effect.named and result.terms.registered},
            "further_trials": result.further,
            "basis": result.basis,
            "sentence": pair_sentence(result),
            **picked(result, "method", "paired", "n_trials", "n_failed", "n_searches"),
            "crossings": [document(crossing) for crossing in result.crossings],
            "relative": [dict(zip(("n", "value", "low", "high"), row, strict=True)) for row in result.relative],
            "chance_better": [dict(zip(("n", "value"), row, strict=True)) for row in result.chance],
            "mean_cost_scaling": scaled,
            "p_value": result.equal_p,
            "unequal_budgets": claim_sentence(result),
            "survives_other_failure_policy": result.survives,
            "reasons": result.reasons,
        }
    )


@document.register
def _(result: Comparison) -> dict[str, object]:
    terms, settings = result.terms, result.terms.settings
    shown: dict[str, object] = {
        "comparisons": [document(pair) for pair in result.pairs],
        "summary": list(comparison_summary(result)),
        "families": [document(standing) for standing in result.standings],
        "possible_best": list(result.possible_best),
        "baseline": result.baseline,
        "design": terms.design,
        "about": terms.words.about or None,
        "n_groups": terms.n_groups,
        "n_clusters": terms.n_clusters,
        "n_tasks": terms.n_tasks,
        "noise": [document(noise) for noise in result.noises],
        "axis": terms.axis,
        "unit": terms.cost_unit,
        "counted": terms.unit,
        "statistic": terms.statistic,
        "direction": terms.metric.direction,
        "confidence": terms.confidence,
        "simultaneous": True,
        "adjustment": adjustment_words(terms),
        "headline": terms.headline,
        "tested_alone": terms.named,
        "fixed_in_advance": terms.registered,
        "worth": terms.worth,
        "failed": settings.failed,
        "while_running": terms.while_running,
        "seed": settings.rng,
        "n_resamples": settings.n_resamples,
        "searched": [
            {"family": space.family, "declared": space.declared, "fixed": space.fixed}
            | {"parameters": {parameter.name: parameter.given for parameter in space.parameters}}
            for space in result.spaces
        ],
        "warnings": [document(caution) for caution in result.cautions],
    }
    if result.variances:
        shown["variances"] = [document(variance) for variance in result.variances]
    if result.best_found:
        shown["best_found"] = [document(best) for best in result.best_found]
    if result.per_solved:
        shown["spend_per_solved"] = [document(spend) for spend in result.per_solved]
    if result.strata:
        shown["strata"] = [
            {
                "stratum": label,
                "comparisons": [document(pair) for pair in inside.pairs],
                "families": [document(standing) for standing in inside.standings],
            }
            for label, inside in result.strata
        ]
    return shown


@document.register
def _(result: OverTasks) -> dict[str, object]:
    return plain(picked(result, "families" if len(result.families) > 1 else "family", "n", "value", "low", "high"))


@document.register
def _(result: TaskComparison) -> dict[str, object]:
    shown = document(result.overall)
    shown["normalised"] = normalised_words()
    shown["tasks"] = {task: document(compared) for task, compared in result.tasks.items()}
    shown["ranks"] = [{**document(row), "mean_rank": row.value} for row in result.ranks]
    shown["iqm"] = [document(row) for row in result.iqm]
    shown["iqm_scale"] = "score" if result.as_scored else "sd"
    shown["probability_of_improvement"] = [document(row) for row in result.improvements]
    shown["warnings"] = [document(caution) for caution in result.cautions]
    return shown


@document.register
def _(result: Noise) -> dict[str, object]:
    return plain(picked(result, "family", "value", "problems", "suite"))


@document.register
def _(result: Stratum) -> dict[str, object]:
    best = result.best
    low, high = np.asarray(result.limits.low), np.asarray(result.limits.high)
    points = rows_of(n=best.n, value=best.value, low=low, high=high, n_groups=best.n_groups)
    counts = {"n_trials": int(best.sizes.sum()), "n_groups": best.groups.size}
    return plain({"stratum": result.label, **counts, "points": points})


@document.register
def _(result: Curve) -> dict[str, object]:
    columns = {name: getattr(result, name) for name in ("n", "value", "low", "high", "spread")}
    columns["cost"] = result.cost if result.cost is not None else np.full(result.n.size, np.nan)
    n_groups = None if result.problems is None else result.problems.n_groups
    more = {"n_groups": n_groups, "new_run": result.new_run}
    columns |= {name: column for name, column in more.items() if column is not None}
    shown = plain(
        {
            **picked(result, "family", "n_trials", "n_failed", "n_running", "failed", "statistic", "estimator"),
            **picked(result, "direction", "selection", "reported", "cost_unit", "horizon", "seed"),
            "interval": {
                **picked(result, "method", "confidence", "simultaneous"),
                "about": result.words.about or None,
                "note": rule_words(result.rule),
                "unseen": result.unseen,
            },
            "points": rows_of(**columns),
        }
    )
    if result.problems is not None:
        shown["n_groups"] = int(result.problems.groups.size)
        shown["weighted"] = result.problems.weights is not None
        shown["noise"] = None if result.noise is None else document(result.noise)
    shown["unit"] = result.unit
    if result.n_runs is not None:
        shown["n_runs"] = result.n_runs
        shown["variance"] = None if result.variance is None else document(result.variance)
    if result.strata:
        shown["strata"] = [document(stratum) for stratum in result.strata]
    return shown


@document.register
def _(result: CurveSet) -> dict[str, object]:
    return {"families": [document(curve) for curve in result], "warnings": documents_of(result)}


@document.register
def _(result: CostCurveSet) -> dict[str, object]:
    return {"families": [document(curve) for curve in result], "warnings": documents_of(result)}


@document.register
def _(result: FamilyCostCurve) -> dict[str, object]:
    return plain(
        {
            **picked(result, "family", "n_trials", "n_failed", "failed"),
            "statistic": "mean",
            "estimator": "orders without replacement",
            "direction": result.direction,
            "axis": "cost",
            "cost_unit": result.cost_unit,
            **picked(result, "workers", "worst"),
            "horizon_cost": result.horizon,
            "seed": result.seed,
            "interval": {
                "method": "studentised",
                **picked(result, "confidence", "simultaneous"),
                "note": cost_rule(result),
            },
            "points": result.points,
        }
    )


@document.register
def _(result: FamilyVariance) -> dict[str, object]:
    names = ("family", "score", "n_configurations", "n_runs", "n_failed", "split", "confidence")
    return plain(picked(result, *names) | {"sources": result.rows})


@document.register
def _(result: Variances) -> dict[str, object]:
    return {"variances": [document(variance) for variance in result]}


@document.register
def _(result: DividedRuns) -> dict[str, object]:
    return {
        "family": result.family,
        "now": result.row(result.now),
        "ways": [result.row(way) for way in result.ways],
    }


@document.register
def _(result: TrialPlan) -> dict[str, object]:
    of_problems = ("n", "error", "target", "n_groups", "groups_needed", "samples_needed")
    return plain(
        {
            "widths": [{"family": family} | needed.to_dict() for family, needed in result.widths],
            "separations": [
                {"families": [first, second]} | needed.to_dict() | _costs(result, first, second, needed)
                for first, second, needed in result.separations
            ],
            "problems": [{"family": family} | picked(planned, *of_problems) for family, planned in result.problems],
            "unplanned": [
                {"family": family, "stratum": stratum, "reason": why} for family, stratum, why in result.unplanned
            ],
            "divisions": [document(divided) for divided in result.divisions],
            "division_powers": [
                {
                    "families": [first, second],
                    "ways": [picked(way, "configurations", "seeds") | {"power": power} for way, power in powers],
                }
                for first, second, powers in result.division_powers
            ],
            **picked(result, "spend", "samples"),
            "ways": [
                {"families": [first, second], "ways": [vars(way) for way in ways]}
                for first, second, ways in result.ways
            ],
            "horizons": [{"n_trials": size, "n": n} for size, n in result.horizons],
            **picked(result, "confidence", "power", "seed", "cost_unit", "total_cost", "price", "currency"),
            "further_cost": _limited(result, result.further_total),
            "sentences": plan_sentences(result),
            "warnings": [document(caution) for caution in result.cautions],
        }
    )


def _costs(plan: TrialPlan, first: str, second: str, needed: Needed) -> dict[str, object]:
    numbers = {"needed": needed.needed, "low": needed.low, "high": needed.high}
    cost = {key: plan.cost_of(first, second, units) for key, units in numbers.items()} if plan.costs else None
    return {"cost": cost, "further_cost": _limited(plan, plan.further_cost(first, second))}


def _limited(plan: TrialPlan, spent: Range) -> dict[str, object] | None:
    """A cost with its limits, and the same in money."""
    if not plan.costs:
        return None
    names = ("value", "low", "high")
    money = dict(zip(names, map(plan.money, spent), strict=True)) if plan.price is not None else None
    return {**dict(zip(names, spent, strict=True)), "money": money}


@document.register
def _(result: Claim) -> dict[str, object]:
    claims = [
        pair.claim.to_dict() | {"readings": [reading.to_dict() for reading in pair.readings]} for pair in result.pairs
    ]
    steps = [f"{step.text}: {step.why}" if step.why else step.text for step in claim_steps(result)]
    facts = picked(result, "confidence", "direction", "search_sd", "noise")
    summary = {"sentences": list(claim_sentences(result)), "next": steps, "warnings": []}
    return plain({"baseline": result.baseline.to_dict(), "claims": claims, **facts, **summary})


@document.register
def _(result: Reach) -> dict[str, object]:
    needed = picked(result, "family", "target", "name", "n", "low", "high", "cost", "cost_low", "cost_high")
    basis = picked(result, "cost_unit", "axis", "reached", "n_trials", "n_failed", "failed", "confidence")
    return plain(needed | basis | {"sentence": reach_sentence(result)})


@document.register
def _(result: Reaches) -> dict[str, object]:
    return {
        "targets": [document(target) for target in result.targets],
        "warnings": [document(caution) for caution in result.cautions],
        "seed": result.seed,
    }
