"""Trials in this process, one at a time: for debugging, and for functions that cannot be forked."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

from levelbest.errors import InputError
from levelbest.run.attempt import attempt
from levelbest.run.engines import Engine, Job
from levelbest.run.objective import call, load
from levelbest.run.standby import seed_everything, why
from levelbest.run.task import Outcome, ScoreByName, Task


class InlineEngine(Engine):
    """A function is called here, where a debugger can see it: no time limit, no log, no protection from a crash."""

    isolates = False
    capacity = 1

    def __init__(self, job: Job) -> None:
        self._functions: dict[str, Callable[..., object]] = dict(job.functions)
        for name in job.names:
            try:
                self._functions[name] = load(name, str(job.folder))
            except (Exception, SystemExit) as error:
                raise InputError(f"{name} cannot be imported: {type(error).__name__}: {error}") from error
        self._ended: list[Outcome] = []

    def submit(self, task: Task) -> None:
        """Run a task to its end."""
        if task["function"] is None:
            self._ended.append(attempt(task, None))
        else:
            self._ended.append(self._call(task, self._functions[task["function"]]))

    def _call(self, task: Task, function: Callable[..., object]) -> Outcome:
        raw: Outcome = {"key": task["key"], "end": "exit", "wall": 0.0, "cpu": 0.0, "limit": task["limit"], "code": 0}
        steps: list[ScoreByName] = []
        wall, cpu = time.monotonic(), time.process_time()
        with contextlib.suppress(ImportError):
            import numpy  # noqa: F401 - so that it is seeded
        seed_everything(task["seed"])
        try:
            raw["scores"] = call(function, task["config"], task["seed"], steps.append)
        except Exception as error:
            raw["code"], raw["raised"] = 1, why(error)
        if steps:
            raw["steps"] = steps
        raw["wall"], raw["cpu"] = time.monotonic() - wall, time.process_time() - cpu
        return raw

    def wait(self, timeout: float) -> list[Outcome]:  # noqa: ARG002
        """The attempt that ``submit`` ran."""
        ended, self._ended = self._ended, []
        return ended

    def stop(self) -> None:
        """Nothing runs between calls."""
