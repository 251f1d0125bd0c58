"""Differences of several mean curves at once: one bootstrap for all families, one critical value for all pairs.

At budget n the difference of two families is studentised by the jackknife: t = (d* - d) / e*. Each t is measured by its
own 97.5 % quantile over the resamples, upwards and downwards apart, so that neither the longer side of a skewed t nor
budgets near the end, where t has long tails, widen the band elsewhere; the maximum over the budgets and pairs of these
is the critical value. With m = 50 the quantile of that maximum is too small for laws with a long or an abruptly ending
tail on the best side; half of the error probability brings the coverage to the nominal level. (Normal against uniform
at 50 trials, n <= 25: covers .95. With |t|, one scale for both sides, it takes a band 6 % wider at n = 1 and 20 % wider
at n = 25 to cover .94.) Scores are turned: higher is better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from levelbest._check import FloatArray, IntArray
from levelbest.stats.bands import allow, order_statistic, pick
from levelbest.stats.best import Sample
from levelbest.stats.contrasts._contrast import Band, Pair
from levelbest.stats.contrasts._families import Families

ERROR_SHARE = 0.5
"""The part of the error probability that the critical value uses; see the module."""
_OWN_QUANTILE = 0.975
_INFINITE = 0.1
"""A budget at which a larger part than this of the error probability has infinite t says nothing, and must not silence
the others: scores with few values, where resamples without spread are common."""
_ROWS = 16  # budgets of one pair studentised together: they stay in the cache

Draw32 = npt.NDArray[np.float32]
"""Resampled deviations need no more than single precision: they decide a quantile, not an estimate."""


@dataclass(frozen=True, eq=False)
class Draws:
    """Resampled curves of all families and what is needed to studentise the differences of pairs."""

    n: IntArray
    pairs: tuple[Pair, ...]
    estimate: FloatArray
    """(family, n)."""
    variance: FloatArray
    """Squared jackknife standard error, (family, n)."""
    deviations: Draw32
    """Resampled estimates minus the estimate: (family, n, resample)."""
    variances: Draw32
    """Of each resample: (family, n, resample)."""

    def difference(self, at: int) -> tuple[FloatArray, FloatArray]:
        """The difference of pair number ``at`` and its standard error."""
        a, b = self.pairs[at]
        return self.estimate[a] - self.estimate[b], np.sqrt(self.variance[a] + self.variance[b])

    def t(self, at: int, rows: slice | IntArray) -> Draw32:
        """t of the resampled differences of pair number ``at`` at some budgets: (rows, resample)."""
        a, b = self.pairs[at]
        t = self.deviations[a, rows] - self.deviations[b, rows]
        with np.errstate(divide="ignore", invalid="ignore"):
            t /= np.sqrt(self.variances[a, rows] + self.variances[b, rows])
        t[np.isnan(t)] = 0  # 0/0: a resample without spread that repeats the estimate
        return t


def draw_families(
    families: Sequence[Sample], pairs: Sequence[Pair], n: IntArray, *, n_resamples: int, base: int
) -> Draws:
    """Resample every family, at increasing budgets of at most half the trials of the smallest."""
    allow(n_resamples, n.size, 2 * len(families))
    drawn = Families(families, pairs, n, paired=False)
    estimate, variance = np.empty((2, len(families), n.size))
    deviations, variances = np.empty((2, len(families), n.size, n_resamples), dtype=np.float32)
    for f, side in drawn.sides.items():
        below, variance[f] = side.at(n)
        estimate[f] = side.best + below
        deviations[f], variances[f] = side.resampled(n_resamples, np.random.default_rng([base, drawn.place[f]]))
    return Draws(n, tuple(pairs), estimate, variance, deviations, variances)


def pair_bands(draws: Draws, confidence: float, *, step_down: bool = False) -> tuple[Band, ...]:
    """Bands for all pairs that hold together with the given confidence; step-down may certify more than they do.

    ``step_down`` (Romano and Wolf 2005) takes what is certified out of the maximum and looks again, jointly over pairs
    and budgets. Where only that excludes zero the band ends at zero: the compatible simultaneous limit.
    """
    level = 1 - ERROR_SHARE * (1 - confidence)
    n_pairs, n_resamples = len(draws.pairs), draws.deviations.shape[-1]
    top = np.zeros((n_pairs, n_resamples), dtype=np.float32)
    scales = np.empty((2, n_pairs, draws.n.size))  # of t upwards, which the lower limit needs, and downwards
    for start in range(0, draws.n.size, _ROWS):
        rows = slice(start, start + _ROWS)
        for p in range(n_pairs):
            t = draws.t(p, rows)
            ordered = np.sort(t, axis=-1)
            scales[0, p, rows] = pick(ordered, _OWN_QUANTILE)
            scales[1, p, rows] = -pick(ordered, 1 - _OWN_QUANTILE)
            scales[:, p, rows][:, np.isinf(t).mean(axis=-1) > _INFINITE * (1 - level)] = np.inf
            np.maximum(top[p], _measured(t, scales[:, p, rows]), out=top[p])
    estimated = [draws.difference(p) for p in range(n_pairs)]
    with np.errstate(divide="ignore", invalid="ignore"):
        seen = np.stack([d / e for d, e in estimated])
        seen = np.where(seen > 0, seen / scales[0], -seen / scales[1])
    seen[~np.isfinite(seen)] = 0  # no spread, no verdict
    critical = _quantile(top.max(axis=0), level)
    rejected = seen > critical
    while step_down and rejected.any() and not rejected.all():
        for p in range(n_pairs):
            if rejected[p].any():
                left = np.flatnonzero(~rejected[p])
                top[p] = _measured(draws.t(p, left), scales[:, p, left]) if left.size else 0
        more = rejected | (seen > _quantile(top.max(axis=0), level))
        if (more == rejected).all():
            break
        rejected = more
    with np.errstate(invalid="ignore"):  # no draw varies at any budget: 0 times an infinite scale, no band
        reach = critical * scales
    bands = []
    for p, (d, e) in enumerate(estimated):
        with np.errstate(invalid="ignore"):
            below, above = reach[:, p] * e
        # No spread in the data, or none in too many resamples: nothing is known.
        unknown = ~(below > 0) | ~(above > 0) | (e == 0)
        low, high = np.where(unknown, -np.inf, d - below), np.where(unknown, np.inf, d + above)
        sign = np.where(rejected[p], np.sign(d), 0).astype(np.int64)
        low = np.where(sign > 0, np.maximum(low, 0.0), low)
        high = np.where(sign < 0, np.minimum(high, 0.0), high)
        bands.append(Band.of(draws.n, d, low, high, sign))
    return tuple(bands)


def _measured(t: Draw32, scale: FloatArray) -> Draw32:
    """The largest of t / scale over the rows, up or down, for each resample; a useless scale has nothing to say."""
    with np.errstate(divide="ignore"):
        up, down = np.where(np.isfinite(scale) & (scale > 0), 1 / scale, 0).astype(np.float32)
    with np.errstate(invalid="ignore"):
        measured = t * np.where(t > 0, up[:, None], -down[:, None])
    measured[np.isnan(measured)] = 0
    largest: Draw32 = measured.max(axis=0)
    return largest


def _quantile(values: Draw32, level: float) -> float:
    return float(order_statistic(values[None], level)[0])
