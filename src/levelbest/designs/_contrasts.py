"""Contrasts from limits alone: for designs whose verdicts are where the limits exclude zero."""

from __future__ import annotations

import math
from collections.abc import Sequence

from levelbest.stats.contrasts import Band, Contrast, Contrasts, Question, contrast_of

__all__ = ["band_contrasts", "undefined"]


def band_contrasts(
    question: Question,
    bands: Sequence[Band],
    sizes: Sequence[int],
    reasons: Sequence[tuple[str, ...]],
    *,
    method: str,
    basis: str = "limits",
) -> Contrasts:
    """The contrasts of a question from the band of each of its pairs, and what it lacks; ``sizes`` are of all families.

    A budget named in advance has the limits of the band.
    """
    contrasts = [
        contrast_of(
            question,
            (a, b),
            (sizes[a], sizes[b]),
            band,
            basis=basis,
            further=0.0 if band.certified.any() else math.nan,
            reasons=lacking,
            named=question.headline in band.n,
        )
        for (a, b), band, lacking in zip(question.pairs, bands, reasons, strict=True)
    ]
    return Contrasts(tuple(contrasts), method)


def undefined(pair: tuple[int, int], n_trials: tuple[int, int], question: Question, reason: str) -> Contrast:
    """A pair that cannot be compared at all."""
    nowhere = Band.one(1, math.nan, math.nan, math.nan, 0, math.nan)
    return contrast_of(question, pair, n_trials, nowhere, basis="none", further=math.nan, reasons=(reason,))
