"""Scores kept as a list in one cell: one row per item, a sample of the row's problem or a checkpoint of its run.

Without a group a list is one run's checkpoints, of which the best counts; of a problem's samples it must not be taken,
or pass@1 would be pass@k. Items that carry a step, and lists beside a column of runs, stay checkpoints.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from levelbest._check import Column
from levelbest.errors import DataError, InputError, named
from levelbest.readers.columns import number, typed
from levelbest.readers.steps.merged import Merged
from levelbest.readers.steps.nested import STEPS, dig, has_steps, inside, is_series, no_item
from levelbest.readers.steps.roles import Roles
from levelbest.trials import Skipped

__all__ = ["expand_lists"]

_CHECKPOINTS = 50
"""More items than this in the only record of a file are a table, not one run."""
_Checkpoints = list[tuple[object, float]]
"""Step and score of each checkpoint of a run, in their order; where nothing tells the step, its place in the list."""


def expand_lists(table: Merged, roles: Roles) -> Merged:
    """One row per item of the lists of scores; as it is where scores are plain numbers."""
    asked = {"selection": roles.selection, "reported": roles.reported, "cost": roles.cost}
    cells_of = {name: _lists(table, name, role) for role, name in asked.items() if name is not None}
    lists = {name: cells for name, cells in cells_of.items() if cells is not None}
    if roles.selection not in lists:
        if roles.reported in lists:
            raise InputError(
                f"the reported score {roles.reported!r} is a list of checkpoints and the selection score "
                f"{roles.selection!r} is not: nothing says which checkpoint to report"
            )
        return table
    cells, _ = lists[roles.selection]
    checkpoints = {name: [_checkpoints(cell, inner) for cell in own] for name, (own, inner) in lists.items()}
    numbers = any(np.isfinite(score) for run in checkpoints[roles.selection] for _, score in run)
    if roles.group is not None and roles.trial is None and numbers and not has_steps(cells):
        for role, name in asked.items():
            if name in lists and has_steps(lists[name][0]):  # checkpoints of something else
                raise no_item(table.source, name, role)
        items = {name: [_items(cell, inner) for cell in own] for name, (own, inner) in lists.items()}
        return _by_sample(table, roles, items)
    for role, name in asked.items():
        if name in lists:
            _refuse_no_run(table, name, role, lists[name], checkpoints[name])
    return _by_checkpoint(table, roles, checkpoints)


def _lists(table: Merged, name: str, role: str) -> tuple[Column, str | None] | None:
    """The column of a score and the path inside its lists; None where it holds plain numbers."""
    owner, path = inside(name, table.columns)
    if owner not in table.columns:
        raise no_item(table.source, name, role)
    cells = table.columns[owner]
    if is_series(cells):
        return cells, path
    if path is not None:
        raise InputError(f"{table.source} has no column {name!r} for {named(role)}, and {owner!r} has no parts")
    return None


def _items(cell: object, path: str | None) -> list[object]:
    cell = cell.tolist() if isinstance(cell, np.ndarray) else cell
    items = list(cell) if isinstance(cell, (list, tuple)) else [] if cell is None else [cell]
    return items if path is None else [dig(item, path) for item in items]


def _checkpoints(cell: object, path: str | None) -> _Checkpoints:
    """A run's scores by step; a cell that holds no list has none."""
    run: _Checkpoints = []
    for place, item in enumerate(_items(cell, None) if isinstance(cell, (list, tuple, np.ndarray)) else ()):
        step: object = None
        if isinstance(item, dict):
            step = next((item[name] for name in STEPS if isinstance(item.get(name), (int, float))), None)
            item = dig(item, path) if path else None
        elif isinstance(item, (list, tuple)) and len(item) == 2 and not path:
            step, item = item
        step = place if step is None else str(step) if isinstance(step, (list, dict)) else step
        score = number(item)
        if score is not None:  # at a step without this score it was not measured, which NaN would be
            run.append((step, score))
    return run


def _refuse_no_run(
    table: Merged, name: str, role: str, lists: tuple[Column, str | None], runs: list[_Checkpoints]
) -> None:
    """Lists without a number, and the one record of a file whose list is rather a table."""
    cells, path = lists
    owner = inside(name, table.columns)[0]
    first = next((cell[0] for cell in cells if isinstance(cell, list) and cell), None)
    if not any(np.isfinite(score) for run in runs for _, score in run):
        keys = f"; its objects have {', '.join(first)}" if isinstance(first, dict) else ""
        under = "" if path is None else f" under {path!r}"
        raise InputError(
            f"{table.source}: the list {owner!r} has no numbers{under} for {named(role)}{keys}: name one, as "
            f"{owner}.KEY"
        )
    longest = max(len(run) for run in runs)
    most = 1 if isinstance(first, dict) else _CHECKPOINTS  # objects without a step are rather runs
    if table.n_rows == 1 and longest > most and not has_steps(cells):
        raise InputError(
            f"{table.source} is one record, and {owner!r} a list of {longest:,} items without a step: read as the "
            f"checkpoints of one run it would be a single trial; write the list as a table of its own, a row for each"
        )


def _by_checkpoint(table: Merged, roles: Roles, runs: Mapping[str, list[_Checkpoints]]) -> Merged:
    """A row for each checkpoint of the selection score, with the reported score at that step, and at least one row.

    What a run used up is told by its costs in their order, whatever their steps.
    """
    values: dict[str, list[float | None]] = {name: [] for name in runs}
    sizes = []
    for row, run in enumerate(runs[roles.selection]):
        own: dict[str, list[float | None]] = {name: [score for _, score in each[row]] for name, each in runs.items()}
        if roles.reported is not None and roles.reported in runs:
            own[roles.reported] = _at_steps(run, runs[roles.reported][row])
        sizes.append(max(1, len(run), len(own.get(roles.cost or "", ()))))
        for name, scores in own.items():
            values[name] += [*scores, *[None] * (sizes[-1] - len(scores))]
    columns = {name: typed(scores) for name, scores in values.items()}
    if roles.trial is None:
        roles.trial = _free_name(table, "run number")
        columns[roles.trial] = np.repeat(np.arange(table.n_rows) + 1.0, sizes)
    return _expanded(table, columns, sizes)


def _at_steps(run: _Checkpoints, other: _Checkpoints) -> list[float | None]:
    """The other score at the steps of a run; None where it was not recorded there."""
    first = dict(reversed(other))  # of several at one step the one at the same place, else the first
    return [
        other[place][1] if place < len(other) and other[place][0] == step else first.get(step)
        for place, (step, _) in enumerate(run)
    ]


def _by_sample(table: Merged, roles: Roles, lists: Mapping[str, list[list[object]]]) -> Merged:
    sizes = [len(items) for items in lists[roles.selection]]
    for name, cells in lists.items():
        for row, (size, items) in enumerate(zip(sizes, cells, strict=True)):
            if len(items) != size:
                raise DataError(
                    f"{table.at(row)}: {roles.selection!r} lists {size} samples and {name!r} lists {len(items)}; "
                    "every sample needs both: write them as objects in one list, or one row per sample"
                )
            if name == roles.selection and not size:
                why = f"its list {roles.selection!r} is empty: it has no samples"
                table.skipped.append(Skipped(table.at(row), why))
    place = _free_name(table, "sample number")
    columns = {name: typed([item for items in cells for item in items]) for name, cells in lists.items()}
    columns[place] = np.concatenate([np.arange(size, dtype=np.float64) for size in sizes])
    table.say("guessed-columns", kind="lists", column=roles.selection, group=roles.group)
    roles.order = roles.order or place
    roles.sample = roles.sample or place
    return _expanded(table, columns, sizes)


def _free_name(table: Merged, name: str) -> str:
    while name in table.columns:
        name += "'"
    return name


def _expanded(table: Merged, columns: Mapping[str, Column], sizes: list[int]) -> Merged:
    """Rows repeated so often, with new columns in place of the lists."""
    owners = {inside(name, table.columns)[0] for name in columns}
    return table.reshaped(np.repeat(np.arange(table.n_rows), sizes), columns, owners)
