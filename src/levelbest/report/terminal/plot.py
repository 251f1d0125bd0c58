"""A curve drawn in the terminal, in braille dots where the encoding has them and plain marks where not."""

from __future__ import annotations

import math
from collections.abc import Sequence

from levelbest._plain import show_number
from levelbest.report.view import Line

_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # of a braille cell, by row and column
_PLAIN = "abcdefghijklmnopqrstuvwxyz"


def plot_lines(
    lines: Sequence[Line], *, width: int = 72, height: int = 12, log: bool = False, unicode: bool = True
) -> list[list[tuple[str, int | None]]]:
    """Rows of (text, which line) pieces, ready for a terminal: values up the side, budgets along the foot."""
    drawn = [line for line in lines if any(math.isfinite(value) for value in line.value)]
    if not drawn:
        return [[("no curve to draw", None)]]
    values = [value for line in drawn for value in line.value if math.isfinite(value)]
    low, high = min(values), max(values)
    high = high if high > low else low + 1e-9 + abs(low) * 1e-6
    first, last = min(line.x[0] for line in drawn), max(line.x[-1] for line in drawn)
    decimals = max(0, min(6, 2 - math.floor(math.log10(high - low))))
    label = max(len(show_number(low, decimals)), len(show_number(high, decimals)))
    columns, rows = max(10, width - label - 2), height
    fine_x, fine_y = (2, 4) if unicode else (1, 1)
    cells: dict[tuple[int, int], tuple[int, int]] = {}

    def place(x: float) -> float:
        if last == first:
            return 0.0
        return math.log(x / first) / math.log(last / first) if log else (x - first) / (last - first)

    for which, line in enumerate(drawn):
        points = [(place(x), y) for x, y in zip(line.x, line.value, strict=True) if math.isfinite(y)]
        for column, y in _sampled(points, columns * fine_x):
            row = round((high - y) / (high - low) * (rows * fine_y - 1))
            cell = (row // fine_y, column // fine_x)
            dots = (
                cells.get(cell, (0, which))[0]
                | _DOTS[row % fine_y if unicode else 0][column % fine_x if unicode else 0]
            )
            cells[cell] = (dots, which)
    out: list[list[tuple[str, int | None]]] = []
    for row in range(rows):
        value = show_number(high - (high - low) * row / (rows - 1), decimals) if row in (0, rows // 2, rows - 1) else ""
        pieces: list[tuple[str, int | None]] = [(f"{value:>{label}} ", None)]
        for column in range(columns):
            dots, which = cells.get((row, column), (0, -1))
            if not dots:
                pieces.append((" ", None))
            else:
                pieces.append((chr(0x2800 + dots) if unicode else _PLAIN[which % 26], which))
        out.append(pieces)
    foot = f"{first:g}".ljust(columns - len(f"{last:g}")) + f"{last:g}"
    out.append([(" " * (label + 1) + foot, None)])
    return out


def _sampled(points: Sequence[tuple[float, float]], columns: int) -> list[tuple[int, float]]:
    """One height per column, interpolated between the points."""
    found = []
    k = 0
    for column in range(columns):
        x = column / (columns - 1)
        if not points[0][0] - 1e-12 <= x <= points[-1][0] + 1e-12:
            continue
        while k + 1 < len(points) - 1 and points[k + 1][0] < x:
            k += 1
        (x0, y0), (x1, y1) = points[k], points[min(k + 1, len(points) - 1)]
        share = 0.0 if x1 == x0 else min(1.0, max(0.0, (x - x0) / (x1 - x0)))
        found.append((column, y0 + share * (y1 - y0)))
    return found
