"""Plans and budgets to reach a score, as data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from levelbest._plain import Frame, as_frame, picked
from levelbest._shown import Documented, Drawn, Said, Shown, presenter
from levelbest.cautions import Caution
from levelbest.results.curve import TRIALS, Curve, DesignWords, FamilyCostCurve, OverBudgets
from levelbest.stats.budgets import Division, Needed
from levelbest.stats.problems import GroupPlan, SpendWay

Range = tuple[float, float, float]
"""A number with its limits."""


@dataclass(frozen=True)
class DividedRuns(Documented):
    """More configurations or more seeds: one family's runs divided one way or another."""

    family: str
    mean: float
    sign: float
    """1 where higher is better, else -1."""
    now: Division
    """As the runs are divided now."""
    ways: tuple[Division, ...]
    """The runs planned for, divided in other ways."""

    @property
    def precise(self) -> Division:
        """The way with the smallest standard error of the mean."""
        return min(self.ways, key=lambda way: way.error)

    @property
    def finding(self) -> Division:
        """The way whose best configuration is expected to be the best."""
        return max(self.ways, key=lambda way: way.new_run)

    def new_run(self, way: Division) -> float:
        """What a new run of the best configuration is expected to score."""
        return self.mean + self.sign * way.new_run

    def row(self, way: Division) -> dict[str, object]:
        """Plain values of one way."""
        return picked(way, "configurations", "seeds", "error") | {"new_run": self.new_run(way)}


@dataclass(frozen=True, eq=False)
class TrialPlan(Drawn):
    """How many more trials (or problems) are needed, and how far exact bands extend. Prints as sentences; its
    figure shows the probability of separating each pair against the cost."""

    widths: tuple[tuple[str, Needed], ...]
    separations: tuple[tuple[str, str, Needed], ...]
    problems: tuple[tuple[str, GroupPlan], ...]
    horizons: tuple[tuple[int, int], ...]
    """(number of trials, largest n at which the median curve has a limit on the side that is best)."""
    confidence: float
    power: float
    score: str
    seed: int | None
    cautions: tuple[Caution, ...] = ()
    unplanned: tuple[tuple[str, str, str], ...] = ()
    """(family, stratum, why): strata whose problems allow no plan."""
    words: DesignWords = TRIALS
    """What is planned: trials, or configurations with their runs."""
    divisions: tuple[DividedRuns, ...] = ()
    """More configurations or more seeds, where configurations have several runs."""
    division_powers: tuple[tuple[str, str, tuple[tuple[Division, float], ...]], ...] = ()
    """There, for each pair: the chance to tell the means of random configurations apart, as the runs are divided now
    and in each other way."""
    costs: tuple[tuple[str, float], ...] = ()
    """What a unit of each family costs on average, where costs are known."""
    cost_unit: str | None = None
    price: float | None = None
    """Of one unit of cost, where it was given."""
    currency: str = ""
    spend: float | None = None
    """What may be spent on problems and samples, in the unit of cost."""
    samples: int | None = None
    """Or how many samples of each system there are to divide."""
    ways: tuple[tuple[str, str, tuple[SpendWay, ...]], ...] = ()
    """Over problems, for each pair: so many problems with so many samples of each for that spend."""

    @property
    def unit(self) -> str:
        """The word for what is planned."""
        return self.words.unit

    def cost_of(self, first: str, second: str, units: float) -> float:
        """What so many units of two families cost together; NaN where costs are not known."""
        each = dict(self.costs)
        return units * (each.get(first, np.nan) + each.get(second, np.nan))

    @property
    def total_cost(self) -> float:
        """What the most units that a pair needs of each family cost together, those there are included; NaN where the
        number of a pair is open."""
        most: dict[str, float] = {}
        for first, second, units in self.separations:
            for family, present in zip((first, second), units.pilot, strict=True):
                wanted = present if units.decided else np.maximum(units.needed, present)  # which NaN passes through
                most[family] = float(np.maximum(wanted, most.get(family, 0.0)))
        return sum(most.get(family, np.nan) * each for family, each in self.costs) if self.costs else np.nan

    def further_cost(self, first: str, second: str) -> Range:
        """What the units of two families cost that are still to be run until they are told apart, with limits as the
        pilot leaves it open; NaN where costs or the number are not known."""
        (needed,) = (units for a, b, units in self.separations if (a, b) == (first, second))
        return self._spent([(first, second, needed)])

    @property
    def further_total(self) -> Range:
        """The same until all pairs are told apart."""
        return self._spent(self.separations)

    def money(self, cost: float) -> float:
        """A cost times its price; NaN where no price was given."""
        return np.nan if self.price is None else cost * self.price

    def _spent(self, pairs: Sequence[tuple[str, str, Needed]]) -> Range:
        each = dict(self.costs)
        spent = []
        for end in ("needed", "low", "high"):
            further: dict[str, float] = {}
            for *names, units in pairs:
                for family, present in zip(names, units.pilot, strict=True):
                    wanted = (
                        0.0 if units.decided else np.maximum(getattr(units, end) - present, 0.0)
                    )  # NaN passes through
                    further[family] = float(np.maximum(wanted, further.get(family, 0.0)))
            spent.append(sum(number * each.get(family, np.nan) for family, number in further.items()))
        value, low, high = spent if pairs else [np.nan] * 3
        return value, low, high

    @property
    def sentences(self) -> tuple[str, ...]:
        """What to do, in words."""
        return presenter().sentences(self)

    def __repr__(self) -> str:
        widths = [f"{family}: {needed.needed:g}" for family, needed in self.widths]
        pairs = [
            f"{first} - {second}: {needed.code or format(needed.needed, 'g')}"
            for first, second, needed in self.separations
        ]
        return f"TrialPlan({', '.join([*widths, *pairs])})"

    def to_frame(self) -> Frame:
        """One row per plan, as a dataframe of pandas where it is installed, else of polars.

        ``goal`` is the power, the width or the standard error planned for, as ``goal_of`` says, and ``now`` what there
        is of it; ``needed`` are trials of each family, or problems.
        """
        names = ("first", "second", "goal_of", "n", "needed", "low", "high", "now", "goal")
        planned = [(first, second, "power", needed) for first, second, needed in self.separations]
        planned += [(family, "", "width", needed) for family, needed in self.widths]
        rows = [
            (*which, units.n, units.needed, units.low, units.high, units.now, units.goal) for *which, units in planned
        ]
        rows += [
            (family, "", "error", groups.n, groups.groups_needed, np.nan, np.nan, groups.error, groups.target)
            for family, groups in self.problems
        ]
        return as_frame({name: [row[place] for row in rows] for place, name in enumerate(names)})


@dataclass(frozen=True)
class Reach(OverBudgets, Said):
    """The budget that one family needs to reach one target. An infinite limit means: not within the data."""

    family: str
    target: float
    name: str | None
    """Where the number comes from, e.g. the paper that published it."""
    n: float
    low: float
    high: float
    cost: float
    cost_low: float
    cost_high: float
    cost_unit: str | None
    axis: str
    n_trials: int
    n_failed: int
    score: str
    statistic: str
    confidence: float
    best: float
    """The curve's best value within the data."""
    furthest: float
    """The largest budget of the data."""
    failed: str = "worst"
    words: DesignWords = TRIALS

    @property
    def interval(self) -> tuple[float, float, float]:
        """The number of trials with its limits."""
        return self.n, self.low, self.high

    @property
    def reached(self) -> bool:
        """Whether the estimate reaches the target within the data."""
        return bool(np.isfinite(self.cost if self.over_cost else self.n))


@dataclass(frozen=True)
class Reaches(Shown):
    """The budgets that every family needs to reach every target; iterates in the order of the targets."""

    targets: tuple[Reach, ...]
    cautions: tuple[Caution, ...] = ()
    seed: int | None = 0
    curves: tuple[Curve | FamilyCostCurve, ...] = ()
    """The curves that reach them."""

    def __iter__(self) -> Iterator[Reach]:
        return iter(self.targets)

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, place: int) -> Reach:
        return self.targets[place]

    def __repr__(self) -> str:
        rows = (f"{r.family} {r.target:g} at {r.cost if r.over_cost else r.n:g}" for r in self.targets)
        return f"Reaches({', '.join(rows)})"

    def to_frame(self) -> object:
        """One row per family and target, as a dataframe of pandas where it is installed, else of polars."""
        names = ("family", "target", "n", "low", "high", "cost", "cost_low", "cost_high")
        return as_frame({name: [getattr(target, name) for target in self.targets] for name in names})
