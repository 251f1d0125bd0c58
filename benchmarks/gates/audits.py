"""Generated keep/discard logs, audited as files: are the false keeps counted, and the gain that is selection?

    python benchmarks/gates/audits.py --logs 300        # about 5 minutes; writes audits.json, and docs/gates.md

A log: every attempt is run some times, and kept where the mean is better than that of the last that was kept; attempts
differ from it by 0, by ``better`` standard deviations of a run, or by -1. A keep is false where that is 0 or less.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
from _page import markdown, save

import levelbest as lb

CELLS = {
    "no attempt differs, 3 runs": (100, 3, 0.0, 0.0, 1.0),
    "10 % at +1 sd, 40 % at -1 sd, 2 runs": (100, 2, 0.1, 0.4, 1.0),
    "10 % at +1 sd, 40 % at -1 sd, 3 runs": (100, 3, 0.1, 0.4, 1.0),
    "30 % at +2 sd, 30 % at -1 sd, 2 runs": (100, 2, 0.3, 0.3, 2.0),
    "10 % at +.5 sd, 40 % at -1 sd, 5 runs": (50, 5, 0.1, 0.4, 0.5),
    "5 % at +1.5 sd, 50 % at -1 sd, 2 runs": (200, 2, 0.05, 0.5, 1.5),
}


def write_log(path: Path, cell: tuple[int, int, float, float, float], rng: np.random.Generator) -> tuple[int, float]:
    """Write a log; how many of its keeps are false, and what it truly gained."""
    attempts, runs, share, worse, better = cell
    base, best, false = 0.0, 0.0, 0
    rows = ["commit\tval_loss\tstatus"]
    for attempt in range(attempts + 1):
        drawn = rng.random()
        step = 0.0 if not attempt or drawn >= share + worse else better if drawn < share else -1.0
        scores = base + step + rng.standard_normal(runs)
        kept = not attempt or scores.mean() > best
        if kept:
            base, best = base + step, scores.mean()
            false += attempt > 0 and step <= 0
        if attempt % 20 == 13:
            rows.append(f"c{attempt}x\t0.000000\tcrash")
        rows += [f"c{attempt}\t{3 - 0.01 * score:.6f}\t{'keep' if kept else 'discard'}" for score in scores]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return false, base


def cell(name: str, logs: int, seed: int) -> dict[str, object]:
    """What audits of many logs give."""
    counted = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.tsv"
        for i in range(logs):
            false, gain = write_log(path, CELLS[name], np.random.default_rng([seed, i]))
            audit = lb.audit(path)
            low, high = audit.false_range
            known = audit.false_keeps, false, low <= false <= high
            counted.append((*known, 100 * audit.gain, gain, 100 * audit.claimed, len(audit.keeps)))
    expected, false, within, gain, true_gain, claimed, keeps = np.array(counted, dtype=float).T
    near = np.abs(expected - false) <= np.maximum(1, 0.2 * false)
    return {
        "log": name,
        "logs": logs,
        "keeps": float(keeps.mean()),
        "false": float(false.mean()),
        "expected": float(expected.mean()),
        "ratio": float(expected.sum() / false.sum()),
        "near": float(near.mean()),
        "within": float(within.mean()),
        "claimed": float(claimed.mean()),
        "true_gain": float(true_gain.mean()),
        "gain": float(gain.mean()),
    }


def table(rows: list[dict[str, object]]) -> str:
    """For the page."""
    head = (
        "attempts",
        "keeps",
        "false",
        "counted",
        "ratio",
        "a log within 20 % or 1",
        "in the range",
        "gain claimed, true, estimated",
    )
    return markdown(
        head,
        [
            (
                row["log"],
                f"{row['keeps']:.1f}",
                f"{row['false']:.2f}",
                f"{row['expected']:.2f}",
                f"{row['ratio']:.2f}",
                f"{row['near']:.2f}",
                f"{row['within']:.2f}",
                f"{row['claimed']:.2f}, {row['true_gain']:.2f}, {row['gain']:.2f}",
            )
            for row in rows
        ],
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=300)
    logs = parser.parse_args().logs
    rows = [cell(name, logs, seed) for seed, name in enumerate(CELLS)]
    print(shown := table(rows))
    save("audits", {"logs": logs, "cells": rows}, shown)
