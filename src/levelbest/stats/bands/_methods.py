"""The interval methods by name: what each needs and serves, and how it is computed from draws that all of them share.

A new method is a function (in its own file, if it is long) and a line in `_METHODS`; code outside the package calls
`register_interval` instead. Every list of methods (`curve`, `compare`, the command line, the docs) is taken from here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np

from levelbest._check import Bounds, FloatArray, as_choice
from levelbest.errors import InputError, named
from levelbest.stats.bands import _limits as limits
from levelbest.stats.bands._gaffke import FEWEST_TRIALS, closer_by, further_scores
from levelbest.stats.bands._reported import (
    ALL_DRAWN,
    FREE,
    ReportCells,
    degrees_of_freedom,
    further_reports,
    imagined_reports,
    quantile_draws,
    t_quantile,
    wider_by,
    woodruff,
)
from levelbest.stats.bands._resample import smooth_bootstrap
from levelbest.stats.bands._work import TIED_TOP, Limits, Rule, Work
from levelbest.stats.best import Mean, Quantile, Sample, Statistic, normal_best

FARTHEST = 0.8
"""Of the trials: no interval beyond without the bound. NOTE: with fewer than a fifth of the trials left out, too little
shows what a better trial would score; guarded by the columns n = .8 m of "mean" and "reported mean" in
docs/coverage.md."""
FEW = 10
"""Trials up to which an interval without bounds leans on light tails, and says so: for 5 and 10 trials of Weibull(.6)
and Pareto(3) losses it covers .77 to .90. NOTE: it changes no limit."""
EXACT_METHOD = "exact"
ANY = ("mean", "quantile", "other")
CURVE_ESTIMATORS = ("u", "v", "naive", "gaussian")
SERVED = ("curves", "differences", "problems")


@dataclass(frozen=True)
class IntervalMethod:
    """An interval method: how it is computed, what it needs and what it serves.

    Attributes
    ----------
    limits : callable, optional
        Takes a `Work` and gives `Limits` at every budget of ``work.n``, for scores turned so that higher is better.
        None where what the method serves computes it itself.
    statistics : tuple of str
        Of ``mean``, ``quantile`` and ``other`` (registered statistics).
    estimators : tuple of str
        The estimates beside which its limits may stand.
    serves : tuple of str
        Of ``curves`` (of single trials), for which ``limits`` is called; ``differences`` and ``problems``, which have
        computations of their own.
    needs_bounds : int
        How many bounds of the score it cannot do without: 0, 1 (either of them) or 2.
    one_column : bool
        Whether the selection score must be what is reported.
    simultaneous : bool
        Whether it can cover all budgets at once.
    covers_unseen : bool
        Whether, with both bounds, it covers whatever the trials have not shown.
    """

    limits: Callable[[Work], Limits] | None
    statistics: tuple[str, ...] = ("mean",)
    estimators: tuple[str, ...] = ("u",)
    serves: tuple[str, ...] = ("curves",)
    needs_bounds: int = 0
    one_column: bool = False
    simultaneous: bool = True
    covers_unseen: bool = False

    def __post_init__(self) -> None:
        known = {"statistics": ANY, "estimators": CURVE_ESTIMATORS, "serves": SERVED}
        for name, choices in known.items():
            for value in getattr(self, name):
                as_choice(value, choices, f"entry of {name}")
        if self.needs_bounds not in (0, 1, 2):
            raise InputError(f"needs_bounds must be 0, 1 or 2, the number of bounds needed, got {self.needs_bounds!r}")

    def lacks(self, statistic: Statistic, sample: Sample, bounds: Bounds, *, simultaneous: bool) -> str:
        """What it lacks for this question, as the rest of a sentence; empty where it serves."""
        kind = "mean" if isinstance(statistic, Mean) else "quantile" if isinstance(statistic, Quantile) else "other"
        if kind not in self.statistics:
            return f"has no interval for statistic {statistic.name!r}"
        if self.one_column and sample.reported is not None:
            return "needs selection and reported score to be one column"
        if (known := sum(bound is not None for bound in bounds)) < self.needs_bounds:
            wanted = "a bound on the score" if self.needs_bounds == 1 else "both bounds of the score"
            return f"needs {wanted}, got {'one' if known else 'none'}: give {named('bounds')}"
        if simultaneous and not self.simultaneous:
            return "covers each budget separately, not all at once"
        return ""


def default(work: Work) -> Limits:
    """The interval used when no method is named: Gaffke's type, one further trial imagined near those observed.

    Where it is imagined is in `_gaffke`. Measured on ten distributions at m = 3 to 100 this covers .93 to .99
    (lognormal .89 for 20 trials and fewer), at n = 1 no more than 1.25 times as wide as the t interval, and it needs
    neither a standard error nor a different rule where scores tie. What it cannot know is a mode that no trial has
    shown: see ``Interval.unseen``, and `gaffke` by name.

    Separate reported scores: the wider of Student's t and rank draws (see `_reported`). Without the bound on the best
    score, or on both sides where reported scores are separate, limits end at n = .8 m. Statistics other than
    the mean and quantiles have the percentiles of their resamples.
    """
    if not isinstance(work.statistic, (Mean, Quantile)):
        return percentile(work)
    separate = work.sample.reported is not None
    low, high = _reported(work) if separate else _one_column(work)
    few = not separate and work.n_trials <= FEW and None in (work.lowest, work.highest)
    rule = Rule.of("light tails" if few else "bootstrap", n_trials=work.n_trials)
    drawn = Limits(*work.filled(low, high), Rule.of("reported") if separate else rule, name="bootstrap")
    if work.highest is None or (separate and work.lowest is None):
        work.keep_defined(drawn, jackknife=False).drop(work.n > FARTHEST * work.n_trials, "too-close")
    elif work.lowest is None:
        work.keep_defined(drawn, jackknife=False)
    return drawn.drop(np.isnan(drawn.low + drawn.high), TIED_TOP)


def _one_column(work: Work) -> tuple[FloatArray, FloatArray]:
    scores, draws = work.ordered.selection, work.uniforms
    worst, best = further_scores(scores, work.nodes, (work.lowest, work.highest))
    moved = closer_by(scores, work.nodes)[:, None] * (draws.below - draws.above)
    return _one_sided(work, draws.lower(worst[:, None]) + moved, draws.upper(best[:, None]) - moved)


def _one_sided(work: Work, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The quantiles that leave half of the error probability on each side."""
    if np.isnan(upper).any():
        nowhere = np.full(upper.shape[0], np.nan)
        return nowhere, nowhere
    return (
        limits.order_statistic(lower, work.level(lower, 0.5, tails=-1)),
        limits.order_statistic(upper, 1 - work.level(upper, 0.5, tails=1)),
    )


def _reported(work: Work) -> tuple[FloatArray, FloatArray]:
    """The wider of Student's t and rank draws: see `_reported`."""
    imagined = imagined_reports(work.ordered, (work.lowest, work.highest))
    if np.isnan(imagined).any():
        nowhere = np.full(work.nodes.size, np.nan)
        return nowhere, nowhere
    if isinstance(work.statistic, Quantile):
        return _reported_quantile(work, work.statistic.q, imagined)
    cells = ReportCells.of(work.ordered)
    lower, upper = _report_draws(work, cells, imagined)
    tails = work.level(lower, 0.5, tails=-1), work.level(upper, 0.5, tails=1)
    low, high = limits.order_statistic(lower, tails[0]), limits.order_statistic(upper, 1 - tails[1])
    half = t_quantile(degrees_of_freedom(work.ordered, work.nodes), work.alpha / 2) * cells.errors(work.nodes)
    estimate = work.estimates_at(work.nodes)
    below, above = (half * wider_by(tail, work.alpha / 2) for tail in tails)
    return np.minimum(low, estimate - below), np.maximum(high, estimate + above)


def _report_draws(work: Work, cells: ReportCells, imagined: tuple[float, float]) -> tuple[FloatArray, FloatArray]:
    means, rest = cells.mean_draws(work.nodes, work.n_resamples, work.rng(5))
    return means + rest * imagined[0], means + rest * imagined[1]


def _reported_quantile(work: Work, q: float, imagined: tuple[float, float]) -> tuple[FloatArray, FloatArray]:
    n, ordered = work.nodes, work.ordered
    freedom = degrees_of_freedom(ordered, n)
    many = (freedom > FREE) & (work.n_trials > ALL_DRAWN)
    low, high = np.empty((2, n.size))
    level = work.alpha / 2
    if work.simultaneous and many.any():
        level = work.level(_report_draws(work, ReportCells.of(ordered), imagined)[0])
    half = t_quantile(freedom[many], work.alpha / 2) * wider_by(level, work.alpha / 2)
    low[many], high[many] = woodruff(ordered, n[many], q, half)
    if not many.all():
        ends = further_reports(ordered, n[~many], (work.lowest, work.highest))
        draws = quantile_draws(ordered, ends, n[~many], q, work.n_resamples, work.rng(5))
        low[~many], high[~many] = limits.percentile_limits(draws, min(level, work.level(draws)))
    return low, high


def percentile(work: Work) -> Limits:
    """The quantiles of the resampled estimates ([D], [T])."""
    draws = work.shown_estimates
    pair = limits.percentile_limits(draws, work.level(draws))
    return work.keep_defined(Limits(*pair), jackknife=False)


def basic(work: Work) -> Limits:
    """The percentile limits mirrored at the estimate."""
    draws = work.shown_estimates
    pair = limits.basic_limits(draws, work.shown_estimate, work.level(draws))
    return work.keep_defined(Limits(*pair), jackknife=False)


def bca(work: Work) -> Limits:
    """Bias-corrected and accelerated percentiles ([E])."""
    draws = work.estimates
    deviations = work.trials.leave_one_out()
    pair = limits.bca_limits(draws, work.trials.estimate, deviations, work.level(draws))
    return work.keep_defined(Limits(*pair), jackknife=True)


def smoothed(work: Work) -> Limits:
    """Percentiles of resamples with Gaussian noise added ([B] fig. 2)."""
    if work.n_trials < FEWEST_TRIALS or work.constant:
        return work.nothing()
    draws = smooth_bootstrap(work.trials, work.n_resamples, work.rng(2))
    pair = limits.percentile_limits(draws, work.level(draws))
    return work.keep_defined(Limits(*pair), jackknife=False)


def studentised(work: Work) -> Limits:
    """Resampled t with the jackknife standard error of every resample."""
    t = work.resamples[1]
    level, ordered = work.level(t), np.sort(t, axis=1)
    estimate, error = work.trials.estimate, work.trials.error
    with np.errstate(invalid="ignore"):  # the lower limit is that of a large t
        low, high = (estimate - limits.pick(ordered, p) * error for p in (1 - level, level))
    return work.keep_defined(Limits(low, high), jackknife=True)


def jackknife(work: Work) -> Limits:
    """Estimate and t quantile times the jackknife standard error."""
    from scipy.special import stdtrit

    freedom = work.n_trials - 1
    estimate, error = work.trials.estimate, work.trials.error
    width = float(stdtrit(freedom, 1 - work.alpha / 2))
    inside = (work.n < work.n_trials) & (error > 0)
    if work.simultaneous and inside.any():
        # Joint distribution of the t's: multivariate t with the correlations of the leave-one-out estimates.
        deviations = work.trials.leave_one_out()[inside]
        deviations /= np.sqrt(np.sum(deviations**2, axis=1, keepdims=True))
        rng = work.rng(3)
        normal = rng.standard_normal((work.n_resamples, work.n_trials)) @ deviations.T
        scale = np.sqrt(rng.chisquare(freedom, work.n_resamples) / freedom)
        largest = np.abs(normal).max(axis=1) / scale
        width = float(limits.order_statistic(largest[None], 1 - work.alpha)[0])
    rule = Rule.of("jackknife", width=width)
    return work.keep_defined(Limits(estimate - width * error, estimate + width * error, rule), jackknife=True)


def gaffke(work: Work) -> Limits:
    """Limits of Gaffke's type from the bounds of the score."""
    draws = work.uniforms
    lower = draws.lower(draws.worst if work.lowest is None else work.lowest)
    upper = np.full_like(lower, np.inf) if work.highest is None else draws.upper(work.highest)
    rule = Rule.of("gaffke", worst=work.lowest is not None, best=work.highest is not None)
    return Limits(*work.filled(*_one_sided(work, lower, upper)), rule)


def gaussian(work: Work) -> Limits:
    """Parametric Monte Carlo of a Gaussian fit ([B] D.1), for the curve mean + sd c_n or mean_r + rho sd_r c_n.

    One column: (fitted curve - true curve) / fitted sd has the same distribution for every Gaussian, so the limits are
    exact there. Two columns: nearly so, the draws being made at the fitted correlation.
    """
    constant = np.atleast_1d(np.asarray(normal_best(work.n), dtype=np.float64))[:, None]
    m, b, reported = work.n_trials, work.n_resamples, work.sample.reported
    if m < FEWEST_TRIALS or work.constant:
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
    ends = limits.percentile_limits(t, level)
    low, high = estimate - ends[1] * sd, estimate - ends[0] * sd
    return work.keep_defined(Limits(low, high), jackknife=False)


_METHODS: dict[str, IntervalMethod] = {
    "default": IntervalMethod(default, ANY, serves=SERVED),
    "gaffke": IntervalMethod(gaffke, serves=SERVED, needs_bounds=1, one_column=True, covers_unseen=True),
    "studentised": IntervalMethod(studentised, serves=("curves", "problems")),
    "percentile": IntervalMethod(percentile, ANY, ("u", "v")),
    "basic": IntervalMethod(basic, ANY, ("u", "v")),
    "bca": IntervalMethod(bca),
    "smoothed": IntervalMethod(smoothed),
    "jackknife": IntervalMethod(jackknife),
    "gaussian": IntervalMethod(gaussian, estimators=("u", "gaussian")),
    EXACT_METHOD: IntervalMethod(None, ("quantile",), one_column=True),
    "imagined": IntervalMethod(None, serves=("problems",)),
    "t": IntervalMethod(None, serves=("problems",)),
}


def interval_methods(serving: str = "curves", *, estimator: str | None = None) -> tuple[str, ...]:
    """The names of the methods that serve ``curves``, ``differences`` or ``problems``, beside an estimator."""
    as_choice(serving, SERVED, "use of an interval")
    return tuple(
        name
        for name, method in _METHODS.items()
        if serving in method.serves and (estimator is None or estimator in method.estimators)
    )


def register_interval(name: str, limits: Callable[[Work], Limits], **declared: object) -> None:
    """Make an interval known by name; see CONTRIBUTING.md for an example.

    Parameters
    ----------
    name : str
        What `best_interval` is asked for as ``method``.
    limits : callable
        Takes a `Work` and gives `Limits`.
    **declared
        What the method needs, as of `IntervalMethod`: by default it is for the mean curve of trials beside the U
        estimate, without bounds. It serves curves: differences and problems have computations of their own.
    """
    if name in _METHODS:
        raise InputError(f"an interval called {name!r} is known already; give the new one another name")
    options = [field.name for field in fields(IntervalMethod) if field.name not in ("limits", "serves")]
    for option in declared:
        as_choice(option, options, "option of register_interval")
    _METHODS[name] = IntervalMethod(limits, **declared)  # type: ignore[arg-type]


def method_named(name: str) -> IntervalMethod:
    """The method of curves of that name."""
    return _METHODS[as_choice(name, interval_methods(), "method")]


def methods_that_serve(statistic: Statistic, sample: Sample, bounds: Bounds, *, simultaneous: bool) -> tuple[str, ...]:
    """The methods that serve the curve of this statistic and sample."""
    names = interval_methods()
    return tuple(n for n in names if not _METHODS[n].lacks(statistic, sample, bounds, simultaneous=simultaneous))
