"""Budgets in words."""

from __future__ import annotations

from collections.abc import Sequence

from levelbest._plain import show_range
from levelbest.report.words.phrases import listed, plural
from levelbest.results import Terms

Range = tuple[float, float]
"""From one budget to another, both within."""


def with_budgets(ranges: Sequence[Range], terms: Terms, *, unit: bool = True) -> str:
    """``with 1 to 3 trials``; ``for a new run`` of seeds; ``with a budget of 2 s to 5 s`` on the cost axis."""
    if terms.unit == "run":
        return "for a new run"
    shown = [show_range(*ends, terms.axis, terms.cost_unit) for ends in ranges]
    if terms.axis == "cost":
        return f"with {'a budget of ' if unit else ''}{listed(shown)}"
    if not unit:
        return f"with {listed(shown)}"
    return f"with {plural(1 if shown == ['1'] else 2, terms.unit, listed(shown))}"


def capital(text: str) -> str:
    """A text that begins with a word of ours as the beginning of a sentence (names are left as they are)."""
    return f"{text[0].upper()}{text[1:]}"
