"""Limits of one curve: intervals at one budget, bands over all, and the exact limits behind them."""

from __future__ import annotations

from levelbest.stats.bands._anytime import anytime_cdf_band, anytime_quantile_interval, looks
from levelbest.stats.bands._batches import BATCHES, LARGE, batch_curves, batch_size, shuffled_batches
from levelbest.stats.bands._cdf import CdfBand, cdf_band, mean_curve_bounds
from levelbest.stats.bands._interval import best_interval
from levelbest.stats.bands._quantiles import horizon, quantile_interval
from levelbest.stats.bands._ranks import rank_band
from levelbest.stats.bands._reported import quantile_draws
from levelbest.stats.bands._resample import Ranked, allow, bootstrap, counts
from levelbest.stats.bands._results import Interval

__all__ = [
    "BATCHES",
    "LARGE",
    "CdfBand",
    "Interval",
    "Ranked",
    "allow",
    "anytime_cdf_band",
    "anytime_quantile_interval",
    "batch_curves",
    "batch_size",
    "best_interval",
    "bootstrap",
    "cdf_band",
    "counts",
    "horizon",
    "looks",
    "mean_curve_bounds",
    "quantile_draws",
    "quantile_interval",
    "rank_band",
    "shuffled_batches",
]
