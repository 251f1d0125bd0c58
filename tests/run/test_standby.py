"""The process that waits for the next trial: it begins nothing early, costs no trial, and outlives no one."""

import contextlib
import os
import sqlite3
import time
from pathlib import Path

import psutil
import pytest

from levelbest.run.engines import Job, open_engine
from levelbest.run.runner import run_trials
from levelbest.run.worker import Worker

CALLS = []


def plain(config, seed):  # noqa: ARG001
    CALLS.append(seed)
    return float(len(CALLS))


@pytest.fixture
def engine(tmp_path):
    """One worker, and this process as it was when the test ends."""
    before = psutil.Process().children()  # what those of other tests start meanwhile is theirs
    opened = open_engine("local", Job(folder=tmp_path, logs=tmp_path, functions={"plain": plain}, workers=1))
    yield opened
    opened.stop()
    assert psutil.Process().children() == before


def task(folder: Path, function: str | None, argv: list[str] | None = None) -> dict:
    return {
        "key": 0,
        "mark": "",
        "config": {"x": 0.5},
        "seed": 1,
        "argv": argv,
        "function": function,
        "folder": str(folder),
        "out": None,
        "log": str(folder / "log"),
        "log_limit": 1000,
        "limit": None,
        "report": "json",
        "selection": None,
        "env": {},
    }


def outcome_of(engine, folder: Path, argv: list[str] | None = None) -> dict:
    engine.submit(task(folder, None if argv else "plain", argv))
    while not (ended := engine.wait(1.0)):
        pass
    return ended[0]


def waiting() -> psutil.Process:
    """The process below the guard and the worker."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        for guard in psutil.Process().children():
            for worker in guard.children():
                if (found := worker.children()) and os.getpgid(found[0].pid) == found[0].pid:
                    return found[0]
        time.sleep(0.01)
    raise AssertionError("nobody waits")


def ended(process: psutil.Process) -> None:
    deadline = time.monotonic() + 30
    with contextlib.suppress(psutil.NoSuchProcess):
        while process.status() != psutil.STATUS_ZOMBIE:
            assert time.monotonic() < deadline, "it goes on"
            time.sleep(0.01)


def test_an_end_is_on_the_disk_before_the_next_trial_begins(tmp_path):
    """One worker: trial t finds t ends in the ledger, and is the first call in its process."""

    def looks(config, seed):
        plain(config, seed)
        with sqlite3.connect(f"file:{tmp_path / 's.db'}?mode=ro", uri=True) as connection:
            ends = connection.execute("SELECT count(*) FROM records WHERE kind = 'end'").fetchone()[0]
        return {"ends": ends, "calls": len(CALLS)}

    run_trials(looks, {}, n_trials=6, ledger=tmp_path / "s.db", workers=1, progress=False, selection="ends")
    with sqlite3.connect(tmp_path / "s.db") as connection:
        rows = connection.execute("SELECT scores ->> 'ends', scores ->> 'calls' FROM trials ORDER BY trial").fetchall()
    assert rows == [(trial, 1) for trial in range(6)]


def test_one_that_is_killed_as_it_waits_costs_no_trial(tmp_path, engine):
    assert outcome_of(engine, tmp_path)["scores"] == {"score": 1.0}
    killed = waiting()
    killed.kill()
    ended(killed)
    after = outcome_of(engine, tmp_path)
    assert (after["end"], after["code"], after["scores"]) == ("exit", 0, {"score": 1.0})
    assert waiting().pid != killed.pid


def test_functions_and_commands_take_turns(tmp_path, engine):
    for _ in range(3):
        assert outcome_of(engine, tmp_path)["scores"] == {"score": 1.0}
        first = waiting()
        assert outcome_of(engine, tmp_path, ["echo", '{"score": 2}'])["scores"] == {"score": 2.0}
        assert not first.is_running()


def test_what_is_imported_later_is_known_to_the_next(tmp_path):
    """A worker on a cluster may be handed another study's functions."""
    worker = Worker(log=str(tmp_path / "workers.log"))
    for name, scores in (("plain", {"dev": 0.5, "test": 1 / 2**31}), ("number", {"score": 0.5})):
        worker.send({"load": [f"objectives:{name}"], "folder": str(Path(__file__).parent)})
        assert worker.answer() == {"loaded": None}
        worker.send(task(tmp_path, f"objectives:{name}"))
        assert worker.answer()["outcome"].get("scores") == scores
    worker.close()


@pytest.mark.parametrize("victim", ["worker", "guard and worker"])
def test_whoever_is_killed_it_ends_too(tmp_path, engine, victim):
    outcome_of(engine, tmp_path)
    one = waiting()
    worker = one.parent()
    guard = worker.parent()
    if victim != "worker":
        guard.suspend()
        guard.kill()
    worker.kill()
    ended(one)
    assert outcome_of(engine, tmp_path)["end"] in ("exit", "lost")
