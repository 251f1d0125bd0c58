"""The coverage certificate over problems: intervals for averages and paired differences on laws that hurt.

    python -m levelbest.simulation.group_certificate run        # minutes; goes on where it stopped
    python -m levelbest.simulation.group_certificate write      # docs/coverage-problems.md

A problem's success rate is drawn from a law, its samples from the rate; a second system has 0.7 times the rate on the
same problems. The truth is known in closed form: for p ~ beta(a, b), E (1 - s p)^k = 2F1(-k, a; a + b; s).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from levelbest._check import FloatArray
from levelbest.stats.problems import GroupBest, average_over_groups, group_difference, group_interval, pass_at_k

__all__ = ["LAWS", "RateLaw", "run_cell", "run_group_certificate", "write_group_certificate"]

SEED, SAMPLES, RESAMPLES = 2026, 1000, 999
PROBLEMS = (20, 50, 200)
PER_PROBLEM = (16, 32, 64)
K = np.array([1, 4, 16])
SECOND = 0.7
KINDS = ("gaffke", "studentised", "t", "gaffke band", "difference gaffke", "difference band", "difference t")


@dataclass(frozen=True)
class RateLaw:
    """Success rates: beta(a, b), with a share of problems that are never solved."""

    name: str
    a: float
    b: float
    zeros: float = 0.0

    def draw(self, n_problems: int, rng: np.random.Generator) -> FloatArray:
        """One rate per problem."""
        rates = rng.beta(self.a, self.b, n_problems)
        return np.where(rng.random(n_problems) < self.zeros, 0.0, rates)

    def truth(self, k: Any, scale: float = 1.0) -> FloatArray:
        """The expected pass@k of a system with ``scale`` times the rate."""
        from scipy.special import hyp2f1

        return np.asarray((1 - self.zeros) * (1 - hyp2f1(-np.asarray(k), self.a, self.a + self.b, scale)))


LAWS = (RateLaw("beta(.3,.7)", 0.3, 0.7), RateLaw("beta(2,2)", 2, 2), RateLaw("half zeros", 2, 2, 0.5))


def _best(correct: Any, samples: int) -> GroupBest:
    by_group = np.asarray(pass_at_k(correct, samples, K))
    value, n_groups = average_over_groups(by_group, None)
    places = np.arange(by_group.shape[0])
    return GroupBest(K, value, by_group, n_groups, places, np.full(places.size, samples), None, "max")


def run_cell(
    law: RateLaw, n_problems: int, samples: int, *, n_samples: int = SAMPLES, seed: int = SEED
) -> dict[str, Any]:
    """Coverage of each kind of interval at k = 1, 4, 16; of a band, one number: that of all k together."""
    cell = [LAWS.index(law) if law in LAWS else 99, n_problems, samples]
    first, second = law.truth(K), law.truth(K, SECOND)
    hits = {kind: np.zeros(K.size) for kind in KINDS}
    widths = {kind: np.zeros(K.size) for kind in KINDS}
    for at in range(n_samples):
        rng = np.random.default_rng([seed, *cell, at])
        rates = law.draw(n_problems, rng)
        a, b = (_best(rng.binomial(samples, scale * rates), samples) for scale in (1.0, SECOND))
        limits: dict[str, Any] = {"rng": rng, "n_resamples": RESAMPLES}
        found: dict[str, Any] = {name: group_interval(a, method=name, bounds=(0, 1), **limits) for name in KINDS[:3]}
        found["gaffke band"] = group_interval(a, bounds=(0, 1), simultaneous=True, **limits)
        found["difference gaffke"] = group_difference(a, b, bounds=(0, 1), simultaneous=False, **limits)
        found["difference band"] = group_difference(a, b, bounds=(0, 1), **limits)
        found["difference t"] = group_difference(a, b, method="t", bounds=(0, 1), simultaneous=False, **limits)
        for kind, one in found.items():
            truth = first - second if kind.startswith("difference") else first
            # rounding must not decide where a limit is the truth; an undefined interval does not cover
            inside = (one.low <= truth + 1e-12) & (truth <= one.high + 1e-12)
            hits[kind] += inside.all() if kind.endswith("band") else inside
            widths[kind] += np.nan_to_num(one.high - one.low)
    return {
        "law": law.name,
        "problems": n_problems,
        "samples": samples,
        "n_samples": n_samples,
        "k": K.tolist(),
        "coverage": {kind: (hit / n_samples).round(4).tolist() for kind, hit in hits.items()},
        "width": {kind: (width / n_samples).round(4).tolist() for kind, width in widths.items()},
    }


def run_group_certificate(
    out: Path, *, n_samples: int = SAMPLES, progress: Callable[[str], None] | None = None
) -> dict[str, Any]:
    """Run what is not there yet; the file holds one entry per cell."""
    results: dict[str, Any] = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
    out.parent.mkdir(parents=True, exist_ok=True)
    for n_problems in PROBLEMS:
        for law in LAWS:
            for samples in PER_PROBLEM:
                key = f"{law.name} | {n_problems} | {samples} | {n_samples}"
                if key not in results:
                    results[key] = run_cell(law, n_problems, samples, n_samples=n_samples)
                    out.write_text(json.dumps(results, indent=0, allow_nan=False), encoding="utf-8")
                    if progress:
                        progress(f"{key}: {results[key]['coverage']}")
    return results


def write_group_certificate(source: Path, page: Path) -> None:
    """The page: the worst coverage of each kind by number of problems, and every cell of the default."""
    cells = list(json.loads(source.read_text(encoding="utf-8")).values())
    cells.sort(key=lambda one: (one["problems"], one["law"], one["samples"]))
    sizes = sorted({one["problems"] for one in cells})
    fewest = min(one["n_samples"] for one in cells)
    lines = [
        "# Coverage over problems",
        "",
        "How often a nominal 95 % interval holds the truth, where the unit that varies is the problem: success rates "
        "drawn from three laws (beta(.3,.7); beta(2,2); half of the problems never solved, the others beta(2,2)), 16, "
        f"32 or 64 samples of each problem, k = 1, 4, 16, {fewest:,} simulated data sets per cell "
        f"(standard error {(0.0475 / fewest) ** 0.5:.3f} at .95). Differences are "
        "paired: a second system with 0.7 times the rate on the same problems. A band counts only where it holds at "
        "all k together.",
        "",
        f"Lowest coverage over laws, samples and k in the {len(cells)} cells listed below:",
        "",
        "| interval | " + " | ".join(f"{size} problems" for size in sizes) + " |",
        "|---|" + "---|" * len(sizes),
    ]
    for kind in KINDS:
        lows = [min(min(one["coverage"][kind]) for one in cells if one["problems"] == size) for size in sizes]
        lines.append(f"| {kind} | " + " | ".join(f"{low:.3f}" for low in lows) + " |")
    lines += [
        "",
        "`gaffke` is the default where the score has bounds; `t` and `studentised` are there by name. Every cell of "
        "the default, and its mean width:",
        "",
        "| law | problems | samples | k = 1 | k = 4 | k = 16 | difference, k = 1 | k = 4 | k = 16 |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for one in cells:
        shown = [
            f"{hit:.3f} ({width:.2f})"
            for kind in ("gaffke", "difference gaffke")
            for hit, width in zip(one["coverage"][kind], one["width"][kind], strict=True)
        ]
        lines.append(f"| {one['law']} | {one['problems']} | {one['samples']} | " + " | ".join(shown) + " |")
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    import argparse

    parser = argparse.ArgumentParser(description="Run or write the coverage certificate over problems.")
    parser.add_argument("what", choices=["run", "write"])
    parser.add_argument("--results", type=Path, default=Path("benchmarks/coverage/groups.json"))
    parser.add_argument("--samples", type=int, default=SAMPLES)
    given = parser.parse_args()
    if given.what == "run":
        run_group_certificate(given.results, n_samples=given.samples, progress=lambda text: print(text, flush=True))
    else:
        write_group_certificate(given.results, Path("docs/coverage-problems.md"))
