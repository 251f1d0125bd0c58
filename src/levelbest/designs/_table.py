"""What the designs of a table in memory have in common: families, scores, counts and what a reviewer would ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from levelbest._check import FloatArray, IntArray, budget_grid
from levelbest._cores import with_processes, with_threads
from levelbest.cautions import Caution
from levelbest.designs._protocol import POINTS, WHOLE, Asked, Counts, Design
from levelbest.errors import DataError, InputError, named
from levelbest.results import Curve, FamilyCostCurve
from levelbest.stats.best import statistic_named
from levelbest.stats.inference import Sample, half_of, reach_of
from levelbest.trials import OK, Scores, Settings, Trials, by_configuration, has_repeats

SAID_ANEW = ("failures", "still-running", "no-reported")  # with the policy used and the word for a trial


def adaptive_families(trials: Trials) -> dict[str, str]:
    """Families whose trials are one adaptive search, with the reason why they have no limits."""
    return {c.family: "adaptive" for c in trials.cautions if c.code == "adaptive-sampler" and c.family is not None}


def scores_of(trials: Trials, settings: Settings) -> list[Scores]:
    """Of each family; where configurations have several runs, of configurations."""
    tables = [trials[name] for name in trials.families]
    scores = [table.scores(settings.failed, missing=settings.missing) for table in tables]
    if not has_repeats(trials) or trials.group is not None or trials.search is not None:
        return scores
    return [by_configuration(table, own) for table, own in zip(tables, scores, strict=True)]


class TableDesign(Design):
    """Families of a table, each with its scores. Designs of tables build on it; see `Design` for the names."""

    adjustment = "permutation"
    beyond = "beyond-half"

    def __init__(self, trials: Trials, asked: Asked) -> None:
        if asked.statistic == "all":
            raise InputError(
                f"statistic 'all' (all of n succeed, pass^k) is of samples of problems; name them with {named('group')}"
            )
        super().__init__(trials, asked)
        self.metric = trials.metric
        self.families = trials.families
        self.statistic = statistic_named(asked.statistic).name
        if type(self)._scores is not TableDesign._scores:
            _ = self.scores  # what a design asks of its scores is asked at once

    @cached_property
    def tables(self) -> tuple[Trials, ...]:
        """The trials of each family."""
        return tuple(with_threads(self.trials.__getitem__, self.families, self._each))

    @property
    def _each(self) -> int:
        """Trials of a family, on average."""
        return len(self.trials) // max(1, len(self.families))

    @cached_property
    def scores(self) -> tuple[Scores, ...]:
        """Of each family."""
        return tuple(self._scores())

    def _scores(self) -> Sequence[Scores]:
        settings = self.asked.settings
        return with_threads(
            lambda table: table.scores(settings.failed, missing=settings.missing),
            self.tables,
            self._each,
        )

    @property
    def samples(self) -> list[Sample]:
        """The scores of each family, turned so that higher is better."""
        return [Sample(own.selection, own.reported).turned(self.metric.direction) for own in self.scores]

    @property
    def sizes(self) -> list[int]:
        """How many trials each family has."""
        return [own.n_trials for own in self.scores]

    @cached_property
    def counts(self) -> tuple[Counts, ...]:
        """Of each family."""
        sign = self.metric.sign
        return tuple(
            Counts(name, own.n_trials, own.n_failed, own.n_running, float(sign * (sign * own.selection).max()))
            for name, own in zip(self.families, self.scores, strict=True)
        )

    @property
    def observed(self) -> tuple[float, float]:
        """The least and the greatest score of a finished trial."""
        column = self.trials.selection if self.trials.reported is None else self.trials.reported
        finished = column[self.trials.status == OK]
        return float(np.nanmin(finished)), float(np.nanmax(finished))

    @property
    def unit_scores(self) -> Mapping[str, FloatArray]:
        """By family, the score of each of its units."""
        return {name: own.curve_of for name, own in zip(self.families, self.scores, strict=True)}

    @property
    def reach(self) -> dict[str, float]:
        """Budgets past these were not run."""
        return {own.family: float(own.n_trials) for own in self.counts}

    @cached_property
    def excluded(self) -> Mapping[str, str]:
        """Families without limits, with the reason's code: one adaptive search, or one trial."""
        alone = {name: "few-trials" for name, size in zip(self.families, self.sizes, strict=True) if size < 2}
        return alone | adaptive_families(self.trials)

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What a reviewer would ask about the trials compared."""
        kept = [c for c in self.trials.cautions if c.code not in SAID_ANEW or c.kind == "left-out"]
        for name, own in zip(self.families, self.scores, strict=True):
            kept += failure_cautions(name, own, self.unit)
            if own.n_running:
                kept.append(Caution.of("fixed-sample", name, own.n_running, n_running=own.n_running, unit=self.unit))
            distinct = int(np.unique(own.curve_of).size)
            if distinct < min(10, own.n_trials / 2):
                kept.append(Caution.of("few-values", name, distinct, distinct=distinct, n_trials=own.n_trials))
        if self.scores[0].reported is None:
            kept.append(Caution.of("no-reported", selection=self.metric.selection))
        return tuple(dict.fromkeys(caution for caution in kept if caution.code not in self.moot))

    def budgets(self, pairs: Sequence[tuple[int, int]]) -> IntArray:
        """Where families are compared: to half the trials of the smaller one, or where it was asked for."""
        sizes, reaches = self.sizes, [reach_of(sample) for sample in self.samples]
        if self.beyond and any(reach < half_of(size) for reach, size in zip(reaches, sizes, strict=True)):
            self.beyond = "beyond-reported"
        reach = max(min(reaches[a], reaches[b]) for a, b in pairs)
        if self.asked.n is None and reach < 1:
            counted = ", ".join(map(str, sizes))
            raise DataError(f"a comparison needs at least 2 finished trials in two families, and there are {counted}")
        most = max(min(sizes[a], sizes[b]) for a, b in pairs)
        budgets = self.asked.budgets(most, budget_grid(max(reach, 1), whole=WHOLE, points=POINTS))
        headline = self.asked.headline
        if headline is None:
            return budgets
        if headline > most:
            raise InputError(f"a headline must be at most the number of trials of two families, {most}, got {headline}")
        return np.union1d(budgets, [headline]).astype(np.int64)

    def curves(self, asked: Asked) -> tuple[Curve | FamilyCostCurve, ...]:
        """One curve for each family, of independent trials."""
        from levelbest.designs._curves import trial_curve

        adaptive = adaptive_families(self.trials)

        def curve_of(name: str) -> Curve:
            # Whoever computes a curve cuts out its trials, and lets go of them: memory that is new takes long.
            return trial_curve(self.trials.cut_out(name), asked, no_limits=adaptive.get(name, ""), words=self.words)

        return tuple(with_processes(curve_of, self.families, self._each))


def failure_cautions(family: str, scores: Scores, unit: str) -> list[Caution]:
    """How many trials failed and what became of them, where some did."""
    if not scores.n_failed:
        return []
    lost = scores.n_failed
    return [Caution.of("failures", family, lost, n_failed=lost, of=scores.n_run, failed=scores.failed, unit=unit)]
