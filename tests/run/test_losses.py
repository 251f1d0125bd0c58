"""What the machinery loses is no result: no trial fails for it, and what is left of it does not run beside the next."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from levelbest.cli.main import main
from levelbest.errors import DataError
from levelbest.run import runner, session
from levelbest.run.engines import Job, open_engine
from levelbest.run.engines.cluster import gone
from levelbest.run.processes import end_marked
from levelbest.run.runner import run_trials
from levelbest.run.session import bound_mark
from levelbest.run.task import lost
from levelbest.run.verify import verify_ledger

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
import objectives  # noqa: E402

SPACE = {"x": {"uniform": [0, 1]}}


def statuses(path: Path) -> list[str]:
    connection = sqlite3.connect(path)
    found = connection.execute("SELECT status FROM records WHERE kind = 'end' ORDER BY seq").fetchall()
    connection.close()
    return [status for (status,) in found]


def go(folder: Path, objective=objectives.plain, **more):
    more = {"n_trials": 6, "selection": "dev", "direction": "max", "progress": False, "workers": 2, **more}
    return run_trials(objective, SPACE, ledger=folder / "s.db", **more)


class Dying:
    """An engine that runs some trials, loses some, and is then lost itself."""

    capacity = 2

    def __init__(self, good: int, losses: int) -> None:
        self._good, self._losses, self._tasks = good, losses, []

    def submit(self, task) -> None:
        self._tasks.append(task)

    def wait(self, _):
        task = self._tasks.pop(0)
        if self._losses:
            self._losses -= 1
            return [lost(task, "its node was lost")]
        if self._good == 0:
            raise gone("Ray", "its node")
        self._good -= 1
        return [{**lost(task, ""), "end": "exit", "code": 0, "scores": {"dev": task["config"]["x"]}}]

    def stop(self) -> None:
        self._tasks = []


def test_an_engine_that_is_lost_ends_the_session_and_no_trial(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(runner, "open_engine", lambda *_: Dying(2, 3))
        with pytest.raises(DataError, match=r"Ray was lost \(its node\). No trial counts as failed"):
            go(tmp_path, retries=0)
    assert statuses(tmp_path / "s.db") == ["lost"] * 3 + ["ok"] * 2 + ["interrupted"] * 2
    assert verify_ledger(tmp_path / "s.db").whole
    done = go(tmp_path)  # on any engine
    assert done.families == (("trials", 6, 6, 0),)
    assert done.finished


def test_a_trial_that_is_lost_again_and_again_ends_the_session_and_stays_open(tmp_path, monkeypatch):
    """It may be the trial's doing or the machine's: nobody can know, so nothing is recorded as its result."""
    monkeypatch.setattr(session, "_MOST_LOST", 4)
    with pytest.raises(DataError, match="was lost 4 times in this session: its worker was killed"):
        go(tmp_path, objectives.always_kills_worker, n_trials=1, retries=0)
    assert statuses(tmp_path / "s.db") == ["lost"] * 4
    connection = sqlite3.connect(tmp_path / "s.db")
    blamed = connection.execute("SELECT DISTINCT body ->> 'blame' FROM records WHERE kind = 'end'").fetchall()
    connection.close()
    assert blamed == [("engine",)]


def test_kills_of_the_trial_itself_are_counted_over_sessions(tmp_path):
    """Two kills in the first session and two in the second are four, as many as three retries allow."""
    (tmp_path / "study.yaml").write_text(
        "metric: {selection: dev, direction: max}\nretries: 3\nworkers: 1\n"
        "families: {a: {command: 'sh -c \"echo >> count; test $(wc -l < count) = 3 && kill -INT $RUNNER; "
        "sleep 0.5; kill -9 $$\"', n_trials: 1, env: {RUNNER: '" + str(os.getpid()) + "'}}}\n"
    )
    assert [main(["run", str(tmp_path / "study.yaml"), "--quiet"]) for _ in range(2)] == [130, 1]
    assert statuses(tmp_path / "study.db") == ["lost"] * 3 + ["failed"]


STUDY = """
metric: {selection: dev, direction: max}
workers: 1
families:
  a:
    command: sh -c '(setsid sh -c "echo \\$\\$ > started; while echo >> beats; do sleep 0.02; done" &); sleep 300'
    n_trials: 1
"""


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def is_python(process: psutil.Process) -> bool:
    try:
        return process.name().startswith("python")
    except psutil.NoSuchProcess:  # the shell of the command, which ends at once
        return False


def soon(condition, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_new_attempt_ends_what_is_left_of_the_old_one(tmp_path):
    """Runner, guard and worker killed together: a detached grandchild of the trial is left, until the next attempt."""
    (tmp_path / "s.yaml").write_text(STUDY)
    command = [sys.executable, "-m", "levelbest", "run", str(tmp_path / "s.yaml"), "--quiet"]
    pids = []
    for _ in range(2):
        first = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        soon(lambda: (tmp_path / "started").exists() and (tmp_path / "started").read_text().strip())
        pids.append(int((tmp_path / "started").read_text()))
        if len(pids) == 2:
            assert not alive(pids[0])
        (tmp_path / "started").unlink()
        below = psutil.Process(first.pid).children(recursive=True)
        machinery = [process for process in below if is_python(process)]
        assert len(machinery) == 2
        for process in machinery:
            process.suspend()
        for process in [psutil.Process(first.pid), *machinery]:
            process.kill()
        first.wait()
        assert alive(pids[-1])
    connection = sqlite3.connect(tmp_path / "s.db")
    (mark,) = connection.execute(
        "SELECT body ->> 'mark' FROM records WHERE kind = 'start' ORDER BY seq DESC"
    ).fetchone()
    connection.close()
    about = (tmp_path / "s.db").stat()
    assert end_marked([bound_mark(mark, about.st_dev, about.st_ino)]) == []
    soon(lambda: not alive(pids[-1]))


def test_a_second_name_of_a_ledger_is_no_way_around_its_lock(tmp_path):
    """A hard link has another name and another folder of logs, and is the same file."""
    (tmp_path / "s.yaml").write_text(
        "metric: {selection: dev, direction: max}\nworkers: 1\n"
        "families: {a: {command: 'sh -c \"touch going; sleep 300\"', n_trials: 1}}\n"
    )
    command = [sys.executable, "-m", "levelbest", "run", "s.yaml", "--quiet"]
    first = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        soon(lambda: (tmp_path / "going").exists())
        os.link(tmp_path / "s.db", tmp_path / "t.db")
        second = [*command, "--ledger", "t.db"]
        done = subprocess.run(second, cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert done.returncode == 1
        assert "t.db is already being run by a runner that knows it by another name" in done.stderr
        first.send_signal(signal.SIGTERM)
        assert first.wait(20) == 130
        assert main(["verify", str(tmp_path / "s.db")]) == 0
    finally:
        first.kill()
        first.wait()


@pytest.mark.long
@pytest.mark.parametrize("victim", ["raylet", "gcs_server", "driver"])
def test_a_dead_node_of_ray_fails_no_trial(tmp_path, victim):
    """The node, the cluster's store, or our own driver killed after 10 of 120 trials."""
    pytest.importorskip("ray", reason="needs ray: pip install 'levelbest[ray]'")
    shutil.copy(HERE / "objectives.py", tmp_path)
    (tmp_path / "s.yaml").write_text(
        "metric: {selection: dev, direction: max}\nfunction: objectives:quick\nn_trials: 120\n"
        "families: {a: {space: {x: {uniform: [0, 1]}}}}\n"
    )
    command = [sys.executable, "-m", "levelbest", "run", "s.yaml", "--engine", "ray", "--workers", "2", "--json"]
    first = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    soon(lambda: (tmp_path / "s.db").exists() and len(statuses(tmp_path / "s.db")) >= 10, 120)
    if victim == "driver":
        (child,) = psutil.Process(first.pid).children()
        child.kill()
    else:
        below = psutil.Process(first.pid).children(recursive=True)
        next(process for process in below if process.is_running() and process.name() == victim).kill()
    out, err = first.communicate(timeout=180)
    assert first.returncode in ((0, 1) if victim == "gcs_server" else (1,))
    if first.returncode:
        assert out == ""
        assert "Ray was lost" in err
        assert len(err.splitlines()) == 1
    assert "failed" not in statuses(tmp_path / "s.db")
    done = subprocess.run([*command[:5], "--quiet"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0
    assert "a: 120 of 120 trials (finished)" in done.stdout


def test_a_scheduler_that_does_not_answer_is_waited_for_and_then_lost(tmp_path, monkeypatch):
    """sbatch, squeue and scancel that fail, as when the controller is down."""
    pytest.importorskip("submitit", reason="needs submitit: pip install 'levelbest[slurm]'")
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("srun", "sbatch", "squeue", "scancel"):
        (tools / name).write_text("#!/bin/sh\necho 'Unable to contact slurm controller' >&2\nexit 1\n")
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    logs = tmp_path / "logs"
    logs.mkdir()
    engine = open_engine("slurm", Job(folder=tmp_path, logs=logs, workers=2, patience=0.5))
    task = {"key": 1, "mark": "m", "function": None, "argv": ["true"], "limit": None}
    engine.submit(task)
    assert engine.wait(0.1) == []
    time.sleep(0.5)
    engine._again_at = 0.0
    with pytest.raises(DataError, match="Slurm was lost"):
        engine.wait(0.1)
    engine.stop()
