"""A plan on one screen: what it takes in one sentence, and a row for each pair and family."""

from __future__ import annotations

from typing import TYPE_CHECKING

from levelbest.errors import named
from levelbest.report.terminal.console import plain_table, print_text
from levelbest.report.words.phrases import level
from levelbest.report.words.plans import capped_sentence, plan_sentences, plan_summary, plan_table
from levelbest.results import TrialPlan

if TYPE_CHECKING:
    from rich.console import Console


def print_plan(plan: TrialPlan, out: Console, *, details: bool = False) -> None:
    """Print it; ``details`` says everything in sentences instead of the table."""
    print_text(plan_summary(plan), out, "bold")
    out.print()
    if details:
        for sentence in plan_sentences(plan):
            print_text(sentence, out)
        return
    out.print(plain_table(*plan_table(plan), left=(0, 3)))
    out.print()
    often = f"Told apart in {100 * plan.power:.0f} of 100 cases, if differences are as observed"
    limits = f"widths are of {level(plan.confidence)} intervals"
    footer = f"{often}; {limits}; in brackets, what so few {plan.unit}s leave open."
    more = f"Seed {plan.seed}; {named('details')} says more."
    print_text(" ".join([*capped_sentence(plan), footer, more]), out, "dim")
