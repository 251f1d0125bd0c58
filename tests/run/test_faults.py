"""An error at every system call of a run, one at a time, as SQLite tests itself: nothing is lost, doubled or failed for
it, and a rerun finishes.

``python tests/run/test_faults.py FOLDER [FIRST [LAST]]`` goes on until a run passes through without meeting its error.
The default suite takes a sample of the calls, ``--long`` every one.
"""

import contextlib
import errno
import json
import os
import shutil
import sqlite3
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from levelbest._ledger import file
from levelbest.errors import InputError

HERE = Path(__file__).parent / "faults"
ERRORS = (errno.ENOSPC, errno.EIO, errno.EMFILE, errno.EAGAIN)
SAMPLE = 5

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("cc") is None, reason="needs Linux and a C compiler to stand between"
)


def built(folder: Path) -> Path:
    library = folder / "fault.so"
    command = ["cc", "-shared", "-fPIC", "-O1", "-w", "-o", str(library), str(HERE / "fault.c"), "-ldl"]
    subprocess.run(command, check=True, timeout=120)
    return library


def run(folder: Path, library: Path | None = None, target: int = 0, number: int = 0) -> tuple[int, int, str]:
    """Run the study in a folder with an error at one of its calls; exit code, calls made, and what it said."""
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    counter = folder.with_name("counter")
    counter.write_bytes(struct.pack("4q", 0, 0, target, number))
    if library is not None:
        env |= {"LD_PRELOAD": str(library), "FAULT_FILE": str(counter)}
    done = subprocess.run(
        [sys.executable, str(HERE / "study.py"), str(folder)],
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, struct.unpack("4q", counter.read_bytes())[1], done.stderr


def ends(folder: Path) -> list[tuple[str, int, str]]:
    """Family, trial and status of all that ended for good."""
    if not (folder / "s.db").exists():
        return []
    with contextlib.closing(sqlite3.connect(folder / "s.db")) as connection:
        return connection.execute("SELECT family, trial, status FROM trials ORDER BY family, trial").fetchall()


def check(place: Path, library: Path, target: int) -> tuple[int, str]:
    """One error: the first run ends in one line or finishes, the second finishes; calls made, and what went wrong."""
    from levelbest.run.verify import verify_ledger

    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    code, calls, text = run(place, library, target, ERRORS[target % len(ERRORS)])
    wrong = []
    if "Traceback" in text or code not in (0, 1):
        wrong.append(f"the first run ended with {code}: {text[-1500:]}")
    first = ends(place)
    code, _, text = run(place)
    if code:
        wrong.append(f"the second run ended with {code}: {text[-1500:]}")
    last = ends(place)
    if last != [(name, trial, "ok") for name in ("command", "function") for trial in range(10)]:
        wrong.append(f"the trials are {last}")
    if not set(first) <= set(last):
        wrong.append(f"lost: {set(first) - set(last)}")
    if problems := verify_ledger(place / "s.db").problems:
        wrong.append(f"not whole: {problems}")
    return calls, "; ".join(wrong)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return built(tmp_path_factory.mktemp("fault"))


def test_an_error_at_some_of_the_calls_of_a_run(tmp_path, library):
    (tmp_path / "whole").mkdir()
    code, calls, text = run(tmp_path / "whole", library)
    assert code == 0, text
    assert calls > 500
    targets = [1 + calls * step // SAMPLE for step in range(SAMPLE)]
    wrong = {target: said for target in targets if (said := check(tmp_path / "s", library, target)[1])}
    assert wrong == {}


@pytest.mark.long
def test_an_error_at_every_call_of_a_run(tmp_path, library):
    assert sweep(tmp_path, library, 1, None) == {}


@pytest.mark.parametrize("step", [9, pytest.param(1, marks=pytest.mark.long)])
def test_a_loop_killed_at_its_calls_loses_no_attempt(tmp_path, library, step):
    """Kill -9 before every call, or every ninth, of a run that makes a ledger and of one of a candidate."""
    (tmp_path / "counter").write_bytes(bytes(32))
    env = {**os.environ, "LD_PRELOAD": str(library), "FAULT_FILE": str(tmp_path / "counter")}
    command = [sys.executable, str(HERE / "loop.py"), str(tmp_path), str(step)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    counted = json.loads(done.stdout)
    assert counted["wrong"] == {}
    assert min(counted["kills"]) * step > 50


def sweep(folder: Path, library: Path, first: int, last: int | None) -> dict[int, str]:
    """Every call from the first on, until a run passes through."""
    wrong, target = {}, first
    while last is None or target <= last:
        calls, said = check(folder / "s", library, target)
        if said:
            wrong[target] = said
        if calls < target:
            break
        target += 1
    return wrong


if __name__ == "__main__":
    where = Path(sys.argv[1])
    limits = [int(text) for text in sys.argv[2:]]
    found = sweep(where, built(where), limits[0] if limits else 1, limits[1] if len(limits) > 1 else None)
    for number, said in found.items():
        print(number, said)
    sys.exit(1 if found else 0)


def test_a_mark_that_an_error_hides_once_does_not_make_a_ledger_foreign(tmp_path, monkeypatch):
    assert run(tmp_path)[0] == 0
    look, looks = file.check_file, []

    def hidden_at_first(connection, name):
        looks.append(name)
        if len(looks) == 1:
            raise InputError(f"{name} is not a ledger of levelbest")
        look(connection, name)

    monkeypatch.setattr(file, "check_file", hidden_at_first)
    file.connect(tmp_path / "s.db", "ro").close()
    assert looks == ["s.db", "s.db"]
