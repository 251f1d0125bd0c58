"""Tables that trackers export, known by their columns: W&B's runs, Ray Tune's results, Syne Tune's reports."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from levelbest.errors import LevelbestError
from levelbest.readers.columns import texts
from levelbest.readers.formats._rows import parse_json
from levelbest.readers.raw import RawTable, Reader
from levelbest.readers.tables.files import kind_of, read_bytes
from levelbest.readers.tables.reader import read_table

__all__ = ["READERS", "known_export", "with_export"]


@dataclass(frozen=True)
class _Export:
    """One tool's table: the columns it is known by, and what they are."""

    name: str
    about: str
    format: str
    marks: frozenset[str]
    roles: dict[str, str]
    settings: str | None = None
    """What the names of hyperparameters begin with; None: they are what is left over."""
    created: str | None = None
    """The column that tells when a run began."""
    private: frozenset[str] = field(default_factory=frozenset)
    """Where a trial ran says nothing of the model, and names the machine."""


_WANDB = _Export(
    "wandb-csv",
    "table of runs exported from Weights & Biases as CSV",
    "Weights & Biases CSV export",
    frozenset({"State", "Created", "Runtime"}),
    {"status": "State", "cost": "Runtime"},
    created="Created",
)
_RAY = _Export(
    "ray-table",
    "table of Ray Tune's results (ResultGrid.get_dataframe)",
    "Ray Tune results table",
    frozenset({"trial_id", "training_iteration", "time_total_s"}),
    {"cost": "time_total_s", "trial": "trial_id"},
    settings="config/",
    private=frozenset(
        {"hostname", "node_ip", "pid", "logdir", "experiment_id", "date", "timestamp", "checkpoint_dir_name"}
    ),
)
_SYNE = _Export(
    "syne-tune",
    "Syne Tune's reports (results.csv.zip)",
    "Syne Tune reports",
    frozenset({"trial_id", "st_worker_time", "st_tuner_time"}),
    {"cost": "st_worker_time", "trial": "trial_id"},
    settings="config_",
    private=frozenset({"st_worker_timestamp", "st_tuner_time", "st_worker_iter", "st_worker_cost", "st_decision"}),
)
_EXPORTS = (_WANDB, _RAY, _SYNE)


def known_export(names: Any) -> _Export | None:
    """The tool whose table has these columns."""
    return next((export for export in _EXPORTS if export.marks <= set(names)), None)


def with_export(table: RawTable, export: _Export) -> RawTable:
    """The table with the parts that its columns play."""
    columns = {name: column for name, column in table.columns.items() if name not in export.private}
    table.roles |= {role: name for role, name in export.roles.items() if name in columns}
    if export.created is not None:
        moments = np.array([str(value or "") for value in texts(columns[export.created])])
        columns["created_order"] = np.argsort(np.argsort(moments, kind="stable"), kind="stable").astype(float)
        table.roles["order"] = "created_order"
    table.columns = columns
    if export.settings is not None:
        table.configuration = [name for name in columns if name.startswith(export.settings)]
    table.cost_unit = "s"
    table.facts["format"] = export.format
    return table


def _recogniser(export: _Export) -> Any:
    def recognises(path: Path) -> bool:
        if not path.is_file() or kind_of(path) != "csv":
            return False
        try:
            header = read_bytes(path, 65536).decode("utf-8", errors="replace").lstrip("\ufeff").partition("\n")[0]
            return known_export(next(csv.reader([header]), [])) is export
        except (LevelbestError, csv.Error):
            return False

    return recognises


def _reader(export: _Export) -> Any:
    def read(path: Path, **options: Any) -> list[RawTable]:
        tables = read_table(path, **options)
        for table in tables:
            if export.marks <= set(table.columns):
                with_export(table, export)
                if export is _SYNE:
                    _described(table, path.with_name("metadata.json"))
        return tables

    return read


def _described(table: RawTable, path: Path) -> None:
    """Syne Tune writes the metrics, their direction and the scheduler beside the table."""
    try:
        said = parse_json(path.read_bytes())
    except (OSError, ValueError):
        return
    if not isinstance(said, dict):
        return
    metrics, modes = said.get("metric_names"), said.get("metric_mode")
    metrics = metrics if isinstance(metrics, list) else []
    modes = modes if isinstance(modes, list) else [modes] * len(metrics)
    table.facts |= {f"direction:{m}": w for m, w in zip(metrics, modes, strict=False) if w in ("min", "max")}
    if len(metrics) == 1 and metrics[0] in table.columns:
        table.roles["selection"] = metrics[0]
        table.direction = table.facts.get(f"direction:{metrics[0]}")
    if isinstance(said.get("scheduler_name"), str):
        table.facts["sampler"] = said["scheduler_name"]
    if isinstance(said.get("tuner_name"), str):
        table.source = said["tuner_name"]


READERS = tuple(Reader(export.name, export.about, _recogniser(export), _reader(export)) for export in _EXPORTS)
