"""Parts of a large table: read at once, ranked chunk by chunk, here or by the workers of a cluster.

Problems are cut, in the order of their names, into chunks of a fixed number of samples; chunks are read together as far
as the memory allows. A chunk is computed alone and in one fixed order of sums, so that neither the memory limit nor the
number of workers or threads changes the result.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from typing import Protocol

import numpy as np
import numpy.typing as npt

from levelbest._check import Budgets, Column, FloatArray, IntArray, sign_of
from levelbest._cores import on_ray
from levelbest.errors import DataError
from levelbest.readers.parts._source import Source
from levelbest.readers.raw import Codes
from levelbest.readers.tables.engine import connect, reason_of
from levelbest.stats.problems import DrawnFrom, drawn_values, group_values
from levelbest.trials.scores import count_as_worst

__all__ = ["BestOf", "DrawnWithin", "Groups", "SpentOn", "Workers", "compute_part", "cut_parts", "values_in_parts"]

Whole = npt.NDArray[np.signedinteger]

_ROWS_AT_ONCE = 1 << 20  # samples
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
    """Consecutive groups, each run of at most `_ROWS_AT_ONCE` samples (or one group)."""
    ends, start, held = [], 0, 0
    for at, size in enumerate(sizes.tolist()):
        if held and held + size > _ROWS_AT_ONCE:
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


@dataclass(frozen=True, eq=False)
class Part:
    """Samples of consecutive groups, group after group, failed ones counted as the worst."""

    sizes: IntArray
    selection: FloatArray
    reported: FloatArray | None
    cost: FloatArray | None
    answer: IntArray | None
    source: Source
    numbers: IntArray
    """Of the groups, in the order of their names."""


class Computed(Protocol):
    """What is computed of each group: numbers of a row, from the groups' samples alone."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that are read beside the scores: cost, answer."""

    def of(self, part: Part) -> FloatArray:
        """(group, number)."""


@dataclass(frozen=True, eq=False)
class BestOf:
    """The best of n, by budget."""

    budgets: IntArray
    columns: tuple[str, ...] = ()

    def of(self, part: Part) -> FloatArray:
        """(group, budget)."""
        direction = part.source.direction
        return group_values(part.selection, part.reported, None, part.sizes, self.budgets, direction, reproducible=True)


@dataclass(frozen=True, eq=False)
class DrawnWithin:
    """What is taken from samples drawn, by budget, and after it the Monte Carlo errors."""

    budgets: Budgets
    vote: bool
    spend: bool
    n_samples: int

    @property
    def columns(self) -> tuple[str, ...]:
        """Answers where they vote, costs where budgets are costs."""
        return (("answer",) if self.vote else ()) + (("cost",) if self.spend else ())

    def of(self, part: Part) -> FloatArray:
        """(group, twice the budgets)."""
        worth = part.selection if part.reported is None else part.reported
        rank = None if self.vote else sign_of(part.source.direction) * part.selection
        drawn = DrawnFrom(worth, rank, part.answer, part.cost, part.source.worst)
        how = {"spend": self.spend, "n_samples": self.n_samples, "numbers": part.numbers}
        return np.concatenate(drawn_values(drawn, None, part.sizes, self.budgets, **how), axis=1)  # type: ignore[arg-type]


@dataclass(frozen=True)
class SpentOn:
    """What the samples of a group that score below 1 cost together, those that score 1, the least of all, and how many
    have no cost."""

    columns: tuple[str, ...] = ("cost",)

    def of(self, part: Part) -> FloatArray:
        """(group, 4); NaN where a sample has no cost, but for the last."""
        assert part.cost is not None
        won = (part.selection if part.reported is None else part.reported) == 1
        starts = np.cumsum(part.sizes) - part.sizes
        cost = np.where(np.isfinite(part.cost), part.cost, np.nan)
        lost, paid = (np.add.reduceat(np.where(which, cost, cost * 0), starts) for which in (~won, won))
        unpriced = np.add.reduceat(np.isnan(cost).astype(np.float64), starts)
        return np.stack([lost, paid, np.minimum.reduceat(cost, starts), unpriced], axis=1)


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of one family, in the order in which they are read."""

    labels: Column
    sizes: IntArray
    numbers: IntArray


def values_in_parts(source: Source, groups: Groups, computed: Computed, workers: Workers) -> FloatArray:
    """What is computed of each group, part after part."""
    here = workers.engine == "local"
    parts = cut_parts(groups.sizes, workers.limit // (2 if here else 2 * workers.count))
    tasks = [
        (source, tuple((groups.labels[a:b].tolist(), groups.numbers[a:b]) for a, b in part), computed) for part in parts
    ]
    if here:
        return np.concatenate([compute_part(*task, threads=os.cpu_count() or 1) for task in tasks])
    with on_ray(workers.count) as ray:
        remote = ray.remote(max_retries=3)(compute_part)
        return np.concatenate(ray.get([remote.remote(*task) for task in tasks]))


def compute_part(
    source: Source, chunks: Sequence[tuple[Sequence[object], IntArray]], computed: Computed, threads: int = 1
) -> FloatArray:
    """Read the samples of some chunks of groups (labels and numbers) at once, and compute chunk by chunk."""
    labels = [name for chunk, _ in chunks for name in chunk]
    code, columns = _read(source, labels, computed.columns)
    small = code.astype(np.uint16) if len(labels) <= 1 << 16 else code  # radix sort for 16 bits
    order = None if (small[1:] >= small[:-1]).all() else np.argsort(small, kind="stable")
    sizes = np.bincount(code, minlength=len(labels))
    del code, small
    ends = np.cumsum(sizes)
    firsts = np.cumsum([0, *(len(chunk) for chunk, _ in chunks)])

    def compute(at: int) -> FloatArray:
        first, last = firsts[at], firsts[at + 1]
        rows = slice(ends[first] - sizes[first], ends[last - 1])
        some = rows if order is None else order[rows]
        held = {name: column[some] for name, column in columns.items()}
        chosen, claimed, cost = (
            held[name].astype(np.float64, copy=False) if name in held else None for name in ("s", "r", "cost")
        )
        assert chosen is not None
        if (bad := ~np.isfinite(chosen)).any():
            chosen, claimed = count_as_worst(chosen, claimed, bad, sign_of(source.direction), source.worst)
        answer = held["answer"].astype(np.int64) if "answer" in held else None
        return computed.of(Part(sizes[first:last], chosen, claimed, cost, answer, source, chunks[at][1]))

    if threads == 1 or len(chunks) == 1:
        return np.concatenate([compute(at) for at in range(len(chunks))])
    with ThreadPoolExecutor(threads) as pool:
        return np.concatenate(list(pool.map(compute, range(len(chunks)))))


def _read(source: Source, labels: list[object], further: Sequence[str]) -> tuple[Codes, dict[str, Column]]:
    """The place of each sample's group among the labels; its selection score, and reported score, cost and answer."""
    import duckdb

    connection = connect()
    kind = f"levelbest_part_{next(_COUNT)}"
    # a problem that has no sample left is not among the labels
    rows = (
        f"FROM {source.relation} WHERE ({source.where}) AND {source.key} >= {source.literal(labels[0])} AND "
        f"{source.key} <= {source.literal(labels[-1])}{source.counting}"
    )
    coded = source.key
    if not source.whole:
        connection.execute(f"CREATE TYPE {kind} AS ENUM ({', '.join(map(source.literal, labels))})")
        coded = f"CAST(enum_code(CAST({source.key} AS {kind})) AS INTEGER)"
    columns = [f"{coded} AS g", f"{source.number(source.selection)} AS s"]
    if source.reported is not None:
        columns.append(f"{source.number(source.reported)} AS r")
    if "cost" in further:
        columns.append(f"{source.spent} AS cost")
    try:
        if "answer" in further:  # its place among the answers in order
            answers = f"SELECT DISTINCT {source.voted} AS a {rows} AND {source.voted} IS NOT NULL ORDER BY a"
            connection.execute(f"CREATE TYPE {kind}_a AS ENUM ({answers})")
            columns.append(f"coalesce(CAST(enum_code(CAST({source.voted} AS {kind}_a)) AS INTEGER), -1) AS answer")
        columns_read = connection.execute(f"SELECT {', '.join(columns)} {rows}").fetchnumpy()
    except duckdb.Error as error:
        raise DataError(f"the samples cannot be read: {reason_of(error)}") from None
    finally:
        for name in (kind, f"{kind}_a"):
            connection.execute(f"DROP TYPE IF EXISTS {name}")
    code: Whole = np.ma.getdata(columns_read.pop("g"))
    if source.whole:
        code = _places(np.array(labels, dtype=np.int64), code.astype(np.int64))  # int8 less a label overflows
    return code.astype(np.int32, copy=False), {name: _plain(column) for name, column in columns_read.items()}


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
