"""Several benchmarks: each separately, and the mean over them of means over their problems (the macro average)."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from levelbest.designs._input import refuse_judge
from levelbest.designs._protocol import Request, Table
from levelbest.designs.problems import ProblemsDesign
from levelbest.designs.suite import Suite, suite_differences, suite_limits
from levelbest.errors import DataError, InputError, named
from levelbest.stats.bands import Interval
from levelbest.stats.inference import Contrasts, Hypotheses
from levelbest.stats.problems import GroupBest, problem_contrasts
from levelbest.trials.problems import Problems


class Benchmarks(ProblemsDesign):
    """Systems on the problems of several tasks. Tasks count the same, or as the weights of their problems add up."""

    name: ClassVar[str] = "benchmarks"
    of_tasks: ClassVar[bool] = True

    def __init__(self, table: Table, request: Request, stratum: str | None = None) -> None:
        pooled = f"pool the problems of all tasks ({named('task', 'none')}), or take one task ({named('where')})"
        if request.axis == "cost":
            raise InputError(
                "over several tasks systems are compared at numbers of samples; to compare them at equal spend "
                f"{pooled}"
            )
        refuse_judge(table, "a comparison over several tasks", pooled)
        if request.about == "suite":
            self.words, self.methods = Suite.words, Suite.methods  # type: ignore[misc]
        super().__init__(table, request, stratum)
        if request.paired is False:
            raise InputError(f"over several tasks systems are compared problem by problem; leave out {named('paired')}")
        if stratum is not None:
            return
        if request.about == "suite":
            self.adjustment, self.beyond = "within", Suite.beyond
        divided = [problems.strata for problems in self.problems if problems.strata is not None]
        labels = [frozenset(map(str, strata)) for strata in divided]
        if len(set(labels)) > 1:
            lacking = ", ".join(sorted(frozenset().union(*labels) - labels[0].intersection(*labels)))
            raise DataError(
                f"every family needs problems of every task, and some have none of {lacking}; leave it out with "
                f"{named('where')}"
            )
        self.n_tasks = len(labels[0])
        self.problems = tuple(replace(problems, macro=True) for problems in self.problems)

    def limits(self, problems: Problems, best: GroupBest, request: Request) -> Interval:
        """Of one family's curve."""
        if request.about == "suite":
            return suite_limits(problems, best, request)
        return super().limits(problems, best, request)

    def contrasts(self, hypotheses: Hypotheses) -> Contrasts:
        """The difference of each pair, problem by problem."""
        if self.request.about == "suite":
            return suite_differences(self, hypotheses)
        return problem_contrasts(self.systems, hypotheses)
