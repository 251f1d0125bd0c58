"""One family's scores, sorted and signed so that higher is better, and the probability of unobserved modes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import Bounds, FloatArray, IntArray
from levelbest.stats.best._moments import BestFirst, best_first, means_of

_PACKED_ABOVE = 1 << 16


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

    def first(self, n: int) -> Sample:
        """The first n trials, as they were given."""
        return self._taken(slice(n))

    def ordered(self) -> Sample:
        """The same trials by selection score from low to high, ties by what is reported; itself where they are so."""
        return self if self._in_order else self._sorted

    @cached_property
    def _sorted(self) -> Sample:
        turned_round = self._taken(slice(None, None, -1))
        if turned_round._in_order:
            return turned_round
        if self.reported is None:
            return Sample(np.sort(self.selection))
        ordered = self._taken(_order_of(self.selection))
        return ordered if ordered._in_order else self._taken(np.lexsort((self.reported, self.selection)))

    def _taken(self, order: IntArray | slice) -> Sample:
        return Sample(self.selection[order], None if self.reported is None else self.reported[order])

    @cached_property
    def _in_order(self) -> bool:
        later, sooner = self.selection[1:], self.selection[:-1]
        if self.reported is None:
            return bool((later >= sooner).all())
        tied = np.flatnonzero(later <= sooner)
        return bool(((later == sooner) & (self.reported[1:] >= self.reported[:-1]))[tied].all()) if tied.size else True

    def means(self, n: IntArray) -> FloatArray:
        """The expected best of n by U, of scores that are turned so that higher is better; computed once."""
        key = n.tobytes()
        if key not in self._means:
            self._means[key] = means_of(self.ranked, n, "u")
            self._means[key].setflags(write=False)
        return self._means[key]

    def remember(self, n: IntArray, means: FloatArray) -> None:
        """Keep means that are computed already."""
        means.setflags(write=False)
        self._means.setdefault(n.tobytes(), means)

    @cached_property
    def _means(self) -> dict[bytes, FloatArray]:
        return {}

    @cached_property
    def ranked(self) -> BestFirst:
        """The trials best first, of scores that are turned so that higher is better."""
        return best_first(self.selection, self.reported, "max")

    def turned(self, direction: str) -> Sample:
        """The same scores, turned so that higher is better."""
        return self if _check.as_direction(direction) == "max" else self._negated

    @cached_property
    def _negated(self) -> Sample:
        return Sample(-self.selection, None if self.reported is None else -self.reported)


def _order_of(scores: FloatArray) -> IntArray:
    """Where the scores stand in order; of very many, sorted together with their places, in half the time.

    A place takes the last bits of its score, so that scores that agree in all others may be out of order by then.
    """
    if scores.size < _PACKED_ABOVE:
        return np.argsort(scores)
    bits = scores.view(np.int64)
    low = (1 << (scores.size - 1).bit_length()) - 1
    keys = bits >> 63
    keys &= np.int64(2**63 - 1)
    keys ^= bits  # in the order of the scores: negative ones the other way round
    keys &= ~low
    keys |= np.arange(scores.size)
    keys.sort()
    keys &= low
    nearly = scores[keys]
    return keys if (nearly[1:] >= nearly[:-1]).all() else keys[np.argsort(nearly, kind="stable")]


def turned_bounds(bounds: Bounds, direction: str) -> Bounds:
    """(worst, best) possible score of scores that are turned so that higher is better."""
    low, high = bounds
    if _check.as_direction(direction) == "max":
        return low, high
    return None if high is None else -high, None if low is None else -low


def turned_limits(low: FloatArray, high: FloatArray, direction: str) -> tuple[FloatArray, FloatArray]:
    """Limits of turned scores as limits of the scores themselves, and the other way round.

    The one place where lower and upper limits change places: for ``min`` the largest of the negated scores is minus the
    smallest, so that its upper limit is minus their lower one; a limit of 0 has no sign.
    """
    return (low, high) if _check.as_direction(direction) == "max" else (0.0 - high, 0.0 - low)


def unseen(n_units: int, confidence: float = 0.95) -> float:
    """The largest share of units that may be missing from a sample of this size.

    A failure, or a good mode, in a larger share of units is observed among ``n_units`` with a probability of at least
    ``confidence``. No interval and no test can allow for rarer ones, unless the score has bounds.

    Parameters
    ----------
    n_units : int
        Trials, runs, searches or problems in the sample.
    confidence : float
        The probability with which a more frequent mode is seen at least once.

    Returns
    -------
    float
        1 - (1 - confidence)^(1/n_units), for a confidence of .95 about 3/n_units.

    Notes
    -----
    This is the upper Clopper-Pearson limit of a share of which no case was seen, the exact form of the "rule of three"
    (Hanley and Lippman-Hand 1983).

    Examples
    --------
    >>> round(unseen(20), 3)
    0.139
    """
    units, level = _check.as_count(n_units, "n_units"), _check.as_confidence(confidence)
    return -math.expm1(math.log1p(-level) / units)


def standardised(samples: Sequence[Sample]) -> list[Sample]:
    """In standard deviations of what they all report from its mean; turned scores."""
    claimed = np.sort(np.concatenate([sample.claimed for sample in samples]))
    centre, spread = float(claimed.mean()), float(claimed.std()) or 1.0
    return [
        Sample(
            (sample.selection - centre) / spread,
            None if sample.reported is None else (sample.reported - centre) / spread,
        )
        for sample in samples
    ]
