"""Comparisons for exactly these problems: samples are permuted and resampled within each problem."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from levelbest.designs._protocol import Request, Table
from levelbest.designs.problems import ProblemsDesign, over_problems
from levelbest.errors import InputError, named
from levelbest.stats.bands import Interval
from levelbest.stats.inference import Contrasts, Hypotheses
from levelbest.stats.problems import SUITE_METHODS, GroupBest, suite_contrasts, suite_interval
from levelbest.trials.problems import Problems


class Suite(ProblemsDesign):
    """Systems on a suite that stands for itself: a benchmark, or the tests of a project."""

    name: ClassVar[str] = "suite"
    words = replace(
        ProblemsDesign.words,
        about="suite",
        scope="for exactly these problems",
        exchanged="samples",
        repeated="sample",
        estimated=ProblemsDesign.words.estimated.replace("resample problems", "exchange samples within each problem"),
    )
    beyond = "beyond-samples"
    statistics: ClassVar[tuple[str, ...]] = ("mean", "all")
    methods: ClassVar[tuple[str, ...]] = SUITE_METHODS

    def __init__(self, table: Table, request: Request, stratum: str | None = None) -> None:
        super().__init__(table, request, stratum)
        if request.paired is False:
            raise InputError(
                f"for exactly these problems ({named('about', 'suite')}) systems are compared within each problem; "
                f"leave out {named('paired')}"
            )
        self.adjustment = "within"

    def limits(self, problems: Problems, best: GroupBest, request: Request) -> Interval:
        """Of one family's curve, for these problems."""
        return suite_limits(problems, best, request)

    def contrasts(self, hypotheses: Hypotheses) -> Contrasts:
        """The difference of each pair, samples being exchanged within problems."""
        return suite_differences(self, hypotheses)


def suite_limits(problems: Problems, best: GroupBest, request: Request) -> Interval:
    """Limits of one family's curve for exactly these problems."""
    return suite_interval(
        best,
        problems.samples(best.n, request.statistic),
        method=request.interval,
        confidence=request.settings.confidence,
        simultaneous=request.simultaneous,
        bounds=problems.metric.bounds,
        over=over_problems(replace(best, clusters=None), request, problems.metric.bounds, None),
    )


def suite_differences(design: ProblemsDesign, hypotheses: Hypotheses) -> Contrasts:
    """Differences on exactly these problems."""
    counted = all(problems.counted(design.statistic) for problems in design.problems)
    samples = [
        problems.samples(design.budgets, design.statistic, places, counted=counted)
        for problems, places in zip(design.problems, design.kept, strict=True)
    ]
    first = design.systems[0]
    return suite_contrasts(samples, hypotheses, first.fixed_weights, first.tasks() if first.macro else None)
