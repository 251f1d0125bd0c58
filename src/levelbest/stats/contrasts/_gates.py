"""Permutation tests that a verdict of limits must pass, where the limits lean on a bootstrap.

With ten trials such limits name a winner too often. Under equal laws every dealing of the trials to the two families is
as likely as the one observed, so that these tests are exact, for any law and counts.

*Quantiles* of reported scores: at each budget, how often the best of n reports more than the quantile of both families
pooled, in the first family less in the second (a median test of winners).

*Budgets of cost*: the studentised differences of the curves over trials at a few budgets, and the difference of the
mean costs. The largest counts, each measured by its own quantile over the dealings.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from levelbest._check import FloatArray, IntArray
from levelbest.stats.bands import Ranked, statistic_draws
from levelbest.stats.best import Sample, Statistic, subset_fraction
from levelbest.stats.contrasts._contrast import Pair
from levelbest.stats.contrasts._dealings import Dealings, cells_of, least_p, nodes_of
from levelbest.stats.contrasts._families import (
    content,
    dealt,
    dealt_difference,
    half_of,
    order_of_pairs,
    pooled,
    swapped,
    taken,
)
from levelbest.stats.contrasts._means import rounding_variance

Labels = npt.NDArray[np.bool_]
_PIECE = 500


class _Gate:
    """Two families whose pooled trials, in an ``order``, are dealt anew and looked at by a statistic at each node."""

    def __init__(self, samples: Sequence[Sample], nodes: IntArray, order: IntArray, *, paired: bool) -> None:
        self.samples, self.nodes, self.order, self.paired = samples, nodes, order, paired
        self.sizes = [sample.n_trials for sample in samples]

    def statistics(self, mine: Labels) -> FloatArray:
        """(node, dealing), ``mine`` saying in the order of the trials which are the first family's."""
        raise NotImplementedError

    def inside(self, _pair: Pair) -> int:
        """All nodes are of this pair."""
        return self.nodes.size

    def observed(self) -> FloatArray:
        """At the nodes."""
        return self.statistics(np.repeat([True, False], self.sizes)[self.order][None])[:, 0]

    def dealt_t(self, _pair: Pair, size: int, rng: np.random.Generator) -> FloatArray:
        """With the trials dealt anew, or swapped within pairs: (node, dealing)."""
        parts = []
        for start in range(0, size, _PIECE):
            rows = min(_PIECE, size - start)
            if self.paired:
                mine = swapped(self.sizes[0], rows, rng)[:, self.order].astype(bool)
            else:
                mine = dealt(self.sizes[0], self.sizes[1], rows, rng)
            parts.append(self.statistics(mine))
        return np.concatenate(parts, axis=1)

    def p_values(self, n: IntArray, cells: IntArray, level: float) -> FloatArray:
        """Step-down at the budgets that the nodes stand for, drawn until the least stands at ``level``."""
        return Dealings(self, (0, 1), level).settle(self.observed()[cells], n, self.nodes, cells)


class Exceedances(_Gate):
    """How often the winners of each family report more than the pooled quantile."""

    def __init__(self, samples: Sequence[Sample], nodes: IntArray, statistic: Statistic, *, paired: bool) -> None:
        both = pooled(*samples)
        ranked = Ranked(both.selection, nodes, both.claimed)
        super().__init__(samples, nodes, ranked.order, paired=paired)
        self._starts = ranked.starts
        # which pooled trials, in rank order, report more than the pooled quantile at each node; half where equal
        middles = statistic_draws(ranked, statistic, np.ones((1, ranked.n_trials), dtype=np.int64))[:, 0]
        self._above = [(ranked.reported > middle) + 0.5 * (ranked.reported == middle) for middle in middles]
        # for a family of so many trials, at each node, how often the best of n is among the k lowest
        self._below = {size: [subset_fraction(np.arange(size + 1), size, n) for n in nodes] for size in set(self.sizes)}

    def _shares(self, counts: IntArray, size: int) -> FloatArray:
        """(node, dealing) of one family's trials, given as counts in rank order."""
        sizes = np.add.reduceat(counts, self._starts, axis=1)
        lowest = np.concatenate([np.zeros((counts.shape[0], 1), dtype=np.int64), np.cumsum(sizes, axis=1)], axis=1)
        each = 1 / np.maximum(sizes, 1)
        out = np.empty((self.nodes.size, counts.shape[0]))
        for row, share, above in zip(out, self._below[size], self._above, strict=True):
            weights = np.diff(share.take(lowest), axis=1)
            np.einsum("bg,bg,bg->b", weights, each, np.add.reduceat(counts * above, self._starts, axis=1), out=row)
        return out

    def statistics(self, mine: Labels) -> FloatArray:
        """How much more often in the first family than in the second, or the other way round."""
        counts = mine.astype(np.int64)
        return np.abs(self._shares(counts, self.sizes[0]) - self._shares(1 - counts, self.sizes[1]))


def quantile_p(pair: Sequence[Sample], n: IntArray, statistic: Statistic, level: float, *, paired: bool) -> FloatArray:
    """P-values at the budgets, step-down over them; 1 past half the trials."""
    ordered = sorted(pair, key=content)
    if paired:
        rows = order_of_pairs(ordered)
        ordered = [taken(sample, rows) for sample in ordered]
    inside = n[n <= half_of(*(sample.n_trials for sample in pair))]
    p_values = np.ones(n.size)
    if inside.size:
        nodes = nodes_of(inside)
        gate = Exceedances(ordered, nodes, statistic, paired=paired)
        p_values[: inside.size] = gate.p_values(inside, cells_of(inside, nodes), level)
    return p_values


class Joint(_Gate):
    """Trials with their costs; the cost stands beyond the last budget."""

    def __init__(self, samples: Sequence[Sample], costs: Sequence[FloatArray]) -> None:
        sizes = [sample.n_trials for sample in samples]
        budgets = np.unique(np.geomspace(1, half_of(*sizes), 4).astype(np.int64))
        both = pooled(*samples)
        self._sides = [Ranked(both.selection, budgets, both.claimed, size=size) for size in sizes]
        super().__init__(samples, np.append(budgets, 2 * max(sizes)), self._sides[0].order, paired=False)
        least = rounding_variance(both.claimed)
        self._floors = [least * np.square(side.weights).sum(axis=1)[:, None] for side in self._sides]
        cost = np.concatenate(costs)[self.order]
        self._cost = cost - cost.mean()

    def statistics(self, mine: Labels) -> FloatArray:
        """t of the curves at each budget, and the difference of the mean costs."""
        first = mine @ self._cost
        cost = np.abs(first / self.sizes[0] + first / self.sizes[1])
        return np.concatenate([dealt_difference(self._sides, self._floors, mine), cost[None]])


def one_law_p(samples: Sequence[Sample], costs: Sequence[FloatArray], level: float) -> float:
    """The p-value of one law of score and cost; 1 where no dealing reaches ``level``."""
    if least_p((samples[0].n_trials, samples[1].n_trials), paired=False) > level:
        return 1.0
    order = sorted(range(2), key=lambda f: (content(samples[f]), np.sort(costs[f]).tobytes()))
    joint = Joint([samples[f] for f in order], [costs[f] for f in order])
    return float(joint.p_values(joint.nodes, np.arange(joint.nodes.size), level).min())
