"""Where the uncertainty of an average over problems comes from, and what would make it smaller.

The variance of the average is (between + within) / n_groups: ``between`` is how much problems differ in their true
value, ``within`` how much a problem's estimate varies with the samples drawn for it. More problems shrink both; more
samples of each shrink only ``within``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import FloatArray, IntArray
from levelbest.errors import DataError
from levelbest.stats.best import Sample, standard_error
from levelbest.stats.inference import Needed, weighted_mean
from levelbest.stats.problems._groups import GroupBest, as_groups, expected_best_by_group


@dataclass(frozen=True, eq=False)
class GroupVariance:
    """The standard error of an average over problems, by budget, and its two parts.

    ``error`` is that of the average; ``between`` and ``within`` are standard deviations of one problem's true value and
    of its estimate. ``within`` is NaN where some problem has no sample to leave out (n equal to its number of samples),
    and so then is ``between``.
    """

    n: IntArray
    error: FloatArray
    between: FloatArray
    within: FloatArray
    n_groups: IntArray
    samples: float
    """The mean number of samples per problem."""

    @property
    def share_of_samples(self) -> FloatArray:
        """The part of the variance that more samples per problem could remove."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.within**2 / (self.between**2 + self.within**2))

    def __str__(self) -> str:
        rows = zip(self.n, self.error, self.share_of_samples, strict=True)
        return "; ".join(
            f"n = {n}: standard error {e:.3g}, {100 * s:.0f} % of its variance from samples" for n, e, s in rows
        )


def group_variance(
    selection: npt.ArrayLike,
    group: npt.ArrayLike,
    n: npt.ArrayLike,
    reported: npt.ArrayLike | None = None,
    *,
    direction: str = "max",
    weights: Mapping[object, float] | npt.ArrayLike | None = None,
) -> GroupVariance:
    """Split the variance of the average over problems into problems and samples, by the jackknife within each.

    ``weights`` are by group, as in `expected_best_by_group`; ``between`` and ``within`` are then those of a problem of
    average weight, and a problem of weight 0 is none.

    Parameters
    ----------
    selection, group, n, reported, direction
        As of `expected_best_by_group`.
    weights
        Of each problem.

    Returns
    -------
    GroupVariance
        Variances between and within problems, and the standard error, for each n.

    Examples
    --------
    >>> print(group_variance([0, 1, 1, 1, 0, 0], [0, 0, 1, 1, 2, 2], [1]))
    n = 1: standard error 0.289, 33 % of its variance from samples
    """
    sample = Sample.of(selection, reported, at_least=1)
    best = expected_best_by_group(sample.selection, group, n, sample.reported, direction=direction, weights=weights)
    _, code, _ = as_groups(group, sample.n_trials)
    rows = np.split(np.argsort(code, kind="stable"), np.cumsum(best.sizes)[:-1])
    if best.weights is not None:
        held = np.flatnonzero(best.weights)
        best, rows = best.select(held), [rows[place] for place in held]
    counts = best.n_groups
    each = np.ones(best.groups.size) if best.weights is None else best.weights
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.where(counts > 1, np.sqrt(weighted_mean(best.by_group, each)[1]), np.nan)
    within = _within(sample, rows, best, each)
    return GroupVariance(
        n=best.n,
        error=error,
        between=np.sqrt(np.maximum(counts * error**2 - within, 0.0)),
        within=np.sqrt(within),
        n_groups=counts,
        samples=float(best.sizes.mean()),
    )


def _within(sample: Sample, rows: Sequence[IntArray], best: GroupBest, weights: FloatArray) -> FloatArray:
    """The (weighted) mean over groups of the squared jackknife standard error; those with equal scores have it once."""
    n = best.n
    seen: dict[bytes, FloatArray] = {}
    total, count, mass = np.zeros(n.size), np.zeros(n.size), np.zeros(n.size)
    for mine, weight in zip(rows, weights, strict=True):
        chosen, claimed = sample.selection[mine], None if sample.reported is None else sample.reported[mine]
        if claimed is None:
            chosen = np.sort(chosen)
        key = chosen.tobytes() + (b"" if claimed is None else claimed.tobytes())
        allowed = n <= chosen.size
        if key not in seen:
            squares = np.full(n.size, np.nan)
            if chosen.size > 1 and allowed.any():
                squares[allowed] = (
                    np.asarray(standard_error(chosen, n[allowed], claimed, direction=best.direction)) ** 2
                )
            seen[key] = squares
        total += np.where(allowed, weight**2 * seen[key], 0.0)
        count += allowed
        mass += weight * allowed
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(total * count / np.where(mass > 0, mass, np.nan) ** 2)


@dataclass(frozen=True)
class GroupPlan:
    """The problems or samples needed to reduce the standard error over problems to a target, at one budget."""

    n: int
    error: float
    target: float
    n_groups: int
    samples: float
    groups_needed: int
    """Problems, with as many samples each as now."""
    samples_needed: int | None
    """Samples per problem, with the problems there are; None where no number of samples suffices."""
    floor: float
    """The standard error that would remain even with unlimited samples of the problems there are."""
    errors: tuple[tuple[int, float], ...]
    """(n, standard error) at the budgets asked for: whether a larger k is known better or worse."""


def plan_groups(
    selection: npt.ArrayLike,
    group: npt.ArrayLike,
    n: int,
    reported: npt.ArrayLike | None = None,
    *,
    target: float,
    others: npt.ArrayLike | None = None,
    direction: str = "max",
    weights: Mapping[object, float] | npt.ArrayLike | None = None,
) -> GroupPlan:
    """How many more problems, or samples of each, reduce the standard error to ``target``, also for other n.

    A rule of thumb from one pilot: the part due to samples is taken to fall with their number, which holds for n well
    below it. ``others`` are further budgets whose standard errors are listed.

    Parameters
    ----------
    selection, group, n, reported
        As of `expected_best_by_group`.
    target
        The standard error wanted.
    others
        Further budgets whose standard errors are listed.
    direction
        ``max`` where higher is better, ``min`` where lower is.
    weights
        Of each problem.

    Returns
    -------
    GroupPlan
        How many problems, or samples of each, would do; None where no number would.

    Examples
    --------
    >>> plan = plan_groups([0, 1, 1, 1, 0, 0], [0, 0, 1, 1, 2, 2], 1, target=0.1)
    >>> plan.groups_needed, plan.samples_needed
    (25, None)
    """
    if not (math.isfinite(target) and target > 0):
        raise DataError(f"the target standard error must be more than 0, got {target:g}")
    budgets = np.unique(np.r_[_check.as_count(n, "n"), np.asarray([] if others is None else others, dtype=np.int64)])
    split = group_variance(selection, group, budgets, reported, direction=direction, weights=weights)
    at = int(np.searchsorted(budgets, n))
    groups, error = int(split.n_groups[at]), float(split.error[at])
    if not math.isfinite(error):
        raise DataError("one problem cannot show how problems differ: plan from a pilot of at least two")
    between, within = float(split.between[at]), float(split.within[at])
    room = target**2 * groups - between**2
    known = math.isfinite(within)
    return GroupPlan(
        n=int(n),
        error=error,
        target=float(target),
        n_groups=groups,
        samples=split.samples,
        groups_needed=max(groups, math.ceil(groups * (error / target) ** 2 - 1e-9)),
        samples_needed=math.ceil(split.samples * within**2 / room - 1e-9) if known and room > 0 else None,
        floor=between / math.sqrt(groups) if known else float("nan"),
        errors=tuple((int(k), float(e)) for k, e in zip(split.n, split.error, strict=True)),
    )


_DOUBLINGS = 6
_FEWEST_PROBLEMS = 10


@dataclass(frozen=True)
class SpendWay:
    """So many problems with so many samples of each, and what two systems on them would show."""

    problems: int
    samples: int
    spend: float
    """What it costs in all."""
    detectable: float
    """The difference that it shows with the power planned for."""
    power: float
    """The chance of a verdict, averaged over the differences that the pilot leaves open."""


def divide_spend(
    needed: Needed, n_problems: int, samples: float, within: float, price: float, spend: float
) -> tuple[SpendWay, ...]:
    """More problems or more samples of each: the ways to divide a spend, the fewest samples first.

    Parameters
    ----------
    needed
        What is needed to tell the two systems apart, from a pilot.
    n_problems, samples
        Problems of the pilot, and the samples of each.
    within
        The part of the variance of the difference that more samples would remove: of both systems' averages together.
    price
        What one sample of each system costs together.
    spend
        What may be spent in all.

    Returns
    -------
    tuple of SpendWay
        With n samples of each problem, twice as many and so on, and as many as the spend buys of the problems there
        are, where that is n at least; none where the pilot has no standard error.

    Notes
    -----
    A problem's part of the variance that comes from samples is taken to fall with their number, as in `plan_groups`.
    Where further problems can be had, the fewest samples of each always tell the most.
    """
    pilot, n = needed.source, needed.n
    if pilot is None or not (spend > 0 and price > 0):
        return ()
    share = min(max(within / pilot.error**2, 0.0), 1.0) if math.isfinite(within) else 0.0
    here = int(spend / (price * n_problems))
    numbers = {n << doubling for doubling in range(_DOUBLINGS)} | ({here} if here >= n else set())
    ways = []
    for number in sorted(numbers):
        problems = n_problems if number == here else int(spend / (price * number))
        if problems < _FEWEST_PROBLEMS:
            continue
        ratio = 1 - share + share * samples / number
        units = problems * pilot.units / n_problems
        ways.append(SpendWay(problems, number, problems * number * price, *pilot.divided(units, ratio, needed.goal)))
    return tuple(ways)
