"""Contrasts that their limits alone decide: from the bounds of the score, and statistics other than the mean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from levelbest._check import IntArray
from levelbest.errors import InputError, named
from levelbest.stats.bands import EXACT
from levelbest.stats.best import Sample, Statistic, statistic_named
from levelbest.stats.contrasts._agree import Columns, contrast_of, possible_best
from levelbest.stats.contrasts._asked import VERDICTS, Contrast, Contrasts, Effect, Question
from levelbest.stats.contrasts._families import Pair
from levelbest.stats.contrasts._pair_test import Alone, PairTest
from levelbest.stats.contrasts._quantile_gate import quantile_p
from levelbest.stats.contrasts._quantiles import statistic_differences
from levelbest.stats.contrasts._samples import Difference
from levelbest.stats.contrasts._search_columns import columns_of, effect_of, reasons_of, uncompared

__all__ = ["by_limits", "from_bounds"]


def from_bounds(
    samples: Sequence[Sample], n: IntArray, question: Question, tests: dict[Pair, PairTest]
) -> tuple[Contrast, ...]:
    """Limits and verdicts that need the bounds of the score and no other assumption."""
    if any(sample.reported is not None for sample in samples):
        raise InputError(
            f"{named('interval')} gaffke needs selection and reported score to be one column: nothing bounds what "
            "a trial better than all observed would report; leave it out, or name one column"
        )
    contrasts = []
    level = (1 - question.confidence) / len(question.pairs)
    for pair in question.pairs:
        if pair not in tests:
            contrasts.append(uncompared(samples, pair, n, question))
            continue
        test = tests[pair]
        if None in question.bounds:
            infinite = np.full(test.n.size, math.inf)
            limits, reasons = (-infinite, infinite), ("no-bounds", *reasons_of(test, n))
        else:
            limits, reasons = test.gaffke(test.n, level, VERDICTS, alone=True), reasons_of(test, n)
        certified = np.where(limits[0] > 0, 1, np.where(limits[1] < 0, -1, 0))
        unknown = np.full(test.n.size, math.nan)
        columns = columns_of(samples, pair, n, test, limits, certified, unknown)
        effect = None
        at = question.headline
        if at is not None and at <= test.nodes[-1] and None not in question.bounds:
            (low,), (high,) = test.gaffke(np.array([at]), level, VERDICTS, alone=True)
            (difference,) = test.families.at(pair, np.array([at]))[0]
            sign = int(low > 0) - int(high < 0)
            effect = effect_of(at, Alone(difference, low, high, math.nan, allowed=True), sign, math.nan, question)
        contrasts.append(
            contrast_of(
                pair,
                (test.n_trials[0], test.n_trials[1]),
                columns,
                question,
                basis="gaffke",
                further=0.0 if (effect.certified if effect else certified[0]) else math.nan,
                reasons=reasons,
                named=effect,
            )
        )
    return tuple(contrasts)


def _confirmed(samples: Sequence[Sample], statistic: Statistic, level: float, band: Difference, pair: Pair) -> IntArray:
    """What a band certifies and, where it is a bootstrap's, dealing the trials anew confirms."""
    if band.method == EXACT or not band.certified.any():
        return band.certified
    both = samples[pair[0]], samples[pair[1]]
    p_values = quantile_p(both, band.n, statistic, level, paired=band.paired)
    return np.where(p_values <= level, band.certified, 0)


def _named_effect(question: Question, band: Difference, certified: int) -> Effect:
    """Of the band at the budget named in advance alone."""
    assert question.headline is not None
    limits = Alone(band.difference[0], band.low[0], band.high[0], math.nan, allowed=True)
    return effect_of(question.headline, limits, certified, math.nan, question)


def by_limits(
    samples: Sequence[Sample],
    n: IntArray,
    question: Question,
    statistic: str | float,
    *,
    paired: bool,
    n_resamples: int,
) -> Contrasts:
    """Statistics other than the mean: certified where their limits exclude zero.

    Limits of quantiles of one score column are exact. Those of a separate reported score are a bootstrap's, which
    dealing the trials anew must confirm.
    """
    bands = partial(
        statistic_differences,
        samples,
        question.pairs,
        statistic=statistic,
        paired=paired,
        confidence=question.confidence,
        n_resamples=n_resamples,
        rng=VERDICTS,
    )
    over_all = bands(n)
    alone = None if question.headline is None else bands(np.array([question.headline]))
    level = (1 - question.confidence) / len(question.pairs)
    confirmed = partial(_confirmed, samples, statistic_named(statistic), level)
    passed = None if alone is None else [confirmed(*own) for own in zip(alone, question.pairs, strict=True)]
    contrasts = []
    for at, pair in enumerate(question.pairs):
        band = over_all[at]
        certified = confirmed(band, pair)
        effect = None
        if alone is not None and passed is not None:
            effect = _named_effect(question, alone[at], int(passed[at][0]))
            if not all(named[0] for named in passed):
                certified = np.zeros_like(certified)
        decided = bool(effect.certified) if effect is not None else bool(certified[0])
        columns = Columns(n, band.difference, band.low, band.high, certified, np.full(n.size, math.nan))
        contrasts.append(
            contrast_of(
                pair,
                band.n_trials,
                columns,
                question,
                basis="limits",
                further=0.0 if decided else math.nan,
                reasons=("beyond-half",) if np.isnan(band.low).any() else (),
                named=effect,
            )
        )
    above, best = possible_best(len(samples), contrasts)
    return Contrasts(
        question=question,
        pairs=tuple(contrasts),
        n_trials=tuple(sample.n_trials for sample in samples),
        method=over_all[0].method,
        n_permutations=0,
        enumerated=False,
        n_resamples=over_all[0].n_resamples or 0,
        above=above,
        possible_best=best,
    )
