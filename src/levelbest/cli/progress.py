"""Progress on standard error, where that is a terminal, and silence where it is not."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from levelbest._cores import TICKER

_PATIENCE = 1.0
"""Seconds before anything is shown."""


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A function of (done, total) that draws the bar."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TextColumn("left:"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Say what is being done, and for how long, once it has taken more than a second; the line is gone at the end."""
    if not sys.stderr.isatty():
        yield
        return
    done = threading.Event()
    shown = threading.Thread(target=_tick, args=(what, done), daemon=True, name=TICKER)
    shown.start()
    try:
        yield
    finally:
        done.set()
        shown.join()


def _tick(what: str, done: threading.Event) -> None:
    begun = monotonic()
    if done.wait(_PATIENCE):
        return
    while True:
        print(f"\r{what} ... {monotonic() - begun:.0f} s", end="", file=sys.stderr, flush=True)
        if done.wait(_PATIENCE):
            break
    print("\r\x1b[2K", end="", file=sys.stderr, flush=True)  # the whole line, and nothing else
