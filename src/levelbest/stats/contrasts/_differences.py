"""Differences of several pairs of families by one bootstrap, with bands over the budgets compared.

Everywhere a difference is first minus second, turned so that positive means that the first is better.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from levelbest import _check
from levelbest._check import FloatArray, IntArray, Seed
from levelbest.stats.bands import EXACT
from levelbest.stats.best import Mean, Quantile, Sample, expected_best, statistic_named, turn
from levelbest.stats.contrasts._pairwise import Draws, draw_families, pair_bands, reach_words, widest
from levelbest.stats.contrasts._quantiles import bootstrapped_differences, exact_differences
from levelbest.stats.contrasts._samples import Difference, Provenance, check_pairing

__all__ = ["difference_bands", "draw", "mean_differences"]

as_quantile = _check.as_statistic


def difference_bands(
    families: Sequence[Sample],
    pairs: Sequence[tuple[int, int]],
    n: IntArray,
    *,
    statistic: str | float = "mean",
    paired: bool = False,
    confidence: float = 0.95,
    direction: str = "max",
    step_down: bool = False,
    n_resamples: int = _check.N_RESAMPLES,
    rng: Seed = 0,
) -> tuple[Difference, ...]:
    """Differences of several pairs of families, with bands that hold for all pairs and budgets together."""
    wanted = statistic_named(statistic)
    confidence = _check.as_confidence(confidence)
    turned = turn(families, direction)
    if paired:
        check_pairing(turned)
    if isinstance(wanted, Mean):
        draws = draw(turned, pairs, n, paired=paired, n_resamples=n_resamples, rng=rng)
        return mean_differences(draws, turned, confidence=confidence, direction=direction, step_down=step_down)
    if isinstance(wanted, Quantile) and all(family.reported is None for family in turned):
        terms = Provenance(EXACT, confidence, wanted.name, direction, paired)
        return exact_differences(turned, pairs, n, wanted.q, terms)
    terms = Provenance("percentile", confidence, wanted.name, direction, paired, n_resamples)
    return bootstrapped_differences(turned, pairs, n, wanted, terms, _check.as_rng(rng))


def draw(
    turned: Sequence[Sample],
    pairs: Sequence[tuple[int, int]],
    n: IntArray,
    *,
    paired: bool,
    n_resamples: int,
    rng: Seed,
) -> Draws:
    """One bootstrap of all families (turned scores), to be read by `mean_differences` and by others."""
    families = [(one.selection, one.reported) for one in turned]
    n_resamples = _check.as_count(n_resamples, "n_resamples", at_least=99)
    return draw_families(families, pairs, n, paired=paired, n_resamples=n_resamples, rng=_check.as_rng(rng))


def mean_differences(
    draws: Draws, turned: Sequence[Sample], *, confidence: float, direction: str, step_down: bool = False
) -> tuple[Difference, ...]:
    """Bands for the differences of mean curves; past half the trials there are estimates but no limits."""
    n_resamples = draws.deviations.shape[-1]
    terms = Provenance("studentised", confidence, "mean", direction, draws.paired, n_resamples)
    differences = []
    for (a, b), band in zip(draws.pairs, pair_bands(draws, confidence, step_down=step_down), strict=True):
        sizes = turned[a].n_trials, turned[b].n_trials
        inside = draws.n <= widest(*sizes)
        limits = np.where(inside, band.low, np.nan), np.where(inside, band.high, np.nan)
        difference = band.difference.copy()
        within = ~inside & (draws.n <= min(sizes))
        if within.any():
            difference[within] = _means(turned[a], draws.n[within]) - _means(turned[b], draws.n[within])
        reasons = [] if inside.all() else [reach_words(*sizes)]
        if (inside & (band.error == 0)).any():
            reasons.append("scores without spread leave the difference without limits")
        certified = np.where(inside, band.certified, 0)
        differences.append(
            terms.difference(draws.n, difference, limits, sizes, certified=certified, reason="; ".join(reasons) or None)
        )
    return tuple(differences)


def _means(family: Sample, n: IntArray) -> FloatArray:
    return np.asarray(expected_best(family.selection, n, family.reported))
