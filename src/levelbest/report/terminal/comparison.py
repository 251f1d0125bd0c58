"""A comparison on one screen: the verdict, a row and a strip for each family, doubts, and what to do next; on request
each pair; over several tasks a row for each family and a line for each task."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from levelbest._plain import cost_ticks, show_tick
from levelbest.cautions import Caution
from levelbest.report.tables.results import pair_table, pairs_table, standings_table
from levelbest.report.tables.sections import benchmarks_table
from levelbest.report.tables.table import texts
from levelbest.report.terminal.console import (
    LONGEST_TEXT,
    console,
    drawn_table,
    has_blocks,
    held,
    print_foot,
    print_labelled,
    print_pieces,
    print_text,
    print_variances,
    release,
    screen_lines,
    shorten_middle,
)
from levelbest.report.terminal.curves import LOG_ABOVE, draw_view
from levelbest.report.terminal.tasks import print_tasks
from levelbest.report.view import View
from levelbest.report.words.answers import (
    Piece,
    answer_of,
    is_adaptive,
    ranges_of,
    verdict_sentences,
)
from levelbest.report.words.curves import noise_sentence
from levelbest.report.words.methods import space_rows, spaces_heading
from levelbest.report.words.phrases import footer, short_heading, shortened
from levelbest.report.words.plans import next_steps
from levelbest.report.words.verdicts import pair_details, verdict_of_pair
from levelbest.results import NOT_COMPARABLE, UNDECIDED, Comparison
from levelbest.results.verdict import BEATEN, BEST, NOTHING, POSSIBLE, leading_spans, states_at
from levelbest.trials.colours import family_styles

if TYPE_CHECKING:
    from rich.console import Console

LETTERS = {BEST: "B", POSSIBLE: "o", BEATEN: "-", NOTHING: " "}
BLOCKS = {"B": "█", "+": "█", "o": "▒", "-": "·", " ": " "}
"""What stands for each letter where the terminal has such characters."""
_TICKS = (1, 2, 3, 5, 7)
_NUMBERED_ABOVE, _FEWEST_STRIPS, _STRIPS = 12, 2, 4
"""More families than this are numbered; so many have strips, at least and at most."""
_FEWEST_LINES = 6
"""Lines of the table that a screen has in any case."""
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
    details: bool = False,
    below: int = 0,
) -> None:
    """Print it on one screen; ``details`` is everything; ``pairs`` adds every pair, at the budgets ``n`` where given.

    ``cautions`` in place of the comparison's own, sentences on what was ``left_out`` of it, and so many lines ``below``
    it are a report's.
    """
    out = console()
    doubts, many = list(comparison.cautions if cautions is None else cautions), len(comparison.families)
    fixed = not details and any(caution.code == "fixed-configuration" for caution in doubts)
    top = held(
        out,
        lambda: _print_verdict(comparison, out, left_out, fixed=fixed),
        lambda: _print_strata(comparison, out),
    )
    conditions, steps = " ".join(footer(comparison, details=details)), next_steps(comparison, reported=below > 0)
    foot = held(out, lambda: print_foot(doubts, out, conditions, steps=steps, n_families=many, details=details))
    room = screen_lines(top, foot) - 1 - below
    release(out, f"{top}\n")
    _print_tables(comparison, out, room, details=details)
    if details:
        print_variances(comparison.variances, out)
        print_labelled(_space_lines(comparison), out)
    if pairs:
        _print_pairs(comparison, out, every=n is not None)
    release(out, foot)


def _print_tables(comparison: Comparison, out: Console, room: int, *, details: bool) -> None:
    """The families at one budget and who is best at which, in as many lines as there is ``room`` for."""
    rows = len(comparison.standings)
    draw = partial(_print_standings, comparison, out, details=details)
    table = held(out, draw) if rows else ""
    if details:
        number = _STRIPS if rows > _NUMBERED_ABOVE else max(rows, _STRIPS)
        release(out, table + held(out, partial(_print_strips, comparison, out, number)))
        return
    for number in range(_STRIPS, _FEWEST_STRIPS - 1, -1):
        strips = held(out, partial(_print_strips, comparison, out, number))
        over = table.count("\n") + strips.count("\n") - room
        if over == 1 and strips:  # a family's strip is worth more than the empty line below
            strips, over = strips.removesuffix("\n"), 0
        if over <= 0:
            break
    if over > 0 and rows:
        beside = held(out, partial(draw, most=0)).count("\n") - 3  # a head, one row and how many more
        table = held(out, partial(draw, most=max(_FEWEST_LINES, room - strips.count("\n") - beside)))
    release(out, table + strips)


def _print_strata(comparison: Comparison, out: Console) -> None:
    if comparison.terms.n_tasks is not None:
        out.print(drawn_table(benchmarks_table(comparison)))
        return
    for label, inside in comparison.strata:
        print_text(f"stratum {label}, by itself: {' '.join(verdict_sentences(inside))}", out)


def _print_verdict(comparison: Comparison, out: Console, left_out: Iterable[str], *, fixed: bool) -> None:
    """The answer on a line by itself, the families in their colours, then where it changes.

    That a family is one ``fixed`` configuration is not said where a doubt below says it.
    """
    hues = family_styles(comparison.hues, comparison.families)
    first, *further = verdict_sentences(comparison)
    if is_adaptive(comparison):
        print_text(" ".join([first, *further, *left_out]), out, "bold")
        return
    print_pieces(answer_of(comparison).pieces, out, hues, "bold")
    changes = ranges_of(comparison)
    rest = " ".join([*further[bool(changes) : -1 if fixed else None], *left_out])
    print_pieces((*changes, Piece(f" {rest}" if changes and rest else rest)), out, hues)


def _space_lines(comparison: Comparison) -> list[tuple[str, str, str]]:
    """What was searched, a line for each space, cut at its end; of many those of the first families."""
    rows = [f"{shortened(families)}: {text}" for families, text in space_rows(comparison.spaces)]
    if not rows:
        return []
    if len(rows) > _NUMBERED_ABOVE:
        rows[_STRIPS:] = [f"and {len(rows) - _STRIPS} more; the JSON form lists all"]
    rows[0] = f"{spaces_heading(comparison.spaces)}; {rows[0]}"
    cut = [textwrap.shorten(row, _SPACE_WIDTH, placeholder=" ...") for row in rows]
    return [("" if i else "space", "dim", row) for i, row in enumerate(cut)]


def _print_standings(comparison: Comparison, out: Console, *, details: bool, most: int | None = None) -> None:
    """A row for each family, in its colour, ``most`` lines of them; the head says what the score is of."""
    shown, hues = standings_table(comparison), family_styles(comparison.hues, comparison.families)
    if details:
        print_text(shown.note, out, "dim")
    elif not comparison.best_found:
        family, value, limits, *others = shown.columns
        budget, brief = comparison.standings[0].budget, bool(comparison.per_solved)
        heading = short_heading(comparison.terms, budget, brief=brief)
        columns = (replace(family, name=heading), replace(value, name=comparison.terms.metric.score))
        others = [replace(column, name=column.name.replace("better than", "beats")) for column in others]
        # beside what a solved problem costs there is no room for failures, which the last line counts
        others = [column for column in others if not brief or column.name != "failed"]
        shown = replace(shown, columns=(*columns, replace(limits, name=f"{limits.name} each"), *others))
    if len(comparison.standings) > _NUMBERED_ABOVE:
        ranks = texts("", [f"{i + 1:>2}" for i in range(shown.size)])
        shown = replace(shown, columns=(ranks, *shown.columns))
    styles = [hues[standing.family] for standing in comparison.standings]
    place = int(len(comparison.standings) > _NUMBERED_ABOVE)
    out.print(replace(drawn_table(shown, styles=styles, most=most), name_column=place))
    print_text(noise_sentence(comparison.noises, comparison.terms.words), out, "dim")
    out.print()


def _print_strips(comparison: Comparison, out: Console, most: int) -> None:
    """A strip for each family that may be best somewhere, in blocks of its colour or in letters."""
    from rich.text import Text

    order = [row.family for row in comparison.standings] or list(comparison.families)
    order = leading_families(comparison, order, most)
    if not order or not any(pair.decided for pair in comparison.pairs):
        return  # where nothing is decided all strips are alike
    unit = comparison.terms.metric.cost or "cost" if comparison.terms.over_cost else comparison.terms.words.units
    labels = {name: shorten_middle(name, LONGEST_TEXT) for name in order}
    wide = max(len(unit), *map(len, labels.values())) + 2
    strips = strips_of(comparison, order, out.width - wide)
    if strips is None or (len(strips.rows) > 1 and len({letters for _, letters in strips.rows}) == 1):
        return  # strips that are all alike say nothing
    hues = family_styles(comparison.hues, comparison.families)
    marks = BLOCKS if has_blocks() else {letter: letter for letter in BLOCKS}
    out.print(Text(f"{unit:<{wide}}{strips.axis}", style="dim"), soft_wrap=True)
    for name, letters in strips.rows:
        pieces = [(marks[letter], "dim" if letter == "-" else hues[name]) for letter in letters.rstrip()]
        out.print(Text.assemble((f"{labels[name]:<{wide}}", hues[name]), *pieces), soft_wrap=True)
    legend = re.sub(r"(^|   )([B+o-])(?= )", lambda match: match[1] + marks[match[2]], strips.legend)
    print_text(legend, out, "dim")
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


def leading_families(comparison: Comparison, order: Sequence[str], most: int) -> list[str]:
    """Those that may be best somewhere, in ``order``; of a baseline all its rivals; ``most`` of them."""
    if comparison.baseline is not None:
        return [name for name in order if name != comparison.baseline][:most]
    leading = {name for span in leading_spans(comparison) for name in span.contenders}
    return [name for name in order if name in leading][:most]


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
    log = last / first > LOG_ABOVE
    shares = [i / (width - 1) for i in range(width)]
    places = [first * (last / first) ** share if log else first + share * (last - first) for share in shares]
    if not terms.over_cost:
        places = [float(round(place)) for place in places]
    at_budget = {place: _letters(comparison, place) for place in dict.fromkeys(places)}
    if all(letter == " " for row in at_budget.values() for letter in row.values()):
        return None
    legend = "B better than all   o may be best   - beaten"
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


def print_report(view: View, page: str = "", beside: Sequence[str] = (), *, details: bool = False) -> None:
    """Print the view of a report, the path of its page, and the folders ``beside`` it with all else."""
    out = console()
    folders = f"; figures and tables: {', '.join(beside)}" if beside else ""
    where = f"page   {page}{folders}"
    head = view.provenance.get("ledger head")
    below = 1 + bool(head)
    if view.over_tasks is not None:
        print_tasks(view.over_tasks, details=details, below=below)
    elif view.comparison is not None:
        left_out = view.verdict[len(view.comparison.summary) :]
        print_comparison(view.comparison, cautions=view.cautions, left_out=left_out, details=details, below=below)
    else:
        print_text(" ".join(view.verdict), out, "bold")
        out.print()
        draw_view(view, out)
        print_variances(view.variances, out)
        print_foot(view.cautions, out, n_families=len(view.families), details=details)
    if page:
        print_text(where, out)
    if head:
        out.print(f"ledger head: {head}", soft_wrap=True)
