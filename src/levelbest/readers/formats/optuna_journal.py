"""Optuna's journal file: one operation per line, replayed as Optuna replays it, without Optuna."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

from levelbest.errors import DataError
from levelbest.readers.formats._optuna import Study, Trial, moment, set_parameter, study_tables
from levelbest.readers.formats._rows import Record, number
from levelbest.readers.raw import RawTable, Reader
from levelbest.readers.tables.files import has_marks, head_of, json_lines, json_value, open_bytes
from levelbest.trials import Skipped

__all__ = ["READERS"]

_STATES = ("RUNNING", "COMPLETE", "PRUNED", "FAIL", "WAITING")
_DIRECTIONS = (None, "min", "max")
_FINISHED = ("COMPLETE", "PRUNED", "FAIL")


def _recognises(path: Path) -> bool:
    if not has_marks(path, "op_code", "worker_id"):
        return False
    _, log, _ = next(json_lines(head_of(path).splitlines()), (1, None, None))
    return isinstance(log, dict) and {"op_code", "worker_id"} <= set(log)


def _read(path: Path, *, study: str | None = None, **_: object) -> list[RawTable]:
    """One table per study; ``study`` names one of them."""
    journal = _Journal()
    seen = 0
    with open_bytes(path) as stream:
        for line, log, why in json_lines(stream):
            seen += 1
            try:
                if why is None:
                    journal.apply(log)
            except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
                why = f"no operation of an Optuna journal: {error!r}"[:200]
            if why is not None:
                journal.lost.append(Skipped(f"{path.name}, line {line}", why))
    if not seen:
        raise DataError(f"{path.name} is an empty journal")
    if not journal.studies and journal.lost:
        first = journal.lost[0]
        raise DataError(f"{path.name} is no Optuna journal; {first.where}: {first.why}")
    tables = study_tables(list(journal.studies.values()), study, path.name, "Optuna journal file")
    tables[0].skipped += journal.lost
    return tables


class _Journal:
    """The state that the lines read so far stand for."""

    def __init__(self) -> None:
        self.studies: dict[int, Study] = {}
        self.trials: list[Trial] = []
        self.lost: list[Skipped] = []
        self._next_study = 0
        self._home: list[Study] = []
        self._operations: dict[int, Callable[[Record], None]] = {
            0: self._create_study,
            1: self._delete_study,
            2: lambda _: None,
            3: self._study_attr,
            4: self._create_trial,
            **dict.fromkeys(range(5, 10), self._change_trial),
            10: lambda _: None,
        }

    def apply(self, log: Record) -> None:
        self._operations[log["op_code"]](log)

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
            _set_parameter(trial, study, name, stored, distributions.get(name))

    def _change_trial(self, log: Record) -> None:
        """A parameter (5), a new state (6), an intermediate value (7), attributes of the user (8) or the system (9)."""
        place = int(log["trial_id"])
        if not 0 <= place < len(self.trials) or self.trials[place].state in _FINISHED:
            return
        trial, code = self.trials[place], log["op_code"]
        if code == 5:
            stored, distribution = log["param_value_internal"], log["distribution"]
            _set_parameter(trial, self._home[place], log["param_name"], stored, distribution)
        elif code == 6:
            _set_state(trial, log)
        elif code == 7:
            trial.intermediate[int(log["step"])] = _value(log["intermediate_value"])
        elif code == 8:
            trial.user_attrs |= log["user_attr"]
        else:
            trial.system_attrs |= log["system_attr"]


def _set_parameter(trial: Trial, study: Study, name: str, stored: object, distribution: str | None) -> None:
    try:
        law = json_value(distribution) if distribution else None
    except (ValueError, TypeError):
        law = None
    set_parameter(trial, study, name, stored, law)


def _set_state(trial: Trial, log: Record) -> None:
    state = _STATES[int(log["state"])]
    if state == "RUNNING":
        if trial.state == "RUNNING":
            return  # another worker took it first
        trial.started = moment(log.get("datetime_start"))
    elif state in _FINISHED:
        trial.ended = moment(log.get("datetime_complete"))
    trial.state = state
    if log.get("values") is not None:
        trial.values = {place: _value(value) for place, value in enumerate(log["values"])}


def _value(stored: object) -> float:
    value = number(stored)
    return math.nan if value is None else value


READERS = (Reader("optuna-journal", "Optuna journal file (JournalFileBackend)", _recognises, _read),)
