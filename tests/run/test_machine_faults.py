"""What the machine does to a trial is no result of the trial: it stays open, and the same command continues."""

import builtins
import contextlib
import errno
import os
import sqlite3
import sys
from pathlib import Path

import pytest

from levelbest.cli.main import main
from levelbest.errors import DataError
from levelbest.run import attempt as attempts
from levelbest.run import standby
from levelbest.run.attempt import attempt
from levelbest.run.runner import run_trials
from levelbest.run.verify import verify_ledger

sys.path.insert(0, str(Path(__file__).parent))
from test_losses import statuses

STUDY = """
metric: {selection: dev, direction: max}
workers: 1
families:
  a: {command: ["sh", "-c", "echo '{{\\"dev\\": 1}}' > {out}/m.json"], report: {file: "{out}/m.json"}, n_trials: 6}
"""
BROKEN = ["ENOSPC", "EDQUOT", "EIO", "EROFS", "ESTALE"]


def task(folder: Path, argv: list[str], **more) -> dict:
    given = {"key": 1, "mark": "", "config": {}, "seed": 1, "argv": argv, "function": None, "folder": str(folder)}
    given |= {"out": None, "log": str(folder / "log"), "log_limit": 1000, "limit": None, "report": "json"}
    return {**given, "selection": "dev", "env": {}, **more}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_disk_leaves_the_trial_open_and_ends_the_session(tmp_path, monkeypatch, capsys, name):
    """A disk that is full from the third trial on, and is mended for the second session."""
    (tmp_path / "s.yaml").write_text(STUDY)
    real, calls = os.makedirs, []

    def full(path, *arguments, **more):
        if "-" in Path(path).name:  # the folder of an attempt, not one above it
            calls.append(path)
            if len(calls) > 2:
                raise OSError(getattr(errno, name), os.strerror(getattr(errno, name)))
        return real(path, *arguments, **more)

    monkeypatch.setattr(attempts.os, "makedirs", full)
    assert main(["run", str(tmp_path / "s.yaml"), "--engine", "inline", "--quiet"]) == 1
    assert "trials cannot be started on this machine" in capsys.readouterr().err
    assert statuses(tmp_path / "s.db") == ["ok", "ok", "lost"]
    monkeypatch.setattr(attempts.os, "makedirs", real)
    assert main(["run", str(tmp_path / "s.yaml"), "--engine", "inline", "--quiet"]) == 0
    assert statuses(tmp_path / "s.db") == ["ok", "ok", "lost"] + ["ok"] * 4
    assert verify_ledger(tmp_path / "s.db").whole


@pytest.mark.parametrize(("code", "name"), [(137, "SIGKILL"), (143, "SIGTERM")])
def test_a_command_killed_behind_a_shell_was_killed_from_outside(tmp_path, code, name):
    raw = attempt(task(tmp_path, ["sh", "-c", f"sh -c 'kill -{code - 128} $$'; exit $?"]))
    assert (raw["end"], raw["code"]) == ("signal", code - 128)
    study = STUDY.replace("echo", f"exit {code}; echo").replace("n_trials: 6", "n_trials: 1, retries: 2")
    (tmp_path / "s.yaml").write_text(study)
    assert main(["run", str(tmp_path / "s.yaml"), "--quiet"]) == 1  # not one trial has a score
    assert statuses(tmp_path / "s.db") == ["lost", "lost", "failed"]
    connection = sqlite3.connect(tmp_path / "s.db")
    (reason,) = connection.execute("SELECT reason FROM trials").fetchone()
    connection.close()
    memory = ", perhaps out of memory" if name == "SIGKILL" else ""
    assert reason == f"ended by {name} from outside (exit code {code}){memory}; tried 3 times"


def test_other_exit_codes_are_the_trial_s_own(tmp_path):
    for code in (1, 126, 127, 130, 139):
        raw = attempt(task(tmp_path, ["sh", "-c", f"exit {code}"]))
        assert (raw["end"], raw["code"]) == ("exit", code)


@pytest.mark.parametrize("once", [True, False], ids=["the result alone", "and what became of it"])
@pytest.mark.parametrize("number", [errno.EAGAIN, errno.EIO])
def test_a_result_that_cannot_be_handed_over_fails_no_trial(tmp_path, number, once):
    """The function returned; its worker did not hear of it."""
    failed = tmp_path / "failed"

    def objective(config, _):
        real = os.write

        def write(file, data):
            if (b'"scores"' in data or not once) and data.startswith(b"{") and config["x"] == 3:
                if b'"scores"' in data and failed.exists():
                    return real(file, data)
                failed.touch()
                raise OSError(number, os.strerror(number))
            return real(file, data)

        if not failed.exists():
            standby.os.write = write  # in the process of this trial alone
        return {"dev": config["x"]}

    options = {"ledger": tmp_path / "s.db", "selection": "dev", "direction": "max", "progress": False, "workers": 1}
    space = {"x": {"integer": [3, 3]}}
    told = contextlib.nullcontext()
    if number == errno.EIO and once:
        told = pytest.raises(DataError, match="its result could not be handed over")
    with told:
        run_trials(objective, space, n_trials=2, **options)
    done = run_trials(objective, space, n_trials=2, **options)
    assert (done.families[0].n_trials, done.families[0].n_failed) == (2, 0)
    assert statuses(tmp_path / "s.db")[0] == "lost"
    assert failed.exists()
    assert verify_ledger(tmp_path / "s.db").whole


@pytest.mark.parametrize("name", [*BROKEN, "EMFILE", "ENFILE", "EAGAIN", "ENOMEM"])
def test_a_metrics_file_that_the_machine_cannot_open_fails_no_trial(tmp_path, monkeypatch, name):
    real, number = open, getattr(errno, name)

    def opened(path, *arguments, **more):
        if str(path).endswith("m.json"):
            raise OSError(number, os.strerror(number))
        return real(path, *arguments, **more)

    monkeypatch.setattr(builtins, "open", opened)
    raw = attempt(task(tmp_path, ["sh", "-c", "echo '{\"dev\": 1}' > m.json"], report="m.json"))
    assert (raw["end"], raw["code"]) == ("lost", 0)
    assert raw.get("machine", False) is (name in BROKEN)
