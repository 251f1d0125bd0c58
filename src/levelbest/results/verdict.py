"""What holds from one budget to another, and where the better family changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from levelbest._check import FloatArray, IntArray
from levelbest._shown import Documented

UNDECIDED = "undecided"
NOT_COMPARABLE = "not comparable"
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Verdict(Documented):
    """What holds from one budget to another: the better family's name, ``undecided`` or ``not comparable``.

    ``reason`` is a code, which `levelbest.report.words.verdicts` puts in words:

    ``few-trials``       fewer than 3 trials in a family
    ``no-spread``        a family's scores do not vary where the limits need it
    ``beyond-half``      budgets past half the trials of the smaller family
    ``no-bounds``        the method asked for needs both bounds of the score
    ``unsettled``        more random draws than allowed could still change it
    ``adaptive``         one adaptive search: its trials are not a sample of anything; repeat the whole search
    ``few-searches``     limits over searches need two of each family
    ``search-ends``      some search ends before this budget
    ``running``          no limit holds at every look there yet
    ``outside-cost``     costs below one trial of the dearer family, or past half of what either spent
    ``few-problems``     too few problems have so many samples
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
