"""The winner's curse: how much of the best validation score is luck that the test set does not repeat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import FloatArray, IntArray, Seed
from levelbest._plain import picked, plain, rows_of
from levelbest.errors import InputError
from levelbest.stats.bands import Ranked, ReportCells, degrees_of_freedom, imagined_reports, order_statistic, t_quantile
from levelbest.stats.best import Sample, expected_best


@dataclass(frozen=True, eq=False)
class Curse:
    """The expected drop from selection to reported score of the best of n, minus the same drop at n = 1.

    ``drop_at_one`` is only the difference in difficulty of the two sets; ``curse`` is the effect of selection, positive
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

    def to_dict(self) -> dict[str, object]:
        """Plain numbers for JSON."""
        points = rows_of(n=self.n, curse=self.curse, low=self.low, high=self.high)
        known = picked(self, "drop_at_one", "confidence", "n_trials")
        return plain(known | {"points": points, "sentence": str(self)})


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
    """The winner's curse at each n, with an interval for each n alone.

    Parameters
    ----------
    selection, reported, n, direction
        As of `expected_best`; the reported scores are needed.
    confidence, n_resamples, rng
        As of `best_interval`.

    Returns
    -------
    Curse
        The expected drop of the winner beyond the drop of any one trial, with limits up to n = n_trials.

    Notes
    -----
    The interval is that of a reported score, here the drop of each trial from selection to reported score, less the
    mean drop of all trials: the wider of Student's t and rank draws.

    Examples
    --------
    >>> curse = winners_curse([0.7, 0.8, 0.9, 0.75], [0.7, 0.75, 0.8, 0.74], [1, 3])
    >>> curse.curse.round(4).tolist()
    [0.0, 0.0475]
    """
    if reported is None:
        raise InputError("the winner's curse needs a reported score that is not the selection score; name both columns")
    chosen_by, claimed = _check.as_pair(selection, reported, at_least=4)
    assert claimed is not None
    sign = _check.sign_of(direction)
    tail = (1 - _check.as_confidence(confidence)) / 2
    budgets, _ = _check.as_budgets(n, chosen_by.size)
    drop = sign * (chosen_by - claimed)
    ordered = Sample(sign * chosen_by, drop).ordered()
    grid, place = np.unique(np.append(budgets, 1), return_inverse=True)
    value = np.asarray(expected_best(ordered.selection, grid, ordered.claimed)) - drop.mean()
    means, rest = ReportCells.of(ordered).mean_draws(grid, n_resamples, _check.as_rng(rng))
    beyond, more = means - means[0], rest - rest[0]
    imagined = imagined_reports(ordered)
    low, high = (order_statistic(beyond + more * end, p) for end, p in zip(imagined, (tail, 1 - tail), strict=True))
    fewer, back = np.unique(np.minimum(grid, drop.size - 1), return_inverse=True)  # all the trials leave none out
    left_out = Ranked(ordered.selection, fewer, ordered.claimed).leave_one_out()[back]
    error = np.sqrt((1 - 1 / drop.size) * np.sum((left_out - left_out[0]) ** 2, axis=1))
    half = t_quantile(degrees_of_freedom(ordered, grid), tail) * error
    low, high = np.minimum(low, value - half), np.maximum(high, value + half)
    value[0] = low[0] = high[0] = 0.0  # of one trial there is no choice
    curse, low, high = (column[place[:-1]] for column in (value, low, high))
    return Curse(budgets, curse, low, high, float(drop.mean()), float(confidence), chosen_by.size, direction)
