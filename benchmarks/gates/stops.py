"""Studies that stop when they are decided (`run --stop-when decided`), looked at after every trial of each family.

    python benchmarks/gates/stops.py --studies 300        # about 5 minutes; writes stops.json, and docs/gates.md

Families have as many trials planned, and run in turn. Equal families that are called decided at any look are a false
decision; of unequal ones it is told how often they are decided, and which share of the trials was not needed.
"""

from __future__ import annotations

import argparse
from types import SimpleNamespace

import numpy as np
from _page import markdown, save
from loops import DISTRIBUTIONS

from levelbest._ledger.chain import End, LedgerFamily
from levelbest.run.standing import LiveStanding
from levelbest.run.study import Judge

PLANNED = 60
CELLS = [
    *((name, 2, 1, 0.0) for name in DISTRIBUTIONS),
    ("normal", 4, 1, 0.0),
    ("normal", 2, 5, 0.0),
    ("skewed up", 4, 5, 0.0),
    *(("normal", 2, 1, ahead) for ahead in (0.5, 1.0, 2.0, 3.0)),
    *(("normal", 2, 5, ahead) for ahead in (1.0, 2.0)),
]
"""Scores, families, the headline budget, and by how many standard deviations the first family is better."""


def study(name: str, count: int, headline: int, ahead: float, rng: np.random.Generator) -> tuple[bool, float]:
    """Whether one study is decided, and the share of its trials that were not needed."""
    families = {k: LedgerFamily(k, f"f{k}", f"f{k}", {}, "", PLANNED, PLANNED) for k in range(count)}
    ledger = SimpleNamespace(families=families, study={"headline": headline})
    standing = LiveStanding(ledger, Judge("x", None, "max"))
    scores = DISTRIBUTIONS[name](rng, count * PLANNED).reshape(count, PLANNED)
    scores[0] += ahead
    for trial in range(PLANNED):
        for k, family in families.items():
            family.finish(trial, End("ok", {"x": float(scores[k, trial])}))
        if standing.decided(headline):
            return True, 1 - (trial + 1) / PLANNED
    return False, 0.0


def cell(place: int, studies: int) -> dict[str, object]:
    """What many studies give."""
    drawn = [study(*CELLS[place], np.random.default_rng([place, i])) for i in range(studies)]
    decided, saved = np.array(drawn, dtype=float).T
    known = dict(zip(("scores", "families", "headline", "ahead"), CELLS[place], strict=True))
    return {**known, "studies": studies, "decided": float(decided.mean()), "saved": float(saved.mean())}


def table(rows: list[dict[str, object]]) -> str:
    """For the page."""
    head = ("scores", "families", "n", "the first is ahead by", "studies", "decided", "trials not needed")
    lines = []
    for row in rows:
        ahead = f"{row['ahead']:g} sd" if row["ahead"] else "nothing"
        shown = [f"{row['studies']:,}", f"{row['decided']:.3f}", f"{row['saved']:.2f}" if row["ahead"] else ""]
        lines.append([row["scores"], row["families"], row["headline"], ahead, *shown])
    return markdown(head, lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=300)
    studies = parser.parse_args().studies
    rows = []
    for place in range(len(CELLS)):
        rows.append(cell(place, studies))
        print(rows[-1], flush=True)
    save("stops", {"studies": studies, "planned": PLANNED, "cells": rows}, table(rows))
