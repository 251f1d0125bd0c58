"""One tidy table for anyone's results: a row per trial, a column per role, and what the scores are beside them.

    family, selection, reported, cost, task, group, weight, stratum, cluster, search, seed, sample, path, status, order,
    config.*, other.*, direction, selection_name, ...

Columns that a source does not have are not written. What is the same for every row (the direction, the scores' names,
bounds, the unit of cost) is a column too, so that a plain CSV file says all that is needed to read it back. Columns
``other.*`` are unused; they are kept for people and other tools, and not read back.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

import numpy as np

from levelbest import _check
from levelbest._check import Column, FloatArray
from levelbest._plain import guarded
from levelbest._write import replacing
from levelbest.errors import InputError
from levelbest.readers.raw import Cells, LazyColumns, RawTable, as_codes, cell_list, texts
from levelbest.trials import STATUSES, Trials, data_splits

__all__ = ["FORMATS", "MARKS", "TEXT", "mark_roles", "tidy_columns", "tidy_text", "write_table"]

FORMATS = ("csv", "jsonl", "parquet")
MARKS = frozenset({"family", "selection", "status", "direction", "selection_name"})
"""Columns by which a tidy table is known."""
TEXT = frozenset({"family", "task", "group", "stratum", "cluster", "search"})
"""Columns of names, even where a name looks like a number."""
_ROLES = (*sorted(TEXT), "selection", "reported", "cost", "weight", "seed", "status", "order", "path")
_PREFIX, _OTHER = "config.", "other."
_CHUNK = 50_000


def tidy_columns(trials: Trials, *, hide: tuple[str, ...] = ()) -> dict[str, Column]:
    """The columns of the tidy table; ``hide`` leaves out configuration columns."""
    unknown = [name for name in hide if name not in {**trials.configuration, **trials.others}]
    if unknown:
        names = [*trials.configuration, *trials.others]
        near = _check.nearest_first(unknown[0], names) if names else "there are none"
        raise InputError(f"there is no configuration column {unknown[0]!r} to hide; {near}")
    known: dict[str, Column | None] = {
        "family": _named(trials.families, trials.family),
        "selection": trials.selection,
        "reported": trials.reported,
        "cost": trials.cost,
        "task": _named(trials.tasks, trials.task),
        "group": _named(trials.groups, trials.group),
        "weight": _named(trials.weights, trials.group),
        "stratum": _named(trials.strata or None, trials.group),
        "cluster": _named(trials.clusters or None, trials.group),
        "search": _named(trials.searches, trials.search),
        **_seeds(trials),
        "sample": trials.sample,
        "path": trials.path,
        "status": _named(STATUSES, trials.status),
        "order": trials.order,
    }
    columns = {name: column for name, column in known.items() if column is not None}
    columns |= {
        _PREFIX + name.removeprefix(_PREFIX): column
        for name, column in trials.configuration.items()
        if name not in hide
    }
    columns |= {_OTHER + name: column for name, column in trials.others.items() if name not in hide}
    samplers = [trials.facts.get(f"sampler:{name}") for name in trials.families]
    if any(sampler is not None for sampler in samplers):
        columns["sampler"] = np.array(samplers, dtype=object)[trials.family]
    metric = trials.metric
    constants = {
        "direction": metric.direction,
        "selection_name": metric.selection,
        "reported_name": metric.reported,
        "cost_name": metric.cost,
        "cost_unit": metric.cost_unit,
        "bounds_low": metric.bounds[0],
        "bounds_high": metric.bounds[1],
    }
    for name, value in constants.items():
        if value is not None:
            columns[name] = np.full(len(trials), value, dtype=object if isinstance(value, str) else np.float64)
    return columns


def _seeds(trials: Trials) -> dict[str, Column | None]:
    """The seed of each trial; data splits under their own name, which tells what they are."""
    name, splits = data_splits(trials) or ("", None)
    of_splits = splits is not None and name not in trials.configuration
    return {_PREFIX + name: splits} if of_splits else {"seed": trials.seed}


def _named(names: Sequence[object] | FloatArray | None, codes: Column | None) -> Column | None:
    """What each row's code stands for; None where there is none."""
    if names is None or codes is None:
        return None
    by_row: Column = (names if isinstance(names, np.ndarray) else np.array(names, dtype=object))[codes]
    return by_row


def write_table(trials: Trials, path: str | Path, *, kind: str | None = None, hide: tuple[str, ...] = ()) -> Path:
    """Write the trials as a tidy table: CSV, JSON lines or Parquet by the path's ending, or as ``kind`` says.

    Reading it back gives the same trials. The file appears whole or not at all.
    """
    path = Path(path)
    kind = _check.as_choice(kind or path.suffix.lower().removeprefix("."), FORMATS, "table format")
    columns = tidy_columns(trials, hide=hide)
    with replacing(path) as fresh:
        if kind == "parquet":
            _write_parquet(columns, fresh)
        else:
            with open(fresh, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
                (_write_csv if kind == "csv" else _write_lines)(columns, file)
    return path


def tidy_text(trials: Trials, kind: str = "csv", *, hide: tuple[str, ...] = ()) -> str:
    """The tidy table as text, CSV or JSON lines."""
    _check.as_choice(kind, ("csv", "jsonl"), "text format")
    out = io.StringIO(newline="")
    (_write_csv if kind == "csv" else _write_lines)(tidy_columns(trials, hide=hide), out)
    return out.getvalue()


def _rows(columns: Mapping[str, Column]) -> Iterator[tuple[object, ...]]:
    size = len(next(iter(columns.values())))
    for start in range(0, size, _CHUNK):
        part = slice(start, start + _CHUNK)
        yield from zip(*(_cells(column[part]) for column in columns.values()), strict=True)


def _cells(column: Column) -> list[object]:
    """Python values: whole numbers without a point, None where there is nothing."""
    if column.dtype.kind != "f":
        return cell_list(column)
    whole = bool(np.all(np.isnan(column) | ((column == np.floor(column)) & (np.abs(column) < 2**53))))
    return [None if cell != cell else int(cell) if whole else cell for cell in column.tolist()]


def _write_csv(columns: Mapping[str, Column], file: IO[str]) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([guarded(name) for name in columns])
    for row in _rows(columns):
        # Text is guarded; csv writes None as nothing and a float as its repr.
        writer.writerow([guarded(cell) if isinstance(cell, str) else cell for cell in row])


def _write_lines(columns: Mapping[str, Column], file: IO[str]) -> None:
    names = list(columns)
    for row in _rows(columns):
        plain = (repr(cell) if isinstance(cell, float) and np.isinf(cell) else cell for cell in row)
        record = dict(zip(names, plain, strict=True))
        file.write(json.dumps(record, ensure_ascii=False, allow_nan=False, default=str) + "\n")


def _write_parquet(columns: Mapping[str, Column], path: Path) -> None:
    from levelbest.readers.tables.engine import connect, name_of, quoted

    connection = connect()
    arrays = {f"c{place}": _storable(column) for place, column in enumerate(columns.values())}
    named = ", ".join(f"c{place} AS {name_of(name)}" for place, name in enumerate(columns))
    connection.register("arrays", arrays)
    connection.execute(f"COPY (SELECT {named} FROM arrays) TO {quoted(str(path))} (FORMAT parquet, COMPRESSION zstd)")


def _storable(column: Column) -> Column:
    """A column of one kind: numbers, truth values, or text where kinds are mixed."""
    if column.dtype.kind in "iufb":
        return column
    kinds = {type(cell) for cell in column if cell is not None}
    if kinds and kinds <= {bool}:
        return column
    return texts(column)


def mark_roles(table: RawTable) -> RawTable:
    """A tidy table knows its roles, direction and names; any other table is left as it is."""
    if not set(table.columns) >= MARKS:
        return table
    table.roles = {role: role for role in _ROLES if role in table.columns}
    table.columns = _without_others(table.columns)
    table.configuration = [name for name in table.columns if name.startswith(_PREFIX)]
    table.direction = _only(table, "direction")
    if table.direction is not None:
        _check.as_direction(table.direction)
    table.cost_unit = _only(table, "cost_unit")
    kept = {f"{role}_name": f"name:{role}" for role in ("selection", "reported", "cost")}
    for column, fact in (kept | {f"bounds_{side}": f"bounds:{side}" for side in ("low", "high")}).items():
        value = _only(table, column)
        if value is not None:
            table.facts[fact] = value
    if "sampler" in table.columns:
        pairs = zip(texts(table.columns["family"]), texts(table.columns["sampler"]), strict=True)
        table.facts |= {f"sampler:{family}": sampler for family, sampler in dict(pairs).items() if sampler is not None}
    return table


def _without_others(columns: Mapping[str, Cells]) -> Mapping[str, Cells]:
    names = [name for name in columns if not name.startswith(_OTHER)]
    if len(names) == len(columns):
        return columns
    if isinstance(columns, LazyColumns):
        return LazyColumns(names, columns.n_rows, columns.__getitem__, columns.numbers)
    return {name: columns[name] for name in names}


def _only(table: RawTable, name: str) -> str | None:
    """The one value of a column that says the same in every row."""
    if name not in table.columns:
        return None
    values = [value for value in as_codes(table.columns[name])[0] if value.strip()]
    if len(values) > 1:
        raise InputError(f"{table.source}: {name} must be the same in every row, got {', '.join(values[:3])}")
    return values[0] if values else None
