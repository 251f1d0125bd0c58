"""Seeds: nothing but the seed varies within the families, so that the question is the mean of a new run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from levelbest._check import IntArray
from levelbest.designs._protocol import Asked, Table
from levelbest.designs._table import TableDesign
from levelbest.designs.pairs import varies
from levelbest.results import DesignWords
from levelbest.stats.inference import Contrasts, Question, run_contrasts
from levelbest.trials import Trials

MOST = 50
"""More runs of a family are taken for a search whose settings were not recorded; n = 1 is judged there too."""


class Seeds(TableDesign):
    """Runs of one configuration each, compared by the mean of a new run (n = 1)."""

    name: ClassVar[str] = "seeds"
    words = DesignWords(
        unit="run",
        single="a new run",
        ran=(
            "We ran each of {families} {many} times with different random seeds and report the mean {column} of a new "
            "run."
        ),
        estimated="",
    )
    adjustment = "closed"
    headline: int | None = 1
    beyond = ""
    moot: ClassVar[tuple[str, ...]] = ("paired-design", "few-values", "ties", "no-reported", "beyond-horizon")
    """Those about the best of several runs, which is not asked for: equal seed numbers are no pairing, a few runs are
    no few values, and nothing is chosen among them."""

    @classmethod
    def fits(cls, trials: Table, asked: Asked) -> bool:
        """Where only seeds vary and nobody asks for the best of several runs."""
        one_run = asked.n in (None, (1,)) and asked.headline in (None, 1) and asked.statistic == "mean"
        return one_run and asked.paired is not True and isinstance(trials, Trials) and only_seeds_vary(trials)

    @property
    def reach(self) -> dict[str, float]:
        """The budget is one run."""
        return dict.fromkeys(self.families, 1.0)

    def budgets(self, pairs: Sequence[tuple[int, int]]) -> IntArray:  # noqa: ARG002
        """One run."""
        return np.ones(1, dtype=np.int64)

    def contrasts(self, question: Question) -> Contrasts:
        """Differences of the mean of a new run."""
        turned = [self.metric.sign * own.curve_of for own in self.scores]
        return run_contrasts(turned, question)


def only_seeds_vary(trials: Trials) -> bool:
    """Whether every family is one configuration, run with at most `MOST` seeds, which differ."""
    if trials.seed is None or trials.group is not None or trials.search is not None:
        return False
    for name in trials.families:
        family = trials[name]
        seeds = {str(seed) for seed in family.seed} if family.seed is not None else set()
        if len(family) > MOST or len(seeds) < len(family) or seeds & {"nan", "None", ""}:
            return False
        if any(varies(column) for column in family.configuration.values()):
            return False
    return True
