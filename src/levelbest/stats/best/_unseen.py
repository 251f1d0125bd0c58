"""What a sample of a given size may not have shown."""

from __future__ import annotations

import math

from levelbest import _check


def unseen(n_units: int, confidence: float = 0.95) -> float:
    """The largest share of units that a sample of this size may not have shown.

    A failure, or a good mode, that happens in a larger share of units shows itself among ``n_units`` with at least the
    probability ``confidence``. No interval and no test can allow for what is rarer, unless the score has bounds.

    Parameters
    ----------
    n_units : int
        Trials, runs, searches or problems in the sample.
    confidence : float
        The probability with which a more frequent mode is seen at least once.

    Returns
    -------
    float
        1 - (1 - confidence)^(1/n_units), for a confidence of .95 about 3/n_units.

    Notes
    -----
    This is the upper Clopper-Pearson limit of a share of which no case was seen, the exact form of the "rule of three"
    (Hanley and Lippman-Hand 1983).

    Examples
    --------
    >>> round(unseen(20), 3)
    0.139
    """
    units, level = _check.as_count(n_units, "n_units"), _check.as_confidence(confidence)
    return -math.expm1(math.log1p(-level) / units)
