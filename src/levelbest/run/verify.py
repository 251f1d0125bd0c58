"""Checks a ledger: nothing deleted or edited, and every configuration as its plan draws it."""

from __future__ import annotations

import contextlib
import hashlib
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from levelbest._ledger.chain import Chain, Counts
from levelbest._ledger.file import connect_to_read, one_line
from levelbest._ledger.records import Body, LedgerRecord
from levelbest._read import open_file
from levelbest.errors import DataError, InputError, LevelbestError, named
from levelbest.results import LoopState
from levelbest.run.ledger import logs_folder
from levelbest.run.loop import state_of

_MOST = 20
"""Problems listed; what follows a broken record is seldom news."""


@dataclass(frozen=True)
class Verification:
    """The result of checking a ledger."""

    ledger: str
    head: str
    """The hash of the last record. Published, it fixes everything before it."""
    n_records: int
    families: tuple[Counts, ...]
    problems: tuple[str, ...]
    grown: int | None = None
    """Records added since the head that was asked for; None where none was."""
    log_absent: bool = False
    """Whether its runner did not close it and the log with its latest records (``-wal``) is not beside it."""
    n_logs_absent: int = 0
    """Logs of trials that are in the chain by their hash, and not beside the ledger."""
    headline: int | None = None
    """The budget registered before the first trial, where one was."""
    judged: tuple[str | None, str | None] = (None, None)
    """The scores that it is of: the one that selects, and the one that is reported."""
    grown_plans: tuple[tuple[str, int, int], ...] = ()
    """Families whose plan grew after their first trial: how many trials were planned at first, and are now."""
    loop: LoopState | None = None
    """The state of a loop's ledger, whose answers were recomputed from its runs."""

    @property
    def whole(self) -> bool:
        """Whether nothing is missing, edited or out of place."""
        return not self.problems

    @property
    def not_known(self) -> tuple[str, ...]:
        """What the file alone cannot tell, one sentence each."""
        sentences = []
        if self.grown is None:
            sentences.append(
                "Whether records were cut off at its end, or the whole ledger was rewritten, can only be checked with "
                f"a head that was published earlier ({named('head')})."
            )
        elif self.grown:
            sentences.append(
                f"The given head does not cover the {self.grown} records since: they follow the plan, and only "
                "whoever ran them knows whether they were run."
            )
        if self.log_absent:
            sentences.append(
                f"Its runner did not close it, and there is no {self.ledger}-wal beside it: if this is a copy, the "
                "latest records may have been left behind."
            )
        if self.n_logs_absent:
            count = "one log of the ledger's is" if self.n_logs_absent == 1 else f"{self.n_logs_absent} logs are"
            sentences.append(f"What trials printed is not all here: {count} not beside it.")
        return tuple(sentences)

    def __str__(self) -> str:
        if self.problems:
            return "\n".join([f"{self.ledger} is NOT intact:", *(f"  {problem}" for problem in self.problems)])
        parts = [
            f"{name}: {finished} of {planned} trials finished{f', {failed} failed' if failed else ''}"
            for name, planned, finished, failed in self.families
        ]
        if self.loop is not None:
            parts = [str(self.loop).splitlines()[0].rstrip(".")]
        since = "" if self.grown is None else f" It contains the given head and {self.grown} records since."
        return "\n".join(
            [
                f"{self.ledger} is intact: {self.n_records} records, none deleted or edited. "
                f"{'; '.join(parts)}.{since}",
                *self._registered,
                *self.not_known,
                f"head {self.head}",
            ]
        )

    @property
    def _registered(self) -> list[str]:
        """What was fixed before the first trial, and what was changed after it."""
        if self.loop is not None:  # its plans grow by its rule
            return ["Every answer follows from the runs before it, by the rule that was fixed with the first."]
        if self.headline is None:
            sentences = ["No headline budget was registered."]
        else:
            scores = " and ".join(dict.fromkeys(name for name in self.judged if name is not None))
            families = ", ".join(counts.family for counts in self.families)
            sentences = [
                f"Its headline, the best of {self.headline}{f' by {scores}' if scores else ''}, was registered before "
                f"the first trial for all trials of {families}: for fewer trials or families, with failures dropped, "
                "or for a statistic other than the mean, it does not count as registered."
            ]
        for name, first, now in self.grown_plans:
            sentences.append(f"The plan of {name} grew from {first} to {now} trials after its first trial.")
        return sentences

    def to_dict(self) -> dict[str, object]:
        """The form that ``--json`` prints."""
        document: dict[str, object] = {
            "ledger": self.ledger,
            "whole": self.whole,
            "head": self.head,
            "records": self.n_records,
            "families": [counts._asdict() for counts in self.families],
            "problems": list(self.problems),
            "not_known": list(self.not_known),
            "grown": self.grown,
            "headline": self.headline,
            "headline_scores": list(self.judged) if self.headline is not None else None,
            "grown_plans": [dict(zip(("family", "first", "now"), row, strict=True)) for row in self.grown_plans],
        }
        return document if self.loop is None else document | {"loop": self.loop.to_dict()}


def verify_ledger(path: str | Path, head: str | None = None) -> Verification:
    """Check every record of a ledger against its hash, its place and its plan; no study code is run.

    Parameters
    ----------
    path
        The ledger.
    head
        A hash that was published earlier, or at least its first 32 digits: the ledger must still contain it. This
        detects records cut off at the end and a rewritten ledger. Fewer digits could be matched by trial and error.

    Returns
    -------
    Verification
        Whether it is whole, what is wrong where it is not, and what the file alone cannot tell (``not_known``).

    Notes
    -----
    In a writable file, hashes reveal an edit, a deletion or a swap unless they are recomputed. Recomputing all of them
    makes another ledger, which only a published head distinguishes from the original.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import levelbest as lb
    >>> ledger = Path(tempfile.mkdtemp()) / "study.db"
    >>> space = {"x": {"uniform": [0, 1]}}
    >>> done = lb.run_trials(lambda config, seed: config["x"], space, n_trials=2, ledger=ledger, progress=False)
    >>> verify_ledger(ledger, done.head).whole
    True
    """
    path = Path(path)
    wanted = (head or "").strip().lower()
    if head is not None and re.fullmatch("[0-9a-f]{32,64}", wanted) is None:
        raise InputError(f"a head is the 64 digits that verify prints, or at least the first 32 of them, got {head!r}")
    has_log = path.with_name(path.name + "-wal").exists()
    check = _Check(wanted)
    with contextlib.closing(connect_to_read(path)) as connection:
        try:
            check.follow_to_the_end(connection)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            check.complain(f"it cannot be read after record {check.seq}: {one_line(error)}")
        follows_log = connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    n_logs_absent = check.logs(logs_folder(path))
    loop = None
    if "loop" in check.study and not check.problems:
        try:
            loop = state_of(check)
        except DataError as error:
            check.complain(str(error))
    if wanted and check.wanted_at is None:
        check.complain(f"the head {wanted} is not in it: records were deleted or rewritten, or this is another ledger")
    grown = None if check.wanted_at is None else check.seq - check.wanted_at
    problems, log_absent = tuple(check.problems), follows_log and not has_log
    return Verification(
        ledger=path.name,
        head=check.head,
        n_records=check.n_records,
        families=check.counts,
        problems=problems,
        grown=grown,
        log_absent=log_absent,
        n_logs_absent=n_logs_absent,
        headline=check.study.get("headline"),
        judged=check.judged,
        grown_plans=tuple(
            (family.name, family.n_planned_first, family.n_planned)
            for family in check.families.values()
            if family.n_planned > family.n_planned_first
        ),
        loop=loop,
    )


class _Check(Chain):
    """One pass over the file that lists what a reader would stop at, and looks for a head."""

    def __init__(self, wanted: str) -> None:
        super().__init__(self._list)
        self.problems: list[str] = []
        self.n_records = 0
        self._wanted = wanted
        self.wanted_at: int | None = None
        """The record whose hash is the head asked for."""

    def _list(self, sentence: str) -> None:
        if len(self.problems) <= _MOST:
            self.problems.append(sentence if len(self.problems) < _MOST else "and more")

    def take(self, row: Sequence[object]) -> tuple[LedgerRecord, Body] | None:
        """The next record; whether it is the head that was asked for."""
        self.n_records += 1
        taken = super().take(row)
        if self._wanted and self.head.startswith(self._wanted):
            self.wanted_at = self.seq
        return taken

    @property
    def judged(self) -> tuple[str | None, str | None]:
        """The scores that select and that are reported, as far as the study says."""
        metric = self.study.get("metric", {})
        return metric.get("selection"), metric.get("reported")

    def logs(self, folder: Path) -> int:
        """Compare the logs in a folder with their hashes in the chain; how many are not there."""
        absent = 0
        for family in self.families.values():
            for trial, end in family.ends.items():
                if end.log and end.log_hash:
                    try:
                        with open_file(folder / end.log, within=folder) as file:
                            same = hashlib.file_digest(file, "sha256").hexdigest() == end.log_hash
                    except FileNotFoundError:
                        absent += 1
                        continue
                    except (OSError, LevelbestError):
                        same = False
                    if not same:
                        self.complain(f"the log of {family.name} trial {trial} is not the one that was written")
        return absent
