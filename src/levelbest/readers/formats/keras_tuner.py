"""Keras Tuner's project folders: trial_*/trial.json, each with its hyperparameters, score and status."""

from __future__ import annotations

import math
import re
from pathlib import Path, PurePosixPath

import numpy as np

from levelbest.errors import DataError
from levelbest.readers.formats._rows import Record, columns_of, flatten, number, parse_json, seed_of
from levelbest.readers.formats._searches import repeated_searches
from levelbest.readers.formats._tree import Tree, holds, open_tree
from levelbest.readers.raw import RawTable, Reader
from levelbest.trials import Skipped

__all__ = ["READER", "READERS"]

_TRIAL = re.compile(r"(?:.*/)?trial_[^/]+/trial\.json")
_STATUS = {"COMPLETED": "ok", "RUNNING": "running", "IDLE": "running", "INVALID": "failed", "FAILED": "failed"}
_STATUS |= {"STOPPED": "pruned"}
_MARKS = {"hyperband_iterations": "Hyperband", "brackets": "Hyperband", "num_initial_points": "BayesianOptimization"}
"""What only one kind of oracle stores. Random search and grid search store nothing of their own."""


def _recognises(path: Path) -> bool:
    return holds(path, lambda name: _TRIAL.fullmatch(name) is not None)


def _read(path: Path, **_: object) -> list[RawTable]:
    """A table for each project, one row per trial; the score is the objective's best value over its steps."""
    tree = open_tree(path, lambda name: PurePosixPath(name).name in ("trial.json", "oracle.json"))
    skipped: list[Skipped] = []
    projects: dict[PurePosixPath, list[Record]] = {}
    for name in tree.named("trial.json"):
        try:
            state = parse_json(tree.text(name))
            if not isinstance(state, dict) or "hyperparameters" not in state:
                raise ValueError("not the state of a trial")
            projects.setdefault(PurePosixPath(name).parent.parent, []).append(_row(state))
        except (ValueError, AttributeError, TypeError) as error:
            skipped.append(Skipped(name, f"not read: {error}"))
    if not projects:
        why = f": {skipped[0].where}: {skipped[0].why}" if skipped else ""
        raise DataError(f"{tree.name} holds no trial of Keras Tuner{why}")
    tables = []
    for home, rows in projects.items():
        oracle = _oracle(tree, str(home / "oracle.json"))
        tables.append(_table(rows, home.name or tree.name, oracle))
    tables[0].skipped += skipped
    repeated_searches(tables, "project")
    return tables


def _oracle(tree: Tree, name: str) -> Record:
    try:
        oracle = parse_json(tree.text(name)) if name in tree.files else None
    except ValueError:
        return {}
    return oracle if isinstance(oracle, dict) else {}


def _table(rows: list[Record], source: str, oracle: Record) -> RawTable:
    begun = oracle.get("start_order")
    places = {str(trial): place for place, trial in enumerate(begun if isinstance(begun, list) else ())}
    rows.sort(key=lambda row: places.get(row["trial"], len(places)))
    ways = {way for row in rows if (way := row.pop("direction"))}
    columns = columns_of(rows, ["trial", "status", "score"], numbers=["score"])
    configuration = [name for name in columns if name.startswith("hyperparameters.")]
    facts = {"format": "Keras Tuner project"}
    sampler = next((sampler for mark, sampler in _MARKS.items() if mark in oracle), None)
    if sampler is not None:
        facts[f"sampler:{source}"] = sampler
    return RawTable(
        source=source,
        columns=columns,
        roles={"selection": "score", "status": "status"} | seed_of(configuration),
        configuration=configuration,
        direction=ways.pop() if len(ways) == 1 else None,
        facts=facts,
    )


def _row(state: Record) -> Record:
    row: Record = {
        "trial": str(state.get("trial_id")),
        "status": _STATUS.get(str(state.get("status")), "failed"),
        "score": number(state.get("score")),
        "direction": None,
    }
    settings = state["hyperparameters"].get("values", {})
    # Names with a slash are Keras Tuner's own: which bracket, how many epochs.
    row |= flatten({key: value for key, value in settings.items() if not key.startswith("tuner/")}, "hyperparameters")
    metrics = (state.get("metrics") or {}).get("metrics") or {}
    for name, metric in metrics.items():
        known = [mean for step in metric.get("observations", []) if math.isfinite(mean := _mean(step))]
        if known:
            row[f"metrics.{name}"] = best = min(known) if metric.get("direction") == "min" else max(known)
            if best == row["score"]:
                row["direction"] = str(metric.get("direction"))
    return row


def _mean(step: Record) -> float:
    """A step's value: the mean over the executions of the trial."""
    values = [number(value) for value in step.get("value", [])]
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else math.nan


READER = Reader(
    "keras-tuner", "Keras Tuner project folder (trial_*/trial.json), or the folder of several", _recognises, _read
)
READERS = (READER,)
