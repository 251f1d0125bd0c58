"""Parallel work on several large families; results do not depend on the number of cores."""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from levelbest.errors import MissingExtra

ENGINES = ("local", "ray")
"""Where parts of one computation run: on this machine, or as tasks of Ray Core."""
PARALLEL_FROM = 100_000
"""From so many trials on a family is sorted once for all that follows, and has a core of its own where there is one."""
TICKER = "levelbest-ticker"
"""A thread that does nothing but say on standard error that work goes on: Python frees that lock in a fork."""
_KEPT = 24 << 20
"""Bytes; up to 32 MiB the allocator learns from."""
_Of = TypeVar("_Of")
_Made = TypeVar("_Made")
_is_command = False
_work: Callable[[int], object] | None = None


def this_is_a_command() -> None:
    """Say that this process runs nothing but a command, so that it may be forked and may keep freed memory.

    The allocator of Linux gives back what is freed beyond twice the largest block that ever was, and the kernel clears
    every page again: for arrays of half a megabyte that is a tenth of a report. So one large block is freed at once,
    which nothing was written to.
    """
    global _is_command
    _is_command = True
    block = bytes(_KEPT)
    del block


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
    return [*in_forks(make, each, _workers(each))] if _may_fork(each) else with_threads(make, each, n_trials)


def _may_fork(each: Sequence[object]) -> bool:
    others = [
        thread for thread in threading.enumerate() if thread is not threading.current_thread() and thread.name != TICKER
    ]
    return _is_command and sys.platform == "linux" and not others and _workers(each) > 1


def in_forks(make: Callable[[_Of], _Made], each: Sequence[_Of], workers: int) -> Iterator[_Made]:
    """What is made of each, in order, by forked processes; the rest of it here where one of them is killed."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    def made_at(place: int) -> _Made:
        return make(each[place])

    global _work
    _work, done = made_at, 0  # which the workers inherit: no pickle could carry it
    forked, others = multiprocessing.get_context("fork"), multiprocessing.active_children()
    try:
        with ProcessPoolExecutor(workers, forked, initializer=_leave_interrupts) as pool:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads: those of DuckDB are idle
                results = pool.map(_inherited, range(len(each)))
            try:
                for made in results:
                    done += 1
                    yield made
            except BaseException:  # Ctrl-C: what is under way is not waited for
                for worker in multiprocessing.active_children():
                    if worker not in others:
                        worker.terminate()
                raise
            finally:
                pool.shutdown(cancel_futures=True)
    except BrokenProcessPool:  # a worker was killed, for want of memory as a rule
        yield from map(make, each[done:])
    finally:
        _work = None


@contextmanager
def on_ray(workers: int | None = None) -> Iterator[Any]:
    """Ray Core, joined already or where ``RAY_ADDRESS`` says, else started here with so many workers until the end."""
    try:
        import ray
    except ImportError:
        raise MissingExtra("ray", "ray") from None
    ours, address = not ray.is_initialized(), os.environ.get("RAY_ADDRESS")
    if ours:
        cores = None if address else workers  # a cluster decides the number itself
        ray.init(address, num_cpus=cores, log_to_driver=False, logging_level="ERROR", include_dashboard=False)
    try:
        yield ray
    finally:
        if ours:
            ray.shutdown()


def _workers(each: Sequence[object]) -> int:
    return min(len(each), os.cpu_count() or 1)


def _leave_interrupts() -> None:
    """To the process that waits for the work."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _inherited(place: int) -> Any:
    assert _work is not None
    return _work(place)
