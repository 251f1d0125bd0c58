"""JSON and JSON lines, record by record; nested objects become dotted columns, lists stay whole."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from levelbest.errors import DataError
from levelbest.readers.columns import typed
from levelbest.readers.raw import RawTable
from levelbest.readers.steps import names
from levelbest.trials import Skipped

__all__ = ["parse_json", "parse_lines", "table_of"]

Record = dict[str, object]
_COLUMNS = names.word_set(
    "lr rate wd decay seed epoch step batch layers width depth dropout momentum time runtime cost seconds hours id "
    "index trial run config params status state"
)
_SAMPLE_NAME = re.compile(r"(s|sample|run|seed|trial|rep|completion|attempt|k)[ _-]?\d+", re.IGNORECASE)
_DEEP = 40


def parse_lines(text: str, source: str) -> RawTable:
    """One object per line; a line that is not an object is skipped and reported."""
    records: list[Record] = []
    numbers: list[int] = []
    skipped: list[Skipped] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            skipped.append(Skipped(f"{source}, line {number}", f"it is not JSON: {_reason(error)}"))
            continue
        if isinstance(value, dict) and value:
            records.append(value)
            numbers.append(number)
        else:
            skipped.append(Skipped(f"{source}, line {number}", "it is not a JSON object with fields"))
    if not records:
        what = f"none of its {len(skipped)} lines is a JSON object" if skipped else "it is empty"
        raise DataError(f"{source} holds no rows: {what}")
    return table_of(records, source, numbers, "line", skipped)


def parse_json(text: str, source: str) -> RawTable:
    """A list of objects, columns as lists, an object around such a list, objects by name, or one object (one row)."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise DataError(f"{source} is nested too deeply to be a table") from None
    except ValueError as error:
        if "Extra data" in str(error) or text.lstrip()[:1] == "{":
            return parse_lines(text, source)  # JSON lines under the name .json
        raise DataError(f"{source} is not JSON: {_reason(error)}") from None
    skipped: list[Skipped] = []
    records, numbers = _records(value, source, skipped)
    return table_of(records, source, numbers, "record", skipped)


def _reason(error: BaseException) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error).split(";")[0]


def _records(value: object, source: str, skipped: list[Skipped]) -> tuple[list[Record], list[int]]:
    if isinstance(value, list):
        for number, one in enumerate(value, 1):
            if not isinstance(one, dict) or not one:
                skipped.append(Skipped(f"{source}, record {number}", "it is not a JSON object with fields"))
        kept = [(number, one) for number, one in enumerate(value, 1) if isinstance(one, dict) and one]
        if not kept:
            raise DataError(f"{source} holds no rows: its list has no objects")
        return [one for _, one in kept], [number for number, _ in kept]
    if not isinstance(value, dict) or not value:
        raise DataError(f"{source} holds no rows: it is neither a list of objects nor an object")
    columns = {key: column for key, column in value.items() if isinstance(column, list)}
    if len(columns) == len(value) > 1 and all(columns.values()):
        by_key = _by_key(columns)
        if by_key is not None:
            return by_key, list(range(1, len(by_key) + 1))
    if len(columns) == len(value) and len({len(column) for column in columns.values()}) == 1:
        n_rows = len(next(iter(columns.values())))
        if n_rows and not all(isinstance(cell, dict) for column in columns.values() for cell in column):
            rows = [{key: column[row] for key, column in columns.items()} for row in range(n_rows)]
            return rows, list(range(1, n_rows + 1))
    tables = [key for key, column in columns.items() if column and all(isinstance(cell, dict) for cell in column)]
    scalar = all(not isinstance(one, (dict, list)) for key, one in value.items() if key not in tables)
    if len(tables) == 1 and scalar:
        return _records(value[tables[0]], source, skipped)
    if len(value) > 1 and all(isinstance(inner, dict) and inner for inner in value.values()):
        keys = [set(inner) for inner in value.values()]
        if all(key == keys[0] for key in keys[1:]):
            return [{"key": key, **one} for key, one in value.items()], list(range(1, len(value) + 1))
    return [value], [1]


def _by_key(lists: dict[str, list[Any]]) -> list[Record] | None:
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


def table_of(records: list[Record], source: str, numbers: list[int], row_name: str, skipped: list[Skipped]) -> RawTable:
    """Columns from records: the union of their fields in order of first appearance."""
    columns: dict[str, list[Any]] = {}
    for row, record in enumerate(records):
        for name, value in _flat(record, "", 0):
            column = columns.get(name)
            if column is None:
                columns[name] = column = []
            if len(column) <= row:
                column.extend([None] * (row - len(column)))
                column.append(value)
            else:
                column[row] = value
    for column in columns.values():
        column.extend([None] * (len(records) - len(column)))
    return RawTable(
        source=source,
        columns={name: typed(column) for name, column in columns.items()},
        lines=np.array(numbers, dtype=np.int64),
        row_name=row_name,
        skipped=skipped,
    )


def _flat(value: Record, prefix: str, depth: int) -> Iterator[tuple[str, object]]:
    for key, inner in value.items():
        name = f"{prefix}{key}"
        if isinstance(inner, dict) and inner and depth < _DEEP:
            yield from _flat(inner, f"{name}.", depth + 1)
        else:
            yield name, None if isinstance(inner, dict) and not inner else inner
