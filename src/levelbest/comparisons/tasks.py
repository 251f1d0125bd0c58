"""Several tasks: verdicts for each, and one over all of them, with directions and scales mixed.

The tasks are taken as they are: what is said over them is about these tasks, and the uncertainty is that of the trials.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import FloatArray, IntArray
from levelbest._plain import plain
from levelbest.cautions import Caution
from levelbest.comparisons import sentences
from levelbest.comparisons.plan import make_plan, scope_words
from levelbest.comparisons.results import Comparison, PairComparison, crossings, verdict_ranges
from levelbest.comparisons.verdicts import compare
from levelbest.errors import InputError
from levelbest.stats.bands import _limits as limits
from levelbest.stats.contrasts import Draws, Sample, draw_families, pair_bands, turn, widest
from levelbest.trials import Scores, Trials

__all__ = ["Rank", "TaskComparison", "compare_tasks", "split_tasks"]

_POINTS = 12


@dataclass(frozen=True)
class Rank:
    """One family's mean rank over the tasks at one budget: 1 is best; an interval by resampling trials."""

    family: str
    n: int
    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class TaskComparison:
    """Verdicts per task, and over all tasks: mean differences in units of each task's spread, and mean ranks."""

    tasks: Mapping[str, Comparison]
    overall: Comparison
    ranks: tuple[Rank, ...]
    normalised: str

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What a reviewer would ask, over all tasks."""
        return tuple(dict.fromkeys(c for one in self.tasks.values() for c in one.cautions))

    @property
    def sentences(self) -> tuple[str, ...]:
        """The verdict over all tasks first, then each task's."""
        each = [f"{task}: {text}" for task, one in self.tasks.items() for text in one.sentences]
        last = max(rank.n for rank in self.ranks)
        shown = ", ".join(
            f"{r.family} {r.value:.2f} ({r.low:.2f} to {r.high:.2f})"
            for r in sorted(self.ranks, key=lambda r: r.value)
            if r.n == last
        )
        ranks = f"Mean rank over {len(self.tasks)} tasks at n = {last}: {shown}."
        over = tuple(f"Over {len(self.tasks)} tasks ({self.normalised}): {text}" for text in self.overall.sentences)
        return (*over, ranks, *each)

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def to_dict(self) -> dict[str, Any]:
        """The overall comparison in the usual form, with the tasks' own and the ranks beside it."""
        document = self.overall.to_dict()
        document["normalised"] = self.normalised
        document["tasks"] = {task: one.to_dict() for task, one in self.tasks.items()}
        rows = [{"family": r.family, "n": r.n, "mean_rank": r.value, "low": r.low, "high": r.high} for r in self.ranks]
        document["ranks"] = plain(rows)
        document["warnings"] = [caution.to_dict() for caution in self.cautions]
        return document


def split_tasks(trials: Trials, directions: Mapping[str, str] | None = None) -> dict[str, Trials]:
    """One table per task, where the trials' groups are tasks; ``directions`` for tasks that differ from the rest."""
    if trials.group is None:
        raise InputError("there is no column of tasks; name it with --task")
    asked = dict(directions or {})
    for name in asked:
        if name not in trials.groups:
            raise InputError(f"there is no task {name!r}; {_check.nearest_first(name, trials.groups)}")
    found = {}
    for code, name in enumerate(trials.groups):
        one = replace(trials.take(np.flatnonzero(trials.group == code)), group=None, groups=())
        present = [family for at, family in enumerate(one.families) if (one.family == at).any()]
        if name in asked and asked[name] != trials.metric.direction:
            # bounds given for the others need not be this task's
            one = replace(one, metric=replace(one.metric, direction=asked[name], bounds=(None, None)))
        found[name] = one[present]
    return found


def compare_tasks(
    tasks: Mapping[str, Trials],
    *,
    baseline: str | None = None,
    n: npt.ArrayLike | None = None,
    confidence: float = 0.95,
    failed: str = "worst",
    missing: str = "refuse",
    n_resamples: int = 2_000,
    rng: int | None = 0,
) -> TaskComparison:
    """Verdicts on each task and over all: every family must have trials on every task."""
    if len(tasks) < 2:
        raise InputError(f"an aggregate needs at least two tasks, got {len(tasks)}; use compare for one")
    confidence = _check.as_confidence(confidence)
    first = next(iter(tasks))
    names = tasks[first].families
    for task, one in tasks.items():
        lacking = sorted(set(names) ^ set(one.families))
        if lacking:
            raise InputError(
                f"every family needs trials on every task: {', '.join(lacking)} {'is' if len(lacking) == 1 else 'are'} "
                f"missing on {task if set(one.families) < set(names) else first}; leave it out with --where"
            )
    ordered = {task: one[names] for task, one in tasks.items()}
    plan = make_plan(ordered[first], baseline)
    scores = {task: [one[f].scores(failed, missing=missing) for f in names] for task, one in ordered.items()}
    reach = widest(*(s.n_trials for several in scores.values() for s in several))
    budgets = _budgets(n, reach)
    each = {
        task: compare(
            one, baseline=baseline, n=n, confidence=confidence, failed=failed, missing=missing, paired=False,
            n_resamples=n_resamples, rng=rng,
        )
        for task, one in ordered.items()
    }  # fmt: skip
    generator = _check.as_rng(rng)
    drawn = [
        _task_draws(scores[task], one.metric.direction, plan.pairs, budgets, n_resamples, generator)
        for task, one in ordered.items()
    ]
    merged = _merged(drawn)
    bands = pair_bands(merged, confidence, step_down=len(plan.pairs) > 1)
    totals = [sum(several[i].n_trials for several in scores.values()) for i in range(len(names))]
    lost = [sum(several[i].n_failed for several in scores.values()) for i in range(len(names))]
    pairs = []
    for (a, b), band in zip(plan.pairs, bands, strict=True):
        both = names[a], names[b]
        comparable = np.isfinite(band.low) & np.isfinite(band.high)
        verdicts = verdict_ranges(budgets, band.certified, comparable, both, "scores without spread")
        words = sentences.pair_sentence(
            both, verdicts, axis="trials", unit=None, confidence=confidence, scope=scope_words(len(plan.pairs)),
            trials=(
                sentences.of_trials(both[0], totals[a], lost[a], failed),
                sentences.of_trials(both[1], totals[b], lost[b], failed),
            ),
        )  # fmt: skip
        pairs.append(
            PairComparison(
                both, budgets, band.difference, band.low, band.high, verdicts, words, "studentised", False,
                (totals[a], totals[b]), (lost[a], lost[b]), crossings(budgets, band.difference, band.certified),
            )
        )  # fmt: skip
    n_pairs = len(plan.pairs)
    overall = Comparison(
        pairs=tuple(pairs),
        families=names,
        baseline=baseline,
        axis="trials",
        unit=None,
        statistic="mean",
        direction="max",
        confidence=confidence,
        adjustment="max |t| over budgets" if n_pairs == 1 else f"step-down max |t| over {n_pairs} pairs and budgets",
        failed=failed,
        seed=rng,
        n_resamples=n_resamples,
    )
    ranks = _ranks(drawn, names, budgets, confidence)
    return TaskComparison(each, overall, ranks, "mean difference in standard deviations of each task's scores")


def _budgets(n: npt.ArrayLike | None, reach: int) -> IntArray:
    if reach < 1:
        raise InputError("an aggregate needs at least 2 trials of every family on every task")
    if n is None:
        return np.unique(np.geomspace(1, reach, min(_POINTS, reach)).round().astype(np.int64))
    asked = np.unique(_check.as_budgets(n)[0])
    if asked[0] > reach:
        raise InputError(
            f"n must be at most half the trials of the smallest family on any task, {reach}, got {asked[0]}"
        )
    return asked[asked <= reach]


def _task_draws(
    scores: list[Scores],
    direction: str,
    pairs: tuple[tuple[int, int], ...],
    n: IntArray,
    n_resamples: int,
    rng: np.random.Generator,
) -> Draws:
    """One task's bootstrap, in units of the standard deviation of all its scores."""
    spread = float(np.concatenate([s.curve_of for s in scores]).std())
    unit = spread if spread > 0 else 1.0
    turned = turn([Sample(s.selection, s.reported) for s in scores], direction)
    families: list[tuple[FloatArray, FloatArray | None]] = [
        (one.selection / unit, None if one.reported is None else one.reported / unit) for one in turned
    ]
    return draw_families(families, pairs, n, paired=False, n_resamples=n_resamples, rng=rng)


def _merged(drawn: list[Draws]) -> Draws:
    """The mean over tasks: independent, so variances add."""
    k = len(drawn)
    return Draws(
        n=drawn[0].n,
        pairs=drawn[0].pairs,
        estimate=np.mean([one.estimate for one in drawn], axis=0),
        variance=np.sum([one.variance for one in drawn], axis=0) / k**2,
        deviations=np.mean([one.deviations for one in drawn], axis=0, dtype=np.float32),
        variances=(np.sum([one.variances for one in drawn], axis=0) / k**2).astype(np.float32),
    )


def _ranks(drawn: list[Draws], names: tuple[str, ...], n: IntArray, confidence: float) -> tuple[Rank, ...]:
    """Mean ranks over tasks, 1 best; percentiles over the resampled curves, which keep what the trials leave open."""

    def ranked(values: Any) -> Any:
        """Along the first axis; equal families share the mean rank."""
        better = (values[:, None] < values[None]).sum(axis=1)
        equal = (values[:, None] == values[None]).sum(axis=1)
        return better + (equal + 1) / 2

    point = np.mean([ranked(one.estimate) for one in drawn], axis=0)
    tail = (1 - confidence) / 2
    found = []
    for i, budget in enumerate(n):
        resampled = np.mean(
            [ranked(one.estimate[:, i, None] + one.deviations[:, i].astype(np.float64)) for one in drawn], axis=0
        )
        low, high = (limits.order_statistic(resampled, p) for p in (tail, 1 - tail))
        found += [
            Rank(name, int(budget), float(point[f, i]), float(low[f]), float(high[f])) for f, name in enumerate(names)
        ]
    return tuple(found)
