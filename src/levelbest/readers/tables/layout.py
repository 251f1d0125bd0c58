"""Where a CSV table begins: its delimiter, what stands above it, its header and the names of its columns."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from levelbest._plain import unguarded
from levelbest.cautions import Caution
from levelbest.errors import DataError
from levelbest.trials import Skipped

__all__ = ["NUMBER", "WHITESPACE", "Layout", "cells_of", "is_number", "layout_of", "unique_names"]

_DELIMITERS = (",", "\t", ";", "|")
WHITESPACE = " "
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(nan|inf|infinity)", re.IGNORECASE)
_DECLARED = re.compile(r'\ufeff?"?sep=(.)"?\W*', re.IGNORECASE)
"""The line that Excel writes and reads above a table: ``sep=;``."""
_SAMPLE = 50
_MOST_TITLES = 10
"""Lines above a header that can be a title."""


@dataclass(frozen=True)
class Layout:
    """How the text of a table is laid out, as its first lines show it."""

    delimiter: str
    body: int
    """The first line of rows, from 0."""
    names: list[str]
    skipped: list[Skipped]
    """A title above the header."""
    cautions: list[Caution]
    """Columns of one name, which were told apart."""


def layout_of(lines: Sequence[str], source: str, delimiter: str | None = None) -> Layout:
    """The layout of the table that begins with these lines; a header of numbers alone is a row."""
    start = _first_line(lines)
    if start is None:
        raise DataError(f"{source} is empty: there is no header and no row")
    delimiter = delimiter or _delimiter_of(lines)
    cells = cells_of(lines[start], delimiter)
    filled = [cell.strip() for cell in cells if cell.strip()]
    headless = bool(filled) and all(map(is_number, filled))
    names, repeated = unique_names([""] * len(cells) if headless else cells)
    cautions = [
        Caution.of("guessed-columns", kind="renamed", source=source, column=name, count=count)
        for name, count in repeated.items()
    ]
    return Layout(delimiter, start if headless else start + 1, names, _above(lines, start, source), cautions)


def _above(lines: Sequence[str], start: int, source: str) -> list[Skipped]:
    """What stands above the header and is neither blank, a comment nor a declared delimiter: a title, which is told."""
    filled = [place for place in range(start) if lines[place].strip()]
    titles = [place for place in filled if not lines[place].startswith("#") and not _DECLARED.fullmatch(lines[place])]
    if not titles:
        return []
    first, last = filled[0] + 1, filled[-1] + 1
    where = f"line {first}" if first == last else f"lines {first} to {last}"
    text = lines[titles[0]].strip().strip(";,|\t ")
    return [Skipped(f"{source}, {where}", f"above the header, which is in line {start + 1}: {text[:60]!r}")]


def _delimiter_of(lines: Sequence[str]) -> str:
    """The delimiter of the table below comments: the declared one where the header has it, else the likeliest."""
    start = _first_line(lines) or 0
    for line in lines[:start]:
        declared = _DECLARED.fullmatch(line)
        if declared and declared[1] in _DELIMITERS and declared[1] in lines[start]:
            return declared[1]
    return _dialect_of(lines[start:])


def _dialect_of(lines: Sequence[str]) -> str:
    """The delimiter under which most of the first lines have as many cells as the header; more columns win a tie."""
    sample = [line for line in lines[:200] if line.strip()][:50]
    best, score = ",", (0.0, 0)
    for delimiter in _DELIMITERS:
        sizes = [len(cells_of(line, delimiter)) for line in sample]
        if sizes[0] > 1:
            share = sum(size == sizes[0] for size in sizes) / len(sizes)
            if (round(share, 1), sizes[0]) > score:
                best, score = delimiter, (round(share, 1), sizes[0])
    if score[1] == 0 and len(sample) > 1:
        sizes = [len(line.split()) for line in sample]
        if sizes[0] > 1 and all(size == sizes[0] for size in sizes) and all(map(is_number, sample[1].split())):
            return WHITESPACE
    return best


def _first_line(lines: Sequence[str]) -> int | None:
    """The header's position: the first line that is neither blank nor a comment above the table."""
    filled = [place for place, line in enumerate(lines) if line.strip()]
    if len(filled) > 1 and _DECLARED.fullmatch(lines[filled[0]]):
        del filled[0]
    if not filled:
        return None
    filled = filled[_n_titles([lines[place] for place in filled[:_SAMPLE]]) :]
    comments = 0
    while comments < len(filled) and lines[filled[comments]].startswith("#"):
        comments += 1
    if not comments or comments == len(filled):
        return filled[0]
    # "#run,acc" above rows of two cells is a header, not a comment.
    below = lines[filled[comments]]
    delimiter = _dialect_of(lines[filled[comments] :])
    last = filled[comments - 1]
    first = cells_of(below, delimiter)
    same = len(cells_of(lines[last], delimiter)) == len(first) > 1
    return last if same and all(is_number(cell.strip()) or not cell.strip() for cell in first) else filled[comments]


def _n_titles(sample: Sequence[str]) -> int:
    """How many lines stand above a header as titles do: with few filled cells, where the header has text in all.

    The header is the first line of as many cells as most lines have, all different and none a number, and numbers
    follow it; each line before it has no more than half of its cells filled.
    """
    for delimiter in _DELIMITERS:
        split = [[cell.strip() for cell in cells_of(line, delimiter)] for line in sample]
        sizes = Counter(len(cells) for cells in split)
        width, share = sizes.most_common(1)[0]
        if width < 2 or share < 0.6 * len(sample):
            continue
        for place, cells in enumerate(split[: _MOST_TITLES + 1]):
            filled = [cell for cell in cells if cell]
            header = len(cells) == width == len(set(filled)) and not any(map(_looks_numeric, filled))
            if header and any(_looks_numeric(cell) for row in split[place + 1 :] for cell in row):
                return place
            if 2 * len(filled) > width:
                break
    return 0


def _looks_numeric(cell: str) -> bool:
    return is_number(cell.replace(",", ".", 1).rstrip("%"))


def is_number(text: str) -> bool:
    return NUMBER.fullmatch(text) is not None


def cells_of(line: str, delimiter: str) -> list[str]:
    if delimiter == WHITESPACE:
        return line.split()
    if '"' not in line:
        return line.split(delimiter)
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return line.split(delimiter)


def unique_names(header: Sequence[str]) -> tuple[list[str], dict[str, int]]:
    """Unique names for a header, and which names came more than once: the second ``acc`` is ``acc (2)``."""
    seen: dict[str, int] = {}
    names: list[str] = []
    taken: set[str] = set()
    for place, cell in enumerate(header, 1):
        name = unguarded(cell.strip().lstrip("\ufeff")) or f"column{place}"
        seen[name] = seen.get(name, 0) + 1
        unique = name if seen[name] == 1 else f"{name} ({seen[name]})"
        while unique in taken:
            unique += "'"
        taken.add(unique)
        names.append(unique)
    return names, {name: count for name, count in seen.items() if count > 1}
