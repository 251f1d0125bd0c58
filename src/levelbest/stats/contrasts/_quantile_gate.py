"""The permutation test that confirms a difference of quantiles of reported scores.

Percentile limits of a quantile cover too rarely with ten trials against a hundred. So a winner is named only where
dealing the trials anew rarely gives as much: at each budget, how often the best of n reports more than the quantile of
both families pooled, in the first family less in the second (a median test of winners). Exact under equal laws, for any
law and counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest.stats.bands import Ranked, statistic_draws
from levelbest.stats.best import Sample, Statistic, subset_fraction
from levelbest.stats.contrasts._dealings import Dealings
from levelbest.stats.contrasts._families import content, dealt, half_of, order_of_pairs, pooled, swapped, taken
from levelbest.stats.contrasts._nodes import cells_of, nodes_of

__all__ = ["quantile_p"]

_PIECE = 500


@dataclass(eq=False)
class Exceedances:
    """How often the winners of each family report more than the pooled quantile."""

    samples: tuple[Sample, Sample]
    nodes: IntArray
    statistic: Statistic
    paired: bool

    def inside(self, _pair: tuple[int, int]) -> int:
        """All nodes are of this pair."""
        return self.nodes.size

    @cached_property
    def _pooled(self) -> Ranked:
        both = pooled(*self.samples)
        return Ranked(both.selection, self.nodes, both.claimed)

    @cached_property
    def _above(self) -> list[FloatArray]:
        """Which pooled trials, in rank order, report more than the pooled quantile at each node; half where equal."""
        ranked = self._pooled
        ones = np.ones((1, ranked.n_trials), dtype=np.int64)
        middles = statistic_draws(ranked, self.statistic, ones)[:, 0]
        return [(ranked.reported > middle) + 0.5 * (ranked.reported == middle) for middle in middles]

    @cached_property
    def _below(self) -> dict[int, list[FloatArray]]:
        """For a family of so many trials, at each node, how often the best of n is among the k lowest."""
        sizes = {sample.n_trials for sample in self.samples}
        return {size: [subset_fraction(np.arange(size + 1), size, n) for n in self.nodes] for size in sizes}

    def _shares(self, counts: IntArray, size: int) -> FloatArray:
        """(node, dealing) of one family's trials, given as counts in rank order."""
        starts = self._pooled.starts
        sizes = np.add.reduceat(counts, starts, axis=1)
        lowest = np.concatenate([np.zeros((counts.shape[0], 1), dtype=np.int64), np.cumsum(sizes, axis=1)], axis=1)
        each = 1 / np.maximum(sizes, 1)
        out = np.empty((self.nodes.size, counts.shape[0]))
        for row, share, above in zip(out, self._below[size], self._above, strict=True):
            weights = np.diff(share.take(lowest), axis=1)
            np.einsum("bg,bg,bg->b", weights, each, np.add.reduceat(counts * above, starts, axis=1), out=row)
        return out

    def _difference(self, mine: IntArray) -> FloatArray:
        sizes = [sample.n_trials for sample in self.samples]
        return np.abs(self._shares(mine, sizes[0]) - self._shares(1 - mine, sizes[1]))

    def observed(self) -> FloatArray:
        """At the nodes."""
        sizes = [sample.n_trials for sample in self.samples]
        mine = np.repeat([1, 0], sizes)[self._pooled.order]
        return self._difference(mine[None])[:, 0]

    def dealt_t(self, _pair: tuple[int, int], size: int, rng: np.random.Generator) -> FloatArray:
        """With the trials dealt anew, or swapped within pairs: (node, dealing)."""
        first, second = (sample.n_trials for sample in self.samples)
        out = np.empty((self.nodes.size, size))
        for start in range(0, size, _PIECE):
            rows = min(_PIECE, size - start)
            if self.paired:
                mine = swapped(first, rows, rng)[:, self._pooled.order]
            else:
                mine = dealt(first, second, rows, rng).astype(np.int64)
            out[:, start : start + rows] = self._difference(mine)
        return out


def quantile_p(
    pair: tuple[Sample, Sample], n: IntArray, statistic: Statistic, level: float, *, paired: bool
) -> FloatArray:
    """P-values at the budgets, step-down over them, drawn until the least stands; 1 past half the trials."""
    if paired:
        order = order_of_pairs(sorted(pair, key=content))
        pair = taken(pair[0], order), taken(pair[1], order)
    first, second = sorted(pair, key=content)
    inside = n[n <= half_of(first.n_trials, second.n_trials)]
    p_values = np.ones(n.size)
    if not inside.size:
        return p_values
    nodes = nodes_of(inside)
    cells, shares = cells_of(inside, nodes), Exceedances((first, second), nodes, statistic, paired)
    dealings = Dealings(shares, (0, 1), level)
    observed = shares.observed()[cells]
    while dealings.more():
        p_values[: inside.size] = dealings.p_values(observed, inside, nodes, cells)
        if dealings.stands(float(p_values.min()), level):
            break
    return p_values
