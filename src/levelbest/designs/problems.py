"""Samples of many problems: the best of n of each problem, averaged over problems, with limits over problems.

Whether the samples are held or read in parts is the table's affair (`levelbest.trials.problems`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from levelbest import _check
from levelbest._check import FloatArray, IntArray
from levelbest._grid import budget_grid
from levelbest.cautions import Caution
from levelbest.designs._protocol import Asked, Counts
from levelbest.errors import DataError, InputError, named
from levelbest.results import Curve, PairComparison, Stratum
from levelbest.stats.bands import Interval
from levelbest.stats.contrasts import Contrasts, Question
from levelbest.stats.problems import (
    GROUP_METHODS,
    GroupBest,
    group_interval,
    problem_contrasts,
)
from levelbest.trials import Metric, Settings, Trials
from levelbest.trials.problems import LEAST, Problems, ProblemTable, grid_of, problems_of, too_few_samples

__all__ = ["ProblemsDesign"]

WHOLE, POINTS = 100, 60
"""Budgets up to which every one is compared; beyond, so many log-spaced ones."""
FIRST_SHOWN = 5
"""The budget at which systems are set side by side where none was named."""
LISTED = 5
"""So many problems are named where some are left out."""
_SAID_ANEW = ("failures", "still-running", "no-reported", "few-values", "paired-design", "unequal-groups")


class ProblemsDesign:
    """Systems on many problems, with several samples of each."""

    name: ClassVar[str] = "problems"
    unit = "sample"
    beyond = ""
    headline: int | None = FIRST_SHOWN
    excluded: Mapping[str, str] = {}

    def __init__(self, table: Trials | ProblemTable, asked: Asked) -> None:
        _refuse(asked)
        self.table, self.asked = table, asked
        self.statistic = asked.statistic
        self.paired = asked.paired is not False
        self.adjustment = "swaps" if self.paired else "bands"
        self.problems = problems_of(table, asked.settings)
        self.families = tuple(own.family for own in self.problems)
        # with the bounds that hold for every family
        bounds = {own.metric.bounds for own in self.problems}
        self.metric = replace(self.problems[0].metric, bounds=bounds.pop() if len(bounds) == 1 else (None, None))
        self.weighted = self.problems[0].weights is not None

    @classmethod
    def fits(cls, trials: Trials | ProblemTable, asked: Asked) -> bool:  # noqa: ARG003
        """Whether the trials are samples of problems."""
        return not isinstance(trials, Trials) or (trials.group is not None and trials.search is None)

    def with_settings(self, settings: Settings) -> ProblemsDesign:
        """The same under other settings: the other failure policy."""
        return ProblemsDesign(self.table, self.asked.with_settings(settings))

    # ------------------------------------------------------------------------------------------------- what is compared

    @cached_property
    def kept(self) -> tuple[IntArray, ...]:
        """Of each family, the places of the problems that are compared: those that every family has, if paired."""
        if not self.paired:
            return tuple(np.arange(own.labels.size) for own in self.problems)
        common = set.intersection(*(set(own.labels.tolist()) for own in self.problems))
        if not common:
            raise DataError(
                "the families have no problem in common, so that they cannot be compared problem by problem; check the "
                f"names in the column of the problem ({named('group')}), or compare unpaired ({named('paired')})"
            )
        kept = tuple(
            np.flatnonzero([label in common for label in own.labels.tolist()]).astype(np.int64) for own in self.problems
        )
        for own, places in zip(self.problems, kept, strict=True):
            if self.asked.paired and places.size < own.labels.size:
                alone = ", ".join(self._left_out(own, places)[:LISTED])
                raise InputError(
                    f"a paired comparison needs the same problems in every family, and {own.labels.size - places.size} "
                    f"of {own.labels.size} problems of {own.family} are not in every family ({alone}); leave out "
                    f"{named('paired')}"
                )
        return kept

    def _left_out(self, own: Problems, places: IntArray) -> list[str]:
        return [str(label) for label in np.delete(own.labels, places)]

    @property
    def sizes(self) -> list[IntArray]:
        """Of each family, the samples of each problem that is compared."""
        return [own.sizes[places] for own, places in zip(self.problems, self.kept, strict=True)]

    @property
    def counts(self) -> tuple[Counts, ...]:
        """Of each family. A failure counts where its problem was left out as well."""
        return tuple(
            Counts(own.family, int(sizes.sum()), own.n_failed, own.n_running)
            for own, sizes in zip(self.problems, self.sizes, strict=True)
        )

    @property
    def n_groups(self) -> int | None:
        """How many problems are compared."""
        return len({label for own, kept in zip(self.problems, self.kept, strict=True) for label in own.labels[kept]})

    @property
    def reach(self) -> dict[str, float]:
        """No problem of a family has more samples than these."""
        return {own.family: float(sizes.max()) for own, sizes in zip(self.problems, self.sizes, strict=True)}

    @cached_property
    def budgets(self) -> IntArray:
        """Where systems are compared: as far as two of them have samples, of enough problems."""
        sizes = self.sizes
        most = sorted(int(own.max()) for own in sizes)[-2:][0]
        last = sorted(int(grid_of(own)[-1]) for own in sizes)[-2:][0]
        budgets = self.asked.budgets(most, budget_grid(last, whole=WHOLE, points=POINTS))
        headline = self.asked.named
        if headline is not None and headline <= most:
            budgets = np.union1d(budgets, [headline]).astype(np.int64)
        return budgets

    @cached_property
    def systems(self) -> tuple[GroupBest, ...]:
        """Of each family, the best of n by problem at the budgets compared."""
        systems = []
        for own, places in zip(self.problems, self.kept, strict=True):
            inside = self.budgets[self.budgets <= own.sizes[places].max()]
            if not inside.size:
                raise too_few_samples(
                    own.family, own.sizes[places], int(self.budgets[0]), self.table.columns.get("group")
                )
            systems.append(_padded(own.best(inside, self.statistic).select(places), self.budgets))
        return tuple(systems)

    def contrasts(self, question: Question) -> Contrasts:
        """The difference of each pair, problem by problem or each system over its own problems."""
        settings = self.asked.settings
        return problem_contrasts(
            self.systems, question, paired=self.paired, n_resamples=settings.n_resamples, rng=settings.rng
        )

    def more(self, pair: PairComparison, places: tuple[int, int]) -> PairComparison:  # noqa: ARG002
        """Nothing else."""
        return pair

    def strata(self) -> tuple[tuple[str, ProblemsDesign], ...]:
        """The same within each stratum in which all families can be compared."""
        divided = [own.strata for own in self.problems if own.strata is not None]
        labels = sorted({str(label) for strata in divided for label in strata})
        inside = []
        for label in labels:
            part = _Stratum(self.table, label)
            try:
                design = ProblemsDesign(part, replace(self.asked, paired=None if self.paired else False))
                if len(design.families) == len(self.families) and design.budgets.size:
                    inside.append((label, design))
            except (DataError, InputError):  # no two families share a problem, or a budget, of the stratum
                continue
        return tuple(inside)

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What a reviewer would ask about the samples compared."""
        column = self.table.columns.get("group")
        noticed = [caution for caution in self.table.cautions if caution.code not in _SAID_ANEW]
        for own, places, system in zip(self.problems, self.kept, self.systems, strict=True):
            noticed += [*own.cautions, *_failures(own, self.asked.settings)]
            if own.n_running:
                noticed.append(
                    Caution.of("fixed-sample", own.family, own.n_running, n_running=own.n_running, unit="sample")
                )
            noticed += _about_sizes(own.family, system, column, own_end=self.asked.n is None)
            if places.size < own.labels.size:
                alone = self._left_out(own, places)
                facts = {"problems": alone, "total": own.labels.size}
                noticed.append(Caution.of("unequal-groups", own.family, len(alone), kind="left-out", **facts))
        if self.paired:
            noticed.append(Caution.of("paired-design", None, self.n_groups, kind="problems"))
        if self.metric.reported is None and self.statistic == "mean":
            noticed.append(Caution.of("no-reported", kind="oracle", selection=self.metric.selection))
        return tuple(dict.fromkeys(noticed))

    # ----------------------------------------------------------------------------------------------------------- curves

    def curves(self, asked: Asked) -> tuple[Curve, ...]:
        """One curve for each family, over all its problems, and over those of each stratum."""
        _refuse(asked)
        return tuple(self._curve(own, asked) for own in self.problems)

    def _curve(self, own: Problems, asked: Asked) -> Curve:
        settings, metric, column = asked.settings, own.metric, self.table.columns.get("group")
        noticed = [c for c in self.table.cautions if c.code not in _SAID_ANEW and c.family in (None, own.family)]
        noticed += [*own.cautions, *_failures(own, settings)]
        budgets = grid_of(own.sizes)
        if asked.n is not None:
            wanted = np.array(asked.n, dtype=np.int64)
            budgets = wanted[wanted <= own.sizes.max()]
            if not budgets.size:
                raise too_few_samples(own.family, own.sizes, int(wanted[0]), column)
            if budgets.size < wanted.size:
                largest = int(own.sizes.max())
                noticed.append(Caution.of("beyond-trials", own.family, wanted[-1], kind="samples", largest=largest))
        best = own.best(budgets, asked.statistic)
        limits = _limits(best, metric, asked)
        noticed += _about_sizes(own.family, best, column, own_end=asked.n is None)
        if own.n_running:
            noticed.append(
                Caution.of("still-running", own.family, own.n_running, n_running=own.n_running, unit="sample")
            )
        if metric.reported is None and asked.statistic == "mean":
            noticed.append(Caution.of("no-reported", own.family, kind="oracle", selection=metric.selection))
        if limits.reason:
            noticed.append(Caution.of("beyond-horizon", own.family, reason=limits.reason))
        return Curve(
            family=own.family,
            n=best.n,
            value=best.value,
            low=np.asarray(limits.low),
            high=np.asarray(limits.high),
            spread=_spread(best),
            cost=None if own.mean_cost is None else np.asarray(own.mean_cost * best.n, dtype=np.float64),
            statistic=asked.statistic,
            estimator="u",
            direction=metric.direction,
            selection=metric.selection,
            reported=metric.reported,
            cost_unit=metric.cost_unit,
            method=limits.method,
            confidence=limits.confidence,
            simultaneous=limits.simultaneous,
            note=limits.note,
            n_trials=own.n_samples,
            n_failed=own.n_failed,
            n_running=own.n_running,
            failed=settings.failed,
            horizon=None,
            seed=settings.rng,
            cautions=tuple(dict.fromkeys(noticed)),
            problems=best,
            unit="sample",
            strata=tuple(
                Stratum(label, part, _limits(part, metric, asked))
                for label, part in (best.by_stratum() if best.stratum is not None else {}).items()
            ),
        )


@dataclass(frozen=True)
class _Stratum:
    """The problems of one stratum, as a table."""

    table: Trials | ProblemTable
    label: str
    cautions: tuple[Caution, ...] = ()

    @property
    def metric(self) -> Metric:
        return self.table.metric

    @property
    def columns(self) -> Mapping[str, str]:
        return self.table.columns

    @property
    def families(self) -> tuple[str, ...]:
        return self.table.families

    @property
    def source(self) -> tuple[str, ...]:
        return self.table.source

    def problems(self, settings: Settings) -> tuple[Problems, ...]:
        inside = [own.within(self.label) for own in problems_of(self.table, settings)]
        if not all(own.labels.size for own in inside):
            raise DataError(f"not every family has a problem of the stratum {self.label!r}")
        return tuple(inside)


def _refuse(asked: Asked) -> None:
    """What samples of problems do not have."""
    if asked.statistic not in ("mean", "all"):
        raise InputError(
            "over problems the statistic is 'mean', the average over problems of the best of n, or 'all', of the "
            f"chance that all of n succeed (pass^k), got {asked.statistic!r}; leave out {named('group')} for others "
            "over all samples"
        )
    if asked.estimator != "u":
        raise InputError(f"over problems the estimator is 'u', the unbiased one, got {asked.estimator!r}")
    _check.as_choice(asked.interval, GROUP_METHODS, "interval over problems")
    for argument, given, why in (
        ("axis", asked.axis == "cost", "the axis is 'trials'"),
        ("while_running", asked.while_running, "there are no limits that hold while samples arrive"),
        ("p_values", asked.p_values, "every verdict has its p-value already"),
    ):
        if given:
            raise InputError(f"over problems {why}; leave out {named(argument)}")


def _limits(best: GroupBest, metric: Metric, asked: Asked) -> Interval:
    settings = asked.settings
    return group_interval(
        best,
        method=asked.interval,
        confidence=settings.confidence,
        simultaneous=asked.simultaneous,
        bounds=metric.bounds,
        n_resamples=settings.n_resamples,
        rng=settings.rng,
    )


def _spread(best: GroupBest) -> FloatArray:
    """How much problems differ at each budget: the standard deviation of their values."""
    known = ~np.isnan(best.by_group)
    count = known.sum(axis=0)
    mean = np.where(known, best.by_group, 0).sum(axis=0) / np.maximum(count, 1)
    squares = np.where(known, (best.by_group - mean) ** 2, 0).sum(axis=0)
    return np.where(count > 1, np.sqrt(squares / np.maximum(count - 1, 1)), np.nan)


def _padded(best: GroupBest, budgets: IntArray) -> GroupBest:
    """The same with a column of NaN for every budget that no problem allows."""
    missing = budgets.size - best.n.size
    if not missing:
        return best
    blank = np.full((best.groups.size, missing), np.nan)
    return replace(
        best,
        n=budgets,
        value=np.r_[best.value, np.full(missing, np.nan)],
        by_group=np.hstack([best.by_group, blank]),
        n_groups=np.r_[best.n_groups, np.zeros(missing, dtype=np.int64)],
    )


def _failures(own: Problems, settings: Settings) -> list[Caution]:
    if not own.n_failed:
        return []
    of = own.n_samples + (own.n_failed if settings.failed == "drop" else 0)
    facts: dict[str, Any] = {"n_failed": own.n_failed, "of": of, "failed": settings.failed, "unit": "sample"}
    return [Caution.of("failures", own.family, own.n_failed, **facts)]


def _about_sizes(family: str, best: GroupBest, column: str | None, *, own_end: bool) -> list[Caution]:
    """Where problems have one sample each, or unequally many; ``own_end``: nobody asked where the curve is to end."""
    smallest, largest = int(best.sizes.min()), int(best.sizes.max())
    if largest == 1:
        return [Caution.of("beyond-trials", family, 1, kind="one-sample", column=column)]
    if smallest == largest:
        return []
    facts: dict[str, Any] = {"smallest": smallest, "largest": largest}
    total, last = best.groups.size, int(best.n[-1])
    if best.n_groups[-1] < total:
        facts |= {"last": int(best.n_groups[-1]), "total": total, "n": last}
    if own_end and (best.sizes > last).sum() < LEAST * total and last < largest:
        facts |= {"n": last, "ends": True}
    return [Caution.of("unequal-groups", family, smallest, **facts)]
