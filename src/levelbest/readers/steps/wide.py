"""Wide tables: one row per problem (or model), one column per sample. They are turned into one row per sample."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from levelbest.cautions import Caution
from levelbest.errors import InputError, named
from levelbest.readers.columns import Cells, as_codes, is_numeric, stacked, taken
from levelbest.readers.steps import names
from levelbest.readers.steps.merged import Merged
from levelbest.readers.steps.notes import Notes
from levelbest.readers.steps.numbers import as_numbers
from levelbest.readers.steps.roles import Wanted, column_named, obvious_family

__all__ = ["melt"]

_SAMPLE = re.compile(
    r"(s|sample|run|seed|trial|rep|repeat|try|attempt|completion|k|score|acc)[ _-]?(\d+)", re.IGNORECASE
)

_CLEAR = ("sample", "completion", "attempt")
_REPEATS = names.word_set("seed random_seed random_state run rep repeat replicate fold split trial")
_ALIKE = 5.0
_PROBLEM = names.word_set("problem task question puzzle prompt idx index id group instance item example")


Long = tuple[Merged, Wanted, dict[str, str]]
"""A table with one row per sample, what is asked of it now, and the roles of its columns."""


def melt(table: Merged, wanted: Wanted, known: dict[str, str], notes: Notes) -> Long:
    """One row per sample; all as it is where the table is long already."""
    if wanted.wide is not None:
        samples = [name for name in table.columns if any(fnmatchcase(name, pattern) for pattern in wanted.wide)]
        if not samples:
            raise InputError(f"no column of {table.source} matches {named('wide')} {','.join(wanted.wide)}")
    else:
        if wanted.selection is not None or "selection" in known or wanted.trial is not None:
            return table, wanted, known
        samples = _obvious_samples(table)
        if not samples:
            return _families_in_columns(table, wanted, known, notes)
        first, last = samples[0], samples[-1]
        notes.cautions.append(Caution.of("guessed-columns", kind="samples", first=first, last=last, count=len(samples)))
    others = [name for name in table.columns if name not in samples]
    group, family = _owner(table, wanted, others)
    n_rows, n_samples = table.n_rows, len(samples)
    repeated = np.repeat(np.arange(n_rows), n_samples)
    columns: dict[str, Any] = {name: taken(table.columns[name], repeated) for name in others}
    stack = stacked([(table.columns[name], n_rows) for name in samples])
    # Sample by sample below each other, then row by row: each row's samples stay together and in order.
    score = "correct" if "correct" not in others and _right_or_wrong(stack) else "sample"
    columns[score] = _score(stack, n_rows, n_samples)
    place = "sample number" if "sample number" not in columns else "sample number "
    columns[place] = np.tile(np.arange(n_samples, dtype=np.float64), n_rows)
    of_sources = family is None and wanted.family is None and len(table.source_codes()[0]) > 1
    if group is None and family is None and not of_sources:
        group = "row"
        columns[group] = repeated.astype(np.float64) + 1.0
    known = {
        **{role: name for role, name in known.items() if role in ("family", "group")},
        "selection": score,
        "order": place,
    }
    if group is not None:
        known["group"] = group
        if wanted.group is None:
            notes.cautions.append(Caution.of("guessed-columns", kind="rows", group=group))
    asked = replace(
        wanted, wide=None, where=None, selection=score, family=family or wanted.family, cost=wanted.cost or "none"
    )
    return table.reshaped(repeated, columns), asked, known


def _families_in_columns(table: Merged, wanted: Wanted, known: dict[str, str], notes: Notes) -> Long:
    """A row per seed and a column per family (``seed,resnet,vit``), where nothing else can be meant."""
    rows = [name for name in table.columns if "_".join(names.tokens(name)) in _REPEATS]
    scores = [name for name in table.columns if name not in rows]
    if wanted.family is not None or wanted.group is not None or known or len(rows) != 1 or len(scores) < 2:
        return table, wanted, known
    if any(names.is_metric(name) or not is_numeric(table.columns[name]) for name in scores):
        return table, wanted, known
    middle = [abs(float(np.nanmedian(as_numbers(table.columns[name]).values))) for name in scores]
    if not np.isfinite(middle).all() or min(middle) == 0 or max(middle) > _ALIKE * min(middle):
        return table, wanted, known  # settings and not scores: they would hardly be on one scale
    repeated = np.tile(np.arange(table.n_rows), len(scores))
    columns: dict[str, Any] = {
        rows[0]: taken(table.columns[rows[0]], repeated),
        "family": np.repeat(np.array(scores, dtype=object), table.n_rows),
        "score": stacked([(table.columns[name], table.n_rows) for name in scores]),
    }
    notes.cautions.append(
        Caution.of("guessed-columns", None, len(scores), kind="by-column", columns=scores, rows=rows[0])
    )
    asked = replace(wanted, where=None, selection="score", family=("family",))
    return table.reshaped(repeated, columns), asked, {"selection": "score", "family": "family", "seed": rows[0]}


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
    family: tuple[str, ...] | None
    if wanted.family is None:
        obvious = [name for name in others if obvious_family(names.tokens(name)) or names.tokens(name) == ("family",)]
        family = (obvious[0],) if len(obvious) == 1 else None
    else:
        family = tuple(column_named(name, table.columns, "family", table.source) for name in wanted.family)
    if wanted.group is not None:
        return column_named(wanted.group, table.columns, "group", table.source), family
    taken_names = set(family or ())
    named = [name for name in others if name not in taken_names and set(names.tokens(name)) & _PROBLEM]
    if named:
        return named[0], family
    if family and len(set(as_codes(table.columns[family[0]])[1].tolist())) == table.n_rows:
        return None, family
    first = next((name for name in others if name not in taken_names), None)
    if first is not None and len(as_codes(table.columns[first])[0]) == table.n_rows and not names.is_metric(first):
        return first, family
    return None, family


def _right_or_wrong(stack: Cells) -> bool:
    """Whether all numbers are 0 or 1, and both are there: then higher is better, as with ``correct``."""
    values = as_numbers(stack).values
    return set(np.unique(values[np.isfinite(values)]).tolist()) == {0.0, 1.0}


def _score(stack: Cells, n_rows: int, n_samples: int) -> object:
    order = np.arange(n_rows * n_samples).reshape(n_samples, n_rows).T.ravel()
    return taken(stack, order)
