"""Designs that are not independent trials: grids, repeated configurations, seeds within configurations, pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from levelbest._check import Column, IntArray
from levelbest.cautions import Caution
from levelbest.readers.raw import Codes, as_codes
from levelbest.readers.steps.names import tokens, word_set
from levelbest.stats.checks import _diagnostics as diagnostics
from levelbest.trials import BY_ID, Trials, data_splits, few_again, split_column

__all__ = ["FamilySettings", "ReadDesign", "codes_of", "combined", "designs_of", "grid_of", "is_evenly_repeated"]
__all__ += ["n_combined", "paired_cautions"]

_LOOKED_AT_UP_TO = 1_000_000
_TASKS = word_set("task tasks dataset datasets benchmark env environment game domain corpus language lang subject")
_FEWEST_COPIES = 5
"""Copies, and different scores, below which equal rows may be chance."""
_FEW_MORE = 4
"""NOTE: where nothing tells runs apart, at most one run in excess for so many configurations. Of random draws from 4
settings 5 in 100 tables are so even, from 8 settings 3 in 1,000; with 2 in place of 4 it would be 29 in 100 from 3."""
_PAIRS = 5
"""So many shared configurations or problems make a paired design; equal seed numbers do not."""


@dataclass(frozen=True)
class ReadDesign:
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


def repeated_rows(trials: Trials, rows: IntArray) -> int:
    """How many of a family's rows are copies of another one: the same run written twice; 0 where chance may explain it.

    Copies agree in all that is known of a run. Scores may tie by chance, so that they are called copies only where
    there are several scores, and ties that are no copies are rare among them.
    """
    if trials.group is not None or trials.search is not None or rows.size < 2 * _FEWEST_COPIES:
        return 0
    known = [trials.selection, trials.reported, trials.cost, trials.seed, *trials.configuration.values()]
    rows = rows[np.isfinite(trials.selection[rows])]
    columns = [codes_of(column[rows]) + 1 for column in known if column is not None]  # what is unknown is 0
    copied = np.bincount(diagnostics.configuration_codes(columns, rows.size))
    scored = np.bincount(columns[0])[1:]
    copies, ties = int((copied - 1).sum()), int((scored - 1).sum())
    if scored.size < _FEWEST_COPIES or copies < _FEWEST_COPIES or 10 * (ties - copies) > copies:
        return 0
    # nothing but the score is known of a run: all rows are there as often, or it is chance
    return copies if len(columns) > 1 or (copied.min() == copied.max()) else 0


_KINDS = {"nested-seeds": "seeds", "grid": "grid", "repeated-configurations": "repeats", "adaptive-sampler": "search"}


def designs_of(trials: Trials) -> list[ReadDesign]:
    """The design of each family, from the warnings that reading it raised."""
    designs = []
    for code, name in enumerate(trials.families):
        in_family = trials.family == code
        raised = {caution.code: caution for caution in trials.cautions if caution.family == name}
        known = next((known for known in _KINDS if known in raised), None)
        n_trials = int(np.count_nonzero(in_family))
        kind, units = "trials", float(n_trials)
        if trials.search is not None:
            kind, units = "searches", np.unique(trials.search[in_family]).size
        elif trials.group is not None:
            kind, units = "problems", np.unique(trials.group[in_family]).size
        elif known is not None:
            kind, counted = _KINDS[known], raised[known].value if known in ("nested-seeds", "grid") else None
            units = counted or units
        repeats = raised["nested-seeds"].fact("what") if "nested-seeds" in raised else ("seeds",)
        designs.append(ReadDesign(name, kind, int(units), n_trials, repeats))
    return designs


class FamilySettings:
    """The settings of one family's trials, and what is repeated in them."""

    def __init__(self, trials: Trials, rows: IntArray, name: str) -> None:
        self.trials, self.rows, self.name = trials, rows, name
        self._split = split_column(trials.configuration)

    @cached_property
    def varied(self) -> dict[str, IntArray]:
        """The settings that vary, as codes; in a grid without what came out of the runs."""
        configuration = self.trials.configuration
        varied = _settings({key: column[self.rows] for key, column in configuration.items() if key != self._split})
        unique = {key for key, codes in varied.items() if np.unique(codes).size == self.rows.size}
        crossed = {key: codes for key, codes in varied.items() if key not in unique}
        if unique and grid_of(list(varied.values())) is None and grid_of(list(crossed.values())) is not None:
            return crossed  # what differs in every row (a gradient's norm) chose none of them
        return varied

    @property
    def of_splits(self) -> bool:
        """Whether data splits tell the rows apart and no setting varies: their order is none of time."""
        return data_splits(self.trials) is not None and not self.varied

    @cached_property
    def codes(self) -> IntArray:
        """Which configuration each trial ran; a row without the id of its run is a run of its own."""
        columns = list(self.varied.values())
        if BY_ID in self.trials.facts:
            alone = np.flatnonzero(np.any([column < 0 for column in columns], axis=0))
            columns = [*columns, np.zeros(self.rows.size, dtype=np.int64)]
            columns[-1][alone] = 1 + np.arange(alone.size)
        return diagnostics.configuration_codes(columns, self.rows.size)

    def cautions(self) -> Iterator[Caution]:
        """Grid, repeated configurations and nested seeds."""
        n_trials = int(self.rows.size)
        if n_trials < 4 or n_trials > _LOOKED_AT_UP_TO:
            return
        if self.varied:
            yield from self._plan()
        yield from self._repeats()

    def _plan(self) -> Iterator[Caution]:
        """What settings that vary form: a grid, equal steps, grids within the levels of others."""
        configuration, n_trials = self.trials.configuration, int(self.rows.size)
        first = next(iter(self.varied))
        grid = grid_of(list(self.varied.values()))
        if grid is not None:
            levels = tuple(grid.levels)
            yield Caution.of("grid", self.name, grid.filled, levels=levels, filled=grid.filled, cells=grid.cells)
        elif len(self.varied) == 1 and _ladder(configuration[first][self.rows]):
            yield Caution.of("grid", self.name, n_trials, kind="steps", column=first)
        elif (inside := self._grids_within()) is not None:
            by, in_grids = inside
            yield Caution.of("grid", self.name, in_grids, kind="within", by=by, inside=in_grids, n_trials=n_trials)

    def _grids_within(self) -> tuple[str, int] | None:
        """A grid for each data set is no grid of all: look within the levels of the columns that hold text."""
        words = [key for key in self.varied if self.trials.configuration[key].dtype == object]
        rest = [codes for key, codes in self.varied.items() if key not in words]
        within = [self.varied[key] for key in words]
        if self.trials.task is not None:
            words, within = [*words, "task"], [*within, self.trials.task[self.rows].astype(np.int64)]
        if not words or len(rest) < 2:
            return None
        level = diagnostics.configuration_codes(within, self.rows.size)
        if int(level.max()) + 1 > self.rows.size / 4:
            return None
        in_grids = sum(
            int(np.count_nonzero(level == place))
            for place in range(int(level.max()) + 1)
            if grid_of([codes[level == place] for codes in rest]) is not None
        )
        return (" and ".join(words), in_grids) if in_grids >= self.rows.size / 4 else None

    @cached_property
    def are_configurations(self) -> bool:
        """Whether equal settings are one configuration: some vary, not only data sets, and a ledger drew none twice."""
        tasks = all(set(tokens(name)) & _TASKS for name in self.varied)
        return not tasks and self.trials.facts.get(f"seeds:{self.name}") != "1"

    def _repeats(self) -> Iterator[Caution]:
        trials, codes = self.trials, self.codes
        distinct, n_trials = int(codes.max()) + 1, int(self.rows.size)
        if trials.group is not None or trials.search is not None or distinct == n_trials:
            return
        told_apart = self._told_apart()
        first = np.arange(n_trials)  # the first row of each run
        if told_apart:
            runs = diagnostics.configuration_codes([codes, *told_apart.values()], n_trials)
            first = np.unique(runs, return_index=True)[1]
        again, few = n_trials - first.size, few_again(first.size, n_trials)
        several = int((np.bincount(codes[first]) > 1).sum())
        planned = self.are_configurations and few and self._is_repeated_on_purpose(first, told_apart)
        nested = planned and (2 * several > distinct or BY_ID in trials.facts)
        if nested:
            yield Caution.of(
                "nested-seeds",
                self.name,
                distinct,
                n_trials=n_trials,
                configurations=distinct,
                several=several,
                what=tuple(told_apart) or ("runs",),
            )
        kind, repeated = "", again or n_trials - distinct
        if nested or distinct == 1:  # runs of several configurations, or of one
            kind, repeated = "runs", again if few else 0
        if repeated and not repeated_rows(trials, self.rows):  # else it is said of the rows
            facts = {"repeated": repeated, "n_trials": n_trials}
            yield Caution.of("repeated-configurations", self.name, repeated, kind=kind, **facts)

    def _told_apart(self) -> dict[str, IntArray]:
        """What tells runs of one configuration apart: seeds, data splits, or both; a single seed tells nothing."""
        split = None if self._split is None else self.trials.configuration[self._split]
        columns = {"seeds": self.trials.seed, "data splits": split}
        codes = {what: codes_of(column[self.rows]) for what, column in columns.items() if column is not None}
        return {what: column for what, column in codes.items() if column.min() != column.max()}

    def _is_repeated_on_purpose(self, first: IntArray, told_apart: dict[str, IntArray]) -> bool:
        """Whether configurations were run several times by design, not drawn again by a random search.

        Random draws from a few settings repeat them too, each with a seed of its own and counts that spread as chance
        has it (a variance near their mean); a design gives all configurations the same seeds, or nearly equal numbers
        of runs, where what was run again with its seed counts once (``first``). Where nothing tells runs apart, all
        configurations but a few have as many, most scores of one differ, and some setting is a number.
        """
        codes = self.codes[first]
        counts = np.bincount(codes)
        if BY_ID in self.trials.facts:
            return True
        if told_apart:
            shared = any(2 * np.unique(column[first]).size <= codes.size for column in told_apart.values())
            return shared or float(counts.var()) < 0.5 * float(counts.mean())
        numbers = any(self.trials.configuration[name].dtype.kind in "iuf" for name in self.varied)
        return is_evenly_repeated(counts) and numbers and self._scores_differ()

    def _scores_differ(self) -> bool:
        """Whether most runs of a configuration score otherwise than those before: they are no copies of rows."""
        scores = self.trials.selection[self.rows]
        scored = np.isfinite(scores)
        codes = self.codes[scored]
        runs = np.unique(np.stack([codes.astype(np.float64), scores[scored]]), axis=1).shape[1]
        firsts = np.unique(codes).size
        return bool(2 * (runs - firsts) > codes.size - firsts)


def is_evenly_repeated(counts: IntArray) -> bool:
    """Whether all configurations, or all but a few, have as many runs, and more than one."""
    least = int(counts.min())
    return least > 1 and bool(_FEW_MORE * (counts.sum() - least * counts.size) <= counts.size)


def _settings(columns: dict[str, Column]) -> dict[str, IntArray]:
    """The columns that vary, as codes; without those that another one determines (the same under a second name)."""
    codes = {key: codes_of(column) for key, column in columns.items()}
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


def grid_of(varied: Sequence[IntArray]) -> diagnostics.Grid | None:
    """The grid that settings form, as codes; None where they form none."""
    # A single run with other settings (a default) beside a grid does not make it less of one.
    whole = np.all([codes >= 0 for codes in varied], axis=0)
    complete = whole if whole.mean() >= 0.9 else np.ones(whole.size, dtype=bool)
    return diagnostics.grid_design([codes[complete] for codes in varied])


def combined(*columns: Codes | IntArray) -> IntArray:
    """Codes from 0 without a gap, one for each combination."""
    return diagnostics.configuration_codes([column.astype(np.int64) for column in columns], columns[0].size)


def n_combined(*columns: Codes | IntArray) -> int:
    """How many combinations there are."""
    return int(combined(*columns).max(initial=-1)) + 1


def _ladder(column: Column) -> bool:
    numbers = column.dtype.kind in "iuf" and bool(np.isfinite(column).all())
    return numbers and diagnostics.evenly_spaced(column)


def paired_cautions(trials: Trials, rows_by_family: Sequence[IntArray]) -> Iterator[Caution]:
    """One warning where families share their configurations or problems; equal seed numbers are no pairing."""
    if len(trials.families) < 2 or len(trials) > _LOOKED_AT_UP_TO:
        return
    keys: list[tuple[str, IntArray]] = []
    splits = data_splits(trials)
    settings = [column for name, column in trials.configuration.items() if splits is None or name != splits[0]]
    varied = [codes for codes in map(codes_of, settings) if codes.min() != codes.max()]
    if splits is not None and not varied:
        keys.append(("data splits", codes_of(splits[1])))
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


def _shared(codes: IntArray, rows_by_family: Sequence[IntArray]) -> tuple[int, list[int]]:
    """Families that have (nearly) all their keys in common with the first such family, and how many they share."""
    sets = [np.unique(codes[rows]) for rows in rows_by_family]
    for first, mine in enumerate(sets):
        near = {first: mine.size}
        for place, other in enumerate(sets[first + 1 :], first + 1):
            enough = max(_PAIRS, 0.9 * max(mine.size, other.size))
            if min(mine.size, other.size) >= enough:
                shared = np.intersect1d(mine, other, assume_unique=True).size
                near |= {place: shared} if shared >= enough else {}
        if len(near) > 1:
            return min(near.values()), list(near)
    return 0, []


def codes_of(column: Column) -> IntArray:
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
