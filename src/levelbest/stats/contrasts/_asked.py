"""What is asked of a comparison, and what comes back: plain data, no words.

The functions that answer (`seed_contrasts`, `search_contrasts`, `paired_contrasts`, `problem_contrasts`) take turned
scores (higher is better) and a `Question`, and give `Contrasts`. Everywhere a difference is first minus second.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from levelbest._check import Bounds, FloatArray, IntArray

__all__ = ["VERDICTS", "Contrast", "Contrasts", "Effect", "Question"]

BoolArray = npt.NDArray[np.bool_]


VERDICTS = 15_485_863
"""The stream of the draws that decide: a seed changes limits that are shown, never a verdict. Seed 0 means this one."""


@dataclass(frozen=True)
class Question:
    """Which pairs of families are compared, how surely, and what else is known in advance.

    Attributes
    ----------
    pairs
        Pairs of places in the list of families; the confidence holds for all of them together.
    confidence
        Of all verdicts and limits together, over pairs and budgets.
    bounds
        Lowest and highest possible reported score, turned as the scores are; None where there is no such bound.
    headline
        The budget named in advance, which is tested first at full confidence; None where none was named. (A budget
        chosen after looking is no headline: it has the limits of the band.)
    shown
        The budget of the effect where none was named: it has the limits of the band; None: the first one.
    worth
        The smallest difference worth having, or None.
    method
        ``default``, or ``gaffke``: limits and verdicts that need the bounds and no other assumption.
    roughly
        Whether who wins somewhere is all that is asked, not up to which budget: fewer draws then serve.
    """

    pairs: tuple[tuple[int, int], ...]
    confidence: float = 0.95
    bounds: Bounds = (None, None)
    headline: int | None = None
    worth: float | None = None
    method: str = "default"
    shown: int | None = None
    roughly: bool = False

    def place_shown(self, n: IntArray) -> int:
        """Where the budget of the effect stands among those compared, in order: the last one within it."""
        budget = self.headline if self.headline is not None else self.shown
        return 0 if budget is None else max(int(np.searchsorted(n, budget, side="right")) - 1, 0)


@dataclass(frozen=True)
class Effect:
    """The difference at one budget, with limits that hold for all pairs together."""

    n: int
    difference: float
    low: float
    high: float
    certified: int
    """1 where the first family is better, -1 where the second is, 0 undecided."""
    p_value: float
    """Adjusted for all pairs (and budgets, unless named in advance); NaN where there is no test."""
    negligible: bool
    """The limits lie within (-worth, worth): no difference worth having."""
    named: bool
    """The budget was named in advance."""


@dataclass(frozen=True, eq=False)
class Contrast:
    """One pair: an entry per budget. Where nothing is certified the limits hold zero, where something is they do not.

    Limits that do not exist are infinite; what cannot be compared is NaN, and ``reasons`` says why by code:

    ``few-trials``     fewer than 3 trials in a family: no limits (value: the count)
    ``no-spread``      a family's scores do not vary where the limits need it
    ``beyond-half``    budgets past half the trials of the smaller family have estimates but no limits
    ``no-bounds``      the method asked for needs both bounds of the score
    ``few-problems``   problems that have so many samples (and a weight) are too few for limits over problems
    ``unsettled``      the Monte Carlo error of the last resample allowed could still change the verdict
    """

    pair: tuple[int, int]
    n_trials: tuple[int, int]
    n: IntArray
    difference: FloatArray
    low: FloatArray
    high: FloatArray
    certified: IntArray
    p_value: FloatArray
    """Adjusted over pairs and budgets."""
    negligible: BoolArray
    basis: str
    """What a verdict leans on: ``permutation`` (equal laws give a winner at most as often as said, whatever the law),
    ``t`` (too few trials for a permutation to reach the level: near-normal means), ``gaffke`` (bounds alone), ``swaps``
    (systems swapped within problems) or ``limits`` (those shown: exact bands of quantile curves, limits of each system
    over problems of its own)."""
    effect: Effect
    """At the headline budget or, where none was named, at the one shown."""
    further: float
    """Further trials of each family that would decide at the effect's budget in four of five cases, if the difference
    is as observed; 0 where it is decided, infinite where the observed difference is 0, NaN where unknown."""
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Contrasts:
    """All pairs of one question, in its order."""

    question: Question
    pairs: tuple[Contrast, ...]
    n_trials: tuple[int, ...]
    """Of each family."""
    method: str
    n_permutations: int
    """The largest number drawn for a pair; every arrangement was enumerated where ``enumerated``."""
    enumerated: bool
    n_resamples: int
    above: tuple[tuple[int, int], ...] = field(default=())
    """Who is certified above whom at the effects' budget: (better, worse)."""
    possible_best: tuple[int, ...] = field(default=())
    """Families below which no other is certified at the effects' budget: one of them is the best."""
