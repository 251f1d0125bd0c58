"""Curves as results: numbers with their provenance, and the words of the design that they are of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest._plain import Frame, as_frame, plain, rows_of
from levelbest._shown import Documented, Drawn, presenter
from levelbest.cautions import Caution
from levelbest.errors import InputError
from levelbest.results.variance import FamilyVariance
from levelbest.stats.bands import Interval, Rule
from levelbest.stats.budgets import CostCurve
from levelbest.stats.problems import GroupBest


@dataclass(frozen=True)
class DesignWords:
    """What a design calls the things it counts. `levelbest.report` writes every sentence, table and figure with these
    words and never asks which design it is. The defaults are those of independent trials.

    Parameters
    ----------
    unit, units
        What a budget counts, and its plural where that is not the word with an s.
    part
        What is run and can fail, where a unit consists of several: the runs of a configuration.
    single
        How the only budget is named, where the question is about one further unit: ``a new run``.
    group
        What the units are samples of, where values are averaged over such groups: ``problem``.
    exchanged
        What is exchanged between the families under equal distributions, in the plural, where that is not the unit.
    drawn
        How n units are chosen, where that has to be said: ``drawn at random``.
    judged
        What a unit is judged by, where that is not its score: ``by the mean over its runs``.
    about, scope
        What else the confidence is about, as a code and in words: ``valid at every look``. Over problems ``problems``
        that these stand for, or the ``suite``, these very ones.
    unchecked, badge
        What is said of scores that no other score confirms, in a sentence and in a mark beside the title.
    measure
        What the best of n is called, where it has a name: ``pass@{n}``. Without ``{n}`` nothing is chosen.
    winner
        What the score of the best unit observed is called in a table.
    repeated
        What more of would decide, where it is neither the unit nor the group: ``search``.
    ran, estimated
        Two sentences for a methods paragraph: what was run and is reported, and how values are estimated. The names in
        braces are filled in: ``many``, ``each``, ``unit``, ``units``, ``families``, ``systems``, ``score``, ``column``,
        ``drawn``, ``groups``, ``runs``, ``searches`` and ``ties``.
    """

    unit: str = "trial"
    units: str = ""
    part: str = ""
    single: str = ""
    group: str = ""
    exchanged: str = ""
    drawn: str = ""
    judged: str = ""
    about: str = ""
    scope: str = ""
    unchecked: str = "validation only"
    badge: str = "validation only"
    measure: str = ""
    winner: str = "observed best"
    repeated: str = ""
    ran: str = (
        "We ran {many} {units}{each} of {families} and report {score} as a function of the number of {units} n{drawn} "
        "[1, 2]."
    )
    estimated: str = "Expected values are the unbiased estimate over all subsets of n {units} [3]; {ties}."

    def __post_init__(self) -> None:
        object.__setattr__(self, "units", self.units or f"{self.unit}s")
        object.__setattr__(self, "part", self.part or self.unit)
        object.__setattr__(self, "exchanged", self.exchanged or (f"{self.group}s" if self.group else self.units))

    @property
    def parts(self) -> str:
        """The plural of what can fail."""
        return f"{self.part}s" if self.in_parts else self.units

    @property
    def in_parts(self) -> bool:
        """Whether a unit consists of several parts, which fail one by one."""
        return self.part != self.unit

    @property
    def planned(self) -> str:
        """What more of would decide: groups, where there are any."""
        return self.repeated or self.group or self.unit

    def best_of(self, n: object) -> str:
        """``best of 5``, or what it is called: ``pass@5``."""
        return self.measure.format(n=n) if self.measure else f"best of {n}"

    def count(self, n: object, number: str = "") -> str:
        """``1 trial``, ``3 trials``; ``number`` is how the number is written, where not in digits.

        Examples
        --------
        >>> DesignWords(unit="search", units="searches").count(2)
        '2 searches'
        """
        return f"{number or format(n, '')} {self.unit if n == 1 else self.units}"


TRIALS = DesignWords()


class OverBudgets:
    """What results over budgets have in common: what a budget counts."""

    words: DesignWords
    axis: str

    @property
    def unit(self) -> str:
        """The word for what a budget counts: ``trial``, ``run``, ``sample``."""
        return self.words.unit

    @property
    def over_cost(self) -> bool:
        """Whether budgets are costs."""
        return self.axis == "cost"


@dataclass(frozen=True)
class Noise(Documented):
    """The two margins of error of one family's mean over problems at n = 1: half of each pointwise interval."""

    family: str
    value: float
    problems: float
    """For other problems like these."""
    suite: float
    """For exactly these problems; NaN where their samples are not held."""


@dataclass(frozen=True, eq=False)
class Stratum(Documented):
    """The problems of one stratum: their curve, with limits over them alone."""

    label: str
    best: GroupBest
    limits: Interval


@dataclass(frozen=True, eq=False)
class Curve(Drawn):
    """One family's best score as a function of the budget. Prints as a sentence; ``to_dict`` is its JSON form."""

    family: str
    n: IntArray
    value: FloatArray
    low: FloatArray
    high: FloatArray
    spread: FloatArray
    """Plug-in standard deviation of the best itself ([D] 3.3), over problems that of their values: not an error."""
    cost: FloatArray | None
    """n times the mean cost of a trial ([D])."""
    statistic: str
    estimator: str
    direction: str
    selection: str
    reported: str | None
    cost_unit: str | None
    method: str
    confidence: float
    simultaneous: bool
    rule: Rule
    n_trials: int
    n_failed: int
    n_running: int
    failed: str
    horizon: int | None
    seed: int | None
    unseen: float | None = None
    """The largest share of outcomes that these trials may have missed altogether, at the stated confidence (the rule
    of three): limits that lean on what was seen say nothing of them. None where limits need no such thing."""
    cautions: tuple[Caution, ...] = ()
    problems: GroupBest | None = None
    """The same by problem, where samples belong to problems (``group``)."""
    strata: tuple[Stratum, ...] = ()
    """The same for the problems of each stratum, where they are divided."""
    noise: Noise | None = None
    """Where samples belong to problems: how uncertain the mean is, for other problems and for these."""
    words: DesignWords = TRIALS
    """What n counts: trials, samples of a problem, configurations with their runs, points of a grid."""
    n_runs: int | None = None
    """How many runs there are, where a unit is a configuration with several."""
    observed: tuple[float, float] | None = None
    """The least and the greatest score of a trial."""
    new_run: FloatArray | None = None
    """There, the expected score of a new run of the best configuration; the mean that made it win is optimistic."""
    hue: int | None = None
    """The place of the family's colour in the palette (`levelbest.trials.colours`); None: the next free one."""
    variance: FamilyVariance | None = None
    """There, how much of the variance between runs comes from configurations and from seeds."""

    @property
    def unit(self) -> str:
        """The word for what n counts."""
        return self.words.unit

    @property
    def score(self) -> str:
        """The column this is a curve of."""
        return self.reported or self.selection

    def at(self, n: int) -> int:
        """The position of budget ``n``."""
        places = np.flatnonzero(self.n == n)
        if not places.size:
            raise InputError(f"the curve of {self.family} has no point at n = {n}; ask for it with n=")
        return int(places[0])

    def point(self, budget: float) -> tuple[float, float, float, float]:
        """Budget, value, low and high at the largest budget of the curve that is no larger."""
        at = max(int(np.searchsorted(self.n, budget, side="right")) - 1, 0)
        return float(self.n[at]), float(self.value[at]), float(self.low[at]), float(self.high[at])

    def sentence(self, n: int | None = None) -> str:
        """What can be said of one budget (default: the largest), ready for a paper."""
        return presenter().sentences(self, n)[0]

    def __repr__(self) -> str:
        closed = np.flatnonzero(np.isfinite(self.low) & np.isfinite(self.high))
        last = closed[-1] if closed.size else self.n.size - 1
        value = f"{self.value[last]:.4g} [{self.low[last]:.4g}, {self.high[last]:.4g}]"
        return f"Curve({self.family}: {self.statistic} of the best {self.score} of {self.n[last]} = {value})"

    def to_frame(self) -> Frame:
        """One row per budget, as a dataframe of pandas where it is installed, else of polars."""
        return CurveSet((self,)).to_frame()


class CurveSet(Drawn, tuple[Curve, ...]):
    """The curves of several families: a tuple that notebooks show as one figure."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"CurveSet({', '.join(curve.family for curve in self)})"

    def to_frame(self) -> Frame:
        """One row per family and budget, as a dataframe of pandas where it is installed, else of polars."""
        columns: dict[str, list[object]] = {"family": [curve.family for curve in self for _ in curve.n]}
        for name in ("n", "value", "low", "high", "spread", "new_run", "cost"):
            values = [getattr(curve, name) for curve in self]
            if any(column is not None for column in values):
                nowhere = [np.full(curve.n.size, np.nan) for curve in self]
                known = [blank if column is None else column for column, blank in zip(values, nowhere, strict=True)]
                columns[name] = np.concatenate(known).tolist()
        return as_frame(columns)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FamilyCostCurve(Drawn, CostCurve):
    """One family's expected best score within budgets of cost, and what was run for it."""

    family: str
    cost_unit: str | None
    score: str
    n_failed: int
    failed: str
    seed: int | None
    cautions: tuple[Caution, ...] = ()
    words: DesignWords = TRIALS
    hue: int | None = None
    """The place of the family's colour in the palette; None: the next free one."""

    def point(self, budget: float) -> tuple[float, float, float, float]:
        """Budget, value, low and high at the largest budget of the curve that is no larger."""
        at = max(int(np.searchsorted(self.budget, budget * (1 + 1e-9), side="right")) - 1, 0)
        return float(self.budget[at]), float(self.value[at]), float(self.low[at]), float(self.high[at])

    def sentence(self) -> str:
        """What can be said of the largest budget, ready for a paper."""
        return presenter().sentences(self)[0]

    def __repr__(self) -> str:
        budget, value, low, high = self.point(float(self.budget[-1]))
        limits = f"[{low:.4g}, {high:.4g}]"
        return f"FamilyCostCurve({self.family}: best {self.score} within {budget:g} = {value:.4g} {limits})"

    def to_frame(self) -> Frame:
        """One row per budget, as a dataframe of pandas where it is installed, else of polars."""
        return CostCurveSet((self,)).to_frame()

    @property
    def points(self) -> list[dict[str, object]]:
        """One row per budget."""
        rows = rows_of(
            cost=self.budget,
            value=self.value,
            low=self.low,
            high=self.high,
            mean_cost_value=self.mean_cost_value,
            nothing_finished=self.nothing_finished,
            n_mean=self.trials_finished,
            monte_carlo_error=self.monte_carlo_error,
        )
        return [plain({"n": None, "spread": None} | row) for row in rows]


class CostCurveSet(Drawn, tuple[FamilyCostCurve, ...]):
    """The curves of several families over budgets of cost."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"CostCurveSet({', '.join(curve.family for curve in self)})"

    def to_frame(self) -> Frame:
        """One row per family and budget, as a dataframe of pandas where it is installed, else of polars."""
        rows = [{"family": curve.family, **row} for curve in self for row in curve.points]
        return as_frame({key: [row[key] for row in rows] for key in rows[0]})


@dataclass(frozen=True, eq=False)
class VerifierEffect:
    """The effect of selecting by a verifier, between a random pick and an oracle."""

    family: str
    n: IntArray
    oracle: FloatArray
    """The best reported score of n samples: pass@k for 0/1 scores. No verifier can do better."""
    verifier: FloatArray
    random: FloatArray
    """One sample, whatever n is."""

    @property
    def gained(self) -> FloatArray:
        """The share of the possible gain over a random pick that the verifier brings; NaN where none is possible."""
        room = self.oracle - self.random
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(np.abs(room) > 1e-12, (self.verifier - self.random) / room, np.nan)
