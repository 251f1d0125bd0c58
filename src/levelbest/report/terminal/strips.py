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
    ranges = [(verdict.start, verdict.end) for pair in comparison.pairs for verdict in pair.verdicts]
    first, last = min(start for start, _ in ranges), max(end for _, end in ranges)
    if not last > first:
        return None
    places = _places(first, last, width, whole=comparison.terms.axis != "cost")
    letters = _letters(comparison, places)
    if all(letter == " " for row in letters.values() for letter in row):
        return None
    few = f"blank: too few {comparison.terms.unit}s"
    legend = f"B better than all   o may be best   - another is better   {few}"
    if comparison.baseline is not None:
        legend = f"+ better than {comparison.baseline}   o undecided   - worse   {few}"
    shown = tuple((name, "".join(letters[name])) for name in families if name in letters)
    return Strips(_axis(places, comparison.terms.cost_unit), shown, legend)


def _places(first: float, last: float, width: int, *, whole: bool) -> list[float]:
    """One budget for each column, on a log scale where they reach far."""
    log = last / first > _LOG_FROM
    shares = [i / (width - 1) for i in range(width)]
    places = [first * (last / first) ** share if log else first + share * (last - first) for share in shares]
    return [float(round(place)) for place in places] if whole else places


def _letters(comparison: Comparison, places: Sequence[float]) -> dict[str, list[str]]:
    letters: dict[str, list[str]] = {}
    at_budget: dict[float, dict[str, str]] = {}
    for place in places:
        if place not in at_budget:
            at_budget[place] = _row(comparison, place)
        for name, letter in at_budget[place].items():
            letters.setdefault(name, []).append(letter)
    return letters


def _row(comparison: Comparison, place: float) -> dict[str, str]:
    if comparison.baseline is None:
        return {name: LETTERS[state] for name, state in states_at(comparison.pairs, comparison.families, place).items()}
    row = {}
    for pair in comparison.pairs:
        other = next(name for name in pair.families if name != comparison.baseline)
        verdict = pair.verdict_at(place)
        row[other] = {other: "+", UNDECIDED: "o", NOT_COMPARABLE: " "}.get(verdict, "-")
    return row


def _axis(places: Sequence[float], cost_unit: str | None) -> str:
    """Round budgets where they stand, as many as there is room for."""
    text = [" "] * len(places)
    first, last = places[0], places[-1]
    free = 0
    end = _tick_label(last, cost_unit)
    room = len(places) - len(end) - 1
    for tick in _ticks(first, last):
        column = min(range(len(places)), key=lambda i: abs(places[i] - tick))
        label = _tick_label(tick, cost_unit)
        if column >= free and column + len(label) <= room:
            text[column : column + len(label)] = label
            free = column + len(label) + 1
    text[-len(end) :] = end
    return "".join(text)


def _tick_label(budget: float, cost_unit: str | None) -> str:
    """A time in the unit people would use; other costs as bare numbers, since the row's label names them."""
    return show_cost(budget, cost_unit) if cost_unit in ("s", "min", "h", "d") else f"{budget:.3g}"


def _ticks(first: float, last: float) -> list[float]:
    lowest = math.floor(math.log10(first)) if first > 0 else 0
    powers = range(lowest, math.ceil(math.log10(last)) + 1)
    ticks = [digit * 10.0**power for power in powers for digit in _TICKS if first <= digit * 10.0**power < last]
    # powers of ten claim their places first where there are many, the rest fill in
    return ticks if len(ticks) <= 14 else [tick for tick in ticks if f"{tick:e}"[0] in "125"]
