"""Problems on which a candidate is worse than a baseline: an exact test of each, adjusted for all of them (Holm)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np

from levelbest._check import FloatArray, IntArray

_ASSIGNMENTS_ENUMERATED = 200_000
"""Assignments that are all looked at; of more so many are drawn."""
_TOLERANCE = 1e-12


def worse_p_values(baseline: Sequence[FloatArray], candidate: Sequence[FloatArray], level: float) -> FloatArray:
    """One-sided exact p-values, problem by problem, that the candidate's scores are no worse than the baseline's.

    Parameters
    ----------
    baseline, candidate
        The scores of each problem; higher is better.
    level
        What p-values are adjusted to (`holm`): where no assignment of a problem's runs can reach its part of it, the
        p-value is not computed and stands as 1.

    Returns
    -------
    ndarray
        For each problem; for 0/1 scores Fisher's exact test, for others the permutation of the difference of means.

    Examples
    --------
    >>> import numpy as np
    >>> worse_p_values([np.ones(5), np.ones(5)], [np.zeros(5), np.ones(5)], 0.05).round(4).tolist()
    [0.004, 1.0]
    """
    share = level / max(1, len(baseline))
    rng = np.random.default_rng(0)
    return np.array(
        [
            _p_value(a, b, rng) if a.mean() > b.mean() and 1 / comb(a.size + b.size, a.size) <= share else 1.0
            for a, b in zip(baseline, candidate, strict=True)
        ]
    )


def _p_value(a: FloatArray, b: FloatArray, rng: np.random.Generator) -> float:
    """That ``a`` is no better than ``b``: the share of assignments in which it does at least as well."""
    pool, m = np.concatenate([a, b]), a.size
    low, high = pool.min(), pool.max()
    if np.isin(pool, (low, high)).all():  # two values: Fisher's exact test
        successes, won = int((pool == high).sum()), int((a == high).sum())
        hypergeometric = [
            comb(successes, k) * comb(pool.size - successes, m - k) for k in range(won, min(m, successes) + 1)
        ]
        return sum(hypergeometric) / comb(pool.size, m)
    if _far_from_rare(a, b):
        return 1.0
    total = float(a.sum()) - _TOLERANCE * max(1.0, float(np.abs(pool).sum()))
    if comb(pool.size, m) <= _ASSIGNMENTS_ENUMERATED:
        return float((pool[_assignments(pool.size, m)].sum(axis=1) >= total).mean())
    drawn = np.argsort(rng.random((_ASSIGNMENTS_ENUMERATED // 10, pool.size)), axis=1)[:, :m]
    return float((1 + (pool[drawn].sum(axis=1) >= total).sum()) / (1 + len(drawn)))


@lru_cache(maxsize=4)
def _assignments(count: int, size: int) -> IntArray:
    """Every choice of so many of so many."""
    return np.array(list(combinations(range(count), size)))


def _far_from_rare(a: FloatArray, b: FloatArray) -> bool:
    """Whether the difference is below two standard errors: no adjustment would leave it."""
    pool = np.concatenate([a, b])
    error = pool.std(ddof=1) * np.sqrt(1 / a.size + 1 / b.size)
    return bool(a.mean() - b.mean() < 2 * error)


def holm(p_values: FloatArray) -> FloatArray:
    """P-values adjusted for all of them together (Holm 1979): the k-th smallest times how many are left, in order.

    Parameters
    ----------
    p_values
        One for each hypothesis.

    Returns
    -------
    ndarray
        At most 1, in the order given.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    given = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(given, kind="stable")
    adjusted = np.empty_like(given)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(given[order] * np.arange(given.size, 0, -1)))
    return adjusted
