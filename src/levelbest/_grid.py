"""Which budgets to compute: the one grid of the package."""

from __future__ import annotations

import numpy as np

from levelbest._check import FloatArray, IntArray

WHOLE = 300
POINTS = 150


def budget_grid(last: int, *, whole: int = WHOLE, points: int = POINTS) -> IntArray:
    """Every budget up to ``last`` where they are at most ``whole``, else ``points`` log-spaced ones, ends included.

    Examples
    --------
    >>> budget_grid(5).tolist()
    [1, 2, 3, 4, 5]
    """
    if last <= whole:
        return np.arange(1, last + 1, dtype=np.int64)
    return np.unique(np.geomspace(1, last, points).round().astype(np.int64))


def cost_grid(low: float, high: float, points: int) -> FloatArray:
    """``points`` budgets of cost from ``low`` to ``high``, log-spaced."""
    return np.geomspace(low, high, points)
