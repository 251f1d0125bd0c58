"""Whether scores look normal: the test of what the Gaussian estimate assumes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from levelbest import _check


@dataclass(frozen=True)
class Normality:
    """An Anderson-Darling test of normality, mean and standard deviation estimated."""

    statistic: float
    """A^2 with the small-sample factor 1 + 0.75/m + 2.25/m^2."""
    p_value: float
    confidence: float
    n_trials: int
    reason: str | None = None
    """Why the test does not exist, where it does not (statistic and p_value are then NaN)."""

    @property
    def rejected(self) -> bool:
        """Whether normality is rejected at this confidence."""
        return self.p_value < 1 - self.confidence

    def __str__(self) -> str:
        if self.reason is not None:
            return f"normality was not tested: {self.reason}"
        verdict = "rejected" if self.rejected else "not rejected"
        return (
            f"normality is {verdict} (Anderson-Darling {self.statistic:.3f}, p = {self.p_value:.2g}, "
            f"{self.n_trials} trials)"
        )


def normality(scores: npt.ArrayLike, *, confidence: float = 0.95) -> Normality:
    """Do the scores look normal? Anderson-Darling with estimated parameters; at least 8 trials and two values.

    Parameters
    ----------
    scores
        One per trial.
    confidence
        Normality is rejected where p is below 1 - confidence.

    Returns
    -------
    Normality
        The statistic, its p-value and what follows.

    Examples
    --------
    >>> print(normality([1, 2, 3, 4, 5, 6, 7, 8, 100]))
    normality is rejected (Anderson-Darling 2.615, p = 1.4e-06, 9 trials)
    """
    array = _check.as_scores(scores)
    level = _check.as_confidence(confidence)
    size, sd = array.size, float(array.std(ddof=1)) if array.size > 1 else 0.0
    reason = None
    if size < 8:
        reason = f"it needs at least 8 trials, and there are {size}"
    elif sd == 0 or array.min() == array.max():
        reason = "all scores are equal"
    if reason is not None:
        return Normality(math.nan, math.nan, level, size, reason)
    from scipy.special import log_ndtr

    z = np.sort(array - array.mean()) / sd
    rank = np.arange(1, size + 1)
    raw = -size - float(((2 * rank - 1) * (log_ndtr(z) + log_ndtr(-z[::-1]))).sum()) / size
    statistic = raw * (1 + 0.75 / size + 2.25 / size**2)
    return Normality(statistic, _anderson_p(statistic), level, size)


def _anderson_p(a: float) -> float:
    """D'Agostino & Stephens 1986, table 4.9: fitted to the distribution of the modified statistic, four pieces."""
    if a >= 0.6:
        # The fitted parabola turns at 153; from 13 on p stays at its last believable value.
        a = min(a, 13.0)
        return math.exp(1.2937 - 5.709 * a + 0.0186 * a * a)
    if a > 0.34:
        return math.exp(0.9177 - 4.279 * a - 1.38 * a * a)
    if a > 0.2:
        return 1 - math.exp(-8.318 + 42.796 * a - 59.938 * a * a)
    return 1 - math.exp(-13.436 + 101.14 * a - 223.73 * a * a)
