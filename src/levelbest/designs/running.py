"""Studies that are still running: limits that are valid at every look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest.designs._table import TableDesign
from levelbest.errors import InputError, named
from levelbest.results import DesignWords
from levelbest.stats.bands import anytime_cdf_band, anytime_quantile_interval, mean_curve_bounds
from levelbest.stats.best import Mean, Quantile, expected_best, quantile_best, statistic_named
from levelbest.stats.inference import Contrasts, Hypotheses, band_contrasts, band_differences
from levelbest.trials import RUNNING, Scores, Trials, has_repeats


def finished_prefix(trials: Trials) -> Trials:
    """The trials up to the first that still runs, in the order of the plan.

    Those that have finished so far are not a fair sample: short ones finish first.
    """
    rows = np.arange(len(trials)) if trials.order is None else np.argsort(trials.order, kind="stable")
    running = np.flatnonzero(trials.status[rows] == RUNNING)
    return trials.take(rows[: running[0]] if running.size else rows)


class Running(TableDesign):
    """Each family's anytime band at an adjusted level: independent families, so a product."""

    name: ClassVar[str] = "running"
    option = "while_running"
    refused, where = ("interval", "paired", "p_values"), "for limits that are valid at every look"
    words = DesignWords(scope="valid at every look")
    adjustment = "bands"
    beyond = ""
    moot = ("fixed-sample",)  # these limits do not need a sample fixed in advance

    def _scores(self) -> Sequence[Scores]:
        settings = self.request.settings
        if has_repeats(self.trials) and self.trials.setting is not None:
            count = np.unique(self.trials.setting).size
            raise InputError(
                f"limits that hold at every look are for trials that arrive one after the other, and these "
                f"{len(self.trials)} runs are {count} configurations with several runs each, whose means change as "
                f"runs arrive; keep one run of each ({named('where', 'seed = 0')}), or leave out "
                f"{named('while_running')} and look once, at the end"
            )
        if self.trials.reported is not None and settings.missing != "selection":
            raise InputError(
                "limits that hold at every look are known for one score column only; leave the reported score out "
                f"while it runs ({named('reported', 'none')}, or {named('missing', 'selection')})"
            )
        if isinstance(statistic_named(self.request.statistic), Mean) and None in self.metric.bounds:
            raise InputError(
                f"limits for a mean that hold at every look need the bounds of the score; give {named('bounds')}, or "
                f"use {named('statistic', 'median')}, which needs none"
            )
        return [finished_prefix(table).scores(settings.failed, missing=settings.missing) for table in self.tables]

    def contrasts(self, hypotheses: Hypotheses) -> Contrasts:
        """Differences of the bands."""
        budgets = self.budgets(hypotheses.pairs)
        each = hypotheses.confidence ** (1 / len(self.families))
        turned = {f: self._turned_band(scores.selection, budgets, each) for f, scores in enumerate(self.scores)}
        bands = band_differences(hypotheses.pairs, budgets, turned)
        return band_contrasts(hypotheses, bands, self.sizes, [("running",)] * len(bands), method="anytime")

    def _turned_band(
        self, scores: FloatArray, budgets: IntArray, confidence: float
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Value, low and high at each budget, turned; NaN past the trials."""
        band = np.full((3, budgets.size), np.nan)
        inside = budgets[budgets <= scores.size]
        if inside.size:
            band[:, : inside.size] = self._band(scores, inside, confidence)
        value, low, high = band
        return (value, low, high) if self.metric.sign > 0 else (-value, -high, -low)

    def _band(self, scores: FloatArray, n: IntArray, confidence: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        direction, bounds = self.metric.direction, self.metric.bounds
        statistic = statistic_named(self.request.statistic)
        if isinstance(statistic, Quantile):
            limits = anytime_quantile_interval(
                scores, n, statistic.q, confidence=confidence, simultaneous=True, direction=direction, bounds=bounds
            )
            value = quantile_best(scores, n, statistic.q, direction=direction)
        elif isinstance(statistic, Mean):
            limits = mean_curve_bounds(anytime_cdf_band(scores, confidence), n, bounds=bounds, direction=direction)
            value = expected_best(scores, n, direction=direction)
        else:
            raise InputError(f"no limits of {statistic.name!r} hold at every look; use the mean or a quantile")
        return np.asarray(value), np.asarray(limits.low), np.asarray(limits.high)
