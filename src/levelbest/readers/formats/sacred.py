"""Sacred's folders of runs (FileStorageObserver): config.json, run.json and metrics.json in a numbered folder each."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path, PurePosixPath

from levelbest.readers.formats._rows import Record, RunLog, flatten, rows_by_step, runs_table
from levelbest.readers.formats._tree import Tree, in_order, tool
from levelbest.readers.raw import RawTable
from levelbest.readers.tables.files import has_marks

__all__ = ["READERS"]

_RUN, _CONFIG, _METRICS = "run.json", "config.json", "metrics.json"
_NUMBER = re.compile(r"(?:^|/)(\d+)$")
_STATUS = {"COMPLETED": "ok", "RUNNING": "running", "QUEUED": "running"}
"""All else, FAILED, INTERRUPTED, TIMEOUT and DIED, did not get to its end."""
_LOOK = 20


def _is_run(path: Path) -> bool:
    return path.name == _RUN and has_marks(path, "experiment", "status", "start_time")


def _tables(tree: Tree) -> list[RawTable]:
    """One table per experiment, one row per step, or per run where nothing was logged by step."""
    families: dict[str, list[RunLog]] = {}
    for folder in in_order([str(PurePosixPath(name).parent) for name in tree.named(_RUN)], _NUMBER):
        name = str(PurePosixPath(folder, _RUN))
        about = tree.document(name)
        if not about:
            continue
        experiment = about.get("experiment")
        family = str(experiment.get("name") or tree.place.name) if isinstance(experiment, dict) else tree.place.name
        settings = tree.document(str(PurePosixPath(folder, _CONFIG)), under="config")
        status = _STATUS.get(str(about.get("status")), "failed")
        rows = _logged(tree, folder)
        final = about.get("result")
        with tree.trying(f"{name}, result"):
            ended = {} if final is None else flatten(final, "result") if isinstance(final, dict) else {"result": final}
            rows = [{**row, **ended} for row in rows or [{}]]
        label = PurePosixPath(folder).name or tree.place.name
        families.setdefault(family, []).append(RunLog(family, label, status, settings, rows, _duration(about)))
    return [
        runs_table(
            family,
            runs,
            "experiment",
            "run",
            "Sacred run folders",
            steps=any(len(run.logged) > 1 for run in runs),
            **({"cost": "seconds"} if any(run.whole for run in runs) else {}),
        )
        for family, runs in families.items()
    ]


def _logged(tree: Tree, folder: str) -> list[Record]:
    """A row for each step of metrics.json, ``{name: {"steps": [...], "values": [...]}}``."""
    points: list[tuple[str, object, object]] = []
    name = str(PurePosixPath(folder, _METRICS))
    for metric, series in tree.document(name).items():
        with tree.trying(f"{name}, {metric}"):
            points += [(metric, step, value) for step, value in zip(series["steps"], series["values"], strict=True)]
    return rows_by_step(points)


def _duration(about: Record) -> Record:
    try:
        begun, ended = (datetime.fromisoformat(str(about[key])) for key in ("start_time", "stop_time"))
        return {"seconds": (ended - begun).total_seconds()}
    except (KeyError, ValueError, TypeError):
        return {}


READERS = (
    tool(
        "sacred",
        "Sacred's folders of runs (run.json with config.json)",
        _tables,
        "run of Sacred",
        files=(_RUN, _CONFIG, _METRICS),
        known=(_RUN,),
        file=_is_run,
        beside=(_CONFIG, _METRICS),
        look=_LOOK,
        logs=True,
    ),
)
