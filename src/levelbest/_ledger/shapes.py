"""What each kind of record must hold: whoever reads a body after this need not ask again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from math import isfinite
from types import NoneType
from typing import Any, NoReturn, TypeGuard

from levelbest._ledger.records import PLACES, Record

__all__ = ["Body", "is_record", "misshapen", "read_body"]

Body = dict[str, object]
_MOST = 2**32
"""Families, trials and seeds are counted below this; NumPy's seed sequence takes each as one word."""
_ROWS = {
    (int, int, str, *[int] * min(places, 3), *[NoneType] * (3 - min(places, 3)), how, str, str): places
    for places, how in ((0, NoneType), (1, NoneType), (3, NoneType), (4, str))
}
"""The types of a row's cells -> how many of family, trial, attempt and status it has."""


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
    for name, fits in _MUST[kind].items():
        if name not in body:
            return f"cannot be read: its {name} is missing"
        if not fits(body[name]):
            return f"cannot be read: its {name} is not what it must be"
    if len(body) > len(_MUST[kind]) and kind not in ("environment", "session"):
        for name in body.keys() & _MAY.keys():
            if not _MAY[name](body[name]):
                return f"cannot be read: its {name} is not what it must be"
    return None


def _is_text(value: object) -> bool:
    return type(value) is str


def _is_count(value: object, least: int = 0) -> bool:
    return type(value) is int and least <= value < _MOST


def _is_metric(metric: object) -> bool:
    if type(metric) is not dict:
        return False
    names = all(isinstance(metric.get(key), str | NoneType) for key in ("selection", "reported"))
    bounds = metric.get("bounds")
    limits = isinstance(bounds, list) and len(bounds) == 2 and _are_scores(bounds)
    return names and limits and metric.get("direction") in ("max", "min", None)


def _is_definition(definition: Any) -> bool:
    space = definition.get("space") if type(definition) is dict else None
    pairs = isinstance(space, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in space)
    return pairs and all(_is_text(name) for name, _ in space or ()) and _is_count(definition.get("seeds"), 1)


def _are_scores(values: Iterable[object]) -> bool:
    """Whether all are finite numbers, or None."""
    for value in values:
        if type(value) is float:
            if not isfinite(value):
                return False
        elif value is not None and not (type(value) is int and abs(value) < 1e300):
            return False
    return True


def _is_by_name(scores: object) -> bool:
    return type(scores) is dict and _are_scores(scores.values())


def _is_amount(value: object) -> bool:
    return value is not None and _are_scores((value,))


_MUST: dict[str, dict[str, Callable[[Any], bool]]] = {
    "study": {
        "name": _is_text,
        "seed": _is_count,
        "metric": _is_metric,
        "cost": lambda cost: type(cost) is dict and _is_text(cost.get("unit")),
    },
    "environment": {},
    "session": {},
    "stop": {"reason": _is_text},
    "family": {"name": _is_text, "definition": _is_definition, "fingerprint": _is_text},
    "plan": {"n_trials": lambda count: _is_count(count, 1)},
    "start": {"config": lambda config: type(config) is dict, "seed": lambda seed: type(seed) is int},
    "end": {
        "scores": _is_by_name,
        "wall": _is_amount,
        "cpu": _is_amount,
        "cost": lambda cost: _are_scores((cost,)),
    },
}
_MAY: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("declared", "mark", "reason", "log", "blame"), _is_text),
    "steps": lambda steps: type(steps) is list and all(map(_is_by_name, steps)),
}
"""What a body need not have, whatever its kind; the environment and a session hold what they like."""
