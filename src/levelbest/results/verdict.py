"""Verdicts over ranges of budgets, crossings of curves, and who leads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from levelbest._check import BoolArray, FloatArray, IntArray
from levelbest._shown import Documented

if TYPE_CHECKING:
    from levelbest.results.comparison import Comparison, PairComparison

UNDECIDED = "undecided"
NOT_COMPARABLE = "not comparable"


@dataclass(frozen=True)
class Verdict(Documented):
    """The verdict for a range of budgets: the better family's name, ``undecided`` or ``not comparable``.

    ``reason`` is a code, which `levelbest.report.words.verdicts` puts in words:

    ``few-trials``       fewer than 3 trials in a family
    ``no-spread``        a family's scores do not vary where the limits need it
    ``beyond-half``      budgets past half the trials of the smaller family
    ``beyond-reported``  budgets at which a reported score rests on too few trials
    ``no-bounds``        the method asked for needs both bounds of the score
    ``unsettled``        more random draws than allowed could still change it
    ``adaptive``         one adaptive search: its trials are not a random sample; repeat the whole search
    ``few-searches``     limits over searches need two of each family
    ``search-ends``      some search ends before this budget
    ``running``          no limit is valid at every look there yet
    ``outside-spend``    one sample of the more expensive system costs more than all samples of the cheaper one
    ``outside-cost``     costs below one trial of the more expensive family, or past half of what either spent
    ``few-problems``     too few problems have that many samples
    ``no-limits``        there are no limits, for want of anything better to say
    """

    start: float
    end: float
    verdict: str
    reason: str = ""
    negligible: bool = False
    """The limits lie within the smallest difference worth having: no difference worth having."""

    @property
    def decided(self) -> bool:
        """Whether it names a family."""
        return self.verdict not in (UNDECIDED, NOT_COMPARABLE)


@dataclass(frozen=True)
class Crossing(Documented):
    """Where the better family changes: the estimate, and the budgets between which the true crossing lies.

    ``low`` and ``high`` are the last budget certified before and the first certified after; infinite where there is
    none, so that the curves may as well not cross on that side.
    """

    budget: float
    low: float
    high: float


def winners(verdicts: tuple[Verdict, ...]) -> list[str]:
    """The families that win somewhere, in the order of the budgets."""
    return list(dict.fromkeys(verdict.verdict for verdict in verdicts if verdict.decided))


def verdict_ranges(
    budget: IntArray | FloatArray,
    certified: IntArray,
    comparable: BoolArray,
    families: tuple[str, str],
    *,
    reason: str | Sequence[str] = "no-limits",
    negligible: BoolArray | None = None,
    spacing: str = "grid",
) -> tuple[Verdict, ...]:
    """Runs of budgets with one verdict, in order.

    ``reason`` is why budgets cannot be compared, for all or for each. ``spacing`` tells what lies between two budgets:
    on a thinned ``grid`` of whole numbers a certified range ends at its last certified budget, and what lies between
    belongs to the undecided range beside it; likewise where budgets are ``continuous`` (costs). Where they were
    ``asked`` for, nothing is said of what lies between them, and a range holds whole numbers that follow each other.
    """
    small = np.zeros(budget.size, dtype=bool) if negligible is None else negligible & comparable
    kinds = np.where(comparable, np.where(certified > 0, 1, np.where(certified < 0, 2, 0)), 3)
    codes = np.where(comparable, "", reason)
    breaks = (np.diff(kinds) != 0) | (np.diff(small.astype(int)) != 0) | (codes[1:] != codes[:-1])
    if spacing == "asked":
        breaks |= np.diff(budget) > 1
    edges = np.flatnonzero(breaks) + 1
    starts, ends = np.r_[0, edges], np.r_[edges, kinds.size] - 1
    rows = [[float(budget[s]), float(budget[e]), int(kinds[s])] for s, e in zip(starts, ends, strict=True)]
    step = 0.0 if spacing == "continuous" else 1.0
    for before, after in pairwise(rows if spacing != "asked" else []):
        if before[2] in (0, 3):
            before[1] = after[0] - step
        elif after[2] in (0, 3):
            after[0] = before[1] + step
    labels = (UNDECIDED, families[0], families[1], NOT_COMPARABLE)
    return tuple(
        Verdict(start, end, labels[int(kind)], str(codes[at]), bool(small[at]))
        for (start, end, kind), at in zip(rows, starts, strict=True)
    )


def crossings_of(budget: IntArray | FloatArray, difference: FloatArray, certified: IntArray) -> tuple[Crossing, ...]:
    """Each change of sign of the difference, with the certified budgets around it.

    Only crossings between budgets certified for both sides, or with a certified budget on one side, are worth a
    mention: others are noise around zero.
    """
    known = np.isfinite(difference) & (difference != 0)
    where = np.flatnonzero(known)
    sign = np.sign(difference[where])
    by_ends: dict[tuple[float, float], Crossing] = {}
    for left in np.flatnonzero(np.diff(sign)):
        i, j = where[left], where[left + 1]
        share = difference[i] / (difference[i] - difference[j])
        estimate = float(budget[i] + share * (budget[j] - budget[i]))
        before = np.flatnonzero((certified != 0) & (np.arange(certified.size) <= i))
        after = np.flatnonzero((certified != 0) & (np.arange(certified.size) >= j))
        low = float(budget[before[-1]]) if before.size else -np.inf
        high = float(budget[after[0]]) if after.size else np.inf
        if np.isfinite(low) or np.isfinite(high):
            # several changes of sign between the same certified budgets are one uncertain crossing: keep the first
            by_ends.setdefault((low, high), Crossing(estimate, low, high))
    return tuple(by_ends.values())


BEST, POSSIBLE, BEATEN, NOTHING = "best", "possible", "beaten", "nothing"
"""The state of a family at a budget: better than all others; not beaten; beaten; not comparable."""


@dataclass(frozen=True)
class Span:
    """A run of budgets at which the same families may be the best.

    ``contenders`` are those that no other is certified to be better than; none where nothing can be compared.
    ``best`` is the one that is better than every other. The limits hold for all pairs at once, so that at their
    confidence the best family is one of the contenders.
    """

    start: float
    end: float
    contenders: tuple[str, ...]
    best: str | None = None

    @property
    def verdict(self) -> str:
        """The best family, ``undecided`` or ``not comparable``."""
        return self.best or (UNDECIDED if self.contenders else NOT_COMPARABLE)


@dataclass(frozen=True)
class Strip:
    """Spans over the whole axis; the label is empty where all families are judged together."""

    label: str
    spans: tuple[Span, ...]


def leading_spans(comparison: Comparison) -> tuple[Span, ...]:
    """The budgets of a comparison of all with all in runs with the same contenders, in order."""
    return spans_of(comparison.pairs, comparison.families)


def contenders_of(comparison: Comparison) -> list[str]:
    """Who may be the best: at the budget of the effects first, those that stand best before others; then at some other
    budget. With a baseline, the baseline and the others as they stand."""
    ranked = [row.family for row in comparison.standings] or list(comparison.families)
    if comparison.baseline is not None:
        return list(dict.fromkeys([comparison.baseline, *ranked]))
    here = set(comparison.possible_best)
    elsewhere = {name for span in leading_spans(comparison) for name in span.contenders}
    return [name for name in ranked if name in here] + [name for name in ranked if name in elsewhere - here]


def spans_of(pairs: Sequence[PairComparison], families: Sequence[str]) -> tuple[Span, ...]:
    """The budgets of the pairs, in runs with the same contenders."""
    spans: list[Span] = []
    over_cost = pairs[0].terms.over_cost
    for start, end, inside in _pieces(pairs, over_cost=over_cost):
        states = states_at(pairs, families, inside)
        best = next((name for name, state in states.items() if state == BEST), None)
        # one that cannot be compared is not beaten; where verdicts form a circle, any may be the best
        names = tuple(name for name, state in states.items() if state != BEATEN) or tuple(states)
        if over_cost:  # one that cannot finish a single trial at this cost is no contender
            names = tuple(name for name in names if states[name] != NOTHING or not _is_too_small(pairs, name, inside))
        span = Span(start, end, () if set(states.values()) == {NOTHING} else names, best)
        follows = bool(spans) and spans[-1].end + (0 if over_cost else 1) == start
        if follows and (spans[-1].contenders, spans[-1].best) == (span.contenders, best):
            span = Span(spans.pop().start, end, span.contenders, best)
        spans.append(span)
    return tuple(spans)


def _is_too_small(pairs: Sequence[PairComparison], family: str, budget: float) -> bool:
    """Whether a budget lies below all at which a family is compared."""
    for pair in pairs:
        if family in pair.families:
            first = next((v.start for v in pair.verdicts if v.verdict != NOT_COMPARABLE), None)
            if first is None or budget >= first:
                return False
    return True


def states_at(pairs: Sequence[PairComparison], families: Sequence[str], budget: float) -> dict[str, str]:
    """Each family ``best``, ``possible``, ``beaten`` or ``nothing``, by the pairs that it is in."""
    verdicts: dict[str, set[str]] = {family: set() for family in families}
    for pair in pairs:
        verdict = pair.verdict_at(budget)
        for family in pair.families:
            verdicts[family].add(verdict)
    states = {}
    for family, against in verdicts.items():
        if against <= {NOT_COMPARABLE}:
            states[family] = NOTHING
        elif against == {family}:
            states[family] = BEST
        else:
            states[family] = POSSIBLE if against <= {family, UNDECIDED, NOT_COMPARABLE} else BEATEN
    return states


def strips_of_pairs(pairs: Sequence[PairComparison], families: Sequence[str]) -> tuple[Strip, ...]:
    """One strip of who is best; against a baseline, where rivals are not compared with each other, one a pair."""
    compared = [name for name in families if any(name in pair.families for pair in pairs)]
    if not pairs:
        return ()
    if len(pairs) == len(compared) * (len(compared) - 1) // 2:
        return (Strip("", spans_of(pairs, compared)),)
    return tuple(Strip(" and ".join(pair.families), spans_of([pair], pair.families)) for pair in pairs)


def pairs_reach(pairs: Sequence[PairComparison]) -> float:
    """The largest budget at which any pair can be compared, 0 where none can."""
    ends = [part.end for pair in pairs for part in pair.verdicts if part.verdict != NOT_COMPARABLE]
    return max(ends, default=0.0)


def _pieces(pairs: Sequence[PairComparison], *, over_cost: bool) -> list[tuple[float, float, float]]:
    """Pieces of the budget axis within which no verdict changes, each with a budget inside it."""
    ranges = [(part.start, part.end) for pair in pairs for part in pair.verdicts]
    if over_cost:  # a verdict may hold at one cost alone
        edges = sorted({edge for both in ranges for edge in both})
        points = [(edge, edge, edge) for edge in edges]
        between = [(before, after, (before + after) / 2) for before, after in pairwise(edges)]
        return sorted([*points, *between])
    edges = sorted({start for start, _ in ranges} | {end + 1 for _, end in ranges})
    pieces = [(start, after - 1, start) for start, after in pairwise(edges)]
    return [piece for piece in pieces if any(low <= piece[0] <= high for low, high in ranges)]
