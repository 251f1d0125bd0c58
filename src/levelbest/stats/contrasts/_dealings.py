"""The permutation test of one pair over its budgets, drawn until what it says stands.

Under equal laws every dealing of the pooled trials to the two families is as likely as the one observed: for any law,
any counts, with ties and failures the p-values are exact. Each |t| is measured by its own quantile over the dealings,
that of the pair's level (95 % for one pair at 95 %); over budgets the p-values are step-down. The dealings are the
same whatever the seed: a verdict is a property of the trials.

*Nodes* are a few budgets that stand for all: t is drawn there, and what is found there carries over to the others.
Curves at neighbouring budgets are nearly one: the largest |t| over a dozen log-spaced budgets is the largest over all
of them but for a few thousandths. So draws are made at the nodes only; observed differences and standard errors are
those of every budget.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import scipy

from levelbest._check import FloatArray, IntArray
from levelbest.stats.bands import order_statistic
from levelbest.stats.best import Sample
from levelbest.stats.contrasts._settle import smallest_p

_FIRST, _LEAST_ALLOWED, _MOST = 700, 5_600, 44_800
_WORK = 1 << 25
_LEAST_BEYOND = 5
"""Dealings beyond the own quantile at the least: fewer would not place it."""
_SURE, _ROUGHLY_SURE = 1e-3, 0.03
"""The chance, on either side, that further draws carry a p-value across its level."""
_FAR, _SURE_FAR, _PLACED = 0.1, 0.25, 1_400
"""The same of a p-value that the tail of so many draws puts below this share of its level: 45 pairs would need 6,500
draws each to show it without. That a p-value above a level of .001 is never reached by 1,400 draws happens in 15 of
100,000 samples of equal laws, and that their tail puts it so low in few of those."""
_TO_PLACE = 2_000
_FINEST = 5e-4
"""Finer levels, among more than a hundred pairs, are left to the tail beyond the draws."""
_TO_PLAN, _MOST_TO_PLAN, _CLEARLY = 7, 2_800, 0.8
"""For planning: dealings beyond the level that place the t it takes, and how many are drawn for it at most."""
LEAST_UNIT = 0.25
"""Of a normal quantile: a |t| whose own quantile is less than this is not measured by it. Where most trials reach the
best score there is, curves end there, t is a tiny share of what rounding may move, and its tail is as long as it is
thin: what it exceeds its own quantile by would decide for all budgets."""
_STREAM = 20_260
_STEP = 1.5
_FEW = 10
"""So many budgets are all nodes."""
_SLACK = 1e-9
"""Statistics this close in proportion are the same one added up in another order."""


def nodes_of(n: IntArray, also: Sequence[int] = ()) -> IntArray:
    """Log-spaced budgets of ``n`` (increasing), with the last, one near it, and those named in ``also``.

    Examples
    --------
    >>> nodes_of(np.arange(1, 26)).tolist()
    [1, 2, 3, 5, 7, 11, 17, 20, 25]
    """
    if n.size <= _FEW:
        return np.union1d(n, np.array(also, dtype=np.int64))
    size = 2 + int(np.log(n[-1] / n[0]) / np.log(_STEP))
    ideal = np.append(np.geomspace(n[0], n[-1], size), 0.8 * n[-1])
    nearest = np.abs(np.log(n)[:, None] - np.log(ideal)).argmin(axis=0)
    return np.union1d(n[nearest], np.array(also, dtype=np.int64))


def cells_of(n: IntArray, nodes: IntArray) -> IntArray:
    """Which node stands for each budget: the nearest in proportion."""
    return np.asarray(np.abs(np.log(n)[:, None] - np.log(nodes)).argmin(axis=1))


def across(n: IntArray, nodes: IntArray, values: FloatArray) -> FloatArray:
    """Values at the nodes taken to all budgets, linear in log n; exact at the nodes, constant beyond the last."""
    return np.interp(np.log(n), np.log(nodes), values)


def step_down(observed: FloatArray, null: FloatArray, cells: IntArray) -> FloatArray:
    """Adjusted p-values over budgets (Westfall and Young 1993): ``null`` has a row per node, a column per draw.

    From the largest observed statistic down, each is compared with the largest of the nodes that still stand for a
    budget not yet passed.
    """
    p_values = np.empty(observed.size)
    for places, largest in _stages(observed, null, cells):
        beyond = np.count_nonzero(largest >= (observed[places] * (1 - _SLACK))[:, None], axis=1)
        p_values[places] = (1 + beyond) / (null.shape[1] + 1)
    order = np.argsort(-observed, kind="stable")
    p_values[order] = np.maximum.accumulate(p_values[order])
    return p_values


def _stages(observed: FloatArray, null: FloatArray, cells: IntArray) -> Iterator[tuple[IntArray, FloatArray]]:
    """From the least observed statistic up: places, and the largest of each draw over the nodes that stand for those
    and all lesser ones. The largest are valid until the next ones are asked for."""
    rising = np.argsort(-observed, kind="stable")[::-1]
    fresh = np.zeros(observed.size, dtype=bool)  # budgets whose node stands for none of those before
    fresh[np.unique(cells[rising], return_index=True)[1]] = True
    starts = np.flatnonzero(fresh)
    largest = np.zeros(null.shape[1])
    for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), observed.size], strict=True):
        np.maximum(largest, null[cells[rising[start]]], out=largest)
        yield rising[start:stop], largest


def past_draws(
    p_values: FloatArray, measured: FloatArray, null: FloatArray, *, tail: float, freedom: float
) -> FloatArray:
    """The same, but below what the draws can give where none of them reaches the observed statistic.

    ``measured`` is in units of a quantile that a share ``tail`` of the draws exceeds. Beyond it the tail is taken to be
    Student's, for all nodes together. Levels that the draws reach are decided by the draws alone.
    """
    own = -scipy.special.stdtrit(freedom, tail)
    beyond = 2 * null.shape[0] * scipy.special.stdtr(freedom, -own * measured)
    unreached = p_values <= (1 + _SLACK) / (null.shape[1] + 1)
    return np.where(unreached, np.minimum(p_values, beyond), p_values)


def decisive_factor(
    measured: FloatArray, null: FloatArray, cells: IntArray, at: int, level: float, *, tail: float, freedom: float
) -> float:
    """What all statistics must be multiplied by for the p-value at place ``at`` to reach the level: for planning.

    The inverse of `step_down` and `past_draws`: their order stays, so that each of those down to ``at`` must exceed the
    quantile it is compared with.
    """
    if not measured[at] > 0:
        return math.inf
    beyond = math.floor(level * (null.shape[1] + 1) * (1 + _SLACK)) - 1  # so many of the draws may reach it
    last, factor = null.shape[1] - 1 - max(beyond, 0), 0.0
    reached = False
    for places, largest in _stages(measured, null, cells):
        if not reached and at not in places:
            continue
        least = measured[places[0]] if reached else measured[at]
        reached = True
        factor = max(factor, float(np.partition(largest, last)[last] / least))
    if beyond >= 0:
        return factor
    own, wanted = scipy.special.stdtrit(freedom, [tail, level / (2 * null.shape[0])])
    return max(factor, float(wanted / own / measured[at]))


def least_p(n_trials: tuple[int, int], *, paired: bool) -> float:
    """The least two-sided p-value that dealing trials anew, or swapping them within pairs, can give."""
    return 2.0 ** (1 - n_trials[0]) if paired else smallest_p(*n_trials)


class Dealt(Protocol):
    """Families whose trials can be dealt anew."""

    @property
    def samples(self) -> Sequence[Sample]:
        """One of each."""

    def inside(self, pair: tuple[int, int], /) -> int:
        """How many nodes the pair is compared at."""

    def dealt_t(self, pair: tuple[int, int], size: int, rng: np.random.Generator, /) -> FloatArray:
        """The statistic of trials dealt anew: (node, dealing)."""


@dataclass(eq=False)
class Dealings:
    """|t| at the nodes of trials dealt anew."""

    families: Dealt
    pair: tuple[int, int]
    level: float
    """The pair's share of the error."""
    roughly: bool = False
    """Whether fewer draws serve."""
    null: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    unsettled: bool = False

    def __post_init__(self) -> None:
        sizes = sorted(self.families.samples[f].n_trials for f in self.pair)
        self._rng, self._freedom = np.random.default_rng([_STREAM, *sizes]), sizes[0] - 1.0
        width = sum(sizes) * self.families.inside(self.pair)
        self._scales, self._scaled = np.empty(0), 0
        self._most = int(np.clip(_WORK // width, _LEAST_ALLOWED, _MOST))

    @property
    def drawn(self) -> int:
        """How many dealings there are."""
        return int(self.null.shape[1])

    def more(self) -> bool:
        """Draw as many again; False where no more are allowed."""
        if self.drawn >= self._most:
            return False
        size = min(self.drawn or _FIRST, self._most - self.drawn)
        further = self.families.dealt_t(self.pair, size, self._rng)
        self.null = further if not self.drawn else np.concatenate([self.null, further], axis=1)
        return True

    def scales(self) -> FloatArray:
        """What each node's |t| is measured by."""
        if self._scales.size != self.null.shape[0] or self._scaled != self.drawn:
            least = -LEAST_UNIT * scipy.special.ndtri(self.tail / 2)
            own = order_statistic(self.null, 1 - self.tail)
            self._scales, self._scaled = np.where(own > 0, np.maximum(own, least), 0.0), self.drawn
        return self._scales

    @property
    def tail(self) -> float:
        """The share of the dealings beyond a quantile that measures them."""
        return max(self.level, _LEAST_BEYOND / self.drawn)

    def p_values(self, t: FloatArray, n: IntArray, nodes: IntArray, cells: IntArray) -> FloatArray:
        """Step-down p-values of the observed t at each budget."""
        measured, null = self._in_units(t, n, nodes)
        p_values = step_down(measured, null, cells)
        return past_draws(p_values, measured, null, tail=self.tail / 2, freedom=self._freedom)

    def decisive_factor(
        self, t: FloatArray, n: IntArray, nodes: IntArray, cells: IntArray, at: int, limits: float
    ) -> float:
        """What all t must be multiplied by for a p-value at place ``at`` within the pair's level: for planning.

        Dealings are drawn until they place it, or show that it is far below what the limits take.
        """
        factor = math.inf
        while factor > _CLEARLY * limits and self.drawn * self.level < _TO_PLAN and self.drawn < _MOST_TO_PLAN:
            self.more()
            measured, null = self._in_units(t, n, nodes)
            factor = decisive_factor(measured, null, cells, at, self.level, tail=self.tail / 2, freedom=self._freedom)
        return factor

    def _in_units(self, t: FloatArray, n: IntArray, nodes: IntArray) -> tuple[FloatArray, FloatArray]:
        """Observed and dealt |t|, of the own quantile of each budget."""
        scales = self.scales()
        return _measured(t, across(n, nodes, scales)), _measured(self.null, scales[:, None])

    def settle(self, t: FloatArray, n: IntArray, nodes: IntArray, cells: IntArray, at: int | None = None) -> FloatArray:
        """The p-values, drawn until neither the least of them nor that at place ``at`` can cross the pair's level."""
        p_values = np.ones(t.size)
        while self.more():
            p_values = self.p_values(t, n, nodes, cells)
            if self.stands(float(p_values.min())) and (at is None or self.stands(float(p_values[at]))):
                return p_values
        self.unsettled = True
        return p_values

    def p_alone(self, t: float, node: int) -> float:
        """The p-value of one node by itself."""
        return float((1 + np.count_nonzero(self.null[node] >= abs(t) * (1 - _SLACK))) / (self.drawn + 1))

    def critical(self, n: IntArray, nodes: IntArray, error: float) -> FloatArray:
        """The |t| at each budget that a share ``error`` of the dealings reaches somewhere."""
        scales = self.scales()
        largest = _measured(self.null, scales[:, None]).max(axis=0)
        return float(order_statistic(largest[None], 1 - error)[0]) * across(n, nodes, scales)

    def stands(self, p_value: float) -> bool:
        """Whether further draws could hardly carry the p-value across the pair's level (exact binomial limits).

        A level that no number of draws allowed can clear so far (among more than a hundred pairs) is left to the tail
        beyond them, once that can be placed.
        """
        sure, level = _ROUGHLY_SURE if self.roughly else _SURE, self.level
        if level < _FINEST or (1 - level) ** self._most > sure:
            return self.drawn >= _TO_PLACE
        reached = max(0.0, p_value * (self.drawn + 1) - 1)
        if p_value <= _FAR * level and self.drawn >= _PLACED:
            sure = max(sure, _SURE_FAR)
        if p_value <= level:
            return bool(scipy.special.bdtr(reached, self.drawn, level) <= sure)
        return bool(scipy.special.bdtrc(reached - 1, self.drawn, level) <= sure)


def _measured(t: FloatArray, scale: FloatArray) -> FloatArray:
    """|t| in units of its scale; 0 where trials dealt anew never differ."""
    return np.abs(t) / np.where(scale > 0, scale, np.inf)
