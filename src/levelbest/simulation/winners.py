"""Which of two laws looks better at n, and how often that is the wrong one ([T] fig. 2)."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest.errors import InputError
from levelbest.simulation.battery import clopper_pearson
from levelbest.simulation.laws import Law
from levelbest.stats.best import expected_best, gaussian_best

__all__ = ["false_winner", "sd_by_trials"]


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


def sd_by_trials(
    law: Law,
    n: int,
    n_trials: npt.ArrayLike,
    *,
    estimators: tuple[str, ...] = ("u", "v", "gaussian"),
    n_samples: int = 2000,
    seed: int = 0,
) -> list[dict[str, object]]:
    """The standard deviation of estimators of the best of n against the number of trials ([B] figs. 2 and 3)."""
    rows = []
    for m in _check.as_budgets(n_trials)[0]:
        scores, _ = law.draw(np.random.default_rng([seed, int(m)]), (n_samples, int(m)))
        row: dict[str, object] = {"n_trials": int(m), "truth": float(law.true_mean([n])[0])}
        for name in estimators:
            if name == "u" and m < n:
                row[name] = None
                continue
            if name == "gaussian":
                estimates = [float(gaussian_best(score, n, direction=law.direction)) for score in scores]
            else:
                estimates = [
                    float(expected_best(score, n, estimator=name, direction=law.direction)) for score in scores
                ]
            row[name] = {"mean": float(np.mean(estimates)), "sd": float(np.std(estimates, ddof=1))}
        rows.append(row)
    return rows
