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
def working(what: str) -> Iterator[Callable[[int, int], None]]:
    """Say what is being done, and for how long, once it has taken more than a second; the line is gone at the end.

    A function of (done, total) says how far it is.
    """
    far: list[tuple[int, int]] = []
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    over = threading.Event()
    shown = threading.Thread(target=_tick, args=(what, over, far), daemon=True, name=TICKER)
    shown.start()
    try:
        yield lambda done, total: far.append((done, total))
    finally:
        over.set()
        shown.join()


def _tick(what: str, over: threading.Event, far: list[tuple[int, int]]) -> None:
    begun = monotonic()
    if over.wait(_PATIENCE):
        return
    while True:
        so_far = f"{far[-1][0]} of {far[-1][1]}, " if far else ""
        print(f"\r{what} ... {so_far}{monotonic() - begun:.0f} s\x1b[K", end="", file=sys.stderr, flush=True)
        if over.wait(_PATIENCE):
            break
    print("\r\x1b[2K", end="", file=sys.stderr, flush=True)  # the whole line, and nothing else
