"""Random searches: the difference of two families' curves over all budgets, with limits and verdicts for all pairs.

Everywhere a difference is first minus second, and higher scores are better.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from levelbest import _check
from levelbest._check import IntArray, Seed
from levelbest.stats.best import Sample
from levelbest.stats.contrasts._agree import Columns, contrast_of, possible_best
from levelbest.stats.contrasts._asked import Contrast, Contrasts, Effect, Question
from levelbest.stats.contrasts._differences import difference_bands
from levelbest.stats.contrasts._pairwise import widest
from levelbest.stats.contrasts._samples import Difference

__all__ = ["search_contrasts"]


def search_contrasts(
    families: Sequence[Sample],
    n: IntArray,
    question: Question,
    *,
    statistic: str | float = "mean",
    paired: bool = False,
    n_resamples: int = _check.N_RESAMPLES,
    rng: Seed = 0,
) -> Contrasts:
    """Differences of the curves of random searches, with limits and verdicts for all pairs and budgets together.

    Parameters
    ----------
    families
        Scores of each, turned so that higher is better.
    n
        Budgets, increasing.
    question
        Pairs, confidence, bounds, a budget named in advance and the difference worth having.
    statistic
        ``mean``, ``median``, a quantile's probability or a registered statistic.
    paired
        Entry i of every family is the same configuration or problem.
    n_resamples
        Behind the limits.
    rng
        Of the resamples.

    Returns
    -------
    Contrasts
        Past half the trials of the smaller family a pair has estimates but no limits.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> families = [Sample(rng.normal(1, 1, 50)), Sample(rng.normal(0, 1, 50))]
    >>> contrast = search_contrasts(families, np.arange(1, 26), Question(pairs=((0, 1),))).pairs[0]
    >>> contrast.certified[:3].tolist()
    [1, 1, 1]
    """
    found = difference_bands(
        families,
        question.pairs,
        n,
        statistic=statistic,
        paired=paired,
        confidence=question.confidence,
        step_down=len(question.pairs) > 1,
        n_resamples=n_resamples,
        rng=rng,
    )
    contrasts = tuple(_contrast(pair, band, question) for pair, band in zip(question.pairs, found, strict=True))
    above, best = possible_best(len(families), contrasts)
    return Contrasts(
        question=question,
        pairs=contrasts,
        n_trials=tuple(family.n_trials for family in families),
        method=found[0].method,
        n_permutations=0,
        enumerated=False,
        n_resamples=n_resamples,
        above=above,
        possible_best=best,
    )


def _contrast(pair: tuple[int, int], band: Difference, question: Question) -> Contrast:
    inside = band.n <= widest(*band.n_trials)
    unknown = np.full(band.n.size, math.nan)
    columns = Columns(band.n, band.difference, band.low, band.high, band.certified, unknown)
    named: Effect | None = None
    return contrast_of(
        pair,
        band.n_trials,
        columns,
        question,
        basis="limits",
        further=math.nan,
        reasons=() if inside.all() else ("beyond-half",),
        named=named,
    )
