"""Trials as runs of a tracker: a name, a status, scores and settings each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from levelbest.errors import InputError, named
from levelbest.readers.columns import cell_list
from levelbest.trials import STATUSES, Trials

__all__ = ["TrialRun", "runs_of"]

_SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_PREFIXES = ("config.", "config/", "config_", "config:", "params.", "params_", "hyperparameters.", "parameters.")


@dataclass(frozen=True)
class TrialRun:
    """One trial, as a tracker takes it."""

    family: str
    name: str
    status: str
    scores: dict[str, float]
    settings: dict[str, object] = field(default_factory=dict)
    seconds: float | None = None
    """How long it took, where the cost is a time."""


def runs_of(trials: Trials, tool: str, hide: tuple[str, ...] = ()) -> Iterator[TrialRun]:
    """Each trial as a run; samples of problems are refused, since a run for each sample is of no use in a tracker."""
    if trials.group is not None:
        raise InputError(
            f"these are samples of problems, and {tool} would get a run for each: write them as csv, parquet or "
            f"every-eval-ever ({named('kind')})"
        )
    metric = trials.metric
    columns = {"selection": trials.selection, "reported": trials.reported, "cost": trials.cost}
    names = {"selection": metric.selection, "reported": metric.reported, "cost": metric.cost}
    scores = {
        _plain(names[role] or role): np.asarray(values, dtype=float)
        for role, values in columns.items()
        if values is not None
    }
    settings: dict[str, list[object]] = {
        _plain(name): cell_list(column) for name, column in trials.configuration.items() if name not in hide
    }
    if trials.seed is not None:
        settings.setdefault("seed", cell_list(trials.seed))
    if trials.search is not None:
        settings.setdefault("search", [trials.searches[code] for code in trials.search])
    unit = _SECONDS.get(metric.cost_unit or "") if trials.cost is not None else None
    counts = [0] * len(trials.families)
    for row in range(len(trials)):
        family = int(trials.family[row])
        counts[family] += 1
        status = STATUSES[trials.status[row]]
        spent = None if unit is None or trials.cost is None else float(trials.cost[row]) * unit
        yield TrialRun(
            family=trials.families[family],
            name=f"{trials.families[family]} {counts[family]}",
            status=status,
            scores={
                name: float(values[row])
                for name, values in scores.items()
                if not np.isnan(values[row]) or (status == "diverged" and values is scores[_plain(metric.selection)])
            },
            settings={name: cells[row] for name, cells in settings.items() if cells[row] is not None},
            seconds=spent if spent is not None and np.isfinite(spent) else None,
        )


def _plain(name: str) -> str:
    """A name without the prefix that another tracker gave it."""
    for prefix in (*_PREFIXES, "metrics.", "metric:"):
        if name.startswith(prefix) and len(name) > len(prefix):
            return name.removeprefix(prefix)
    return name
