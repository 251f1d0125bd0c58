"""The columns of a report: every trial, and what stays out because it tells of a machine."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from levelbest import _check
from levelbest.errors import InputError, named
from levelbest.trials import STATUSES, Trials
from levelbest.trials.problems import ProblemTable
from levelbest.trials.spaces import machine_columns


def hidden_columns(trials: Trials | ProblemTable, hide: Iterable[str]) -> frozenset[str]:
    """The configuration columns that stay out: those asked for, and those that tell of a machine."""
    names = frozenset(hide)
    if not isinstance(trials, Trials):
        if names:
            raise InputError(f"samples that are read in parts have no columns to hide; leave out {named('hide')}")
        return names
    for name in names:
        if name not in trials.configuration:
            known = _check.nearest_first(name, list(trials.configuration))
            raise InputError(f"there is no configuration column {name!r} to hide; {known}")
    return names | frozenset(machine_columns(trials))


def trial_table(trials: Trials, hidden: frozenset[str]) -> dict[str, tuple[object, ...]]:
    """Every trial, by column: family, scores, cost, status, seed and configuration."""
    metric = trials.metric
    columns: dict[str, tuple[object, ...]] = {
        "family": tuple(trials.families[code] for code in trials.family),
        metric.selection: tuple(trials.selection.tolist()),
    }
    if trials.reported is not None:
        columns[metric.reported or "reported"] = tuple(trials.reported.tolist())
    if trials.cost is not None:
        columns[metric.cost or "cost"] = tuple(trials.cost.tolist())
    if trials.group is not None:
        columns["group"] = tuple(trials.groups[code] for code in trials.group)
    columns["status"] = tuple(STATUSES[code] for code in trials.status)
    if trials.seed is not None:
        columns["seed"] = tuple(trials.seed.tolist())
    for name, column in trials.configuration.items():
        if name not in hidden:
            columns[name] = tuple(column.tolist())
    return columns


def cell_text(value: object, digits: int | None = 4) -> str:
    """A cell for reading, or with all its ``digits``; a whole number, such as a seed, keeps them."""
    if value is None:
        return ""
    if isinstance(value, (float, np.floating)):
        number = float(value)
        if number != number:
            return ""
        if number.is_integer() and abs(number) < 1e15:
            return str(int(number))
        return repr(number) if digits is None else f"{number:.{digits}g}"
    return str(value)
