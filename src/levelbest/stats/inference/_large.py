"""Families of many trials: permutations that touch only the trials that decide.

The best of n of m trials hardly depends on more than the `_CARRY` m / n best of them. So of a family only a *head* of
its best trials is drawn one by one; all draws that fall below it, thousands, enter through their sums, which are
normal. At budgets that the head carries whole, the curve and its jackknife error are those of the drawn head, exactly;
at smaller budgets, a hundredth of the trials and less, the curve is linear in the draws: the sum of their influences,
with the error that these have. Below `LARGE` trials every trial is permuted (`_trials`), and the two agree; but
trials that tie in the selection score and report different ones share a win there, and have an order here, which widens
limits by a quarter where a score has 20 levels, and hardly where it has 100.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest.stats.bands import Ranked, statistic_draws
from levelbest.stats.best import Sample, Statistic, expected_best, weight_squares, weights_below
from levelbest.stats.inference._draws import in_pieces
from levelbest.stats.inference._influences import Influences
from levelbest.stats.inference._units import across

LARGE = 1_500
# NOTE: of larger families only the trials that decide are permuted one by one, the others enter through sums. It trades
# time for the normal approximation of those sums (docs/coverage-verdicts.md, 1,600 against 6,000 trials).
HEAD = 1_000
_CARRY, _NOTHING_BELOW = 14.0, 24.0
"""Trials, in units of m / n, below which the best of n is found once in a million times, or never."""
_ASSIGNMENTS_AT_ONCE = 250


@dataclass(frozen=True, eq=False)
class LargeSide:
    """One family of many trials at its nodes, best first."""

    sample: Sample
    nodes: IntArray
    values: FloatArray
    """Reported scores less that of the best trial, best first."""
    linear: Influences
    """The nodes whose estimates are sums over the trials."""
    floor: FloatArray
    """The least squared standard errors at the nodes."""
    digit: float
    """The last digit of a step between scores: smaller differences count as 0."""

    @property
    def n_trials(self) -> int:
        """How many trials there are."""
        return self.sample.n_trials

    @cached_property
    def variance(self) -> FloatArray:
        """Squared standard errors at the nodes."""
        linear = self.linear.whole[self.linear.size :] / self.n_trials**2
        top = self._top.variances(self.values[None, : _deep(HEAD)])[:, 0]
        squares: FloatArray = np.maximum(np.concatenate([linear, top]), self.floor)
        return squares

    @cached_property
    def _top(self) -> _Top:
        return _Top.of(self.n_trials, self.nodes[self.linear.size :], _deep(HEAD))

    @property
    def best(self) -> float:
        """What the best trial reports."""
        return float(self.sample.ordered().claimed[-1])

    @property
    def third(self) -> FloatArray:
        """The cube root of the third moment at each node: negligible beside that of a small family."""
        return np.zeros(self.nodes.size)

    def at(self, n: IntArray) -> tuple[FloatArray, FloatArray]:
        """The estimate, less `best`, and its squared standard error at any budgets up to the last node."""
        with np.errstate(divide="ignore"):
            return estimate_below(self.sample, self.best, n), np.exp(across(n, self.nodes, np.log(self.variance)))


def estimate_below(sample: Sample, best: float, n: IntArray) -> FloatArray:
    """The expected best of n less that score, to the last digit of what is left to it."""
    ordered = sample.ordered()
    if ordered.reported is None:
        return np.asarray(expected_best(ordered.selection - best, n))
    return np.asarray(expected_best(ordered.selection, n, ordered.reported - best))


def large_side(sample: Sample, nodes: IntArray, least_variance: float) -> LargeSide:
    """A family of many trials; trials that tie in the selection score are put in an order by their content."""
    m = sample.n_trials
    linear = nodes[nodes * HEAD < _CARRY * m]
    floor = least_variance * np.array([weight_squares(m, int(n)) for n in nodes])
    digit = float(np.finfo(np.float64).eps) * math.sqrt(12 * least_variance)
    values = _best_first(sample)
    return LargeSide(sample, nodes, values, Influences.of(values, linear, HEAD), floor, digit)


def _best_first(*samples: Sample) -> FloatArray:
    """What all trials claim less the claim of the best, best first; what is in order is merged and not sorted again."""
    ordered = [sample.ordered() for sample in samples]
    selection = np.concatenate([family.selection for family in ordered])
    if all(family.reported is None for family in ordered):
        claimed = np.sort(selection, kind="stable")[::-1]
    else:
        claimed = np.concatenate([family.claimed for family in ordered])
        order = np.argsort(selection, kind="stable")
        if (np.diff(selection[order]) == 0).any():
            order = np.lexsort((_scattered(claimed), selection))
        claimed = claimed[order[::-1]]
    return np.asarray(claimed - claimed[0])


def _scattered(claimed: FloatArray) -> FloatArray:
    """A number for each trial that orders ties at random, but the same way however the trials were given."""
    return ((claimed.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(12)).astype(np.float64)


def _deep(head: int) -> int:
    """So many of the best draws surely hold all that fall into the head."""
    return head + int(6 * np.sqrt(head))


@dataclass(frozen=True)
class _Top:
    """The budgets that the best of m draws carry whole."""

    m: int
    weights: FloatArray
    """(node, rank from the best)."""
    fewer: tuple[FloatArray, ...]
    """The same of one trial fewer, of each node as deep as they carry anything."""

    @classmethod
    def of(cls, m: int, n: IntArray, depth: int) -> _Top:
        """As deep as ``depth``."""
        places = np.arange(depth, dtype=np.float64)
        rows = [weights_below(m, int(k), places[:m], "u") for k in n]
        deep = [min(depth, m - 1, int(_NOTHING_BELOW * m / k)) for k in n]
        fewer = [weights_below(m - 1, int(k), places[:depth], "u") for k, depth in zip(n, deep, strict=True)]
        return cls(m, np.stack(rows) if rows else np.empty((0, depth)), tuple(fewer))

    def means(self, rows: FloatArray) -> FloatArray:
        """Estimates (node, draw) of draws given best first: what lies deeper has no weight."""
        return np.asarray(self.weights[:, : rows.shape[1]] @ rows.T)

    def variances(self, rows: FloatArray) -> FloatArray:
        """Squared jackknife standard errors (node, draw) of draws given best first."""
        gaps = -np.diff(rows, axis=1)
        out = np.empty((len(self.fewer), rows.shape[0]))
        for at, fewer in enumerate(self.fewer):
            weights = fewer[: gaps.shape[1]]
            deeper = self.m - 1 - weights.size
            left = np.cumsum(gaps[:, : weights.size] * weights, axis=1)
            total = left.sum(axis=1) + deeper * left[:, -1]
            squares = np.einsum("bi,bi->b", left, left) + deeper * np.square(left[:, -1])
            out[at] = (self.m - 1) / self.m * np.maximum(squares - np.square(total) / self.m, 0)
        return out


class PooledReports:
    """The trials of two large families, of which another score is reported and not its mean counts, to be permuted."""

    def __init__(self, samples: Sequence[Sample], nodes: IntArray, statistic: Statistic) -> None:
        both = Sample(*(np.concatenate([getattr(s, column) for s in samples]) for column in ("selection", "claimed")))
        ordered, cells = in_pieces(both.ordered(), nodes, statistic)
        self.statistic, self.sizes = statistic, [sample.n_trials for sample in samples]
        selection, reported = ordered.selection[cells.starts], cells.means(ordered.claimed)
        self.ranked = [Ranked(selection, nodes, reported, size=m) for m in self.sizes]
        self.counts = cells.counts.astype(np.int64)[self.ranked[0].order]

    def exchanged(self, size: int, rng: np.random.Generator) -> FloatArray:
        """The distance of the two statistics in so many permutations: (node, permutation)."""
        parts = []
        for start in range(0, size, _ASSIGNMENTS_AT_ONCE):
            mine = rng.multivariate_hypergeometric(
                self.counts, self.sizes[0], min(_ASSIGNMENTS_AT_ONCE, size - start), "marginals"
            )
            first, second = (
                statistic_draws(ranked, self.statistic, drawn)
                for ranked, drawn in zip(self.ranked, (mine, self.counts - mine), strict=True)
            )
            parts.append(np.abs(first - second))
        return np.concatenate(parts, axis=1)


class PooledHeads:
    """The trials of two large families, to be permuted between them."""

    def __init__(self, a: LargeSide, b: LargeSide, n_nodes: int) -> None:
        nodes, self.sizes = a.nodes[:n_nodes], (a.n_trials, b.n_trials)
        total = sum(self.sizes)
        self.depth = 2 * HEAD * max(1, total // (2 * min(self.sizes)))
        self._standing = _standing(a.sample, b.sample)
        values = _best_first(a.sample, b.sample)
        self.linear = Influences.of(values, nodes[nodes * self.depth < _CARRY * total], self.depth)
        self.values = values[: self.depth].copy()
        self.floors, self.digit = [side.floor[:n_nodes, None] for side in (a, b)], a.digit
        self.tops = [_Top.of(m, nodes[self.linear.size :], self.depth) for m in self.sizes]

    def exchanged(self, size: int, rng: np.random.Generator) -> FloatArray:
        """|t| of so many permutations: (node, permutation).

        They permute ranks, so that one stream for all trials would err in one direction for all of them.
        """
        rng = np.random.default_rng([self._standing, int(rng.integers(2**62))])
        linear, rest = self.linear.size, self.linear.rest
        out = np.empty((self.floors[0].size, size))
        for start in range(0, size, _ASSIGNMENTS_AT_ONCE):
            cut = slice(start, min(start + _ASSIGNMENTS_AT_ONCE, size))
            mine = _permuted_labels(self.sizes, self.depth, cut.stop - start, rng)
            below = self.sizes[0] - mine.sum(axis=1)
            sums = mine.astype(np.float64) @ self.linear.head.T
            sums += rest.sums(below, below * (rest.size - below) / (rest.size - 1), rng)
            parts = []
            for head_sums, labels, top, floor in zip(
                (sums, self.linear.whole - sums), (mine, ~mine), self.tops, self.floors, strict=True
            ):
                first, second, m = head_sums[:, :linear].T, head_sums[:, linear:].T, top.m
                rows = self.values[_first_places(labels)]
                estimate = np.concatenate([first / m, top.means(rows)])
                variance = np.concatenate([(second - np.square(first) / m) / m**2, top.variances(rows)])
                parts.append((estimate, np.maximum(variance, floor)))
            error = np.sqrt(parts[0][1] + parts[1][1])
            apart = np.abs(parts[0][0] - parts[1][0])
            out[:, cut] = np.where(apart < self.digit, 0.0, apart) / np.where(error > 0, error, np.inf)
        return out


def _standing(a: Sample, b: Sample) -> int:
    """A number from how the best trials of both families rank among each other: the same in any unit and order."""
    tops = [sample.ordered().selection[-HEAD:] for sample in (a, b)]
    scores = np.unique(np.concatenate(tops))
    counts = [np.searchsorted(top, scores, side="right") - np.searchsorted(top, scores) for top in tops]
    return zlib.crc32(b"".join(sorted(count.astype(np.int32).tobytes() for count in counts)))


def _permuted_labels(sizes: tuple[int, int], depth: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """Which of the best pooled trials go to the first family, one permutation a row."""
    first = rng.hypergeometric(sizes[0], sizes[1], depth, size)
    keys = rng.random((size, depth), dtype=np.float32)
    last = np.take_along_axis(np.sort(keys, axis=1), np.maximum(first - 1, 0)[:, None], axis=1)
    return np.asarray((keys <= last) & (first > 0)[:, None])


def _first_places(labels: np.ndarray) -> IntArray:
    """The places of the first labelled trials of each row: as many as every row has."""
    counts = np.count_nonzero(labels, axis=1)
    firsts = (np.cumsum(counts) - counts)[:, None] + np.arange(counts.min())
    return np.asarray(np.flatnonzero(labels)[firsts] - labels.shape[1] * np.arange(counts.size)[:, None])
