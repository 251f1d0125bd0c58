"""Every kind of process killed at random, on every engine: nothing is lost, doubled, or failed for the engine's sake.

One kill after every few trials, of the kind that was killed least so far: runner, guards, workers, trials, and what
belongs to the engine itself. Where the runner ends, by its own kill or because its engine is lost, the same command
goes on.
"""

import collections
import contextlib
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from levelbest.run.verify import verify_ledger

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
import slurm_stand_in  # noqa: E402

STUDY = """
seed: 11
metric: {{selection: dev, reported: test, direction: max}}
n_trials: {count}
retries: 1000
function: objectives:watched
families:
  a: {{space: {{x: {{uniform: [0, 1]}}}}}}
  b: {{space: {{x: {{uniform: [0, 1]}}, y: {{choice: [p, q]}}}}}}
"""
Victims = dict[str, list[psutil.Process]]


def prepare(folder: Path, count: int) -> None:
    folder.mkdir()
    shutil.copy(HERE / "objectives.py", folder)
    (folder / "study.yaml").write_text(STUDY.format(count=count))


def ask(path: Path, question: str) -> list[tuple]:
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30)
    with contextlib.closing(connection):
        return connection.execute(question).fetchall()


def table(path: Path) -> list[tuple]:
    return sorted(ask(path, "SELECT family, trial, status, config, seed, scores FROM trials"))


def finished(folder: Path) -> int:
    if not (folder / "study.db").exists():
        return 0
    return ask(folder / "study.db", "SELECT count(*) FROM records WHERE kind = 'end' AND status = 'ok'")[0][0]


def start(folder: Path, engine: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "levelbest", "run", "study.yaml", "--quiet", "--engine", engine, "--workers", "3"]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def below(processes: list[psutil.Process]) -> list[psutil.Process]:
    found = []
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            found += process.children()
    return found


def levels(top: list[psutil.Process]) -> Victims:
    """Guards, workers and trials below those that started them."""
    guards = below(top)
    workers = below(guards)
    return {"guard": guards, "worker": workers, "trial": below(workers)}


def on_local(runner: psutil.Process, _: Path) -> Victims:
    return {"runner": [runner], **levels([runner])}


def on_ray(runner: psutil.Process, _: Path) -> Victims:
    driver = runner.children()
    named = collections.defaultdict(list)
    for process in runner.children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            named[process.name()].append(process)
    tasks = named["ray::run_task"]
    engine = {"driver": driver, "node": named["raylet"], "store": named["gcs_server"], "task": tasks}
    return {"runner": [runner], **engine, **levels(tasks)}


def on_slurm(runner: psutil.Process, folder: Path) -> Victims:
    here = [process for process in psutil.process_iter(["cmdline", "cwd"]) if process.info["cwd"] == str(folder)]
    job = [process for process in here if "submitit.core._submit" in (process.info["cmdline"] or [])]
    with contextlib.suppress(psutil.NoSuchProcess):
        controller = psutil.Process(int((folder / "slurm" / "controller.pid").read_text()))
        return {"runner": [runner], "controller": [controller], "job": job, **levels(job)}
    return {}


@contextlib.contextmanager
def slurm(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """The stand-in; its controller is started again by whoever looks after it, as a service would be."""
    for name, value in slurm_stand_in.install(folder / "slurm").items():
        patch.setenv(name, value)
    patch.setenv("LEVELBEST_SLURM_WAIT", "2")  # its files are on this machine
    running = [slurm_stand_in.start_controller(folder / "slurm")]

    def look_after() -> None:
        if running[-1].poll() is not None:
            running.append(slurm_stand_in.start_controller(folder / "slurm"))

    try:
        yield look_after
    finally:
        running[-1].kill()
        running[-1].wait()


def disturb(folder: Path, engine: str, victims, kills: int, look_after: Callable[[], None]) -> collections.Counter:
    """Run the study to its end while every few finished trials something is killed; how often each kind was."""
    rng = np.random.default_rng([19, len(engine)])
    total = ask_total(folder)
    killed = collections.Counter()
    runner = None
    deadline = time.monotonic() + 1500
    while True:
        assert time.monotonic() < deadline, (killed, finished(folder))
        look_after()
        if runner is None:
            runner = start(folder, engine)
        if runner.poll() is not None:
            out, err = runner.communicate()
            if runner.returncode == 0:
                assert (
                    f"a: {total // 2} of {total // 2} trials; b: {total // 2} of {total // 2} trials (finished)" in out
                )
                return killed
            lost = runner.returncode == 1 and any(words in err for words in ("was lost", "as it started", "cannot be"))
            assert runner.returncode == -9 or lost, (runner.returncode, err)
            assert len(err.splitlines()) <= 1, err
            runner = None
            continue
        done = finished(folder)
        if sum(killed.values()) >= kills or done < (sum(killed.values()) + 1) * total / (kills + 2):
            time.sleep(0.02)
            continue
        try:
            found = victims(psutil.Process(runner.pid), folder)
            kind = min(sorted(KINDS[engine][1]), key=lambda kind: killed[kind])
            if found.get(kind):  # where there is none just now it is waited for
                found[kind][int(rng.integers(len(found[kind])))].kill()
                killed[kind] += 1
        except psutil.NoSuchProcess:
            continue


def ask_total(folder: Path) -> int:
    return 2 * int((folder / "study.yaml").read_text().partition("n_trials: ")[2].split()[0])


def until_gone(folder: Path) -> None:
    """Nothing of the study still runs."""
    deadline = time.monotonic() + 60
    while True:
        mine = [p for p in psutil.process_iter(["cwd", "status", "cmdline"]) if p.info["cwd"] == str(folder)]
        left = [
            p
            for p in mine
            if p.info["status"] != psutil.STATUS_ZOMBIE and "controller" not in (p.info["cmdline"] or [])
        ]
        if not left:
            return
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


KINDS = {
    "local": (on_local, {"runner", "guard", "worker", "trial"}),
    "ray": (on_ray, {"runner", "guard", "worker", "trial", "driver", "node", "store", "task"}),
    "slurm": (on_slurm, {"runner", "guard", "worker", "trial", "controller", "job"}),
}
SHORT, LONG = (40, 8), (200, 44)
"""Trials, and kills among them."""


@pytest.mark.parametrize(
    ("engine", "size"),
    [
        ("local", SHORT),
        ("slurm", (14, 6)),
        *[pytest.param(engine, LONG, marks=pytest.mark.long) for engine in ("local", "ray", "slurm")],
    ],
)
def test_chaos(tmp_path, monkeypatch, engine, size):
    total, kills = size
    victims, kinds = KINDS[engine]
    if module := {"ray": "ray", "slurm": "submitit"}.get(engine):
        pytest.importorskip(module, reason=f"needs {module}: pip install 'levelbest[{engine}]'")
    calm, wild = tmp_path / "calm", tmp_path / "wild"
    for folder in (calm, wild):
        prepare(folder, total // 2)
    (calm / "calm").touch()
    undisturbed = start(calm, "inline")
    stand_in = slurm(wild, monkeypatch) if engine == "slurm" else contextlib.nullcontext(lambda: None)
    with stand_in as look_after:
        killed = disturb(wild, engine, victims, kills, look_after)
    assert sum(killed.values()) >= kills
    assert set(killed) == kinds
    _, err = undisturbed.communicate(timeout=120)
    assert undisturbed.returncode == 0, err

    rows = table(wild / "study.db")
    assert [row[:2] for row in rows] == [(family, trial) for family in "ab" for trial in range(total // 2)]
    assert rows == table(calm / "study.db")
    check = verify_ledger(wild / "study.db")
    assert check.whole, check.problems
    assert check.families == (("a", total // 2, total // 2, 0), ("b", total // 2, total // 2, 0))
    ends = dict(ask(wild / "study.db", "SELECT status, count(*) FROM records WHERE kind = 'end' GROUP BY status"))
    assert ends["ok"] == total
    assert "failed" not in ends
    assert ends.get("lost", 0) + ends.get("interrupted", 0) >= kills / 4  # it was no calm run
    assert not (wild / "doubled").exists(), (wild / "doubled").read_text()
    until_gone(wild)
