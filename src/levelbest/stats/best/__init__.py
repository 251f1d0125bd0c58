"""The best of n: estimators, their weights, and the best of known laws."""

from __future__ import annotations

from levelbest.stats.best._laws import Normality, gaussian_best, law_best, normal_best, normality
from levelbest.stats.best._order import best_weights, expected_best, quantile_best, spread_of_best, standard_error
from levelbest.stats.best._weights import log_share, rank_weights, subset_fraction

__all__ = [
    "Normality",
    "best_weights",
    "expected_best",
    "gaussian_best",
    "law_best",
    "log_share",
    "normal_best",
    "normality",
    "quantile_best",
    "rank_weights",
    "spread_of_best",
    "standard_error",
    "subset_fraction",
]
