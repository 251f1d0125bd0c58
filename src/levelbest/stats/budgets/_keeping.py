"""The two tests of a research loop: a cheap one that discards most candidates, and one on fresh runs, whose p-value is
valid whichever candidates passed the first."""

from __future__ import annotations

import math

import scipy

from levelbest._check import FloatArray


def clears(scores: FloatArray, baseline: FloatArray, margin: float) -> bool:
    """Whether the mean of a candidate's runs is better than the baseline's by more than ``margin`` of its sd.

    Parameters
    ----------
    scores, baseline
        Scores where higher is better; of the baseline at least two.
    margin
        In standard deviations of the baseline's runs.

    Returns
    -------
    bool
        Whether it goes on to the next stage.

    Examples
    --------
    >>> import numpy as np
    >>> clears(np.array([2.0]), np.array([0.0, 1.0, 2.0]), 0.5)
    True
    """
    return bool(scores.mean() - baseline.mean() > margin * baseline.std(ddof=1))


def improvement_p_value(scores: FloatArray, baseline: FloatArray) -> float:
    """One-sided p-value that a candidate's mean is no better than the baseline's: Student's t, pooled deviation.

    Parameters
    ----------
    scores, baseline
        Scores where higher is better, of runs that had no part in choosing the candidate; at least two of each.

    Returns
    -------
    float
        Never below 1 / C(m + r, r), the smallest p-value that an exchange of the runs could give: what so few runs
        cannot show is not claimed of them, however small their deviation.

    Examples
    --------
    >>> import numpy as np
    >>> round(improvement_p_value(np.array([2.0, 3.0, 4.0]), np.array([0.0, 1.0, 2.0])), 4)
    0.05
    """
    m, r = baseline.size, scores.size
    squares = ((baseline - baseline.mean()) ** 2).sum() + ((scores - scores.mean()) ** 2).sum()
    difference = float(scores.mean() - baseline.mean())
    error = math.sqrt(squares / (m + r - 2) * (1 / m + 1 / r))
    if error == 0:
        p_value = 0.0 if difference > 0 else 1.0
    else:
        p_value = float(scipy.special.stdtr(m + r - 2, -difference / error))
    floor = math.exp(math.lgamma(m + 1) + math.lgamma(r + 1) - math.lgamma(m + r + 1))
    return max(p_value, floor)
