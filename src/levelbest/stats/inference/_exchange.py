"""Exchange: under equal distributions every assignment of the units to the families is as likely as the observed one.

So the rank of the observed |t| among those of all assignments is an exact p-value: for any distribution, any counts,
with ties and failures. All assignments are gone through where they are few; otherwise they are drawn until the decision
cannot change. Each |t| is measured by its own quantile over the assignments, and the largest over the budgets counts,
stepping down (Westfall and Young 1993). Assignments do not depend on a seed: a verdict is a property of the data. Pairs
with the same counts have one quantile. Families have an order of their own, by their scores, so that with a quantile
for each pair the lucky one would meet the largest |t| again and again, where |t| jumps (two modes).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
import scipy

from levelbest._check import BoolArray, FloatArray, IntArray
from levelbest.stats.bands import order_statistic, pick
from levelbest.stats.inference._units import ARITHMETIC, Families, Units, across, nearest_node

EXACT_UP_TO = 20_000
"""Assignments that are all gone through; the p-value then has no Monte Carlo error.

NOTE: it trades time alone; more than these are drawn (docs/coverage-verdicts.md, four families of five runs).
"""
_FIRST, _LEAST_ALLOWED, _MOST_ALLOWED = 700, 5_600, 44_800
_WORK = 1 << 25
_KEPT_UP_TO = 1 << 16  # |t| of assignments that are kept for a test at another level
LEAST_BEYOND = 5
"""Assignments beyond the quantile that measures them, at the least: fewer would not place it."""
_SURE = 0.01
"""The chance, on either side, that further assignments carry a p-value across its level."""
_FAR_BELOW, _SURE_FAR, _PLACED = 0.1, 0.25, 1_400
# NOTE: a p-value that the tail of 1,400 assignments puts below a tenth of its level is decided: 45 pairs would need
# 6,500 assignments each to show it without. A p-value above a level of .001 is never reached by 1,400 in 15 of 100,000
# samples of equal distributions, and their tail puts it so low in few of those.
_FINEST, _TO_PLACE = 5e-4, 2_000
"""Finer levels, among more than a hundred pairs, are left to the tail beyond so many assignments."""
LEAST_UNIT = 0.25
# NOTE: a |t| whose own quantile is less than this share of a normal one is not measured by it. Where most trials reach
# the best score there is, curves end there, and what t exceeds its own tiny quantile by would decide for all budgets
# (docs/coverage-verdicts.md, the 0/1 rows).
_EXCHANGE_STREAM = 20_260


class Exchange:
    """The test that a set of families has one distribution, by the largest |t| of its pairs at each budget.

    Parameters
    ----------
    units, families
        Whose units are exchanged; a pair, or more for closed testing.
    n
        Budgets, all within reach of the families.
    statistics
        Observed |t| of the pairs of families, in the order of `itertools.combinations`: (pair, n).
    level
        At which the p-values must be decided.
    like
        The same test at another level, whose assignments are used again as far as they go.
    """

    def __init__(
        self,
        units: Units,
        families: Families,
        n: IntArray,
        statistics: FloatArray,
        level: float,
        *,
        like: Exchange | None = None,
    ) -> None:
        self.units, self.families, self.n, self.statistics, self.level = units, families, n, statistics, level
        self.nodes = units.nodes[: units.inside(families)]
        self.cells = nearest_node(n, self.nodes)
        sizes = sorted(units.sizes_of(families))
        self._freedom = max(sizes[0] - 1.0, 1.0)
        self._most = int(np.clip(_WORK // max(1, sum(sizes) * self.nodes.size), _LEAST_ALLOWED, _MOST_ALLOWED))
        self.null: FloatArray = np.empty((statistics.shape[0], self.nodes.size, 0))
        self._rng, self._kept = np.random.default_rng([_EXCHANGE_STREAM, *sizes]), self.null
        if like is not None and like._kept.size:
            self._rng, self._kept = like._rng, like._kept
        self.exact = units.assignments(families) <= EXACT_UP_TO
        self.undecided = False
        if self.exact:
            self.null = self._kept = self._kept if self._kept.size else units.exchanged(families, None, self._rng)
        self.drawn = int(self.null.shape[2])
        """How many assignments there are."""
        kinds: dict[object, list[int]] = {}
        for place, pair in enumerate(combinations(families, 2)):
            kinds.setdefault(frozenset(Counter(map(units.counts, pair)).items()), []).append(place)
        self._alike = list(kinds.values())
        self._p_values: FloatArray | None = None
        self.scales, self.largest = np.zeros(statistics.shape), np.empty(0)
        self.local_share: FloatArray = np.full(n.size, 1 / self.nodes.size)
        """At each budget, the part of the level that is spent there: equal parts until units were exchanged."""

    @property
    def reachable(self) -> bool:
        """Whether a p-value can be as small as the level, or nothing else decides."""
        return not self.units.by_t or self.units.least_p(self.families) <= self.level * (1 + ARITHMETIC)

    def draw(self) -> bool:
        """As many assignments again; False where there are no more."""
        if self.exact or self.drawn >= self._most:
            return False
        self.drawn += min(self.drawn or _FIRST, self._most - self.drawn)
        missing = self.drawn - self._kept.shape[2]
        if missing > 0:
            further = self.units.exchanged(self.families, missing, self._rng)
            self._kept = further if not self._kept.size else np.concatenate([self._kept, further], axis=2)
        self.null = self._kept[:, :, : self.drawn]
        return True

    @property
    def tail(self) -> float:
        """The share of the assignments beyond a quantile that measures them."""
        return max(self.level, LEAST_BEYOND / self.drawn)

    def p_values(
        self, places: tuple[int, ...] = (0,), also: Callable[[FloatArray], BoolArray] | None = None
    ) -> FloatArray:
        """Step-down p-values at each budget, decided where the least of them and those at ``places`` are.

        1 where no assignment can reach the level. ``also``: from the part of the level that each budget spends, where
        another test passes that must pass too; elsewhere nothing is left to decide. They are computed once: what the
        assignments say besides stays in `scales`, `largest` and `local_share`. Large arrays of assignments are freed
        afterwards.
        """
        if self._p_values is None:
            self._p_values = np.ones(self.n.size)
            while self.reachable and not self._placed(places, also):
                if not self.draw():
                    self.undecided = True
                    break
            self.null = np.empty((*self.null.shape[:2], 0))  # a copy: a view would keep the whole array in memory
            if self._kept.size > _KEPT_UP_TO:
                self._kept = self.null
        return self._p_values

    def _placed(self, places: tuple[int, ...], also: Callable[[FloatArray], BoolArray] | None) -> bool:
        """Whether the p-values from the assignments there are decide."""
        if not self.drawn:
            return False
        self.scales, null = self._measured()
        self.largest = np.sort(null.max(axis=0))
        self.local_share = self._share_spent(null)
        self._p_values = p_values = self._stepped(null)
        open_ = np.ones(self.n.size, dtype=bool) if also is None else also(self.local_share)
        least = float(p_values.min(where=open_, initial=1.0))
        watched = [least, *(float(p_values[place]) for place in places if open_[place])]
        return self.exact or all(map(self._decided, watched))

    def _measured(self) -> tuple[FloatArray, FloatArray]:
        """What each |t| is measured by, (pair, node), and the largest measure over the pairs, (node, assignment)."""
        scales = np.empty(self.null.shape[:2])
        for places in self._alike:
            null = self.null[places].swapaxes(0, 1).reshape(self.nodes.size, -1)
            scales[places] = order_statistic(null, 1 - self.tail)
        if self.units.studentised:
            least = -LEAST_UNIT * scipy.special.ndtri(self.tail / 2)
            scales = np.where(scales > 0, np.maximum(scales, least), 0.0)
        return scales, _in_units(self.null, scales[:, :, None]).max(axis=0)

    def _stepped(self, null: FloatArray) -> FloatArray:
        """P-values from the assignments there are."""
        across_n = np.stack([across(self.n, self.nodes, of_pair) for of_pair in self.scales])
        observed = np.asarray(_in_units(self.statistics, across_n).max(axis=0))
        p_values = step_down(observed, null, self.cells, exact=self.exact)
        if self.exact:
            return p_values
        # Where no assignment reaches the observed statistic the tail beyond them is taken to be Student's.
        unit = -scipy.special.stdtrit(self._freedom, self.tail / 2)
        beyond = 2 * null.shape[0] * scipy.special.stdtr(self._freedom, -unit * observed)
        unreached = p_values <= (1 + ARITHMETIC) / (self.drawn + 1)
        return np.where(unreached, np.minimum(p_values, beyond), p_values)

    def _decided(self, p_value: float) -> bool:
        """Whether further assignments could hardly carry the p-value across the level (exact binomial limits)."""
        sure, level = _SURE, self.level
        reached = max(0.0, p_value * (self.drawn + 1) - 1)
        if p_value > level and scipy.special.bdtrc(reached - 1, self.drawn, level) <= sure:
            return True
        if level < _FINEST or (1 - level) ** self._most > sure:
            return self.drawn >= _TO_PLACE
        if p_value <= _FAR_BELOW * level and self.drawn >= _PLACED:
            sure = max(sure, _SURE_FAR)
        return p_value <= level and bool(scipy.special.bdtr(reached, self.drawn, level) <= sure)

    def _share_spent(self, null: FloatArray) -> FloatArray:
        """The chance of a |t| at each budget beyond what its largest over all budgets exceeds as often as the level
        says, as a part of the level: about a third for a dozen budgets, whose curves are nearly the same."""
        if self.nodes.size == 1:
            return np.ones(self.n.size)
        level = max(self.level, 4 * LEAST_BEYOND / self.drawn)
        critical = self.quantile(level)
        share = (null >= critical * (1 - ARITHMETIC)).mean(axis=1) / level
        return across(self.n, self.nodes, np.clip(share, 1 / self.nodes.size, 1.0))

    def quantile(self, level: float) -> float:
        """What the largest measure over the budgets exceeds as often as a level says."""
        return float(pick(self.largest[None], 1 - level)[0])


def step_down(observed: FloatArray, null: FloatArray, cells: IntArray, *, exact: bool = False) -> FloatArray:
    """Adjusted p-values over budgets: ``null`` has a row per node, a column per assignment.

    From the largest observed statistic down, each is compared with the largest of the nodes that still stand for a
    budget not yet passed. ``exact``: the assignments are all there are, the observed one among them.
    """
    p_values, more = np.empty(observed.size), 0 if exact else 1
    for places, largest in _stages(observed, null, cells):
        beyond = np.count_nonzero(largest >= (observed[places] * (1 - ARITHMETIC))[:, None], axis=1)
        p_values[places] = (more + beyond) / (more + null.shape[1])
    order = np.argsort(-observed, kind="stable")
    p_values[order] = np.maximum.accumulate(p_values[order])
    return p_values


def _stages(observed: FloatArray, null: FloatArray, cells: IntArray) -> Iterator[tuple[IntArray, FloatArray]]:
    """From the least observed statistic up: places, and the largest of each assignment over the nodes that stand for
    those and all lesser ones. The largest are valid until the next ones are asked for."""
    rising = np.argsort(-observed, kind="stable")[::-1]
    fresh = np.zeros(observed.size, dtype=bool)  # budgets whose node stands for none of those before
    fresh[np.unique(cells[rising], return_index=True)[1]] = True
    starts = np.flatnonzero(fresh)
    largest = np.zeros(null.shape[1])
    for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), observed.size], strict=True):
        np.maximum(largest, null[cells[rising[start]]], out=largest)
        yield rising[start:stop], largest


def _in_units(t: FloatArray, scale: FloatArray) -> FloatArray:
    """|t| in units of its scale; 0 where exchanged units never differ."""
    return np.abs(t) / np.where(scale > 0, scale, np.inf)
