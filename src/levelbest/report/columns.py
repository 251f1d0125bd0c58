"""The columns of a report: every trial, what was searched, and what stays out because it tells of a machine."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from levelbest import _check
from levelbest._check import Column
from levelbest.errors import InputError, named
from levelbest.trials import STATUSES, Trials
from levelbest.trials.problems import ProblemTable

_MACHINE_NAMES = frozenset(
    {"host", "hostname", "user", "username", "cwd", "workdir", "logdir", "environment", "environ"}
)
_PATH = re.compile(r"(file:|/[^/\s]+/|~/|[A-Za-z]:[\\/]|\\\\[^\\\s]+\\)")


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


def machine_columns(trials: Trials) -> tuple[str, ...]:
    """Columns named as a host or a user, or that hold paths of a machine: no business of a report's readers."""
    return tuple(
        name
        for name, column in trials.configuration.items()
        if re.split(r"[./]", name.lower())[-1].replace("_", "") in _MACHINE_NAMES
        or any(isinstance(cell, str) and _PATH.match(cell) for cell in column[:1000].tolist())
    )


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


def searched(column: Column) -> str:
    """What was searched, as observed: a range for numbers, the set for few values."""
    known = [value for value in column.tolist() if is_known(value)]
    if not known:
        return ""
    distinct = list(dict.fromkeys(known))
    numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in distinct)
    if numbers and len(distinct) > 5:
        return f"{min(distinct):.4g} to {max(distinct):.4g}"
    shown = [cell_text(value) for value in (sorted(distinct) if numbers else distinct)]
    return ", ".join(shown[:8]) + (f" and {len(shown) - 8} more" if len(shown) > 8 else "")


def is_known(value: object) -> bool:
    """Whether a cell holds anything."""
    return value is not None and not (isinstance(value, (float, np.floating)) and np.isnan(value))


def cell_text(value: object, digits: int | None = 4) -> str:
    """A cell for reading, or with all its ``digits``; a whole number, such as a seed, keeps them."""
    if not is_known(value):
        return ""
    if isinstance(value, (float, np.floating)):
        number = float(value)
        if number.is_integer() and abs(number) < 1e15:
            return str(int(number))
        return repr(number) if digits is None else f"{number:.{digits}g}"
    return str(value)
