"""Contrasts from limits alone: for designs whose verdicts are where the limits exclude zero."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from levelbest._check import FloatArray, IntArray
from levelbest.stats.contrasts import Columns, Contrast, Contrasts, Effect, Question, contrast_of, possible_best

__all__ = ["Band", "band_contrasts"]


@dataclass(frozen=True, eq=False)
class Band:
    """One pair's difference with limits, an entry per budget."""

    n_trials: tuple[int, int]
    difference: FloatArray
    low: FloatArray
    high: FloatArray
    certified: IntArray | None = None
    """None: where the limits exclude zero."""
    reasons: tuple[str, ...] = ()

    def decided(self) -> IntArray:
        """1 where the first is better, -1 where the second is, else 0."""
        if self.certified is not None:
            return self.certified
        return np.where(self.low > 0, 1, np.where(self.high < 0, -1, 0)).astype(np.int64)


def band_contrasts(
    question: Question,
    bands: Sequence[Band],
    budgets: npt.NDArray[np.int64] | FloatArray,
    sizes: Sequence[int],
    *,
    method: str,
    basis: str = "limits",
    n_resamples: int = 0,
) -> Contrasts:
    """The contrasts of a question from the band of each of its pairs."""
    unknown = np.full(budgets.size, math.nan)
    contrasts = []
    for pair, band in zip(question.pairs, bands, strict=True):
        certified = band.decided()
        columns = Columns(budgets, band.difference, band.low, band.high, certified, unknown)  # type: ignore[arg-type]
        further = 0.0 if certified.any() else math.nan
        contrasts.append(
            contrast_of(
                pair,
                band.n_trials,
                columns,
                question,
                basis=basis,
                further=further,
                reasons=band.reasons,
                named=_named(band, certified, budgets, question),
            )
        )
    above, best = possible_best(len(sizes), contrasts)
    return Contrasts(
        question=question,
        pairs=tuple(contrasts),
        n_trials=tuple(sizes),
        method=method,
        n_permutations=0,
        enumerated=False,
        n_resamples=n_resamples,
        above=above,
        possible_best=best,
    )


def _named(
    band: Band, certified: IntArray, budgets: npt.NDArray[np.int64] | FloatArray, question: Question
) -> Effect | None:
    """The effect at the budget named in advance, with the limits of the band."""
    places = np.flatnonzero(budgets == question.headline)
    if question.headline is None or not places.size:
        return None
    at = int(places[0])
    worth = question.worth
    return Effect(
        n=question.headline,
        difference=float(band.difference[at]),
        low=float(band.low[at]),
        high=float(band.high[at]),
        certified=int(certified[at]),
        p_value=math.nan,
        negligible=worth is not None and bool(band.low[at] > -worth and band.high[at] < worth),
        named=True,
    )


def undefined(pair: tuple[int, int], n_trials: tuple[int, int], question: Question, reason: str) -> Contrast:
    """A pair that cannot be compared at all."""
    nowhere = np.array([math.nan])
    columns = Columns(np.ones(1, dtype=np.int64), nowhere, nowhere, nowhere, np.zeros(1, dtype=np.int64), nowhere)
    return contrast_of(pair, n_trials, columns, question, basis="none", further=math.nan, reasons=(reason,))
