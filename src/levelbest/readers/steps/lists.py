"""Lists of scores in one cell, as one row per item: a sample of its problem, a task or a checkpoint of its run.

A list contains the checkpoints of one run, of which the best counts, if its items have a step, its name is about time,
its length differs between runs, or there is a column of runs. Of the samples of a problem the best must not be taken,
or pass@1 would become pass@k; nor of the tasks of a suite. If a role is given the name of the list, it says what the
items are.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from levelbest._check import Column
from levelbest.errors import Ambiguous, DataError, InputError, named
from levelbest.readers.raw import number, typed
from levelbest.readers.steps import names
from levelbest.readers.steps.cells import STEPS, dig, has_steps, inside, is_series, no_item
from levelbest.readers.steps.kinds import is_task_name
from levelbest.readers.steps.merged import Merged
from levelbest.readers.steps.roles import Roles
from levelbest.trials import Skipped

__all__ = ["rows_of_lists"]

_TIMED = names.word_set(
    "curve curves history trace traces epoch epochs checkpoint checkpoints learning log logs step steps trajectory "
    "progress series losses iterations iteration"
)
"""Words in the name of a list whose items follow each other in time."""
_RUNS = names.word_set("run run_id run_name run_uuid")
_FOLDS = 10
"""Up to so many validation scores in a list may be folds."""
_CHECKPOINTS = 50
"""More items than this in the only record of a file are a table, not one run."""
_Lists = Mapping[str, tuple[Column, str | None]]
"""By score: the cells, and the key inside their items, where these are objects."""
_Checkpoints = list[tuple[object, float]]
"""Step and score of each checkpoint of a run, in their order; where nothing tells the step, its place in the list."""


def rows_of_lists(table: Merged, roles: Roles) -> Merged:
    """One row per item of the lists of scores; as it is where scores are plain numbers."""
    scores = {"selection": roles.selection, "reported": roles.reported, "cost": roles.cost}
    scores_in = {role: name for role, name in scores.items() if name is not None}
    cells_of = {name: _lists(table, name, role) for role, name in scores_in.items()}
    lists = {name: cells for name, cells in cells_of.items() if cells is not None}
    if roles.selection not in lists and roles.reported in lists:
        raise InputError(
            f"the reported score {roles.reported!r} is a list of checkpoints and the selection score "
            f"{roles.selection!r} is not: nothing says which checkpoint to report"
        )
    if roles.selection not in lists:
        return table
    return _in_rows(table, roles, scores_in, lists)


def _in_rows(table: Merged, roles: Roles, scores_in: Mapping[str, str], lists: _Lists) -> Merged:
    """The lists of scores by what their items are: as a role says, tasks, samples of problems, or checkpoints."""
    cells, inner = lists[roles.selection]
    owner = inside(roles.selection, table.columns)[0]
    for role in ("task", "seed", "group"):
        if getattr(roles, role) in (roles.selection, owner):
            return _by_item(table, roles, lists, role, _places(cells))
    labels = _labels(table, roles, owner, cells)
    if labels is not None and roles.task is None:
        return _by_item(table, roles, lists, "task", labels)
    checkpoints = {name: [_checkpoints(cell, inner) for cell in cells] for name, (cells, inner) in lists.items()}
    numbers = any(np.isfinite(score) for run in checkpoints[roles.selection] for _, score in run)
    if roles.group is not None and roles.trial is None and numbers and not has_steps(cells):
        return _samples(table, roles, scores_in, lists)
    for role, name in scores_in.items():
        if name in lists:
            _refuse_no_run(table, name, role, lists[name], checkpoints[name])
    if roles.trial in (roles.selection, owner):
        roles.trial = None  # its items are checkpoints
    elif roles.trial is None and not (_is_history(roles.selection, cells, inner) or _are_runs(table, lists)):
        raise _what_are_they(table, roles.selection, owner, len(_items(cells[0], None)))
    return _by_checkpoint(table, roles, checkpoints)


def _what_are_they(table: Merged, name: str, owner: str, length: int) -> Ambiguous:
    return Ambiguous(
        f"{table.source}: {name!r} lists {length} numbers in each row: are they checkpoints of a run, of which the "
        f"best counts ({named('trial', owner)}), tasks ({named('task', owner)}), or repeats such as seeds and folds "
        f"({named('seed_column', owner)})?"
    )


def _is_history(name: str, cells: Column, path: str | None) -> bool:
    """Whether items follow each other in time: they carry steps, or the name, the lengths or their number say so."""
    lengths = {len(_items(cell, None)) for cell in cells if isinstance(cell, (list, tuple, np.ndarray))}
    longest, words = max(lengths, default=0), set(names.tokens(name))
    of_a_split = bool(words & (names.VALIDATION | names.TRAIN)) and longest > _FOLDS
    timed = bool(words & _TIMED) or of_a_split or longest > _CHECKPOINTS or path is not None
    return longest < 2 or len(lengths) > 1 or timed or has_steps(cells)


def _are_runs(table: Merged, lists: Mapping[str, tuple[Column, str | None]]) -> bool:
    """Whether another list has steps, or a column names the rows as runs."""
    return any(has_steps(cells) for cells, _ in lists.values()) or bool(names.among(table.columns, _RUNS))


def _places(cells: Column) -> list[list[object]]:
    return [[place + 1 for place in range(len(_items(cell, None)))] for cell in cells]


def _samples(table: Merged, roles: Roles, scores_in: Mapping[str, str], lists: _Lists) -> Merged:
    for role, name in scores_in.items():
        if name in lists and has_steps(lists[name][0]):  # checkpoints of something else
            raise no_item(table.source, name, role)
    items = {name: [_items(cell, inner) for cell in cells] for name, (cells, inner) in lists.items()}
    return _by_sample(table, roles, items)


def _labels(table: Merged, roles: Roles, owner: str, cells: Column) -> list[list[object]] | None:
    """The task of each item: a key of its object, or a list of names beside the scores; None where nothing names it."""
    first = next((cell[0] for cell in cells if isinstance(cell, list) and cell), None)
    if isinstance(first, dict) and not has_steps(cells):
        keys = [key for key in first if is_task_name(key) and isinstance(first[key], str)]
        if keys:
            return [_items(cell, keys[0]) for cell in cells]
    for name, beside in table.columns.items():
        if name in roles.used() | {owner} or not is_task_name(name) or not is_series(beside):
            continue
        lists = [_items(cell, None) for cell in beside]
        if _name_each_item(lists, cells):
            return lists
    return None


def _name_each_item(labels: list[list[object]], cells: Column) -> bool:
    same = all(len(row) == len(_items(cell, None)) for row, cell in zip(labels, cells, strict=True))
    return same and all(isinstance(label, str) for row in labels for label in row)


def _by_item(
    table: Merged, roles: Roles, lists: Mapping[str, tuple[Column, str | None]], role: str, labels: list[list[object]]
) -> Merged:
    """A row for each item, told apart by a new column with this role."""
    items = {name: [_items(cell, inner) for cell in cells] for name, (cells, inner) in lists.items()}
    sizes = [len(row_labels) for row_labels in labels]
    for name, cells in items.items():
        for row, (size, row_labels) in enumerate(zip(sizes, cells, strict=True)):
            if len(row_labels) != size:
                raise DataError(
                    f"{table.at(row)}: {name!r} lists {len(row_labels)} items, and {roles.selection!r} lists {size}"
                )
    place = _free_name(table, f"{inside(roles.selection, table.columns)[0]} {role}")
    columns = {name: typed([item for row_items in cells for item in row_items]) for name, cells in items.items()}
    columns[place] = typed([str(label) for row_labels in labels for label in row_labels])
    setattr(roles, role, place)
    roles.guessed.append((role, place))
    return _expanded(table, columns, sizes)


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
            f"checkpoints of one run it would be a single trial; write the list as a separate table with a row for each"
        )


def _by_checkpoint(table: Merged, roles: Roles, runs: Mapping[str, list[_Checkpoints]]) -> Merged:
    """A row for each checkpoint of the selection score, with the reported score at that step, and at least one row.

    What a run used up is told by its costs in their order, whatever their steps.
    """
    values: dict[str, list[float | None]] = {name: [] for name in runs}
    sizes = []
    for row, run in enumerate(runs[roles.selection]):
        logged: dict[str, list[float | None]] = {name: [score for _, score in each[row]] for name, each in runs.items()}
        if roles.reported is not None and roles.reported in runs:
            logged[roles.reported] = _at_steps(run, runs[roles.reported][row])
        sizes.append(max(1, len(run), len(logged.get(roles.cost or "", ()))))
        for name, scores in logged.items():
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
