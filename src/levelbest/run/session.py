"""One session of a study: the plan is drawn first, and each result is on disk before the worker's next trial."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import math
import os
import re
import secrets
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import NamedTuple

from levelbest._ledger.chain import LedgerFamily
from levelbest._ledger.plan import beyond_bounds
from levelbest._ledger.records import FINAL
from levelbest.errors import DataError, named
from levelbest.run.engines import Engine, cancel_marked
from levelbest.run.ledger import CannotWrite, Entry, Ledger, logs_folder
from levelbest.run.objective import verdict_on
from levelbest.run.processes import MARK, end_marked
from levelbest.run.study import Family, Judge, Study
from levelbest.run.task import Config, Outcome, Task
from levelbest.run.template import Template, as_text

TICK = 0.25
_PATIENCE = 600.0
"""Seconds to wait for room on the disk before giving up; results are kept in memory meanwhile."""

_LONGEST_VARIABLE = 100_000
"""A variable longer than 128 KiB would keep a program from starting (Linux)."""
_MOST_LOST = 20
"""Attempts at one trial that the machinery may lose in one session."""
_ALIKE = 3
"""Trials of a family that may fail with the same error, and none without it, before the session ends."""
_KEPT = ("log_bytes", "log_hash", "log_left_out", "log_problem", "steps_left_out")
"""What of an outcome goes into the ledger as it is."""


class Reporter:
    """Receives the progress of a session; this base class ignores it."""

    def begin(self, ledger: Ledger, judge: Judge) -> None:
        """A session begins on this ledger."""

    def tick(self, done: int, failed: int, total: int, running: int, session_done: int) -> None:
        """Several times a second: trials finished, failed and planned, running now, finished in this session."""

    def say(self, sentence: str) -> None:
        """Something that a person should know."""

    def end(self) -> None:
        """The session is over."""


class _Slot(NamedTuple):
    """A trial that is to run, or runs. What became of it so far, the ledger's chain knows."""

    family: Family
    known: LedgerFamily
    trial: int

    @property
    def attempts(self) -> int:
        """How many were made, the one that runs included."""
        return self.known.attempts.get(self.trial, 0)

    def end(self, status: str, body: dict[str, object]) -> Entry:
        """The record of the end of the attempt that runs."""
        return Entry("end", body, self.known.number, self.trial, self.attempts, status)

    def interrupted(self, reason: str) -> Entry:
        """The record of an attempt that was broken off."""
        return self.end("interrupted", {"scores": {}, "wall": 0, "cpu": 0, "cost": 0, "reason": reason})

    @property
    def log(self) -> str:
        """Where the output of the attempt that runs is kept, within the folder of logs."""
        return f"{safe_name(self.known.name)}/{self.trial}-{self.attempts}.log"


def _error_of(status: str, reason: str) -> str | None:
    """What makes two failures the same: their reason, but for numbers in it; None for what is no error."""
    if status != "failed" or reason.startswith("stopped at its time limit"):
        return None
    return re.sub(r"(?<!exit code )\d[\d.eE+-]*", "#", reason)


class Session:
    """One session on one ledger. ``run`` returns whether every planned trial is finished."""

    def __init__(
        self,
        study: Study,
        numbers: Mapping[str, int],
        ledger: Ledger,
        engine: Engine,
        reporter: Reporter | None = None,
        patience: float = _PATIENCE,
    ) -> None:
        self._study, self._ledger, self._engine = study, ledger, engine
        self._reporter = reporter or Reporter()
        self._patience = patience
        path = ledger.path.resolve()
        self._logs, self._outs = str(logs_folder(path)), str(path.with_name(ledger.path.name + ".out"))
        self._folder = str(study.folder.resolve())
        self._file = path.stat()
        self._running: dict[int, _Slot] = {}
        self._key = 0
        self._stop = 0
        """0: go on; 1: let running trials end; 2: end them now."""
        self._told = False
        self._trouble = ""
        """Why the session cannot go on."""
        self.decided: Callable[[], bool] | None = None
        """Asked after every end, where the session stops once the families are decided."""
        self.stopped_early = False
        self._families = [(family, ledger.chain.families[numbers[family.name]]) for family in study.families]
        self._lost: Counter[tuple[int, int]] = Counter()
        """Family and trial -> attempts of this session that the machinery lost."""
        self._first_errors: dict[int, list[str | None]] = {
            family.number: [] for _, family in self._families if not family.ends
        }
        """Family of which no trial had ended before -> the errors of its first ones, as long as they fail alike."""
        left_open = [_Slot(*numbered, trial) for numbered in self._families for trial in numbered[1].open]
        ledger.append([slot.interrupted("the runner ended without recording it") for slot in left_open])
        self._again = deque(
            _Slot(*numbered, trial) for numbered in self._families for trial in sorted(numbered[1].attempts)
        )
        self._plan = self._in_turn([{*known.ends, *known.attempts} for _, known in self._families])

    def _in_turn(self, started: list[set[int]]) -> Iterator[_Slot]:
        """The plan: trial 0 of every family, then trial 1 of every family, and so on, without those already started."""
        for trial in range(max(family.n_trials for family, _ in self._families)):
            for (family, known), before in zip(self._families, started, strict=True):
                if trial < family.n_trials and trial not in before:
                    yield _Slot(family, known, trial)

    def run(self) -> bool:
        """Run what is left of the plan. Ctrl-C once lets running trials end; twice, or a termination, ends them now.

        A ``DataError`` where the engine is lost; no trial is failed for that.
        """
        reason = "broken off"
        with self._signals():
            try:
                self._record([], self._choose())
                while self._running:
                    ended = self._engine.wait(TICK)
                    if self._stop >= 2:
                        break
                    if ended:
                        entries = [self._end(raw) for raw in ended]
                        self._record(entries, self._choose())
                        self.stopped_early = self.stopped_early or (self.decided is not None and self.decided())
                    self._tell()
                    if self._trouble:
                        raise DataError(self._trouble)
                finished = all(len(known.ends) >= family.n_trials for family, known in self._families)
                reason = "finished" if finished else "decided" if self.stopped_early else "interrupted"
            finally:
                self._engine.stop()
                self._close(reason)
                self._tell()
        return finished

    def _choose(self) -> list[_Slot]:
        """What starts next: what was lost first, then the plan in its order."""
        chosen: list[_Slot] = []
        while (
            not (self._stop or self._trouble or self.stopped_early)
            and len(self._running) + len(chosen) < self._engine.capacity
        ):
            slot = self._again.popleft() if self._again else next(self._plan, None)
            if slot is None:
                break
            chosen.append(slot)
        return chosen

    def _record(self, ends: list[Entry], slots: list[_Slot]) -> None:
        """Ends and starts in one commit; only then do the new ones start."""
        earlier = [mark for slot in slots for mark in slot.known.marks.get(slot.trial, ())]
        _end_earlier([self._mark(mark) for mark in earlier], [self._job_mark(mark) for mark in earlier])
        drawn, starts = [], []
        for slot in slots:
            number, trial = slot.known.number, slot.trial
            config, seed = slot.family.space.draw(self._study.seed, number, trial, slot.family.seeds)
            body = {"config": config, "seed": seed, "mark": secrets.token_hex(16)}
            starts.append(Entry("start", body, number, trial, slot.attempts + 1))
            drawn.append((slot, config, seed))
        self._append([*ends, *starts])
        for slot, config, seed in drawn:
            self._key += 1
            self._running[self._key] = slot
            self._engine.submit(self._task(slot, config, seed))

    def _mark(self, mark: str) -> str:
        """The mark of an attempt's processes: of this very file's, for a copy of the ledger has its marks too."""
        return bound_mark(mark, self._file.st_dev, self._file.st_ino)

    def _job_mark(self, mark: str) -> str:
        """The mark of its job in a queue, the same on all machines: each counts devices in its own way."""
        return bound_mark(mark, self._file.st_ino)

    def _append(self, entries: list[Entry]) -> None:
        began, waiting = time.monotonic(), False
        while True:
            try:
                return self._ledger.append(entries)
            except CannotWrite as error:
                if self._stop >= 2 or time.monotonic() - began > self._patience:
                    raise DataError(
                        f"{error}; {len(entries)} records are not in it. Make room and run the same command again: "
                        "what is not recorded runs again with the same configuration and seed"
                    ) from error
                if not waiting:
                    self._reporter.say(f"{error}; waiting for room, nothing is lost so far")
                    waiting = True
                time.sleep(min(1.0, self._patience / 10))

    def _task(self, slot: _Slot, config: Config, seed: int) -> Task:
        """The attempt whose start was recorded last."""
        family, mark = slot.family, slot.known.marks[slot.trial][-1]
        out = os.path.join(self._outs, safe_name(slot.known.name), f"{slot.trial}-{slot.attempts}")
        values = {**config, "seed": seed, "trial": slot.trial, "family": family.name, "out": out}
        env = {name: _filled(text, values) for name, text in family.env.items()}
        if family.env_parameters:
            env |= {name: _as_variable(value) for name, value in config.items()}
        env |= {"LEVELBEST_TRIAL": str(slot.trial), "LEVELBEST_SEED": str(seed), "LEVELBEST_FAMILY": family.name}
        env[MARK] = self._mark(mark)
        if len(described := json.dumps(config)) <= _LONGEST_VARIABLE:
            env["LEVELBEST_CONFIG"] = described
        uses_out = [*(family.command.arguments if family.command else ()), *family.env.values(), family.report]
        function = family.function if isinstance(family.function, str) else f"family {family.name}"
        return {
            "key": self._key,
            "mark": self._job_mark(mark),
            "config": config,
            "seed": seed,
            "argv": family.command.fill(values, config) if family.command else None,
            "function": None if family.command else function,
            "folder": self._folder,
            "out": out if any("{out}" in text for text in uses_out) else None,
            "log": os.path.join(self._logs, slot.log),
            "log_limit": self._study.log_limit,
            "limit": family.time_limit,
            "report": family.report if family.report in ("json", "exit") else _filled(family.report, values),
            "selection": self._study.judge.selection,
            "env": env,
        }

    def _end(self, raw: Outcome) -> Entry:
        slot = self._running.pop(raw["key"])
        judge = self._study.judge
        status, scores, reason = verdict_on(raw, judge.selection, slot.family.report)
        claimed = judge.reported or judge.selection or ""
        if status == "ok" and beyond_bounds(scores.get(claimed), judge.bounds):
            status, reason = "failed", f"{claimed} is {scores[claimed]:g}, outside the bounds that the study declares"
        wall, cpu = round(raw["wall"], 6), round(raw["cpu"], 6)
        body: dict[str, object] = {"scores": scores, "wall": wall, "cpu": cpu}
        body["cost"] = self._study.cost.amount(wall, cpu, scores)
        if status == "lost":
            status, reason, blame = self._whose_doing(raw, slot, reason or "")
            body |= {"blame": blame} if status == "lost" else {}
        if reason:
            body["reason"] = reason
        if raw.get("log_bytes"):
            body["log"] = slot.log
        body |= {key: value for key, value in raw.items() if key in _KEPT}
        if steps := raw.get("steps"):
            body["steps"] = [{k: v if math.isfinite(v) else None for k, v in step.items()} for step in steps]
        if status in FINAL:
            self._end_where_all_fail_alike(slot, status, reason or "")
        else:
            self._again.append(slot)
        return slot.end(status, body)

    def _end_where_all_fail_alike(self, slot: _Slot, status: str, reason: str) -> None:
        """A family whose first trials fail, all with one error, has a mistake in it: the others are not spent on it."""
        if (errors := self._first_errors.get(slot.known.number)) is None:
            return
        errors.append(_error_of(status, reason))
        alike = errors[0] is not None and len(set(errors)) == 1
        if not alike or len(errors) == _ALIKE:
            del self._first_errors[slot.known.number]
        if alike and len(errors) == _ALIKE < slot.family.n_trials:
            name = slot.family.name
            self._trouble = (
                f"the first {_ALIKE} trials of {name} failed with the same error: {reason} (what the last printed: "
                f"{os.path.basename(self._logs)}/{slot.log}). The others are not run for it. Fix it and start {name} "
                f"again ({named('redo', name)}; what failed stays on record), or run the same command again, which "
                "continues regardless"
            )

    def _whose_doing(self, raw: Outcome, slot: _Slot, reason: str) -> tuple[str, str, str]:
        """Status and reason of an attempt that says nothing of its trial, and whose doing it was.

        A trial that is killed again and again, as for lack of memory, has failed. One that the machinery loses has not,
        however often; but then the session ends.
        """
        if raw["end"] != "lost":
            killed = slot.known.killed.get(slot.trial, 0) + 1
            if killed > slot.family.retries:
                return "failed", f"{reason}; tried {killed} times", ""
            return "lost", reason, "outside"
        if raw.get("machine"):
            self._trouble = (
                f"trials cannot be started on this machine: {reason}. This does not count as a result of trial "
                f"{slot.trial} of {slot.family.name}, which stays open; fix it, and run the same command again"
            )
        place = slot.known.number, slot.trial
        self._lost[place] += 1
        if self._lost[place] >= _MOST_LOST:
            self._trouble = (
                f"trial {slot.trial} of {slot.family.name} was lost {self._lost[place]} times in this session: "
                f"{reason}. This does not count as a result of the trial, which stays open; see what ends its "
                "workers, and run the same command again"
            )
        return "lost", reason, "engine"

    def _close(self, reason: str) -> None:
        """What still runs is interrupted, and the session is over."""
        entries = [slot.interrupted("stopped before it ended") for slot in self._running.values()]
        self._running.clear()
        with contextlib.suppress(CannotWrite):  # then the next session finds them open, which says the same
            self._ledger.append([*entries, Entry("stop", {"reason": reason})])

    def _tell(self) -> None:
        if self._stop == 1 and not self._told:
            self._told = True
            self._reporter.say(
                f"stopping: waiting for {len(self._running)} running trials to end. Ctrl-C again ends them now; they "
                "run again when the study is resumed"
            )
        done = sum(len(known.ends) for _, known in self._families)
        failed = sum(len(known.failed) for _, known in self._families)
        total = sum(family.n_trials for family, _ in self._families)
        self._reporter.tick(done, failed, total, len(self._running), self._ledger.chain.session_done)

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def stop(number: int, _: FrameType | None) -> None:  # what is being printed must not be printed into
            self._stop = 2 if number == signal.SIGTERM else self._stop + 1

        before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def bound_mark(mark: str, *identity: int) -> str:
    """A mark that is bound to one file."""
    return hashlib.sha256(":".join(map(str, (mark, *identity))).encode()).hexdigest()[:32] if mark else ""


def _end_earlier(marks: list[str], job_marks: list[str]) -> None:
    """End the processes on this machine and the jobs in a queue that bear one of these marks, before the next attempt.

    Workers end what they started, and guards what workers leave; this is for the case that all of them were killed.
    """
    if not marks:
        return
    cancel_marked(job_marks)
    if left := end_marked(marks):
        raise DataError(
            f"process {left[0]} of an earlier attempt at a trial cannot be ended, and two attempts must not run "
            "side by side; end it and run the same command again"
        )


def _as_variable(value: object) -> str:
    return " ".join(as_text(item) for item in value) if isinstance(value, list) else as_text(value)


def _filled(text: str, values: Mapping[str, object]) -> str:
    return "".join(Template([text]).fill(values)) if "{" in text or "}" in text else text


@functools.cache
def safe_name(name: str) -> str:
    """A family's name as a folder's: letters, digits and a few marks; two names stay two."""
    plain = "".join(c if c.isalnum() or c in "-_." else "_" for c in as_text(name)).lstrip(".")[:60]
    return plain if plain == name else f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
