"""Comparisons as data: who is better at which budget, by how much, and on what basis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from levelbest._check import FloatArray, IntArray
from levelbest._plain import as_frame
from levelbest._shown import Documented, DrawnVerdict, Shown, presenter
from levelbest.cautions import Caution
from levelbest.results.curve import DesignWords, Noise, OverBudgets
from levelbest.results.variance import FamilyVariance
from levelbest.results.verdict import NOT_COMPARABLE, Crossing, Verdict
from levelbest.stats.inference import Needed
from levelbest.trials import Metric, Settings
from levelbest.trials.colours import Hues
from levelbest.trials.spaces import SearchSpace


@dataclass(frozen=True)
class ComparisonTerms(OverBudgets):
    """What all pairs of a comparison share: the request, the trials and the method."""

    design: str
    """What is repeated: ``trials``, ``seeds``, ``pairs``, ``problems``, ``searches``, ``cost``, ``running``, ..."""
    words: DesignWords
    """What its units are called."""
    metric: Metric
    settings: Settings
    n_pairs: int
    statistic: str = "mean"
    axis: str = "trials"
    adjustment: str = ""
    """A code for how the bands cover all pairs and budgets together (`levelbest.report.words.verdicts`)."""
    headline: int | None = None
    """The budget of the effect, where the design has one."""
    named: bool = False
    """Whether that budget was tested alone, first."""
    registered: bool = False
    """Whether it was registered before the first trial."""
    worth: float | None = None
    """The smallest difference that matters."""
    while_running: bool = False
    n_groups: int | None = None
    """How many problems, where trials are samples of problems."""
    n_clusters: int | None = None
    """How many clusters the problems are nested in, where those are the unit."""
    n_tasks: int | None = None
    """Over how many tasks means over problems are averaged (the macro average)."""
    weighted: bool = False
    workers: int = 1

    @property
    def confidence(self) -> float:
        """Of all verdicts and limits together."""
        return self.settings.confidence

    @property
    def cost_unit(self) -> str | None:
        """The unit of cost budgets."""
        return self.metric.cost_unit if self.over_cost else None


@dataclass(frozen=True)
class Effect(Documented):
    """The size of a difference at one budget, with a confidence interval that is simultaneous over all pairs."""

    budget: float
    difference: float
    low: float
    high: float
    p_value: float
    winner: str | None
    """The better family; None where undecided."""
    negligible: bool
    named: bool
    """The budget was tested alone."""
    floor: float = float("nan")
    ceiling: float = float("nan")
    """Limits that also allow for unobserved outcomes; NaN without a smallest difference worth having."""

    def mirrored(self) -> Effect:
        """Second minus first."""
        turned = replace(self, difference=-self.difference, low=-self.high, high=-self.low)
        return replace(turned, floor=-self.ceiling, ceiling=-self.floor)


@dataclass(frozen=True, eq=False)
class PairComparison(Shown):
    """Two families over the budgets: the difference is first minus second, positive where the first is better.

    A limit that does not exist is infinite; what cannot be compared is NaN.
    """

    families: tuple[str, str]
    terms: ComparisonTerms
    budget: IntArray | FloatArray
    """Numbers of trials, or costs."""
    difference: FloatArray
    low: FloatArray
    high: FloatArray
    p_value: FloatArray
    """Adjusted for all pairs and budgets; NaN where there is no test."""
    verdicts: tuple[Verdict, ...]
    effect: Effect
    further: float
    """Further units of each family that would probably decide; 0 where decided, NaN where so few units leave it open
    (`needed`), where there is nothing to plan by, and with ``gaffke``, of which it is not known."""
    basis: str
    """What a verdict rests on: ``permutation``, ``t``, ``gaffke``, ``limits`` or ``none``."""
    method: str
    paired: bool
    n_trials: tuple[int, int]
    n_failed: tuple[int, int]
    needed: Needed | None = None
    """What `further` is of, and how surely that is known; None where it is decided or there is nothing to plan by."""
    n_searches: tuple[int, int] | None = None
    """How many searches of each, where the unit is the search."""
    best: tuple[float, float] | None = None
    """The best selection score observed of each, for what they show as they were run."""
    crossings: tuple[Crossing, ...] = ()
    relative: tuple[tuple[float, float, float, float], ...] = ()
    """(n, value, low, high): relative improvement of the first over the second, pointwise ([B] D.1)."""
    chance: tuple[tuple[float, float], ...] = ()
    """(n, probability that the first's best of n beats the second's)."""
    scaled: FloatArray | None = None
    """On the cost axis: the difference of the trial curves scaled by the mean cost ([D] 4.3), for comparison."""
    equal_p: float | None = None
    """The p-value of the permutation test that both families have the same distribution, where requested."""
    survives: bool | None = None
    """Whether the same families win under the other failure policy; None where nothing failed."""
    reasons: tuple[str, ...] = ()
    """Codes for what the limits lack, as of `Verdict.reason`."""
    unseen: float = float("nan")
    """The largest share of trials (or runs, problems, searches) that may be missing from such a sample."""

    def verdict_at(self, budget: float) -> str:
        """The verdict at one budget; where two ranges of cost meet, the one that decides."""
        here = [part for part in self.verdicts if part.start <= budget <= part.end]
        return next((part.verdict for part in sorted(here, key=lambda part: not part.decided)), NOT_COMPARABLE)

    @property
    def decided(self) -> bool:
        """Whether some budget has a winner."""
        return any(verdict.decided for verdict in self.verdicts)

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        return presenter().sentences(self)[0]

    def mirrored(self) -> PairComparison:
        """Second minus first."""
        return replace(
            self,
            families=self.families[::-1],
            difference=-self.difference,
            low=-self.high,
            high=-self.low,
            effect=self.effect.mirrored(),
            n_trials=self.n_trials[::-1],
            n_failed=self.n_failed[::-1],
            n_searches=None if self.n_searches is None else self.n_searches[::-1],
            best=None if self.best is None else self.best[::-1],
            relative=(),
            chance=tuple((n, 1 - share) for n, share in self.chance),
            scaled=None if self.scaled is None else -self.scaled,
        )

    def __repr__(self) -> str:
        return f"PairComparison({' - '.join(self.families)}: {_ranges(self.verdicts)})"


@dataclass(frozen=True)
class Standing(Documented):
    """One family in the table of a comparison: what was run, and its score at the budget of the effects."""

    family: str
    n_trials: int
    n_failed: int
    n_running: int
    budget: float
    value: float
    low: float
    high: float
    """Pointwise limits of ``value``, which is as scored: not turned."""
    better_than: tuple[str, ...] = ()
    worse_than: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class BestFound(Documented):
    """The winner of one search that learns from its own trials; it is not an estimate."""

    family: str
    n_trials: int
    value: float
    """The reported score of the trial with the best selection score."""
    configuration: Mapping[str, object]
    """Its hyperparameters."""


@dataclass(frozen=True)
class SpendPerSolved(Documented):
    """What a solved problem costs one system: the total spend divided by the number of problems solved."""

    family: str
    n: int
    """The largest number of samples of a problem; sampling stops at the first success."""
    value: float
    low: float
    high: float
    """Infinite where possibly no problem is solved."""
    spend: float
    """The mean spend on a problem."""
    solved: float
    """The share of problems that are solved."""


@dataclass(frozen=True, eq=False)
class Comparison(DrawnVerdict):
    """Who is better at which budget, for every pair compared. ``to_dict`` is its JSON form."""

    terms: ComparisonTerms
    families: tuple[str, ...]
    pairs: tuple[PairComparison, ...]
    standings: tuple[Standing, ...] = ()
    """The families from best to worst at the effects' budget, where there is one."""
    baseline: str | None = None
    possible_best: tuple[str, ...] = ()
    """Families that no other is certified to be better than, at the effects' budget: one of them is the best."""
    cautions: tuple[Caution, ...] = ()
    strata: tuple[tuple[str, Comparison], ...] = field(default=())
    """The same within each stratum of problems, each at the confidence stated."""
    variances: tuple[FamilyVariance, ...] = ()
    """How much of the variance between runs comes from which source, where configurations have several runs."""
    spaces: tuple[SearchSpace, ...] = ()
    """What was searched, by family."""
    best_found: tuple[BestFound, ...] = ()
    """Of families that are one search that learns: the best first."""
    observed: tuple[float, float] | None = None
    """The least and the greatest score of a trial, where all scores are on one scale."""
    noises: tuple[Noise, ...] = ()
    """Of each family, where samples belong to problems: how uncertain its mean is, for other problems and for these."""
    hues: Hues = field(default_factory=dict)
    """By family the place of its colour in the palette; of many families the contenders have one, others are grey."""
    per_solved: tuple[SpendPerSolved, ...] = ()
    """What a solved problem costs at the effects' budget, where samples have costs and are right or wrong."""

    @property
    def outdone(self) -> dict[str, str]:
        """Families that are off the front of score and cost for certain, and who outdoes each: it is better by the
        verdict, and its solved problem costs less, the end of its interval against the beginning of the other's."""
        spends = {spend.family: spend for spend in self.per_solved}
        return {
            row.family: better
            for row in self.standings
            for better in row.worse_than
            if {better, row.family} <= spends.keys() and spends[better].high < spends[row.family].low
        }

    @property
    def confidence(self) -> float:
        """Of all verdicts and limits together."""
        return self.terms.confidence

    @property
    def summary(self) -> tuple[str, ...]:
        """The main sentences: the verdict first, then its basis."""
        return presenter().sentences(self)

    @property
    def sentences(self) -> tuple[str, ...]:
        """A sentence for every pair, those with a verdict first."""
        return tuple(pair.sentence for pair in sorted(self.pairs, key=lambda pair: not pair.decided))

    def pair(self, first: str, second: str) -> PairComparison:
        """The comparison of two families, ``first`` minus ``second``.

        Raises
        ------
        KeyError
            Where these two were not compared.
        """
        for pair in self.pairs:
            if pair.families == (first, second):
                return pair
            if pair.families == (second, first):
                return pair.mirrored()
        raise KeyError((first, second))

    def __getitem__(self, families: tuple[str, str]) -> PairComparison:
        """``comparison["a", "b"]`` is `pair`, and says which families there are."""
        try:
            first, second = families
            return self.pair(first, second)
        except (KeyError, TypeError, ValueError):
            known = ", ".join(f"[{a!r}, {b!r}]" for a, b in (pair.families for pair in self.pairs[:4]))
            raise KeyError(f"a comparison is asked for two families that were compared, such as {known}") from None

    def __repr__(self) -> str:
        pairs = f"{len(self.pairs)} pair{'s' * (len(self.pairs) != 1)}"
        if len(self.pairs) == 1:
            return f"Comparison({' - '.join(self.families)}: {_ranges(self.pairs[0].verdicts)})"
        decided = sum(pair.decided for pair in self.pairs)
        return f"Comparison({', '.join(self.families)}: {decided} of {pairs} decided)"

    def to_frame(self) -> object:
        """One row per pair and budget, as a dataframe of pandas where it is installed, else of polars."""
        names = ("first", "second", "budget", "difference", "low", "high", "p_value", "verdict")
        rows = [
            (*pair.families, budget, difference, low, high, p_value, pair.verdict_at(float(budget)))
            for pair in self.pairs
            for budget, difference, low, high, p_value in zip(
                pair.budget.tolist(), pair.difference, pair.low, pair.high, pair.p_value, strict=True
            )
        ]
        return as_frame(dict(zip(names, zip(*rows, strict=True), strict=True)))


def _ranges(verdicts: tuple[Verdict, ...]) -> str:
    """``cnn at 5 to 20, undecided at 1 to 4``."""
    ends = [dict.fromkeys((f"{verdict.start:g}", f"{verdict.end:g}")) for verdict in verdicts]
    return ", ".join(
        f"{verdict.verdict} at {' to '.join(budgets)}" for verdict, budgets in zip(verdicts, ends, strict=True)
    )
