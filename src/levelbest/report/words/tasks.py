"""Comparisons over several tasks, in words and as tables."""

from __future__ import annotations

from collections.abc import Sequence

from levelbest._plain import show_with_limits
from levelbest.report.words.answers import answer_of, verdict_sentences
from levelbest.report.words.phrases import condition_sentence, plural
from levelbest.results import OverTasks, TaskComparison

STANDARD = "sd from each task's mean"
"""What curves over tasks are measured in."""
TASK_REFERENCE = (
    "R. Agarwal, M. Schwarzer, P. S. Castro, A. Courville, M. G. Bellemare. Deep Reinforcement Learning at the Edge of "
    "the Statistical Precipice. NeurIPS 2021."
)


def task_sentences(comparison: TaskComparison) -> tuple[str, ...]:
    """The verdict over all tasks first, then ranks and other numbers, each task's verdict, and what stands behind."""
    count = len(comparison.tasks)
    last = max(rank.n for rank in comparison.ranks)
    middle = aggregate_budgets(comparison)[-1]
    each = [f"{task}: {' '.join(verdict_sentences(compared))}" for task, compared in comparison.tasks.items()]
    return (
        overall_sentence(comparison),
        f"Mean rank over {count} tasks at n = {last}: {_listed(comparison.ranks, last, best_low=True)}.",
        f"Interquartile mean over {count} tasks at n = {middle} ({scale_words(comparison)}): "
        f"{_listed(comparison.iqm, middle, best_low=low_is_better(comparison))}.",
        f"Probability of improvement at n = {middle}, averaged over tasks: "
        + ", ".join(f"{' over '.join(row.families)} {_shown(row)}" for row in rows_at(comparison.improvements, middle))
        + ".",
        *each,
        condition_sentence(comparison.overall),
    )


def overall_sentence(comparison: TaskComparison) -> str:
    """The verdict over all tasks."""
    first, *further = verdict_sentences(comparison.overall)
    over = f"Over {len(comparison.tasks)} tasks"
    where = answer_of(comparison.overall).where
    first = f", {where}{first[len(where) :]}" if where else f": {first}"
    return " ".join([f"{over}{first}", *further, f"Differences: {normalised_words()}."])


def normalised_words() -> str:
    """What differences over tasks are measured in."""
    return "means over the tasks, in standard deviations of each task's scores"


def scale_words(comparison: TaskComparison) -> str:
    """What interquartile means are of."""
    if comparison.as_scored:
        return f"of {comparison.overall.terms.metric.score} as scored"
    return "in standard deviations from each task's mean, higher is better"


def score_words(comparison: TaskComparison) -> str:
    """What curves and differences over all tasks are of."""
    return f"{comparison.overall.terms.metric.score} ({STANDARD})"


def task_methods(comparison: TaskComparison) -> str:
    """A sentence for the methods paragraph."""
    return (
        f"Over {plural(len(comparison.tasks), 'task')}, curves and differences are means in standard deviations from "
        f"each task's mean; interquartile means and probabilities of improvement are those of [5], with limits that "
        "resample all but one of the trials within each task."
    )


def aggregate_words(comparison: TaskComparison) -> str:
    """What aggregates are of."""
    words = comparison.overall.terms.words
    return words.single or (
        f"one {words.unit}" if aggregate_budgets(comparison) == [1] else f"the best of n {words.units}"
    )


def aggregate_budgets(comparison: TaskComparison) -> list[int]:
    """The budgets that have aggregates."""
    return sorted({row.n for row in comparison.iqm})


def rows_at(rows: Sequence[OverTasks], n: int) -> list[OverTasks]:
    """The rows of one budget."""
    return [row for row in rows if row.n == n]


def low_is_better(comparison: TaskComparison) -> bool:
    """Whether aggregates are of scores of which lower ones are better."""
    direction = next(iter(comparison.tasks.values())).terms.metric.direction
    return comparison.as_scored and direction == "min"


def _listed(rows: Sequence[OverTasks], n: int, *, best_low: bool) -> str:
    ordered = sorted(rows_at(rows, n), key=lambda row: row.value if best_low else -row.value)
    return ", ".join(f"{row.family} {_shown(row)}" for row in ordered)


def _shown(row: OverTasks) -> str:
    return show_with_limits(row.value, row.low, row.high, least=2)
