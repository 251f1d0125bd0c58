"""Lists the regular files of a folder or an archive, without unpacking it and without following links out of it."""

from __future__ import annotations

import os
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from levelbest._read import is_inside, kind_of_file, open_file
from levelbest.errors import DataError

__all__ = ["is_plain", "members", "readable", "walk"]

_IGNORED = {".git", "__pycache__", "node_modules", ".venv", "site-packages"}


def walk(
    folder: Path, folders: set[str] | None = None, odd: dict[str, str] | None = None
) -> Iterator[tuple[str, Path]]:
    """The regular files in a folder, by their path inside it; ``odd`` takes down what is none, and why.

    A link to a file that is in the folder too stands for it; one that leads out of it is not followed.
    """
    waiting = [""]
    while waiting:
        relative = waiting.pop()
        try:
            with os.scandir(folder / relative) as listed:
                entries = sorted(listed, key=lambda entry: entry.name)
        except OSError:
            continue
        if folders is not None:
            folders.add(relative or ".")
        inner = []
        for entry in entries:
            inside = f"{relative}/{entry.name}" if relative else entry.name
            if entry.is_dir(follow_symlinks=False):
                inner += [inside] if entry.name not in _IGNORED else []
            elif entry.is_file(follow_symlinks=False) or (why := _why_not_read(Path(entry.path), folder)) is None:
                yield inside, Path(entry.path)
            elif odd is not None:
                odd[inside] = why
        waiting += reversed(inner)


def _why_not_read(path: Path, folder: Path) -> str | None:
    """What is wrong with a file that was found in a folder; None where it can be read."""
    try:
        kind = kind_of_file(path.lstat().st_mode)
        if kind == "a link":
            if not is_inside(path, folder):
                return "not read: it is a link that leads out of the folder; name the file itself"
            kind = kind_of_file(path.stat().st_mode)
    except OSError as error:
        return f"not read: {error.strerror or error}"
    return None if kind is None else f"not read: it is {kind}"


def is_plain(path: Path, folder: Path) -> bool:
    """Whether a path is that of a regular file which is in the folder, its links followed."""
    return _why_not_read(path, folder) is None


def members(path: Path) -> Iterator[tuple[str, int, Callable[[], bytes]]]:
    """Name, size and content of an archive's files, in its order. No content touches the disk: none can leave it."""
    with readable(path):
        if path.name.lower().endswith(".zip"):
            with open_file(path) as file, zipfile.ZipFile(file) as packed:
                for info in packed.infolist():
                    if not info.is_dir():
                        name, size = _inside(info.filename), info.file_size
                        yield name, size, lambda info=info: packed.read(info)  # type: ignore[misc]
            return
        with open_file(path) as file, tarfile.open(fileobj=file, mode="r:*") as archive:
            for member in archive:
                if member.isfile():
                    name, size = _inside(member.name), member.size
                    yield name, size, lambda member=member: _content(archive, member)  # type: ignore[misc]


@contextmanager
def readable(path: Path) -> Iterator[None]:
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
