"""CSV and TSV, record by record: every line becomes a row or is reported with its number and the reason.

The first lines determine the delimiter, the lines above the table, its header and the names of its columns.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import SupportsFloat

import numpy as np

from levelbest._check import FloatArray
from levelbest._plain import unguarded
from levelbest._read import refuse_more
from levelbest.cautions import Caution
from levelbest.errors import DataError
from levelbest.readers.raw import EXACT, Cells, RawTable
from levelbest.readers.tables.commas import (
    POINTS_OF_THOUSANDS,
    thousands_or_decimals,
    without_separators,
    written_as_others,
)
from levelbest.readers.tables.languages import ENGLISH
from levelbest.readers.tables.tidy import MARKS, TEXT
from levelbest.trials import Skipped

__all__ = ["SUMMARY_ROWS", "Layout", "layout_of", "parse_delimited", "summary_word"]

_DELIMITERS = (",", "\t", ";", "|")
WHITESPACE = " "
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(nan|inf|infinity)", re.IGNORECASE)
_DECLARED = re.compile(r'\ufeff?"?sep=(.)"?\W*', re.IGNORECASE)
"""The line that Excel writes and reads above a table: ``sep=;``."""
_SAMPLE = 50
_MOST_TITLES = 10
"""Lines above a header that can be a title."""
_LONGEST_RECORD = 1000
_FEW_LINES = 3
"""Lines of prose as short as these may have equally many words."""
_ZEROS_FIRST = re.compile(r"[+-]?0\d")

_TRUTH = {"True": True, "true": True, "TRUE": True, "False": False, "false": False, "FALSE": False}
SUMMARY_ROWS = frozenset(
    {"min", "minimum", "max", "maximum", "mean", "average", "avg", "median", "std", "stdev", "sd", "std dev"}
    | {"standard deviation", "standard error", "variance", "sum", "total", "count", "range", "std. dev"}
)

NumberedCells = tuple[int, list[str]]


def parse_delimited(text: str, source: str, delimiter: str | None = None) -> RawTable:
    """The table in a text; rows whose number of cells is not the header's are skipped and reported."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    layout = layout_of(lines, source, delimiter)
    delimiter, names = layout.delimiter, layout.names
    records = list(_records(lines, layout.body, delimiter, len(names)))
    longer = sum(len(cells) == len(names) + 1 and cells[-1].strip() != "" for _, cells in records)
    if records and longer > 0.9 * len(records):
        # R writes tables whose rows have one cell more than the header: a row name comes first.
        names = unique_names(["row_name", *names])[0]
    width = len(names)
    kept, numbers, lost = _sorted_out(records, width)
    skipped = [*layout.skipped, *(Skipped(f"{source}, line {number}", lost[number]) for number in sorted(lost))]
    ragged = [lost_row for lost_row in skipped if "cells and the header" in lost_row.why]
    if len(ragged) > len(kept):
        raise DataError(
            f"{source} does not look like one table: {len(ragged)} of {len(ragged) + len(kept)} rows do not have as "
            f"many cells as its header ({width}, split at {delimiter!r}); the first is at {ragged[0].where}"
        )
    as_text = TEXT if set(names) >= MARKS else frozenset()
    cells = {name: [row[place] for row in kept] for place, name in enumerate(names)}
    commas = written_as_others(cells, delimiter) if delimiter != "," or '"' in text else {}
    cells |= {name: [without_separators(cell) for cell in cells[name]] for name in commas}
    columns = {name: _text_column(column, plain=name in as_text) for name, column in cells.items()}
    return RawTable(
        source=source,
        columns=columns,
        lines=np.array(numbers, dtype=np.int64),
        row_name="line",
        skipped=skipped,
        cautions=[*layout.cautions, *commas.values()],
    )


def first_rows(lines: Sequence[str], layout: Layout) -> list[list[str]]:
    """The rows in these lines that have as many cells as the header."""
    width = len(layout.names)
    return [cells for _, cells in _records(lines, layout.body, layout.delimiter, width) if len(cells) == width]


def _sorted_out(records: Sequence[NumberedCells], width: int) -> tuple[list[list[str]], list[int], dict[int, str]]:
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
    firsts = [summary_word(_first_filled(row)) for row in rows]
    end = len(rows)
    while end and firsts[end - 1] in SUMMARY_ROWS:
        end -= 1
    words = firsts[end:]
    if not end or len(set(words)) < len(words) or set(words) & set(firsts[:end]):
        return len(rows)  # a table of nothing but such rows is about families of that name as well
    few = 10 * len(words) > len(rows)
    if few and any(_contradicts(word, row, rows[:end]) for word, row in zip(words, rows[end:], strict=True)):
        return len(rows)
    return end


def summary_word(cell: str) -> str:
    """The first cell of a row as `SUMMARY_ROWS` spells it: ``Mittelwert:`` is ``mean``."""
    word = cell.lower().rstrip(".:")
    return ENGLISH.get(word, word)


def _contradicts(word: str, row: Sequence[str], above: Sequence[Sequence[str]]) -> bool:
    """Whether no number of a row is what its word says of the numbers above it; False where the word is not checked."""
    known: dict[str, Callable[[list[float]], SupportsFloat]] = {
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


def _records(lines: Sequence[str], start: int, delimiter: str, width: int) -> Iterator[NumberedCells]:
    place = start
    while place < len(lines):
        line = lines[place]
        cells, used = cells_of(line, delimiter), 1
        if line.count('"') % 2 and delimiter != WHITESPACE:
            cells, used = _quoted_record(lines, place, delimiter, width)
        if line.strip():
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


def _text_column(cells: Sequence[str], *, plain: bool = False) -> Cells:
    """A column of text as numbers or truth values where every filled cell is one, else as text (None where empty)."""
    trimmed = [unguarded(cell.strip()) for cell in cells]
    empty = np.fromiter((not cell for cell in trimmed), dtype=bool, count=len(trimmed))
    if trimmed and not plain and trimmed[0] in _TRUTH and set(trimmed) <= set(_TRUTH):
        return np.fromiter((_TRUTH[cell] for cell in trimmed), dtype=bool, count=len(trimmed))
    numbers = None if plain or empty.all() else _numbers(trimmed)
    if numbers is not None:
        return np.ma.MaskedArray(numbers, mask=empty) if empty.any() else numbers
    return np.fromiter((cell or None for cell in trimmed), dtype=object, count=len(trimmed))


def _numbers(cells: Sequence[str]) -> FloatArray | None:
    """Cells as numbers, NaN where empty; None where one is no number, or names something as ``007`` and long ids do.

    As a score such a name is still read as a number; where ``1.200`` may be 1200 that is asked.
    """
    match, zeros = NUMBER.fullmatch, _ZEROS_FIRST.match
    if not all(not cell or (match(cell) and not zeros(cell)) for cell in cells):
        return None
    pointed = next((cell for cell in cells if "." in cell), "")
    if POINTS_OF_THOUSANDS.fullmatch(pointed) and thousands_or_decimals(cells):
        return None
    numbers = np.array([cell or "nan" for cell in cells], dtype=np.float64)
    whole = np.abs(numbers[np.isfinite(numbers)])
    exact = whole.size == 0 or whole.max() <= EXACT
    return numbers if exact or not any(cell.lstrip("+-").isdigit() for cell in cells) else None


@dataclass(frozen=True)
class Layout:
    """How the text of a table is laid out, as its first lines show it."""

    delimiter: str
    body: int
    """The first line of rows, from 0."""
    names: list[str]
    skipped: list[Skipped]
    """A title above the header."""
    cautions: list[Caution]
    """Columns of one name, which were told apart."""


def layout_of(lines: Sequence[str], source: str, delimiter: str | None = None) -> Layout:
    """The layout of the table that begins with these lines; a header of numbers alone is a row."""
    start = _first_line(lines)
    if start is None:
        raise DataError(f"{source} is empty: there is no header and no row")
    delimiter = delimiter or _delimiter_of(lines)
    cells = cells_of(lines[start], delimiter)
    refuse_more(len(cells), "columns", source)  # before a million names are looked at one by one
    filled = [cell.strip() for cell in cells if cell.strip()]
    headless = bool(filled) and all(map(is_number, filled))
    names, repeated = unique_names([""] * len(cells) if headless else cells)
    cautions = [
        Caution.of("guessed-columns", kind="renamed", source=source, column=name, count=count)
        for name, count in repeated.items()
    ]
    return Layout(delimiter, start if headless else start + 1, names, _above(lines, start, source), cautions)


def _above(lines: Sequence[str], start: int, source: str) -> list[Skipped]:
    """What stands above the header and is neither blank, a comment nor a declared delimiter: a title, which is told."""
    filled = [place for place in range(start) if lines[place].strip()]
    titles = [place for place in filled if not lines[place].startswith("#") and not _DECLARED.fullmatch(lines[place])]
    if not titles:
        return []
    first, last = filled[0] + 1, filled[-1] + 1
    where = f"line {first}" if first == last else f"lines {first} to {last}"
    text = lines[titles[0]].strip().strip(";,|\t ")
    return [Skipped(f"{source}, {where}", f"above the header, which is in line {start + 1}: {text[:60]!r}")]


def _delimiter_of(lines: Sequence[str]) -> str:
    """The delimiter of the table below comments: the declared one where the header has it, else the likeliest."""
    start = _first_line(lines) or 0
    for line in lines[:start]:
        declared = _DECLARED.fullmatch(line)
        if declared and declared[1] in _DELIMITERS and declared[1] in lines[start]:
            return declared[1]
    return _dialect_of(lines[start:])


def _dialect_of(lines: Sequence[str]) -> str:
    """The delimiter under which most of the first lines have as many cells as the header; more columns win a tie."""
    sample = [line for line in lines[:200] if line.strip()][:50]
    best, score = ",", (0.0, 0)
    for delimiter in _DELIMITERS:
        sizes = [len(cells_of(line, delimiter)) for line in sample]
        if sizes[0] > 1:
            share = sum(size == sizes[0] for size in sizes) / len(sizes)
            if (round(share, 1), sizes[0]) > score:
                best, score = delimiter, (round(share, 1), sizes[0])
    if score[1] == 0 and len(sample) > 1:
        split = [line.split() for line in sample]
        same = len(split[0]) > 1 and all(len(cells) == len(split[0]) for cells in split)
        numbers = [all(is_number(cells[place]) for cells in split[1:]) for place in range(len(split[0]) * same)]
        headed = len(sample) > _FEW_LINES and any(numbers) and not any(map(is_number, split[0]))
        if headed or (same and all(numbers)):
            return WHITESPACE  # columns that spaces align
    return best


def _first_line(lines: Sequence[str]) -> int | None:
    """The header's position: the first line that is neither blank nor a comment above the table."""
    filled = [place for place, line in enumerate(lines) if line.strip()]
    if len(filled) > 1 and _DECLARED.fullmatch(lines[filled[0]]):
        del filled[0]
    if not filled:
        return None
    filled = filled[_n_titles([lines[place] for place in filled[:_SAMPLE]]) :]
    comments = 0
    while comments < len(filled) and lines[filled[comments]].startswith("#"):
        comments += 1
    if not comments or comments == len(filled):
        return filled[0]
    # "#run,acc" above rows of two cells is a header, not a comment.
    below = lines[filled[comments]]
    delimiter = _dialect_of(lines[filled[comments] :])
    last = filled[comments - 1]
    first = cells_of(below, delimiter)
    same = len(cells_of(lines[last], delimiter)) == len(first) > 1
    return last if same and all(is_number(cell.strip()) or not cell.strip() for cell in first) else filled[comments]


def _n_titles(sample: Sequence[str]) -> int:
    """How many lines stand above a header as titles do: with few filled cells, where the header has text in all.

    The header is the first line of as many cells as most lines have, all different and none a number, and numbers
    follow it; each line before it has no more than half of its cells filled.
    """
    for delimiter in _DELIMITERS:
        split = [[cell.strip() for cell in cells_of(line, delimiter)] for line in sample]
        sizes = Counter(len(cells) for cells in split)
        width, share = sizes.most_common(1)[0]
        if width < 2 or share < 0.6 * len(sample):
            continue
        for place, cells in enumerate(split[: _MOST_TITLES + 1]):
            filled = [cell for cell in cells if cell]
            header = len(cells) == width == len(set(filled)) and not any(map(_looks_numeric, filled))
            if header and any(_looks_numeric(cell) for row in split[place + 1 :] for cell in row):
                return place
            if 2 * len(filled) > width:
                break
    return 0


def _looks_numeric(cell: str) -> bool:
    return is_number(cell.replace(",", ".", 1).rstrip("%"))


def is_number(text: str) -> bool:
    return NUMBER.fullmatch(text) is not None


def cells_of(line: str, delimiter: str) -> list[str]:
    if delimiter == WHITESPACE:
        return line.split()
    if '"' not in line:
        return line.split(delimiter)
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return line.split(delimiter)


def unique_names(header: Sequence[str]) -> tuple[list[str], dict[str, int]]:
    """Unique names for a header, and which names came more than once: the second ``acc`` is ``acc (2)``."""
    seen: dict[str, int] = {}
    names: list[str] = []
    taken: set[str] = set()
    for place, cell in enumerate(header, 1):
        name = unguarded(cell.strip().lstrip("\ufeff")) or f"column{place}"
        seen[name] = seen.get(name, 0) + 1
        unique = name if seen[name] == 1 else f"{name} ({seen[name]})"
        while unique in taken:
            unique += "'"
        taken.add(unique)
        names.append(unique)
    return names, {name: count for name, count in seen.items() if count > 1}
