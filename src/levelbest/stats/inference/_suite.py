"""Tests for exactly these problems: samples are permuted and resampled within each problem.

The question is about exactly these problems; only the samples vary. Under equal distributions a problem's samples are
exchanged between the systems, all problems together. For 0/1 scores at n = 1, with as many samples of every problem,
this is the conditional test of Cochran, Mantel and Haenszel; other scores, budgets and counts have no other test.

A system's mean over problems varies by the jackknife variances of its problems, which add. Random weights of the
samples of each problem, taken to that variance, draw it; a sample that was not observed, of one problem or another, may
change the mean either way by what a single sample weighs. With every sample alike these are the limits of Clopper and
Pearson for all samples together. A problem with a single sample has no variance of its own: it has its squared distance
from the mean of all problems, which is larger.

Over problems a mean varies by the samples and by the choice of problems, so that limits over problems also hold for
exactly these. With one sample of each problem, which tells nothing about the variance within problems, they are the
only ones, and the two exchanges are the same.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from copy import copy
from itertools import combinations

import numpy as np
import scipy

from levelbest._check import Bounds, FloatArray, IntArray
from levelbest.stats.inference._draws import N_DRAWS, Draws, normal_sums
from levelbest.stats.inference._hypotheses import VERDICTS, Pair
from levelbest.stats.inference._macro import MacroUnits
from levelbest.stats.inference._means import DOMINATES, SignUnits
from levelbest.stats.inference._samples import ProblemSamples
from levelbest.stats.inference._trials import effective_freedom
from levelbest.stats.inference._units import Evidence, Families, IndependentUnits, Units, satterthwaite

TaskShares = tuple[IntArray, FloatArray]
_DRAWN_AT_ONCE = 1 << 22
_TO_MEASURE = 256
"""Permutations of each problem that measure what its exchange adds to the variance."""


class SuiteUnits(IndependentUnits):
    """Samples within problems that stand for themselves, exchanged within each problem.

    Parameters
    ----------
    samples
        Of each system, on the same problems and at the same budgets.
    weights
        Of the problems; None: all alike.
    tasks
        The task of each problem, as a code, and the share of each task; None: problems are not divided.
    """

    by_t = False

    def __init__(
        self, samples: Sequence[ProblemSamples], weights: FloatArray | None = None, tasks: TaskShares | None = None
    ) -> None:
        self.samples, self.nodes, self._given = samples, samples[0].n, (weights, tasks)
        each = np.ones(samples[0].sizes.size) if weights is None else weights
        self.weights = each / each.sum()
        self.sizes = tuple(int(system.sizes.sum()) for system in samples)
        held = sorted(range(len(samples)), key=lambda f: (self.sizes[f], samples[f].values.tobytes()))
        self.order = {f: place for place, f in enumerate(held)}
        self.range = self._range(tuple(range(len(samples))))
        self._curves: dict[int, tuple[FloatArray, FloatArray, FloatArray]] = {}
        self._known: dict[Families, tuple[FloatArray, float]] = {}
        self._shaken_means: dict[tuple[int, int], tuple[FloatArray, FloatArray]] = {}

    def furthest(self, f: int) -> int:
        """Half the samples of the problem that has fewest, and 1 at the least."""
        return max(1, int(self.samples[f].sizes.min()) // 2)

    def reach(self, families: Families) -> int:
        """Of the system that reaches least: past it none of a set is exchanged."""
        return min(self.furthest(f) for f in families)

    def counts(self, f: int) -> Hashable:
        """Of every problem."""
        return self.samples[f].sizes.tobytes()

    def fewest(self, n: int) -> int:
        """Twice the budget of every problem."""
        return max(3, 2 * n * int(self.weights.size))

    def at(self, n: int) -> SuiteUnits:
        """The same samples at one budget."""
        return SuiteUnits([system.at(np.array([n])) for system in self.samples], *self._given)

    def measured(self, pair: Pair) -> Units:
        """The problems, where each has one sample of both systems; the samples within problems everywhere else."""
        if not all((self.samples[f].sizes == 1).all() for f in pair):
            of_pair = self._range(pair)
            if of_pair == self.range:
                return self
            within: SuiteUnits = copy(self)  # what was not observed lies within the range of these two alone
            within.range, within._curves, within._shaken_means = of_pair, {}, {}
            return within
        (weights, tasks), k = self._given, self.inside(pair)
        first, second = (self.samples[f].values[:, :k] for f in pair)
        if tasks is None:
            return SignUnits([first - second], [pair], self.nodes[:k], weights)
        return MacroUnits([first - second], [pair], self.nodes[:k], weights, None, *tasks)

    def _range(self, families: Families) -> float:
        """From the lowest to the highest score of some systems."""
        samples = [self.samples[f] for f in families]
        return max(system.highest for system in samples) - min(system.lowest for system in samples)

    def curve(self, f: int, n: IntArray) -> Evidence:
        """One system's mean over problems."""
        places = np.searchsorted(self.nodes, n)
        value, variance, freedom = self._moments(f)
        return Evidence(value[places], np.sqrt(variance[places]), freedom[places])

    def _moments(self, f: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Mean, squared error and degrees of freedom at every budget."""
        if f not in self._curves:
            system, k = self.samples[f], self.nodes.size
            value = self.weights @ system.values
            variances = np.zeros((self.weights.size, k))
            for cut, (counts, off) in system.deviations():
                m = system.sizes[cut, None]
                squares = np.einsum("pc,pcn->pn", counts, np.square(off))
                variances[cut] = np.where(m > 1, squares / np.maximum(m * (m - 1), 1), self._alone(f)[cut])
            parts = np.square(self.weights)[:, None] * variances
            total = parts.sum(axis=0)
            sizes, kind = np.unique(system.sizes, return_inverse=True)
            freedom = np.stack([effective_freedom(int(m), np.minimum(self.nodes, m)) for m in sizes])[kind.ravel()]
            with np.errstate(divide="ignore", invalid="ignore"):
                df = np.where(total > 0, 1 / np.sum(np.square(parts / total) / freedom, axis=0), freedom.min(axis=0))
            single = self.weights[:, None] * self.range * np.minimum(self.nodes / system.sizes[:, None], 1.0)
            self._curves[f] = value, np.maximum(total, np.square(single).max(axis=0)), df
        return self._curves[f]

    def _alone(self, f: int) -> FloatArray:
        """The squared distance of every problem from the mean of all: for those with one sample."""
        values = self.samples[f].values
        return np.asarray(np.square(values - self.weights @ values))

    def evidence(self, pair: Pair, n: IntArray) -> Evidence:
        """The difference of the means."""
        first, second = (self.curve(f, n) for f in pair)
        variances = np.square(first.error), np.square(second.error)
        freedom = satterthwaite(variances, (first.freedom, second.freedom))
        return Evidence(first.difference - second.difference, np.sqrt(sum(variances)), freedom)

    def estimate(self, pair: Pair, n: IntArray) -> FloatArray:
        """Over the problems of which both have so many samples."""
        first, second = (self.samples[f].values[:, np.searchsorted(self.nodes, n)] for f in pair)
        both = first - second
        mass = ~np.isnan(both) * self.weights[:, None]
        with np.errstate(invalid="ignore"):
            return np.asarray(np.nansum(both * self.weights[:, None], axis=0) / mass.sum(axis=0))

    def observed(self, pair: Pair, n: IntArray) -> FloatArray:
        """The difference over its standard deviation under exchange, which no exchange changes."""
        scale = self._scale(pair)[np.searchsorted(self.nodes, n)]
        return np.asarray(np.abs(self.estimate(pair, n)) / np.where(scale > 0, scale, np.inf))

    def _scale(self, pair: Pair) -> FloatArray:
        k = self.inside(pair)
        return np.sqrt(np.diag(self._exchange_covariance(tuple(sorted(pair, key=self.order.__getitem__)))[0])[:k])

    def _exchange_covariance(self, families: Families) -> tuple[FloatArray, float]:
        """Of the differences of all pairs of families at their nodes under exchange; the largest share of a problem."""
        if families not in self._known:
            k, first, *others = self.inside(families), *(self.samples[f] for f in families)
            rng = np.random.default_rng([VERDICTS, len(families)])
            pairs = list(combinations(range(len(families)), 2))
            total, largest = np.zeros((len(pairs) * k, len(pairs) * k)), np.zeros(len(pairs) * k)
            for cut, values in first.contributions(others, _TO_MEASURE, k, rng):
                apart = np.concatenate([values[a] - values[b] for a, b in pairs], axis=2)
                apart = (apart - apart.mean(axis=0)) * self.weights[cut][:, None]
                total += np.einsum("rpn,rpm->nm", apart, apart) / (_TO_MEASURE - 1)
                largest = np.maximum(largest, np.square(apart).mean(axis=0).max(axis=0))
            spread = np.diag(total)
            share = float((largest / np.where(spread > 0, spread, np.inf)).max())
            self._known[families] = total, share
        return self._known[families]

    def assignments(self, families: Families) -> float:
        """Of the problems whose samples are not all alike, together."""
        first, *others = (self.samples[f] for f in families)
        varies = first.varies(others)
        sizes = np.stack([system.sizes[varies] for system in (first, *others)])
        gammaln = scipy.special.gammaln
        logs = float((gammaln(sizes.sum(axis=0) + 1) - gammaln(sizes + 1).sum(axis=0)).sum())
        return round(np.exp(logs)) if logs < 30 else float(np.exp(min(logs, 700.0)))

    def exchanged(self, families: Families, size: int | None, rng: np.random.Generator) -> FloatArray:
        """Differences with every problem's samples exchanged, over their standard deviation."""
        order = tuple(sorted(families, key=self.order.__getitem__))
        places = [order.index(f) for f in families]
        pairs, k = list(combinations(places, 2)), self.inside(families)
        means = self._all(order, k) if size is None else self._drawn(order, size, k, rng)
        out = []
        for (a, b), pair in zip(pairs, combinations(families, 2), strict=True):
            scale = self._scale(pair)[:k]
            out.append(np.abs(means[a] - means[b]).T / np.where(scale > 0, scale, np.inf)[:, None])
        return np.stack(out)

    def _all(self, families: Families, k: int) -> FloatArray:
        """Weighted means of every assignment: (family, assignment, node)."""
        first, *others = (self.samples[f] for f in families)
        varies = first.varies(others)
        fixed = np.stack([self.weights[~varies] @ self.samples[f].values[~varies, :k] for f in families])
        means = fixed[:, None]
        for problem in np.flatnonzero(varies).tolist():
            more = self.weights[problem] * first.assigned(others, problem, k)
            means = (means[:, :, None] + more[:, None]).reshape(len(families), -1, k)
        return means

    def _drawn(self, families: Families, size: int, k: int, rng: np.random.Generator) -> FloatArray:
        covariance, share = self._exchange_covariance(families)
        if len(families) == 2 and share <= DOMINATES:
            drawn = normal_sums(covariance, size, rng)
            return np.stack([drawn, np.zeros_like(drawn)])
        first, *others = (self.samples[f] for f in families)
        means = np.zeros((len(families), size, k))
        for cut, values in first.contributions(others, size, k, rng):
            means += np.einsum("frpn,p->frn", values, self.weights[cut])
        return means

    def family_draws(self, f: int, bounds: Bounds = (None, None), stream: int = 0) -> Draws:
        """Of one system's mean over problems, at the nodes within its reach."""
        if (f, stream) not in self._shaken_means:
            k, rng = self.inside((f,)), np.random.default_rng([VERDICTS, stream])
            middle = self._moments(f)[0][:k] + self._weighted(f, k, rng)
            effective = 1 / np.sum(np.square(self.weights) / self.samples[f].sizes)
            self._shaken_means[f, stream] = middle, 1 - (1 - rng.beta(1.0, effective, (N_DRAWS, 1))) ** self.nodes[:k]
        middle, further = self._shaken_means[f, stream]  # the same draws within any bounds
        worst, best = bounds
        apart = further * (self.range if worst is None or best is None else best - worst)
        return Draws((middle - apart).T, (middle + apart).T)

    def _weighted(self, f: int, k: int, rng: np.random.Generator) -> FloatArray:
        """Deviations of the mean under random weights of the samples: (draw, node)."""
        system, alone = self.samples[f], np.sqrt(self._alone(f))[:, :k]
        out, covariance, largest = np.zeros((N_DRAWS, k)), np.zeros((k, k)), 0.0
        limit = self.weights.size >= 1 / DOMINATES
        for cut, (counts, off) in system.deviations():
            m = system.sizes[cut]
            moved = np.where((m > 1)[:, None, None], off[:, :, :k], alone[cut, None])
            moved *= self.weights[cut, None, None]
            if limit:
                shares = counts / np.maximum(m * (m - 1), 1)[:, None]
                covariance += np.einsum("pc,pcn,pcm->nm", shares, moved, moved)
                largest = max(largest, float(np.einsum("pc,pcn->pn", shares, np.square(moved)).max()))
                continue
            out += _shaken(counts, moved, m, rng)
        if not limit:
            return out
        if largest <= DOMINATES * float(np.diag(covariance).min()):
            return normal_sums(covariance, N_DRAWS, rng)
        for cut, (counts, off) in system.deviations():
            moved = np.where((system.sizes[cut] > 1)[:, None, None], off[:, :, :k], alone[cut, None])
            out += _shaken(counts, moved * self.weights[cut, None, None], system.sizes[cut], rng)
        return out

    def variances(self, pair: Pair, n: int) -> tuple[float, float]:
        """Of the two means."""
        first, second = (float(self.curve(f, np.array([n])).error[0]) ** 2 for f in pair)
        return first, second


def _shaken(counts: FloatArray, moved: FloatArray, sizes: IntArray, rng: np.random.Generator) -> FloatArray:
    """Sums over problems of deviations under random weights of the samples of each: (draw, node)."""
    out = np.zeros((N_DRAWS, moved.shape[2]))
    step = max(1, _DRAWN_AT_ONCE // (N_DRAWS * counts.shape[1]))
    single = bool((counts == 1).all())
    for start in range(0, counts.shape[0], step):
        some = slice(start, start + step)
        m, shape = sizes[some], (N_DRAWS, *counts[some].shape)
        drawn = rng.standard_exponential(shape) if single else rng.standard_gamma(np.broadcast_to(counts[some], shape))
        sums = np.einsum("dpc,pcn->dpn", drawn, moved[some])
        # the mean of m samples with such weights has a variance that is too small by (m - 1) / (m + 1)
        wide = np.sqrt((m + 1) / np.maximum(m - 1, 1)) / drawn.sum(axis=2)
        alone = np.einsum("pc,pcn->pn", counts[some], moved[some])
        out += np.where((m > 1)[:, None], wide[:, :, None] * sums, sums - alone).sum(axis=1)
    return out
