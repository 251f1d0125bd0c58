"""Bands for the distribution of the scores, valid at all scores at once, and what they say of mean curves."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from levelbest._check import (
    FloatArray,
    IntArray,
    as_bounds,
    as_budgets,
    as_choice,
    as_confidence,
    as_direction,
    as_scores,
)
from levelbest.stats.bands._joint import METHODS, joint_limits
from levelbest.stats.bands._results import Interval
from levelbest.stats.best import turned_bounds, turned_limits

__all__ = ["CdfBand", "cdf_band", "mean_curve_bounds"]


@dataclass(frozen=True, eq=False)
class CdfBand:
    """Limits for F(x) = P(score <= x), at every x at once.

    ``low`` and ``high`` are the limits at the sorted scores ``x``, one entry per trial. They hold for a law that is
    continuous but for atoms that show as ties; ``limits`` gives those that hold at any x and for any law.
    ``rank_low`` and ``rank_high`` limit U_(i) = F(X_(i)). ``coverage`` is exact for a continuous law and lower
    than that of others (None: not computed); ``level`` is the local error rate, or the distance for ``ks`` and ``dkw``.
    """

    x: FloatArray
    low: FloatArray
    high: FloatArray
    method: str
    confidence: float
    coverage: float | None
    level: float
    rank_low: FloatArray
    rank_high: FloatArray
    note: str = ""

    @property
    def n_trials(self) -> int:
        """How many scores the band was made from."""
        return self.x.size

    def __str__(self) -> str:
        exact = "" if self.coverage is None else f", exact coverage {self.coverage:.4f}"
        return f"{100 * self.confidence:g} % {self.method} band for the distribution of {self.n_trials} scores{exact}"

    def limits(self, at: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Lower and upper limits for F at any points and for any law.

        With k scores at most x, U_(k) <= F(x) <= U_(k+1) and the limits of these two apply.
        """
        k = np.searchsorted(self.x, np.asarray(at, dtype=np.float64), side="right")
        return np.append(0.0, self.rank_low)[k], np.append(self.rank_high, 1.0)[k]

    def mirrored(self) -> CdfBand:
        """The band of the negated scores."""
        rank_low, rank_high = 1 - self.rank_high[::-1], 1 - self.rank_low[::-1]
        low, high = 1 - self.high[::-1], 1 - self.low[::-1]
        return replace(self, x=-self.x[::-1], low=low, high=high, rank_low=rank_low, rank_high=rank_high)


def cdf_band(scores: npt.ArrayLike, confidence: float = 0.95, *, method: str = "ld") -> CdfBand:
    """A confidence band for the whole distribution function of the scores.

    ``ld`` ([M], equal-tailed beta intervals of the order statistics at one common level) and ``ld-hd`` (highest
    density) are narrow at both ends; ``ks`` has the same width everywhere; all three are exact, without simulation.
    ``dkw`` is the valid but wider closed form. The exact bands take up to 100,000 trials.
    """
    ordered = np.sort(as_scores(scores, at_least=2))
    covered = as_confidence(confidence)
    as_choice(method, METHODS, "CDF band method")
    rank_low, rank_high, level, coverage = joint_limits(ordered.size, covered, method)
    low, high = rank_low, rank_high
    tied = bool((np.diff(ordered) == 0).any())
    if tied:
        # An atom of F at a tie: F there is what it is just after the tie's last order statistic.
        first = np.searchsorted(ordered, ordered, side="left")
        last = np.searchsorted(ordered, ordered, side="right")
        low = rank_low[last - 1]
        high = np.where(last - first > 1, np.append(rank_high, 1.0)[last], rank_high)
    return CdfBand(
        x=ordered,
        low=low,
        high=high,
        method=method,
        confidence=covered,
        coverage=coverage,
        level=level,
        rank_low=rank_low,
        rank_high=rank_high,
        note="scores tie: the coverage is at least the one stated" if tied else "",
    )


def mean_curve_bounds(
    band: CdfBand,
    n: npt.ArrayLike,
    bounds: tuple[float | None, float | None] | None,
    direction: str = "max",
) -> Interval:
    """Limits for the expected best of n that a CDF band implies, for all n at once.

    They need ``bounds`` on the score: some of the probability lies beyond the last score that was seen. Without the
    bound on a side the limit there is infinite. Budgets beyond the number of trials are allowed.
    """
    budgets, scalar = as_budgets(n)
    toward = as_direction(direction)
    worst, best = turned_bounds(as_bounds(bounds, band.x), toward)
    turned = band if toward == "max" else band.mirrored()
    low, high = turned_limits(*_largest_of(budgets, turned, worst, best), toward)
    note = f"implied by the {band.method} band for the distribution, for every n at once"
    missing = [side for side, limit in (("lower", low), ("upper", high)) if np.isinf(limit).any()]
    if missing:
        note += f"; without a {' and an '.join(missing)} bound on the score there is no such limit on the mean"
    interval = Interval(
        n=budgets,
        low=low,
        high=high,
        method=band.method,
        confidence=band.confidence,
        simultaneous=True,
        n_trials=band.n_trials,
        direction=toward,
        note=note,
        coverage=band.coverage,
    )
    return interval.single() if scalar else interval


def _largest_of(n: IntArray, band: CdfBand, least: float | None, most: float | None) -> tuple[FloatArray, FloatArray]:
    """Limits for the expected largest of n.

    The only place where the band turns over: the lower limit of the CDF puts the mass as high as it can be, and so
    gives the upper limit of the curve. It jumps to lower_i at x_i and to 1 at the upper bound; the upper limit of
    the CDF is upper_1 from the lower bound on and upper_(i+1) from x_i on.
    """
    low, high = np.full(n.size, -math.inf), np.full(n.size, math.inf)
    for k, budget in enumerate(n.tolist()):
        if most is not None:
            high[k] = np.diff(band.rank_low**budget, prepend=0.0, append=1.0) @ np.append(band.x, most)
        if least is not None:
            low[k] = np.diff(band.rank_high**budget, prepend=0.0, append=1.0) @ np.append(least, band.x)
    return low, high
