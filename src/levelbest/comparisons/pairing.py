"""Which trials of several families are pairs: the same configuration or seed; problems are in `groups`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from levelbest._check import IntArray
from levelbest.errors import InputError
from levelbest.trials import STATUSES, Trials

__all__ = ["Pairing", "find_pairing"]


@dataclass(frozen=True, eq=False)
class Pairing:
    """For each family the rows of its trials, so that entry i of every family is the same pair."""

    by: str
    rows: tuple[IntArray, ...]


def find_pairing(families: Sequence[Trials], *, required: bool = False) -> Pairing | None:
    """Pairs by configuration and seed; only where every trial of every family has its partners.

    A column is part of the configuration that pairs if it is known for all trials and takes the same values in every
    family. None where there is no such pairing; with ``required`` an error says why.
    """
    shared = _shared_columns(families)
    seeds = [one.seed for one in families]
    same_seeds = all(seed is not None for seed in seeds) and _same_values([np.asarray(seed) for seed in seeds])
    if not shared and not same_seeds:
        if required:
            raise InputError(
                "a paired design needs the same configurations, seeds or problems in every family, and no column holds "
                "the same values in all of them; name --group or --seed-column, or compare unpaired"
            )
        return None
    by = " and ".join([*(["configuration"] if shared else []), *(["seed"] if same_seeds else [])])
    keys = []
    for one in families:
        columns = [one.configuration[name] for name in shared] + ([np.asarray(one.seed)] if same_seeds else [])
        keys.append(list(zip(*(map(str, column) for column in columns), strict=True)))
    return _matched(families, keys, by, required)


def _shared_columns(families: Sequence[Trials]) -> list[str]:
    names = set.intersection(*(set(one.configuration) for one in families))
    return [name for name in sorted(names) if _same_values([one.configuration[name] for one in families])]


def _same_values(columns: Sequence[npt.NDArray[Any]]) -> bool:
    """Whether all columns hold the same values, equally often, and none is missing."""
    sets = []
    for column in columns:
        values = [str(value) for value in column]
        if any(value in ("nan", "None", "") for value in values):
            return False
        sets.append(sorted(values))
    return all(one == sets[0] for one in sets[1:])


def _matched(families: Sequence[Trials], keys: Sequence[list[Any]], by: str, required: bool) -> Pairing | None:
    running = STATUSES.index("running")
    places = []
    for one, names in zip(families, keys, strict=True):
        found = {key: row for row, key in enumerate(names) if one.status[row] != running}
        if len(found) < int(np.count_nonzero(one.status != running)):
            _no(required, f"{one.families[0]} has several trials with the same {by}")
            return None
        places.append(found)
    common = [key for key in places[0] if all(key in found for found in places)]
    for one, found in zip(families, places, strict=True):
        if len(found) > len(common):
            odd = next(key for key in found if not all(key in other for other in places))
            shown = ", ".join(map(str, odd))
            _no(
                required,
                f"{len(found) - len(common)} of {len(found)} trials of {one.families[0]} have no partner with the same "
                f"{by} (first: {shown[:80]})",
            )
            return None
    return Pairing(by, tuple(np.array([found[key] for key in common], dtype=np.int64) for found in places))


def _no(required: bool, why: str) -> None:
    if required:
        raise InputError(f"a paired design needs one trial of each family per pair, and {why}; compare unpaired")
