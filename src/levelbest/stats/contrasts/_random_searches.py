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
import numpy.typing as npt

from levelbest import _check
from levelbest._check import Bounds, FloatArray, IntArray, Seed
from levelbest.errors import InputError, named
from levelbest.stats.bands import interval_methods
from levelbest.stats.best import Mean, Sample, statistic_named, turned_bounds
from levelbest.stats.contrasts._contrast import (
    VERDICTS,
    Band,
    Contrast,
    Contrasts,
    Difference,
    Pair,
    Question,
    check_pairing,
    contrast_of,
)
from levelbest.stats.contrasts._dealings import nodes_of
from levelbest.stats.contrasts._families import Families, half_of
from levelbest.stats.contrasts._means import FEWEST
from levelbest.stats.contrasts._pair_test import PairTest, from_bounds, uncompared
from levelbest.stats.contrasts._quantiles import by_limits
from levelbest.stats.contrasts._settle import all_families, holm_adjusted, settle


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
    _check.as_choice(question.method, interval_methods("differences"), "method")
    if paired:
        check_pairing(families)
    if not isinstance(statistic_named(statistic), Mean):
        return by_limits(families, n, question, statistic, paired=paired, n_resamples=n_resamples)
    tests = _tests(families, n, question, paired=paired)
    if question.method == "gaffke":
        if any(family.reported is not None for family in families):
            raise InputError(
                f"{named('interval')} gaffke needs selection and reported score to be one column: nothing bounds what "
                "a trial better than all observed would report; leave it out, or name one column"
            )
        judged, method, n_resamples = {pair: from_bounds(test, n) for pair, test in tests.items()}, "gaffke", 0
    else:
        # with a difference worth having limits decide too, so that they are the verdicts' own, whatever the seed
        own = rng == 0 or question.worth is not None
        base = VERDICTS if own else int(_check.as_rng(rng).integers(2**62))
        judged, method = _judged(n, question, tests, n_resamples, base) if tests else {}, "studentised"
    pairs = (judged[pair] if pair in judged else uncompared(families, pair, n, question) for pair in question.pairs)
    return Contrasts(tuple(pairs), method, n_resamples)


def difference_band(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    n: npt.ArrayLike | None = None,
    *,
    reported: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    statistic: str | float = "mean",
    paired: bool = False,
    confidence: float = 0.95,
    pointwise: bool = False,
    direction: str = "max",
    bounds: Bounds = (None, None),
    n_resamples: int = _check.N_RESAMPLES,
    rng: Seed = 0,
) -> Difference:
    """The difference of two families at each budget, with limits and verdicts that hold over all of them at once.

    More than 8 parameters: the settings of a comparison.

    Parameters
    ----------
    a, b
        Selection scores of the two families.
    n
        Budgets; by default all up to half the trials of the smaller family.
    reported
        The pair of reported scores, where they are separate.
    statistic
        ``mean``, ``median``, a quantile's probability or a registered statistic.
    paired
        Entry i of both is the same configuration, seed or problem.
    confidence
        Of all limits and verdicts together or, ``pointwise``, of each budget by itself.
    pointwise
        Whether they hold for each budget by itself: a band's hold together.
    direction
        ``max`` or ``min``.
    bounds
        Of the reported score, where they are known.
    n_resamples, rng
        Draws behind the limits, and what decides them. Verdicts do not depend on the seed.

    Returns
    -------
    Difference
        First minus second, turned so that positive means that the first is better. Mean curves are decided by dealing
        the trials anew where limits of unequal laws agree (`search_contrasts`), others by their limits.

    Examples
    --------
    >>> band = difference_band([0.8, 0.9, 0.7, 0.85] * 5, [0.5, 0.6, 0.4, 0.55] * 5, [1, 5])
    >>> band.certified.tolist()
    [1, 1]
    """
    first, second = (None, None) if reported is None else reported
    families = [Sample(*_check.as_pair(a, first, at_least=2)), Sample(*_check.as_pair(b, second, at_least=2))]
    if n is None:
        n = np.arange(1, half_of(*(family.n_trials for family in families)) + 1)
    budgets, _ = _check.as_budgets(n, min(family.n_trials for family in families))
    grid, where = np.unique(budgets, return_inverse=True)
    question = Question(((0, 1),), confidence=confidence, bounds=turned_bounds(_check.as_bounds(bounds), direction))
    n_resamples = _check.as_count(n_resamples, "n_resamples", at_least=99)
    turned, generator = [family.turned(direction) for family in families], _check.as_rng(rng)
    parts = [grid[i : i + 1] for i in range(grid.size)] if pointwise else [grid]
    answers = [
        search_contrasts(
            turned, part, question, statistic=statistic, paired=paired, n_resamples=n_resamples, rng=generator
        )
        for part in parts
    ]
    pairs = [answer.pairs[0] for answer in answers]
    return Difference(
        n=grid[where],
        difference=np.concatenate([pair.difference for pair in pairs])[where],
        low=np.concatenate([pair.low for pair in pairs])[where],
        high=np.concatenate([pair.high for pair in pairs])[where],
        certified=np.concatenate([pair.certified for pair in pairs])[where],
        p_value=np.concatenate([pair.p_value for pair in pairs])[where],
        method=answers[0].method,
        confidence=confidence,
        simultaneous=not pointwise,
        paired=paired,
        n_trials=pairs[0].n_trials,
        statistic=statistic_named(statistic).name,
        direction=_check.as_direction(direction),
        n_resamples=answers[0].n_resamples or None,
        reasons=tuple(dict.fromkeys(reason for pair in pairs for reason in pair.reasons)),
        basis=pairs[0].basis,
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
    n: IntArray, question: Question, tests: dict[Pair, PairTest], n_resamples: int, base: int
) -> dict[Pair, Contrast]:
    alpha, headline = 1 - question.confidence, question.headline
    families = next(iter(tests.values())).families
    for test in tests.values():
        test.settle(0 if headline is None else int(np.abs(test.n - headline).argmin()))
    all_one_law = _one_law(families, tests, alpha)
    open_ = [pair for pair, test in tests.items() if not test.few and (test.dealt_p() <= alpha).any()]
    shown = families.resampled_t([pair for pair, test in tests.items() if not test.few], n_resamples, base)
    resampled: dict[Pair, FloatArray] = {}
    if base == VERDICTS and n_resamples >= _check.N_RESAMPLES:
        resampled = {pair: shown[pair][:, : _check.N_RESAMPLES] for pair in open_ if not all_one_law}
    elif not all_one_law:
        resampled = families.resampled_t(open_, _check.N_RESAMPLES, VERDICTS)
    for pair, t in resampled.items():
        tests[pair].resampled = tests[pair].measured(t)
    closed, alone = all_one_law, {}
    if headline is not None:
        alone = _alone(headline, question, tests, resampled, shown, base, closed=all_one_law)
        closed = len(alone) < len(question.pairs) or not all(band.certified[0] for band in alone.values())
    certified, p_values = _certified(tests, alpha, closed=closed)
    contrasts = {}
    for pair, test in tests.items():
        limits = test.limits(test.measured(shown[pair]) if pair in shown else None, base)
        band = test.band(n, limits, certified[pair], p_values[pair])
        place = question.place_shown(test.n)
        at, decided = int(test.n[place]), bool(certified[pair][place])
        if pair in alone and headline is not None:
            at, decided = headline, bool(alone[pair].certified[0])
            band = band.with_named(alone[pair])
        contrasts[pair] = contrast_of(
            question,
            pair,
            test.n_trials,
            band,
            basis=test.basis,
            further=0.0 if decided else test.further(at, alone=pair in alone),
            reasons=test.reasons(n),
            named=pair in alone,
        )
    return contrasts


def _one_law(families: Families, tests: dict[Pair, PairTest], alpha: float) -> bool:
    """Whether all families may be one law: asked where a pair is too small to be dealt anew, among several."""
    if len(tests) < 2 or all(test.dealings is not None for test in tests.values()):
        return False
    order = sorted(families.place, key=lambda f: families.place[f])
    scores = [np.sort(families.samples[f].claimed) for f in order]
    stream = np.random.default_rng([VERDICTS, *(part.size for part in scores)])
    drawn = all_families(scores, [(order.index(a), order.index(b)) for a, b in tests], families.least, stream)
    (rejected,), _ = settle([drawn], alpha)
    return not rejected


def _alone(
    n: int,
    question: Question,
    tests: dict[Pair, PairTest],
    resampled: dict[Pair, FloatArray],
    shown: dict[Pair, FloatArray],
    base: int,
    *,
    closed: bool,
) -> dict[Pair, Band]:
    """Each pair at the budget named in advance, by Holm's procedure; NaN where the pair does not reach so far."""
    inside = [pair for pair, test in tests.items() if n <= test.nodes[-1]]
    decided = {pair: tests[pair].alone(n, resampled.get(pair, shown.get(pair)), VERDICTS) for pair in inside}
    others = [1.0] * (len(question.pairs) - len(inside))
    adjusted = holm_adjusted(np.array([decided[pair].p_value for pair in inside] + others))
    bands = {pair: Band.one(n, math.nan, math.nan, math.nan, 0, math.nan) for pair in tests}
    for pair, p_value in zip(inside, adjusted, strict=False):
        own, limits = decided[pair], tests[pair].alone(n, shown.get(pair), base)
        passes = not closed and own.allowed and p_value <= 1 - question.confidence
        certified = int(np.sign(own.difference)) if passes else 0
        bands[pair] = Band.one(n, own.difference, limits.low, limits.high, certified, float(p_value))
    return bands


def _certified(
    tests: dict[Pair, PairTest], alpha: float, *, closed: bool
) -> tuple[dict[Pair, IntArray], dict[Pair, FloatArray]]:
    """Verdicts at every budget, and p-values adjusted over pairs and budgets."""
    raw = {pair: test.p_values() for pair, test in tests.items()}
    allowed = {pair: test.allowed(VERDICTS) for pair, test in tests.items()}
    shares = len(next(iter(tests.values())).question.pairs) if tests else 1
    factor = dict.fromkeys(tests, shares)
    done: set[Pair] = set()
    while undecided := [pair for pair in tests if pair not in done]:
        left = max(1, shares - len(done))
        factor |= dict.fromkeys(undecided, left)
        whole = {pair for pair in undecided if ((raw[pair] <= alpha / left) & allowed[pair]).all()}
        if not whole:
            break
        done |= whole
    certified = {}
    for pair, test in tests.items():
        passes = (factor[pair] * raw[pair] <= alpha) & allowed[pair] & (not closed)
        certified[pair] = np.where(passes, np.sign(test.difference), 0).astype(np.int64)
    return certified, {pair: np.minimum(factor[pair] * raw[pair], 1.0) for pair in tests}


def decisive_t(
    families: Sequence[Sample], grid: IntArray, n: int, question: Question, moved: FloatArray
) -> tuple[float, float]:
    """t of the question's first pair at budget ``n`` of the grid, and the t that a verdict takes: `PairTest.decisive`.

    Its resamples are those of a comparison: other ones, or fewer, would decide a little more often or more rarely.
    """
    pair = question.pairs[0]
    test = _tests(families, grid, question, paired=False)[pair]
    if not test.few:
        test.resampled = test.measured(test.families.resampled_t([pair], _check.N_RESAMPLES, VERDICTS)[pair])
    return test.decisive(int(np.searchsorted(test.n, n)), moved)


def paired_evidence(
    families: Sequence[Sample], grid: IntArray, n: int, question: Question
) -> tuple[float, float, float]:
    """Of the question's first pair, its trials paired: the difference at budget ``n``, its standard error, and the |t|
    that a comparison would take for a verdict there: for planning."""
    pair = question.pairs[0]
    test = _tests(families, grid, question, paired=True)[pair]
    test.settle(0)
    if not test.few:
        test.resampled = test.measured(test.families.resampled_t([pair], _check.N_RESAMPLES, VERDICTS)[pair])
    (difference,), (error,), _ = test.families.at(pair, np.array([n]))
    return float(difference), float(error), test.critical(n, alone=False)
