"""What a ledger is made of: records in a chain, each with the hash of the one before.

    kind          family  trial  attempt  status   body
    study           -       -       -       -      name, seed, metric, cost, levelbest's version
    environment     -       -       -       -      code version, packages, machine; again where a later session differs
    family          f       -       -       -      name, definition, fingerprint
    plan            f       -       -       -      n_trials; again where the plan is extended
    session         -       -       -       -      process, engine, workers, command
    start           f       t       a       -      configuration and seed
    end             f       t       a      s       scores, reason, wall and CPU seconds, cost, log
    stop            -       -       -       -      why the session ended

The hash of a record is SHA-256 over the previous hash, a line feed, and the JSON list of its other fields.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, NamedTuple

__all__ = ["AGAIN", "APPLICATION_ID", "FINAL", "SCHEMA", "Record", "chain_hash", "describe"]

APPLICATION_ID = 0x6C626C67
"""SQLite's mark for the kind of file: 'lblg'."""
SCHEMA = 1
FINAL = ("ok", "failed", "diverged")
"""How a trial can be finished; it never runs again."""
AGAIN = ("lost", "interrupted")
"""How an attempt can end that says nothing about the trial: the same configuration and seed run again."""

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


class Record(NamedTuple):
    """One row of a ledger."""

    seq: int
    at: int
    kind: str
    family: int | None
    trial: int | None
    attempt: int | None
    status: str | None
    body: str
    hash: str

    @property
    def content(self) -> Any:
        """The body, read from JSON."""
        return json.loads(self.body)


def chain_hash(
    previous: str,
    seq: int,
    at: int,
    kind: str,
    family: int | None,
    trial: int | None,
    attempt: int | None,
    status: str | None,
    body: str,
) -> str:
    """The hash of a record that follows one whose hash is ``previous`` (empty for the first)."""
    fields = json.dumps([seq, at, kind, family, trial, attempt, status, body])
    return hashlib.sha256(f"{previous}\n{fields}".encode()).hexdigest()


def describe(record: Record, names: dict[int, str]) -> str:
    """A record as a person would point at it."""
    if record.trial is not None and record.family is not None:
        again = f", attempt {record.attempt}" if (record.attempt or 1) > 1 else ""
        return f"record {record.seq} ({record.kind} of {names.get(record.family, '?')} trial {record.trial}{again})"
    return f"record {record.seq} ({record.kind})"
