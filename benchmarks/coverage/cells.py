"""What the certificate of verdicts measures: designs, counts and distributions, in the order of its page."""

from __future__ import annotations

from functools import partial
from inspect import signature

import designs as d
import numpy as np
from certificate import Cell
from invariance import invariance_cells
from plan_cells import plan_cells
from unequal_cells import band_cells, power_cells, unequal_cells

import levelbest as lb

__all__ = ["all_cells"]

FRESH = ("8 % good mode", "18 % failures", "three modes", "four values", "skewed losses")
"""Held out: rare and several modes, failures, ties, skew."""
BOTH = (*FRESH, "normal")


def _equal() -> list[Cell]:
    cells = []
    for sizes in ((3, 30), (7, 70), (10, 10), (12, 12), (10, 100)):
        cells += [
            Cell("equal: trials", distribution, d.label(sizes), d.equal([distribution], sizes, d.trials, rivals=True))
            for distribution in BOTH
        ]
    for sizes in ((3,) * 2, (5,) * 2, (4,) * 3, (7,) * 4, (10,) * 5):
        cells += [
            Cell("equal: seeds", distribution, f"{len(sizes)} x {sizes[0]}", d.equal([distribution], sizes, d.seeds))
            for distribution in BOTH
        ]
    for sizes in ((3, 30), (5, 50), (10, 10)):
        trials = tuple(4 * size for size in sizes)
        cells += [
            Cell("equal: searches", distribution, d.label(sizes), d.equal([distribution], trials, d.searches))
            for distribution in (*BOTH, "12 % good mode")
        ]
    for number in (2, 5):
        for sizes in ((5, 50), (10, 100)):
            every = tuple(number * size for size in sizes)
            compare = partial(d.tasks, number=number)
            column = f"{number} tasks, {d.label(sizes)}"
            distributions = (*FRESH[:4], "7 % failures", "5 % good mode")
            cells += [
                Cell("equal: tasks", distribution, column, d.equal([distribution], every, compare))
                for distribution in distributions
            ]
    for kind, compare in (("seeds", d.seeds), ("trials", d.trials)):
        for families, size in ((5, 3), (7, 4), (9, 5)):
            for far in (1, 2) if kind == "seeds" else (1,):
                sizes = (size,) * (families + far)
                column = f"{families} x {size} {kind}, {far} far"
                cells += [
                    Cell("partial null", distribution, column, d.partial_null(distribution, sizes, far, compare))
                    for distribution in (FRESH[0], FRESH[2], FRESH[3], "works .5")
                ]
    for sizes in ((8, 20, 60), (4, 6, 9, 30), (5, 5, 10, 10, 20, 20)):
        cells += [
            Cell(
                "equal: several families",
                distribution,
                "-".join(map(str, sizes)),
                d.equal([distribution], sizes, d.trials),
            )
            for distribution in FRESH
        ]
    for size in (8, 12, 20):
        cells += [
            Cell("equal: pairs", distribution, f"{size} pairs", d.equal([distribution], (size, size), d.pairs))
            for distribution in BOTH
        ]
    for families, count, runs in ((2, 5, 1), (4, 5, 1), (2, 10, 1), (4, 10, 1), (2, 10, 3)):
        column = f"{families} x {count} folds" + f" x {runs} runs" * (runs > 1)
        cells += [
            Cell("equal: folds", distribution, column, _folds(distribution, families, count, runs))
            for distribution in BOTH
        ]
    for design, rising in (("cost", 0.0), ("cost, better trials more expensive", 2.0)):
        for sizes in ((10, 10), (10, 100)):
            cells += [
                Cell(f"equal: {design}", distribution, d.label(sizes), _cost(distribution, sizes, rising))
                for distribution in (FRESH[0], FRESH[1], FRESH[3], "normal")
            ]
    for sizes in ((10, 10), (10, 100), (32, 32)):
        compare = partial(d.trials, statistic="median")
        cells += [
            Cell("equal: medians", distribution, d.label(sizes), d.equal([distribution], sizes, compare))
            for distribution in BOTH
        ]
    return [*cells, *_equal_problems(), *_equal_configurations()]


def _folds(distribution: str, families: int, count: int, runs: int) -> object:
    """Folds differ much for all families alike, and by ``distribution`` for each by itself; runs differ less."""

    def measure(rng: np.random.Generator, _at: int) -> dict[str, float]:
        own = d.draw(rng, [distribution], (count,) * families)
        spread = np.ptp(np.concatenate(own)) or 1.0
        hard = np.repeat(rng.normal(0, 3 * spread, count), runs)
        scores = [hard + np.repeat(part, runs) + 0.1 * spread * rng.normal(size=count * runs) for part in own]
        return {"winner": d.winner_among(d.folds(scores, runs))}

    return measure


def _cost(distribution: str, sizes: tuple[int, int], rising: float) -> object:
    def measure(rng: np.random.Generator, _at: int) -> dict[str, float]:
        return {"winner": d.winner_among(d.cost(d.draw(rng, [distribution], sizes), rng, rising))}

    return measure


RATES = {
    "0/1, rates beta(2,2)": lambda rng, size: rng.beta(2, 2, size),
    "0/1, rates beta(.3,.7)": lambda rng, size: rng.beta(0.3, 0.7, size),
    "0/1, 15 % ever solved": lambda rng, size: np.where(rng.random(size) < 0.15, rng.beta(2, 1, size), 0.0),
}


def _equal_problems() -> list[Cell]:
    cells = []
    for size in (20, 30, 50, 100):
        for name, rates in RATES.items():
            for samples in (1, 8):

                def measure(rng, _at, *, rates=rates, samples=samples, size=size):
                    p = rates(rng, size)
                    compared = d.problems([d.solved(rng, p, samples) for _ in range(2)], samples)
                    return {"winner": d.winner_among(compared)}

                cells.append(Cell("equal: problems", f"{name}, {samples} samples", f"{size}", measure))
        for distribution in ("18 % failures", "three modes", "8 % good mode"):

            def graded(rng, _at, *, distribution=distribution, size=size):
                common = 0.5 * rng.random(size)
                scores = [np.clip(common + 0.5 * part, 0, 1) for part in d.draw(rng, [distribution], (size, size))]
                return {"winner": d.winner_among(d.problems(scores))}

            cells.append(Cell("equal: problems", f"graded, {distribution}", f"{size}", graded))
    return [*cells, *_clusters()]


def _clusters() -> list[Cell]:
    """Problems nested in something that both systems find easy or hard in their own way."""
    cells: list[Cell] = []
    if "cluster" not in signature(lb.Trials.from_arrays).parameters:
        return cells
    for clusters, size in ((20, 20), (40, 5)):
        for name, effect in (
            ("normal", lambda rng, k: rng.normal(0, 0.15, k)),
            ("two modes", lambda rng, k: 0.3 * rng.integers(-1, 2, k)),
        ):

            def measure(rng, _at, *, clusters=clusters, size=size, effect=effect):
                label = np.repeat(np.arange(clusters), size)
                scores = [
                    (rng.random(label.size) < np.clip(0.5 + effect(rng, clusters)[label], 0, 1)).astype(float)
                    for _ in range(2)
                ]
                return {"winner": d.winner_among(d.problems(scores, cluster=np.concatenate([label, label])))}

            cells.append(Cell("equal: clusters of problems", name, f"{clusters} x {size}", measure))
    return cells


def _equal_configurations() -> list[Cell]:
    cells = []
    for count, runs in ((8, 4), (20, 5)):
        for distribution in (FRESH[0], FRESH[1], FRESH[3], "normal"):

            def measure(rng, _at, *, distribution=distribution, count=count, runs=runs):
                scores = [
                    np.repeat(part, runs) + 0.3 * noise
                    for part, noise in zip(
                        d.draw(rng, [distribution], (count, count)),
                        d.draw(rng, [distribution], (count * runs,) * 2),
                        strict=True,
                    )
                ]
                return {"winner": d.winner_among(d.configurations(scores, runs))}

            cells.append(Cell("equal: configurations", distribution, f"{count} x {runs}", measure))
    return cells


def all_cells() -> list[Cell]:
    """Every cell, the most important tables first."""
    return [*_equal(), *unequal_cells(), *power_cells(), *band_cells(), *plan_cells(), *invariance_cells()]
