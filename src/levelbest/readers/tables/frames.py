"""Dataframes of any library (through narwhals), and plain mappings of column name to values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np

from levelbest._check import BoolArray, Column
from levelbest.errors import InputError
from levelbest.readers.raw import EXACT, Cells, Coded, RawTable, typed

__all__ = ["frame_table", "is_frame"]


def is_frame(source: object) -> bool:
    """Whether this is a dataframe, a column of one or a mapping of columns, and not a path or a list of paths."""
    if isinstance(source, Mapping) or _are_records(source):
        return True
    if isinstance(source, (str, bytes, list, tuple, set)) or hasattr(source, "__fspath__"):
        return False
    import narwhals.stable.v2 as nw

    return isinstance(_native(source), (nw.DataFrame, nw.LazyFrame, nw.Series))


def _are_records(source: object) -> TypeGuard[Sequence[Mapping[str, object]]]:
    """Whether this is a list of rows, each a mapping of its columns."""
    return isinstance(source, (list, tuple)) and bool(source) and all(isinstance(row, Mapping) for row in source)


def frame_table(source: object, name: str = "dataframe") -> RawTable:
    """A dataframe's columns, the names of its index among them; a lazy frame is collected."""
    if _are_records(source):
        keys = dict.fromkeys(key for row in source for key in row)
        source = {key: [row.get(key) for row in source] for key in keys}
    if isinstance(source, Mapping):
        columns = {str(key): _array(key, values) for key, values in source.items()}
        sizes = {key: len(column) for key, column in columns.items()}
        if len(set(sizes.values())) > 1:
            raise InputError(f"every column needs one value per row, got sizes {sizes}")
        if not columns:
            raise InputError("a table needs columns, got an empty mapping")
        return RawTable(name, columns)
    import narwhals.stable.v2 as nw

    frame = _native(source)
    if isinstance(frame, nw.Series):
        frame = frame.to_frame()
    if frame.implementation.is_pandas_like():
        frame = _native(_with_index(frame.to_native()))
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    return RawTable(name, {str(column): _series(frame[column], nw) for column in frame.columns})


def _native(source: object) -> Any:
    """As narwhals has it; what is no frame and no column stays what it is."""
    import narwhals.stable.v2 as nw

    try:
        return nw.from_native(source, pass_through=True, allow_series=True)
    except nw.exceptions.DuplicateError as error:
        raise InputError(
            f"columns of a dataframe must have different names; rename them: {' '.join(str(error).split())}"
        ) from None


def _with_index(source: Any) -> Any:
    """A frame of pandas with the levels of its index that have names as columns, as ``set_index`` took them away.

    Names are texts, those of several levels joined by dots: ``val.mean``.
    """
    parts = [name if isinstance(name, tuple) else (name,) for name in source.columns]
    source = source.set_axis([".".join(str(part) for part in name if part != "") for name in parts], axis=1)
    levels = enumerate(source.index.names)
    missing = {level: place for place, level in levels if level is not None and level not in source.columns}
    return source.reset_index(level=list(missing.values())) if missing else source


def _array(key: object, values: Any) -> Column:
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise InputError(f"column {key!r} must be a list or array of values, got {type(values).__name__}")
    if isinstance(values, np.ma.MaskedArray) and values.dtype.kind in "iuf":
        return values
    array = np.asarray(values) if hasattr(values, "dtype") or hasattr(values, "__array__") else None
    if array is not None and array.ndim == 1 and array.dtype.kind in "iufb":
        return _whole(array)
    cells = array.tolist() if array is not None else list(values)
    return typed([_cell(cell) for cell in cells])


def _whole(array: Column) -> Column:
    if array.dtype.kind in "iu" and array.size and int(np.abs(array.astype(np.float64)).max()) > EXACT:
        return typed(array.tolist())
    return array if array.dtype.kind == "b" else array.astype(np.float64)


def _cell(cell: object) -> object:
    """A NumPy scalar as its Python value."""
    return cell.item() if isinstance(cell, np.generic) else cell


def _series(series: Any, nw: Any) -> Cells:
    dtype = series.dtype
    null = series.is_null()
    if dtype.is_float():
        # pandas counts NaN as missing, others do not: a float that is NaN is NaN here, whoever wrote it.
        values = np.array(series.to_numpy(), dtype=np.float64)
        if null.any():
            empty = np.asarray(null.to_numpy(), dtype=bool) & ~_known_nan(series)
            return np.ma.MaskedArray(values, mask=empty) if empty.any() else values
        return values
    if dtype.is_integer() and not null.any():
        return _whole(series.to_numpy())
    if dtype == nw.Boolean and not null.any():
        return np.asarray(series.to_numpy(), dtype=bool)
    if dtype in (nw.Categorical, nw.Enum) and not null.any():
        distinct = series.unique().to_list()
        place = {value: code for code, value in enumerate(distinct)}
        codes = series.replace_strict(distinct, list(place.values()), return_dtype=nw.Int32).to_numpy()
        return Coded(np.asarray(codes, dtype=np.int32), tuple(str(value) for value in distinct))
    empty = np.asarray(null.to_numpy(), dtype=bool)
    cells = [None if gone else _cell(cell) for cell, gone in zip(series.to_list(), empty, strict=True)]
    return typed([cell if isinstance(cell, _PLAIN) or cell is None else str(cell) for cell in cells])


_PLAIN = (bool, int, float, str, list, tuple, dict)


def _known_nan(series: Any) -> BoolArray:
    nan = series.is_nan().to_list()
    return np.fromiter((cell is True or cell is np.True_ for cell in nan), dtype=bool, count=len(nan))
