"""Problems and tasks: what families were run on (a game, a data set, a benchmark), and what a table says of it.

The best over different games is the best at none of them. A column is taken for tasks by its name; where it could be
something else, it is asked. Of a problem a table may say a weight, and the stratum (difficulty, source) it is in.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from levelbest._check import Column, FloatArray, IntArray
from levelbest.errors import Ambiguous, DataError, InputError, named
from levelbest.readers.raw import as_codes, joint_codes
from levelbest.readers.steps import names
from levelbest.readers.steps.cells import as_numbers
from levelbest.readers.steps.kinds import of_settings
from levelbest.readers.steps.merged import Merged
from levelbest.readers.steps.roles import Roles, Wanted, looks_numeric
from levelbest.trials import Trials

__all__ = ["guess_task", "is_task_name", "refuse_repeats", "said_of_groups"]

_TASKS = names.word_set(
    "task tasks dataset datasets benchmark benchmarks bench env environment game games domain domains corpus language "
    "languages lang subset subsets subject subjects instance suite scenario testset"
)
_SPLITS = names.word_set("split data_split eval_split test_split")
"""Names of tasks where they hold words; numbers are folds of the data."""
_FEW_TASKS = 30
"""More values than this, or more than ten beside scores of 0 and 1, are perhaps problems."""
_FEW_PROBLEMS = 10

Codes = npt.NDArray[np.int32]


def is_task_name(name: str) -> bool:
    """Whether a column is by its name one of tasks.

    Examples
    --------
    >>> is_task_name("env_id"), is_task_name("config.dataset_name"), is_task_name("data_size")
    (True, True, False)
    """
    words = of_settings(name) or names.tokens(name)
    words = words[:-1] if words[-1:] in (("id",), ("name",)) else words
    return len(words) == 1 and words[0] in _TASKS


def guess_task(table: Merged, roles: Roles, wanted: Wanted) -> None:
    """Take the one column of tasks, and say so; ask where it could be something else."""
    if roles.task is not None or wanted.task is not None or wanted.configuration is not None:
        return
    candidates = [name for name in table.columns if name not in roles.used() and _names_tasks(table, name)]
    candidates = [name for name in candidates if not _is_of_the_problem(table, roles, name)]
    if len(candidates) > 1:
        raise Ambiguous(
            f"{table.source}: the rows are of several tasks, told apart by {' or '.join(map(repr, candidates))}; name "
            f"the column with {named('task')}, or say 'none' there if it is a setting of the models"
        )
    if candidates:
        _take(table, roles, candidates[0])


def _names_tasks(table: Merged, name: str) -> bool:
    """By its name, with several values that each have several rows."""
    words = names.spelled(name) in _SPLITS and not looks_numeric(table.columns, name)
    if not (words or is_task_name(name)):
        return False
    n_tasks = len(as_codes(table.columns[name])[0])
    return 1 < n_tasks <= table.n_rows / 2


def _is_of_the_problem(table: Merged, roles: Roles, name: str) -> bool:
    """Whether each problem has one value in this column: then it divides the problems, and they are averaged over."""
    if roles.group is None:
        return False
    problem, task = (as_codes(table.columns[column])[1] for column in (roles.group, name))
    return np.unique(joint_codes([problem, task])).size == np.unique(problem).size


def _take(table: Merged, roles: Roles, name: str) -> None:
    labels, task = as_codes(table.columns[name])
    task_none = f"{named('task')} none if it is a setting of the models"
    families = [as_codes(table.columns[column])[1] for column in roles.family]
    family = joint_codes(families) if families else table.source_codes()[1]
    counts = np.zeros((int(family.max()) + 1, len(labels)), dtype=np.int64)
    known = task >= 0
    np.add.at(counts, (family[known], task[known]), 1)
    counts = counts[counts.sum(axis=1) > 0]
    if _could_be_problems(table, roles, len(labels)):
        raise Ambiguous(
            f"{table.source}: are the {len(labels)} values of {name!r} problems, over which scores are averaged "
            f"({named('group')} {name}), or tasks, each with a verdict ({named('task')} {name})? Say {task_none}"
        )
    of_source = not families or table.roles.get("family") in roles.family
    if (counts == 0).any() and of_source:
        return  # a file, or a family by its format, for each task
    roles.task = name
    roles.guessed.append(("task", name))


def _could_be_problems(table: Merged, roles: Roles, n_tasks: int) -> bool:
    """Many of them, or right and wrong answers to several."""
    if roles.group is not None:
        return False
    if n_tasks > _FEW_TASKS:
        return True
    scores = as_numbers(table.columns[roles.selection]).values if roles.selection in table.columns else np.zeros(0)
    finite = scores[np.isfinite(scores)]
    return n_tasks > _FEW_PROBLEMS and finite.size > 0 and bool(np.isin(finite, (0.0, 1.0)).all())


def said_of_groups(
    table: Merged, roles: Roles, group: Codes | None, groups: tuple[str, ...]
) -> tuple[FloatArray | None, tuple[str, ...]]:
    """The weight and the stratum of each problem; every row of a problem must say the same."""
    for option, name in (("weight", roles.weight), ("stratum", roles.stratum)):
        if name is not None and group is None:
            raise InputError(
                f"{named(option)} is said of problems: name the column of the problem with {named('group')}"
            )
    weights: FloatArray | None = None
    strata: tuple[str, ...] = ()
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
    if roles.stratum is not None and group is not None:
        names, codes = as_codes(table.columns[roles.stratum])
        labels = (*names, "(none)")
        first = _said_once("stratum", roles.stratum, codes, group, groups, lambda code: labels[int(code)])
        strata = tuple(labels[codes[row]] for row in first)
    return weights, strata


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
