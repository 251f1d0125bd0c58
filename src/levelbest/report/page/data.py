"""What the page's script draws, as JSON: curves, pairs and strips by statistic and axis, in as few bytes as a screen
needs."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from levelbest._plain import plain, round_to_uncertainty
from levelbest.report.view import Line, View
from levelbest.report.view_tables import page_facts
from levelbest.report.words.phrases import level
from levelbest.report.words.verdicts import reason_words
from levelbest.results import NOT_COMPARABLE, UNDECIDED, DesignWords, PairComparison
from levelbest.results.verdict import Strip
from levelbest.trials.colours import GREY

MOST_CURVES = 120
"""Difference curves of one statistic and axis: of more pairs, those of the families that stand first."""
MOST_NUMBERS = 18_000
"""Numbers of all difference curves together: with many pairs each is drawn from fewer points."""
MOST_POINTS = 1_500
"""Of more points of the curves of one chart, those are drawn that lie apart by a ratio of STEP."""
STEP = 1.09
_CODES = {UNDECIDED: -1, NOT_COMPARABLE: -2}


def page_data(view: View) -> dict[str, object]:
    """What the script needs; the tables are in the page already."""
    kinds = dict.fromkeys((line.statistic, line.axis) for line in view.lines)
    drawn = sum(min(MOST_CURVES, len(view.pairs_of(*kind))) for kind in kinds)
    points = max(8, MOST_NUMBERS // (3 * max(1, drawn)))
    return {
        "families": [
            {
                "name": family.name,
                "n_trials": family.n_trials,
                "n_failed": family.n_failed,
                "hue": view.hues.get(family.name, GREY),
            }
            for family in view.families
        ],
        "statistics": view.statistics,
        "axes": view.axes,
        "kinds": {f"{statistic}/{axis}": _kind(view, statistic, axis, points) for statistic, axis in kinds},
        "published": dict(view.published),
        "bounds": view.bounds,
        "direction": view.direction,
        "confidence": view.confidence,
        "cost_unit": view.cost_unit,
        "headline": view.headline,
        "word": view.words.unit,
        "units": view.words.units,
        "score": view.score,
        "facts": _facts(view) if view.single else None,
        "tasks": [{"name": name, **page_data(task_view)} for name, task_view in view.tasks.items()],
        "words": screen_words(view.words, level(view.confidence)),
    }


def _facts(view: View) -> dict[str, object]:
    """What else the table of families shows of each, where there is one budget: it has room for it."""
    table = page_facts(view)
    rows = {row[0]: row[1:] for row in table.rows}
    return {"heads": table.heads[1:], "rows": [rows[family.name] for family in view.families]}


def _kind(view: View, statistic: str, axis: str, points: int) -> dict[str, object]:
    """One chart. Budgets and verdicts that lines and pairs have in common are in the tables ``budgets`` and
    ``verdicts``: others give the places there."""
    names = [family.name for family in view.families]
    budgets, verdicts = _Common(), _Common()
    lines = view.lines_of(statistic, axis)
    kept = _kept(lines, float(view.headline))
    return {
        "lines": [_line(line, names, budgets, kept) for line in lines],
        "pairs": _pairs(view, view.pairs_of(statistic, axis), points, budgets, verdicts),
        "strips": [
            {
                "label": strip.label,
                "segments": strip_segments(strip, names),
            }
            for strip in view.strips(statistic, axis)
        ],
        "reach": view.reach(statistic, axis),
        "budgets": budgets.rows,
        "verdicts": verdicts.rows,
    }


def strip_segments(strip: Strip, names: Sequence[str]) -> list[list[object]]:
    """The parts of a strip: first and last budget, who is best, and who may be, as places among the ``names``."""
    return [
        [
            _short(part.start),
            _short(part.end),
            _code(part.verdict, names),
            [] if part.best is not None else [names.index(name) for name in part.contenders],
        ]
        for part in strip.spans
    ]


class _Common:
    """Rows that are the same for many, each kept once."""

    def __init__(self) -> None:
        self.rows: list[object] = []
        self._places: dict[str, int] = {}

    def place(self, row: object) -> int:
        """Where the row is, after it was added if it was not there."""
        place = self._places.setdefault(repr(row), len(self.rows))
        if place == len(self.rows):
            self.rows.append(row)
        return place


def embedded(document: object) -> str:
    """JSON inside a script element: no character that could end the element or start markup."""
    text = json.dumps(plain(document), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _line(line: Line, names: Sequence[str], budgets: _Common, kept: frozenset[float]) -> dict[str, object]:
    """The curve at the budgets kept."""
    points = [point for point in zip(line.x, line.value, line.low, line.high, strict=True) if point[0] in kept]
    wanted = [round_to_uncertainty(*point[1:]) for point in points if np.isfinite(point[1:]).all()]
    decimals = 4 + max(wanted, default=9)  # more than the table shows: what is rounded twice may be off by one
    x, *columns = zip(*points, strict=True)
    thin = [[_short(value, decimals) for value in column] for column in columns]
    place = budgets.place([_short(budget) for budget in x])
    return {"family": names.index(line.family), "x": place, **dict(zip(("value", "low", "high"), thin, strict=True))}


def _kept(lines: Sequence[Line], headline: float) -> frozenset[float]:
    """The budgets that are drawn: all, or with many lines those that a chart of its width can tell apart."""
    every = sorted({x for line in lines for x in line.x})
    if sum(len(line.x) for line in lines) <= MOST_POINTS:
        return frozenset(every)
    kept = {headline, *(line.x[-1] for line in lines)}
    last = 0.0
    for x in every:
        if x >= last * STEP:
            kept.add(x)
            last = x
    return frozenset(kept)


def _pairs(
    view: View, pairs: Sequence[PairComparison], points: int, budgets: _Common, verdicts: _Common
) -> list[list[object]]:
    """Every pair as (first, second, verdicts), and the curves of as many as a page can hold, leading families first."""
    names = [family.name for family in view.families]
    sign = -1.0 if view.direction == "max" else 1.0
    order = {family.name: sign * family.headline[0] for family in view.families}
    place = {name: k for k, name in enumerate(sorted(names, key=lambda name: (np.isnan(order[name]), order[name])))}
    leading = sorted(pairs, key=lambda pair: sorted((place[name] for name in pair.families), reverse=True))
    drawn = {pair.families for pair in leading[:MOST_CURVES]}
    rows: list[list[object]] = []
    for pair in pairs:
        ranges = [[_short(part.start), _short(part.end), _code(part.verdict, pair.families)] for part in pair.verdicts]
        row: list[object] = [*(names.index(name) for name in pair.families), verdicts.place(ranges)]
        rows.append([*row, _difference(pair, points, budgets)] if pair.families in drawn else row)
    return rows


def _difference(pair: PairComparison, most: int, budgets: _Common) -> dict[str, object]:
    """The curve of a difference, to a thousandth of its height: what a chart shows."""
    columns = {"difference": pair.difference, "low": pair.low, "high": pair.high}
    whole = np.array(list(columns.values()))
    there = np.flatnonzero(np.isfinite(whole).all(axis=0))
    kept = there[np.unique(np.linspace(0, there.size - 1, min(most, there.size)).round().astype(int))]
    shown = whole[:, kept]
    height = float(np.ptp(shown)) if kept.size else 0.0
    digits = 3 - int(np.floor(np.log10(height))) if height > 0 else 6
    thin = {key: [_plain(round(float(v), digits)) for v in shown[i]] for i, key in enumerate(columns)}
    why = next((reason_words(part.reason) for part in pair.verdicts if part.verdict == NOT_COMPARABLE), "")
    return {"x": budgets.place([_short(pair.budget[i]) for i in kept]), **thin, "why": why}


def _code(verdict: str, names: Sequence[str]) -> int:
    """A family by its place, -1 undecided, -2 not comparable."""
    return names.index(verdict) if verdict in names else _CODES[verdict]


def _short(value: float, decimals: int = 12) -> float | None:
    """Eight digits are more than a screen shows, and half of the bytes."""
    return _plain(round(float(f"{value:.8g}"), decimals)) if np.isfinite(value) else None


def _plain(number: float) -> float:
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


_WORDS = {
    "best": "{name} is best",
    "better": "{name} is better",
    "better_at": "{name} is better at {where}",
    "undecided": "undecided",
    "undecided_at": "undecided at {where}",
    "one_of": "undecided, one of {names}",
    "may_be_best": "{count} may be best",
    "apart": "too few {units} to compare",
    "too_few": "too few to tell",
    "too_few_short": "too few",
    "not_comparable": "not comparable",
    "pair": "{first} and {second}: {verdicts}",
    "pair_elsewhere": "{pair}. The curve of this pair is in report.json.",
    "cannot": "{first} and {second} cannot be compared.",
    "cannot_because": "{first} and {second} cannot be compared: {why}.",
    "minus": "{first} minus {second}, above zero {first} is better",
    "no_pair": "No pair can be compared at this budget.",
    "best_of_all": "Best: {name}, better than all {count} others.",
    "best_of_two": "Best: {name}, better than {other}.",
    "no_best": "Undecided: no family is better than another.",
    "open": "Undecided.",
    "best_among": "Undecided: the best is {names}.",
    "best_among_many": "Undecided: the best is one of {count} families, and no other family beats any of them.",
    "more": "and {count} more",
    "none_shown": "No family is switched on.",
    "whole": "whole chart",
    "family": "family",
    "one": "one {unit}",
    "best_of": "best of {budget}",
    "band": "{level} band",
    "band_means": "covers all budgets at once",
    "note": "The {level} limits are bands: they cover all budgets at once.",
    "with": "With {budget}",
    "no_names": "no answer",
    "any": "any of the {count}",
    "units": "{units}",
    "failed": "failed",
    "better_than": "beats",
    "share": "{count} of {total}",
    "beyond": "beyond its {units}",
    "no_limits": "no limits",
    "no_low": "no lower limit",
    "no_high": "no upper limit",
    "tapes": "A cell takes the colour of who is better; grey is undecided. Open one for the difference.",
    "cells": "At {budget}: filled where the family of the row is better, ringed where it is worse, grey undecided. "
    "Open one for the difference.",
    "against_trials": "the number of {units}",
    "against_cost": "the cost",
    "copied": "Copied.",
    "selected": "Selected: press Ctrl+C to copy.",
}

_OF_ONE = {
    "band": "{level}",
    "band_means": "for each family separately",
    "note": "The {level} limits are for each family separately; the verdict compares all of them.",
    "one": "{single}",
}
"""What is said otherwise where there is one budget, and nothing to choose."""


def screen_words(words: DesignWords, level: str) -> dict[str, str]:
    """The templates, with what is known before anything is chosen.

    Examples
    --------
    >>> screen_words(DesignWords(), "95 %")["apart"]
    'too few trials to compare'
    """
    known = {"{unit}": words.unit, "{units}": words.units, "{single}": words.single, "{level}": level}
    filled = {}
    shown = _WORDS | (_OF_ONE if words.single else {}) | {"new_one": words.single}
    if words.measure:
        shown |= {"one": words.best_of(1), "best_of": words.best_of("{budget}")}
    for key, template in shown.items():
        for name, value in known.items():
            template = template.replace(name, value)
        filled[key] = template
    return filled
