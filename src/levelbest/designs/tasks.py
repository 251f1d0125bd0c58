"""Several tasks: verdicts for each, and one over all of them, with directions and scales mixed.

The tasks are fixed: results over tasks are for these tasks, and only the trials are random.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import FloatArray, IntArray, budget_grid
from levelbest.designs._assemble import assemble
from levelbest.designs._input import as_trials, pairs_of
from levelbest.designs._protocol import FIRST_SHOWN, Design, FamilyCounts, Request
from levelbest.designs._table import adaptive_families, drawn_curve, same_but_for_rounding, scores_of, turned_samples
from levelbest.designs.compare import compare_request
from levelbest.designs.seeds import Configurations, Evaluations, Folds, Seeds
from levelbest.designs.shared_runs import ask_about_shared_runs
from levelbest.errors import Ambiguous, InputError, named
from levelbest.readers.steps.diagnose import with_diagnostics
from levelbest.readers.steps.names import tokens, word_set
from levelbest.results import Comparison, Curve, OverTasks, Profile, TaskComparison
from levelbest.stats.bands import Interval, Terms, order_statistic
from levelbest.stats.best import standardised
from levelbest.stats.inference import (
    Aggregate,
    Contrasts,
    Hypotheses,
    Sample,
    StratifiedUnits,
    contrasts_of,
    curve_limits,
    decide,
    interquartile_mean,
    performance_profile,
    probability_of_improvement,
    reach_of,
)
from levelbest.trials import Scores, Settings, Trials
from levelbest.trials.spaces import SearchSpace, search_spaces

TASK_POINTS = 12
_PROFILE = 101
"""Scores of a performance profile."""
_NORMALISED = word_set("normalized normalised norm hns")
_OF_READING = ("guessed-columns", "converted-numbers", "selection-is-reported")
"""Warnings of how a table was read, which hold for each part of it."""


def split_tasks(trials: Trials, directions: Mapping[str, str] | None = None) -> dict[str, Trials]:
    """One table per task; ``directions`` for tasks that differ from the rest. Without tasks each group is one."""
    if trials.task is None and trials.group is not None:
        trials = replace(trials, task=trials.group, tasks=trials.groups, group=None, groups=(), weights=None, strata=())
    if trials.task is None:
        raise InputError(f"there is no column of tasks; name it with {named('task')}")
    turned = dict(directions or {})
    for name in turned:
        if name not in trials.tasks:
            raise InputError(f"there is no task {name!r}; {_check.nearest_first(name, trials.tasks)}")
    tables = {}
    for code, name in enumerate(trials.tasks):
        table = replace(trials.take(np.flatnonzero(trials.task == code)), task=None, tasks=())
        present = [family for at, family in enumerate(table.families) if (table.family == at).any()]
        if turned.get(name, trials.metric.direction) != trials.metric.direction:
            # bounds given for the others need not be this task's
            metric = replace(table.metric, direction=turned[name], bounds=(None, None), natural=(None, None))
            table = replace(table, metric=metric)
        # what the whole table was warned of took tasks for one: each task is looked at by itself
        kept = tuple(caution for caution in table.cautions if caution.code in _OF_READING)
        tables[name] = with_diagnostics(replace(table[present], cautions=kept))
    return tables


def compare_tasks(
    tasks: object,
    *,
    baseline: str | None = None,
    n: npt.ArrayLike | None = None,
    confidence: float = Settings.confidence,
    failed: str = Settings.failed,
    missing: str = Settings.missing,
    n_resamples: int = Settings.n_resamples,
    rng: int | None = Settings.rng,
    **reading: object,
) -> TaskComparison:
    """Verdicts for each task and over all tasks; every family must have trials on every task.

    Every setting of a comparison is a parameter.

    Parameters
    ----------
    tasks
        By task, trials or whatever `read_trials` takes; their directions and scales may differ. Or one table with a
        column of tasks, with the arguments of `read_trials` as ``reading``.
    baseline
        The family that all others are compared with; None: all with all.
    n
        Budgets; None: up to half the trials of the smallest family on any task.
    confidence, failed, missing, n_resamples, rng
        As of `levelbest.trials.Settings`.

    Returns
    -------
    TaskComparison
        Over all tasks the mean difference in standard deviations of each task's scores is compared.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> family = ["a"] * 20 + ["b"] * 20
    >>> tasks = {name: Trials.from_arrays(rng.normal(size=40), direction="max", family=family) for name in "xy"}
    >>> len(compare_tasks(tasks, n_resamples=200).tasks)
    2
    """
    settings = Settings(confidence, failed, missing, n_resamples, rng)
    request = Request.of(n=n, baseline=baseline, settings=settings)
    if isinstance(tasks, Mapping) and not reading and not _are_columns(tasks):
        return compare_each(tasks, request)
    return compare_each(split_tasks(as_trials(tasks, reading)), request)


def _are_columns(tasks: Mapping[str, object]) -> bool:
    """Whether these are the columns of one table, and not a table for each task."""
    return any(
        isinstance(column, (list, tuple, np.ndarray)) and len(column) and not isinstance(column[0], Trials)
        for column in tasks.values()
    )


def compare_each(tasks: Mapping[str, object], request: Request) -> TaskComparison:
    """What was asked of each task, and of all of them."""
    if request.axis == "cost" or request.while_running or request.statistic != "mean" or request.paired:
        raise InputError("over tasks, means of trials are compared, unpaired, once; leave other options out")
    if len(tasks) < 2:
        raise InputError(f"an aggregate needs at least two tasks, got {len(tasks)}; use compare for one")
    request = Request(n=request.n, baseline=request.baseline, paired=False, settings=request.settings)
    design = Tasks({name: as_trials(source) for name, source in tasks.items()}, request)
    pairing = replace(request, paired=None)  # of data splits that the families of a task share
    each = {name: pairing if Folds.fits(table, request) else request for name, table in design.tasks.items()}
    return over_tasks(design, {name: compare_request(table, each[name]) for name, table in design.tasks.items()})


def over_tasks(design: Tasks, each: Mapping[str, Comparison]) -> TaskComparison:
    """What there is to say over all tasks, beside the comparison of ``each``."""
    overall = assemble(design, survival=False)
    return TaskComparison(
        {name: replace(compared, hues=overall.hues) for name, compared in each.items()},
        overall,
        ranks=design.ranks,
        iqm=design.interquartile_means,
        improvements=design.improvements,
        as_scored=design.as_scored,
        profiles=design.profiles,
        curves=design.curves(replace(design.request, simultaneous=True)),
    )


def _alike(tasks: Mapping[str, Trials]) -> dict[str, Trials]:
    """The tables with the families in one order."""
    first = next(iter(tasks))
    names = tasks[first].families
    for task, table in tasks.items():
        lacking = sorted(set(names) ^ set(table.families))
        if lacking:
            where = task if set(table.families) < set(names) else first
            raise Ambiguous(
                f"every family needs trials on every task: {', '.join(lacking)} {'is' if len(lacking) == 1 else 'are'} "
                f"missing on {where}; leave it out with {named('where')}, or say {named('task', 'none')} if tasks are "
                "settings of the models"
            )
        if table.search is not None:
            raise InputError(
                f"repeated searches are compared on one task at a time; leave out {named('search')}, or choose a task "
                f"with {named('where')}"
            )
    return {task: table[names] for task, table in tasks.items()}


class Tasks(Design):
    """Families over several tasks at once; a design of several tables, which is not looked for in one."""

    name: ClassVar[str] = "tasks"

    def __init__(self, tasks: Mapping[str, Trials], request: Request) -> None:
        super().__init__(tasks, request)
        self.tasks = _alike(tasks)
        task, first = next(iter(self.tasks.items()))
        self.families = first.families
        # standard deviations of each task's scores, turned so that more is better
        self.metric = replace(first.metric, direction="max", bounds=(None, None), natural=(None, None))
        self.adjustment = "permutation"
        of_splits = all(Folds.fits(table, request) for table in self.tasks.values())
        self.folds = {name: Folds(table, request) for name, table in self.tasks.items()} if of_splits else {}
        designs = ((Seeds, all), (Evaluations, all), (Configurations, any))
        fit = (kind.words for kind, share in designs if share(kind.fits(table, request) for table in tasks.values()))
        self.words = self.folds[task].words if of_splits else next(fit, self.words)

    @property
    def spaces(self) -> tuple[SearchSpace, ...]:
        """What was searched, where it is the same on every task; else each task says it."""
        first, *others = (search_spaces(table) for table in self.tasks.values())
        return first if all(spaces == first for spaces in others) else ()

    @property
    def excluded(self) -> Mapping[str, str]:
        """Families that are one adaptive search on some task."""
        return {name: reason for table in self.tasks.values() for name, reason in adaptive_families(table).items()}

    @cached_property
    def scores(self) -> dict[str, list[Scores]]:
        """By task, of each family."""
        settings, of_folds = self.request.settings, {task: list(design.scores) for task, design in self.folds.items()}
        return {task: of_folds.get(task) or scores_of(table, settings) for task, table in self.tasks.items()}

    @property
    def counts(self) -> tuple[FamilyCounts, ...]:
        """Over all tasks."""
        by_family = zip(*self.scores.values(), strict=True)
        return tuple(
            FamilyCounts(name, sum(scores.n_trials for scores in several), sum(scores.n_failed for scores in several))
            for name, several in zip(self.families, by_family, strict=True)
        )

    @cached_property
    def budgets(self) -> IntArray:
        """Up to half the trials of the smallest family on any task."""
        reach = min(reach_of(sample) for samples in self.standard.values() for sample in samples)
        if reach < 1:
            remedy = f"with one trial each, give the tasks as problems, which are averaged over ({named('group')})"
            raise Ambiguous(f"a verdict over tasks needs at least 2 trials of each family on every task; {remedy}")
        if self.words.single:
            return np.ones(1, dtype=np.int64)
        what = "half the trials of the smallest family on any task"
        return self.request.budgets(reach, budget_grid(reach, whole=TASK_POINTS, points=TASK_POINTS), what)

    @cached_property
    def standard(self) -> dict[str, list[Sample]]:
        """By task, of each family: in standard deviations of the task's scores from their mean, higher being better."""
        return {
            task: standardised(same_but_for_rounding(turned_samples(self.scores[task], table.metric.direction)))
            for task, table in sorted(self.tasks.items())
        }

    @cached_property
    def units(self) -> StratifiedUnits:
        """Trials within tasks, in units of the standard deviation of all scores of their task."""
        return StratifiedUnits(list(self.standard.values()), self.budgets)

    def curves(self, request: Request) -> tuple[Curve, ...]:
        """The mean over tasks of each family's standardised curve."""
        confidence, curves = request.settings.confidence, []
        for f, counted in enumerate(self.counts):
            value, low, high = curve_limits(self.units, f, confidence, simultaneous=request.simultaneous)
            n = self.budgets[: value.size]
            rows = np.arange(n.size) if request.n is None else np.flatnonzero(np.isin(n, request.n))
            if counted.family in self.excluded:
                low = high = np.full(value.size, np.nan)
            limits = Interval(
                n=n[rows],
                low=low[rows],
                high=high[rows],
                method="exchange",
                confidence=confidence,
                simultaneous=request.simultaneous,
                n_trials=counted.n_trials,
            )
            curve = drawn_curve(counted, self.metric, request, value[rows], limits)
            curves.append(replace(curve, cost_unit=None, words=self.words))
        return tuple(curves)

    def contrasts(self, hypotheses: Hypotheses) -> Contrasts:
        """Mean differences over the tasks, trials being exchanged within each."""
        answer = contrasts_of(decide(self.units, self.budgets, hypotheses), hypotheses)
        if self.words.single and not self.folds:
            ask_about_shared_runs(self.tasks, self.scores, hypotheses, answer)
        sizes = [counts.n_trials for counts in self.counts]
        pairs = tuple(
            replace(contrast, n_trials=(sizes[contrast.pair[0]], sizes[contrast.pair[1]])) for contrast in answer.pairs
        )
        return replace(answer, pairs=pairs)

    @property
    def as_scored(self) -> bool:
        """Whether scores of all tasks can be put beside each other: by one direction, and known bounds or a name that
        says that they are normalised."""
        metrics = [table.metric for table in self.tasks.values()]
        known = None not in metrics[0].bounds or bool(_NORMALISED & set(tokens(metrics[0].score)))
        return known and all(
            (metric.direction, metric.bounds) == (metrics[0].direction, metrics[0].bounds) for metric in metrics
        )

    @cached_property
    def few(self) -> tuple[int, ...]:
        """Budgets of aggregates: 1, and the one shown, as far as a quarter of the trials of any family on any task."""
        least = min(scores.n_trials for several in self.scores.values() for scores in several)
        most = min(self.request.headline or FIRST_SHOWN, max(1, least // 4))
        inside = [int(budget) for budget in self.budgets if budget <= most]
        return tuple(sorted({1, *inside[-1:]}))

    @property
    def interquartile_means(self) -> tuple[OverTasks, ...]:
        """Of each family, at one trial and at the largest budget that allows it."""
        sign, rows = self._sign, []
        for f, name in enumerate(self.families):
            samples = self._beside(f)
            for n in self.few:
                mean = interquartile_mean(samples, n, self._limit_terms, rng=self.request.settings.rng)
                low, high = sorted((sign * mean.low, sign * mean.high))
                rows.append(self._row((name,), n, Aggregate(sign * mean.value, low, high)))
        return tuple(rows)

    @property
    def _limit_terms(self) -> Terms:
        """Of the limits of aggregates."""
        return Terms(self.request.settings.confidence, n_resamples=self.request.settings.n_resamples)

    @property
    def _sign(self) -> float:
        """Of the scores that are put beside each other, which are turned so that higher is better."""
        return next(iter(self.tasks.values())).metric.sign if self.as_scored else 1.0

    def _beside(self, f: int) -> list[Sample]:
        """One family's scores on each task, on a scale that all tasks share: as scored, or standardised."""
        if not self.as_scored:
            return [several[f] for several in self.standard.values()]
        direction = "max" if self._sign > 0 else "min"
        return turned_samples((several[f] for several in self.scores.values()), direction)

    @property
    def profiles(self) -> tuple[Profile, ...]:
        """The share of runs above each score, of each family whose runs are a sample."""
        samples = {name: self._beside(f) for f, name in enumerate(self.families) if name not in self.excluded}
        every = np.concatenate([sample.claimed for several in samples.values() for sample in several] or [np.zeros(1)])
        scores, seed, sign = np.linspace(every.min(), every.max(), _PROFILE), self.request.settings.rng, self._sign
        drawn = {
            name: performance_profile(scored, scores, self._limit_terms, rng=seed) for name, scored in samples.items()
        }
        return tuple(Profile(name, sign * scores, *shares) for name, shares in drawn.items())

    @property
    def improvements(self) -> tuple[OverTasks, ...]:
        """The chance that the first of each pair beats the second, at the same budgets."""
        rows = []
        for a, b in pairs_of(self.families, self.request.baseline):
            first, second = ([several[f] for several in self.standard.values()] for f in (a, b))
            for n in self.few:
                chance = probability_of_improvement(first, second, n, self._limit_terms, rng=self.request.settings.rng)
                rows.append(self._row((self.families[a], self.families[b]), n, chance))
        return tuple(rows)

    @property
    def ranks(self) -> tuple[OverTasks, ...]:
        """Mean ranks over tasks, 1 best; percentiles over draws of the curves."""
        tasks, families = self.units.tasks, range(len(self.families))
        last = min(self.units.inside((f,)) for f in families)
        tail = (1 - self.request.settings.confidence) / 2
        ranks = []
        for i, budget in enumerate(self.budgets[:last]):
            at = np.array([budget])
            point = np.mean(
                [_ranked(np.array([task.curve(f, at).difference for f in families])) for task in tasks], axis=0
            )
            middles = [
                np.stack([(drawn.lower[i] + drawn.upper[i]) / 2 for drawn in task.all_draws()]) for task in tasks
            ]
            drawn = np.mean([_ranked(middle) for middle in middles], axis=0)
            low, high = (order_statistic(drawn, p) for p in (tail, 1 - tail))
            low, high = np.minimum(low, point[:, 0]), np.maximum(high, point[:, 0])
            if self.excluded:  # a rank is among all families
                low = high = np.full(low.size, np.nan)
            for f, name in enumerate(self.families):
                mean_rank = Aggregate(float(point[f, 0]), float(low[f]), float(high[f]))
                ranks.append(self._row((name,), int(budget), mean_rank))
        return tuple(ranks)

    def _row(self, families: tuple[str, ...], n: int, aggregate: Aggregate) -> OverTasks:
        """Without limits where a family is one adaptive search: resampling its trials is not valid."""
        low, high = aggregate.low, aggregate.high
        if any(name in self.excluded for name in families):
            low = high = float("nan")
        return OverTasks(families, n, aggregate.value, low, high)


def _ranked(values: FloatArray) -> FloatArray:
    """Ranks along the first axis, 1 best; families that are equal but for rounding share the mean rank."""
    apart = values[None] - values[:, None]
    alike = 1e-9 * np.maximum(1, np.maximum(np.abs(values[None]), np.abs(values[:, None])))
    better = (apart > alike).sum(axis=1)
    equal = (np.abs(apart) <= alike).sum(axis=1)
    return np.asarray(better + (equal + 1) / 2)
