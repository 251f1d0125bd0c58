"""The interval for the best of n: chooses and calls the method, by name or by default."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

import numpy as np
import numpy.typing as npt

from levelbest._check import N_RESAMPLES, Bounds, FloatArray, IntArray, Seed, as_budgets, as_choice, as_rng, sign_of
from levelbest.errors import InputError
from levelbest.stats.bands._methods import EXACT_METHOD, interval_methods, method_named, methods_that_serve
from levelbest.stats.bands._quantiles import quantile_interval
from levelbest.stats.bands._work import Interval, Limits, Rule, Terms, Work
from levelbest.stats.best import Mean, Quantile, Sample, Statistic, statistic_named, turned_limits, unseen


def best_interval(
    selection: npt.ArrayLike,
    n: npt.ArrayLike,
    reported: npt.ArrayLike | None = None,
    *,
    statistic: str | float = "mean",
    method: str | None = None,
    confidence: float = 0.95,
    simultaneous: bool = False,
    direction: str = "max",
    bounds: Bounds | None = None,
    n_resamples: int = N_RESAMPLES,
    rng: Seed = 0,
    estimator: str = "u",
) -> Interval:
    """Limits for the expected (or median, or any quantile) reported score of the best of n trials.

    The names of its twelve parameters are part of the public interface.

    Parameters
    ----------
    selection : array_like
        One finite selection score per trial, at least two.
    n : int or array_like of int
        Budgets, at most the number of trials.
    reported : array_like, optional
        What is reported of each trial, where that is not the selection score.
    statistic : str or float
        ``"mean"``, ``"median"``, a probability q, or the name of a registered statistic.
    method : str, optional
        One of `interval_methods`. By default that of the statistic, and the result says which rule it was.
    confidence : float
        The probability with which the limits hold.
    simultaneous : bool
        Whether they hold over all the budgets in ``n`` at once, or for each alone.
    direction : {"max", "min"}
        Whether higher or lower scores are better.
    bounds : (float or None, float or None), optional
        Lowest and highest possible reported score. With both the default is defined up to n = n_trials.
    n_resamples : int
        Random draws behind the limits.
    rng : int, Generator or None
        Decides every random draw; None draws afresh. Exact methods draw none.
    estimator : {"u", "v", "naive", "gaussian"}
        Beside which estimate the limits stand. V has percentile and basic limits, as the papers have them, a Gaussian
        fit those of ``gaussian``; where an estimator has none by this method, limits are NaN, and ``why`` says so.

    Returns
    -------
    Interval
        Numbers for one ``n``, arrays for several, with the method, codes for why there is no interval, and the
        coverage that simulation has certified for these terms.

    Notes
    -----
    The default of a mean curve is described in `docs/mathematics.md`, section 4, and certified in `docs/coverage.md`:
    limits of Gaffke's (2005) type, with a further trial imagined near those observed. Quantiles of one score column
    have exact limits. Every interval holds the estimate beside it.

    Examples
    --------
    >>> scores = [0.71, 0.74, 0.76, 0.77, 0.79, 0.80, 0.82, 0.83, 0.86, 0.88]
    >>> limits = best_interval(scores, 2, bounds=(0, 1))
    >>> limits.method, bool(limits.low < 0.83 < limits.high), round(limits.unseen, 3)
    ('bootstrap', True, 0.259)
    >>> print(best_interval(scores, 1, statistic="median"))
    95 % pointwise exact interval from 10 trials; n = 1: 0.74 to 0.86
    """
    terms = Terms(confidence, bool(simultaneous), direction, bounds, n_resamples, estimator)
    return sample_interval(Sample.of(selection, reported), n, terms, statistic_named(statistic), method, rng)


def sample_interval(
    sample: Sample, n: npt.ArrayLike, terms: Terms, statistic: Statistic, method: str | None = None, rng: Seed = 0
) -> Interval:
    """`best_interval` of scores that are checked, and of which more may be known."""
    name = as_choice("default" if method is None else method, interval_methods(), "method")
    request, estimator = _Request(sample, n, terms, statistic), terms.estimator
    if estimator != "u" and not isinstance(statistic, Mean):
        raise InputError(f"a quantile curve has one estimator, 'u', got {estimator!r}; use statistic='mean' for others")
    if name == "default":
        name = _default_for(statistic, sample, estimator)
    if estimator not in method_named(name).estimators:
        return request.none_of_its_own(name)
    if name == EXACT_METHOD:
        return request.exact()
    limits, work = request.method(name), request.work(as_rng(rng))
    return request.interval(name, limits(work), work)


def _default_for(statistic: Statistic, sample: Sample, estimator: str) -> str:
    """Which method is the default: exact limits of quantiles of one score column, those of a Gaussian fit beside it."""
    if isinstance(statistic, Quantile) and sample.reported is None:
        return EXACT_METHOD
    return "gaussian" if estimator == "gaussian" else "default"


def all_intervals(
    selection: npt.ArrayLike,
    n: npt.ArrayLike,
    reported: npt.ArrayLike | None = None,
    terms: Terms | None = None,
    *,
    only: Iterable[str] | None = None,
    rng: Seed = 0,
) -> dict[str, Interval]:
    """Every interval for the mean curve that these data allow, from one shared set of draws: for simulations.

    Each is what `best_interval` gives for the same ``rng``. With the estimator "v" the percentile and basic limits are
    those of V; the others stay those of U.
    """
    request = _Request(Sample.of(selection, reported), n, terms or Terms(), Mean())
    known = request.served_by
    names = known if only is None else [as_choice(name, known, "method") for name in only]
    work = request.work(as_rng(rng))
    return {name: request.interval(name, request.method(name)(work), work) for name in names}


@dataclass(frozen=True, eq=False)
class _Request:
    """Of which scores, at which budgets and on what terms an interval is wanted."""

    sample: Sample
    n: npt.ArrayLike
    terms: Terms
    statistic: Statistic

    @property
    def bounds(self) -> Bounds:
        return self.terms.bounds_of(self.sample)

    def work(self, rng: np.random.Generator) -> Work:
        # a fitted distribution has no last trial
        most = None if self.terms.estimator == "gaussian" else self.sample.n_trials
        budgets = np.unique(as_budgets(self.n, most)[0])
        return Work(self.sample, budgets, self.terms, self.statistic, rng)

    @property
    def served_by(self) -> tuple[str, ...]:
        """The methods that serve it."""
        return methods_that_serve(self.statistic, self.sample, self.bounds, simultaneous=self.terms.simultaneous)

    def method(self, name: str) -> Callable[[Work], Limits]:
        """The method of that name, which must serve the request."""
        self._check_served(name)
        compute = method_named(name).limits
        assert compute is not None
        return compute

    def _check_served(self, name: str) -> None:
        lacking = method_named(name).lacks(
            self.statistic, self.sample, self.bounds, simultaneous=self.terms.simultaneous
        )
        if lacking:
            raise InputError(f"interval {name!r} {lacking}; known there: {', '.join(self.served_by)}")

    def exact(self) -> Interval:
        """Limits of a quantile of one score column."""
        self._check_served(EXACT_METHOD)
        assert isinstance(self.statistic, Quantile)
        as_budgets(self.n, self.sample.n_trials)
        return quantile_interval(
            self.sample.selection,
            self.n,
            self.statistic.q,
            confidence=self.terms.confidence,
            simultaneous=self.terms.simultaneous,
            direction=self.terms.direction,
            bounds=self.bounds,
        )

    def none_of_its_own(self, method: str) -> Interval:
        """No limits, for an estimator that has none by this method."""
        nowhere = np.full(np.unique(as_budgets(self.n)[0]).size, np.nan)
        limits = Limits(nowhere, nowhere, name="none").drop(np.ones(nowhere.size, dtype=bool), "no-estimator")
        return self.interval(method, limits)

    def interval(self, method: str, limits: Limits, work: Work | None = None) -> Interval:
        """The result, turned back; with the draws behind it, limits that hold the estimate beside them."""
        terms, one_column_mean = self.terms, self.sample.reported is None and isinstance(self.statistic, Mean)
        low, high = limits.low, limits.high
        if terms.simultaneous and one_column_mean:
            low, high = _never_falling(low, high)
        low, high = turned_limits(low, high, terms.direction)
        if self.bounds != (None, None):
            low, high = np.clip(low, *self.bounds), np.clip(high, *self.bounds)
        budgets, scalar = as_budgets(self.n)
        distinct, place = np.unique(budgets, return_inverse=True)
        of_v = terms.estimator == "v" and "v" in method_named(method).estimators
        if work is not None:
            shown = work.shown_estimate if of_v or terms.estimator == "gaussian" else work.centre
            estimate = sign_of(terms.direction) * shown + 0.0  # 0 has no sign
            low, high = np.minimum(low, estimate), np.maximum(high, estimate)
        covers_unseen = method_named(method).covers_unseen and None not in self.bounds
        interval = Interval(
            n=budgets,
            low=low[place],
            high=high[place],
            method=limits.name or method,
            confidence=float(terms.confidence),
            simultaneous=terms.simultaneous,
            n_trials=self.sample.n_trials,
            statistic=self.statistic.name,
            direction=terms.direction,
            why=tuple(limits.why[at] for at in place) if any(limits.why) else (),
            rule=limits.rule if limits.rule.code else Rule.of(limits.name or method, estimator=terms.estimator),
            n_resamples=terms.n_resamples,
            coverage=self._certified(method, distinct),
            unseen=None if covers_unseen else unseen(self.sample.n_trials, terms.confidence),
        )
        return interval.single() if scalar else interval

    def _certified(self, method: str, budgets: IntArray) -> float | None:
        """The lowest certified coverage at these budgets; None on terms that no simulation was run on."""
        if self.terms.confidence != 0.95 or self.terms.simultaneous or self.terms.estimator != "u":
            return None
        known = [bound is not None for bound in self.bounds]
        kind = "bounded " if all(known) else ""
        if all(known) != any(known) or self.statistic not in (Mean(), Quantile(0.5)):
            return None
        kind += self.statistic.name if self.sample.reported is None else f"reported {self.statistic.name}"
        certified = [certified_coverage(method, self.sample.n_trials, int(k), kind=kind) for k in budgets]
        return min((coverage for coverage in certified if coverage is not None), default=None)


def _never_falling(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The expected best of one score column never falls with n, so a band may be cut to what a rising curve can use."""
    rising = np.fmax.accumulate(low)
    bounded = np.fmin.accumulate(high[::-1])[::-1]
    return np.where(np.isnan(low), np.nan, rising), np.where(np.isnan(high), np.nan, bounded)


CoverageCells = dict[str, dict[str, dict[str, float]]]
"""method -> n_trials -> n / n_trials -> coverage"""


@lru_cache(maxsize=1)
def _certificate() -> dict[str, CoverageCells]:
    """kind -> method -> n_trials -> n / n_trials -> lowest coverage; empty where none is shipped."""
    file = resources.files("levelbest") / "data" / "coverage.json"
    try:
        text = file.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    kinds: dict[str, CoverageCells] = json.loads(text)["kinds"]
    return kinds


def certified_coverage(method: str, n_trials: int, n: int, *, kind: str = "mean") -> float | None:
    """Lowest coverage over the certificate's distributions, at the nearest smaller number of trials and n / n_trials.

    ``kind`` is ``mean``, ``bounded mean``, ``reported mean``, ``bounded reported mean`` or ``reported median``. None
    where the certificate has nothing at or below this size.
    """
    sizes = _certificate().get(kind, {}).get(method, {})
    smaller = [size for size in sizes if int(size) <= n_trials]
    if not smaller:
        return None
    cells = sizes[max(smaller, key=int)]
    shares = [share for share in cells if float(share) <= n / n_trials + 1e-9]
    # below the first share of the certificate, the first one is the nearest
    chosen = max(shares, key=float) if shares else min(cells, key=float)
    return float(cells[chosen])
