"""The ledger's SQLite file: its schema, and connections that treat its content as untrusted."""

from __future__ import annotations

import contextlib
import sqlite3
import stat
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from levelbest import _sqlite
from levelbest.errors import DataError, InputError

APPLICATION_ID = 0x6C626C67
"""SQLite's mark for the kind of file: 'lblg'."""
SCHEMA = 1
RECORD_COLUMNS = "seq, at, kind, family, trial, attempt, status, body, hash"

CREATE = f"""
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA};
CREATE TABLE records (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,      -- microseconds since 1970, UTC
    kind TEXT NOT NULL,
    family INTEGER,
    trial INTEGER,
    attempt INTEGER,
    status TEXT,
    body TEXT NOT NULL,       -- JSON
    hash TEXT NOT NULL
);
CREATE TRIGGER records_are_never_edited BEFORE UPDATE ON records
    BEGIN SELECT RAISE(ABORT, 'a ledger is append-only: records are never edited'); END;
CREATE TRIGGER records_are_never_deleted BEFORE DELETE ON records
    BEGIN SELECT RAISE(ABORT, 'a ledger is append-only: records are never deleted'); END;
CREATE VIEW trials AS
    SELECT f.body ->> 'name' AS family, e.trial AS trial, e.status AS status,
           s.body -> 'config' AS config, s.body ->> 'seed' AS seed, e.body -> 'scores' AS scores,
           e.body ->> 'wall' AS wall, e.body ->> 'cpu' AS cpu, e.body ->> 'cost' AS cost,
           e.body ->> 'reason' AS reason
    FROM records e
    JOIN records s ON s.kind = 'start' AND s.family = e.family AND s.trial = e.trial AND s.attempt = e.attempt
    JOIN records f ON f.kind = 'family' AND f.family = e.family
    WHERE e.kind = 'end' AND e.status IN ('ok', 'failed', 'diverged');
"""
_OBJECTS = """SELECT CAST(type AS TEXT), CAST(name AS BLOB), CAST(tbl_name AS BLOB), CAST(sql AS BLOB)
              FROM sqlite_schema ORDER BY 2, 1, 3, 4"""
"""All of them, SQLite's own too: a trigger may call itself sqlite_something."""
RecordRows = Iterator[tuple[object, ...]]


def check_file(connection: sqlite3.Connection, name: str) -> None:
    """Whether this file is a ledger that this version reads; a sentence where it is not.

    Asked of SQLite, not of the file: to close a second handle of a file drops the locks that a writer in the same
    process holds on it.
    """
    try:
        mark = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        mark, version = 0, 0
    if mark != APPLICATION_ID:
        raise InputError(f"{name} is not a ledger of levelbest, and is left as it is; choose another name")
    if version > SCHEMA:
        raise DataError(
            f"{name} was written by a newer levelbest (ledger version {version}; this one knows up to {SCHEMA}): "
            "upgrade levelbest to go on with it"
        )


def schema_problems(connection: sqlite3.Connection) -> dict[str, str]:
    """What is not in the file as levelbest made it, byte for byte: the object's name and what is wrong with it."""
    objects = connection.execute(_OBJECTS).fetchall()
    if objects == _made():
        return {}
    made = {name: (kind, *rest) for kind, name, *rest in _made()}
    there: dict[bytes, tuple[object, ...]] = {}
    problems = {}
    for kind, name, *rest in objects:
        name = name or b""
        if name in there:
            shown = name.decode("utf-8", "replace")[:60]
            problems[shown] = f"it holds two objects of the name {shown}"
        there[name] = (kind, *rest)
    for name in dict.fromkeys([*made, *there]):
        shown = name.decode("utf-8", "replace")[:60]
        if name not in there:
            problems[shown] = f"its {made[name][0]} {shown} is missing"
        elif name not in made:
            problems[shown] = f"it holds the {there[name][0]} {shown}, which levelbest did not make"
        elif there[name] != made[name]:
            problems.setdefault(shown, f"its {made[name][0]} {shown} is not the one that levelbest made")
    return problems


@lru_cache(maxsize=1)
def _made() -> list[tuple[str, bytes, bytes, bytes]]:
    model = sqlite3.connect(":memory:")
    model.executescript(CREATE)
    objects = model.execute(_OBJECTS).fetchall()
    model.close()
    return objects


def damage(connection: sqlite3.Connection) -> list[str]:
    """What SQLite finds wrong with its own file; one sentence at most."""
    answers = [str(answer) for (answer,) in connection.execute("PRAGMA integrity_check(1)")]
    return [f"the file is damaged: {' '.join(answer.split())[:200]}" for answer in answers if answer != "ok"]


def count_problem(connection: sqlite3.Connection, seq: int) -> str | None:
    """Whether the file itself counts more records than there are up to ``seq``, the last; None where it does not."""
    last = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'records'").fetchone()
    gone = last[0] - seq if last and isinstance(last[0], int) else 0
    if gone > 0:
        return f"the last {'record is' if gone == 1 else f'{gone} records are'} missing: deleted"
    if not last or gone < 0:
        return "its count of records was reset: records may have been deleted from its end"
    return None


@contextlib.contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """Within, a file is read as it was at one moment, whatever its runner writes meanwhile."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("COMMIT")


def read_rows(connection: sqlite3.Connection, after: int | None = None) -> RecordRows:
    """The rows (after a place), oldest first, as they are: no cell need be what it should."""
    later = "" if after is None else f"WHERE seq > {after}"
    return connection.execute(f"SELECT {RECORD_COLUMNS} FROM records {later} ORDER BY seq")


def where(path: Path) -> str:
    """The folder of a file, in words."""
    return "this folder" if path.parent == Path() else f"the folder {path.parent}"


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """A connection to a ledger that is there, checked; ``mode`` is SQLite's: ``ro``, ``rw``, or ``ro&immutable=1``.

    Its table of records is a table (a view could be made to run forever), and functions in the schema have no
    effect outside.
    """
    try:
        kind = path.stat().st_mode
    except FileNotFoundError:
        raise InputError(f"there is no ledger {path.name} in {where(path)}") from None
    except OSError as error:
        raise InputError(f"the ledger {path.name} cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(kind):
        raise InputError(f"{path.name} is not a ledger of levelbest, and is left as it is; choose another name")
    try:
        return _checked(path, mode)
    except InputError:
        # NOTE: an error of the machine as the log is looked for hides it, and the mark that is still in it: a file is
        # foreign only where a second look says so.
        return _checked(path, mode)


def _checked(path: Path, mode: str) -> sqlite3.Connection:
    connection = _sqlite.connect(path, f"mode={mode}", timeout=30)
    try:
        check_file(connection, path.name)
        if problem := schema_problems(connection).get("records"):
            raise DataError(f"the ledger {path.name} cannot be read: {problem}")
        connection.execute("SELECT seq FROM records LIMIT 1")
    except BaseException:
        connection.close()
        raise
    return connection


def connect_to_read(path: Path) -> sqlite3.Connection:
    """A connection that cannot write; works beside a running writer and in a folder that is read-only."""
    try:
        try:
            return connect(path, "ro")
        except sqlite3.OperationalError:
            log = path.with_name(path.name + "-wal")
            if log.exists() and log.stat().st_size:
                raise
            # No log to follow and nowhere to make one: the file alone is the whole ledger.
            return connect(path, "ro&immutable=1")
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise DataError(f"the ledger {path.name} cannot be read: {one_line(error)}") from error


def one_line(error: BaseException) -> str:
    """What an error says, as a short line; SQLite may quote what it cannot read."""
    return "".join(letter if letter.isprintable() else " " for letter in str(error))[:200]
