"""Intervals in words: the names that a paper would give them, the rule behind each, and why there is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from levelbest._check import Bounds
from levelbest.stats.bands import Rule, interval_methods
from levelbest.stats.budgets import CostCurve

_NAMES = {
    "default": "default limits",
    "gaffke": "Gaffke's limits",
    "studentised": "studentised bootstrap",
    "percentile": "percentile bootstrap",
    "basic": "basic bootstrap",
    "bca": "BCa bootstrap",
    "bootstrap": "bootstrap with a further trial imagined",
    "smoothed": "smoothed bootstrap",
    "jackknife": "jackknife",
    "gaussian": "a Gaussian fit",
    "exact": "exact limits from order statistics",
    "t": "Student's t",
}


def interval_name(method: str) -> str:
    """A method's name in words; the bare name where there is none.

    Examples
    --------
    >>> interval_name("bca")
    'BCa bootstrap'
    """
    return _NAMES.get(method, method)


_WHY = {
    "one-trial": "one trial tells nothing of the spread",
    "two-trials": "two trials are too few to show how an estimate varies",
    "one-value": "every trial has the same score, so the data cannot show how an estimate varies; bounds on the score "
    "would",
    "all-used": "the best of all trials is one number and shows no spread; ask for a smaller n, or give bounds on the "
    "score",
    "tied-top": "the best trials tie, so that leaving one out changes nothing; bounds on the score would help",
    "too-close": "n is too close to the number of trials for an interval without a bound on the best score",
    "one-problem": "one group cannot show how groups differ: a standard error from one cluster does not exist",
    "two-problems": "two groups are too few to show how groups differ without bounds on the score",
    "no-spread": "every group has the same value, so the data cannot show how groups differ; bounds on the score would "
    "help",
    "no-problem": "no group has so many samples",
    "no-weight": "every group has weight 0",
}


def why_no_interval(
    reasons: Sequence[tuple[str, int, int, bool]], estimator: str = "u", method: str = "default"
) -> str:
    """One sentence per reason, with the budgets that it concerns unless it concerns all.

    Examples
    --------
    >>> why_no_interval([("no-problem", 3, 4, False)])
    'no interval for n = 3 to 4: no group has so many samples'
    """
    known = " or ".join(interval_methods(estimator=estimator))
    own = f"the estimator {estimator!r} has no {method} interval of its own" + (f", but {known}" if known else "")
    parts = []
    for code, first, last, everywhere in reasons:
        why = own if code == "no-estimator" else _WHY[code]
        at = "" if everywhere else f" for n = {first}" + (f" to {last}" if last != first else "")
        parts.append(why if code == "one-trial" else f"no interval{at}: {why}")
    return "; ".join(parts)


def rule_words(rule: Rule) -> str:
    """By what rule limits were made, in a few words; empty where there is nothing to say.

    Examples
    --------
    >>> rule_words(Rule.of("jackknife", width=2.0))
    'jackknife standard error times 2.000'
    """
    words = _RULES.get(rule.code, rule.code)
    return words if isinstance(words, str) else words(**dict(rule.facts))


def cost_rule(curve: CostCurve) -> str:
    """The same for a curve over budgets of cost: that it ends, where it does, or how its limits were made."""
    if np.isnan(curve.value).any():
        past = f"all {curve.n_trials} trials can be finished within {curve.horizon:g}"
        return f"{past}; past that the data say nothing about the best"
    return "bootstrap of the trials with their costs"


def _resampled(words: str) -> Callable[..., str]:
    return lambda estimator: words + (", estimator V" if estimator == "v" else "")


def _gaffke(worst: bool, best: bool) -> str:
    side = "" if best else "; without the bound that is best there is no limit on that side"
    if not worst:
        side = "; the worst score observed stands for the missing bound"
    return f"limits of Gaffke's type from the bounds of the score{side}"


def _exact(
    q: float,
    n_trials: int,
    confidence: float,
    direction: str,
    horizon: int,
    joint: tuple[float, int] | None,
    tied: bool,
) -> str:
    side = "above" if direction == "max" else "below"
    what = "median curve" if q == 0.5 else f"{q:g}-quantile curve"
    how_far = f"bounded {side} up to n = {horizon}" if horizon else f"not bounded {side} at any of these n"
    text = f"with {n_trials} trials at {100 * confidence:g} % the {what} is {how_far}"
    if joint is not None:
        text += f"; exact joint coverage {joint[0]:.4f} over {joint[1]} budgets"
    return text + ("; conservative where scores tie" if tied else "")


def _looks(count: int, first: int, last: tuple[int, float] | None) -> str:
    if last is None:
        return f"no limits before the first look, at {first} trials"
    return f"valid at every look; the last of {count} was at {last[0]} trials with {100 * last[1]:.4g} %"


def _distribution(band: str, missing: Sequence[str]) -> str:
    text = f"implied by the {band} band for the distribution, for every n at once"
    if missing:
        text += f"; without a {' and an '.join(missing)} bound on the score there is no such limit on the mean"
    return text


def _over_problems(words: str) -> Callable[..., str]:
    def of_facts(n_groups: int, bounds: Bounds, weighted: bool) -> str:
        ends = " to ".join("none" if end is None else f"{end:g}" for end in bounds)
        return words.format(n_groups=n_groups, ends=ends) + (", problems weighted" if weighted else "")

    return of_facts


_RULES: dict[str, str | Callable[..., str]] = {
    "none": "",
    "bootstrap": "Bayesian bootstrap with one further trial imagined beyond those observed",
    "percentile": _resampled("percentiles of the resampled estimates"),
    "basic": _resampled("percentiles of the resampled estimates, mirrored"),
    "bca": "bias-corrected and accelerated percentiles",
    "smoothed": "percentiles of resamples smoothed by a Gaussian kernel with Scott's bandwidth",
    "studentised": "studentised bootstrap with the jackknife standard error",
    "jackknife": lambda width: f"jackknife standard error times {width:.3f}",
    "gaffke": _gaffke,
    "gaussian": "Monte Carlo of a Gaussian fitted to the scores",
    "exact": _exact,
    "looks": _looks,
    "distribution": _distribution,
    "searches": lambda count, length: f"Student's t over {count} searches, each to its trial {length}",
    "gaffke over problems": _over_problems(
        "Gaffke-type limits for the mean over {n_groups} problems, scores within {ends}"
    ),
    "imagined over problems": _over_problems(
        "Gaffke-type limits for the mean over {n_groups} problems, a further one imagined near them"
    ),
    "studentised over problems": _over_problems("studentised bootstrap of {n_groups} problems"),
    "t over problems": _over_problems(
        "t interval over {n_groups} problems: too narrow where few of them differ from the rest"
    ),
}
