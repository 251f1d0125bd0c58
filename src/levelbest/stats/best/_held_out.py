"""The expected score of a new run of the best configuration, estimated by holding out one run."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import FloatArray, IntArray
from levelbest.stats.best._order import expected_best

_MOST_HELD_OUT = 20
"""Runs held out in turn, of each configuration."""


def new_run_of_best(
    selection: npt.ArrayLike,
    configuration: IntArray,
    n: IntArray,
    reported: npt.ArrayLike | None = None,
    *,
    direction: str = "max",
) -> FloatArray:
    """The expected score of a new run of the best of n configurations, chosen by the mean over all their runs but one.

    The mean that made a configuration win flatters it: part of it is the luck of its seeds. Here each run is held out
    in turn and judges the choice that the others make, so that the estimate is unbiased for any distribution; it is of
    a choice by one run fewer. Configurations with a single run have nothing to hold out and are left out.

    Parameters
    ----------
    selection, reported
        One score per run.
    configuration
        Which configuration each run has, numbered from 0.
    n
        Numbers of configurations.
    direction
        ``max`` or ``min``.

    Returns
    -------
    array
        NaN where n is more than the configurations that have several runs.

    Examples
    --------
    >>> new_run_of_best([.9, .7, .6, .6], np.array([0, 0, 1, 1]), np.array([1, 2])).round(2).tolist()
    [0.7, 0.8]
    """
    chosen_by, claimed = _check.as_pair(selection, reported)
    scores = chosen_by if claimed is None else claimed
    order = np.argsort(configuration, kind="stable")
    sizes = np.bincount(configuration)
    starts = np.cumsum(sizes) - sizes
    starts, sizes = starts[sizes > 1], sizes[sizes > 1]
    values = np.full(n.size, np.nan)
    inside = n <= sizes.size
    if not inside.any():
        return values
    totals = np.bincount(configuration, chosen_by)[np.bincount(configuration) > 1]
    rounds = min(int(sizes.max()), _MOST_HELD_OUT)
    sums = np.zeros(int(inside.sum()))
    for held in range(rounds):
        out = order[starts + held % sizes]
        others = (totals - chosen_by[out]) / (sizes - 1)
        sums += np.asarray(expected_best(others, n[inside], scores[out], direction=direction))
    values[inside] = sums / rounds
    return values
