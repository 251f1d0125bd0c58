"""Permutation p-values that stand: drawn until their Monte Carlo error cannot change what is rejected.

A p-value from B draws, (1 + how many reach the observed statistic) / (1 + B), is off by about sqrt(p (1 - p) / B).
Holm's procedure is run with the upper ends of all p-values and with the lower ends. While the two disagree, draws are
added to the tests on which they can disagree. What is rejected is what the upper ends reject: a test that the most
draws allowed leave open stays undecided.

The tests are of means: are these runs of one law, dealt out at random? Under equal laws every dealing of the pooled
runs to the families is as likely as the one observed, so that the rank of the observed statistic among all dealings is
an exact p-value: for any law, any counts, with ties and failures. The statistic is Welch's |t|, or the largest of
several pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from levelbest._check import FloatArray, IntArray

BoolArray = npt.NDArray[np.bool_]

_SURE = 4.0
"""Standard errors by which a p-value must clear a level: 6 in 100,000 on one side."""
FIRST_DRAWS = 1_000
LEAST_DRAWS, MOST_DRAWS = 8_000, 256_000
"""How many draws a test is allowed at least and at most, between which its size decides."""
ENUMERATED = 20_000
"""Up to so many dealings all are gone through, and the p-value has no Monte Carlo error."""
_CELLS = 1 << 18
_WORK = 1 << 25
"""Scores dealt for one test at most, beyond its first few thousand dealings."""
_SLACK = 1e-9
"""Statistics this close in proportion are the same dealing added up in another order."""


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


def smallest_p(m_a: int, m_b: int) -> float:
    """The least two-sided p-value that a permutation of two families can give."""
    if min(m_a, m_b) > 500:  # less than 1e-299; the whole number itself takes long to multiply
        return 0.0
    return 2 / comb(m_a + m_b, m_a)


def one_pair(
    a: FloatArray, b: FloatArray, least_variance: float, rng: np.random.Generator, floor: float = 0.0
) -> Drawn:
    """The permutation test of two families by Welch's |t|; p-values are at least ``floor``."""
    pooled, unit = _centred((a, b) if a.size <= b.size else (b, a))
    least, smaller = least_variance / unit**2, min(a.size, b.size)
    sizes = np.array([smaller, pooled.size - smaller], dtype=np.float64)
    total, total_square = pooled.sum(), np.square(pooled).sum()

    def t_of(dealt: FloatArray) -> FloatArray:
        own = np.stack([dealt.sum(axis=1), np.square(dealt).sum(axis=1)])
        sums = np.stack([own[0], total - own[0]], axis=-1)
        squares = np.stack([own[1], total_square - own[1]], axis=-1)
        return _absolute_t(sums, squares, sizes, least)

    return _permuted(pooled, smaller, t_of, rng, floor)


def all_families(
    scores: Sequence[FloatArray], pairs: Sequence[tuple[int, int]], least_variance: float, rng: np.random.Generator
) -> Drawn:
    """The permutation test that all families are one law, by the largest |t| of the pairs."""
    pooled, unit = _centred(scores)
    least = least_variance / unit**2
    sizes = np.array([part.size for part in scores])
    starts = np.r_[0, np.cumsum(sizes)[:-1]]
    both = np.array(pairs)

    def largest(rows: FloatArray) -> FloatArray:
        sums = np.add.reduceat(rows, starts, axis=1)
        squares = np.add.reduceat(np.square(rows), starts, axis=1)
        t = _absolute_t(sums[:, both], squares[:, both], sizes[both].astype(np.float64), least)
        return np.asarray(t.max(axis=1))

    return _permuted(pooled, pooled.size, largest, rng)


def _permuted(
    pooled: FloatArray,
    size: int,
    statistic: Callable[[FloatArray], FloatArray],
    rng: np.random.Generator,
    floor: float = 0.0,
) -> Drawn:
    """The test whose statistic is of the scores in the first ``size`` places, by dealing out the pooled ones anew."""
    threshold = float(statistic(pooled[None, :size])[0]) * (1 - _SLACK)
    pooled = np.sort(pooled)
    if size < pooled.size and comb(pooled.size, size) <= ENUMERATED:
        places = np.array(list(combinations(range(pooled.size), size)))
        return exact(float(np.mean(statistic(pooled[places]) >= threshold)), floor)
    piece = max(1, _CELLS // pooled.size)

    def dealt(rows: int) -> FloatArray:
        if size < pooled.size:
            return np.asarray(pooled[np.argpartition(rng.random((rows, pooled.size)), size, axis=1)[:, :size]])
        return rng.permuted(np.broadcast_to(pooled, (rows, pooled.size)), axis=1)

    def draw(draws: int) -> int:
        parts = (min(piece, draws - start) for start in range(0, draws, piece))
        return sum(int((statistic(dealt(rows)) >= threshold).sum()) for rows in parts)

    return Drawn(draw, floor, most=int(np.clip(_WORK // pooled.size, LEAST_DRAWS, MOST_DRAWS)))


def _centred(scores: Sequence[FloatArray]) -> tuple[FloatArray, float]:
    """All scores about their mean in units of their largest distance from it: sums of squares then lose no digits."""
    pooled = np.concatenate(scores)
    pooled -= pooled.mean()
    unit = float(np.abs(pooled).max()) or 1.0
    return pooled / unit, unit


def _absolute_t(sums: FloatArray, squares: FloatArray, sizes: FloatArray, least_variance: float) -> FloatArray:
    """|t| from sums and sums of squares of the two families: (..., 2) to (...)."""
    means = sums / sizes
    variance = np.maximum((squares - sums * means) / (sizes - 1), least_variance)
    error = np.sqrt((variance / sizes).sum(axis=-1))
    distance = np.abs(means[..., 0] - means[..., 1])
    with np.errstate(divide="ignore", invalid="ignore"):
        t = distance / error
    return np.where(error > 0, t, 0.0)
