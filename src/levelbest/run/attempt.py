"""One attempt at one trial: a child in its own process group, its output kept within a limit, its time measured.

Standard library only, like everything that a worker imports.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Literal, NamedTuple

from levelbest.run.objective import BROKEN, NO_ROOM, last_scores, mark, read_metrics
from levelbest.run.output import Log, Tail
from levelbest.run.processes import MARK, die_with_parent, end_detached, open_pid, sweep
from levelbest.run.standby import EXIT_UNTOLD, Standby, why
from levelbest.run.task import Outcome, ScoreByName, Task

_CHUNK, _TAIL, _RESULT = 1 << 16, 1 << 18, 1 << 24
_GRACE = 2.0
"""Seconds between asking a trial to stop and stopping it."""
_BEHIND_A_SHELL = (128 + signal.SIGTERM, 128 + getattr(signal, "SIGKILL", 9))
"""Exit codes by which a shell tells that the command it ran was ended by a signal."""
_LONGEST_POLL = 3600.0
"""Seconds: the kernel counts milliseconds, in 32 bits."""

Sinks = tuple[Callable[[bytes], None], ...]


class Quit(Exception):
    """The process that gave the task is gone."""


def attempt(
    task: Task,
    fork: Callable[[], Standby] | None = None,
    *,
    watch: tuple[int, ...] = (),
    announce: Callable[[int], None] | None = None,
    alone: bool = False,
) -> Outcome:
    """Run one attempt to its end and say how it ended; raise ``Quit`` when the other end of a watched file goes away.

    ``fork`` gives the process that a function is to run in; without it a command is run. ``announce`` is told the
    process group. ``alone``: this process runs nothing but trials, so that any child it has
    afterwards was left by this one.
    """
    output = _Output(Log(task["log"], task["log_limit"]), Tail(_TAIL), Tail(_TAIL), Tail(_RESULT))
    raw: Outcome = {"key": task["key"], "end": "exit", "wall": 0.0, "cpu": 0.0, "limit": task["limit"]}
    began = time.monotonic()
    try:
        if task["out"]:
            os.makedirs(task["out"], exist_ok=True)
        metrics = None if task["report"] in ("json", "exit") else os.path.join(task["folder"], task["report"])
        before = mark(metrics) if metrics else None
        pid, pipes = _start_command(task) if fork is None else fork().begin(task)
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno in NO_ROOM | BROKEN:
            return _machine_lost(raw, error.errno, f"could not be started: {error.strerror}")
        return {**raw, "end": "unstarted", "problem": why(error)}
    if announce is not None:
        announce(pid)
    try:
        raw["end"], raw["code"], raw["cpu"] = _follow(pid, output.sinks(pipes), watch, task["limit"], alone)
    finally:
        end_detached(task["env"].get(MARK, ""))
        for pipe in pipes:
            os.close(pipe)
        output.log.close()
    raw["wall"] = time.monotonic() - began
    if raw["end"] == "exit":
        if fork is not None:
            _take_over(raw, output.result.content())
        elif raw["code"] in _BEHIND_A_SHELL:
            raw["problem"] = f"exit code {raw['code']}"
            raw["end"], raw["code"] = "signal", raw["code"] - 128
        else:
            _read_scores(raw, output, metrics, before, task["selection"])
    output.describe(raw)
    return raw


class _Output(NamedTuple):
    """Where what a child writes is kept: all of it within a limit, and the end of each stream."""

    log: Log
    printed: Tail
    errors: Tail
    result: Tail
    """What a function hands over."""

    def sinks(self, pipes: list[int]) -> dict[int, Sinks]:
        """By pipe, who takes what it brings."""
        takers: list[Sinks] = [(self.log.add, self.printed.add), (self.log.add, self.errors.add), (self.result.add,)]
        return dict(zip(pipes, takers, strict=False))  # a command has no third

    def describe(self, raw: Outcome) -> None:
        """Add what there is to know of the log."""
        log = self.log
        if log.error:
            raw["log_problem"] = log.error
        if log.seen:
            raw["log_bytes"] = log.seen
            if log.error is None:
                raw["log_hash"] = log.digest
        if log.left_out:
            raw["log_left_out"] = log.left_out


def _read_scores(
    raw: Outcome, output: _Output, metrics: str | None, before: tuple[int, int, int] | None, selection: str | None
) -> None:
    """What a command that ended by itself handed over: in its metrics file, or on the last line it printed."""
    text = output.printed.content()
    try:
        scores = read_metrics(metrics, before, selection) if metrics else last_scores(text, selection)
    except OSError as error:
        raw.update(_machine_lost(raw, error.errno, f"its metrics file cannot be read: {error.strerror}"))
        return
    if isinstance(scores, dict):
        raw["scores"] = scores
    else:
        raw["problem"] = scores or "printed no line of JSON with scores"
    if raw["code"]:
        raw["problem"] = _last_line(output.errors.content()) or _last_line(text)


def _machine_lost(raw: Outcome, number: int | None, problem: str) -> Outcome:
    """An attempt that the machine lost, and whether it is a disk's doing."""
    lost: Outcome = {**raw, "end": "lost", "problem": problem}
    if number in BROKEN:
        lost["machine"] = True
    return lost


def search_path(path: str | None) -> str:
    """Where programs are looked for: PATH, and then where this Python lives, so that ``python`` is there."""
    given = os.environ.get("PATH", os.defpath) if path is None else path
    here = os.path.dirname(sys.executable)
    return given if here in given.split(os.pathsep) else os.pathsep.join([given, here])


def _start_command(task: Task) -> tuple[int, list[int]]:
    env = {**os.environ, **task["env"]}
    env["PATH"] = search_path(env.get("PATH"))
    child = subprocess.Popen(
        task["argv"] or [],
        cwd=task["folder"],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        process_group=0,
        preexec_fn=functools.partial(die_with_parent, os.getpid()),
    )
    assert child.stdout is not None
    assert child.stderr is not None
    pipes = [os.dup(child.stdout.fileno()), os.dup(child.stderr.fileno())]
    child.stdout.close()
    child.stderr.close()
    child.returncode = 0  # this file waits for it, not subprocess
    return child.pid, pipes


def _follow(
    pid: int, sinks: dict[int, Sinks], watch: tuple[int, ...], limit: float | None, alone: bool
) -> tuple[Literal["exit", "signal", "timeout"], int, float]:
    """Read what a child writes until it ends; how it ended, with which code, and the CPU seconds it took."""
    handle = open_pid(pid)
    poller = _poller(sinks, watch, handle)
    time_limit = _TimeLimit(pid, limit)
    longest = _LONGEST_POLL if handle is not None else 0.02
    ended, reaped = False, None
    try:
        while not ended:
            ended = _take_what_is_ready(poller, min(time_limit.left, longest), sinks, watch, handle)
            if handle is None:
                reaped = os.wait4(pid, os.WNOHANG)
                ended = bool(reaped[0])
            if not ended:
                time_limit.enforce()
    finally:
        if handle is not None:
            os.close(handle)
        # A group keeps its number while one of it is left; where the leader is not reaped yet, in any case.
        _signal_group(pid, signal.SIGKILL)
        status, usage = (reaped if reaped and reaped[0] else os.wait4(pid, 0))[1:]
        if alone:
            sweep()
    for pipe, sink in sinks.items():
        os.set_blocking(pipe, False)
        with contextlib.suppress(BlockingIOError):
            while _read(pipe, sink):
                pass
    cpu = usage.ru_utime + usage.ru_stime
    if time_limit.passed:
        return "timeout", 0, cpu
    if os.WIFSIGNALED(status):
        return "signal", os.WTERMSIG(status), cpu
    return "exit", os.waitstatus_to_exitcode(status), cpu


def _poller(sinks: dict[int, Sinks], watch: tuple[int, ...], handle: int | None) -> select.poll:
    """Ready when the child writes or ends, or the process that gave the task is gone."""
    poller = select.poll()
    for pipe in sinks:
        poller.register(pipe, select.POLLIN)
    for other in watch:
        poller.register(other, select.POLLHUP)
    if handle is not None:
        poller.register(handle, select.POLLIN)
    return poller


def _take_what_is_ready(
    poller: select.poll, seconds: float, sinks: dict[int, Sinks], watch: tuple[int, ...], handle: int | None
) -> bool:
    """Read what is there, after so long at most; whether the child's end was heard of."""
    ended = False
    for ready, _ in poller.poll(seconds * 1000 + 1):
        if ready in watch:
            raise Quit
        if ready == handle:
            ended = True
        elif not _read(ready, sinks[ready]):
            poller.unregister(ready)
    return ended


class _TimeLimit:
    """A child is asked to stop at its limit, and stopped ``_GRACE`` seconds later."""

    def __init__(self, pid: int, seconds: float | None) -> None:
        self._pid = pid
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self.passed = False

    @property
    def left(self) -> float:
        """Seconds until something is to be done."""
        return _LONGEST_POLL if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    def enforce(self) -> None:
        """Do what is due."""
        if self._deadline is not None and time.monotonic() >= self._deadline:
            _signal_group(self._pid, signal.SIGKILL if self.passed else signal.SIGTERM)
            self.passed, self._deadline = True, time.monotonic() + _GRACE


def _read(pipe: int, sink: Sinks) -> bool:
    data = os.read(pipe, _CHUNK)
    for take in sink:
        take(data)
    return bool(data)


def _signal_group(pid: int, number: int) -> None:
    try:  # noqa: SIM105
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def _take_over(raw: Outcome, text: bytes) -> None:
    """What a function handed over, line by line; of more than is kept, the end."""
    steps: list[ScoreByName] = []
    count = 0
    for line in text.splitlines():
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if "unready" in message:
            raw.update(_machine_lost(raw, message["unready"], message["problem"]))
        elif "step" in message:
            steps.append(message["step"])
            count = message["count"]
        else:
            raw.update(message)
    if steps:
        raw["steps"] = steps
        if count > len(steps):
            raw["steps_left_out"] = count - len(steps)
    handed_over = {"scores", "problem", "raised"} & raw.keys()
    if not handed_over and raw.get("code") == EXIT_UNTOLD:
        raw.update(_machine_lost(raw, None, "its result could not be handed over"))
    elif not handed_over:
        raw["problem"] = "ended without handing over its scores"


def _last_line(text: bytes) -> str:
    lines = [line for line in text.decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1].strip()[:300] if lines else ""
