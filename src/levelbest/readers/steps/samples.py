"""Samples of a problem kept as a list in one cell: one row each, where a column names problems."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from levelbest.cautions import Caution
from levelbest.errors import DataError
from levelbest.readers.columns import taken, typed
from levelbest.readers.raw import RawTable
from levelbest.readers.steps.merged import Merged
from levelbest.readers.steps.nested import dig, has_steps, is_series, series_of, split_path
from levelbest.readers.steps.roles import Roles
from levelbest.trials import Skipped

__all__ = ["Expanded", "expand_samples"]

_PLACE = "sample number"
Rows = npt.NDArray[np.int64]


class Expanded:
    """The table with one row per sample, and what is said about it."""

    def __init__(self, table: Merged, cautions: list[Caution], skipped: list[Skipped]) -> None:
        self.table = table
        self.cautions = cautions
        self.skipped = skipped


def expand_samples(table: Merged, roles: Roles) -> Expanded | None:
    """One row per item of the lists of scores; None where scores are plain numbers or lists of checkpoints.

    Without a group a list is one run's checkpoints, of which the best counts; of a problem's samples it must not be
    taken, or pass@1 would be pass@k. Items that carry a step, and lists beside a column of runs, stay checkpoints.
    """
    if roles.group is None or roles.trial is not None:
        return None
    selection = _items(table, roles.selection)
    if selection is None:
        return None
    lists = {roles.selection: selection}
    for name in (roles.reported, roles.cost):
        if name is not None and name not in lists and (found := _items(table, name)) is not None:
            lists[name] = found
    sizes = np.array([len(items) for items in selection], dtype=np.int64)
    for name, items in lists.items():
        for row, size in enumerate(sizes.tolist()):
            if len(items[row]) != size:
                raise DataError(
                    f"{table.at(row)}: {roles.selection!r} lists {size} samples and {name!r} lists {len(items[row])}; "
                    "every sample needs both: write them as objects in one list, or one row per sample"
                )
    skipped = [
        Skipped(table.at(row), f"its list {roles.selection!r} is empty: it has no samples")
        for row in np.flatnonzero(sizes == 0).tolist()
    ]
    place = _PLACE
    while place in table.columns:
        place += "'"
    owners = {(split_path(name, table.columns) or ("",))[0] for name in lists if name not in table.columns}
    kept = [name for name in table.columns if name not in lists and name not in owners]
    plain = {name: table.columns[name] for name in kept}
    codes = table.table_codes()
    expanded = []
    for code in np.unique(codes).tolist():
        rows = np.flatnonzero(codes == code)
        repeated = np.repeat(rows, sizes[rows])
        columns: dict[str, Any] = {name: taken(column, repeated) for name, column in plain.items()}
        for name, items in lists.items():
            columns[name] = typed([item for row in rows.tolist() for item in items[row]])
        columns[place] = np.array([number for row in rows.tolist() for number in range(sizes[row])], dtype=np.float64)
        expanded.append(_like(table, code, columns, repeated))
    caution = Caution.of("guessed-columns", kind="lists", column=roles.selection, group=roles.group)
    if roles.order is None:
        roles.order = place
    roles.sample = roles.sample or place
    return Expanded(Merged(expanded), [caution], skipped)


def _items(table: Merged, name: str) -> list[list[object]] | None:
    """Each row's samples of one score; None where the column holds no lists, or lists of checkpoints."""
    path: str | None = None
    owner = name
    if name not in table.columns:
        split = split_path(name, table.columns)
        if split is None:
            return None
        owner, path = split
    column = table.columns[owner]
    if not is_series(column) or has_steps(column):
        return None
    if not any(np.isfinite(part.values).any() for part in series_of(column, path)):
        return None  # the reading of checkpoints says what is wrong with it
    return [_listed(cell, path) for cell in column]


def _listed(cell: object, path: str | None) -> list[Any]:
    if isinstance(cell, np.ndarray):
        cell = cell.tolist()
    if cell is None:
        return []
    items = list(cell) if isinstance(cell, (list, tuple)) else [cell]
    return items if path is None else [dig(item, path) for item in items]


def _like(table: Merged, code: int, columns: dict[str, Any], repeated: Rows) -> RawTable:
    """The expanded rows of one table, with all that its format said; each row knows where it came from."""
    part = table.tables[code]
    return RawTable(
        part.source,
        columns,
        roles={role: name for role, name in table.role_columns().items() if name in columns},
        configuration=None if part.configuration is None else [name for name in part.configuration if name in columns],
        direction=part.direction,
        cost_unit=part.cost_unit,
        facts=dict(part.facts),
        place_of=lambda row: table.at(int(repeated[row])),
    )
