"""The default interval: limits of Gaffke's type in which one further trial is imagined near those observed.

Gaffke's limits (see `_gaffke`) put one further score at each bound, where any law allows it to be, and pay for that
however far the bound is: at n = m/2 of 80 accuracies about .78 they are a hundred standard errors wide. Here the
further scores lie near the others. With g the distance from the best score to the k-th best, k = sqrt(m) but at least 3
and at most a quarter of the trials,

    X_{m+1} = X_m + (.3 + .4 (1 - 1/n) + 1.4 (n - 1)/m) (1.35 + 8/m) g,     at most the bound,

and X_0 likewise on the worse side without the term in n/m: the larger n, the more rests on a trial that was not seen.
Where the best quarter of the trials ties, nothing tells what a better one would score: the bound stands, and without
one there is no interval. The steps of both limits are moved towards each other by .25/n of a spacing, less where scores
tie: Gaffke's limits are half a spacing too wide on each side for a smooth law, and just right for 0/1 scores.

Measured on ten laws at m = 3 to 100 this covers .93 to .99 (lognormal .89 for 20 trials and fewer), at n = 1 no more
than 1.25 times as wide as the t interval, and it needs neither a standard error nor a different rule where scores tie.
What it cannot know is a mode that no trial has shown: see ``Interval.unseen``, and `gaffke` by name.

Separate reported scores: a Bayesian bootstrap with an imagined better trial (see `_reported`). Without the bound on the
best score, or on both sides where reported scores are separate, limits end at n = .8 m.
"""

from __future__ import annotations

import math

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest.stats.bands._limits import order_statistic
from levelbest.stats.bands._limits import percentile as percentiles
from levelbest.stats.bands._methods import percentile
from levelbest.stats.bands._reported import Places, mean_draws, quantile_draws
from levelbest.stats.bands._work import FEWEST, TIED_TOP, Limits, Work
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
    scores, n, m, draws = work.ordered.selection, work.nodes, work.n_trials, work.uniforms
    near = (0.3 + 0.4 * (1 - 1 / n)) * (1.35 + 8 / m)
    far = near + 1.4 * (n - 1) / m * (1.35 + 8 / m)
    worst = scores[0] - _beyond(near, scores - scores[0], work.lowest, float(scores[0]), needed=False)
    best = scores[-1] + _beyond(far, scores[-1] - scores[::-1], work.highest, float(scores[-1]), needed=True)
    distinct = 1 + np.count_nonzero(np.diff(scores))
    closer = (0.25 / n * (distinct - 1) / (m - 1))[:, None]
    moved = closer * (draws.below - draws.above)
    return _one_sided(work, draws.lower(worst[:, None]) + moved, draws.upper(best[:, None]) - moved)


def _beyond(reach: FloatArray, away: FloatArray, bound: float | None, end: float, *, needed: bool) -> FloatArray:
    """How far beyond the last score a further one is imagined, given the distances of all scores from it, in order.

    NaN where nothing tells and it is ``needed``, 0 where it is not.
    """
    m = away.size
    gap = float(away[max(min(m // 4, round(math.sqrt(m))), min(FEWEST, m - 1))])
    if gap == 0:
        seen = away[: max(m // 4, min(FEWEST, m - 1)) + 1]
        gap = float(seen[seen > 0].min(initial=math.inf)) if (seen > 0).any() else 0.0
    room = math.inf if bound is None else abs(bound - end)
    if gap == 0 or m < FEWEST:
        return np.full(reach.size, room if math.isfinite(room) else (math.nan if needed else 0.0))
    return np.minimum(reach * gap, room)


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
    ends = _ends(work, selection, reported, n)
    if not np.isfinite(ends).all():
        nowhere = np.full(n.size, np.nan)
        return nowhere, nowhere
    if isinstance(work.statistic, Quantile):
        places = Places.of(selection, reported, own_scores=True)
        draws = quantile_draws(places, ends, n, work.statistic.q, work.n_resamples, work.rng(5))
        return percentiles(draws, work.level(draws))
    means, rest = mean_draws(Places.of(selection, reported), n, work.n_resamples, work.rng(5))
    return _one_sided(work, means + rest * ends[0][:, None], means + rest * ends[1][:, None])


def _ends(work: Work, selection: FloatArray, reported: FloatArray, n: IntArray) -> FloatArray:
    """What an imagined better trial reports at worst and at best, (2, n).

    The range of what the best m/n trials report, at least sqrt(3 m) and at most a quarter of all unless n < 4, widened
    by a part of it that grows with n.
    """
    m = work.n_trials
    lowest = -math.inf if work.lowest is None else work.lowest
    highest = math.inf if work.highest is None else work.highest
    if work.constant:  # nothing but the bounds tells what another trial might report
        return np.repeat([[lowest], [highest]], n.size, axis=1)
    # from the best trial down: the worst and the best that is reported so far, ties in the selection score together
    so_far = np.stack([np.minimum.accumulate(reported[::-1]), np.maximum.accumulate(reported[::-1])])
    last_of_tie = np.append(np.flatnonzero(np.diff(selection[::-1])), m - 1)
    fewest = max(min(m // 4, round(math.sqrt(3 * m))), min(FEWEST, m - 1))
    count = np.maximum(fewest, np.ceil(m / n)).astype(np.int64)
    seen = so_far[:, last_of_tie[np.searchsorted(last_of_tie, np.minimum(count, m - 1))]]
    width = np.where(seen[0] == seen[1], np.ptp(reported), seen[1] - seen[0])
    wider = (0.1 + 0.1 * (1 - 1 / n) + 0.3 * (n - 1) / m) * (1.2 + 9 / m) * width
    ends = np.stack([seen[0] - wider, seen[1] + wider])
    return np.asarray(np.clip(ends, lowest, highest))
