"""Merges columns that different people name differently: ``acc=accuracy,test_acc`` joins three columns in one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from levelbest.errors import InputError, named
from levelbest.readers.raw import RawTable, cell_list, typed
from levelbest.trials import Skipped

__all__ = ["as_mapping", "with_one_name"]


def as_mapping(given: str | Sequence[str] | Mapping[str, str | Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """The names that each column goes by, its own first.

    Examples
    --------
    >>> as_mapping("acc=accuracy,test_acc")
    {'acc': ('acc', 'accuracy', 'test_acc')}
    """
    if isinstance(given, Mapping):
        pairs = [(name, [others] if isinstance(others, str) else list(others)) for name, others in given.items()]
    else:
        texts = [given] if isinstance(given, str) else list(given)
        pairs = [(name, others.split(",")) for name, _, others in (text.partition("=") for text in texts)]
    known = {name.strip(): tuple(other.strip() for other in others if other.strip()) for name, others in pairs}
    if not known or any(not name or not others for name, others in known.items()):
        raise InputError(f"{named('map')} joins columns under one name, such as 'acc=accuracy,test_acc', got {given!r}")
    return {name: tuple(dict.fromkeys((name, *others))) for name, others in known.items()}


def with_one_name(tables: Sequence[RawTable], names: Mapping[str, Sequence[str]]) -> list[RawTable]:
    """The tables with each of these columns under one name; rows that have it under none are left out and listed."""
    every = {column for table in tables for column in table.columns}
    for name, others in names.items():
        if not every & set(others):
            raise InputError(f"no column is called {' or '.join(others)}, which {named('map')} joins as {name}")
    for name, others in names.items():
        tables = [_joined(table, name, others) for table in tables]
    return list(tables)


def _joined(table: RawTable, name: str, others: Sequence[str]) -> RawTable:
    cells = _cells(table, name, others)
    lost = [row for row, cell in enumerate(cells) if cell is None]
    kept = np.flatnonzero([cell is not None for cell in cells])
    left = {column: values[kept] for column, values in table.columns.items() if column not in others}
    if lost:  # without the columns of theirs alone
        left = {column: values for column, values in left.items() if not _empty(cell_list(values))}
    return replace(
        table,
        columns={name: typed([cells[row] for row in kept]), **left},
        lines=None if table.lines is None else table.lines[kept],
        place_of=None if table.place_of is None else lambda row: table.at(int(kept[row])),
        skipped=[*table.skipped, *(Skipped(table.at(row), f"it has none of {', '.join(others)}") for row in lost)],
    )


def _empty(cells: Sequence[object]) -> bool:
    return all(cell is None for cell in cells)


def _cells(table: RawTable, name: str, others: Sequence[str]) -> list[object]:
    """The one value that each row has under any of the names; None where it has none."""
    present = [other for other in others if other in table.columns]
    columns = [cell_list(table.columns[other]) for other in present]
    joined: list[object] = []
    for row in range(table.n_rows):
        known = [column[row] for column in columns if column[row] is not None]
        if len({str(cell) for cell in known}) > 1:
            raise InputError(
                f"{table.at(row)}: {' and '.join(present)} have different values, and {named('map')} joins them as "
                f"{name}; leave one of them out"
            )
        joined.append(known[0] if known else None)
    return joined
