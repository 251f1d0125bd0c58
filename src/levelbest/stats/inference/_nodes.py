"""Nodes: a few budgets at which units are exchanged, and how what happens there carries over to all budgets.

Curves at neighbouring budgets are nearly the same: the largest |t| over a dozen log-spaced budgets is the largest over
all of them but for a few thousandths. So permutations and draws are made at the nodes only; observed differences and
standard errors are those of every budget.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from levelbest._check import FloatArray, IntArray

_STEP = 1.5
_ALL_UP_TO = 10


def nodes_of(n: IntArray, also: Sequence[int] = ()) -> IntArray:
    """Log-spaced budgets of ``n`` (increasing), with the last, one near it, and those named in ``also``.

    Examples
    --------
    >>> nodes_of(np.arange(1, 26)).tolist()
    [1, 2, 3, 5, 7, 11, 17, 20, 25]
    """
    if n.size <= _ALL_UP_TO:
        return np.union1d(n, np.array(also, dtype=np.int64))
    size = 2 + int(np.log(n[-1] / n[0]) / np.log(_STEP))
    ideal = np.append(np.geomspace(n[0], n[-1], size), 0.8 * n[-1])
    nearest = np.abs(np.log(n)[:, None] - np.log(ideal)).argmin(axis=0)
    return np.union1d(n[nearest], np.array(also, dtype=np.int64))


def cells_of(n: IntArray, nodes: IntArray) -> IntArray:
    """Which node stands for each budget: the nearest in proportion."""
    return np.asarray(np.abs(np.log(n)[:, None] - np.log(nodes)).argmin(axis=1))


def across(n: IntArray, nodes: IntArray, values: FloatArray) -> FloatArray:
    """Values at the nodes taken to all budgets, linear in log n; exact at the nodes, constant beyond the last."""
    return np.interp(np.log(n), np.log(nodes), values)
