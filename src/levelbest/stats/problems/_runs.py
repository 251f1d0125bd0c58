"""Tests whether scores within a run are correlated; if so, runs are the sampling unit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy

from levelbest._check import FloatArray


class RunSpread(NamedTuple):
    """How much runs of a suite vary, over what they would if its problems were independent of each other."""

    ratio: float
    p_value: float


def run_spread(versions: Sequence[FloatArray], weights: FloatArray) -> RunSpread:
    """The variance of whole runs over the sum of the variances of their problems.

    Parameters
    ----------
    versions
        The scores of each version: (problem, run).
    weights
        Of the problems.

    Returns
    -------
    RunSpread
        The ratio is 1 on average where the scores of each problem are exchanged between the runs of a version at
        random; the p-value is that of chi-squared, to which sums over many problems lead.

    Examples
    --------
    >>> import numpy as np
    >>> good, bad = np.ones((9, 1)), np.zeros((9, 1))
    >>> round(run_spread([np.hstack([good, bad, good])], np.ones(9)).ratio, 9)
    9.0
    """
    squares, freedom = 0.0, 0
    for scores in versions:
        off = weights[:, None] * (scores - scores.mean(axis=1, keepdims=True))
        alone = float(np.square(off).sum())
        if alone > 0:
            squares += (scores.shape[1] - 1) * float(np.square(off.sum(axis=0)).sum()) / alone
            freedom += scores.shape[1] - 1
    if not freedom:
        return RunSpread(float("nan"), 1.0)
    return RunSpread(squares / freedom, float(scipy.special.chdtrc(freedom, squares)))
