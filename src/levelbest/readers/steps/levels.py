"""Numbers with a few values that every family has (shots, noise, context length): conditions of the evaluation, each a
task with a verdict, or a setting that is searched over. Taken by name where it is certain, else asked about."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from levelbest.cautions import Caution
from levelbest.errors import Ambiguous, named
from levelbest.readers.raw import as_codes, joint_codes
from levelbest.readers.steps import names
from levelbest.readers.steps.kinds import HYPERPARAMETERS, Look, is_index, is_setting_name, never_setting
from levelbest.readers.steps.merged import Merged
from levelbest.readers.steps.problems import PARTS_OF_PATHS, counts_by_family, in_blocks, is_planned, is_shared
from levelbest.readers.steps.roles import ReadRequest, Roles, looks_numeric
from levelbest.trials import is_split_name

__all__ = ["ask_about_levels", "guess_levels"]

_CONDITIONS = names.word_set(
    "shot shots n_shot n_shots num_shot num_shots k_shot k_shots few_shot few_shots fewshot num_fewshot n_fewshot "
    "num_few_shot noise_level noise_levels snr snr_db severity corruption_severity corruption_level "
    "perturbation_level pred_len prediction_length forecast_horizon"
)
"""Names that are of how models are evaluated, and of no setting of theirs."""
_SEEDS = names.word_set("s sd rs")
"""Short for a seed in the names of folders."""
_FEW, _NAMED_SO = 8, 30
"""More values than this are drawn or counted, and no conditions; by name there may be as many as there may be tasks."""
_LOOKED_AT, _NEARLY = 200, 0.9


def guess_levels(table: Merged, roles: Roles, wanted: ReadRequest) -> None:
    """Take the column that is by its name of conditions as the tasks, and say so."""
    if _is_answered(roles, wanted):
        return
    levels = [name for name in _levels(table, roles, _NAMED_SO) if names.spelled(name) in _CONDITIONS]
    if not levels:
        return
    if roles.task is not None or len(levels) > 1:
        several = [*([roles.task] if roles.task else []), *levels]
        value = as_codes(table.columns[levels[0]])[0][0]
        raise Ambiguous(
            f"{table.source}: the rows are of several conditions, distinguished by {' and '.join(map(repr, several))}; "
            f'keep one value of all but one of them ({named("where")} "{levels[0]} = {value}")'
        )
    (roles.task,) = levels
    roles.guessed.append(("task", levels[0]))
    count = len(as_codes(table.columns[levels[0]])[0])
    roles.notes.append(Caution.of("guessed-columns", None, count, kind="levels", column=levels[0], count=count))


def ask_about_levels(table: Merged, roles: Roles, wanted: ReadRequest) -> None:
    """Ask about the one number of any other name that every family has equally often, where nothing else varies."""
    if _is_answered(roles, wanted) or roles.task is not None or wanted.trial == "none":
        return
    levels = [name for name in _levels(table, roles, _FEW) if not _is_hyperparameter(name)]
    levels = [name for name in levels if names.spelled(name) not in _SEEDS]
    if len(levels) != 1 or any(_varies(table, roles, name) for name in table.columns if name != levels[0]):
        return
    (name,) = levels
    counts = counts_by_family(table, roles, name)
    if is_planned(counts, ordered=in_blocks(table, name, counts.size)) or _meets_the_seeds(table, roles, name):
        values = ", ".join(as_codes(table.columns[name])[0])
        raise Ambiguous(
            f"{table.source}: every family has several runs with each of the {counts.shape[1]} values of {name!r} "
            f"({values}): are they conditions, each with a verdict ({named('task')} {name}), or a setting of the "
            f"models that is searched over ({named('task')} none)?"
        )


def _is_answered(roles: Roles, wanted: ReadRequest) -> bool:
    """Whether it was said what the rows are of, or they are of problems or searches."""
    answers = (wanted.task, wanted.configuration, wanted.group, wanted.search)
    return {roles.group, roles.search, *answers} != {None}


def _levels(table: Merged, roles: Roles, most: int) -> Iterator[str]:
    """Numbers without a part of which every family has each of a few values, with several rows each."""
    recorded = {name for part in table.tables for name in part.configuration or ()}
    for name in table.columns:
        if name in roles.used() | recorded or is_split_name(name) or not looks_numeric(table.columns, name):
            continue
        look = Look(name, table.columns[name])
        if is_index(look) or look.words[:1] in PARTS_OF_PATHS or never_setting(look) is not None:
            continue
        if len(as_codes(look.cells[:_LOOKED_AT])[0]) > most or not 1 < len(as_codes(look.cells)[0]) <= most:
            continue
        counts = counts_by_family(table, roles, name)
        if is_shared(counts) and counts.min() > 1 and int(counts.sum()) == table.n_rows:
            yield name


def _meets_the_seeds(table: Merged, roles: Roles, name: str) -> bool:
    """Whether every family has nearly every value once with each of several seeds: a few runs may be missing."""
    if roles.seed is None:
        return False
    keys = [table.codes(*roles.family) if roles.family else table.source_codes()[1]]
    keys += [as_codes(table.columns[column])[1] for column in (name, roles.seed)]
    cells = np.prod([np.unique(codes).size for codes in keys])
    return bool(np.unique(joint_codes(keys)).size == table.n_rows >= _NEARLY * cells)


def _is_hyperparameter(name: str) -> bool:
    """``encoder_layers`` like ``layers``."""
    return is_setting_name(name) or bool(set(names.tokens(name)) & HYPERPARAMETERS)


def _varies(table: Merged, roles: Roles, name: str) -> bool:
    """Whether a column without a part may be a setting of a grid, which varies within a family and recurs: what differs
    in every row was drawn or measured."""
    look = Look(name, table.columns[name])
    if name in roles.used() or is_index(look) or is_split_name(name) or never_setting(look) is not None:
        return False
    family = table.codes(*roles.family) if roles.family else table.source_codes()[1]
    values = np.unique(table.codes(name, within=family)).size
    return np.unique(family).size < values < table.n_rows
