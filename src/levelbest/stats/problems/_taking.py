"""Rules that select from a set of samples of a problem: the best sample, or the majority answer.

A rule updates its value when one more sample is added to a set, and gives the value after each number of samples of an
order.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from levelbest._check import FloatArray, IntArray

State = tuple[npt.NDArray[Any], ...]
TakenPlaces = IntArray | int
"""Which sample is drawn next: the same of all sets, or one for each set (problem, set)."""
_SIGN = np.int64(-(2**63))


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
    n_orders, number
        How many random orders are drawn of each problem, 0 for as many as these samples allow; and the numbers of the
        problems, which decide their orders: those of the rows for None.
    """

    n_orders: int = 0
    number: IntArray | None = None
    _names: tuple[str, ...] = field(default=("worth", "rank", "answer", "cost"), repr=False)

    @property
    def size(self) -> int:
        """Samples of each problem."""
        return int(self.worth.shape[1])

    @property
    def problem(self) -> IntArray:
        """The number of each problem."""
        return np.arange(self.worth.shape[0]) if self.number is None else self.number

    @property
    def _columns(self) -> dict[str, Any]:
        known = {name: getattr(self, name) for name in self._names}
        return {name: column for name, column in known.items() if column is not None}

    @cached_property
    def turned(self) -> float:
        """1 where the rank is the worth, -1 where it is the worth turned, 0 where another score chooses."""
        if self.rank is None:
            return 0.0
        return next((sign for sign in (1.0, -1.0) if np.array_equal(self.rank, sign * self.worth)), 0.0)

    def in_order(self) -> Samples:
        """The same, sorted by what they are: the order of the rows plays no part in what is drawn."""
        if (quickly := self._in_one_sort()) is not None:
            return quickly
        columns = self._columns
        order = np.lexsort(list(columns.values()), axis=1)
        ordered: dict[str, Any] = {name: np.take_along_axis(c, order, axis=1) for name, c in columns.items()}
        return replace(self, **ordered)

    def _in_one_sort(self) -> Samples | None:
        """The same where samples are right or wrong: one number says all of a sample, and is sorted alone."""
        if not (self.rank is None or self.turned) or not ((self.worth == 0) | (self.worth == 1)).all():
            return None
        right = self.worth == 1
        if self.cost is None:
            key = right.astype(np.int64)
            key += 0 if self.answer is None else 2 * (self.answer + 1)
            key.sort(axis=1)
            answer, cost, right = None if self.answer is None else key // 2 - 1, None, (key & 1) == 1
        elif self.answer is None and not np.signbit(self.cost).any():
            # the bits of numbers that are not negative are in the order of the numbers: the sign is free
            key = np.ascontiguousarray(self.cost, dtype=np.float64).view(np.int64) | (right * _SIGN)
            key.sort(axis=1)
            answer, cost, right = None, (key & ~_SIGN).view(np.float64), key < 0
        else:
            return None
        worth = right.astype(np.float64)
        return replace(
            self, worth=worth, rank=None if self.rank is None else self.turned * worth, answer=answer, cost=cost
        )

    def of(self, problems: slice) -> Samples:
        """Some of the problems."""
        parts: dict[str, Any] = {name: column[problems] for name, column in self._columns.items()}
        return replace(self, **parts, number=self.problem[problems])

    @property
    def single(self) -> FloatArray:
        """What each sample scores where it is the only one: nothing where answers vote and it has none."""
        return self.worth if self.answer is None else np.where(self.answer >= 0, self.worth, self.nothing)

    def along(self, column: npt.NDArray[Any] | None, orders: IntArray) -> npt.NDArray[Any]:
        """(problem, order, sample): a column in the orders, which are places among all samples."""
        assert column is not None
        return column.ravel().take(orders)


class Taking(Protocol):
    """What is taken from a set of samples, as one sample is drawn after another; a state is (problem, set) each."""

    def start(self, shape: tuple[int, int]) -> State:
        """Of sets without a sample."""

    def add(self, state: State, places: TakenPlaces) -> State:
        """With one more sample in each set."""

    def value(self, state: State) -> FloatArray:
        """What the sample taken scores."""

    def in_orders(self, orders: IntArray, steps: IntArray) -> FloatArray:
        """(problem, order, step): what is taken after so many samples of each order; steps rise.

        Orders are places among all samples, problem after problem.
        """


class BestSample:
    """The best of the samples by rank; those that tie share the choice equally ([B] after eq. 7)."""

    def __init__(self, samples: Samples) -> None:
        self.samples = samples

    def start(self, shape: tuple[int, int]) -> State:
        """Best rank so far, the sum of what those with it score, and their number."""
        return np.full(shape, -np.inf), np.full(shape, self.samples.nothing), np.ones(shape)

    def add(self, state: State, places: TakenPlaces) -> State:
        """A better one replaces the others, an equal one joins them."""
        top, total, number = state
        rank, worth = _at(self.samples.rank, places), _at(self.samples.worth, places)
        better, equal = rank > top, rank == top
        total = np.where(better, worth, np.where(equal, total + worth, total))
        return np.maximum(top, rank), total, np.where(better, 1.0, number + equal)

    def value(self, state: State) -> FloatArray:
        """The mean over those that tie."""
        return np.asarray(state[1] / state[2], dtype=np.float64)

    def in_orders(self, orders: IntArray, steps: IntArray) -> FloatArray:
        """The largest rank so far, and the mean over those that have it."""
        samples = self.samples
        top = np.maximum.accumulate(rank := samples.along(samples.rank, orders), axis=2)
        if samples.turned:
            taken = samples.turned * top
        else:
            leads = (rank == top).astype(np.float64)
            worth = samples.along(samples.worth, orders) * leads
            fresh = np.ones(orders.shape, dtype=bool)
            np.greater(top[:, :, 1:], top[:, :, :-1], out=fresh[:, :, 1:])
            since = np.maximum.accumulate(np.where(fresh, np.arange(orders.shape[2]), 0), axis=2)
            total, number = (
                sums - np.take_along_axis(sums - column, since, axis=2)
                for column in (worth, leads)
                for sums in (np.cumsum(column, axis=2),)
            )
            taken = total / number
        values = taken[:, :, np.maximum(steps - 1, 0)]
        values[:, :, steps == 0] = samples.nothing
        return np.asarray(values, dtype=np.float64)


class MostVotes:
    """The answer with the most votes; answers that tie share the choice equally, and without a vote nothing is taken.

    An answer is worth the mean over the samples of the problem that give it.
    """

    def __init__(self, samples: Samples) -> None:
        assert samples.answer is not None
        self.samples = samples
        given = samples.answer >= 0
        kinds = int(samples.answer.max(initial=0)) + 1  # one at least, where no sample has an answer
        problem = np.broadcast_to(np.arange(given.shape[0])[:, None] * kinds, given.shape)[given]
        place, size = problem + samples.answer[given], given.shape[0] * kinds
        number, total = np.bincount(place, minlength=size), np.bincount(place, samples.worth[given], minlength=size)
        self.worth = (total / np.maximum(number, 1)).reshape(given.shape[0], kinds)

    def start(self, shape: tuple[int, int]) -> State:
        """Votes for each answer, those of the leaders, the sum of what the leaders are worth, and their number."""
        votes = np.zeros((*shape, self.worth.shape[1]), dtype=np.int32)
        return votes, np.zeros(shape, dtype=np.int32), np.full(shape, self.samples.nothing), np.ones(shape)

    def add(self, state: State, places: TakenPlaces) -> State:
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

    def in_orders(self, orders: IntArray, steps: IntArray) -> FloatArray:
        """Votes are counted from one step to the next; (answer, problem and order) each."""
        problems, number, _ = orders.shape
        rows, kinds = problems * number, self.worth.shape[1]
        code = self.samples.along(self.samples.answer, orders).reshape(rows, -1)
        code = (code + 1) * rows + np.arange(rows)[:, None]  # row 0: no answer
        worth = np.repeat(self.worth.T, number, axis=1)
        votes = np.zeros((kinds + 1, rows))
        values, last = np.empty((steps.size, rows)), 0
        for at, step in enumerate(steps.tolist()):
            votes += np.bincount(code[:, last:step].ravel(), minlength=votes.size).reshape(votes.shape)
            last = step
            top = votes[1:].max(axis=0, initial=0)
            leads = votes[1:] == top
            with np.errstate(invalid="ignore"):
                values[at] = (leads * worth).sum(axis=0) / leads.sum(axis=0)
            values[at, top == 0] = self.samples.nothing
        return np.ascontiguousarray(values.T).reshape(problems, number, steps.size)


def _at(column: npt.NDArray[Any] | None, places: TakenPlaces) -> npt.NDArray[Any]:
    assert column is not None
    return column[:, places, None] if isinstance(places, int) else np.take_along_axis(column, places, axis=1)


def taking_rule(samples: Samples) -> Taking:
    """Answers vote where there is no rank."""
    return MostVotes(samples) if samples.rank is None else BestSample(samples)
