"""Ways to summarise m experiments, and how they vary: [B] figures 2 and 3.

Samples of m experiments are drawn from given results, for figure 2 smoothed by a Gaussian kernel with Scott's bandwidth
([B] note 11: the best of a sample uses few values of the pool). The mean is the expected score of one experiment; the
best single model is noisy and increases with m; the expected best of n is less noisy and does not. Figure 3 compares
the spread of its estimators: V, U, and the Gaussian one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import FloatArray, IntArray, Seed
from levelbest._plain import rows_of
from levelbest.stats.best import expected_best, normal_best, rank_weights, turned_limits

BEST_OF_N = "best of n"
SUMMARIES = ("mean", "best single model", BEST_OF_N)
KNOWN = "Gaussian, correlation known"
SUMMARY_ESTIMATORS = ("V", "U", "Gaussian", KNOWN)
"""Of the expected best of n: [B] equations 7 and 6, [T]'s U between them; last with the correlation of all results."""
SIZES = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50)


@dataclass(frozen=True, eq=False)
class Summaries:
    """Each summary of m experiments: its mean and spread over the samples, and the limits that hold 95 % of them."""

    sizes: IntArray
    n: int
    n_samples: int
    mean: dict[str, FloatArray]
    low: dict[str, FloatArray]
    high: dict[str, FloatArray]
    sd: dict[str, FloatArray]

    def to_dict(self) -> dict[str, object]:
        """The form that ``--json`` prints; the best of n of fewer than n experiments does not exist."""
        rows = [
            {"experiments": int(size), "summary": name, **row}
            for name in self.mean
            for size, row in zip(
                self.sizes,
                rows_of(mean=self.mean[name], low=self.low[name], high=self.high[name], sd=self.sd[name]),
                strict=True,
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
    estimators: bool = False,
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
    estimators : bool
        Estimators of the expected best of n instead (`SUMMARY_ESTIMATORS`), from samples that are not smoothed: the
        results are the population then, and their V is the truth. One that a sample does not define (all its scores are
        equal) is left out there.
    n_samples : int
        Samples of each size.
    direction : str
        ``max`` or ``min``.
    rng : int or numpy.random.Generator
        The random seed.

    Returns
    -------
    Summaries
        Means, standard deviations and 95 % limits over the samples, by summary and size.

    Notes
    -----
    [B] section 4 and figure 2; figure 3 and appendix E.

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
    names = [name for name in SUMMARY_ESTIMATORS if name != KNOWN or claimed is not None] if estimators else SUMMARIES
    table = np.full((4, len(names), budgets.size), np.nan)  # the mean, both limits, the standard deviation
    for place, size in enumerate(budgets.tolist()):
        drawn = pool[:, generator.integers(0, pool.shape[1], (n_samples, size))]
        if not estimators:
            drawn = drawn + np.tensordot(kernel, generator.standard_normal((2, n_samples, size)), 1)
        values = _estimates(drawn, n, pool)[: len(names)] if estimators else _summaries(drawn, n)
        for i, row in enumerate(values):
            known = row[~np.isnan(row)]
            if known.size:
                spread = known.std(ddof=1) if known.size > 1 else np.nan
                table[:, i, place] = known.mean(), *np.quantile(known, [0.025, 0.975]), spread
    low, high = turned_limits(table[1], table[2], direction)
    mean, lows, highs, sds = (dict(zip(names, part, strict=True)) for part in (sign * table[0], low, high, table[3]))
    return Summaries(budgets, n, n_samples, mean, lows, highs, sds)


def _summaries(drawn: FloatArray, n: int) -> list[FloatArray]:
    """`SUMMARIES` of samples of selection and reported scores, in which no two scores are equal."""
    order = np.argsort(drawn[0], axis=1)
    ranked, size = np.take_along_axis(drawn[1], order, axis=1), drawn.shape[2]
    weights = rank_weights(size, np.array([n]), "v")[0] if size >= n else np.full(size, np.nan)
    return [ranked.mean(axis=1), ranked[:, -1], ranked @ weights]


def _estimates(drawn: FloatArray, n: int, pool: FloatArray) -> list[FloatArray]:
    """`SUMMARY_ESTIMATORS` of samples of selection and reported scores; NaN where one is not defined."""
    n_samples, size = drawn.shape[1:]
    if size < max(n, 2):
        return [np.full(n_samples, np.nan)] * len(SUMMARY_ESTIMATORS)
    selection, reported = drawn
    means = [  # one by one: trials with equal selection scores share their rank's weights
        np.array([expected_best(*pair, estimator=key) for pair in zip(selection, repeat(n), reported)]) for key in "vu"
    ]
    # [B] eq. 6: mean + rho sd c, where rho sd is the covariance over the spread of the selection scores
    centred = drawn - drawn.mean(axis=2, keepdims=True)
    spreads = np.sqrt((centred**2).sum(axis=2) / (size - 1))
    covariance = (centred[0] * centred[1]).sum(axis=1) / (size - 1)
    slope = np.divide(covariance, spreads[0], out=np.full(n_samples, np.nan), where=spreads[0] > 0)
    rho = np.asarray(np.corrcoef(pool))[0, 1]
    fitted = [reported.mean(axis=1) + float(normal_best(n)) * rise for rise in (slope, rho * spreads[1])]
    return [*means, *fitted]
