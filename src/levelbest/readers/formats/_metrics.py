"""A run's own metrics file, in whatever plain form it was written: JSON, JSON lines, YAML or CSV."""

from __future__ import annotations

import csv
import io
from pathlib import PurePosixPath

from levelbest.readers.formats._rows import Record, flatten, load_yaml, number, parse_json, rows_by_step
from levelbest.trials import Skipped

__all__ = ["metric_rows"]

_STEPS = ("step", "global_step", "epoch", "iteration", "training_iteration", "_step")


def metric_rows(name: str, text: str, skipped: list[Skipped]) -> list[dict[str, object]]:
    """The rows of a metrics file: one where it holds one result, one per step where it is a log.

    ValueError where it cannot be read at all; a broken line is listed.
    """
    kind = PurePosixPath(name).suffix.lower()
    if kind == ".csv":
        return _merged(_csv_rows(name, text, skipped))
    if kind in (".yaml", ".yml"):
        return _of_value(load_yaml(text))
    if kind == ".jsonl":
        return _merged(_json_lines(name, text, skipped))
    try:
        return _of_value(parse_json(text))
    except ValueError as error:
        if len(text.strip().splitlines()) > 1 and text.lstrip()[:1] == "{" and "Extra data" in str(error):
            return _merged(_json_lines(name, text, skipped))
        raise


def _of_value(value: object) -> list[dict[str, object]]:
    if isinstance(value, dict) and value:
        return [flatten(value)]
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return _merged([flatten(item) for item in value])
    if isinstance(value, int | float) and not isinstance(value, bool):
        return [{"value": value}]
    raise ValueError("it holds no metrics by name")


def _json_lines(name: str, text: str, skipped: list[Skipped]) -> list[dict[str, object]]:
    rows = []
    for place, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                rows += _of_value(parse_json(line))
            except ValueError as error:
                skipped.append(Skipped(f"{name}, line {place}", f"not read: {error}"))
    if not rows:
        raise ValueError("no line of it holds metrics")
    return rows


def _csv_rows(name: str, text: str, skipped: list[Skipped]) -> list[Record]:
    try:
        lines = list(csv.reader(io.StringIO(text, newline="")))
    except csv.Error as error:
        raise ValueError(str(error)) from error
    if len(lines) < 2:
        raise ValueError("it has no row below its header")
    header, rows = [cell.strip() for cell in lines[0]], []
    for place, cells in enumerate(lines[1:], start=2):
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(header):
            skipped.append(Skipped(f"{name}, line {place}", f"it has {len(cells)} cells and the header {len(header)}"))
            continue
        filled = ((key, cell.strip()) for key, cell in zip(header, cells, strict=True) if key and cell.strip())
        rows.append({key: cell if (value := number(cell)) is None else value for key, cell in filled})
    return rows


def _merged(rows: list[dict[str, object]]) -> list[dict[str, object]]:
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
