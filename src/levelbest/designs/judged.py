"""Samples scored by a judge, some of them labelled: systems are compared by the estimated mean label."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest.cautions import Caution
from levelbest.designs._protocol import Request
from levelbest.designs.problems import ProblemsDesign, over_problems
from levelbest.errors import InputError, named
from levelbest.results import Curve, Noise
from levelbest.stats.bands import Interval
from levelbest.stats.problems import GroupBest, JudgedMean, judged_mean
from levelbest.trials import OK, Trials
from levelbest.trials.problems import Problems


class JudgedProblems(ProblemsDesign):
    """Systems on many problems, judged by a model and, on some samples, by labels."""

    name: ClassVar[str] = "judged"
    statistics: ClassVar[tuple[str, ...]] = ("mean",)
    chooses: ClassVar[bool] = False
    words = replace(
        ProblemsDesign.words,
        single="one sample",
        unchecked="labels of some samples",
        badge="judged",
        ran=("On {groups} we drew {many} samples{systems}; a judge scored all of them, and some were labelled."),
        estimated=(
            "The mean label is estimated from the labels and, by prediction-powered inference with the influence of "
            "whole problems, from the judge's scores; intervals and comparisons resample problems."
        ),
    )

    def __init__(self, table: Trials, request: Request, stratum: str | None = None) -> None:
        if request.n not in (None, (1,)) or request.headline not in (None, 1) or request.axis == "cost":
            raise InputError(
                f"with a judge ({named('judge')}) the mean of one sample is estimated; leave out {named('n')}, "
                f"{named('headline')} and {named('axis')}"
            )
        if request.about == "suite":
            raise InputError(
                f"with a judge ({named('judge')}) verdicts are for problems like these; give {named('about')} problems"
            )
        super().__init__(table, replace(request, settings=replace(request.settings, missing="refuse")), stratum)
        self.words = replace(self.words, measure="mean label")
        self.judged = tuple(self._judged(table[problems.family], problems) for problems in self.problems)
        label = table.columns.get("reported", table.metric.reported)
        self.problems = tuple(
            _as_labelled(problems, judged, label) for problems, judged in zip(self.problems, self.judged, strict=True)
        )
        self.metric = self.problems[0].metric

    def _judged(self, trials: Trials, problems: Problems) -> JudgedMean:
        assert trials.group is not None
        assert trials.reported is not None
        place = {str(name): at for at, name in enumerate(problems.labels)}
        known = np.array([place.get(str(name), -1) for name in trials.groups], dtype=np.int64)[trials.group]
        rows = np.flatnonzero((trials.status == OK) & (known >= 0))
        code = known[rows]
        sizes = np.bincount(code, minlength=problems.sizes.size)
        label = trials.reported[rows]
        right = label[np.isfinite(label)]
        bounds = (0.0, 1.0) if ((right == 0) | (right == 1)).all() else trials.metric.bounds
        return judged_mean(trials.selection[rows], label, code, sizes, problems.weights, bounds)

    @cached_property
    def budgets(self) -> IntArray:
        """One sample."""
        return np.ones(1, dtype=np.int64)

    def limits(self, problems: Problems, best: GroupBest, request: Request) -> Interval:
        """Over problems, one of which was not observed where labels are few: its labels may all be at a bound."""
        method, bounds = dict(zip(self.families, self.judged, strict=True))[problems.family].interval
        return over_problems(best, request, bounds, method if request.interval == "default" else request.interval)

    @property
    def reach(self) -> dict[str, float]:
        """One sample."""
        return dict.fromkeys(self.families, 1.0)

    @property
    def noises(self) -> tuple[Noise, ...]:
        """That of other problems is in the intervals."""
        return ()

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What a reviewer would ask, and how far the judge was corrected."""
        return (
            *super().cautions,
            *(self._noted(problems, j) for problems, j in zip(self.problems, self.judged, strict=True)),
        )

    def _noted(self, problems: Problems, judged: JudgedMean) -> Caution:
        return Caution.of(
            "judged",
            problems.family,
            judged.n_labels,
            n_labels=judged.n_labels,
            n_samples=judged.n_samples,
            judge=round(judged.judge_alone, 4),
            corrected=round(judged.value, 4),
            weight=round(judged.weight, 2),
            halved=judged.labels_for(0.5) or 0,
        )

    def curves(self, request: Request) -> tuple[Curve, ...]:
        """One point a family."""
        drawn = zip(super().curves(replace(request, n=(1,))), self.problems, self.judged, strict=True)
        return tuple(replace(curve, cautions=(*curve.cautions, self._noted(of, j))) for curve, of, j in drawn)


def _as_labelled(problems: Problems, judged: JudgedMean, label: str | None) -> Problems:
    """The problems with the values that the labels would give them, as far as they are known."""

    def values(budgets: IntArray) -> FloatArray:
        return np.where(budgets == 1, judged.by_problem[:, None], np.nan)

    metric = replace(problems.metric, reported=label, bounds=(None, None))
    return replace(problems, metric=metric, binary=False, values=values, reported_alone=values, pool=None)
