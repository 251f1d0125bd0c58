"""The difference of two families' curves, with limits and verdicts over the budgets compared."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import Bounds, Seed
from levelbest.stats.best import Sample, statistic_named, turned_bounds
from levelbest.stats.contrasts._asked import Contrasts, Question
from levelbest.stats.contrasts._families import half_of
from levelbest.stats.contrasts._random_searches import search_contrasts
from levelbest.stats.contrasts._samples import Difference

__all__ = ["difference_band"]


def difference_band(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    n: npt.ArrayLike | None = None,
    *,
    reported: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    statistic: str | float = "mean",
    paired: bool = False,
    confidence: float = 0.95,
    simultaneous: bool = True,
    direction: str = "max",
    bounds: Bounds = (None, None),
    n_resamples: int = _check.N_RESAMPLES,
    rng: Seed = 0,
) -> Difference:
    """The difference of two families at each budget, with limits and verdicts that hold over all of them at once.

    More than 8 parameters: the settings of a comparison.

    Parameters
    ----------
    a, b
        Selection scores of the two families.
    n
        Budgets; by default all up to half the trials of the smaller family.
    reported
        The pair of reported scores, where they are separate.
    statistic
        ``mean``, ``median``, a quantile's probability or a registered statistic.
    paired
        Entry i of both is the same configuration, seed or problem.
    confidence
        Of all limits and verdicts together or, not ``simultaneous``, of each budget by itself.
    simultaneous
        Whether they hold together.
    direction
        ``max`` or ``min``.
    bounds
        Of the reported score, where they are known.
    n_resamples, rng
        Draws behind the limits, and what decides them. Verdicts do not depend on the seed.

    Returns
    -------
    Difference
        First minus second, turned so that positive means that the first is better. Mean curves are decided by dealing
        the trials anew where limits of unequal laws agree (`search_contrasts`), others by their limits.

    Examples
    --------
    >>> band = difference_band([0.8, 0.9, 0.7, 0.85] * 5, [0.5, 0.6, 0.4, 0.55] * 5, [1, 5])
    >>> band.certified.tolist()
    [1, 1]
    """
    first, second = (None, None) if reported is None else reported
    families = [Sample(*_check.as_pair(a, first, at_least=2)), Sample(*_check.as_pair(b, second, at_least=2))]
    if n is None:
        n = np.arange(1, half_of(*(family.n_trials for family in families)) + 1)
    budgets, _ = _check.as_budgets(n, min(family.n_trials for family in families))
    grid, where = np.unique(budgets, return_inverse=True)
    question = Question(((0, 1),), confidence=confidence, bounds=turned_bounds(_check.as_bounds(bounds), direction))
    n_resamples = _check.as_count(n_resamples, "n_resamples", at_least=99)
    turned, generator = [family.turned(direction) for family in families], _check.as_rng(rng)
    parts = [grid] if simultaneous else [grid[i : i + 1] for i in range(grid.size)]
    answers = [
        search_contrasts(
            turned, part, question, statistic=statistic, paired=paired, n_resamples=n_resamples, rng=generator
        )
        for part in parts
    ]
    whole = _joined(answers, paired=paired, simultaneous=simultaneous)
    named = replace(whole, statistic=statistic_named(statistic).name, direction=_check.as_direction(direction))
    return named.at(where)


def _joined(answers: list[Contrasts], *, paired: bool, simultaneous: bool) -> Difference:
    """All budgets' contrasts of one pair as one difference."""
    pairs = [answer.pairs[0] for answer in answers]
    first = answers[0]
    return Difference(
        n=np.concatenate([pair.n for pair in pairs]),
        difference=np.concatenate([pair.difference for pair in pairs]),
        low=np.concatenate([pair.low for pair in pairs]),
        high=np.concatenate([pair.high for pair in pairs]),
        certified=np.concatenate([pair.certified for pair in pairs]),
        method=first.method,
        confidence=first.question.confidence,
        simultaneous=simultaneous,
        paired=paired,
        n_trials=pairs[0].n_trials,
        statistic="",
        direction="max",
        n_resamples=first.n_resamples or None,
        reasons=tuple(dict.fromkeys(reason for pair in pairs for reason in pair.reasons)),
        basis=pairs[0].basis,
        p_value=np.concatenate([pair.p_value for pair in pairs]),
    )
