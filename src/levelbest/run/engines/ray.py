"""Trials on a Ray cluster: one Ray Core task per attempt, which runs the trial as a local worker would.

    runner ---socket--- driver ---Ray--- a worker of Ray's -- guarded worker -- trial

Ray runs in a separate process, the driver: its output goes to a log, and the runner notices if it dies, or exits
because the cluster is gone. If a Ray worker or a node dies, the attempt is lost; the session decides whether the trial
runs again, so Ray's retries are off. When the Ray worker is killed, the trial and all its processes end with it.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import select
import signal
import socket
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn, TypedDict

from levelbest.errors import DataError, InputError, MissingExtra
from levelbest.run.engines import Engine, Job
from levelbest.run.engines.cluster import gone, run_task, setup_of
from levelbest.run.task import News, Outcome, Setup, Task, lost
from levelbest.run.worker import Worker

if TYPE_CHECKING:
    from concurrent.futures import Future

    from ray.remote_function import RemoteFunction

_TRIES = 10
_LONGEST_END = 10.0
"""Seconds that leaving a cluster may take."""
_FATAL = ("LocalRayletDiedError", "RaySystemError")
"""What Ray raises when not one worker but the way to all of them is gone."""
_MEMORY = "OutOfMemoryError"
"""What Ray raises where it ended a trial that took too much."""


class _Start(TypedDict):
    """What the driver is told first."""

    setup: Setup
    address: str | None
    options: dict[str, float]


class RayEngine(Engine):
    """Joins the cluster of this process or that ``RAY_ADDRESS`` names, else starts Ray on this machine, and ends it."""

    def __init__(self, job: Job) -> None:
        if importlib.util.find_spec("ray") is None:
            raise MissingExtra("ray", "ray")
        self._names, setup = setup_of(job)
        resources = job.resources
        options: dict[str, float] = {"num_cpus": resources.cpus or 1, "num_gpus": resources.gpus or 0}
        if resources.memory:
            options["memory"] = resources.memory
        self._log = job.logs / "ray.log"
        self._tasks: dict[int, Task] = {}
        self._driver = Worker(log=str(self._log), program="levelbest.run.engines.ray:drive")
        start: _Start = {"setup": setup, "address": _address(), "options": options}
        self._driver.send(start)
        try:
            answer = self._driver.answer()
            if answer is None:
                raise DataError(f"Ray ended as it started; what it printed is in {self._where}")
            if problem := answer.get("cluster"):
                raise DataError(f"{problem} (what it printed is in {self._where})")
            if problem := answer.get("loaded"):
                raise InputError(problem)
        except BaseException:
            self.stop()
            raise
        self.capacity = job.workers or max(1, int(answer["cores"] // (resources.cpus or 1)))

    @property
    def _where(self) -> str:
        return f"{self._log.parent.name}/{self._log.name}"

    def submit(self, task: Task) -> None:
        """Start a Ray task."""
        self._tasks[task["key"]] = task
        self._driver.send({**task, "function": self._names[task["function"]] if task["function"] else None})

    def wait(self, timeout: float) -> list[Outcome]:
        """Attempts that ended; one whose worker or node died is lost."""
        poller = select.poll()
        poller.register(self._driver, select.POLLIN)
        if not poller.poll(timeout * 1000):
            return []
        messages = self._driver.receive()
        if messages is None:
            raise gone("Ray", f"its driver ended; what it printed is in {self._where}")
        ended: list[Outcome] = []
        for news in messages:
            if "gone" in news:
                raise gone("Ray", f"{news['gone']}; what it printed is in {self._where}")
            task = self._tasks.pop(news["outcome"]["key"] if "outcome" in news else news["key"])
            if "killed" in news:
                ended.append({**lost(task, ""), "end": "signal", "code": signal.SIGKILL})
            else:
                ended.append(lost(task, news["lost"]) if "lost" in news else news["outcome"])
        return ended

    def stop(self) -> None:
        """End what runs, and leave the cluster."""
        self._tasks = {}
        self._driver.close()


def _address() -> str | None:
    """The cluster to join: this process's own, where it has one."""
    ray = sys.modules.get("ray")
    if ray is not None and ray.is_initialized():
        return str(ray.get_runtime_context().gcs_address)
    return os.environ.get("RAY_ADDRESS")


def drive(runner: socket.socket, log: str) -> NoReturn:  # noqa: ARG001 - its streams are the log already
    """In the driver: feed Ray with tasks, and tell how they end, until the runner lets go."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    messages = runner.makefile("rb")
    speaking = threading.Lock()

    def tell(**message: object) -> None:
        with speaking, contextlib.suppress(OSError):
            runner.sendall(json.dumps(message).encode() + b"\n")

    try:
        start: _Start = json.loads(messages.readline())
        if (driver := _join(start, tell)) is not None:
            for line in messages:
                driver.submit(json.loads(line))
    except ValueError:
        pass  # the runner died as it spoke
    finally:
        # What does not let itself be ended in time is left to Ray, which ends what belongs to a driver that is gone.
        threading.Timer(_LONGEST_END, os._exit, (0,)).start()
        if (ray := sys.modules.get("ray")) is not None:
            with contextlib.suppress(Exception):
                ray.shutdown()
        os._exit(0)


def _join(start: _Start, tell: Callable[..., None]) -> _Driver | None:
    """Join or start a cluster and have the functions imported there: a wrong name is an error, not fifty failures."""
    import ray

    address = start["address"]
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR", include_dashboard=False)
    except Exception as error:  # Ray raises bare exceptions here
        reason = " ".join(str(error).split())[:300]
        tell(cluster=f"Ray cannot be {'joined' if address else 'started'}: {reason}")
        return None
    run = ray.remote(max_retries=0, **start["options"])(run_task)
    problem = ""
    for _ in range(_TRIES):
        try:
            answer = ray.get(run.remote(None, start["setup"]))
        except ray.exceptions.RayError as error:
            problem = type(error).__name__
            continue
        if answer is not None:
            tell(loaded=answer["loaded"], cores=ray.cluster_resources().get("CPU", 1.0))
            return _Driver(run, start["setup"], tell)
    tell(cluster=f"workers of the cluster die as they start{f' ({problem})' if problem else ''}")
    return None


class _Driver:
    """Tasks that Ray runs, each known by the loop's key."""

    def __init__(self, run: RemoteFunction, setup: Setup, tell: Callable[..., None]) -> None:
        self._run, self._setup, self._tell = run, setup, tell
        self._running: dict[int, object] = {}
        """Ray ends a task that has no reference."""

    def submit(self, task: Task) -> None:
        reference = self._running[task["key"]] = self._run.remote(task, self._setup)
        reference.future().add_done_callback(lambda future: self._ended(task["key"], future))

    def _ended(self, key: int, future: Future[News | None]) -> None:
        self._running.pop(key, None)
        error = future.exception()
        name = type(error).__name__
        if error is None:
            self._tell(**(future.result() or {"key": key, "lost": "its worker was killed"}))
        elif name in _FATAL:
            self._tell(gone=name)
        elif name == _MEMORY:
            self._tell(key=key, killed=True)
        else:
            self._tell(key=key, lost=f"its worker was lost ({name})")
