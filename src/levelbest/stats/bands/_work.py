"""The input of interval methods (sample, budgets, shared random draws) and their output (limits).

Scores are signed so that higher is better; `best_interval` restores the sign of the limits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from levelbest import _check
from levelbest._check import BoolArray, Bounds, FloatArray, IntArray
from levelbest._plain import picked, plain, rows_of
from levelbest.errors import InputError
from levelbest.stats.bands._gaffke import FEWEST_TRIALS, GaffkeDraws, gaffke_draws
from levelbest.stats.bands._limits import filled, local_level, nodes_for, studentise
from levelbest.stats.bands._resample import Ranked, bootstrap, statistic_bootstrap
from levelbest.stats.best import Mean, Sample, Statistic, best_statistic, gaussian_best, turned_bounds


class Rule(NamedTuple):
    """By what rule limits were made: a code, and the values that tell one case from another.

    It is put into words in `levelbest.report.words.curves`; a code that is not known there stands for itself.
    """

    code: str = ""
    facts: tuple[tuple[str, object], ...] = ()

    @classmethod
    def of(cls, code: str, **facts: object) -> Rule:
        """A rule with its facts."""
        return cls(code, tuple(facts.items()))


UNSAID = Rule()
"""Where there is nothing to say of it."""


@dataclass(frozen=True, eq=False)
class Interval:
    """Limits for a curve at one budget (numbers) or at several (arrays, one entry per budget).

    An absent limit is -inf or +inf; NaN is undefined, and ``why`` then has a code for each budget (empty where all have
    limits). ``simultaneous`` limits hold for all the budgets at once, at the stated confidence. ``horizon`` is the
    largest budget with a limit on the side that is best (quantile curves). ``coverage`` is for exact methods the
    coverage itself under a continuous distribution (one number where the limits are simultaneous). For others it is the
    lowest that simulation has certified near this number of trials and budget, for the terms that were simulated:
    pointwise limits of means at 95 %, with both bounds given or none, and of the median of a separate reported score
    without bounds. On other terms it is None. It says nothing of distributions with a mode that the trials may not have
    shown: ``unseen`` is how likely such a mode may be, None for limits that hold whatever was not seen.
    """

    n: int | IntArray
    low: float | FloatArray
    high: float | FloatArray
    method: str
    confidence: float
    simultaneous: bool
    n_trials: int
    statistic: str = "mean"
    direction: str = "max"
    why: tuple[str | None, ...] = ()
    rule: Rule = UNSAID
    horizon: int | None = None
    n_resamples: int | None = None
    coverage: float | FloatArray | None = None
    unseen: float | None = None

    def single(self) -> Interval:
        """The same for the one budget asked for, as numbers."""
        n, low, high = (np.atleast_1d(side)[0] for side in (self.n, self.low, self.high))
        coverage = self.coverage if self.coverage is None else float(np.atleast_1d(self.coverage)[0])
        return replace(self, n=int(n), low=float(low), high=float(high), coverage=coverage)

    @property
    def width(self) -> float | FloatArray:
        """high - low: infinite where a limit is absent, NaN where the interval is undefined."""
        return self.high - self.low

    @property
    def kind(self) -> str:
        """``simultaneous`` or ``pointwise``."""
        return "simultaneous" if self.simultaneous else "pointwise"

    @property
    def half_widths(self) -> list[float]:
        """Half the distance of the limits at each budget."""
        apart: list[float] = np.atleast_1d((np.asarray(self.high) - np.asarray(self.low)) / 2).tolist()
        return apart

    @property
    def reasons(self) -> tuple[tuple[str, int, int, bool], ...]:
        """Each code of ``why`` with the first and the last budget that it concerns, and whether it concerns all."""
        budgets = [int(n) for n in np.atleast_1d(self.n)]
        concerned = {
            code: [n for n, reason in zip(budgets, self.why, strict=False) if reason == code] for code in self.codes
        }
        return tuple(
            (code, lacking[0], lacking[-1], len(lacking) == len(budgets)) for code, lacking in concerned.items()
        )

    @property
    def codes(self) -> tuple[str, ...]:
        """Why there are no limits somewhere, each code once."""
        return tuple(dict.fromkeys(code for code in self.why if code is not None))

    def __str__(self) -> str:
        head = f"{100 * self.confidence:g} % {self.kind} {self.method} interval from {self.n_trials} trials"
        rows = zip(np.atleast_1d(self.n), np.atleast_1d(self.low), np.atleast_1d(self.high), strict=True)
        shown = [
            f"n = {n}: {'undefined' if np.isnan([lo, hi]).any() else f'{lo:.6g} to {hi:.6g}'}" for n, lo, hi in rows
        ]
        return "; ".join([head, *shown, *self.codes])

    def to_dict(self) -> dict[str, object]:
        """Plain numbers for JSON: an absent or undefined limit is None."""
        known = picked(self, "method", "confidence", "simultaneous", "n_trials", "statistic", "direction")
        points = rows_of(n=np.atleast_1d(self.n), low=np.atleast_1d(self.low), high=np.atleast_1d(self.high))
        return plain(known | {"why": self.codes, **picked(self, "horizon", "unseen"), "points": points})


TIED_TOP = "tied-top"
"""The best trials tie, so that leaving one out changes nothing."""


@dataclass(frozen=True)
class Terms:
    """On what terms limits are wanted: checked, the bounds against the scores."""

    confidence: float = 0.95
    simultaneous: bool = False
    direction: str = "max"
    bounds: Bounds | None = None
    n_resamples: int = _check.N_RESAMPLES
    estimator: str = "u"

    def __post_init__(self) -> None:
        _check.as_confidence(self.confidence)
        _check.as_direction(self.direction)
        _check.as_count(self.n_resamples, "n_resamples")
        _check.as_choice(self.estimator, ("u", "v", "naive", "gaussian"), "estimator")

    def bounds_of(self, sample: Sample) -> Bounds:
        """The bounds of what is claimed; an error where a score lies outside."""
        return _check.as_bounds(self.bounds, sample.claimed, "selection" if sample.reported is None else "reported")


class Limits:
    """Limits, codes for why there are none somewhere, their rule, and its short name where it has one of its own.

    A rule is that of the method asked for where none is given; one from outside stands for itself, in a few words.
    """

    def __init__(self, low: FloatArray, high: FloatArray, rule: Rule | str = "", name: str = "") -> None:
        self.low, self.high, self.name = low.copy(), high.copy(), name
        self.rule = Rule(rule) if isinstance(rule, str) else rule
        self.why: list[str | None] = [None] * low.size

    def drop(self, where: BoolArray, reason: str) -> Limits:
        """Make the limits undefined there, for the first reason given, a code."""
        for i in np.flatnonzero(where):
            self.low[i] = self.high[i] = np.nan
            self.why[i] = self.why[i] or reason
        return self


class Work:
    """A sample, what is asked of it, and the draws that several methods share; each made on first use.

    Each kind of draw has its own stream, so that a method gives the same limits alone and in company.
    """

    def __init__(
        self, sample: Sample, n: IntArray, terms: Terms, statistic: Statistic, rng: np.random.Generator
    ) -> None:
        self.sample = sample.turned(terms.direction)
        self.lowest, self.highest = turned_bounds(terms.bounds_of(sample), terms.direction)
        self.n, self.n_trials = n, sample.n_trials
        self.alpha = 1 - terms.confidence
        self.simultaneous = terms.simultaneous
        self.n_resamples = terms.n_resamples
        self.estimator = terms.estimator
        self.statistic = statistic
        self.generator = rng

    @cached_property
    def _seeds(self) -> IntArray:
        if (self.n_resamples + 1) * self.alpha < 2:
            raise InputError(
                f"n_resamples must be at least {int(np.ceil(2 / self.alpha - 1e-9)) - 1} for a confidence of "
                f"{1 - self.alpha:g}, got {self.n_resamples}; 10000 are plenty"
            )
        return self.generator.integers(0, 2**63, 6)

    def rng(self, stream: int) -> np.random.Generator:
        """A generator of its own for one kind of draw."""
        return np.random.default_rng(self._seeds[stream])

    @cached_property
    def trials(self) -> Ranked:
        """The trials, ready to be resampled by U."""
        return Ranked(self.sample.selection, self.n, self.sample.reported)

    @cached_property
    def shown(self) -> Ranked:
        """The same for the estimator that was asked for."""
        if self.estimator == "u":
            return self.trials
        return Ranked(self.sample.selection, self.n, self.sample.reported, estimator=self.estimator)

    @cached_property
    def resamples(self) -> tuple[FloatArray, FloatArray]:
        """Estimates of the plain resamples, and the same studentised (rows of NaN where n = n_trials)."""
        estimates, errors = bootstrap(self.trials, self.n_resamples, self.rng(0), errors=True)
        return estimates, studentise(estimates, errors, self.trials.estimate)

    @cached_property
    def estimates(self) -> FloatArray:
        """Estimates of the plain resamples, without the cost of their standard errors unless those exist."""
        if "resamples" in self.__dict__:
            return self.resamples[0]
        return bootstrap(self.trials, self.n_resamples, self.rng(0))[0]

    @property
    def shown_estimate(self) -> FloatArray:
        """The statistic of the sample, by the estimator asked for."""
        if self.estimator == "gaussian":
            return np.asarray(gaussian_best(self.sample.selection, self.n, self.sample.reported), dtype=np.float64)
        return self.centre if self.estimator == "u" else self.shown.estimate

    @cached_property
    def shown_estimates(self) -> FloatArray:
        """The statistic of the plain resamples, by the estimator asked for."""
        if not isinstance(self.statistic, Mean):
            return statistic_bootstrap(self.trials, self.statistic, self.n_resamples, self.rng(0))
        if self.shown is self.trials:
            return self.estimates
        return bootstrap(self.shown, self.n_resamples, self.rng(0))[0]

    @cached_property
    def ordered(self) -> Sample:
        """The sample in order of its selection score, ties in order of what is reported: the draws' ranks."""
        return self.sample.ordered()

    @property
    def span(self) -> float:
        """How far the bounds of the score are apart: infinite where either is unknown."""
        return np.inf if self.lowest is None or self.highest is None else self.highest - self.lowest

    @property
    def constant(self) -> bool:
        """Whether every trial reports the same score."""
        claimed = self.sample.claimed
        return bool(claimed.min() == claimed.max())

    @cached_property
    def nodes(self) -> IntArray:
        """The budgets at which limits are computed; `filled` has those in between."""
        return nodes_for(self.n, self.n_trials, jointly=self.simultaneous)

    @cached_property
    def uniforms(self) -> GaffkeDraws:
        """The draws of one score column at the nodes."""
        return gaffke_draws(self.ordered.selection, self.nodes, self.n_resamples, self.rng(1))

    @cached_property
    def centre(self) -> FloatArray:
        """The estimate at every budget."""
        return self.estimates_at(self.n)

    def estimates_at(self, n: IntArray) -> FloatArray:
        """The statistic of the sample at some budgets, by U."""
        if isinstance(self.statistic, Mean):
            return self.ordered.means(n)
        estimate = best_statistic(self.ordered.selection, n, self.ordered.reported, statistic=self.statistic.name)
        return np.asarray(estimate, dtype=np.float64)

    def filled(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Limits known at the nodes, at every budget: what is smooth in n is their distance from the estimate."""
        at_nodes = self.centre if np.array_equal(self.nodes, self.n) else self.estimates_at(self.nodes)
        below, above = (
            filled(self.nodes, np.maximum(side, 0.0), self.n, self.n_trials)
            for side in (at_nodes - low, high - at_nodes)
        )
        return self.centre - below, self.centre + above

    def level(self, draws: FloatArray, share: float = 1.0, *, tails: int = 2) -> float:
        """The tail to leave at each budget so that all tails together leave ``share`` of 1 - confidence."""
        alpha = share * self.alpha
        if not self.simultaneous:
            return alpha / 2 if tails == 2 else alpha
        known = draws[~np.isnan(draws).any(axis=1)]
        return local_level(known, alpha, tails=tails) if known.size else alpha / 2

    def keep_defined(self, limits: Limits, *, jackknife: bool) -> Limits:
        """What no resampling method can do without."""
        everywhere = np.ones(self.n.size, dtype=bool)
        if self.n_trials < FEWEST_TRIALS:
            limits.drop(everywhere, "two-trials")
        if self.constant:
            limits.drop(everywhere, "one-value")
        if jackknife:
            limits.drop(self.n >= self.n_trials, "all-used")
            limits.drop(self.trials.error == 0, TIED_TOP)
        return limits

    def nothing(self) -> Limits:
        """No limits anywhere, for the reasons of `keep_defined`."""
        nowhere = np.full(self.n.size, np.nan)
        return self.keep_defined(Limits(nowhere, nowhere), jackknife=False)
