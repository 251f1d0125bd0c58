"""The decision, for every design, in five sentences.

1. A design names its units and the curve that a family's units give; the difference of two curves is divided by its
   jackknife error over units.
2. Equal distributions: units are exchanged between the families (`_exchange`), and the largest |t| over the budgets,
   stepping down, gives an exact p-value.
3. Unequal distributions: Student's t with effective degrees of freedom, at the part of the level that each budget
   spends, and draws of the units' weights with one unit that was not observed (`_draws`), must both exclude zero.
4. A winner is named where both say so; of several families by closed testing, a pair being decided where every set of
   families that contains it is rejected (`_families`).
5. A budget named in advance is tested first, with all of the error; the others are tested where it decides all pairs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy

from levelbest._check import BoolArray, Bounds, FloatArray, IntArray
from levelbest.stats.bands import local_level, order_statistic
from levelbest.stats.best import unseen
from levelbest.stats.inference._draws import Draws
from levelbest.stats.inference._exchange import LEAST_BEYOND, Exchange
from levelbest.stats.inference._families import closed, levels_of, planned_levels
from levelbest.stats.inference._hypotheses import Band, Contrast, Contrasts, Hypotheses, Pair, contrast_of, excluded
from levelbest.stats.inference._power import Needed, Pilot
from levelbest.stats.inference._suite import SuiteUnits
from levelbest.stats.inference._tasks import StratifiedUnits
from levelbest.stats.inference._trials import TrialUnits, student_p
from levelbest.stats.inference._units import Units, across

FEWEST_UNITS = 3
"""Units of a family from which on a comparison has limits."""
VETO = 3.0
# NOTE: draws must exclude zero at this multiple of the pair's level. The unobserved unit shifts them by about half a
# standard error: at 1 they cost up to .20 of power at a budget named in advance (20 trials each, .8 sd), at 2 .06, at 3
# .02. A larger one lets more of the failures pass that a family shows once or never (docs/coverage-verdicts.md).
SHOWN = 0.5
# NOTE: over several budgets the limits shown use this part of the level: with unequal skewed distributions of 20 to 50
# trials all of it covers .90 over all budgets, and half of it .93 to .95. It changes no verdict: used there too, it
# would cost .14 of power where 10 trials meet 100.


def decide(
    units: Units, n: IntArray, hypotheses: Hypotheses, *, few: str = "few-trials", fewest: int = FEWEST_UNITS
) -> tuple[Contrast, ...]:
    """Every pair: its difference, limits and verdict at each budget.

    Parameters
    ----------
    units
        Of all families, exchanged at nodes of ``n``.
    n
        Budgets, increasing.
    hypotheses
        Pairs, confidence, bounds, a budget named in advance and the difference worth having.
    few, fewest
        The code for families with fewer units than this, which have no limits.
    """
    usable = tuple(
        pair for pair in hypotheses.pairs if min(units.sizes_of(pair)) >= fewest and n[0] <= units.reach(pair)
    )
    judged: dict[Pair, Contrast] = {}
    if usable:
        named = _named(units, usable, hypotheses)
        judged = _judged(units, n, usable, hypotheses, named)
    return tuple(judged.get(pair) or _uncompared(units, pair, n, hypotheses, few, fewest) for pair in hypotheses.pairs)


def _named(units: Units, pairs: Sequence[Pair], hypotheses: Hypotheses) -> dict[Pair, Contrast] | None:
    """Each pair at the budget named in advance, by itself; None where none was named."""
    headline = hypotheses.headline
    if headline is None:
        return None
    inside = tuple(pair for pair in pairs if headline <= units.reach(pair))
    if not inside or units.nodes.size == 1:
        return {} if not inside else None
    alone = replace(hypotheses, headline=None, shown=None)
    return _judged(units.at(headline), np.array([headline]), inside, alone, None)


def _judged(
    units: Units,
    n: IntArray,
    pairs: Sequence[Pair],
    hypotheses: Hypotheses,
    named: dict[Pair, Contrast] | None,
) -> dict[Pair, Contrast]:
    alpha = 1 - hypotheses.confidence
    levels = levels_of(units, pairs, len(hypotheses.pairs), alpha)
    tests = {pair: PairTest(units, pair, hypotheses, n[n <= units.reach(pair)], levels.pair) for pair in pairs}
    if hypotheses.method == "gaffke":
        certified = {pair: excluded(*test.bounded_limits()) for pair, test in tests.items()}
        p_values, decisive = {pair: np.full(test.n.size, math.nan) for pair, test in tests.items()}, tests
        planned = dict.fromkeys(tests, levels.pair)
    else:
        certified, p_values, decisive = closed(units, tests, levels, alpha)
        planned = planned_levels(tests, levels, alpha)
    open_ = named is None or (len(named) == len(hypotheses.pairs) and all(test.certified[0] for test in named.values()))
    judged = {}
    for pair, test in tests.items():
        decided = certified[pair] if open_ else np.zeros_like(certified[pair])
        first = None if named is None else named.get(pair)
        judged[pair] = test.contrast(n, decided, p_values[pair], first, planned[pair], decisive[pair])
    return judged


@dataclass(eq=False)
class PairTest:
    """One pair at the budgets within its reach."""

    units: Units
    pair: Pair
    hypotheses: Hypotheses
    n: IntArray
    level: float
    """The pair's share of the error."""
    like: PairTest | None = None
    """The same test at another level."""

    def __post_init__(self) -> None:
        self.measured = self.units.measured(self.pair)
        self.evidence = self.measured.evidence(self.pair, self.n)
        self.nodes = self.units.nodes[: self.units.inside(self.pair)]
        self.at_nodes = self.units.evidence(self.pair, self.nodes).difference
        statistic = self.units.observed(self.pair, self.n)[None]
        self.alone = (
            student_p(self.evidence.t, self.evidence.freedom) if self.units.studentised else np.zeros(self.n.size)
        )
        like = None if self.like is None else self.like.exchange
        self.exchange: Exchange = Exchange(self.units, self.pair, self.n, statistic, self.level, like=like)
        self.towards_winner = self.units.skew(self.pair)[self.exchange.cells] * self.evidence.difference > 0

    def without_others(self, level: float) -> PairTest:
        """The same pair by itself, at another level."""
        units, pair = self.units.without_others(self.pair, self.n, self.hypotheses.headline)
        return PairTest(units, pair, self.hypotheses, self.n, level, self if units is self.units else None)

    @property
    def basis(self) -> str:
        """What a verdict leans on."""
        if self.hypotheses.method == "gaffke":
            return "gaffke"
        return self.units.exchange if self.exchange.reachable else "t" if self.units.studentised else "none"

    @property
    def place(self) -> int:
        """Of the budget whose verdict must be decided, beside the least p-value."""
        return min(self.hypotheses.place_shown(self.n), self.n.size - 1)

    @cached_property
    def exchanged(self) -> FloatArray:
        """P-values of equal distributions; 0 where no exchange can reach the level and Student's t decides alone."""
        if self.exchange.reachable:
            return self.exchange.p_values((self.place,), self._student_passes)
        return np.zeros(self.n.size) if self.units.studentised else np.ones(self.n.size)

    def student(self, n_pairs: int) -> FloatArray:
        """P-values of Student's t at each budget, for all budgets and so many pairs together.

        Budgets share the error by what the exchange says each spends.
        """
        _ = self.exchanged  # which measures the shares
        return np.minimum(self._student(self.exchange.local_share, n_pairs), 1.0)

    def _student(self, share: FloatArray, n_pairs: float) -> FloatArray:
        """From the part of the level that each budget spends.

        P-values are multiplied by the number of pairs. With few effective degrees of freedom this asks far more of |t|
        than at a single trial: the far tail of Student's t is that of a small sample whose standard error happened to
        be tiny. Where the difference is skewed towards the winner it is not: units that made it large by chance made
        the standard error large as well. There the limit is widened by the same factor as at a single trial.
        """
        counted = np.full(self.n.size, n_pairs, dtype=np.float64)
        if n_pairs > 1 and self.towards_winner.any():
            freedom, tail = self.evidence.freedom, (1 - self.hypotheses.confidence) * share / 2
            most = freedom.max()
            wider = scipy.special.stdtrit(most, tail / n_pairs) / scipy.special.stdtrit(most, tail)
            beyond = scipy.special.stdtr(freedom, wider * scipy.special.stdtrit(freedom, tail))
            counted = np.where(self.towards_winner, tail / beyond, counted)
        return np.asarray(counted * self.alone / share)

    def _student_passes(self, share: FloatArray) -> BoolArray:
        alpha = 1 - self.hypotheses.confidence
        return np.asarray(self._student(share, alpha / self.level) <= alpha)

    @property
    def equal_p(self) -> float:
        """The least p-value of equal distributions over the budgets; NaN where no exchange reaches the level."""
        if not self.exchange.reachable:
            return math.nan
        least = 0.0 if self.exchange.exact else 1 / (self.exchange.drawn + 1)
        return max(float(self.exchange.p_values().min()), least)

    def p_values(self, n_pairs: int) -> FloatArray:
        """Among so many pairs: of equal distributions, where Student's t says no less."""
        return np.minimum(np.maximum(n_pairs * self.exchanged, self.student(n_pairs)), 1.0)

    @cached_property
    def allowed(self) -> BoolArray:
        """Where the draws of unequal distributions exclude zero."""
        return np.asarray((excluded(*self.drawn_limits) != 0) & (self.evidence.error > 0))

    @cached_property
    def drawn_limits(self) -> tuple[FloatArray, FloatArray]:
        """Limits from draws at `VETO` times the pair's level: at each budget, or for all of them together where no
        Student's t stands beside."""
        draws = self.measured.draws(self.pair)
        if not self.units.studentised:
            return self._together(draws, VETO * self.level)
        tail = max(VETO * self.level / 2, LEAST_BEYOND / draws.lower.shape[1])
        return self._carried(order_statistic(draws.lower, tail), order_statistic(draws.upper, 1 - tail))

    def _together(self, draws: Draws, level: float) -> tuple[FloatArray, FloatArray]:
        """Limits with one tail for all budgets and both sides."""
        tails = (local_level(side, level / 2, tails=way) for side, way in ((draws.lower, -1), (draws.upper, 1)))
        tail = max(min(tails), LEAST_BEYOND / draws.lower.shape[1] / 2)
        return self._carried(order_statistic(draws.lower, tail), order_statistic(draws.upper, 1 - tail))

    def bounded_limits(self) -> tuple[FloatArray, FloatArray]:
        """Limits that need the bounds of the score and no other assumption; infinite without bounds."""
        if None in self.hypotheses.bounds:
            everywhere = np.full(self.n.size, math.inf)
            return -everywhere, everywhere
        return self._all_budgets(self.measured.draws(self.pair, self.hypotheses.bounds))

    def _all_budgets(self, draws: Draws) -> tuple[FloatArray, FloatArray]:
        """Limits from draws at the pair's level, for all budgets together."""
        tail = self.level / 2
        return self._carried(
            order_statistic(draws.lower, local_level(draws.lower, tail, tails=-1)),
            order_statistic(draws.upper, 1 - local_level(draws.upper, tail, tails=1)),
        )

    def _carried(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """From the nodes to all budgets."""
        at_nodes, d = self.at_nodes, self.evidence.difference
        return d + across(self.n, self.nodes, low - at_nodes), d + across(self.n, self.nodes, high - at_nodes)

    def limits(self) -> tuple[FloatArray, FloatArray]:
        """Of the difference at every budget, together with the other pairs'; the wider of Student's and the draws'."""
        if self.hypotheses.method == "gaffke":
            return self.bounded_limits()
        if not self.units.studentised:
            return self._together(self.measured.draws(self.pair), self.level)
        shown = self.measured.shown_draws(self.pair, self.hypotheses.bounds)
        low, high = self.drawn_limits if shown is None else self._all_budgets(shown)
        d, error, freedom = self.evidence
        tail = self.exchange.local_share * self.level / 2 * (SHOWN if self.nodes.size > 1 else 1.0)
        finite = np.where(np.isfinite(freedom), freedom, 1e9)
        reach = -scipy.special.stdtrit(finite, tail) * error
        known = (error > 0) | (shown is not None and None not in self.hypotheses.bounds)
        low, high = np.minimum(low, d - reach), np.maximum(high, d + reach)
        return np.where(known, low, -np.inf), np.where(known, high, np.inf)

    def safe_limits(self, limits: tuple[FloatArray, FloatArray]) -> tuple[FloatArray, FloatArray]:
        """Limits that hold for what the units may not have shown, too, which takes bounds: no variance shows it."""
        bounded = self.bounded_limits()
        return np.minimum(limits[0], bounded[0]), np.maximum(limits[1], bounded[1])

    @property
    def planned(self) -> int:
        """The place of the budget that is planned for: that of the effect, or the one asked for as far as it goes."""
        if self.hypotheses.planned is None:
            return self.place
        most = min(self.hypotheses.planned, self.units.foreseen(self.pair))
        return max(int(np.searchsorted(self.n, most, side="right")) - 1, 0)

    def needed(self, level: float, *, decided: bool) -> Needed:
        """Units of each family that have the power wanted at the budget planned for, tested at a level."""
        place, hypotheses = self.planned, self.hypotheses
        n, (first, second) = int(self.n[place]), self.units.sizes_of(self.pair)
        requested = max(hypotheses.planned or n, n)
        d, error, freedom = (float(column[place]) for column in self.evidence)
        if not self.units.studentised or error == 0 or not math.isfinite(d):
            return Needed.unknown(hypotheses.confidence, n, hypotheses.power, (first, second))
        share = float(self.exchange.local_share[place]) * level
        critical = self._exchanged(place, level)
        named = level if self.nodes.size > 1 else math.nan
        variances, fewest = self.measured.variances(self.pair, n), self.units.fewest(n)
        pilot = Pilot(d, variances, (first, second), freedom, share, critical, fewest, named)
        return pilot.planned(hypotheses.power, hypotheses.confidence, n, requested, decided=decided)

    def _exchanged(self, place: int, level: float) -> float:
        """The |t| that as many exchanged units reach as often as the level says; 0 where too few are exchanged."""
        if not self.exchange.largest.size:
            return 0.0
        largest = self.exchange.quantile(max(level, LEAST_BEYOND / self.exchange.drawn))
        return largest * float(across(self.n[place : place + 1], self.nodes, self.exchange.scales[0])[0])

    def contrast(
        self,
        n: IntArray,
        certified: IntArray,
        p_values: FloatArray,
        named: Contrast | None,
        level: float,
        decisive: PairTest,
    ) -> Contrast:
        """All budgets: past the pair's reach estimates only. ``level``: what is planned with; ``decisive``: the test
        that the verdict rests on, whose share of the error may be larger than that of the limits."""
        inside, limits = self.n.size, self.limits()
        low, high, p_value = np.full((3, n.size), math.nan)
        low[:inside], high[:inside], p_value[:inside] = *limits, p_values
        difference = self.units.estimate(self.pair, n) if inside < n.size else self.evidence.difference.copy()
        difference[:inside] = self.evidence.difference
        verdicts, safe = np.zeros(n.size, dtype=np.int64), np.full((2, n.size), math.nan)
        verdicts[:inside] = certified
        if self.hypotheses.worth is not None:
            safe[:, :inside] = self.safe_limits(limits)
        band = Band(n, difference, low, high, verdicts, p_value)
        place, decided, needed = self.place, bool(certified[self.planned]), None
        if self.hypotheses.planned is not None or not decided:
            needed = self.needed(level, decided=decided)
        if named is not None:
            band = band.with_named(named)
            safe = np.where(n == named.n, np.stack([named.floor, named.ceiling]), safe)
            needed = named.needed
        first, second = self.units.sizes_of(self.pair)
        lacking = {
            "no-spread": bool((self.evidence.error == 0).any() and not np.isfinite(limits).all()),
            "no-bounds": self.hypotheses.method == "gaffke" and None in self.hypotheses.bounds,
            "beyond-half": inside < n.size,
            "unsettled": decisive.exchange.undecided,
        }
        reasons = [reason for reason, holds in lacking.items() if holds]
        return contrast_of(
            self.hypotheses,
            self.pair,
            (first, second),
            band,
            basis=decisive.basis,
            further=0.0 if needed is None else needed.further,
            needed=needed,
            reasons=tuple(dict.fromkeys([*reasons, *(() if named is None else named.reasons)])),
            named=named is not None or (self.hypotheses.headline is not None and self.units.nodes.size == 1),
            safe=(safe[0], safe[1]),
            reach=self.units.reach(self.pair),
            equal_p=self.equal_p,
            unseen=unseen(max(1, int(self.units.effective(self.pair, int(self.n[place])))), self.hypotheses.confidence),
        )


def _uncompared(units: Units, pair: Pair, n: IntArray, hypotheses: Hypotheses, few: str, fewest: int) -> Contrast:
    """A pair that has no limits at any budget."""
    first, second = units.sizes_of(pair)
    fewer = min(first, second)
    too_few, reach = fewer < fewest, units.reach(pair) if fewer else 0
    nowhere = np.where((n <= max(reach, 1)) & too_few, math.inf, math.nan)
    difference = units.estimate(pair, n) if fewer else np.full(n.size, math.nan)
    return contrast_of(
        hypotheses,
        pair,
        (first, second),
        Band.of(n, difference, -nowhere, nowhere),
        basis="none",
        further=float(fewest - fewer) if too_few else math.nan,
        reasons=(few,) if too_few else ("beyond-half",),
        reach=reach,
    )


def contrasts_of(pairs: Sequence[Contrast], hypotheses: Hypotheses) -> Contrasts:
    """With the name of the method."""
    return Contrasts(tuple(pairs), "gaffke" if hypotheses.method == "gaffke" else "exchange")


def curve_limits(
    units: TrialUnits | StratifiedUnits | SuiteUnits,
    f: int,
    confidence: float,
    *,
    simultaneous: bool,
    bounds: Bounds = (None, None),
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """One family's curve at the nodes within its reach, with the wider of Student's limits and the draws'.

    Simultaneous limits share the error by the draws: each node has the local level with which a share of them leaves
    the limits somewhere.
    """
    n = units.nodes[: units.inside((f,))]
    value, error, freedom = units.curve(f, n)
    draws, tail = units.family_draws(f, bounds), (1 - confidence) / 2
    if simultaneous and n.size > 1:
        tail = local_level((draws.lower + draws.upper) / 2, 1 - confidence)
    reach = -scipy.special.stdtrit(freedom, tail) * error
    low, high = order_statistic(draws.lower, tail), order_statistic(draws.upper, 1 - tail)
    return value, np.minimum(low, value - reach), np.maximum(high, value + reach)
