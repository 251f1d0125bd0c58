"""Ray Tune result folders: params.json, result.json or progress.csv and error.txt of each trial, read without Ray."""

from __future__ import annotations

import csv
import io
import math
import re
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from levelbest.errors import DataError
from levelbest.readers.formats._rows import Record, columns_of, flatten, number, parse_json, seed_of
from levelbest.readers.formats._searches import repeated_searches
from levelbest.readers.formats._tree import Tree, holds, open_tree
from levelbest.readers.raw import RawTable, Reader
from levelbest.trials import Skipped

__all__ = ["READER", "READERS"]

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
    names = _family_names(list(experiments), tree.name)
    tables = [_table(tree, home, names[home], folders) for home, folders in experiments.items()]
    repeated_searches(tables, "experiment")
    return tables


def _family_names(homes: list[str], root: str) -> dict[str, str]:
    """The last part of each folder's path, or the whole of it where two end alike."""
    last = {home: PurePosixPath(home).name or root for home in homes}
    return {home: name if list(last.values()).count(name) == 1 else home for home, name in last.items()}


def _table(tree: Tree, home: str, family: str, folders: list[str]) -> RawTable:
    skipped: list[Skipped] = []
    state = _experiment_state(tree, home, skipped)
    rows: list[Record] = []
    configuration: dict[str, None] = {}
    known = all(PurePosixPath(name).name in state.started for name in folders)
    for place, folder in enumerate(
        sorted(folders, key=lambda name: (state.start(name) if known else 0, _number(name)))
    ):
        name = PurePosixPath(folder).name
        config, results = _trial(tree, folder, skipped)
        status = _status(tree, folder, state.status.get(name), bool(results))
        if status == "pending":
            skipped.append(Skipped(f"{family}/{name}", "planned, never started"))
            continue
        configuration.update(dict.fromkeys(config))
        spent = max((t for r in results if (t := number(r.get("time_total_s"))) is not None), default=math.nan)
        common = {"experiment": family, "trial": name, "status": status, "order": place, **config}
        rows.extend({**common, "trial_time_s": spent, **result} for result in results or [{}])
    facts = {"format": "Ray Tune result folder"}
    if state.searcher:
        facts[f"sampler:{family}"] = state.searcher
    columns = columns_of(rows, ["experiment", "trial", "status", "order", *configuration, "trial_time_s"])
    roles = {"family": "experiment", "trial": "trial", "status": "status", "order": "order", "cost": "trial_time_s"}
    roles.update(seed_of(configuration))
    if state.metric in columns:
        roles["selection"] = str(state.metric)
    return RawTable(
        source=family,
        columns=columns,
        roles=roles,
        configuration=list(configuration),
        cost_unit="s",
        facts=facts,
        skipped=skipped,
    )


def _number(folder: str) -> int:
    match = _NUMBERED.match(PurePosixPath(folder).name)
    return int(match.group(1)) if match else 0


def _trial(tree: Tree, folder: str, skipped: list[Skipped]) -> tuple[dict[str, object], list[dict[str, object]]]:
    """A trial's configuration and its results, one per report."""
    results: list[dict[str, object]] = []
    config: object = {}
    source = f"{folder}/result.json"
    if source in tree.files:
        with tree.open(source) as lines:
            for place, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                try:
                    result = parse_json(line.decode("utf-8", errors="replace"))
                    if not isinstance(result, dict):
                        raise ValueError("not a result")
                    config = result.pop("config", config)
                    results.append(_public(flatten(result)))
                except ValueError as error:
                    skipped.append(Skipped(f"{source}, line {place}", f"not JSON: {error}"))
    elif f"{folder}/progress.csv" in tree.files:
        for row in csv.DictReader(io.StringIO(tree.text(f"{folder}/progress.csv"), newline="")):
            result = {str(k).replace("/", "."): v if (x := number(v)) is None else x for k, v in row.items()}
            results.append(_public({k: v for k, v in result.items() if v != "" and not k.startswith("config.")}))
    if f"{folder}/params.json" in tree.files:
        try:
            config = parse_json(tree.text(f"{folder}/params.json"))
        except ValueError as error:
            skipped.append(Skipped(f"{folder}/params.json", f"not JSON: {error}"))
    try:
        return {f"config.{key}": value for key, value in flatten(config or {}).items()}, results
    except ValueError as error:
        skipped.append(Skipped(f"{folder}/params.json", str(error)))
        return {}, results


def _public(result: dict[str, object]) -> dict[str, object]:
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
            stored = parse_json(tree.text(name))
            metric = stored["runner_data"].get("_metric")
            state.metric = metric.replace("/", ".") if isinstance(metric, str) else None
            for entry in stored["trial_data"]:
                trial, moment = (parse_json(part) for part in entry)
                folder = str(trial["relative_logdir"])
                state.status[folder] = str(trial["status"])
                start = number(moment.get("start_time"))
                if start is not None:
                    state.started[folder] = start
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            skipped.append(Skipped(name, f"statuses not read from it: {error!r}"[:200]))
    return state


READER = Reader(
    name="ray-tune",
    about="Ray Tune result folder, or one packed as .tar.gz",
    recognises=_recognises,
    read=_read,
)
READERS = (READER,)
