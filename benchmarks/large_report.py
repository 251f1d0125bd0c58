"""A report of a million rows against the comparison of the same file, both as commands, in one run.

python benchmarks/large_report.py [ROWS]: prints the seconds of processor that each took, and their ratio, which is to
be 4 at most. Measured at 1,000,000 rows of two families, one score, on two cores: 20.8 and 30.6 seconds, ratio 1.5;
the page has 450 kB.
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np


def write_table(path: Path, rows: int) -> None:
    """Two families that differ by a hundredth, with a learning rate."""
    rng = np.random.default_rng(0)
    family, rate = rng.integers(0, 2, rows), 10 ** rng.uniform(-5, -1, rows)
    score = rng.beta(5, 2, rows) + 0.01 * family
    with path.open("w") as file:
        file.write("family,lr,accuracy\n")
        file.writelines(f"m{a},{b:.6g},{c:.6f}\n" for a, b, c in zip(family, rate, score, strict=True))


def seconds(*command: str) -> float:
    """Of processor time, its threads' included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "levelbest", *command], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        table, page = Path(folder) / "table.csv", Path(folder) / "page.html"
        write_table(table, int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
        compared = seconds("compare", str(table), "--direction", "max")
        reported = seconds("report", str(table), "--direction", "max", "--out", str(page))
        print(f"compare {compared:.1f} s, report {reported:.1f} s, ratio {reported / compared:.2f}")
        print(f"page {page.stat().st_size:,} bytes")
