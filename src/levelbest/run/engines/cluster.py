"""Shared by engines on clusters: functions imported by name, and the worker that a cluster job feeds."""

from __future__ import annotations

from levelbest.errors import DataError, InputError, named
from levelbest.run.engines import Job
from levelbest.run.task import News, Setup, Task, lost
from levelbest.run.worker import Worker

_workers: dict[str, Worker] = {}
"""In a process of the cluster's: the guarded worker that it feeds."""


def setup_of(job: Job) -> tuple[dict[str, str], Setup]:
    """Functions by the name that tasks use, as ``module:name``, and the setup of workers."""
    names = {key: _importable(key, function) for key, function in job.functions.items()}
    names |= {name: name for name in job.names}
    return names, {"load": sorted(set(names.values())), "folder": str(job.folder)}


def _importable(key: str, function: object) -> str:
    """``module:name`` of a function that another machine can import; a sentence where it cannot."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
    if module in (None, "__main__") or "<" in name:
        raise InputError(
            f"{key}: a cluster needs a function that it can import, and {name or key} lives in this session alone; put "
            "it into a module and name it as module:name"
        )
    return f"{module}:{name}"


def gone(engine: str, why: str) -> DataError:
    """The way to all workers is lost: nothing that a trial could be blamed for."""
    return DataError(
        f"{engine} was lost ({why}). No trial counts as failed: those not finished stay open, and the same command "
        f"continues with them when {engine} is back, or elsewhere with another {named('engine')}"
    )


def load_worker(setup: Setup, log: str) -> str | None:
    """Import the functions in a worker of this machine; what went wrong, or None."""
    worker = Worker(log=log)
    worker.send(setup)
    news = worker.answer()
    worker.close()
    return "a worker died importing them" if news is None else news["loaded"]


def run_task(task: Task | None, setup: Setup) -> News | None:
    """On the cluster: feed a guarded worker with a task; without one, have it import the functions. None: it died."""
    worker = _workers.pop("worker", None) or Worker()
    worker.send(setup)  # what it has imported already it does not import again
    news = worker.answer()
    if news is not None and task is not None:
        if problem := news["loaded"]:
            news = {"outcome": lost(task, problem)}
        else:
            worker.send(task)
            news = worker.answer()
    if news is None:
        worker.close()
    else:
        _workers["worker"] = worker
    return news
