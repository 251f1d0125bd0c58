"""What it takes to reach a score, in words."""

from __future__ import annotations

import math

from levelbest._plain import show_cost, show_range
from levelbest.report.words.phrases import level, plural
from levelbest.results import Reach


def reach_sentence(reach: Reach) -> str:
    """Whether, with what budget and within which limits one family reaches one target."""
    what = {"mean": "expected", "median": "median"}.get(reach.statistic, f"{reach.statistic}-quantile")
    name = f" ({reach.name})" if reach.name else ""
    goal = f"{'an' if what == 'expected' else 'a'} {what} best {reach.score} of {reach.target:g}{name}"
    failed = f", {reach.n_failed} failed" if reach.n_failed else ""
    basis = f"from {plural(reach.n_trials, reach.unit)}{failed}"
    budget, low, high = (reach.cost, reach.cost_low, reach.cost_high) if reach.axis == "cost" else reach.interval
    shown = _limits(reach, low, high)
    basis = f"{level(reach.confidence)} limits: {shown}; {basis}" if shown else basis
    if not reach.reached:
        ends = f"the data end at {_budget(reach, reach.furthest)} with {reach.best:.4g}"
        return f"{reach.family} does not reach {goal} within the data: {ends} ({basis})."
    price = ""
    if reach.axis != "cost" and math.isfinite(reach.cost):
        price = f", about {show_cost(reach.cost, reach.cost_unit)}"
    return f"{reach.family} reaches {goal} with {_budget(reach, budget)}{price} ({basis})."


def _limits(reach: Reach, low: float, high: float) -> str:
    """Between which budgets the target is reached, as far as the data tell."""
    if math.isfinite(low) and math.isfinite(high):
        return show_range(low, high, reach.axis, reach.cost_unit)
    if math.isfinite(low):
        return f"at least {_budget(reach, low)}, at most unknown"
    return f"at most {_budget(reach, high)}" if math.isfinite(high) else ""


def _budget(reach: Reach, value: float) -> str:
    return show_cost(value, reach.cost_unit) if reach.axis == "cost" else plural(value, reach.unit, f"{value:g}")
