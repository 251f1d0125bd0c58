"""Documents on a terminal: how far a checklist is filled, and the first rows of a table of trials."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

import numpy as np

from levelbest._plain import cell_text
from levelbest.errors import named
from levelbest.report.tables.table import Table, texts
from levelbest.report.terminal.console import console, drawn_table, print_text, shorten_middle

_ROWS, _WIDEST = 12, 16


def print_checklist(items: Sequence[tuple[str, bool]]) -> None:
    """A line for each question, and whether it is answered."""
    out = console()
    still_open = sum(not answered for _, answered in items)
    print_text(f"{len(items) - still_open} of {len(items)} answered from the data, {still_open} open", out, "bold")
    for question, answered in items:
        out.print(textwrap.shorten(f"[{'x' if answered else ' '}] {question}", out.width, placeholder=" ..."))
    print_text(f"{named('details')} prints the answers; {named('out')} FILE writes them as Markdown.", out, "dim")


def print_trials(columns: Mapping[str, np.ndarray], trials: str) -> None:
    """The first rows and columns, as many as a screen holds."""
    out = console()
    rows = min(_ROWS, *(len(column) for column in columns.values()))
    shown, width = [], 0
    for name, column in columns.items():
        cells = [shorten_middle(cell_text(cell), _WIDEST) for cell in column[:rows].tolist()]
        width += max(map(len, [name, *cells])) + 2
        if width > out.width:
            break
        shown.append(texts(name, cells))
    print_text(trials, out, "bold")
    out.print(drawn_table(Table(tuple(shown))))
    total = len(next(iter(columns.values())))
    more = f"{rows} of {total} rows, {len(shown)} of {len(columns)} columns"
    print_text(f"{more}; {named('out')} FILE writes all of them.", out, "dim")
