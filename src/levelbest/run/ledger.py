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

from levelbest._ledger.chain import Chain, Declared, refuse
from levelbest._ledger.file import COLUMNS, CREATE, connect, connect_to_read, one_line, read_rows, schema_problems
from levelbest._ledger.records import FINAL, Record, chain_hash
from levelbest._ledger.shapes import Body, is_record, misshapen, read_body
from levelbest.errors import DataError, InputError

__all__ = [
    "CannotWrite",
    "Entry",
    "Ledger",
    "Progress",
    "Reason",
    "count_reasons",
    "failure_reasons",
    "first_record",
    "logs_folder",
    "read_progress",
    "reason_lines",
]

_IS_OF_TRIAL = "kind IN ('start', 'end')"
_HAS_PLACE = "typeof(family) = 'integer' AND typeof(trial) = 'integer' AND typeof(attempt) = 'integer'"
Reason = tuple[str, int, tuple[str, ...]]
"""Why trials failed (its first line), how many, and of which families."""
_IS_FINAL = "kind = 'end' AND status IN ({})".format(", ".join(f"'{status}'" for status in FINAL))


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
    killed: dict[int, int] = field(default_factory=dict)
    """Trial -> attempts in which the trial itself was killed from outside, for trials that are not finished."""
    marks: dict[int, list[str]] = field(default_factory=dict)
    """Trial -> the marks of its attempts so far, for trials that are not finished."""


class Ledger:
    """A ledger opened by the one runner that writes it. ``Ledger.create`` makes one, ``Ledger(path)`` goes on."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._refuse = refuse(path.name)
        self._chain = Chain(self._refuse)
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
        if problems := schema_problems(self._connection):
            raise DataError(f"the ledger {self.path.name} is not written to: {'; '.join(problems.values())}")
        self._note(ask(f"SELECT {COLUMNS} FROM records WHERE NOT ({_IS_OF_TRIAL}) ORDER BY seq"))
        for (seq,) in ask(f"SELECT seq FROM records WHERE {_IS_OF_TRIAL} AND NOT ({_HAS_PLACE}) LIMIT 1"):
            self._refuse(f"record {seq} has no family, trial and attempt")
        last = ask("SELECT seq, hash FROM records ORDER BY seq DESC LIMIT 1").fetchone()
        if not self._chain.study or not isinstance(last[1], str):
            self._refuse("its first or its last record is missing or damaged")
        self._seq: int = last[0]
        self.head: str = last[1]
        if ask("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
            # A file system without shared memory: a rollback journal is as safe, and readers wait for writers.
            ask("PRAGMA journal_mode = DELETE")
        ask("PRAGMA synchronous = FULL")

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
        self._seq, self.head = rows[-1].seq, rows[-1].hash
        self._note(row for row in rows if row.kind not in ("start", "end"))

    def _note(self, rows: Iterable[Sequence[object]]) -> None:
        """Take down what records other than starts and ends say: these are few."""
        for row in rows:
            if not is_record(row):
                self._refuse(f"record {row[0]} holds bytes, or nothing, where a ledger has text and numbers")
            record, body = Record(*row), read_body(row[7])
            if isinstance(body, str):
                self._refuse(f"record {record.seq} cannot be read: {body}")
            if problem := misshapen(record, body) or self._chain.note(record, body):
                self._refuse(f"{self._chain.pointed_at(record)} {problem}")

    @property
    def study(self) -> Body:
        """The study's own record: what no later session may change."""
        return self._chain.study

    @property
    def environment(self) -> Body:
        """What the study ran on, the latest of each entry."""
        return self._chain.environment

    @property
    def n_sessions(self) -> int:
        """Sessions so far."""
        return self._chain.n_sessions

    @property
    def families(self) -> dict[int, Declared]:
        """The families by number, oldest first: what is declared and planned, not how far they are."""
        return self._chain.families

    def progress(self) -> dict[int, Progress]:
        """What is finished, open and lost, by family number."""
        with _readable(self.path):
            return read_progress(self._connection)

    def counts(self) -> dict[int, tuple[int, int]]:
        """Family number -> trials that ended for good, and how many of these without a score."""
        question = f"SELECT family, count(*), sum(status <> 'ok') FROM records WHERE {_IS_FINAL} GROUP BY family"
        with _readable(self.path):
            return {number: (finished, failed) for number, finished, failed in self._connection.execute(question)}

    def reasons(self) -> list[tuple[int, str]]:
        """Family number and the first line of the reason, of every trial that ended for good without a score."""
        with _readable(self.path):
            return _reasons(self._connection)

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


def _chained(entries: Iterable[Entry], seq: int, previous: str) -> Iterator[Record]:
    for entry in entries:
        seq += 1
        body = json.dumps(entry.body, allow_nan=False, separators=(",", ":"))
        place = (entry.family, entry.trial, entry.attempt, entry.status)
        at = time.time_ns() // 1000
        previous = chain_hash(previous, seq, at, entry.kind, *place, body)
        yield Record(seq, at, entry.kind, *place, body, previous)


def read_progress(connection: sqlite3.Connection) -> dict[int, Progress]:
    """What is finished, open and lost, by family number; of what is finished no body is read."""
    progress: dict[int, Progress] = {}
    ends = connection.execute(f"SELECT family, trial, status FROM records WHERE {_IS_FINAL}")
    for number, trial, status in ends:
        family = progress.get(number) or progress.setdefault(number, Progress())
        family.finished.add(trial)
        family.failed += status != "ok"
    others = connection.execute(
        "SELECT seq, family, trial, attempt, status FROM records "
        f"WHERE {_IS_OF_TRIAL} AND NOT ({_IS_FINAL}) ORDER BY seq"
    )
    for seq, number, trial, attempt, status in others.fetchall():
        family = progress.get(number) or progress.setdefault(number, Progress())
        if trial in family.finished:
            continue
        body = read_body(connection.execute("SELECT body FROM records WHERE seq = ?", (seq,)).fetchone()[0])
        known: Body = {} if isinstance(body, str) else body
        if status is None:
            family.open[trial] = family.attempts[trial] = attempt
            family.marks.setdefault(trial, []).append(str(known.get("mark", "")))
            continue
        family.open.pop(trial, None)
        if status == "lost" and known.get("blame") == "outside":
            family.killed[trial] = family.killed.get(trial, 0) + 1
    return progress


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


def first_record(path: Path) -> Body:
    """The study's own record in a ledger."""
    stop = refuse(path.name)
    with _readable(path), contextlib.closing(connect_to_read(path)) as connection:
        row = next(iter(read_rows(connection)), None)
    taken = stop("there are no records") if row is None else Chain(stop).take(row)
    return taken[1] if taken else {}


def failure_reasons(path: Path) -> tuple[Reason, ...]:
    """Why trials of a ledger failed or diverged: reason, number of trials and families, most frequent first."""
    with _readable(path), contextlib.closing(connect_to_read(path)) as connection:
        chain = Chain(refuse(path.name))
        for row in read_rows(connection):
            chain.take(row)
        return count_reasons(_reasons(connection), {number: family.name for number, family in chain.families.items()})


@contextlib.contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise DataError(f"the ledger {path.name} cannot be read: {one_line(error)}") from error


def count_reasons(reasons: Iterable[tuple[int, str]], names: Mapping[int, str]) -> tuple[Reason, ...]:
    """The same from family numbers with reasons, and the families' names."""
    of: dict[str, list[int]] = {}
    for number, reason in reasons:
        of.setdefault(reason, []).append(number)
    counted = [
        (reason, len(numbers), tuple(names[number] for number in sorted(set(numbers))))
        for reason, numbers in of.items()
    ]
    return tuple(sorted(counted, key=lambda reason: (-reason[1], reason[0])))


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
    ends = connection.execute(f"SELECT family, body FROM records WHERE {_IS_FINAL} AND status <> 'ok' ORDER BY seq")
    return [(family, _first_line(read_body(body))) for family, body in ends]


def _first_line(body: Body | str) -> str:
    reason = "" if isinstance(body, str) else str(body.get("reason", ""))
    lines = reason.strip().splitlines()
    return lines[0] if lines else "no reason was recorded"
