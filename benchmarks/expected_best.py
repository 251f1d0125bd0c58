"""The expected best of n against its peers and against the floor, a sort of the same scores.

    python benchmarks/expected_best.py            # all of it: about a minute, half a gigabyte
    python benchmarks/expected_best.py --quick    # smaller sizes, to see that it runs; its ratios are not the claim

The peers are opda and boon: pip install 'levelbest[peers]'. The exit code is the number of rows that missed.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import time
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np

from _table import Table, best_times, number
from levelbest.stats import expected_best

CLOCK = time.process_time  # CPU time of all threads: what else runs on the machine does not count
ABSENT = "skipped: pip install 'levelbest[peers]'"


def exact_u(scores: list[int], n: int) -> Fraction:
    """U by whole numbers: sum of C(j-1, n-1) x_j over C(m, n)."""
    return Fraction(
        sum(math.comb(j, n - 1) * score for j, score in enumerate(sorted(scores))), math.comb(len(scores), n)
    )


def exact_v(scores: list[int], n: int) -> Fraction:
    """V by whole numbers: sum of (j^n - (j-1)^n) x_j over m^n."""
    ordered = enumerate(sorted(scores), start=1)
    return Fraction(sum((j**n - (j - 1) ** n) * score for j, score in ordered), len(scores) ** n)


def against_opda(table: Table, size: int) -> None:
    """All n of 2,000 trials; and one n where C(m, n) is no double."""
    what = f"U curve, {size} trials, all n"
    try:
        from opda.nonparametric import EmpiricalDistribution
    except ImportError:
        table.add(what, "opda u_tuning_curve", "at least 20 times faster", ABSENT, None)
        return
    scores = np.random.default_rng(0).normal(size=size)
    n = np.arange(1, size + 1)
    peer = EmpiricalDistribution(scores)
    with np.errstate(all="ignore"):
        theirs, ours = best_times(lambda: peer.u_tuning_curve(n), lambda: expected_best(scores, n), clock=CLOCK)
        their_curve, curve = peer.u_tuning_curve(n), expected_best(scores, n)
    table.add(
        what, "opda u_tuning_curve", "at least 20 times faster",
        f"{number(theirs / ours)} times ({number(1e3 * ours)} ms, opda {number(1e3 * theirs)} ms)", theirs / ours >= 20,
    )  # fmt: skip
    known = np.isfinite(their_curve)
    apart = np.abs(curve[known] / their_curve[known] - 1).max()
    table.add(
        what, "opda u_tuning_curve", "finite where opda is NaN",
        f"finite at {np.isfinite(curve).sum()} n, opda at {known.sum()} (there {number(apart)} apart)",
        bool(np.isfinite(curve).all()),
    )  # fmt: skip
    whole = [int(s) for s in np.random.default_rng(1).integers(0, 10**6, 1030)]
    with np.errstate(all="ignore"):
        their_value = float(EmpiricalDistribution(np.array(whole, dtype=float)).u_tuning_curve(515))
    error = abs(expected_best(whole, 515) / float(exact_u(whole, 515)) - 1)
    table.add(
        "U, 1,030 trials, n = 515", "exact fraction; opda", "error below 1e-12",
        f"error {number(error)}; opda {their_value}", error < 1e-12,
    )  # fmt: skip


def against_boon(table: Table) -> None:
    """Where j^n leaves int64."""
    for size in (100, 1000):
        what = f"V, {size} trials, n = 10"
        whole = [int(s) for s in np.random.default_rng(2).integers(600, 900, size)]
        exact = float(exact_v(whole, 10))
        error = abs(expected_best(whole, 10, estimator="v") / exact - 1)
        try:
            from boon import boo

            with np.errstate(all="ignore"):
                theirs = f"boon {float(boo(np.array(whole), n=10)):.6g} for {exact:.6g}"
        except ImportError:
            theirs = ABSENT
        except OverflowError as failure:
            theirs = f"boon fails: {failure}"
        table.add(what, "exact fraction; boon", "error below 1e-12", f"error {number(error)}; {theirs}", error < 1e-12)


def against_the_sort(table: Table, size: int) -> None:
    """200 log-spaced budgets of 10^7 scores."""
    scores = np.random.default_rng(3).normal(size=size)
    n = np.geomspace(1, size, 200).round().astype(np.int64)
    floor, ours = best_times(lambda: np.sort(scores), lambda: expected_best(scores, n), clock=CLOCK)
    what = f"U curve, {size:.0e} trials, 200 budgets"
    table.add(
        what, "numpy.sort of the scores", "at most 8 times",
        f"{number(ours / floor)} times ({number(ours)} s, sort {number(floor)} s)", ours / floor <= 8,
    )  # fmt: skip
    # Scores 1..m have the closed form n (m + 1) / (n + 1).
    ranks = np.random.default_rng(4).permutation(size) + 1.0
    error = np.abs(expected_best(ranks, n) / (n * (size + 1.0) / (n + 1)) - 1).max()
    table.add(what, "closed form for ranks", "error below 1e-12", f"error {number(error)}", bool(error < 1e-12))
    table.add(what, "opda, by its own arrays", "", f"would hold {3 * 8 * 200 * size / 2**30:.0f} GiB", None)


MEASURE = """
import re, sys
from pathlib import Path
import numpy as np
from levelbest.stats import expected_best

def memory(name):
    return 1024 * int(re.search(name + r":\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])

size = int(sys.argv[1])
expected_best(np.random.default_rng(0).normal(size=1 << 17), [1, 1000])
before = memory("VmRSS")
scores = np.random.default_rng(3).normal(size=size)
expected_best(scores, np.geomspace(1, size, 200).round().astype(np.int64))
print((memory("VmHWM") - before) / scores.nbytes)
"""


def memory(table: Table, size: int) -> None:
    """Peak memory of that curve in a fresh process, its input counted, in units of the input."""
    what = f"U curve, {size:.0e} trials, 200 budgets"
    if not Path("/proc/self/status").exists():
        table.add(what, "bytes of its input", "peak memory below 6 times", "skipped: needs /proc", None)
        return
    done = subprocess.run([sys.executable, "-c", MEASURE, str(size)], capture_output=True, text=True, check=True)
    peak = float(done.stdout)
    table.add(what, "bytes of its input", "peak memory below 6 times", f"{number(peak)} times", peak < 6)


def growth(table: Table, sizes: list[int]) -> None:
    """All n, the number of trials doubled: O(m log m) takes a little over 2 times as long, O(m^2) 4 times."""
    jobs = []
    for size in sizes:
        scores, n = np.random.default_rng(5).normal(size=size), np.arange(1, size + 1)
        jobs.append(lambda scores=scores, n=n: expected_best(scores, n))
    times = best_times(*jobs, clock=CLOCK)
    for (size, twice), (short, long) in zip(pairwise(sizes), pairwise(times), strict=True):
        table.add(
            f"U curve, {twice} trials, all n", f"{size} trials, all n", "less than 3 times (m log m, not m^2)",
            f"{number(long / short)} times ({number(long)} s)", long / short < 3,
        )  # fmt: skip


def main() -> int:
    """Run all and print the table."""
    parser = argparse.ArgumentParser(description="Speed, memory and accuracy of the expected best of n.")
    parser.add_argument("--quick", action="store_true", help="small sizes: does it run?")
    quick = parser.parse_args().quick
    table = Table("Expected best of n (CPU time, all threads)", ("levelbest", "numpy", "scipy", "opda", "boon"))
    memory(table, 10**6 if quick else 10**7)
    against_opda(table, 500 if quick else 2000)
    against_boon(table)
    against_the_sort(table, 10**6 if quick else 10**7)
    growth(table, [5000, 10_000, 20_000] if quick else [25_000, 50_000, 100_000, 200_000])
    if quick:
        table.rows = [replace(row, met=None) for row in table.rows]
    print(table)
    return table.missed()


if __name__ == "__main__":
    sys.exit(main())
