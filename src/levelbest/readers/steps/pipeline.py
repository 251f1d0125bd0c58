"""From raw tables to Trials: filter, choose roles, read numbers and statuses, one row per run.

What a cell without a score means, where no status column says it: a NaN or infinite score is a diverged trial, an empty
cell (or a word for nothing) a failed one, a status word such as ``OOM`` that status, and any other text is no score at
all: the row is skipped and reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import Bounds
from levelbest.cautions import Caution
from levelbest.errors import DataError, InputError
from levelbest.readers.columns import as_codes, taken, texts, unique_codes
from levelbest.readers.groups import refuse_repeats, said_of_groups
from levelbest.readers.raw import RawTable
from levelbest.readers.steps import names
from levelbest.readers.steps.checkpoints import Picked, best_rows, pick_nested
from levelbest.readers.steps.conditions import matching_rows
from levelbest.readers.steps.configurations import configuration_of
from levelbest.readers.steps.merged import Merged, merge
from levelbest.readers.steps.numbers import Numbers, as_numbers
from levelbest.readers.steps.roles import Roles, Wanted, choose_roles
from levelbest.readers.steps.samples import expand_samples
from levelbest.readers.steps.statuses import as_statuses, status_of
from levelbest.readers.steps.wide import melt
from levelbest.trials import STATUSES, Metric, Skipped, Trials

__all__ = ["build_trials"]

_OK, _FAILED, _DIVERGED = (STATUSES.index(name) for name in ("ok", "failed", "diverged"))
_KEPT_SKIPPED = 1000
_SAYS = {
    "percent": "percent signs (divided by 100)",
    "percent-points": "percent signs (not divided by 100, since numbers without the sign are larger than 1)",
    "thousands": "thousands commas",
    "decimal-comma": "decimal commas",
}
Mask = npt.NDArray[np.bool_]


@dataclass
class _Notes:
    """What is said about the reading."""

    skipped: list[Skipped] = field(default_factory=list)
    cautions: list[Caution] = field(default_factory=list)

    def skip(self, table: Merged, rows: Mask, why: str | dict[int, str]) -> None:
        places = np.flatnonzero(rows)
        room = max(0, _KEPT_SKIPPED - len(self.skipped))
        for row in places[:room].tolist():
            self.skipped.append(Skipped(table.at(row), why if isinstance(why, str) else why[row]))
        if len(places) > room:
            reason = why if isinstance(why, str) else "their score is no number"
            self.skipped.append(Skipped(table.source, f"{len(places) - room} more rows: {reason}"))


def build_trials(tables: Sequence[RawTable], wanted: Wanted) -> Trials:
    """Trials from what the readers handed over."""
    notes = _Notes()
    for one in tables:
        notes.skipped += one.skipped
        notes.cautions += one.cautions
    table = merge(tables)
    if wanted.where:
        mask = matching_rows(wanted.where, table.columns, table.n_rows, table.source)
        if not mask.any():
            raise DataError(f"--where {wanted.where!r} leaves none of {table.n_rows} rows")
        table = table.only(mask)
    if not table.n_rows:
        why = f": {notes.skipped[0].where}: {notes.skipped[0].why}" if notes.skipped else ""
        raise DataError(f"{table.source} holds no row that can be read{why}")
    known = table.role_columns()
    melted = melt(table, wanted, known)
    if melted is not None:
        table, wanted, known = melted.table, melted.wanted, melted.known
        notes.cautions += melted.cautions
    roles = choose_roles(table.columns, wanted, known, table.source)
    table = _with_selection(table, roles.selection, notes)
    expanded = expand_samples(table, roles)
    if expanded is not None:
        table = expanded.table
        notes.skipped += expanded.skipped
        notes.cautions += expanded.cautions
    direction, bounds, turned = _direction(table, roles, wanted, known)
    picked = pick_nested(table, roles, _opposite(direction) if turned else direction)
    return _assembled(table, roles, wanted, picked, direction, bounds, turned, notes, melted is not None)


def _assembled(
    table: Merged,
    roles: Roles,
    wanted: Wanted,
    picked: Picked | None,
    direction: str,
    bounds: Bounds,
    turned: bool,
    notes: _Notes,
    melted: bool,
) -> Trials:
    selection = picked.selection if picked else _numbers(table, roles.selection, "selection", notes)
    status, bad = _statuses(table, roles, selection, notes, "selection")
    reported = None
    if roles.reported is not None and roles.reported != roles.selection:
        found = picked.reported if picked and picked.reported else _numbers(table, roles.reported, "reported", notes)
        _note_words(table, found, roles.reported, notes)
        finite = np.isfinite(found.values)
        reported = found.values if finite.all() else np.where(finite, found.values, np.nan)
    cost = None
    if roles.cost is not None:
        spent = picked.cost if picked and picked.cost else _numbers(table, roles.cost, "cost", notes)
        _note_words(table, spent, roles.cost, notes)
        cost = spent.values
    families, family = _families(table, roles)
    if (family < 0).any():
        notes.skip(table, (family < 0) & ~bad, f"it has no {' / '.join(roles.family)}")
        bad |= family < 0
    problems = None if roles.group is None else as_codes(table.columns[roles.group])
    if problems is not None and (problems[1] < 0).any():
        notes.skip(table, (problems[1] < 0) & ~bad, f"it has no problem in {roles.group!r}")
        bad |= problems[1] < 0
    if melted:  # an empty cell of a wide table is a sample that was never drawn
        empty = selection.empty & ~bad
        if empty.any():
            notes.skip(table, empty, "the cell is empty: no such sample")
            bad |= empty
    keep = np.flatnonzero(~bad)
    if not keep.size:
        first = f"; the first: {notes.skipped[0].where}: {notes.skipped[0].why}" if notes.skipped else ""
        raise DataError(f"{table.source}: none of {table.n_rows} rows can be read as a trial{first}")
    scores = selection.values
    if roles.trial is not None:
        by = _opposite(direction) if turned else direction
        refuse_repeats(table, roles, family, [scores, status, *([] if reported is None else [reported])], keep)
        keep, cost = best_rows(table, roles, family, scores, status, cost, keep, by)
    everything = keep.size == table.n_rows

    def pick(column: npt.NDArray[Any] | None) -> Any:
        return column if column is None or everything else column[keep]

    scores = pick(scores)
    kept_families, family = unique_codes(pick(family), families)
    group_names, group = ((), None) if problems is None else unique_codes(pick(problems[1]), problems[0])
    search_names, search = _codes(table, roles.search, keep, everything)
    weights, strata = said_of_groups(table, roles, keep, group, group_names)
    configuration = configuration_of(table, roles, wanted, keep, everything)
    order = None
    if roles.order is not None:
        places = _numbers(table, roles.order, "order", notes).values[keep]
        if np.isfinite(places).all():  # else one of several sources knows no order: that of the rows serves
            order = places.astype(np.int64)
    curve_of = reported if reported is not None else selection.values
    fine = np.isfinite(curve_of) & (status == _OK) & ~bad
    _check.as_bounds(bounds, np.asarray(curve_of)[fine], roles.reported or roles.selection)
    metric = Metric(
        direction=direction,
        selection=("-" if turned else "") + _score_name(table, "selection", roles.selection),
        reported=_score_name(table, "reported", roles.reported) if roles.reported and reported is not None else None,
        bounds=bounds,
        cost=_score_name(table, "cost", roles.cost) if roles.cost else None,
        cost_unit=_unit(table, roles),
    )
    if roles.reported == roles.selection:
        notes.cautions.append(
            Caution(
                "selection-is-reported",
                f"the selection score and the reported score are one column, {roles.selection!r}",
            )
        )
    _say_guesses(roles, direction, turned, notes)
    facts: dict[str, str] = {}
    for one in table.present():
        facts |= {key: said for key, said in one.facts.items() if not key.startswith(("name:", "bounds:"))}
    if roles.flag is not None:
        facts[f"flagged:{roles.flag}"] = str(int(_flagged(table, roles.flag)[keep].sum()))
    return Trials(
        metric=metric,
        families=kept_families,
        family=family,
        selection=-scores if turned else scores,
        status=pick(status),
        reported=pick(reported),
        cost=pick(cost),
        order=order,
        group=group,
        groups=group_names,
        search=search,
        searches=search_names,
        seed=None if roles.seed is None else _seeds(taken(table.columns[roles.seed], keep)),
        sample=None if roles.sample is None else _seeds(taken(table.columns[roles.sample], keep)),
        weights=weights,
        strata=strata,
        configuration=configuration,
        columns=roles.named(),
        source=tuple(one.source for one in table.tables),
        facts=facts,
        skipped=tuple(notes.skipped),
        cautions=tuple(notes.cautions),
    )


def _score_name(table: Merged, role: str, column: str) -> str:
    """The name a tidy table remembers, else the column's own."""
    found = {one.facts.get(f"name:{role}") for one in table.present() if one.roles.get(role) == column}
    return next(iter(found)) or column if len(found) == 1 else column


def _written_bounds(table: Merged, column: str) -> Bounds:
    """Bounds that a tidy table or a ledger remembers, else those in the column's name."""
    sides = [{one.facts.get(f"bounds:{side}") for one in table.present()} for side in ("low", "high")]
    own = {one.roles.get("reported", one.roles.get("selection")) for one in table.present()}
    bounded = column in ("selection", "reported") or (own == {column} and any(found != {None} for found in sides))
    if bounded and all(len(found) == 1 for found in sides):
        low, high = (next(iter(found)) for found in sides)
        return (None if low is None else float(low)), (None if high is None else float(high))
    return names.direction_of(column)[1]


def _opposite(direction: str) -> str:
    return "min" if direction == "max" else "max"


def _numbers(table: Merged, name: str, role: str, notes: _Notes) -> Numbers:
    found = as_numbers(table.columns[name])
    if len(found.words) * 2 > table.n_rows - int(found.empty.sum()):
        row, word = next(iter(found.words.items()))
        raise InputError(
            f"the column for --{role}, {name!r}, must hold numbers, and {len(found.words)} of {table.n_rows} cells do "
            f"not (first: {word!r} at {table.at(row)}); choose another column"
        )
    for kind, (count, first) in found.converted.items():
        notes.cautions.append(
            Caution(
                "converted-numbers",
                f"{count} of the numbers in {name!r} {'is' if count == 1 else 'are'} in {_SAYS[kind]} and read "
                f"as such, e.g. {first!r}",
                value=float(count),
            )
        )
    return found


def _note_words(table: Merged, found: Numbers, name: str, notes: _Notes) -> None:
    """Text in a column that only describes a trial does not cost the trial: the cell is empty, and that is said."""
    for row, word in list(found.words.items())[:20]:
        notes.skipped.append(Skipped(f"{table.at(row)}, column {name!r}", f"{word!r} is no number; read as empty"))
    if len(found.words) > 20:
        notes.skipped.append(
            Skipped(f"{table.source}, column {name!r}", f"{len(found.words) - 20} more cells are no numbers")
        )


def _statuses(
    table: Merged, roles: Roles, selection: Numbers, notes: _Notes, role: str
) -> tuple[npt.NDArray[np.uint8], Mask]:
    """The status of each row, and the rows that are no trials at all."""
    status = np.full(table.n_rows, _OK, dtype=np.uint8)
    if roles.status is not None:
        status, unknown = as_statuses(table.columns[roles.status])
        if unknown:
            word = next(iter(unknown))
            raise InputError(
                f"the status column {roles.status!r} holds words that are no status, such as {word!r}; known: "
                f"{', '.join(STATUSES)} and the words of common trackers"
            )
    bad = np.zeros(table.n_rows, dtype=bool)
    reasons: dict[int, str] = {}
    for row, word in selection.words.items():
        meant = status_of(word)
        if meant is not None and meant != "ok":
            status[row] = STATUSES.index(meant)
        elif status[row] == _OK:
            bad[row] = True
            reasons[row] = f"its {role} score {word!r} is no number"
    if reasons:
        notes.skip(table, bad, reasons)
    flagged = _flagged(table, roles.flag) if roles.flag is not None else np.zeros(table.n_rows, dtype=bool)
    lost = (status == _OK) & ~np.isfinite(selection.values) & ~bad
    status[lost & ~selection.empty] = _DIVERGED
    status[lost & selection.empty] = _FAILED
    status[lost & flagged] = _DIVERGED
    return status, bad


def _flagged(table: Merged, name: str) -> Mask:
    column = table.columns[name]
    if getattr(column, "dtype", None) is not None and column.dtype.kind == "b":
        return np.asarray(column)
    return np.fromiter((str(cell).lower() == "true" for cell in texts(column)), dtype=bool, count=table.n_rows)


def _families(table: Merged, roles: Roles) -> tuple[tuple[str, ...], npt.NDArray[np.int32]]:
    if not roles.family:
        return table.source_codes()
    found, codes = as_codes(table.columns[roles.family[0]])
    for name in roles.family[1:]:
        more, inner = as_codes(table.columns[name])
        joint = codes.astype(np.int64) * len(more) + inner
        joint[(codes < 0) | (inner < 0)] = -1
        distinct, first, joint_codes = np.unique(joint, return_index=True, return_inverse=True)
        joint_codes = joint_codes.ravel()
        order = np.argsort(first[distinct >= 0], kind="stable")
        listed = distinct[distinct >= 0][order]
        place = np.full(distinct.size, -1, dtype=np.int32)
        place[np.flatnonzero(distinct >= 0)[order]] = np.arange(order.size)
        found = tuple(f"{found[int(one) // len(more)]} / {more[int(one) % len(more)]}" for one in listed)
        codes = place[joint_codes]
    return found, codes


def _codes(table: Merged, name: str | None, keep: Any, everything: bool) -> tuple[tuple[str, ...], Any]:
    if name is None:
        return (), None
    found, codes = as_codes(table.columns[name])
    if (codes < 0).any():
        found, codes = (*found, "(none)"), np.where(codes < 0, len(found), codes).astype(np.int32)
    return unique_codes(codes if everything else codes[keep], found)


def _seeds(column: Any) -> npt.NDArray[Any]:
    if isinstance(column, np.ma.MaskedArray):
        return column.filled(np.nan)
    if hasattr(column, "decode"):
        return texts(column)
    return np.array(column)


def _unit(table: Merged, roles: Roles) -> str | None:
    if roles.cost is None:
        return None
    given = {one.cost_unit for one in table.tables if one.roles.get("cost") == roles.cost and one.cost_unit}
    return given.pop() if len(given) == 1 else names.cost_unit_of(roles.cost)


def _with_selection(table: Merged, selection: str, notes: _Notes) -> Merged:
    """Without the tables that have no such score: their rows are no failed trials, they are something else."""
    lacking = table.lacking(selection)
    if not lacking:
        return table
    for place in lacking:
        one = table.tables[place]
        why = f"it has no column {selection!r}; its {one.n_rows} rows are left out"
        if one.roles and "selection" not in one.roles:
            why = f"it has no single score to select by: name one with --selection; its {one.n_rows} rows are left out"
        notes.skipped.append(Skipped(one.source, why))
    return table.only(~np.isin(table.table_codes(), lacking))


def _direction(table: Merged, roles: Roles, wanted: Wanted, known: dict[str, str]) -> tuple[str, Bounds, bool]:
    """The direction of the score that curves are of, its bounds, and whether the selection score must be turned."""
    shown = roles.reported or roles.selection
    by_name, _ = names.direction_of(shown)
    selection_by_name, _ = names.direction_of(roles.selection)
    bounds = _check.as_bounds(wanted.bounds) if wanted.bounds is not None else _written_bounds(table, shown)
    given = table.direction(roles.selection, known.get("selection") == roles.selection)
    by_name = table.direction(shown, chosen=False) or by_name
    direction = None if wanted.direction is None else _check.as_direction(wanted.direction)
    if given is not None:
        selection_by_name = given
        if direction is None and (shown == roles.selection or by_name in (None, given)):
            direction = given
    if direction is None:
        if by_name is None and (shown == roles.selection or names.rest(shown) == names.rest(roles.selection)):
            by_name = selection_by_name
        if by_name is None:
            raise InputError(
                f"is a higher {shown!r} better, or a lower one? its name does not tell: give --direction max or min"
            )
        direction = by_name
        roles.guessed.append(f"direction = {direction} (by the name {shown!r})")
    turned = roles.reported is not None and selection_by_name is not None and selection_by_name != direction
    if given is not None and wanted.direction is not None and roles.reported is None and given != direction:
        raise InputError(f"--direction {direction} contradicts the source, which recorded {given}")
    return direction, bounds, turned


def _say_guesses(roles: Roles, direction: str, turned: bool, notes: _Notes) -> None:
    said = list(roles.guessed)
    if said:
        notes.cautions.append(Caution("guessed-columns", f"chosen by name: {', '.join(said)}"))
    if roles.open:
        notes.cautions.append(
            Caution("guessed-columns", f"not chosen, since the names leave it open: {'; '.join(roles.open)}")
        )
    if turned:
        other = "lower" if direction == "max" else "higher"
        notes.cautions.append(
            Caution(
                "guessed-columns",
                f"a {other} {roles.selection!r} is better and the reported score points the other way: the selection "
                f"score is negated, and direction = {direction}",
            )
        )
