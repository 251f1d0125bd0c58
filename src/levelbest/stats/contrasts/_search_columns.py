"""The contrasts of random searches put together: columns, effects and reasons from what was tested."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest.stats.best import Sample, expected_best
from levelbest.stats.contrasts._agree import Columns, agreeing, contrast_of
from levelbest.stats.contrasts._asked import Contrast, Effect, Question
from levelbest.stats.contrasts._families import Pair, half_of
from levelbest.stats.contrasts._pair_test import Alone, PairTest
from levelbest.stats.contrasts._search_limits import Limits
from levelbest.stats.contrasts._seed_runs import FEWEST
from levelbest.stats.contrasts._welch import further_trials

__all__ = ["columns_of", "effect_of", "further_of", "reasons_of", "uncompared"]


def effect_of(n: int, alone: Alone, certified: int, p_value: float, question: Question) -> Effect:
    low, high = agreeing(np.array([alone.low]), np.array([alone.high]), np.array([certified]), question.bounds)
    worth = question.worth
    return Effect(
        n=n,
        difference=float(alone.difference),
        low=float(low[0]),
        high=float(high[0]),
        certified=certified,
        p_value=p_value,
        negligible=worth is not None and bool(low[0] > -worth and high[0] < worth),
        named=True,
    )


def columns_of(
    samples: Sequence[Sample],
    pair: Pair,
    n: IntArray,
    test: PairTest,
    limits: Limits,
    certified: IntArray,
    p_values: FloatArray,
) -> Columns:
    """All budgets of the question: past half the trials estimates only, past all of them nothing."""
    inside = test.n.size
    low, high, p_value = (np.full(n.size, math.nan) for _ in range(3))
    low[:inside], high[:inside], p_value[:inside] = *limits, p_values
    difference = _estimates(samples, pair, n)
    difference[:inside] = test.difference
    verdicts = np.zeros(n.size, dtype=np.int64)
    verdicts[:inside] = certified
    return Columns(n, difference, low, high, verdicts, p_value)


def _estimates(samples: Sequence[Sample], pair: Pair, n: IntArray) -> FloatArray:
    a, b = (samples[f] for f in pair)
    difference = np.full(n.size, math.nan)
    known = n <= min(a.n_trials, b.n_trials)
    if known.any():
        curves = [np.asarray(expected_best(sample.selection, n[known], sample.reported)) for sample in (a, b)]
        difference[known] = curves[0] - curves[1]
    return difference


def further_of(test: PairTest, n: int, *, alone: bool) -> float:
    """Further trials of each family that would decide at one budget in four of five cases."""
    if n > test.nodes[-1]:
        return math.nan
    (difference,), (error,), _ = test.families.at(test.pair, np.array([n]))
    if error == 0:
        return math.nan
    sides = [test.families.side_at(f, np.array([n]))[1][0] for f in test.pair]
    if test.families.paired:
        sides = [error**2 / 2, error**2 / 2]
    return further_trials(difference, (sides[0], sides[1]), test.n_trials, test.critical(n, alone=alone))


def reasons_of(test: PairTest, n: IntArray) -> tuple[str, ...]:
    reasons = []
    if (test.error == 0).any():
        reasons.append("no-spread")
    if test.n.size < n.size:
        reasons.append("beyond-half")
    if test.dealings is not None and test.dealings.unsettled:
        reasons.append("unsettled")
    return tuple(reasons)


def uncompared(samples: Sequence[Sample], pair: Pair, n: IntArray, question: Question) -> Contrast:
    sizes = samples[pair[0]].n_trials, samples[pair[1]].n_trials
    unknown = np.full(n.size, math.nan)
    few = min(sizes) < FEWEST
    open_ = np.where((n <= max(half_of(*sizes), 1)) & few, math.inf, math.nan)
    columns = Columns(n, _estimates(samples, pair, n), -open_, open_, np.zeros(n.size, dtype=np.int64), unknown)
    return contrast_of(
        pair,
        sizes,
        columns,
        question,
        basis="none",
        further=float(FEWEST - min(sizes)) if few else math.nan,
        reasons=("few-trials",) if few else ("beyond-half",),
    )
