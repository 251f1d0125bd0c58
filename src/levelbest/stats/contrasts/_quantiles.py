"""Differences of quantile curves: exact for one score column, a bootstrap where the reported score is another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from levelbest._check import IntArray, statistic_name
from levelbest.errors import DataError
from levelbest.stats.bands import (
    Ranked,
    allow,
    counts,
    local_level,
    percentile,
    quantile_draws,
    quantile_interval,
)
from levelbest.stats.best import quantile_best
from levelbest.stats.contrasts._pairwise import reach_words, widest
from levelbest.stats.contrasts._samples import Difference, Sample

__all__ = ["bootstrapped_differences", "exact_differences"]

_CELLS = 1 << 16


def exact_differences(
    turned: Sequence[Sample],
    pairs: Sequence[tuple[int, int]],
    n: IntArray,
    q: float,
    paired: bool,
    confidence: float,
    direction: str,
) -> tuple[Difference, ...]:
    """Differences of quantile curves of one score column: each family's exact band at an adjusted level.

    Independent families: all their bands hold together with the product of their confidences. Paired: with one minus
    the sum of their errors. Whatever holds for the bands holds for every difference.
    """
    k = len({f for pair in pairs for f in pair})
    each = 1 - (1 - confidence) / k if paired else confidence ** (1 / k)
    bands = {}
    for f in sorted({f for pair in pairs for f in pair}):
        inside = n[n <= turned[f].n_trials]
        low, high, value = (np.full(n.size, np.nan) for _ in range(3))
        if inside.size and turned[f].n_trials > 1:
            band = quantile_interval(turned[f].selection, inside, q, confidence=each, simultaneous=True)
            low[: inside.size], high[: inside.size] = band.low, band.high
            value[: inside.size] = quantile_best(turned[f].selection, inside, q)
        bands[f] = value, low, high
    found = []
    for a, b in pairs:
        (value_a, low_a, high_a), (value_b, low_b, high_b) = bands[a], bands[b]
        low, high = low_a - high_b, high_a - low_b
        certified = np.where(low > 0, 1, np.where(high < 0, -1, 0))
        reason = "past the horizon of the exact bands there is no limit" if np.isinf(low[n.size - 1]) else None
        found.append(
            Difference(
                n=n,
                difference=value_a - value_b,
                low=low,
                high=high,
                certified=certified,
                method="exact",
                confidence=confidence,
                simultaneous=True,
                paired=paired,
                n_trials=(turned[a].n_trials, turned[b].n_trials),
                statistic=statistic_name(q),
                direction=direction,
                reason=reason,
            )
        )
    return tuple(found)


def bootstrapped_differences(
    turned: Sequence[Sample],
    pairs: Sequence[tuple[int, int]],
    n: IntArray,
    q: float,
    paired: bool,
    confidence: float,
    direction: str,
    n_resamples: int,
    rng: np.random.Generator,
) -> tuple[Difference, ...]:
    """Differences of quantile curves of a separate reported score: percentiles of the resampled differences.

    Each tail is balanced over the budgets (`local_level`); over several pairs the error is shared equally.
    """
    if any(one.n_trials < 2 for one in turned):
        raise DataError("a bootstrap needs at least 2 trials in every family")
    allow(n_resamples, n.size, len(turned))
    draws, values = [], []
    shared = rng.integers(0, 2**63) if paired else None
    for one in turned:
        inside = n[n <= widest(one.n_trials)]
        ranked = Ranked(one.selection, inside, one.selection if one.reported is None else one.reported)
        part = np.full((n.size, n_resamples), np.nan)
        value = np.full(n.size, np.nan)
        ones = np.ones((1, one.n_trials), dtype=np.int64)
        value[: inside.size] = quantile_draws(ranked, q, ones)[:, 0]
        generator = rng if shared is None else np.random.default_rng(shared)
        piece = max(1, _CELLS // one.n_trials)
        for start in range(0, n_resamples, piece):
            cut = slice(start, min(start + piece, n_resamples))
            drawn = counts(one.n_trials, cut.stop - start, generator)
            part[: inside.size, cut] = quantile_draws(ranked, q, drawn[:, ranked.order] if paired else drawn)
        draws.append(part)
        values.append(value)
    found = []
    for a, b in pairs:
        sizes = turned[a].n_trials, turned[b].n_trials
        k = int(np.count_nonzero(n <= widest(*sizes)))
        low, high = np.full(n.size, np.nan), np.full(n.size, np.nan)
        if k:
            both = draws[a][:k] - draws[b][:k]
            level = local_level(both, (1 - confidence) / len(pairs))
            low[:k], high[:k] = percentile(both, level)
        found.append(
            Difference(
                n=n,
                difference=values[a] - values[b],
                low=low,
                high=high,
                certified=np.where(low > 0, 1, np.where(high < 0, -1, 0)),
                method="percentile",
                confidence=confidence,
                simultaneous=True,
                paired=paired,
                n_trials=sizes,
                statistic=statistic_name(q),
                direction=direction,
                n_resamples=n_resamples,
                reason=None if k == n.size else reach_words(*sizes),
            )
        )
    return tuple(found)
