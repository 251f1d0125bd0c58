"""Evaluates a claim from a paper's summary numbers: means, ±, numbers of runs, and sizes of the searches.

The difference is Welch's (1938). How much the larger search explains needs an assumption, since summaries do not show
it: the trials of a search are normal about a common mean, with the standard deviation of the runs where none is given.
The winner of n trials by a validation score with noise v is then s^2 / sqrt(s^2 + v^2) E_n above that mean, where s is
the standard deviation of the trials and E_n the expected best of n standard normal scores ([B] eq. 5).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy

from levelbest import _check
from levelbest._plain import picked
from levelbest.errors import DataError, InputError, named
from levelbest.stats.best import normal_best
from levelbest.stats.inference import MOST_PLANNED, POWER, Needed, Pilot

READINGS = ("sd", "se")
"""What may stand after a ±: the standard deviation of the runs, or the standard error of their mean."""


@dataclass(frozen=True)
class Summary:
    """What is said of one method: ``mean ± spread`` of ``n`` runs, tuned with so many trials."""

    name: str
    mean: float
    spread: float
    n: int
    tuned: int | None = None
    reading: str | None = None
    """What the spread is, ``sd`` or ``se``; None: it is not said."""

    def __post_init__(self) -> None:
        for label in ("mean", "spread"):
            value = _check.as_number(getattr(self, label))
            if not math.isfinite(value):
                raise InputError(f"{self.name}: the {label} must be a finite number, got {getattr(self, label)!r}")
            object.__setattr__(self, label, value)
        if self.spread < 0:
            raise InputError(f"{self.name}: the number after ± must not be negative, got {self.spread:g}")
        object.__setattr__(self, "n", _check.as_count(self.n, f"{self.name}: the number of runs"))
        if self.n < 2:
            raise DataError(
                f"{self.name}: one run has no standard deviation, so its variation is unknown; a claim needs the "
                "mean and the ± of at least 2 runs"
            )
        if self.tuned is not None:
            object.__setattr__(self, "tuned", _check.as_count(self.tuned, f"{self.name}: the trials it was tuned with"))
        if self.reading is not None:
            _check.as_choice(self.reading, READINGS, named("spread"))

    def sd(self, reading: str) -> float:
        """The standard deviation of one run."""
        return self.spread * (math.sqrt(self.n) if reading == "se" else 1.0)

    def variance(self, reading: str) -> float:
        """The squared standard error of the mean."""
        return self.sd(reading) ** 2 / self.n

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return picked(self, "name", "mean", "spread", "n", "tuned", "reading")


@dataclass(frozen=True)
class SearchGain:
    """What a search of more trials gains, where trials are normal and validation has noise."""

    sd: float
    """Of the trials' true scores."""
    sd_low: float
    """With ``sd_high``: as the runs leave it open; the same where it was given."""
    sd_high: float
    noise: float
    """Standard deviation of what validation adds to a trial's score."""
    gain: float
    low: float
    """With ``high``: as the standard deviation is open."""
    high: float
    share: float
    """Of the difference claimed."""
    explains_all: float
    """The standard deviation of trials at which the search alone explains the whole difference."""

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return picked(self, "sd", "sd_low", "sd_high", "noise", "gain", "low", "high", "share", "explains_all")


@dataclass(frozen=True)
class ClaimReading:
    """A claim with the ± read in one way; the difference is turned so that positive means that the claim is better."""

    reading: str
    difference: float
    low: float
    high: float
    p_value: float
    error: float
    freedom: float
    needed: Needed
    """Runs of each that would tell whatever difference is left open."""
    if_true: float
    """Runs of each that would tell the difference, if it truly were the one claimed."""
    searches: tuple[SearchGain, ...] = ()
    """What the larger search explains: where validation is exact, and where its noise is that of the trials."""

    @property
    def decided(self) -> int:
        """1 where the claim is better, -1 where it is worse, 0 where such runs do not tell."""
        return 1 if self.low > 0 else -1 if self.high < 0 else 0

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        keys = ("reading", "difference", "low", "high", "p_value", "error", "freedom", "decided", "if_true")
        searches = [search.to_dict() for search in self.searches]
        return picked(self, *keys) | {"needed": self.needed.to_dict(), "searches": searches}


def judge_summary(
    baseline: Summary,
    claim: Summary,
    *,
    reading: str,
    direction: str = "max",
    confidence: float = 0.95,
    search_sd: float | None = None,
    noise: float | None = None,
) -> ClaimReading:
    """Two means of a few runs compared by Welch's t, and what the larger of their searches explains.

    Parameters
    ----------
    baseline, claim
        What is said of each.
    reading
        What their ± is: ``sd`` or ``se``.
    direction
        ``max`` where higher is better, ``min`` where lower is.
    confidence
        Of the interval.
    search_sd
        The standard deviation of the trials of a search; None: that of the runs, both pooled.
    noise
        The standard deviation of the noise of validation; None: none at all, and as much as ``search_sd``.

    Returns
    -------
    ClaimReading
        The interval, its p-value, what the larger search explains, and how many runs would tell.

    Examples
    --------
    >>> base, ours = Summary("base", 76.3, 0.4, 5, 10), Summary("ours", 77.0, 0.6, 5, 100)
    >>> judged = judge_summary(base, ours, reading="sd")
    >>> round(judged.low, 2), round(judged.high, 2), round(judged.searches[0].share, 2)
    (-0.06, 1.46, 0.71)
    """
    # Validate
    sign = _check.sign_of(direction)
    tail = (1 - _check.as_confidence(confidence)) / 2
    search_sd, noise = _as_sd(search_sd, "search_sd"), _as_sd(noise, "noise")
    variances = baseline.variance(reading), claim.variance(reading)
    error = math.sqrt(sum(variances))
    if not error > 0:
        raise DataError(
            f"{baseline.name} and {claim.name} both have ± 0, so the variation between runs is unknown; give more "
            "digits"
        )
    # Compute
    difference = sign * (claim.mean - baseline.mean)
    freedom = sum(variances) ** 2 / sum(
        v**2 / (summary.n - 1) for v, summary in zip(variances, (baseline, claim), strict=True)
    )
    critical = -float(scipy.special.stdtrit(freedom, tail))
    p_value = 2 * float(scipy.special.stdtr(freedom, -abs(difference) / error))
    pilot = Pilot(difference, variances, (baseline.n, claim.n), freedom, 2 * tail, critical, fewest=2)
    low, high = difference - critical * error, difference + critical * error
    needed = pilot.planned(POWER, confidence, 1, 1, decided=low > 0 or high < 0)
    if_true = _runs_if_true(pilot)
    searches = _searches(baseline, claim, reading, difference, tail, search_sd, noise)
    # Return
    return ClaimReading(reading, difference, low, high, p_value, error, freedom, needed, if_true, searches)


def _runs_if_true(pilot: Pilot) -> float:
    """Runs of each whose chance to tell the difference is the usual power, if the difference observed is true."""
    theta = np.array(abs(pilot.difference) / pilot.error)
    low, high = 2, 2
    while pilot.power(theta, high / pilot.units) < POWER:
        low, high = high, 2 * high
        if high > MOST_PLANNED:
            return math.inf
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if pilot.power(theta, middle / pilot.units) >= POWER else (middle, high)
    return float(high)


def _searches(
    baseline: Summary,
    claim: Summary,
    reading: str,
    difference: float,
    tail: float,
    search_sd: float | None,
    noise: float | None,
) -> tuple[SearchGain, ...]:
    """With each noise of validation; none where a number of trials is not known."""
    if baseline.tuned is None or claim.tuned is None:
        return ()
    freedom = baseline.n + claim.n - 2
    squares = sum((summary.n - 1) * summary.sd(reading) ** 2 for summary in (baseline, claim))
    sds = [math.sqrt(squares / freedom)]
    sds += [math.sqrt(squares / float(scipy.special.chdtri(freedom, p))) for p in (tail, 1 - tail)]
    if search_sd is not None:
        sds = [search_sd] * 3
    larger = float(normal_best(claim.tuned)) - float(normal_best(baseline.tuned))
    wanted = difference / larger if larger * difference > 0 else math.nan
    if noise is None:  # none, and as much as the trials themselves have
        kept = [([factor * sd for sd in sds], wanted / factor) for factor in (1.0, math.sqrt(0.5))]
        noises = [0.0, sds[0]]
    else:
        noises = [noise]
        squared = wanted**2 + math.sqrt(wanted**4 + 4 * wanted**2 * noise**2)
        kept = [([sd**2 / math.hypot(sd, noise) if sd else 0.0 for sd in sds], math.sqrt(squared / 2))]
    sd, sd_low, sd_high = sds
    gains = []
    for noise_sd, (parts, explains_all) in zip(noises, kept, strict=True):
        gain, *ends = (larger * part for part in parts)
        share = gain / difference if difference else math.nan
        gains.append(SearchGain(sd, sd_low, sd_high, noise_sd, gain, min(ends), max(ends), share, explains_all))
    return tuple(gains)


def _as_sd(value: float | None, name: str) -> float | None:
    if value is None:
        return None
    number = _check.as_number(value)
    if not (math.isfinite(number) and number >= 0):
        raise InputError(f"{named(name)} is a standard deviation, at least 0, got {value!r}")
    return number
