"""Contrasts from limits alone: for designs whose verdicts are where the limits exclude zero."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from levelbest._check import FloatArray, IntArray
from levelbest.stats.contrasts import Columns, Contrast, Contrasts, Question, contrast_of, possible_best

__all__ = ["Band", "band_contrasts", "undefined"]


@dataclass(frozen=True, eq=False)
class Band:
    """One pair's difference with limits, an entry per budget."""

    difference: FloatArray
    low: FloatArray
    high: FloatArray
    certified: IntArray | None = None
    """1 where the first is better, -1 where the second is, else 0; None: where the limits exclude zero."""
    reasons: tuple[str, ...] = ()


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
    """The contrasts of a question from the band of each of its pairs; ``sizes`` are of all families."""
    unknown = np.full(budgets.size, math.nan)
    contrasts = []
    for (a, b), band in zip(question.pairs, bands, strict=True):
        certified = band.certified
        if certified is None:
            certified = np.where(band.low > 0, 1, np.where(band.high < 0, -1, 0)).astype(np.int64)
        columns = Columns(budgets, band.difference, band.low, band.high, certified, unknown)  # type: ignore[arg-type]
        further = 0.0 if certified.any() else math.nan
        contrast = contrast_of(
            (a, b), (sizes[a], sizes[b]), columns, question, basis=basis, further=further, reasons=band.reasons
        )
        if question.headline in budgets:  # named in advance, it has the limits of the band
            contrast = replace(contrast, effect=replace(contrast.effect, named=True))
        contrasts.append(contrast)
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


def undefined(pair: tuple[int, int], n_trials: tuple[int, int], question: Question, reason: str) -> Contrast:
    """A pair that cannot be compared at all."""
    nowhere = np.array([math.nan])
    columns = Columns(np.ones(1, dtype=np.int64), nowhere, nowhere, nowhere, np.zeros(1, dtype=np.int64), nowhere)
    return contrast_of(pair, n_trials, columns, question, basis="none", further=math.nan, reasons=(reason,))
