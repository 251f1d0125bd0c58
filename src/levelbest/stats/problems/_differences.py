"""Differences of systems over problems: the problem, or the cluster of problems, is the unit.

On shared problems the systems are swapped within problems; on separate problems, problems are permuted between the
systems. ``gaffke`` uses only the bounds of the score, and remains valid with rare kinds of problems.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from levelbest import _check
from levelbest._check import Bounds, FloatArray
from levelbest.errors import DataError, InputError
from levelbest.stats.inference import (
    Contrast,
    Contrasts,
    Difference,
    Hypotheses,
    MacroUnits,
    MeanUnits,
    contrasts_of,
    decide,
    sign_contrasts,
)
from levelbest.stats.problems._groups import GroupBest

DIFFERENCE_METHODS = ("default", "gaffke")


def problem_contrasts(
    systems: Sequence[GroupBest],
    hypotheses: Hypotheses,
    *,
    paired: bool = True,
) -> Contrasts:
    """Differences of systems over problems, with limits and verdicts for all pairs and budgets together.

    Parameters
    ----------
    systems
        The values by problem of each system at the same budgets and, paired, on the same problems. A problem counts at
        n where both systems of a pair have n samples of it.
    hypotheses
        Pairs, confidence, bounds (turned so that higher is better), the budget named in advance (one of the systems')
        and the difference worth having.
    paired
        Whether the systems are compared problem by problem, or each over its own problems.

    Returns
    -------
    Contrasts
        ``n_trials`` are samples; ``basis`` is ``swaps`` or ``permutation``; ``further`` counts problems.

    Examples
    --------
    >>> from levelbest.stats.inference import Hypotheses
    >>> from levelbest.stats.problems import expected_best_by_group, problem_contrasts
    >>> problems = [p for p in range(8) for _ in range(4)]
    >>> a = expected_best_by_group([1, 1, 1, 0] * 8, problems, [1, 2])
    >>> b = expected_best_by_group([1, 0, 0, 0] * 8, problems, [1, 2])
    >>> contrast = problem_contrasts([a, b], Hypotheses(pairs=((0, 1),), bounds=(0, 1))).pairs[0]
    >>> contrast.certified.tolist(), contrast.basis, round(float(contrast.p_value[0]), 4)
    ([1, 1], 'swaps', 0.0078)
    """
    _check_budgets(systems, hypotheses)
    _check.as_choice(hypotheses.method, DIFFERENCE_METHODS, "method")
    sign, first = _check.sign_of(systems[0].direction), systems[0]
    if paired:
        for other in systems[1:]:
            _same_groups(first, other)
        differences = [sign * (systems[a].by_group - systems[b].by_group) for a, b in hypotheses.pairs]
        if first.macro:
            tasks = first.weights, first.clusters, *first.tasks()
            macro = MacroUnits(differences, hypotheses.pairs, first.n, *tasks)
            answer = contrasts_of(decide(macro, first.n, hypotheses, few="few-problems", fewest=2), hypotheses)
        else:
            answer = sign_contrasts(differences, first.n, hypotheses, weights=first.weights, clusters=first.clusters)
    else:
        columns, weights = zip(*(system.by_unit() for system in systems), strict=True)
        units = MeanUnits([sign * values for values in columns], first.n, _unit_weights(columns, weights))
        answer = contrasts_of(decide(units, first.n, hypotheses, few="few-problems", fewest=2), hypotheses)
    return replace(answer, pairs=tuple(_with_samples(contrast, systems) for contrast in answer.pairs))


def _with_samples(contrast: Contrast, systems: Sequence[GroupBest]) -> Contrast:
    """With the number of samples of each system in place of that of problems."""
    a, b = contrast.pair
    return replace(contrast, n_trials=(int(systems[a].sizes.sum()), int(systems[b].sizes.sum())))


def _unit_weights(columns: Sequence[FloatArray], weights: Sequence[FloatArray | None]) -> list[FloatArray] | None:
    if all(given is None for given in weights):
        return None
    each = zip(columns, weights, strict=True)
    return [np.ones(len(values)) if given is None else given / given.mean() for values, given in each]


def group_difference(
    a: GroupBest,
    b: GroupBest,
    *,
    method: str | None = None,
    confidence: float = 0.95,
    pointwise: bool = False,
    bounds: Bounds | None = None,
) -> Difference:
    """The difference of two systems on the same problems, problem by problem: first minus second, positive is better.

    Parameters
    ----------
    a, b
        The values by problem of each system, on the same problems and at the same budgets.
    method
        ``default``, or ``gaffke``: limits that rest on the bounds of the score alone.
    confidence, pointwise
        Of all budgets together or, pointwise, of each alone.
    bounds
        Of the reported score.

    Returns
    -------
    Difference
        ``p_value`` is that of exchanging the systems within problems, adjusted for all budgets, or of Student's t where
        ``basis`` is ``t``.

    Examples
    --------
    >>> from levelbest.stats.problems import expected_best_by_group, group_difference
    >>> problems = [p for p in range(8) for _ in range(4)]
    >>> a = expected_best_by_group([1, 1, 1, 0] * 8, problems, [1, 2])
    >>> b = expected_best_by_group([1, 0, 0, 0] * 8, problems, [1, 2])
    >>> difference = group_difference(a, b, bounds=(0, 1))
    >>> difference.certified.tolist(), difference.basis
    ([1, 1], 'swaps')
    """
    ends = _check.as_bounds(bounds)
    hypotheses = Hypotheses(((0, 1),), _check.as_confidence(confidence), ends, method=method or "default")
    parts = [np.arange(a.n.size)] if not pointwise else [np.array([place]) for place in range(a.n.size)]
    return Difference.of(
        [problem_contrasts([a.at(part), b.at(part)], hypotheses) for part in parts],
        confidence=hypotheses.confidence,
        simultaneous=not pointwise,
        paired=True,
        n_trials=(int(a.sizes.sum()), int(b.sizes.sum())),
        statistic="mean",
        direction=a.direction,
    )


def _check_budgets(systems: Sequence[GroupBest], hypotheses: Hypotheses) -> None:
    n = systems[0].n
    if not all(np.array_equal(other.n, n) for other in systems[1:]):
        raise InputError("systems must be compared at the same budgets n; compute them with one list of n")
    if hypotheses.headline is not None and hypotheses.headline not in n:
        raise InputError(f"the budget named in advance, {hypotheses.headline}, must be one of those compared")


def _same_groups(a: GroupBest, b: GroupBest) -> None:
    if np.array_equal(a.groups, b.groups):
        return
    alone = [sorted(set(map(str, mine.groups)) - set(map(str, other.groups))) for mine, other in ((a, b), (b, a))]
    parts = [
        f"{len(names)} only in the {which} ({', '.join(names[:5])}{', ...' * (len(names) > 5)})"
        for which, names in zip(("first", "second"), alone, strict=True)
        if names
    ]
    raise DataError(
        f"a paired comparison needs the same groups in both systems, and {' and '.join(parts)}; keep the common ones"
    )
