"""Exact, distribution-free limits for quantile curves, at one budget or over many at once; and their horizon."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from levelbest._check import as_bounds, as_budgets, as_direction, as_scores, sign_of, statistic_name
from levelbest.stats.bands._ranks import rank_band
from levelbest.stats.bands._work import Interval, Rule
from levelbest.stats.best import turned_bounds, turned_limits


def quantile_interval(
    scores: npt.ArrayLike,
    n: npt.ArrayLike,
    q: float = 0.5,
    *,
    confidence: float = 0.95,
    simultaneous: bool = False,
    shape: str = "narrow",
    direction: str = "max",
    bounds: tuple[float | None, float | None] | None = None,
) -> Interval:
    """Exact limits for the q-quantile of the best of n; ``simultaneous`` over all the budgets in ``n``.

    Budgets beyond the number of trials are allowed: the limit on the worse side holds there too. A limit that the
    trials cannot give is infinite, or the bound on the score where ``bounds`` name one. ``shape="long"`` trades a
    little width for a longer horizon (see ``rank_band``). Mirror images: ``min`` negates the scores.

    Parameters
    ----------
    scores
        One per trial.
    n
        How many trials one may try.
    q
        Which quantile; .5 is the median.
    confidence
        Of the limits, 0.95 and not 95.
    simultaneous
        Whether the limits hold for all n together, or for each separately.
    shape
        ``narrow`` or ``long``.
    direction
        ``max`` where higher is better, ``min`` where lower is.
    bounds
        Lowest and highest possible score, None where there is no such bound.

    Returns
    -------
    Interval
        Limits of each n.

    Examples
    --------
    >>> limits = quantile_interval(range(20), [1, 4])
    >>> limits.low.tolist(), limits.high.tolist()
    ([5.0, 12.0], [14.0, inf])
    """
    values = as_scores(scores, at_least=2)
    budgets, scalar = as_budgets(n)
    toward = as_direction(direction)
    ranks = rank_band(values.size, budgets, q, confidence=confidence, pointwise=not simultaneous, shape=shape)
    worst, best = turned_bounds(as_bounds(bounds, values), toward)
    ends = [-math.inf if worst is None else worst, math.inf if best is None else best]
    ordered = np.concatenate([ends[:1], np.sort(sign_of(toward) * values), ends[1:]])
    low, high = turned_limits(ordered[ranks.low], ordered[ranks.high], toward)
    interval = Interval(
        n=budgets,
        low=low,
        high=high,
        method="exact",
        confidence=ranks.confidence,
        simultaneous=simultaneous,
        n_trials=values.size,
        statistic=statistic_name(ranks.q),
        direction=toward,
        rule=Rule.of(
            "exact",
            q=ranks.q,
            n_trials=ranks.n_trials,
            confidence=ranks.confidence,
            direction=toward,
            horizon=ranks.horizon,
            joint=(ranks.coverage, ranks.n.size) if ranks.simultaneous else None,
            tied=np.unique(values).size < values.size,
        ),
        horizon=ranks.horizon,
        coverage=ranks.coverage,
    )
    return interval.single() if scalar else interval


def horizon(
    n_trials: int,
    confidence: float = 0.95,
    q: float = 0.5,
    *,
    n_max: int | None = None,
    pointwise: bool = False,
    shape: str = "narrow",
) -> int:
    """The largest budget at which ``n_trials`` trials limit the q-quantile curve on the side that is best.

    Within a band over n = 1..n_max (default n_trials), or at one budget alone. 0 means that there is no such limit.

    Parameters
    ----------
    n_trials
        How many trials there are or will be.
    confidence
        Of the limits, 0.95 and not 95.
    q
        Which quantile; .5 is the median.
    n_max
        The last budget of the band.
    pointwise
        Whether the limits hold for each n separately: a band's hold for all of them together.
    shape
        As of `rank_band`.

    Returns
    -------
    int
        The budget.

    Examples
    --------
    >>> horizon(50), horizon(50, pointwise=True)
    (7, 9)
    """
    top = n_trials if n_max is None else int(as_budgets(n_max)[0][0])
    budgets = np.ones(1) if pointwise else np.arange(1, max(top, 1) + 1)
    return rank_band(n_trials, budgets, q, confidence=confidence, pointwise=pointwise, shape=shape).horizon
