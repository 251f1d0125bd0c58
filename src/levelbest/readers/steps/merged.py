"""Several raw tables as one: columns stacked when they are first asked for, every row knowing where it came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from levelbest.errors import DataError, InputError, named
from levelbest.readers.columns import Cells, LazyColumns, as_codes, stacked, taken
from levelbest.readers.limits import refuse_more
from levelbest.readers.raw import RawTable
from levelbest.readers.steps.nested import split_path
from levelbest.readers.tables.files import stem

__all__ = ["Merged", "merge"]

Rows = npt.NDArray[np.int64]


class Merged:
    """Rows of one or more tables, possibly only some of them."""

    def __init__(self, tables: Sequence[RawTable], rows: Rows | None = None) -> None:
        self.tables = list(tables)
        self.starts = np.cumsum([0, *(table.n_rows for table in tables)])
        self.rows = rows
        self.roles = _common_roles(self.tables)
        names = dict.fromkeys(name for table in self.tables for name in table.columns)
        for role, owners in self.roles.items():
            if len(set(owners)) > 1:
                names.setdefault(role)
        self.columns = LazyColumns(list(names), self.n_rows, self._load, self._numbers())

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return int(self.starts[-1]) if self.rows is None else len(self.rows)

    @property
    def source(self) -> str:
        """A name for messages."""
        return (
            self.tables[0].source
            if len(self.tables) == 1
            else f"{self.tables[0].source} and {len(self.tables) - 1} more"
        )

    def role_columns(self) -> dict[str, str]:
        """Role -> column, where the formats say so; a role with several columns became a column of its own."""
        return {role: (owners[0] if len(set(owners)) == 1 else role) for role, owners in self.roles.items()}

    def only(self, mask: npt.NDArray[np.bool_]) -> Merged:
        """The rows where the mask is true."""
        kept = np.flatnonzero(mask)
        return Merged(self.tables, kept if self.rows is None else self.rows[kept])

    def reshaped(self, rows: Rows, columns: Mapping[str, Cells]) -> Merged:
        """These columns as the table, each row made of one of the rows here, with what the formats said of them."""
        origin = self.table_codes()[rows]
        parts = []
        for code in np.unique(origin).tolist():
            inside = np.flatnonzero(origin == code)
            own = {name: taken(column, inside) for name, column in columns.items()}
            parts.append(
                replace(
                    self.tables[code],
                    columns=own,
                    roles={role: name for role, name in self.role_columns().items() if name in own},
                    configuration=_within(self.tables[code].configuration, own),
                    lines=None,
                    place_of=lambda row, made_of=rows[inside]: self.at(made_of[row]),
                )
            )
        return Merged(parts)

    def present(self) -> list[RawTable]:
        """The tables that still have rows here."""
        if self.rows is None:
            return [table for table in self.tables if table.n_rows]
        counts = np.bincount(self.table_codes(), minlength=len(self.tables))
        return [table for table, count in zip(self.tables, counts, strict=True) if count]

    def table_codes(self) -> npt.NDArray[np.int32]:
        """Which table each row comes from."""
        codes = np.repeat(np.arange(len(self.tables), dtype=np.int32), np.diff(self.starts))
        return codes if self.rows is None else codes[self.rows]

    def lacking(self, column: str) -> list[int]:
        """The tables that have no such column, not even under their own name for the role."""
        owners = self.roles.get(column, [])
        own = [owners[place] if owners else column for place in range(len(self.tables))]
        return [
            place
            for place, table in enumerate(self.tables)
            if not {column, own[place]} & set(table.columns) and split_path(column, table.columns) is None
        ]

    def direction(self, column: str, chosen: bool) -> str | None:
        """Which way the formats say that a score is better; ``chosen``: it is the one they select by.

        Tables of which a row is left and that disagree cannot be read together.
        """
        left = self.present()
        columns = {
            table.source: way
            for table in left
            if (way := table.facts.get(f"direction:{column}", table.direction if chosen else None))
        }
        if len(set(columns.values())) > 1:
            listed = ", ".join(f"{source} ({way})" for source, way in columns.items())
            telling = _telling([table for table in left if table.source in columns], next(iter(columns)))
            how = f', e.g. {named("where")} "{telling}"' if telling else ""
            raise InputError(
                f"these cannot be read together, since their scores point in different directions: {listed}; read "
                f"them one at a time{how}"
            )
        return next(iter(columns.values()), None)

    def at(self, row: int) -> str:
        """Where a row stands in its source."""
        whole = int(row if self.rows is None else self.rows[row])
        table = int(np.searchsorted(self.starts, whole, side="right")) - 1
        return self.tables[table].at(whole - int(self.starts[table]))

    def source_codes(self) -> tuple[tuple[str, ...], npt.NDArray[np.int32]]:
        """The name of each row's source without its ending, as codes."""
        names: dict[str, int] = {}
        per_table = [names.setdefault(stem(table.source), len(names)) for table in self.tables]
        return tuple(names), np.array(per_table, dtype=np.int32)[self.table_codes()]

    def _load(self, name: str) -> Cells:
        owners = self.roles.get(name)
        parts: list[tuple[Cells | None, int]] = []
        for place, table in enumerate(self.tables):
            own = owners[place] if owners is not None and len(set(owners)) > 1 and name not in table.columns else name
            parts.append((table.columns.get(own), table.n_rows))
        column = stacked(parts)
        return column if self.rows is None else taken(column, self.rows)

    def _numbers(self) -> frozenset[str] | None:
        if len(self.tables) == 1 and isinstance(self.tables[0].columns, LazyColumns):
            return self.tables[0].columns.numbers
        return None


def _within(names: list[str] | None, columns: Mapping[str, Cells]) -> list[str] | None:
    return None if names is None else [name for name in names if name in columns]


def _telling(tables: Sequence[RawTable], source: str) -> str:
    """A condition that only the rows of one source meet: a column with one value in it that the others do not have."""
    mine = [table for table in tables if table.source == source]
    others = [table for table in tables if table.source != source]
    own = mine[0].roles.get("family")
    for name in [*([own] if own else []), *mine[0].columns]:
        values = {value for table in mine if name in table.columns for value in as_codes(table.columns[name])[0]}
        known = {value for table in others if name in table.columns for value in as_codes(table.columns[name])[0]}
        if len(values) == 1 and not values & known and "'" not in next(iter(values)):
            plain = name if name.isidentifier() else f'"{name}"'
            return f"{plain} = '{values.pop()}'"
    return ""


def _common_roles(tables: Sequence[RawTable]) -> dict[str, list[str]]:
    """Role -> its column in each table; where only some tables name one, the others are asked for the same."""
    roles = dict.fromkeys(role for table in tables for role in table.roles)
    common: dict[str, list[str]] = {}
    for role in roles:
        named = {table.roles[role] for table in tables if role in table.roles}
        otherwise = next(iter(named)) if len(named) == 1 else role
        common[role] = [table.roles.get(role, otherwise) for table in tables]
    return common


def merge(tables: Sequence[RawTable]) -> Merged:
    """One table of all rows."""
    if not any(table.n_rows for table in tables) and not any(table.skipped for table in tables):
        raise DataError(f"{tables[0].source} has a header and no rows")
    for table in tables:
        refuse_more(len(table.columns), "columns", table.source)
    return Merged(tables)
