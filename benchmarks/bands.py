"""Exact bands against opda (the best peer), in one run: time of the LD bands, width and horizon of the median band.

    python benchmarks/bands.py            # a few minutes, nearly all of it the peer's simulation
    python benchmarks/bands.py --quick    # without the peer at 1,000 trials

opda finds its local level from 100,000 simulated samples, ours is exact: the largest difference of the two bands is
mostly its simulation error. Times are the best of several for ours, with nothing kept in between, and one run for
the peer, with one job.
"""

from __future__ import annotations

import argparse
import time
import warnings
from importlib.metadata import version

import numpy as np
import scipy
from opda.nonparametric import EmpiricalDistribution

from levelbest import __version__
from levelbest.stats.bands import _cdf as joint
from levelbest.stats.bands import _ranks as ranks
from levelbest.stats.bands._cdf import cdf_band
from levelbest.stats.bands._quantiles import quantile_interval

BUDGETS = np.arange(1, 26)
DISTRIBUTIONS = {
    "normal": lambda rng, size: rng.normal(size=size),
    "beta(8,2)": lambda rng, size: rng.beta(8, 2, size=size),
}


def timed(function, repeats):
    best = np.inf
    for _ in range(repeats):
        joint.joint_limits.cache_clear()
        ranks._simultaneous.cache_clear()
        start = time.perf_counter()
        result = function()
        best = min(best, time.perf_counter() - start)
    return best, result


def peer_band(scores, confidence, method, generator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return EmpiricalDistribution.confidence_bands(scores, confidence, generator=generator, method=method, n_jobs=1)


def compare_times(n_trials, method, peer_method):
    scores = np.random.default_rng(1).normal(size=n_trials)
    seconds, band = timed(lambda: cdf_band(scores, 0.95, method=method), 7)
    peer_seconds, peer = timed(lambda: peer_band(scores, 0.95, peer_method, np.random.default_rng(n_trials)), 1)
    off = np.abs(np.asarray(peer[0].cdf(band.x)) - band.rank_low).max()
    print(
        f"| {method}, {n_trials:,} trials, 95 % | {1e3 * seconds:.1f} ms | {peer_seconds:.2f} s "
        f"| {peer_seconds / seconds:,.0f} times faster ({100 * seconds / peer_seconds:.2f} %) | {off:.1e} |",
        flush=True,
    )


def compare_widths(distribution, confidence, n_samples, generator):
    widths = {"narrow": [], "long": [], "opda": []}
    for scores in DISTRIBUTIONS[distribution](np.random.default_rng(3), (n_samples, 50)):
        for shape in ("narrow", "long"):
            band = quantile_interval(scores, BUDGETS, confidence=confidence, simultaneous=True, shape=shape)
            widths[shape].append(band.high - band.low)
        lower, _, upper = peer_band(scores, confidence, "ld_highest_density", generator)
        widths["opda"].append(lower.quantile_tuning_curve(BUDGETS) - upper.quantile_tuning_curve(BUDGETS))
    mean = {name: np.mean(width, axis=0) for name, width in widths.items()}
    reach = {name: BUDGETS[np.isfinite(width)].max() for name, width in mean.items()}
    both = np.isfinite(mean["narrow"]) & np.isfinite(mean["opda"])
    gain = {s: 100 * (1 - (mean[s][both] / mean["opda"][both]).mean()) for s in ("narrow", "long")}
    seconds, _ = timed(lambda: quantile_interval(scores, BUDGETS, confidence=confidence, simultaneous=True), 7)
    print(
        f"| {distribution}, {100 * confidence:g} % | {gain['narrow']:.1f} % | {gain['long']:.1f} % "
        f"| {reach['narrow']} | {reach['long']} | {reach['opda']} | {1e3 * seconds:.0f} ms |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="leave out the peer at 1,000 trials")
    parser.add_argument("--samples", type=int, default=200)
    options = parser.parse_args()
    print(
        f"levelbest {__version__}, opda {version('opda')}, numpy {np.__version__}, scipy {scipy.__version__}\n\n"
        "| CDF band | levelbest | opda, one job | ratio | largest difference |\n|---|---|---|---|---|"
    )
    compare_times(200, "ld", "ld_equal_tailed")
    compare_times(50, "ld-hd", "ld_highest_density")
    if not options.quick:
        compare_times(1000, "ld", "ld_equal_tailed")
    print(
        f"\nMedian band, 50 trials, n <= 25, {options.samples} samples: narrower than opda's ld_highest_density by "
        "(mean over n where both are finite), horizon, our time\n\n"
        "| data | narrow | long | horizon narrow | horizon long | horizon opda | time |\n|---|---|---|---|---|---|---|"
    )
    generator = np.random.default_rng(2)  # one object, so that the peer simulates once for each confidence
    for confidence in (0.95, 0.8):
        for distribution in DISTRIBUTIONS:
            compare_widths(distribution, confidence, options.samples, generator)


if __name__ == "__main__":
    main()
