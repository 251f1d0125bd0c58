"""Cells of unequal distributions: curves that meet, skew, collapses, power, and bands of the difference."""

from __future__ import annotations

from functools import partial

import designs as d
import numpy as np
from certificate import Cell
from distributions import CHOSEN_ON, QUANTILES, modes, standard, steady
from scipy import special
from scipy.stats import ttest_rel

__all__ = ["band_cells", "power_cells", "unequal_cells"]


def unequal_cells() -> list[Cell]:
    """Curves that meet: a winner there is wrong."""
    q = QUANTILES
    cells = []
    for share, sizes, n in ((0.15, (20, 20), 2), (0.12, (30, 30), 2), (0.25, (20, 20), 3), (0.3, (16, 60), 3)):
        for name, distribution in (
            (f"{share:.0%} failures", modes((share, 0.0, 0.0), (1 - share, 0.8, 0.02))),
            (f"{share:.0%} failures, skewed", _failing_skewed(share)),
        ):
            rival = d.meeting(distribution, steady(0.0), n)
            cells.append(
                Cell(
                    "unequal", f"{name} / steady, meet at {n}", d.label(sizes), d.unequal([distribution, rival], sizes)
                )
            )
    chosen = (
        ("normal", 1.0, "normal", 3.0, (20, 20)),
        ("normal", 1.0, "normal", 3.0, (60, 20)),
        ("normal", 1.0, "lognormal", 1.0, (20, 20)),
        ("normal", 1.0, "lognormal", 1.0, (60, 60)),
        ("normal", 1.0, "lognormal", 1.0, (60, 20)),
        ("uniform", 1.0, "t3", 1.0, (30, 30)),
        ("Laplace", 1.0, "gamma", 1.0, (30, 30)),
        ("Gumbel", 1.0, "mirrored gamma", 1.5, (25, 50)),
        ("logistic", 1.0, "gamma", 2.0, (40, 15)),
        ("mirrored gamma", 1.0, "gamma", 1.0, (20, 20)),
    )
    for a, scale_a, b, scale_b, sizes in chosen:
        for n in (1, 4):
            first, second = _scaled(q[a], scale_a), _scaled(q[b], scale_b)
            name = f"{a} / {b}" + (f", sd {scale_a:g} / {scale_b:g}" if scale_b != 1 else "")
            cells.append(
                Cell(
                    "unequal",
                    f"{name}, meet at {n}",
                    d.label(sizes),
                    d.unequal([first, d.meeting(first, second, n)], sizes),
                )
            )
    for a, b, sizes in (
        ("beta(8,2)", "works .5", (20, 20)),
        ("beta(8,2)", "three modes", (40, 40)),
        ("ceiling", "18 % failures", (25, 25)),
        ("U-shaped", "beta(8,2)", (30, 30)),
        ("U-shaped", "four values", (20, 60)),
    ):
        cells += [
            Cell(
                "unequal", f"{a} / {b}, meet at {n}", d.label(sizes), d.unequal([q[a], d.meeting(q[a], q[b], n)], sizes)
            )
            for n in (1, 3)
        ]
    for sizes, n in (((20, 20), 5), ((50, 50), 10), ((50, 50), 20), ((100, 100), 20)):
        cells.append(Cell("collapse", f"10 % collapse, n = {n}", d.label(sizes), d.collapsing(sizes, n)))
    for sizes, n, share in (((40, 40), 3, 0.2), ((30, 60), 2, 0.3), ((80, 40), 8, 0.25)):
        cells.append(Cell("collapse", f"{share:.0%} collapse, n = {n}", d.label(sizes), d.collapsing(sizes, n, share)))
    return [*cells, *_several(), *_skewed_problems(), *_negligible()]


def _several() -> list[Cell]:
    """Three families of a distribution and two of another, which meet."""
    failures = modes((0.2, 0.0, 0.0), (0.8, 0.8, 0.02))
    rows = (
        ("20% failures", failures, "steady", steady(0.0), 20, 2),
        ("gamma", QUANTILES["gamma"], "logistic", QUANTILES["logistic"], 20, 5),
        ("logistic", QUANTILES["logistic"], "gamma", QUANTILES["gamma"], 50, 20),
        ("mirrored gamma", QUANTILES["mirrored gamma"], "Gumbel", QUANTILES["Gumbel"], 50, 12),
        ("Laplace", QUANTILES["Laplace"], "gamma", QUANTILES["gamma"], 50, 12),
        ("three modes", QUANTILES["three modes"], "beta(8,2)", QUANTILES["beta(8,2)"], 40, 3),
    )
    cells = []
    for name, first, rival, second, size, n in rows:
        families = [*[first] * 3, *[d.meeting(first, second, n)] * 2]
        cell = d.unequal(families, (size,) * 5)
        cells.append(Cell("unequal: several families", f"3 x {name} / 2 x {rival}, meet at {n}", f"5 x {size}", cell))
    return cells


def _failing_skewed(share: float) -> d.Quantile:
    return lambda u: np.where(u < share, 0.0, special.betaincinv(5, 2, np.clip((u - share) / (1 - share), 1e-12, 1)))


def _scaled(distribution: d.Quantile, scale: float) -> d.Quantile:
    return lambda u: scale * distribution(u)


def _skewed(rng: np.random.Generator, size: int, up: float, share: float, down: float) -> list[np.ndarray]:
    """Two systems whose differences are ``up`` on most problems and ``-down`` on a share of them."""
    change = np.where(rng.random(size) < share, -down, up) + 0.02 * rng.normal(size=size)
    base = rng.uniform(0.0, 0.05, size) + (1 - up - 0.1)
    return [base + change, base]


SKEWED = {20: (0.1, 0.1, 0.9), 30: (0.1, 0.1, 0.9), 50: (0.04, 0.05, 0.76), 100: (0.025, 0.03, 0.81)}
FRESH_SKEW = {24: (0.2, 0.2, 0.8), 60: (0.1, 0.125, 0.7), 120: (0.07, 0.07, 0.93)}


def _skewed_problems() -> list[Cell]:
    cells = []
    for size, (up, share, down) in (SKEWED | FRESH_SKEW).items():
        name = f"+{up:g} on {1 - share:.3g}, -{down:g} on {share:g}"
        sample = partial(_skewed, size=size, up=up, share=share, down=down)
        cells.append(
            Cell("skewed problems", name, f"{size} problems", d.at_zero(partial(d.problems, bounds=None), sample))
        )
    for size, skew in ((12, (0.1, 0.1, 0.9)), (20, (0.2, 0.2, 0.8)), (12, (0.3, 0.3, 0.7))):
        sample = partial(_skewed, size=size, up=skew[0], share=skew[1], down=skew[2])
        name = f"+{skew[0]:g} on {1 - skew[1]:.3g}, -{skew[2]:g} on {skew[1]:g}"
        cells.append(Cell("skewed problems", name, f"{size} pairs", d.at_zero(d.pairs, sample)))
    return cells


def _negligible() -> list[Cell]:
    cells = []
    for kind, compare in (("seeds", d.seeds), ("trials", d.trials)):
        for size, share in ((5, 0.1), (10, 0.2), (20, 0.08), (30, 0.1)):
            bad = modes((share, 0.17, 0.005), (1 - share, 0.8, 0.005))
            for bounds in (None, (0, 1)):

                def sample(rng, *, size=size, bad=bad):
                    return [bad(rng.random(size)), 0.8 + 0.005 * rng.normal(size=size)]

                where = "" if bounds is None else ", bounds 0 and 1"
                cells.append(
                    Cell(
                        "no difference worth having",
                        f"{share:.0%} collapses, difference {0.63 * share:.3f}, worth .02{where}",
                        f"{size}-{size} {kind}",
                        d.negligible(partial(compare, bounds=bounds, worth=0.02, n=[1]), sample),
                    )
                )
    return cells


def power_cells() -> list[Cell]:
    named = partial(d.trials, headline=1)
    cells = [
        Cell("power: trials", f"{shift:g} sd", d.label(sizes), d.power((shift, 0.0), sizes, d.trials, named=named))
        for sizes, shift in (
            ((50, 50), 0.5),
            ((20, 20), 0.8),
            ((10, 100), 0.8),
            ((10, 10), 1.25),
            ((50, 50), 0.55),
            ((8, 80), 1.0),
        )
    ]
    for size, shift in ((10, 1.6), (20, 1.1)):
        measure = d.power((shift, 0.0, 0.0, 0.0), (size,) * 4, d.trials, named=named)
        cells.append(Cell("power: trials", f"one of four {shift:g} sd above", f"4 x {size}", measure))
    for sizes, shifts, row in (
        ((10,) * 5, (0.0, 2.0, 4.0, 6.0, 8.0), "steps of 2 sd"),
        ((5,) * 5, (0.0, 4.0, 8.0, 12.0, 16.0), "steps of 4 sd"),
        ((3,) * 5, (0.0, 8.0, 16.0, 24.0, 32.0), "steps of 8 sd"),
        ((10,) * 5, (2.0, 0.0, 0.0, 0.0, 0.0), "one of five 2 sd above"),
        ((3, 3), (8.0, 0.0), "8 sd"),
        ((5, 5), (2.0, 0.0), "2 sd"),
        ((4,) * 4, (0.0, 30.0, 60.0, 90.0), "30 sd apart"),
        ((5,) * 4, (0.0, 30.0, 60.0, 90.0), "30 sd apart"),
        ((6,) * 4, (0.0, 30.0, 60.0, 90.0), "30 sd apart"),
    ):
        cells.append(Cell("power: seeds", row, d.label(sizes), d.power(shifts, sizes, d.seeds)))
        if row == "30 sd apart":
            cells.append(Cell("power: trials", row, d.label(sizes), d.power(shifts, sizes, d.trials)))
    medians = partial(d.trials, statistic="median")
    cells.append(Cell("power: medians", "1 sd", "32-32", d.power((1.0, 0.0), (32, 32), medians, budgets=(1, 5))))
    cells.append(Cell("power: means", "1 sd", "32-32", d.power((1.0, 0.0), (32, 32), d.trials, budgets=(1, 5))))
    later = partial(d.unequal, rivals=False)
    wide = _scaled(QUANTILES["normal"], 2.0)
    cells.append(Cell("power: later budgets", "sd 2 / sd 1", "50-50", later([wide, QUANTILES["normal"]], (50, 50))))
    cells.append(Cell("power: searches", "1 sd", "10-10", d.power((1.0, 0.0), (40, 40), d.searches, budgets=(1, 4))))
    cells.append(
        Cell(
            "power: tasks", ".8 sd on each", "2 tasks, 20-20", d.power((0.8, 0.0), (40, 40), partial(d.tasks, number=2))
        )
    )
    for lift in (0.0, 1.0):
        for count, runs in ((8, 4), (20, 5)):
            cells += [
                Cell(
                    "power: configurations",
                    f"{distribution}, {lift:g} sd above",
                    f"{count} x {runs}",
                    _configured(distribution, count, runs, lift),
                )
                for distribution in ("normal", "beta(8,2)", "exponential")
            ]
    return [*cells, *_power_problems()]


def _configured(distribution: str, count: int, runs: int, lift: float) -> object:
    quantile = standard(CHOSEN_ON[distribution])

    def measure(rng: np.random.Generator, _at: int) -> dict[str, float]:
        scores = [
            np.repeat(quantile(rng.random(count)), runs) + 0.5 * quantile(rng.random(count * runs)) + lift * place
            for place in range(2)
        ]
        return {
            "decided": d.winner_among(d.configurations(scores, runs)),
            "each run a trial": d.winner_among(d.trials(scores)),
        }

    return measure


def _power_problems() -> list[Cell]:
    cells = []
    for distribution in ("beta(2,2)", "uniform"):
        for size, lift in ((15, 0.2), (50, 0.1), (200, 0.05), (8, 0.0), (15, 0.0), (50, 0.0), (200, 0.0)):

            def measure(rng, _at, *, distribution=distribution, size=size, lift=lift):
                rates = (rng.random(size) if distribution == "uniform" else rng.beta(2, 2, size)) * (1 - lift)
                scores = [d.solved(rng, p, 10) for p in (rates + lift, rates)]
                pair = d.problems(scores, 10).pairs[0]
                named = d.certified(pair)
                means = [part.reshape(-1, 10).mean(axis=1) for part in scores]
                return {
                    "at 1": float(named[0] != 0),
                    "at any n": float((named != 0).any()),
                    "the worse": float((named < 0).any()),
                    "paired t": float(ttest_rel(*means).pvalue <= d.ALPHA),
                }

            cells.append(Cell("power: problems", f"{distribution}, {lift:g}", f"{size}", measure))
    return cells


def band_cells() -> list[Cell]:
    """Bands of the difference at all budgets and pairs together; what other methods make of the same samples."""
    q = QUANTILES
    free = (
        ("normal", "uniform", (50, 50)),
        ("exponential", "normal", (50, 50)),
        ("uniform", "mirrored exponential", (50, 50)),
        ("exponential", "normal", (20, 20)),
        ("uniform", "normal", (20, 20)),
        ("exponential", "normal", (20, 100)),
        ("exponential", "normal", (10, 100)),
        ("t3", "normal", (50, 50)),
        ("lognormal", "normal", (50, 50)),
        ("gamma", "logistic", (30, 30)),
        ("mirrored gamma", "Laplace", (20, 60)),
    )
    bounded = (
        ("triangular", "arcsine", (50, 50)),
        ("triangular", "arcsine", (20, 20)),
        ("triangular", "arcsine", (10, 100)),
        ("works .5", "works .1", (50, 50)),
        ("beta(8,2)", "30 % failures", (50, 50)),
        ("0/1 .3", "0/1 .6", (50, 50)),
        ("0/1 .3", "0/1 .6", (20, 20)),
        ("beta(8,2)", "rounded", (20, 20)),
        ("digits svm", "digits forest", (30, 30)),
        ("beta(8,2)", "narrow", (50, 50)),
        ("three modes", "18 % failures", (40, 40)),
        ("U-shaped", "ceiling", (30, 30)),
    )
    rare = (
        (".5, 2 % at .9", "steady .55", (50, 50)),
        ("works .03", "works .1", (30, 30)),
        ("works .5", "works .1", (20, 20)),
        ("5 % failures", "30 % failures", (20, 20)),
    )
    cells = [
        Cell("bands without bounds", f"{a} / {b}", d.label(s), d.unequal([q[a], q[b]], s, rivals=True))
        for a, b, s in free
    ]
    for kind, rows in (("bands with bounds 0 and 1", bounded), ("bands, rare modes", rare)):
        cells += [
            Cell(kind, f"{a} / {b}", d.label(s), d.unequal([q[a], q[b]], s, bounds=(0.0, 1.0), rivals=True))
            for a, b, s in rows
        ]
    cells += [
        Cell(
            "bands, rare modes, gaffke",
            f"{a} / {b}",
            d.label(s),
            d.unequal([q[a], q[b]], s, bounds=(0.0, 1.0), interval="gaffke"),
        )
        for a, b, s in rare
    ]
    five = ("normal", "uniform", "exponential", "mirrored exponential", "normal")
    for sizes in ((50,) * 5, (20, 20, 20, 20, 100)):
        cells.append(
            Cell(
                "bands without bounds",
                "five families",
                "-".join(map(str, sizes)),
                d.unequal([q[name] for name in five], sizes),
            )
        )
    return cells
