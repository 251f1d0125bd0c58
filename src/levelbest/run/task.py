"""What an engine is given and what it gives back, as plain data that JSON carries. Standard library only."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

Config = dict[str, object]
Scores = dict[str, float]


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
    """``lost``: the machinery lost it, which says nothing about the trial."""
    wall: float
    cpu: float
    limit: float | None
    code: NotRequired[int]
    """Exit code, or the signal's number."""
    scores: NotRequired[Scores]
    steps: NotRequired[list[Scores]]
    """What a function yielded on its way."""
    steps_left_out: NotRequired[int]
    raised: NotRequired[str]
    problem: NotRequired[str]
    log_bytes: NotRequired[int]
    log_left_out: NotRequired[int]
    log_problem: NotRequired[str]


def lost(task: Task, problem: str) -> Outcome:
    """An attempt that the machinery lost."""
    return {"key": task["key"], "end": "lost", "wall": 0.0, "cpu": 0.0, "limit": task["limit"], "problem": problem}
