"""Keras Tuner's project folders: trial_*/trial.json, each with its hyperparameters, score and status."""

from __future__ import annotations

import math
import re
from pathlib import Path, PurePosixPath
from typing import Any

from levelbest.errors import DataError
from levelbest.readers.formats._rows import columns_of, flatten, number, parse_json, seed_of
from levelbest.readers.formats._tree import holds, open_tree
from levelbest.readers.raw import RawTable, Reader
from levelbest.trials import Skipped

__all__ = ["READER", "READERS"]

_TRIAL = re.compile(r"(?:.*/)?trial_[^/]+/trial\.json")
_STATUS = {"COMPLETED": "ok", "RUNNING": "running", "IDLE": "running", "INVALID": "failed", "FAILED": "failed"}
_STATUS |= {"STOPPED": "pruned"}


def _recognises(path: Path) -> bool:
    return holds(path, lambda name: _TRIAL.fullmatch(name) is not None)


def _read(path: Path, **_: Any) -> list[RawTable]:
    """One table, one row per trial; the score is the objective's best value over its steps."""
    tree = open_tree(path, lambda name: PurePosixPath(name).name in ("trial.json", "oracle.json"))
    skipped: list[Skipped] = []
    rows: list[dict[str, Any]] = []
    ways: set[str] = set()
    for name in tree.named("trial.json"):
        try:
            state = parse_json(tree.text(name))
            if not isinstance(state, dict) or "hyperparameters" not in state:
                raise ValueError("not the state of a trial")
            rows.append(_row(state, ways))
        except (ValueError, AttributeError, TypeError) as error:
            skipped.append(Skipped(name, f"not read: {error}"))
    if not rows:
        why = f": {skipped[0].where}: {skipped[0].why}" if skipped else ""
        raise DataError(f"{tree.name} holds no trial of Keras Tuner{why}")
    columns = columns_of(rows, ["trial", "status", "score"], numbers=["score"])
    configuration = [name for name in columns if name.startswith("hyperparameters.")]
    facts = {"format": "Keras Tuner project"}
    if "oracle.json" in {PurePosixPath(name).name for name in tree.files}:
        facts |= _sampler(tree.text(tree.named("oracle.json")[0]))
    return [
        RawTable(
            source=tree.name,
            columns=columns,
            roles={"selection": "score", "status": "status"} | seed_of(configuration),
            configuration=configuration,
            direction=ways.pop() if len(ways) == 1 else None,
            facts=facts,
            skipped=skipped,
        )
    ]


def _row(state: dict[str, Any], ways: set[str]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "trial": str(state.get("trial_id")),
        "status": _STATUS.get(str(state.get("status")), "failed"),
    }
    row["score"] = number(state.get("score"))
    settings = state["hyperparameters"].get("values", {})
    # Names with a slash are Keras Tuner's own: which bracket, how many epochs.
    row |= flatten({key: value for key, value in settings.items() if not key.startswith("tuner/")}, "hyperparameters")
    metrics = (state.get("metrics") or {}).get("metrics") or {}
    for name, metric in metrics.items():
        values = [number(value) for seen in metric.get("observations", []) for value in seen.get("value", [])]
        known = [value for value in values if value is not None and math.isfinite(value)]
        if known:
            best = min(known) if metric.get("direction") == "min" else max(known)
            row[f"metrics.{name}"] = best
            if best == row["score"]:
                ways.add(str(metric.get("direction")))
    return row


def _sampler(text: str) -> dict[str, str]:
    """What chose the trials, by what only it stores."""
    try:
        oracle = parse_json(text)
    except ValueError:
        return {}
    marks = {"hyperband_iterations": "Hyperband", "brackets": "Hyperband", "populate_next": "GridSearch"}
    for mark, sampler in marks.items():
        if isinstance(oracle, dict) and mark in oracle:
            return {"sampler": sampler}
    return {}


READER = Reader("keras-tuner", "Keras Tuner project folder (trial_*/trial.json)", _recognises, _read)
READERS = (READER,)
