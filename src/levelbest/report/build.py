"""From trials to a view: every number and sentence of a report, computed once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from levelbest import __version__, _check
from levelbest._check import FloatArray
from levelbest.cautions import Caution
from levelbest.comparisons import Comparison, compare
from levelbest.comparisons.searches import search_curves
from levelbest.curves import curve
from levelbest.errors import DataError
from levelbest.group_curves import scored
from levelbest.report import sections as problems
from levelbest.report.columns import cell_text, hidden_columns, is_known, machine_columns, searched, trial_table
from levelbest.report.paper.methods import REFERENCES, methods_paragraph
from levelbest.report.view import Family, Line, Pair, Range, Section, View, line_of
from levelbest.report.words.summary import summary_sentences
from levelbest.trials import STATUSES, Metric, Scores, Trials

__all__ = ["build_view", "family_title", "pairs_shown", "said_alone"]

T = TypeVar("T")

COST_RESAMPLES = 200
"""Every resample on the cost axis draws orders of its own, so there are fewer of them."""


def build_view(
    trials: Trials,
    *,
    title: str | None = None,
    headline: int = 5,
    baseline: str | None = None,
    confidence: float = 0.95,
    failed: str = "worst",
    missing: str = "refuse",
    statistics: Iterable[str] = ("mean", "median"),
    published: Mapping[str, float] | None = None,
    hide: Iterable[str] = (),
    comparing: bool = True,
    n_resamples: int = 2000,
    rng: int = 0,
) -> View:
    """Curves with simultaneous bands, comparisons, tables and sentences for every family in the trials.

    ``headline`` is the budget of the one number in the table, fixed before looking ([B] section 3.3); ``hide`` names
    configuration columns that stay out of the report.
    """
    _check.as_count(headline, "headline")
    options: dict[str, Any] = {
        "confidence": confidence,
        "failed": failed,
        "missing": missing,
        "n_resamples": n_resamples,
        "rng": rng,
    }
    hidden = hidden_columns(trials, hide)
    everything, (trials, lost) = trials, _with_scores(trials, baseline)
    statistics = tuple(statistics)
    if trials.group is not None:
        # over problems there is one statistic, the average over problems, and no cost axis
        statistics, trials = ("mean",), scored(replace(trials, cost=None))
    if trials.search is not None:
        # the unit is the whole search: its mean best so far, over trials
        statistics, trials = ("mean",), replace(trials, cost=None)
        drawn = list(search_curves(trials, confidence=confidence, failed=failed, missing=missing))
        headline = min([headline, *(int(one.n[-1]) for one in drawn)])
    else:
        drawn = _together(
            partial(curve, trials[name], statistic=statistic, simultaneous=True, **options)
            for statistic in statistics
            for name in trials.families
        )
    lines = [line_of(one) for one in drawn]
    cautions = [*lost, *(caution for one in drawn for caution in one.cautions)]
    if trials.cost is not None and "mean" in statistics:
        lines.extend(_cost_lines(trials, options))
    sections: tuple[Section, ...] = ()
    effect: tuple[Line, ...] = ()
    if trials.group is not None:
        headline = min([headline, *(int(one.n[-1]) for one in drawn)])
        sections = (problems.problem_section(drawn, trials),)
        if drawn[0].strata:
            sections = (problems.stratum_section(drawn, headline), *sections)
        if all_of_n := problems.all_section(trials, options):
            sections = (all_of_n, *sections)
        if found := problems.effects(trials, failed, missing):
            sections = (problems.verifier_section(found, trials.metric.selection), *sections)
            effect = problems.verifier_lines(found)
    wanted = statistics if comparing else ()
    on_cost = [line.family for line in lines if line.axis == "cost"]
    counted = {one.family: one.n_trials for one in drawn}
    several = [name for name in trials.families if counted[name] > 1]
    enough = trials if len(several) == len(trials.families) or baseline not in (None, *several) else trials[several]
    if len(several) < 2:
        wanted = ()
    pairs, verdict, said = _comparisons(enough, wanted, baseline, on_cost, options)
    families = tuple(_together(partial(_family, trials[name], headline, hidden, options) for name in trials.families))
    metric = trials.metric
    n_groups = None if trials.group is None else int(np.unique(trials.group).size)
    details: tuple[str, ...] = ()
    first = [pair for pair in pairs if pair.axis == "trials" and pair.statistic == wanted[0]] if pairs else []
    if first and (baseline is None or len(families) == 2):
        word = "sample" if trials.group is not None else "trial"
        compared = [one for one in families if one.name in several]
        said_briefly = summary_sentences(
            first, compared, confidence, failed, word, headline=headline, problems=n_groups
        )
        verdict, details = said_briefly, verdict
    verdict = verdict or said_alone(families, headline, metric.reported or metric.selection, n_groups)
    if len(several) < len(families) > 1:
        alone = [name for name in trials.families if name not in several]
        each = "has one trial" if len(alone) == 1 else "have one trial each"
        verdict = (*verdict, f"{' and '.join(alone)} {each}: too few to compare.")
    return View(
        title=title or family_title(trials.families, metric),
        verdict=(*verdict, *(f"{caution}." for caution in lost)),
        details=details,
        selection=metric.selection,
        reported=metric.reported if missing != "selection" else None,
        direction=metric.direction,
        bounds=metric.bounds,
        cost_unit=metric.cost_unit,
        confidence=confidence,
        failed=failed,
        seed=rng,
        headline=headline,
        families=families,
        lines=tuple(lines),
        pairs=tuple(pairs),
        table=trial_table(everything, hidden),
        n_rows=len(everything),
        cautions=_once(cautions, said),
        methods=methods_paragraph(
            drawn,
            headline=headline,
            n_searches=None if trials.search is None else len(trials.searches),
            weight=None if trials.weights is None else trials.columns.get("weight", "given weights"),
        ),
        references=REFERENCES,
        published=dict(published or {}),
        provenance=_provenance(trials, rng, n_resamples),
        n_groups=n_groups,
        sections=sections,
        effect=effect,
    )


def _with_scores(trials: Trials, baseline: str | None) -> tuple[Trials, list[Caution]]:
    """The families of which anything can be estimated, where there are some, and what to say of the others."""
    scored = np.unique(trials.family[trials.status == STATUSES.index("ok")])
    kept = [name for code, name in enumerate(trials.families) if code in scored or name == baseline]
    if not scored.size or len(kept) == len(trials.families):
        return trials, []
    lost = [
        Caution("failures", f"none of {count} trials has a score: left out", name, count)
        for name, count in ((name, len(trials[name])) for name in trials.families if name not in kept)
    ]
    return trials[kept], lost


def _together(calls: Iterable[Callable[[], T]]) -> list[T]:
    """The results of independent calls, each with its own seed, on as many cores as there are: NumPy lets go of the
    interpreter while it computes."""
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        return [one.result() for one in [pool.submit(call) for call in calls]]


def _once(of_curves: Iterable[Caution], of_pairs: Sequence[Caution]) -> tuple[Caution, ...]:
    """All warnings; where the families were compared pair by pair, nobody is told to do so."""
    paired = any(one.code == "paired-design" and one.sentence.startswith("compared") for one in of_pairs)
    kept = (
        one
        for one in (*of_curves, *of_pairs)
        if not (paired and one.code == "paired-design" and not one.sentence.startswith("compared"))
    )
    return tuple(dict.fromkeys(kept))


def _cost_lines(trials: Trials, options: dict[str, Any]) -> list[Line]:
    """The best within a budget of cost: an expectation, so there is no median line on this axis."""
    found = _together(partial(_cost_line, trials[name], options) for name in trials.families)
    return [line for line in found if line is not None]


def _cost_line(trials: Trials, options: dict[str, Any]) -> Line | None:
    from levelbest.stats.budgets import cost_curve

    scores = trials.scores(options["failed"], missing=options["missing"])
    cost = scores.cost
    if cost is None or not np.isfinite(cost).all() or cost.max() <= 0 or scores.n_trials < 5:
        return None
    try:
        within = cost_curve(
            scores.selection,
            cost,
            None,
            scores.reported,
            direction=trials.metric.direction,
            worst=trials.metric.worst,
            confidence=options["confidence"],
            simultaneous=True,
            n_orders=4000,
            n_resamples=COST_RESAMPLES,
            rng=options["rng"],
        )
    except DataError:
        return None
    nowhere = np.full(within.budget.size, np.nan)
    lowest, highest = trials.metric.bounds  # no expectation lies beyond them
    return Line(
        family=trials.families[0],
        statistic="mean",
        axis="cost",
        x=_numbers(within.budget),
        value=_numbers(within.value),
        low=_numbers(nowhere if within.low is None else np.clip(within.low, lowest, highest)),
        high=_numbers(nowhere if within.high is None else np.clip(within.high, lowest, highest)),
        method="studentised",
        note="studentised bootstrap of the trials with their costs",
        simultaneous=True,
    )


def _comparisons(
    trials: Trials, statistics: tuple[str, ...], baseline: str | None, on_cost: Sequence[str], options: dict[str, Any]
) -> tuple[list[Pair], tuple[str, ...], list[Caution]]:
    if len(trials.families) < 2 or not statistics:
        return [], (), []
    asked = [(statistic, "trials", trials, options) for statistic in statistics]
    if "mean" in statistics and len(on_cost) > 1 and (baseline is None or baseline in on_cost):
        # a family whose costs are not all known has no curve over cost; the longest comparison starts first
        asked.insert(0, ("mean", "cost", trials[on_cost], {**options, "n_resamples": COST_RESAMPLES}))
    found = _together(
        partial(_compare, table, baseline=baseline, statistic=statistic, axis=axis, **chosen)
        for statistic, axis, table, chosen in asked
    )
    by_axis = [
        (statistic, axis, result)
        for (statistic, axis, *_), result in sorted(zip(asked, found, strict=True), key=lambda one: one[0][1] == "cost")
        if result is not None
    ]
    pairs = [pair for statistic, axis, result in by_axis for pair in pairs_shown(result, statistic, axis)]
    cautions = [caution for _, _, result in by_axis for caution in result.cautions]
    return pairs, by_axis[0][2].sentences if by_axis else (), cautions


def _compare(trials: Trials, **options: Any) -> Comparison | None:
    """The comparison; on the cost axis None where the families share no budget."""
    try:
        return compare(trials, **options)
    except DataError:
        if options["axis"] == "cost":
            return None
        raise


def pairs_shown(found: Comparison, statistic: str, axis: str) -> list[Pair]:
    """The pairs of a comparison as they are drawn."""
    return [_pair(one, statistic, axis) for one in found.to_dict()["comparisons"]]


def _pair(one: dict[str, Any], statistic: str, axis: str) -> Pair:
    def column(key: str) -> tuple[float, ...]:
        return tuple(np.nan if point[key] is None else float(point[key]) for point in one["points"])

    first, second = one["families"]
    return Pair(
        families=(first, second),
        statistic=statistic,
        axis=axis,
        x=column("n"),
        difference=column("difference"),
        low=column("low"),
        high=column("high"),
        ranges=tuple(
            Range(float(row["from"]), float(row["to"]), row["verdict"], row.get("reason") or "")
            for row in one["verdicts"]
        ),
        sentence=str(one.get("sentence", "")),
        claim=one.get("unequal_budgets"),
        survives=one.get("survives_other_failure_policy"),
    )


def _family(trials: Trials, headline: int, hidden: frozenset[str], options: dict[str, Any]) -> Family:
    scores = trials.scores(options["failed"], missing=options["missing"])
    sign = 1.0 if trials.metric.direction == "max" else -1.0
    at = min(headline, scores.n_trials)
    asked = [at] if trials.group is None else [1, at]
    if trials.search is None:
        point = curve(trials, n=asked, **options)
    else:
        (point,) = search_curves(trials, n=[headline], **{k: options[k] for k in ("confidence", "failed", "missing")})
    winner = int(np.argmax(sign * scores.selection))
    cost = scores.cost if scores.cost is not None else np.array([np.nan])
    known = cost[np.isfinite(cost)]
    row = int(scores.rows[winner])
    return Family(
        name=trials.families[0],
        n_trials=scores.n_trials,
        n_failed=scores.n_failed,
        n_running=scores.n_running,
        mean=float(scores.curve_of.mean()),
        sd=float(scores.curve_of.std(ddof=1)) if scores.n_trials > 1 else float("nan"),
        median=float(np.median(scores.curve_of)),
        winner=float(scores.curve_of[winner]) if trials.group is None else float(point.value[0]),
        spearman=_spearman(scores),
        mean_cost=float(known.mean()) if known.size else float("nan"),
        total_cost=float(known.sum()) if known.size else float("nan"),
        headline=(float(point.value[-1]), float(point.low[-1]), float(point.high[-1])),
        assignment={
            k: cell_text(v[row]) for k, v in trials.configuration.items() if k not in hidden and is_known(v[row])
        },
        space={k: text for k, v in trials.configuration.items() if k not in hidden and (text := searched(v))},
    )


def _spearman(scores: Scores) -> float:
    if scores.reported is None or scores.n_trials < 3:
        return float("nan")
    from scipy.stats import rankdata

    a, b = rankdata(scores.selection), rankdata(scores.reported)
    if a.std() == 0 or b.std() == 0:
        return float("nan")
    return float(np.corrcoef(a, b)[0, 1])


def _numbers(column: FloatArray | Any) -> tuple[float, ...]:
    return tuple(float(one) for one in column)


def family_title(names: Sequence[str], metric: Metric) -> str:
    """What a report is about."""
    who = " and ".join(names) if len(names) <= 2 else f"{len(names)} families"
    return f"{who}: best {metric.reported or metric.selection} against the budget"


def said_alone(families: tuple[Family, ...], headline: int, score: str, n_groups: int | None) -> tuple[str, ...]:
    """With one family there is nothing to compare: the number fixed in advance is the verdict."""
    one = families[0]
    value, low, high = one.headline
    at = min(headline, one.n_trials)
    limits = f" ({low:.4g} to {high:.4g})" if np.isfinite([low, high]).all() else ""
    failed = f", {one.n_failed} failed" if one.n_failed else ""
    word, over = ("trial", "") if n_groups is None else ("sample", f" of {n_groups} problems")
    head = f"{one.name}: the expected best {score} of {at} {word}{'s' * (at != 1)} is {value:.4g}{limits}"
    return (f"{head}, from {one.n_trials} {word}{'s' * (one.n_trials != 1)}{over}{failed}.",)


def _provenance(trials: Trials, rng: int, n_resamples: int) -> dict[str, str]:
    found = {"levelbest": __version__, "random seed": str(rng), "resamples": str(n_resamples)}
    if trials.source:
        found["read from"] = ", ".join(trials.source[:5]) + (" and more" if len(trials.source) > 5 else "")
    if trials.columns:
        found["columns"] = ", ".join(f"{role} = {column}" for role, column in trials.columns.items())
    if left_out := machine_columns(trials):
        found["left out, as they tell of a machine"] = ", ".join(left_out)
    if "ledger:head" in trials.facts:
        found["ledger head"] = trials.facts["ledger:head"]
    return found
