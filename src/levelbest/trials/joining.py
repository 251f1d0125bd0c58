"""Several tables of trials as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from levelbest._check import Bounds, FloatArray, IntArray
from levelbest.errors import InputError
from levelbest.trials.table import Trials

__all__ = ["one_table"]


def one_table(trials: Sequence[Trials]) -> Trials:
    """Several tables as one, if they share their metric; families and problems of one name are the same.

    A column that not every table has is left out, and so is a bound on which they do not agree.
    """
    tables = list(trials)
    if not tables:
        raise InputError("there is nothing to compare: the list of tables is empty")
    for table in tables[1:]:
        _check_metric(tables[0], table)
    first = tables[0]
    families = _united(tables, "families")
    once = len(families) == sum(len(table.families) for table in tables)
    columns = ("selection", "status", "reported", "cost", "seed", "sample", "answer", "path")
    shared = set.intersection(*(set(table.configuration) for table in tables))
    tasks, task = _joined_codes([(table.tasks, table.task) for table in tables])
    groups, group = _joined_codes([(table.groups, table.group) for table in tables])
    searches, search = _joined_codes([(table.searches, table.search) for table in tables])
    weights, strata, clusters = _said_of_groups(tables, groups)
    family = _joined_codes([(table.families, table.family) for table in tables])[1]
    return Trials(
        metric=replace(first.metric, bounds=_shared_bounds(tables)),
        families=families,
        family=np.zeros(0, dtype=np.int32) if family is None else family,
        **{name: _joined(tables, name) for name in columns},
        order=_joined(tables, "order") if once else None,
        tasks=tasks,
        task=task,
        groups=groups,
        group=group,
        searches=searches,
        search=search,
        weights=weights,
        strata=strata,
        clusters=clusters,
        by_task=all(table.by_task for table in tables),
        setting=_joined_settings(tables),
        configuration={key: np.concatenate([t.configuration[key] for t in tables]) for key in sorted(shared)},
        columns=first.columns,
        source=_united(tables, "source"),
        facts={key: fact for table in reversed(tables) for key, fact in table.facts.items()},
        skipped=_united(tables, "skipped"),
        cautions=_united(tables, "cautions"),
    )


def _united(tables: Sequence[Trials], name: str) -> tuple[Any, ...]:
    """What the tables hold under this name, each item once."""
    return tuple(dict.fromkeys(item for table in tables for item in getattr(table, name)))


def _joined(tables: Sequence[Trials], column: str) -> Any:
    """One column of all tables; None where one of them does not have it."""
    parts = [getattr(table, column) for table in tables]
    return None if any(part is None for part in parts) else np.concatenate(parts)


def _check_metric(first: Trials, other: Trials) -> None:
    metric, second = first.metric, other.metric
    both = f"{first.families[0]} has {metric.score!r} ({metric.direction})"
    both += f" and {other.families[0]} {second.score!r} ({second.direction})"
    if metric.direction != second.direction:
        raise InputError(
            f"families must be compared by one metric in one direction: {both}; read them with the same direction, "
            "or compare them as tasks"
        )
    if (metric.selection, metric.reported) != (second.selection, second.reported):
        raise InputError(
            f"families must be compared by one metric: {both}; name the same selection and reported columns"
        )


def _shared_bounds(tables: Sequence[Trials]) -> Bounds:
    low, high = zip(*(table.metric.bounds for table in tables), strict=True)
    return low[0] if len(set(low)) == 1 else None, high[0] if len(set(high)) == 1 else None


def _said_of_groups(
    tables: Sequence[Trials], groups: tuple[str, ...]
) -> tuple[FloatArray | None, tuple[str, ...], tuple[str, ...]]:
    """The weights, strata and clusters of the problems of several tables, which must agree; none where one has none."""
    weights: dict[str, float] = {}
    labels: dict[str, dict[str, str]] = {"strata": {}, "clusters": {}}
    for table in tables:
        for i, name in enumerate(table.groups):
            weight = None if table.weights is None else float(table.weights[i])
            if weight is not None and weights.setdefault(name, weight) != weight:
                raise InputError(f"a problem has one weight, and {name!r} has {weights[name]:g} and {weight:g}")
            for kind, word in (("strata", "stratum"), ("clusters", "cluster")):
                each = getattr(table, kind)
                if each and labels[kind].setdefault(name, each[i]) != each[i]:
                    raise InputError(
                        f"a problem is in one {word}, and {name!r} is in {labels[kind][name]} and {each[i]}"
                    )
    weighted = bool(groups) and all(table.weights is not None for table in tables)
    strata, clusters = (
        tuple(labels[kind][name] for name in groups) if groups and all(getattr(table, kind) for table in tables) else ()
        for kind in labels
    )
    return np.array([weights[name] for name in groups]) if weighted else None, strata, clusters


def _joined_settings(tables: Sequence[Trials]) -> IntArray | None:
    """Configurations numbered through all tables; None where no table has several runs of one."""
    if all(table.setting is None for table in tables):
        return None
    parts = []
    first = 0
    for table in tables:
        settings = np.arange(len(table)) if table.setting is None else table.setting
        parts.append(first + settings)
        first += int(settings.max(initial=-1)) + 1
    return np.concatenate(parts)


def _joined_codes(
    columns: Sequence[tuple[tuple[str, ...], npt.NDArray[np.int32] | None]],
) -> tuple[tuple[str, ...], npt.NDArray[np.int32] | None]:
    """Names of all tables with the code of each value; none where a table has none."""
    names: dict[str, int] = {}
    parts = []
    for labels, codes in columns:
        if codes is None:
            return (), None
        parts.append(np.array([names.setdefault(name, len(names)) for name in labels], dtype=np.int32)[codes])
    return tuple(names), np.concatenate(parts)
