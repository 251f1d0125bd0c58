"""Ray Tune result folders: params.json, result.json or progress.csv and error.txt of each trial, read without Ray."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from levelbest.errors import DataError
from levelbest.readers.formats._metrics import csv_rows
from levelbest.readers.formats._rows import Record, Run, flatten, number, runs_table
from levelbest.readers.formats._searches import repeated_searches
from levelbest.readers.formats._tree import Tree, distinct_names, holds, open_tree
from levelbest.readers.raw import RawTable, Reader
from levelbest.readers.tables.files import json_value
from levelbest.trials import Skipped

__all__ = ["READERS"]

_TRIAL_FILES = ("params.json", "result.json", "progress.csv", "error.txt")
_NUMBERED = re.compile(r"^.+?_[0-9a-f]{5,}(?:_\d+)?_(\d+)(?:_|$)")
_STATUS = {"TERMINATED": "ok", "ERROR": "failed", "RUNNING": "running", "PAUSED": "running", "PENDING": "pending"}
# Where a trial ran and how Ray numbered it says nothing of the model, and names the machine.
_PRIVATE = {"hostname", "node_ip", "pid", "trial_id", "experiment_id", "experiment_tag", "checkpoint_dir_name"}


@dataclass
class _State:
    """What an experiment's own state file says."""

    metric: str | None = None
    searcher: str | None = None
    status: dict[str, str] = field(default_factory=dict)
    started: dict[str, float] = field(default_factory=dict)

    def start(self, folder: str) -> float:
        return self.started[PurePosixPath(folder).name]


def _wanted(path: str) -> bool:
    name = PurePosixPath(path).name
    return name in _TRIAL_FILES or (
        name.endswith(".json") and name.startswith(("experiment_state", "basic-variant-state", "search_gen_state"))
    )


def _recognises(path: Path) -> bool:
    seen: dict[str, set[str]] = {}

    def is_trial(name: str) -> bool:
        inside = PurePosixPath(name)
        files = seen.setdefault(str(inside.parent), set())
        files.add(inside.name)
        return "params.json" in files and bool(files & {"result.json", "progress.csv"})

    return holds(path, is_trial)


def _read(path: Path, **_: object) -> list[RawTable]:
    """One table per experiment folder, one row per reported result, trials told apart by ``trial``."""
    tree = open_tree(path, _wanted)
    experiments: dict[str, list[str]] = {}
    for name in tree.named("params.json", "result.json"):
        trial = PurePosixPath(name).parent
        folders = experiments.setdefault(str(trial.parent), [])
        if str(trial) not in folders:
            folders.append(str(trial))
    if not experiments:
        raise DataError(f"{tree.name} holds no Ray Tune trials: no folder with params.json and result.json")
    names = distinct_names(experiments, tree.name)
    tables = [_table(tree, home, names[home], folders) for home, folders in experiments.items()]
    repeated_searches(tables, "experiment")
    return tables


def _table(tree: Tree, home: str, family: str, folders: list[str]) -> RawTable:
    skipped: list[Skipped] = []
    state = _experiment_state(tree, home, skipped)
    runs: list[Run] = []
    known = all(PurePosixPath(name).name in state.started for name in folders)
    for folder in sorted(folders, key=lambda name: (state.start(name) if known else 0, _number(name))):
        name = PurePosixPath(folder).name
        settings, results = _trial(tree, folder, skipped)
        status = _status(tree, folder, state.status.get(name), bool(results))
        if status == "pending":
            skipped.append(Skipped(f"{family}/{name}", "planned, never started"))
            continue
        spent = max((t for r in results if (t := number(r.get("time_total_s"))) is not None), default=math.nan)
        runs.append(Run(family, name, status, settings, results, {"trial_time_s": spent}))
    facts = {f"sampler:{family}": state.searcher} if state.searcher else {}
    about = "Ray Tune result folder"
    table = runs_table(
        family, runs, "experiment", "trial", about, steps=True, cost="trial_time_s", facts=facts, skipped=skipped
    )
    if state.metric in table.columns:
        table.roles["selection"] = str(state.metric)
    return table


def _number(folder: str) -> int:
    match = _NUMBERED.match(PurePosixPath(folder).name)
    return int(match.group(1)) if match else 0


def _trial(tree: Tree, folder: str, skipped: list[Skipped]) -> tuple[Record, list[Record]]:
    """A trial's configuration and its results, one per report."""
    results: list[Record] = []
    config: object = {}
    source, table = f"{folder}/result.json", f"{folder}/progress.csv"
    if source in tree.files:
        for place, result, why in tree.lines(source):
            try:
                if not isinstance(result, dict):
                    raise ValueError(why or "not a result")
                config = result.pop("config", config)
                results.append(_public(flatten(result)))
            except ValueError as error:
                skipped.append(Skipped(f"{source}, line {place}", str(error)))
    elif table in tree.files:
        for row in csv_rows(table, tree.text(table), skipped):
            result = {key.replace("/", "."): value for key, value in row.items()}
            results.append(_public({key: value for key, value in result.items() if not key.startswith("config.")}))
    settings = tree.document(f"{folder}/params.json", skipped, under="config")
    return settings or flatten(config, "config"), results


def _public(result: Record) -> Record:
    # Metrics are written by Python's json: NaN and Infinity are numbers there, so text is text.
    return {key: value for key, value in result.items() if key not in _PRIVATE}


def _status(tree: Tree, folder: str, recorded: str | None, has_results: bool) -> str:
    if f"{folder}/error.txt" in tree.files and recorded not in ("RUNNING", "TERMINATED"):
        return "failed"
    if recorded is not None:
        return _STATUS.get(recorded, "failed")
    return "ok" if has_results else "failed"


def _experiment_state(tree: Tree, home: str, skipped: list[Skipped]) -> _State:
    """What the newest experiment_state file says: JSON, whose pickled parts stay shut."""
    state = _State()
    prefix = "" if home == "." else f"{home}/"
    here = [name for name in tree.files if name.startswith(prefix) and "/" not in name[len(prefix) :]]
    for name in here:
        base = PurePosixPath(name).name
        if base.startswith("search_gen_state"):
            state.searcher = "SearchGenerator"
        elif base.startswith("basic-variant-state") and state.searcher is None:
            state.searcher = "BasicVariantGenerator"
    files = [name for name in here if PurePosixPath(name).name.startswith("experiment_state")]
    for name in sorted(files)[-1:]:
        try:
            stored = json_value(tree.text(name))
            metric = stored["runner_data"].get("_metric")
            state.metric = metric.replace("/", ".") if isinstance(metric, str) else None
            for entry in stored["trial_data"]:
                trial, moment = (json_value(part) for part in entry)
                folder = str(trial["relative_logdir"])
                state.status[folder] = str(trial["status"])
                start = number(moment.get("start_time"))
                if start is not None:
                    state.started[folder] = start
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            skipped.append(Skipped(name, f"statuses not read from it: {error!r}"[:200]))
    return state


READERS = (Reader("ray-tune", "Ray Tune result folder, or one packed as .tar.gz", _recognises, _read),)
