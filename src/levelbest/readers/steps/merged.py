"""Several raw tables as one: columns stacked when they are first asked for, every row knowing where it came from."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np

from levelbest._check import BoolArray, IntArray
from levelbest.cautions import Caution
from levelbest.errors import Ambiguous, InputError, named, named_condition
from levelbest.readers.raw import Cells, Codes, LazyColumns, RawTable, as_codes, is_numeric, joint_codes, stacked
from levelbest.readers.steps.cells import ReadNumbers, as_numbers, is_series, no_item, split_path
from levelbest.readers.tables.commas import thousands_or_decimals
from levelbest.readers.tables.files import stem
from levelbest.trials import Skipped

__all__ = ["Merged", "without_copies"]

_KEPT_SKIPPED = 1000
_KEPT_WORDS = 20
_MOST_COMPARED = 10_000
"""Rows of a table in which copies are looked for."""
_SELDOM_TIED = 0.9
"""A measured number has at least this share of distinct values, so that two runs hardly agree in it by chance."""


class Merged:
    """Rows of one or more tables, possibly only some of them, and what is said of their reading.

    ``skipped`` is what was left out and ``cautions`` what was chosen for the reader; tables made of this one add to the
    same lists.
    """

    def __init__(self, tables: Sequence[RawTable], rows: IntArray | None = None) -> None:
        self.tables = list(tables)
        self.starts = np.cumsum([0, *(table.n_rows for table in tables)])
        self.rows = rows
        self.skipped = [skipped for table in tables for skipped in table.skipped]
        self.cautions = [caution for table in tables for caution in table.cautions]
        self._owners = _common_roles(self.tables)
        self._several = {role for role, owners in self._owners.items() if len(set(owners)) > 1}
        # Role -> column, where the formats say so; a role with several columns becomes a column of its own.
        self.roles = {role: role if role in self._several else owners[0] for role, owners in self._owners.items()}
        names = dict.fromkeys(name for table in self.tables for name in table.columns)
        names |= dict.fromkeys(role for role in self._owners if role in self._several and role not in names)
        only = self.tables[0].columns if len(self.tables) == 1 else None
        numbers = only.numbers if isinstance(only, LazyColumns) else None
        self.columns = LazyColumns(list(names), self.n_rows, self._load, numbers)

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return int(self.starts[-1]) if self.rows is None else len(self.rows)

    @property
    def source(self) -> str:
        """A name for messages."""
        more = f" and {len(self.tables) - 1} more" if len(self.tables) > 1 else ""
        return self.tables[0].source + more

    def only(self, rows: IntArray) -> Merged:
        """These rows in this order."""
        return self._saying_the_same(Merged(self.tables, rows if self.rows is None else self.rows[rows]))

    def having(self, selection: str, *, is_given: bool) -> Merged:
        """Without the tables that have no such score: their rows are no failed trials, they are something else.

        A benchmark with several scores of each problem is a question, unless the score ``is_given``.
        """
        if not is_given:
            self._ask_which_score()
        owners = self._owners.get(selection, [selection] * len(self.tables))
        lacking = []
        for place, (table, owner) in enumerate(zip(self.tables, owners, strict=True)):
            if {selection, owner} & set(table.columns) or split_path(selection, table.columns) is not None:
                continue
            why = f"it has no column {selection!r}"
            if table.roles and "selection" not in table.roles:
                why = f"it has no single score to select by: name one with {named('selection')}"
            self.skipped.append(Skipped(table.source, f"{why}; its {table.n_rows} rows are left out"))
            lacking.append(place)
        return self.only(np.flatnonzero(~np.isin(self.table_codes(), lacking))) if lacking else self

    def _ask_which_score(self) -> None:
        unclear = [table for table in self.present() if "scores" in table.facts]
        others = [table for table in self.present() if "selection" in table.roles]
        if not unclear or not others:
            return
        which = _telling(unclear, others)
        how = f", or leave it out with {named_condition(*which, '<>')}" if which else ""
        raise Ambiguous(
            f"{unclear[0].source}: the selection score could be any of {unclear[0].facts['scores']}; choose one with "
            f"{named('selection')}, which leaves out what has no such score{how}"
        )

    def reshaped(
        self,
        rows: IntArray,
        columns: Mapping[str, Cells],
        without: Collection[str],
        roles: Mapping[str, str] | None = None,
    ) -> Merged:
        """New columns beside the old ones but for some, each row made of one of the rows here."""
        whole = {name: self.columns[name][rows] for name in self.columns if name not in without} | dict(columns)
        roles = {role: name for role, name in (self.roles if roles is None else roles).items() if name in whole}
        origin = self.table_codes()[rows]
        parts = []
        for code in np.unique(origin).tolist():
            inside, table = np.flatnonzero(origin == code), self.tables[code]
            settings = table.configuration
            parts.append(
                replace(
                    table,
                    columns={name: column[inside] for name, column in whole.items()},
                    roles=roles,
                    configuration=None if settings is None else [name for name in settings if name in whole],
                    lines=None,
                    place_of=lambda row, made_of=rows[inside]: self.at(made_of[row]),
                )
            )
        return self._saying_the_same(Merged(parts))

    def _saying_the_same(self, other: Merged) -> Merged:
        other.skipped, other.cautions = self.skipped, self.cautions
        return other

    def matching(self, patterns: Sequence[str], what: str) -> list[str]:
        """The columns whose names match patterns, at least one; ``none`` matches no column."""
        chosen = [name for name in self.columns if name in patterns or any(fnmatchcase(name, p) for p in patterns)]
        if not chosen and tuple(patterns) != ("none",):
            raise InputError(f"no column of {self.source} matches {what} {', '.join(patterns)}")
        return chosen

    def present(self) -> list[RawTable]:
        """The tables that still have rows here."""
        if self.rows is None:
            return [table for table in self.tables if table.n_rows]
        counts = np.bincount(self.table_codes(), minlength=len(self.tables))
        return [table for table, count in zip(self.tables, counts, strict=True) if count]

    def codes(self, *columns: str, within: Codes | None = None) -> Codes:
        """Rows that are alike in all of these columns have one code; ``within``: in these codes, too."""
        start = np.zeros(self.n_rows, dtype=np.int32) if within is None else within
        return joint_codes([start, *(as_codes(self.columns[name])[1] for name in columns)])

    def table_codes(self) -> Codes:
        """Which table each row comes from."""
        codes = np.repeat(np.arange(len(self.tables), dtype=np.int32), np.diff(self.starts))
        return codes if self.rows is None else codes[self.rows]

    def direction(self, column: str, chosen: bool) -> str | None:
        """Which way the formats say that a score is better; ``chosen``: it is the one they select by.

        Tables of which a row is left and that disagree cannot be read together.
        """
        left = self.present()
        ways = {
            table.source: way
            for table in left
            if (way := table.facts.get(f"direction:{column}", table.direction if chosen else None))
        }
        if len(set(ways.values())) > 1:
            listed = ", ".join(f"{source} ({way})" for source, way in ways.items())
            first, *_ = ways
            mine = [table for table in left if table.source == first]
            telling = _telling(mine, [table for table in left if table.source in ways and table.source != first])
            how = f", e.g. {named_condition(*telling)}" if telling else ""
            raise InputError(
                f"these cannot be read together, since their scores point in different directions: {listed}; read "
                f"them one at a time{how}"
            )
        return next(iter(ways.values()), None)

    def at(self, row: int) -> str:
        """Where a row stands in its source."""
        whole = int(row if self.rows is None else self.rows[row])
        table = int(np.searchsorted(self.starts, whole, side="right")) - 1
        return self.tables[table].at(whole - int(self.starts[table]))

    def source_codes(self) -> tuple[tuple[str, ...], Codes]:
        """The name of each row's source without its ending, as codes."""
        names: dict[str, int] = {}
        per_table = [names.setdefault(stem(table.source), len(names)) for table in self.tables]
        return tuple(names), np.array(per_table, dtype=np.int32)[self.table_codes()]

    def numbers(self, name: str, role: str) -> ReadNumbers:
        """A column as numbers; conversions are said, and a column that holds mostly words is refused."""
        if name not in self.columns:
            raise no_item(self.source, name, role)
        read = as_numbers(self.columns[name])
        if len(read.words) * 2 > self.n_rows - int(read.empty.sum()):
            row, word = next(iter(read.words.items()))
            raise InputError(
                f"the column for {named(role)}, {name!r}, must hold numbers, and {len(read.words)} of {self.n_rows} "
                f"cells do not (first: {word!r} at {self.at(row)}); choose another column"
            )
        if not is_numeric(self.columns[name]) and (cells := thousands_or_decimals(as_codes(self.columns[name])[0])):
            raise InputError(
                f"{self.source}: in {name!r}, the column for {named(role)}, {cells[0]!r} stands beside {cells[1]!r}, "
                "so that its point may part thousands: write such numbers without separators, or all with equally many "
                "decimals"
            )
        for how, (count, first) in read.converted.items():
            self.say("converted-numbers", count, count=count, column=name, how=how, first=first)
        return read

    def numbers_beside(self, name: str, role: str) -> ReadNumbers:
        """As `numbers`, of a column that only describes a trial: text in it does not cost the trial, and is said."""
        read = self.numbers(name, role)
        for row, word in list(read.words.items())[:_KEPT_WORDS]:
            self.skipped.append(Skipped(f"{self.at(row)}, column {name!r}", f"{word!r} is not a number; read as empty"))
        if len(read.words) > _KEPT_WORDS:
            more = f"{len(read.words) - _KEPT_WORDS} more cells are not numbers"
            self.skipped.append(Skipped(f"{self.source}, column {name!r}", more))
        return read

    def say(self, code: str, value: float | None = None, *, kind: str = "", **facts: object) -> None:
        """Add a caution about the whole reading."""
        self.cautions.append(Caution.of(code, None, value, kind=kind, **facts))

    def skip(self, rows: BoolArray, why: str | dict[int, str]) -> None:
        """These rows are left out."""
        places = np.flatnonzero(rows)
        room = max(0, _KEPT_SKIPPED - len(self.skipped))
        for row in places[:room].tolist():
            self.skipped.append(Skipped(self.at(row), why if isinstance(why, str) else why[row]))
        if len(places) > room:
            reason = why if isinstance(why, str) else "their score is not a number"
            self.skipped.append(Skipped(self.source, f"{len(places) - room} more rows: {reason}"))

    def _load(self, name: str) -> Cells:
        owners = self._owners[name] if name in self._several else [name] * len(self.tables)
        known_as = [name if name in table.columns else owner for table, owner in zip(self.tables, owners, strict=True)]
        column = stacked([(table.columns.get(o), table.n_rows) for table, o in zip(self.tables, known_as, strict=True)])
        return column if self.rows is None else column[self.rows]


def without_copies(table: Merged, numbers: Collection[str]) -> Merged:
    """Without rows that are there again with the number of their run, such as a seed, and all they hold.

    Two runs may agree by chance where scores tie: there only a table that is all there several times has copies.
    """
    numbered = any(len(as_codes(table.columns[name])[0]) > 1 for name in numbers)
    if not numbered or len(table.tables) > 1 or table.n_rows > _MOST_COMPARED:
        return table
    if any(is_series(table.columns[name]) for name in table.columns):
        return table
    _, first, counts = np.unique(table.codes(*table.columns), return_index=True, return_counts=True)
    if counts.max() == 1:
        return table
    all_again = counts[0] > 1 and np.ptp(counts) == 0
    copies = ~np.isin(np.arange(table.n_rows), first)
    if not all_again:  # a row without a score is another failure
        measured = [name for name in table.columns if _is_seldom_tied(table.columns[name], first)]
        copies &= np.any([np.isfinite(as_numbers(table.columns[name]).values) for name in measured], axis=0)
    if not copies.any():
        return table
    table.skip(copies, "a copy: it repeats another row, its seed or number included")
    return table.only(np.sort(first))


def _is_seldom_tied(column: Cells, rows: IntArray) -> bool:
    """Whether a column holds a number with decimals that hardly comes again."""
    values = as_numbers(column).values[rows]
    values = values[np.isfinite(values)]
    real = bool((values % 1 != 0).any())
    return real and np.unique(values).size >= _SELDOM_TIED * max(values.size, 0.5 * rows.size, 5)


def _telling(mine: Sequence[RawTable], others: Sequence[RawTable]) -> tuple[str, str] | None:
    """A column with one value in some tables that the others do not have, and the value."""
    family = mine[0].roles.get("family")
    for name in [*([family] if family else []), *mine[0].columns]:
        values = {value for table in mine if name in table.columns for value in as_codes(table.columns[name])[0]}
        known = {value for table in others if name in table.columns for value in as_codes(table.columns[name])[0]}
        if len(values) == 1 and not values & known:
            return name, values.pop()
    return None


def _common_roles(tables: Sequence[RawTable]) -> dict[str, list[str]]:
    """Role -> its column in each table; where only some tables name one, the others are asked for the same."""
    common: dict[str, list[str]] = {}
    for role in dict.fromkeys(role for table in tables for role in table.roles):
        names = {table.roles[role] for table in tables if role in table.roles}
        if role == "cost" and len({table.cost_unit for table in tables if role in table.roles}) > 1:
            # dollars and seconds do not add up: seconds, where all tables have them, else no cost
            timed = {table.roles[role] for table in tables if role in table.roles and table.cost_unit == "s"}
            shared = [name for name in timed if all(name in table.columns for table in tables)]
            if len(shared) == 1:
                common[role] = shared * len(tables)
            continue
        otherwise = next(iter(names)) if len(names) == 1 else role
        common[role] = [table.roles.get(role, otherwise) for table in tables]
    return common
