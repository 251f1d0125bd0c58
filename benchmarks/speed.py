"""How much a command costs, and how its cost grows: ratios that hold on any machine, in one run.

    python benchmarks/speed.py                  # the table; exit code 1 where something wanted is missed
    python benchmarks/speed.py --write          # and docs/speed.md with its figure

The unit is the CPU time that importing NumPy, SciPy's special functions and statistics, DuckDB and matplotlib takes:
what a command would cost if it did nothing. Growth is the CPU time of the library's own functions in a fresh process,
data in memory, with the most memory that the process held, as trials, families, problems and resamples double.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib import resources
from itertools import pairwise
from pathlib import Path

import numpy as np

from _table import Table, number

ROOT = Path(__file__).resolve().parents[1]
IMPORT = "import numpy, scipy.special, scipy.stats, duckdb, matplotlib.pyplot"
TRIALS = [1000 * 2**k for k in range(11)]
AXES: dict[str, dict[str, list[int]]] = {
    "trials": dict.fromkeys(("curve", "median", "reported", "cost", "compare"), TRIALS),
    "families": {kind: [2, 4, 8, 16] for kind in ("curve", "compare")},
    "problems": dict.fromkeys(("curve", "compare"), TRIALS[:7]),
    "resamples": dict.fromkeys(("curve", "compare"), TRIALS[:6]),
}
OF_AXES = {
    "trials": " in one family, or in each of two that are compared",
    "families": ", with 200 trials each",
    "problems": ", with ten samples of each of two systems",
    "resamples": " behind the limits of 1,000 trials, or of two times 1,000",
}
Growth = dict[str, dict[str, list[tuple[int, float, float]]]]
"""By axis and kind: sizes with CPU seconds and MB."""
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
axis, kind, size = sys.argv[1], sys.argv[2], int(sys.argv[3])
rng = np.random.default_rng(0)
m = {"trials": size, "families": 200, "problems": 10 * size, "resamples": 1000}[axis]
k = size if axis == "families" else 2 if kind == "compare" or axis == "problems" else 1
quality = np.concatenate([rng.beta(8, 2 + 0.2 * i / k, m) for i in range(k)])
given = {"bounds": (0, 1), "direction": "max", "family": np.repeat(np.arange(k), m)}
if axis == "problems":
    solved = (rng.random(quality.size) < quality).astype(float)
    trials = lb.Trials.from_arrays(solved, group=np.tile(np.arange(m) // 10, k), **given)
elif kind == "reported":
    trials = lb.Trials.from_arrays(np.clip(quality + rng.normal(0, 0.02, m), 0, 1), reported=quality, **given)
else:
    trials = lb.Trials.from_arrays(quality, **given)
spent = rng.exponential(size=m)
small = lb.Trials.from_arrays(quality[:50], bounds=(0, 1), direction="max")
lb.curve(small), lb.curve(small, statistic="median", simultaneous=True)
asked = {"n_resamples": size} if axis == "resamples" else {}
start = time.process_time()
if kind == "compare":
    lb.compare(trials, **asked)
elif kind == "cost":
    lb.stats.cost_curve(quality, spent, confidence=0.95, bounds=(0, 1))
elif axis == "trials":
    lb.curve(trials, statistic="median" if kind == "median" else "mean", simultaneous=True)
else:
    lb.family_curves(trials, **asked)
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


def families(path: Path, worse: Sequence[float], size: int, *, cost: bool = False) -> str:
    """A table of families of so many beta(8, worse) trials each."""
    rng = np.random.default_rng(size)
    with path.open("w", encoding="utf-8") as file:
        file.write("model,accuracy" + (",gpu_hours" if cost else "") + "\n")
        for place, each in enumerate(worse):
            for score in rng.beta(8, each, size):
                file.write(f"{_name(place)},{score:.6f}" + (f",{rng.exponential():.4f}" if cost else "") + "\n")
    return str(path)


def _name(place: int) -> str:
    return f"{chr(97 + place // 26)}{chr(97 + place % 26)}"


def wanted_of_commands(folder: Path) -> list[tuple[str, float, list[str]]]:
    """What, at most so many times the import, and the command line."""
    options = ["--family", "model", "--selection", "accuracy", "--direction", "max"]
    rows: list[tuple[str, float, list[str]]] = []
    for size, most in ((500, 1.5), (4000, 3.0), (100_000, 6.0)):
        file = families(folder / f"{size}.csv", (2.0, 2.2), size)
        rows += [(f"{verb}, two families of {size:,}", most, [verb, file, *options]) for verb in ("curve", "compare")]
    many = families(folder / "many.csv", np.linspace(2, 3, 45), 20)
    spent = families(folder / "spent.csv", np.linspace(2, 3, 20), 50, cost=True)
    digits = str(resources.files("levelbest") / "data" / "digits.csv")
    out = ["--out", str(folder / "page.html"), "--force"]
    return [
        *rows,
        ("compare, 45 families of 20", 4.0, ["compare", many, *options]),
        ("plan, shipped results", 5.0, ["plan", digits, "--family", "family"]),
        ("report, 20 families of 50 with costs", 7.0, ["report", spent, *options, "--cost", "gpu_hours", *out]),
        ("report, shipped results", 3.0, ["report", digits, "--family", "family", *out]),
    ]


def commands(table: Table, repeats: int) -> list[tuple[str, float]]:
    """The commands in units of the import, with what is wanted of each."""
    unit = cpu([sys.executable, "-c", IMPORT], repeats)
    table.add("import", "the unit", "", f"{number(unit)} s", None)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for what, most, command in wanted_of_commands(Path(folder)):
            ratio = cpu([sys.executable, "-m", "levelbest", *command], repeats) / unit
            table.add(what, "import", f"<= {most:g}", number(ratio), ratio <= most)
            rows.append((what, ratio))
    return rows


def run(axis: str, kind: str, size: int) -> tuple[float, float]:
    """CPU seconds and MB of one question in a process of its own."""
    command = [sys.executable, "-c", GROWTH, axis, kind, str(size)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
    used, held = json.loads(done.stdout)
    return used, held


def growth(table: Table, repeats: int) -> Growth:
    """CPU time and memory as each of the axes doubles."""
    found: Growth = {}
    for axis, kinds in AXES.items():
        for kind, sizes in kinds.items():
            rows = []
            for size in sizes:
                runs = [run(axis, kind, size) for _ in range(repeats)]
                rows.append((size, min(used for used, _ in runs), min(held for _, held in runs)))
            found.setdefault(axis, {})[kind] = rows
            steepest = max(later[1] / max(sooner[1], 0.02) for sooner, later in pairwise(rows))
            wanted, met = ("<= 2.2", steepest <= 2.2) if axis == "trials" else ("", None)
            table.add(f"{kind}, twice the {axis}", f"{sizes[0]:,} to {sizes[-1]:,}", wanted, number(steepest), met)
            held, allowed = rows[-1][2], 1536 if (axis, kind) == ("trials", "compare") else 1024
            what = f"{kind}, memory", f"{sizes[-1]:,} {axis}", f"<= {allowed} MB"
            table.add(*what, f"{held:.0f} MB", held <= allowed)
    ratio = cost_against_trials(found)
    table.add("cost axis, up to 4,000 trials", "trials axis", "<= 2", number(ratio), ratio <= 2)
    return found


def cost_against_trials(found: Growth) -> float:
    """How much longer a curve over cost takes than the same over trials, at most, in families of usual sizes."""
    cost, curve = (found["trials"][kind] for kind in ("cost", "curve"))
    return max(spent[1] / own[1] for spent, own in zip(cost, curve, strict=True) if own[0] <= 4000)


def draw(found: Growth) -> None:
    """The figure: CPU time above, memory below, one column for each axis."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "levelbest"
    figure, panels = plt.subplots(2, len(found), figsize=(11, 5), layout="constrained", sharex="col", sharey="row")
    colours = dict(zip(AXES["trials"], mpl.rcParams["axes.prop_cycle"].by_key()["color"], strict=False))
    for column, (axis, kinds) in zip(panels.T, found.items(), strict=True):
        for kind, rows in kinds.items():
            sizes, times, memory = zip(*rows, strict=True)
            for axes, values in zip(column, (times, memory), strict=True):
                axes.plot(sizes, values, marker="o", markersize=3, color=colours[kind], label=kind)
        column[0].axline((sizes[0], 0.05), (2 * sizes[0], 0.1), color="grey", linestyle=":", label="linear")
        for axes in column:
            axes.set(xscale="log", yscale="log")
            axes.spines[["top", "right"]].set_visible(False)
            axes.set_xticks([sizes[0], sizes[-1]], [f"{sizes[0]:,}", f"{sizes[-1]:,}"])
            axes.minorticks_off()
        column[1].set_xlabel(axis)
    panels[0, 0].set_ylabel("CPU seconds")
    panels[1, 0].set_ylabel("memory of the process, MB")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=6, frameon=False)
    figure.savefig(ROOT / "docs/figures/speed.svg", metadata={"Date": None})


def write(ratios: list[tuple[str, float]], found: Growth) -> None:
    """docs/speed.md and its figure."""
    draw(found)
    lines = [
        "# Speed",
        "",
        "A command costs little more than importing what it needs, and a curve with its limits little more than",
        "sorting its trials: limits are computed at selected ranks and budgets ([why that is enough](mathematics.md)).",
        "Very large families are processed on all cores, with the same result for any number of cores.",
        "Written by `python benchmarks/speed.py --write`; times are CPU times on one core.",
        "",
        "![CPU time and memory against trials, families, problems and resamples](figures/speed.svg)",
        "",
        "In units of the CPU time that importing NumPy, SciPy, DuckDB and matplotlib takes:",
        "",
        "| command | times the import |",
        "| --- | ---: |",
        *(f"| {what} | {number(ratio)} |" for what, ratio in ratios),
        "",
        "The functions alone, CPU seconds (and MB of the whole process): over trials `curve` and `median` are",
        "simultaneous bands over all budgets, `reported` the same with another score reported, and `cost` a cost curve",
        f"with limits: at most {number(cost_against_trials(found))} times the curve up to 4,000 trials. Twice the",
        "families are four times the pairs that `compare` decides, each at a quarter of the level. The target is",
        "at most 2.2 times the CPU time for twice the trials; the benchmark reports where it is missed.",
    ]
    for axis, kinds in found.items():
        lines += ["", f"## {axis.capitalize()}", "", f"By the number of {axis}{OF_AXES[axis]}:", ""]
        lines += [f"| {axis} | " + " | ".join(kinds) + " |", "| ---: | " + " | ".join("---:" for _ in kinds) + " |"]
        for rows in zip(*kinds.values(), strict=True):
            cells = [f"{number(used)} ({held:.0f})" for _, used, held in rows]
            lines.append(f"| {rows[0][0]:,} | " + " | ".join(cells) + " |")
    page = ROOT / "docs/speed.md"
    _, heading, others = page.read_text(encoding="utf-8").partition("## Samples of problems")  # of groups.py
    page.write_text("\n".join([*lines, "", heading + others] if heading else [*lines, ""]), encoding="utf-8")


def main() -> int:
    """Print the table; write the page where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--commands", action="store_true", help="the commands alone, without the growth")
    given = parser.parse_args()
    table = Table("What commands cost, and how it grows", ("levelbest", "numpy", "scipy", "matplotlib", "duckdb"))
    ratios = commands(table, given.repeats)
    if not given.commands:
        found = growth(table, given.repeats)
        if given.write:
            write(ratios, found)
    print(table)
    return int(table.missed() > 0)


if __name__ == "__main__":
    sys.exit(main())
