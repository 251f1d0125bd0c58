"""Curves in words: what a point of one says, what its table's numbers are, what it takes to reach a score."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from levelbest._plain import round_to_uncertainty, show_cost, show_number, show_range
from levelbest.report.view import Family
from levelbest.report.words.intervals import interval_name
from levelbest.report.words.phrases import after, level, listed, plural
from levelbest.results import TRIALS, Curve, DesignWords, FamilyCostCurve, Reach
from levelbest.trials import Metric


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
    again = ""
    if curve.new_run is not None and np.isfinite(curve.new_run[i]):
        again = f" A new run of it is expected to score {show_number(float(curve.new_run[i]), decimals)}."
    return (
        f"{curve.family}: {quantity(curve, curve.words.count(int(curve.n[i])) + after(curve.words.drawn))} is "
        f"{show_number(curve.value[i], decimals)}{limits}, from {trials_in_words(curve, i)}{failed}{chosen}.{again}"
    )


def alone_words(curve: Curve) -> str:
    """What a curve is called where the selection score is all there is."""
    return curve.words.unchecked


def quantity(curve: Curve, n: str = "n") -> str:
    """What a point of the curve is; ``n`` says of how many trials."""
    if curve.statistic == "all":
        return f"chance that all of {n} succeed ({curve.score}, pass^k)"
    what = {"mean": "expected", "median": "median"}.get(curve.statistic, f"{curve.statistic}-quantile of the")
    return f"{what} best {curve.score} of {n}"


def trials_in_words(curve: Curve, i: int | None = None) -> str:
    """``50 trials``, or ``200 samples of 50 problems`` with how many of them stand behind point ``i``."""
    if curve.problems is None:
        runs = "" if curve.n_runs is None else f" with {plural(curve.n_runs, curve.words.part)} in all"
        return f"{curve.words.count(curve.n_trials)}{runs}"
    total = int(curve.problems.groups.size)
    count = total if i is None else int(curve.problems.n_groups[i])
    every = plural(total, curve.words.group)
    many = every if count == total else f"{every} ({count} with {curve.words.count(int(curve.n[i or 0]))})"
    return f"{curve.words.count(curve.n_trials)} of {many}"


def curves_heading(curves: Sequence[Curve]) -> str:
    """What the numbers of a table of curves are, with the terms that it uses."""
    first, words = curves[0], curves[0].words
    chosen = f", chosen by {first.selection}" if first.reported else f" ({alone_words(first)})"
    if first.statistic == "all":  # nothing is chosen where all must succeed
        chosen = ""
    names = list(dict.fromkeys(curve.method for curve in curves))
    methods = listed(list(dict.fromkeys(interval_name(name) for name in names)))
    over = "for all n at once" if first.simultaneous else "for each n by itself"
    kind = "bands" if first.simultaneous else "intervals"
    problems = ""
    if first.problems is not None:
        weighted = ", weighted" if first.problems.weights is not None else ""
        problems = f" of {plural(int(first.problems.groups.size), words.group)}{weighted}"
    judged = after(words.judged, ", each judged ")
    parts = [
        f"{quantity(first, f'n {words.units}{after(words.drawn)}')}{problems}{judged}{chosen}",
        f"{level(first.confidence)} {kind} {over}: {methods}",
        "spread: standard deviation of the best of n itself",
    ]
    if first.new_run is not None:
        parts.append("new run: what one more run of the best is expected to score, chosen by one run fewer")
    return "; ".join(parts)


def cost_heading(curves: Sequence[FamilyCostCurve]) -> str:
    """The same over budgets of cost."""
    own = curves[0].curve
    crew = f" with {own.workers} workers" if own.workers > 1 else ""
    error = max(float(np.nanmax(curve.curve.monte_carlo_error)) for curve in curves)
    return (
        f"expected best {curves[0].score} within a budget{crew}; mean cost: as if every trial cost the mean; none "
        f"done: chance that no trial is finished; {own.n_orders} orders, Monte Carlo error at most {error:.2g}; "
        f"seed {curves[0].seed}"
    )


def cost_sentence(curve: FamilyCostCurve) -> str:
    """What can be said of the largest budget of cost, ready for a paper."""
    own = curve.curve
    budget, value, low, high = curve.point(float(own.budget[-1]))
    limits = f" [{low:.4g}, {high:.4g}]" if np.isfinite(low) else ""
    failed = f", {curve.n_failed} failed" if curve.n_failed else ""
    crew = f" and {own.workers} workers" if own.workers > 1 else ""
    return (
        f"{curve.family}: expected best {curve.score} within {show_cost(budget, curve.cost_unit)}{crew} is "
        f"{value:.4g}{limits} (mean-cost scaling: {own.mean_cost_value[-1]:.4g}), from "
        f"{curve.words.count(own.n_trials)}{failed}."
    )


def reach_sentence(reach: Reach) -> str:
    """Whether, with what budget and within which limits one family reaches one target."""
    what = {"mean": "expected", "median": "median"}.get(reach.statistic, f"{reach.statistic}-quantile")
    name = f" ({reach.name})" if reach.name else ""
    goal = f"{'an' if what == 'expected' else 'a'} {what} best {reach.score} of {reach.target:g}{name}"
    failed = f", {reach.n_failed} failed" if reach.n_failed else ""
    basis = f"from {reach.words.count(reach.n_trials)}{failed}"
    budget, low, high = (reach.cost, reach.cost_low, reach.cost_high) if reach.over_cost else reach.interval
    shown = ""
    if math.isfinite(low) and math.isfinite(high):
        shown = show_range(low, high, reach.axis, reach.cost_unit)
    elif math.isfinite(low):
        shown = f"at least {_budget(reach, low)}, at most unknown"
    elif math.isfinite(high):
        shown = f"at most {_budget(reach, high)}"
    basis = f"{level(reach.confidence)} limits: {shown}; {basis}" if shown else basis
    if not reach.reached:
        ends = f"the data end at {_budget(reach, reach.furthest)} with {reach.best:.4g}"
        return f"{reach.family} does not reach {goal} within the data: {ends} ({basis})."
    price = ""
    if not reach.over_cost and math.isfinite(reach.cost):
        price = f", about {show_cost(reach.cost, reach.cost_unit)}"
    return f"{reach.family} reaches {goal} with {_budget(reach, budget)}{price} ({basis})."


def _budget(reach: Reach, value: float) -> str:
    return show_cost(value, reach.cost_unit) if reach.over_cost else reach.words.count(value, f"{value:g}")


def family_title(names: Sequence[str], metric: Metric, words: DesignWords) -> str:
    """What a report is about: one new unit, or the best of a budget."""
    who = " and ".join(names) if len(names) <= 2 else f"{len(names)} families"
    what = f"{metric.score} of {words.single}" if words.single else f"best {metric.score} against the budget"
    return f"{who}: {what}"


def alone_sentence(family: Family, headline: int, score: str, n_groups: int | None, words: DesignWords = TRIALS) -> str:
    """With one family there is nothing to compare: the headline number is the verdict."""
    value, low, high = family.headline
    at = min(headline, family.n_trials)
    limits = f" ({low:.4g} to {high:.4g})" if math.isfinite(low) and math.isfinite(high) else ""
    failed = f", {plural(family.n_failed, words.part) if words.in_parts else family.n_failed} failed"
    failed = failed if family.n_failed else ""
    over = "" if n_groups is None else f" of {plural(n_groups, words.group)}"
    head = f"{family.name}: the expected best {score} of {words.count(at)} is {value:.4g}{limits}"
    return f"{head}, from {words.count(family.n_trials)}{over}{failed}."
