"""The base class of designs for tables in memory: families, scores, counts, cautions, curves of the best of n."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from levelbest import _check
from levelbest._check import FloatArray, IntArray, budget_grid
from levelbest._cores import PARALLEL_FROM, with_processes, with_threads
from levelbest.cautions import Caution
from levelbest.designs._protocol import POINTS, WHOLE, Design, FamilyCounts, Request
from levelbest.errors import DataError, InputError, named
from levelbest.results import TRIALS, Curve, DesignWords, FamilyCostCurve
from levelbest.stats.bands import CURVE_ESTIMATORS, Interval, Terms, sample_interval
from levelbest.stats.best import (
    Mean,
    Sample,
    best_statistic,
    expected_best,
    gaussian_best,
    mean_and_spread,
    means_and_spreads,
    normality,
    spread_of_best,
    statistic_named,
)
from levelbest.stats.inference import half_of, reach_of
from levelbest.trials import OK, Metric, Scores, Settings, Trials, by_configuration, has_repeats

SAID_ANEW = ("failures", "still-running", "no-reported")  # with the policy used and the word for a trial
_SCORE_ROUNDING = 1e-12
"""Of a score, relative to it."""


def adaptive_families(trials: Trials) -> dict[str, str]:
    """Families whose trials are one adaptive search, with the reason why they have no limits."""
    return {c.family: "adaptive" for c in trials.cautions if c.code == "adaptive-sampler" and c.family is not None}


def scores_of(trials: Trials, settings: Settings) -> list[Scores]:
    """Of each family; where configurations have several runs, of configurations."""
    tables = [trials[name] for name in trials.families]
    scores = [table.scores(settings.failed, missing=settings.missing) for table in tables]
    if not has_repeats(trials) or trials.group is not None or trials.search is not None:
        return scores
    return [by_configuration(table, by_run) for table, by_run in zip(tables, scores, strict=True)]


def turned_samples(families: Iterable[Scores], direction: str) -> list[Sample]:
    """The scores of each family, turned so that higher is better."""
    return [Sample(scores.selection, scores.reported).turned(direction) for scores in families]


def same_but_for_rounding(samples: Sequence[Sample]) -> list[Sample]:
    """The samples with one value for scores that differ by rounding alone: .1 + .2 is a tie with .3."""
    columns = [column for sample in samples for column in (sample.selection, sample.reported) if column is not None]
    values = np.unique(np.concatenate(columns))
    size = np.minimum(np.abs(values[1:]), np.abs(values[:-1]))
    lowest = values[np.concatenate(([True], np.diff(values) > _SCORE_ROUNDING * size))]

    def merged(scores: FloatArray) -> FloatArray:
        return np.asarray(lowest[np.searchsorted(lowest, scores, side="right") - 1])

    return [Sample(merged(s.selection), None if s.reported is None else merged(s.reported)) for s in samples]


class TableDesign(Design):
    """Families of a table, each with its scores. Designs of tables build on it; see `Design` for the names."""

    adjustment = "permutation"
    beyond = "beyond-half"

    def __init__(self, trials: Trials, request: Request) -> None:
        if request.statistic == "all":
            raise InputError(
                f"statistic 'all' (all of n succeed, pass^k) is for samples of problems; name them with "
                f"{named('group')}"
            )
        super().__init__(trials, request)
        self.metric = trials.metric
        self.families = trials.families
        self.statistic = statistic_named(request.statistic).name
        if type(self)._scores is not TableDesign._scores:
            _ = self.scores  # what a design asks of its scores is asked at once

    @cached_property
    def tables(self) -> tuple[Trials, ...]:
        """The trials of each family."""
        return tuple(with_threads(self.trials.__getitem__, self.families, self._each))

    @property
    def _each(self) -> int:
        """Trials of a family, on average."""
        return len(self.trials) // max(1, len(self.families))

    @cached_property
    def scores(self) -> tuple[Scores, ...]:
        """Of each family."""
        return tuple(self._scores())

    def _scores(self) -> Sequence[Scores]:
        settings = self.request.settings
        return with_threads(
            lambda table: table.scores(settings.failed, missing=settings.missing),
            self.tables,
            self._each,
        )

    @property
    def samples(self) -> list[Sample]:
        """The scores of each family, turned so that higher is better."""
        return turned_samples(self.scores, self.metric.direction)

    @property
    def sizes(self) -> list[int]:
        """How many trials each family has."""
        return [scores.n_trials for scores in self.scores]

    @cached_property
    def counts(self) -> tuple[FamilyCounts, ...]:
        """Of each family."""
        sign = self.metric.sign
        return tuple(
            FamilyCounts(
                name, scores.n_trials, scores.n_failed, scores.n_running, float(sign * (sign * scores.selection).max())
            )
            for name, scores in zip(self.families, self.scores, strict=True)
        )

    @property
    def observed(self) -> tuple[float, float]:
        """The least and the greatest score of a finished trial."""
        column = self.trials.selection if self.trials.reported is None else self.trials.reported
        finished = column[self.trials.status == OK]
        return float(np.nanmin(finished)), float(np.nanmax(finished))

    @property
    def unit_scores(self) -> Mapping[str, FloatArray]:
        """By family, the score of each of its units."""
        return {name: scores.curve_of for name, scores in zip(self.families, self.scores, strict=True)}

    @property
    def reach(self) -> dict[str, float]:
        """Budgets past these were not run."""
        return {counts.family: float(counts.n_trials) for counts in self.counts}

    @cached_property
    def excluded(self) -> Mapping[str, str]:
        """Families without limits, with the reason's code: one adaptive search, or one trial."""
        alone = {name: "few-trials" for name, size in zip(self.families, self.sizes, strict=True) if size < 2}
        return alone | adaptive_families(self.trials)

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What a reviewer would ask about the trials compared."""
        kept = [c for c in self.trials.cautions if c.code not in SAID_ANEW or c.kind == "left-out"]
        for name, scores in zip(self.families, self.scores, strict=True):
            kept += failure_cautions(name, scores, self.unit)
            if scores.n_running:
                kept.append(
                    Caution.of("fixed-sample", name, scores.n_running, n_running=scores.n_running, unit=self.unit)
                )
            distinct = int(np.unique(scores.curve_of).size)
            if distinct < min(10, scores.n_trials / 2):
                kept.append(Caution.of("few-values", name, distinct, distinct=distinct, n_trials=scores.n_trials))
        if self.scores[0].reported is None:
            kept.append(Caution.of("no-reported", selection=self.metric.selection))
        return tuple(dict.fromkeys(caution for caution in kept if caution.code not in self.moot))

    def budgets(self, pairs: Sequence[tuple[int, int]]) -> IntArray:
        """Where families are compared: to half the trials of the smaller one, or where it was asked for."""
        sizes, reaches = self.sizes, [reach_of(sample) for sample in self.samples]
        if self.beyond and any(reach < half_of(size) for reach, size in zip(reaches, sizes, strict=True)):
            self.beyond = "beyond-reported"
        reach = max(min(reaches[a], reaches[b]) for a, b in pairs)
        if self.request.n is None and reach < 1:
            counted = ", ".join(map(str, sizes))
            raise DataError(f"a comparison needs at least 2 finished trials in two families, and there are {counted}")
        most = max(min(sizes[a], sizes[b]) for a, b in pairs)
        budgets = self.request.budgets(most, budget_grid(max(reach, 1), whole=WHOLE, points=POINTS))
        headline = self.request.headline
        if headline is None:
            return budgets
        if headline > most:
            raise InputError(f"a headline must be at most the number of trials of two families, {most}, got {headline}")
        return np.union1d(budgets, [headline]).astype(np.int64)

    def curves(self, request: Request) -> tuple[Curve | FamilyCostCurve, ...]:
        """One curve for each family, of independent trials."""
        adaptive = adaptive_families(self.trials)

        def curve_of(name: str) -> Curve:
            # Each curve extracts its trials and frees them afterwards: allocating new memory is slow.
            return trial_curve(self.trials.cut_out(name), request, no_limits=adaptive.get(name, ""), words=self.words)

        return tuple(with_processes(curve_of, self.families, self._each))


def failure_cautions(family: str, scores: Scores, unit: str) -> list[Caution]:
    """How many trials failed and what became of them, where some did."""
    if not scores.n_failed:
        return []
    lost = scores.n_failed
    return [Caution.of("failures", family, lost, n_failed=lost, of=scores.n_run, failed=scores.failed, unit=unit)]


def drawn_curve(
    counted: FamilyCounts,
    metric: Metric,
    request: Request,
    value: FloatArray,
    limits: Interval,
    spread: FloatArray | None = None,
) -> Curve:
    """A family's curve: its values, their limits, and where both come from."""
    nowhere = np.full(value.size, np.nan)
    low, high = metric.cut(np.asarray(limits.low), np.asarray(limits.high))
    return Curve(
        family=counted.family,
        n=np.atleast_1d(limits.n),
        value=value,
        low=low,
        high=high,
        spread=nowhere if spread is None else spread,
        cost=None,
        statistic=request.statistic,
        estimator=request.estimator,
        direction=metric.direction,
        selection=metric.selection,
        reported=metric.reported,
        cost_unit=metric.cost_unit,
        method=limits.method,
        confidence=limits.confidence,
        simultaneous=limits.simultaneous,
        rule=limits.rule,
        n_trials=counted.n_trials,
        n_failed=counted.n_failed,
        n_running=counted.n_running,
        failed=request.settings.failed,
        horizon=limits.horizon,
        seed=request.settings.rng,
        unseen=limits.unseen,
    )


def trial_curve(
    trials: Trials, request: Request, *, no_limits: str = "", scores: Scores | None = None, words: DesignWords = TRIALS
) -> Curve:
    """The curve of one family of independent trials; ``no_limits`` is the code of a reason why it has no interval.

    ``scores`` are those of its units where these are not single trials, and ``words`` say what these are called.
    """
    settings, metric, family = request.settings, trials.metric, trials.families[0]
    scores = scores or trials.scores(settings.failed, missing=settings.missing)
    statistic = statistic_named(request.statistic)
    _check.as_choice(request.estimator, CURVE_ESTIMATORS, "estimator")
    if not isinstance(statistic, Mean) and request.estimator != "u":
        raise InputError(
            f"a {statistic.name} curve has one estimator, 'u', got {request.estimator!r}; "
            "use statistic='mean' for others"
        )
    cautions = [caution for caution in trials.cautions if caution.code not in SAID_ANEW]
    budgets = budget_grid(scores.n_trials) if request.n is None else np.array(request.n, dtype=np.int64)
    if request.estimator == "gaussian":
        cautions += _about_the_fit(scores, budgets, family, metric.direction)
    else:
        budgets, left_out = _within_the_data(budgets, scores, family)
        cautions += left_out
    sample = Sample.of(scores.selection, scores.reported, at_least=1)
    if scores.n_trials >= PARALLEL_FROM and request.estimator != "naive":  # which is of the first n trials
        sample = sample.ordered()  # what is in order is not sorted again
    value, spread = _value_and_spread(sample, budgets, metric.direction, request)
    limits = _limits(trials, sample, budgets, request, no_limits)
    counted = FamilyCounts(family, scores.n_trials, scores.n_failed, scores.n_running)
    return replace(
        drawn_curve(counted, metric, request, value, limits, spread),
        cost=None if scores.cost is None else np.float64(mean_cost(scores.cost)) * budgets,
        statistic=statistic.name,
        reported=metric.reported if scores.reported is not None else None,
        cautions=tuple(dict.fromkeys([*cautions, *_about_the_trials(trials, scores, limits, request, words.unit)])),
        words=words,
        observed=(float(scores.curve_of.min()), float(scores.curve_of.max())),
    )


def mean_cost(cost: FloatArray) -> float:
    """Over the trials whose cost is known; undefined where none is."""
    known = cost[np.isfinite(cost)]
    return float(known.mean()) if known.size else float("nan")


def _within_the_data(budgets: IntArray, scores: Scores, family: str) -> tuple[IntArray, list[Caution]]:
    inside = budgets[budgets <= scores.n_trials]
    if inside.size == budgets.size:
        return budgets, []
    if not inside.size:
        _check.as_budgets(budgets, scores.n_trials)
    return inside, [Caution.of("beyond-trials", family, budgets.max(), n_trials=scores.n_trials)]


def _about_the_fit(scores: Scores, budgets: IntArray, family: str, direction: str) -> list[Caution]:
    """What a Gaussian fit leans on: past the trials it extrapolates, and the scores may not look normal."""
    cautions = []
    if budgets.max() > scores.n_trials:
        last = float(budgets.max())
        cautions.append(Caution.of("extrapolated", family, last, n_trials=scores.n_trials, method="gaussian"))
    fitted = normality(scores.curve_of if direction == "max" else -scores.curve_of)
    if fitted.rejected:
        cautions.append(Caution.of("not-normal", family, fitted.p_value, p_value=fitted.p_value))
    return cautions


def _value_and_spread(
    sample: Sample, budgets: IntArray, direction: str, request: Request
) -> tuple[FloatArray, FloatArray | None]:
    """What a curve shows at its budgets, and how much the best itself spreads, which a fit does not say."""
    columns, estimator = (sample.selection, budgets, sample.reported), request.estimator
    if estimator == "u" and isinstance(statistic_named(request.statistic), Mean):
        ranked = sample.turned(direction).ordered()
        means, spreads = means_and_spreads(ranked.ranked, budgets, estimator)
        ranked.remember(budgets, means)
        return _check.sign_of(direction) * means + 0.0, spreads  # 0 has no sign
    if estimator == "gaussian":
        return np.asarray(gaussian_best(*columns, direction=direction)), None
    if estimator == "v":
        return mean_and_spread(*columns, estimator=estimator, direction=direction)
    if estimator == "naive":
        value = expected_best(*columns, estimator=estimator, direction=direction)
    else:
        value = best_statistic(*columns, statistic=request.statistic, direction=direction)
    return np.asarray(value), np.asarray(spread_of_best(*columns, estimator=estimator, direction=direction))


def _limits(trials: Trials, sample: Sample, budgets: IntArray, request: Request, no_limits: str) -> Interval:
    """An interval of the estimate shown; none where that estimator has none of its own."""
    settings = request.settings
    if sample.n_trials < 2 or no_limits:
        nowhere = np.full(budgets.size, np.nan)
        return Interval(
            n=budgets,
            low=nowhere,
            high=nowhere,
            method="none",
            confidence=settings.confidence,
            simultaneous=request.simultaneous,
            n_trials=sample.n_trials,
            why=("one-trial",) * budgets.size if sample.n_trials < 2 else (),
        )
    terms = Terms(
        settings.confidence,
        request.simultaneous,
        trials.metric.direction,
        trials.metric.bounds,
        settings.n_resamples,
        request.estimator,
    )
    statistic = statistic_named(request.statistic)
    return sample_interval(sample, budgets, terms, statistic, request.interval, settings.rng)


def _about_the_trials(trials: Trials, scores: Scores, limits: Interval, request: Request, unit: str) -> list[Caution]:
    family, metric = trials.families[0], trials.metric
    cautions = failure_cautions(family, scores, unit)
    if scores.n_running:
        cautions.append(Caution.of("still-running", family, scores.n_running, n_running=scores.n_running, unit=unit))
    if scores.reported is None:
        cautions.append(Caution.of("no-reported", family, selection=trials.metric.selection))
    ends = metric.cut(np.asarray(limits.low), np.asarray(limits.high))
    if not all(np.array_equal(*pair, equal_nan=True) for pair in zip(ends, (limits.low, limits.high), strict=True)):
        low, high = metric.natural
        cautions.append(Caution.of("natural-bounds", family, score=metric.score, low=low, high=high))
    if limits.rule.code == "light tails":
        cautions.append(Caution.of("light-tails", family, scores.n_trials, n_trials=scores.n_trials))
    if limits.why:
        estimator, method = request.estimator, request.interval
        cautions.append(
            Caution.of("beyond-horizon", family, reasons=limits.reasons, estimator=estimator, method=method)
        )
    return cautions
