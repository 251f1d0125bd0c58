"""Curves in words."""

from __future__ import annotations

import numpy as np

from levelbest._plain import round_to_uncertainty, show_cost, show_number
from levelbest.report.words.phrases import level, plural
from levelbest.results import Curve, FamilyCostCurve

__all__ = ["alone_words", "cost_sentence", "curve_sentence", "quantity", "trials_in_words"]


def curve_sentence(curve: Curve, n: int | None = None) -> str:
    """What can be said of one budget (default: the largest), ready for a paper."""
    i = curve.at(n) if n is not None else curve.n.size - 1
    decimals = round_to_uncertainty(curve.value[i], curve.low[i], curve.high[i])
    chosen = f" (selected by {curve.selection})" if curve.reported else f" ({alone_words(curve)})"
    if curve.statistic == "all":
        chosen = ""
    limits = ", no interval"
    if not np.isnan(curve.low[i]):
        scope = "simultaneous " if curve.simultaneous else ""
        ends = f"{show_number(curve.low[i], decimals)}, {show_number(curve.high[i], decimals)}"
        limits = f" [{ends}], {scope}{level(curve.confidence)} {curve.method} interval"
    failed = f", {curve.n_failed} failed" if curve.n_failed else ""
    return (
        f"{curve.family}: {quantity(curve, plural(int(curve.n[i]), curve.unit))} is "
        f"{show_number(curve.value[i], decimals)}{limits}, from {trials_in_words(curve, i)}{failed}{chosen}."
    )


def alone_words(curve: Curve) -> str:
    """What a curve is called where the selection score is all there is."""
    return "validation only" if curve.problems is None else "picked by the score itself, as an oracle would"


def quantity(curve: Curve, n: str = "n") -> str:
    """What a point of the curve is; ``n`` says of how many trials."""
    if curve.statistic == "all":
        return f"chance that all of {n} succeed ({curve.score}, pass^k)"
    what = {"mean": "expected", "median": "median"}.get(curve.statistic, f"{curve.statistic}-quantile of the")
    return f"{what} best {curve.score} of {n}"


def trials_in_words(curve: Curve, i: int | None = None) -> str:
    """``50 trials``, or ``200 samples of 50 problems`` with how many of them stand behind point ``i``."""
    if curve.problems is None:
        return plural(curve.n_trials, "trial")
    total = int(curve.problems.groups.size)
    count = total if i is None else int(curve.problems.n_groups[i])
    words = plural(total, "problem")
    many = words if count == total else f"{words} ({count} with {curve.n[i or 0]} samples)"
    return f"{plural(curve.n_trials, 'sample')} of {many}"


def cost_sentence(curve: FamilyCostCurve) -> str:
    """What can be said of the largest budget of cost, ready for a paper."""
    own = curve.curve
    budget, value, low, high = curve.point(float(own.budget[-1]))
    limits = f" [{low:.4g}, {high:.4g}]" if np.isfinite(low) else ""
    failed = f", {curve.n_failed} failed" if curve.n_failed else ""
    crew = f" and {own.workers} workers" if own.workers > 1 else ""
    return (
        f"{curve.family}: expected best {curve.score} within {show_cost(budget, curve.cost_unit)}{crew} is "
        f"{value:.4g}{limits} (mean-cost scaling: {own.mean_cost_value[-1]:.4g}), from {plural(own.n_trials, 'trial')}"
        f"{failed}."
    )
