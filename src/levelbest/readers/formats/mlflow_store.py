"""MLflow's tracking stores, the SQLite database and the folder ``mlruns``, read without MLflow."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from levelbest import _check
from levelbest.errors import DataError
from levelbest.readers.formats._rows import (
    Record,
    Run,
    has_tables,
    number,
    open_sqlite,
    rows_by_step,
    runs_table,
    table_names,
)
from levelbest.readers.formats._searches import search_family
from levelbest.readers.formats._tree import Tree, holds, open_tree
from levelbest.readers.raw import RawTable, Reader
from levelbest.trials import Skipped

__all__ = ["READERS"]

_STATUS = {"FINISHED": "ok", "FAILED": "failed", "KILLED": "failed", "RUNNING": "running"}
_STATUS_NUMBERS = {"1": "RUNNING", "2": "SCHEDULED", "3": "FINISHED", "4": "FAILED", "5": "KILLED"}
_TABLES = {"experiments", "runs", "params", "metrics"}


@dataclass
class _Run:
    """One run as stored."""

    run_id: str
    experiment: str
    name: str
    status: str
    stage: str = "active"
    start: float | None = None
    end: float | None = None
    params: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    points: list[tuple[str, float, float]] = field(default_factory=list)
    """(metric, step, value), in the order of step and time."""


def _read_database(path: Path, *, experiment: str | None = None, history: bool = False, **_: object) -> list[RawTable]:
    """One table per experiment, one row per run with its last metrics; ``history``: a row per run and step."""
    with open_sqlite(path) as connection:
        tables = table_names(connection)
        missing = _TABLES - tables
        if missing:
            raise DataError(f"{path.name} is no MLflow database: it has no table {', '.join(sorted(missing))}")
        names = {i: str(name) for i, name in connection.execute("SELECT experiment_id, name FROM experiments")}
        runs: dict[Any, _Run] = {}
        for row in connection.execute(
            "SELECT run_uuid, experiment_id, name, status, lifecycle_stage, start_time, end_time FROM runs"
        ):
            home = names.get(row[1], f"experiment {row[1]}")
            runs[row[0]] = _Run(
                str(row[0]), home, str(row[2] or ""), str(row[3]), str(row[4]), number(row[5]), number(row[6])
            )
        for kind in ("params", "tags"):
            for key, value, run in connection.execute(f"SELECT key, value, run_uuid FROM {kind}"):
                if run in runs:
                    getattr(runs[run], kind)[str(key)] = str(value)
        # MLflow keeps the last value of each metric apart: the history can be a thousand times longer.
        table = "latest_metrics" if "latest_metrics" in tables and not history else "metrics"
        for key, value, is_nan, step, run in connection.execute(
            f"SELECT key, value, is_nan, step, run_uuid FROM {table} ORDER BY step, timestamp, value"
        ):
            if run in runs:
                score = math.nan if is_nan else _unclamped(number(value))
                runs[run].points.append((str(key), number(step) or 0.0, score))
    return _result(list(runs.values()), path.name, experiment, history, "MLflow SQLite store", [])


def _unclamped(value: float | None) -> float:
    # The database stores an infinite metric as the largest double.
    if value is None:
        return math.nan
    return math.copysign(math.inf, value) if abs(value) == sys.float_info.max else value


def _recognises_folder(path: Path) -> bool:
    described: set[tuple[str, ...]] = set()
    measured: set[tuple[str, ...]] = set()

    def is_run(name: str) -> bool:
        parts = PurePosixPath(name).parts
        if parts[-1] == "meta.yaml":
            described.add(parts[:-1])
            return parts[:-1] in measured
        here = {parts[:place] for place, part in enumerate(parts[:-1]) if part in ("metrics", "params")}
        measured.update(here)
        return bool(here & described)

    return holds(path, is_run)


def _read_folder(path: Path, *, experiment: str | None = None, history: bool = False, **_: object) -> list[RawTable]:
    """One table per experiment, one row per run with its last metrics; ``history``: a row per run and step."""

    def wanted(name: str) -> bool:
        parts = PurePosixPath(name).parts
        return parts[-1] == "meta.yaml" or bool({"metrics", "params", "tags"} & set(parts[:-1]))

    tree = open_tree(path, wanted)
    skipped: list[Skipped] = []
    experiments: dict[str, str] = {}
    runs: dict[str, _Run] = {}
    for name in tree.named("meta.yaml"):
        meta = tree.document(name, skipped)
        folder = str(PurePosixPath(name).parent)
        if "run_id" in meta or "run_uuid" in meta:
            status = str(meta.get("status"))
            runs[folder] = _Run(
                run_id=str(meta.get("run_id", meta.get("run_uuid"))),
                experiment=str(meta.get("experiment_id")),
                name=str(meta.get("run_name") or ""),
                status=_STATUS_NUMBERS.get(status, status),
                stage="deleted" if ".trash" in folder else str(meta.get("lifecycle_stage", "active")),
                start=number(meta.get("start_time")),
                end=number(meta.get("end_time")),
            )
        elif "name" in meta:
            experiments[str(meta.get("experiment_id", PurePosixPath(folder).name))] = str(meta["name"])
    described = {str(PurePosixPath(name).parent) for name in tree.named("meta.yaml")}
    inner = [PurePosixPath(folder) for folder in tree.folders]
    measured = {str(folder.parent) for folder in inner if folder.name in ("metrics", "params")}
    skipped += [Skipped(folder, "a run without its meta.yaml") for folder in sorted(measured - described)]
    for folder, run in runs.items():
        run.experiment = experiments.get(run.experiment, run.experiment)
        _read_run_files(tree, folder, run, skipped)
    return _result(list(runs.values()), tree.name, experiment, history, "MLflow file store", skipped)


def _read_run_files(tree: Tree, folder: str, run: _Run, skipped: list[Skipped]) -> None:
    points: list[tuple[float, float, str, float]] = []
    for name in tree.files:
        if folder != "." and not name.startswith(f"{folder}/"):
            continue
        kind, _, key = str(PurePosixPath(name).relative_to(folder)).partition("/")
        if kind in ("params", "tags"):
            getattr(run, kind)[key] = tree.text(name).strip()
        elif kind == "metrics":
            for place, line in enumerate(tree.text(name).splitlines(), start=1):
                values = [number(part) for part in line.split()[:3]]
                if len(values) < 2 or values[0] is None or values[1] is None:
                    skipped.append(Skipped(f"{name}, line {place}", "not a time, a value and a step"))
                    continue
                step = (values[2] if len(values) == 3 else None) or 0.0
                points.append((step, values[0], key, values[1]))
    run.points = [(key, step, value) for step, _, key, value in sorted(points, key=lambda point: point[:2])]


def _result(
    runs: list[_Run], source: str, experiment: str | None, history: bool, about: str, skipped: list[Skipped]
) -> list[RawTable]:
    if not runs:
        raise DataError(f"{source} is an {about} without a run")
    names = sorted({run.experiment for run in runs})
    if experiment is not None:
        names = [_check.as_choice(experiment, names, f"experiment in {source}")]
    tables = [_table([run for run in runs if run.experiment == name], name, history, about) for name in names]
    tables[0].skipped.extend(skipped)
    full = [table for table in tables if table.n_rows]
    if not full:
        raise DataError(f"{source}: no run is left, e.g. {tables[0].skipped[0].where}: {tables[0].skipped[0].why}")
    for table in tables:
        if not table.n_rows:
            full[0].skipped.extend(table.skipped)
    return full


def _table(runs: list[_Run], experiment: str, history: bool, about: str) -> RawTable:
    parents = {run.tags.get("mlflow.parentRunId") for run in runs}
    searches = _searches(runs, parents)
    skipped: list[Skipped] = []
    kept: list[Run] = []
    for run in sorted(runs, key=lambda other: (math.inf if other.start is None else other.start, other.run_id)):
        why = None
        if run.stage == "deleted":
            why = "deleted"
        elif run.run_id in parents:
            why = "the parent of other runs, not a trial itself"
        elif run.status not in _STATUS:
            why = "planned, never started" if run.status == "SCHEDULED" else f"unknown status {run.status!r}"
        if why:
            skipped.append(Skipped(f"{experiment}, run {run.name or run.run_id}", why))
            continue
        spent = None if run.start is None or run.end is None else (run.end - run.start) / 1000
        whole: Record = {"name": run.name, "duration_s": spent}
        whole |= {"search": searches[str(run.tags.get("mlflow.parentRunId"))]} if searches else {}
        # MLflow's own tags name the user, the machine and the code.
        whole |= {f"tags.{key}": value for key, value in run.tags.items() if not key.startswith("mlflow.")}
        settings: Record = {f"params.{key}": value for key, value in run.params.items()}
        points = [(f"metrics.{key}", step, value) for key, step, value in run.points]
        logged = rows_by_step(points) if history else [{name: value for name, _, value in points}]
        kept.append(Run(experiment, run.run_id, _STATUS[run.status], settings, logged, whole))
    for name in dict.fromkeys(name for run in kept for name in run.settings):  # MLflow stores every parameter as text
        given = [run.settings for run in kept if name in run.settings]
        if all(number(settings[name]) is not None for settings in given):
            for settings in given:
                settings[name] = number(settings[name])
    return runs_table(
        experiment,
        kept,
        "experiment",
        "run",
        about,
        steps=history,
        cost="duration_s",
        numbers=["duration_s"],
        skipped=skipped,
    )


def _searches(runs: list[_Run], parents: set[str | None]) -> dict[str, str]:
    """The names of parent runs by their ids, where they are one search run again: each has its trials nested in it.

    None where some trial has no parent, or where names differ in more than a number or the time.
    """
    by_id = {run.run_id: run for run in runs}
    trials = [run for run in runs if run.run_id not in parents and run.stage != "deleted"]
    used = dict.fromkeys(str(run.tags.get("mlflow.parentRunId")) for run in trials)
    if len(used) < 2 or not set(used) <= set(by_id):
        return {}
    names = {key: by_id[key].name or key for key in used}
    if len({search_family(by_id[key].name or "") for key in used}) > 1:
        return {}
    alone = len(set(names.values())) == len(names)
    return {key: name if alone else f"{name} {place + 1}" for place, (key, name) in enumerate(names.items())}


READERS = (
    Reader("mlflow", "MLflow SQLite store (mlflow.db)", lambda path: has_tables(path, _TABLES), _read_database),
    Reader("mlflow-folder", "MLflow file store (mlruns)", _recognises_folder, _read_folder),
)
