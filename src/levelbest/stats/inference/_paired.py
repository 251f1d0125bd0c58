"""Paired designs: leave-one-out estimates of every resample, so that differences keep what the pairs share.

A pair is one configuration, seed or problem tried in two families. A resample draws pairs; the standard error of the
difference is the jackknife's over pairs.
"""

from __future__ import annotations

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest.stats.bands import Ranked


def leave_one_out(trials: Ranked, counts: IntArray) -> FloatArray:
    """Leave-one-out estimates of resamples, up to a constant per budget and resample: (n, resample, trial).

    ``counts`` and the result are in the ranked order of ``trials``; n must be below the size of a resample. Leaving
    out a trial below rank k instead of one above changes the estimate by w'_k times the gap there, w' the weights of
    one trial fewer: see `Ranked`. A trial that was not drawn has an entry too, without meaning.
    """
    n_rows = trials.fewer.shape[0]
    # w'_k at column k; a gap below the first or above the last drawn trial moves nothing
    weights = np.concatenate([np.zeros((n_rows, 1)), trials.fewer, np.zeros((n_rows, 1))], axis=1)
    if not trials.grouped:
        above = np.cumsum(counts, axis=1)[:, :-1]
        return _from_the_best(weights[:, above] * np.diff(trials.values))
    sizes = np.add.reduceat(counts, trials.starts, axis=1)
    means = np.add.reduceat(counts * trials.values, trials.starts, axis=1) / np.maximum(sizes, 1)
    above = np.cumsum(sizes, axis=1)
    between = _from_the_best(weights[:, above[:, :-1]] * np.diff(means, axis=1))
    sums = np.concatenate([np.zeros((n_rows, 1)), np.cumsum(trials.fewer, axis=1)], axis=1)
    several = sizes > 1
    last = np.where(several, above - 1, 0)
    first = np.where(several, above - sizes, 0)
    share = (sums[:, last] - sums[:, first]) / np.maximum(sizes - 1, 1)
    # leaving out y_i lowers its group's mean: see Ranked._within
    moved: FloatArray = between[..., trials.groups] - share[..., trials.groups] * (
        trials.values - means[:, trials.groups]
    )
    return moved


def _from_the_best(steps: FloatArray) -> FloatArray:
    out = np.zeros((*steps.shape[:-1], steps.shape[-1] + 1))
    np.cumsum(steps[..., ::-1], axis=-1, out=out[..., -2::-1])
    return out


def jackknife_errors(deviations: FloatArray, counts: IntArray) -> FloatArray:
    """Jackknife standard errors (n, resample) from leave-one-out estimates (n, resample, trial); overwrites them."""
    m = float(counts[0].sum())
    weights = counts.astype(np.float64)
    # Subtract a value near the mean first, so that the two sums below do not cancel.
    deviations -= np.einsum("nbi,bi->nb", deviations, weights)[..., None] / m
    squares = np.einsum("nbi,nbi,bi->nb", deviations, deviations, weights)
    rest = np.einsum("nbi,bi->nb", deviations, weights) ** 2 / m
    errors: FloatArray = np.sqrt((m - 1) / m * np.maximum(squares - rest, 0))
    return errors
