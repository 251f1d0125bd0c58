"""The hypotheses that are tested together and their results, as plain data.

The functions that test them (`trial_contrasts`, `run_contrasts`, `search_contrasts`, `sign_contrasts`) take turned
scores (higher is better) and `Hypotheses`, and give `Contrasts`. Everywhere a difference is first minus second.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np

from levelbest._check import BoolArray, Bounds, Budgets, FloatArray, IntArray
from levelbest.errors import InputError
from levelbest.stats.best import Sample
from levelbest.stats.best import unseen as unseen_share
from levelbest.stats.inference._power import POWER, Needed

Pair = tuple[int, int]

OPEN = float(np.finfo(np.float64).tiny)
"""The limit where only the test excludes zero: the smallest positive number; it states a sign, not a size."""
VERDICTS = 15_485_863
"""The stream of the draws that decide: a seed changes limits that are shown, never a verdict. Seed 0 means this one."""


@dataclass(frozen=True)
class Hypotheses:
    """What is tested together: which pairs of families, at what confidence, and what is fixed in advance.

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
    planned, power
        The budget at which all pairs are planned for, decided or not, and the power wanted; None: pairs that are not
        decided, at the budget of the effect.
    """

    pairs: tuple[Pair, ...]
    confidence: float = 0.95
    bounds: Bounds = (None, None)
    headline: int | None = None
    worth: float | None = None
    method: str = "default"
    shown: int | None = None
    planned: int | None = None
    power: float = POWER

    def place_shown(self, n: Budgets) -> int:
        """Where the budget of the effect stands among those compared, in order: the last one within it."""
        budget = self.headline if self.headline is not None else self.shown
        return 0 if budget is None else max(int(np.searchsorted(n, budget, side="right")) - 1, 0)


def excluded(low: FloatArray, high: FloatArray) -> IntArray:
    """1 or -1 where limits exclude zero."""
    return np.where(low > 0, 1, np.where(high < 0, -1, 0)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Band:
    """One pair's difference with limits, an entry per budget; they need not agree with what is certified yet."""

    n: Budgets
    difference: FloatArray
    low: FloatArray
    high: FloatArray
    certified: IntArray
    """1 where the first family is better, -1 where the second is, 0 undecided."""
    p_value: FloatArray
    """Adjusted for all pairs and budgets; NaN where there is no test."""

    @classmethod
    def of(
        cls, n: Budgets, difference: FloatArray, low: FloatArray, high: FloatArray, certified: IntArray | None = None
    ) -> Band:
        """Without a test; where nothing else certifies, limits do that exclude zero."""
        if certified is None:
            certified = excluded(low, high)
        return cls(n, difference, low, high, certified, np.full(n.size, np.nan))

    @classmethod
    def at_one_budget(cls, n: int, difference: float, low: float, high: float, certified: int, p_value: float) -> Band:
        """Of one budget."""
        return cls(*(np.array([value]) for value in (n, difference, low, high, certified, p_value)))

    def with_named(self, alone: Band) -> Band:
        """The band that has, at the budget named in advance, what was tested there first and alone."""
        there = self.n == alone.n
        names = ("low", "high", "certified", "p_value")
        return replace(self, **{name: np.where(there, getattr(alone, name), getattr(self, name)) for name in names})


_COLUMNS = tuple(field.name for field in fields(Band))


class EffectAt(NamedTuple):
    """A contrast at one budget."""

    n: int
    difference: float
    low: float
    high: float
    certified: int
    p_value: float
    negligible: bool
    named: bool
    """The budget was named in advance."""
    floor: float
    ceiling: float
    """Limits that hold for what the units may not have shown, too; NaN where no difference worth having is named."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Contrast(Band):
    """One pair and its band, an entry per budget.

    Where nothing is certified the limits hold zero, where something is they do not. Limits that do not exist are
    infinite; what cannot be compared is NaN, and ``reasons`` says why by code:

    ``few-trials``     fewer than 3 trials in a family: no limits (value: the count)
    ``no-spread``      a family's scores do not vary where the limits need it
    ``beyond-half``    budgets past half the trials of the smaller family have estimates but no limits
    ``no-bounds``      the method asked for needs both bounds of the score
    ``few-problems``   problems that have so many samples (and a weight) are too few for limits over problems
    ``few-searches``   fewer than 2 searches of a family
    ``unsettled``      the Monte Carlo error of the last resample allowed could still change the verdict
    """

    pair: Pair
    n_trials: tuple[int, int]
    floor: FloatArray
    ceiling: FloatArray
    """Limits that hold for what the units may not have shown, too; NaN where no difference worth having is named."""
    worth: float | None
    """The smallest difference that matters."""
    basis: str
    """What a verdict leans on: ``permutation`` (equal distributions give a winner at most as often as said, whatever
    the distribution), ``t`` (too few trials for a permutation to reach the level: near-normal means), ``gaffke``
    (bounds alone), ``swaps`` (systems swapped within problems), ``limits`` (those shown: exact bands of quantile
    curves, limits of each system over problems of its own) or ``none`` (no test can reach the level)."""
    further: float
    """Further units of each family that would decide at the effect's budget in four of five cases; 0 where it is
    decided, NaN where unknown or open (`Needed.code`)."""
    reasons: tuple[str, ...]
    shown: int
    """The place of the headline budget or, where none was named, of the one shown."""
    named: bool
    """There the limits are of a budget named in advance, with the whole error."""
    reach: int
    """The largest budget compared."""
    unseen: float
    """The largest share of units that such a sample may not have shown, at the budget of the effect."""
    equal_p: float
    """Of equal distributions of the pair, over its budgets but not over pairs; NaN where no exchange can tell."""
    needed: Needed | None = None
    """What `further` is of: the units needed, and how surely that is known; None where it is decided or cannot be."""

    @property
    def negligible(self) -> BoolArray:
        """Where the limits lie within (-worth, worth): no difference worth having."""
        worth = math.nan if self.worth is None else self.worth
        return np.asarray((self.floor > -worth) & (self.ceiling < worth))

    @property
    def effect(self) -> EffectAt:
        """At the headline budget or, where none was named, at the one shown."""
        return self.at(self.shown)

    def at(self, place: int) -> EffectAt:
        """At one of the budgets."""
        return EffectAt(
            n=int(self.n[place]),
            difference=float(self.difference[place]),
            low=float(self.low[place]),
            high=float(self.high[place]),
            certified=int(self.certified[place]),
            p_value=float(self.p_value[place]),
            negligible=bool(self.negligible[place]),
            named=self.named,
            floor=float(self.floor[place]),
            ceiling=float(self.ceiling[place]),
        )


@dataclass(frozen=True, eq=False)
class Contrasts:
    """All pairs that were tested together, in their order, and the method of their limits."""

    pairs: tuple[Contrast, ...]
    method: str


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
    hypotheses: Hypotheses,
    pair: Pair,
    n_trials: tuple[int, int],
    band: Band,
    *,
    basis: str,
    further: float,
    reasons: tuple[str, ...] = (),
    named: bool = False,
    safe: tuple[FloatArray, FloatArray] | None = None,
    reach: int | None = None,
    unseen: float = math.nan,
    equal_p: float = math.nan,
    needed: Needed | None = None,
) -> Contrast:
    """A contrast from its band, with a parameter for each of its columns; limits agree with what is certified.

    More than 8 parameters: its fields. ``named``: at the budget named in advance the band has what was tested there
    alone. ``safe``: limits for what was not shown, too; by default those of the band. ``reach``: by default half the
    units of the smaller family.
    """
    low, high = agreeing(band.low, band.high, band.certified, hypotheses.bounds)
    unknown = np.full(band.n.size, math.nan)
    return Contrast(
        **vars(band) | {"low": low, "high": high},
        pair=pair,
        n_trials=n_trials,
        floor=unknown if hypotheses.worth is None else band.low if safe is None else safe[0],
        ceiling=unknown if hypotheses.worth is None else band.high if safe is None else safe[1],
        worth=hypotheses.worth,
        basis=basis,
        further=further,
        reasons=reasons,
        shown=hypotheses.place_shown(band.n),
        named=named,
        reach=min(n_trials) // 2 if reach is None else reach,
        unseen=unseen,
        equal_p=equal_p,
        needed=needed,
    )


def band_contrasts(
    hypotheses: Hypotheses,
    bands: Sequence[Band],
    sizes: Sequence[int],
    reasons: Sequence[tuple[str, ...]],
    *,
    method: str,
    basis: str = "limits",
) -> Contrasts:
    """The contrasts that limits alone decide, from the band of each pair and what it lacks.

    ``sizes`` are of all families. A budget named in advance has the limits of the band.
    """
    contrasts = [
        contrast_of(
            hypotheses,
            (a, b),
            (sizes[a], sizes[b]),
            band,
            basis=basis,
            further=0.0 if band.certified.any() else math.nan,
            reasons=lacking,
            named=hypotheses.headline in band.n,
            unseen=unseen_share(min(sizes[a], sizes[b]), hypotheses.confidence),
        )
        for (a, b), band, lacking in zip(hypotheses.pairs, bands, reasons, strict=True)
    ]
    return Contrasts(tuple(contrasts), method)


def band_differences(
    pairs: Sequence[Pair], n: IntArray, curves: Mapping[int, tuple[FloatArray, FloatArray, FloatArray]]
) -> list[Band]:
    """Bands of pairs from value, low and high of each family: what holds for the families holds for differences."""
    bands = []
    for a, b in pairs:
        (value_a, low_a, high_a), (value_b, low_b, high_b) = curves[a], curves[b]
        bands.append(Band.of(n, value_a - value_b, low_a - high_b, high_a - low_b))
    return bands


def undefined(pair: Pair, n_trials: tuple[int, int], hypotheses: Hypotheses, reason: str) -> Contrast:
    """A pair that cannot be compared at all."""
    nowhere = Band.at_one_budget(1, math.nan, math.nan, math.nan, 0, math.nan)
    return contrast_of(hypotheses, pair, n_trials, nowhere, basis="none", further=math.nan, reasons=(reason,))


@dataclass(frozen=True, eq=False)
class Difference:
    """A difference of two curves: one entry per budget, positive where the first family is better.

    ``certified`` is 1 or -1 where the first or the second is better at the stated confidence, else 0. Limits that do
    not exist are infinite, what cannot be compared is NaN, and ``reasons`` are the codes of why: those of `Contrast`,
    ``beyond-horizon`` (of exact bands), and those of averages over problems.
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
    reasons: tuple[str, ...] = ()
    basis: str | None = None
    """What ``certified`` rests on: that of `Contrast`."""
    p_value: FloatArray | None = None
    """Adjusted for everything tested together; NaN where there is no test."""

    @classmethod
    def of(
        cls,
        answers: Sequence[Contrasts],
        *,
        confidence: float,
        simultaneous: bool,
        paired: bool,
        statistic: str,
        direction: str,
        n_trials: tuple[int, int] | None = None,
    ) -> Difference:
        """Of the first pair, from answers at successive budgets."""
        pairs = [answer.pairs[0] for answer in answers]
        return cls(
            **{name: np.concatenate([getattr(pair, name) for pair in pairs]) for name in _COLUMNS},
            method=answers[0].method,
            confidence=confidence,
            simultaneous=simultaneous,
            paired=paired,
            n_trials=n_trials or pairs[0].n_trials,
            statistic=statistic,
            direction=direction,
            reasons=tuple(dict.fromkeys(reason for pair in pairs for reason in pair.reasons)),
            basis=pairs[0].basis,
        )

    def at(self, places: IntArray) -> Difference:
        """At some of the budgets, in any order."""
        return replace(self, **{name: getattr(self, name)[places] for name in _COLUMNS})

    def __str__(self) -> str:
        rows = zip(self.n, self.difference, self.low, self.high, strict=True)
        shown = [f"n = {n}: {d:.4g} [{low:.4g}, {high:.4g}]" for n, d, low, high in rows]
        head = (
            f"difference of the {self.statistic} curves of {self.n_trials[0]} and {self.n_trials[1]} trials"
            f"{', paired' * self.paired}, {100 * self.confidence:g} % "
            f"{'simultaneous' if self.simultaneous else 'pointwise'} {self.method} band"
        )
        return "; ".join([head, *shown, *self.reasons])


def check_pairing(families: Sequence[Sample]) -> None:
    """A paired design has one trial of each family per pair."""
    sizes = sorted({family.n_trials for family in families})
    if len(sizes) > 1:
        raise InputError(
            f"a paired design needs as many trials in each family, got {' and '.join(map(str, sizes))}; keep the pairs "
            "that both families have, or compare unpaired"
        )
