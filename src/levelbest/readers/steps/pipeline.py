"""From raw tables to Trials: filter, choose roles, read numbers and statuses, one row per run.

What a cell without a score means, where no status column says it: a NaN or infinite score is a diverged trial, an empty
cell (or a word for nothing) a failed one, a status word such as ``OOM`` that status, and any other text is no score at
all: the row is skipped and reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import Column, FloatArray, IntArray
from levelbest.cautions import Caution
from levelbest.errors import DataError, InputError, named
from levelbest.readers.columns import Cells, as_codes, as_flags, joint_codes, taken, texts, unique_codes
from levelbest.readers.limits import refuse_more
from levelbest.readers.raw import RawTable
from levelbest.readers.steps import names
from levelbest.readers.steps.checkpoints import best_rows
from levelbest.readers.steps.conditions import matching_rows
from levelbest.readers.steps.configurations import configuration_of
from levelbest.readers.steps.counts import expand_counts
from levelbest.readers.steps.directions import Judged, judged_by, refuse_mixed_scales
from levelbest.readers.steps.lists import expand_lists
from levelbest.readers.steps.merged import Merged, merge
from levelbest.readers.steps.notes import Notes
from levelbest.readers.steps.numbers import Numbers
from levelbest.readers.steps.problems import refuse_repeats, said_of_groups
from levelbest.readers.steps.roles import Roles, Wanted, choose_roles
from levelbest.readers.steps.runs import find_runs
from levelbest.readers.steps.statuses import as_statuses, status_of
from levelbest.readers.steps.wide import melt
from levelbest.trials import OK, STATUSES, Metric, Skipped, Trials

__all__ = ["build_trials"]

_FAILED, _DIVERGED = (STATUSES.index(name) for name in ("failed", "diverged"))
Mask = npt.NDArray[np.bool_]


def build_trials(tables: Sequence[RawTable], wanted: Wanted) -> Trials:
    """Trials from what the readers handed over."""
    notes = Notes()
    for raw in tables:
        notes.skipped += raw.skipped
        notes.cautions += raw.cautions
    table = _chosen_rows(merge(tables), wanted, notes)
    table, known = expand_counts(table, wanted, table.role_columns(), notes)
    long, wanted, known = melt(table, wanted, known, notes)
    melted = long is not table
    roles = choose_roles(long.columns, wanted, known, long.source)
    table = expand_lists(_with_selection(long, roles.selection, notes), roles, notes)
    judged = judged_by(table, roles, wanted, known)
    find_runs(table, roles, wanted)
    rows = _read_rows(table, roles, judged, notes, melted)
    trials = _assembled(table, roles, wanted, judged, rows, notes)
    refuse_mixed_scales(trials, wanted)
    return trials


def _chosen_rows(table: Merged, wanted: Wanted, notes: Notes) -> Merged:
    if wanted.where:
        mask = matching_rows(wanted.where, table.columns, table.n_rows, table.source)
        if not mask.any():
            raise DataError(f"{named('where')} {wanted.where!r} leaves none of {table.n_rows} rows")
        table = table.only(mask)
    if not table.n_rows:
        why = f": {notes.skipped[0].where}: {notes.skipped[0].why}" if notes.skipped else ""
        raise DataError(f"{table.source} holds no row that can be read{why}")
    return table


def _with_selection(table: Merged, selection: str, notes: Notes) -> Merged:
    """Without the tables that have no such score: their rows are no failed trials, they are something else."""
    lacking = table.lacking(selection)
    if not lacking:
        return table
    for place in lacking:
        part = table.tables[place]
        why = f"it has no column {selection!r}; its {part.n_rows} rows are left out"
        if part.roles and "selection" not in part.roles:
            why = (
                f"it has no single score to select by: name one with {named('selection')}; its {part.n_rows} rows are "
                "left out"
            )
        notes.skipped.append(Skipped(part.source, why))
    return table.only(~np.isin(table.table_codes(), lacking))


@dataclass(frozen=True)
class _Rows:
    """Each row's scores, and which rows are trials."""

    selection: FloatArray
    reported: FloatArray | None
    cost: FloatArray | None
    status: npt.NDArray[np.uint8]
    family: npt.NDArray[np.int32]
    families: tuple[str, ...]
    keep: npt.NDArray[np.int64]
    clock: bool
    """Costs were written as durations, and are read as seconds."""


def _read_rows(table: Merged, roles: Roles, judged: Judged, notes: Notes, melted: bool) -> _Rows:
    selection = notes.numbers(table, roles.selection, "selection")
    status, bad = _statuses(table, roles, selection, notes)
    reported, cost, clock = None, None, False
    if roles.reported is not None and roles.reported != roles.selection:
        claimed = notes.numbers(table, roles.reported, "reported")
        notes.words(table, claimed, roles.reported)
        finite = np.isfinite(claimed.values)
        reported = claimed.values if finite.all() else np.where(finite, claimed.values, np.nan)
    if roles.cost is not None:
        spent = notes.numbers(table, roles.cost, "cost")
        notes.words(table, spent, roles.cost)
        cost, clock = spent.values, "clock" in spent.converted
    families, family = _families(table, roles)
    refuse_more(len(families), "families", table.source)
    if (family < 0).any():
        notes.skip(table, (family < 0) & ~bad, f"it has no {' / '.join(roles.family)}")
        bad |= family < 0
    problem = None if roles.group is None else as_codes(table.columns[roles.group])[1]
    if problem is not None and (problem < 0).any():
        notes.skip(table, (problem < 0) & ~bad, f"it has no problem in {roles.group!r}")
        bad |= problem < 0
    if melted:  # an empty cell of a wide table is a sample that was never drawn
        empty = selection.empty & ~bad
        if empty.any():
            notes.skip(table, empty, "the cell is empty: no such sample")
            bad |= empty
    keep = np.flatnonzero(~bad)
    if not keep.size:
        first = f"; the first: {notes.skipped[0].where}: {notes.skipped[0].why}" if notes.skipped else ""
        raise DataError(f"{table.source}: none of {table.n_rows} rows can be read as a trial{first}")
    shown = reported if reported is not None else selection.values
    fine = np.isfinite(shown) & (status == OK) & ~bad
    _check.as_bounds(judged.bounds, np.asarray(shown)[fine], roles.reported or roles.selection)
    if roles.trial is not None:
        columns = [selection.values, status, *([] if reported is None else [reported])]
        refuse_repeats(table, roles, family, columns, keep)
        keep, cost = best_rows(table, roles, family, selection.values, status, cost, keep, judged.selected)
    return _Rows(selection.values, reported, cost, status, family, families, keep, clock)


def _assembled(table: Merged, roles: Roles, wanted: Wanted, judged: Judged, rows: _Rows, notes: Notes) -> Trials:
    keep = rows.keep
    everything = keep.size == table.n_rows

    def pick(column: Column | None) -> Any:
        return column if column is None or everything else column[keep]

    families, family = unique_codes(pick(rows.family), rows.families)
    groups, group = _codes(table, roles.group, keep, everything)
    searches, search = _codes(table, roles.search, keep, everything)
    weights, strata = said_of_groups(table, roles, keep, group, groups)
    scores = pick(rows.selection)
    facts: dict[str, str] = {}
    for part in table.present():
        facts |= {key: fact for key, fact in part.facts.items() if not key.startswith(("name:", "bounds:"))}
    if roles.flag is not None:
        facts[f"flagged:{roles.flag}"] = str(int(_flagged(table, roles.flag)[keep].sum()))
    configuration = configuration_of(table, roles, wanted, keep, everything)
    order = _order(table, roles, keep, notes)
    _say_choices(roles, judged, notes)
    return Trials(
        metric=_metric(table, roles, judged, rows),
        families=families,
        family=family,
        selection=-scores if judged.turned else scores,
        status=pick(rows.status),
        reported=pick(rows.reported),
        cost=pick(rows.cost),
        order=order,
        group=group,
        groups=groups,
        search=search,
        searches=searches,
        seed=None if roles.seed is None else _seeds(taken(table.columns[roles.seed], keep)),
        sample=None if roles.sample is None else _seeds(taken(table.columns[roles.sample], keep)),
        path=None if roles.path is None else texts(taken(table.columns[roles.path], keep)),
        weights=weights,
        strata=strata,
        configuration=configuration,
        columns=roles.named(),
        source=tuple(part.source for part in table.tables),
        facts=facts,
        skipped=tuple(notes.skipped),
        cautions=tuple(notes.cautions),
    )


def _metric(table: Merged, roles: Roles, judged: Judged, rows: _Rows) -> Metric:
    reported = roles.reported if rows.reported is not None else None
    return Metric(
        direction=judged.direction,
        selection=("-" if judged.turned else "") + _score_name(table, "selection", roles.selection),
        reported=_score_name(table, "reported", reported) if reported else None,
        bounds=judged.bounds,
        cost=_score_name(table, "cost", roles.cost) if roles.cost else None,
        cost_unit="s" if rows.clock else _unit(table, roles),
    )


def _score_name(table: Merged, role: str, column: str) -> str:
    """The name a tidy table remembers, else the column's own."""
    written = {part.facts.get(f"name:{role}") for part in table.present() if part.roles.get(role) == column}
    return next(iter(written)) or column if len(written) == 1 else column


def _order(table: Merged, roles: Roles, keep: npt.NDArray[np.int64], notes: Notes) -> IntArray | None:
    if roles.order is None:
        return None
    places = notes.numbers(table, roles.order, "order").values[keep]
    # Where one of several sources knows no order, that of the rows serves.
    return places.astype(np.int64) if (np.abs(places) < 2**53).all() else None  # NaN and infinity are not


def _statuses(table: Merged, roles: Roles, selection: Numbers, notes: Notes) -> tuple[npt.NDArray[np.uint8], Mask]:
    """The status of each row, and the rows that are no trials at all."""
    status = np.full(table.n_rows, OK, dtype=np.uint8)
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
        elif status[row] == OK:
            bad[row] = True
            reasons[row] = f"its selection score {word!r} is no number"
    if reasons:
        notes.skip(table, bad, reasons)
    flagged = _flagged(table, roles.flag)
    lost = (status == OK) & ~np.isfinite(selection.values) & ~bad
    status[lost & ~selection.empty] = _DIVERGED
    status[lost & selection.empty] = _FAILED
    status[lost & flagged] = _DIVERGED
    return status, bad


def _flagged(table: Merged, name: str | None) -> Mask:
    flags = None if name is None else as_flags(table.columns[name])
    return np.zeros(table.n_rows, dtype=bool) if flags is None else flags


def _families(table: Merged, roles: Roles) -> tuple[tuple[str, ...], npt.NDArray[np.int32]]:
    if not roles.family:
        return table.source_codes()
    parts = [as_codes(table.columns[name]) for name in roles.family]
    if len(parts) == 1:
        return parts[0]
    joint = joint_codes([codes for _, codes in parts])
    _, first = np.unique(joint, return_index=True)
    full = np.all([codes >= 0 for _, codes in parts], axis=0)
    joined = [" / ".join(names[codes[row]] for names, codes in parts) if full[row] else "" for row in first]
    return unique_codes(np.where(full, joint, -1).astype(np.int32), joined)


def _codes(table: Merged, name: str | None, keep: IntArray, everything: bool) -> tuple[tuple[str, ...], Any]:
    if name is None:
        return (), None
    listed, codes = as_codes(table.columns[name])
    if (codes < 0).any():
        listed, codes = (*listed, "(none)"), np.where(codes < 0, len(listed), codes).astype(np.int32)
    return unique_codes(codes if everything else codes[keep], listed)


def _seeds(column: Cells) -> Column:
    if isinstance(column, np.ma.MaskedArray):
        return column.filled(np.nan)
    if hasattr(column, "decode"):
        return texts(column)
    return np.array(column)


def _unit(table: Merged, roles: Roles) -> str | None:
    if roles.cost is None:
        return None
    given = {part.cost_unit for part in table.tables if part.roles.get("cost") == roles.cost and part.cost_unit}
    return given.pop() if len(given) == 1 else names.cost_unit_of(roles.cost)


def _say_choices(roles: Roles, judged: Judged, notes: Notes) -> None:
    """What was taken by name alone, and what was left open."""
    if roles.reported == roles.selection:
        notes.cautions.append(Caution.of("selection-is-reported", column=roles.selection))
    direction = judged.direction if roles.direction_by is not None else None
    if roles.guessed or direction or roles.run_cost:
        notes.cautions.append(
            Caution.of(
                "guessed-columns",
                columns=roles.guessed,
                direction=direction,
                by=roles.direction_by,
                run_cost=roles.run_cost,
            )
        )
    notes.cautions += roles.notes
    if judged.turned:
        notes.cautions.append(
            Caution.of("guessed-columns", kind="turned", column=roles.selection, direction=judged.direction)
        )
