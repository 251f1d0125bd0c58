"""More configurations or more seeds: the precision of a number of runs, divided in different ways."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from levelbest import _check
from levelbest.errors import InputError
from levelbest.stats.best import normal_best

_SEEDS = (1, 2, 3, 4, 5, 8, 10, 20)


@dataclass(frozen=True)
class Division:
    """So many configurations, each with so many seeds."""

    configurations: int
    seeds: int
    error: float
    """The standard error of the mean over configurations and seeds: what a configuration drawn at random scores."""
    new_run: float
    """By how much a new run of the best configuration, chosen by the mean over its seeds, is expected to be better than
    one of a random configuration, if effects are normal."""

    @property
    def runs(self) -> int:
        """In all."""
        return self.configurations * self.seeds


def divide_runs(configuration: float, seed: float, runs: int, seeds: Iterable[int] = _SEEDS) -> tuple[Division, ...]:
    """The ways to divide ``runs`` runs into configurations and seeds, the fewest seeds first.

    Parameters
    ----------
    configuration, seed
        The variance that each adds to the score of a run.
    runs
        How many runs there are to divide.
    seeds
        Numbers of seeds to look at; those that leave fewer than two configurations are left out.

    Returns
    -------
    tuple of Division
        The mean of k configurations of r seeds has the variance (configuration + seed / r) / k: with as many runs in
        all it is smallest with one seed each. The best of k by the mean over r seeds is, for normal effects, by
        configuration / sqrt(configuration + seed / r) times the normal constant of k better than a random one ([B] eq.
        6): more seeds choose better among fewer configurations.

    Examples
    --------
    >>> [(way.configurations, way.seeds, round(way.error, 3)) for way in divide_runs(1.0, 4.0, 40, (1, 2, 4))]
    [(40, 1, 0.354), (20, 2, 0.387), (10, 4, 0.447)]
    """
    runs = _check.as_count(runs, "runs", at_least=2)
    for name, variance in (("configuration", configuration), ("seed", seed)):
        if not 0 <= variance < math.inf:
            raise InputError(f"the variance of {name} must be a number of at least 0, got {variance}")
    ways = []
    for number in sorted({_check.as_count(each, "seeds") for each in seeds}):
        count = runs // number
        if count < 2:
            continue
        spread = configuration + seed / number
        gain = configuration / math.sqrt(spread) * float(normal_best(count)) if spread > 0 else 0.0
        ways.append(Division(count, number, math.sqrt(spread / count), gain))
    return tuple(ways)


def power_of_division(
    difference: float, variances: tuple[float, float], way: Division, *, n_pairs: int = 1, confidence: float = 0.95
) -> float:
    """The chance that a t test tells two families apart whose means differ so, each with so many configurations.

    Parameters
    ----------
    difference
        Between the means of the two families.
    variances
        Of configuration and of seed, the mean over the two families.
    way
        How many configurations and seeds each family has.
    n_pairs
        How many pairs share the error probability.
    confidence
        Of the verdict.

    Examples
    --------
    >>> way = divide_runs(1.0, 0.0, 17, (1,))[0]
    >>> round(power_of_division(1.0, (1.0, 0.0), way), 2)  # Cohen 1988: 17 of each for 80 % at one sd
    0.81
    """
    from scipy.special import nctdtr, stdtrit

    spread = variances[0] + variances[1] / way.seeds
    df = 2.0 * (way.configurations - 1)
    if not spread > 0:
        return 1.0 if difference else 0.0
    shift = abs(difference) / math.sqrt(2 * spread / way.configurations)
    limit = float(stdtrit(df, 1 - (1 - _check.as_confidence(confidence)) / (2 * n_pairs)))
    chance = 1 - float(nctdtr(df, shift, limit)) + float(nctdtr(df, shift, -limit))
    return float(np.clip(chance, 0.0, 1.0))
