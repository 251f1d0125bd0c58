"""The default interval: limits of Gaffke's type in which one further trial is imagined near those observed.

Where it is imagined is in `_further`.

Measured on ten laws at m = 3 to 100 this covers .93 to .99 (lognormal .89 for 20 trials and fewer), at n = 1 no more
than 1.25 times as wide as the t interval, and it needs neither a standard error nor a different rule where scores tie.
What it cannot know is a mode that no trial has shown: see ``Interval.unseen``, and `gaffke` by name.

Separate reported scores: a Bayesian bootstrap with an imagined better trial (see `_reported`). Without the bound on the
best score, or on both sides where reported scores are separate, limits end at n = .8 m.
"""

from __future__ import annotations

import numpy as np

from levelbest._check import FloatArray
from levelbest.stats.bands._further import closer_by, further_reports, further_scores
from levelbest.stats.bands._limits import order_statistic
from levelbest.stats.bands._limits import percentile as percentiles
from levelbest.stats.bands._methods import percentile
from levelbest.stats.bands._reported import Places, mean_draws, quantile_draws
from levelbest.stats.bands._work import TIED_TOP, Limits, Work
from levelbest.stats.best import Mean, Quantile

__all__ = ["NAME", "default"]

NAME = "bootstrap"
FARTHEST = 0.8  # of the trials: beyond, too little shows what a better trial would score
TOO_CLOSE = "n is too close to the number of trials for an interval without a bound on the best score"
NOTE = "Bayesian bootstrap with one further trial imagined beyond those observed"


def default(work: Work) -> Limits:
    """The interval used when no method is named."""
    if not isinstance(work.statistic, (Mean, Quantile)):
        return percentile(work)
    separate = work.sample.reported is not None
    low, high = _reported(work) if separate else _one_column(work)
    limits = Limits(*work.filled(low, high), NOTE, NAME)
    if work.highest is None or (separate and work.lowest is None):
        work.settle(limits, jackknife=False).drop(work.n > FARTHEST * work.n_trials, TOO_CLOSE)
    elif work.lowest is None:
        work.settle(limits, jackknife=False)
    return limits.drop(np.isnan(limits.low + limits.high), TIED_TOP)


def _one_column(work: Work) -> tuple[FloatArray, FloatArray]:
    scores, draws = work.ordered.selection, work.uniforms
    worst, best = further_scores(scores, work.nodes, (work.lowest, work.highest))
    moved = closer_by(scores, work.nodes)[:, None] * (draws.below - draws.above)
    return _one_sided(work, draws.lower(worst[:, None]) + moved, draws.upper(best[:, None]) - moved)


def _one_sided(work: Work, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The quantiles that leave half of the error probability on each side."""
    if np.isnan(upper).any():
        nowhere = np.full(upper.shape[0], np.nan)
        return nowhere, nowhere
    return (
        order_statistic(lower, work.level(lower, 0.5, tails=-1)),
        order_statistic(upper, 1 - work.level(upper, 0.5, tails=1)),
    )


def _reported(work: Work) -> tuple[FloatArray, FloatArray]:
    selection, reported = work.ordered.selection, work.ordered.claimed
    n = work.nodes
    ends = further_reports(selection, reported, n, (work.lowest, work.highest))
    if not np.isfinite(ends).all():
        nowhere = np.full(n.size, np.nan)
        return nowhere, nowhere
    if isinstance(work.statistic, Quantile):
        places = Places.of(selection, reported, own_scores=True)
        draws = quantile_draws(places, ends, n, work.statistic.q, work.n_resamples, work.rng(5))
        return percentiles(draws, work.level(draws))
    means, rest = mean_draws(Places.of(selection, reported), n, work.n_resamples, work.rng(5))
    return _one_sided(work, means + rest * ends[0][:, None], means + rest * ends[1][:, None])
