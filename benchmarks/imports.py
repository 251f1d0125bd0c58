"""How light levelbest is to start: ``--help`` against click, ``import levelbest`` against NumPy and scipy.special.

Run: python benchmarks/imports.py
"""

import os
import subprocess
import sys
import time

REPEATS = 15
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}


def seconds(code: str) -> float:
    """The fastest of several fresh interpreters: the least disturbed by the machine."""
    best = float("inf")
    for _ in range(REPEATS):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL, env=ENVIRONMENT)
        best = min(best, time.perf_counter() - start)
    return best


def main() -> int:
    """Print both ratios and whether they are within what is wanted."""
    rows = (
        ("levelbest --help", "from levelbest.cli.main import main; main(['--help'])", "import click", 2.5),
        ("import levelbest", "import levelbest, levelbest.stats", "import numpy, scipy.special", 1.3),
    )
    missed = 0
    print(f"Python {sys.version.split()[0]}, fastest of {REPEATS} fresh interpreters")
    for name, ours, floor, wanted in rows:
        mine, theirs = seconds(ours), seconds(floor)
        missed += mine / theirs > wanted
        times = f"{name:18} {1000 * mine:7.0f} ms   {floor:28} {1000 * theirs:7.0f} ms"
        print(f"{times}   {mine / theirs:5.2f} (at most {wanted})")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
