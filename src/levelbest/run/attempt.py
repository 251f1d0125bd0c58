"""One attempt at one trial: a child in its own process group, its output kept within a limit, its time measured.

Standard library only, as everything that a worker imports. A task is a plain dict:

    key         what the runner calls it               log         file for its output
    config      the configuration                      log_limit   bytes kept of it
    seed        the trial's seed                       limit       seconds it may take, or None
    argv        the command's arguments                report      json, exit, or a metrics file's name
    function    module:name instead of argv            selection   the score that must be there, or None
    folder      where it runs                          env         variables that it sees besides the worker's
    out         a fresh folder to make for it, or None
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import os
import random
import select
import signal
import subprocess
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from levelbest.run.objective import call, last_scores, mark, read_metrics
from levelbest.run.processes import die_with_parent, fork, open_pid, sweep

__all__ = ["Quit", "attempt"]

_CHUNK, _TAIL, _RESULT = 1 << 16, 1 << 18, 1 << 24
_GRACE = 2.0
"""Seconds between asking a trial to stop and stopping it."""
_NO_ROOM = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)

Task = Mapping[str, Any]
Sinks = tuple[Callable[[bytes], None], ...]


class Quit(Exception):
    """Whoever gave the task is gone."""


def attempt(
    task: Task,
    function: Callable[..., Any] | None,
    *,
    watch: tuple[int, ...] = (),
    announce: Callable[[int], None] | None = None,
    alone: bool = False,
) -> dict[str, Any]:
    """Run one attempt to its end and say how it ended; raise ``Quit`` when the other end of a watched file goes away.

    ``announce`` is told the process group. ``alone``: this process runs nothing but trials, so that any child it has
    afterwards was left by this one.
    """
    log = _Log(task["log"], task["log_limit"])
    tail = _Tail(_TAIL)
    errors = _Tail(_TAIL)
    result = _Tail(_RESULT)
    began = time.monotonic()
    try:
        if task["out"]:
            os.makedirs(task["out"], exist_ok=True)
        metrics = None if task["report"] in ("json", "exit") else os.path.join(task["folder"], task["report"])
        before = mark(metrics) if metrics else None
        if function is None:
            pid, pipes = _start_command(task)
        else:
            pid, pipes = _start_function(task, function)
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            return _raw(task, began, "lost", problem=f"could not be started: {error.strerror}", log=log)
        return _raw(task, began, "unstarted", problem=_why(error), log=log)
    if announce is not None:
        announce(pid)
    sinks: dict[int, Sinks] = {pipes[0]: (log.add, tail.add), pipes[1]: (log.add, errors.add)}
    if function is not None:
        sinks[pipes[2]] = (result.add,)
    try:
        how, code, cpu = _follow(pid, sinks, watch, task["limit"], alone)
    finally:
        for pipe in pipes:
            os.close(pipe)
        log.close()
    raw = _raw(task, began, how, code=code, cpu=cpu, log=log)
    if how == "exit":
        if function is not None:
            raw |= _handed_over(result.text())
        elif metrics:
            found = read_metrics(metrics, before, task["selection"])
            raw |= {"problem": found} if isinstance(found, str) else {"scores": found}
        else:
            scores = last_scores(tail.text(), task["selection"])
            raw |= {"scores": scores} if scores is not None else {"problem": "printed no line of JSON with scores"}
        if code and function is None:
            raw["problem"] = _last_line(errors.text()) or _last_line(tail.text())
    return raw


def search_path(path: str | None) -> str:
    """Where programs are looked for: PATH, and then where this Python lives, so that ``python`` is there."""
    given = os.environ.get("PATH", os.defpath) if path is None else path
    here = os.path.dirname(sys.executable)
    return given if here in given.split(os.pathsep) else os.pathsep.join([given, here])


def _raw(task: Task, began: float, end: str, *, log: _Log, cpu: float = 0.0, **more: Any) -> dict[str, Any]:
    found = {
        "key": task["key"],
        "end": end,
        "wall": time.monotonic() - began,
        "cpu": cpu,
        "limit": task["limit"],
        **more,
    }
    if log.error:
        found["log_problem"] = log.error
    if log.seen:
        found["log_bytes"] = log.seen
        if log.left_out:
            found["log_left_out"] = log.left_out
    return found


def _start_command(task: Task) -> tuple[int, list[int]]:
    env = {**os.environ, **task["env"]}
    env["PATH"] = search_path(env.get("PATH"))
    child = subprocess.Popen(
        task["argv"],
        cwd=task["folder"],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        process_group=0,
    )
    assert child.stdout is not None
    assert child.stderr is not None
    pipes = [os.dup(child.stdout.fileno()), os.dup(child.stderr.fileno())]
    child.stdout.close()
    child.stderr.close()
    child.returncode = 0  # this file waits for it, not subprocess
    return child.pid, pipes


def _start_function(task: Task, function: Callable[..., Any]) -> tuple[int, list[int]]:
    ends = [os.pipe() for _ in range(3)]
    try:
        pid = fork()
    except OSError:
        for handle in itertools.chain(*ends):
            os.close(handle)
        raise
    if pid == 0:
        _be_the_trial(task, function, [write for _, write in ends])
    for _, write in ends:
        os.close(write)
    with contextlib.suppress(OSError):
        os.setpgid(pid, pid)  # also done by the child: whoever comes first
    return pid, [read for read, _ in ends]


def _be_the_trial(task: Task, function: Callable[..., Any], pipes: list[int]) -> NoReturn:
    """In the child: never returns, and never lets the worker's own code go on here."""
    code = 1
    try:
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)
        die_with_parent()
        for number in (signal.SIGINT, signal.SIGHUP):  # what the guard ignores; the others are as Python has them
            signal.signal(number, signal.SIG_DFL)
        null = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((null, 0), (pipes[0], 1), (pipes[1], 2)):
            os.dup2(source, target)
        os.environ.update(task["env"])
        os.chdir(task["folder"])
        seed_everything(task["seed"])

        def tell(**message: Any) -> None:
            data = (json.dumps(message) + "\n").encode()
            while data:
                data = data[os.write(pipes[2], data) :]

        try:
            tell(scores=call(function, task["config"], task["seed"], lambda scores: tell(step=scores)))
            code = 0
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
            tell(problem=f"called exit({stop.code!r})")
        except BaseException as error:
            sys.stdout.flush()
            traceback.print_exc()
            tell(raised=_why(error))
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
    finally:
        os._exit(code & 0xFF)


def own_streams() -> None:
    """Give this process text streams on its own files, whatever the one it was forked from had put in their place."""
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="replace", buffering=1, closefd=False)  # noqa: SIM115


def seed_everything(seed: int) -> None:
    """Start the generators that a function may forget to seed; a forked child would share its siblings' numbers."""
    random.seed(seed)
    if (numpy := sys.modules.get("numpy")) is not None:
        numpy.random.seed(seed)
    if (torch := sys.modules.get("torch")) is not None:
        torch.manual_seed(seed)


def _follow(
    pid: int, sinks: dict[int, Sinks], watch: tuple[int, ...], limit: float | None, alone: bool
) -> tuple[str, int, float]:
    """Read what a child writes until it ends; how it ended, with which code, and the CPU seconds it took."""
    poller = select.poll()
    for pipe in sinks:
        poller.register(pipe, select.POLLIN)
    for other in watch:
        poller.register(other, select.POLLHUP)
    handle = open_pid(pid)
    if handle is not None:
        poller.register(handle, select.POLLIN)
    deadline = None if limit is None else time.monotonic() + limit
    late, ended = False, False
    try:
        while not ended:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if handle is None:
                left = min(0.02, 0.02 if left is None else left)
            for ready, _ in poller.poll(None if left is None else left * 1000 + 1):
                if ready in watch:
                    raise Quit
                if ready == handle:
                    ended = True
                elif not _read(ready, sinks[ready]):
                    poller.unregister(ready)
            if handle is None and os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                ended = True
            if not ended and deadline is not None and time.monotonic() >= deadline:
                _signal_group(pid, signal.SIGKILL if late else signal.SIGTERM)
                late, deadline = True, time.monotonic() + _GRACE
    finally:
        if handle is not None:
            os.close(handle)
        # The leader is not reaped yet, so its number cannot be anyone else's: what is left of the group ends here.
        _signal_group(pid, signal.SIGKILL)
        status, usage = os.wait4(pid, 0)[1:]
        if alone:
            sweep()
    for pipe, sink in sinks.items():
        os.set_blocking(pipe, False)
        with contextlib.suppress(BlockingIOError):
            while _read(pipe, sink):
                pass
    cpu = usage.ru_utime + usage.ru_stime
    if late:
        return "timeout", 0, cpu
    if os.WIFSIGNALED(status):
        return "signal", os.WTERMSIG(status), cpu
    return "exit", os.waitstatus_to_exitcode(status), cpu


def _read(pipe: int, sink: Sinks) -> bool:
    data = os.read(pipe, _CHUNK)
    for take in sink:
        take(data)
    return bool(data)


def _signal_group(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _handed_over(text: bytes) -> dict[str, Any]:
    found: dict[str, Any] = {}
    steps = []
    for line in text.splitlines():
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if "step" in message:
            steps.append(message["step"])
        else:
            found |= message
    if steps:
        found["steps"] = steps[:1000]
    if not {"scores", "problem", "raised"} & set(found):
        found["problem"] = "ended without handing over its scores"
    return found


def _why(error: BaseException) -> str:
    said = str(error).strip().splitlines()
    return f"{type(error).__name__}: {said[0][:300]}" if said else type(error).__name__


def _last_line(text: bytes) -> str:
    lines = [line for line in text.decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1].strip()[:300] if lines else ""


class _Tail:
    """The last bytes of a stream."""

    def __init__(self, most: int) -> None:
        self._most, self._size, self._chunks = most, 0, deque[bytes]()

    def add(self, data: bytes) -> None:
        self._chunks.append(data)
        self._size += len(data)
        while self._size - len(self._chunks[0]) > self._most:
            self._size -= len(self._chunks.popleft())

    def text(self) -> bytes:
        return b"".join(self._chunks)[-self._most :]


class _Log:
    """A trial's output on the disk: its beginning, and where it is too long, its end. No output, no file."""

    def __init__(self, path: str, limit: int) -> None:
        self._path, self._file = path, -1
        self._first = limit - limit // 4
        self._last = _Tail(max(1, limit // 4))
        self.seen = 0
        self.error: str | None = None

    @property
    def left_out(self) -> int:
        return max(0, self.seen - self._first - len(self._last.text()))

    def add(self, data: bytes) -> None:
        if not data:
            return
        room = self._first - self.seen
        self.seen += len(data)
        if room > 0:
            self._write(data[:room])
        if room < len(data):
            self._last.add(data[max(0, room) :])

    def _write(self, data: bytes) -> None:
        try:
            if self._file < 0 and self.error is None:
                os.makedirs(os.path.dirname(self._path), exist_ok=True)
                self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
            while data and self.error is None:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            self.error = f"its log could not be written: {error.strerror}"

    def close(self) -> None:
        if self.seen > self._first:
            if self.left_out:
                self._write(f"\n[levelbest: {self.left_out} bytes left out here]\n".encode())
            self._write(self._last.text())
        if self._file >= 0:
            os.close(self._file)
