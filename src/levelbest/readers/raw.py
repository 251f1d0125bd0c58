"""The output of every reader: columns of rows, and what the format records about them.

Numbers are (masked) float arrays, text is objects or codes, lists are unchanged. A masked entry is an empty cell; a NaN
is a number that was written as NaN. The difference matters: a trial whose score is NaN diverged, a trial without a
score failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import TypeGuard

import numpy as np
import numpy.typing as npt

from levelbest._check import BoolArray, Column, IntArray
from levelbest.cautions import Caution
from levelbest.trials import Skipped

__all__ = ["Coded", "LazyColumns", "RawTable", "Reader", "as_codes", "as_flags", "cell_list", "is_numeric"]
__all__ += ["joint_codes", "number", "stacked", "texts", "typed", "unique_codes"]

EXACT = 2**53
"""Integers up to here are exact as float64; larger ones (identifiers, seeds) stay as they are."""
_CHUNK = 1 << 16


@dataclass(frozen=True, eq=False)
class Coded:
    """A text column as codes into its distinct values; -1 is an empty cell."""

    codes: Codes
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Column | slice) -> Coded:
        return Coded(self.codes[rows], self.names)

    def decode(self) -> npt.NDArray[np.object_]:
        """One Python string (or None) per row."""
        table = np.array([*self.names, None], dtype=object)
        return table[self.codes]


Cells = Coded | Column
Codes = npt.NDArray[np.int32]
"""A column of a raw table."""


class LazyColumns(Mapping[str, Cells]):
    """Columns that are read on first access; unused columns are never read."""

    def __init__(
        self, names: Sequence[str], n_rows: int, load: Callable[[str], Cells], numbers: frozenset[str] | None = None
    ) -> None:
        self._names = dict.fromkeys(names)
        self._load = load
        self._kept: dict[str, Cells] = {}
        self.n_rows = n_rows
        self.numbers = numbers
        """Columns known to hold numbers without reading them."""

    def __getitem__(self, name: str) -> Cells:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._kept:
            self._kept[name] = self._load(name)
        return self._kept[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names


def typed(values: Sequence[object], *, numeric: bool = False) -> Column:
    """The narrowest array that holds these values unchanged: bool, float64 with empty cells masked, or object.

    ``numeric``: they are numbers, even where all are empty.
    """
    kinds = {type(value) for value in values} - {type(None)}
    if kinds == {bool} and None not in values:
        return np.array(values, dtype=bool)
    exact = (kinds or numeric) and kinds <= {int, float}
    if exact and not (int in kinds and any(type(value) is int and abs(value) > EXACT for value in values)):
        empty = np.array([value is None for value in values], dtype=bool)
        numbers = np.array(values, dtype=np.float64)
        return np.ma.MaskedArray(numbers, mask=empty) if empty.any() else numbers
    return _objects(values)


def _objects(values: Sequence[object]) -> npt.NDArray[np.object_]:
    return np.fromiter(values, dtype=object, count=len(values))


def number(value: object) -> float | None:
    """A number from a number or its text (``NaN`` and ``Infinity`` too); None where there is none."""
    try:
        if isinstance(value, str):
            return None if "_" in value else float(value)
        return float(value) if isinstance(value, bool | int | float | np.number | np.bool_) else None
    except ValueError:
        return None
    except OverflowError:
        return inf if isinstance(value, int) and value > 0 else -inf


def is_numeric(column: Cells) -> TypeGuard[Column]:
    """Whether every cell is already a number (or empty)."""
    return not isinstance(column, Coded) and column.dtype.kind in "iufb"


def texts(column: Cells) -> npt.NDArray[np.object_]:
    """Each cell as text, None where empty; whole numbers without a decimal point."""
    if isinstance(column, Coded):
        return column.decode()
    names, codes = as_codes(column)
    return Coded(codes, names).decode()


def _number_text(value: float) -> str:
    if isinstance(value, bool):
        return str(value)
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) <= EXACT else repr(number)


def as_flags(column: Cells) -> BoolArray | None:
    """Truth values, written out or not, an empty cell as false; None where a cell is anything else."""
    if is_numeric(column):
        return np.asarray(column) if column.dtype.kind == "b" else None
    names, codes = as_codes(column)
    words = [name.lower() for name in names]
    return np.array([*(word == "true" for word in words), False])[codes] if {*words} <= {"true", "false"} else None


def as_codes(column: Cells) -> tuple[tuple[str, ...], Codes]:
    """Distinct values as text in order of first appearance, and the code of each row (-1: empty)."""
    if isinstance(column, Coded):
        return unique_codes(column.codes, column.names)
    if is_numeric(column) and len(column):
        distinct, inverse = np.unique(np.ma.getdata(column), return_inverse=True)
        codes: Codes = inverse.ravel().astype(np.int32)
        codes[np.ma.getmaskarray(column)] = -1
        return unique_codes(codes, [_number_text(value) for value in distinct.tolist()])
    names: dict[str, int] = {}
    codes_of = [-1 if value is None else names.setdefault(str(value), len(names)) for value in column]
    return tuple(names), np.array(codes_of, dtype=np.int32)


def unique_codes(codes: Column, names: Sequence[str]) -> tuple[tuple[str, ...], Codes]:
    """Codes renumbered by first appearance, names that never occur dropped, equal names joined."""
    first = np.full(len(names) + 1, len(codes), dtype=np.int64)
    for start in range(0, len(codes), _CHUNK):  # a few families: the first chunk has them all
        seen, rows = np.unique(codes[start : start + _CHUNK], return_index=True)
        first[seen] = np.minimum(first[seen], rows + start)
        if (first[:-1] < len(codes)).all():
            break
    order = [int(code) for code in np.argsort(first[:-1], kind="stable") if first[code] < len(codes)]
    place: dict[str, int] = {}
    table = np.full(len(names) + 1, -1, dtype=np.int32)
    for code in order:
        table[code] = place.setdefault(names[code], len(place))
    if np.array_equal(table[:-1], np.arange(len(names))):
        return tuple(place), codes.astype(np.int32, copy=False)
    return tuple(place), table[codes]


def joint_codes(columns: Sequence[Codes]) -> Codes:
    """One code for each combination of codes; an empty cell (-1) is a value as any other."""
    joint = np.zeros(len(columns[0]), dtype=np.int64)
    for codes in columns:
        joint = np.unique(joint * (int(codes.max(initial=0)) + 2) + codes, return_inverse=True)[1].ravel()
    return joint.astype(np.int32)


def stacked(parts: Sequence[tuple[Cells | None, int]]) -> Cells:
    """Columns one below the other; None stands for a source that has no such column (with its number of rows)."""
    present = [column for column, _ in parts if column is not None]
    if len(parts) == 1:
        return present[0]
    numeric = [column for column in present if is_numeric(column)]
    kinds = {column.dtype.kind == "b" for column in numeric}
    if len(numeric) == len(parts) and kinds == {True}:
        return np.concatenate(numeric)
    if len(numeric) == len(present) and kinds == {False}:
        return _stacked_numbers(iter(numeric), parts)
    if all(isinstance(column, Coded) for column in present):
        return _stacked_codes(parts)
    cells = [[None] * rows if column is None else cell_list(column) for column, rows in parts]
    return _objects([cell for part in cells for cell in part])


def _stacked_numbers(numeric: Iterator[Column], parts: Sequence[tuple[Cells | None, int]]) -> Column:
    pieces = [np.ma.MaskedArray(np.zeros(rows), True) if column is None else next(numeric) for column, rows in parts]
    values = np.concatenate([np.ma.getdata(piece) for piece in pieces]).astype(np.float64, copy=False)
    empty = np.concatenate([np.ma.getmaskarray(piece) for piece in pieces])
    return np.ma.MaskedArray(values, mask=empty) if empty.any() else values


def _stacked_codes(parts: Sequence[tuple[Cells | None, int]]) -> Coded:
    place: dict[str, int] = {}
    codes = []
    for column, rows in parts:
        coded = column if isinstance(column, Coded) else Coded(np.full(rows, -1, dtype=np.int32), ())
        table = np.array([*(place.setdefault(name, len(place)) for name in coded.names), -1], dtype=np.int32)
        codes.append(table[coded.codes])
    return Coded(np.concatenate(codes), tuple(place))


def cell_list(column: Cells) -> list[object]:
    """Cells as Python values; None where empty."""
    if isinstance(column, Coded):
        return list(column.decode())
    cells: list[object] = column.tolist()
    return cells


@dataclass
class RawTable:
    """Rows as columns. A reader fills this in; one pipeline after it chooses roles and builds Trials."""

    source: str
    """A name to show: a file's name or a study's, never an absolute path."""
    columns: Mapping[str, Cells]
    """One value per row, numbers as float64; None or NaN where a row has no value. Nested values keep dotted names.
    A masked entry is an empty cell, apart from a score that was written down as NaN."""
    roles: dict[str, str] = field(default_factory=dict)
    """Role -> column, as recorded by the format: family, selection, reported, cost, seed, status, order, trial (rows of
    one are steps of a run), search, task, group (the problem), weight, stratum, cluster."""
    configuration: list[str] | None = None
    """Columns that are hyperparameters; None: the format does not say, and they are what is left over."""
    direction: str | None = None
    cost_unit: str | None = None
    facts: dict[str, str] = field(default_factory=dict)
    """What the source recorded about itself: ``sampler`` (or ``sampler:FAMILY``), the search algorithm, without which
    trials count as a random sample; ``direction:COLUMN`` (``max`` or ``min``); ``bounds:low`` and ``bounds:high``;
    ``name:ROLE``, what output calls a column; ``format``, the format in words."""
    lines: IntArray | None = None
    """Where each row stands in the source (line or record number), for messages; None: counted from 1."""
    row_name: str = "row"
    """What ``lines`` counts: ``line`` of a text file, ``row`` of a table, ``trial`` of a study."""
    place_of: Callable[[int], str] | None = None
    """Where a row stands, for messages, where ``lines`` does not tell."""
    skipped: list[Skipped] = field(default_factory=list)
    cautions: list[Caution] = field(default_factory=list)

    @property
    def n_rows(self) -> int:
        """How many rows the table has."""
        if isinstance(self.columns, LazyColumns):
            return self.columns.n_rows
        return len(next(iter(self.columns.values()))) if self.columns else 0

    def __post_init__(self) -> None:
        if isinstance(self.columns, LazyColumns):
            return
        sizes = {len(column) for column in self.columns.values()}
        if len(sizes) > 1:
            raise AssertionError(f"{self.source}: columns of different lengths {sorted(sizes)}")
        self.columns = {
            name: column if isinstance(column, Coded) else np.asanyarray(column)
            for name, column in self.columns.items()
        }

    def at(self, row: int) -> str:
        """Where a row stands, for a message."""
        if self.place_of is not None:
            return self.place_of(int(row))
        return f"{self.source}, {self.row_name} {int(row) + 1 if self.lines is None else int(self.lines[row])}"


@dataclass(frozen=True)
class Reader:
    """One format: its name, whether a path looks like it, and how to read it."""

    name: str
    about: str
    recognises: Callable[[Path], bool]
    """Cheap and exact: looks at names, magic bytes or a schema, never at a whole file; never raises."""
    read: Callable[..., list[RawTable]]
    """``read(path, ...)``, with options that are keywords; raises levelbest's own errors only."""
    read_logs: Callable[..., list[RawTable]] | None = None
    """``read_logs(paths, ...)``, where each file is the log of one run, and several of them are one table."""
