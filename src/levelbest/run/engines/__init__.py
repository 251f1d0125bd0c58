"""Engines run trials; all of them follow one small contract and pass one test suite.

An engine receives tasks (see ``levelbest.run.task``) up to its capacity and returns how each attempt ended, in any
order. It makes no decisions: the session decides what counts as a failure, what runs again and what is recorded, in the
same way for every engine. If the engine itself is lost it raises a ``DataError``, which ends the session and leaves its
trials open.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from levelbest import _check
from levelbest.errors import DataError
from levelbest.run.study import Resources
from levelbest.run.task import Outcome, Task

ENGINE_CLASSES = {"inline": "InlineEngine", "local": "LocalEngine", "ray": "RayEngine", "slurm": "SlurmEngine"}
"""Name -> class, in ``levelbest.run.engines.<name>``, imported when it is used."""


@dataclass(frozen=True)
class Job:
    """What all tasks of a session share."""

    folder: Path
    logs: Path
    functions: Mapping[str, Callable[..., object]] = field(default_factory=dict)
    """Functions given as objects, by the name that tasks use."""
    names: tuple[str, ...] = ()
    """Functions given as ``module:name``."""
    workers: int | None = None
    resources: Resources = field(default_factory=Resources)
    """The largest of what any family asks for."""
    time: float | None = None
    """The longest time limit of any family, seconds; None where one has none."""
    wait: float = 60.0
    """Seconds that a cluster's file system may take to show a result."""
    patience: float = 120.0
    """Seconds that a scheduler may leave unanswered."""


class Engine(ABC):
    """The contract. An engine is used by one loop, from one thread."""

    isolates: ClassVar[bool] = True
    """Whether a trial that crashes, hangs or is killed cannot harm the runner."""
    capacity: int
    """Trials that can run at once."""

    @abstractmethod
    def __init__(self, job: Job) -> None:
        """Get ready to run; an ``InputError`` or ``MissingExtra`` where that cannot be."""

    @abstractmethod
    def submit(self, task: Task) -> None:
        """Start a task. Never called beyond the capacity."""

    @abstractmethod
    def wait(self, timeout: float) -> list[Outcome]:
        """How attempts ended that have ended since, each once; waits for the first up to ``timeout`` seconds."""

    @abstractmethod
    def stop(self) -> None:
        """End everything that runs, with all it started; what had not ended is not heard of again."""

    @classmethod  # noqa: B027 - most have no queue
    def cancel(cls, marks: Sequence[str]) -> None:
        """Cancel what attempts with these marks, of any session, still have in a queue; nothing where it has none."""


def _engine(name: str) -> type[Engine]:
    try:
        engine: type[Engine] = getattr(importlib.import_module(f"levelbest.run.engines.{name}"), ENGINE_CLASSES[name])
    except OSError as error:  # a full table of open files, a disk that gives nothing back
        raise DataError(f"the engine {name} cannot be loaded: {error.strerror}; nothing was started") from error
    return engine


def open_engine(name: str, job: Job) -> Engine:
    """The engine of this name, ready to run."""
    return _engine(_check.as_choice(name, ENGINE_CLASSES, "engine"))(job)


def cancel_marked(marks: Sequence[str]) -> None:
    """Cancel what attempts with these marks still have in the queue of any engine."""
    for name in ENGINE_CLASSES if marks else ():
        _engine(name).cancel(marks)
