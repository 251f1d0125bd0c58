"""A comparison over several tasks on one screen: the verdict, a row for each family, and a line for each task."""

from __future__ import annotations

from levelbest.report.terminal.console import console, plain_table, print_cautions, print_text
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

_MOST_PAIRS = 10


def print_tasks(comparison: TaskComparison) -> None:
    """Print it."""
    out = console()
    print_text(overall_sentence(comparison), out, "bold")
    out.print()
    out.print(plain_table(*aggregate_table(comparison)))
    print_text(aggregate_note(comparison), out, "dim")
    out.print()
    heads, rows = improvement_table(comparison)
    out.print(plain_table(heads, rows[-_MOST_PAIRS:]))
    print_text(improvement_note(comparison), out, "dim")
    out.print()
    for task, own in comparison.tasks.items():
        print_text(f"{task}: {' '.join(verdict_sentences(own))}", out)
    out.print()
    print_variances(comparison.variances, out)
    print_cautions(comparison.cautions, out, n_families=len(comparison.overall.families))
    print_text(f"{condition_sentence(comparison.overall)} Seed {comparison.overall.terms.settings.rng}.", out, "dim")
