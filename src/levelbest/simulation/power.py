"""Power and error rates of verdicts about two distributions."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._plain import rows_of
from levelbest.simulation.battery import Progress, clopper_pearson
from levelbest.simulation.distributions import Distribution
from levelbest.stats.inference import difference_band

_SHARE_ROUNDING = 1e-12


def verdict_power(
    a: Distribution,
    b: Distribution,
    n_trials: int,
    n: npt.ArrayLike,
    *,
    confidence: float = 0.95,
    n_samples: int = 200,
    seed: int = 0,
    progress: Progress | None = None,
) -> list[dict[str, object]]:
    """How often a verdict about one budget alone names the better distribution, the worse one, and one of two equal.

    The tables ``power`` and ``type1`` of meanmax ([T]'s code): two samples of each distribution are drawn, one from
    each for the power, two from the first for false alarms.
    """
    budgets, _ = _check.as_budgets(n, n_trials)
    gap = a.true_mean(budgets) - b.true_mean(budgets)
    better = np.sign(np.where(np.abs(gap) <= _SHARE_ROUNDING * np.abs(gap).max(initial=1e-300), 0.0, gap))
    better *= _check.sign_of(a.direction)
    bounds = a.bounds if a.bounds == b.bounds else (None, None)
    verdict = partial(difference_band, confidence=confidence, direction=a.direction, bounds=bounds)
    rng = np.random.default_rng(seed)
    right, wrong, alarms = (np.zeros(budgets.size) for _ in range(3))
    for i in range(n_samples):
        first, second, same = (family.draw(rng, (1, n_trials))[0][0] for family in (a, b, a))
        for place, budget in enumerate(budgets.tolist()):
            named = verdict(first, second, [budget]).certified[0]
            right[place] += named == better[place] != 0
            wrong[place] += named == -better[place] != 0
            alarms[place] += verdict(first, same, [budget]).certified[0] != 0
        if progress:
            progress(i + 1, n_samples)
    ends = [clopper_pearson(count / n_samples, n_samples) for count in alarms]
    return rows_of(
        n=budgets.tolist(),
        true_difference=gap,
        power=right / n_samples,
        wrong=wrong / n_samples,
        type1=alarms / n_samples,
        type1_low=[low for low, _ in ends],
        type1_high=[high for _, high in ends],
    )
