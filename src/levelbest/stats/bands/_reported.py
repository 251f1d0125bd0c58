"""Limits where the reported score is not the selection score: a Bayesian bootstrap with one better trial imagined.

The ranks of the trials by selection score are those of sorted uniforms U_1 < ... < U_m, so that the winner of n is
trial j with weight U_j^n - U_{j-1}^n, and with the rest, 1 - U_m^n, a trial better than all observed. What that one
would report is unknown: anything in the range of what the best trials report (`_default` says how many), widened on
both sides. The limits of a mean curve take the two ends (a uniform draw covered .89 where selection and reported score
are independent), those of a quantile curve a uniform draw. Trials that tie in the selection score share the weight of
their group at random (Dirichlet), as unequally as resampling would.

Of many trials, neighbours in rank are taken together: they share the weight of their place as tied trials do, and of
each place eight values are kept that have its mean and its variance. Of 32 neighbours and more the mean alone is kept:
what Dirichlet weights make of it is by then normal. Of a tie the four lowest and the four highest are kept by
themselves. What is kept for quantiles is in `_reported_quantiles`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest.stats.bands._gaffke import powers
from levelbest.stats.bands._resample import allow
from levelbest.stats.bands._thin import rank_edges

CELLS = 1 << 17
"""Values in one piece of draws."""
_VALUES, _AT_ENDS = 8, 4  # kept of each place; of a tie as many parts, and the lowest and the highest by themselves
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
    def of(cls, selection: FloatArray, reported: FloatArray) -> Places:
        """The places of trials whose selection scores rise, with values for means."""
        m = selection.size
        edges, last_of_tie = rank_places(selection)
        alone = _outstanding(reported, edges)
        edges = np.union1d(edges, last_of_tie[np.searchsorted(last_of_tie, np.union1d(alone, alone + 1))])
        counts = np.diff(edges, prepend=0)
        ties = np.diff(np.searchsorted(last_of_tie, edges), prepend=-1)
        at_once = (counts >= _MANY) & (ties > 1)
        by_value = in_places(reported, edges[~at_once], counts[~at_once])
        tied = (counts > _VALUES) & (ties == 1)
        alone_at_ends = np.where(tied, _AT_ENDS, 0)
        kept = np.where(at_once, 1, np.minimum(counts, _VALUES + 2 * alone_at_ends))
        starts, place = np.cumsum(kept) - kept, np.repeat(np.arange(edges.size), kept)
        within = np.arange(place.size) - starts[place]
        firsts = (edges - counts)[place] + _first_of_part(within, kept[place], counts[place], alone_at_ends[place])
        sizes = np.diff(firsts, append=m)
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


def rank_places(selection: FloatArray) -> tuple[IntArray, IntArray]:
    """The last rank of each place of near neighbours, and of each tie, in selection scores that rise."""
    m = selection.size
    apart = selection[1:] != selection[:-1]
    last_of_tie = np.arange(1, m + 1) if apart.all() else np.append(np.flatnonzero(apart), m - 1) + 1
    return np.unique(last_of_tie[np.searchsorted(last_of_tie, rank_edges(m, fine_at_worst=False))]), last_of_tie


def in_places(reported: FloatArray, edges: IntArray, counts: IntArray) -> FloatArray:
    """The scores, in order within some places."""
    by_value = reported.copy()
    for start, stop in zip((edges - counts).tolist(), edges.tolist(), strict=True):
        by_value[start:stop].sort()
    return by_value


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
    piece = max(1, CELLS // places.values.size)
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
