"""Prediction-powered estimates: the mean label of all samples from a judge's scores and the labels of some.

The estimate is prediction-powered (Angelopoulos et al. 2023): the mean of the labels, corrected by the difference
between the judge's mean over all samples and its mean over the labelled ones, times a weight. Samples of one problem
are not independent, so the variance is that of influences of problems, not of samples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from levelbest._check import Bounds, FloatArray, IntArray
from levelbest.errors import DataError

FEWEST_LABELS = 10
"""Labels of a system from which on there is an estimate."""


@dataclass(frozen=True, eq=False)
class JudgedMean:
    """The mean label over problems, estimated with a judge.

    ``by_problem`` are values whose mean is the estimate and whose spread over problems is that of the estimate: limits
    and differences are made of them as of the values of problems that are all labelled.
    """

    value: float
    by_problem: FloatArray
    weight: float
    """Of the judge, from 0 (the labels alone) to 1, where it leaves the least variance."""
    n_labels: int
    judge_alone: float
    """The mean of the judge's scores, which is biased by what the judge gets wrong."""
    error: float
    """The standard error of the estimate over problems."""
    drawn: float
    """The part of its variance that comes from which samples were labelled."""
    n_samples: int
    ends: tuple[float, float]
    """Where the value of a problem that was not observed may lie: its labels at one bound or the other, or as far as
    the values observed; labels that are all alike tell nothing else of it."""
    rarer: int
    """Labels above their mean or not above it, whichever are fewer."""

    @property
    def interval(self) -> tuple[str, Bounds]:
        """The method and the bounds of limits over problems.

        NOTE: a bootstrap of problems cannot show what few labels did not: with fewer than ten of the rarer kind it
        covered .29 to .94, and limits that allow for a further problem .96 and more; with more both cover .94 and more,
        and those are 1.15 times as wide. Rows "judges" of docs/coverage-suites.md.
        """
        return ("imagined", self.ends) if self.rarer < FEWEST_LABELS else ("studentised", (None, None))

    def labels_for(self, share: float) -> int | None:
        """How many labels in all make the standard error ``share`` of what it is; None where no number does."""
        labelled = self.n_labels / self.n_samples
        if labelled >= 1 or not self.drawn > 0:
            return None
        left = self.drawn - (1 - share**2) * self.error**2
        if left <= 0:  # all labels would leave more than that: problems differ
            return None
        odds = (1 - labelled) / labelled * left / self.drawn
        return min(self.n_samples, math.ceil(self.n_samples / (1 + odds)))


def judged_mean(
    judge: FloatArray,
    label: FloatArray,
    code: IntArray,
    sizes: IntArray,
    weights: FloatArray | None = None,
    bounds: Bounds = (None, None),
) -> JudgedMean:
    """The mean label over problems, from a judge's score of every sample and labels of some, drawn at random.

    Parameters
    ----------
    judge, label
        One entry per sample; a label that is not there is NaN.
    code, sizes
        The problem of each sample, and the samples of each problem.
    weights
        Of the problems; None: all alike.
    bounds
        Of the labels.

    Returns
    -------
    JudgedMean
        With a value for each problem.

    Notes
    -----
    Each sample counts 1 / m of its problem. The estimate is the mean label plus w times (the judge's mean over all
    samples less that over the labelled ones); w leaves the least variance over problems. The value of a problem is the
    jackknife's: N times the estimate less N - 1 times that without the problem, its w among it. Where the judge has a
    weight, two numbers are fitted to the U problems that have labels, the mean and w, and the values are spread by
    sqrt(U / (U - 2)) about their mean: without it differences of systems covered as little as .937 with 24 labels.

    Examples
    --------
    >>> judge = np.array([1.0, 0, 1, 1] * 4)
    >>> label = np.where(np.arange(16) < 12, judge, np.nan)
    >>> judged = judged_mean(judge, label, np.repeat(np.arange(4), 4), np.full(4, 4))
    >>> round(judged.value, 6), round(judged.judge_alone, 6)  # the judge is right wherever that is known
    (0.75, 0.75)
    """
    known = np.isfinite(label)
    n_labels = int(known.sum())
    if n_labels < FEWEST_LABELS:
        raise DataError(
            f"{n_labels} labels are too few to correct a judge: label {FEWEST_LABELS} samples at least, drawn at random"
        )
    each = np.ones(sizes.size) if weights is None else weights * sizes.size / weights.sum()
    part = each[code] / sizes[code]

    def total(column: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(code, part * column, minlength=sizes.size))

    # of each problem: its weight, that of its labelled samples, their labels and judge's scores, all judge's scores
    columns = np.stack([each, *map(total, (known * 1.0, np.where(known, label, 0.0), judge * known, judge))], axis=1)
    sums, products = columns.sum(axis=0), columns.T @ columns
    value, weight = (float(part[0]) for part in _estimates(sums[None], products[None]))
    without, _ = _estimates(sums - columns, products - columns[:, :, None] * columns[:, None])
    n = sizes.size
    by_problem = n * value - (n - 1) * without
    labelled = int(np.count_nonzero(columns[:, 1]))
    by_problem = value + (by_problem - by_problem.mean()) * _fitted(labelled, weight)
    _, mass, labels, there, scored = sums
    residual = np.where(known, label - weight * judge - (labels - weight * there) / mass, 0.0)
    off = residual * part / mass
    return JudgedMean(
        value=value,
        by_problem=by_problem,
        weight=weight,
        n_labels=n_labels,
        judge_alone=float(scored / n),
        error=float(by_problem.std(ddof=1)) / math.sqrt(n),
        drawn=float(off @ off) * (1 - n_labels / judge.size),
        n_samples=judge.size,
        rarer=_rarer(label[known]),
        ends=_label_ends(by_problem, value, float(labels / mass), n / labelled, bounds),
    )


def _fitted(labelled: int, weight: float) -> float:
    """What fitting the judge's weight beside the mean hides of the spread over the problems that have labels."""
    return math.sqrt(labelled / (labelled - 2)) if weight > 0 and labelled > 2 else 1.0


def _rarer(labels: FloatArray) -> int:
    above = int(np.count_nonzero(labels > labels.mean()))
    return min(above, labels.size - above)


def _label_ends(values: FloatArray, value: float, label: float, scale: float, bounds: Bounds) -> tuple[float, float]:
    """A problem with as many labels as the others has ``scale`` times its labels' distance from their mean."""
    lowest, highest = (label if end is None else end for end in bounds)
    return (
        min(float(values.min()), value + scale * (lowest - label)),
        max(float(values.max()), value + scale * (highest - label)),
    )


def _estimates(sums: FloatArray, products: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The estimate and the judge's weight, from sums of the five columns and of their products, a row each."""
    problems, mass, labels, there, scored = sums.T
    with np.errstate(divide="ignore", invalid="ignore"):
        label, judge_there, judge = labels / mass, there / mass, scored / problems
        scale, nothing = problems / mass, np.zeros_like(mass)
        # influences of a problem: on the mean label, and on the judge's correction
        direct = np.stack([nothing, -scale * label, scale, nothing, nothing], axis=1)
        correction = np.stack([-judge, scale * judge_there, nothing, -scale, nothing + 1], axis=1)
        both = np.einsum("pi,pij,pj->p", direct, products, correction)
        squares = np.einsum("pi,pij,pj->p", correction, products, correction)
        weight = np.where(squares > 1e-12, np.clip(-both / np.where(squares > 0, squares, 1.0), 0.0, 1.0), 0.0)
    return label + weight * (judge - judge_there), weight
