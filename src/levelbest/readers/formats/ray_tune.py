"""Ray Tune result folders: params.json, result.json or progress.csv and error.txt of each trial, read without Ray."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from levelbest.readers.formats._rows import Record, RunLog, flatten, number, runs_table
from levelbest.readers.formats._searches import repeated_searches
from levelbest.readers.formats._tree import Tree, distinct_names, tool
from levelbest.readers.raw import RawTable
from levelbest.readers.tables.files import json_value

__all__ = ["READERS"]

_TRIAL_FILES = ("params.json", "result.json", "progress.csv", "error.txt")
_NUMBERED = re.compile(r"^.+?_[0-9a-f]{5,}(?:_\d+)?_(\d+)(?:_|$)")
_STATUS = {"TERMINATED": "ok", "ERROR": "failed", "RUNNING": "running", "PAUSED": "running", "PENDING": "pending"}
# Where a trial ran and its number in Ray are unrelated to the model, and identify the machine.
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


def _tables(tree: Tree) -> list[RawTable]:
    """One table per experiment folder, one row per reported result, trials told apart by ``trial``."""
    experiments: dict[str, list[str]] = {}
    for name in tree.named("params.json", "result.json"):
        trial = PurePosixPath(name).parent
        folders = experiments.setdefault(str(trial.parent), [])
        if str(trial) not in folders:
            folders.append(str(trial))
    names = distinct_names(experiments, tree.name)
    tables = [_table(tree, home, names[home], folders) for home, folders in experiments.items()]
    repeated_searches(tables, "experiment")
    return tables


def _table(tree: Tree, home: str, family: str, folders: list[str]) -> RawTable:
    state = _experiment_state(tree, home)
    runs: list[RunLog] = []
    known = all(PurePosixPath(name).name in state.started for name in folders)
    for folder in sorted(folders, key=lambda name: (state.start(name) if known else 0, _number(name))):
        name = PurePosixPath(folder).name
        settings, results = _trial(tree, folder)
        status = _status(tree, folder, state.status.get(name), bool(results))
        if status == "pending":
            tree.skip(f"{family}/{name}", "planned, never started")
            continue
        spent = max((t for r in results if (t := number(r.get("time_total_s"))) is not None), default=math.nan)
        runs.append(RunLog(family, name, status, settings, results, {"trial_time_s": spent}))
    facts = {f"sampler:{family}": state.searcher} if state.searcher else {}
    about = "Ray Tune result folder"
    table = runs_table(family, runs, "experiment", "trial", about, steps=True, cost="trial_time_s", facts=facts)
    if state.metric in table.columns:
        table.roles["selection"] = str(state.metric)
    return table


def _number(folder: str) -> int:
    match = _NUMBERED.match(PurePosixPath(folder).name)
    return int(match.group(1)) if match else 0


def _trial(tree: Tree, folder: str) -> tuple[Record, list[Record]]:
    """A trial's configuration and its results, one per report."""
    results: list[Record] = []
    config: object = {}
    source, table = f"{folder}/result.json", f"{folder}/progress.csv"
    if source in tree.files:
        for place, result in tree.objects(source, "result"):
            with tree.trying(f"{source}, line {place}"):
                config = result.pop("config", config)
                results.append(_public(flatten(result)))
    elif table in tree.files:
        for row in tree.csv_rows(table):
            result = {key.replace("/", "."): value for key, value in row.items()}
            results.append(_public({key: value for key, value in result.items() if not key.startswith("config.")}))
    settings = tree.document(f"{folder}/params.json", under="config")
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


def _experiment_state(tree: Tree, home: str) -> _State:
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
        with tree.trying(name, "statuses not read from it"):
            stored = tree.object_in(name)
            metric = stored["runner_data"].get("_metric")
            state.metric = metric.replace("/", ".") if isinstance(metric, str) else None
            for entry in stored["trial_data"]:
                trial, moment = (json_value(part) for part in entry)
                folder = str(trial["relative_logdir"])
                state.status[folder] = str(trial["status"])
                start = number(moment.get("start_time"))
                if start is not None:
                    state.started[folder] = start
    return state


_ABOUT = "Ray Tune result folder, or one packed as .tar.gz"
_WHAT = "Ray Tune trials: no folder with params.json and result.json"
_TOGETHER = ({"params.json"}, {"result.json", "progress.csv"})
READERS = (tool("ray-tune", _ABOUT, _tables, _WHAT, files=_wanted, together=_TOGETHER),)
