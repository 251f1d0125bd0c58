"""Plans in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from levelbest.report.words.phrases import level, plural
from levelbest.results import DividedRuns, TrialPlan
from levelbest.stats.budgets import Division, Needed
from levelbest.stats.problems import GroupPlan

_HOPELESS = 20
"""So many times the trials there are: more is not worth a number."""


def plan_sentences(plan: TrialPlan) -> tuple[str, ...]:
    """What to do: first what it takes to tell families apart, then narrower intervals."""
    sentences = [_separation(plan, first, second, needed) for first, second, needed in plan.separations]
    sentences += [_width(plan, family, needed) for family, needed in plan.widths]
    sentences += [f"{family}: {problem_plan_words(for_problems)}" for family, for_problems in plan.problems]
    sentences += [f"{family}, {stratum}: no plan, since {why}." for family, stratum, why in plan.unplanned]
    planned = [needed for _, _, needed in plan.separations] + [needed for _, needed in plan.widths]
    capped = next((needed for needed in planned if needed.capped), None)
    if capped is not None:
        reach = f"{plural(min(capped.pilot), plan.unit)} can speak of n up to a quarter of their number"
        sentences.append(f"{reach}: planned for n = {capped.n}, not {capped.asked}.")
    sentences += [_divided(own) for own in plan.divisions]
    sentences += [_division_power(*pair) for pair in plan.division_powers]
    if plan.horizons:
        shown = ", ".join(f"{n} of {size}" for size, n in plan.horizons)
        sentences.append(f"The median curve has exact {level(plan.confidence)} limits on both sides up to n = {shown}.")
    return tuple(sentences)


def problem_plan_words(plan: GroupPlan) -> str:
    """More problems, or more samples of each."""
    now = (
        f"At n = {plan.n} the average over {plan.n_groups} problems of {plan.samples:g} samples has a standard error "
        f"of {plan.error:.3g}; the target is {plan.target:.3g}."
    )
    if plan.error == 0:
        return (
            f"At n = {plan.n} all {plan.n_groups} problems have the same value, so that they cannot show how problems "
            "differ, and a standard error of 0 is not to be believed: plan for another n, or from more problems."
        )
    if plan.error <= plan.target:
        return f"{now} The target is met: nothing more is needed."
    if math.isnan(plan.floor):
        samples = (
            f"What more samples would bring cannot be told at n = {plan.n}, which is all that some problem has: plan "
            "for a smaller n."
        )
    elif plan.samples_needed is None:
        left = f"{plan.floor:.3g} would be left with unlimited samples"
        samples = f"More samples of the same problems do not suffice: {left}."
    else:
        samples = f"More samples: {plan.samples_needed} of each problem, with the same problems."
    shown = ", ".join(f"{k}: {error:.3g}" for k, error in plan.errors if math.isfinite(error))
    more = f"More problems: {plan.groups_needed} in all, with as many samples each."
    return f"{now} {more} {samples} Standard error by n: {shown}."


def _width(plan: TrialPlan, family: str, needed: Needed) -> str:
    now = f"{family}: the {level(plan.confidence)} interval of the best of {needed.n} is {needed.now:.2g} wide"
    now += f" with {plural(needed.pilot[0], plan.unit)}"
    if _is_hopeless(needed):
        return f"{now}; {needed.goal:.2g} is out of reach."
    return f"{now}; about {_round(needed.needed)} would make it {needed.goal:.2g}."


def _separation(plan: TrialPlan, first: str, second: str, needed: Needed) -> str:
    of = f"{first} and {second} with {plural(needed.n, plan.unit)}"
    units = f"{plan.unit}s"
    present = " and ".join(dict.fromkeys(f"{count}" for count in needed.pilot))
    if _is_hopeless(needed):
        return f"{of}: any difference is too small for more {units} to show; take either, or the cheaper."
    if needed.needed <= max(needed.pilot):
        return f"{of}: {present} {units} of each are enough: such a study tells them apart {_often(needed.now)}."
    unsure = f"between {_round(needed.low)} and {_round(needed.high)}" if math.isfinite(needed.high) else ""
    unsure = unsure or f"{_round(needed.low)} or more"
    many = f"about {_round(needed.needed)} {units} of each would tell them apart {_often(plan.power)}"
    return (
        f"{of}: {many}, if the difference is as observed; {present} do {_often(needed.now)}. So few {units} leave the "
        f"number open ({unsure})."
    )


def _divided(plan: DividedRuns) -> str:
    """More configurations or more seeds, for the mean and for finding a good configuration."""
    now, precise, finding = plan.now, plan.precise, plan.finding
    if not finding.new_run > 0:
        return (
            f"{plan.family}: configurations cannot be told from the luck of seeds, so that more of either tell as much."
        )
    of_runs = f"{plan.family}, more configurations or more seeds: of {plan.ways[0].runs} runs"
    error = f"a standard error of {precise.error:.2g}, against {now.error:.2g} with {_way(now)} as now"
    score = f"a new run of it is expected to score {plan.new_run(finding):.4g}, against {plan.new_run(now):.4g}"
    found = f"find the best configuration ({score}, if effects are normal)"
    if precise == finding:
        return f"{of_runs} {_way(precise)} tell the mean best ({error}) and {found}."
    return f"{of_runs} {_way(precise)} tell the mean best ({error}), and {_way(finding)} {found}."


def _division_power(first: str, second: str, powers: Sequence[tuple[Division, float]]) -> str:
    (now, power), *others = powers
    sentence = (
        f"{first} and {second}, the means of random configurations: {_way(now)} of each tell them apart {_often(power)}"
    )
    best, most = max(others, key=lambda way: way[1], default=(now, power))
    return f"{sentence}, {_way(best)} {_often(most)}." if most > power + 0.005 else f"{sentence}."


def _way(way: Division) -> str:
    return f"{way.configurations} x {plural(way.seeds, 'seed')}"


def _is_hopeless(needed: Needed) -> bool:
    return not math.isfinite(needed.needed) or needed.needed > _HOPELESS * max(needed.pilot)


def _often(share: float) -> str:
    return f"in {100 * share:.0f} of 100 cases"


def _round(count: float) -> str:
    """Two significant digits are all that a forecast has."""
    size = 10 ** max(0, math.floor(math.log10(max(count, 1))) - 1)
    return f"{math.ceil(count / size) * size:,}"
