"""Differences of systems over problems: a test decides, limits show by how much.

On the same problems, whether a difference is more than luck is decided by swapping the systems within problems
(`swap_test`), which has the power of a paired t test and needs no law. How large it is, is shown by limits of Gaffke's
type with a further problem imagined near the others. The two agree: where nothing is certified the limits hold zero,
and where something is they end at zero at the latest. By name, ``gaffke``, ``studentised`` and ``t`` have limits that
decide by themselves; ``gaffke`` is the one that rests on the bounds of the score alone, and rare kinds of problem do
not harm it. Systems on problems of their own are compared by the limits of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from levelbest import _check
from levelbest._check import Bounds, FloatArray, IntArray, Seed
from levelbest.errors import DataError, InputError
from levelbest.stats.bands import Limits, Terms
from levelbest.stats.contrasts import (
    VERDICTS,
    Band,
    Contrast,
    Contrasts,
    Difference,
    Means,
    Question,
    agreeing,
    contrast_of,
    further_runs,
)
from levelbest.stats.problems._groups import GroupBest, average_over_groups
from levelbest.stats.problems._limits import GROUP_METHODS, MeanQuestion, mean_and_error, mean_limits
from levelbest.stats.problems._swaps import SwapTest, swap_test


def problem_contrasts(
    systems: Sequence[GroupBest],
    question: Question,
    *,
    paired: bool = True,
    n_resamples: int = _check.N_RESAMPLES,
    rng: Seed = 0,
) -> Contrasts:
    """Differences of systems over problems, with limits and verdicts for all pairs and budgets together.

    Parameters
    ----------
    systems
        The values by problem of each system at the same budgets and, paired, on the same problems. A problem counts at
        n where both systems of a pair have n samples of it.
    question
        Pairs, confidence, bounds (turned so that higher is better), the budget named in advance (one of the systems')
        and the difference worth having. By default swapping systems within problems certifies; a method of
        `GROUP_METHODS` gives that method's limits, and certifies where they exclude zero.
    paired
        Whether the systems are compared problem by problem, or each over its own problems.
    n_resamples, rng
        Draws behind the limits, and what decides them. Verdicts do not depend on the seed; the test draws until they
        stand.

    Returns
    -------
    Contrasts
        ``n_trials`` are samples; ``basis`` is ``swaps`` or ``limits``; ``further`` counts problems.

    Examples
    --------
    >>> from levelbest.stats.contrasts import Question
    >>> from levelbest.stats.problems import expected_best_by_group, problem_contrasts
    >>> problems = [p for p in range(8) for _ in range(4)]
    >>> a = expected_best_by_group([1, 1, 1, 0] * 8, problems, [1, 2])
    >>> b = expected_best_by_group([1, 0, 0, 0] * 8, problems, [1, 2])
    >>> contrast = problem_contrasts([a, b], Question(pairs=((0, 1),), bounds=(0, 1))).pairs[0]
    >>> contrast.certified.tolist(), contrast.basis, round(float(contrast.p_value[0]), 4)
    ([1, 1], 'swaps', 0.0078)
    """
    # limits that decide have the draws of verdicts, whatever the seed
    swapped = paired and question.method == "default" and question.worth is None
    seed = int(_check.as_rng(rng).integers(2**62)) if swapped else VERDICTS
    asked = _Asked(question, n_resamples, seed)
    answer = _on_the_same_problems(systems, asked) if paired else _apart(systems, asked)
    contrasts = tuple(answer.contrast(place, systems, question) for place in range(len(question.pairs)))
    return Contrasts(contrasts, answer.limits.name, n_resamples)


def group_difference(
    a: GroupBest,
    b: GroupBest,
    *,
    method: str | None = None,
    confidence: float = 0.95,
    pointwise: bool = False,
    bounds: Bounds | None = None,
    n_resamples: int = _check.N_RESAMPLES,
    rng: Seed = 0,
) -> Difference:
    """The difference of two systems on the same problems, problem by problem: first minus second, positive is better.

    Parameters
    ----------
    a, b
        The values by problem of each system, on the same problems and at the same budgets.
    method
        The default certifies by swapping systems within problems. A name of `GROUP_METHODS` gives that method's limits,
        and certifies where they exclude zero.
    confidence, pointwise
        Of all budgets together or, pointwise, of each alone.
    bounds
        Of the reported score.
    n_resamples, rng
        Draws behind the limits, and what decides them. The test draws until its verdict stands.

    Returns
    -------
    Difference
        ``basis`` is ``swaps`` or ``limits``; ``p_value`` is the test's, adjusted for all budgets, and ``smallest_p``
        the least it could be with so many problems, for one budget.

    Examples
    --------
    >>> from levelbest.stats.problems import expected_best_by_group, group_difference
    >>> problems = [p for p in range(8) for _ in range(4)]
    >>> a = expected_best_by_group([1, 1, 1, 0] * 8, problems, [1, 2])
    >>> b = expected_best_by_group([1, 0, 0, 0] * 8, problems, [1, 2])
    >>> difference = group_difference(a, b, bounds=(0, 1))
    >>> difference.certified.tolist(), difference.basis, difference.smallest_p
    ([1, 1], 'swaps', 0.0078125)
    """
    question = Question(
        ((0, 1),), _check.as_confidence(confidence), _check.as_bounds(bounds), method=method or "default"
    )
    seed = int(_check.as_rng(rng).integers(2**62)) if method is None else VERDICTS
    asked = _Asked(question, n_resamples, seed, together=not pointwise)
    answer = _on_the_same_problems([a, b], asked)
    _, difference, low, high, certified, p_value = answer.columns(0, a.n)
    return Difference(
        a.n,
        difference,
        *agreeing(low, high, certified, question.bounds),
        certified=certified,
        method=answer.limits.name,
        confidence=question.confidence,
        simultaneous=not pointwise,
        paired=True,
        n_trials=(int(a.sizes.sum()), int(b.sizes.sum())),
        statistic="mean",
        direction=a.direction,
        n_resamples=n_resamples,
        reasons=tuple(dict.fromkeys(code for code in answer.limits.why if code is not None)),
        basis=answer.basis,
        p_value=None if answer.swaps is None else p_value,
        smallest_p=None if answer.swaps is None else float(answer.swaps.smallest[0]),
    )


@dataclass(frozen=True)
class _Asked:
    """A question, and the draws that may be spent on it: the same ones for all limits."""

    question: Question
    n_resamples: int
    seed: int
    together: bool = True

    def limits(self, columns: FloatArray, weights: FloatArray | None, bounds: Bounds, method: str) -> Limits:
        """Limits for the mean of each column, that hold for all of them together."""
        terms = Terms(self.question.confidence, self.together, bounds=bounds, n_resamples=self.n_resamples)
        return mean_limits(MeanQuestion(columns, weights, method, terms, np.random.default_rng([self.seed, 0])))


@dataclass(frozen=True, eq=False)
class _Answer:
    """All pairs: columns are budgets, pair after pair."""

    differences: FloatArray
    limits: Limits
    means: tuple[tuple[Means, Means], ...]
    """What stands behind each pair at the budget of its effect."""
    place: int | None
    """Where the budget named in advance stands."""
    swaps: SwapTest | None = None
    named: Limits | None = None
    """At that budget, a column per pair: there they stand in place of the others."""

    @property
    def basis(self) -> str:
        return "limits" if self.swaps is None else "swaps"

    def columns(self, pair: int, n: IntArray) -> Band:
        here = slice(pair * n.size, (pair + 1) * n.size)
        low, high = self.limits.low[here], self.limits.high[here]
        if self.swaps is None:
            return Band.of(n, self.differences[here], low, high)
        # there is no verdict where there are no limits
        certified = np.where(np.isnan(low), 0, self.swaps.certified[pair])
        return Band(n, self.differences[here], low, high, certified, self.swaps.p_value[pair])

    def contrast(self, pair: int, systems: Sequence[GroupBest], question: Question) -> Contrast:
        """One pair: its columns, its effect, and how many further problems would decide."""
        first = systems[0]
        columns = self.columns(pair, first.n)
        if self.place is not None and self.named is not None:
            low, high = columns.low.copy(), columns.high.copy()
            low[self.place], high[self.place] = self.named.low[pair], self.named.high[pair]
            columns = columns._replace(low=low, high=high)
        codes = self.limits.why[pair * first.n.size : (pair + 1) * first.n.size]
        few = ("one-problem", "two-problems", "no-problem", "no-weight")
        reasons = list(dict.fromkeys("few-problems" if code in few else code for code in codes if code is not None))
        if self.swaps is not None and not self.swaps.settled[pair]:
            reasons.append("unsettled")
        a, b = question.pairs[pair]
        further, few_problems = 0.0, min(mean.size for mean in self.means[pair]) < 2
        if not columns.certified[question.place_shown(first.n)]:
            level = (1 - question.confidence) / len(question.pairs)
            further = float("nan") if few_problems else further_runs(*self.means[pair], level)
        return contrast_of(
            question,
            (a, b),
            (int(systems[a].sizes.sum()), int(systems[b].sizes.sum())),
            columns,
            basis=self.basis,
            further=further,
            reasons=tuple(reasons),
            named=self.place is not None,
        )


def _place(systems: Sequence[GroupBest], question: Question) -> int | None:
    """Where the budget named in advance stands among those of all systems."""
    n = systems[0].n
    if not all(np.array_equal(other.n, n) for other in systems[1:]):
        raise InputError("systems must be compared at the same budgets n; compute them with one list of n")
    if question.headline is None:
        return None
    if question.headline not in n:
        raise InputError(f"the budget named in advance, {question.headline}, must be one of those compared")
    return int(np.flatnonzero(n == question.headline)[0])


def _on_the_same_problems(systems: Sequence[GroupBest], asked: _Asked) -> _Answer:
    """Each pair's differences problem by problem."""
    question, first = asked.question, systems[0]
    place = _place(systems, question)
    for other in systems[1:]:
        _same_groups(first, other)
    sign = _check.sign_of(first.direction)
    by_pair = [sign * (systems[a].by_group - systems[b].by_group) for a, b in question.pairs]
    low, high = question.bounds
    reach: Bounds = (None, None) if low is None or high is None else (low - high, high - low)
    columns = np.concatenate(by_pair, axis=1)
    swaps = named = None
    method = _check.as_choice(question.method, GROUP_METHODS, "method")
    if method == "default":
        method, stream = "imagined", np.random.default_rng(VERDICTS)
        swaps = swap_test(
            by_pair, first.weights, 1 - question.confidence, together=asked.together, rng=stream, first=place
        )
        if place is not None:
            named = asked.limits(columns[:, place :: first.n.size], first.weights, reach, method)
    limits = asked.limits(columns, first.weights, reach, method)
    means = []
    for own in by_pair:
        mean = _mean_of(own[:, question.place_shown(first.n)], first.weights)
        # against a constant Welch's t is that of one sample: the paired one
        means.append((mean, Means(0.0, 0.0, mean.size)))
    return _Answer(average_over_groups(columns, first.weights)[0], limits, tuple(means), place, swaps, named)


def _apart(systems: Sequence[GroupBest], asked: _Asked) -> _Answer:
    """Each system over its own problems: all bands hold together, so every difference lies between their edges."""
    question, place = asked.question, _place(systems, asked.question)
    method = _check.as_choice(question.method, GROUP_METHODS, "method")
    if method == "default":
        method = "studentised" if None in question.bounds else "gaffke"
    each = replace(asked, question=replace(question, confidence=question.confidence ** (1 / len(systems))))
    sign = _check.sign_of(systems[0].direction)
    bands = [
        replace(each, seed=asked.seed + at).limits(sign * system.by_group, system.weights, question.bounds, method)
        for at, system in enumerate(systems)
    ]
    pairs = [(systems[a], systems[b], bands[a], bands[b]) for a, b in question.pairs]
    limits = Limits(
        np.concatenate([first.low - second.high for _, _, first, second in pairs]),
        np.concatenate([first.high - second.low for _, _, first, second in pairs]),
        bands[0].rule,
        method,
    )
    limits.why = [mine or other for _, _, a, b in pairs for mine, other in zip(a.why, b.why, strict=True)]
    shown = question.place_shown(systems[0].n)
    each_mean = [_mean_of(sign * system.by_group[:, shown], system.weights) for system in systems]
    means = [(each_mean[a], each_mean[b]) for a, b in question.pairs]
    differences = np.concatenate([sign * (a.value - b.value) for a, b, _, _ in pairs])
    return _Answer(differences, limits, tuple(means), place)


def _mean_of(values: FloatArray, weights: FloatArray | None) -> Means:
    """The (weighted) mean over problems, with the variance that its standard error would have come from."""
    each = np.ones(values.size) if weights is None else weights
    known = ~np.isnan(values) & (each > 0)
    size = int(known.sum())
    if size < 2:
        return Means(float("nan"), float("nan"), size)
    mean, error = mean_and_error(values[known, None], each[known])
    return Means(float(mean[0]), float(error[0]) ** 2 * size, size)


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
