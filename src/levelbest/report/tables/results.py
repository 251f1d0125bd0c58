"""The tables of results: curves, comparisons, plans, targets and sources of variance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import singledispatch

import numpy as np

from levelbest._plain import (
    common_decimals,
    round_places,
    round_to_uncertainty,
    show_budget,
    show_cost,
    show_tick,
    show_with_limits,
)
from levelbest.report.tables.table import Table, TableColumn, costs, counts, formed, limits, numbers, shares, texts
from levelbest.report.words.claims import claim_assumptions, explained_words
from levelbest.report.words.curves import cost_heading, curves_heading
from levelbest.report.words.phrases import best_of, level, plural, table_heading
from levelbest.report.words.plans import plan_rows, plan_summary
from levelbest.report.words.variances import ends_words, share_words, source_words, variance_heading, variance_sentence
from levelbest.report.words.verdicts import effect_words, winners_words
from levelbest.results import (
    Claim,
    Comparison,
    CostCurveSet,
    Curve,
    CurveSet,
    FamilyCostCurve,
    FamilyVariance,
    PairComparison,
    Reach,
    Reaches,
    Standing,
    TaskComparison,
    TrialPlan,
    Variances,
)

ROUNDING_NOTE = "Numbers are rounded to two digits of half their interval's width."
_ROUND = (1, 2, 3, 5, 10, 20, 30, 50, 75, 100, 200, 300, 500, 1000, 2000, 5000, 10_000, 100_000, 1_000_000)
_FEW = (1, 5, 20, 50, 100, 500, 2000, 10_000, 100_000, 1_000_000)
"""Budgets shown of one or two curves, and of more of them."""
_MOST_ROWS = 10
"""Longer tables of budgets show so many rows."""


@singledispatch
def table(result: object) -> Table:
    """The numbers of a result as one table."""
    raise TypeError(f"{type(result).__name__} has no table")


@table.register
def _(result: Curve) -> Table:
    return curves_table([result])


def curve_decimals(points: Sequence[tuple[float, float, float]]) -> int:
    """Decimals for the points of one curve: those that its first half deserves."""
    return max(round_to_uncertainty(*point) for point in points[: max(1, len(points) // 2)])


@table.register(CurveSet)
def curves_table(curves: Sequence[Curve], every: bool = False, most: int | None = None) -> Table:
    """A row for each family and round budget, ``most`` of a family, or for ``every`` budget."""
    first, words = curves[0], curves[0].words
    shown = [
        (curve, place) for curve in curves for place in _places(curve, every=every, few=len(curves) > 2, most=most)
    ]
    decimals = {
        id(curve): curve_decimals([_point(curve, place) for drawn, place in shown if drawn is curve])
        for curve in curves
    }
    digits = [decimals[id(curve)] for curve, _ in shown]

    columns = [
        texts("family", [curve.family for curve, _ in shown]),
        counts(f"{words.units} n" if first.n_runs is None else "n", [int(curve.n[i]) for curve, i in shown], "n"),
        numbers(words.best_of("n"), _cells(shown, "value"), digits, "value"),
        limits(limits_head(first.confidence, first.simultaneous), [_point(curve, i)[1:] for curve, i in shown], digits),
        numbers("spread", _cells(shown, "spread"), digits),
    ]
    if first.problems is not None:
        known = [None if curve.problems is None else int(curve.problems.n_groups[i]) for curve, i in shown]
        columns.append(counts(plural(2, words.group)[2:], known, "n_groups"))
    if first.new_run is not None:
        columns.append(numbers("new run", _cells(shown, "new_run"), digits, "new_run"))
    if any(curve.cost is not None for curve in curves):
        columns.append(costs("mean cost", _cells(shown, "cost"), first.cost_unit, "cost"))
    columns.append(counts(words.units, [curve.n_trials for curve, _ in shown], "n_trials"))
    columns.append(counts("failed", [curve.n_failed for curve, _ in shown], "n_failed"))
    return Table(tuple(columns), note=curves_heading(curves))


def _cells(shown: Sequence[tuple[Curve, int]], name: str) -> list[float | None]:
    """One column of curves at these places; nothing where a curve has it not."""
    columns = [(getattr(curve, name), place) for curve, place in shown]
    return [None if column is None else float(column[place]) for column, place in columns]


def _point(curve: Curve, place: int) -> tuple[float, float, float]:
    return float(curve.value[place]), float(curve.low[place]), float(curve.high[place])


def limits_head(confidence: float, simultaneous: bool) -> str:
    """``95 % interval``, or ``band`` where it is for all budgets at once."""
    return f"{level(confidence)} {'band' if simultaneous else 'interval'}"


def _places(curve: Curve, *, every: bool, few: bool, most: int | None) -> list[int]:
    """All budgets; else round ones and the last; of ``most`` those with limits, from the first to the last of them."""
    if every:
        return list(range(curve.n.size))
    shown = np.isin(curve.n, _FEW if few else _ROUND)
    shown[-1] = True
    if curve.n.size > 300 or shown.sum() < 3:  # log-spaced grids seldom hit round budgets
        shown[np.linspace(0, curve.n.size - 1, min(5 if few else 12, curve.n.size)).astype(int)] = True
    places = np.flatnonzero(shown)
    if most is not None and places.size > most:
        limited = places[np.isfinite(curve.low[places]) & np.isfinite(curve.high[places])]
        places = limited if limited.size >= most else places
        places = places[np.linspace(0, places.size - 1, most).astype(int) if most > 1 else [min(1, places.size - 1)]]
    return [int(i) for i in places]


def strata_table(curve: Curve) -> Table:
    """Each stratum at the first, a middle and the last budget, with limits over its own groups."""
    places = sorted({0, int(np.searchsorted(curve.n, np.sqrt(curve.n[-1]))), curve.n.size - 1})
    labels = [f"{stratum.label} ({stratum.best.groups.size})" for stratum in curve.strata]
    columns = [texts("stratum", labels)]
    for place in places:
        points = [np.array([part.best.value, part.limits.low, part.limits.high])[:, place] for part in curve.strata]
        columns.append(texts(f"n = {curve.n[place]}", [show_with_limits(*p.tolist()) for p in points], right=True))
    return Table(tuple(columns))


@table.register(CostCurveSet)
def costs_table(curves: Sequence[FamilyCostCurve], most: int | None = None) -> Table:
    """The same over budgets of cost, ``most`` of a family, with the scaling by the mean cost beside."""
    first = curves[0]
    rows = []
    for curve in curves:
        few = min(5 if len(curves) > 2 else 10, curve.budget.size, most or curve.budget.size)
        spaced = np.linspace(0, curve.budget.size - 1, few) if few > 1 else np.array([curve.budget.size // 2])
        rows += [(curve, i) for i in np.unique(spaced).astype(int).tolist()]
    value, scaled, nothing, budget, low, high = (
        [float(getattr(curve, name)[i]) for curve, i in rows]
        for name in ("value", "mean_cost_value", "nothing_finished", "budget", "low", "high")
    )
    digits = [*map(round_to_uncertainty, value, low, high)]
    return Table(
        (
            texts("family", [curve.family for curve, _ in rows]),
            costs("budget", budget, first.cost_unit, "cost"),
            numbers("best", value, digits, "value"),
            limits(limits_head(first.confidence or 0.0, first.simultaneous), [*zip(low, high, strict=True)], digits),
            *([numbers("mean cost", scaled, digits, "mean_cost_value")] if np.isfinite(scaled).any() else []),
            shares("none done", nothing, "nothing_finished"),
        ),
        note=cost_heading(curves),
    )


@table.register
def _(result: FamilyCostCurve) -> Table:
    return costs_table([result])


@table.register
def standings_table(comparison: Comparison) -> Table:
    """A row for each family, the best first: its value at one budget, its trials, and whom it is better than."""
    rows, terms = comparison.standings, comparison.terms
    if not rows:
        return pairs_table(comparison.pairs)
    digits = common_decimals([(row.value, row.low, row.high) for row in rows])
    budget = max(row.budget for row in rows)
    # over cost a cheaper family has its last value carried on: it reaches that much at least
    marks = [
        f" ({show_tick(row.budget, terms.cost_unit)})" if terms.over_cost and row.budget < budget * (1 - 1e-9) else ""
        for row in rows
    ]
    columns = [
        texts("family", [row.family for row in rows]),
        numbers(best_of(terms, budget), [row.value for row in rows], digits, "value", marks),
        limits(level(terms.confidence), [(row.low, row.high) for row in rows], digits),
        counts(terms.words.units, [row.n_trials for row in rows], "n_trials"),
    ]
    if comparison.best_found:
        best_scores = {winner.family: winner.value for winner in comparison.best_found}
        known = [best_scores.get(row.family) for row in rows]
        shown = common_decimals([(value, math.nan, math.nan) for value in best_scores.values()])
        columns = [columns[0]] + columns[1:3] * (len(best_scores) < len(rows)) + columns[3:]
        columns.append(numbers("best found", known, shown, "best_found"))
    columns += _spend_columns(comparison)
    lost, running = [row.n_failed for row in rows], [row.n_running for row in rows]
    columns += [counts("failed", lost, "n_failed")] * any(lost)
    columns += [counts("running", running, "n_running")] * any(running)
    if len(comparison.best_found) == len(rows):
        return Table(tuple(columns), note=f"{terms.metric.score} of the best trial of each search")
    if len(rows) > 2:
        columns.append(texts("better than", [_better_than(row, comparison) for row in rows], right=True))
    return Table(tuple(columns), note=table_heading(terms, budget))


def _spend_columns(comparison: Comparison) -> list[TableColumn]:
    """What a solved problem costs, with its interval; none where samples have no costs."""
    if not comparison.per_solved:
        return []
    terms, spends = comparison.terms, {spend.family: spend for spend in comparison.per_solved}
    rows, unit = [spends[row.family] for row in comparison.standings], terms.cost_unit or terms.metric.cost_unit
    return [
        costs("per solved" if unit else "cost per solved", [row.value for row in rows], unit, "per_solved"),
        texts(level(terms.confidence), [_cost_range(row.low, row.high, unit) for row in rows], "limits", right=True),
    ]


def _cost_range(low: float, high: float, unit: str | None) -> str:
    """``0.012 to 0.03``, or the lower end alone where there is no upper one."""
    ends = [show_tick(end, unit) for end in (low, high) if math.isfinite(end)]
    return " to ".join(ends) if len(ends) == 2 else f"{ends[0]} or more" if ends else "-"


def _better_than(row: Standing, comparison: Comparison) -> str:
    """How many others a family is better than; of a baseline's rivals, whether they are better than it."""
    if row.family == comparison.baseline:
        return "(baseline)"
    if comparison.baseline is not None:
        return "baseline" if row.better_than else "(worse)" if row.worse_than else "-"
    return f"{len(row.better_than)} of {len(comparison.families) - 1}" if row.better_than else "-"


@table.register
def _(result: TaskComparison) -> Table:
    return standings_table(result.overall)


def pairs_table(pairs: Sequence[PairComparison]) -> Table:
    """A row for each pair: who is better at which budgets, and by how much."""
    single = bool(pairs[0].terms.words.single)
    at = "difference" if single else f"difference at {pairs[0].effect.budget:g}"
    by = [effect_words(pair.effect) if math.isfinite(pair.effect.difference) else "-" for pair in pairs]
    names = [" - ".join(pair.families) for pair in pairs]
    return Table((texts("pair", names), texts("better", map(winners_words, pairs)), texts(at, by)))


@table.register
def _(result: PairComparison) -> Table:
    return pair_table(result, every=True)


def pair_table(pair: PairComparison, *, every: bool) -> Table:
    """A row for each budget, or for round ones: the difference with its band, and who is better."""
    terms = pair.terms
    places = list(range(pair.budget.size))
    if not every and pair.budget.size > _MOST_ROWS:
        places = [] if terms.over_cost else round_places([int(budget) for budget in pair.budget])
        if len(places) < 4:
            places = [int(i) for i in np.linspace(0, pair.budget.size - 1, _MOST_ROWS)]
    points = [(float(pair.difference[i]), float(pair.low[i]), float(pair.high[i])) for i in places]
    digits = [round_to_uncertainty(*point) for point in points]
    budgets = [float(pair.budget[i]) for i in places]
    columns = [
        texts(
            "budget" if terms.over_cost else terms.words.units,
            [show_budget(budget, terms.axis, terms.cost_unit) for budget in budgets],
            "n",
            right=True,
        ),
        numbers(" - ".join(pair.families), [point[0] for point in points], digits, "difference"),
        limits(f"{level(terms.confidence)} band", [point[1:] for point in points], digits),
    ]
    if pair.scaled is not None:
        columns.append(numbers("by mean cost", [float(pair.scaled[i]) for i in places], digits))
    if np.isfinite(pair.p_value).any():
        tested = [f"{pair.p_value[i]:.2g}" if np.isfinite(pair.p_value[i]) else "-" for i in places]
        columns.append(texts("p", tested, right=True))
    columns.append(texts("better", map(pair.verdict_at, budgets), right=True))
    return Table(tuple(columns))


@table.register(Variances)
def variance_table(variances: Sequence[FamilyVariance]) -> Table:
    """A row for each family and source."""
    rows = [(variance, source) for variance in variances for source in variance.sources]
    columns = (
        texts("family", [variance.family for variance, _ in rows]),
        texts("source", [source_words(variance, source) for variance, source in rows]),
        formed("sd", [source.sd for _, source in rows], ".3g"),
        texts(level(variances[0].confidence), [ends_words(source) for _, source in rows], right=True),
        texts("share of variance", [share_words(variance, source) for variance, source in rows], right=True),
    )
    return Table(columns, note=variance_heading(variances))


def variance_section(variances: Sequence[FamilyVariance]) -> Table:
    """The same for a page, with its sentences."""
    sentences = " ".join(map(variance_sentence, variances))
    note = f"{sentences} Intervals are at {level(variances[0].confidence)} for each source separately."
    return replace(variance_table(variances), title="Variance by source", note=note)


@table.register
def plan_table(plan: TrialPlan) -> Table:
    """A row for each pair and family: what there is, what is needed, and what for."""
    names, present, needed, goals = zip(*plan_rows(plan), strict=True) if plan_rows(plan) else ((), (), (), ())
    columns = (
        texts("pair or family", names),
        texts(plan.words.units, present, right=True),
        texts("needed", needed, right=True),
        texts("what for", goals),
    )
    return Table(columns, note=plan_summary(plan))


@table.register
def claim_table(claim: Claim) -> Table:
    """A row for each claim and reading of the ±: the difference, and what the larger search explains of it."""
    rows = [(pair.claim, reading) for pair in claim.pairs for reading in pair.readings]
    digits = [round_to_uncertainty(reading.difference, reading.low, reading.high) for _, reading in rows]
    columns = [
        *([texts("claim", [claimed.name for claimed, _ in rows])] if len(claim.pairs) > 1 else []),
        texts("± is", [reading.reading for _, reading in rows]),
        numbers("difference", [reading.difference for _, reading in rows], digits),
        limits(f"{level(claim.confidence)} interval", [(reading.low, reading.high) for _, reading in rows], digits),
        formed("p", [reading.p_value for _, reading in rows], ".2g", "p_value"),
    ]
    gains = [sorted(search.gain for search in reading.searches) for _, reading in rows]
    if any(map(any, gains)):
        ends = [(ends_of[0], ends_of[-1]) if ends_of else None for ends_of in gains]
        columns.append(limits("search explains", ends, digits))
        columns.append(texts("of it", [explained_words(reading) for _, reading in rows], right=True))
    return Table(tuple(columns), note=claim_assumptions(claim))


@table.register(Reaches)
def reach_table(reaches: Iterable[Reach]) -> Table:
    """A row for each family and target: what is needed."""
    rows = list(reaches)
    first = rows[0]
    needed = [(row.cost, row.cost_low, row.cost_high) if row.over_cost else row.interval for row in rows]
    what = "cost" if first.over_cost else f"{first.words.units} needed"
    columns: list[TableColumn] = [
        texts("family", [row.family for row in rows]),
        formed("target", [row.target for row in rows], "g"),
        texts(what, [_reached(row, point[0]) for row, point in zip(rows, needed, strict=True)], right=True),
        texts(level(first.confidence), list(map(_ends, rows, needed)), right=True),
    ]
    if not first.over_cost and any(math.isfinite(row.cost) for row in rows):
        spent = [show_cost(row.cost, row.cost_unit) if row.reached else "" for row in rows]
        columns.append(texts("cost", spent, right=True))
    columns += [
        formed(f"{first.score} at the end", [row.best for row in rows], ".4g", "best"),
        counts(first.words.units, [row.n_trials for row in rows], "n_trials"),
        counts("failed", [row.n_failed for row in rows], "n_failed"),
    ]
    if len({row.failed for row in rows}) > 1:
        columns.append(texts("failed count", ["as the worst" if row.failed == "worst" else "not" for row in rows]))
    return Table(tuple(columns))


def _reached(row: Reach, budget: float) -> str:
    """The budget needed, or ``more than`` the largest budget of the data."""
    unit = row.cost_unit if row.over_cost else None
    shown = show_budget(budget if row.reached else row.furthest, row.axis, unit)
    return shown if row.reached else f"more than {shown}"


def _ends(row: Reach, point: tuple[float, float, float]) -> str:
    """The limits of a budget; an open one where the data end before it."""
    unit = row.cost_unit if row.over_cost else None
    low, high = (show_budget(end, row.axis, unit) for end in point[1:])
    if math.isfinite(point[2]):
        return f"{low} to {high}" if math.isfinite(point[1]) else f"at most {high}"
    return f"at least {low}" if math.isfinite(point[1]) else "-"
