"""Three ways to sum up m experiments, and how they vary: [B] figure 2.

Samples of m experiments are drawn from given results, smoothed by a Gaussian kernel with Scott's bandwidth ([B] note
11: the best of a sample uses few values of the pool). The mean says what one experiment brings; the best single model
is noisy and grows with m; the expected best of n does neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import FloatArray, IntArray, Seed
from levelbest._plain import rows_of
from levelbest.stats.best import rank_weights, turned_limits

BEST_OF_N = "best of n"
SUMMARIES = ("mean", "best single model", BEST_OF_N)
SIZES = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50)


@dataclass(frozen=True, eq=False)
class Summaries:
    """Each summary of m experiments: its mean over the samples, and the limits that hold 95 % of them."""

    sizes: IntArray
    n: int
    n_samples: int
    mean: dict[str, FloatArray]
    low: dict[str, FloatArray]
    high: dict[str, FloatArray]

    def to_dict(self) -> dict[str, object]:
        """The form that ``--json`` prints; the best of n of fewer than n experiments does not exist."""
        rows = [
            {"experiments": int(size), "summary": name, **row}
            for name in SUMMARIES
            for size, row in zip(
                self.sizes, rows_of(mean=self.mean[name], low=self.low[name], high=self.high[name]), strict=True
            )
        ]
        return {"n": self.n, "n_samples": self.n_samples, "points": rows}


def resampled_summaries(
    selection: npt.ArrayLike,
    reported: npt.ArrayLike | None = None,
    *,
    sizes: Sequence[int] = SIZES,
    n: int = 5,
    n_samples: int = 4_000,
    direction: str = "max",
    rng: Seed = 0,
) -> Summaries:
    """How the mean, the best single model and the expected best of n vary with the number of experiments.

    Parameters
    ----------
    selection, reported : array_like
        Scores of the pool of results; without ``reported`` the selection score is what is summed up.
    sizes : sequence of int
        Numbers of experiments m.
    n : int
        Of the expected best of n, by V as in [B].
    n_samples : int
        Samples of each size.
    direction : str
        ``max`` or ``min``.
    rng : int or numpy.random.Generator
        The random seed.

    Returns
    -------
    Summaries
        Means and 95 % limits over the samples, by summary and size.

    Notes
    -----
    [B] section 4 and figure 2.

    Examples
    --------
    >>> pool = np.linspace(0.5, 0.9, 60)
    >>> varied = resampled_summaries(pool, sizes=[1, 20], n_samples=500)
    >>> bool(varied.mean["best single model"][1] > varied.mean["mean"][1])
    True
    """
    chosen_by, claimed = _check.as_pair(selection, reported, at_least=3)
    sign = _check.sign_of(direction)
    pool = np.stack([sign * chosen_by, sign * (chosen_by if claimed is None else claimed)])
    generator = _check.as_rng(rng)
    # Scott's factor in two dimensions; the symmetric root serves a covariance that is singular too
    variances, axes = np.linalg.eigh(np.cov(pool))
    kernel = axes * np.sqrt(np.maximum(variances, 0.0)) * pool.shape[1] ** (-1 / 6)
    budgets, _ = _check.as_budgets(np.asarray(sizes))
    table = np.empty((3, len(SUMMARIES), budgets.size))  # the mean, and both limits
    for place, size in enumerate(budgets.tolist()):
        drawn = generator.integers(0, pool.shape[1], (n_samples, size))
        noise = np.tensordot(kernel, generator.standard_normal((2, n_samples, size)), 1)
        order = np.argsort(pool[0][drawn] + noise[0], axis=1)
        ranked = np.take_along_axis(pool[1][drawn] + noise[1], order, axis=1)
        weights = rank_weights(size, np.array([n]), "v")[0] if size >= n else np.full(size, np.nan)
        values = np.stack([ranked.mean(axis=1), ranked[:, -1], ranked @ weights])
        table[0, :, place], table[1:, :, place] = values.mean(axis=1), np.quantile(values, [0.025, 0.975], axis=1)
    low, high = turned_limits(table[1], table[2], direction)
    mean, lows, highs = (dict(zip(SUMMARIES, part, strict=True)) for part in (sign * table[0], low, high))
    return Summaries(budgets, n, n_samples, mean, lows, highs)
