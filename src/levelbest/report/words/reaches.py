"""What it takes to reach a score, in words."""

from __future__ import annotations

import numpy as np

from levelbest._plain import show_cost
from levelbest.report.words.phrases import level, plural
from levelbest.results import Reach

__all__ = ["reach_sentence"]

_BEYOND = "more than the data show"


def reach_sentence(reach: Reach) -> str:
    """Whether, with what budget and within which limits one family reaches one target."""
    what = {"mean": "expected", "median": "median"}.get(reach.statistic, f"{reach.statistic}-quantile")
    goal = f"an {what} best {reach.score} of {reach.target:g}" if what == "expected" else f"a {what} best {reach.score}"
    goal = goal if what == "expected" else f"{goal} of {reach.target:g}"
    goal += f" ({reach.name})" if reach.name else ""
    failed = f", {reach.n_failed} failed" if reach.n_failed else ""
    basis = f"from {plural(reach.n_trials, reach.unit)}{failed}"
    interval = f"{level(reach.confidence)} interval"
    budget, low, high = (reach.cost, reach.cost_low, reach.cost_high) if reach.axis == "cost" else reach.interval
    if not reach.reached:
        least = f"; at least {_budget(reach, low)} are needed" if np.isfinite(low) else ""
        return (
            f"{reach.family} does not reach {goal} within the data: {reach.best:.4g} at "
            f"{_budget(reach, reach.furthest)}{least} ({interval}, {basis})."
        )
    if reach.axis == "cost":
        return (
            f"{reach.family} reaches {goal} with {_budget(reach, budget)} ({interval} {_budget(reach, low)} to "
            f"{_budget(reach, high)}, {basis})."
        )
    price = f", about {show_cost(reach.cost, reach.cost_unit)}" if np.isfinite(reach.cost) else ""
    last = f"{high:g}" if np.isfinite(high) else _BEYOND
    return (
        f"{reach.family} reaches {goal} with {_budget(reach, budget)} ({interval} {low:g} to {last}{price}; {basis})."
    )


def _budget(reach: Reach, value: float) -> str:
    if not np.isfinite(value):
        return _BEYOND
    return show_cost(value, reach.cost_unit) if reach.axis == "cost" else plural(value, reach.unit, f"{value:g}")
