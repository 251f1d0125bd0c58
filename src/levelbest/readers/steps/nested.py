"""Values inside values: a dotted path into nested JSON, and cells that are lists.

A list of numbers, of ``[step, value]`` pairs, or of objects (``learning_curve.top_1`` names their key) is a series of
checkpoints. The best one is chosen by the selection score; the reported score is read at that same checkpoint.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TypeGuard

import numpy as np

from levelbest._check import Column
from levelbest.errors import InputError, named
from levelbest.readers.columns import Cells, Coded, is_numeric

__all__ = ["STEPS", "dig", "has_steps", "inside", "is_series", "no_item", "split_path"]

STEPS = ("step", "global_step", "epoch", "iteration", "iter", "training_iteration")


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
