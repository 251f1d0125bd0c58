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
from levelbest.comparisons.group_pairs import (
    System,
    adjustment_words,
    at_budgets,
    differences_of,
    left_out,
    pair_of,
)
from levelbest.comparisons.plan import Plan, cautions_of
from levelbest.comparisons.results import Comparison, Verdict
from levelbest.errors import DataError, InputError
from levelbest.group_curves import as_group_statistic, best_by_group, group_budgets, scored
from levelbest.trials import Trials

__all__ = ["compare_groups"]

_WHOLE, _POINTS = 100, 60


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
    best = [at_budgets(one, budgets) for one, _, _ in found]
    # a failure counts where its problem was left out as well
    scores = [replace(one, n_failed=table[name].n_failed) for (_, one, _), name in zip(found, plan.names, strict=True)]
    cautions += [c for _, _, said in found for c in said if c.code != "beyond-trials" or "one point" in c.sentence]
    systems = [
        System(name, one, of.n_trials, of.n_failed) for name, one, of in zip(plan.names, best, scores, strict=True)
    ]
    differences = differences_of(
        systems, plan.pairs, paired=paired is not False, bounds=table.metric.bounds, confidence=confidence,
        n_resamples=n_resamples, rng=rng,
    )  # fmt: skip
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
        pair_of(
            systems, plan.pairs, at, difference, other=other, confidence=confidence, failed=failed, statistic=statistic
        )
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
        adjustment=adjustment_words(len(plan.pairs), paired=paired is not False, weighted=table.weights is not None),
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
        what = left_out(one.families[0], [names[i] for i in alone], int(mine.sum()))
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


def _other_policy(table: Trials, plan: Plan, **options: Any) -> dict[tuple[str, str], tuple[Verdict, ...]] | None:
    options["failed"] = "drop" if options["failed"] == "worst" else "worst"
    try:
        found = compare_groups(table, plan, **options, survival=False)
    except (DataError, InputError):
        return None
    return {one.families: one.verdicts for one in found.pairs}
