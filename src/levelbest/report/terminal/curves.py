"""Curves, plans and claims in the terminal: one table, then what a reviewer would ask."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from levelbest._plain import show_number
from levelbest.errors import named
from levelbest.report.tables.results import (
    claim_table,
    costs_table,
    curves_table,
    plan_table,
    reach_table,
    strata_table,
)
from levelbest.report.tables.spending import spending_table, ways_table
from levelbest.report.tables.table import Table
from levelbest.report.terminal.console import (
    console,
    drawn_table,
    family_styles,
    has_blocks,
    print_cautions,
    print_choices,
    print_steps,
    print_text,
    print_variances,
)
from levelbest.report.view import Line, View
from levelbest.report.words.claims import claim_answer, claim_steps
from levelbest.report.words.curves import noise_sentence, reaches_summary
from levelbest.report.words.phrases import capital, level, plural
from levelbest.report.words.plans import capped_sentence, plan_sentences, plan_summary, stopping
from levelbest.results import Claim, Curve, FamilyCostCurve, Reaches, TrialPlan

if TYPE_CHECKING:
    from rich.console import Console

_LOG_FROM = 20
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # of a braille cell, by row and column
_PLAIN = "abcdefghijklmnopqrstuvwxyz"


_ROOM, _MOST_PLANNED, _FEW_PLANNED, _MOST_WAYS = 15, 9, 4, 7
"""Rows of a table of curves and of a plan that fit a screen; beside few of these it is said when to stop."""


def print_curves(
    drawn: Sequence[Curve | FamilyCostCurve], *, n: Iterable[int] | None = None, details: bool = False
) -> None:
    """What the numbers are, one table, the strata, and what a reviewer would ask about; all of it with ``details``."""
    out = console()
    cautions = [caution for curve in drawn for caution in curve.cautions]
    print_choices(cautions, out, n_families=len(drawn), details=details)
    if over_cost := [curve for curve in drawn if isinstance(curve, FamilyCostCurve)]:
        shown = costs_table(over_cost)
        print_text(shown.note, out, "dim")
        out.print(drawn_table(shown, styles=["bold"] * shown.size, folded=("family",)))
        out.print()
    if curves := [curve for curve in drawn if isinstance(curve, Curve)]:
        _print_over_trials(curves, out, every=n is not None, details=details)
    print_cautions(cautions, out, n_families=len(drawn), details=details)
    if not details:
        print_text(f"{named('details')}: more", out, "dim")


def _print_over_trials(curves: Sequence[Curve], out: Console, *, every: bool, details: bool) -> None:
    strata = sum(2 + len(curve.strata) for curve in curves if curve.strata)
    room = None if every or details else max(1, (_ROOM - strata) // len(curves))
    table, styles = _labelled(curves, every=every, most=room)
    print_text(table.note, out, "dim")
    rows = range(table.size if room is None else min(table.size, _ROOM))
    out.print(drawn_table(table.part(rows), styles=styles[: len(rows)]))
    if len(rows) < table.size:
        out.print(f"... and {table.size - len(rows)} more")
    for curve in curves:
        if curve.strata:
            out.print()
            print_text(f"{curve.family} by stratum, with the number of its problems", out, "bold")
            out.print(drawn_table(strata_table(curve)))
    noises = [curve.noise for curve in curves if curve.noise is not None]
    print_text(noise_sentence(noises, curves[0].words), out, "dim")
    out.print()
    variances = {curve.family: curve.variance for curve in curves}
    print_variances([variance for variance in variances.values() if variance is not None], out)


def _labelled(curves: Sequence[Curve], every: bool, most: int | None = None) -> tuple[Table, list[str]]:
    """The table of curves with what is behind each below its family's name, and the style of each label."""
    whole = curves_table(curves, every=every, most=most)
    whole = replace(whole, columns=whole.columns[:-2])  # the counts are labels
    names = whole.columns[0].cells
    columns: list[list[object]] = [[] for _ in whole.columns]
    decimals: list[list[int]] = [[] for _ in whole.columns]
    styles: list[str] = []
    for curve in curves:
        rows = [row for row, name in enumerate(names) if name == curve.family]
        labels = _labels(curve)[: None if most is None else max(most, 1)]
        for i in range(max(len(rows), len(labels))):
            columns[0].append(labels[i] if i < len(labels) else "")
            styles.append("dim" if i else "bold")
            for k, column in enumerate(whole.columns[1:], 1):
                columns[k].append(column.cells[rows[i]] if i < len(rows) else None)
                decimals[k].append(column.decimals[rows[i]] if i < len(rows) and column.decimals else 0)
    shown = [
        replace(column, cells=tuple(cells), decimals=tuple(digits))
        for column, cells, digits in zip(whole.columns, columns, decimals, strict=True)
    ]
    return replace(whole, columns=tuple(shown)), styles


def _labels(curve: Curve) -> list[str]:
    """The family, how many trials it has, and how its failed ones count, a line each."""
    labels = [curve.family, f" {curve.words.count(curve.n_trials)}"]
    labels += [] if curve.n_runs is None else [f" {plural(curve.n_runs, curve.words.part)}"]
    if curve.n_failed:
        labels.append(f" {curve.n_failed} failed ({'worst' if curve.failed == 'worst' else 'dropped'})")
    return labels


def print_plan(plan: TrialPlan, out: Console, *, details: bool = False) -> None:
    """Print it; ``details`` says everything in sentences instead of the table."""
    print_text(plan_summary(plan), out, "bold")
    out.print()
    if details:
        for sentence in plan_sentences(plan):
            print_text(sentence, out)
        return
    shown = plan_table(plan)
    rows = range(len(plan.separations) or shown.size)  # of widths the details tell, where there are pairs
    undecided = [row for row in rows if shown.columns[2].cells[row] != "enough"] or list(rows)
    kept = undecided if len(undecided) <= _MOST_PLANNED else undecided[: _MOST_PLANNED - 1]
    out.print(drawn_table(shown.part(kept)))
    if len(kept) < len(undecided):
        out.print(f"... and {len(undecided) - len(kept)} more")
    out.print()
    if (spent := spending_table(plan)) is not None:
        name, *costs = (column.text(spent.size - 1) for column in spent.columns)
        print_text(f"{capital(spent.columns[1].name)}, {name}: {', '.join(costs)}.", out)
    if (ways := ways_table(plan)) is not None:
        out.print(drawn_table(ways.part(range(ways.size)[:_MOST_WAYS])))
        if ways.size > _MOST_WAYS:
            out.print(f"... and {ways.size - _MOST_WAYS} more")
        out.print()
    if len(kept) <= _FEW_PLANNED:
        for sentence in stopping(plan):
            print_text(sentence, out)
    often = f"Told apart in {100 * plan.power:.0f} of 100 cases"
    footer = f"{often}; widths are of {level(plan.confidence)} intervals."
    print_text(" ".join([*capped_sentence(plan), footer, f"Seed {plan.seed}; {named('details')}."]), out, "dim")


def print_reaches(reaches: Reaches, *, details: bool = False) -> None:
    """Who reaches the targets, then a row for each family and target; with ``details`` a sentence for each."""
    out = console()
    print_choices(reaches.cautions, out, apart=False, details=details)
    print_text(reaches_summary(reaches.targets), out, "bold")
    out.print()
    shown = reach_table(reaches)
    several = len({row.target for row in reaches}) > 1
    left_out = {"n_trials", "n_failed"} | (set() if several else {"target"})
    kept = tuple(column for column in shown.columns if (column.key or column.name) not in left_out)
    rows = range(shown.size if details else min(shown.size, _ROOM))
    out.print(drawn_table(replace(shown, columns=kept).part(rows)))
    if len(rows) < shown.size:
        out.print(f"... and {shown.size - len(rows)} more")
    out.print()
    if details:
        for target in reaches:
            print_text(str(target), out)
    print_cautions(reaches.cautions, out, details=details)
    if not details:
        print_text(f"Seed {reaches.seed}; {named('details')}", out, "dim")


def print_claim(claim: Claim) -> None:
    """What the numbers say, the table, what would be needed to know, and what is assumed."""
    out = console()
    for sentence in claim_answer(claim):
        print_text(sentence, out, "bold")
    out.print()
    shown = claim_table(claim)
    out.print(drawn_table(shown))
    out.print()
    print_steps(claim_steps(claim), out)
    out.print()
    print_text(shown.note, out, "dim")


def draw_view(view: View, out: Console) -> None:
    """The curves of a report that compares nothing, drawn in dots."""
    from rich.text import Text

    lines = view.lines_of(view.statistics[0]) if view.statistics else ()
    if not lines:
        return
    unicode, names = has_blocks(), [line.family for line in lines]
    styles = [family_styles(view.hues, names)[name] for name in names]
    longest = max(line.x[-1] for line in lines)
    what = {"mean": "expected"}.get(lines[0].statistic, lines[0].statistic)
    over = "" if view.n_groups is None else f" of each of {plural(view.n_groups, view.words.group)}"
    scale = ", log scale" if longest > _LOG_FROM else ""
    print_text(f"{what} best {view.score} against the number of {view.words.units}{over}{scale}", out, "dim")
    for row in plot_lines(lines, width=out.width, log=longest > _LOG_FROM, unicode=unicode):
        pieces = ((text, "" if which is None else styles[which]) for text, which in row)
        out.print(Text.assemble(*pieces))
    if len(lines) > 1:
        marks = ["•" if unicode else chr(97 + i) for i in range(len(lines))]
        named = [(f"{mark} {line.family}", style) for mark, line, style in zip(marks, lines, styles, strict=True)]
        out.print(Text("  ").join(Text(text, style=style) for text, style in named))
    out.print()


def plot_lines(
    lines: Sequence[Line], *, width: int = 72, height: int = 12, log: bool = False, unicode: bool = True
) -> list[list[tuple[str, int | None]]]:
    """Rows of (text, which line) pieces, ready for a terminal: values up the side, budgets along the foot."""
    drawn = [line for line in lines if any(math.isfinite(value) for value in line.value)]
    if not drawn:
        return [[("no curve to draw", None)]]
    values = [value for line in drawn for value in line.value if math.isfinite(value)]
    low, high = min(values), max(values)
    high = high if high > low else low + 1e-9 + abs(low) * 1e-6
    first, last = min(line.x[0] for line in drawn), max(line.x[-1] for line in drawn)
    decimals = _side_decimals(low, high)
    label = max(len(show_number(low, decimals)), len(show_number(high, decimals)))
    columns, rows = max(10, width - label - 2), height
    fine_x, fine_y = (2, 4) if unicode else (1, 1)
    cells: dict[tuple[int, int], tuple[int, int]] = {}

    def place(x: float) -> float:
        if last == first:
            return 0.0
        return math.log(x / first) / math.log(last / first) if log else (x - first) / (last - first)

    columns_fine = columns * fine_x
    across = np.arange(columns_fine) / (columns_fine - 1)
    for which, line in enumerate(drawn):
        points = [(place(x), y) for x, y in zip(line.x, line.value, strict=True) if math.isfinite(y)]
        known, heights = zip(*points, strict=True)
        inside = np.flatnonzero((across >= known[0] - 1e-12) & (across <= known[-1] + 1e-12))
        for column, y in zip(inside.tolist(), np.interp(across[inside], known, heights).tolist(), strict=True):
            row = round((high - y) / (high - low) * (rows * fine_y - 1))
            cell = (row // fine_y, column // fine_x)
            cells[cell] = (cells.get(cell, (0, which))[0] | _DOTS[row % fine_y][column % fine_x], which)
    foot = f"{first:g}".ljust(columns - len(f"{last:g}")) + f"{last:g}"
    return [*_rows(cells, (low, high), (rows, columns), label, unicode), [(" " * (label + 1) + foot, None)]]


def _rows(
    cells: Mapping[tuple[int, int], tuple[int, int]],
    ends: tuple[float, float],
    size: tuple[int, int],
    label: int,
    unicode: bool,
) -> list[list[tuple[str, int | None]]]:
    """The marks of every row with three values up the side; ``label`` is the width of these."""
    (low, high), (rows, columns) = ends, size
    decimals = _side_decimals(low, high)
    out: list[list[tuple[str, int | None]]] = []
    for row in range(rows):
        value = show_number(high - (high - low) * row / (rows - 1), decimals) if row in (0, rows // 2, rows - 1) else ""
        pieces: list[tuple[str, int | None]] = [(f"{value:>{label}} ", None)]
        for column in range(columns):
            dots, which = cells.get((row, column), (0, -1))
            mark = chr(0x2800 + dots) if unicode else _PLAIN[which % 26]
            pieces.append((mark, which) if dots else (" ", None))
        out.append(pieces)
    return out


def _side_decimals(low: float, high: float) -> int:
    return max(0, min(6, 2 - math.floor(math.log10(high - low))))
