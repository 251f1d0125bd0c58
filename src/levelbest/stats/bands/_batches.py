"""Estimates of independent batches of very many trials, for differences that resample batches instead of trials.

The trials are shuffled into 40 batches; the U-statistics of the batches are independent and unbiased. They cost one
sort and one matrix product. A batch must hold n trials, so that they end near n = n_trials / 40.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from levelbest._check import FloatArray, IntArray
from levelbest.stats.best import rank_weights

__all__ = ["BATCHES", "LARGE", "batch_curves", "batch_size", "shuffled_batches"]

Batches = npt.NDArray[np.uint8]
LARGE = 100_000
"""From so many trials on a table is sorted once for all that follows."""
BATCHES = 40


def batch_curves(
    selection: FloatArray,
    n: IntArray,
    reported: FloatArray | None,
    rng: np.random.Generator,
    batch: Batches | None = None,
) -> FloatArray:
    """The expected best of n of each batch: (batch, n); no n may exceed a batch.

    ``batch`` says which trial is in which (see `shuffled_batches`), as families of pairs must share.
    """
    size = batch_size(selection.size)
    if reported is None and batch is None:
        scores = np.sort(selection)
    else:
        order = _worst_first(selection, reported, rng)
        scores = (selection if reported is None else reported)[order]
        batch = None if batch is None else batch[order]
    if batch is None:
        batch = shuffled_batches(selection.size, rng)
    # A stable sort by batch keeps each batch's trials worst first; the few beyond equal batches come last.
    scores = scores[np.argsort(batch, kind="stable")[: size * BATCHES]].reshape(BATCHES, size)
    # About a middle value, so that scores far from zero keep their digits.
    middle = float(scores[0, size // 2])
    weights = _weights(size, tuple(n.tolist()))
    return middle + (weights @ np.ascontiguousarray((scores - middle).T)).T


def shuffled_batches(n_trials: int, rng: np.random.Generator) -> Batches:
    """A number of a batch for each trial; those beyond equal batches get a number past the last."""
    size = batch_size(n_trials) * BATCHES
    batch = np.resize(np.arange(BATCHES, dtype=np.uint8), size)
    return rng.permutation(np.append(batch, np.full(n_trials - size, BATCHES, dtype=np.uint8)))


def batch_size(n_trials: int) -> int:
    """Trials in a batch: a number of five binary digits, so that families of nearly one size share their weights."""
    size = n_trials // BATCHES
    step = 1 << max(size.bit_length() - 5, 0)
    return size - size % step


@lru_cache(maxsize=2)
def _weights(size: int, n: tuple[int, ...]) -> FloatArray:
    return rank_weights(size, n)


def _worst_first(selection: FloatArray, reported: FloatArray | None, rng: np.random.Generator) -> IntArray:
    """The order of the trials by selection score, ties in random order where it matters."""
    order = np.argsort(selection, kind="stable")  # in no time where the trials are sorted already
    if reported is not None:
        ranked = selection[order]
        if (ranked[1:] == ranked[:-1]).any():
            shuffled = rng.permutation(selection.size)
            order = shuffled[np.argsort(selection[shuffled], kind="stable")]
    return order
