"""Trials on a Slurm cluster: one job per attempt, through submitit, which runs the trial as a local worker would.

A job that Slurm ended, or that left the queue without a result, is a lost attempt. If the scheduler does not respond,
no attempt is considered lost: the engine waits, and after a while the session ends with its trials open.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from levelbest.errors import InputError, MissingExtra
from levelbest.run.engines import Engine, Job
from levelbest.run.engines.cluster import gone, load_worker, run_task, setup_of
from levelbest.run.task import Outcome, Setup, Task, lost

if TYPE_CHECKING:
    import submitit

_IN_QUEUE = 100
"""Jobs in the queue at once, where the study does not say."""
_LOOK, _AGAIN = 0.5, 5.0
"""Seconds between looks at the queue, and between attempts to put into it what it did not take."""
_ALIVE = {"PENDING", "RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED", "STAGE_OUT", "RESIZING", "REQUEUED"}


@dataclass
class _Queued:
    """An attempt and its job."""

    task: Task
    job: submitit.Job[Outcome | None]
    silent_since: float | None = None
    """When its job was first seen to be gone without a result."""


class SlurmEngine(Engine):
    """The ledger's folder must be one that every node sees: submitit's own files and the logs are kept beside it."""

    def __init__(self, job: Job) -> None:
        try:
            import submitit
        except ImportError:
            raise MissingExtra("submitit", "slurm") from None
        self._names, self._setup = setup_of(job)
        if self._setup["load"] and (problem := load_worker(self._setup, str(job.logs / "workers.log"))):
            raise InputError(problem)
        try:
            self._executor = submitit.SlurmExecutor(folder=job.logs / "slurm")
        except RuntimeError as error:
            raise InputError(f"Slurm was not found here ({error}); run where srun and sbatch work") from error
        self._executor.update_parameters(**_options(job))
        self._wait = float(os.environ.get("LEVELBEST_SLURM_WAIT", job.wait))
        self._patience = job.patience
        self._unsent: list[Task] = []
        self._again_at = 0.0
        self._queued: dict[str, _Queued] = {}
        self._heard = time.monotonic()
        """When Slurm last answered."""
        self.capacity = job.workers or _IN_QUEUE

    def submit(self, task: Task) -> None:
        """Put a job into the queue; where Slurm does not take it now, ``wait`` tries again."""
        sent: Task = {**task, "function": self._names[task["function"]] if task["function"] else None}
        self._executor.update_parameters(job_name=_job_name(task["mark"]))
        try:
            with contextlib.redirect_stderr(io.StringIO()):  # what sbatch says is in the error
                job = self._executor.submit(run_job, sent, self._setup)
        except Exception as error:  # submitit raises its own, and what running sbatch raises
            self._unsent.append(task)
            self._again_at = time.monotonic() + _AGAIN
            self._unheard(f"sbatch: {' '.join(str(error).split())[-200:]}")
            return
        self._heard = time.monotonic()
        self._queued[job.job_id] = _Queued(task, job)

    def _unheard(self, why: str) -> None:
        if time.monotonic() - self._heard > self._patience:
            raise gone("Slurm", why)

    def wait(self, timeout: float) -> list[Outcome]:
        """Attempts that ended; a job that Slurm ended, or that left the queue without a result, is lost."""
        deadline = time.monotonic() + timeout
        while True:
            if self._unsent and time.monotonic() >= self._again_at:
                unsent, self._unsent = self._unsent, []
                for task in unsent:
                    self.submit(task)
            ended = self._look()
            left = deadline - time.monotonic()
            if ended or left <= 0 or not (self._queued or self._unsent):
                return ended
            time.sleep(min(_LOOK, left))

    def _look(self) -> list[Outcome]:
        done = [key for key, queued in self._queued.items() if queued.job.paths.result_pickle.exists()]
        ended = [_result(self._queued.pop(key)) for key in done]
        if ended or not self._queued:
            return ended
        states = _states(list(self._queued))
        if states is None:
            self._unheard("squeue does not answer")
            return []
        self._heard = time.monotonic()
        for key, queued in list(self._queued.items()):
            if states.get(key) in _ALIVE:
                queued.silent_since = None
                continue
            # Gone from the queue. A file may arrive late over a network: wait a little before giving up.
            queued.silent_since = queued.silent_since or self._heard
            if states.get(key) == "OUT_OF_MEMORY":
                ended.append({**lost(queued.task, ""), "end": "signal", "code": signal.SIGKILL})
                del self._queued[key]
            elif self._heard - queued.silent_since > self._wait:
                ended.append(lost(queued.task, "its job left the queue without a result"))
                del self._queued[key]
        return ended

    def stop(self) -> None:
        """Cancel what is queued or runs."""
        self.cancel([queued.task["mark"] for queued in self._queued.values()])
        self._queued, self._unsent = {}, []

    @classmethod
    def cancel(cls, marks: Sequence[str]) -> None:
        """Cancel the jobs of these attempts, whichever runner submitted them; does nothing without Slurm."""
        if marks:
            names = ",".join(_job_name(mark) for mark in marks)
            with contextlib.suppress(OSError, subprocess.SubprocessError):
                subprocess.run(["scancel", f"--name={names}"], capture_output=True, timeout=60, check=False)


def _options(job: Job) -> dict[str, object]:
    resources = job.resources
    options: dict[str, object] = {
        "cpus_per_task": max(1, int(resources.cpus or 1)),
        "use_srun": False,
        # Slurm's own retries are off: what runs again is the loop's decision.
        "additional_parameters": {"no_requeue": True},
        # None is the partition's own limit; left out, submitit would say five minutes.
        "time": int(job.time // 60) + 6 if job.time else None,
    }
    if resources.gpus:
        options["gpus_per_node"] = int(resources.gpus)
    if resources.memory:
        options["mem"] = f"{max(1, resources.memory // 2**20)}M"
    return options


def _job_name(mark: str) -> str:
    return f"levelbest-{mark}"


def _result(queued: _Queued) -> Outcome:
    try:
        answer: Outcome | None = queued.job.result()
    except Exception as error:  # submitit's own, or what the job's interpreter raised before the trial began
        lines = str(error).strip().splitlines()
        return lost(queued.task, f"its job failed ({lines[-1][:200] if lines else type(error).__name__})")
    return lost(queued.task, "its worker was killed") if answer is None else answer


def _states(jobs: list[str]) -> dict[str, str] | None:
    """Job -> its state, of those that Slurm still knows; None where it does not answer."""
    command = ["squeue", "-h", "-j", ",".join(jobs), "-t", "all", "-o", "%A %T"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    if done.returncode != 0 and "Invalid job id" not in done.stderr:
        return None
    return dict(line.split(maxsplit=1) for line in done.stdout.splitlines() if " " in line.strip())


def run_job(task: Task, setup: Setup) -> Outcome | None:
    """In a job: run one attempt. A trial that ends because Slurm asks the whole job to end is lost, not killed."""
    signals: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: signals.append(number))
    news = run_task(task, setup)
    if news is not None and news["outcome"]["end"] == "signal":
        time.sleep(_LOOK)  # the signal goes to one process of the job after the other
        if signals:
            return lost(task, "its job was asked to end")
    return None if news is None else news["outcome"]
