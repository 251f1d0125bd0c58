"""The statistics of the best of n: mean, quantiles, or any other functional of the distribution of the winner's score.

A statistic is a function of that distribution: the reported scores, worst first, and the chance of each to be the
winner's. The mean and the quantiles have faster implementations; for a registered statistic this function alone gives
its curve (`best_statistic`), its bootstrap interval and its differences.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from levelbest import _check
from levelbest._check import FloatArray, IntArray
from levelbest.errors import InputError


class Statistic(Protocol):
    """A number that describes the distribution of the winner's reported score."""

    @property
    def name(self) -> str:
        """The name by which users choose it, and that output shows."""

    def of_distribution(self, scores: FloatArray, weights: FloatArray) -> FloatArray:
        """Its value for each row of ``weights``, the probabilities of the ``scores``.

        Scores come worst first, turned so that higher is better; the value is turned likewise. A probability may be 0.
        """


@dataclass(frozen=True)
class Mean:
    """The expected score."""

    name: str = "mean"

    def of_distribution(self, scores: FloatArray, weights: FloatArray) -> FloatArray:
        """The weighted mean."""
        return np.asarray(weights @ scores)


@dataclass(frozen=True)
class Quantile:
    """The score that the winner stays below with probability q, counted from worse to better."""

    q: float

    @property
    def name(self) -> str:
        """``median``, or the probability."""
        return _check.statistic_name(self.q)

    def of_distribution(self, scores: FloatArray, weights: FloatArray) -> FloatArray:
        """The first score whose cumulated chance is q; its mean with the next likely one where that is q (to 1e-12).

        Every row of weights may have scores of its own.
        """
        scores, each = np.broadcast_to(scores, weights.shape), np.arange(weights.shape[0])
        # The second number counts those up to q as well: it is the larger one where some cumulated chance is q.
        below, to = first_reaching(weights.T, self.q - _CHANCE_ROUNDING, np.nextafter(self.q + _CHANCE_ROUNDING, 2))
        at = np.minimum(below, weights.shape[1] - 1)
        value, even = scores[each, at], to > below
        if even.any():
            after = scores[each, np.argmax((np.arange(weights.shape[1]) > at[:, None]) & (weights > 0), axis=1)]
            # Halved first: the sum of two finite scores may not be finite.
            value = np.where(even & (value != after), value / 2 + after / 2, value)
        return np.asarray(value)

    def with_further(self, scores: FloatArray, weights: FloatArray, rest: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The quantile where the chance ``rest`` lies below all ``scores``, and where it lies above: in between it is
        the score that has that chance. Here each column of ``weights`` is a distribution."""
        level = self.q - _CHANCE_ROUNDING
        under, over = first_reaching(weights, level - rest, level)
        ends = np.append(scores, np.inf)
        return np.where(rest >= level, -np.inf, ends[np.minimum(under, scores.size - 1)]), ends[over]


_CHANCE_ROUNDING = 1e-12
_ROWS_AT_ONCE = 24


def first_reaching(rows: FloatArray, low: FloatArray | float, high: FloatArray | float) -> tuple[IntArray, IntArray]:
    """For each column the first row at which the sum of all rows so far reaches each of two levels; the number of rows
    where none does. Entries are at least 0: of a block of rows below which no column reaches the lower level its sum is
    enough, and what comes after the higher one is not read."""
    to_low, to_high = np.zeros((2, rows.shape[1]), dtype=np.int64)
    before = np.zeros(rows.shape[1])
    for start in range(0, rows.shape[0], _ROWS_AT_ONCE):
        block = rows[start : start + _ROWS_AT_ONCE]
        after = before + np.add.reduce(block, axis=0)
        if (after < low).all():
            to_low += block.shape[0]
            to_high += block.shape[0]
        else:
            sums = running_sums(block, before)
            to_low += np.add.reduce(sums < low, axis=0, dtype=np.uint8)
            to_high += np.add.reduce(sums < high, axis=0, dtype=np.uint8)
            after = sums[-1]
            if (after >= high).all():
                break
        before = after
    return to_low, to_high


LONG_ROW = 256
"""Entries of a row that make a step of Python cheap."""


def running_sums(rows: FloatArray, before: FloatArray | float = 0.0) -> FloatArray:
    """Sums of the first row, of the first two, and so on, from what is ``before`` them; of long rows in a fifth of
    `numpy.cumsum`'s time."""
    sums = np.empty(rows.shape)
    np.add(rows[:1], before, out=sums[:1])
    if rows.shape[1] < LONG_ROW:
        sums[1:] = rows[1:]
        return np.cumsum(sums, axis=0, out=sums)
    for so_far, row, out in zip(sums[:-1], rows[1:], sums[1:], strict=True):
        np.add(so_far, row, out=out)
    return sums


_STATISTICS: dict[str, Statistic] = {"mean": Mean()}


def register_statistic(statistic: Statistic) -> None:
    """Make a statistic known by its name; see CONTRIBUTING.md for an example.

    Parameters
    ----------
    statistic : Statistic
        Has a ``name`` and a function ``of_distribution(scores, weights)``.
    """
    name = statistic.name
    if name in _STATISTICS or name == "median" or name.replace(".", "", 1).isdigit():
        raise InputError(f"a statistic called {name!r} is known already; give the new one another name")
    _STATISTICS[name] = statistic


def statistic_named(statistic: str | float) -> Statistic:
    """The mean, a quantile by its probability (``median`` is 0.5), or a registered statistic by its name."""
    if isinstance(statistic, str) and statistic in _STATISTICS:
        return _STATISTICS[statistic]
    q = _check.as_statistic(statistic)
    return Mean() if q is None else Quantile(q)


def order_quantiles(worst_first: FloatArray, n: IntArray, q: float) -> FloatArray:
    """The q-quantiles of the best of n of several samples of one score column, rows of ordered scores: (n, sample)."""
    size = worst_first.shape[1]
    place = size * np.exp(math.log(q) / n)
    whole = np.rint(place)
    # A product of size m carries a rounding error of m eps: from m = 5,000 on 1e-12 would be below it.
    even = np.abs(place - whole) <= np.maximum(1e-12, 4 * np.finfo(float).eps * size)
    low = np.maximum(np.where(even, whole, np.ceil(place)).astype(np.int64), 1)
    below, above = worst_first[:, low - 1], worst_first[:, np.minimum(low + even, size) - 1]
    # Halved first: the sum of two finite scores may not be finite.
    return np.asarray(np.where(below == above, below, below / 2 + above / 2)).T
