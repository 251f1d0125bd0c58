"""Comparisons at budgets of cost, where trials differ in what they cost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import FloatArray
from levelbest.comparisons import sentences
from levelbest.comparisons.plan import Plan, cautions_of, scope_words, trial_words
from levelbest.comparisons.results import Comparison, PairComparison, crossings, verdict_ranges
from levelbest.errors import DataError, InputError
from levelbest.stats.budgets import Pool, cost_differences
from levelbest.stats.budgets import _cost as costs
from levelbest.trials import Scores, Trials

__all__ = ["compare_costs", "cost_scores", "worst_score"]

_POINTS = 24
_MOST = 500  # resamples: each draws orders of its own and leaves out trials in turn


def cost_scores(trials: Trials, failed: str, missing: str) -> tuple[Scores, FloatArray]:
    """One family's scores with the cost of each trial, which must be known."""
    name = trials.families[0]
    if trials.cost is None:
        raise InputError("a cost axis needs a cost for every trial, and there is none; name its column with --cost")
    scores = trials.scores(failed, missing=missing)
    assert scores.cost is not None
    known = int(np.count_nonzero(np.isfinite(scores.cost)))
    if known < scores.n_trials:
        raise DataError(
            f"{name}: the cost {trials.metric.cost!r} is known for {known} of {scores.n_trials} trials; a failed trial "
            "used up its cost too: fill it in, leave these trials out with --where, or use the trial axis"
        )
    return scores, costs.as_cost(scores.cost, scores.n_trials)


def worst_score(trials: Trials, scores: Sequence[Scores]) -> float:
    """What counts where no trial finishes: the worst bound, else the worst score observed in any family."""
    if trials.metric.worst is not None:
        return trials.metric.worst
    worst = min if trials.metric.direction == "max" else max
    return float(worst(float(worst(one.curve_of)) for one in scores))


def compare_costs(
    table: Trials,
    plan: Plan,
    *,
    baseline: str | None,
    budget: npt.ArrayLike | None,
    statistic: str | float,
    confidence: float,
    failed: str,
    missing: str,
    workers: int,
    n_resamples: int,
    rng: int | None,
) -> Comparison:
    """Differences of cost curves, with bands over all budgets and pairs, and the verdicts."""
    if statistic != "mean":
        raise InputError(
            f"on the cost axis the statistic is 'mean', got {statistic!r}; use the trial axis for quantiles"
        )
    workers = _check.as_count(workers, "workers")
    both = [cost_scores(one, failed, missing) for one in plan.tables]
    scores, spent = [s for s, _ in both], [c for _, c in both]
    sign = 1.0 if table.metric.direction == "max" else -1.0
    worst = sign * worst_score(table, scores)
    pools = [Pool(sign * one.selection, sign * one.curve_of, cost, worst, workers) for one, cost in both]
    ranges = [_range(spent[a], spent[b], workers) for a, b in plan.pairs]
    grid = _grid(ranges) if budget is None else np.unique(costs.as_cost_budgets(budget))
    bands, _ = cost_differences(
        pools, plan.pairs, grid, confidence=confidence,
        n_orders=20_000, n_resamples=min(n_resamples, _MOST), rng=_check.as_rng(rng),
    )  # fmt: skip
    unit = table.metric.cost_unit
    scaled = [
        sign * costs.mean_cost_values(s.selection, s.reported, c, grid, workers, table.metric.direction)
        for s, c in both
    ]
    pairs = []
    for at, band in enumerate(bands):
        a, b = plan.pairs[at]
        names = plan.names[a], plan.names[b]
        low, high = ranges[at]
        comparable = np.isfinite(band.difference) & (grid >= low * (1 - 1e-9)) & (grid <= high * (1 + 1e-9))
        certified = np.where(comparable, band.certified, 0)
        why = "bands reach from the cost of one trial to half of what either family spent"
        verdicts = verdict_ranges(grid, certified, comparable, names, why, whole=False)
        sentence = sentences.pair_sentence(
            names, verdicts, axis="cost", unit=unit, confidence=confidence, scope=scope_words(len(plan.pairs)),
            trials=trial_words(plan, scores, at, failed),
        )  # fmt: skip
        pairs.append(
            PairComparison(
                families=names,
                budget=grid,
                difference=band.difference,
                low=np.where(comparable, band.low, np.nan),
                high=np.where(comparable, band.high, np.nan),
                verdicts=verdicts,
                sentence=sentence,
                method="studentised",
                paired=False,
                n_trials=(scores[a].n_trials, scores[b].n_trials),
                n_failed=(scores[a].n_failed, scores[b].n_failed),
                crossings=crossings(grid, band.difference, certified),
                scaled=scaled[a] - scaled[b],
            )
        )
    n_pairs = len(plan.pairs)
    return Comparison(
        pairs=tuple(pairs),
        families=plan.names,
        baseline=baseline,
        axis="cost",
        unit=unit,
        statistic="mean",
        direction=table.metric.direction,
        confidence=confidence,
        adjustment="max |t| over budgets"
        if n_pairs == 1
        else f"step-down max |t| jointly over {n_pairs} pairs and budgets",
        failed=failed,
        seed=rng,
        n_resamples=min(n_resamples, _MOST),
        cautions=tuple(dict.fromkeys(cautions_of(table, plan, scores, failed))),
    )


def _range(first: FloatArray, second: FloatArray, workers: int) -> tuple[float, float]:
    """The budgets that both families can speak of: from the larger median cost to half of what either spent."""
    low = max(float(np.median(one)) for one in (first, second))
    return low, min(0.5 * costs.cost_horizon(one, workers) for one in (first, second))


def _grid(ranges: Sequence[tuple[float, float]]) -> FloatArray:
    """Budgets for all pairs that share any."""
    shared = [(low, high) for low, high in ranges if 0 < low < high]
    if not shared:
        low, high = ranges[0]
        raise DataError(
            f"the families share no budget of cost: one trial of the dearer one costs {low:g}, and half of what the "
            f"cheaper one spent is {high:g}; run more trials or use the trial axis"
        )
    ends = min(low for low, _ in shared), max(high for _, high in shared)
    # each pair's own ends are budgets too, so that its verdicts reach as far as its data
    return np.unique(np.concatenate([np.geomspace(*ends, _POINTS), *(np.array(pair) for pair in shared)]))
