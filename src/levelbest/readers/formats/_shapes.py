"""Where the rows are in a JSON document: a list of rules, of which the first that fits gives the records.

A rule is a function of the document that returns numbered records, or None where the document has another shape.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from levelbest.errors import Ambiguous, DataError
from levelbest.readers.steps import names
from levelbest.readers.steps.cells import STEPS
from levelbest.readers.tables.files import Json, Record
from levelbest.trials import Skipped

__all__ = ["JSON_SHAPES", "NO_RECORD", "lists_by_name", "records_in"]

Numbered = list[tuple[int, Record]]
"""Records, each with its number in the file."""
Lists = dict[str, list[Json]]
NO_RECORD = "it is not a JSON object with fields"
_COLUMNS = names.word_set(
    "lr rate wd decay seed epoch step batch layers width depth dropout momentum time runtime cost seconds hours id "
    "index trial run config params status state"
)
_NO_FAMILIES = names.VALIDATION | names.TEST | names.TRAIN | names.word_set("x y z t mean std sd se sem stderr stdev")
"""Where all names are of these they are columns of a table: ``val`` and ``test``, ``mean`` and ``std``."""
_SAMPLE_NAME = re.compile(r"(s|sample|run|seed|trial|rep|completion|attempt|k)[ _-]?\d+", re.IGNORECASE)
_MANY_NAMES = 20
"""NOTE: more names than this, and more than items in a list, are problems; so many models are rare."""
_ALIKE = 5.0
"""NOTE: medians of columns within this factor of each other are scores on one scale; hyperparameters rarely are."""


def records_in(document: Json, source: str, skipped: list[Skipped], path: str | None = None) -> Numbered:
    """The rows in a document; ``path`` is the dotted path of the list that holds them, where it was asked for."""
    if path is not None:
        document = _inside(document, source, path)
    if not isinstance(document, (dict, list)) or not document:
        raise DataError(f"{source} holds no rows: it is neither a list of objects nor an object")
    for shape in JSON_SHAPES:
        records = shape(document, source, skipped)
        if records is not None:
            return records
    raise DataError(f"{source} holds no rows: its list has no objects")


def _inside(document: Json, source: str, path: str) -> Json:
    for key in path.split("."):
        if not isinstance(document, dict) or key not in document:
            known = ", ".join(document) if isinstance(document, dict) else "no names"
            raise DataError(f"{source} has nothing under {path!r}: at {key!r} there are {known}")
        document = document[key]
    return document


# ---- rules for the whole document


def list_of_objects(document: Json, source: str, skipped: list[Skipped]) -> Numbered | None:
    """``[{...}, {...}]``: what is no object is left out."""
    if not isinstance(document, list):
        return None
    kept = [(number, item) for number, item in enumerate(document, 1) if isinstance(item, dict) and item]
    lost = sorted({*range(1, len(document) + 1)} - {number for number, _ in kept})
    skipped += [Skipped(f"{source}, record {number}", NO_RECORD) for number in lost if kept]
    return kept or None


def split_columns(document: Json, source: str, skipped: list[Skipped]) -> Numbered | None:
    """``{"columns": [...], "data": [[...], ...]}``, as pandas writes with ``orient="split"``."""
    if not isinstance(document, dict) or not {"columns", "data"} <= set(document) <= {"columns", "data", "index"}:
        return None
    heads, data = document["columns"], document["data"]
    if not isinstance(heads, list) or not isinstance(data, list):
        return None
    whole = {number: row for number, row in enumerate(data, 1) if isinstance(row, list) and len(row) == len(heads)}
    if not whole:
        raise DataError(f"{source} holds no rows: no list in 'data' has as many cells as there are 'columns'")
    why = f"it is not a list of {len(heads)} cells"
    skipped += [Skipped(f"{source}, record {number}", why) for number in range(1, len(data) + 1) if number not in whole]
    keys = [".".join(map(str, head)) if isinstance(head, list) else str(head) for head in heads]
    return [(number, dict(zip(keys, row, strict=True))) for number, row in whole.items()]


def lists_by_name(document: Json, source: str, skipped: list[Skipped]) -> Numbered | None:
    """``{model: [scores]}`` or ``{problem: [samples]}``: a row per item, the name beside it."""
    del source, skipped
    lists = _all_lists(document)
    if len(lists) < 2 or not all(lists.values()):
        return None
    for rule in NAMES:
        records = rule(lists)
        if records is not None:
            return list(enumerate(records, 1)) or None
    return None


def lists_as_columns(document: Json, source: str, skipped: list[Skipped]) -> Numbered | None:
    """``{"lr": [...], "acc": [...]}``: columns of one length."""
    del source, skipped
    lists = _all_lists(document)
    sizes = {len(column) for column in lists.values()}
    if len(sizes) != 1 or sizes == {0} or _all_objects([cell for column in lists.values() for cell in column]):
        return None
    epoch = [] if "epoch" in lists or not _is_history(lists) else ["epoch"]
    return [
        (row + 1, {key: column[row] for key, column in lists.items()} | dict.fromkeys(epoch, row + 1))
        for row in range(sizes.pop())
    ]


def _is_history(lists: Lists) -> bool:
    """Whether columns are the history of one run: a loss beside the same of validation, and nothing that is no score.

    ``{"loss": [...], "val_loss": [...], "val_accuracy": [...]}``, as Keras keeps it: a row is an epoch.
    """
    watched = [key for key in lists if key.startswith("val_") and key.removeprefix("val_") in lists]
    scored = all(names.is_metric(key) or names.tokens(key) in (("lr",), ("learning", "rate")) for key in lists)
    return bool(watched) and any("loss" in names.tokens(key) for key in lists) and scored


def table_among_facts(document: Json, source: str, skipped: list[Skipped]) -> Numbered | None:
    """``{"meta": {...}, "runs": [{...}, ...]}``: the one list of objects, with the texts beside it as columns."""
    if not isinstance(document, dict):
        return None
    tables = [key for key, value in document.items() if isinstance(value, list) and _all_objects(value)]
    if len(tables) != 1 or _is_a_run(document, tables[0]):
        return None
    records = list_of_objects(document[tables[0]], f"{source}, {tables[0]}", skipped) or []
    beside = {key: value for key, value in document.items() if key != tables[0]}
    why = f"it is stored beside the rows in {tables[0]!r}, not among them"
    skipped += [Skipped(f"{source}, {key}", why) for key, value in beside.items() if isinstance(value, list) and value]
    facts = _texts(beside)
    return [(number, facts | record) for number, record in records]


def lists_two_deep(document: Json, source: str, skipped: list[Skipped]) -> Numbered | None:
    """``{agent: {game: [scores of runs]}}``: a row for each run; which key names the families is asked."""
    del source, skipped
    if not isinstance(document, dict) or len(document) < 2 or not all(map(_all_lists, document.values())):
        return None
    keys = list(next(iter(document.values())))
    if len(keys) < 2 or any(set(inner) != set(keys) for inner in document.values()):
        return None
    if any(names.is_metric(key) or {*names.tokens(key)} & _COLUMNS for key in keys):
        return None
    if not all(_are_runs(runs) for inner in document.values() for runs in inner.values()):
        return None
    rows = [
        {"outer key": outer, "inner key": key, "run": run, "score": score}
        for outer, inner in document.items()
        for key, runs in inner.items()
        for run, score in enumerate(runs, 1)
    ]
    return list(enumerate(rows, 1))


def objects_by_name(document: Json, source: str, skipped: list[Skipped]) -> Numbered | None:
    """``{"a": {...}, "b": {...}}`` with the same fields: a row each, the name as ``key``."""
    del source, skipped
    if not isinstance(document, dict) or len(document) < 2:
        return None
    if not all(isinstance(value, dict) and value for value in document.values()):
        return None
    fields = [set(value) for value in document.values()]
    if any(other != fields[0] for other in fields[1:]):
        return None
    return [(number, {"key": key, **value}) for number, (key, value) in enumerate(document.items(), 1)]


def several_tables(document: Json, source: str, skipped: list[Skipped]) -> Numbered | None:
    """Several lists of objects that are not one table: a question."""
    del skipped
    if not isinstance(document, dict):
        return None
    tables = [
        key
        for key, value in document.items()
        if isinstance(value, list) and len(value) > 1 and _all_objects(value) and not _is_a_run(document, key)
    ]
    if len(tables) < 2:
        return None
    either = " or ".join(f"rows={key}" for key in tables)
    raise Ambiguous(
        f"{source} holds {len(tables)} tables, {', '.join(map(repr, tables))}: choose one with the reader's option "
        f"{either}"
    )


def one_record(document: Json, source: str, skipped: list[Skipped]) -> Numbered | None:
    """``{"lr": 0.1, "acc": 0.9}``: one row."""
    del source, skipped
    return [(1, document)] if isinstance(document, dict) else None


JSON_SHAPES: tuple[Callable[[Json, str, list[Skipped]], Numbered | None], ...] = (
    list_of_objects,
    split_columns,
    lists_by_name,
    lists_as_columns,
    table_among_facts,
    lists_two_deep,
    objects_by_name,
    several_tables,
    one_record,
)


# ---- rules for lists by name: what the names are of


def objects_of_a_name(lists: Lists) -> list[Record] | None:
    """Lists of objects: the name is a problem where names are numbered or many, else a key as any other."""
    if not all(_all_objects(column) for column in lists.values()):
        return None
    owner = "problem" if _numbered(lists) or _many(lists) else "key"
    return [{owner: key, **cell} for key, column in lists.items() for cell in column]


def names_of_columns(lists: Lists) -> list[Record] | None:
    """Lists that are columns of a table: one holds text, or a name reads like a score, a setting or a sample, or all
    are splits, axes, or a mean with its spread."""
    cells = [cell for column in lists.values() for cell in column]
    plain = all(cell is None or isinstance(cell, (bool, int, float)) for cell in cells)
    sampled = any(_SAMPLE_NAME.fullmatch(key) for key in lists)
    words = {key: names.tokens(key) for key in lists}
    spoken = sum(bool(names.is_metric(key) or {*words[key]} & _COLUMNS or not words[key]) for key in lists)
    # Among hundreds of names of problems some have a word of a score in them.
    spoken_of = spoken * 2 > len(lists) if _many(lists) else spoken > 0
    parts = all({*some} <= _NO_FAMILIES for some in words.values())
    return [] if not plain or sampled or ((spoken_of or parts) and not _numbered(lists)) else None


def names_of_problems(lists: Lists) -> list[Record] | None:
    """Numbered names, or more names than anybody has models with lists on one scale, as settings are not."""
    many = _many(lists) and (_right_or_wrong(lists) or _alike(lists))
    return _scored(lists, "problem") if many or _numbered(lists) else None


def names_of_families(lists: Lists) -> list[Record] | None:
    """Few names with lists of scores: of different lengths, right or wrong, or on one scale."""
    same_length = len({len(column) for column in lists.values()}) == 1
    if same_length and len(lists) > 2 and not (_right_or_wrong(lists) or _alike(lists)):
        return None
    return _scored(lists, "family")


NAMES = (objects_of_a_name, names_of_columns, names_of_problems, names_of_families)


# ---- what rules ask


def _all_lists(document: Json) -> Lists:
    """The document, where it is an object of lists alone; empty otherwise."""
    whole = isinstance(document, dict) and all(isinstance(value, list) for value in document.values())
    return dict(document) if whole else {}


def _are_runs(scores: list[Json]) -> bool:
    return len(scores) > 1 and all(cell is None or type(cell) in (int, float) for cell in scores)


def _all_objects(cells: list[Json]) -> bool:
    return bool(cells) and all(isinstance(cell, dict) and cell for cell in cells)


def _is_a_run(document: Record, key: str) -> bool:
    """Whether the list is the curve of the one run that the document is of: a step rises from item to item."""
    for step in STEPS:
        places = [item.get(step) for item in document[key]]
        if all(isinstance(place, (int, float)) for place in places):
            return all(earlier <= later for earlier, later in pairwise(places)) and places[0] < places[-1]
    return False


def _texts(facts: Record) -> Record:
    """Texts, one level deep: a model's name, not a number that a rule might take for a score."""
    flat: Record = {}
    for key, value in facts.items():
        inner = {f"{key}.{name}": part for name, part in value.items()} if isinstance(value, dict) else {key: value}
        flat |= {name: part for name, part in inner.items() if isinstance(part, str) and 0 < len(part) <= 200}
    return flat


def _numbered(lists: Lists) -> bool:
    """Whether names differ in their numbers alone, ``HumanEval/12``, mostly."""
    return len({re.sub(r"\d+", "#", key) for key in lists}) * 2 <= len(lists)


def _many(lists: Lists) -> bool:
    return len(lists) >= max(_MANY_NAMES, 1 + max(len(column) for column in lists.values()))


def _right_or_wrong(lists: Lists) -> bool:
    return all(cell in (None, 0, 1) for column in lists.values() for cell in column)


def _alike(lists: Lists) -> bool:
    """Whether columns of numbers are on one scale, as scores of several models are and settings are not."""
    numbers = [[cell for cell in column if cell is not None] for column in lists.values()]
    if not all(numbers):
        return False
    middle = [abs(float(np.median(column))) for column in numbers]
    return min(middle) > 0 and max(middle) <= _ALIKE * min(middle)


def _scored(lists: Lists, role: str) -> list[Record]:
    score = "correct" if _right_or_wrong(lists) else "score"
    return [{role: key, score: cell} for key, column in lists.items() for cell in column]
