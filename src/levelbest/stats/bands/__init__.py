"""Limits of one curve: an interval at one budget, a band over all, and the exact limits behind them.

`best_interval` gives the limits of a mean, median or quantile curve by any method; `quantile_interval`, `rank_band` and
`horizon` the exact ones of quantile curves; `cdf_band` and `mean_curve_bounds` those of the whole distribution; and
`anytime_quantile_interval`, `anytime_cdf_band` and `looks` those that are valid while trials still arrive.
"""

from __future__ import annotations

from levelbest.stats.bands._anytime import anytime_cdf_band, anytime_quantile_interval, looks
from levelbest.stats.bands._cdf import CdfBand, cdf_band, mean_curve_bounds
from levelbest.stats.bands._gaffke import closer_by as closer_by
from levelbest.stats.bands._gaffke import further_scores as further_scores
from levelbest.stats.bands._gaffke import gaffke_draws as gaffke_draws
from levelbest.stats.bands._gaffke import sorted_uniforms as sorted_uniforms
from levelbest.stats.bands._interval import all_intervals, best_interval
from levelbest.stats.bands._interval import sample_interval as sample_interval
from levelbest.stats.bands._limits import hats as hats
from levelbest.stats.bands._limits import local_level as local_level
from levelbest.stats.bands._limits import order_statistic as order_statistic
from levelbest.stats.bands._limits import pick as pick
from levelbest.stats.bands._limits import rank_edges as rank_edges
from levelbest.stats.bands._limits import studentise as studentise
from levelbest.stats.bands._methods import CURVE_ESTIMATORS as CURVE_ESTIMATORS
from levelbest.stats.bands._methods import IntervalMethod, interval_methods, register_interval
from levelbest.stats.bands._quantiles import horizon, quantile_interval
from levelbest.stats.bands._ranks import RankBand, rank_band
from levelbest.stats.bands._reported import FEWEST_FREE as FEWEST_FREE
from levelbest.stats.bands._reported import ReportCells as ReportCells
from levelbest.stats.bands._reported import degrees_of_freedom as degrees_of_freedom
from levelbest.stats.bands._reported import imagined_reports as imagined_reports
from levelbest.stats.bands._reported import t_quantile as t_quantile
from levelbest.stats.bands._reported import wider_by as wider_by
from levelbest.stats.bands._resample import Ranked as Ranked
from levelbest.stats.bands._resample import allow as allow
from levelbest.stats.bands._resample import bootstrap as bootstrap
from levelbest.stats.bands._resample import counts as counts
from levelbest.stats.bands._resample import pieces as pieces
from levelbest.stats.bands._resample import statistic_draws as statistic_draws
from levelbest.stats.bands._work import Interval, Limits, Rule, Terms, Work

# What strangers look for; the other names are machinery that later doors build on.
__all__ = [
    "CdfBand",
    "Interval",
    "IntervalMethod",
    "Limits",
    "RankBand",
    "Rule",
    "Terms",
    "Work",
    "all_intervals",
    "anytime_cdf_band",
    "anytime_quantile_interval",
    "best_interval",
    "cdf_band",
    "horizon",
    "interval_methods",
    "looks",
    "mean_curve_bounds",
    "quantile_interval",
    "rank_band",
    "register_interval",
]
