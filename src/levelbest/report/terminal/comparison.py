"""A comparison on one screen: the verdict, a row and a strip for each family, doubts, and what to do next; on request
each pair; over several tasks a row for each family and a line for each task."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from levelbest._plain import cost_ticks, show_tick
from levelbest.cautions import Caution
from levelbest.errors import named
from levelbest.report.tables.results import pair_table, pairs_table, standings_table
from levelbest.report.tables.sections import aggregate_section, improvement_section
from levelbest.report.tables.table import texts
from levelbest.report.terminal.console import (
    COLOURS,
    LONGEST,
    console,
    drawn_table,
    print_cautions,
    print_choices,
    print_labelled,
    print_steps,
    print_text,
    print_variances,
)
from levelbest.report.terminal.curves import draw_view
from levelbest.report.view import View
from levelbest.report.words.answers import comparison_summary, verdict_sentences
from levelbest.report.words.curves import noise_sentence
from levelbest.report.words.phrases import (
    condition_sentence,
    shortened,
    space_rows,
    spaces_heading,
    table_heading,
)
from levelbest.report.words.plans import next_steps
from levelbest.report.words.tasks import overall_sentence
from levelbest.report.words.verdicts import pair_details, verdict_of_pair
from levelbest.results import NOT_COMPARABLE, UNDECIDED, Comparison, Standing, TaskComparison
from levelbest.results.verdict import BEATEN, BEST, NOTHING, POSSIBLE, leading_spans, states_at

if TYPE_CHECKING:
    from rich.console import Console

LETTERS = {BEST: "B", POSSIBLE: "o", BEATEN: "-", NOTHING: " "}
STYLES = {"B": "bold green", "+": "bold green", "o": "yellow", "-": "dim", " ": ""}
_TICKS = (1, 2, 3, 5, 7)
_LOG_FROM = 20
_MANY, _STRIPS = 12, 4
"""More families than this have strips for the leading ones only, so many at most."""
_MOST_REMARKS, _FEWER_REMARKS = 8, 3
"""Of many families fewer remarks, so that they fit one long screen."""
_SPACE_WIDTH = 72
_DETAILED, _MOST_PAIRS = 3, 10
"""More pairs than these have a row each; of pairs over tasks so many are shown."""


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
    doubts = list(comparison.cautions if cautions is None else cautions)
    many = len(comparison.families) > _MANY
    print_choices(doubts, out, n_families=len(comparison.families), apart=False)
    print_text(" ".join([*verdict_sentences(comparison), *left_out]), out, "bold")
    out.print()
    if comparison.standings:
        print_text(table_heading(comparison.terms, comparison.standings[0].budget), out, "dim")
        _print_standings(comparison, out)
        print_text(noise_sentence(comparison.noises), out, "dim")
        out.print()
    _print_strips(comparison, out)
    for label, inside in comparison.strata:
        print_text(f"stratum {label}, by itself: {' '.join(verdict_sentences(inside))}", out)
    if comparison.strata:
        out.print()
    print_variances(comparison.variances, out)
    if pairs:
        _print_pairs(comparison, out, every=n is not None)
    print_labelled(_space_lines(comparison), out)
    steps = next_steps(comparison)[: 2 if many else None]
    most = _FEWER_REMARKS if many else _MOST_REMARKS
    print_cautions(doubts, out, n_families=len(comparison.families), most=most)
    print_steps(steps, out)
    if doubts or steps:
        out.print()
    footer = list(comparison_summary(comparison)[len(verdict_sentences(comparison)) :])
    if comparison.standings and footer:
        footer.append("Intervals in the table are for each family by itself.")
    several, terms = len(comparison.pairs) > 1, comparison.terms
    more = f"; {named('pairs')} shows {'each pair' if several else 'every budget'}"
    footer.append(f"Seed {terms.settings.rng}{more if not pairs and (several or not terms.words.single) else ''}.")
    print_text(" ".join(footer), out, "dim")


def _space_lines(comparison: Comparison) -> list[tuple[str, str, str]]:
    """What was searched, a line for each space, cut at its end; of many those of the first families."""
    rows = [f"{shortened(families)}: {text}" for families, text in space_rows(comparison.spaces)]
    if not rows:
        return []
    if len(rows) > _MANY:
        rows[_STRIPS:] = [f"and {len(rows) - _STRIPS} more; the JSON form lists all"]
    rows[0] = f"{spaces_heading(comparison.spaces)}; {rows[0]}"
    cut = [textwrap.shorten(row, _SPACE_WIDTH, placeholder=" ...") for row in rows]
    return [("" if i else "space", "dim", row) for i, row in enumerate(cut)]


def _print_standings(comparison: Comparison, out: Console) -> None:
    """A row for each family, in its colour; numbered where names are long or many."""
    shown, rows = standings_table(comparison), comparison.standings
    styles = [COLOURS[i % len(COLOURS)] for i in range(len(rows))]
    if _needs_ranks(rows):
        ranks = texts("", [f"{i + 1:>2}" for i in range(len(rows))])
        out.print(drawn_table(replace(shown, columns=(ranks, *shown.columns)), styles=styles))
    else:
        out.print(drawn_table(shown, styles=styles))


def _needs_ranks(rows: Sequence[Standing]) -> bool:
    return max(len(row.family) for row in rows) > LONGEST or len(rows) > _MANY


def _strip_labels(comparison: Comparison) -> dict[str, str]:
    """The families that have strips, the best first, and what stands before each: a rank where its name is long."""
    order = [row.family for row in comparison.standings] or list(comparison.families)
    labels = {name: name for name in order}
    if comparison.standings and _needs_ranks(comparison.standings):
        labels = {name: f"{i + 1}" if len(name) > LONGEST else name for i, name in enumerate(order)}
    if len(order) > _MANY:
        leading = {name for span in leading_spans(comparison) for name in span.contenders}
        order = [name for name in order if name in leading][:_STRIPS]
    return {name: labels[name] for name in order}


def _print_strips(comparison: Comparison, out: Console) -> None:
    from rich.text import Text

    labels = _strip_labels(comparison)
    order = list(labels)
    if not order or not any(pair.decided for pair in comparison.pairs):
        return  # where nothing is decided all strips are alike
    unit = comparison.terms.metric.cost or "cost" if comparison.terms.over_cost else comparison.terms.words.units
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


def _print_pairs(comparison: Comparison, out: Console, *, every: bool) -> None:
    """Every pair, those with a verdict first; few pairs with their differences, at round budgets or ``every`` one."""
    pairs = sorted(comparison.pairs, key=lambda pair: not pair.decided)
    if len(pairs) > _DETAILED:
        out.print(drawn_table(pairs_table(pairs)))
        out.print()
        return
    for pair in pairs:
        if len(pairs) > 1:
            print_text(" ".join(verdict_of_pair(pair)), out)
        out.print(drawn_table(pair_table(pair, every=every)))
        for line in pair_details(pair):
            print_text(line, out, "dim")
        out.print()


def print_tasks(comparison: TaskComparison) -> None:
    """Print it."""
    out = console()
    print_choices(comparison.cautions, out, n_families=len(comparison.overall.families))
    print_text(overall_sentence(comparison), out, "bold")
    out.print()
    improvements = improvement_section(comparison)
    last = range(improvements.size)[-_MOST_PAIRS:]
    for section in (aggregate_section(comparison), improvements.part(last)):
        out.print(drawn_table(section))
        print_text(section.note, out, "dim")
        out.print()
    for task, compared in comparison.tasks.items():
        print_text(f"{task}: {' '.join(verdict_sentences(compared))}", out)
    out.print()
    print_variances(comparison.variances, out)
    print_cautions(comparison.cautions, out, n_families=len(comparison.overall.families))
    print_text(f"{condition_sentence(comparison.overall)} Seed {comparison.overall.terms.settings.rng}.", out, "dim")


@dataclass(frozen=True)
class Strips:
    """The axis, a row of letters for each family, and what the letters mean."""

    axis: str
    rows: tuple[tuple[str, str], ...]
    legend: str


def strips_of(comparison: Comparison, families: Sequence[str], width: int) -> Strips | None:
    """Letters at ``width`` places of the budget axis; None where there is one budget, or no verdict at all."""
    terms, baseline = comparison.terms, comparison.baseline
    ranges = [(verdict.start, verdict.end) for pair in comparison.pairs for verdict in pair.verdicts]
    first, last = min(start for start, _ in ranges), max(end for _, end in ranges)
    if not last > first:
        return None
    log = last / first > _LOG_FROM
    shares = [i / (width - 1) for i in range(width)]
    places = [first * (last / first) ** share if log else first + share * (last - first) for share in shares]
    if not terms.over_cost:
        places = [float(round(place)) for place in places]
    at_budget = {place: _letters(comparison, place) for place in dict.fromkeys(places)}
    if all(letter == " " for row in at_budget.values() for letter in row.values()):
        return None
    legend = "B better than all   o may be best   - another is better"
    if baseline is not None:
        legend = f"+ better than {baseline}   o undecided   - worse"
    shown = [name for name in families if name in at_budget[places[0]]]
    rows = tuple((name, "".join(at_budget[place][name] for place in places)) for name in shown)
    return Strips(_axis(places, terms.cost_unit), rows, f"{legend}   blank: too few {terms.words.units}")


def _letters(comparison: Comparison, place: float) -> dict[str, str]:
    """Each family's letter at one budget; of a baseline's rivals, whether they are better than it."""
    if comparison.baseline is None:
        return {name: LETTERS[state] for name, state in states_at(comparison.pairs, comparison.families, place).items()}
    row = {}
    for pair in comparison.pairs:
        other = next(name for name in pair.families if name != comparison.baseline)
        row[other] = {other: "+", UNDECIDED: "o", NOT_COMPARABLE: " "}.get(pair.verdict_at(place), "-")
    return row


def _axis(places: Sequence[float], cost_unit: str | None) -> str:
    """Round budgets where they stand, as many as there is room for."""

    def label_of(budget: float) -> str:
        """A time in the unit people would use; other costs as bare numbers, since the row's label names them."""
        return show_tick(budget, cost_unit) if timed else f"{budget:.3g}"

    timed = cost_unit in ("s", "min", "h", "d")

    first, last = places[0], places[-1]
    powers = range(math.floor(math.log10(first)) if first > 0 else 0, math.ceil(math.log10(last)) + 1)
    ticks = [digit * 10.0**power for power in powers for digit in _TICKS if first <= digit * 10.0**power < last]
    if timed:
        ticks = cost_ticks(first, last, cost_unit, most=10)
    elif len(ticks) > 14:
        ticks = [tick for tick in ticks if f"{tick:e}"[0] in "125"]
    text, free, end = [" "] * len(places), 0, label_of(last)
    for tick in ticks:
        column = min(range(len(places)), key=lambda i: abs(places[i] - tick))
        label = label_of(tick)
        if column >= free and column + len(label) <= len(places) - len(end) - 1:
            text[column : column + len(label)] = label
            free = column + len(label) + 1
    text[-len(end) :] = end
    return "".join(text)


def print_report(view: View, files: Iterable[str] = ()) -> None:
    """Print the view of a report; ``files`` are the paths that were written, the page first."""
    from rich.text import Text

    out = console()
    if view.over_tasks is not None:
        print_tasks(view.over_tasks)
    elif view.comparison is not None:
        left_out = view.verdict[len(view.comparison.summary) :]
        print_comparison(view.comparison, cautions=view.cautions, left_out=left_out)
    else:
        print_choices(view.cautions, out, n_families=len(view.families))
        print_text(" ".join(view.verdict), out, "bold")
        out.print()
        draw_view(view, out)
        print_variances(view.variances, out)
        print_cautions(view.cautions, out, n_families=len(view.families))
    out.print()
    for i, name in enumerate(files):
        out.print(Text.assemble(("page   " if i == 0 else "       "), (name, "underline" if i == 0 else "")))
    if head := view.provenance.get("ledger head"):
        out.print(Text(f"ledger head: {head}"), soft_wrap=True)
