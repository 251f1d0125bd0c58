"""True distributions of scores: their draws, and the true curve of the best of n.

A distribution is described by its quantile function: the best of n is ``quantile(U ** (1/n))`` for one uniform U, which
makes the truth a one-dimensional integral whatever the distribution.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import Bounds, FloatArray, IntArray
from levelbest.errors import InputError
from levelbest.stats.best import Mean, Quantile, Statistic, statistic_named, turned_bounds

ScoreColumns = tuple[FloatArray, FloatArray | None]
_EVENLY = (np.arange(100_000) + 0.5) / 100_000
"""Shares at which a distribution stands for itself where a statistic may jump: off by half a step at most."""


@dataclass(frozen=True, eq=False)
class Distribution:
    """One score column. ``quantile`` maps levels in (0, 1) to scores, lowest first; ``bounds`` are the support's."""

    name: str
    quantile: Callable[[FloatArray], FloatArray]
    bounds: Bounds = (None, None)
    direction: str = "max"
    """Which way is better: for ``min`` the best of n is the lowest."""

    def draw(self, rng: np.random.Generator, shape: tuple[int, int]) -> ScoreColumns:
        """Selection scores of shape (samples, trials), and no separate reported scores."""
        return self.quantile(rng.random(shape)), None

    def true_mean(self, n: npt.ArrayLike) -> FloatArray:
        """The expected best of n: the integral of quantile(u^(1/n)) over u in (0, 1), or of quantile(1 - u^(1/n))."""
        nodes, weights = _unit_rule()
        budgets, _ = _check.as_budgets(n)
        return np.array([self.quantile(self._level(nodes, budget)) @ weights for budget in budgets])

    def true_quantile(self, n: npt.ArrayLike, q: float) -> FloatArray:
        """The q-quantile of the best of n, q counted from worse to better: quantile(q^(1/n)), or of 1 - q^(1/n)."""
        budgets, _ = _check.as_budgets(n)
        return self.quantile(self._level(np.full(budgets.size, _check.as_quantile(q)), budgets))

    def _level(self, u: FloatArray, n: npt.ArrayLike) -> FloatArray:
        """The level of the best of n that is better than a share u of its repetitions."""
        if self.direction == "max":
            return _root(u, n)
        return np.asarray(-np.expm1(np.log(u) / np.asarray(n)))

    def truth(self, n: npt.ArrayLike, statistic: str | float = "mean") -> FloatArray:
        """The true curve of a statistic: mean, a quantile, or a registered one."""
        wanted = statistic_named(statistic)
        if isinstance(wanted, Mean):
            return self.true_mean(n)
        if isinstance(wanted, Quantile):
            return self.true_quantile(n, wanted.q)
        sign, budgets = _check.sign_of(self.direction), _check.as_budgets(n)[0]
        scores = [sign * self.quantile(self._level(_EVENLY, budget)) for budget in budgets]
        weights = np.full((1, _EVENLY.size), 1 / _EVENLY.size)
        return np.array([sign * float(wanted.of_distribution(quantiles, weights)[0]) for quantiles in scores])

    def mirrored(self) -> Distribution:
        """The distribution of the negated scores, under the same name."""
        inner = self.quantile
        return Distribution(self.name, lambda u: -inner(1 - u), turned_bounds(self.bounds, "min"), self.direction)

    def rounded(self, step: float) -> Distribution:
        """The same distribution with scores rounded to multiples of ``step``: coarse ties."""
        inner = self.quantile
        name = f"{self.name} rounded to {step:g}"
        return Distribution(name, lambda u: np.round(inner(u) / step) * step, self.bounds, self.direction)

    def failing(self, share: float, worst: float) -> Distribution:
        """The same distribution, but a share of the trials fails and scores ``worst``."""
        inner, lowest_first = self.quantile, self.direction == "max"

        def quantile(u: FloatArray) -> FloatArray:
            ok = u > share if lowest_first else u < 1 - share
            scores = inner(np.where(ok, (u - share if lowest_first else u) / (1 - share), 0.5))
            return np.where(ok, scores, worst)

        low, high = self.bounds
        if lowest_first:
            low = None if low is None else min(worst, low)
        else:
            high = None if high is None else max(worst, high)
        return Distribution(f"{self.name}, {100 * share:g} % failed", quantile, (low, high), self.direction)


@dataclass(frozen=True, eq=False)
class JointDistribution:
    """Selection and reported scores that go together.

    A trial has a level V, uniform on (0, 1), that ranks its selection score (in ``levels`` equal steps, where given:
    ties), and noise W, uniform and independent; its reported score is ``reported(V, W)``.
    """

    name: str
    reported: Callable[[FloatArray, FloatArray], FloatArray]
    levels: int | None = None
    bounds: Bounds = (None, None)
    direction: ClassVar[str] = "max"

    def draw(self, rng: np.random.Generator, shape: tuple[int, int]) -> ScoreColumns:
        """Selection and reported scores of shape (samples, trials)."""
        level, noise = rng.random(shape), rng.random(shape)
        selection = level if self.levels is None else np.floor(level * self.levels)
        return selection, self.reported(level, noise)

    def truth(self, n: npt.ArrayLike, statistic: str | float = "mean") -> FloatArray:
        """The true statistic of the winner's reported score, by quadrature over its level and noise."""
        budgets, _ = _check.as_budgets(n)
        return np.array([self._truth(int(budget), statistic_named(statistic)) for budget in budgets])

    def _truth(self, n: int, statistic: Statistic) -> float:
        u, weight = _unit_rule(panels=12)
        if self.levels is None:
            level, mass = _root(u, n), weight
        else:
            # the best level has mass c^n - (c - 1/levels)^n; within it every trial is as likely to win
            edges = (np.arange(self.levels + 1) / self.levels) ** n
            level = ((np.arange(self.levels)[:, None] + u) / self.levels).ravel()
            mass = (np.diff(edges)[:, None] * weight).ravel()
        scores = self.reported(level[:, None], u[None, :])
        weights = mass[:, None] * weight
        if isinstance(statistic, Mean):
            return float((scores * weights).sum())
        order = np.argsort(scores, axis=None)
        ranked, chances = scores.ravel()[order], weights.ravel()[order]
        if isinstance(statistic, Quantile):
            return float(np.interp(statistic.q, np.cumsum(chances) - chances / 2, ranked))
        return float(statistic.of_distribution(ranked, chances[None])[0])


def named_distribution(text: str) -> Distribution:
    """A distribution by name: ``beta(8, 2)``, ``norm(0.7, 0.1)``, ``t(3)``, any SciPy distribution; or ``quadratic``.

    Numbers in brackets are SciPy's shape parameters, then loc and scale. ``-expon`` is the mirror image, and
    ``rounded`` or ``failing`` versions come from the distribution's methods.
    """
    match = re.fullmatch(r"\s*(-?)\s*([A-Za-z_]\w*)\s*(?:\(([^()]*)\))?\s*", text)
    if not match:
        raise InputError(f"a distribution is a name with numbers in brackets, such as beta(8,2), got {text!r}")
    mirror, name, inside = match.groups()
    try:
        numbers = [float(part) for part in (inside or "").split(",") if part.strip()]
    except ValueError:
        raise InputError(f"a distribution's brackets hold numbers, as in beta(8,2), got {text!r}") from None
    distribution = (_own_distribution if name in _OWN_DISTRIBUTIONS else _scipy_distribution)(
        name, numbers, text.strip()
    )
    return distribution.mirrored() if mirror else distribution


def kde_distribution(
    scores: npt.ArrayLike, name: str = "kernel density", *, direction: str = "max", bounds: Bounds = (None, None)
) -> Distribution:
    """[T] section 4: a Gaussian kernel density of the scores, cut into 511 bins and drawn by bin.

    The bandwidth is the normal reference, 1.06 min(sd, IQR / 1.349) m^(-1/5); 512 grid points from three bandwidths
    below the smallest score to three above the largest bound the bins, and where the score has ``bounds``, these: what
    the kernels have beyond them is left out.
    """
    x = np.sort(_check.as_scores(scores, at_least=2))
    if x[0] == x[-1]:
        raise InputError(f"a kernel density needs two distinct scores, got {x.size} times {x[0]:g}")
    from scipy.special import ndtr

    iqr = float(np.subtract(*np.percentile(x, [75, 25])))
    scale = min(float(x.std(ddof=1)), iqr / 1.349) if iqr > 0 else float(x.std(ddof=1))
    bandwidth = 1.06 * scale * x.size**-0.2
    ends = x[0] - 3 * bandwidth, x[-1] + 3 * bandwidth
    low, high = _check.as_bounds(bounds, x)
    grid = np.linspace(
        ends[0] if low is None else max(ends[0], low), ends[1] if high is None else min(ends[1], high), 512
    )
    below = np.zeros(grid.size)
    for part in np.array_split(x, max(1, x.size // 2000)):
        below += ndtr((grid[:, None] - part) / bandwidth).sum(axis=1)
    mass = np.diff(below)
    middles = (grid[1:] + grid[:-1]) / 2
    return _Discrete.on(middles, np.cumsum(mass / mass.sum()), name, (low, high), _check.as_direction(direction))


@dataclass(frozen=True, eq=False)
class _Discrete(Distribution):
    """A distribution on a finite support, whose truth is a sum and not an integral."""

    support: FloatArray = None  # type: ignore[assignment]
    below: FloatArray = None  # type: ignore[assignment]

    @classmethod
    def on(
        cls, support: FloatArray, below: FloatArray, name: str, bounds: Bounds, direction: str = "max"
    ) -> Distribution:
        """By the support and its cumulated chances."""

        def quantile(u: FloatArray) -> FloatArray:
            return support[np.minimum(np.searchsorted(below, u, side="left"), support.size - 1)]

        return cls(name, quantile, bounds, direction, support, below)

    def mirrored(self) -> Distribution:
        below = np.append(1 - self.below[-2::-1], 1.0)
        return self.on(-self.support[::-1], below, self.name, turned_bounds(self.bounds, "min"), self.direction)

    def true_mean(self, n: npt.ArrayLike) -> FloatArray:
        budgets: IntArray = _check.as_budgets(n)[0]
        if self.direction == "max":
            return np.array([np.diff(self.below**budget, prepend=0.0) @ self.support for budget in budgets])
        above = np.maximum(1 - self.below, 0.0)  # the lowest of n lies above a point with chance above^n
        return np.array([-np.diff(above**budget, prepend=1.0) @ self.support for budget in budgets])


_OWN_DISTRIBUTIONS = {
    "bernoulli": "the chance of a 1",
    "quadratic": "the lowest score, the highest, and noise of more than 0",
    "three_point": "scores that are equally likely",
}


def _own_distribution(name: str, numbers: list[float], text: str) -> Distribution:
    if name == "three_point":
        values = np.sort(numbers or [0.2, 0.5, 0.8])
        bounds = min(0.0, float(values[0])), max(1.0, float(values[-1]))
        return _Discrete.on(values, np.arange(1, values.size + 1) / values.size, text, bounds)
    given = numbers or {"bernoulli": [0.5], "quadratic": [0.0, 1.0, 0.05]}[name]
    if name == "bernoulli" and len(given) == 1 and 0 <= given[0] <= 1:
        return _Discrete.on(np.array([0.0, 1.0]), np.array([1 - given[0], 1.0]), text, (0.0, 1.0))
    if name == "quadratic" and len(given) == 3 and given[0] < given[1] and given[2] > 0:
        return Distribution(text, lambda u: np.interp(u, *_quadratic(*given)))
    raise InputError(f"{name} takes {_OWN_DISTRIBUTIONS[name]}; got {numbers}")


def _scipy_distribution(name: str, numbers: list[float], text: str) -> Distribution:
    from scipy import stats

    family = getattr(stats, name, None)
    if not isinstance(family, (stats.rv_continuous, stats.rv_discrete)):
        known = [
            name for name in dir(stats) if isinstance(getattr(stats, name), (stats.rv_continuous, stats.rv_discrete))
        ]
        raise InputError(f"unknown distribution {name!r}; {_check.nearest_first(name, known)[:200]}")
    try:
        frozen = family(*numbers)
        low, high = (float(end) for end in frozen.support())
    except (TypeError, ValueError) as error:
        shapes = family.shapes or "no shapes"
        raise InputError(f"{name} takes {shapes}, then loc and scale; got {numbers}: {error}") from None
    if np.isnan(low):
        raise InputError(f"{name}{tuple(numbers)} is not a distribution: a parameter is out of range")
    bounds: Bounds = (low if np.isfinite(low) else None, high if np.isfinite(high) else None)
    return Distribution(text, frozen.ppf, bounds)


@functools.cache
def _quadratic(low: float, high: float, noise: float) -> tuple[FloatArray, FloatArray]:
    """[L]: the best configuration scores ``high``, the score falls with squared distance in two dimensions, plus noise.

    Its distribution function, an average of normal ones, and the scores at which it is tabulated.
    """
    from scipy.special import ndtr

    nodes, weights = _unit_rule(panels=24)
    centre = high - (high - low) * nodes  # two dimensions: squared distance is uniform
    grid = np.linspace(low - 8 * noise, high + 8 * noise, 20001)
    below = np.zeros(grid.size)
    for point, weight in zip(centre, weights, strict=True):
        below += weight * ndtr((grid - point) / noise)
    return below, grid


def _root(u: FloatArray, n: npt.ArrayLike) -> FloatArray:
    """u^(1/n), kept below 1 so that unbounded distributions stay finite."""
    return np.minimum(u ** (1.0 / np.asarray(n)), np.nextafter(1.0, 0.0))


@functools.cache
def _unit_rule(panels: int = 60, order: int = 16) -> tuple[FloatArray, FloatArray]:
    """Gauss-Legendre on (0, 1) in panels that shrink geometrically towards both ends, where quantiles may run off.

    The last panel is 2^-(panels/2) wide, so what is cut off has no weight in double precision for any distribution with
    a mean.
    """
    half = panels // 2
    left = np.concatenate([[0.0], 0.5 ** np.arange(half, 0, -1)])
    edges = np.concatenate([left, 1 - left[-2::-1]])
    x, w = np.polynomial.legendre.leggauss(order)
    middle, width = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    return (middle[:, None] + width[:, None] * x).ravel(), (width[:, None] * w).ravel()
