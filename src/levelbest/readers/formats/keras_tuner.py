"""Keras Tuner's project folders: trial_*/trial.json, each with its hyperparameters, score and status."""

from __future__ import annotations

import math
import re
from pathlib import PurePosixPath

import numpy as np

from levelbest.readers.formats._rows import Record, flatten, number, rows_table
from levelbest.readers.formats._searches import repeated_searches
from levelbest.readers.formats._tree import Tree, tool
from levelbest.readers.raw import RawTable

__all__ = ["READERS"]

_TRIAL = re.compile(r"(?:.*/)?trial_[^/]+/trial\.json")
_STATUS = {"COMPLETED": "ok", "RUNNING": "running", "IDLE": "running", "INVALID": "failed", "FAILED": "failed"}
_STATUS |= {"STOPPED": "pruned"}
_MARKS = {"hyperband_iterations": "Hyperband", "brackets": "Hyperband", "num_initial_points": "BayesianOptimization"}
"""What only one kind of oracle stores. Random search and grid search store nothing of their own."""


def _is_trial(name: str) -> bool:
    return _TRIAL.fullmatch(name) is not None


def _tables(tree: Tree) -> list[RawTable]:
    """A table for each project, one row per trial; the score is the objective's best value over its steps."""
    projects: dict[PurePosixPath, list[Record]] = {}
    for name in tree.named("trial.json"):
        with tree.trying(name):
            row = _row(tree.object_in(name))
            projects.setdefault(PurePosixPath(name).parent.parent, []).append(row)
    tables = [
        _table(rows, home.name or tree.name, tree.document(str(home / "oracle.json")))
        for home, rows in projects.items()
    ]
    repeated_searches(tables, "project")
    return tables


def _table(rows: list[Record], source: str, oracle: Record) -> RawTable:
    begun = oracle.get("start_order")
    places = {str(trial): place for place, trial in enumerate(begun if isinstance(begun, list) else ())}
    rows.sort(key=lambda row: places.get(row["trial"], len(places)))
    ways = {way for row in rows if (way := row.pop("direction"))}
    sampler = next((sampler for mark, sampler in _MARKS.items() if mark in oracle), None)
    return rows_table(
        source,
        rows,
        {"selection": "score", "status": "status"},
        "Keras Tuner project",
        settings="hyperparameters.",
        first=["trial", "status", "score"],
        numbers=["score"],
        direction=ways.pop() if len(ways) == 1 else None,
        facts={} if sampler is None else {f"sampler:{source}": sampler},
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


_ABOUT = "Keras Tuner project folder (trial_*/trial.json), or the folder of several"
_FILES = ("trial.json", "oracle.json")
READERS = (tool("keras-tuner", _ABOUT, _tables, "trial of Keras Tuner", files=_FILES, known=_is_trial),)
