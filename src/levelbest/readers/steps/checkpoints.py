"""One row per run: the best checkpoint, chosen by the selection score and never by the reported one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from levelbest._check import FloatArray, IntArray, sign_of
from levelbest.errors import InputError, named
from levelbest.readers.columns import as_codes
from levelbest.readers.steps.merged import Merged
from levelbest.readers.steps.nested import (
    Series,
    at_checkpoint,
    best_checkpoint,
    has_steps,
    inside,
    is_series,
    no_item,
    series_of,
    total_of,
)
from levelbest.readers.steps.numbers import Numbers
from levelbest.readers.steps.roles import Roles
from levelbest.trials import STATUSES

__all__ = ["Picked", "best_rows", "pick_nested"]

Codes = npt.NDArray[np.signedinteger]
Mask = npt.NDArray[np.bool_]

_OK, _DIVERGED = STATUSES.index("ok"), STATUSES.index("diverged")
_CHECKPOINTS = 50
"""More items than this in the only record of a file are a table, not one run."""


@dataclass(frozen=True)
class Picked:
    """Scores of each row's best checkpoint, where a row holds a whole run."""

    selection: Numbers
    reported: Numbers | None
    cost: Numbers | None


def pick_nested(table: Merged, roles: Roles, direction: str) -> Picked | None:
    """The best checkpoint of runs whose checkpoints are a list in one cell; None where scores are plain numbers."""
    selection = _series(table, roles.selection, "selection")
    reported = None if roles.reported is None else _series(table, roles.reported, "reported")
    if selection is None:
        if reported is not None:
            raise InputError(
                f"the reported score {roles.reported!r} is a list of checkpoints and the selection score "
                f"{roles.selection!r} is not: nothing says which checkpoint to report"
            )
        return None
    chosen = best_checkpoint(selection, direction)
    empty = np.array([series.values.size == 0 for series in selection], dtype=bool)
    scores = np.array(
        [run.values[place] if place >= 0 else np.nan for run, place in zip(selection, chosen, strict=True)]
    )
    spent = None if roles.cost is None else _series(table, roles.cost, "cost")
    return Picked(
        Numbers(scores, empty),
        None if reported is None else _plain(at_checkpoint(chosen, selection, reported)),
        None if spent is None else _plain(_total(spent, roles)),
    )


def _series(table: Merged, name: str, role: str) -> list[Series] | None:
    """Each row's checkpoints of one score; None where the column holds plain numbers."""
    column, path = inside(name, table.columns)
    if column not in table.columns:
        raise no_item(table.source, name, role)
    cells = table.columns[column]
    if not is_series(cells):
        if path is not None:
            raise InputError(f"{table.source} has no column {name!r} for {named(role)}, and {column!r} has no parts")
        return None
    runs = series_of(cells, path)
    first = next((cell[0] for cell in cells if isinstance(cell, list) and cell), None)
    if not any(np.isfinite(run.values).any() for run in runs):
        keys = f"; its objects have {', '.join(first)}" if isinstance(first, dict) else ""
        under = "" if path is None else f" under {path!r}"
        raise InputError(
            f"{table.source}: the list {column!r} has no numbers{under} for {named(role)}{keys}: name one, as "
            f"{column}.KEY"
        )
    longest = max((run.values.size for run in runs), default=0)
    most = 1 if isinstance(first, dict) else _CHECKPOINTS  # objects without a step are rather runs
    if table.n_rows == 1 and longest > most and not has_steps(cells):
        raise InputError(
            f"{table.source} is one record, and {column!r} a list of {longest:,} items without a step: read as the "
            f"checkpoints of one run it would be a single trial; write the list as a table of its own, a row for each"
        )
    return runs


def _plain(values: FloatArray) -> Numbers:
    return Numbers(values, np.isnan(values))


def _total(series: list[Series], roles: Roles) -> FloatArray:
    spent, clock = total_of(series)
    roles.run_cost = "last" if clock else "sum"
    return spent


def best_rows(
    table: Merged,
    roles: Roles,
    family: npt.NDArray[np.int32],
    selection: FloatArray,
    status: npt.NDArray[np.uint8],
    cost: FloatArray | None,
    keep: npt.NDArray[np.int64],
    direction: str,
) -> tuple[npt.NDArray[np.int64], FloatArray | None]:
    """The row of each run's best checkpoint, in order of first appearance, and the costs of whole runs.

    A run without any score keeps its last row, whose status says how it ended; so does one whose last score is NaN or
    infinite.
    """
    assert roles.trial is not None
    keys = [family, as_codes(table.columns[roles.trial])[1]]
    keys += [as_codes(table.columns[name])[1] for name in (roles.group, roles.search) if name is not None]
    if len(table.tables) > 1:
        keys.append(np.searchsorted(table.starts, np.arange(table.starts[-1]), side="right").astype(np.int32))
        if table.rows is not None:
            keys[-1] = keys[-1][table.rows]
    _, run = np.unique(np.stack([key[keep] for key in keys], axis=1), axis=0, return_inverse=True)
    run = run.ravel()
    n_runs = int(run.max()) + 1
    fine = (status[keep] == _OK) & np.isfinite(selection[keep])
    score = np.where(fine, sign_of(direction) * selection[keep], -np.inf)
    place = np.arange(keep.size)
    # Scored rows before unscored; among them the best, then the first; without any score the last row.
    order = np.lexsort((np.where(fine, place, -place), -score, ~fine, run))
    starts = np.flatnonzero(np.r_[True, np.diff(run[order]) > 0])
    best = order[starts]
    first = np.full(n_runs, keep.size)
    np.minimum.at(first, run, place)
    ended = _diverged_ends(run, fine, status[keep] == _DIVERGED)
    best = np.where(ended[run[best]] >= 0, ended[run[best]], best)
    best = best[np.argsort(first[run[best]], kind="stable")]
    if cost is not None:
        cost = _run_costs(cost, keep, run, best, roles)
    return keep[best], cost


def _diverged_ends(run: Codes, fine: Mask, diverged: Mask) -> npt.NDArray[np.int64]:
    """The last row with a score of each run where that is NaN or infinite; -1 where a run ends otherwise."""
    last = np.full(int(run.max()) + 1, -1)
    measured = np.flatnonzero(fine | diverged)
    np.maximum.at(last, run[measured], measured)
    return np.where((last >= 0) & diverged[last], last, -1)


def _run_costs(cost: FloatArray, keep: IntArray, run: Codes, best: IntArray, roles: Roles) -> FloatArray:
    spent = cost[keep]
    order = np.lexsort((np.arange(keep.size), run))
    same = np.diff(run[order]) == 0
    steps = np.diff(spent[order])
    clock = bool((steps[same & np.isfinite(steps)] >= 0).all())
    n_runs = int(run.max()) + 1
    total = np.full(n_runs, -np.inf) if clock else np.zeros(n_runs)
    finite = np.isfinite(spent)
    (np.maximum if clock else np.add).at(total, run[finite], spent[finite])
    known = np.zeros(n_runs, dtype=bool)
    known[run[finite]] = True
    total[~known] = np.nan
    roles.run_cost = "last" if clock else "sum"
    whole = cost.copy()
    whole[keep[best]] = total[run[best]]
    return whole
