"""Limits where the reported score is not the selection score: a Bayesian bootstrap with one better trial imagined.

The ranks of the trials by selection score are those of sorted uniforms U_1 < ... < U_m, so that the winner of n is
trial j with weight U_j^n - U_{j-1}^n, and with the rest, 1 - U_m^n, a trial better than all observed. What that one
would report is unknown: anything in the range of what the best trials report (`_default` says how many), widened on
both sides. The limits of a mean curve take the two ends (a uniform draw covered .89 where selection and reported score
are independent), those of a quantile curve a uniform draw. Trials that tie in the selection score share the weight of
their group at random (Dirichlet), as unequally as resampling would.

Of many trials, neighbours in rank are taken together: they share the weight of their place as tied trials do, and of
each place eight values are kept that have its mean and its variance (for quantiles, eight of its own scores). Of 32
neighbours and more the mean alone is kept: what Dirichlet weights make of it is by then normal. Of a tie the four
lowest and the four highest are kept by themselves, and for quantiles its part of the scores that all ties may have.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest.stats.bands._gaffke import powers
from levelbest.stats.bands._resample import allow
from levelbest.stats.bands._thin import rank_edges

_CELLS = 1 << 17  # values in one piece of draws
_VALUES, _AT_ENDS = 8, 4  # kept of each place; of a tie as many parts, and the lowest and the highest by themselves
_OWN_SCORES = 16  # kept of each place for quantiles
_OF_TIES = 1 << 12  # scores kept for quantiles, where all trials tie with others
_MANY = 32  # neighbours whose weighted mean is drawn as one normal number
_DECISIVE = 1 / 32  # of the squares of all better trials and its own: a trial with more has a place of its own


@dataclass(frozen=True, eq=False)
class Places:
    """Reported scores by place of the selection score, worst first: one place for each tie, and for near neighbours."""

    edges: IntArray
    """The last rank of each place."""
    starts: IntArray
    """Where the values of each place begin."""
    values: FloatArray
    sizes: IntArray
    """How many trials each value stands for."""
    n_trials: int
    spread: FloatArray
    """The standard deviation of each place's weighted mean where it is drawn at once, else 0."""

    @classmethod
    def of(cls, selection: FloatArray, reported: FloatArray, *, own_scores: bool = False) -> Places:
        """The places of trials whose selection scores rise; ``own_scores`` keeps scores that occur, not their means."""
        m = selection.size
        apart = selection[1:] != selection[:-1]
        last_of_tie = np.arange(1, m + 1) if apart.all() else np.append(np.flatnonzero(apart), m - 1) + 1
        edges = np.unique(last_of_tie[np.searchsorted(last_of_tie, rank_edges(m, fine_at_worst=own_scores))])
        if not own_scores:
            alone = _outstanding(reported, edges)
            edges = np.union1d(edges, last_of_tie[np.searchsorted(last_of_tie, np.union1d(alone, alone + 1))])
        counts = np.diff(edges, prepend=0)
        ties = np.diff(np.searchsorted(last_of_tie, edges), prepend=-1)
        at_once = (counts >= _MANY) & (ties > 1) & (not own_scores)
        by_value = reported.copy()
        for start, stop in zip((edges - counts)[~at_once].tolist(), edges[~at_once].tolist(), strict=True):
            by_value[start:stop].sort()
        tied = (counts > _VALUES) & (ties == 1)
        alone_at_ends = np.where(tied & (not own_scores), _AT_ENDS, 0)
        each = _OWN_SCORES if own_scores else _VALUES
        of_ties = np.maximum(counts * _OF_TIES // m, each) if own_scores else _VALUES + 2 * _AT_ENDS
        kept = np.where(at_once, 1, np.minimum(counts, np.where(tied, of_ties, each)))
        starts, place = np.cumsum(kept) - kept, np.repeat(np.arange(edges.size), kept)
        within = np.arange(place.size) - starts[place]
        firsts = (edges - counts)[place] + _first_of_part(within, kept[place], counts[place], alone_at_ends[place])
        sizes = np.diff(firsts, append=m)
        if own_scores:
            return cls(edges, starts, by_value[firsts + sizes // 2], sizes, m, np.zeros(edges.size))
        means = np.add.reduceat(by_value, firsts) / sizes
        centre = np.add.reduceat(by_value, edges - counts) / counts
        by_value -= np.repeat(centre, counts)
        whole = np.add.reduceat(np.square(by_value, out=by_value), edges - counts)
        about = np.where(at_once[place], 0.0, means - centre[place])
        held = np.add.reduceat(sizes * about**2, starts)
        stretch = np.sqrt(np.divide(whole, held, out=np.ones(edges.size), where=held > 0))
        spread = np.where(at_once, np.sqrt(whole / (counts * (counts + 1.0))), 0.0)
        return cls(edges, starts, centre[place] + about * stretch[place], sizes, m, spread)

    def drawn(self, n_draws: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Gamma weights of all values (draw, value), of all places, and the logarithms of the uniforms at the edges."""
        weights = rng.standard_gamma(np.broadcast_to(self.sizes, (n_draws, self.sizes.size)))
        own = np.add.reduceat(weights, self.starts, axis=1)
        sums = np.cumsum(own, axis=1)
        rest = rng.standard_exponential((n_draws, 1))
        return weights, own, np.log(sums / (sums[:, -1:] + rest))

    def drawn_means(self, n_draws: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """The weighted mean of every place, and the logarithms of the uniforms at the edges, (draw, place) each."""
        weights, own, logs = self.drawn(n_draws, rng)
        weights *= self.values
        means = np.add.reduceat(weights, self.starts, axis=1)
        means /= own
        at_once = np.flatnonzero(self.spread)
        if at_once.size:
            means[:, at_once] += self.spread[at_once] * rng.standard_normal((n_draws, at_once.size))
        return means, logs


def _first_of_part(part: IntArray, parts: IntArray, count: IntArray, ends: IntArray) -> IntArray:
    """Where a part of trials in order begins: ``ends`` on either side stand alone, the rest is in equal parts."""
    from_last = parts - part
    inner = ends - (-(part - ends) * (count - 2 * ends) // np.maximum(parts - 2 * ends, 1))
    return np.where(part < ends, part, np.where(from_last <= ends, count - from_last, inner))


def _outstanding(reported: FloatArray, edges: IntArray) -> IntArray:
    """Trials, counted from 0, whose reported score may decide a mean by itself: they have places of their own.

    A budget gives every better trial at least the weight of this one, so that its part of the variance is at most that
    of its square among theirs; the sum of what Dirichlet weights make of smaller parts is close to normal.
    """
    counts = np.diff(edges, prepend=0)
    about = reported - np.repeat(np.add.reduceat(reported, edges - counts) / counts, counts)
    np.square(about, out=about)
    so_far = np.cumsum(about[::-1])[::-1]
    so_far *= _DECISIVE
    return np.flatnonzero((about > so_far) & (np.repeat(counts, counts) >= _VALUES))


def mean_draws(places: Places, n: IntArray, n_draws: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """The weighted mean of the reported scores and the weight of the imagined trial, (n, draw) each."""
    allow(n_draws, n.size, 2)
    means, rest = np.empty((2, n.size, n_draws))
    middle = float(places.values[-1])  # deviations lose no digits to a large common offset
    places = replace(places, values=places.values - middle)
    piece = max(1, _CELLS // places.values.size)
    for start in range(0, n_draws, piece):
        cut = slice(start, min(start + piece, n_draws))
        of_place, logs = places.drawn_means(cut.stop - start, rng)
        rises = np.diff(of_place, axis=1)
        for i, (left, power) in enumerate(powers(logs, places.edges, places.n_trials, n)):
            lost = np.einsum("bk,bk->b", power[:, :-1], rises[:, left:])
            means[i, cut] = power[:, -1] * of_place[:, -1] - lost
            rest[i, cut] = 1 - power[:, -1]
    means += middle * (1 - rest)
    return means, rest


def quantile_draws(
    places: Places, ends: FloatArray, n: IntArray, q: float, n_draws: int, rng: np.random.Generator
) -> FloatArray:
    """The q-quantile (n, draw) of the winner's reported score, the imagined one uniform between ``ends`` (2, n)."""
    allow(n_draws, n.size)
    draws = np.empty((n.size, n_draws))
    by_value = np.argsort(places.values, kind="stable")
    worst_first = np.append(places.values[by_value], np.inf)
    place = np.repeat(np.arange(places.edges.size), np.diff(places.starts, append=places.values.size))
    piece = max(1, _CELLS // places.values.size)
    for start in range(0, n_draws, piece):
        cut = slice(start, min(start + piece, n_draws))
        weights, own, logs = places.drawn(cut.stop - start, rng)
        share = (weights / own[:, place])[:, by_value]
        where = rng.random(cut.stop - start)
        for i, (left, power) in enumerate(powers(logs, places.edges, places.n_trials, n)):
            counted = np.flatnonzero(place[by_value] >= left)
            total = np.diff(power, axis=1, prepend=0.0)[:, place[by_value[counted]] - left]
            total *= share[:, counted]
            np.cumsum(total, axis=1, out=total)
            rest = 1 - power[:, -1]
            # The quantile with the imagined score below all others, and with it above all: in between it is that score.
            scores = worst_first[np.append(counted, by_value.size)]
            under, over = (_first_at_least(total, q - 1e-12 - held) for held in (rest, 0 * rest))
            lowest = np.where(rest >= q - 1e-12, -np.inf, scores[np.minimum(under, counted.size - 1)])
            draws[i, cut] = np.clip(ends[0, i] + where * (ends[1, i] - ends[0, i]), lowest, scores[over])
    return draws


def quantile_left_out(places: Places, reported: FloatArray, n: IntArray, q: float) -> FloatArray:
    """By how much the q-quantile of all reported scores, in rank order, lies above that of the scores that are kept.

    Both have the weights that ranks have on average. Of many trials a place keeps too few scores to tell where a
    quantile lies as closely as the trials do, but enough to tell how it moves with the weights.
    """
    if places.values.size == reported.size:
        return np.zeros(n.size)
    counts = np.diff(places.edges, prepend=0)
    all_in_order, kept_in_order = np.argsort(reported, kind="stable"), np.argsort(places.values, kind="stable")
    place_of_all = np.repeat(np.arange(counts.size), counts)[all_in_order]
    place_of_kept = np.repeat(np.arange(counts.size), np.diff(places.starts, append=places.values.size))[kept_in_order]
    stands_for = places.sizes[kept_in_order]
    out = np.empty(n.size)
    for i, budget in enumerate(n.tolist()):
        power = np.exp(budget * np.log(places.edges / (places.n_trials + 1.0)))
        weight = np.diff(power, prepend=0.0) / counts
        level = q * power[-1]
        of_all = np.searchsorted(np.cumsum(weight[place_of_all]), level)
        of_kept = np.searchsorted(np.cumsum(weight[place_of_kept] * stands_for), level)
        out[i] = reported[all_in_order[of_all]] - places.values[kept_in_order[of_kept]]
    return out


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
