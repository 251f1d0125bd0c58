"""Limits that agree with the verdicts, and what follows from both: effects, equivalence, who may be the best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from levelbest._check import Bounds, FloatArray, IntArray
from levelbest.stats.contrasts._asked import Contrast, Effect, Question

__all__ = ["OPEN", "Columns", "agreeing", "contrast_of", "possible_best"]

OPEN = float(np.finfo(np.float64).tiny)
"""An end at zero that excludes it: the limit where only a later step certifies, which promises no more than a sign."""


class Columns(NamedTuple):
    """A pair's numbers, an entry per budget; the limits need not agree with what is certified yet."""

    n: IntArray
    difference: FloatArray
    low: FloatArray
    high: FloatArray
    certified: IntArray
    p_value: FloatArray


def agreeing(low: FloatArray, high: FloatArray, certified: IntArray, bounds: Bounds) -> tuple[FloatArray, FloatArray]:
    """Limits that hold zero exactly where nothing is certified, cut at the widest difference that bounds allow.

    Widening never hurts. Cutting a limit at zero where a verdict is certified errs only where the verdict does.
    """
    low = np.where(certified == 0, np.minimum(low, 0.0), np.where(certified > 0, np.maximum(low, OPEN), low))
    high = np.where(certified == 0, np.maximum(high, 0.0), np.where(certified < 0, np.minimum(high, -OPEN), high))
    worst, best = bounds
    if worst is not None and best is not None:
        widest = best - worst
        low, high = np.clip(low, -widest, widest), np.clip(high, -widest, widest)
    return low, high


def contrast_of(
    pair: tuple[int, int],
    n_trials: tuple[int, int],
    columns: Columns,
    question: Question,
    *,
    basis: str,
    further: float,
    reasons: tuple[str, ...] = (),
    named: Effect | None = None,
) -> Contrast:
    """A contrast from its columns; limits are made to agree with what is certified.

    ``named`` is the effect at a budget named in advance; without it the effect is the band's at the budget shown.
    """
    n, difference, low, high, certified, p_value = columns
    low, high = agreeing(low, high, certified, question.bounds)
    negligible = _negligible(low, high, question.worth)
    at = question.place_shown(n)
    shown = Effect(
        n=int(n[at]),
        difference=float(difference[at]),
        low=float(low[at]),
        high=float(high[at]),
        certified=int(certified[at]),
        p_value=float(p_value[at]),
        negligible=bool(negligible[at]),
        named=False,
    )
    return Contrast(
        pair=pair,
        n_trials=n_trials,
        n=n,
        difference=difference,
        low=low,
        high=high,
        certified=certified,
        p_value=p_value,
        negligible=negligible,
        basis=basis,
        effect=named or shown,
        further=further,
        reasons=reasons,
    )


def _negligible(low: FloatArray, high: FloatArray, worth: float | None) -> npt.NDArray[np.bool_]:
    if worth is None:
        return np.zeros(low.size, dtype=bool)
    return np.asarray((low > -worth) & (high < worth))


def possible_best(
    n_families: int, contrasts: Sequence[Contrast]
) -> tuple[tuple[tuple[int, int], ...], tuple[int, ...]]:
    """Who is certified above whom at the effects' budget, and the families below which no other is certified.

    With the comparison's confidence the best of all families is among the latter: to miss it a verdict must be wrong.
    """
    above = tuple(
        (contrast.pair if contrast.effect.certified > 0 else contrast.pair[::-1])
        for contrast in contrasts
        if contrast.effect.certified != 0
    )
    beaten = {worse for _, worse in above}
    return above, tuple(f for f in range(n_families) if f not in beaten)
