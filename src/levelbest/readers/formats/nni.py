"""NNI: an experiment's database (nni.sqlite) or folder, and what ``nnictl experiment export`` writes as JSON or CSV.

An export holds the trials that succeeded and no others; the database holds all of them.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from levelbest.cautions import Caution
from levelbest.errors import DataError
from levelbest.readers.formats._rows import Record, flatten, has_tables, number, open_sqlite, rows_table
from levelbest.readers.formats._searches import each_search
from levelbest.readers.formats._tree import Tree, tool
from levelbest.readers.formats.plain import read_table
from levelbest.readers.raw import RawTable
from levelbest.readers.tables.files import Json, Sign, json_value, kind_of, stem

__all__ = ["READERS"]

_DATABASE = "nni.sqlite"
_TABLES = {"TrialJobEvent", "MetricData", "ExperimentProfile"}
_STATUS = {
    **dict.fromkeys(("WAITING", "RUNNING", "UNKNOWN"), "running"),
    **dict.fromkeys(("FAILED", "USER_CANCELED", "SYS_CANCELED"), "failed"),
    "SUCCEEDED": "ok",
    "EARLY_STOPPED": "pruned",
}
_WAYS = {"maximize": "max", "minimize": "min"}


def _stored(tree: Tree) -> list[RawTable]:
    """A table for each experiment; experiments of one name are searches of one family."""
    return each_search(tree, tree.files, _experiment, "experiment")


def _experiment(tree: Tree, name: str) -> RawTable:
    """One row per trial; its score is the final result, its cost the time from its start to its end."""
    with open_sqlite(tree.path(name)) as connection:
        events = connection.execute(
            "SELECT trialJobId, event, timestamp, data, sequenceId FROM TrialJobEvent ORDER BY timestamp, rowid"
        ).fetchall()
        finals = connection.execute(
            "SELECT trialJobId, data FROM MetricData WHERE type = 'FINAL' ORDER BY timestamp, rowid"
        ).fetchall()
        profile = connection.execute(
            "SELECT params, id FROM ExperimentProfile ORDER BY revision DESC LIMIT 1"
        ).fetchone()
    trials: dict[str, Record] = {}
    started: dict[str, float] = {}
    for trial, event, moment, data, order in events:
        fresh = {"trial": str(trial), "number": number(order), "status": "running", "seconds": None}
        row = trials.setdefault(str(trial), fresh)
        row["status"] = _STATUS.get(str(event), row["status"])
        clock = number(moment)
        if event == "RUNNING" and clock is not None:
            started.setdefault(str(trial), clock)
        elif row["status"] != "running" and clock is not None and str(trial) in started:
            row["seconds"] = (clock - started[str(trial)]) / 1000
        if data:
            with tree.trying(f"{name}, trial {trial}", "its parameters were not read"):
                given = json_value(data).get("parameters")
                row |= flatten(given, "parameters") if isinstance(given, dict) else {}
    for trial, data in finals:
        if str(trial) in trials:
            trials[str(trial)] |= _scores(data)
    if not trials:
        raise DataError(f"{name} holds no trial of NNI")
    plan = _object(profile and profile[0])
    known_as = str(plan.get("experimentName") or (profile and profile[1]) or stem(PurePosixPath(name).name))
    table = _table(list(trials.values()), known_as)
    tuner = _object(plan.get("tuner"))
    table.direction = _WAYS.get(str(_object(tuner.get("classArgs")).get("optimize_mode")))
    sampler = str(tuner.get("name") or tuner.get("className") or "")
    if sampler:
        table.facts[f"sampler:{known_as}"] = "GridSearch" if sampler in ("Batch", "BatchTuner") else sampler
    return table


def _object(stored: Json) -> Record:
    """An object, written as JSON or not; empty where it is none."""
    value = _unpacked(stored)
    return value if isinstance(value, dict) else {}


def _unpacked(stored: Json) -> Json:
    """A value that was written as JSON, once or twice."""
    for _ in range(2):
        if isinstance(stored, str):
            try:
                stored = json_value(stored)
            except ValueError:
                break
    return stored


def _exported(tree: Tree) -> list[RawTable]:
    """One table; the score is ``value``, whose direction NNI does not write there."""
    path = tree.path(tree.name)
    if kind_of(path) == "csv":
        (table,) = read_table(path)
        # NNI's own headings, whether it is a reward or a loss.
        score = next((name for name in ("default", "reward") if name in table.columns), None)
        table.columns = {"value" if key == score else key: column for key, column in table.columns.items()}
        table.roles |= {"selection": "value"} if "value" in table.columns else {}
    else:
        rows = _json_rows(tree)
        if not rows:
            return []
        table = _table(rows, path.name)
    table.facts["format"] = "NNI export"
    table.cautions.append(Caution.of("failures", kind="not-written", tool="NNI's export"))
    return [table]


def _json_rows(tree: Tree) -> list[Record]:
    rows: list[Record] = []
    with tree.trying(tree.name):
        for place, record in enumerate(json_value(tree.text(tree.name)), 1):
            with tree.trying(f"{tree.name}, trial {place}"):
                row = {"trial": str(record["trialJobId"])} | flatten(record["parameter"], "parameters")
                rows.append(row | _scores(record["value"]))
    return rows


def _scores(stored: Json) -> Record:
    """A final result: a number, or a dictionary whose ``default`` is the score."""
    data = _unpacked(stored)
    if not isinstance(data, dict):
        return {"value": number(data)}
    return {"value" if key == "default" else f"metrics.{key}": number(value) for key, value in data.items()}


def _table(rows: list[Record], source: str) -> RawTable:
    roles = {"selection": "value", "status": "status", "order": "number", "cost": "seconds"}
    first, about = ["trial", "value"], "NNI experiment"
    return rows_table(source, rows, roles, about, settings="parameters.", first=first, numbers=["value"])


READERS = (
    tool(
        "nni",
        "NNI experiment (nni.sqlite), or its folder",
        _stored,
        "experiment of NNI",
        files=(_DATABASE,),
        file=lambda path: has_tables(path, _TABLES),
    ),
    tool(
        "nni-export",
        "NNI export (nnictl experiment export), JSON or CSV",
        _exported,
        "export of NNI",
        file=(Sign(kind="json", start=b"[", marks=("parameter", "trialJobId")), Sign(columns=({"trialJobId"},))),
    ),
)
