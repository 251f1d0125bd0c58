"""Trials as units: the curve of the best of n.

A difference at budget n is studentised by the jackknife. No standard error is below that of the rounding of the scores
(`rounding_variance`), so that a family whose best scores tie has a large t and not an infinite one. Families above
`LARGE` trials are compressed (`_large`): only their best trials are permuted one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import scipy

from levelbest._check import Bounds, FloatArray, IntArray
from levelbest.stats.bands import Ranked, statistic_draws
from levelbest.stats.best import Mean, Sample, Statistic, best_statistic, weight_squares
from levelbest.stats.inference._draws import Draws, curve_draws
from levelbest.stats.inference._hypotheses import VERDICTS, Pair
from levelbest.stats.inference._large import (
    LARGE,
    LargeSide,
    PooledHeads,
    PooledReports,
    estimate_below,
    large_side,
)
from levelbest.stats.inference._power import LEAST_FREEDOM
from levelbest.stats.inference._units import (
    MOST_NODES,
    Evidence,
    Families,
    IndependentUnits,
    Labels,
    across,
    nodes_of,
    root_of_cubes,
    rounding_variance,
    satterthwaite,
)

REPORTED_LEAST = 10
# NOTE: a verdict on a reported score ends at the budget whose effective count of trials, 1 / sum of squared weights
# (about 2 m / n), falls below this. A lower number compares further, and names a winner in more of the samples in which
# a reported score collapses in a tenth of the trials (docs/coverage-verdicts.md, "Reported scores that collapse").
_ALL_ERRORS = 1 << 22
"""Up to so many (budget, trial) cells every budget has a standard error of its own."""


_weight_squares = lru_cache(maxsize=1 << 16)(weight_squares)


def half_of(*n_trials: int) -> int:
    """The largest budget compared: half the trials of the smaller family."""
    return min(n_trials) // 2


def reach_of(sample: Sample) -> int:
    """The largest budget at which a family is compared: half its trials, less where another score is reported."""
    half = half_of(sample.n_trials)
    if sample.reported is None or half < 2:
        return half
    low, high = 1, half
    while low < high:  # the sum of squared weights grows with n
        middle = (low + high + 1) // 2
        enough = _weight_squares(sample.n_trials, middle) <= 1 / REPORTED_LEAST
        low, high = (middle, high) if enough else (low, middle - 1)
    return low


_SHOWS = 1e4
"""Times the variance of rounding: no squared standard error above it is changed by it, nor one of exchanged units."""


@dataclass(frozen=True, eq=False)
class Side:
    """One family's trials at its nodes."""

    sample: Sample
    ranked: Ranked
    floor: FloatArray
    """The variance that rounding alone gives each node's estimate."""

    @property
    def best(self) -> float:
        """What the best trial reports."""
        return self.ranked.offset

    @cached_property
    def third(self) -> FloatArray:
        """The cube root of the estimate's third moment at each node, by the jackknife."""
        return -(1 - 1 / self.sample.n_trials) * root_of_cubes(self.ranked.leave_one_out(), axis=1)

    def at(self, n: IntArray) -> tuple[FloatArray, FloatArray]:
        """The estimate, less `best`, and its squared standard error at any budgets up to the last node."""
        sample, nodes = self.sample, self.ranked.n
        if n.size * sample.n_trials <= _ALL_ERRORS:
            every = Ranked(sample.selection, n, sample.reported)
            return every.estimate - self.best, np.maximum(np.square(every.error), across(n, nodes, self.floor))
        variance = np.maximum(np.square(self.ranked.error), self.floor)
        with np.errstate(divide="ignore"):
            return estimate_below(sample, self.best, n), np.exp(across(n, nodes, np.log(variance)))


class TrialUnits(IndependentUnits):
    """Trials of independent families.

    Parameters
    ----------
    samples
        Scores of each family, turned so that higher is better.
    nodes
        Budgets at which trials are permuted, increasing.
    statistic
        Of the best of n: its mean is studentised, others are measured by their permutations alone.
    task
        The number of the task that the trials are of, where there are several: tasks are drawn independently.
    """

    compressed = True
    """Whether of more than `LARGE` trials only the best are permuted one by one."""

    def __init__(
        self, samples: Sequence[Sample], nodes: IntArray, statistic: Statistic | None = None, task: int | None = None
    ) -> None:
        self.samples, self.nodes, self.task = samples, nodes, task
        self.statistic = Mean() if statistic is None else statistic
        self.studentised = isinstance(self.statistic, Mean)
        self.sizes = tuple(sample.n_trials for sample in samples)
        held = sorted(range(len(samples)), key=lambda f: content(samples[f]))
        self.order = {f: place for place, f in enumerate(held)}
        self._reach = [reach_of(sample) for sample in samples]
        self._at: dict[tuple[int, bytes], tuple[FloatArray, FloatArray]] = {}
        self._pools: dict[Families, list[Ranked]] = {}
        self._heads: dict[Families, PooledHeads | PooledReports] = {}
        self._draws: dict[tuple[int, Bounds, int], Draws] = {}

    @cached_property
    def rounding(self) -> float:
        """The variance that rounding alone gives a score."""
        return rounding_variance(np.concatenate([sample.claimed for sample in self.samples]))

    @cached_property
    def sides(self) -> list[Side | LargeSide]:
        """Each family at its nodes."""
        return [self._side(sample, reach) for sample, reach in zip(self.samples, self._reach, strict=True)]

    def _side(self, sample: Sample, reach: int) -> Side | LargeSide:
        nodes = self.nodes[self.nodes <= max(reach, 1)]
        if self.compressed and sample.n_trials > LARGE:
            return large_side(sample, nodes, self.rounding)
        ranked = Ranked(sample.selection, nodes, sample.reported)
        return Side(sample, ranked, self.rounding * np.square(ranked.weights).sum(axis=1))

    def furthest(self, f: int) -> int:
        """Half of its trials, less for reported scores."""
        return self._reach[f]

    def foreseen(self, pair: Pair) -> int:
        """A quarter of the trials of the smaller family: further out its best trials are too few to know them."""
        return max(1, min(self.reach(pair), min(self.sizes[f] for f in pair) // 4))

    def fewest(self, n: int) -> int:
        """Twice the budget."""
        return max(3, 2 * n)

    def at(self, n: int) -> TrialUnits:
        """The same trials at one budget."""
        return type(self)(self.samples, np.array([n]), self.statistic, self.task)

    def without_others(self, pair: Pair, n: IntArray, headline: int | None) -> tuple[TrialUnits, Pair]:
        """Two families with nodes, and steps of rounding, that no other family changes."""
        nodes = nodes_alone(self.statistic, n, headline)
        alone = type(self)([self.samples[f] for f in pair], nodes, self.statistic, self.task)
        paired = self.exchange == "swaps"  # whose order is one of all families
        if paired or not np.array_equal(nodes, self.nodes[: self.inside(pair)]) or self._rounds(pair, alone.rounding):
            return alone, (0, 1)
        return self, pair

    def _rounds(self, pair: Pair, rounding: float) -> bool:
        """Whether this rounding, and not that of all families, would show in a standard error."""
        for side in (self.sides[f] for f in pair):
            if rounding != self.rounding and isinstance(side, Side):
                least = rounding * np.square(side.ranked.weights).sum(axis=1)
                if (np.square(side.ranked.error) < _SHOWS * least).any():
                    return True
        return False

    def side_at(self, f: int, n: IntArray) -> tuple[FloatArray, FloatArray]:
        """One family's estimate, less its best, and squared standard error at any budgets: once for all its pairs."""
        key = f, n.tobytes()
        if key not in self._at:
            self._at[key] = self.sides[f].at(n)
        return self._at[key]

    def curve(self, f: int, n: IntArray) -> Evidence:
        """One family's curve, with its standard error and effective degrees of freedom."""
        value, variance = self.side_at(f, n)
        return Evidence(self.sides[f].best + value, np.sqrt(variance), effective_freedom(self.sizes[f], n))

    def evidence(self, pair: Pair, n: IntArray) -> Evidence:
        """Differences of the curves."""
        if not self.studentised:
            difference = self.estimate(pair, n)
            return Evidence(difference, np.ones(n.size), np.full(n.size, np.inf))
        (a, va), (b, vb) = (self.side_at(f, n) for f in pair)
        # Where both have reached the same best score, only what is left to it tells them apart, however little.
        difference = (a - b) + (self.sides[pair[0]].best - self.sides[pair[1]].best)
        freedoms = [effective_freedom(self.sizes[f], n) for f in pair]
        return Evidence(difference, np.sqrt(va + vb), satterthwaite((va, vb), freedoms))

    def skew(self, pair: Pair) -> FloatArray:
        """Third moments of independent families add up, with the sign of their place in the difference."""
        first, second = (self.sides[f].third[: self.inside(pair)] for f in pair)
        return root_of_cubes(np.stack([first, -second]))

    def estimate(self, pair: Pair, n: IntArray) -> FloatArray:
        """Up to all trials of the smaller family."""
        out = np.full(n.size, np.nan)
        known = n <= min(self.sizes[f] for f in pair)
        if known.any():
            first, second = (
                np.asarray(best_statistic(sample.selection, n[known], sample.reported, statistic=self.statistic.name))
                for sample in (self.samples[f] for f in pair)
            )
            out[known] = first - second
        return out

    def curves(self, families: Families, k: int, labels: Labels) -> tuple[Sequence[FloatArray], Sequence[FloatArray]]:
        """Each family's curve of the pooled trials that it was assigned, labels being in rank order."""
        if families not in self._pools:
            both = pooled([self.samples[f] for f in families])
            halves = [self.nodes[:k][self.nodes[:k] <= half_of(self.sizes[f])] for f in families]
            self._pools[families] = [
                Ranked(both.selection, nodes, both.reported, size=self.sizes[f])
                for nodes, f in zip(halves, families, strict=True)
            ]
        values, variances = [], []
        for place, ranked in enumerate(self._pools[families]):
            chosen = labels == place
            if not self.studentised:
                values.append(statistic_draws(ranked, self.statistic, chosen))
                variances.append(np.full(values[-1].shape, 0.5))
                continue
            value, error = ranked.resampled(chosen, errors=True)
            floor = self.rounding * np.square(ranked.weights).sum(axis=1)
            values.append(value)
            variances.append(np.maximum(np.square(error), floor[:, None]))
        return values, variances

    def heads(self, families: Families) -> PooledHeads | PooledReports | None:
        """The best trials of two large families; of statistics of another score, cells of all of them."""
        ordered = sorted(families, key=lambda f: (self.sizes[f], self.order[f]))
        if len(families) != 2 or self.sizes[ordered[0]] <= LARGE:
            return None
        if families not in self._heads:
            k, samples = self.inside(families), [self.samples[f] for f in ordered]
            if not self.studentised:
                if any(sample.reported is None for sample in samples):
                    return None
                self._heads[families] = PooledReports(samples, self.nodes[:k], self.statistic)
                return self._heads[families]
            first, second = (self.sides[f] for f in ordered)
            if isinstance(first, LargeSide) and isinstance(second, LargeSide):
                self._heads[families] = PooledHeads(first, second, k)
        return self._heads.get(families)

    def family_draws(self, f: int, bounds: Bounds = (None, None), stream: int = 0) -> Draws:
        """Of one family's curve, at the nodes within its reach."""
        if (f, bounds, stream) not in self._draws:
            rng = np.random.default_rng([VERDICTS, stream] if self.task is None else [VERDICTS, stream, self.task])
            nodes = self.nodes[: max(self.inside((f,)), 1)]
            self._draws[f, bounds, stream] = curve_draws(self.samples[f], nodes, self.statistic, rng, bounds)
        return self._draws[f, bounds, stream]

    def variances(self, pair: Pair, n: int) -> tuple[float, float]:
        """Of the two estimates."""
        first, second = (float(self.side_at(f, np.array([n]))[1][0]) for f in pair)
        return first, second

    def effective(self, pair: Pair, n: int) -> float:
        """All trials, or m / n of a reported score."""
        sizes = (self.sizes[f] / (n if self.samples[f].reported is not None else 1) for f in pair)
        return max(1.0, min(sizes))


def statistic_nodes(statistic: Statistic, n: IntArray, also: Collection[int]) -> IntArray:
    """Nodes of budgets: quantiles leap from one to the next, so that all of them are, up to 200."""
    return nodes_of(n, sorted(also), most=None if isinstance(statistic, Mean) else MOST_NODES)


def nodes_alone(statistic: Statistic, n: IntArray, headline: int | None) -> IntArray:
    """Of two families whose budgets these are."""
    named = {headline} if headline is not None and headline <= n[-1] else set()
    return statistic_nodes(statistic, n, {int(n[-1])} | named)


def effective_freedom(n_trials: int, n: IntArray) -> FloatArray:
    """1 / sum of squared weights - 1: what the best of n really rests on."""
    squares = np.array([_weight_squares(n_trials, int(budget)) for budget in n])
    return np.maximum(1 / squares - 1, LEAST_FREEDOM)


def student_p(t: FloatArray, freedom: FloatArray) -> FloatArray:
    """Two-sided p-values of Student's t; a normal one where the degrees of freedom are infinite."""
    finite = np.where(np.isfinite(freedom), freedom, 1.0)
    tail = np.where(np.isfinite(freedom), scipy.special.stdtr(finite, -np.abs(t)), scipy.special.ndtr(-np.abs(t)))
    return np.asarray(2 * tail)


def pooled(samples: Sequence[Sample]) -> Sample:
    """The trials of all, one family after the other."""
    selection = np.concatenate([sample.selection for sample in samples])
    if all(sample.reported is None for sample in samples):
        return Sample(selection)
    return Sample(selection, np.concatenate([sample.claimed for sample in samples]))


def content(sample: Sample) -> tuple[int, float, bytes]:
    """What puts families into an order of their own, in any unit and however they were given."""
    ordered = sample.ordered()
    scores = np.concatenate([ordered.selection, ordered.claimed])
    return sample.n_trials, float(ordered.claimed.mean()), scores.tobytes()
