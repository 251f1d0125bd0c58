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

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from levelbest import _check
from levelbest._check import short
from levelbest._ledger.spaces_of_others import in_our_words
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
Draw = Callable[[np.random.Generator], object]


@dataclass(frozen=True)
class _Parameter:
    described: Configuration
    """In the words of a study file."""
    draw: Draw
    values: Sequence[object] | None = None
    """Those that it can take, where they are listed."""
    numeric: bool = True
    rules: Mapping[str, Callable[[object], bool]] = field(default_factory=dict)
    """What each of the parameters above must be for this one to be there."""

    def describe(self) -> object:
        """In the words of a study file; a plain constant is its value alone."""
        value = self.described.get("constant", {})
        return value if len(self.described) == 1 and not isinstance(value, dict | list) else self.described

    def active(self, drawn: Configuration) -> bool:
        return all(parent in drawn and fits(drawn[parent]) for parent, fits in self.rules.items())


class Space:
    """A search space: names in declared order, each with how it is drawn.

    Built from a mapping in the words of a study file, whose values may also be SciPy frozen distributions or lists
    (a uniform choice), as scikit-learn's RandomizedSearchCV takes them; or from the JSON of AllenTune or meanmax as it
    is (`levelbest._ledger.spaces_of_others`).
    """

    def __init__(self, parameters: object) -> None:
        parameters = in_our_words(parameters)
        if not isinstance(parameters, Mapping):
            raise InputError(f"a space must map names to how they are drawn, got {short(parameters)}")
        self._parameters: dict[str, _Parameter] = {}
        for name, given in parameters.items():
            if not isinstance(name, str) or not name or any(c in name for c in "{}\0"):
                raise InputError(f"a parameter's name must be text without braces, got {name!r}")
            if name in RESERVED:
                raise InputError(
                    f"{name!r} is filled in by the runner and cannot be a parameter; every trial gets its own seed "
                    f"already, so rename or remove it (reserved: {', '.join(RESERVED)})"
                )
            self._parameters[name] = _parameter(name, given, self._parameters)

    @property
    def names(self) -> tuple[str, ...]:
        """Every parameter, in declared order."""
        return tuple(self._parameters)

    @property
    def conditional(self) -> frozenset[str]:
        """Parameters that some configurations do not have."""
        return frozenset(name for name, parameter in self._parameters.items() if parameter.rules)

    def to_dict(self) -> Configuration:
        """The space in the words of a study file; ``Space(space.to_dict())`` draws the same."""
        return {name: parameter.describe() for name, parameter in self._parameters.items()}

    def draw(self, seed: int, family: int, trial: int, seeds: int = 1) -> tuple[Configuration, int]:
        """Configuration and seed of one trial.

        With ``seeds`` per configuration, trial t is replicate t % seeds of configuration t // seeds. Replicate 0 takes
        the seed drawn after the parameters, so one seed per configuration is the plain rule; replicate r > 0 takes its
        own from ``default_rng([seed, family, t // seeds, r])``.
        """
        index, replicate = divmod(trial, seeds)
        rng = np.random.default_rng([seed, family, index])
        drawn: Configuration = {}
        for name, parameter in self._parameters.items():
            if not parameter.rules or parameter.active(drawn):
                drawn[name] = parameter.draw(rng)
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


def _parameter(name: str, given: object, before: Mapping[str, _Parameter]) -> _Parameter:
    """How one parameter is drawn, from what a study file or SciPy says of it."""
    spec = _specification(name, given)
    when = spec.pop("when", {})
    kinds = [key for key in spec if key in KINDS]
    if len(kinds) != 1:
        unknown = [key for key in spec if key not in KINDS] or ["nothing"]
        raise InputError(
            f"{name}: say how it is drawn in one word, got {', '.join(kinds or unknown)}; "
            f"{_check.nearest_first(unknown[0], KINDS)}"
        )
    kind = kinds[0]
    extra = _EXTRA.get(kind, ())
    if wrong := spec.keys() - {kind, *extra}:
        takes = ", ".join([*extra, "when"])
        raise InputError(f"{name}: {kind} has no option {min(wrong)!r}; it takes {takes}")
    arguments = spec[kind]
    match kind:
        case "constant":
            value = _plain(arguments, name)
            parameter = _Parameter({kind: value}, lambda _: value, numeric=_are_numbers([value]))
        case "choice" | "subset" | "pair":
            parameter = _listed(name, kind, arguments, spec.get("weights"))
        case "scipy":
            parameter = _distribution(name, str(arguments), spec.get("args", []), spec.get("kwds", {}))
        case _:
            bounds, draw = _interval(name, kind, arguments)
            parameter = _Parameter({kind: bounds}, draw)
    conditions, rules = _conditions(name, when, before)
    if conditions:
        return replace(parameter, described={**parameter.described, "when": conditions}, rules=rules)
    return parameter


def _specification(name: str, given: object) -> Configuration:
    """What is given for a parameter, in the words of a study file."""
    if hasattr(given, "rvs"):
        return _from_scipy(name, given)
    if isinstance(given, list | tuple) or (isinstance(given, Iterable) and getattr(given, "ndim", 0) == 1):
        return {"choice": list(given)}
    if isinstance(given, Mapping):
        return {str(key): value for key, value in given.items()}
    return {"constant": given}


def _interval(name: str, kind: str, arguments: object) -> tuple[list[float], Draw]:
    """Bounds, or mean and standard deviation, and how a value is drawn from between or around them."""
    low, high = _two_numbers(name, kind, arguments)
    if kind == "normal":
        if high <= 0 or not math.isfinite(abs(low) + 100 * high):
            raise InputError(f"{name}: normal takes [mean, sd] with sd > 0 and finite draws, got sd = {high:g}")
        return [low, high], lambda rng: float(low + high * rng.standard_normal())
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
        first, last = int(low), int(high)
        if kind == "integer":
            return [first, last], lambda rng: int(rng.integers(first, last, endpoint=True))
        # Each whole number k has mass log((k+1)/k): the floor of a log-uniform draw on [low, high + 1).
        start, length = math.log(first), math.log(last + 1) - math.log(first)
        return [first, last], lambda rng: min(math.floor(math.exp(start + length * rng.random())), last)
    if not math.isfinite(high - low):
        raise InputError(f"{name}: {kind} takes bounds whose distance is finite, got [{low:g}, {high:g}]")
    if kind == "uniform":
        return [low, high], lambda rng: low + (high - low) * rng.random()
    start, length = math.log(low), math.log(high) - math.log(low)
    return [low, high], lambda rng: math.exp(start + length * rng.random())


def _listed(name: str, kind: str, arguments: object, given_weights: object) -> _Parameter:
    """One of some values, some of them, or two of them."""
    least = 2 if kind == "pair" else 1
    if isinstance(arguments, str) or not isinstance(arguments, Sequence) or len(arguments) < least:
        raise InputError(f"{name}: {kind} takes a list of values, got {short(arguments)}")
    values = [_plain(value, name) for value in arguments]
    if kind != "choice":

        def several(rng: np.random.Generator) -> object:
            size = 2 if kind == "pair" else int(rng.integers(1, len(values), endpoint=True))
            return [values[i] for i in rng.choice(len(values), size, replace=False)]

        return _Parameter({kind: values}, several, numeric=False)
    described: Configuration = {kind: values}
    weights = [1.0] * len(values)
    if given_weights is not None:
        described["weights"] = weights = _weights(name, given_weights, len(values))
    shares = np.cumsum(weights) / np.sum(weights)

    def one_of_them(rng: np.random.Generator) -> object:
        # The last share may round to just below 1.
        return values[min(int(np.searchsorted(shares, rng.random(), side="right")), len(values) - 1)]

    return _Parameter(described, one_of_them, values, _are_numbers(values))


def _weights(name: str, given: object, count: int) -> list[float]:
    listed = list(given) if isinstance(given, Iterable) else [given]
    weights = [_check.as_number(weight) for weight in listed]
    if any(
        math.isnan(number) and not isinstance(weight, float) for weight, number in zip(listed, weights, strict=True)
    ):
        raise InputError(f"{name}: weights must be numbers, got {short(given)}")
    good = all(weight >= 0 for weight in weights) and 0 < sum(weights) < math.inf
    if len(weights) != count or not good:
        raise InputError(
            f"{name}: choice needs one weight per value, none negative and not all zero; got {len(weights)} for "
            f"{count} values: {weights}"
        )
    return weights


def _distribution(name: str, distribution: str, args: object, kwds: object) -> _Parameter:
    """A distribution of SciPy's, by its name."""
    from scipy import stats

    if not isinstance(args, list | tuple) or not isinstance(kwds, Mapping):
        given = short(kwds if isinstance(args, list | tuple) else args)
        raise InputError(f"{name}: scipy takes args as a list and kwds as names with their values, got {given}")
    places = [_plain(value, name) for value in args]
    names = {str(key): _plain(value, name) for key, value in kwds.items()}
    extra = {key: value for key, value in (("args", places), ("kwds", names)) if value}
    generator = (
        getattr(stats, distribution, None) if distribution.isidentifier() and not distribution.startswith("_") else None
    )
    if not isinstance(generator, stats.rv_continuous | stats.rv_discrete):
        raise InputError(f"scipy.stats has no distribution {distribution!r}; see scipy.stats for the names it knows")
    try:
        frozen = generator(*places, **names)
        low, high = frozen.support()
        if np.ndim(low) or np.ndim(high):
            raise ValueError("each is one number")
    except (TypeError, ValueError) as error:
        raise InputError(f"scipy.stats.{distribution} refuses its parameters: {error}") from error
    if math.isnan(low) or math.isnan(high):
        described = json.dumps(extra, sort_keys=True)
        raise InputError(f"scipy.stats.{distribution} is not defined at these parameters: {described}")
    return _Parameter({"scipy": distribution, **extra}, lambda rng: _plain(frozen.rvs(random_state=rng), name))


def _conditions(
    name: str, when: object, before: Mapping[str, _Parameter]
) -> tuple[Configuration, dict[str, Callable[[object], bool]]]:
    """What other parameters must be: in the words of a study file, and as tests of their values."""
    if not isinstance(when, Mapping):
        raise InputError(f"{name}: when must map another parameter to its value or values, got {short(when)}")
    conditions: Configuration = {}
    rules: dict[str, Callable[[object], bool]] = {}
    for parent, rule in when.items():
        if parent not in before:
            known = ", ".join(before) or "none"
            raise InputError(
                f"{name}: when names {parent!r}, which is not declared above it; declare it first (declared: {known})"
            )
        if isinstance(rule, Mapping):
            if not rule or not set(rule) <= {"min", "max"} or not before[parent].numeric:
                raise InputError(
                    f"{name}: when takes a value, a list of values or, for a number, {{min:, max:}}; got {short(rule)}"
                )
            limits = {side: _finite(value, f"{name}: when") for side, value in rule.items()}
            conditions[parent], rules[parent] = limits, _within(limits)
            continue
        wanted = _plain(rule, name)
        values = wanted if isinstance(wanted, list) else [wanted]
        options = before[parent].values
        for value in values if options is not None else ():
            if value not in (options or ()):
                listed = ", ".join(map(str, options or ()))
                raise InputError(f"{name}: when asks for {parent} = {value!r}, which it never is; it is {listed}")
        conditions[parent], rules[parent] = wanted, values.__contains__
    return conditions, rules


def _within(limits: Mapping[str, float]) -> Callable[[object], bool]:
    low, high = limits.get("min", -math.inf), limits.get("max", math.inf)
    return lambda value: isinstance(value, int | float) and low <= value <= high


def _from_scipy(name: str, frozen: object) -> Configuration:
    distribution = getattr(getattr(frozen, "dist", None), "name", None)
    if distribution is None or not hasattr(frozen, "args"):
        raise InputError(
            f"{name}: only SciPy's frozen distributions, such as scipy.stats.loguniform(1e-4, 1), can be recorded, got "
            f"{short(frozen)}"
        )
    return {"scipy": distribution, "args": frozen.args, "kwds": getattr(frozen, "kwds", {})}


def _two_numbers(name: str, kind: str, arguments: object) -> tuple[float, float]:
    if isinstance(arguments, str) or not isinstance(arguments, Sequence) or len(arguments) != 2:
        raise InputError(f"{name}: {kind} takes two numbers, got {short(arguments)}")
    return _finite(arguments[0], f"{name}: {kind}"), _finite(arguments[1], f"{name}: {kind}")


def _finite(value: object, what: str) -> float:
    number = _check.as_number(value)
    if isinstance(value, bool) or not math.isfinite(number):
        raise InputError(f"{what} takes finite numbers, got {short(value)}")
    return value if isinstance(value, int) else number


def _are_numbers(values: Sequence[object]) -> bool:
    return all(isinstance(value, int | float) for value in values)


def _plain(value: object, name: str) -> object:
    """A value that JSON can carry; the ledger keeps every configuration as JSON."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, tuple):
        value = list(value)
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name}: values must be numbers, text, booleans, null or lists of these, got {short(value)}; give it a "
            "name and look the object up in your code"
        ) from error
    return value
