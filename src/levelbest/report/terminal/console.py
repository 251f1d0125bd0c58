"""The terminal: plain text that wraps at its width, with colour where it has it; text from data is never markup."""

from __future__ import annotations

import shlex
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from levelbest.cautions import Caution
from levelbest.report.tables.results import variance_table
from levelbest.report.tables.table import Table
from levelbest.report.words.cautions import remarks
from levelbest.results import FamilyVariance

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

    from levelbest.report.words.plans import Step

COLOURS = ("blue", "red", "green", "magenta", "cyan", "yellow", "white")
LONGEST = 24
"""Longer texts in a table may be folded."""
_WIDTH, _WIDEST, _LABEL = 80, 100, 6
_LABELS = (("doubt", "yellow"), ("note", ""), ("chosen", "dim"))
"""By severity: doubts about the conclusion, limits of it, and what was chosen for the reader."""


def console() -> Console:
    """A rich console: colour and width of the terminal, plain text and a fixed width when piped.

    Text from data is never markup: ``cnn[big]``, ``lr[/b]`` and ``:smile:`` print as they are.
    """
    from rich.console import Console

    out = Console(file=sys.stdout, highlight=False, markup=False, emoji=False, soft_wrap=False)
    out.width = min(out.width, _WIDEST) if sys.stdout.isatty() else _WIDTH
    return out


def print_text(text: str, out: Console, style: str = "") -> None:
    """A paragraph, wrapped at spaces."""
    from rich.text import Text

    for line in textwrap.wrap(text, out.width, break_on_hyphens=False):
        out.print(Text(line, style=style), soft_wrap=True)


def drawn_table(
    shown: Table, *, styles: Sequence[str] = (), room: int | None = None, folded: Sequence[str] = ()
) -> RichTable:
    """A table without lines; texts may be folded, and the names of families have ``styles``.

    ``room`` is the least width of the columns of texts, where not that of their longest one; columns named in
    ``folded`` repeat nothing that stands in the row above.
    """
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    rows = shown.rows
    for k, column in enumerate(shown.columns):
        longest = max((len(row[k]) for row in rows), default=0)
        if column.right:
            narrow = max(longest, len(column.name)) < LONGEST
            drawn.add_column(column.name, justify="right", overflow="fold", no_wrap=narrow)
        else:
            drawn.add_column(column.name, overflow="fold", min_width=min(LONGEST, longest if room is None else room))
    place = shown.heads.index("family") if "family" in shown.heads else 0
    once = [k for k, column in enumerate(shown.columns) if column.name in folded]
    for i, row in enumerate(rows):
        cells = ["" if k in once and i and rows[i - 1][k] == cell else cell for k, cell in enumerate(row)]
        named = [Text(cell, style=styles[i]) if styles and k == place else cell for k, cell in enumerate(cells)]
        drawn.add_row(*named)
    return drawn


def print_labelled(rows: Iterable[tuple[str, str, str]], out: Console) -> None:
    """Rows of (label, its style, text), the text with a hanging indent."""
    from rich.text import Text

    indent = " " * (_LABEL + 1)
    for label, style, text in rows:
        first, *rest = textwrap.wrap(text, out.width - len(indent), break_on_hyphens=False) or [""]
        out.print(Text.assemble((f"{label:<{_LABEL}} ", style), first), soft_wrap=True)
        for line in rest:
            out.print(Text(indent + line), soft_wrap=True)


def print_cautions(
    cautions: Iterable[Caution], out: Console | None = None, *, n_families: int = 0, most: int | None = None
) -> None:
    """Warnings, each matter once: doubts first, then limits, ``most`` of them; what was chosen stands above all."""
    every = [remark for remark in remarks(cautions, n_families) if remark.severity < 2]
    doubts = [(*_LABELS[remark.severity], str(remark)) for remark in every]
    if most is not None and len(doubts) > most:
        doubts[most - 1 :] = [("", "", f"and {len(doubts) - most + 1} more; the JSON form lists all")]
    print_labelled(doubts, out or console())


def print_choices(
    cautions: Iterable[Caution], out: Console | None = None, *, n_families: int = 0, apart: bool = True
) -> None:
    """What was chosen for the reader: it is read before the answer, ``apart`` from it by an empty line."""
    out = out or console()
    chosen = [remark for remark in remarks(cautions, n_families) if remark.severity == 2]
    print_labelled([(*_LABELS[2], str(remark)) for remark in chosen], out)
    if chosen and apart:
        out.print()


def print_steps(steps: Sequence[Step], out: Console) -> None:
    """What to do next, each with its command and its reason."""
    from rich.text import Text

    for i, step in enumerate(steps):
        text = f"{step.text}: {step.why}" if step.why else step.text
        print_labelled([("next" if i == 0 else "", "green", text)], out)
        for line in _folded(step.command, out.width - _LABEL - 5) if step.command else ():
            out.print(Text(f"{' ' * (_LABEL + 3)}{line}", style="bold"), soft_wrap=True)


def print_variances(variances: Sequence[FamilyVariance], out: Console) -> None:
    """A row for each family and source of variance; nothing where there is none."""
    if not variances:
        return
    shown = variance_table(variances)
    print_text(shown.note, out, "dim")
    out.print(drawn_table(shown, folded=("family",)))
    out.print()


def _folded(command: str, width: int) -> list[str]:
    """A command that a shell takes as it stands, folded before options where it is longer than a line."""
    parts: list[list[str]] = [[]]
    for word in shlex.split(command):
        parts += [[word]] if word.startswith("--") else []
        parts[-1] += [] if word.startswith("--") else [word]
    lines = [shlex.join(parts[0])]
    for option in map(shlex.join, parts[1:]):
        if len(lines[-1]) + 1 + len(option) <= width:
            lines[-1] += f" {option}"
        else:
            lines.append(f"  {option}")
    return [*(f"{line} \\" for line in lines[:-1]), lines[-1]]
