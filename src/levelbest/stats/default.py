"""The default interval of a mean curve: which parts it is made of, and why.

The rule is fixed in advance, is continuous in n, and is printed with every result.
"""

from __future__ import annotations

import numpy as np

from levelbest.stats import limits
from levelbest.stats.gaffke import gaffke_draws
from levelbest.stats.methods import Found, Work, studentised, studentised_limit

__all__ = ["default"]

FARTHEST = 0.8  # of the trials: beyond, leaving one out says too little about the best of n
TOO_CLOSE = "n is too close to the number of trials for an interval without a bound on the best score"


def default(work: Work) -> Found:
    """The interval used when no method is named."""
    if not work.trials.one_column:
        found = studentised(work)
        return found.drop(work.n > FARTHEST * work.n_trials, TOO_CLOSE)
    return _from_bound(work) if work.highest is not None else _without_bound(work)


def _without_bound(work: Work) -> Found:
    lower, _ = work.gaffke
    low = limits.order_statistic(lower, work.level(lower, 0.5, tails=-1))
    high = studentised_limit(work, work.level(work.t, 0.3, tails=-1))
    note = (
        "lower limit of Gaffke's type with the worst score observed for a bound, upper limit studentised at 98.5 % "
        "for 97.5"
    )
    found = work.settle(Found(low, high, note), jackknife=True)
    return found.drop(work.n > FARTHEST * work.n_trials, TOO_CLOSE)


def _from_bound(work: Work) -> Found:
    lower, upper = work.gaffke
    bounded_low = limits.order_statistic(lower, work.level(lower, 0.5, tails=-1))
    bounded_high = limits.order_statistic(upper, 1 - work.level(upper, 0.5, tails=1))
    near, _ = gaffke_draws(work.trials.reported, work.n, None, None, work.n_resamples, work.rng(1))
    low = limits.order_statistic(near, work.level(near, 0.5, tails=-1))
    high = studentised_limit(work, work.level(work.t, 0.3, tails=-1))
    heavy = np.unique(work.trials.reported).size < 0.5 * work.n_trials
    share = np.clip(10 * work.n / work.n_trials - 1, 0, 1)
    share = np.where(heavy | ~np.isfinite(high) | (work.trials.error == 0), 1.0, share)
    high = np.where(np.isfinite(high), high, bounded_high)
    high = (1 - share) * high + share * bounded_high
    low = (1 - share) * low + share * bounded_low
    return Found(low, high, "studentised up to n = m/10, limits of Gaffke's type from n = m/5 or where ties are heavy")
