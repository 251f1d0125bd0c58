"""Checks of the random-sample assumption, descriptive statistics, and variance by source.

A trend with the order of the trials, repeated configurations, a grid, few distinct values, ties, an outlying best,
sampling that stops at the first success; the numbers that describe a sample, and variance by source.
"""

from __future__ import annotations

from levelbest.stats.checks._alike import are_alike, normal_ranks, without_means
from levelbest.stats.checks._components import VarianceComponents, VarianceSource, variance_components
from levelbest.stats.checks._diagnostics import (
    Grid,
    Outlier,
    configuration_codes,
    distinct_values,
    evenly_spaced,
    grid_design,
    iqr_error,
    outlying_best,
    p_positive,
    rank_correlation,
    stops_at_success,
    tied_share,
    trend,
)

__all__ = [
    "Grid",
    "Outlier",
    "VarianceComponents",
    "VarianceSource",
    "are_alike",
    "configuration_codes",
    "distinct_values",
    "evenly_spaced",
    "grid_design",
    "iqr_error",
    "normal_ranks",
    "outlying_best",
    "p_positive",
    "rank_correlation",
    "stops_at_success",
    "tied_share",
    "trend",
    "variance_components",
    "without_means",
]
