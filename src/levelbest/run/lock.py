"""One runner per ledger: the second is refused, with the first one's process named."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

from levelbest.errors import DataError, InputError
from levelbest.run.ledger import logs_folder

__all__ = ["hold_ledger"]

_held: set[Path] = set()


@contextlib.contextmanager
def hold_ledger(path: Path) -> Iterator[None]:
    """Hold a ledger for writing. The hold ends with the process, however it dies.

    A record lock, because the kernel drops it with its process and forked workers do not inherit it. Such a lock does
    not keep one process from itself, so the ledgers held here are remembered as well.
    """
    try:
        import fcntl
    except ImportError:
        raise InputError("trials are run on Linux and macOS; on Windows use the Linux subsystem") from None
    folder = logs_folder(path.resolve())
    name = folder / "runner.lock"
    if name in _held:
        raise DataError(f"{path.name} is already being run by this process; wait for it to end")
    try:
        folder.mkdir(exist_ok=True)
        handle = os.open(name, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise InputError(
            f"the folder {folder.name} beside the ledger cannot be made or written: {error.strerror}; logs are kept "
            "there, so choose a folder that exists and can be written"
        ) from error
    try:
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise DataError(
                f"{path.name} is already being run by {_named(handle)}; wait for it to end, or stop it there"
            ) from error
        _held.add(name)
        try:
            os.ftruncate(handle, 0)
            who = {"process": os.getpid(), "host": socket.gethostname(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}
            os.pwrite(handle, json.dumps(who).encode(), 0)
        except OSError as error:
            raise InputError(f"the folder {folder.name} cannot be written: {error.strerror}") from error
        yield
    finally:
        _held.discard(name)
        os.close(handle)


def _named(handle: int) -> str:
    try:
        who = json.loads(os.pread(handle, 10_000, 0))
        where = "" if who["host"] == socket.gethostname() else f" on {who['host']}"
        return f"process {who['process']}{where}, since {who['since']}"
    except (ValueError, KeyError, OSError):
        return "another process"
