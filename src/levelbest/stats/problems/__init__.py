"""Many problems, each with its own samples: pass@k and the best of n with a verifier, averaged over problems.

`pass_at_k` and `all_of_k` from counts, `expected_best_by_group` from scores; `group_interval`, `group_difference` and,
for several systems, `problem_contrasts` with limits over problems; `suite_interval` and `suite_contrasts` for exactly
these problems; `group_variance` and `plan_groups` for the effect of more problems or samples.
"""

from __future__ import annotations

from levelbest.stats.problems._broken import holm as holm
from levelbest.stats.problems._broken import worse_p_values as worse_p_values
from levelbest.stats.problems._differences import group_difference, problem_contrasts
from levelbest.stats.problems._drawing import drawn_values as drawn_values
from levelbest.stats.problems._groups import GroupBest, expected_best_by_group
from levelbest.stats.problems._groups import average_over_groups as average_over_groups
from levelbest.stats.problems._groups import group_values as group_values
from levelbest.stats.problems._groups import macro_average as macro_average
from levelbest.stats.problems._groups import repeated_samples as repeated_samples
from levelbest.stats.problems._judges import JudgedMean, judged_mean
from levelbest.stats.problems._limits import GROUP_METHODS, group_interval
from levelbest.stats.problems._passes import all_of_k, pass_at_k
from levelbest.stats.problems._planning import GroupPlan, GroupVariance, group_variance, plan_groups
from levelbest.stats.problems._planning import SpendWay as SpendWay
from levelbest.stats.problems._planning import divide_spend as divide_spend
from levelbest.stats.problems._runs import RunSpread as RunSpread
from levelbest.stats.problems._runs import run_spread as run_spread
from levelbest.stats.problems._spending import Ratio, expected_spend, ratio_interval
from levelbest.stats.problems._suite import SUITE_METHODS as SUITE_METHODS
from levelbest.stats.problems._suite import suite_contrasts, suite_interval
from levelbest.stats.problems._taking import DrawnFrom as DrawnFrom

# What strangers look for; the other names are machinery that later doors build on.
__all__ = [
    "GROUP_METHODS",
    "GroupBest",
    "GroupPlan",
    "GroupVariance",
    "JudgedMean",
    "Ratio",
    "all_of_k",
    "expected_best_by_group",
    "expected_spend",
    "group_difference",
    "group_interval",
    "group_variance",
    "judged_mean",
    "pass_at_k",
    "plan_groups",
    "problem_contrasts",
    "ratio_interval",
    "suite_contrasts",
    "suite_interval",
]
