"""Parts of a large table: read at once, ranked chunk by chunk, here or by the workers of a cluster.

Problems are cut, in the order of their names, into chunks of a fixed number of samples; chunks are read together as far
as the memory allows. A chunk is computed alone and in one fixed order of sums, so that neither the memory nor the
number of workers or threads changes a bit of the result.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count

import numpy as np
import numpy.typing as npt

from levelbest._check import Column, FloatArray, IntArray, sign_of
from levelbest.errors import DataError, MissingExtra
from levelbest.readers.parts._source import Source
from levelbest.readers.tables.engine import connect, reason_of
from levelbest.stats.problems import group_values
from levelbest.trials.scores import count_as_worst

__all__ = ["Workers", "compute_part", "cut_parts", "values_in_parts"]

Whole = npt.NDArray[np.signedinteger]

CHUNK = 1 << 20  # samples
BYTES = 120  # per sample while a part is read and ranked, the engine's own included
_COUNT = count()
_TABLE = 1 << 16  # labels spread over more than this many times their number are looked up by bisection


@dataclass(frozen=True)
class Workers:
    """Who reads, and within which memory in all."""

    limit: int
    engine: str = "local"
    count: int = 2


def _chunks(sizes: IntArray) -> list[tuple[int, int]]:
    """Consecutive groups, each run of at most `CHUNK` samples (or one group)."""
    ends, start, held = [], 0, 0
    for at, size in enumerate(sizes.tolist()):
        if held and held + size > CHUNK:
            ends.append((start, at))
            start, held = at, 0
        held += size
    return [*ends, (start, sizes.size)]


def cut_parts(sizes: IntArray, bytes_at_once: int) -> list[list[tuple[int, int]]]:
    """Chunks (from one group to another) by the part that they are read in."""
    parts: list[list[tuple[int, int]]] = []
    held = 0
    for start, end in _chunks(sizes):
        rows = int(sizes[start:end].sum())
        if not parts or (held + rows) * BYTES > bytes_at_once:
            parts.append([])
            held = 0
        parts[-1].append((start, end))
        held += rows
    return parts


def values_in_parts(
    source: Source, labels: Column, sizes: IntArray, budgets: IntArray, workers: Workers
) -> Iterator[FloatArray]:
    """The best of n by problem, part after part."""
    here = workers.engine == "local"
    parts = cut_parts(sizes, workers.limit // (2 if here else 2 * workers.count))
    tasks = [(source, tuple(labels[a:b].tolist() for a, b in part), budgets) for part in parts]
    if here:
        for task in tasks:
            yield compute_part(*task, threads=os.cpu_count() or 1)
        return
    try:
        import ray
    except ImportError:
        raise MissingExtra("ray", "ray") from None
    started = not ray.is_initialized()
    if started:
        # RAY_ADDRESS names a cluster; the number of its workers is its own affair
        resources = {} if os.environ.get("RAY_ADDRESS") else {"num_cpus": workers.count, "include_dashboard": False}
        ray.init(log_to_driver=False, configure_logging=False, **resources)
    try:
        remote = ray.remote(max_retries=3)(compute_part)
        yield from ray.get([remote.remote(*task) for task in tasks])
    finally:
        if started:
            ray.shutdown()


def compute_part(source: Source, chunks: Sequence[Sequence[object]], budgets: IntArray, threads: int = 1) -> FloatArray:
    """Read the samples of some chunks of groups at once, and rank them chunk by chunk."""
    labels = [name for chunk in chunks for name in chunk]
    code, selection, reported = _read(source, labels)
    small = code.astype(np.uint16) if len(labels) <= 1 << 16 else code  # radix sort for 16 bits
    order = None if (small[1:] >= small[:-1]).all() else np.argsort(small, kind="stable")
    sizes = np.bincount(code, minlength=len(labels))
    del code, small
    ends = np.cumsum(sizes)
    firsts = np.cumsum([0, *(len(chunk) for chunk in chunks)])

    def rank(at: int) -> FloatArray:
        first, last = firsts[at], firsts[at + 1]
        rows = slice(ends[first] - sizes[first], ends[last - 1])
        some = rows if order is None else order[rows]
        chosen = selection[some].astype(np.float64, copy=False)
        claimed = None if reported is None else reported[some].astype(np.float64, copy=False)
        if (bad := ~np.isfinite(chosen)).any():
            chosen, claimed = count_as_worst(chosen, claimed, bad, sign_of(source.direction), source.worst)
        return group_values(chosen, claimed, None, sizes[first:last], budgets, source.direction, reproducible=True)

    if threads == 1 or len(chunks) == 1:
        return np.concatenate([rank(at) for at in range(len(chunks))])
    with ThreadPoolExecutor(threads) as pool:
        return np.concatenate(list(pool.map(rank, range(len(chunks)))))


def _read(source: Source, labels: list[object]) -> tuple[npt.NDArray[np.int32], Column, Column | None]:
    """The place of each sample's group among the labels, its selection score and its reported score."""
    import duckdb

    connection = connect()
    kind = f"levelbest_part_{next(_COUNT)}"
    coded = source.key
    if not source.whole:
        connection.execute(f"CREATE TYPE {kind} AS ENUM ({', '.join(map(source.literal, labels))})")
        coded = f"CAST(enum_code(CAST({source.key} AS {kind})) AS INTEGER)"
    columns = [f"{coded} AS g", f"{source.number(source.selection)} AS s"]
    if source.reported is not None:
        columns.append(f"{source.number(source.reported)} AS r")
    # a problem that has no sample left is not among the labels
    ok = "" if source.failed == "worst" else f" AND {source.finished}"
    query = (
        f"SELECT {', '.join(columns)} FROM {source.relation} WHERE ({source.where}) AND {source.key} >= "
        f"{source.literal(labels[0])} AND {source.key} <= {source.literal(labels[-1])}{ok}"
    )
    try:
        columns_read = connection.execute(query).fetchnumpy()
    except duckdb.Error as error:
        raise DataError(f"the samples cannot be read: {reason_of(error)}") from None
    finally:
        if not source.whole:
            connection.execute(f"DROP TYPE {kind}")
    code: Whole = np.ma.getdata(columns_read["g"])
    if source.whole:
        code = _places(np.array(labels, dtype=np.int64), code.astype(np.int64))  # int8 less a label overflows
    reported = _plain(columns_read["r"]) if source.reported is not None else None
    return code.astype(np.int32, copy=False), _plain(columns_read["s"]), reported


def _places(labels: IntArray, code: Whole) -> Whole:
    """Where each code stands among the sorted labels, all of which it is one of."""
    low, span = int(labels[0]), int(labels[-1] - labels[0]) + 1
    if span == labels.size:
        return code - low if low else code
    if span > 8 * labels.size + _TABLE:
        return np.searchsorted(labels, code)
    table = np.zeros(span, dtype=np.int32)
    table[labels - low] = np.arange(labels.size)
    return table[code - low]


def _plain(column: Column) -> Column:
    """Numbers as they are stored; as doubles with NaN where some are missing."""
    if isinstance(column, np.ma.MaskedArray):
        return np.ma.filled(column.astype(np.float64), np.nan)
    return column
