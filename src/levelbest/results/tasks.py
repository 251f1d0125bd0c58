"""Comparisons over several tasks as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from levelbest._plain import picked, plain
from levelbest.cautions import Caution
from levelbest.results.comparison import Comparison
from levelbest.results.curve import Curve
from levelbest.results.variance import FamilyVariance

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class OverTasks:
    """One number of a family (or, of two families, of the first against the second) over all tasks at one budget, with
    pointwise limits by resampling trials within tasks."""

    families: tuple[str, ...]
    n: int
    value: float
    low: float
    high: float

    @property
    def family(self) -> str:
        """The one, or the first."""
        return self.families[0]

    def to_dict(self) -> dict[str, object]:
        """The form that ``--json`` prints."""
        return plain(picked(self, "families" if len(self.families) > 1 else "family", "n", "value", "low", "high"))


@dataclass(frozen=True, eq=False)
class TaskComparison:
    """Verdicts per task, and over all tasks: mean differences in units of each task's spread, mean ranks, interquartile
    means and probabilities of improvement."""

    tasks: Mapping[str, Comparison]
    overall: Comparison
    ranks: tuple[OverTasks, ...]
    """Mean ranks, 1 is best."""
    iqm: tuple[OverTasks, ...] = ()
    """The mean of the middle half of the best of n over all tasks."""
    improvements: tuple[OverTasks, ...] = ()
    """The chance that the first's best of n beats the second's, averaged over tasks."""
    as_scored: bool = False
    """Whether interquartile means are of the scores themselves: where bounds and direction are those of every task;
    else of distances from each task's mean in its standard deviations."""
    curves: tuple[Curve, ...] = ()
    """The mean over tasks of the standardised curves."""

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What a reviewer would ask, over all tasks."""
        return tuple(dict.fromkeys(c for own in self.tasks.values() for c in own.cautions))

    @property
    def variances(self) -> tuple[FamilyVariance, ...]:
        """By source, of each family on each task whose configurations have several runs."""
        return tuple(
            replace(own, family=f"{own.family} on {task}")
            for task, compared in self.tasks.items()
            for own in compared.variances
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        """The verdict over all tasks first, then each task's."""
        from levelbest.report.words.tasks import task_sentences

        return task_sentences(self)

    @property
    def summary(self) -> tuple[str, ...]:
        """The sentences to read aloud, as of a comparison."""
        return self.sentences

    def __repr__(self) -> str:
        return f"TaskComparison({', '.join(self.tasks)}: {self.overall!r})"

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def to_dict(self) -> dict[str, object]:
        """The overall comparison in the usual form, with the tasks' own and the ranks beside it."""
        from levelbest.report.words.tasks import normalised_words

        document = self.overall.to_dict()
        document["normalised"] = normalised_words()
        document["tasks"] = {task: own.to_dict() for task, own in self.tasks.items()}
        document["ranks"] = [{**row.to_dict(), "mean_rank": row.value} for row in self.ranks]
        document["iqm"] = [row.to_dict() for row in self.iqm]
        document["iqm_scale"] = "score" if self.as_scored else "sd"
        document["probability_of_improvement"] = [row.to_dict() for row in self.improvements]
        document["warnings"] = [caution.to_dict() for caution in self.cautions]
        return document

    def to_frame(self) -> object:
        """The comparison over all tasks: one row per pair and budget."""
        return self.overall.to_frame()

    def plot(self, ax: Axes | None = None, *, bands: bool = True, log: bool = True) -> Axes:
        """Draw the differences over all tasks on a matplotlib Axes, a new one where none is given, and return it."""
        from levelbest.report.figures.axes import draw_comparison
        from levelbest.report.words.tasks import score_words

        return draw_comparison(ax, self.overall, score=score_words(self), bands=bands, log=log)

    def _repr_html_(self) -> str:
        """How a notebook shows it: a picture and a short table."""
        from levelbest.report.notebook import comparison_html
        from levelbest.report.words.tasks import score_words

        return comparison_html(self.overall, sentences=self.summary, score=score_words(self))
