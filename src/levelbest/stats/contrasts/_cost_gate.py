"""Whether scores and costs of two families may be one law: the permutation test that verdicts over cost must pass.

Limits of differences over cost lean on bootstrap draws, which with ten trials name a winner too often. Under one law of
score and cost every dealing of the trials is as likely as the one observed, so that the test is exact. Its statistic is
the largest of the studentised differences of the curves over trials at a few budgets and the difference of the mean
costs, each measured by its own quantile over the dealings.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from levelbest._check import FloatArray
from levelbest.stats.bands import Ranked
from levelbest.stats.best import Sample
from levelbest.stats.contrasts._dealings import Dealings, least_p
from levelbest.stats.contrasts._families import content, dealt, dealt_difference, half_of, pooled
from levelbest.stats.contrasts._welch import rounding_variance

__all__ = ["one_law_p"]

_PIECE = 400


class _Joint:
    """Trials with their costs, to be dealt anew; the cost stands beyond the last budget."""

    def __init__(self, samples: Sequence[Sample], costs: Sequence[FloatArray]) -> None:
        self.samples = samples
        sizes = [sample.n_trials for sample in samples]
        half = half_of(*sizes)
        self._n = np.unique(np.geomspace(1, half, 4).astype(np.int64))
        self.nodes = np.append(self._n, 2 * max(sizes))
        both = pooled(*samples)
        least = rounding_variance(both.claimed)
        self._sides = [Ranked(both.selection, self._n, both.claimed, size=size) for size in sizes]
        self._floors = [least * np.square(side.weights).sum(axis=1)[:, None] for side in self._sides]
        self._order = self._sides[0].order
        cost = np.concatenate(costs)[self._order]
        self._cost = cost - cost.mean()
        self._sizes = sizes

    def inside(self, _pair: tuple[int, int]) -> int:
        """All nodes."""
        return self.nodes.size

    def _statistics(self, mine: npt.NDArray[np.bool_]) -> FloatArray:
        first = mine @ self._cost
        cost = np.abs(first / self._sizes[0] + first / self._sizes[1])
        return np.concatenate([dealt_difference(self._sides, self._floors, mine), cost[None]])

    def observed(self) -> FloatArray:
        """At the nodes."""
        mine = np.repeat([True, False], self._sizes)[self._order]
        return self._statistics(mine[None])[:, 0]

    def dealt_t(self, _pair: tuple[int, int], size: int, rng: np.random.Generator) -> FloatArray:
        """(node, dealing)."""
        first, second = self._sizes
        pieces = [min(_PIECE, size - start) for start in range(0, size, _PIECE)]
        return np.concatenate([self._statistics(dealt(first, second, rows, rng)) for rows in pieces], axis=1)


def one_law_p(samples: Sequence[Sample], costs: Sequence[FloatArray], level: float) -> float:
    """The p-value of one law of score and cost, drawn until it stands at ``level``; 1 where no dealing reaches that."""
    if least_p((samples[0].n_trials, samples[1].n_trials), paired=False) > level:
        return 1.0
    order = sorted(range(2), key=lambda f: (content(samples[f]), np.sort(costs[f]).tobytes()))
    joint = _Joint([samples[f] for f in order], [costs[f] for f in order])
    dealings = Dealings(joint, (0, 1), level)
    observed, cells, p_value = joint.observed(), np.arange(joint.nodes.size), 1.0
    while dealings.more():
        p_value = float(dealings.p_values(observed, joint.nodes, joint.nodes, cells).min())
        if dealings.stands(p_value, level):
            break
    return p_value
