"""Checks a ledger record by record: each must match the hash of the previous one and be valid in its place.

Code that shows a ledger's head checks the chain first, so that a head is never shown with scores that do not match it:
``verify`` lists all problems; the runner, the reader and the live page stop at the first.
"""

from __future__ import annotations

import itertools
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn, cast

import numpy as np

from levelbest._check import FloatArray
from levelbest._ledger.file import count_problem, damage, read_rows, schema_problems, snapshot
from levelbest._ledger.plan import Plan
from levelbest._ledger.records import (
    AGAIN,
    FINAL,
    Body,
    DecisionBody,
    Definition,
    EndBody,
    LedgerRecord,
    StudyBody,
    chain_hash,
    is_record,
    misshapen,
    read_body,
)
from levelbest.errors import DataError

Reason = tuple[str, int, tuple[str, ...]]
"""Why trials failed (its first line), how many, and of which families."""


class Counts(NamedTuple):
    """How far a family is."""

    family: str
    n_planned: int
    n_trials: int
    """Finished, failed ones included."""
    n_failed: int
    """Of these, how many failed or diverged."""


class End(NamedTuple):
    """How a trial ended for good."""

    status: str
    scores: dict[str, float | None]
    """By name; None where one is not finite."""
    wall: float = 0.0
    cpu: float = 0.0
    cost: float | None = None
    reason: str | None = None
    log: str | None = None
    log_hash: str | None = None
    """SHA-256 of the log as it was written."""


@dataclass
class LedgerFamily:
    """A family of a ledger, as far as the chain was followed."""

    number: int
    name: str
    declared: str
    """Its name in the study file; another than ``name`` where a changed family was given a new one."""
    definition: Definition
    fingerprint: str
    n_planned: int = 0
    n_planned_first: int = 0
    """The plan before the first result: a schedule of looks must not follow what was seen."""
    ends: dict[int, End] = field(default_factory=dict)
    """Trial -> how it ended for good; it never runs again."""
    failed: list[int] = field(default_factory=list)
    """Trials that ended for good without a score, in the order of their ends."""
    starts: dict[int, int] = field(default_factory=dict)
    """Trial -> the record of its last start."""
    open: set[int] = field(default_factory=set)
    """Trials whose last attempt has not ended; if no runner is active, the last one was killed."""
    attempts: dict[int, int] = field(default_factory=dict)
    """Trial -> its last attempt, of trials that are not finished; so are the next two."""
    killed: dict[int, int] = field(default_factory=dict)
    """Trial -> attempts in which the trial itself was killed from outside."""
    marks: dict[int, list[str]] = field(default_factory=dict)
    """Trial -> the marks of its attempts so far."""
    decisions: list[DecisionBody] = field(default_factory=list)
    """What a loop answered of it, oldest first; none in a study."""
    n_lost: int = 0
    """Attempts that the infrastructure lost; their trials run again."""
    _prefix: int = 0
    _scores: dict[str, tuple[FloatArray, int]] = field(default_factory=dict)
    _extremes: dict[str, tuple[float, float, int]] = field(default_factory=dict)

    @property
    def counts(self) -> Counts:
        """How far it is."""
        return Counts(self.name, self.n_planned, len(self.ends), len(self.failed))

    @property
    def prefix(self) -> int:
        """How many trials from the first on are finished. Only these are a fair sample while the study runs.

        Trials that happen to finish early are short ones; the plan's order knows nothing of how long they take.
        """
        while self._prefix in self.ends:
            self._prefix += 1
        return self._prefix

    def scores(self, column: str) -> FloatArray:
        """Scores of the finished prefix of the plan, not to be written to; NaN for a failed trial.

        Kept from one call to the next: an end is never edited, so only what is new is looked at.
        """
        count = self.prefix
        values, known = self._scores.get(column, (np.empty(0), 0))
        if count > values.size:
            values = np.concatenate([values[:known], np.empty(max(count, 2 * known) - known)])
        for trial in range(known, count):
            end = self.ends[trial]
            score = end.scores.get(column) if end.status == "ok" else None
            values[trial] = np.nan if score is None else score
        self._scores[column] = values, count
        prefix_scores = values[:count]
        prefix_scores.flags.writeable = False
        return prefix_scores

    def extremes(self, column: str) -> tuple[float, float]:
        """The smallest and the largest score of all finished trials; infinite, the wrong way round, without any."""
        least, most, known = self._extremes.get(column, (np.inf, -np.inf, 0))
        for end in itertools.islice(reversed(self.ends.values()), len(self.ends) - known):
            if end.status == "ok" and (score := end.scores.get(column)) is not None:
                least, most = min(least, score), max(most, score)
        self._extremes[column] = least, most, len(self.ends)
        return least, most

    def finish(self, trial: int, end: End) -> None:
        """A trial ended for good."""
        self.ends[trial] = end
        if end.status != "ok":
            self.failed.append(trial)
        for of_the_unfinished in (self.attempts, self.killed, self.marks):
            of_the_unfinished.pop(trial, None)

    def note(self, record: LedgerRecord, body: Body) -> str | None:
        """Take down a plan, a decision, a start or an end of this family, or say why it cannot stand here."""
        if record.kind == "plan":
            n_trials = cast(int, body["n_trials"])
            if n_trials < self.n_planned:
                return f"plans {n_trials} trials where {self.n_planned} were planned: a plan can grow and not shrink"
            self.n_planned, self.n_planned_first = n_trials, self.n_planned_first if self.starts else n_trials
            return None
        if record.kind == "decision":
            return self._decide(cast(DecisionBody, body))
        return self._begin(record, body) if record.kind == "start" else self._end(record, body)

    def _decide(self, body: DecisionBody) -> str | None:
        if self.decisions and self.decisions[-1]["answer"] != "again":
            return "decides of a candidate that is decided already"
        if body["n_runs"] != len(self.ends):
            return f"is of {body['n_runs']} runs where there are {len(self.ends)}"
        p_value, level = body["p_value"], body["level"]
        if p_value is not None and level is not None and (p_value <= level) != (body["answer"] == "keep"):
            return "does not follow from its p-value and its level"
        self.decisions.append(body)
        return None

    def _begin(self, record: LedgerRecord, body: Body) -> str | None:
        trial, made = record.trial or 0, self.attempts.get(record.trial or 0, 0)
        if trial in self.ends:
            return "starts a trial that is already finished"
        if trial in self.open:
            return "starts a trial that is already open"
        if trial >= self.n_planned:
            return f"is beyond the plan of {self.n_planned} trials"
        if record.attempt != made + 1:
            return f"is not the next attempt: {made} were made"
        self.open.add(trial)
        self.starts[trial] = record.seq
        self.attempts[trial] = record.attempt
        self.marks.setdefault(trial, []).append(str(body.get("mark", "")))
        return None

    def _end(self, record: LedgerRecord, body: Body) -> str | None:
        trial, status = record.trial or 0, record.status or ""
        if trial in self.ends:
            return "finishes a trial that is already finished"
        if trial not in self.open or self.attempts[trial] != record.attempt:
            return "ends an attempt that did not start"
        if status not in FINAL and status not in AGAIN:
            return f"has the unknown status {_shown(status)!r}"
        self.open.discard(trial)
        self.n_lost += status == "lost"
        if status in FINAL:
            end = cast(EndBody, body)
            about = end.get("reason"), end.get("log"), end.get("log_hash")
            self.finish(trial, End(status, end["scores"], end["wall"], end["cpu"], end["cost"], *about))
        elif body.get("blame") == "outside":
            self.killed[trial] = self.killed.get(trial, 0) + 1
        return None


class Chain:
    """The state of a ledger after the records it was given; ``complain`` is called for each that is out of place.

    ``draws``: whether every configuration is drawn again, which takes most of the time; a runner that goes on draws
    those that it runs, and whoever shows or reports what it ran checks all.
    """

    def __init__(self, complain: Callable[[str], None], *, draws: bool = True) -> None:
        self.complain = complain
        self.seq = 0
        self.head = ""
        """The hash of the last record."""
        self.at = 0
        """When it was written, microseconds since 1970."""
        self.study = cast(StudyBody, {})
        """The study's own record; empty before the first."""
        self.environment: Body = {}
        """The latest of each entry."""
        self.n_sessions = 0
        self.session: Body = {}
        """The last session: process, engine, workers, ``stopped`` where it ended on purpose."""
        self.session_at = 0
        """When it began."""
        self.session_done = 0
        """Trials that ended for good in it."""
        self.families: dict[int, LedgerFamily] = {}
        self.runs: list[tuple[int, int]] = []
        """Of a loop: family and trial of every run, in the order in which they were recorded."""
        self._plan = Plan(draws=draws)

    @property
    def finished(self) -> bool:
        """Whether every planned trial has ended for good."""
        latest = {
            family.declared: family for family in self.families.values()
        }  # one that begins again is not waited for
        return all(len(family.ends) >= family.n_planned for family in latest.values())

    @property
    def counts(self) -> tuple[Counts, ...]:
        """How far each family is."""
        return tuple(family.counts for family in self.families.values())

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Why trials failed or diverged: reason, number of trials and families, most frequent first."""
        of: dict[str, Counter[str]] = {}
        for family in self.families.values():
            for trial in family.failed:
                lines = (family.ends[trial].reason or "").strip().splitlines()
                of.setdefault(lines[0] if lines else "no reason was recorded", Counter())[family.name] += 1
        reasons = [(reason, counts.total(), tuple(counts)) for reason, counts in of.items()]
        return tuple(sorted(reasons, key=lambda reason: (-reason[1], reason[0])))

    def take(self, row: Sequence[object]) -> tuple[LedgerRecord, Body] | None:
        """The next record with its body; None, after a complaint, where it cannot stand where it does."""
        if not is_record(row):
            self.complain(f"record {row[0]} holds bytes, or nothing, where a ledger has text and numbers")
            self.seq, self.head = cast(int, row[0]), ""  # SQLite's own key is always a whole number
            return None
        record = LedgerRecord(*row)
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
        self.seq, self.head, self.at = record.seq, record.hash, record.at
        return None if problem or isinstance(body, str) else (record, body)

    def follow(self, connection: sqlite3.Connection) -> Iterator[tuple[LedgerRecord, Body]]:
        """Take what is new in a file, record by record, and check all that its plan and the file itself say of it."""
        with snapshot(connection):
            for problem in schema_problems(connection).values():
                self.complain(problem)
            if not self.seq:
                for problem in damage(connection):
                    self.complain(problem)
            for row in read_rows(connection, self.seq or None):
                if taken := self.take(row):
                    if (unplanned := self._plan.problem(self, *taken)) is not None:
                        self._wrong(taken[0], unplanned)
                    yield taken
            if (miscounted := count_problem(connection, self.seq)) is not None:
                self.complain(miscounted)
        if not self.seq:
            self.complain("there are no records")

    def follow_to_the_end(self, connection: sqlite3.Connection) -> None:
        """Take all that is new in a file; a complaint where there is nothing at all."""
        for _ in self.follow(connection):
            pass

    def _note(self, record: LedgerRecord, body: Body) -> str | None:
        """Take down what a well-shaped record says, or say why it cannot say so here."""
        kind = record.kind
        if (kind == "study") != (record.seq == 1):
            return (
                "is a second record of the study: a ledger has one"
                if kind == "study"
                else "is in the place of the study's record"
            )
        if record.family is not None:
            family = self.families.get(record.family)
            if kind == "family":
                return self._declare(record.family, body)
            if family is None:
                return "is of a family that the ledger does not declare"
            problem = family.note(record, body)
            if problem is None and record.status in FINAL:
                self.session_done += 1
                if "loop" in self.study:
                    self.runs.append((record.family, record.trial or 0))
            return problem
        if kind == "study":
            self.study = cast(StudyBody, body)
        elif kind == "environment":
            self.environment |= body
        elif kind == "session":
            self.n_sessions += 1
            self.session, self.session_at, self.session_done = body, record.at, 0
        elif kind == "stop":
            self.session["stopped"] = body["reason"]
        return None

    def _declare(self, number: int, body: Body) -> str | None:
        name = str(body["name"])
        if number in self.families:
            return f"declares family {number} a second time: it is {_shown(self.families[number].name)} already"
        if any(other.name == name for other in self.families.values()):
            return f"declares a second family of the name {_shown(name)}"
        declared, fingerprint = str(body.get("declared", name)), str(body["fingerprint"])
        self.families[number] = LedgerFamily(number, name, declared, cast(Definition, body["definition"]), fingerprint)
        return None

    def _wrong(self, record: LedgerRecord, sentence: str) -> None:
        """Complain of a record, named as a person would point at it."""
        which = _shown(record.kind)
        if record.trial is not None and record.family is not None:
            name = _shown(self.families[record.family].name) if record.family in self.families else "?"
            again = f", attempt {record.attempt}" if (record.attempt or 1) > 1 else ""
            which = f"{which} of {name} trial {record.trial}{again}"
        self.complain(f"record {record.seq} ({which}) {sentence}")


def refuse(ledger: str) -> Callable[[str], NoReturn]:
    """What a reader does with a chain that is broken: it stops."""

    def stop(sentence: str) -> NoReturn:
        raise DataError(f"{ledger} is not intact, so nothing is read from it: {sentence} (levelbest verify lists all)")

    return stop


def _shown(text: str) -> str:
    """A text from the file as part of a line: whatever it holds, it neither ends the line nor colours it."""
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    return plain if len(plain) <= 60 else f"{plain[:57]}..."
