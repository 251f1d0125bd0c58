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
_RULES = re.compile(r"\\(?:(?:top|mid|bottom)rule|hline|cmidrule(?:\([^)]*\))?\{[^}]*\}|cline\{[^}]*\})|(?<!\\)%.*")
_SPAN = re.compile(r"\\multi(?:row|column)\{[^{}]*\}\{[^{}]*\}")
_CITED = re.compile(r"~?\\(?:cite[a-z]*|label|ref|footnote)(?:\[[^\]]*\])?\{[^{}]*\}")
_WRAPPED = re.compile(r"\\(?:[a-zA-Z]+)\s*\{([^{}]*)\}")
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
    """The rows of a ``tabular``, without its columns, rules, citations and fonts; ``_{\\pm 0.4}`` is ± 0.4."""
    body = _RULES.sub("", re.sub(r"\A(\[[^\]]*\])?(\{[^{}]*(\{[^{}]*\}[^{}]*)*\})+", "", body.lstrip()))
    rows = [re.split(r"(?<!\\)&", line) for line in re.split(r"\\\\(?:\[[^\]]*\])?", body) if line.strip()]
    return [[_plain(cell) for cell in row] for row in rows]


def _plain(cell: str) -> str:
    cell = _CITED.sub("", _SPAN.sub("", cell)).replace("\\pm", "±").replace("$", "").replace("\\%", "%")
    before = None
    while cell != before:
        before, cell = cell, re.sub(r"[_^]?\{([^{}]*)\}", r" \1 ", _WRAPPED.sub(r"\1", cell))
    cell = re.sub(r"\\(?:bf|it|em|small|scriptsize|tiny|textpm|,|;|!| )", " ", cell).replace("\\", "").replace("~", " ")
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
