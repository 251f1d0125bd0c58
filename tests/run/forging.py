"""Ledgers changed by hand: with the hashes left as they were, or recomputed so that they match."""

import json
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path

from levelbest._ledger.file import CREATE
from levelbest._ledger.records import chain_hash
from levelbest.run.ledger import Entry

TRIGGERS = [f"CREATE TRIGGER{text}" for text in CREATE.partition("CREATE VIEW")[0].split("CREATE TRIGGER")[1:]]
INSERT = "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"


def damage(path: Path, *statements: str) -> None:
    """Run statements that the triggers would refuse, and leave the schema as it was."""
    connection = sqlite3.connect(path, isolation_level=None)
    for trigger in ("records_are_never_edited", "records_are_never_deleted"):
        connection.execute(f"DROP TRIGGER {trigger}")
    for statement in statements:
        connection.execute(statement)
    for trigger in TRIGGERS:
        connection.execute(trigger)
    connection.close()


def statements(path: Path, *texts: str) -> None:
    """Run statements as they are."""
    connection = sqlite3.connect(path, isolation_level=None)
    for text in texts:
        connection.execute(text)
    connection.close()


def rows_of(path: Path) -> list[list]:
    connection = sqlite3.connect(path)
    rows = [list(row) for row in connection.execute("SELECT * FROM records ORDER BY seq")]
    connection.close()
    return rows


def rewrite(path: Path, change: Callable[[list[list]], list[list]]) -> None:
    """Change rows as asked, and give every row a hash that fits."""
    previous, chained = "", []
    for seq, row in enumerate(change([row[:-1] for row in rows_of(path)]), 1):
        row[0] = seq
        previous = chain_hash(previous, *row)
        chained.append([*row, previous])
    damage(path, "DELETE FROM records", "DELETE FROM sqlite_sequence")
    connection = sqlite3.connect(path)
    connection.executemany(INSERT, chained)
    connection.commit()
    connection.close()


def append(path: Path, entries: Iterable[Entry]) -> None:
    """Add records whose hashes fit, whatever they say: nothing of what is there is touched."""
    *_, last = rows_of(path)
    seq, previous = last[0], last[-1]
    connection = sqlite3.connect(path)
    for entry in entries:
        seq += 1
        place = (entry.family, entry.trial, entry.attempt, entry.status)
        fields = (seq, last[1], entry.kind, *place, json.dumps(entry.body))
        previous = chain_hash(previous, *fields)
        connection.execute(INSERT, (*fields, previous))
    connection.commit()
    connection.close()
