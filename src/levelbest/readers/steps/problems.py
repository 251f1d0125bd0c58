"""What a table says of each problem, beside its samples: a weight, and the stratum (difficulty, source) it is in."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from levelbest._check import Column, FloatArray, IntArray
from levelbest.errors import DataError, InputError, named
from levelbest.readers.columns import as_codes
from levelbest.readers.steps.merged import Merged
from levelbest.readers.steps.numbers import as_numbers
from levelbest.readers.steps.roles import Roles
from levelbest.trials import Trials

__all__ = ["refuse_repeats", "said_of_groups"]

Codes = npt.NDArray[np.int32]


def said_of_groups(
    table: Merged, roles: Roles, group: Codes | None, groups: tuple[str, ...]
) -> tuple[FloatArray | None, tuple[str, ...]]:
    """The weight and the stratum of each problem; every row of a problem must say the same."""
    for option, name in (("weight", roles.weight), ("stratum", roles.stratum)):
        if name is not None and group is None:
            raise InputError(
                f"{named(option)} is said of problems: name the column of the problem with {named('group')}"
            )
    weights: FloatArray | None = None
    strata: tuple[str, ...] = ()
    if roles.weight is not None and group is not None:
        values = as_numbers(table.columns[roles.weight]).values
        if not np.isfinite(values).all():
            row = int(np.flatnonzero(~np.isfinite(values))[0])
            raise DataError(
                f"every problem needs a weight, and {groups[group[row]]!r} has none in {roles.weight!r} (at "
                f"{table.at(row)}); fill it in, or leave the problem out with {named('where')}"
            )
        weights = values[_said_once("weight", roles.weight, values, group, groups, "{:g}".format)]
        if (weights < 0).any() or weights.sum() == 0:
            at = int(np.argmin(weights))
            raise DataError(
                f"weights must be at least 0 and not all 0, and {groups[at]!r} has {weights[at]:g} in {roles.weight!r}"
            )
    if roles.stratum is not None and group is not None:
        names, codes = as_codes(table.columns[roles.stratum])
        labels = (*names, "(none)")
        first = _said_once("stratum", roles.stratum, codes, group, groups, lambda code: labels[int(code)])
        strata = tuple(labels[codes[row]] for row in first)
    return weights, strata


def _said_once(
    role: str, column: str, values: Column, group: Codes, groups: tuple[str, ...], shown: Callable[[float], str]
) -> IntArray:
    """The first row of each problem, which every other row of it must repeat."""
    first = np.empty(len(groups), dtype=np.int64)
    first[group[::-1]] = np.arange(group.size)[::-1]
    other = np.flatnonzero(values != values[first][group])
    if other.size:
        row = int(other[0])
        both = " and ".join(shown(values[at]) for at in (first[group[row]], row))
        raise DataError(
            f"a problem has one {role}, and {np.unique(group[other]).size} of {len(groups)} have several in {column!r} "
            f"(first: {groups[group[row]]} has {both}); choose a column that says the same in every row of a problem"
        )
    return first


def refuse_repeats(table: Merged, roles: Roles, read: Trials) -> None:
    """Rows of one run of one problem that are the same row again, and not its checkpoints."""
    if roles.group is None or roles.trial is None:
        return
    from levelbest.stats.problems import repeated_samples  # heavy, and for samples of problems alone
    from levelbest.trials.problems import about_repeats

    groups, group = as_codes(table.columns[roles.group])
    names, ids = as_codes(table.columns[roles.trial])
    both = read.family.astype(np.int64) * (len(groups) + 1) + group
    columns: list[Column] = [read.selection, read.status, *([] if read.reported is None else [read.reported])]
    repeats = repeated_samples(both, ids, columns)
    if repeats is not None and repeats.same:
        about_repeats(table.source, repeats.count, True, names[ids[repeats.row]], groups[group[repeats.row]])
