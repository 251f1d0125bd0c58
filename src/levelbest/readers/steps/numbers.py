"""Numbers as people write them: thousands commas, percent signs, decimal commas. What was converted is said."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from levelbest._check import Column, FloatArray
from levelbest.readers.columns import Cells, Coded, is_numeric

__all__ = ["MISSING", "Numbers", "as_numbers", "seconds_of"]

MISSING = frozenset({"", "na", "n/a", "#n/a", "null", "none", "-", "--", "?", "missing", "<na>", "."})
_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")
_DECIMAL_COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?")
_CLOCK = re.compile(r"(?:(\d+) days?,? +)?(?:(\d+):)?(\d+):(\d{2}(?:\.\d+)?)")
_UNITS = re.compile(
    r"(?:(\d+)\s*(?:d|days?))?\s*(?:(\d+)\s*(?:h|hrs?|hours?))?\s*(?:(\d+)\s*(?:m|mins?|minutes?))?"
    r"\s*(?:(\d+(?:\.\d+)?)\s*(?:s|secs?|seconds?))?"
)
_POINTS = "-points"
_NOT_FINITE = {"nan": np.nan, "inf": np.inf, "+inf": np.inf, "-inf": -np.inf, "infinity": np.inf, "-infinity": -np.inf}


@dataclass
class Numbers:
    """A column as float64, with what stood in the cells that are not plain numbers."""

    values: FloatArray
    """NaN where there is no number."""
    empty: npt.NDArray[np.bool_]
    """Cells with nothing in them (or a word for nothing)."""
    words: dict[int, str] = field(default_factory=dict)
    """Row -> text that is no number."""
    converted: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Kind of conversion -> (how many cells, the first of them)."""


def seconds_of(text: str) -> float | None:
    """Seconds of ``1:02:03``, ``2:31.5`` (minutes and seconds), ``1 day, 0:00:10`` or ``1h 2m``; None for other text.

    Examples
    --------
    >>> seconds_of("1h 2m"), seconds_of("2:31.5"), seconds_of("soon")
    (3720.0, 151.5, None)
    """
    match = _CLOCK.fullmatch(text) or (_UNITS.fullmatch(text.lower()) if text[-1:].isalpha() else None)
    if match is None or not any(match.groups()):
        return None
    days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def as_numbers(column: Cells) -> Numbers:
    """The column as numbers."""
    if is_numeric(column):
        plain = np.ma.getdata(column)
        values = plain.astype(np.float64, copy=False)
        if not isinstance(column, np.ma.MaskedArray) or not np.ma.getmaskarray(column).any():
            return Numbers(values, np.zeros(values.size, dtype=bool))
        empty = np.ma.getmaskarray(column)
        values = values.copy()
        values[empty] = np.nan
        return Numbers(values, empty)
    if isinstance(column, Coded):
        # One parse per distinct text, then spread over the rows.
        per_name = _parsed(np.array([*column.names, None], dtype=object))
        numbers = Numbers(per_name.values[column.codes], per_name.empty[column.codes])
        for code, word in per_name.words.items():
            numbers.words.update(dict.fromkeys(np.flatnonzero(column.codes == code).tolist(), word))
        for kind, (_, first) in per_name.converted.items():
            written = kind.removesuffix(_POINTS)
            marked = [code for code, name in enumerate(column.names) if _kind(name.strip()) == written]
            numbers.converted[kind] = (int(np.isin(column.codes, marked).sum()), first)
        return numbers
    return _parsed(column)


def _kind(text: str) -> str:
    """What a piece of text is: plain, empty, odd (NaN or infinite), a number in one of four writings, or a word."""
    if _PLAIN.fullmatch(text):
        return "plain"
    low = text.lower()
    if low in MISSING:
        return "empty"
    if low in _NOT_FINITE:
        return "odd"
    if text.endswith("%") and _kind(text[:-1].rstrip()) in ("plain", "thousands", "decimal-comma"):
        return "percent"
    if _THOUSANDS.fullmatch(text):
        return "thousands"
    if _DECIMAL_COMMA.fullmatch(text):
        return "decimal-comma"
    return "word" if seconds_of(text) is None else "clock"


def _parsed(column: Column) -> Numbers:
    kinds: dict[str, str] = {}
    for value in column:
        if isinstance(value, str) and value not in kinds:
            kinds[value] = _kind(value.strip())
    # "1,234" alone is a thousand; beside "0,843" in the same column it is not.
    decimal = "decimal-comma" in kinds.values()
    # "80.5%" beside "83.5" is 80.5 with its unit: divided by 100 it would be on another scale than its neighbours.
    points = "percent" in kinds.values() and _beyond_one(column, kinds, decimal=decimal)
    values = np.full(len(column), np.nan)
    empty = np.zeros(len(column), dtype=bool)
    numbers = Numbers(values, empty)
    for row, value in enumerate(column):
        if value is None or value is np.ma.masked:
            empty[row] = True
        elif isinstance(value, str):
            _place(numbers, row, value, kinds[value], decimal=decimal, points=points)
        elif isinstance(value, (list, tuple, dict, set, bytes)):
            numbers.words[row] = f"a {type(value).__name__}"
        else:
            try:
                values[row] = float(value)
            except OverflowError:
                values[row] = np.inf if value > 0 else -np.inf
            except (TypeError, ValueError):
                numbers.words[row] = str(value)
    return numbers


def _beyond_one(column: Column, kinds: dict[str, str], *, decimal: bool) -> bool:
    """Whether a number without a percent sign is larger than 1."""
    if any(isinstance(value, (int, float)) and abs(value) > 1 and abs(value) != np.inf for value in column):
        return True
    plain = [text for text, kind in kinds.items() if kind in ("plain", "thousands", "decimal-comma")]
    return any(abs(_read(text.strip(), decimal)) > 1 for text in plain)


def _place(numbers: Numbers, row: int, text: str, kind: str, *, decimal: bool, points: bool) -> None:
    text = text.strip()
    if kind == "plain":
        numbers.values[row] = float(text)
    elif kind == "empty":
        numbers.empty[row] = True
    elif kind == "odd":
        numbers.values[row] = _NOT_FINITE[text.lower()]
    elif kind == "word":
        numbers.words[row] = text
    else:
        noted = "decimal-comma" if decimal and kind == "thousands" and "." not in text else kind
        if kind == "percent" and points:
            noted += _POINTS
        numbers.values[row] = _read(text.removesuffix("%").rstrip(), decimal) / (100.0 if noted == "percent" else 1.0)
        count, first = numbers.converted.get(noted, (0, text))
        numbers.converted[noted] = (count + 1, first)


def _read(number: str, decimal: bool) -> float:
    seconds = seconds_of(number)
    if seconds is not None:
        return seconds
    return float(number.replace(",", ".") if _decimal(number, decimal) else number.replace(",", ""))


def _decimal(number: str, decimal: bool) -> bool:
    return "," in number and "." not in number and (decimal or not _THOUSANDS.fullmatch(number))
