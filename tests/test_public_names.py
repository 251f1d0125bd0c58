"""The names that outsiders rely on. Adding one is a decision; losing one breaks someone."""

import levelbest
from levelbest import stats

PUBLIC = {
    "Caution", "Curve", "DataError", "InputError", "LevelbestError", "Metric", "MissingExtra", "Trials",
    "curve", "family_curves", "write_report", "read_trials", "write_trials", "log_curve", "stats",
    "Run", "read_study", "run_study", "run_trials", "verify_ledger",
    "compare", "Comparison", "Effect", "PairComparison", "Standing", "Verdict",
    "CurveSet", "FamilyCostCurve", "Settings",
    "reach", "Reach", "Reaches",
    "plan_trials", "TrialPlan",
    "compare_tasks", "TaskComparison",
    "describe", "Description", "Report",
    "variance", "Variances",
}  # fmt: skip
STATS = {
    "Normality", "gaussian_best", "law_best", "normal_best", "normality",
    "Interval", "best_interval", "claim_gate",
    "best_statistic", "best_weights", "expected_best", "quantile_best", "spread_of_best", "standard_error",
    "cost_curve",
    "quantile_interval", "horizon", "rank_band",
    "CdfBand", "cdf_band", "mean_curve_bounds",
    "anytime_cdf_band", "anytime_quantile_interval",
    "difference_band",
    "all_of_k", "expected_best_by_group", "pass_at_k", "group_difference", "group_interval", "group_variance",
    "plan_groups",
    "winners_curse",
    "extrapolated_best",
    "variance_components",
}  # fmt: skip


def test_public_names_are_pinned():
    assert set(levelbest.__all__) == PUBLIC
    assert set(stats.__all__) == STATS


def test_every_public_name_resolves():
    for name in PUBLIC - {"stats"}:
        assert getattr(levelbest, name).__doc__, name
    for name in STATS:
        assert getattr(stats, name).__doc__, name
