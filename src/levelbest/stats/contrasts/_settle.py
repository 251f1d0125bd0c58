"""Permutation p-values that stand: drawn until their Monte Carlo error cannot change what is rejected.

A p-value from B draws, (1 + how many reach the observed statistic) / (1 + B), is off by about sqrt(p (1 - p) / B).
Holm's procedure is run with the upper ends of all p-values and with the lower ends. While the two disagree, draws are
added to the tests on which they can disagree. What is rejected is what the upper ends reject: a test that the most
draws allowed leave open stays undecided.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from levelbest._check import FloatArray

__all__ = ["LEAST_DRAWS", "MOST_DRAWS", "Drawn", "exact", "holm", "holm_adjusted", "settle"]

BoolArray = npt.NDArray[np.bool_]

_SURE = 4.0
"""Standard errors by which a p-value must clear a level: 6 in 100,000 on one side."""
_FIRST = 1_000
LEAST_DRAWS, MOST_DRAWS = 8_000, 256_000
"""How many draws a test is allowed at least and at most, between which its size decides."""


@dataclass
class Drawn:
    """A test whose statistic is compared with permuted ones as they are drawn.

    ``draw(size)`` gives how many of ``size`` further permuted statistics reach the observed one, with the number truly
    drawn; ``floor`` is a p-value known otherwise that the test cannot go below (a t test's).
    """

    draw: Callable[[int], int]
    floor: float = 0.0
    reached: int = 0
    drawn: int = 0
    exact: float | None = None
    most: int = MOST_DRAWS

    @property
    def p_value(self) -> float:
        """As it stands."""
        if self.exact is not None:
            return max(self.floor, self.exact)
        return max(self.floor, (self.reached + 1) / (self.drawn + 1))

    def ends(self) -> tuple[float, float]:
        """The p-value's lower and upper end (Wilson's, at `_SURE` standard errors)."""
        if self.exact is not None:
            return self.p_value, self.p_value
        if self.drawn == 0:
            return self.floor, 1.0
        share, square = self.reached / self.drawn, _SURE**2
        centre = (share + square / (2 * self.drawn)) / (1 + square / self.drawn)
        half = _SURE / (1 + square / self.drawn)
        half *= math.sqrt(share * (1 - share) / self.drawn + square / (4 * self.drawn**2))
        return max(self.floor, centre - half), max(self.floor, centre + half)

    def more(self) -> bool:
        """Draw as many again as there are; False where no more are allowed."""
        if self.exact is not None or self.drawn >= self.most:
            return False
        size = min(max(self.drawn, _FIRST), self.most - self.drawn)
        self.reached += self.draw(size)
        self.drawn += size
        return True


def exact(p_value: float, floor: float = 0.0) -> Drawn:
    """A test whose p-value is known."""
    return Drawn(draw=lambda _: 0, floor=floor, exact=p_value)


def holm_adjusted(p_values: FloatArray) -> FloatArray:
    """Holm's (1979) adjusted p-values."""
    order = np.argsort(p_values, kind="stable")
    left = np.arange(p_values.size, 0, -1)
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(np.maximum.accumulate(left * p_values[order]), 1.0)
    return adjusted


def holm(p_values: FloatArray, level: float) -> BoolArray:
    """What Holm's procedure rejects."""
    return np.asarray(holm_adjusted(p_values) <= level)


def settle(tests: Sequence[Drawn], level: float) -> tuple[BoolArray, BoolArray]:
    """Which tests Holm's procedure rejects at ``level``, and which more draws than allowed might still add."""
    if not tests:
        return np.zeros(0, dtype=bool), np.zeros(0, dtype=bool)
    for test in tests:
        if not test.drawn:
            test.more()
    while True:
        lows, highs = (np.array(ends) for ends in zip(*(test.ends() for test in tests), strict=True))
        surely, perhaps = holm(highs, level), holm(lows, level)
        # An open test can also hold back others: all whose ends straddle one of Holm's levels are drawn further.
        if (surely == perhaps).all():
            return surely, np.zeros(len(tests), dtype=bool)
        rungs = level / np.arange(1, len(tests) + 1)
        straddles = ((lows[:, None] <= rungs) & (rungs < highs[:, None])).any(axis=1)
        progressed = [test.more() for test, open_ in zip(tests, straddles & perhaps & ~surely, strict=True) if open_]
        if not any(progressed):
            return surely, perhaps & ~surely
