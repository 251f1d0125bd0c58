"""Plans and next steps in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from levelbest.errors import called, named
from levelbest.report.words.phrases import HOPELESS, counted, forecast, level, plural, shortened
from levelbest.report.words.spending import (
    divided_sentences,
    is_open,
    problem_plan_words,
    spent_words,
    stopping_sentence,
    total_sentence,
)
from levelbest.report.words.verdicts import effect_words
from levelbest.results import Comparison, DividedRuns, PairComparison, TrialPlan
from levelbest.results.verdict import leading_spans
from levelbest.stats.budgets import Division, Needed
from levelbest.stats.inference import MOST_PLANNED
from levelbest.stats.problems import GroupPlan

_LEAST_PILOT = 8
RETRAINED = 5
"""Fresh seeds with which the best of one search is trained again."""


def plan_sentences(plan: TrialPlan) -> tuple[str, ...]:
    """What to do: first what it takes to tell families apart, then narrower intervals."""
    sentences = [_separation(plan, first, second, needed) for first, second, needed in plan.separations]
    sentences += [_width(plan, family, needed) for family, needed in plan.widths]
    sentences += [f"{family}: {problem_plan_words(for_problems)}" for family, for_problems in plan.problems]
    sentences += [f"{_of(*which)}: no plan, since {why}." for *which, why in plan.unplanned]
    sentences += capped_sentence(plan) + total_sentence(plan) + stopping(plan)
    sentences += divided_sentences(plan)
    sentences += [_divided(division) for division in plan.divisions]
    sentences += [_division_power(*pair) for pair in plan.division_powers]
    if plan.horizons:
        shown = ", ".join(f"{n} of {size}" for size, n in plan.horizons)
        sentences.append(f"The median curve has exact {level(plan.confidence)} limits on both sides up to n = {shown}.")
    return tuple(sentences)


def stopping(plan: TrialPlan) -> list[str]:
    """When to stop."""
    return stopping_sentence(plan, _units(plan), _each(plan))


def capped_sentence(plan: TrialPlan) -> list[str]:
    """Where the pilot is too small for the budget that was asked for."""
    planned = [needed for _, _, needed in plan.separations] + [needed for _, needed in plan.widths]
    capped = next((needed for needed in planned if needed.capped), None)
    if capped is None:
        return []
    reach = f"{plural(min(capped.pilot), plan.words.planned)} allow n up to a quarter of their number"
    return [f"Planned for n = {capped.n}, not {capped.asked}: {reach}."]


def plan_summary(plan: TrialPlan) -> str:
    """One sentence: which pairs can be told apart now, which with how many more, which not."""
    parts = [*_about_pairs(plan), *_about_problems(plan)]
    if not parts:
        parts = [_width(plan, family, needed).rstrip(".") for family, needed in plan.widths[:1]]
    return f"{'; '.join(parts)}." if parts else "There is nothing to plan."


def _about_pairs(plan: TrialPlan) -> list[str]:
    units = _units(plan)
    enough: list[tuple[str, float]] = []
    more: list[tuple[str, float]] = []
    few: list[tuple[str, float]] = []
    never: list[tuple[str, float]] = []
    unknown: list[tuple[str, float]] = []
    for first, second, needed in plan.separations:
        by_code = {"small": never, "unknown": unknown}
        kind = enough if _is_enough(needed) else few if is_open(needed) else by_code.get(needed.code, more)
        kind.append((f"{first} and {second}", needed.needed))
    numbers = list(dict.fromkeys(forecast(number) for _, number in sorted(more, key=lambda pair: pair[1])))
    many = f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else "".join(numbers)
    return [
        f"{pairs[0][0] if len(pairs) == 1 else f'{len(pairs)} pairs'} {words}"
        for pairs, words in (
            (enough, f"can be told apart with the present {units}"),
            (more, f"would need about {many} {units}{_each(plan)}"),
            (few, f"have too few {units} to say how many it takes"),
            (never, f"differ too little for {forecast(MOST_PLANNED)} {units}{_each(plan)}"),
            (unknown, "have no spread to plan from"),
        )
        if pairs
    ]


def _about_problems(plan: TrialPlan) -> list[str]:
    goals: dict[str, list[str]] = {}
    for family, each in plan.problems:
        if each.error > each.target:
            halved = math.isclose(2 * each.target, each.error, rel_tol=1e-6)
            error = "half the standard error" if halved else f"a standard error of {each.target:.2g}"
            goals.setdefault(f"{_more_problems(each)} for {error}", []).append(family)
    parts = [f"{shortened(names)} {'needs' if len(names) == 1 else 'need'} {goal}" for goal, names in goals.items()]
    met = [family for family, each in plan.problems if 0 < each.error <= each.target]
    parts += [f"{shortened(met)}: nothing more is needed"] if met else []
    alike = [family for family, each in plan.problems if each.error == 0]
    parts += [f"{shortened(alike)}: all problems have the same value, nothing to plan from"] if alike else []
    return parts


def _more_problems(plan: GroupPlan) -> str:
    samples = "" if plan.samples_needed is None else f", or {plan.samples_needed} samples of each"
    return f"{plan.groups_needed} problems{samples}"


def plan_rows(plan: TrialPlan) -> list[list[str]]:
    """A row for each pair and family: what there is, what is needed, and what for."""
    rows: list[list[str]] = []
    for first, second, needed in plan.separations:
        present = " and ".join(dict.fromkeys(map(str, needed.pilot)))
        present = present if plan.words.planned == plan.words.unit else f"{present} {_units(plan)}"
        now = "decided" if needed.decided else f"now {100 * needed.now:.0f} %"
        goal = f"tell apart at n = {needed.n}, {now}" if needed.code != "unknown" else "no standard error"
        if plan.words.group and math.isfinite(needed.detectable):
            goal = f"{goal}; shows {needed.detectable:.2g}"
        rows.append([f"{first} and {second}", present, _needed(needed), goal])
    for family, needed in plan.widths:
        goal = f"width {needed.goal:.2g} at n = {needed.n}, now {needed.now:.2g}"
        rows.append([family, str(needed.pilot[0]), _needed(needed), goal])
    for family, planned in plan.problems:
        goal = f"standard error {planned.target:.2g} at n = {planned.n}, now {planned.error:.2g}"
        more, goal = (_more_problems(planned), goal) if planned.error > 0 else ("no plan", f"alike at n = {planned.n}")
        rows.append([family, plural(planned.n_groups, "problem"), more, goal])
    rows += [[_of(*which), "", "no plan", why] for *which, why in plan.unplanned]
    for runs in plan.divisions:
        errors = f"standard error {runs.precise.error:.2g}, now {runs.now.error:.2g}"
        rows.append([runs.family, _way(runs.now), _way(runs.precise), errors])
        score = f"new run of the best {runs.new_run(runs.finding):.4g}, now {runs.new_run(runs.now):.4g}"
        rows.append([runs.family, _way(runs.now), _way(runs.finding), score])
    return rows


def _needed(needed: Needed) -> str:
    """``51 (12 to 1,300)``: the number, and what so few trials leave open; or that alone."""
    if needed.code == "unknown":
        return "no plan"
    if _is_enough(needed):
        return "enough"
    if is_open(needed):
        return open_words(needed)
    if needed.code == "small" or not math.isfinite(needed.needed):
        return f"over {forecast(MOST_PLANNED)}" if needed.code else "out of reach"
    if not math.isfinite(needed.low):
        return forecast(needed.needed)
    return f"{forecast(needed.needed)} ({open_words(needed)})"


def open_words(needed: Needed) -> str:
    """``20 to 400``, ``20 or more``: what a pilot leaves open; where it is too small, not fewer than it has."""
    low = forecast(max(needed.low, *needed.pilot) if is_open(needed) else needed.low)
    if needed.high > MOST_PLANNED:
        return f"{low} or more"
    return low if low == forecast(needed.high) else f"{low} to {forecast(needed.high)}"


def _units(plan: TrialPlan) -> str:
    """What is planned, in the plural."""
    words = plan.words
    return words.units if words.planned == words.unit else plural(2, words.planned, " ").strip()


def _each(plan: TrialPlan) -> str:
    """Both families have the same problems."""
    return "" if plan.words.group else " of each"


def _of(family: str, stratum: str) -> str:
    return f"{family}, {stratum}" if stratum else family


def _width(plan: TrialPlan, family: str, needed: Needed) -> str:
    now = f"{family}: the {level(plan.confidence)} interval of the best of {needed.n} is {needed.now:.2g} wide"
    now += f" with {plan.words.count(needed.pilot[0])}"
    if not math.isfinite(needed.needed):
        return f"{now}; {needed.goal:.2g} is out of reach."
    return f"{now}; about {forecast(needed.needed)} would make it {needed.goal:.2g}."


def _separation(plan: TrialPlan, first: str, second: str, needed: Needed) -> str:
    of = f"{first} and {second}{_at(plan, needed.n)}"
    units, each = _units(plan), _each(plan)
    present = " and ".join(dict.fromkeys(f"{count}" for count in needed.pilot))
    if needed.code == "unknown":
        return f"{of}: {present} {units} have no standard error to plan from."
    if _is_enough(needed):
        of_each = each if len(set(needed.pilot)) == 1 else ""
        are = f"{present} {units}{of_each} decide it" if needed.decided else f"{present} {units}{of_each} are enough"
        return f"{of}: {are}; such a study tells them apart {_often(needed.now)}."
    if is_open(needed):
        little = "are too few to plan from" if needed.code == "few" else "leave open which is better"
        return f"{of}: {present} {units} {little}; it may take {open_words(needed)}{each}. {_seen(needed)}"
    if needed.code == "small":
        largest = f"even the largest difference that {present} {units} leave open would need"
        return f"{of}: {largest} {forecast(needed.low)}{each}; take either, or the cheaper."
    many = f"about {forecast(needed.needed)} {units}{each} would tell them apart {_often(plan.power)}"
    open_ = f"averaged over the differences that {present} leave open ({open_words(needed)}, whichever it is)"
    words = spent_words(plan, first, second, needed)
    spent = f" Those still to be run cost {words}." if words else ""
    return f"{of}: {many}, {open_}; {present} do {_often(needed.now)}.{spent} {_seen(needed)}"


def _at(plan: TrialPlan, n: int) -> str:
    return f", {plan.words.single}" if plan.words.single else f" with {plan.words.count(n)}"


def _seen(needed: Needed) -> str:
    """The difference that as many units as there are would show, over all budgets and at one named in advance."""
    named_alone = f", of {needed.detectable_named:.2g} at a budget named in advance"
    named_alone = named_alone if math.isfinite(needed.detectable_named) else ""
    return f"The present number would show a difference of {needed.detectable:.2g} {_often(needed.goal)}{named_alone}."


def _divided(plan: DividedRuns) -> str:
    """More configurations or more seeds, for the mean and for finding a good configuration."""
    now, precise, finding = plan.now, plan.precise, plan.finding
    if not finding.new_run > 0:
        return (
            f"{plan.family}: configurations cannot be distinguished from the luck of seeds, so more of either helps "
            f"equally."
        )
    of_runs = f"{plan.family}, more configurations or more seeds: with {plan.ways[0].runs} runs,"
    error = f"a standard error of {precise.error:.2g}, against {now.error:.2g} with {_way(now)} as now"
    score = f"a new run of it is expected to score {plan.new_run(finding):.4g}, against {plan.new_run(now):.4g}"
    aim = f"find the best configuration ({score}, if effects are normal)"
    if precise == finding:
        return f"{of_runs} {_way(precise)} give the most precise mean best ({error}) and {aim}."
    return f"{of_runs} {_way(precise)} give the most precise mean best ({error}), and {_way(finding)} {aim}."


def _division_power(first: str, second: str, powers: Sequence[tuple[Division, float]]) -> str:
    (now, power), *others = powers
    sentence = (
        f"{first} and {second}, the means of random configurations: {_way(now)} of each tell them apart {_often(power)}"
    )
    best, most = max(others, key=lambda way: way[1], default=(now, power))
    return f"{sentence}, {_way(best)} {_often(most)}." if most > power + 0.005 else f"{sentence}."


def _way(way: Division) -> str:
    return f"{way.configurations} x {plural(way.seeds, 'seed')}"


def _is_enough(needed: Needed) -> bool:
    """The pilot has decided; or it has as many of both families, or more of one that make up for the other's."""
    many = needed.needed <= min(needed.pilot) or (len(needed.pilot) > 1 and needed.now >= needed.goal)
    return needed.decided or (many and not needed.code)


def _often(share: float) -> str:
    return f"in {100 * share:.0f} of 100 cases"


@dataclass(frozen=True)
class Step:
    """One thing to do: what, the call that does it (none where it is not a call), and why."""

    text: str
    command: str = ""
    why: str = ""


def next_steps(comparison: Comparison, *, reported: bool = False) -> tuple[Step, ...]:
    """At most three things to do, the most urgent first; ``reported``: a report is being written."""
    reasons = {verdict.reason for pair in comparison.pairs for verdict in pair.verdicts}
    again = Step(
        f"Or repeat each search with other seeds, at least 3 times, and name what tells them apart ({named('search')})"
    )
    if comparison.best_found:
        text = (
            f"Retrain the best of each with {RETRAINED} fresh seeds: put your training command into the study that the "
            "report writes, retrain.yaml beside its tables, then levelbest run retrain.yaml, and levelbest compare "
            "retrain.db"
        )
        return (Step(text, "" if reported else called("write_report"), ""), again)
    if reasons & {"adaptive", "few-searches"}:
        text = "Repeat each search with other seeds, at least 3 times, and name the column that distinguishes them"
        return (Step(f"{text} ({named('search')})", why="one adaptive search is one observation"),)
    return tuple([*_failures(comparison), *_deciding(comparison), *_budget(comparison), *_bounds(comparison)][:3])


def _budget(comparison: Comparison) -> list[Step]:
    """Where the choice of n is the choice of the winner, how to choose it ([B] 3.3)."""
    terms = comparison.terms
    apart = comparison.baseline is not None and len(comparison.pairs) > 1  # rivals are not compared with each other
    if terms.named or terms.over_cost or terms.words.single or apart:
        return []
    if len({span.best for span in leading_spans(comparison) if span.best is not None}) < 2:
        return []
    text = f"Say which budget your readers have ({named('headline')})"
    return [Step(text, why="which family is best depends on it")]


def _bounds(comparison: Comparison) -> list[Step]:
    """Scores between 0 and 1, or in percent, may have these bounds: only their owner knows."""
    terms = comparison.terms
    least, greatest = comparison.observed or (math.nan, math.nan)
    percent = terms.metric.natural == (0.0, 100.0)
    if terms.metric.bounds != (None, None) or not 0 <= least <= greatest <= (100 if percent else 1):
        return []
    highest = 100 if percent else 1
    text = f"If {terms.metric.score} always lies between 0 and {highest}, say so"
    why = "intervals then need fewer assumptions"
    return [Step(text, called("compare", bounds=(0, highest)), why)]


def _failures(comparison: Comparison) -> list[Step]:
    """A verdict that hangs on how failures count is looked at first."""
    changed = [pair for pair in comparison.pairs if pair.survives is False]
    if not changed:
        return []
    terms = comparison.terms
    # limits of a pair hold for all pairs together, so that it may hang on the failures of families beyond it
    concerned = changed if all(map(any, (pair.n_failed for pair in changed))) else comparison.pairs
    lost = {name: n for pair in concerned for name, n in zip(pair.families, pair.n_failed, strict=True) if n}
    other = terms.settings.other_policy.failed
    which = "the verdict" if len(comparison.pairs) == 1 else f"{plural(len(changed), 'verdict')}"
    return [
        Step(
            f"Look at the failed {terms.words.parts} of {shortened(list(lost))}",
            called("compare", failed=other),
            f"{counted(other)}, they would change {which}",
        )
    ]


def _deciding(comparison: Comparison) -> list[Step]:
    """How many further trials would decide between the first and the next that may be the best, at the budget shown."""
    terms = comparison.terms
    leading = set(comparison.possible_best) if len(comparison.pairs) > 1 else set(comparison.families)
    order = [standing.family for standing in comparison.standings] or list(comparison.families)
    first, *others = [name for name in order if name in leading] or order
    between = [pair for name in others for pair in comparison.pairs if set(pair.families) == {first, name}]
    pair = next((pair for pair in between if pair.effect.winner is None and not pair.effect.negligible), None)
    if pair is None:
        return []
    if not (pair.basis == "gaffke" or pair.further > 0 or (pair.needed is not None and pair.needed.code == "few")):
        return []
    budget = int(pair.effect.budget)
    where = "" if terms.words.single else f"at {terms.words.count(budget)} "
    return [_further(pair, where, budget), *_named_first(pair, budget)]


def _named_first(pair: PairComparison, budget: int) -> list[Step]:
    """What naming the budget before the next study is worth, in the difference that it shows."""
    needed, words = pair.needed, pair.terms.words
    if needed is None or pair.terms.named or not needed.detectable_named < needed.detectable:
        return []
    alone = f"a difference of {needed.detectable_named:.2g} at {words.count(budget)} alone"
    shown = f"as many {words.units} then show {alone}, instead of {needed.detectable:.2g} over all budgets"
    return [Step(f"Name the budget before the next study: {shown}", "", "")]


def _further(pair: PairComparison, where: str, budget: int) -> Step:
    words = pair.terms.words
    unit = words.planned
    names = f"{pair.families[0]} or {pair.families[1]}?"
    present = min(pair.needed.pilot) if pair.needed is not None else pair.terms.n_groups or min(pair.n_trials)
    # a plan refuses a smaller pilot of trials, and speaks of further problems and of pass@k alone
    refused = present < _LEAST_PILOT and not pair.terms.words.single and pair.terms.n_groups is None
    refused |= words.planned != words.group != "" or pair.terms.statistic in ("all", "majority")
    plan = "" if refused else called("plan_trials", n=budget)
    each = "" if words.group else " of each"
    if pair.basis == "gaffke":  # nothing is known of how many
        return Step(f"{names} Run more: intervals from the bounds alone need {plural(2, unit, 'far more')}", "", "")
    code = "" if pair.needed is None else pair.needed.code
    if pair.needed is not None and code == "few":
        known = pair.needed.low > present  # otherwise nothing is known of how many
        more = f"Run more: in all perhaps {plural(2, unit, open_words(pair.needed))}{each}"
        text = f"{names} {more if known else f'Add more {plural(2, unit)[2:]}{each}'}"
        return Step(text, plan, f"{plural(present, unit)} are too few to plan from")
    if math.isfinite(pair.further) and pair.further <= HOPELESS * present:
        many = plural(1 if pair.further <= 1 else 2, unit, f"{forecast(pair.further)} more")
        return Step(f"{names} About {many}{each} would probably decide", plan, "")
    many = plural(2, unit, f"{HOPELESS * present:,} more")
    text = f"{names} Even {many}{each} would hardly decide"
    if code != "small":  # what was observed does not say so
        text = f"{names} It may take more than {many}{each}"
    effect = pair.effect if pair.effect.difference >= 0 else pair.effect.mirrored()
    if not math.isfinite(effect.low + effect.high):
        return Step(text, plan, f"{where}the difference observed is too small")
    # limits narrow with the square root of the number of trials
    halve = f"{3 * present:,} would about halve its interval"
    return Step(text, plan, f"{where}the difference observed is {effect_words(effect)}; {halve}")
