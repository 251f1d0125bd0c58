"""Plans in words."""

from __future__ import annotations

import math

from levelbest.report.words.phrases import level
from levelbest.results import TrialPlan
from levelbest.stats.budgets import Needed

__all__ = ["plan_sentences"]


def plan_sentences(plan: TrialPlan) -> tuple[str, ...]:
    """What to do."""
    sentences = [_width(plan, family, needed) for family, needed in plan.widths]
    sentences += [_separation(plan, first, second, needed) for first, second, needed in plan.separations]
    sentences += [f"{family}: {for_problems}" for family, for_problems in plan.problems]
    sentences += [f"{family}, {stratum}: no plan, since {why}." for family, stratum, why in plan.unplanned]
    if plan.horizons:
        shown = ", ".join(f"{n} with {size}" for size, n in plan.horizons)
        bands = f"Exact {level(plan.confidence)} bands"
        sentences.append(f"{bands} limit the median curve on its best side up to n = {shown} trials.")
    return tuple(sentences)


def _width(plan: TrialPlan, family: str, needed: Needed) -> str:
    return (
        f"{family}: the {level(plan.confidence)} interval for the expected best {plan.score} of {needed.n} is "
        f"{needed.now:.3g} wide with {needed.pilot[0]} trials; {_count(needed.needed)} trials would make it "
        f"{needed.goal:.3g} ({_range(needed)}, the pilot says).{needed.caption()}"
    )


def _separation(plan: TrialPlan, first: str, second: str, needed: Needed) -> str:
    goal = f"{first} and {second} at n = {needed.n}"
    if not math.isfinite(needed.needed):
        return f"{goal}: these trials show no difference that more trials could certify.{needed.caption()}"
    return (
        f"{goal}: {_count(needed.needed)} trials of each would certify the difference with {100 * plan.power:g} % "
        f"power ({_range(needed)}, the pilot says; {100 * needed.now:.0f} % power with {_both(needed.pilot)})."
        f"{needed.caption()}"
    )


def _count(value: float) -> str:
    return f"{value:.0f}" if math.isfinite(value) else "unlimited"


def _range(needed: Needed) -> str:
    if math.isfinite(needed.high):
        return f"between {needed.low:.0f} and {needed.high:.0f}"
    return f"at least {needed.low:.0f}, perhaps never"


def _both(pilot: tuple[int, ...]) -> str:
    return f"{pilot[0]}" if pilot[0] == pilot[-1] else f"{pilot[0]} and {pilot[-1]}"
