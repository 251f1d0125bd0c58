"""Families of trials at the nodes of their curves: standard errors, resamples, and trials dealt anew.

A difference at budget n is studentised by the jackknife, t = d / e. No standard error is below that of the rounding of
the scores (`rounding_variance`), so that a family whose best scores tie has a large t and not an infinite one.

Nothing here depends on the order of the families, of their trials, or of a pair: streams of random numbers belong to
the place of a family in an order of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from levelbest._check import FloatArray, IntArray
from levelbest.stats.bands import Ranked, closer_by, counts, further_scores, gaffke_draws
from levelbest.stats.best import Sample
from levelbest.stats.contrasts._contrast import Pair
from levelbest.stats.contrasts._dealings import across
from levelbest.stats.contrasts._heads import MANY, LargeSide, PooledHeads, estimate_below, large_side
from levelbest.stats.contrasts._means import rounding_variance
from levelbest.stats.contrasts._paired import jackknife_errors, leave_one_out

BoolArray = npt.NDArray[np.bool_]
_CELLS = 1 << 16
_LEAST_ROWS = 700
_ALL_ERRORS = 1 << 22
"""Up to so many (budget, trial) cells every budget has a standard error of its own."""


def half_of(*n_trials: int) -> int:
    """The largest budget compared: half the trials of the smaller family."""
    return min(n_trials) // 2


@dataclass(frozen=True, eq=False)
class Side:
    """One family's trials at its nodes."""

    sample: Sample
    ranked: Ranked
    floor: FloatArray
    """The variance that rounding alone gives each node's estimate."""

    @property
    def variance(self) -> FloatArray:
        """Squared standard errors at the nodes."""
        return np.maximum(np.square(self.ranked.error), self.floor)

    @property
    def best(self) -> float:
        """What the best trial reports."""
        return self.ranked.offset

    def at(self, n: IntArray) -> tuple[FloatArray, FloatArray]:
        """The estimate, less `best`, and its squared standard error at any budgets up to the last node."""
        sample, nodes = self.sample, self.ranked.n
        if n.size * sample.n_trials <= _ALL_ERRORS:
            every = Ranked(sample.selection, n, sample.reported)
            return every.estimate - self.best, np.maximum(np.square(every.error), across(n, nodes, self.floor))
        with np.errstate(divide="ignore"):
            return estimate_below(sample, self.best, n), np.exp(across(n, nodes, np.log(self.variance)))

    def resampled(self, n_resamples: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Deviations from the estimate and squared standard errors: (node, resample) each."""
        trials = self.ranked
        moved, variances = np.empty((2, trials.n.size, n_resamples))
        for cut in _pieces(n_resamples, trials.n_trials):
            estimates, errors = trials.drawn(cut.stop - cut.start, rng, errors=True)
            moved[:, cut] = estimates - trials.estimate[:, None]
            variances[:, cut] = np.maximum(np.square(errors), self.floor[:, None])
        return moved, variances


class Curves(NamedTuple):
    """Two families' curves at their nodes, resampled: of the first, of the second and, of errors, of the difference."""

    estimates: tuple[FloatArray, FloatArray]
    errors: tuple[FloatArray, FloatArray, FloatArray]
    moved: tuple[FloatArray, FloatArray]
    variances: tuple[FloatArray, FloatArray, FloatArray]


class Families:
    """All families of one question, with what is drawn from them."""

    def __init__(self, samples: Sequence[Sample], pairs: Sequence[Pair], nodes: IntArray, *, paired: bool) -> None:
        self.samples, self.pairs, self.nodes, self.paired = samples, tuple(pairs), nodes, paired
        self._drawn: dict[tuple[int, int, int], tuple[FloatArray, FloatArray]] = {}
        self._bounded: dict[tuple[int, int, bool, bytes], tuple[FloatArray, FloatArray]] = {}
        self._at: dict[tuple[int, bytes], tuple[FloatArray, FloatArray]] = {}
        self._heads: dict[Pair, PooledHeads] = {}
        compared = sorted({f for pair in pairs for f in pair})
        order = sorted(compared, key=lambda f: content(samples[f]))
        self.place = {f: at for at, f in enumerate(order)}
        self.least = rounding_variance(np.concatenate([samples[f].claimed for f in compared])) if compared else 0.0
        given = np.arange(samples[order[0]].n_trials) if order else np.arange(0)
        if paired and order:
            given = order_of_pairs([samples[f] for f in order])
        self.sides = {f: self._side(taken(samples[f], given) if paired else samples[f]) for f in compared}

    def _side(self, sample: Sample) -> Side | LargeSide:
        nodes = self.nodes[self.nodes <= half_of(sample.n_trials)]
        if sample.n_trials > MANY and not self.paired:
            return large_side(sample, nodes, self.least)
        ranked = Ranked(sample.selection, nodes, sample.reported)
        return Side(sample, ranked, self.least * np.square(ranked.weights).sum(axis=1))

    def _small(self, f: int) -> Side:
        side = self.sides[f]
        assert isinstance(side, Side)  # pairs of trials are drawn one by one, however many
        return side

    def inside(self, pair: Pair) -> int:
        """How many of the nodes the pair is compared at."""
        return int(np.count_nonzero(self.nodes <= half_of(*(self.samples[f].n_trials for f in pair))))

    def side_at(self, f: int, n: IntArray) -> tuple[FloatArray, FloatArray]:
        """One family's estimate, less its best, and squared standard error at any budgets: once for all its pairs."""
        key = f, n.tobytes()
        if key not in self._at:
            self._at[key] = self.sides[f].at(n)
        return self._at[key]

    def at(self, pair: Pair, n: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The difference at any budgets, its standard error, and Satterthwaite's degrees of freedom."""
        (a, va), (b, vb) = (self.side_at(f, n) for f in pair)
        # Where both have reached the same best score, only what is left to it tells them apart, however little.
        difference = (a - b) + (self.sides[pair[0]].best - self.sides[pair[1]].best)
        sizes = [self.samples[f].n_trials for f in pair]
        if self.paired:
            k = self.inside(pair)
            ones = np.ones((1, sizes[0]), dtype=np.int64)
            own = self._paired_variance(pair, ones)[:, 0]
            with np.errstate(divide="ignore"):
                error = np.sqrt(np.exp(across(n, self.nodes[:k], np.log(own))))
            return difference, error, np.full(n.size, sizes[0] - 1.0)
        total = va + vb
        with np.errstate(divide="ignore", invalid="ignore"):
            freedom = 1 / (np.square(va / total) / (sizes[0] - 1) + np.square(vb / total) / (sizes[1] - 1))
        return difference, np.sqrt(total), np.where(total > 0, freedom, min(sizes) - 1.0)

    # ---- resamples

    def resampled_t(self, pairs: Sequence[Pair], n_resamples: int, base: int) -> dict[Pair, FloatArray]:
        """t of resampled differences about those observed: (node, resample) for each pair."""
        if not pairs:
            return {}
        if self.paired:
            return self._paired_t(pairs, n_resamples, np.random.default_rng([base, 0]))
        out = {}
        for pair in pairs:
            k = self.inside(pair)
            (moved_a, va), (moved_b, vb) = (self._resampled(f, n_resamples, base) for f in pair)
            out[pair] = _t(moved_a[:k] - moved_b[:k], va[:k] + vb[:k])
        return out

    def _resampled(self, f: int, n_resamples: int, base: int) -> tuple[FloatArray, FloatArray]:
        """One family's resamples: once for all its pairs."""
        key = f, n_resamples, base
        if key not in self._drawn:
            self._drawn[key] = self.sides[f].resampled(n_resamples, np.random.default_rng([base, self.place[f]]))
        return self._drawn[key]

    def resampled_curves(self, pair: Pair, n_resamples: int, base: int) -> Curves:
        """Estimates and squared standard errors of a pair's curves, and resampled deviations with theirs."""
        sides = [self.sides[f] for f in pair]
        at_nodes = [self.side_at(f, self.nodes) for f in pair]
        estimates = sides[0].best + at_nodes[0][0], sides[1].best + at_nodes[1][0]
        errors = at_nodes[0][1], at_nodes[1][1], np.square(self.at(pair, self.nodes)[1])
        if not self.paired:
            (moved_a, va), (moved_b, vb) = (self._resampled(f, n_resamples, base) for f in pair)
            return Curves(estimates, errors, (moved_a, moved_b), (va, vb, va + vb))
        m, shape = sides[0].sample.n_trials, (self.nodes.size, n_resamples)
        moved, variances = np.empty((2, *shape)), np.empty((3, *shape))
        rng = np.random.default_rng([base, 0])
        for cut in _pieces(n_resamples, m, self.nodes.size):
            drawn = counts(m, cut.stop - cut.start, rng)
            for place, f in enumerate(pair):
                side = self._small(f)
                values, own = side.ranked.resampled(drawn[:, side.ranked.order], errors=True)
                moved[place, :, cut] = values - side.ranked.estimate[:, None]
                variances[place, :, cut] = np.maximum(np.square(own), side.floor[:, None])
            variances[2, :, cut] = self._paired_variance(pair, drawn)
        return Curves(estimates, errors, (moved[0], moved[1]), (variances[0], variances[1], variances[2]))

    def _paired_t(self, pairs: Sequence[Pair], n_resamples: int, rng: np.random.Generator) -> dict[Pair, FloatArray]:
        m = self.sides[pairs[0][0]].sample.n_trials
        out = {pair: np.empty((self.inside(pair), n_resamples)) for pair in pairs}
        for cut in _pieces(n_resamples, m, self.nodes.size):
            drawn = counts(m, cut.stop - cut.start, rng)
            for pair in pairs:
                moved = [
                    side.ranked.resampled(drawn[:, side.ranked.order])[0] - side.ranked.estimate[:, None]
                    for side in (self._small(f) for f in pair)
                ]
                out[pair][:, cut] = _t(moved[0] - moved[1], self._paired_variance(pair, drawn))
        return out

    def _paired_variance(self, pair: Pair, drawn: IntArray) -> FloatArray:
        """Squared standard errors of the difference over pairs of trials: (node, resample)."""
        sides = [self._small(f) for f in pair]
        left = []
        for side in sides:
            back = np.argsort(side.ranked.order)
            left.append(leave_one_out(side.ranked, drawn[:, side.ranked.order])[..., back])
        floor = (sides[0].floor + sides[1].floor)[:, None]
        return np.maximum(np.square(jackknife_errors(left[0] - left[1], drawn)), floor)

    def bounded_draws(
        self, f: int, nodes: IntArray, bounds: tuple[float, float], n_draws: int, base: int, *, alone: bool
    ) -> tuple[FloatArray, FloatArray]:
        """Draws below and above one family's curve, (node, draw): once for all its pairs.

        ``alone``: they need its bounds and nothing else; otherwise one further trial is imagined near those observed.
        """
        key = (f, base, alone, nodes.tobytes())
        if key not in self._bounded:
            ordered = self.samples[f].ordered().selection
            draws = gaffke_draws(ordered, nodes, n_draws, np.random.default_rng([base, self.place[f], 1]))
            if alone:
                self._bounded[key] = draws.lower(bounds[0]), draws.upper(bounds[1])
            else:
                worst, best = further_scores(ordered, nodes, bounds)
                moved = closer_by(ordered, nodes)[:, None] * (draws.below - draws.above)
                self._bounded[key] = draws.lower(worst[:, None]) + moved, draws.upper(best[:, None]) - moved
        return self._bounded[key]

    # ---- trials dealt anew

    def dealt_t(self, pair: Pair, size: int, rng: np.random.Generator) -> FloatArray:
        """|t| of the pair with its trials dealt anew to the two families (or swapped within pairs): (node, dealing)."""
        first, second = sorted(pair, key=lambda f: (self.samples[f].n_trials, self.place[f]))
        k = self.inside(pair)
        few, many = self.sides[first], self.sides[second]
        if isinstance(few, LargeSide) and isinstance(many, LargeSide):
            if pair not in self._heads:
                self._heads[pair] = PooledHeads(few, many, k)
            return self._heads[pair].dealt(size, rng)
        a, b = few.sample, many.sample
        both = pooled(a, b)
        sides = [Ranked(both.selection, self.nodes[:k], both.reported, size=own.n_trials) for own in (a, b)]
        floors = [self.sides[f].floor[:k, None] for f in (first, second)]
        out = np.empty((k, size))
        for cut in _pieces(size, both.n_trials, k if self.paired else None):
            rows = cut.stop - cut.start
            if self.paired:
                out[:, cut] = _swapped(sides, floors, rows, rng)
            else:
                out[:, cut] = dealt_difference(sides, floors, dealt(a.n_trials, b.n_trials, rows, rng))
        return out


def _pieces(size: int, n_trials: int, n_nodes: int | None = None) -> Iterator[slice]:
    """Draws in pieces that stay in the cache, but not so small that the work per trial is all overhead.

    Pairs of trials need an array of (node, draw, trial).
    """
    rows = max(min(_LEAST_ROWS, (_CELLS << 6) // n_trials), _CELLS // n_trials, 1)
    piece = rows if n_nodes is None else max(1, _CELLS // (n_trials * n_nodes))
    for start in range(0, size, piece):
        yield slice(start, min(start + piece, size))


def dealt(first: int, second: int, size: int, rng: np.random.Generator) -> BoolArray:
    """Which of the pooled trials go to the first family, one dealing a row."""
    keys = rng.random((size, first + second), dtype=np.float32)
    mine = keys <= np.partition(keys, first - 1, axis=1)[:, first - 1, None]
    for row in np.flatnonzero(mine.sum(axis=1) != first):  # two keys tie at the last place
        mine[row] = False
        mine[row, np.argpartition(keys[row], first - 1)[:first]] = True
    return np.asarray(mine)


def swapped(n_pairs: int, size: int, rng: np.random.Generator) -> IntArray:
    """The same with trials swapped within pairs; those of the second family come after those of the first."""
    second = rng.integers(0, 2, (size, n_pairs))
    return np.concatenate([1 - second, second], axis=1)


def dealt_difference(sides: Sequence[Ranked], floors: Sequence[FloatArray], mine: BoolArray) -> FloatArray:
    """|t| (node, dealing) of pooled trials, ``mine`` saying in rank order which are the first family's."""
    values, variances = [], []
    for side, own, floor in zip(sides, (mine, ~mine), floors, strict=True):
        value, error = side.resampled(own, errors=True)
        values.append(value)
        variances.append(np.maximum(np.square(error), floor))
    return np.abs(_t(values[0] - values[1], variances[0] + variances[1]))


def _swapped(sides: Sequence[Ranked], floors: Sequence[FloatArray], size: int, rng: np.random.Generator) -> FloatArray:
    m = sides[0].size
    mine = swapped(m, size, rng)
    order = sides[0].order
    back = np.argsort(order)
    values, left = [], []
    for side, own in zip(sides, (mine, 1 - mine), strict=True):
        ranked = own[:, order]
        values.append(side.resampled(ranked)[0])
        alone = leave_one_out(side, ranked)[..., back]
        left.append(np.where(own[:, :m].astype(bool), alone[..., :m], alone[..., m:]))
    errors = jackknife_errors(left[0] - left[1], np.ones((size, m), dtype=np.int64))
    return np.abs(_t(values[0] - values[1], np.maximum(np.square(errors), floors[0] + floors[1])))


def _t(difference: FloatArray, variance: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        t = difference / np.sqrt(variance)
    return np.where(variance > 0, t, 0.0)


def pooled(a: Sample, b: Sample) -> Sample:
    """The trials of both, those of the first before those of the second."""
    selection = np.concatenate([a.selection, b.selection])
    if a.reported is None and b.reported is None:
        return Sample(selection)
    return Sample(selection, np.concatenate([a.claimed, b.claimed]))


def order_of_pairs(samples: Sequence[Sample]) -> IntArray:
    """Pairs of trials in an order of their own, however they were given."""
    return np.lexsort([column for sample in samples for column in (sample.claimed, sample.selection)])


def taken(sample: Sample, rows: IntArray) -> Sample:
    """Some of the trials."""
    return Sample(sample.selection[rows], None if sample.reported is None else sample.reported[rows])


def content(sample: Sample) -> tuple[int, bytes]:
    """What puts families into an order of their own, however they were given: their counts, then their trials."""
    ordered = sample.ordered()
    return sample.n_trials, np.concatenate([ordered.selection, ordered.claimed]).tobytes()
