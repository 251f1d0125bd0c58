"""The number of units needed for a verdict for the better family, averaged over what a pilot leaves open.

A pilot has an estimate of the difference, with a standard error of so many degrees of freedom. With k times as many
units the true difference, in standard errors, is sqrt(k) times as large; a verdict takes a |t| that falls with k to
that of very many units. To take the estimate for the truth promises too much: where it is too large by luck, too few
units are planned. So the chance of a verdict is averaged over the differences and variances that the pilot leaves
open (Student's distribution about the estimate; O'Hagan, Stevens and Campbell 2005 call it assurance), whichever family
they make the better one. No constant is tuned: docs/coverage-verdicts.md has the power that plans deliver.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy

from levelbest._check import FloatArray
from levelbest._plain import picked, plain

POWER = 0.8
OUT_OF_REACH = 10_000_000
"""Numbers of units above this are called out of reach."""
LEAST_PLANNED_FROM = 30
# NOTE: a pilot of fewer units has an interval of what may be needed, and no number: those of 10 trials that show a
# difference large enough for a narrow interval do so by luck, and their number would deliver .14 of .80.
MOST_PLANNED = 10_000
"""A difference is called too small where even the largest that the pilot allows takes more units than this."""
_PROBABILITIES: FloatArray = (np.arange(32) + 0.5) / 32
_SHARES: FloatArray = (np.arange(6) + 0.5) / 6
_MOST_FREEDOM, LEAST_FREEDOM = 1e6, 0.5
_PROPORTION, _FIXED_POINT_ROUNDS = 5e-3, 12


@dataclass(frozen=True)
class Needed:
    """How many units (of each family) are needed, with an interval; infinite: out of reach."""

    needed: float
    """NaN where so few units leave it open (`code`)."""
    low: float
    high: float
    confidence: float
    n: int
    """The budget that was planned for."""
    asked: int
    """The budget that was asked for; larger than ``n`` where the pilot is too small for it."""
    now: float
    """The width now; or the power of a study of as many units as there are."""
    goal: float
    pilot: tuple[int, ...]
    tried: float = math.nan
    """What so many units reach where estimates are the truth: their width, or their power."""
    code: str = ""
    """``few``: so few units leave the number open, between ``low`` and ``high``. ``small``: whatever difference the
    pilot allows takes more than 10,000 units. ``unknown``: there is no standard error to plan by. ``open``: the pilot
    leaves open which is the better one, and no number is promised."""
    decided: bool = False
    """Whether the pilot itself has a verdict there."""
    detectable: float = math.nan
    """The difference that a study of as many units as there are would show with the power wanted."""
    detectable_named: float = math.nan
    """The same where the budget is named in advance and tested first; NaN where there is one budget only."""
    source: Pilot | None = field(default=None, repr=False, compare=False)
    """What it was planned from."""

    def power_at(self, units: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The chance of a verdict with so many units of each family: averaged over what the pilot leaves open, and at
        the least and the largest difference that it leaves open."""
        if self.source is None:
            nowhere = np.full(np.size(units), np.nan)
            return nowhere, nowhere, nowhere
        return self.source.chances(units, self.confidence)

    @classmethod
    def unknown(cls, confidence: float, n: int, power: float, sizes: tuple[int, int]) -> Needed:
        """Where there is no standard error to plan by."""
        nan = math.nan
        return cls(nan, nan, nan, confidence, n, n, nan, power, sizes, code="unknown")

    @property
    def without_promise(self) -> Needed:
        """The same without a number where equal families are among what the pilot leaves open."""
        if self.code or self.decided or self.high < math.inf:
            return self
        return replace(self, needed=math.nan, code="open")

    @property
    def capped(self) -> bool:
        """Whether the budget asked for is more than a pilot of this size can speak of."""
        return self.n < self.asked

    @property
    def further(self) -> float:
        """Units of each family beyond those that the smaller has: 0 where it is decided, NaN where that is open."""
        return 0.0 if self.decided else max(self.needed - min(self.pilot), 1.0) if self.needed > 0 else math.nan

    def to_dict(self) -> dict[str, object]:
        """Plain numbers for JSON; what is out of reach or open is None."""
        keys = ("needed", "low", "high", "confidence", "n", "asked", "now", "goal", "tried", "capped", "pilot")
        return plain(picked(self, *keys, "code", "decided", "detectable", "detectable_named"))


@dataclass(frozen=True)
class Pilot:
    """One difference, and the |t| that a verdict on it takes among the units there are."""

    difference: float
    variances: tuple[float, float]
    """Of the two estimates."""
    sizes: tuple[int, int]
    freedom: float
    level: float
    """At which Student's t is tested there, on both sides."""
    critical: float
    fewest: int = 3
    """Units that a comparison takes at the least."""
    named_level: float = math.nan
    """At which a budget named in advance would be tested; NaN where there is one budget only."""

    @property
    def error(self) -> float:
        """The standard error of the difference."""
        return math.sqrt(sum(self.variances))

    @cached_property
    def units(self) -> float:
        """So many of each family have the same standard error."""
        return sum(v * m for v, m in zip(self.variances, self.sizes, strict=True)) / sum(self.variances)

    def power(self, theta: FloatArray, times: float) -> float:
        """The mean chance of a verdict with ``times`` as many units, for true differences in standard errors of now."""
        centre, spread = self._decisive(times)
        return float(scipy.special.ndtr((theta * math.sqrt(times) - centre) / spread).mean())

    def _decisive(self, times: float) -> tuple[float, float]:
        """A verdict with so many units is as likely as t beyond the first number, normal with the second as its spread.

        The normal approximation to the noncentral t of Johnson and Welch (1940).
        """
        freedom = max((self._freedom + 1) * times - 1, LEAST_FREEDOM)
        critical = self._student(freedom) + self._beyond_student / max(times, 1.0)
        return critical * (1 - 1 / (4 * freedom)), math.sqrt(1 + critical**2 / (2 * freedom))

    @cached_property
    def _freedom(self) -> float:
        return min(max(self.freedom, LEAST_FREEDOM), _MOST_FREEDOM)

    @cached_property
    def _beyond_student(self) -> float:
        """By how much a verdict among the units there are takes more than Student's t."""
        return max(self.critical - self._student(self._freedom), 0.0)

    def _student(self, freedom: float) -> float:
        return -float(scipy.special.stdtrit(freedom, self.level / 2))

    def planned(self, power: float, confidence: float, n: int, requested: int, *, decided: bool = False) -> Needed:
        """How many units of each family have the power."""
        t, left_open = abs(self.difference) / self.error, self._left_open
        needed = self._assured(left_open, power)
        least, largest = self._ends(confidence)
        low, high = self._for_certain(largest, power), self._for_certain(least, power)
        code = "small" if low > MOST_PLANNED else "few" if min(self.sizes) < LEAST_PLANNED_FROM else ""
        named = replace(self, level=self.named_level, critical=0.0)
        return Needed(
            needed=math.nan if code == "few" else needed,
            low=min(low, needed),
            high=max(high, needed),
            confidence=confidence,
            n=n,
            asked=requested,
            now=self.power(left_open, 1.0),
            goal=power,
            pilot=self.sizes,
            tried=self.power(np.array(t), needed / self.units) if math.isfinite(needed) else math.nan,
            code=code,
            decided=decided,
            detectable=self._detectable(power),
            detectable_named=named._detectable(power),
            source=self,
        )

    def _detectable(self, power: float, times: float = 1.0) -> float:
        """The difference that ``times`` as many units as there are show with this power."""
        centre, spread = self._decisive(times)
        return self.error / math.sqrt(times) * (centre + spread * float(scipy.special.ndtri(power)))

    def divided(self, units: float, ratio: float, power: float) -> tuple[float, float]:
        """Of so many units of each family that vary ``ratio`` as much as these (in variance): the difference that they
        show with this power, and the chance of a verdict, averaged over what the pilot leaves open."""
        times = units / self.units
        chance = self.power(self._left_open / math.sqrt(ratio), times)
        return math.sqrt(ratio) * self._detectable(power, times), chance

    def chances(self, units: FloatArray, confidence: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Of a verdict with so many units of each family; see `Needed.power_at`."""
        thetas = [self._left_open, *(np.array(max(end, 0.0)) for end in self._ends(confidence))]
        mean, low, high = (np.array([self.power(theta, each / self.units) for each in units]) for theta in thetas)
        return mean, low, high

    @property
    def _left_open(self) -> FloatArray:
        """Differences that the pilot leaves open, in standard errors, whichever family is the better one."""
        t = abs(self.difference) / self.error
        squares = scipy.special.chdtri(self._freedom, 1 - _SHARES) / self._freedom
        open_: FloatArray = np.abs(t * np.sqrt(squares) + scipy.special.ndtri(_PROBABILITIES)[:, None])
        return open_

    def _ends(self, confidence: float) -> tuple[float, float]:
        """The least and the largest of them, at a confidence; below 0 where the other family may be the better one."""
        t = abs(self.difference) / self.error
        reach = -float(scipy.special.stdtrit(self._freedom, (1 - confidence) / 2))
        return t - reach, t + reach

    def _assured(self, theta: FloatArray, power: float) -> float:
        """The fewest units of each family whose chance of a verdict, averaged over differences, is the power."""
        low, high = math.log(2 / self.units), math.log(OUT_OF_REACH / self.units)
        if self.power(theta, math.exp(high)) < power:
            return math.inf
        while high - low > _PROPORTION:
            middle = (low + high) / 2
            low, high = (low, middle) if self.power(theta, math.exp(middle)) >= power else (middle, high)
        return self._whole(math.exp(high))

    def _for_certain(self, theta: float, power: float) -> float:
        """The fewest units of each family that have the power at one difference, in standard errors of now."""
        if theta <= 0:
            return math.inf
        z, times = float(scipy.special.ndtri(power)), 1.0
        for _ in range(_FIXED_POINT_ROUNDS):
            centre, spread = self._decisive(times)
            times = max(((centre + z * spread) / theta) ** 2, 2 / self.units)
        return self._whole(times)

    def _whole(self, times: float) -> float:
        units = times * self.units
        return float(max(math.ceil(units), self.fewest)) if units < OUT_OF_REACH else math.inf
