"""Variance by source in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from levelbest.report.terminal.console import plain_table, print_text
from levelbest.report.words.variances import variance_heading, variance_table
from levelbest.results import FamilyVariance

if TYPE_CHECKING:
    from rich.console import Console


def print_variances(variances: Sequence[FamilyVariance], out: Console) -> None:
    """A row for each family and source; nothing where there is none."""
    if not variances:
        return
    print_text(variance_heading(variances), out, "dim")
    heads, rows = variance_table(variances)
    families = [row[0] for row in rows]
    once = ["" if name == before else name for before, name in zip(["", *families], families, strict=False)]
    out.print(plain_table(heads, [[name, *row[1:]] for name, row in zip(once, rows, strict=True)], left=(0, 1)))
    out.print()
