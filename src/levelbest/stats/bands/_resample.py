"""The bootstrap engine: resamples as counts, estimates for every budget as one matrix product.

A resample draws n_trials of the observed trials with replacement; all it says is how often each was drawn. With the
trials sorted once, worst to best, those counts are the resample in sorted order, so that nothing is sorted again and
the estimates of all resamples at all budgets are `rows @ weights`. The jackknife standard error of each resample comes
in the same pass, in closed form. Work is cut into pieces of bounded size; the generator alone decides the result.

Scores here are signed so that higher is better; `interval` changes the signs of scores and limits.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from levelbest._check import BoolArray, FloatArray, IntArray
from levelbest.errors import InputError
from levelbest.stats.best import (
    LONG_ROW,
    Quantile,
    Statistic,
    TiedShares,
    kept_weights,
    order_quantiles,
    running_sums,
)

MEMORY_LIMIT = 1 << 30  # bytes that the estimates of all resamples may take
_RESAMPLED_AT_ONCE = 1 << 16  # trials in one piece of resamples: half a megabyte, which stays in the cache
_LEAST_RESAMPLES, _MOST_CELLS = 700, 1 << 22  # but not so few resamples that the work per trial is all overhead
_BLOCK = 1 << 15  # (budget, resample) pairs of standard errors computed together
_FEW_TRIALS, _ONE_THREAD = 48, 1 << 17  # up to which a matrix product is faster than running sums; its cells
_NO_WEIGHT = 1e-14  # the chance that the best of n is found no higher, below which it is none


def _squares_of_few(fewer: FloatArray, gaps: FloatArray) -> FloatArray:
    """Sums of squared deviations (n, resample), in products so small that BLAS wakes no other thread for them."""
    m = fewer.shape[1] + 1
    matrices = np.where(np.arange(m)[:, None] <= np.arange(m - 1), fewer[:, None, :], 0.0)
    matrices -= matrices.mean(axis=1, keepdims=True)
    out = np.empty((fewer.shape[0], gaps.shape[1]))
    block = max(1, _ONE_THREAD // (m * m))
    for start in range(0, gaps.shape[1], block):
        y = matrices @ gaps[:, start : start + block]
        np.einsum("nmb,nmb->nb", y, y, out=out[:, start : start + block])
    return out


def _squares_of_many(fewer: FloatArray, budgets: IntArray, gaps: FloatArray) -> FloatArray:
    """The same in running sums from the best rank down."""
    n_rows, b = fewer.shape[0], gaps.shape[1]
    m = fewer.shape[1] + 1
    # At rank k only the budgets move whose best of n is ever found at rank k or below.
    first = np.maximum(budgets, (np.cumsum(fewer, axis=1) <= _NO_WEIGHT).sum(axis=1))
    active = np.searchsorted(first, np.arange(m), side="right")
    still = (first - 1)[:, None]  # below: leaving any of them out gives the same estimate
    # From the best rank down, the stretches of ranks at which the same budgets move.
    ends = [0, *(np.flatnonzero(np.diff(active[1:])) + 1).tolist(), m - 1]
    runs = [(int(active[high]), low, high) for low, high in reversed(list(pairwise(ends))) if active[high]]
    by_rank = np.ascontiguousarray(fewer.T)[:, :, None]
    total = (fewer * np.arange(1, m)) @ gaps  # y_i counts gap k once for every i <= k
    squares = np.empty((n_rows, b))
    block = max(8, _BLOCK // n_rows)
    for start in range(0, b, block):
        gap = gaps[:, start : start + block]
        y, square = np.zeros((2, n_rows, gap.shape[1]))
        step = np.empty_like(y)
        for a, low, high in runs:
            now, moved, squared = y[:a], step[:a], square[:a]
            for weight, of_rank in zip(by_rank[low:high, :a][::-1], gap[low:high][::-1], strict=True):
                np.multiply(weight, of_rank, out=moved)
                now += moved
                np.multiply(now, now, out=moved)
                squared += moved
        np.add(square, still * y * y, out=squares[:, start : start + block])
    squares -= total * total / m
    return np.maximum(squares, 0, out=squares)


class _Tied(NamedTuple):
    """Groups of trials with one selection score and several reported ones."""

    groups: IntArray
    members: IntArray
    starts: IntArray
    """Of each group among the members."""
    values: FloatArray
    """Of each member, from the mean of its group."""


class Ranked:
    """Trials in order of their selection score with the U weights of each budget ([T]), ready to be resampled.

    ``n`` must increase. Trials with equal selection scores share the weight of their group equally ([B] after eq. 7);
    with separate reported scores that means the group's mean *within each resample*: the plain product would depend on
    the order in which tied trials were given. ``size`` is the size of a resample where it is not that of the data, and
    ``error_n`` are the budgets of the standard errors where they are not all of ``n``. ``estimator`` "v" resamples V
    ([B] eq. 7), whose standard errors are left undefined.
    """

    def __init__(
        self,
        selection: FloatArray,
        n: IntArray,
        reported: FloatArray | None = None,
        *,
        size: int | None = None,
        error_n: IntArray | None = None,
        estimator: str = "u",
    ) -> None:
        claimed = selection if reported is None else reported
        self.order = np.lexsort((claimed, selection))
        self.selection = selection[self.order]
        self.n = n
        self.n_trials = selection.size
        self.size = m = selection.size if size is None else size
        # Deviations from the best trial's score: no digit is lost to a large common offset.
        self.reported = claimed[self.order]
        self.offset = float(self.reported[-1])
        self.values = self.reported - self.offset
        fresh = np.r_[True, np.diff(self.selection) > 0]
        self.starts = np.flatnonzero(fresh)
        lows, highs = (f.reduceat(self.values, self.starts) for f in (np.minimum, np.maximum))
        self.grouped = bool((lows != highs).any())
        self.one_column = reported is None
        self.constant = bool((self.values == 0).all())
        key = tuple(int(k) for k in n)
        self.weights = kept_weights(m, key, estimator)
        self.error_n = n if error_n is None else error_n
        self.inside = self.error_n < m  # the jackknife leaves one trial out: budgets up to n_trials - 1
        left = tuple(int(k) for k in self.error_n if k < m)
        self.fewer = kept_weights(m - 1, left) if m > 1 and estimator == "u" else np.empty((0, 0))
        if self.size == self.n_trials:
            drawn_once = self._columns(np.ones((1, m), dtype=np.int64))
            self.estimate, self.error = (a[:, 0] for a in self._estimated(*drawn_once, errors=True))

    def resampled(self, counts: IntArray | BoolArray, *, errors: bool = False) -> tuple[FloatArray, FloatArray]:
        """Estimates and, if asked, standard errors (n, resample) of resamples given as counts in rank order.

        A standard error is NaN where n is the size of the resample. Where no trial is drawn more than once, counts may
        be yes or no.
        """
        return self._estimated(*self._columns(counts), errors=errors)

    def _columns(self, counts: IntArray | BoolArray) -> tuple[FloatArray, tuple[FloatArray, FloatArray] | None]:
        """Resamples as (rank, resample), and counts of trials and of groups, by resample, where they tie."""
        b, m = counts.shape[0], self.size
        places = _drawn_places(counts, m).T
        if not self.grouped:
            return self.values.take(places), None
        drawn = np.ascontiguousarray(counts.T).astype(np.float64)  # in one step it would take ten times as long
        sizes = _group_sums(drawn, self.starts)
        means = _group_sums(drawn * self.values[:, None], self.starts) / np.maximum(sizes, 1)
        return means.ravel().take(self.groups.take(places) * b + np.arange(b)), (drawn, sizes)

    def drawn(
        self, n_resamples: int, rng: np.random.Generator, *, errors: bool = False
    ) -> tuple[FloatArray, FloatArray]:
        """The same of resamples drawn at random.

        Without ties that matter their ranks are sorted, which takes a quarter of the time that counting them does.
        """
        if self.grouped:
            return self.resampled(counts(self.n_trials, n_resamples, rng, self.size), errors=errors)
        places = rng.integers(0, self.n_trials, (n_resamples, self.size)).astype(np.int32)
        places.sort(axis=1)
        return self._estimated(self.values.take(places).T, errors=errors)

    def _estimated(
        self, columns: FloatArray, tied: tuple[FloatArray, FloatArray] | None = None, *, errors: bool
    ) -> tuple[FloatArray, FloatArray]:
        """Estimates and standard errors of (rank, resample); ``tied``: counts of trials and of groups that tie.

        A standard error is that of the jackknife, members of a group taken at its mean. Leaving out rank i instead of
        i + 1 changes the estimate by w'_i (x_{i+1} - x_i), w' the weights of one trial fewer. Counted from the one that
        leaves out the best, the leave-one-out estimates are y_m = 0 and y_i = sum_{k >= i} w'_k (x_{k+1} - x_k), and
        sum (y - mean)^2 = sum y^2 - (sum y)^2 / m. Because y_m = 0, the sum of squares left is at least the squared
        mean, hence at least 1/(m + 1) of the first term: the subtraction costs a factor m + 1 of precision at worst.
        Of few trials all y - mean are one matrix product.
        """
        m, b = columns.shape
        estimates = self.weights @ columns
        estimates += self.offset
        out = np.full((self.error_n.size, b) if errors else (0, 0), np.nan)
        if not errors or not self.fewer.size:
            return estimates, out
        gaps = np.diff(np.ascontiguousarray(columns), axis=0)
        if m <= _FEW_TRIALS:
            squares = _squares_of_few(self.fewer, gaps)
        else:
            squares = _squares_of_many(self.fewer, self.error_n[self.inside], gaps)
        if tied is not None:
            squares += self._within(*tied)
        out[self.inside] = np.sqrt((m - 1) / m * squares)
        return estimates, out

    def _within(self, drawn: FloatArray, sizes: FloatArray) -> FloatArray:
        """What the members of tied groups add: leaving out one moves its group's mean.

        With a members, mean ybar and mean weight B over the a - 1 places left, leaving out y_i lowers the estimate by
        B (y_i - ybar); summed over the group these vanish, so their squares simply add to those between groups.
        """
        tied = self._tied
        size, top = sizes[tied.groups], running_sums(sizes)[tied.groups].astype(np.int64)
        members = drawn[tied.members]
        first, second = (
            _group_sums(members * power[:, None], tied.starts) for power in (tied.values, np.square(tied.values))
        )
        spread = np.maximum(second - np.square(first) / np.maximum(size, 1), 0)
        spread /= np.square(np.maximum(size - 1, 1))
        below, last = top - size.astype(np.int64), top - 1
        table = np.concatenate([np.zeros((self.fewer.shape[0], 1)), np.cumsum(self.fewer, axis=1)], axis=1)
        out = np.empty((self.fewer.shape[0], sizes.shape[1]))
        for row, placed in zip(out, table, strict=True):
            weight = placed.take(last, mode="clip") - placed.take(below, mode="clip")
            np.einsum("gb,gb,gb->b", weight, weight, spread, out=row)
        return out

    @cached_property
    def groups(self) -> IntArray:
        """Which group of equal selection scores each trial is in."""
        return np.repeat(np.arange(self.starts.size), np.diff(np.r_[self.starts, self.n_trials]))

    @cached_property
    def _tied(self) -> _Tied:
        """The trials that tie in the selection score and report different ones."""
        counted = np.diff(np.r_[self.starts, self.n_trials])
        lows, highs = (f.reduceat(self.values, self.starts) for f in (np.minimum, np.maximum))
        groups = np.flatnonzero(lows != highs)
        members = np.flatnonzero(np.repeat(lows != highs, counted))
        starts = np.r_[0, np.cumsum(counted[groups])[:-1]]
        means = np.add.reduceat(self.values[members], starts) / counted[groups]
        return _Tied(groups, members, starts, self.values[members] - np.repeat(means, counted[groups]))

    def leave_one_out(self) -> FloatArray:
        """Leave-one-out estimates minus their mean, (n, trial) in rank order; NaN where n = n_trials."""
        m = self.n_trials
        out = np.full((self.error_n.size, m), np.nan)
        if not self.fewer.size:
            return out
        ends = np.r_[self.starts[1:], m]
        sizes = ends - self.starts
        means = np.add.reduceat(self.values, self.starts) / sizes
        rows = np.repeat(means, sizes)
        steps = self.fewer * np.diff(rows)
        y = np.concatenate([np.cumsum(steps[:, ::-1], axis=1)[:, ::-1], np.zeros((steps.shape[0], 1))], axis=1)
        if self.grouped:
            table = np.concatenate([np.zeros((self.fewer.shape[0], 1)), np.cumsum(self.fewer, axis=1)], axis=1)
            share = (table[:, ends - 1] - table[:, self.starts]) / np.maximum(sizes - 1, 1)
            y -= np.repeat(share, sizes, axis=1) * (self.values - rows)
        out[self.inside] = y - y.mean(axis=1, keepdims=True)
        return out


def allow(n_resamples: int, n_budgets: int, arrays: int = 1) -> None:
    """Refuse, with the numbers, a bootstrap whose results would not fit into ``MEMORY_LIMIT``."""
    needed = 8 * n_resamples * n_budgets * arrays
    if needed > MEMORY_LIMIT:
        most = MEMORY_LIMIT // (8 * n_budgets * arrays)
        raise InputError(
            f"n_resamples must be at most {most} for {n_budgets} budgets, got {n_resamples}: it would take "
            f"{needed / 2**30:.3g} GiB, more than the {MEMORY_LIMIT / 2**30:.3g} GiB allowed; 10000 are plenty"
        )


def counts(n_trials: int, n_resamples: int, rng: np.random.Generator, size: int | None = None) -> IntArray:
    """How often each trial was drawn, one resample per row."""
    drawn = rng.integers(0, n_trials, (n_resamples, n_trials if size is None else size))
    drawn += np.arange(n_resamples)[:, None] * n_trials
    return np.bincount(drawn.ravel(), minlength=n_resamples * n_trials).reshape(n_resamples, n_trials)


def pieces(n_resamples: int, cells: int) -> Iterator[slice]:
    """Resamples in pieces whose rows of ``cells`` entries stay in the cache."""
    size = max(1, _RESAMPLED_AT_ONCE // cells, min(_LEAST_RESAMPLES, _MOST_CELLS // cells))
    for start in range(0, n_resamples, size):
        yield slice(start, min(start + size, n_resamples))


def bootstrap(
    trials: Ranked, n_resamples: int, rng: np.random.Generator, *, errors: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Estimates and, if asked, jackknife standard errors of ``n_resamples`` resamples: (n, resample) each."""
    allow(n_resamples, trials.n.size, 1 + errors)
    estimates = np.empty((trials.n.size, n_resamples))
    deviations = np.empty((trials.n.size, n_resamples) if errors else (0, 0))
    for cut in pieces(n_resamples, max(trials.n_trials, trials.size)):
        part, error = trials.drawn(cut.stop - cut.start, rng, errors=errors)
        estimates[:, cut] = part
        if errors:
            deviations[:, cut] = error
    return estimates, deviations


def smooth_bootstrap(trials: Ranked, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Estimates (n, resample) of draws from a Gaussian kernel estimate with Scott's bandwidth ([B] fig. 2).

    Selection and reported scores get noise with the covariance of the data times m^(-1/(d+4)) squared, d = 1 or 2.
    """
    m = trials.n_trials
    allow(n_resamples, trials.n.size)
    estimates = np.empty((trials.n.size, n_resamples))
    if trials.one_column:
        width = trials.values.std(ddof=1) * m ** (-1 / 5)
    else:
        pair = np.stack([trials.selection, trials.values])
        # The symmetric root serves singular covariances too: a selection score that is a function of the reported one.
        variances, axes = np.linalg.eigh(np.cov(pair))
        root = axes * np.sqrt(np.maximum(variances, 0)) * m ** (-1 / 6)
    for cut in pieces(n_resamples, m):
        shape = (cut.stop - cut.start, m)
        drawn = rng.integers(0, m, shape)
        if trials.one_column:
            rows = np.sort(trials.values[drawn] + width * rng.standard_normal(shape), axis=1)
        else:
            noise = rng.standard_normal((2, *shape))
            ranks = np.argsort(trials.selection[drawn] + np.tensordot(root[0], noise, 1), axis=1)
            rows = np.take_along_axis(trials.values[drawn] + np.tensordot(root[1], noise, 1), ranks, axis=1)
        estimates[:, cut] = trials.weights @ rows.T
    return estimates + trials.offset


def _group_sums(rows: FloatArray, starts: IntArray) -> FloatArray:
    """Sums of the rows from each start to the next."""
    ends = np.append(starts[1:], rows.shape[0])
    if rows.shape[1] < LONG_ROW < rows.shape[0]:
        return np.add.reduceat(rows, starts, axis=0)
    sums = rows.take(starts, axis=0)
    for place in np.flatnonzero(ends - starts > 1).tolist():
        out = sums[place]
        for row in rows[starts[place] + 1 : ends[place]]:
            np.add(out, row, out=out)
    return sums


def _drawn_places(drawn: IntArray | BoolArray, size: int) -> IntArray:
    """Which places were drawn in each resample of so many, (resample, draw), in order; those drawn twice repeated."""
    rows, width = drawn.shape
    if drawn.max(initial=0) > 1:
        return np.repeat(np.tile(np.arange(width), rows), drawn.ravel()).reshape(rows, size)
    places = np.flatnonzero(drawn).reshape(rows, size)
    places -= np.arange(rows)[:, None] * width
    return places


def statistic_draws(trials: Ranked, statistic: Statistic, drawn: IntArray | BoolArray) -> FloatArray:
    """Any statistic of the reported score of the best of n, (n, resample), of resamples given as counts."""
    m, b = trials.size, drawn.shape[0]
    if trials.one_column and isinstance(statistic, Quantile):
        return order_quantiles(trials.reported.take(_drawn_places(drawn, m)), trials.n, statistic.q)
    sizes = np.add.reduceat(drawn, trials.starts, axis=1, dtype=np.int64)
    worst_first, first = np.argsort(trials.reported, kind="stable"), np.arange(b) * trials.starts.size
    if isinstance(statistic, Quantile) and m <= drawn.shape[1]:  # only those drawn, in order: (place, resample)
        chosen = np.ascontiguousarray(worst_first.take(_drawn_places(drawn[:, worst_first], m)).T)
        rows, times, groups = trials.reported.take(chosen).T, None, trials.groups.take(chosen) + first
    else:
        rows, times = trials.reported[worst_first], np.ascontiguousarray(drawn[:, worst_first].T, dtype=np.float64)
        groups = trials.groups[worst_first, None] + first
    shares = TiedShares.of(sizes, m, groups)
    out = np.empty((trials.n.size, b))
    for i, n in enumerate(trials.n):
        weights = shares.at(int(n))
        out[i] = statistic.of_distribution(rows, (weights if times is None else weights * times).T)
    return out


def statistic_bootstrap(
    trials: Ranked, statistic: Statistic, n_resamples: int, rng: np.random.Generator, *, in_given_order: bool = False
) -> FloatArray:
    """The statistic of ``n_resamples`` resamples: (n, resample).

    ``in_given_order`` counts the trials as they were given, so that one generator draws the same pairs of two families.
    """
    allow(n_resamples, trials.n.size)
    draws = np.empty((trials.n.size, n_resamples))
    for cut in pieces(n_resamples, trials.n_trials):
        drawn = counts(trials.n_trials, cut.stop - cut.start, rng)
        draws[:, cut] = statistic_draws(trials, statistic, drawn[:, trials.order] if in_given_order else drawn)
    return draws
