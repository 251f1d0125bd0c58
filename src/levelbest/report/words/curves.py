"""Curves and their intervals in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from levelbest._check import Bounds
from levelbest._plain import round_to_uncertainty, show_cost, show_number, show_range
from levelbest.report.words.phrases import after, capital, count_word, level, listed, plural, shortened
from levelbest.results import Curve, DesignWords, FamilyCostCurve, Noise, Reach, Standing
from levelbest.stats.bands import Rule, interval_methods
from levelbest.trials import Metric

_MOST_NOISES = 3
"""Families whose two noises are printed."""
_NAMES = {
    "default": "default limits",
    "gaffke": "Gaffke's limits",
    "studentised": "studentised bootstrap",
    "percentile": "percentile bootstrap",
    "basic": "basic bootstrap",
    "bca": "BCa bootstrap",
    "bootstrap": "Gaffke-type bootstrap",
    "smoothed": "smoothed bootstrap",
    "jackknife": "jackknife",
    "gaussian": "a Gaussian fit",
    "exact": "exact limits from order statistics",
    "t": "Student's t",
    "suite": "Student's t and random weights of each problem's samples",
    "exchange": "Student's t and random weights of the trials",
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
    "one-trial": "one trial says nothing about the spread",
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
    "no-problem": "no group has that many samples",
    "beyond-half": "limits for exactly these problems extend to half the samples of the problem with the fewest",
    "no-weight": "every group has weight 0",
}


def why_no_interval(
    reasons: Sequence[tuple[str, int, int, bool]], estimator: str = "u", method: str = "default"
) -> str:
    """One sentence per reason, with the budgets that it concerns unless it concerns all.

    Examples
    --------
    >>> why_no_interval([("no-problem", 3, 4, False)])
    'no interval for n = 3 to 4: no group has that many samples'
    """
    known = " or ".join(interval_methods(estimator=estimator))
    estimator_lacks = f"the estimator {estimator!r} has no {method} interval" + (f", but {known}" if known else "")
    parts = []
    for code, first, last, everywhere in reasons:
        why = estimator_lacks if code == "no-estimator" else _WHY[code]
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


def cost_rule(curve: FamilyCostCurve) -> str:
    """The same for a curve over budgets of cost: that it ends, where it does, or how its limits were made."""
    if np.isnan(curve.value).any():
        past = f"all {curve.n_trials} trials can be finished within {curve.horizon:g}"
        return f"{past}; past that the data say nothing about the best"
    return "bootstrap of the trials with their costs"


_RANK_DRAWS = "Gaffke-type Bayesian bootstrap of the trials"


def _resampled(words: str) -> Callable[..., str]:
    return lambda estimator: words + (", estimator V" if estimator == "v" else "")


def _gaffke(worst: bool, best: bool) -> str:
    side = "" if best else "; without the bound at the best end there is no limit on that side"
    if not worst:
        side = "; the worst score observed is used for the missing bound"
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
    def of_facts(n_groups: int, bounds: Bounds, weighted: bool, clustered: bool = False, tasks: int = 0) -> str:
        ends = " to ".join("none" if end is None else f"{end:g}" for end in bounds)
        shown = words.format(n_groups=n_groups, ends=ends) + (
            f" of {tasks} tasks, averaged over tasks" if tasks else ""
        )
        if clustered:
            return shown.replace("problems", "clusters of problems")
        return shown + (", problems weighted" if weighted else "")

    return of_facts


_RULES: dict[str, str | Callable[..., str]] = {
    "none": "",
    "bootstrap": _RANK_DRAWS,
    "light tails": f"{_RANK_DRAWS}; with so few trials and no bounds it assumes light tails",
    "reported": "the wider of Student's t and rank draws",
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
    "imagined over problems": _over_problems("Gaffke-type limits for the mean over {n_groups} problems"),
    "suite": _over_problems("Student's t and random weights of the samples of each of {n_groups} problems"),
    "studentised over problems": _over_problems("studentised bootstrap of {n_groups} problems"),
    "t over problems": _over_problems(
        "t interval over {n_groups} problems: too narrow where few of them differ from the rest"
    ),
}


def curve_sentence(curve: Curve, n: int | None = None) -> str:
    """What can be said of one budget (default: the largest), ready for a paper."""
    i = curve.at(n) if n is not None else curve.n.size - 1
    decimals = round_to_uncertainty(curve.value[i], curve.low[i], curve.high[i])
    chosen = f" (selected by {curve.selection})" if curve.reported else f" ({_alone_words(curve)})"
    if curve.statistic in ("all", "majority"):
        chosen = ""
    limits = ", no interval"
    if not np.isnan(curve.low[i]):
        scope = "simultaneous " if curve.simultaneous else ""
        ends = f"{show_number(curve.low[i], decimals)}, {show_number(curve.high[i], decimals)}"
        limits = f" [{ends}], {scope}{level(curve.confidence)} {curve.method} interval{after(curve.words.scope)}"
    failed = f", {curve.n_failed} failed" if curve.n_failed else ""
    again = ""
    if curve.new_run is not None and np.isfinite(curve.new_run[i]):
        again = f" A new run of it is expected to score {show_number(float(curve.new_run[i]), decimals)}."
    return (
        f"{curve.family}: {quantity(curve, curve.words.count(int(curve.n[i])) + after(curve.words.drawn))} is "
        f"{show_number(curve.value[i], decimals)}{limits}, from {trials_in_words(curve, i)}{failed}{chosen}.{again}"
    )


def _alone_words(curve: Curve) -> str:
    """What a curve is called where the selection score is all there is."""
    return curve.words.unchecked


def quantity(curve: Curve, n: str = "n") -> str:
    """What a point of the curve is; ``n`` says of how many trials."""
    if curve.words.measure and "{n}" not in curve.words.measure:
        return f"{curve.words.measure} ({curve.score})"
    if curve.words.measure:
        count = n.partition(" ")[0]
        return f"{curve.words.best_of('k' if count == 'n' else count)} ({curve.score}) of {n.replace('n ', 'k ')}"
    what = {"mean": "expected", "median": "median"}.get(curve.statistic, f"{curve.statistic}-quantile of the")
    return f"{what} best {curve.score} of {n}"


def trials_in_words(curve: Curve, i: int | None = None) -> str:
    """``50 trials``, or ``200 samples of 50 problems`` with how many of them stand behind point ``i``."""
    if curve.problems is None:
        runs = "" if curve.n_runs is None else f" with {plural(curve.n_runs, curve.words.part)} in all"
        return f"{curve.words.count(curve.n_trials)}{runs}"
    total = int(curve.problems.groups.size)
    count = total if i is None else int(curve.problems.n_groups[i])
    every = plural(total, curve.words.group)
    many = every if count == total else f"{every} ({count} with {curve.words.count(int(curve.n[i or 0]))})"
    return f"{curve.words.count(curve.n_trials)} of {many}"


def curves_heading(curves: Sequence[Curve], *, details: bool = True) -> str:
    """What the numbers of a table of curves are, with the terms that it uses; ``details`` name the methods."""
    first, words = curves[0], curves[0].words
    chosen = f", chosen by {first.selection}" if first.reported else f" ({_alone_words(first)})"
    if first.statistic in ("all", "majority") or words.best_of(1) == words.measure:  # none is chosen by its score
        chosen = ""
    names = list(dict.fromkeys(curve.method for curve in curves))
    methods = listed(list(dict.fromkeys(interval_name(name) for name in names)))
    over = "for all n at once" if first.simultaneous else "for each n separately"
    over += after(words.scope, ", ")
    kind = "bands" if first.simultaneous else "intervals"
    problems = ""
    if first.problems is not None:
        weighted = ", weighted" if first.problems.weights is not None else ""
        problems = f" of {plural(int(first.problems.groups.size), words.group)}{weighted}"
    judged = after(words.judged, ", each judged ")
    parts = [
        f"{quantity(first, f'n {words.units}{after(words.drawn)}')}{problems}{judged}{chosen}",
        f"{level(first.confidence)} {kind} {over}{f': {methods}' if details else ''}",
        "spread: standard deviation of the best of n",
    ]
    if first.new_run is not None:
        parts.append("new run: the expected score of another run of the best, selected with one run fewer")
    return "; ".join(parts)


def noise_sentence(noises: Sequence[Noise], words: DesignWords) -> str:
    """How uncertain means are, for other problems and for these: ``pass@1: a 0.62 ± 0.07 for other problems, ...``.

    Examples
    --------
    >>> words = DesignWords(measure="pass@{n}")
    >>> noise_sentence([Noise("a", 0.62, 0.071, 0.021), Noise("b", 0.5, 0.08, 0.02)], words)
    'pass@1: a 0.620 ± 0.071 for other problems, ± 0.021 for these; b 0.500 ± 0.080, ± 0.020.'
    >>> noise_sentence([Noise("a", 0.62, 0.071, 0.071)], words)  # one sample of each problem
    'pass@1: a 0.620 ± 0.071 for other problems, at most that for these.'
    """
    parts: list[str] = []
    alike = all(noise.suite == noise.problems for noise in noises)
    kinds = [" for other problems, at most that for these"] if alike else [" for other problems", " for these"]
    for noise in noises[:_MOST_NOISES]:
        widths = (noise.problems,) if alike else (noise.problems, noise.suite)
        known = [half for half in widths if math.isfinite(half)]
        if not known:
            continue
        decimals = round_to_uncertainty(noise.value, noise.value - max(known), noise.value + max(known))
        shown = [f" ± {show_number(half, decimals)}" if math.isfinite(half) else "" for half in widths]
        halves = [half + ("" if parts else kind) for half, kind in zip(shown, kinds, strict=True) if half]
        parts.append(f"{noise.family} {show_number(noise.value, decimals)}{','.join(halves)}")
    more = len(noises) - _MOST_NOISES
    what = words.best_of(1) if words.measure else "At n = 1"
    return f"{what}: {'; '.join(parts)}{f'; and {more} more' if more > 0 else ''}." if parts else ""


def cost_heading(curves: Sequence[FamilyCostCurve], *, details: bool = True) -> str:
    """The same over budgets of cost."""
    first = curves[0]
    crew = f" with {first.workers} workers" if first.workers > 1 else ""
    error = max(float(np.nanmax(curve.monte_carlo_error)) for curve in curves)
    drawn = f"; {first.n_orders} orders, Monte Carlo error at most {error:.2g}; seed {first.seed}"
    within = f"a spend on each {first.words.group}" if first.words.group else f"a budget{crew}"
    scaled = any(np.isfinite(curve.mean_cost_value).any() for curve in curves)
    mean = f"mean cost: as if every {first.words.unit} cost the mean; " if scaled else ""
    return (
        f"expected best {first.score} within {within}; {mean}none done: chance that no {first.words.unit} is "
        f"finished{drawn if details else ''}"
    )


def cost_sentence(curve: FamilyCostCurve) -> str:
    """What can be said of the largest budget of cost, ready for a paper."""
    budget, value, low, high = curve.point(float(curve.budget[-1]))
    limits = f" [{low:.4g}, {high:.4g}]" if np.isfinite(low) else ""
    failed = f", {curve.n_failed} failed" if curve.n_failed else ""
    crew = f" and {curve.workers} workers" if curve.workers > 1 else ""
    return (
        f"{curve.family}: expected best {curve.score} within {show_cost(budget, curve.cost_unit)}{crew} is "
        f"{value:.4g}{limits} (mean-cost scaling: {curve.mean_cost_value[-1]:.4g}), from "
        f"{curve.words.count(curve.n_trials)}{failed}."
    )


def reach_sentence(reach: Reach) -> str:
    """Whether, with what budget and within which limits one family reaches one target."""
    what = {"mean": "expected", "median": "median"}.get(reach.statistic, f"{reach.statistic}-quantile")
    name = f" ({reach.name})" if reach.name else ""
    goal = f"{'an' if what == 'expected' else 'a'} {what} best {reach.score} of {reach.target:g}{name}"
    failed = f", {reach.n_failed} failed" if reach.n_failed else ""
    basis = f"from {reach.words.count(reach.n_trials)}{failed}"
    budget, low, high = (reach.cost, reach.cost_low, reach.cost_high) if reach.over_cost else reach.interval
    shown = ""
    if math.isfinite(low) and math.isfinite(high):
        shown = show_range(low, high, reach.axis, reach.cost_unit)
    elif math.isfinite(low):
        shown = f"at least {_budget(reach, low)}, no upper limit"
    elif math.isfinite(high):
        shown = f"at most {_budget(reach, high)}"
    basis = f"{level(reach.confidence)} limits: {shown}; {basis}" if shown else basis
    if not reach.reached:
        ends = f"the data end at {_budget(reach, reach.furthest)} with {reach.best:.4g}"
        return f"{reach.family} does not reach {goal} within the data: {ends} ({basis})."
    price = ""
    if not reach.over_cost and math.isfinite(reach.cost):
        price = f", about {show_cost(reach.cost, reach.cost_unit)}"
    return f"{reach.family} reaches {goal} with {_budget(reach, budget)}{price} ({basis})."


def reaches_summary(reaches: Sequence[Reach]) -> str:
    """Who reaches what with which budget, and how many do not within the data."""
    first, sentences = reaches[0], []
    what = {"mean": "expected", "median": "median"}.get(first.statistic, f"{first.statistic}-quantile")
    for target in dict.fromkeys(row.target for row in reaches):
        rows = [row for row in reaches if row.target == target and row.failed == first.failed]
        name = f" ({rows[0].name})" if rows[0].name else ""
        able = [f"{_budget(row, row.cost if row.over_cost else row.n)} of {row.family}" for row in rows if row.reached]
        goal = f"{'an' if what == 'expected' else 'a'} {what} best {first.score} of {target:g}{name}"
        if not able:
            sentences.append(f"No family reaches {goal} within the data.")
            continue
        short = [row.family for row in rows if not row.reached]
        rest = f"; {short[0]} does not reach it within the data" if short else ""
        if len(short) > 1:
            rest = f"; {count_word(len(short))} others do not reach it within the data"
        sentences.append(f"{capital(goal)} takes {shortened(able)}{rest}.")
    return " ".join(sentences)


def _budget(reach: Reach, value: float) -> str:
    return show_cost(value, reach.cost_unit) if reach.over_cost else reach.words.count(value, f"{value:g}")


def family_title(names: Sequence[str], metric: Metric, words: DesignWords) -> str:
    """What a report is about: one new unit, or the best of a budget."""
    who = " and ".join(names) if len(names) <= 2 else f"{len(names)} families"
    what = f"{metric.score} of {words.single}" if words.single else f"best {metric.score} against the budget"
    if words.measure and not words.single:
        what = f"{words.best_of('k')} against the number of {words.units}"
    return f"{who}: {what}"


def alone_sentence(standing: Standing, score: str, n_groups: int | None, words: DesignWords) -> str:
    """With one family there is nothing to compare: the headline number is the verdict."""
    low, high, n_failed = standing.low, standing.high, standing.n_failed
    limits = f" ({low:.4g} to {high:.4g})" if math.isfinite(low) and math.isfinite(high) else ""
    lost = plural(n_failed, words.part) if words.in_parts else f"{n_failed}"
    failed = f", {lost} failed" if n_failed else ""
    over = "" if n_groups is None else f" of {plural(n_groups, words.group)}"
    best = f"the expected best {score} of {words.count(int(standing.budget))}"
    if words.measure:
        best = f"{words.best_of(f'{standing.budget:g}')} ({score})"
    trials = words.count(standing.n_trials)
    return f"{standing.family}: {best} is {standing.value:.4g}{limits}, from {trials}{over}{failed}."
