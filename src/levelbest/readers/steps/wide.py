"""One row per sample, where a row holds several: counts of successes, columns of samples or families."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from levelbest.errors import Ambiguous, DataError, named
from levelbest.readers.raw import Cells, as_codes, is_numeric, stacked
from levelbest.readers.steps import names
from levelbest.readers.steps.cells import as_numbers, is_series
from levelbest.readers.steps.kinds import Look, is_index, is_setting_name, never_setting
from levelbest.readers.steps.merged import Merged
from levelbest.readers.steps.names import among, obvious_family, word_set
from levelbest.readers.steps.roles import LIKE_FAMILY, ReadRequest, Roles, column_named, says_none
from levelbest.readers.steps.several import the_meant

__all__ = ["COLUMNS", "expand_counts", "expand_lists", "melt"]

COLUMNS = "columns"
"""As the family: every column of numbers is one."""

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
_AXES = word_set("x y z t")
_RUN = re.compile(r"(?:^|[^a-z])(?:run|seed|trial|rep|repeat)[ _-]?\d+(?!\d)", re.IGNORECASE)
"""In the name of a column that may be a run of a family as well as a sample of a problem."""
_PROBLEM = word_set("problem task question puzzle prompt idx index id group instance item example")


def expand_counts(table: Merged, wanted: ReadRequest) -> Merged:
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


def _is_settled(table: Merged, wanted: ReadRequest) -> bool:
    """Whether it is known what a row is, so that no other layout is looked for."""
    return wanted.selection is not None or "selection" in table.roles or wanted.trial is not None


def melt(table: Merged, wanted: ReadRequest) -> tuple[Merged, ReadRequest]:
    """One row per sample where samples are columns, and what is asked of it now; all as it is where it is long."""
    if wanted.wide is None and _is_settled(table, wanted):
        return table, wanted
    samples = _obvious_samples(table) if wanted.wide is None else table.matching(wanted.wide, named("wide"))
    if not samples:
        return _families_in_columns(table, wanted)
    if wanted.wide is None:
        table.say("guessed-columns", kind="samples", first=samples[0], last=samples[-1], count=len(samples))
    others = [name for name in table.columns if name not in samples]
    are_runs = all(map(_RUN.search, samples))
    group, family = _owner(table, wanted, others, are_runs=are_runs)
    n_rows, n_samples = table.n_rows, len(samples)
    repeated = np.repeat(np.arange(n_rows), n_samples)
    stack = stacked([(table.columns[name], n_rows) for name in samples])
    score = _score_name(samples, others, stack)
    place = "sample number" if "sample number" not in others else "sample number "
    columns: dict[str, Cells] = {
        # Sample by sample below each other, then row by row: each row's samples stay together and in order.
        score: stack[np.arange(n_rows * n_samples).reshape(n_samples, n_rows).T.ravel()],
        place: np.tile(np.arange(n_samples, dtype=np.float64), n_rows),
    }
    of_sources = wanted.family is None and len(table.source_codes()[0]) > 1
    if (group, wanted.group, family) == (None, None, None) and not of_sources:
        group = "row"
        columns[group] = repeated.astype(np.float64) + 1.0
    roles = {role: table.roles[role] for role in table.roles.keys() & {"family", "group"}}
    roles |= {"selection": score, "order": place}
    if group is not None:
        roles["group"] = group
        if wanted.group is None:
            table.say("guessed-columns", kind="rows", group=group)
    elif are_runs:
        roles["seed"] = place
    as_rows = replace(
        wanted, wide=None, where=None, selection=score, family=family or wanted.family, cost=wanted.cost or "none"
    )
    return table.reshaped(repeated, columns, samples, roles), as_rows


def _score_name(samples: Sequence[str], others: Sequence[str], stack: Cells) -> str:
    """``correct`` of right and wrong answers, the metric that columns are named after (``acc_1``), else ``score``."""
    if "correct" not in others and _right_or_wrong(stack):
        return "correct"
    wanted = _common_metric(samples) or "score"
    return wanted if wanted not in others else f"{wanted} of a sample"


def _common_metric(columns: Sequence[str]) -> str | None:
    """The metric that all names are of: ``acc`` of ``seed_0.test.acc`` and ``seed_1.test.acc``."""
    lasts = {name.rpartition(".")[2] for name in columns}
    common = [word for word in names.tokens(columns[0]) if all(word in names.tokens(name) for name in columns)]
    metric = lasts.pop() if len(lasts) == 1 else "_".join(common)
    return metric if names.direction_of(metric)[0] is not None else None


def _families_in_columns(table: Merged, wanted: ReadRequest) -> tuple[Merged, ReadRequest]:
    """A row per seed and a column per family (``seed,resnet,vit``), where nothing else can be meant.

    Without a column of seeds there is none but families, and no name of a split or a number.
    """
    rows = among(table.columns, _REPEATS)
    scores = [name for name in table.columns if name not in rows and not _says_nothing(table, name)]
    if wanted.family == (COLUMNS,) and COLUMNS not in table.columns:
        return _by_column(table, wanted, _named_columns(table, scores, rows), rows)
    known = wanted.family is not None or wanted.group is not None or bool(table.roles)
    if known or len(rows) > 1 or len(scores) < 2 or not _are_families(table, scores, alone=not rows):
        return table, wanted
    return _by_column(table, wanted, scores, rows)


def _named_columns(table: Merged, plain: Sequence[str], rows: Sequence[str]) -> list[str]:
    """The columns of numbers that are families: of no metric, else all of one (``acc_before``, ``acc_after``)."""
    families = [name for name in plain if is_numeric(table.columns[name])]
    if len(families) > 1:
        return families
    numbers = [name for name in table.columns if name not in rows and is_numeric(table.columns[name])]
    metrics = [name for name in numbers if names.is_metric(name)]
    if len({names.direction_of(name)[0] for name in metrics}) > 1:
        either = " and ".join(map(repr, metrics[:2]))
        raise DataError(f"{table.source}: {either} are of two metrics, and families have scores of one")
    return metrics if len(metrics) > 1 else families


def _are_families(table: Merged, scores: Sequence[str], *, alone: bool) -> bool:
    """Whether columns are numbers on one scale, and no name is of a score or a setting; ``alone``: without seeds."""
    if any(map(names.is_metric, table.columns)) or any(map(is_setting_name, table.columns)):
        return False
    if alone and (len(scores) < len(table.columns) or not all(map(_may_be_family, scores)) or table.n_rows < 3):
        return False
    if alone and _counted(scores):
        return False
    if not all(is_numeric(table.columns[name]) for name in scores):
        return False
    middle = [abs(float(np.nanmedian(as_numbers(table.columns[name]).values))) for name in scores]
    # settings and not scores: they would hardly be on one scale
    return bool(np.isfinite(middle).all()) and min(middle) > 0 and max(middle) <= _ALIKE * min(middle)


def _by_column(
    table: Merged, wanted: ReadRequest, scores: Sequence[str], rows: Sequence[str]
) -> tuple[Merged, ReadRequest]:
    """A row for each number: of the family that its column is named after, and the problem that its row is, if any."""
    if len(scores) < 2:
        raise DataError(f"{table.source} has no two columns of numbers that could each be a family")
    repeated = np.tile(np.arange(table.n_rows), len(scores))
    score = _common_metric(scores) or "score"
    columns: dict[str, Cells] = {
        "family": np.repeat(np.array(scores, dtype=object), table.n_rows),
        score: stacked([(table.columns[name], table.n_rows) for name in scores]),
    }
    labels = [name for name in table.columns if name not in scores and _names_rows(table, name)]
    table.say("guessed-columns", len(scores), kind="by-column", columns=scores, rows=[*labels, *rows, "trial"][0])
    roles = {"selection": score, "family": "family"} | ({"seed": rows[0]} if rows else {})
    roles |= {"group": labels[0]} if len(labels) == 1 and not rows else {}
    as_rows = replace(wanted, where=None, selection=score, family=("family",))
    return table.reshaped(repeated, columns, scores, roles), as_rows


def _names_rows(table: Merged, name: str) -> bool:
    """Whether a column of words has another in each row: a data set, a game."""
    column = table.columns[name]
    return not (is_numeric(column) or is_series(column)) and len(as_codes(column)[0]) == table.n_rows


def _may_be_family(name: str) -> bool:
    """Whether a column of numbers may be named after a family: ``val``, ``mean`` and ``y`` are not."""
    split = names.VALIDATION | names.TEST | names.TRAIN
    return name.lower() not in _AXES and names.could_be_score(name) and not set(names.tokens(name)) & split


def _counted(columns: Sequence[str]) -> bool:
    """Whether names are one word counted from 0 or 1 on, as folds and runs are: ``fold1``, ``fold2``."""
    matches = [re.fullmatch(r"(\D*)(\d+)", name.strip()) for name in columns]
    numbers = sorted(int(match[2]) for match in matches if match)
    stems = {match[1] for match in matches if match}
    in_turn = numbers[:1] in ([0], [1]) and numbers == list(range(numbers[0], numbers[0] + len(columns)))
    return len(stems) == 1 and in_turn


def _says_nothing(table: Merged, name: str) -> bool:
    """Whether a column is plainly no score and no setting: an index, a note, a machine, the same in all rows."""
    look = Look(name, table.columns[name])
    return is_index(look) or never_setting(look) not in (None, "numbers-runs") or len(as_codes(look.cells)[0]) < 2


def _obvious_samples(table: Merged) -> list[str]:
    numbered: dict[str, list[tuple[int, str]]] = {}
    for name in table.columns:
        match = _SAMPLE.fullmatch(name)
        if match and _holds_scores(table.columns[name]):
            numbered.setdefault(match[1].lower(), []).append((int(match[2]), name))
    runs = [sorted(group) for key, group in numbered.items() if len(group) >= (2 if key in _CLEAR else 3)]
    if len(runs) != 1:
        return []
    numbers, samples = [number for number, _ in runs[0]], [name for _, name in runs[0]]
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))) or _has_mean_of_a_search(table, samples):
        return []
    return samples


def _holds_scores(column: Cells) -> bool:
    """Whether cells are numbers, in whatever writing; in a few there may be a word, such as ``OOM``."""
    if is_numeric(column) or is_series(column):
        return is_numeric(column)
    read = as_numbers(column)
    return bool(np.isfinite(read.values).sum() > len(read.words))


def _has_mean_of_a_search(table: Merged, samples: Sequence[str]) -> bool:
    """Whether scores of folds stand beside their mean, and some setting varies: the mean is the score of a trial."""
    others = [name for name in table.columns if name not in samples]
    if not any(is_setting_name(name) and len(as_codes(table.columns[name])[0]) > 1 for name in others):
        return False
    scores = [name for name in others if names.is_metric(name) and is_numeric(table.columns[name])]
    return any(the_meant(table.columns, [name, *samples]) == [name] for name in scores)


def _family(table: Merged, wanted: ReadRequest, others: Sequence[str]) -> tuple[str, ...] | None:
    if wanted.family is None:
        obvious = [
            name for name in others if obvious_family(names.tokens(name), names.FAMILY | {*LIKE_FAMILY, "family"})
        ]
        return (obvious[0],) if len(obvious) == 1 else None
    if says_none(",".join(wanted.family), table.columns):
        return None
    return tuple(column_named(name, table.columns, "family", table.source) for name in wanted.family)


def _owner(
    table: Merged, wanted: ReadRequest, others: Sequence[str], *, are_runs: bool
) -> tuple[str | None, tuple[str, ...] | None]:
    """The column that names each row's problem, and the one that names its family, where they can be told."""
    family = _family(table, wanted, others)
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
    if alone and family is None and wanted.family is None and are_runs:
        raise Ambiguous(
            f"{table.source}: the columns hold several runs of each row of {free[0]!r}: is each row a family "
            f"({named('family', free[0])}), or a problem ({named('group', free[0])})?"
        )
    return (free[0] if alone else None), family


def _right_or_wrong(stack: Cells) -> bool:
    """Whether all numbers are 0 or 1, and both are there: then higher is better, as with ``correct``."""
    values = as_numbers(stack).values
    return set(np.unique(values[np.isfinite(values)]).tolist()) == {0.0, 1.0}


def expand_lists(table: Merged, roles: Roles) -> Merged:
    """One row per item of the lists of scores; as it is where scores are plain numbers."""
    scores = [name for name in (roles.selection, roles.reported, roles.cost) if name is not None]
    if all(name in table.columns and not is_series(table.columns[name]) for name in scores):
        return table
    from levelbest.readers.steps.lists import rows_of_lists  # for nested JSON alone

    return rows_of_lists(table, roles)
