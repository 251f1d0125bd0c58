"""One mechanism for the certificates: cells draw samples by a seed of their own, tallies add up what each sample shows,
results are one JSON file, and pages are tables of it.

A run adds samples to all cells round by round, and goes on where the last one stopped.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

SEED = 2026
ROUNDS = (100, 200, 500, 1_000, 2_000)
Measures = dict[str, float]


@dataclass(frozen=True)
class Cell:
    """One figure or several of a certificate: ``measure`` draws one sample and says what it shows."""

    table: str
    row: str
    column: str
    measure: Callable[[np.random.Generator, int], Measures]

    @property
    def key(self) -> str:
        """Its name in the results."""
        return " | ".join((self.table, self.row, self.column))

    def sample(self, at: int) -> Measures:
        """What sample number ``at`` shows: it depends on the cell and the number alone."""
        return self.measure(np.random.default_rng([SEED, at, *self.key.encode()]), at)


@dataclass
class Tally:
    """Sums and counts of every measure of a cell, and the CPU seconds they took."""

    samples: int = 0
    seconds: float = 0.0
    sums: dict[str, float] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)

    def add(self, measures: Measures) -> None:
        """One more sample; a measure that is NaN was not taken."""
        self.samples += 1
        for name, value in measures.items():
            if not math.isnan(value):
                self.sums[name] = self.sums.get(name, 0.0) + value
                self.numbers[name] = self.numbers.get(name, 0) + 1

    def mean(self, name: str) -> float:
        """Of one measure; NaN where it was not taken."""
        return self.sums[name] / self.numbers[name] if self.numbers.get(name) else math.nan

    def error(self, name: str) -> float:
        """The standard error of a share."""
        share = self.mean(name)
        return math.sqrt(max(share * (1 - share), 0.0) / self.numbers[name]) if self.numbers.get(name) else math.nan


Results = dict[str, Tally]


def load(path: Path) -> Results:
    """What was computed so far."""
    if not path.exists():
        return {}
    return {key: Tally(**tally) for key, tally in json.loads(path.read_text(encoding="utf-8"))["cells"].items()}


def save(results: Results, path: Path) -> None:
    """A line for each cell."""
    rows = {
        key: vars(tally) | {"seconds": round(tally.seconds, 1)} | {"sums": _rounded(tally.sums)}
        for key, tally in results.items()
    }
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(row)}" for key, row in rows.items())
    path.write_text(f'{{"seed": {SEED}, "cells": {{\n{lines}\n}}}}\n', encoding="utf-8")


def _rounded(sums: dict[str, float]) -> dict[str, float]:
    return {name: float(f"{value:.10g}") for name, value in sums.items()}


def run(
    cells: Iterable[Cell],
    path: Path,
    *,
    rounds: Sequence[int] = ROUNDS,
    minutes: float = 60,
    seconds: float = math.inf,
) -> Results:
    """Add samples to every cell, round by round, until all have enough or the CPU minutes are over.

    A cell that has taken so many CPU ``seconds`` is left as it is.
    """
    results, started, todo = load(path), time.process_time(), list(cells)
    for aim in rounds:
        for cell in todo:
            tally = results.setdefault(cell.key, Tally())
            if tally.samples >= aim or tally.seconds >= seconds:
                continue
            begun = time.process_time()
            for at in range(tally.samples, aim):
                tally.add(cell.sample(at))
                if tally.seconds + time.process_time() - begun >= seconds:
                    break
            tally.seconds += time.process_time() - begun
            save(results, path)
            figures = ", ".join(f"{name} {tally.mean(name):.3f}" for name in tally.sums)
            print(f"{tally.samples:5d}  {cell.key}: {figures}", flush=True)
            if time.process_time() - started > 60 * minutes:
                return results
    return results


# ---- pages


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of Markdown, with an empty one after."""
    return [f"| {' | '.join(row)} |" for row in (heads, ["---"] * len(heads), *rows)] + [""]


def rate(value: float) -> str:
    """Three decimals; a dash where nothing was measured."""
    return "-" if math.isnan(value) else f"{value:.3f}"


def samples_words(tallies: Iterable[Tally]) -> str:
    """How many samples stand behind the cells of a table."""
    numbers = sorted({tally.samples for tally in tallies})
    between = f"{numbers[0]:,}" if len(numbers) == 1 else f"{numbers[0]:,} to {numbers[-1]:,}"
    return f"Samples a cell: {between}."


def main(cells: Callable[[], Sequence[Cell]], write: Callable[[Results], None], results: Path, what: str) -> None:
    """The command line of a certificate."""
    parser = argparse.ArgumentParser(description=f"Run or write {what}.")
    parser.add_argument("what", choices=["run", "write", "list"])
    parser.add_argument("--results", type=Path, default=results)
    parser.add_argument("--samples", type=int, default=ROUNDS[-1], help="samples a cell, reached in rounds")
    parser.add_argument("--cells", default="", help="a regular expression: the cells whose names it matches")
    parser.add_argument("--minutes", type=float, default=60, help="CPU minutes")
    parser.add_argument("--seconds", type=float, default=math.inf, help="CPU seconds a cell")
    given = parser.parse_args()
    chosen = [cell for cell in cells() if re.search(given.cells, cell.key)]
    if given.what == "list":
        print("\n".join(cell.key for cell in chosen))
    elif given.what == "run":
        rounds = [aim for aim in ROUNDS if aim < given.samples] + [given.samples]
        run(chosen, given.results, rounds=rounds, minutes=given.minutes, seconds=given.seconds)
    else:
        write(load(given.results))
