"""How many trials or runs tell two families apart: asked of the comparison that is planned for."""

from __future__ import annotations

import numpy as np

from levelbest import _check
from levelbest._check import Bounds, FloatArray, budget_grid
from levelbest.errors import DataError, InputError
from levelbest.stats.best import turned_bounds
from levelbest.stats.inference import POWER, Contrasts, Hypotheses, Needed, Sample, run_contrasts, trial_contrasts

WHOLE, POINTS = 100, 60
"""The grid of a comparison."""


def as_power(power: float) -> float:
    """A probability, or an error."""
    if not 0 < power < 1:
        raise InputError(f"power must lie in (0, 1), got {power}; 0.8 is the usual choice")
    return power


def trials_to_separate(
    a: Sample,
    b: Sample,
    n: int,
    *,
    paired: bool = False,
    n_pairs: int = 1,
    power: float = POWER,
    confidence: float = 0.95,
    direction: str = "max",
    bounds: Bounds = (None, None),
) -> Needed:
    """How many trials of each family until their difference at budget n is certified with the given power.

    Its parameters are those of the comparison that is planned for.

    Its parameters are those of the comparison to come.

    Parameters
    ----------
    a, b
        Pilots of the two families; neither their order nor that of their trials plays a part.
    n
        The budget, at most a quarter of the smaller pilot (a larger one is capped).
    paired
        Entry i of both is the same configuration.
    n_pairs
        Of the comparison to come, which share the error.
    power
        The chance of a verdict for the better family, averaged over the differences that the pilots leave open.
    confidence, direction, bounds
        Of the comparison to come.

    Returns
    -------
    Needed
        NaN where so few trials leave the number open: ``low`` and ``high`` say how far.

    Notes
    -----
    The chance is averaged over what the pilots leave open (O'Hagan, Stevens and Campbell 2005, Assurance in clinical
    trial design, Pharmaceutical Statistics): planned as if their difference were the true one, comparisons deliver less
    than what is promised.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> needed = trials_to_separate(Sample(rng.normal(1, 1, 40)), Sample(rng.normal(0, 1, 40)), 2)
    >>> needed.n, 20 < needed.needed < 200
    (2, True)
    """
    requested, sizes = _check.as_count(n, "n"), (a.n_trials, b.n_trials)
    if min(sizes) < 8:
        raise DataError(f"planning needs a pilot of at least 8 trials in each family, got {min(sizes)}")
    hypotheses = Hypotheses(
        pairs=((0, 1),),
        confidence=1 - (1 - _check.as_confidence(confidence)) / n_pairs,
        bounds=turned_bounds(bounds, direction),
        planned=requested,
        power=as_power(power),
    )
    grid = np.union1d(budget_grid(min(sizes) // 2, whole=WHOLE, points=POINTS), [min(requested, min(sizes) // 4)])
    return _needed(trial_contrasts([sample.turned(direction) for sample in (a, b)], grid, hypotheses, paired=paired))


def runs_to_separate(
    a: FloatArray, b: FloatArray, *, n_pairs: int = 1, power: float = POWER, confidence: float = 0.95
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
        As of `trials_to_separate`.

    Examples
    --------
    >>> needed = runs_to_separate(np.array([1.0, 2, 3, 4]), np.array([3.0, 4, 5, 6]))
    >>> needed.code, needed.low, needed.high
    ('few', 4.0, inf)
    """
    if min(a.size, b.size) < 3:
        raise DataError(f"planning needs at least 3 runs of each family, got {min(a.size, b.size)}")
    confidence = 1 - (1 - _check.as_confidence(confidence)) / n_pairs
    return _needed(run_contrasts([a, b], Hypotheses(((0, 1),), confidence, planned=1, power=as_power(power))))


def _needed(contrasts: Contrasts) -> Needed:
    (contrast,) = contrasts.pairs
    if contrast.needed is None or contrast.needed.code == "unknown":
        raise DataError("the scores have no spread: nothing to plan from")
    return contrast.needed
