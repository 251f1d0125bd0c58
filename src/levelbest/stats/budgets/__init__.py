"""What a budget buys: cost, reaching a target, planning, the gate, the winner's curse, past the trials."""

from __future__ import annotations

from levelbest.stats.budgets._cost import CostCurve, cost_curve
from levelbest.stats.budgets._cost_band import cost_differences
from levelbest.stats.budgets._curse import winners_curse
from levelbest.stats.budgets._extrapolation import Extrapolation, extrapolated_best
from levelbest.stats.budgets._gate import claim_gate
from levelbest.stats.budgets._planning import Needed, trials_for_width, trials_to_separate
from levelbest.stats.budgets._reach import Reached, budget_to_reach, check_target

__all__ = [
    "CostCurve",
    "Extrapolation",
    "Needed",
    "Reached",
    "budget_to_reach",
    "check_target",
    "claim_gate",
    "cost_curve",
    "cost_differences",
    "extrapolated_best",
    "trials_for_width",
    "trials_to_separate",
    "winners_curse",
]
