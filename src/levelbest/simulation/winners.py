"""Which of two laws looks better at n, and how often that is the wrong one ([T] fig. 2)."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest.errors import InputError
from levelbest.simulation.battery import clopper_pearson
from levelbest.simulation.laws import Law
from levelbest.stats.best import expected_best


def false_winner(
    a: Law, b: Law, n_trials: int, n: npt.ArrayLike, *, estimator: str = "u", n_samples: int = 2000, seed: int = 0
) -> list[dict[str, object]]:
    """For every n: how often the law with the worse true curve has the better estimate, with exact limits."""
    if a.direction != b.direction:
        raise InputError(f"two laws need one direction, got {a.direction} for {a.name} and {b.direction} for {b.name}")
    budgets, _ = _check.as_budgets(n, n_trials)
    gap = a.true_mean(budgets) - b.true_mean(budgets)
    rng = np.random.default_rng(seed)
    wrong = np.zeros(budgets.size)
    estimated = partial(expected_best, n=budgets, estimator=estimator, direction=a.direction)
    for _ in range(n_samples):
        first, _none = a.draw(rng, (1, n_trials))
        second, _none = b.draw(rng, (1, n_trials))
        seen = np.asarray(estimated(first[0])) - np.asarray(estimated(second[0]))
        wrong += seen * gap < 0
    rows = []
    for i, one in enumerate(budgets):
        low, high = clopper_pearson(wrong[i] / n_samples, n_samples)
        rows.append(
            {"n": int(one), "true_difference": gap[i], "false_winner": wrong[i] / n_samples, "low": low, "high": high}
        )
    return rows
