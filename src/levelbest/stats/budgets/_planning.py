"""The number of trials for an interval of a target width, from a pilot, with the pilot's uncertainty.

A standard error shrinks like the square root of the number of trials, so a pilot of m trials with error e has error e
sqrt(m / M) with M. This gives a first answer, which is then checked on samples of M trials drawn from the pilot. For
budgets above a quarter of the pilot's size, samples drawn from it vary less than new trials would, so larger budgets
are capped there, and the result says so.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import scipy

from levelbest import _check
from levelbest._check import Seed
from levelbest.errors import DataError, InputError
from levelbest.stats.bands import Ranked, bootstrap, order_statistic, studentise
from levelbest.stats.best import Sample
from levelbest.stats.inference import OUT_OF_REACH, Needed


def capped_budget(n: int, pilots: tuple[int, ...]) -> int:
    smallest = min(pilots)
    if smallest < 8:
        raise DataError(f"planning needs a pilot of at least 8 trials in each family, got {smallest}")
    return min(n, smallest // 4)


def as_power(power: float) -> float:
    """A probability, or an error."""
    if not 0 < power < 1:
        raise InputError(f"power must lie in (0, 1), got {power}; 0.8 is the usual choice")
    return power


def trials_for_width(
    selection: npt.ArrayLike,
    n: int,
    width: float,
    *,
    reported: npt.ArrayLike | None = None,
    confidence: float = 0.95,
    direction: str = "max",
    n_resamples: int = _check.N_RESAMPLES,
    rng: Seed = 0,
) -> Needed:
    """How many trials until the interval for the expected best of n is ``width`` wide.

    The interval for that number is rough: with pilots of 60 normal scores it covered four times in five.
    """
    chosen_by, claimed = _check.as_pair(selection, reported, at_least=2)
    requested = _check.as_count(n, "n")
    if not (np.isfinite(width) and width > 0):
        raise InputError(f"the target width must be more than 0, got {width!r}")
    confidence = _check.as_confidence(confidence)
    budget = capped_budget(requested, (chosen_by.size,))
    generator = _check.as_rng(rng)
    pilot = Sample(chosen_by, claimed).turned(direction)
    m = pilot.n_trials
    trials = Ranked(pilot.selection, np.array([budget]), pilot.reported)
    error = float(trials.error[0])
    if error == 0:
        raise DataError(f"the best of {budget} has no spread in these {m} trials: nothing to plan from")
    drawn, errors = bootstrap(trials, n_resamples, generator, errors=True)
    t = studentise(drawn, errors.copy(), trials.estimate)
    tail = (1 - confidence) / 2
    factor = float(order_statistic(t, 1 - tail)[0] - order_statistic(t, tail)[0])
    normal = float(2 * scipy.special.ndtri((1 + confidence) / 2))
    now = factor * error
    needed = at_least(m * (normal * error / width) ** 2, budget)

    def reached_with(trials: float) -> float:
        """With M trials t is closer to normal: what exceeds the normal factor shrinks like 1 / M."""
        return (normal + (factor - normal) * m / trials) * _error_at(pilot, budget, trials, generator)

    for _ in range(3):
        needed = at_least(needed * (reached_with(needed) / width) ** 2, budget)
    reached = reached_with(needed)
    # The pilot's own uncertainty. Resampled pilots are too sure of themselves, as the pilot is: their distance from it
    # is mirrored, in logarithms.
    with np.errstate(divide="ignore"):
        spread = np.sort(needed * (error / errors[0]) ** 2)
    low, high = (float(np.quantile(spread, p)) for p in (tail, 1 - tail))
    return Needed(
        needed, at_least(low, budget), at_least(high, budget), confidence, budget, requested, now, width, (m,), reached
    )


def at_least(value: float, n: int) -> float:
    """A whole number of trials that can have the best of n compared: at least 2 n."""
    return float(max(2 * n, 8, math.ceil(value))) if value < OUT_OF_REACH else math.inf


def _error_at(sample: Sample, n: int, size: float, rng: np.random.Generator) -> float:
    """The typical standard error of samples of ``size`` trials drawn from the pilot."""
    if not math.isfinite(size) or size > 20_000:
        # Far from the pilot the square-root rule is exact enough.
        return _error_at(sample, n, 20_000, rng) * math.sqrt(20_000 / size) if math.isfinite(size) else 0.0
    sized = Ranked(sample.selection, np.array([n]), sample.reported, size=int(size))
    repeats = max(20, min(200, int(2e6 // size)))
    return float(np.sqrt(np.mean(bootstrap(sized, repeats, rng, errors=True)[1] ** 2)))
