"""Curves over many problems: the best of n samples of each, averaged over problems, with intervals over problems."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import FloatArray, IntArray
from levelbest.cautions import Caution
from levelbest.errors import DataError, InputError
from levelbest.readers.groups import said_of_repeats
from levelbest.results import Stratum
from levelbest.stats.bands import Interval
from levelbest.stats.problems import (
    GROUP_METHODS,
    GroupBest,
    average_over_groups,
    expected_best_by_group,
    group_interval,
    repeated_samples,
)
from levelbest.trials import Metric, Scores, Trials

__all__ = [
    "GroupCurve",
    "VerifierEffect",
    "about_sizes",
    "as_group_statistic",
    "best_by_group",
    "group_budgets",
    "group_curve",
    "one_sample_each",
    "scored",
    "spread_of_groups",
    "stratum_curves",
    "verifier_effect",
]

WHOLE, POINTS = 300, 150
LEAST = 0.5
"""A curve ends where fewer than this share of the problems has n samples: beyond, it would be of other problems."""


@dataclass(frozen=True, eq=False)
class GroupCurve:
    """What `levelbest.curves.curve` needs of a family with problems: numbers, limits, and what there is to say."""

    best: GroupBest
    limits: Interval
    scores: Scores
    metric: Metric
    cautions: tuple[Caution, ...]
    strata: tuple[Stratum, ...] = ()


def spread_of_groups(best: GroupBest) -> FloatArray:
    """How much problems differ at each budget: the standard deviation of their values."""
    known = ~np.isnan(best.by_group)
    count = known.sum(axis=0)
    mean = np.where(known, best.by_group, 0).sum(axis=0) / np.maximum(count, 1)
    squares = np.where(known, (best.by_group - mean) ** 2, 0).sum(axis=0)
    return np.where(count > 1, np.sqrt(squares / np.maximum(count - 1, 1)), np.nan)


def scored(trials: Trials) -> Trials:
    """The same trials, with bounds 0 and 1 where the scores are 0 or 1 and no bounds are known.

    A failed sample then counts as 0 even where no other sample of the family failed.
    """
    if trials.metric.bounds != (None, None):
        return trials
    column = trials.selection if trials.reported is None else trials.reported
    known = column[np.isfinite(column)]
    if known.size == 0 or not ((known == 0) | (known == 1)).all():
        return trials
    return replace(trials, metric=replace(trials.metric, bounds=(0.0, 1.0)))


def best_by_group(
    trials: Trials, n: npt.ArrayLike | None, failed: str, missing: str, statistic: str = "mean"
) -> tuple[GroupBest, Scores, list[Caution]]:
    """One family's best of n by problem, problems by name; ``n`` None is a grid up to where problems get few.

    With ``statistic="all"`` the chance that all of n samples succeed (pass^k) instead.
    """
    family = trials.families[0]
    assert trials.group is not None
    cautions = _repeated_samples(trials)
    scores = trials.scores(failed, missing=missing)
    group = trials.group[scores.rows]
    sizes = np.bincount(group)
    present = np.flatnonzero(sizes)
    sizes = sizes[present]
    if n is None:
        budgets = group_budgets(sizes)
    else:
        asked = np.unique(_check.as_budgets(n)[0])
        budgets = asked[asked <= sizes.max()]
        if not budgets.size:
            if sizes.max() == 1:
                raise DataError(one_sample_each(family, trials.columns.get("group"), sizes.size, int(asked.min())))
            raise InputError(
                f"{family}: n must be at most the samples of a problem, {sizes.max()}, got {asked.min()}; draw more "
                "samples (past them the best of n is unknown, not the best observed)"
            )
        if budgets.size < asked.size:
            message = f"budgets above the {sizes.max()} samples of the largest problem are left out"
            cautions.append(Caution("beyond-trials", message, family, float(asked.max())))
    options: dict[str, Any] = {
        "weights": None if trials.weights is None else trials.weights[present],
        "strata": dict(enumerate(trials.strata)) or None,
    }
    if statistic == "all":
        best = _all_of_n(trials, scores, group, budgets, options)
    else:
        best = expected_best_by_group(
            scores.selection, group, budgets, scores.reported, direction=trials.metric.direction, **options
        )
    names = np.array(trials.groups, dtype=object)[np.asarray(best.groups, dtype=np.int64)]
    cautions += about_sizes(best, family, trials.columns.get("group"), asked=n is not None)
    return replace(best, groups=names), scores, cautions


def _all_of_n(
    trials: Trials, scores: Scores, group: npt.NDArray[Any], budgets: IntArray, options: dict[str, Any]
) -> GroupBest:
    """The chance that all of n succeed, by problem: of 0/1 scores, the worst of n."""
    known, name = scores.curve_of, trials.metric.reported or trials.metric.selection
    if trials.metric.direction != "max":
        raise InputError("all of n succeed (pass^k) where a score of 1 is a success: direction must be max, got min")
    odd = known[(known != 0) & (known != 1)]
    if odd.size:
        raise InputError(
            f"{trials.families[0]}: all of n succeed (pass^k) is of scores 0 and 1, got {odd[0]:g} in {name!r}; use "
            "statistic 'mean', the expected best of n, which any score has"
        )
    best = expected_best_by_group(known, group, budgets, direction="min", **options)
    return replace(best, direction="max")


def group_budgets(sizes: IntArray) -> IntArray:
    """Budgets up to where `LEAST` of the problems still has enough samples; log-spaced ones where they are many."""
    ordered = np.sort(sizes)[::-1]
    enough = max(1, int(np.ceil(LEAST * sizes.size)), min(2, sizes.size))
    last = int(ordered[enough - 1])
    if last <= WHOLE:
        return np.arange(1, last + 1, dtype=np.int64)
    return np.unique(np.geomspace(1, last, POINTS).round().astype(np.int64))


def group_curve(
    trials: Trials,
    *,
    n: npt.ArrayLike | None,
    statistic: str,
    estimator: str,
    interval: str,
    confidence: float,
    simultaneous: bool,
    failed: str,
    missing: str,
    n_resamples: int,
    rng: int | None,
) -> GroupCurve:
    """The curve of one family over its problems."""
    as_group_statistic(statistic)
    if estimator != "u":
        raise InputError(f"over problems (--group) the estimator is 'u', the unbiased one, got {estimator!r}")
    _check.as_choice(interval, GROUP_METHODS, "interval over problems")
    trials = scored(trials)
    best, scores, cautions = best_by_group(trials, n, failed, missing, statistic)
    options: dict[str, Any] = {
        "method": interval, "confidence": confidence, "simultaneous": simultaneous, "bounds": trials.metric.bounds,
        "n_resamples": n_resamples, "rng": rng,
    }  # fmt: skip
    return GroupCurve(
        best, group_interval(best, **options), scores, trials.metric, tuple(cautions), stratum_curves(best, **options)
    )


def as_group_statistic(statistic: str | float) -> str:
    """``mean``, the expected best of n, or ``all``, that all of n succeed: both averaged over problems."""
    if statistic not in ("mean", "all"):
        raise InputError(
            "over problems (--group) the statistic is 'mean', the average over problems of the best of n, or 'all', of "
            f"the chance that all of n succeed (pass^k), got {statistic!r}; leave out --group for the median over all "
            "samples"
        )
    return str(statistic)


def stratum_curves(best: GroupBest, **options: Any) -> tuple[Stratum, ...]:
    """Each stratum over its own problems, with intervals of its own."""
    if best.stratum is None:
        return ()
    return tuple(Stratum(label, part, group_interval(part, **options)) for label, part in best.by_stratum().items())


def one_sample_each(family: str, column: str | None, n_groups: int, asked: int) -> str:
    """Why there is no best of n where every problem has one sample."""
    where = "" if column is None else f" of {column!r}"
    return (
        f"{family}: every one of the {n_groups} problems{where} has one sample, so that the best of n = {asked} is "
        "unknown: draw more samples of each problem, ask for n = 1, or name the column that tells problems (not "
        "samples) apart with --group"
    )


def about_sizes(best: GroupBest, family: str, column: str | None = None, *, asked: bool) -> list[Caution]:
    """What there is to say where problems have one sample each, or unequally many; ``asked``: the budgets were."""
    sizes, total = best.sizes, best.groups.size
    found = []
    if sizes.max() == 1:
        where = "" if column is None else f" of {column!r}"
        message = (
            f"every problem{where} has one sample, so that the curve is one point, n = 1: draw more samples of each "
            "for the best of n, or name another column with --group if these are samples and not problems"
        )
        found.append(Caution("beyond-trials", message, family, 1.0))
    elif sizes.min() < sizes.max():
        message = f"problems have between {sizes.min()} and {sizes.max()} samples: each n is averaged over those with n"
        last = best.n_groups[-1]
        if last < total:
            message += f", {last} of {total} at n = {best.n[-1]}"
        if not asked and (sizes > best.n[-1]).sum() < LEAST * total and best.n[-1] < sizes.max():
            message += f"; the curve ends there, as fewer than half have {int(best.n[-1]) + 1} or more"
        found.append(Caution("unequal-groups", message, family, float(sizes.min())))
    return found


def _repeated_samples(trials: Trials) -> list[Caution]:
    """Sample ids that occur twice in one problem: an error where everything else of the rows repeats as well."""
    ids = trials.seed if trials.sample is None else trials.sample
    if ids is None or trials.group is None:
        return []
    columns: list[npt.NDArray[Any]] = [trials.selection, trials.status]
    columns += [one for one in (trials.reported, trials.cost) if one is not None]
    found = repeated_samples(trials.group, ids, [*columns, *trials.configuration.values()])
    if found is None or (trials.sample is None and np.unique(ids.astype(str)).size < 2):
        return []  # one seed for all samples is no id
    where = trials.groups[trials.group[found.row]]
    return said_of_repeats(trials.families[0], found.count, found.same, ids[found.row], where)


@dataclass(frozen=True, eq=False)
class VerifierEffect:
    """What the selection score makes of the samples: between picking blindly and knowing the answer."""

    family: str
    n: IntArray
    oracle: FloatArray
    """The best reported score of n samples: pass@k for 0/1 scores. No verifier can do better."""
    verifier: FloatArray
    random: FloatArray
    """One sample, whatever n is."""

    @property
    def gained(self) -> FloatArray:
        """The share of the possible gain over a random pick that the verifier brings; NaN where none is possible."""
        room = self.oracle - self.random
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(np.abs(room) > 1e-12, (self.verifier - self.random) / room, np.nan)


def verifier_effect(
    trials: Trials, n: npt.ArrayLike | None = None, *, failed: str = "worst", missing: str = "refuse"
) -> VerifierEffect:
    """Oracle, verifier and random pick of one family over the same problems, side by side."""
    if trials.group is None or trials.reported is None:
        raise InputError(
            "the effect of a verifier needs problems and a reported score beside the selection score; name --group and "
            "--reported"
        )
    trials = scored(trials)
    best, scores, _ = best_by_group(trials, n, failed, missing)
    assert scores.reported is not None
    group = trials.group[scores.rows] if trials.group is not None else np.zeros(0)
    options: dict[str, Any] = {"direction": trials.metric.direction, "weights": best.weights}
    oracle = expected_best_by_group(scores.reported, group, best.n, **options)
    blind = expected_best_by_group(scores.reported, group, [1], **options).by_group
    known = ~np.isnan(best.by_group)
    random, _ = average_over_groups(np.where(known, blind, np.nan), best.weights)
    return VerifierEffect(trials.families[0], best.n, oracle.value, best.value, random)
