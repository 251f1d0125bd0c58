"""The laws of the certificate of verdicts: a law is its quantile function."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import special

__all__ = ["LAWS"]

DATA = Path(__file__).parents[2] / "src" / "levelbest" / "data" / "digits.csv"
Quantile = Callable[[np.ndarray], np.ndarray]


def works(share: float, low: float = 0.1, high: float = 0.9) -> Quantile:
    """``high`` with probability ``share``, else ``low``, both within .02."""

    def quantile(u: np.ndarray) -> np.ndarray:
        inner = np.where(u < 1 - share, u / (1 - share), (u - (1 - share)) / share)
        return np.where(u < 1 - share, low, high) + 0.02 * special.ndtri(np.clip(inner, 1e-12, 1 - 1e-12))

    return quantile


def failing(share: float) -> Quantile:
    """0 with probability ``share``, else .8 within .05."""

    def quantile(u: np.ndarray) -> np.ndarray:
        inner = np.clip((u - share) / (1 - share), 1e-12, 1)
        return np.where(u < share, 0.0, np.minimum(0.8 + 0.05 * special.ndtri(np.minimum(inner, 1 - 1e-12)), 1))

    return quantile


def digits(family: str) -> Quantile:
    """The shipped results of one family, resampled; failed trials count 0."""
    with DATA.open(encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["family"] == family]
    scores = np.sort([float(row["val_accuracy"] or 0) if row["status"] == "ok" else 0.0 for row in rows])
    return lambda u: scores[np.minimum((u * scores.size).astype(int), scores.size - 1)]


def standard(quantile: Quantile) -> Quantile:
    """The same law with mean 0 and variance 1, so that neither family of a pair drowns the other."""
    u = (np.arange(400_000) + 0.5) / 400_000
    mean, sd = float(quantile(u).mean()), float(quantile(u).std())
    return lambda p: (quantile(p) - mean) / sd


LAWS: dict[str, Quantile] = {
    "normal": special.ndtri,
    "works .5": works(0.5),
    "works .1": works(0.1),
    "5 % failures": failing(0.05),
    "30 % failures": failing(0.3),
    "arcsine": lambda u: np.sin(np.pi * u / 2) ** 2,
    "rounded": lambda u: np.round(special.betaincinv(8, 2, u) / 0.05) * 0.05,
    "digits mlp": digits("mlp"),
    "digits svm": digits("svm"),
    "digits forest": digits("random-forest"),
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
    "steady .55": works(0.5, 0.55, 0.55),
    "works .03": works(0.03),
}
