"""The loop: the plan is drawn before any result; ends are on the disk before the next trial starts on that worker."""

from __future__ import annotations

import contextlib
import json
import math
import secrets
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from levelbest._ledger.records import FINAL
from levelbest.errors import DataError
from levelbest.run.earlier import end_earlier
from levelbest.run.engines import Engine
from levelbest.run.ledger import CannotWrite, Entry, Ledger, logs_folder
from levelbest.run.objective import verdict_on
from levelbest.run.processes import MARK
from levelbest.run.study import Family, Judge, Study
from levelbest.run.task import Config, Outcome, Task
from levelbest.run.template import Template, as_text

__all__ = ["Loop", "Reporter"]

TICK = 0.25
_PATIENCE = 600.0
"""Seconds to wait for room on the disk before giving up; results are kept in memory meanwhile."""

_LONGEST_VARIABLE = 100_000
"""A variable longer than 128 KiB would keep a program from starting (Linux)."""
_MOST_LOST = 20
"""Attempts at one trial that the machinery may lose in one session."""
_KEPT = ("log_bytes", "log_left_out", "log_problem", "steps_left_out")
"""What of an outcome goes into the ledger as it is."""


class Reporter:
    """Told how it goes. This one says nothing."""

    def begin(self, ledger: Path, judge: Judge) -> None:
        """A session begins on this ledger."""

    def tick(self, done: int, failed: int, total: int, running: int, session_done: int) -> None:
        """Several times a second: trials finished, failed and planned, running now, finished in this session."""

    def say(self, sentence: str) -> None:
        """Something that a person should know."""

    def end(self) -> None:
        """The session is over."""


@dataclass
class _Slot:
    """A trial that is to run, or runs."""

    family: Family
    number: int
    trial: int
    attempt: int = 1
    killed: int = 0
    """Attempts in which the trial itself was killed from outside."""
    lost: int = 0
    """Attempts of this session that the machinery lost."""
    marks: list[str] = field(default_factory=list)
    """The marks of all attempts so far."""
    config: Config = field(default_factory=dict)
    seed: int = 0


class Loop:
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
        self._logs = logs_folder(ledger.path.resolve())
        self._outs = ledger.path.resolve().with_name(ledger.path.name + ".out")
        self._running: dict[int, _Slot] = {}
        self._key = 0
        self._stop = 0
        """0: go on; 1: let running trials end; 2: end them now."""
        self._told = False
        self._trouble = ""
        """Why the session cannot go on."""
        self._again: deque[_Slot] = deque()
        left_open: list[Entry] = []
        waiting = []
        self._total = self._done = self._failed = 0
        for family in study.families:
            number, planned = numbers[family.name], family.n_trials
            known = ledger.chain.families[number]
            self._total += planned
            self._done += len(known.finished)
            self._failed += len(known.reasons)
            for trial in known.open:
                reason = "the runner ended without recording it"
                left_open.append(_interrupted(number, trial, known.attempts[trial], reason))
            for trial, attempt in sorted(known.attempts.items()):
                killed, marks = known.killed.get(trial, 0), list(known.marks[trial])
                self._again.append(_Slot(family, number, trial, attempt + 1, killed, marks=marks))
            waiting.append((family, number, planned, {*known.finished, *known.attempts}))
        self._plan = _in_turn(waiting)
        self._session_done = 0
        ledger.append(left_open)

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
                    self._tell()
                    if self._trouble:
                        raise DataError(self._trouble)
                finished = self._done >= self._total
                reason = "finished" if finished else "interrupted"
            finally:
                self._engine.stop()
                self._close(reason)
                self._tell()
        return finished

    def _choose(self) -> list[_Slot]:
        """What starts next: what was lost first, then the plan in its order."""
        chosen: list[_Slot] = []
        while not (self._stop or self._trouble) and len(self._running) + len(chosen) < self._engine.capacity:
            slot = self._again.popleft() if self._again else next(self._plan, None)
            if slot is None:
                break
            slot.config, slot.seed = slot.family.space.draw(
                self._study.seed, slot.number, slot.trial, slot.family.seeds
            )
            chosen.append(slot)
        return chosen

    def _record(self, ends: list[Entry], slots: list[_Slot]) -> None:
        """Ends and starts in one commit; only then do the new ones start."""
        end_earlier([mark for slot in slots for mark in slot.marks])
        starts = []
        for slot in slots:
            slot.marks.append(secrets.token_hex(16))
            body = {"config": slot.config, "seed": slot.seed, "mark": slot.marks[-1]}
            starts.append(Entry("start", body, slot.number, slot.trial, slot.attempt))
        self._append([*ends, *starts])
        for slot in slots:
            self._key += 1
            self._running[self._key] = slot
            self._engine.submit(self._task(self._key, slot))

    def _append(self, entries: list[Entry]) -> None:
        began, told = time.monotonic(), False
        while True:
            try:
                return self._ledger.append(entries)
            except CannotWrite as error:
                if self._stop >= 2 or time.monotonic() - began > self._patience:
                    raise DataError(
                        f"{error}; {len(entries)} records are not in it. Make room and run the same command again: "
                        "what is not recorded runs again with the same configuration and seed"
                    ) from error
                if not told:
                    self._reporter.say(f"{error}; waiting for room, nothing is lost so far")
                    told = True
                time.sleep(min(1.0, self._patience / 10))

    def _task(self, key: int, slot: _Slot) -> Task:
        family = slot.family
        folder = safe_name(family.name)
        place = f"{slot.trial}-{slot.attempt}"
        out = str(self._outs / folder / place)
        values = {**slot.config, "seed": slot.seed, "trial": slot.trial, "family": family.name, "out": out}
        env = {name: _filled(text, values) for name, text in family.env.items()}
        if family.env_parameters:
            env |= {name: _as_variable(value) for name, value in slot.config.items()}
        env |= {"LEVELBEST_TRIAL": str(slot.trial), "LEVELBEST_SEED": str(slot.seed), "LEVELBEST_FAMILY": family.name}
        env[MARK] = slot.marks[-1]
        if len(config := json.dumps(slot.config)) <= _LONGEST_VARIABLE:
            env["LEVELBEST_CONFIG"] = config
        uses_out = [*(family.command.arguments if family.command else ()), *family.env.values(), family.report]
        function = family.function if isinstance(family.function, str) else f"family {family.name}"
        return {
            "key": key,
            "mark": slot.marks[-1],
            "config": slot.config,
            "seed": slot.seed,
            "argv": family.command.fill(values, slot.config) if family.command else None,
            "function": None if family.command else function,
            "folder": str(self._study.folder.resolve()),
            "out": out if any("{out}" in text for text in uses_out) else None,
            "log": str(self._logs / folder / f"{place}.log"),
            "log_limit": self._study.log_limit,
            "limit": family.time_limit,
            "report": family.report if family.report in ("json", "exit") else _filled(family.report, values),
            "selection": self._study.judge.selection,
            "env": env,
        }

    def _end(self, raw: Outcome) -> Entry:
        slot = self._running.pop(raw["key"])
        family = slot.family
        status, scores, reason = verdict_on(raw, self._study.judge.selection, family.report)
        wall, cpu = round(raw["wall"], 6), round(raw["cpu"], 6)
        body: dict[str, object] = {"scores": scores, "wall": wall, "cpu": cpu}
        body["cost"] = self._study.cost.amount(wall, cpu, scores)
        if status == "lost":
            status, reason = self._lost(raw, slot, reason or "", body)
        if reason:
            body["reason"] = reason
        if raw.get("log_bytes"):
            body["log"] = f"{safe_name(family.name)}/{slot.trial}-{slot.attempt}.log"
        body |= {key: value for key, value in raw.items() if key in _KEPT}
        if steps := raw.get("steps"):
            body["steps"] = [{k: v if math.isfinite(v) else None for k, v in step.items()} for step in steps]
        if status in FINAL:
            self._done += 1
            self._session_done += 1
            self._failed += status != "ok"
        else:
            self._again.append(
                _Slot(family, slot.number, slot.trial, slot.attempt + 1, slot.killed, slot.lost, slot.marks)
            )
        return Entry("end", body, slot.number, slot.trial, slot.attempt, status)

    def _lost(self, raw: Outcome, slot: _Slot, reason: str, body: dict[str, object]) -> tuple[str, str]:
        """Status and reason of an attempt that says nothing of its trial, and in ``body`` whose doing it was.

        A trial that is killed again and again, as for lack of memory, has failed. One that the machinery loses has not,
        however often; but then the session ends.
        """
        if raw["end"] != "lost":
            body["blame"] = "outside"
            slot.killed += 1
            if slot.killed > slot.family.retries:
                del body["blame"]
                return "failed", f"{reason}; tried {slot.killed} times"
            return "lost", reason
        body["blame"] = "engine"
        slot.lost += 1
        if slot.lost >= _MOST_LOST:
            self._trouble = (
                f"trial {slot.trial} of {slot.family.name} was lost {slot.lost} times in this session: {reason}. That "
                "is no result of the trial, which stays open; see what ends its workers, and run the same command again"
            )
        return "lost", reason

    def _close(self, reason: str) -> None:
        """What still runs is interrupted, and the session is over."""
        entries = [
            _interrupted(slot.number, slot.trial, slot.attempt, "stopped before it ended")
            for slot in self._running.values()
        ]
        self._running.clear()
        with contextlib.suppress(CannotWrite):  # then the next session finds them open, which says the same
            self._ledger.append([*entries, Entry("stop", {"reason": reason})])

    def _tell(self) -> None:
        if self._stop == 1 and not self._told:
            self._told = True
            self._reporter.say(
                f"stopping: waiting for {len(self._running)} running trials to end. Ctrl-C again ends them now; they "
                "run again when the study goes on"
            )
        self._reporter.tick(self._done, self._failed, self._total, len(self._running), self._session_done)

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def asked(number: int, _: FrameType | None) -> None:  # what is being printed must not be printed into
            self._stop = 2 if number == signal.SIGTERM else self._stop + 1

        before = {number: signal.signal(number, asked) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _interrupted(number: int, trial: int, attempt: int, reason: str) -> Entry:
    body = {"scores": {}, "wall": 0, "cpu": 0, "cost": 0, "reason": reason}
    return Entry("end", body, number, trial, attempt, "interrupted")


def _in_turn(waiting: list[tuple[Family, int, int, set[int]]]) -> Iterator[_Slot]:
    """The plan: trial 0 of every family, then trial 1 of every family, and so on, without those already started."""
    for trial in range(max((planned for _, _, planned, _ in waiting), default=0)):
        for family, number, planned, known in waiting:
            if trial < planned and trial not in known:
                yield _Slot(family, number, trial)


def _as_variable(value: object) -> str:
    return " ".join(as_text(item) for item in value) if isinstance(value, list) else as_text(value)


def _filled(text: str, values: Mapping[str, object]) -> str:
    return "".join(Template([text]).fill(values)) if "{" in text or "}" in text else text


def safe_name(name: str) -> str:
    """A family's name as a folder's: letters, digits and a few marks; two names stay two."""
    import hashlib

    plain = "".join(c if c.isalnum() or c in "-_." else "_" for c in as_text(name)).lstrip(".")[:60]
    return plain if plain == name else f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
