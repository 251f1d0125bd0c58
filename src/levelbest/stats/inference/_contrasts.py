"""The functions that designs call, one for each kind of unit, and further statistics of two families: relative
improvement, probability of improvement, the best so far of a search."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy

from levelbest import _check
from levelbest._check import Bounds, Column, FloatArray, IntArray, Seed
from levelbest.errors import InputError, named
from levelbest.stats.bands import interval_methods, order_statistic
from levelbest.stats.best import Mean, Sample, best_weights, statistic_named, turned_bounds
from levelbest.stats.inference._decide import contrasts_of, decide
from levelbest.stats.inference._exchange import Exchange
from levelbest.stats.inference._hypotheses import Contrasts, Difference, Hypotheses, Pair, check_pairing
from levelbest.stats.inference._means import MeanUnits, SignUnits
from levelbest.stats.inference._paired import PairedTrials
from levelbest.stats.inference._trials import TrialUnits, half_of, pooled, reach_of, statistic_nodes
from levelbest.stats.inference._units import Families, IndependentUnits, Labels


def trial_units(
    families: Sequence[Sample],
    n: IntArray,
    hypotheses: Hypotheses,
    *,
    statistic: str | float = "mean",
    paired: bool = False,
) -> TrialUnits:
    """Trials as units, exchanged at nodes of the budgets."""
    reaches = [reach_of(family) for family in families]
    ends = {min(reaches[a], reaches[b]) for a, b in hypotheses.pairs}
    furthest = max(ends)
    inside = n[n <= max(furthest, int(n[0]))]
    also = {int(inside[inside <= end][-1]) for end in ends if (inside <= end).any()}
    if hypotheses.headline is not None and hypotheses.headline <= furthest:
        also.add(hypotheses.headline)
    kind, of_best = PairedTrials if paired else TrialUnits, statistic_named(statistic)
    return kind(families, statistic_nodes(of_best, inside, also), of_best)


def trial_contrasts(
    families: Sequence[Sample],
    n: IntArray,
    hypotheses: Hypotheses,
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
    hypotheses
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
    >>> contrast = trial_contrasts(families, np.arange(1, 26), Hypotheses(pairs=((0, 1),))).pairs[0]
    >>> contrast.certified[:3].tolist(), contrast.basis
    ([1, 1, 1], 'permutation')
    """
    _check.as_confidence(hypotheses.confidence)
    _check.as_choice(hypotheses.method, interval_methods("differences"), "method")
    if paired:
        check_pairing(families)
    if hypotheses.method == "gaffke" and any(family.reported is not None for family in families):
        raise InputError(
            f"{named('interval')} gaffke needs selection and reported score to be one column: nothing bounds what "
            "a trial better than all observed would report; leave it out, or name one column"
        )
    if hypotheses.method == "gaffke" and not isinstance(statistic_named(statistic), Mean):
        raise InputError(f"{named('interval')} gaffke is for differences of means; leave it out")
    units = trial_units(families, n, hypotheses, statistic=statistic, paired=paired)
    return contrasts_of(decide(units, n, hypotheses), hypotheses)


def run_contrasts(scores: Sequence[FloatArray], hypotheses: Hypotheses) -> Contrasts:
    """Differences of the mean of a new run, where nothing but the seed varies within a family.

    Parameters
    ----------
    scores
        Of each family, one (reported) score per run, turned so that higher is better.
    hypotheses
        Pairs, confidence, bounds and the difference worth having; the budget is 1 whatever ``headline`` says.

    Examples
    --------
    >>> runs = [np.array([.81, .82, .80, .83, .82]), np.array([.70, .71, .74, .73, .72])]
    >>> contrast = run_contrasts(runs, Hypotheses(pairs=((0, 1),))).pairs[0]
    >>> contrast.effect.certified, round(contrast.effect.difference, 3), contrast.basis
    (1, 0.096, 'permutation')
    """
    units = MeanUnits([np.sort(runs)[:, None] for runs in scores], np.ones(1, dtype=np.int64))
    return contrasts_of(decide(units, units.nodes, hypotheses), hypotheses)


def search_contrasts(curves: Sequence[FloatArray], n: IntArray, hypotheses: Hypotheses) -> Contrasts:
    """Differences of the mean best-so-far curves of whole searches, (search, n) of each family, turned.

    The unit that is exchanged is the whole search: its trials are not exchangeable.
    """
    units = MeanUnits(curves, n)
    return contrasts_of(decide(units, n, hypotheses, few="few-searches", fewest=2), hypotheses)


def sign_contrasts(
    differences: Sequence[FloatArray],
    n: IntArray,
    hypotheses: Hypotheses,
    *,
    weights: FloatArray | None = None,
    clusters: Column | None = None,
) -> Contrasts:
    """Differences over problems that the systems share: (problem, n) of each pair, first minus second, turned."""
    units = SignUnits(differences, hypotheses.pairs, n, weights, clusters)
    return contrasts_of(decide(units, n, hypotheses, few="few-problems", fewest=2), hypotheses)


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
        Of no effect (``n_resamples`` of at least 99): permutations and draws are the same for the same scores.

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
    hypotheses = Hypotheses(((0, 1),), confidence=confidence, bounds=turned_bounds(_check.as_bounds(bounds), direction))
    _check.as_count(n_resamples, "n_resamples", at_least=99)
    turned = [family.turned(direction) for family in families]
    parts = [grid[i : i + 1] for i in range(grid.size)] if pointwise else [grid]
    answers = [trial_contrasts(turned, part, hypotheses, statistic=statistic, paired=paired) for part in parts]
    difference = Difference.of(
        answers,
        confidence=confidence,
        simultaneous=not pointwise,
        paired=paired,
        statistic=statistic_named(statistic).name,
        direction=_check.as_direction(direction),
    )
    return difference.at(where)


_FROM_ZERO = 3.0
"""Standard errors that a score must be away from zero for a ratio to it."""


def relative_improvement(
    units: TrialUnits, pair: Pair, confidence: float = 0.95
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(first - second) / |second| at the nodes of a pair, with pointwise intervals from draws ([B] D.1).

    NaN where the second's score is within three standard errors of zero: a ratio to something that may be nothing has
    no interval.
    """
    k = units.inside(pair)
    n, tail = units.nodes[:k], (1 - confidence) / 2
    (a, _), (b, of_b) = ((units.sides[f].best + units.side_at(f, n)[0], units.side_at(f, n)[1]) for f in pair)
    first, second = units.both_draws(pair)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = (a - b) / np.abs(b)
        low = (first.lower[:k] - second.upper[:k]) / np.abs(second.upper[:k])
        high = (first.upper[:k] - second.lower[:k]) / np.abs(second.lower[:k])
        ends = order_statistic(np.minimum(low, high), tail), order_statistic(np.maximum(low, high), 1 - tail)
        known = np.abs(b) > _FROM_ZERO * np.sqrt(of_b)
    low, high = np.minimum(ends[0], value), np.maximum(ends[1], value)
    return tuple(np.where(known, column, np.nan) for column in (value, low, high))  # type: ignore[return-value]


def chance_better(a: Sample, b: Sample, n: npt.ArrayLike, *, direction: str = "max") -> FloatArray:
    """The probability that the best of n of the first reports a better score than the best of n of the second.

    An unbiased estimate (U weights on both sides); a tie counts half.
    """
    first, second = (sample.turned(direction).ordered() for sample in (a, b))  # what is in order is counted faster
    budgets, _ = _check.as_budgets(n, min(first.n_trials, second.n_trials))
    weights = best_weights(first.selection, budgets), best_weights(second.selection, budgets)
    return np.clip(share_of_wins(first.claimed, second.claimed, *weights), 0, 1)


def share_of_wins(first: FloatArray, second: FloatArray, of_first: FloatArray, of_second: FloatArray) -> FloatArray:
    """How often a draw of the first scores by its weights beats one of the second, for every row of weights."""
    order = np.argsort(second, kind="stable")
    below = np.concatenate([np.zeros((of_second.shape[0], 1)), np.cumsum(of_second[:, order], axis=1)], axis=1)
    less, most = (np.searchsorted(second[order], first, side=side) for side in ("left", "right"))
    return np.asarray((of_first * (below[:, less] + below[:, most])).sum(axis=1) / 2)


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


class CostUnits(IndependentUnits):
    """Two families at a few budgets of trials and, as a last node, the difference of their mean costs."""

    def __init__(self, samples: Sequence[Sample], costs: Sequence[FloatArray]) -> None:
        self.costs, self.sizes = costs, tuple(sample.n_trials for sample in samples)
        budgets = np.unique(np.geomspace(1, half_of(*self.sizes), 4).astype(np.int64))
        self.trials = TrialUnits([Sample(sample.selection, sample.claimed) for sample in samples], budgets)
        self.nodes = np.append(budgets, 2 * max(self.sizes))  # the cost stands beyond the last budget
        self.order = {0: 0, 1: 1}
        both, spent = pooled(samples), np.concatenate(costs)
        self._spent = (spent - spent.mean())[np.lexsort((both.claimed, both.selection))]

    def inside(self, families: Families) -> int:  # noqa: ARG002
        """All nodes."""
        return self.nodes.size

    def observed(self, pair: Pair, n: IntArray) -> FloatArray:
        """|t| of the curves, and the difference of the mean costs."""
        return np.append(np.abs(self.trials.evidence(pair, n[:-1]).t), abs(self.costs[0].mean() - self.costs[1].mean()))

    def curves(self, families: Families, k: int, labels: Labels) -> tuple[Sequence[FloatArray], Sequence[FloatArray]]:
        """The curves, and mean costs, which are not studentised."""
        values, variances = self.trials.curves(families, k - 1, labels)
        cost = [(labels == place) @ self._spent / self.sizes[f] for place, f in enumerate(families)]
        half = np.full((1, labels.shape[0]), 0.5)
        with_cost = [np.concatenate([curve, spent[None]]) for curve, spent in zip(values, cost, strict=True)]
        return with_cost, [np.concatenate([variance, half]) for variance in variances]


def joint_p(samples: Sequence[Sample], costs: Sequence[FloatArray], level: float) -> float:
    """The p-value that score and cost of two families have one distribution; 1 where no exchange reaches ``level``."""

    def content(f: int) -> tuple[int, float, float]:
        return samples[f].n_trials, float(costs[f].mean()), float(samples[f].claimed.mean())

    held = sorted(range(2), key=content)
    units, pair = CostUnits([samples[f] for f in held], [costs[f] for f in held]), (0, 1)
    test = Exchange(units, pair, units.nodes, units.observed(pair, units.nodes)[None], level)
    return float(test.p_values().min())
