"""CSV and TSV, record by record: every line becomes a row or is reported with its number and the reason."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from levelbest._plain import unguarded
from levelbest.errors import DataError
from levelbest.readers.columns import EXACT, Cells
from levelbest.readers.raw import RawTable
from levelbest.readers.tables.layout import NUMBER, WHITESPACE, cells_of, is_number, layout_of, unique_names
from levelbest.readers.tables.tidy import MARKS, TEXT
from levelbest.trials import Skipped

__all__ = ["SUMMARIES", "parse_delimited", "text_column"]

_LONGEST_RECORD = 1000
_ZEROS_FIRST = re.compile(r"[+-]?0\d")

_TRUTH = {"True": True, "true": True, "TRUE": True, "False": False, "false": False, "FALSE": False}
SUMMARIES = frozenset(
    {"min", "minimum", "max", "maximum", "mean", "average", "avg", "median", "std", "stdev", "sd", "std dev"}
    | {"standard deviation", "standard error", "variance", "sum", "total", "count", "range", "std. dev"}
)

Record = tuple[int, list[str]]


def parse_delimited(text: str, source: str, delimiter: str | None = None) -> RawTable:
    """The table in a text; rows whose number of cells is not the header's are skipped and reported."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    layout = layout_of(lines, source, delimiter)
    delimiter = layout.delimiter
    records = list(_records(lines, layout.body, delimiter, len(layout.names)))
    names, records = _row_names(layout.names, records)
    width = len(names)
    kept, numbers, lost = _sorted_out(records, width)
    skipped = [*layout.skipped, *(Skipped(f"{source}, line {number}", lost[number]) for number in sorted(lost))]
    ragged = [lost_row for lost_row in skipped if "cells and the header" in lost_row.why]
    if len(ragged) > len(kept):
        raise DataError(
            f"{source} does not look like one table: {len(ragged)} of {len(ragged) + len(kept)} rows have other "
            f"numbers of cells than its header ({width}, split at {delimiter!r}); the first is at {ragged[0].where}"
        )
    as_text = TEXT if set(names) >= MARKS else frozenset()
    columns = {
        name: text_column([row[place] for row in kept], plain=name in as_text) for place, name in enumerate(names)
    }
    return RawTable(
        source=source,
        columns=columns,
        lines=np.array(numbers, dtype=np.int64),
        row_name="line",
        skipped=skipped,
        cautions=layout.cautions,
    )


def _sorted_out(records: Sequence[Record], width: int) -> tuple[list[list[str]], list[int], dict[int, str]]:
    """Rows with their line numbers, and why each other line is none."""
    kept: list[list[str]] = []
    numbers: list[int] = []
    lost: dict[int, str] = {}
    for number, cells in records:
        if len(cells) > width and not any(cell.strip() for cell in cells[width:]):
            cells = cells[:width]
        if not any(cell.strip() for cell in cells):
            lost[number] = "every cell is empty"
        elif len(cells) != width:
            lost[number] = f"it has {len(cells)} cells and the header {width}"
        else:
            kept.append(cells)
            numbers.append(number)
    footer = _footer(kept)
    for number, cells in zip(numbers[footer:], kept[footer:], strict=True):
        lost[number] = f"it is a summary of the rows above ({_first_filled(cells)!r})"
    return kept[:footer], numbers[:footer], lost


def _footer(rows: Sequence[Sequence[str]]) -> int:
    """Where summary rows (Mean, Minimum ...) at the end of a table begin.

    A word that stands at the beginning of several rows is a family's name; so is, among few rows, one whose numbers are
    not what it says of the rows above.
    """
    firsts = [_first_filled(row).lower().rstrip(".:") for row in rows]
    end = len(rows)
    while end and firsts[end - 1] in SUMMARIES:
        end -= 1
    words = firsts[end:]
    if not end or len(set(words)) < len(words) or set(words) & set(firsts[:end]):
        return len(rows)  # a table of nothing but such rows is about families of that name as well
    few = 10 * len(words) > len(rows)
    if few and any(_contradicts(word, row, rows[:end]) for word, row in zip(words, rows[end:], strict=True)):
        return len(rows)
    return end


def _contradicts(word: str, row: Sequence[str], above: Sequence[Sequence[str]]) -> bool:
    """Whether no number of a row is what its word says of the numbers above it; False where the word is not checked."""
    known: dict[str, Callable[[Any], Any]] = {
        **dict.fromkeys(("min", "minimum"), np.min),
        **dict.fromkeys(("max", "maximum"), np.max),
        **dict.fromkeys(("mean", "average", "avg"), np.mean),
        **dict.fromkeys(("sum", "total"), np.sum),
        "median": np.median,
    }
    if word not in known:
        return False
    checked = False
    for place, cell in enumerate(row):
        numbers = [float(other[place]) for other in above if is_number(other[place].strip())]
        if not is_number(cell.strip()) or not numbers:
            continue
        claimed, true = float(cell), float(known[word](numbers))
        if abs(claimed - true) <= 0.01 * max(abs(claimed), abs(true), 1e-12):
            return False
        checked = True
    return checked


def _first_filled(cells: Sequence[str]) -> str:
    return next((cell.strip() for cell in cells if cell.strip()), "")


def _records(lines: Sequence[str], start: int, delimiter: str, width: int) -> Iterator[Record]:
    place = start
    while place < len(lines):
        line = lines[place]
        if not line.strip():
            place += 1
            # A blank line in a table of one column is an empty cell only between rows.
            continue
        used = 1
        cells = cells_of(line, delimiter)
        if line.count('"') % 2 and delimiter != WHITESPACE:
            cells, used = _quoted_record(lines, place, delimiter, width)
        yield place + 1, cells
        place += used


def _quoted_record(lines: Sequence[str], place: int, delimiter: str, width: int) -> tuple[list[str], int]:
    """A record whose quoted cell runs over several lines; where that does not fit the header, the line alone.

    One stray quote must not swallow the rest of the file: the longer reading is taken only if it has the right size.
    """
    quotes = 0
    for used, line in enumerate(lines[place : place + _LONGEST_RECORD], 1):
        quotes += line.count('"')
        if quotes % 2 == 0:
            try:
                cells = next(csv.reader(["\n".join(lines[place : place + used])], delimiter=delimiter), [])
            except csv.Error:
                break
            if len(cells) == width:
                return cells, used
            break
    return lines[place].split(delimiter), 1


def _row_names(names: list[str], records: list[Record]) -> tuple[list[str], list[Record]]:
    """R writes tables whose rows have one cell more than the header: a row name comes first."""
    longer = sum(len(cells) == len(names) + 1 and cells[-1].strip() != "" for _, cells in records)
    if records and longer > 0.9 * len(records):
        return unique_names(["row_name", *names])[0], records
    return names, records


def text_column(cells: Sequence[str], *, plain: bool = False) -> Cells:
    """A column of text as numbers or truth values where every filled cell is one, else as text (None where empty)."""
    trimmed = [unguarded(cell.strip()) for cell in cells]
    empty = np.fromiter((not cell for cell in trimmed), dtype=bool, count=len(trimmed))
    if trimmed and not plain and trimmed[0] in _TRUTH and set(trimmed) <= set(_TRUTH):
        return np.fromiter((_TRUTH[cell] for cell in trimmed), dtype=bool, count=len(trimmed))
    if not plain and not empty.all() and _all_numbers(trimmed):
        numbers = np.array([cell or "nan" for cell in trimmed], dtype=np.float64)
        whole = np.abs(numbers[np.isfinite(numbers)])
        if whole.size == 0 or whole.max() <= EXACT or not any(cell.lstrip("+-").isdigit() for cell in trimmed):
            return np.ma.MaskedArray(numbers, mask=empty) if empty.any() else numbers
    return np.fromiter((cell or None for cell in trimmed), dtype=object, count=len(trimmed))


def _all_numbers(cells: Sequence[str]) -> bool:
    # Leading zeros are a name ("007"), not a number; as a score it is still read as one.
    match, zeros = NUMBER.fullmatch, _ZEROS_FIRST.match
    return all(not cell or (match(cell) and not zeros(cell)) for cell in cells)
