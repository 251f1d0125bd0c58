"""How many trials, or pairs of trials, tell two families apart: by the t that a comparison takes for a verdict."""

from __future__ import annotations

import math

import numpy as np
import scipy

from levelbest import _check
from levelbest._check import Bounds, budget_grid
from levelbest.errors import DataError
from levelbest.stats.best import Sample, turned_bounds
from levelbest.stats.budgets._planning import POINTS, WHOLE, Needed, as_power, at_least, capped_budget
from levelbest.stats.inference import PairTest, Question, trial_units


def trials_to_separate(
    a: Sample,
    b: Sample,
    n: int,
    *,
    n_pairs: int = 1,
    power: float = 0.8,
    confidence: float = 0.95,
    direction: str = "max",
    bounds: Bounds = (None, None),
    paired: bool = False,
) -> Needed:
    """How many trials of each family until their difference at budget n is certified.

    Its parameters are those of the comparison to come.

    Parameters
    ----------
    a, b
        Pilots of the two families.
    n
        The budget, at most a quarter of the trials (a larger one is capped).
    n_pairs
        Of families in the comparison to come, which share the error.
    power, confidence
        Of the comparison to come.
    direction, bounds
        Of the scores.
    paired
        Whether entry i of both is one pair.

    Returns
    -------
    Needed
        The difference being that observed; its interval from the difference's own limits.
    """
    asked, sizes = _check.as_count(n, "n"), (a.n_trials, b.n_trials)
    power, confidence = as_power(power), _check.as_confidence(confidence)
    budget = capped_budget(asked, sizes)
    level = (1 - confidence) / n_pairs
    question = Question(pairs=((0, 1),), confidence=1 - level, bounds=turned_bounds(bounds, direction))
    grid = np.union1d(budget_grid(min(sizes) // 2, whole=WHOLE, points=POINTS), [budget])
    units = trial_units([a.turned(direction), b.turned(direction)], grid, question, paired=paired)
    grid = grid[grid <= units.reach((0, 1))]
    budget = min(budget, int(grid[-1]))
    test = PairTest(units, (0, 1), question, grid, level)
    place = int(np.searchsorted(grid, budget))
    _ = test.p_values
    difference, error = float(test.evidence.difference[place]), float(test.evidence.error[place])
    if error == 0:
        raise DataError(f"the best of {budget} has no spread in these trials: nothing to plan from")
    critical, variances = test.critical(place), units.variances((0, 1), budget)

    def needed_for(apart: float) -> float:
        wanted = (critical + float(scipy.special.ndtri(power))) / apart if apart > 0 else math.inf
        each = sum(v * m for v, m in zip(variances, sizes, strict=True))
        return at_least(each * wanted**2, budget) if math.isfinite(wanted) else math.inf

    apart, reach = abs(difference), -float(scipy.special.ndtri((1 - confidence) / 2)) * error
    now = float(scipy.special.ndtr(apart / error - critical))
    ends = needed_for(apart + reach), needed_for(apart - reach)
    return Needed(needed_for(apart), *ends, confidence, budget, asked, now, power, sizes)
