"""How much one must spend to reach a score: in trials, or in cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._plain import plain, show_cost
from levelbest.cautions import Caution
from levelbest.comparisons.costs import cost_scores, worst_score
from levelbest.curves import curve
from levelbest.stats.budgets import Reached, budget_to_reach, check_target
from levelbest.stats.budgets import _cost as costs
from levelbest.trials import Trials

__all__ = ["Reach", "reach"]

_COST_POINTS = 40
Targets = float | Sequence[float | tuple[str | None, float]] | Mapping[str, float]


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

    @property
    def reached(self) -> bool:
        """Whether the estimate reaches the target within the data."""
        return bool(np.isfinite(self.cost if self.axis == "cost" else self.n))

    def __str__(self) -> str:
        what = {"mean": "expected", "median": "median"}.get(self.statistic, f"{self.statistic}-quantile")
        goal = f"{self.target:g}" + (f" ({self.name})" if self.name else "")
        failed = f", {self.n_failed} failed" if self.n_failed else ""
        basis = f"from {self.n_trials} trials{failed}"
        level = f"{100 * self.confidence:g} % interval"
        if self.axis == "cost":
            ends = [self._cost(end) for end in (self.cost_low, self.cost_high)]
            if not self.reached:
                least = f"; at least {ends[0]} are needed" if np.isfinite(self.cost_low) else ""
                return (
                    f"{self.family} does not reach an {what} best {self.score} of {goal} within the data: "
                    f"{self.best:.4g} at {self._cost(self.furthest)}{least} ({level}, {basis})."
                )
            return (
                f"{self.family} reaches an {what} best {self.score} of {goal} with {self._cost(self.cost)} "
                f"({level} {ends[0]} to {ends[1]}, {basis})."
            )
        if not self.reached:
            least = f"; at least {self.low:g} trials are needed" if np.isfinite(self.low) else ""
            return (
                f"{self.family} does not reach an {what} best {self.score} of {goal} within the data: {self.best:.4g} "
                f"at {self.furthest:g} trials{least} ({level}, {basis})."
            )
        price = f", about {self._cost(self.cost)}" if np.isfinite(self.cost) else ""
        high = f"{self.high:g}" if np.isfinite(self.high) else "more than the data show"
        return (
            f"{self.family} reaches an {what} best {self.score} of {goal} with {self.n:g} "
            f"trial{'s' * (self.n != 1)} ({level} {self.low:g} to {high}{price}; {basis})."
        )

    def _cost(self, value: float) -> str:
        return show_cost(value, self.cost_unit) if np.isfinite(value) else "more than the data show"

    def to_dict(self) -> dict[str, Any]:
        """The form that ``--json`` prints; what is not within the data is None."""
        document: dict[str, Any] = plain(
            {
                "family": self.family,
                "target": self.target,
                "name": self.name,
                "n": self.n,
                "low": self.low,
                "high": self.high,
                "cost": self.cost,
                "cost_low": self.cost_low,
                "cost_high": self.cost_high,
                "cost_unit": self.cost_unit,
                "axis": self.axis,
                "reached": self.reached,
                "n_trials": self.n_trials,
                "n_failed": self.n_failed,
                "confidence": self.confidence,
                "sentence": str(self),
            }
        )
        return document


def reach(
    trials: Trials,
    targets: Targets,
    *,
    statistic: str | float = "mean",
    confidence: float = 0.95,
    failed: str = "worst",
    missing: str = "refuse",
    axis: str = "trials",
    workers: int = 1,
    n_resamples: int = 2_000,
    rng: int | None = 0,
) -> tuple[tuple[Reach, ...], tuple[Caution, ...]]:
    """The smallest budget at which each family reaches each target, with an interval ([D] 4.4); and warnings.

    A mapping of targets names them: published numbers. With ``axis="cost"`` the budget is a cost, trials differing in
    what they cost; on the trial axis a cost is the number of trials times the mean cost.
    """
    _check.as_choice(axis, ("trials", "cost"), "axis")
    metric = trials.metric
    every = {family: trials[family].scores(failed, missing=missing) for family in trials.families}
    pooled = np.concatenate([scores.curve_of for scores in every.values()])
    goals = [(name, check_target(goal, pooled, metric.direction, metric.bounds)) for name, goal in _named(targets)]
    found: list[Reach] = []
    cautions: list[Caution] = []
    for family, scores in every.items():
        one = trials[family]
        # A curve of the selection score never falls; that of another score may: then the limits must hold together.
        options: dict[str, Any] = {"confidence": confidence, "simultaneous": scores.reported is not None}
        if axis == "cost":
            rows = _in_cost(one, [goal for _, goal in goals], failed, missing, workers, rng, options)
        else:
            drawn = curve(
                one, statistic=statistic, failed=failed, missing=missing, n_resamples=n_resamples, rng=rng, **options
            )
            cautions.extend(drawn.cautions)
            limits = drawn.low, drawn.high
            rows = [
                (
                    budget_to_reach(
                        drawn.n, drawn.value, *limits, goal, direction=drawn.direction, simultaneous=drawn.simultaneous
                    ),
                    drawn.n,
                    drawn.value,
                )
                for _, goal in goals
            ]
        mean_cost = float(np.mean(scores.cost)) if scores.cost is not None else float("nan")
        for (name, goal), (at, budgets, value) in zip(goals, rows, strict=True):
            known = np.flatnonzero(np.isfinite(value))
            ends = np.array([at.budget, at.low, at.high])
            nothing = np.full(3, np.nan)
            n, price = (nothing, ends) if axis == "cost" else (ends, mean_cost * ends)
            found.append(
                Reach(
                    family=family,
                    target=goal,
                    name=name,
                    n=float(n[0]),
                    low=float(n[1]),
                    high=float(n[2]),
                    cost=float(price[0]),
                    cost_low=float(price[1]),
                    cost_high=float(price[2]),
                    cost_unit=trials.metric.cost_unit,
                    axis=axis,
                    n_trials=scores.n_trials,
                    n_failed=scores.n_failed,
                    score=(one.metric.reported if scores.reported is not None else None) or one.metric.selection,
                    statistic=str(statistic),
                    confidence=confidence,
                    best=float(value[known[-1]]),
                    furthest=float(budgets[known[-1]]),
                )
            )
    return tuple(found), tuple(dict.fromkeys(cautions))


def _named(targets: Targets) -> list[tuple[str | None, float]]:
    if isinstance(targets, Mapping):
        return [(str(name), goal) for name, goal in targets.items()]
    if not isinstance(targets, Sequence):
        return [(None, targets)]
    return [one if isinstance(one, tuple) else (None, one) for one in targets]


def _in_cost(
    one: Trials,
    goals: Sequence[float],
    failed: str,
    missing: str,
    workers: int,
    rng: int | None,
    options: dict[str, Any],
) -> list[tuple[Reached, npt.NDArray[Any], npt.NDArray[Any]]]:
    scores, spent = cost_scores(one, failed, missing)
    grid = costs.cost_budgets(spent, workers=workers, size=_COST_POINTS)
    drawn = costs.cost_curve(
        scores.selection, spent, grid, scores.reported, direction=one.metric.direction,
        worst=worst_score(one, [scores]), workers=workers, n_resamples=300, rng=rng, **options,
    )  # fmt: skip
    assert drawn.low is not None
    assert drawn.high is not None
    limits = drawn.low, drawn.high
    return [
        (
            budget_to_reach(
                grid,
                drawn.value,
                *limits,
                goal,
                direction=one.metric.direction,
                simultaneous=drawn.simultaneous,
                between=True,
            ),
            grid,
            drawn.value,
        )
        for goal in goals
    ]
