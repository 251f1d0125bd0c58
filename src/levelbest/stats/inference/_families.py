"""Several families: closed testing. A pair is decided where every set of families that contains it is rejected.

Both conditions of a verdict (`_decide`) hold for all pairs together, each by itself.

Student's t, under unequal distributions: Holm's (1979) procedure. Pairs share the error equally (`PairTest.student`),
and a pair that is decided at every budget passes its share on. With one budget the share of those left is that of as
many pairs as may be equal at once (Shaffer 1986): of three families, if two differ, only one pair may be equal.

Exchange, under equal distributions: where exchanging the units of every pair can reach its share of the error, the same
procedure, a pair being tested again at the share that it has in the end: so another family that is decided at every
budget changes nothing. Where counts are so small that it cannot (5 runs of 5 families), or where there is one budget
only, sets are *ranges* of the families in the order of their estimates, of which larger ones have more assignments: a
range of p of k families is tested by exchanging the units of all of them at the level 1 - (1 - alpha)^(p / k), or alpha
from k - 1 on (Ryan, Einot, Gabriel and Welsch). So a family far away does not open the door for the others: they have a
range of their own. Families with equal estimates are in the same ranges. Against a baseline the sets are the baseline
with the families whose |t| is no larger. A set is tested once for all budgets that two of its families reach, each pair
as far as it goes, and a family stays in its sets beyond its own reach: otherwise the larger families would be tested
again, at the full level, wherever a smaller one ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, product
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest.stats.inference._exchange import Exchange
from levelbest.stats.inference._hypotheses import Band, Pair
from levelbest.stats.inference._units import ARITHMETIC, Families, Units

if TYPE_CHECKING:
    from levelbest.stats.inference._decide import PairTest

Decided = TypeVar("Decided", bound=Band)
RANGES_UP_TO = 30
"""Families whose ranges are all tested; more of them share the error.

NOTE: it trades power for time: f families have f (f - 1) / 2 ranges, each with permutations of its own
(docs/coverage-verdicts.md, partial nulls).
"""
_GROWN = 0.75
"""Of the pairs that shared the error: a test is repeated where no more than so many are left.

NOTE: it trades exactness for time. With a further family far away (k - 2) / k of the pairs of k families are left, so
that it changes nothing up to 8 families (docs/coverage-verdicts.md, invariance).
"""


class Levels(NamedTuple):
    """How the error is shared."""

    pair: float
    """What the units of a pair are exchanged at."""
    n_pairs: int
    """Those that share the error."""
    transitive: bool
    """One budget and all pairs: what is equal to two families makes these equal."""
    ranges: bool
    baseline: int | None
    """The family that all pairs have in common, where there are more than one and not all families are paired."""

    def left(self, decided: int) -> int:
        """How many pairs may be equal at once when so many are not: Shaffer's (1986) number where it is smaller."""
        most = max(1, self.n_pairs - decided)
        if not self.transitive:
            return most
        families = round((1 + math.sqrt(1 + 8 * self.n_pairs)) / 2)
        return max(1, (_equal_at_once(families) & ((2 << most) - 1)).bit_length() - 1)


@lru_cache
def _equal_at_once(families: int) -> int:
    """Numbers of pairs that may be equal at once, as bits: families fall into groups of equal ones."""
    possible = 1
    for group in range(2, families + 1):
        possible |= _equal_at_once(families - group) << (group * (group - 1) // 2)
    return possible


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
        return Levels(share, n_pairs, one_budget and whole, False, None)
    if baseline is not None:
        return Levels(share, n_pairs, False, True, baseline)
    of_two = 1 - (1 - alpha) ** (2 / k) if k > 3 else alpha
    return Levels(of_two, n_pairs, one_budget, True, None) if whole else Levels(share, n_pairs, False, False, None)


class Closed(NamedTuple):
    """What closed testing says of every pair at each budget."""

    certified: dict[Pair, IntArray]
    """1 or -1 where the first or the second is better."""
    adjusted: dict[Pair, FloatArray]
    """P-values, adjusted over pairs and budgets."""
    tests: dict[Pair, PairTest]
    """The tests that decided."""


def closed(units: Units, tests: dict[Pair, PairTest], levels: Levels, alpha: float) -> Closed:
    """Verdicts at every budget."""
    tests, left, done = _holm(tests, levels, alpha)
    if levels.ranges:
        exchanged = (_ranges if levels.baseline is None else _against)(units, tests, alpha)
        adjusted = {pair: np.maximum(exchanged[pair], test.student(left[pair])) for pair, test in tests.items()}
    else:
        adjusted = {pair: test.p_values(left[pair]) for pair, test in tests.items()}
    adjusted |= {pair: np.maximum(adjusted[pair], p_values) for pair, p_values in done.items()}
    certified = {}
    for pair, test in tests.items():
        adjusted[pair] = np.minimum(adjusted[pair], 1.0)
        passes = (adjusted[pair] <= alpha * (1 + 1e-12)) & test.allowed
        certified[pair] = np.where(passes, np.sign(test.evidence.difference), 0).astype(np.int64)
    return Closed(certified, adjusted, tests)


def _holm(
    tests: dict[Pair, PairTest], levels: Levels, alpha: float
) -> tuple[dict[Pair, PairTest], dict[Pair, int], dict[Pair, FloatArray]]:
    """The tests, among how many pairs each shares the error, and p-values of those that are decided at every budget,
    which pass their share on.

    Where sets are ranges this is about Student's t alone. Elsewhere it is about both conditions, and a pair is tested
    again, by itself, where its share has grown: one that is not decided at the share that it has then, the others as
    if they had been the last to be decided.
    """
    tests, left, done = dict(tests), dict.fromkeys(tests, levels.n_pairs), dict[Pair, FloatArray]()
    shares = dict.fromkeys(tests, levels.n_pairs)

    def test_again(pair: Pair) -> None:
        if not levels.ranges and left[pair] <= _GROWN * shares[pair]:
            shares[pair], tests[pair] = left[pair], tests[pair].without_others(alpha / left[pair])

    while True:
        fresh = {}
        for pair in tests.keys() - done.keys():
            test = tests[pair]
            equal = np.zeros(test.n.size) if levels.ranges else test.exchanged
            p_values = np.maximum(left[pair] * equal, test.student(left[pair]))
            if (p_values <= alpha).all() and (levels.ranges or test.allowed.all()):
                fresh[pair] = p_values
        done |= fresh
        for pair in tests.keys() - done.keys():
            left[pair] = levels.left(len(done))
            possible = tests[pair].alone <= alpha
            # while other pairs may still pass their share on, only what may do so as well is tested again
            if possible.all() if fresh else possible.any():
                test_again(pair)
        if not fresh:
            break
    for pair in done:
        left[pair] = levels.left(len(done) - 1)
        # a budget spends at least an equal part of the level
        if (tests[pair].alone * tests[pair].nodes.size > alpha / left[pair]).any():
            test_again(pair)
    return tests, left, done


def in_turn(
    first: Mapping[Pair, Decided], again: Callable[[list[Pair]], Mapping[Pair, Decided]]
) -> dict[Pair, Decided]:
    """Each pair as it was tested last: those decided at every budget that has limits leave their share to the others.

    ``first`` is of all pairs together, and ``again`` tests some of them, which then have all of the error.
    """
    bands, left = dict(first), list(first)
    while True:
        known = {pair: ~np.isnan(bands[pair].low) for pair in left}
        open_ = [pair for pair in left if not known[pair].any() or (bands[pair].certified[known[pair]] == 0).any()]
        if not open_ or len(open_) == len(left):
            return bands
        left = open_
        bands |= again(left)


def planned_levels(tests: Mapping[Pair, PairTest], levels: Levels, alpha: float) -> dict[Pair, float]:
    """What each pair would be tested at among more units, if the pairs stay in the order of |t| that they have.

    Where there is one budget the pairs with a larger |t| are decided first and pass their share on; elsewhere those do
    that are decided at every budget.
    """
    planned = {}
    if levels.ranges:
        places = {test.planned for test in tests.values()}
        sizes = {place: [_size_of_t(test, place) for test in tests.values()] for place in places}
        for at, (pair, test) in enumerate(tests.items()):
            of_all = sizes[test.planned]
            planned[pair] = alpha / levels.left(sum(t > of_all[at] for t in of_all))
        return planned
    done = {pair for pair, test in tests.items() if ((test.p_values(levels.n_pairs) <= alpha) & test.allowed).all()}
    return {pair: alpha / levels.left(len(done - {pair})) for pair in tests}


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
        if len(families) == 2:
            return self.tests[_named_pair(*families, self.tests)].exchanged
        if families not in self._known:
            longest = max(self.tests.values(), key=lambda test: test.n.size)
            n = longest.n[longest.n <= self.units.reach(families)]
            pairs = list(combinations(families, 2))
            statistics = np.zeros((len(pairs), n.size))
            for row, pair in zip(statistics, pairs, strict=True):
                inside = n[n <= self.units.reach(pair)]
                row[: inside.size] = self.units.observed(pair, inside)
            test = Exchange(self.units, families, n, statistics, level)
            p_values = np.ones(longest.n.size)
            p_values[: n.size] = test.p_values((min(longest.place, n.size - 1),)) if test.reachable else 0.0
            self._known[families] = p_values
        return self._known[families]


def _ranges(units: Units, tests: Mapping[Pair, PairTest], alpha: float) -> dict[Pair, FloatArray]:
    """By ranges of the families in the order of their estimates, at each budget."""
    sets = _Sets(units, tests)
    adjusted = {pair: np.ones(test.n.size) for pair, test in tests.items()}
    reached: dict[int, int] = {}
    for pair, test in tests.items():
        reached |= {f: max(test.n.size, reached.get(f, 0)) for f in pair}
    for place in range(max(reached.values())):
        order = _order(tests, place)
        needed: dict[tuple[int, int], float] = {}
        for first, last in _from_wide_to_narrow(len(order)):
            # a range counts with all those that contain it
            so_far = max(
                (needed[wider] for wider in ((first - 1, last), (first, last + 1)) if wider in needed), default=0.0
            )
            families = tuple(sorted(f for equal in order[first : last + 1] for f in equal))
            level = _of_range(len(families), len(reached), alpha)
            if so_far <= alpha and place < sorted(reached[f] for f in families)[-2]:
                so_far = max(so_far, float(sets.p_values(families, level)[place]) * alpha / level)
            needed[first, last] = so_far
            for pair in (_named_pair(a, b, tests) for a, b in product(order[first], order[last])):
                if place < tests[pair].n.size:
                    adjusted[pair][place] = so_far
    return adjusted


def _order(tests: Mapping[Pair, PairTest], place: int) -> list[list[int]]:
    """Families from worst to best at one budget, those with equal estimates together; past its reach a family stays
    where it was to the one that goes on."""
    families = sorted({f for pair in tests for f in pair})
    first = max(families, key=lambda f: sorted(test.n.size for pair, test in tests.items() if f in pair))
    values = {first: 0.0}
    for (a, b), test in tests.items():
        if first in (a, b):
            other = b if a == first else a
            at = min(place, test.n.size - 1)
            values[other] = float(test.evidence.difference[at]) * (1 if b == first else -1)
    widest, order = max(values.values()) - min(values.values()), list[list[int]]()
    for f in sorted(families, key=values.__getitem__):
        if order and values[f] - values[order[-1][0]] <= ARITHMETIC * widest:
            order[-1].append(f)
        else:
            order.append([f])
    return order


def _from_wide_to_narrow(k: int) -> Iterator[tuple[int, int]]:
    for size in range(k, 1, -1):
        for first in range(k - size + 1):
            yield first, first + size - 1


def _named_pair(a: int, b: int, tests: Mapping[Pair, PairTest]) -> Pair:
    return (a, b) if (a, b) in tests else (b, a)


def _against(units: Units, tests: Mapping[Pair, PairTest], alpha: float) -> dict[Pair, FloatArray]:
    """Every family against the baseline: the one with the largest |t| first, each with those after it."""
    sets = _Sets(units, tests)
    adjusted = {pair: np.ones(test.n.size) for pair, test in tests.items()}
    for place in range(max(test.n.size for test in tests.values())):
        sizes = {pair: _size_of_t(test, place) for pair, test in tests.items()}
        so_far = 0.0
        for pair in sorted(tests, key=lambda pair: -sizes[pair]):
            no_larger = (other for other, size in sizes.items() if size <= sizes[pair] * (1 + ARITHMETIC))
            families = tuple(sorted({f for other in no_larger for f in other}))
            if len(families) > 2 or place < tests[pair].n.size:
                so_far = max(so_far, float(sets.p_values(families, alpha)[place]))
            if place < tests[pair].n.size:
                adjusted[pair][place] = so_far
    return adjusted


def _size_of_t(test: PairTest, place: int) -> float:
    """|t| at a budget, or at the last one before it."""
    return abs(float(test.evidence.t[min(place, test.n.size - 1)]))
