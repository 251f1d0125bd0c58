"""Everything that goes wrong on real machines: recorded with its reason, and the study goes on."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from levelbest._ledger.space import Space
from levelbest.errors import InputError
from levelbest.run.objective import flat, last_scores, read_metrics, verdict_on
from levelbest.run.runner import run_study
from levelbest.run.study import Study
from levelbest.run.verify import verify_ledger

HERE = Path(__file__).parent
FULL = "the ledger s.db cannot be written: database or disk is full"


def run(folder: Path, commands: dict[str, str], **shared) -> dict[str, list[dict]]:
    """Run a study of commands, two trials each, and a healthy family beside them; rows by family."""
    shell = {name: {"command": ["sh", "-c", text]} for name, text in commands.items()}
    given = {
        "metric": {"selection": "dev", "direction": "max"},
        "n_trials": 2,
        "families": {**shell, "healthy": {"command": ["sh", "-c", "echo '{{\"dev\": 1}}'"]}},
    }
    done = run_study(Study.from_dict(given | shared, folder=folder, name="s"), folder / "s.db", workers=2)
    assert done.finished
    assert verify_ledger(folder / "s.db").whole
    connection = sqlite3.connect(folder / "s.db")
    connection.row_factory = sqlite3.Row
    rows: dict[str, list[dict]] = {}
    for row in connection.execute("SELECT * FROM trials ORDER BY family, trial"):
        rows.setdefault(row["family"], []).append(dict(row))
    connection.close()
    assert all(len(found) == 2 for found in rows.values())
    assert [row["status"] for row in rows["healthy"]] == ["ok", "ok"]
    return rows


def ending(rows: list[dict]) -> tuple[str, str]:
    assert len({(row["status"], row["reason"]) for row in rows}) == 1
    return rows[0]["status"], rows[0]["reason"]


def test_every_bad_command_fails_for_its_own_reason(tmp_path):
    rows = run(
        tmp_path,
        {
            "garbage": "head -c 3000 /dev/urandom",
            "silent": "true",
            "words": "echo '{{dev: 1}}'; echo accuracy 0.9",
            "not-a-number": "echo '{{\"dev\": NaN}}'",
            "infinite": "echo '{{\"dev\": -Infinity}}'",
            "text": 'echo \'{{"dev": "high"}}\'',
            "list": "echo '[1, 2]'",
            "other": 'echo \'{{"acc": 1, "loss": 2}}\'',
            "code": "echo '{{\"dev\": 1}}'; echo 'out of tune' >&2; exit 3",
            "segfault": "kill -SEGV $$",
            "killed": "kill -KILL $$",
            "hangs": "sleep 100",
            "deep": "printf '%s' '{{\"dev\": ' ; printf '%50000s' | tr ' ' '[' ; echo '}}'",
        },
        time_limit=1.5,
        retries=1,
    )
    assert ending(rows["garbage"]) == ("failed", "printed no line of JSON with scores")
    assert ending(rows["silent"]) == ("failed", "printed no line of JSON with scores")
    assert ending(rows["words"]) == ("failed", "printed no line of JSON with scores")
    assert ending(rows["not-a-number"]) == ("diverged", "dev is NaN")
    assert ending(rows["infinite"]) == ("diverged", "dev is infinite")
    assert ending(rows["text"]) == ("failed", "reported no dev; it reported no number at all")
    assert ending(rows["list"]) == ("failed", "printed no line of JSON with scores")
    assert ending(rows["other"]) == ("failed", "reported no dev; it reported acc, loss")
    assert ending(rows["code"]) == ("failed", "exit code 3: out of tune")
    assert ending(rows["segfault"]) == ("failed", "ended by SIGSEGV")
    assert ending(rows["killed"]) == (
        "failed", "ended by SIGKILL from outside, perhaps out of memory; tried 2 times",
    )  # fmt: skip
    assert ending(rows["hangs"]) == ("failed", "stopped at its time limit of 1.5 s")
    assert all(1.5 <= row["wall"] < 6 for row in rows["hangs"])  # what it cost is known all the same
    assert ending(rows["deep"]) == ("failed", "printed no line of JSON with scores")


def test_children_of_a_trial_end_with_it(tmp_path):
    nap = f"4000.{os.getpid()}{time.monotonic_ns() % 10**6}"
    rows = run(
        tmp_path,
        {
            "forks": f"sleep {nap} & (setsid sleep {nap} &) ; sleep {nap} & echo '{{{{\"dev\": 1}}}}'",
            "hangs": f"(setsid sleep {nap} &); sleep {nap}",
        },
        time_limit=1,
    )
    assert [row["status"] for row in rows["forks"]] == ["ok", "ok"]
    assert all(row["wall"] < 1 for row in rows["forks"])  # its children are not waited for
    assert rows["hangs"][0]["status"] == "failed"
    assert [p.pid for p in psutil.process_iter(["cmdline"]) if p.info["cmdline"] == ["sleep", nap]] == []


@pytest.mark.parametrize("size", [200_000_000, pytest.param(3_000_000_000, marks=pytest.mark.long)])
def test_gigabytes_of_output_are_cut_and_the_score_is_found(tmp_path, size):
    rows = run(
        tmp_path,
        {"loud": f"head -c {size} /dev/zero | tr '\\0' 'x'; echo; echo '{{{{\"dev\": 0.5}}}}'"},
        log_limit="1 MB",
    )
    assert [json.loads(row["scores"]) for row in rows["loud"]] == [{"dev": 0.5}] * 2
    logs = list((tmp_path / "s.db.logs" / "loud").iterdir())
    assert len(logs) == 2
    for log in logs:
        assert log.stat().st_size < 1_001_000
        assert log.read_bytes().endswith(b'\n{"dev": 0.5}\n')
    connection = sqlite3.connect(tmp_path / "s.db")
    ends = connection.execute("SELECT body FROM records WHERE kind = 'end' AND family = 0").fetchall()
    connection.close()
    for body in (json.loads(text) for (text,) in ends):
        assert body["log_bytes"] > size
        assert body["log_left_out"] > size - 2_000_000


def test_logs_that_cannot_be_written_cost_no_result(tmp_path):
    """The log folder's disk is full (/dev/full answers so), then a file stands where the folder should."""
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    logs = tmp_path / "s.db.logs"
    (logs / "full").mkdir(parents=True)
    for trial in range(2):
        (logs / "full" / f"{trial}-1.log").symlink_to("/dev/full")
    (logs / "blocked").write_text("not a folder")
    say = "echo hello; echo '{{\"dev\": 0.5}}'"
    rows = run(tmp_path, {"full": say, "blocked": say})
    assert [json.loads(row["scores"])["dev"] for row in rows["full"] + rows["blocked"]] == [0.5] * 4
    connection = sqlite3.connect(tmp_path / "s.db")
    found = connection.execute("SELECT family, body ->> 'log_problem' FROM records WHERE kind = 'end' AND family < 2")
    assert set(found) == {
        (0, "its log could not be written: No space left on device"),
        (1, "its log could not be written: File exists"),
    }
    connection.close()


def test_a_disk_that_is_full_for_the_trial_is_its_reason(tmp_path):
    rows = run(tmp_path, {"full": "echo lots > /dev/full || exit 28"})
    status, reason = ending(rows["full"])
    assert status == "failed"
    assert reason.startswith("exit code 28: ")
    assert "No space left" in reason or "write error" in reason or "I/O error" in reason


def test_a_read_only_folder_is_the_trials_reason(tmp_path):
    rows = run(tmp_path, {"readonly": "echo x > /proc/sys/kernel/nothing || exit 30"})
    status, reason = ending(rows["readonly"])
    assert status == "failed"
    assert reason.startswith("exit code ")


SMALL = """
import sys
from pathlib import Path
from levelbest.run.session import Session
from levelbest.run.runner import run_study
from levelbest.run.study import Study
from levelbest.run.verify import verify_ledger
from levelbest.errors import DataError

folder = Path(sys.argv[1])
command = "head -c 300000 /dev/zero | tr '\\\\0' x; echo; echo '{{\\"dev\\": 1}}'"
family = {"command": ["sh", "-c", command], "n_trials": 40}
given = {"metric": {"selection": "dev", "direction": "max"}, "families": {"f": family}, "log_limit": "1 MB"}
study = Study.from_dict(given, folder=folder, name="s")
Session.__init__.__defaults__ = (None, 0.2)
for _ in range(30):
    try:
        print(run_study(study, folder / "s.db", workers=2))
        break
    except DataError as error:
        print(f"refused: {error}")
    found = verify_ledger(folder / "s.db")
    assert found.whole, found.problems
    for log in (folder / "s.db.logs" / "f").iterdir():
        log.unlink()
assert verify_ledger(folder / "s.db").whole
"""


def test_a_truly_full_disk(tmp_path):
    """A file system of 2 MB, filled by logs again and again: the ledger stays whole and loses nothing."""
    disk = tmp_path / "disk"
    disk.mkdir()
    script = tmp_path / "small.py"
    script.write_text(SMALL)
    inner = f"mount -t tmpfs -o size=2m none {disk} && exec {sys.executable} {script} {disk}"
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode:
        pytest.skip("this system does not let a test mount a small file system")
    ran = subprocess.run(["unshare", "-rm", "sh", "-c", inner], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    *refused, last, head = ran.stdout.splitlines()
    assert len(refused) > 1
    assert {line.partition(";")[0] for line in refused} == {f"refused: {FULL}"}
    assert last.startswith("f: 40 of 40 trials (finished)")
    assert head.startswith("head ")


def test_scores_are_read_from_what_programs_print():
    assert last_scores(b'{"a": 1}\nnoise\n{"a": 2, "b": {"c": 3}}\r\n', "a") == {"a": 2, "b.c": 3}
    assert last_scores(b'{"a": 1}\n{"done": true}\n', "a") == {"a": 1}  # the last that holds the score
    assert last_scores(b'{"b": 1}\n', "a") == {"b": 1}
    assert last_scores(b"\xff\xfe{\n", "a") is None
    assert last_scores(b'{"a": 1', "a") is None
    assert flat({"a": True, "b": "x", "c": None, "d": [1], "e": {"f": 1}}) == {"a": 1.0, "e.f": 1.0}
    assert len(flat({str(i): i for i in range(5000)})) == 1000


def test_metrics_files(tmp_path):
    path = tmp_path / "m.json"
    assert read_metrics(str(path), None, "a") == "wrote no metrics file m.json"
    path.write_text('{"a": 1}')
    assert read_metrics(str(path), None, "a") == {"a": 1}
    path.write_text('{"a": 1}\n{"a": 2}\n{"b": 3}\n')
    assert read_metrics(str(path), None, "a") == {"a": 2}
    path.write_text("a: 1")
    assert read_metrics(str(path), None, "a") == "wrote a metrics file m.json that is not JSON"
    with path.open("wb") as file:
        file.truncate(17_000_000)
    assert "16000000 are read at most" in read_metrics(str(path), None, "a")
    assert "cannot be read" in read_metrics(str(tmp_path), None, "a")


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"end": "exit", "code": 0, "scores": {"dev": 1.0}}, ("ok", {"dev": 1.0}, None)),
        ({"end": "exit", "code": 0, "scores": {"dev": 1.0, "b": float("nan")}}, ("ok", {"dev": 1.0, "b": None}, None)),
        ({"end": "signal", "code": 15}, ("lost", {}, "ended by SIGTERM from outside")),
        ({"end": "signal", "code": 6}, ("failed", {}, "ended by SIGABRT")),
        ({"end": "signal", "code": 99}, ("failed", {}, "ended by signal 99")),
        ({"end": "lost"}, ("lost", {}, "its worker was lost")),
        ({"end": "unstarted", "problem": "x"}, ("failed", {}, "could not be started: x")),
    ],
)
def test_how_an_attempt_is_judged(raw, expected):
    assert verdict_on(raw, "dev", "json") == expected


def test_without_a_named_score_any_number_will_do():
    assert verdict_on({"end": "exit", "code": 0, "scores": {"a": 1.0}}, None, "json")[0] == "ok"
    assert verdict_on({"end": "exit", "code": 0, "scores": {"a": float("inf")}}, None, "json")[0] == "diverged"
    assert verdict_on({"end": "exit", "code": 0, "scores": {}}, None, "json")[0] == "failed"
    assert verdict_on({"end": "exit", "code": 1}, None, "exit") == ("ok", {"success": 0.0}, None)


def test_an_end_is_kept_where_the_next_command_cannot_be_made(tmp_path):
    """A value with a zero byte cannot be an argument: the trial before it is on record all the same."""
    space = {"x": {"choice": ["plain", "a\0b"]}}
    seed = next(s for s in range(100) if [Space(space).draw(s, 0, t)[0]["x"] for t in (0, 1)] == ["plain", "a\0b"])
    family = {"command": "echo {x}", "space": space, "n_trials": 2, "report": "exit"}
    given = {"metric": {"selection": "done", "direction": "max"}, "seed": seed, "families": {"f": family}}
    with pytest.raises(InputError, match="zero byte"):
        run_study(Study.from_dict(given, folder=tmp_path, name="s"), tmp_path / "s.db", workers=1)
    assert verify_ledger(tmp_path / "s.db").families == (("f", 2, 1, 0),)
