"""A folder of result files, or one packed as .tar.gz or .zip: the same names and contents, nothing unpacked."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from levelbest.errors import DataError, InputError
from levelbest.readers.formats._rows import Record, flatten, load_yaml
from levelbest.readers.limits import expanded_limit
from levelbest.readers.tables.files import json_lines, json_value
from levelbest.trials import Skipped

__all__ = ["Tree", "beside", "distinct_names", "holds", "is_packed", "known_by", "open_tree"]

_PACKED = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".zip")
_IGNORED = {".git", "__pycache__", "node_modules", ".venv", "site-packages"}
_GLANCE = 20_000
"""Names looked at, at most, to tell whether a folder is of some format."""
_GLANCE_BYTES = 2**28


@dataclass
class Tree:
    """The wanted files of a folder or archive, by their path inside it with forward slashes."""

    name: str
    files: dict[str, Path | bytes] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    """Every folder, of wanted files or not."""

    def open(self, name: str) -> BinaryIO:
        """A file's bytes, for reading."""
        where = self.files[name]
        if isinstance(where, bytes):
            return io.BytesIO(where)
        try:
            return where.open("rb")
        except OSError as error:
            raise InputError(f"{name} cannot be read: {error.strerror or error}") from error

    def read(self, name: str) -> bytes:
        """All bytes of a file."""
        with self.open(name) as file:
            return file.read()

    def text(self, name: str) -> str:
        """A file as text, with the bytes that are not UTF-8 replaced."""
        return self.read(name).decode("utf-8-sig", errors="replace")

    def document(self, name: str, skipped: list[Skipped], *, under: str | None = None) -> Record:
        """The object in a JSON or YAML file; empty where there is no such file, or where it is none, which is said.

        ``under``: with dotted names below this one.
        """
        if name not in self.files:
            return {}
        try:
            text = self.text(name)
            value = load_yaml(text) if name.endswith((".yaml", ".yml")) else json_value(text)
            if not isinstance(value, dict | None):
                raise ValueError("it is no object")
            return value or {} if under is None else flatten(value or {}, under)
        except ValueError as error:
            skipped.append(Skipped(name, f"not read: {error}"))
            return {}

    def lines(self, name: str) -> Iterator[tuple[int, Any, str | None]]:
        """The lines of a file of JSON lines, as ``json_lines`` gives them."""
        with self.open(name) as stream:
            yield from json_lines(stream)

    def named(self, *basenames: str) -> list[str]:
        """The files with one of these names, in order of their paths."""
        return [name for name in self.files if PurePosixPath(name).name in basenames]


def is_packed(path: Path) -> bool:
    """Whether the name is that of an archive."""
    return path.name.lower().endswith(_PACKED)


def stem_of(path: Path) -> str:
    """A name to show for a folder or archive."""
    for suffix in sorted(_PACKED, key=len, reverse=True):
        if path.name.lower().endswith(suffix):
            return path.name[: -len(suffix)]
    return path.name or path.resolve().name


def open_tree(path: Path, wanted: Callable[[str], bool]) -> Tree:
    """The files whose path inside the folder or archive is wanted."""
    tree = Tree(stem_of(path))
    if path.is_dir():
        tree.files = {name: where for name, where in sorted(_walk(path, tree.folders)) if wanted(name)}
    elif is_packed(path):
        total = 0
        for name, size, read in _members(path):
            tree.folders.update(str(parent) for parent in PurePosixPath(name).parents)
            if wanted(name):
                total += size
                if total > expanded_limit():  # before it is read: a small archive can stand for any amount
                    raise DataError(
                        f"{path.name} unpacks to more than {expanded_limit() / 2**20:,.0f} MiB of results: unpack it "
                        "yourself and name the folder, or set LEVELBEST_MAX_EXPANDED, e.g. to 8GB"
                    )
                with _readable(path):
                    tree.files[name] = read()
        tree.files = dict(sorted(tree.files.items()))
    elif path.is_file():
        tree.files = {path.name: path}
    else:
        raise InputError(f"there is no file or folder {path.name!r}")
    return tree


def beside(path: Path, *names: str) -> Tree:
    """A file and those of these names in its folder."""
    others = {name: path.with_name(name) for name in names if path.with_name(name).is_file()}
    return Tree(path.name, {path.name: path, **others})


def distinct_names(folders: Iterable[str], root: str) -> dict[str, str]:
    """The last part of each folder's path, or the whole of it where two end alike."""
    last = {folder: PurePosixPath(folder).name or root for folder in folders}
    return {folder: name if list(last.values()).count(name) == 1 else folder for folder, name in last.items()}


def holds(path: Path, wanted: Callable[[str], bool]) -> bool:
    """Whether a folder or archive holds a file with such a path inside it; looks at a bounded number of names."""
    try:
        if path.is_dir():
            names: Iterator[tuple[str, int]] = ((name, 0) for name, _ in _walk(path))
        elif path.is_file() and is_packed(path):
            names = ((name, size) for name, size, _ in _members(path))
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


def known_by(
    wanted: str | Callable[[str], bool], file: Callable[[Path], bool] = lambda _: False, *, look: int = 0
) -> Callable[[Path], bool]:
    """How a tool's results are recognised: a file that is one of its own, a folder or archive that holds a wanted one.

    ``wanted`` is a file's name, or a rule for its path inside the folder. ``look``: names do not tell, so that so many
    wanted files of a folder are looked into.
    """

    def recognises(path: Path) -> bool:
        looked_at = count()

        def is_wanted(name: str) -> bool:
            if not (wanted(name) if callable(wanted) else PurePosixPath(name).name == wanted):
                return False
            return not look or (next(looked_at) < look and file(path / name))

        return (path.is_file() and file(path)) or holds(path, is_wanted)

    return recognises


def _walk(folder: Path, folders: set[str] | None = None) -> Iterator[tuple[str, Path]]:
    for place, inner, names in os.walk(folder):
        inner[:] = sorted(set(inner) - _IGNORED)
        here = Path(place)
        relative = here.relative_to(folder)
        if folders is not None:
            folders.add(relative.as_posix())
        for name in sorted(names):
            yield (relative / name).as_posix(), here / name


def _members(path: Path) -> Iterator[tuple[str, int, Callable[[], bytes]]]:
    """Name, size and content of an archive's files, in its order. No content touches the disk: none can leave it."""
    with _readable(path):
        if path.name.lower().endswith(".zip"):
            with zipfile.ZipFile(path) as packed:
                for info in packed.infolist():
                    if not info.is_dir():
                        name, size = _inside(info.filename), info.file_size
                        yield name, size, lambda info=info: packed.read(info)  # type: ignore[misc]
            return
        with tarfile.open(path, "r:*") as archive:
            for member in archive:
                if member.isfile():
                    name, size = _inside(member.name), member.size
                    yield name, size, lambda member=member: _content(archive, member)  # type: ignore[misc]


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """A damaged archive, whether its list or a member of it cannot be read, is our error."""
    try:
        yield
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error, RuntimeError, NotImplementedError) as error:
        raise DataError(f"{path.name} is not a readable archive: {error}") from error
    except OSError as error:
        raise DataError(f"{path.name} is not a readable archive: {error.strerror or error}") from error


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member)
    return b"" if file is None else file.read()


def _inside(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).as_posix().lstrip("/").removeprefix("./")
