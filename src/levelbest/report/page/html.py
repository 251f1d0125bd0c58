"""The page: one HTML file that needs no network, draws itself with uPlot and reads well without script."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import asdict
from importlib import resources
from typing import Any

import numpy as np

from levelbest import __version__
from levelbest._plain import plain, round_to_uncertainty, show_cost, show_limits, show_number
from levelbest.report.columns import cell_text
from levelbest.report.paper.markup import ROUNDING
from levelbest.report.view import View
from levelbest.report.words.remarks import remarks

__all__ = ["MOST_ROWS", "asset", "own_policy", "page_policy", "render_page", "trials_csv"]

LOG_FROM = 30
"""Curves longer than this are drawn over a log scale, where small budgets can be told apart."""
MOST_ROWS = 2000
"""More trials than this stay in the table beside the page."""


def render_page(view: View, figures: Mapping[str, bytes]) -> str:
    """The page as text. ``figures`` holds SVG files by name: ``curves``, ``distributions`` and any of ``differences``,
    ``cost`` and ``verifier``."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    style, script = _style_and_script()
    pictures = {name: _data_uri(svg, "image/svg+xml") for name, svg in figures.items()}
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    heads, rows = _trial_rows(view)
    family_heads, family_rows = _family_rows(view)
    return environment.from_string(asset("page.html.j2")).render(
        view=view,
        version=__version__,
        policy=page_policy(),
        style=Markup(style),
        script=Markup(script),
        data=Markup(_embedded(_data(view))),
        figures=pictures,
        caption=_caption(view),
        values=_value_rows(view),
        verdicts=_verdict_tables(view),
        log_first=max(line.x[-1] for line in view.lines_of(view.statistics[0])) > LOG_FROM,
        family_heads=family_heads,
        family_rows=family_rows,
        remarks=remarks(view.cautions, len(view.families)),
        rounding=ROUNDING,
        row_heads=heads,
        rows=rows,
        downloads=_downloads(view, figures),
        licence=asset("uPlot.LICENSE"),
    )


def trials_csv(view: View) -> str:
    """Every trial as CSV; a text that a spreadsheet would take for a formula is quoted with an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(view.table)
    for row in zip(*view.table.values(), strict=True):
        writer.writerow([_harmless(cell) for cell in row])
    return out.getvalue()


def asset(name: str) -> str:
    """A file of the page: chart library, style, script."""
    return resources.files("levelbest.report.page").joinpath("assets", name).read_text(encoding="utf-8")


def own_policy(style: str, script: str) -> str:
    """Only a page's own script and style, by their hashes; images only from the page itself; no network."""

    def digest(text: str) -> str:
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"

    return (
        f"default-src 'none'; script-src {digest(script)}; style-src {digest(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def page_policy() -> str:
    """The Content-Security-Policy of the page."""
    return own_policy(*_style_and_script())


def _style_and_script() -> tuple[str, str]:
    return asset("uPlot.min.css") + asset("page.css"), asset("uPlot.iife.min.js") + "\n" + asset("page.js")


def _embedded(document: Any) -> str:
    """JSON inside a script element: no character that could end the element or start markup."""
    text = json.dumps(plain(document), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _data(view: View) -> dict[str, Any]:
    """What the script needs; the tables are in the page already."""
    return {
        "families": [one.name for one in view.families],
        "statistics": view.statistics,
        "axes": view.axes,
        "lines": [_thin(asdict(line)) for line in view.lines],
        "pairs": [_thin(asdict(pair)) for pair in view.pairs],
        "published": dict(view.published),
        "score": view.score,
        "confidence": view.confidence,
        "cost_unit": view.cost_unit,
        "headline": view.headline,
        "word": view.word,
    }


def _thin(document: dict[str, Any]) -> dict[str, Any]:
    """Seven digits are more than a screen shows, and a third of the bytes."""
    return {
        key: [None if not np.isfinite(one) else float(f"{one:.7g}") for one in value]
        if key in ("x", "value", "low", "high", "difference")
        else value
        for key, value in document.items()
    }


def _caption(view: View) -> str:
    line = view.lines[0]
    kind = "simultaneous" if line.simultaneous else "pointwise"
    what = f"{view.score}, {line.statistic} of the best of n"
    return f"{what}, {100 * view.confidence:g} % {kind} limits ({line.note or line.method})."


def _value_rows(view: View) -> list[list[str]]:
    rows = []
    for line in view.lines_of(view.statistics[0]):
        for x, value, low, high in zip(line.x, line.value, line.low, line.high, strict=True):
            decimals = round_to_uncertainty(value, low, high)
            rows.append([line.family, f"{x:g}", *(show_number(one, decimals) for one in (value, low, high))])
    return rows


def _verdict_tables(view: View) -> list[dict[str, Any]]:
    """One table for each statistic and axis, the first one open."""
    kinds = dict.fromkeys((pair.statistic, pair.axis) for pair in view.pairs)
    return [
        {
            "title": f"{statistic} curves, budgets in {axis if axis == 'cost' else view.word + 's'}",
            **_verdict_table(view, statistic, axis),
        }
        for statistic, axis in kinds
    ]


def _verdict_table(view: View, statistic: str, axis: str) -> dict[str, Any]:
    """One row a pair: who is better where, where nothing is decided, and where nothing can be compared; what is the
    same for every pair is said once."""
    rows, apart = [], []
    for pair in view.pairs_of(statistic, axis):
        where: dict[str, list[str]] = {}
        for one in pair.ranges:
            where.setdefault(one.verdict, []).append(_span(one.start, one.end, axis, view.cost_unit))
        better = [f"{name}: {', '.join(where[name])}" for name in where if name in pair.families]
        reasons = dict.fromkeys(one.reason for one in pair.ranges if one.reason and one.verdict == "not comparable")
        nowhere = ", ".join(where.get("not comparable", ()))
        apart.append(f"{nowhere} ({'; '.join(reasons)})" if nowhere and reasons else nowhere or "–")
        rows.append([" and ".join(pair.families), "; ".join(better) or "–", ", ".join(where.get("undecided", ["–"]))])
    heads = ["Families", "better at", "undecided at"]
    if len(set(apart)) == 1:
        return {"heads": heads, "rows": rows, "note": "" if apart[0] == "–" else f"Not comparable at {apart[0]}."}
    rows = [[*row, last] for row, last in zip(rows, apart, strict=True)]
    return {"heads": [*heads, "not comparable at"], "rows": rows, "note": ""}


def _span(start: float, end: float, axis: str, unit: str | None) -> str:
    if axis == "trials":
        return f"{start:g}" if start == end else f"{start:g} to {end:g}"
    return f"{show_cost(start, unit)} to {show_cost(end, unit)}"


def _family_rows(view: View) -> tuple[list[str], list[list[str]]]:
    heads = ["Family", f"{view.word}s", "failed", f"best of {view.headline}", "interval", view.winner_word, "mean (sd)"]
    has_cost = view.cost_unit is not None or any(np.isfinite(one.mean_cost) for one in view.families)
    heads += [f"cost of a {view.word}"] if has_cost else []
    rows = []
    for one in view.families:
        value, low, high = one.headline
        decimals = round_to_uncertainty(value, low, high)
        row = [
            one.name,
            str(one.n_trials),
            str(one.n_failed),
            show_number(value, decimals) + view.headline_mark(one),
            show_limits(low, high, decimals),
            show_number(one.winner, max(decimals, 3)),
            f"{show_number(one.mean, 3)} ({show_number(one.sd, 3)})",
        ]
        rows.append(row + ([show_cost(one.mean_cost, view.cost_unit)] if has_cost else []))
    return heads, rows


def _trial_rows(view: View) -> tuple[list[str], list[list[str]]]:
    heads = list(view.table)
    rows = [
        [cell_text(cell, 6) for cell in row]
        for row in zip(*(col[:MOST_ROWS] for col in view.table.values()), strict=True)
    ]
    return heads, rows


def _harmless(value: Any) -> str:
    text = (
        cell_text(value)
        if not isinstance(value, float) or value.is_integer()
        else ("" if np.isnan(value) else repr(value))
    )
    return f"'{text}" if isinstance(value, str) and text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def _downloads(view: View, figures: Mapping[str, bytes]) -> list[dict[str, str]]:
    table = trials_csv(view).encode()
    numbers = {key: value for key, value in view.to_dict().items() if key != "table"}
    document = json.dumps(numbers, allow_nan=False, separators=(",", ":")).encode()
    # a figure is in the page already: the script points its link at the picture
    links = [{"name": f"{name}.svg", "href": "", "figure": name, "text": f"Figure: {name} (SVG)"} for name in figures]
    if view.table and view.n_rows <= MOST_ROWS:
        links.append(
            {
                "name": "trials.csv",
                "figure": "",
                "href": _data_uri(table, "text/csv"),
                "text": f"Every {view.word} (CSV)",
            }
        )
        links.append(
            {
                "name": "report.json",
                "figure": "",
                "href": _data_uri(document, "application/json"),
                "text": "Every number here (JSON)",
            }
        )
    return links


def _data_uri(content: bytes, kind: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"
