"""How far beyond the scores observed a further one might lie: the end that limits of Gaffke's type need.

Gaffke's limits put one further score at the bound, where any law allows it to be, and pay for that however far the
bound is: with 15 scores that huddle about .5 they are twice as wide as a t interval. Here the further score lies near
the others, a part of the range of the best (or worst) quarter beyond the best (or worst) score. Where the scores say
nothing about the next one the bound stands again: where the whole quarter ties, and, moving there gradually, where
half to three quarters of all scores lie within a tenth of their range. Then few scores decide the mean, and a
further one may be anything (pass@16 of problems most of which are solved).
"""

from __future__ import annotations

import numpy as np

from levelbest._check import FloatArray

__all__ = ["huddled", "imagined_ends", "quarter_of"]

_WINDOW = 0.1  # of the range: scores this close are as good as equal
_FEW_DECIDE = 0.5, 0.75  # of the scores within such a window: where the bound begins to stand, and where it does
_FAR = 2.0  # where no bound is known: so many ranges beyond, for many scores


def quarter_of(n_scores: int) -> int:
    """A quarter of the scores, but three where there are as many to spare."""
    return max(n_scores // 4, min(3, n_scores - 1))


def huddled(ordered: FloatArray) -> float:
    """0 where scores (in order) are spread out, 1 where three quarters of them lie within a tenth of their range."""
    window = _WINDOW * (ordered[-1] - ordered[0])
    within = np.searchsorted(ordered, ordered + window * (1 + 1e-9), side="right") - np.arange(ordered.size)
    share = within.max() / ordered.size
    return float(np.clip((share - _FEW_DECIDE[0]) / (_FEW_DECIDE[1] - _FEW_DECIDE[0]), 0.0, 1.0))


def imagined_ends(
    ordered: FloatArray, lowest: float | None, highest: float | None, reach: float
) -> tuple[float, float]:
    """Where a further score might lie at worst and at best, given scores in order and the bounds that are known.

    ``reach`` is how many ranges of a quarter beyond the last score, for many scores; for m of them 1 + 10/m times that.
    """
    m = ordered.size
    quarter, more, together = quarter_of(m), 1 + 10 / m, huddled(ordered)
    whole = float(ordered[-1] - ordered[0])

    def beyond(gap: float, room: float | None) -> float:
        far = _FAR * more * whole if room is None else room
        if gap == 0:
            return far
        near = reach * more * gap if room is None else min(reach * more * gap, room)
        return near + together * (far - near)

    below = beyond(float(ordered[quarter] - ordered[0]), None if lowest is None else float(ordered[0] - lowest))
    above = beyond(
        float(ordered[-1] - ordered[-1 - quarter]), None if highest is None else float(highest - ordered[-1])
    )
    return float(ordered[0]) - below, float(ordered[-1]) + above
