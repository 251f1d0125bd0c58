"""Files that were there before: the only door through which levelbest opens a file that someone named, or left in a
folder that someone named.

A regular file is opened, and nothing else: a pipe would be waited for, a device or a file of the kernel's (``/proc``)
has no end. What a folder holds stays in it: a link that leads out of it is somebody else's file.
"""

from __future__ import annotations

import os
import stat
from io import BufferedReader
from pathlib import Path

from levelbest.errors import InputError

__all__ = ["check_source", "is_inside", "kind_of_file", "open_file"]

KINDS = (
    (stat.S_ISLNK, "a link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_KERNEL = ("proc", "sys", "dev")
_MEMORY = ("dev", "shm")
"""A folder of ordinary files, though it is below /dev."""
# A pipe that took the place of a file just now is not waited for; the other two belong to one system each.
_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def kind_of_file(mode: int) -> str | None:
    """What a path is that is no regular file, in words; None of a regular file."""
    return next((kind for test, kind in KINDS if test(mode)), None)


def check_source(path: Path) -> None:
    """Refuse what is neither a regular file nor a folder of them, before any reader looks at it."""
    try:
        mode = path.stat().st_mode
        real = path.resolve()
    except (OSError, RuntimeError):
        return  # whoever opens it says why it cannot be read
    if _is_kernels(real):
        raise InputError(f"{path.name} belongs to the operating system and is not read; copy the results elsewhere")
    kind = kind_of_file(mode)
    if kind not in (None, "a folder"):
        raise InputError(f"{path.name} is {kind} and is not read; save the results to a file")


def is_inside(path: Path, folder: Path) -> bool:
    """Whether a path, its links followed, stays in a folder."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # links that lead to each other
        return False


def open_file(path: Path, within: Path | None = None) -> BufferedReader:
    """A regular file, for reading; ``within``: the folder that it must be in, its links followed.

    An ``InputError`` where it is anything else, an ``OSError`` where it cannot be opened.
    """
    real = path.resolve() if within is None else _resolved_in(path, within)
    _check_regular(os.stat(real).st_mode, path)  # to open a device may already do something
    if _is_kernels(real):
        raise InputError(f"{path.name} belongs to the operating system and is not read")
    handle = os.open(real, _FLAGS | (getattr(os, "O_NOFOLLOW", 0) if within is not None else 0))
    try:
        about = os.fstat(handle)
        _check_regular(about.st_mode, path)
        if within is not None and not os.path.samestat(about, os.stat(_resolved_in(path, within))):
            raise InputError(f"{path.name} changed as it was opened")
        return open(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def _resolved_in(path: Path, folder: Path) -> Path:
    real = path.resolve()
    if not real.is_relative_to(folder.resolve()):
        raise InputError(f"{path.name} leads out of the folder {folder.name} and is not read; name the file itself")
    return real


def _check_regular(mode: int, path: Path) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{path.name} is a folder")
    if (kind := kind_of_file(mode)) is not None:
        raise InputError(f"{path.name} is {kind} and is not read; save the results to a file")


def _is_kernels(real: Path) -> bool:
    """Whether a path is one of the kernel's own, which have no size and no end (Linux)."""
    if os.name != "posix" or len(real.parts) < 2 or real.parts[1] not in _KERNEL:
        return False
    return real.parts[1:3] != _MEMORY
