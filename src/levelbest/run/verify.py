"""Whether a ledger is whole: nothing deleted, nothing edited, every configuration the one its plan drew."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from levelbest.errors import InputError
from levelbest.run.ledger import COLUMNS, connect_to_read
from levelbest.run.records import AGAIN, FINAL, Record, chain_hash, describe
from levelbest.run.space import Space

__all__ = ["Verification", "verify_ledger"]

_MOST = 20
"""Problems listed; what follows a broken record is seldom news."""


@dataclass(frozen=True)
class Verification:
    """What checking a ledger found."""

    ledger: str
    head: str
    """The hash of the last record. Published, it fixes everything before it."""
    n_records: int
    families: tuple[tuple[str, int, int, int], ...]
    """Name, trials planned, finished, and of these failed or diverged."""
    problems: tuple[str, ...]
    grown: int | None = None
    """Records added since the head that was asked for; None where none was."""

    @property
    def whole(self) -> bool:
        """Whether nothing is missing, edited or out of place."""
        return not self.problems

    def __str__(self) -> str:
        if self.problems:
            return "\n".join([f"{self.ledger} is NOT whole:", *(f"  {problem}" for problem in self.problems)])
        parts = [
            f"{name}: {finished} of {planned} trials finished{f', {failed} failed' if failed else ''}"
            for name, planned, finished, failed in self.families
        ]
        since = "" if self.grown is None else f" It holds the head asked for, and {self.grown} records since."
        return (
            f"{self.ledger} is whole: {self.n_records} records, none deleted or edited. {'; '.join(parts)}.{since}\n"
            f"head {self.head}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The form that ``--json`` prints."""
        names = ("family", "n_planned", "n_trials", "n_failed")
        return {
            "ledger": self.ledger,
            "whole": self.whole,
            "head": self.head,
            "records": self.n_records,
            "families": [dict(zip(names, one, strict=True)) for one in self.families],
            "problems": list(self.problems),
            "grown": self.grown,
        }


def verify_ledger(path: str | Path, head: str | None = None) -> Verification:
    """Check every record of a ledger against its hash, its place and its plan; no study code is run.

    With ``head``, a hash that was published earlier, check also that the ledger still holds it: that is what shows
    records cut off at the end.
    """
    path = Path(path)
    if head is not None and len(head.strip()) < 8:
        raise InputError(f"a head is the 64 digits that verify prints, or at least the first 8 of them, got {head!r}")
    check = _Check(wanted=head.strip().lower() if head else None)
    connection = connect_to_read(path)
    try:
        for (found,) in connection.execute("PRAGMA quick_check(1)"):
            if found != "ok":
                check.problem(f"the file is damaged: {found}")
        for row in connection.execute(f"SELECT {COLUMNS} FROM records ORDER BY seq"):
            check.take(Record(*row))
        most = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'records'").fetchone()
        check.end(most[0] if most else 0)
    except sqlite3.Error as error:
        check.problem(f"the file is damaged: {error}")
    finally:
        connection.close()
    return check.result(path.name)


@dataclass
class _Family:
    name: str
    space: Space | None = None
    seed: int = 0
    seeds: int = 1
    planned: int = 0
    finished: dict[int, str] = field(default_factory=dict)
    open: dict[int, int] = field(default_factory=dict)


@dataclass
class _Check:
    wanted: str | None
    previous: str = ""
    seq: int = 0
    count: int = 0
    seed: int = 0
    wanted_at: int | None = None
    families: dict[int, _Family] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def wrong(self, record: Record, sentence: str) -> None:
        """A problem with one record, as a person would point at it."""
        self.problem(f"{describe(record, {number: one.name for number, one in self.families.items()})} {sentence}")

    def problem(self, sentence: str) -> None:
        if len(self.problems) < _MOST:
            self.problems.append(sentence)
        elif len(self.problems) == _MOST:
            self.problems.append("and more")

    def take(self, record: Record) -> None:
        self.count += 1
        missing = record.seq - self.seq - 1
        if missing > 0:
            which = f"record {self.seq + 1}" if missing == 1 else f"records {self.seq + 1} to {record.seq - 1}"
            self.problem(f"{which} {'is' if missing == 1 else 'are'} missing: deleted")
        elif chain_hash(self.previous, *record[:-1]) != record.hash:
            self.wrong(record, "does not match its hash: it, or the record before it, was edited")
        self.seq, self.previous = record.seq, record.hash
        if self.wanted and record.hash.startswith(self.wanted):
            self.wanted_at = record.seq
        try:
            self.read(record)
        except (ValueError, KeyError, TypeError, InputError) as error:
            self.wrong(record, f"cannot be read: {error}")

    def read(self, record: Record) -> None:
        if record.seq == 1 and record.kind != "study":
            self.wrong(record, "stands where the study's own record belongs")
        if record.kind == "study":
            self.seed = record.content["seed"]
        if record.family is None:
            return
        if record.kind == "family":
            body = record.content
            definition = body["definition"]
            self.families[record.family] = _Family(
                body["name"], Space(dict(definition["space"])), self.seed, definition["seeds"]
            )
            return
        family = self.families.get(record.family)
        if family is None:
            self.wrong(record, "is of a family that the ledger does not declare")
        elif record.kind == "plan":
            family.planned = record.content["n_trials"]
        elif record.trial is not None and record.attempt is not None:
            (self.start if record.kind == "start" else self.ending)(record, family)

    def start(self, record: Record, family: _Family) -> None:
        trial = int(record.trial or 0)
        if trial in family.finished or trial in family.open:
            self.wrong(record, f"starts a trial that is already {'finished' if trial in family.finished else 'open'}")
        if trial >= family.planned:
            self.wrong(record, f"is beyond the plan of {family.planned} trials")
        family.open[trial] = int(record.attempt or 0)
        if family.space is not None:
            body = record.content
            drawn = family.space.draw(family.seed, int(record.family or 0), trial, family.seeds)
            if drawn != (body["config"], body["seed"]):
                self.wrong(record, "is not the configuration and seed that the plan draws for this trial")

    def ending(self, record: Record, family: _Family) -> None:
        trial = int(record.trial or 0)
        if family.open.pop(trial, None) != record.attempt:
            self.wrong(record, "ends an attempt that did not start")
        if record.status in FINAL:
            if trial in family.finished:
                self.wrong(record, "finishes a trial that is already finished")
            family.finished[trial] = str(record.status)
        elif record.status not in AGAIN:
            self.wrong(record, f"has the unknown status {record.status!r}")

    def end(self, most: int) -> None:
        if self.seq < most:
            gone = most - self.seq
            self.problem(f"the last {'record is' if gone == 1 else f'{gone} records are'} missing: deleted")
        if self.count == 0:
            self.problem("there are no records")
        if self.wanted and self.wanted_at is None:
            self.problem(
                f"the head {self.wanted} is not in it: records were deleted or rewritten, or the ledger is another"
            )

    def result(self, name: str) -> Verification:
        families = tuple(
            (one.name, one.planned, len(one.finished), sum(status != "ok" for status in one.finished.values()))
            for one in self.families.values()
        )
        grown = None if self.wanted_at is None else self.seq - self.wanted_at
        return Verification(name, self.previous, self.count, families, tuple(self.problems), grown)
