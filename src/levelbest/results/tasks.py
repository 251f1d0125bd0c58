"""Comparisons over several tasks as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from levelbest._check import FloatArray
from levelbest._shown import Documented, DrawnVerdict, presenter
from levelbest.cautions import Caution
from levelbest.results.comparison import Comparison, PairComparison
from levelbest.results.curve import Curve
from levelbest.results.variance import FamilyVariance


@dataclass(frozen=True)
class OverTasks(Documented):
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


@dataclass(frozen=True, eq=False)
class Profile(Documented):
    """The share of a family's runs above each score, every task counting the same, with pointwise limits."""

    family: str
    score: FloatArray
    value: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, eq=False)
class TaskComparison(DrawnVerdict):
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
    profiles: tuple[Profile, ...] = ()
    """On the scale of the interquartile means."""
    curves: tuple[Curve, ...] = ()
    """The mean over tasks of the standardised curves."""

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What a reviewer would ask, over all tasks."""
        return tuple(dict.fromkeys(c for comparison in self.tasks.values() for c in comparison.cautions))

    @property
    def variances(self) -> tuple[FamilyVariance, ...]:
        """By source, of each family on each task whose configurations have several runs."""
        return tuple(
            replace(variance, family=f"{variance.family} on {task}")
            for task, compared in self.tasks.items()
            for variance in compared.variances
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        """The verdict over all tasks first, then each task's."""
        return presenter().sentences(self)

    @property
    def summary(self) -> tuple[str, ...]:
        """The sentences to read aloud, as of a comparison."""
        return self.sentences

    def __getitem__(self, key: str | tuple[str, str]) -> Comparison | PairComparison:
        """``comparison["Breakout"]`` is the comparison on one task, ``comparison["a", "b"]`` a pair over all tasks."""
        return self.tasks[key] if isinstance(key, str) else self.overall[key]

    def __repr__(self) -> str:
        return f"TaskComparison({', '.join(self.tasks)}: {self.overall!r})"

    def to_frame(self) -> object:
        """The comparison over all tasks: one row per pair and budget."""
        return self.overall.to_frame()
