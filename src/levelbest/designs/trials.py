"""Independent trials: a random sample of each family, compared by the best of n."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from levelbest.designs._protocol import Asked, Table
from levelbest.designs._table import TableDesign
from levelbest.results import TRIALS, DesignWords, PairComparison
from levelbest.stats.contrasts import (
    Contrasts,
    Question,
    Relative,
    chance_better,
    permutation_p,
    search_contrasts,
)
from levelbest.trials import Trials

_GRIDS = ("", "steps", "recorded")
"""Kinds of the warning that call all of a family a grid."""
_SHOWN = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000, 2000, 5000, 10_000)
"""The budgets of the side tables, where those compared are many."""


class IndependentTrials(TableDesign):
    """Every trial is a draw from its family's law."""

    name: ClassVar[str] = "trials"

    def __init__(self, trials: Trials, asked: Asked) -> None:
        super().__init__(trials, asked)
        grids = {c.family for c in trials.cautions if c.code == "grid" and c.kind in _GRIDS}
        if self.words == TRIALS and trials.families and grids.issuperset(trials.families):
            self.words = DesignWords(unit="grid point", drawn="drawn at random")

    @classmethod
    def fits(cls, trials: Table, asked: Asked) -> bool:  # noqa: ARG003
        """Where nothing else does."""
        return True

    def contrasts(self, question: Question) -> Contrasts:
        """Differences of the curves."""
        settings = self.asked.settings
        return search_contrasts(
            self.samples,
            self.budgets(question.pairs),
            question,
            statistic=self.asked.statistic,
            paired=self.paired,
            n_resamples=settings.n_resamples,
            rng=settings.rng,
        )

    def more(self, pair: PairComparison, places: tuple[int, int]) -> PairComparison:
        """Who wins how often, by what share, and whether the laws may be one."""
        settings = self.asked.settings
        first, second = (self.samples[place] for place in places)
        budgets = pair.budget.astype(np.int64)
        shown = budgets[budgets <= min(pair.n_trials)]
        if not shown.size:
            return pair
        if shown.size > 12:
            shown = shown[np.isin(shown, _SHOWN) | (shown == shown[-1])]
        chance = chance_better(first, second, shown)
        pair = replace(pair, chance=tuple(zip(map(float, shown), map(float, chance), strict=True)))
        if self.statistic == "mean" and min(pair.n_trials) > 1:
            columns = (shown, *self._ratios.of(places, shown))
            rows = zip(*(map(float, column) for column in columns), strict=True)
            pair = replace(pair, relative=tuple(row for row in rows if np.isfinite(row[1])))
        if self.asked.p_values:
            p_value = permutation_p(
                first,
                second,
                budgets,
                paired=self.paired,
                n_permutations=settings.n_resamples,
                rng=settings.rng,
            )
            pair = replace(pair, equal_laws_p=None if np.isnan(p_value) else p_value)
        return pair

    @cached_property
    def _ratios(self) -> Relative:
        settings = self.asked.settings
        return Relative(
            self.samples,
            paired=self.paired,
            confidence=settings.confidence,
            n_resamples=settings.n_resamples,
            rng=settings.rng,
        )
