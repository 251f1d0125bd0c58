"""The default interval of a mean curve: which parts it is made of, and why.

One score column. Both limits are of Gaffke's type (see `gaffke`), which ties and failures do not harm, and the upper
one is cut at a studentised limit, which does not pay for a bound that lies far from the scores:

    n <= m/10   low: X_0 the worst score, tail 1.6 a     high: the lower of studentised at tail .8 a and Gaffke at a
    n >= m/5    low: X_0 the bound, tail a               high: the lower of studentised at tail .2 a and Gaffke at a

with a = (1 - confidence) / 2, and in between the limits move linearly from one to the other, so that a figure shows no
jump. From m/5 up the studentised cut is left out where ties are heavy (fewer distinct scores than m/4, or than eight):
it is there that it fails. The tails are not a: in simulation Gaffke's lower limit misses half as often as it
may, and the studentised upper limit more often, the more so the larger n / m is.

Without a bound on the best score, X_{m+1} = X_m + 2 (1 + 10/m) (X_m - X_{m - m/4}) stands for it and the studentised
tail is .4 a at every n: measured at m = 50 on ten laws this covers at least .92 (t with 3 degrees of freedom is the
lowest), where the studentised interval falls to .895 and is wider from n = m/2 up. Beyond n = .8 m there is no
interval without that bound.

Separate reported scores. The studentised interval; with bounds, from .3 m on it is cut at the limits of `reported`, and
beyond .8 m it is these, up to n = m.
"""

from __future__ import annotations

import numpy as np

from levelbest._check import FloatArray
from levelbest.stats.bands._batches import BATCHES, LARGE, batch_limits, batch_size
from levelbest.stats.bands._limits import order_statistic
from levelbest.stats.bands._methods import percentile, studentised, studentised_limit
from levelbest.stats.bands._reported import imagined_limits
from levelbest.stats.bands._work import TIED_TOP, Limits, Work
from levelbest.stats.best import Mean, Quantile

__all__ = ["default"]

NEAR, FAR = 0.1, 0.2  # of the trials: where the first rule ends and the second begins
CUT = 0.3  # of the trials: where reported scores with bounds are cut at limits with an imagined better trial
FARTHEST = 0.8  # of the trials: beyond, too little shows what a better trial would score
HEAVY = 0.25, 8  # ties are heavy where fewer than this share of the trials, or than so many, are distinct scores
TOO_CLOSE = "n is too close to the number of trials for an interval without a bound on the best score"


def default(work: Work) -> Limits:
    """The interval used when no method is named."""
    if isinstance(work.statistic, Quantile):
        pair = imagined_limits(work, share_of_far(work), work.statistic.q)
        note = "Bayesian bootstrap with an imagined better trial: nothing exact is known for a separate reported score"
        return work.settle(Limits(*pair, note, "bootstrap"), jackknife=False)
    if not isinstance(work.statistic, Mean):
        return percentile(work)
    if work.n_trials >= LARGE:
        return _batches(work)
    return _one_column(work) if work.sample.reported is None else _reported(work)


def _batches(work: Work) -> Limits:
    """The t interval of independent batches: see `_batches.py`."""
    low, high = batch_limits(
        work.sample.selection,
        work.n,
        work.sample.reported,
        alpha=work.alpha,
        simultaneous=work.simultaneous,
        rng=work.generator,
    )
    last = batch_size(work.n_trials)
    why = f"the interval of so many trials ends at n = {last}, the size of a batch; name a method for larger n"
    note = f"t interval of {BATCHES} batches of the {work.n_trials} trials"
    return Limits(low, high, note, "batches").drop(np.isnan(low), why)


def share_of_far(work: Work) -> FloatArray:
    """0 up to NEAR, 1 from FAR on, linear in between."""
    return np.asarray(np.clip((work.n / work.n_trials - NEAR) / (FAR - NEAR), 0, 1))


def _one_column(work: Work) -> Limits:
    m, scores = work.n_trials, work.trials.reported
    bounded = work.highest is not None
    heavy = np.unique(scores).size < max(HEAVY[0] * m, HEAVY[1])
    from_worst, from_bound, upper = work.gaffke
    if scores[0] == scores[work.quarter]:
        from_worst = from_bound  # the worst quarter ties: nothing shows what a worse trial would score
    share = share_of_far(work)

    far_low = _below(work, from_bound, 1.0)
    low = (1 - share) * _below(work, from_worst, 1.6) + share * far_low
    far_high = order_statistic(upper, 1 - work.level(upper, 0.5, tails=1))
    near_high = np.fmin(_studentised(work, 0.8 if bounded else 0.4), far_high)
    if not heavy:
        far_high = np.fmin(_studentised(work, 0.2 if bounded else 0.4), far_high)
    high = (1 - share) * near_high + share * far_high

    found = Limits(low, high, _note(work, heavy=heavy), "gaffke" if heavy else "gaffke+studentised")
    if not bounded:
        found = work.settle(found, jackknife=False)
        found.drop(work.n > FARTHEST * m, TOO_CLOSE)
        if work.top == scores[-1]:
            found.drop(np.ones(work.n.size, dtype=bool), TIED_TOP)
    elif work.lowest is None:
        found = work.settle(found, jackknife=False)
    return found


def _below(work: Work, draws: FloatArray, tail: float) -> FloatArray:
    return order_statistic(draws, work.level(draws, tail / 2, tails=-1))


def _studentised(work: Work, tail: float) -> FloatArray:
    """The upper studentised limit; +inf where the jackknife has nothing to say."""
    high = studentised_limit(work, work.level(work.t, tail / 2, tails=-1))
    return np.where((work.trials.error > 0) & ~np.isnan(high), high, np.inf)


def _note(work: Work, *, heavy: bool) -> str:
    if heavy:
        return "limits of Gaffke's type, because ties are heavy" + ("" if work.highest is not None else _GUESS)
    if work.highest is not None:
        return "limits of Gaffke's type, the upper one cut at a studentised limit (more closely up to n = m/10)"
    return "limits of Gaffke's type, the upper one cut at a studentised limit" + _GUESS


_GUESS = "; for the missing bound, at least twice the range of the best quarter beyond the best score"


def _reported(work: Work) -> Limits:
    """Studentised up to FARTHEST; with bounds, from CUT on cut at the limits with an imagined better trial, and these
    alone beyond FARTHEST.

    With bounds the imagined limits hold in nearly every sample from CUT on (at least .96 on five joint laws, one where
    selection overfits among them), so that cutting costs no coverage where studentised limits grow towards the bounds.
    """
    found = studentised(work)
    beyond = work.n > FARTHEST * work.n_trials
    if work.lowest is None or work.highest is None:
        return work.settle(found, jackknife=False).drop(beyond, TOO_CLOSE)
    cut = work.n > CUT * work.n_trials
    if cut.any():
        low, high = imagined_limits(work, share_of_far(work))
        low = np.where(beyond, low, np.where(cut, np.fmax(found.low, low), found.low))
        high = np.where(beyond, high, np.where(cut, np.fmin(found.high, high), found.high))
        why, note = found.why, f"{found.note}; from .3 of the trials on cut at limits with an imagined better trial"
        found = Limits(low, high, note, "studentised")
        for i in np.flatnonzero(np.isnan(low) | np.isnan(high)):
            found.why[i] = why[i]
    return found
