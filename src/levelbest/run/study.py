"""A study: families, each with an objective and a space, judged by one metric. The file and Python say the same.

name: digits
seed: 0
metric: {selection: dev_acc, reported: test_acc, direction: max, bounds: [0, 1]}
cost: {of: wall, rate: 0.9, per: hour, unit: dollars}
headline: 5                       # the budget that families are compared at first, registered before the first trial
n_trials: 50                      # what stands here holds for every family that does not say otherwise
families:
  cnn:
    command: python train.py --model cnn --lr {lr} --seed {seed}
    space: {lr: {loguniform: [1e-4, 1e-1]}}
    time_limit: 2 h
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import cast

from levelbest import _check
from levelbest._ledger.plan import fingerprint_of
from levelbest._ledger.space import RESERVED, Space, as_seed
from levelbest.errors import InputError
from levelbest.run.template import Template

_SECONDS = {"s": 1, "sec": 1, "second": 1, "min": 60, "m": 60, "minute": 60, "h": 3600, "hour": 3600}
_SECONDS |= {"d": 86400, "day": 86400}
_BYTES = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}
_SHARED = ("n_trials", "seeds", "report", "time_limit", "retries", "resources", "env", "command", "function", "space")
_STUDY = ("name", "seed", "metric", "cost", "headline", "families", "engine", "workers", "log_limit", *_SHARED)
_FAMILY = (*_SHARED, "number")
_LONGEST = 3650 * 86400
_MOST = {"n_trials": 2**32 - 1, "seeds": 2**32 - 1, "workers": 100_000, "retries": 1_000_000, "headline": 2**32 - 1}


@dataclass(frozen=True)
class Judge:
    """Which scores count, and which way is better. A name that is None is chosen when the results are read."""

    selection: str | None = None
    reported: str | None = None
    direction: str | None = None
    bounds: _check.Bounds = (None, None)


@dataclass(frozen=True)
class Cost:
    """What one trial costs: measured seconds, or a column that it reports, times a rate."""

    of: str = "wall"
    """``wall`` or ``cpu`` seconds, or a reported column's name."""
    rate: float = 1.0
    per: float = 1.0
    """Seconds (or units of the column) that the rate is for."""
    unit: str = "seconds"

    def amount(self, wall: float, cpu: float, scores: Mapping[str, float | None]) -> float | None:
        """The cost of a trial; None where it should have reported it and did not."""
        spent = {"wall": wall, "cpu": cpu}.get(self.of, scores.get(self.of))
        return None if spent is None else spent * self.rate / self.per


@dataclass(frozen=True)
class Resources:
    """What one trial needs."""

    cpus: float | None = None
    gpus: float = 0
    memory: int | None = None
    """Bytes; for clusters, which keep trials to it."""


@dataclass(frozen=True)
class Family:
    """One model, one space, one sampler: what runs a trial and how many there are."""

    name: str
    space: Space
    n_trials: int
    command: Template | None = None
    function: str | Callable[..., object] | None = None
    seeds: int = 1
    report: str = "json"
    """``json`` (the last such line on standard output), ``exit`` (0 is a success), or a metrics file's name."""
    time_limit: float | None = None
    retries: int = 3
    resources: Resources = Resources()
    env: Mapping[str, str] = field(default_factory=dict)
    env_parameters: bool = False
    """Whether every parameter is a variable of its own name too, as AllenTune hands them over."""
    number: int | None = None

    @property
    def function_name(self) -> str | None:
        """``module:name`` of the function; None for a command."""
        if self.function is None or isinstance(self.function, str):
            return self.function
        return f"{self.function.__module__}:{getattr(self.function, '__qualname__', type(self.function).__name__)}"

    def definition(self) -> dict[str, object]:
        """What decides the results. It cannot change once a trial has run; how many trials, and where, can."""
        return {
            "command": None if self.command is None else list(self.command.arguments),
            "function": self.function_name,
            "space": [[name, given] for name, given in self.space.to_dict().items()],
            "seeds": self.seeds,
            "report": self.report,
            "time_limit": self.time_limit,
            "env": "parameters" if self.env_parameters else dict(self.env),
        }

    @property
    def fingerprint(self) -> str:
        """A hash of the definition, the order of the parameters included."""
        return fingerprint_of(self.definition())


@dataclass(frozen=True)
class Study:
    """A study, checked. ``Study.from_dict`` reads the entries of a study file."""

    name: str
    families: tuple[Family, ...]
    seed: int = 0
    judge: Judge = Judge()
    cost: Cost = Cost()
    headline: int | None = None
    """The budget that families are compared at first; None: none is registered."""
    folder: Path = Path()
    """Where commands run and functions are looked for."""
    engine: str = "local"
    workers: int | None = None
    log_limit: int = 10_000_000

    @classmethod
    def from_dict(
        cls, given: Mapping[str, object], *, folder: Path, name: str, metric: Mapping[str, object] | None = None
    ) -> Study:
        """A study in the words of a study file. A ``metric`` given apart may leave names and direction open."""
        _entries(given, _STUDY, "the study")
        families = given.get("families")
        if not isinstance(families, Mapping) or not families:
            raise InputError(
                "a study needs families: a name for each, with a command or function, a space and n_trials"
            )
        shared = {key: given[key] for key in _SHARED if key in given}
        study_name = given.get("name", name)
        built = tuple(_family(str(key), entries, shared, folder) for key, entries in families.items())
        numbers = [family.number for family in built if family.number is not None]
        if len(set(numbers)) != len(numbers):
            raise InputError(f"families must have different numbers, got {numbers}")
        if not isinstance(study_name, str) or not study_name:
            raise InputError(f"a study's name must be text, got {study_name!r}")
        return cls(
            name=study_name,
            families=built,
            seed=as_seed(given.get("seed", 0)),
            judge=_judge(given.get("metric"), stated=True) if metric is None else _judge(metric, stated=False),
            cost=_cost(given.get("cost", {})),
            headline=_headline(given.get("headline"), built),
            folder=folder,
            engine=str(given.get("engine", "local")),
            workers=_count(given["workers"], "workers") if given.get("workers") is not None else None,
            log_limit=int(_quantity(given.get("log_limit", 10_000_000), _BYTES, "log_limit")),
        )

    def to_dict(self) -> dict[str, object]:
        """What the ledger's first record keeps: what all families share and no later session may change."""
        shared = {"seed": self.seed, "metric": asdict(self.judge), "cost": asdict(self.cost)}
        return shared | {"headline": self.headline}


def _family(name: str, given: object, shared: Mapping[str, object], folder: Path) -> Family:
    remedy = "write its command or function, space and n_trials"
    entries = _entries(given, _FAMILY, f"family {name}", f"family {name}: {remedy}")
    if "command" in entries or "function" in entries:
        shared = {key: value for key, value in shared.items() if key not in ("command", "function")}
    try:
        return _checked_family(name, {**shared, **entries}, folder)
    except InputError as error:
        raise InputError(f"family {name}: {error}") from error


def _checked_family(name: str, entries: Mapping[str, object], folder: Path) -> Family:
    command, space = entries.get("command"), entries.get("space", {})
    function = _objective(command, entries.get("function"))
    if isinstance(space, str):
        from levelbest.run.study_file import read_plain

        space = read_plain(folder / space)
    space = space if isinstance(space, Space) else Space(space)
    n_trials, seeds = _count(entries.get("n_trials"), "n_trials"), _count(entries.get("seeds", 1), "seeds")
    if n_trials % seeds:
        raise InputError(
            f"n_trials counts every seed, so it must be a multiple of seeds: got {n_trials} with {seeds} seeds per "
            f"configuration; use {n_trials - n_trials % seeds or seeds}"
        )
    template = None if command is None else Template(command)
    env = entries.get("env", {})
    if env != "parameters" and not isinstance(env, Mapping):
        raise InputError(f"env maps variables to their values, or is the word parameters; got {env!r}")
    variables = {str(key): str(value) for key, value in env.items()} if isinstance(env, Mapping) else {}
    report = _report(entries.get("report", "json"), template)
    templates = [template] if template is not None else []
    templates += [Template([value]) for value in variables.values()]
    templates += [] if report in ("json", "exit") else [Template([report])]
    for each in templates:
        each.check([*space.names, *RESERVED])
    return Family(
        name=name,
        space=space,
        n_trials=n_trials,
        command=template,
        function=function,
        seeds=seeds,
        report=report,
        time_limit=_time_limit(entries.get("time_limit")),
        retries=_count(entries.get("retries", 3), "retries", least=0),
        resources=_resources(entries.get("resources", {})),
        env=variables,
        env_parameters=env == "parameters",
        number=None if entries.get("number") is None else as_seed(entries["number"], "number"),
    )


def _objective(command: object, function: object) -> str | Callable[..., object] | None:
    if (command is None) == (function is None):
        raise InputError("give either a command or a function, and not both")
    if isinstance(function, str) and not re.fullmatch(r"[\w.]+:[\w.]+", function):
        raise InputError(f"a function is named as module:name, such as train:objective, got {function!r}")
    if function is None or isinstance(function, str) or callable(function):
        return function
    raise InputError(f"a function must be callable or named as module:name, got {function!r}")


def _time_limit(given: object) -> float | None:
    limit = None if given is None else _quantity(given, _SECONDS, "time_limit")
    if limit is not None and limit > _LONGEST:
        raise InputError(f"time_limit must be at most 3650 d, got {given!r}; leave it out for none")
    return limit


def _report(given: object, template: Template | None) -> str:
    if isinstance(given, Mapping):
        name = _entries(given, ("file",), "report").get("file")
        if not isinstance(name, str) or not name:
            raise InputError(f"report: file must name a metrics file, got {name!r}")
        if not Template([name]).names & {"out", "trial"}:
            raise InputError(
                f"report: every trial needs its own metrics file, got {name!r}; put {{out}} (a fresh folder for "
                "each trial) or {trial} into its name"
            )
        given = name
    elif given not in ("json", "exit"):
        raise InputError(f"report must be json, exit or {{file: NAME}}, got {given!r}")
    if template is None and given != "json":
        raise InputError("report is for commands; a function returns its scores")
    return str(given)


def _judge(given: object, *, stated: bool) -> Judge:
    """What a study is judged by; a study file must have ``stated`` it before anything runs."""
    needed = [key for key in ("selection", "direction") if not isinstance(given, Mapping) or given.get(key) is None]
    if stated and needed:
        missing = "metric" if len(needed) > 1 else f"metric: {needed[0]}"
        raise InputError(
            f"the entry {missing} is missing; a study needs its metric: {{selection: the score that chooses, reported: "
            "the score that is claimed (optional), direction: max or min, bounds: [lowest, highest] (optional)}"
        )
    entries = _entries(given, ("selection", "reported", "direction", "bounds"), "metric")
    names: dict[str, str | None] = {}
    for key in ("selection", "reported"):
        name = entries.get(key)
        if name is not None and not isinstance(name, str):
            raise InputError(f"metric: {key} must name a column, got {name!r}")
        names[key] = name
    direction = None if entries.get("direction") is None else _check.as_direction(entries["direction"])
    bounds = cast(Sequence[float | None] | None, entries.get("bounds"))  # checked next
    return Judge(names["selection"], names["reported"], direction, _check.as_bounds(bounds))


def _headline(given: object, families: Sequence[Family]) -> int | None:
    if given is None:
        return None
    headline, most = _count(given, "headline"), max(family.n_trials for family in families)
    if headline > most:
        raise InputError(f"headline must be at most the trials of a family, {most}, got {headline}")
    return headline


def _cost(given: object) -> Cost:
    remedy = "cost takes {of: wall, cpu or a column, rate:, per:, unit:}"
    entries = _entries(given, ("of", "rate", "per", "unit"), "cost", remedy)
    of = str(entries.get("of", "wall"))
    rate = _quantity(entries.get("rate", 1), {}, "cost: rate")
    per = entries.get("per", 1)
    per = 1.0 if per == 1 else _quantity(f"1 {per}" if isinstance(per, str) else per, _SECONDS, "cost: per")
    plain = "seconds" if of in ("wall", "cpu") and rate == per == 1 else "units"
    return Cost(of=of, rate=rate, per=per, unit=str(entries.get("unit", plain)))


def _resources(given: object) -> Resources:
    entries = _entries(given, ("cpus", "gpus", "memory"), "resources", "resources takes {cpus:, gpus:, memory:}")
    cpus, gpus, memory = entries.get("cpus"), entries.get("gpus"), entries.get("memory")
    return Resources(
        cpus=None if cpus is None else _quantity(cpus, {}, "resources: cpus"),
        gpus=0 if gpus in (None, 0) else _quantity(gpus, {}, "resources: gpus"),
        memory=None if memory is None else int(_quantity(memory, _BYTES, "resources: memory")),
    )


def _entries(given: object, names: tuple[str, ...], where: str, otherwise: str = "") -> Mapping[str, object]:
    """The entries of one part of a study, all of them known; where it has none, the sentence ``otherwise``."""
    if not isinstance(given, Mapping):
        raise InputError(f"{otherwise}, got {given!r}")
    for key in given:
        if key not in names:
            raise InputError(f"{where} has no entry {key!r}; {_check.nearest_first(str(key), names)}")
    return given


def _count(value: object, name: str, *, least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{name} must be a whole number, at least {least}, got {value!r}")
    if value > _MOST[name]:
        raise InputError(f"{name} must be at most {_MOST[name]}, got {value:.6g}")
    return value


def _quantity(value: object, units: Mapping[str, int], name: str) -> float:
    """A positive number, or text such as ``90 s``, ``2 h``, ``10 MB``."""
    number, unit = value, ""
    if isinstance(value, str):
        parts = re.fullmatch(r"\s*([0-9.]+(?:[eE][-+]?[0-9]+)?)\s*([a-zA-Z]*)\s*", value)
        number, unit = (parts[1], parts[2].lower()) if parts else (None, "")
        unit = unit if unit in units else unit.removesuffix("s")
    amount = math.nan if isinstance(number, bool) else _check.as_number(number) * units.get(unit, 1)
    if not (math.isfinite(amount) and amount > 0) or (unit and unit not in units):
        hint = f", with or without a unit ({', '.join(units)})" if units else ""
        raise InputError(f"{name} must be a number above 0{hint}, got {value!r}")
    return amount
