"""Many problems: pass@k and the best of n with a verifier, averaged over problems, with limits over them."""

from __future__ import annotations

from levelbest.stats.problems._groups import (
    GroupBest,
    all_of_k,
    average_over_groups,
    expected_best_by_group,
    group_values,
    pass_at_k,
    repeated_samples,
)
from levelbest.stats.problems._intervals import GROUP_METHODS, group_difference, group_differences, group_interval
from levelbest.stats.problems._planning import GroupPlan, group_variance, plan_groups

__all__ = [
    "GROUP_METHODS",
    "GroupBest",
    "GroupPlan",
    "all_of_k",
    "average_over_groups",
    "expected_best_by_group",
    "group_difference",
    "group_differences",
    "group_interval",
    "group_values",
    "group_variance",
    "pass_at_k",
    "plan_groups",
    "repeated_samples",
]
