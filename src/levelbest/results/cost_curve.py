"""Curves over budgets of cost as results."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from levelbest._frames import Frame, as_frame
from levelbest._plain import plain, rows_of
from levelbest.cautions import Caution
from levelbest.stats.budgets import CostCurve


@dataclass(frozen=True, eq=False)
class FamilyCostCurve:
    """One family's expected best score within budgets of cost."""

    family: str
    curve: CostCurve
    cost_unit: str | None
    score: str
    n_failed: int
    failed: str
    seed: int | None
    cautions: tuple[Caution, ...] = ()

    def point(self, budget: float) -> tuple[float, float, float, float]:
        """Budget, value, low and high at the largest budget of the curve that is no larger."""
        own = self.curve
        at = max(int(np.searchsorted(own.budget, budget * (1 + 1e-9), side="right")) - 1, 0)
        low, high = (np.nan if ends is None else float(ends[at]) for ends in (own.low, own.high))
        return float(own.budget[at]), float(own.value[at]), low, high

    def sentence(self) -> str:
        """What can be said of the largest budget, ready for a paper."""
        from levelbest.report.words.curves import cost_sentence

        return cost_sentence(self)

    def __str__(self) -> str:
        return self.sentence()

    def __repr__(self) -> str:
        budget, value, low, high = self.point(float(self.curve.budget[-1]))
        limits = f"[{low:.4g}, {high:.4g}]"
        return f"FamilyCostCurve({self.family}: best {self.score} within {budget:g} = {value:.4g} {limits})"

    def to_frame(self) -> Frame:
        """One row per budget, as a dataframe of pandas where it is installed, else of polars."""
        rows = self._points()
        return as_frame({"family": [self.family] * len(rows)} | {key: [row[key] for row in rows] for key in rows[0]})

    def _points(self) -> list[dict[str, object]]:
        own = self.curve
        nothing = [float("nan")] * own.budget.size
        rows = rows_of(
            cost=own.budget,
            value=own.value,
            low=nothing if own.low is None else own.low,
            high=nothing if own.high is None else own.high,
            mean_cost_value=own.mean_cost_value,
            nothing_finished=own.nothing_finished,
            n_mean=own.trials_finished,
            monte_carlo_error=own.monte_carlo_error,
        )
        return [plain({"n": None, "spread": None} | row) for row in rows]

    def to_dict(self) -> dict[str, object]:
        """The form that ``--json`` prints: points have a cost and no n."""
        from levelbest.report.words.intervals import cost_rule

        own = self.curve
        return plain(
            {
                "family": self.family,
                "n_trials": own.n_trials,
                "n_failed": self.n_failed,
                "failed": self.failed,
                "statistic": "mean",
                "estimator": "orders without replacement",
                "direction": own.direction,
                "axis": "cost",
                "cost_unit": self.cost_unit,
                "workers": own.workers,
                "worst": own.worst,
                "horizon_cost": own.horizon,
                "seed": self.seed,
                "interval": {
                    "method": "studentised",
                    "confidence": own.confidence,
                    "simultaneous": own.simultaneous,
                    "note": cost_rule(own),
                },
                "points": self._points(),
            }
        )
