"""A few budgets that stand for all: where t is drawn, how what is found there carries over, and tests over budgets.

Curves at neighbouring budgets are nearly one: the largest |t| over a dozen log-spaced budgets is the largest over all
of them but for a few thousandths. So draws are made at those *nodes* only; observed differences and standard errors are
those of every budget.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import special

from levelbest._check import FloatArray, IntArray

__all__ = ["across", "cells_of", "nodes_of", "past_draws", "step_down"]

_STEP = 1.5
_FEW = 10
"""So many budgets are all nodes."""
_SLACK = 1e-9
"""Statistics this close in proportion are the same one added up in another order."""


def nodes_of(n: IntArray, also: Sequence[int] = ()) -> IntArray:
    """Log-spaced budgets of ``n`` (increasing), with the last, one near it, and those named in ``also``.

    Examples
    --------
    >>> nodes_of(np.arange(1, 26)).tolist()
    [1, 2, 3, 5, 7, 11, 17, 20, 25]
    """
    if n.size <= _FEW:
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


def step_down(observed: FloatArray, null: FloatArray, cells: IntArray) -> FloatArray:
    """Adjusted p-values over budgets (Westfall and Young 1993): ``null`` has a row per node, a column per draw.

    From the largest observed statistic down, each is compared with the largest of the nodes that still stand for a
    budget not yet passed.
    """
    order = np.argsort(-observed, kind="stable")
    largest = np.zeros(null.shape[1])
    included = np.zeros(null.shape[0], dtype=bool)
    p_values = np.empty(observed.size)
    for at in order[::-1]:
        if not included[cells[at]]:
            included[cells[at]] = True
            np.maximum(largest, null[cells[at]], out=largest)
        p_values[at] = (1 + np.count_nonzero(largest >= observed[at] * (1 - _SLACK))) / (null.shape[1] + 1)
    p_values[order] = np.maximum.accumulate(p_values[order])
    return p_values


def past_draws(
    p_values: FloatArray, measured: FloatArray, null: FloatArray, *, tail: float, freedom: float
) -> FloatArray:
    """The same, but below what the draws can give where none of them reaches the observed statistic.

    ``measured`` is in units of a quantile that a share ``tail`` of the draws exceeds. Beyond it the tail is taken to be
    Student's, for all nodes together. Levels that the draws reach are decided by the draws alone.
    """
    own = -special.stdtrit(freedom, tail)
    beyond = 2 * null.shape[0] * special.stdtr(freedom, -own * measured)
    unreached = p_values <= (1 + _SLACK) / (null.shape[1] + 1)
    return np.where(unreached, np.minimum(p_values, beyond), p_values)
