"""How many pairs of trials tell two families apart."""

from __future__ import annotations

import math

import numpy as np
import scipy

from levelbest import _check
from levelbest._check import budget_grid
from levelbest.errors import DataError
from levelbest.stats.best import Sample
from levelbest.stats.budgets._planning import POINTS, WHOLE, Needed, as_power, at_least, capped_budget
from levelbest.stats.contrasts import Question, paired_evidence


def pairs_to_separate(
    a: Sample, b: Sample, n: int, *, n_pairs: int = 1, power: float = 0.8, confidence: float = 0.95
) -> Needed:
    """How many pairs of trials until their difference at budget n is certified: entry i of both is one pair.

    Parameters
    ----------
    a, b
        Pilots of the two families, higher being better.
    n
        The budget, at most a quarter of the pairs (a larger one is capped).
    n_pairs
        Of families in the comparison to come, which share the error.
    power, confidence
        Of the comparison to come.

    Returns
    -------
    Needed
        By the standard error over pairs and the t that decides among so many, the difference being that observed; its
        interval from the difference's own limits.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> old = rng.normal(size=40)
    >>> needed = pairs_to_separate(Sample(old + 0.2 + 0.1 * rng.normal(size=40)), Sample(old), 2)
    >>> needed.n, needed.needed < 40
    (2, True)
    """
    asked, sizes = _check.as_count(n, "n"), (a.n_trials, b.n_trials)
    power, confidence = as_power(power), _check.as_confidence(confidence)
    budget = capped_budget(asked, sizes)
    question = Question(pairs=((0, 1),), confidence=1 - (1 - confidence) / n_pairs)
    grid = np.union1d(budget_grid(a.n_trials // 2, whole=WHOLE, points=POINTS), [budget])
    difference, error, critical = paired_evidence((a, b), grid, budget, question)
    if error == 0:
        raise DataError(f"the best of {budget} has no spread in these pairs: nothing to plan from")

    def needed_for(apart: float) -> float:
        wanted = (critical + float(scipy.special.ndtri(power))) * error
        return at_least(a.n_trials * (wanted / apart) ** 2, budget) if apart > 0 else math.inf

    apart, reach = abs(difference), -float(scipy.special.ndtri((1 - confidence) / 2)) * error
    now = float(scipy.special.ndtr(apart / error - critical))
    ends = needed_for(apart + reach), needed_for(apart - reach)
    return Needed(needed_for(apart), *ends, confidence, budget, asked, now, power, sizes)
