"""Limits that stay valid however often one looks while trials arrive.

A fixed-sample interval is valid at one number of trials fixed in advance; it is invalid if one looks after every trial
and stops at will. Here the limits are renewed at looks on a schedule fixed in advance, each look an exact band
with a part of the error rate, the parts adding up to 1 - confidence. All looks hold together with the stated
confidence by the union bound, so between two looks the last limits stand, and at any time all limits so far may be
intersected: the result is valid at every trial, also at one chosen because of what was seen. Where looks contradict
each other there are no limits (``looks-apart``): either one of them misses, which happens with probability
1 - confidence at most, or the trials are not a random sample in this order.

Looks grow by a factor of 1.3, so limits are never from fewer than 3/4 of the trials. With a planned number of
trials the looks share the error rate evenly; without one look k = 1, 2, ... gets the part 1 / (k (k + 1)) of it, for
ever. At the end of 50 planned trials the band for the median curve is about 1.2 times as wide as the fixed-sample one,
1.5 times without a plan. Look k comes after about 1.3^k trials, so log(k (k + 1)) grows like 2 log log t and the
width shrinks like sqrt(log log t / t): the rate of the closed-form confidence sequences for quantiles (Howard & Ramdas
2022, Bernoulli 28, 1704-1728), which peel time into geometric stretches in the same way.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from levelbest._check import as_budgets, as_choice, as_confidence, as_direction, as_scores, statistic_name
from levelbest.errors import InputError
from levelbest.stats.bands._cdf import CDF_METHODS, CdfBand, cdf_band
from levelbest.stats.bands._quantiles import quantile_interval
from levelbest.stats.bands._work import Interval, Rule

_GROWTH = 1.3


def looks(
    n_trials: int, confidence: float = 0.95, *, first: int = 10, last: int | None = None
) -> list[tuple[int, float]]:
    """The looks up to ``n_trials``: how many trials each takes, and the confidence of its band.

    ``first`` is the number of trials at the first look and ``last`` the planned number of trials (None: no plan).
    Both are part of the method: fix them before the first result.
    """
    error = 1 - as_confidence(confidence)
    if first < 2:
        raise InputError(f"first must be at least 2 trials, got {first}; 10 is a good start")
    if last is not None and last < first:
        raise InputError(f"last must be at least first, got {last} < {first}; plan more trials or look earlier")
    if last is None:
        sizes = [first]
        while sizes[-1] <= n_trials:
            sizes.append(math.ceil(_GROWTH * sizes[-1]))
        # 1/(1*2) + 1/(2*3) + ... = 1
        planned = [(size, 1 - error / (k * (k + 1))) for k, size in enumerate(sizes, start=1)]
    else:
        steps = math.ceil(math.log(last / first) / math.log(_GROWTH) - 1e-9)
        sizes = sorted({round(first * (last / first) ** (k / max(steps, 1))) for k in range(steps + 1)})
        planned = [(size, 1 - error / len(sizes)) for size in sizes]
    return [look for look in planned if look[0] <= n_trials]


def anytime_quantile_interval(
    scores: npt.ArrayLike,
    n: npt.ArrayLike,
    q: float = 0.5,
    *,
    confidence: float = 0.95,
    simultaneous: bool = False,
    first: int = 10,
    last: int | None = None,
    direction: str = "max",
    bounds: tuple[float | None, float | None] | None = None,
) -> Interval:
    """Limits for the q-quantile of the best of n that are valid at every look, for trials in the order of the plan.

    Its parameters are those of `quantile_interval` and of the looks. ``scores`` are those of the trials so far, in the
    order of the plan, not of finishing (short trials finish first, and they are not a random sample). ``simultaneous``
    over the budgets too. Before the first look there are no limits; after ``last`` trials those of the last look stand.

    Parameters
    ----------
    scores, n, q, confidence, simultaneous, direction, bounds
        As of `quantile_interval`.
    first
        How many trials there are at the first look.
    last
        How many trials there are at the last look; None where there is no last one.

    Returns
    -------
    Interval
        Limits that hold at this look and at all others.

    Examples
    --------
    >>> limits = anytime_quantile_interval([5, 2, 9, 1, 7, 4, 8, 3, 6, 0, 5, 4], 1)
    >>> bool(limits.low <= 4.5 <= limits.high)
    True
    """
    values = as_scores(scores, at_least=1)
    budgets, scalar = as_budgets(n)
    toward = as_direction(direction)
    schedule = looks(values.size, confidence, first=first, last=last)
    low, high = np.full(budgets.size, -math.inf), np.full(budgets.size, math.inf)
    for size, level in schedule:
        look = quantile_interval(
            values[:size], budgets, q, confidence=level, simultaneous=simultaneous, direction=toward, bounds=bounds
        )
        low, high = np.maximum(low, look.low), np.minimum(high, look.high)
    apart = low > high
    low, high = np.where(apart, np.nan, low), np.where(apart, np.nan, high)
    limited = budgets[np.isfinite(high if toward == "max" else low)]
    interval = Interval(
        n=budgets,
        low=low,
        high=high,
        method="anytime-exact",
        confidence=float(confidence),
        simultaneous=simultaneous,
        n_trials=values.size,
        statistic=statistic_name(q),
        direction=toward,
        why=tuple("looks-apart" if contradicted else None for contradicted in apart) if apart.any() else (),
        rule=_rule(schedule, first),
        horizon=int(limited.max()) if limited.size else 0,
    )
    return interval.single() if scalar else interval


def anytime_cdf_band(
    scores: npt.ArrayLike, confidence: float = 0.95, *, method: str = "ld", first: int = 10, last: int | None = None
) -> CdfBand:
    """A CDF band that is valid at every look, for trials in the order they were planned (see the quantile version).

    Parameters
    ----------
    scores, confidence, method
        As of `cdf_band`.
    first, last
        As of `anytime_quantile_interval`.

    Returns
    -------
    CdfBand
        Limits that hold at this look and at all others.

    Examples
    --------
    >>> band = anytime_cdf_band([5, 2, 9, 1, 7, 4, 8, 3, 6, 0, 5, 4])
    >>> bool((band.low <= band.high).all())
    True
    """
    values = as_scores(scores, at_least=1)
    as_choice(method, CDF_METHODS, "CDF band method")
    schedule = looks(values.size, confidence, first=first, last=last)
    x = np.sort(values)
    # On [x_i, x_(i+1)) every band so far is constant; x_0 = -inf.
    low, high = np.zeros(x.size + 1), np.ones(x.size + 1)
    local = math.nan
    for size, level in schedule:
        band = cdf_band(values[:size], level, method=method)
        at_look, local = band.limits(np.append(-math.inf, x)), band.level
        low, high = np.maximum(low, at_look[0]), np.minimum(high, at_look[1])
    tied = np.searchsorted(x, x, side="right") - np.searchsorted(x, x, side="left") > 1
    return CdfBand(
        x=x,
        low=low[1:],
        high=np.where(tied, high[1:], high[:-1]),
        method=f"anytime-{method}",
        confidence=float(confidence),
        coverage=None,
        level=local,
        rank_low=low[1:],
        rank_high=high[:-1],
        rule=_rule(schedule, first),
    )


def _rule(schedule: list[tuple[int, float]], first: int) -> Rule:
    return Rule.of("looks", count=len(schedule), first=first, last=schedule[-1] if schedule else None)
