"""Who is ahead while a study runs, said so that looking often cannot make it wrong.

Median curves of the selection score, on the finished beginning of each family's plan, with bands that hold at every
look ([S] section 12) and for all families together. A difference counts where two bands are apart.
"""

from __future__ import annotations

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest.run.study import Judge
from levelbest.run.view import FamilyView, LedgerView

__all__ = ["current_verdict", "look_sizes"]

_CONFIDENCE, _FIRST = 0.95, 10
_MOST_BUDGETS = 50


def look_sizes(view: LedgerView) -> tuple[int, ...]:
    """How many trials of each family's finished beginning the last look on the schedule takes in."""
    return tuple(_looked_at(family) for family in view.families.values())


def _looked_at(family: FamilyView) -> int:
    from levelbest.stats.anytime import looks

    if family.n_planned_first < _FIRST:
        return 0
    made = looks(family.prefix, _CONFIDENCE, first=_FIRST, last=family.n_planned_first)
    return made[-1][0] if made else 0


def current_verdict(view: LedgerView, judge: Judge) -> str | None:
    """One sentence on who is ahead at which budgets; None while there is nothing to compare."""
    if judge.selection is None or judge.direction is None:
        return None
    ready = [family for family in view.families.values() if _looked_at(family)]
    if len(ready) < 2:
        return None
    budgets = np.arange(1, min(_MOST_BUDGETS, *(family.prefix for family in ready)) + 1)
    bands = {family.name: _band(family, judge, budgets, len(ready)) for family in ready}
    said = []
    for a, (low_a, high_a) in bands.items():
        for b, (low_b, high_b) in bands.items():
            apart = low_a > high_b if judge.direction == "max" else high_a < low_b
            if apart.any():
                said.append(f"{a} is ahead of {b} at {_runs(budgets[apart])}")
    counts = ", ".join(f"{family.prefix} of {family.n_planned}" for family in ready)
    verdict = "; ".join(said) if said else "undecided"
    return f"so far ({counts} trials, 95 % at every look, median {judge.selection}): {verdict}"


def _band(family: FamilyView, judge: Judge, budgets: IntArray, n_families: int) -> tuple[FloatArray, FloatArray]:
    from levelbest.stats.anytime import anytime_quantile_interval

    scores = family.scores(str(judge.selection))
    best = judge.direction == "max"
    failed = np.isnan(scores)
    if failed.all():
        return np.full(budgets.size, -np.inf), np.full(budgets.size, np.inf)
    # A failed trial ranks below every score ([S] section 9).
    scores[failed] = scores[~failed].min() if best else scores[~failed].max()
    found = anytime_quantile_interval(
        scores,
        budgets,
        confidence=1 - (1 - _CONFIDENCE) / n_families,
        first=_FIRST,
        last=family.n_planned_first,
        direction=str(judge.direction),
    )
    low, high = np.asarray(found.low, dtype=np.float64), np.asarray(found.high, dtype=np.float64)
    return np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)


def _runs(budgets: IntArray) -> str:
    """1, 2, 3, 7 as ``1 to 3 and 7 trials``."""
    parts = np.split(budgets, np.flatnonzero(np.diff(budgets) > 1) + 1)
    words = [f"{part[0]} to {part[-1]}" if part.size > 1 else f"{part[0]}" for part in parts]
    return f"{' and '.join(words)} trial{'s' * (budgets.size > 1 or int(budgets[0]) > 1)}"
