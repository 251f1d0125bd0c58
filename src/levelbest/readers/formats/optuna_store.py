"""Optuna's SQLite storage, every schema from 0.9 on, read without Optuna."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from levelbest.errors import DataError
from levelbest.readers.formats._optuna import DIRECTION, Study, Trial, moment, set_parameter, study_tables
from levelbest.readers.formats._rows import Record, has_tables, number, open_sqlite, table_names, whole
from levelbest.readers.raw import RawTable, Reader
from levelbest.readers.tables.files import json_value
from levelbest.trials import Skipped

__all__ = ["READERS"]

_VALUE_TYPES = {"INF_POS": math.inf, "INF_NEG": -math.inf, "NAN": math.nan}
_TABLES = {"studies", "trials", "trial_params"}
_MOST = 99
"""Objectives of one study: a damaged number must not ask for a billion columns."""


def _read(path: Path, *, study: str | None = None, **_: object) -> list[RawTable]:
    """One table per study; ``study`` names one of them."""
    with open_sqlite(path) as connection:
        tables = table_names(connection)
        missing = _TABLES - tables
        if missing:
            raise DataError(f"{path.name} is no Optuna storage: it has no table {', '.join(sorted(missing))}")
        try:
            studies = _studies(connection)
            _read_trials(connection, studies)
        except KeyError as error:
            raise DataError(f"{path.name} is no Optuna storage: a table of it has no column {error}") from error
        about = f"Optuna SQLite storage, schema {_schema(connection, tables)}"
    return study_tables(list(studies.values()), study, path.name, about)


def _rows(connection: sqlite3.Connection, table: str) -> Iterator[Record]:
    """The rows of a table in order of insertion, none where the schema has no such table."""
    if table not in table_names(connection):
        return
    cursor = connection.execute(f'SELECT * FROM "{table}" ORDER BY rowid')
    names = [column[0] for column in cursor.description]
    for row in cursor:
        yield dict(zip(names, row, strict=True))


def _schema(connection: sqlite3.Connection, tables: set[str]) -> str:
    if "alembic_version" in tables:
        version = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    else:  # before 0.10 the schema was the library's version
        version = connection.execute("SELECT library_version FROM version_info").fetchone()
    return str(version[0]) if version else "unknown"


def _studies(connection: sqlite3.Connection) -> dict[object, Study]:
    studies: dict[object, Study] = {}
    for row in _rows(connection, "studies"):
        directions = [DIRECTION.get(str(row["direction"]))] if "direction" in row else []
        studies[row["study_id"]] = Study(str(row["study_name"]), directions)
    ways: dict[object, dict[int, str | None]] = {}
    for row in _rows(connection, "study_directions"):
        objective = max(whole(row.get("objective")), 0)
        ways.setdefault(row["study_id"], {})[objective] = DIRECTION.get(str(row["direction"]))
    for key, by_objective in ways.items():
        if key in studies:
            studies[key].directions = [by_objective.get(i) for i in range(min(max(by_objective), _MOST) + 1)]
    for row in _rows(connection, "study_system_attributes"):
        if row["study_id"] in studies:
            studies[row["study_id"]].system_attrs[str(row["key"])] = _json_or_text(row["value_json"])
    return studies


def _read_trials(connection: sqlite3.Connection, studies: dict[object, Study]) -> None:
    trials: dict[Any, tuple[Trial, Study]] = {}
    for row in _rows(connection, "trials"):
        study = studies.get(row["study_id"])
        if study is None:
            if studies:
                note = Skipped(f"trial with id {row['trial_id']}", "its study does not exist")
                next(iter(studies.values())).skipped.append(note)
            continue
        trial = Trial(
            number=whole(row.get("number"), len(study.trials)),
            state=str(row["state"]),
            started=moment(row.get("datetime_start")),
            ended=moment(row.get("datetime_complete")),
        )
        value = number(row.get("value"))
        if value is not None:  # before 2.4 a trial has one value, in its own row
            trial.values[0] = value
        study.trials.append(trial)
        trials[row["trial_id"]] = trial, study
    for table, target in (("trial_system_attributes", "system_attrs"), ("trial_user_attributes", "user_attrs")):
        for row in _rows(connection, table):
            if row["trial_id"] in trials:
                getattr(trials[row["trial_id"]][0], target)[str(row["key"])] = _json_or_text(row["value_json"])
    for trial, _ in trials.values():
        # Before 1.2 the number was an attribute.
        trial.number = whole(trial.system_attrs.get("_number"), trial.number)
    _read_values(connection, trials)
    _read_params(connection, trials)


def _read_values(connection: sqlite3.Connection, trials: dict[object, tuple[Trial, Study]]) -> None:
    for row in _rows(connection, "trial_values"):
        if row["trial_id"] not in trials:
            continue
        trial = trials[row["trial_id"]][0]
        value = _VALUE_TYPES.get(str(row.get("value_type")), number(row["value"]))
        if value is None:
            continue
        if "step" in row:  # before 2.4 this table held the intermediate values
            trial.intermediate[whole(row["step"])] = value
        else:
            trial.values[min(max(whole(row.get("objective")), 0), _MOST)] = value
    for row in _rows(connection, "trial_intermediate_values"):
        if row["trial_id"] in trials:
            value = _VALUE_TYPES.get(str(row.get("intermediate_value_type")), number(row["intermediate_value"]))
            step = whole(row["step"])
            trials[row["trial_id"]][0].intermediate[step] = math.nan if value is None else value


def _read_params(connection: sqlite3.Connection, trials: dict[object, tuple[Trial, Study]]) -> None:
    distributions: dict[object, object] = {}
    for row in _rows(connection, "trial_params"):
        if row["trial_id"] not in trials:
            continue
        trial, study = trials[row["trial_id"]]
        text = row["distribution_json"]
        if text not in distributions:  # one study has a handful of them, and one row per trial and parameter
            distributions[text] = _json_or_text(text)
        set_parameter(trial, study, str(row["param_name"]), row["param_value"], distributions[text])


def _json_or_text(text: Any) -> object:
    try:
        return json_value(text)
    except (ValueError, TypeError):
        return text


_ABOUT = "Optuna SQLite storage (schema 0.9 to today's)"
READERS = (Reader("optuna", _ABOUT, lambda path: has_tables(path, _TABLES), _read),)
