"""What is read: files, columns and conditions as plain values, so that they can be sent to any worker."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from levelbest import _check
from levelbest.errors import DataError, InputError
from levelbest.readers.engine import name_of, quoted, reason_of
from levelbest.readers.files import as_paths

__all__ = ["Source", "as_memory", "find_families", "parquet_paths", "run"]

_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
_NATIVE = ("TINYINT", "SMALLINT", "INTEGER", "FLOAT", "DOUBLE")
# column names that say which sample of its problem a row is
_SAMPLES = ("sample_id", "sample", "sample_idx", "sample_index", "completion_id", "generation_id", "trial", "trial_id")


@dataclass(frozen=True)
class Source:
    """What a worker needs to read samples."""

    files: tuple[str, ...]
    group: str
    selection: str
    reported: str | None
    where: str
    direction: str
    failed: str
    weight: str | None = None
    stratum: str | None = None
    sample: str | None = None
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
        return name_of(column) if self.kinds[column] in _NATIVE else f"CAST({name_of(column)} AS DOUBLE)"

    def literal(self, label: Any) -> str:
        """A group's label in a condition."""
        return str(label) if self.whole else quoted(label)


def as_memory(text: str | int) -> int:
    """``4GB`` or a number of bytes."""
    found = re.fullmatch(r"\s*([0-9.]+)\s*([kmgt]?)i?b?\s*", str(text).lower())
    size = int(float(found[1]) * 1000 ** " kmgt".index(found[2] or " ")) if found else 0
    if size < 200_000_000:
        raise InputError(f"memory must be at least 200MB, written like 4GB, got {text!r}")
    return size


def parquet_paths(source: Any) -> list[str]:
    """The files, which must be Parquet."""
    paths = [str(path.resolve()) for path in as_paths(source)]
    odd = [Path(path).name for path in paths if not path.endswith((".parquet", ".pq"))]
    if odd:
        raise InputError(f"tables read in parts must be Parquet, got {odd[0]}; convert it with levelbest convert")
    return paths


def find_families(connection: Any, source: Source, family: str | None) -> tuple[Source, list[tuple[str, str]]]:
    """The source with the kinds of its columns, and each family's name and condition."""
    known = {row[0]: str(row[1]) for row in run(connection, f"DESCRIBE SELECT * FROM {source.relation}")}
    asked = (source.group, source.selection, source.reported, source.weight, source.stratum, source.sample, family)
    for name in asked:
        if name is not None and name not in known:
            raise InputError(f"there is no column {name!r}; {_check.nearest_first(name, list(known))}")
    sample = source.sample or next((name for name in _SAMPLES if name in known and name not in asked), None)
    source = replace(source, kinds=known, sample=sample)
    if family is None:
        return source, [(_stem(source.files), source.where)]
    column = f"CAST({name_of(family)} AS VARCHAR)"
    found = run(connection, f"SELECT DISTINCT {column} AS v FROM {source.relation} WHERE {source.where} ORDER BY v")
    named = [str(row[0]) for row in found if row[0] is not None]
    if not named:
        raise DataError(f"no row has a family in {family!r}, so that none of 0 samples has a score")
    return source, [(name, f"({source.where}) AND {column} = {quoted(name)}") for name in named]


def _stem(paths: Sequence[str]) -> str:
    return Path(paths[0]).stem if len(paths) == 1 else Path(paths[0]).parent.name


def run(connection: Any, query: str) -> Any:
    """The rows of a query."""
    import duckdb

    try:
        return connection.execute(query).fetchall()
    except duckdb.Error as error:
        raise DataError(f"the samples cannot be read: {reason_of(error)}") from None
