"""A comparison over several tasks on one screen: the verdict, a row for each family, and a line for each task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from levelbest.report.terminal.console import console, print_cautions, print_text
from levelbest.report.terminal.variances import print_variances
from levelbest.report.words.conditions import condition_sentence
from levelbest.report.words.tasks import (
    aggregate_note,
    aggregate_table,
    improvement_note,
    improvement_table,
    overall_sentence,
)
from levelbest.report.words.verdicts import verdict_sentences
from levelbest.results import TaskComparison

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["print_tasks"]

_MOST_PAIRS = 10
_LONGEST_NAME = 24


def print_tasks(comparison: TaskComparison) -> None:
    """Print it."""
    out = console()
    print_text(overall_sentence(comparison), out, "bold")
    out.print()
    out.print(_table(*aggregate_table(comparison)))
    print_text(aggregate_note(comparison), out, "dim")
    out.print()
    heads, rows = improvement_table(comparison)
    out.print(_table(heads, rows[-_MOST_PAIRS:]))
    print_text(improvement_note(comparison), out, "dim")
    out.print()
    for task, own in comparison.tasks.items():
        print_text(f"{task}: {' '.join(verdict_sentences(own))}", out)
    out.print()
    print_variances(comparison.variances, out)
    print_cautions(comparison.cautions, out, n_families=len(comparison.overall.families))
    print_text(f"{condition_sentence(comparison.overall)} Seed {comparison.overall.terms.settings.rng}.", out, "dim")


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    first = min(_LONGEST_NAME, max(len(row[0]) for row in rows))
    table.add_column(heads[0].lower(), overflow="fold", min_width=first)
    for head in heads[1:]:
        table.add_column(head, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table
