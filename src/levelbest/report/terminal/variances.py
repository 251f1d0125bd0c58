"""Variance by source in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from levelbest.report.terminal.console import print_text
from levelbest.report.words.variances import variance_heading, variance_table
from levelbest.results import FamilyVariance

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["print_variances"]


def print_variances(variances: Sequence[FamilyVariance], out: Console) -> None:
    """A row for each family and source; nothing where there is none."""
    from rich.table import Table

    if not variances:
        return
    print_text(variance_heading(variances), out, "dim")
    heads, rows = variance_table(variances)
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for place, head in enumerate(heads):
        table.add_column(head, justify="left" if place < 2 else "right", overflow="fold", no_wrap=place > 1)
    before = ""
    for family, *cells in rows:
        table.add_row("" if family == before else family, *cells)
        before = family
    out.print(table)
    out.print()
