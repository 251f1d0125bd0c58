"""What interval functions return: limits with their provenance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest._plain import picked, plain, rows_of


class Rule(NamedTuple):
    """By what rule limits were made: a code, and the values that tell one case from another.

    It is put into words in `levelbest.report.words.curves`; a code that is not known there stands for itself.
    """

    code: str = ""
    facts: tuple[tuple[str, object], ...] = ()

    @classmethod
    def of(cls, code: str, **facts: object) -> Rule:
        """A rule with its facts."""
        return cls(code, tuple(facts.items()))


UNSAID = Rule()
"""Where there is nothing to say of it."""


@dataclass(frozen=True, eq=False)
class Interval:
    """Limits for a curve at one budget (numbers) or at several (arrays, one entry per budget).

    An absent limit is -inf or +inf; NaN is undefined, and ``why`` then has a code for each budget (empty where all have
    limits). ``simultaneous`` limits hold for all the budgets at once, at the stated confidence. ``horizon`` is the
    largest budget with a limit on the side that is best (quantile curves). ``coverage`` is for exact methods the
    coverage itself under a continuous law (one number where the limits are simultaneous). For others it is the lowest
    that simulation has certified near this number of trials and budget, for the terms that were simulated: pointwise
    limits of means at 95 %, with both bounds given or none, and of the median of a separate reported score without
    bounds. On other terms it is None. It says nothing of laws with a mode that the trials may not have shown:
    ``unseen`` is how likely such a mode may be, None for limits that hold whatever was not seen.
    """

    n: int | IntArray
    low: float | FloatArray
    high: float | FloatArray
    method: str
    confidence: float
    simultaneous: bool
    n_trials: int
    statistic: str = "mean"
    direction: str = "max"
    why: tuple[str | None, ...] = ()
    rule: Rule = UNSAID
    horizon: int | None = None
    n_resamples: int | None = None
    coverage: float | FloatArray | None = None
    unseen: float | None = None

    def single(self) -> Interval:
        """The same for the one budget asked for, as numbers."""
        n, low, high = (np.atleast_1d(side)[0] for side in (self.n, self.low, self.high))
        coverage = self.coverage if self.coverage is None else float(np.atleast_1d(self.coverage)[0])
        return replace(self, n=int(n), low=float(low), high=float(high), coverage=coverage)

    @property
    def width(self) -> float | FloatArray:
        """high - low: infinite where a limit is absent, NaN where the interval is undefined."""
        return self.high - self.low

    @property
    def kind(self) -> str:
        """``simultaneous`` or ``pointwise``."""
        return "simultaneous" if self.simultaneous else "pointwise"

    @property
    def reasons(self) -> tuple[tuple[str, int, int, bool], ...]:
        """Each code of ``why`` with the first and the last budget that it concerns, and whether it concerns all."""
        budgets = [int(n) for n in np.atleast_1d(self.n)]
        concerned = {code: [n for n, own in zip(budgets, self.why, strict=False) if own == code] for code in self.codes}
        return tuple((code, own[0], own[-1], len(own) == len(budgets)) for code, own in concerned.items())

    @property
    def codes(self) -> tuple[str, ...]:
        """Why there are no limits somewhere, each code once."""
        return tuple(dict.fromkeys(code for code in self.why if code is not None))

    def __str__(self) -> str:
        head = f"{100 * self.confidence:g} % {self.kind} {self.method} interval from {self.n_trials} trials"
        rows = zip(np.atleast_1d(self.n), np.atleast_1d(self.low), np.atleast_1d(self.high), strict=True)
        shown = [
            f"n = {n}: {'undefined' if np.isnan([lo, hi]).any() else f'{lo:.6g} to {hi:.6g}'}" for n, lo, hi in rows
        ]
        return "; ".join([head, *shown, *self.codes])

    def to_dict(self) -> dict[str, object]:
        """Plain numbers for JSON: an absent or undefined limit is None."""
        known = picked(self, "method", "confidence", "simultaneous", "n_trials", "statistic", "direction")
        points = rows_of(n=np.atleast_1d(self.n), low=np.atleast_1d(self.low), high=np.atleast_1d(self.high))
        return plain(known | {"why": self.codes, **picked(self, "horizon", "unseen"), "points": points})
