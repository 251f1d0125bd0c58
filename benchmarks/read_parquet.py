"""Ten million rows of Parquet to curves in one command: its memory and its time against reading the file alone.

    python benchmarks/read_parquet.py             # 10 million rows: two minutes, a file of 250 MB in a temporary folder
    python benchmarks/read_parquet.py --quick     # a million rows, to see that it runs; its ratios are not the claim

Each is a process of its own, started from nothing. The wanted ratio is of times taken in turns in one run, the shortest
of each; CPU time of all threads is beside it, since other work on the machine does not change that. The exit code is
the number of rows that missed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _table import Table, number

READ = "import duckdb, sys; duckdb.sql(f\"SELECT * FROM '{sys.argv[1]}'\").fetchnumpy()"
READ_POLARS = "import polars, sys; polars.read_parquet(sys.argv[1])"


def make(path: Path, rows: int) -> None:
    """family, selection, reported and cost: one text column and three of random doubles."""
    import duckdb

    duckdb.sql("SELECT setseed(0.5)")
    duckdb.sql(
        f"""COPY (SELECT 'family ' || floor(8 * random())::INT AS family, random() AS val_acc,
        0.8 + random() / 10 AS test_acc, -ln(random()) AS gpu_hours FROM range({rows})) TO '{path}' (FORMAT parquet)"""
    )


def measured(arguments: list[str]) -> tuple[float, float, float, str]:
    """Wall time, CPU time and peak memory in bytes of one process, and what it printed."""
    with tempfile.TemporaryFile("w+") as out:
        start = time.perf_counter()
        process = subprocess.Popen([sys.executable, *arguments], stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        took = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"failed: {' '.join(arguments)}")
        out.seek(0)
        unit = 1 if sys.platform == "darwin" else 1024
        return took, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit, out.read()


def peak_of_all(arguments: list[str]) -> float:
    """Peak memory in bytes of a process and its children together, shared pages once; a run of its own, on Linux."""
    with subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL) as process:
        peak = 0.0
        while process.poll() is None:
            peak = max(peak, sum(_own_share(pid) for pid in [process.pid, *_children(process.pid)]))
            time.sleep(0.02)
    return peak


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _own_share(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:  # it has ended
        return 0.0
    return sum(1024.0 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def main() -> int:
    """Run all and print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    rows = 1_000_000 if given.quick else 10_000_000
    table = Table(f"{rows:,} rows of Parquet to curves", ("levelbest", "duckdb", "numpy", "polars"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trials.parquet"
        make(path, rows)
        command = ["-m", "levelbest", "curve", str(path), "--json"]
        alone, ours, other = [], [], []
        for _ in range(given.repeats):
            alone.append(measured(["-c", READ, str(path)]))
            ours.append(measured(command))
            other.append(measured(["-c", READ_POLARS, str(path)]))
        families = json.loads(ours[0][3])["families"]
        together = peak_of_all(command) if sys.platform == "linux" else 0.0
    assert sum(family["n_trials"] for family in families) == rows
    timed = {"ours": ours, "duckdb": alone, "polars": other}
    best = {name: [min(one[i] for one in runs) for i in (0, 1)] for name, runs in timed.items()}
    wall, cpu = (best["ours"][i] / best["duckdb"][i] for i in (0, 1))
    reached = f"{number(wall)} times ({number(best['ours'][0])} s, {number(best['duckdb'][0])} s)"
    table.add("wall time to curves", "DuckDB reading the file", "at most 3 times", reached, wall <= 3)
    table.add("CPU time to curves", "DuckDB reading the file", "", f"{number(cpu)} times", None)
    wall = best["ours"][0] / best["polars"][0]
    table.add("wall time to curves", "Polars reading the file", "", f"{number(wall)} times", None)
    raw = 8 * 4 * rows
    share = max(together, *(one[2] for one in ours)) / raw
    reached = f"{number(share)} times ({number(share * raw / 2**20)} MiB)"
    table.add("peak memory", "the raw columns, 32 bytes a row", "under 4 times", reached, share < 4)
    print(table)
    return table.missed()


if __name__ == "__main__":
    sys.exit(main())
