"""Reading a ledger while it grows: what a live page, a progress line and a report need, refreshed by what is new.

view = LedgerView("study.db")
while True:
    view.refresh()                       # reads the records since the last time only
    for family in view.families.values():
        family.n_finished, family.n_failed, family.prefix, family.scores("dev_acc")
"""

from __future__ import annotations

import gc
import itertools
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np

from levelbest._check import FloatArray
from levelbest._ledger.chain import Chain, refuse
from levelbest._ledger.file import connect_to_read, one_line
from levelbest._ledger.records import FINAL, EndBody, Record, StartBody, StudyBody
from levelbest._ledger.shapes import Body, read_body
from levelbest.errors import DataError, InputError
from levelbest.run.ledger import logs_folder

__all__ = ["End", "FamilyView", "LedgerView"]


class End(NamedTuple):
    """How a trial ended for good."""

    status: str
    body: EndBody

    @property
    def scores(self) -> dict[str, float | None]:
        """Scores by name; None where one is not finite."""
        return self.body["scores"]


@dataclass
class FamilyView:
    """One family of a ledger, as far as it is."""

    name: str
    n_planned: int = 0
    n_planned_first: int = 0
    """The plan before the first result: a schedule of looks must not follow what was seen."""
    ends: dict[int, End] = field(default_factory=dict)
    """Trial -> its final end."""
    running: set[int] = field(default_factory=set)
    """Trials that have started and not ended."""
    starts: dict[int, int] = field(default_factory=dict)
    """Trial -> the record of its last start."""
    n_lost: int = 0
    """Attempts that the infrastructure lost; their trials run again."""
    failed: list[int] = field(default_factory=list)
    """Trials that ended without a score, in the order of their ends."""
    _prefix: int = 0
    _scores: dict[str, tuple[FloatArray, int]] = field(default_factory=dict)
    _extremes: dict[str, tuple[float, float, int]] = field(default_factory=dict)

    def finish(self, trial: int, end: End) -> None:
        """A trial ended for good."""
        self.ends[trial] = end
        if end.status != "ok":
            self.failed.append(trial)

    @property
    def n_finished(self) -> int:
        """Trials that ended for good, failed ones included."""
        return len(self.ends)

    @property
    def n_failed(self) -> int:
        """Of these, how many ended without a score."""
        return len(self.failed)

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


class LedgerView:
    """A read-only view of a ledger that follows it as it grows. It never writes and never imports study code.

    It follows the chain of hashes too: what it shows hashes to its ``head``, and a ledger that is not whole is a
    ``DataError``.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._connection = connect_to_read(self.path)
        self._file = self.path.stat()
        self._chain = Chain(refuse(self.path.name))
        self.families: dict[str, FamilyView] = {}
        self.at = 0
        """When the last record was written, microseconds since 1970."""
        self.session_done = 0
        """Trials that ended for good in the last session."""
        self.session: Body = {}
        """The last session: process, engine, workers, ``stopped`` where it ended on purpose."""
        self.session_at = 0
        """When it began."""
        self._by_number: dict[int, FamilyView] = {}
        try:
            self.refresh()
            if not self._chain.study:
                raise DataError(f"{self.path.name} is not whole, so nothing is read from it: there are no records")
        except BaseException:
            self._connection.close()
            raise

    @property
    def n_records(self) -> int:
        """Records seen so far."""
        return self._chain.seq

    @property
    def head(self) -> str:
        """The hash of the last record seen."""
        return self._chain.head

    @property
    def study(self) -> StudyBody:
        """The study's own record."""
        return cast(StudyBody, self._chain.study)

    @property
    def finished(self) -> bool:
        """Whether every planned trial has ended for good."""
        return all(family.n_finished >= family.n_planned for family in self.families.values())

    @property
    def trouble(self) -> str:
        """Why what is read is no longer what stands under the ledger's name; empty where it is."""
        try:
            now = self.path.stat()
        except OSError:
            return f"The ledger {self.path.name} was deleted or moved: what is shown is its last state."
        if (now.st_dev, now.st_ino) != (self._file.st_dev, self._file.st_ino):
            return f"Another file has taken the name {self.path.name}: what is shown is the last state of the old one."
        return ""

    def refresh(self) -> int:
        """Read what is new; how many records there were."""
        # A hundred thousand new dicts make the garbage collector look through all of them again and again, for nothing.
        collecting = gc.isenabled()
        gc.disable()
        before = self._chain.seq
        try:
            for record, body in self._chain.follow(self._connection):
                self._note(record, body)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise DataError(f"the ledger {self.path.name} cannot be read just now: {one_line(error)}") from error
        finally:
            if collecting:
                gc.enable()
        return self._chain.seq - before

    def _note(self, record: Record, body: Body) -> None:
        self.at = record.at
        if record.family is None:
            if record.kind == "session":
                self.session, self.session_at, self.session_done = body, record.at, 0
            elif record.kind == "stop":
                self.session["stopped"] = body["reason"]
            return
        if record.kind == "family":
            view = FamilyView(self._chain.families[record.family].name)
            self.families[view.name] = self._by_number[record.family] = view
            return
        family, trial = self._by_number[record.family], record.trial or 0
        if record.kind == "start":
            family.running.add(trial)
            family.starts[trial] = record.seq
        elif record.kind == "plan":
            family.n_planned = self._chain.families[record.family].n_planned
            family.n_planned_first = family.n_planned_first or family.n_planned
        else:
            family.running.discard(trial)
            if record.status in FINAL:
                family.finish(trial, End(record.status, cast(EndBody, body)))
                self.session_done += 1
            elif record.status == "lost":
                family.n_lost += 1

    def configuration(self, family: str, trial: int) -> tuple[dict[str, object], int]:
        """Configuration and seed of a trial that has started."""
        seq = self._family(family).starts.get(trial)
        if seq is None:
            raise InputError(f"trial {trial} of {family} has not started")
        (text,) = self._connection.execute("SELECT body FROM records WHERE seq = ?", (seq,)).fetchone()
        body = cast(StartBody, read_body(text))  # the chain was followed past it
        return body["config"], body["seed"]

    def log(self, family: str, trial: int, most: int = 100_000) -> str:
        """The end of a finished trial's log, as text; empty where it printed nothing or the log is gone."""
        end = self._family(family).ends.get(trial)
        name: str = (end.body.get("log") if end else None) or ""
        folder = logs_folder(self.path)
        if not name or ".." in Path(name).parts or Path(name).is_absolute():
            return ""
        try:
            with (folder / name).open("rb") as file:
                file.seek(0, 2)
                file.seek(max(0, file.tell() - most))
                text: bytes = file.read()
                return text.decode("utf-8", "replace")
        except OSError:
            return ""

    def _family(self, name: str) -> FamilyView:
        if name not in self.families:
            raise InputError(f"the ledger has no family {name!r}; it has {', '.join(self.families)}")
        return self.families[name]

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()
