"""Differences of systems on the same problems: a test decides, limits show by how much.

Whether a difference is more than luck is decided by swapping the systems within problems (`swap_test`), which has the
power of a paired t test and needs no law. How large it is, is shown by limits of Gaffke's type with a further problem
imagined near the others. The two agree: where nothing is certified the limits hold zero, and where something is they
end at zero at the latest. By name, ``gaffke``, ``studentised`` and ``t`` have limits that decide by themselves;
``gaffke`` is the one that rests on the bounds of the score alone, and rare kinds of problem do not harm it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from levelbest import _check
from levelbest._check import Bounds, Seed
from levelbest.errors import DataError, InputError
from levelbest.stats.bands import reason_of
from levelbest.stats.contrasts import Difference
from levelbest.stats.problems._groups import GroupBest, average_over_groups
from levelbest.stats.problems._intervals import GROUP_METHODS
from levelbest.stats.problems._limits import MeanQuestion, mean_limits
from levelbest.stats.problems._swaps import SwapTest, swap_test

__all__ = ["group_difference", "group_differences"]


def group_difference(
    a: GroupBest,
    b: GroupBest,
    *,
    method: str | None = None,
    confidence: float = 0.95,
    simultaneous: bool = True,
    bounds: Bounds | None = None,
    n_resamples: int = _check.N_RESAMPLES,
    rng: Seed = 0,
) -> Difference:
    """The difference of two systems on the same problems, problem by problem, over all the budgets together.

    Parameters, result and notes are those of `group_differences`.

    Examples
    --------
    >>> from levelbest.stats.problems import expected_best_by_group, group_difference
    >>> problems = [p for p in range(8) for _ in range(4)]
    >>> a = expected_best_by_group([1, 1, 1, 0] * 8, problems, [1, 2])
    >>> b = expected_best_by_group([1, 0, 0, 0] * 8, problems, [1, 2])
    >>> found = group_difference(a, b, bounds=(0, 1))
    >>> found.certified.tolist(), found.basis, round(float(found.p_value[0]), 4)
    ([1, 1], 'swaps', 0.0078)
    """
    return group_differences(
        [a, b],
        [(0, 1)],
        method=method,
        confidence=confidence,
        simultaneous=simultaneous,
        bounds=bounds,
        n_resamples=n_resamples,
        rng=rng,
    )[0]


def group_differences(
    systems: Sequence[GroupBest],
    pairs: Sequence[tuple[int, int]],
    *,
    method: str | None = None,
    confidence: float = 0.95,
    simultaneous: bool = True,
    bounds: Bounds | None = None,
    n_resamples: int = _check.N_RESAMPLES,
    rng: Seed = 0,
) -> list[Difference]:
    """Paired differences of several systems, first minus second, turned so that positive is better.

    Parameters
    ----------
    systems
        The values by problem of each system, on the same problems and at the same budgets. A problem counts at n where
        both systems of a pair have n samples of it.
    pairs
        Places in ``systems``.
    method
        The default certifies by swapping systems within problems. A name of `GROUP_METHODS` gives that method's limits,
        and certifies where they exclude zero.
    confidence, simultaneous
        Of all pairs and budgets together or, not simultaneous, of each alone.
    bounds
        Of the reported score.
    n_resamples, rng
        Draws behind the limits, and what decides them. The test draws until its verdict stands.

    Returns
    -------
    list of Difference
        One per pair. ``basis`` is ``swaps`` or ``limits``; ``p_value`` is the test's, adjusted for all pairs and
        budgets, and ``smallest_p`` the least it could be with so many problems, for one pair and budget.
    """
    name = _check.as_choice("default" if method is None else method, GROUP_METHODS, "method")
    confidence = _check.as_confidence(confidence)
    n_resamples = _check.as_count(n_resamples, "n_resamples")
    first = systems[0]
    for other in systems[1:]:
        if not np.array_equal(other.n, first.n):
            raise InputError("systems must be compared at the same budgets n; compute them with one list of n")
        _same_groups(first, other)
    ends = _check.as_bounds(bounds)
    reach: Bounds = (None, None)
    if ends[0] is not None and ends[1] is not None:
        reach = (ends[0] - ends[1], ends[1] - ends[0])
    sign = _check.sign_of(first.direction)
    columns = [sign * (systems[a].by_group - systems[b].by_group) for a, b in pairs]
    for_limits, for_swaps = _check.as_rng(rng).spawn(2)
    asked = MeanQuestion(
        np.concatenate(columns, axis=1), first.weights, reach, confidence, bool(simultaneous), n_resamples, for_limits
    )
    limits = mean_limits(asked, "imagined" if name == "default" else name)
    swaps = None
    if name == "default":
        swaps = swap_test(columns, first.weights, 1 - confidence, together=bool(simultaneous), rng=for_swaps)
    out = []
    for at, (column, (a, b)) in enumerate(zip(columns, pairs, strict=True)):
        here = slice(at * first.n.size, (at + 1) * first.n.size)
        low, high = limits.low[here], limits.high[here]
        difference = Difference(
            n=first.n,
            difference=average_over_groups(column, first.weights)[0],
            low=low,
            high=high,
            certified=np.where(low > 0, 1, np.where(high < 0, -1, 0)).astype(np.int64),
            method=limits.method,
            confidence=confidence,
            simultaneous=bool(simultaneous),
            paired=True,
            n_trials=(int(systems[a].sizes.sum()), int(systems[b].sizes.sum())),
            statistic="mean",
            direction=first.direction,
            n_resamples=n_resamples,
            reason=reason_of(first.n, limits.why[here]),
            basis="limits",
        )
        out.append(difference if swaps is None else _agreed(difference, swaps, at))
    return out


def _agreed(difference: Difference, swaps: SwapTest, pair: int) -> Difference:
    """The test's verdicts, and limits that agree with them; there is no verdict where there are no limits."""
    low, high = difference.low, difference.high
    certified = np.where(np.isnan(low), 0, swaps.certified[pair])
    with np.errstate(invalid="ignore"):
        low = np.where(certified > 0, np.maximum(low, 0.0), np.minimum(low, 0.0))
        high = np.where(certified < 0, np.minimum(high, 0.0), np.maximum(high, 0.0))
    return replace(
        difference,
        low=low,
        high=high,
        certified=certified,
        basis="swaps",
        p_value=swaps.p_value[pair],
        smallest_p=float(swaps.smallest[pair]),
    )


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
