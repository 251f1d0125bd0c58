"""Permutation p-values that stand: drawn until their Monte Carlo error cannot change what is rejected.

A p-value from B draws, (1 + how many reach the observed statistic) / (1 + B), is off by about sqrt(p (1 - p) / B).
Holm's procedure is run with the upper ends of all p-values and with the lower ends. While the two disagree, draws are
added to the tests on which they can disagree. What is rejected is what the upper ends reject: a test that the most
draws allowed leave open stays undecided.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from levelbest._check import FloatArray, IntArray

__all__ = [
    "FIRST_DRAWS",
    "LEAST_DRAWS",
    "MOST_DRAWS",
    "Drawn",
    "exact",
    "holm",
    "holm_adjusted",
    "likely_ends",
    "settle",
]

BoolArray = npt.NDArray[np.bool_]

_SURE = 4.0
"""Standard errors by which a p-value must clear a level: 6 in 100,000 on one side."""
FIRST_DRAWS = 1_000
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
        """The p-value's lower and upper end."""
        if self.exact is not None:
            return self.p_value, self.p_value
        (low,), (high,) = likely_ends(np.array([self.reached]), self.drawn)
        return max(self.floor, float(low)), max(self.floor, float(high))

    def more(self) -> bool:
        """Draw as many again as there are; False where no more are allowed."""
        if self.exact is not None or self.drawn >= self.most:
            return False
        size = min(max(self.drawn, FIRST_DRAWS), self.most - self.drawn)
        self.reached += self.draw(size)
        self.drawn += size
        return True


def likely_ends(reached: IntArray, drawn: int) -> tuple[FloatArray, FloatArray]:
    """Between which p-values lie that so many of the draws reached: Wilson's limits, `_SURE` standard errors wide."""
    if drawn == 0:
        return np.zeros(reached.size), np.ones(reached.size)
    share, square = reached / drawn, _SURE**2 / drawn
    centre = (share + square / 2) / (1 + square)
    half = np.sqrt(square * (share * (1 - share) + square / 4)) / (1 + square)
    return np.maximum(centre - half, 0), centre + half


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
