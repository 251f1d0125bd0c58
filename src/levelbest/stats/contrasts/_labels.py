"""Means under permuted labels: are these runs of one law, dealt out at random?

Under equal laws every dealing of the pooled runs to the families is as likely as the one observed, so that the rank of
the observed statistic among all dealings is an exact p-value: for any law, any counts, with ties and failures. The
statistic is Welch's |t|, or the largest of several pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from math import comb

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest.stats.contrasts._settle import LEAST_DRAWS, MOST_DRAWS, Drawn, exact

__all__ = ["ENUMERATED", "all_families", "one_pair", "smallest_p"]

ENUMERATED = 20_000
"""Up to so many dealings all are gone through, and the p-value has no Monte Carlo error."""
_CELLS = 1 << 18
_WORK = 1 << 25
"""Scores dealt for one test at most, beyond its first few thousand dealings."""
_SLACK = 1e-9
"""Statistics this close in proportion are the same dealing added up in another order."""


def smallest_p(m_a: int, m_b: int) -> float:
    """The least two-sided p-value that a permutation of two families can give."""
    if min(m_a, m_b) > 500:  # less than 1e-299; the whole number itself takes long to multiply
        return 0.0
    return 2 / comb(m_a + m_b, m_a)


def _absolute_t(sums: FloatArray, squares: FloatArray, sizes: FloatArray, least_variance: float) -> FloatArray:
    """|t| from sums and sums of squares of the two families: (..., 2) to (...)."""
    means = sums / sizes
    variance = np.maximum((squares - sums * means) / (sizes - 1), least_variance)
    error = np.sqrt((variance / sizes).sum(axis=-1))
    distance = np.abs(means[..., 0] - means[..., 1])
    with np.errstate(divide="ignore", invalid="ignore"):
        t = distance / error
    return np.where(error > 0, t, 0.0)


def _centred(scores: Sequence[FloatArray]) -> tuple[FloatArray, float]:
    """All scores about their mean in units of their largest distance from it: sums of squares then lose no digits."""
    pooled = np.concatenate(scores)
    pooled -= pooled.mean()
    unit = float(np.abs(pooled).max()) or 1.0
    return pooled / unit, unit


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

    threshold = float(t_of(pooled[None, :smaller])[0]) * (1 - _SLACK)
    pooled.sort()
    if comb(pooled.size, smaller) <= ENUMERATED:
        places = np.array(list(combinations(range(pooled.size), smaller)))
        return exact(float(np.mean(t_of(pooled[places]) >= threshold)), floor)

    def draw(size: int) -> int:
        return _in_pieces(
            size, pooled.size, lambda rows: int((t_of(_dealt(pooled, rows, smaller, rng)) >= threshold).sum())
        )

    return Drawn(draw, floor, most=_most(pooled.size))


def all_families(
    scores: Sequence[FloatArray], pairs: Sequence[tuple[int, int]], least_variance: float, rng: np.random.Generator
) -> Drawn:
    """The permutation test that all families are one law, by the largest |t| of the pairs."""
    pooled, unit = _centred(scores)
    least = least_variance / unit**2
    sizes = np.array([part.size for part in scores])
    starts = np.r_[0, np.cumsum(sizes)[:-1]]
    first, second = (np.array(side) for side in zip(*pairs, strict=True))

    def largest(rows: FloatArray) -> FloatArray:
        sums = np.add.reduceat(rows, starts, axis=1)
        squares = np.add.reduceat(np.square(rows), starts, axis=1)
        both = np.stack([first, second], axis=-1)
        return np.asarray(
            _absolute_t(sums[:, both], squares[:, both], sizes[both].astype(np.float64), least).max(axis=1)
        )

    threshold = float(largest(pooled[None])[0]) * (1 - _SLACK)
    pooled.sort()

    def draw(size: int) -> int:
        return _in_pieces(
            size, pooled.size, lambda rows: int((largest(_dealt(pooled, rows, pooled.size, rng)) >= threshold).sum())
        )

    return Drawn(draw, most=_most(pooled.size))


def _dealt(pooled: FloatArray, rows: int, size: int, rng: np.random.Generator) -> FloatArray:
    """The scores dealt to the first ``size`` places, one dealing a row."""
    if size < pooled.size:
        order: IntArray = np.argpartition(rng.random((rows, pooled.size)), size, axis=1)[:, :size]
        return pooled[order]
    return rng.permuted(np.broadcast_to(pooled, (rows, pooled.size)), axis=1)


def _most(width: int) -> int:
    return int(np.clip(_WORK // width, LEAST_DRAWS, MOST_DRAWS))


def _in_pieces(size: int, width: int, count: Callable[[int], int]) -> int:
    piece = max(1, _CELLS // width)
    return sum(count(min(piece, size - start)) for start in range(0, size, piece))
