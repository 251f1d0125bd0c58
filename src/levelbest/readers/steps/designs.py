"""Designs that are not independent trials: grids, repeated configurations, seeds within configurations, pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from levelbest._check import Column, IntArray
from levelbest.cautions import Caution
from levelbest.readers.columns import as_codes
from levelbest.readers.steps.names import tokens, word_set
from levelbest.stats.checks import _diagnostics as diagnostics
from levelbest.trials import Trials, split_column

__all__ = ["Design", "configuration_codes", "design_cautions", "designs_of", "paired_cautions", "with_settings"]

_LARGE = 1_000_000
_TASKS = word_set("task tasks dataset datasets benchmark env environment game domain corpus language lang subject")
_PAIRS = 5
"""So many shared configurations or problems make a paired design; equal seed numbers do not."""

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Design:
    """What is repeated in one family: ``kind`` is trials, seeds, grid, repeats, search, searches or problems."""

    family: str
    kind: str
    units: int
    """How many of them: independent trials, configurations, points of a grid, searches or problems."""
    n_trials: int
    repeats: tuple[str, ...] = ("seeds",)
    """Of what configurations have several: seeds, data splits, runs."""

    def to_dict(self) -> dict[str, str | int]:
        """The form that ``--json`` prints."""
        return {"family": self.family, "kind": self.kind, "units": self.units, "n_trials": self.n_trials}


_KINDS = {"nested-seeds": "seeds", "grid": "grid", "repeated-configurations": "repeats", "adaptive-sampler": "search"}


def designs_of(trials: Trials) -> list[Design]:
    """The design of each family, from the warnings that reading it raised."""
    designs = []
    for code, name in enumerate(trials.families):
        rows = np.flatnonzero(trials.family == code)
        raised = {caution.code: caution.value for caution in trials.cautions if caution.family == name}
        kind = next((_KINDS[code] for code in _KINDS if code in raised), "trials")
        units = int(raised.get(next((code for code in _KINDS if code in raised), "")) or rows.size)
        if trials.search is not None:
            kind, units = "searches", np.unique(trials.search[rows]).size
        elif trials.group is not None:
            kind, units = "problems", np.unique(trials.group[rows]).size
        elif kind in ("repeats", "search"):
            units = int(rows.size)
        repeats = [c.fact("what") for c in trials.cautions if (c.code, c.family) == ("nested-seeds", name)]
        designs.append(Design(name, kind, int(units), int(rows.size), *repeats[:1]))
    return designs


def with_settings(trials: Trials) -> Trials:
    """The trials with the configuration of each, where a family has several seeds of its configurations."""
    nested = {caution.family for caution in trials.cautions if caution.code == "nested-seeds"}
    if not nested:
        return trials
    setting = np.zeros(len(trials), dtype=np.int64)
    first = 0
    for code, name in enumerate(trials.families):
        rows = np.flatnonzero(trials.family == code)
        own = configuration_codes(trials, rows) if name in nested else np.arange(rows.size)
        setting[rows] = first + own
        first += int(own.max(initial=-1)) + 1
    return replace(trials, setting=setting)


def design_cautions(trials: Trials, rows: Rows, name: str) -> Iterator[Caution]:
    """Grid, repeated configurations and nested seeds of one family."""
    if not trials.configuration or rows.size < 4 or rows.size > _LARGE:
        return
    varied = _varied(trials, rows)
    if not varied:
        return
    grid = _grid(list(varied.values()))
    if grid is not None:
        yield Caution.of("grid", name, grid.filled, levels=tuple(grid.levels), filled=grid.filled, cells=grid.cells)
    elif len(varied) == 1 and _ladder(trials.configuration[next(iter(varied))][rows]):
        yield Caution.of("grid", name, rows.size, kind="steps", column=next(iter(varied)))
    elif (inside := _grids_within(trials, rows, varied)) is not None:
        by, in_grids = inside
        yield Caution.of("grid", name, in_grids, kind="within", by=by, inside=in_grids, n_trials=int(rows.size))
    yield from _repeats(trials, rows, name, diagnostics.configuration_codes(list(varied.values()), rows.size))


def configuration_codes(trials: Trials, rows: Rows) -> IntArray:
    """Which configuration each trial of a family ran."""
    return diagnostics.configuration_codes(list(_varied(trials, rows).values()), rows.size)


def _varied(trials: Trials, rows: Rows) -> dict[str, IntArray]:
    """The settings of one family that vary, as codes; in a planned design without what came out of the runs."""
    split = split_column(trials.configuration)
    varied = _settings({key: column[rows] for key, column in trials.configuration.items() if key != split})
    own = {key for key, codes in varied.items() if np.unique(codes).size == rows.size}
    crossed = {key: codes for key, codes in varied.items() if key not in own}
    if own and _grid(list(varied.values())) is None and _is_planned(trials, rows, list(crossed.values())):
        return crossed  # what differs in every row (a gradient's norm) chose none of them
    return varied


def _settings(columns: dict[str, Column]) -> dict[str, IntArray]:
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
        int(np.count_nonzero(level == place))
        for place in range(int(level.max()) + 1)
        if _grid([codes[level == place] for codes in rest]) is not None
    )
    return (" and ".join(words), in_grids) if in_grids >= rows.size / 4 else None


def _ladder(column: Column) -> bool:
    if column.dtype.kind not in "iuf" or not np.isfinite(column).all():
        return False
    return diagnostics.evenly_spaced(column)


def _repeats(trials: Trials, rows: Rows, name: str, codes: IntArray) -> Iterator[Caution]:
    distinct, n_trials = int(codes.max()) + 1, int(rows.size)
    if trials.group is not None or trials.search is not None or distinct == n_trials:
        return
    told_apart = _told_apart(trials, rows)
    runs = diagnostics.configuration_codes([codes, *told_apart.values()], n_trials) if told_apart else codes
    several = int((np.bincount(codes) > 1).sum())
    planned = 2 * several > distinct and not _are_tasks(trials, rows)
    if planned and told_apart:
        planned = _is_repeated_on_purpose(codes, runs, told_apart)
    elif planned:  # nothing tells runs apart: all have as many, none is a copy, and some setting is a number
        planned = _are_equal_repeats(trials, rows, codes)
    if planned:
        yield Caution.of(
            "nested-seeds",
            name,
            distinct,
            n_trials=n_trials,
            configurations=distinct,
            several=several,
            what=tuple(what for what, column in told_apart.items() if column.min() != column.max()) or ("runs",),
        )
        return
    if int(runs.max()) + 1 < n_trials:  # else the seeds tell apart what repeats
        distinct = int(runs.max()) + 1
    repeated = n_trials - distinct
    yield Caution.of("repeated-configurations", name, repeated, repeated=repeated, n_trials=n_trials)


def _told_apart(trials: Trials, rows: Rows) -> dict[str, IntArray]:
    """What tells runs of one configuration apart: seeds, data splits, or both."""
    split = split_column(trials.configuration)
    columns = {
        "seeds": None if trials.seed is None else _codes(trials.seed[rows]),
        "data splits": None if split is None else _codes(trials.configuration[split][rows]),
    }
    return {what: codes for what, codes in columns.items() if codes is not None}


def _are_tasks(trials: Trials, rows: Rows) -> bool:
    """Whether nothing but the data set varies: tasks are no configurations among which the best is chosen."""
    return all(set(tokens(name)) & _TASKS for name in _varied(trials, rows))


def _are_equal_repeats(trials: Trials, rows: Rows, codes: IntArray) -> bool:
    """Whether configurations have as many runs each, though no column tells these apart."""
    counts = np.bincount(codes)
    scores = np.nan_to_num(trials.selection[rows])
    copies = np.unique(np.stack([codes.astype(np.float64), scores]), axis=1).shape[1]
    numbers = any(trials.configuration[name].dtype.kind in "iuf" for name in _varied(trials, rows))
    return bool(counts.min() == counts.max() > 1) and copies == codes.size and numbers


def _is_repeated_on_purpose(codes: IntArray, runs: IntArray, told_apart: dict[str, IntArray]) -> bool:
    """Whether configurations were run several times by design, not drawn again by a random search.

    Random draws from a few settings repeat them too, each with a seed of its own and counts that spread as chance has
    it (a variance near their mean); a design gives all configurations the same seeds, or nearly equal numbers of runs.
    """
    counts = np.bincount(codes)
    if int(runs.max()) + 1 < codes.size:
        return False
    shared = any(2 * np.unique(column).size <= codes.size for column in told_apart.values())
    return shared or float(counts.var()) < 0.5 * float(counts.mean())


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


def _codes(column: Column) -> IntArray:
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
