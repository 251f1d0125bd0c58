"""The terminal: tables and sentences, with colour where the terminal has it and plain where it is piped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from levelbest._plain import round_to_uncertainty, show_cost, show_number
from levelbest.report.terminal.console import console, print_cautions
from levelbest.report.words.curves import alone_words, quantity, trials_in_words
from levelbest.results import Curve

__all__ = ["console", "print_cautions", "print_curves"]

_SHOWN = (1, 2, 3, 5, 10, 20, 30, 50, 75, 100, 200, 300, 500, 1000, 2000, 5000, 10_000, 100_000, 1_000_000)


def print_curves(curves: Sequence[Curve], *, n: Iterable[int] | None = None) -> None:
    """One compact table per family, then what a reviewer would ask about."""
    from rich.table import Table
    from rich.text import Text

    out = console()
    for one in curves:
        failed = f", {one.n_failed} failed ({_policy(one)})" if one.n_failed else ""
        how = f" ({alone_words(one)})" if not one.reported and one.statistic != "all" else ""
        what = f"  {quantity(one)}{how}; {trials_in_words(one)}{failed}"
        table = Table(box=None, pad_edge=False, header_style="dim", title_justify="left")
        out.print(Text.assemble((one.family, "bold"), what))
        heads = ["n", "value", f"{100 * one.confidence:g} % {'band' if one.simultaneous else 'interval'}", "spread"]
        heads += ["problems"] if one.problems is not None else []
        heads += ["mean cost"] if one.cost is not None else []
        for head in heads:
            table.add_column(head, justify="right")
        for i in _rows(one, n):
            decimals = round_to_uncertainty(one.value[i], one.low[i], one.high[i])
            cells = [
                f"{one.n[i]}",
                show_number(one.value[i], decimals),
                f"{show_number(one.low[i], decimals)} to {show_number(one.high[i], decimals)}",
                show_number(one.spread[i], decimals),
            ]
            if one.problems is not None:
                cells.append(f"{one.problems.n_groups[i]}")
            if one.cost is not None:
                cells.append(show_cost(float(one.cost[i]), one.cost_unit))
            table.add_row(*cells)
        out.print(table)
        if one.strata:
            out.print(_strata(one))
        out.print(Text(f"interval: {one.method}; {one.note}" if one.note else f"interval: {one.method}", style="dim"))
        out.print()
    print_cautions([caution for one in curves for caution in one.cautions], out)


def _policy(curve: Curve) -> str:
    return "counted as worst" if curve.failed == "worst" else "dropped"


def _strata(curve: Curve) -> Any:
    """Each stratum at the first, a middle and the last budget, with limits over its own problems."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim", title_justify="left")
    table.add_column("stratum")
    table.add_column("problems", justify="right")
    places = sorted({0, int(np.searchsorted(curve.n, np.sqrt(curve.n[-1]))), curve.n.size - 1})
    for i in places:
        table.add_column(f"n = {curve.n[i]}", justify="right")
    for one in curve.strata:
        cells = []
        for i in places:
            point = tuple(float(np.asarray(x)[i]) for x in (one.best.value, one.limits.low, one.limits.high))
            decimals = round_to_uncertainty(*point)
            value, low, high = (show_number(x, decimals) for x in point)
            cells.append(f"{value} ({low} to {high})" if np.isfinite(point[1]) else value)
        table.add_row(one.label, str(one.best.groups.size), *cells)
    return table


def _rows(curve: Curve, n: Iterable[int] | None) -> list[int]:
    """All budgets asked for; else round ones and the last."""
    if n is not None:
        return list(range(curve.n.size))
    shown = np.isin(curve.n, _SHOWN)
    shown[-1] = True
    if curve.n.size > 300 or shown.sum() < 3:  # log-spaced grids seldom hit round budgets
        shown[np.linspace(0, curve.n.size - 1, min(12, curve.n.size)).astype(int)] = True
    return [int(i) for i in np.flatnonzero(shown)]
