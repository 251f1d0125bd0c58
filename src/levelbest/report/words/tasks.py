"""Comparisons over several tasks, in words."""

from __future__ import annotations

from levelbest.results import TaskComparison

__all__ = ["normalised_words", "task_sentences"]


def task_sentences(comparison: TaskComparison) -> tuple[str, ...]:
    """The verdict over all tasks first, then each task's."""
    count = len(comparison.tasks)
    last = max(rank.n for rank in comparison.ranks)
    shown = ", ".join(
        f"{rank.family} {rank.value:.2f} ({rank.low:.2f} to {rank.high:.2f})"
        for rank in sorted(comparison.ranks, key=lambda rank: rank.value)
        if rank.n == last
    )
    overall = [f"Over {count} tasks ({normalised_words()}): {text}" for text in comparison.overall.sentences]
    each = [f"{task}: {text}" for task, own in comparison.tasks.items() for text in own.sentences]
    return (*overall, f"Mean rank over {count} tasks at n = {last}: {shown}.", *each)


def normalised_words() -> str:
    """What differences over tasks are measured in."""
    return "mean difference in standard deviations of each task's scores"
