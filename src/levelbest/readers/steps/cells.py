"""Parsing of cells: numbers (thousands commas, percent signs, durations), statuses and nested values.

Every conversion is reported. A list of numbers, of ``[step, value]`` pairs, or of objects (``learning_curve.top_1``
names their key) is a series of checkpoints. The best one is chosen by the selection score; the reported score is read
at that same checkpoint.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import SupportsFloat, TypeGuard

import numpy as np
import numpy.typing as npt

from levelbest._check import BoolArray, Column, FloatArray, IntArray
from levelbest.errors import InputError, named
from levelbest.readers.raw import Cells, Coded, as_codes, is_numeric
from levelbest.readers.tables.commas import DECIMAL_COMMA, POINTS_OF_THOUSANDS, THOUSANDS
from levelbest.readers.tables.languages import in_english
from levelbest.trials import STATUSES

__all__ = ["FLAGS", "MISSING", "STEPS", "ReadNumbers", "Statuses", "as_numbers", "as_statuses", "dig", "has_steps"]
__all__ += ["inside", "is_endings", "is_in_words", "is_series", "no_item", "seconds_of", "split_path", "status_of"]

MISSING = frozenset({"", "na", "n/a", "#n/a", "null", "none", "-", "--", "?", "missing", "<na>", "."})
MISSING |= {"k.a.", "k. a.", "n.v.", "n.d.", "n. d.", "s/d", "#nv", "#n/d", "–", "—"}
_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_CLOCK = re.compile(r"(?:(\d+) days?,? +)?(?:(\d+):)?(\d+):(\d{2}(?:\.\d+)?)")
_UNITS = re.compile(
    r"(?:(\d+)\s*(?:d|days?))?\s*(?:(\d+)\s*(?:h|hrs?|hours?))?\s*(?:(\d+)\s*(?:m|mins?|minutes?))?"
    r"\s*(?:(\d+(?:\.\d+)?)\s*(?:s|secs?|seconds?))?"
)
_POINTS = "-points"
_WRITINGS = ("percent", "thousands", "decimal-comma", "clock", "verdict")
_VERDICTS = {
    **dict.fromkeys(("pass", "passed", "correct", "right", "yes", "true", "resolved", "solved"), 1.0),
    **dict.fromkeys(("fail", "failed", "incorrect", "wrong", "no", "false", "unresolved", "unsolved"), 0.0),
}
"""What a judge writes instead of 1 and 0."""
_NOT_FINITE = ("nan", "inf", "+inf", "-inf", "infinity", "-infinity")

_WORDS = {
    "ok": "ok okay success successful succeeded finished finish complete completed done terminated ended exited passed "
    "evaluated good keep kept discard discarded revert reverted improved accepted rejected",
    "failed": "failed fail failure error errored exception crashed crash killed timeout timed_out oom out_of_memory "
    "memoryout memory_out aborted abort preempted cancelled canceled lost interrupted bad no_score "
    "dnf did_not_finish not_finished did_not_converge not_converged "
    "runtimeerror cuda_oom time_out segfault core_dumped sigkill sigterm node_fail broken invalid",
    "diverged": "diverged divergence nan inf infinite exploded unstable",
    "pruned": "pruned prune early_stopped stopped_early stopped",
    "running": "running run pending queued waiting in_progress scheduled paused unfinished active created started "
    "not_evaluated starting submitted",
}
_STATUS_OF = {word: status for status, words in _WORDS.items() for word in words.split()}
_FAILURE = {
    "failed",
    "fail",
    "failure",
    "error",
    "errored",
    "exception",
    "crash",
    "crashed",
    "killed",
    "timeout",
    "oom",
}
_DIVERGENCE = {"nan", "inf", "diverged", "exploded"}
_DENIED = {"no", "not", "without", "zero", "none", "0"}
_PHRASE, _FEW_WORDS = 60, 12
STEPS = ("step", "global_step", "epoch", "iteration", "iter", "training_iteration")
FLAGS = frozenset({"diverged", "nan", "failed", "crashed", "failure"})
"""Words in the name of a true-or-false column that marks trials that went wrong."""


@dataclass
class ReadNumbers:
    """A column as float64, with what stood in the cells that are not plain numbers."""

    values: FloatArray
    """NaN where there is no number."""
    empty: BoolArray
    """Cells with nothing in them (or a word for nothing)."""
    words: dict[int, str] = field(default_factory=dict)
    """Row -> text that is no number."""
    converted: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Kind of conversion -> (how many cells, the first of them)."""


def seconds_of(text: str) -> float | None:
    """Seconds of ``1:02:03``, ``2:31.5`` (minutes and seconds), ``1 day, 0:00:10`` or ``1h 2m``; None for other text.

    Examples
    --------
    >>> seconds_of("1h 2m"), seconds_of("2:31.5"), seconds_of("soon")
    (3720.0, 151.5, None)
    """
    match = _CLOCK.fullmatch(text) or (_UNITS.fullmatch(text.lower()) if text[-1:].isalpha() else None)
    if match is None or not any(match.groups()):
        return None
    days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def as_numbers(column: Cells) -> ReadNumbers:
    """The column as numbers; a text that occurs again is read once."""
    if is_numeric(column):
        values, empty = np.ma.getdata(column).astype(np.float64, copy=False), np.ma.getmaskarray(column)
        return ReadNumbers(np.where(empty, np.nan, values) if empty.any() else values, empty)
    cells, codes = _distinct(column)
    cells = _without_points(cells)
    kinds = _as_verdicts(cells, [_kind(cell) for cell in cells])
    # "1,234" alone is a thousand; beside "0,843" in the same column it is not.
    decimal = "decimal-comma" in kinds
    values = np.array([*(_read(cell, kind, decimal) for cell, kind in zip(cells, kinds, strict=True)), np.nan])
    # "80.5%" beside "83.5" is 80.5 with its unit: divided by 100 it would be on another scale than its neighbours.
    plain = np.array([*(kind in ("plain", "thousands", "decimal-comma") for kind in kinds), False])
    points = bool((np.isfinite(values) & (np.abs(values) > 1))[plain].any())
    percent = np.array([*(kind == "percent" for kind in kinds), False])
    values[percent] /= 1.0 if points else 100.0
    empty = np.array([*(kind == "empty" for kind in kinds), True])
    numbers = ReadNumbers(values[codes], empty[codes])
    counts = np.bincount(codes[codes >= 0], minlength=len(cells))
    for cell, kind, count in zip(cells, kinds, counts.tolist(), strict=True):
        if kind in _WRITINGS and count:
            if kind == "thousands" and decimal and "." not in str(cell):
                kind = "decimal-comma"
            noted = kind + _POINTS if kind == "percent" and points else kind
            before, first = numbers.converted.get(noted, (0, str(cell).strip()))
            numbers.converted[noted] = (before + count, first)
    is_word = np.array([*(kind == "word" for kind in kinds), False])
    for row in np.flatnonzero(is_word[codes]).tolist():
        cell = cells[codes[row]]
        odd = isinstance(cell, (list, tuple, dict, set, bytes))
        numbers.words[row] = f"a {type(cell).__name__}" if odd else str(cell).strip()
    return numbers


def _distinct(column: Coded | Column) -> tuple[Sequence[object], IntArray]:
    """The cells without the texts that repeat, and which of them stands in each row (-1: none)."""
    if isinstance(column, Coded):
        names, codes = as_codes(column)
        return names, codes.astype(np.int64)
    place: dict[str | int, int] = {}
    rows = [place.setdefault(cell if isinstance(cell, str) else row, len(place)) for row, cell in enumerate(column)]
    return [key if isinstance(key, str) else column[key] for key in place], np.array(rows, dtype=np.int64)


def _without_points(cells: Sequence[object]) -> Sequence[object]:
    """``1.895,82`` as ``1895,82``; beside it, and beside ``1.234.567``, ``1.200`` is 1200 too."""
    grouped = {
        place: match
        for place, cell in enumerate(cells)
        if isinstance(cell, str) and (match := POINTS_OF_THOUSANDS.fullmatch(cell.strip()))
    }
    if not any(match["comma"] or match[0].count(".") > 1 for match in grouped.values()):
        return cells
    return [grouped[place][0].replace(".", "") if place in grouped else cell for place, cell in enumerate(cells)]


def _as_verdicts(cells: Sequence[object], kinds: list[str]) -> list[str]:
    """The kinds with words as verdicts, where all cells are PASS or FAIL: beside numbers ``failed`` is no score."""
    words = {str(cell).strip().lower() for cell, kind in zip(cells, kinds, strict=True) if kind == "word"}
    if not words <= set(_VERDICTS) or not any(_VERDICTS[word] for word in words) or set(kinds) - {"word", "empty"}:
        return kinds
    return ["verdict" if kind == "word" else kind for kind in kinds]


def _kind(cell: object) -> str:
    """What a cell is: plain, empty, odd (NaN or infinite), a number in one of four writings, or a word."""
    if not isinstance(cell, str):
        if cell is None or cell is np.ma.masked:
            return "empty"
        return "word" if _number(cell) is None else "plain"
    text = cell.strip()
    if _PLAIN.fullmatch(text):
        return "plain"
    low = text.lower()
    if low in MISSING:
        return "empty"
    if low in _NOT_FINITE:
        return "odd"
    if text.endswith("%") and _kind(text[:-1]) in ("plain", "thousands", "decimal-comma"):
        return "percent"
    if THOUSANDS.fullmatch(text):
        return "thousands"
    if DECIMAL_COMMA.fullmatch(text):
        return "decimal-comma"
    return "word" if seconds_of(text) is None else "clock"


def _number(cell: object) -> float | None:
    """What a cell that is no text is as a number."""
    try:
        return float(cell) if isinstance(cell, SupportsFloat) else None
    except OverflowError:
        return np.inf if isinstance(cell, int) and cell > 0 else -np.inf
    except (TypeError, ValueError):
        return None


def _read(cell: object, kind: str, decimal: bool) -> float:
    """The number in a cell, without its percent sign; NaN where there is none."""
    if kind in ("empty", "word"):
        return np.nan
    if not isinstance(cell, str):
        return _number(cell) or 0.0
    if kind == "verdict":
        return _VERDICTS[cell.strip().lower()]
    text = cell.strip().removesuffix("%").rstrip()
    if kind == "clock":
        return seconds_of(text) or 0.0
    if "," not in text:
        return float(text)
    as_point = "." not in text and (decimal or not THOUSANDS.fullmatch(text))
    return float(text.replace(",", "." if as_point else ""))


def status_of(text: str) -> str | None:
    """Our status for a tool's word; None where it is no status word."""
    word = text.strip().lower().rsplit(".", 1)[-1].replace("-", "_").replace(" ", "_")
    return _STATUS_OF.get(word) or _status_within(text) or _STATUS_OF.get(in_english(word).strip())


def _status_within(text: str) -> str | None:
    """What a phrase says went wrong: ``CUDA error``, ``nan loss``."""
    words = set(re.findall(r"[a-z]+|\d+", text.lower()))
    if len(words) < 2 or words & _DENIED or len(text) > _PHRASE:
        return None
    return "diverged" if words & _DIVERGENCE else "failed" if words & _FAILURE else None


def is_endings(column: Cells) -> bool:
    """Whether a column of any name says of every trial how it ended, and that some went wrong."""
    if is_numeric(column):
        return False
    words = {name.strip().lower() for name in as_codes(column)[0]}
    if len(words) > _FEW_WORDS or words <= set(_VERDICTS):
        return False  # what a judge says is a score
    statuses = as_statuses(column)
    return not statuses.unknown and 0 < statuses.n_lost < statuses.n_known


@dataclass(frozen=True)
class Statuses:
    """How each trial ended, by the words of a column."""

    codes: npt.NDArray[np.uint8]
    """An empty cell is ok, and so is an unknown word: the score decides."""
    unknown: dict[str, int]
    """Words that are no status, with their counts."""
    n_known: int
    n_lost: int
    """Words that are one, and those of them that say that a trial went wrong."""

    @property
    def is_status(self) -> bool:
        """Whether the column is one of statuses: all its words are, or some say that trials went wrong."""
        return not self.unknown or self.n_lost > 0


def as_statuses(column: Cells) -> Statuses:
    """What the words of a column say of how trials ended."""
    names, codes = as_codes(column)
    table = np.zeros(len(names) + 1, dtype=np.uint8)
    unknown: dict[str, int] = {}
    for code, name in enumerate(names):
        status = status_of(name)
        if status is None and name.strip():
            unknown[name] = int(np.count_nonzero(codes == code))
        table[code] = STATUSES.index(status or "ok")
    known = sum(bool(name.strip()) for name in names) - len(unknown)
    lost = int(np.count_nonzero((table[:-1] > 0) & (table[:-1] != STATUSES.index("running"))))
    return Statuses(table[codes], unknown, known, lost)


def is_in_words(column: Cells, scores: FloatArray) -> bool:
    """Whether outcomes are a score of 0 and 1 in words: exactly the rows that went wrong have one of them."""
    lost = as_statuses(column).codes > 0
    return any(np.array_equal(lost, scores == worst) for worst in (0.0, 1.0))


def split_path(path: str, columns: Iterable[str]) -> tuple[str, str] | None:
    """(column, path inside it) for a dotted path whose beginning is a column; the longest such column."""
    parents = [name for name in columns if path.startswith(name + ".")]
    if not parents:
        return None
    column = max(parents, key=len)
    return column, path[len(column) + 1 :]


def inside(path: str, columns: Collection[str]) -> tuple[str, str | None]:
    """(column, path inside it or None) for a column's name or a dotted path into one."""
    return (path, None) if path in columns else split_path(path, columns) or (path, None)


def no_item(source: str, name: str, role: str) -> InputError:
    """The complaint about a path into lists that holds no number for each item of the selection score's list."""
    return InputError(
        f"{source}: {name!r} for {named(role)} leads into a list that has no number for each item of the selection "
        "score: nothing says which belongs to it"
    )


def is_series(column: Cells) -> TypeGuard[Column]:
    """Whether the cells are lists."""
    if isinstance(column, Coded) or is_numeric(column):
        return False
    return any(isinstance(cell, (list, tuple, np.ndarray)) for cell in column)


def has_steps(column: Column) -> bool:
    """Whether the lists' items carry a step: pairs of step and value, or objects with a key for it."""
    items = (item for cell in column if isinstance(cell, (list, tuple)) for item in cell)
    return any(
        (isinstance(item, dict) and any(isinstance(item.get(name), (int, float)) for name in STEPS))
        or (isinstance(item, (list, tuple)) and len(item) == 2)
        for item in items
    )


def dig(item: object, path: str) -> object:
    """The value at a dotted path inside nested objects; None where it leads nowhere."""
    if isinstance(item, dict):
        if path in item:
            return item[path]
        head, _, tail = path.partition(".")
        while tail:
            if head in item:
                return dig(item[head], tail)
            more, _, tail = tail.partition(".")
            head = f"{head}.{more}"
    return None
