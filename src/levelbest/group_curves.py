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
from levelbest.stats.group_intervals import GROUP_METHODS, group_interval
from levelbest.stats.groups import GroupBest, expected_best_by_group
from levelbest.stats.results import Interval
from levelbest.trials import Metric, Scores, Trials

__all__ = [
    "GroupCurve",
    "VerifierEffect",
    "about_sizes",
    "best_by_group",
    "group_budgets",
    "group_curve",
    "scored",
    "spread_of_groups",
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
    trials: Trials, n: npt.ArrayLike | None, failed: str, missing: str
) -> tuple[GroupBest, Scores, list[Caution]]:
    """One family's best of n by problem, problems by name; ``n`` None is a grid up to where problems get few."""
    family = trials.families[0]
    assert trials.group is not None
    cautions = _repeated_samples(trials)
    scores = trials.scores(failed, missing=missing)
    group = trials.group[scores.rows]
    sizes = np.bincount(group)
    sizes = sizes[sizes > 0]
    if n is None:
        budgets = group_budgets(sizes)
    else:
        asked = np.unique(_check.as_budgets(n)[0])
        budgets = asked[asked <= sizes.max()]
        if not budgets.size:
            raise InputError(
                f"{family}: n must be at most the samples of a problem, {sizes.max()}, got {asked.min()}; draw more "
                "samples (past them the best of n is unknown, not the best observed)"
            )
        if budgets.size < asked.size:
            message = f"budgets above the {sizes.max()} samples of the largest problem are left out"
            cautions.append(Caution("beyond-trials", message, family, float(asked.max())))
    best = expected_best_by_group(scores.selection, group, budgets, scores.reported, direction=trials.metric.direction)
    names = np.array(trials.groups, dtype=object)[np.asarray(best.groups, dtype=np.int64)]
    cautions += about_sizes(best, family)
    return replace(best, groups=names), scores, cautions


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
    if statistic != "mean":
        raise InputError(
            f"over problems (--group) the statistic is 'mean', the average over problems, got {statistic!r}; leave out "
            "--group for the median over all samples"
        )
    if estimator != "u":
        raise InputError(f"over problems (--group) the estimator is 'u', the unbiased one, got {estimator!r}")
    _check.as_choice(interval, GROUP_METHODS, "interval over problems")
    trials = scored(trials)
    best, scores, cautions = best_by_group(trials, n, failed, missing)
    limits = group_interval(
        best, method=interval, confidence=confidence, simultaneous=simultaneous, bounds=trials.metric.bounds,
        n_resamples=n_resamples, rng=rng,
    )  # fmt: skip
    return GroupCurve(best, limits, scores, trials.metric, tuple(cautions))


def about_sizes(best: GroupBest, family: str) -> list[Caution]:
    """What there is to say where problems have one sample each, or unequally many."""
    sizes, total = best.sizes, best.groups.size
    found = []
    if sizes.max() == 1:
        message = (
            "every problem has one sample, so that the curve is one point, n = 1: draw more samples of each for the "
            "best of n, or leave out --group if they are samples of one problem"
        )
        found.append(Caution("beyond-trials", message, family, 1.0))
    elif sizes.min() < sizes.max():
        message = f"problems have between {sizes.min()} and {sizes.max()} samples: each n is averaged over those with n"
        last = best.n_groups[-1]
        if last < total:
            message += f", {last} of {total} at n = {best.n[-1]}"
        if best.n[-1] < sizes.max():
            message += f"; the curve ends there, as fewer than half have {int(best.n[-1]) + 1} or more"
        found.append(Caution("unequal-groups", message, family, float(sizes.min())))
    return found


def _repeated_samples(trials: Trials) -> list[Caution]:
    """Sample ids (the seed column) that occur twice in one problem: an error where the scores repeat as well."""
    seed, group = trials.seed, trials.group
    if seed is None or group is None or np.unique(seed.astype(str)).size < 2:
        return []
    keys: dict[tuple[int, str], list[int]] = {}
    for row, (problem, name) in enumerate(zip(group.tolist(), seed.astype(str).tolist(), strict=True)):
        if name not in ("nan", "None", ""):
            keys.setdefault((problem, name), []).append(row)
    twice = {key: rows for key, rows in keys.items() if len(rows) > 1}
    if not twice:
        return []
    (problem, name), _ = next(iter(twice.items()))
    where = f"first: {name} of problem {trials.groups[problem]}"
    columns = [trials.selection] + ([] if trials.reported is None else [trials.reported])
    same = all(np.unique(column[rows]).size == 1 for rows in twice.values() for column in columns)
    family = trials.families[0]
    if same:
        raise DataError(
            f"{family}: {len(twice)} sample ids occur more than once within a problem, with the same scores ({where}); "
            "was a file read twice? leave the repeated rows out"
        )
    message = f"{len(twice)} sample ids occur more than once within a problem, with other scores ({where})"
    return [Caution("repeated-configurations", message, family, float(len(twice)))]


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
    options: dict[str, Any] = {"direction": trials.metric.direction}
    oracle = expected_best_by_group(scores.reported, group, best.n, **options)
    blind = expected_best_by_group(scores.reported, group, [1], **options).by_group
    known = ~np.isnan(best.by_group)
    random = np.where(known, blind, 0).sum(axis=0) / known.sum(axis=0)
    return VerifierEffect(trials.families[0], best.n, oracle.value, best.value, random)
