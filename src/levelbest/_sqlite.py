"""Opens untrusted SQLite databases such that a small file cannot exhaust memory or time.

This follows SQLite's advice for untrusted files: functions in the schema have no effect, cells are checked, nothing is
memory-mapped, and nothing is written. In addition, the amount read is limited to a multiple of the file size, since
pages that are counted twice and computed columns could expand to any size.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from levelbest._read import kind_of_file
from levelbest.errors import DataError, InputError

__all__ = ["BESIDE", "LONGEST_VALUE", "check_beside", "connect", "limit_work"]

BESIDE = ("-wal", "-shm", "-journal")
"""Endings of the files that SQLite keeps beside a database."""
LONGEST_VALUE = 1 << 26
"""Bytes of one value that are read at most: a record holds a trial's scores, not its weights."""
_STEPS, _STEPS_A_BYTE = 20_000_000, 200
_BYTES, _TIMES = 1 << 26, 8
# NOTE: a row takes at least two bytes on the disk and some ten steps of SQLite's machine; sorting, joining and reading
# a table more than once multiply both by a small number. Real databases stay a hundred times below.
_OFTEN = 100_000


def connect(path: Path, how: str, *, timeout: float = 5.0) -> sqlite3.Connection:
    """A connection with which a database made elsewhere can do no harm; ``how``: SQLite's own words, e.g. ``mode=ro``.

    It may be used by any thread, one at a time.
    """
    check_beside(path)
    address = f"{path.resolve().as_uri()}?{how}"
    connection = sqlite3.connect(address, uri=True, isolation_level=None, timeout=timeout, check_same_thread=False)
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        if (defensive := getattr(sqlite3, "SQLITE_DBCONFIG_DEFENSIVE", None)) is not None:
            connection.setconfig(defensive, True)  # type: ignore[attr-defined,unused-ignore]  # from Python 3.12 on
        for setting in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0"):
            connection.execute(f"PRAGMA {setting}")
        if "mode=rw" not in how:
            connection.execute("PRAGMA query_only = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def limit_work(connection: sqlite3.Connection, size: int, name: str) -> None:
    """End what takes more steps, or gives more bytes, than a database of this size can hold."""
    steps_left = _STEPS + _STEPS_A_BYTE * size
    bytes_left = max(_BYTES, _TIMES * size)

    def worked() -> int:
        nonlocal steps_left
        steps_left -= _OFTEN
        return steps_left < 0

    def counted(_: sqlite3.Cursor, row: tuple[object, ...]) -> tuple[object, ...]:
        nonlocal bytes_left
        for cell in row:
            if isinstance(cell, str | bytes):
                bytes_left -= len(cell)
        if bytes_left < 0:
            raise DataError(f"{name} holds more than its size allows: it is damaged, or made to take up memory")
        return row

    connection.set_progress_handler(worked, _OFTEN)
    connection.row_factory = counted


def check_beside(path: Path) -> None:
    """Refuse a database beside which something lies that SQLite would wait for, or follow elsewhere."""
    for ending in BESIDE:
        beside = path.with_name(path.name + ending)
        try:
            kind = kind_of_file(beside.lstat().st_mode)
        except OSError:
            continue
        if kind is not None:
            raise InputError(f"{path.name} is not read: {beside.name} beside it is {kind}; SQLite keeps a file there")
