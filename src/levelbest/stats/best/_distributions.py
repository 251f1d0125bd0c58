"""The best of n under a distribution: known distributions, the normal constants, and the Gaussian estimate
(`_normality` tests its fit).

An assumed distribution is the only way to n > n_trials, and the result is an extrapolation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import FloatArray, IntArray
from levelbest.errors import DataError, InputError

Conditional = Callable[[FloatArray], npt.ArrayLike]


class FrozenDistribution(Protocol):
    """What is asked of a frozen SciPy distribution; a discrete one also has ``pmf``."""

    def cdf(self, x: npt.ArrayLike) -> FloatArray: ...
    def sf(self, x: npt.ArrayLike) -> FloatArray: ...
    def ppf(self, q: npt.ArrayLike) -> FloatArray: ...
    def isf(self, q: npt.ArrayLike) -> FloatArray: ...
    def pmf(self, k: npt.ArrayLike) -> FloatArray: ...
    def support(self) -> tuple[float, float]: ...


_INTEGRATED_TO = 6.0  # of the variable t of `_integrand`: there 1 - u = exp(-634)
_COARSE_STEP = 0.125  # steps of t that tell how large an integral is
_TOO_HEAVY = (
    "the expected best of {n} under this distribution is not finite, or its tail is too heavy to integrate; "
    "use a distribution with a finite mean, or ask for a quantile"
)


def normal_best(n: npt.ArrayLike) -> float | FloatArray:
    """The expected best of n standard normal scores, to 1e-12 for any n.

    Parameters
    ----------
    n
        How many scores.

    Returns
    -------
    float or array
        The expected best score, as ``n``.

    Examples
    --------
    >>> round(normal_best(2), 4)  # 1 / sqrt(pi)
    0.5642
    """
    from scipy.special import log_ndtr

    budgets, scalar = _check.as_budgets(n)
    unique, back = np.unique(budgets, return_inverse=True)
    # n x phi(x) Phi(x)^(n-1) over the real line ([B] eq. 2), folded at 0, by the trapezoidal rule: for such a smooth
    # integrand its error falls like exp(-c / step), and at 1/32 is already below rounding. Past 14, n phi < 1e-23.
    step = 1 / 64
    x = np.arange(1, 14 * 64 + 1) * step
    density = step * x * np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    above, below = log_ndtr(x), log_ndtr(-x)
    out = np.empty(unique.size)
    for start in range(0, unique.size, 512):
        others = (unique[start : start + 512, None] - 1).astype(np.float64)
        shares = np.exp(others * above)
        shares -= np.exp(others * below)
        out[start : start + 512] = (others[:, 0] + 1) * (shares @ density)
    values = out[back]
    return float(values[0]) if scalar else values


def law_best(
    law: FrozenDistribution,
    n: npt.ArrayLike,
    conditional: Conditional | None = None,
    *,
    direction: str = "max",
) -> float | FloatArray:
    """The expected best of n scores drawn from a frozen SciPy distribution ([B] eqs. 2 and 4).

    With ``conditional``, a function of an array of selection scores that returns the expected reported score of each,
    it is the expected reported score of the best ([B] eq. 5), and the distribution is that of the selection score.

    Parameters
    ----------
    law
        A frozen distribution of SciPy, continuous or discrete.
    n
        How many scores are drawn at once.
    conditional
        The expected reported score of each selection score, where the two differ.
    direction
        ``max`` where higher is better, ``min`` where lower is.

    Returns
    -------
    float or array
        The expected score of the best of n, as ``n``.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> round(law_best(uniform(), 3), 12)
    0.75
    """
    missing = [name for name in ("cdf", "sf", "ppf", "isf", "support") if not callable(getattr(law, name, None))]
    if missing:
        raise InputError(
            f"law must be a frozen SciPy distribution such as scipy.stats.norm(0.8, 0.02), got {law!r} without "
            f"{missing[0]}"
        )
    if conditional is not None and not callable(conditional):
        raise InputError(f"conditional must be a function of selection scores, got {conditional!r}")
    _check.as_direction(direction)
    budgets, scalar = _check.as_budgets(n)
    unique, back = np.unique(budgets, return_inverse=True)
    score = _Expectation(conditional)
    with np.errstate(all="ignore"):
        compute = _discrete_best if callable(getattr(law, "pmf", None)) else _continuous_best
        values = compute(law, unique, score, direction)[back]
    return float(values[0]) if scalar else values


@dataclass(frozen=True)
class _Expectation:
    """E[reported | selection], the selection score itself without a function; its answers checked."""

    conditional: Conditional | None

    def __call__(self, x: FloatArray) -> FloatArray:
        if self.conditional is None:
            return x
        flat = x.ravel()
        known = np.isfinite(flat)
        answer = np.asarray(self.conditional(flat[known]), dtype=np.float64)
        if answer.shape != (int(known.sum()),) and answer.ndim != 0:
            raise InputError(
                f"conditional must return one expected reported score per selection score, got shape {answer.shape} "
                f"for {int(known.sum())}; write it with NumPy functions or wrap it in numpy.vectorize"
            )
        out = np.full(flat.size, np.nan)
        out[known] = answer
        return out.reshape(x.shape)


def _integrand(
    distribution: FrozenDistribution, t: FloatArray, *, n: FloatArray, score: _Expectation, direction: str
) -> FloatArray:
    """Score of the best at its own probability u, times du/dt, with u = 1 / (1 + exp(-pi sinh t)).

    The best of n lies below x with probability F(x)^n, so its mean is the integral of F^-1(u^(1/n)) over (0, 1). The
    variable t (double exponential, Takahasi & Mori 1974) makes both ends harmless, even where the score is unbounded;
    and the smaller of the two tail probabilities is what is inverted, so that neither end loses digits.
    """
    s = math.pi * np.sinh(t)
    log_u = -np.logaddexp(0, -s)
    density = math.pi * np.cosh(t) * np.exp(log_u - np.logaddexp(0, s))
    log_share = log_u / n[:, None]
    near = log_share > -math.log(2)
    toward, away = (distribution.isf, distribution.ppf) if direction == "max" else (distribution.ppf, distribution.isf)
    x = np.empty(log_share.shape)
    x[near] = toward(-np.expm1(log_share[near]))
    x[~near] = away(np.exp(log_share[~near]))
    value = score(x)
    # NaN where the inverse gives up in the far tail: whether that matters is seen from the terms next to it.
    lost = ~np.isfinite(value) & (density < 1e-18)
    return np.asarray(np.where(lost, np.nan, value) * density)


def _continuous_best(
    distribution: FrozenDistribution, budgets: IntArray, score: _Expectation, direction: str
) -> FloatArray:
    out = np.empty(budgets.size)
    for start in range(0, budgets.size, 64):
        n = budgets[start : start + 64].astype(np.float64)
        integrand = partial(_integrand, distribution, n=n, score=score, direction=direction)
        out[start : start + 64] = _integrated(integrand, _size_of(integrand, n))
    return out


def _size_of(integrand: Callable[[FloatArray], FloatArray], n: FloatArray) -> FloatArray:
    """Roughly the integral of the absolute value; an error where that does not come to an end."""
    t = np.arange(-_INTEGRATED_TO, _INTEGRATED_TO + _COARSE_STEP / 2, _COARSE_STEP)
    terms = np.abs(integrand(t)) * _COARSE_STEP
    size = np.nansum(terms, axis=1)
    known, row = ~np.isnan(terms), np.arange(n.size)
    first, last = known.argmax(axis=1), t.size - 1 - known[:, ::-1].argmax(axis=1)
    ends = np.maximum(terms[row, first], terms[row, last])
    if not (np.isfinite(size) & (ends <= 1e-11 * size)).all():
        raise DataError(_TOO_HEAVY.format(n=int(n[0])))
    return np.asarray(size)


def _integrated(integrand: Callable[[FloatArray], FloatArray], size: FloatArray) -> FloatArray:
    """The integral over t, by panels of ten points, halved where the function is not smooth: at kinks and jumps.

    Panels see their own ends (Lobatto's rule), so that no jump hides beyond the outermost points.
    """
    legendre = np.polynomial.Legendre.basis(9)
    nodes = np.concatenate([[-1.0], np.sort(legendre.deriv().roots().real), [1.0]])
    weights = 2 / (90 * legendre(nodes) ** 2)

    def panels(a: FloatArray, b: FloatArray) -> FloatArray:
        half = (b - a) / 2
        t = ((a + b) / 2)[:, None] + half[:, None] * nodes
        values = np.nan_to_num(integrand(t.ravel()))
        return np.asarray((values.reshape(-1, a.size, nodes.size) @ weights) * half)

    edges = np.linspace(-_INTEGRATED_TO, _INTEGRATED_TO, 49)
    a, b = edges[:-1], edges[1:]
    whole = panels(a, b)
    total = np.zeros(size.size)
    # 2^-40 of a panel around a jump weighs nothing; more panels than this mean an inverse with noise in it.
    for _ in range(40):
        middle = (a + b) / 2
        left, right = panels(a, middle), panels(middle, b)
        rough = (np.abs(left + right - whole) > 1e-13 * size[:, None]).any(axis=0)
        total += (left + right)[:, ~rough].sum(axis=1)
        whole = np.concatenate([left[:, rough], right[:, rough]], axis=1)
        a, b = np.concatenate([a[rough], middle[rough]]), np.concatenate([middle[rough], b[rough]])
        if not 0 < a.size < 4096:
            break
    return np.asarray(total + whole.sum(axis=1))


def _discrete_best(
    distribution: FrozenDistribution, budgets: IntArray, score: _Expectation, direction: str
) -> FloatArray:
    """Sum over the support of score times [F(k)^n - F(k-1)^n] ([B] eq. 4), the difference taken by its ratio."""
    points = _support(distribution, budgets, direction)
    if direction == "min":
        points = points[::-1]
    mass = np.asarray(distribution.pmf(points), dtype=np.float64)
    points, mass = points[mass > 0], mass[mass > 0]
    # Chances of a score no better, and of a better one: both by sums of positive terms, so that neither tail loses
    # digits. (Some distributions of SciPy sum the mass again for every point of their cdf.)
    left_out = float(distribution.cdf(points[0] - 1) if direction == "max" else distribution.sf(points[0]))
    upto = left_out + np.cumsum(mass)
    beyond = np.append(np.cumsum(mass[:0:-1])[::-1], 0.0)
    log_upto = np.where(beyond < 0.5, np.log1p(-np.clip(beyond, 0, 0.5)), np.log(upto))
    log_without = np.log1p(-np.minimum(mass / upto, 1))
    values = score(points)
    out = np.empty(budgets.size)
    for row, n in enumerate(budgets):
        weights = np.exp(n * log_upto) * -np.expm1(n * log_without)
        if abs(weights.sum() - 1) > 1e-9 or not np.isfinite(values).all():
            raise DataError(_TOO_HEAVY.format(n=int(n)))
        out[row] = weights @ values
    return out


_MOST_POINTS = 10**6


def _support(distribution: FrozenDistribution, budgets: IntArray, direction: str) -> FloatArray:
    """The points of a discrete distribution, to where what is left out cannot show in the best of n."""
    low, high = (float(end) for end in distribution.support())
    listed = getattr(getattr(distribution, "dist", distribution), "xk", None)
    if listed is not None:
        listed = np.sort(np.asarray(listed, dtype=np.float64))
        return np.asarray(listed - listed[0] + low)
    fewest, most = int(budgets[0]), int(budgets[-1])
    centre = float(distribution.ppf(0.5))

    def far_end(tail: Callable[[float], FloatArray], toward_better: bool, step: float) -> float:
        # The best of n lies beyond with a chance of at most n times one trial's, or of its n-th power.
        def chance(end: float) -> float:
            return most * float(tail(end)) if toward_better else float(tail(end)) ** fewest

        while abs(step) < _MOST_POINTS and chance(centre + step) > 1e-30:
            step *= 2
        end = centre + step
        if chance(end) * (1 + abs(end)) > 1e-11:
            raise DataError(_TOO_HEAVY.format(n=most))
        return end

    if not math.isfinite(high):
        high = far_end(distribution.sf, direction == "max", 1.0)
    if not math.isfinite(low):
        low = far_end(distribution.cdf, direction == "min", -1.0)
    if not high - low < 2 * _MOST_POINTS:
        raise DataError(
            f"this distribution has more than {2 * _MOST_POINTS} points, from {low:g} to {high:g}; use a continuous "
            "one near it"
        )
    return np.arange(low, high + 1)


def gaussian_best(
    selection: npt.ArrayLike,
    n: npt.ArrayLike,
    reported: npt.ArrayLike | None = None,
    *,
    direction: str = "max",
) -> float | FloatArray:
    """The expected best of n if the scores are (jointly) normal ([B] eq. 6); any n, past n_trials as extrapolation.

    mean + sd c_n for one score column, mean_r + rho sd_r c_n with reported scores, c_n being `normal_best`; minus for
    ``min``. `normality` tests the assumption.

    Parameters
    ----------
    selection
        One score per trial; it picks the winner.
    n
        How many trials one may try.
    reported
        What is claimed of the winner, where it is another score.
    direction
        ``max`` where higher is better, ``min`` where lower is.

    Returns
    -------
    float or array
        The value of the fitted curve, as ``n``.

    Examples
    --------
    >>> round(gaussian_best([0.0, 1.0, 2.0], 2), 4)  # 1 + 1 / sqrt(pi)
    1.5642
    """
    chosen_by, claimed = _check.as_pair(selection, reported, at_least=2)
    sign = _check.sign_of(direction)
    constant = normal_best(n)
    centred = chosen_by - chosen_by.mean()
    sd = math.sqrt(float(centred @ centred) / (chosen_by.size - 1))
    if claimed is None:
        return float(chosen_by.mean()) + sign * sd * constant
    if sd == 0:
        raise DataError(
            "the selection scores are all equal, so their correlation with the reported scores does not exist; use "
            "expected_best, which lets tied trials share"
        )
    # rho sd_r = cov / sd_s
    slope = float(centred @ (claimed - claimed.mean())) / (chosen_by.size - 1) / sd
    return float(claimed.mean()) + sign * slope * constant
