"""Every interval for the expected best of n, by name, from one shared set of draws.

Scores are turned so that higher is better. A method gives limits (low, high) for all budgets and, for budgets where
there is no interval, the reason. The defaults are composed of these parts in `default`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest.errors import InputError
from levelbest.stats.bands import _limits as limits
from levelbest.stats.bands._gaffke import gaffke_draws
from levelbest.stats.bands._resample import Ranked, bootstrap, smooth_bootstrap
from levelbest.stats.best import normal_best

__all__ = ["FEWEST", "Found", "Work", "methods"]

REACH = 2.0  # how far beyond the best score a missing bound is imagined, in ranges of the best quarter of many trials
FEWEST = 3  # trials: half of the resamples of two show no spread at all

TOO_FEW = "two trials are too few to show how an estimate varies"
ONE_VALUE = "every trial has the same score, so the data cannot show how an estimate varies; bounds on the score would"
ALL_USED = "it takes all trials but none to leave out; ask for a smaller n, or give bounds on the score"
TIED_TOP = "the best trials tie, so that leaving one out changes nothing; bounds on the score would help"

Pair = tuple[FloatArray, FloatArray]


class Found:
    """Limits, the reasons where there are none, the rule in words, and its short name where it has one of its own."""

    def __init__(self, low: FloatArray, high: FloatArray, note: str, name: str | None = None) -> None:
        self.low, self.high, self.note, self.name = low.copy(), high.copy(), note, name
        self.why: list[str | None] = [None] * low.size

    def drop(self, where: np.ndarray, reason: str) -> Found:
        """Make the limits undefined there, for the first reason given."""
        for i in np.flatnonzero(where):
            self.low[i] = self.high[i] = np.nan
            self.why[i] = self.why[i] or reason
        return self


class Work:
    """A sample, what is asked of it, and the draws that several methods share; each made on first use.

    Each kind of draw has its own stream, so that a method gives the same limits alone and in company.
    """

    def __init__(
        self,
        selection: FloatArray,
        n: IntArray,
        reported: FloatArray | None,
        *,
        confidence: float,
        simultaneous: bool,
        lowest: float | None,
        highest: float | None,
        n_resamples: int,
        rng: np.random.Generator,
        estimator: str = "u",
    ) -> None:
        self.trials = Ranked(selection, n, reported)
        self.shown = self.trials if estimator == "u" else Ranked(selection, n, reported, estimator=estimator)
        self.n, self.n_trials = n, selection.size
        self.alpha = 1 - confidence
        self.simultaneous = simultaneous
        self.lowest, self.highest = lowest, highest
        self.n_resamples = n_resamples
        if (n_resamples + 1) * self.alpha < 2:
            raise InputError(
                f"n_resamples must be at least {int(np.ceil(2 / self.alpha - 1e-9)) - 1} for a confidence of "
                f"{confidence:g}, got {n_resamples}; 10000 are plenty"
            )
        self._seeds = rng.integers(0, 2**63, 6)

    def rng(self, stream: int) -> np.random.Generator:
        return np.random.default_rng(self._seeds[stream])

    @cached_property
    def resamples(self) -> Pair:
        """Estimates of the plain resamples, and the same studentised (rows of NaN where n = n_trials)."""
        estimates, errors = bootstrap(self.trials, self.n_resamples, self.rng(0), errors=True)
        return estimates, limits.studentise(estimates, errors, self.trials.estimate)

    @cached_property
    def estimates(self) -> FloatArray:
        """Estimates of the plain resamples, without the cost of their standard errors unless those exist."""
        if "resamples" in self.__dict__:
            return self.resamples[0]
        return bootstrap(self.trials, self.n_resamples, self.rng(0))[0]

    @cached_property
    def shown_estimates(self) -> FloatArray:
        """Estimates of the plain resamples by the estimator asked for."""
        if self.shown is self.trials:
            return self.estimates
        return bootstrap(self.shown, self.n_resamples, self.rng(0))[0]

    @property
    def t(self) -> FloatArray:
        """Studentised resamples."""
        return self.resamples[1]

    @cached_property
    def ordered_t(self) -> FloatArray:
        """The same, each row in order."""
        return np.sort(self.t, axis=1)

    @cached_property
    def gaffke(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Draws for the lower limit with the worst score for X_0 and with its bound, and for the upper limit."""
        worst = float(self.trials.reported[0])
        below = [worst] if self.lowest is None else [worst, self.lowest]
        lower, upper = gaffke_draws(self.trials.reported, self.n, below, [self.top], self.n_resamples, self.rng(1))
        return lower[0], lower[-1], upper[0]

    @property
    def top(self) -> float:
        """The best score that is possible, or where no bound says so a guess well beyond the best observed."""
        if self.highest is not None:
            return self.highest
        best = self.trials.reported
        reach = REACH * (1 + 10 / self.n_trials)
        return float(best[-1] + reach * (best[-1] - best[-1 - self.quarter]))

    @property
    def quarter(self) -> int:
        """A quarter of the trials, but three where there are as many to spare."""
        return max(self.n_trials // 4, min(3, self.n_trials - 1))

    def level(self, draws: FloatArray, share: float = 1.0, *, tails: int = 2) -> float:
        """The tail to leave at each budget so that all tails together leave ``share`` of 1 - confidence."""
        alpha = share * self.alpha
        if not self.simultaneous:
            return alpha / 2 if tails == 2 else alpha
        known = draws[~np.isnan(draws).any(axis=1)]
        return limits.local_level(known, alpha, tails=tails) if known.size else alpha / 2

    def settle(self, found: Found, *, jackknife: bool) -> Found:
        """What no resampling method can do without."""
        everywhere = np.ones(self.n.size, dtype=bool)
        if self.n_trials < FEWEST:
            found.drop(everywhere, TOO_FEW)
        if self.trials.constant:
            found.drop(everywhere, ONE_VALUE)
        if jackknife:
            found.drop(self.n >= self.n_trials, ALL_USED)
            found.drop(self.trials.error == 0, TIED_TOP)
        return found


def percentile(work: Work) -> Found:
    """The quantiles of the resampled estimates ([D], [T])."""
    draws = work.shown_estimates
    pair = limits.percentile(draws, work.level(draws))
    return work.settle(Found(*pair, "percentiles of the resampled estimates"), jackknife=False)


def basic(work: Work) -> Found:
    """The percentile limits mirrored at the estimate."""
    draws = work.shown_estimates
    pair = limits.basic(draws, work.shown.estimate, work.level(draws))
    return work.settle(Found(*pair, "percentiles of the resampled estimates, mirrored"), jackknife=False)


def bca(work: Work) -> Found:
    """Bias-corrected and accelerated percentiles ([E])."""
    draws = work.estimates
    deviations = work.trials.leave_one_out()
    pair = limits.bca(draws, work.trials.estimate, deviations, work.level(draws))
    return work.settle(Found(*pair, "bias-corrected and accelerated percentiles"), jackknife=True)


def smoothed(work: Work) -> Found:
    """Percentiles of resamples with Gaussian noise added ([B] fig. 2)."""
    if work.n_trials < FEWEST or work.trials.constant:
        nothing = np.full(work.n.size, np.nan)
        return work.settle(Found(nothing, nothing, ""), jackknife=False)
    draws = smooth_bootstrap(work.trials, work.n_resamples, work.rng(2))
    pair = limits.percentile(draws, work.level(draws))
    note = "percentiles of resamples smoothed by a Gaussian kernel with Scott's bandwidth"
    return work.settle(Found(*pair, note), jackknife=False)


def studentised(work: Work) -> Found:
    """Resampled t with the jackknife standard error of every resample."""
    level = work.level(work.t)
    high = studentised_limit(work, level)
    low = studentised_limit(work, 1 - level)
    note = "studentised bootstrap with the jackknife standard error"
    return work.settle(Found(low, high, note), jackknife=True)


def studentised_limit(work: Work, p: float) -> FloatArray:
    """estimate - t_p * standard error: the upper limit for a small p, the lower for a large one."""
    with np.errstate(invalid="ignore"):
        return np.asarray(work.trials.estimate - limits.pick(work.ordered_t, p) * work.trials.error)


def jackknife(work: Work) -> Found:
    """Estimate and t quantile times the jackknife standard error."""
    from scipy.special import stdtrit

    freedom = work.n_trials - 1
    estimate, error = work.trials.estimate, work.trials.error
    width = float(stdtrit(freedom, 1 - work.alpha / 2))
    inside = (work.n < work.n_trials) & (error > 0)
    if work.simultaneous and inside.any():
        # Joint law of the t's: multivariate t with the correlations of the leave-one-out estimates.
        deviations = work.trials.leave_one_out()[inside]
        deviations /= np.sqrt(np.sum(deviations**2, axis=1, keepdims=True))
        rng = work.rng(3)
        normal = rng.standard_normal((work.n_resamples, work.n_trials)) @ deviations.T
        scale = np.sqrt(rng.chisquare(freedom, work.n_resamples) / freedom)
        largest = np.abs(normal).max(axis=1) / scale
        width = float(limits.order_statistic(largest[None], 1 - work.alpha)[0])
    note = f"jackknife standard error times {width:.3f}"
    return work.settle(Found(estimate - width * error, estimate + width * error, note), jackknife=True)


def gaffke(work: Work) -> Found:
    """Limits of Gaffke's type from the bounds of the score."""
    if not work.trials.one_column:
        raise InputError(
            "method 'gaffke' needs selection and reported score to be one column; with separate ones use 'studentised'"
        )
    if work.lowest is None and work.highest is None:
        raise InputError("method 'gaffke' needs a bound on the score, got none; give bounds, or use 'studentised'")
    _, lower, upper = work.gaffke
    low = limits.order_statistic(lower, work.level(lower, 0.5, tails=-1))
    if work.highest is None:
        high, side = np.full_like(low, np.inf), "; without the bound that is best there is no limit on that side"
    else:
        high, side = limits.order_statistic(upper, 1 - work.level(upper, 0.5, tails=1)), ""
    if work.lowest is None:
        side = "; the worst score observed stands for the missing bound"
    return Found(low, high, f"limits of Gaffke's type from the bounds of the score{side}")


def gaussian(work: Work) -> Found:
    """Parametric Monte Carlo of a Gaussian fit ([B] D.1), for the curve mean + sd c_n or mean_r + rho sd_r c_n.

    One column: (fitted curve - true curve) / fitted sd has the same law for every Gaussian, so the limits are exact
    there. Two columns: nearly so, the draws being made at the fitted correlation.
    """
    constant = np.atleast_1d(np.asarray(normal_best(work.n), dtype=np.float64))[:, None]
    m, b, trials = work.n_trials, work.n_resamples, work.trials
    nothing = np.full(work.n.size, np.nan)
    if m < FEWEST or trials.constant:
        return work.settle(Found(nothing, nothing, ""), jackknife=False)
    rng = work.rng(4)
    scores = trials.reported
    mean, sd = float(scores.mean()), float(scores.std(ddof=1))
    rho = 1.0
    if not trials.one_column:
        rho = float(np.corrcoef(trials.selection, scores)[0, 1]) if np.ptp(trials.selection) > 0 else 0.0
    # Bartlett: the Cholesky factor of a sample covariance of standard normals (selection first)
    first = np.sqrt(rng.chisquare(m - 1, b) / (m - 1))
    cross = rng.standard_normal(b) / np.sqrt(m - 1)
    second = np.sqrt(rng.chisquare(m - 2, b) / (m - 1))
    across = rho * first + np.sqrt(1 - rho**2) * cross
    drawn_sd = np.hypot(across, np.sqrt(1 - rho**2) * second)
    # rho* sd*_r is the covariance over the standard deviation of the selection score: ``across``
    centre = rng.standard_normal(b) / np.sqrt(m)
    t = (centre + (across - rho) * constant) / drawn_sd
    level = work.level(t)
    estimate = mean + rho * sd * constant[:, 0]
    ends = limits.percentile(t, level)
    low, high = estimate - ends[1] * sd, estimate - ends[0] * sd
    return work.settle(Found(low, high, "Monte Carlo of a Gaussian fitted to the scores"), jackknife=False)


def methods() -> dict[str, Callable[[Work], Found]]:
    """The named methods for mean curves; the order is that of the documentation."""
    return {
        "gaffke": gaffke,
        "studentised": studentised,
        "percentile": percentile,
        "basic": basic,
        "bca": bca,
        "smoothed": smoothed,
        "jackknife": jackknife,
        "gaussian": gaussian,
    }
