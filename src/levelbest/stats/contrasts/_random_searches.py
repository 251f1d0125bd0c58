"""Random searches: the difference of two families' curves over all budgets, with limits and verdicts for all pairs.

A winner is named where two things agree. *Dealing the trials anew* (`_dealings`) must rarely give a |t| as large at any
budget: exact under equal laws, whatever the law and the counts. And the *limits* of unequal laws (`_search_limits`)
must exclude zero, both step-down over budgets. Pairs share the error equally; a pair that is decided at every budget
passes its share on. The limits shown hold zero exactly where nothing is certified.

A budget named in advance is tested first, by itself, with the whole error shared by Holm's procedure over the pairs;
only when it is decided for all pairs is the error passed on to the other budgets (serial gatekeeping).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from levelbest import _check
from levelbest._check import FloatArray, IntArray, Seed
from levelbest.stats.best import Mean, Sample, statistic_named
from levelbest.stats.contrasts._agree import contrast_of, possible_best
from levelbest.stats.contrasts._asked import VERDICTS, Contrast, Contrasts, Effect, Question
from levelbest.stats.contrasts._by_limits import by_limits, from_bounds
from levelbest.stats.contrasts._families import Families, Pair, half_of
from levelbest.stats.contrasts._labels import all_families
from levelbest.stats.contrasts._nodes import nodes_of
from levelbest.stats.contrasts._pair_test import Alone, PairTest
from levelbest.stats.contrasts._samples import check_pairing
from levelbest.stats.contrasts._search_columns import columns_of, effect_of, further_of, reasons_of, uncompared
from levelbest.stats.contrasts._seed_runs import FEWEST
from levelbest.stats.contrasts._settle import holm_adjusted

__all__ = ["search_contrasts", "sketched_verdict"]


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
        Of the resamples behind the limits of means; 0 means those behind verdicts. Verdicts do not depend on it, nor
        limits that alone decide.

    Returns
    -------
    Contrasts
        Past half the trials of the smaller family a pair has estimates but no limits. Verdicts do not depend on the
        order of families or trials.

    Notes
    -----
    Under equal laws a winner is named at most as often as 1 - ``confidence`` says wherever dealing the trials anew can
    reach the level, for any law and counts. Statistics other than the mean are decided by their limits.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> families = [Sample(rng.normal(1, 1, 50)), Sample(rng.normal(0, 1, 50))]
    >>> contrast = search_contrasts(families, np.arange(1, 26), Question(pairs=((0, 1),))).pairs[0]
    >>> contrast.certified[:3].tolist(), contrast.basis
    ([1, 1, 1], 'permutation')
    """
    _check.as_confidence(question.confidence)
    _check.as_choice(question.method, ("default", "gaffke"), "method")
    if paired:
        check_pairing(families)
    if not isinstance(statistic_named(statistic), Mean):
        return by_limits(families, n, question, statistic, paired=paired, n_resamples=n_resamples)
    tests = _tests(families, n, question, paired=paired)
    base = VERDICTS if rng == 0 else int(_check.as_rng(rng).integers(2**62))
    if question.method == "gaffke":
        contrasts = from_bounds(families, n, question, tests)
        n_resamples = 0
    else:
        contrasts = _judged(families, n, question, tests, n_resamples, base)
    above, best = possible_best(len(families), contrasts)
    dealings = [test.dealings for test in tests.values() if test.dealings is not None]
    return Contrasts(
        question=question,
        pairs=contrasts,
        n_trials=tuple(family.n_trials for family in families),
        method=question.method if question.method == "gaffke" else "studentised",
        n_permutations=max((dealing.drawn for dealing in dealings), default=0),
        enumerated=False,
        n_resamples=n_resamples,
        above=above,
        possible_best=best,
    )


def _tests(samples: Sequence[Sample], n: IntArray, question: Question, *, paired: bool) -> dict[Pair, PairTest]:
    """The pairs that can be compared at some budget."""
    reach = {pair: half_of(*(samples[f].n_trials for f in pair)) for pair in question.pairs}
    usable = [
        pair for pair in question.pairs if min(samples[f].n_trials for f in pair) >= FEWEST and n[0] <= reach[pair]
    ]
    if not usable:
        return {}
    furthest = max(reach[pair] for pair in usable)
    also = {int(n[n <= reach[pair]][-1]) for pair in usable}
    if question.headline is not None and question.headline <= furthest:
        also.add(question.headline)
    nodes = nodes_of(n[n <= furthest], sorted(also))
    families = Families(samples, usable, nodes, paired=paired)
    return {pair: PairTest(families, pair, question, n[n <= reach[pair]]) for pair in usable}


def _judged(
    samples: Sequence[Sample],
    n: IntArray,
    question: Question,
    tests: dict[Pair, PairTest],
    n_resamples: int,
    base: int,
) -> tuple[Contrast, ...]:
    alpha = 1 - question.confidence
    for test in tests.values():
        test.settle(_place(test.n, question.headline))
    all_one_law = _one_law(samples, tests, alpha)
    resampled: dict[Pair, FloatArray] = {}
    if tests:
        families = next(iter(tests.values())).families
        open_ = [pair for pair, test in tests.items() if not test.few and (test.dealt_p() <= alpha).any()]
        shown = families.resampled_t([pair for pair, test in tests.items() if not test.few], n_resamples, base)
        if base == VERDICTS and n_resamples >= _check.N_RESAMPLES:
            resampled = {pair: shown[pair][:, : _check.N_RESAMPLES] for pair in open_ if not all_one_law}
        elif not all_one_law:
            resampled = families.resampled_t(open_, _check.N_RESAMPLES, VERDICTS)
    for pair, t in resampled.items():
        tests[pair].resampled = tests[pair].measured(t)
    effects = _named(question, tests, resampled, shown if tests else {}, base, closed=all_one_law)
    closed = all_one_law or (effects is not None and not all(effect.certified for effect in effects.values()))
    certified, p_values = _certified(tests, alpha, closed=closed)
    contrasts = []
    for pair in question.pairs:
        sizes = samples[pair[0]].n_trials, samples[pair[1]].n_trials
        if pair not in tests:
            contrasts.append(uncompared(samples, pair, n, question))
            continue
        test = tests[pair]
        limits = test.limits(test.measured(shown[pair]) if pair in shown else None, base)
        columns = columns_of(samples, pair, n, test, limits, certified[pair], p_values[pair])
        effect = None if effects is None else effects.get(pair)
        place = question.place_shown(test.n)
        at = test.n[place] if effect is None else effect.n
        decided = bool(certified[pair][place]) if effect is None else bool(effect.certified)
        contrasts.append(
            contrast_of(
                pair,
                sizes,
                columns,
                question,
                basis=test.basis,
                further=0.0 if decided else further_of(test, int(at), alone=effect is not None),
                reasons=reasons_of(test, n),
                named=effect,
            )
        )
    return tuple(contrasts)


def _place(n: IntArray, headline: int | None) -> int:
    return 0 if headline is None else int(np.abs(n - headline).argmin())


def _one_law(samples: Sequence[Sample], tests: dict[Pair, PairTest], alpha: float) -> bool:
    """Whether all families may be one law: asked where a pair is too small to be dealt anew, among several."""
    if len(tests) < 2 or all(test.dealings is not None for test in tests.values()):
        return False
    families = next(iter(tests.values())).families
    order = sorted(families.place, key=lambda f: families.place[f])
    scores = [np.sort(samples[f].claimed) for f in order]
    stream = np.random.default_rng([VERDICTS, *(part.size for part in scores)])
    drawn = all_families(scores, [(order.index(a), order.index(b)) for a, b in tests], families.least, stream)
    drawn.more()
    while drawn.ends()[0] <= alpha < drawn.ends()[1] and drawn.more():
        pass
    return drawn.ends()[1] > alpha


def _named(
    question: Question,
    tests: dict[Pair, PairTest],
    resampled: dict[Pair, FloatArray],
    shown: dict[Pair, FloatArray],
    base: int,
    *,
    closed: bool,
) -> dict[Pair, Effect] | None:
    """The effects at the budget named in advance, by Holm's procedure; None where none was named."""
    n = question.headline
    if n is None:
        return None
    inside = [pair for pair, test in tests.items() if n <= test.nodes[-1]]
    decided = {pair: tests[pair].alone(n, resampled.get(pair, shown.get(pair)), VERDICTS) for pair in inside}
    adjusted = holm_adjusted(
        np.array([decided[pair].p_value for pair in inside] + [1.0] * (len(question.pairs) - len(inside)))
    )
    effects = {}
    for at, pair in enumerate(inside):
        own = decided[pair]
        passes = not closed and own.allowed and adjusted[at] <= 1 - question.confidence
        certified = int(np.sign(own.difference)) if passes else 0
        limits = tests[pair].alone(n, shown.get(pair), base)
        effects[pair] = effect_of(n, limits, certified, float(adjusted[at]), question)
    for pair in question.pairs:
        if pair not in effects:
            unknown = Alone(math.nan, math.nan, math.nan, math.nan, allowed=False)
            effects[pair] = effect_of(n, unknown, 0, math.nan, question)
    return effects


def _certified(
    tests: dict[Pair, PairTest], alpha: float, *, closed: bool
) -> tuple[dict[Pair, IntArray], dict[Pair, FloatArray]]:
    """Verdicts at every budget, and p-values adjusted over pairs and budgets."""
    raw = {pair: test.p_values() for pair, test in tests.items()}
    allowed = {pair: test.allowed(VERDICTS) for pair, test in tests.items()}
    shares = len(next(iter(tests.values())).question.pairs) if tests else 1
    factor = dict.fromkeys(tests, shares)
    done: set[Pair] = set()
    while True:
        level = alpha / (shares - len(done)) if shares > len(done) else alpha
        whole = {pair for pair in tests if pair not in done and ((raw[pair] <= level) & allowed[pair]).all()}
        for pair in tests:
            if pair not in done:
                factor[pair] = max(1, shares - len(done))
        if not whole:
            break
        done |= whole
    certified = {}
    for pair, test in tests.items():
        passes = (factor[pair] * raw[pair] <= alpha) & allowed[pair] & (not closed)
        certified[pair] = np.where(passes, np.sign(test.difference), 0).astype(np.int64)
    return certified, {pair: np.minimum(factor[pair] * raw[pair], 1.0) for pair in tests}


def sketched_verdict(families: Sequence[Sample], grid: IntArray, n: int, question: Question) -> tuple[float, int]:
    """t of the question's first pair at budget ``n`` of the grid, and the verdict that it would be given: for planning.

    Its draws are those of a comparison: other ones, or fewer, would decide a little more often or more rarely.
    """
    pair = question.pairs[0]
    test = _tests(families, grid, question, paired=False)[pair]
    test.settle(0)
    at = int(np.searchsorted(test.n, n))
    t = float(test.t[at])
    if test.dealt_p()[at] > test.level:
        return t, 0
    if not test.few:
        test.resampled = test.measured(test.families.resampled_t([pair], _check.N_RESAMPLES, VERDICTS)[pair])
    passes = test.p_values()[at] <= test.level and test.allowed(VERDICTS)[at]
    return t, int(np.sign(t)) if passes else 0
