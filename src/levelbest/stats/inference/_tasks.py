"""Trials within tasks: exchanged within each task, all tasks together; the difference is its mean over tasks."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from levelbest._check import Bounds, FloatArray, IntArray
from levelbest.stats.best import Sample, standardised
from levelbest.stats.inference._draws import Draws, averaged
from levelbest.stats.inference._hypotheses import Pair
from levelbest.stats.inference._trials import TrialUnits, content, nodes_alone
from levelbest.stats.inference._units import Evidence, Families, IndependentUnits, root_of_cubes, satterthwaite


class StratifiedUnits(IndependentUnits):
    """Trials within tasks: permuted within each task, all tasks together; the difference is its mean over tasks.

    Parameters
    ----------
    tasks
        Scores of each family on every task, `standardised` so that they can be averaged.
    nodes
        Budgets at which trials are permuted, increasing.
    """

    def __init__(self, tasks: Sequence[Sequence[Sample]], nodes: IntArray) -> None:
        # in an order of their own, whatever the tasks are called
        held = sorted(tasks, key=lambda samples: sorted(map(content, samples)))
        self.tasks = [TrialUnits(samples, nodes, task=place) for place, samples in enumerate(held)]
        self.nodes, self.order = nodes, self.tasks[0].order
        self.sizes = tuple(min(counts) for counts in zip(*(task.sizes for task in self.tasks), strict=True))

    @property
    def strata(self) -> Sequence[TrialUnits]:
        """The tasks."""
        return self.tasks

    def furthest(self, f: int) -> int:
        """Of the task that reaches least."""
        return min(task.furthest(f) for task in self.tasks)

    def counts(self, f: int) -> Hashable:
        """Of every task."""
        return tuple(task.sizes[f] for task in self.tasks)

    def foreseen(self, pair: Pair) -> int:
        """Of the task that can tell least."""
        return min(task.foreseen(pair) for task in self.tasks)

    def fewest(self, n: int) -> int:
        """Of each task."""
        return self.tasks[0].fewest(n)

    def at(self, n: int) -> StratifiedUnits:
        """The same trials at one budget."""
        return StratifiedUnits([task.samples for task in self.tasks], np.array([n]))

    def without_others(self, pair: Pair, n: IntArray, headline: int | None) -> tuple[StratifiedUnits, Pair]:
        """In units of the standard deviation of the two families' scores."""
        tasks = [standardised([task.samples[f] for f in pair]) for task in self.tasks]
        return StratifiedUnits(tasks, nodes_alone(self.tasks[0].statistic, n, headline)), (0, 1)

    def evidence(self, pair: Pair, n: IntArray) -> Evidence:
        """Means over tasks."""
        return _over_tasks([task.evidence(pair, n) for task in self.tasks])

    def skew(self, pair: Pair) -> FloatArray:
        """Third moments of tasks add up."""
        return root_of_cubes(np.stack([task.skew(pair)[: self.inside(pair)] for task in self.tasks]))

    def estimate(self, pair: Pair, n: IntArray) -> FloatArray:
        """The mean over tasks."""
        return np.asarray(np.mean([task.estimate(pair, n) for task in self.tasks], axis=0))

    def assignments(self, families: Families) -> float:
        """Of all tasks together."""
        logs = sum(np.log(task.assignments(families)) for task in self.tasks)
        return float(np.exp(min(logs, 700.0)))

    def draws(self, pair: Pair, bounds: Bounds = (None, None)) -> Draws:
        """Means of the tasks' draws."""
        return self._mean([task.draws(pair, bounds) for task in self.tasks])

    def curve(self, f: int, n: IntArray) -> Evidence:
        """One family's mean curve over tasks."""
        return _over_tasks([task.curve(f, n) for task in self.tasks])

    def family_draws(self, f: int, bounds: Bounds = (None, None), stream: int = 0) -> Draws:
        """Of one family's mean curve over tasks."""
        k = self.inside((f,))
        parts = [task.family_draws(f, bounds, stream) for task in self.tasks]
        return self._mean([Draws(draws.lower[:k], draws.upper[:k]) for draws in parts])

    def _mean(self, parts: Sequence[Draws]) -> Draws:
        return averaged(parts, [1 / len(parts)] * len(parts))

    def variances(self, pair: Pair, n: int) -> tuple[float, float]:
        """Sums over tasks."""
        each = [task.variances(pair, n) for task in self.tasks]
        first, second = (sum(task_variances) / len(each) ** 2 for task_variances in zip(*each, strict=True))
        return first, second

    def effective(self, pair: Pair, n: int) -> float:
        """On the task where fewest speak."""
        return min(task.effective(pair, n) for task in self.tasks)


def _over_tasks(parts: Sequence[Evidence]) -> Evidence:
    """The mean over tasks, which are independent: variances add."""
    variances = [np.square(evidence.error) for evidence in parts]
    return Evidence(
        np.mean([evidence.difference for evidence in parts], axis=0),
        np.sqrt(np.sum(variances, axis=0)) / len(parts),
        satterthwaite(variances, [evidence.freedom for evidence in parts]),
    )
