"""Reads a keep/discard log as attempts: one row per run with its decision, divided where the rules changed.

Cells, numbers and words of status are read by the rules of all tables; headers that appear again, with other names or
the same, begin a further part, and so does a budget that changes: scores are compared within a part alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from levelbest.errors import Ambiguous, DataError, InputError, named
from levelbest.readers.raw import Cells, RawTable, is_numeric, texts
from levelbest.readers.registry import read_path
from levelbest.readers.steps.cells import as_numbers, status_of
from levelbest.readers.steps.names import could_be_score, direction_of, is_metric, spelled, tokens
from levelbest.readers.tables.delimited import cells_of, layout_of, parse_delimited
from levelbest.readers.tables.files import as_paths, decoded, kind_of, read_bytes

KEPT, DISCARDED, CRASHED = "keep", "discard", "crash"
_KEEP = "keep kept keeper best new_best improved improvement accepted accept win winner tentative merged baseline ok"
_DISCARD = "discard discarded drop dropped revert reverted rejected reject worse no_improvement neutral skip skipped"
_DECIDED = dict.fromkeys(_KEEP.split(), KEPT) | dict.fromkeys(_DISCARD.split(), DISCARDED)
_STATUS = ("status", "decision", "outcome", "verdict", "result", "kept", "keep", "action", "state")
_FLAGGED = ("kept", "keep", "improved", "improvement", "accepted", "is_best", "merged")
_YES, _NO = ("yes", "y", "true", "1", "1.0"), ("no", "n", "false", "0", "0.0")
"""A column of such a name may answer with yes or no instead."""
_LABEL = (
    *("commit", "sha", "hash", "version", "candidate", "name", "experiment", "experiment_id", "exp", "id", "branch"),
    *("attempt", "description", "change", "idea", "config"),
)
_BUDGET = ("budget", "time_budget", "minutes", "time_limit", "max_minutes", "train_minutes", "budget_s", "budget_min")
_WAY = ("best_direction", "direction", "metric_direction")
_LOWER, _HIGHER = ("lower", "min", "minimize", "minimise", "down"), ("higher", "max", "maximize", "maximise", "up")
_MOST_WORDS = 6
_FAR = 0.1


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


@dataclass(frozen=True)
class AttemptLog:
    """A log, read."""

    source: str
    runs: tuple[LoggedRun, ...]
    metric: str
    direction: str
    how: str
    """How the direction is known: ``given``, ``log``, ``name`` or ``kept``, from the kept scores."""
    changes: tuple[str, ...] = ()
    """What changed where a part begins, from the second on: ``metric`` or ``budget``."""
    unknown: tuple[str, ...] = ()
    """Words of the status column that are no decision."""
    on_top: int = 0
    """Attempts that the log files under the version they were made on top of."""
    skipped: int = 0
    """Lines that are no rows."""


def read_attempts(source: object, selection: str | None = None, direction: str | None = None) -> AttemptLog:
    """Read a keep/discard log: TSV, CSV, JSONL, or whatever one table is read from."""
    paths = as_paths(source)
    if len(paths) != 1:
        raise InputError(f"an audit reads one log, got {len(paths)}; give one file")
    path = paths[0]
    tables = _tables(path)
    if not tables:
        raise DataError(f"{path.name} has no rows of attempts")
    runs: list[LoggedRun] = []
    changes: list[str] = []
    unknown: dict[str, None] = {}
    before: tuple[str, str | None] | None = None
    scores = [_score_column(table, selection) for table in tables]
    for table, score in zip(tables, scores, strict=True):
        for run, budget in _rows(table, score, unknown):
            if before is not None and score != before[0]:
                changes.append("metric")
            elif before is not None and budget is not None and before[1] is not None and budget != before[1]:
                changes.append("budget")
            before = score, budget if budget is not None or before is None else before[1]
            runs.append(replace(run, part=len(changes)))
    runs = _without_zeros(runs)
    runs, on_top = _attempts_apart(runs)
    toward, how = _direction(tables, scores[0], direction, runs)
    skipped = sum(len(table.skipped) for table in tables)
    return AttemptLog(path.name, tuple(runs), scores[0], toward, how, tuple(changes), tuple(unknown), on_top, skipped)


def _attempts_apart(runs: Sequence[LoggedRun]) -> tuple[list[LoggedRun], int]:
    """Where a version is kept and discarded: loops log the commit that a discarded attempt went back to.

    Each row that was not kept is then an attempt by itself, and no run of the version.
    """
    kept = {(run.part, run.label) for run in runs if run.decision == KEPT}
    apart = [run.decision in (DISCARDED, CRASHED) and (run.part, run.label) in kept for run in runs]
    if not any(run.decision == DISCARDED for run, alone in zip(runs, apart, strict=True) if alone):
        return list(runs), 0
    split = [replace(run, label=f"line {run.line}") if alone else run for run, alone in zip(runs, apart, strict=True)]
    return split, sum(apart)


def _without_zeros(runs: Sequence[LoggedRun]) -> list[LoggedRun]:
    """A score of exactly 0 far from all others, of a run that was not kept, is a crash: loops log them so."""
    others = np.abs([run.score for run in runs if run.score])
    far = others.size > 0 and others.min() > _FAR * np.median(others)
    zero = [far and run.score == 0 and run.decision != KEPT for run in runs]
    return [
        replace(run, score=None, decision=CRASHED) if crashed else run for run, crashed in zip(runs, zero, strict=True)
    ]


def _tables(path: Path) -> list[RawTable]:
    """The tables of a file; a delimited one is cut where a header stands among its rows."""
    if kind_of(path) not in ("csv", "tsv"):
        return [table for table in read_path(path)[0] if table.n_rows]
    text, _ = decoded(read_bytes(path), path.name)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    delimiter = "\t" if kind_of(path) == "tsv" and "\t" in text[:65536] else None
    layout = layout_of(lines, path.name, delimiter)
    known = {spelled(name) for name in layout.names} - {""}
    begins = [0]
    for place in range(layout.body, len(lines)):
        cells = {spelled(cell) for cell in cells_of(lines[place], layout.delimiter)} - {""}
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
    numeric = [name for name in table.columns if _has_numbers(table.columns[name])]
    plain = [name for name in numeric if spelled(name) not in (*_LABEL, *_BUDGET, *_STATUS)]
    choices = [name for name in plain if is_metric(name)] or [name for name in plain if could_be_score(name)]
    outer = [name for name in choices if "." not in name]  # what stands beside ``metric`` in ``metrics`` is said of it
    if len(choices) == 1 or len(outer) == 1:
        return (outer or choices)[0]
    if not choices:
        raise InputError(
            f"{table.source} has no column of scores; name it by {named('selection')}, of: {', '.join(table.columns)}"
        )
    raise Ambiguous(
        f"which column decided what was kept? {' or '.join(choices[:4])}: say so by {named('selection')} {choices[0]}"
    )


def _has_numbers(column: Cells) -> bool:
    return is_numeric(column) or np.isfinite(as_numbers(column).values).mean() > 0.5


def _rows(table: RawTable, score: str, unknown: dict[str, None]) -> list[tuple[LoggedRun, str | None]]:
    """The rows of one table, each with its budget where there is such a column; settings among them are none."""
    columns = {spelled(name): name for name in table.columns}
    numbers = as_numbers(table.columns[score]).values
    words = [str(word or "").strip() for word in _words(table.columns, columns)]
    budgets = _first(table, columns, _BUDGET)
    labels = _labels(table, columns)
    rows = []
    for row, value in enumerate(numbers.tolist()):
        word, label, scored = words[row], labels[row], bool(np.isfinite(value))
        if not (word or label or scored):
            continue
        decision = _decision(word)
        if word and not decision:
            unknown.setdefault(word)
        if not scored and status_of(word) != "running":
            decision = CRASHED
        known = value if scored and decision != CRASHED else None
        line = int(table.lines[row]) if table.lines is not None else row + 1
        run = LoggedRun(label or f"row {row + 1}", known, decision, word, 0, line)
        rows.append((run, None if budgets is None else str(budgets[row])))
    return rows


def _labels(table: RawTable, by_name: Mapping[str, str]) -> list[str]:
    """What each row calls its version, empty where it does not; a bare number with the name of its column."""
    name = next((name for name in _LABEL if name in by_name), "")
    labels = [str(label or "") for label in _first(table, by_name, (name,)) or [None] * table.n_rows]
    return [f"{name} {label}" if label.isdigit() else label for label in labels]


def _decision(word: str) -> str:
    """What a word of the status column decides; empty where it is no such word."""
    plain = "_".join(tokens(word))
    if plain in _DECIDED:
        return _DECIDED[plain]
    if status_of(word) in ("failed", "diverged"):
        return CRASHED
    first = plain.partition("_")[0]
    return _DECIDED.get(first, CRASHED if status_of(first) in ("failed", "diverged") else "")


def _words(columns: Mapping[str, Cells], by_name: Mapping[str, str]) -> Sequence[object]:
    """The decision of every row in a word: of a column known by its name, or by its words, or that says yes or no."""
    for name in _STATUS:
        if name in by_name and not is_numeric(columns[by_name[name]]) and not _is_flag(columns[by_name[name]]):
            return list(texts(columns[by_name[name]]))
    for cells in columns.values():
        words = set() if is_numeric(cells) else {str(text) for text in texts(cells) if text is not None}
        if 2 <= len(words) <= _MOST_WORDS and all(map(_decision, words)):
            return list(texts(cells))
    flags = next(
        (columns[by_name[name]] for name in _FLAGGED if name in by_name and _is_flag(columns[by_name[name]])), None
    )
    if flags is None:
        return [None] * len(next(iter(columns.values())))
    return [None if cell is None else KEPT if str(cell).lower() in _YES else DISCARDED for cell in texts(flags)]


def _is_flag(cells: Cells) -> bool:
    words = {str(text).lower() for text in texts(cells) if text is not None}
    return bool(words) and words <= {*_YES, *_NO}


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
