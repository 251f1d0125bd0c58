"""Access to a tool's files in a folder, in an archive (without unpacking) or alone, with a list of what was skipped.

A reader says how its files are recognised and makes tables from a ``Tree``; ``tool`` does the rest.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from itertools import count
from os.path import commonpath
from pathlib import Path, PurePosixPath
from typing import IO

from levelbest._read import expanded_limit, read_whole
from levelbest.errors import DataError, InputError
from levelbest.readers.formats._listing import is_plain, members, readable, walk
from levelbest.readers.formats._rows import Record, RunLog, flatten, load_yaml, number, rows_by_step
from levelbest.readers.raw import RawTable, Reader, cell_list
from levelbest.readers.tables.delimited import parse_delimited
from levelbest.readers.tables.files import Sign, json_lines, json_value, open_bytes
from levelbest.trials import Skipped

__all__ = ["Tree", "distinct_names", "in_order", "is_packed", "open_tree", "tool"]

_PACKED = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".zip")
_GLANCE = 20_000
"""Names looked at, at most, to tell whether a folder is of some format."""
_GLANCE_BYTES = 2**28
_ODD = (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError)
"""What reading a value as something that it is not raises."""
_STEPS = ("step", "global_step", "epoch", "iteration", "training_iteration", "_step")


@dataclass
class Tree:
    """The wanted files of a folder or archive, by their path inside it with forward slashes; or one file."""

    name: str
    files: dict[str, Path | bytes] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    """Every folder, of wanted files or not."""
    place: Path = Path()
    """The folder: of a single file, the one that it is in."""
    given: str | None = None
    """The single file that was named, if it was no folder."""
    skipped: list[Skipped] = field(default_factory=list)

    def skip(self, where: str, why: str) -> None:
        """List a part that is not read."""
        self.skipped.append(Skipped(where, why))

    @contextmanager
    def trying(self, where: str, what: str = "not read") -> Iterator[None]:
        """A part that may turn out to be none: then it is listed."""
        try:
            yield
        except _ODD as error:
            self.skip(where, f"{what}: {error if isinstance(error, ValueError) else repr(error)}"[:200])

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """A file's bytes, decompressed, for reading."""
        where = self.files[name]
        if isinstance(where, bytes):
            yield io.BytesIO(where)
        else:
            with open_bytes(where) as stream:
                yield stream

    def path(self, name: str) -> Path:
        """Where a file is, for what is read in its place."""
        where = self.files[name]
        if isinstance(where, bytes):
            raise InputError(f"{name} cannot be read inside an archive: unpack it and name the folder")
        return where

    def text(self, name: str) -> str:
        """A file as text, with the bytes that are not UTF-8 replaced."""
        with self.open(name) as file:
            return read_whole(file, name).decode("utf-8-sig", errors="replace")

    def document(self, name: str, *, under: str | None = None) -> Record:
        """The object in a JSON or YAML file; empty where there is no such file, or where it is none, which is listed.

        ``under``: with dotted names below this one.
        """
        if name in self.files:
            with self.trying(name):
                stored = self.object_in(name)
                return stored if under is None else flatten(stored, under)
        return {}

    def object_in(self, name: str) -> Record:
        """The object in a JSON or YAML file, which may be empty; ValueError where it is none."""
        text = self.text(name)
        value = load_yaml(text) if name.endswith((".yaml", ".yml")) else json_value(text)
        if not isinstance(value, dict | None):
            raise ValueError("it is not an object")
        return value or {}

    def objects(self, name: str, what: str, *keys: str) -> Iterator[tuple[int, Record]]:
        """The objects with these keys in a file of JSON lines, and their lines; any other line is no ``what``."""
        with self.open(name) as stream:
            for place, value, why in json_lines(stream):
                if isinstance(value, dict) and value.keys() >= set(keys):
                    yield place, value
                else:
                    self.skip(f"{name}, line {place}", f"not read: {why or f'no {what}'}")

    def measured(self, name: str) -> list[Record]:
        """The rows of a run's metrics file (JSON, JSON lines, YAML, CSV): one, or one per step where it is a log.

        None where there is no such file; one that cannot be read, and a broken line, are listed.
        """
        if name in self.files:
            with self.trying(name):
                return _by_step(self.csv_rows(name) if name.lower().endswith(".csv") else self._metrics(name))
        return []

    def _metrics(self, name: str) -> list[Record]:
        text, kind = self.text(name), PurePosixPath(name).suffix.lower()
        if kind in (".yaml", ".yml"):
            return _metrics_in(load_yaml(text))
        try:
            if kind != ".jsonl":
                return _metrics_in(json_value(text))
        except ValueError as error:
            lines = text.strip().splitlines()
            if len(lines) < 2 or lines[0].lstrip()[:1] != "{" or "Extra data" not in str(error):
                raise
        rows = []
        for place, value, why in json_lines(io.StringIO(text)):
            with self.trying(f"{name}, line {place}"):
                if why is not None:
                    raise ValueError(why)
                rows += _metrics_in(value)
        if not rows:
            raise ValueError("no line of it holds metrics")
        return rows

    def run(self, family: str, folder: str, config: str, metrics: str, *, under: str) -> RunLog:
        """The run in a folder, by the names of its files; without metrics it did not get to its end."""
        settings = self.document(str(PurePosixPath(folder, config)), under=under)
        logged = self.measured(str(PurePosixPath(folder, metrics)))
        return RunLog(family, PurePosixPath(folder).name or self.name, "ok" if logged else "failed", settings, logged)

    def csv_rows(self, name: str) -> list[Record]:
        """The rows of a CSV file, of each the filled cells."""
        table = parse_delimited(self.text(name), name)
        if not table.n_rows:
            raise ValueError("it has no row below its header")
        self.skipped += table.skipped
        cells = {key: cell_list(column) for key, column in table.columns.items()}
        rows = zip(*cells.values(), strict=True)
        return [{key: cell for key, cell in zip(cells, row, strict=True) if cell is not None} for row in rows]

    def of_kind(self, is_kind: Callable[[Path], bool], what: str) -> list[str]:
        """The file that was named, or those of a folder that are of some kind; the others are listed as no ``what``."""
        if self.given:
            return [self.given]
        kept = [name for name in self.files if is_kind(self.path(name))]
        for name in self.files:
            if name not in kept:
                self.skip(name, f"not read: it is no {what}")
        return kept

    def named(self, *basenames: str) -> list[str]:
        """The files with one of these names, in order of their paths."""
        return [name for name in self.files if PurePosixPath(name).name in basenames]


def _metrics_in(value: object) -> list[Record]:
    if isinstance(value, dict) and value:
        return [flatten(value)]
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return [flatten(item) for item in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return [{"value": value}]
    raise ValueError("it holds no metrics by name")


def _by_step(rows: list[Record]) -> list[Record]:
    """Rows of one step as one: loggers write training and validation values of a step into rows of their own."""
    step = next((name for name in _STEPS if any(name in row for row in rows)), None)
    if step is None or len(rows) == 1:
        return rows
    last: object = -1
    points: list[tuple[str, object, object]] = []
    for row in rows:
        place = number(row.get(step))
        last = last if place is None else place
        points += [(key, last, value) for key, value in row.items() if key != step]
    merged = rows_by_step(points)
    return [{**{key: value for key, value in row.items() if key != "step"}, step: row["step"]} for row in merged]


def tool(
    name: str,
    about: str,
    tables: Callable[..., list[RawTable]],
    what: str,
    *,
    files: tuple[str, ...] | Callable[[str], bool] = (),
    known: tuple[str, ...] | Callable[[str], bool] | None = None,
    together: tuple[set[str], ...] = (),
    file: tuple[Sign, ...] | Callable[[Path], bool] = (),
    beside: tuple[str, ...] | Callable[[Path], Iterable[str]] = (),
    look: int = 0,
    logs: bool = False,
) -> Reader:
    """The reader of a tool: ``tables(tree, ...)`` makes tables of ``what`` its files hold, and none is an error.

    The other parameters are many because they are what there is to say of a tool. ``files``: their names, or a rule for
    their paths inside a folder or archive; ``known``: the same for those by which the tool is recognised, where not all
    of them tell; ``together``: it is recognised by a folder with one name of each set; ``file``: the signs by which a
    single one is known, or a rule; ``beside``: those read with a single one; ``look``: names do not tell, so that so
    many of a folder are looked into; ``logs``: each file is the log of a run, and several that are named are read as a
    folder of them is.
    """
    wanted, telling = _rule(files), _rule(known if known is not None else () if together else files)
    is_own = file if callable(file) else lambda path: any(sign.is_on(path) for sign in file)

    @wraps(tables)
    def read(path: Path, **options: object) -> list[RawTable]:
        tree = open_tree(path, wanted, is_own)
        named = beside(path) if callable(beside) else beside
        others = [path.with_name(other) for other in named if tree.given]
        tree.files |= {other.name: other for other in others if other != path and is_plain(other, path.parent)}
        return _made(tree, tables(tree, **options) if tree.files else [], what)

    def read_logs(paths: Sequence[Path], **options: object) -> list[RawTable]:
        named = [] if callable(beside) else list(beside)
        tree = _tree_of(paths, named)
        return _made(tree, tables(tree, **options), what)

    def recognises(path: Path) -> bool:
        looked_at = count()
        entries: dict[PurePosixPath, set[str]] = {}

        def is_wanted(inside: str) -> bool:
            if telling(inside):
                return not look or (next(looked_at) < look and is_own(path / inside))
            place = PurePosixPath(inside)
            for entry in (place, *place.parents)[:-1] if together else ():
                names = entries.setdefault(entry.parent, set())
                names.add(entry.name)
                if all(names & some for some in together):
                    return True
            return False

        return (path.is_file() and is_own(path)) or holds(path, is_wanted)

    return Reader(name, about, recognises, read, read_logs if logs else None)


def _made(tree: Tree, tables: list[RawTable], what: str) -> list[RawTable]:
    """The tables with what was lost on the way; none is an error."""
    if not tables:
        lost = tree.skipped[:1]
        reasons = [part for first in lost for part in (first.where, first.why) if part != tree.name]
        raise DataError(": ".join([f"{tree.name} holds no {what}", *reasons]))
    tables[0].skipped += tree.skipped
    return tables


def _tree_of(paths: Sequence[Path], beside: Iterable[str]) -> Tree:
    """Single files, with those of these names beside them, as a tree below the folder that they share."""
    root = Path(commonpath([path.absolute().parent for path in paths]))
    tree = Tree(root.name, place=root)
    for path in paths:
        others = [path.with_name(other) for other in beside if is_plain(path.with_name(other), path.parent)]
        tree.files |= {other.absolute().relative_to(root).as_posix(): other for other in (path, *others)}
    tree.files = dict(sorted(tree.files.items()))
    return tree


def _rule(files: tuple[str, ...] | Callable[[str], bool]) -> Callable[[str], bool]:
    return files if callable(files) else lambda inside: PurePosixPath(inside).name in files


def is_packed(path: Path) -> bool:
    """Whether the name is that of an archive."""
    return path.name.lower().endswith(_PACKED)


def open_tree(path: Path, wanted: Callable[[str], bool], file: Callable[[Path], bool] = lambda _: False) -> Tree:
    """The files whose path inside the folder or archive is wanted; ``file``: whether a path is one of them itself."""
    name = path.name or path.resolve().name
    if path.is_dir():
        tree = Tree(name, place=path.resolve())
        odd: dict[str, str] = {}
        tree.files = {inside: where for inside, where in sorted(walk(path, tree.folders, odd)) if wanted(inside)}
        for inside, why in odd.items():
            if wanted(inside):
                tree.skip(inside, why)
        return tree
    if not path.is_file():
        raise InputError(f"there is no file or folder {path.name!r}")
    if not is_packed(path) or file(path):
        return Tree(name, {name: path}, place=path.resolve().parent, given=name)
    ending = max((suffix for suffix in _PACKED if name.lower().endswith(suffix)), key=len)
    tree = Tree(name[: -len(ending)], place=path.resolve().with_name(name[: -len(ending)]))
    total = 0
    for inside, size, read in members(path):
        tree.folders.update(str(parent) for parent in PurePosixPath(inside).parents)
        if wanted(inside):
            total += size
            if total > expanded_limit():  # before it is read: a small archive can stand for any amount
                raise DataError(
                    f"{path.name} unpacks to more than {expanded_limit() / 2**20:,.0f} MiB of results: unpack it "
                    "yourself and name the folder, or set LEVELBEST_MAX_EXPANDED, e.g. to 8GB"
                )
            with readable(path):
                tree.files[inside] = read()
    tree.files = dict(sorted(tree.files.items()))
    return tree


def in_order(folders: Iterable[str], number_in: re.Pattern[str]) -> list[str]:
    """Folders by the number that a pattern finds in their paths, those without one last."""
    numbers = {folder: match for folder in folders if (match := number_in.search(folder))}
    return sorted(folders, key=lambda folder: (float(numbers[folder][1]) if folder in numbers else math.inf, folder))


def distinct_names(folders: Iterable[str], root: str) -> dict[str, str]:
    """The last part of each folder's path, or the whole of it where two end alike."""
    last = {folder: PurePosixPath(folder).name or root for folder in folders}
    return {folder: name if list(last.values()).count(name) == 1 else folder for folder, name in last.items()}


def holds(path: Path, wanted: Callable[[str], bool]) -> bool:
    """Whether a folder or archive holds a file with such a path inside it; looks at a bounded number of names."""
    try:
        if path.is_dir():
            names: Iterator[tuple[str, int]] = ((name, 0) for name, _ in walk(path))
        elif path.is_file() and is_packed(path):
            names = ((name, size) for name, size, _ in members(path))
        else:
            return False
        passed = 0
        for count, (name, size) in enumerate(names):
            if wanted(name):
                return True
            passed += size  # what lies between the names of a .tar.gz must be unpacked to pass it
            if count > _GLANCE or passed > _GLANCE_BYTES:
                return False
    except (OSError, DataError, InputError):
        return False
    return False
