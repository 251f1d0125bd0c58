"""The winner's curse: how much of the best validation score is luck that the test set does not repeat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import FloatArray, IntArray, Seed
from levelbest._plain import plain
from levelbest.errors import InputError
from levelbest.stats.bands import Ranked, counts, order_statistic, studentise
from levelbest.stats.contrasts import jackknife_errors, leave_one_out

__all__ = ["Curse", "winners_curse"]

_CELLS = 1 << 18


@dataclass(frozen=True, eq=False)
class Curse:
    """The expected drop from selection to reported score of the best of n, minus the same drop at n = 1.

    ``drop_at_one`` is only the difference in difficulty of the two sets; ``curse`` is what choosing adds. Positive
    where the winner's reported score falls short.
    """

    n: IntArray
    curse: FloatArray
    low: FloatArray
    high: FloatArray
    drop_at_one: float
    confidence: float
    n_trials: int
    direction: str

    def __str__(self) -> str:
        i = self.n.size - 1
        return (
            f"choosing the best of {self.n[i]} by the selection score overstates it by {self.curse[i]:.4g} "
            f"({100 * self.confidence:g} % interval {self.low[i]:.4g} to {self.high[i]:.4g}, {self.n_trials} trials), "
            f"beyond the difference of {self.drop_at_one:.4g} that any one trial shows between the two scores"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        rows = zip(self.n, self.curse, self.low, self.high, strict=True)
        document: dict[str, Any] = plain(
            {
                "drop_at_one": self.drop_at_one,
                "confidence": self.confidence,
                "n_trials": self.n_trials,
                "points": [dict(zip(("n", "curse", "low", "high"), row, strict=True)) for row in rows],
                "sentence": str(self),
            }
        )
        return document


def winners_curse(
    selection: npt.ArrayLike,
    reported: npt.ArrayLike | None,
    n: npt.ArrayLike,
    *,
    direction: str = "max",
    confidence: float = 0.95,
    n_resamples: int = _check.N_RESAMPLES,
    rng: Seed = 0,
) -> Curse:
    """The winner's curse at each n ([S] section 12), with a studentised bootstrap interval for each n alone."""
    if reported is None:
        raise InputError("the winner's curse needs a reported score that is not the selection score; name both columns")
    chosen_by, claimed = _check.as_pair(selection, reported, at_least=4)
    assert claimed is not None
    sign = _check.sign_of(direction)
    confidence = _check.as_confidence(confidence)
    asked, _ = _check.as_budgets(n, chosen_by.size)
    generator = _check.as_rng(rng)
    m = chosen_by.size
    grid = np.unique(np.append(asked, 1))
    grid = grid[grid < m]  # the jackknife leaves one trial out
    drop = sign * (chosen_by - claimed)
    trials = Ranked(sign * chosen_by, grid, drop)
    value = trials.estimate - trials.estimate[0]
    own = _errors(trials, np.ones((1, m), dtype=np.int64))[:, 0]
    t = np.empty((grid.size, n_resamples))
    piece = max(1, _CELLS // (m * grid.size))
    for start in range(0, n_resamples, piece):
        cut = slice(start, min(start + piece, n_resamples))
        drawn = counts(m, cut.stop - start, generator)
        moved = trials.resampled(drawn)[0]
        t[:, cut] = studentise(moved - moved[:1], _errors(trials, drawn), value)
    tail = (1 - confidence) / 2
    with np.errstate(invalid="ignore"):
        low = value - order_statistic(t, 1 - tail) * own
        high = value - order_statistic(t, tail) * own
    at = {int(budget): i for i, budget in enumerate(grid)}
    # at n = n_trials the estimate exists and its standard error does not
    last = Ranked(sign * chosen_by, np.array([m]), drop).estimate[0] - trials.estimate[0]
    rows = [(value[at[k]], low[at[k]], high[at[k]]) if k in at else (last, np.nan, np.nan) for k in map(int, asked)]
    curse, lows, highs = (np.array(column) for column in zip(*rows, strict=True))
    return Curse(asked, curse, lows, highs, float(drop.mean()), confidence, m, direction)


def _errors(trials: Ranked, drawn: IntArray) -> FloatArray:
    """Jackknife standard errors (n, resample) of the estimate at n minus that at 1."""
    left = leave_one_out(trials, drawn)
    return jackknife_errors(left - left[:1], drawn)
