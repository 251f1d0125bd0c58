"""Comparisons over several tasks as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from levelbest._plain import plain
from levelbest.cautions import Caution
from levelbest.results.comparison import Comparison

__all__ = ["Rank", "TaskComparison"]


@dataclass(frozen=True)
class Rank:
    """One family's mean rank over the tasks at one budget: 1 is best; an interval by resampling trials."""

    family: str
    n: int
    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class TaskComparison:
    """Verdicts per task, and over all tasks: mean differences in units of each task's spread, and mean ranks."""

    tasks: Mapping[str, Comparison]
    overall: Comparison
    ranks: tuple[Rank, ...]

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What a reviewer would ask, over all tasks."""
        return tuple(dict.fromkeys(c for own in self.tasks.values() for c in own.cautions))

    @property
    def sentences(self) -> tuple[str, ...]:
        """The verdict over all tasks first, then each task's."""
        from levelbest.report.words.tasks import task_sentences

        return task_sentences(self)

    def __repr__(self) -> str:
        return f"TaskComparison({', '.join(self.tasks)}: {self.overall!r})"

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def to_dict(self) -> dict[str, Any]:
        """The overall comparison in the usual form, with the tasks' own and the ranks beside it."""
        from levelbest.report.words.tasks import normalised_words

        document = self.overall.to_dict()
        document["normalised"] = normalised_words()
        document["tasks"] = {task: own.to_dict() for task, own in self.tasks.items()}
        rows = [{"family": r.family, "n": r.n, "mean_rank": r.value, "low": r.low, "high": r.high} for r in self.ranks]
        document["ranks"] = plain(rows)
        document["warnings"] = [caution.to_dict() for caution in self.cautions]
        return document

    def to_frame(self) -> Any:
        """The comparison over all tasks: one row per pair and budget."""
        return self.overall.to_frame()
