"""Intervals of a quantile of reported scores: the rank draws of `_reported`, for what is no mean.

In each draw every trial has its weight and the imagined better trial the rest; its report is uniform over a range wider
than that of the best trials, and the quantile drawn is where the weights of the scores reach q. Of more than
2,048 trials only the best so many are drawn, for budgets whose winner is nearly always among them; at budgets that
leave more than 40 degrees of freedom the interval is Woodruff's (1952): the estimated distribution of the winner's
report, inverted at q plus and minus Student's t times the jackknife error of that distribution at the quantile.
"""

from __future__ import annotations

import numpy as np

from levelbest._check import Bounds, FloatArray, IntArray
from levelbest.stats.bands._gaffke import FEWEST, powers
from levelbest.stats.bands._reported import ReportCells, ends_of_ties
from levelbest.stats.bands._resample import allow
from levelbest.stats.best import Sample, best_weights

ALL_DRAWN = 1 << 11
"""Trials whose weights are drawn one by one."""
FREE = 40.0
"""Degrees of freedom from which on Woodruff's interval serves. NOTE: at 40 the two methods agree to a tenth of the
width (normal scores, correlation .3 and .9, 3,000 trials); tests/stats/test_reported.py
guards it."""
_CELLS = 1 << 17  # weights in one piece of draws
_ROUNDING = 1e-12


def woodruff(ordered: Sample, n: IntArray, q: float, errors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Low and high at each budget, so many standard errors of the distribution at its quantile to either side."""
    order = np.argsort(ordered.claimed, kind="stable")
    scores = ordered.claimed[order]
    low, high = np.empty((2, n.size))
    for i, budget in enumerate(n.tolist()):
        held = np.cumsum(np.asarray(best_weights(ordered.selection, budget))[order])
        estimate = scores[min(int(np.searchsorted(held, q - _ROUNDING)), scores.size - 1)]
        below = Sample(ordered.selection, (ordered.claimed <= estimate).astype(np.float64))
        half = errors[i] * ReportCells.of(below).errors(n[i : i + 1])
        at = np.searchsorted(held, q - _ROUNDING + half * np.array([-1, 1]))
        low[i], high[i] = scores[np.minimum(at, scores.size - 1)]
    return low, high


def further_reports(ordered: Sample, n: IntArray, bounds: Bounds = (None, None)) -> FloatArray:
    """Between what a better trial's report is drawn for quantiles, (2, n): no t interval stands beside these draws.

    The range of what the best m/n trials report, at least sqrt(3 m) and at most a quarter of all unless n < 4, widened
    by a part of it that grows with n. NOTE: the five constants trade coverage at n = m/2 and beyond (.94 to .97)
    against width; chosen on the distributions of "reported median" in docs/coverage.md, which guards them.
    """
    selection, reported, m = ordered.selection, ordered.claimed, ordered.n_trials
    lowest, highest = (-np.inf if bounds[0] is None else bounds[0], np.inf if bounds[1] is None else bounds[1])
    if reported.min() == reported.max():  # nothing but the bounds tells what another trial might report
        return np.repeat([[lowest], [highest]], n.size, axis=1)
    fewest = max(min(m // 4, round(np.sqrt(3 * m))), min(FEWEST, m - 1))
    count = np.minimum(np.maximum(fewest, np.ceil(m / n)).astype(np.int64), m - 1)
    # the worst of so many trials and one, ties in the selection score together; ranges from there to the best
    first, back = np.unique(np.searchsorted(selection, selection[m - 1 - count]), return_inverse=True)
    ranges = (f.accumulate(f.reduceat(reported, first)[::-1])[::-1] for f in (np.minimum, np.maximum))
    seen = np.stack([ends[back] for ends in ranges])
    width = np.where(seen[0] == seen[1], np.ptp(reported), seen[1] - seen[0])
    wider = (0.1 + 0.1 * (1 - 1 / n) + 0.3 * (n - 1) / m) * (1.2 + 9 / m) * width
    return np.asarray(np.clip(np.stack([seen[0] - wider, seen[1] + wider]), lowest, highest))


def quantile_draws(
    ordered: Sample, ends: FloatArray, n: IntArray, q: float, n_draws: int, rng: np.random.Generator
) -> FloatArray:
    """The q-quantile (n, draw) of the winner's reported score, that of a better trial between ``ends`` (2, n)."""
    allow(n_draws, n.size)
    trials = _kept(ordered)
    reported = ordered.claimed[trials]
    tie_ends = ends_of_ties(ordered.selection[trials])
    counts = np.diff(tie_ends, prepend=0)
    starts = tie_ends - counts
    ranks = np.append(trials[starts[1:]], ordered.n_trials)  # the last of each tie
    sizes = np.repeat(np.diff(ranks, prepend=trials[0]) / counts, counts)
    worst_first = np.argsort(reported, kind="stable")
    scores = np.append(reported[worst_first], np.inf)
    group = np.repeat(np.arange(counts.size), counts)[worst_first]
    draws = np.empty((n.size, n_draws))
    piece = max(1, _CELLS // reported.size)
    for start in range(0, n_draws, piece):
        cut = slice(start, min(start + piece, n_draws))
        size = cut.stop - start
        weights = rng.standard_gamma(np.broadcast_to(sizes, (size, sizes.size)))
        of_group = np.add.reduceat(weights, starts, axis=1)
        sums = np.cumsum(of_group, axis=1) + rng.standard_gamma(float(trials[0]), (size, 1))
        logs = np.log(sums / (sums[:, -1:] + rng.standard_exponential((size, 1))))
        shares = (weights / np.repeat(of_group, counts, axis=1))[:, worst_first]
        where = rng.random(size)
        for i, (left, power) in enumerate(powers(logs, ranks, ordered.n_trials, n)):
            counted = np.flatnonzero(group >= left)
            total = np.diff(power, axis=1, prepend=0.0)[:, group[counted] - left]
            total *= shares[:, counted]
            np.cumsum(total, axis=1, out=total)
            possible = scores[np.append(counted, reported.size)]
            further = ends[0, i] + where * (ends[1, i] - ends[0, i])
            draws[i, cut] = np.clip(further, *_between(total, 1 - power[:, -1], q, possible))
    return draws


def _kept(ordered: Sample) -> IntArray:
    """The trials whose weights are drawn: the best ones, and of a tie that reaches further some all over it."""
    m = ordered.n_trials
    first = max(0, m - ALL_DRAWN)
    start, stop = (int(np.searchsorted(ordered.selection, ordered.selection[first], side=s)) for s in ("left", "right"))
    of_tie = np.unique(np.linspace(start, stop - 1, min(stop - start, ALL_DRAWN)).astype(np.int64))
    return np.concatenate([of_tie, np.arange(stop, m)])


def _between(total: FloatArray, rest: FloatArray, q: float, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The quantile with the imagined score below all others, and with it above all: in between it is that score."""
    under, over = (_first_at_least(total, q - _ROUNDING - held) for held in (rest, 0 * rest))
    lowest = np.where(rest >= q - _ROUNDING, -np.inf, scores[np.minimum(under, scores.size - 2)])
    return lowest, scores[over]


def _first_at_least(rising: FloatArray, level: FloatArray) -> IntArray:
    """Where each row first reaches its level; one past the end where it does not. By halving, all rows at once."""
    below = np.full(level.size, -1)
    reached = np.full(level.size, rising.shape[1])
    rows = np.arange(level.size)
    while (reached - below > 1).any():
        middle = (below + reached + 1) // 2  # a row that is done stays where it is
        enough = rising[rows, np.minimum(middle, rising.shape[1] - 1)] >= level
        reached, below = np.where(enough, middle, reached), np.where(enough, below, middle)
    return reached
