"""What the page's script draws, as JSON: curves, pairs and strips by statistic and axis, in as few bytes as a screen
needs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from levelbest._plain import plain
from levelbest.report.leaders import Span, Strip, reach_of, strips_of
from levelbest.report.view import Line, Pair, View
from levelbest.results import NOT_COMPARABLE, UNDECIDED

__all__ = ["embedded", "page_data"]

MOST_CURVES = 120
"""Difference curves of one statistic and axis: of more pairs, those of the families that stand first."""
MOST_NUMBERS = 24_000
"""Numbers of all difference curves together: with many pairs each is drawn from fewer points."""
_CODES = {UNDECIDED: -1, NOT_COMPARABLE: -2}


def page_data(view: View) -> dict[str, Any]:
    """What the script needs; the tables are in the page already."""
    names = [one.name for one in view.families]
    kinds = dict.fromkeys((line.statistic, line.axis) for line in view.lines)
    drawn = sum(min(MOST_CURVES, len(view.pairs_of(*kind))) for kind in kinds)
    points = max(8, MOST_NUMBERS // (4 * max(1, drawn)))
    return {
        "families": [{"name": one.name, "n_trials": one.n_trials, "n_failed": one.n_failed} for one in view.families],
        "statistics": view.statistics,
        "axes": view.axes,
        "kinds": {
            f"{statistic}/{axis}": {
                "lines": [_line(line, names) for line in view.lines_of(statistic, axis)],
                "pairs": _pairs(view, statistic, axis, points),
                "strips": [_strip(one, names) for one in strips_of(view, statistic, axis)],
                "reach": reach_of(view, statistic, axis),
            }
            for statistic, axis in kinds
        },
        "published": dict(view.published),
        "bounds": view.bounds,
        "direction": view.direction,
        "confidence": view.confidence,
        "cost_unit": view.cost_unit,
        "headline": view.headline,
        "word": view.word,
    }


def embedded(document: Any) -> str:
    """JSON inside a script element: no character that could end the element or start markup."""
    text = json.dumps(plain(document), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _line(line: Line, names: Sequence[str]) -> dict[str, Any]:
    columns = {"x": line.x, "value": line.value, "low": line.low, "high": line.high}
    return {"family": names.index(line.family), **{key: _thin(column) for key, column in columns.items()}}


def _pairs(view: View, statistic: str, axis: str, points: int) -> list[dict[str, Any]]:
    """Every pair with its verdicts; the curves of as many as a page can hold, those of the leading families first."""
    names = [one.name for one in view.families]
    sign = -1.0 if view.direction == "max" else 1.0
    order = {one.name: sign * one.headline[0] for one in view.families}
    place = {name: k for k, name in enumerate(sorted(names, key=lambda name: (np.isnan(order[name]), order[name])))}
    pairs = view.pairs_of(statistic, axis)
    leading = sorted(pairs, key=lambda pair: sorted((place[name] for name in pair.families), reverse=True))
    drawn = {pair.families for pair in leading[:MOST_CURVES]}
    return [_pair(pair, names, points if pair.families in drawn else 0) for pair in pairs]


def _pair(pair: Pair, names: Sequence[str], most: int) -> dict[str, Any]:
    kept = np.unique(np.linspace(0, len(pair.x) - 1, min(most, len(pair.x))).round().astype(int))
    columns = {"x": pair.x, "difference": pair.difference, "low": pair.low, "high": pair.high}
    return {
        "of": [names.index(name) for name in pair.families],
        **{key: _thin([column[i] for i in kept]) for key, column in columns.items() if most},
        "ranges": [[_short(part.start), _short(part.end), _code(part.verdict, names)] for part in pair.ranges],
        "why": next((part.reason for part in pair.ranges if part.verdict == NOT_COMPARABLE), "") if most else "",
    }


def _strip(strip: Strip, names: Sequence[str]) -> dict[str, Any]:
    return {
        "label": strip.label,
        "segments": [
            [_short(part.start), _short(part.end), _code(part.verdict, names), _places(part, names)]
            for part in strip.spans
        ],
    }


def _code(verdict: str, names: Sequence[str]) -> int:
    """A family by its place, -1 undecided, -2 not comparable."""
    return names.index(verdict) if verdict in names else _CODES[verdict]


def _thin(column: Sequence[float]) -> list[float | None]:
    """Six digits are more than a screen shows, and a third of the bytes."""
    return [_short(value) if np.isfinite(value) else None for value in column]


def _short(value: float) -> float:
    number = float(f"{value:.6g}")
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


def _places(span: Span, names: Sequence[str]) -> list[int]:
    """Where undecided, those who may be the best."""
    return [] if span.best is not None else [names.index(name) for name in span.contenders]
