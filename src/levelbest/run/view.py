"""Reading a ledger while it grows: what a live page, a progress line and a report need, refreshed by what is new.

view = LedgerView("study.db")
while True:
    view.refresh()                       # reads the records since the last time only
    for family in view.families.values():
        family.n_finished, family.n_failed, family.prefix, family.scores("dev_acc")
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from levelbest._check import FloatArray
from levelbest.errors import InputError
from levelbest.run.ledger import connect_to_read, logs_folder
from levelbest.run.records import FINAL

__all__ = ["FamilyView", "LedgerView"]


@dataclass
class FamilyView:
    """One family of a ledger, as far as it is."""

    number: int
    name: str
    definition: Mapping[str, Any]
    n_planned: int = 0
    n_planned_first: int = 0
    """The plan before the first result: a schedule of looks must not follow what was seen."""
    ends: dict[int, dict[str, Any]] = field(default_factory=dict)
    """Trial -> its final end: status, scores, reason, wall, cpu, cost, log, attempt."""
    running: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Trial -> (attempt, started at, microseconds since 1970)."""
    starts: dict[int, int] = field(default_factory=dict)
    """Trial -> the record of its last start."""
    n_lost: int = 0
    """Attempts that the infrastructure lost; their trials run again."""
    n_failed: int = 0
    _prefix: int = 0

    @property
    def n_finished(self) -> int:
        """Trials that ended for good, failed ones included."""
        return len(self.ends)

    @property
    def prefix(self) -> int:
        """How many trials from the first on are finished. Only these are a fair sample while the study runs.

        Trials that happen to finish early are short ones; the plan's order knows nothing of how long they take.
        """
        while self._prefix in self.ends:
            self._prefix += 1
        return self._prefix

    def scores(self, column: str, upto: int | None = None) -> FloatArray:
        """Scores of the finished prefix of the plan (or of its first ``upto`` trials); NaN for a failed trial."""
        count = self.prefix if upto is None else min(upto, self.prefix)
        found = np.full(count, np.nan)
        for trial in range(count):
            end = self.ends[trial]
            value = end["scores"].get(column) if end["status"] == "ok" else None
            if value is not None:
                found[trial] = value
        return found

    def costs(self) -> FloatArray:
        """Cost of each trial of the finished prefix."""
        return np.array([self.ends[trial]["cost"] for trial in range(self.prefix)], dtype=np.float64)

    def failures(self) -> list[tuple[int, dict[str, Any]]]:
        """Trials that ended without a score, with their ends (reason, log)."""
        return [(trial, end) for trial, end in sorted(self.ends.items()) if end["status"] != "ok"]


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
        # Bodies of start records (configurations) are the bulk of a ledger and are read where someone asks for one.
        rows = self._connection.execute(
            "SELECT seq, at, kind, family, trial, attempt, status, CASE kind WHEN 'start' THEN NULL ELSE body END "
            "FROM records WHERE seq > ? ORDER BY seq",
            (self._seq,),
        ).fetchall()
        bodies = iter(json.loads(f"[{','.join(row[7] for row in rows if row[7] is not None)}]"))
        for seq, at, kind, number, trial, attempt, status, body in rows:
            content: dict[str, Any] = {} if body is None else next(bodies)
            if kind == "start":
                self._by_number[number].running[trial] = (attempt, at)
                self._by_number[number].starts[trial] = seq
            elif kind == "end":
                self._end(self._by_number[number], trial, attempt, status, content)
            else:
                self._other(kind, number, at, content)
            self._seq = seq
        if rows:
            self.head = self._connection.execute("SELECT hash FROM records WHERE seq = ?", (self._seq,)).fetchone()[0]
        return len(rows)

    def _end(self, family: FamilyView, trial: int, attempt: int, status: str, content: dict[str, Any]) -> None:
        family.running.pop(trial, None)
        if status in FINAL:
            content["status"], content["attempt"] = status, attempt
            family.ends[trial] = content
            family.n_failed += status != "ok"
        elif status == "lost":
            family.n_lost += 1

    def _other(self, kind: str, number: int | None, at: int, content: dict[str, Any]) -> None:
        if kind == "study":
            self.study = content
        elif kind == "environment":
            self.environment |= content
        elif kind == "session":
            self.session = content | {"at": at}
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
        name: str = self._family(family).ends.get(trial, {}).get("log") or ""
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
