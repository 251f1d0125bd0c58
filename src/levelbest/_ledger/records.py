"""What a ledger is made of: records in a chain, each with the hash of the one before.

    kind          family  trial  attempt  status   body
    study           -       -       -       -      name, seed, metric, cost, levelbest's version; the first record
    environment     -       -       -       -      code version, packages, machine; again where a later session differs
    family          f       -       -       -      name, definition, fingerprint; once for each family
    plan            f       -       -       -      n_trials; again where the plan is extended
    session         -       -       -       -      process, engine, workers, command
    start           f       t       a       -      configuration, seed, and a mark by which its processes are known
    end             f       t       a      s       scores, reason, wall and CPU seconds, cost, log
    stop            -       -       -       -      why the session ended

The hash of a record is SHA-256 over the previous hash, a line feed, and the JSON list of its other fields.
"""

from __future__ import annotations

import hashlib
from json.encoder import encode_basestring_ascii as quoted
from typing import NamedTuple, NotRequired, TypedDict

__all__ = ["AGAIN", "FINAL", "EndBody", "Record", "StartBody", "StudyBody", "chain_hash"]

FINAL = ("ok", "failed", "diverged")
"""How a trial can be finished; it never runs again."""
AGAIN = ("lost", "interrupted")
"""How an attempt can end that says nothing about the trial: the same configuration and seed run again."""
PLACES = {"study": 0, "environment": 0, "session": 0, "stop": 0, "family": 1, "plan": 1, "start": 3, "end": 4}
"""Kind -> how many of family, trial, attempt and status a record of it has."""


class Record(NamedTuple):
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


class StartBody(TypedDict):
    """What an attempt was given."""

    config: dict[str, object]
    seed: int
    mark: NotRequired[str]


class EndBody(TypedDict):
    """How an attempt ended."""

    scores: dict[str, float | None]
    """By name; None where one is not finite."""
    wall: float
    cpu: float
    cost: float | None
    reason: NotRequired[str]
    blame: NotRequired[str]
    """Of a lost attempt: ``engine`` where the machinery lost it, ``outside`` where the trial itself was killed."""
    log: NotRequired[str]
    log_bytes: NotRequired[int]
    log_left_out: NotRequired[int]
    log_problem: NotRequired[str]
    steps: NotRequired[list[dict[str, float | None]]]
    steps_left_out: NotRequired[int]


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
