"""Further statistics of samples of problems: the gain from a verifier, and the cost per solved problem."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from levelbest._check import IntArray
from levelbest.designs._protocol import Table
from levelbest.errors import InputError, named
from levelbest.results import SpendPerSolved, VerifierEffect
from levelbest.stats.problems import average_over_groups, ratio_interval
from levelbest.trials import Settings
from levelbest.trials.problems import Problems, grid_of, problems_of


def spend_per_solved(
    families: Sequence[Problems], kept: Sequence[IntArray], n: int, confidence: float
) -> tuple[SpendPerSolved, ...]:
    """Of each family over its problems in ``kept``, with n samples at the most; none where a cost is not known."""
    spends = []
    for problems, places in zip(families, kept, strict=True):
        pool = problems.pool
        if pool is None or pool.spent is None or not problems.binary or problems.metric.direction != "max":
            return ()
        spent = pool.expected_spend(n, problems.ones, stop=True)[places]
        best = problems.best(np.array([n])).select(places)
        solved, weights = best.by_group[:, 0], best.weights
        ratio = ratio_interval(spent, solved, confidence=confidence, weights=weights)
        both = np.isfinite(spent) & np.isfinite(solved)
        each = (np.ones(spent.size) if weights is None else weights) * both
        means = [float(each @ np.where(both, column, 0.0) / each.sum()) for column in (spent, solved)]
        spends.append(SpendPerSolved(problems.family, n, *ratio, *means))
    return tuple(spends)


def verifier_effects(table: Table, *, settings: Settings | None = None) -> tuple[VerifierEffect, ...]:
    """What a verifier brings: the oracle's, its own and a random pick of each family over the same problems.

    Parameters
    ----------
    table
        Samples of problems with a selection score and a reported one.
    settings
        How failures and missing reported scores count.

    Examples
    --------
    >>> from levelbest import Trials
    >>> samples = Trials.from_arrays([.9, .2, .4, .3], reported=[1, 0, 0, 1], group=list("aabb"), direction="max")
    >>> effect, = verifier_effects(samples)
    >>> effect.oracle.tolist(), effect.verifier.tolist(), effect.random.tolist()
    ([0.5, 1.0], [0.5, 0.5], [0.5, 0.5])
    """
    effects = []
    for problems in problems_of(table, settings or Settings()):
        if problems.metric.reported is None:
            raise InputError(
                "the effect of a verifier needs a reported score beside the selection score; name it "
                f"({named('reported')})"
            )
        budgets = grid_of(problems.sizes)
        best, oracle = problems.best(budgets), problems.oracle(np.union1d([1], budgets).astype(np.int64))
        blind = np.where(np.isnan(best.by_group), np.nan, oracle.by_group[:, :1])
        random, _ = average_over_groups(blind, problems.weights)
        effects.append(VerifierEffect(problems.family, budgets, oracle.value[-budgets.size :], best.value, random))
    return tuple(effects)
