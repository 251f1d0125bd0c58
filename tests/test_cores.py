"""Large families on all cores: who does the work, and that the answer does not depend on it."""

import json
import multiprocessing
import os
import select
import subprocess
import sys
import threading

import numpy as np
import pytest

import levelbest as lb
from levelbest import _cores


@pytest.fixture
def command(monkeypatch):
    """As in a process that runs nothing but a command, on two cores."""
    monkeypatch.setattr(_cores, "_is_command", True)
    monkeypatch.setattr(_cores.os, "cpu_count", lambda: 2)


def who(one):
    return one, os.getpid(), threading.current_thread().name


@pytest.mark.usefixtures("command")
def test_a_command_forks_for_many_trials_alone():
    many = _cores.with_processes(who, ["a", "b", "c"], _cores.PARALLEL_FROM)
    assert [one for one, _, _ in many] == ["a", "b", "c"]
    forked = sys.platform == "linux" and threading.active_count() == 1
    assert (os.getpid() not in {pid for _, pid, _ in many}) == forked
    few = _cores.with_processes(who, ["a", "b"], _cores.PARALLEL_FROM - 1)
    assert {pid for _, pid, _ in few} == {os.getpid()}


@pytest.mark.usefixtures("command")
def test_nothing_is_forked_inside_of_other_programs_or_beside_threads(monkeypatch):
    done = threading.Event()
    beside = threading.Thread(target=done.wait)
    beside.start()
    try:
        assert {pid for _, pid, _ in _cores.with_processes(who, ["a", "b"], 10**6)} == {os.getpid()}
    finally:
        done.set()
        beside.join()
    monkeypatch.setattr(_cores, "_is_command", False)
    assert {pid for _, pid, _ in _cores.with_processes(who, ["a", "b"], 10**6)} == {os.getpid()}


@pytest.mark.usefixtures("command")
def test_work_is_forked_beside_the_line_that_says_so():
    done = threading.Event()
    beside = threading.Thread(target=done.wait, name=_cores.TICKER)
    others = threading.active_count() - 1
    beside.start()
    try:
        made = _cores.with_processes(who, ["a", "b"], 10**6)
    finally:
        done.set()
        beside.join()
    assert [one for one, _, _ in made] == ["a", "b"]
    forked = sys.platform == "linux" and not others
    assert (os.getpid() not in {pid for _, pid, _ in made}) == forked


@pytest.mark.usefixtures("command")
def test_a_plan_is_the_same_on_any_number_of_cores(monkeypatch):
    rng = np.random.default_rng(12)
    table = {"model": np.repeat(["a", "b", "c"], 12), "acc": np.repeat([0.0, 3, 6], 12) + rng.normal(size=36)}
    reading = {"family": "model", "selection": "acc", "direction": "max", "n": 2, "n_resamples": 99, "baseline": "a"}
    forked = lb.plan_trials(table, **reading).to_dict()
    monkeypatch.setattr(_cores.os, "cpu_count", lambda: 1)
    assert lb.plan_trials(table, **reading).to_dict() == forked


@pytest.mark.usefixtures("command")
def test_an_error_in_a_worker_is_the_error():
    def refuse(one):
        raise lb.InputError(f"{one} is refused")

    with pytest.raises(lb.InputError, match="a is refused"):
        _cores.with_processes(refuse, ["a", "b"], 10**6)


@pytest.mark.usefixtures("command")
def test_what_a_killed_worker_was_to_do_is_done_all_the_same():
    here = os.getpid()

    def die_elsewhere(one):
        if os.getpid() != here:
            os._exit(1)
        return one

    assert _cores.with_processes(die_elsewhere, ["a", "b"], 10**6) == ["a", "b"]


def test_a_command_prints_the_same_in_processes_and_in_threads(tmp_path):
    rng = np.random.default_rng(4)
    family = np.repeat(["a", "b"], _cores.PARALLEL_FROM)
    selection = rng.random(family.size)
    path = tmp_path / "trials.csv"
    rows = [f"{name},{score!r}" for name, score in zip(family.tolist(), selection.tolist(), strict=True)]
    path.write_text("\n".join(["model,acc", *rows]))
    wanted = ["curve", str(path), "--json"]
    inside = ["-c", f"from levelbest.cli.main import main; main({wanted})"]
    forked, threaded = (
        subprocess.run(
            [sys.executable, *arguments],
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for arguments in (["-m", "levelbest", *wanted], inside)
    )
    assert forked == threaded
    assert [one["n_trials"] for one in json.loads(forked)["families"]] == [_cores.PARALLEL_FROM] * 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that can be forked")
def test_what_a_killed_process_had_to_do_is_done_here():
    here = os.getpid()

    def square(number):
        if number == 2 and os.getpid() != here:
            os._exit(9)
        return number**2, os.getpid() == here

    made = [*_cores.in_forks(square, range(5), 2)]
    assert [value for value, _ in made] == [0, 1, 4, 9, 16]
    assert made[2][1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that can be forked")
def test_what_is_under_way_is_not_waited_for_when_it_is_interrupted():
    never, (done, finished) = os.pipe()[0], os.pipe()

    def work(number):
        if number:
            select.select([never], [], [], 5.0)  # nothing is written there
            os.write(finished, b"x")
        return number

    made = _cores.in_forks(work, range(3), 2)
    assert next(made) == 0
    with pytest.raises(KeyboardInterrupt):
        made.throw(KeyboardInterrupt)
    assert select.select([done], [], [], 0.0)[0] == []  # no worker came to its end
    assert multiprocessing.active_children() == []
