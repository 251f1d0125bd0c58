"""Independent trials: a random sample of each family, compared by the best of n."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest.designs._protocol import Asked, Table
from levelbest.designs._table import TableDesign
from levelbest.results import TRIALS, DesignWords, PairComparison
from levelbest.stats.inference import (
    Contrasts,
    Question,
    TrialUnits,
    chance_better,
    reach_of,
    relative_improvement,
    trial_contrasts,
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
        self._units: dict[bytes, TrialUnits] = {}
        grids = {c.family for c in trials.cautions if c.code == "grid" and c.kind in _GRIDS}
        if self.words == TRIALS and trials.families and grids.issuperset(trials.families):
            self.words = DesignWords(unit="grid point", drawn="drawn at random")

    @classmethod
    def fits(cls, trials: Table, asked: Asked) -> bool:  # noqa: ARG003
        """Where nothing else does."""
        return True

    def contrasts(self, question: Question) -> Contrasts:
        """Differences of the curves."""
        return trial_contrasts(
            self.samples,
            self.budgets(question.pairs),
            question,
            statistic=self.asked.statistic,
            paired=self.paired,
        )

    def more(self, pair: PairComparison, places: tuple[int, int]) -> PairComparison:
        """Who wins how often, and by what share."""
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
            inside = shown[shown <= reach_of(first)]
            inside = inside[inside <= reach_of(second)]
            rows = zip(inside, *self._ratios(places, inside), strict=True)
            known = [row for row in rows if np.isfinite(row[1])]
            pair = replace(pair, relative=tuple((float(n), float(r), float(lo), float(hi)) for n, r, lo, hi in known))
        return pair

    def _ratios(self, places: tuple[int, int], n: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        if not n.size:
            return np.empty(0), np.empty(0), np.empty(0)
        key = n.tobytes()
        if key not in self._units:  # each family is drawn once, for all of its pairs
            self._units[key] = TrialUnits(self.samples, n)
        return relative_improvement(self._units[key], places, self.asked.settings.confidence)
