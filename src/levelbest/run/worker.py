"""A worker runs tasks one after the other, each in a child process; a guard ensures that no process is left behind.

    runner ---socket--- guard -- worker -- trial (its own process group)

The guard is the worker's parent and adopts all orphaned descendants. When the runner or the worker dies, it terminates
all remaining processes and only then closes the socket, so that the runner learns of a lost worker when its processes
are gone. When the guard dies, the worker terminates its trial and itself. Standard library only.
"""

from __future__ import annotations

import contextlib
import gc
import json
import mmap
import os
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Mapping
from typing import IO, NoReturn, cast

from levelbest.run.attempt import Quit, attempt, search_path
from levelbest.run.handover import HandedOver, Later
from levelbest.run.objective import load
from levelbest.run.processes import adopt_orphans, open_pid, sweep
from levelbest.run.standby import Standby, own_streams, rehearse
from levelbest.run.task import News, Setup

_START = """
import importlib, socket, sys
sys.path.insert(0, sys.argv[1])
module, name = sys.argv[2].split(":")
getattr(importlib.import_module(module), name)(socket.socket(fileno=int(sys.argv[3])), sys.argv[4])
"""
_PATIENCE = 20.0
"""Seconds that a process may take to end when its runner has let go of it."""

Functions = Mapping[str, Callable[..., object]]


class Worker:
    """The runner's end of a worker.

    ``functions`` are called by a fork of this very process; without them the worker is a fresh interpreter, which
    imports a function by its name. What the worker itself prints (imports, mostly) goes to ``log``. ``program`` is what
    a fresh interpreter runs, given the socket and the log's name.
    """

    def __init__(
        self,
        functions: Functions | None = None,
        env: Mapping[str, str] | None = None,
        log: str = os.devnull,
        program: str = "levelbest.run.worker:main",
    ) -> None:
        ours, theirs = socket.socketpair()
        self._socket = ours
        self._buffer = b""
        if functions is None:
            self.pid = _spawn(program, theirs, env or {}, log)
        else:
            self.pid = os.fork()
            if self.pid == 0:
                _be_the_guard(theirs, functions, env or {}, log)
        theirs.close()

    def fileno(self) -> int:
        """Ready to read when there is news."""
        return self._socket.fileno()

    def send(self, message: Mapping[str, object]) -> None:
        """Hand over a message; a worker that is gone is noticed when reading."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._socket.sendall(json.dumps(message).encode() + b"\n")

    def receive(self) -> list[News] | None:
        """Whole messages that have arrived (at least a read's worth is waited for), or None when the worker is gone."""
        try:
            data = self._socket.recv(1 << 16)
        except ConnectionResetError:
            data = b""
        if not data:
            return None
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        return [json.loads(line) for line in lines]

    def answer(self) -> News | None:
        """The next message, waited for; None when the worker is gone."""
        while (messages := self.receive()) is not None:
            if messages:
                return messages[0]
        return None

    def close(self) -> None:
        """End the worker, its trial and whatever that started; they are gone when this returns."""
        self._socket.close()
        deadline = time.monotonic() + _PATIENCE
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(self.pid, os.WNOHANG) == (0, 0):
                if time.monotonic() > deadline:
                    os.kill(self.pid, signal.SIGKILL)
                time.sleep(0.002)


def main(runner: socket.socket, log: str) -> NoReturn:
    """Be a guard with a fresh worker."""
    _be_the_guard(runner, None, {}, log)


def _spawn(program: str, theirs: socket.socket, env: Mapping[str, str], log: str) -> int:
    import subprocess

    import levelbest

    home = os.path.dirname(os.path.dirname(os.path.abspath(str(levelbest.__file__))))
    number = theirs.fileno()
    command = [sys.executable, "-c", _START, home, program, str(number), log]
    with _opened(log) as out:
        child = subprocess.Popen(
            command,
            pass_fds=[number],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            env={**os.environ, **env},
            start_new_session=True,
        )
    child.returncode = 0  # Worker.close waits for it
    return child.pid


def _opened(log: str) -> IO[bytes]:
    try:
        return open(log, "ab")
    except OSError:
        return open(os.devnull, "ab")


def _be_the_guard(runner: socket.socket, functions: Functions | None, env: Mapping[str, str], log: str) -> NoReturn:
    try:
        with contextlib.suppress(OSError):
            os.setsid()  # Ctrl-C at the terminal is the runner's to handle
        os.environ.update(env)
        _let_go_of_files(runner.fileno(), log)
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        for number in (signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        adopt_orphans()
        group = mmap.mmap(-1, 8)  # shared: the worker writes its trial's process group here
        alive, held = os.pipe()  # its other end closes with the guard
        worker = os.fork()
        if worker == 0:
            os.close(held)
            _be_the_worker(runner, alive, group, functions)
        os.close(alive)
        _wait_for_the_end(worker, runner)
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if trial := struct.unpack("q", group[:8])[0]:
                os.killpg(trial, signal.SIGKILL)
        sweep()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(worker, 0)
    finally:
        os._exit(0)


def _wait_for_the_end(worker: int, runner: socket.socket) -> None:
    """Until the worker has died or the runner is gone."""
    poller = select.poll()
    poller.register(runner.fileno(), select.POLLHUP)
    handle = open_pid(worker)
    if handle is not None:
        poller.register(handle, select.POLLIN)
    while not poller.poll(None if handle is not None else 50):
        if handle is None and os.waitpid(worker, os.WNOHANG)[0]:
            return


def _be_the_worker(runner: socket.socket, guard: int, group: mmap.mmap, functions: Functions | None) -> NoReturn:
    try:
        adopt_orphans()
        os.environ["PATH"] = search_path(None)
        own_streams()  # the trials inherit them: opening them again in each would cost a third of its start
        known = dict(functions or {})
        watch = (runner.fileno(), guard)
        gc.collect()
        gc.freeze()  # a fork shares what no collection touches

        trial = memoryview(group).cast("q")

        def announce(pid: int) -> None:
            trial[0] = pid

        forks = _Forks(known, watch, announce)
        buffer = b""
        while data := _next(runner, guard):
            *lines, buffer = (buffer + data).split(b"\n")
            for line in lines:
                task = json.loads(line)
                if "load" in task:
                    if not known.keys() >= {*task["load"], *task.get("given", ())}:
                        forks.dismiss()  # it would not know them
                    news: News = {"loaded": _load(task, known)}
                else:
                    if not task["function"]:
                        forks.dismiss()
                    fork = forks.take if task["function"] else None
                    news = {"outcome": attempt(task, fork, watch=watch, announce=announce, alone=True)}
                    announce(0)
                runner.sendall(json.dumps(news).encode() + b"\n")
                if task.get("function"):
                    forks.prepare()
    except (Quit, BrokenPipeError, ConnectionResetError):
        pass
    finally:
        sweep()
        os._exit(0)


class _Forks:
    """The process for the next trial of a function, made while the runner writes down the last one's end."""

    def __init__(self, functions: Functions, watch: tuple[int, ...], announce: Callable[[int], None]) -> None:
        self._functions, self._watch, self._announce = functions, watch, announce
        self._standby: Standby | None = None

    def prepare(self) -> None:
        """Have one ready; where there is no room for it, the next trial says so."""
        with contextlib.suppress(OSError):
            self._standby = self._standby or Standby.fork(self._functions, self._watch)
            self._announce(self._standby.pid)

    def take(self) -> Standby:
        """The one that is ready, or a new one where there is none, or it was killed as it waited."""
        if self._standby is not None and not self._standby.alive:
            self.dismiss()
        standby, self._standby = self._standby or Standby.fork(self._functions, self._watch), None
        return standby

    def dismiss(self) -> None:
        """End the one that is ready."""
        if self._standby is not None:
            self._announce(0)
            self._standby.close()
            self._standby = None
            sweep()


def _next(runner: socket.socket, guard: int) -> bytes:
    poller = select.poll()
    poller.register(runner.fileno(), select.POLLIN)
    poller.register(guard, select.POLLHUP)
    ready = dict(poller.poll())
    return b"" if guard in ready else runner.recv(1 << 16)


def _load(setup: Setup, known: dict[str, Callable[..., object]]) -> str | None:
    """Import the functions that tasks will name; what went wrong, or None."""
    for name in setup["load"]:
        if name not in known:
            try:
                known[name] = load(name, setup["folder"])
            except BaseException as error:
                return f"{name} cannot be imported: {type(error).__name__}: {error}"
    for key, where in setup.get("given", {}).items():
        if key not in known:
            later = Later(cast(HandedOver, where))
            if (problem := later.problem()) is not None:
                return problem
            known[key] = later
    with contextlib.suppress(Exception):  # what is wrong there, each trial says for itself
        rehearse()
    gc.collect()
    gc.freeze()
    return None


def _let_go_of_files(keep: int, log: str) -> None:
    """Give back every file this process was born with. Their numbers stay taken, so that an inherited object which
    closes its own closes nothing of ours."""
    try:
        numbers = [int(name) for name in os.listdir("/dev/fd")]
    except OSError:
        numbers = list(range(3, 256))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    try:
        target = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    except OSError:
        target = null
    os.dup2(target, 1)
    os.dup2(target, 2)
    for number in numbers:
        if number > 2 and number not in (keep, null):
            with contextlib.suppress(OSError):
                os.fstat(number)
                os.dup2(null, number)
