"""Curves over budgets of cost, one per family, with [D]'s mean-cost scaling beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from levelbest import _check
from levelbest._plain import plain, show_cost
from levelbest.cautions import Caution
from levelbest.comparisons.costs import cost_scores, worst_score
from levelbest.comparisons.plan import Plan, cautions_of
from levelbest.stats.budgets import CostCurve, cost_curve
from levelbest.trials import Trials

__all__ = ["FamilyCostCurve", "cost_curves"]


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

    def sentence(self) -> str:
        """What can be said of the largest budget, ready for a paper."""
        one = self.curve
        i = one.budget.size - 1
        limits = ""
        if one.low is not None and one.high is not None:
            limits = f" [{one.low[i]:.4g}, {one.high[i]:.4g}]"
        failed = f", {self.n_failed} failed" if self.n_failed else ""
        crew = f" and {one.workers} workers" if one.workers > 1 else ""
        budget = show_cost(float(one.budget[i]), self.cost_unit)
        return (
            f"{self.family}: expected best {self.score} within {budget}{crew} is "
            f"{one.value[i]:.4g}{limits} (mean-cost scaling: {one.mean_cost_value[i]:.4g}), from {one.n_trials} "
            f"trials{failed}."
        )

    def __str__(self) -> str:
        return self.sentence()

    def to_dict(self) -> dict[str, Any]:
        """The form that ``--json`` prints: points have a cost and no n."""
        one = self.curve
        nothing = [float("nan")] * one.budget.size
        columns = zip(
            one.budget,
            one.value,
            nothing if one.low is None else one.low,
            nothing if one.high is None else one.high,
            one.mean_cost_value,
            one.nothing_finished,
            one.trials_finished,
            one.monte_carlo_error,
            strict=True,
        )
        keys = ("cost", "value", "low", "high", "mean_cost_value", "nothing_finished", "n_mean", "monte_carlo_error")
        rows = [{"n": None, "spread": None} | dict(zip(keys, row, strict=True)) for row in columns]
        document: dict[str, Any] = plain(
            {
                "family": self.family,
                "n_trials": one.n_trials,
                "n_failed": self.n_failed,
                "failed": self.failed,
                "statistic": "mean",
                "estimator": "orders without replacement",
                "direction": one.direction,
                "axis": "cost",
                "cost_unit": self.cost_unit,
                "workers": one.workers,
                "worst": one.worst,
                "horizon_cost": one.horizon,
                "seed": self.seed,
                "interval": {
                    "method": "studentised",
                    "confidence": one.confidence,
                    "simultaneous": one.simultaneous,
                    "note": one.reason or "bootstrap of the trials with their costs",
                },
                "points": rows,
            }
        )
        return document


def cost_curves(
    trials: Trials,
    *,
    budget: npt.ArrayLike | None = None,
    workers: int = 1,
    confidence: float = 0.95,
    simultaneous: bool = False,
    failed: str = "worst",
    missing: str = "refuse",
    n_resamples: int = 500,
    rng: int | None = 0,
) -> tuple[FamilyCostCurve, ...]:
    """The expected best within each budget of cost, for every family ([S] section 8)."""
    confidence = _check.as_confidence(confidence)
    every = [cost_scores(trials[name], failed, missing) for name in trials.families]
    plan = Plan(trials.families, tuple(trials[name] for name in trials.families), ())
    said = tuple(dict.fromkeys(cautions_of(trials, plan, [scores for scores, _ in every], failed)))
    found = []
    for name, (scores, spent) in zip(trials.families, every, strict=True):
        curve = cost_curve(
            scores.selection, spent, budget, scores.reported, direction=trials.metric.direction,
            worst=worst_score(trials, [one for one, _ in every]), workers=workers, confidence=confidence,
            simultaneous=simultaneous, n_resamples=min(n_resamples, 500), rng=rng,
        )  # fmt: skip
        found.append(
            FamilyCostCurve(
                family=name,
                curve=curve,
                cost_unit=trials.metric.cost_unit,
                score=(trials.metric.reported if scores.reported is not None else None) or trials.metric.selection,
                n_failed=scores.n_failed,
                failed=failed,
                seed=rng,
                cautions=said,
            )
        )
    return tuple(found)
