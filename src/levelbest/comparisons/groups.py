"""Comparisons over many problems: systems on the same problems, problem by problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import IntArray
from levelbest.cautions import Caution
from levelbest.comparisons import sentences
from levelbest.comparisons.plan import Plan, cautions_of, scope_words
from levelbest.comparisons.results import Comparison, PairComparison, Verdict, crossings, verdict_ranges
from levelbest.errors import DataError, InputError
from levelbest.group_curves import as_group_statistic, best_by_group, group_budgets, scored
from levelbest.stats.group_intervals import group_differences, group_interval
from levelbest.stats.groups import GroupBest
from levelbest.stats.samples import Difference
from levelbest.trials import Scores, Trials

__all__ = ["compare_groups"]

_WHOLE, _POINTS = 100, 60
_LISTED = 5


def compare_groups(
    table: Trials,
    plan: Plan,
    *,
    baseline: str | None,
    n: npt.ArrayLike | None,
    statistic: str | float,
    confidence: float,
    failed: str,
    missing: str,
    paired: bool | None,
    n_resamples: int,
    rng: int | None,
    survival: bool = True,
) -> Comparison:
    """Differences averaged over problems, with bands over all budgets and pairs, and the verdicts.

    Problems that not all systems have are left out and listed (``paired`` None), refused (True), or kept, each system
    being averaged over its own (False).
    """
    statistic = as_group_statistic(statistic)
    table = scored(table)
    options: dict[str, Any] = {
        "baseline": baseline, "n": n, "statistic": statistic, "confidence": confidence, "failed": failed,
        "missing": missing, "paired": paired, "n_resamples": n_resamples, "rng": rng,
    }  # fmt: skip
    tables = [table[name] for name in plan.names]
    cautions: list[Caution] = []
    if paired is not False:
        tables, cautions = _common(tables, failed, required=paired is True)
    budgets = _grid(tables, n, failed)
    found = [best_by_group(one, budgets, failed, missing, statistic) for one in tables]
    best = [_at(one, budgets) for one, _, _ in found]
    # a failure counts where its problem was left out as well
    scores = [replace(one, n_failed=table[name].n_failed) for (_, one, _), name in zip(found, plan.names, strict=True)]
    cautions += [c for _, _, said in found for c in said if c.code != "beyond-trials" or "one point" in c.message]
    if paired is False:
        differences = _apart(best, plan, table, confidence, n_resamples, rng)
    else:
        differences = group_differences(
            best, list(plan.pairs), confidence=confidence, bounds=table.metric.bounds, n_resamples=n_resamples, rng=rng
        )
    told = cautions_of(table, plan, scores, failed, word="sample")
    codes = {"few-values", "paired-design", "unequal-groups", "no-reported"}
    cautions = [c for c in told if c.code not in codes] + cautions
    if paired is not False:
        message = "compared problem by problem: samples of the same problem in every family"
        cautions.append(Caution("paired-design", message, value=float(best[0].groups.size)))
    if scores[0].reported is None and statistic == "mean":
        message = (
            f"{table.metric.selection} picks the best of n and is what is compared: what an oracle reaches (pass@k for "
            "0/1 scores)"
        )
        cautions.append(Caution("no-reported", message))
    other = None
    if survival and any(one.n_failed for one in scores):
        other = _other_policy(table, plan, **options)
    pairs = [
        _pair(plan, best, scores, difference, at, other, confidence, failed, statistic)
        for at, difference in enumerate(differences)
    ]
    return Comparison(
        pairs=tuple(pairs),
        families=plan.names,
        baseline=baseline,
        axis="trials",
        unit=None,
        statistic=statistic,
        direction=table.metric.direction,
        confidence=confidence,
        adjustment="each family's band at an adjusted level"
        if paired is False
        else f"simultaneous over budgets and {len(plan.pairs)} pair{'s' * (len(plan.pairs) > 1)}, problems resampled"
        + (", problems weighted" if table.weights is not None else ""),
        failed=failed,
        seed=rng,
        n_resamples=n_resamples,
        cautions=tuple(dict.fromkeys(cautions)),
        strata=_within_strata(table, plan, options) if survival and table.strata else (),
    )


def _within_strata(table: Trials, plan: Plan, options: dict[str, Any]) -> tuple[tuple[str, Comparison], ...]:
    """The same comparison of the problems of each stratum; one that no two families share has none."""
    assert table.group is not None
    labels = np.array(table.strata)[table.group]
    found = []
    for label in sorted(set(table.strata)):
        inside = replace(table.take(np.flatnonzero(labels == label)), strata=())
        try:
            found.append((label, compare_groups(inside, plan, **options, survival=False)))
        except (DataError, InputError):
            continue
    return tuple(found)


def _common(tables: Sequence[Trials], failed: str, *, required: bool) -> tuple[list[Trials], list[Caution]]:
    """The samples of the problems that every family has, and what was left out."""
    present = []
    for one in tables:
        assert one.group is not None
        finished = np.isfinite(one.selection) if failed == "drop" else np.ones(len(one), dtype=bool)
        present.append(np.bincount(one.group[finished], minlength=len(one.groups)) > 0)
    common = np.logical_and.reduce(present)
    cautions: list[Caution] = []
    names = tables[0].groups
    for one, mine in zip(tables, present, strict=True):
        alone = np.flatnonzero(mine & ~common)
        if not alone.size:
            continue
        listed = ", ".join(names[i] for i in alone[:_LISTED]) + (", ..." if alone.size > _LISTED else "")
        what = f"{alone.size} of {int(mine.sum())} problems of {one.families[0]} are not in every family ({listed})"
        if required:
            raise InputError(
                f"a paired comparison needs the same problems in every family, and {what}; leave out --paired"
            )
        message = f"{what}: they are left out of the comparison"
        cautions.append(Caution("unequal-groups", message, one.families[0], float(alone.size)))
    if not common.any():
        raise DataError(
            "the families have no problem in common, so that they cannot be compared problem by problem; check the "
            "names in the --group column, or compare with --unpaired"
        )
    kept = [one.take(np.flatnonzero(common[one.group])) for one in tables]
    return kept, cautions


def _grid(tables: Sequence[Trials], n: npt.ArrayLike | None, failed: str) -> IntArray:
    """Budgets that two families at least can be compared at."""
    grids, most = [], []
    for one in tables:
        assert one.group is not None
        finished = np.isfinite(one.selection) if failed == "drop" else np.ones(len(one), dtype=bool)
        sizes = np.bincount(one.group[finished])
        grids.append(int(group_budgets(sizes[sizes > 0])[-1]))
        most.append(int(sizes.max()))
    if n is not None:
        asked = np.unique(_check.as_budgets(n)[0])
        inside = asked[asked <= sorted(most)[-2]]
        if not inside.size:
            _check.as_budgets(asked, sorted(most)[-2])
        return inside
    last = sorted(grids)[-2]
    if last <= _WHOLE:
        return np.arange(1, last + 1, dtype=np.int64)
    return np.unique(np.geomspace(1, last, _POINTS).round().astype(np.int64))


def _at(best: GroupBest, budgets: IntArray) -> GroupBest:
    """The same with a column of NaN for every budget that no problem allows."""
    if best.n.size == budgets.size:
        return best
    missing = budgets.size - best.n.size
    blank = np.full((best.groups.size, missing), np.nan)
    return replace(
        best, n=budgets, value=np.r_[best.value, np.full(missing, np.nan)], by_group=np.hstack([best.by_group, blank]),
        n_groups=np.r_[best.n_groups, np.zeros(missing, dtype=np.int64)],
    )  # fmt: skip


def _apart(
    best: Sequence[GroupBest], plan: Plan, table: Trials, confidence: float, n_resamples: int, rng: int | None
) -> list[Difference]:
    """Each system over its own problems: all bands hold together, so every difference lies between their edges."""
    each = confidence ** (1 / len(best))
    seeds = _check.as_rng(rng).spawn(len(best))
    bands = [
        group_interval(
            one, confidence=each, simultaneous=True, bounds=table.metric.bounds, n_resamples=n_resamples, rng=g
        )
        for one, g in zip(best, seeds, strict=True)
    ]
    sign = 1.0 if table.metric.direction == "max" else -1.0
    out = []
    for a, b in plan.pairs:
        ends = [
            sign * (np.asarray(bands[a].low) - np.asarray(bands[b].high)),
            sign * (np.asarray(bands[a].high) - np.asarray(bands[b].low)),
        ]
        low, high = np.minimum(*ends), np.maximum(*ends)
        out.append(
            Difference(
                n=best[a].n,
                difference=sign * (best[a].value - best[b].value),
                low=low,
                high=high,
                certified=np.where(low > 0, 1, np.where(high < 0, -1, 0)).astype(np.int64),
                method=bands[a].method,
                confidence=confidence,
                simultaneous=True,
                paired=False,
                n_trials=(int(best[a].sizes.sum()), int(best[b].sizes.sum())),
                statistic="mean",
                direction=table.metric.direction,
                n_resamples=n_resamples,
                reason=bands[a].reason or bands[b].reason,
            )
        )
    return out


def _pair(
    plan: Plan,
    best: Sequence[GroupBest],
    scores: Sequence[Scores],
    found: Difference,
    at: int,
    other: dict[tuple[str, str], tuple[Verdict, ...]] | None,
    confidence: float,
    failed: str,
    statistic: str,
) -> PairComparison:
    a, b = plan.pairs[at]
    names = plan.names[a], plan.names[b]
    comparable = ~(np.isnan(found.low) | np.isnan(found.high))
    verdicts = verdict_ranges(found.n, found.certified, comparable, names, found.reason or "")
    words = tuple(
        sentences.of_trials(plan.names[i], scores[i].n_trials, scores[i].n_failed, failed).replace(
            " trials", f" samples of {best[i].groups.size} problems", 1
        )
        for i in (a, b)
    )
    survives, extra = None, []
    if statistic == "all":
        extra.append("Compared is the chance that all of n samples succeed (pass^k).")
    if other is not None:
        survives = sentences.same_verdicts(verdicts, other[names])
        how = "dropped" if failed == "worst" else "counted as the worst score"
        extra.append(f"The verdict {'is the same' if survives else 'changes'} with failed samples {how}.")
    return PairComparison(
        families=names,
        budget=found.n,
        difference=found.difference,
        low=found.low,
        high=found.high,
        verdicts=verdicts,
        sentence=sentences.pair_sentence(
            names, verdicts, axis="trials", unit=None, confidence=confidence, scope=scope_words(len(plan.pairs)),
            trials=(words[0], words[1]), extra=extra, word="sample",
        ),
        method=found.method,
        paired=found.paired,
        n_trials=(scores[a].n_trials, scores[b].n_trials),
        n_failed=(scores[a].n_failed, scores[b].n_failed),
        crossings=crossings(found.n, found.difference, found.certified),
        survives=survives,
    )  # fmt: skip


def _other_policy(table: Trials, plan: Plan, **options: Any) -> dict[tuple[str, str], tuple[Verdict, ...]] | None:
    options["failed"] = "drop" if options["failed"] == "worst" else "worst"
    try:
        found = compare_groups(table, plan, **options, survival=False)
    except (DataError, InputError):
        return None
    return {one.families: one.verdicts for one in found.pairs}
