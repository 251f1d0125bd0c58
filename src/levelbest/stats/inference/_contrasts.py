"""What designs call: one function for each kind of unit, and `difference_band` for two arrays of scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import Bounds, Column, FloatArray, IntArray, Seed
from levelbest.errors import InputError, named
from levelbest.stats.bands import interval_methods
from levelbest.stats.best import Mean, Sample, statistic_named, turned_bounds
from levelbest.stats.inference._decide import contrasts_of, decide
from levelbest.stats.inference._means import MeanUnits, SignUnits
from levelbest.stats.inference._nodes import nodes_of
from levelbest.stats.inference._question import Contrasts, Difference, Question, check_pairing
from levelbest.stats.inference._trials import PairedTrials, TrialUnits, half_of, reach_of


def trial_units(
    families: Sequence[Sample],
    n: IntArray,
    question: Question,
    *,
    statistic: str | float = "mean",
    paired: bool = False,
) -> TrialUnits:
    """Trials as units, exchanged at nodes of the budgets."""
    reaches = [reach_of(family) for family in families]
    ends = {min(reaches[a], reaches[b]) for a, b in question.pairs}
    furthest = max(ends)
    inside = n[n <= max(furthest, int(n[0]))]
    also = {int(inside[inside <= end][-1]) for end in ends if (inside <= end).any()}
    if question.headline is not None and question.headline <= furthest:
        also.add(question.headline)
    kind = PairedTrials if paired else TrialUnits
    return kind(families, nodes_of(inside, sorted(also)), statistic_named(statistic))


def trial_contrasts(
    families: Sequence[Sample],
    n: IntArray,
    question: Question,
    *,
    statistic: str | float = "mean",
    paired: bool = False,
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

    Returns
    -------
    Contrasts
        Past half the trials of the smaller family (sooner where another score is reported) a pair has estimates but no
        limits. Verdicts do not depend on the order of families or trials.

    Notes
    -----
    Under equal distributions a winner is named at most as often as 1 - ``confidence`` says wherever exchanging trials
    can reach the level, for any distribution and counts.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> families = [Sample(rng.normal(1, 1, 50)), Sample(rng.normal(0, 1, 50))]
    >>> contrast = trial_contrasts(families, np.arange(1, 26), Question(pairs=((0, 1),))).pairs[0]
    >>> contrast.certified[:3].tolist(), contrast.basis
    ([1, 1, 1], 'permutation')
    """
    _check.as_confidence(question.confidence)
    _check.as_choice(question.method, interval_methods("differences"), "method")
    if paired:
        check_pairing(families)
    if question.method == "gaffke" and any(family.reported is not None for family in families):
        raise InputError(
            f"{named('interval')} gaffke needs selection and reported score to be one column: nothing bounds what "
            "a trial better than all observed would report; leave it out, or name one column"
        )
    if question.method == "gaffke" and not isinstance(statistic_named(statistic), Mean):
        raise InputError(f"{named('interval')} gaffke is for differences of means; leave it out")
    units = trial_units(families, n, question, statistic=statistic, paired=paired)
    return contrasts_of(decide(units, n, question), question)


def run_contrasts(scores: Sequence[FloatArray], question: Question) -> Contrasts:
    """Differences of the mean of a new run, where nothing but the seed varies within a family.

    Parameters
    ----------
    scores
        Of each family, one (reported) score per run, turned so that higher is better.
    question
        Pairs, confidence, bounds and the difference worth having; the budget is 1 whatever ``headline`` says.

    Examples
    --------
    >>> runs = [np.array([.81, .82, .80, .83, .82]), np.array([.70, .71, .74, .73, .72])]
    >>> contrast = run_contrasts(runs, Question(pairs=((0, 1),))).pairs[0]
    >>> contrast.effect.certified, round(contrast.effect.difference, 3), contrast.basis
    (1, 0.096, 'permutation')
    """
    units = MeanUnits([np.sort(own)[:, None] for own in scores], np.ones(1, dtype=np.int64))
    return contrasts_of(decide(units, units.nodes, question), question)


def search_contrasts(curves: Sequence[FloatArray], n: IntArray, question: Question) -> Contrasts:
    """Differences of the mean best-so-far curves of whole searches, (search, n) of each family, turned.

    The unit that is exchanged is the whole search: its trials are not exchangeable.
    """
    units = MeanUnits(curves, n)
    return contrasts_of(decide(units, n, question, few="few-searches", fewest=2), question)


def sign_contrasts(
    differences: Sequence[FloatArray],
    n: IntArray,
    question: Question,
    *,
    weights: FloatArray | None = None,
    clusters: Column | None = None,
) -> Contrasts:
    """Differences over problems that the systems share: (problem, n) of each pair, first minus second, turned."""
    units = SignUnits(differences, question.pairs, n, weights, clusters)
    return contrasts_of(decide(units, n, question, few="few-problems", fewest=2), question)


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
    rng: Seed = 0,  # noqa: ARG001
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
        Of no effect: permutations and draws are the same for the same scores, however often it is asked.

    Returns
    -------
    Difference
        First minus second, turned so that positive means that the first is better.

    Examples
    --------
    >>> band = difference_band([0.8, 0.9, 0.7, 0.85] * 5, [0.5, 0.6, 0.4, 0.55] * 5, [1, 5])
    >>> band.certified.tolist()
    [1, 1]
    """
    first, second = (None, None) if reported is None else reported
    families = [Sample(*_check.as_pair(a, first, at_least=2)), Sample(*_check.as_pair(b, second, at_least=2))]
    if n is None:
        n = np.arange(1, max(1, half_of(*(family.n_trials for family in families))) + 1)
    budgets, _ = _check.as_budgets(n, min(family.n_trials for family in families))
    grid, where = np.unique(budgets, return_inverse=True)
    question = Question(((0, 1),), confidence=confidence, bounds=turned_bounds(_check.as_bounds(bounds), direction))
    _check.as_count(n_resamples, "n_resamples", at_least=99)
    turned = [family.turned(direction) for family in families]
    parts = [grid[i : i + 1] for i in range(grid.size)] if pointwise else [grid]
    answers = [trial_contrasts(turned, part, question, statistic=statistic, paired=paired) for part in parts]
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
        reasons=tuple(dict.fromkeys(reason for pair in pairs for reason in pair.reasons)),
        basis=pairs[0].basis,
    )
