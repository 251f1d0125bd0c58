"""One row per run: the best checkpoint, chosen by the selection score and never by the reported one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from levelbest._check import FloatArray, IntArray, sign_of
from levelbest.readers.columns import as_codes, joint_codes
from levelbest.readers.steps.merged import Merged
from levelbest.readers.steps.roles import Roles
from levelbest.trials import STATUSES

__all__ = ["best_rows"]

Codes = npt.NDArray[np.signedinteger]
Mask = npt.NDArray[np.bool_]

_OK, _DIVERGED = STATUSES.index("ok"), STATUSES.index("diverged")


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
        keys.append(table.table_codes())
    run = joint_codes([key[keep] for key in keys])
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
    known = np.flatnonzero(np.isfinite(spent))
    order = known[np.argsort(run[known], kind="stable")]
    clock = bool((np.diff(spent[order])[np.diff(run[order]) == 0] >= 0).all())
    total = np.full(int(run.max()) + 1, np.nan)
    total[run[known]] = -np.inf if clock else 0.0
    (np.maximum if clock else np.add).at(total, run[known], spent[known])
    roles.run_cost = "last" if clock else "sum"
    whole = cost.copy()
    whole[keep[best]] = total[run[best]]
    return whole
