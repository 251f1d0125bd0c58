"""The curve of independent trials: the reported score of the best of n by selection score, with an interval."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from levelbest import _check
from levelbest._check import FloatArray, IntArray
from levelbest._grid import budget_grid
from levelbest.cautions import Caution
from levelbest.designs._protocol import Asked
from levelbest.errors import InputError
from levelbest.results import Curve
from levelbest.stats.bands import Interval, best_interval
from levelbest.stats.best import (
    Mean,
    best_statistic,
    expected_best,
    gaussian_best,
    mean_and_spread,
    normality,
    quantile_best,
    spread_of_best,
    statistic_named,
)
from levelbest.stats.best import Quantile as QuantileStatistic
from levelbest.trials import Scores, Trials

__all__ = ["mean_cost", "trial_curve"]

ESTIMATORS = ("u", "v", "naive", "gaussian")
_SORTED_FROM = 100_000
"""From so many trials on a table is sorted once for all that follows."""
_SAID_ANEW = ("failures", "still-running", "no-reported")  # a curve says these itself, with the policy it used


def trial_curve(
    trials: Trials, asked: Asked, *, no_limits: str = "", scores: Scores | None = None, unit: str = "trial"
) -> Curve:
    """The curve of one family of independent trials; ``no_limits`` is the code of a reason why it has no interval.

    ``scores`` are those of its units where these are not single trials, and ``unit`` is the word for one.
    """
    settings, metric, family = asked.settings, trials.metric, trials.families[0]
    scores = _ranked_if_many(scores or trials.scores(settings.failed, missing=settings.missing))
    statistic = statistic_named(asked.statistic)
    _check.as_choice(asked.estimator, ESTIMATORS, "estimator")
    if not isinstance(statistic, Mean) and asked.estimator != "u":
        raise InputError(
            f"a {statistic.name} curve has one estimator, 'u', got {asked.estimator!r}; use statistic='mean' for others"
        )
    cautions = [caution for caution in trials.cautions if caution.code not in _SAID_ANEW]
    budgets = budget_grid(scores.n_trials) if asked.n is None else np.array(asked.n, dtype=np.int64)
    if asked.estimator == "gaussian":
        cautions += _about_the_fit(scores, budgets, family, metric.direction)
    else:
        budgets, left_out = _within_the_data(budgets, scores, family)
        cautions += left_out
    value, spread = _Estimate(scores, budgets, metric.direction, asked).value_and_spread()
    limits = _limits(trials, scores, budgets, asked, no_limits)
    return Curve(
        family=family,
        n=budgets,
        value=value,
        low=np.asarray(limits.low),
        high=np.asarray(limits.high),
        spread=spread,
        cost=None if scores.cost is None else np.float64(mean_cost(scores.cost)) * budgets,
        statistic=statistic.name,
        estimator=asked.estimator,
        direction=metric.direction,
        selection=metric.selection,
        reported=metric.reported if scores.reported is not None else None,
        cost_unit=metric.cost_unit,
        method=limits.method,
        confidence=settings.confidence,
        simultaneous=limits.simultaneous,
        note=limits.note or "",
        n_trials=scores.n_trials,
        n_failed=scores.n_failed,
        n_running=scores.n_running,
        failed=settings.failed,
        horizon=limits.horizon,
        seed=settings.rng,
        unseen=limits.unseen,
        cautions=tuple(dict.fromkeys([*cautions, *_about_the_trials(trials, scores, limits, unit)])),
        unit=unit,
    )


def mean_cost(cost: FloatArray) -> float:
    """Over the trials whose cost is known; undefined where none is."""
    known = cost[np.isfinite(cost)]
    return float(known.mean()) if known.size else float("nan")


def _ranked_if_many(scores: Scores) -> Scores:
    """Very many trials are sorted once here: what follows sorts them again, and sorted data are sorted in no time."""
    if scores.n_trials < _SORTED_FROM:
        return scores
    by = np.argsort(scores.selection)
    reported, cost = (None if column is None else column[by] for column in (scores.reported, scores.cost))
    return replace(scores, selection=scores.selection[by], reported=reported, cost=cost, rows=scores.rows[by])


def _within_the_data(budgets: IntArray, scores: Scores, family: str) -> tuple[IntArray, list[Caution]]:
    inside = budgets[budgets <= scores.n_trials]
    if inside.size == budgets.size:
        return budgets, []
    if not inside.size:
        _check.as_budgets(budgets, scores.n_trials)
    return inside, [Caution.of("beyond-trials", family, budgets.max(), n_trials=scores.n_trials)]


def _about_the_fit(scores: Scores, budgets: IntArray, family: str, direction: str) -> list[Caution]:
    """What a Gaussian fit leans on: past the trials it extrapolates, and the scores may not look normal."""
    cautions = []
    if budgets.max() > scores.n_trials:
        last = float(budgets.max())
        cautions.append(Caution.of("extrapolated", family, last, n_trials=scores.n_trials, method="gaussian"))
    fitted = normality(scores.curve_of if direction == "max" else -scores.curve_of)
    if fitted.rejected:
        cautions.append(Caution.of("not-normal", family, fitted.p_value, p_value=fitted.p_value))
    return cautions


@dataclass(frozen=True)
class _Estimate:
    """What a curve shows at its budgets, and how much the best itself spreads."""

    scores: Scores
    budgets: IntArray
    direction: str
    asked: Asked

    def value_and_spread(self) -> tuple[FloatArray, FloatArray]:
        statistic, estimator = statistic_named(self.asked.statistic), self.asked.estimator
        columns = self.scores.selection, self.budgets
        reported, direction = self.scores.reported, self.direction
        if estimator == "gaussian":
            fitted = gaussian_best(*columns, reported, direction=direction)
            return np.asarray(fitted), np.full(self.budgets.size, np.nan)
        if isinstance(statistic, Mean) and estimator != "naive":
            return mean_and_spread(*columns, reported, estimator=estimator, direction=direction)
        if isinstance(statistic, Mean):
            value = expected_best(*columns, reported, estimator=estimator, direction=direction)
        elif isinstance(statistic, QuantileStatistic):
            value = quantile_best(*columns, statistic.q, reported, direction=direction)
        else:
            value = best_statistic(*columns, reported, statistic=statistic.name, direction=direction)
        spread = spread_of_best(*columns, reported, estimator=estimator, direction=direction)
        return np.asarray(value), np.asarray(spread)


def _limits(trials: Trials, scores: Scores, budgets: IntArray, asked: Asked, no_limits: str) -> Interval:
    """An interval of the estimate shown; none where that estimator has none of its own."""
    settings = asked.settings
    if scores.n_trials < 2 or no_limits:
        nowhere = np.full(budgets.size, np.nan)
        return Interval(
            n=budgets,
            low=nowhere,
            high=nowhere,
            method="none",
            confidence=settings.confidence,
            simultaneous=asked.simultaneous,
            n_trials=scores.n_trials,
            reason="one trial tells nothing of the spread" if scores.n_trials < 2 else None,
        )
    return best_interval(
        scores.selection,
        budgets,
        scores.reported,
        statistic=asked.statistic,
        method=asked.interval,
        confidence=settings.confidence,
        simultaneous=asked.simultaneous,
        direction=trials.metric.direction,
        bounds=trials.metric.bounds,
        n_resamples=settings.n_resamples,
        rng=settings.rng,
        estimator=asked.estimator,
    )


def _about_the_trials(trials: Trials, scores: Scores, limits: Interval, unit: str) -> list[Caution]:
    from levelbest.designs._table import failure_cautions

    family = trials.families[0]
    cautions = failure_cautions(family, scores, unit)
    if scores.n_running:
        cautions.append(Caution.of("still-running", family, scores.n_running, n_running=scores.n_running, unit=unit))
    if scores.reported is None:
        cautions.append(Caution.of("no-reported", family, selection=trials.metric.selection))
    if limits.reason:
        cautions.append(Caution.of("beyond-horizon", family, reason=limits.reason))
    return cautions
