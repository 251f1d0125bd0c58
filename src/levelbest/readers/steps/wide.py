"""One row per sample, where a row holds several: counts of successes, columns of samples or families, lists in cells.

A list is one run's checkpoints, of which the best counts, where its items carry a step, its name speaks of time, its
length differs from run to run, or a column of runs stands beside it. Of a problem's samples the best must not be taken,
or pass@1 would be pass@k; nor of the tasks of a suite. A role given the list's own name says what its items are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np

from levelbest._check import Column
from levelbest.errors import Ambiguous, DataError, InputError, named
from levelbest.readers.raw import Cells, as_codes, is_numeric, number, stacked, typed
from levelbest.readers.steps import names
from levelbest.readers.steps.cells import STEPS, as_numbers, dig, has_steps, inside, is_series, no_item
from levelbest.readers.steps.merged import Merged
from levelbest.readers.steps.names import among, obvious_family, word_set
from levelbest.readers.steps.problems import is_task_name
from levelbest.readers.steps.roles import Roles, Wanted, column_named, says_none
from levelbest.trials import Skipped

__all__ = ["expand_counts", "expand_lists", "melt"]

_SUCCESSES = word_set(
    "c n_correct num_correct correct_count n_passed num_passed passed_count n_success num_success successes n_solved "
    "num_solved correct passed solved"
)
_PLAIN = word_set("correct passed solved")
"""Names that may be a single result as well: they are counts where one is above 1."""
_TOTALS = word_set(
    "n n_samples num_samples total n_total num_total attempts n_attempts num_attempts trials n_trials n_completions "
    "num_completions samples"
)
_MOST_ROWS = 50_000_000
_SAMPLE = re.compile(
    r"(s|sample|run|seed|trial|rep|repeat|try|attempt|completion|k|score|acc)[ _-]?(\d+)", re.IGNORECASE
)
_CLEAR = ("sample", "completion", "attempt")
_REPEATS = word_set("seed random_seed random_state run rep repeat replicate fold split trial")
_ALIKE = 5.0
_PROBLEM = word_set("problem task question puzzle prompt idx index id group instance item example")
_TIMED = names.word_set(
    "curve curves history trace traces epoch epochs checkpoint checkpoints learning log logs step steps trajectory "
    "progress series losses iterations iteration"
)
"""Words in the name of a list whose items follow each other in time."""
_FOLDS = 10
"""Up to so many validation scores in a list may be folds."""
_CHECKPOINTS = 50
"""More items than this in the only record of a file are a table, not one run."""
_Checkpoints = list[tuple[object, float]]
"""Step and score of each checkpoint of a run, in their order; where nothing tells the step, its place in the list."""


def expand_counts(table: Merged, wanted: Wanted) -> Merged:
    """Of ``c`` of ``n`` correct a row per sample, c of them 1 and the rest 0; as it is where nothing is counted."""
    if wanted.wide is not None or _is_settled(table, wanted):
        return table
    successes, totals = among(table.columns, _SUCCESSES), among(table.columns, _TOTALS)
    if len(successes) != 1 or len(totals) != 1:
        return table
    counted = [table.columns[name] for name in (*successes, *totals)]
    if not all(is_numeric(column) and np.isfinite(np.ma.filled(column, np.nan)).all() for column in counted):
        return table
    hits, sizes = (np.asarray(column, dtype=np.float64) for column in counted)
    whole = (hits == np.floor(hits)).all() and (sizes == np.floor(sizes)).all()
    if not whole or (hits < 0).any() or (hits > sizes).any() or sizes.max() < 2:
        return table
    if among(successes, _PLAIN) and hits.max() <= 1:
        return table
    if sizes.sum() > _MOST_ROWS:
        raise DataError(
            f"{table.source} counts {sizes.sum():,.0f} samples, and at most {_MOST_ROWS:,} are read at once"
        )
    repeated = np.repeat(np.arange(table.n_rows), sizes.astype(np.int64))
    place = np.arange(repeated.size) - (np.cumsum(sizes) - sizes)[repeated]
    table.say("guessed-columns", kind="counts", successes=successes[0], total=totals[0], count=repeated.size)
    correct = {"correct": (place < hits[repeated]).astype(np.float64)}
    return table.reshaped(repeated, correct, {*successes, *totals}, table.roles | {"selection": "correct"})


def _is_settled(table: Merged, wanted: Wanted) -> bool:
    """Whether it is known what a row is, so that no other layout is looked for."""
    return wanted.selection is not None or "selection" in table.roles or wanted.trial is not None


def melt(table: Merged, wanted: Wanted) -> tuple[Merged, Wanted]:
    """One row per sample where samples are columns, and what is asked of it now; all as it is where it is long."""
    if wanted.wide is not None:
        samples = [name for name in table.columns if any(fnmatchcase(name, pattern) for pattern in wanted.wide)]
        if not samples:
            raise InputError(f"no column of {table.source} matches {named('wide')} {','.join(wanted.wide)}")
    else:
        if _is_settled(table, wanted):
            return table, wanted
        samples = _obvious_samples(table)
        if not samples:
            return _families_in_columns(table, wanted)
        table.say("guessed-columns", kind="samples", first=samples[0], last=samples[-1], count=len(samples))
    others = [name for name in table.columns if name not in samples]
    group, family = _owner(table, wanted, others)
    n_rows, n_samples = table.n_rows, len(samples)
    repeated = np.repeat(np.arange(n_rows), n_samples)
    stack = stacked([(table.columns[name], n_rows) for name in samples])
    score = "correct" if "correct" not in others and _right_or_wrong(stack) else "sample"
    place = "sample number" if "sample number" not in others else "sample number "
    columns: dict[str, Cells] = {
        # Sample by sample below each other, then row by row: each row's samples stay together and in order.
        score: stack[np.arange(n_rows * n_samples).reshape(n_samples, n_rows).T.ravel()],
        place: np.tile(np.arange(n_samples, dtype=np.float64), n_rows),
    }
    of_sources = family is None and wanted.family is None and len(table.source_codes()[0]) > 1
    if group is None and wanted.group is None and family is None and not of_sources:
        group = "row"
        columns[group] = repeated.astype(np.float64) + 1.0
    roles = {role: name for role, name in table.roles.items() if role in ("family", "group")}
    roles |= {"selection": score, "order": place}
    if group is not None:
        roles["group"] = group
        if wanted.group is None:
            table.say("guessed-columns", kind="rows", group=group)
    asked = replace(
        wanted, wide=None, where=None, selection=score, family=family or wanted.family, cost=wanted.cost or "none"
    )
    return table.reshaped(repeated, columns, samples, roles), asked


def _families_in_columns(table: Merged, wanted: Wanted) -> tuple[Merged, Wanted]:
    """A row per seed and a column per family (``seed,resnet,vit``), where nothing else can be meant."""
    rows = among(table.columns, _REPEATS)
    scores = [name for name in table.columns if name not in rows]
    if wanted.family is not None or wanted.group is not None or table.roles or len(rows) != 1 or len(scores) < 2:
        return table, wanted
    if any(names.is_metric(name) or not is_numeric(table.columns[name]) for name in scores):
        return table, wanted
    middle = [abs(float(np.nanmedian(as_numbers(table.columns[name]).values))) for name in scores]
    if not np.isfinite(middle).all() or min(middle) == 0 or max(middle) > _ALIKE * min(middle):
        return table, wanted  # settings and not scores: they would hardly be on one scale
    repeated = np.tile(np.arange(table.n_rows), len(scores))
    columns: dict[str, Cells] = {
        "family": np.repeat(np.array(scores, dtype=object), table.n_rows),
        "score": stacked([(table.columns[name], table.n_rows) for name in scores]),
    }
    table.say("guessed-columns", len(scores), kind="by-column", columns=scores, rows=rows[0])
    roles = {"selection": "score", "family": "family", "seed": rows[0]}
    asked = replace(wanted, where=None, selection="score", family=("family",))
    return table.reshaped(repeated, columns, scores, roles), asked


def _obvious_samples(table: Merged) -> list[str]:
    numbered: dict[str, list[tuple[int, str]]] = {}
    for name in table.columns:
        match = _SAMPLE.fullmatch(name)
        if match and is_numeric(table.columns[name]):
            numbered.setdefault(match[1].lower(), []).append((int(match[2]), name))
    runs = [sorted(group) for key, group in numbered.items() if len(group) >= (2 if key in _CLEAR else 3)]
    if len(runs) != 1:
        return []
    numbers = [number for number, _ in runs[0]]
    return [name for _, name in runs[0]] if numbers == list(range(numbers[0], numbers[0] + len(numbers))) else []


def _owner(table: Merged, wanted: Wanted, others: Sequence[str]) -> tuple[str | None, tuple[str, ...] | None]:
    """The column that names each row's problem, and the one that names its family, where they can be told."""
    family: tuple[str, ...] | None = None
    if wanted.family is None:
        obvious = [name for name in others if obvious_family(names.tokens(name)) or names.spelled(name) == "family"]
        family = (obvious[0],) if len(obvious) == 1 else None
    elif not says_none(",".join(wanted.family), table.columns):
        family = tuple(column_named(name, table.columns, "family", table.source) for name in wanted.family)
    if wanted.group is not None:
        none = says_none(wanted.group, table.columns)
        return None if none else column_named(wanted.group, table.columns, "group", table.source), family
    free = [name for name in others if name not in (family or ())]
    problems = [name for name in free if set(names.tokens(name)) & _PROBLEM]
    if problems:
        return problems[0], family
    if family and len(set(as_codes(table.columns[family[0]])[1].tolist())) == table.n_rows:
        return None, family
    alone = free and len(as_codes(table.columns[free[0]])[0]) == table.n_rows and not names.is_metric(free[0])
    return (free[0] if alone else None), family


def _right_or_wrong(stack: Cells) -> bool:
    """Whether all numbers are 0 or 1, and both are there: then higher is better, as with ``correct``."""
    values = as_numbers(stack).values
    return set(np.unique(values[np.isfinite(values)]).tolist()) == {0.0, 1.0}


def expand_lists(table: Merged, roles: Roles) -> Merged:
    """One row per item of the lists of scores; as it is where scores are plain numbers."""
    asked = {"selection": roles.selection, "reported": roles.reported, "cost": roles.cost}
    cells_of = {name: _lists(table, name, role) for role, name in asked.items() if name is not None}
    lists = {name: cells for name, cells in cells_of.items() if cells is not None}
    if roles.selection not in lists:
        if roles.reported in lists:
            raise InputError(
                f"the reported score {roles.reported!r} is a list of checkpoints and the selection score "
                f"{roles.selection!r} is not: nothing says which checkpoint to report"
            )
        return table
    cells, inner = lists[roles.selection]
    owner = inside(roles.selection, table.columns)[0]
    for role in ("task", "seed", "group"):
        if getattr(roles, role) in (roles.selection, owner):
            return _by_item(table, roles, lists, role, _places(cells))
    labels = _labels(table, roles, owner, cells)
    if labels is not None and roles.task is None:
        return _by_item(table, roles, lists, "task", labels)
    checkpoints = {name: [_checkpoints(cell, inner) for cell in own] for name, (own, inner) in lists.items()}
    numbers = any(np.isfinite(score) for run in checkpoints[roles.selection] for _, score in run)
    if roles.group is not None and roles.trial is None and numbers and not has_steps(cells):
        for role, name in asked.items():
            if name in lists and has_steps(lists[name][0]):  # checkpoints of something else
                raise no_item(table.source, name, role)
        items = {name: [_items(cell, inner) for cell in own] for name, (own, inner) in lists.items()}
        return _by_sample(table, roles, items)
    for role, name in asked.items():
        if name in lists:
            _refuse_no_run(table, name, role, lists[name], checkpoints[name])
    if roles.trial in (roles.selection, owner):
        roles.trial = None  # its items are checkpoints
    elif roles.trial is None and not _is_history(roles.selection, cells, inner):
        length = len(_items(cells[0], None))
        raise Ambiguous(
            f"{table.source}: {roles.selection!r} lists {length} numbers in each row: are they checkpoints of a run, "
            f"of which the best counts ({named('trial')} {owner}), tasks ({named('task')} {owner}), or repeats such as "
            f"seeds and folds ({named('seed_column')} {owner})?"
        )
    return _by_checkpoint(table, roles, checkpoints)


def _is_history(name: str, cells: Column, path: str | None) -> bool:
    """Whether items follow each other in time: they carry steps, or the name, the lengths or their number say so."""
    lengths = {len(_items(cell, None)) for cell in cells if isinstance(cell, (list, tuple, np.ndarray))}
    longest, words = max(lengths, default=0), set(names.tokens(name))
    of_a_split = bool(words & (names.VALIDATION | names.TRAIN)) and longest > _FOLDS
    timed = bool(words & _TIMED) or of_a_split or longest > _CHECKPOINTS or path is not None
    return longest < 2 or len(lengths) > 1 or timed or has_steps(cells)


def _places(cells: Column) -> list[list[object]]:
    return [[place + 1 for place in range(len(_items(cell, None)))] for cell in cells]


def _labels(table: Merged, roles: Roles, owner: str, cells: Column) -> list[list[object]] | None:
    """The task of each item: a key of its object, or a list of names beside the scores; None where nothing names it."""
    first = next((cell[0] for cell in cells if isinstance(cell, list) and cell), None)
    if isinstance(first, dict) and not has_steps(cells):
        keys = [key for key in first if is_task_name(key) and isinstance(first[key], str)]
        if keys:
            return [_items(cell, keys[0]) for cell in cells]
    for name in table.columns:
        beside = table.columns[name]
        if name in roles.used() | {owner} or not is_task_name(name) or not is_series(beside):
            continue
        lists = [_items(cell, None) for cell in beside]
        same = all(len(own) == len(_items(cell, None)) for own, cell in zip(lists, cells, strict=True))
        if same and all(isinstance(label, str) for own in lists for label in own):
            return lists
    return None


def _by_item(
    table: Merged, roles: Roles, lists: Mapping[str, tuple[Column, str | None]], role: str, labels: list[list[object]]
) -> Merged:
    """A row for each item, told apart by a new column with this role."""
    items = {name: [_items(cell, inner) for cell in own] for name, (own, inner) in lists.items()}
    sizes = [len(own) for own in labels]
    for name, cells in items.items():
        for row, (size, own) in enumerate(zip(sizes, cells, strict=True)):
            if len(own) != size:
                raise DataError(
                    f"{table.at(row)}: {name!r} lists {len(own)} items, and {roles.selection!r} lists {size}"
                )
    place = _free_name(table, f"{inside(roles.selection, table.columns)[0]} {role}")
    columns = {name: typed([item for own in cells for item in own]) for name, cells in items.items()}
    columns[place] = typed([str(label) for own in labels for label in own])
    setattr(roles, role, place)
    roles.guessed.append((role, place))
    return _expanded(table, columns, sizes)


def _lists(table: Merged, name: str, role: str) -> tuple[Column, str | None] | None:
    """The column of a score and the path inside its lists; None where it holds plain numbers."""
    owner, path = inside(name, table.columns)
    if owner not in table.columns:
        raise no_item(table.source, name, role)
    cells = table.columns[owner]
    if is_series(cells):
        return cells, path
    if path is not None:
        raise InputError(f"{table.source} has no column {name!r} for {named(role)}, and {owner!r} has no parts")
    return None


def _items(cell: object, path: str | None) -> list[object]:
    cell = cell.tolist() if isinstance(cell, np.ndarray) else cell
    items = list(cell) if isinstance(cell, (list, tuple)) else [] if cell is None else [cell]
    return items if path is None else [dig(item, path) for item in items]


def _checkpoints(cell: object, path: str | None) -> _Checkpoints:
    """A run's scores by step; a cell that holds no list has none."""
    run: _Checkpoints = []
    for place, item in enumerate(_items(cell, None) if isinstance(cell, (list, tuple, np.ndarray)) else ()):
        step: object = None
        if isinstance(item, dict):
            step = next((item[name] for name in STEPS if isinstance(item.get(name), (int, float))), None)
            item = dig(item, path) if path else None
        elif isinstance(item, (list, tuple)) and len(item) == 2 and not path:
            step, item = item
        step = place if step is None else str(step) if isinstance(step, (list, dict)) else step
        score = number(item)
        if score is not None:  # at a step without this score it was not measured, which NaN would be
            run.append((step, score))
    return run


def _refuse_no_run(
    table: Merged, name: str, role: str, lists: tuple[Column, str | None], runs: list[_Checkpoints]
) -> None:
    """Lists without a number, and the one record of a file whose list is rather a table."""
    cells, path = lists
    owner = inside(name, table.columns)[0]
    first = next((cell[0] for cell in cells if isinstance(cell, list) and cell), None)
    if not any(np.isfinite(score) for run in runs for _, score in run):
        keys = f"; its objects have {', '.join(first)}" if isinstance(first, dict) else ""
        under = "" if path is None else f" under {path!r}"
        raise InputError(
            f"{table.source}: the list {owner!r} has no numbers{under} for {named(role)}{keys}: name one, as "
            f"{owner}.KEY"
        )
    longest = max(len(run) for run in runs)
    most = 1 if isinstance(first, dict) else _CHECKPOINTS  # objects without a step are rather runs
    if table.n_rows == 1 and longest > most and not has_steps(cells):
        raise InputError(
            f"{table.source} is one record, and {owner!r} a list of {longest:,} items without a step: read as the "
            f"checkpoints of one run it would be a single trial; write the list as a table of its own, a row for each"
        )


def _by_checkpoint(table: Merged, roles: Roles, runs: Mapping[str, list[_Checkpoints]]) -> Merged:
    """A row for each checkpoint of the selection score, with the reported score at that step, and at least one row.

    What a run used up is told by its costs in their order, whatever their steps.
    """
    values: dict[str, list[float | None]] = {name: [] for name in runs}
    sizes = []
    for row, run in enumerate(runs[roles.selection]):
        own: dict[str, list[float | None]] = {name: [score for _, score in each[row]] for name, each in runs.items()}
        if roles.reported is not None and roles.reported in runs:
            own[roles.reported] = _at_steps(run, runs[roles.reported][row])
        sizes.append(max(1, len(run), len(own.get(roles.cost or "", ()))))
        for name, scores in own.items():
            values[name] += [*scores, *[None] * (sizes[-1] - len(scores))]
    columns = {name: typed(scores) for name, scores in values.items()}
    if roles.trial is None:
        roles.trial = _free_name(table, "run number")
        columns[roles.trial] = np.repeat(np.arange(table.n_rows) + 1.0, sizes)
    return _expanded(table, columns, sizes)


def _at_steps(run: _Checkpoints, other: _Checkpoints) -> list[float | None]:
    """The other score at the steps of a run; None where it was not recorded there."""
    first = dict(reversed(other))  # of several at one step the one at the same place, else the first
    return [
        other[place][1] if place < len(other) and other[place][0] == step else first.get(step)
        for place, (step, _) in enumerate(run)
    ]


def _by_sample(table: Merged, roles: Roles, lists: Mapping[str, list[list[object]]]) -> Merged:
    sizes = [len(items) for items in lists[roles.selection]]
    for name, cells in lists.items():
        for row, (size, items) in enumerate(zip(sizes, cells, strict=True)):
            if len(items) != size:
                raise DataError(
                    f"{table.at(row)}: {roles.selection!r} lists {size} samples and {name!r} lists {len(items)}; "
                    "every sample needs both: write them as objects in one list, or one row per sample"
                )
            if name == roles.selection and not size:
                why = f"its list {roles.selection!r} is empty: it has no samples"
                table.skipped.append(Skipped(table.at(row), why))
    place = _free_name(table, "sample number")
    columns = {name: typed([item for items in cells for item in items]) for name, cells in lists.items()}
    columns[place] = np.concatenate([np.arange(size, dtype=np.float64) for size in sizes])
    table.say("guessed-columns", kind="lists", column=roles.selection, group=roles.group)
    roles.order = roles.order or place
    roles.sample = roles.sample or place
    return _expanded(table, columns, sizes)


def _free_name(table: Merged, name: str) -> str:
    while name in table.columns:
        name += "'"
    return name


def _expanded(table: Merged, columns: Mapping[str, Column], sizes: list[int]) -> Merged:
    """Rows repeated so often, with new columns in place of the lists."""
    owners = {inside(name, table.columns)[0] for name in columns}
    return table.reshaped(np.repeat(np.arange(table.n_rows), sizes), columns, owners)
