"""Repeated searches: the unit is the whole search, compared by its best so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from levelbest import _check
from levelbest._check import FloatArray, IntArray, budget_grid
from levelbest.cautions import Caution
from levelbest.designs._protocol import FamilyCounts, Request
from levelbest.designs._table import TableDesign, drawn_curve
from levelbest.errors import InputError
from levelbest.results import Curve, DesignWords
from levelbest.stats.bands import Interval, Rule, best_interval
from levelbest.stats.best import turned_limits
from levelbest.stats.inference import (
    Contrasts,
    Hypotheses,
    best_so_far,
    search_contrasts,
    search_interval,
)
from levelbest.trials import Metric, Trials

SEARCH_POINTS = 10
"""Budgets compared: they share the error rate."""
FEWEST = 3
_LENGTH = "the length of the shortest search"


class Searches(TableDesign):
    """Families of whole searches, repeated with other seeds."""

    name: ClassVar[str] = "searches"
    column = "search"
    words = DesignWords(
        exchanged="searches",
        scope="for the best so far of a whole search",
        repeated="search",
        estimated=(
            "The unit is the whole search, of which there are {searches}: values are the mean over a family's searches "
            "of the best so far."
        ),
    )
    refused, where = ("paired",), "over repeated searches"
    adjustment = "permutation"
    beyond = "search-ends"
    moot = ("adaptive-sampler", "trend", "repeated-configurations")  # the unit is the search

    def __init__(self, trials: Trials, request: Request) -> None:
        if request.axis == "cost" or request.while_running or request.statistic != "mean" or request.estimator != "u":
            raise InputError(
                "repeated searches are compared by the mean best so far over trials, without other options"
            )
        _check.as_choice(request.interval, ("default", "gaffke"), "interval over searches")
        super().__init__(trials, request)
        self.statistic = "mean best so far"

    @cached_property
    def repeated(self) -> list[FloatArray]:
        """Of each family the best-so-far curves (search, n), turned, to the end of the shortest search."""
        repeated, sign = [], self.metric.sign
        for table, scores in zip(self.tables, self.scores, strict=True):
            codes = np.zeros(0) if table.search is None else table.search[scores.rows]
            when = (np.arange(len(table)) if table.order is None else table.order)[scores.rows]
            parts = []
            for code in np.unique(codes):
                mine = np.flatnonzero(codes == code)
                mine = mine[np.argsort(when[mine], kind="stable")]
                reported = None if scores.reported is None else sign * scores.reported[mine]
                parts.append(best_so_far(sign * scores.selection[mine], reported))
            shortest = min(part.size for part in parts)
            repeated.append(np.stack([part[:shortest] for part in parts]))
        return repeated

    @cached_property
    def counts(self) -> tuple[FamilyCounts, ...]:
        """Of each family; the best score of several searches is no claim about one."""
        return tuple(
            FamilyCounts(name, scores.n_trials, scores.n_failed, scores.n_running, None, len(several))
            for name, scores, several in zip(self.families, self.scores, self.repeated, strict=True)
        )

    @property
    def excluded(self) -> Mapping[str, str]:
        """None: families with one search have no limits anyway."""
        return {}

    @property
    def reach(self) -> dict[str, float]:
        """The end of the shortest search of each family."""
        return {name: float(searches.shape[1]) for name, searches in zip(self.families, self.repeated, strict=True)}

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """Warnings about too few searches; adaptive samplers are allowed here."""
        few = [
            Caution.of(
                "adaptive-sampler", counts.family, counts.n_searches, kind="searches", n_searches=counts.n_searches
            )
            for counts in self.counts
            if counts.n_searches is not None and counts.n_searches < FEWEST
        ]
        return (*super().cautions, *few)

    def budgets(self, pairs: Sequence[tuple[int, int]]) -> IntArray:  # noqa: ARG002
        """Up to the end of the shortest search of all."""
        shortest = min(searches.shape[1] for searches in self.repeated)
        return self.request.budgets(shortest, budget_grid(shortest, whole=SEARCH_POINTS, points=SEARCH_POINTS), _LENGTH)

    def contrasts(self, hypotheses: Hypotheses) -> Contrasts:
        """Whole searches exchanged between the families."""
        budgets = self.budgets(hypotheses.pairs)
        return search_contrasts([searches[:, budgets - 1] for searches in self.repeated], budgets, hypotheses)

    def curves(self, request: Request) -> tuple[Curve, ...]:
        """The mean best-so-far score over the searches of each family, with an interval for each budget."""
        return tuple(self._curve(place, request) for place in range(len(self.families)))

    def _curve(self, place: int, request: Request) -> Curve:
        searches, length = self.repeated[place].shape
        counted, metric, settings = self.counts[place], self.metric, request.settings
        budgets = request.budgets(length, np.arange(1, length + 1), _LENGTH)
        inside = self.repeated[place][:, budgets - 1]
        mean, low, high = search_interval(inside, settings.confidence)
        low, high = turned_limits(low, high, metric.direction)
        method, rule = ("t", Rule.of("searches", count=searches, length=length)) if searches > 1 else ("none", Rule())
        limits = Interval(budgets, low, high, method, settings.confidence, False, searches, rule=rule)
        if request.interval != "default" and searches > 1:
            limits = _bounded(metric.sign * inside, limits, metric, request)
        spread = inside.std(axis=0, ddof=1) if searches > 1 else None
        return replace(
            drawn_curve(counted, metric, request, metric.sign * mean, limits, spread),
            estimator="best so far",
            words=self.words,
            reported=metric.reported if self.scores[place].reported is not None else None,
            cautions=tuple(caution for caution in self.cautions if caution.family in (None, counted.family)),
        )


def _bounded(scores: FloatArray, limits: Interval, metric: Metric, request: Request) -> Interval:
    """The same with the limits of the method asked for: at each budget those of the mean over searches (rows)."""
    wanted = [
        best_interval(
            at_budget,
            1,
            method=request.interval,
            confidence=limits.confidence,
            direction=metric.direction,
            bounds=metric.bounds,
            n_resamples=request.settings.n_resamples,
            rng=request.settings.rng,
        )
        for at_budget in scores.T
    ]
    low, high = (np.array([getattr(interval, side) for interval in wanted]) for side in ("low", "high"))
    return replace(limits, low=low, high=high, method=wanted[0].method, rule=wanted[0].rule)
