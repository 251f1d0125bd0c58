"""Folders of plain tables, including the common layout with one file per run.

Where every file is one run (a single record, or rows whose counter rises), they are one table. What varies in their
paths and names becomes columns; folders, and the arguments they are in, are families.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from levelbest.cautions import Caution
from levelbest.errors import LevelbestError
from levelbest.readers.formats._paths import FILE, Parts, family_of, parts_of, settings_in
from levelbest.readers.formats._tree import Tree, tool
from levelbest.readers.formats.plain import read_table
from levelbest.readers.raw import Cells, RawTable, as_codes, stacked, texts, typed
from levelbest.readers.steps.cells import as_numbers
from levelbest.readers.steps.names import obvious_family, tokens
from levelbest.readers.steps.runs import counter_of, settings_vary
from levelbest.readers.tables.files import plain_name

__all__ = ["READERS", "apart_by_path", "arranged"]

_ENDINGS = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet")


def _is_table(name: str) -> bool:
    plain = plain_name(Path(name))
    return plain.lower().endswith(_ENDINGS) and not plain.startswith(".")


def _tables(tree: Tree) -> list[RawTable]:
    """Every plain table in a folder; how they belong together, ``arranged`` tells."""
    tables: list[RawTable] = []
    for name in tree.files:
        try:
            (table,) = read_table(tree.path(name))
        except LevelbestError as error:
            tree.skip(name, str(error))
            continue
        table.source = name
        tables.append(table)
    return tables


def arranged(tables: list[RawTable], root: str, *, family_given: bool) -> list[RawTable]:
    """Plain tables with the families that their paths name; one table of all files where each is a run.

    ``asked``: the families were asked for, and may be parts of the paths.
    """
    parts = parts_of([table.source for table in tables])
    of_runs = all(_is_run(table) for table in tables)
    family = None if family_given or _tell_families(tables) else family_of(parts, root, 2 if of_runs else 1)
    if of_runs:
        return [_joined(tables, parts, family, root)]
    added = parts if family_given else settings_in(parts) | ({} if family is None else {family: parts[family]})
    for place, table in enumerate(tables):
        values_of = {name: values[place] for name, values in added.items() if name not in table.columns}
        columns = {name: np.full(table.n_rows, value, dtype=object) for name, value in values_of.items()}
        table.columns = {**table.columns, **{name: typed(list(column)) for name, column in columns.items()}}
        table.roles |= {"family": family} if family in values_of else {}
    return tables


def _tell_families(tables: Sequence[RawTable]) -> bool:
    """Whether a column names families: those of a tidy table, or different ones by an obvious name."""
    if any("family" in table.roles for table in tables):
        return True
    values: set[str] = set()
    for table in tables:
        for name in table.columns:
            if any(
                obvious_family(words, also=("name",)) or words == ("family",)
                for words in (tokens(name), tokens(name)[-1:])
            ):
                values |= set(as_codes(table.columns[name])[0])
    return len(values) > 1


def _joined(tables: Sequence[RawTable], parts: Parts, family: str | None, root: str) -> RawTable:
    """One table of files that are a run each, with what varies in their names as columns."""
    columns: dict[str, Cells] = {}
    for name in dict.fromkeys(name for table in tables for name in table.columns):
        columns[name] = stacked([(table.columns.get(name), table.n_rows) for table in tables])
    sizes = [table.n_rows for table in tables]
    added = {name: values for name, values in parts.items() if name not in columns}
    columns |= {
        name: typed(np.repeat(np.array(values, dtype=object), sizes).tolist()) for name, values in added.items()
    }
    roles = {"trial": FILE} if max(sizes) > 1 and FILE in added else {}
    roles |= {"family": family} if family in added else {}
    others = [name for name in added if name != FILE]
    caution = Caution.of("guessed-columns", None, len(tables), kind="files", count=len(tables), parts=others)
    return RawTable(
        root,
        columns,
        roles=roles,
        place_of=[place for table in tables for place in _places(table)].__getitem__,
        skipped=[lost for table in tables for lost in table.skipped],
        cautions=[caution, *(known for table in tables for known in table.cautions)],
    )


def _places(table: RawTable) -> list[str]:
    """Where each row of a table stands: a file of one record is its own place."""
    return [table.source] if table.n_rows == 1 else [table.at(row) for row in range(table.n_rows)]


def apart_by_path(by_path: Sequence[tuple[str, Sequence[RawTable]]]) -> None:
    """Give every source a family of its own where a tracker's own names are the same in several of them."""
    named: list[set[str]] = []
    for _, tables in by_path:
        if any("family" not in table.roles for table in tables) or sum(table.n_rows for table in tables) < 2:
            return
        named.append({name for table in tables for name in as_codes(table.columns[table.roles["family"]])[0]})
    if sum(len(family_names) for family_names in named) == len(set().union(*named)):
        return
    for (source, tables), family_names in zip(by_path, named, strict=True):
        for table in tables:
            inner = texts(table.columns[table.roles["family"]])
            names = [
                source if len(family_names) == 1 else None if name is None else f"{source} / {name}" for name in inner
            ]
            table.columns = {**table.columns, "source": np.array(names, dtype=object)}
            table.roles["family"] = "source"
            renamed = dict(zip(inner, names, strict=True))
            facts = [(*key.partition(":"), fact) for key, fact in table.facts.items()]  # of a family: sampler:<family>
            table.facts = {about + mark + (renamed.get(whose) or whose): fact for about, mark, whose, fact in facts}
    first = by_path[0][1][0]
    first.cautions.append(Caution.of("guessed-columns", None, len(by_path), kind="arguments", count=len(by_path)))


def _is_run(table: RawTable) -> bool:
    """Whether a file is one run: a single record, or rows of which a counter goes up all the way."""
    if table.roles:
        return False
    if table.n_rows == 1:
        return True
    counter = counter_of(table.columns)
    if counter is None or not (np.diff(as_numbers(table.columns[counter]).values) > 0).all():
        return False
    return not settings_vary(table.columns, counter)


_ABOUT = "a folder of CSV, JSON or Parquet files, e.g. one for each run"
READERS = (tool("folder", _ABOUT, _tables, "file that can be read as a table", files=_is_table),)
