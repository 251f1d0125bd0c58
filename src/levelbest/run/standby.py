"""The process of a function's next trial, forked and made ready while the last result is written to disk.

It runs no code of a trial before the runner sends a task. A fork shares its parent's memory pages until one of the two
writes to them, and copying them is most of the cost of a short trial, so the code here writes to little memory.
Standard library only, like everything that a worker imports.
"""

from __future__ import annotations

import itertools
import json
import marshal
import os
import random
import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from typing import NamedTuple, NoReturn

from levelbest.run.objective import call
from levelbest.run.processes import MARK, die_with_parent, hold_mark
from levelbest.run.task import Task

Function = Callable[..., object]


EXIT_UNTOLD = 75
"""Exit code (EX_TEMPFAIL) of a trial whose result could not be handed over, nor that."""


class NotToldError(BaseException):
    """What a trial handed over did not reach its worker: the machine's doing, and nothing that a function may catch."""

    def __init__(self, error: OSError) -> None:
        super().__init__(error.errno, error.strerror)
        self.errno, self.strerror = error.errno, error.strerror


class Standby(NamedTuple):
    """A fork that waits for its task."""

    pid: int
    script: int
    """Where its task is written."""
    pipes: list[int]
    """What it prints, its errors and what it hands over, to be read."""

    @classmethod
    def fork(cls, functions: Mapping[str, Function], not_its_own: tuple[int, ...]) -> Standby:
        """Fork one, in a process group of its own.

        ``not_its_own``: the worker's lines to its runner and its guard, which the trial must not use.
        """
        ends = [os.pipe() for _ in range(4)]
        parent = os.getpid()
        try:
            pid = os.fork()
        except OSError:
            for handle in itertools.chain(*ends):
                os.close(handle)
            raise
        reads, writes = [read for read, _ in ends], [write for _, write in ends]
        if pid == 0:
            os.close(writes[3])
            _be_the_trial(functions, reads[3], writes[:3], parent, not_its_own)
        for handle in (*writes[:3], reads[3]):
            os.close(handle)
        try:  # noqa: SIM105
            os.setpgid(pid, pid)  # also done by the child, whichever is first
        except OSError:
            pass
        return cls(pid, writes[3], reads[:3])

    @property
    def alive(self) -> bool:
        """Whether it still waits; one that does not is reaped."""
        try:
            return os.waitpid(self.pid, os.WNOHANG) == (0, 0)
        except ChildProcessError:
            return False

    def begin(self, task: Task) -> tuple[int, list[int]]:
        """Hand over its task; its process, and what to read of it."""
        data = marshal.dumps((task["function"], task["config"], task["seed"], task["env"], task["folder"]))
        try:
            while data:
                data = data[os.write(self.script, data) :]
        except BrokenPipeError:
            pass  # it was killed: the waiting process is notified
        os.close(self.script)
        return self.pid, self.pipes

    def close(self) -> None:
        """Let go of one that is not needed; who forked it ends it."""
        for handle in (self.script, *self.pipes):
            os.close(handle)


def _be_the_trial(
    functions: Mapping[str, Function], script: int, pipes: list[int], parent: int, not_its_own: tuple[int, ...]
) -> NoReturn:
    """In the child: never returns, and never lets the worker's own code go on here."""
    code = EXIT_UNTOLD
    try:
        try:  # noqa: SIM105
            os.setpgid(0, 0)
        except OSError:
            pass
        die_with_parent(parent)
        for number in (signal.SIGINT, signal.SIGHUP):  # what the guard ignores; the others are as Python has them
            signal.signal(number, signal.SIG_DFL)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(pipes[0], 1)
        os.dup2(pipes[1], 2)
        for line in not_its_own:
            os.dup2(null, line)
        data = b""
        while more := os.read(script, 1 << 16):
            data += more
        os.close(script)
        name, config, seed, env, folder = marshal.loads(data)  # nothing to load: the worker is gone
        try:
            for variable, value in env.items():
                os.environ[variable] = value
            hold_mark(env.get(MARK, ""))
            os.chdir(folder)
        except OSError as error:
            _tell(pipes[2], unready=error.errno, problem=f"could not be made ready: {error.strerror}")
            os._exit(code)
        seed_everything(seed)
        code = _perform(functions[name], config, seed, pipes[2])
    finally:
        os._exit(code & 0xFF)


def _tell(pipe: int, **message: object) -> None:
    """Hand over a line."""
    data = (json.dumps(message) + "\n").encode()
    try:
        while data:
            data = data[os.write(pipe, data) :]
    except OSError as error:
        raise NotToldError(error) from error


def _perform(function: Function, config: Mapping[str, object], seed: int, pipe: int) -> int:
    """Call a function and hand over what becomes of it; the exit code."""
    try:
        code = _call_and_tell(function, config, seed, pipe)
    except NotToldError as error:
        code = EXIT_UNTOLD
        _tell(pipe, unready=error.errno, problem=f"its result could not be handed over: {error.strerror}")
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except Exception:
        pass
    return code


def _call_and_tell(function: Function, config: Mapping[str, object], seed: int, pipe: int) -> int:
    count = itertools.count(1)
    code = 1
    try:
        scores = call(function, config, seed, lambda scores: _tell(pipe, step=scores, count=next(count)))
        _tell(pipe, scores=scores)
        code = 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        _tell(pipe, problem=f"called exit({stop.code!r})")
    except NotToldError:
        raise
    except BaseException as error:
        try:
            sys.stdout.flush()
            traceback.print_exc()
        except Exception:
            pass  # what it printed is lost, and not what became of it
        _tell(pipe, raised=why(error))
    return code


def rehearse() -> None:
    """Do once, on nothing, what every trial does around its function.

    A fork has its parent's caches (of methods, of abstract classes), and copies pages for what it must fill in itself.
    """
    random.seed(0)  # every trial seeds them again
    if (numpy := sys.modules.get("numpy")) is not None:
        numpy.random.seed(0)
    null = os.open(os.devnull, os.O_WRONLY)
    for config in ({"score": 1.0}, {}):
        _perform(_stand_in, config, 0, null)
    os.close(null)


def _stand_in(config: Mapping[str, object], seed: int) -> object:
    return config or float(seed)


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


def why(error: BaseException) -> str:
    """An exception in a line."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:300]}" if lines else type(error).__name__
