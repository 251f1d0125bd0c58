"""The certificate of configurations with several seeds: variance by source, and curves, on known distributions.

    python benchmarks/coverage/configurations.py run       # about 25 minutes; goes on where it stopped
    python benchmarks/coverage/configurations.py write     # docs/coverage-configurations.md

A run's score is the effect of its configuration, that of its data split where there is one, and that of its seed, each
drawn from a distribution with mean 0 and variance 1 and scaled. Rivals take every run for a trial of its own, or
resample seeds within the configurations that a bootstrap draws. Verdicts have a certificate of their own (`designs`).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats
from variance_batch import all_limits

from levelbest.stats import best_interval, best_weights, expected_best, variance_components
from levelbest.stats.checks._components import _NestedCells

SEED, SETS, RESAMPLES = 2026, 600, 400
VARIANCE_SETS, SPLIT_SETS, BIAS_SETS = 10_000, 2_000, 10_000
DISTRIBUTIONS = {
    "normal": stats.norm(),
    "uniform": stats.uniform(),
    "beta(8,2)": stats.beta(8, 2),
    "Gumbel": stats.gumbel_l(),
    "two points": stats.bernoulli(0.5),
    "Laplace": stats.laplace(),
    "t5": stats.t(5),
    "lognormal(0.5)": stats.lognorm(0.5),
    "exponential": stats.expon(),
}
"""The effects of configurations and of seeds."""
DESIGNS = {
    "8 x 4": [4] * 8,
    "8 x 10": [10] * 8,
    "20 x 5": [5] * 20,
    "50 x 3": [3] * 50,
    "10 x 1 to 12": [1, 1, 2, 3, 4, 4, 5, 8, 8, 12],
}
RATIOS, BIAS_RATIOS = (0.0, 0.1, 1.0, 10.0), (0.25, 1.0, 4.0)
"""The variance of configurations in terms of that of seeds."""
UNEVEN = 0.25
"""The standard deviation of the logarithm of what each configuration's seeds are multiplied by, where they differ."""
BOOTSTRAPS = ("configurations", "seeds too", "seeds, nearer")
"""What a bootstrap may draw."""
CURVES = {"8 x 4": (1, 2, 4), "20 x 5": (1, 5, 10), "50 x 3": (1, 10, 25)}


def effects(distribution: str, rng: np.random.Generator, size: Any) -> np.ndarray:
    """With mean 0 and variance 1."""
    known = DISTRIBUTIONS[distribution]
    return np.asarray((known.rvs(size=size, random_state=rng) - known.mean()) / known.std())


def generator(*key: object) -> np.random.Generator:
    """Of one cell: it depends on nothing but the cell."""
    return np.random.default_rng([SEED, *"/".join(map(str, key)).encode()])


def components_cell(distribution: str, design: str, ratio: float, sets: int, *, uneven: float = 0.0) -> dict[str, Any]:
    """Coverage of the variance of configurations, of seeds and of the share, and widths of the limits.

    ``times`` are mean widths in terms of those of limits for normal effects alone.
    """
    rng = generator("uneven" if uneven else "components", distribution, design, ratio)
    counts = DESIGNS[design]
    worth = np.sqrt(ratio) * effects(distribution, rng, (sets, len(counts), 1))
    scale = np.exp(uneven * rng.normal(size=worth.shape) - uneven**2)  # squares to 1 on average
    runs = worth + scale * effects(distribution, rng, (sets, len(counts), max(counts)))
    limits, for_normal = all_limits(runs, counts)
    truth = {"configuration": ratio, "seed": 1.0, "share": ratio / (1 + ratio)}
    widths = [
        {name: float(np.mean(high - np.maximum(low, 0.0))) for name, (low, high) in each.items()}
        for each in (limits, for_normal)
    ]
    return {
        "covered": {
            name: float(np.mean((low <= truth[name]) & (truth[name] <= high))) for name, (low, high) in limits.items()
        },
        "width": widths[0],
        "times": {name: widths[0][name] / widths[1][name] for name in truth},
    }


def bias_cell(distribution: str, design: str, ratio: float) -> dict[str, Any]:
    """The mean of many estimates in terms of the truth, with its standard error."""
    rng = generator("bias", distribution, design, ratio)
    counts = DESIGNS[design]
    configuration = np.repeat(np.arange(len(counts)), counts)
    worth = np.sqrt(ratio) * effects(distribution, rng, (BIAS_SETS, len(counts)))
    scores = worth[:, configuration] + effects(distribution, rng, (BIAS_SETS, configuration.size))
    alone = np.zeros_like(configuration)
    estimates = np.empty((BIAS_SETS, 2))
    for place, runs in enumerate(scores):
        squares = _NestedCells.of(runs, configuration, alone).squares()
        between, within = squares.configurations, squares.seeds
        estimates[place] = (between.value - within.value) / between.repeats / ratio, within.value
    error = estimates.std(axis=0) / np.sqrt(BIAS_SETS)
    names = ("configuration", "seed")
    return {
        "mean": dict(zip(names, estimates.mean(axis=0).tolist(), strict=True)),
        "error": dict(zip(names, error.tolist(), strict=True)),
    }


def splits_cell(distribution: str, sets: int) -> dict[str, Any]:
    """Three sources, 8 configurations on the same 5 splits with 2 seeds each, a tenth of the runs lost."""
    rng = generator("splits", distribution)
    places = np.array([(c, s) for c in range(8) for s in range(5) for _ in range(2)])
    names = ("configuration", "split", "seed")
    inside, mean = dict.fromkeys(names, 0), dict.fromkeys(names, 0.0)
    for _ in range(sets):
        kept = places[rng.random(len(places)) > 0.1]
        score = (
            effects(distribution, rng, 8)[kept[:, 0]]
            + effects(distribution, rng, 5)[kept[:, 1]]
            + effects(distribution, rng, len(kept))
        )
        found = variance_components(score, kept[:, 0], kept[:, 1])
        for name in names:
            inside[name] += found[name].low <= 1 <= found[name].high
            mean[name] += found[name].variance / sets
    return {"covered": {name: count / sets for name, count in inside.items()}, "mean": mean}


def true_best(distribution: str, n: int, seeds: int, *, rng: np.random.Generator) -> float:
    """The expected best of n means over seeds, from 400,000 draws."""
    if n == 1:
        return 0.0
    parts = [
        (effects(distribution, rng, (4_000, n)) + effects(distribution, rng, (4_000, n, seeds)).mean(axis=2))
        .max(axis=1)
        .mean()
        for _ in range(100)
    ]
    return float(np.mean(parts))


def curve_cell(distribution: str, design: str, sets: int) -> dict[str, Any]:
    """Coverage of the best of n configurations, and of the mean where every run counts as a trial."""
    rng = generator("curve", distribution, design)
    counts, budgets = DESIGNS[design], np.array(CURVES[design])
    seeds = counts[0]
    truth = np.array([true_best(distribution, int(n), seeds, rng=rng) for n in budgets])
    inside, flat, width = np.zeros(budgets.size), 0, np.zeros(budgets.size)
    errors, percentiles, estimates = [], [], []
    weights = best_weights(np.arange(len(counts)), budgets)
    for place in range(sets):
        runs = effects(distribution, rng, len(counts))[:, None] + effects(distribution, rng, (len(counts), seeds))
        means = runs.mean(axis=1)
        limits = best_interval(means, budgets, n_resamples=RESAMPLES, rng=place)
        low, high = np.asarray(limits.low), np.asarray(limits.high)
        inside += (low <= truth) & (truth <= high)
        width += np.where(np.isfinite(high - low), high - low, np.nan) / sets
        alone = best_interval(runs.ravel(), 1, n_resamples=RESAMPLES, rng=place)
        flat += float(alone.low) <= 0 <= float(alone.high)
        estimates.append(np.asarray(expected_best(means, budgets)))
        drawn = np.stack([bests(again, weights) for again in bootstraps(runs, rng)])
        errors.append(drawn.std(axis=1))
        limits = np.quantile(drawn, [0.025, 0.975], axis=1)
        percentiles.append((limits[0] <= truth) & (truth <= limits[1]))
    spread = np.std(estimates, axis=0)
    relative = np.sqrt(np.mean(np.square(errors), axis=0)) / spread
    return {
        "n": budgets.tolist(),
        "covered": (inside / sets).tolist(),
        "width": width.tolist(),
        "runs_as_trials": flat / sets,
        "bootstrap_error": dict(zip(BOOTSTRAPS, relative.tolist(), strict=True)),
        "bootstrap_covered": dict(zip(BOOTSTRAPS, np.mean(percentiles, axis=0).tolist(), strict=True)),
    }


def bootstraps(runs: np.ndarray, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Means over seeds of configurations drawn with their runs; with seeds drawn too; and with seeds drawn, but the
    configurations drawn nearer together by what the seeds add to the differences between them."""
    k, r = runs.shape
    means = runs.mean(axis=1)
    residuals = runs - means[:, None]
    chosen = rng.integers(k, size=(RESAMPLES, k))
    luck = residuals[chosen[:, :, None], rng.integers(r, size=(RESAMPLES, k, r))].mean(axis=2)
    yield means[chosen]
    yield means[chosen] + luck
    between = means.var(ddof=1)
    seeds = (residuals**2).sum() / (k * (r - 1)) / r
    nearer = np.sqrt(max(between - seeds, 0.0) / between)
    yield means.mean() + nearer * (means[chosen] - means.mean()) + np.sqrt(r / (r - 1)) * luck


def bests(drawn: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The expected best at each budget of each row of means."""
    return np.asarray(np.sort(drawn, axis=1) @ weights.T)


def cells(sets: int) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    """Every cell by its name."""
    for design in DESIGNS:
        for distribution in DISTRIBUTIONS:
            for ratio in RATIOS:
                yield (
                    f"components/{design}/{distribution}/{ratio:g}",
                    lambda distribution=distribution, design=design, ratio=ratio: components_cell(
                        distribution, design, ratio, VARIANCE_SETS
                    ),
                )
            for ratio in BIAS_RATIOS:
                yield (
                    f"bias/{design}/{distribution}/{ratio:g}",
                    lambda distribution=distribution, design=design, ratio=ratio: bias_cell(
                        distribution, design, ratio
                    ),
                )
        for distribution in ("normal", "exponential"):
            yield (
                f"uneven/{design}/{distribution}/1",
                lambda distribution=distribution, design=design: components_cell(
                    distribution, design, 1.0, VARIANCE_SETS, uneven=UNEVEN
                ),
            )
    for distribution in DISTRIBUTIONS:
        yield f"splits/{distribution}", lambda distribution=distribution: splits_cell(distribution, SPLIT_SETS)
    for design in CURVES:
        for distribution in ("normal", "beta(8,2)", "Gumbel", "exponential"):
            yield (
                f"curve/{design}/{distribution}",
                lambda distribution=distribution, design=design: curve_cell(distribution, design, max(sets // 2, 1)),
            )


def run(results: Path, sets: int) -> None:
    """Every cell that the results do not have yet."""
    known = json.loads(results.read_text(encoding="utf-8")) if results.exists() else {"sets": sets, "cells": {}}
    for name, cell in cells(sets):
        if name not in known["cells"]:
            known["cells"][name] = cell()
            print(name, json.dumps(known["cells"][name]), flush=True)
            results.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    here = Path(__file__).parent
    parser = argparse.ArgumentParser(description="Run or write the certificate of configurations with several seeds.")
    parser.add_argument("what", choices=["run", "write"])
    parser.add_argument("--results", type=Path, default=here / "configurations.json")
    parser.add_argument("--sets", type=int, default=SETS)
    given = parser.parse_args()
    if given.what == "run":
        run(given.results, given.sets)
    else:
        from configurations_page import write

        write(given.results, here.parents[1] / "docs" / "coverage-configurations.md")
