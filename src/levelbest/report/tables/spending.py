"""Tables of what a plan costs, and of what a spend buys."""

from __future__ import annotations

from levelbest.report.tables.table import Table, texts
from levelbest.report.words.spending import spend_words, spending_rows, way_rows
from levelbest.results import TrialPlan


def spending_table(plan: TrialPlan) -> Table | None:
    """A row for each pair, and one for all: what is still to be paid; None where costs are not known."""
    rows = spending_rows(plan)
    if not rows:
        return None
    names, *spent = zip(*rows, strict=True)
    heads = (f"remaining cost ({plan.cost_unit})", f"at {plan.price:g} {plan.currency} each" if plan.price else "")
    columns = [texts(head, cells, right=True) for head, cells in zip(heads, spent, strict=False)]
    return Table((texts("pair", names), *columns))


def ways_table(plan: TrialPlan) -> Table | None:
    """A row for each pair and way to divide a spend into problems and samples; None where nothing is divided."""
    rows = way_rows(plan)
    if not rows:
        return None
    names, ways, *spent, shows, chances = zip(*rows, strict=True)
    columns = [
        texts(f"pair, {spend_words(plan)}", names),
        texts("problems x samples", ways, right=True),
        *(texts("costs", cells, right=True) for cells in spent),
        texts("shows", shows, right=True),
        texts("told apart", chances, right=True),
    ]
    return Table(tuple(columns))
