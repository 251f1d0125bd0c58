"""What the benchmarks share: timing of two things in turns, and one table with versions."""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

__all__ = ["Row", "Table", "best_times", "number"]


def best_times(
    *jobs: Callable[[], Any], repeats: int = 5, clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """The shortest time of each job in seconds, the jobs taking turns so that a busy machine slows all of them.

    With ``clock=time.process_time`` it is CPU time, all threads of this process counted.
    """
    best = [float("inf")] * len(jobs)
    for _ in range(repeats):
        for place, job in enumerate(jobs):
            start = clock()
            job()
            best[place] = min(best[place], clock() - start)
    return best


def number(value: float) -> str:
    """Three digits, without a row of zeros."""
    return f"{value:.3g}"


@dataclass(frozen=True)
class Row:
    """One comparison: what, against whom, what is wanted and what was reached."""

    what: str
    against: str
    wanted: str
    reached: str
    met: bool | None
    """None: nothing is wanted of it, or it was skipped."""


@dataclass
class Table:
    """Rows as they come, printed once, with the versions that made them."""

    title: str
    packages: Iterable[str]
    rows: list[Row] = field(default_factory=list)

    def add(self, what: str, against: str, wanted: str, reached: str, met: bool | None) -> None:
        """One more row; a line on standard error shows that work goes on."""
        self.rows.append(Row(what, against, wanted, reached, met))
        print(f"  done: {what}", file=sys.stderr, flush=True)

    def missed(self) -> int:
        """How many rows did not reach what is wanted."""
        return sum(row.met is False for row in self.rows)

    def __str__(self) -> str:
        head = ("what", "against", "wanted", "reached", "")
        marks = {True: "met", False: "MISSED", None: ""}
        cells = [head, *((r.what, r.against, r.wanted, r.reached, marks[r.met]) for r in self.rows)]
        widths = [max(len(line[column]) for line in cells) for column in range(len(head))]
        lines = [
            "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in cells
        ]
        lines.insert(1, "  ".join("-" * width for width in widths))
        return "\n".join([self.title, self._versions(), "", *lines])

    def _versions(self) -> str:
        found = [f"Python {platform.python_version()} ({platform.system()} {platform.machine()})"]
        for package in self.packages:
            try:
                found.append(f"{package} {metadata.version(package)}")
            except metadata.PackageNotFoundError:
                found.append(f"{package} absent")
        return ", ".join(found)
