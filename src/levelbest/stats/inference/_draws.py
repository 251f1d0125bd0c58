"""Draws of a curve under unequal distributions: random weights of the units and of one that was not observed.

The ranks of a sample are those of sorted uniforms U_1 < ... < U_m. With weights U_j^n - U_(j-1)^n the sorted scores
give a draw of the best of n; the spacing that is left belongs to a unit that was not observed, which scores as the
worst observed one in *lower* draws and as the best in *upper* ones (or as the bounds of the score allow, where these
are asked for). The interval of a difference runs from a low quantile of one family's lower draws minus the other's
upper draws to a high quantile of the reverse. For one budget and 0/1 scores this is Clopper and Pearson's interval.

Where another score is reported of the winner, the unobserved unit is the best one, and reports the worst or the best
of what the sqrt(m) best trials report. A mean over units (runs, searches, problems) is the case n = 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from levelbest._check import Bounds, FloatArray, IntArray
from levelbest.stats.bands import gaffke_draws, pieces
from levelbest.stats.best import Mean, Quantile, Sample, Statistic, best_weights

N_DRAWS = 2_000
# NOTE: draws of the weights, time against Monte Carlo error: of a 95 % limit 3 % of its distance from the estimate. It
# moves all rows of docs/coverage-verdicts.md a little.
CELLS_ABOVE = 2_000
"""Larger families are drawn as cells of neighbouring rank, the best trials single."""
_SINGLE = 1_000
SINGLE_WITHIN = 4.0
"""Standard errors of the distribution, around a quantile, within which reports of a large family are drawn one by one.

NOTE: a draw that leaves four standard errors has a chance of 6e-5 and is then placed by whole cells; a smaller number
is faster and rounds limits of quantiles to the edges of cells (the rows of medians in docs/coverage-verdicts.md).
"""
_LITTLE, _NOTHING = 1e-2, 1e-18
"""The part of the best trial's weight below which a trial is not drawn alone; and a chance that no sum shows."""
_EXPONENTIALS_AT_ONCE = 1 << 20  # exponentials in one piece
_FURTHER_REACH, _FEWER = 0.25, 1.2
# NOTE: a further score is imagined _FURTHER_REACH + _FEWER / m, times 1 + 10 / m, ranges of a quarter beyond. Chosen on
# all of docs/coverage-problems.md's rates but the last: less covers below .93 with 8 to 12 problems, more is wider.
_WINDOW = 0.1
"""Of the range: scores this close are as good as equal."""
_FEW_DECIDE = 0.5, 0.75
"""Of the scores within such a window: where the bound begins to stand, and where it does."""
_UNBOUNDED_RANGES = 2.0
"""Where no bound is known: so many ranges beyond, for many scores."""
HEAVIER = 2.0
"""Times the mean weight: what a further unit weighs at least where units have weights."""


class Draws(NamedTuple):
    """Of one curve or difference: (node, draw) each."""

    lower: FloatArray
    upper: FloatArray

    def minus(self, other: Draws) -> Draws:
        """Of the difference of two independent curves."""
        return Draws(self.lower - other.upper, self.upper - other.lower)


def curve_draws(
    sample: Sample, n: IntArray, statistic: Statistic, rng: np.random.Generator, bounds: Bounds = (None, None)
) -> Draws:
    """Of one family's curve, scores turned so that higher is better; the unobserved unit lies within ``bounds``."""
    ordered = sample.ordered()
    if sample.reported is None and isinstance(statistic, Mean):
        draws = gaffke_draws(ordered.selection, n, N_DRAWS, rng)
        worst, best = _end_scores(ordered.selection, bounds)
        return Draws(draws.lower(worst), draws.upper(best))
    if sample.reported is None and isinstance(statistic, Quantile):
        return _quantile_draws(ordered.selection, n, statistic.q, rng, bounds)
    ordered, cells = (
        (ordered, RankCells.of(ordered)) if isinstance(statistic, Mean) else in_pieces(ordered, n, statistic)
    )
    weights = rng.standard_gamma(np.broadcast_to(np.append(cells.counts, 1.0), (N_DRAWS, cells.counts.size + 1)))
    return weighted_draws(ordered, cells, weights, n, statistic, bounds, rng)


def paired_draws(
    samples: tuple[Sample, Sample], n: IntArray, statistic: Statistic, rng: np.random.Generator, bounds: Bounds
) -> Draws:
    """Of the difference of two families' curves whose trials are pairs: both sides have the same weights.

    The pair that was not observed differs as the least, or the most, of those observed; or as the bounds allow.
    """
    m = samples[0].n_trials
    weights = rng.standard_exponential((N_DRAWS, m + 1))
    if None not in bounds:
        first, second = (weighted_draws(*_ordered(sample, weights), n, statistic, bounds, rng) for sample in samples)
        return first.minus(second)
    apart = samples[0].claimed - samples[1].claimed
    each = []
    for place in (int(apart.argmin()), int(apart.argmax())):
        moved = np.concatenate([weights[:, :-1], np.zeros((N_DRAWS, 1))], axis=1)
        moved[:, place] += weights[:, -1]
        curves = [weighted_draws(*_ordered(sample, moved), n, statistic, bounds, rng).lower for sample in samples]
        each.append(curves[0] - curves[1])
    return Draws(np.minimum(*each), np.maximum(*each))


def _ordered(sample: Sample, weights: FloatArray) -> tuple[Sample, RankCells, FloatArray]:
    """Trials and their weights from worst to best, each a cell; the last weight is that of the unobserved one."""
    order = np.lexsort((sample.claimed, sample.selection))
    ordered = Sample(sample.selection[order], None if sample.reported is None else sample.reported[order])
    arranged = np.concatenate([weights[:, order], weights[:, -1:]], axis=1)
    return ordered, RankCells.single(ordered), arranged


def mean_draws(
    sums: FloatArray,
    weights: FloatArray,
    rng: np.random.Generator,
    ends: tuple[FloatArray, FloatArray] | None = None,
    *,
    further: FloatArray | float | None = None,
    n_draws: int = N_DRAWS,
) -> Draws:
    """Of a (weighted) mean over units, (unit, node) of weighted values and of weights; 0 where a unit has none.

    Weights that are the same at every node may be one column.

    ``ends`` are where the unobserved unit lies at each node, at worst and at best (by default at those observed), and
    ``further`` is what it weighs (by default as much as the heaviest).
    """
    units, nodes = sums.shape
    below, above = observed_ends(sums, weights) if ends is None else ends
    heavy = weights.max(axis=0) if further is None else further
    off, reach = sums - below * weights, above - below  # no digit is lost to a common offset
    lower, upper = np.empty((2, nodes, n_draws))
    piece = max(1, _EXPONENTIALS_AT_ONCE // (units + 1))
    for start in range(0, n_draws, piece):
        cut = slice(start, min(start + piece, n_draws))
        drawn = rng.standard_exponential((cut.stop - cut.start, units + 1))
        extra = drawn[:, -1:] * heavy
        total, mass = drawn[:, :-1] @ off, drawn[:, :-1] @ weights + extra
        lower[:, cut] = (below + total / mass).T
        upper[:, cut] = (below + (total + extra * reach) / mass).T
    return Draws(lower, upper)


def normal_sums(covariance: FloatArray, size: int, rng: np.random.Generator) -> FloatArray:
    """Of so many terms that their sums are normal: (draw, entry)."""
    values, axes = np.linalg.eigh(covariance)
    return np.asarray(rng.standard_normal((size, values.size)) @ (axes * np.sqrt(np.maximum(values, 0.0))).T)


def averaged(parts: Sequence[Draws], shares: Sequence[FloatArray | float]) -> Draws:
    """Of a mean over tasks; what was not observed is not the worst in all of them: its squares add."""
    middle = sum(share * (draws.lower + draws.upper) / 2 for draws, share in zip(parts, shares, strict=True))
    squares = [np.square(share * (draws.upper - draws.lower) / 2) for draws, share in zip(parts, shares, strict=True)]
    half = np.sqrt(np.sum(squares, axis=0))
    return Draws(middle - half, middle + half)


def observed_ends(sums: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The worst and the best value at each node."""
    with np.errstate(invalid="ignore", divide="ignore"):
        values = np.where(weights > 0, sums / weights, np.nan)
    return np.nanmin(values, axis=0), np.nanmax(values, axis=0)


def apart(bounds: Bounds) -> Bounds:
    """Of a difference of two scores within bounds."""
    worst, best = bounds
    return (None, None) if worst is None or best is None else (worst - best, best - worst)


def within_bounds(bounds: Bounds, sums: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Where an unobserved unit may lie at each node: at the bounds, or at what was observed where there is none."""
    ends = zip(bounds, observed_ends(sums, weights), strict=True)
    below, above = (seen if bound is None else np.full(seen.size, bound) for bound, seen in ends)
    return below, above


def imagined_ends(ordered: FloatArray, bounds: Bounds) -> tuple[float, float]:
    """Where a further score might lie at worst and at best, given scores in order and the bounds that are known.

    Gaffke's limits put one further score at the bound, where any distribution allows it to be, and pay for that however
    far the bound is: with 15 scores that huddle about .5 they are twice as wide as a t interval. Here the further score
    lies near the others, a part of the range of the best (or worst) quarter beyond the best (or worst) score. Where the
    scores say nothing about the next one the bound stands again: where the whole quarter ties, and, moving there
    gradually, where half to three quarters of all scores lie within a tenth of their range. Then few scores decide the
    mean, and a further one may be anything (pass@16 of problems most of which are solved).
    """
    m, whole = ordered.size, float(ordered[-1] - ordered[0])
    reach, more = _FURTHER_REACH + _FEWER / m, 1 + 10 / m
    quarter = max(m // 4, min(3, m - 1))  # three where there are as many to spare
    within = np.searchsorted(ordered, ordered + _WINDOW * whole * (1 + 1e-9), side="right") - np.arange(m)
    few, decide = _FEW_DECIDE
    huddled = float(np.clip((within.max() / m - few) / (decide - few), 0.0, 1.0))

    def beyond(gap: float, room: float | None) -> float:
        far = _UNBOUNDED_RANGES * more * whole if room is None else room
        if gap == 0:
            return far
        near = reach * more * gap if room is None else min(reach * more * gap, room)
        return near + huddled * (far - near)

    (worst, best), (lowest, highest) = (float(ordered[0]), float(ordered[-1])), bounds
    below = beyond(float(ordered[quarter]) - worst, None if lowest is None else worst - lowest)
    above = beyond(best - float(ordered[-1 - quarter]), None if highest is None else highest - best)
    return worst - below, best + above


def _end_scores(scores: FloatArray, bounds: Bounds) -> tuple[float, float]:
    worst, best = bounds
    return float(scores.min()) if worst is None else worst, float(scores.max()) if best is None else best


def _quantile_draws(ordered: FloatArray, n: IntArray, q: float, rng: np.random.Generator, bounds: Bounds) -> Draws:
    """How many of m uniforms lie below q^(1/n) is binomial, jointly over the budgets: order statistics."""
    m = ordered.size
    levels = np.exp(math.log(q) / n)
    below = np.empty((n.size, N_DRAWS), dtype=np.int64)
    left, share = np.full(N_DRAWS, m), 1.0
    for place in range(n.size - 1, -1, -1):  # from the highest level down, each count among those below the last
        left = rng.binomial(left, levels[place] / share)
        below[place], share = left, levels[place]
    worst, best = _end_scores(ordered, bounds)
    return Draws(np.append(worst, ordered)[below], np.append(ordered, best)[below])


class RankCells(NamedTuple):
    """Trials in order of selection, neighbours taken together where they are very many."""

    starts: IntArray
    counts: FloatArray

    @classmethod
    def single(cls, ordered: Sample) -> RankCells:
        return cls(np.arange(ordered.n_trials), np.ones(ordered.n_trials))

    @classmethod
    def of(cls, ordered: Sample, below: int = _SINGLE) -> RankCells:
        """The best are single, and all others in about ``below`` cells."""
        m = ordered.n_trials
        if m <= CELLS_ABOVE:
            return cls.single(ordered)
        edges = np.unique(np.geomspace(_SINGLE, m, below).astype(np.int64))  # ranks from the best, ever wider
        starts = np.sort(np.unique(np.concatenate([m - edges, np.arange(m - _SINGLE, m)])))
        return cls(starts, np.diff(starts, append=m).astype(np.float64))

    def means(self, column: FloatArray) -> FloatArray:
        """Of a column of all trials."""
        return np.add.reduceat(column, self.starts) / self.counts


def in_pieces(ordered: Sample, n: IntArray, statistic: Statistic) -> tuple[Sample, RankCells]:
    """Cells for statistics of what is reported other than its mean.

    Cells of neighbouring rank have one selection score, that of their worst trial, and are divided by what their trials
    report: near a quantile at one of the budgets every trial is by itself, and elsewhere it only counts on which side
    of it a trial lies. Of other statistics the parts are those of 64 quantiles of all reports.
    """
    cells = RankCells.of(ordered, _SINGLE // 8)
    if cells.counts.size == ordered.n_trials:
        return ordered, cells
    reports, single = ordered.claimed, np.zeros(ordered.n_trials, dtype=bool)
    edges = [np.quantile(reports, np.arange(1, 64) / 64)]
    if isinstance(statistic, Quantile):
        edges, by_report = [], np.argsort(reports, kind="stable")
        for budget in n.tolist():
            weights = np.asarray(best_weights(ordered.selection, budget))
            held = np.cumsum(weights[by_report])
            far = SINGLE_WITHIN * math.sqrt(statistic.q * (1 - statistic.q) * float(np.square(weights).sum()))
            ends = np.searchsorted(held, statistic.q + far * np.array([-1, 1]))
            edges.append(reports[by_report[np.minimum(ends, reports.size - 1)]])
            single |= (reports >= edges[-1][0]) & (reports <= edges[-1][1]) & (weights > _LITTLE * weights[-1])
    part = np.searchsorted(np.unique(np.concatenate(edges)), reports)
    counts = cells.counts.astype(np.int64)
    cell = np.repeat(np.arange(counts.size), counts)
    order = np.lexsort((reports, part, cell))
    apart = (np.diff(cell[order]) != 0) | (np.diff(part[order]) != 0) | single[order[1:]] | single[order[:-1]]
    starts = np.append(0, np.flatnonzero(apart) + 1)
    selection = np.repeat(ordered.selection[cells.starts], counts)
    return Sample(selection, reports[order]), RankCells(starts, np.diff(starts, append=reports.size).astype(np.float64))


def weighted_draws(
    ordered: Sample,
    cells: RankCells,
    weights: FloatArray,
    n: IntArray,
    statistic: Statistic,
    bounds: Bounds,
    rng: np.random.Generator,
) -> Draws:
    """Draws from weights of trials in order of selection (or of cells of them), the last that of the unobserved one.

    Trials that tie in the selection score share what falls to their group by their weights.
    """
    m, reported = ordered.n_trials, ordered.reported is not None
    claimed = np.broadcast_to(cells.means(ordered.claimed), (weights.shape[0], cells.counts.size))
    if cells.counts.size < m and isinstance(statistic, Mean):  # that of a cell varies with who is drawn from it
        squares = np.maximum(cells.means(np.square(ordered.claimed)) - np.square(claimed[0]), 0)
        claimed = claimed + np.sqrt(squares / cells.counts) * rng.standard_normal(claimed.shape)
    best = ordered.claimed[-max(3, round(math.sqrt(m))) :] if reported else ordered.claimed
    ends = _end_scores(best, bounds)
    fresh = np.flatnonzero(np.append(True, np.diff(ordered.selection[cells.starts]) > 0))
    lower, upper = np.empty((2, n.size, weights.shape[0]))
    for cut in pieces(*weights.shape):
        drawn = _Drawn.of(weights[cut], fresh, claimed[cut])
        if reported:
            lower[:, cut], upper[:, cut] = drawn.curves(n, statistic, ends, at_bottom=False)
        else:
            (lower[:, cut],) = drawn.curves(n, statistic, ends[:1], at_bottom=True)
            (upper[:, cut],) = drawn.curves(n, statistic, ends[1:], at_bottom=False)
    return Draws(lower, upper)


class _Drawn(NamedTuple):
    """Weights of trials (or cells) that tie in groups, the last that of the unobserved one: (draw, trial)."""

    weights: FloatArray
    groups: FloatArray
    """Their sums over each group."""
    fresh: IntArray
    """The first of each group."""
    claimed: FloatArray

    @classmethod
    def of(cls, weights: FloatArray, fresh: IntArray, claimed: FloatArray) -> _Drawn:
        return cls(weights, np.add.reduceat(weights[:, :-1], fresh, axis=1), fresh, claimed)

    def curves(
        self, n: IntArray, statistic: Statistic, ends: tuple[float, ...], *, at_bottom: bool
    ) -> list[FloatArray]:
        """The statistic at each budget, (node, draw), with the unobserved unit below or above all others, for each
        of the scores that it may have."""
        further, total = self.weights[:, -1:], self.weights.sum(axis=1, keepdims=True)
        edges = np.cumsum(np.concatenate([further * at_bottom, self.groups], axis=1), axis=1) / total
        with np.errstate(divide="ignore"):
            logs = np.log(edges)
        out = np.empty((len(ends), n.size, total.size))
        if isinstance(statistic, Mean):
            means = np.add.reduceat(self.weights[:, :-1] * self.claimed, self.fresh, axis=1) / self.groups
        else:
            scores, member, within = self._sorted()
        for place, budget in enumerate(n.tolist()):
            powers = np.exp(budget * logs)
            chances, rest = np.diff(powers, axis=1), powers[:, 0] + 1 - powers[:, -1]
            if isinstance(statistic, Mean):
                out[:, place] = np.einsum("dg,dg->d", chances, means) + np.multiply.outer(np.array(ends), rest)
                continue
            left = int(np.argmax(powers[:, 1:].max(axis=0) > _NOTHING))  # groups below it weigh nothing
            kept = np.flatnonzero(member >= left)
            weights = np.ascontiguousarray(chances[:, left:].T).take(member[kept] - left, axis=0) * within[kept]
            out[:, place] = _with_ends(statistic, scores[kept], weights, rest, ends)
        return list(out)

    def _sorted(self) -> tuple[FloatArray, IntArray, FloatArray]:
        """Scores worst first, the group of each, and its part of the group (trial, draw)."""
        worst_first = np.argsort(self.claimed[0], kind="stable")
        member = np.repeat(np.arange(self.fresh.size), np.diff(np.append(self.fresh, self.claimed.shape[1])))
        within = (self.weights[:, :-1] / self.groups[:, member]).T
        return self.claimed[0, worst_first], member[worst_first], within[worst_first]


def _with_ends(
    statistic: Statistic, scores: FloatArray, weights: FloatArray, rest: FloatArray, ends: tuple[float, ...]
) -> list[FloatArray]:
    """The statistic of each column of weights, the rest of the chance at each of the ends."""
    if isinstance(statistic, Quantile):
        limits = statistic.with_further(scores, weights, rest)
        return [np.clip(end, *limits) for end in ends]
    each = []
    for end in ends:
        place = int(np.searchsorted(scores, end, side="right"))
        with_end = np.insert(weights, place, rest, axis=0)
        each.append(statistic.of_distribution(np.insert(scores, place, end), with_end.T))
    return each
