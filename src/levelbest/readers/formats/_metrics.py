"""A run's own metrics file, in whatever plain form it was written: JSON, JSON lines, YAML or CSV."""

from __future__ import annotations

from io import StringIO
from pathlib import PurePosixPath

from levelbest.readers.columns import cell_list
from levelbest.readers.formats._rows import Record, flatten, load_yaml, number, rows_by_step
from levelbest.readers.formats._tree import Tree
from levelbest.readers.tables.delimited import parse_delimited
from levelbest.readers.tables.files import json_lines, json_value
from levelbest.trials import Skipped

__all__ = ["csv_rows", "measured"]

_STEPS = ("step", "global_step", "epoch", "iteration", "training_iteration", "_step")


def measured(tree: Tree, name: str, skipped: list[Skipped]) -> list[Record]:
    """The rows of a metrics file: one where it holds one result, one per step where it is a log.

    None where there is no such file; one that cannot be read, and a broken line, are listed.
    """
    if name not in tree.files:
        return []
    try:
        return _rows(name, tree.text(name), skipped)
    except ValueError as error:
        skipped.append(Skipped(name, f"not read: {error}"))
        return []


def _rows(name: str, text: str, skipped: list[Skipped]) -> list[Record]:
    kind = PurePosixPath(name).suffix.lower()
    if kind == ".csv":
        return _merged(csv_rows(name, text, skipped))
    if kind in (".yaml", ".yml"):
        return _of_value(load_yaml(text))
    if kind == ".jsonl":
        return _merged(_json_rows(name, text, skipped))
    try:
        return _of_value(json_value(text))
    except ValueError as error:
        if len(text.strip().splitlines()) > 1 and text.lstrip()[:1] == "{" and "Extra data" in str(error):
            return _merged(_json_rows(name, text, skipped))
        raise


def _of_value(value: object) -> list[Record]:
    if isinstance(value, dict) and value:
        return [flatten(value)]
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return _merged([flatten(item) for item in value])
    if isinstance(value, int | float) and not isinstance(value, bool):
        return [{"value": value}]
    raise ValueError("it holds no metrics by name")


def _json_rows(name: str, text: str, skipped: list[Skipped]) -> list[Record]:
    rows = []
    for place, value, why in json_lines(StringIO(text)):
        try:
            rows += _of_value(value)
        except ValueError as error:
            skipped.append(Skipped(f"{name}, line {place}", f"not read: {why or error}"))
    if not rows:
        raise ValueError("no line of it holds metrics")
    return rows


def csv_rows(name: str, text: str, skipped: list[Skipped]) -> list[Record]:
    """The rows of a CSV text, of each the filled cells."""
    table = parse_delimited(text, name)
    if not table.n_rows:
        raise ValueError("it has no row below its header")
    skipped += table.skipped
    cells = {key: cell_list(column) for key, column in table.columns.items()}
    rows = zip(*cells.values(), strict=True)
    return [{key: cell for key, cell in zip(cells, row, strict=True) if cell is not None} for row in rows]


def _merged(rows: list[Record]) -> list[Record]:
    """Rows of one step as one: loggers write training and validation values of a step into rows of their own."""
    step = next((name for name in _STEPS if any(name in row for row in rows)), None)
    if step is None or len(rows) == 1:
        return rows
    last: object = -1
    points: list[tuple[str, object, object]] = []
    for row in rows:
        place = number(row.get(step))
        last = last if place is None else place
        points += [(key, last, value) for key, value in row.items() if key != step]
    merged = rows_by_step(points)
    return [{**{key: value for key, value in row.items() if key != "step"}, step: row["step"]} for row in merged]
