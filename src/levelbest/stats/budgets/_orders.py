"""Orders of trials drawn without replacement, each followed until a budget of cost is used up.

Every rotation of a random order is used, beginning at each of its trials. With one worker the trials that a rotation
finishes within a budget are a window of the order, so all rotations and budgets need one search in cumulative costs and
one lookup of the best in a window.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import numpy.typing as npt

from levelbest._check import BoolArray, Bounds, FloatArray, IntArray
from levelbest.stats.budgets._workers import followed

ROUNDING = 1e-9  # relative: ten costs of .1 finish within 1, although their sum in floating point exceeds it
_CHUNK = 1 << 20  # elements of one array
_WINDOWS_IN_CACHE = 1 << 16  # entries of arrays that are gone through again and again
_ORDERS_OF_UP_TO = 7  # every order of up to seven trials
_ROTATIONS = 400  # of one order at most, evenly spaced
_BITS = 36  # of a whole number; 67 million of them have a sum within 64 bits
_BASES = 50  # orders at least, for the Monte Carlo error

_Int16Array = npt.NDArray[np.int16]
_Whole = npt.NDArray[np.integer[Any]]


class Pool:
    """The trials to draw orders of, turned so that more is better; ``worst`` counts where none finishes."""

    def __init__(
        self,
        selection: FloatArray,
        y: FloatArray,
        cost: FloatArray,
        worst: float,
        workers: int,
        bounds: Bounds = (None, None),
    ) -> None:
        self.selection, self.y, self.cost = selection, y, cost
        self.worst, self.workers, self.bounds = worst, workers, bounds
        order = np.argsort(selection)
        ordered = selection[order]
        new = np.concatenate([[True], ordered[1:] > ordered[:-1]])
        untied = bool(new.all())
        self.ranked = order if untied else np.lexsort((y, selection))
        """The trials from the worst selection score to the best, tied ones by what they report."""
        self.rank = np.empty(y.size, dtype=np.int32)
        self.rank[self.ranked] = np.arange(y.size) if untied else np.cumsum(new) - 1
        self.y_of_rank: FloatArray | None = y[self.ranked]
        if not untied:
            # Where tied trials report the same, the rank alone tells the winner's score.
            first, last = (y[self.ranked[ends]] for ends in (new, np.roll(new, -1)))
            self.y_of_rank = first if bool((first == last).all()) else None

    @cached_property
    def horizon(self) -> float:
        """The largest budget at which no order can run out."""
        return cost_horizon(self.cost, self.workers)

    def inside(self, grid: FloatArray) -> BoolArray:
        """Where the estimate is unbiased: a further trial could not have finished too ([S] section 8)."""
        if self.cost.min() > 0:
            return grid <= self.horizon * (1 + ROUNDING)
        return grid < self.horizon * (1 - ROUNDING)


def cost_horizon(cost: FloatArray, workers: int = 1) -> float:
    """The largest budget at which no order of the observed trials can run out.

    One worker: all the trials together. Several: a worker that is given trials whenever it is free has, at the end,
    at least (total - (workers - 1) longest) / workers of work, because nobody starts the last one later than that.
    """
    total = _exact_sum(cost)
    return float(max(0.0, (total - (workers - 1) * float(cost.max())) / workers))


def _exact_sum(numbers: FloatArray) -> float:
    """The sum of numbers of at least 0, rounded once: that of `math.fsum`, in whole numbers of three lengths."""
    exponent = math.frexp(float(numbers.max()))[1]
    rest, total = np.ldexp(numbers, _BITS - exponent), 0
    for _ in range(3):
        whole = np.floor(rest)
        total = (total << _BITS) + int(whole.astype(np.int64).sum())
        rest = (rest - whole) * 2.0**_BITS
    if rest.any() or numbers.size > 2 ** (62 - _BITS):
        return math.fsum(numbers)
    return math.ldexp(float(Fraction(total, 1 << 3 * _BITS)), exponent)


@dataclass(frozen=True, eq=False)
class Spent:
    """What the orders show at each budget, of turned scores."""

    value: FloatArray
    error: FloatArray
    """The Monte Carlo error of ``value``."""
    nothing: FloatArray
    """The chance that no trial finishes."""
    finished: FloatArray
    """The mean number of trials that do."""
    winners: tuple[Sequence[_Whole], ...]
    """At each budget, in parts, the rank of the winner's selection score in every order; -1: none finished."""
    sampling_error: FloatArray
    """The jackknife standard error of ``value`` over the trials."""

    @property
    def counts(self) -> IntArray:
        """How many orders were spent at each budget."""
        return np.array([sum(won.size for won in parts) for parts in self.winners])

    @property
    def count(self) -> int:
        """How many orders were spent at every budget at least."""
        return int(self.counts.min())

    def at_or_below(self, ranks: npt.NDArray[np.int32]) -> FloatArray:
        """(budget, rank): how often the winner has at most this rank, among the orders that finish some trial.

        ``ranks`` do not fall, and the last one is the highest.
        """
        # The first of ``ranks`` that each rank lies at or below; for -1 the entry at the end, past all.
        steps = np.diff(ranks, prepend=-1, append=ranks[-1] + 1)
        first = np.repeat(np.arange(ranks.size + 1, dtype=np.int32), steps)
        out = np.empty((self.value.size, ranks.size))
        for row, parts, count in zip(out, self.winners, self.counts, strict=True):
            often = np.sum([np.bincount(first[won], minlength=ranks.size + 1) for won in parts], axis=0)
            row[:] = np.cumsum(often[:-1]) / max(1, count - often[-1])
        return out

    def at(self, chosen: BoolArray) -> Spent:
        """The same at some of the budgets."""
        return replace(
            self,
            value=self.value[chosen],
            error=self.error[chosen],
            nothing=self.nothing[chosen],
            finished=self.finished[chosen],
            winners=tuple(won for won, kept in zip(self.winners, chosen, strict=True) if kept),
            sampling_error=self.sampling_error[chosen],
        )


def expected(pool: Pool, grid: FloatArray, n_orders: int, rng: np.random.Generator) -> Spent:
    """Spend orders of the trials within every budget."""
    m = pool.y.size
    exact = m <= _ORDERS_OF_UP_TO and n_orders >= math.factorial(m)
    rotations = min(m, _ROTATIONS)
    starts = (np.arange(rotations) * m) // rotations
    parts: Iterable[_Part]
    if exact:
        every = np.array(list(permutations(range(m))), dtype=np.int64)
        parts = [_spend(pool, every, starts[:1], grid)]
    elif pool.workers > 1:
        around = (starts[:, None] + np.arange(m)) % m
        drawn = _random_orders(m, -(-n_orders // rotations), rotations * m, rng)
        parts = (_spend(pool, orders[:, around].reshape(-1, m), starts, grid) for orders in drawn)
    else:
        drawn = _random_orders(m, -(-n_orders // rotations), max(2 * m, rotations * grid.size), rng)
        parts = (_windows(pool, orders, starts, grid) for orders in drawn)
    values, won, trials, sums = zip(*parts, strict=True)
    means, winners, halves = np.concatenate(values), np.concatenate(won, axis=1), np.sum(sums, axis=0)
    # The rotations of one order depend on each other: the order is the unit of the Monte Carlo error.
    error = np.zeros(grid.size) if exact else means.std(axis=0, ddof=1) / math.sqrt(len(means))
    count = winners.shape[1]
    if exact:
        halves = np.repeat(halves.sum(axis=0, keepdims=True), 2, axis=0) / 2
    return Spent(
        value=means.mean(axis=0),
        error=error,
        nothing=1 - np.count_nonzero(winners >= 0, axis=1) / count,
        finished=np.sum(trials, axis=0) / count,
        winners=tuple((row,) for row in winners),
        sampling_error=jackknife_error(halves / (count / 2)),
    )


_Part = tuple[FloatArray, _Whole, FloatArray, FloatArray]
"""Mean values of each order (order, budget), the winners of all rotations (budget, rotation), trials finished, and
`looked_at_sums`."""


def jackknife_error(halves: FloatArray) -> FloatArray:
    """From `looked_at_sums` per window; the Monte Carlo errors of the two halves are independent and do not add."""
    first, second = halves - halves.mean(axis=2, keepdims=True)
    squares = (1 - 1 / halves.shape[2]) * np.sum(first * second, axis=1)
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def _random_orders(m: int, least: int, entries: int, rng: np.random.Generator) -> Iterator[IntArray]:
    """An even number of random orders, in even chunks with so many ``entries`` of an array for each order."""
    count, chunk = max(_BASES, 2 * -(-least // 2)), 2 * max(1, _CHUNK // (2 * entries))
    for begin in range(0, count, chunk):
        yield rng.permuted(np.broadcast_to(np.arange(m), (min(chunk, count - begin), m)), axis=1)


def _windows(pool: Pool, orders: IntArray, starts: IntArray, grid: FloatArray) -> _Part:
    """One worker: the trials that a rotation finishes within a budget are a window of the order, gone round twice.

    Arrays are (order, budget, start): along the starts the sums of costs that are looked up rise.
    """
    m, limits = pool.y.size, grid * (1 + ROUNDING)
    values = np.empty((len(orders), grid.size, starts.size))
    looked_at, won = np.empty((2, *values.shape), dtype=np.int16)
    trials = np.zeros(grid.size)
    piece = max(1, _WINDOWS_IN_CACHE // values[0].size)
    for at in range(0, len(orders), piece):
        some = slice(at, at + piece)
        counts = finished_trials(pool.cost[orders[some]], starts, limits)
        trials += counts.sum(axis=(0, 2))
        looked_at[some] = np.minimum(counts + 1, m - 1)
        values[some], won[some] = _won(pool, orders[some], Windows(starts, counts, m))
    left_out = looked_at_sums(np.argsort(orders, axis=1), starts, looked_at, values)
    return values.mean(axis=2), won.swapaxes(0, 1).reshape(grid.size, -1), trials, left_out


def _won(pool: Pool, order: IntArray, windows: Windows) -> tuple[FloatArray, _Int16Array]:
    """What the best trial in each window reports, and its rank; -1 where none is finished."""
    rank = np.tile(pool.rank.astype(np.int16)[order], 2)
    if pool.y_of_rank is None:
        values, best = TiedWins(rank, np.tile(pool.y[order], 2)).in_windows(windows)
    else:
        best = windows.highest(rank)
        values = pool.y_of_rank.take(best)
    values[best < 0] = pool.worst
    return values, best


def _spend(pool: Pool, orders: IntArray, starts: IntArray, grid: FloatArray) -> _Part:
    """Any number of workers, and orders that are given one by one."""
    place, m = np.argsort(orders[:: starts.size], axis=1), pool.y.size
    values, won, counts, begun = followed(pool, orders, grid * (1 + ROUNDING))
    shape = place.shape[0], starts.size, grid.size
    looked_at = np.minimum(begun, m - 1).reshape(shape).swapaxes(1, 2)
    values = values.reshape(shape).swapaxes(1, 2)
    left_out = looked_at_sums(place, starts, looked_at, values)
    return values.mean(axis=2), won.T, counts.sum(axis=0).astype(np.float64), left_out


def finished_trials(cost: FloatArray, starts: IntArray, limits: FloatArray) -> IntArray:
    """How many trials of each order are finished within each limit from each start on."""
    size, m = cost.shape
    sums = np.zeros((size, 2 * m + 1))
    np.cumsum(np.tile(cost, 2), axis=1, out=sums[:, 1:])
    wanted = sums[:, None, starts] + limits[:, None]
    ends = [np.searchsorted(row, wanted_of.ravel(), side="right") for row, wanted_of in zip(sums, wanted, strict=True)]
    return np.minimum(np.reshape(ends, wanted.shape) - (starts + 1), m)


class Windows:
    """Windows of ``counts`` entries from ``starts`` on, of orders of m entries that are gone round.

    From one start to the next is a block. A window is some whole blocks and a beginning of the block after them.
    """

    def __init__(self, starts: IntArray, counts: IntArray, m: int) -> None:
        size, _, rotations = counts.shape
        self.m, self.rotations = m, rotations
        self.edges = np.concatenate([starts, starts + m])
        self.block = np.repeat(np.arange(self.edges.size), np.diff(self.edges, append=2 * m))
        ends, whole = starts + counts, counts
        if rotations < m:
            whole = self.block.take(ends) - np.arange(rotations)
        self.longest = int(whole.max())
        rows = np.arange(size)[:, None, None]
        self.ends = ends + rows * (2 * m)
        self.whole = whole * (size * rotations) + (rows * rotations + np.arange(rotations))

    def highest(self, entries: _Int16Array) -> _Int16Array:
        """The highest of the entries, (order, place) gone round twice, in each window; -1 where that is empty."""
        single = self.rotations == self.m
        blocks = entries if single else np.maximum.reduceat(entries, self.edges, axis=1)
        table = np.full((self.longest + 1, entries.shape[0], self.rotations), -1, dtype=entries.dtype)
        for k, (fewer, more) in enumerate(pairwise(table)):
            np.maximum(fewer, blocks[:, k : k + self.rotations], out=more)
        best: _Int16Array = table.ravel().take(self.whole)
        if not single:
            np.maximum(best, self._beginnings(entries).ravel().take(self.ends), out=best)
        return best

    def _beginnings(self, entries: _Int16Array) -> _Int16Array:
        """The highest entry from the beginning of a block to before each place; -1 at the beginning itself."""
        # Running maxima that restart with every block: a later block is above all earlier ones.
        below = self.block.astype(np.int32) * (int(entries.max()) + 1)
        so_far = np.maximum.accumulate(entries + below, axis=1) - below
        before = np.full(entries.shape, -1, dtype=entries.dtype)
        before[:, 1:] = so_far[:, :-1]
        before[:, self.edges] = -1
        return before


class TiedWins:
    """What the trials tied for the win in a window of an order report: they share it ([B] after eq. 7)."""

    def __init__(self, rank: _Whole, y: FloatArray) -> None:
        self.rank = rank
        self.size, self.length = rank.shape
        self.ranks = int(rank.max()) + 1
        # Entries in order of (order, rank, place): those of one rank in a window are a run, found at its two ends.
        group = (np.arange(self.size)[:, None] * self.ranks + rank) * (self.length + 1)
        keys = (group + np.arange(self.length)).ravel()
        self.by = np.argsort(keys)
        self.keys, self.centre = keys[self.by], float(y.mean())
        self.total = np.concatenate([[0.0], np.cumsum(y.ravel()[self.by] - self.centre)])

    def means(self, starts: IntArray, counts: _Whole, best: _Whole) -> FloatArray:
        """The mean over the trials of rank ``best`` in the windows of ``counts`` from starts, (order, start) each."""
        group = (np.arange(self.size)[:, None] * self.ranks + best) * (self.length + 1)
        first = group + starts
        low, high = (np.searchsorted(self.keys, (first + offset).ravel()) for offset in (0, counts))
        return self._between(low, high).reshape(best.shape)

    def in_windows(self, windows: Windows) -> tuple[FloatArray, _Int16Array]:
        """The same in all windows of the orders, and the highest rank in each; any and -1 where that is empty.

        The tied trial that is the last of a window is the highest of entries numbered in order of (rank, place), and
        the first one the highest where the places of each rank are numbered backwards.
        """
        row = np.arange(self.size)[:, None] * self.length
        numbers = np.empty(self.by.size, dtype=np.int64)
        numbers[self.by] = np.arange(self.by.size)
        number = numbers.reshape(self.rank.shape) - row
        ends = np.cumsum(np.bincount(self.rank[0]))
        turned = ends + np.append(0, ends[:-1]) - 1  # number and backward number of a trial together
        last = windows.highest(number.astype(np.int16))
        first = windows.highest((turned[self.rank] - number).astype(np.int16))
        best = np.append(self.rank[0][self.by[: self.length]], np.int16(-1)).astype(np.int16).take(last)
        low, high = np.append(turned, -1).take(best) - first + row[:, None], last + (row[:, None] + 1)
        return self._between(low, high), best

    def _between(self, low: IntArray, high: IntArray) -> FloatArray:
        return np.asarray(self.centre + (self.total.take(high) - self.total.take(low)) / np.maximum(high - low, 1))


def looked_at_sums(place: IntArray, starts: IntArray, looked_at: _Whole, values: FloatArray) -> FloatArray:
    """What leaving each trial out takes away, summed over windows: (half of the orders, budget, trial).

    ``place`` is where each trial stands in each order, ``looked_at`` (order, budget, start) how many trials a window
    looks at: those that it finishes and the one that it does not. A window of k trials is as likely in an order of all
    m as in one of m - 1 without some other trial, but for a factor m / (m - k). So the value without trial i is the
    mean, over the windows that do not look at i, of value times m / (m - k): the jackknife takes no further orders.
    """
    size, m = place.shape
    budgets = values.shape[1]
    factor = m / (m - np.arange(m))
    centre = values.mean(axis=(0, 2))[:, None]
    out = np.zeros((2, m, budgets))
    piece = max(1, _WINDOWS_IN_CACHE // (max(m, starts.size) * budgets))
    for begin in range(0, size, piece):
        some = slice(begin, begin + piece)
        weight = (values[some] - centre) * factor.take(looked_at[some])
        row, sums = _looking(starts, looked_at[some], weight, m)
        of_trial = sums.take(row.take(place[some]) + np.arange(len(weight))[:, None], axis=0)
        for at in range(min(2, len(weight))):
            out[(begin + at) % 2] += of_trial[at::2].sum(axis=0)
    return np.ascontiguousarray(out.transpose(0, 2, 1))


def _looking(starts: IntArray, looked_at: _Whole, weight: FloatArray, m: int) -> tuple[IntArray, FloatArray]:
    """The weights of the windows that look at each place, added up: each place's first row of (place, order) x budget.

    These are running sums of what begins and ends at the places. Places lie in a square, column by column: the sums
    within columns are sums of its rows, and only those over whole columns are taken one after the other.
    """
    size, budgets, _ = weight.shape
    cells = size * budgets
    width = cells + 8 * (cells % 16 == 0)  # rows a power of two apart would share a part of the cache
    side = 1 << (m.bit_length() // 2)
    columns = -(-m // side)
    row: IntArray = np.arange(m, dtype=np.int64) % side * columns + np.arange(m) // side
    ends = starts + looked_at
    at = np.concatenate([row, row]).take(ends)
    at *= width
    at += np.arange(cells).reshape(size, budgets, 1)
    ending = np.bincount(at.ravel(), weight.ravel(), side * columns * width).reshape(-1, width)[:, :cells]
    steps: FloatArray = np.negative(ending, out=ending)
    steps[row[starts]] += weight.reshape(cells, -1).T
    steps[0] += np.where(ends >= m, weight, 0.0).sum(axis=2).ravel()  # it goes round and looks at the first trials too
    square = steps.reshape(side, columns, cells)
    for above, below in pairwise(square):
        below += above
    square[:, 1:] += np.cumsum(square[-1, :-1], axis=0)
    return row * size, steps.reshape(-1, budgets)
