"""Intervals for averages over problems: the unit that varies is the problem."""

from __future__ import annotations

import numpy as np

from levelbest import _check
from levelbest._check import Bounds, Seed
from levelbest.stats.bands import Interval, Terms
from levelbest.stats.problems._groups import GroupBest
from levelbest.stats.problems._limits import METHODS, MeanQuestion, mean_limits

__all__ = ["GROUP_METHODS", "group_interval"]

GROUP_METHODS = ("default", *METHODS)


def group_interval(
    best: GroupBest,
    *,
    method: str | None = None,
    confidence: float = 0.95,
    simultaneous: bool = False,
    bounds: Bounds | None = None,
    n_resamples: int = _check.N_RESAMPLES,
    rng: Seed = 0,
) -> Interval:
    """Limits for the average over the population of problems that the groups were drawn from.

    Parameters
    ----------
    best
        The values by problem, from `expected_best_by_group`.
    method
        One of `GROUP_METHODS`. The default is ``gaffke`` where both bounds are known, which no law of problems is known
        to break, and ``studentised`` without.
    confidence, simultaneous
        Of each budget alone or, simultaneous, of all of them together.
    bounds
        Of the reported score.
    n_resamples, rng
        How many draws of the problems' weights, and what decides them.

    Returns
    -------
    Interval
        Its ``n_trials`` is the number of groups.

    Notes
    -----
    Gaffke (2005), *Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative
    variable*; that its limits hold for every law is a conjecture, and docs/coverage-problems.md the evidence.

    Examples
    --------
    >>> from levelbest.stats.problems import expected_best_by_group, group_interval
    >>> best = expected_best_by_group([0, 1, 1, 1, 0, 0, 1, 1], ["a", "a", "b", "b", "c", "c", "d", "d"], [1, 2])
    >>> limits = group_interval(best, bounds=(0, 1), rng=0)
    >>> limits.method, bool((limits.low < best.value).all())
    ('gaffke', True)
    """
    name = _check.as_choice("default" if method is None else method, GROUP_METHODS, "method")
    known = best.by_group[~np.isnan(best.by_group)]
    ends = _check.as_bounds(bounds, known, "scores")
    if name == "default":
        name = "studentised" if None in ends else "gaffke"
    terms = Terms(confidence, bool(simultaneous), best.direction, ends, n_resamples)
    limits = mean_limits(MeanQuestion(best.by_group, best.weights, terms, _check.as_rng(rng)), name)
    return Interval(
        n=best.n,
        low=limits.low,
        high=limits.high,
        method=name,
        confidence=confidence,
        simultaneous=terms.simultaneous,
        n_trials=int(best.groups.size),
        direction=best.direction,
        why=tuple(limits.why) if any(limits.why) else (),
        rule=limits.rule,
        n_resamples=n_resamples,
    )
