"""Limits of Gaffke's type for the expected best of n of one score column.

The ranks of a continuous sample are those of sorted uniforms U_1 < ... < U_m, and E[best of n] is the integral of
the quantile function against d(u^n). Where the scores are X_1 <= ... <= X_m, a quantile function that steps up to X_j
already at U_{j-1} lies above what the sample allows, and one that stays at X_j until U_{j+1} below. With X_0 and
X_{m+1} the ends of the score, over random U the limits are

    upper: the 1 - alpha/2 quantile of sum_{j=1}^{m+1} (U_j^n - U_{j-1}^n) X_j = X_{m+1} - sum U_j^n (X_{j+1} - X_j)
    lower: the alpha/2 quantile of sum_{j=0}^{m} (U_{j+1}^n - U_j^n) X_j = X_m - sum U_j^n (X_j - X_{j-1})

For n = 1 and ends that bound the score these are Gaffke's (2005) limits for a mean, and for 0/1 scores
Clopper-Pearson's. That they cover at least at the nominal rate for every distribution is a conjecture even for n = 1
(Phan, Thomas and Learned-Miller 2021 prove a relative): the evidence is simulation. Nothing is studentised, so heavy
ties do no harm.

With the ends at the bounds, where any distribution allows a further score to be, one pays for that however far the
bound is: at n = m/2 of 80 accuracies about .78 the limits are a hundred standard errors wide. `further_scores` are near
the others instead. With g the distance from the best score to the k-th best, k = sqrt(m) but at least 3 and at most a
quarter of the trials,

    X_{m+1} = X_m + (.3 + .4 (1 - 1/n) + 1.4 (n - 1)/m) (1.35 + 8/m) g,     at most the bound,

and X_0 likewise on the worse side without the term in n/m: the larger n, the more rests on a trial that was not seen.
Between two bounds the further score is at least as far in log odds, so that a sample that lies close to one bound and
thins out towards the other allows for what may come (for 5 trials of Kumaraswamy(.4, 3): .95 where .83 were covered).
Where the best quarter of the trials ties, nothing tells what a better one would score: the bound stands, and without
one there is no interval. The steps of both limits are moved towards each other by .25/n of a spacing, less where scores
tie: Gaffke's limits are half a spacing too wide on each side for a smooth distribution, and just right for 0/1 scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from levelbest._check import Bounds, FloatArray, IntArray
from levelbest.stats.bands._limits import hats, rank_edges
from levelbest.stats.bands._resample import allow

FEWEST_TRIALS = 3
"""Trials that say anything about the next one."""
_UNIFORMS_AT_ONCE = 1 << 17  # uniforms in one piece
_BY_STEPS = 12  # up to this budget powers are products
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
    piece = max(1, _UNIFORMS_AT_ONCE // edges.size)
    for start in range(0, n_draws, piece):
        cut = slice(start, min(start + piece, n_draws))
        logs = np.log(sorted_uniforms(edges, m, cut.stop - start, rng))
        for i, (left, power) in enumerate(powers(logs, edges, m, n)):
            draws[:, i, cut] = (power @ sums[left:]).T
    return GaffkeDraws(float(ordered[0]), float(ordered[-1]), *draws)


def powers(logs: FloatArray, edges: IntArray, n_trials: int, n: IntArray) -> Iterator[tuple[int, FloatArray]]:
    """For every budget U^n at the edges from ``left`` on: below, it is 0 to any precision. Overwritten by the next.

    A small budget's powers follow from those of the one before, always in the same steps: a tenth of an exponential.
    """
    lefts = np.searchsorted(np.log(edges / (n_trials + 1.0)), -_GONE / n).tolist()
    few = int(np.searchsorted(n, _BY_STEPS, side="right"))
    if few:
        first = np.exp(logs[:, lefts[0] :])
        stepped, reached = first.copy(), 1
        for budget, left in zip(n[:few].tolist(), lefts[:few], strict=True):
            while reached < budget:
                stepped *= first
                reached += 1
            yield left, stepped[:, left - lefts[0] :]
    buffer = np.empty(logs.size)
    for budget, left in zip(n[few:].tolist(), lefts[few:], strict=True):
        power = buffer[: logs[:, left:].size].reshape(-1, edges.size - left)
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


def further_scores(
    ordered: FloatArray, n: FloatArray | IntArray, bounds: Bounds = (None, None)
) -> tuple[FloatArray, FloatArray]:
    """X_0 and X_{m+1} at each budget, for scores in order, worst first; NaN for the best where nothing tells it."""
    m = ordered.size
    near = (0.3 + 0.4 * (1 - 1 / n)) * (1.35 + 8 / m)
    far = near + 1.4 * (n - 1) / m * (1.35 + 8 / m)
    above = _further(ordered, far, bounds, needed=True)
    turned = tuple(None if bound is None else -bound for bound in bounds[::-1])
    return -_further(-ordered[::-1], near, (turned[0], turned[1]), needed=False), above


def closer_by(ordered: FloatArray, n: FloatArray | IntArray) -> FloatArray:
    """By what part of a spacing the steps of both limits are moved towards each other, at each budget."""
    distinct = np.count_nonzero(np.diff(ordered))
    return np.asarray(0.25 / n * (distinct / max(ordered.size - 1, 1)))


def _further(ordered: FloatArray, reach: FloatArray, bounds: Bounds, *, needed: bool) -> FloatArray:
    """A score imagined beyond the best, ``reach`` times as far as that lies from a neighbour; at most the bound.

    Between two bounds it is the farther of two: so far in scores, and so far in their log odds, which is more where the
    scores lie close to the other bound and thin out away from it. NaN where the best trials tie, nothing tells and it
    is ``needed``; the best score itself where it is not.
    """
    (lowest, highest), end = bounds, float(ordered[-1])
    other = _neighbour(ordered[-1] - ordered[::-1])
    if other == 0 or ordered.size < FEWEST_TRIALS:
        return np.full(reach.size, (math.nan if needed else end) if highest is None else highest)
    neighbour = float(ordered[-1 - other])
    further = end + reach * (end - neighbour)
    if highest is None:
        return np.asarray(further)
    if lowest is not None and lowest < neighbour < end < highest:
        odds, before = ((score - lowest) / (highest - score) for score in (end, neighbour))
        with np.errstate(over="ignore"):
            share = 1 / (1 + 1 / (odds * (odds / before) ** reach))
        further = np.maximum(further, lowest + (highest - lowest) * share)
    return np.minimum(further, highest)


def _neighbour(away: FloatArray) -> int:
    """Which score, from the best on, tells how far apart the best ones lie; 0 where the best quarter ties."""
    m = away.size
    fewest = min(FEWEST_TRIALS, m - 1)
    place = max(min(m // 4, round(math.sqrt(m))), fewest)
    if away[place] > 0:
        return place
    return int(np.argmax(away[: max(m // 4, fewest) + 1] > 0))
