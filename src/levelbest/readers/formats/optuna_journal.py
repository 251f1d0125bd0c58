"""Optuna's journal file: one operation per line, replayed as Optuna replays it, without Optuna."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

from levelbest.errors import DataError
from levelbest.readers.formats._optuna import Study, Trial, external_value, moment, study_table
from levelbest.readers.formats._rows import Record, number, parse_json, read_json_lines
from levelbest.readers.formats._searches import repeated_searches
from levelbest.readers.formats.optuna_store import chosen_studies
from levelbest.readers.raw import RawTable, Reader
from levelbest.trials import Skipped

__all__ = ["READER", "READERS"]

_STATES = ("RUNNING", "COMPLETE", "PRUNED", "FAIL", "WAITING")
_DIRECTIONS = (None, "min", "max")
_FINISHED = ("COMPLETE", "PRUNED", "FAIL")


def _recognises(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            first = file.readline(100_000)
        log = parse_json(first.decode("utf-8", errors="replace"))
    except (OSError, ValueError):
        return False
    return isinstance(log, dict) and {"op_code", "worker_id"} <= set(log)


def _read(path: Path, *, study: str | None = None, **_: object) -> list[RawTable]:
    """One table per study; ``study`` names one of them."""
    journal = _Journal()
    seen = 0
    for line, log, why in read_json_lines(path):
        seen += 1
        where = f"{path.name}, line {line}"
        if why is not None:
            journal.lost.append(Skipped(where, why))
            continue
        try:
            journal.apply(log)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
            journal.lost.append(Skipped(where, f"no operation of an Optuna journal: {error!r}"[:200]))
    if not seen:
        raise DataError(f"{path.name} is an empty journal")
    if not journal.studies and journal.lost:
        first = journal.lost[0]
        raise DataError(f"{path.name} is no Optuna journal; {first.where}: {first.why}")
    chosen = chosen_studies(list(journal.studies.values()), study, path.name)
    chosen[0].skipped.extend(journal.lost)
    tables = [study_table(chosen_study, "Optuna journal file") for chosen_study in chosen]
    repeated_searches(tables, "study")
    return tables


class _Journal:
    """The state that the lines read so far stand for."""

    def __init__(self) -> None:
        self.studies: dict[int, Study] = {}
        self.trials: list[Trial] = []
        self.lost: list[Skipped] = []
        self._next_study = 0
        self._home: list[Study] = []
        self._operations: dict[int, Callable[[dict[str, object]], None]] = {
            0: self._create_study,
            1: self._delete_study,
            2: lambda _: None,
            3: self._study_attr,
            4: self._create_trial,
            5: self._param,
            6: self._state,
            7: self._intermediate,
            8: self._user_attr,
            9: self._system_attr,
        }

    def apply(self, log: Record) -> None:
        code = log["op_code"]
        if code == 10:
            return
        self._operations[code](log)

    def _create_study(self, log: Record) -> None:
        name = str(log["study_name"])
        if any(study.name == name for study in self.studies.values()):
            return  # a second worker came too late: Optuna ignores it as well
        self.studies[self._next_study] = Study(name, [_DIRECTIONS[int(d)] for d in log["directions"]])
        self._next_study += 1

    def _delete_study(self, log: Record) -> None:
        self.studies.pop(log["study_id"], None)

    def _study_attr(self, log: Record) -> None:
        if log["study_id"] in self.studies:
            self.studies[log["study_id"]].system_attrs.update(log["system_attr"])

    def _create_trial(self, log: Record) -> None:
        study = self.studies.get(log["study_id"])
        if study is None:
            return
        trial = Trial(
            number=len(study.trials),
            state=_STATES[int(log.get("state", 0))],
            user_attrs=dict(log.get("user_attrs", {})),
            system_attrs=dict(log.get("system_attrs", {})),
            intermediate={int(k): _value(v) for k, v in log.get("intermediate_values", {}).items()},
            started=moment(log.get("datetime_start")),
            ended=moment(log.get("datetime_complete")),
        )
        values = log.get("values") or ([] if log.get("value") is None else [log["value"]])
        trial.values = {place: _value(value) for place, value in enumerate(values)}
        # Registered before its parameters are decoded: a later line names it by its place.
        study.trials.append(trial)
        self.trials.append(trial)
        self._home.append(study)
        distributions = log.get("distributions", {})
        for name, stored in log.get("params", {}).items():
            self._set_param(trial, study, name, stored, distributions.get(name))

    def _open_trial(self, log: Record) -> tuple[Trial, Study] | None:
        place = int(log["trial_id"])
        if not 0 <= place < len(self.trials):
            return None
        trial = self.trials[place]
        return None if trial.state in _FINISHED else (trial, self._home[place])

    def _param(self, log: Record) -> None:
        opened = self._open_trial(log)
        if opened:
            self._set_param(*opened, log["param_name"], log["param_value_internal"], log["distribution"])

    def _set_param(self, trial: Trial, study: Study, name: str, stored: object, distribution: str) -> None:
        try:
            trial.params[name] = external_value(stored, parse_json(distribution) if distribution else None)
        except (ValueError, TypeError) as error:
            study.skipped.append(Skipped(f"study {study.name!r}, trial {trial.number}, parameter {name!r}", str(error)))

    def _state(self, log: Record) -> None:
        opened = self._open_trial(log)
        if not opened:
            return
        trial, state = opened[0], _STATES[int(log["state"])]
        if state == "RUNNING":
            if trial.state == "RUNNING":
                return  # another worker took it first
            trial.started = moment(log.get("datetime_start"))
        elif state in _FINISHED:
            trial.ended = moment(log.get("datetime_complete"))
        trial.state = state
        if log.get("values") is not None:
            trial.values = {place: _value(value) for place, value in enumerate(log["values"])}

    def _intermediate(self, log: Record) -> None:
        opened = self._open_trial(log)
        if opened:
            opened[0].intermediate[int(log["step"])] = _value(log["intermediate_value"])

    def _user_attr(self, log: Record) -> None:
        opened = self._open_trial(log)
        if opened:
            opened[0].user_attrs.update(log["user_attr"])

    def _system_attr(self, log: Record) -> None:
        opened = self._open_trial(log)
        if opened:
            opened[0].system_attrs.update(log["system_attr"])


def _value(stored: object) -> float:
    value = number(stored)
    return math.nan if value is None else value


READER = Reader(
    name="optuna-journal",
    about="Optuna journal file (JournalFileBackend)",
    recognises=_recognises,
    read=_read,
)
READERS = (READER,)
