"""Plans in words."""

from __future__ import annotations

import math

from levelbest.report.words.phrases import level
from levelbest.results import TrialPlan
from levelbest.stats.budgets import Needed

__all__ = ["plan_sentences"]

_HOPELESS = 20
"""So many times the trials there are: more is not worth a number."""


def plan_sentences(plan: TrialPlan) -> tuple[str, ...]:
    """What to do: first what it takes to tell families apart, then narrower intervals."""
    sentences = [_separation(plan, first, second, needed) for first, second, needed in plan.separations]
    sentences += [_width(plan, family, needed) for family, needed in plan.widths]
    sentences += [f"{family}: {for_problems}" for family, for_problems in plan.problems]
    sentences += [f"{family}, {stratum}: no plan, since {why}." for family, stratum, why in plan.unplanned]
    planned = [needed for _, _, needed in plan.separations] + [needed for _, needed in plan.widths]
    capped = next((needed for needed in planned if needed.capped), None)
    if capped is not None:
        reach = f"{min(capped.pilot)} trials can speak of n up to a quarter of their number"
        sentences.append(f"{reach}: planned for n = {capped.n}, not {capped.asked}.")
    if plan.horizons:
        shown = ", ".join(f"{n} of {size}" for size, n in plan.horizons)
        sentences.append(f"The median curve has exact {level(plan.confidence)} limits on both sides up to n = {shown}.")
    return tuple(sentences)


def _width(plan: TrialPlan, family: str, needed: Needed) -> str:
    now = f"{family}: the {level(plan.confidence)} interval of the best of {needed.n} is {needed.now:.2g} wide"
    if _is_hopeless(needed):
        return f"{now} with {needed.pilot[0]} trials; {needed.goal:.2g} is out of reach."
    return f"{now} with {needed.pilot[0]} trials; about {_round(needed.needed)} would make it {needed.goal:.2g}."


def _separation(plan: TrialPlan, first: str, second: str, needed: Needed) -> str:
    of = f"{first} and {second} with {needed.n} trial{'s' * (needed.n != 1)}"
    present = " and ".join(dict.fromkeys(f"{count}" for count in needed.pilot))
    if _is_hopeless(needed):
        return f"{of}: any difference is too small for more trials to show; take either, or the cheaper."
    if needed.needed <= max(needed.pilot):
        return f"{of}: {present} trials of each are enough: such a study tells them apart {_often(needed.now)}."
    unsure = f"between {_round(needed.low)} and {_round(needed.high)}" if math.isfinite(needed.high) else ""
    unsure = unsure or f"{_round(needed.low)} or more"
    many = f"about {_round(needed.needed)} trials of each would tell them apart {_often(plan.power)}"
    return (
        f"{of}: {many}, if the difference is as observed; {present} do {_often(needed.now)}. So few trials leave the "
        f"number open ({unsure})."
    )


def _is_hopeless(needed: Needed) -> bool:
    return not math.isfinite(needed.needed) or needed.needed > _HOPELESS * max(needed.pilot)


def _often(share: float) -> str:
    return f"in {100 * share:.0f} of 100 cases"


def _round(count: float) -> str:
    """Two significant digits are all that a forecast has."""
    size = 10 ** max(0, math.floor(math.log10(max(count, 1))) - 1)
    return f"{math.ceil(count / size) * size:,}"
