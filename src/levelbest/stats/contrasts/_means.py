"""Means of runs and of whole searches: Welch's t, the permutations that confirm it, and the runs that would decide.

*Seeds.* Where nothing but the seed varies within a family, the question is the mean of a new run. Welch's t with Holm
over the pairs; a pair it rejects must also be rejected by its own permutation test, wherever that can reach the level,
and all pairs together by the permutation test that all families are one law. With few and unequal counts t alone is
wrong (a family of 10 in which a mode is absent by chance has hardly any variance); the permutations are exact under
equal laws, and cost next to no power. The limits are Welch's with Bonferroni's level, made to agree with the verdicts:
they hold zero where nothing is certified, and end at it where only Holm's later steps certify.

*Searches.* Trials of an adaptive search are not exchangeable, so no subset of them stands for a smaller budget. What
is: whole searches, repeated with other seeds. The best-so-far curves of k searches are k independent curves, and their
mean at a budget has Student's interval.

A family without spread has scores that agree to the last digit written. Its variance is not 0 but unknown, and of the
order of the rounding: step^2 / 12, step being the smallest distance between two different scores of the comparison.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from levelbest import _check
from levelbest._check import FloatArray, IntArray, Seed
from levelbest.stats.contrasts._contrast import Band, Contrast, Contrasts, Pair, Question, contrast_of
from levelbest.stats.contrasts._settle import all_families, exact, holm_adjusted, one_pair, settle, smallest_p

FEWEST = 3
"""Runs of a family from which on its mean has limits."""
POWER = 0.8
_MOST_RUNS = 10**7
_ARITHMETIC = 1e-9


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


def best_so_far(selection: FloatArray, reported: FloatArray | None) -> FloatArray:
    """The reported score of the incumbent after each trial, in the order given; turned scores.

    A trial that only equals the incumbent does not replace it, as in a search that keeps its first best.
    """
    best = np.maximum.accumulate(selection)
    fresh = np.concatenate(([True], selection[1:] > best[:-1]))
    holder = np.maximum.accumulate(np.where(fresh, np.arange(selection.size), 0))
    curve: FloatArray = (selection if reported is None else reported)[holder]
    return curve


def search_interval(curves: FloatArray, confidence: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean over searches (rows) at each budget, low and high by Student's t; NaN limits for one search."""
    k = curves.shape[0]
    mean = curves.mean(axis=0)
    if k < 2:
        return mean, np.full(mean.size, np.nan), np.full(mean.size, np.nan)
    half = float(scipy.special.stdtrit(k - 1, (1 + confidence) / 2)) * curves.std(axis=0, ddof=1) / np.sqrt(k)
    return mean, mean - half, mean + half


def search_differences(
    curves: Sequence[FloatArray], pairs: Sequence[Pair], n: IntArray, *, confidence: float
) -> tuple[Band, ...]:
    """Differences of the mean best-so-far curves (searches, n), turned; Welch's t, the error shared by all of them.

    Few searches leave nothing to resample, so budgets and pairs share the error rate equally (Bonferroni). One search
    has no limits.
    """
    level = 1 - (1 - confidence) / (2 * n.size * len(pairs))
    bands = []
    for a, b in pairs:
        first, second = curves[a], curves[b]
        d = first.mean(axis=0) - second.mean(axis=0)
        sizes = first.shape[0], second.shape[0]
        half = np.full(n.size, np.nan)
        if min(sizes) > 1:
            parts = [search.var(axis=0, ddof=1) / search.shape[0] for search in (first, second)]
            total = parts[0] + parts[1]
            with np.errstate(divide="ignore", invalid="ignore"):
                freedom = total**2 / (parts[0] ** 2 / (sizes[0] - 1) + parts[1] ** 2 / (sizes[1] - 1))
            half = scipy.special.stdtrit(np.where(np.isfinite(freedom), freedom, 1.0), level) * np.sqrt(total)
            half = np.where(total > 0, half, np.inf)
        bands.append(Band.of(n, d, d - half, d + half))
    return tuple(bands)


@dataclass(frozen=True)
class Means:
    """A family's mean, the variance of its scores and their number."""

    mean: float
    variance: float
    size: int


@dataclass(frozen=True)
class Welch:
    """A difference of means with its standard error and Satterthwaite's degrees of freedom."""

    difference: float
    error: float
    freedom: float

    @property
    def t(self) -> float:
        """The studentised difference; 0 where neither family varies."""
        return self.difference / self.error if self.error > 0 else 0.0

    @property
    def p_value(self) -> float:
        """Two-sided; 1 where neither family varies."""
        return float(2 * scipy.special.stdtr(self.freedom, -abs(self.t))) if self.error > 0 else 1.0

    def reach(self, tail: float) -> float:
        """How far the limits lie from the difference, with ``tail`` on each side."""
        return float(-scipy.special.stdtrit(self.freedom, tail)) * self.error if self.error > 0 else math.inf


def rounding_variance(scores: FloatArray) -> float:
    """step^2 / 12; 0 where all scores are equal. Distances below a billionth of the range are arithmetic, not steps.

    The range is that of most scores: to a diverged one all others would be equal.
    """
    values = np.unique(scores)
    step = 0.0
    while values.size > 1:
        gaps = np.diff(values)
        steps = gaps > _ARITHMETIC * (values[-1] - values[0])
        step = float(gaps[steps].min())
        starts = np.concatenate([[0], np.flatnonzero(steps) + 1, [values.size]])
        most = int(np.argmax(np.diff(starts)))
        near = values[starts[most] : starts[most + 1]]
        if 2 * near.size <= values.size or near[-1] - near[0] <= _ARITHMETIC * np.abs(near).max():
            break
        values = near
    return step**2 / 12


def means_of(scores: FloatArray, least_variance: float) -> Means:
    """Of one family with at least two scores."""
    return Means(float(scores.mean()), max(float(scores.var(ddof=1)), least_variance), int(scores.size))


def welch(a: Means, b: Means) -> Welch:
    """First minus second (Welch 1938, Satterthwaite 1946)."""
    parts = a.variance / a.size, b.variance / b.size
    total = sum(parts)
    if total == 0:
        return Welch(a.mean - b.mean, 0.0, float(min(a.size, b.size) - 1))
    # Shares of the total, so that no fourth power of a small score underflows.
    shares = parts[0] / total, parts[1] / total
    freedom = 1 / (shares[0] ** 2 / (a.size - 1) + shares[1] ** 2 / (b.size - 1))
    return Welch(a.mean - b.mean, math.sqrt(total), freedom)


def power_of(between: Welch, level: float) -> float:
    """The power of a two-sided t test at ``level``, difference and standard error taken to be the true ones."""
    if between.error == 0:
        return 1.0 if between.difference else 0.0
    critical = -float(scipy.special.stdtrit(between.freedom, level / 2))
    shift = abs(between.t)
    # Far beyond the critical value the noncentral t underflows to nan: decided.
    return 1.0 if shift > critical + 30 else 1 - float(scipy.special.nctdtr(between.freedom, shift, critical))


def further_runs(a: Means, b: Means, level: float, power: float = POWER) -> float:
    """The fewest further runs of each family with which a two-sided t test at ``level`` has the power asked for.

    The means and variances are taken to be those observed. Infinite where the means are equal.
    """
    if a.mean == b.mean:
        return math.inf

    def reaches(runs: int) -> bool:
        more = welch(Means(a.mean, a.variance, a.size + runs), Means(b.mean, b.variance, b.size + runs))
        return power_of(more, level) >= power

    return _fewest(reaches)


def further_trials(
    difference: float,
    variances: tuple[float, float],
    sizes: tuple[int, int],
    critical: tuple[float, float],
    power: float = POWER,
) -> float:
    """The fewest further trials of each family with which |t| exceeds the critical one with the power asked for.

    The difference and the variance of each family's estimate are taken to be those observed, the variance falling with
    the number of trials. ``critical`` is that among the trials there are, and among very many: what exceeds the latter
    falls like 1 / M with M trials. Infinite where the difference is 0.
    """
    if difference == 0:
        return math.inf
    now, last = critical
    z = float(scipy.special.ndtri(power))

    def reaches(more: int) -> bool:
        share = min(sizes) / (min(sizes) + more)
        wanted = (difference / (last + share * max(now - last, 0.0) + z)) ** 2
        return sum(v * m / (m + more) for v, m in zip(variances, sizes, strict=True)) <= wanted

    return _fewest(reaches)


def _fewest(reaches: Callable[[int], bool]) -> float:
    """The fewest, at least 1, that reach; infinite above the most."""
    least, most = 0, 1
    while not reaches(most):
        least, most = most, 2 * most
        if most > _MOST_RUNS:
            return math.inf
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (least, middle) if reaches(middle) else (middle, most)
    return float(most)
