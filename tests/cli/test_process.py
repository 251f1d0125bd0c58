"""The command as a process: Ctrl-C at any moment, streams that are full or closed, names that are no files."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from levelbest.cli.main import main

COMMAND = [sys.executable, "-m", "levelbest"]
STUDY = """
metric: {selection: dev, direction: max}
workers: 2
families: {a: {function: 'objectives:quick', n_trials: 2000, space: {x: {uniform: [0, 1]}}}}
"""


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"{family},{rng.beta(8, 2):.4f}" for family in "ab" for _ in range(12)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["model,val_acc", *rows]) + "\n")
    return path


BEGIN = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)  # as levelbest's first line has it
os.write(int(sys.argv.pop(1)), b"x")
from levelbest.__main__ import main
main()
"""
"""Python's own start-up, before a line of ours is read, is Python's business: it says when it is over."""


def interrupted(arguments: list[str], folder: Path, after: float, again: bool = False) -> tuple[int, str]:
    """Exit code and standard error of a command that gets a SIGINT so long after its first line."""
    told, tells = os.pipe()
    child = subprocess.Popen(
        [sys.executable, "-c", BEGIN, str(tells), *arguments],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        pass_fds=[tells],
    )
    os.close(tells)
    with open(told, "rb") as pipe:
        assert pipe.read(1) == b"x"
    time.sleep(after)
    child.send_signal(signal.SIGINT)
    if again:
        time.sleep(0.05)
        child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=120)
    return child.returncode, err


@pytest.mark.parametrize("count", [6, pytest.param(70, marks=pytest.mark.long)])
@pytest.mark.parametrize("again", [False, True])
def test_ctrl_c_shows_no_traceback(tmp_path, table, count, again):
    """At random moments from the first line on; the command is as often a study as a curve."""
    (tmp_path / "objectives.py").write_text((Path(__file__).parent.parent / "run" / "objectives.py").read_text())
    (tmp_path / "s.yaml").write_text(STUDY)
    rng = np.random.default_rng([9, again])
    for turn in range(count):
        commands = [["run", "s.yaml"], ["report", table.name, "--out", f"r{turn}.html"]]
        after = float(rng.exponential(0.5))
        code, err = interrupted(commands[turn % 2], tmp_path, after, again)
        assert "Traceback" not in err, err
        assert "Error" not in err, err
        assert code in (130, -signal.SIGINT, 0, 2), (code, err)
    if Path(tmp_path / "s.db").exists():
        assert main(["verify", str(tmp_path / "s.db")]) == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("options", [["describe"], ["describe", "--json"], ["--help"]])
def test_a_full_standard_output_is_said_in_one_line(table, options):
    command = [*COMMAND, *options, *([] if options == ["--help"] else [str(table)])]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
    assert done.returncode == 1
    assert done.stderr == "levelbest: what is printed cannot be read or written: No space left on device\n"


def test_closed_streams_are_none(table):
    done = subprocess.run(
        ["sh", "-c", '"$0" -m levelbest describe "$1" >&- 2>&-', sys.executable, str(table)], timeout=120
    )
    assert done.returncode == 0


def test_what_the_terminal_has_no_letters_for_is_printed(tmp_path):
    (tmp_path / "t.csv").write_text("model,val_acc\nmodèle,.5\nmodèle,.6\nmodèle,.7\n")
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([*COMMAND, "describe", str(tmp_path / "t.csv")], env=env, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert rb"mod\xe8le" in done.stdout


def test_the_number_of_threads_decides_no_digit(tmp_path):
    """Of the kernels of linear algebra: the last digits of a long sum depend on how many share it."""
    rng = np.random.default_rng(1)
    rows = [f"a,{rng.beta(8, 2):.6f},{rng.exponential():.4f}" for _ in range(1200)]
    (tmp_path / "t.csv").write_text("\n".join(["model,val_acc,hours", *rows]) + "\n")
    command = [*COMMAND, "curve", str(tmp_path / "t.csv"), "--axis", "cost", "--cost", "hours", "--json"]
    printed = []
    for threads in ("1", "2", "4"):
        env = {**os.environ, "OMP_NUM_THREADS": threads}
        env.pop("OPENBLAS_NUM_THREADS", None)
        printed.append(subprocess.run(command, env=env, capture_output=True, check=True, timeout=300).stdout)
    assert printed[0] == printed[1] == printed[2]
    assert json.loads(printed[0])["families"]


def test_trials_keep_the_threads_they_are_given(tmp_path):
    show = 'echo "{{\\"dev\\": 1, \\"set\\": ${OPENBLAS_NUM_THREADS:-7}}}"'
    (tmp_path / "s.yaml").write_text(
        "metric: {selection: dev, direction: max}\n"
        f"families: {{a: {{command: [sh, -c, '{show}'], n_trials: 1}}}}\n".replace("${", "${{").replace(":-7}", ":-7}}")
    )
    env = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    subprocess.run([*COMMAND, "run", "s.yaml", "--quiet"], cwd=tmp_path, env=env, check=True, timeout=120)
    connection = sqlite3.connect(tmp_path / "s.db")
    assert json.loads(connection.execute("SELECT scores FROM trials").fetchone()[0]) == {"dev": 1, "set": 7}
    connection.close()


WRITING = {
    "curve": ("out.png", ["--out"]),
    "describe": ("out.svg", ["--out"]),
    "convert": ("out.csv", ["--out"]),
    "checklist": ("out.md", ["--out"]),
    "report": ("out", ["--force", "--out"]),
    "simulate": ("out.jsonl", ["--law", "beta(8,2)", "--trials", "5", "--samples", "10", "--keep"]),
}


def ask(command: str, table: Path, target: Path) -> int:
    return main([command, *([] if command == "simulate" else [str(table)]), *WRITING[command][1], str(target)])


@pytest.mark.parametrize("command", WRITING)
@pytest.mark.parametrize("kind", ["link", "pipe", "device"])
def test_every_command_leaves_alone_what_is_no_regular_file(tmp_path, table, capsys, command, kind):
    target = tmp_path / WRITING[command][0]
    if kind == "link":
        (tmp_path / "kept").write_text("old")
        target.symlink_to(tmp_path / "kept")
    elif kind == "pipe":
        os.mkfifo(target)
    else:
        try:
            os.mknod(target, 0o020666, os.makedev(1, 3))
        except PermissionError:
            pytest.skip("only root can make a device")
    before = target.lstat()
    assert ask(command, table, target) in (1, 2)
    after = target.lstat()
    assert (before.st_ino, before.st_mode, before.st_rdev) == (after.st_ino, after.st_mode, after.st_rdev)
    said = capsys.readouterr().err.splitlines()
    assert said[-1].startswith("levelbest: ")
    if kind == "link":
        assert (tmp_path / "kept").read_text() == "old"


@pytest.mark.parametrize("command", [name for name in WRITING if name != "report"])
def test_a_disk_that_fills_up_leaves_the_old_file_whole(tmp_path, table, capsys, command, monkeypatch):
    """fsync answers as on a full disk: one line, exit code 1, the old file, and nothing beside it."""
    target = tmp_path / WRITING[command][0]
    target.write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert ask(command, table, target) == 1
    assert "No space left on device" in capsys.readouterr().err.splitlines()[-1]
    assert target.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([target.name, table.name])


@pytest.mark.parametrize("error", ["RuntimeError('Error calling __set_name__')", "ImportError('no zlib.decompress')"])
@pytest.mark.parametrize("interrupted", [True, False])
def test_an_interrupt_while_a_class_is_made_or_a_module_is_loaded_is_an_interrupt(error, interrupted):
    """Python 3.11 and Cython turn it into an error of their own; without one an error is shown."""
    code = (
        "import signal\n"
        "import levelbest.cli.main as module, levelbest.__main__ as command\n"
        "def run():\n"
        "    try:\n"
        f"        {interrupted} and signal.raise_signal(signal.SIGINT)\n"
        "    finally:\n"
        f"        raise {error}\n"
        "module.main = run\ncommand.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == ((130, False) if interrupted else (1, True))


def test_an_interrupt_while_a_table_is_searched_is_an_interrupt():
    """DuckDB turns it into an error of its own."""
    code = (
        "import os, signal, threading\n"
        "import levelbest.__main__ as command, levelbest.cli.main as module\n"
        "from levelbest.readers.tables.engine import connect\n"
        "def search(**_):\n"
        "    engine = connect()  # the library is loaded before the interrupt, however slow the machine is\n"
        "    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "    engine.execute('SELECT max(hash(range)) FROM range(3000000000)').fetchall()\n"
        "module.cli.main = search\ncommand.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr.split()) == (130, ["levelbest:", "stopped"])
