"""Searches that were repeated: tables of one tool whose names say that they are the same search run again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePosixPath

import numpy as np

from levelbest.cautions import Caution
from levelbest.errors import LevelbestError
from levelbest.readers.formats._rows import seed_of
from levelbest.readers.formats._tree import Tree
from levelbest.readers.raw import RawTable, texts

__all__ = ["alike", "each_search", "repeated_searches", "search_family", "searches_in_arguments", "together"]

_WORDS = "seed|rep|repeat|repetition|replicate|restart|run|search"
_REPETITION = re.compile(rf"(?:^|[-_./ ])(?:{_WORDS})[-_=.# ]*\d+(?=$|[-_./ ])", re.IGNORECASE)
_MOMENT = re.compile(
    r"[-_.]?(?:19|20)\d\d-?\d\d-?\d\d(?:[-_T ]\d\d[-_:]?\d\d(?:[-_:]?\d\d)?(?:[-_.]\d+)?)?$|^\d\d-\d\d-\d\d$"
)
_UNNAMED = re.compile(r"no-name-[0-9a-f-]{36}")
"""What Optuna calls a study that was given no name."""
_STUDIES = ("study", "experiment", "project", "scenario", "sweep")
"""Columns of the tools that record a study for each search."""


def search_family(name: str, otherwise: str = "") -> str:
    """What a search is a repetition of: its name without the number of a seed or run, and without the time.

    ``otherwise``: what it is called where nothing is left.

    Examples
    --------
    >>> search_family("tpe-seed3"), search_family("train_2026-01-31_12-00-59"), search_family("resnet-50")
    ('tpe', 'train', 'resnet-50')
    """
    return _REPETITION.sub("", _MOMENT.sub("", name)).strip("-_./ ") or otherwise or name


def repeated_searches(tables: Sequence[RawTable], column: str) -> None:
    """Mark the tables of one name as searches of one family, and give each a family where it has none.

    Names that differ in the number of a seed or run, or in the time, are one name. ``column`` has a table's own name
    where the format writes it; else it is made.
    """
    if len(tables) < 2:
        return
    sources = [table.source for table in tables]
    families = [search_family(name) for name in sources]
    by_name = len(set(families)) < len(set(sources))
    if not by_name:
        families = sources
    if len(set(families)) < len(sources):
        labels = sources if by_name else [str(place) for place in range(len(tables))]
        together(tables, families, labels, column, reported=by_name)
        return
    for table in tables:
        if column not in table.columns:
            table.columns = {column: np.full(table.n_rows, table.source, dtype=object), **table.columns}
            table.roles["family"] = column


def searches_in_arguments(by_path: Sequence[tuple[str, Sequence[RawTable]]]) -> bool:
    """Join sources that hold one search each, where names say that they are the same search run again.

    That is told by the names of the studies where these differ, else by those of the files. It is not the same search
    where a setting that stays as it is within each of two searches differs between them.
    """
    tables = [table for _, path_tables in by_path for table in path_tables]
    column = tables[0].roles.get("family", "") if tables else ""
    if len(tables) != len(by_path) or not all(_is_search(table, column) for table in tables):
        return False
    studies = [_first(table, column) for table in tables]
    named = studies
    if all(map(_UNNAMED.fullmatch, studies)):
        named = ["study"] * len(tables)
    files = [re.sub(r"\.[a-z]+\d?$", "", PurePosixPath(name).name) for name, _ in by_path]
    labels = studies if len(set(named)) == len(tables) else files
    families = [search_family(label, arguments) for label, arguments in zip(labels, named, strict=True)]
    if len(set(families)) == len(tables) or (labels is files and len(set(named)) > 1) or len(set(labels)) < len(tables):
        return False
    if not alike(tables, families):
        return False
    together(tables, families, labels, column, reported=True)
    return True


def _is_search(table: RawTable, column: str) -> bool:
    """Whether a table is one study, named in this column: a search, which a sweep over lists is not."""
    if column not in _STUDIES or table.roles.get("family") != column or "search" in table.roles or not table.n_rows:
        return False
    return column != "sweep" or any(key.startswith("sampler:") for key in table.facts)


def together(
    tables: Sequence[RawTable], families: Sequence[str], labels: Sequence[str], column: str, *, reported: bool
) -> None:
    """Each table as one search, named by its label, of the family beside it; ``said``: in a note."""
    told_apart = [_first(table, column) for table in tables] == list(labels)
    for place, (table, family, label) in enumerate(zip(tables, families, labels, strict=True)):
        home = column if column not in table.columns else "family"
        table.columns = {home: np.full(table.n_rows, family, dtype=object), **table.columns}
        if not told_apart:
            table.columns = {**table.columns, "search": np.full(table.n_rows, label, dtype=object)}
        table.roles |= {"family": home, "search": column if told_apart else "search"}
        sampler = next((fact for key, fact in table.facts.items() if key.startswith("sampler:")), None)
        table.facts |= {} if sampler is None else {f"sampler:{family}": sampler}
        if reported and place == 0:
            count = len(set(families))
            table.cautions.append(Caution.of("guessed-columns", kind="searches", count=len(tables), n_families=count))


def alike(tables: Sequence[RawTable], families: Sequence[str]) -> bool:
    """Whether what is fixed within every search of a family is the same in all of them, but for seeds."""
    return all(
        _one_search([table for table, family in zip(tables, families, strict=True) if family == name])
        for name in set(families)
    )


def _first(table: RawTable, column: str) -> str:
    return str(texts(table.columns[column])[0]) if column in table.columns and table.n_rows else ""


def _one_search(tables: Sequence[RawTable]) -> bool:
    for name in dict.fromkeys(name for table in tables for name in table.configuration or ()):
        values = [set(texts(table.columns[name])) if name in table.columns else {None} for table in tables]
        if not seed_of([name]) and all(len(different) == 1 for different in values) and len(set.union(*values)) > 1:
            return False
    return True


def each_search(tree: Tree, names: Iterable[str], read: Callable[[Tree, str], RawTable], column: str) -> list[RawTable]:
    """A table for each of these files of a tree: those of one name are searches of one family."""
    tables: list[RawTable] = []
    for name in names:
        try:
            tables.append(read(tree, name))
        except LevelbestError as error:
            if tree.given:
                raise
            tree.skip(name, str(error))
    repeated_searches(tables, column)
    return tables
