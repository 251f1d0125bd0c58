"""Comparisons over several tasks, in words."""

from __future__ import annotations

from levelbest.report.words.conditions import condition_sentence
from levelbest.report.words.verdicts import verdict_sentences
from levelbest.results import TaskComparison

__all__ = ["normalised_words", "task_sentences"]


def task_sentences(comparison: TaskComparison) -> tuple[str, ...]:
    """The verdict over all tasks first, then mean ranks, each task's verdict, and what stands behind them."""
    count = len(comparison.tasks)
    last = max(rank.n for rank in comparison.ranks)
    shown = ", ".join(
        f"{rank.family} {rank.value:.2f} ({rank.low:.2f} to {rank.high:.2f})"
        for rank in sorted(comparison.ranks, key=lambda rank: rank.value)
        if rank.n == last
    )
    overall = " ".join(verdict_sentences(comparison.overall))
    each = [f"{task}: {' '.join(verdict_sentences(own))}" for task, own in comparison.tasks.items()]
    return (
        f"Over {count} tasks ({normalised_words()}): {overall}",
        f"Mean rank over {count} tasks at n = {last}: {shown}.",
        *each,
        condition_sentence(comparison.overall),
    )


def normalised_words() -> str:
    """What differences over tasks are measured in."""
    return "mean difference in standard deviations of each task's scores"
