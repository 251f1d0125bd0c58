"""One row per run, where a run has a row for each split or metric: a column says which, another holds the score."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from levelbest.errors import Ambiguous, named_condition
from levelbest.readers.raw import Cells, Codes, as_codes, joint_codes
from levelbest.readers.steps import names
from levelbest.readers.steps.cells import as_numbers
from levelbest.readers.steps.kinds import Look, is_index, never_setting
from levelbest.readers.steps.merged import Merged
from levelbest.readers.steps.names import word_set
from levelbest.readers.steps.roles import ReadRequest, looks_numeric

__all__ = ["spread"]

_VALUES = word_set("value values score scores result metric_value metric_score val")
_WHOLE = 0.8
"""The share of runs and splits (or metrics) that must meet: a few rows may be missing."""


def spread(table: Merged, wanted: ReadRequest) -> Merged:
    """A column for each split and metric, and a row for each run; as it is where no column names them."""
    if wanted.selection in table.columns or wanted.wide is not None or "selection" in table.roles or table.n_rows < 2:
        return table
    for find in (_metrics, _splits):
        parts = find(table, wanted)
        if parts is not None:
            table = _spread(table, *parts)
    return table


def _labels(table: Merged, name: str) -> tuple[str, ...]:
    return as_codes(table.columns[name])[0] if not looks_numeric(table.columns, name) else ()


def _metrics(table: Merged, wanted: ReadRequest) -> tuple[str, list[str], bool] | None:
    """The column of the names of metrics, with the one that holds their values."""
    for name in names.among(table.columns, names.METRIC_COLUMNS):
        labels = _labels(table, name)
        values = [value for value in names.among(table.columns, _VALUES) if looks_numeric(table.columns, value)]
        if (
            len(labels) > 1
            and len(values) == 1
            and all(map(names.is_metric, labels))
            and name not in _named_by_options(wanted)
        ):
            return name, values, False
    return None


def _splits(table: Merged, wanted: ReadRequest) -> tuple[str, list[str], bool] | None:
    """The column of the names of splits (validation, test), with those that hold scores."""
    known = names.VALIDATION | names.TEST | names.TRAIN
    for name in names.among(table.columns, names.SPLIT_COLUMNS):
        labels = _labels(table, name)
        if (
            len(labels) < 2
            or name in _named_by_options(wanted)
            or not all(set(names.tokens(label)) & known for label in labels)
        ):
            continue
        if len({frozenset(names.tokens(label)) & known for label in labels}) < len(labels):
            continue  # two parts of one split: they are no splits of one run
        scores = [other for other in table.columns if _is_value(table, other)]
        if scores:
            return name, scores, True
    return None


def _named_by_options(wanted: ReadRequest) -> set[str | None]:
    return {wanted.task, wanted.group, wanted.trial, wanted.search, wanted.stratum, *(wanted.family or ())}


def _is_value(table: Merged, name: str) -> bool:
    score = names.is_metric(name) or names.spelled(name) in _VALUES
    return score and looks_numeric(table.columns, name)


def _spread(table: Merged, column: str, values: list[str], prefixed: bool) -> Merged:
    labels, which = as_codes(table.columns[column])
    if (which < 0).any():
        return table
    others = [name for name in table.columns if name not in {column, *values}]
    run = _runs(table, others, which, len(labels))
    if run is None:
        several = np.unique(joint_codes([table.codes(*others), which])).size < table.n_rows
        if not several:
            return table  # no row belongs to a row of another split, as with questions of several
        raise Ambiguous(
            f"{table.source}: the rows are of {len(labels)} {'splits' if prefixed else 'metrics'} ({column!r}: "
            f"{', '.join(labels[:6])}), and nothing says which of them belong to one run: choose one, e.g. "
            + named_condition(column, labels[-1])
        )
    first = np.unique(run, return_index=True)[1]
    made: dict[str, Cells] = {}
    for value in values:
        numbers = as_numbers(table.columns[value]).values
        for code, label in enumerate(labels):
            cells = np.full(first.size, np.nan)
            cells[run[which == code]] = numbers[which == code]
            made[f"{label}_{value}" if prefixed else label] = np.ma.masked_invalid(cells)
    by_row = np.argsort(first, kind="stable")
    table.say("guessed-columns", len(labels), kind="spread", column=column, labels=list(labels), runs=int(first.size))
    cells_by_row = {name: cells[by_row] for name, cells in made.items()}
    return table.reshaped(first[by_row], cells_by_row, {column, *values})


def _runs(table: Merged, others: Sequence[str], which: Codes, count: int) -> Codes | None:
    """Which run each row is of: rows of one run agree in all columns that are of runs, and are one of each label."""
    apart = [name for name in others if len(as_codes(table.columns[name])[0]) < table.n_rows]
    settings = [name for name in apart if is_index(look := Look(name, table.columns[name])) or _is_of_runs(look)]
    ways = [table.codes(*columns) for columns in (apart, settings)]
    whole = [
        run
        for run in ways
        if np.unique(joint_codes([run, which])).size == table.n_rows >= _WHOLE * (int(run.max()) + 1) * count
    ]
    return min(whole, key=lambda run: int(run.max()), default=None)


def _is_of_runs(look: Look) -> bool:
    """Whether a column may say which run a row is of: a setting, or a name."""
    return never_setting(look) is None or look.words[-1:] in (("name",), ("experiment",), ("exp",))
