"""Repeated searches: the unit is the whole search, compared by its best so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest._grid import budget_grid
from levelbest.cautions import Caution
from levelbest.designs._contrasts import Band, band_contrasts
from levelbest.designs._protocol import Asked, Counts, Table
from levelbest.designs._table import TableDesign
from levelbest.errors import InputError
from levelbest.results import Curve
from levelbest.stats.contrasts import Contrasts, Question, best_so_far, search_differences, search_interval
from levelbest.trials import Trials

__all__ = ["Searches"]

POINTS = 10
"""Budgets compared: they share the error rate."""
FEWEST = 3
_LENGTH = "the length of the shortest search"
_NO_WORRY = ("adaptive-sampler", "trend", "repeated-configurations")  # the unit is the search


@dataclass(frozen=True, eq=False)
class _Repeated:
    """One family's searches: best-so-far curves (search, n), turned, to the end of the shortest."""

    curves: FloatArray

    @property
    def count(self) -> int:
        return int(self.curves.shape[0])

    @property
    def length(self) -> int:
        return int(self.curves.shape[1])


class Searches(TableDesign):
    """Families of whole searches, repeated with other seeds."""

    name: ClassVar[str] = "searches"
    adjustment = "bonferroni"
    beyond = "search-ends"

    @classmethod
    def fits(cls, trials: Table, asked: Asked) -> bool:  # noqa: ARG003
        """Where trials belong to searches."""
        return isinstance(trials, Trials) and trials.search is not None

    def __init__(self, trials: Trials, asked: Asked) -> None:
        if asked.axis == "cost" or asked.while_running or asked.statistic != "mean" or asked.estimator != "u":
            raise InputError(
                "repeated searches are compared by the mean best so far over trials, without other options"
            )
        super().__init__(trials, asked)
        self.statistic = "mean best so far"

    @cached_property
    def repeated(self) -> list[_Repeated]:
        """The searches of each family."""
        return [self._repeated(place) for place in range(len(self.families))]

    def _repeated(self, place: int) -> _Repeated:
        table, scores, sign = self.tables[place], self.scores[place], self.metric.sign
        codes = np.zeros(0) if table.search is None else table.search[scores.rows]
        when = (np.arange(len(table)) if table.order is None else table.order)[scores.rows]
        parts = []
        for code in np.unique(codes):
            mine = np.flatnonzero(codes == code)
            mine = mine[np.argsort(when[mine], kind="stable")]
            reported = None if scores.reported is None else sign * scores.reported[mine]
            parts.append(best_so_far(sign * scores.selection[mine], reported))
        shortest = min(part.size for part in parts)
        return _Repeated(np.stack([part[:shortest] for part in parts]))

    @cached_property
    def counts(self) -> tuple[Counts, ...]:
        """Of each family; the best score of several searches is no claim about one."""
        return tuple(
            Counts(name, own.n_trials, own.n_failed, own.n_running, None, several.count)
            for name, own, several in zip(self.families, self.scores, self.repeated, strict=True)
        )

    @property
    def excluded(self) -> Mapping[str, str]:
        """Nobody: families with one search have no limits of their own accord."""
        return {}

    @property
    def reach(self) -> dict[str, float]:
        """The end of the shortest search of each family."""
        return {name: float(own.length) for name, own in zip(self.families, self.repeated, strict=True)}

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """Adaptive samplers are no worry here; too few searches are."""
        kept = [caution for caution in super().cautions if caution.code not in _NO_WORRY]
        for name, own in zip(self.families, self.repeated, strict=True):
            if own.count < FEWEST:
                kept.append(Caution.of("adaptive-sampler", name, own.count, kind="searches", n_searches=own.count))
        return tuple(dict.fromkeys(kept))

    def budgets(self, pairs: Sequence[tuple[int, int]]) -> IntArray:  # noqa: ARG002
        """Up to the end of the shortest search of all."""
        shortest = min(own.length for own in self.repeated)
        return self.asked.budgets(shortest, budget_grid(shortest, whole=POINTS, points=POINTS), _LENGTH)

    def contrasts(self, question: Question) -> Contrasts:
        """Welch's t over searches, the error shared by all budgets and pairs."""
        budgets = self.budgets(question.pairs)
        differences = search_differences(
            [own.curves[:, budgets - 1] for own in self.repeated],
            question.pairs,
            budgets,
            confidence=question.confidence,
            direction=self.metric.direction,
        )
        bands = [
            Band(
                own.n_trials,
                own.difference,
                own.low,
                own.high,
                own.certified,
                reasons=("few-searches",) if min(own.n_trials) < 2 else (),
            )
            for own in differences
        ]
        return band_contrasts(question, bands, budgets, [own.count for own in self.repeated], method="welch", basis="t")

    def curves(self, asked: Asked) -> tuple[Curve, ...]:
        """The mean best-so-far score over the searches of each family, with Student's interval for each budget."""
        return tuple(self._curve(place, asked) for place in range(len(self.families)))

    def _curve(self, place: int, asked: Asked) -> Curve:
        own, scores, metric, settings = self.repeated[place], self.scores[place], self.metric, asked.settings
        budgets = asked.budgets(own.length, np.arange(1, own.length + 1), _LENGTH)
        inside = own.curves[:, budgets - 1]
        mean, low, high = search_interval(inside, settings.confidence)
        if metric.sign < 0:
            low, high = high, low
        name = self.families[place]
        return Curve(
            family=name,
            n=budgets,
            value=metric.sign * mean,
            low=metric.sign * low,
            high=metric.sign * high,
            spread=inside.std(axis=0, ddof=1) if own.count > 1 else np.full(budgets.size, np.nan),
            cost=None,
            statistic="mean",
            estimator="best so far",
            direction=metric.direction,
            selection=metric.selection,
            reported=metric.reported if scores.reported is not None else None,
            cost_unit=metric.cost_unit,
            method="t" if own.count > 1 else "none",
            confidence=settings.confidence,
            simultaneous=False,
            note=f"Student's t over {own.count} searches, each to its trial {own.length}" if own.count > 1 else "",
            n_trials=scores.n_trials,
            n_failed=scores.n_failed,
            n_running=scores.n_running,
            failed=settings.failed,
            horizon=None,
            seed=settings.rng,
            cautions=tuple(caution for caution in self.cautions if caution.family in (None, name)),
        )
