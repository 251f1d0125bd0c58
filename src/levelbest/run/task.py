"""What an engine is given and what it gives back, as plain data that JSON carries. Standard library only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NotRequired, TypedDict

Config = dict[str, object]
ScoreByName = dict[str, float]


class Task(TypedDict):
    """One attempt at one trial."""

    key: int
    """What the loop calls it."""
    mark: str
    """By which its processes, or its job in a queue, are known; no other attempt has it."""
    config: Config
    seed: int
    argv: list[str] | None
    """A command's arguments."""
    function: str | None
    """``module:name``, instead of a command."""
    folder: str
    """Where it runs."""
    out: str | None
    """A fresh folder to make for it."""
    log: str
    log_limit: int
    """Bytes kept of its output."""
    limit: float | None
    """Seconds that it may take."""
    report: str
    """``json``, ``exit``, or a metrics file's name."""
    selection: str | None
    """The score that must be there."""
    env: dict[str, str]
    """Variables that it sees besides the worker's."""


class Outcome(TypedDict):
    """How an attempt ended."""

    key: int
    end: Literal["exit", "signal", "timeout", "lost", "unstarted"]
    """``lost``: the infrastructure failed, which is not a result of the trial."""
    wall: float
    cpu: float
    limit: float | None
    code: NotRequired[int]
    """Exit code, or the signal's number."""
    scores: NotRequired[ScoreByName]
    steps: NotRequired[list[ScoreByName]]
    """What a function yielded on its way."""
    steps_left_out: NotRequired[int]
    raised: NotRequired[str]
    problem: NotRequired[str]
    machine: NotRequired[bool]
    """Whether a lost attempt was lost to a full or broken disk: the next would be too."""
    log_bytes: NotRequired[int]
    log_hash: NotRequired[str]
    """SHA-256 of the log as it was written."""
    log_left_out: NotRequired[int]
    log_problem: NotRequired[str]


class Setup(TypedDict):
    """What a worker imports before its first task."""

    load: list[str]
    """Functions, as ``module:name``."""
    folder: str
    """Where their modules are looked for too."""
    given: NotRequired[Mapping[str, Mapping[str, object]]]
    """Functions by the name that tasks use, each found in the process of its trial (``handover``)."""


class News(TypedDict, total=False):
    """What a worker, or the driver of a cluster, tells its runner: one of these, or two where it says so."""

    loaded: str | None
    """What went wrong as functions were imported, or None."""
    outcome: Outcome
    cores: float
    """Of a cluster, with ``loaded``."""
    cluster: str
    """Why a cluster cannot be joined or started."""
    gone: str
    """Why the way to all workers is lost."""
    key: int
    """Of the task that one of the next two is about."""
    lost: str
    """Why its worker was lost."""
    killed: bool
    """Whether it was ended for lack of memory."""


def lost(task: Task, problem: str) -> Outcome:
    """An attempt that the machinery lost."""
    return {"key": task["key"], "end": "lost", "wall": 0.0, "cpu": 0.0, "limit": task["limit"], "problem": problem}
