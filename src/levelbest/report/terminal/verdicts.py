"""Verdicts in the terminal: the sentences first, then the numbers behind them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from levelbest import results
from levelbest._plain import round_to_uncertainty, show_cost, show_number
from levelbest.comparisons.cost_curves import FamilyCostCurve
from levelbest.comparisons.results import Comparison, PairComparison
from levelbest.report.figures.curves import draw_lines, save_figure
from levelbest.report.terminal import comparison
from levelbest.report.terminal.curves import console, print_cautions, print_cost_curves
from levelbest.report.view import Line

__all__ = ["print_comparison", "print_cost_curves", "save_cost_curves"]

_DETAILED = 3  # more pairs than these get one table together
_SHOWN = (1, 2, 3, 5, 10, 20, 30, 50, 75, 100, 200, 300, 500, 1000, 2000, 5000, 10_000)


def print_comparison(found: Comparison | results.Comparison, *, n: Iterable[int] | None = None) -> None:
    """Sentences, one compact table per pair, the seed, and what a reviewer would ask about."""
    from rich.text import Text

    if isinstance(found, results.Comparison):
        comparison.print_comparison(found, n=n)
        return
    out = console()
    for sentence in found.sentences:
        out.print(Text(sentence, style="bold"))
        out.print()
    if len(found.pairs) > _DETAILED:
        out.print(_overview(found))
        out.print()
    for pair in found.pairs if len(found.pairs) <= _DETAILED else ():
        out.print(_table(found, pair, n))
        for line in _more(pair, found):
            out.print(Text(line, style="dim"))
        out.print()
    for label, inside in found.strata:
        out.print(Text(f"stratum {label}, at {100 * found.confidence:g} % by itself:", style="dim"))
        for sentence in inside.sentences:
            out.print(Text(sentence))
        out.print()
    looks = "valid at every look" if found.while_running else "for a sample fixed in advance"
    out.print(
        Text(
            f"{100 * found.confidence:g} % simultaneous bands ({found.adjustment}), {looks}; seed {found.seed}, "
            f"{found.n_resamples} resamples",
            style="dim",
        )
    )
    print_cautions(found.cautions, out)


def _overview(found: Comparison) -> Any:
    """Many pairs: the verdict of each at round budgets."""
    from rich.table import Table

    places = _rows(max(found.pairs, key=lambda one: one.budget.size), found.axis, None)
    budgets = [float(found.pairs[0].budget[i]) for i in places][:: max(1, len(places) // 6)]
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("pair")
    for budget in budgets:
        table.add_column(show_cost(budget, found.unit) if found.axis == "cost" else f"n = {budget:g}")
    for pair in found.pairs:
        table.add_row(" - ".join(pair.families), *(pair.verdict_at(budget) for budget in budgets))
    return table


def _table(found: Comparison, pair: PairComparison, n: Iterable[int] | None) -> Any:
    from rich.table import Table
    from rich.text import Text

    design = ", paired" if pair.paired else ""
    what = "pass^k" if found.statistic == "all" else found.statistic
    table = Table(box=None, pad_edge=False, header_style="dim", title_justify="left")
    table.title = Text.assemble(
        (f"{pair.families[0]} - {pair.families[1]}", "bold"),
        f"  difference of {what} curves (positive: {pair.families[0]} is better){design}",
    )
    beside = ["by mean cost"] if pair.scaled is not None else []
    for head in ("budget" if found.axis == "cost" else "n", "difference", "band", *beside, "verdict"):
        table.add_column(head, justify="right")
    for i in _rows(pair, found.axis, n):
        decimals = round_to_uncertainty(pair.difference[i], pair.low[i], pair.high[i])
        budget = float(pair.budget[i])
        table.add_row(
            show_cost(budget, found.unit) if found.axis == "cost" else f"{budget:g}",
            show_number(pair.difference[i], decimals),
            f"{show_number(pair.low[i], decimals)} to {show_number(pair.high[i], decimals)}",
            *([] if pair.scaled is None else [show_number(float(pair.scaled[i]), decimals)]),
            pair.verdict_at(budget),
        )
    return table


def _rows(pair: PairComparison, axis: str, n: Iterable[int] | None) -> list[int]:
    size = pair.budget.size
    if n is not None or size <= 12:
        return list(range(size))
    if axis == "cost":
        return [int(i) for i in np.linspace(0, size - 1, 10)]
    shown = np.isin(pair.budget, _SHOWN)
    shown[-1] = True
    if shown.sum() < 6:
        shown[np.linspace(0, size - 1, 10).astype(int)] = True
    return [int(i) for i in np.flatnonzero(shown)]


def _more(pair: PairComparison, found: Comparison) -> list[str]:
    """Crossings, relative improvement, chances and the p-value, each a short line."""
    lines = []
    for one in pair.crossings:
        shown = [
            show_cost(x, found.unit) if found.axis == "cost" else f"{x:.3g}" for x in (one.budget, one.low, one.high)
        ]
        before = f"after {shown[1]}" if np.isfinite(one.low) else "anywhere"
        after = f"before {shown[2]}" if np.isfinite(one.high) else "or not at all within the data"
        lines.append(f"the curves cross near {shown[0]} ({before}, {after})")
    if pair.relative:
        n, value, low, high = pair.relative[-1]
        lines.append(
            f"relative improvement of {pair.families[0]} at n = {n:g}: {100 * value:+.3g} % "
            f"({100 * low:+.3g} to {100 * high:+.3g} %, for this budget alone)"
        )
    if pair.chance:
        shown = [f"{chance:.2f} at n = {n:g}" for n, chance in pair.chance[:: max(1, len(pair.chance) // 4)]]
        lines.append(f"chance that the best of n of {pair.families[0]} is better: {', '.join(shown)}")
    if pair.p_value is not None:
        lines.append(f"permutation p-value for equal laws: {pair.p_value:.3g}")
    return lines


def save_cost_curves(curves: Sequence[FamilyCostCurve], path: Path) -> Path:
    """The figure: budgets of cost on an axis people can read."""
    lines = []
    for one in curves:
        found = one.curve
        nothing = np.full(found.budget.size, np.nan)
        low, high = (nothing if end is None else end for end in (found.low, found.high))
        columns = (tuple(float(x) for x in column) for column in (found.budget, found.value, low, high))
        x, value, lows, highs = columns
        lines.append(Line(one.family, "mean", "cost", x, value, lows, highs, "studentised", "", found.simultaneous))
    ax = draw_lines(lines, score=curves[0].score, cost_unit=curves[0].cost_unit)
    return save_figure(ax.figure, path)
