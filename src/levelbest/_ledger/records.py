"""Records of a ledger, each with the hash of the previous one.

    kind          family  trial  attempt  status   body
    study           -       -       -       -      name, seed, metric, cost, headline, version; the first record
    environment     -       -       -       -      code version, packages, machine; again where a later session differs
    family          f       -       -       -      name, definition, fingerprint; once for each family
    plan            f       -       -       -      n_trials; again where the plan is extended
    session         -       -       -       -      process, engine, workers, command
    start           f       t       a       -      configuration, seed, and a mark by which its processes are known
    end             f       t       a      s       scores, reason, wall and CPU seconds, cost, log and its hash
    stop            -       -       -       -      why the session ended
    decision        f       -       -       -      what a loop answered of a candidate after its latest run

The hash of a record is SHA-256 over the previous hash, a line feed, and the JSON list of its other fields.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from json.encoder import encode_basestring_ascii as quoted
from math import isfinite
from types import NoneType
from typing import NamedTuple, NoReturn, NotRequired, TypedDict, TypeGuard

Body = dict[str, object]

FINAL = ("ok", "failed", "diverged")
"""How a trial can be finished; it never runs again."""
AGAIN = ("lost", "interrupted")
"""Ends of an attempt that are not a result of the trial: the same configuration and seed run again."""
ANSWERS = ("keep", "discard", "again")
"""What a loop answers of a candidate; the first two are for good."""
FIELD_PLACES = {
    "study": 0,
    "environment": 0,
    "session": 0,
    "stop": 0,
    "family": 1,
    "plan": 1,
    "decision": 1,
    "start": 3,
    "end": 4,
}
"""Kind -> how many of family, trial, attempt and status a record of it has."""


class LedgerRecord(NamedTuple):
    """One row of a ledger."""

    seq: int
    at: int
    """Microseconds since 1970, UTC."""
    kind: str
    family: int | None
    trial: int | None
    attempt: int | None
    status: str | None
    body: str
    hash: str


class MetricBody(TypedDict):
    """Which scores count, and which way is better."""

    selection: str | None
    reported: str | None
    direction: str | None
    bounds: tuple[float | None, float | None]


class CostBody(TypedDict):
    """What one trial costs."""

    unit: str


class StudyBody(TypedDict):
    """What holds for the whole ledger."""

    name: str
    seed: int
    metric: MetricBody
    cost: CostBody
    headline: NotRequired[int | None]
    """The budget registered before the first trial, where one was."""
    loop: NotRequired[LoopBody]
    """The rule of a loop that keeps what improves; a study has none."""


class LoopBody(TypedDict):
    """The rule of a loop, fixed before its first run."""

    confidence: float
    pool: int
    widen: int
    stages: list[int]
    margin: float
    share: float


class DecisionBody(TypedDict):
    """What a loop answered of a candidate."""

    answer: str
    reason: str
    n_runs: int
    again: int
    p_value: float | None
    level: float | None


class Definition(TypedDict):
    """What decides the results of a family."""

    space: list[tuple[str, object]]
    seeds: int
    command: NotRequired[list[str] | None]
    function: NotRequired[str | None]
    time_limit: NotRequired[float | None]


class StartBody(TypedDict):
    """What an attempt was given."""

    config: dict[str, object]
    seed: int


class EndBody(TypedDict):
    """How an attempt ended, as far as it is read again."""

    scores: dict[str, float | None]
    wall: float
    cpu: float
    cost: float | None
    reason: NotRequired[str]
    log: NotRequired[str]
    log_hash: NotRequired[str]


def chain_hash(
    previous: str,
    seq: int,
    at: int,
    kind: str,
    family: int | None,
    trial: int | None,
    attempt: int | None,
    status: str | None,
    body: str,
) -> str:
    """The hash of a record that follows one whose hash is ``previous`` (empty for the first).

    One parameter a field of the record. Written out because ``json.dumps`` of the list, which gives the same text,
    takes twice as long, and a large ledger is hashed whenever it is read.
    """
    place = (
        f"{'null' if family is None else family}, {'null' if trial is None else trial}, "
        f"{'null' if attempt is None else attempt}, {'null' if status is None else quoted(status)}"
    )
    fields = f"[{seq}, {at}, {quoted(kind)}, {place}, {quoted(body)}]"
    return hashlib.sha256(f"{previous}\n{fields}".encode()).hexdigest()


_MOST = 2**32
"""Families, trials and seeds are counted below this; NumPy's seed sequence takes each as one word."""
_ROWS = {
    (int, int, str, *[int] * min(places, 3), *[NoneType] * (3 - min(places, 3)), how, str, str): places
    for places, how in ((0, NoneType), (1, NoneType), (3, NoneType), (4, str))
}
"""The types of a row's cells -> how many of family, trial, attempt and status it has."""


def is_record(row: Sequence[object]) -> TypeGuard[LedgerRecord]:
    """Whether the cells of a row are of the types that a record has."""
    return tuple(map(type, row)) in _ROWS


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON number")


_decoder = json.JSONDecoder(parse_constant=_no_number)


def read_body(text: str) -> Body | str:
    """A record's body, or why it is none; a body is written without blanks around it."""
    try:
        body, end = _decoder.raw_decode(text)
    except (ValueError, RecursionError) as error:
        return " ".join(str(error).split())[:100]
    return body if isinstance(body, dict) and end == len(text) else "its body is not a JSON object"


def misshapen(record: LedgerRecord, body: Body) -> str | None:
    """Why a record is not what its kind must be; None where it is."""
    kind = record.kind
    if kind not in FIELD_PLACES:
        return "is of a kind that this version does not know"
    places = FIELD_PLACES[kind]
    if _ROWS[tuple(map(type, record))] != places:
        return f"does not have the fields of a record of kind {kind}"
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


def _is_definition(definition: object) -> bool:
    if type(definition) is not dict or not isinstance(space := definition.get("space"), list):
        return False
    pairs = all(isinstance(pair, list) and len(pair) == 2 and _is_text(pair[0]) for pair in space)
    return pairs and _is_count(definition.get("seeds"), 1)


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


def _is_loop(loop: object) -> bool:
    if type(loop) is not dict or not isinstance(stages := loop.get("stages"), list):
        return False
    counts = (
        len(stages) == 3
        and all(_is_count(runs, 1) for runs in stages)
        and _is_count(loop.get("pool"), 2)
        and _is_count(loop.get("widen"))
    )
    return counts and all(_is_amount(loop.get(name)) for name in ("confidence", "margin", "share"))


_MUST: dict[str, dict[str, Callable[[object], bool]]] = {
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
    "decision": {
        "answer": lambda answer: answer in ANSWERS,
        "reason": _is_text,
        "n_runs": _is_count,
        "again": _is_count,
        "p_value": lambda p_value: _are_scores((p_value,)),
        "level": lambda level: _are_scores((level,)),
    },
    "start": {"config": lambda config: type(config) is dict, "seed": lambda seed: type(seed) is int},
    "end": {
        "scores": _is_by_name,
        "wall": _is_amount,
        "cpu": _is_amount,
        "cost": lambda cost: _are_scores((cost,)),
    },
}
_MAY: dict[str, Callable[[object], bool]] = {
    **dict.fromkeys(("declared", "mark", "reason", "log", "log_hash", "blame"), _is_text),
    "headline": lambda budget: budget is None or _is_count(budget, 1),
    "loop": _is_loop,
    "steps": lambda steps: type(steps) is list and all(map(_is_by_name, steps)),
}
"""What a body need not have, whatever its kind; the environment and a session hold what they like."""
