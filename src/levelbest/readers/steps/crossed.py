"""What every family was run on alike, whatever its name: by chance a search hardly draws the same for all."""

from __future__ import annotations

import re
from math import lgamma, log

import numpy as np
import numpy.typing as npt

from levelbest.readers.raw import Cells, as_codes, joint_codes
from levelbest.readers.steps.merged import Merged
from levelbest.readers.steps.roles import Roles

__all__ = ["counts_by_family", "in_blocks", "is_numbered", "is_planned", "is_shared", "meets_every_seed"]

_SHARED = 0.9
"""The share of families and values that must meet: a few rows may be missing."""
_LARGEST = 5_000_000
_CHANCE = 1e-3
"""NOTE: random search draws a setting equally often in all families less than once in 1,000 tables; at 1e-2 tables of
eight trials with two choices would be asked about."""

_NUMBER = re.compile(r"\d+")

Counts = npt.NDArray[np.int64]


def counts_by_family(table: Merged, roles: Roles, name: str) -> Counts:
    """How many rows each family has of each value of a column; empty where families or values are too many."""
    keys = [as_codes(table.columns[column])[1] for column in roles.family]
    family = joint_codes(keys) if keys else table.source_codes()[1]
    values, codes = as_codes(table.columns[name])
    if (int(family.max()) + 1) * len(values) > _LARGEST:
        return np.zeros((0, 0), dtype=np.int64)
    counts = np.zeros((int(family.max()) + 1, len(values)), dtype=np.int64)
    known = codes >= 0
    np.add.at(counts, (family[known], codes[known]), 1)
    present: Counts = counts[counts.sum(axis=1) > 0]
    return present


def is_numbered(cells: Cells) -> bool:
    """Whether values differ by a number alone, as runs do: ``night 1``, ``night 2``."""
    return len({_NUMBER.sub("", label) for label in as_codes(cells)[0]}) == 1


def is_shared(counts: Counts) -> bool:
    """Whether nearly every value occurs in nearly every one of several families."""
    return counts.shape[0] > 1 and counts.size > 0 and float((counts > 0).mean()) >= _SHARED


def is_planned(counts: Counts, *, ordered: bool = False) -> bool:
    """Whether every family has every value equally often, which random draws would hardly give.

    ``ordered``: something else shows the plan as well, and equal counts are enough.
    """
    if not is_shared(counts) or counts.shape[1] < 2 or counts.min() != counts.max():
        return False
    values, rows = counts.shape[1], int(counts[0].sum())
    chance = lgamma(rows + 1) - values * lgamma(int(counts[0, 0]) + 1) - rows * log(values)  # multinomial
    return ordered or bool(counts.shape[0] * chance < log(_CHANCE))


def in_blocks(table: Merged, name: str, cells: int) -> bool:
    """Whether the rows of a value stand together, in no more blocks than there are values and families."""
    codes = as_codes(table.columns[name])[1]
    return int(np.count_nonzero(np.diff(codes))) < cells <= codes.size / 2


def meets_every_seed(table: Merged, roles: Roles, name: str) -> bool:
    """Whether every family has every value once with each of several seeds."""
    if roles.seed is None:
        return False
    keys = [as_codes(table.columns[column])[1] for column in (*roles.family, name, roles.seed)]
    counts = np.bincount(joint_codes(keys))
    cells = np.prod([len(np.unique(codes)) for codes in keys])
    return len(np.unique(keys[-1])) > 1 and counts.size == cells and counts.min() == counts.max()
