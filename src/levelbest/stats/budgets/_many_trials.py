"""Random orders of very many trials for one worker: few orders, each followed from many starting points.

The width of the limits decreases with sqrt(m), and the Monte Carlo error must decrease with it. For windows of n trials
it does if every trial of an order lies in some window: the contribution of each single trial is then included exactly
once, as in the sample, and only the combinations are random. Windows therefore begin where others end, or sooner, and a
few orders suffice: two where windows begin at every trial, six elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from levelbest._check import BoolArray, FloatArray, IntArray
from levelbest.stats.budgets._orders import ROUNDING, Pool, Spent, TiedWins, jackknife_error, looked_at_sums

WHOLE_ORDERS_UP_TO = 1 << 14  # more trials than this
_ORDERS = 6
_FEWEST_ORDERS = 2  # orders where windows begin at every trial: those of up to `_SHORT` trials on average
_SHORT, _LONG = 8, 16
_STARTS = 3400  # in every order, at least: 20,000 in six
_UNITS = 2**60  # of cost, that all trials together used
_WINDOWS_AT_ONCE, _WINDOW_ROOM = (
    1 << 14,
    64,
)  # short windows spent together, and the trials that fit at first
_COARSE_STRIDE = 64  # few places are searched among every so many sums first, which lie near each other in memory

_Integer = TypeVar("_Integer", np.int32, np.int64)
_Ranks = npt.NDArray[np.int32]
_Outcome = tuple[float, _Ranks, int, FloatArray]
"""The mean value, the winners, how many trials were finished in all, and `looked_at_sums` per window."""


def expected_of_many(pool: Pool, grid: FloatArray, n_orders: int, rng: np.random.Generator) -> Spent:
    """Spend orders of more than `WHOLE_ORDERS_UP_TO` trials within every budget, with one worker."""
    unit = float(pool.cost.sum()) / _UNITS
    # Whole numbers: sums over windows are the same wherever these lie, and equal costs stay equal.
    cost = np.rint(pool.cost / unit).astype(np.int64)
    limits = np.minimum(grid * (1 + ROUNDING) / unit, 2.0 * _UNITS).astype(np.int64)
    outcomes: list[list[_Outcome]] = [[] for _ in grid]
    # The last one where none finished, of rank -1.
    values = None if pool.y_of_rank is None else np.append(pool.y_of_rank, pool.worst)
    times = max(1, -(-n_orders // (_ORDERS * _STARTS)))
    steps = needed = np.zeros(grid.size, dtype=np.int64)
    last = None
    for turn in range(_ORDERS * times):
        order = last.woven() if turn % 2 and last else _drawn(pool, cost, values, rng)
        last, order.jackknifed = order, turn < 2  # one for each factor of the variance
        if turn == 0:
            steps = order.steps(limits)
            needed = times * np.where(steps == 0, _FEWEST_ORDERS, _ORDERS)
        for i, outcome in order.spend(limits, steps, turn < needed):
            outcomes[i].append(outcome)
    means, winners, finished, left_out = zip(*(zip(*outcome, strict=True) for outcome in outcomes), strict=True)
    counts = np.array([sum(won.size for won in parts) for parts in winners])
    nothing = np.array([sum(np.count_nonzero(won < 0) for won in parts) for parts in winners])
    return Spent(
        value=np.array([np.mean(part_means) for part_means in means]),
        error=np.array([np.std(part_means, ddof=1) / math.sqrt(len(part_means)) for part_means in means]),
        nothing=nothing / counts,
        finished=np.array([sum(done) for done in finished]) / counts,
        winners=winners,
        sampling_error=np.array([jackknife_error(np.stack(halves[:2])[:, None])[0] for halves in left_out]),
    )


def _drawn(pool: Pool, cost: IntArray, values: FloatArray | None, rng: np.random.Generator) -> _Order:
    order = rng.permutation(cost.size)
    return _Order(pool, order, cost[order], pool.rank[order], values)


class _Order:
    """One random order of the trials, gone round and round."""

    def __init__(self, pool: Pool, order: IntArray, cost: IntArray, rank: _Ranks, values: FloatArray | None) -> None:
        self.pool, self.m, self.order, self.cost, self.values = pool, cost.size, order, cost, values
        self.jackknifed = True
        self.sums = np.full(self.m + 1 + _COARSE_STRIDE, np.iinfo(np.int64).max)
        self.sums[0] = 0
        np.cumsum(cost, out=self.sums[1 : self.m + 1])
        self.coarse = self.sums[: self.m + 1 : _COARSE_STRIDE].copy()
        self.rank = np.concatenate([rank, rank])

    def woven(self) -> _Order:
        """This order written into a square row by row, and read column by column: as random as the order itself.

        No two trials that are near each other in the one are so in the other, and which half of the one a trial lies
        in tells nothing of its half of the other.
        """
        return _Order(self.pool, _woven(self.order), _woven(self.cost), _woven(self.rank[: self.m]), self.values)

    @cached_property
    def tied(self) -> TiedWins:
        """What trials tied for a win report."""
        y = self.pool.y[self.order]
        return TiedWins(self.rank[None, :], np.concatenate([y, y])[None, :])

    def steps(self, limits: IntArray) -> IntArray:
        """From one start of a window to the next at each budget: a mean length, or half of one; 0: every trial."""
        starts = np.arange(0, self.m, self.m // _STARTS)
        trials = np.array([np.mean(self._ends(starts, int(limit)) - starts) for limit in limits])
        steps = np.where(trials <= _SHORT, 0, np.where(trials <= _LONG, trials / 2, trials))
        return np.minimum(steps, self.m // _STARTS).astype(np.int64)

    def spend(self, limits: IntArray, steps: IntArray, wanted: BoolArray) -> Iterator[tuple[int, _Outcome]]:
        """The outcome at each budget where it is wanted, numbered."""
        short = np.flatnonzero(wanted & (steps == 0))
        if short.size:
            yield from zip(short.tolist(), self._spend_short(limits[short]), strict=True)
        for i in np.flatnonzero(wanted & (steps > 0)):
            step = int(steps[i])
            starts = np.arange(0, self.m, step)
            ends = self._ends(starts, int(limits[i]))
            counts = ends - starts
            done = int(counts.sum())
            # Windows that lie one upon another many times are put together of stretches.
            across = done > 4 * self.m
            best = self._best_across(starts, ends, step) if across else _best_between(self.rank, starts, ends)
            winners = np.where(counts > 0, best, np.int32(-1))
            yield int(i), self._outcome(winners, starts, counts, done)

    def _outcome(self, winners: _Ranks, starts: IntArray, counts: IntArray, done: int) -> _Outcome:
        """What the winners of so many windows, with their starts and the trials that they finish, come to."""
        if self.values is not None:
            values = self.values[winners]
        else:
            shared = self.tied.means(starts, counts, winners.astype(np.int64))
            values = np.where(counts > 0, shared, self.pool.worst)
        looked_at = np.minimum(counts + 1, self.m - 1)[None, None, :]
        left_out = np.empty(0)
        if self.jackknifed:
            left_out = looked_at_sums(self.place, starts, looked_at, values[None, None, :])[0, 0] / starts.size
        return float(values.mean()), winners, done, left_out

    @cached_property
    def place(self) -> IntArray:
        """Where each trial stands in the order."""
        place = np.empty((1, self.m), dtype=np.int64)
        place[0, self.order] = np.arange(self.m)
        return place

    def _spend_short(self, limits: IntArray) -> Iterator[_Outcome]:
        """Windows from every trial on, spent trial by trial for all budgets at once."""
        rising = np.argsort(limits)
        winners = np.empty((limits.size, self.m), dtype=np.int32)
        counts = np.empty((limits.size, self.m), dtype=np.int32)
        done = np.zeros(limits.size, dtype=np.int64)
        highest = np.full((_WINDOW_ROOM, _WINDOWS_AT_ONCE), -1, dtype=np.int32)
        for begin in range(0, self.m, _WINDOWS_AT_ONCE):
            cut = slice(begin, min(begin + _WINDOWS_AT_ONCE, self.m))
            finished, highest = self._counted(limits[rising], cut, highest)
            flat, place = highest.ravel(), np.arange(cut.stop - begin)
            done[rising] += finished.sum(axis=1, dtype=np.int64)
            for i, last in zip(rising, finished, strict=True):
                winners[i, cut] = flat[last * np.int64(_WINDOWS_AT_ONCE) + place]
            counts[rising, cut] = finished
        for i, best in enumerate(winners):
            yield self._outcome(best, np.arange(self.m), counts[i], int(done[i]))

    def _counted(self, limits: IntArray, cut: slice, highest: _Ranks) -> tuple[_Ranks, _Ranks]:
        """How many trials are finished within each of rising limits (limit, start), and the highest rank after each.

        The second is written into ``highest`` (trials finished, start), or a larger copy of it; its first row is -1.
        """
        size = cut.stop - cut.start
        spent = np.zeros(size, dtype=np.int64)
        counts, few = np.zeros((limits.size, size), dtype=np.int32), np.zeros((limits.size, size), dtype=np.uint8)
        first = 0  # the limits from this on are not used up in every window
        for step in range(self.m):
            if step + 1 == len(highest):
                highest = np.concatenate([highest, np.empty_like(highest)])
            place = cut.start + step
            spent += self._costs(place, size)
            np.maximum(highest[step, :size], self.rank[place : place + size], out=highest[step + 1, :size])
            fits = spent <= limits[first:, None]
            few[first:] += fits.view(np.uint8)
            if step % 255 == 254:
                counts, few = counts + few, np.zeros_like(few)
            while first < limits.size and not fits[0].any():
                first, fits = first + 1, fits[1:]
            if first == limits.size:
                break
        return counts + few, highest

    def _costs(self, place: int, size: int) -> IntArray:
        """The costs of so many trials from a place on, round and round."""
        place %= self.m
        if place + size <= self.m:
            return self.cost[place : place + size]
        return np.concatenate([self.cost[place:], self.cost[: place + size - self.m]])

    def _ends(self, starts: IntArray, limit: int) -> IntArray:
        """Past the last trial that is finished from each start on, at most once round."""
        total = int(self.sums[self.m])
        wanted = self.sums[starts] + limit
        inside = int(np.searchsorted(wanted, total))  # the windows from here on go on at the beginning
        wanted[inside:] -= total
        ends = self._finished(wanted)
        ends[inside:] += self.m
        return np.minimum(ends, starts + self.m)

    def _finished(self, wanted: IntArray) -> IntArray:
        """How many trials from the beginning on together cost at most so much."""
        if wanted.size > self.m // _COARSE_STRIDE:
            return np.searchsorted(self.sums, wanted, side="right") - 1
        place = (np.searchsorted(self.coarse, wanted, side="right") - 1) * _COARSE_STRIDE
        half = _COARSE_STRIDE // 2
        while half:
            place += half * (self.sums[place + half] <= wanted)
            half //= 2
        return np.asarray(place)

    def _best_across(self, starts: IntArray, ends: IntArray, step: int) -> _Ranks:
        """The highest rank in long windows: whole stretches from one start to the next, and a part of one more."""
        edges = np.concatenate([starts, starts + self.m])
        beyond = ends >= self.m
        last = (ends - beyond * self.m) // step + beyond * starts.size  # the stretch in which a window ends
        part = _best_between(self.rank, edges[last], ends)
        whole = last - np.arange(starts.size)
        before = _best_in_stretch(np.maximum.reduceat(self.rank, edges), whole)
        best = np.where(whole > 0, np.where(ends > edges[last], np.maximum(part, before), before), part)
        return np.asarray(best)


def _woven(entries: npt.NDArray[_Integer]) -> npt.NDArray[_Integer]:
    side = math.isqrt(entries.size)
    whole = entries.size - entries.size % side
    return np.concatenate([entries[:whole].reshape(side, -1).T.ravel(), entries[whole:]])


def _best_between(rank: _Ranks, starts: IntArray, ends: IntArray) -> _Ranks:
    """The highest rank from each start to its end; any where that is nothing."""
    pairs = np.empty(2 * starts.size, dtype=np.int64)
    pairs[::2], pairs[1::2] = starts, ends
    return np.asarray(np.maximum.reduceat(rank, pairs)[::2])


def _best_in_stretch(rank: _Ranks, counts: IntArray) -> _Ranks:
    """The highest rank in ``counts`` entries from each entry on, of those that have a count; any where that is 0.

    From maxima over stretches of 1, 2, 4, ... entries: any stretch is two of them that overlap.
    """
    longest = max(1, int(counts.max()))
    levels = [rank]
    while 2 ** len(levels) <= longest:
        half = 2 ** (len(levels) - 1)
        last = levels[-1].copy()
        np.maximum(last[:-half], levels[-1][half:], out=last[:-half])
        levels.append(last)
    table, size, first = np.stack(levels), np.maximum(counts, 1), np.arange(counts.size)
    level = np.frexp(size.astype(np.float64))[1] - 1
    return np.asarray(np.maximum(table[level, first], table[level, first + size - 2**level]))
