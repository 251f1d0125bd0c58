"""Samples of many problems: the best of n of each problem, averaged over problems, with limits over problems.

The table (`levelbest.trials.problems`) handles whether samples are in memory or read in parts.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from levelbest import _check
from levelbest._check import Bounds, IntArray, budget_grid
from levelbest.cautions import Caution
from levelbest.designs._input import is_judged
from levelbest.designs._protocol import POINTS, WHOLE, Design, FamilyCounts, Request, Table
from levelbest.designs._table import drawn_curve
from levelbest.designs.selecting import spend_per_solved
from levelbest.designs.shared_runs import ask_about_runs_of_problems
from levelbest.errors import Ambiguous, DataError, InputError, named
from levelbest.results import Curve, DesignWords, Noise, SpendPerSolved, Stratum
from levelbest.stats.bands import Interval
from levelbest.stats.inference import Contrasts, Hypotheses
from levelbest.stats.problems import (
    GROUP_METHODS,
    GroupBest,
    group_interval,
    problem_contrasts,
    suite_interval,
)
from levelbest.trials import Trials
from levelbest.trials.nested import PREFIX, UNCLUSTERED, nested_in
from levelbest.trials.problems import LEAST, Problems, grid_of, problems_of, too_few_samples

LISTED = 5
"""So many problems are named where some are left out."""
_STATISTICS = {
    "mean": "the average over problems of the best of n",
    "all": "of the chance that all of n succeed, pass^k",
    "majority": "of the answer with the most votes, maj@k",
}
_SAID_ANEW = ("failures", "still-running", "no-reported", "few-values", "paired-design", "unequal-groups")


class ProblemsDesign(Design):
    """Systems on many problems, with several samples of each."""

    name: ClassVar[str] = "problems"
    statistics: ClassVar[tuple[str, ...]] = ("mean", "all", "majority")
    axes: ClassVar[tuple[str, ...]] = ("trials",)
    words = DesignWords(
        unit="sample",
        group="problem",
        unchecked="picked by the score itself, as an oracle would",
        badge="oracle",
        about="problems",
        scope="for problems like these",
        winner="one sample",
        ran=(
            "On {groups} we drew {many} samples{systems} and report {score} among n samples of a problem, "
            "averaged over problems."
        ),
        estimated=(
            "Within each problem the value is the unbiased estimate over all subsets of n samples (pass@k for 0/1 "
            "scores) [3]; {ties}; intervals and comparisons resample problems."
        ),
    )

    headline: int | None = 1
    of_tasks: ClassVar[bool] = False
    """Whether the problems are of several tasks."""
    methods: ClassVar[tuple[str, ...]] = GROUP_METHODS
    """Of intervals."""

    def __init__(self, table: Table, request: Request, stratum: str | None = None) -> None:
        self._refuse(request)
        super().__init__(table, request)
        self.statistic = request.statistic
        self.paired = request.paired is not False
        self.adjustment = "swaps" if self.paired else "permutation"
        self.problems = problems_of(table, request.settings)
        self.noticed = tuple(caution for caution in table.cautions if caution.code not in _SAID_ANEW)
        if stratum is not None:  # its problems alone
            self.noticed, self.problems = (), tuple(problems.within(stratum) for problems in self.problems)
            if not all(problems.labels.size for problems in self.problems):
                raise DataError(f"not every family has a problem of the stratum {stratum!r}")
        self.families = tuple(problems.family for problems in self.problems)
        # with the bounds that hold for every family
        bounds = {problems.metric.bounds for problems in self.problems}
        self.metric = replace(self.problems[0].metric, bounds=bounds.pop() if len(bounds) == 1 else (None, None))
        self.weighted = self.problems[0].weights is not None
        if self.metric.direction == "max" and all(problems.binary for problems in self.problems):
            chosen = "" if self.metric.reported else "pass@{n}"
            named_so = {"all": "pass^{n}", "majority": "maj@{n}"}.get(self.statistic, chosen)
            self.words = replace(self.words, measure=named_so)
        self.clustered = self.words.about == "problems" and self.problems[0].clusters is not None
        if self.clustered:
            self.words = replace(self.words, exchanged="clusters", repeated="cluster")

    @classmethod
    def fits(cls, trials: Table, request: Request) -> bool:
        """Whether the trials are samples of problems, and the question is about what this design is."""
        of_problems = not isinstance(trials, Trials) or (trials.group is not None and trials.search is None)
        if not of_problems or cls.of_tasks != getattr(trials, "by_task", False):
            return False
        spent = "spending" if request.axis == "cost" else "problems"
        kind = "judged" if is_judged(trials) else "suite" if request.about == "suite" else spent
        return cls.of_tasks or cls.name == kind

    @cached_property
    def kept(self) -> tuple[IntArray, ...]:
        """Of each family, the places of the problems that are compared: those that every family has, if paired."""
        if not self.paired:
            return tuple(np.arange(problems.labels.size) for problems in self.problems)
        common = set.intersection(*(set(problems.labels.tolist()) for problems in self.problems))
        if not common:
            raise DataError(
                "the families have no problem in common, so they cannot be compared problem by problem; check the "
                f"names in the column of the problem ({named('group')}), or compare unpaired ({named('paired')})"
            )
        kept = tuple(
            np.flatnonzero([label in common for label in problems.labels.tolist()]).astype(np.int64)
            for problems in self.problems
        )
        for problems, places in zip(self.problems, kept, strict=True):
            if self.request.paired and places.size < problems.labels.size:
                alone = ", ".join(self._left_out(problems, places)[:LISTED])
                raise InputError(
                    "a paired comparison needs the same problems in every family, and "
                    f"{problems.labels.size - places.size} of {problems.labels.size} problems of {problems.family} are "
                    f"not in every family ({alone}); leave out {named('paired')}"
                )
        return kept

    def _left_out(self, problems: Problems, places: IntArray) -> list[str]:
        return [str(label) for label in np.delete(problems.labels, places)]

    @property
    def sizes(self) -> list[IntArray]:
        """Of each family, the samples of each problem that is compared."""
        return [problems.sizes[places] for problems, places in zip(self.problems, self.kept, strict=True)]

    @property
    def counts(self) -> tuple[FamilyCounts, ...]:
        """Of each family. A failure counts where its problem was left out as well."""
        return tuple(
            FamilyCounts(problems.family, int(sizes.sum()), problems.n_failed, problems.n_running)
            for problems, sizes in zip(self.problems, self.sizes, strict=True)
        )

    @property
    def n_groups(self) -> int:
        """How many problems are compared."""
        return len(
            {label for problems, kept in zip(self.problems, self.kept, strict=True) for label in problems.labels[kept]}
        )

    @property
    def n_clusters(self) -> int | None:
        """How many clusters of problems are compared."""
        return self.systems[0].n_units if self.clustered else None

    @property
    def reach(self) -> dict[str, float]:
        """No problem of a family has more samples than these."""
        return {problems.family: float(sizes.max()) for problems, sizes in zip(self.problems, self.sizes, strict=True)}

    @cached_property
    def budgets(self) -> IntArray:
        """Where systems are compared: as far as two of them have samples, of enough problems."""
        sizes = self.sizes
        most = sorted(int(counts.max()) for counts in sizes)[-2:][0]
        last = sorted(int(grid_of(counts)[-1]) for counts in sizes)[-2:][0]
        budgets = self.request.budgets(most, budget_grid(last, whole=WHOLE, points=POINTS))
        headline = self.request.named
        if headline is not None and headline <= most:
            budgets = np.union1d(budgets, [headline]).astype(np.int64)
        return budgets

    @cached_property
    def systems(self) -> tuple[GroupBest, ...]:
        """Of each family, the best of n by problem at the budgets compared."""
        systems = []
        for problems, places in zip(self.problems, self.kept, strict=True):
            if self.budgets[0] > problems.sizes[places].max():
                raise too_few_samples(
                    problems.family, problems.sizes[places], int(self.budgets[0]), self.trials.columns.get("group")
                )
            systems.append(problems.best(self.budgets, self.statistic).select(places))
        return tuple(systems)

    def contrasts(self, hypotheses: Hypotheses) -> Contrasts:
        """The difference of each pair, problem by problem or each system over its own problems."""
        answer = problem_contrasts(self.systems, hypotheses, paired=self.paired)
        self._ask_about_nesting(hypotheses, answer)
        if isinstance(self.trials, Trials):
            ask_about_runs_of_problems(self.trials, hypotheses, answer)
        return answer

    def _ask_about_nesting(self, hypotheses: Hypotheses, answer: Contrasts) -> None:
        """Ask where the names of problems show what they are nested in, and a verdict depends on it."""
        column, facts = self.trials.columns.get("group"), getattr(self.trials, "facts", {})
        if self.clustered or column is None or UNCLUSTERED in facts or not answer.pairs:
            return
        together = []
        for system in self.systems:
            heads = nested_in(system.groups.astype(str).tolist())
            if heads is None:
                return
            together.append(replace(system, clusters=np.array(heads)))
        other = problem_contrasts(together, hypotheses, paired=self.paired)
        both = zip(answer.pairs, other.pairs, strict=True)
        if all(np.array_equal(first.certified, second.certified) for first, second in both):
            return
        shown = together[0]
        assert shown.clusters is not None
        raise Ambiguous(
            f"the problems in {column!r} seem to be nested: {shown.groups.size} of them in {shown.n_units} clusters, "
            f"such as {str(shown.clusters[0])!r} of {str(shown.groups[0])!r}, and the verdict depends on it. If "
            f"problems of a cluster are alike, the cluster is the unit: say {named('cluster', PREFIX)}; if the "
            f"problems are independent: {named('cluster', 'none')}"
        )

    def per_solved(self, budget: float) -> tuple[SpendPerSolved, ...]:
        """At so many samples of a problem, with a stop at the first success; where every sample has a cost."""
        if self.statistic != "mean" or self.metric.reported is not None:
            return ()
        return spend_per_solved(self.problems, self.kept, int(budget), self.request.settings.confidence)

    def strata(self) -> tuple[tuple[str, ProblemsDesign], ...]:
        """The same within each stratum in which all families can be compared."""
        divided = [problems.strata for problems in self.problems if problems.strata is not None]
        labels = sorted({str(label) for strata in divided for label in strata})
        if len(labels) < 2:  # the same again
            return ()
        inside = []
        for label in labels:
            try:
                design = type(self)(self.trials, replace(self.request, paired=None if self.paired else False), label)
                if len(design.families) == len(self.families) and design.budgets.size:
                    inside.append((label, design))
            except (DataError, InputError):  # no two families share a problem, or a budget, of the stratum
                continue
        return tuple(inside)

    def _refuse(self, request: Request) -> None:
        """What samples of problems do not have."""
        if request.statistic not in self.statistics:
            known = " or ".join(f"{name!r} ({_STATISTICS[name]})" for name in self.statistics)
            raise InputError(
                f"{self.words.scope} the statistic is {known}, got {request.statistic!r}; leave out {named('group')} "
                "for other statistics, over all samples"
            )
        if request.estimator != "u":
            raise InputError(f"over problems the estimator is 'u', the unbiased one, got {request.estimator!r}")
        _check.as_choice(request.interval, self.methods, "interval over problems")
        for argument, given, why in (
            ("axis", request.axis not in self.axes, f"the axis is {self.axes[0]!r} here"),
            ("while_running", request.while_running, "there are no limits that are valid while samples arrive"),
            ("p_values", request.p_values, "every verdict has its p-value already"),
        ):
            if given:
                raise InputError(f"over problems {why}; leave out {named(argument)}")

    def limits(self, problems: Problems, best: GroupBest, request: Request) -> Interval:
        """Of one family's curve, over problems."""
        return over_problems(best, request, problems.metric.bounds, request.interval)

    @property
    def noises(self) -> tuple[Noise, ...]:
        """For other problems, and for these."""
        return tuple(self._noise(problems, self.request) for problems in self.problems)

    def _noise(self, problems: Problems, request: Request) -> Noise:
        first, settings, bounds = np.ones(1, dtype=np.int64), request.settings, problems.metric.bounds
        best = problems.best(first, request.statistic)
        over = group_interval(best, confidence=settings.confidence, bounds=bounds, n_resamples=settings.n_resamples)
        half, these = over.half_widths[0], float("nan")
        if problems.holds_samples(request.statistic):
            samples = problems.samples(first, request.statistic)
            known = over if best.clusters is None else None
            inside = suite_interval(best, samples, confidence=settings.confidence, bounds=bounds, over=known)
            these = inside.half_widths[0]
        return Noise(problems.family, float(best.value[0]), half, these)

    def _noticed(self, problems: Problems, best: GroupBest, request: Request, running: str) -> list[Caution]:
        """What a reviewer would ask about one family's samples; ``running`` is the code for those that still run."""
        noticed = list(problems.cautions)
        if lost := problems.n_failed:
            failed = request.settings.failed
            of = problems.n_samples + (lost if failed == "drop" else 0)
            noticed.append(
                Caution.of("failures", problems.family, lost, n_failed=lost, of=of, failed=failed, unit=self.unit)
            )
        if problems.pool is not None and (lost := problems.pool.unpriced):
            noticed.append(Caution.of("missing-costs", problems.family, lost, lost=lost, of=problems.n_samples))
        if problems.n_running:
            noticed.append(
                Caution.of(running, problems.family, problems.n_running, n_running=problems.n_running, unit=self.unit)
            )
        return noticed + _about_sizes(
            problems.family, best, self.trials.columns.get("group"), own_end=request.n is None
        )

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What a reviewer would ask about the samples compared."""
        noticed = list(self.noticed)
        for problems, places, system in zip(self.problems, self.kept, self.systems, strict=True):
            noticed += self._noticed(problems, system, self.request, "fixed-sample")
            if places.size < problems.labels.size:
                alone = self._left_out(problems, places)
                facts = {"problems": alone, "total": problems.labels.size}
                noticed.append(Caution.of("unequal-groups", problems.family, len(alone), kind="left-out", **facts))
        if self.paired:
            noticed.append(Caution.of("paired-design", None, self.n_groups, kind="problems"))
        if self.metric.reported is None and self.statistic == "mean":
            noticed.append(Caution.of("no-reported", kind="oracle", selection=self.metric.selection))
        return tuple(dict.fromkeys(noticed))

    def curves(self, request: Request) -> tuple[Curve, ...]:
        """One curve for each family, over all its problems, and over those of each stratum."""
        self._refuse(request)
        return tuple(self._curve(problems, request) for problems in self.problems)

    def _curve(self, problems: Problems, request: Request) -> Curve:
        metric, largest = problems.metric, int(problems.sizes.max())
        noticed = [caution for caution in self.noticed if caution.family in (None, problems.family)]
        budgets = grid_of(problems.sizes)
        if request.n is not None:
            wanted = np.array(request.n, dtype=np.int64)
            budgets = wanted[wanted <= largest]
            if not budgets.size:
                raise too_few_samples(problems.family, problems.sizes, int(wanted[0]), self.trials.columns.get("group"))
            if budgets.size < wanted.size:
                noticed.append(
                    Caution.of("beyond-trials", problems.family, wanted[-1], kind="samples", largest=largest)
                )
        best = problems.best(budgets, request.statistic)
        spread, several = np.full(best.n.size, np.nan), best.n_groups > 1  # of the values of problems
        spread[several] = np.nanstd(best.by_group[:, several], axis=0, ddof=1)
        limits = self.limits(problems, best, request)
        noticed += self._noticed(problems, best, request, "still-running")
        if metric.reported is None and request.statistic == "mean":
            noticed.append(Caution.of("no-reported", problems.family, kind="oracle", selection=metric.selection))
        if limits.why:
            noticed.append(Caution.of("beyond-horizon", problems.family, reasons=limits.reasons))
        counted = FamilyCounts(problems.family, problems.n_samples, problems.n_failed, problems.n_running)
        return replace(
            drawn_curve(counted, metric, request, best.value, limits, spread),
            cost=None if problems.mean_cost is None else np.asarray(problems.mean_cost * best.n, dtype=np.float64),
            cautions=tuple(dict.fromkeys(noticed)),
            problems=best,
            words=self.words,
            noise=self._noise(problems, request),
            strata=tuple(
                Stratum(label, part, self.limits(problems.within(label), part, request))
                for label, part in (best.by_stratum() if best.stratum is not None else {}).items()
            ),
        )


def over_problems(best: GroupBest, request: Request, bounds: Bounds, method: str | None) -> Interval:
    """Limits of averages over problems, as the request has them."""
    settings = request.settings
    return group_interval(
        best,
        method=method,
        confidence=settings.confidence,
        simultaneous=request.simultaneous,
        bounds=bounds,
        n_resamples=settings.n_resamples,
        rng=settings.rng,
    )


def _about_sizes(family: str, best: GroupBest, column: str | None, *, own_end: bool) -> list[Caution]:
    """Warnings where problems have one sample each, or unequal numbers; ``own_end``: no budgets were requested."""
    smallest, largest = int(best.sizes.min()), int(best.sizes.max())
    if largest == 1:
        return [Caution.of("beyond-trials", family, 1, kind="one-sample", column=column)]
    if smallest == largest:
        return []
    facts: dict[str, object] = {"smallest": smallest, "largest": largest}
    total, last = best.groups.size, int(best.n[-1])
    if best.n_groups[-1] < total:
        facts |= {"last": int(best.n_groups[-1]), "total": total, "n": last}
    if own_end and (best.sizes > last).sum() < LEAST * total and last < largest:
        facts |= {"n": last, "ends": True}
    return [Caution("unequal-groups", family, float(smallest), facts=tuple(facts.items()))]
