"""The tables of a report, for the page and for a paper: families, values of the curves, verdicts, search spaces."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from levelbest._plain import common_decimals, round_places, show_cost, show_number, show_range
from levelbest.report.tables.results import ROUNDING_NOTE, curve_decimals
from levelbest.report.tables.sections import aggregate_section
from levelbest.report.tables.table import Table, costs, counts, latex_text, limits, numbers, texts
from levelbest.report.view import ShownFamily, View, ranked_families
from levelbest.report.words.answers import best_at_headline, contenders_at_headline
from levelbest.report.words.phrases import joined, level, plural
from levelbest.report.words.verdicts import reason_words
from levelbest.results import NOT_COMPARABLE, UNDECIDED, PairComparison

MOST_PAIRS_SHOWN = 200
"""Of more pairs the table names those with a verdict."""
MOST_VALUES = 800
"""Of more points of curves the table has those at round budgets."""


def families_table(view: View) -> Table:
    """The families, the best of the headline budget first."""
    words, rows = view.words, ranked_families(view)
    alone = view.headline == 1 and not words.measure
    at = view.single or f"one {words.unit}" if alone else words.best_of(view.headline)
    digits = common_decimals([family.headline for family in rows])
    return Table(
        (
            texts("family", [family.name for family in rows]),
            counts(words.units, [family.n_trials for family in rows], "n_trials"),
            counts("failed", [family.n_failed for family in rows], "n_failed"),
            counts("n", [min(view.headline, family.n_trials) for family in rows]),
            numbers(at, [family.headline[0] for family in rows], digits, "value", list(map(view.headline_mark, rows))),
            limits("interval", [family.headline[1:] for family in rows], digits),
            numbers(words.winner, [family.winner for family in rows], digits, "winner"),
            numbers("mean", [family.mean for family in rows], digits),
            numbers("SD", [family.sd for family in rows], digits, "sd"),
            costs(f"cost of a {words.unit}", [family.mean_cost for family in rows], view.cost_unit, "mean_cost"),
        ),
        note=f"{_caption(view)} {ROUNDING_NOTE}",
    )


def _caption(view: View) -> str:
    words = view.words
    if view.single:
        return (
            f"Mean {view.score} of {view.single} with a pointwise {level(view.confidence)} interval, and the standard "
            f"deviation of the {words.units}."
        )
    chosen = f"selected by {view.selection}" if view.reported else words.unchecked
    over = "" if view.n_groups is None else f" of each of {plural(view.n_groups, words.group)}"
    return (
        f"Expected best {view.score} of n = {view.headline} {words.units}{over} ({chosen}) with a pointwise "
        f"{level(view.confidence)} interval, and {'' if words.group else 'the '}{words.winner}."
    )


def page_table(view: View) -> Table:
    """The families as the page shows them."""
    has_cost = view.cost_unit is not None or any(math.isfinite(family.mean_cost) for family in view.families)
    shown = ("family", "n_trials", "n_failed", "value", "interval", *_known(view, "winner", "mean", "sd"))
    return families_table(view).only(*shown, *["mean_cost"] * has_cost)


def page_facts(view: View) -> Table:
    """What the page tells of each family beside its value at the budget chosen: nothing that has an interval. Of one
    budget that value is the mean."""
    has_cost = view.cost_unit is not None or any(math.isfinite(family.mean_cost) for family in view.families)
    failed = ["n_failed"] * any(family.n_failed for family in view.families)
    wanted = ("winner", "sd") if view.single else ("winner", "mean", "sd")
    shown = ("family", "n_trials", *failed, *_known(view, *wanted))
    return families_table(view).only(*shown, *["mean_cost"] * has_cost)


def _known(view: View, *names: str) -> list[str]:
    """Those of the columns that have a number: over tasks there is no best run."""
    return [name for name in names if any(math.isfinite(getattr(family, name)) for family in view.families)]


@dataclass(frozen=True)
class HeatCell:
    """A family on a task: its value as it is shown, how good it is there (0 to 4), and what the task decides of it."""

    text: str
    shade: int
    mark: str = ""
    title: str = ""


@dataclass(frozen=True)
class HeatMap:
    """Tasks by families, at the headline budget of each task."""

    families: tuple[str, ...]
    rows: tuple[tuple[str, tuple[HeatCell, ...]], ...]
    note: str


def heat_map(view: View) -> HeatMap:
    """What each family scores on each task: darker is better within a task, and a mark where the task decides."""
    order = [family.name for family in ranked_families(view)]
    rows = []
    for task, shown in view.tasks.items():
        values = {family.name: family.headline[0] for family in shown.families}
        known = [value for value in values.values() if value == value]
        low, high = (min(known), max(known)) if known else (0.0, 0.0)
        sign = -1.0 if shown.direction == "min" else 1.0
        worst = low if sign > 0 else high
        digits = common_decimals([family.headline for family in shown.families])
        compared = shown.comparison
        best = None if compared is None else best_at_headline(compared)
        possible = () if compared is None else contenders_at_headline(compared)
        cells = []
        for name in order:
            value = values.get(name, math.nan)
            share = sign * (value - worst) / (high - low) if high > low else 0.5
            mark, title = ("", "")
            if name == best:
                mark, title = "★", f"{name} is better than all others on {task}"
            elif name in possible and len(possible) < len(order):
                mark, title = "☆", f"{name} may be the best on {task}"
            cells.append(HeatCell(show_number(value, digits), round(4 * share) if value == value else 0, mark, title))
        rows.append((task, tuple(cells)))
    unit = "one run" if view.headline == 1 else f"best of {view.headline}"
    note = f"{view.reported or view.selection}, {unit}; darker is better; ★ better than all others there, ☆ may be best"
    return HeatMap(tuple(order), tuple(rows), note)


def paper_table(view: View) -> Table:
    """The families as a paper shows them."""
    if view.over_tasks is not None:
        table = aggregate_section(view.over_tasks)
        brief = {"interquartile mean": "IQM"}  # which the caption explains
        return replace(table, columns=tuple(replace(c, name=brief.get(c.name, c.name)) for c in table.columns))
    failed = ["n_failed"] * any(family.n_failed for family in view.families)
    shown = ("value", "sd", "interval") if view.single else ("value", "interval", "winner")
    return families_table(view).only("family", "n_trials", *failed, *shown)


def appendix_tables(view: View) -> list[Table]:
    """[D]'s appendix tables, one a family that was searched: space, best assignment, infrastructure and durations."""
    machine = next((item.answer for item in view.checklist if item.key == "infrastructure" and item.answer), None)
    where = f" Infrastructure: {machine}." if machine else ""
    return [_appendix(view, family, where) for family in view.families if family.space or family.assignment]


def _appendix(view: View, family: ShownFamily, where: str) -> Table:
    names = list(dict.fromkeys([*family.space, *family.assignment]))
    known = family.mean_cost == family.mean_cost
    cost = f", {show_cost(family.mean_cost, view.cost_unit)} per {view.words.unit} on average" if known else ""
    path = f", {family.path}" if family.path else ""
    best = f" ({view.selection} {family.chosen:.4g}{path})" if family.chosen == family.chosen else path
    trials = f"{view.words.count(family.n_trials)}, {family.n_failed} failed{cost}"
    columns = (
        texts("hyperparameter", names),
        texts("searched", [family.space.get(name, "–") for name in names]),
        texts("best", [family.assignment.get(name, "–") for name in names]),
    )
    how = "declared" if family.declared else "observed"
    caption = f"{family.name}: search space as {how} and best assignment{best}; {trials}.{where}"
    return Table(columns, note=caption)


def methods_latex(view: View) -> str:
    """The methods paragraph and its references."""
    entries = "\n".join(rf"\item {latex_text(reference)}" for reference in view.references)
    return f"{latex_text(view.methods)}\n\n\\begin{{enumerate}}\n{entries}\n\\end{{enumerate}}\n"


def values_table(view: View) -> Table:
    """The points of the first curves, where they are many those at round budgets."""
    lines = view.lines_of(view.statistics[0])
    many = sum(len(line.x) for line in lines) > MOST_VALUES
    rows, digits = [], []
    for line in lines:
        points = list(zip(line.value, line.low, line.high, strict=True))
        places = round_places([int(x) for x in line.x], most=0 if many else len(line.x))
        rows += [(line.family, line.x[i], points[i]) for i in places]
        digits += [curve_decimals(points)] * len(places)
    columns = [texts("family", [name for name, *_ in rows]), counts("n", [int(x) for _, x, _ in rows])]
    for k, name in enumerate(("value", "low", "high")):
        columns.append(numbers(name, [point[k] for *_, point in rows], digits))
    return Table(tuple(columns))


def verdict_tables(view: View) -> list[Table]:
    """One table for each statistic and axis, one row a pair: who is better where, where nothing is decided, and where
    nothing can be compared; what is the same for every pair is said once."""
    kinds = dict.fromkeys((pair.terms.statistic, pair.terms.axis) for pair in view.pairs)
    return [_verdicts(view, statistic, view.pairs_of(statistic, axis)) for statistic, axis in kinds]


def _verdicts(view: View, statistic: str, pairs: Sequence[PairComparison]) -> Table:
    shown = pairs if len(pairs) <= MOST_PAIRS_SHOWN else [pair for pair in pairs if pair.decided][:MOST_PAIRS_SHOWN]
    rows = [_verdict_row(pair) for pair in shown]
    better, undecided, apart = zip(*rows, strict=True) if rows else ((), (), ())
    columns = [
        texts("families", [" and ".join(pair.families) for pair in shown]),
        texts("better at", better),
        texts("undecided at", undecided),
    ]
    note = f"{len(pairs) - len(shown)} further pairs are in report.json." if len(shown) < len(pairs) else ""
    if len(set(apart)) == 1:
        note = ("" if apart[0] == "–" else f"Not comparable at {apart[0]}. ") + note
    else:
        columns.append(texts("not comparable at", apart))
    budgets = "cost" if pairs[0].terms.over_cost else view.words.units
    return Table(tuple(columns), f"{statistic} curves, budgets in {budgets}", note)


def _verdict_row(pair: PairComparison) -> tuple[str, str, str]:
    """Where one of two is better, where neither is, and where they cannot be compared."""
    where: dict[str, list[str]] = {}
    for part in joined(pair.verdicts):
        ends = show_range(part.start, part.end, pair.terms.axis, pair.terms.cost_unit)
        where.setdefault(part.verdict, []).append(ends)
    better = [f"{name}: {', '.join(where[name])}" for name in where if name in pair.families]
    reasons = dict.fromkeys(reason_words(part.reason) for part in pair.verdicts if part.reason)
    nowhere = ", ".join(where.get(NOT_COMPARABLE, ()))
    apart = f"{nowhere} ({'; '.join(reasons)})" if nowhere and reasons else nowhere or "–"
    return "; ".join(better) or "–", ", ".join(where.get(UNDECIDED, ["–"])), apart
