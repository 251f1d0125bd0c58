"""Intervals where the reported score is not the selection score: the wider of Student's t and rank draws.

*Student's t*: the U estimate and its jackknife error, with as many degrees of freedom as the budget leaves. The best
trial has the weight n/m at budget n, so the effective number of trials is m/n and not m; the degrees of freedom are (m
- 1)/n, or with the weight w that each of the best trials has where they tie, (m - 1)/(m w), and at least 2.

*Rank draws*: by their selection scores the trials have the ranks of sorted uniforms U_1 < ... < U_m, so that the winner
of n is trial j with weight U_j^n - U_{j-1}^n, and with the rest, 1 - U_m^n, a trial better than all observed. Its
reported score is at worst that of the worst of the sqrt(m) best trials, and at best that of the best of them. Trials
that tie in the selection score share the weight of their group; with many trials, trials of neighbouring rank do.

Neither is sufficient alone. The t interval is symmetric and has no width where the best trials happen to agree; the
draws are too narrow where few trials have most of the weight.

*Quantiles*: in each draw every trial has its weight and the imagined better trial the rest; its report is uniform over
a range wider than that of the best trials, and the quantile drawn is where the weights of the scores reach q. Of more
than 2,048 trials only the best so many are drawn, for budgets whose winner is nearly always among them; at budgets that
leave more than 40 degrees of freedom the interval is Woodruff's (1952): the estimated distribution of the winner's
report, inverted at q plus and minus Student's t times the jackknife error of that distribution at the quantile.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from levelbest._check import Bounds, FloatArray, IntArray
from levelbest.stats.bands._gaffke import FEWEST_TRIALS, powers, sorted_uniforms
from levelbest.stats.bands._limits import rank_edges
from levelbest.stats.bands._resample import allow
from levelbest.stats.best import Quantile, Sample, best_weights, subset_fraction, weights_below

_REPORTS_AT_ONCE = 1 << 17  # values in one piece of draws
FEWEST_FREE = 2.0
"""Degrees of freedom at least. NOTE: past n = m/2 the best trial has more than half of the weight, (m - 1)/n lies below
2, and the interval would grow without end. With 2 it covers .95 to .99 up to .8 m, and .88 where selection overfits at
the top. Chosen on normal scores with correlations .1 and .8, accuracies and overfitting; guarded by the columns
n = .8 m of "reported mean" in docs/coverage.md."""
ALL_DRAWN = 1 << 11
"""Trials whose weights are drawn one by one."""
FREE = 40.0
"""Degrees of freedom from which on Woodruff's interval serves. NOTE: at 40 the two methods agree to a tenth of the
width (normal scores, correlation .3 and .9, 3,000 trials); tests/stats/test_reported.py
guards it."""
_SHARE_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class ReportCells:
    """Reported scores in cells of neighbouring selection rank, worst first: single trials near the best, ties whole."""

    edges: IntArray
    """The last rank of each cell."""
    means: FloatArray
    squares: FloatArray
    """The sum of the squared deviations from the mean in each cell."""
    n_trials: int

    @classmethod
    def of(cls, ordered: Sample) -> ReportCells:
        """The cells of trials in order of their selection score."""
        reported, m = ordered.claimed, ordered.n_trials
        tie_ends = ends_of_ties(ordered.selection)
        edges = np.unique(tie_ends[np.searchsorted(tie_ends, rank_edges(m, fine_at_worst=False))])
        counts = np.diff(edges, prepend=0)
        means = np.add.reduceat(reported, edges - counts) / counts
        squares = np.add.reduceat((reported - np.repeat(means, counts)) ** 2, edges - counts)
        return cls(edges, means, squares, m)

    @property
    def counts(self) -> IntArray:
        """How many trials each cell has."""
        return np.diff(self.edges, prepend=0)

    def errors(self, n: IntArray) -> FloatArray:
        """Jackknife standard errors of the U estimates; for all m trials, which leave none out, that of m - 1.

        Leaving out a trial of one cell rather than of the next better one moves one trial across the edge between them,
        which has the weight w' of m - 1 trials; leaving out one of c trials of a cell moves its mean by
        (mean - score) / (c - 1). The second shifts sum to zero in each cell, so that the two parts of the variance add.
        """
        m, counts, edges = self.n_trials, self.counts, self.edges
        rises, starts, others = np.diff(self.means), edges - counts, np.maximum(counts - 1.0, 1.0)
        better = np.asarray(m - 1.0 - edges[:-1], dtype=np.float64)
        out = np.empty(n.size)
        for i, budget in enumerate(np.minimum(n, m - 1).tolist()):
            steps = weights_below(m - 1, budget, better, "u") * rises
            shifts = np.append(np.cumsum(steps[::-1])[::-1], 0.0)
            between = counts @ (shifts - counts @ shifts / m) ** 2
            held = subset_fraction(edges - 1, m - 1, budget) - subset_fraction(starts, m - 1, budget)
            out[i] = math.sqrt((1 - 1 / m) * (between + (held / others) ** 2 @ self.squares))
        return out

    def drawn(self, n_draws: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """The mean of every cell and the logarithm of the uniform at its edge, (draw, cell) each."""
        logs = np.log(sorted_uniforms(self.edges, self.n_trials, n_draws, rng))
        means = np.repeat(self.means[None], n_draws, axis=0)
        several = np.flatnonzero(self.squares)
        counts = self.counts[several]
        spread = np.sqrt(self.squares[several] / (counts * (counts + 1.0)))  # of a mean with Dirichlet weights
        means[:, several] += spread * rng.standard_normal((n_draws, several.size))
        return means, logs

    def mean_draws(self, n: IntArray, n_draws: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """The weighted mean of the reported scores and the weight of the imagined trial, (n, draw) each."""
        allow(n_draws, n.size, 2)
        means, rest = np.empty((2, n.size, n_draws))
        middle = float(self.means[-1])  # deviations lose no digits to a large common offset
        piece = max(1, _REPORTS_AT_ONCE // self.edges.size)
        for start in range(0, n_draws, piece):
            cut = slice(start, min(start + piece, n_draws))
            of_cell, logs = self.drawn(cut.stop - start, rng)
            of_cell -= middle
            rises = np.diff(of_cell, axis=1)
            for i, (left, power) in enumerate(powers(logs, self.edges, self.n_trials, n)):
                lost = np.einsum("bk,bk->b", power[:, :-1], rises[:, left:])
                means[i, cut] = power[:, -1] * of_cell[:, -1] - lost
                rest[i, cut] = 1 - power[:, -1]
        means += middle * (1 - rest)
        return means, rest


def ends_of_ties(selection: FloatArray) -> IntArray:
    """The last rank, from 1 on, of each group of equal scores among scores that rise."""
    return np.append(np.flatnonzero(selection[1:] != selection[:-1]), selection.size - 1) + 1


def imagined_reports(ordered: Sample, bounds: Bounds = (None, None)) -> tuple[float, float]:
    """What a better trial than all observed reports, at worst and at best: the range of the sqrt(m) best trials.

    They are at least three, and more where trials tie or all of these report the same. Where all trials do, nothing but
    the bounds tells; without one it is NaN.
    """
    reported, m = ordered.claimed, ordered.n_trials
    count = min(max(FEWEST_TRIALS, round(math.sqrt(m))), m)
    first = int(np.searchsorted(ordered.selection, ordered.selection[m - count]))
    if (reported[first:] == reported[-1]).all():
        others = np.flatnonzero(reported[:first] != reported[-1])
        if not others.size:
            worst, best = (math.nan if bound is None else float(bound) for bound in bounds)
            return worst, best
        first = int(others[-1])
    return float(reported[first:].min()), float(reported[first:].max())


def degrees_of_freedom(ordered: Sample, n: IntArray) -> FloatArray:
    """(m - 1) / (m w) at each budget, w the weight of each of the trials that tie for best; (m - 1) / n for one."""
    m = ordered.n_trials
    tied = m - int(np.searchsorted(ordered.selection, ordered.selection[-1]))
    weight = (1 - subset_fraction(m - tied, m, n)) / tied
    return np.maximum((m - 1) / (m * weight), FEWEST_FREE)


def t_quantile(freedom: FloatArray, level: float) -> FloatArray:
    """The upper quantile of Student's t that leaves ``level``."""
    from scipy.special import stdtrit

    return np.asarray(stdtrit(freedom, 1 - level))


def wider_by(level: float, pointwise: float) -> float:
    """By what factor normal limits with the tail ``level`` are wider than pointwise ones: what a band takes.

    Student's t at so small a level would leave nearly all of the error to the budgets with many degrees of freedom.
    """
    from scipy.special import ndtri

    return float(ndtri(level) / ndtri(pointwise))


def woodruff(ordered: Sample, n: IntArray, q: float, errors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Low and high at each budget, so many standard errors of the distribution at its quantile to either side."""
    order = np.argsort(ordered.claimed, kind="stable")
    scores = ordered.claimed[order]
    low, high = np.empty((2, n.size))
    for i, budget in enumerate(n.tolist()):
        held = np.cumsum(np.asarray(best_weights(ordered.selection, budget))[order])
        estimate = scores[min(int(np.searchsorted(held, q - _SHARE_ROUNDING)), scores.size - 1)]
        below = Sample(ordered.selection, (ordered.claimed <= estimate).astype(np.float64))
        half = errors[i] * ReportCells.of(below).errors(n[i : i + 1])
        at = np.searchsorted(held, q - _SHARE_ROUNDING + half * np.array([-1, 1]))
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
    fewest = max(min(m // 4, round(np.sqrt(3 * m))), min(FEWEST_TRIALS, m - 1))
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
    scores, quantile = reported[worst_first], Quantile(q)
    group = np.repeat(np.arange(counts.size), counts)[worst_first]
    draws = np.empty((n.size, n_draws))
    piece = max(1, _REPORTS_AT_ONCE // reported.size)
    for start in range(0, n_draws, piece):
        cut = slice(start, min(start + piece, n_draws))
        size = cut.stop - start
        weights = rng.standard_gamma(np.broadcast_to(sizes, (size, sizes.size)))
        of_group = np.add.reduceat(weights, starts, axis=1)
        sums = np.cumsum(of_group, axis=1) + rng.standard_gamma(float(trials[0]), (size, 1))
        logs = np.log(sums / (sums[:, -1:] + rng.standard_exponential((size, 1))))
        shares = np.ascontiguousarray((weights / np.repeat(of_group, counts, axis=1))[:, worst_first].T)
        where = rng.random(size)
        for i, (left, power) in enumerate(powers(logs, ranks, ordered.n_trials, n)):
            counted = np.flatnonzero(group >= left)
            chances = np.ascontiguousarray(np.diff(power, axis=1, prepend=0.0).T)
            weights = chances.take(group[counted] - left, axis=0) * shares[counted]
            further = ends[0, i] + where * (ends[1, i] - ends[0, i])
            draws[i, cut] = np.clip(further, *quantile.with_further(scores[counted], weights, 1 - power[:, -1]))
    return draws


def _kept(ordered: Sample) -> IntArray:
    """The trials whose weights are drawn: the best ones, and of a tie that reaches further some all over it."""
    m = ordered.n_trials
    first = max(0, m - ALL_DRAWN)
    start, stop = (int(np.searchsorted(ordered.selection, ordered.selection[first], side=s)) for s in ("left", "right"))
    of_tie = np.unique(np.linspace(start, stop - 1, min(stop - start, ALL_DRAWN)).astype(np.int64))
    return np.concatenate([of_tie, np.arange(stop, m)])
