"""The exact test of a claimed best of N attempts against the best of N runs of the baseline."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import Bounds
from levelbest._plain import picked
from levelbest.errors import InputError


@dataclass(frozen=True)
class Gate:
    """An exact p-value for "the best of these attempts is no better than the best of as many baseline runs"."""

    p_value: float
    claimed: float
    attempts: int
    baseline_trials: int
    baseline_at_least: int
    """How many baseline runs are at least as good as the claim."""
    confidence: float
    direction: str

    @property
    def smallest_possible_p(self) -> float:
        """The p-value of a claim above every baseline run: N / (m + N)."""
        return self.attempts / (self.baseline_trials + self.attempts)

    @property
    def passed(self) -> bool:
        """Whether luck in the attempts is ruled out at the confidence."""
        return self.p_value <= self.level

    @property
    def level(self) -> float:
        """1 - confidence, to the rounding of the decimal the user wrote."""
        return round(1 - self.confidence, 12)

    @property
    def reachable(self) -> bool:
        """Whether any claim at all could have passed with this many baseline runs."""
        return self.smallest_possible_p <= self.level

    @property
    def baseline_trials_needed(self) -> int:
        """The smallest number of baseline runs with which a claim after these attempts could pass."""
        needed = math.ceil(self.attempts * (1 - self.level) / self.level)
        while self.attempts / (needed - 1 + self.attempts) <= self.level:  # undo an upward rounding error
            needed -= 1
        while self.attempts / (needed + self.attempts) > self.level:
            needed += 1
        return needed

    def __str__(self) -> str:
        runs = f"{self.baseline_trials} baseline run{'s' * (self.baseline_trials != 1)}"
        tries = f"{self.attempts} attempt{'s' * (self.attempts != 1)}"
        better = "as high" if self.direction == "max" else "as low"
        head = f"{self.baseline_at_least} of {runs} reached {better} as {self.claimed:g}"
        head += f"; after {tries} p = {self.p_value:.3g}"
        floor = f"with {runs} and {tries} p cannot be below {self.smallest_possible_p:.3g}"
        sure = f"at {100 * self.confidence:g} % confidence"
        if self.passed or self.reachable:
            return f"{head}: {'not ' * (not self.passed)}more than luck {sure} ({floor})."
        return (
            f"{head}: these data cannot tell: {floor}, so no claim could pass {sure}; "
            f"{self.baseline_trials_needed} baseline runs are the fewest that could."
        )

    def to_dict(self) -> dict[str, object]:
        """The form that ``--json`` prints."""
        known = picked(self, "p_value", "attempts", "baseline_trials", "smallest_possible_p", "claimed")
        known |= picked(self, "baseline_at_least", "confidence", "direction", "passed", "reachable")
        return known | {"baseline_trials_needed": self.baseline_trials_needed, "sentence": str(self)}


def claim_gate(
    baseline: npt.ArrayLike,
    claimed: float,
    attempts: int,
    *,
    direction: str = "max",
    bounds: Bounds | None = None,
    confidence: float = 0.95,
) -> Gate:
    """The exact p-value of a claimed score, the best of ``attempts``, against runs of the baseline.

    If the attempts were only more runs of the baseline, all m + N runs would be exchangeable, and the best of the N
    would have r or fewer baseline runs above it with probability 1 - C(m, r+1) / C(m+N, r+1): it fails only when the
    r + 1 best of all are baseline runs. Ties count against the claim, so p is then too large, never too small.
    Using the baseline's observed distribution in F^N instead gives 16 % false alarms at 5 % ([S] section 12).

    Where the claim is a reported score and its winner was chosen by another column, p stays valid and is
    conservative: no winner exceeds the best reported score of the attempts. A claim outside the ``bounds`` of the score
    is refused.

    Parameters
    ----------
    baseline
        One score for each run of the baseline.
    claimed
        The best of the attempts.
    attempts
        How many runs were tried, all of them.
    direction
        ``max`` where higher is better, ``min`` where lower is.
    bounds
        Lowest and highest possible score, None where there is no such bound.
    confidence
        The claim is more than luck where p is at most 1 - confidence.

    Returns
    -------
    Gate
        The p-value, the smallest one possible, and what follows.

    Examples
    --------
    >>> claim_gate(range(19), 25, attempts=1).p_value
    0.05
    """
    scores = _check.as_scores(baseline, "baseline")
    sign = _check.sign_of(direction)
    confidence = _check.as_confidence(confidence)
    n = _check.as_count(attempts, "attempts")
    value = _check.as_number(claimed)
    if not math.isfinite(value):
        raise InputError(f"the claimed score must be a finite number, got {claimed!r}")
    _refuse_outside(value, _check.as_bounds(bounds, scores, "baseline"))
    m = scores.size
    above = int(np.count_nonzero(sign * scores >= sign * value))
    # 1 - prod over i = 0..above of (m - i) / (m + n - i), as -expm1 of a sum of log1p: exact also where it is tiny
    p_value = 1.0 if above >= m else float(-np.expm1(np.log1p(-n / (m + n - np.arange(above + 1))).sum()))
    return Gate(p_value, value, n, m, above, confidence, direction)


def _refuse_outside(value: float, bounds: Bounds) -> None:
    low, high = (-math.inf if bounds[0] is None else bounds[0]), (math.inf if bounds[1] is None else bounds[1])
    if low <= value <= high:
        return
    if low <= value / 100 <= high:
        remedy = f"is {value:g} a percentage? then claim {value / 100:g}"
    elif low <= value * 100 <= high:
        remedy = f"are the bounds percentages? then claim {value * 100:g}"
    else:
        remedy = "check the claim and the bounds"
    raise InputError(f"the claimed score must lie within its bounds, {low:g} to {high:g}, got {value:g}; {remedy}")
