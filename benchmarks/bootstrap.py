"""The bootstrap engine against its floor and against a Python loop: ``python benchmarks/bootstrap.py``.

The floor is the least that any bootstrap of these estimates must do, written directly: the same draws, their counts,
the rows in order and one matrix product. The loop is what allentune and meanmax do: resample, call the estimator,
repeat; it runs fewer resamples and is scaled. CPU time with one BLAS thread (others that wait count as if
they worked), the jobs taking turns; only the ratios mean something.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys
import time

import numpy as np

from _table import Table, best_times, number
from levelbest.stats import best_interval, expected_best
from levelbest.stats.best._weights import rank_weights

M = 50
N = np.arange(1, M + 1)
INSIDE = N[:-1]  # the jackknife has no error at n = n_trials


def floor(x: np.ndarray, weights: np.ndarray, n_resamples: int, piece: int = 4096) -> np.ndarray:
    """Draws, counts, rows and one product, in pieces that suit the cache."""
    rng = np.random.default_rng(0)
    x = np.sort(x)
    out = np.empty((n_resamples, len(weights)))
    for start in range(0, n_resamples, piece):
        b = min(piece, n_resamples - start)
        drawn = rng.integers(0, M, (b, M)) + np.arange(b)[:, None] * M
        counts = np.bincount(drawn.ravel(), minlength=b * M)
        out[start : start + b] = np.repeat(np.tile(x, b), counts).reshape(b, M) @ weights.T
    return out


def loop(x: np.ndarray, n_resamples: int) -> np.ndarray:
    """One resample at a time, one call of our own estimator for all n: kinder than one call per n, to set beside."""
    rng = np.random.default_rng(0)
    return np.array([expected_best(rng.choice(x, M), N) for _ in range(n_resamples)])


def loop_per_budget(x: np.ndarray, n_resamples: int) -> np.ndarray:
    """One estimate per resample and budget, as the papers' packages do."""
    rng = np.random.default_rng(0)
    out = np.empty((n_resamples, M))
    for i in range(n_resamples):
        ordered = np.sort(rng.choice(x, M))
        for n in N:
            steps = (np.arange(1, M + 1) / M) ** n
            out[i, n - 1] = ordered @ np.diff(steps, prepend=0.0)
    return out


def main() -> int:
    table = Table(f"Bootstrap at {M} trials for every n", ("levelbest", "numpy", "scipy"))
    x = np.random.default_rng(1).beta(8, 2, M)
    weights = rank_weights(M, N)

    def interval(method: str, n: np.ndarray, n_resamples: int, **options: object) -> object:
        return best_interval(x, n, method=method, n_resamples=n_resamples, rng=0, **options)  # type: ignore[arg-type]

    base, ours = best_times(
        lambda: floor(x, weights, 100_000),
        lambda: interval("percentile", N, 100_000),
        repeats=5,
        clock=time.process_time,
    )
    what = "percentile interval, 100,000 resamples"
    table.add(what, f"floor, {number(base)} s", "at most 3 times", f"{ours / base:.2f} times", ours <= 3 * base)
    for name, job, size, least in (
        ("a loop, one call per resample and n", loop_per_budget, 300, 50),
        ("a loop, one call per resample", loop, 2000, None),
    ):
        (slow,) = best_times(lambda job=job, size=size: job(x, size), repeats=2, clock=time.process_time)  # type: ignore[misc]
        slow *= 100_000 / size
        reached = f"{slow / ours:.0f} times faster"
        wanted = "" if least is None else f"at least {least} times faster"
        table.add(what, f"{name}, {number(slow)} s", wanted, reached, None if least is None else slow >= least * ours)

    base, student, default, band = best_times(
        lambda: floor(x, weights, 10_000),
        lambda: interval("studentised", INSIDE, 10_000),
        lambda: interval("default", INSIDE, 10_000),
        lambda: interval("studentised", INSIDE, 10_000, simultaneous=True),
        repeats=7,
        clock=time.process_time,
    )
    against = f"floor, {number(base)} s"
    met = student <= 10 * base
    table.add("studentised interval, 10,000 resamples", against, "at most 10 times", f"{student / base:.2f} times", met)
    table.add("default interval, 10,000 resamples", against, "", f"{default / base:.2f} times", None)
    table.add("studentised band, 10,000 resamples", against, "", f"{band / base:.2f} times", None)
    print(table)
    return 1 if table.missed() else 0


if __name__ == "__main__":
    sys.exit(main())
