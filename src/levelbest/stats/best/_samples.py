"""One family's scores, and the turning of scores and limits so that higher is better."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import Bounds, FloatArray


@dataclass(frozen=True, eq=False)
class Sample:
    """One family's scores: what selects and, where it is another column, what is reported."""

    selection: FloatArray
    reported: FloatArray | None = None

    @classmethod
    def of(cls, selection: npt.ArrayLike, reported: npt.ArrayLike | None = None, *, at_least: int = 2) -> Sample:
        """The same from anything that looks like numbers, checked."""
        return cls(*_check.as_pair(selection, reported, at_least=at_least))

    @property
    def n_trials(self) -> int:
        """How many trials there are."""
        return int(self.selection.size)

    @property
    def claimed(self) -> FloatArray:
        """What is claimed of the winner: the reported scores, or those that select where there are no others."""
        return self.selection if self.reported is None else self.reported

    def ordered(self) -> Sample:
        """The same trials by selection score from low to high, ties by what is reported; no copy where they are so."""
        for way in (slice(None), slice(None, None, -1)):
            given = Sample(self.selection[way], None if self.reported is None else self.reported[way])
            if given._in_order():
                return given
        if self.reported is None:
            return Sample(np.sort(self.selection))
        order = np.argsort(self.selection)
        ordered = Sample(self.selection[order], self.reported[order])
        if ordered._in_order():
            return ordered
        order = np.lexsort((self.reported, self.selection))
        return Sample(self.selection[order], self.reported[order])

    def _in_order(self) -> bool:
        later, sooner = self.selection[1:], self.selection[:-1]
        if self.reported is None:
            return bool((later >= sooner).all())
        tied = np.flatnonzero(later <= sooner)
        return bool(((later == sooner) & (self.reported[1:] >= self.reported[:-1]))[tied].all()) if tied.size else True

    def turned(self, direction: str) -> Sample:
        """The same scores, turned so that higher is better."""
        sign = _check.sign_of(direction)
        return Sample(sign * self.selection, None if self.reported is None else sign * self.reported)


def turned_bounds(bounds: Bounds, direction: str) -> Bounds:
    """(worst, best) possible score of scores that are turned so that higher is better."""
    low, high = bounds
    if _check.as_direction(direction) == "max":
        return low, high
    return None if high is None else -high, None if low is None else -low


def turned_limits(low: FloatArray, high: FloatArray, direction: str) -> tuple[FloatArray, FloatArray]:
    """Limits of turned scores as limits of the scores themselves, and the other way round.

    The one place where lower and upper limits change places: for ``min`` the largest of the negated scores is minus the
    smallest, so that its upper limit is minus their lower one.
    """
    return (low, high) if _check.as_direction(direction) == "max" else (-high, -low)
