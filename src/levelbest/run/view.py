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
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from levelbest._check import FloatArray
from levelbest.errors import InputError
from levelbest.run.ledger import connect_to_read, logs_folder
from levelbest.run.records import FINAL

__all__ = ["End", "FamilyView", "LedgerView"]


class End(NamedTuple):
    """How a trial ended for good."""

    status: str
    attempt: int
    body: dict[str, Any]
    """scores, reason (where it failed), wall, cpu, cost, log, log_bytes, steps."""

    @property
    def scores(self) -> dict[str, float | None]:
        """Scores by name; None where one is not finite."""
        found: dict[str, float | None] = self.body["scores"]
        return found


@dataclass
class FamilyView:
    """One family of a ledger, as far as it is."""

    number: int
    name: str
    definition: Mapping[str, Any]
    n_planned: int = 0
    n_planned_first: int = 0
    """The plan before the first result: a schedule of looks must not follow what was seen."""
    ends: dict[int, End] = field(default_factory=dict)
    """Trial -> its final end."""
    running: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Trial -> (attempt, started at, microseconds since 1970)."""
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
        found = values[:count]
        found.flags.writeable = False
        return found

    def extremes(self, column: str) -> tuple[float, float]:
        """The smallest and the largest score of all finished trials; infinite, the wrong way round, without any."""
        least, most, known = self._extremes.get(column, (np.inf, -np.inf, 0))
        for end in itertools.islice(reversed(self.ends.values()), len(self.ends) - known):
            if end.status == "ok" and (score := end.scores.get(column)) is not None:
                least, most = min(least, score), max(most, score)
        self._extremes[column] = least, most, len(self.ends)
        return least, most

    def costs(self) -> FloatArray:
        """Cost of each trial of the finished prefix."""
        return np.array([self.ends[trial].body["cost"] for trial in range(self.prefix)], dtype=np.float64)

    def failures(self) -> list[tuple[int, End]]:
        """Trials that ended without a score, with their ends (reason, log)."""
        return [(trial, self.ends[trial]) for trial in sorted(self.failed)]


class LedgerView:
    """A read-only view of a ledger that follows it as it grows. It never writes and never imports study code."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._connection = connect_to_read(self.path)
        self._seq = 0
        self.head = ""
        self.study: dict[str, Any] = {}
        self.environment: dict[str, Any] = {}
        self.families: dict[str, FamilyView] = {}
        self.at = 0
        """When the last record was written, microseconds since 1970."""
        self.session_done = 0
        """Trials that ended for good in the last session."""
        self.session: dict[str, Any] = {}
        """The last session: process, engine, workers, ``stopped`` where it ended on purpose."""
        self._by_number: dict[int, FamilyView] = {}
        self.refresh()

    @property
    def n_records(self) -> int:
        """Records seen so far."""
        return self._seq

    @property
    def finished(self) -> bool:
        """Whether every planned trial has ended for good."""
        return all(one.n_finished >= one.n_planned for one in self.families.values())

    def refresh(self) -> int:
        """Read what is new; how many records there were."""
        # A hundred thousand new dicts make the garbage collector look through all of them again and again, for nothing.
        collecting = gc.isenabled()
        gc.disable()
        try:
            return self._refresh()
        finally:
            if collecting:
                gc.enable()

    def _refresh(self) -> int:
        # Bodies of start records (configurations) are the bulk of a ledger and are read where someone asks for one.
        rows = self._connection.execute(
            "SELECT seq, at, kind, family, trial, attempt, status, CASE kind WHEN 'start' THEN NULL ELSE body END "
            "FROM records WHERE seq > ? ORDER BY seq",
            (self._seq,),
        ).fetchall()
        if not rows:
            return 0
        bodies = iter(json.loads(f"[{','.join([row[7] for row in rows if row[7] is not None])}]"))
        families = self._by_number
        for seq, at, kind, number, trial, attempt, status, body in rows:
            if body is None:
                family = families[number]
                family.running[trial] = (attempt, at)
                family.starts[trial] = seq
            elif kind != "end":
                self._other(kind, number, at, next(bodies))
            else:
                family = families[number]
                content = next(bodies)
                family.running.pop(trial, None)
                if status in FINAL:
                    family.finish(trial, End(status, attempt, content))
                    self.session_done += 1
                elif status == "lost":
                    family.n_lost += 1
        self._seq, self.at = rows[-1][:2]
        self.head = self._connection.execute("SELECT hash FROM records WHERE seq = ?", (self._seq,)).fetchone()[0]
        return len(rows)

    def _other(self, kind: str, number: int | None, at: int, content: dict[str, Any]) -> None:
        if kind == "study":
            self.study = content
        elif kind == "environment":
            self.environment |= content
        elif kind == "session":
            self.session, self.session_done = content | {"at": at}, 0
        elif kind == "stop":
            self.session["stopped"] = content["reason"]
        elif kind == "family" and number is not None:
            one = FamilyView(number, content["name"], content["definition"])
            self.families[one.name] = self._by_number[number] = one
        elif kind == "plan" and number is not None:
            one = self._by_number[number]
            one.n_planned = content["n_trials"]
            one.n_planned_first = one.n_planned_first or one.n_planned

    def configuration(self, family: str, trial: int) -> tuple[dict[str, Any], int]:
        """Configuration and seed of a trial that has started."""
        seq = self._family(family).starts.get(trial)
        if seq is None:
            raise InputError(f"trial {trial} of {family} has not started")
        body = json.loads(self._connection.execute("SELECT body FROM records WHERE seq = ?", (seq,)).fetchone()[0])
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
