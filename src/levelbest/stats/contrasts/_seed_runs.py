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
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import FloatArray, Seed
from levelbest.stats.contrasts._agree import Columns, contrast_of, possible_best
from levelbest.stats.contrasts._asked import Contrast, Contrasts, Question
from levelbest.stats.contrasts._labels import all_families, one_pair, smallest_p
from levelbest.stats.contrasts._settle import Drawn, exact, holm_adjusted, settle
from levelbest.stats.contrasts._welch import Means, Welch, further_runs, means_of, rounding_variance, welch

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
    tests = _tests(scores, usable, question, _check.as_rng(rng)) if usable else None
    contrasts = tuple(
        _too_few(scores, pair, question) if tests is None or pair not in usable else tests.contrast(pair, question)
        for pair in question.pairs
    )
    above, best = possible_best(len(scores), contrasts)
    drawn = [] if tests is None else tests.drawn
    return Contrasts(
        question=question,
        pairs=contrasts,
        n_trials=tuple(part.size for part in scores),
        method="welch",
        n_permutations=max((test.drawn for test in drawn), default=0),
        enumerated=all(test.exact is not None for test in drawn),
        n_resamples=0,
        above=above,
        possible_best=best,
    )


@dataclass(frozen=True)
class _Tests:
    """All pairs tested: what is needed to say what came of each."""

    pairs: list[tuple[int, int]]
    means: dict[int, Means]
    welch: list[Welch]
    reachable: list[bool]
    drawn: list[Drawn]
    rejected: npt.NDArray[np.bool_]
    unsettled: npt.NDArray[np.bool_]
    p_values: FloatArray

    def contrast(self, pair: tuple[int, int], question: Question) -> Contrast:
        """The pair's difference, limits and verdict."""
        at = self.pairs.index(pair)
        a, b = (self.means[f] for f in pair)
        between = self.welch[at]
        alpha = 1 - question.confidence
        reach = between.reach(alpha / len(self.pairs) / 2)
        certified = int(self.rejected[at]) * int(np.sign(between.difference))
        d = between.difference
        columns = _column(d, d - reach, d + reach, certified, float(self.p_values[at]))
        # Holm leaves the pairs that are not yet rejected to share the error.
        level = alpha / max(1, len(self.pairs) - int(self.rejected.sum()))
        reasons = ["no-spread"] * (between.error == 0) + ["unsettled"] * bool(self.unsettled[at])
        return contrast_of(
            pair,
            (a.size, b.size),
            columns,
            question,
            basis="permutation" if self.reachable[at] else "t",
            further=0.0 if certified else further_runs(a, b, level),
            reasons=tuple(reasons),
        )


def _tests(
    scores: Sequence[FloatArray], pairs: list[tuple[int, int]], question: Question, rng: np.random.Generator
) -> _Tests:
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
        own.more()
        drawn.append(own)
    rejected, unsettled = settle(drawn, alpha)
    p_values = holm_adjusted(np.array([test.p_value for test in drawn]))
    if len(pairs) > 1:
        places = {f: at for at, f in enumerate(families)}
        stream = np.random.default_rng([base, *(means[f].size for f in families)])
        one_law = all_families(
            [np.sort(scores[f]) for f in families], [(places[a], places[b]) for a, b in pairs], least, stream
        )
        one_law.more()
        surely, perhaps = settle([one_law], alpha)
        unsettled |= rejected & perhaps & ~surely
        rejected &= surely
        p_values = np.maximum(p_values, one_law.p_value)
        drawn.append(one_law)
    return _Tests(pairs, means, each, reachable, drawn, rejected, unsettled, p_values)


def _column(difference: float, low: float, high: float, certified: int, p_value: float) -> Columns:
    numbers = (np.array([value]) for value in (difference, low, high, certified, p_value))
    return Columns(np.ones(1, dtype=np.int64), *numbers)


def _too_few(scores: Sequence[FloatArray], pair: tuple[int, int], question: Question) -> Contrast:
    first, second = (scores[f] for f in pair)
    difference = float(first.mean() - second.mean()) if min(first.size, second.size) else math.nan
    return contrast_of(
        pair,
        (first.size, second.size),
        _column(difference, -math.inf, math.inf, 0, math.nan),
        question,
        basis="none",
        further=float(max(FEWEST - min(first.size, second.size), 0)),
        reasons=("few-trials",),
    )
