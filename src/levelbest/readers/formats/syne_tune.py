"""Syne Tune's experiments: the reports of all trials in results.csv.zip, and metadata.json beside it."""

from __future__ import annotations

import re
from pathlib import Path

from levelbest.errors import DataError
from levelbest.readers.formats._searches import each_search
from levelbest.readers.formats._tree import beside, known_by
from levelbest.readers.formats.exported import SYNE_TUNE, recogniser, with_export
from levelbest.readers.raw import RawTable, Reader
from levelbest.readers.tables.reader import read_table

__all__ = ["READERS"]

_RESULTS = "results.csv.zip"
_MOMENT = re.compile(r"-\d{4}-\d\d-\d\d-\d\d-\d\d-\d\d(-\d+)?$")
"""What Syne Tune puts after the name of an experiment."""


def _read(path: Path, **_: object) -> list[RawTable]:
    """A table for each experiment; experiments of one name are searches of one family."""
    return each_search(path, _RESULTS, _experiment, "results of Syne Tune", "experiment")


def _experiment(path: Path, name: str) -> RawTable:
    (table,) = read_table(path)
    if not set(table.columns) >= SYNE_TUNE.marks:
        raise DataError(f"{name} is no table of Syne Tune's reports")
    folder = path.resolve().parent.name
    table.source = (_MOMENT.sub("", folder) or folder) if path.name == _RESULTS else path.name
    with_export(table, SYNE_TUNE)
    _describe(table, path)
    return table


def _describe(table: RawTable, path: Path) -> None:
    """The metrics, their direction and the scheduler, which Syne Tune writes beside the table."""
    written = beside(path, "metadata.json").document("metadata.json", table.skipped)
    metrics, modes = written.get("metric_names"), written.get("metric_mode")
    metrics = metrics if isinstance(metrics, list) else []
    modes = modes if isinstance(modes, list) else [modes] * len(metrics)
    table.facts |= {f"direction:{m}": way for m, way in zip(metrics, modes, strict=False) if way in ("min", "max")}
    if len(metrics) == 1 and metrics[0] in table.columns:
        table.roles["selection"] = metrics[0]
        table.direction = table.facts.get(f"direction:{metrics[0]}")
    if isinstance(written.get("tuner_name"), str):
        table.source = _MOMENT.sub("", written["tuner_name"]) or table.source
    if isinstance(written.get("scheduler_name"), str):
        table.facts[f"sampler:{table.source}"] = written["scheduler_name"]


_ABOUT = "Syne Tune's experiments (results.csv.zip), or their folder"
READERS = (Reader("syne-tune", _ABOUT, known_by(_RESULTS, recogniser(SYNE_TUNE)), _read),)
