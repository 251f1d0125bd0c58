"""Limits of one pair's differences over budgets: studentised, from the bounds of the score, or both.

*Studentised.* Each resampled t is measured by its own quantile, upwards and downwards apart, so that neither the
longer side of a skewed t nor budgets near the end, where t has long tails, widen the limits elsewhere; the largest
measure over the budgets is what must not be exceeded. The quantile is that of the pair's level (97.5 % for one pair
at 95 %): nearer the middle, the tail of a family whose best scores tie would be measured by its body, and widen all
limits. With 50 trials and laws of unequal shape its quantile is somewhat too small: limits use `SHOWN` of the error
probability and verdicts, which a permutation must confirm, `DECIDED`.

*From bounds.* Limits of Gaffke's type (`bands._gaffke`) of both families are drawn together: the upper limit of a
difference is a quantile of the first's upper draws minus the second's lower ones. Nothing is studentised, so ties,
failures and modes that no trial shows do no harm. They cover more often than they promise: by default they use `WIDER`
times the error probability.

*Both*, where both bounds are known and the scores of one of the families spread over at least a quarter of what is
possible: up to a tenth of the trials the narrower, from a fifth on those from bounds; in between one moves over into
the other. Where the best quarter of a family ties, as 0/1 scores do, those from bounds from two trials on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from levelbest._check import FloatArray, IntArray
from levelbest.stats.bands import local_level, order_statistic, percentile
from levelbest.stats.contrasts._contrast import Pair
from levelbest.stats.contrasts._dealings import LEAST_UNIT, across, decisive_factor, past_draws, step_down
from levelbest.stats.contrasts._families import Families

SHOWN, DECIDED, WIDER = 0.4, 0.8, 1.2
_NORMAL = 1.96
_LEAST_BEYOND = 5
"""Resamples beyond the own quantile at the least: fewer would not place it."""
_SERVE = 0.25
_GAFFKE_DRAWS = 2_000

Limits = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class Measured:
    """Resampled t of one pair at its nodes, each measured by its own quantile."""

    up: FloatArray
    down: FloatArray
    null: FloatArray
    """(node, resample)."""
    tail: float
    """The share of the resamples beyond a quantile that measures them."""
    freedom: float
    """Of Student's t, which stands for the tail that so few resamples do not show."""

    @classmethod
    def of(cls, t: FloatArray, level: float, freedom: float) -> Measured:
        """From t at the nodes, (node, resample), for a pair whose share of the error is ``level``."""
        tail = max(level / 2, _LEAST_BEYOND / t.shape[1])
        low, up = percentile(t, tail)
        down = -low
        # Where resamples hardly ever move to one side, that side is measured as a normal one would be.
        up, down = (np.where(scale > 0, np.maximum(scale, LEAST_UNIT * _NORMAL), _NORMAL) for scale in (up, down))
        null = t * np.where(t > 0, 1 / up[:, None], -1 / down[:, None])
        return cls(up, down, null, tail, freedom)

    def critical(self, error: float) -> float:
        """The measure that a share ``error`` of the resamples exceeds somewhere; at least that of one normal t."""
        critical = max(1.0, float(order_statistic(self.null.max(axis=0)[None], 1 - error)[0]))
        if error * self.null.shape[1] >= 1:
            return critical
        own, beyond = scipy.special.stdtrit(self.freedom, [self.tail, error / (2 * self.null.shape[0])])
        return max(critical, float(beyond / own))

    def reach(self, n: IntArray, nodes: IntArray, error: float) -> Limits:
        """How many standard errors the limits at each budget lie below and above the difference."""
        critical = self.critical(error)
        return critical * across(n, nodes, self.up), critical * across(n, nodes, self.down)

    def p_values(self, t: FloatArray, n: IntArray, nodes: IntArray, cells: IntArray) -> FloatArray:
        """Step-down p-values of the observed t at each budget."""
        measured = self._in_units(t, n, nodes)
        p_values = step_down(measured, self.null, cells)
        return past_draws(p_values, measured, self.null, tail=self.tail, freedom=self.freedom)

    def decisive_factor(
        self, t: FloatArray, n: IntArray, nodes: IntArray, cells: IntArray, at: int, level: float
    ) -> float:
        """What all t must be multiplied by for a p-value at place ``at`` within the level: for planning."""
        measured = self._in_units(t, n, nodes)
        return decisive_factor(measured, self.null, cells, at, level, tail=self.tail, freedom=self.freedom)

    def _in_units(self, t: FloatArray, n: IntArray, nodes: IntArray) -> FloatArray:
        """Of the own quantile of each budget."""
        return np.abs(t) / np.where(t > 0, across(n, nodes, self.up), across(n, nodes, self.down))


def bounds_serve(families: Families, pair: Pair, bounds: tuple[float | None, float | None]) -> bool:
    """Whether limits from the bounds are of use by default: one score column that spreads over a good part of them.

    Within a family: two narrow ones far apart are told apart by what they show, not by what the bounds would allow.
    """
    worst, best = bounds
    samples = [families.samples[f] for f in pair]
    if worst is None or best is None or families.paired or any(sample.reported is not None for sample in samples):
        return False
    return max(float(np.ptp(sample.selection)) for sample in samples) >= _SERVE * (best - worst)


def gaffke_differences(
    families: Families,
    pair: Pair,
    nodes: IntArray,
    bounds: tuple[float, float],
    error: float,
    base: int,
    *,
    alone: bool,
) -> Limits:
    """Limits at the nodes that hold together; each side has half of ``error``. ``alone``: from the bounds alone."""
    upper, lower = [], []
    for f in pair:
        below, above = families.bounded_draws(f, nodes, bounds, _GAFFKE_DRAWS, base, alone=alone)
        lower.append(below)
        upper.append(above)
    if families.paired:  # of trials that depend on each other: every limit by itself, the error shared
        highs = [order_statistic(draws, 1 - local_level(draws, error / 4, tails=1)) for draws in upper]
        lows = [order_statistic(draws, local_level(draws, error / 4, tails=-1)) for draws in lower]
        return lows[0] - highs[1], highs[0] - lows[1]
    high, low = upper[0] - lower[1], lower[0] - upper[1]
    return (
        order_statistic(low, local_level(low, error / 2, tails=-1)),
        order_statistic(high, 1 - local_level(high, error / 2, tails=1)),
    )


def blended(studentised: Limits, bounded: Limits, n: IntArray, n_trials: int, *, tied: bool) -> Limits:
    """The narrower up to a tenth of the trials, those from bounds from a fifth on, or from 2 where the best tie."""
    share = np.where(n > 1, 1.0, 0.0) if tied else np.clip(np.log2(10 * n / n_trials), 0, 1)
    low, high = studentised
    return (
        np.where(low > bounded[0], low + share * (bounded[0] - low), bounded[0]),
        np.where(high < bounded[1], high + share * (bounded[1] - high), bounded[1]),
    )


def best_tie(families: Families, pair: Pair) -> bool:
    """Whether the best quarter of a family ties: t of its bests of several trials is far from normal."""
    ordered = [np.sort(families.samples[f].selection) for f in pair]
    return any(own[-1] == own[-1 - own.size // 4] for own in ordered)
