"""One runner per ledger: the second is refused, with the first one's process named.

There are two locks: one on the ledger's name, in the folder of its logs, taken before the ledger is created; and one on
the file itself, on a byte that SQLite never reads, so that another name of the same file (a hard link) does not bypass
it.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path

from levelbest.errors import DataError, InputError
from levelbest.run.ledger import logs_folder
from levelbest.run.objective import BROKEN, NO_ROOM

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_BYTE = 0x40000000 + 1024
"""In the page that SQLite leaves unused because its own locks are on the first 512 bytes of it."""
_PAUSE = 0.02
"""Seconds between two tries."""
_held: set[Path] = set()


def check_platform() -> None:
    """Refuse where trials cannot be run: what else levelbest does works there all the same."""
    if fcntl is None or not hasattr(os, "fork"):
        raise InputError(
            "trials are run on Linux and macOS; on Windows use its Linux subsystem (WSL). Everything else works here: "
            "reading, comparing and reporting, verify and serve"
        )


@contextlib.contextmanager
def hold_ledger(path: Path, *, patience: float = 0.0) -> Iterator[None]:
    """Hold a ledger for writing, by its name. The hold ends with the process, however it dies.

    ``patience`` is how many seconds to wait for the holder.

    A record lock, because the kernel drops it with its process and forked workers do not inherit it. Such a lock does
    not keep one process from itself, so the ledgers held here are remembered as well.
    """
    folder = logs_folder(path.resolve())
    name = folder / "runner.lock"
    until = time.monotonic() + patience
    while name in _held and time.monotonic() < until:
        time.sleep(_PAUSE)
    if name in _held:
        raise DataError(f"{path.name} is already being run by this process; wait for it to end")
    try:
        folder.mkdir(exist_ok=True)
        handle = os.open(name, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        kind = DataError if error.errno in BROKEN | NO_ROOM else InputError
        raise kind(
            f"the folder {folder.name} beside the ledger cannot be made or written: {error.strerror}; logs are kept "
            "there, so choose a folder that exists and can be written"
        ) from error
    try:
        try:
            _lock(handle, until)
        except (BlockingIOError, PermissionError) as error:
            raise _taken(path, _named(handle)) from error
        except OSError as error:
            raise DataError(f"{path.name} cannot be held for writing: {error.strerror}") from error
        _held.add(name)
        try:
            os.ftruncate(handle, 0)
            who = {"process": os.getpid(), "host": socket.gethostname(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}
            os.pwrite(handle, json.dumps(who).encode(), 0)
        except OSError as error:
            raise DataError(f"the folder {folder.name} cannot be written: {error.strerror}") from error
        yield
    finally:
        _held.discard(name)
        os.close(handle)


def _lock(handle: int, until: float) -> None:
    """Take the lock; where another process has it, try again until then."""
    while True:
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except (BlockingIOError, PermissionError):
            if time.monotonic() >= until:
                raise
            time.sleep(_PAUSE)


@contextlib.contextmanager
def hold_file(path: Path) -> Iterator[None]:
    """Hold the file of a ledger, whatever it is called (Linux).

    Entered before SQLite opens it and left after: to close a file drops the record locks that its process has on it,
    SQLite's too. This lock is of another kind: it belongs to the open file, which workers let go of.
    """
    kind = getattr(fcntl, "F_OFD_SETLK", None)
    if kind is None:
        yield
        return
    try:
        handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        kind_of_error = DataError if error.errno in BROKEN | NO_ROOM else InputError
        raise kind_of_error(f"the ledger {path.name} cannot be opened for writing: {error.strerror}") from error
    try:
        try:
            fcntl.fcntl(handle, kind, struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, _BYTE, 1, 0))
        except BlockingIOError as error:
            raise _taken(path, "a runner that knows it by another name") from error
        except OSError:
            pass  # a file system without locks: its name is held all the same
        yield
    finally:
        os.close(handle)


def _taken(path: Path, whom: str) -> DataError:
    return DataError(f"{path.name} is already being run by {whom}; wait for it to end, or stop it there")


def _named(handle: int) -> str:
    try:
        who = json.loads(os.pread(handle, 10_000, 0))
        where = "" if who["host"] == socket.gethostname() else f" on {who['host']}"
        return f"process {who['process']}{where}, since {who['since']}"
    except (ValueError, KeyError, OSError):
        return "another process"
