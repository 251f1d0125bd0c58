"""Seeds: where nothing but the seed varies within a family, the question is the mean of a new run.

Welch's t with Holm over the pairs; a pair it rejects must also be rejected by its own permutation test, wherever that
can reach the level, and all pairs together by the permutation test that all families are one law. With few and unequal
counts t alone is wrong (a family of 10 in which a mode is absent by chance has hardly any variance); the permutations
are exact under equal laws, and cost next to no power. The limits are Welch's with Bonferroni's level, made to agree
with the verdicts: they hold zero where nothing is certified, and end at it where only Holm's later steps certify.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from levelbest import _check
from levelbest._check import FloatArray, Seed
from levelbest.stats.contrasts._contrast import Band, Contrast, Contrasts, Pair, Question, contrast_of
from levelbest.stats.contrasts._labels import all_families, one_pair, smallest_p
from levelbest.stats.contrasts._settle import exact, holm_adjusted, settle
from levelbest.stats.contrasts._welch import further_runs, means_of, rounding_variance, welch

__all__ = ["FEWEST", "seed_contrasts"]

FEWEST = 3
"""Runs of a family from which on its mean has limits."""


def seed_contrasts(scores: Sequence[FloatArray], question: Question, *, rng: Seed = 0) -> Contrasts:
    """Differences of the mean of a new run, with limits and verdicts for all pairs together.

    Parameters
    ----------
    scores
        Of each family, one (reported) score per seed, turned so that higher is better.
    question
        Pairs, confidence, bounds and the difference worth having; the budget is 1 whatever ``headline`` says.
    rng
        Of the permutations, where there are too many to go through all.

    Returns
    -------
    Contrasts
        With the one budget n = 1 in every pair. Verdicts do not depend on the order of families or scores.

    Notes
    -----
    Under equal laws a winner is named at most as often as 1 - ``confidence`` says wherever a permutation can reach the
    level, for any law and any counts. Where it cannot (2 / C(m_a + m_b, m_a) exceeds the level: 3 seeds against 3, or 5
    against 5 among ten pairs) the verdict leans on near-normal means, and ``basis`` is ``t``.

    Examples
    --------
    >>> runs = [np.array([.81, .82, .80, .83, .82]), np.array([.70, .71, .74, .73, .72])]
    >>> contrast = seed_contrasts(runs, Question(pairs=((0, 1),))).pairs[0]
    >>> contrast.effect.certified, round(contrast.effect.difference, 3), contrast.basis
    (1, 0.096, 'permutation')
    """
    usable = [pair for pair in question.pairs if min(scores[f].size for f in pair) >= FEWEST]
    tested = _tested(scores, usable, question, _check.as_rng(rng)) if usable else {}
    pairs = (tested[pair] if pair in tested else _too_few(scores, pair, question) for pair in question.pairs)
    return Contrasts(tuple(pairs), "welch")


def _tested(
    scores: Sequence[FloatArray], pairs: list[Pair], question: Question, rng: np.random.Generator
) -> dict[Pair, Contrast]:
    alpha = 1 - _check.as_confidence(question.confidence)
    base = int(rng.integers(2**62))
    # In an order of their own, so that neither the order of families nor that of scores shows.
    families = sorted({f for pair in pairs for f in pair}, key=lambda f: (scores[f].size, *np.sort(scores[f])))
    least = rounding_variance(np.concatenate([scores[f] for f in families]))
    means = {f: means_of(np.sort(scores[f]), least) for f in families}
    each = [welch(means[a], means[b]) for a, b in pairs]
    reachable = [smallest_p(means[a].size, means[b].size) <= alpha / len(pairs) for a, b in pairs]
    drawn = []
    for (a, b), between, reaches in zip(pairs, each, reachable, strict=True):
        stream = np.random.default_rng([base, *sorted((means[a].size, means[b].size))])
        own = one_pair(scores[a], scores[b], least, stream, between.p_value) if reaches else exact(between.p_value)
        drawn.append(own)
    rejected, unsettled = settle(drawn, alpha)
    p_values = holm_adjusted(np.array([test.p_value for test in drawn]))
    if len(pairs) > 1:
        places = {f: at for at, f in enumerate(families)}
        stream = np.random.default_rng([base, *(means[f].size for f in families)])
        one_law = all_families(
            [np.sort(scores[f]) for f in families], [(places[a], places[b]) for a, b in pairs], least, stream
        )
        surely, perhaps = settle([one_law], alpha)
        unsettled |= rejected & perhaps & ~surely
        rejected &= surely
        p_values = np.maximum(p_values, one_law.p_value)
    # Holm leaves the pairs that are not yet rejected to share the error.
    level = alpha / max(1, len(pairs) - int(rejected.sum()))
    contrasts = {}
    for at, ((a, b), between) in enumerate(zip(pairs, each, strict=True)):
        d, reach = between.difference, between.reach(alpha / len(pairs) / 2)
        certified = int(rejected[at]) * int(np.sign(d))
        contrasts[a, b] = contrast_of(
            question,
            (a, b),
            (means[a].size, means[b].size),
            Band.one(1, d, d - reach, d + reach, certified, float(p_values[at])),
            basis="permutation" if reachable[at] else "t",
            further=0.0 if certified else further_runs(means[a], means[b], level),
            reasons=("no-spread",) * (between.error == 0) + ("unsettled",) * bool(unsettled[at]),
        )
    return contrasts


def _too_few(scores: Sequence[FloatArray], pair: Pair, question: Question) -> Contrast:
    first, second = (scores[f] for f in pair)
    fewest = min(first.size, second.size)
    difference = float(first.mean() - second.mean()) if fewest else math.nan
    return contrast_of(
        question,
        pair,
        (first.size, second.size),
        Band.one(1, difference, -math.inf, math.inf, 0, math.nan),
        basis="none",
        further=float(max(FEWEST - fewest, 0)),
        reasons=("few-trials",),
    )
