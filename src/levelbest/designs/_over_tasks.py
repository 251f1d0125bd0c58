"""Numbers over several tasks: the mean of standardised curves, ranks, interquartile means, chances of improvement."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from levelbest._check import FloatArray
from levelbest.designs._assemble import pairs_of
from levelbest.designs._curves import drawn_curve
from levelbest.designs._protocol import Asked
from levelbest.results import Curve, OverTasks
from levelbest.stats.bands import Interval, order_statistic
from levelbest.stats.contrasts import Sample, interquartile_mean, probability_of_improvement

if TYPE_CHECKING:
    from levelbest.designs.tasks import Tasks

__all__ = ["improvements", "interquartile_means", "mean_curves", "mean_ranks"]


def mean_curves(design: Tasks, asked: Asked) -> tuple[Curve, ...]:
    """The mean over tasks of each family's standardised curve; limits by the studentised bootstrap."""
    rows = np.flatnonzero(np.isin(design.budgets, asked.n)) if asked.n is not None else np.arange(design.budgets.size)
    drawn, settings = design.merged, asked.settings
    with np.errstate(divide="ignore", invalid="ignore"):
        every = np.nan_to_num(drawn.deviations / np.sqrt(drawn.variances), nan=0.0).astype(np.float64)
    curves = []
    for f, counted in enumerate(design.counts):
        value, error = drawn.estimate[f, rows], np.sqrt(drawn.variance[f, rows])
        low, high = _studentised(every[f, rows], settings.confidence, simultaneous=asked.simultaneous)
        if counted.family in design.excluded:
            low = high = np.full(rows.size, np.nan)
        limits = Interval(
            n=design.budgets[rows],
            low=value - high * error,
            high=value - low * error,
            method="studentised",
            confidence=settings.confidence,
            simultaneous=asked.simultaneous,
            n_trials=counted.n_trials,
        )
        curve = drawn_curve(counted, design.metric, asked, value, limits)
        curves.append(replace(curve, cost_unit=None, unit=design.unit))
    return tuple(curves)


def interquartile_means(design: Tasks) -> tuple[OverTasks, ...]:
    """Of each family, at one trial and at the largest budget that allows it."""
    settings = design.asked.settings
    sign = next(iter(design.tasks.values())).metric.sign if design.as_scored else 1.0
    rows = []
    for f, name in enumerate(design.families):
        samples = [several[f] for several in design.standard.values()]
        if design.as_scored:
            direction = "max" if sign > 0 else "min"
            given = [several[f] for several in design.scores.values()]
            samples = [Sample(own.selection, own.reported).turned(direction) for own in given]
        for n in design.few:
            own = interquartile_mean(
                samples,
                n,
                confidence=settings.confidence,
                n_resamples=settings.n_resamples,
                rng=settings.rng,
            )
            low, high = sorted((sign * own.low, sign * own.high))
            rows.append(_row(design, (name,), n, sign * own.value, low, high))
    return tuple(rows)


def improvements(design: Tasks) -> tuple[OverTasks, ...]:
    """Of each pair compared, at the same budgets."""
    settings, rows = design.asked.settings, []
    for a, b in pairs_of(design.families, design.asked.baseline):
        first, second = ([several[f] for several in design.standard.values()] for f in (a, b))
        for n in design.few:
            own = probability_of_improvement(
                first,
                second,
                n,
                confidence=settings.confidence,
                n_resamples=settings.n_resamples,
                rng=settings.rng,
            )
            both = design.families[a], design.families[b]
            rows.append(_row(design, both, n, own.value, own.low, own.high))
    return tuple(rows)


def mean_ranks(design: Tasks) -> tuple[OverTasks, ...]:
    """Mean ranks over tasks, 1 best; percentiles over resampled curves, which keep what the trials leave open."""
    point = np.mean([_ranked(own.estimate) for own in design.drawn], axis=0)
    tail = (1 - design.asked.settings.confidence) / 2
    ranks = []
    for i, budget in enumerate(design.budgets):
        resampled = np.mean(
            [_ranked(own.estimate[:, i, None] + own.deviations[:, i].astype(np.float64)) for own in design.drawn],
            axis=0,
        )
        low, high = (order_statistic(resampled, p) for p in (tail, 1 - tail))
        low, high = np.minimum(low, point[:, i]), np.maximum(high, point[:, i])
        if design.excluded:  # a rank is among all families
            low = high = np.full(low.size, np.nan)
        ranks += [
            _row(design, (name,), int(budget), float(point[f, i]), float(low[f]), float(high[f]))
            for f, name in enumerate(design.families)
        ]
    return tuple(ranks)


def _row(design: Tasks, families: tuple[str, ...], n: int, value: float, low: float, high: float) -> OverTasks:
    """Without limits where a family is one adaptive search: resampling its trials says nothing of another search."""
    if any(name in design.excluded for name in families):
        low = high = float("nan")
    return OverTasks(families, n, value, low, high)


def _studentised(t: FloatArray, confidence: float, *, simultaneous: bool) -> tuple[FloatArray, FloatArray]:
    """Low and high quantiles of t at each budget (budget, resample), for each by itself or for all together."""
    tail = (1 - confidence) / 2
    low, high = (order_statistic(t, p) for p in (tail, 1 - tail))
    if simultaneous and t.shape[0] > 1:
        with np.errstate(divide="ignore", invalid="ignore"):
            beyond = np.maximum(t / high[:, None], t / low[:, None])  # in units of each side's own quantile
        factor = max(1.0, float(order_statistic(np.nanmax(beyond, axis=0)[None], confidence)[0]))
        low, high = factor * low, factor * high
    return low, high


def _ranked(values: FloatArray) -> FloatArray:
    """Ranks along the first axis, 1 best; equal families share the mean rank."""
    better = (values[:, None] < values[None]).sum(axis=1)
    equal = (values[:, None] == values[None]).sum(axis=1)
    return np.asarray(better + (equal + 1) / 2)
