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
from itertools import permutations
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from levelbest._check import BoolArray, Bounds, FloatArray, IntArray

ROUNDING = 1e-9  # relative: ten costs of .1 finish within 1, although their sum in floating point exceeds it
_CHUNK, _LOOKED_UP_AT_ONCE = 1 << 20, 1 << 17  # elements of one array, and of one that is looked up often
_ORDERS_OF_UP_TO = 7  # every order of up to seven trials
_ROTATIONS = 400  # of one order at most, evenly spaced
_BITS = 36  # of a whole number; 67 million of them have a sum within 64 bits
_BASES = 50  # orders at least, for the Monte Carlo error


_Entry = TypeVar("_Entry", np.int32, np.float64)
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
    winners: tuple[Sequence[npt.NDArray[np.int32]], ...]
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
    parts: Iterable[_Part]
    if exact:
        every = np.array(list(permutations(range(m))), dtype=np.int64)
        parts = [_spend(pool, every, np.zeros(1, dtype=np.int64), grid)]
    elif pool.workers > 1:
        parts = (_spend(pool, *orders, grid) for orders in _rotated_orders(m, n_orders, rng))
    else:
        parts = _windows(pool, grid, n_orders, rng)
    values, won, finished, sums = zip(*parts, strict=True)
    means, winners, halves = np.concatenate(values), np.concatenate(won).T, np.sum(sums, axis=0)
    # The rotations of one order depend on each other: the order is the unit of the Monte Carlo error.
    error = np.zeros(grid.size) if exact else means.std(axis=0, ddof=1) / math.sqrt(len(means))
    count = winners.shape[1]
    if exact:
        halves = np.repeat(halves.sum(axis=0, keepdims=True), 2, axis=0) / 2
    return Spent(
        value=means.mean(axis=0),
        error=error,
        nothing=1 - np.count_nonzero(winners >= 0, axis=1) / count,
        finished=np.sum(finished, axis=0) / count,
        winners=tuple((row,) for row in winners),
        sampling_error=jackknife_error(halves / (count / 2)),
    )


_Part = tuple[FloatArray, npt.NDArray[np.int32], FloatArray, FloatArray]
"""Mean values of each order (order, budget), the winners of its rotations (rotation, budget), trials finished, and
`looked_at_sums`."""


def looked_at_sums(place: IntArray, starts: IntArray, looked_at: IntArray, values: FloatArray) -> FloatArray:
    """What leaving each trial out takes away, summed over windows: (half of the orders, budget, trial).

    ``place`` is where each trial stands in each order, ``looked_at`` (order, start, budget) how many trials a window
    looks at: those that it finishes and the one that it does not. A window of k trials is as likely in an order of all
    m as in one of m - 1 without some other trial, but for a factor m / (m - k). So the value without trial i is the
    mean, over the windows that do not look at i, of value times m / (m - k): the jackknife takes no further orders.
    """
    size, m = place.shape
    budgets = np.arange(values.shape[2])
    centre = values.mean(axis=(0, 1))
    out = np.zeros((2, m, budgets.size))
    begin = starts[:, None] * budgets.size + budgets
    for at in range(size):
        weight = (values[at] - centre) * (m / (m - looked_at[at]))
        ends = starts[:, None] + looked_at[at]
        past = ends >= m  # a window that goes round looks at the first trials too
        places = np.concatenate([begin, np.where(past, ends - m, ends) * budgets.size + budgets])
        changes = np.concatenate([weight, -weight])
        steps = np.bincount(places.ravel(), changes.ravel(), m * budgets.size).reshape(m, -1)
        steps[0] += np.where(past, weight, 0.0).sum(axis=0)
        out[at % 2] += np.cumsum(steps, axis=0, out=steps).take(place[at], axis=0)
    return np.ascontiguousarray(out.transpose(0, 2, 1))


def jackknife_error(halves: FloatArray) -> FloatArray:
    """From `looked_at_sums` per window; the Monte Carlo errors of the two halves are independent and do not add."""
    first, second = halves - halves.mean(axis=2, keepdims=True)
    squares = (1 - 1 / halves.shape[2]) * np.sum(first * second, axis=1)
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def _windows(pool: Pool, grid: FloatArray, n_orders: int, rng: np.random.Generator) -> Iterator[_Part]:
    """One worker: the trials that a rotation finishes within a budget are a window of the order, gone round twice."""
    m = pool.y.size
    rotations = min(m, _ROTATIONS)
    bases = max(_BASES, 2 * -(-n_orders // (2 * rotations)))
    starts = (np.arange(rotations) * m) // rotations
    limits = grid * (1 + ROUNDING)
    piece = max(1, _LOOKED_UP_AT_ONCE // (rotations * grid.size))
    step = 2 * max(1, _CHUNK // (2 * max(2 * m, rotations * grid.size)))
    for begin in range(0, bases, step):
        size = min(step, bases - begin)
        order = rng.permuted(np.broadcast_to(np.arange(m), (size, m)), axis=1)
        rank = _twice(pool.rank[order])
        counts, best = np.empty((2, size, rotations, grid.size), dtype=np.int32)
        for at in range(0, size, piece):  # so few that the processor's cache holds them
            some = slice(at, at + piece)
            counts[some] = _finished(pool.cost[order[some]], starts, limits)
            best[some] = _best_in_window(rank[some], starts, counts[some])
        finished = counts > 0
        if pool.y_of_rank is None:
            values = TiedWins(rank, _twice(pool.y[order])).means(starts, counts, best)
        else:
            values = pool.y_of_rank[best]
        values = np.where(finished, values, pool.worst)
        won = np.where(finished, best, np.int32(-1)).reshape(-1, grid.size)
        left_out = looked_at_sums(np.argsort(order, axis=1), starts, np.minimum(counts + 1, m - 1), values)
        yield values.mean(axis=1), won, counts.sum(axis=(0, 1)).astype(np.float64), left_out


def _finished(cost: FloatArray, starts: IntArray, limits: FloatArray) -> IntArray:
    """How many trials of each order are finished within each limit from each start on: (order, start, limit)."""
    size, m = cost.shape
    sums = np.zeros((size, 2 * m + 1))
    np.cumsum(_twice(cost), axis=1, out=sums[:, 1:])
    wanted = sums[:, starts, None] + limits
    ends = [np.searchsorted(row, wanted_of.ravel(), side="right") for row, wanted_of in zip(sums, wanted, strict=True)]
    return np.minimum(np.reshape(ends, wanted.shape) - 1 - starts[:, None], m)


def _twice(orders: npt.NDArray[_Entry]) -> npt.NDArray[_Entry]:
    return np.concatenate([orders, orders], axis=1)


class TiedWins:
    """What the trials tied for the win in a window of an order report: they share it ([B] after eq. 7)."""

    def __init__(self, rank: npt.NDArray[np.int32], y: FloatArray) -> None:
        self.size, self.length = rank.shape
        self.ranks = int(rank.max()) + 1
        # Entries in order of (order, rank, place): those of one rank in a window are a run, found at its two ends.
        group = (np.arange(self.size)[:, None] * self.ranks + rank) * (self.length + 1)
        keys = (group + np.arange(self.length)).ravel()
        by = np.argsort(keys)
        self.keys, self.centre = keys[by], float(y.mean())
        self.total = np.concatenate([[0.0], np.cumsum(y.ravel()[by] - self.centre)])

    def means(self, starts: IntArray, counts: _Whole, best: _Whole) -> FloatArray:
        """The mean over the trials of rank ``best`` (order, start, budget) in the windows of ``counts`` from starts."""
        group = (np.arange(self.size)[:, None, None] * self.ranks + best) * (self.length + 1)
        first = group + starts[:, None]
        low, high = (np.searchsorted(self.keys, (first + offset).ravel()) for offset in (0, counts))
        shared = self.centre + (self.total[high] - self.total[low]) / np.maximum(high - low, 1)
        return np.asarray(shared.reshape(best.shape))


def _best_in_window(rank: npt.NDArray[np.int32], starts: IntArray, counts: _Whole) -> IntArray:
    """The highest rank in the windows of ``counts`` (order, start, budget) entries from ``starts`` on; any where 0.

    A window is some whole blocks from one start to the next, and a beginning of the block after them.
    """
    edges = np.concatenate([starts, starts + rank.shape[1] // 2])
    block = np.repeat(np.arange(edges.size), np.diff(edges, append=rank.shape[1]))
    above = int(rank.max()) + 1
    # Running maxima that restart with every block: a later block is above all earlier ones.
    so_far = np.maximum.accumulate(block * above + rank, axis=1)
    row = np.arange(rank.shape[0])[:, None, None]
    last = starts[:, None] + np.maximum(counts, 1) - 1
    beginning = so_far[row, last] % above
    whole = block[last] - np.arange(starts.size)[:, None]
    if not whole.any():
        return beginning
    before = best_in_stretch(np.maximum.reduceat(rank, edges, axis=1), whole)
    return np.where(whole > 0, np.maximum(beginning, before), beginning)


def best_in_stretch(rank: npt.NDArray[np.int32], counts: IntArray) -> IntArray:
    """The highest rank in ``counts`` (order, start, budget) entries from entry ``start`` on; any where 0.

    From maxima over stretches of 1, 2, 4, ... entries: any stretch is two of them that overlap.
    """
    longest = max(1, int(counts.max()))
    levels = [rank]
    while 2 ** len(levels) <= longest:
        half = 2 ** (len(levels) - 1)
        last = levels[-1].copy()
        np.maximum(last[:, :-half], levels[-1][:, half:], out=last[:, :-half])
        levels.append(last)
    table = np.stack(levels)
    size = np.maximum(counts, 1)
    level = np.frexp(size.astype(np.float64))[1] - 1
    row, first = np.arange(rank.shape[0])[:, None, None], np.arange(counts.shape[1])[:, None]
    last = first + size - 2**level
    return np.asarray(np.maximum(table[level, row, first], table[level, row, last]), dtype=np.int64)


def _rotated_orders(m: int, n_orders: int, rng: np.random.Generator) -> Iterator[tuple[IntArray, IntArray]]:
    """Random orders with their rotations, (order and rotation, m), and where each rotation starts; in chunks."""
    rotations = min(m, _ROTATIONS)
    bases = max(_BASES, 2 * -(-n_orders // (2 * rotations)))
    starts = (np.arange(rotations) * m) // rotations
    turned = (starts[:, None] + np.arange(m)) % m
    step = 2 * max(1, _CHUNK // (2 * rotations * m))
    for begin in range(0, bases, step):
        size = min(step, bases - begin)
        base = rng.permuted(np.broadcast_to(np.arange(m), (size, m)), axis=1)
        yield base[:, turned].reshape(size * rotations, m), starts


def _spend(pool: Pool, orders: IntArray, starts: IntArray, grid: FloatArray) -> _Part:
    """Any number of workers, and orders that are given one by one."""
    rows, m = np.arange(orders.shape[0])[:, None], pool.y.size
    place = np.argsort(orders[:: starts.size], axis=1)
    limits, finish = grid * (1 + ROUNDING), _finish_times(pool.cost[orders], pool.workers)
    begun = finish - pool.cost[orders]
    counts, looked_at = (
        np.stack([np.count_nonzero(times <= t, axis=1) for t in limits], axis=1) for times in (finish, begun)
    )
    if pool.workers > 1:
        # A trial that starts later may finish earlier: follow the order of the finishes.
        orders = orders[rows, np.argsort(finish, axis=1, kind="stable")]
    orders = orders[:, : max(1, int(counts.max()))]
    last = np.maximum(counts - 1, 0)
    best = np.maximum.accumulate(pool.rank[orders], axis=1)[rows, last]
    if pool.y_of_rank is None:
        values = _running_winner(pool.rank[orders], pool.y[orders])[rows, last]
    else:
        values = pool.y_of_rank[best]
    some = counts > 0
    by_order = (place.shape[0], starts.size, grid.size)
    values = np.where(some, values, pool.worst).reshape(by_order)
    left_out = looked_at_sums(place, starts, np.minimum(looked_at, m - 1).reshape(by_order), values)
    won = np.where(some, best, -1).astype(np.int32)
    return values.mean(axis=1), won, counts.sum(axis=0).astype(np.float64), left_out


def _finish_times(cost: FloatArray, workers: int) -> FloatArray:
    """When each trial of each order ends: each worker takes the next trial as soon as it is free."""
    if workers == 1:
        return np.cumsum(cost, axis=1)
    rows = np.arange(cost.shape[0])
    free_at = np.zeros((cost.shape[0], workers))
    finish = np.empty_like(cost)
    for place in range(cost.shape[1]):
        worker = free_at.argmin(axis=1)
        finish[:, place] = free_at[rows, worker] + cost[:, place]
        free_at[rows, worker] = finish[:, place]
    return finish


def _running_winner(rank: npt.NDArray[np.int32], y: FloatArray) -> FloatArray:
    """The reported score of the winner of each prefix; trials tied for the win share it equally ([B] after eq. 7)."""
    best = np.maximum.accumulate(rank, axis=1)
    wins = rank == best
    first = np.ones_like(wins)
    first[:, 1:] = best[:, 1:] > best[:, :-1]
    since = np.maximum.accumulate(np.where(first, np.arange(rank.shape[1]), 0), axis=1)
    if (wins.sum(axis=1) == first.sum(axis=1)).all():
        return np.take_along_axis(y, since, axis=1)
    # Sums restart at each new best. Centring keeps the differences of running sums exact to rounding.
    centre = y.mean(axis=1, keepdims=True)
    total = np.cumsum(np.where(wins, y - centre, 0.0), axis=1)
    count = np.cumsum(wins, axis=1)
    at = since - 1
    before = np.where(at < 0, 0.0, np.take_along_axis(total, np.maximum(at, 0), axis=1))
    count_before = np.where(at < 0, 0, np.take_along_axis(count, np.maximum(at, 0), axis=1))
    shared: FloatArray = centre + (total - before) / (count - count_before)
    return shared
