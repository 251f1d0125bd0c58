"""Trials on a Ray cluster: one Ray Core task per attempt, which runs the trial as a local worker would.

A worker of Ray's that dies, or a node, is reported as lost; whether the trial runs again is the loop's decision, so
Ray's own retries are off. In Ray's worker process a guarded worker of ours runs the trial in a child: when Ray's is
killed, the trial and all it started end with it.
"""

from __future__ import annotations

import os
from typing import Any

from levelbest.errors import DataError, InputError, MissingExtra
from levelbest.run.engines import Engine, Job

__all__ = ["RayEngine"]

_TRIES = 10
_workers: dict[str, Any] = {}
"""In a worker process of Ray's: the guarded worker that it feeds."""


class RayEngine(Engine):
    """Joins the cluster that ``RAY_ADDRESS`` names, else starts Ray on this machine, and ends it again."""

    def __init__(self, job: Job) -> None:
        try:
            import ray
        except ImportError:
            raise MissingExtra("ray", "ray") from None
        self._ray = ray
        self._job = job
        names = {key: importable_name(key, function) for key, function in job.functions.items()}
        self._names = {**names, **{name: name for name in job.names}}
        self._ours = not ray.is_initialized()
        if self._ours:
            address = os.environ.get("RAY_ADDRESS")
            try:
                ray.init(address=address, log_to_driver=False, logging_level="ERROR", include_dashboard=False)
            except Exception as error:  # Ray raises bare exceptions here
                said = " ".join(str(error).split())[:300]
                raise DataError(f"Ray cannot be {'joined' if address else 'started'}: {said}") from error
        resources = job.resources
        options: dict[str, Any] = {"max_retries": 0, "num_cpus": resources.cpus or 1, "num_gpus": resources.gpus or 0}
        if resources.memory:
            options["memory"] = resources.memory
        self._run = ray.remote(**options)(run_task)
        self._running: dict[Any, dict[str, Any]] = {}
        cores = ray.cluster_resources().get("CPU", 1.0)
        self.capacity = job.workers or max(1, int(cores // (resources.cpus or 1)))
        self._load()

    def _load(self) -> None:
        """Have the functions imported once on the cluster, so that a wrong name is an error and not fifty failures."""
        problem = "workers of the cluster die as they start"
        task = {"load": self._setup()["names"], "folder": self._setup()["folder"]}
        for _ in range(_TRIES):
            try:
                answer = self._ray.get(self._run.remote(task, self._setup()))
            except self._ray.exceptions.RayError as error:
                problem = f"workers of the cluster die as they start ({type(error).__name__})"
                continue
            if answer is not None:
                problem = answer["loaded"]
                break
        if problem:
            self.stop()
            raise InputError(problem)

    def _setup(self) -> dict[str, Any]:
        return {"names": sorted(set(self._names.values())), "folder": str(self._job.folder)}

    def submit(self, task: dict[str, Any]) -> None:
        """Start a Ray task."""
        sent = {**task, "function": self._names[task["function"]] if task["function"] else None}
        self._running[self._run.remote(sent, self._setup())] = task

    def wait(self, timeout: float) -> list[dict[str, Any]]:
        """Attempts that ended; one whose worker or node died is lost."""
        if not self._running:
            return []
        done, _ = self._ray.wait(list(self._running), num_returns=len(self._running), timeout=0)
        if not done:
            done, _ = self._ray.wait(list(self._running), num_returns=1, timeout=timeout)
        return [self._ended(reference) for reference in done]

    def _ended(self, reference: Any) -> dict[str, Any]:
        task = self._running.pop(reference)
        lost = {"key": task["key"], "end": "lost", "wall": 0.0, "cpu": 0.0, "limit": task["limit"]}
        try:
            answer: dict[str, Any] | None = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            return {**lost, "problem": f"its worker was lost ({type(error).__name__})"}
        return {**lost, "problem": "its worker was killed"} if answer is None else answer

    def stop(self) -> None:
        """Cancel what runs, and leave the cluster."""
        if not self._ray.is_initialized():
            return
        for reference in self._running:
            self._ray.cancel(reference, force=True)
        self._running = {}
        if self._ours:
            self._ray.shutdown()


def importable_name(key: str, function: Any) -> str:
    """``module:name`` of a function that another machine can import; a sentence where it cannot."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
    if module in (None, "__main__") or "<" in name:
        raise InputError(
            f"{key}: a cluster needs a function that it can import, and {name or key} lives in this session alone; put "
            "it into a module and name it as module:name"
        )
    return f"{module}:{name}"


def unstarted(task: dict[str, Any], problem: str) -> dict[str, Any]:
    """An attempt that never began."""
    return {
        "key": task["key"], "end": "unstarted", "wall": 0.0, "cpu": 0.0, "limit": task["limit"], "problem": problem
    }  # fmt: skip


def run_task(task: dict[str, Any], setup: dict[str, Any]) -> dict[str, Any] | None:
    """In Ray's worker: feed a guarded worker with one task. None: it died."""
    from levelbest.run.worker import Worker

    worker = _workers.pop("worker", None)
    if worker is None:
        worker = Worker()
        if "load" not in task:
            worker.send({"load": setup["names"], "folder": setup["folder"]})
            loaded = worker.answer()
            if loaded is None or loaded["loaded"]:
                worker.close()
                return None if loaded is None else unstarted(task, loaded["loaded"])
    worker.send(task)
    answer: dict[str, Any] | None = worker.answer()
    if answer is None:
        worker.close()
    else:
        _workers["worker"] = worker
    return answer
