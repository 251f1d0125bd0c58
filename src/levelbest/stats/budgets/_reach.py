"""The budget at which a curve reaches a target, with an interval obtained by inverting the limits of the curve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import BoolArray, FloatArray
from levelbest.errors import InputError, named


@dataclass(frozen=True)
class Reached:
    """The smallest budget whose curve reaches the target; infinite where that is not within the data."""

    target: float
    budget: float
    low: float
    high: float


def budget_to_reach(
    budget: npt.ArrayLike,
    value: npt.ArrayLike,
    low: npt.ArrayLike,
    high: npt.ArrayLike,
    target: float,
    *,
    direction: str = "max",
    simultaneous: bool = False,
    between: bool = False,
) -> Reached:
    """The smallest budget at which ``value`` reaches ``target``, and an interval for it.

    With N the true smallest budget of a curve that never falls, the low end (where the upper limit first reaches the
    target) exceeds N only if the limit at N misses, and the high end (from where on the lower limit stays at the
    target) is below N only if the limit at N - 1 misses: the interval has the confidence of pointwise limits. A curve
    that may fall needs a ``simultaneous`` band, and then the first budget whose lower limit reaches the target will do.
    ``between`` interpolates between budgets (for costs).
    """
    at = np.asarray(budget, dtype=np.float64)
    sign = _check.sign_of(direction)
    curve, worse, better = (sign * np.asarray(column, dtype=np.float64) for column in (value, low, high))
    if sign < 0:
        worse, better = better, worse
    goal = sign * float(target)
    # A mean of scores can miss by rounding what they reach exactly.
    enough = goal - 1e-12 * max(1.0, abs(goal))
    stays = worse >= enough
    if not simultaneous:
        stays &= np.flip(np.logical_and.accumulate(np.flip(np.isnan(worse) | stays)))
    return Reached(
        float(target),
        _first(at, curve, curve >= enough, goal, between),
        _first(at, better, better >= enough, goal, between),
        _first(at, worse, stays, goal, between),
    )


def _first(at: FloatArray, curve: FloatArray, reached: BoolArray, goal: float, between: bool) -> float:
    where = np.flatnonzero(reached)
    if not where.size:
        return float("inf")
    i = int(where[0])
    if between and i and np.isfinite(curve[i - 1]) and np.isfinite(curve[i]) and curve[i] > curve[i - 1]:
        share = (goal - curve[i - 1]) / (curve[i] - curve[i - 1])
        return float(at[i - 1] + min(max(share, 0.0), 1.0) * (at[i] - at[i - 1]))
    return float(at[i])


def check_reachable(target: float, scores: FloatArray, direction: str, bounds: _check.Bounds) -> float:
    """A target that can be asked for: a number, within the bounds, and not worse than every trial."""
    goal = _check.as_number(target)
    if not np.isfinite(goal):
        raise InputError(f"a target must be a finite score, got {target!r}")
    low, high = bounds
    if (low is not None and goal < low) or (high is not None and goal > high):
        hint = "; is it a percentage?" if high == 1 and 1 < goal <= 100 else ""
        raise InputError(f"the target {goal:g} lies outside the bounds of the score, {low} to {high}{hint}")
    sign = _check.sign_of(direction)
    worst = float(sign * (sign * scores).min())
    if sign * goal < sign * worst:
        raise InputError(
            f"the target {goal:g} is worse than every trial (the worst has {worst:g}, and with direction "
            f"{direction!r} {'higher' if sign > 0 else 'lower'} is better): every budget reaches it; check "
            f"{named('direction')}"
        )
    return goal
