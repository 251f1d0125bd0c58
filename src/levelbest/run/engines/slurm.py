"""Trials on a Slurm cluster: one job per attempt, through submitit, which runs the trial as a local worker would."""

from __future__ import annotations

import contextlib
import time
from typing import Any

from levelbest.errors import InputError, MissingExtra
from levelbest.run.engines import Engine, Job
from levelbest.run.engines.ray import importable_name, run_task
from levelbest.run.worker import Worker

__all__ = ["SlurmEngine"]

_IN_QUEUE = 100
"""Jobs in the queue at once, where the study does not say."""


class SlurmEngine(Engine):
    """The ledger's folder must be one that every node sees: submitit's own files and the logs are kept beside it."""

    def __init__(self, job: Job) -> None:
        try:
            import submitit
        except ImportError:
            raise MissingExtra("submitit", "slurm") from None
        self._job = job
        names = {key: importable_name(key, function) for key, function in job.functions.items()}
        self._names = {**names, **{name: name for name in job.names}}
        self._setup = {"names": sorted(set(self._names.values())), "folder": str(job.folder)}
        self._check_names()
        try:
            self._executor = submitit.SlurmExecutor(folder=job.logs / "slurm")
        except RuntimeError as error:
            raise InputError(f"Slurm is not to be found here ({error}); run where srun and sbatch work") from error
        resources = job.resources
        minutes = int(job.time // 60) + 6 if job.time else None
        options: dict[str, Any] = {
            "job_name": "levelbest",
            "cpus_per_task": max(1, int(resources.cpus or 1)),
            "use_srun": False,
            # Slurm's own retries are off: what runs again is the loop's decision.
            "additional_parameters": {"no_requeue": True},
        }
        if resources.gpus:
            options["gpus_per_node"] = int(resources.gpus)
        if resources.memory:
            options["mem"] = f"{max(1, resources.memory // 2**20)}M"
        if minutes:
            options["time"] = minutes
        self._executor.update_parameters(**options)
        self._running: dict[str, tuple[Any, dict[str, Any], float | None]] = {}
        self.capacity = job.workers or _IN_QUEUE

    def _check_names(self) -> None:
        """Import the functions here once, so that a wrong name is an error now and not fifty failures later."""
        if not self._setup["names"]:
            return
        worker = Worker(log=str(self._job.logs / "workers.log"))
        worker.send({"load": self._setup["names"], "folder": self._setup["folder"]})
        answer = worker.answer()
        worker.close()
        if answer is None or answer["loaded"]:
            raise InputError("a worker died importing them" if answer is None else answer["loaded"])

    def submit(self, task: dict[str, Any]) -> None:
        """Put a job into the queue."""
        sent = {**task, "function": self._names[task["function"]] if task["function"] else None}
        job = self._executor.submit(run_task, sent, self._setup)
        self._running[job.job_id] = (job, task, None)

    def wait(self, timeout: float) -> list[dict[str, Any]]:
        """Attempts that ended; a job that Slurm ended, or that left the queue without a result, is lost."""
        deadline = time.monotonic() + timeout
        while True:
            ended = [raw for key in list(self._running) if (raw := self._look(key)) is not None]
            left = deadline - time.monotonic()
            if ended or left <= 0 or not self._running:
                return ended
            time.sleep(min(0.5, left))

    def _look(self, key: str) -> dict[str, Any] | None:
        job, task, silent_since = self._running[key]
        lost = {"key": task["key"], "end": "lost", "wall": 0.0, "cpu": 0.0, "limit": task["limit"]}
        if job.paths.result_pickle.exists():
            del self._running[key]
            try:
                answer: dict[str, Any] | None = job.result()
            except Exception as error:  # submitit's own, or what the job's interpreter raised before the trial began
                said = str(error).strip().splitlines()
                return {**lost, "problem": f"its job failed ({said[-1][:200] if said else type(error).__name__})"}
            return {**lost, "problem": "its worker was killed"} if answer is None else answer
        if _queued(job.job_id):
            self._running[key] = (job, task, None)
            return None
        # Gone from the queue without a result. A file may arrive late over a network: wait a little before giving up.
        now = time.monotonic()
        if silent_since is None:
            self._running[key] = (job, task, now)
        elif now - silent_since > self._job.wait:
            del self._running[key]
            return {**lost, "problem": "its job left the queue without a result"}
        return None

    def stop(self) -> None:
        """Cancel what is queued or runs."""
        for job, _, _ in self._running.values():
            with contextlib.suppress(Exception):
                job.cancel()
        self._running = {}


def _queued(job_id: str) -> bool:
    import subprocess

    try:
        found = subprocess.run(
            ["squeue", "-h", "-j", job_id, "-t", "all", "-o", "%T"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return True  # a scheduler that does not answer has not ended the job
    if found.returncode != 0:
        return "Invalid job id" not in found.stderr
    states = set(found.stdout.split())
    return bool(states & {"PENDING", "RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED", "STAGE_OUT", "RESIZING"})
