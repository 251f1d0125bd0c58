"""Workers and the runner itself killed at random: nothing is lost, nothing runs twice, the table is the same."""

import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from levelbest.run.verify import verify_ledger
from levelbest.run.view import LedgerView

HERE = Path(__file__).parent
STUDY = """
seed: 11
metric: {selection: dev, reported: test, direction: max}
n_trials: 100
retries: 50
function: objectives:quick
families:
  a: {space: {x: {uniform: [0, 1]}}}
  b: {space: {x: {uniform: [0, 1]}, y: {choice: [p, q]}}}
"""


def table(path: Path) -> list[tuple]:
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT family, trial, status, config, seed, scores FROM trials").fetchall()
    connection.close()
    return sorted(rows)


def start(folder: Path, *options: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "levelbest", "run", str(folder / "study.yaml"), "--quiet", *options]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finished(folder: Path) -> int:
    if not (folder / "study.db").exists():
        return 0
    view = LedgerView(folder / "study.db")
    count = sum(family.n_finished for family in view.families.values())
    view.close()
    return count


def disturb(folder: Path, runner: subprocess.Popen, rng: np.random.Generator, upto: int) -> None:
    """Kill workers (and now and then a guard or a trial) until this many trials are finished or the runner ends."""
    while runner.poll() is None and finished(folder) < upto:
        time.sleep(float(rng.exponential(0.15)))
        try:
            guards = psutil.Process(runner.pid).children()
            workers = [child for guard in guards for child in guard.children()]
            trials = [child for worker in workers for child in worker.children()]
            choice = rng.choice(["worker", "worker", "worker", "guard", "trial"])
            victims = {"worker": workers, "guard": guards, "trial": trials}[choice]
            if victims:
                victims[int(rng.integers(len(victims)))].kill()
        except psutil.NoSuchProcess:
            continue


def test_chaos(tmp_path):
    calm, wild = tmp_path / "calm", tmp_path / "wild"
    for folder in (calm, wild):
        folder.mkdir()
        shutil.copy(HERE / "objectives.py", folder)
        (folder / "study.yaml").write_text(STUDY)
    undisturbed = start(calm, "--engine", "inline")

    rng = np.random.default_rng(0)
    for upto in (60, 130):
        runner = start(wild, "--workers", "3")
        disturb(wild, runner, rng, upto)
        assert runner.poll() is None, runner.communicate()[1]
        runner.kill()
        runner.communicate()
        assert finished(wild) < 200
        assert verify_ledger(wild / "study.db").whole
    runner = start(wild, "--workers", "3")
    disturb(wild, runner, rng, 190)
    out, err = runner.communicate(timeout=60)
    assert runner.returncode == 0, err
    assert "a: 100 of 100 trials; b: 100 of 100 trials (finished)" in out

    out, err = undisturbed.communicate(timeout=60)
    assert undisturbed.returncode == 0, err
    rows = table(wild / "study.db")
    assert [row[:2] for row in rows] == [(family, trial) for family in "ab" for trial in range(100)]
    assert rows == table(calm / "study.db")

    found = verify_ledger(wild / "study.db")
    assert found.whole, found.problems
    assert found.families == (("a", 100, 100, 0), ("b", 100, 100, 0))
    connection = sqlite3.connect(wild / "study.db")
    ends = dict(connection.execute("SELECT status, count(*) FROM records WHERE kind = 'end' GROUP BY status"))
    connection.close()
    assert ends["ok"] == 200
    assert ends["lost"] >= 3  # it was no calm run
    assert ends["interrupted"] >= 2
    until_gone(wild)


def until_gone(folder: Path) -> None:
    """Nothing of the study still runs."""
    deadline = time.monotonic() + 20
    while True:
        mine = [p for p in psutil.process_iter(["cwd", "status"]) if p.info["cwd"] == str(folder)]
        if not [p for p in mine if p.info["status"] != psutil.STATUS_ZOMBIE]:
            return
        assert time.monotonic() < deadline, mine
        time.sleep(0.05)


@pytest.mark.long
def test_chaos_again_and_again(tmp_path):
    for seed in range(5):
        folder = tmp_path / str(seed)
        folder.mkdir()
        shutil.copy(HERE / "objectives.py", folder)
        (folder / "study.yaml").write_text(STUDY)
        rng = np.random.default_rng([1, seed])
        while finished(folder) < 200:
            runner = start(folder, "--workers", "4")
            disturb(folder, runner, rng, finished(folder) + int(rng.integers(5, 60)))
            runner.kill()
            runner.communicate()
        assert verify_ledger(folder / "study.db").whole
        assert len(table(folder / "study.db")) == 200


@pytest.mark.long
def test_chaos_on_ray(tmp_path):
    """Ray's own workers killed at random, and the runner once."""
    pytest.importorskip("ray", reason="needs ray: pip install 'levelbest[ray]'")
    shutil.copy(HERE / "objectives.py", tmp_path)
    (tmp_path / "study.yaml").write_text(STUDY)
    rng = np.random.default_rng(5)
    for upto in (100, 195):
        runner = start(tmp_path, "--engine", "ray", "--workers", "3")
        while runner.poll() is None and finished(tmp_path) < upto:
            time.sleep(float(rng.exponential(1.5)))
            try:
                below = psutil.Process(runner.pid).children(recursive=True)
                victims = [one for one in below if one.name().startswith("ray::") and "run_task" in one.name()]
                if victims:
                    victims[int(rng.integers(len(victims)))].kill()
            except psutil.NoSuchProcess:
                continue
        if upto == 100:
            runner.kill()
        out, err = runner.communicate(timeout=180)
    assert runner.returncode == 0, err
    assert "a: 100 of 100 trials; b: 100 of 100 trials (finished)" in out
    rows = table(tmp_path / "study.db")
    assert [row[:2] for row in rows] == [(family, trial) for family in "ab" for trial in range(100)]
    calm = tmp_path / "calm"
    calm.mkdir()
    shutil.copy(HERE / "objectives.py", calm)
    (calm / "study.yaml").write_text(STUDY)
    undisturbed = start(calm, "--engine", "inline")
    undisturbed.communicate(timeout=60)
    assert undisturbed.returncode == 0
    assert rows == table(calm / "study.db")
    assert verify_ledger(tmp_path / "study.db").whole
    connection = sqlite3.connect(tmp_path / "study.db")
    ends = dict(connection.execute("SELECT status, count(*) FROM records WHERE kind = 'end' GROUP BY status"))
    connection.close()
    assert ends["lost"] >= 3
