"""A comparison on one screen: the verdict, a row and a strip for each family, doubts, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from levelbest._plain import common_decimals, show_limits, show_number
from levelbest.cautions import Caution
from levelbest.errors import named
from levelbest.report.leaders import leading_spans
from levelbest.report.terminal.console import (
    COLOURS,
    LONGEST,
    console,
    plain_table,
    print_cautions,
    print_steps,
    print_text,
)
from levelbest.report.terminal.pairs import print_pairs
from levelbest.report.terminal.strips import STYLES, strips_of
from levelbest.report.terminal.variances import print_variances
from levelbest.report.words.phrases import best_of, level, table_heading
from levelbest.report.words.steps import next_steps
from levelbest.report.words.verdicts import comparison_summary, verdict_sentences
from levelbest.results import Comparison, Standing

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_MANY, _STRIPS = 12, 4
"""More families than this have strips for the leading ones only, so many at most."""
_MOST_REMARKS, _FEWER_REMARKS = 8, 3
"""Of many families fewer remarks, so that they fit one long screen."""


def print_comparison(
    comparison: Comparison,
    *,
    pairs: bool = False,
    n: Iterable[int] | None = None,
    cautions: Iterable[Caution] | None = None,
    left_out: Iterable[str] = (),
) -> None:
    """Print it; ``pairs`` adds every pair with its numbers, at the budgets ``n`` where given.

    ``cautions`` in place of the comparison's own, and sentences on what was ``left_out`` of it, are a report's.
    """
    out = console()
    print_text(" ".join([*verdict_sentences(comparison), *left_out]), out, "bold")
    out.print()
    if comparison.standings:
        print_text(table_heading(comparison.terms, comparison.standings[0].budget), out, "dim")
        out.print(_table(comparison))
        out.print()
    _print_strips(comparison, out)
    for label, inside in comparison.strata:
        print_text(f"stratum {label}, by itself: {' '.join(verdict_sentences(inside))}", out)
    if comparison.strata:
        out.print()
    print_variances(comparison.variances, out)
    if pairs:
        print_pairs(comparison, out, n=n)
    doubts = list(comparison.cautions if cautions is None else cautions)
    many = len(comparison.families) > _MANY
    steps = next_steps(comparison)[: 2 if many else None]
    most = _FEWER_REMARKS if many else _MOST_REMARKS
    print_cautions(doubts, out, n_families=len(comparison.families), most=most)
    print_steps(steps, out)
    if doubts or steps:
        out.print()
    print_text(_footer(comparison, pairs=pairs), out, "dim")


def _footer(comparison: Comparison, *, pairs: bool) -> str:
    terms = comparison.terms
    parts = list(comparison_summary(comparison)[len(verdict_sentences(comparison)) :])
    if comparison.standings and parts:
        parts.append("Limits in the table hold for each family by itself.")
    more = "shows each pair" if len(comparison.pairs) > 1 else "shows every budget"
    ask = "" if pairs or (terms.design == "seeds" and len(comparison.pairs) == 1) else f"; {named('pairs')} {more}"
    return " ".join([*parts, f"Seed {terms.settings.rng}{ask}."])


def _table(comparison: Comparison) -> Table:
    from rich.text import Text

    rows, terms = comparison.standings, comparison.terms
    decimals = common_decimals([(row.value, row.low, row.high) for row in rows])
    ranked = _needs_ranks(rows)
    shown_failed = any(row.n_failed for row in rows)
    shown_running = any(row.n_running for row in rows)
    heads = [*[""] * ranked, "family", best_of(terms, rows[0].budget), level(terms.confidence), f"{terms.unit}s"]
    heads += ["failed"] * shown_failed + ["running"] * shown_running
    heads += ["better than"] * (len(rows) > 2)
    table = []
    for i, row in enumerate(rows):
        cells: list[str | Text] = [*[f"{i + 1:>2}"] * ranked, Text(row.family, style=COLOURS[i % len(COLOURS)])]
        cells += [show_number(row.value, decimals), show_limits(row.low, row.high, decimals), str(row.n_trials)]
        cells += [str(row.n_failed)] * shown_failed + [str(row.n_running)] * shown_running
        cells += [_better_than(row, comparison)] * (len(rows) > 2)
        table.append(cells)
    return plain_table(heads, table, left=range(1 + ranked))


def _better_than(row: Standing, comparison: Comparison) -> str:
    if comparison.baseline is None:
        return f"{len(row.better_than)} of {len(comparison.families) - 1}" if row.better_than else "-"
    if row.family == comparison.baseline:
        return "(baseline)"
    return "baseline" if row.better_than else "(worse)" if row.worse_than else "-"


def _needs_ranks(rows: Sequence[Standing]) -> bool:
    return max(len(row.family) for row in rows) > LONGEST or len(rows) > _MANY


def _print_strips(comparison: Comparison, out: Console) -> None:
    from rich.text import Text

    order = [row.family for row in comparison.standings] or list(comparison.families)
    labels = {name: name for name in order}
    if comparison.standings and _needs_ranks(comparison.standings):
        labels = {name: f"{i + 1}" if len(name) > LONGEST else name for i, name in enumerate(order)}
    if len(order) > _MANY:
        leading = _leading(comparison)
        order = [name for name in order if name in leading][:_STRIPS]
    if not order or not any(pair.decided for pair in comparison.pairs):
        return  # where nothing is decided all strips are alike
    unit = comparison.terms.metric.cost or "cost" if comparison.terms.axis == "cost" else f"{comparison.terms.unit}s"
    wide = max(len(unit), *(len(labels[name]) for name in order)) + 2
    strips = strips_of(comparison, order, out.width - wide)
    if strips is None or (len(strips.rows) > 1 and len({letters for _, letters in strips.rows}) == 1):
        return  # strips that are all alike say nothing
    out.print(Text(f"{unit:<{wide}}{strips.axis}", style="dim"), soft_wrap=True)
    for name, letters in strips.rows:
        pieces = [(letter, STYLES[letter]) for letter in letters.rstrip()]
        out.print(Text.assemble(f"{labels[name]:<{wide}}", *pieces), soft_wrap=True)
    out.print(Text(strips.legend, style="dim"))
    out.print()


def _leading(comparison: Comparison) -> set[str]:
    """Families that are or may be the best at some budget."""
    return {name for span in leading_spans(comparison) for name in span.contenders}
