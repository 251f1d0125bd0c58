"""Rows that are checkpoints of runs, and not trials of their own: found, and the best of each run chosen.

A counter that rises while a run repeats gives them away. The best checkpoint is chosen by the selection score and never
by the reported one.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from levelbest._check import FloatArray, IntArray, sign_of
from levelbest.cautions import Caution
from levelbest.errors import InputError, named
from levelbest.readers.columns import Cells, as_codes, joint_codes
from levelbest.readers.steps import names
from levelbest.readers.steps.configurations import is_result
from levelbest.readers.steps.merged import Merged
from levelbest.readers.steps.numbers import as_numbers
from levelbest.readers.steps.roles import Roles, Wanted, looks_numeric
from levelbest.trials import OK, STATUSES, Trials

__all__ = ["best_rows", "counter_of", "find_runs", "settings_vary"]

_COUNTERS = ("epoch", "step", "global_step", "iteration", "training_iteration", "iter", "checkpoint")
_RUNS = names.word_set(
    "run run_id run_name run_uuid trial trial_id trial_name log log_file log_path file job job_id experiment_id uuid"
)
_FEW = 8
_MOSTLY = 0.7
"""A counter that goes up by the same step in so many pairs of neighbouring rows counts checkpoints."""
_DIVERGED = STATUSES.index("diverged")

Codes = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]


def counter_of(columns: Mapping[str, Cells]) -> str | None:
    """The column that counts epochs or steps; None where there is none."""
    counters = (name for known in _COUNTERS for name in names.among(columns, (known,)))
    return next((name for name in counters if looks_numeric(columns, name)), None)


def find_runs(table: Merged, roles: Roles, wanted: Wanted) -> None:
    """Take the column of runs where rows are checkpoints of them, and say so; ask where nothing tells the runs apart.

    A row per epoch read as a trial would make one trial of every checkpoint.
    """
    if roles.trial is not None or wanted.trial is not None or roles.group is not None or table.n_rows < 2:
        return
    counter = counter_of(table.columns)
    if counter is None or counter in roles.used() - {roles.order}:
        return
    place = as_numbers(table.columns[counter]).values
    families = [as_codes(table.columns[name])[1] for name in roles.family]
    named_so = [name for name in names.among(table.columns, _RUNS) if name not in roles.used()]
    named_so += [] if roles.seed is None else [roles.seed]
    varied = settings_vary(table.columns, counter)
    plain = names.tokens(counter)[-1] in ("epoch", "step") and not varied
    other = {*named_so, *roles.used(), counter}
    free = [name for name in table.columns if plain and name not in other and not is_result(name)]
    # A number that begins again is rather a setting, which would be lost as one.
    others = [name for name in free if not looks_numeric(table.columns, name)]
    for name in [*named_so, *others]:
        run = joint_codes([*families, as_codes(table.columns[name])[1]])
        if _rises(run, place) and (name in named_so or _begins_with(run, place)):
            roles.trial = name
            runs = int(run.max()) + 1
            roles.notes.append(
                Caution.of("guessed-columns", None, runs, kind="checkpoints", runs=runs, column=name, counter=counter)
            )
            return
    if not varied and _counts_checkpoints(place, table.table_codes(), names.tokens(counter) == ("epoch",)):
        raise InputError(
            f"{table.source}: rows look like checkpoints, since {counter!r} goes up from row to row, and as trials of "
            f"their own they would be counted wrongly; name the column that tells runs apart with {named('trial')}, or "
            "say 'none' there if each row is a trial"
        )


def settings_vary(columns: Mapping[str, Cells], counter: str) -> bool:
    """Whether hyperparameters change from row to row, as from trial to trial: within a run only schedules do."""
    scheduled = ("lr", "learning_rate", "momentum")
    for name in columns:
        if name == counter or is_result(name) or names.spelled(name) in scheduled:
            continue
        codes = as_codes(columns[name])[1]
        if 2 * np.count_nonzero(np.diff(codes)) > codes.size:
            return True
    return False


def _rises(run: Codes, place: FloatArray) -> bool:
    """Whether runs have several rows each, in which the counter goes up and never down."""
    n_runs = int(run.max()) + 1
    if n_runs > run.size / 2:
        return False
    order = np.argsort(run, kind="stable")
    steps = np.diff(place[order])[np.diff(run[order]) == 0]
    known = steps[np.isfinite(steps)]
    return bool(known.size and (known >= 0).all() and (known > 0).mean() > 0.5)


def _begins_with(run: Codes, place: FloatArray) -> bool:
    """Whether the counter goes up within each run from row to row, and begins again with every run and at no other row.

    A column of any name that does so tells runs apart.
    """
    changes = np.diff(run) != 0
    once = int(changes.sum()) == int(run.max())
    return once and bool(np.array_equal(changes, ~(np.diff(place) > 0))) and bool(changes.any())


def _counts_checkpoints(place: FloatArray, table: Codes, by_name: bool) -> bool:
    """Whether a counter goes up by one step from row to row: again and again, or once where its name is plain."""
    steps = np.diff(place)[np.diff(table) == 0]
    if steps.size < _FEW - 1 or not np.isfinite(steps).all():
        return False
    rises = steps[steps > 0]
    if not rises.size:
        return False
    values, counts = np.unique(rises, return_counts=True)
    common = float(values[np.argmax(counts)])
    regular = float((steps == common).mean())
    restarts = int((steps < 0).sum()) + np.unique(table).size - 1
    return regular >= _MOSTLY and (restarts > 0 or by_name)


def best_rows(table: Merged, roles: Roles, read: Trials, direction: str) -> tuple[IntArray, FloatArray | None]:
    """The row of each run's best checkpoint, in order of first appearance, and the costs of whole runs.

    A run without any score keeps its last row, whose status says how it ended; so does one whose last score is NaN or
    infinite.
    """
    assert roles.trial is not None
    keys = [read.family, as_codes(table.columns[roles.trial])[1]]
    keys += [as_codes(table.columns[name])[1] for name in (roles.group, roles.search) if name is not None]
    if len(table.tables) > 1:
        keys.append(table.table_codes())
    run = joint_codes(keys)
    fine = (read.status == OK) & np.isfinite(read.selection)
    score = np.where(fine, sign_of(direction) * read.selection, -np.inf)
    place = np.arange(len(read))
    # Scored rows before unscored; among them the best, then the first; without any score the last row.
    order = np.lexsort((np.where(fine, place, -place), -score, ~fine, run))
    starts = np.flatnonzero(np.r_[True, np.diff(run[order]) > 0])
    best = order[starts]
    first = np.full(int(run.max()) + 1, len(read))
    np.minimum.at(first, run, place)
    ended = _diverged_ends(run, fine, read.status == _DIVERGED)
    best = np.where(ended[run[best]] >= 0, ended[run[best]], best)
    best = best[np.argsort(first[run[best]], kind="stable")]
    return best, None if read.cost is None else _run_costs(read.cost, run, best, roles)


def _diverged_ends(run: Codes, fine: Mask, diverged: Mask) -> IntArray:
    """The last row with a score of each run where that is NaN or infinite; -1 where a run ends otherwise."""
    last = np.full(int(run.max()) + 1, -1)
    measured = np.flatnonzero(fine | diverged)
    np.maximum.at(last, run[measured], measured)
    return np.where((last >= 0) & diverged[last], last, -1)


def _run_costs(spent: FloatArray, run: Codes, best: IntArray, roles: Roles) -> FloatArray:
    """What each run used up: the last of its costs where they never fall, as a clock's, else their sum."""
    known = np.flatnonzero(np.isfinite(spent))
    order = known[np.argsort(run[known], kind="stable")]
    clock = bool((np.diff(spent[order])[np.diff(run[order]) == 0] >= 0).all())
    total = np.full(int(run.max()) + 1, np.nan)
    total[run[known]] = -np.inf if clock else 0.0
    (np.maximum if clock else np.add).at(total, run[known], spent[known])
    roles.run_cost = "last" if clock else "sum"
    return total[run[best]]
