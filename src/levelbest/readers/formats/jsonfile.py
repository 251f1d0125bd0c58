"""JSON and JSON lines, record by record; nested objects become dotted columns, lists stay whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from itertools import islice

import numpy as np

from levelbest._read import limit_of, refuse_more
from levelbest.errors import DataError
from levelbest.readers.formats._shapes import NO_RECORD, records_in
from levelbest.readers.raw import Cells, Coded, RawTable, as_codes, stacked, typed
from levelbest.readers.tables.files import Record, json_lines, json_value
from levelbest.trials import Skipped

__all__ = ["json_table", "lines_table"]

_DEEP = 40
_PIECE = 100_000


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
                skipped.append(Skipped(f"{source}, line {number}", why or NO_RECORD))
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


def json_table(text: str, source: str, rows: str | None = None) -> RawTable:
    """The rows of a JSON document, wherever they are in it; ``rows`` is the dotted path to them."""
    try:
        value = json_value(text)
    except ValueError as error:
        if "Extra data" in str(error) or text.lstrip()[:1] == "{":
            return lines_table(StringIO(text), source)  # JSON lines under the name .json
        raise DataError(f"{source} is not JSON: {error}") from None
    skipped: list[Skipped] = []
    return _table(records_in(value, source, skipped, rows), source, "record", skipped)


def _table(records: Sequence[tuple[int, Record]], source: str, row_name: str, skipped: list[Skipped]) -> RawTable:
    """Columns from numbered records: the union of their fields in order of first appearance."""
    columns: dict[str, list[object]] = {}
    most = limit_of("COLUMNS")
    for row, (_, record) in enumerate(records):
        if len(columns) > most:
            every = {name for _, fields in records for name, _ in _flat(fields, "", 0)}
            refuse_more(len(every), "columns", source)
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
