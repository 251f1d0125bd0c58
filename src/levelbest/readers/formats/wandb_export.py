"""The table that Weights & Biases exports as CSV: one run per row, with State, Created and Runtime."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from levelbest.errors import LevelbestError
from levelbest.readers.columns import texts
from levelbest.readers.raw import RawTable, Reader
from levelbest.readers.tables.files import kind_of, read_bytes
from levelbest.readers.tables.reader import read_table

__all__ = ["READER", "READERS"]

_MARKS = {"State", "Created", "Runtime"}


def _recognises(path: Path) -> bool:
    if not path.is_file() or kind_of(path) != "csv":
        return False
    try:
        header = read_bytes(path, 65536).decode("utf-8", errors="replace").lstrip("\ufeff").partition("\n")[0]
        return set(next(csv.reader([header]), [])) >= _MARKS
    except (LevelbestError, csv.Error):
        return False


def _read(path: Path, **options: Any) -> list[RawTable]:
    """One table, one row per run; runs are ordered by when they were created."""
    tables = read_table(path, **options)
    for table in tables:
        if not set(table.columns) >= _MARKS:
            continue
        columns = dict(table.columns)
        created = [str(value or "") for value in _listed(columns["Created"])]
        columns["created_order"] = np.argsort(np.argsort(np.array(created), kind="stable"), kind="stable").astype(float)
        table.columns = columns
        table.roles |= {"status": "State", "cost": "Runtime", "order": "created_order"}
        table.cost_unit = "s"
        table.facts["format"] = "Weights & Biases CSV export"
    return tables


def _listed(column: Any) -> list[Any]:
    return list(texts(column)) if hasattr(column, "decode") else list(np.ma.getdata(column))


READER = Reader(
    name="wandb-csv",
    about="table of runs exported from Weights & Biases as CSV",
    recognises=_recognises,
    read=_read,
)
READERS = (READER,)
