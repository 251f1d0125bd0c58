"""Searches that were repeated: tables of one tool whose names say that they are the same search run again."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

import numpy as np

from levelbest.cautions import Caution
from levelbest.errors import LevelbestError
from levelbest.readers.formats._rows import no_rows
from levelbest.readers.formats._tree import open_tree
from levelbest.readers.raw import RawTable
from levelbest.trials import Skipped

__all__ = ["each_search", "repeated_searches", "search_family"]

_WORDS = "seed|rep|repeat|repetition|replicate|restart|run|search"
_REPETITION = re.compile(rf"(?:^|[-_./ ])(?:{_WORDS})[-_=.# ]*\d+(?=$|[-_./ ])", re.IGNORECASE)
_MOMENT = re.compile(r"[-_.]?(?:19|20)\d\d-?\d\d-?\d\d(?:[-_T ]\d\d[-_:]?\d\d(?:[-_:]?\d\d)?(?:[-_.]\d+)?)?$")


def search_family(name: str) -> str:
    """What a search is a repetition of: its name without the number of a seed or run, and without the time.

    Examples
    --------
    >>> search_family("tpe-seed3"), search_family("train_2026-01-31_12-00-59"), search_family("resnet-50")
    ('tpe', 'train', 'resnet-50')
    """
    return _REPETITION.sub("", _MOMENT.sub("", name)).strip("-_./ ") or name


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
    repeated = len(set(families)) < len(sources)
    for place, (table, family) in enumerate(zip(tables, families, strict=True)):
        own, home = ("search", column) if column not in table.columns else (column, "family")
        if own == "search" or repeated:
            table.columns = {home: np.full(table.n_rows, family, dtype=object), **table.columns}
            table.roles["family"] = home
        if not repeated:
            continue
        if own == "search":
            label = table.source if by_name else f"{place}"
            table.columns = {**table.columns, own: np.full(table.n_rows, label, dtype=object)}
        table.roles["search"] = own
        sampler = table.facts.get(f"sampler:{table.source}")
        table.facts |= {} if sampler is None else {f"sampler:{family}": sampler}
        if by_name and place == 0:
            count = len(set(families))
            table.cautions.append(Caution.of("guessed-columns", kind="searches", count=len(sources), n_families=count))


def each_search(path: Path, file: str, read: Callable[[Path, str], RawTable], what: str, column: str) -> list[RawTable]:
    """A table for the file, or for each of that name below the folder: those of one name are searches of one family."""
    if path.is_file():
        return [read(path, path.name)]
    tables: list[RawTable] = []
    skipped: list[Skipped] = []
    for name in open_tree(path, lambda name: PurePosixPath(name).name == file).files:
        try:
            tables.append(read(path / name, name))
        except LevelbestError as error:
            skipped.append(Skipped(name, str(error)))
    if not tables:
        raise no_rows(path.resolve().name, what, skipped)
    tables[0].skipped += skipped
    repeated_searches(tables, column)
    return tables
