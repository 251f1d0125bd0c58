"""Decimal commas: what ``1,234`` and ``1.200`` are where their own column does not say it, by the other columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from levelbest.cautions import Caution

__all__ = [
    "DECIMAL_COMMA",
    "OPEN_NUMBER",
    "POINTS_OF_THOUSANDS",
    "THOUSANDS",
    "thousands_or_decimals",
    "without_separators",
    "written_as_others",
]

THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")
POINTS_OF_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+(?P<comma>,\d*)?")
DECIMAL_COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?")
_FRACTION = re.compile(r"[+-]?0?,\d{2,}")
_WHOLE = re.compile(r"[+-]?\d+")
_POINT = re.compile(r"[+-]?(\d+\.\d*|\.\d+)([eE][+-]?\d+)?")
OPEN_NUMBER = r"[+-]?[1-9]\d{0,2}(,\d{3}|(\.\d{3})+)"
"""Of whose writing alone nothing says whether a comma or point parts thousands: ``1,234``, ``1.200``."""
_MARKS = str.maketrans({".": "", ",": "."})


def without_separators(cell: str) -> str:
    """``1.200`` as ``1200`` and ``1,234`` as ``1.234``: as they are where commas are decimal."""
    text = cell.strip()
    return text.translate(_MARKS) if _is_open(text) else cell


def written_as_others(columns: Mapping[str, Sequence[str]], delimiter: str) -> dict[str, Caution]:
    """The columns to read without separators, and what is said of each: other columns have decimal commas.

    None where a column has decimal points, or where commas may part the items of a list: ``"0,1"`` between commas.
    """
    filled = {name: {cell.strip().rstrip("% ") for cell in cells} - {""} for name, cells in columns.items()}
    if not any(_has_decimal_commas(cells, delimiter) for cells in filled.values()):
        return {}
    if any(_has_decimal_points(cells) for cells in filled.values()):
        return {}
    cautions = {}
    for name, cells in columns.items():
        plain = any(DECIMAL_COMMA.fullmatch(cell) and not _is_open(cell) for cell in filled[name])
        separated = [cell.strip() for cell in cells if _is_open(cell.strip()) and not (plain and "," in cell)]
        if separated:
            how = "decimal-comma" if "," in separated[0] else "thousands-points"
            n, first = len(separated), separated[0]
            cautions[name] = Caution.of("converted-numbers", None, n, count=n, column=name, how=how, first=first)
    return cautions


def thousands_or_decimals(cells: Iterable[object]) -> tuple[str, str] | None:
    """Two cells of a column that leave open whether a point parts thousands; None where nothing does.

    ``1.200`` beside ``980`` has no decimals, or as many as no other; beside ``950,5`` its point is none of decimals.
    """
    filled = [cell.strip() for cell in cells if isinstance(cell, str)]
    pointed = [cell for cell in filled if "." in cell]
    if not pointed or not all(_is_open(cell) and cell.count(".") == 1 for cell in pointed):
        return None
    padded = next((cell for cell in pointed if cell.endswith("0")), None)
    whole = next((cell for cell in filled if _WHOLE.fullmatch(cell) and int(cell) != 0), None)
    comma = next((cell for cell in filled if DECIMAL_COMMA.fullmatch(cell)), None)
    if comma is not None:
        return pointed[0], comma
    return None if padded is None or whole is None else (padded, whole)


def _is_open(text: str) -> bool:
    return re.fullmatch(OPEN_NUMBER, text) is not None


def _has_decimal_commas(cells: set[str], delimiter: str) -> bool:
    """Whether a column is of numbers, some with a decimal comma beyond doubt."""
    sure = _FRACTION if delimiter == "," else DECIMAL_COMMA
    numbers = [cell for cell in cells if _WHOLE.fullmatch(cell) or DECIMAL_COMMA.fullmatch(cell)]
    return 2 * len(numbers) > len(cells) and any(
        sure.fullmatch(cell) and not THOUSANDS.fullmatch(cell) for cell in numbers
    )


def _has_decimal_points(cells: set[str]) -> bool:
    """Whether a column is of numbers, some with a decimal point beyond doubt: ``0.84``."""
    points = [cell for cell in cells if _POINT.fullmatch(cell)]
    return any(not POINTS_OF_THOUSANDS.fullmatch(cell) for cell in points) and 2 * sum(
        bool(_POINT.fullmatch(cell) or _WHOLE.fullmatch(cell)) for cell in cells
    ) > len(cells)
