"""Differences of quantile curves and other statistics than the mean: certified where their limits exclude zero.

Limits of quantiles of one score column are exact. Those of a separate reported score are a bootstrap's, which dealing
the trials anew must confirm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from levelbest import _check
from levelbest._check import FloatArray, IntArray
from levelbest.errors import DataError
from levelbest.stats.bands import (
    EXACT,
    Ranked,
    allow,
    local_level,
    percentile,
    quantile_interval,
    statistic_bootstrap,
    statistic_draws,
)
from levelbest.stats.best import Quantile, Sample, Statistic, quantile_best, statistic_named
from levelbest.stats.contrasts._contrast import VERDICTS, Band, Contrasts, Question, band_differences, contrast_of
from levelbest.stats.contrasts._dealings import across, nodes_of
from levelbest.stats.contrasts._families import half_of
from levelbest.stats.contrasts._gates import quantile_p


def by_limits(
    samples: Sequence[Sample],
    n: IntArray,
    question: Question,
    statistic: str | float,
    *,
    paired: bool,
    n_resamples: int,
) -> Contrasts:
    """Contrasts of statistics other than the mean."""
    compared = _Compared(samples, question, statistic_named(statistic), paired, n_resamples)
    bands = compared.bands(n)
    alone = None if question.headline is None else compared.bands(np.array([question.headline]))
    closed = alone is not None and not all(band.certified[0] for band in alone)
    contrasts = []
    for at, pair in enumerate(question.pairs):
        band = bands[at]
        if closed:
            band = band._replace(certified=np.zeros_like(band.certified))
        deciding = band if alone is None else alone[at]
        contrasts.append(
            contrast_of(
                question,
                pair,
                (samples[pair[0]].n_trials, samples[pair[1]].n_trials),
                band if alone is None else band.with_named(alone[at]),
                basis="limits",
                further=0.0 if deciding.certified[0] else math.nan,
                reasons=("beyond-half",) if np.isnan(bands[at].low).any() else (),
                named=alone is not None,
            )
        )
    return Contrasts(tuple(contrasts), *((EXACT, 0) if compared.exact else ("percentile", n_resamples)))


@dataclass(frozen=True)
class _Compared:
    """Families, turned, and what is compared of them."""

    samples: Sequence[Sample]
    question: Question
    statistic: Statistic
    paired: bool
    n_resamples: int

    @property
    def exact(self) -> bool:
        """Whether the limits are those of quantiles of one score column."""
        return isinstance(self.statistic, Quantile) and all(own.reported is None for own in self.samples)

    def bands(self, n: IntArray) -> list[Band]:
        """Of every pair, for all pairs and budgets together; a bootstrap's certify what dealing anew confirms."""
        if isinstance(self.statistic, Quantile) and self.exact:
            return self._exact(n, self.statistic.q)
        level = (1 - self.question.confidence) / len(self.question.pairs)
        confirmed = []
        for (a, b), band in zip(self.question.pairs, self._bootstrapped(n), strict=True):
            certified = band.certified
            if certified.any():
                p_values = quantile_p((self.samples[a], self.samples[b]), n, self.statistic, level, paired=self.paired)
                certified = np.where(p_values <= level, certified, 0)
            confirmed.append(band._replace(certified=certified))
        return confirmed

    def _exact(self, n: IntArray, q: float) -> list[Band]:
        """Each family's exact band at an adjusted level.

        Independent families: all their bands hold together with the product of their confidences. Paired: with one
        minus the sum of their errors. Whatever holds for the bands holds for every difference.
        """
        compared = sorted({f for pair in self.question.pairs for f in pair})
        confidence = self.question.confidence
        each = 1 - (1 - confidence) / len(compared) if self.paired else confidence ** (1 / len(compared))
        curves = {}
        for f in compared:
            selection = self.samples[f].selection
            inside = n[n <= selection.size]
            value, low, high = np.full((3, n.size), np.nan)
            if inside.size and selection.size > 1:
                limits = quantile_interval(selection, inside, q, confidence=each, simultaneous=True)
                low[: inside.size], high[: inside.size] = limits.low, limits.high
                value[: inside.size] = quantile_best(selection, inside, q)
            curves[f] = value, low, high
        return band_differences(self.question.pairs, n, curves)

    def _bootstrapped(self, n: IntArray) -> list[Band]:
        """Percentiles of the resampled differences of any statistic.

        Each tail is balanced over the budgets (`local_level`); over several pairs the error is shared equally.
        Resamples are made at nodes; between them limits are linear in log n, and hold the estimate.
        """
        if any(family.n_trials < 2 for family in self.samples):
            raise DataError("a bootstrap needs at least 2 trials in every family")
        nodes, rng = nodes_of(n), _check.as_rng(VERDICTS)
        allow(self.n_resamples, nodes.size, len(self.samples))
        shared = rng.integers(0, 2**63) if self.paired else None
        values, draws = [], []
        for family in self.samples:
            stream = rng if shared is None else np.random.default_rng(shared)
            values.append(self._estimates(family, n))
            some = Ranked(family.selection, nodes[nodes <= half_of(family.n_trials)], family.claimed)
            draws.append(
                statistic_bootstrap(some, self.statistic, self.n_resamples, stream, in_given_order=self.paired)
            )
        bands = []
        for a, b in self.question.pairs:
            half = half_of(self.samples[a].n_trials, self.samples[b].n_trials)
            inside, kept = n <= half, nodes[nodes <= half]
            difference = values[a] - values[b]
            low, high = np.full((2, n.size), np.nan)
            if kept.size:
                both = draws[a][: kept.size] - draws[b][: kept.size]
                level = local_level(both, (1 - self.question.confidence) / len(self.question.pairs))
                below, above = (across(n[inside], kept, limit) for limit in percentile(both, level))
                low[inside] = np.minimum(below, difference[inside])
                high[inside] = np.maximum(above, difference[inside])
            bands.append(Band.of(n, difference, low, high))
        return bands

    def _estimates(self, family: Sample, n: IntArray) -> FloatArray:
        """The statistic itself; NaN past half the trials."""
        every = Ranked(family.selection, n[n <= half_of(family.n_trials)], family.claimed)
        values = np.full(n.size, np.nan)
        ones = np.ones((1, family.n_trials), dtype=np.int64)
        values[: every.n.size] = statistic_draws(every, self.statistic, ones)[:, 0]
        return values
