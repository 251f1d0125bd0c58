"""Whether values of one group are more alike than chance makes them: the F test of a one-way layout on normal ranks."""

from __future__ import annotations

import numpy as np

from levelbest._check import FloatArray, IntArray

_LEAST = 1e-9
"""Of the variation: what rounding leaves where all values of a group are equal."""


def are_alike(values: FloatArray, groups: IntArray, between: int, total: int, level: float) -> bool:
    """Whether the means of groups spread more than chance makes them in a share ``level`` of cases.

    Parameters
    ----------
    values
        About 0: what may differ between cells is taken out.
    groups
        The group of each, from 0 without a gap.
    between, total
        Degrees of freedom of the means of groups, and of all values.
    level
        Of the test.

    Examples
    --------
    >>> are_alike(np.array([1.0, 1.1, -0.9, -1.1, 0.1, -0.1]), np.array([0, 0, 1, 1, 2, 2]), 2, 5, 0.05)
    True
    """
    from scipy.special import fdtrc

    within, variation = total - between, float(np.square(values).sum())
    if between < 2 or within < 2 or variation <= 0:
        return False
    explained = float((np.bincount(groups, values) ** 2 / np.bincount(groups)).sum())
    ratio = explained / between / (max(variation - explained, _LEAST * variation) / within)
    return float(fdtrc(between, within, ratio)) < level


def normal_ranks(values: FloatArray, cells: IntArray) -> FloatArray:
    """Normal scores of the ranks within each cell, ties alike, without the cell's mean."""
    from scipy.special import ndtri

    ranks = np.empty(values.size)
    for cell in range(int(cells.max(initial=-1)) + 1):
        rows = np.flatnonzero(cells == cell)
        _, place, counts = np.unique(values[rows], return_inverse=True, return_counts=True)
        ranks[rows] = ((np.cumsum(counts) - counts / 2) / rows.size)[place]
    return without_means(ndtri(ranks), cells)


def without_means(values: FloatArray, groups: IntArray) -> FloatArray:
    """What values differ by from the mean of their group."""
    return values - (np.bincount(groups, values) / np.bincount(groups))[groups]
