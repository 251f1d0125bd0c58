"""Limits of a quantile of reported scores: the Bayesian bootstrap of `_reported`, for what is no mean.

A weighted quantile is where the weights of the scores up to it reach q, so that a score matters only by the side on
which it lies, and its own value only close to the quantile. Of up to 2,048 trials all weights are drawn. Of more, the
scores of the best ones are kept, for budgets whose winner is nearly always among them. At smaller budgets the winner's
distribution function is drawn at three scores, its quantile and two standard errors to either side: the share of each
place's trials up to such a score is known, what Dirichlet weights make of it has a known variance, and the sum over
hundreds of trials is normal. Between the three the function rises as it does with the mean weights of all trials, and
the quantile drawn is where it reaches q.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest.stats.bands._gaffke import powers
from levelbest.stats.bands._reported import CELLS, Places, in_places, rank_places
from levelbest.stats.bands._resample import allow

_BEST = 1 << 11  # of so many trials the scores are kept; of a tie beyond them, as many
_SELDOM = 1e-3  # the chance of a winner below them at which they alone will do
_APART = 2.0  # standard errors from the quantile to the scores on either side at which the function is drawn
_REACH = 10.0  # times as far scores are looked up
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Window:
    """The distribution function of the winner's reported score about its quantile, at one budget."""

    weights: FloatArray
    """The mean weight of each place."""
    cuts: FloatArray
    """Three scores, in order, at which the function is drawn."""
    held: FloatArray
    """The function at the cuts, with mean weights."""
    levels: FloatArray
    """The function, with mean weights, at the scores nearby."""
    scores: FloatArray
    """These scores in order, and the next one: infinite where there is none."""
    shares: FloatArray
    """The share of each place's trials up to each cut, (place, cut)."""

    def of_scores(self, places: Places) -> FloatArray:
        """What a unit of weight of each score that is kept adds at each cut, its place's weight given, (score, cut).

        Of its place's mean weight a trial has one part in c, in proportion to its gamma weight; what lies above the cut
        takes away as much as what lies below it adds. Of a part of a tie that a cut divides both.
        """
        counts = np.diff(places.edges, prepend=0)
        place = np.repeat(np.arange(counts.size), np.diff(places.starts, append=places.values.size))
        before = np.cumsum(places.sizes) - places.sizes - (places.edges - counts)[place]
        up_to = np.rint(self.shares * counts[:, None])[place]
        part = np.clip((up_to - before[:, None]) / places.sizes[:, None], 0, 1)
        return np.asarray((self.weights / counts)[place, None] * (part - self.shares[place]))

    def at_levels(self, drawn: FloatArray, level: FloatArray) -> FloatArray:
        """Where functions drawn at the cuts, (draw, cut), reach a level each."""
        np.maximum.accumulate(drawn, axis=1, out=drawn)
        first = (level >= drawn[:, 1]).astype(np.int64)
        rows = np.arange(level.size)
        low, high = drawn[rows, first], drawn[rows, first + 1]
        share = np.divide(level - low, high - low, out=np.zeros(level.size), where=high > low).clip(0, 1)
        mean = self.held[first] + share * (self.held[first + 1] - self.held[first])
        mean += np.minimum(level - drawn[:, 0], 0) + np.maximum(level - drawn[:, 2], 0)
        return np.asarray(self.scores[np.searchsorted(self.levels, mean)])


def score_places(selection: FloatArray, reported: FloatArray) -> Places:
    """The places of trials whose selection scores rise, with the scores of the best trials, one score of the others."""
    edges, _ = rank_places(selection)
    counts = np.diff(edges, prepend=0)
    kept = np.where(edges > selection.size - _BEST, np.minimum(counts, _BEST), 1)
    by_value = in_places(reported, edges[kept > 1], counts[kept > 1])
    starts, place = np.cumsum(kept) - kept, np.repeat(np.arange(edges.size), kept)
    within = np.arange(place.size) - starts[place]
    firsts = (edges - counts)[place] - (-within * counts[place] // kept[place])
    sizes = np.diff(firsts, append=selection.size)
    return Places(edges, starts, by_value[firsts + sizes // 2], sizes, selection.size, np.zeros(edges.size))


def quantile_windows(places: Places, reported: FloatArray, n: IntArray, q: float) -> list[Window | None]:
    """For every budget the function about its quantile; none where the best trials' own scores will do."""
    counts = np.diff(places.edges, prepend=0)
    below_best = places.edges[places.edges <= places.n_trials - _BEST]
    wide = (below_best.max(initial=0) / (places.n_trials + 1.0)) ** n > _SELDOM
    if not wide.any():
        return [None] * n.size
    order = np.argsort(reported, kind="stable")
    place, in_order = np.repeat(np.arange(counts.size), counts)[order], reported[order]
    windows = [_window(places, counts, place, in_order, budget, q) for budget in n[wide].tolist()]
    # trials up to every cut in every place: all cuts at once
    cuts, which = np.unique(np.concatenate([window.cuts for window in windows]), return_inverse=True)
    past = np.searchsorted(in_order, cuts, side="right")
    cell = np.repeat(np.arange(cuts.size + 1), np.diff(past, prepend=0, append=in_order.size))
    table = np.bincount(place * (cuts.size + 1) + cell, minlength=counts.size * (cuts.size + 1))
    shares = np.cumsum(table.reshape(counts.size, -1), axis=1) / counts[:, None]
    for window, columns in zip(windows, which.reshape(-1, 3), strict=True):
        window.shares[:] = shares[:, columns]
    found = iter(windows)
    return [next(found) if is_wide else None for is_wide in wide]


def _window(places: Places, counts: IntArray, place: IntArray, scores: FloatArray, budget: int, q: float) -> Window:
    """The window of one budget, its shares not filled in; ``place`` and ``scores`` of all trials, worst score first."""
    power = np.exp(budget * np.log(places.edges / (places.n_trials + 1.0)))
    weights = np.diff(power, prepend=0.0)
    error = np.sqrt(q * (1 - q) * np.sum(weights**2 / counts))
    held = np.cumsum((weights / counts)[place])
    at = np.searchsorted(held, q + _APART * error * np.array([-1, 0, 1]) - _ROUNDING)
    cuts = scores[np.minimum(at, scores.size - 1)]
    ends = np.searchsorted(held, q + _REACH * _APART * error * np.array([-1, 1]))
    nearby = slice(min(ends[0], scores.size - 1), ends[1])
    following = scores[ends[1]] if ends[1] < scores.size else np.inf
    return Window(
        weights=weights,
        cuts=cuts,
        held=held[np.searchsorted(scores, cuts, side="right") - 1],
        levels=held[nearby].copy(),
        scores=np.append(scores[nearby], following),
        shares=np.empty((counts.size, 3)),
    )


def _within_places(
    windows: Sequence[Window], places: Places, n_draws: int, rng: np.random.Generator, *, jointly: bool
) -> FloatArray:
    """What the Dirichlet weights add within places whose scores are not kept, (window, draw, cut).

    Of c trials of which a share p lies up to a cut the drawn share has variance p (1 - p) / (c + 1), and covariance
    p (1 - p') / (c + 1) with that up to a later one; the square of the weight of their place is 1 + 1/c times that of
    its mean. Budgets are drawn together only if they are wanted ``jointly``:
    elsewhere draws at a budget do not depend on which others are there.
    """
    if not windows:
        return np.empty((0, n_draws, 3))
    scale = np.where(places.edges > places.n_trials - _BEST, 0, 1 / np.sqrt(np.diff(places.edges, prepend=0)))
    cuts = np.stack([window.cuts for window in windows])
    up_to = np.stack([window.shares * (window.weights * scale)[:, None] for window in windows])
    above = np.stack([(1 - window.shares) * (window.weights * scale)[:, None] for window in windows])
    if jointly:
        cuts = cuts.reshape(1, -1)
        up_to, above = (part.transpose(1, 0, 2).reshape(1, scale.size, -1) for part in (up_to, above))
    one_way = up_to.transpose(0, 2, 1) @ above
    covariance = np.where(cuts[:, :, None] <= cuts[:, None, :], one_way, one_way.transpose(0, 2, 1))
    largest = covariance.max(axis=(1, 2), keepdims=True)
    root = np.linalg.cholesky(covariance + (1e-9 * largest + 1e-18) * np.eye(cuts.shape[1]))
    normal = rng.standard_normal((n_draws, cuts.shape[1])) @ root.transpose(0, 2, 1)
    return np.asarray(normal.reshape(n_draws, -1, 3).transpose(1, 0, 2) if jointly else normal)


def quantile_draws(
    places: Places,
    windows: Sequence[Window | None],
    ends: FloatArray,
    n: IntArray,
    q: float,
    n_draws: int,
    rng: np.random.Generator,
    *,
    jointly: bool = False,
) -> FloatArray:
    """The q-quantile (n, draw) of the winner's reported score, the imagined one uniform between ``ends`` (2, n)."""
    allow(n_draws, n.size)
    draws = np.empty((n.size, n_draws))
    wide = [window for window in windows if window is not None]
    within = _within_places(wide, places, n_draws, rng.spawn(1)[0], jointly=jointly)
    of_scores = [None if window is None else window.of_scores(places) for window in windows]
    scores = _Scores(places)
    piece = max(1, CELLS // places.values.size)
    for start in range(0, n_draws, piece):
        cut = slice(start, min(start + piece, n_draws))
        weights, own, logs = places.drawn(cut.stop - start, rng)
        shares = scores.shares(weights, own)
        where = rng.random(cut.stop - start)
        added = iter(within[:, cut])
        for i, (left, power) in enumerate(powers(logs, places.edges, places.n_trials, n)):
            window, by_score, rest = windows[i], of_scores[i], 1 - power[:, -1]
            # The quantile with the imagined score below all others, and with it above all: in between it is that score.
            if window is None or by_score is None:
                lowest, highest = scores.at_quantile(shares, left, power, q)
            else:
                steps = -np.diff(window.shares[left:], axis=0, append=0.0)
                drawn = power @ steps + weights @ by_score + next(added)
                lowest, highest = (window.at_levels(drawn, q - _ROUNDING - held) for held in (rest, 0 * rest))
                lowest = np.where(rest >= q - _ROUNDING, -np.inf, np.minimum(lowest, window.scores[-2]))
            draws[i, cut] = np.clip(ends[0, i] + where * (ends[1, i] - ends[0, i]), lowest, highest)
    return draws


class _Scores:
    """The scores that places keep, in order."""

    def __init__(self, places: Places) -> None:
        self.by_value = np.argsort(places.values, kind="stable")
        self.worst_first = np.append(places.values[self.by_value], np.inf)
        self.place = np.repeat(np.arange(places.edges.size), np.diff(places.starts, append=places.values.size))

    def shares(self, weights: FloatArray, own: FloatArray) -> FloatArray:
        """The part of the weight of its place that each score has, in their order."""
        return np.asarray((weights / own[:, self.place])[:, self.by_value])

    def at_quantile(self, shares: FloatArray, left: int, power: FloatArray, q: float) -> tuple[FloatArray, FloatArray]:
        """The quantile with the rest of the weight below all scores, and with it above all of them."""
        counted = np.flatnonzero(self.place[self.by_value] >= left)
        total = np.diff(power, axis=1, prepend=0.0)[:, self.place[self.by_value[counted]] - left]
        total *= shares[:, counted]
        np.cumsum(total, axis=1, out=total)
        rest = 1 - power[:, -1]
        scores = self.worst_first[np.append(counted, self.by_value.size)]
        under, over = (_first_at_least(total, q - _ROUNDING - held) for held in (rest, 0 * rest))
        lowest = np.where(rest >= q - _ROUNDING, -np.inf, scores[np.minimum(under, counted.size - 1)])
        return lowest, scores[over]


def quantile_left_out(
    places: Places, windows: Sequence[Window | None], reported: FloatArray, n: IntArray, q: float
) -> FloatArray:
    """By how much the q-quantile of all reported scores, in rank order, lies above that of the scores that are kept.

    Both have the weights that ranks have on average. Of a tie of very many trials too few scores are kept to tell where
    a quantile lies as closely as the trials do, but enough to tell how it moves with the weights. Windows leave nothing
    out.
    """
    out = np.zeros(n.size)
    counts = np.diff(places.edges, prepend=0)
    best = places.edges > places.n_trials - _BEST
    if counts[best].max() <= _BEST:
        return out
    first = int(np.argmax(best))
    trials, kept = reported[places.edges[first] - counts[first] :], places.values[places.starts[first] :]
    all_in_order, kept_in_order = np.argsort(trials, kind="stable"), np.argsort(kept, kind="stable")
    place_of_all = np.repeat(np.arange(first, counts.size), counts[best])[all_in_order]
    n_kept = np.diff(places.starts, append=places.values.size)
    place_of_kept = np.repeat(np.arange(first, counts.size), n_kept[best])[kept_in_order]
    stands_for = places.sizes[places.starts[first] :][kept_in_order]
    for i in (i for i, window in enumerate(windows) if window is None):
        power = np.exp(n[i] * np.log(places.edges / (places.n_trials + 1.0)))
        weight = np.diff(power, prepend=0.0) / counts
        of_all, of_kept = np.cumsum(weight[place_of_all]), np.cumsum(weight[place_of_kept] * stands_for)
        at_all, at_kept = np.searchsorted(of_all, q * of_all[-1]), np.searchsorted(of_kept, q * of_kept[-1])
        out[i] = trials[all_in_order[at_all]] - kept[kept_in_order[at_kept]]
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
