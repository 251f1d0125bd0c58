"""What every reader hands over: a table of rows, and what the format itself knows about its columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from levelbest._check import IntArray
from levelbest.cautions import Caution
from levelbest.readers.columns import Cells, Coded, LazyColumns
from levelbest.trials import Skipped

__all__ = ["RawTable", "Reader"]


@dataclass
class RawTable:
    """Rows as columns. A reader fills this in; one pipeline after it chooses roles and builds Trials."""

    source: str
    """A name to show: a file's name or a study's, never an absolute path."""
    columns: Mapping[str, Cells]
    """One value per row, numbers as float64; None or NaN where a row has no value. Nested values keep dotted names.
    A masked entry is an empty cell, apart from a score that was written down as NaN."""
    roles: dict[str, str] = field(default_factory=dict)
    """Role (family, selection, reported, cost, seed, status, trial, order, group) -> column, as the format says."""
    configuration: list[str] | None = None
    """Columns that are hyperparameters; None: the format does not say, and they are what is left over."""
    direction: str | None = None
    cost_unit: str | None = None
    facts: dict[str, str] = field(default_factory=dict)
    """What the source recorded about itself, e.g. ``sampler:<family>`` -> ``TPESampler``."""
    lines: IntArray | None = None
    """Where each row stands in the source (line or record number), for messages; None: counted from 1."""
    row_name: str = "row"
    """What ``lines`` counts: ``line`` of a text file, ``row`` of a table, ``trial`` of a study."""
    place_of: Callable[[int], str] | None = None
    """Where a row stands, for messages, where ``lines`` does not tell."""
    skipped: list[Skipped] = field(default_factory=list)
    cautions: list[Caution] = field(default_factory=list)

    @property
    def n_rows(self) -> int:
        """How many rows the table has."""
        if isinstance(self.columns, LazyColumns):
            return self.columns.n_rows
        return len(next(iter(self.columns.values()))) if self.columns else 0

    def __post_init__(self) -> None:
        if isinstance(self.columns, LazyColumns):
            return
        sizes = {len(column) for column in self.columns.values()}
        if len(sizes) > 1:
            raise AssertionError(f"{self.source}: columns of different lengths {sorted(sizes)}")
        self.columns = {
            name: column if isinstance(column, Coded) else np.asanyarray(column)
            for name, column in self.columns.items()
        }

    def at(self, row: int) -> str:
        """Where a row stands, for a message."""
        if self.place_of is not None:
            return self.place_of(int(row))
        return f"{self.source}, {self.row_name} {int(row) + 1 if self.lines is None else int(self.lines[row])}"


@dataclass(frozen=True)
class Reader:
    """One format: its name, whether a path looks like it, and how to read it."""

    name: str
    about: str
    recognises: Callable[[Path], bool]
    """Cheap and exact: looks at names, magic bytes or a schema, never at a whole file; never raises."""
    read: Callable[..., list[RawTable]]
    """``read(path, ...)``, with options that are keywords; raises levelbest's own errors only."""
    read_logs: Callable[..., list[RawTable]] | None = None
    """``read_logs(paths, ...)``, where each file is the log of one run, and several of them are one table."""
