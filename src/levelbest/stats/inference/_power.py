"""How many further units would decide: power of Welch's t and of the decision, from what was observed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import scipy

from levelbest._check import FloatArray

POWER = 0.8
_MOST_RUNS = 10**7


@dataclass(frozen=True)
class Means:
    """A family's mean, the variance of its scores and their number."""

    mean: float
    variance: float
    size: int


@dataclass(frozen=True)
class Welch:
    """A difference of means with its standard error and Satterthwaite's degrees of freedom."""

    difference: float
    error: float
    freedom: float

    @property
    def t(self) -> float:
        """The studentised difference; 0 where neither family varies."""
        return self.difference / self.error if self.error > 0 else 0.0

    @property
    def p_value(self) -> float:
        """Two-sided; 1 where neither family varies."""
        return float(2 * scipy.special.stdtr(self.freedom, -abs(self.t))) if self.error > 0 else 1.0

    def reach(self, tail: float) -> float:
        """How far the limits lie from the difference, with ``tail`` on each side."""
        return float(-scipy.special.stdtrit(self.freedom, tail)) * self.error if self.error > 0 else math.inf


def means_of(scores: FloatArray, least_variance: float) -> Means:
    """Of one family with at least two scores."""
    return Means(float(scores.mean()), max(float(scores.var(ddof=1)), least_variance), int(scores.size))


def welch(a: Means, b: Means) -> Welch:
    """First minus second (Welch 1938, Satterthwaite 1946)."""
    parts = a.variance / a.size, b.variance / b.size
    total = sum(parts)
    if total == 0:
        return Welch(a.mean - b.mean, 0.0, float(min(a.size, b.size) - 1))
    # Shares of the total, so that no fourth power of a small score underflows.
    shares = parts[0] / total, parts[1] / total
    freedom = 1 / (shares[0] ** 2 / (a.size - 1) + shares[1] ** 2 / (b.size - 1))
    return Welch(a.mean - b.mean, math.sqrt(total), freedom)


def power_of(between: Welch, level: float) -> float:
    """The power of a two-sided t test at ``level``, difference and standard error taken to be the true ones."""
    if between.error == 0:
        return 1.0 if between.difference else 0.0
    critical = -float(scipy.special.stdtrit(between.freedom, level / 2))
    shift = abs(between.t)
    # Far beyond the critical value the noncentral t underflows to nan: decided.
    return 1.0 if shift > critical + 30 else 1 - float(scipy.special.nctdtr(between.freedom, shift, critical))


def further_runs(a: Means, b: Means, level: float, power: float = POWER) -> float:
    """The fewest further runs of each family with which a two-sided t test at ``level`` has the power asked for.

    The means and variances are taken to be those observed. Infinite where the means are equal.
    """
    if a.mean == b.mean:
        return math.inf

    def reaches(runs: int) -> bool:
        more = welch(Means(a.mean, a.variance, a.size + runs), Means(b.mean, b.variance, b.size + runs))
        return power_of(more, level) >= power

    return _fewest(reaches)


def further_trials(
    difference: float,
    variances: tuple[float, float],
    sizes: tuple[int, int],
    critical: tuple[float, float],
    power: float = POWER,
) -> float:
    """The fewest further trials of each family with which |t| exceeds the critical one with the power asked for.

    The difference and the variance of each family's estimate are taken to be those observed, the variance falling with
    the number of trials. ``critical`` is that among the trials there are, and among very many: what exceeds the latter
    falls like 1 / M with M trials. Infinite where the difference is 0.
    """
    if difference == 0:
        return math.inf
    now, last = critical
    z = float(scipy.special.ndtri(power))

    def reaches(more: int) -> bool:
        share = min(sizes) / (min(sizes) + more)
        wanted = (difference / (last + share * max(now - last, 0.0) + z)) ** 2
        return sum(v * m / (m + more) for v, m in zip(variances, sizes, strict=True)) <= wanted

    return _fewest(reaches)


def _fewest(reaches: Callable[[int], bool]) -> float:
    """The fewest, at least 1, that reach; infinite above the most."""
    least, most = 0, 1
    while not reaches(most):
        least, most = most, 2 * most
        if most > _MOST_RUNS:
            return math.inf
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (least, middle) if reaches(middle) else (middle, most)
    return float(most)
