"""The view: plain numbers and sentences, computed once; text, figures, LaTeX and the page all draw it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from levelbest import _check
from levelbest._plain import plain
from levelbest.cautions import Caution
from levelbest.report.words.phrases import run_word
from levelbest.results import Comparison, Curve, FamilyCostCurve, FamilyVariance, PairComparison, TaskComparison

Numbers = tuple[float, ...]
_NAN = float("nan")


@dataclass(frozen=True)
class Line:
    """One curve as it is drawn. A limit that does not exist is infinite, an undefined one NaN."""

    family: str
    statistic: str
    axis: str
    x: Numbers
    value: Numbers
    low: Numbers
    high: Numbers
    method: str
    simultaneous: bool
    horizon: int | None = None
    word: str = "trial"
    """What n counts: trials, or samples of a problem."""


@dataclass(frozen=True)
class Family:
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
    """What was searched, as observed: a range or the set of values, by parameter."""
    chosen: float = _NAN
    """The selection score that made the winner win."""


@dataclass(frozen=True)
class Section:
    """A further table with what to say about it."""

    title: str
    note: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


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
    families: tuple[Family, ...]
    lines: tuple[Line, ...]
    pairs: tuple[PairComparison, ...]
    """Of every statistic and axis."""
    table: Mapping[str, tuple[Any, ...]]
    """Every trial, by column: family, scores, cost, status, seed and configuration."""
    n_rows: int
    cautions: tuple[Caution, ...]
    methods: str
    references: tuple[str, ...]
    checklist: tuple[Any, ...] = ()
    published: Mapping[str, float] = field(default_factory=dict)
    """Published scores, drawn as dashed lines."""
    log: bool | None = None
    """Whether budgets stand on a log scale at first; None: where curves are long."""
    provenance: Mapping[str, str] = field(default_factory=dict)
    n_groups: int | None = None
    """How many problems there are, where trials are samples of problems."""
    sections: tuple[Section, ...] = ()
    effect: tuple[Line, ...] = ()
    """Oracle, verifier and random pick, where a verifier selects among the samples of a problem."""
    named: bool = False
    """Whether the headline budget was named in advance."""
    comparison: Comparison | None = None
    """What the verdict is of."""
    variances: tuple[FamilyVariance, ...] = ()
    """How much of the variance between runs comes from which source, where configurations have several runs."""
    scale: str = ""
    """What heights are measured in, where they are not scores as they are."""
    tasks: Mapping[str, View] = field(default_factory=dict)
    """The same of each task or data set, where this is over several."""
    over_tasks: TaskComparison | None = None
    """What is said over all of them."""

    @property
    def score(self) -> str:
        """The column that the curves are of, and its scale where that is another."""
        return (self.reported or self.selection) + (f" ({self.scale})" if self.scale else "")

    @property
    def word(self) -> str:
        """What one trial is called: a sample, where trials are samples of problems; a run, where only seeds vary."""
        if self.comparison is not None:
            return self.comparison.terms.unit
        return self.lines[0].word if self.lines else "trial"

    @property
    def row_word(self) -> str:
        """What a row of the table of trials is called: where configurations are compared, one of their runs."""
        return run_word(self.word)

    @property
    def by_seeds(self) -> bool:
        """Whether runs differ by their seed alone: then the verdict is about one run, and nothing is selected."""
        return self.comparison is not None and self.comparison.terms.unit == "run"

    @property
    def unchecked(self) -> bool:
        """Whether the score that picks the winner is the score shown, and no other was there to report."""
        return not self.reported and not self.n_groups and not self.by_seeds

    @property
    def winner_word(self) -> str:
        """What ``Family.winner`` is called."""
        return "winner observed" if self.n_groups is None else "one sample"

    @property
    def axes(self) -> tuple[str, ...]:
        """Which budget axes there are lines for."""
        return tuple(dict.fromkeys(line.axis for line in self.lines))

    @property
    def statistics(self) -> tuple[str, ...]:
        """Which statistics there are lines for."""
        return tuple(dict.fromkeys(line.statistic for line in self.lines))

    def headline_n(self, family: Family) -> int:
        """The n of a family's headline number: all its trials, where they are fewer than the headline budget."""
        return min(self.headline, family.n_trials)

    def headline_mark(self, family: Family) -> str:
        """What goes beside the number where its n is not that of the column."""
        n = self.headline_n(family)
        return "" if n == self.headline else f" (n = {n})"

    def lines_of(self, statistic: str, axis: str = "trials") -> tuple[Line, ...]:
        """The curves of one figure."""
        return tuple(line for line in self.lines if (line.statistic, line.axis) == (statistic, axis))

    def pairs_of(self, statistic: str, axis: str = "trials") -> tuple[PairComparison, ...]:
        """The comparisons that belong to one figure."""
        return tuple(pair for pair in self.pairs if (pair.terms.statistic, pair.terms.axis) == (statistic, axis))

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON; a number that does not exist is None."""
        return self._numbers | {"table": plain(self.table)}

    def numbers(self) -> dict[str, object]:
        """The same without the table of trials, which is the file that was read."""
        return dict(self._numbers)

    @cached_property
    def _numbers(self) -> dict[str, object]:
        from dataclasses import asdict

        bare = replace(self, comparison=None, pairs=(), variances=(), over_tasks=None, tasks={}, table={})
        document: dict[str, object] = plain(asdict(bare))
        del document["table"]
        document["pairs"] = plain([_pair_document(pair) for pair in self.pairs])
        document["variances"] = [own.to_dict() for own in self.variances]
        document["cautions"] = [caution.to_dict() for caution in self.cautions]
        del document["over_tasks"]
        document["tasks"] = {name: _without(view.numbers(), "comparison") for name, view in self.tasks.items()}
        result = self.over_tasks or self.comparison
        compared: dict[str, object] = {} if result is None else result.to_dict()
        return document | {"comparison": compared or None, "comparisons": compared.get("comparisons", [])}


def _without(document: dict[str, object], *names: str) -> dict[str, object]:
    return {key: value for key, value in document.items() if key not in names}


def line_of(curve: Curve, *, band: str = "interval") -> Line:
    """A curve as it is drawn, with its interval, [D]'s plus or minus one spread, or no band."""
    _check.as_choice(band, ("interval", "spread", "none"), "band")
    low, high = curve.low, curve.high
    if band == "spread":
        # [D] 3.3: within the observed range, where a best can lie
        top = np.nanmax(curve.value) if curve.direction == "max" else np.inf
        bottom = np.nanmin(curve.value) if curve.direction == "min" else -np.inf
        low, high = np.maximum(curve.value - curve.spread, bottom), np.minimum(curve.value + curve.spread, top)
    elif band == "none":
        low = high = np.full(curve.n.size, np.nan)
    return Line(
        family=curve.family,
        statistic=curve.statistic,
        axis="trials",
        x=_numbers(curve.n),
        value=_numbers(curve.value),
        low=_numbers(low),
        high=_numbers(high),
        method=curve.method,
        simultaneous=curve.simultaneous,
        horizon=curve.horizon,
        word=curve.unit,
    )


def cost_line(curve: FamilyCostCurve) -> Line:
    """A curve over budgets of cost as it is drawn."""
    own = curve.curve
    nowhere = np.full(own.budget.size, np.nan)
    return Line(
        family=curve.family,
        statistic="mean",
        axis="cost",
        x=_numbers(own.budget),
        value=_numbers(own.value),
        low=_numbers(nowhere if own.low is None else own.low),
        high=_numbers(nowhere if own.high is None else own.high),
        method="studentised",
        simultaneous=own.simultaneous,
    )


def _pair_document(pair: PairComparison) -> dict[str, object]:
    from levelbest.report.words.verdicts import claim_sentence, reason_words

    return {
        "families": pair.families,
        "statistic": pair.terms.statistic,
        "axis": pair.terms.axis,
        "x": _numbers(pair.budget),
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


def _numbers(column: Iterable[float]) -> Numbers:
    return tuple(float(number) for number in column)
