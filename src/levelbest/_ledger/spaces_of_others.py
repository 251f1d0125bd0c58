"""Search spaces as AllenTune and meanmax write them, in the words of a study file.

AllenTune (JSON, often named .jsonnet) maps a name to ``{"sampling strategy": ..., "bounds" or "choices": [...]}`` or to
a constant; a list is also a constant, the words of a text. meanmax lists ``{"name": "--lr", "sampling_fn": ..., ...}``,
where the function is a distribution of SciPy with its parameters, or ``{"name": ..., "choices": [...], "p": [...]}``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeGuard

from levelbest import _check
from levelbest._check import short
from levelbest.errors import InputError

__all__ = ["in_our_words"]

_STRATEGY = "sampling strategy"
_LISTED = ("choice", "subset", "pair")
_STRATEGIES = ("uniform", "loguniform", "integer", *_LISTED)


def in_our_words(space: object) -> object:
    """A space of AllenTune or meanmax as a study file would say it; any other as it is."""
    if isinstance(space, Mapping) and any(_is_drawn(given) for given in space.values()):
        return {name: _from_allentune(name, given) for name, given in space.items()}
    if isinstance(space, list) and space and all(isinstance(given, Mapping) and "name" in given for given in space):
        drawn = {str(given["name"]).lstrip("-"): given for given in space}
        if len(drawn) < len(space):
            raise InputError(f"a space names each parameter once, got {short([given['name'] for given in space])}")
        return {name: _from_meanmax(name, given) for name, given in drawn.items() if name != "seed"}  # the runner's own
    return space


def _is_drawn(given: object) -> bool:
    return isinstance(given, Mapping) and _STRATEGY in given


def _from_allentune(name: object, given: object) -> object:
    if isinstance(given, list):
        return {"constant": " ".join(map(str, given))}  # what AllenTune hands to the environment
    if not isinstance(given, Mapping) or not _is_drawn(given):
        return given
    strategy = str(given[_STRATEGY])
    _check.as_choice(strategy, _STRATEGIES, _STRATEGY)
    # The spaces of Show Your Work write the values to choose from as bounds, too.
    keys = ("choices", "bounds") if strategy in _LISTED else ("bounds",)
    arguments = next((given[key] for key in keys if key in given), None)
    if strategy in _LISTED:
        return {strategy: arguments}
    if not _are_two(arguments):
        raise InputError(f"{name}: {strategy} takes two numbers as bounds, got {short(arguments)}")
    # AllenTune draws integers with numpy.random.randint, which leaves the upper bound out.
    return {strategy: [arguments[0], arguments[1] - (strategy == "integer")]}


def _are_two(arguments: object) -> TypeGuard[Sequence[float]]:
    if not isinstance(arguments, Sequence) or isinstance(arguments, str) or len(arguments) != 2:
        return False
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in arguments)


def _from_meanmax(name: str, given: Mapping[str, object]) -> object:
    parameter = {str(key): value for key, value in given.items() if key != "name"}
    if "choices" in parameter:
        weights = {"weights": parameter["p"]} if "p" in parameter else {}
        return {"choice": parameter["choices"], **weights}
    function = parameter.pop("sampling_fn", None)
    if not isinstance(function, str):
        raise InputError(
            f"{name}: meanmax draws by 'choices' or by 'sampling_fn', got {', '.join(parameter) or 'neither'}"
        )
    ends = [parameter.get("low"), parameter.get("high")]
    if function == "randint" and set(parameter) == {"low", "high"} and _are_two(ends):
        return {"integer": [ends[0], ends[1] - 1]}
    return {"scipy": function, "kwds": parameter}
