"""All pairs of ten families, all budgets up to 100, 10,000 resamples: how far above the floor?

The floor is what any bootstrap of these curves must do: sort every resample and multiply it by the weights. Times are
processor time with one BLAS thread, the shortest of several, floor and bands taking turns in one run.

    python benchmarks/compare.py
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys
import time
from itertools import combinations

import numpy as np

from _table import Table, best_times, number
from levelbest.stats.best._weights import rank_weights
from levelbest.stats.inference import Hypotheses, Sample, search_contrasts

FAMILIES, TRIALS, BUDGETS, RESAMPLES = 10, 200, 100, 10_000
LIMIT = 10.0


def main() -> int:
    rng = np.random.default_rng(0)
    families = [Sample(rng.normal(0.1 * i, 1, TRIALS)) for i in range(FAMILIES)]
    pairs = list(combinations(range(FAMILIES), 2))
    n = np.arange(1, BUDGETS + 1)
    weights = np.ascontiguousarray(rank_weights(TRIALS, n).T)
    drawn = [one.selection[rng.integers(0, TRIALS, (RESAMPLES, TRIALS))] for one in families]

    def floor() -> None:
        for one in drawn:
            np.sort(one, axis=1) @ weights

    def bands() -> None:
        search_contrasts(families, n, Hypotheses(tuple(pairs)), n_resamples=RESAMPLES)

    least, ours = best_times(floor, bands, repeats=3, clock=time.process_time)
    table = Table("Comparing families", ["levelbest", "numpy", "scipy"])
    what = f"{FAMILIES} families of {TRIALS}, {len(pairs)} pairs, n = 1..{BUDGETS}, {RESAMPLES:,} resamples"
    reached = f"{number(ours / least)} times ({number(ours)} s against {number(least)} s)"
    table.add(what, "sort and matrix product", f"at most {LIMIT:g} times", reached, ours / least <= LIMIT)
    print(table)
    return table.missed()


if __name__ == "__main__":
    sys.exit(main())
