"""What it would take to know: how many trials, from a pilot, with the pilot's own uncertainty.

A standard error shrinks like the square root of the number of trials, so a pilot of m trials with error e has error
e sqrt(m / M) with M. The first answer follows from that; it is then tried out on samples of M trials drawn from the
pilot. A pilot knows the law only up to its best trials: for budgets above a quarter of its size samples drawn from it
look more certain than new trials would be, so larger budgets are capped there, and the result says so.

How many trials tell two families apart is planned by the verdict that will be given. Whether a sample of M trials of
each would be decided at budget n is asked of the verdict itself, on samples drawn from the pilots, over the budgets
that a comparison of M trials has and with the share of the error that each of its pairs has. Some dozen of those show
how likely a verdict is at each t (step-down and limits included), as a probit; the power is then its mean over the t of
many samples, which need no verdict.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from levelbest import _check
from levelbest._check import Bounds, FloatArray, Seed
from levelbest._grid import budget_grid
from levelbest._plain import picked, plain
from levelbest.errors import DataError, InputError
from levelbest.stats.bands import Ranked, bootstrap, order_statistic, studentise
from levelbest.stats.best import Sample, turned_bounds
from levelbest.stats.contrasts import (
    Means,
    Question,
    further_runs,
    means_of,
    power_of,
    rounding_variance,
    sketched_verdict,
    welch,
)

MOST = 10_000_000
"""Numbers of trials above this are called out of reach."""
WHOLE, POINTS = 100, 60
"""The grid of a comparison."""
_VERDICTS, _COUNTED = 120, 2_000
_LARGEST_SKETCH = 400
"""What t a verdict takes hardly changes above so many trials."""
_LARGEST_DRAWN = 20_000
_ROUNDS, _NEAR = 4, 0.3


@dataclass(frozen=True)
class Needed:
    """How many trials (of each family) are needed; infinite: out of reach. An interval for it, too."""

    needed: float
    low: float
    high: float
    confidence: float
    n: int
    """The budget that was planned for."""
    asked: int
    """The budget that was asked for; larger than ``n`` where the pilot is too small for it."""
    now: float
    """The width now, or the power now."""
    goal: float
    pilot: tuple[int, ...]
    tried: float = float("nan")
    """What samples of that size drawn from the pilot reach: their width, or their power."""

    @property
    def capped(self) -> bool:
        """Whether the budget asked for is more than a pilot of this size can speak of."""
        return self.n < self.asked

    def to_dict(self) -> dict[str, object]:
        """Plain numbers for JSON; what is out of reach is None."""
        keys = ("needed", "low", "high", "confidence", "n", "asked", "now", "goal", "tried", "capped", "pilot")
        return plain(picked(self, *keys))


def capped_budget(n: int, pilots: tuple[int, ...]) -> int:
    smallest = min(pilots)
    if smallest < 8:
        raise DataError(f"planning needs a pilot of at least 8 trials in each family, got {smallest}")
    return min(n, smallest // 4)


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
    asked = _check.as_count(n, "n")
    if not (np.isfinite(width) and width > 0):
        raise InputError(f"the width wanted must be more than 0, got {width!r}")
    confidence = _check.as_confidence(confidence)
    budget = capped_budget(asked, (chosen_by.size,))
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
        needed, at_least(low, budget), at_least(high, budget), confidence, budget, asked, now, width, (m,), reached
    )


def at_least(value: float, n: int) -> float:
    """A whole number of trials that can have the best of n compared: at least 2 n."""
    return float(max(2 * n, 8, math.ceil(value))) if value < MOST else math.inf


def _error_at(sample: Sample, n: int, size: float, rng: np.random.Generator) -> float:
    """The typical standard error of samples of ``size`` trials drawn from the pilot."""
    if not math.isfinite(size) or size > 20_000:
        # Far from the pilot the square root law is exact enough.
        return _error_at(sample, n, 20_000, rng) * math.sqrt(20_000 / size) if math.isfinite(size) else 0.0
    sized = Ranked(sample.selection, np.array([n]), sample.reported, size=int(size))
    repeats = max(20, min(200, int(2e6 // size)))
    return float(np.sqrt(np.mean(bootstrap(sized, repeats, rng, errors=True)[1] ** 2)))


def trials_to_separate(
    a: Sample,
    b: Sample,
    n: int,
    *,
    n_pairs: int = 1,
    power: float = 0.8,
    confidence: float = 0.95,
    direction: str = "max",
    bounds: Bounds = (None, None),
    n_resamples: int = _check.N_RESAMPLES,
    rng: Seed = 0,
) -> Needed:
    """How many trials of each family until their difference at budget n is certified with the given power.

    Its parameters are those of the comparison that is planned for.

    Parameters
    ----------
    a, b
        Pilots of the two families; neither their order nor that of their trials plays a part.
    n
        The budget, at most a quarter of the smaller pilot (a larger one is capped).
    n_pairs
        Of the comparison to come, which share the error.
    power
        The chance of a verdict for the better family.
    confidence, direction, bounds
        Of the comparison to come.
    n_resamples, rng
        Draws behind the interval of the answer, and what decides them.

    Returns
    -------
    Needed
        Infinite where the pilots show no difference to be found.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> needed = trials_to_separate(Sample(rng.normal(1, 1, 40)), Sample(rng.normal(0, 1, 40)), 2)
    >>> needed.n, 20 < needed.needed < 100
    (2, True)
    """
    asked = _check.as_count(n, "n")
    power, confidence = as_power(power), _check.as_confidence(confidence)
    pilots = [_worst_first(own.turned(direction)) for own in (a, b)]
    sizes = a.n_trials, b.n_trials
    budget = capped_budget(asked, sizes)
    ranked = [Ranked(pilot.selection, np.array([budget]), pilot.reported) for pilot in pilots]
    if ranked[0].estimate[0] < ranked[1].estimate[0]:  # the better one first
        pilots, ranked = pilots[::-1], ranked[::-1]
    difference = float(ranked[0].estimate[0] - ranked[1].estimate[0])
    error = math.hypot(ranked[0].error[0], ranked[1].error[0])
    if error == 0:
        raise DataError(f"the best of {budget} has no spread in these trials: nothing to plan from")
    question = Question(
        pairs=((0, 1),), confidence=1 - (1 - confidence) / n_pairs, bounds=turned_bounds(bounds, direction)
    )
    generator = _check.as_rng(rng)
    m = 2 / (1 / ranked[0].n_trials + 1 / ranked[1].n_trials)
    z = float(scipy.special.ndtri(power))
    critical = float(-scipy.special.ndtri((1 - question.confidence) / 4))

    def wanted(d: FloatArray, e: FloatArray) -> FloatArray:
        """Trials of each so that difference / error = critical + z."""
        with np.errstate(divide="ignore"):
            return np.asarray(m * ((critical + z) * e / np.abs(d)) ** 2)

    needed = at_least(float(wanted(np.array([difference]), np.array([error]))[0]), budget)
    tried, sketched, decisive = math.nan, 0.0, _Decisive(critical, 0.0)
    for _ in range(_ROUNDS):
        if not needed <= _LARGEST_DRAWN:
            break
        if abs(math.log(needed / sketched) if sketched else 1.0) > _NEAR:
            decisive, sketched = _decisive_t(pilots, budget, int(needed), question, generator), needed
            critical = decisive.middle
        tried = decisive.power(_drawn_t(pilots, budget, (int(needed), int(needed)), generator))
        reached = float(scipy.special.ndtri(np.clip(tried, 0.02, 0.98)))
        if abs(tried - power) < 0.02 or critical + reached <= 0.5:
            break
        needed = at_least(needed * ((critical + z) / (critical + reached)) ** 2, budget)
    now = decisive.power(_drawn_t(pilots, budget, (ranked[0].n_trials, ranked[1].n_trials), generator))
    drawn = [bootstrap(part, n_resamples, generator, errors=True) for part in ranked]
    spread = np.sort(wanted(drawn[0][0][0] - drawn[1][0][0], np.hypot(drawn[0][1][0], drawn[1][1][0])))
    tail = (1 - confidence) / 2
    low, high = (at_least(float(spread[int(p * (spread.size - 1))]), budget) for p in (tail, 1 - tail))
    # Where the pilot cannot exclude equality, no number of trials is certain to separate them.
    if difference <= -float(scipy.special.ndtri(tail)) * error:
        high = math.inf
    return Needed(needed, low, high, confidence, budget, asked, now, power, sizes, tried)


def _worst_first(pilot: Sample) -> Sample:
    """So that the order in which the trials were given plays no part in what is drawn."""
    order = np.lexsort((pilot.claimed, pilot.selection))
    return Sample(pilot.selection[order], None if pilot.reported is None else pilot.reported[order])


def as_power(power: float) -> float:
    if not 0 < power < 1:
        raise InputError(f"power must lie in (0, 1), got {power}; 0.8 is the usual choice")
    return power


class _Decisive(NamedTuple):
    """How likely a verdict is at each t: a probit."""

    middle: float
    spread: float

    def power(self, t: FloatArray) -> float:
        """The chance of a verdict, over samples with these t."""
        if self.spread == 0:
            return float(np.mean(t > self.middle))
        return float(scipy.special.ndtr((t - self.middle) / self.spread).mean())


def _decisive_t(pilots: list[Sample], n: int, n_trials: int, question: Question, rng: np.random.Generator) -> _Decisive:
    """Fitted to the verdicts of samples of so many trials, by their likelihood."""
    size = min(n_trials, max(_LARGEST_SKETCH, 4 * n))
    grid = np.union1d(budget_grid(size // 2, whole=WHOLE, points=POINTS), [n])
    seen = []
    for _ in range(_VERDICTS):
        rows = [rng.integers(0, pilot.n_trials, size) for pilot in pilots]
        drawn = [
            Sample(pilot.selection[own], None if pilot.reported is None else pilot.reported[own])
            for pilot, own in zip(pilots, rows, strict=True)
        ]
        seen.append(sketched_verdict(drawn, grid, n, question))
    t, decided = np.array([t for t, _ in seen]), np.array([verdict > 0 for _, verdict in seen])
    middles, spreads = np.linspace(t.min() - 0.5, t.max() + 0.5, 60), np.geomspace(0.05, 2, 25)
    chance = scipy.special.ndtr((t - middles[:, None, None]) / spreads[:, None])
    likelihood = np.log(np.clip(np.where(decided, chance, 1 - chance), 1e-9, 1)).sum(axis=-1)
    middle, spread = np.unravel_index(likelihood.argmax(), likelihood.shape)
    return _Decisive(float(middles[middle]), float(spreads[spread]))


def _drawn_t(pilots: list[Sample], n: int, sizes: tuple[int, int], rng: np.random.Generator) -> FloatArray:
    """t at budget n of samples drawn from the pilots."""
    parts = []
    for pilot, size in zip(pilots, sizes, strict=True):
        sized = Ranked(pilot.selection, np.array([n]), pilot.reported, size=size)
        count = int(np.clip(1_000_000 // size, 300, _COUNTED))
        value, error = bootstrap(sized, count, rng, errors=True)
        parts.append((value[0], error[0]))
    (first, first_error), (second, second_error) = parts
    count = min(first.size, second.size)
    total = np.hypot(first_error[:count], second_error[:count])
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(total > 0, (first[:count] - second[:count]) / total, 0.0)


def runs_to_separate(
    a: FloatArray, b: FloatArray, *, n_pairs: int = 1, power: float = 0.8, confidence: float = 0.95
) -> Needed:
    """How many runs of each until the difference of their means is certified: seeds, where nothing else varies.

    Parameters
    ----------
    a, b
        Scores of the runs at hand, at least 3 of each; their order plays no part.
    n_pairs
        Of the comparison to come, which share the error.
    power, confidence
        Of the comparison to come.

    Returns
    -------
    Needed
        By Welch's test, means and variances being those observed; its interval from the difference's own limits.

    Examples
    --------
    >>> runs_to_separate(np.array([1.0, 2, 3, 4]), np.array([3.0, 4, 5, 6])).needed
    8.0
    """
    power = as_power(power)
    level = (1 - _check.as_confidence(confidence)) / n_pairs
    if min(a.size, b.size) < 3:
        raise DataError(f"planning needs at least 3 runs of each family, got {min(a.size, b.size)}")
    least = rounding_variance(np.concatenate([a, b]))
    pilots = [means_of(runs, least) for runs in (a, b)]
    between = welch(*pilots)

    def needed_for(difference: float) -> float:
        return 1 + further_runs(
            Means(difference, pilots[0].variance, 1), Means(0.0, pilots[1].variance, 1), level, power
        )

    reach = between.reach((1 - confidence) / 2)
    farthest = abs(between.difference) + reach
    nearest = abs(between.difference) - reach
    return Needed(
        needed_for(abs(between.difference)),
        needed_for(farthest) if math.isfinite(farthest) else math.nan,
        needed_for(nearest) if nearest > 0 else math.inf,
        confidence,
        1,
        1,
        power_of(between, level),
        power,
        (pilots[0].size, pilots[1].size),
    )
