"""One family's samples as a pool to draw from: what they score, answer and cost, problem by problem."""

from __future__ import annotations

from dataclasses import dataclass
from types import EllipsisType

import numpy as np

from levelbest._check import Column, FloatArray, IntArray
from levelbest.errors import DataError, InputError, named
from levelbest.stats.problems import Budgets, DrawnFrom, drawn_values, expected_spend
from levelbest.trials.scores import Metric, Scores

__all__ = ["SamplePool", "pool_of"]

Places = slice | IntArray | EllipsisType
EVERY: EllipsisType = ...


@dataclass(frozen=True, eq=False)
class SamplePool:
    """Samples of one family, each with the place of its problem."""

    family: str
    samples: DrawnFrom
    ranks: FloatArray
    """What chooses the best sample, turned so that higher is better."""
    code: IntArray
    sizes: IntArray
    spent: FloatArray | None
    """(problem, 2): what the samples that score below 1 cost together, and those that score 1."""
    inside: Places = EVERY
    """The problems that count."""

    def rows(self, places: IntArray) -> IntArray:
        """The samples of some of the problems that count, one problem after the other."""
        problems = np.arange(self.sizes.size)[self.inside][places]
        sizes, starts = self.sizes[problems], (np.cumsum(self.sizes) - self.sizes)[problems]
        within = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
        rows: IntArray = np.argsort(self.code, kind="stable")[within]
        return rows

    def values(self, budgets: Budgets, *, vote: bool, spend: bool) -> tuple[FloatArray, FloatArray]:
        """(problem, budget): what is taken from the samples drawn scores, and its Monte Carlo error.

        Parameters
        ----------
        budgets
            Numbers of samples or, with ``spend``, costs of a problem's samples together.
        vote, spend
            Whether answers vote, or the best sample counts; what budgets count.
        """
        if vote and self.samples.answer is None:
            raise InputError(
                f"{self.family}: a majority needs the answer of each sample; name its column with {named('answer')}"
            )
        if spend:
            self.costs()
        samples = self.samples
        drawn = DrawnFrom(
            samples.worth,
            None if vote else self.ranks,
            samples.answer if vote else None,
            samples.cost,
            samples.nothing,
        )
        value, error = drawn_values(drawn, self.code, self.sizes, budgets, spend=spend)
        return value[self.inside], error[self.inside]

    def costs(self) -> FloatArray:
        """What all samples of each problem cost together."""
        if self.spent is None:
            raise InputError(
                f"{self.family}: a spend per problem needs the cost of every sample; name its column with "
                f"{named('cost')}, or price its tokens with {named('rate')}"
            )
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
    worth, sign = scores.curve_of, metric.sign
    worst = float(sign * (sign * worth).min()) if metric.worst is None else metric.worst
    spent: FloatArray | None = None
    if scores.cost is not None and np.isfinite(scores.cost).all():
        if (scores.cost < 0).any():
            raise DataError(f"{family}: a cost is at least 0, got {scores.cost.min():g}")
        won = worth == 1
        each = [np.bincount(code, scores.cost * part, minlength=sizes.size) for part in (~won, won)]
        spent = np.stack(each, axis=1).astype(np.float64)
    votes = None
    if answer is not None:
        names, votes = np.unique(answer.astype(str), return_inverse=True)
        empty = np.isin(names, ("", "nan", "None", "none", "null"))
        votes = np.where(empty[votes.ravel()], -1, votes.ravel()).astype(np.int64)
    samples = DrawnFrom(worth, None, votes, scores.cost if spent is not None else None, worst)
    return SamplePool(family, samples, sign * scores.selection, code, sizes, spent)
