"""What an Optuna study is, however it is stored: trials with parameters, values and states, as one table."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from levelbest import _check
from levelbest.errors import DataError
from levelbest.readers.formats._rows import Record, flatten, number, rows_table
from levelbest.readers.formats._searches import repeated_searches
from levelbest.readers.raw import RawTable
from levelbest.trials import Skipped

__all__ = ["Study", "Trial", "moment", "study_tables"]

STATUS = {"COMPLETE": "ok", "PRUNED": "pruned", "FAIL": "failed", "RUNNING": "running"}
DIRECTION = {"MINIMIZE": "min", "MAXIMIZE": "max"}
_METRIC_NAMES = "study:metric_names"

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
class Trial:
    """One trial as stored, values decoded."""

    number: int
    state: str
    values: dict[int, float] = field(default_factory=dict)
    """Objective -> value."""
    params: dict[str, object] = field(default_factory=dict)
    user_attrs: dict[str, object] = field(default_factory=dict)
    system_attrs: dict[str, object] = field(default_factory=dict)
    intermediate: dict[int, float] = field(default_factory=dict)
    started: datetime | None = None
    ended: datetime | None = None

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
class Study:
    """One study as stored."""

    name: str
    directions: list[str | None] = field(default_factory=list)
    system_attrs: dict[str, object] = field(default_factory=dict)
    trials: list[Trial] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


def moment(text: object) -> datetime | None:
    """When something began or ended; durations need no time zone, as both ends carry the same one."""
    try:
        return datetime.fromisoformat(str(text))
    except ValueError:
        return None


def set_parameter(trial: Trial, study: Study, name: str, stored: object, distribution: object) -> None:
    """Note a parameter's value; one that cannot be told is listed."""
    try:
        trial.params[name] = _external_value(stored, distribution)
    except ValueError as error:
        study.skipped.append(Skipped(f"study {study.name!r}, trial {trial.number}, parameter {name!r}", str(error)))


def _external_value(stored: object, distribution: object) -> object:
    """A parameter's value from its stored number. A categorical one is stored as the place in its list of choices."""
    value = number(stored)
    if not isinstance(distribution, Mapping) or value is None:
        raise ValueError("its distribution cannot be read")
    name, attributes = str(distribution.get("name")), distribution.get("attributes", {})
    if name == "CategoricalDistribution":
        choices = attributes.get("choices", [])
        place = int(value) if math.isfinite(value) else -1
        if not 0 <= place < len(choices):
            raise ValueError(f"choice {value:g} of {len(choices)} does not exist")
        choice = choices[place]
        return choice if choice is None or isinstance(choice, str | bool | int | float) else str(choice)
    return int(value) if name.startswith("Int") and math.isfinite(value) else value


def study_tables(studies: list[Study], name: str | None, source: str, about: str) -> list[RawTable]:
    """A table for each study that has trials, or for the one that is named."""
    if name is not None:
        _check.as_choice(name, [study.name for study in studies], f"study in {source}")
        studies = [study for study in studies if study.name == name]
    elif not studies:
        raise DataError(f"{source} is an Optuna storage without a study")
    elif not any(study.trials for study in studies):
        raise DataError(f"no study of {source} has a trial: {', '.join(study.name for study in studies)}")
    else:
        filled = [study for study in studies if study.trials]
        empty = [study for study in studies if not study.trials]
        filled[0].skipped += [Skipped(f"study {study.name!r}", "it has no trials") for study in empty]
        studies = filled
    tables = [_study_table(study, about) for study in studies]
    repeated_searches(tables, "study")
    return tables


def _study_table(study: Study, about: str) -> RawTable:
    """One study as a table, its columns named as ``Study.trials_dataframe`` names them."""
    objectives = _objective_names(study)
    skipped = list(study.skipped)
    rows = []
    for trial in sorted(study.trials, key=lambda other: other.number):
        where = f"study {study.name!r}, trial {trial.number}"
        if trial.state not in STATUS:
            why = "queued, never started" if trial.state == "WAITING" else f"unknown state {trial.state!r}"
            skipped.append(Skipped(where, why))
            continue
        row: Record = {"study": study.name, "number": trial.number, "state": STATUS[trial.state]}
        row.update({name: trial.values.get(place) for place, name in enumerate(objectives)})
        row["duration"] = trial.duration
        if trial.intermediate:
            row["intermediate_steps"] = len(trial.intermediate)
            row["intermediate_last"] = trial.intermediate[max(trial.intermediate)]
        row.update({f"params_{name}": value for name, value in trial.params.items()})
        for name, value in trial.user_attrs.items():
            row.update(flatten(value, f"user_attrs_{name}"))
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
        numbers=["number", *objectives, "duration"],
        direction=direction,
        facts=facts | _search_facts(study),
        skipped=skipped,
    )


def _objective_names(study: Study) -> list[str]:
    count = max(len(study.directions), 1 + max((max(t.values) for t in study.trials if t.values), default=0))
    names = study.system_attrs.get(_METRIC_NAMES)
    named = isinstance(names, list) and len(names) == count
    if count == 1:
        return ["value"]
    return [f"values_{names[i] if named else i}" for i in range(count)]  # type: ignore[index]


def _search_facts(study: Study) -> dict[str, str]:
    """How the configurations were chosen, as far as the store shows it.

    Optuna does not record its sampler. Some leave marks in the attributes; random search and TPE (the default) do not.
    """
    marks: Counter[str] = Counter()
    for attributes in (study.system_attrs, *(trial.system_attrs for trial in study.trials)):
        marks.update({name for key in attributes if (name := _sampler_of(key)) is not None})
    facts = {}
    if marks:
        facts[f"sampler:{study.name}"] = marks.most_common(1)[0][0]
    queued = sum("fixed_params" in trial.system_attrs for trial in study.trials)
    if queued:
        facts[f"enqueued:{study.name}"] = str(queued)
    if any(key.startswith("completed_rung_") for trial in study.trials for key in trial.system_attrs):
        facts[f"pruner:{study.name}"] = "SuccessiveHalvingPruner"
    return facts


def _sampler_of(key: str) -> str | None:
    for pattern, name in _SAMPLER_TRACES:
        match = pattern.match(key)
        if match:
            return name or match.group(1)
    return None
