"""The certificate of evaluations: these very problems, clusters of problems, several benchmarks, plans, broken tests.

    python benchmarks/coverage/suites.py run --samples 1000      # goes on where it stopped
    python benchmarks/coverage/suites.py write                   # docs/coverage-suites.md

A problem's success rate is drawn from a distribution, its samples from the rate. For the suite the truth is the mean
over the rates drawn; over problems it is that of the distribution. A winner under equal rates is a false one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from certificate import Cell, Measures, Results, main

import levelbest as lb

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "coverage-suites.md"
RESAMPLES = 499
Rates = Callable[[np.random.Generator, int], np.ndarray]
RATES: dict[str, Rates] = {
    "beta(2,2)": lambda rng, size: rng.beta(2, 2, size),
    "beta(.3,.7)": lambda rng, size: rng.beta(0.3, 0.7, size),
    "half never solved": lambda rng, size: np.where(rng.random(size) < 0.5, 0.0, rng.beta(2, 2, size)),
    "nearly all solved": lambda rng, size: rng.beta(9, 0.3, size),
}
GRADED = "graded, beta(2,2) about the rate"


def tabled(systems: list[np.ndarray], **more: Any) -> lb.Trials:
    """(problem, sample) of each system as trials."""
    problems, samples = systems[0].shape
    return lb.Trials.from_arrays(
        np.concatenate([scores.ravel() for scores in systems]).astype(float),
        family=np.repeat([f"system {place + 1}" for place in range(len(systems))], problems * samples),
        group=np.tile(np.repeat(np.arange(problems), samples), len(systems)),
        direction="max",
        bounds=(0, 1),
        **more,
    )


def solved(rng: np.random.Generator, rates: np.ndarray, samples: int) -> np.ndarray:
    """(problem, sample), 0 or 1."""
    return rng.random((rates.size, samples)) < rates[:, None]


def graded(rng: np.random.Generator, rates: np.ndarray, samples: int) -> np.ndarray:
    """(problem, sample): scores in [0, 1] whose mean is the rate."""
    return rng.beta(4 * rates[:, None] + 1e-9, 4 * (1 - rates[:, None]) + 1e-9, (rates.size, samples))


def winner(compared: Any, n: int = 1) -> Measures:
    """Whether the pair is decided at a budget, and anywhere."""
    pair = compared.pairs[0]
    return {"winner": float(pair.verdict_at(n) in pair.families), "anywhere": float(pair.decided)}


def intervals(rates: Rates, size: int, samples: int) -> Callable[[np.random.Generator, int], Measures]:
    """Coverage of intervals for the suite at n = 1 and at half the samples, and their width over that over problems."""

    def measure(rng: np.random.Generator, _at: int) -> Measures:
        p = rates(rng, size)
        table_of = tabled([solved(rng, p, samples)])
        budgets = sorted({1, samples // 2})
        inside, over = (
            lb.curve(table_of, n=budgets, about=about, n_resamples=RESAMPLES) for about in ("suite", "problems")
        )
        truth = np.array([np.mean(1 - (1 - p) ** n) for n in budgets])
        covers = (inside.low <= truth + 1e-12) & (truth <= inside.high + 1e-12)
        ratio = float((inside.high[0] - inside.low[0]) / (over.high[0] - over.low[0]))
        return {"pass@1": float(covers[0]), "pass@half": float(covers[-1]), "width over that over problems": ratio}

    return measure


def interval_cells() -> Iterator[Cell]:
    """20 to 200 problems."""
    for size in (20, 50, 200):
        for samples in (4, 16):
            for name, rates in RATES.items():
                yield Cell("suite: intervals", name, f"{size} x {samples}", intervals(rates, size, samples))


def equal_cells() -> Iterator[Cell]:
    """Two systems with the same rates on these very problems."""
    for size, samples in ((20, 3), (20, 10), (50, 4), (100, 10), (200, 4)):
        for name, rates in {**RATES, GRADED: RATES["beta(2,2)"]}.items():

            def measure(rng, _at, *, rates=rates, size=size, samples=samples, name=name):
                p = rates(rng, size)
                draw = graded if name == GRADED else solved
                return winner(lb.compare(tabled([draw(rng, p, samples) for _ in range(2)]), about="suite"))

            yield Cell(
                "suite: equal systems", name, f"{size} x {samples}", measure, 0.2 if size * samples > 900 else 1.0
            )


BEFORE, AFTER = np.array([0.9, 1.0, 0.85, *[0.95] * 17]), np.array([0.4, 0.35, 0.2, *[0.95] * 17])
"""Three of 20 tests broken: of 20 runs 18 to 8, 20 to 7 and 17 to 4."""


def broken_cells() -> Iterator[Cell]:
    """The tests of a project before and after a change."""
    for runs in (5, 10, 20):
        for about in ("suite", "problems"):

            def measure(rng, _at, *, runs=runs, about=about):
                decided = {}
                for name, after in (("broken", AFTER), ("A/A", BEFORE)):
                    compared = lb.compare(
                        tabled([solved(rng, BEFORE, runs), solved(rng, after, runs)]),
                        about=about,
                        n_resamples=RESAMPLES,
                    )
                    decided |= {
                        f"{name}": winner(compared)["winner"],
                        f"{name}, anywhere": winner(compared)["anywhere"],
                    }
                return decided

            yield Cell("three of 20 tests broken", f"--about {about}", f"{runs} runs", measure)


EFFECTS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "normal": lambda rng, size: rng.normal(0, 0.15, size),
    "three values": lambda rng, size: 0.3 * rng.integers(-1, 2, size),
    "one in eight differs": lambda rng, size: 0.4 * (rng.random(size) < 0.125),
}
"""What each system adds to the success rate of a cluster."""
SIZES = {
    "20 x 20": np.full(20, 20),
    "40 x 5": np.full(40, 5),
    "30 of 1 to 30": np.repeat([1, 2, 3, 4, 5, 7, 10, 14, 18, 24, 30], [5, 5, 3, 3, 3, 3, 2, 2, 2, 1, 1]),
}


def cluster_cells() -> Iterator[Cell]:
    """Equal systems on problems that are nested in clusters, which each finds easy or hard in its own way."""
    for column, sizes in SIZES.items():
        for name, effect in EFFECTS.items():

            def measure(rng, at, *, sizes=sizes, effect=effect):
                cluster = np.repeat(np.arange(sizes.size), sizes)
                rates = [np.clip(0.5 + effect(rng, sizes.size)[cluster], 0, 1) for _ in range(2)]
                systems = [solved(rng, p, 2) for p in rates]
                label = np.tile(np.repeat(cluster, 2), 2)
                together = lb.compare(tabled(systems, cluster=label), n_resamples=RESAMPLES)
                measures = {"winner": winner(together)["anywhere"]}
                if at % 5 == 0:
                    alone = lb.compare(tabled(systems), n_resamples=RESAMPLES)
                    measures["problems one by one"] = winner(alone)["anywhere"]
                return measures

            yield Cell("clusters: equal systems", name, column, measure)


def all_cells() -> list[Cell]:
    """Every cell, in the order of the page."""
    return [*broken_cells(), *interval_cells(), *equal_cells(), *cluster_cells()]


def write_page(results: Results) -> None:
    """docs/coverage-suites.md, from the results alone."""
    raise NotImplementedError


if __name__ == "__main__":
    main(all_cells, write_page, HERE / "suites.json", "the certificate of evaluations")
