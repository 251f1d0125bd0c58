"""The mathematics: arrays in, arrays out. NumPy and SciPy only; no files, no frames, no plots.

Scores are one number per trial. ``selection`` picks the winner and ``reported`` is the score reported for it;
without ``reported`` the two are the same. ``n`` is the number of trials one may run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from levelbest._lazy import lazy_names

if TYPE_CHECKING:
    from levelbest.stats.bands import CdfBand as CdfBand
    from levelbest.stats.bands import Interval as Interval
    from levelbest.stats.bands import RankBand as RankBand
    from levelbest.stats.bands import anytime_cdf_band as anytime_cdf_band
    from levelbest.stats.bands import anytime_quantile_interval as anytime_quantile_interval
    from levelbest.stats.bands import best_interval as best_interval
    from levelbest.stats.bands import cdf_band as cdf_band
    from levelbest.stats.bands import horizon as horizon
    from levelbest.stats.bands import mean_curve_bounds as mean_curve_bounds
    from levelbest.stats.bands import quantile_interval as quantile_interval
    from levelbest.stats.bands import rank_band as rank_band
    from levelbest.stats.best import Normality as Normality
    from levelbest.stats.best import best_statistic as best_statistic
    from levelbest.stats.best import best_weights as best_weights
    from levelbest.stats.best import expected_best as expected_best
    from levelbest.stats.best import gaussian_best as gaussian_best
    from levelbest.stats.best import law_best as law_best
    from levelbest.stats.best import normal_best as normal_best
    from levelbest.stats.best import normality as normality
    from levelbest.stats.best import quantile_best as quantile_best
    from levelbest.stats.best import spread_of_best as spread_of_best
    from levelbest.stats.best import standard_error as standard_error
    from levelbest.stats.best import unseen as unseen
    from levelbest.stats.budgets import CostCurve as CostCurve
    from levelbest.stats.budgets import Curse as Curse
    from levelbest.stats.budgets import Gate as Gate
    from levelbest.stats.budgets import claim_gate as claim_gate
    from levelbest.stats.budgets import cost_curve as cost_curve
    from levelbest.stats.budgets import winners_curse as winners_curse
    from levelbest.stats.checks import VarianceComponents as VarianceComponents
    from levelbest.stats.checks import variance_components as variance_components
    from levelbest.stats.inference import Difference as Difference
    from levelbest.stats.inference import difference_band as difference_band
    from levelbest.stats.problems import GroupBest as GroupBest
    from levelbest.stats.problems import GroupPlan as GroupPlan
    from levelbest.stats.problems import GroupVariance as GroupVariance
    from levelbest.stats.problems import all_of_k as all_of_k
    from levelbest.stats.problems import expected_best_by_group as expected_best_by_group
    from levelbest.stats.problems import group_difference as group_difference
    from levelbest.stats.problems import group_interval as group_interval
    from levelbest.stats.problems import group_variance as group_variance
    from levelbest.stats.problems import pass_at_k as pass_at_k
    from levelbest.stats.problems import plan_groups as plan_groups

# name -> the module it lives in
_NAMES = {
    "bands": (
        "Interval",
        "best_interval",
        "quantile_interval",
        "horizon",
        "RankBand",
        "rank_band",
        "CdfBand",
        "cdf_band",
        "mean_curve_bounds",
        "anytime_cdf_band",
        "anytime_quantile_interval",
    ),
    "budgets": (
        "CostCurve",
        "Curse",
        "Gate",
        "claim_gate",
        "cost_curve",
        "winners_curse",
    ),
    "best": (
        "Normality",
        "gaussian_best",
        "law_best",
        "normal_best",
        "normality",
        "best_statistic",
        "best_weights",
        "expected_best",
        "quantile_best",
        "spread_of_best",
        "standard_error",
        "unseen",
    ),
    "inference": ("Difference", "difference_band"),
    "problems": (
        "GroupBest",
        "GroupPlan",
        "GroupVariance",
        "all_of_k",
        "expected_best_by_group",
        "pass_at_k",
        "group_difference",
        "group_interval",
        "group_variance",
        "plan_groups",
    ),
    "checks": ("VarianceComponents", "variance_components"),
}
__getattr__, __dir__, __all__ = lazy_names(__name__, _NAMES)
