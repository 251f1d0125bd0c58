"""The coverage certificate of intervals: the defaults and their rivals on hard distributions, coverage beside mean
width.

    python benchmarks/coverage/intervals.py run --jobs 2      # an hour; goes on where it stopped
    python benchmarks/coverage/intervals.py write             # docs/coverage.md and the table shipped with the package

A cell is a kind of interval, a distribution and a number of trials. ``run`` keeps finished chunks beside the results,
so that an interrupted run loses nothing; a cell is run again for the methods that it does not have yet, or has too few
samples of.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from interval_page import coverage_page, coverage_table

from levelbest._check import FloatArray
from levelbest.simulation.battery import simulate
from levelbest.simulation.distributions import Distribution, JointDistribution, named_distribution

HERE = Path(__file__).parent
SEED, SAMPLES, RESAMPLES = 2026, 2000, 999
SIZES = (10, 20, 50, 100)
Distributions = Callable[[], list[Any]]


def ten_distributions() -> list[Distribution]:
    """Ten distributions without bounds given: symmetric, skewed either way, heavy-tailed, U-shaped, rounded."""
    names = ("uniform", "norm", "expon", "-expon", "beta(8,2)", "beta(0.5,0.5)", "lognorm(1)", "t(3)", "quadratic")
    return [*(named_distribution(name) for name in names), named_distribution("beta(8,2)").rounded(0.01)]


def tied_distributions() -> list[Distribution]:
    """Coarse ties, and failures that count as 0."""
    beta = named_distribution("beta(8,2)")
    return [beta.rounded(0.05), named_distribution("three_point"), beta.failing(0.2, 0.0)]


def bounded_distributions() -> list[Distribution]:
    """Scores between 0 and 1, with coarse ties, 0/1, two modes and failures among them."""
    beta = named_distribution("beta(8,2)")
    smooth = [named_distribution("uniform"), beta, named_distribution("beta(0.5,0.5)"), beta.rounded(0.01)]
    return [*smooth, *tied_distributions(), named_distribution("bernoulli(0.3)"), beta.failing(0.3, 0.0), works(0.5)]


def few_distributions() -> list[Distribution]:
    """What a handful of trials can come from."""
    return [
        named_distribution("norm(0.5,0.05)"),
        named_distribution("uniform"),
        named_distribution("beta(8,2)"),
        named_distribution("expon"),
    ]


def works(share: float) -> Distribution:
    """About .9 with probability ``share``, about .1 otherwise."""
    from scipy.special import ndtri

    def quantile(u: FloatArray) -> FloatArray:
        good = u > 1 - share
        level = np.where(good, (u - 1 + share) / share, u / (1 - share))
        return np.asarray(np.where(good, 0.9, 0.1) + 0.02 * ndtri(np.clip(level, 1e-15, 1 - 1e-15)))

    return Distribution(f"works with probability {share:g}", quantile, (0.0, 1.0))


def rare_distributions() -> list[Distribution]:
    """Modes that most samples do not show."""
    return [works(0.03), works(0.1), named_distribution("beta(8,2)").failing(0.05, 0.0)]


def joint_distributions() -> list[JointDistribution]:
    """Selection and reported scores: weakly and strongly related, skewed, bending back, and a coarse selection."""
    from scipy.special import ndtri

    return [
        JointDistribution("normal, rho .3", _gaussian(0.3)),
        JointDistribution("normal, rho .9", _gaussian(0.9)),
        JointDistribution("beta(8,2) accuracies, rho .8", _accuracies),
        JointDistribution("selection overfits", lambda v, w: 0.6 + 0.3 * v - 0.25 * v**4 + 0.03 * ndtri(w)),
        JointDistribution("normal, rho .8, five-level selection", _gaussian(0.8), levels=5),
    ]


def many_joint_distributions() -> list[JointDistribution]:
    """The same for many trials, of which one in 64 has diverged where it is reported."""
    related = _gaussian(0.8)
    diverging = JointDistribution(
        "normal, rho .8, 1.6 % diverged", lambda v, w: np.where(w < 1 / 64, -50.0, related(v, w))
    )
    return [*joint_distributions(), diverging]


def bounded_joint_distributions() -> list[JointDistribution]:
    """The same with bounds: selection that overfits everywhere or at the very top, failures, two modes, no relation."""
    from scipy.special import betaincinv, ndtri

    def failing(v: FloatArray, w: FloatArray) -> FloatArray:
        return np.where(v < 0.3, 0.0, _accuracies(np.clip((v - 0.3) / 0.7, 1e-9, 1), w))

    unit = (0.0, 1.0)
    return [
        JointDistribution("beta(8,2) accuracies, rho .8", _accuracies, bounds=unit),
        JointDistribution(
            "selection overfits", lambda v, w: 0.6 + 0.3 * v - 0.25 * v**4 + 0.03 * ndtri(w), bounds=unit
        ),
        JointDistribution(
            "selection overfits at the top",
            lambda v, w: 0.6 + 0.3 * v - 2 * np.maximum(v - 0.9, 0) + 0.02 * ndtri(w),
            bounds=unit,
        ),
        JointDistribution("accuracies, 30 % failed", failing, bounds=unit),
        JointDistribution(
            "works with probability 0.5", lambda v, w: np.where(v < 0.5, 0.1, 0.9) + 0.02 * ndtri(w), bounds=unit
        ),
        JointDistribution("unrelated", lambda v, w: np.asarray(betaincinv(8, 2, w)) + 0 * v, bounds=unit),
    ]


def _gaussian(rho: float) -> Callable[[FloatArray, FloatArray], FloatArray]:
    from scipy.special import ndtri

    rest = np.sqrt(1 - rho**2)
    return lambda v, w: rho * ndtri(v) + rest * ndtri(w)


def _accuracies(v: FloatArray, w: FloatArray) -> FloatArray:
    from scipy.special import betaincinv, ndtr

    return np.asarray(betaincinv(8, 2, ndtr(_gaussian(0.8)(v, w))))


@dataclass(frozen=True)
class Cell:
    """One kind of interval: which distributions and sizes, which methods, which statistic."""

    kind: str
    distributions: Distributions
    methods: tuple[str, ...]
    sizes: tuple[int, ...] = SIZES
    statistic: str = "mean"
    bounded: bool = False
    simultaneous: bool = False
    samples: int = SAMPLES

    def budgets(self, n_trials: int) -> list[int]:
        """1, 2, 5, a quarter, a half and four fifths of the trials; a fifth and all of them where bounds are known."""
        shares = [0.25, 0.5, 0.8, *([0.2, 1.0] if self.bounded else [])]
        wanted = {1, 2, 5, *(int(share * n_trials + 1e-9) for share in shares)}
        most = n_trials if self.bounded else int(0.8 * n_trials)
        return sorted(n for n in wanted if 1 <= n <= most)


OURS = ("default", "gaffke")
"""Run again where they have fewer samples than are asked for."""
RIVALS = ("default", "percentile")
CELLS = (
    Cell("bounded mean", bounded_distributions, ("default", "gaffke", "percentile"), bounded=True),
    Cell("mean", lambda: [*ten_distributions(), *tied_distributions()], RIVALS),
    Cell("few trials", few_distributions, ("default", "jackknife", "percentile"), (3, 4, 5, 6, 7, 10)),
    Cell("rare modes", rare_distributions, ("gaffke", "default", "percentile"), (10, 20, 30, 50), bounded=True),
    Cell("bounded reported mean", bounded_joint_distributions, RIVALS, bounded=True),
    Cell("reported mean", joint_distributions, RIVALS),
    Cell("many trials", lambda: ten_distributions()[:4], RIVALS, (1000,), samples=400),
    Cell("very many trials", lambda: ten_distributions()[:4], ("default",), (20_000,), samples=200),
    Cell("many reported", many_joint_distributions, ("default",), (1000, 20_000), samples=400),
    Cell("many reported median", joint_distributions, ("default",), (1000, 20_000), statistic="median", samples=200),
    Cell(
        "many trials band",
        lambda: ten_distributions()[:4],
        ("default",),
        (1000, 20_000),
        simultaneous=True,
        samples=400,
    ),
    Cell("bounded mean band", bounded_distributions, RIVALS, (20, 50), bounded=True, simultaneous=True),
    Cell("mean band", ten_distributions, RIVALS, (20, 50), simultaneous=True),
    Cell("reported mean band", joint_distributions, RIVALS, (20, 50), simultaneous=True),
    Cell("reported median", joint_distributions, ("default", "percentile"), (10, 20, 50), statistic="median"),
    Cell("quantile", lambda: [*ten_distributions(), *tied_distributions()], ("exact",), statistic="median"),
    Cell(
        "quantile band",
        lambda: [*ten_distributions(), *tied_distributions()],
        ("exact",),
        statistic="median",
        simultaneous=True,
    ),
)


def plans() -> Iterator[tuple[Cell, Any, int]]:
    """Every cell, distribution and number of trials."""
    for cell in CELLS:
        for n_trials in cell.sizes:
            for distribution in cell.distributions():
                yield cell, distribution, n_trials


def run(folder: Path, *, jobs: int, samples: int | None) -> None:
    """Run what is not there yet and write it into the folder."""
    out, keep = folder / "intervals.json", folder / "chunks.jsonl"
    results: dict[str, Any] = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
    for cell, distribution, n_trials in plans():
        size = samples or cell.samples
        key = f"{cell.kind} | {distribution.name} | {n_trials}"
        known = results.get(key, {"methods": {}})
        missing = tuple(name for name in cell.methods if _samples(known, name) < (size if name in OURS else 1))
        if not missing:
            continue
        print(key, *missing, flush=True)
        found = simulate(
            distribution,
            n_trials,
            cell.budgets(n_trials),
            methods=missing,
            statistic=cell.statistic,
            simultaneous=cell.simultaneous,
            use_bounds=cell.bounded,
            n_samples=size,
            n_resamples=RESAMPLES,
            seed=SEED,
            jobs=jobs,
            keep=keep,
        )
        results[key] = {
            "kind": cell.kind,
            "law": distribution.name,
            "n_trials": n_trials,
            "n": list(found.plan.n),
            "sd": _tidy(found.sd_estimate, 4),
            "methods": known["methods"] | {name: _rounded(found, name) for name in missing},
        }
        out.write_text(json.dumps(results, indent=0, allow_nan=False), encoding="utf-8")
        keep.unlink(missing_ok=True)


def _samples(known: dict[str, Any], method: str) -> int:
    """How many samples of a cell a method has so far."""
    return int(known["methods"].get(method, {"samples": 0})["samples"])


def _rounded(found: Any, method: str) -> dict[str, Any]:
    return {
        "samples": found.n_samples,
        "coverage": _tidy(found.covered[method], 5),
        "defined": _tidy(found.defined[method], 4),
        "width": _tidy(found.mean_width[method], 4),
        "jointly": found.jointly[method],
    }


def _tidy(values: FloatArray, digits: int) -> list[float | None]:
    return [None if not np.isfinite(value) else float(f"{value:.{digits}g}") for value in values]


def write(folder: Path, page: Path, table: Path) -> None:
    """The page and the table of lowest coverages."""
    cells = list(json.loads((folder / "intervals.json").read_text(encoding="utf-8")).values())
    page.write_text(coverage_page(cells, seed=SEED, resamples=RESAMPLES), encoding="utf-8")
    table.write_text(json.dumps({"kinds": coverage_table(cells)}, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["run", "write"])
    parser.add_argument("--folder", type=Path, default=HERE)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--samples", type=int)
    given = parser.parse_args()
    if given.what == "run":
        run(given.folder, jobs=given.jobs, samples=given.samples)
    else:
        root = HERE.parents[1]
        write(given.folder, root / "docs/coverage.md", root / "src/levelbest/data/coverage.json")
