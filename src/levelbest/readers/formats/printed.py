"""Tables as papers and notes print them: in Markdown, between bars, or a ``tabular`` of LaTeX."""

from __future__ import annotations

import csv
import re
from io import StringIO
from pathlib import Path

from levelbest.errors import Ambiguous, DataError, InputError
from levelbest.readers.raw import RawTable, Reader
from levelbest.readers.tables.delimited import parse_delimited
from levelbest.readers.tables.files import decoded, read_bytes
from levelbest.readers.tables.tidy import mark_roles

__all__ = ["READERS"]

_GLANCE = 2**22
"""Bytes in which a table must begin for the file to be recognised."""
_ENDINGS = (".md", ".markdown", ".tex", ".rst", ".txt", "")
_RULE = re.compile(r"\s*\|?(\s*:?-+:?\s*\|)+(\s*:?-+:?\s*)?\|?\s*")
"""The line below a header in Markdown."""
_TABULAR = re.compile(r"\\begin\{(tabular[x*y]?|array|longtable)\}(.*?)\\end\{\1\}", re.DOTALL)
_RULES = re.compile(
    r"\\(?:(?:top|mid|bottom)rule(?:\[[^\]]*\])?|hline|cmidrule(?:\([^)]*\))?\{[^}]*\}|cline\{[^}]*\}|Xhline\{[^}]*\}"
    r"|specialrule(?:\{[^}]*\}){3}|addlinespace(?:\[[^\]]*\])?|(?:end)?(?:first)?(?:head|foot)\b)|(?<!\\)%.*"
)
_ROW_END = re.compile(r"(?:\\\\\*?|\\tabularnewline)(?:\[[^\]]*\])?")
_SPAN = re.compile(
    r"\\multi(row|column)(?:\[[^\]]*\])?\{\s*(-?\d+)[^{}]*\}(?:\[[^\]]*\])?\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}"
)
_UNSEEN = re.compile(
    r"~?\\(?:cite[a-z]*|label|ref|footnote|tablefootnote|tnote|footnotemark|textsuperscript|[vh]?phantom|[vh]space\*?"
    r"|(?:cell|row)color|color|rule|raisebox)(?![a-zA-Z])(?:\[[^\]]*\])*(?:\{[^{}]*\})?(?:\[[^\]]*\])*"
)
"""Citations, marks, colours and space: what stands in their braces is no part of the cell."""
_COLOURED = re.compile(r"\\(?:text|f?box)?color(?:box)?(?:\[[^\]]*\])?\{[^{}]*\}(?=\s*\{)")
_FONT = re.compile(
    r"\\(?:text(?!sub)[a-z]{2,6}|math[a-z]{2,4}|boldsymbol|bm|emph|underline|uline|num|mbox)\s*\{([^{}]*)\}"
)
_WRAPPED = re.compile(r"\\(?:[a-zA-Z]+)\s*\{([^{}]*)\}")
_BRACES = re.compile(r"[_^]?\{([^{}]*)\}")
_MARK = re.compile(r"\^?\s*(?:\{\s*)?(?:\\(?:d?dag(?:ger)?|ast|star)(?![a-zA-Z])|(?<=[\^{])\s*\*+)(?:\s*\})?")
"""``$^{\\dagger}$``, ``$^*$``: a mark that a note explains."""
_SWITCH = re.compile(
    r"\\(?:(?:bf|it|sc|rm)(?:series|shape|family)?|em|(?:foot)?note(?:size)|scriptsize|(?:script|text|display)+style|tiny"
    r"|small|large|centering)(?![a-zA-Z])|\\[,;!: ]"
)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
CellRows = list[list[str]]


def _tables_in(text: str) -> list[CellRows]:
    """The cells of every printed table with a header and a row."""
    tables = [_of_latex(body) for _, body in _TABULAR.findall(text)] or _of_markdown(text.splitlines())
    return [rows for rows in tables if len(rows) > 1 and len(rows[0]) > 1]


def _of_markdown(lines: list[str]) -> list[CellRows]:
    tables: list[CellRows] = []
    for place, line in enumerate(lines):
        if place and "|" in line and _RULE.fullmatch(line) and "|" in lines[place - 1]:
            rows = [lines[place - 1]]
            for below in lines[place + 1 :]:
                if "|" not in below:
                    break
                rows.append(below)
            tables.append([_between_bars(row) for row in rows])
    return tables


def _between_bars(line: str) -> list[str]:
    cells = re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))
    return [_LINK.sub(r"\1", cell).replace("\\|", "|").strip().strip("*`_").strip() for cell in cells]


def _of_latex(body: str) -> CellRows:
    """The rows of a ``tabular``, without its columns, rules, citations and fonts; ``_{\\pm 0.4}`` is ± 0.4.

    A cell that spans rows stands in each of them; a row that is one cell across the table is a heading, and left out.
    """
    body = _RULES.sub("", re.sub(r"\A(\[[^\]]*\])?(\{[^{}]*(\{[^{}]*\}[^{}]*)*\})+", "", body.lstrip()))
    lines = [re.split(r"(?<!\\)&", line) for line in _ROW_END.split(body) if line.strip()]
    rows: CellRows = []
    spans: list[tuple[int, int, int]] = []  # the column of a cell, the first of its rows, and the last
    for line in lines:
        row: list[str] = []
        for cell in line:
            span = {kind: int(size) for kind, size in _SPAN.findall(cell)}
            down = span.get("row", 1)
            if abs(down) > 1:
                spans.append((len(row), len(rows) + min(0, down + 1), len(rows) + max(0, down - 1)))
            row += [_plain(cell), *[""] * (span.get("column", 1) - 1)]
        if len(line) > 1 or len(lines[0]) == 1:
            rows.append(row)
    for column, first, last in spans:
        inside = [row for row in rows[first : last + 1] if column < len(row)]
        text = next((row[column] for row in inside if row[column]), "")
        for row in inside:
            row[column] = row[column] or text
    return rows


def _plain(cell: str) -> str:
    cell = _UNSEEN.sub("", _SPAN.sub("", _COLOURED.sub("", cell)))
    for macro, character in (("pm", "±"), ("uparrow", "↑"), ("downarrow", "↓"), ("%", "%"), ("_", "_"), ("&", "&")):
        cell = re.sub(rf"\\(?:text)?{macro}(?![a-zA-Z])", character, cell)
    cell = _MARK.sub("", cell.replace("$", "").replace("{,}", ","))
    before = None
    while cell != before:
        before = cell
        # An unknown macro may hold a deviation: its content does not continue the number before it.
        for braces, content in ((_FONT, r"\1"), (_WRAPPED, r" \1 "), (_BRACES, r" \1 ")):
            cell = braces.sub(content, cell) if cell == before else cell
    cell = _SWITCH.sub(" ", cell).replace("\\", "").replace("~", " ")
    return re.sub(r"\s+", " ", re.sub(r"[_^]\s*±", " ±", cell)).strip()


def _recognises(path: Path) -> bool:
    if not path.is_file() or path.suffix.lower() not in _ENDINGS:
        return False
    try:
        return bool(_tables_in(decoded(read_bytes(path, _GLANCE), path.name)[0]))
    except DataError:
        return False


def _read(path: Path, *, table: str | None = None) -> list[RawTable]:
    """One printed table; ``table``: its number, where a file has several."""
    printed = _tables_in(decoded(read_bytes(path), path.name)[0])
    if not printed:
        raise DataError(f"{path.name} has no table of Markdown or LaTeX with a header and a row")
    if table is None and len(printed) > 1:
        heads = "; ".join(f"table={place}: {', '.join(rows[0][:4])}" for place, rows in enumerate(printed[:6], 1))
        raise Ambiguous(
            f"{path.name} has {len(printed)} tables: choose one with the reader's option table, by its number ({heads})"
        )
    if table is not None and str(table) not in {str(place) for place in range(1, len(printed) + 1)}:
        raise InputError(f"the option table is a number from 1 to {len(printed)}, got {table!r}")
    rows, text = printed[int(table or 1) - 1], StringIO()
    width = len(rows[0])
    csv.writer(text, delimiter="\t").writerows([*row, *[""] * (width - len(row))] for row in rows)
    return [mark_roles(parse_delimited(text.getvalue(), path.name, "\t"))]


READERS = (Reader("printed", "a table in Markdown or LaTeX", _recognises, _read),)
