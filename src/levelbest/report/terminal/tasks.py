"""A comparison over several tasks on one screen: a row for each family and a line for each task."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from levelbest.report.tables.sections import aggregate_section, improvement_section
from levelbest.report.tables.table import Table, texts
from levelbest.report.terminal.console import (
    console,
    drawn_table,
    held,
    print_foot,
    print_text,
    print_variances,
    release,
    screen_lines,
)
from levelbest.report.words.answers import answer_of, text_of, verdict_sentences
from levelbest.report.words.phrases import capital, footer
from levelbest.report.words.tasks import overall_sentence
from levelbest.results import TaskComparison

if TYPE_CHECKING:
    from rich.console import Console

_FEWEST_LINES, _MOST_PAIRS = 6, 10
"""Lines of families and of tasks on one screen; pairs with all details."""


def print_tasks(comparison: TaskComparison, *, details: bool = False, below: int = 0) -> None:
    """The verdict over all tasks, aggregates, a line for each task; all pairs and doubts with ``details``.

    So many lines ``below`` it are a report's.
    """
    out, many = console(), len(comparison.overall.families)
    conditions = " ".join(footer(comparison.overall, details=details))
    head = held(out, lambda: print_text(overall_sentence(comparison), out, "bold"), out.print)
    foot = held(out, lambda: print_foot(comparison.cautions, out, conditions, n_families=many, details=details))
    if details:
        release(out, head)
        _print_details(comparison, out)
        release(out, foot)
        return
    table = drawn_table(aggregate_section(comparison), most=_FEWEST_LINES)
    head += held(out, lambda: out.print(table), out.print)
    room = screen_lines(head, foot) - 1 - below
    by_task = {task: answer_of(compared) for task, compared in comparison.tasks.items()}
    # names are left as they are; words of ours begin a cell with a capital letter
    answers = [text_of(answer.names + answer.rest) for answer in by_task.values()]
    answers = [text if answer.names else capital(text) for answer, text in zip(by_task.values(), answers, strict=True)]
    wide = max(len(task) for task in [*by_task, "task"])
    short = [textwrap.shorten(text, max(20, out.width - wide - 2), placeholder=" ...") for text in answers]
    where = next(iter(by_task.values())).where
    tasks = Table((texts("task", list(by_task)), texts(where, short)))
    release(out, head)
    out.print(drawn_table(tasks, most=max(_FEWEST_LINES, room)))
    out.print()
    release(out, foot)


def _print_details(comparison: TaskComparison, out: Console) -> None:
    """Aggregates and improvements with what they are, every sentence of every task, and the variances."""
    improvements = improvement_section(comparison)
    for section in (aggregate_section(comparison), improvements.part(range(improvements.size)[-_MOST_PAIRS:])):
        out.print(drawn_table(section))
        print_text(section.note, out, "dim")
        out.print()
    for task, compared in comparison.tasks.items():
        print_text(f"{task}: {' '.join(verdict_sentences(compared))}", out)
    out.print()
    print_variances(comparison.variances, out)
