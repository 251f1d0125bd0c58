"""Who may be the best at each budget, and how far the verdicts reach: read off the view's pairs, for strip and page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from levelbest.report.view import Pair, View

__all__ = [
    "NOT_COMPARABLE",
    "UNDECIDED",
    "Segment",
    "Strip",
    "by_seeds",
    "pairs_reach",
    "reach_of",
    "strips",
    "strips_of",
]

UNDECIDED, NOT_COMPARABLE = "undecided", "not comparable"


@dataclass(frozen=True)
class Segment:
    """Budgets with one answer: the family that is certified best, ``undecided`` or ``not comparable``."""

    start: float
    end: float
    verdict: str
    possible: tuple[str, ...] = ()
    """Where undecided, the families that none is better than: at the verdicts' confidence the best is one of them."""


@dataclass(frozen=True)
class Strip:
    """Segments over the whole axis; the label is empty where all families are judged together."""

    label: str
    segments: tuple[Segment, ...]


def strips(pairs: Sequence[Pair], families: Sequence[str]) -> tuple[Strip, ...]:
    """One strip of who is best; against a baseline, where rivals are not compared with each other, one a pair."""
    if not pairs:
        return ()
    compared = [name for name in families if any(name in pair.families for pair in pairs)]
    if len(pairs) == len(compared) * (len(compared) - 1) // 2:
        return (Strip("", _segments(pairs, compared)),)
    return tuple(Strip(" and ".join(pair.families), _segments([pair], pair.families)) for pair in pairs)


def strips_of(view: View, statistic: str, axis: str) -> tuple[Strip, ...]:
    """The strips of one figure; none of seeds, whose verdict is about one run."""
    return () if by_seeds(view) else strips(view.pairs_of(statistic, axis), [one.name for one in view.families])


def reach_of(view: View, statistic: str, axis: str) -> float | None:
    """The largest budget at which any pair can be compared, 0 where none can; without pairs, that to which the bands
    are of use, None where that is not known."""
    pairs = view.pairs_of(statistic, axis)
    if pairs and not by_seeds(view):
        return pairs_reach(pairs)
    horizons = [line.horizon for line in view.lines_of(statistic, axis)]
    known = [float(one) for one in horizons if one is not None]
    return max(known) if known and len(known) == len(horizons) else None


def pairs_reach(pairs: Sequence[Pair]) -> float:
    """The largest budget at which any pair can be compared, 0 where none can."""
    ends = [part.end for pair in pairs for part in pair.ranges if part.verdict != NOT_COMPARABLE]
    return max(ends, default=0.0)


def by_seeds(view: View) -> bool:
    """Whether runs differ by their seed alone: then the verdict is about one run, and the runs are the picture."""
    return view.comparison is not None and view.comparison.terms.design == "seeds"


def _segments(pairs: Sequence[Pair], families: Sequence[str]) -> tuple[Segment, ...]:
    segments: list[Segment] = []
    for start, end, inside in _places(pairs):
        judged = _judged([(pair.families, _verdict(pair, inside)) for pair in pairs], families)
        last = segments[-1] if segments else None
        if last is not None and (last.verdict, last.possible) == judged:
            segments[-1] = Segment(last.start, end, *judged)
        else:
            segments.append(Segment(start, end, *judged))
    return tuple(segments)


def _judged(verdicts: Iterable[tuple[tuple[str, str], str]], families: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    every = list(verdicts)
    if all(verdict == NOT_COMPARABLE for _, verdict in every):
        return NOT_COMPARABLE, ()
    won = [(verdict, *set(both) - {verdict}) for both, verdict in every if verdict in both]
    for name in families:
        if {other for winner, other in won if winner == name} == set(families) - {name}:
            return name, ()
    beaten = {other for _, other in won}
    return UNDECIDED, tuple(name for name in families if name not in beaten)


def _places(pairs: Sequence[Pair]) -> list[tuple[float, float, float]]:
    """Stretches of budgets within which no verdict changes, each with a budget inside it."""
    edges = sorted({edge for pair in pairs for part in pair.ranges for edge in (part.start, part.end)})
    if pairs[0].axis == "trials":
        starts = sorted({part.start for pair in pairs for part in pair.ranges} | {edge + 1 for edge in edges})
        return [(start, after - 1, start) for start, after in pairwise(starts) if start <= edges[-1]]
    places = [(edges[0], edges[0], edges[0])]
    for before, after in pairwise(edges):
        places += [(before, after, (before + after) / 2), (after, after, after)]
    return places


def _verdict(pair: Pair, budget: float) -> str:
    """The verdict at a budget; where two ranges of cost meet, the one that decides."""
    here = [part.verdict for part in pair.ranges if part.start <= budget <= part.end]
    return next((verdict for verdict in here if verdict in pair.families), here[0] if here else NOT_COMPARABLE)
