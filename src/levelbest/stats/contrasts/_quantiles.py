"""Differences of quantile curves and other statistics: exact for quantiles of one score column, else a bootstrap."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from levelbest import _check
from levelbest._check import FloatArray, IntArray, Seed
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
from levelbest.stats.contrasts._families import half_of
from levelbest.stats.contrasts._nodes import across, nodes_of
from levelbest.stats.contrasts._samples import Difference, Provenance, check_pairing

__all__ = ["statistic_differences"]


def statistic_differences(
    turned: Sequence[Sample],
    pairs: Sequence[tuple[int, int]],
    n: IntArray,
    *,
    statistic: str | float,
    paired: bool,
    confidence: float,
    n_resamples: int,
    rng: Seed,
) -> tuple[Difference, ...]:
    """Differences of several pairs of families, with bands that hold for all pairs and budgets together."""
    if paired:
        check_pairing(turned)
    wanted = statistic_named(statistic)
    if isinstance(wanted, Quantile) and all(family.reported is None for family in turned):
        terms = Provenance(EXACT, confidence, wanted.name, "max", paired)
        return _exact_differences(turned, pairs, n, wanted.q, terms)
    terms = Provenance("percentile", confidence, wanted.name, "max", paired, n_resamples)
    return _bootstrapped_differences(turned, pairs, n, wanted, terms, _check.as_rng(rng))


def _exact_differences(
    turned: Sequence[Sample], pairs: Sequence[tuple[int, int]], n: IntArray, q: float, terms: Provenance
) -> tuple[Difference, ...]:
    """Differences of quantile curves of one score column: each family's exact band at an adjusted level.

    Independent families: all their bands hold together with the product of their confidences. Paired: with one minus
    the sum of their errors. Whatever holds for the bands holds for every difference.
    """
    compared = sorted({f for pair in pairs for f in pair})
    error = 1 - terms.confidence
    each = 1 - error / len(compared) if terms.paired else terms.confidence ** (1 / len(compared))
    bands = {}
    for f in compared:
        inside = n[n <= turned[f].n_trials]
        value, low, high = np.full((3, n.size), np.nan)
        if inside.size and turned[f].n_trials > 1:
            band = quantile_interval(turned[f].selection, inside, q, confidence=each, simultaneous=True)
            low[: inside.size], high[: inside.size] = band.low, band.high
            value[: inside.size] = quantile_best(turned[f].selection, inside, q)
        bands[f] = value, low, high
    differences = []
    for a, b in pairs:
        (value_a, low_a, high_a), (value_b, low_b, high_b) = bands[a], bands[b]
        limits = low_a - high_b, high_a - low_b
        reasons = ("beyond-horizon",) if np.isinf(limits[0][-1]) else ()
        sizes = turned[a].n_trials, turned[b].n_trials
        differences.append(terms.difference(n, value_a - value_b, limits, sizes, reasons=reasons))
    return tuple(differences)


def _bootstrapped_differences(
    turned: Sequence[Sample],
    pairs: Sequence[tuple[int, int]],
    n: IntArray,
    statistic: Statistic,
    terms: Provenance,
    rng: np.random.Generator,
) -> tuple[Difference, ...]:
    """Differences of any statistic, as of a quantile of a separate reported score: percentiles of the resampled ones.

    Each tail is balanced over the budgets (`local_level`); over several pairs the error is shared equally. Resamples
    are made at nodes; between them limits are linear in log n, and hold the estimate.
    """
    if any(family.n_trials < 2 for family in turned):
        raise DataError("a bootstrap needs at least 2 trials in every family")
    assert terms.n_resamples is not None
    nodes = nodes_of(n)
    allow(terms.n_resamples, nodes.size, len(turned))
    shared = rng.integers(0, 2**63) if terms.paired else None
    values, draws = [], []
    for family in turned:
        furthest = half_of(family.n_trials)
        every, some = (Ranked(family.selection, budgets[budgets <= furthest], family.claimed) for budgets in (n, nodes))
        generator = rng if shared is None else np.random.default_rng(shared)
        ones = np.ones((1, family.n_trials), dtype=np.int64)
        values.append(np.full(n.size, np.nan))
        values[-1][: every.n.size] = statistic_draws(every, statistic, ones)[:, 0]
        draws.append(statistic_bootstrap(some, statistic, terms.n_resamples, generator, in_given_order=terms.paired))
    differences = []
    for a, b in pairs:
        sizes = turned[a].n_trials, turned[b].n_trials
        inside, kept = n <= half_of(*sizes), nodes[nodes <= half_of(*sizes)]
        difference = values[a] - values[b]
        limits: tuple[FloatArray, FloatArray] = (np.full(n.size, np.nan), np.full(n.size, np.nan))
        if kept.size:
            both = draws[a][: kept.size] - draws[b][: kept.size]
            level = local_level(both, (1 - terms.confidence) / len(pairs))
            low, high = (across(n[inside], kept, limit) for limit in percentile(both, level))
            limits[0][inside] = np.minimum(low, difference[inside])
            limits[1][inside] = np.maximum(high, difference[inside])
        reasons = () if inside.all() else ("beyond-half",)
        differences.append(terms.difference(n, difference, limits, sizes, reasons=reasons))
    return tuple(differences)
