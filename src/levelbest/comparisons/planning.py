"""Plans: what it would take to know, for families of trials or for systems on many problems."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from levelbest import _check
from levelbest._plain import plain
from levelbest.cautions import Caution
from levelbest.comparisons.plan import make_plan
from levelbest.errors import DataError, InputError
from levelbest.stats import horizon
from levelbest.stats.budgets import Needed, trials_for_width, trials_to_separate
from levelbest.stats.contrasts import Sample
from levelbest.stats.problems import GroupPlan, plan_groups
from levelbest.trials import Scores, Trials
from levelbest.trials.problems import too_few_samples

__all__ = ["TrialPlan", "plan_trials"]

_SIZES = (10, 20, 50, 100, 200, 500)


@dataclass(frozen=True, eq=False)
class TrialPlan:
    """How many more trials (or problems), and how far exact bands reach. Prints as sentences."""

    widths: tuple[tuple[str, Needed], ...]
    separations: tuple[tuple[str, str, Needed], ...]
    problems: tuple[tuple[str, GroupPlan], ...]
    horizons: tuple[tuple[int, int], ...]
    """(number of trials, largest n at which the median curve has a limit on the side that is best)."""
    confidence: float
    power: float
    score: str
    seed: int | None
    cautions: tuple[Caution, ...] = ()
    unplanned: tuple[tuple[str, str, str], ...] = ()
    """(family, stratum, why): strata whose problems allow no plan."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """What to do, in words."""
        level = f"{100 * self.confidence:g} %"
        said = []
        for family, one in self.widths:
            said.append(
                f"{family}: the {level} interval for the expected best {self.score} of {one.n} is {one.now:.3g} wide "
                f"with {one.pilot[0]} trials; {_count(one.needed)} trials would make it {one.goal:.3g} "
                f"({_range(one)}, the pilot says).{one.caption()}"
            )
        for first, second, one in self.separations:
            goal = f"{first} and {second} at n = {one.n}"
            if not math.isfinite(one.needed):
                said.append(f"{goal}: these trials show no difference that more trials could certify.{one.caption()}")
                continue
            said.append(
                f"{goal}: {_count(one.needed)} trials of each would certify the difference with "
                f"{100 * self.power:g} % power ({_range(one)}, the pilot says; "
                f"{100 * one.now:.0f} % power with {_both(one.pilot)}).{one.caption()}"
            )
        said.extend(f"{family}: {one}" for family, one in self.problems)
        said.extend(f"{family}, {stratum}: no plan, since {why}." for family, stratum, why in self.unplanned)
        if not self.horizons:
            return tuple(said)
        shown = ", ".join(f"{n} with {size}" for size, n in self.horizons)
        said.append(f"Exact {level} bands limit the median curve on its best side up to n = {shown} trials.")
        return tuple(said)

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def to_dict(self) -> dict[str, Any]:
        """The form that ``--json`` prints; what is out of reach is None."""
        document: dict[str, Any] = plain(
            {
                "widths": [{"family": family} | one.to_dict() for family, one in self.widths],
                "separations": [
                    {"families": [first, second]} | one.to_dict() for first, second, one in self.separations
                ],
                "problems": [
                    {
                        "family": family,
                        "n": one.n,
                        "error": one.error,
                        "target": one.target,
                        "n_groups": one.n_groups,
                        "groups_needed": one.groups_needed,
                        "samples_needed": one.samples_needed,
                    }
                    for family, one in self.problems
                ],
                "unplanned": [
                    {"family": family, "stratum": stratum, "reason": why} for family, stratum, why in self.unplanned
                ],
                "horizons": [{"n_trials": size, "n": n} for size, n in self.horizons],
                "confidence": self.confidence,
                "power": self.power,
                "seed": self.seed,
                "sentences": list(self.sentences),
                "warnings": [caution.to_dict() for caution in self.cautions],
            }
        )
        return document


def _count(value: float) -> str:
    return f"{value:.0f}" if math.isfinite(value) else "unlimited"


def _range(one: Needed) -> str:
    if math.isfinite(one.high):
        return f"between {one.low:.0f} and {one.high:.0f}"
    return f"at least {one.low:.0f}, perhaps never"


def _both(pilot: tuple[int, ...]) -> str:
    return f"{pilot[0]}" if pilot[0] == pilot[-1] else f"{pilot[0]} and {pilot[-1]}"


def plan_trials(
    trials: Trials,
    *,
    n: int = 10,
    width: float | None = None,
    power: float = 0.8,
    baseline: str | None = None,
    confidence: float = 0.95,
    failed: str = "worst",
    missing: str = "refuse",
    n_resamples: int = 2_000,
    rng: int | None = 0,
) -> TrialPlan:
    """How many trials until intervals are narrow enough, and until families are separated, from these trials as pilot.

    ``width`` is the width wanted of the interval for the expected best of ``n`` (default: half the present one). With
    several families: trials of each to certify their difference at ``n`` with ``power``. Where trials belong to
    problems: how many problems, or samples of each.
    """
    n = _check.as_count(n, "n")
    if not 0 < power < 1:
        raise InputError(f"power must lie in (0, 1), got {power}; 0.8 is the usual choice")
    confidence = _check.as_confidence(confidence)
    options: dict[str, Any] = {"confidence": confidence, "n_resamples": n_resamples, "rng": rng}
    options["direction"] = trials.metric.direction
    metric = trials.metric
    widths, separations, problems, unplanned = [], [], [], []
    scores = {name: trials[name].scores(failed, missing=missing) for name in trials.families}
    for name, one in scores.items():
        if trials.group is not None:
            mine = trials[name]
            for label in ("", *sorted(set(mine.strata))):
                try:
                    plan_of = _for_problems(mine, one, label, n, width, confidence)
                except (DataError, InputError) as error:
                    if not label:
                        raise
                    unplanned.append((name, label, str(error).removeprefix(f"{name}: ")))
                    continue
                problems.append((f"{name}, {label}" if label else name, plan_of))
            continue
        goal = width
        if goal is None:
            first = trials_for_width(one.selection, n, 1.0, reported=one.reported, **options | {"n_resamples": 200})
            goal = first.now / 2
        widths.append((name, trials_for_width(one.selection, n, goal, reported=one.reported, **options)))
    if len(scores) > 1 and trials.group is None:
        plan = make_plan(trials, baseline)
        for a, b in plan.pairs:
            both = [Sample(scores[plan.names[i]].selection, scores[plan.names[i]].reported) for i in (a, b)]
            shared: dict[str, Any] = {"n_pairs": len(plan.pairs), "bounds": metric.bounds}
            found = trials_to_separate(both[0], both[1], n, power=power, **shared, **options)
            separations.append((plan.names[a], plan.names[b], found))
    elif baseline is not None:
        make_plan(trials, baseline)
    sizes = sorted({*_SIZES, *(one.n_trials for one in scores.values() if 2 <= one.n_trials <= 1000)})
    said = [caution for caution in trials.cautions if caution.code not in ("no-reported",)]
    return TrialPlan(
        widths=tuple(widths),
        separations=tuple(separations),
        problems=tuple(problems),
        horizons=() if trials.group is not None else tuple((size, horizon(size, confidence)) for size in sizes),
        confidence=confidence,
        power=power,
        score=metric.reported or metric.selection,
        seed=rng,
        cautions=tuple(said),
        unplanned=tuple(unplanned),
    )


def _for_problems(
    trials: Trials, scores: Scores, stratum: str, n: int, width: float | None, confidence: float
) -> GroupPlan:
    """The plan for one family's problems, or for those of one stratum."""
    from scipy.special import ndtri

    assert trials.group is not None
    groups, selection, reported = trials.group[scores.rows], scores.selection, scores.reported
    if stratum:
        inside = np.flatnonzero(np.array(trials.strata)[groups] == stratum)
        groups, selection = groups[inside], selection[inside]
        reported = None if reported is None else reported[inside]
    sizes = np.bincount(groups)
    if n > sizes.max():
        raise too_few_samples(trials.families[0], sizes[sizes > 0], n, trials.columns.get("group"))
    z = float(ndtri((1 + confidence) / 2))
    weights = None if trials.weights is None else trials.weights[np.unique(groups)]
    options: dict[str, Any] = {"direction": trials.metric.direction, "others": [1], "weights": weights}
    target = 1.0 if width is None else width / (2 * z)
    found = plan_groups(selection, groups, n, reported, target=target, **options)
    if width is None:
        found = plan_groups(selection, groups, n, reported, target=found.error / 2, **options)
    return found
