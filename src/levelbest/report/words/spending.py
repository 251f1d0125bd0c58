"""Sentences about the cost of a plan, when to stop, and how to divide a spend into problems and samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from levelbest._plain import show_cost
from levelbest.errors import named
from levelbest.report.words.phrases import HOPELESS, forecast, plural
from levelbest.results import TrialPlan
from levelbest.results.plan import Range
from levelbest.stats.budgets import Needed
from levelbest.stats.problems import GroupPlan, SpendWay

_LATER = 4
"""Where the number is open: so many times the trials there are halve the difference that would show."""


def is_open(needed: Needed) -> bool:
    """Too few units to plan from, or a difference so near zero that the number hangs on how near."""
    far = len(needed.pilot) > 1 and HOPELESS * max(needed.pilot) < needed.needed < math.inf
    return needed.code in ("few", "open") or (not needed.code and far)


def undecided_pairs(plan: TrialPlan) -> list[tuple[str, str, Needed]]:
    """Those that more units may decide."""
    return [pair for pair in plan.separations if not (pair[2].decided or pair[2].code in ("small", "unknown"))]


def spending_rows(plan: TrialPlan) -> list[list[str]]:
    """For each pair, and for all of them, what the units still to be run cost, in the unit of cost and in money."""
    pairs = undecided_pairs(plan) if plan.costs else []
    rows = [[f"{first} and {second}", plan.further_cost(first, second), [needed]] for first, second, needed in pairs]
    if len(pairs) > 1:
        rows.append(["all pairs", plan.further_total, [needed for *_, needed in pairs]])
    return [[str(name), *_spent(plan, spent, several)] for name, spent, several in rows]  # type: ignore[arg-type]


def _spent(plan: TrialPlan, spent: Range, needed: Sequence[Needed]) -> list[str]:
    value, low, high = spent
    value = math.nan if any(map(is_open, needed)) else value
    shown = [_range((value, low, high), lambda cost: show_cost(_rounded(cost), plan.cost_unit))]
    if plan.price is not None:
        money = plan.money(value), plan.money(low), plan.money(high)
        shown.append(_range(money, lambda amount: f"{forecast(amount)} {plan.currency}"))
    return shown


def spent_words(plan: TrialPlan, first: str, second: str, needed: Needed) -> str:
    """``230 GPU h (60 GPU h to 900 GPU h), 580 EUR (...)``; nothing where costs are not known."""
    return ", ".join(dict.fromkeys(_spent(plan, plan.further_cost(first, second), [needed]))) if plan.costs else ""


def total_sentence(plan: TrialPlan) -> list[str]:
    """What all pairs cost together."""
    rows = spending_rows(plan)
    spent = ", ".join(dict.fromkeys(rows[-1][1:])) if len(rows) > 1 else ""
    return [f"All pairs together: those still to be run cost {spent}."] if spent else []


def _range(spent: Range, shown: Callable[[float], str]) -> str:
    value, low, high = spent
    if not (math.isfinite(value) or math.isfinite(high) or low > 0):
        return "unknown from so small a pilot"
    ends = f"{shown(low)} {f'to {shown(high)}' if math.isfinite(high) else 'or more'}"
    return f"{shown(value)} ({ends})" if math.isfinite(value) else ends


def _rounded(cost: float) -> float:
    """Two digits, as forecasts have."""
    return float(f"{cost:.2g}") if math.isfinite(cost) else cost


def stopping_sentence(plan: TrialPlan, units: str, each: str) -> list[str]:
    """When to stop at the latest; what that costs, what one comparison detects then, and how to stop earlier.

    The latest are the units planned; where their number is open, four times those there are.

    NOTE: limits that are valid at every look decided .80 of 60 studies of two families of 32, 60 and 120 normal scores
    (n = 1, looked at after every trial) at 2.8 times the difference that one comparison detects so often.
    """
    pairs = undecided_pairs(plan)
    if not pairs:
        return []
    last = max(_LATER * max(needed.pilot) if is_open(needed) else needed.needed for *_, needed in pairs)
    further: dict[str, float] = {}
    for first, second, needed in pairs:
        for name, size in zip((first, second), needed.pilot, strict=True):
            further[name] = max(last - size, 0.0)
    costs = dict(plan.costs)
    cost = sum(number * costs.get(name, math.nan) for name, number in further.items())
    spent = [show_cost(_rounded(cost), plan.cost_unit)] if math.isfinite(cost) else []
    spent += [f"{forecast(plan.money(cost))} {plan.currency}"] if math.isfinite(plan.money(cost)) else []
    seen = max(needed.detectable * math.sqrt(max(needed.pilot) / last) for *_, needed in pairs)
    shown = f"a difference of {seen:.2g} in {100 * plan.power:.0f} of 100 cases" if math.isfinite(seen) else ""
    after = f" (another {', '.join(spent)})" if spent else ""
    latest = f"{forecast(last)} {units}"
    if plan.words.group:  # there are no limits that are valid at every look
        return [f"Compare once, at the end, after {latest}{after}{f', which would show {shown}' if shown else ''}."]
    once = f"compare once then, to detect {shown}" if shown else "compare once then"
    early = f"{named('while_running')}, {named('headline', pairs[0][2].n)} and {named('statistic', 'median')}"
    return [
        f"When to stop: at the latest after {latest}{each}{after}; {once}. To stop earlier, look only with {early}: "
        "these limits are valid at every look, but detect only differences about three times as large."
    ]


def way_rows(plan: TrialPlan) -> list[list[str]]:
    """Of each pair and way to divide a spend: problems x samples, what they cost, and what they would show.

    Pairs that are decided stand at the end.
    """
    open_pairs = {(first, second) for first, second, _ in undecided_pairs(plan)}
    ordered = sorted(plan.ways, key=lambda pair: (pair[0], pair[1]) not in open_pairs)
    return [
        [
            f"{first} and {second}",
            f"{way.problems:,} x {way.samples}",
            *([] if plan.spend is None else [show_cost(way.spend, plan.cost_unit)]),
            f"{way.detectable:.2g}",
            f"{way.power:.0%}",
        ]
        for first, second, ways in ordered
        for way in ways
    ]


def spend_words(plan: TrialPlan) -> str:
    """What is divided: ``20 $`` or ``400 samples of each``."""
    return f"{plan.samples:,} samples of each" if plan.spend is None else show_cost(plan.spend, plan.cost_unit)


def divided_sentences(plan: TrialPlan) -> list[str]:
    """For each pair, the ways to divide a spend."""
    return [_divided_spend(plan, *pair) for pair in plan.ways]


def _divided_spend(plan: TrialPlan, first: str, second: str, ways: Sequence[SpendWay]) -> str:
    """Problems by samples of each; more problems tell more, and the problems there are may be all there are."""
    of = f"{first} and {second}, {spend_words(plan)} to divide"
    if not ways:
        return f"{of}: too little for ten problems."
    best = min(ways, key=lambda way: way.detectable)
    shown = f"{best.problems:,} problems with {plural(best.samples, 'sample')} of each show a difference of"
    others = [f"{way.problems:,} x {way.samples} show {way.detectable:.2g}" for way in ways if way is not best]
    rest = f"; {', '.join(others)}" if others else ""
    return f"{of}: {shown} {best.detectable:.2g} in {100 * plan.power:.0f} of 100 cases{rest}."


def problem_plan_words(plan: GroupPlan) -> str:
    """More problems, or more samples of each."""
    now = (
        f"At n = {plan.n} the average over {plan.n_groups} problems of {plan.samples:g} samples has a standard error "
        f"of {plan.error:.3g}; the target is {plan.target:.3g}."
    )
    if plan.error == 0:
        return (
            f"At n = {plan.n} all {plan.n_groups} problems have the same value, so that they cannot show how problems "
            "differ, and a standard error of 0 is not credible: plan for another n, or from more problems."
        )
    if plan.error <= plan.target:
        return f"{now} The target is met: nothing more is needed."
    if math.isnan(plan.floor):
        samples = (
            f"The gain from more samples cannot be estimated at n = {plan.n}, which is all that some problem has: plan "
            "for a smaller n."
        )
    elif plan.samples_needed is None:
        left = f"{plan.floor:.3g} would remain even with unlimited samples"
        samples = f"More samples of the same problems do not suffice: {left}."
    else:
        samples = f"More samples: {plan.samples_needed} of each problem, with the same problems."
    shown = ", ".join(f"{k}: {error:.3g}" for k, error in plan.errors if math.isfinite(error))
    more = f"More problems: {plan.groups_needed} in all, with as many samples each."
    return f"{now} {more} {samples} Standard error by n: {shown}."
