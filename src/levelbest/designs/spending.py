"""Samples of many problems within a spend per problem: the best sample, or the majority answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from levelbest._check import FloatArray, IntArray, cost_grid
from levelbest.designs._protocol import Request, Table
from levelbest.designs.problems import ProblemsDesign
from levelbest.errors import DataError, InputError, named
from levelbest.results import FamilyCostCurve, Noise, SpendPerSolved
from levelbest.stats.budgets import as_cost_budgets
from levelbest.stats.inference import Contrast, Contrasts, Hypotheses, Pair, agreeing, in_turn, undefined
from levelbest.stats.problems import GroupBest, problem_contrasts
from levelbest.trials.pools import SamplePool
from levelbest.trials.problems import Problems

SPEND_POINTS = 24
STILL_DRAWING = 0.9
"""A curve ends where the samples of more than a tenth of the problems would all be finished: those are the cheap ones,
and without them the average would be of other problems."""


class ProblemSpending(ProblemsDesign):
    """Systems on many problems, compared at equal spend per problem."""

    name: ClassVar[str] = "spending"
    headline: int | None = None
    axes: ClassVar[tuple[str, ...]] = ("cost",)
    words = replace(
        ProblemsDesign.words,
        estimated=(
            "Within each problem samples are drawn in random order until the next one would not be finished within the "
            "budget, and the value is averaged over all orders; {ties}; intervals and comparisons resample problems."
        ),
    )

    def __init__(self, table: Table, request: Request, stratum: str | None = None) -> None:
        if request.n is not None or request.statistic == "all":
            raise InputError(
                "over spend, budgets are costs, and what counts is the best sample or the majority; leave out "
                f"{named('n')}, and {named('statistic')} all"
            )
        super().__init__(table, request, stratum)

    @property
    def noises(self) -> tuple[Noise, ...]:
        """Of budgets that count samples."""
        return ()

    def per_solved(self, budget: float) -> tuple[SpendPerSolved, ...]:  # noqa: ARG002
        """Of budgets that count samples."""
        return ()

    @property
    def reach(self) -> dict[str, float]:
        """No range past the budgets compared."""
        return {}

    def _pool(self, problems: Problems) -> SamplePool:
        assert problems.pool is not None
        return problems.pool

    def _range(self, problems: Problems, places: IntArray) -> tuple[float, float]:
        """From the median cost of a sample to where most problems still have samples left to draw."""
        totals = self._pool(problems).costs()[places]
        typical = float(np.median(totals / problems.sizes[places]))
        return typical, float(np.quantile(totals, 1 - STILL_DRAWING, method="lower")) * (1 - 1e-6)

    @cached_property
    def ranges(self) -> list[tuple[float, float]]:
        """Of each family, the spends at which it can be estimated."""
        return [self._range(problems, places) for problems, places in zip(self.problems, self.kept, strict=True)]

    @cached_property
    def grid(self) -> FloatArray:
        """One grid for all families."""
        if self.request.budget is not None:
            return np.unique(as_cost_budgets(self.request.budget))
        inside = [ends for ends in self.ranges if 0 < ends[0] < ends[1]]
        if not inside:
            low, high = self.ranges[0]
            raise DataError(
                f"a sample costs {low:g} and all samples of most problems {high:g}: that leaves no range of spend "
                f"per problem; draw more samples of each problem"
            )
        lows, highs = zip(*inside, strict=True)
        return np.unique(np.concatenate([cost_grid(min(lows), max(highs), SPEND_POINTS), lows, highs]))

    @cached_property
    def budgets(self) -> IntArray:
        """The places of the spends in their grid, from 1."""
        return np.arange(1, self.grid.size + 1)

    def _values(self, problems: Problems, ends: tuple[float, float], grid: FloatArray) -> GroupBest:
        best = problems.best(grid, self.statistic, spend=True)
        outside = (grid < ends[0] * (1 - 1e-9)) | (grid > ends[1] * (1 + 1e-9))
        if self.request.budget is None and outside.any():
            by_group = best.by_group.copy()
            by_group[:, outside] = np.nan
            best = replace(best, by_group=by_group, value=np.where(outside, np.nan, best.value))
        return best

    @cached_property
    def systems(self) -> tuple[GroupBest, ...]:
        """Of each family, what is taken within each spend, by problem."""
        families = zip(self.problems, self.kept, self.ranges, strict=True)
        return tuple(self._values(problems, ends, self.grid).select(places) for problems, places, ends in families)

    def contrasts(self, hypotheses: Hypotheses) -> Contrasts:
        """The difference of each pair at equal spend, problem by problem, where both have samples left to draw.

        Each pair has budgets of its own. Pairs share the error equally, and those decided wherever they can be compared
        pass their share on; limits are those of equal shares.
        """

        def tested(pairs: Sequence[Pair]) -> dict[Pair, Contrast]:
            confidence = 1 - (1 - hypotheses.confidence) / len(pairs)
            alone = replace(hypotheses, confidence=confidence, headline=None, shown=None)
            answers = {pair: self._of_pair(pair, alone) for pair in pairs}
            return {
                pair: replace(answer, p_value=np.minimum(len(pairs) * answer.p_value, 1.0))
                for pair, answer in answers.items()
            }

        first, answers = tested(hypotheses.pairs), []
        for pair, last in in_turn(first, tested).items():
            shown = first[pair]
            low, high = agreeing(shown.low, shown.high, last.certified, hypotheses.bounds)
            answers.append(replace(last, low=low, high=high, floor=shown.floor, ceiling=shown.ceiling))
        return Contrasts(tuple(answers), "gaffke" if hypotheses.method == "gaffke" else "exchange")

    def _of_pair(self, pair: Pair, alone: Hypotheses) -> Contrast:
        """One pair at the spends at which both families can be estimated; the others cannot be compared."""
        both = np.isfinite(self.systems[pair[0]].value) & np.isfinite(self.systems[pair[1]].value)
        shared = np.flatnonzero(both)
        counts = self.counts[pair[0]].n_trials, self.counts[pair[1]].n_trials
        if not shared.size:
            return undefined(pair, counts, alone, "outside-spend")
        systems = [system.at(shared) for system in self.systems]
        answer = problem_contrasts(systems, replace(alone, pairs=(pair,)), paired=self.paired).pairs[0]
        return replace(answer, n=self.grid[shared], reach=self.grid.size)

    def curves(self, request: Request) -> tuple[FamilyCostCurve, ...]:  # type: ignore[override]
        """What is taken within each spend, for every family over its own part of the grid."""
        drawn = []
        for problems, places, ends in zip(self.problems, self.kept, self.ranges, strict=True):
            best = self._values(problems, ends, self.grid)
            known = np.flatnonzero(best.n_groups * ~np.isnan(best.by_group).all(axis=0))
            drawn.append(self._curve_within(problems, best.at(known), self.grid[known], ends, request, places))
        return tuple(drawn)

    def _curve_within(
        self,
        problems: Problems,
        best: GroupBest,
        grid: FloatArray,
        ends: tuple[float, float],
        request: Request,
        places: IntArray,
    ) -> FamilyCostCurve:
        """More than eight parts of a curve: its fields."""
        settings, metric, pool = request.settings, problems.metric, self._pool(problems)
        limits = self.limits(problems, best, request)
        nowhere = np.full(grid.size, np.nan)
        error = np.zeros(grid.size) if best.monte_carlo_error is None else best.monte_carlo_error
        return FamilyCostCurve(
            budget=grid,
            value=best.value,
            monte_carlo_error=error,
            nothing_finished=pool.above(grid),
            trials_finished=nowhere,
            mean_cost_value=nowhere,
            n_trials=int(problems.sizes[places].sum()),
            n_orders=0,
            workers=1,
            direction=metric.direction,
            worst=pool.nothing,
            horizon=ends[1],
            low=np.asarray(limits.low),
            high=np.asarray(limits.high),
            confidence=settings.confidence,
            simultaneous=request.simultaneous,
            n_resamples=settings.n_resamples,
            family=problems.family,
            cost_unit=metric.cost_unit,
            score=metric.score,
            n_failed=problems.n_failed,
            failed=settings.failed,
            seed=settings.rng,
            cautions=self.cautions,
            words=self.words,
        )
