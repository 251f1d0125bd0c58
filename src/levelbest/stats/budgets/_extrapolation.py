"""Past the data: the expected best of more trials than were run. A guess with a name, never part of a verdict.

The best of many trials of (almost) any law is nearly of generalised extreme-value form, and if the best of k is, then

    E[best of n] = a + b n^shape   for every n >= k      (a + b log n for shape 0)

because extreme-value laws keep their shape under maxima: a bounded score has shape < 0 and a is then its limit (a score
that is quadratic near its optimum in d directions has shape -2/d, as the noisy quadratic of [L] without its noise).
Three points of the curve fix it: (E[4k] - E[2k]) / (E[2k] - E[k]) = 2^shape. These are the LH-moment equations (Wang
1997), and the U estimates of the three are unbiased. The interval refits samples of the fitted law. In simulations with
50 trials and n = 75 to 200 it covered .77 to .97 where it says .95 (nine laws; the lowest for lognormal, t3 and normal
scores): what no interval knows is whether the form holds. So the fit is also made from half of the trials and held
against what all of them show.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import Bounds, FloatArray, IntArray, Seed
from levelbest._plain import picked, plain, rows_of
from levelbest.errors import DataError, InputError
from levelbest.stats.bands import order_statistic
from levelbest.stats.best import expected_best, rank_weights, turned_bounds, turned_limits

LEAST = 24
"""Fewer trials leave the three points of the fit too close to say anything."""
_STEEPEST, _FLATTEST = 0.95, -4.0  # shapes: the mean of a law with shape >= 1 does not exist; below -4 it is a wall
_AT_MOST = 4  # times the number of trials
_TAIL_SHARE = 0.5  # of the nominal tail: the shape is so uncertain that the plain tails cover too little


@dataclass(frozen=True)
class HeldBack:
    """The same fit from half of the trials, asked for what the whole sample shows."""

    n: int
    predicted: float
    low: float
    high: float
    observed: float

    @property
    def held(self) -> bool:
        """Whether the estimate from all trials lies within the interval predicted from half of them."""
        return self.low <= self.observed <= self.high


@dataclass(frozen=True, eq=False)
class Extrapolation:
    """The expected best of n past n_trials, by a generalised extreme-value fit: labelled, and with a check."""

    n: IntArray
    value: FloatArray
    low: FloatArray
    high: FloatArray
    shape: float
    limit: float
    """Where the curve ends: the score's own limit for a negative shape, infinite otherwise."""
    check: HeldBack
    confidence: float
    n_trials: int
    direction: str
    method: str = "generalised extreme value"
    label: str = "extrapolation"

    def __str__(self) -> str:
        rows = zip(self.n, self.value, self.low, self.high, strict=True)
        shown = "; ".join(f"n = {n}: {v:.4g} [{low:.4g}, {high:.4g}]" for n, v, low, high in rows)
        verdict = "the check holds" if self.check.held else "the check FAILS: do not trust this"
        head = f"extrapolation past {self.n_trials} trials ({self.method} fit, nominal {100 * self.confidence:g} %)"
        return (
            f"{head}: {shown}; from half of them E[best of {self.check.n}] was predicted as {self.check.predicted:.4g} "
            f"[{self.check.low:.4g}, {self.check.high:.4g}] and all of them say {self.check.observed:.4g}: {verdict}"
        )

    def to_dict(self) -> dict[str, object]:
        """Plain numbers for JSON."""
        known = picked(self, "label", "method", "shape", "limit", "confidence", "n_trials")
        points = rows_of(n=self.n, value=self.value, low=self.low, high=self.high)
        check = picked(self.check, "n", "predicted", "low", "high", "observed", "held")
        return plain(known | {"points": points, "check": check})


def extrapolated_best(
    selection: npt.ArrayLike,
    n: npt.ArrayLike,
    *,
    direction: str = "max",
    bounds: Bounds | None = None,
    confidence: float = 0.95,
    n_resamples: int = _check.N_RESAMPLES,
    rng: Seed = 0,
) -> Extrapolation:
    """The expected best of n for n past the number of trials, at most four times as many, with a check.

    One score column: what another column reports of the winner need not follow any such form.

    Parameters
    ----------
    selection
        One score per trial; it picks the winner.
    n
        How many trials one may try, more than there are.
    direction
        ``max`` where higher is better, ``min`` where lower is.
    bounds
        Lowest and highest possible score, None where there is no such bound.
    confidence
        Of the limits, 0.95 and not 95.
    n_resamples, rng
        Of the bootstrap behind the limits.

    Returns
    -------
    Extrapolation
        Values with limits, and how well half of the trials would have foretold the rest.

    Examples
    --------
    >>> import numpy as np
    >>> guess = extrapolated_best(np.random.default_rng(0).normal(size=40), [60], n_resamples=99)
    >>> bool(guess.low[0] < guess.value[0] < guess.high[0])
    True
    """
    scores = _check.as_scores(selection, "selection")
    if scores.size < LEAST:
        raise DataError(f"extrapolation needs at least {LEAST} trials, got {scores.size}; run more trials")
    budgets, _ = _check.as_budgets(n)
    if budgets.min() <= scores.size:
        raise InputError(
            f"extrapolation is for n past the {scores.size} trials, got {budgets.min()}; within them use expected_best"
        )
    if budgets.max() > _AT_MOST * scores.size:
        raise InputError(
            f"extrapolation reaches to {_AT_MOST} times the number of trials, {_AT_MOST * scores.size}, got "
            f"{budgets.max()}; run more trials"
        )
    sign = _check.sign_of(direction)
    best = turned_bounds(_check.as_bounds(bounds, scores, "selection"), direction)[1]
    ceiling = np.inf if best is None else best
    confidence = _check.as_confidence(confidence)
    generator = _check.as_rng(rng)
    turned = sign * scores
    if np.unique(turned).size < 4:
        raise DataError(f"extrapolation needs at least 4 distinct scores, got {np.unique(turned).size}")
    fit = _fit(turned, budgets, ceiling, confidence, n_resamples, generator)
    low, high = turned_limits(fit.low, fit.high, direction)
    # Half of the trials, asked for the best of as many as all of them allow with some certainty.
    half, n = generator.permutation(turned)[: scores.size // 2], np.array([round(0.6 * scores.size)])
    again = _fit(half, n, ceiling, confidence, n_resamples, generator)
    lows, highs = turned_limits(again.low, again.high, direction)
    predicted, observed = sign * float(again.value[0]), sign * float(expected_best(turned, int(n[0])))
    return Extrapolation(
        n=budgets,
        value=sign * fit.value,
        low=low,
        high=high,
        shape=fit.shape,
        limit=sign * min(fit.limit, ceiling),
        check=HeldBack(int(n[0]), predicted, float(lows[0]), float(highs[0]), observed),
        confidence=confidence,
        n_trials=int(scores.size),
        direction=direction,
    )


def _points(m: int) -> IntArray:
    """Budgets k, 2k, 4k with 4k about .6 m: further up the curve is too uncertain, further down not yet extreme."""
    k = max(2, round(0.15 * m))
    return np.array([k, 2 * k, 4 * k])


def _curves(points: IntArray, e: FloatArray, n: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """a + b n^shape through three points each, (n, curve), never falling; and the limit a and the shape."""
    first, second = e[1] - e[0], e[2] - e[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        shape = np.log2(second / first)
    # No gain at all between the points: the best is reached, and stays.
    flat = ~(first > 0) | ~(second > 0)
    shape = np.clip(np.where(flat, _FLATTEST, shape), _FLATTEST, _STEEPEST)
    # gain from 4k to n, in units of the gain from 2k to 4k: (r^s - 1) / (1 - 2^-s) with r = n / 4k
    ratio = np.log(n / points[2])[:, None]
    small = np.abs(shape) < 1e-8
    safe = np.where(small, 1.0, shape)
    gain = np.where(small, ratio / np.log(2), np.expm1(safe * ratio) / -np.expm1(-safe * np.log(2)))
    curve = e[2] + np.where(flat, 0.0, second) * gain
    with np.errstate(divide="ignore", invalid="ignore"):
        limit = np.where(shape < 0, e[2] + np.where(flat, 0.0, second) / np.expm1(-safe * np.log(2)), np.inf)
    return curve, limit, shape


class _Fit(NamedTuple):
    value: FloatArray
    low: FloatArray
    high: FloatArray
    limit: float
    shape: float


def _fit(
    scores: FloatArray, n: IntArray, ceiling: float, confidence: float, n_resamples: int, rng: np.random.Generator
) -> _Fit:
    """The curve through the three points of these scores. Samples from the fitted law are fitted again.

    Resampling the trials themselves would never see past the best of them. The error of each refit is measured by its
    own gain from k to 4k, so that a fit which happens to be flat is not taken for a certain one.
    """
    points = _points(scores.size)
    weights = rank_weights(scores.size, points)
    e = (weights @ np.sort(scores))[:, None]
    value, limit, shape = _curves(points, e, n)
    law = _law(points, e[:, 0], float(shape[0]))
    if law is None:
        # The best score is reached all the time: nothing says how much better a further trial could be.
        nothing = np.full(n.size, np.nan)
        return _Fit(np.minimum(value[:, 0], ceiling), nothing, nothing, float(limit[0]), float(shape[0]))
    drawn = np.sort(law(rng.random((n_resamples, scores.size))), axis=1)
    points_drawn = weights @ drawn.T
    again, _, _ = _curves(points, points_drawn, n)
    gain = np.maximum(points_drawn[2] - points_drawn[0], np.finfo(float).tiny)
    t = (again - value) / gain
    tail = _TAIL_SHARE * (1 - confidence) / 2
    own = float(e[2, 0] - e[0, 0])
    low = value[:, 0] - order_statistic(t, 1 - tail) * own
    high = value[:, 0] - order_statistic(t, tail) * own
    centre, low, high = (np.minimum(end, ceiling) for end in (value[:, 0], low, high))
    return _Fit(centre, low, high, float(limit[0]), float(shape[0]))


def _law(points: IntArray, e: FloatArray, shape: float) -> Callable[[FloatArray], FloatArray] | None:
    """Scores whose best of n is a + b n^shape: the extreme-value law, from uniform numbers; None without any gain."""
    from scipy.special import gamma

    if not e[2] > e[1] > e[0]:
        return None
    s = shape if abs(shape) > 1e-3 else 1e-3
    b = (e[2] - e[1]) / (float(points[2]) ** s - float(points[1]) ** s)
    a = e[2] - b * float(points[2]) ** s

    def scores(u: FloatArray) -> FloatArray:
        # E[best of n] of a + c (-log U)^-s is a + c Gamma(1 - s) n^s
        drawn: FloatArray = a + b / gamma(1 - s) * (-np.log(u)) ** -s
        return drawn

    return scores
