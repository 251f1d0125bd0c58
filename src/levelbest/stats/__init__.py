"""The mathematics: arrays in, arrays out. NumPy and SciPy only; no files, no frames, no plots.

Scores are one number per trial. ``selection`` picks the winner and ``reported`` is what is claimed of it;
without ``reported`` the two are the same. ``n`` is how many trials one may try.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from levelbest._lazy import lazy_names

if TYPE_CHECKING:
    from levelbest.stats.anytime import anytime_cdf_band as anytime_cdf_band
    from levelbest.stats.anytime import anytime_quantile_interval as anytime_quantile_interval
    from levelbest.stats.bands import horizon as horizon
    from levelbest.stats.bands import quantile_interval as quantile_interval
    from levelbest.stats.cdf import CdfBand as CdfBand
    from levelbest.stats.cdf import cdf_band as cdf_band
    from levelbest.stats.cdf import mean_curve_bounds as mean_curve_bounds
    from levelbest.stats.contrast import difference_band as difference_band
    from levelbest.stats.cost import cost_curve as cost_curve
    from levelbest.stats.curse import winners_curse as winners_curse
    from levelbest.stats.extrapolation import extrapolated_best as extrapolated_best
    from levelbest.stats.gate import claim_gate as claim_gate
    from levelbest.stats.group_intervals import group_difference as group_difference
    from levelbest.stats.group_intervals import group_interval as group_interval
    from levelbest.stats.group_planning import group_variance as group_variance
    from levelbest.stats.group_planning import plan_groups as plan_groups
    from levelbest.stats.groups import all_of_k as all_of_k
    from levelbest.stats.groups import expected_best_by_group as expected_best_by_group
    from levelbest.stats.groups import pass_at_k as pass_at_k
    from levelbest.stats.interval import best_interval as best_interval
    from levelbest.stats.laws import Normality as Normality
    from levelbest.stats.laws import gaussian_best as gaussian_best
    from levelbest.stats.laws import law_best as law_best
    from levelbest.stats.laws import normal_best as normal_best
    from levelbest.stats.laws import normality as normality
    from levelbest.stats.order import best_weights as best_weights
    from levelbest.stats.order import expected_best as expected_best
    from levelbest.stats.order import quantile_best as quantile_best
    from levelbest.stats.order import spread_of_best as spread_of_best
    from levelbest.stats.order import standard_error as standard_error
    from levelbest.stats.ranks import rank_band as rank_band

# name -> the module it lives in
_HOMES: dict[str, str] = {
    "Interval": "results",
    "best_interval": "interval",
    "claim_gate": "gate",
    "Normality": "laws",
    "gaussian_best": "laws",
    "law_best": "laws",
    "normal_best": "laws",
    "normality": "laws",
    "best_weights": "order",
    "expected_best": "order",
    "quantile_best": "order",
    "spread_of_best": "order",
    "standard_error": "order",
    "cost_curve": "cost",
    "quantile_interval": "bands",
    "horizon": "bands",
    "rank_band": "ranks",
    "CdfBand": "cdf",
    "cdf_band": "cdf",
    "mean_curve_bounds": "cdf",
    "anytime_cdf_band": "anytime",
    "anytime_quantile_interval": "anytime",
    "difference_band": "contrast",
    "all_of_k": "groups",
    "expected_best_by_group": "groups",
    "pass_at_k": "groups",
    "group_difference": "group_intervals",
    "group_interval": "group_intervals",
    "group_variance": "group_planning",
    "plan_groups": "group_planning",
    "winners_curse": "curse",
    "extrapolated_best": "extrapolation",
}
__all__ = sorted(_HOMES)
__getattr__, __dir__ = lazy_names(__name__, _HOMES)
