"""One family's samples as a pool to draw from: what they score, answer and cost, problem by problem.

The functions of a pool handle whether samples are in memory or read in parts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from types import EllipsisType
from typing import TypeVar

import numpy as np

from levelbest._check import Budgets, Column, FloatArray, IntArray
from levelbest.errors import DataError, InputError, named
from levelbest.stats.best import Sample
from levelbest.stats.problems import DrawnFrom, drawn_values, expected_spend
from levelbest.trials.scores import Metric, Scores

__all__ = ["NO_ANSWER", "SamplePool", "checked_spend", "pool_of", "remembered"]

SampleRows = slice | IntArray | EllipsisType
EVERY: EllipsisType = ...
NO_ANSWER = ("", "nan", "None", "none", "null")
_Value = TypeVar("_Value")
DrawValues = Callable[[Budgets, bool, bool], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, eq=False)
class SamplePool:
    """Samples of one family, to draw from."""

    family: str
    sizes: IntArray
    """Of each problem."""
    draw: DrawValues
    """(budgets, whether answers vote, whether budgets are costs): what is taken, by problem and budget, and its Monte
    Carlo error."""
    above: Callable[[FloatArray], FloatArray]
    """The share of all samples that cost more than each spend."""
    answered: bool
    """Whether some sample has an answer."""
    spent: FloatArray | None
    """(problem, 2): what the samples that score below 1 cost together, and those that score 1; None where some sample
    has no cost."""
    nothing: float
    """What counts where no sample is finished: the worst score."""
    held: Callable[[IntArray], Sample] | None = None
    """The samples of some problems, one problem after the other; None where they are read in parts."""
    unpriced: int = 0
    """Samples without a cost, where others have one."""
    inside: SampleRows = EVERY
    """The problems that count."""

    def samples(self, places: IntArray) -> Sample:
        """The samples of some of the problems that count, one problem after the other, turned so that higher is
        better."""
        assert self.held is not None
        return self.held(np.arange(self.sizes.size)[self.inside][places])

    def values(self, budgets: Budgets, *, vote: bool, spend: bool) -> tuple[FloatArray, FloatArray]:
        """(problem, budget): what is taken from the samples drawn scores, and its Monte Carlo error.

        Parameters
        ----------
        budgets
            Numbers of samples or, with ``spend``, costs of a problem's samples together.
        vote, spend
            Whether answers vote, or the best sample counts; what budgets count.
        """
        if vote and not self.answered:
            raise InputError(
                f"{self.family}: a majority needs the answer of each sample; name its column with {named('answer')}"
            )
        if spend:
            self.costs()
        value, error = self.draw(budgets, vote, spend)
        return value[self.inside], error[self.inside]

    def costs(self) -> FloatArray:
        """What all samples of each problem cost together."""
        if self.spent is None:
            how = f"name its column with {named('cost')}, or price its tokens with {named('rate')}"
            if self.unpriced:
                share = f"{self.unpriced} of {self.sizes.sum()}"
                how = f"{share} have none: leave them out ({named('where')}), or fill them in"
            raise InputError(f"{self.family}: a spend per problem needs the cost of every sample; {how}")
        return np.asarray(self.spent.sum(axis=1)[self.inside])

    def expected_spend(self, n: int, ones: IntArray, *, stop: bool) -> FloatArray:
        """Of each problem that counts: what up to n samples cost, with or without a stop at the first success."""
        self.costs()
        assert self.spent is not None
        failed, solved = self.spent[self.inside].T
        return expected_spend(solved, failed, ones, self.sizes[self.inside], n, stop=stop)


def pool_of(
    family: str, scores: Scores, metric: Metric, answer: Column | None, code: IntArray, sizes: IntArray
) -> SamplePool:
    """The pool of one family that is in memory; ``answer`` is that of each sample that counts."""
    worth, sign, cost = scores.curve_of, metric.sign, scores.cost
    nothing = float(sign * (sign * worth).min()) if metric.worst is None else metric.worst
    spent: FloatArray | None = None
    if cost is not None and np.isfinite(cost).all():
        checked_spend(family, float(cost.min()))
        won = worth == 1
        each = [np.bincount(code, cost * part, minlength=sizes.size) for part in (~won, won)]
        spent = np.stack(each, axis=1).astype(np.float64)
    votes = None
    if answer is not None:
        names, votes = np.unique(answer.astype(str), return_inverse=True)
        votes = np.where(np.isin(names, NO_ANSWER)[votes.ravel()], -1, votes.ravel()).astype(np.int64)

    def draw(budgets: Budgets, vote: bool, spend: bool) -> tuple[FloatArray, FloatArray]:
        rank, voted = (None, votes) if vote else (sign * scores.selection, None)
        return drawn_values(DrawnFrom(worth, rank, voted, cost, nothing), code, sizes, budgets, spend=spend)

    def above(spends: FloatArray) -> FloatArray:
        assert cost is not None
        return np.array([float((cost > spend).mean()) for spend in spends])

    def held(problems: IntArray) -> Sample:
        many, starts = sizes[problems], (np.cumsum(sizes) - sizes)[problems]
        within = np.repeat(starts - (np.cumsum(many) - many), many) + np.arange(many.sum())
        rows = np.argsort(code, kind="stable")[within]
        return Sample(sign * scores.selection[rows], None if scores.reported is None else sign * worth[rows])

    answered = votes is not None and bool((votes >= 0).any())
    known = np.ones(0, dtype=bool) if cost is None else np.isfinite(cost)
    unpriced = int((~known).sum()) if known.any() else 0
    return SamplePool(family, sizes, remembered(draw), above, answered, spent, nothing, held, unpriced)


def checked_spend(family: str, least: float) -> None:
    """Refuse negative costs."""
    if least < 0:
        raise DataError(f"{family}: a cost is at least 0, got {least:g}")


def remembered(compute: Callable[..., _Value]) -> Callable[..., _Value]:
    """Caches the last result, so that the same budgets are computed once, also by several threads."""
    last: list[tuple[object, _Value]] = []
    one_at_a_time = Lock()

    def answer(budgets: Budgets, *how: object) -> _Value:
        key = (budgets.tobytes(), *how)
        with one_at_a_time:
            if not last or last[0][0] != key:
                last[:] = [(key, compute(budgets, *how))]
            return last[0][1]

    return answer
