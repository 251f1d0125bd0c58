"""What is left of an attempt is found by its mark, whatever it forked; and no other study's trials are."""

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from levelbest.run import processes

sys.path.insert(0, str(Path(__file__).parent))
from test_losses import alive, soon, statuses

LIVE = """
metric: {selection: dev, direction: max}
workers: 1
families:
  a:
    command: ["sh", "-c", "echo $$ > started; while [ ! -e go ]; do sleep 0.05; done"]
    report: exit
    n_trials: 1
"""
FORKING = """
import os, time
from pathlib import Path

HERE = Path(__file__).parent

def objective(config, seed):
    if not (HERE / "go").exists():
        if os.fork() == 0:
            os.setsid()
            (HERE / "started").write_text(f"{os.getpid()}\\n")
            time.sleep(600)
        time.sleep(600)
    return {"dev": 1.0}
"""


def run(folder: Path, **more) -> subprocess.Popen:
    command = [sys.executable, "-m", "levelbest", "run", "s.yaml", "--quiet"]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)


def started(folder: Path) -> int:
    soon(lambda: (folder / "started").exists() and (folder / "started").read_text().endswith("\n"), 60)
    return int((folder / "started").read_text())


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="leftovers are found through /proc")
def test_running_a_copy_of_a_live_study_leaves_the_original_alone(tmp_path):
    original, copy = tmp_path / "original", tmp_path / "copy"
    original.mkdir()
    (original / "s.yaml").write_text(LIVE)
    first = run(original)
    trial = started(original)
    shutil.copytree(original, copy)
    (copy / "go").touch()
    assert run(copy).wait() == 0
    assert statuses(copy / "s.db") == ["interrupted", "ok"]
    assert alive(trial)
    (original / "go").touch()
    assert first.wait() == 0
    assert statuses(original / "s.db") == ["ok"]


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="forked leftovers are found on Linux")
def test_what_a_function_forked_does_not_run_beside_the_next_attempt(tmp_path):
    (tmp_path / "study.py").write_text(FORKING)
    (tmp_path / "s.yaml").write_text(
        "metric: {selection: dev, direction: max}\nworkers: 1\n"
        "families: {a: {function: 'study:objective', n_trials: 1}}\n"
    )
    first = run(tmp_path)
    forked = started(tmp_path)
    machinery = [psutil.Process(first.pid), *psutil.Process(first.pid).children(recursive=True)]
    machinery = [process for process in machinery if process.pid != forked]
    for process in machinery:
        process.suspend()
    for process in machinery:
        process.kill()
    first.wait()
    assert alive(forked)
    (tmp_path / "go").touch()
    assert run(tmp_path).wait() == 0
    assert not alive(forked)
    connection = sqlite3.connect(tmp_path / "s.db")
    assert connection.execute("SELECT count(*) FROM trials WHERE status = 'ok'").fetchone() == (1,)
    connection.close()


@pytest.mark.skipif(shutil.which("ps") is None, reason="needs ps")
def test_without_proc_what_left_its_group_is_found_by_ps(monkeypatch):
    """As on macOS: the environment that ps shows has the mark."""
    there = os.path.isdir
    monkeypatch.setattr(processes.os.path, "isdir", lambda path: path != "/proc/self" and there(path))
    mark = f"ps{os.getpid()}"
    napping = subprocess.Popen(["sleep", "600"], env={**os.environ, processes.MARK: mark}, start_new_session=True)
    other = subprocess.Popen(["sleep", "600"], env={**os.environ, processes.MARK: f"{mark}0"})
    try:
        soon(lambda: processes._marked([mark]) == [napping.pid], 60)
        monkeypatch.setattr(processes, "_prctl", None)
        processes.end_detached("")
        assert napping.poll() is None
        threading.Thread(target=napping.wait).start()  # a zombie would still be listed
        processes.end_detached(mark)
        assert processes._marked([mark]) == []
        assert other.poll() is None
    finally:
        for process in (napping, other):
            process.kill()
            process.wait()
