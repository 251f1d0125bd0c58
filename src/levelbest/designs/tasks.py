"""Several tasks: verdicts for each, and one over all of them, with directions and scales mixed.

The tasks are taken as they are: what is said over them is about these tasks, and the uncertainty is that of the trials.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import FloatArray, IntArray
from levelbest._grid import budget_grid
from levelbest.cautions import Caution
from levelbest.designs._assemble import assemble, pairs_of
from levelbest.designs._contrasts import Band, band_contrasts
from levelbest.designs._input import as_trials
from levelbest.designs._protocol import Asked, Counts, Design
from levelbest.designs.compare import compare_asked
from levelbest.errors import InputError, named
from levelbest.results import Curve, PairComparison, Rank, TaskComparison
from levelbest.stats.bands import order_statistic
from levelbest.stats.contrasts import Contrasts, Draws, Question, Sample, draw_families, half_of, pair_bands, turn
from levelbest.trials import Metric, Scores, Settings, Trials

__all__ = ["Tasks", "compare_tasks", "split_tasks"]

POINTS = 12


def split_tasks(trials: Trials, directions: Mapping[str, str] | None = None) -> dict[str, Trials]:
    """One table per task, where the trials' groups are tasks; ``directions`` for tasks that differ from the rest."""
    if trials.group is None:
        raise InputError(f"there is no column of tasks; name it with {named('task')}")
    turned = dict(directions or {})
    for name in turned:
        if name not in trials.groups:
            raise InputError(f"there is no task {name!r}; {_check.nearest_first(name, trials.groups)}")
    tables = {}
    for code, name in enumerate(trials.groups):
        table = replace(trials.take(np.flatnonzero(trials.group == code)), group=None, groups=())
        present = [family for at, family in enumerate(table.families) if (table.family == at).any()]
        if turned.get(name, trials.metric.direction) != trials.metric.direction:
            # bounds given for the others need not be this task's
            table = replace(table, metric=replace(table.metric, direction=turned[name], bounds=(None, None)))
        tables[name] = table[present]
    return tables


def compare_tasks(
    tasks: Mapping[str, Any],
    *,
    baseline: str | None = None,
    n: npt.ArrayLike | None = None,
    confidence: float = Settings.confidence,
    failed: str = Settings.failed,
    missing: str = Settings.missing,
    n_resamples: int = Settings.n_resamples,
    rng: int | None = Settings.rng,
) -> TaskComparison:
    """Verdicts on each task and over all: every family must have trials on every task.

    Parameters
    ----------
    tasks
        By task, trials or whatever `read_trials` takes; their directions and scales may differ.
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
    if len(tasks) < 2:
        raise InputError(f"an aggregate needs at least two tasks, got {len(tasks)}; use compare for one")
    settings = Settings(confidence, failed, missing, n_resamples, rng)
    asked = Asked.of(n=n, baseline=baseline, paired=False, settings=settings)
    design = Tasks(_alike({name: as_trials(source) for name, source in tasks.items()}), asked)
    overall = assemble(design, survival=False)
    each = {name: compare_asked(table, asked) for name, table in design.tasks.items()}
    return TaskComparison(each, overall, design.ranks())


def _alike(tasks: Mapping[str, Trials]) -> dict[str, Trials]:
    """The tables with the families in one order."""
    first = next(iter(tasks))
    names = tasks[first].families
    for task, table in tasks.items():
        lacking = sorted(set(names) ^ set(table.families))
        if lacking:
            where = task if set(table.families) < set(names) else first
            raise InputError(
                f"every family needs trials on every task: {', '.join(lacking)} {'is' if len(lacking) == 1 else 'are'} "
                f"missing on {where}; leave it out with {named('where')}"
            )
    return {task: table[names] for task, table in tasks.items()}


@dataclass(frozen=True)
class Tasks:
    """Families over several tasks at once; a design of several tables, which is not looked for in one."""

    tasks: Mapping[str, Trials]
    asked: Asked
    name: ClassVar[str] = "tasks"
    unit: str = "trial"
    statistic: str = "mean"
    headline: int | None = None
    beyond: str = ""
    paired: bool = False
    n_groups: int | None = None
    weighted: bool = False
    excluded: Mapping[str, str] = field(default_factory=dict)

    @property
    def adjustment(self) -> str:
        """Jointly over pairs and budgets."""
        return "max-t" if len(self.families) == 2 else "step-down"

    @property
    def families(self) -> tuple[str, ...]:
        """The same on every task."""
        return next(iter(self.tasks.values())).families

    @property
    def metric(self) -> Metric:
        """Standard deviations of each task's scores, turned so that more is better."""
        return replace(next(iter(self.tasks.values())).metric, direction="max", bounds=(None, None))

    @cached_property
    def scores(self) -> dict[str, list[Scores]]:
        """By task, of each family."""
        settings = self.asked.settings
        return {
            task: [table[name].scores(settings.failed, missing=settings.missing) for name in self.families]
            for task, table in self.tasks.items()
        }

    @property
    def counts(self) -> tuple[Counts, ...]:
        """Over all tasks."""
        by_family = zip(*self.scores.values(), strict=True)
        return tuple(
            Counts(name, sum(own.n_trials for own in several), sum(own.n_failed for own in several))
            for name, several in zip(self.families, by_family, strict=True)
        )

    @property
    def reach(self) -> dict[str, float]:
        """Nothing is said of budgets past those compared."""
        return {}

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """Each task has its own."""
        return ()

    @cached_property
    def budgets(self) -> IntArray:
        """Up to half the trials of the smallest family on any task."""
        reach = half_of(*(own.n_trials for several in self.scores.values() for own in several))
        if reach < 1:
            raise InputError("an aggregate needs at least 2 trials of every family on every task")
        what = "half the trials of the smallest family on any task"
        return self.asked.budgets(reach, budget_grid(reach, whole=POINTS, points=POINTS), what)

    @cached_property
    def drawn(self) -> list[Draws]:
        """The bootstrap of each task, in units of the standard deviation of all its scores."""
        settings = self.asked.settings
        pairs = pairs_of(self.families, self.asked.baseline)
        seed = int(_check.as_rng(settings.rng).integers(2**32))
        draws = []
        for task, table in sorted(self.tasks.items()):
            spread = float(np.sort(np.concatenate([own.curve_of for own in self.scores[task]])).std()) or 1.0
            samples = [
                Sample(own.selection / spread, None if own.reported is None else own.reported / spread)
                for own in self.scores[task]
            ]
            turned = turn(samples, table.metric.direction)
            base = zlib.crc32(task.encode(), seed)  # the task's own draws
            draws.append(draw_families(turned, pairs, self.budgets, n_resamples=settings.n_resamples, base=base))
        return draws

    def curves(self, asked: Asked) -> tuple[Curve, ...]:  # noqa: ARG002
        """There is no curve over tasks."""
        return ()

    def contrasts(self, question: Question) -> Contrasts:
        """Mean differences over the tasks."""
        bands = pair_bands(_merged(self.drawn), question.confidence, step_down=len(question.pairs) > 1)
        sizes = [own.n_trials for own in self.counts]
        differences = [
            Band((sizes[a], sizes[b]), own.difference, own.low, own.high, own.certified, reasons=("no-spread",))
            for (a, b), own in zip(question.pairs, bands, strict=True)
        ]
        n_resamples = self.asked.settings.n_resamples
        return band_contrasts(question, differences, self.budgets, sizes, method="studentised", n_resamples=n_resamples)

    def more(self, pair: PairComparison, places: tuple[int, int]) -> PairComparison:  # noqa: ARG002
        """Nothing else."""
        return pair

    def with_settings(self, settings: Settings) -> Design:
        """The same under other settings."""
        return Tasks(self.tasks, self.asked.with_settings(settings))

    def strata(self) -> tuple[tuple[str, Design], ...]:
        """None."""
        return ()

    def ranks(self) -> tuple[Rank, ...]:
        """Mean ranks over tasks, 1 best; percentiles over resampled curves, which keep what the trials leave open."""
        point = np.mean([_ranked(own.estimate) for own in self.drawn], axis=0)
        tail = (1 - self.asked.settings.confidence) / 2
        ranks = []
        for i, budget in enumerate(self.budgets):
            resampled = np.mean(
                [_ranked(own.estimate[:, i, None] + own.deviations[:, i].astype(np.float64)) for own in self.drawn],
                axis=0,
            )
            low, high = (order_statistic(resampled, p) for p in (tail, 1 - tail))
            ranks += [
                Rank(name, int(budget), float(point[f, i]), float(low[f]), float(high[f]))
                for f, name in enumerate(self.families)
            ]
        return tuple(ranks)


def _ranked(values: FloatArray) -> FloatArray:
    """Ranks along the first axis, 1 best; equal families share the mean rank."""
    better = (values[:, None] < values[None]).sum(axis=1)
    equal = (values[:, None] == values[None]).sum(axis=1)
    return np.asarray(better + (equal + 1) / 2)


def _merged(drawn: Sequence[Draws]) -> Draws:
    """The mean over tasks: independent, so variances add."""
    k = len(drawn)
    return Draws(
        n=drawn[0].n,
        pairs=drawn[0].pairs,
        estimate=np.mean([own.estimate for own in drawn], axis=0),
        variance=np.sum([own.variance for own in drawn], axis=0) / k**2,
        deviations=np.mean([own.deviations for own in drawn], axis=0, dtype=np.float32),
        variances=(np.sum([own.variances for own in drawn], axis=0) / k**2).astype(np.float32),
    )
