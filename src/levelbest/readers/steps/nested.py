"""Values inside values: a dotted path into nested JSON, and a run's checkpoints kept as a list in one cell.

A list of numbers, of ``[step, value]`` pairs, or of objects (``learning_curve.top_1`` names their key) is a series of
checkpoints. The best one is chosen by the selection score; the reported score is read at that same checkpoint.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np
import numpy.typing as npt

from levelbest._check import Column, FloatArray, sign_of
from levelbest.errors import InputError, named
from levelbest.readers.columns import Cells, Coded, is_numeric

__all__ = ["Series", "at_checkpoint", "best_checkpoint", "dig", "has_steps", "inside", "is_series", "no_item"]
__all__ += ["series_of", "split_path", "total_of"]

_STEPS = ("step", "global_step", "epoch", "iteration", "iter", "training_iteration")


@dataclass(frozen=True)
class Series:
    """One run's checkpoints."""

    steps: tuple[object, ...] | None
    """None: only the position tells them apart."""
    values: FloatArray


def split_path(asked: str, columns: Iterable[str]) -> tuple[str, str] | None:
    """(column, path inside it) for a dotted path whose beginning is a column; the longest such column."""
    parents = [name for name in columns if asked.startswith(name + ".")]
    if not parents:
        return None
    column = max(parents, key=len)
    return column, asked[len(column) + 1 :]


def inside(asked: str, columns: Collection[str]) -> tuple[str, str | None]:
    """(column, path inside it or None) for a column's name or a dotted path into one."""
    return (asked, None) if asked in columns else split_path(asked, columns) or (asked, None)


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
        (isinstance(item, dict) and any(isinstance(item.get(name), (int, float)) for name in _STEPS))
        or (isinstance(item, (list, tuple)) and len(item) == 2)
        for item in items
    )


def series_of(column: Column, path: str | None) -> list[Series]:
    """Each cell's checkpoints; a cell that holds no list has none."""
    return [_series(cell, path) for cell in column]


def _series(cell: object, path: str | None) -> Series:
    if isinstance(cell, np.ndarray):
        cell = cell.tolist()
    if not isinstance(cell, (list, tuple)):
        return Series(None, np.empty(0))
    steps: list[object] = []
    values: list[float] = []
    for place, item in enumerate(cell):
        step: object = None
        if isinstance(item, dict):
            step = next((item[name] for name in _STEPS if isinstance(item.get(name), (int, float))), None)
            item = dig(item, path) if path else None
        elif isinstance(item, (list, tuple)) and len(item) == 2 and not path:
            step, item = item
        value = _number(item)
        if value is not None:  # at a step without this score it was not measured, which NaN would be
            steps.append(place if step is None else step)
            values.append(value)
    return Series(tuple(steps), np.array(values, dtype=np.float64))


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


def _number(value: object) -> float | None:
    if isinstance(value, (bool, int, float)):
        try:
            return float(value)
        except OverflowError:
            return float("inf")
    try:
        return float(value) if isinstance(value, str) else None
    except ValueError:
        return None


def best_checkpoint(series: Sequence[Series], direction: str) -> npt.NDArray[np.int64]:
    """The position of each run's best finite score, the first of equals; -1 where it has none or ends in NaN or inf."""
    best = np.full(len(series), -1, dtype=np.int64)
    for row, run in enumerate(series):
        finite = np.isfinite(run.values)
        if finite.size and finite[-1]:  # else it diverged, however well it began
            best[row] = int(np.argmax(np.where(finite, sign_of(direction) * run.values, -np.inf)))
    return best


def at_checkpoint(chosen: npt.NDArray[np.int64], by: Sequence[Series], other: Sequence[Series]) -> FloatArray:
    """The other score at the chosen checkpoints, matched by step; NaN where it was not recorded there."""
    values = np.full(len(chosen), np.nan)
    for row, place in enumerate(chosen):
        if place < 0:
            continue
        steps, target = other[row].steps, by[row].steps
        if target is None or steps is None:
            continue
        if place < len(steps) and steps[place] == target[place]:
            values[row] = other[row].values[place]
        elif target[place] in steps:
            values[row] = other[row].values[steps.index(target[place])]
    return values


def total_of(series: Sequence[Series]) -> tuple[FloatArray, bool]:
    """What each run used up: the last value where values never fall (a clock), else the sum; and which it was."""
    finite = [part.values[np.isfinite(part.values)] for part in series]
    clock = all((np.diff(values) >= 0).all() for values in finite)
    spent = [(values[-1] if clock else values.sum()) if values.size else np.nan for values in finite]
    return np.array(spent, dtype=np.float64), clock
