"""Syne Tune's experiments: the reports of all trials in results.csv.zip, and metadata.json beside it."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from levelbest.errors import DataError, LevelbestError
from levelbest.readers.formats._rows import parse_json
from levelbest.readers.formats._searches import repeated_searches
from levelbest.readers.formats._tree import holds, open_tree
from levelbest.readers.formats.exported import SYNE_TUNE, recogniser, with_export
from levelbest.readers.raw import RawTable, Reader
from levelbest.readers.tables.reader import read_table
from levelbest.trials import Skipped

__all__ = ["READER", "READERS"]

_RESULTS = "results.csv.zip"
_MOMENT = re.compile(r"-\d{4}-\d\d-\d\d-\d\d-\d\d-\d\d(-\d+)?$")
"""What Syne Tune puts after the name of an experiment."""
_is_table = recogniser(SYNE_TUNE)


def _recognises(path: Path) -> bool:
    if path.is_dir():
        return holds(path, lambda name: PurePosixPath(name).name == _RESULTS)
    return _is_table(path)


def _read(path: Path, **_: object) -> list[RawTable]:
    """A table for each experiment; experiments of one name are searches of one family."""
    if path.is_file():
        return [_experiment(path, _name_of(path.resolve().parent) if path.name == _RESULTS else path.name)]
    tree = open_tree(path, lambda name: PurePosixPath(name).name == _RESULTS)
    tables: list[RawTable] = []
    skipped: list[Skipped] = []
    for name, file in tree.files.items():
        home = path / PurePosixPath(name).parent
        try:
            tables.append(_experiment(Path(str(file)), _name_of(home.resolve())))
        except LevelbestError as error:
            skipped.append(Skipped(name, str(error)))
    if not tables:
        raise DataError(f"{tree.name} holds no results of Syne Tune: {skipped[0].where}: {skipped[0].why}")
    tables[0].skipped += skipped
    repeated_searches(tables, "experiment")
    return tables


def _name_of(folder: Path) -> str:
    return _MOMENT.sub("", folder.name) or folder.name


def _experiment(path: Path, name: str) -> RawTable:
    (table,) = read_table(path)
    if not set(table.columns) >= SYNE_TUNE.marks:
        raise DataError(f"{path.name} is no table of Syne Tune's reports")
    table.source = name
    with_export(table, SYNE_TUNE)
    _describe(table, path.with_name("metadata.json"))
    return table


def _describe(table: RawTable, path: Path) -> None:
    """The metrics, their direction and the scheduler, which Syne Tune writes beside the table."""
    try:
        written = parse_json(path.read_bytes())
    except (OSError, ValueError):
        return
    if not isinstance(written, dict):
        return
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


READER = Reader("syne-tune", "Syne Tune's experiments (results.csv.zip), or their folder", _recognises, _read)
READERS = (READER,)
