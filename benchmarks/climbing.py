"""How often a random search is refused as one that learns, and how often one that learns is caught.

``python benchmarks/climbing.py`` prints both for the thresholds of `readers/steps/diagnose.py` and for others: the rank
correlation of score and order, above which a family whose trend chance would hardly give (p < 1e-4) is one search. The
search that learns is a tree-structured Parzen estimator (Bergstra et al. 2011) in its plainest form: ten random trials,
then the likeliest of 24 candidates by two kernel densities, on quadratic functions with and without noise.
"""

from __future__ import annotations

import numpy as np

from levelbest.readers.steps.diagnose import _STRONG
from levelbest.stats.checks import _diagnostics as diagnostics

WIDTH, GOOD, RANDOM, CANDIDATES = 0.15, 0.15, 10, 24
FUNCTIONS = ((2, 0.0), (2, 0.05), (5, 0.0), (5, 0.1))
"""Dimensions, and the standard deviation of the noise beside values between -1 and 0 in each."""


def parzen(rng: np.random.Generator, n_trials: int, dimensions: int, noise: float) -> np.ndarray:
    """The scores of one search in their order."""
    best = rng.random(dimensions)
    points, scores = np.zeros((0, dimensions)), np.zeros(0)
    for trial in range(n_trials):
        point = rng.random(dimensions)
        if trial >= RANDOM:
            order = np.argsort(scores)
            n_good = max(2, int(GOOD * trial))
            good, rest = points[order[-n_good:]], points[order[:-n_good]]
            drawn = good[rng.integers(n_good, size=CANDIDATES)] + rng.normal(0, WIDTH, (CANDIDATES, dimensions))
            drawn = np.clip(drawn, 0, 1)
            point = drawn[np.argmax(_density(drawn, good) / (_density(drawn, rest) + 1e-9))]
        points = np.vstack([points, point])
        scores = np.append(scores, -((point - best) ** 2).sum() + noise * rng.standard_normal())
    return scores


def _density(at: np.ndarray, points: np.ndarray) -> np.ndarray:
    apart = ((at[:, None] - points[None]) ** 2).sum(axis=2)
    return np.exp(-apart / (2 * WIDTH**2)).mean(axis=1)


def caught(scores: np.ndarray, strong: float) -> bool:
    """Whether the trend is this strong, and chance would hardly give it."""
    rho = diagnostics.trend(scores, None, "max")
    return rho >= strong and diagnostics.p_positive(rho, scores.size) < 1e-4


def main() -> None:
    """Print a row for each number of trials and threshold."""
    rng = np.random.default_rng(0)
    print(f"{'trials':>6} {'above':>6}  random search  " + "  ".join(f"{d} dims, noise {s:g}" for d, s in FUNCTIONS))
    for n_trials in (20, 50, 100):
        plain = rng.standard_normal((10_000, n_trials))
        searches = [[parzen(rng, n_trials, *function) for _ in range(60)] for function in FUNCTIONS]
        for strong in (_STRONG, 0.35):
            refused = np.mean([caught(scores, strong) for scores in plain])
            rates = [np.mean([caught(scores, strong) for scores in each]) for each in searches]
            print(
                f"{n_trials:>6} {strong:>6}  {refused:13.4f}  " + "  ".join(f"{rate:15.2f}" for rate in rates),
                flush=True,
            )


if __name__ == "__main__":
    main()
