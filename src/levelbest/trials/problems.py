"""Samples by problem: one family's statistics of each problem, whether in memory or read in parts.

A `ProblemTable` gives the `Problems` of each of its families under a policy for failures. `Trials` with a ``group`` are
such a table, and so are Parquet files that do not fit into memory (`levelbest.readers.parts`); later steps treat both
alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

import numpy as np

from levelbest._check import Budgets, Column, FloatArray, IntArray, budget_grid
from levelbest.cautions import Caution
from levelbest.errors import DataError, InputError, LevelbestError, named
from levelbest.stats.inference import CountSamples, ProblemSamples, ScoreSamples
from levelbest.stats.problems import (
    GroupBest,
    all_of_k,
    average_over_groups,
    group_values,
    macro_average,
    pass_at_k,
    repeated_samples,
)
from levelbest.trials.pools import SamplePool, pool_of
from levelbest.trials.scores import Metric, Settings
from levelbest.trials.table import Trials

__all__ = ["ProblemTable", "Problems", "about_repeats", "grid_of", "name_order", "problems_of", "too_few_samples"]

LEAST = 0.5
"""A curve ends where fewer than this share of the problems has n samples: beyond, it would be of other problems."""
Values = Callable[[IntArray], FloatArray]


@dataclass(frozen=True, eq=False)
class Problems:
    """One family's problems under one policy for failures, in the order of their names; a row each."""

    family: str
    metric: Metric
    labels: Column
    sizes: IntArray
    """Samples that count: with failures as the worst score all of them, else the finished ones."""
    ones: IntArray
    """Samples with a score of exactly 1."""
    binary: bool
    """Every score that a curve is of is 0 or 1, failures among them."""
    weights: FloatArray | None
    strata: Column | None
    clusters: Column | None
    """What each problem is nested in, where that is the unit."""
    n_failed: int
    n_running: int
    values: Values
    """The best of n of each problem, by budget."""
    reported_alone: Values
    """The same where the reported score itself selects, as an oracle would."""
    mean_cost: float | None = None
    macro: bool = False
    """Whether strata are tasks, over which means over problems are averaged."""
    pool: SamplePool | None = None
    """The samples, to draw from; None where values of problems are all there is."""
    failed_in: Mapping[str, int] = field(default_factory=dict)
    """Failed samples by stratum, those of problems that have no other among them."""
    cautions: tuple[Caution, ...] = ()

    @property
    def n_samples(self) -> int:
        """All samples that count."""
        return int(self.sizes.sum())

    def within(self, stratum: str) -> Problems:
        """The problems of one stratum alone; where they weigh the same they have no weights."""
        assert self.strata is not None
        inside = np.flatnonzero(self.strata == stratum)
        weights = None if self.weights is None else self.weights[inside]
        even = weights is None or (weights.size > 0 and weights[0] > 0 and (weights == weights[0]).all())
        return replace(
            self,
            labels=self.labels[inside],
            sizes=self.sizes[inside],
            ones=self.ones[inside],
            weights=None if even else weights,
            strata=None,
            macro=False,
            clusters=None if self.clusters is None else self.clusters[inside],
            n_failed=self.failed_in.get(stratum, 0),
            values=lambda budgets: self.values(budgets)[inside],
            reported_alone=lambda budgets: self.reported_alone(budgets)[inside],
            pool=None if self.pool is None else replace(self.pool, inside=inside),
            failed_in={},
            cautions=(),
        )

    def holds_samples(self, statistic: str) -> bool:
        """Whether its samples can be exchanged one by one: they are counts, or they are held."""
        held = self.pool is not None and self.pool.held is not None
        return held or self.counted(statistic)

    def counted(self, statistic: str) -> bool:
        """Whether the number of successes of each problem is all that a statistic needs."""
        return self.binary and (statistic == "all" or self.metric.reported is None)

    def samples(
        self, budgets: IntArray, statistic: str, places: IntArray | None = None, *, counted: bool | None = None
    ) -> ProblemSamples:
        """The samples of some problems (all for None), turned so that higher is better: for exactly these problems.

        ``counted``: as numbers of successes, where that is all that these and those they are compared with need.
        """
        held = np.arange(self.sizes.size) if places is None else places
        sizes, won = self.sizes[held], self.ones[held]
        if self.counted(statistic) if counted is None else counted:
            chance = all_of_k if statistic == "all" else pass_at_k
            won = won if self.metric.direction == "max" else sizes - won
            return CountSamples(won, sizes, budgets, lambda c, m, k: np.asarray(chance(c, m, k)))
        if self.pool is None or self.pool.held is None:
            raise InputError(
                f"{self.family}: for exactly these problems samples are exchanged one by one, and scores other than 0 "
                f"and 1 that are read in parts are not held; read them whole, or leave out {named('about')}"
            )
        return ScoreSamples(self.pool.samples(held), sizes, budgets)

    def best(self, budgets: Budgets, statistic: str = "mean", *, spend: bool = False) -> GroupBest:
        """The best of n samples, by problem and on average.

        For ``all`` it is the chance that all of n succeed (pass^k), for ``majority`` the answer with the most votes
        (maj@k). With ``spend`` budgets are what the samples of one problem may cost together.
        """
        if statistic == "majority" or spend:
            assert self.pool is not None
            by_group, error = self.pool.values(budgets, vote=statistic == "majority", spend=spend)
            places = np.arange(1, budgets.size + 1) if spend else budgets.astype(np.int64)
            return self._averaged(places, by_group, error)
        numbers = budgets.astype(np.int64)
        if statistic == "all":
            if not self.binary or self.metric.direction != "max":
                raise InputError(
                    f"{self.family}: all of n succeed (pass^k) is for scores 0 and 1 with direction max, and "
                    f"{self.metric.score!r} is not one; use statistic 'mean', the expected best of n, which any "
                    "score has"
                )
            return self._averaged(numbers, np.asarray(all_of_k(self.ones, self.sizes, numbers)))
        if self.metric.reported is None and self.binary:
            return self._averaged(numbers, self._from_counts(numbers))
        return self._averaged(numbers, self.values(numbers))

    def oracle(self, budgets: IntArray) -> GroupBest:
        """The best of n selected by the reported score itself, an upper limit for any verifier."""
        return self._averaged(budgets, self._from_counts(budgets) if self.binary else self.reported_alone(budgets))

    def _from_counts(self, budgets: IntArray) -> FloatArray:
        """For scores of 0 and 1 the counts suffice."""
        if self.metric.direction == "max":
            return np.asarray(pass_at_k(self.ones, self.sizes, budgets))
        return 1 - np.asarray(pass_at_k(self.sizes - self.ones, self.sizes, budgets))

    def _averaged(self, budgets: IntArray, by_group: FloatArray, drawn: FloatArray | None = None) -> GroupBest:
        """``drawn`` is the Monte Carlo error by problem."""
        value, n_groups = average_over_groups(by_group, self.weights)
        if self.macro and self.strata is not None:
            value = macro_average(by_group, self.weights, self.strata)
        error = None
        if drawn is not None:
            each = ~np.isnan(drawn) * (np.ones(drawn.shape[0]) if self.weights is None else self.weights)[:, None]
            squares = np.square(np.nan_to_num(drawn) * each).sum(axis=0)
            error = np.sqrt(squares) / np.maximum(each.sum(axis=0), 1e-300)
        return GroupBest(
            n=budgets,
            value=value,
            by_group=by_group,
            n_groups=n_groups,
            groups=self.labels,
            sizes=self.sizes,
            weights=self.weights,
            direction=self.metric.direction,
            stratum=self.strata,
            clusters=self.clusters,
            macro=self.macro,
            monte_carlo_error=error if error is not None and error.any() else None,
        )


@runtime_checkable
class ProblemTable(Protocol):
    """Samples of problems, by family."""

    families: tuple[str, ...]
    metric: Metric
    columns: Mapping[str, str]
    """Role -> the column it is read from."""
    cautions: tuple[Caution, ...]
    """What was noticed when the table was read."""
    source: tuple[str, ...]
    """The files it is read from."""

    def problems(self, settings: Settings) -> tuple[Problems, ...]:
        """Of each family, failures and missing reported scores counted as the settings say."""


def problems_of(table: Trials | ProblemTable, settings: Settings) -> tuple[Problems, ...]:
    """The problems of each family, whether the table is held or read in parts.

    Parameters
    ----------
    table
        Trials with a ``group``, or a table read in parts.
    settings
        How failures and missing reported scores count.

    Examples
    --------
    >>> trials = Trials.from_arrays([0, 1, 1, 1], group=["b", "b", "a", "a"], direction="max")
    >>> one, = problems_of(trials, Settings())
    >>> one.labels.tolist(), one.best(np.array([1, 2])).value.tolist()
    (['a', 'b'], [0.75, 1.0])
    """
    if not isinstance(table, Trials):
        return table.problems(settings)
    if table.group is None:
        raise InputError(f"these trials belong to no problems: name the problem of each ({named('group')})")
    return tuple(_held(_with_bounds(table[name], settings.missing), settings) for name in table.families)


def grid_of(sizes: IntArray) -> IntArray:
    """Budgets up to where `LEAST` of the problems still has enough samples; log-spaced ones where they are many."""
    enough = max(1, int(np.ceil(LEAST * sizes.size)), min(2, sizes.size))
    return budget_grid(int(np.sort(sizes)[::-1][enough - 1]))


def too_few_samples(family: str, sizes: IntArray, n: int, column: str | None) -> LevelbestError:
    """Why there is no best of n: no problem has so many samples."""
    most = int(sizes.max())
    if most > 1:
        return InputError(
            f"{family}: n must be at most the samples of a problem, {most}, got {n}; draw more samples (past them the "
            "best of n is unknown, not the best observed)"
        )
    where = "" if column is None else f" of {column!r}"
    return DataError(
        f"{family}: every one of the {sizes.size} problems{where} has one sample, so the best of n = {n} is "
        "unknown: draw more samples of each problem, ask for n = 1, or name the column that distinguishes problems "
        f"(not samples) with {named('group')}"
    )


def _with_bounds(trials: Trials, missing: str) -> Trials:
    """The same trials, with bounds 0 and 1 where the scores are 0 or 1 and no bounds are known.

    A failed sample then counts as 0 even where no other sample of the family failed.
    """
    if trials.metric.bounds != (None, None):
        return trials
    column = trials.selection if trials.reported is None or missing == "selection" else trials.reported
    known = column[np.isfinite(column)]
    if known.size == 0 or not ((known == 0) | (known == 1)).all():
        return trials
    return replace(trials, metric=replace(trials.metric, bounds=(0.0, 1.0)))


def _held(trials: Trials, settings: Settings) -> Problems:
    """One family that is in memory."""
    cautions = _repeated(trials)
    scores = trials.scores(settings.failed, missing=settings.missing)
    assert trials.group is not None
    order = name_order(trials.groups)
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(order.size)
    group = rank[trials.group[scores.rows]]
    held = np.bincount(group, minlength=order.size)
    present = np.flatnonzero(held)
    code = (np.cumsum(held > 0) - 1)[group]
    sizes = held[present]
    of_group = order[present]
    metric = replace(trials.metric, reported=None if scores.reported is None else trials.metric.reported)
    strata = np.array(trials.strata)[of_group] if trials.strata else None
    known = scores.curve_of
    cost = None if scores.cost is None else scores.cost[np.isfinite(scores.cost)]

    def values(budgets: IntArray) -> FloatArray:
        return group_values(scores.selection, scores.reported, code, sizes, budgets, metric.direction)

    def reported_alone(budgets: IntArray) -> FloatArray:
        return group_values(known, None, code, sizes, budgets, metric.direction)

    return Problems(
        family=trials.families[0],
        metric=metric,
        labels=np.array(trials.groups, dtype=object)[of_group],
        sizes=sizes,
        ones=np.bincount(code, weights=known == 1, minlength=sizes.size).astype(np.int64),
        binary=bool(((known == 0) | (known == 1)).all()),
        weights=None if trials.weights is None else trials.weights[of_group],
        strata=strata,
        clusters=np.array(trials.clusters)[of_group] if trials.clusters else None,
        n_failed=scores.n_failed,
        n_running=scores.n_running,
        values=values,
        reported_alone=reported_alone,
        mean_cost=None if cost is None else float(cost.mean()) if cost.size else float("nan"),
        pool=pool_of(
            trials.families[0],
            scores,
            metric,
            None if trials.answer is None else trials.answer[scores.rows],
            code,
            sizes,
        ),
        failed_in=_failed_in(trials, settings) if trials.strata else {},
        cautions=tuple(cautions),
    )


def name_order(names: Sequence[str]) -> IntArray:
    """Problems in the order of their names: as numbers where all are whole numbers, so that 2 comes before 10."""
    try:
        keys: list[object] = [int(name) for name in names]
    except ValueError:
        keys = list(names)
    return np.array(sorted(range(len(names)), key=lambda place: (keys[place], names[place])), dtype=np.int64)


def _failed_in(trials: Trials, settings: Settings) -> dict[str, int]:
    assert trials.group is not None
    ended, scored = (trials.scores(failed, missing=settings.missing).rows for failed in ("worst", "drop"))
    labels = np.array(trials.strata)[trials.group]
    lost = labels[np.setdiff1d(ended, scored)]
    return {str(label): int(np.count_nonzero(lost == label)) for label in np.unique(labels)}


def _repeated(trials: Trials) -> list[Caution]:
    """Sample ids that occur twice in one problem: an error where everything else of the rows repeats as well."""
    ids = trials.seed if trials.sample is None else trials.sample
    if ids is None or trials.group is None:
        return []
    columns: list[Column] = [trials.selection, trials.status]
    columns += [column for column in (trials.reported, trials.cost) if column is not None]
    repeats = repeated_samples(trials.group, ids, [*columns, *trials.configuration.values()])
    if repeats is None or (trials.sample is None and np.unique(ids.astype(str)).size < 2):
        return []  # one seed for all samples is no id
    problem = trials.groups[trials.group[repeats.row]]
    return about_repeats(trials.families[0], repeats.count, repeats.same, ids[repeats.row], problem)


def about_repeats(family: str, count: int, same: bool, sample: object, problem: str) -> list[Caution]:
    """Refuse sample ids that repeat with their scores; caution where the scores differ."""
    shown = f"{sample:g}" if isinstance(sample, (float, np.floating)) else str(sample)
    if same:
        ids = "1 sample id occurs" if count == 1 else f"{count} sample ids occur"
        raise DataError(
            f"{family}: {ids} more than once within a problem, with the same scores (first: {shown} of problem "
            f"{problem}); was a file read twice? leave the repeated rows out"
        )
    return [
        Caution.of("repeated-configurations", family, count, kind="samples", count=count, sample=shown, problem=problem)
    ]
