"""NNI: an experiment's database (nni.sqlite) or folder, and what ``nnictl experiment export`` writes as JSON or CSV.

An export holds the trials that succeeded and no others; the database holds all of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from levelbest.cautions import Caution
from levelbest.errors import DataError
from levelbest.readers.formats._rows import Record, flatten, has_tables, number, open_sqlite, rows_table
from levelbest.readers.formats._searches import each_search
from levelbest.readers.formats._tree import known_by
from levelbest.readers.raw import RawTable, Reader
from levelbest.readers.tables.files import has_marks, head_of, json_value, kind_of, read_bytes, stem
from levelbest.readers.tables.reader import read_table
from levelbest.trials import Skipped

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


def _read_database(path: Path, **_: object) -> list[RawTable]:
    """A table for each experiment; experiments of one name are searches of one family."""
    return each_search(path, _DATABASE, _experiment, "experiment of NNI", "experiment")


def _experiment(path: Path, place: str) -> RawTable:
    """One row per trial; its score is the final result, its cost the time from its start to its end."""
    with open_sqlite(path) as connection:
        events = connection.execute(
            "SELECT trialJobId, event, timestamp, data, sequenceId FROM TrialJobEvent ORDER BY timestamp, rowid"
        ).fetchall()
        finals = connection.execute(
            "SELECT trialJobId, data FROM MetricData WHERE type = 'FINAL' ORDER BY timestamp, rowid"
        ).fetchall()
        profile = connection.execute(
            "SELECT params, id FROM ExperimentProfile ORDER BY revision DESC LIMIT 1"
        ).fetchone()
    plan, name = _profile(profile)
    skipped: list[Skipped] = []
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
            try:
                row |= _settings(json_value(data))
            except (ValueError, AttributeError) as error:
                skipped.append(Skipped(f"{place}, trial {trial}", f"its parameters were not read: {error}"))
    for trial, data in finals:
        if str(trial) in trials:
            trials[str(trial)] |= _scores(data)
    if not trials:
        raise DataError(f"{place} holds no trial of NNI")
    table = _table(list(trials.values()), name or stem(path.name), skipped)
    table.direction, sampler = _plan(plan)
    if sampler:
        table.facts[f"sampler:{table.source}"] = sampler
    return table


def _profile(row: Any) -> tuple[Record, str]:
    if row is None:
        return {}, ""
    try:
        plan = json_value(row[0])
    except (ValueError, TypeError):
        plan = None
    plan = plan if isinstance(plan, dict) else {}
    return plan, str(plan.get("experimentName") or row[1] or "")


def _plan(plan: Record) -> tuple[str | None, str]:
    """The direction that the tuner was told, and the tuner's name."""
    tuner = plan.get("tuner")
    if not isinstance(tuner, dict):
        return None, ""
    told = tuner.get("classArgs")
    way = _WAYS.get(str(told.get("optimize_mode"))) if isinstance(told, dict) else None
    name = str(tuner.get("name") or tuner.get("className") or "")
    return way, "GridSearch" if name in ("Batch", "BatchTuner") else name


def _is_export(path: Path) -> bool:
    head = head_of(path)
    if kind_of(path) == "json":
        return head.lstrip()[:1] == b"[" and has_marks(path, "parameter", "trialJobId")
    header = head.partition(b"\n")[0].decode("utf-8", errors="replace")
    return kind_of(path) == "csv" and "trialJobId" in header.strip().split(",")


def _read_export(path: Path, **options: object) -> list[RawTable]:
    """One table; the score is ``value``, whose direction NNI does not write there."""
    if kind_of(path) == "csv":
        (table,) = read_table(path, **options)
        # NNI's own headings, whether it is a reward or a loss.
        score = next((name for name in ("default", "reward") if name in table.columns), None)
        table.columns = {"value" if key == score else key: column for key, column in table.columns.items()}
        table.roles |= {"selection": "value"} if "value" in table.columns else {}
    else:
        table = _read_json(path)
    table.facts["format"] = "NNI export"
    table.cautions.append(Caution.of("failures", kind="not-written", tool="NNI's export"))
    return [table]


def _read_json(path: Path) -> RawTable:
    try:
        records = json_value(read_bytes(path).decode("utf-8", errors="replace"))
        if not isinstance(records, list):
            raise ValueError("it is no list of trials")
    except ValueError as error:
        raise DataError(f"{path.name} is no export of NNI: {error}") from None
    rows: list[Record] = []
    skipped: list[Skipped] = []
    for place, record in enumerate(records, 1):
        try:
            row = {"trial": str(record["trialJobId"])} | flatten(record["parameter"], "parameters")
            rows.append(row | _scores(record["value"]))
        except (KeyError, TypeError, ValueError) as error:
            skipped.append(Skipped(f"{path.name}, trial {place}", f"not read: {error!r}"[:200]))
    if not rows:
        raise DataError(f"{path.name} holds no trial of NNI")
    return _table(rows, path.name, skipped)


def _settings(data: Any) -> Record:
    given = data.get("parameters")
    return flatten(given, "parameters") if isinstance(given, dict) else {}


def _scores(data: object) -> Record:
    """A final result: a number, or a dictionary whose ``default`` is the score; written as JSON, once or twice."""
    for _ in range(2):
        if isinstance(data, str):
            try:
                data = json_value(data)
            except ValueError:
                break
    if not isinstance(data, dict):
        return {"value": number(data)}
    return {"value" if key == "default" else f"metrics.{key}": number(value) for key, value in data.items()}


def _table(rows: list[Record], source: str, skipped: list[Skipped]) -> RawTable:
    roles = {"selection": "value", "status": "status", "order": "number", "cost": "seconds"}
    numbers, about = ["value", "number", "seconds"], "NNI experiment"
    first = ["trial", "value"]
    return rows_table(source, rows, roles, about, settings="parameters.", first=first, numbers=numbers, skipped=skipped)


_ABOUT = "NNI experiment (nni.sqlite), or its folder"
READERS = (
    Reader("nni", _ABOUT, known_by(_DATABASE, lambda path: has_tables(path, _TABLES)), _read_database),
    Reader("nni-export", "NNI export (nnictl experiment export), JSON or CSV", _is_export, _read_export),
)
