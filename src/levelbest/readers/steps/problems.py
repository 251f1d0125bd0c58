"""Detection of problems and tasks (games, data sets, benchmarks) in a table, and their attributes.

Scores of different games must not be pooled. A column is taken as the tasks by its name; where it could be something
else, the user is asked. A table may have a weight and a stratum (difficulty, source) for each problem.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from levelbest._check import Column, FloatArray, IntArray
from levelbest.errors import Ambiguous, DataError, InputError, named
from levelbest.readers.raw import Cells, Codes, as_codes, joint_codes
from levelbest.readers.steps import names
from levelbest.readers.steps.cells import as_numbers, as_statuses
from levelbest.readers.steps.kinds import Look, is_index, is_numbered, is_setting_name, is_task_name, never_setting
from levelbest.readers.steps.merged import Merged
from levelbest.readers.steps.planned import (
    PARTS_OF_PATHS,
    counts_by_family,
    in_blocks,
    is_planned,
    is_shared,
    meets_every_seed,
)
from levelbest.readers.steps.roles import ReadRequest, Roles, looks_numeric
from levelbest.trials import Trials
from levelbest.trials.nested import PREFIX, nested_in

__all__ = ["guess_problems", "guess_task", "named_problems", "prefixes_of", "refuse_repeats", "said_of_groups"]

_GROUP = names.word_set("group problem problem_id task_id question_id prompt_id instance_id doc_id puzzle_id")
_SPLITS = names.word_set("split data_split eval_split test_split")
"""Names of tasks where they hold words; numbers are folds of the data."""
_FEW_TASKS = 30
"""More values than this, or more than ten beside scores of 0 and 1, are perhaps problems."""
_FEW_PROBLEMS, _FEWEST_PROBLEMS = 10, 6
"""With one run on each the verdict is over tasks, from so many on."""
_PROBLEMS_EACH = 3
"""Problems that a benchmark has at the least, on average, where only its name tells it."""


def guess_task(table: Merged, roles: Roles, wanted: ReadRequest) -> None:
    """Take the one column of tasks, and say so; ask where it could be something else."""
    if roles.task is not None or wanted.task is not None:
        return
    taken = roles.used() | _wanted_settings(table, wanted)
    candidates = [name for name in table.columns if name not in taken and _names_tasks(table, name)]
    divide = [name for name in candidates if _is_of_the_problem(table, roles, name)]
    candidates = [name for name in candidates if name not in divide]
    if not candidates and len(divide) == 1 and _are_benchmarks(table, roles, divide[0]):
        roles.task = divide[0]
        roles.guessed.append(("task", divide[0]))
        return
    if len(candidates) > 1:
        raise Ambiguous(
            f"{table.source}: the rows belong to several tasks, distinguished by "
            f"{' or '.join(map(repr, candidates))}; name "
            f"the column with {named('task')}, or say 'none' there if it is a setting of the models"
        )
    if candidates:
        _take(table, roles, candidates[0])
    elif {roles.group, roles.search, wanted.group, wanted.search} == {None}:
        _ask_about_planned(table, roles, taken)


def _wanted_settings(table: Merged, wanted: ReadRequest) -> set[str]:
    """The columns that were named as settings: tasks and problems are others."""
    return set(table.matching(wanted.configuration, "the configuration") if wanted.configuration else ())


def _ask_about_planned(table: Merged, roles: Roles, taken: set[str]) -> None:
    """Words that every family has equally often may be tasks or a grid of settings: the best over tasks is of none."""
    taken = taken | {name for part in table.tables for name in part.configuration or ()}
    for name in table.columns:
        if name in taken or looks_numeric(table.columns, name) or is_setting_name(name):
            continue
        look = Look(name, table.columns[name])
        if is_index(look) or never_setting(look) is not None or as_statuses(look.cells).is_status:
            continue
        if is_numbered(look.cells) or look.words[:1] in PARTS_OF_PATHS:
            continue
        counts = counts_by_family(table, roles, name)
        ordered = in_blocks(table, name, counts.size) or meets_every_seed(table, roles, name)
        if counts.shape[1] <= _FEW_TASKS and is_planned(counts, ordered=ordered):
            raise Ambiguous(
                f"{table.source}: every family has the {counts.shape[1]} values of {name!r} equally often: are they "
                f"tasks that it was run on ({named('task', name)}), or a setting of it ({named('task', 'none')})?"
            )


def _names_tasks(table: Merged, name: str) -> bool:
    """By its name, with several values that each have several rows."""
    words = names.spelled(name) in _SPLITS and not looks_numeric(table.columns, name)
    words = words and not is_numbered(table.columns[name])
    if not (words or is_task_name(name)):
        return False
    n_tasks = len(as_codes(table.columns[name])[0])
    return 1 < n_tasks <= table.n_rows / 2


def _are_benchmarks(table: Merged, roles: Roles, name: str) -> bool:
    """Whether what divides the problems is by its name a few tasks, with several problems each."""
    if roles.group is None or not is_task_name(name):
        return False
    tasks, problems = (len(as_codes(table.columns[column])[0]) for column in (name, roles.group))
    return tasks <= _FEW_TASKS and problems >= _PROBLEMS_EACH * tasks


def _is_of_the_problem(table: Merged, roles: Roles, name: str) -> bool:
    """Whether each problem has one value in this column: then it divides the problems, and they are averaged over."""
    if roles.group is None:
        return False
    return np.unique(table.codes(roles.group, name)).size == np.unique(table.codes(roles.group)).size


def _take(table: Merged, roles: Roles, name: str) -> None:
    labels = as_codes(table.columns[name])[0]
    task_none = f"{named('task', 'none')} if it is a setting of the models"
    counts = counts_by_family(table, roles, name, most=None)
    single = counts.max() == 1 and is_shared(counts) and len(labels) >= _FEWEST_PROBLEMS and roles.group is None
    if single or _could_be_problems(table, roles, len(labels)):
        if _is_answered(table, roles, name, counts):
            roles.group = name
            roles.guessed.append(("group", name))
            return
        raise Ambiguous(
            f"{table.source}: are the {len(labels)} values of {name!r} problems, over which scores are averaged "
            f"({named('group', name)}), or tasks, each with a verdict ({named('task', name)})? Say {task_none}"
        )
    of_source = not roles.family or table.roles.get("family") in roles.family
    if (counts == 0).any() and of_source:
        return  # a file, or a family by its format, for each task
    roles.task = name
    roles.guessed.append(("task", name))


def _could_be_problems(table: Merged, roles: Roles, n_tasks: int) -> bool:
    """Many of them, or right and wrong answers to several."""
    if roles.group is not None:
        return False
    return n_tasks > _FEW_TASKS or (n_tasks > _FEW_PROBLEMS and _scores_are_right_or_wrong(table, roles))


def _scores_are_right_or_wrong(table: Merged, roles: Roles) -> bool:
    scores = as_numbers(table.columns[roles.selection]).values if roles.selection in table.columns else np.zeros(0)
    finite = scores[np.isfinite(scores)]
    return finite.size > 0 and bool(np.isin(finite, (0.0, 1.0)).all())


def _is_answered(table: Merged, roles: Roles, name: str, counts: IntArray) -> bool:
    """Whether each family has one row of each value, or numbered attempts at it that went right or wrong."""
    if not is_shared(counts):
        return False
    return bool(counts.max() == 1) or (
        _scores_are_right_or_wrong(table, roles) and _numbers_attempts(table, roles, name)
    )


def _numbers_attempts(table: Merged, roles: Roles, name: str) -> bool:
    """Whether a column named as samples are tells the rows of every family and value apart."""
    cell = table.codes(*roles.family, name)
    for attempt in names.among([other for other in table.columns if other != name], _ATTEMPTS):
        codes = as_codes(table.columns[attempt])[1]
        most = int(np.bincount(cell).max())
        if (
            1 < len(np.unique(codes)) == most <= _MOST_ATTEMPTS
            and np.unique(joint_codes([cell, codes])).size == cell.size
        ):
            return True
    return False


def named_problems(columns: Mapping[str, Cells], free: Sequence[str], roles: Roles) -> list[str]:
    """The columns that are of problems by their names, else the one of tests that has most of them."""
    tests = [name for name in free if names.is_test_name(name) and _are_tests(columns, name)]
    most = max(tests, key=lambda name: len(as_codes(columns[name])[0]), default=None)
    named_so = [name for name in names.among(free, _GROUP) if _are_problems(columns, roles, name)]
    return named_so or ([] if most is None else [most])


def _are_problems(columns: Mapping[str, Cells], roles: Roles, name: str) -> bool:
    """A column named ``group`` may hold groups of runs: problems are those that all families have in common."""
    if names.spelled(name) != "group" or not roles.family:
        return True
    family, codes = joint_codes([as_codes(columns[column])[1] for column in roles.family]), as_codes(columns[name])[1]
    sets = [frozenset(codes[family == code].tolist()) for code in np.unique(family)]
    return len(set(sets)) == 1 and len(sets[0]) > 1


def _are_tests(columns: Mapping[str, Cells], name: str) -> bool:
    """Whether cells are names or numbers of tests, which repeat, and not their scores."""
    if looks_numeric(columns, name) and not is_index(Look(name, columns[name])):
        return False
    return 1 < len(as_codes(columns[name])[0]) < len(columns[name])


_ATTEMPTS = names.word_set("attempt rollout sample trial k try repeat rep completion generation attempt_id trial_id")
_MOST_ATTEMPTS = 64
_BARE_IDS = names.word_set("id idx index no nr number item_id row_id")
_PROBLEMS = names.word_set(
    "problem question q prompt instance doc document puzzle example item case testcase utterance utt audio image img "
    "patient scan file filename sentence passage query ticket issue story conversation dialog dialogue input record"
)
_OF_A_PROBLEM = names.word_set("id idx index no number name key uid case")
_TASKS_UP_TO = 10
"""More values than this that all families have in common are problems, and no tasks with a verdict each."""


def guess_problems(table: Merged, roles: Roles, wanted: ReadRequest) -> None:
    """Take the column of what every family answered (utterances, patients, files); ask where only its cells say so."""
    if {roles.group, roles.trial, roles.task, roles.search} != {None}:
        return
    if {wanted.group, wanted.trial, wanted.task, wanted.search} != {None}:
        return
    recorded = {name for part in table.tables for name in part.configuration or ()}
    taken = roles.used() | recorded | _wanted_settings(table, wanted)
    free = [name for name in table.columns if name not in taken]
    shared = [name for name in free if _is_answered_by_all(table, roles, name)]
    shared = [name for name in shared if not is_task_name(name)]
    by_name = [name for name in shared if is_problem_name(name) or names.spelled(name) in _BARE_IDS]
    unsure = [name for name in shared if not looks_numeric(table.columns, name)]
    if by_name:
        roles.group = by_name[0]
        roles.guessed.append(("group", by_name[0]))
    elif unsure:
        name, count = unsure[0], len(as_codes(table.columns[unsure[0]])[0])
        raise Ambiguous(
            f"{table.source}: are the {count} values of {name!r}, which all families have, problems over which scores "
            f"are averaged ({named('group', name)}), tasks with a verdict each ({named('task', name)}), or a setting "
            f"of the models ({named('task', 'none')})?"
        )


def is_problem_name(name: str) -> bool:
    """Whether a column is by its name one of problems.

    Examples
    --------
    >>> is_problem_name("utt_id"), is_problem_name("PatientID"), is_problem_name("test_id"), is_problem_name("seed")
    (True, True, True, False)
    """
    words = tuple(word for word in names.tokens(name) if word != "test")
    if not words:
        return False
    if names.tokens(name)[0] == "test" and set(words) <= _OF_A_PROBLEM:
        return True  # of a suite of tests
    stem = words[0] if words[0] in _PROBLEMS else words[0].removesuffix("id")
    return stem in _PROBLEMS and set(words[1:]) <= _OF_A_PROBLEM


def _is_answered_by_all(table: Merged, roles: Roles, name: str) -> bool:
    """Whether the families have many values of a column in common, and it is none of a run, a place or a time."""
    look = Look(name, table.columns[name])
    if is_problem_name(name):
        pass
    elif look.words and names.spelled(name) in _BARE_IDS:
        return _are_ids_of_problems(table, roles, name)
    elif is_index(look) or never_setting(look) in ("place", "result", "moment", "list", "counts-rows"):
        return False
    counts = counts_by_family(table, roles, name)
    return counts.shape[1] > _TASKS_UP_TO and is_shared(counts)


def _are_ids_of_problems(table: Merged, roles: Roles, name: str) -> bool:
    """Whether numbers that may be of rows are of problems: every family has each of them, with several samples each."""
    counts = counts_by_family(table, roles, name)
    if counts.shape[1] <= _TASKS_UP_TO or not is_shared(counts) or counts.min() != counts.max():
        return False
    return _scores_are_right_or_wrong(table, roles) or bool(counts.min() > 1 and _numbers_attempts(table, roles, name))


def said_of_groups(
    table: Merged, roles: Roles, group: Codes | None, groups: tuple[str, ...]
) -> tuple[FloatArray | None, tuple[str, ...], tuple[str, ...]]:
    """The weight, the stratum and the cluster of each problem; every row of a problem must say the same."""
    for option, name in (("weight", roles.weight), ("stratum", roles.stratum), ("cluster", roles.cluster)):
        if name is not None and group is None:
            raise InputError(
                f"{named(option)} applies to problems: name the column of the problem with {named('group')}"
            )
    weights: FloatArray | None = None
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
    strata, clusters = (
        () if name is None or group is None else _labels_of(table, role, name, group, groups)
        for role, name in (("stratum", roles.stratum), ("cluster", roles.cluster))
    )
    return weights, strata, clusters


def _labels_of(table: Merged, role: str, column: str, group: Codes, groups: tuple[str, ...]) -> tuple[str, ...]:
    """What a column says of each problem."""
    names, codes = as_codes(table.columns[column])
    labels = (*names, "(none)")
    first = _said_once(role, column, codes, group, groups, lambda code: labels[int(code)])
    return tuple(labels[codes[row]] for row in first)


def prefixes_of(groups: tuple[str, ...], column: str | None) -> tuple[str, ...]:
    """What stands before the mark in the name of every problem; an error where there is none."""
    nested = nested_in(groups, is_given=True)
    if nested is None:
        raise InputError(
            f"{named('cluster', PREFIX)} is what precedes __ or / in the names of problems, and those in "
            f"{column!r} have no such mark; name the column of what they are nested in"
        )
    return nested


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
