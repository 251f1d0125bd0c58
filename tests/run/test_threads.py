"""Function trials of a process that runs other threads: a lock that one of them holds is nothing to the trial."""

import subprocess
import sys
import threading

import pytest

from levelbest.errors import InputError
from levelbest.run.runner import run_trials

SCRIPT = """
import sys, threading, time
import levelbest as lb

LOCK = threading.Lock()

def objective(config, seed):
    with LOCK:
        return {{"dev": config["x"]}}

def hold():
    while True:  # all but some microseconds of the time
        with LOCK:
            held.set()
            time.sleep(0.05)

{start}
    held = threading.Event()
    threading.Thread(target=hold, daemon=True).start()
    held.wait()
    done = lb.run_trials(objective, {{"x": {{"uniform": [0, 1]}}}}, n_trials=4, ledger=sys.argv[1], selection="dev",
                         direction="max", workers=2, progress=False, time_limit=60)
    print(done.families[0].n_trials, done.families[0].n_failed)
"""


@pytest.mark.parametrize("start", ["if __name__ == '__main__':", "if __name__ != 'imported':"])
def test_a_lock_held_by_another_thread_hangs_no_trial(tmp_path, start):
    """The second script has no guard: a trial runs it again up to the call of the runner, its thread included."""
    script = tmp_path / "study.py"
    script.write_text(SCRIPT.format(start=start))
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "s.db")], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.stdout == "4 0\n", done.stderr


@pytest.fixture
def other_thread():
    over = threading.Event()
    thread = threading.Thread(target=over.wait, name="another")
    thread.start()
    yield
    over.set()
    thread.join()


@pytest.mark.usefixtures("other_thread")
def test_a_function_of_a_module_is_found_by_its_name(tmp_path, monkeypatch):
    (tmp_path / "found_by_name.py").write_text("def objective(config, seed):\n    return {'dev': config['x']}\n")
    monkeypatch.syspath_prepend(tmp_path)
    import found_by_name

    done = run_trials(
        found_by_name.objective,
        {"x": {"uniform": [0, 1]}},
        n_trials=3,
        ledger=tmp_path / "s.db",
        selection="dev",
        direction="max",
        progress=False,
        workers=1,
    )
    assert (done.families[0].n_trials, done.families[0].n_failed) == (3, 0)


@pytest.mark.usefixtures("other_thread")
def test_what_could_only_be_forked_is_refused_and_runs_in_this_process(tmp_path, monkeypatch):
    """As in a notebook, whose kernel always runs other threads, without cloudpickle."""
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    options = {"n_trials": 2, "ledger": tmp_path / "s.db", "direction": "max", "progress": False}
    space = {"x": {"uniform": [0, 1]}}
    told = "runs other threads .another.*cloudpickle is not there.*pip install cloudpickle.*engine='inline'"
    with pytest.raises(InputError, match=told):
        run_trials(lambda config, _: config["x"], space, workers=1, **options)
    assert not (tmp_path / "s.db").exists()
    done = run_trials(lambda config, _: config["x"], space, engine="inline", **options)
    assert (done.families[0].n_trials, done.families[0].n_failed) == (2, 0)


def test_a_script_is_run_up_to_where_it_calls_the_runner(tmp_path):
    script = tmp_path / "study.py"
    script.write_text(
        "from pathlib import Path\nimport levelbest as lb\n\ndef objective(config, seed):\n    return 1.0\n\n"
        "lb.run_trials(objective, {})\nPath(__file__).with_name('beyond').touch()\n"
    )
    program = (
        "from levelbest.run.handover import find\n"
        "import sys\nwhere = {'path': sys.path, 'arguments': [], 'module': '__main__', 'name': 'objective'}\n"
        f"where |= {{'script': {str(script)!r}}}\n"
        "print(find(where)({}, 1))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "1.0\n", done.stderr
    assert not (tmp_path / "beyond").exists()
