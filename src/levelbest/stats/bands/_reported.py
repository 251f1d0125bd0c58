"""Intervals where the reported score is not the selection score: the wider of Student's t and rank draws.

*Student's t*: the U estimate and its jackknife error, with as many degrees of freedom as the budget leaves. The best
trial has the weight n/m at budget n, so that the estimate is worth m/n trials and not m; the degrees of freedom are
(m - 1)/n, or with the weight w that each of the best trials has where they tie, (m - 1)/(m w), and at least 2.

*Rank draws*: by their selection scores the trials have the ranks of sorted uniforms U_1 < ... < U_m, so that the winner
of n is trial j with weight U_j^n - U_{j-1}^n, and with the rest, 1 - U_m^n, a trial better than all observed. That one
reports at worst what the worst of the sqrt(m) best trials does, and at best what the best of them does. Trials that tie
in the selection score share the weight of their group; of many trials, neighbours in rank do.

Neither serves alone. The t interval is symmetric and sees no variance where the best trials happen to agree; the draws
are too narrow where few trials carry the weight.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from levelbest._check import Bounds, FloatArray, IntArray
from levelbest.stats.bands._gaffke import FEWEST, powers, sorted_uniforms
from levelbest.stats.bands._resample import allow
from levelbest.stats.bands._thin import rank_edges
from levelbest.stats.best import Sample, subset_fraction, weights_below

_CELLS = 1 << 17  # values in one piece of draws
FEWEST_FREE = 2.0
"""Degrees of freedom at least. NOTE: past n = m/2 the best trial has more than half of the weight, (m - 1)/n lies below
2, and the interval would grow without end. With 2 it covers .95 to .99 up to .8 m, and .88 where selection overfits at
the top. Chosen on normal scores with correlations .1 and .8, accuracies and overfitting; guarded by the columns
n = .8 m of "reported mean" in docs/coverage.md."""


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
        piece = max(1, _CELLS // self.edges.size)
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
    count = min(max(FEWEST, round(math.sqrt(m))), m)
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
