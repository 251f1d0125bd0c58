"""Designs that are not independent trials: grids, repeated configurations, seeds within configurations, pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from levelbest._check import IntArray
from levelbest.cautions import Caution
from levelbest.readers.columns import as_codes
from levelbest.stats.checks import _diagnostics as diagnostics
from levelbest.trials import Trials

__all__ = ["design_cautions", "paired_cautions"]

_LARGE = 1_000_000
_PAIRS = 5
"""So many shared configurations or problems make a paired design; equal seed numbers do not."""

Rows = npt.NDArray[np.int64]


def design_cautions(trials: Trials, rows: Rows, name: str) -> Iterator[Caution]:
    """Grid, repeated configurations and nested seeds of one family."""
    if not trials.configuration or rows.size < 4 or rows.size > _LARGE:
        return
    varied = _settings({key: column[rows] for key, column in trials.configuration.items()})
    if not varied:
        return
    own = {key for key, codes in varied.items() if np.unique(codes).size == rows.size}
    crossed = {key: codes for key, codes in varied.items() if key not in own}
    grid = _grid(list(varied.values()))
    if grid is None and own and _is_planned(trials, rows, list(crossed.values())):
        # What differs in every row of a planned design (a gradient's norm) came out of the runs, and chose none.
        varied = crossed
        grid = _grid(list(varied.values()))
    if grid is not None:
        yield Caution.of("grid", name, grid.filled, levels=tuple(grid.levels), filled=grid.filled, cells=grid.cells)
    elif len(varied) == 1 and _ladder(trials.configuration[next(iter(varied))][rows]):
        yield Caution.of("grid", name, rows.size, kind="steps", column=next(iter(varied)))
    elif (inside := _grids_within(trials, rows, varied)) is not None:
        by, in_grids = inside
        yield Caution.of("grid", name, in_grids, kind="within", by=by, inside=in_grids, n_trials=int(rows.size))
    yield from _repeats(trials, rows, name, diagnostics.configuration_codes(list(varied.values()), rows.size))


def _settings(columns: dict[str, npt.NDArray[Any]]) -> dict[str, IntArray]:
    """The columns that vary, as codes; without those that another one determines (the same under a second name)."""
    codes = {key: _codes(column) for key, column in columns.items()}
    varied = {key: column for key, column in codes.items() if column.min() != column.max()}
    levels = {key: np.unique(column).size for key, column in varied.items()}
    kept: dict[str, IntArray] = {}
    for key, column in varied.items():
        # Only what repeats determines anything: a value of its own in every row would determine all others.
        finer = [
            other
            for other in varied
            if 2 * levels[other] <= column.size and (levels[other] > levels[key] or other in kept)
        ]
        if not any(np.unique(np.stack([varied[other], column]), axis=1).shape[1] == levels[other] for other in finer):
            kept[key] = column
    return kept


def _is_planned(trials: Trials, rows: Rows, settings: Sequence[IntArray]) -> bool:
    """Whether the settings alone are a grid, or cross with the seeds: by chance hardly ever."""
    if not settings:
        return False
    if _grid(settings) is not None:
        return True
    codes = diagnostics.configuration_codes(settings, rows.size)
    return trials.seed is not None and diagnostics.grid_design([codes, _codes(trials.seed[rows])]) is not None


def _grid(varied: Sequence[IntArray]) -> diagnostics.Grid | None:
    # A single run with other settings (a default) beside a grid does not make it less of one.
    whole = np.all([codes >= 0 for codes in varied], axis=0)
    complete = whole if whole.mean() >= 0.9 else np.ones(whole.size, dtype=bool)
    return diagnostics.grid_design([codes[complete] for codes in varied])


def _grids_within(trials: Trials, rows: Rows, varied: dict[str, IntArray]) -> tuple[str, int] | None:
    """A grid for each data set is no grid of all: look within the levels of the columns that hold text."""
    words = [key for key in varied if trials.configuration[key].dtype == object]
    rest = [codes for key, codes in varied.items() if key not in words]
    if not words or len(rest) < 2:
        return None
    level = diagnostics.configuration_codes([varied[key] for key in words], rows.size)
    if int(level.max()) + 1 > rows.size / 4:
        return None
    in_grids = sum(
        int(np.count_nonzero(level == one))
        for one in range(int(level.max()) + 1)
        if _grid([codes[level == one] for codes in rest]) is not None
    )
    return (" and ".join(words), in_grids) if in_grids >= rows.size / 4 else None


def _ladder(column: npt.NDArray[Any]) -> bool:
    if column.dtype.kind not in "iuf" or not np.isfinite(column).all():
        return False
    return diagnostics.evenly_spaced(column)


def _repeats(trials: Trials, rows: Rows, name: str, codes: IntArray) -> Iterator[Caution]:
    distinct = int(codes.max()) + 1
    if trials.group is not None or distinct == rows.size:
        return
    if trials.seed is not None:
        seeds = _codes(trials.seed[rows])
        pairs = diagnostics.configuration_codes([codes, seeds], rows.size)
        if int(pairs.max()) + 1 == rows.size:
            sizes = np.bincount(codes)
            several = int((sizes > 1).sum())
            if 2 * several > distinct:
                yield Caution.of(
                    "nested-seeds",
                    name,
                    distinct,
                    n_trials=int(rows.size),
                    configurations=distinct,
                    several=several,
                )
                return
            repeated = int(sizes.sum()) - distinct
            yield Caution.of("repeated-configurations", name, repeated, repeated=repeated, n_trials=int(rows.size))
            return
        codes = pairs
        distinct = int(codes.max()) + 1
    repeated = int(rows.size) - distinct
    yield Caution.of("repeated-configurations", name, repeated, repeated=repeated, n_trials=int(rows.size))


def paired_cautions(trials: Trials, rows_by_family: Sequence[Rows]) -> Iterator[Caution]:
    """One warning where families share their configurations or problems; equal seed numbers are no pairing."""
    if len(trials.families) < 2 or len(trials) > _LARGE:
        return
    keys: list[tuple[str, IntArray]] = []
    varied = [codes for codes in map(_codes, trials.configuration.values()) if codes.min() != codes.max()]
    if varied:
        keys.append(("configurations", diagnostics.configuration_codes(varied, len(trials))))
    if trials.group is not None:
        keys.append(("problems", trials.group.astype(np.int64)))
    for what, codes in keys:
        shared, families = _shared(codes, rows_by_family)
        if families:
            names = [trials.families[place] for place in families]
            yield Caution.of("paired-design", None, shared, families=names, shared=shared, what=what)
            return


def _shared(codes: IntArray, rows_by_family: Sequence[Rows]) -> tuple[int, list[int]]:
    """Families that have (nearly) all their keys in common with the first such family, and how many they share."""
    sets = [np.unique(codes[rows]) for rows in rows_by_family]
    for first, mine in enumerate(sets):
        shared = [np.intersect1d(mine, other).size for other in sets]
        near = [
            place
            for place, other in enumerate(sets)
            if shared[place] >= max(_PAIRS, 0.9 * max(mine.size, other.size)) and place >= first
        ]
        if len(near) > 1:
            return min(shared[place] for place in near), near
    return 0, []


def _codes(column: npt.NDArray[Any]) -> IntArray:
    """Whole-number codes of a column's values, numbers alike to one part in 10^9 as one; -1 where one is missing."""
    if column.dtype.kind != "f":
        return as_codes(column)[1].astype(np.int64)
    known = ~np.isnan(column)
    values = np.unique(column[known])
    size = np.abs(np.where(np.isinf(values), 0.0, values))
    apart = np.diff(values) > 1e-9 * np.maximum(size[1:], size[:-1])
    codes = np.full(column.size, -1, dtype=np.int64)
    codes[known] = np.r_[0, np.cumsum(apart)][np.searchsorted(values, column[known])]
    return codes
