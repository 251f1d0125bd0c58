"""The intervals by name, each from the draws that all of them share; the defaults are composed of their parts."""

from __future__ import annotations

import numpy as np

from levelbest._check import FloatArray
from levelbest.errors import InputError
from levelbest.stats.bands import _limits as limits
from levelbest.stats.bands._resample import smooth_bootstrap
from levelbest.stats.bands._work import FEWEST, Limits, Work
from levelbest.stats.best import normal_best

__all__ = [
    "basic",
    "bca",
    "gaffke",
    "gaussian",
    "jackknife",
    "percentile",
    "smoothed",
    "studentised",
    "studentised_limit",
]


def percentile(work: Work) -> Limits:
    """The quantiles of the resampled estimates ([D], [T])."""
    draws = work.shown_estimates
    pair = limits.percentile(draws, work.level(draws))
    return work.settle(Limits(*pair, "percentiles of the resampled estimates"), jackknife=False)


def basic(work: Work) -> Limits:
    """The percentile limits mirrored at the estimate."""
    draws = work.shown_estimates
    pair = limits.basic(draws, work.shown_estimate, work.level(draws))
    return work.settle(Limits(*pair, "percentiles of the resampled estimates, mirrored"), jackknife=False)


def bca(work: Work) -> Limits:
    """Bias-corrected and accelerated percentiles ([E])."""
    draws = work.estimates
    deviations = work.trials.leave_one_out()
    pair = limits.bca(draws, work.trials.estimate, deviations, work.level(draws))
    return work.settle(Limits(*pair, "bias-corrected and accelerated percentiles"), jackknife=True)


def smoothed(work: Work) -> Limits:
    """Percentiles of resamples with Gaussian noise added ([B] fig. 2)."""
    if work.n_trials < FEWEST or work.constant:
        return work.nothing()
    draws = smooth_bootstrap(work.trials, work.n_resamples, work.rng(2))
    pair = limits.percentile(draws, work.level(draws))
    note = "percentiles of resamples smoothed by a Gaussian kernel with Scott's bandwidth"
    return work.settle(Limits(*pair, note), jackknife=False)


def studentised(work: Work) -> Limits:
    """Resampled t with the jackknife standard error of every resample."""
    level = work.level(work.t)
    high = studentised_limit(work, level)
    low = studentised_limit(work, 1 - level)
    note = "studentised bootstrap with the jackknife standard error"
    return work.settle(Limits(low, high, note), jackknife=True)


def studentised_limit(work: Work, p: float) -> FloatArray:
    """estimate - t_p * standard error: the upper limit for a small p, the lower for a large one."""
    with np.errstate(invalid="ignore"):
        return np.asarray(work.trials.estimate - limits.pick(work.ordered_t, p) * work.trials.error)


def jackknife(work: Work) -> Limits:
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
    return work.settle(Limits(estimate - width * error, estimate + width * error, note), jackknife=True)


def gaffke(work: Work) -> Limits:
    """Limits of Gaffke's type from the bounds of the score."""
    if work.sample.reported is not None:
        raise InputError(
            "method 'gaffke' needs selection and reported score to be one column; with separate ones use 'studentised'"
        )
    if work.lowest is None and work.highest is None:
        raise InputError("method 'gaffke' needs a bound on the score, got none; give bounds, or use 'studentised'")
    draws = work.uniforms
    lower = draws.lower(draws.worst if work.lowest is None else work.lowest)
    low = limits.order_statistic(lower, work.level(lower, 0.5, tails=-1))
    if work.highest is None:
        high, side = np.full_like(low, np.inf), "; without the bound that is best there is no limit on that side"
    else:
        upper = draws.upper(work.highest)
        high, side = limits.order_statistic(upper, 1 - work.level(upper, 0.5, tails=1)), ""
    if work.lowest is None:
        side = "; the worst score observed stands for the missing bound"
    return Limits(*work.filled(low, high), f"limits of Gaffke's type from the bounds of the score{side}")


def gaussian(work: Work) -> Limits:
    """Parametric Monte Carlo of a Gaussian fit ([B] D.1), for the curve mean + sd c_n or mean_r + rho sd_r c_n.

    One column: (fitted curve - true curve) / fitted sd has the same law for every Gaussian, so the limits are exact
    there. Two columns: nearly so, the draws being made at the fitted correlation.
    """
    constant = np.atleast_1d(np.asarray(normal_best(work.n), dtype=np.float64))[:, None]
    m, b, reported = work.n_trials, work.n_resamples, work.sample.reported
    if m < FEWEST or work.constant:
        return work.nothing()
    rng = work.rng(4)
    selection, scores = work.sample.selection, work.sample.claimed
    mean, sd = float(scores.mean()), float(scores.std(ddof=1))
    rho = 1.0
    if reported is not None:
        rho = float(np.corrcoef(selection, scores)[0, 1]) if np.ptp(selection) > 0 else 0.0
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
    return work.settle(Limits(low, high, "Monte Carlo of a Gaussian fitted to the scores"), jackknife=False)
