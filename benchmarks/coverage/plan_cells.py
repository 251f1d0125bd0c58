"""The power that a plan promises: a pilot is drawn and planned from, fresh units of the planned number are compared.

A verdict for the truly better family at the budget planned for is right; every other answer is not. Plans and
comparisons are asked of the functions that `plan_trials` and `compare` call, over the budgets that they have.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations

import numpy as np
from certificate import Cell, Measures

from levelbest._check import budget_grid
from levelbest.stats.best import Sample
from levelbest.stats.inference import Contrasts, Hypotheses, run_contrasts, sign_contrasts, trial_contrasts

LARGEST = 1_000
"""Units that are drawn at the most: of more planned ones, fewer are compared."""
Contrasting = Callable[[np.random.Generator, int, Hypotheses], Contrasts]
"""So many fresh units of each family, and what a comparison of them says."""
DISTRIBUTIONS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "Gumbel": lambda rng, size: rng.gumbel(size=size),
    "normal": lambda rng, size: rng.normal(size=size),
    "lognormal": lambda rng, size: rng.lognormal(0, 0.6, size),
    "negative exponential": lambda rng, size: -rng.exponential(size=size),
}


def trials(distribution: str, shift: float, families: int, n: int) -> Contrasting:
    """Families in steps of a shift."""

    def contrasts(rng: np.random.Generator, size: int, hypotheses: Hypotheses) -> Contrasts:
        scores = [shift * place + DISTRIBUTIONS[distribution](rng, size) for place in range(families)]
        grid = np.union1d(budget_grid(size // 2, whole=100, points=60), [min(n, size // 2)])
        return trial_contrasts([Sample(part) for part in scores], grid, hypotheses)

    return contrasts


def runs(distribution: str, shift: float, families: int) -> Contrasting:
    """The same where only seeds vary."""

    def contrasts(rng: np.random.Generator, size: int, hypotheses: Hypotheses) -> Contrasts:
        return run_contrasts(
            [shift * place + DISTRIBUTIONS[distribution](rng, size) for place in range(families)], hypotheses
        )

    return contrasts


def problems(difference: float, samples: int = 4) -> Contrasting:
    """Two systems on the same problems, the second better by a difference of rates."""

    def contrasts(rng: np.random.Generator, size: int, hypotheses: Hypotheses) -> Contrasts:
        rates = rng.beta(1, 1, size) * (1 - difference)
        first, second = (rng.binomial(samples, own) / samples for own in (rates, rates + difference))
        return sign_contrasts([(first - second)[:, None]], np.array([1]), hypotheses)

    return contrasts


def planned(contrasts: Contrasting, families: int, size: int, n: int) -> Callable[[np.random.Generator, int], Measures]:
    """One pilot, its plan for one pair (which goes round with the number of the sample), and one study of that size."""
    pairs = tuple(combinations(range(families), 2))

    def measure(rng: np.random.Generator, at: int) -> Measures:
        pilot = contrasts(rng, size, Hypotheses(pairs, planned=n)).pairs[at % len(pairs)]
        needed = pilot.needed
        told = {"number": float(not math.isnan(needed.needed)), "too small": float(needed.code == "small")}
        if math.isnan(needed.needed) or needed.code == "small":
            return told
        study = contrasts(rng, int(min(needed.needed, LARGEST)), Hypotheses(pairs)).pairs[at % len(pairs)]
        # families get better in their order
        return told | {"right": float(study.certified[study.n == n][0] == -1)}

    return measure


def plan_cells() -> list[Cell]:
    """Two and four families, seeds and problems; pilots of 10 to 500 units."""
    cells = []

    def add(row: str, column: str, contrasts: Contrasting, families: int, size: int, n: int = 1) -> None:
        cells.append(Cell("plan", row, column, planned(contrasts, families, size, n)))

    for distribution, shift, sizes, n in (
        ("Gumbel", 0.8, (10, 30, 100, 500), 1),
        ("normal", 0.6, (10, 30, 100, 500), 1),
        ("lognormal", 0.5, (30, 100), 1),
        ("negative exponential", 0.5, (30, 100), 1),
        ("Gumbel", 0.8, (30, 100), 5),
        ("negative exponential", 0.3, (30, 100), 5),
    ):
        for size in sizes:
            add(f"{distribution}, {shift} apart", f"2 x {size}, n = {n}", trials(distribution, shift, 2, n), 2, size, n)
    for distribution, shift, sizes in (("Gumbel", 0.8, (10, 30, 100)), ("normal", 0.8, (30, 100))):
        for size in sizes:
            add(
                f"{distribution}, in steps of {shift}", f"4 x {size}, n = 1", trials(distribution, shift, 4, 1), 4, size
            )
    for distribution, shift, families in (("normal", 1.0, 2), ("lognormal", 0.8, 2), ("normal", 1.0, 4)):
        for size in (10, 30):
            row = f"seeds, {distribution}, {'in steps of' if families > 2 else 'apart by'} {shift:g}"
            add(row, f"{families} x {size}", runs(distribution, shift, families), families, size)
    for difference, size in ((0.1, 10), (0.1, 30), (0.05, 100), (0.05, 300)):
        add(f"problems, rates {difference} apart", f"{size} problems, 4 samples", problems(difference), 2, size)
    return cells
