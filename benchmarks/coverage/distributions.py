"""The distributions of the certificates. A distribution is its quantile function, so that draws and truth come from one
definition.

They come in two sets. `CHOSEN_ON` are those of earlier certificates and of `STATISTICS` section 16: constants may be
chosen on them. `HELD_OUT` are for certification alone: no constant is chosen while looking at them.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import special

__all__ = ["CHOSEN_ON", "HELD_OUT", "QUANTILES", "Quantile", "expected_bests", "modes", "steady"]

DATA = Path(__file__).parents[2] / "src" / "levelbest" / "data" / "digits.csv"
Quantile = Callable[[np.ndarray], np.ndarray]
_TAIL = np.logspace(-12, -5, 500)
EDGES = np.unique(np.concatenate([[0.0, 1.0], np.linspace(0, 1, 20_001), _TAIL, 1 - _TAIL]))
MIDDLES = (EDGES[1:] + EDGES[:-1]) / 2


def modes(*parts: tuple[float, float, float]) -> Quantile:
    """(share, centre, sd) of each mode, from the lowest to the highest; sd 0 is a single value."""
    shares, centres, sds = (np.array(column, dtype=float) for column in zip(*parts, strict=True))
    ends = np.cumsum(shares)

    def quantile(u: np.ndarray) -> np.ndarray:
        at = np.minimum(np.searchsorted(ends, u), ends.size - 1)
        inner = (u - (ends - shares)[at]) / shares[at]
        return centres[at] + sds[at] * special.ndtri(np.clip(inner, 1e-12, 1 - 1e-12))

    return quantile


def works(share: float, low: float = 0.1, high: float = 0.9) -> Quantile:
    """``high`` with probability ``share``, else ``low``, both within .02."""
    return modes((1 - share, low, 0.02), (share, high, 0.02))


def failing(share: float, inner: Quantile = lambda u: np.minimum(0.8 + 0.05 * special.ndtri(u), 1)) -> Quantile:
    """0 with probability ``share``, else ``inner``."""

    def quantile(u: np.ndarray) -> np.ndarray:
        return np.where(u < share, 0.0, inner(np.clip((u - share) / (1 - share), 1e-12, 1 - 1e-12)))

    return quantile


def steady(value: float, sd: float = 0.002) -> Quantile:
    """Hardly anything but ``value``."""
    return lambda u: value + sd * special.ndtri(np.clip(u, 1e-12, 1 - 1e-12))


def shipped(family: str) -> Quantile:
    """The shipped results of one family, resampled; failed trials count 0."""
    with DATA.open(encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["family"] == family]
    scores = np.sort([float(row["val_accuracy"] or 0) if row["status"] == "ok" else 0.0 for row in rows])
    return lambda u: scores[np.minimum((u * scores.size).astype(int), scores.size - 1)]


def standard(quantile: Quantile) -> Quantile:
    """With mean 0 and variance 1, so that neither family of a pair drowns the other."""
    scores, mass = quantile(MIDDLES), np.diff(EDGES)
    mean = float(mass @ scores)
    sd = float(np.sqrt(mass @ (scores - mean) ** 2))
    return lambda u: (quantile(u) - mean) / sd


def expected_bests(quantile: Quantile, n: np.ndarray) -> np.ndarray:
    """The expected best of n trials: the integral of Q(u) d(u^n)."""
    scores = quantile(MIDDLES)
    return np.array([np.diff(EDGES**budget) @ scores for budget in n])


CHOSEN_ON: dict[str, Quantile] = {
    "normal": special.ndtri,
    "works .5": works(0.5),
    "works .1": works(0.1),
    "5 % failures": failing(0.05),
    "30 % failures": failing(0.3),
    "arcsine": lambda u: np.sin(np.pi * u / 2) ** 2,
    "rounded": lambda u: np.round(special.betaincinv(8, 2, u) / 0.05) * 0.05,
    "digits mlp": shipped("mlp"),
    "digits svm": shipped("svm"),
    "exponential": standard(lambda u: -np.log1p(-u)),
    "mirrored exponential": standard(lambda u: np.log(u)),
    "uniform": standard(lambda u: u),
    "t3": standard(lambda u: special.stdtrit(3, u)),
    "lognormal": standard(lambda u: np.exp(special.ndtri(u))),
    "triangular": lambda u: np.where(u < 0.5, np.sqrt(u / 2), 1 - np.sqrt((1 - u) / 2)),
    "beta(8,2)": lambda u: special.betaincinv(8, 2, u),
    "0/1 .3": lambda u: (u >= 0.7).astype(float),
    "0/1 .6": lambda u: (u >= 0.4).astype(float),
    "narrow": lambda u: np.clip(0.7 + 0.06 * special.ndtri(u), 0, 1),
    ".5, 2 % at .9": works(0.02, 0.5, 0.9),
    "steady .55": steady(0.55, 0.02),
    "works .03": works(0.03),
    "12 % good mode": works(0.12, 0.2, 0.85),
    "5 % good mode": works(0.05, 0.2, 0.85),
    "7 % failures": failing(0.07, steady(0.8, 0.02)),
}
HELD_OUT: dict[str, Quantile] = {
    "8 % good mode": modes((0.92, 0.31, 0.03), (0.08, 0.74, 0.015)),
    "18 % failures": failing(0.18, lambda u: special.betaincinv(5, 2, u)),
    "three modes": modes((0.55, 0.2, 0.04), (0.33, 0.52, 0.02), (0.12, 0.9, 0.01)),
    "four values": lambda u: np.searchsorted([0.5, 0.8, 0.95], u) / 4.0,
    "skewed losses": lambda u: -np.exp(1.2 * special.ndtri(1 - u)),
    "losses, 4 % at 1e6": lambda u: np.where(u < 0.04, -1e6, -1.0 - special.stdtrit(4, np.clip(1 - u, 1e-9, 1)) / 9),
    "ceiling": lambda u: np.minimum(1.0, 0.93 + 0.09 * special.ndtri(u)),
    "U-shaped": lambda u: special.betaincinv(0.3, 0.4, u),
    "digits forest": shipped("random-forest"),
    "gamma": standard(lambda u: special.gammaincinv(1.7, u)),
    "mirrored gamma": standard(lambda u: -special.gammaincinv(1.7, 1 - u)),
    "Laplace": standard(lambda u: np.sign(u - 0.5) * -np.log1p(-2 * np.abs(u - 0.5))),
    "Gumbel": standard(lambda u: -np.log(-np.log(u))),
    "logistic": standard(special.logit),
}
QUANTILES = CHOSEN_ON | HELD_OUT
