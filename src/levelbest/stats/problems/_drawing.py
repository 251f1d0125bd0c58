"""The expected value of the selected sample of a problem, for every number of samples or every spend.

Over *subsets* it is exact, for up to `SUBSETS_UP_TO` samples of a problem; with more, random *orders* of its samples
give an unbiased estimate with a known Monte Carlo error. An order depends only on the number of its problem, not on the
order of the rows or on whether the table is in memory or read in parts.

Budgets count samples, or what samples cost: then samples are drawn until the next one would not be finished within the
budget ([S] section 8).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import comb

import numpy as np

from levelbest._check import Budgets, FloatArray, IntArray
from levelbest.stats.problems._groups import buckets
from levelbest.stats.problems._taking import DrawnFrom, Samples, taking_rule

SUBSETS_UP_TO = 10
"""Samples of a problem up to which every subset is looked at."""
_ORDERED = 1 << 21
"""Samples in all random orders together, where that is between 2 and 256 orders."""
_VALUES_AT_ONCE = 1 << 18
"""Numbers that are computed together: so many fit the cache."""
_MOST_ORDERS, _LEAST_ORDERS = 256, 2
_COST_ROUNDING = 1e-9
_ORDERS_SEED = 32_452_843
"""The stream of the orders: no seed changes a value."""


def orders_for(n_samples: int) -> int:
    """How many random orders of each problem, where all have so many samples together."""
    return int(np.clip(_ORDERED // max(n_samples, 1), _LEAST_ORDERS, _MOST_ORDERS))


def values_of_counts(samples: Samples, budgets: Budgets) -> tuple[FloatArray, FloatArray]:
    """(problem, budget): what is taken from n samples scores on average, and the Monte Carlo error of it.

    NaN where a problem has fewer than n samples; the error is 0 where every subset was looked at.
    """
    inside = np.where(budgets <= samples.size, budgets, 0).astype(np.int64)
    steps, place = np.unique(inside, return_inverse=True)

    def of_subsets(part: Samples) -> FloatArray:
        sizes = _subset_sizes(part.size)
        each = np.array([(sizes == n) / comb(part.size, int(n)) for n in inside])
        return np.asarray(_subset_values(part) @ each.T)

    def of_orders(part: Samples, orders: IntArray) -> FloatArray:
        return taking_rule(part).in_orders(orders, steps)[:, :, place.ravel()]

    value, error = _averaged(samples, inside.size, of_subsets, of_orders)
    value[:, inside == 1], error[:, inside == 1] = samples.single.mean(axis=1)[:, None], 0.0
    value[:, budgets > samples.size] = error[:, budgets > samples.size] = np.nan
    return value, error


def values_of_costs(samples: Samples, budgets: Budgets) -> tuple[FloatArray, FloatArray]:
    """(problem, budget): what is taken from the samples finished within each budget, and the Monte Carlo error of it.

    NaN where all samples of a problem can be finished within the budget: with more of them more might have been.
    """
    assert samples.cost is not None
    limits = np.asarray(budgets, dtype=np.float64) * (1 + _COST_ROUNDING)
    steps = np.arange(samples.size + 1)

    def of_subsets(part: Samples) -> FloatArray:
        return np.asarray((_subset_chances(part, limits) @ _subset_values(part)[:, :, None])[:, :, 0])

    def of_orders(part: Samples, orders: IntArray) -> FloatArray:
        assert part.cost is not None
        values = taking_rule(part).in_orders(orders, steps)
        spent = np.cumsum(part.along(part.cost, orders), axis=2)
        return np.take_along_axis(values, _samples_within(spent, limits), axis=2)

    value, error = _averaged(samples, budgets.size, of_subsets, of_orders)
    finished = samples.cost.sum(axis=1)[:, None] <= limits
    value[finished] = error[finished] = np.nan
    return value, error


def _samples_within(spent: FloatArray, limits: FloatArray) -> IntArray:
    """(problem, order, limit): how many of the sums along the last axis, which rise, are within each limit."""
    rows, m = spent.reshape(-1, spent.shape[2]), spent.shape[2]
    flat, start = rows.ravel(), np.arange(rows.shape[0])[:, None] * m - 1
    number = np.zeros((rows.shape[0], limits.size), dtype=np.intp)
    for power in reversed(range(m.bit_length())):  # bisection, of all rows and limits at once
        further = number + (1 << power)
        within = flat.take(start + np.minimum(further, m)) <= limits
        within &= further <= m
        number = np.where(within, further, number)
    return number.reshape(*spent.shape[:2], -1)


def _averaged(
    samples: Samples,
    n_budgets: int,
    of_subsets: Callable[[Samples], FloatArray],
    of_orders: Callable[[Samples, IntArray], FloatArray],
) -> tuple[FloatArray, FloatArray]:
    """Mean and Monte Carlo error by problem and budget: over every subset, or over random orders."""
    samples, m = samples.in_order(), samples.size
    if m <= SUBSETS_UP_TO:
        parts = [of_subsets(part) for part in _sample_pieces(samples, (1 << m) * max(m, n_budgets))]
        value = np.concatenate(parts)
        return value, np.zeros_like(value)
    number = samples.n_orders or orders_for(samples.worth.size)
    values, errors = [], []
    for part in _sample_pieces(samples, m * number):
        orders = random_orders(part.problem, number, m)
        drawn = of_orders(part, orders + m * np.arange(orders.shape[0])[:, None, None])
        values.append(drawn.mean(axis=1))
        errors.append(drawn.std(axis=1, ddof=1) / np.sqrt(number))
    return np.concatenate(values), np.concatenate(errors)


def _sample_pieces(samples: Samples, cells: int) -> Iterator[Samples]:
    step = max(1, _VALUES_AT_ONCE // cells)
    for start in range(0, samples.worth.shape[0], step):
        yield samples.of(slice(start, start + step))


# ---- exactly: every subset


def _subset_sizes(m: int) -> IntArray:
    return np.array([s.bit_count() for s in range(1 << m)])


def _subset_values(samples: Samples) -> FloatArray:
    """(problem, subset): subset s holds the samples whose bit of s is set."""
    rule = taking_rule(samples)
    state = rule.start((samples.worth.shape[0], 1))
    for place in range(samples.size):
        more = rule.add(state, place)
        state = tuple(np.concatenate([without, with_it], axis=1) for without, with_it in zip(state, more, strict=True))
    return rule.value(state)


def _subset_chances(samples: Samples, limits: FloatArray) -> FloatArray:
    """(problem, budget, subset): the chance that these samples, and no other, are finished within the budget.

    A subset of s samples is the first s of a random order with chance 1 / C(m, s); it stays so where the next sample,
    any of the others, does not fit any more.
    """
    assert samples.cost is not None
    m = samples.size
    cost = np.zeros((samples.worth.shape[0], 1))
    for place in range(m):
        cost = np.concatenate([cost, cost + samples.cost[:, place, None]], axis=1)
    sizes, every = _subset_sizes(m), np.arange(1 << m)
    first = 1 / np.array([comb(m, int(size)) for size in sizes])
    fits = cost[:, None, :] <= limits[:, None]
    room = np.zeros(fits.shape)
    for place in range(m):
        others = (every >> place & 1) == 0
        room[:, :, others] += fits[:, :, every[others] | 1 << place]
    return np.asarray(fits * first * (1 - room / np.maximum(m - sizes, 1)))


# ---- random orders


def random_orders(problems: IntArray, number: int, m: int) -> IntArray:
    """(problem, order, sample): random orders of m samples of each problem.

    Samples are sorted by hashes of problem, order and sample, whose lowest bits are the sample itself. Of m samples at
    most 256 leave 24 bits to chance, so that fewer than one order in 500 has two samples tied, which costs nothing.
    """
    few = m <= 1 << 8
    seeds = (
        np.uint64(_ORDERS_SEED)
        + (problems.astype(np.uint64) << np.uint64(12))[:, None]
        + np.arange(number, dtype=np.uint64)
    )
    base = (_mixed64(seeds) >> np.uint64(32)).astype(np.uint32)
    keys = _mixed32(base[:, :, None] + np.arange(m, dtype=np.uint32) * np.uint32(0x9E3779B9))
    if few:
        keys &= np.uint32(0xFFFFFF00)
        keys |= np.arange(m, dtype=np.uint32)
        keys.sort(axis=2)
        return (keys & np.uint32(0xFF)).astype(np.intp)
    wide = keys.astype(np.uint64) << np.uint64(32) | np.arange(m, dtype=np.uint64)
    wide.sort(axis=2)
    return (wide & np.uint64(0xFFFFFFFF)).astype(np.intp)


def _mixed64(bits: np.ndarray) -> np.ndarray:
    """The finaliser of SplitMix64 (Steele, Lea and Flood 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(bits ^ (bits >> np.uint64(31)))


def _mixed32(bits: np.ndarray) -> np.ndarray:
    """A hash of 32 bits in place, of little bias (lowbias32, Wellons 2018)."""
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        bits ^= bits >> np.uint32(shift)
        bits *= np.uint32(factor)
    bits ^= bits >> np.uint32(16)
    return bits


def drawn_values(
    samples: DrawnFrom,
    code: IntArray | None,
    sizes: IntArray,
    budgets: Budgets,
    *,
    spend: bool = False,
    n_samples: int | None = None,
    numbers: IntArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """What is taken from the samples drawn, by group (rows) and budget, and the Monte Carlo error of it.

    Budgets count samples or, with ``spend``, what the samples of one problem may cost together. Where these are a part
    of all groups, ``n_samples`` are those of all, and ``numbers`` the numbers of these groups among all.
    """
    orders = orders_for(int(sizes.sum()) if n_samples is None else n_samples)
    value, error = np.full((2, sizes.size, budgets.size), np.nan)
    for where, (worth, rank, answer, cost) in buckets(
        (samples.worth, samples.rank, samples.answer, samples.cost if spend else None), code, sizes
    ):
        number = where if numbers is None else numbers[where]
        coded = None if answer is None else _coded(answer)
        part = Samples(worth, rank, coded, cost, samples.nothing, n_orders=orders, number=number)
        values, error[where] = values_of_costs(part, budgets) if spend else values_of_counts(part, budgets)
        # a mean cannot leave what it is of, but for rounding
        value[where] = np.clip(values, min(worth.min(), samples.nothing), max(worth.max(), samples.nothing))
    return value, error


def _coded(answers: IntArray) -> IntArray:
    """Answers numbered from 0 within each row; -1 stays."""
    bits = answers.shape[1].bit_length()
    keys = np.sort(answers << bits | np.arange(answers.shape[1]), axis=1)
    order, ordered = keys & ((1 << bits) - 1), keys >> bits
    fresh = np.zeros(answers.shape, dtype=np.int64)
    fresh[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    number = np.cumsum(fresh, axis=1) - (ordered[:, :1] < 0)
    codes = np.empty_like(number)
    np.put_along_axis(codes, order, number, axis=1)
    return np.asarray(codes, dtype=np.int64)
