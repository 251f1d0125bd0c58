"""Limits of Gaffke's type for the expected best of n of one score column.

The ranks of a continuous sample are those of sorted uniforms U_1 < ... < U_m, and E[best of n] is the integral of
the quantile function against d(u^n). Where the scores are X_1 <= ... <= X_m, a quantile function that steps up to X_j
already at U_{j-1} lies above what the sample allows, and one that stays at X_j until U_{j+1} below. With X_0 and
X_{m+1} the ends of the score, over random U the limits are

    upper: the 1 - alpha/2 quantile of sum_{j=1}^{m+1} (U_j^n - U_{j-1}^n) X_j = X_{m+1} - sum U_j^n (X_{j+1} - X_j)
    lower: the alpha/2 quantile of sum_{j=0}^{m} (U_{j+1}^n - U_j^n) X_j = X_m - sum U_j^n (X_j - X_{j-1})

For n = 1 and ends that bound the score these are Gaffke's (2005) limits for a mean, and for 0/1 scores
Clopper-Pearson's. That they cover at least at the nominal rate for every law is a conjecture even for n = 1 (Phan,
Thomas and Learned-Miller 2021 prove a relative): the evidence is simulation. Nothing is studentised, so heavy ties do
no harm.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest.stats.bands._resample import allow
from levelbest.stats.bands._thin import hats, rank_edges

__all__ = ["GaffkeDraws", "gaffke_draws", "powers", "sorted_uniforms"]

_CELLS = 1 << 17  # uniforms in one piece
_GONE = 80.0  # exp(-80) of the weight lies below the ranks that are left out


@dataclass(frozen=True, eq=False)
class GaffkeDraws:
    """What one set of uniforms says at every budget, (n, draw): all limits are made of these four."""

    worst: float
    best: float
    """Of the scores."""
    above: FloatArray
    """sum U_j^n (X_{j+1} - X_j) over j < m: how far below X_m the sum of the upper limit lies, without X_{m+1}."""
    below: FloatArray
    """sum U_j^n (X_j - X_{j-1}) over j > 1: the same for the lower limit, without X_0."""
    first: FloatArray
    """U_1^n, the weight of X_0 in the lower limit."""
    last: FloatArray
    """U_m^n; 1 - U_m^n is the weight of X_{m+1} in the upper limit."""

    def lower(self, end: float | FloatArray) -> FloatArray:
        """Draws whose quantiles are lower limits, with ``end`` for X_0: a number, or a column, one for each n."""
        return self.best - self.below - self.first * (self.worst - end)

    def upper(self, end: float | FloatArray) -> FloatArray:
        """Draws whose quantiles are upper limits, with ``end`` for X_{m+1}."""
        return self.best - self.above + (1 - self.last) * (end - self.best)


def gaffke_draws(ordered: FloatArray, n: IntArray, n_draws: int, rng: np.random.Generator) -> GaffkeDraws:
    """Draws for scores in order, worst first, at increasing budgets; uniforms at `rank_edges` only."""
    allow(n_draws, n.size, 4)
    m = ordered.size
    edges, gaps, places = rank_edges(m), np.diff(ordered), np.arange(1, m)
    ends = np.zeros((2, edges.size))
    ends[0, 0] = ends[1, -1] = 1.0
    sums = np.stack([hats(edges, places, gaps), hats(edges, places + 1, gaps), *ends]).T
    draws = np.empty((4, n.size, n_draws))
    piece = max(1, _CELLS // edges.size)
    for start in range(0, n_draws, piece):
        cut = slice(start, min(start + piece, n_draws))
        logs = np.log(sorted_uniforms(edges, m, cut.stop - start, rng))
        for i, (left, power) in enumerate(powers(logs, edges, m, n)):
            draws[:, i, cut] = (power @ sums[left:]).T
    return GaffkeDraws(float(ordered[0]), float(ordered[-1]), *draws)


def powers(logs: FloatArray, edges: IntArray, n_trials: int, n: IntArray) -> Iterator[tuple[int, FloatArray]]:
    """For every budget U^n at the edges from ``left`` on: below, it is 0 to any precision. Overwritten by the next."""
    depth = np.log(edges / (n_trials + 1.0))
    buffer = np.empty_like(logs)
    for budget in n.tolist():
        left = int(np.searchsorted(depth * budget, -_GONE))
        power = buffer[:, left:]
        np.multiply(logs[:, left:], float(budget), out=power)
        np.exp(power, out=power)
        yield left, power


def sorted_uniforms(edges: IntArray, n_trials: int, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Order statistics of ``n_trials`` uniforms at the ranks ``edges``, one draw per row, jointly as they are.

    U_k is a sum of k of n_trials + 1 exponential spacings over the sum of all, and a sum of k spacings a gamma
    variable.
    """
    steps = np.diff(edges, prepend=0, append=n_trials + 1)
    sums = np.cumsum(rng.standard_gamma(np.broadcast_to(steps, (n_draws, steps.size))), axis=1)
    return np.asarray(sums[:, :-1] / sums[:, -1:])
