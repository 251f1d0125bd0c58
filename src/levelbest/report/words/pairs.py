"""What else there is to say of a pair: crossings, relative improvement, chances."""

from __future__ import annotations

import math

from levelbest._plain import show_cost, show_range
from levelbest.report.words.phrases import listed
from levelbest.results import Crossing, PairComparison


def pair_details(pair: PairComparison) -> tuple[str, ...]:
    """Each a short line."""
    lines = [_crossing(crossing, pair) for crossing in pair.crossings]
    if pair.relative:
        n, value, low, high = pair.relative[-1]
        limits = f" ({100 * low:+.3g} to {100 * high:+.3g} %, for this budget alone)"
        shown = limits if math.isfinite(low) and math.isfinite(high) else ""
        lines.append(f"relative improvement of {pair.families[0]} at n = {n:g}: {100 * value:+.3g} %{shown}")
    if pair.chance:
        chances = [f"{chance:.2f} at n = {n:g}" for n, chance in pair.chance[:: max(1, len(pair.chance) // 4)]]
        lines.append(f"chance that the best of n of {pair.families[0]} is better: {listed(chances)}")
    if pair.equal_laws_p is not None:
        lines.append(f"permutation p-value for equal laws: {pair.equal_laws_p:.3g}")
    return tuple(lines)


def winners_words(pair: PairComparison) -> str:
    """``svm 8 to 45, rf 1 to 2``: who is better at which budgets; a dash where nobody is."""
    parts = []
    for verdict in pair.verdicts:
        ends = show_range(verdict.start, verdict.end, pair.terms.axis, pair.terms.cost_unit)
        where = "" if pair.terms.unit == "run" else f" {ends}"
        if verdict.decided:
            parts.append(f"{verdict.verdict}{where}")
    return ", ".join(parts) or "-"


def _crossing(crossing: Crossing, pair: PairComparison) -> str:
    unit, over_cost = pair.terms.cost_unit, pair.terms.axis == "cost"
    near, low, high = (
        show_cost(x, unit) if over_cost else f"{x:.3g}" for x in (crossing.budget, crossing.low, crossing.high)
    )
    before = f"after {low}" if math.isfinite(crossing.low) else "anywhere"
    after = f"before {high}" if math.isfinite(crossing.high) else "or not at all within the data"
    return f"the curves cross near {near} ({before}, {after})"
