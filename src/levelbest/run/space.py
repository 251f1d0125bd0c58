"""Search spaces. Configuration i depends on the study's seed, the family's number and i alone.

One generator per configuration, ``numpy.random.default_rng([seed, family, i])``, draws the active parameters in the
declared order and the trial's own seed last; so order, workers and restarts cannot change a draw. The words of a space
are those of the study file:

    lr: {loguniform: [1e-4, 1e-1]}                      momentum: {uniform: [0.5, 0.99], when: {optimizer: sgd}}
    layers: {integer: [1, 4]}                           noise: {normal: [0, 1]}
    units: {log-integer: [16, 512]}                     epochs: 20
    optimizer: {choice: [sgd, adam], weights: [1, 3]}   c: {scipy: expon, args: [0, 10]}
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from levelbest import _check
from levelbest.errors import InputError

KINDS = ("uniform", "loguniform", "integer", "log-integer", "normal", "choice", "subset", "pair", "scipy", "constant")
RESERVED = ("seed", "trial", "family", "out", "args")
"""Names that a command template fills in itself; no parameter may take one."""
_EXTRA = {"choice": ("weights",), "scipy": ("args", "kwds")}
_LARGEST = 2**32
"""NumPy spreads a larger whole number over several words, and [2**32, f, i] would draw as [0, 1, f, i]."""
_WHOLE = 2**53
"""Whole numbers up to this one are all told apart, here and in whatever reads the ledger's JSON."""

Configuration = dict[str, object]


@dataclass(frozen=True)
class _Parameter:
    name: str
    kind: str
    arguments: Any
    extra: Mapping[str, Any]
    when: Mapping[str, object]

    def describe(self) -> object:
        if self.kind == "constant" and not self.when and not isinstance(self.arguments, dict | list):
            return self.arguments
        return {self.kind: self.arguments, **self.extra, **({"when": dict(self.when)} if self.when else {})}

    @property
    def numeric(self) -> bool:
        if self.kind in ("choice", "constant"):
            values = self.arguments if self.kind == "choice" else [self.arguments]
            return all(isinstance(value, int | float) for value in values)
        return self.kind not in ("pair", "subset")

    def active(self, drawn: Configuration) -> bool:
        for parent, rule in self.when.items():
            if parent not in drawn:
                return False
            value = drawn[parent]
            if isinstance(rule, dict):
                if not rule.get("min", -math.inf) <= value <= rule.get("max", math.inf):
                    return False
            elif value not in (rule if isinstance(rule, list) else [rule]):
                return False
        return True

    def draw(self, rng: np.random.Generator) -> Any:
        a = self.arguments
        match self.kind:
            case "constant":
                return a
            case "uniform":
                return a[0] + (a[1] - a[0]) * rng.random()
            case "loguniform":
                low, high = math.log(a[0]), math.log(a[1])
                return math.exp(low + (high - low) * rng.random())
            case "integer":
                return int(rng.integers(a[0], a[1], endpoint=True))
            case "log-integer":
                # Each whole number k has mass log((k+1)/k): the floor of a log-uniform draw on [low, high + 1).
                low, high = math.log(a[0]), math.log(a[1] + 1)
                return min(math.floor(math.exp(low + (high - low) * rng.random())), a[1])
            case "normal":
                return float(a[0] + a[1] * rng.standard_normal())
            case "choice":
                weights = np.asarray(self.extra.get("weights", [1.0] * len(a)), dtype=np.float64)
                shares = np.cumsum(weights) / weights.sum()
                # The last share may round to just below 1.
                return a[min(int(np.searchsorted(shares, rng.random(), side="right")), len(a) - 1)]
            case "pair":
                return [a[i] for i in rng.choice(len(a), 2, replace=False)]
            case "subset":
                size = int(rng.integers(1, len(a), endpoint=True))
                return [a[i] for i in rng.choice(len(a), size, replace=False)]
            case _:
                return _plain(_frozen(a, self.extra).rvs(random_state=rng), self.name)


class Space:
    """A search space: names in declared order, each with how it is drawn.

    Built from a mapping in the words of a study file, whose values may also be SciPy frozen distributions or lists
    (a uniform choice), as scikit-learn's RandomizedSearchCV takes them, or from AllenTune's JSON as it is.
    """

    def __init__(self, parameters: Mapping[str, object]) -> None:
        if not isinstance(parameters, Mapping):
            raise InputError(f"a space must map names to how they are drawn, got {_short(parameters)}")
        built: dict[str, _Parameter] = {}
        for name, given in parameters.items():
            _check_name(name)
            built[name] = _parameter(name, given, built)
        self._parameters = tuple(built.values())

    @property
    def names(self) -> tuple[str, ...]:
        """Every parameter, in declared order."""
        return tuple(p.name for p in self._parameters)

    @property
    def conditional(self) -> frozenset[str]:
        """Parameters that some configurations do not have."""
        return frozenset(p.name for p in self._parameters if p.when)

    def to_dict(self) -> dict[str, Any]:
        """The space in the words of a study file; ``Space(space.to_dict())`` draws the same."""
        return {p.name: p.describe() for p in self._parameters}

    def draw(self, seed: int, family: int, trial: int, seeds: int = 1) -> tuple[Configuration, int]:
        """Configuration and seed of one trial.

        With ``seeds`` per configuration, trial t is replicate t % seeds of configuration t // seeds. Replicate 0 takes
        the seed drawn after the parameters, so one seed per configuration is the plain rule; replicate r > 0 takes its
        own from ``default_rng([seed, family, t // seeds, r])``.
        """
        index, replicate = divmod(trial, seeds)
        rng = np.random.default_rng([seed, family, index])
        drawn: Configuration = {}
        for parameter in self._parameters:
            if not parameter.when or parameter.active(drawn):
                drawn[parameter.name] = parameter.draw(rng)
        if replicate:
            rng = np.random.default_rng([seed, family, index, replicate])
        return drawn, int(rng.integers(2**31))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Space) and list(self.to_dict().items()) == list(other.to_dict().items())

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Space({self.to_dict()!r})"


def as_seed(seed: object, name: str = "seed") -> int:
    """A study's seed: a whole number that fits one word of NumPy's seed sequence."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= int(seed) < _LARGEST:
        raise InputError(f"{name} must be a whole number from 0 to {_LARGEST - 1}, got {seed!r}")
    return int(seed)


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name or any(c in name for c in "{}\0"):
        raise InputError(f"a parameter's name must be text without braces, got {name!r}")
    if name in RESERVED:
        raise InputError(
            f"{name!r} is filled in by the runner and cannot be a parameter; every trial gets its own seed already, so "
            f"rename or remove it (reserved: {', '.join(RESERVED)})"
        )


def _parameter(name: str, given: Any, before: Mapping[str, _Parameter]) -> _Parameter:
    if isinstance(given, Mapping) and "sampling strategy" in given:
        return _from_allentune(name, dict(given))
    if hasattr(given, "rvs"):
        return _from_scipy(name, given)
    if isinstance(given, list | tuple) or (hasattr(given, "tolist") and np.ndim(given) == 1):
        given = {"choice": list(given)}
    if not isinstance(given, Mapping):
        return _Parameter(name, "constant", _plain(given, name), {}, {})
    spec = {str(key): value for key, value in given.items()}
    when = spec.pop("when", {})
    kinds = [key for key in spec if key in KINDS]
    if len(kinds) != 1:
        unknown = [key for key in spec if key not in KINDS] or ["nothing"]
        raise InputError(
            f"{name}: say how it is drawn in one word, got {', '.join(kinds or unknown)}; "
            f"{_check.nearest_first(unknown[0], KINDS)}"
        )
    kind = kinds[0]
    arguments = spec.pop(kind)
    for key in spec:
        if key not in _EXTRA.get(kind, ()):
            takes = ", ".join([*_EXTRA.get(kind, ()), "when"])
            raise InputError(f"{name}: {kind} has no option {key!r}; it takes {takes}")
    arguments, extra = _checked(name, kind, arguments, spec)
    return _Parameter(name, kind, arguments, extra, _conditions(name, when, before))


def _checked(name: str, kind: str, arguments: Any, extra: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    if kind == "constant":
        return _plain(arguments, name), {}
    if kind in ("choice", "subset", "pair"):
        return _choices(name, kind, arguments, extra)
    if kind == "scipy":
        args = [_plain(v, name) for v in extra.get("args", [])]
        kwds = {key: _plain(v, name) for key, v in dict(extra.get("kwds", {})).items()}
        checked = {**({"args": args} if args else {}), **({"kwds": kwds} if kwds else {})}
        _frozen(str(arguments), checked)
        return str(arguments), checked
    low, high = _two_numbers(name, kind, arguments)
    if kind == "normal":
        if high <= 0 or not math.isfinite(abs(low) + 100 * high):
            raise InputError(f"{name}: normal takes [mean, sd] with sd > 0 and finite draws, got sd = {high:g}")
        return [low, high], {}
    if low >= high and not (kind in ("integer", "log-integer") and low == high):
        swapped = "; are they swapped?" if low > high else "; write the value alone for a constant"
        raise InputError(f"{name}: {kind} takes [low, high] with low < high, got [{low:g}, {high:g}]{swapped}")
    if kind.startswith("log") and low <= 0:
        raise InputError(
            f"{name}: a log scale cannot pass through zero, got [{low:g}, {high:g}]; raise the lower bound above 0 or "
            f"use {kind.removeprefix('log').removeprefix('-')}"
        )
    if kind in ("integer", "log-integer"):
        if low != int(low) or high != int(high) or max(abs(low), abs(high)) > _WHOLE:
            raise InputError(f"{name}: {kind} takes whole numbers up to 2^53, got [{low:g}, {high:g}]")
        return [int(low), int(high)], {}
    if not math.isfinite(high - low):
        raise InputError(f"{name}: {kind} takes bounds whose distance is finite, got [{low:g}, {high:g}]")
    return [low, high], {}


def _choices(name: str, kind: str, arguments: object, extra: dict[str, Any]) -> tuple[object, dict[str, object]]:
    if (
        isinstance(arguments, str)
        or not isinstance(arguments, Sequence)
        or len(arguments) < (2 if kind == "pair" else 1)
    ):
        raise InputError(f"{name}: {kind} takes a list of values, got {_short(arguments)}")
    values = [_plain(value, name) for value in arguments]
    if "weights" not in extra:
        return values, {}
    try:
        weights = [float(w) for w in extra["weights"]]
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: weights must be numbers, got {_short(extra['weights'])}") from error
    good = all(w >= 0 for w in weights) and 0 < sum(weights) < math.inf
    if len(weights) != len(values) or not good:
        raise InputError(
            f"{name}: choice needs one weight per value, none negative and not all zero; got {len(weights)} for "
            f"{len(values)} values: {weights}"
        )
    return values, {"weights": weights}


def _conditions(name: str, when: object, before: Mapping[str, _Parameter]) -> dict[str, Any]:
    if not isinstance(when, Mapping):
        raise InputError(f"{name}: when must map another parameter to its value or values, got {_short(when)}")
    rules: dict[str, Any] = {}
    for parent, rule in when.items():
        if parent not in before:
            known = ", ".join(before) or "none"
            raise InputError(
                f"{name}: when names {parent!r}, which is not declared above it; declare it first (declared: {known})"
            )
        if isinstance(rule, Mapping):
            if not rule or not set(rule) <= {"min", "max"} or not before[parent].numeric:
                raise InputError(
                    f"{name}: when takes a value, a list of values or, for a number, {{min:, max:}}; got {_short(rule)}"
                )
            rules[parent] = {side: _number(value, f"{name}: when") for side, value in rule.items()}
            continue
        values = list(rule) if isinstance(rule, list | tuple) else [rule]
        if before[parent].kind == "choice":
            for value in values:
                if value not in before[parent].arguments:
                    options = ", ".join(str(option) for option in before[parent].arguments)
                    raise InputError(f"{name}: when asks for {parent} = {value!r}, which it never is; it is {options}")
        rules[parent] = _plain(values if isinstance(rule, list | tuple) else rule, name)
    return rules


def _from_allentune(name: str, given: dict[str, Any]) -> _Parameter:
    strategy = given.pop("sampling strategy")
    _check.as_choice(strategy, ("uniform", "loguniform", "integer", "choice", "subset", "pair"), "sampling strategy")
    arguments = given.get("choices" if strategy in ("choice", "subset", "pair") else "bounds")
    if strategy == "integer":
        # AllenTune draws integers with numpy.random.randint, which leaves the upper bound out.
        low, high = _two_numbers(name, strategy, arguments)
        arguments = [low, high - 1]
    arguments, extra = _checked(name, strategy, arguments, {})
    return _Parameter(name, strategy, arguments, extra, {})


def _from_scipy(name: str, frozen: Any) -> _Parameter:
    law = getattr(getattr(frozen, "dist", None), "name", None)
    if law is None or not hasattr(frozen, "args"):
        raise InputError(
            f"{name}: only SciPy's frozen distributions, such as scipy.stats.loguniform(1e-4, 1), can be recorded, got "
            f"{_short(frozen)}"
        )
    arguments, extra = _checked(name, "scipy", law, {"args": frozen.args, "kwds": frozen.kwds})
    return _Parameter(name, "scipy", arguments, extra, {})


def _frozen(law: str, extra: Mapping[str, object]) -> Any:
    return _frozen_once(law, json.dumps(extra, sort_keys=True))


@functools.lru_cache(maxsize=256)
def _frozen_once(law: str, described: str) -> object:
    """Freezing a law takes about a millisecond; drawing from it, microseconds."""
    from scipy import stats

    extra = json.loads(described)

    generator = getattr(stats, law, None) if law.isidentifier() and not law.startswith("_") else None
    if not isinstance(generator, stats.rv_continuous | stats.rv_discrete):
        raise InputError(f"scipy.stats has no distribution {law!r}; see scipy.stats for the names it knows")
    try:
        frozen = generator(*extra.get("args", []), **extra.get("kwds", {}))
        low, high = frozen.support()
        if np.ndim(low) or np.ndim(high):
            raise ValueError("each is one number")
    except (TypeError, ValueError) as error:
        raise InputError(f"scipy.stats.{law} refuses its parameters: {error}") from error
    if math.isnan(low) or math.isnan(high):
        raise InputError(f"scipy.stats.{law} is not defined at these parameters: {described}")
    return frozen


def _two_numbers(name: str, kind: str, arguments: object) -> tuple[float, float]:
    if isinstance(arguments, str) or not isinstance(arguments, Sequence) or len(arguments) != 2:
        raise InputError(f"{name}: {kind} takes two numbers, got {_short(arguments)}")
    return _number(arguments[0], f"{name}: {kind}"), _number(arguments[1], f"{name}: {kind}")


def _number(value: Any, what: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(value, bool) or not math.isfinite(number):
        raise InputError(f"{what} takes finite numbers, got {_short(value)}")
    return value if isinstance(value, int) else number


def _plain(value: object, name: str) -> Any:
    """A value that JSON can carry; the ledger keeps every configuration as JSON."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, tuple):
        value = list(value)
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name}: values must be numbers, text, booleans, null or lists of these, got {_short(value)}; give it a "
            "name and look the object up in your code"
        ) from error
    return value


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
