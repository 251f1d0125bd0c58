"""A report in the terminal: the verdict first, a table, the curves, what a reviewer would ask, where the files are."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from levelbest._plain import round_to_uncertainty, show_cost, show_limits, show_number
from levelbest.report.terminal.curves import console, print_cautions
from levelbest.report.terminal.plot import plot_lines
from levelbest.report.view import Section, View

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["print_report"]

MOST_ROWS = 16
"""Longer tables are left to the page."""
_COLOURS = ("blue", "red", "green", "magenta", "cyan", "yellow", "white")


def print_report(view: View, files: Iterable[str] = ()) -> None:
    """Print the view; ``files`` are the paths that were written, the page first."""
    from rich.padding import Padding
    from rich.text import Text

    out = console()
    for i, sentence in enumerate(view.verdict):
        out.print(Padding(Text(sentence, style="bold" if i == 0 else ""), (0, 0, 0, 2), expand=False))
    out.print()
    score = view.score if view.reported or view.n_groups else f"{view.selection} (validation only)"
    heading = f"expected best {score} of n = {view.headline} {view.word}s{_of_problems(view)}, fixed in advance"
    out.print(Text(heading, style="dim"))
    out.print(_table(view))
    out.print()
    _print_curves(view, out)
    for section in view.sections:
        if section.title != "Problems" and len(section.rows) <= MOST_ROWS:
            out.print(_section(section))
            out.print()
    print_cautions(view.cautions, out, n_families=len(view.families))
    if view.cautions:
        out.print()
    for i, name in enumerate(files):
        out.print(Text.assemble(("page:  " if i == 0 else "       "), (name, "underline" if i == 0 else "")))
    if head := view.provenance.get("ledger head"):
        out.print(Text(f"ledger head: {head}"), soft_wrap=True)


def _table(view: View) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("family", overflow="fold", min_width=8)
    failures = any(one.n_failed for one in view.families)
    heads = [
        f"{view.word}s",
        *(["failed"] if failures else []),
        f"best of {view.headline}",
        f"{100 * view.confidence:g} % interval",
    ]
    heads.append("winner seen" if view.n_groups is None else view.winner_word)
    has_cost = any(one.mean_cost == one.mean_cost for one in view.families)
    for head in heads + ([f"a {view.word}"] if has_cost else []):
        table.add_column(head, justify="right", no_wrap=True)
    for i, one in enumerate(view.families):
        value, low, high = one.headline
        decimals = round_to_uncertainty(value, low, high)
        cells = [
            str(one.n_trials),
            *([str(one.n_failed)] if failures else []),
            show_number(value, decimals) + view.headline_mark(one),
            show_limits(low, high, decimals),
            show_number(one.winner, min(4, max(3, decimals))),
        ]
        cells += [show_cost(one.mean_cost, view.cost_unit)] if has_cost else []
        table.add_row(Text(one.name, style=_COLOURS[i % 7]), *cells)
    return table


def _section(section: Section) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="dim", title_justify="left", padding=(0, 2, 0, 0))
    table.title = Text(section.title, style="dim")
    for i, head in enumerate(section.heads):
        table.add_column(head, justify="left" if i == 0 else "right", overflow="fold")
    for row in section.rows:
        table.add_row(*map(Text, row))
    return table


def _of_problems(view: View) -> str:
    return "" if view.n_groups is None else f" of each of {view.n_groups} problems"


def _print_curves(view: View, out: Console) -> None:
    from rich.text import Text

    lines = view.lines_of(view.statistics[0])
    if not lines:
        return
    unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    longest = max(line.x[-1] for line in lines)
    for row in plot_lines(lines, width=min(out.width, 100), log=longest > 20, unicode=unicode):
        out.print(Text.assemble(*((text, "" if which is None else _COLOURS[which % 7]) for text, which in row)))
    scale = ", log scale" if longest > 20 else ""
    marks = [("• " if unicode else f"{chr(97 + i)} ", _COLOURS[i % 7]) for i in range(len(lines))]
    legend = [piece for mark, line in zip(marks, lines, strict=True) for piece in (mark, (line.family + "  ", ""))]
    out.print(Text.assemble(*legend))
    what = {"mean": "expected"}.get(lines[0].statistic, lines[0].statistic)
    out.print(
        Text(f"{what} best {view.score} against the number of {view.word}s{_of_problems(view)}{scale}", style="dim")
    )
    out.print()
