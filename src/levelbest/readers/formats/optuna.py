"""Optuna's SQLite storage, every schema from 0.9 on, and its journal file, read without Optuna.

A journal has one operation per line, replayed as Optuna replays it.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from levelbest import _check
from levelbest.errors import DataError
from levelbest.readers.formats import _rows
from levelbest.readers.formats._rows import Record, flatten, number, rows_table, whole
from levelbest.readers.formats._searches import repeated_searches
from levelbest.readers.formats._tree import Tree, tool
from levelbest.readers.raw import RawTable
from levelbest.readers.tables.files import Json, has_marks, head_of, json_lines, json_value

__all__ = ["READERS"]

_STATUS = {"COMPLETE": "ok", "PRUNED": "pruned", "FAIL": "failed", "RUNNING": "running"}
_FINISHED = ("COMPLETE", "PRUNED", "FAIL")
_JOURNAL_STATES = ("RUNNING", "COMPLETE", "PRUNED", "FAIL", "WAITING")
_DIRECTION = {"MINIMIZE": "min", "MAXIMIZE": "max"}
_JOURNAL_DIRECTIONS = (None, "min", "max")
_VALUE_TYPES = {"INF_POS": math.inf, "INF_NEG": -math.inf, "NAN": math.nan}
_TABLES = {"studies", "trials", "trial_params"}
_MOST = 99
"""Objectives of one study: a damaged number must not ask for a billion columns."""
_SAMPLER_TRACES = (
    (re.compile(r"(\w+Sampler):generation$"), None),
    (re.compile(r"nsga2?:generation$|nsga:"), "NSGAIISampler"),
    (re.compile(r"nsga3:"), "NSGAIIISampler"),
    (re.compile(r"tpe:"), "TPESampler"),
    (re.compile(r"gp:"), "GPSampler"),
    (re.compile(r"(sep|lwa)?cma(wm)?:"), "CmaEsSampler"),
    (re.compile(r"grid_id$"), "GridSampler"),
    (re.compile(r"qmc[: (]"), "QMCSampler"),
    (re.compile(r"mocma:|motpe:"), "MOTPESampler"),
)


@dataclass
class _Trial:
    """One trial as stored, values decoded."""

    number: int
    state: str
    started: datetime | None = None
    ended: datetime | None = None
    values: dict[int, float] = field(default_factory=dict)
    """Objective -> value."""
    params: Record = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)
    """Parameter -> why its value cannot be told."""
    user_attrs: Record = field(default_factory=dict)
    system_attrs: Record = field(default_factory=dict)
    intermediate: dict[int, float] = field(default_factory=dict)

    def set_parameter(self, name: str, stored: object, distribution: object) -> None:
        """Note a parameter's value from its stored number: a categorical one is the place in its list of choices."""
        value = number(stored)
        if not isinstance(distribution, Mapping) or value is None:
            self.lost[name] = "its distribution cannot be read"
            return
        kind = str(distribution.get("name"))
        if kind != "CategoricalDistribution":
            self.params[name] = int(value) if kind.startswith("Int") and math.isfinite(value) else value
            return
        choices = distribution.get("attributes", {}).get("choices", [])
        place = int(value) if math.isfinite(value) else -1
        if 0 <= place < len(choices):
            choice = choices[place]
            plain = choice is None or isinstance(choice, str | bool | int | float)
            self.params[name] = choice if plain else str(choice)
        else:
            self.lost[name] = f"choice {value:g} of {len(choices)} does not exist"

    @property
    def duration(self) -> float | None:
        """Seconds from start to end; None where the trial has not ended."""
        if self.started is None or self.ended is None:
            return None
        try:
            return (self.ended - self.started).total_seconds()
        except TypeError:  # one with a time zone, one without
            return None


@dataclass
class _Study:
    """One study as stored."""

    name: str
    directions: list[str | None]
    system_attrs: Record = field(default_factory=dict)
    trials: list[_Trial] = field(default_factory=list)


def _moment(text: object) -> datetime | None:
    """When something began or ended; durations need no time zone, as both ends carry the same one."""
    try:
        return datetime.fromisoformat(str(text))
    except ValueError:
        return None


def _tables(tree: Tree, studies: list[_Study], name: str | None, about: str) -> list[RawTable]:
    """A table for each study that has trials, or for the one that is named."""
    if name is not None:
        _check.as_choice(name, [study.name for study in studies], f"study in {tree.name}")
        studies = [study for study in studies if study.name == name]
    else:
        for study in studies:
            if not study.trials:
                tree.skip(f"study {study.name!r}", "it has no trials")
        studies = [study for study in studies if study.trials]
    tables = [_table(tree, study, about) for study in studies]
    repeated_searches(tables, "study")
    return tables


def _table(tree: Tree, study: _Study, about: str) -> RawTable:
    """One study as a table, its columns named as ``Study.trials_dataframe`` names them."""
    objectives = _objective_names(study)
    rows = []
    for trial in sorted(study.trials, key=lambda other: other.number):
        where = f"study {study.name!r}, trial {trial.number}"
        for name, why in trial.lost.items():
            tree.skip(f"{where}, parameter {name!r}", why)
        if trial.state not in _STATUS:
            tree.skip(where, "queued, never started" if trial.state == "WAITING" else f"unknown state {trial.state!r}")
            continue
        row: Record = {"study": study.name, "number": trial.number, "state": _STATUS[trial.state]}
        row |= {name: trial.values.get(place) for place, name in enumerate(objectives)}
        row["duration"] = trial.duration
        if trial.intermediate:
            row["intermediate_steps"] = len(trial.intermediate)
            row["intermediate_last"] = trial.intermediate[max(trial.intermediate)]
        row |= {f"params_{name}": value for name, value in trial.params.items()}
        for name, value in trial.user_attrs.items():
            with tree.trying(f"{where}, user attribute {name!r}"):
                row |= flatten(value, f"user_attrs_{name}")
        rows.append(row)
    roles = {"family": "study", "order": "number", "status": "state", "cost": "duration"}
    facts = {f"direction:{name}": d for name, d in zip(objectives, study.directions, strict=False) if d is not None}
    direction = None
    if len(objectives) == 1:
        roles["selection"], direction = objectives[0], facts.get(f"direction:{objectives[0]}")
    return rows_table(
        study.name,
        rows,
        roles,
        about,
        settings="params_",
        first=["study", "number", "state", *objectives, "duration"],
        numbers=objectives,
        direction=direction,
        facts=facts | _search_facts(study),
    )


def _objective_names(study: _Study) -> list[str]:
    count = max(len(study.directions), 1 + max((max(t.values) for t in study.trials if t.values), default=0))
    names = study.system_attrs.get("study:metric_names")
    if count == 1:
        return ["value"]
    return [f"values_{name}" for name in (names if isinstance(names, list) and len(names) == count else range(count))]


def _search_facts(study: _Study) -> dict[str, str]:
    """How the configurations were chosen, as far as the store shows it.

    Optuna does not record its sampler. Some leave marks in the attributes; random search and TPE (the default) do not.
    """
    marks: Counter[str] = Counter()
    for attributes in (study.system_attrs, *(trial.system_attrs for trial in study.trials)):
        marks.update({name for key in attributes if (name := _sampler_of(key)) is not None})
    facts = {}
    if marks:
        facts[f"sampler:{study.name}"] = marks.most_common(1)[0][0]
    else:
        facts[f"learns:{study.name}"] = "by default"  # as TPE does; random search is asked for
    queued = sum("fixed_params" in trial.system_attrs for trial in study.trials)
    if queued:
        facts[f"enqueued:{study.name}"] = str(queued)
    if any(key.startswith("completed_rung_") for trial in study.trials for key in trial.system_attrs):
        facts[f"pruner:{study.name}"] = "SuccessiveHalvingPruner"
    return facts


def _sampler_of(key: str) -> str | None:
    matches = ((pattern.match(key), name) for pattern, name in _SAMPLER_TRACES)
    return next((name or match[1] for match, name in matches if match), None)


def _stored(tree: Tree, *, study: str | None = None) -> list[RawTable]:
    """One table per study; ``study`` names one of them."""
    with _rows.open_store(tree.path(tree.name), _TABLES, "Optuna storage") as connection:
        try:
            studies = _stored_studies(connection)
            _read_trials(tree, connection, studies)
        except KeyError as error:
            raise DataError(f"{tree.name} is not an Optuna storage: a table of it has no column {error}") from error
        # Before 0.10 the schema was the library's version.
        versions = [*_records(connection, "alembic_version"), *_records(connection, "version_info")]
        schema = versions[0].get("version_num", versions[0].get("library_version")) if versions else "unknown"
    return _tables(tree, list(studies.values()), study, f"Optuna SQLite storage, schema {schema}")


def _records(connection: sqlite3.Connection, table: str) -> Iterator[Record]:
    """The rows of a table in order of insertion, none where the schema has no such table."""
    if table in _rows.table_names(connection):
        cursor = connection.execute(f'SELECT * FROM "{table}" ORDER BY rowid')
        names = [column[0] for column in cursor.description]
        for row in cursor:
            yield dict(zip(names, row, strict=True))


def _stored_studies(connection: sqlite3.Connection) -> dict[object, _Study]:
    studies: dict[object, _Study] = {}
    for row in _records(connection, "studies"):
        directions = [_DIRECTION.get(str(row["direction"]))] if "direction" in row else []
        studies[row["study_id"]] = _Study(str(row["study_name"]), directions)
    ways: dict[object, dict[int, str | None]] = {}
    for row in _records(connection, "study_directions"):
        objective = max(whole(row.get("objective")), 0)
        ways.setdefault(row["study_id"], {})[objective] = _DIRECTION.get(str(row["direction"]))
    for key, by_objective in ways.items():
        if key in studies:
            studies[key].directions = [by_objective.get(i) for i in range(min(max(by_objective), _MOST) + 1)]
    for row in _records(connection, "study_system_attributes"):
        if row["study_id"] in studies:
            studies[row["study_id"]].system_attrs[str(row["key"])] = _json_or_text(row["value_json"])
    return studies


def _read_trials(tree: Tree, connection: sqlite3.Connection, studies: dict[object, _Study]) -> None:
    trials: dict[object, _Trial] = {}
    for row in _records(connection, "trials"):
        study = studies.get(row["study_id"])
        if study is None:
            tree.skip(f"trial with id {row['trial_id']}", "its study does not exist")
            continue
        trial = _Trial(whole(row.get("number"), len(study.trials)), str(row["state"]))
        trial.started, trial.ended = _moment(row.get("datetime_start")), _moment(row.get("datetime_complete"))
        value = number(row.get("value"))
        if value is not None:  # before 2.4 a trial has one value, in its own row
            trial.values[0] = value
        study.trials.append(trial)
        trials[row["trial_id"]] = trial
    distributions: dict[object, Json] = {}
    for table in ("system_attributes", "user_attributes", "values", "intermediate_values", "params"):
        for row in _records(connection, f"trial_{table}"):
            if row["trial_id"] not in trials:
                continue
            trial = trials[row["trial_id"]]
            if table == "system_attributes":
                trial.system_attrs[str(row["key"])] = _json_or_text(row["value_json"])
            elif table == "user_attributes":
                trial.user_attrs[str(row["key"])] = _json_or_text(row["value_json"])
            elif table == "params":
                text = row["distribution_json"]
                if text not in distributions:  # one study has a handful of them, and one row per trial and parameter
                    distributions[text] = _json_or_text(text)
                trial.set_parameter(str(row["param_name"]), row["param_value"], distributions[text])
            else:
                _set_value(trial, row, final=table == "values" and "step" not in row)
    for trial in trials.values():  # before 1.2 the number was an attribute
        trial.number = whole(trial.system_attrs.get("_number"), trial.number)


def _set_value(trial: _Trial, row: Record, *, final: bool) -> None:
    """A value of an objective, or of a step: before 2.4 those were in the table ``trial_values``."""
    name = "intermediate_value" if "intermediate_value" in row else "value"
    value = _VALUE_TYPES.get(str(row.get(f"{name}_type")), number(row[name]))
    if not final:
        if value is not None or name == "intermediate_value":
            trial.intermediate[whole(row["step"])] = math.nan if value is None else value
    elif value is not None:
        trial.values[min(max(whole(row.get("objective")), 0), _MOST)] = value


def _json_or_text(text: Json) -> Json:
    try:
        return json_value(text)
    except (ValueError, TypeError):
        return text


def _is_journal(path: Path) -> bool:
    if not has_marks(path, "op_code", "worker_id"):
        return False
    _, log, _ = next(json_lines(head_of(path).splitlines()), (1, None, None))
    return isinstance(log, dict) and {"op_code", "worker_id"} <= set(log)


def _replayed(tree: Tree, *, study: str | None = None) -> list[RawTable]:
    """One table per study; ``study`` names one of them."""
    studies: list[_Study | None] = []
    trials: list[_Trial] = []
    for line, log in tree.objects(tree.name, "operation of an Optuna journal"):
        with tree.trying(f"{tree.name}, line {line}", "no operation of an Optuna journal"):
            if log["op_code"] not in range(11):
                raise ValueError(f"{log['op_code']!r} is not one of its codes")
            if log["op_code"] < 5:
                _change_study(studies, trials, log)
            elif log["op_code"] < 10 and 0 <= int(log["trial_id"]) < len(trials):
                _change_trial(trials[int(log["trial_id"])], log)
    kept = [study for study in studies if study is not None]
    return _tables(tree, kept, study, "Optuna journal file") if kept else []


def _change_study(studies: list[_Study | None], trials: list[_Trial], log: Record) -> None:
    """A new study (0), its end (1), attributes of the user (2) or the system (3), a new trial (4)."""
    code, name = log["op_code"], str(log.get("study_name"))
    if code == 0:
        if not any(study is not None and study.name == name for study in studies):  # a second worker came too late
            studies.append(_Study(str(log["study_name"]), [_JOURNAL_DIRECTIONS[int(d)] for d in log["directions"]]))
        return
    study = studies[log["study_id"]] if 0 <= log["study_id"] < len(studies) else None
    if study is None:
        return
    if code == 1:
        studies[log["study_id"]] = None
    elif code == 3:
        study.system_attrs.update(log["system_attr"])
    elif code == 4:
        trial = _Trial(len(study.trials), _JOURNAL_STATES[int(log.get("state", 0))])
        trial.started, trial.ended = _moment(log.get("datetime_start")), _moment(log.get("datetime_complete"))
        trial.user_attrs, trial.system_attrs = dict(log.get("user_attrs", {})), dict(log.get("system_attrs", {}))
        trial.intermediate = {int(k): _value(v) for k, v in log.get("intermediate_values", {}).items()}
        values = log.get("values") or ([] if log.get("value") is None else [log["value"]])
        trial.values = {place: _value(value) for place, value in enumerate(values)}
        # Registered before its parameters are decoded: a later line names it by its place.
        study.trials.append(trial)
        trials.append(trial)
        distributions = log.get("distributions", {})
        for name, stored in log.get("params", {}).items():
            trial.set_parameter(name, stored, _json_or_text(distributions.get(name)))


def _change_trial(trial: _Trial, log: Record) -> None:
    """A parameter (5), a new state (6), an intermediate value (7), attributes of the user (8) or the system (9)."""
    code = log["op_code"]
    if trial.state in _FINISHED:
        return
    if code == 5:
        trial.set_parameter(log["param_name"], log["param_value_internal"], _json_or_text(log["distribution"]))
    elif code == 6:
        state = _JOURNAL_STATES[int(log["state"])]
        if state == "RUNNING" == trial.state:
            return  # another worker took it first
        if state == "RUNNING":
            trial.started = _moment(log.get("datetime_start"))
        elif state in _FINISHED:
            trial.ended = _moment(log.get("datetime_complete"))
        trial.state = state
        if log.get("values") is not None:
            trial.values = {place: _value(value) for place, value in enumerate(log["values"])}
    elif code == 7:
        trial.intermediate[int(log["step"])] = _value(log["intermediate_value"])
    elif code == 8:
        trial.user_attrs |= log["user_attr"]
    else:
        trial.system_attrs |= log["system_attr"]


def _value(stored: object) -> float:
    value = number(stored)
    return math.nan if value is None else value


READERS = (
    tool(
        "optuna",
        "Optuna SQLite storage (schema 0.9 to today's)",
        _stored,
        "Optuna study with a trial",
        file=lambda path: _rows.has_tables(path, _TABLES),
    ),
    tool(
        "optuna-journal",
        "Optuna journal file (JournalFileBackend)",
        _replayed,
        "Optuna journal of a study with a trial",
        file=_is_journal,
    ),
)
