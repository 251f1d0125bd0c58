"""Comparisons while a search still runs: limits that hold at every look."""

from __future__ import annotations

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest.comparisons.plan import Plan
from levelbest.errors import InputError
from levelbest.stats.bands import anytime_cdf_band, anytime_quantile_interval, mean_curve_bounds
from levelbest.stats.best import _order as order
from levelbest.stats.contrasts import Difference, as_quantile
from levelbest.trials import STATUSES, Trials

__all__ = ["finished_prefix", "running_differences"]

_RUNNING = STATUSES.index("running")


def finished_prefix(trials: Trials) -> Trials:
    """The trials up to the first that still runs, in the order of the plan.

    Those that have finished so far are not a fair sample: short ones finish first.
    """
    rows = np.arange(len(trials)) if trials.order is None else np.argsort(trials.order, kind="stable")
    running = np.flatnonzero(trials.status[rows] == _RUNNING)
    return trials.take(rows[: running[0]] if running.size else rows)


def running_differences(
    table: Trials,
    plan: Plan,
    n: IntArray,
    statistic: str | float,
    confidence: float,
    failed: str,
    missing: str,
) -> tuple[Difference, ...]:
    """Differences from each family's anytime band at an adjusted level: independent families, so a product."""
    q = as_quantile(statistic)
    metric = table.metric
    if metric.reported is not None and missing != "selection":
        raise InputError(
            "limits that hold at every look are known for one score column only; leave --reported out while it runs, "
            "or take the selection score alone with --missing-reported selection"
        )
    if q is None and None in metric.bounds:
        raise InputError(
            "limits for a mean that hold at every look need the bounds of the score; give --bounds, or use --statistic "
            "median, which needs none"
        )
    each = confidence ** (1 / len(plan.names))
    sign = 1.0 if metric.direction == "max" else -1.0
    bands = []
    for one in plan.tables:
        scores = finished_prefix(one).scores(failed).selection
        inside = n[n <= scores.size]
        value, low, high = (np.full(n.size, np.nan) for _ in range(3))
        if inside.size:
            lower, upper, estimate = _limits(scores, inside, q, each, metric.direction, metric.bounds)
            low[: inside.size], high[: inside.size], value[: inside.size] = lower, upper, estimate
        if sign < 0:
            value, low, high = -value, -high, -low
        bands.append((scores.size, value, low, high))
    found = []
    for a, b in plan.pairs:
        (size_a, value_a, low_a, high_a), (size_b, value_b, low_b, high_b) = bands[a], bands[b]
        low, high = low_a - high_b, high_a - low_b
        found.append(
            Difference(
                n=n,
                difference=value_a - value_b,
                low=low,
                high=high,
                certified=np.where(low > 0, 1, np.where(high < 0, -1, 0)),
                method="anytime",
                confidence=confidence,
                simultaneous=True,
                paired=False,
                n_trials=(size_a, size_b),
                statistic="mean" if q is None else "median" if q == 0.5 else f"{q:g}",
                direction=metric.direction,
                reason="no limit holds at every look there yet",
            )
        )
    return tuple(found)


def _limits(
    scores: FloatArray,
    n: IntArray,
    q: float | None,
    confidence: float,
    direction: str,
    bounds: tuple[float | None, float | None],
) -> tuple[FloatArray, FloatArray, FloatArray]:
    if q is not None:
        found = anytime_quantile_interval(
            scores, n, q, confidence=confidence, simultaneous=True, direction=direction, bounds=bounds
        )
        value = order.quantile_best(scores, n, q, direction=direction)
        return np.asarray(found.low), np.asarray(found.high), np.asarray(value)
    band = anytime_cdf_band(scores, confidence)
    both = mean_curve_bounds(band, n, bounds=bounds, direction=direction)
    value = order.expected_best(scores, n, direction=direction)
    return np.asarray(both.low), np.asarray(both.high), np.asarray(value)
