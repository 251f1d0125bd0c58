"""Columns of a raw table: numbers as (masked) float arrays, text as objects or as codes, lists as they are.

A masked entry is an empty cell; a NaN is a number that was written down as NaN. The difference matters: a trial whose
score is NaN diverged, a trial without a score failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from levelbest._check import Column, IntArray

__all__ = ["Coded", "LazyColumns", "as_codes", "as_flags", "cell_list", "is_numeric", "joint_codes", "number"]
__all__ += ["stacked", "taken", "texts", "typed", "unique_codes"]

EXACT = 2**53
"""Integers up to here are exact as float64; larger ones (identifiers, seeds) stay as they are."""
_CHUNK = 1 << 20
_NOT_FINITE = {"nan": nan, "inf": inf, "infinity": inf, "+infinity": inf, "-inf": -inf, "-infinity": -inf}


@dataclass(frozen=True, eq=False)
class Coded:
    """A text column as codes into its distinct values; -1 is an empty cell."""

    codes: npt.NDArray[np.int32]
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
"""A column of a raw table."""


class LazyColumns(Mapping[str, Cells]):
    """Columns that are read when they are first asked for; what nobody asks for is never read."""

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


def typed(values: Sequence[Any], *, numeric: bool = False) -> Column:
    """The narrowest array that holds these values unchanged: bool, float64 with empty cells masked, or object.

    ``numeric``: they are numbers, even where all are empty.
    """
    kinds = {type(value) for value in values}
    kinds.discard(type(None))
    if kinds == {bool} and None not in values:
        return np.array(values, dtype=bool)
    if (kinds or numeric) and kinds <= {int, float}:
        if int in kinds and any(type(v) is int and abs(v) > EXACT for v in values):
            return _objects(values)
        empty = np.fromiter((value is None for value in values), dtype=bool, count=len(values))
        numbers = np.fromiter((0.0 if v is None else float(v) for v in values), dtype=np.float64, count=len(values))
        return np.ma.MaskedArray(numbers, mask=empty) if empty.any() else numbers
    return _objects(values)


def _objects(values: Sequence[object]) -> npt.NDArray[np.object_]:
    return np.fromiter(values, dtype=object, count=len(values))


def number(value: object) -> float | None:
    """A number from a number or its text (``NaN`` and ``Infinity`` too); None where there is none."""
    if isinstance(value, str):
        text = value.strip().lower()
        if text in _NOT_FINITE:
            return _NOT_FINITE[text]
        if "_" in text:
            return None
        try:
            return float(text)
        except ValueError:
            return None
    if isinstance(value, bool | int | float | np.number | np.bool_):
        try:
            return float(value)
        except OverflowError:
            return inf if value > 0 else -inf
    return None


def is_numeric(column: Cells) -> TypeGuard[Column]:
    """Whether every cell is already a number (or empty)."""
    return not isinstance(column, Coded) and column.dtype.kind in "iufb"


def taken(column: Cells, rows: IntArray | Column) -> Cells:
    """The cells at these rows."""
    return column[rows]


def texts(column: Cells) -> npt.NDArray[np.object_]:
    """Each cell as text, None where empty; whole numbers without a decimal point."""
    if isinstance(column, Coded):
        return column.decode()
    if is_numeric(column):
        empty = np.ma.getmaskarray(column) if isinstance(column, np.ma.MaskedArray) else None
        plain = np.ma.getdata(column)
        distinct, codes = np.unique(plain, return_inverse=True)
        names = np.array([_number_text(value) for value in distinct], dtype=object)
        words = names[codes.ravel()]
        if empty is not None:
            words[empty] = None
        return words
    return _objects([None if value is None else str(value) for value in column])


def _number_text(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) <= EXACT else repr(number)


def as_flags(column: Cells) -> npt.NDArray[np.bool_] | None:
    """Truth values, written out or not, an empty cell as false; None where a cell is anything else."""
    if is_numeric(column):
        return np.asarray(column) if column.dtype.kind == "b" else None
    names, codes = as_codes(column)
    words = [name.lower() for name in names]
    return np.array([*(word == "true" for word in words), False])[codes] if {*words} <= {"true", "false"} else None


def as_codes(column: Cells) -> tuple[tuple[str, ...], npt.NDArray[np.int32]]:
    """Distinct values as text in order of first appearance, and the code of each row (-1: empty)."""
    if isinstance(column, Coded):
        return unique_codes(column.codes, column.names)
    if is_numeric(column) and len(column):
        plain = np.ma.getdata(column)
        distinct, inverse = np.unique(plain, return_inverse=True)
        codes: npt.NDArray[np.int32] = inverse.ravel().astype(np.int32)
        codes[np.ma.getmaskarray(column) if isinstance(column, np.ma.MaskedArray) else np.zeros(len(column), bool)] = -1
        return unique_codes(codes, tuple(_number_text(value) for value in distinct))
    names: dict[str, int] = {}
    codes_of = [-1 if value is None else names.setdefault(str(value), len(names)) for value in column]
    return tuple(names), np.array(codes_of, dtype=np.int32)


def unique_codes(codes: npt.NDArray[np.int32], names: Sequence[str]) -> tuple[tuple[str, ...], npt.NDArray[np.int32]]:
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
        return tuple(place), codes
    return tuple(place), table[codes]


def joint_codes(columns: Sequence[npt.NDArray[np.int32]]) -> npt.NDArray[np.int32]:
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
    if len(numeric) == len(present) and len({column.dtype.kind == "b" for column in numeric}) == 1:
        if len(present) == len(parts) and numeric[0].dtype.kind == "b":
            return np.concatenate(numeric)
        if numeric[0].dtype.kind != "b":
            pieces = [
                np.ma.MaskedArray(np.zeros(rows), mask=True) if column is None else np.ma.asarray(column, np.float64)
                for column, rows in parts
            ]
            concatenate: Any = np.ma.concatenate  # typed in some versions of NumPy only
            whole = concatenate(pieces)
            return whole if np.ma.getmaskarray(whole).any() else np.ma.getdata(whole)
    if all(isinstance(column, Coded) for column in present):
        place: dict[str, int] = {}
        codes = []
        for column, rows in parts:
            if not isinstance(column, Coded):
                codes.append(np.full(rows, -1, dtype=np.int32))
                continue
            table = np.array([*(place.setdefault(n, len(place)) for n in column.names), -1], dtype=np.int32)
            codes.append(table[column.codes])
        return Coded(np.concatenate(codes), tuple(place))
    cells: list[object] = []
    for column, rows in parts:
        cells += [None] * rows if column is None else cell_list(column)
    return _objects(cells)


def cell_list(column: Cells) -> list[object]:
    """Cells as Python values; None where empty."""
    if isinstance(column, Coded):
        return list(column.decode())
    cells: list[object] = column.tolist()
    return cells
