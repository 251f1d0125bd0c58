"""How much a command costs, and how its cost grows: ratios that hold on any machine, in one run.

    python benchmarks/speed.py                  # the table; exit code 1 where something wanted is missed
    python benchmarks/speed.py --write          # and docs/speed.md with its figure

The unit is the CPU time that importing NumPy, SciPy's special functions and statistics, DuckDB and matplotlib takes:
what a command would cost if it did nothing. Growth is the CPU time of the library's own functions in a fresh process,
data in memory, with the most memory that the process held.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from importlib import resources
from itertools import pairwise
from pathlib import Path

import numpy as np

from _table import Table, number

ROOT = Path(__file__).resolve().parents[1]
IMPORT = "import numpy, scipy.special, scipy.stats, duckdb, matplotlib.pyplot"
SIZES = [1000 * 2**k for k in range(11)]
KINDS = {"curve": SIZES, "median": SIZES, "reported": SIZES, "cost": SIZES, "compare": SIZES}
COMPILED = tempfile.TemporaryDirectory()
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"} | {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONPYCACHEPREFIX": COMPILED.name,
}
GROWTH = """
import json, resource, sys, time
import numpy as np
import levelbest as lb
import scipy.special, scipy.stats
kind, size = sys.argv[1], int(sys.argv[2])
rng = np.random.default_rng(0)
quality = rng.beta(8, 2, size)
first = {"bounds": (0, 1), "direction": "max", "family": "a"}
if kind == "reported":
    trials = lb.Trials.from_arrays(quality + rng.normal(0, 0.02, size), reported=quality, **first)
elif kind == "compare":
    family = np.repeat(["a", "b"], size)
    both = np.concatenate([quality, rng.beta(8, 2.2, size)])
    trials = lb.Trials.from_arrays(both, **(first | {"family": family}))
else:
    trials = lb.Trials.from_arrays(quality, **first)
spent = rng.exponential(size=size)
small = lb.Trials.from_arrays(quality[:50], **first)
lb.curve(small), lb.curve(small, statistic="median", simultaneous=True)
start = time.process_time()
if kind == "compare":
    lb.compare(trials)
elif kind == "cost":
    lb.stats.cost_curve(quality, spent, confidence=0.95, bounds=(0, 1))
else:
    lb.curve(trials, statistic="median" if kind == "median" else "mean", simultaneous=True)
used = time.process_time() - start
print(json.dumps([used, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""


def cpu(command: list[str], repeats: int = 3) -> float:
    """The least CPU time of a command in seconds, its children counted."""
    times = []
    for _ in range(repeats + 1):  # the first one compiles what is imported, as installing does
        before = os.times()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT)
        after = os.times()
        times.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return min(times)


def two_families(path: Path, size: int) -> Path:
    """A table of two families of so many trials."""
    rng = np.random.default_rng(size)
    with path.open("w", encoding="utf-8") as file:
        file.write("model,accuracy\n")
        for name, worse in (("a", 2.0), ("b", 2.2)):
            file.writelines(f"{name},{score:.6f}\n" for score in rng.beta(8, worse, size))
    return path


def commands(table: Table, repeats: int) -> list[tuple[str, float]]:
    """The commands in units of the import, with what is wanted of each."""
    unit = cpu([sys.executable, "-c", IMPORT], repeats)
    table.add("import", "the unit", "", f"{number(unit)} s", None)
    rows = []
    run = [sys.executable, "-m", "levelbest"]
    options = ["--family", "model", "--selection", "accuracy", "--direction", "max"]
    with tempfile.TemporaryDirectory() as folder:
        wanted = [
            (f"{verb}, two families of {size:,}", 1.5 if size == 500 else 3 if size == 4000 else 6,
             [*run, verb, str(two_families(Path(folder) / f"{size}.csv", size)), *options])
            for size in (500, 4000, 100_000)
            for verb in ("curve", "compare")
        ]  # fmt: skip
        digits = resources.files("levelbest") / "data" / "digits.csv"
        report = [
            *run,
            "report",
            str(digits),
            "--family",
            "family",
            "--out",
            str(Path(folder) / "page.html"),
            "--force",
        ]
        wanted.append(("report, shipped results", 4.0, report))
        for what, most, command in wanted:
            ratio = cpu(command, repeats) / unit
            table.add(what, "import", f"<= {most:g}", number(ratio), ratio <= most)
            rows.append((what, ratio))
    return rows


def growth(table: Table, repeats: int) -> dict[str, list[tuple[int, float, float]]]:
    """CPU time and memory against the trials, doubling from 1,000 on."""
    found: dict[str, list[tuple[int, float, float]]] = {}
    for kind, sizes in KINDS.items():
        rows = []
        for size in sizes:
            runs = [
                json.loads(
                    subprocess.run(
                        [sys.executable, "-c", GROWTH, kind, str(size)],
                        check=True, capture_output=True, text=True, env=ENVIRONMENT,
                    ).stdout
                )
                for _ in range(repeats)
            ]  # fmt: skip
            rows.append((size, min(run[0] for run in runs), min(run[1] for run in runs)))
        found[kind] = rows
        steepest = max(later[1] / max(sooner[1], 0.02) for sooner, later in pairwise(rows))
        last = rows[-1]
        table.add(
            f"{kind}, twice the trials", f"{sizes[0]:,} to {sizes[-1]:,}", "<= 2.2", number(steepest), steepest <= 2.2
        )
        table.add(f"{kind}, memory", f"{last[0]:,} trials", "<= 1024 MB", f"{last[2]:.0f} MB", last[2] <= 1024)
    return found


def write(ratios: list[tuple[str, float]], found: dict[str, list[tuple[int, float, float]]]) -> None:
    """docs/speed.md and its figure."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "levelbest"
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for kind, rows in found.items():
        sizes, times, memory = zip(*rows, strict=True)
        left.plot(sizes, times, marker="o", markersize=3, label=kind)
        right.plot(sizes, memory, marker="o", markersize=3, label=kind)
    first = min(row[1] for rows in found.values() for row in rows[-1:])
    left.plot([SIZES[0], SIZES[-1]], [first * SIZES[0] / SIZES[-1], first], color="grey", linestyle=":", label="linear")
    for axes, what in ((left, "CPU seconds"), (right, "memory of the process, MB")):
        axes.set(xscale="log", yscale="log", xlabel="trials", ylabel=what)
        axes.spines[["top", "right"]].set_visible(False)
    left.legend(frameon=False, fontsize=8)
    figure.savefig(ROOT / "docs/figures/speed.svg", metadata={"Date": None})
    lines = [
        "# Speed",
        "",
        "A command costs little more than importing what it needs, and a curve with its limits little more than",
        "sorting its trials: limits are drawn at some ranks and some budgets ([why that is enough](mathematics.md)).",
        "Written by `python benchmarks/speed.py --write`; times are CPU times on one core.",
        "",
        "![CPU time and memory against the number of trials](figures/speed.svg)",
        "",
        "In units of the CPU time that importing NumPy, SciPy, DuckDB and matplotlib takes:",
        "",
        "| command | times the import |",
        "| --- | ---: |",
        *(f"| {what} | {number(ratio)} |" for what, ratio in ratios),
        "",
        "The functions alone, CPU seconds (and MB of the whole process): `curve` and `median` are simultaneous bands",
        "over all budgets, `reported` the same with another score reported, `cost` a cost curve with limits, `compare`",
        "two families of so many trials each.",
        "",
        "| trials | " + " | ".join(found) + " |",
        "| ---: | " + " | ".join("---:" for _ in found) + " |",
    ]
    known = {kind: {size: (time, memory) for size, time, memory in rows} for kind, rows in found.items()}
    for size in SIZES:
        rows = [known[kind].get(size) for kind in found]
        cells = ["" if row is None else f"{number(row[0])} ({row[1]:.0f})" for row in rows]
        lines.append(f"| {size:,} | " + " | ".join(cells) + " |")
    (ROOT / "docs/speed.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> int:
    """Print the table; write the page where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    table = Table("What commands cost, and how it grows", ("levelbest", "numpy", "scipy", "matplotlib", "duckdb"))
    ratios = commands(table, given.repeats)
    found = growth(table, given.repeats)
    if given.write:
        write(ratios, found)
    print(table)
    return int(table.missed() > 0)


if __name__ == "__main__":
    sys.exit(main())
