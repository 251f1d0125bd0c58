"""Comparisons of systems whose samples are too many to hold: from values by problem, read in parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest.cautions import Caution
from levelbest.comparisons.group_pairs import (
    System,
    adjustment_words,
    at_budgets,
    differences_of,
    left_out,
    pair_of,
)
from levelbest.comparisons.plan import pairs_of
from levelbest.comparisons.results import Comparison, Verdict
from levelbest.errors import DataError, InputError
from levelbest.group_curves import as_group_statistic
from levelbest.large import LargeFamily, best_by_group_large

__all__ = ["compare_families", "compare_large"]

Verdicts = dict[tuple[str, str], tuple[Verdict, ...]]


def compare_large(
    source: Any,
    *,
    baseline: str | None = None,
    n: npt.ArrayLike | None = None,
    statistic: str = "mean",
    confidence: float = 0.95,
    failed: str = "worst",
    paired: bool | None = None,
    n_resamples: int = 5_000,
    rng: int | None = 0,
    **reading: Any,
) -> Comparison:
    """Who is better at which n, on the same problems, from Parquet files too large to hold.

    As `compare` of samples with problems; ``reading`` as `levelbest.large.best_by_group_large`.
    """
    options: dict[str, Any] = {
        "n": n, "statistic": as_group_statistic(statistic), "together": True, "common": paired is not False, **reading
    }  # fmt: skip
    found = best_by_group_large(source, failed=failed, **options)
    settings: dict[str, Any] = {
        "baseline": baseline, "statistic": statistic, "confidence": _check.as_confidence(confidence),
        "paired": paired, "n_resamples": n_resamples, "rng": rng,
    }  # fmt: skip
    other: Verdicts | None = None
    if any(one.n_failed for one in found):
        try:
            policy = "drop" if failed == "worst" else "worst"
            others = compare_families(best_by_group_large(source, failed=policy, **options), **settings)
            other = {one.families: one.verdicts for one in others.pairs}
        except (DataError, InputError):
            other = None
    return compare_families(found, **settings, other=other)


def compare_families(
    families: Sequence[LargeFamily],
    *,
    baseline: str | None,
    statistic: str,
    confidence: float,
    paired: bool | None,
    n_resamples: int,
    rng: int | None,
    other: Verdicts | None = None,
) -> Comparison:
    """The comparison of families whose values by problem are known; within strata as well, where there are any."""
    names = tuple(one.family for one in families)
    pairs = pairs_of(names, baseline)
    first = families[0]
    metric = next((one.metric for one in families if one.metric.bounds == (None, None)), first.metric)
    kept, cautions = (list(families), []) if paired is False else _common(families, required=paired is True)
    budgets = np.unique(np.concatenate([one.best.n for one in kept]))
    systems = [System(one.family, at_budgets(one.best, budgets), one.n_samples, one.n_failed) for one in kept]
    settings: dict[str, Any] = {"confidence": confidence, "n_resamples": n_resamples, "rng": rng}
    differences = differences_of(systems, pairs, paired=paired is not False, bounds=metric.bounds, **settings)
    told = [c for one in families for c in one.cautions if c.code != "beyond-trials" or "one point" in c.sentence]
    return Comparison(
        pairs=tuple(
            pair_of(
                systems, pairs, at, one, other=other, confidence=confidence, failed=first.failed, statistic=statistic
            )
            for at, one in enumerate(differences)
        ),
        families=names,
        baseline=baseline,
        axis="trials",
        unit=None,
        statistic=statistic,
        direction=first.best.direction,
        confidence=confidence,
        adjustment=adjustment_words(len(pairs), paired=paired is not False, weighted=first.best.weights is not None),
        failed=first.failed,
        seed=rng,
        n_resamples=n_resamples,
        cautions=tuple(dict.fromkeys([*told, *_about(families, systems, paired, statistic), *cautions])),
        strata=_within_strata(families, baseline, statistic, paired, settings),
    )


def _about(
    families: Sequence[LargeFamily], systems: Sequence[System], paired: bool | None, statistic: str
) -> list[Caution]:
    said = []
    for one in families:
        if one.n_failed:
            how = "counted as the worst score" if one.failed == "worst" else "dropped, which flatters the family"
            of = one.n_samples + (one.n_failed if one.failed == "drop" else 0)
            said.append(Caution("failures", f"{one.n_failed} of {of} samples failed and are {how}", one.family))
    if paired is not False:
        message = "compared problem by problem: samples of the same problem in every family"
        said.append(Caution("paired-design", message, value=float(systems[0].best.groups.size)))
    metric = families[0].metric
    if metric.reported is None and statistic == "mean":
        message = (
            f"{metric.selection} picks the best of n and is what is compared: what an oracle reaches (pass@k for 0/1 "
            "scores)"
        )
        said.append(Caution("no-reported", message))
    return said


def _common(families: Sequence[LargeFamily], *, required: bool) -> tuple[list[LargeFamily], list[Caution]]:
    """The problems that every family has, and what was left out."""
    shared = set.intersection(*(set(one.best.groups.tolist()) for one in families))
    kept, cautions = [], []
    for one in families:
        mask = np.array([label in shared for label in one.best.groups.tolist()])
        if not mask.all():
            what = left_out(one.family, [str(label) for label in one.best.groups[~mask]], mask.size)
            if required:
                raise InputError(
                    f"a paired comparison needs the same problems in every family, and {what}; leave out --paired"
                )
            message = f"{what}: they are left out of the comparison"
            cautions.append(Caution("unequal-groups", message, one.family, float((~mask).sum())))
        best = one.best.select(np.flatnonzero(mask))
        kept.append(replace(one, best=best, n_samples=int(best.sizes.sum())))
    if not shared:
        raise DataError(
            "the families have no problem in common, so that they cannot be compared problem by problem; check the "
            "names in the --group column, or compare with --unpaired"
        )
    return kept, cautions


def _within_strata(
    families: Sequence[LargeFamily], baseline: str | None, statistic: str, paired: bool | None, settings: dict[str, Any]
) -> tuple[tuple[str, Comparison], ...]:
    divided = [one.best.stratum for one in families if one.best.stratum is not None]
    if len(divided) < len(families):
        return ()
    found = []
    for label in sorted({str(one) for column in divided for one in column}):
        inside = []
        for one in families:
            assert one.best.stratum is not None
            best = replace(one.best.select(np.flatnonzero(one.best.stratum == label)), stratum=None)
            lost = one.failed_in.get(label, 0)
            inside.append(replace(one, best=best, n_samples=int(best.sizes.sum()), n_failed=lost, cautions=()))
        try:
            compared = compare_families(inside, baseline=baseline, statistic=statistic, paired=paired, **settings)
        except (DataError, InputError):
            continue
        found.append((label, compared))
    return tuple(found)
