"""Trials with their costs: the test that score and cost of two families have one distribution."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest.stats.best import Sample
from levelbest.stats.inference._exchange import Exchange
from levelbest.stats.inference._question import Pair
from levelbest.stats.inference._trials import TrialUnits, half_of, pooled
from levelbest.stats.inference._units import Families, IndependentUnits, Labels


class CostUnits(IndependentUnits):
    """Two families at a few budgets of trials and, as a last node, the difference of their mean costs."""

    def __init__(self, samples: Sequence[Sample], costs: Sequence[FloatArray]) -> None:
        self.costs, self.sizes = costs, tuple(sample.n_trials for sample in samples)
        budgets = np.unique(np.geomspace(1, half_of(*self.sizes), 4).astype(np.int64))
        self.trials = TrialUnits([Sample(own.selection, own.claimed) for own in samples], budgets)
        self.nodes = np.append(budgets, 2 * max(self.sizes))  # the cost stands beyond the last budget
        self.order = {0: 0, 1: 1}
        both, spent = pooled(samples), np.concatenate(costs)
        self._spent = (spent - spent.mean())[np.lexsort((both.claimed, both.selection))]

    def inside(self, families: Families) -> int:  # noqa: ARG002
        """All nodes."""
        return self.nodes.size

    def observed(self, pair: Pair, n: IntArray) -> FloatArray:
        """|t| of the curves, and the difference of the mean costs."""
        return np.append(np.abs(self.trials.evidence(pair, n[:-1]).t), abs(self.costs[0].mean() - self.costs[1].mean()))

    def curves(self, families: Families, k: int, labels: Labels) -> tuple[Sequence[FloatArray], Sequence[FloatArray]]:
        """The curves, and mean costs, which are not studentised."""
        values, variances = self.trials.curves(families, k - 1, labels)
        cost = [(labels == place) @ self._spent / self.sizes[f] for place, f in enumerate(families)]
        half = np.full((1, labels.shape[0]), 0.5)
        with_cost = [np.concatenate([own, spent[None]]) for own, spent in zip(values, cost, strict=True)]
        return with_cost, [np.concatenate([own, half]) for own in variances]


def joint_p(samples: Sequence[Sample], costs: Sequence[FloatArray], level: float) -> float:
    """The p-value that score and cost of two families have one distribution; 1 where no exchange reaches ``level``."""

    def content(f: int) -> tuple[int, float, float]:
        return samples[f].n_trials, float(costs[f].mean()), float(samples[f].claimed.mean())

    held = sorted(range(2), key=content)
    units, pair = CostUnits([samples[f] for f in held], [costs[f] for f in held]), (0, 1)
    test = Exchange(units, pair, units.nodes, units.observed(pair, units.nodes)[None], level)
    return float(test.p_values().min())
