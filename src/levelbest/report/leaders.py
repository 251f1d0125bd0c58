"""Who leads at which budget: all pairs put together. The sentences, the strips and the page read it here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from levelbest.report.view import View
from levelbest.results import NOT_COMPARABLE, UNDECIDED, Comparison, PairComparison

BEST, POSSIBLE, BEATEN, NOTHING = "best", "possible", "beaten", "nothing"
"""A family at a budget: better than every other; nobody is better than it; somebody is; it cannot be compared."""


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


def spans_of(pairs: Sequence[PairComparison], families: Sequence[str]) -> tuple[Span, ...]:
    """The budgets that the pairs speak of, in runs with the same contenders."""
    spans: list[Span] = []
    over_cost = pairs[0].terms.over_cost
    for start, end, inside in _pieces(pairs, over_cost=over_cost):
        states = states_at(pairs, families, inside)
        best = next((name for name, state in states.items() if state == BEST), None)
        # one that cannot be compared is not beaten; where verdicts form a circle, any may be the best
        names = tuple(name for name, state in states.items() if state != BEATEN) or tuple(states)
        span = Span(start, end, () if set(states.values()) == {NOTHING} else names, best)
        follows = bool(spans) and spans[-1].end + (0 if over_cost else 1) == start
        if follows and (spans[-1].contenders, spans[-1].best) == (span.contenders, best):
            span = Span(spans.pop().start, end, span.contenders, best)
        spans.append(span)
    return tuple(spans)


def states_at(pairs: Sequence[PairComparison], families: Sequence[str], budget: float) -> dict[str, str]:
    """Each family ``best``, ``possible``, ``beaten`` or ``nothing``, by the pairs that it is in."""
    verdicts: dict[str, set[str]] = {family: set() for family in families}
    for pair in pairs:
        verdict = pair.verdict_at(budget)
        for family in pair.families:
            verdicts[family].add(verdict)
    states = {}
    for family, own in verdicts.items():
        if own <= {NOT_COMPARABLE}:
            states[family] = NOTHING
        elif own == {family}:
            states[family] = BEST
        else:
            states[family] = POSSIBLE if own <= {family, UNDECIDED, NOT_COMPARABLE} else BEATEN
    return states


def strips_of(view: View, statistic: str, axis: str) -> tuple[Strip, ...]:
    """The strips of one chart; none where there is one budget."""
    pairs = () if view.single else view.pairs_of(statistic, axis)
    return strips_of_pairs(pairs, [own.name for own in view.families])


def strips_of_pairs(pairs: Sequence[PairComparison], families: Sequence[str]) -> tuple[Strip, ...]:
    """One strip of who is best; against a baseline, where rivals are not compared with each other, one a pair."""
    compared = [name for name in families if any(name in pair.families for pair in pairs)]
    if not pairs:
        return ()
    if len(pairs) == len(compared) * (len(compared) - 1) // 2:
        return (Strip("", spans_of(pairs, compared)),)
    return tuple(Strip(" and ".join(pair.families), spans_of([pair], pair.families)) for pair in pairs)


def reach_of(view: View, statistic: str, axis: str) -> float | None:
    """The largest budget at which any pair can be compared, 0 where none can; without pairs, that to which the bands
    are of use, None where that is not known."""
    pairs = view.pairs_of(statistic, axis)
    if pairs and not view.single:
        return pairs_reach(pairs)
    horizons = [line.horizon for line in view.lines_of(statistic, axis)]
    known = [float(horizon) for horizon in horizons if horizon is not None]
    return max(known) if known and len(known) == len(horizons) else None


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
