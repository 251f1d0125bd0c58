"""A curve as a result: numbers with their provenance, a sentence, a table for notebooks, a JSON document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest._plain import html_table, plain, round_places, round_to_uncertainty, show_number
from levelbest.cautions import Caution
from levelbest.errors import InputError
from levelbest.group_curves import Stratum
from levelbest.stats.problems import GroupBest

__all__ = ["Curve"]


@dataclass(frozen=True, eq=False)
class Curve:
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
    note: str
    n_trials: int
    n_failed: int
    n_running: int
    failed: str
    horizon: int | None
    seed: int | None
    cautions: tuple[Caution, ...] = ()
    problems: GroupBest | None = None
    """The same by problem, where samples belong to problems (``group``)."""
    strata: tuple[Stratum, ...] = ()
    """The same for the problems of each stratum, where they are divided."""

    @property
    def score(self) -> str:
        """The column this is a curve of."""
        return self.reported or self.selection

    @property
    def alone(self) -> str:
        """What it is called where the selection score is all there is."""
        return "validation only" if self.problems is None else "picked by the score itself, as an oracle would"

    def at(self, n: int) -> int:
        """The position of budget ``n``."""
        found = np.flatnonzero(self.n == n)
        if not found.size:
            raise InputError(f"the curve of {self.family} has no point at n = {n}; ask for it with n=")
        return int(found[0])

    def sentence(self, n: int | None = None) -> str:
        """What can be said of one budget (default: the largest), ready for a paper."""
        i = self.at(n) if n is not None else self.n.size - 1
        decimals = round_to_uncertainty(self.value[i], self.low[i], self.high[i])
        chosen = f" (selected by {self.selection})" if self.reported else f" ({self.alone})"
        if self.statistic == "all":
            chosen = ""
        scope = "simultaneous " if self.simultaneous else ""
        limits = (
            f" [{show_number(self.low[i], decimals)}, {show_number(self.high[i], decimals)}], {scope}"
            f"{100 * self.confidence:g} % {self.method} interval"
            if not np.isnan(self.low[i])
            else ", no interval"
        )
        failed = f", {self.n_failed} failed" if self.n_failed else ""
        unit = "trial" if self.problems is None else "sample"
        times = unit if self.n[i] == 1 else f"{unit}s"
        return (
            f"{self.family}: {self.quantity(f'{self.n[i]} {times}')} is "
            f"{show_number(self.value[i], decimals)}{limits}, from {self.trials_in_words(i)}{failed}{chosen}."
        )

    def quantity(self, n: str = "n") -> str:
        """What a point of the curve is, in words; ``n`` says of how many trials."""
        if self.statistic == "all":
            return f"chance that all of {n} succeed ({self.score}, pass^k)"
        what = {"mean": "expected", "median": "median"}.get(self.statistic, f"{self.statistic}-quantile of the")
        return f"{what} best {self.score} of {n}"

    def trials_in_words(self, i: int | None = None) -> str:
        """``50 trials``, or ``200 samples of 50 problems`` with how many of them stand behind point ``i``."""
        if self.problems is None:
            return f"{self.n_trials} trials"
        total = self.problems.groups.size
        count = total if i is None else int(self.problems.n_groups[i])
        words = f"{total} problem{'s' * (total != 1)}"
        many = words if count == total else f"{words} ({count} with {self.n[i or 0]} samples)"
        return f"{self.n_trials} sample{'s' * (self.n_trials != 1)} of {many}"

    def __str__(self) -> str:
        return self.sentence()

    def _repr_html_(self) -> str:
        """How a notebook shows it: the sentence, and the curve as a table, a long one at round budgets."""
        cells = []
        for i in round_places(self.n.tolist()):
            row = (float(self.value[i]), float(self.low[i]), float(self.high[i]))
            decimals = round_to_uncertainty(*row)
            cells.append([str(self.n[i]), *(show_number(one, decimals) for one in row)])
        return html_table(["n", "value", "low", "high"], cells, caption=str(self))

    def to_dict(self) -> dict[str, Any]:
        """The form that ``--json`` prints; a limit or value that does not exist is None."""
        cost = self.cost if self.cost is not None else np.full(self.n.size, np.nan)
        columns = zip(self.n, self.value, self.low, self.high, self.spread, cost, strict=True)
        keys = ("n", "value", "low", "high", "spread", "cost")
        document: dict[str, Any] = plain(
            {
                "family": self.family,
                "n_trials": self.n_trials,
                "n_failed": self.n_failed,
                "n_running": self.n_running,
                "failed": self.failed,
                "statistic": self.statistic,
                "estimator": self.estimator,
                "direction": self.direction,
                "selection": self.selection,
                "reported": self.reported,
                "cost_unit": self.cost_unit,
                "horizon": self.horizon,
                "seed": self.seed,
                "interval": {
                    "method": self.method,
                    "confidence": self.confidence,
                    "simultaneous": self.simultaneous,
                    "note": self.note,
                },
                "points": [dict(zip(keys, point, strict=True)) for point in columns],
            }
        )
        if self.problems is not None:
            document["n_groups"] = int(self.problems.groups.size)
            document["weighted"] = self.problems.weights is not None
            for point, count in zip(document["points"], self.problems.n_groups.tolist(), strict=True):
                point["n_groups"] = count
        if self.strata:
            document["strata"] = [one.to_dict() for one in self.strata]
        return document
