"""What it would take to know, and what it takes to reach a score, as data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from levelbest._frames import Frame, as_frame
from levelbest._plain import picked, plain
from levelbest.cautions import Caution
from levelbest.results.words import TRIALS, DesignWords
from levelbest.stats.budgets import Division, Needed
from levelbest.stats.problems import GroupPlan


@dataclass(frozen=True)
class DividedRuns:
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

    def to_dict(self) -> dict[str, object]:
        """The form that ``--json`` prints."""
        return {
            "family": self.family,
            "now": self._row(self.now),
            "ways": [self._row(way) for way in self.ways],
        }

    def _row(self, way: Division) -> dict[str, object]:
        return picked(way, "configurations", "seeds", "error") | {"new_run": self.new_run(way)}


@dataclass(frozen=True, eq=False)
class TrialPlan:
    """How many more trials (or problems), and how far exact bands reach. Prints as sentences."""

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

    @property
    def unit(self) -> str:
        """The word for what is planned."""
        return self.words.unit

    @property
    def sentences(self) -> tuple[str, ...]:
        """What to do, in words."""
        from levelbest.report.words.plans import plan_sentences

        return plan_sentences(self)

    def __repr__(self) -> str:
        widths = [f"{family}: {needed.needed:g}" for family, needed in self.widths]
        pairs = [f"{first} - {second}: {needed.needed:g}" for first, second, needed in self.separations]
        return f"TrialPlan({', '.join([*widths, *pairs])})"

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def _repr_html_(self) -> str:
        """How a notebook shows it: a sentence and a short table."""
        from levelbest.report.notebook import plan_html

        return plan_html(self)

    def to_frame(self) -> Frame:
        """One row per plan, as a dataframe of pandas where it is installed, else of polars.

        ``goal`` is the power, the width or the standard error planned for, as ``goal_of`` says, and ``now`` what there
        is of it; ``needed`` are trials of each family, or problems.
        """
        names = ("first", "second", "goal_of", "n", "needed", "low", "high", "now", "goal")
        planned = [(first, second, "power", needed) for first, second, needed in self.separations]
        planned += [(family, "", "width", needed) for family, needed in self.widths]
        rows = [(*which, own.n, own.needed, own.low, own.high, own.now, own.goal) for *which, own in planned]
        rows += [
            (family, "", "error", own.n, own.groups_needed, np.nan, np.nan, own.error, own.target)
            for family, own in self.problems
        ]
        return as_frame({name: [row[place] for row in rows] for place, name in enumerate(names)})

    def to_dict(self) -> dict[str, object]:
        """The form that ``--json`` prints; what is out of reach is None."""
        of_problems = ("n", "error", "target", "n_groups", "groups_needed", "samples_needed")
        return plain(
            {
                "widths": [{"family": family} | needed.to_dict() for family, needed in self.widths],
                "separations": [
                    {"families": [first, second]} | needed.to_dict() for first, second, needed in self.separations
                ],
                "problems": [{"family": family} | picked(own, *of_problems) for family, own in self.problems],
                "unplanned": [
                    {"family": family, "stratum": stratum, "reason": why} for family, stratum, why in self.unplanned
                ],
                "divisions": [own.to_dict() for own in self.divisions],
                "division_powers": [
                    {
                        "families": [first, second],
                        "ways": [picked(way, "configurations", "seeds") | {"power": power} for way, power in powers],
                    }
                    for first, second, powers in self.division_powers
                ],
                "horizons": [{"n_trials": size, "n": n} for size, n in self.horizons],
                **picked(self, "confidence", "power", "seed", "sentences"),
                "warnings": [caution.to_dict() for caution in self.cautions],
            }
        )


@dataclass(frozen=True)
class Reach:
    """What one family needs to reach one target. Infinite limits mean: not within the data."""

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
    """The largest budget the data speak of."""
    failed: str = "worst"
    words: DesignWords = TRIALS

    @property
    def unit(self) -> str:
        """The word for what n counts."""
        return self.words.unit

    @property
    def over_cost(self) -> bool:
        """Whether the budget is a cost."""
        return self.axis == "cost"

    @property
    def interval(self) -> tuple[float, float, float]:
        """The number of trials with its limits."""
        return self.n, self.low, self.high

    @property
    def reached(self) -> bool:
        """Whether the estimate reaches the target within the data."""
        return bool(np.isfinite(self.cost if self.over_cost else self.n))

    def __str__(self) -> str:
        from levelbest.report.words.curves import reach_sentence

        return reach_sentence(self)

    def to_dict(self) -> dict[str, object]:
        """The form that ``--json`` prints; what is not within the data is None."""
        needed = picked(self, "family", "target", "name", "n", "low", "high", "cost", "cost_low", "cost_high")
        basis = picked(self, "cost_unit", "axis", "reached", "n_trials", "n_failed", "failed", "confidence")
        return plain(needed | basis | {"sentence": str(self)})


@dataclass(frozen=True)
class Reaches:
    """What every family needs to reach every target: goes through as its targets do."""

    targets: tuple[Reach, ...]
    cautions: tuple[Caution, ...] = ()
    seed: int | None = 0

    def __iter__(self) -> Iterator[Reach]:
        return iter(self.targets)

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, place: int) -> Reach:
        return self.targets[place]

    def __repr__(self) -> str:
        rows = (f"{r.family} {r.target:g} at {r.cost if r.over_cost else r.n:g}" for r in self.targets)
        return f"Reaches({', '.join(rows)})"

    def __str__(self) -> str:
        return "\n".join(map(str, self.targets))

    def _repr_html_(self) -> str:
        """How a notebook shows it: a sentence for each family and target."""
        from levelbest.report.notebook import reaches_html

        return reaches_html(self)

    def to_dict(self) -> dict[str, object]:
        """The form that ``--json`` prints."""
        return {
            "targets": [target.to_dict() for target in self.targets],
            "warnings": [caution.to_dict() for caution in self.cautions],
            "seed": self.seed,
        }

    def to_frame(self) -> object:
        """One row per family and target, as a dataframe of pandas where it is installed, else of polars."""
        names = ("family", "target", "n", "low", "high", "cost", "cost_low", "cost_high")
        return as_frame({name: [getattr(target, name) for target in self.targets] for name in names})
