"""Starts and ends processes without leaving orphans. Standard library only.

On Linux a process can adopt its orphaned descendants, so processes that a trial leaves behind, detached or not, are
found as children and terminated. Elsewhere the process group of the trial is terminated, and processes that left the
group are found by a mark, which is also used if the adopting process was killed: a variable in the environment of the
programs that an attempt started and, on Linux, the name of an in-memory file that it and its forks hold open.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Collection

MARK = "LEVELBEST_ATTEMPT"
"""The variable by which the processes of an attempt are known."""
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None
_KILL = int(getattr(signal, "SIGKILL", 9))
_HELD = "levelbest-"


def adopt_orphans() -> None:
    """Become the parent of every orphan below this process (Linux)."""
    if _prctl is not None:
        _prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent(parent: int) -> None:
    """Have the kernel end this process with its parent (Linux), also in the program it becomes; behind the guard."""
    if _prctl is not None:
        _prctl(_PR_SET_PDEATHSIG, _KILL, 0, 0, 0)
        if os.getppid() != parent:  # it died before the kernel was told
            os.kill(os.getpid(), _KILL)


def open_pid(pid: int) -> int | None:
    """A file that is ready when a process ends, where the system has such a thing."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def children() -> list[int]:
    """The children of this process, adopted ones included; empty where the system does not say."""
    try:
        with open("/proc/thread-self/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except (OSError, ValueError):
        return []


def sweep() -> None:
    """End and reap every child of this process, until there is none."""
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return  # the usual case, without a look into /proc
    while left := children():
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, _KILL)
        for pid in left:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def end_marked(marks: Collection[str], seconds: float = 10.0) -> list[int]:
    """End every process of this machine that bears one of these marks; those that are still there afterwards."""
    deadline = time.monotonic() + seconds
    while (left := _marked(marks)) and time.monotonic() < deadline:
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
    return left


def end_detached(mark: str) -> None:
    """End what a trial left in sessions of its own, where no process adopts orphans."""
    if _prctl is None and mark:
        end_marked([mark])


def hold_mark(mark: str) -> None:
    """Hold a mark as the name of an open file, which what this process forks holds too (Linux)."""
    if mark and hasattr(os, "memfd_create"):
        os.memfd_create(f"{_HELD}{mark}")


def _marked(marks: Collection[str]) -> list[int]:
    wanted = {f"{MARK}={mark}".encode() for mark in marks if mark}
    held = {f"/memfd:{_HELD}{mark} (deleted)" for mark in marks if mark}
    if not wanted:
        return []
    if not os.path.isdir("/proc/self"):
        return _listed(wanted)
    processes = [name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
    return [int(name) for name in processes if _has_variable(name, wanted) or _has_file(name, held)]


def _listed(wanted: set[bytes]) -> list[int]:
    """The processes whose environment, as ``ps`` shows it, has one of these variables; none where it shows none."""
    import subprocess

    command = ["ps", "axeww", "-o", "pid=,command="]
    try:
        lines = subprocess.run(command, capture_output=True, timeout=10, check=False).stdout.splitlines()
    except (OSError, subprocess.SubprocessError):
        return []
    processes = (line.strip().partition(b" ") for line in lines)
    return [int(pid) for pid, _, text in processes if pid.isdigit() and not wanted.isdisjoint(text.split(b" "))]


def _has_variable(process: str, wanted: set[bytes]) -> bool:
    try:
        with open(f"/proc/{process}/environ", "rb") as file:  # that of a process that has ended is empty
            return not wanted.isdisjoint(file.read().split(b"\0"))
    except OSError:
        return False


def _has_file(process: str, held: set[str]) -> bool:
    folder = f"/proc/{process}/fd"
    try:
        for number in os.listdir(folder):
            with contextlib.suppress(OSError):
                if os.readlink(f"{folder}/{number}") in held:
                    return True
    except OSError:
        pass
    return False
