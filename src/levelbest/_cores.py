"""Parallel work on several large families; results do not depend on the number of cores."""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

PARALLEL_FROM = 100_000
"""From so many trials on a family is sorted once for all that follows, and has a core of its own where there is one."""
TICKER = "levelbest-ticker"
"""A thread that does nothing but say on standard error that work goes on: Python frees that lock in a fork."""
_Of = TypeVar("_Of")
_Made = TypeVar("_Made")
_is_command = False
_work: Callable[[int], object] | None = None


def this_is_a_command() -> None:
    """Say that this process runs nothing but a command, so that it may be forked."""
    global _is_command
    _is_command = True


def with_threads(make: Callable[[_Of], _Made], each: Sequence[_Of], n_trials: int) -> list[_Made]:
    """What is made of each family of ``n_trials``; of very many in threads: copying large arrays lets others run."""
    if len(each) < 2 or n_trials < PARALLEL_FROM:
        return [make(family) for family in each]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_workers(each)) as pool:
        return list(pool.map(make, each))


def with_processes(make: Callable[[_Of], _Made], each: Sequence[_Of], n_trials: int) -> list[_Made]:
    """The same in forked processes where that is safe: for small results of much work in small steps.

    A fork shares what is in memory and copies none of it. It is safe where no other thread of Python can hold a lock:
    in a command, on Linux.
    """
    if n_trials < PARALLEL_FROM:
        return [make(family) for family in each]
    return _forked(make, each) if _may_fork(each) else with_threads(make, each, n_trials)


def _may_fork(each: Sequence[object]) -> bool:
    others = [
        thread for thread in threading.enumerate() if thread is not threading.current_thread() and thread.name != TICKER
    ]
    return _is_command and sys.platform == "linux" and not others and _workers(each) > 1


def _forked(make: Callable[[_Of], _Made], each: Sequence[_Of]) -> list[_Made]:
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    def made_at(place: int) -> _Made:
        return make(each[place])

    global _work
    _work = made_at  # which the workers inherit: no pickle could carry it
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads: those of DuckDB are idle
            forked = multiprocessing.get_context("fork")
            with ProcessPoolExecutor(_workers(each), forked, initializer=_leave_interrupts) as pool:
                return [*pool.map(_inherited, range(len(each)))]
    except BrokenProcessPool:  # a worker was killed, for want of memory as a rule
        return [*map(make, each)]
    finally:
        _work = None


def _workers(each: Sequence[object]) -> int:
    return min(len(each), os.cpu_count() or 1)


def _leave_interrupts() -> None:
    """To the process that waits for the work."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _inherited(place: int) -> Any:
    assert _work is not None
    return _work(place)
