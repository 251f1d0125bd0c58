"""What a table says of each problem, beside its samples: a weight, and the stratum (difficulty, source) it is in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from levelbest._check import FloatArray
from levelbest.errors import DataError, InputError, named
from levelbest.readers.columns import as_codes, taken
from levelbest.readers.steps.merged import Merged
from levelbest.readers.steps.numbers import as_numbers
from levelbest.readers.steps.roles import Roles

__all__ = ["refuse_repeats", "said_of_groups"]


def said_of_groups(
    table: Merged, roles: Roles, keep: npt.NDArray[np.int64], group: Any, groups: tuple[str, ...]
) -> tuple[FloatArray | None, tuple[str, ...]]:
    """The weight and the stratum of each problem; every row of a problem must say the same."""
    for option, name in (("weight", roles.weight), ("stratum", roles.stratum)):
        if name is not None and group is None:
            raise InputError(
                f"{named(option)} is said of problems: name the column of the problem with {named('group')}"
            )
    weights: FloatArray | None = None
    strata: tuple[str, ...] = ()
    if roles.weight is not None:
        values = as_numbers(taken(table.columns[roles.weight], keep)).values
        if not np.isfinite(values).all():
            row = int(np.flatnonzero(~np.isfinite(values))[0])
            raise DataError(
                f"every problem needs a weight, and {groups[group[row]]!r} has none in {roles.weight!r} (at "
                f"{table.at(int(keep[row]))}); fill it in, or leave the problem out with {named('where')}"
            )
        first = _first_rows(group, len(groups))
        _same(values, first, group, groups, roles.weight, "weight")
        weights = values[first]
        if (weights < 0).any() or weights.sum() == 0:
            at = int(np.argmin(weights))
            raise DataError(
                f"weights must be at least 0 and not all 0, and {groups[at]!r} has {weights[at]:g} in {roles.weight!r}"
            )
    if roles.stratum is not None:
        names, codes = as_codes(taken(table.columns[roles.stratum], keep))
        first = _first_rows(group, len(groups))
        _same(codes, first, group, groups, roles.stratum, "stratum", (*names, "(none)"))
        strata = tuple("(none)" if codes[row] < 0 else str(names[codes[row]]) for row in first)
    return weights, strata


def refuse_repeats(table: Merged, roles: Roles, family: Any, columns: Sequence[Any], keep: Any) -> None:
    """Rows of one run of one problem that are the same row again, and not its checkpoints."""
    if roles.group is None or roles.trial is None:
        return
    from levelbest.stats.problems import repeated_samples  # heavy, and for samples of problems alone
    from levelbest.trials.problems import about_repeats

    groups, group = as_codes(table.columns[roles.group])
    names, ids = as_codes(table.columns[roles.trial])
    both = family[keep].astype(np.int64) * (len(groups) + 1) + group[keep]
    repeats = repeated_samples(both, ids[keep], [column[keep] for column in columns])
    if repeats is not None and repeats.same:
        row = int(keep[repeats.row])
        about_repeats(table.source, repeats.count, True, names[ids[row]], groups[group[row]])


def _first_rows(group: npt.NDArray[np.int32], n_groups: int) -> npt.NDArray[np.int64]:
    first = np.empty(n_groups, dtype=np.int64)
    first[group[::-1]] = np.arange(group.size)[::-1]
    return first


def _same(
    values: Any, first: Any, group: Any, groups: tuple[str, ...], column: str, role: str, names: Any = None
) -> None:
    """Every row of a problem says what its first row says."""
    other = np.flatnonzero(values != values[first][group])
    if other.size:
        row = int(other[0])
        both = [values[first[group[row]]], values[row]]
        shown = " and ".join(f"{value:g}" if names is None else str(names[value]) for value in both)
        count = np.unique(group[other]).size
        raise DataError(
            f"a problem has one {role}, and {count} of {len(groups)} have several in {column!r} (first: "
            f"{groups[group[row]]} has {shown}); choose a column that says the same in every row of a problem"
        )
