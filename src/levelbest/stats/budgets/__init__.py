"""Budgets: cost instead of trials, a target to reach, and planning.

`cost_curve` where trials differ in cost; `budget_to_reach` for a target; `trials_for_width` to plan a width (separating
families is planned by the comparison, `Hypotheses.planned`), `divide_runs` for more configurations or more seeds;
`claim_gate` for a claim after many attempts, `judge_summary` for one made of summary numbers; `winners_curse` for the
optimism of selection.
"""

from __future__ import annotations

from levelbest.stats.budgets._audit import Steps as Steps
from levelbest.stats.budgets._audit import expected_records as expected_records
from levelbest.stats.budgets._audit import likely_count as likely_count
from levelbest.stats.budgets._audit import true_steps as true_steps
from levelbest.stats.budgets._claims import READINGS as READINGS
from levelbest.stats.budgets._claims import ClaimReading as ClaimReading
from levelbest.stats.budgets._claims import SearchGain as SearchGain
from levelbest.stats.budgets._claims import Summary as Summary
from levelbest.stats.budgets._claims import judge_summary as judge_summary
from levelbest.stats.budgets._configurations import Division, divide_runs, power_of_division
from levelbest.stats.budgets._cost import CostCurve, cost_curve
from levelbest.stats.budgets._cost import as_cost as as_cost
from levelbest.stats.budgets._cost import as_cost_budgets as as_cost_budgets
from levelbest.stats.budgets._cost import curve_of as curve_of
from levelbest.stats.budgets._cost import mean_cost_values as mean_cost_values
from levelbest.stats.budgets._cost_band import Spending as Spending
from levelbest.stats.budgets._cost_band import cost_differences
from levelbest.stats.budgets._cost_band import spend as spend
from levelbest.stats.budgets._curse import Curse, winners_curse
from levelbest.stats.budgets._gate import Gate, claim_gate
from levelbest.stats.budgets._keeping import clears as clears
from levelbest.stats.budgets._keeping import improvement_p_value as improvement_p_value
from levelbest.stats.budgets._orders import Pool as Pool
from levelbest.stats.budgets._orders import cost_horizon
from levelbest.stats.budgets._planning import as_power as as_power
from levelbest.stats.budgets._planning import trials_for_width
from levelbest.stats.budgets._reach import Reached, budget_to_reach
from levelbest.stats.budgets._reach import check_reachable as check_reachable
from levelbest.stats.inference import Needed

# What strangers look for; the other names are machinery that what stands above builds on.
__all__ = [
    "CostCurve",
    "Curse",
    "Division",
    "Gate",
    "Needed",
    "Reached",
    "budget_to_reach",
    "claim_gate",
    "cost_curve",
    "cost_differences",
    "cost_horizon",
    "divide_runs",
    "power_of_division",
    "trials_for_width",
    "winners_curse",
]
