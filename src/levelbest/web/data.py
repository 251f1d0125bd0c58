"""What the live page shows, as plain JSON, from a ledger opened read-only. No study code is imported."""

from __future__ import annotations

import json
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from levelbest._ledger.chain import LedgerFamily
from levelbest._plain import plain
from levelbest.designs._protocol import FIRST_SHOWN
from levelbest.errors import DataError, LevelbestError
from levelbest.report.page.data import screen_words, strip_segments
from levelbest.report.page.html import alone
from levelbest.report.page.loops import loop_page
from levelbest.report.view import View
from levelbest.report.words.answers import Answer, Pieces, answer_of
from levelbest.report.words.phrases import capital
from levelbest.report.words.running import DIFFERS, NOTES, TO_COME, answer_so_far, ranges_so_far
from levelbest.results import TRIALS
from levelbest.run.loop import state_of
from levelbest.run.standing import CONFIDENCE, FIRST, LiveStanding
from levelbest.run.study import Judge
from levelbest.run.view import LedgerView
from levelbest.trials.colours import place_hues

MOST_FAILURES = 50
"""The page lists the latest failures; the table of the report has them all."""
LOG_TAIL = 20_000
_AT_ONCE, _AT_REST = 0.2, 0.6
"""CPU seconds of looks that one state may wait for, beside trials and where none run."""


class NotFinished(DataError):
    """The report is asked for before the study is finished."""


@dataclass(frozen=True)
class _Report:
    """The finished study's report, of the ledger with this head: the page, and what it is made from."""

    head: str
    page: str
    view: View


class LiveData:
    """A ledger as the page sees it. Every method may be called from any thread; one works at a time."""

    def __init__(self, path: Path) -> None:
        self._view = LedgerView(path)
        self._lock = threading.Lock()
        metric = self._view.study["metric"]
        low, high = metric["bounds"]
        self._judge = Judge(metric["selection"], metric["reported"], metric["direction"], (low, high))
        self._standing = LiveStanding(self._view, self._judge)
        self._is_loop = "loop" in self._view.study
        self._problem = ""
        self._pending = True
        self._latest = b"{}"
        self._report: _Report | None = None
        self._report_lock = threading.Lock()
        self._asked = self._why_not = ""

    @property
    def name(self) -> str:
        """The study's name."""
        return self._view.study["name"]

    @property
    def busy(self) -> bool:
        """Whether trials may be running, for all that the ledger says: they come first."""
        return not (self._view.finished or "stopped" in self._view.session)

    def state(self) -> bytes:
        """The state as JSON; the same object as long as nothing changed. Reads only what is new in the ledger."""
        with self._lock:
            problem, new = self._view.trouble, 0
            try:
                new = self._view.refresh()
            except DataError as error:
                problem = problem or str(error)
            if new or self._pending or problem != self._problem:
                self._problem = problem
                until = time.thread_time() + (_AT_ONCE if self.busy else _AT_REST)
                more = False
                while not self._is_loop and (more := self._standing.step()) and time.thread_time() < until:
                    pass
                self._pending = more
                self._latest = json.dumps(self._state(), allow_nan=False, separators=(",", ":")).encode()
            return self._latest

    def _state(self) -> dict[str, object]:
        view, judge = self._view, self._judge
        hues = place_hues([family.name for family in view.families.values()])
        return {
            "study": self.name,
            "records": view.seq,
            "head": view.head,
            "at": view.at,
            "left": self._left(),
            "finished": view.finished or self._is_loop,
            "session": {key: view.session.get(key) for key in ("engine", "workers", "stopped")},
            "problem": self._problem,
            "score": judge.selection,
            "direction": judge.direction,
            "bounds": judge.bounds,
            "confidence": CONFIDENCE,
            "families": [_family(family, judge) | {"hue": hues[family.name]} for family in view.families.values()],
            "curves": self._standing.curves(),
            "words": screen_words(TRIALS, "95 %") | ({} if view.finished else TO_COME),
            "differs": "" if view.finished else DIFFERS,
            **self._verdict(),
            "note": self._note(),
            "n_failed": sum(len(family.failed) for family in view.families.values()),
            "failures": self._failures(),
        }

    def _left(self) -> str:
        from levelbest.run.progress import time_left

        left = sum(family.n_planned - len(family.ends) for family in self._view.families.values())
        elapsed = (self._view.at - (self._view.session_at or self._view.at)) / 1e6
        return time_left(elapsed, self._view.session_done, left)

    def _verdict(self) -> dict[str, object]:
        """The answer, its ribbon and what stands behind it: of a finished study those of its report."""
        if self._is_loop:
            first, *more = str(state_of(self._view)).splitlines()
            return {"verdict": first, "conditions": " ".join(more), "answer": None, "ribbon": []}
        names = [family.name for family in self._view.families.values()]
        ribbon = self._standing.ribbon()
        answer = answer_so_far(ribbon, names, self._view.study.get("headline") or FIRST_SHOWN)
        shown = {"answer": _pieces(answer, names), "ribbon": ribbon}
        if not self._view.finished:
            return {"verdict": str(answer or ""), "conditions": ranges_so_far(ribbon, names), **shown}
        if self._report is not None and self._report.head == self._view.head:
            return _reported(self._report.view, names)
        if self._asked != self._view.head:
            self._asked = self._view.head
            threading.Thread(target=self._conclude, daemon=True).start()
        made = f"the report cannot be made: {self._why_not}" if self._why_not else "its report is being written"
        finished = f"The study is finished; {made}."
        return {"verdict": str(answer or finished), "conditions": finished if answer else "", **shown}

    def _conclude(self) -> None:
        """Make the report, and show its verdict at the next look."""
        try:
            self.report()
            self._why_not = ""
        except LevelbestError as error:
            self._why_not = str(error).rstrip(".")
        self._pending = True

    def _note(self) -> str:
        if self._is_loop:
            return ""
        code = "pending" if self._pending and self._standing.note != "no-score" else self._standing.note
        return NOTES[code].format(first=FIRST) if code else ""

    def _failures(self) -> list[dict[str, object]]:
        failures: list[dict[str, object]] = []
        for family in self._view.families.values():
            for trial in family.failed[: -MOST_FAILURES - 1 : -1]:
                end = family.ends[trial]
                reason = (end.reason or "")[:500]
                failures.append({"family": family.name, "trial": trial, "status": end.status, "reason": reason})
        return failures

    def trial(self, family: str, trial: int) -> dict[str, object]:
        """One trial: configuration, seed, how it ended, and the end of its log."""
        with self._lock:
            config, seed = self._view.configuration(family, trial)
            end = self._view.family(family).ends.get(trial)
            about: dict[str, object] = plain(
                {
                    "family": family,
                    "trial": trial,
                    "config": config,
                    "seed": seed,
                    "status": end.status if end else "running",
                    "reason": end.reason if end else None,
                    "scores": end.scores if end else {},
                    "wall": end.wall if end else None,
                    "log": self._view.log(family, trial, LOG_TAIL),
                }
            )
        return about

    def report(self) -> str:
        """The finished study's report, as one page; made once for each state of the ledger."""
        from levelbest.readers import read_trials
        from levelbest.report.write import write_report

        with self._lock:
            self._view.refresh()
            finished, head = self._view.finished, self._view.head
            if self._is_loop:
                return loop_page(state_of(self._view), self.name)
        if not finished:
            raise NotFinished(
                "the report is written when every planned trial has ended: its intervals are valid for a number of "
                "trials fixed in advance, not for one chosen by looking at the results"
            )
        with self._report_lock:
            if self._report is None or self._report.head != head:
                with tempfile.TemporaryDirectory() as folder:
                    page = Path(folder) / "report.html"
                    made = write_report(read_trials(self._view.path), page, page_only=True)
                    self._report = _Report(head, page.read_text(encoding="utf-8"), made.view)
            return self._report.page

    def close(self) -> None:
        """Let go of the ledger."""
        with self._lock:
            self._view.close()


def _reported(view: View, names: Sequence[str]) -> dict[str, object]:
    """The verdict of a report, as the live page shows it."""
    first, *more = view.verdict
    strips = view.strips(view.statistics[0])
    answer = None if view.comparison is None else answer_of(view.comparison)
    return {
        "verdict": first,
        "conditions": " ".join(more),
        "answer": _pieces(answer, names),
        "ribbon": strip_segments(strips[0], names) if len(strips) == 1 else [],
    }


def _pieces(answer: Answer | None, names: Sequence[str]) -> dict[str, object] | None:
    """An answer whose pieces have the places of the families they name, or -1."""
    if answer is None or not answer.names:
        return None

    def placed(pieces: Pieces) -> list[tuple[str, int]]:
        return [(piece.text, names.index(piece.text) if piece.is_family else -1) for piece in pieces]

    return {"where": capital(answer.where), "names": placed(answer.names), "rest": placed(alone(answer.rest))}


def _family(family: LedgerFamily, judge: Judge) -> dict[str, object]:
    from levelbest.run.progress import best_so_far

    return {
        "family": family.name,
        "planned": family.n_planned,
        "finished": len(family.ends),
        "running": len(family.open),
        "failed": len(family.failed),
        "lost": family.n_lost,
        "prefix": family.prefix,
        "best": best_so_far(family, judge).removeprefix(f"best {judge.selection} "),
    }
