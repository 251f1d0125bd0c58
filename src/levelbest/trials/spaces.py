"""Search spaces of families, as declared by the study or, without one, as observed in the trials."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from levelbest._check import Column
from levelbest.trials.scores import split_column
from levelbest.trials.table import Trials

__all__ = ["Parameter", "SearchSpace", "is_known", "machine_columns", "search_spaces"]

OBSERVED = "observed"
"""A range between the least and the greatest value that trials had, in place of a distribution."""
MOST_LISTED = 5
"""Numbers of more different values are a range."""
_PREFIX = "config."
_MACHINE_NAMES = frozenset(
    {"host", "hostname", "user", "username", "cwd", "workdir", "logdir", "environment", "environ"}
)
_PATH = re.compile(r"(file:|/[^/\s]+/|~/|[A-Za-z]:[\\/]|\\\\[^\\\s]+\\)")


@dataclass(frozen=True)
class Parameter:
    """One hyperparameter. ``given`` is in the words of a study file: ``{"uniform": [0, 1]}``, or a constant as it is;
    ``{"observed": [0.1, 0.9]}`` where all that is known is what trials had."""

    name: str
    column: str
    """The configuration column it is read from."""
    given: object

    @property
    def kind(self) -> str:
        """``constant``, ``choice``, ``uniform``, ``observed``, ..."""
        return str(next(iter(self.given))) if isinstance(self.given, dict) else "constant"

    @property
    def fixed(self) -> bool:
        """Whether it is the same in every trial."""
        return self.kind == "constant"

    @property
    def value(self) -> object:
        """The one value of a constant."""
        return self.given["constant"] if isinstance(self.given, dict) else self.given

    def holds(self, value: object) -> bool:
        """Whether a value lies within what was searched."""
        if self.fixed or not isinstance(self.given, dict):
            return bool(self.value == value)
        inside = self.given[self.kind]
        if self.kind == "choice":
            return value in inside
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return self.kind in ("normal", "scipy") or bool(inside[0] <= value <= inside[1])


@dataclass(frozen=True)
class SearchSpace:
    """The hyperparameters of one family; none where its trials have no configuration."""

    family: str
    parameters: tuple[Parameter, ...] = ()
    declared: bool = False
    """Whether a study declares it; else it is what the trials show."""

    @property
    def fixed(self) -> bool:
        """Whether it is one configuration."""
        return bool(self.parameters) and all(parameter.fixed for parameter in self.parameters)

    @property
    def searched(self) -> tuple[Parameter, ...]:
        """The hyperparameters that vary."""
        return tuple(parameter for parameter in self.parameters if not parameter.fixed)

    def holds(self, other: SearchSpace) -> bool:
        """Whether the one configuration of another family is a point of this space."""
        by_name = {parameter.name: parameter for parameter in self.parameters}
        return other.fixed and all(
            parameter.name in by_name and by_name[parameter.name].holds(parameter.value)
            for parameter in other.parameters
        )

    def without(self, hidden: Iterable[str]) -> SearchSpace:
        """The same without the parameters of some columns."""
        out = frozenset(hidden)
        return replace(
            self, parameters=tuple(parameter for parameter in self.parameters if parameter.column not in out)
        )


def search_spaces(trials: Trials) -> tuple[SearchSpace, ...]:
    """The space of each family, in their order; what tells of a machine, or the data split, is no hyperparameter."""
    left_out = {*machine_columns(trials), split_column(trials.configuration)}
    columns = {name: column for name, column in trials.configuration.items() if name not in left_out}
    return tuple(_space(trials, columns, code, name) for code, name in enumerate(trials.families))


def _space(trials: Trials, columns: dict[str, Column], code: int, name: str) -> SearchSpace:
    declared: dict[str, object] = json.loads(trials.facts.get(f"space:{name}", "{}"))
    if declared:
        parameters = [
            Parameter(key, column, given)
            for key, given in declared.items()
            if (column := _column_of(key, trials.configuration)) in columns or column not in trials.configuration
        ]
        return SearchSpace(name, tuple(parameters), declared=True)
    rows = np.flatnonzero(trials.family == code) if len(trials.families) > 1 else slice(None)
    observed = [(key, _observed(column[rows])) for key, column in columns.items()]
    known = [Parameter(key.removeprefix(_PREFIX), key, given) for key, given in observed if given is not None]
    return SearchSpace(name, tuple(known))


def _column_of(parameter: str, columns: Iterable[str]) -> str:
    """The column that holds a declared parameter; one of those that a nested one is spread over."""
    names = list(columns)
    ways = (f"{_PREFIX}{parameter}", parameter)
    inside = (name for name in names if name.startswith(tuple(f"{way}." for way in ways)))
    return next((way for way in ways if way in names), next(inside, ways[0]))


def _observed(column: Column) -> object:
    """What the trials of a family had, in the words of a study file; None where they have no such parameter."""
    if column.dtype.kind in "iuf":
        known = column[np.isfinite(column)]
        if np.unique(known[:1000]).size > MOST_LISTED or np.unique(known).size > MOST_LISTED:
            return {OBSERVED: [_plain(known.min()), _plain(known.max())]}
        values: list[object] = [_plain(value) for value in np.unique(known)]
        everywhere = known.size == column.size
    else:
        cells = [value for value in column.tolist() if is_known(value)]
        values, everywhere = list(dict.fromkeys(cells)), len(cells) == column.size
    if not values:
        return None
    return values[0] if len(values) == 1 and everywhere else {"choice": values}


def _plain(value: np.generic) -> object:
    number = value.item()
    return int(number) if isinstance(number, float) and number.is_integer() and abs(number) < 1e15 else number


def is_known(value: object) -> bool:
    """Whether a cell holds anything."""
    return value is not None and not (isinstance(value, (float, np.floating)) and value != value)


def machine_columns(trials: Trials) -> tuple[str, ...]:
    """Columns named as a host or a user, or with paths of a machine, which a report does not show."""
    return tuple(
        name
        for name, column in trials.configuration.items()
        if re.split(r"[./]", name.lower())[-1].replace("_", "") in _MACHINE_NAMES
        or any(isinstance(cell, str) and _PATH.match(cell) for cell in column[:1000].tolist())
    )
