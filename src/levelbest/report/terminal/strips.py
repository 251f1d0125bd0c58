"""One line per family over the budgets: where it is best, may be, or is not. Read without colour by its letters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from levelbest._plain import show_cost
from levelbest.report.leaders import BEATEN, BEST, NOTHING, POSSIBLE, states_at
from levelbest.results import NOT_COMPARABLE, UNDECIDED, Comparison

LETTERS = {BEST: "B", POSSIBLE: "o", BEATEN: "-", NOTHING: " "}
STYLES = {"B": "bold green", "+": "bold green", "o": "yellow", "-": "dim", " ": ""}
_TICKS = (1, 2, 3, 5, 7)
_LOG_FROM = 20


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
    if terms.axis != "cost":
        places = [float(round(place)) for place in places]
    at_budget = {place: _letters(comparison, place) for place in dict.fromkeys(places)}
    if all(letter == " " for row in at_budget.values() for letter in row.values()):
        return None
    legend = "B better than all   o may be best   - another is better"
    if baseline is not None:
        legend = f"+ better than {baseline}   o undecided   - worse"
    shown = [name for name in families if name in at_budget[places[0]]]
    rows = tuple((name, "".join(at_budget[place][name] for place in places)) for name in shown)
    return Strips(_axis(places, terms.cost_unit), rows, f"{legend}   blank: too few {terms.unit}s")


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
        return show_cost(budget, cost_unit) if cost_unit in ("s", "min", "h", "d") else f"{budget:.3g}"

    first, last = places[0], places[-1]
    powers = range(math.floor(math.log10(first)) if first > 0 else 0, math.ceil(math.log10(last)) + 1)
    ticks = [digit * 10.0**power for power in powers for digit in _TICKS if first <= digit * 10.0**power < last]
    if len(ticks) > 14:
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
