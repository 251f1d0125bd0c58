"""What to do next: the call that would decide it, the option that would sharpen it, the doubt to look at first."""

from __future__ import annotations

import math
from dataclasses import dataclass

from levelbest.errors import called, named
from levelbest.report.leaders import leading_spans
from levelbest.report.words.phrases import HOPELESS, counted, forecast, plural, shortened
from levelbest.report.words.verdicts import effect_words
from levelbest.results import Comparison, PairComparison


@dataclass(frozen=True)
class Step:
    """One thing to do: what, the call that does it (none where it is not a call), and why."""

    text: str
    command: str = ""
    why: str = ""


def next_steps(comparison: Comparison) -> tuple[Step, ...]:
    """At most three things to do, the most urgent first."""
    reasons = {verdict.reason for pair in comparison.pairs for verdict in pair.verdicts}
    if reasons & {"adaptive", "few-searches"}:
        text = "Repeat each search with other seeds, at least 3 times, and name the column that tells them apart"
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
    text = f"Name the budget that your readers have ({named('headline')})"
    why = f"the best changes with it; say 50 {terms.words.units} of a minute, 5 of an hour, 1 of a day"
    return [Step(text, why=why)]


def _bounds(comparison: Comparison) -> list[Step]:
    """Scores between 0 and 1 may have these bounds: only their owner knows."""
    terms = comparison.terms
    least, greatest = comparison.observed or (math.nan, math.nan)
    if terms.metric.bounds != (None, None) or not 0 <= least <= greatest <= 1:
        return []
    text = f"If no {terms.metric.score} can lie beyond 0 and 1, say so ({named('bounds')})"
    return [Step(text, why="limits can then do with fewer assumptions")]


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
    if pair is None or not pair.further > 0:
        return []
    budget = int(pair.effect.budget)
    where = "" if terms.words.single else f" at {terms.words.count(budget)}"
    return [_further(pair, where, budget, leading)]


def _further(pair: PairComparison, where: str, budget: int, leading: set[str]) -> Step:
    words = pair.terms.words
    unit = words.planned
    names = f"{pair.families[0]} and {pair.families[1]}"
    plan = called("plan_trials", n=budget)
    present = pair.terms.n_groups or min(pair.n_trials)
    each = "" if words.group else f" of {'each' if len(leading) > 2 else 'both'}"
    if math.isfinite(pair.further) and pair.further <= HOPELESS * present:
        many = plural(2, unit, f"{forecast(pair.further)} further")
        text = f"About {many}{each} would probably decide between {names}{where}, if the difference is as observed"
        rough = words.rough and not pair.paired  # pairs are planned for by the same rule
        return Step(text, plan, "a rough number, which the plan tries out" if rough else "")
    many = plural(2, unit, f"{HOPELESS * present:,} further")
    text = f"Even {many}{each} would hardly decide between {names}{where}"
    effect = pair.effect if pair.effect.difference >= 0 else pair.effect.mirrored()
    if not math.isfinite(effect.low + effect.high):
        return Step(text, plan, "the difference observed is too small")
    # limits narrow with the square root of the number of trials
    halve = f"{3 * present:,} would about halve its limits"
    return Step(text, plan, f"the difference observed is {effect_words(effect)}; {halve}")
