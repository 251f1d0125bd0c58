"""A report in the terminal: what the comparison says on one screen, or one family's curve, and where the files are."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from levelbest.report.terminal.comparison import print_comparison
from levelbest.report.terminal.console import COLOURS, console, print_cautions, print_text
from levelbest.report.terminal.plot import plot_lines
from levelbest.report.terminal.tasks import print_tasks
from levelbest.report.terminal.variances import print_variances
from levelbest.report.view import View
from levelbest.report.words.phrases import plural

if TYPE_CHECKING:
    from rich.console import Console

_LOG_FROM = 20


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
    over = "" if view.n_groups is None else f" of each of {plural(view.n_groups, 'problem')}"
    scale = ", log scale" if longest > _LOG_FROM else ""
    print_text(f"{what} best {view.score} against the number of {view.word}s{over}{scale}", out, "dim")
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
