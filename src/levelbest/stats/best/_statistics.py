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
        total, each = running_sums(weights.T), np.arange(weights.shape[0])
        scores = np.broadcast_to(scores, weights.shape)
        at = np.minimum(np.count_nonzero(total < self.q - 1e-12, axis=0), weights.shape[1] - 1)
        value = scores[each, at]
        even = np.abs(total[at, each] - self.q) <= 1e-12
        if even.any():
            after = scores[each, np.argmax((np.arange(weights.shape[1]) > at[:, None]) & (weights > 0), axis=1)]
            # Halved first: the sum of two finite scores may not be finite.
            value = np.where(even & (value != after), value / 2 + after / 2, value)
        return np.asarray(value)


LONG_ROW = 256
"""Entries of a row that make a step of Python cheap."""


def running_sums(rows: FloatArray) -> FloatArray:
    """Sums of the first row, of the first two, and so on; of long rows in a fifth of `numpy.cumsum`'s time."""
    if rows.shape[1] < LONG_ROW:
        return np.cumsum(rows, axis=0)
    sums = np.empty(rows.shape)
    sums[:1] = rows[:1]
    for before, row, out in zip(sums[:-1], rows[1:], sums[1:], strict=True):
        np.add(before, row, out=out)
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
