"""Following a ledger record by record: each must hash onto the one before it and say what may stand in its place.

Whoever quotes a ledger's head follows its chain first, so that a head never stands beside scores that do not hash to
it: ``verify`` lists all that is wrong, a reader and the live page stop at the first.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NoReturn, cast

from levelbest._ledger.file import read_rows
from levelbest._ledger.records import AGAIN, FINAL, Record, chain_hash
from levelbest._ledger.shapes import Body, is_record, misshapen, read_body
from levelbest.errors import DataError

__all__ = ["Chain", "Counts", "Declared", "counts_as_dicts", "refuse"]


Counts = tuple[str, int, int, int]
"""Of a family: name, trials planned, finished, and of these failed or diverged."""


@dataclass
class Declared:
    """A family, as far as the chain was followed."""

    number: int
    name: str
    declared: str
    """Its name in the study file; another than ``name`` where a changed family was given a new one."""
    definition: Body
    fingerprint: str
    n_planned: int = 0
    finished: dict[int, str] = field(default_factory=dict)
    """Trial -> how it ended for good; it never runs again."""
    reasons: list[str] = field(default_factory=list)
    """Why trials ended for good without a score, the first line of each."""
    open: set[int] = field(default_factory=set)
    """Trials whose last attempt has not ended: while nobody runs them, whoever did was killed."""
    attempts: dict[int, int] = field(default_factory=dict)
    """Trial -> its last attempt, of trials that are not finished; so are the next two."""
    killed: dict[int, int] = field(default_factory=dict)
    """Trial -> attempts in which the trial itself was killed from outside."""
    marks: dict[int, list[str]] = field(default_factory=dict)
    """Trial -> the marks of its attempts so far."""

    @property
    def counts(self) -> Counts:
        """How far it is."""
        return self.name, self.n_planned, len(self.finished), len(self.reasons)


def counts_as_dicts(families: Iterable[Counts]) -> list[dict[str, object]]:
    """Counts of families in the form that ``--json`` prints."""
    names = ("family", "n_planned", "n_trials", "n_failed")
    return [dict(zip(names, counts, strict=True)) for counts in families]


class Chain:
    """The state of a ledger after the records it was given; ``complain`` is called for each that is out of place."""

    def __init__(self, complain: Callable[[str], None]) -> None:
        self.complain = complain
        self.seq = 0
        self.head = ""
        self.study: Body = {}
        self.environment: Body = {}
        """The latest of each entry."""
        self.n_sessions = 0
        self.families: dict[int, Declared] = {}

    def take(self, row: Sequence[object]) -> tuple[Record, Body] | None:
        """The next record with its body; None, after a complaint, where it cannot stand where it does."""
        if not is_record(row):
            self.complain(f"record {row[0]} holds bytes, or nothing, where a ledger has text and numbers")
            self.seq, self.head = cast(int, row[0]), ""  # SQLite's own key is always a whole number
            return None
        record = Record(*row)
        missing = record.seq - self.seq - 1
        if record.seq < 1:
            self._wrong(record, "has a number below 1: it was put before the ledger's beginning")
        elif missing > 0:
            which = f"record {self.seq + 1} is" if missing == 1 else f"records {self.seq + 1} to {record.seq - 1} are"
            self.complain(f"{which} missing: deleted")
        elif chain_hash(self.head, *record[:-1]) != record.hash:
            self._wrong(record, "does not match its hash: it, or the record before it, was edited")
        body = read_body(record.body)
        problem = f"cannot be read: {body}" if isinstance(body, str) else misshapen(record, body)
        if not isinstance(body, str):
            problem = problem or self._note(record, body)
        if problem:
            self._wrong(record, problem)  # a reader stops here, and its head is that of the record before
        self.seq, self.head = record.seq, record.hash
        return None if problem or isinstance(body, str) else (record, body)

    def follow(self, connection: sqlite3.Connection) -> Iterator[tuple[Record, Body]]:
        """Take what is new in a file, record by record."""
        for row in read_rows(connection, self.seq or None):
            if taken := self.take(row):
                yield taken

    def _note(self, record: Record, body: Body) -> str | None:
        """Take down what a well-shaped record says, or say why it cannot say so here."""
        if (record.kind == "study") != (record.seq == 1):
            return (
                "is a second record of the study: a ledger has one"
                if record.kind == "study"
                else "stands where the study's own record belongs"
            )
        if record.family is None:
            if record.kind == "study":
                self.study = body
            elif record.kind == "environment":
                self.environment |= body
            elif record.kind == "session":
                self.n_sessions += 1
            return None
        family = self.families.get(record.family)
        if record.kind == "family":
            return self._declare(record.family, body)
        if family is None:
            return "is of a family that the ledger does not declare"
        if record.kind == "plan":
            return _extend(family, cast(int, body["n_trials"]))
        return _begin(family, record, body) if record.kind == "start" else _finish(family, record, body)

    def _declare(self, number: int, body: Body) -> str | None:
        name = str(body["name"])
        if number in self.families:
            return f"declares family {number} a second time: it is {_shown(self.families[number].name)} already"
        if any(other.name == name for other in self.families.values()):
            return f"declares a second family of the name {_shown(name)}"
        definition = cast(Body, body["definition"])
        declared, fingerprint = str(body.get("declared", name)), str(body["fingerprint"])
        self.families[number] = Declared(number, name, declared, definition, fingerprint)
        return None

    def _wrong(self, record: Record, sentence: str) -> None:
        self.complain(f"{self.pointed_at(record)} {sentence}")

    def pointed_at(self, record: Record) -> str:
        """A record as a person would point at it."""
        if record.trial is None or record.family is None:
            return f"record {record.seq} ({_shown(record.kind)})"
        name = _shown(self.families[record.family].name) if record.family in self.families else "?"
        again = f", attempt {record.attempt}" if (record.attempt or 1) > 1 else ""
        return f"record {record.seq} ({_shown(record.kind)} of {name} trial {record.trial}{again})"


def refuse(ledger: str) -> Callable[[str], NoReturn]:
    """What a reader does with a chain that is broken: it stops."""

    def stop(sentence: str) -> NoReturn:
        raise DataError(f"{ledger} is not whole, so nothing is read from it: {sentence} (levelbest verify lists all)")

    return stop


def _extend(family: Declared, n_trials: int) -> str | None:
    if n_trials < family.n_planned:
        return f"plans {n_trials} trials where {family.n_planned} were planned: a plan can grow and not shrink"
    family.n_planned = n_trials
    return None


def _begin(family: Declared, record: Record, body: Body) -> str | None:
    trial, attempt = record.trial or 0, record.attempt or 0
    if trial in family.finished:
        return "starts a trial that is already finished"
    if trial in family.open:
        return "starts a trial that is already open"
    if trial >= family.n_planned:
        return f"is beyond the plan of {family.n_planned} trials"
    if attempt != family.attempts.get(trial, 0) + 1:
        return f"is not the next attempt: {family.attempts.get(trial, 0)} were made"
    family.open.add(trial)
    family.attempts[trial] = attempt
    family.marks.setdefault(trial, []).append(str(body.get("mark", "")))
    return None


def _finish(family: Declared, record: Record, body: Body) -> str | None:
    trial = record.trial or 0
    if trial in family.finished:
        return "finishes a trial that is already finished"
    if trial not in family.open or family.attempts[trial] != record.attempt:
        return "ends an attempt that did not start"
    if record.status not in FINAL and record.status not in AGAIN:
        return f"has the unknown status {_shown(record.status or '')!r}"
    family.open.discard(trial)
    if record.status in FINAL:
        family.finished[trial] = record.status or ""
        for of_the_unfinished in (family.attempts, family.killed, family.marks):
            of_the_unfinished.pop(trial, None)
        if record.status != "ok":
            lines = str(body.get("reason", "")).strip().splitlines()
            family.reasons.append(lines[0] if lines else "no reason was recorded")
    elif body.get("blame") == "outside":
        family.killed[trial] = family.killed.get(trial, 0) + 1
    return None


def _shown(text: str) -> str:
    """A text from the file as part of a line: whatever it holds, it neither ends the line nor colours it."""
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    return plain if len(plain) <= 60 else f"{plain[:57]}..."
