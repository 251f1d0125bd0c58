"""Simulated suites at the gate (`levelbest.gate`, as it is): false reds, broken tests found, losses that pass.

    python benchmarks/gates/suites.py --suites 2000        # about 40 minutes; writes suites.json, and docs/gates.md

0/1: every problem has its own chance of success, between .3 and .9. Graded: its own mean, and runs around it whose
deviation differs from problem to problem, between 0 and 1. Same (A/A): both versions are the same. Broken: three of 20
problems fall from .9, 1 and .85 to .4, .35 and .2. Loss: the suite loses just more than --worth, all problems alike, or
one in five of them all of it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from _page import markdown, save

import levelbest as lb

HOW = {"baseline": "old", "candidate": "new", "family": "version", "group": "problem", "selection": "score"}
WORTH = 0.05


def chances(kind: str, problems: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Mean scores of both versions, problem by problem."""
    if kind == "broken":
        before = np.full(problems, 0.9)
        before[:3] = 0.9, 1.0, 0.85
        after = before.copy()
        after[:3] = 0.4, 0.35, 0.2
        return before, after
    before = 0.3 + 0.6 * rng.beta(2, 1, problems)
    loss = 1.02 * WORTH
    if kind == "loss":
        return before, before - loss
    if kind == "loss in a few":
        few = np.arange(problems) < max(1, problems // 5)
        share = loss * problems / few.sum()
        return before, np.where(few, np.maximum(0.0, before - share), before)
    return before, before


def sampled(means: np.ndarray, runs: int, graded: bool, spread: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Scores between 0 and 1: (problem, run)."""
    if not graded:
        return (rng.random((means.size, runs)) < means[:, None]).astype(float)
    # symmetric about the mean within [0, 1], so that cutting changes no mean
    room = np.minimum(np.minimum(means, 1 - means), spread)
    return means[:, None] + room[:, None] * rng.uniform(-1, 1, (means.size, runs)) ** 3


def suite(kind: str, problems: int, runs: int, graded: bool, rng: np.random.Generator) -> dict[str, object]:
    """One suite, as a table."""
    before, after = chances(kind, problems, rng)
    spread = rng.uniform(0.05, 0.5, problems)
    scores = [sampled(means, runs, graded, spread, rng).ravel() for means in (before, after)]
    names = [f"t{i}" for i in range(problems) for _ in range(runs)]
    return {
        "version": ["old"] * len(names) + ["new"] * len(names),
        "problem": names * 2,
        "run": [*range(runs)] * (2 * problems),
        "score": np.concatenate(scores),
    }


CELLS = [
    *(("same", p, r, graded, 0.95, 1.0) for p, r in ((20, 10), (10, 3)) for graded in (False, True)),
    ("broken", 20, 10, False, 0.95, 0.5),
    *(("loss", 20, 10, graded, 0.95, 0.5) for graded in (False, True)),
    ("loss in a few", 20, 10, False, 0.95, 0.5),
    *(("same", 20, 10, graded, 0.98, 1.0) for graded in (False, True)),
    *(("same", p, r, graded, 0.95, 0.25) for p, r in ((50, 5), (200, 3)) for graded in (False, True)),
    *(("same", 100, 20, graded, 0.95, 0.1) for graded in (False, True)),
    *(("loss", 100, 5, graded, 0.95, 0.25) for graded in (False, True)),
    ("loss in a few", 100, 5, False, 0.95, 0.25),
]
"""What, problems, runs, graded, confidence, and the share of the suites that are simulated."""


def cell(place: int, suites: int) -> dict[str, object]:
    """What many gates decide."""
    kind, problems, runs, graded, confidence, part = CELLS[place]
    count = max(20, round(part * suites))
    decisions: list[str] = []
    for i in range(count):
        table = suite(kind, problems, runs, graded, np.random.default_rng([place, i]))
        how = {**HOW, "direction": "max", "bounds": (0, 1), "confidence": confidence, "worth": WORTH}
        decisions.append(lb.gate(table, **how).decision)
    shares = {name: decisions.count(name) / count for name in ("pass", "regressed", "inconclusive")}
    settings = {"kind": kind, "problems": problems, "runs": runs, "graded": graded, "confidence": confidence}
    return {**settings, "suites": count, **shares}


def table(rows: list[dict[str, object]]) -> str:
    """For the page."""
    head = ("versions", "scores", "problems x runs", "confidence", "suites", "regressed", "pass", "inconclusive")
    return markdown(head, list(_lines(rows)))


def _lines(rows: list[dict[str, object]]) -> Iterator[list[str]]:
    for row in rows:
        scores = "graded" if row["graded"] else "0/1"
        size = f"{row['problems']} x {row['runs']}"
        shares = [f"{row[name]:.3f}" for name in ("regressed", "pass", "inconclusive")]
        yield [row["kind"], scores, size, f"{row['confidence']:g}", f"{row['suites']:,}", *shares]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suites", type=int, default=2000)
    parser.add_argument("--cells", help="Some cells alone, printed and not saved: 0,3,5.")
    parser.add_argument("--rows", type=Path, help="Rows that were printed, to be saved.")
    given = parser.parse_args()
    some = range(len(CELLS)) if given.cells is None else [int(place) for place in given.cells.split(",")]
    rows = [json.loads(line) for line in given.rows.read_text().splitlines()] if given.rows else []
    for place in some if not rows else ():
        rows.append(cell(place, given.suites))
        print(json.dumps(rows[-1]), flush=True)
    if given.cells is None:
        save("suites", {"suites": given.suites, "worth": WORTH, "cells": rows}, table(rows))
