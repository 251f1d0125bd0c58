"""The curve of independent trials: the reported score of the best of n by selection score, with an interval."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from levelbest import _check
from levelbest._check import FloatArray, IntArray, budget_grid
from levelbest._cores import MANY_TRIALS
from levelbest.cautions import Caution
from levelbest.designs._protocol import Asked, Counts
from levelbest.designs._table import SAID_ANEW, failure_cautions
from levelbest.errors import InputError
from levelbest.results import TRIALS, Curve, DesignWords
from levelbest.stats.bands import Interval, Terms, sample_interval
from levelbest.stats.best import (
    Mean,
    Sample,
    best_statistic,
    expected_best,
    gaussian_best,
    mean_and_spread,
    means_and_spreads,
    normality,
    spread_of_best,
    statistic_named,
)
from levelbest.trials import Metric, Scores, Trials

ESTIMATORS = ("u", "v", "naive", "gaussian")


def drawn_curve(
    counted: Counts, metric: Metric, asked: Asked, value: FloatArray, limits: Interval, spread: FloatArray | None = None
) -> Curve:
    """A family's curve: its values, their limits, and where both come from."""
    nowhere = np.full(value.size, np.nan)
    return Curve(
        family=counted.family,
        n=np.atleast_1d(limits.n),
        value=value,
        low=np.asarray(limits.low),
        high=np.asarray(limits.high),
        spread=nowhere if spread is None else spread,
        cost=None,
        statistic=asked.statistic,
        estimator=asked.estimator,
        direction=metric.direction,
        selection=metric.selection,
        reported=metric.reported,
        cost_unit=metric.cost_unit,
        method=limits.method,
        confidence=limits.confidence,
        simultaneous=limits.simultaneous,
        rule=limits.rule,
        n_trials=counted.n_trials,
        n_failed=counted.n_failed,
        n_running=counted.n_running,
        failed=asked.settings.failed,
        horizon=limits.horizon,
        seed=asked.settings.rng,
        unseen=limits.unseen,
    )


def trial_curve(
    trials: Trials, asked: Asked, *, no_limits: str = "", scores: Scores | None = None, words: DesignWords = TRIALS
) -> Curve:
    """The curve of one family of independent trials; ``no_limits`` is the code of a reason why it has no interval.

    ``scores`` are those of its units where these are not single trials, and ``words`` say what these are called.
    """
    settings, metric, family = asked.settings, trials.metric, trials.families[0]
    scores = scores or trials.scores(settings.failed, missing=settings.missing)
    statistic = statistic_named(asked.statistic)
    _check.as_choice(asked.estimator, ESTIMATORS, "estimator")
    if not isinstance(statistic, Mean) and asked.estimator != "u":
        raise InputError(
            f"a {statistic.name} curve has one estimator, 'u', got {asked.estimator!r}; use statistic='mean' for others"
        )
    cautions = [caution for caution in trials.cautions if caution.code not in SAID_ANEW]
    budgets = budget_grid(scores.n_trials) if asked.n is None else np.array(asked.n, dtype=np.int64)
    if asked.estimator == "gaussian":
        cautions += _about_the_fit(scores, budgets, family, metric.direction)
    else:
        budgets, left_out = _within_the_data(budgets, scores, family)
        cautions += left_out
    sample = Sample.of(scores.selection, scores.reported, at_least=1)
    if scores.n_trials >= MANY_TRIALS and asked.estimator != "naive":  # which is of the first n trials
        sample = sample.ordered()  # what is in order is not sorted again
    value, spread = _value_and_spread(sample, budgets, metric.direction, asked)
    limits = _limits(trials, sample, budgets, asked, no_limits)
    counted = Counts(family, scores.n_trials, scores.n_failed, scores.n_running)
    return replace(
        drawn_curve(counted, metric, asked, value, limits, spread),
        cost=None if scores.cost is None else np.float64(mean_cost(scores.cost)) * budgets,
        statistic=statistic.name,
        reported=metric.reported if scores.reported is not None else None,
        cautions=tuple(dict.fromkeys([*cautions, *_about_the_trials(trials, scores, limits, asked, words.unit)])),
        words=words,
    )


def mean_cost(cost: FloatArray) -> float:
    """Over the trials whose cost is known; undefined where none is."""
    known = cost[np.isfinite(cost)]
    return float(known.mean()) if known.size else float("nan")


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


def _value_and_spread(
    sample: Sample, budgets: IntArray, direction: str, asked: Asked
) -> tuple[FloatArray, FloatArray | None]:
    """What a curve shows at its budgets, and how much the best itself spreads, which a fit does not say."""
    columns, estimator = (sample.selection, budgets, sample.reported), asked.estimator
    if estimator == "u" and isinstance(statistic_named(asked.statistic), Mean):
        ranked = sample.turned(direction).ordered()
        means, spreads = means_and_spreads(ranked.ranked, budgets, estimator)
        ranked.remember(budgets, means)
        return _check.sign_of(direction) * means + 0.0, spreads  # 0 has no sign
    if estimator == "gaussian":
        return np.asarray(gaussian_best(*columns, direction=direction)), None
    if estimator == "v":
        return mean_and_spread(*columns, estimator=estimator, direction=direction)
    if estimator == "naive":
        value = expected_best(*columns, estimator=estimator, direction=direction)
    else:
        value = best_statistic(*columns, statistic=asked.statistic, direction=direction)
    return np.asarray(value), np.asarray(spread_of_best(*columns, estimator=estimator, direction=direction))


def _limits(trials: Trials, sample: Sample, budgets: IntArray, asked: Asked, no_limits: str) -> Interval:
    """An interval of the estimate shown; none where that estimator has none of its own."""
    settings = asked.settings
    if sample.n_trials < 2 or no_limits:
        nowhere = np.full(budgets.size, np.nan)
        return Interval(
            n=budgets,
            low=nowhere,
            high=nowhere,
            method="none",
            confidence=settings.confidence,
            simultaneous=asked.simultaneous,
            n_trials=sample.n_trials,
            why=("one-trial",) * budgets.size if sample.n_trials < 2 else (),
        )
    terms = Terms(
        settings.confidence,
        asked.simultaneous,
        trials.metric.direction,
        trials.metric.bounds,
        settings.n_resamples,
        asked.estimator,
    )
    statistic = statistic_named(asked.statistic)
    return sample_interval(sample, budgets, terms, statistic, asked.interval, settings.rng)


def _about_the_trials(trials: Trials, scores: Scores, limits: Interval, asked: Asked, unit: str) -> list[Caution]:
    family = trials.families[0]
    cautions = failure_cautions(family, scores, unit)
    if scores.n_running:
        cautions.append(Caution.of("still-running", family, scores.n_running, n_running=scores.n_running, unit=unit))
    if scores.reported is None:
        cautions.append(Caution.of("no-reported", family, selection=trials.metric.selection))
    if limits.rule.code == "light tails":
        cautions.append(Caution.of("light-tails", family, scores.n_trials, n_trials=scores.n_trials))
    if limits.why:
        estimator, method = asked.estimator, asked.interval
        cautions.append(
            Caution.of("beyond-horizon", family, reasons=limits.reasons, estimator=estimator, method=method)
        )
    return cautions
