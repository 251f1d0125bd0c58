"""Many problems: pass@k against the loop over problems, a verifier against the engine's sort, and tables beyond memory.

python benchmarks/groups.py            # about two minutes
python benchmarks/groups.py --huge     # also 10^8 samples in ten files (1 GB of disk)
python benchmarks/groups.py --write    # the last section of docs/speed.md
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from _table import Table, best_times, number
from levelbest import Trials, curve
from levelbest.readers.parts import read_in_parts
from levelbest.readers.tables.engine import connect
from levelbest.stats import pass_at_k
from levelbest.stats.problems import DrawnFrom, GroupBest, drawn_values, expected_best_by_group
from levelbest.trials import Settings
from levelbest.trials.problems import grid_of

PROBLEMS = 10_000
SECTION = "## Samples of problems, compared with another library"
OPTIONS = {"group": "problem", "selection": "verifier", "reported": "correct", "direction": "max"}


def product_formula(samples: int, correct: int, k: int) -> float:
    """What evaluation harnesses do for one problem and one k ([C], listing in section 2.1)."""
    if samples - correct < k:
        return 1.0
    return float(1.0 - np.prod(1.0 - k / np.arange(samples - correct + 1, samples + 1)))


def whole_matrix(table: Table) -> None:
    """A 0/1 matrix of 10,000 problems and 1,000 samples, every k; the loop is timed on some of its problems."""
    rng = np.random.default_rng(0)
    matrix = rng.random((PROBLEMS, 1000)) < rng.beta(0.5, 1, PROBLEMS)[:, None]
    k = np.arange(1, 1001)
    some = rng.choice(PROBLEMS, 20, replace=False)

    def ours() -> np.ndarray:
        return np.asarray(pass_at_k(matrix.sum(axis=1), 1000, k)).mean(axis=0)

    def loop() -> list[list[float]]:
        return [[product_formula(1000, int(matrix[i].sum()), int(j)) for j in k] for i in some]

    fast, slow = best_times(ours, loop, repeats=3)
    apart = np.abs(np.asarray(pass_at_k(matrix[some].sum(axis=1), 1000, k)) - np.array(loop())).max()
    ratio = slow * PROBLEMS / some.size / fast
    reached = f"{number(ratio)} times faster ({number(fast)} s; differs by {apart:.0e})"
    table.add("pass@k, 10,000 x 1,000, k = 1..1,000", "loop of products", ">= 50", reached, ratio >= 50)


def write(folder: Path, samples: int, files: int) -> list[str]:
    """Samples of 10,000 problems, interleaved, with a verifier's score and 0/1."""
    connection = connect()
    connection.execute("SELECT setseed(0.5)")
    paths = []
    for i in range(files):
        path = folder / f"samples{samples}-{i:05d}-of-{files:05d}.parquet"
        rows = PROBLEMS * samples // files
        connection.execute(
            f"COPY (SELECT CAST(i % {PROBLEMS} AS INTEGER) AS problem, CAST(random() AS FLOAT) AS verifier, "
            f"CAST(random() < (i % {PROBLEMS}) / {PROBLEMS} AS TINYINT) AS correct FROM range({rows}) t(i)) "
            f"TO '{path}' (FORMAT parquet)"
        )
        paths.append(str(path))
    return paths


def in_parts(paths: list[str], memory: str) -> GroupBest:
    """The best of n by problem, read in parts."""
    (problems,) = read_in_parts(paths, memory=memory, **OPTIONS).problems(Settings())
    return problems.best(grid_of(problems.sizes))


def verifier(table: Table, folder: Path) -> None:
    """10^7 samples with a verifier's score against the engine's sort of the file; both use all cores."""
    paths = write(folder, 1000, 1)
    connection = connect()

    def sort() -> None:
        connection.execute(
            "CREATE OR REPLACE TEMP TABLE ordered AS "
            f"SELECT * FROM read_parquet('{paths[0]}') ORDER BY problem, verifier"
        )

    fast, floor = best_times(lambda: in_parts(paths, "6GB"), sort, repeats=3)
    connection.execute("DROP TABLE ordered")
    reached = f"{number(fast / floor)} times ({number(fast)} s against {number(floor)} s)"
    table.add("10^7 samples with a verifier", "DuckDB's sort", "<= 3", reached, fast <= 3 * floor)


def votes(table: Table) -> None:
    """maj@k of 10,000 problems with 100 samples of six answers against pass@k of the same samples."""
    rng = np.random.default_rng(0)
    code, sizes = np.repeat(np.arange(PROBLEMS), 100), np.full(PROBLEMS, 100)
    answer = rng.integers(0, 6, code.size)
    right, k = (answer == 0).astype(float), np.unique(np.geomspace(1, 100, 40).round().astype(int))
    drawn = DrawnFrom(right, None, answer)
    trials = Trials.from_arrays(right, group=code.astype(str), answer=answer.astype(str), direction="max")

    def passes() -> None:
        expected_best_by_group(right, code, k)

    alone, floor = best_times(lambda: drawn_values(drawn, code, sizes, k), passes, repeats=5)
    curves, oracle = best_times(lambda: curve(trials, statistic="majority"), lambda: curve(trials), repeats=3)
    reached = f"{number(alone / floor)} times ({number(alone)} s against {number(floor)} s)"
    table.add("maj@k, 10,000 x 100, six answers", "pass@k", "<= 10", reached, alone <= 10 * floor)
    reached = f"{number(curves / oracle)} times ({number(curves)} s against {number(oracle)} s)"
    table.add("the same with intervals, `curve`", "`curve` of pass@k", "<= 10", reached, curves <= 10 * oracle)


def spends(table: Table, folder: Path) -> None:
    """A curve over spend of 10^7 samples, 100 of each problem, read in parts, against the engine's sort of the file."""
    path, connection = folder / "spends.parquet", connect()
    connection.execute(
        "COPY (SELECT CAST(i % 100000 AS INTEGER) AS problem, CAST(random() < (i % 100000) / 100000 AS TINYINT) AS "
        f"correct, exp(random() + random() - 5) AS dollars FROM range(10000000) t(i)) TO '{path}' (FORMAT parquet)"
    )
    grid = np.geomspace(0.02, 0.8, 26)

    def sort() -> None:
        connection.execute(
            f"CREATE OR REPLACE TEMP TABLE ordered AS SELECT * FROM read_parquet('{path}') ORDER BY problem, dollars"
        )

    def ours() -> None:
        options = {"group": "problem", "selection": "correct", "direction": "max", "cost": "dollars", "memory": "6GB"}
        (problems,) = read_in_parts(str(path), **options).problems(Settings())
        problems.best(grid, spend=True)

    fast, floor = best_times(ours, sort, repeats=3)
    connection.execute("DROP TABLE ordered")
    reached = f"{number(fast / floor)} times ({number(fast)} s against {number(floor)} s)"
    table.add("a curve over spend, 10^7 samples with costs", "DuckDB's sort", "<= 3", reached, fast <= 3 * floor)


def child(paths: list[str]) -> None:
    """In a process of its own, so that its memory is its own."""
    start = time.perf_counter()
    best = in_parts(paths, "4GB")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": time.perf_counter() - start, "peak": peak, "value": best.value[-1]}))


def huge(table: Table, folder: Path) -> None:
    """10^8 samples in ten files, with memory set to 4 GB."""
    paths = write(folder, 10_000, 10)
    done = subprocess.run([sys.executable, __file__, "--child", *paths], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    reached = f"{found['peak'] / 1e9:.1f} GB, {found['seconds']:.0f} s"
    table.add("10^8 samples with a verifier, memory 4GB", "peak memory", "< 8 GB", reached, found["peak"] < 8e9)


def write_section(table: Table) -> None:
    """The last section of docs/speed.md, which `speed.py` keeps."""
    page = Path(__file__).parents[1] / "docs" / "speed.md"
    rows = [f"| {row.what} | {row.against} | {row.wanted} | {row.reached} |" for row in table.rows]
    heads = ["| what | against | wanted | reached |", "| --- | --- | --- | --- |"]
    text = "Wall-clock times in one run, both on all cores; written by `python benchmarks/groups.py --write`:"
    before = page.read_text(encoding="utf-8").partition(SECTION)[0]
    page.write_text("\n".join([f"{before}{SECTION}", "", text, "", *heads, *rows]) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--huge", action="store_true")
    parser.add_argument("--child", nargs="+")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    if given.child:
        child(given.child)
        return 0
    table = Table("Many problems", ("numpy", "duckdb"))
    whole_matrix(table)
    votes(table)
    with tempfile.TemporaryDirectory() as folder:
        verifier(table, Path(folder))
        spends(table, Path(folder))
        if given.huge:
            huge(table, Path(folder))
    if given.write:
        write_section(table)
    print(table)
    return 1 if table.missed() else 0


if __name__ == "__main__":
    sys.exit(main())
