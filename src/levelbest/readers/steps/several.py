"""Chooses among several possible score columns where that is nearly certain; otherwise the user is asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from levelbest._check import FloatArray
from levelbest.errors import Ambiguous, called, named
from levelbest.readers.raw import Cells, as_codes
from levelbest.readers.steps import names
from levelbest.readers.steps.cells import as_numbers, is_series
from levelbest.readers.steps.roles import listed_columns, looks_numeric

__all__ = ["ask_about_names", "in_columns", "inside_lists", "numbered", "the_meant", "with_twin", "worded"]

_DISTINCT = 5
"""Two columns that are alike in all rows, with so many values, are one."""
_MOST_PATTERNS = 3


def ask_about_names(columns: Mapping[str, Cells], scores: Sequence[str], source: str) -> None:
    """Ask whether scores are one under several names, where no row has two of them: results of several people."""
    filled = {name: np.isfinite(as_numbers(columns[name]).values) for name in _alike(scores)}
    known = [name for name, rows in filled.items() if rows.any()]
    if len(known) < 2 or int(np.sum([filled[name] for name in known], axis=0).max()) > 1:
        return
    counts = [f"{int(filled[name].sum())} {name!r}" for name in known]
    raise Ambiguous(
        f"{source}: no row has two of these scores ({', '.join(counts)}): are they one under several names "
        f"({named('map', known[0] + '=' + ','.join(known[1:]))}), or is one of them meant ({named('selection')})?"
    )


def _alike(scores: Sequence[str]) -> list[str]:
    """Scores that may be one: those that point one way. A validation score and a test score are two."""
    split = {word for name in scores for word in names.tokens(name)}
    if split & names.TEST and split & names.VALIDATION:
        return []
    free = [name for name in scores if not set(names.tokens(name)) & names.TRAIN]
    ways = [names.direction_of(name)[0] for name in free]
    most = max(set(ways), key=ways.count, default=None)
    return [name for name, way in zip(free, ways, strict=True) if way == most and most is not None]


def in_columns(columns: Mapping[str, Cells], scores: Iterable[str]) -> str:
    """How to say that columns are families, where several numbers stand beside at most one word."""
    words = [name for name in columns if not looks_numeric(columns, name)]
    several = len(list(scores)) > 1 and len(words) < 2
    return f"; where each of these columns is a family, say {named('family')} columns" if several else ""


def numbered(scores: Iterable[str]) -> str:
    """How to say that columns are runs of one score, where their names differ in a number alone.

    Examples
    --------
    >>> numbered(["seed_0.test.acc", "seed_1.test.acc", "lr"])
    "; where columns are runs of one score, say wide='seed_*.test.acc'"
    """
    plain = [name for name in scores if not set(name) & set("*?[]'")]
    patterns = [re.sub(r"\d+", "*", name) for name in plain]
    several = [pattern for pattern in dict.fromkeys(patterns) if "*" in pattern and patterns.count(pattern) > 1]
    either = " or ".join(named("wide", pattern) for pattern in several[:_MOST_PATTERNS])
    return f"; where columns are runs of one score, say {either}" if several else ""


def worded(columns: Mapping[str, Cells], scores: Sequence[str]) -> str:
    """That a column with the name of a score holds words, for a message; or that means with their ± do."""
    from levelbest.readers.steps.summaries import has_summaries  # for a message alone

    if has_summaries(columns):
        return f"; means with their ±, a row for each method, are judged by {called('claim')}"
    for name in scores:
        if not (is_series(columns[name]) or looks_numeric(columns, name)) and (words := as_codes(columns[name])[0]):
            return f"; {name!r} holds words such as {words[0]!r}, and no numbers"
    return ""


def inside_lists(columns: Mapping[str, Cells]) -> str:
    """The numbers that stand inside lists of objects, by their dotted paths, for a message."""
    items = {
        name: next((cell[0] for cell in cells if isinstance(cell, (list, tuple)) and cell), None)
        for name in columns
        if is_series(cells := columns[name])
    }
    paths = [
        f"{name}.{key}"
        for name, item in items.items()
        if isinstance(item, dict)
        for key, value in item.items()
        if isinstance(value, (int, float))
    ]
    return f"; inside lists: {listed_columns(paths)}" if paths else ""


def the_meant(columns: Mapping[str, Cells], scores: list[str]) -> list[str]:
    """Of columns that may be the score those that are left: no copy, no part of a mean, no loss beside a share."""
    return _without_twins(columns, _without_mirror(columns, _without_parts(columns, scores)))


def _without_parts(columns: Mapping[str, Cells], scores: list[str]) -> list[str]:
    """Of scores of folds and their mean the mean."""
    if len(scores) < 3:
        return scores
    cells = np.array([as_numbers(columns[name]).values for name in scores])
    for place, name in enumerate(scores):
        others = np.delete(cells, place, axis=0)
        apart = np.abs(others.mean(axis=0) - cells[place])
        whole = np.isfinite(others).all() and np.unique(cells[place]).size > 1
        if whole and bool((apart <= _rounding(cells[place]) + 1e-9).all()) and float(np.ptp(others, axis=0).max()) > 0:
            return [name]
    return scores


def _rounding(values: FloatArray) -> float:
    """A unit of the last decimal that numbers are written with: half of it in the mean, half in what it is of."""
    digits = next((place for place in range(9) if np.allclose(values, np.round(values, place), rtol=0, atol=1e-12)), 9)
    return float(1.01 * 10.0**-digits)


def _without_twins(columns: Mapping[str, Cells], scores: list[str]) -> list[str]:
    """Of scores that are alike in every row the one that tells the direction; in a trainer's log a share, not a loss.

    Trainers log a loss unasked; a share beside it was asked for.
    """
    if len(scores) < 2:
        return scores
    cells = {name: as_numbers(columns[name]).values for name in scores}
    plain = {cells[name].tobytes() for name in scores if names.direction_of(name)[0] is not None}
    kept = [
        name
        for name in scores
        if names.direction_of(name)[0] is not None
        or np.unique(cells[name]).size < _DISTINCT
        or cells[name].tobytes() not in plain
    ]
    return _without_loss(columns, kept) if len(kept) == 2 else kept


def _without_mirror(columns: Mapping[str, Cells], scores: list[str]) -> list[str]:
    """Of an error and a score that is its negative in every row the error, whose name tells the direction."""
    cells = {name: as_numbers(columns[name]).values for name in scores}
    plain = [name for name in scores if names.direction_of(name)[0] is not None]
    mirrors = {
        name
        for name in scores
        if name not in plain
        and np.unique(cells[name]).size > 1
        and any(np.array_equal(cells[name], -cells[other]) for other in plain)
    }
    return [name for name in scores if name not in mirrors]


def _without_loss(columns: Mapping[str, Cells], scores: list[str]) -> list[str]:
    """Of a loss and a share in a trainer's log the share."""
    losses = [name for name in scores if "loss" in names.tokens(name)]
    shares = [name for name in scores if name not in losses and names.is_share(name)]
    trained = {"loss", "train_loss", "training_loss"} & {names.spelled(name) for name in columns if name not in scores}
    logged = bool(trained) or all(names.tokens(name)[0] == "eval" for name in scores)
    return shares if logged and len(losses) == len(shares) == 1 else scores


def with_twin(validation: list[str], free: Sequence[str]) -> list[str]:
    """Of validation scores of several metrics the one that has a test score of the same, where only one has."""
    tested = {names.rest(name) for name in free if set(names.tokens(name)) & names.TEST}
    twins = [name for name in validation if names.rest(name) in tested]
    if len(validation) < 2 or len(twins) != 1:
        return validation
    others = [names.rest(name) for name in validation if name != twins[0]]
    # ``valid.accuracy`` and ``init.valid.accuracy`` are one metric at two times
    return validation if any(names.rest(twins[0]) & other for other in others) else twins
