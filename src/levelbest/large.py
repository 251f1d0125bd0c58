"""Tables of samples too large to hold: problems in parts of bounded size, read and ranked one part after the other.

Problems are cut, in the order of their names, into chunks of a fixed number of samples; chunks are read together as far
as the memory allows, or by the workers of a cluster. A chunk is computed alone and in one fixed order of sums, so that
neither the memory nor the number of workers changes a bit of the result.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import Bounds, FloatArray, IntArray
from levelbest.errors import DataError, InputError, MissingExtra
from levelbest.group_curves import group_budgets
from levelbest.readers.engine import connect, name_of, quoted, reason_of
from levelbest.readers.files import as_paths
from levelbest.stats.groups import GroupBest, average_over_groups, group_values, pass_at_k
from levelbest.trials import Metric

__all__ = ["LargeFamily", "as_memory", "best_by_group_large"]

CHUNK = 1 << 22  # samples
BYTES = 120  # per sample while a part is read and ranked, the engine's own included
ENGINES = ("local", "ray")


@dataclass(frozen=True, eq=False)
class LargeFamily:
    """One family's best of n by problem, with what was counted on the way."""

    family: str
    best: GroupBest
    metric: Metric
    n_samples: int
    n_failed: int
    failed: str


@dataclass(frozen=True)
class _Source:
    """What a worker needs to read samples: plain values, so that they can be sent anywhere."""

    files: tuple[str, ...]
    group: str
    selection: str
    reported: str | None
    where: str
    direction: str
    failed: str
    worst: float
    whole: bool = False
    """Groups are whole numbers: compared as such, so that sorted files are read in part only."""

    @property
    def key(self) -> str:
        return name_of(self.group) if self.whole else f"CAST({name_of(self.group)} AS VARCHAR)"

    @property
    def relation(self) -> str:
        return f"read_parquet([{', '.join(map(quoted, self.files))}])"


def as_memory(text: str | int) -> int:
    """``4GB`` or a number of bytes."""
    found = re.fullmatch(r"\s*([0-9.]+)\s*([kmgt]?)i?b?\s*", str(text).lower())
    size = int(float(found[1]) * 1000 ** " kmgt".index(found[2] or " ")) if found else 0
    if size < 200_000_000:
        raise InputError(f"memory must be at least 200MB, written like 4GB, got {text!r}")
    return size


def best_by_group_large(
    source: Any,
    *,
    group: str,
    selection: str,
    direction: str,
    reported: str | None = None,
    family: str | None = None,
    n: npt.ArrayLike | None = None,
    bounds: Bounds | None = None,
    failed: str = "worst",
    where: str | None = None,
    memory: str | int = "4GB",
    engine: str = "local",
    workers: int = 2,
) -> tuple[LargeFamily, ...]:
    """The best of n by problem of samples in Parquet files, within ``memory``; one result per family.

    ``where`` is a condition in SQL. With ``engine="ray"`` the parts are tasks of a Ray cluster: the one that the
    environment names, else ``workers`` processes on this machine. The files must be readable from every worker.
    """
    _check.as_direction(direction)
    _check.as_choice(engine, ENGINES, "engine")
    _check.as_choice(failed, ("worst", "drop"), "failure policy")
    limit = as_memory(memory)
    paths = [str(path.resolve()) for path in as_paths(source)]
    odd = [Path(path).name for path in paths if not path.endswith((".parquet", ".pq"))]
    if odd:
        raise InputError(f"tables read in parts must be Parquet, got {odd[0]}; convert it with levelbest convert")
    metric = Metric(direction, selection, reported, _check.as_bounds(bounds))
    base = _Source(tuple(paths), group, selection, reported, where or "true", direction, failed, 0.0)
    connection = connect()
    connection.execute(f"SET memory_limit='{limit // 2_000_000}MB'")
    base, names = _families(connection, base, family)
    return tuple(
        _one(connection, base if name is None else replace(base, where=condition), name or _stem(paths), metric,
             None if n is None else np.unique(_check.as_budgets(n)[0]), limit, engine, workers)
        for name, condition in names
    )  # fmt: skip


def _stem(paths: Sequence[str]) -> str:
    return Path(paths[0]).stem if len(paths) == 1 else Path(paths[0]).parent.name


def _families(connection: Any, source: _Source, family: str | None) -> tuple[_Source, list[tuple[str | None, str]]]:
    wanted = [
        source.group,
        source.selection,
        *([source.reported] if source.reported else []),
        *([family] if family else []),
    ]
    known = {row[0]: row[1] for row in _run(connection, f"DESCRIBE SELECT * FROM {source.relation}")}
    for name in wanted:
        if name not in known:
            raise InputError(f"there is no column {name!r}; {_check.nearest_first(name, list(known))}")
    source = replace(source, whole=known[source.group] in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT"))
    if family is None:
        return source, [(None, source.where)]
    column = f"CAST({name_of(family)} AS VARCHAR)"
    found = _run(connection, f"SELECT DISTINCT {column} AS v FROM {source.relation} WHERE {source.where} ORDER BY v")
    return source, [(str(row[0]), f"({source.where}) AND {column} = {quoted(str(row[0]))}") for row in found]


def _run(connection: Any, query: str) -> Any:
    import duckdb

    try:
        return connection.execute(query).fetchall()
    except duckdb.Error as error:
        raise DataError(f"the samples cannot be read: {reason_of(error)}") from None


def _one(
    connection: Any, source: _Source, family: str, metric: Metric, asked: IntArray | None, limit: int, engine: str,
    workers: int,
) -> LargeFamily:  # fmt: skip
    chosen = f"CAST({name_of(source.selection)} AS DOUBLE)"
    told = chosen if source.reported is None else f"CAST({name_of(source.reported)} AS DOUBLE)"
    ok = f"coalesce(isfinite({chosen}), false)"
    query = (
        f"SELECT {source.key} AS g, count(*), count(*) FILTER ({ok}), "
        f"count(*) FILTER ({ok} AND NOT coalesce(isfinite({told}), false)), min({told}) FILTER ({ok}), "
        f"max({told}) FILTER ({ok}), sum(CAST({told} AS DOUBLE)) FILTER ({ok}), "
        f"bool_and({told} IN (0, 1)) FILTER ({ok}) "
        f"FROM {source.relation} WHERE {source.where} GROUP BY g ORDER BY g"
    )
    rows = _run(connection, query)
    rows = [row for row in rows if row[0] is not None]
    if not any(row[2] for row in rows):
        raise DataError(f"{family}: none of {sum(row[1] for row in rows)} samples has a score")
    missing = sum(row[3] for row in rows)
    if missing:
        raise DataError(
            f"{family}: the reported score {source.reported!r} is missing for {missing} samples that have a selection "
            "score; fill it in, or leave these samples out with --where"
        )
    n_failed = sum(row[1] - row[2] for row in rows)
    if source.failed == "drop":
        rows = [row for row in rows if row[2]]
    sizes = np.array([row[2] if source.failed == "drop" else row[1] for row in rows], dtype=np.int64)
    binary = all(row[7] in (True, None) for row in rows)
    if binary and metric.bounds == (None, None):
        metric = replace(metric, bounds=(0.0, 1.0))
    low, high = (f(row[i] for row in rows if row[i] is not None) for f, i in ((min, 4), (max, 5)))
    observed = low if source.direction == "max" else high
    source = replace(source, worst=observed if metric.worst is None else metric.worst)
    labels = np.array([row[0] for row in rows], dtype=object)
    budgets = group_budgets(sizes) if asked is None else asked[asked <= sizes.max()]
    if not budgets.size:
        _check.as_budgets(asked, int(sizes.max())) if asked is not None else None
    if binary and source.reported is None:
        right = np.array([row[6] or 0 for row in rows]).round().astype(np.int64)
        if source.direction == "min":
            # the best score is 0; a failed sample counts as 1 and is not among them
            right = np.array([row[2] for row in rows], dtype=np.int64) - right
        chance = np.asarray(pass_at_k(right, sizes, budgets))
        by_group = chance if source.direction == "max" else 1 - chance
    else:
        by_group = np.concatenate(list(_in_parts(source, labels, sizes, budgets, limit, engine, workers)))
    value, n_groups = average_over_groups(by_group, None)
    best = GroupBest(budgets, value, by_group, n_groups, labels, sizes, None, source.direction)
    return LargeFamily(family, best, metric, int(sizes.sum()), n_failed, source.failed)


def _chunks(sizes: IntArray) -> list[tuple[int, int]]:
    """Consecutive groups, each run of at most `CHUNK` samples (or one group)."""
    ends, start, held = [], 0, 0
    for at, size in enumerate(sizes.tolist()):
        if held and held + size > CHUNK:
            ends.append((start, at))
            start, held = at, 0
        held += size
    return [*ends, (start, sizes.size)]


def _in_parts(
    source: _Source, labels: npt.NDArray[Any], sizes: IntArray, budgets: IntArray, limit: int, engine: str, workers: int
) -> Iterator[FloatArray]:
    each = limit // 2 if engine == "local" else limit // (2 * workers)
    parts: list[list[tuple[int, int]]] = []
    held = 0
    for start, end in _chunks(sizes):
        rows = int(sizes[start:end].sum())
        if not parts or (held + rows) * BYTES > each:
            parts.append([])
            held = 0
        parts[-1].append((start, end))
        held += rows
    tasks = [(source, tuple(labels[a:b].tolist() for a, b in part), budgets) for part in parts]
    if engine == "local":
        for task in tasks:
            yield compute_part(*task)
        return
    try:
        import ray
    except ImportError:
        raise MissingExtra("ray", "ray") from None
    started = not ray.is_initialized()
    if started:
        # RAY_ADDRESS names a cluster; the number of its workers is its own affair
        here = {} if os.environ.get("RAY_ADDRESS") else {"num_cpus": workers, "include_dashboard": False}
        ray.init(log_to_driver=False, configure_logging=False, **here)
    try:
        remote = ray.remote(max_retries=3)(compute_part)
        yield from ray.get([remote.remote(*task) for task in tasks])
    finally:
        if started:
            ray.shutdown()


def compute_part(source: _Source, chunks: Sequence[Sequence[Any]], budgets: IntArray) -> FloatArray:
    """Read the samples of some chunks of groups at once, and rank them chunk by chunk."""
    connection = connect()
    labels = [name for chunk in chunks for name in chunk]
    kind = "levelbest_part"
    coded = source.key
    if not source.whole:
        connection.execute(f"DROP TYPE IF EXISTS {kind}")
        connection.execute(f"CREATE TYPE {kind} AS ENUM ({', '.join(map(quoted, labels))})")
        coded = f"CAST(enum_code(CAST({source.key} AS {kind})) AS INTEGER)"
    columns = [f"{coded} AS g", f"CAST({name_of(source.selection)} AS DOUBLE) AS s"]
    if source.reported is not None:
        columns.append(f"CAST({name_of(source.reported)} AS DOUBLE) AS r")
    low, high = (str(end) if source.whole else quoted(end) for end in (labels[0], labels[-1]))
    ok = "" if source.failed == "worst" else f" AND isfinite(CAST({name_of(source.selection)} AS DOUBLE))"
    # a problem that has no sample left is not among the labels
    query = (
        f"SELECT {', '.join(columns)} FROM {source.relation} WHERE ({source.where}) "
        f"AND {source.key} >= {low} AND {source.key} <= {high}{ok}"
    )
    found = connection.execute(query).fetchnumpy()
    if not source.whole:
        connection.execute(f"DROP TYPE {kind}")
    code: npt.NDArray[Any] = np.ma.filled(found["g"], 0)
    if source.whole:
        code = np.asarray(np.searchsorted(np.array(labels, dtype=np.int64), code))
    code = code.astype(np.int32, copy=False)
    selection = np.ma.filled(found["s"], np.nan)
    reported = np.ma.filled(found["r"], np.nan) if source.reported is not None else None
    del found
    code, selection, reported = _count_failures(source, code, selection, reported)
    out = []
    first = 0
    order = np.argsort(code.astype(np.uint16) if len(labels) <= 1 << 16 else code, kind="stable")
    ends = np.cumsum(np.bincount(code, minlength=len(labels)))
    for chunk in chunks:
        last = first + len(chunk)
        rows = order[(ends[first - 1] if first else 0) : ends[last - 1]]
        mine = code[rows].astype(np.int64) - first
        out.append(
            group_values(
                selection[rows], None if reported is None else reported[rows], mine,
                np.bincount(mine, minlength=len(chunk)), budgets, source.direction, reproducible=True,
            )
        )  # fmt: skip
        first = last
    return np.concatenate(out)


def _count_failures(
    source: _Source, code: npt.NDArray[Any], selection: FloatArray, reported: FloatArray | None
) -> tuple[npt.NDArray[Any], FloatArray, FloatArray | None]:
    bad = ~np.isfinite(selection)
    if not bad.any():
        return code, selection, reported
    selection = selection.copy()
    if reported is None:
        selection[bad] = source.worst
        return code, selection, None
    # below every score: a failed sample never shares the weight of the worst one
    selection[bad] = -np.finfo(float).max if source.direction == "max" else np.finfo(float).max
    return code, selection, np.where(bad, source.worst, reported)
