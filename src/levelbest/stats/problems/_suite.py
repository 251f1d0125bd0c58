"""Limits and verdicts for exactly these problems: only the samples within each problem are random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from levelbest import _check
from levelbest._check import Bounds, FloatArray
from levelbest.errors import InputError
from levelbest.stats.bands import Interval, Rule
from levelbest.stats.inference import (
    Contrasts,
    Hypotheses,
    ProblemSamples,
    SuiteUnits,
    TaskShares,
    contrasts_of,
    curve_limits,
    decide,
)
from levelbest.stats.problems._groups import GroupBest
from levelbest.stats.problems._limits import group_interval

SUITE_METHODS = ("default", "gaffke")


def suite_contrasts(
    systems: Sequence[ProblemSamples],
    hypotheses: Hypotheses,
    weights: FloatArray | None = None,
    tasks: TaskShares | None = None,
) -> Contrasts:
    """Differences of systems on exactly these problems, with limits and verdicts for all pairs and budgets together.

    Parameters
    ----------
    systems
        The samples of each system, on the same problems and at the same budgets.
    hypotheses
        Pairs, confidence, bounds (turned so that higher is better), the budget named in advance and the difference
        worth having.
    weights
        Of the problems; None: all alike.
    tasks
        The task of each problem, as a code, and the share of each task, where there are several.

    Returns
    -------
    Contrasts
        ``n_trials`` and ``further`` count samples; ``basis`` is ``permutation``, within each problem.

    Notes
    -----
    With one sample of each problem nothing is known of the variance within problems, and limits over problems, which
    hold for exactly these too, are given.

    For 0/1 scores at n = 1, with as many samples of every problem, the p-value is that of the conditional test of
    Cochran (1954), Mantel and Haenszel (1959).

    Examples
    --------
    >>> from levelbest.stats.inference import CountSamples, Hypotheses
    >>> from levelbest.stats.problems import pass_at_k, suite_contrasts
    >>> n, sizes = np.array([1]), np.full(3, 3)
    >>> a, b = (CountSamples(np.array(won), sizes, n, pass_at_k) for won in ([3, 3, 2], [0, 1, 0]))
    >>> contrast = suite_contrasts([a, b], Hypotheses(pairs=((0, 1),), bounds=(0, 1))).pairs[0]
    >>> contrast.certified.tolist(), contrast.basis
    ([1], 'permutation')
    """
    _check.as_choice(hypotheses.method, SUITE_METHODS, "method")
    units = SuiteUnits(systems, weights, tasks)
    return contrasts_of(decide(units, units.nodes, hypotheses), hypotheses)


def suite_interval(
    best: GroupBest,
    samples: ProblemSamples,
    *,
    method: str | None = None,
    confidence: float = 0.95,
    simultaneous: bool = False,
    bounds: Bounds | None = None,
    over: Interval | None = None,
) -> Interval:
    """Limits for the average over exactly these problems: only the samples vary.

    Parameters
    ----------
    best
        The values by problem.
    samples
        The samples behind them, at the same budgets.
    method
        ``default``, or ``gaffke``, which needs both bounds of the score.
    confidence, simultaneous
        Of each budget alone or, simultaneous, of all of them together.
    bounds
        Of the reported score: where a sample that was not observed may lie.
    over
        Limits over problems with the same settings, where they are known (`group_interval`); None computes them.

    Returns
    -------
    Interval
        Up to half the samples of the problem that has fewest; NaN beyond.

    Notes
    -----
    A mean varies over problems by the samples and by the choice of problems. So limits over problems hold for exactly
    these too, and the narrower of both is given on either side. With one sample of each problem, which tells nothing
    about the variance within problems, they are the only ones; for 0/1 scores those of Clopper and Pearson, which hold
    for any success rates (Hoeffding 1956, *On the distribution of the number of successes in independent trials*).

    Examples
    --------
    >>> from levelbest.stats.inference import CountSamples
    >>> from levelbest.stats.problems import expected_best_by_group, pass_at_k, suite_interval
    >>> best = expected_best_by_group([0, 1, 1, 1, 0, 0, 1, 1], ["a", "a", "b", "b", "c", "c", "d", "d"], [1])
    >>> samples = CountSamples(np.array([1, 2, 0, 2]), np.full(4, 2), best.n, pass_at_k)
    >>> limits = suite_interval(best, samples, bounds=(0, 1))
    >>> bool((limits.low < best.value).all() and (limits.high > best.value).all())
    True
    """
    name = _check.as_choice(
        "default" if method is None else method, SUITE_METHODS, "interval for exactly these problems"
    )
    ends = _check.as_bounds(bounds)
    if name == "gaffke" and None in ends:
        raise InputError(f"method 'gaffke' needs both bounds of the score, got {ends}; give bounds=(lowest, highest)")
    if over is None:
        alone = replace(best, clusters=None)
        over = group_interval(alone, confidence=confidence, simultaneous=simultaneous, bounds=bounds)
    if (best.sizes == 1).all():
        return over
    units = SuiteUnits([samples], best.fixed_weights)
    value, low, high = curve_limits(units, 0, over.confidence, simultaneous=over.simultaneous, bounds=ends)
    below, above = (low - value, high - value) if best.direction == "max" else (value - high, value - low)
    lower, upper = np.full((2, best.n.size), np.nan)
    inside = value.size
    lower[:inside], upper[:inside] = best.value[:inside] + below, best.value[:inside] + above
    if None not in ends:
        lower, upper = np.clip(lower, *ends), np.clip(upper, *ends)
    lower[:inside] = np.fmax(lower, over.low)[:inside]
    upper[:inside] = np.fmin(upper, over.high)[:inside]
    facts = {"n_groups": int(best.groups.size), "bounds": ends, "weighted": best.weights is not None}
    return Interval(
        n=best.n,
        low=lower,
        high=upper,
        method="suite",
        confidence=over.confidence,
        simultaneous=over.simultaneous,
        n_trials=int(best.sizes.sum()),
        direction=best.direction,
        why=tuple(None if i < inside else "beyond-half" for i in range(best.n.size)) if inside < best.n.size else (),
        rule=Rule.of("suite", **facts),
    )
