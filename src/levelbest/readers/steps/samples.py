"""Samples of a problem kept as a list in one cell: one row each, where a column names problems."""

from __future__ import annotations

from typing import Any

import numpy as np

from levelbest.cautions import Caution
from levelbest.errors import DataError
from levelbest.readers.columns import taken, typed
from levelbest.readers.steps.merged import Merged
from levelbest.readers.steps.nested import dig, has_steps, inside, is_series, series_of
from levelbest.readers.steps.notes import Notes
from levelbest.readers.steps.roles import Roles
from levelbest.trials import Skipped

__all__ = ["expand_samples"]

_PLACE = "sample number"


def expand_samples(table: Merged, roles: Roles, notes: Notes) -> Merged:
    """One row per item of the lists of scores; as it is where scores are plain numbers or lists of checkpoints.

    Without a group a list is one run's checkpoints, of which the best counts; of a problem's samples it must not be
    taken, or pass@1 would be pass@k. Items that carry a step, and lists beside a column of runs, stay checkpoints.
    """
    if roles.group is None or roles.trial is not None:
        return table
    selection = _items(table, roles.selection)
    if selection is None:
        return table
    lists = {roles.selection: selection}
    for name in (roles.reported, roles.cost):
        if name is not None and name not in lists and (items := _items(table, name)) is not None:
            lists[name] = items
    sizes = np.array([len(items) for items in selection], dtype=np.int64)
    for name, items in lists.items():
        for row, size in enumerate(sizes.tolist()):
            if len(items[row]) != size:
                raise DataError(
                    f"{table.at(row)}: {roles.selection!r} lists {size} samples and {name!r} lists {len(items[row])}; "
                    "every sample needs both: write them as objects in one list, or one row per sample"
                )
    notes.skipped += [
        Skipped(table.at(row), f"its list {roles.selection!r} is empty: it has no samples")
        for row in np.flatnonzero(sizes == 0).tolist()
    ]
    place = _PLACE
    while place in table.columns:
        place += "'"
    owners = {inside(name, table.columns)[0] for name in lists}
    kept = [name for name in table.columns if name not in lists and name not in owners]
    repeated = np.repeat(np.arange(table.n_rows), sizes)
    columns: dict[str, Any] = {name: taken(table.columns[name], repeated) for name in kept}
    columns |= {name: typed([item for row in items for item in row]) for name, items in lists.items()}
    columns[place] = np.concatenate([np.arange(size, dtype=np.float64) for size in sizes.tolist()])
    notes.cautions.append(Caution.of("guessed-columns", kind="lists", column=roles.selection, group=roles.group))
    roles.order = roles.order or place
    roles.sample = roles.sample or place
    return table.reshaped(repeated, columns)


def _items(table: Merged, name: str) -> list[list[object]] | None:
    """Each row's samples of one score; None where the column holds no lists, or lists of checkpoints."""
    owner, path = inside(name, table.columns)
    if owner not in table.columns:
        return None
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
