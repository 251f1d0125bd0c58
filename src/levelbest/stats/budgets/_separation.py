"""How many trials tell two families apart: planned by the verdict that will be given.

At budget n a verdict takes a certain t, which depends on the sample: on its dealings and limits and, by the steps down,
on its t at other budgets. Samples of M trials drawn from the pilots are asked for it, over the budgets that a
comparison of M trials has, and with the share of the error that each of its pairs has. Eight of them, or as many as
place the power, show how its logarithm is spread, and how it goes with t. The power is then the mean chance of a
verdict over the t of many samples, which need no verdict.

The power now is that of samples of as many trials as the pilots have. With unequal numbers a verdict takes another t
than with equal ones (less where the better family is the smaller), so that samples of these are asked too.

What t a verdict takes hardly changes above some hundred trials: larger samples are sketched by those, whose differences
are moved to where they would lie in units of the standard errors of M trials.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import scipy

from levelbest import _check
from levelbest._check import Bounds, FloatArray, Seed, budget_grid
from levelbest.errors import DataError
from levelbest.stats.bands import Ranked, bootstrap
from levelbest.stats.best import Sample, expected_best, turned_bounds
from levelbest.stats.budgets._planning import POINTS, WHOLE, Needed, as_power, at_least, capped_budget
from levelbest.stats.contrasts import Question, decisive_t

_FEWEST, _MOST, _PRECISE = 8, 64, 0.04
"""Sketches: at least, at most, and the standard error of the power at which there are enough."""
_MOST_NOW, _PRECISE_NOW = 24, 0.08
"""The same of the power now."""
_LARGEST_SKETCH = 400
_LARGEST_DRAWN, _LARGEST_PLANNED = 2_000, 20_000
"""Trials of a sample whose t is drawn (larger ones follow the square root law), and up to which verdicts are asked."""
_OUTWEIGHED = 10
"""Times the trials of the other family from which on more of one change no sketch."""
_COUNTED = 2_000
_ROUNDS, _NEAR, _NEXT = 6, 0.6, 0.05
"""How far apart, in logarithms, numbers of trials may be that share sketches, and that share draws of t."""
_SLOPES, _LEAST_SPREAD = np.array([0.2, 0.3]), 0.01
"""How much the logarithm of the t that a verdict takes goes with those of t and of the number of trials, at a guess."""


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

    first = at_least(float(wanted(np.array([difference]), np.array([error]))[0]), budget)
    planned = _Separation(pilots, budget, question, power, generator)
    needed, tried, decisive = planned.from_guess(first, critical)
    critical = decisive.middle * _unit(budget, needed)
    present = ranked[0].n_trials, ranked[1].n_trials
    t_now = planned.t_of(present)
    drawn = [bootstrap(part, n_resamples, generator, errors=True) for part in ranked]
    spread = np.sort(wanted(drawn[0][0][0] - drawn[1][0][0], np.hypot(drawn[0][1][0], drawn[1][1][0])))
    tail = (1 - confidence) / 2
    low, high = (at_least(float(spread[int(p * (spread.size - 1))]), budget) for p in (tail, 1 - tail))
    # Where the pilot cannot exclude equality, no number of trials is certain to separate them.
    if difference <= -float(scipy.special.ndtri(tail)) * error:
        high = math.inf
    now = planned.power_of(present, t_now, decisive)
    return Needed(needed, low, high, confidence, budget, asked, now, power, sizes, tried)


def _worst_first(pilot: Sample) -> Sample:
    """So that the order in which the trials were given plays no part in what is drawn."""
    order = np.lexsort((pilot.claimed, pilot.selection))
    return Sample(pilot.selection[order], None if pilot.reported is None else pilot.reported[order])


class _Decisive(NamedTuple):
    """The t that a verdict takes: its logarithm is normal about a line in that of the t of the sample.

    Every t is in units of `_unit`.
    """

    level: float
    slope: float
    spread: float
    share: float = 1.0
    """Of samples that would be given a verdict at any t."""
    covariance: FloatArray = np.zeros((2, 2))
    """Of the level and the slope."""

    @classmethod
    def fitted(cls, sketches: Sequence[_Sketch], size: int, guess: _Decisive) -> _Decisive:
        """For samples with so many trials of the smaller family, by least squares; the guess where hardly any has t
        above 0.

        What little is known beforehand of the two slopes counts as if it were data (ridge regression).
        """
        seen = [(min(own.sizes), own.t, own.taken) for own in sketches if own.t > 0]
        sizes, t, taken = np.array(seen).reshape(-1, 3).T
        known = np.isfinite(taken)
        if np.count_nonzero(known) < 4:
            return guess
        x, y = np.log(np.maximum(t[known], 0.5)), np.log(taken[known])
        columns = np.stack([np.ones(x.size), x, np.log(sizes[known] / size)], axis=1)
        squares = columns.T @ columns + np.diag([0.0, *np.square(max(float(y.std()), _LEAST_SPREAD) / _SLOPES)])
        level, slope, by_size = np.linalg.solve(squares, columns.T @ y)
        left = y - columns @ (level, slope, by_size)
        spread = max(math.sqrt(float(left @ left) / (x.size - 2)), _LEAST_SPREAD)
        covariance = spread**2 * np.linalg.inv(squares)[:2, :2]
        return cls(float(level), min(float(slope), 0.5), spread, x.size / t.size, covariance)

    @property
    def middle(self) -> float:
        """The t at which a verdict is as likely as not."""
        return math.exp(self.level / (1 - self.slope))

    def power(self, t: FloatArray) -> float:
        """The chance of a verdict, over samples with these t."""
        return self.share * float(scipy.special.ndtr(self._probit(t)).sum() / t.size)

    def error(self, t: FloatArray) -> float:
        """The standard error of the power, which the line has from so few sketches."""
        density = np.exp(-np.square(self._probit(t)) / 2) / (math.sqrt(2 * math.pi) * self.spread * t.size)
        by_line = np.array([density.sum(), density @ np.log(t[t > 0])])
        return math.sqrt(float(by_line @ self.covariance @ by_line))

    def _probit(self, t: FloatArray) -> FloatArray:
        return np.asarray(((1 - self.slope) * np.log(t[t > 0]) - self.level) / self.spread)


class _Sketch(NamedTuple):
    """A sample of so many trials of each: t, in units of `_unit`, and the t that a verdict takes."""

    sizes: tuple[int, int]
    t: float
    taken: float


@dataclass(eq=False)
class _Separation:
    """Two pilots, the better one first, and what is asked of their verdict."""

    pilots: list[Sample]
    n: int
    question: Question
    power: float
    rng: np.random.Generator
    sketches: list[_Sketch] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._t: dict[tuple[int, int], FloatArray] = {}

    def power_of(self, sizes: tuple[int, int], t: FloatArray, guess: _Decisive) -> float:
        """Of samples of so many trials, which have these t; by the guess where there are too many to be asked, or where
        half as much again of what a verdict takes, or so much less, would hardly change it."""
        t, size = t / _unit(self.n, min(sizes)), min(self.sketched(sizes))
        if guess.power(1.5 * t) - guess.power(t / 1.5) <= _PRECISE:
            return guess.power(t)
        enough = _MOST_NOW, _PRECISE_NOW
        decisive = _Decisive.fitted(self.near(sizes), size, guess)
        while (lacking := self.lacking(sizes, decisive, t, enough)) > 0:
            self.sketch(sizes, lacking)
            decisive = _Decisive.fitted(self.near(sizes), size, guess)
        return decisive.power(t)

    def from_guess(self, needed: float, critical: float) -> tuple[float, float, _Decisive]:
        """The trials needed, the power that they have, and what t a verdict takes."""
        decisive = _Decisive(math.log(critical), 0.0, 0.1)
        for _ in range(_ROUNDS):
            needed, tried, t = self.solved(needed, decisive)
            if not needed <= _LARGEST_PLANNED:
                return needed, tried, decisive
            sizes = int(needed), int(needed)
            lacking = self.lacking(sizes, decisive, t)
            if lacking <= 0:
                return needed, tried, decisive
            self.sketch(sizes, lacking)
            decisive = _Decisive.fitted(self.near(sizes), min(self.sketched(sizes)), decisive)
        needed, tried, _ = self.solved(needed, decisive)
        return needed, tried, decisive

    def solved(self, needed: float, decisive: _Decisive) -> tuple[float, float, FloatArray]:
        """The trials that have the power wanted, the power that they have, and t of samples of about so many."""
        further, drawn = needed, np.zeros(0)
        for _ in range(_ROUNDS):
            if not further <= _LARGEST_PLANNED:
                return further, math.nan, np.zeros(0)
            needed, drawn = further, self.t_of((int(further), int(further)))
            low, high = -3.0, 3.0  # of the logarithm of the trials
            while high - low > 1e-3:
                middle = (low + high) / 2
                short = decisive.power(self.grown(drawn, needed, middle)) < self.power
                low, high = (middle, high) if short else (low, middle)
            further = at_least(needed * math.exp(high), self.n)
            if abs(math.log(further / needed)) <= _NEXT:
                break
        t = self.grown(drawn, needed, math.log(further / needed))
        return further, decisive.power(t), t

    def grown(self, t: FloatArray, n_trials: float, step: float) -> FloatArray:
        """t of samples of so many trials, in units of `_unit`, had there been more by so much in logarithms."""
        return _moved(t, step) / _unit(self.n, n_trials * math.exp(step))

    def lacking(
        self, sizes: tuple[int, int], decisive: _Decisive, t: FloatArray, enough: tuple[int, float] = (_MOST, _PRECISE)
    ) -> int:
        """Sketches that there should be more of so many trials."""
        if min(sizes) > _LARGEST_PLANNED:
            return 0
        near, (most, precise) = len(self.near(sizes)), enough
        if near < _FEWEST:
            return _FEWEST
        return min(math.ceil(near * ((decisive.error(t) / precise) ** 2 - 1)), most - near)

    def near(self, sizes: tuple[int, int]) -> list[_Sketch]:
        """The sketches that speak of so many trials: of families in about the same proportion."""
        sketched = self.sketched(sizes)

        def speaks(own: _Sketch) -> bool:
            first, second = (math.log(size / asked) for size, asked in zip(own.sizes, sketched, strict=True))
            return max(abs(first), abs(second)) <= _NEAR and abs(first - second) <= _NEXT

        return [own for own in self.sketches if speaks(own)]

    def sketched(self, sizes: tuple[int, int]) -> tuple[int, int]:
        """Trials of a sketch: in the same proportion, unless one family outweighs the other."""
        smaller, most = min(sizes), max(_LARGEST_SKETCH, 4 * self.n)
        least = min(smaller, most)
        first, second = (min(size * least // smaller, max(_OUTWEIGHED * least, most)) for size in sizes)
        return first, second

    def sketch(self, sizes: tuple[int, int], count: int) -> None:
        """Draw samples of so many trials from the pilots, and ask each what t a verdict takes."""
        sketched = self.sketched(sizes)
        smaller = min(sketched)
        grid = np.union1d(budget_grid(smaller // 2, whole=WHOLE, points=POINTS), [self.n])
        # the mean curve of samples drawn with replacement is the V estimate
        first, second = (expected_best(own.selection, grid, own.reported, estimator="v") for own in self.pilots)
        moved = (math.sqrt(min(sizes) / smaller) - 1) * (np.asarray(first) - second)
        unit = _unit(self.n, smaller)
        for _ in range(count):
            rows = [self.rng.integers(0, own.n_trials, size) for own, size in zip(self.pilots, sketched, strict=True)]
            drawn = [
                Sample(own.selection[at], None if own.reported is None else own.reported[at])
                for own, at in zip(self.pilots, rows, strict=True)
            ]
            t, taken = decisive_t(drawn, grid, self.n, self.question, moved)
            self.sketches.append(_Sketch(sketched, t / unit, taken / unit))

    def t_of(self, sizes: tuple[int, int]) -> FloatArray:
        """t at the budget of samples of so many trials drawn from the pilots."""
        if sizes not in self._t:
            share = _LARGEST_DRAWN / min(sizes)
            if share < 1:
                first, second = (max(int(size * share), self.n + 1) for size in sizes)
                self._t[sizes] = _moved(self.t_of((first, second)), -math.log(share))
            else:
                self._t[sizes] = _drawn_t(self.pilots, self.n, sizes, self.rng)
        return self._t[sizes]


def _unit(n: int, n_trials: float) -> float:
    """The t that a verdict takes at budget n, among so many trials, in proportion to that among very many, at a guess:
    near half the trials t has long tails."""
    return 1 + 5 * (n / n_trials) ** 2


def _moved(t: FloatArray, log_size: float) -> FloatArray:
    """t of samples of which there were so many times more trials: their mean follows the square root law."""
    return np.asarray(t + math.expm1(log_size / 2) * t.mean())


def _drawn_t(pilots: list[Sample], n: int, sizes: tuple[int, int], rng: np.random.Generator) -> FloatArray:
    """t at budget n of samples drawn from the pilots."""
    parts = []
    for pilot, size in zip(pilots, sizes, strict=True):
        drawn = min(size, _LARGEST_DRAWN)
        sized = Ranked(pilot.selection, np.array([n]), pilot.reported, size=drawn)
        count = int(np.clip(1_000_000 // drawn, 300, _COUNTED))
        (value,), (error,) = bootstrap(sized, count, rng, errors=True)
        if drawn < size:  # by the square root law
            shrink = math.sqrt(drawn / size)
            value, error = value.mean() + shrink * (value - value.mean()), shrink * error
        parts.append((value, error))
    (first, first_error), (second, second_error) = parts
    count = min(first.size, second.size)
    total = np.hypot(first_error[:count], second_error[:count])
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(total > 0, (first[:count] - second[:count]) / total, 0.0)
