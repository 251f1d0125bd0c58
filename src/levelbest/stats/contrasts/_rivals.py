"""Two families at one budget, beyond the difference: relative improvement, who wins how often, permutation p-values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import FloatArray, IntArray, Seed
from levelbest.stats.bands import order_statistic
from levelbest.stats.best import Sample, best_weights
from levelbest.stats.contrasts._contrast import check_pairing
from levelbest.stats.contrasts._dealings import nodes_of
from levelbest.stats.contrasts._families import Families, half_of


class Relative:
    """(first - second) / |second| of pairs of families, with pointwise studentised bootstrap intervals ([B] D.1).

    Scores are turned so that higher is better, and budgets increase. The standard error is that of first - r second,
    r their ratio, over |second|. NaN where the second's score is within three standard errors of zero (a ratio to
    something that may be nothing has no interval), and past half the trials of the smaller family. Each family is
    resampled once, for all of its pairs.
    """

    def __init__(
        self,
        samples: Sequence[Sample],
        *,
        paired: bool = False,
        confidence: float = 0.95,
        n_resamples: int = _check.N_RESAMPLES,
        rng: Seed = 0,
    ) -> None:
        self._samples, self._paired, self._confidence, self._n_resamples = samples, paired, confidence, n_resamples
        self._base = int(_check.as_rng(rng).integers(2**62))
        self._families: dict[bytes, Families] = {}

    def of(self, pair: tuple[int, int], n: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The ratio of one pair and its limits at each budget."""
        out = np.full((3, n.size), np.nan)
        inside = n[n <= half_of(*(self._samples[f].n_trials for f in pair))]
        if not inside.size:
            return out[0], out[1], out[2]
        key = inside.tobytes()
        if key not in self._families:
            alike = [f for f, own in enumerate(self._samples) if half_of(own.n_trials) >= inside[-1]]
            every = tuple(combinations(alike, 2))
            self._families[key] = Families(self._samples, every, inside, paired=self._paired)
        drawn = self._families[key].resampled_curves(pair, self._n_resamples, self._base)
        estimates, errors, moved, variances = drawn
        with np.errstate(divide="ignore", invalid="ignore"):
            value = (estimates[0] - estimates[1]) / np.abs(estimates[1])
            error = np.sqrt(_of_ratio(errors, estimates[0], estimates[1]))
            first, second = (centre[:, None] + by for centre, by in zip(estimates, moved, strict=True))
            t = ((first - second) / np.abs(second) - value[:, None]) / np.sqrt(_of_ratio(variances, first, second))
            t[np.isnan(t)] = 0
            tail = (1 - self._confidence) / 2
            low = value - order_statistic(t, 1 - tail) * error
            high = value - order_statistic(t, tail) * error
            known = np.abs(estimates[1]) > 3 * np.sqrt(errors[1])
        out[:, : inside.size] = np.where(known, np.stack([value, low, high]), np.nan)
        return out[0], out[1], out[2]


def _of_ratio(
    variances: tuple[FloatArray, FloatArray, FloatArray], first: FloatArray, second: FloatArray
) -> FloatArray:
    """The variance of first / second by the delta method, from those of first, second and first - second."""
    of_first, of_second, of_difference = variances
    ratio, shared = first / second, (of_first + of_second - of_difference) / 2
    return np.asarray(np.maximum(of_first + ratio**2 * of_second - 2 * ratio * shared, 0) / second**2)


def chance_better(a: Sample, b: Sample, n: npt.ArrayLike, *, direction: str = "max") -> FloatArray:
    """The probability that the best of n of the first reports a better score than the best of n of the second.

    An unbiased estimate (U weights on both sides); a tie counts half.
    """
    first, second = (own.turned(direction).ordered() for own in (a, b))  # what is in order is counted faster
    budgets, _ = _check.as_budgets(n, min(first.n_trials, second.n_trials))
    weights = best_weights(first.selection, budgets), best_weights(second.selection, budgets)
    return np.clip(share_of_wins(first.claimed, second.claimed, *weights), 0, 1)


def share_of_wins(first: FloatArray, second: FloatArray, of_first: FloatArray, of_second: FloatArray) -> FloatArray:
    """How often a draw of the first scores by its weights beats one of the second, for every row of weights."""
    order = np.argsort(second, kind="stable")
    below = np.concatenate([np.zeros((of_second.shape[0], 1)), np.cumsum(of_second[:, order], axis=1)], axis=1)
    less, most = (np.searchsorted(second[order], first, side=side) for side in ("left", "right"))
    return np.asarray((of_first * (below[:, less] + below[:, most])).sum(axis=1) / 2)


def permutation_p(
    a: Sample,
    b: Sample,
    n: IntArray,
    *,
    paired: bool = False,
    direction: str = "max",
    n_permutations: int = 2_000,
    rng: Seed = 0,
) -> float:
    """The p-value of "both families have one law", by permuting trials (or swapping pairs): exact under that law.

    The statistic is the largest |t| over the budgets, t the studentised difference. At least 1 / (n_permutations + 1).
    """
    samples = [a.turned(direction), b.turned(direction)]
    if paired:
        check_pairing(samples)
    inside = n[n <= half_of(a.n_trials, b.n_trials)]
    if not inside.size:
        return math.nan
    families = Families(samples, [(0, 1)], nodes_of(inside), paired=paired)
    difference, error, _ = families.at((0, 1), families.nodes)
    observed = float((np.abs(difference) / np.where(error > 0, error, np.inf)).max())
    null = families.dealt_t((0, 1), n_permutations, _check.as_rng(rng)).max(axis=0)
    # equal up to rounding counts as equal: ties must not make the p-value too small
    return float((1 + np.count_nonzero(null >= observed * (1 - 1e-9))) / (n_permutations + 1))
