"""Shared by the readers of tracker files: rows to columns and tables, plain YAML, SQLite opened for reading only."""

from __future__ import annotations

import json
import math
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from levelbest._check import Column
from levelbest._read import open_file
from levelbest._sqlite import BESIDE, connect, limit_work
from levelbest.errors import DataError, InputError, LevelbestError
from levelbest.readers.raw import RawTable, typed
from levelbest.readers.raw import number as number
from levelbest.readers.tables.files import Json, Record

__all__ = ["Record", "RunLog", "columns_of", "flatten", "has_tables", "load_yaml", "looks_like_sqlite", "number"]
__all__ += [
    "open_sqlite",
    "open_store",
    "part_of",
    "rows_by_step",
    "rows_table",
    "runs_table",
    "scored_table",
    "seed_of",
    "system_names",
    "table_names",
    "whole",
]

_MOST_LEAVES = 20_000
"""A few lines of YAML aliases can stand for billions of values: past this, a document is refused."""
_OPERATED = {
    "seed",
    "timeout",
    "max_connections",
    "adaptive_connections",
    "max_retries",
    "num_retries",
    "attempt_timeout",
}
_OPERATED |= {"stream_idle_timeout", "batch", "cache", "api_key", "api_base", "base_url"}
"""Settings of how a system was run, and not of what it is."""
_DOLLARS = "cost_usd"
_SEEDS = {"seed", "random_seed", "random_state", "rng_seed", "params_seed", "params_random_state"}


def columns_of(
    rows: Sequence[Mapping[str, object]], first: Sequence[str] = (), *, numbers: Sequence[str] = ()
) -> dict[str, Column]:
    """Rows as columns, in order of first appearance after ``first``; those named in ``numbers`` hold nothing else.

    A row that has no such value is masked there, which NaN is not: a score of NaN was measured.
    """
    names = dict.fromkeys([*first, *(name for row in rows for name in row)])
    columns = {name: [row.get(name) for row in rows] for name in names}
    given = {name: [number(value) for value in values] for name, values in columns.items() if name in numbers}
    return {name: typed(given.get(name, values), numeric=name in numbers) for name, values in columns.items()}


def rows_table(
    source: str,
    rows: Sequence[Mapping[str, object]],
    roles: Mapping[str, str],
    about: str,
    *,
    settings: str | Iterable[str] | None = None,
    first: Sequence[str] = (),
    numbers: Sequence[str] = (),
    **known: Any,
) -> RawTable:
    """Rows as the table of a tool: the roles whose columns there are, its hyperparameters, and the seed among them.

    ``settings`` names the hyperparameters, or is what their names begin with; costs are seconds, or dollars in the
    column of these; ``known`` is what else is known of the table (direction, facts, skipped ...). They are many because
    they are what a table is made of.
    """
    columns = columns_of(rows, first, numbers=[*numbers, *(roles.get(role, "") for role in ("cost", "order"))])
    configuration = [] if settings is None else list(settings)
    if isinstance(settings, str):
        configuration = [name for name in columns if name.startswith(settings)]
    given = {role: name for role, name in roles.items() if name in columns}
    known.setdefault("cost_unit", None if "cost" not in given else "$" if given["cost"] == _DOLLARS else "s")
    known["facts"] = {"format": about, **known.get("facts", {})}
    return RawTable(source, columns, roles=seed_of(configuration) | given, configuration=configuration, **known)


@dataclass
class RunLog:
    """One run of a tracker."""

    family: str
    name: str
    status: str
    settings: Record = field(default_factory=dict)
    logged: Sequence[Record] = ()
    """A row for each step; one where the tool keeps the last values alone, none where nothing was measured."""
    whole: Record = field(default_factory=dict)
    """What holds for the whole run: its cost, its tags."""


def runs_table(
    source: str, runs: Iterable[RunLog], family: str, run: str, about: str, *, steps: bool, **known: Any
) -> RawTable:
    """Runs, in the order in which they began, as a table with these columns for the family and the run.

    ``steps``: rows are steps of runs; ``known`` may name the column of the ``cost``, a part of ``whole``.
    """
    rows: list[Record] = []
    settings: dict[str, None] = {}
    for order, log in enumerate(runs):
        settings |= dict.fromkeys(log.settings)
        common = {family: log.family, run: log.name, "status": log.status, "order": order, **log.whole, **log.settings}
        rows += [{**common, **row} for row in log.logged or [{}]]
    roles = {"family": family, "status": "status", "order": "order", "search": "search"}
    roles |= {"trial": run} if steps else {}
    cost = known.pop("cost", None)
    roles |= {"cost": cost} if cost else {}
    first = [family, run, "status", "order", *([cost] if cost else []), *settings]
    return rows_table(source, rows, roles, about, settings=settings, first=first, **known)


def scored_table(
    source: str, rows: Sequence[Record], about: str, scores: Iterable[str], *, several: bool, **known: Any
) -> RawTable:
    """Scores of models on a task, a row for each sample, try or model: the family is the model.

    Where there are ``several`` tasks it is still the model if rows are of problems, which are compared task by task and
    on average over tasks; else the model and the task. One of ``scores`` alone is the selection score. The cost is in
    dollars where the tool wrote any, else in seconds.
    """
    roles = {"family": "system", "group": "problem", "order": "order", "status": "status", "seed": "seed"}
    roles |= {"cost": cost_column(rows)} | known.pop("roles", {})
    only = list(dict.fromkeys(scores))
    if len(only) == 1:
        roles["selection"] = only[0]
        known.setdefault("direction", known.get("facts", {}).get(f"direction:{only[0]}"))
    elif only and any("problem" in row for row in rows):
        known["facts"] = {**known.get("facts", {}), "scores": ", ".join(map(repr, only))}
    apart = several and not any("problem" in row for row in rows)
    systems = [f"{row['model']} / {row['task']}" if apart else row["model"] for row in rows]
    named = [{"system": system, **row} for system, row in zip(systems, rows, strict=True)]
    return rows_table(source, named, roles, about, **known)


def cost_column(rows: Iterable[Record], timed: str = "seconds") -> str:
    """The column of dollars if one of them was spent (tools write 0 where they know no price), else of seconds."""
    return _DOLLARS if any(row.get(_DOLLARS) for row in rows) else timed


def system_names(systems: Sequence[tuple[str, str, Record]]) -> list[str]:
    """Of each (model, task, settings) its model, with the settings in which it differs from others on the same task."""
    by_task: dict[tuple[str, str], list[Record]] = {}
    for model, task, settings in systems:
        by_task.setdefault((model, task), []).append(settings)
    differing: dict[str, dict[str, None]] = {}
    for (model, _), several in by_task.items():
        keys = dict.fromkeys(key for settings in several for key in settings if key.rpartition(".")[2] not in _OPERATED)
        apart = [key for key in keys if len({repr(settings.get(key)) for settings in several}) > 1]
        differing.setdefault(model, {}).update(dict.fromkeys(apart))
    names, known = [], dict[str, dict[str, int]]()
    for model, _, settings in systems:
        given = {key: settings[key] for key in differing[model] if settings.get(key) is not None}
        shown = [f"{_short_key(key, differing[model])}={_shortened(str(value))}" for key, value in given.items()]
        name = f"{model} ({', '.join(shown)})" if shown else model
        alike = known.setdefault(name, {})  # settings that only their middles tell apart are numbered
        number_of = alike.setdefault(repr(given), len(alike) + 1)
        names.append(name if number_of == 1 else f"{name} ({number_of})")
    return names


def _short_key(key: str, others: Iterable[str]) -> str:
    """The last word of a dotted key, where no other ends with it."""
    last = key.rpartition(".")[2]
    return last if sum(other.rpartition(".")[2] == last for other in others) == 1 else key


def _shortened(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:17]}...{text[-20:]}"


def whole(value: object, otherwise: int = 0) -> int:
    """A whole number from what should be one."""
    numeric = number(value)
    return otherwise if numeric is None or not math.isfinite(numeric) else int(numeric)


def rows_by_step(points: Iterable[tuple[str, object, object]]) -> list[Record]:
    """One row per step from (name, step, value); of two values at one step the later counts.

    What a run logged once (a test score after training, a total) belongs to the run, so every row of it has it: else
    no row would hold both the selection score that chooses it and the score to report.
    """
    rows: dict[Json, Record] = {}
    counts: Counter[str] = Counter()
    last: Record = {}
    for name, step, value in points:
        row = rows.setdefault(step, {"step": step})
        if name not in row:
            counts[name] += 1
        row[name] = last[name] = value
    once = {name: last[name] for name, count in counts.items() if count == 1}
    return [{**rows[step], **once} for step in sorted(rows)]


def part_of(value: object, key: str) -> Record:
    """The object under a key; empty where there is none."""
    inner = value.get(key) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else {}


def seed_of(configuration: Iterable[str]) -> dict[str, str]:
    """The role of a hyperparameter that is plainly the random seed."""
    seeds = [name for name in configuration if name.lower().replace("/", ".").rsplit(".", 1)[-1].lstrip("-") in _SEEDS]
    return {"seed": seeds[0]} if len(seeds) == 1 else {}


def flatten(value: object, prefix: str = "") -> Record:
    """Nested mappings with dotted names; a list becomes its JSON text, for it is one value of one trial."""
    flat: Record = {}
    _flatten(value, prefix, flat, depth=0)
    return flat


def _flatten(value: object, name: str, flat: Record, depth: int) -> None:
    if len(flat) > _MOST_LEAVES or depth > 100:
        raise ValueError("it is nested too deeply")
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            _flatten(inner, f"{name}.{key}" if name else str(key), flat, depth + 1)
    elif not isinstance(value, Mapping):
        plain = value is None or isinstance(value, str | bool | int | float)
        flat[name or "value"] = value if plain else json.dumps(value, default=str)


def load_yaml(text: str) -> Json:
    """The plain data of a YAML text. A tag that asks for a Python object gives its plain parts; nothing is run."""
    import yaml

    class Plain(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # the C one is ten times faster
        pass

    def plain(loader: yaml.SafeLoader, tag: str, node: yaml.Node) -> object:
        if isinstance(node, yaml.MappingNode):
            return loader.construct_mapping(node, deep=True)
        if isinstance(node, yaml.SequenceNode):
            return loader.construct_sequence(node, deep=True)
        assert isinstance(node, yaml.ScalarNode)
        return loader.construct_scalar(node) or tag.rsplit(":", 1)[-1]  # !!python/name:torch.nn.ReLU ''

    Plain.add_multi_constructor("", plain)
    try:
        return yaml.load(text, Loader=Plain)  # a SafeLoader: tagged values come as plain data
    except (yaml.YAMLError, RecursionError, ValueError, TypeError) as error:
        raise ValueError(" ".join(str(error).split())[:200] or "not YAML") from error


def looks_like_sqlite(path: Path) -> bool:
    """Whether the file starts as every SQLite database does."""
    try:
        with open_file(path) as file:
            return file.read(16) == b"SQLite format 3\x00"
    except (OSError, InputError):
        return False


def table_names(connection: sqlite3.Connection) -> set[str]:
    """The tables that are stored in a database; a virtual one is computed, and is on no page of the file."""
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
    return {str(name) for (name,) in connection.execute(query)}


def has_tables(path: Path, names: set[str]) -> bool:
    """Whether a file is an SQLite database with tables of these names."""
    if not looks_like_sqlite(path):
        return False
    try:
        with open_sqlite(path) as connection:
            return table_names(connection) >= names
    except LevelbestError:
        return False


@contextmanager
def open_store(path: Path, tables: set[str], what: str) -> Iterator[sqlite3.Connection]:
    """A connection to a tool's database, which has these tables."""
    with open_sqlite(path) as connection:
        missing = tables - table_names(connection)
        if missing:
            raise DataError(f"{path.name} is not recognised as {what}: it has no table {', '.join(sorted(missing))}")
        for table in sorted(tables):
            computed = connection.execute(
                "SELECT name FROM pragma_table_xinfo(?) WHERE hidden > 1", (table,)
            ).fetchone()
            if computed is not None:
                raise DataError(f"{path.name} is not recognised as {what}: a column of {table} is computed, not stored")
        yield connection


@contextmanager
def open_sqlite(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that changes nothing: neither the database nor the files SQLite keeps beside it."""
    beside = [path.with_name(path.name + suffix) for suffix in BESIDE]
    try:
        with open_file(path) as file:
            header = file.read(20)
        # Bytes 18 and 19 are 2 where a write-ahead log is used. A reader of such a database makes the log's index
        # (-shm) where it is missing; without a log nobody writes, and the file can be read as one that does not change.
        logs, has_log, has_index = header[18:20] == b"\x02\x02", beside[0].exists(), beside[1].exists()
        if not logs or (has_log and has_index):
            with closing(_connect(path, "mode=ro")) as connection:
                if _answers(connection):
                    yield connection
                    return
        if not (has_log or beside[2].exists()):
            with closing(_connect(path, "immutable=1")) as connection:
                yield connection
            return
        # A writer was killed: what it committed last stands in its log, which only a writer can work in.
        with TemporaryDirectory() as folder:
            for part in (path, beside[0], beside[2]):
                if part.exists():
                    shutil.copyfile(part, Path(folder) / part.name)
            with closing(_connect(Path(folder) / path.name, "mode=rw")) as connection:
                yield connection
    except (sqlite3.Error, UnicodeDecodeError) as error:  # of a damaged name in a message
        message = "".join(letter if letter.isprintable() else " " for letter in str(error))
        raise DataError(f"{path.name} is not a readable SQLite database: {message}") from error
    except OSError as error:
        raise InputError(f"{path.name} cannot be read: {error.strerror or error}") from error


def _connect(path: Path, how: str) -> sqlite3.Connection:
    connection = connect(path, how)
    connection.execute("PRAGMA query_only = ON")
    connection.text_factory = lambda raw: raw.decode("utf-8", errors="replace")
    parts = [path, *(path.with_name(path.name + ending) for ending in BESIDE)]
    limit_work(connection, sum(part.stat().st_size for part in parts if part.exists()), path.name)
    return connection


def _answers(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    except (sqlite3.OperationalError, UnicodeDecodeError):
        return False
    return True
