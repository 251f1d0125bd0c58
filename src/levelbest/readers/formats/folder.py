"""Many files: a folder of plain tables, and the commonest home-made tracker, a file for each run.

Where every file is one run (a single record, or rows whose counter rises), they are one table. What varies in their
paths and names becomes columns: ``vit/seed3.json`` is ``folder`` = vit and ``seed`` = 3.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from os.path import commonpath
from pathlib import Path, PurePosixPath

import numpy as np

from levelbest.cautions import Caution
from levelbest.errors import LevelbestError
from levelbest.readers.columns import Cells, as_codes, stacked, texts, typed
from levelbest.readers.formats._tree import Tree, tool
from levelbest.readers.formats.plain import read_table
from levelbest.readers.raw import RawTable
from levelbest.readers.steps.names import tokens, word_set
from levelbest.readers.steps.numbers import as_numbers
from levelbest.readers.steps.roles import obvious_family
from levelbest.readers.steps.runs import counter_of, settings_vary
from levelbest.readers.tables.files import plain_name, stem

__all__ = ["READERS", "apart_by_path", "runs_in_files"]

_ENDINGS = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet")
_SETTING = re.compile(r"([A-Za-z][A-Za-z_]*)(=?)(-?\d+(?:\.\d+)?(?:[eE]-?\d+)?)")
_SETTINGS = word_set(
    "seed run runs job jobs trial exp experiment fold split rep repeat repetition try attempt iter iteration step "
    "steps epoch epochs ckpt checkpoint version config cfg conf setting hp hparam sample samples part shard task gpu "
    "node rank worker model group round size batch lrate rate learning width depth layer layers hidden units dim dims "
    "heads hops channels filters kernel stride dropout drop decay weight reg alpha beta gamma delta eps epsilon lambda "
    "lam tau temp temperature top mom momentum warmup budget num number len length max min clip noise scale level "
    "index idx state rng"
)
"""Words that a number after them sets or counts; after others, as in resnet18, it is part of a name."""
_SPLIT = re.compile(r"[_,;\s]+|(?<![eE=])-")


def _is_table(name: str) -> bool:
    plain = plain_name(Path(name))
    return plain.lower().endswith(_ENDINGS) and not plain.startswith(".")


def _tables(tree: Tree) -> list[RawTable]:
    """Every plain table in a folder; one table where each file is a run."""
    tables: list[RawTable] = []
    for name in tree.files:
        try:
            (table,) = read_table(tree.path(name))
        except LevelbestError as error:
            tree.skip(name, str(error))
            continue
        table.source = name
        tables.append(table)
    joined = runs_in_files(tables, [table.source for table in tables], tree.name)
    return tables if joined is None else [joined]


def runs_in_files(tables: Sequence[RawTable], names: Sequence[str], root: str) -> RawTable | None:
    """One table of files that are a run each, with what varies in their names as columns; None where they are not."""
    if len(tables) < 2 or not all(_is_run(table) for table in tables):
        return None
    of_paths = _parts_of(names)
    columns: dict[str, Cells] = {}
    for name in dict.fromkeys(name for table in tables for name in table.columns):
        columns[name] = stacked([(table.columns.get(name), table.n_rows) for table in tables])
    sizes = [table.n_rows for table in tables]
    added = {name: values for name, values in of_paths.items() if name not in columns}
    for name, values in added.items():
        columns[name] = typed([value for value, size in zip(values, sizes, strict=True) for _ in range(size)])
    roles = {"trial": "file"} if max(sizes) > 1 and "file" in added else {}
    plain = [tokens(part) for name in columns for part in (name, name.rsplit(".", 1)[-1])]
    if not any(obvious_family(words) or words == ("family",) for words in plain):
        words = [name for name, values in added.items() if name.startswith("name ") and isinstance(values[0], str)]
        telling = "folder" if "folder" in added else words[0] if len(words) == 1 else None
        if telling is not None and min(Counter(added[telling]).values()) > 1:
            roles["family"] = telling
    parts = [name for name in added if name != "file"]
    caution = Caution.of("guessed-columns", None, len(tables), kind="files", count=len(tables), parts=parts)
    return RawTable(
        root,
        columns,
        roles=roles,
        place_of=[
            table.source if table.n_rows == 1 else table.at(row) for table in tables for row in range(table.n_rows)
        ].__getitem__,
        skipped=[lost for table in tables for lost in table.skipped],
        cautions=[caution, *(known for table in tables for known in table.cautions)],
    )


def apart_by_path(by_path: Sequence[tuple[str, Sequence[RawTable]]]) -> None:
    """Give every source a family of its own where a tracker's own names are the same in several of them."""
    named: list[set[str]] = []
    for _, tables in by_path:
        if any("family" not in table.roles for table in tables) or sum(table.n_rows for table in tables) < 2:
            return
        named.append({name for table in tables for name in as_codes(table.columns[table.roles["family"]])[0]})
    if sum(len(own) for own in named) == len(set().union(*named)):
        return
    for (source, tables), own in zip(by_path, named, strict=True):
        for table in tables:
            inner = texts(table.columns[table.roles["family"]])
            names = [source if len(own) == 1 else None if name is None else f"{source} / {name}" for name in inner]
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


def _parts_of(names: Sequence[str]) -> dict[str, list[object]]:
    """Column -> one value per file: the folders and the parts of the names that differ, and the path itself."""
    paths = [PurePosixPath(name) for name in names]
    shared = commonpath([str(path.parent) for path in paths]) if len(paths) > 1 else "."
    inner = [path.relative_to(shared) if shared not in ("", ".") else path for path in paths]
    columns: dict[str, list[object]] = {}
    depths = {len(path.parts) for path in inner}
    if len(depths) == 1:
        levels = [[path.parts[level] for path in inner] for level in range(depths.pop() - 1)]
        varied = [level for level in levels if len(set(level)) > 1]
        for place, level in enumerate(varied, 1):
            columns |= _level(level, "folder" if len(varied) == 1 else f"folder {place}")
    else:
        columns["folder"] = [str(path.parent) for path in inner]
    pieces = [[piece for piece in _SPLIT.split(stem(path.name)) if piece] for path in inner]
    if len({len(piece) for piece in pieces}) == 1:
        for place in range(len(pieces[0])):
            values = [piece[place] for piece in pieces]
            if len(set(values)) > 1:
                columns |= _column(values, f"name {place + 1}")
    return columns | {"file": [str(path) for path in inner]}


def _level(values: Sequence[str], name: str) -> dict[str, list[object]]:
    """The folders of one level as columns: settings within their names apart, ``bert_lr0.1_s0`` is bert, .1 and 0."""
    pieces = [[piece for piece in _SPLIT.split(value) if piece] for value in values]
    if len({len(piece) for piece in pieces}) != 1 or len(pieces[0]) == 1:
        return _column(values, name)
    settings: dict[str, list[object]] = {}
    others: list[int] = []
    for place in range(len(pieces[0])):
        column = _column([piece[place] for piece in pieces], "")
        if "" in column or set(column) & set(settings):
            others.append(place)
        else:
            settings |= column
    rest = ["_".join(piece[place] for place in others) for piece in pieces]
    if not settings:
        return _column(values, name)
    varied = {key: column for key, column in settings.items() if len(set(column)) > 1}
    return varied | ({name: list(rest)} if len(set(rest)) > 1 else {})


def _column(values: Sequence[str], name: str) -> dict[str, list[object]]:
    """A part of the names as a column: ``seed3`` or ``lr=0.1`` in all of them is a setting, ``resnet18`` a name."""
    matches = [match for match in map(_SETTING.fullmatch, values) if match]
    keys = {match[1].strip("_") for match in matches}
    if len(matches) == len(values) and len(keys) == 1:
        key, set_to = keys.pop(), [float(match[3]) for match in matches]
        # The number after a word sets it: it says so, or is a fraction, or the word is known, or all but none.
        small = any(0 < abs(number) < 1 for number in set_to)
        if matches[0][2] == "=" or small or len(key) <= 2 or not set(tokens(key)).isdisjoint(_SETTINGS):
            return {key: list(set_to)}
    numbers = all(re.fullmatch(r"-?\d+(\.\d+)?", value) for value in values)
    return {name: [float(value) for value in values] if numbers else list(values)}


_ABOUT = "a folder of CSV, JSON or Parquet files, e.g. one for each run"
READERS = (tool("folder", _ABOUT, _tables, "file that can be read as a table", files=_is_table),)
