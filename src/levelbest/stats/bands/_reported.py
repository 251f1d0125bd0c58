"""Intervals where the reported score is not the selection score: one better trial is imagined.

Nothing exact is known for the quantile of a separate reported score: limits from the order statistics of the reported
column alone hardly ever cover.

The Bayesian bootstrap with an imagined trial carries the idea of `gaffke` over: the ranks of the trials by selection
score are those of sorted uniforms U_1 < ... < U_m, so that the winner of n is trial j with weight U_j^n - U_{j-1}^n,
and with the rest, 1 - U_m^n, a trial better than all observed. What that one would report is unknown. It may lie
anywhere in the range of the trials in the top quarter, widened on both sides by 1/4 + 10/m of it (to the better side
alone it covered .70 to .86 where selection overfits); up to n = m/10 from beyond the worst of all trials, and in
between the lower end moves linearly. The limits of a mean curve take the two ends (a uniform draw covered .89 where
selection and reported score are independent), those of a quantile curve a uniform draw. Trials that tie in the
selection score share the weight of their group at random (Dirichlet), as unequally as resampling would.
"""

from __future__ import annotations

import numpy as np

from levelbest._check import FloatArray
from levelbest.stats.bands._gaffke import sorted_uniforms, whole_power
from levelbest.stats.bands._limits import order_statistic, percentile
from levelbest.stats.bands._resample import Ranked, allow
from levelbest.stats.bands._work import Work

__all__ = ["imagined_draws", "imagined_limits"]

_CELLS = 1 << 16  # trials in one piece of draws


def imagined_draws(
    trials: Ranked, ends: FloatArray, n_draws: int, rng: np.random.Generator, q: float | None = None
) -> FloatArray:
    """Draws of the curve with a reported score imagined between ``ends`` (2, n).

    Mean: (2, n, draw), one with each end. Quantile: (1, n, draw), uniform between the ends.
    """
    m, n = trials.n_trials, trials.n
    allow(n_draws, n.size, 2 if q is None else 1)
    out = np.empty((2 if q is None else 1, n.size, n_draws))
    last = np.r_[trials.starts[1:], m] - 1
    group = np.repeat(np.arange(last.size), np.diff(np.r_[trials.starts, m]))
    by_claim = np.argsort(trials.reported, kind="stable")
    worst_first = np.r_[trials.reported[by_claim], np.inf]
    piece = max(1, _CELLS // m)
    for start in range(0, n_draws, piece):
        cut = slice(start, min(start + piece, n_draws))
        size = cut.stop - start
        u = sorted_uniforms(m, size, rng)[:, last]
        part = np.ones((size, m))
        if last.size < m:
            part = rng.standard_exponential(part.shape)
            part /= np.add.reduceat(part, trials.starts, axis=1)[:, group]
        means = np.add.reduceat(part * trials.reported, trials.starts, axis=1)
        place = rng.random(size)
        for i, k in enumerate(n):
            power = whole_power(u, int(k))
            weights = np.diff(power, axis=1, prepend=0.0)
            rest = 1 - power[:, -1]
            if q is None:
                out[:, i, cut] = np.einsum("bg,bg->b", weights, means) + np.outer(ends[:, i], rest)
                continue
            total = np.cumsum((weights[:, group] * part)[:, by_claim], axis=1)
            # The quantile with the imagined score below all others, and with it above all: in between it is that score.
            lowest = worst_first[np.minimum((total + rest[:, None] < q - 1e-12).sum(axis=1), m - 1)]
            lowest = np.where(rest >= q - 1e-12, -np.inf, lowest)
            highest = worst_first[(total < q - 1e-12).sum(axis=1)]
            out[0, i, cut] = np.clip(ends[0, i] + place * (ends[1, i] - ends[0, i]), lowest, highest)
    return out


def imagined_limits(work: Work, share: FloatArray, q: float | None = None) -> tuple[FloatArray, FloatArray]:
    """Limits from the Bayesian bootstrap with an imagined better trial; ``share`` is 0 for small n, 1 for large."""
    scores = np.sort(work.trials.reported)
    chosen = work.trials.selection
    best = work.trials.reported[chosen >= chosen[-work.quarter]]
    if best.min() == best.max():
        best = scores  # the best quarter reports one value: what all trials report says more
    beyond = (0.25 + 10 / work.n_trials) * np.ptp(best)
    beneath = (1 - share) * (2 * scores[0] - scores[work.quarter]) + share * (best.min() - beyond)
    ends = np.stack([beneath, np.full(work.n.size, best.max() + beyond)])
    lowest = -np.inf if work.lowest is None else work.lowest
    highest = np.inf if work.highest is None else work.highest
    if scores[0] == scores[-1]:
        # one value: nothing but the bounds tells what another trial might report
        ends[0], ends[1] = lowest, highest
    ends = np.clip(ends, lowest, highest)
    if not np.isfinite(ends).all():
        return np.full(work.n.size, np.nan), np.full(work.n.size, np.nan)
    draws = imagined_draws(work.trials, ends, work.n_resamples, work.rng(5), q)
    low, high = draws[0], draws[-1]
    if q is not None:
        return percentile(low, work.level(low))
    return (
        order_statistic(low, work.level(low, 0.5, tails=-1)),
        order_statistic(high, 1 - work.level(high, 0.5, tails=1)),
    )
