"""Several families: closed testing. A pair is decided where every set of families that contains it is rejected.

Where exchanging the units of every pair can reach its share of the error, the sets are tested through their pairs:
pairs share the error equally, and a pair that is decided at every budget passes its share on. Where counts are so small
that it cannot (5 runs of 5 families), or where there is one budget only, sets are *ranges* of the families in the order
of their estimates, of which larger ones have more assignments: a range of p of k families is tested by exchanging the
units of all of them at the level 1 - (1 - alpha)^(p / k), or alpha from k - 1 on (Ryan, Einot, Gabriel and Welsch). So
a family far away does not open the door for the others: they have a range of their own. Against a baseline the sets are
the baseline with the families whose |t| is no larger. A set is tested once for all budgets that two of its families
reach, each pair as far as it goes, and a family stays in its sets beyond its own reach: otherwise the larger families
would be tested again, at the full level, wherever a smaller one ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest.stats.inference._exchange import Exchange
from levelbest.stats.inference._hypotheses import Pair
from levelbest.stats.inference._units import Families, Units

if TYPE_CHECKING:
    from levelbest.stats.inference._decide import PairTest

RANGES_UP_TO = 30
"""Families whose ranges are all tested; more of them share the error.

NOTE: it trades power for time: f families have f (f - 1) / 2 ranges, each with permutations of its own
(docs/coverage-verdicts.md, partial nulls).
"""


class Levels(NamedTuple):
    """How the error is shared."""

    pair: float
    """What a pair is tested at."""
    ranges: bool
    baseline: int | None
    """The family that all pairs have in common, where there are more than one and not all families are paired."""


def levels_of(units: Units, pairs: Sequence[Pair], n_pairs: int, alpha: float) -> Levels:
    """Whether sets are tested through their pairs, or as ranges."""
    families = sorted({f for pair in pairs for f in pair})
    k, share = len(families), alpha / n_pairs
    common = set(families).intersection(*(set(pair) for pair in pairs))
    baseline = next(iter(common)) if len(pairs) > 1 and len(common) == 1 else None
    whole = len(pairs) == k * (k - 1) // 2 == n_pairs
    few = any(units.least_p(pair) > share for pair in pairs)
    one_budget = units.nodes.size == 1
    if units.exchange == "swaps" or k < 3 or k > RANGES_UP_TO or not (few or (one_budget and whole)):
        return Levels(share, False, None)
    if baseline is not None:
        return Levels(share, True, baseline)
    return Levels(1 - (1 - alpha) ** (2 / k) if k > 3 else alpha, True, None) if whole else Levels(share, False, None)


def closed(
    units: Units, tests: Mapping[Pair, PairTest], levels: Levels, alpha: float
) -> tuple[dict[Pair, IntArray], dict[Pair, FloatArray]]:
    """Verdicts at every budget, and p-values adjusted over pairs and budgets."""
    if not levels.ranges:
        adjusted = _shared(tests, levels.pair, alpha)
    elif levels.baseline is not None:
        adjusted = _against(units, tests, levels.baseline, alpha)
    else:
        adjusted = _ranges(units, tests, levels.pair, alpha)
    certified = {}
    for pair, test in tests.items():
        passes = (adjusted[pair] <= alpha * (1 + 1e-12)) & test.allowed
        certified[pair] = np.where(passes, np.sign(test.evidence.difference), 0).astype(np.int64)
    return certified, adjusted


def _shared(tests: Mapping[Pair, PairTest], share: float, alpha: float) -> dict[Pair, FloatArray]:
    """Bonferroni over pairs; those decided at every budget pass their share on."""
    left = shares = max(1, round(alpha / share))
    factor = dict.fromkeys(tests, shares)
    done: set[Pair] = set()
    while undecided := [pair for pair in tests if pair not in done]:
        left = max(1, shares - len(done))
        factor |= dict.fromkeys(undecided, left)
        whole = set()
        for pair in undecided:
            if (tests[pair].p_values <= alpha / left).all() and tests[pair].allowed.all():
                whole.add(pair)
        if not whole:
            break
        done |= whole
    return {pair: np.minimum(factor[pair] * test.p_values, 1.0) for pair, test in tests.items()}


def planned_levels(tests: Mapping[Pair, PairTest], levels: Levels, alpha: float) -> dict[Pair, float]:
    """What each pair would be tested at among more units, if the families stay in the order they have.

    The ends of a range of p families are one of its p (p - 1) / 2 pairs; against a baseline the pairs with a larger |t|
    come first; elsewhere those that are decided at every budget pass their share on.
    """
    if not levels.ranges:
        done = {pair for pair, test in tests.items() if ((test.p_values <= levels.pair) & test.allowed).all()}
        return {pair: alpha / max(1, round(alpha / levels.pair) - len(done - {pair})) for pair in tests}
    planned = {}
    for pair, test in tests.items():
        place = test.planned
        if levels.baseline is not None:
            t = _size_of_t(test, place)
            planned[pair] = alpha / sum(_size_of_t(other, place) <= t for other in tests.values())
        else:
            order = _order(tests, place)
            between = abs(order.index(pair[0]) - order.index(pair[1])) + 1
            planned[pair] = _of_range(between, len(order), alpha) / (between * (between - 1) / 2)
    return planned


def _of_range(size: int, k: int, alpha: float) -> float:
    """The level of a range of some of k families."""
    return alpha if size >= k - 1 else 1 - (1 - alpha) ** (size / k)


class _Sets:
    """Sets of families tested by exchanging the units of all of them, each once for all budgets."""

    def __init__(self, units: Units, tests: Mapping[Pair, PairTest]) -> None:
        self.units, self.tests = units, tests
        self._known: dict[Families, FloatArray] = {}

    def p_values(self, families: Families, level: float) -> FloatArray:
        """At all budgets: 0 where no exchange can reach the level, 1 past their reach."""
        if families not in self._known:
            every = max((test.n for test in self.tests.values()), key=len)
            n = every[every <= self.units.reach(families)]
            pairs = list(combinations(families, 2))
            statistics = np.zeros((len(pairs), n.size))
            for row, pair in zip(statistics, pairs, strict=True):
                inside = n[n <= self.units.reach(pair)]
                row[: inside.size] = self.units.observed(pair, inside)
            test = Exchange(self.units, families, n, statistics, level)
            p_values = np.ones(every.size)
            p_values[: n.size] = test.p_values() if test.reachable else 0.0
            self._known[families] = p_values
        return self._known[families]


def _ranges(units: Units, tests: Mapping[Pair, PairTest], of_pair: float, alpha: float) -> dict[Pair, FloatArray]:
    """By ranges of the families in the order of their estimates, at each budget."""
    sets = _Sets(units, tests)
    adjusted = {pair: np.ones(test.n.size) for pair, test in tests.items()}
    reached: dict[int, int] = {}
    for pair, test in tests.items():
        reached |= {f: max(test.n.size, reached.get(f, 0)) for f in pair}
    for place in range(max(reached.values())):
        order = _order(tests, place)
        k = len(order)
        needed: dict[tuple[int, int], float] = {}
        for first, last in _from_wide_to_narrow(k):
            pair = _named_pair(order[first], order[last], tests)
            within = place < tests[pair].n.size
            # a range counts with all those that contain it
            so_far = max(
                (needed[wider] for wider in ((first - 1, last), (first, last + 1)) if wider in needed), default=0.0
            )
            needed[first, last] = p_value = so_far
            size = last - first + 1
            level = _of_range(size, k, alpha)
            if size > 2 and so_far <= alpha and place < sorted(reached[f] for f in order[first : last + 1])[-2]:
                families = tuple(sorted(order[first : last + 1]))
                of_set = float(sets.p_values(families, level)[place])
                needed[first, last] = p_value = max(so_far, of_set * alpha / level)
            if within and so_far <= alpha:
                # the extremes of a range have a t of their own to pass
                alone = tests[pair].p_values if size == 2 else tests[pair].student * (level / of_pair)
                p_value = max(p_value, float(alone[place]) * alpha / level)
            if within:
                adjusted[pair][place] = min(p_value, 1.0)
    return adjusted


def _order(tests: Mapping[Pair, PairTest], place: int) -> list[int]:
    """Families from worst to best at one budget; past its reach a family stays where it was to the one that goes on."""
    families = sorted({f for pair in tests for f in pair})
    first = max(families, key=lambda f: sorted(test.n.size for pair, test in tests.items() if f in pair))
    values = {first: 0.0}
    for (a, b), test in tests.items():
        if first in (a, b):
            other = b if a == first else a
            at = min(place, test.n.size - 1)
            values[other] = float(test.evidence.difference[at]) * (1 if b == first else -1)
    return sorted(families, key=lambda f: (values[f], f))


def _from_wide_to_narrow(k: int) -> Iterator[tuple[int, int]]:
    for size in range(k, 1, -1):
        for first in range(k - size + 1):
            yield first, first + size - 1


def _named_pair(a: int, b: int, tests: Mapping[Pair, PairTest]) -> Pair:
    return (a, b) if (a, b) in tests else (b, a)


def _against(units: Units, tests: Mapping[Pair, PairTest], baseline: int, alpha: float) -> dict[Pair, FloatArray]:
    """Every family against the baseline: the one with the largest |t| first, each with those after it."""
    sets = _Sets(units, tests)
    adjusted = {pair: np.ones(test.n.size) for pair, test in tests.items()}
    for place in range(max(test.n.size for test in tests.values())):
        order = sorted(tests, key=lambda pair: -_size_of_t(tests[pair], place))
        so_far = 0.0
        for step, pair in enumerate(order):
            left, test = len(order) - step, tests[pair]
            if left > 1:
                families = tuple(sorted({baseline, *(f for later in order[step:] for f in later)}))
                so_far = max(so_far, float(sets.p_values(families, alpha)[place]))
            if place >= test.n.size:
                continue
            so_far = max(so_far, min(1.0, left * float(test.student[place])))
            if left == 1 and test.exchange.reachable:
                so_far = max(so_far, float(test.p_values[place]))
            adjusted[pair][place] = so_far
    return adjusted


def _size_of_t(test: PairTest, place: int) -> float:
    """|t| at a budget, or at the last one before it."""
    return abs(float(test.evidence.t[min(place, test.n.size - 1)]))
