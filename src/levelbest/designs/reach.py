"""The budget needed to reach a score, in trials or in cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from levelbest.designs._input import as_trials, with_scores, without_one_search
from levelbest.designs._protocol import Request, design_of
from levelbest.designs._table import mean_cost, scores_of
from levelbest.results import TRIALS, Curve, FamilyCostCurve, Reach, Reaches
from levelbest.stats.budgets import budget_to_reach, check_reachable
from levelbest.trials import Scores, Settings

Targets = float | Sequence[float | tuple[str | None, float]] | Mapping[str, float]


def reach(
    trials: object,
    targets: Targets,
    *,
    confidence: float = Settings.confidence,
    failed: str = Settings.failed,
    missing: str = Settings.missing,
    statistic: str | float = "mean",
    axis: str = "trials",
    workers: int = 1,
    n_resamples: int = Settings.n_resamples,
    rng: int | None = Settings.rng,
    **reading: object,
) -> Reaches:
    """The smallest budget at which each family reaches each target, with an interval ([D] 4.4).

    Every option of the command line is a parameter of the same name.

    Parameters
    ----------
    trials
        Trials, or whatever `read_trials` takes, with its arguments as ``reading``.
    targets
        A score, several, or a mapping that names them: published numbers.
    statistic
        Of the best of n.
    axis, workers
        With ``cost`` the budget is a cost, trials differing in what they cost, with so many at once; on the trial axis
        a cost is the number of trials times the mean cost.
    confidence, failed, missing, n_resamples, rng
        As of `levelbest.trials.Settings`.

    Returns
    -------
    Reaches
        One `Reach` for every family and target, with what a reviewer would ask.

    Examples
    --------
    >>> reach([0.71, 0.74, 0.76, 0.77, 0.79], 0.77, direction="max")[0].n
    2.0
    """
    settings = Settings(confidence, failed, missing, n_resamples, rng)
    table = without_one_search(with_scores(as_trials(trials, reading)))
    scores = scores_of(table, settings)
    # A curve of the selection score never falls; that of another score may: then the limits must hold together.
    together = any(column.reported is not None for column in scores)
    request = Request.of(statistic=statistic, axis=axis, workers=workers, simultaneous=together, settings=settings)
    metric = table.metric
    pooled = np.concatenate([column.curve_of for column in scores])
    goals = [(name, check_reachable(goal, pooled, metric.direction, metric.bounds)) for name, goal in _named(targets)]
    drawn = design_of(table, request).curves(request)
    return Reaches(
        targets=tuple(
            _reach(curve, column, name, goal)
            for curve, column in zip(drawn, scores, strict=True)
            for name, goal in goals
        ),
        cautions=tuple(dict.fromkeys(caution for curve in drawn for caution in curve.cautions)),
        seed=rng,
        curves=drawn,
    )


def _named(targets: Targets) -> list[tuple[str | None, float]]:
    if isinstance(targets, Mapping):
        return [(str(name), goal) for name, goal in targets.items()]
    if not isinstance(targets, Sequence):
        return [(None, targets)]
    return [target if isinstance(target, tuple) else (None, target) for target in targets]


def _reach(curve: Curve | FamilyCostCurve, scores: Scores, name: str | None, goal: float) -> Reach:
    over_cost = isinstance(curve, FamilyCostCurve)
    budgets = curve.budget if isinstance(curve, FamilyCostCurve) else curve.n.astype(np.float64)
    reached = budget_to_reach(
        budgets,
        curve.value,
        curve.low,
        curve.high,
        goal,
        direction=curve.direction,
        simultaneous=curve.simultaneous,
        between=over_cost,
    )
    ends = np.array([reached.budget, reached.low, reached.high])
    price = np.nan if scores.cost is None else mean_cost(scores.cost)
    n, cost = (np.full(3, np.nan), ends) if over_cost else (ends, price * ends)
    last = np.flatnonzero(np.isfinite(curve.value))[-1]
    return Reach(
        family=curve.family,
        target=goal,
        name=name,
        n=float(n[0]),
        low=float(n[1]),
        high=float(n[2]),
        cost=float(cost[0]),
        cost_low=float(cost[1]),
        cost_high=float(cost[2]),
        cost_unit=curve.cost_unit,
        axis="cost" if over_cost else "trials",
        n_trials=scores.n_trials,
        n_failed=scores.n_failed,
        score=curve.score,
        statistic=curve.statistic if isinstance(curve, Curve) else "mean",
        confidence=curve.confidence or Settings.confidence,
        best=float(curve.value[last]),
        furthest=float(budgets[last]),
        failed=scores.failed,
        words=curve.words if isinstance(curve, Curve) else TRIALS,
    )
