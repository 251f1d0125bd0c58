"""Results as plain values: what JSON can hold, what people can read, and dataframes of the library in use."""

from __future__ import annotations

import json
import math
import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias, overload

import numpy as np

from levelbest.errors import MissingExtra

if TYPE_CHECKING:
    import pandas
    import polars

Frame: TypeAlias = "pandas.DataFrame | polars.DataFrame"


@overload
def plain(value: Mapping[str, object]) -> dict[str, object]: ...


@overload
def plain(value: object) -> object: ...


def plain(value: object) -> object:
    """NumPy values as Python ones; NaN and infinity as None, as JSON has neither."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(item) for item in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    return value


def picked(source: object, *names: str) -> dict[str, object]:
    """The attributes of these names.

    Examples
    --------
    >>> picked(1 + 2j, "real", "imag")
    {'real': 1.0, 'imag': 2.0}
    """
    return {name: getattr(source, name) for name in names}


def rows_of(**columns: Iterable[object]) -> list[dict[str, object]]:
    """The rows of columns of equal length.

    Examples
    --------
    >>> rows_of(n=[1, 2], value=[0.5, 0.75])
    [{'n': 1, 'value': 0.5}, {'n': 2, 'value': 0.75}]
    """
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def dump_json(document: object) -> str:
    """One JSON document, the same bytes for the same numbers."""
    return json.dumps(plain(document), ensure_ascii=False, indent=1, allow_nan=False)


def html_table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    caption: str = "",
    *,
    right: Sequence[bool] = (),
    colours: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """A table for notebooks; every cell is text, numbers stand at the ``right``, and names have their ``colours``."""
    sides = [_SIDE.format("right" if k < len(right) and right[k] else "left") for k in range(len(heads))]
    head = "".join(f"<th{side}>{escape(text)}</th>" for side, text in zip(sides, heads, strict=True))
    cells = [[f"<td{side}>{_cell(cell, colours)}</td>" for side, cell in zip(sides, row, strict=False)] for row in rows]
    body = "".join(f"<tr>{''.join(line)}</tr>" for line in cells)
    title = f'<caption style="text-align: left">{escape(caption)}</caption>'
    style = "border-collapse: collapse; font-variant-numeric: tabular-nums"
    return f'<table style="{style}">{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


_SIDE = ' style="text-align: {}; padding: 0.15em 0.8em 0.15em 0.2em"'


def _cell(text: str, colours: Mapping[str, str]) -> str:
    mark = f'<span style="color: {colours[text]}">&#9632;</span> ' if text in colours else ""
    return mark + escape(text)


def round_places(budgets: Sequence[int], most: int = 15) -> list[int]:
    """Where the budgets are round (1, 2, 3, 5, 7 and their tenfolds), and the last; all places where they are few."""

    def is_round(n: int) -> bool:
        while n and n % 10 == 0:
            n //= 10
        return n in (1, 2, 3, 5, 7)

    last = len(budgets) - 1
    return [i for i, n in enumerate(budgets) if len(budgets) <= most or i == last or is_round(n)]


def round_to_uncertainty(value: float, low: float, high: float, *, digits: int = 2) -> int:
    """How many decimals ``value`` deserves: two significant digits of half its interval's width.

    Without a finite interval, four significant digits of the value itself.
    """
    half = (high - low) / 2
    if math.isfinite(half) and half > 0:
        return max(0, min(12, digits - 1 - math.floor(math.log10(half * (1 + 1e-9)))))
    if not math.isfinite(value) or value == 0:
        return 2
    return max(0, min(12, 3 - math.floor(math.log10(abs(value)))))


def common_decimals(points: Iterable[tuple[float, float, float]]) -> int:
    """Decimals for a column of values with limits: those that half of them deserve."""
    wanted = [round_to_uncertainty(*point) for point in points if math.isfinite(point[0])]
    return statistics.median_low(wanted) if wanted else 2


def show_number(value: float, decimals: int) -> str:
    """A number for reading: undefined as a dash, infinite as a sign; what rounds to zero has none."""
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:z.{decimals}f}"


def show_limits(low: float, high: float, decimals: int) -> str:
    """``low to high``; one dash where neither is defined."""
    if math.isnan(low) and math.isnan(high):
        return "–"
    return f"{show_number(low, decimals)} to {show_number(high, decimals)}"


def show_with_limits(value: float, low: float, high: float, least: int = 0) -> str:
    """``0.21 (0.14 to 0.28)``, at least so many decimals; the value alone where it has no limits."""
    decimals = max(least, round_to_uncertainty(value, low, high))
    shown = show_number(value, decimals)
    return f"{shown} ({show_limits(low, high, decimals)})" if math.isfinite(low) else shown


_TIME = (("d", 86400.0), ("h", 3600.0), ("min", 60.0), ("s", 1.0))
_DOLLARS = ("$", "USD")
_SECONDS = {
    "s": 1.0,
    "sec": 1.0,
    "seconds": 1.0,
    "min": 60.0,
    "minutes": 60.0,
    "h": 3600.0,
    "hours": 3600.0,
    "d": 86400.0,
}


def show_cost(value: float, unit: str | None) -> str:
    """A cost in the unit people would use: 7200 s is ``2 h``; dollars and GPU hours keep their unit."""
    if not math.isfinite(value):
        return show_number(value, 0)
    if unit in _SECONDS:
        seconds = value * _SECONDS[unit]
        for name, size in _TIME:
            if abs(seconds) >= size or name == "s":
                return f"{_three(seconds / size)} {name}"
    if unit in _DOLLARS:
        return f"${value:,.2f}" if abs(value) >= 1 or value == 0 else f"${_three(value)}"
    return f"{_three(value)} {unit}" if unit else _three(value)


def keeps_unit(unit: str | None) -> bool:
    """Whether costs stand in this unit whatever their size (GPU hours), so that an axis can name it once."""
    return unit is not None and unit not in _SECONDS and unit not in _DOLLARS


def show_tick(value: float, unit: str | None) -> str:
    """A cost beside an axis: ``10.0 min`` is ``10 min``."""
    number, _, name = show_cost(value, unit).partition(" ")
    if "." in number and "e" not in number:
        number = number.rstrip("0").rstrip(".")
    return f"{number} {name}".strip()


def says_test(name: str) -> bool:
    """Whether the name of a score says that it is of a test set: such a score is not called validation.

    Examples
    --------
    >>> says_test("test_acc"), says_test("latest_acc")
    (True, False)
    """
    return not {"test", "tst", "testing"}.isdisjoint(re.split(r"[^a-z]+", name.lower()))


def show_count(value: float) -> str:
    """A number beside an axis: 10k is read at once, 10000 is counted.

    Examples
    --------
    >>> show_count(500), show_count(10_000), show_count(2_500_000)
    ('500', '10k', '2.5M')
    """
    size, letter = (1e6, "M") if abs(value) >= 1e6 else (1e3, "k") if abs(value) >= 1e4 else (1.0, "")
    return f"{value / size:g}{letter}"


_TIMES = [s * 1.0 for s in (1, 2, 5, 10, 20, 30)]
_TIMES += [60.0 * m for m in (1, 2, 5, 10, 20, 30)] + [3600.0 * h for h in (1, 2, 4, 8, 12)]


def cost_ticks(low: float, high: float, unit: str | None, most: int = 8) -> list[float]:
    """Round costs between two, evenly in logarithm: of times whole seconds, minutes, hours and days.

    Examples
    --------
    >>> [show_cost(tick, "h") for tick in cost_ticks(0.5, 200, "h", most=5)]
    ['30.0 min', '2.00 h', '8.00 h', '1.00 d', '5.00 d']
    """
    size = _SECONDS.get(unit or "", 1.0)
    first, last = low * size, high * size
    if not 0 < first < last:
        return []
    powers = range(math.floor(math.log10(first)), math.ceil(math.log10(last)) + 1)
    round_numbers = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
    if unit in _SECONDS:
        days = [86400.0 * digit * 10.0**power for power in range(max(powers) + 1) for digit in (1, 2, 5)]
        round_numbers = [number for number in round_numbers if number < 1] + _TIMES + days
    inside = [tick for tick in round_numbers if first * (1 - 1e-9) <= tick <= last * (1 + 1e-9)]
    step = -(-len(inside) // most) if inside else 1
    return [tick / size for tick in inside[::step]]


def is_cost(axis: str) -> bool:
    """Whether budgets on this axis are costs, and not numbers of trials."""
    return axis == "cost"


def show_budget(budget: float, axis: str, unit: str | None) -> str:
    """A number of trials, or a cost in its unit."""
    return show_cost(budget, unit) if is_cost(axis) else f"{budget:g}"


def show_range(start: float, end: float, axis: str, unit: str | None, between: str = " to ") -> str:
    """A range of budgets; one that reads the same at both ends is one budget."""
    return between.join(dict.fromkeys(show_budget(edge, axis, unit) for edge in (start, end)))


def show_ranges(
    ranges: Sequence[tuple[float, float]], axis: str, unit: str | None, among: Sequence[tuple[float, float]] = ()
) -> list[str]:
    """Ranges of budgets; where a cost is a range by itself ``among`` all, its neighbours have ``more than 2 s``."""
    shown = [show_range(*ends, axis, unit) for ends in ranges]
    if axis != "cost":
        return shown
    alone = {show_range(*ends, axis, unit) for ends in among}
    return [
        f"{'more than ' * (low in alone)}{low}{to}{'less than ' * (high in alone)}{high}" if to else low
        for low, to, high in (text.partition(" to ") for text in shown)
    ]


def _three(value: float) -> str:
    """Three significant digits, no exponent between a thousandth and a million."""
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e6:
        return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"
    return f"{value:.3g}"


_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def cell_text(value: object, digits: int | None = 4) -> str:
    """A cell for reading, or with all its ``digits``; a whole number, such as a seed, keeps them."""
    if value is None:
        return ""
    if isinstance(value, (float, np.floating)):
        number = float(value)
        if math.isnan(number):
            return ""
        if number.is_integer() and abs(number) < 1e15:
            return str(int(number))
        return repr(number) if digits is None else f"{number:.{digits}g}"
    return str(value)


def guarded(text: str) -> str:
    """A text as a cell of a spreadsheet, which would take one that begins like this for a formula.

    Examples
    --------
    >>> guarded("=1+1"), guarded("cnn"), unguarded(guarded("'=1+1"))
    ("'=1+1", 'cnn', "'=1+1")
    """
    return f"'{text}" if _FORMULA.match(text) else text


def unguarded(cell: str) -> str:
    """What `guarded` made a cell of."""
    return cell[1:] if cell[:1] == "'" and _FORMULA.match(cell) else cell


def as_frame(columns: Mapping[str, Sequence[object]]) -> Frame:
    """A dataframe of these columns: pandas where it is installed, else polars."""
    plain = {name: list(values) for name, values in columns.items()}
    try:
        import pandas
    except ImportError:
        try:
            import polars
        except ImportError:
            raise MissingExtra("pandas or polars", "pandas") from None
        return polars.DataFrame(plain, strict=False)
    return pandas.DataFrame(plain)
