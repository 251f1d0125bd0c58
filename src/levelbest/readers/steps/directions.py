"""Which way is better, and between which bounds."""

from __future__ import annotations

from dataclasses import dataclass

from levelbest import _check
from levelbest._check import Bounds
from levelbest.cautions import Caution
from levelbest.errors import Ambiguous, InputError, named
from levelbest.readers.columns import Coded
from levelbest.readers.steps import names
from levelbest.readers.steps.merged import Merged
from levelbest.readers.steps.numbers import as_numbers
from levelbest.readers.steps.roles import Roles, Wanted

__all__ = ["Judged", "judged_by"]


@dataclass(frozen=True)
class Judged:
    """How the score that curves are of is judged."""

    direction: str
    bounds: Bounds
    turned: bool
    """Whether the selection score points the other way, and is negated."""

    @property
    def selected(self) -> str:
        """Which way the selection score is better as it stands in the table."""
        return self.direction if not self.turned else "min" if self.direction == "max" else "max"


def judged_by(table: Merged, roles: Roles, wanted: Wanted) -> Judged:
    """The direction of the score that curves are of, its bounds, and whether the selection score must be turned."""
    shown = roles.reported or roles.selection
    alone = shown == roles.selection
    bounds = _check.as_bounds(wanted.bounds) if wanted.bounds is not None else _written_bounds(table, shown)
    recorded = table.direction(roles.selection, table.roles.get("selection") == roles.selection)
    selection = recorded or _by_name_or_words(table, roles.selection)
    if wanted.selection_direction is not None:
        selection = _check.as_direction(wanted.selection_direction)
    reported = selection if alone else table.direction(shown, chosen=False) or _by_name_or_words(table, shown)
    same_metric = names.rest(shown) == names.rest(roles.selection)
    if wanted.direction is not None:
        direction = _check.as_direction(wanted.direction)
        if recorded not in (None, direction) and alone:
            raise InputError(f"{named('direction')} {direction} contradicts the source, which recorded {recorded}")
    else:
        way = reported or (selection if same_metric or recorded else None)
        if way is None:
            raise Ambiguous(
                f"is a higher {shown!r} better, or a lower one? its name does not tell: give {named('direction')} max "
                "or min"
            )
        direction = way
        if recorded is None or (reported is not None and not alone):
            roles.direction_by = shown
    if selection is None and not alone and not (same_metric or names.is_neutral(roles.selection)):
        caution = Caution.of(
            "guessed-columns", kind="same-way", column=roles.selection, reported=shown, direction=direction
        )
        roles.notes.append(caution)
    return Judged(direction, bounds, not alone and selection is not None and selection != direction)


def _by_name_or_words(table: Merged, column: str) -> str | None:
    """Which way a score is better by its name, or since it is written as PASS and FAIL, or is true or false."""
    way = names.direction_of(column)[0]
    if way is not None or column not in table.columns:
        return way
    cells = table.columns[column]
    truths = not isinstance(cells, Coded) and cells.dtype.kind == "b" and names.is_neutral(column)
    return "max" if truths or "verdict" in as_numbers(cells).converted else None


def _written_bounds(table: Merged, column: str) -> Bounds:
    """Bounds that a tidy table or a ledger remembers, else those in the column's name."""
    sides = [{part.facts.get(f"bounds:{side}") for part in table.present()} for side in ("low", "high")]
    own = {part.roles.get("reported", part.roles.get("selection")) for part in table.present()}
    bounded = column in ("selection", "reported") or (own == {column} and any(side != {None} for side in sides))
    if bounded and all(len(side) == 1 for side in sides):
        low, high = (next(iter(side)) for side in sides)
        return (None if low is None else float(low)), (None if high is None else float(high))
    return names.direction_of(column)[1]
