"""Intervals where the reported score is not the selection score: one imagined better trial, and quantile curves.

The quantile curve is the U-weighted quantile of the reported scores (see `order.quantile_best`). Nothing exact is known
for it: limits from the order statistics of the reported column alone hardly ever cover.

The Bayesian bootstrap with an imagined trial carries the idea of `gaffke` over: the ranks of the trials by selection
score are those of sorted uniforms U_1 < ... < U_m, so that the winner of n is trial j with weight U_j^n - U_{j-1}^n,
and with the rest, 1 - U_m^n, a trial better than all observed. What that one would report is unknown. For the upper
limit it is taken to be beyond the best of the trials in the top quarter by as much as these differ; for the lower limit
it is the worst of them from n = m/5 up, and beyond the worst of all trials up to n = m/10, linearly in between. Trials
that tie in the selection score share the weight of their group at random (Dirichlet), as unequally as resampling
would.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest.stats import limits
from levelbest.stats.gaffke import sorted_uniforms, whole_power
from levelbest.stats.methods import Found, Work
from levelbest.stats.resample import Ranked, allow, counts
from levelbest.stats.weights import subset_fraction

__all__ = ["imagined_draws", "imagined_limits", "quantile_draws", "quantile_methods"]

_CELLS = 1 << 16  # trials in one piece of draws


def imagined_draws(
    trials: Ranked, imagined: FloatArray, n_draws: int, rng: np.random.Generator, q: float | None = None
) -> FloatArray:
    """Draws (choice, n, draw) of the mean (or the q-quantile) curve, for each reported score imagined (choice, n)."""
    m, n = trials.n_trials, trials.n
    allow(n_draws, n.size, len(imagined))
    out = np.empty((len(imagined), n.size, n_draws))
    ends = np.r_[trials.starts[1:], m] - 1
    group = np.repeat(np.arange(ends.size), np.diff(np.r_[trials.starts, m]))
    by_claim = np.argsort(trials.reported, kind="stable")
    worst_first = trials.reported[by_claim]
    piece = max(1, _CELLS // m)
    for start in range(0, n_draws, piece):
        cut = slice(start, min(start + piece, n_draws))
        u = sorted_uniforms(m, cut.stop - start, rng)[:, ends]
        part = np.ones((cut.stop - start, m))
        if ends.size < m:
            part = rng.standard_exponential(part.shape)
            part /= np.add.reduceat(part, trials.starts, axis=1)[:, group]
        means = np.add.reduceat(part * trials.reported, trials.starts, axis=1)
        for i, k in enumerate(n):
            power = whole_power(u, int(k))
            weights = np.diff(power, axis=1, prepend=0.0)
            rest = 1 - power[:, -1]
            if q is None:
                base = np.einsum("bg,bg->b", weights, means)
                for j, choice in enumerate(imagined[:, i]):
                    out[j, i, cut] = base + rest * choice
                continue
            spread = (weights[:, group] * part)[:, by_claim]
            for j, choice in enumerate(imagined[:, i]):
                place = int(np.searchsorted(worst_first, choice))
                total = np.cumsum(np.insert(spread, place, rest, axis=1), axis=1)
                scores = np.insert(worst_first, place, choice)
                reached = np.minimum((total < q - 1e-12).sum(axis=1), m)
                out[j, i, cut] = scores[reached]
    return out


def imagined_limits(work: Work, share: FloatArray, q: float | None = None) -> tuple[FloatArray, FloatArray]:
    """Limits from the Bayesian bootstrap with an imagined better trial; ``share`` is 0 for small n, 1 for large."""
    scores = np.sort(work.trials.reported)
    chosen = work.trials.selection
    best = work.trials.reported[chosen >= chosen[-work.quarter]]
    if best.min() == best.max():
        best = scores  # the best quarter reports one value: what all trials report says more
    beyond = 2 * best.max() - best.min()
    beneath = (1 - share) * (2 * scores[0] - scores[work.quarter]) + share * best.min()
    imagined = np.stack([beneath, np.full(work.n.size, beyond)])
    lowest = -np.inf if work.lowest is None else work.lowest
    highest = np.inf if work.highest is None else work.highest
    if scores[0] == scores[-1]:
        # one value: nothing but the bounds tells what another trial might report
        imagined = np.stack([np.full(work.n.size, lowest), np.full(work.n.size, highest)])
    imagined = np.clip(imagined, lowest, highest)
    low, high = imagined_draws(work.trials, imagined, work.n_resamples, work.rng(5), q)
    return (
        limits.order_statistic(low, work.level(low, 0.5, tails=-1)),
        limits.order_statistic(high, 1 - work.level(high, 0.5, tails=1)),
    )


def quantile_draws(trials: Ranked, q: float, drawn: IntArray) -> FloatArray:
    """The q-quantile of the reported score of the best of n, (n, resample), of resamples given as counts."""
    m, b = trials.n_trials, drawn.shape[0]
    out = np.empty((trials.n.size, b))
    if trials.one_column:
        rows = np.repeat(np.tile(trials.reported, b), drawn.ravel()).reshape(b, m)
        for i, n in enumerate(trials.n):
            place = m * q ** (1 / n)
            even = abs(place - round(place)) <= 1e-12
            low = max(round(place) if even else int(np.ceil(place)), 1)
            out[i] = (rows[:, low - 1] + rows[:, min(low + even, m) - 1]) / 2
        return out
    by_claim = np.argsort(trials.reported, kind="stable")
    worst_first = trials.reported[by_claim]
    sizes = np.add.reduceat(drawn, trials.starts, axis=1)
    top = np.cumsum(sizes, axis=1)
    group = np.repeat(np.arange(trials.starts.size), np.diff(np.r_[trials.starts, m]))
    part = drawn / np.maximum(sizes, 1)[:, group]
    row = np.arange(b)
    for i, n in enumerate(trials.n):
        below = subset_fraction(np.arange(m + 1), m, n)[top]
        weights = (np.diff(below, axis=1, prepend=0.0)[:, group] * part)[:, by_claim]
        total = np.cumsum(weights, axis=1)
        at = np.argmax(total >= q - 1e-12, axis=1)
        value = worst_first[at]
        level = np.abs(total[row, at] - q) <= 1e-12
        if level.any():
            after = np.argmax((total > q + 1e-12) & (weights > 0), axis=1)
            value = np.where(level, (value + worst_first[after]) / 2, value)
        out[i] = value
    return out


def _resampled(work: Work, q: float) -> tuple[FloatArray, FloatArray]:
    """The estimate and its resamples."""
    allow(work.n_resamples, work.n.size)
    ones = np.ones((1, work.n_trials), dtype=np.int64)
    estimate = quantile_draws(work.trials, q, ones)[:, 0]
    draws = np.empty((work.n.size, work.n_resamples))
    piece = max(1, _CELLS // work.n_trials)
    rng = work.rng(0)
    for start in range(0, work.n_resamples, piece):
        cut = slice(start, min(start + piece, work.n_resamples))
        draws[:, cut] = quantile_draws(work.trials, q, counts(work.n_trials, cut.stop - start, rng))
    return estimate, draws


def quantile_methods(q: float, share: Callable[[Work], FloatArray]) -> dict[str, Callable[[Work], Found]]:
    """The bootstraps for the q-quantile curve, by name."""

    def default(work: Work) -> Found:
        pair = imagined_limits(work, share(work), q)
        note = "Bayesian bootstrap with an imagined better trial: nothing exact is known for a separate reported score"
        return work.settle(Found(*pair, note, "bootstrap"), jackknife=False)

    def percentile(work: Work) -> Found:
        _, draws = _resampled(work, q)
        pair = limits.percentile(draws, work.level(draws))
        return work.settle(Found(*pair, "percentiles of the resampled quantile"), jackknife=False)

    def basic(work: Work) -> Found:
        estimate, draws = _resampled(work, q)
        pair = limits.basic(draws, estimate, work.level(draws))
        return work.settle(Found(*pair, "percentiles of the resampled quantile, mirrored"), jackknife=False)

    return {"default": default, "percentile": percentile, "basic": basic}
