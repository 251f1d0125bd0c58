"""What is compared, and what a comparison is: samples of families, and their difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest.errors import InputError
from levelbest.stats.best import Sample

__all__ = ["Difference", "Provenance", "Sample", "check_pairing"]


@dataclass(frozen=True, eq=False)
class Difference:
    """A difference of two curves: one entry per budget, positive where the first family is better.

    ``certified`` is 1 or -1 where the first or the second is better at the stated confidence, else 0. Limits that do
    not exist are infinite, what cannot be compared is NaN, and ``reasons`` are the codes of why: those of `Contrast`,
    ``beyond-horizon`` (of exact bands), ``few-searches`` (one has no interval), and those of averages over problems.
    """

    n: IntArray
    difference: FloatArray
    low: FloatArray
    high: FloatArray
    certified: IntArray
    method: str
    confidence: float
    simultaneous: bool
    paired: bool
    n_trials: tuple[int, int]
    statistic: str
    direction: str
    n_resamples: int | None = None
    reasons: tuple[str, ...] = ()
    basis: str | None = None
    """What ``certified`` rests on: ``swaps`` (systems swapped within problems) or ``limits`` (those shown)."""
    p_value: FloatArray | None = None
    """Adjusted for everything tested together; NaN where there is no test."""
    smallest_p: float | None = None
    """The least p-value that the test could reach, for one budget alone."""

    def __str__(self) -> str:
        rows = zip(self.n, self.difference, self.low, self.high, strict=True)
        shown = [f"n = {n}: {d:.4g} [{low:.4g}, {high:.4g}]" for n, d, low, high in rows]
        head = (
            f"difference of the {self.statistic} curves of {self.n_trials[0]} and {self.n_trials[1]} trials"
            f"{', paired' * self.paired}, {100 * self.confidence:g} % "
            f"{'simultaneous' if self.simultaneous else 'pointwise'} {self.method} band"
        )
        return "; ".join([head, *shown, *self.reasons])

    def at(self, places: IntArray) -> Difference:
        """The same at these places of the budgets, as often as they are given."""
        return replace(
            self,
            n=self.n[places],
            difference=self.difference[places],
            low=self.low[places],
            high=self.high[places],
            certified=self.certified[places],
            p_value=None if self.p_value is None else self.p_value[places],
        )


@dataclass(frozen=True)
class Provenance:
    """What all differences of one comparison have in common."""

    method: str
    confidence: float
    statistic: str
    direction: str
    paired: bool = False
    n_resamples: int | None = None
    simultaneous: bool = True

    def difference(
        self,
        n: IntArray,
        difference: FloatArray,
        limits: tuple[FloatArray, FloatArray],
        n_trials: tuple[int, int],
        *,
        certified: IntArray | None = None,
        reasons: tuple[str, ...] = (),
    ) -> Difference:
        """One pair's difference; where nothing else certifies, the limits do: both on one side of zero."""
        low, high = limits
        if certified is None:
            certified = np.where(low > 0, 1, np.where(high < 0, -1, 0)).astype(np.int64)
        return Difference(
            n=n,
            difference=difference,
            low=low,
            high=high,
            certified=certified,
            method=self.method,
            confidence=self.confidence,
            simultaneous=self.simultaneous,
            paired=self.paired,
            n_trials=n_trials,
            statistic=self.statistic,
            direction=self.direction,
            n_resamples=self.n_resamples,
            reasons=reasons,
        )


def check_pairing(families: Sequence[Sample]) -> None:
    """A paired design has one trial of each family per pair."""
    sizes = sorted({family.n_trials for family in families})
    if len(sizes) > 1:
        raise InputError(
            f"a paired design needs as many trials in each family, got {' and '.join(map(str, sizes))}; keep the pairs "
            "that both families have, or compare unpaired"
        )
