"""Budgets of cost: trials differ in what they cost, and the best within a budget is compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar
from zlib import crc32

import numpy as np

from levelbest import _check
from levelbest._check import BoolArray, FloatArray, cost_grid
from levelbest.designs._protocol import Request
from levelbest.designs._table import TableDesign
from levelbest.designs.seeds import Configurations
from levelbest.errors import DataError, InputError, named
from levelbest.results import FamilyCostCurve, PairComparison
from levelbest.stats.best import Sample, turned_bounds
from levelbest.stats.budgets import (
    Pool,
    Spending,
    as_cost,
    as_cost_budgets,
    cost_differences,
    cost_horizon,
    curve_of,
    mean_cost_values,
    spend,
)
from levelbest.stats.inference import Band, Contrasts, Hypotheses, Pair, band_contrasts, in_turn, joint_p
from levelbest.trials import Scores, Settings, Trials, by_configuration, has_repeats

COST_POINTS = 24
_ORDERS = 12_000
_ROUNDING = 1e-9


class CostDesign(TableDesign):
    """The expected best within each budget of cost ([S] section 8)."""

    name: ClassVar[str] = "cost"
    option, chosen = "axis", "cost"
    refused, where = ("interval", "paired", "p_values"), "on the cost axis"
    adjustment = "joint"
    headline: int | None = None
    beyond = ""
    moot = ("nested-seeds",)  # the advice to count configurations, which is followed here

    def __init__(self, trials: Trials, request: Request) -> None:
        if request.statistic != "mean" or request.estimator != "u" or request.n is not None:
            raise InputError(
                "on the cost axis the statistic is the mean and budgets are costs; leave out "
                f"{named('statistic')}, {named('estimator')} and {named('n')}, and give {named('budget')}"
            )
        if trials.cost is None:
            raise InputError(
                f"a cost axis needs a cost for every trial, and there is none; name its column with {named('cost')}"
            )
        super().__init__(trials, request)
        self._spending: dict[tuple[int | None, bytes], list[Spending]] = {}
        if has_repeats(trials):
            self.words = Configurations.words

    def _scores(self) -> Sequence[Scores]:
        every = [by_configuration(table, by_run) for table, by_run in zip(self.tables, super()._scores(), strict=True)]
        for name, scores in zip(self.families, every, strict=True):
            known = 0 if scores.cost is None else int(np.count_nonzero(np.isfinite(scores.cost)))
            if known < scores.n_trials:
                raise DataError(
                    f"{name}: the cost {self.metric.cost!r} is known for {known} of {scores.n_trials} trials; a failed "
                    f"trial used up its cost too: fill it in, leave these trials out with {named('where')}, or use the "
                    "trial axis"
                )
        return every

    @cached_property
    def spent(self) -> list[FloatArray]:
        """The cost of each trial, by family."""
        return [as_cost(scores.cost, scores.n_trials) for scores in self.scores if scores.cost is not None]

    @cached_property
    def worst(self) -> float:
        """What counts where no trial finishes: the worst bound, else the worst score observed in any family."""
        sign = self.metric.sign
        observed = min(float((sign * scores.curve_of).min()) for scores in self.scores)
        return sign * observed if self.metric.worst is None else self.metric.worst

    @property
    def reach(self) -> dict[str, float]:
        """No range past the budgets compared."""
        return {}

    @property
    def ends(self) -> dict[str, float]:
        """Half of what each family spent; where budgets were asked for, all that it spent."""
        share = 0.5 if self.request.budget is None else 1.0
        horizons = [cost_horizon(spent, self.request.workers) for spent in self.spent]
        return {name: share * end for name, end in zip(self.families, horizons, strict=True)}

    def _range(self, family: int) -> tuple[float, float]:
        """The budgets at which a family can be estimated: from its median cost to half of what it spent."""
        spent = self.spent[family]
        return float(np.median(spent)), 0.5 * cost_horizon(spent, self.request.workers)

    @cached_property
    def grid(self) -> FloatArray:
        """One grid for all families, from the smallest of their ranges' beginnings to the largest of their ends."""
        if self.request.budget is not None:
            return np.unique(as_cost_budgets(self.request.budget))
        ranges = [ends for ends in map(self._range, range(len(self.families))) if 0 < ends[0] < ends[1]]
        if not ranges:
            low, high = self._range(0)
            raise DataError(
                f"{self.sizes[0]} trials of median cost {low:g} leave no budget for which a cost curve is defined "
                f"(at most"
                f" {high:g}); run more trials or use the trial axis"
            )
        lows, highs = zip(*ranges, strict=True)
        # each family's own ends are budgets too, so that its verdicts reach as far as its data
        return np.unique(np.concatenate([cost_grid(min(lows), max(highs), COST_POINTS), lows, highs]))

    def spending(self, grid: FloatArray, rng: int | None) -> list[Spending]:
        """Every family's trials spent within these budgets: once, for its curve and all its differences.

        Trials are put in an order of their own, and streams belong to what a family holds: the order of rows and other
        families play no part.
        """
        key = rng, grid.tobytes()
        if key not in self._spending:
            settings, pools = self.request.settings, [self._pool(place) for place in range(len(self.families))]
            streams = _streams(pools, rng)
            self._spending[key] = [
                spend(pool, grid, _ORDERS, settings.n_resamples, stream)
                for pool, stream in zip(pools, streams, strict=True)
            ]
        return self._spending[key]

    def _pool(self, place: int) -> Pool:
        scores, spent, sign = self.scores[place], self.spent[place], self.metric.sign
        order = np.lexsort((spent, scores.curve_of, scores.selection))
        return Pool(
            sign * scores.selection[order],
            sign * scores.curve_of[order],
            spent[order],
            sign * self.worst,
            self.request.workers,
            turned_bounds(self.metric.bounds, self.metric.direction),
        )

    def curves(self, request: Request) -> tuple[FamilyCostCurve, ...]:
        """The expected best within each budget, for every family over its own part of the grid."""
        settings, metric = request.settings, self.metric
        grid = self.grid if request.budget is None else np.unique(as_cost_budgets(request.budget))
        drawn, spending = [], self.spending(grid, settings.rng)
        for place, (name, scores) in enumerate(zip(self.families, self.scores, strict=True)):
            chosen = np.ones(grid.size, dtype=bool)
            if self.request.budget is None and request.budget is None:
                chosen = _between(grid, *self._range(place))
            curve = curve_of(
                spending[place].at(chosen),
                metric.direction,
                None if name in self.excluded else settings.confidence,
                simultaneous=request.simultaneous,
            )
            low, high = metric.cut(curve.low, curve.high)
            drawn.append(
                FamilyCostCurve(
                    **vars(curve) | {"low": low, "high": high},
                    family=name,
                    cost_unit=metric.cost_unit,
                    score=(metric.reported if scores.reported is not None else None) or metric.selection,
                    n_failed=scores.n_failed,
                    failed=settings.failed,
                    seed=settings.rng,
                    cautions=self.cautions,
                    words=self.words,
                )
            )
        return tuple(drawn)

    def contrasts(self, hypotheses: Hypotheses) -> Contrasts:
        """Differences of cost curves, with bands over all budgets and pairs.

        A winner is named only where score and cost of the two families cannot be one distribution.
        """
        shared = {pair: self._shared(pair) for pair in hypotheses.pairs}
        if self.request.budget is None and not any(low < high for low, high in shared.values()):
            low, high = shared[hypotheses.pairs[0]]
            raise DataError(
                f"the families share no budget of cost: one trial of the more expensive one costs {low:g}, and half of "
                f"what the cheaper one spent is {high:g}; run more trials or use the trial axis"
            )
        families = self.spending(self.grid, Settings.rng)  # whatever the seed: they decide
        alpha = 1 - hypotheses.confidence

        def tested(pairs: Sequence[Pair]) -> dict[Pair, Band]:
            bands = self._bands(families, pairs, hypotheses.confidence)
            return {pair: self._exchanged(families, pair, band, alpha / len(pairs)) for pair, band in bands.items()}

        first = tested(hypotheses.pairs)
        last = in_turn(first, tested)
        bands = [replace(band, certified=last[pair].certified) for pair, band in first.items()]
        return band_contrasts(hypotheses, bands, self.sizes, [("outside-cost",)] * len(bands), method="bootstrap")

    def _bands(self, families: Sequence[Spending], pairs: Sequence[Pair], confidence: float) -> dict[Pair, Band]:
        """Limits that hold for these pairs together, where two families can be compared."""
        bands = {}
        for pair, band in zip(pairs, cost_differences(families, pairs, confidence), strict=True):
            comparable = np.isfinite(band.difference) & _between(self.grid, *self._shared(pair))
            lower, upper = (np.where(comparable, limit, np.nan) for limit in (band.low, band.high))
            bands[pair] = Band.of(self.grid, band.difference, lower, upper)
        return bands

    def _exchanged(self, families: Sequence[Spending], pair: Pair, band: Band, level: float) -> Band:
        """The band without a verdict where score and cost may be of one distribution."""
        pools = [families[place].pool for place in pair]
        if not band.certified.any():
            return band
        p_value = joint_p([Sample(pool.selection, pool.y) for pool in pools], [pool.cost for pool in pools], level)
        return band if p_value <= level else replace(band, certified=np.zeros_like(band.certified))

    def _shared(self, pair: tuple[int, int]) -> tuple[float, float]:
        lows, highs = zip(*map(self._range, pair), strict=True)
        return max(lows), min(highs)

    def more(self, pair: PairComparison, places: tuple[int, int]) -> PairComparison:
        """The trial curves scaled by the mean cost, to set beside."""
        scaled = [
            self.metric.sign
            * mean_cost_values(
                self.scores[place].selection,
                self.scores[place].reported,
                self.spent[place],
                self.grid,
                self.request.workers,
                self.metric.direction,
            )
            for place in places
        ]
        return replace(pair, scaled=scaled[0] - scaled[1])


def _streams(pools: Sequence[Pool], rng: int | None) -> list[np.random.Generator]:
    """A stream for each family, by the order in which its costs stand when its scores are sorted.

    So shifted or scaled scores have the same one, and further families change none; families of the same order, as with
    equal costs, are told apart by their scores.
    """
    seed = int(_check.as_rng(rng).integers(2**62))
    kinds = [crc32(np.argsort(pool.cost, kind="stable").tobytes()) for pool in pools]
    held = sorted(range(len(pools)), key=lambda place: (pools[place].y.tobytes(), pools[place].cost.tobytes()))
    before = {place: sum(kinds[other] == kinds[place] for other in held[:at]) for at, place in enumerate(held)}
    return [np.random.default_rng([seed, kind, before[place]]) for place, kind in enumerate(kinds)]


def _between(grid: FloatArray, low: float, high: float) -> BoolArray:
    """The budgets from ``low`` to ``high``, rounding allowed for."""
    return np.asarray((grid >= low * (1 - _ROUNDING)) & (grid <= high * (1 + _ROUNDING)))
