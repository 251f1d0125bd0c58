"""What a verifier brings: the sample that it picks, between a random one and the best that there is."""

from __future__ import annotations

import numpy as np

from levelbest.designs._protocol import Table
from levelbest.errors import InputError, named
from levelbest.results.verifier import VerifierEffect
from levelbest.stats.problems import average_over_groups
from levelbest.trials import Settings
from levelbest.trials.problems import grid_of, problems_of

__all__ = ["verifier_effects"]


def verifier_effects(table: Table, *, settings: Settings | None = None) -> tuple[VerifierEffect, ...]:
    """Oracle, verifier and random pick of each family over the same problems, side by side.

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
    for own in problems_of(table, settings or Settings()):
        if own.metric.reported is None:
            raise InputError(
                "the effect of a verifier needs a reported score beside the selection score; name it "
                f"({named('reported')})"
            )
        budgets = grid_of(own.sizes)
        best, oracle = own.best(budgets), own.oracle(np.union1d([1], budgets).astype(np.int64))
        blind = np.where(np.isnan(best.by_group), np.nan, oracle.by_group[:, :1])
        random, _ = average_over_groups(blind, own.weights)
        effects.append(VerifierEffect(own.family, budgets, oracle.value[-budgets.size :], best.value, random))
    return tuple(effects)
