"""Who leads at which budget: all pairs of a comparison put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from levelbest.results import NOT_COMPARABLE, Comparison, PairComparison

__all__ = ["BEATEN", "BEST", "NOTHING", "POSSIBLE", "Span", "leading_spans", "states_at"]

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


def leading_spans(comparison: Comparison) -> tuple[Span, ...]:
    """The budgets of a comparison of all with all in runs with the same contenders, in order."""
    over_cost = comparison.terms.axis == "cost"
    spans: list[Span] = []
    for start, end in _pieces(comparison.pairs, whole=not over_cost):
        states = states_at(comparison, (start + end) / 2 if over_cost else start)
        best = next((name for name, state in states.items() if state == BEST), None)
        span = Span(start, end, tuple(name for name, state in states.items() if state in (BEST, POSSIBLE)), best)
        follows = bool(spans) and spans[-1].end + (0 if over_cost else 1) == start
        if follows and (spans[-1].contenders, spans[-1].best) == (span.contenders, best):
            span = Span(spans.pop().start, end, span.contenders, best)
        spans.append(span)
    return tuple(spans)


def states_at(comparison: Comparison, budget: float) -> dict[str, str]:
    """Each family ``best``, ``possible``, ``beaten`` or ``nothing``, by the pairs that it is in."""
    won: dict[str, int] = dict.fromkeys(comparison.families, 0)
    compared, among, lost = dict(won), dict(won), dict(won)
    for pair in comparison.pairs:
        verdict = pair.verdict_at(budget)
        for family in pair.families:
            among[family] += 1
            compared[family] += verdict != NOT_COMPARABLE
            won[family] += verdict == family
            lost[family] += verdict in pair.families and verdict != family
    states = {}
    for family in comparison.families:
        if not compared[family]:
            states[family] = NOTHING
        elif lost[family]:
            states[family] = BEATEN
        else:
            states[family] = BEST if won[family] == among[family] else POSSIBLE
    return states


def _pieces(pairs: Sequence[PairComparison], *, whole: bool) -> list[tuple[float, float]]:
    """The pieces of the budget axis within which no verdict changes, without those that no verdict speaks of."""
    ranges = [(verdict.start, verdict.end) for pair in pairs for verdict in pair.verdicts]
    if not whole:
        edges = sorted({edge for both in ranges for edge in both})
        return [(start, end) for start, end in pairwise(edges) if end > start]
    edges = sorted({start for start, _ in ranges} | {end + 1 for _, end in ranges})
    pieces = [(start, after - 1) for start, after in pairwise(edges)]
    return [(start, end) for start, end in pieces if any(low <= start <= high for low, high in ranges)]
