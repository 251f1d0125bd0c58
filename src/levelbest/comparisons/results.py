"""What a comparison is: verdicts by budget, the band behind them, and how they print."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from levelbest._check import FloatArray
from levelbest._plain import html_table, plain
from levelbest.cautions import Caution

__all__ = ["NOT_COMPARABLE", "UNDECIDED", "Comparison", "Crossing", "PairComparison", "Verdict"]

UNDECIDED = "undecided"
NOT_COMPARABLE = "not comparable"


@dataclass(frozen=True)
class Verdict:
    """What holds from one budget to another: the better family's name, ``undecided`` or ``not comparable``."""

    start: float
    end: float
    verdict: str
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The form that ``--json`` prints."""
        row = {"from": self.start, "to": self.end, "verdict": self.verdict}
        return row | ({"reason": self.reason} if self.reason else {})


@dataclass(frozen=True)
class Crossing:
    """Where the better family changes: the estimate, and the budgets between which the true crossing lies.

    ``low`` and ``high`` are the last budget certified before and the first certified after; infinite where there is
    none, so that the curves may as well not cross on that side.
    """

    budget: float
    low: float
    high: float

    def to_dict(self) -> dict[str, Any]:
        """The form that ``--json`` prints."""
        return {"n": self.budget, "low": self.low, "high": self.high}


@dataclass(frozen=True, eq=False)
class PairComparison:
    """Two families over the budgets: the difference is first minus second, positive where the first is better."""

    families: tuple[str, str]
    budget: npt.NDArray[Any]
    """Numbers of trials, or costs."""
    difference: FloatArray
    low: FloatArray
    high: FloatArray
    verdicts: tuple[Verdict, ...]
    sentence: str
    method: str
    paired: bool
    n_trials: tuple[int, int]
    n_failed: tuple[int, int]
    crossings: tuple[Crossing, ...] = ()
    relative: tuple[tuple[float, float, float, float], ...] = ()
    """(n, value, low, high): relative improvement of the first over the second, pointwise ([B] D.1)."""
    chance: tuple[tuple[float, float], ...] = ()
    """(n, probability that the first's best of n beats the second's)."""
    scaled: FloatArray | None = None
    """On the cost axis: the difference of the trial curves scaled by the mean cost ([D] 4.3), to set beside."""
    p_value: float | None = None
    claim: str | None = None
    """What the best observed scores say where the families had unequal numbers of trials ([D] section 5)."""
    survives: bool | None = None
    """Whether the verdicts are the same under the other failure policy; None where nothing failed."""

    def verdict_at(self, budget: float) -> str:
        """The verdict at one budget."""
        for one in self.verdicts:
            if one.start <= budget <= one.end:
                return one.verdict
        return NOT_COMPARABLE

    def __str__(self) -> str:
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        """The form that ``--json`` prints; a limit or difference that does not exist is None."""
        keys = ("n", "difference", "low", "high")
        columns = zip(self.budget, self.difference, self.low, self.high, strict=True)
        document: dict[str, Any] = plain(
            {
                "families": list(self.families),
                "points": [dict(zip(keys, point, strict=True)) for point in columns],
                "verdicts": [one.to_dict() for one in self.verdicts],
                "sentence": self.sentence,
                "method": self.method,
                "paired": self.paired,
                "n_trials": list(self.n_trials),
                "n_failed": list(self.n_failed),
                "crossings": [one.to_dict() for one in self.crossings],
                "relative": [dict(zip(("n", "value", "low", "high"), row, strict=True)) for row in self.relative],
                "chance_better": [dict(zip(("n", "value"), row, strict=True)) for row in self.chance],
                "mean_cost_scaling": [] if self.scaled is None else _scaled(self.budget, self.scaled),
                "p_value": self.p_value,
                "unequal_budgets": self.claim,
                "survives_other_failure_policy": self.survives,
            }
        )
        return document


def _scaled(budget: npt.NDArray[Any], scaled: FloatArray) -> list[dict[str, float]]:
    return [{"n": float(x), "difference": float(d)} for x, d in zip(budget, scaled, strict=True)]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Who is better at which budget, for every pair compared. Prints as sentences; ``to_dict`` is its JSON form."""

    pairs: tuple[PairComparison, ...]
    families: tuple[str, ...]
    baseline: str | None
    axis: str
    unit: str | None
    statistic: str
    direction: str
    confidence: float
    adjustment: str
    failed: str
    seed: int | None
    n_resamples: int
    while_running: bool = False
    cautions: tuple[Caution, ...] = ()
    strata: tuple[tuple[str, Comparison], ...] = ()
    """The same within each stratum of problems, each at the confidence stated."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """What can be read aloud: pairs with a verdict first."""
        decided = [one for one in self.pairs if any(v.verdict in one.families for v in one.verdicts)]
        rest = [one for one in self.pairs if one not in decided]
        return tuple(one.sentence for one in [*decided, *rest])

    def pair(self, first: str, second: str) -> PairComparison:
        """The comparison of two families, in the order in which it was made."""
        for one in self.pairs:
            if set(one.families) == {first, second}:
                return one
        raise KeyError((first, second))

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def to_dict(self) -> dict[str, Any]:
        """The form that ``--json`` prints."""
        document: dict[str, Any] = {
            "comparisons": [one.to_dict() for one in self.pairs],
            "baseline": self.baseline,
            "axis": self.axis,
            "unit": self.unit,
            "statistic": self.statistic,
            "direction": self.direction,
            "confidence": self.confidence,
            "simultaneous": True,
            "adjustment": self.adjustment,
            "failed": self.failed,
            "while_running": self.while_running,
            "seed": self.seed,
            "n_resamples": self.n_resamples,
            "warnings": [caution.to_dict() for caution in self.cautions],
        }
        if self.strata:
            document["strata"] = [
                {"stratum": label, "comparisons": [one.to_dict() for one in inside.pairs]}
                for label, inside in self.strata
            ]
        return document

    def _repr_html_(self) -> str:
        """How a notebook shows it: every pair with its verdicts."""
        rows = [[" and ".join(one.families), one.sentence] for one in self.pairs]
        return html_table(["families", "verdict"], rows, caption=f"{100 * self.confidence:g} % confidence")

    def to_rows(self) -> list[dict[str, Any]]:
        """One row per pair and budget, for any frame library: ``pandas.DataFrame(comparison.to_rows())``."""
        rows = []
        for one in self.pairs:
            for budget, d, low, high in zip(one.budget, one.difference, one.low, one.high, strict=True):
                row = {"first": one.families[0], "second": one.families[1], "budget": budget, "difference": d}
                rows.append(row | {"low": low, "high": high, "verdict": one.verdict_at(float(budget))})
        return rows


def verdict_ranges(
    budget: npt.NDArray[Any],
    certified: npt.NDArray[np.int64],
    comparable: npt.NDArray[np.bool_],
    families: tuple[str, str],
    reason: str,
    *,
    whole: bool = True,
) -> tuple[Verdict, ...]:
    """Runs of budgets with one verdict, in order.

    On a thinned grid of whole numbers a certified range ends at its last certified budget, and what lies between the
    points belongs to the undecided range beside it.
    """
    names = np.where(comparable, np.where(certified > 0, 1, np.where(certified < 0, 2, 0)), 3)
    edges = np.flatnonzero(np.diff(names)) + 1
    starts, ends = np.r_[0, edges], np.r_[edges, names.size] - 1
    labels = (UNDECIDED, families[0], families[1], NOT_COMPARABLE)
    rows = [[float(budget[s]), float(budget[e]), int(names[s])] for s, e in zip(starts, ends, strict=True)]
    for before, after in pairwise(rows):
        if whole:
            if before[2] in (0, 3):
                before[1] = after[0] - 1
            else:
                after[0] = before[1] + 1 if after[2] in (0, 3) else after[0]
        elif before[2] in (0, 3):
            before[1] = after[0]
        else:
            after[0] = before[1] if after[2] in (0, 3) else after[0]
    return tuple(Verdict(start, end, labels[int(kind)], reason if kind == 3 else "") for start, end, kind in rows)


def crossings(
    budget: npt.NDArray[Any], difference: FloatArray, certified: npt.NDArray[np.int64]
) -> tuple[Crossing, ...]:
    """Each change of sign of the difference, with the certified budgets around it.

    Only crossings between budgets certified for both sides, or with a certified budget on one side, are worth a
    mention: others are noise around zero.
    """
    known = np.isfinite(difference) & (difference != 0)
    where = np.flatnonzero(known)
    sign = np.sign(difference[where])
    found: dict[tuple[float, float], Crossing] = {}
    for left in np.flatnonzero(np.diff(sign)):
        i, j = where[left], where[left + 1]
        share = difference[i] / (difference[i] - difference[j])
        estimate = float(budget[i] + share * (budget[j] - budget[i]))
        before = np.flatnonzero((certified != 0) & (np.arange(certified.size) <= i))
        after = np.flatnonzero((certified != 0) & (np.arange(certified.size) >= j))
        low = float(budget[before[-1]]) if before.size else -np.inf
        high = float(budget[after[0]]) if after.size else np.inf
        if np.isfinite(low) or np.isfinite(high):
            # several changes of sign between the same certified budgets are one uncertain crossing: keep the first
            found.setdefault((low, high), Crossing(estimate, low, high))
    return tuple(found.values())
