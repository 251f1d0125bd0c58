"""JSON and JSON lines, record by record; nested objects become dotted columns, lists stay whole."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from itertools import islice

import numpy as np

from levelbest.errors import DataError
from levelbest.readers.columns import Cells, Coded, as_codes, stacked, typed
from levelbest.readers.raw import RawTable
from levelbest.readers.steps import names
from levelbest.readers.tables.files import Json, Record, json_lines, json_value
from levelbest.trials import Skipped

__all__ = ["json_table", "lines_table"]

_COLUMNS = names.word_set(
    "lr rate wd decay seed epoch step batch layers width depth dropout momentum time runtime cost seconds hours id "
    "index trial run config params status state"
)
_SAMPLE_NAME = re.compile(r"(s|sample|run|seed|trial|rep|completion|attempt|k)[ _-]?\d+", re.IGNORECASE)
_DEEP = 40
_PIECE = 100_000
_NO_RECORD = "it is not a JSON object with fields"


def lines_table(lines: Iterable[str | bytes], source: str) -> RawTable:
    """One object per line, a piece at a time; a line that is not an object is skipped and reported.

    Where there are several pieces, text is kept as codes, so that memory holds columns and not objects.
    """
    pieces: list[RawTable] = []
    skipped: list[Skipped] = []
    numbered = json_lines(lines)
    while batch := list(islice(numbered, _PIECE)):
        records = []
        for number, value, why in batch:
            if isinstance(value, dict) and value:
                records.append((number, value))
            else:
                skipped.append(Skipped(f"{source}, line {number}", why or _NO_RECORD))
        if records:
            pieces.append(_table(records, source, "line", []))
        if len(pieces) > 1:
            for piece in (pieces[0], pieces[-1]):
                piece.columns = {name: _coded(column) for name, column in piece.columns.items()}
    if not pieces:
        what = f"none of its {len(skipped)} lines is a JSON object" if skipped else "it is empty"
        raise DataError(f"{source} holds no rows: {what}")
    names = dict.fromkeys(name for piece in pieces for name in piece.columns)
    columns = {name: stacked([(piece.columns.get(name), piece.n_rows) for piece in pieces]) for name in names}
    numbers = np.concatenate([piece.lines for piece in pieces if piece.lines is not None])
    return RawTable(source, columns, lines=numbers, row_name="line", skipped=skipped)


def _coded(column: Cells) -> Cells:
    """Text as codes; any other column as it is."""
    if isinstance(column, Coded) or column.dtype != object:
        return column
    if not all(cell is None or isinstance(cell, str) for cell in column):
        return column
    names, codes = as_codes(column)
    return Coded(codes, names)


def json_table(text: str, source: str) -> RawTable:
    """A list of objects, columns as lists, an object around such a list, objects by name, or one object (one row)."""
    try:
        value = json_value(text)
    except ValueError as error:
        if "Extra data" in str(error) or text.lstrip()[:1] == "{":
            return lines_table(StringIO(text), source)  # JSON lines under the name .json
        raise DataError(f"{source} is not JSON: {error}") from None
    skipped: list[Skipped] = []
    return _table(_records(value, source, skipped), source, "record", skipped)


def _records(value: object, source: str, skipped: list[Skipped]) -> list[tuple[int, Record]]:
    """The rows in a JSON value, each with its number."""
    if isinstance(value, list):
        kept = [(number, item) for number, item in enumerate(value, 1) if isinstance(item, dict) and item]
        if not kept:
            raise DataError(f"{source} holds no rows: its list has no objects")
        lost = sorted({*range(1, len(value) + 1)} - {number for number, _ in kept})
        skipped += [Skipped(f"{source}, record {number}", _NO_RECORD) for number in lost]
        return kept
    if not isinstance(value, dict) or not value:
        raise DataError(f"{source} holds no rows: it is neither a list of objects nor an object")
    columns = {key: column for key, column in value.items() if isinstance(column, list)}
    if {"columns", "data"} <= set(columns) and set(value) <= {"columns", "data", "index"}:
        return _split_rows(columns["columns"], columns["data"], source, skipped)
    if len(columns) == len(value) > 1 and all(columns.values()):
        by_key = _by_key(columns)
        if by_key is not None:
            return list(enumerate(by_key, 1))
    if len(columns) == len(value) and len({len(column) for column in columns.values()}) == 1:
        n_rows = len(next(iter(columns.values())))
        if n_rows and not all(isinstance(cell, dict) for column in columns.values() for cell in column):
            return [(row + 1, {key: column[row] for key, column in columns.items()}) for row in range(n_rows)]
    tables = [key for key, column in columns.items() if column and all(isinstance(cell, dict) for cell in column)]
    scalar = all(not isinstance(item, (dict, list)) for key, item in value.items() if key not in tables)
    if len(tables) == 1 and scalar:
        return _records(value[tables[0]], source, skipped)
    if len(value) > 1 and all(isinstance(inner, dict) and inner for inner in value.values()):
        keys = [set(inner) for inner in value.values()]
        if all(key == keys[0] for key in keys[1:]):
            return [(number, {"key": key, **item}) for number, (key, item) in enumerate(value.items(), 1)]
    return [(1, value)]


def _split_rows(
    heads: list[object], data: list[object], source: str, skipped: list[Skipped]
) -> list[tuple[int, Record]]:
    """Names of columns and lists of cells, as pandas writes with ``orient="split"``."""
    whole = {number: row for number, row in enumerate(data, 1) if isinstance(row, list) and len(row) == len(heads)}
    if not whole:
        raise DataError(f"{source} holds no rows: no list in 'data' has as many cells as there are 'columns'")
    why = f"it is no list of {len(heads)} cells"
    skipped += [Skipped(f"{source}, record {number}", why) for number in range(1, len(data) + 1) if number not in whole]
    keys = [".".join(map(str, head)) if isinstance(head, list) else str(head) for head in heads]
    return [(number, dict(zip(keys, row, strict=True))) for number, row in whole.items()]


def _by_key(lists: dict[str, list[Json]]) -> list[Record] | None:
    """A row per item of lists by name, ``{task: [...]}`` or ``{model: [...]}``; None where the names are columns'.

    Numbered names are problems, any others families. They are columns where one reads like a score or a role, or where
    a list holds text.
    """
    cells = [cell for column in lists.values() for cell in column]
    numbered = len({re.sub(r"\d+", "#", key) for key in lists}) * 2 <= len(lists)
    if all(isinstance(cell, dict) and cell for cell in cells):
        owner = "problem" if numbered else "key"
        return [{owner: key, **cell} for key, column in lists.items() for cell in column]
    if not all(cell is None or isinstance(cell, (bool, int, float)) for cell in cells):
        return None
    words = {key: names.tokens(key) for key in lists}
    if any(names.is_metric(key) or {*words[key]} & _COLUMNS or not words[key] for key in lists) and not numbered:
        return None
    if any(_SAMPLE_NAME.fullmatch(key) for key in lists):
        return None
    same_length = len({len(column) for column in lists.values()}) == 1
    if same_length and not numbered and len(lists) > 2 and not _alike(list(lists.values())):
        return None
    score = "correct" if all(cell in (None, 0, 1) for cell in cells) else "score"
    role = "problem" if numbered else "family"
    return [{role: key, score: cell} for key, column in lists.items() for cell in column]


def _alike(columns: list[list[object]]) -> bool:
    """Whether columns of numbers are on one scale, as scores of several models are and settings are not."""
    middle = [abs(float(np.median([cell for cell in column if cell is not None]))) for column in columns]
    return min(middle) > 0 and max(middle) <= 5 * min(middle)


def _table(records: Sequence[tuple[int, Record]], source: str, row_name: str, skipped: list[Skipped]) -> RawTable:
    """Columns from numbered records: the union of their fields in order of first appearance."""
    columns: dict[str, list[object]] = {}
    for row, (_, record) in enumerate(records):
        for name, value in _flat(record, "", 0):
            if name not in columns:
                columns[name] = [None] * len(records)
            columns[name][row] = value
    numbers = np.array([number for number, _ in records], dtype=np.int64)
    typed_columns = {name: typed(column) for name, column in columns.items()}
    return RawTable(source, typed_columns, lines=numbers, row_name=row_name, skipped=skipped)


def _flat(value: Record, prefix: str, depth: int) -> Iterator[tuple[str, object]]:
    for key, inner in value.items():
        name = f"{prefix}{key}"
        if isinstance(inner, dict) and inner and depth < _DEEP:
            yield from _flat(inner, f"{name}.", depth + 1)
        else:
            yield name, None if isinstance(inner, dict) and not inner else inner
