"""Scores of two versions of a suite by problem and run, and the problems on which one is worse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from levelbest._check import FloatArray
from levelbest.results import BrokenProblem
from levelbest.stats.problems import RunSpread, holm, run_spread, worse_p_values
from levelbest.trials import Settings, Trials


@dataclass(frozen=True)
class SuiteVersion:
    """One version's scores by problem, and which run each is of, where that is known."""

    name: str
    n_failed: int
    scores: Mapping[str, FloatArray]
    runs: Mapping[str, tuple[str, ...]] | None

    @classmethod
    def of(cls, family: Trials, settings: Settings) -> SuiteVersion:
        """Of one family."""
        assert family.group is not None
        known, ids = family.scores(settings.failed, missing=settings.missing), family.sample
        ids = family.seed if ids is None else ids
        problems = family.group[known.rows]
        rows = {family.groups[code]: np.flatnonzero(problems == code) for code in np.unique(problems).tolist()}
        scores, runs = {name: known.curve_of[places] for name, places in rows.items()}, None
        if ids is not None:
            runs = {name: tuple(map(str, ids[known.rows[places]])) for name, places in rows.items()}
        return cls(family.families[0], known.n_failed, scores, runs)

    def by_run(self, problems: Sequence[str]) -> FloatArray | None:
        """(problem, run), where there are several runs and each has one score of every problem; else None."""
        if self.runs is None:
            return None
        names = sorted(set(self.runs[problems[0]]))
        if len(names) < 2 or any(sorted(self.runs[problem]) != names for problem in problems):
            return None
        return np.stack([self.scores[problem][np.argsort(self.runs[problem], kind="stable")] for problem in problems])


class WholeRuns(NamedTuple):
    """How much runs vary, and the mean of each over the problems, as trials."""

    spread: RunSpread
    runs: Trials


@dataclass(frozen=True)
class SuiteVersions:
    """The baseline and the candidate."""

    baseline: SuiteVersion
    candidate: SuiteVersion

    @classmethod
    def of(cls, table: Trials, names: tuple[str, str], settings: Settings) -> SuiteVersions:
        """Of two families."""
        first, second = (SuiteVersion.of(table[name], settings) for name in names)
        return cls(first, second)

    @cached_property
    def problems(self) -> tuple[str, ...]:
        """Those of both."""
        return tuple(problem for problem in self.baseline.scores if problem in self.candidate.scores)

    @property
    def absent(self) -> tuple[str, ...]:
        """Problems of which the candidate has no run."""
        return tuple(problem for problem in self.baseline.scores if problem not in self.candidate.scores)

    @property
    def added(self) -> tuple[str, ...]:
        """Problems of which only the candidate has runs."""
        return tuple(problem for problem in self.candidate.scores if problem not in self.baseline.scores)

    @property
    def n_failed(self) -> tuple[int, int]:
        """Runs of single problems that failed: of the candidate, and of the baseline."""
        return self.candidate.n_failed, self.baseline.n_failed

    def whole_runs(self, table: Trials) -> WholeRuns | None:
        """None where it is not known which runs there are, or where one lacks a problem."""
        if len(self.problems) < 2:
            return None
        first, second = (version.by_run(self.problems) for version in (self.baseline, self.candidate))
        if first is None or second is None:
            return None
        place = {name: code for code, name in enumerate(table.groups)}
        every = np.ones(len(place)) if table.weights is None else table.weights
        weights = every[[place[problem] for problem in self.problems]]
        means = weights @ np.concatenate([first, second], axis=1) / weights.sum()
        families = [self.baseline.name] * first.shape[1] + [self.candidate.name] * second.shape[1]
        seeds = np.arange(means.size)  # a run of one version has no partner among those of the other
        runs = Trials.from_arrays(means, direction=table.metric.direction, family=families, seed=seeds)
        metric = replace(table.metric, selection=table.metric.score, reported=None, cost=None, cost_unit=None)
        return WholeRuns(run_spread([first, second], weights), replace(runs, metric=metric))

    def broken(self, sign: float, level: float) -> tuple[BrokenProblem, ...]:
        """The problems on which the candidate is worse, at a level for all of them together, the surest first."""
        before, after = (
            [sign * version.scores[problem] for problem in self.problems] for version in (self.baseline, self.candidate)
        )
        p_values = holm(worse_p_values(before, after, level))
        rows = [
            BrokenProblem(problem, sign * float(old.mean()), sign * float(new.mean()), float(p_value))
            for problem, old, new, p_value in zip(self.problems, before, after, p_values, strict=True)
            if p_value <= level
        ]
        return tuple(sorted(rows, key=lambda row: row.p_value))
