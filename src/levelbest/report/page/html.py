"""The page: one HTML file that needs no network, draws itself with uPlot and reads well without script; its tables."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import quote

from levelbest import __version__
from levelbest._plain import cell_text, guarded
from levelbest.report.figures.curves import shorten, slim, themed
from levelbest.report.figures.panels import panel_of_view
from levelbest.report.page.data import embedded, page_data, screen_words
from levelbest.report.tables.results import ROUNDING_NOTE
from levelbest.report.view import View
from levelbest.report.view_tables import heat_map, page_facts, page_table, values_table, verdict_tables
from levelbest.report.words.answers import Piece, Pieces, answer_of, ranges_of, text_of
from levelbest.report.words.cautions import Remark, remarks
from levelbest.report.words.curves import interval_name
from levelbest.report.words.methods import space_rows, spaces_heading
from levelbest.report.words.phrases import capital, condition_sentence, level, plural, shortened
from levelbest.report.words.plans import next_steps
from levelbest.report.words.tasks import normalised_words

if TYPE_CHECKING:
    from markupsafe import Markup

MOST_CELLS = 12_000
"""More cells of trials than this stay in the table beside the page."""
TextRows = list[list[str]]
PASSES = {"mean": "pass@k", "all": "pass^k", "majority": "maj@k"}
"""What curves over problems with scores 0 and 1 are called."""
MOST_LARGE = 60
"""An answer of more letters is written smaller."""
SHORTEST_DOUBT = 25
"""A shorter first clause of a doubt says too little."""
MOST_SENTENCES = 60
"""Of more pairs the sentences are in report.json."""
MOST_BYTES = 100_000
"""A larger download stays a file beside the page."""
_PIXELS = 1.68
"""Pixels for a point of a figure."""
_SCRIPTS = ("common.js", "tape.js", "chart.js", "standing.js", "page.js")
_COMMON_WORDS = frozenset(
    ("a", "all", "an", "and", "best", "better", "each", "mean", "median", "none", "one", "other", "others", "trials")
)
"""Families of these names are not coloured: the sentences use the words."""


def _of_all(view: View, name: str) -> tuple[str, ...]:
    """What a report and those of its tasks have, each once."""
    return tuple(dict.fromkeys(part for shown in (view, *view.tasks.values()) for part in getattr(shown, name)))


def render_page(
    view: View,
    figures: Mapping[str, bytes],
    files: Mapping[str, str] | None = None,
    phone: Mapping[str, bytes] = MappingProxyType({}),
) -> str:
    """The page as text. ``figures`` holds SVG files by name, ``curves`` and others of `report_figures`, ``phone`` those
    of `phone_figures`; ``files`` are those of `page_files` where they are made already."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    row_heads, rows = trial_rows(view)
    noted = remarks(view.cautions, len(view.families))
    spaces = () if view.comparison is None else view.comparison.spaces
    return (
        environment.from_string(asset("page.html.j2"))
        .render(
            view=view,
            version=__version__,
            policy=page_policy(),
            style=Markup(page_style()),
            script=Markup(_script()),
            data=Markup(embedded(page_data(view))),
            **_pictures(figures, phone),
            about=_about(view),
            **_verdict(view, noted),
            **_counts(view, noted),
            heat=heat_map(view) if view.tasks else None,
            middle=lambda name: shorten(name, 18),
            drawn=not view.single and any(len(line.x) > 1 for line in view.lines),
            facts=page_facts(view),
            failures=any(family.n_failed for family in view.families),
            interval_note=_interval_note(view),
            level=level(view.confidence),
            pairs_of=lambda names: [(name, name) for name in names],
            caption=_caption(view),
            values=values_table(view),
            verdicts=verdict_tables(view),
            details=view.details[:MOST_SENTENCES],
            spaces=[(shortened(names), text) for names, text in space_rows(spaces)[:MOST_SENTENCES]],
            spaces_heading=spaces_heading(spaces),
            single=view.single,
            statistics=_of_all(view, "statistics"),
            statistic_names=_statistic_names(view),
            passes="all" in view.statistics,
            axes=_of_all(view, "axes"),
            log_first=panel_of_view(view).is_log,
            heights_log=view.direction == "min" and min(v for line in view.lines for v in line.value if v == v) > 0,
            families=page_table(view),
            doubts=[remark for remark in noted if remark.severity < 2],
            choices=[remark for remark in noted if remark.severity == 2],
            rounding=ROUNDING_NOTE,
            row_heads=row_heads,
            row_kinds=kinds_of(rows, len(row_heads)),
            rows=rows,
            downloads=_downloads(view, figures, page_files(view) if files is None else files),
            licence=asset("uPlot.LICENSE"),
        )
        .lstrip()
    )


def asset(name: str) -> str:
    """A file of the page: chart library, style, script."""
    return resources.files("levelbest.report.page").joinpath("assets", name).read_text(encoding="utf-8")


def page_style() -> str:
    """The style of the page, which the live page shares."""
    return asset("uPlot.min.css") + asset("page.css")


def wrapped(*parts: str) -> str:
    """The chart library and scripts in one scope, without global names."""
    return "\n".join([asset("uPlot.iife.min.js"), '"use strict";', "(function () {", *parts, "})();"])


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
    return own_policy(page_style(), _script())


def _script() -> str:
    return wrapped(*(asset(name) for name in _SCRIPTS))


def _verdict(view: View, noted: Sequence[Remark]) -> dict[str, object]:
    """The card that is read first: the answer in large type, what stands behind it, the first doubt, the next step."""
    from markupsafe import Markup

    compared, sentences = view.comparison, view.verdict
    answer = answer_of(compared) if compared is not None and compared.pairs else None
    shown = None
    if compared is not None and answer is not None:
        where, ranges = capital(answer.where), text_of(ranges_of(compared))
        if view.tasks:
            where = f"Over {len(view.tasks)} tasks{', ' if answer.where else ''}{answer.where} ({normalised_words()})"
            sentences = (*([ranges] if ranges else []), *sentences[1:])
        elif sentences[0] == str(answer):
            sentences = sentences[1:]
        shown = {"where": where, "names": _pieces(answer.names, view), "rest": _pieces(alone(answer.rest), view)}
        if len(text_of(answer.names)) > MOST_LARGE:
            shown["names"] = Markup('<span class="long">{}</span>').format(shown["names"])
    fine = condition_sentence(compared) if shown is not None and compared is not None else ""
    steps = () if compared is None else next_steps(compared, reported=True)
    doubts = [remark for remark in noted if remark.severity == 0]
    return {
        "answer": shown,
        "verdict": [_coloured(sentence, view) for sentence in sentences if sentence != fine],
        "fine": fine,
        "steps": steps,
        "step": steps[0] if steps else None,
        "doubt": _first_clause(str(doubts[0])) if doubts else "",
    }


def alone(rest: Sequence[Piece]) -> Pieces:
    """The rest of an answer as a sentence by itself: without what ties it to the names."""
    text = [replace(piece, text=piece.text) for piece in rest]
    if not text:
        return ()
    text[0] = replace(text[0], text=text[0].text.lstrip(",; ("))
    bracket = rest[0].text.startswith(" (") and rest[-1].text.endswith(")")
    text[-1] = replace(text[-1], text=text[-1].text.removesuffix(")") if bracket else text[-1].text)
    kept = [piece for piece in text if piece.text]
    first = kept[0] if kept[0].is_family else replace(kept[0], text=capital(kept[0].text))
    return (first, *kept[1:], Piece("."))


def _first_clause(sentence: str) -> str:
    """What a doubt is about; all of it stands in the list of doubts."""
    clause = re.split(r"[;:] ", sentence, maxsplit=1)[0]
    return clause if len(clause) >= SHORTEST_DOUBT else sentence


def _counts(view: View, noted: Sequence[Remark]) -> dict[str, object]:
    """What stands beside the heading of a part that is closed, so that one knows whether to open it."""
    first = view.pairs_of(view.statistics[0]) if view.pairs else ()
    decided = sum(pair.decided for pair in first)
    n_doubts = sum(remark.severity < 2 for remark in noted)
    return {
        "pair_count": f"{decided} of {len(first)} decided",
        "warning_count": plural(n_doubts or len(noted), "doubt" if n_doubts else "choice") if noted else "",
        "plural_count": plural(len(view.tasks), "task") if view.tasks else "",
        "open_items": sum(not item.answer for item in view.checklist),
        "download_kinds": "SVG, JSON" + (", CSV" if view.table else ""),
        "sections_title": ", ".join(t.title if k == 0 else t.title.lower() for k, t in enumerate(view.sections)),
    }


def _caption(view: View) -> str:
    """Of the table of the curves' values."""
    line = view.lines[0]
    limits = f"{'simultaneous' if line.simultaneous else 'pointwise'} limits ({interval_name(line.method)})"
    return f"{view.score}, {line.statistic} of the best of n, {level(view.confidence)} {limits}."


def _statistic_names(view: View) -> list[tuple[str, str]]:
    words = PASSES if "all" in view.statistics else {}
    return [(name, words.get(name, name)) for name in _of_all(view, "statistics")]


def _interval_note(view: View) -> str:
    """What the limits beside the values cover, and what the values are measured in."""
    note = screen_words(view.words, level(view.confidence))["note"]
    return f"{note} Values are in {view.scale}." if view.scale else note


def _pieces(pieces: Iterable[Piece], view: View) -> Markup:
    """Pieces of a sentence with the names of families in their colours."""
    from markupsafe import Markup, escape

    names = [
        Markup('<b class="f{}">{}</b>').format(view.hues[piece.text], piece.text)
        if piece.is_family
        else escape(piece.text)
        for piece in pieces
    ]
    return Markup("").join(names)


def _about(view: View) -> list[tuple[str, bool]]:
    """What the report is of, in a few words each, and whether they are a badge; the verdict tells the rest."""
    words, families = view.words, view.families
    total = sum(family.n_trials for family in families)
    better = "higher is better" if view.direction == "max" else "lower is better"
    of = f" of {plural(view.n_groups, words.group)}" if view.n_groups else ""
    whose = f" from {len(families)} families" if len(families) > 1 else f" from {families[0].name}"
    chosen = f"{view.reported} of the best by {view.selection}" if view.reported else view.selection
    about = [(f"{words.count(total)}{of}{whose}", False), (f"{chosen}, {better}", False)]
    if view.comparison is None:
        n_failed = sum(family.n_failed for family in families)
        did = "count as worst" if view.failed == "worst" else "dropped"
        about += [(f"{n_failed} failed ({did})", False)] * bool(n_failed)
        about.append((f"{level(view.confidence)} over all budgets", False))
    if view.reported is None and (words.group or view.unchecked):
        about.append((words.badge, True))
    return about


def _coloured(sentence: str, view: View) -> Markup:
    """A sentence with the names of families in their colours; a name that is a common word stays as it is."""
    from markupsafe import Markup, escape

    names = {
        family.name: view.hues[family.name] for family in view.families if family.name.lower() not in _COMMON_WORDS
    }
    if not names:
        return escape(sentence)
    longest = sorted(names, key=len, reverse=True)
    pattern = re.compile(rf"(?<![\w-])({'|'.join(re.escape(name) for name in longest)})(?![\w-])")
    parts = pattern.split(sentence)
    return Markup("").join(
        Markup('<b class="f{}">{}</b>').format(names[part], part) if k % 2 else escape(part)
        for k, part in enumerate(parts)
    )


def page_files(view: View) -> dict[str, str]:
    """What a page carries within it: every number, and every trial where they are known one by one."""
    numbers = json.dumps(view.numbers(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return ({"trials.csv": trials_csv(view)} if view.table else {}) | {"report.json": numbers}


def _downloads(view: View, figures: Mapping[str, bytes], files: Mapping[str, str]) -> list[dict[str, str | Markup]]:
    # a figure is in the page already: the script points its link at the picture
    links = [{"name": f"{name}.svg", "href": "", "figure": name, "text": f"Figure: {name} (SVG)"} for name in figures]
    kinds = {
        "trials.csv": ("text/csv", f"Every {view.words.part} (CSV)"),
        "report.json": ("application/json", "Every number here (JSON)"),
    }
    for name, content in files.items():
        kind, text = kinds[name]
        if len(content) <= MOST_BYTES:
            links.append({"name": name, "figure": "", "href": data_uri(content.encode(), kind), "text": text})
    return links


def data_uri(content: bytes, kind: str) -> Markup:
    """A file as an address between single quotes: nearly as long as the file, where base64 needs a third more."""
    from markupsafe import Markup

    text = re.sub(r"[^ -~]|[%#'&<>]", lambda match: quote(match[0], safe=""), content.decode())
    return Markup(f"data:{kind};charset=utf-8,{text}")


def _pictures(figures: Mapping[str, bytes], phone: Mapping[str, bytes]) -> dict[str, object]:
    """The figures and those for a phone, as addresses, and how wide the former are."""

    def addresses(drawn: Mapping[str, bytes]) -> dict[str, Markup]:
        return {name: data_uri(slim(themed(svg)), "image/svg+xml") for name, svg in drawn.items()}

    widths = {name: picture_width(svg) for name, svg in figures.items()}
    return {"figures": addresses(figures), "phone": addresses(phone), "widths": widths}


def picture_width(svg: bytes) -> int:
    """How wide a figure is drawn, so that the letters of all figures are as large as those beside them.

    Examples
    --------
    >>> picture_width(b'<svg width="665.28pt" height="100pt">')
    1118
    """
    match = re.search(rb'<svg[^>]*? width="([\d.]+)pt"', svg)
    return round(float(match[1]) * _PIXELS) if match else 960


def kinds_of(rows: Sequence[Sequence[str]], columns: int) -> str:
    """For each column of trials ``n`` where every cell is a number or empty, else ``t``."""
    return "".join("n" if all(_is_number(row[k]) for row in rows) else "t" for k in range(columns))


def _is_number(text: str) -> bool:
    try:
        float(text.removesuffix("%") or "0")
    except ValueError:
        return False
    return True


def trial_rows(view: View) -> tuple[list[str], TextRows]:
    """The trials, as many as a page can hold."""
    heads = list(view.table)
    most = MOST_CELLS // max(1, len(heads))
    columns = [column[:most] for column in view.table.values()]
    return heads, [[cell_text(cell, 6) for cell in row] for row in zip(*columns, strict=True)]


def trials_csv(view: View) -> str:
    """Every trial as CSV; a text that a spreadsheet would take for a formula is quoted with an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([guarded(name) for name in view.table])
    for row in zip(*view.table.values(), strict=True):
        writer.writerow([guarded(cell) if isinstance(cell, str) else cell_text(cell, None) for cell in row])
    return out.getvalue()
