"""The coverage certificate: every interval on laws that hurt, run once, committed, and printed by one command.

    python -m levelbest.simulation.certificate run --jobs 2      # hours; goes on where it stopped
    python -m levelbest.simulation.certificate write             # seconds: docs/coverage.md and data/coverage.json

``run`` keeps finished chunks beside the results, so an interrupted run loses nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from levelbest._check import FloatArray
from levelbest.simulation.battery import simulate
from levelbest.simulation.laws import JointLaw, Law, named_law

__all__ = ["CELLS", "Cell", "bounded_laws", "joint_laws", "run_certificate", "ten_laws"]

SEED, SAMPLES, RESAMPLES = 2026, 2000, 999
SIZES = (10, 20, 50, 100)
BOOTSTRAPS = ("studentised", "percentile", "basic", "bca", "smoothed", "jackknife", "gaussian")


def ten_laws() -> list[Law]:
    """Ten laws without bounds given: symmetric, skewed either way, heavy-tailed, U-shaped, rounded."""
    names = ("uniform", "norm", "expon", "-expon", "beta(8,2)", "beta(0.5,0.5)", "lognorm(1)", "t(3)", "quadratic")
    return [*(named_law(name) for name in names), named_law("beta(8,2)").rounded(0.01)]


def tied_laws() -> list[Law]:
    """Coarse ties, and failures that count as 0."""
    beta = named_law("beta(8,2)")
    return [beta.rounded(0.05), named_law("three_point"), beta.failing(0.2, 0.0)]


def bounded_laws() -> list[Law]:
    """Scores between 0 and 1, with coarse ties, 0/1 and failures among them."""
    beta = named_law("beta(8,2)")
    smooth = [named_law("uniform"), beta, named_law("beta(0.5,0.5)"), beta.rounded(0.01)]
    return [*smooth, *tied_laws(), named_law("bernoulli(0.3)"), beta.failing(0.3, 0.0)]


def joint_laws() -> list[JointLaw]:
    """Selection and reported scores: weakly and strongly related, skewed, bending back, and a coarse selection."""
    from scipy.special import betaincinv, ndtr, ndtri

    def gaussian(rho: float) -> Callable[[FloatArray, FloatArray], FloatArray]:
        rest = np.sqrt(1 - rho**2)
        return lambda v, w: rho * ndtri(v) + rest * ndtri(w)

    def accuracies(v: FloatArray, w: FloatArray) -> FloatArray:
        return np.asarray(betaincinv(8, 2, ndtr(gaussian(0.8)(v, w))))

    def overfitted(v: FloatArray, w: FloatArray) -> FloatArray:
        return np.asarray(0.6 + 0.3 * v - 0.25 * v**4 + 0.03 * ndtri(w))

    return [
        JointLaw("normal, rho .3", gaussian(0.3)),
        JointLaw("normal, rho .9", gaussian(0.9)),
        JointLaw("beta(8,2) accuracies, rho .8", accuracies, bounds=(0.0, 1.0)),
        JointLaw("selection overfits", overfitted),
        JointLaw("normal, rho .8, five-level selection", gaussian(0.8), levels=5),
    ]


@dataclass(frozen=True)
class Cell:
    """One kind of interval: which laws, which methods, which statistic."""

    kind: str
    laws: Callable[[], list[Any]]
    methods: tuple[str, ...]
    statistic: str = "mean"
    use_bounds: bool = False
    simultaneous: bool = False
    up_to_all: bool = False
    """Also at n = n_trials, where only some intervals exist."""


CELLS = (
    Cell("bounded mean", bounded_laws, ("default", "gaffke", *BOOTSTRAPS), use_bounds=True, up_to_all=True),
    Cell("mean", lambda: [*ten_laws(), *tied_laws()], ("default", *BOOTSTRAPS)),
    Cell("reported mean", joint_laws, ("default", *BOOTSTRAPS)),
    Cell("quantile", lambda: [*ten_laws(), *tied_laws()], ("exact",), statistic="median"),
    Cell("quantile band", lambda: [*ten_laws(), *tied_laws()], ("exact",), statistic="median", simultaneous=True),
    Cell("reported median", joint_laws, ("default",), statistic="median"),
    Cell("bounded mean band", bounded_laws, ("default",), use_bounds=True, simultaneous=True),
    Cell("mean band", ten_laws, ("default",), simultaneous=True),
    Cell("reported mean band", joint_laws, ("default",), simultaneous=True),
)


def budgets(n_trials: int, cell: Cell) -> list[int]:
    """1, 2, 5, a quarter, a half and four fifths of the trials; a fifth and all of them too, where bounds are known."""
    found = {1, 2, 5, n_trials // 4, n_trials // 2, round(0.8 * n_trials)}
    if cell.use_bounds:
        found |= {n_trials // 5}
    if cell.up_to_all:
        found |= {n_trials}
    return sorted(found)


def plans() -> Iterator[tuple[Cell, Any, int]]:
    """Every cell, law and number of trials, small ones first."""
    for n_trials in SIZES:
        for cell in CELLS:
            for law in cell.laws():
                yield cell, law, n_trials


def run_certificate(
    folder: Path, *, jobs: int = 1, n_samples: int = SAMPLES, progress: Callable[[int, int, str], None] | None = None
) -> Path:
    """Run what is not there yet and write ``results.json`` into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    out = folder / "results.json"
    results: dict[str, Any] = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
    todo = list(plans())
    for i, (cell, law, n_trials) in enumerate(todo):
        key = f"{cell.kind} | {law.name} | {n_trials} | {n_samples}"
        if progress:
            progress(i, len(todo), key)
        if key in results:
            continue
        keep = folder / "chunks.jsonl"
        found = simulate(
            law,
            n_trials,
            budgets(n_trials, cell),
            methods=cell.methods,
            statistic=cell.statistic,
            simultaneous=cell.simultaneous,
            use_bounds=cell.use_bounds,
            n_samples=n_samples,
            n_resamples=RESAMPLES,
            seed=SEED,
            jobs=jobs,
            keep=keep,
        )
        results[key] = {
            "kind": cell.kind,
            "law": law.name,
            "n_trials": n_trials,
            "n_samples": n_samples,
            "n": list(found.plan.n),
            "methods": {name: _rounded(found, name) for name in cell.methods},
        }
        out.write_text(json.dumps(results, indent=0, allow_nan=False), encoding="utf-8")
        keep.unlink(missing_ok=True)
    return out


def _rounded(found: Any, method: str) -> dict[str, Any]:
    def tidy(values: FloatArray, digits: int) -> list[float | None]:
        return [None if not np.isfinite(one) else float(f"{one:.{digits}g}") for one in values]

    return {
        "coverage": tidy(found.covered[method], 5),
        "defined": tidy(found.defined[method], 4),
        "width": tidy(found.mean_width[method], 4),
        "jointly": found.jointly[method],
    }


if __name__ == "__main__":
    import argparse

    parser = argparse.ArgumentParser(description="Run or write the coverage certificate.")
    parser.add_argument("what", choices=["run", "write"])
    parser.add_argument("--folder", type=Path, default=Path("benchmarks/coverage"))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--samples", type=int, default=SAMPLES)
    given = parser.parse_args()
    if given.what == "run":
        run_certificate(
            given.folder,
            jobs=given.jobs,
            n_samples=given.samples,
            progress=lambda done, total, key: print(f"{done}/{total} {key}", flush=True),
        )
    else:
        from levelbest.simulation.certificate_page import write_certificate

        write_certificate(
            given.folder / "results.json", Path("docs/coverage.md"), Path("src/levelbest/data/coverage.json")
        )
