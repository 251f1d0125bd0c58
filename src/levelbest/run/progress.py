"""How a running study looks on a terminal: a bar per family, the best so far, failures, time left, the verdict."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from levelbest import _check
from levelbest._ledger.chain import LedgerFamily
from levelbest.run.ledger import Ledger
from levelbest.run.session import Reporter
from levelbest.run.study import Judge

if TYPE_CHECKING:
    from rich.console import RenderableType

MODES = ("auto", "bar", "lines", "quiet", "json")
_LINES_EVERY = 30.0
_REST = 20
"""The verdict rests this many times as long as its last piece took."""


def reporter_for(mode: str) -> Reporter:
    """The reporter for a mode: ``auto`` is a bar on a terminal and lines elsewhere; ``json`` is quiet until the end."""
    _check.as_choice(mode, MODES, "progress mode")
    if mode == "auto":
        mode = "bar" if sys.stderr is not None and sys.stderr.isatty() else "lines"
    return {"bar": _Bar, "lines": _Lines}.get(mode, Reporter)()


class _Lines(Reporter):
    """A line on standard error now and then: for logs and pipes."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _LINES_EVERY
        self._began = time.monotonic()
        self._last = (0, 0, 0, 0, 0)

    def tick(self, done: int, failed: int, total: int, running: int, session_done: int) -> None:
        """Print where it stands, every half minute."""
        self._last = (done, failed, total, running, session_done)
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _LINES_EVERY
            self.say(self._line())

    def _line(self) -> str:
        done, failed, total, running, session_done = self._last
        left = time_left(time.monotonic() - self._began, session_done, total - done)
        counts = [(done, f"of {total} trials"), (failed, "failed"), (running, "running")]
        return ", ".join([f"{n} {what}" for n, what in counts if n or what.startswith("of")] + ([left] if left else []))

    def say(self, sentence: str) -> None:
        """Print a sentence."""
        print(f"levelbest: {sentence}", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Print where it ended."""
        self.say(self._line())


class _Bar(Reporter):
    """Bars, drawn by rich, refreshed from the loop: no thread, so that workers can be forked at any time."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live

        self._console = Console(stderr=True)
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._drawn = self._began = self._rest_until = 0.0
        self._last = (0, 0, 0, 0, 0)

    def begin(self, ledger: Ledger, judge: Judge) -> None:
        """Start drawing."""
        from levelbest.run.standing import LiveStanding

        self._chain, self._judge = ledger.chain, judge
        self._standing = LiveStanding(self._chain, judge)
        self._drawn = self._began = time.monotonic()
        self._live.start()

    def tick(self, done: int, failed: int, total: int, running: int, session_done: int) -> None:
        """Draw again, four times a second at most."""
        self._last = (done, failed, total, running, session_done)
        now = time.monotonic()
        if now - self._drawn >= 0.25:
            self._drawn = now
            self._live.update(self._table(), refresh=True)

    def say(self, sentence: str) -> None:
        """Print a sentence above the bars."""
        self._console.print(f"levelbest: {sentence}", markup=False, highlight=False)

    def end(self) -> None:
        """Leave the last state on the screen."""
        self._live.stop()
        self._console.print(self._table())

    def _table(self) -> RenderableType:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 2))
        for family in self._chain.families.values():
            name, planned, finished, failed = family.counts
            table.add_row(
                Text(name),
                ProgressBar(total=planned, completed=finished, width=30),
                Text(f"{finished}/{planned}"),
                Text(f"{failed} failed" if failed else "", style="red"),
                Text(best_so_far(family, self._judge)),
            )
        done, _, total, running, session_done = self._last
        left = time_left(time.monotonic() - self._began, session_done, total - done)
        line = ", ".join(part for part in (f"{running} running" if running else "", left) if part)
        return Group(table, *[Text(text) for text in (line, self.verdict()) if text])

    def verdict(self) -> str:
        """Who is ahead, computed a piece at a time: the loop that runs the trials is waiting."""
        from levelbest.report.words.running import ahead_words

        now = time.monotonic()
        if now >= self._rest_until:
            self._standing.step()
            self._rest_until = now + _REST * (time.monotonic() - now)
        lead = ahead_words(self._standing.ahead())
        if not lead:
            return ""
        counts = ", ".join(f"{family.prefix} of {family.n_planned}" for family in self._chain.families.values())
        return f"so far ({counts} trials, 95 % at every look, median {self._judge.selection}): {lead}"


def best_so_far(family: LedgerFamily, judge: Judge) -> str:
    """The best selection score among the finished trials, where the direction is known."""
    if judge.selection is None or judge.direction is None:
        return ""
    least, most = family.extremes(judge.selection)
    if least > most:
        return ""
    return f"best {judge.selection} {most if judge.direction == 'max' else least:.4g}"


def time_left(elapsed: float, done: int, left: int) -> str:
    """How long it will take at this pace."""
    if done == 0 or left <= 0:
        return ""
    seconds = elapsed / done * left
    for size, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"about {seconds / size:.1f} {name} left"
    return f"about {seconds:.0f} s left"
