"""The ledger: one SQLite file that only grows, one record when a trial starts and one when it ends.

A commit is on disk when ``append`` returns: write-ahead log, ``synchronous=FULL``. After a power failure the log
contains only whole commits, so a truncated ledger is still valid.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from levelbest._ledger.chain import Chain, Reason, refuse
from levelbest._ledger.file import CREATE, RECORD_COLUMNS, connect, one_line, schema_problems, where
from levelbest._ledger.records import LedgerRecord, chain_hash
from levelbest._write import to_disk
from levelbest.errors import DataError, InputError
from levelbest.run.objective import BROKEN, NO_ROOM


class CannotWrite(DataError):
    """The ledger could not be written; nothing of the batch is in it."""


@dataclass(frozen=True)
class Entry:
    """A record before it has its place in the chain."""

    kind: str
    body: Mapping[str, object]
    family: int | None = None
    trial: int | None = None
    attempt: int | None = None
    status: str | None = None


class Ledger:
    """A ledger opened by the one runner that writes it. ``Ledger.create`` makes one, ``Ledger(path)`` goes on.

    What is not whole is not written to: the chain is followed first, and says what the ledger holds.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.chain = Chain(refuse(path.name), draws=False)
        try:
            self._connection = connect(path, "rw")
            try:
                self._open()
            except BaseException:
                self._connection.close()
                raise
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise CannotWrite(f"the ledger {path.name} cannot be opened for writing: {one_line(error)}") from error

    def _open(self) -> None:
        ask = self._connection.execute
        self._check_schema()
        self.chain.follow_to_the_end(self._connection)
        if ask("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
            # A file system without shared memory: a rollback journal is as safe, and readers wait for writers.
            ask("PRAGMA journal_mode = DELETE")
        ask("PRAGMA synchronous = FULL")
        ask("PRAGMA fullfsync = ON")  # macOS needs it to sync to disk; it has no effect elsewhere

    def _check_schema(self) -> None:
        """What levelbest did not make could change what is written."""
        if problems := schema_problems(self._connection):
            raise DataError(f"the ledger {self.path.name} is not written to: {'; '.join(problems.values())}")

    @classmethod
    def create(cls, path: Path, entries: Iterable[Entry]) -> Ledger:
        """A new ledger that begins with these entries; a file that is already there is never touched."""
        beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}.new")  # no other runner's, alive or dead
        try:
            os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666))
        except OSError as error:
            kind = DataError if error.errno in BROKEN | NO_ROOM else InputError
            raise kind(
                f"the ledger {path.name} cannot be made in {where(path)}: {error.strerror}; choose a folder that "
                "exists and can be written"
            ) from error
        try:
            connection = sqlite3.connect(beside, isolation_level=None)
            with contextlib.closing(connection):
                connection.execute("PRAGMA synchronous = FULL")
                connection.executescript(CREATE)
                connection.execute("BEGIN")
                connection.executemany(_INSERT, list(_chained(entries, 0, "")))
                connection.execute("COMMIT")
            try:
                os.link(beside, path)
            except FileExistsError:
                raise InputError(f"{path.name} is already there and is not overwritten") from None
            except OSError:  # a file system without hard links
                if path.exists():
                    raise InputError(f"{path.name} is already there and is not overwritten") from None
                os.rename(beside, path)
            with contextlib.suppress(OSError):  # not every file system can do this for its names
                to_disk(path.parent)
        except (sqlite3.Error, OSError) as error:
            raise CannotWrite(f"the ledger {path.name} cannot be written: {error}") from error
        finally:
            with contextlib.suppress(OSError):
                beside.unlink()
        return cls(path)

    def append(self, entries: Iterable[Entry]) -> None:
        """Add entries in one transaction. They are on the disk when this returns, or none of them is in the ledger."""
        rows = list(_chained(entries, self.chain.seq, self.chain.head))
        if not rows:
            return
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._check_schema()
                self._connection.executemany(_INSERT, rows)
                self._connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise CannotWrite(f"the ledger {self.path.name} cannot be written: {error}") from error
        for row in rows:
            self.chain.take(row)

    def close(self) -> None:
        """Fold the log into the file; a ledger at rest is one plain file, unless someone is reading it just now."""
        for pragma in ("busy_timeout = 0", "wal_checkpoint(TRUNCATE)", "journal_mode = DELETE"):
            with contextlib.suppress(sqlite3.Error):  # a log without a record cannot be folded, and need not be
                self._connection.execute(f"PRAGMA {pragma}")
        self._connection.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_INSERT = f"INSERT INTO records ({RECORD_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"


def _chained(entries: Iterable[Entry], seq: int, previous: str) -> Iterator[LedgerRecord]:
    for entry in entries:
        seq += 1
        body = json.dumps(entry.body, allow_nan=False, separators=(",", ":"))
        place = (entry.family, entry.trial, entry.attempt, entry.status)
        at = time.time_ns() // 1000
        previous = chain_hash(previous, seq, at, entry.kind, *place, body)
        yield LedgerRecord(seq, at, entry.kind, *place, body, previous)


def logs_folder(path: Path) -> Path:
    """Where the logs of a ledger's trials are kept: beside it."""
    return path.with_name(path.name + ".logs")


def reason_lines(reasons: Sequence[Reason], most: int = 5) -> list[str]:
    """One line for each of the most frequent reasons; none where nothing failed."""
    lines = [
        f"failed: {count} trial{'s' if count > 1 else ''} of {', '.join(names)}: {reason}"
        for reason, count, names in reasons[:most]
    ]
    if left := sum(count for _, count, _ in reasons[most:]):
        lines.append(f"failed: {left} more, for {len(reasons) - most} other reasons; levelbest serve has all")
    return lines
