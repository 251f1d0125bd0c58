"""Curves in the terminal: one table for all families, then what a reviewer would ask about. And a plan: what it takes
in one sentence, and a row for each pair and family."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from levelbest._plain import round_to_uncertainty, show_cost, show_limits, show_number, show_with_limits
from levelbest.errors import named
from levelbest.report.terminal.console import console, plain_table, print_cautions, print_text, print_variances
from levelbest.report.words.curves import cost_heading, curves_heading
from levelbest.report.words.phrases import level, plural
from levelbest.report.words.plans import capped_sentence, plan_sentences, plan_summary, plan_table
from levelbest.results import Curve, FamilyCostCurve, TrialPlan

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_ROUND = (1, 2, 3, 5, 10, 20, 30, 50, 75, 100, 200, 300, 500, 1000, 2000, 5000, 10_000, 100_000, 1_000_000)
_FEW = (1, 5, 20, 50, 100, 500, 2000, 10_000, 100_000, 1_000_000)
"""Budgets shown of one or two curves, and of more of them."""


def print_curves(drawn: Sequence[Curve | FamilyCostCurve], *, n: Iterable[int] | None = None) -> None:
    """What the numbers are, one table, the strata, and what a reviewer would ask about."""
    out = console()
    if over_cost := [curve for curve in drawn if isinstance(curve, FamilyCostCurve)]:
        print_text(cost_heading(over_cost), out, "dim")
        out.print(_cost_table(over_cost))
        out.print()
    if curves := [curve for curve in drawn if isinstance(curve, Curve)]:
        print_text(curves_heading(curves), out, "dim")
        out.print(_table(curves, n))
        for curve in curves:
            if curve.strata:
                out.print()
                print_text(f"{curve.family} by stratum, with the number of its problems", out, "bold")
                out.print(_strata(curve))
        out.print()
        print_variances([own for own in {c.family: c.variance for c in curves}.values() if own is not None], out)
    print_cautions([caution for own in drawn for caution in own.cautions], out, n_families=len(drawn))


def _table(curves: Sequence[Curve], n: Iterable[int] | None) -> Table:
    from rich.text import Text

    first = curves[0]
    limits = _limits_head(first.confidence, first.simultaneous)
    heads = ["family", f"{first.words.units} n" if first.n_runs is None else "n", "best of n", limits, "spread"]
    heads += [f"{first.words.group}s"] * (first.problems is not None) + ["new run"] * (first.new_run is not None)
    heads += ["mean cost"] * any(curve.cost is not None for curve in curves)
    names = [curve.family for curve in curves]
    names += [label for curve in curves if curve.n_runs is not None for label in _labels(curve)]
    rows: list[list[str | Text]] = []
    for curve in curves:
        places = _places(curve, n, few=len(curves) > 2)
        points = [(float(curve.value[i]), float(curve.low[i]), float(curve.high[i])) for i in places]
        decimals = max(round_to_uncertainty(*point) for point in points[: max(1, len(points) // 2)])
        labels = _labels(curve)
        for row, label in enumerate(labels + [""] * (len(places) - len(labels))):
            rows.append([Text(label, style="dim" if row else "bold")])
            if row >= len(places):
                continue
            i, (value, low, high) = places[row], points[row]
            cells = [f"{curve.n[i]}", show_number(value, decimals), show_limits(low, high, decimals)]
            cells.append(show_number(float(curve.spread[i]), decimals))
            cells += [] if curve.problems is None else [f"{curve.problems.n_groups[i]}"]
            cells += [] if curve.new_run is None else [show_number(float(curve.new_run[i]), decimals)]
            cells += [] if curve.cost is None else [show_cost(float(curve.cost[i]), curve.cost_unit)]
            rows[-1] += cells
    return plain_table(heads, rows, room=max(map(len, names)))


def _labels(curve: Curve) -> list[str]:
    """The family, how many trials it has, and how its failed ones count, a line each."""
    labels = [curve.family, f" {curve.words.count(curve.n_trials)}"]
    labels += [] if curve.n_runs is None else [f" {plural(curve.n_runs, curve.words.part)}"]
    if curve.n_failed:
        labels.append(f" {curve.n_failed} failed ({'worst' if curve.failed == 'worst' else 'dropped'})")
    return labels


def _limits_head(confidence: float, simultaneous: bool) -> str:
    return f"{level(confidence)} {'band' if simultaneous else 'interval'}"


def _strata(curve: Curve) -> Table:
    """Each stratum at the first, a middle and the last budget, with limits over its own problems."""
    places = sorted({0, int(np.searchsorted(curve.n, np.sqrt(curve.n[-1]))), curve.n.size - 1})
    heads = ["stratum", *(f"n = {curve.n[i]}" for i in places)]
    rows = []
    for stratum in curve.strata:
        columns = np.array([stratum.best.value, stratum.limits.low, stratum.limits.high])
        shown = [show_with_limits(*columns[:, i].tolist()) for i in places]
        rows.append([f"{stratum.label} ({stratum.best.groups.size})", *shown])
    return plain_table(heads, rows)


def _places(curve: Curve, n: Iterable[int] | None, *, few: bool) -> list[int]:
    """All budgets asked for; else round ones and the last."""
    if n is not None:
        return list(range(curve.n.size))
    shown = np.isin(curve.n, _FEW if few else _ROUND)
    shown[-1] = True
    if curve.n.size > 300 or shown.sum() < 3:  # log-spaced grids seldom hit round budgets
        shown[np.linspace(0, curve.n.size - 1, min(5 if few else 12, curve.n.size)).astype(int)] = True
    return [int(i) for i in np.flatnonzero(shown)]


def _cost_table(curves: Sequence[FamilyCostCurve]) -> Table:
    """The same over budgets of cost, with the scaling by the mean cost beside."""
    from rich.text import Text

    first = curves[0].curve
    limits = _limits_head(first.confidence or 0.0, first.simultaneous)
    heads = ["family", "budget", "best", limits, "mean cost", "none done"]
    rows: list[list[str | Text]] = []
    for family in curves:
        own = family.curve
        nowhere = np.full(own.budget.size, np.nan)
        low, high = (nowhere if ends is None else ends for ends in (own.low, own.high))
        places = np.unique(np.linspace(0, own.budget.size - 1, min(5 if len(curves) > 2 else 10, own.budget.size)))
        for row, i in enumerate(places.astype(int)):
            decimals = round_to_uncertainty(own.value[i], low[i], high[i])
            budget = show_cost(float(own.budget[i]), family.cost_unit)
            numbers = [show_number(own.value[i], decimals), show_limits(low[i], high[i], decimals)]
            numbers += [show_number(own.mean_cost_value[i], decimals), f"{100 * own.nothing_finished[i]:.0f} %"]
            rows.append([Text(family.family if row == 0 else "", style="bold"), budget, *numbers])
    return plain_table(heads, rows)


def print_plan(plan: TrialPlan, out: Console, *, details: bool = False) -> None:
    """Print it; ``details`` says everything in sentences instead of the table."""
    print_text(plan_summary(plan), out, "bold")
    out.print()
    if details:
        for sentence in plan_sentences(plan):
            print_text(sentence, out)
        return
    out.print(plain_table(*plan_table(plan), left=(0, 3)))
    out.print()
    often = f"Told apart in {100 * plan.power:.0f} of 100 cases, now as often as said, if differences are as observed"
    limits = f"widths are of {level(plan.confidence)} intervals"
    footer = f"{often}; {limits}; in brackets, what so few {plan.words.units} leave open."
    more = f"Seed {plan.seed}; {named('details')} says more."
    print_text(" ".join([*capped_sentence(plan), footer, more]), out, "dim")
