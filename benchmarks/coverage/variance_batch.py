"""Limits of variance by source for many tables at once: a second implementation, held against the package's own."""

from __future__ import annotations

import numpy as np
from scipy import special

from levelbest.stats import variance_components
from levelbest.stats.checks import _components as package

__all__ = ["all_limits"]

TAIL = 0.025
CHECKED = 25
"""Tables of each batch that the package computes too."""

Limits = dict[str, tuple[np.ndarray, np.ndarray]]


def all_limits(runs: np.ndarray, counts: list[int]) -> tuple[Limits, Limits]:
    """Low and high of ``configuration``, ``seed`` and ``share`` for every table: the package's, and for normal
    distributions.

    ``runs`` has a table in each first index, then a configuration, then its seeds, of which the first ``counts`` count.
    """
    number = np.array(counts, dtype=float)
    kept = np.arange(runs.shape[2]) < number[:, None]
    totals, squares = (runs * kept).sum(axis=2), (runs**2 * kept).sum(axis=2)
    everyone = np.arange(len(counts))
    own, seeds, repeats = _mean_squares(totals, squares, number, everyone)
    parts = [_mean_squares(totals, squares, number, np.delete(everyone, i))[:2] for i in everyone]
    df = (len(counts) - 1, int(number.sum()) - len(counts))
    times = [_jackknife(np.log([part[place] for part in parts])) * df[place] / 2 for place in (0, 1)]
    stretched = [
        np.sqrt(package._ALLOWANCE * np.clip(every, 1, most)) for every in times for most in package._MOST_TIMES_NORMAL
    ]
    found = _limits(own, seeds, repeats, df, stretched)
    _agree(found, runs, kept)
    return found, _limits(own, seeds, repeats, df, [np.ones(len(runs))] * 4)


def _mean_squares(
    totals: np.ndarray, squares: np.ndarray, number: np.ndarray, kept: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    counts, total = number[kept], number[kept].sum()
    fitted = (totals[:, kept] ** 2 / counts).sum(axis=1)
    own = (fitted - totals[:, kept].sum(axis=1) ** 2 / total) / (kept.size - 1)
    repeats = (total - (counts**2).sum() / total) / (kept.size - 1)
    return own, (squares[:, kept].sum(axis=1) - fitted) / (total - kept.size), repeats


def _jackknife(parts: np.ndarray) -> np.ndarray:
    return np.asarray((len(parts) - 1) * parts.var(axis=0))


def _limits(
    own: np.ndarray, seeds: np.ndarray, repeats: float, df: tuple[int, int], stretched: list[np.ndarray]
) -> Limits:
    """Ting et al. 1990, quantiles to the power of what is stretched: below and above, configurations and seeds."""
    below, above, seed_below, seed_above = stretched

    def chi(degrees: int, tail: float) -> float:
        return float(special.chdtri(degrees, tail)) / degrees

    down, up = chi(df[0], 1 - TAIL) ** below, chi(df[0], TAIL) ** above
    seed_down, seed_up = chi(df[1], 1 - TAIL) ** seed_below, chi(df[1], TAIL) ** seed_above

    def ratio(tail: float, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        spread = (first**2 / df[0] + second**2 / df[1]) / (1 / df[0] + 1 / df[1])
        return np.asarray(float(special.fdtri(*df, tail)) ** np.sqrt(spread))

    high_ratio, low_ratio = ratio(1 - TAIL, above, seed_below), ratio(TAIL, below, seed_above)

    def reach(one: np.ndarray, other: np.ndarray, f: np.ndarray) -> np.ndarray:
        mixed = ((f - 1) ** 2 - (one * f) ** 2 - other**2) / f
        return np.sqrt(np.maximum((one * own) ** 2 + (other * seeds) ** 2 + mixed * own * seeds, 0.0))

    variance = (own - seeds) / repeats
    low = variance - reach(1 - 1 / up, 1 / seed_down - 1, high_ratio) / repeats
    high = variance + reach(1 / down - 1, 1 - 1 / seed_up, low_ratio) / repeats
    shares = []
    for limit in (high_ratio, low_ratio):
        worth = np.maximum(own / seeds / limit - 1, 0.0) / repeats
        shares.append(worth / (1 + worth))
    return {
        "configuration": (np.maximum(low, np.minimum(variance, 0.0)), np.maximum(high, 0.0)),
        "seed": (seeds / seed_up, seeds / seed_down),
        "share": (shares[0], shares[1]),
    }


def _agree(found: Limits, runs: np.ndarray, kept: np.ndarray) -> None:
    """That the package says the same of the first tables."""
    configuration = np.repeat(np.arange(len(kept)), kept.sum(axis=1))
    for place in range(CHECKED):
        own = variance_components(runs[place][kept], configuration)
        expected = {source.name: (source.low, source.high) for source in own.sources}
        expected["share"] = own.share_limits("configuration")
        for name, limits in expected.items():
            np.testing.assert_allclose([side[place] for side in found[name]], limits, rtol=1e-8, atol=1e-12)
