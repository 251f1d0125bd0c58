"""Curves, plans and claims in the terminal: one table, then what a reviewer would ask."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from levelbest._plain import show_number
from levelbest.report.tables.results import (
    claim_table,
    costs_table,
    curves_table,
    plan_table,
    reach_table,
    strata_table,
)
from levelbest.report.tables.sections import spending_table, ways_table
from levelbest.report.tables.table import Table
from levelbest.report.terminal.console import (
    console,
    drawn_table,
    has_blocks,
    held,
    print_foot,
    print_steps,
    print_text,
    print_variances,
    release,
    screen_lines,
)
from levelbest.report.view import Line, View
from levelbest.report.words.claims import claim_answer, claim_steps
from levelbest.report.words.curves import cost_heading, curves_heading, noise_sentence, reaches_summary
from levelbest.report.words.phrases import capital, level, more_words, plural
from levelbest.report.words.plans import capped_sentence, plan_sentences, plan_summary, stopping
from levelbest.results import Claim, Curve, FamilyCostCurve, Reaches, TrialPlan
from levelbest.trials.colours import family_styles

if TYPE_CHECKING:
    from rich.console import Console

LOG_ABOVE = 20
"""Budgets above which those of a line are on a log scale."""
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # of a braille cell, by row and column
_PLAIN = "abcdefghijklmnopqrstuvwxyz"


_FEWEST_LINES, _WAYS = 6, 8
"""Lines that a table has in any case, and of ways to spend."""


def print_curves(
    drawn: Sequence[Curve | FamilyCostCurve], *, n: Iterable[int] | None = None, details: bool = False
) -> None:
    """What the numbers are, one table, the strata, and what a reviewer would ask about; all of it with ``details``."""
    out = console()
    cautions = [caution for curve in drawn for caution in curve.cautions]
    more = "" if details else capital(more_words())
    foot = held(out, lambda: print_foot(cautions, out, more, n_families=len(drawn), details=details))
    room = None if details else screen_lines(foot)
    if over_cost := [curve for curve in drawn if isinstance(curve, FamilyCostCurve)]:
        _print_over_cost(over_cost, out, room)
    if curves := [curve for curve in drawn if isinstance(curve, Curve)]:
        _print_over_trials(curves, out, room, every=n is not None)
    release(out, foot)


def _print_over_cost(curves: Sequence[FamilyCostCurve], out: Console, room: int | None) -> None:
    head = held(out, lambda: print_text(cost_heading(curves, details=room is None), out, "dim"))
    left = None if room is None else room - head.count("\n") - 1
    shown = costs_table(curves, most=None if left is None else (left - 1) // len(curves))
    release(out, head)
    out.print(drawn_table(shown, styles=["bold"] * shown.size, folded=("family",), most=left))
    out.print()


def _print_over_trials(curves: Sequence[Curve], out: Console, room: int | None, *, every: bool) -> None:
    noises = [curve.noise for curve in curves if curve.noise is not None]
    head = held(out, lambda: print_text(curves_heading(curves, details=room is None), out, "dim"))
    below = held(
        out,
        *(partial(_print_strata, curve, out) for curve in curves if curve.strata),
        lambda: print_text(noise_sentence(noises, curves[0].words), out, "dim"),
        out.print,
    )
    left = None if room is None else max(_FEWEST_LINES, room - head.count("\n") - below.count("\n"))
    each = None if every or left is None else max(1, (left - 1) // len(curves))
    table, styles = _labelled(curves, every=every, most=each)
    release(out, head)
    out.print(drawn_table(table, styles=styles, most=None if every else left))
    release(out, below)
    variances = {curve.family: curve.variance for curve in curves}
    if room is None:
        print_variances([variance for variance in variances.values() if variance is not None], out)


def _print_strata(curve: Curve, out: Console) -> None:
    out.print()
    print_text(f"{curve.family} by stratum, with the number of its problems", out, "bold")
    out.print(drawn_table(strata_table(curve)))


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
    head = held(out, lambda: print_text(plan_summary(plan), out, "bold"), out.print)
    if details:
        foot = held(out, lambda: print_foot(plan.cautions, out, details=True))
        release(out, head)
        for sentence in plan_sentences(plan):
            print_text(sentence, out)
        release(out, foot)
        return
    whole = plan_table(plan)
    shown = _with_common_budget(whole.part(range(len(plan.separations))), plan) if plan.separations else whole
    rows = range(shown.size)  # of widths the details tell, where there are pairs
    undecided = [row for row in rows if shown.columns[2].cells[row] != "enough"] or list(rows)
    foot = held(out, lambda: _print_below_plan(plan, out))
    release(out, head)
    room = screen_lines(head, foot) - 1
    out.print(drawn_table(shown.part(undecided), most=max(_FEWEST_LINES, room)))
    out.print()
    release(out, foot)


def _with_common_budget(shown: Table, plan: TrialPlan) -> Table:
    """The budget in the head of the last column, where all pairs have the same: ``apart at n = 5`` with ``now 3 %``."""
    budgets = {needed.n for *_, needed in plan.separations}
    if len(budgets) != 1:
        return shown
    *others, goal = shown.columns
    cells = tuple(str(cell).rpartition(", ")[2] for cell in goal.cells)
    return replace(shown, columns=(*others, replace(goal, name=f"apart at n = {budgets.pop()}", cells=cells)))


def _print_below_plan(plan: TrialPlan, out: Console) -> None:
    """The remaining cost, when to stop, and what the numbers mean."""
    if (spent := spending_table(plan)) is not None:
        name, *costs = (column.text(spent.size - 1) for column in spent.columns)
        print_text(f"Remaining cost, {name}: {', '.join(dict.fromkeys(costs))}.", out)
    if (ways := ways_table(plan)) is not None:
        out.print(drawn_table(ways, most=_WAYS))
        out.print()
    for sentence in stopping(plan):
        print_text(sentence, out)
    sure, often = level(plan.confidence), f"{100 * plan.power:.0f} %"
    means = f"Needed: the number with which {often} of such studies tell the two apart, at {sure} confidence."
    if not plan.separations:
        means = f"Widths are those of {sure} intervals." if plan.widths else ""
    parts = [*capped_sentence(plan), means, f"Seed {plan.seed}; {more_words()}"]
    print_foot(plan.cautions, out, " ".join(part for part in parts if part))


def print_reaches(reaches: Reaches, *, details: bool = False) -> None:
    """Who reaches the targets, then a row for each family and target; with ``details`` a sentence for each."""
    out = console()
    more = "" if details else f"Seed {reaches.seed}; {more_words()}"
    head = held(out, lambda: print_text(reaches_summary(reaches.targets), out, "bold"), out.print)
    foot = held(out, lambda: print_foot(reaches.cautions, out, more, details=details))
    room = None if details else screen_lines(head, foot) - 1
    shown = reach_table(reaches)
    several = len({row.target for row in reaches}) > 1
    left_out = {"n_trials", "n_failed"} | (set() if several else {"target"})
    kept = tuple(column for column in shown.columns if (column.key or column.name) not in left_out)
    release(out, head)
    out.print(drawn_table(replace(shown, columns=kept), most=room))
    out.print()
    if details:
        for target in reaches:
            print_text(str(target), out)
    release(out, foot)


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
    scale = ", log scale" if longest > LOG_ABOVE else ""
    print_text(f"{what} best {view.score} against the number of {view.words.units}{over}{scale}", out, "dim")
    for row in plot_lines(lines, width=out.width, log=longest > LOG_ABOVE, unicode=unicode):
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
