"""The protocol of designs, the request that they answer, and the choice of the design for a table of trials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import FloatArray, IntArray
from levelbest.cautions import Caution
from levelbest.errors import InputError, named
from levelbest.results import (
    TRIALS,
    Curve,
    DesignWords,
    FamilyCostCurve,
    Noise,
    PairComparison,
    SpendPerSolved,
    Variances,
)
from levelbest.stats.inference import Contrasts, Hypotheses
from levelbest.trials import Metric, Settings, Trials
from levelbest.trials.colours import Hues, place_hues
from levelbest.trials.problems import ProblemTable
from levelbest.trials.spaces import SearchSpace, search_spaces

Table = Trials | ProblemTable
"""Trials in memory, or samples of problems that are read in parts."""
FIRST_SHOWN = 5
"""The budget at which families are set side by side where none was named."""
ABOUT = ("problems", "suite")
"""Whether problems stand for more than themselves."""
WHOLE, POINTS = 100, 60
"""Budgets up to which every one is compared; beyond, so many log-spaced ones."""


@dataclass(frozen=True)
class Request:
    """What is asked of trials, by whichever verb; a design looks at what concerns it and refuses what it has not.

    Parameters
    ----------
    n
        Budgets, increasing; None: the design's own grid.
    statistic, estimator, interval, simultaneous
        Of curves; ``statistic`` and ``interval`` (``default`` or ``gaffke``) of differences too.
    axis, budget, workers
        ``trials`` or ``cost``; budgets of cost, with so many trials at once.
    paired
        True: insist on pairs; False: ignore them; None: where all trials match.
    while_running
        Limits that hold at every look.
    baseline
        The family that all others are compared with; None: all with all.
    headline
        The budget that is tested alone, first and at full confidence.
    worth
        The smallest difference that matters.
    p_values
        Also compute permutation p-values for equal distributions.
    about
        What verdicts and limits over problems are about: ``problems`` that these stand for, or the ``suite`` itself.
    settings
        What every verb can be told.
    """

    n: tuple[int, ...] | None = None
    statistic: str = "mean"
    estimator: str = "u"
    interval: str = "default"
    simultaneous: bool = False
    axis: str = "trials"
    budget: tuple[float, ...] | None = None
    workers: int = 1
    paired: bool | None = None
    while_running: bool = False
    baseline: str | None = None
    headline: int | None = None
    worth: float | None = None
    p_values: bool = False
    about: str = "problems"
    settings: Settings = field(default_factory=Settings)

    def __post_init__(self) -> None:
        _check.as_choice(self.axis, ("trials", "cost"), "axis")
        _check.as_count(self.workers, "workers")
        _check.as_choice(self.about, ABOUT, "about")
        if self.budget is not None and self.axis != "cost":
            raise InputError(f"{named('budget')} is in cost, for {named('axis')} cost; of trials it is {named('n')}")
        if self.headline is not None:
            _check.as_count(self.headline, "headline")
        of_trials = {"n": self.n, "headline": self.headline, "while_running": self.while_running or None}
        if self.axis == "cost" and (given := [key for key, value in of_trials.items() if value is not None]):
            raise InputError(
                f"{named(given[0])} is about numbers of trials; leave it out over cost ({named('axis')} cost)"
            )
        if self.worth is not None and not self.worth > 0:
            raise InputError(f"worth must be a difference above 0, the smallest that matters, got {self.worth}")

    @classmethod
    def of(
        cls,
        *,
        n: npt.ArrayLike | None = None,
        statistic: str | float = "mean",
        budget: npt.ArrayLike | None = None,
        **others: object,
    ) -> Request:
        """As users write it: a list or number of budgets, a probability for a quantile."""
        budgets = None if n is None else tuple(np.unique(_check.as_budgets(n)[0]).tolist())
        costs = None if budget is None else tuple(np.unique(np.asarray(budget, dtype=np.float64)).tolist())
        return cls(n=budgets, statistic=str(statistic), budget=costs, **others)  # type: ignore[arg-type]

    @property
    def named(self) -> int | None:
        """The budget that is tested alone: the headline, or the only budget of the request."""
        if self.headline is not None:
            return self.headline
        return self.n[0] if self.n is not None and len(self.n) == 1 else None

    def with_registered(self, trials: Table) -> Request:
        """The same with the budget that the study registered as its headline, where no other was asked for.

        While families still have fewer trials than that, nothing is said of it.
        """
        free = self.n is None and self.headline is None and self.axis == "trials" and not self.while_running
        if not free or not isinstance(trials, Trials) or (registered := trials.registered) is None:
            return self
        finished = sorted(trials[name].n_trials for name in trials.families)[-2:]
        return replace(self, headline=registered.n) if finished[0] >= registered.n else self

    def budgets(self, most: int, default: IntArray, what: str = "") -> IntArray:
        """The budgets asked for, as far as they reach, or the design's own; an error where none is within reach.

        ``what`` says in words what ``most`` is, where it is not the number of trials.
        """
        if self.n is None:
            return default
        wanted = np.array(self.n, dtype=np.int64)
        inside = wanted[wanted <= most]
        if not inside.size and what:
            raise InputError(f"n must be at most {what}, {most}, got {wanted[0]}")
        if not inside.size:
            _check.as_budgets(wanted, most)
        return inside


@dataclass(frozen=True)
class FamilyCounts:
    """How many trials of one family stand behind its numbers."""

    family: str
    n_trials: int
    n_failed: int
    n_running: int = 0
    best: float | None = None
    """The best selection score observed, where budgets count trials."""
    n_searches: int | None = None
    """How many searches they are, where the unit is the search."""


class Design:
    """What is repeated in a table of trials, and what follows from it. A new design is one file with a class like this.

    Built as ``Design(trials, request)``; it raises `InputError` for what it cannot answer. `TableDesign` has most of
    these names for tables in memory.
    """

    name: ClassVar[str] = ""
    column: ClassVar[str] = ""
    """The column of `Trials` (``search``, ``group`` ...) that makes it their design, where that is all it takes."""
    option: ClassVar[str] = ""
    chosen: ClassVar[object] = True
    """Or the option of a request that does, at this value."""
    words: DesignWords = TRIALS
    """What its units are called, and how a sentence names a budget of them."""
    adjustment = ""
    """A code for how the limits hold for all pairs together; worded in `levelbest.report.words.verdicts`."""
    statistic = "mean"
    """What of the best of n is compared."""
    paired = False
    """Whether families are compared pair by pair."""
    headline: int | None = FIRST_SHOWN
    """The budget that effects are of where none was named; None: the last one compared."""
    beyond = ""
    """Why budgets past those compared have no verdict; empty: nothing is said of them."""
    moot: ClassVar[tuple[str, ...]] = ()
    """Codes of warnings that do not concern the design."""
    refused: ClassVar[tuple[str, ...]] = ()
    where: ClassVar[str] = ""
    """Options of a request that it has no answer to, which are an error, and where that is: ``on the cost axis``."""
    weighted = False
    """Whether problems are weighted."""
    chooses: ClassVar[bool] = True
    """Whether the selection score chooses among units: a judge's is corrected instead."""
    metric: Metric
    """What the scores are."""
    families: tuple[str, ...]
    """Their names."""

    def __init__(self, trials: Any, request: Request) -> None:
        for option in self.refused:
            value = getattr(request, option)
            if value and value != getattr(Request, option):
                raise InputError(f"{self.where} there is no {named(option)}; leave it out")
        self.trials, self.request = trials, request

    @property
    def hues(self) -> Hues:
        """By family the place of its colour in the palette: that of the table, where it has them."""
        kept: Hues = getattr(self.trials, "hues", {})
        return kept if all(name in kept for name in self.families) else place_hues(self.families)

    @classmethod
    def fits(cls, trials: Table, request: Request) -> bool:
        """Whether this is the design of these trials, given the request; those asked before it have declined."""
        by_column = bool(cls.column) and getattr(trials, cls.column, None) is not None
        return by_column or (bool(cls.option) and bool(getattr(request, cls.option) == cls.chosen))

    @property
    def unit(self) -> str:
        """The word for what a budget counts."""
        return self.words.unit

    @property
    def n_groups(self) -> int | None:
        """How many problems are compared, where trials are samples of problems."""
        return None

    n_tasks: int | None = None
    """Over how many tasks means over problems are averaged."""

    @property
    def n_clusters(self) -> int | None:
        """How many clusters the problems are nested in, where those are the unit."""
        return None

    @property
    def reach(self) -> dict[str, float]:
        """By family: the last budget that it was run to; ranges that cannot be compared end there."""
        return {}

    @property
    def ends(self) -> dict[str, float]:
        """By family: the last budget at which its own value is known."""
        return self.reach

    @property
    def excluded(self) -> Mapping[str, str]:
        """Families that have no limits at all, with the code of the reason (`Verdict.reason`)."""
        return {}

    @property
    def counts(self) -> tuple[FamilyCounts, ...]:
        """Of each family, in their order."""
        raise NotImplementedError

    @property
    def observed(self) -> tuple[float, float] | None:
        """The least and the greatest score of a trial, where the scores are at hand and of one scale."""
        return None

    @property
    def spaces(self) -> tuple[SearchSpace, ...]:
        """What was searched, of each family; none where no hyperparameter is recorded."""
        recorded = isinstance(self.trials, Trials) and bool(self.trials.configuration)
        return search_spaces(self.trials) if recorded else ()

    @property
    def unit_scores(self) -> Mapping[str, FloatArray]:
        """By family, the score of each of its units, where they are at hand."""
        return {}

    @property
    def noises(self) -> tuple[Noise, ...]:
        """Of each family, where samples belong to problems: how uncertain its mean is, for other problems or these."""
        return ()

    @property
    def variances(self) -> Variances:
        """How much of the variance between runs comes from where, where configurations have several."""
        return Variances()

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What a reviewer would ask about the trials compared."""
        return ()

    def curves(self, request: Request) -> tuple[Curve | FamilyCostCurve, ...]:
        """One curve for each family."""
        raise NotImplementedError

    def contrasts(self, hypotheses: Hypotheses) -> Contrasts:
        """The difference of each pair, turned so that positive is better, with limits and what is certified."""
        raise NotImplementedError

    def per_solved(self, budget: float) -> tuple[SpendPerSolved, ...]:  # noqa: ARG002
        """What a solved problem costs each family at a budget, where samples have costs."""
        return ()

    def more(self, pair: PairComparison, places: tuple[int, int]) -> PairComparison:  # noqa: ARG002
        """The pair with what else the design can say of it; ``places`` are those of the families."""
        return pair

    def with_settings(self, settings: Settings) -> Design:
        """The same under other settings: the other failure policy."""
        return type(self)(self.trials, replace(self.request, settings=settings))

    def strata(self) -> tuple[tuple[str, Design], ...]:
        """The same within each stratum of problems; none where they are not divided."""
        return ()


_SHIPPED = (
    ("benchmarks", "Benchmarks"),
    ("judged", "JudgedProblems"),
    ("spending", "ProblemSpending"),
    ("suite", "Suite"),
    ("problems", "ProblemsDesign"),
    ("searches", "Searches"),
    ("cost", "CostDesign"),
    ("running", "Running"),
    ("seeds", "Folds"),
    ("seeds", "Evaluations"),
    ("seeds", "Configurations"),
    ("trials", "Pairs"),
    ("seeds", "Seeds"),
    ("trials", "IndependentTrials"),
)
"""The designs of the package, by module and class, in the order in which they are tried; imported on first use."""
_KNOWN: list[type[Design]] = []


def register_design(design: type[Design], *, before: str | None = None) -> None:
    """Make a design known; the first that fits is taken.

    Parameters
    ----------
    design
        The class.
    before
        The name of the design that it goes before; None: before all others.
    """
    names = [known.name for known in designs()]
    if not design.name:
        raise InputError(f"the design {design.__name__} has no name; set its attribute name")
    if design.name in names:
        raise InputError(f"a design called {design.name!r} is known already; give the new one another name")
    if design.column and design.column not in [column.name for column in fields(Trials)]:
        raise InputError(f"{design.column!r} is no column of Trials; for one of the configuration write a method fits")
    if design.option:
        _check.as_choice(design.option, [option.name for option in fields(Request)], "option of Request")
    _KNOWN.insert(0 if before is None else names.index(_check.as_choice(before, names, "design")), design)


def design_of(trials: Table, request: Request) -> Design:
    """The design of these trials: the first registered that fits."""
    if isinstance(trials, Trials):
        trials.refuse_tasks()
    if request.about == "suite" and isinstance(trials, Trials) and trials.group is None:
        raise InputError(
            f"{named('about', 'suite')} is about the problems of a benchmark, and these trials belong to none; name "
            f"the problem of each with {named('group')}"
        )
    for design in designs():
        if design.fits(trials, request):
            return design(trials, request)
    raise InputError("no design fits these trials")


def designs() -> tuple[type[Design], ...]:
    """All that are known, in the order in which they are asked whether they fit."""
    if not _KNOWN:
        _KNOWN.extend(getattr(import_module(f"levelbest.designs.{module}"), name) for module, name in _SHIPPED)
    return tuple(_KNOWN)
