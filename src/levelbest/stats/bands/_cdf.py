"""Bands for the distribution of the scores, valid at all scores at once, and the limits of mean curves that they imply.

They are based on exact simultaneous limits for the order statistics of uniform numbers (`joint_limits`). Each kind of
limits is symmetric and has one parameter, its level; the level with the required joint confidence is found with exact
path probabilities, without simulation. Results are cached by (n_trials, confidence).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import scipy

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
from levelbest.errors import InputError
from levelbest.stats.bands._paths import largest_level, symmetric_order_probability
from levelbest.stats.bands._work import UNSAID, Interval, Rule
from levelbest.stats.best import turned_bounds, turned_limits

CDF_METHODS = ("ld", "ld-hd", "ks", "dkw")
MOST_TRIALS = 100_000  # the work grows like n_trials^1.5: about 1 s at 10,000 and half a minute here

_Limits = Callable[[float], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, eq=False)
class CdfBand:
    """Limits for F(x) = P(score <= x), at every x at once.

    ``low`` and ``high`` are the limits at the sorted scores ``x``, one entry per trial. They are valid for a
    distribution that is continuous except for atoms that appear as ties; ``limits`` gives those that are valid at any x
    and for any distribution. ``rank_low`` and ``rank_high`` limit U_(i) = F(X_(i)). ``coverage`` is exact for a
    continuous distribution and lower than that of others (None: not computed); ``level`` is the local error rate, or
    the distance for ``ks`` and ``dkw``.
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
    rule: Rule = UNSAID

    @property
    def n_trials(self) -> int:
        """How many scores the band was made from."""
        return self.x.size

    def __str__(self) -> str:
        exact = "" if self.coverage is None else f", exact coverage {self.coverage:.4f}"
        return f"{100 * self.confidence:g} % {self.method} band for the distribution of {self.n_trials} scores{exact}"

    def limits(self, at: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Lower and upper limits for F at any points and for any distribution.

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

    Parameters
    ----------
    scores
        One per trial.
    confidence
        That the whole distribution function lies within the band.
    method
        ``ld``, ``ld-hd``, ``ks`` or ``dkw``, as said above.

    Returns
    -------
    CdfBand
        Limits of the distribution function at every score.

    Examples
    --------
    >>> print(cdf_band([3.0, 1.0, 2.0, 4.0]))
    95 % ld band for the distribution of 4 scores, exact coverage 0.9500
    """
    ordered = np.sort(as_scores(scores, at_least=2))
    covered = as_confidence(confidence)
    as_choice(method, CDF_METHODS, "CDF band method")
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
        rule=Rule("tied") if tied else UNSAID,
    )


def mean_curve_bounds(
    band: CdfBand,
    n: npt.ArrayLike,
    bounds: tuple[float | None, float | None] | None,
    direction: str = "max",
) -> Interval:
    """Limits for the expected best of n that a CDF band implies, for all n at once.

    They need ``bounds`` on the score: some of the probability lies beyond the last observed score. Without the
    bound on a side the limit there is infinite. Budgets beyond the number of trials are allowed.

    Parameters
    ----------
    band
        Of the scores, by `cdf_band`.
    n, bounds, direction
        As of `quantile_interval`.

    Returns
    -------
    Interval
        The bounds of the mean curve at each n.

    Examples
    --------
    >>> limits = mean_curve_bounds(cdf_band([0.2, 0.5, 0.4, 0.9]), [1, 5], (0, 1))
    >>> bool((limits.low < limits.high).all() and limits.high.max() <= 1)
    True
    """
    budgets, scalar = as_budgets(n)
    toward = as_direction(direction)
    worst, best = turned_bounds(as_bounds(bounds, band.x), toward)
    turned = band if toward == "max" else band.mirrored()
    low, high = turned_limits(*_largest_of(budgets, turned, worst, best), toward)
    missing = tuple(side for side, limit in (("lower", low), ("upper", high)) if np.isinf(limit).any())
    interval = Interval(
        n=budgets,
        low=low,
        high=high,
        method=band.method,
        confidence=band.confidence,
        simultaneous=True,
        n_trials=band.n_trials,
        direction=toward,
        rule=Rule.of("distribution", band=band.method, missing=missing),
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


@lru_cache(maxsize=64)
def joint_limits(n_trials: int, confidence: float, method: str) -> tuple[FloatArray, FloatArray, float, float | None]:
    """(lower, upper, level, coverage): P(lower_i <= U_(i) <= upper_i for every i) = coverage >= confidence.

    The level is the local error rate for ``ld`` and ``ld-hd`` and the distance from the empirical CDF for ``ks`` and
    ``dkw``, whose coverage beyond the nominal one is None above 10,000 trials: not computed.
    """
    if method == "dkw":
        distance = _massart(n_trials, 1 - confidence)
        lower, upper = _equidistant(n_trials, distance)
        dkw_covered = symmetric_order_probability(n_trials, lower, upper) if n_trials <= 10_000 else None
        return _fixed(lower), _fixed(upper), distance, dkw_covered
    if n_trials > MOST_TRIALS:
        raise InputError(
            f"exact CDF bands take up to {MOST_TRIALS:,} trials, got {n_trials:,}; method='dkw' takes any number, and "
            "in the middle of the distribution it is by then as narrow"
        )
    limits = {"ld": _equal_tailed, "ld-hd": _highest_density, "ks": _kolmogorov}[method](n_trials)
    guess, most = (1 - confidence, 2.0) if method == "ks" else (_first_guess(n_trials, 1 - confidence), 1.0)
    level = largest_level(
        lambda tried: symmetric_order_probability(n_trials, *limits(tried)), confidence, guess, most=most
    )
    lower, upper = limits(level)
    covered = symmetric_order_probability(n_trials, lower, upper)
    return _fixed(lower), _fixed(upper), _massart(n_trials, level) if method == "ks" else level, covered


def _massart(n_trials: int, error: float) -> float:
    """The distance d with 2 exp(-2 n_trials d^2) = error: P(sup |F_m - F| > d) <= error (Massart 1990)."""
    return math.sqrt(math.log(2 / error) / (2 * n_trials))


def _equidistant(n_trials: int, distance: float) -> tuple[FloatArray, FloatArray]:
    # sup |F_m - F| <= d exactly when i/m - d <= U_(i) <= (i-1)/m + d for every i. The mirror image is built, not
    # computed, so that lower and upper are symmetric to the last bit.
    lower = np.maximum(np.arange(1, n_trials + 1) / n_trials - distance, 0.0)
    return lower, 1 - lower[::-1]


def _kolmogorov(n_trials: int) -> _Limits:
    """Everywhere the same distance from the empirical CDF, named by its Massart bound so that a level it is."""

    def limits(level: float) -> tuple[FloatArray, FloatArray]:
        return _equidistant(n_trials, _massart(n_trials, level))

    return limits


def _equal_tailed(n_trials: int) -> _Limits:
    """U_(i) is beta(i, m + 1 - i); half of the level lies beyond each limit. [M] with equal tails."""
    ranks = np.arange(1, n_trials + 1)

    def limits(level: float) -> tuple[FloatArray, FloatArray]:
        lower = np.asarray(scipy.special.betaincinv(ranks, n_trials + 1 - ranks, level / 2), dtype=np.float64)
        return lower, 1 - lower[::-1]

    return limits


def _highest_density(n_trials: int) -> _Limits:
    """The shortest interval of each beta distribution that leaves out ``level``. [M], [L]'s best method.

    For 1 < i <= m/2 Newton's method in log x and log(1 - y) on log(P(outside)/level) = 0 and log f(x) = log f(y),
    started from equal tails or from the last level tried. x < mode < y throughout; both functions are smooth there,
    and the steps are cut where they would leave it.
    """
    half = np.arange(2, (n_trials + 1) // 2 + 1)
    a, b = half - 1.0, n_trials - half + 0.0  # the density is x^a (1-x)^b times a constant
    log_constant = -scipy.special.betaln(a + 1, b + 1)
    mode = a / (a + b)
    apart = 0.2 * np.sqrt(mode * (1 - mode) / n_trials)
    start: tuple[FloatArray, FloatArray] | None = None

    def limits(level: float) -> tuple[FloatArray, FloatArray]:
        nonlocal start
        if start is None:
            x = np.minimum(scipy.special.betaincinv(a + 1, b + 1, level / 2), mode - apart)
            y = np.maximum(scipy.special.betainccinv(a + 1, b + 1, level / 2), mode + apart)
        else:
            x, y = start
        for _ in range(100):
            outside = scipy.special.betainc(a + 1, b + 1, x) + scipy.special.betaincc(a + 1, b + 1, y)
            log_fx, log_fy = a * np.log(x) + b * np.log1p(-x), a * np.log(y) + b * np.log1p(-y)
            miss, tilt = np.log(outside / level), log_fx - log_fy
            miss_u = np.exp(log_constant + log_fx) * x / outside
            miss_w = np.exp(log_constant + log_fy) * (1 - y) / outside
            tilt_u, tilt_w = a - b * x / (1 - x), a * (1 - y) / y - b
            scale = miss_u * tilt_w - miss_w * tilt_u
            du = np.clip((miss_w * tilt - miss * tilt_w) / scale, -1.0, 1.0)
            dw = np.clip((miss * tilt_u - miss_u * tilt) / scale, -1.0, 1.0)
            # At most half of the way to the mode in one step.
            x = np.minimum(x * np.exp(du), 0.5 * (x + mode))
            y = 1 - np.minimum((1 - y) * np.exp(dw), 0.5 * (1 - y + 1 - mode))
            if max(np.abs(du).max(initial=0), np.abs(dw).max(initial=0)) < 1e-9:
                break  # convergence is quadratic: what is left is below 1e-16
        start = x, y
        lower, upper = np.empty(n_trials), np.empty(n_trials)
        inner = slice(1, 1 + half.size)
        lower[inner], upper[inner] = x, y
        # The best and worst of all have falling densities: one-sided, P(U_(1) > y) = (1 - y)^m = level.
        lower[0], upper[0] = 0.0, -math.expm1(math.log(level) / n_trials)
        rest = n_trials - 1 - half.size
        lower[-rest:], upper[-rest:] = 1 - upper[:rest][::-1], 1 - lower[:rest][::-1]
        return lower, upper

    return limits


def _first_guess(n_trials: int, error: float) -> float:
    # Local levels of ld for an error rate of .05, interpolated; they change slowly with n_trials.
    known = np.log([1, 5, 20, 50, 100, 300, 1000, 10_000, 1_000_000])
    levels = np.log([0.05, 0.0123, 0.00477, 0.00296, 0.0022, 0.00149, 0.00107, 0.00067, 0.0005])
    return float(min(0.9, np.exp(np.interp(math.log(n_trials), known, levels)) * (error / 0.05) ** 1.15))


def _fixed(array: FloatArray) -> FloatArray:
    array.flags.writeable = False  # it is kept, and handed out again
    return array
