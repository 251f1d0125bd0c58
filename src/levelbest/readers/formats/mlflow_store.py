"""MLflow's tracking stores, the SQLite database and the folder ``mlruns``, read without MLflow."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from levelbest import _check
from levelbest.readers.formats._rows import (
    RunLog,
    has_tables,
    number,
    open_store,
    rows_by_step,
    runs_table,
    table_names,
)
from levelbest.readers.formats._searches import search_family
from levelbest.readers.formats._tree import Tree, tool
from levelbest.readers.raw import RawTable

__all__ = ["READERS"]

_STATUS = {"FINISHED": "ok", "FAILED": "failed", "KILLED": "failed", "RUNNING": "running"}
_STATUS_NUMBERS = {"1": "RUNNING", "2": "SCHEDULED", "3": "FINISHED", "4": "FAILED", "5": "KILLED"}
_TABLES = {"experiments", "runs", "params", "metrics"}
_PARTS = ("metrics", "params", "tags")
_PARENT = "mlflow.parentRunId"


@dataclass
class _StoredRun(RunLog):
    """One run as stored: its family is the experiment, its name the identifier."""

    label: str = ""
    stage: str = "active"
    start: float | None = None
    end: float | None = None
    params: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    points: list[tuple[float, float, str, float]] = field(default_factory=list)
    """(step, time, metric, value)."""


def _stored(tree: Tree, *, experiment: str | None = None, history: bool = False) -> list[RawTable]:
    """One table per experiment, one row per run with its last metrics; ``history``: a row per run and step."""
    runs: dict[object, _StoredRun] = {}
    with open_store(tree.path(tree.name), _TABLES, "MLflow database") as connection:
        names = {i: str(name) for i, name in connection.execute("SELECT experiment_id, name FROM experiments")}
        for key, home, label, status, stage, start, end in connection.execute(
            "SELECT run_uuid, experiment_id, name, status, lifecycle_stage, start_time, end_time FROM runs"
        ):
            run = _StoredRun(names.get(home, f"experiment {home}"), str(key), str(status), label=str(label or ""))
            run.stage, run.start, run.end = str(stage), number(start), number(end)
            runs[key] = run
        for kind in ("params", "tags"):
            for name, value, key in connection.execute(f"SELECT key, value, run_uuid FROM {kind}"):
                if key in runs:
                    getattr(runs[key], kind)[str(name)] = str(value)
        # MLflow keeps the last value of each metric apart: the history can be a thousand times longer.
        table = "latest_metrics" if "latest_metrics" in table_names(connection) and not history else "metrics"
        for place, (name, value, is_nan, step, key) in enumerate(
            connection.execute(
                f"SELECT key, value, is_nan, step, run_uuid FROM {table} ORDER BY step, timestamp, value"
            )
        ):
            if key in runs:
                score = number(value)
                if score is None or is_nan:
                    score = math.nan
                elif abs(score) == sys.float_info.max:  # the database stores an infinite metric as the largest double
                    score = math.copysign(math.inf, score)
                runs[key].points.append((number(step) or 0.0, place, str(name), score))
    return _tables(tree, runs.values(), experiment, history, "MLflow SQLite store")


def _is_wanted(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return parts[-1] == "meta.yaml" or not set(parts[:-1]).isdisjoint(_PARTS)


def _in_folder(tree: Tree, *, experiment: str | None = None, history: bool = False) -> list[RawTable]:
    """One table per experiment, one row per run with its last metrics; ``history``: a row per run and step."""
    experiments: dict[str, str] = {}
    runs: dict[str, _StoredRun] = {}
    described = {str(PurePosixPath(name).parent): tree.document(name) for name in tree.named("meta.yaml")}
    for folder, meta in described.items():
        if "run_id" in meta or "run_uuid" in meta:
            status, known_as = str(meta.get("status")), str(meta.get("run_id", meta.get("run_uuid")))
            run = _StoredRun(str(meta.get("experiment_id")), known_as, _STATUS_NUMBERS.get(status, status))
            run.label, run.start, run.end = (
                str(meta.get("run_name") or ""),
                number(meta.get("start_time")),
                number(meta.get("end_time")),
            )
            run.stage = "deleted" if ".trash" in folder else str(meta.get("lifecycle_stage", "active"))
            runs[folder] = run
        elif "name" in meta:
            experiments[str(meta.get("experiment_id", PurePosixPath(folder).name))] = str(meta["name"])
    inner = [PurePosixPath(folder) for folder in tree.folders]
    measured = {str(folder.parent) for folder in inner if folder.name in ("metrics", "params")}
    for folder in sorted(measured - set(described)):
        tree.skip(folder, "a run without its meta.yaml")
    for run in runs.values():
        run.family = experiments.get(run.family, run.family)
    for name in tree.files:
        parts = PurePosixPath(name).parts
        for place, part in enumerate(parts[:-1]):
            folder = "/".join(parts[:place]) or "."
            if part in _PARTS and folder in runs:
                _take(tree, name, runs[folder], part, "/".join(parts[place + 1 :]))
                break
    return _tables(tree, runs.values(), experiment, history, "MLflow file store")


def _take(tree: Tree, name: str, run: _StoredRun, kind: str, key: str) -> None:
    """What a file of a run says: a parameter, a tag, or the values of a metric, each with its time and step."""
    text = tree.text(name)
    if kind != "metrics":
        getattr(run, kind)[key] = text.strip()
        return
    for place, line in enumerate(text.splitlines(), start=1):
        moment, value, step, *_ = [*map(number, line.split()[:3]), None, None, None]
        if moment is None or value is None:
            tree.skip(f"{name}, line {place}", "not a time, a value and a step")
        else:
            run.points.append((step or 0.0, moment, key, value))


def _tables(
    tree: Tree, stored: Iterable[_StoredRun], experiment: str | None, history: bool, about: str
) -> list[RawTable]:
    runs = list(stored)
    names = sorted({run.family for run in runs})
    if experiment is not None and runs:
        names = [_check.as_choice(experiment, names, f"experiment in {tree.name}")]
    tables = [_table(tree, [run for run in runs if run.family == name], history, about) for name in names]
    return [table for table in tables if table.n_rows]


def _table(tree: Tree, runs: list[_StoredRun], history: bool, about: str) -> RawTable:
    parents = {run.tags.get(_PARENT) for run in runs}
    searches = _searches(runs, parents)
    kept: list[RunLog] = []
    for run in sorted(runs, key=lambda other: (math.inf if other.start is None else other.start, other.name)):
        why = _no_trial(run, parents)
        if why:
            tree.skip(f"{run.family}, run {run.label or run.name}", why)
            continue
        run.status = _STATUS[run.status]
        spent = None if run.start is None or run.end is None else (run.end - run.start) / 1000
        run.whole = {"name": run.label, "duration_s": spent}
        run.whole |= {"search": searches[str(run.tags.get(_PARENT))]} if searches else {}
        # MLflow's own tags name the user, the machine and the code.
        run.whole |= {f"tags.{key}": value for key, value in run.tags.items() if not key.startswith("mlflow.")}
        run.settings = {f"params.{key}": value for key, value in run.params.items()}
        points = [
            (f"metrics.{key}", step, value) for step, _, key, value in sorted(run.points, key=lambda point: point[:2])
        ]
        run.logged = rows_by_step(points) if history else [{name: value for name, _, value in points}]
        kept.append(run)
    _read_numbers(kept)
    return runs_table(runs[0].family, kept, "experiment", "run", about, steps=history, cost="duration_s")


def _no_trial(run: _StoredRun, parents: set[str | None]) -> str | None:
    """Why a run is no trial; None where it is one."""
    if run.stage == "deleted":
        return "deleted"
    if run.name in parents:
        return "the parent of other runs, not a trial itself"
    if run.status in _STATUS:
        return None
    return "planned, never started" if run.status == "SCHEDULED" else f"unknown status {run.status!r}"


def _read_numbers(runs: Iterable[RunLog]) -> None:
    """Settings that are numbers in every run as numbers: MLflow stores every parameter as text."""
    for name in dict.fromkeys(name for run in runs for name in run.settings):
        given = [run.settings for run in runs if name in run.settings]
        if all(number(settings[name]) is not None for settings in given):
            for settings in given:
                settings[name] = number(settings[name])


def _searches(runs: list[_StoredRun], parents: set[str | None]) -> dict[str, str]:
    """The names of parent runs by their ids, where they are one search run again: each has its trials nested in it.

    None where some trial has no parent, or where names differ in more than a number or the time.
    """
    by_id = {run.name: run for run in runs}
    trials = [run for run in runs if run.name not in parents and run.stage != "deleted"]
    used = dict.fromkeys(str(run.tags.get(_PARENT)) for run in trials)
    if len(used) < 2 or not set(used) <= set(by_id):
        return {}
    names = {key: by_id[key].label or key for key in used}
    if len({search_family(by_id[key].label) for key in used}) > 1:
        return {}
    alone = len(set(names.values())) == len(names)
    return {key: name if alone else f"{name} {place + 1}" for place, (key, name) in enumerate(names.items())}


READERS = (
    tool(
        "mlflow",
        "MLflow SQLite store (mlflow.db)",
        _stored,
        "run of MLflow",
        file=lambda path: has_tables(path, _TABLES),
    ),
    tool(
        "mlflow-folder",
        "MLflow file store (mlruns)",
        _in_folder,
        "run of MLflow",
        files=_is_wanted,
        together=({"meta.yaml"}, {"metrics", "params"}),
    ),
)
