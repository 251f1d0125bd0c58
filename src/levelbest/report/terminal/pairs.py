"""Pairs in the terminal: what can be said of each, and the differences behind it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from levelbest._plain import round_places, round_to_uncertainty, show_budget, show_limits, show_number
from levelbest.report.terminal.console import plain_table, print_text
from levelbest.report.words.conditions import pair_details, winners_words
from levelbest.report.words.verdicts import effect_words, verdict_of_pair
from levelbest.results import Comparison, PairComparison

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_DETAILED = 3
"""More pairs than these have a row each."""
_MOST_ROWS = 10


def print_pairs(comparison: Comparison, out: Console, *, n: Iterable[int] | None = None) -> None:
    """Every pair, those with a verdict first; few pairs with their differences over the budgets."""
    pairs = sorted(comparison.pairs, key=lambda pair: not pair.decided)
    if len(pairs) > _DETAILED:
        out.print(_overview(pairs))
        out.print()
        return
    for pair in pairs:
        if len(pairs) > 1:
            print_text(" ".join(verdict_of_pair(pair)), out)
        out.print(_table(pair, n))
        for line in pair_details(pair):
            print_text(line, out, "dim")
        out.print()


def _overview(pairs: Sequence[PairComparison]) -> Table:
    """A row for each of many pairs: who is better where, and the difference at the effects' budget."""
    at = "difference" if pairs[0].terms.design == "seeds" else f"difference at {pairs[0].effect.budget:g}"
    rows = []
    for pair in pairs:
        known = np.isfinite(pair.effect.difference)
        rows.append([" - ".join(pair.families), winners_words(pair), effect_words(pair.effect) if known else "-"])
    return plain_table(["pair", "better", at], rows, left=range(3))


def _table(pair: PairComparison, n: Iterable[int] | None) -> Table:
    terms = pair.terms
    tested = bool(np.isfinite(pair.p_value).any())
    budgets = "budget" if terms.axis == "cost" else f"{terms.unit}s"
    heads = [budgets, f"{pair.families[0]} - {pair.families[1]}", f"{100 * terms.confidence:g} % band"]
    heads += ["by mean cost"] * (pair.scaled is not None) + ["p"] * tested + ["better"]
    rows = []
    for i in _places(pair, n):
        decimals = round_to_uncertainty(pair.difference[i], pair.low[i], pair.high[i])
        budget = float(pair.budget[i])
        cells = [
            show_budget(budget, terms.axis, terms.cost_unit),
            show_number(pair.difference[i], decimals),
            show_limits(pair.low[i], pair.high[i], decimals),
        ]
        cells += [] if pair.scaled is None else [show_number(float(pair.scaled[i]), decimals)]
        cells += [f"{pair.p_value[i]:.2g}" if np.isfinite(pair.p_value[i]) else "-"] * tested
        rows.append([*cells, pair.verdict_at(budget)])
    return plain_table(heads, rows, left=())


def _places(pair: PairComparison, n: Iterable[int] | None) -> list[int]:
    if n is not None or pair.budget.size <= _MOST_ROWS:
        return list(range(pair.budget.size))
    if pair.terms.axis == "cost":
        return [int(i) for i in np.linspace(0, pair.budget.size - 1, _MOST_ROWS)]
    places = round_places([int(budget) for budget in pair.budget])
    return places if len(places) >= 4 else [int(i) for i in np.linspace(0, pair.budget.size - 1, _MOST_ROWS)]
