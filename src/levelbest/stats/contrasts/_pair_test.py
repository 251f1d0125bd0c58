"""One pair of a question: what it is tested by, and the limits of its differences.

From `FEW` trials on the limits are a bootstrap's (`_search_limits`); with fewer there is too little to resample, and
Student's t with Satterthwaite's degrees of freedom serves, shared out over the few budgets there are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from levelbest._check import FloatArray, IntArray
from levelbest.stats.best import Sample, expected_best
from levelbest.stats.contrasts._contrast import VERDICTS, Band, Contrast, Pair, Question, contrast_of
from levelbest.stats.contrasts._dealings import Dealings, across, cells_of, least_p
from levelbest.stats.contrasts._families import Families, half_of
from levelbest.stats.contrasts._means import FEWEST, further_trials
from levelbest.stats.contrasts._search_limits import (
    DECIDED,
    SHOWN,
    WIDER,
    Limits,
    Measured,
    best_tie,
    blended,
    bounds_serve,
    gaffke_differences,
)

FEW = 8

BoolArray = npt.NDArray[np.bool_]


class Alone(NamedTuple):
    """One budget of a pair by itself."""

    difference: float
    low: float
    high: float
    p_value: float
    allowed: bool
    """Whether limits from the bounds, which have no p-values, let a verdict pass."""


@dataclass(eq=False)
class PairTest:
    """A pair at the budgets it is compared at."""

    families: Families
    pair: Pair
    question: Question
    n: IntArray
    """Those inside half the trials of the smaller family."""
    resampled: Measured | None = None
    """Drawn once for the verdicts, whatever the seed; None where no verdict can depend on it."""

    def __post_init__(self) -> None:
        first, second = (self.families.samples[f].n_trials for f in self.pair)
        self.n_trials = first, second
        self.nodes = self.families.nodes[: self.families.inside(self.pair)]
        self.cells = cells_of(self.n, self.nodes)
        self.difference, self.error, self.freedom = self.families.at(self.pair, self.n)
        self.few = min(self.n_trials) < FEW
        self.level = (1 - self.question.confidence) / len(self.question.pairs)
        least = least_p(self.n_trials, paired=self.families.paired)
        self.dealings = (
            Dealings(self.families, self.pair, self.level, self.question.roughly) if least <= self.level else None
        )
        self._dealt: dict[int, FloatArray] = {}  # by the number of dealings
        self.bounded = bounds_serve(self.families, self.pair, self.question.bounds)

    @property
    def basis(self) -> str:
        """What a verdict leans on."""
        return "t" if self.dealings is None else "permutation"

    @cached_property
    def t(self) -> FloatArray:
        """The studentised difference at each budget; 0 where nothing varies."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.error > 0, self.difference / self.error, 0.0)

    def measured(self, t: FloatArray) -> Measured:
        """Resampled t at the nodes, measured for the pair's share of the error."""
        return Measured.of(t, self.level, min(self.n_trials) - 1.0)

    # ---- verdicts over all budgets

    def dealt_p(self) -> FloatArray:
        """From dealing trials anew; 0 where that cannot reach the level."""
        if self.dealings is None:
            return np.zeros(self.n.size)
        drawn = self.dealings.drawn
        if drawn not in self._dealt:
            self._dealt = {drawn: self.dealings.p_values(self.t, self.n, self.nodes, self.cells)}
        return self._dealt[drawn]

    def settle(self, at: int) -> None:
        """Deal until neither whether the pair differs at all nor its verdict at place ``at`` can change."""
        if self.dealings is not None:
            self.dealings.settle(self.t, self.n, self.nodes, self.cells, at)

    def p_values(self) -> FloatArray:
        """Step-down over budgets: what dealing anew says, where the limits of unequal laws say no less."""
        dealt = self.dealt_p()
        if self.few:
            each = 2 * scipy.special.stdtr(self.freedom, -np.abs(self.t))
            return np.asarray(np.maximum(dealt, np.minimum(self.nodes.size * each, 1.0)))
        if self.resampled is None or self.bounded:
            return dealt
        limits = self.resampled.p_values(self.t, self.n, self.nodes, self.cells) / DECIDED
        return np.maximum(dealt, np.minimum(limits, 1.0))

    def allowed(self, base: int) -> BoolArray:
        """Where limits from the bounds, which have no p-values, let a verdict pass."""
        if not self.bounded or self.few or self.resampled is None:
            return np.ones(self.n.size, dtype=bool)
        low, high = self.limits(self.resampled, base, DECIDED)
        return np.asarray((low > 0) | (high < 0))

    # ---- limits

    def limits(self, resampled: Measured | None, base: int, share: float = SHOWN) -> Limits:
        """Of the difference at every budget together with the other pairs'; none where nothing varies."""
        if resampled is None:
            below = above = -scipy.special.stdtrit(self.freedom, self.level / (2 * self.nodes.size))
        else:
            below, above = resampled.reach(self.n, self.nodes, share * self.level)
        known, d = self.error > 0, self.difference
        low, high = np.where(known, d - below * self.error, -np.inf), np.where(known, d + above * self.error, np.inf)
        return self._blended((low, high), self.n, base) if self.bounded and resampled is not None else (low, high)

    def _blended(self, limits: Limits, n: IntArray, base: int) -> Limits:
        """With those from the bounds."""
        bounded = self.gaffke(n, WIDER * self.level, base, alone=False)
        return blended(limits, bounded, n, min(self.n_trials), tied=best_tie(self.families, self.pair))

    def gaffke(self, n: IntArray, level: float, base: int, *, alone: bool) -> Limits:
        """Limits from the bounds of the score, alone or with what the trials show, for all of ``n`` together."""
        worst, best = self.question.bounds
        assert worst is not None
        assert best is not None
        nodes = self.nodes if n.size > 1 else n
        low, high = gaffke_differences(self.families, self.pair, nodes, (worst, best), level, base, alone=alone)
        at_nodes, at_all = (self.families.at(self.pair, budgets)[0] for budgets in (nodes, n))
        return at_all + across(n, nodes, low - at_nodes), at_all + across(n, nodes, high - at_nodes)

    # ---- one budget alone

    def alone(self, n: int, resampled: FloatArray | None, base: int) -> Alone:
        """At a budget named in advance, with the pair's share of the error.

        A difference of means has Welch's limits, that of bests of several trials the bootstrap's (``resampled``, t at
        the nodes).
        """
        at = np.array([n])
        (difference,), (error,), (freedom,) = self.families.at(self.pair, at)
        if error == 0:
            return Alone(difference, -np.inf, np.inf, 1.0, allowed=False)
        node, t = int(np.searchsorted(self.nodes, n)), difference / error
        if n == 1 or resampled is None:
            p_value = float(2 * scipy.special.stdtr(freedom, -abs(t)))
            down, up = (scipy.special.stdtrit(freedom, tail) for tail in (self.level / 2, 1 - self.level / 2))
        else:
            row = resampled[node]
            beyond = min(np.count_nonzero(row >= t), np.count_nonzero(row <= t))
            p_value = min(1.0, 2 * (1 + beyond) / (row.size + 1))
            down, up = np.quantile(row, [self.level / 2, 1 - self.level / 2])
        limits = np.array([difference - up * error]), np.array([difference - down * error])
        allowed = True
        if self.bounded:
            limits = self._blended(limits, at, base)
            allowed = bool(limits[0][0] > 0 or limits[1][0] < 0)
        dealt = 0.0 if self.dealings is None else self.dealings.p_alone(t, node)
        return Alone(difference, float(limits[0][0]), float(limits[1][0]), max(dealt, p_value), allowed)

    def critical(self, n: int, *, alone: bool) -> float:
        """The |t| at a budget that would be certified, for planning."""
        at = np.array([n])
        freedom = self.families.at(self.pair, at)[2]
        node = int(np.searchsorted(self.nodes, n))
        budgets = 1 if alone else self.nodes.size
        if self.few or alone or self.resampled is None:
            limits = -float(scipy.special.stdtrit(freedom, self.level / (2 * (budgets if self.few else 1)))[0])
        else:
            limits = float(np.mean([side[0] for side in self.resampled.reach(at, self.nodes, DECIDED * self.level)]))
        if self.dealings is None:
            return limits
        if alone:
            return max(limits, float(np.quantile(self.dealings.null[node], 1 - self.level)))
        return max(limits, float(self.dealings.critical(at, self.nodes, self.level)[0]))

    def decisive(self, at: int, moved: FloatArray) -> tuple[float, float]:
        """t at place ``at`` with all differences moved by so much, and the least that would be a verdict for the first
        family there, were all t larger or smaller in proportion: for planning. NaN where t is not above 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(self.error > 0, (self.difference + moved) / self.error, 0.0)
        if not t[at] > 0:
            return float(t[at]), math.nan
        where, factor = (t, self.n, self.nodes, self.cells, at), 0.0
        if self.resampled is not None and self.bounded:
            low, _ = self.limits(self.resampled, VERDICTS, DECIDED)
            factor = float((self.difference[at] - low[at]) / self.error[at] / t[at])
        elif self.resampled is not None:
            factor = self.resampled.decisive_factor(*where, DECIDED * self.level)
        if self.dealings is not None:
            factor = max(factor, self.dealings.decisive_factor(*where, factor))
        return float(t[at]), float(factor * t[at])

    # ---- what there is to say

    def band(self, n: IntArray, limits: Limits, certified: IntArray, p_values: FloatArray) -> Band:
        """All budgets of the question: past half the trials estimates only, past all of them nothing."""
        inside = self.n.size
        low, high, p_value = np.full((3, n.size), math.nan)
        low[:inside], high[:inside], p_value[:inside] = *limits, p_values
        difference = np.empty(n.size) if inside == n.size else _estimates(self.families.samples, self.pair, n)
        difference[:inside] = self.difference
        verdicts = np.zeros(n.size, dtype=np.int64)
        verdicts[:inside] = certified
        return Band(n, difference, low, high, verdicts, p_value)

    def further(self, n: int, *, alone: bool) -> float:
        """Further trials of each family that would decide at one budget in four of five cases."""
        if n > self.nodes[-1]:
            return math.nan
        at = np.array([n])
        (difference,), (error,), _ = self.families.at(self.pair, at)
        if error == 0:
            return math.nan
        first, second = (self.families.side_at(f, at)[1][0] for f in self.pair)
        now = self.critical(n, alone=alone)
        last = -float(scipy.special.ndtri(self.level / (2 if alone else 4)))  # among very many, as plans guess first
        if self.families.paired:  # as planned for
            first, second, last = error**2 / 2, error**2 / 2, now
        return further_trials(difference, (first, second), self.n_trials, (now, last))

    def reasons(self, n: IntArray) -> tuple[str, ...]:
        """What the limits lack."""
        lacking = {
            "no-spread": (self.error == 0).any(),
            "beyond-half": self.n.size < n.size,
            "unsettled": self.dealings is not None and self.dealings.unsettled,
        }
        return tuple(reason for reason, holds in lacking.items() if holds)


def _estimates(samples: Sequence[Sample], pair: Pair, n: IntArray) -> FloatArray:
    a, b = (samples[f] for f in pair)
    difference = np.full(n.size, math.nan)
    known = n <= min(a.n_trials, b.n_trials)
    if known.any():
        curves = [np.asarray(expected_best(sample.selection, n[known], sample.reported)) for sample in (a, b)]
        difference[known] = curves[0] - curves[1]
    return difference


def uncompared(samples: Sequence[Sample], pair: Pair, n: IntArray, question: Question) -> Contrast:
    """A pair that has no limits at any budget."""
    sizes = samples[pair[0]].n_trials, samples[pair[1]].n_trials
    few = min(sizes) < FEWEST
    open_ = np.where((n <= max(half_of(*sizes), 1)) & few, math.inf, math.nan)
    return contrast_of(
        question,
        pair,
        sizes,
        Band.of(n, _estimates(samples, pair, n), -open_, open_),
        basis="none",
        further=float(FEWEST - min(sizes)) if few else math.nan,
        reasons=("few-trials",) if few else ("beyond-half",),
    )


def from_bounds(test: PairTest, n: IntArray) -> Contrast:
    """Limits and verdicts that need the bounds of the score and no other assumption."""
    question, known = test.question, None not in test.question.bounds
    everywhere = np.full(test.n.size, math.inf)
    low, high = test.gaffke(test.n, test.level, VERDICTS, alone=True) if known else (-everywhere, everywhere)
    inside = Band.of(test.n, test.difference, low, high)
    band, deciding = test.band(n, (low, high), inside.certified, inside.p_value), inside
    named = known and question.headline is not None and question.headline <= test.nodes[-1]
    if named:
        at = np.array([question.headline])
        deciding = Band.of(at, np.zeros(1), *test.gaffke(at, test.level, VERDICTS, alone=True))
        band = band.with_named(deciding)
    return contrast_of(
        question,
        test.pair,
        test.n_trials,
        band,
        basis="gaffke",
        further=0.0 if deciding.certified[0] else math.nan,
        reasons=(*(() if known else ("no-bounds",)), *test.reasons(n)),
        named=named,
    )
