"""Reads a keep/discard log as attempts: one row per run with its decision, divided where the rules changed.

Cells, numbers and statuses are read by the same rules as in all tables. Only the rows of the most frequent metric and
kind (split, task) are judged; a change of budget or a new baseline begins a new part: scores are compared only within a
part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from levelbest.errors import Ambiguous, DataError, InputError, named
from levelbest.readers.attempt_words import (
    CRASHED,
    DISCARDED,
    KEPT,
    RAN,
    STATUS,
    decision,
    decision_words,
    is_baseline,
    names_nothing,
    same_note,
    says_baseline,
)
from levelbest.readers.raw import Cells, RawTable, is_numeric, texts
from levelbest.readers.registry import read_path
from levelbest.readers.steps.cells import as_numbers, status_of
from levelbest.readers.steps.names import could_be_score, direction_of, is_metric, spelled, tokens
from levelbest.readers.tables.delimited import cells_of, is_number, layout_of, parse_delimited
from levelbest.readers.tables.files import as_paths, decoded, kind_of, read_bytes
from levelbest.results.audits import LogFacts

_NOTE = ("description", "change", "idea", "hypothesis", "notes", "note", "summary")
_LABEL = (
    *("commit", "commit_hash", "git_commit", "sha", "hash", "version", "candidate", "name", "experiment"),
    *("experiment_id", "exp", "id", "tag", "branch", "attempt", *_NOTE, "config"),
)
_BUDGET = (
    *("budget", "time_budget", "minutes", "time_limit", "max_minutes", "train_minutes", "budget_s", "budget_min"),
    *("rounds", "n_rounds", "num_rounds", "max_steps", "max_epochs", "n_games", "episodes", "eval_episodes"),
)
_KIND = (
    *("split", "data_split", "eval_split", "subset", "dataset", "benchmark", "task", "problem", "game", "kernel"),
    *("kernel_type", "environment", "env", "segment", "metric_name", "primary_metric", "metric_type"),
)
"""Columns that say what a score is of: rows that differ in them are not compared."""
_METRIC_NAMES = ("primary_metric", "metric_name")
_WAY = ("best_direction", "direction", "metric_direction")
_LOWER, _HIGHER = ("lower", "min", "minimize", "minimise", "down"), ("higher", "max", "maximize", "maximise", "up")
_OF_OTHERS = frozenset({"best", "previous", "prev", "parent", "baseline", "delta", "improvement"})
"""Words in the name of a column that is not about the score of its row alone."""
_FAR = 0.1
_MOST_KINDS, _MOST_BUDGETS = 12, 4
_SENTINELS = (99.0, 999.0, 9999.0, 99999.0, 999999.0, 1e5, 1e6, 1e9, 1e10, 1e12)
"""Logged instead of a score, with either sign; -1 as well."""


@dataclass(frozen=True)
class LoggedRun:
    """One row of a log."""

    label: str
    score: float | None
    """None where it crashed or has no score."""
    decision: str
    """``keep``, ``discard``, ``crash``, or empty where the log does not say."""
    word: str
    """As the log has it."""
    part: int
    """0 for the rows under the first header and budget."""
    line: int
    note: str = ""
    """What the log says of it."""
    baseline: bool = False
    """Whether the log says that it is a baseline."""


@dataclass(frozen=True, kw_only=True)
class AttemptLog(LogFacts):
    """A log, read."""

    runs: tuple[LoggedRun, ...]


def read_attempts(source: object, selection: str | None = None, direction: str | None = None) -> AttemptLog:
    """Read a keep/discard log: TSV, CSV, JSONL, or whatever one table is read from."""
    paths = as_paths(source)
    if len(paths) != 1:
        raise InputError(f"an audit reads one log, got {len(paths)}; give one file")
    path = paths[0]
    tables = _tables(path)
    if not tables:
        raise DataError(f"{path.name} has no rows of attempts")
    scores = [_score_column(table, selection) for table in tables]
    unknown: dict[str, None] = {}
    rows = [row for table, score in zip(tables, scores, strict=True) for row in _rows(table, score, unknown)]
    judged, kind = _of_one_kind(rows, selection)
    runs, changes = _in_parts(judged)
    runs = _without_sentinels(_decided(runs))
    if all(run.score is None for run in runs):
        raise DataError(f"{path.name}: none of its {len(runs)} runs has a score")
    runs, on_top = _attempts_apart(runs)
    score = judged[0].score
    metric = _metric(tables, score)
    toward, how = _direction(tables, metric, direction, runs)
    return AttemptLog(
        source=path.name,
        runs=tuple(runs),
        metric=metric,
        direction=toward,
        how=how,
        changes=changes,
        unknown=tuple(unknown),
        on_top=on_top,
        left_out=len(rows) - len(judged),
        kind=kind,
        skipped=tuple(lost.where for table in tables for lost in table.skipped if "cells and the header" in lost.why),
    )


@dataclass(frozen=True)
class _Row:
    """A run, and what it is of."""

    run: LoggedRun
    score: str
    kind: tuple[str, str]
    budget: str | None
    table: int


def _of_one_kind(rows: Sequence[_Row], selection: str | None) -> tuple[list[_Row], tuple[str, str] | None]:
    """The rows of the metric that is wanted, or of the metric and kind of which there are most, and what tells them."""
    if not rows:
        raise DataError("the log has no rows of attempts")
    counts = Counter((row.score, row.kind) for row in rows if selection in (None, row.score))
    score, kind = max(counts or Counter((row.score, row.kind) for row in rows), key=lambda of: counts[of])
    judged = [row for row in rows if (row.score, row.kind) == (score, kind)]
    if len(judged) == len(rows):
        return judged, None
    return judged, ("", score) if any(row.score != score for row in rows) else kind


def _in_parts(rows: Sequence[_Row]) -> tuple[list[LoggedRun], tuple[str, ...]]:
    """The runs with the part each is of: a budget that changes and a new baseline begin one."""
    runs: list[LoggedRun] = []
    changes: list[str] = []
    seen: set[str] = set()
    before: _Row | None = None
    for row in rows:
        budget, run = row.budget, row.run
        if before is not None:
            if budget is None and row.table == before.table:
                budget = before.budget
            if budget != before.budget:
                changes.append("budget")
                seen = set()
            elif run.baseline and run.label not in seen:
                changes.append("baseline")
                seen = set()
        seen.add(run.label)
        before = replace(row, budget=budget)
        runs.append(replace(run, part=len(changes)))
    return runs, tuple(changes)


def _decided(runs: Sequence[LoggedRun]) -> list[LoggedRun]:
    """A word that says only that a run came to its end says that it was kept where discards alone have another."""
    kept = any(run.decision == KEPT and not run.baseline for run in runs)
    ran = KEPT if not kept and any(run.decision == DISCARDED for run in runs) else ""
    return [replace(run, decision=ran) if run.decision == RAN else run for run in runs]


def _attempts_apart(runs: Sequence[LoggedRun]) -> tuple[list[LoggedRun], int]:
    """Rows under one label that are no runs of one version: each is an attempt by itself.

    Loops log the commit that a discarded attempt went back to, or try several ideas on top of one commit: the decision
    or the note is then another.
    """
    kept = {(run.part, run.label) for run in runs if run.decision == KEPT}
    back = [run.decision in (DISCARDED, CRASHED) and (run.part, run.label) in kept for run in runs]
    if not any(run.decision == DISCARDED for run, alone in zip(runs, back, strict=True) if alone):
        back = [False] * len(runs)
    notes: dict[tuple[int, str], str] = {}
    apart = []
    for run, alone in zip(runs, back, strict=True):
        note = run.note if alone else notes.setdefault((run.part, run.label), run.note)
        apart.append(alone or not same_note(note, run.note))
    split = [replace(run, label=f"line {run.line}") if alone else run for run, alone in zip(runs, apart, strict=True)]
    return split, sum(apart)


def _without_sentinels(runs: Sequence[LoggedRun]) -> list[LoggedRun]:
    """Crashes that are logged with a score: 0, of a run that was not kept, -1 or -999, far from all others."""
    scores = [run.score for run in runs if run.score]
    sizes = np.abs(scores)
    one_sided = bool(scores) and (min(scores) > 0 or max(scores) < 0)
    zeros = one_sided and sizes.min() > _FAR * np.median(sizes)
    others = np.array([score for score in scores if not _is_sentinel(score)])
    without = []
    for run in runs:
        lost = zeros and run.score == 0 and run.decision != KEPT
        if run.score is not None and _is_sentinel(run.score) and others.size > 1:
            lost = np.abs(others - run.score).min() > 3 * np.ptp(others)
        without.append(replace(run, score=None, decision=CRASHED) if lost else run)
    return without


def _is_sentinel(score: float) -> bool:
    return score == -1 or abs(score) in _SENTINELS


def _tables(path: Path) -> list[RawTable]:
    """The tables of a file; a delimited one is cut where a header stands among its rows."""
    if kind_of(path) not in ("csv", "tsv"):
        return [table for table in read_path(path)[0] if table.n_rows]
    text, _ = decoded(read_bytes(path), path.name)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    delimiter = "\t" if kind_of(path) == "tsv" and "\t" in text[:65536] else None
    layout = layout_of(lines, path.name, delimiter)
    if any(is_number(name.strip()) for name in layout.names):
        raise DataError(f"{path.name} has no header: its first line must name the columns")
    known = {spelled(name) for name in layout.names} - {""}
    begins = [0]
    for place in range(layout.body, len(lines)):
        row = cells_of(lines[place], layout.delimiter)
        cells = {spelled(cell) for cell in row} - {""}
        if any(is_number(cell.strip()) for cell in row):
            continue
        if len(cells) >= 2 and len(cells & known) >= max(2, len(cells) // 2):
            begins.append(place)
    ends = [*begins[1:], len(lines)]
    tables = []
    for begin, end in zip(begins, ends, strict=True):
        table = parse_delimited("\n".join(lines[begin:end]), path.name, layout.delimiter)
        if table.lines is not None:
            table.lines = table.lines + begin
        tables.append(table)
    return [table for table in tables if table.n_rows]


def _score_column(table: RawTable, wanted: str | None) -> str:
    """The column of scores of one part: the one that is wanted, or the one metric that it has."""
    if wanted is not None and wanted in table.columns:
        return wanted
    if wanted is not None and not any(map(is_metric, table.columns)):
        raise InputError(f"{table.source} has no column {wanted!r}; it has {', '.join(table.columns)}")
    choices = _could_decide(table)
    outer = [name for name in choices if "." not in name]  # what stands beside ``metric`` in ``metrics`` is said of it
    if len(choices) == 1 or len(outer) == 1:
        return (outer or choices)[0]
    if not choices:
        raise InputError(
            f"{table.source} has no column of scores; name it by {named('selection')}, of: {', '.join(table.columns)}"
        )
    raise Ambiguous(
        f"which column decided what was kept? {' or '.join(choices[:4])}: say so by {named('selection', choices[0])}"
    )


def _could_decide(table: RawTable) -> list[str]:
    """Columns whose numbers may be the scores of attempts."""
    numeric = [name for name in table.columns if _has_numbers(table.columns[name])]
    plain = [name for name in numeric if spelled(name) not in (*_LABEL, *_BUDGET, *_KIND, *STATUS)]
    choices = [name for name in plain if is_metric(name)] or [name for name in plain if could_be_score(name)]
    return [name for name in choices if not _OF_OTHERS & {*tokens(name)}] or choices


def _has_numbers(column: Cells) -> bool:
    return is_numeric(column) or np.isfinite(as_numbers(column).values).mean() > 0.5


def _rows(table: RawTable, score: str, unknown: dict[str, None]) -> list[_Row]:
    """The rows of one table; settings among them are none."""
    columns = {spelled(name): name for name in table.columns}
    numbers = as_numbers(table.columns[score]).values
    words = [str(word or "").strip() for word in decision_words(table.columns, columns)]
    kinds, budgets = _kinds(table, columns)
    labels, notes = _labels(table, columns), _cells(table, columns, _NOTE)
    settings = _cells(table, columns, ("type",))
    lines = range(1, table.n_rows + 1) if table.lines is None else table.lines.tolist()
    rows = []
    for row, value in enumerate(numbers.tolist()):
        word, label, scored = words[row], labels[row], bool(np.isfinite(value))
        if not (word or label or scored) or settings[row] in ("config", "header", "meta"):
            continue
        if word and not decision(word):
            unknown.setdefault(word)
        decided = decision(word) if scored or status_of(word) == "running" else CRASHED
        known, note = value if scored and decided != CRASHED else None, str(notes[row] or "")
        first = is_baseline(word, note, decided)
        run = LoggedRun(label or f"row {row + 1}", known, decided, word, 0, lines[row], note, first)
        rows.append(_Row(run, score, kinds[row], budgets[row], id(table)))
    return rows


def _kinds(table: RawTable, by_name: Mapping[str, str]) -> tuple[list[tuple[str, str]], list[str | None]]:
    """What each row's score is of, and its budget: one to which the log returns again and again tells kinds apart."""
    kinds, budgets = [("", "")] * table.n_rows, _budgets(table, by_name)
    for name in (name for name in _KIND if name in by_name):
        values = [str(cell or "") for cell in _first(table, by_name, (name,)) or ()]
        counts = Counter(value for value in values if value)
        if 2 <= len(counts) <= min(_MOST_KINDS, table.n_rows // 2) and min(counts.values()) > 1:
            return [(by_name[name], value) for value in values], budgets
    changes = sum(after != before for before, after in pairwise(budget for budget in budgets if budget is not None))
    if changes <= max(2, table.n_rows // 10):
        return kinds, budgets
    column = next(by_name[name] for name in _BUDGET if name in by_name)
    return [(column, budget or "") for budget in budgets], [None] * table.n_rows


def _budgets(table: RawTable, by_name: Mapping[str, str]) -> list[str | None]:
    """The budget of each row; none where a column of such a name was measured, of every run."""
    cells = _first(table, by_name, _BUDGET) or []
    if not 1 <= len({str(cell) for cell in cells if cell is not None}) <= _MOST_BUDGETS:
        return [None] * table.n_rows
    return [None if cell is None else str(cell) for cell in cells]


def _labels(table: RawTable, by_name: Mapping[str, str]) -> list[str]:
    """What each row calls its version, empty where it does not; a short number with the name of its column.

    A note is a label only where it tells rows apart.
    """
    labels = [""] * table.n_rows
    for name in (name for name in _LABEL if name in by_name):
        cells = [str(cell or "").strip() for cell in _first(table, by_name, (name,)) or ()]
        counts = Counter(cells)
        for row, cell in enumerate(cells):
            common = name in _NOTE and counts[cell] > max(3, table.n_rows // 4) and not says_baseline(cell)
            if not labels[row] and not names_nothing(cell) and not common:
                labels[row] = f"{name} {cell}" if cell.isdigit() and len(cell) < 6 else cell
    return labels


def _metric(tables: Sequence[RawTable], score: str) -> str:
    """The name of what was scored: that of the column, or the one that another column gives to all."""
    if spelled(score) not in ("metric", "metric_value", "value"):
        return score
    columns = [_first(table, {spelled(name): name for name in table.columns}, _METRIC_NAMES) or [] for table in tables]
    names = {str(cell) for cells in columns for cell in cells if cell is not None}
    return names.pop() if len(names) == 1 else score


def _cells(table: RawTable, by_name: Mapping[str, str], names: Sequence[str]) -> list[object]:
    """Those, or nothing in every row."""
    return _first(table, by_name, names) or [None] * table.n_rows


def _first(table: RawTable, by_name: Mapping[str, str], names: Sequence[str]) -> list[object] | None:
    """The cells of the first column of such a name, as texts."""
    name = next((by_name[name] for name in names if name in by_name), None)
    return None if name is None else list(texts(table.columns[name]))


def _direction(tables: Sequence[RawTable], score: str, given: str | None, runs: Sequence[LoggedRun]) -> tuple[str, str]:
    if given is not None:
        return given, "given"
    in_log = _direction_in_log(tables)
    if in_log is not None:
        return in_log, "log"
    by_name = direction_of(score)[0]
    if by_name is not None:
        return by_name, "name"
    kept: dict[str, list[float]] = {}
    for run in runs:
        if run.decision == KEPT and run.score is not None:
            kept.setdefault(run.label, []).append(run.score)
    rising = [after - before for before, after in pairwise(float(np.mean(scores)) for scores in kept.values())]
    if rising and max(rising) <= 0 > min(rising):
        return "min", "kept"
    if rising and min(rising) >= 0 < max(rising):
        return "max", "kept"
    raise InputError(
        f"whether more of {score} is better is not clear from its name; give {named('direction')} max or min"
    )


def _direction_in_log(tables: Sequence[RawTable]) -> str | None:
    """Which way is better, where a column says so."""
    columns = [_first(table, {spelled(name): name for name in table.columns}, _WAY) or [] for table in tables]
    ways = {str(cell).lower() for cells in columns for cell in cells if cell is not None}
    if not ways:
        return None
    return "min" if ways <= {*_LOWER} else "max" if ways <= {*_HIGHER} else None
