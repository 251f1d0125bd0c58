"""What a report costs beyond its statistics: 5 families of 1,000 trials, at most 4 times the statistics alone.

Run: python benchmarks/report.py
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import levelbest as lb
from levelbest.report.write import write_report

RESAMPLES = 2000
"""The report's default, for both sides."""


def main() -> int:
    """Print the ratio of the whole report to curves and comparisons alone."""
    rng = np.random.default_rng(0)
    quality = rng.beta(8, 2, 5000)
    trials = lb.Trials.from_arrays(
        quality + rng.normal(0, 0.02, 5000),
        reported=np.clip(quality, 0, 1),
        family=np.repeat(list("abcde"), 1000),
        direction="max",
        bounds=(0, 1),
        configuration={"lr": rng.random(5000), "depth": rng.integers(1, 9, 5000)},
    )
    import scipy.stats  # noqa: F401  both sides find it loaded

    start = time.process_time()
    for statistic in ("mean", "median"):
        lb.family_curves(trials, statistic=statistic, simultaneous=True, n_resamples=RESAMPLES)
        lb.compare(trials, statistic=statistic, n_resamples=RESAMPLES)
    statistics = time.process_time() - start
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        report = write_report(trials, Path(folder) / "report.html", n_resamples=RESAMPLES)
        whole = time.process_time() - start
        size = report.page.stat().st_size
    print(f"statistics {statistics:.1f} s, report {whole:.1f} s (CPU): {whole / statistics:.2f} times (at most 4)")
    print(f"page {size / 1e6:.2f} MB; levelbest {lb.__version__}, numpy {np.__version__}")
    return int(whole > 4 * statistics)


if __name__ == "__main__":
    sys.exit(main())
