"""Safe opening of input files: the only module that opens a file named by the user, or found in such a folder.

Only regular files are opened: a pipe could block, and a device or a kernel file (``/proc``) has no end. Links that lead
out of a folder are not followed. A few kilobytes can expand to any size, so the amount read is limited; the error names
the limit, and an environment variable raises it, e.g. ``LEVELBEST_MAX_EXPANDED=8GB``.
"""

from __future__ import annotations

import io
import os
import re
import stat
from collections.abc import Iterable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import IO

from levelbest.errors import DataError, InputError

__all__ = ["LimitedStream", "as_size", "bounded_lines", "check_source", "expanded_limit", "is_inside", "kind_of_file"]
__all__ += ["limit_of", "open_file", "read_whole", "refuse_more"]

_SPECIAL_KINDS = (
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
_LIMITS = {"EXPANDED": 2**30, "WHOLE": 2**29, "COLUMNS": 20_000, "FAMILIES": 20_000, "PAIRS": 5_000}
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def kind_of_file(mode: int) -> str | None:
    """What a path is that is no regular file, in words; None of a regular file."""
    return next((kind for test, kind in _SPECIAL_KINDS if test(mode)), None)


def check_source(path: Path) -> None:
    """Refuse what is neither a regular file nor a folder of them, before any reader looks at it."""
    try:
        mode = path.stat().st_mode
        real = path.resolve()
    except (OSError, RuntimeError):
        return  # opening it raises the reason
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


def limit_of(what: str) -> int:
    """The limit of that name: as the environment says, else the default."""
    variable = f"LEVELBEST_MAX_{what}"
    given = os.environ.get(variable, "").strip()
    if not given:
        return _LIMITS[what]
    size = as_size(given)
    if size is None:
        raise InputError(f"{variable} must be a number such as 20000 or 8GB, got {given!r}")
    return size


def as_size(text: str) -> int | None:
    """A number of things or bytes, such as ``20000``, ``4GB`` or ``1.5 GiB`` (a thousand each); None for other text."""
    match = re.fullmatch(r"\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*([KMGT]?)(i?B)?\s*", text, re.IGNORECASE)
    size = int(float(match[1]) * _UNITS[match[2].upper()]) if match else 0
    return size or None


def expanded_limit(share: int = 1) -> int:
    """Bytes that compressed results may take when unpacked; ``share``: of what is held as a whole, a part of them."""
    return limit_of("EXPANDED") // share


def read_whole(stream: IO[bytes], name: str) -> bytes:
    """The rest of a stream, for what must be held in memory as a whole."""
    limit, data = limit_of("WHOLE"), io.BytesIO()
    while piece := stream.read(2**20):
        data.write(piece)
        if data.tell() > limit:
            raise DataError(
                f"{name} holds more than {limit / 2**20:,.0f} MiB, which must be in memory as a whole; save it as CSV, "
                "JSON lines or Parquet, or set LEVELBEST_MAX_WHOLE, e.g. to 4GB"
            )
    return data.getvalue()


def bounded_lines(lines: Iterable[str | bytes]) -> Iterator[str | bytes]:
    """Lines, of a file none longer than is held as a whole."""
    if not isinstance(lines, io.BufferedIOBase | io.RawIOBase):
        yield from lines
        return
    limit = limit_of("WHOLE") // 4
    while line := lines.readline(limit + 1):
        if len(line) > limit:
            raise DataError(f"a line is longer than {limit / 2**20:,.0f} MiB; set LEVELBEST_MAX_WHOLE, e.g. to 4GB")
        yield line


def refuse_more(count: int, what: str, source: str) -> None:
    """Refuse a table with more columns or families than anybody looks at."""
    limit = limit_of(what.upper())
    if count > limit:
        raise DataError(
            f"{source} has {count:,} {what}, and at most {limit:,} are read; choose some, or set LEVELBEST_MAX_"
            f"{what.upper()}"
        )


class LimitedStream(io.RawIOBase):
    """A decompressed stream that ends in our error where it goes past a limit."""

    def __init__(self, stream: IO[bytes], name: str, limit: int) -> None:
        self._stream, self._name, self._limit = stream, name, limit
        self._count = 0

    def readable(self) -> bool:
        """It is for reading."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """The next bytes."""
        data = self._stream.read(len(buffer))
        self._count += len(data)
        if self._count > self._limit:
            raise DataError(
                f"{self._name} unpacks to more than {self._limit / 2**20:,.0f} MiB; unpack it yourself, or set "
                "LEVELBEST_MAX_EXPANDED, e.g. to 8GB"
            )
        buffer[: len(data)] = data
        return len(data)
