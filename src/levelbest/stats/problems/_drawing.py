"""What is taken from the samples drawn of a problem: the best of them, or the answer that most of them give.

A rule says what one more sample changes. Over *subsets* it gives the value of every set of samples, each from the set
with one sample fewer; over *orders* the value after each sample of a random order. Subsets are exact, and serve up to
`EXACT_UP_TO` samples of a problem; beyond, random orders do, without bias, and with a Monte Carlo error that is known.

Budgets count samples, or what samples cost: then samples are drawn until the next one would not be finished within the
budget ([S] section 8).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from math import comb
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from levelbest._check import FloatArray, IntArray

EXACT_UP_TO = 10
"""Samples of a problem up to which every subset is looked at."""
_CELLS = 1 << 22
_MOST_ORDERS, _LEAST_ORDERS = 256, 2
_ROUNDING = 1e-9
_STREAM = 32_452_843
"""The stream of the orders: no seed changes a value."""

Budgets = IntArray | FloatArray
"""Numbers of samples, or what the samples of a problem may cost."""
State = tuple[npt.NDArray[Any], ...]
Places = IntArray | int
"""Which sample is drawn next: the same of all sets, or one for each set (problem, set)."""


@dataclass(frozen=True, eq=False)
class DrawnFrom:
    """Samples, one after the other: what is drawn from. The columns are those of `Samples`."""

    worth: FloatArray
    rank: FloatArray | None = None
    answer: IntArray | None = None
    cost: FloatArray | None = None
    nothing: float = 0.0


@dataclass(frozen=True, eq=False)
class Samples(DrawnFrom):
    """Samples of problems that have equally many: (problem, sample) each.

    Parameters
    ----------
    worth
        What a sample scores where it is taken.
    rank
        What chooses the best sample, turned so that higher is better; None: the answers vote.
    answer
        The answer of a sample, coded from 0 within its problem, -1 where it gives none.
    cost
        What a sample costs.
    nothing
        What counts where there is no sample, or no answer, to take.
    """

    @property
    def size(self) -> int:
        """Samples of each problem."""
        return int(self.worth.shape[1])

    @property
    def _columns(self) -> dict[str, Any]:
        known = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: column for name, column in known.items() if isinstance(column, np.ndarray)}

    def in_order(self) -> Samples:
        """The same, sorted by what they are: the order of the rows plays no part in what is drawn."""
        columns = self._columns
        order = np.lexsort(list(columns.values()), axis=1)
        ordered: dict[str, Any] = {name: np.take_along_axis(c, order, axis=1) for name, c in columns.items()}
        return replace(self, **ordered)

    def of(self, problems: slice) -> Samples:
        """Some of the problems."""
        return replace(self, **{name: column[problems] for name, column in self._columns.items()})


class Taking(Protocol):
    """What is taken from a set of samples, as one sample is drawn after another; a state is (problem, set) each."""

    def start(self, shape: tuple[int, int]) -> State:
        """Of sets without a sample."""

    def add(self, state: State, places: Places) -> State:
        """With one more sample in each set."""

    def value(self, state: State) -> FloatArray:
        """What the sample taken scores."""


class BestSample:
    """The best of the samples by rank; those that tie share the choice equally ([B] after eq. 7)."""

    def __init__(self, samples: Samples) -> None:
        self.samples = samples

    def start(self, shape: tuple[int, int]) -> State:
        """Best rank so far, the sum of what those with it score, and their number."""
        return np.full(shape, -np.inf), np.full(shape, self.samples.nothing), np.ones(shape)

    def add(self, state: State, places: Places) -> State:
        """A better one replaces the others, an equal one joins them."""
        top, total, number = state
        rank, worth = _at(self.samples.rank, places), _at(self.samples.worth, places)
        better, equal = rank > top, rank == top
        total = np.where(better, worth, np.where(equal, total + worth, total))
        return np.maximum(top, rank), total, np.where(better, 1.0, number + equal)

    def value(self, state: State) -> FloatArray:
        """The mean over those that tie."""
        return np.asarray(state[1] / state[2], dtype=np.float64)


class MostVotes:
    """The answer with the most votes; answers that tie share the choice equally, and without a vote nothing is taken.

    An answer is worth the mean over the samples of the problem that give it.
    """

    def __init__(self, samples: Samples) -> None:
        assert samples.answer is not None
        self.samples = samples
        given = samples.answer >= 0
        kinds = int(samples.answer.max(initial=-1)) + 1
        problem = np.broadcast_to(np.arange(given.shape[0])[:, None], given.shape)[given]
        number, total = np.zeros((2, given.shape[0], kinds))
        np.add.at(number, (problem, samples.answer[given]), 1.0)
        np.add.at(total, (problem, samples.answer[given]), samples.worth[given])
        self.worth = total / np.maximum(number, 1.0)

    def start(self, shape: tuple[int, int]) -> State:
        """Votes for each answer, those of the leaders, the sum of what the leaders are worth, and their number."""
        votes = np.zeros((*shape, self.worth.shape[1]), dtype=np.int32)
        return votes, np.zeros(shape, dtype=np.int32), np.full(shape, self.samples.nothing), np.ones(shape)

    def add(self, state: State, places: Places) -> State:
        """A vote that leads alone replaces the leaders, one that draws level joins them."""
        votes, top, total, number = state
        answer = np.broadcast_to(_at(self.samples.answer, places), top.shape)
        given = answer >= 0
        code = np.where(given, answer, 0)[..., None]
        votes = votes.copy()
        now = np.take_along_axis(votes, code, axis=2) + given[..., None].astype(np.int32)
        np.put_along_axis(votes, code, now, axis=2)
        counted = np.where(given, now[..., 0], -1)
        worth = np.take_along_axis(self.worth, code[..., 0], axis=1)
        ahead, level = counted > top, counted == top
        total = np.where(ahead, worth, np.where(level, total + worth, total))
        return votes, np.maximum(top, counted), total, np.where(ahead, 1.0, number + level)

    def value(self, state: State) -> FloatArray:
        """The mean over the leaders."""
        return np.asarray(state[2] / state[3], dtype=np.float64)


def _at(column: npt.NDArray[Any] | None, places: Places) -> npt.NDArray[Any]:
    assert column is not None
    return column[:, places, None] if isinstance(places, int) else np.take_along_axis(column, places, axis=1)


def _rule_of(samples: Samples) -> Taking:
    return MostVotes(samples) if samples.rank is None else BestSample(samples)


def values_of_counts(samples: Samples, budgets: Budgets) -> tuple[FloatArray, FloatArray]:
    """(problem, budget): what is taken from n samples scores on average, and the Monte Carlo error of it.

    NaN where a problem has fewer than n samples; the error is 0 where every subset was looked at.
    """
    inside = np.where(budgets <= samples.size, budgets, 0).astype(np.int64)

    def of_subsets(part: Samples) -> FloatArray:
        sizes = _subset_sizes(part.size)
        each = np.array([(sizes == n) / comb(part.size, int(n)) for n in inside])
        return np.asarray(_subset_values(part) @ each.T)

    def of_orders(values: FloatArray, _costs: FloatArray | None) -> FloatArray:
        return np.asarray(values[inside])

    value, error = _averaged(samples, inside.size, of_subsets, of_orders)
    value[:, inside == 1], error[:, inside == 1] = _one_sample(samples)[:, None], 0.0
    value[:, budgets > samples.size] = error[:, budgets > samples.size] = np.nan
    return value, error


def values_of_costs(samples: Samples, budgets: Budgets) -> tuple[FloatArray, FloatArray]:
    """(problem, budget): what is taken from the samples finished within each budget, and the Monte Carlo error of it.

    NaN where all samples of a problem can be finished within the budget: with more of them more might have been.
    """
    assert samples.cost is not None
    limits = np.asarray(budgets, dtype=np.float64) * (1 + _ROUNDING)

    def of_subsets(part: Samples) -> FloatArray:
        return np.asarray((_subset_chances(part, limits) @ _subset_values(part)[:, :, None])[:, :, 0])

    def of_orders(values: FloatArray, costs: FloatArray | None) -> FloatArray:
        assert costs is not None
        finished = np.stack([(costs <= limit).sum(axis=0) for limit in limits])
        return np.take_along_axis(values, finished, axis=0)

    value, error = _averaged(samples, budgets.size, of_subsets, of_orders)
    finished = samples.cost.sum(axis=1)[:, None] <= limits
    value[finished] = error[finished] = np.nan
    return value, error


def _one_sample(samples: Samples) -> FloatArray:
    """Of each problem: the mean over single samples."""
    rule = _rule_of(samples)
    places = np.broadcast_to(np.arange(samples.size), samples.worth.shape)
    return np.asarray(rule.value(rule.add(rule.start(places.shape), places)).mean(axis=1))


# ---- exactly: every subset


def _subset_sizes(m: int) -> IntArray:
    return np.array([s.bit_count() for s in range(1 << m)])


def _subset_values(samples: Samples) -> FloatArray:
    """(problem, subset): subset s holds the samples whose bit of s is set."""
    rule = _rule_of(samples)
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


def _ordered(samples: Samples, orders: IntArray) -> tuple[FloatArray, FloatArray | None]:
    """(samples drawn, problem, order) from none to all: what is taken; and (sample, problem, order): what they cost."""
    rule, (problems, number, m) = _rule_of(samples), orders.shape
    values = np.empty((m + 1, problems, number))
    state = rule.start((problems, number))
    values[0] = rule.value(state)
    for at in range(m):
        state = rule.add(state, orders[:, :, at])
        values[at + 1] = rule.value(state)
    if samples.cost is None:
        return values, None
    flat = np.take_along_axis(samples.cost, orders.reshape(problems, -1), axis=1).reshape(orders.shape)
    return values, np.cumsum(np.moveaxis(flat, 2, 0), axis=0)


def _pieces(samples: Samples, cells: int) -> Iterator[Samples]:
    step = max(1, _CELLS // cells)
    for start in range(0, samples.worth.shape[0], step):
        yield samples.of(slice(start, start + step))


def _averaged(
    samples: Samples,
    n_budgets: int,
    of_subsets: Callable[[Samples], FloatArray],
    of_orders: Callable[[FloatArray, FloatArray | None], FloatArray],
) -> tuple[FloatArray, FloatArray]:
    """Mean and Monte Carlo error by problem and budget: over every subset, or over random orders."""
    samples, m = samples.in_order(), samples.size
    if m <= EXACT_UP_TO:
        parts = [of_subsets(part) for part in _pieces(samples, (1 << m) * max(m, n_budgets))]
        value = np.concatenate(parts)
        return value, np.zeros_like(value)
    number = int(np.clip(_CELLS // samples.worth.size, _LEAST_ORDERS, _MOST_ORDERS))
    values, errors = [], []
    for at, part in enumerate(_pieces(samples, m * number)):
        rng = np.random.default_rng([_STREAM, m, at])
        keys = rng.random((part.worth.shape[0], number, m), dtype=np.float32)
        drawn = of_orders(*_ordered(part, np.argsort(keys, axis=2)))
        values.append(drawn.mean(axis=2).T)
        errors.append(drawn.std(axis=2, ddof=1).T / np.sqrt(number))
    return np.concatenate(values), np.concatenate(errors)
