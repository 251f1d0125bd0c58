"""What each kind of record must hold: whoever reads a body after this need not ask again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from math import isfinite
from types import NoneType
from typing import NoReturn, TypeGuard

from levelbest._ledger.records import PLACES, Record

__all__ = ["Body", "is_record", "misshapen", "read_body"]

Body = dict[str, object]
_MOST = 2**32
"""Families, trials and seeds are counted below this; NumPy's seed sequence takes each as one word."""
_NUMBER = (int, float)
_ROWS = {
    (int, int, str, *[int] * min(places, 3), *[NoneType] * (3 - min(places, 3)), how, str, str): places
    for places, how in ((0, NoneType), (1, NoneType), (3, NoneType), (4, str))
}
"""The types of a row's cells -> how many of family, trial, attempt and status it has."""
_MUST: dict[str, dict[str, tuple[type, ...]]] = {
    "study": {"name": (str,), "seed": (int,), "metric": (dict,), "cost": (dict,)},
    "environment": {},
    "session": {},
    "stop": {"reason": (str,)},
    "family": {"name": (str,), "definition": (dict,), "fingerprint": (str,)},
    "plan": {"n_trials": (int,)},
    "start": {"config": (dict,), "seed": (int,)},
    "end": {"scores": (dict,), "wall": _NUMBER, "cpu": _NUMBER, "cost": (*_NUMBER, NoneType)},
}
_MAY = {"declared": str, "mark": str, "reason": str, "log": str, "blame": str, "steps": list}
"""What a body need not have, whatever its kind; the environment and a session hold what they like."""


def is_record(row: Sequence[object]) -> TypeGuard[Record]:
    """Whether the cells of a row are of the types that a record has."""
    return tuple(map(type, row)) in _ROWS


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON's")


_decoder = json.JSONDecoder(parse_constant=_no_number)


def read_body(text: str) -> Body | str:
    """A record's body, or why it is none; a body is written without blanks around it."""
    try:
        body, end = _decoder.raw_decode(text)
    except (ValueError, RecursionError) as error:
        return " ".join(str(error).split())[:100]
    return body if isinstance(body, dict) and end == len(text) else "its body is no JSON object"


def misshapen(record: Record, body: Body) -> str | None:
    """Why a record is not what its kind must be; None where it is."""
    kind = record.kind
    if kind not in PLACES:
        return "is of a kind that this version does not know"
    places = PLACES[kind]
    if _ROWS[tuple(map(type, record))] != places:
        return f"has not the place of a record of kind {kind}"
    numbers = (record.family or 0, record.trial or 0, record.attempt or 0)
    if min(numbers) < 0 or max(numbers) >= _MOST:
        return "has a place that no plan reaches"
    for name, types in _MUST[kind].items():
        if type(body.get(name, ...)) not in types:
            return f"cannot be read: its {name} is missing or of another type"
    if len(body) > len(_MUST[kind]) and kind not in ("environment", "session"):
        for name in body.keys() & _MAY.keys():
            if type(body[name]) is not _MAY[name]:
                return f"cannot be read: its {name} is of another type"
    part = _DEEPER[kind](body) if kind in _DEEPER else None
    return f"cannot be read: its {part} is not what it must be" if part else None


def _in_study(body: Body) -> str | None:
    metric, cost, seed = body["metric"], body["cost"], body["seed"]
    assert isinstance(metric, dict)
    assert isinstance(cost, dict)
    assert isinstance(seed, int)
    if not 0 <= seed < _MOST:
        return "seed"
    names = all(isinstance(metric.get(key), str | NoneType) for key in ("selection", "reported"))
    bounds = metric.get("bounds")
    if not names or metric.get("direction") not in ("max", "min", None):
        return "metric"
    if not isinstance(bounds, list) or len(bounds) != 2 or not _are_scores(bounds):
        return "metric"
    return None if isinstance(cost.get("unit"), str) else "cost"


def _in_family(body: Body) -> str | None:
    definition = body["definition"]
    assert isinstance(definition, dict)
    space, seeds = definition.get("space"), definition.get("seeds")
    pairs = isinstance(space, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in space)
    if not pairs or not all(isinstance(name, str) for name, _ in space or ()):
        return "space"
    return None if type(seeds) is int and seeds >= 1 else "definition"


def _in_plan(body: Body) -> str | None:
    n_trials = body["n_trials"]
    return None if isinstance(n_trials, int) and 1 <= n_trials < _MOST else "n_trials"


def _in_end(body: Body) -> str | None:
    scores = body["scores"]
    assert isinstance(scores, dict)
    if not _are_scores(scores.values()):
        return "scores"
    if not _are_scores((body["wall"], body["cpu"], body["cost"])):
        return "cost"
    if "steps" in body:
        steps = body["steps"]
        assert isinstance(steps, list)
        if not all(isinstance(step, dict) and _are_scores(step.values()) for step in steps):
            return "steps"
    return None


def _are_scores(values: Iterable[object]) -> bool:
    """Whether all are finite numbers, or None."""
    for value in values:
        if type(value) is float:
            if not isfinite(value):
                return False
        elif value is not None and not (type(value) is int and abs(value) < 1e300):
            return False
    return True


_DEEPER: dict[str, Callable[[Body], str | None]] = {
    "study": _in_study,
    "family": _in_family,
    "plan": _in_plan,
    "end": _in_end,
}
