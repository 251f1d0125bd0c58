"""Simulated suites at the gate (`levelbest.gate`, as it is): false reds, broken tests found, losses that pass.

    python benchmarks/gates/suites.py run --samples 2000      # goes on where it stopped; about 90 minutes
    python benchmarks/gates/suites.py write                   # the tables of docs/gates.md

0/1: every problem has its own chance of success, between .3 and .9. Graded: its own mean, and runs around it whose
deviation differs from problem to problem, between 0 and 1. Same (A/A): both versions are the same. Broken: three of 20
problems fall from .9, 1 and .85 to .4, .35 and .2. Loss: the suite loses just more than --worth, all problems alike,
one in five of them all of it, or suddenly: nothing varies, but now and then a run of the candidate scores 0.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from _page import markdown, place

import levelbest as lb

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "coverage"))
from certificate import Cell, Measures, Results, Tally, main  # noqa: E402

RESULTS = HERE / "suites.json"
HOW = {"baseline": "old", "candidate": "new", "family": "version", "group": "problem", "selection": "score"}
WORTH = 0.05
LOSS = 1.02 * WORTH
ANSWERS = ("regressed", "pass", "inconclusive")


def chances(kind: str, problems: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Mean scores of both versions, problem by problem."""
    if kind == "broken":
        before = np.full(problems, 0.9)
        before[:3] = 0.9, 1.0, 0.85
        after = before.copy()
        after[:3] = 0.4, 0.35, 0.2
        return before, after
    before = 0.3 + 0.6 * rng.beta(2, 1, problems)
    if kind == "loss":
        return before, before - LOSS
    if kind == "loss in a few":
        few = np.arange(problems) < max(1, problems // 5)
        share = LOSS * problems / few.sum()
        return before, np.where(few, np.maximum(0.0, before - share), before)
    return before, before


def sampled(means: np.ndarray, runs: int, graded: bool, spread: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Scores between 0 and 1: (problem, run)."""
    if not graded:
        return (rng.random((means.size, runs)) < means[:, None]).astype(float)
    # symmetric about the mean within [0, 1], so that cutting changes no mean
    room = np.minimum(np.minimum(means, 1 - means), spread)
    return means[:, None] + room[:, None] * rng.uniform(-1, 1, (means.size, runs)) ** 3


def sudden(problems: int, runs: int, graded: bool, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Scores that never vary, but for runs of the candidate that fail: (problem, run) of both."""
    before = np.full((problems, runs), 0.9 if graded else 1.0)
    fails = rng.random((problems, runs)) < LOSS / before[0, 0]
    return before, np.where(fails, 0.0, before)


def as_table(before: np.ndarray, after: np.ndarray) -> dict[str, object]:
    """Scores of both versions, (problem, run) each, as a table."""
    columns: dict[str, list[object]] = {"version": [], "problem": [], "run": [], "score": []}
    for version, scores in (("old", before), ("new", after)):
        problems, runs = scores.shape
        columns["version"] += [version] * scores.size
        columns["problem"] += [f"t{i}" for i in range(problems) for _ in range(runs)]
        columns["run"] += [*range(runs)] * problems
        columns["score"] += scores.ravel().tolist()
    return {**columns, "score": np.array(columns["score"])}


def suite(kind: str, problems: int, runs: int, graded: bool, rng: np.random.Generator) -> dict[str, object]:
    """One suite, as a table."""
    if kind == "sudden loss":
        return as_table(*sudden(problems, runs, graded, rng))
    means = chances(kind, problems, rng)
    spread = rng.uniform(0.05, 0.5, problems)
    before, after = (sampled(each, runs, graded, spread, rng) for each in means)
    return as_table(before, after)


def decided(table: dict[str, object], confidence: float = 0.95) -> Measures:
    """What the gate answers."""
    how = {**HOW, "direction": "max", "bounds": (0, 1), "confidence": confidence, "worth": WORTH}
    decision = lb.gate(table, **how).decision
    return {answer: float(decision == answer) for answer in ANSWERS}


def with_days(runs: int, days: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """0/1 scores of 20 problems whose chance changes from run to run, the same for all problems: (problem, run)."""
    return (rng.random((20, runs)) < np.clip(days, 0, 1)).astype(float)


def alike(runs: int, chance: float, rng: np.random.Generator) -> np.ndarray:
    """0/1 scores of 20 problems with the same chance: (problem, run)."""
    return with_days(runs, np.full(runs, chance), rng)


Draw = Callable[[np.random.Generator], np.ndarray]
HARD: dict[str, tuple[Draw, Draw]] = {
    "runs of .7 with a deviation of .05": (2 * (lambda rng: with_days(10, rng.normal(0.7, 0.05, 10), rng),)),
    "runs of .7 with a deviation of .1": (2 * (lambda rng: with_days(10, rng.normal(0.7, 0.1, 10), rng),)),
    "runs of .7 with a deviation of .2": (2 * (lambda rng: with_days(10, rng.normal(0.7, 0.2, 10), rng),)),
    "of ten runs one in .3, the others in .9": (
        2 * (lambda rng: with_days(10, np.where(rng.random(10) < 0.1, 0.3, 0.9), rng),)
    ),
    "20 runs of old, 3 of new, .9": (lambda rng: alike(20, 0.9, rng), lambda rng: alike(3, 0.9, rng)),
    "3 runs of old, 20 of new, .9": (lambda rng: alike(3, 0.9, rng), lambda rng: alike(20, 0.9, rng)),
    "20 runs of old, 3 of new, .99": (lambda rng: alike(20, 0.99, rng), lambda rng: alike(3, 0.99, rng)),
    "10 runs of both, .99": (2 * (lambda rng: alike(10, 0.99, rng),)),
}
"""Equal versions that are hard to be fair to, 20 problems: what both versions draw."""


SIZES = ((10, 3), (10, 20), (20, 10), (50, 5), (100, 20), (200, 3), (200, 20))
"""Problems and runs of equal versions."""
LOSSES = ((10, 3), (20, 10), (100, 5), (200, 3))
"""Of versions of which one loses more than --worth."""


def cells() -> list[Cell]:
    """Every cell, in the order of the page."""
    return list(_cells())


def _cells() -> Iterator[Cell]:
    for confidence in (0.95, 0.98):
        for problems, runs in SIZES:
            for graded in (False, True):
                yield _cell("same", problems, runs, graded, confidence)
    yield _cell("broken", 20, 10, False, 0.95)
    for kind in ("loss", "loss in a few", "sudden loss"):
        for problems, runs in LOSSES:
            for graded in (False, True):
                yield _cell(kind, problems, runs, graded, 0.95)
    for name in HARD:
        yield _hard(name)


def _hard(name: str) -> Cell:
    def measure(rng: np.random.Generator, _at: int) -> Measures:
        old, new = HARD[name]
        return decided(as_table(old(rng), new(rng)))

    return Cell("same, hard", name, "20 problems", measure)


def _cell(kind: str, problems: int, runs: int, graded: bool, confidence: float) -> Cell:
    def measure(rng: np.random.Generator, _at: int) -> Measures:
        return decided(suite(kind, problems, runs, graded, rng), confidence)

    size = f"{problems} x {runs}" + (f", {confidence:g}" if confidence != 0.95 else "")
    return Cell(kind, "graded" if graded else "0/1", size, measure)


def table(results: Results) -> str:
    """For the page: a row for each cell of the results."""
    head = ("versions", "scores", "problems x runs", "confidence", "suites", *ANSWERS)
    rows = []
    for kind, scores, column, tally in _rows(results, hard=False):
        size, _, confidence = column.partition(", ")
        shares = [f"{tally.mean(answer):.3f}" for answer in ANSWERS]
        rows.append((kind, scores, size, confidence or "0.95", f"{tally.samples:,}", *shares))
    return markdown(head, rows)


def hard_table(results: Results) -> str:
    """Of equal versions that are hard to be fair to."""
    head = ("equal versions", "suites", *ANSWERS)
    rows = [
        (name, f"{tally.samples:,}", *(f"{tally.mean(answer):.3f}" for answer in ANSWERS))
        for _, name, _, tally in _rows(results, hard=True)
    ]
    return markdown(head, rows)


def _rows(results: Results, *, hard: bool) -> Iterator[tuple[str, str, str, Tally]]:
    for cell in cells():
        if cell.key in results and (cell.table == "same, hard") == hard:
            yield cell.table, cell.row, cell.column, results[cell.key]


def tables(results: Results) -> dict[str, str]:
    """The tables of the page by their marks."""
    return {"suites": table(results), "hard suites": hard_table(results)}


def write(results: Results) -> None:
    """Into the page."""
    for name, shown in tables(results).items():
        place(name, shown)


if __name__ == "__main__":
    main(cells, write, RESULTS, "the decisions of simulated suites")
