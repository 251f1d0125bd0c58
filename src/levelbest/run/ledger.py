"""The ledger: one SQLite file that only grows, one record when a trial starts and one when it ends.

A commit is on the disk when ``append`` returns: write-ahead log, ``synchronous=FULL``. What a power cut leaves of the
log is whole commits, so a ledger cut short is still a ledger.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from levelbest.errors import DataError, InputError
from levelbest.run.records import APPLICATION_ID, CREATE, FINAL, SCHEMA, Record, chain_hash

__all__ = [
    "CannotWrite",
    "Entry",
    "Ledger",
    "Progress",
    "Reason",
    "connect_to_read",
    "count_reasons",
    "failure_reasons",
    "logs_folder",
    "read_progress",
    "reason_lines",
]

COLUMNS = "seq, at, kind, family, trial, attempt, status, body, hash"
_MANY = ("start", "end")
Reason = tuple[str, int, tuple[str, ...]]
"""Why trials failed (its first line), how many, and of which families."""
_IS_FINAL = "kind = 'end' AND status IN ({})".format(", ".join(f"'{status}'" for status in FINAL))


class CannotWrite(DataError):
    """The ledger could not be written; nothing of the batch is in it."""


@dataclass(frozen=True)
class Entry:
    """A record before it has its place in the chain."""

    kind: str
    body: dict[str, Any]
    family: int | None = None
    trial: int | None = None
    attempt: int | None = None
    status: str | None = None


@dataclass
class Progress:
    """How far a family is: what the loop needs to go on."""

    finished: set[int] = field(default_factory=set)
    """Trials that ended for good; they never run again."""
    failed: int = 0
    """How many of these failed or diverged."""
    open: dict[int, int] = field(default_factory=dict)
    """Trial -> attempt, started and not ended: whoever ran it was killed."""
    attempts: dict[int, int] = field(default_factory=dict)
    """Trial -> number of its last attempt, for trials that are not finished."""
    lost: dict[int, int] = field(default_factory=dict)
    """Trial -> attempts lost to the infrastructure so far, for trials that are not finished."""


class Ledger:
    """A ledger opened by the one runner that writes it. ``Ledger.create`` makes one, ``Ledger(path)`` goes on."""

    def __init__(self, path: Path) -> None:
        self.path = path
        check_ledger(path)
        try:
            self._connection = sqlite3.connect(path, isolation_level=None, timeout=30)
            mode = self._connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            self._connection.execute("PRAGMA synchronous = FULL")
            last = self._connection.execute("SELECT seq, hash FROM records ORDER BY seq DESC LIMIT 1").fetchone()
        except sqlite3.Error as error:
            raise CannotWrite(f"the ledger {path.name} cannot be opened for writing: {error}") from error
        if mode != "wal":
            # A file system without shared memory: a rollback journal is as safe, and readers wait for writers.
            self._connection.execute("PRAGMA journal_mode = DELETE")
        self._seq: int = last[0] if last else 0
        self.head: str = last[1] if last else ""
        self._few: list[Record] | None = None

    @classmethod
    def create(cls, path: Path, entries: Iterable[Entry]) -> Ledger:
        """A new ledger that begins with these entries; a file that is already there is never touched."""
        beside = path.with_name(f".{path.name}.{os.getpid()}.new")
        try:
            os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666))
        except OSError as error:
            raise InputError(
                f"the ledger {path.name} cannot be made in {_folder(path)}: {error.strerror}; choose a folder that "
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
            _sync_folder(path.parent)
        except sqlite3.Error as error:
            raise CannotWrite(f"the ledger {path.name} cannot be written: {error}") from error
        finally:
            with contextlib.suppress(FileNotFoundError):
                beside.unlink()
        return cls(path)

    def append(self, entries: Iterable[Entry]) -> None:
        """Add entries in one transaction. They are on the disk when this returns, or none of them is in the ledger."""
        rows = list(_chained(entries, self._seq, self.head))
        if not rows:
            return
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany(_INSERT, rows)
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise CannotWrite(f"the ledger {self.path.name} cannot be written: {error}") from error
        self._seq, self.head = rows[-1][0], rows[-1][-1]
        if self._few is not None:
            self._few += [Record(*row) for row in rows if row[2] not in _MANY]

    def progress(self) -> dict[int, Progress]:
        """What is finished, open and lost, by family number."""
        return read_progress(self._connection)

    def counts(self) -> dict[int, tuple[int, int]]:
        """Family number -> trials that ended for good, and how many of these without a score."""
        found = self._connection.execute(
            f"SELECT family, count(*), sum(status <> 'ok') FROM records WHERE {_IS_FINAL} GROUP BY family"
        )
        return {family: (finished, failed) for family, finished, failed in found}

    def reasons(self) -> list[tuple[int, str]]:
        """Family number and the first line of the reason, of every trial that ended for good without a score."""
        return _reasons(self._connection)

    def records(self, *kinds: str) -> list[Record]:
        """Records of these kinds, oldest first. All but starts and ends are few, and read once."""
        if not set(kinds).isdisjoint(_MANY):
            marks = ", ".join("?" * len(kinds))
            found = self._connection.execute(
                f"SELECT {COLUMNS} FROM records WHERE kind IN ({marks}) ORDER BY seq", kinds
            )
            return [Record(*row) for row in found]
        if self._few is None:
            found = self._connection.execute(
                f"SELECT {COLUMNS} FROM records WHERE kind NOT IN (?, ?) ORDER BY seq", _MANY
            )
            self._few = [Record(*row) for row in found]
        return [record for record in self._few if record.kind in kinds]

    def close(self) -> None:
        """Fold the log into the file; a ledger at rest is one plain file, unless someone is reading it just now."""
        with contextlib.suppress(sqlite3.Error):
            self._connection.execute("PRAGMA busy_timeout = 0")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._connection.execute("PRAGMA journal_mode = DELETE")
        self._connection.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_INSERT = f"INSERT INTO records ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"


def _chained(entries: Iterable[Entry], seq: int, previous: str) -> Iterator[tuple[Any, ...]]:
    for entry in entries:
        seq += 1
        body = json.dumps(entry.body, allow_nan=False, separators=(",", ":"))
        fields = (
            seq, time.time_ns() // 1000, entry.kind, entry.family, entry.trial, entry.attempt, entry.status, body
        )  # fmt: skip
        previous = chain_hash(previous, *fields)
        yield (*fields, previous)


def read_progress(connection: sqlite3.Connection) -> dict[int, Progress]:
    """What is finished, open and lost, by family number; no body is read, and little is done for what is finished."""
    found: dict[int, Progress] = {}
    ends = connection.execute(f"SELECT family, trial, status FROM records WHERE {_IS_FINAL}")
    for family, trial, status in ends:
        one = found.get(family) or found.setdefault(family, Progress())
        one.finished.add(trial)
        one.failed += status != "ok"
    others = connection.execute(
        "SELECT family, trial, attempt, status FROM records "
        f"WHERE kind IN ('start', 'end') AND NOT ({_IS_FINAL}) ORDER BY seq"
    )
    for family, trial, attempt, status in others:
        one = found.get(family) or found.setdefault(family, Progress())
        if trial in one.finished:
            continue
        if status is None:
            one.open[trial] = one.attempts[trial] = attempt
            continue
        one.open.pop(trial, None)
        if status == "lost":
            one.lost[trial] = one.lost.get(trial, 0) + 1
    return found


def check_ledger(path: Path) -> None:
    """Whether this file is a ledger that this version reads; a sentence where it is not."""
    try:
        with path.open("rb") as file:
            header = file.read(100)
    except FileNotFoundError:
        raise InputError(f"there is no ledger {path.name} in {_folder(path)}") from None
    except OSError as error:
        raise InputError(f"the ledger {path.name} cannot be read: {error.strerror}") from error
    mark, version = int.from_bytes(header[68:72], "big"), int.from_bytes(header[60:64], "big")
    if not header.startswith(b"SQLite format 3\0") or mark != APPLICATION_ID:
        raise InputError(f"{path.name} is not a ledger of levelbest, and is left as it is; choose another name")
    if version > SCHEMA:
        raise DataError(
            f"{path.name} was written by a newer levelbest (ledger version {version}; this one knows up to {SCHEMA}): "
            "upgrade levelbest to go on with it"
        )


def connect_to_read(path: Path) -> sqlite3.Connection:
    """A connection that cannot write; works beside a running writer and in a folder that is read-only."""
    check_ledger(path)
    address = f"file:{quote(str(path.resolve()))}?mode=ro"
    try:
        connection = sqlite3.connect(address, uri=True, isolation_level=None, timeout=30, check_same_thread=False)
        try:
            connection.execute("SELECT 1 FROM records LIMIT 1")
        except sqlite3.OperationalError:
            connection.close()
            log = path.with_name(path.name + "-wal")
            if log.exists() and log.stat().st_size:
                raise
            # No log to follow and nowhere to make one: the file alone is the whole ledger.
            connection = sqlite3.connect(
                f"{address}&immutable=1", uri=True, isolation_level=None, check_same_thread=False
            )
            connection.execute("SELECT 1 FROM records LIMIT 1")
    except sqlite3.Error as error:
        raise DataError(f"the ledger {path.name} cannot be read: {error}") from error
    return connection


def logs_folder(path: Path) -> Path:
    """Where the logs of a ledger's trials are kept: beside it."""
    return path.with_name(path.name + ".logs")


def _folder(path: Path) -> str:
    return "this folder" if path.parent == Path() else f"the folder {path.parent}"


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def failure_reasons(path: Path) -> tuple[Reason, ...]:
    """Why trials of a ledger failed or diverged: reason, number of trials and families, most frequent first."""
    with contextlib.closing(connect_to_read(path)) as connection:
        rows = connection.execute("SELECT family, body FROM records WHERE kind = 'family' ORDER BY seq")
        names = {number: json.loads(body)["name"] for number, body in rows}
        return count_reasons(_reasons(connection), names)


def count_reasons(reasons: Iterable[tuple[int, str]], names: Mapping[int, str]) -> tuple[Reason, ...]:
    """The same from family numbers with reasons, and the families' names."""
    of: dict[str, list[int]] = {}
    for number, reason in reasons:
        of.setdefault(reason, []).append(number)
    found = ((reason, len(each), tuple(names[one] for one in sorted(set(each)))) for reason, each in of.items())
    return tuple(sorted(found, key=lambda one: (-one[1], one[0])))


def reason_lines(reasons: Sequence[Reason], most: int = 5) -> list[str]:
    """One line for each of the most frequent reasons; none where nothing failed."""
    lines = [
        f"failed: {count} trial{'s' if count > 1 else ''} of {', '.join(names)}: {reason}"
        for reason, count, names in reasons[:most]
    ]
    if left := sum(count for _, count, _ in reasons[most:]):
        lines.append(f"failed: {left} more, for {len(reasons) - most} other reasons; levelbest serve has all")
    return lines


def _reasons(connection: sqlite3.Connection) -> list[tuple[int, str]]:
    found = connection.execute(f"SELECT family, body FROM records WHERE {_IS_FINAL} AND status <> 'ok' ORDER BY seq")
    return [(family, _first_line(json.loads(body).get("reason"))) for family, body in found]


def _first_line(reason: str | None) -> str:
    lines = (reason or "").strip().splitlines()
    return lines[0] if lines else "no reason was recorded"
