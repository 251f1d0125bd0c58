"""Columns of numbers that the plan of an experiment has beside settings: repeats of whole searches and of runs, rounds,
and conditions of the evaluation (shots, noise), each a task. Taken where it is certain, else asked about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import lgamma, log

import numpy as np

from levelbest._check import Column, IntArray
from levelbest.cautions import Caution
from levelbest.errors import Ambiguous, DataError, named, named_condition
from levelbest.readers.raw import Codes, as_codes, joint_codes
from levelbest.readers.steps import names
from levelbest.readers.steps.cells import as_numbers
from levelbest.readers.steps.kinds import (
    HYPERPARAMETERS,
    Look,
    is_index,
    is_run_number,
    is_setting_name,
    never_setting,
)
from levelbest.readers.steps.merged import Merged
from levelbest.readers.steps.names import among, word_set
from levelbest.readers.steps.roles import ReadRequest, Roles, looks_numeric
from levelbest.readers.steps.runs import settings_vary
from levelbest.trials import Trials, few_again, is_split_name, split_column

__all__ = ["REPEATS", "RUNS", "ask_about_levels", "cell_codes", "counts_by_family", "guess_levels"]
__all__ += ["guess_repetitions", "guess_searches", "in_blocks", "is_planned", "is_shared", "meets_every_seed"]

REPEATS = word_set("repeat repeat_id repetition rep replicate replication restart study_seed search_seed")
"""Names of columns that number repeats of a search."""
_NUMBERS = word_set("trial trial_id trial_number trial_no trial_idx number draw candidate evaluation eval iteration")
"""Within a repeat of a search: which of its trials a row is."""
_ROUNDS = word_set(
    "round rounds rnd round_id round_no round_number round_idx search_round stage wave generation gen generations"
)
"""Repeats of a search, or steps of one, each of which draws from a space that the step before has chosen."""
_REPETITIONS = word_set(
    "rep repeat repetition replicate replication restart rep_id repeat_id replicate_id fold fold_id cv_fold kfold "
    "split inner inner_fold inner_split inner_cv"
)
RUNS = word_set("run run_id run_number run_no run_idx run_nr")
_RESAMPLES = word_set("bootstrap bootstraps bootstrapped boot")
_TRIALS = word_set("trial trial_id trial_number trial_no trial_idx trial_nr")
_MOST = 50
"""More of a family are taken for a search whose settings were not recorded, as of a column of seeds."""
_CONDITIONS = word_set(
    "shot shots n_shot n_shots num_shot num_shots k_shot k_shots few_shot few_shots fewshot num_fewshot n_fewshot "
    "num_few_shot noise_level noise_levels snr snr_db severity corruption_severity corruption_level "
    "perturbation_level pred_len prediction_length forecast_horizon"
)
"""Names that are of how models are evaluated, and of no setting of theirs."""
_EITHER = word_set("temperature temp top_p top_k")
"""Hyperparameters, or how a language model is sampled from."""
_SEEDS = word_set("s sd rs")
"""Short for a seed in the names of folders."""
_FEW, _NAMED_SO = 8, 30
"""More values than this are drawn or counted, and no conditions; by name there may be as many as there may be tasks."""
_LOOKED_AT, _AGAIN = 200, 0.8
PARTS_OF_PATHS = (("folder",), ("name",), ("file",))
"""What a folder reader calls the parts of paths; where two may name families, it has asked."""
_SHARED = 0.9
"""The share of families and values that must meet: a few rows may be missing."""
_LARGEST = 5_000_000
_CHANCE = 1e-3
"""NOTE: random search draws a setting equally often in all families less than once in 1,000 tables; at 1e-2 tables of
eight trials with two choices would be asked about."""


def guess_searches(table: Merged, roles: Roles, wanted: ReadRequest) -> None:
    """Repeated searches known by two columns: a repeat, and the number of a trial that begins again in each.

    The columns are those of ``model, repeat, trial, val_acc``. Rounds with several trials each are asked about.
    """
    if roles.trial or wanted.trial or roles.group is not None:
        return
    free = [name for name in table.columns if name not in roles.used()]
    rounds = next((name for name in among(free, _ROUNDS) if _are_rounds(table, roles, name)), None)
    if roles.search or wanted.search:
        roles.counter = rounds  # no setting of a trial
        return
    if rounds is not None:
        raise _about_rounds(table, roles, rounds)
    repeats, numbers = among(free, REPEATS), among(free, _NUMBERS)
    if len(repeats) != 1 or len(numbers) != 1 or not looks_numeric(table.columns, numbers[0]):
        return
    search, trial = table.codes(*roles.family, repeats[0]), table.codes(numbers[0])
    sizes = np.bincount(search)
    once = np.unique(joint_codes([search, trial])).size == table.n_rows
    if once and sizes.size > 1 and sizes.min() > 1 and np.unique(trial).size == sizes.max():
        roles.search, roles.order = repeats[0], roles.order or numbers[0]
        roles.guessed += [("search", repeats[0]), ("order", numbers[0])]


def _are_rounds(table: Merged, roles: Roles, name: str) -> bool:
    """Whether a column numbers rounds that have several trials each, of settings that vary."""
    count, sizes = len(as_codes(table.columns[name])[0]), np.bincount(table.codes(*roles.family, name))
    return count > 1 and bool(np.median(sizes) > 1) and settings_vary(table.columns, name)


def _about_rounds(table: Merged, roles: Roles, name: str) -> Ambiguous:
    """The trials of a round are not independent where it draws from a space that the last one has chosen."""
    count = len(as_codes(table.columns[name])[0])
    one_search = f" ({named('search', roles.family[0])})" if roles.family else ""
    return Ambiguous(
        f"{table.source}: {name!r} has {count} values with several trials each: are they rounds of one search, each of "
        f"which draws where the last did well{one_search}, repeats of a whole search ({named('search', name)}), or "
        f"neither, and all trials are independent ({named('search', 'none')})?"
    )


def guess_repetitions(table: Merged, trials: Trials, roles: Roles, wanted: ReadRequest) -> Mapping[str, Column]:
    """The settings without a column that only numbers repetitions of one configuration: it is taken as the seed.

    Runs and trials may also be those of a search whose settings were not recorded, which has a validation score: only
    without one runs are repetitions, and trials are asked about.
    """
    settings = trials.configuration
    if roles.seed or wanted.seed_column or roles.trial or trials.group is not None or trials.search is not None:
        return settings
    free = [name for name in table.columns if name not in roles.used()]
    searched = roles.reported is not None or bool(set(names.tokens(roles.selection)) & names.VALIDATION)
    known = _REPETITIONS if searched else _REPETITIONS | RUNS | _TRIALS
    named_so = [name for name in free if names.spelled(name) in known or is_split_name(name)]
    varied = _varied(trials, settings)
    numbers = _numbers(table, named_so, varied, trials)
    if not (searched or numbers):
        _ask_about_counter(table, varied, trials)
    if len(numbers) != 1 or set(varied) - {numbers[0]}:
        return settings
    (number,) = numbers
    if names.spelled(number) in _TRIALS:
        raise Ambiguous(
            f"{table.source}: no setting varies with {number!r}: are these runs of one configuration "
            f"({named('seed_column', number)}), or trials of a search ({named('seed_column', 'none')})?"
        )
    roles.seed = number
    roles.guessed.append(("seed", number))
    return {name: column for name, column in settings.items() if name != number}


def _numbers(table: Merged, named_so: Sequence[str], varied: list[str], trials: Trials) -> list[str]:
    """The columns that number the runs of a family or, without any, on each data split, taken out of ``varied``."""
    numbers = [name for name in named_so if _numbers_runs(table, name, trials)]
    split = split_column(varied)
    if numbers or split is None:
        return numbers
    varied.remove(split)
    return [name for name in named_so if name != split and _numbers_runs(table, name, trials, split)]


def _ask_about_counter(table: Merged, varied: Sequence[str], trials: Trials) -> None:
    """Ask about the only setting that varies, where it counts the rows of every family: it may number runs."""
    if len(varied) == 1 and _counts_in_turn(table, varied[0], trials):
        if set(names.tokens(varied[0])) & _RESAMPLES:
            raise DataError(
                f"{table.source}: {varied[0]!r} numbers resamples of one result, which say nothing about another run: "
                f"give the results of several runs, or a row for each problem ({named('group')})"
            )
        raise Ambiguous(
            f"{table.source}: {varied[0]!r} counts the rows of every family, and no setting varies beside it: are they "
            f"runs of one configuration ({named('seed_column', varied[0])}), or is it a setting "
            f"({named('seed_column', 'none')})?"
        )


def cell_codes(trials: Trials) -> Codes:
    """Which family on which task each trial is of."""
    return joint_codes([trials.family, *([] if trials.task is None else [trials.task])])


def _numbers_runs(table: Merged, name: str, trials: Trials, split: str | None = None) -> bool:
    """Whether the trials of a family (on a data split) have numbers of their own there, few of them again.

    No more than so many have one.
    """
    labels, codes = as_codes(table.columns[name])
    cells = cell_codes(trials)
    if split is not None:
        cells = joint_codes([cells, as_codes(table.columns[split])[1]])
    sizes = np.bincount(cells)
    firsts = np.unique(joint_codes([cells, codes]), return_index=True)[1]
    alone = all(map(few_again, np.bincount(cells[firsts]), sizes))
    return alone and bool((codes >= 0).all()) and 1 < sizes.max() <= _MOST and all(map(is_run_number, labels))


def _counts_in_turn(table: Merged, name: str, trials: Trials) -> bool:
    """Whether a column of no known hyperparameter is 1, 2, 3, ... (or from 0 on) in every family, in any order."""
    if is_setting_name(name) or not _numbers_runs(table, name, trials):
        return False
    numbers, cells = as_numbers(table.columns[name]).values, cell_codes(trials)
    each = [np.unique(numbers[cells == cell]) for cell in np.unique(cells)]
    return all(run.size > 2 and run[0] in (0, 1) and bool((np.diff(run) == 1).all()) for run in each)


def _varied(trials: Trials, settings: Mapping[str, Column]) -> list[str]:
    """The settings that have several values within a family."""
    cells = cell_codes(trials)
    return [
        name
        for name, column in settings.items()
        if any(len({str(value) for value in column[cells == cell]}) > 1 for cell in np.unique(cells))
    ]


def guess_levels(table: Merged, roles: Roles, wanted: ReadRequest) -> None:
    """Take the column that is by its name of conditions as the tasks, and say so."""
    if _is_answered(roles, wanted):
        return
    free = [name for name in table.columns if name not in roles.used() and looks_numeric(table.columns, name)]
    levels = [name for name in among(free, _CONDITIONS) if _is_repeated(counts_by_family(table, roles, name))]
    if not levels:
        return
    if roles.task is not None or len(levels) > 1:
        several = [*([roles.task] if roles.task else []), *levels]
        value = as_codes(table.columns[levels[0]])[0][0]
        raise Ambiguous(
            f"{table.source}: the rows are of several conditions, distinguished by {' and '.join(map(repr, several))}; "
            f"keep one value of all but one of them ({named_condition(levels[0], value)})"
        )
    (roles.task,) = levels
    roles.guessed.append(("task", levels[0]))
    count = len(as_codes(table.columns[levels[0]])[0])
    roles.notes.append(Caution.of("guessed-columns", None, count, kind="levels", column=levels[0], count=count))


def _is_repeated(counts: IntArray) -> bool:
    """Whether there are a few values, which several families have, most of them with several rows."""
    several = counts.size > 0 and 1 < counts.shape[1] <= _NAMED_SO
    return several and bool((counts > 0).sum(axis=0).max() > 1) and float((counts[counts > 0] > 1).mean()) > 0.5


def ask_about_levels(table: Merged, roles: Roles, wanted: ReadRequest) -> None:
    """Ask about the one number of any other name that every family has equally often, where nothing else varies."""
    if _is_answered(roles, wanted) or wanted.trial == "none":
        return
    levels = [name for name in _levels(table, roles) if not _is_hyperparameter(name)]
    levels = [name for name in levels if names.spelled(name) not in _SEEDS]
    if len(levels) != 1 or any(_varies(table, roles, name) for name in table.columns if name != levels[0]):
        return
    (name,) = levels
    counts = counts_by_family(table, roles, name)
    even = roles.task is None and is_planned(counts, ordered=in_blocks(table, name, counts.size))
    if not (even or _begin_again(table, roles, name)):
        return
    labels = as_codes(table.columns[name])[0]
    runs = f"{table.source}: every family has several runs with each of the {len(labels)} values of {name!r}"
    if roles.task is not None:
        raise Ambiguous(
            f"{runs} and of {roles.task!r}: keep one value ({named_condition(name, labels[0])}), or say that "
            f"{name!r} is a setting of the models that is searched over ({named('task', roles.task)})"
        )
    raise Ambiguous(
        f"{runs} ({', '.join(labels)}): are they conditions, each with a verdict ({named('task', name)}), or a "
        f"setting of the models that is searched over ({named('task', 'none')})?"
    )


def _is_answered(roles: Roles, wanted: ReadRequest) -> bool:
    """Whether it was said what the rows are of, or they are of problems or searches."""
    answers = (wanted.task, wanted.configuration, wanted.group, wanted.search)
    return {roles.group, roles.search, *answers} != {None}


def _levels(table: Merged, roles: Roles) -> Iterator[str]:
    """Numbers without a part of which every family has each of a few values, with several rows each."""
    recorded = {name for part in table.tables for name in part.configuration or ()}
    for name in table.columns:
        if name in roles.used() | recorded or is_split_name(name) or not looks_numeric(table.columns, name):
            continue
        look = Look(name, table.columns[name])
        if is_index(look) or look.words[:1] in PARTS_OF_PATHS or names.spelled(name) in _REPETITIONS:
            continue
        if never_setting(look) is not None and look.words != ("version",):
            continue
        if len(as_codes(look.cells[:_LOOKED_AT])[0]) > _FEW or not 1 < len(as_codes(look.cells)[0]) <= _FEW:
            continue
        counts = counts_by_family(table, roles, name)
        if is_shared(counts) and counts.min() > 1 and int(counts.sum()) == table.n_rows:
            yield name


def _begin_again(table: Merged, roles: Roles, name: str) -> bool:
    """Whether the seeds of a family begin again at each value: a random draw of the value has a seed of its own."""
    if roles.seed is None:
        return False
    cell = table.codes(*roles.family) if roles.family else table.source_codes()[1]
    cell = cell if roles.task is None else table.codes(roles.task, within=cell)
    value, seed = (as_codes(table.columns[column])[1] for column in (name, roles.seed))
    runs, seeds = (np.unique(joint_codes(keys)).size for keys in ([cell, value, seed], [cell, seed]))
    return bool(runs == table.n_rows and seeds <= _AGAIN * runs)


def _is_hyperparameter(name: str) -> bool:
    """``encoder_layers`` like ``layers``."""
    known = is_setting_name(name) or bool(set(names.tokens(name)) & HYPERPARAMETERS)
    return known and names.spelled(name) not in _EITHER


def _varies(table: Merged, roles: Roles, name: str) -> bool:
    """Whether a column without a part may be a setting of a grid, which varies within a family and recurs: what differs
    in every row was drawn or measured."""
    look = Look(name, table.columns[name])
    if name in roles.used() or is_index(look) or is_split_name(name) or never_setting(look) is not None:
        return False
    family = table.codes(*roles.family) if roles.family else table.source_codes()[1]
    values = np.unique(table.codes(name, within=family)).size
    return np.unique(family).size < values < table.n_rows


def counts_by_family(table: Merged, roles: Roles, name: str, *, most: int | None = _LARGEST) -> IntArray:
    """How many rows each family has of each value of a column; empty where these are more than ``most`` cells."""
    family = table.codes(*roles.family) if roles.family else table.source_codes()[1]
    values, codes = as_codes(table.columns[name])
    if most is not None and (int(family.max()) + 1) * len(values) > most:
        return np.zeros((0, 0), dtype=np.int64)
    counts = np.zeros((int(family.max()) + 1, len(values)), dtype=np.int64)
    known = codes >= 0
    np.add.at(counts, (family[known], codes[known]), 1)
    present: IntArray = counts[counts.sum(axis=1) > 0]
    return present


def is_shared(counts: IntArray) -> bool:
    """Whether nearly every value occurs in nearly every one of several families."""
    return counts.shape[0] > 1 and counts.size > 0 and float((counts > 0).mean()) >= _SHARED


def is_planned(counts: IntArray, *, ordered: bool = False) -> bool:
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
