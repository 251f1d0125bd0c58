"""What each of many trials adds to the best of n: linear in the trials where n is a hundredth of them and less.

An influence is a sum of gaps between scores, times weights that hardly change from rank to rank. So below the head
neighbours in rank are taken together: two of them stand for all, with the mean, variance and skewness of their scores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest.stats.best import weights_below

_FINENESS = 4096  # a trial d places from the nearer end is taken together with d / 4096 neighbours


@dataclass(frozen=True, eq=False)
class Influences:
    """What each trial adds to the estimate at each node that is linear, and its square: (quantity, trial), mean 0."""

    head: FloatArray
    """Of the best trials."""
    rest: Rest
    """Of all others."""
    whole: FloatArray
    """Sums over all trials."""

    @property
    def size(self) -> int:
        """How many nodes."""
        return self.whole.size // 2

    @classmethod
    def of(cls, values: FloatArray, nodes: IntArray, depth: int) -> Influences:
        """Jackknife influences of trials given best first: leaving out rank i not i + 1 moves w'_i times the gap."""
        m, linear, below = values.size, nodes.size, _Below.of(values, depth)
        head, rest = np.empty((2 * linear, depth)), np.empty((2 * linear, below.counts.size))
        gaps = -np.diff(values[: depth + 1])
        for at, n in enumerate(nodes.tolist()):
            near = np.concatenate([[0.0], np.cumsum(weights_below(m - 1, n, np.arange(float(depth)), "u") * gaps)])
            top, far = near[:depth], near[depth] + below.fallen(n)
            mean = (top.sum() + below.counts @ far) / m
            for place in (at, linear + at):
                head[place], rest[place] = (m - 1) * (mean - top), (m - 1) * (mean - far)
            head[linear + at] **= 2
            rest[linear + at] **= 2
        return cls(head, Rest.of(rest, below.counts), head.sum(axis=1) + rest @ below.counts)


@dataclass(frozen=True, eq=False)
class _Below:
    """The trials below the head, best first, in groups of neighbours: of each two scores with how many have them.

    With these counts they have the mean, the variance and the skewness of the group.
    """

    n_trials: int
    starts: IntArray
    """The first rank of each group."""
    drop: FloatArray
    """By how much the first score of the next group is lower, in two parts: (as the first trial, as the next one)."""
    lower: FloatArray
    """By how much both scores are lower than the group's first: (score, group)."""
    counts: FloatArray
    """Of both scores, one after the other as in ``fallen``."""

    @classmethod
    def of(cls, values: FloatArray, depth: int) -> _Below:
        """Below the best ``depth`` of all trials."""
        m = values.size
        first = _group_starts(depth, m)
        sizes = np.diff(first, append=m)
        under = np.repeat(values[first], sizes) - values[depth:]
        mean = np.add.reduceat(under, first - depth) / sizes
        under -= np.repeat(mean, sizes)
        spread = np.sqrt(np.add.reduceat(np.square(under), first - depth) / sizes)
        under /= np.repeat(np.where(spread > 0, spread, 1.0), sizes)
        skew = np.add.reduceat(under**3, first - depth) / sizes
        # Two points with these moments lie at the roots of x^2 - skew x - 1, in units of the spread.
        away = np.sqrt(1 + skew**2 / 4)
        share = 0.5 - skew / (4 * away)
        lower = mean + spread * np.stack([skew / 2 + away, skew / 2 - away])
        whole = np.append(values[first[:-1]] - values[first[1:]], 0.0)
        late = whole * (sizes - 1) / sizes - mean  # what weights that change evenly give to the gaps near its end
        drop = np.stack([whole - late, late])
        return cls(m, first, drop, lower, (sizes * np.stack([share, 1 - share])).ravel())

    def fallen(self, n: int) -> FloatArray:
        """Sums of weights times gaps from the first trial on, at both scores of every group."""
        ranks = np.minimum(np.append(self.starts, self.n_trials), self.n_trials - 2)
        weights = weights_below(self.n_trials - 1, n, ranks.astype(np.float64), "u")
        sums = np.cumsum(weights[:-1] * self.drop[0] + weights[1:] * self.drop[1])
        within = (weights[:-1] + weights[1:]) / 2 * self.lower
        return np.asarray(np.concatenate([[0.0], sums[:-1]]) + within).ravel()


def _group_starts(depth: int, n_trials: int) -> IntArray:
    """The first rank of each group from ``depth`` on: single trials near both ends, more in between."""
    half = n_trials // 2
    stretches = [np.arange(k * _FINENESS, (k + 1) * _FINENESS, k) for k in range(1, half // _FINENESS + 1)]
    from_end = np.concatenate([np.arange(_FINENESS), *stretches])
    near = from_end[from_end <= half]
    starts = np.union1d(near, n_trials - near[near > 0])
    return np.union1d(starts[starts > depth], [depth])


@dataclass(frozen=True)
class Rest:
    """Sums over draws from many trials, which are normal."""

    mean: FloatArray
    root: FloatArray
    size: int

    @classmethod
    def of(cls, columns: FloatArray, counts: FloatArray) -> Rest:
        """From (quantity, score), and how many trials have the score."""
        size = round(counts.sum())
        mean = columns @ counts / size
        about = columns - mean[:, None]
        _, power = np.frexp(np.abs(about).max(axis=1, initial=0.0))  # of a diverged score squares do not exist
        about = np.ldexp(about, -power[:, None])
        spread = np.sqrt(np.square(about) @ counts / size)
        about /= np.where(spread > 0, spread, 1.0)[:, None]  # or would hide all others
        variances, axes = np.linalg.eigh((about * (counts / size)) @ about.T)
        return cls(mean, np.ldexp(spread, power)[:, None] * axes * np.sqrt(np.maximum(variances, 0)), size)

    def sums(self, count: FloatArray, spread: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Over ``count`` draws, their variance that of ``spread`` independent ones: (draw, quantity)."""
        noise = rng.standard_normal((count.size, self.mean.size)) @ self.root.T
        return np.asarray(count[:, None] * self.mean + np.sqrt(spread)[:, None] * noise)
