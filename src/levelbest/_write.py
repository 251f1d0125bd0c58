"""Atomic writing of files: the only module that writes a file named by the user.

An existing file is replaced only if it is a regular file. A device, a pipe or a link is refused: as root, a rename over
``/dev/null`` would remove it for everyone. New content is written to a temporary file in the same folder, synced to
disk, and renamed, so that a full disk, a kill or a power failure leaves the old file unchanged.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

from levelbest._read import kind_of_file
from levelbest.errors import DataError, InputError

_REMEDIES = {"a link": "name the file that it points to", "a folder": "name a file in it"}
_CLOSE_ON_EXEC = getattr(os, "O_CLOEXEC", 0)
"""Windows has neither this nor the other two below; its files are not inherited."""
_TEXT_AS_IT_IS = getattr(os, "O_BINARY", 0)


def check_target(path: str | Path) -> Path:
    """The path, if it is that of a regular file or a free name in a folder that is there; raises where it is not.

    For a command that computes long before it writes.
    """
    path = Path(path)
    with _one_line(path):
        try:
            mode = path.lstat().st_mode
        except FileNotFoundError:
            if not path.parent.exists():
                raise InputError(f"{path} cannot be written: there is no folder {path.parent}; make it first") from None
            mode = None
        except NotADirectoryError:
            raise InputError(f"{path} cannot be written: {path.parent} is not a folder") from None
        if mode is not None and (kind := kind_of_file(mode)) is not None:
            raise InputError(f"{path} is {kind} and is left as it is; {_REMEDIES.get(kind, 'name a file')}")
        if mode is not None and not os.access(path, os.W_OK):
            raise DataError(f"{path} is read-only and is left as it is; give another name")
        if not os.access(path.parent, os.W_OK | os.X_OK):
            raise DataError(f"{path} cannot be written: the folder {path.parent} is read-only; choose another")
    return path


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A fresh file beside ``path``, empty and open to this user; after the block it takes the name ``path``.

    Where the block raises, the fresh file goes and ``path`` is as it was. An ``OSError``, the block's own included,
    becomes a ``DataError`` of one line.
    """
    path = check_target(path)
    fresh = path.with_name(f".levelbest-{secrets.token_hex(8)}.part")  # as short for a name of any length
    with _one_line(path):
        try:
            os.close(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _CLOSE_ON_EXEC, 0o666))
            with contextlib.suppress(FileNotFoundError):
                fresh.chmod(stat.S_IMODE(path.lstat().st_mode))
            yield fresh
            to_disk(fresh)  # a disk that is full may say so only now
            check_target(path)
            os.replace(fresh, path)
        finally:
            with contextlib.suppress(OSError):
                fresh.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # the content is safe; not every file system can do this for its names
            to_disk(path.parent)


def write_bytes(path: str | Path, content: bytes) -> Path:
    """Write a file, whole or not at all; returns its path."""
    with replacing(path) as fresh:
        fresh.write_bytes(content)
    return Path(path)


def write_text(path: str | Path, text: str) -> Path:
    """Write a text as UTF-8 with the line ends that it has, whole or not at all; returns its path."""
    return write_bytes(path, text.encode("utf-8", "surrogatepass"))


def append_text(path: str | Path, text: str) -> None:
    """Add a text to the end of a file, made where it is absent; where it does not fit, the file is as it was."""
    path = check_target(path)
    with _one_line(path):
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | _CLOSE_ON_EXEC | _TEXT_AS_IT_IS
        flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        handle = os.open(path, flags, 0o666)
        try:
            size = os.fstat(handle).st_size
            left = memoryview(text.encode())
            try:
                while left:
                    left = left[os.write(handle, left) :]
                os.fsync(handle)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.ftruncate(handle, size)
                raise
        finally:
            os.close(handle)


def make_folder(path: str | Path) -> Path:
    """A folder, made with those above it where they are absent; returns its path."""
    path = Path(path)
    with _one_line(path):
        try:
            path.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise InputError(f"{path} cannot be made a folder: a file of that name exists") from None
    return path


def to_disk(path: Path) -> None:
    """Have the content of a file, or the names in a folder, on the disk before this returns."""
    if os.name == "nt":  # which opens no folder, and brings to the disk only what is open for writing
        if path.is_dir():
            return
        handle = os.open(path, os.O_RDWR | _TEXT_AS_IT_IS)
    else:
        handle = os.open(path, os.O_RDONLY | _CLOSE_ON_EXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def _one_line(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = " ".join(str(error.strerror or error).split())
        raise DataError(f"{path} cannot be written: {reason}") from error
