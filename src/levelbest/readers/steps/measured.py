"""Tells what was measured of a run from the settings that it was given, by the runs that repeat all other settings.

Every value of a setting is run with every seed; what was measured (``grad_cos``, ``dead_units``) differs from run to
run. Taken as a setting it would make each run a configuration of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from levelbest._check import Column, IntArray
from levelbest.cautions import Caution
from levelbest.errors import Ambiguous, named
from levelbest.readers.steps import names
from levelbest.readers.steps.designs import codes_of, combined, grid_of, is_evenly_repeated, n_combined
from levelbest.readers.steps.diagnose import with_diagnostics
from levelbest.readers.steps.kinds import HYPERPARAMETERS, of_settings
from levelbest.readers.steps.roles import Roles
from levelbest.stats.checks import _diagnostics as diagnostics
from levelbest.trials import Trials, few_again, has_repeats, split_column

__all__ = ["ask_about_unknown", "without_measured"]

_LOOKED_AT_UP_TO = 1_000_000
_NEARLY = 0.9
"""The share of configurations and seeds that must meet, and of configurations in which what was measured differs: a
run may be missing or have failed, and measurements may agree by chance."""
_MANY_SEEDS = 10
"""So many seeds, and more than there are configurations, may number the draws of a random search within each."""
_MOST_RUNS = 50
"""More runs of a family without known settings are those of a search."""
_RARE = float(np.log(1e-3))
_SET = names.word_set("lr dropout decay l1 l2 hidden momentum batch alpha beta gamma lambda eps epsilon warmup reg")
"""Words of hyperparameters: ``l2_reg``, ``lr_decay``, ``hidden_units``."""
_CAME_TO = names.word_set("final last best mean avg average min max grad end stopped actual effective")
"""Words of what a setting came to in a run: ``final_lr``."""


def without_measured(trials: Trials, roles: Roles, source: str) -> Mapping[str, Column]:
    """The settings without what was measured of runs, which is said; asks where that is not clear and would matter."""
    settings = trials.configuration
    if trials.group is not None or trials.search is not None or not 4 <= len(trials) <= _LOOKED_AT_UP_TO:
        return settings
    runs = _Runs.of(trials)
    results = (_by_seeds(runs) or _by_even_numbers(runs)) if runs.perhaps else None
    if results is None:
        ask_about_unknown(trials, source)
        return settings
    left = {name: column for name, column in settings.items() if name not in results.measured}
    if results.unclear:
        both = (with_diagnostics(replace(trials, configuration=columns)).setting for columns in (settings, left))
        if not _is_same(*both):
            raise _unsure(source, results.unclear, [name for name in runs.columns if name in left])
        return settings
    roles.notes.append(Caution.of("guessed-columns", kind="measured", columns=list(results.measured)))
    return left


def ask_about_unknown(trials: Trials, source: str) -> None:
    """Ask about columns of unknown names without which the runs are repeats of a few settings, or of none.

    Each of them may have been drawn by a random search or measured, and the answer depends on it.
    """
    runs = _Runs.of(trials)
    unknown = [name for name in runs.columns if runs.once or runs.is_unknown(name, trials.configuration[name])]
    unknown = [name for name in unknown if not _equals(trials.configuration[name], trials.seed)]
    all_but_one = [[name for name in unknown if name != kept] for kept in unknown] if len(unknown) > 1 else []
    for taken in [unknown, *all_but_one] if unknown and runs.told_apart else []:
        left = [name for name in runs.columns if name not in taken]
        groups = runs.groups(left)
        if 2 * n_combined(groups) > groups.size or not few_again(n_combined(groups, *runs.told_apart), groups.size):
            continue
        if min(runs.differs(name, groups) for name in taken) >= _NEARLY and _are_repeats(trials, runs, left):
            raise _unsure(source, taken, [*left, *runs.split], beside=not left)


def _are_repeats(trials: Trials, runs: _Runs, settings: Sequence[str]) -> bool:
    """Whether runs of these settings alone repeat them: one configuration, the same seeds, or as many runs of each."""
    if not settings:
        return int(np.bincount(runs.cells).max()) <= _MOST_RUNS
    if 2 * n_combined(runs.cells, *runs.told_apart) > runs.cells.size and _chance_even(runs, settings) > _RARE:
        return False
    columns = {name: column for name, column in trials.configuration.items() if name in {*settings, *runs.split}}
    return has_repeats(with_diagnostics(replace(trials, configuration=columns)))


@dataclass(frozen=True)
class _Results:
    """The columns that are no settings; those of them of which that is not clear."""

    measured: tuple[str, ...]
    unclear: tuple[str, ...]


@dataclass(frozen=True)
class _Runs:
    """The settings that vary within a family (and task), and what tells the runs of one configuration apart."""

    cells: IntArray
    """The family and task of each run."""
    columns: Mapping[str, IntArray]
    perhaps: tuple[str, ...]
    """Those that may have been measured: numbers that are no plain hyperparameters, and not the same at each seed."""
    seed: IntArray | None
    """The place of each run's seed (and data split) among those of its cell; None where there is one at most."""
    told_apart: tuple[IntArray, ...] = ()
    """The seed and the data split of each run, where they are known."""
    split: tuple[str, ...] = ()

    @classmethod
    def of(cls, trials: Trials) -> _Runs:
        """Those of all families."""
        configuration, split = trials.configuration, split_column(trials.configuration)
        cells = combined(*(codes.astype(np.int64) for codes in (trials.family, trials.task) if codes is not None))
        columns = {name: codes_of(column) for name, column in configuration.items() if name != split}
        columns = {name: codes for name, codes in columns.items() if n_combined(cells, codes) > n_combined(cells)}
        numbers = [name for name in columns if configuration[name].dtype.kind in "iuf"]
        told_apart = [
            codes_of(column) for column in (trials.seed, configuration.get(split or "")) if column is not None
        ]
        seed = _ranks(cells, combined(*told_apart)) if told_apart else None
        seed = None if seed is None or not seed.any() else seed
        perhaps = tuple(
            name
            for name in numbers
            if not _is_hyperparameter(name) and (seed is None or _is_free(cells, seed, name, columns[name]))
        )
        return cls(cells, columns, perhaps, seed, tuple(told_apart), () if split is None else (split,))

    def is_unknown(self, name: str, column: Column) -> bool:
        """Whether a column may have been measured: a number, or other text in nearly every run, of an unknown name."""
        most = n_combined(self.cells, self.columns[name]) >= _NEARLY * self.cells.size
        words = set(names.tokens(name))
        set_so = bool(of_settings(name)) or (bool(words & _SET) and not words & _CAME_TO)
        known = set_so or _is_hyperparameter(name) or _is_seed(name)
        return (column.dtype.kind in "iuf" or most) and not known

    @property
    def once(self) -> bool:
        """Whether each family has one run on each of the same folds: settings may have been chosen within each."""
        if self.seed is None or len(self.told_apart) > 1 or not self.split or _is_seed(self.split[0]):
            return False
        return (
            n_combined(self.cells, self.seed)
            == self.cells.size
            == n_combined(self.cells) * n_combined(self.told_apart[0])
        )

    def groups(self, settings: Iterable[str]) -> IntArray:
        """Which configuration each run is of, if these are the settings."""
        return combined(self.cells, *(self.columns[name] for name in settings))

    @cached_property
    def n_seeds(self) -> IntArray:
        """How many seeds each run's cell has."""
        assert self.seed is not None
        most = np.zeros(int(self.cells.max()) + 1, dtype=np.int64)
        np.maximum.at(most, self.cells, self.seed + 1)
        return most[self.cells]

    def share(self, groups: IntArray) -> float:
        """The share of configurations and seeds that meet."""
        assert self.seed is not None
        first = np.unique(groups, return_index=True)[1]
        return n_combined(groups, self.seed) / float(self.n_seeds[first].sum())

    def differs(self, name: str, groups: IntArray) -> float:
        """The share of configurations with several known values in which these differ."""
        known = self.columns[name] >= 0
        groups, values = groups[known], self.columns[name][known]
        firsts = np.unique(combined(groups, values), return_index=True)[1]
        kinds, several = np.bincount(groups[firsts]), np.bincount(groups) > 1
        return float((kinds[several] > 1).mean()) if several.any() else 0.0


def _by_seeds(runs: _Runs) -> _Results | None:
    """The columns without which all settings meet all seeds once; none where some always differ."""
    seed = runs.seed
    if seed is None:
        return None

    def is_complete(settings: Sequence[str]) -> bool:
        groups = runs.groups(settings)
        met = n_combined(groups, seed)
        varied = n_combined(groups) > n_combined(runs.cells)
        return varied and runs.share(groups) >= _NEARLY and few_again(met, groups.size)

    # A setting meets every seed at each of its values.
    settings = [name for name in runs.columns if name not in runs.perhaps or runs.share(runs.groups([name])) >= _NEARLY]
    while not is_complete(settings):
        shares = {name: runs.share(runs.groups(set(settings) - {name})) for name in settings if name in runs.perhaps}
        if not shares:
            return None
        settings.remove(max(shares, key=lambda name: shares[name]))
    measured = tuple(name for name in runs.perhaps if name not in settings)
    if not measured:
        return None
    groups, n_seeds = runs.groups(settings), int(runs.n_seeds.max())
    few = n_seeds < _MANY_SEEDS or n_seeds <= n_combined(groups) / n_combined(runs.cells)
    if not few or diagnostics.grid_design([groups, seed]) is None:
        return _Results(measured, measured)
    return _Results(measured, tuple(name for name in measured if not _is_measured(runs, name, groups)))


def _is_measured(runs: _Runs, name: str, groups: IntArray) -> bool:
    """Whether a number differs in nearly all configurations, and has more values than one has runs or is a seed too."""
    many = np.unique(runs.columns[name]).size > int(runs.n_seeds.max())
    return runs.differs(name, groups) >= _NEARLY and (many or _is_seed(name))


def _by_even_numbers(runs: _Runs) -> _Results | None:
    """Numbers that differ in most rows, without which all configurations have several runs, about as many each.

    Where a grid of other settings is repeated it is clear, else not.
    """
    measured = tuple(name for name in runs.perhaps if 2 * n_combined(runs.cells, runs.columns[name]) > runs.cells.size)
    settings = [name for name in runs.columns if name not in measured]
    groups = runs.groups(settings)
    if not measured or n_combined(groups) == n_combined(runs.cells):
        return None
    if _chance_even(runs, settings) > _RARE or min(runs.differs(name, groups) for name in measured) < _NEARLY:
        return None
    cells = [runs.cells == cell for cell in range(int(runs.cells.max()) + 1)]
    grids = all(grid_of([runs.columns[name][rows] for name in settings]) is not None for rows in cells)
    return _Results(measured, () if grids else measured)


def _chance_even(runs: _Runs, settings: Sequence[str]) -> float:
    """The logarithm of the chance that random draws give all configurations nearly as many runs; 0 if they have not."""
    groups, chance = runs.groups(settings), 0.0
    for cell in range(int(runs.cells.max()) + 1):
        counts = np.unique(groups[runs.cells == cell], return_counts=True)[1]
        if not is_evenly_repeated(counts):
            return 0.0
        chance += diagnostics.log_even(int(counts.sum()), counts.size)
    return chance


def _is_seed(name: str) -> bool:
    return "seed" in names.tokens(name)


def _is_free(cells: IntArray, seed: IntArray, name: str, column: IntArray) -> bool:
    """Whether a column differs between runs of one seed, or is by its name another seed."""
    return _is_seed(name) or n_combined(cells, seed, column) > n_combined(cells, seed)


def _is_hyperparameter(name: str) -> bool:
    """``lr``, ``config.batch_size``, ``model.dropout``: a search may draw it for every run."""
    last = name.replace("/", ".").rpartition(".")[2]
    return bool({"_".join(of_settings(name)), names.spelled(name), names.spelled(last)} & HYPERPARAMETERS)


def _is_same(first: IntArray | None, second: IntArray | None) -> bool:
    if first is None or second is None:
        return first is None and second is None
    return np.array_equal(first, second)


def _unsure(source: str, unclear: Sequence[str], settings: Sequence[str], *, beside: bool = False) -> Ambiguous:
    """A question about columns that were measured or set; ``beside``: the settings are data splits, or none."""
    which, same = _listed(unclear), _listed(settings)
    between = f"between runs with the same {same}"
    if beside:
        between = f"between runs, and {f'beside {same} ' * bool(settings)}no known setting does"
    differs, of_runs, of_plan = ("differs", "is it a result of each run", "a setting")
    if len(unclear) > 1:
        differs, of_runs, of_plan = ("differ", "are they results of each run", "settings")
    return Ambiguous(
        f"{source}: {which} {differs} {between}: {of_runs} ("
        f"{named('configuration', ','.join(settings) or 'none')}), or {of_plan} "
        f"({named('configuration', ','.join([*settings, *unclear]))})?"
    )


def _equals(column: Column, seed: Column | None) -> bool:
    """Whether a column repeats the seed, as numbers in file names do."""
    return seed is not None and np.array_equal(column.astype(str), seed.astype(str))


def _listed(columns: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(map(repr, columns[:-1])), *map(repr, columns[-1:]))))


def _ranks(cells: IntArray, values: IntArray) -> IntArray:
    """The place of each value among those of its cell, from 0."""
    pairs = combined(cells, values)  # sorted by cells, then by values
    first = np.full(int(cells.max()) + 1, pairs.size)
    np.minimum.at(first, cells, pairs)
    ranks: IntArray = pairs - first[cells]
    return ranks
