"""A report in the terminal: what the comparison says on one screen, or one family's curve, and where the files are."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from levelbest._plain import show_number
from levelbest.report.terminal.comparison import print_comparison, print_tasks
from levelbest.report.terminal.console import (
    COLOURS,
    console,
    print_cautions,
    print_choices,
    print_text,
    print_variances,
)
from levelbest.report.view import Line, View
from levelbest.report.words.phrases import plural

if TYPE_CHECKING:
    from rich.console import Console

_LOG_FROM = 20
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # of a braille cell, by row and column
_PLAIN = "abcdefghijklmnopqrstuvwxyz"


def print_report(view: View, files: Iterable[str] = ()) -> None:
    """Print the view; ``files`` are the paths that were written, the page first."""
    from rich.text import Text

    out = console()
    if view.over_tasks is not None:
        print_tasks(view.over_tasks)
    elif view.comparison is not None:
        left_out = view.verdict[len(view.comparison.summary) :]
        print_comparison(view.comparison, cautions=view.cautions, left_out=left_out)
    else:
        print_choices(view.cautions, out, n_families=len(view.families))
        print_text(" ".join(view.verdict), out, "bold")
        out.print()
        _print_curves(view, out)
        print_variances(view.variances, out)
        print_cautions(view.cautions, out, n_families=len(view.families))
    out.print()
    for i, name in enumerate(files):
        out.print(Text.assemble(("page   " if i == 0 else "       "), (name, "underline" if i == 0 else "")))
    if head := view.provenance.get("ledger head"):
        out.print(Text(f"ledger head: {head}"), soft_wrap=True)


def _print_curves(view: View, out: Console) -> None:
    """The curves of a report that compares nothing, drawn in dots."""
    from rich.text import Text

    lines = view.lines_of(view.statistics[0]) if view.statistics else ()
    if not lines:
        return
    unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    longest = max(line.x[-1] for line in lines)
    what = {"mean": "expected"}.get(lines[0].statistic, lines[0].statistic)
    over = "" if view.n_groups is None else f" of each of {plural(view.n_groups, view.words.group)}"
    scale = ", log scale" if longest > _LOG_FROM else ""
    print_text(f"{what} best {view.score} against the number of {view.words.units}{over}{scale}", out, "dim")
    for row in plot_lines(lines, width=out.width, log=longest > _LOG_FROM, unicode=unicode):
        pieces = ((text, "" if which is None else COLOURS[which % len(COLOURS)]) for text, which in row)
        out.print(Text.assemble(*pieces))
    if len(lines) > 1:
        marks = ["•" if unicode else chr(97 + i) for i in range(len(lines))]
        named = [
            (f"{mark} {line.family}", COLOURS[i % 7]) for i, (mark, line) in enumerate(zip(marks, lines, strict=True))
        ]
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
