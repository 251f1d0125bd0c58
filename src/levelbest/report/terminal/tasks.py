"""A comparison over several tasks on one screen: a row for each family and a line for each task."""

from __future__ import annotations

import textwrap

from levelbest.report.tables.sections import aggregate_section, improvement_section
from levelbest.report.terminal.console import (
    console,
    drawn_table,
    print_cautions,
    print_choices,
    print_text,
    print_variances,
)
from levelbest.report.words.answers import verdict_sentences
from levelbest.report.words.phrases import footer
from levelbest.report.words.tasks import overall_sentence
from levelbest.results import TaskComparison

_FEWEST_ROWS, _MOST_PAIRS = 5, 10
"""Families and tasks of one screen; pairs with all details."""


def print_tasks(comparison: TaskComparison, *, details: bool = False) -> None:
    """Print it: the verdict over all tasks, aggregates, a line for each task; all pairs and doubts with ``details``."""
    out, many = console(), len(comparison.overall.families)
    print_choices(comparison.cautions, out, n_families=many, details=details)
    print_text(overall_sentence(comparison), out, "bold")
    out.print()
    improvements = improvement_section(comparison)
    last = range(improvements.size)[-_MOST_PAIRS:]
    for section in (aggregate_section(comparison), *([improvements.part(last)] if details else [])):
        rows = range(section.size if details else min(section.size, _FEWEST_ROWS))
        out.print(drawn_table(section.part(rows)))
        if details:
            print_text(section.note, out, "dim")
        out.print()
    sentences = {task: verdict_sentences(compared) for task, compared in comparison.tasks.items()}
    for task in list(sentences)[: None if details else _FEWEST_ROWS + 1]:
        text = f"{task}: {' '.join(sentences[task])}"
        print_text(text if details else textwrap.shorten(text, out.width, placeholder=" ..."), out)
    if not details and len(sentences) > _FEWEST_ROWS + 1:
        out.print(f"... and {len(sentences) - _FEWEST_ROWS - 1} more tasks")
    if details:
        out.print()
        print_variances(comparison.variances, out)
    print_cautions(comparison.cautions, out, n_families=many, details=details)
    print_text(" ".join(footer(comparison.overall, details=details)), out, "dim")
