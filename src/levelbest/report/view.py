"""The view: plain numbers and sentences, computed once; text, figures, LaTeX and the page all draw it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields

from levelbest import _check
from levelbest._check import FloatArray, IntArray
from levelbest._plain import is_cost, plain, says_test
from levelbest.cautions import Caution
from levelbest.errors import InputError, named
from levelbest.report.tables.table import Table
from levelbest.results import (
    TRIALS,
    Comparison,
    Curve,
    DesignWords,
    FamilyCostCurve,
    FamilyVariance,
    PairComparison,
    TaskComparison,
    VerifierEffect,
)
from levelbest.results.verdict import Strip, pairs_reach, strips_of_pairs
from levelbest.trials import STATUSES, Trials
from levelbest.trials.colours import Hues, place_hues
from levelbest.trials.problems import ProblemTable
from levelbest.trials.spaces import machine_columns

Floats = tuple[float, ...]
_NAN = float("nan")


@dataclass(frozen=True)
class Line:
    """One curve as it is drawn. A limit that does not exist is infinite, an undefined one NaN."""

    family: str
    statistic: str
    axis: str
    x: Floats
    value: Floats
    low: Floats
    high: Floats
    method: str
    simultaneous: bool
    horizon: int | None = None
    words: DesignWords = TRIALS
    """What n counts: trials, or samples of a problem."""

    @property
    def over_cost(self) -> bool:
        """Whether budgets are costs."""
        return is_cost(self.axis)

    def numbers(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {key: value for key, value in asdict(self).items() if key != "words"} | {"word": self.words.unit}


@dataclass(frozen=True)
class ShownFamily:
    """One family in a table: what was run, what came out, and the number fixed in advance."""

    name: str
    n_trials: int
    n_failed: int
    n_running: int
    mean: float = _NAN
    sd: float = _NAN
    median: float = _NAN
    winner: float = _NAN
    """The reported score of the trial with the best selection score: what is usually published. Over problems there is
    no such trial: the average of one sample each."""
    spearman: float = _NAN
    mean_cost: float = _NAN
    total_cost: float = _NAN
    headline: tuple[float, float, float] = (_NAN, _NAN, _NAN)
    """Value, low and high at the headline budget."""
    assignment: Mapping[str, str] = field(default_factory=dict)
    """The winner's configuration."""
    path: str = ""
    """Where the winner's files are, below what was read."""
    space: Mapping[str, str] = field(default_factory=dict)
    """What was searched, by parameter: how it was drawn, else the range or the set of values observed."""
    declared: bool = False
    """Whether a study declares it."""
    chosen: float = _NAN
    """The selection score that made the winner win."""


@dataclass(frozen=True)
class Item:
    """One question: who asks it, its answer where there is one, and what to write where there is none."""

    key: str
    asked_by: str
    question: str
    hint: str
    answer: str | None = None
    source: str | None = None
    """``trials``, ``answers`` or ``ledger``: where the answer comes from."""


@dataclass(frozen=True)
class View:
    """Everything a report says."""

    title: str
    verdict: tuple[str, ...]
    """The sentence to read aloud; more than one only where one cannot say it."""
    details: tuple[str, ...]
    """A sentence for every pair, with all its conditions."""
    selection: str
    reported: str | None
    direction: str
    bounds: tuple[float | None, float | None]
    cost_unit: str | None
    confidence: float
    failed: str
    seed: int
    headline: int
    families: tuple[ShownFamily, ...]
    lines: tuple[Line, ...]
    pairs: tuple[PairComparison, ...]
    """Of every statistic and axis."""
    table: Mapping[str, tuple[object, ...]]
    """Every trial, by column: family, scores, cost, status, seed and configuration."""
    n_rows: int
    cautions: tuple[Caution, ...]
    methods: str
    references: tuple[str, ...]
    words: DesignWords = TRIALS
    """What the units of its design are called."""
    checklist: tuple[Item, ...] = ()
    published: Mapping[str, float] = field(default_factory=dict)
    """Published scores, drawn as dashed lines."""
    log: bool | None = None
    """Whether budgets stand on a log scale at first; None: where curves are long."""
    provenance: Mapping[str, str] = field(default_factory=dict)
    n_groups: int | None = None
    """How many problems there are, where trials are samples of problems."""
    sections: tuple[Table, ...] = ()
    effect: tuple[Line, ...] = ()
    """Oracle, verifier and random pick, where a verifier selects among the samples of a problem."""
    named: str = ""
    """How the headline budget was chosen, where it was tested by itself."""
    comparison: Comparison | None = None
    """What the verdict is of."""
    variances: tuple[FamilyVariance, ...] = ()
    """How much of the variance between runs comes from which source, where configurations have several runs."""
    uncompared: tuple[str, ...] = ()
    """The calls that compare what is drawn and, of very many trials, not compared here."""
    scale: str = ""
    """What heights are measured in, where they are not scores as they are."""
    units: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """By family the score of every unit, where families are compared by one new unit."""
    tasks: Mapping[str, View] = field(default_factory=dict)
    """The same of each task or data set, where this is over several."""
    over_tasks: TaskComparison | None = None
    """What is said over all of them."""
    hues: Hues = field(default_factory=dict)
    """By family the place of its colour in the palette."""

    def __post_init__(self) -> None:
        names = [family.name for family in self.families]
        if not all(name in self.hues for name in names):
            object.__setattr__(self, "hues", place_hues(names))

    @property
    def score(self) -> str:
        """The column that the curves are of, and its scale where that is another."""
        return (self.reported or self.selection) + (f" ({self.scale})" if self.scale else "")

    @property
    def single(self) -> str:
        """How the one budget is named, where families are compared by one new unit and nothing is selected."""
        return "" if self.comparison is None else self.words.single

    @property
    def unchecked(self) -> bool:
        """Whether the score that picks the winner is the score shown, and no other was there to report."""
        return not (self.reported or self.words.group or self.single or says_test(self.selection))

    @property
    def axes(self) -> tuple[str, ...]:
        """Which budget axes there are lines for."""
        return tuple(dict.fromkeys(line.axis for line in self.lines))

    @property
    def statistics(self) -> tuple[str, ...]:
        """Which statistics there are lines for."""
        return tuple(dict.fromkeys(line.statistic for line in self.lines))

    def headline_mark(self, family: ShownFamily) -> str:
        """What goes beside a family's headline number where it has fewer trials than the budget of the column."""
        return "" if family.n_trials >= self.headline else f" (n = {family.n_trials})"

    def lines_of(self, statistic: str, axis: str = "trials") -> tuple[Line, ...]:
        """The curves of one figure."""
        return tuple(line for line in self.lines if (line.statistic, line.axis) == (statistic, axis))

    def pairs_of(self, statistic: str, axis: str = "trials") -> tuple[PairComparison, ...]:
        """The comparisons that belong to one figure."""
        return tuple(pair for pair in self.pairs if (pair.terms.statistic, pair.terms.axis) == (statistic, axis))

    def strips(self, statistic: str, axis: str = "trials") -> tuple[Strip, ...]:
        """The strips of verdicts below one figure; none where there is one budget."""
        pairs = () if self.single else self.pairs_of(statistic, axis)
        return strips_of_pairs(pairs, [family.name for family in self.families])

    def reach(self, statistic: str, axis: str = "trials") -> float | None:
        """The largest budget at which any pair can be compared, 0 where none can; without pairs, that to which the
        bands are of use, None where that is not known."""
        pairs = self.pairs_of(statistic, axis)
        if pairs and not self.single:
            return pairs_reach(pairs)
        horizons = [line.horizon for line in self.lines_of(statistic, axis)]
        known = [float(horizon) for horizon in horizons if horizon is not None]
        return max(known) if known and len(known) == len(horizons) else None

    def numbers(self) -> dict[str, object]:
        """Plain values for JSON, a number that does not exist None: all but the table of trials, which was read."""
        names = [column.name for column in fields(self) if column.name not in ("table", "over_tasks", "units", "words")]
        document = {name: getattr(self, name) for name in names}
        for name in ("families", "checklist"):
            document[name] = [asdict(entry) for entry in document[name]]
        for name in ("lines", "effect", "sections"):
            document[name] = [shown.numbers() for shown in document[name]]
        for name in ("variances", "cautions"):
            document[name] = [entry.to_dict() for entry in document[name]]
        document["pairs"] = [_pair_document(pair) for pair in self.pairs]
        result = self.over_tasks or self.comparison
        compared: dict[str, object] = {} if result is None else result.to_dict()
        tasks = {
            name: {key: value for key, value in task_view.numbers().items() if key != "comparison"}
            for name, task_view in self.tasks.items()
        }
        shown: dict[str, object] = plain(document)
        verdicts = {"comparison": compared or None, "comparisons": compared.get("comparisons", [])}
        return shown | {"tasks": tasks} | verdicts


def ranked_families(view: View) -> list[ShownFamily]:
    """The best at the headline budget first, those without a value last."""
    sign = -1.0 if view.direction == "max" else 1.0
    return sorted(view.families, key=lambda family: (math.isnan(family.headline[0]), sign * family.headline[0]))


def line_of(curve: Curve | FamilyCostCurve) -> Line:
    """A curve as it is drawn, with its interval."""
    if isinstance(curve, FamilyCostCurve):
        columns = (floats(curve.budget), floats(curve.value), floats(curve.low), floats(curve.high))
        return Line(curve.family, "mean", "cost", *columns, "studentised", curve.simultaneous, words=curve.words)
    columns = (floats(curve.n), floats(curve.value), floats(curve.low), floats(curve.high))
    provenance = (curve.method, curve.simultaneous, curve.horizon, curve.words)
    return Line(curve.family, curve.statistic, "trials", *columns, *provenance)


def floats(column: FloatArray | IntArray) -> Floats:
    """A column as plain numbers."""
    return tuple(map(float, column))


def _pair_document(pair: PairComparison) -> dict[str, object]:
    from levelbest.report.words.verdicts import claim_sentence, reason_words

    return {
        "families": pair.families,
        "statistic": pair.terms.statistic,
        "axis": pair.terms.axis,
        "x": pair.budget.astype(float),
        "difference": pair.difference,
        "low": pair.low,
        "high": pair.high,
        "ranges": [
            {"start": row.start, "end": row.end, "verdict": row.verdict, "reason": reason_words(row.reason)}
            for row in pair.verdicts
        ],
        "sentence": pair.sentence,
        "claim": claim_sentence(pair),
        "survives": pair.survives,
    }


def verifier_lines(effects: Sequence[VerifierEffect], words: DesignWords) -> tuple[Line, ...]:
    """The three as lines of one figure."""
    lines = []
    for effect in effects:
        nowhere = (math.nan,) * effect.n.size
        for name in ("oracle", "verifier", "random"):
            label = f"{effect.family}: {name}" if len(effects) > 1 else name
            columns = (tuple(map(float, effect.n)), tuple(map(float, getattr(effect, name))), nowhere, nowhere)
            lines.append(Line(label, "mean", "trials", *columns, method="none", simultaneous=False, words=words))
    return tuple(lines)


def hidden_columns(trials: Trials | ProblemTable, hide: Iterable[str]) -> frozenset[str]:
    """The configuration columns that stay out: those asked for, and those that tell of a machine."""
    names = frozenset(hide)
    if not isinstance(trials, Trials):
        if names:
            raise InputError(f"samples that are read in parts have no columns to hide; leave out {named('hide')}")
        return names
    for name in names:
        if name not in trials.configuration:
            known = _check.nearest_first(name, list(trials.configuration))
            raise InputError(f"there is no configuration column {name!r} to hide; {known}")
    return names | frozenset(machine_columns(trials))


def trial_table(trials: Trials, hidden: frozenset[str]) -> dict[str, tuple[object, ...]]:
    """Every trial, by column: family, scores, cost, status, seed and configuration."""
    metric = trials.metric
    columns: dict[str, tuple[object, ...]] = {
        "family": tuple(trials.families[code] for code in trials.family),
        metric.selection: tuple(trials.selection.tolist()),
    }
    if trials.reported is not None:
        columns[metric.reported or "reported"] = tuple(trials.reported.tolist())
    if trials.cost is not None:
        columns[metric.cost or "cost"] = tuple(trials.cost.tolist())
    if trials.group is not None:
        columns["group"] = tuple(trials.groups[code] for code in trials.group)
    columns["status"] = tuple(STATUSES[code] for code in trials.status)
    if trials.seed is not None:
        columns["seed"] = tuple(trials.seed.tolist())
    for name, column in trials.configuration.items():
        if name not in hidden:
            columns[name] = tuple(column.tolist())
    return columns
