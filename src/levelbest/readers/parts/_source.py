"""The source of samples (files, columns, conditions) as plain values that can be sent to workers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from levelbest import _check
from levelbest._read import as_size
from levelbest.errors import DataError, InputError
from levelbest.readers.steps.conditions import checked_condition
from levelbest.readers.steps.names import SAMPLE_IDS, family_names
from levelbest.readers.steps.priced import is_cached, token_prices
from levelbest.readers.tables.engine import connect, name_of, quoted, reason_of
from levelbest.readers.tables.files import as_paths, short_names, stem
from levelbest.trials.pools import NO_ANSWER

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["Source", "as_memory", "find_families", "limited", "parquet_paths", "run"]

_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
_NATIVE = ("TINYINT", "SMALLINT", "INTEGER", "FLOAT", "DOUBLE")


@dataclass(frozen=True)
class Source:
    """What a worker needs to read samples."""

    files: tuple[str, ...]
    group: str
    selection: str
    reported: str | None
    where: str
    """A condition as it was given; once the columns are known, one in SQL on them."""
    direction: str
    failed: str = "worst"
    weight: str | None = None
    stratum: str | None = None
    cluster: str | None = None
    sample: str | None = None
    cost: str | Mapping[str, float] | None = None
    """The column of costs, or dollars per million tokens of each kind; then, dollars per token by column."""
    answer: str | None = None
    needed: str | None = None
    """A score without which a sample counts as failed, whatever its selection score says."""
    worst: float = 0.0
    kinds: dict[str, str] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Groups are whole numbers: compared as such, so that sorted files are read in part only."""
        return self.kinds[self.group] in _WHOLE

    @property
    def key(self) -> str:
        """The group of a row."""
        return name_of(self.group) if self.whole else f"CAST({name_of(self.group)} AS VARCHAR)"

    @property
    def relation(self) -> str:
        """The rows."""
        return f"read_parquet([{', '.join(map(quoted, self.files))}])"

    def number(self, column: str) -> str:
        """A column of numbers: as it is stored where NumPy has the kind, else as doubles."""
        number = name_of(column) if self.kinds[column] in _NATIVE else f"CAST({name_of(column)} AS DOUBLE)"
        if self.needed is None or column != self.selection:
            return number
        return f"CASE WHEN {_finite(self.needed)} THEN {number} END"

    @property
    def spent(self) -> str:
        """What a sample cost."""
        if isinstance(self.cost, str):
            return f"CAST({name_of(self.cost)} AS DOUBLE)"
        numbers = {column: f"CAST({name_of(column)} AS DOUBLE)" for column in self.cost or {}}
        counts = {column: f"coalesce({text}, 0)" if is_cached(column) else text for column, text in numbers.items()}
        return " + ".join(f"{each!r} * {counts[column]}" for column, each in (self.cost or {}).items())

    @property
    def voted(self) -> str:
        """What a sample answers; NULL where it has none."""
        assert self.answer is not None
        text, empty = f"CAST({name_of(self.answer)} AS VARCHAR)", ", ".join(map(quoted, NO_ANSWER))
        return f"CASE WHEN {text} NOT IN ({empty}) THEN {text} END"

    @property
    def finished(self) -> str:
        """The condition that a sample did not fail."""
        return f"isfinite(CAST({self.number(self.selection)} AS DOUBLE))"

    @property
    def counting(self) -> str:
        """The condition that a sample counts, to be added to others: a failed one may not."""
        return "" if self.failed == "worst" else f" AND {self.finished}"

    def literal(self, label: object) -> str:
        """A group's label in a condition."""
        return str(label) if self.whole else quoted(str(label))

    def with_missing(self, missing: str) -> Source:
        """The same with missing reported scores counted so."""
        if self.reported is None or missing == "refuse":
            return self
        if missing == "selection":
            return replace(self, reported=None)
        if missing == "drop":
            return replace(self, where=f"{self.where} AND ({_finite(self.reported)} OR NOT {_finite(self.selection)})")
        return replace(self, needed=self.reported)

    def reported_alone(self) -> Source:
        """The same where the reported score itself selects; a sample that the verifier has no score of is failed."""
        if self.reported is None:
            return self
        return replace(self, selection=self.reported, reported=None, needed=self.selection)


def _finite(column: str) -> str:
    """The condition that a cell holds a number."""
    return f"coalesce(isfinite(TRY_CAST({name_of(column)} AS DOUBLE)), false)"


def as_memory(text: str | int) -> int:
    """``4GB`` or a number of bytes.

    Examples
    --------
    >>> as_memory("4GB")
    4000000000
    """
    size = as_size(str(text))
    if size is None or size < 200_000_000:
        raise InputError(f"memory must be at least 200MB, written like 4GB, got {text!r}")
    return size


@contextmanager
def limited(limit: int) -> Iterator[DuckDBPyConnection]:
    """A connection to the engine, held to half the memory; the engine serves the whole process."""
    connection = connect()
    connection.execute(f"SET memory_limit='{limit // 2_000_000}MB'")
    try:
        yield connection
    finally:
        connection.execute("RESET memory_limit")


def parquet_paths(source: object) -> tuple[str, ...]:
    """The files, which must be Parquet."""
    paths = [str(path.absolute()) for path in as_paths(source)]
    odd = [Path(path).name for path in paths if not path.endswith((".parquet", ".pq"))]
    if odd:
        raise InputError(f"tables read in parts must be Parquet, got {odd[0]}; convert it with levelbest convert")
    return tuple(paths)


def find_families(
    connection: DuckDBPyConnection, source: Source, family: str | None
) -> tuple[list[tuple[str, Source]], int]:
    """Each family's name and source, with the kinds of its columns; and how many rows have no family.

    Without a column that names them, each file is a family, as when files are read whole.
    """
    if family is not None:
        source = _described(connection, source, family)
        column = f"CAST({name_of(family)} AS VARCHAR)"
        query = f"SELECT {column}, count(*) FROM {source.relation} WHERE {source.where} GROUP BY {column}"
        counted = run(connection, query)
        named = sorted(str(row[0]) for row in counted if row[0] is not None)
        if not named:
            raise DataError(f"no row has a family in {family!r}, so that none of 0 samples has a score")
        of_each = [replace(source, where=f"{source.where} AND {column} = {quoted(name)}") for name in named]
        each = list(zip(family_names(family, named), of_each, strict=True))
        return each, sum(row[1] for row in counted if row[0] is None)
    files: dict[str, list[str]] = {}
    for path, name in zip(source.files, short_names([Path(path) for path in source.files]), strict=True):
        files.setdefault(stem(name), []).append(path)
    each = [(name, _described(connection, replace(source, files=tuple(paths)))) for name, paths in files.items()]
    if all(described.whole for _, described in each):
        return each, 0
    # numbers in one file and text in another: the same problem has one name
    return [
        (name, replace(described, kinds={**described.kinds, source.group: "VARCHAR"})) for name, described in each
    ], 0


def score_ends(connection: DuckDBPyConnection, families: Sequence[tuple[str, Source]]) -> tuple[float, float]:
    """The least and the greatest score that counts, of all families; NaN where there is none."""
    ends = []
    for _, source in families:
        score = f"CAST({source.number(source.reported or source.selection)} AS DOUBLE)"
        query = f"SELECT min({score}), max({score}) FROM {source.relation} WHERE {source.where} AND isfinite({score})"
        ends += [float(end) for end in run(connection, query)[0] if end is not None]
    return min(ends, default=math.nan), max(ends, default=math.nan)


def costs_above(connection: DuckDBPyConnection, source: Source, spends: Sequence[float]) -> list[float]:
    """The share of samples that cost more than each spend."""
    above = ", ".join(f"count(CASE WHEN x > {spend!r} THEN 1 END)" for spend in spends)
    rows = f"SELECT {source.spent} AS x FROM {source.relation} WHERE ({source.where}){source.counting}"
    number, *more = run(connection, f"SELECT count(*), {above} FROM ({rows})")[0]
    return [count / number for count in more]


def has_answers(connection: DuckDBPyConnection, source: Source) -> bool:
    """Whether some sample has an answer."""
    if source.answer is None:
        return False
    voting = f"({source.where}) AND {source.voted} IS NOT NULL{source.counting}"
    return bool(run(connection, f"SELECT 1 FROM {source.relation} WHERE {voting} LIMIT 1"))


def _described(connection: DuckDBPyConnection, source: Source, family: str | None = None) -> Source:
    """The source with the kinds of its columns, every one that is asked for among them."""
    known = {row[0]: str(row[1]) for row in run(connection, f"DESCRIBE SELECT * FROM {source.relation}")}
    described = (source.weight, source.stratum, source.cluster)
    cost = source.cost
    if isinstance(cost, Mapping):
        source = replace(source, cost=token_prices(known, Path(source.files[0]).name, cost, lambda _: True))
    priced = [cost] if isinstance(cost, str) else []
    used = (source.group, source.selection, source.reported, *described, *priced, source.answer, source.sample, family)
    for name in used:
        if name is not None and name not in known:
            raise InputError(f"there is no column {name!r}; {_check.nearest_first(name, list(known))}")
    sample = source.sample or next((name for name in SAMPLE_IDS if name in known and name not in used), None)
    where = checked_condition(source.where, known, Path(source.files[0]).name) if source.where else "true"
    return replace(source, kinds=known, sample=sample, where=where)


def run(connection: DuckDBPyConnection, query: str) -> list[tuple[Any, ...]]:
    """The rows of a query."""
    import duckdb

    try:
        rows: list[tuple[Any, ...]] = connection.execute(query).fetchall()
        return rows
    except duckdb.Error as error:
        raise DataError(f"the samples cannot be read: {reason_of(error)}") from None
