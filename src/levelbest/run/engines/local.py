"""Trials on this machine: a pool of workers, each running one child per trial in its own process group."""

from __future__ import annotations

import os
import select
from pathlib import Path

from levelbest.errors import DataError, InputError
from levelbest.run.engines import Engine, Job
from levelbest.run.handover import HandedOver, all_given, other_threads
from levelbest.run.task import Outcome, Task, lost
from levelbest.run.worker import Worker


class LocalEngine(Engine):
    """Workers stay alive between trials; one that is lost is replaced, and its trial reported as lost."""

    def __init__(self, job: Job) -> None:
        self._job = job
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self.capacity = job.workers or max(1, int(cores // max(1.0, job.resources.cpus or 1.0)))
        self._devices = _devices(job.resources.gpus, self.capacity, given=job.workers is not None)
        if self._devices:
            self.capacity = len(self._devices)
        self._tasks: dict[int, Task] = {}
        self._workers: list[Worker] = []
        self._poller = select.poll()
        self._lost_in_a_row = 0
        self._loading = set(range(self.capacity))
        for slot in range(self.capacity):
            self._workers.append(self._start(slot))
        self._free = list(reversed(range(self.capacity)))
        while self._loading:  # functions are imported before any trial starts, in all workers at once
            self.wait(1.0)

    def _start(self, slot: int) -> Worker:
        env = {"CUDA_VISIBLE_DEVICES": self._devices[slot]} if self._devices else {}
        if self._job.resources.cpus and "OMP_NUM_THREADS" not in os.environ:
            env["OMP_NUM_THREADS"] = str(max(1, int(self._job.resources.cpus)))
        given = self._given()
        functions = None if given else self._job.functions
        try:
            worker = Worker(functions or None, env, str(self._job.logs / "workers.log"))
        except OSError as error:
            self.stop()
            raise DataError(
                f"a worker cannot be started: {error.strerror}. No trial counts as failed: those not finished stay "
                "open, and the same command continues with them"
            ) from error
        self._poller.register(worker, select.POLLIN)
        worker.send({"load": list(self._job.names), "folder": str(self._job.folder), "given": given})
        return worker

    def _given(self) -> dict[str, HandedOver]:
        """Where a fresh interpreter finds the functions, if a forked one could wait forever; otherwise nothing."""
        threads = other_threads() if self._job.functions else []
        if not threads:
            return {}
        given = all_given(self._job.functions)
        if isinstance(given, dict):
            return given
        self.stop()
        raise InputError(
            f"this process runs other threads ({', '.join(threads[:3])}), so that trials cannot be forked from it: a "
            f"trial that needs a lock held by a thread would wait forever. And a new process does not find {given}. "
            "Install it (pip install cloudpickle), define the function in a module, or run the trials one after the "
            "other in this process (engine='inline')"
        )

    def submit(self, task: Task) -> None:
        """Hand a task to a free worker; one that is still starting takes it up when it is ready."""
        slot = self._free.pop()
        self._tasks[slot] = task
        self._workers[slot].send(task)

    def wait(self, timeout: float) -> list[Outcome]:
        """Attempts that ended; a lost worker's too, once nothing of it is left."""
        ended: list[Outcome] = []
        slots = {worker.fileno(): slot for slot, worker in enumerate(self._workers)}
        for ready, _ in self._poller.poll(timeout * 1000):
            slot = slots[ready]
            messages = self._workers[slot].receive()
            if messages is None:
                ended += self._replace(slot)
                continue
            for news in messages:
                self._lost_in_a_row = 0
                if "outcome" in news:
                    del self._tasks[slot]
                    self._free.append(slot)
                    ended.append(news["outcome"])
                    continue
                self._loading.discard(slot)
                if problem := news["loaded"]:
                    self.stop()
                    raise InputError(f"{problem} (what the import printed is in {self._job.logs.name}/workers.log)")
        return ended

    def _replace(self, slot: int) -> list[Outcome]:
        self._poller.unregister(self._workers[slot])
        self._workers[slot].close()
        self._lost_in_a_row += 1
        if self._lost_in_a_row > 10 + 10 * self.capacity:
            self.stop()
            raise DataError(f"workers die as they start; what they printed is in {self._job.logs.name}/workers.log")
        self._workers[slot] = self._start(slot)
        task = self._tasks.pop(slot, None)
        if task is None:
            return []
        self._free.append(slot)
        return [lost(task, "its worker was killed")]

    def stop(self) -> None:
        """End all workers and what they run."""
        for worker in self._workers:
            worker.close()
        self._workers, self._tasks, self._loading = [], {}, set()


def _devices(gpus: float, capacity: int, *, given: bool) -> list[str]:
    """Which GPUs each worker's trials see; empty where trials need none."""
    if not gpus:
        return []
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        devices = [name.strip() for name in visible.split(",") if name.strip()]
    else:
        folder = Path("/proc/driver/nvidia/gpus")
        devices = [str(number) for number in range(len(list(folder.iterdir())))] if folder.is_dir() else []
    if gpus < 1:
        sharing = int(1 / gpus)
        groups = [name for name in devices for _ in range(sharing)]
    else:
        size = int(gpus)
        groups = [",".join(devices[at : at + size]) for at in range(0, len(devices) - size + 1, size)]
    if not groups:
        raise InputError(f"a trial needs {gpus:g} GPUs and this machine shows {len(devices)}; see CUDA_VISIBLE_DEVICES")
    return groups[:capacity] if given else groups
