"""Running a study: what is recorded, how it goes on, what it refuses."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import levelbest as lb
from levelbest._ledger.space import Space
from levelbest.cli.main import main
from levelbest.errors import DataError, InputError
from levelbest.run.runner import run_study, run_trials
from levelbest.run.study import Study
from levelbest.run.study_file import read_study
from levelbest.run.verify import verify_ledger
from levelbest.run.view import LedgerView

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
import objectives  # noqa: E402

FULL = "the ledger s.db cannot be written: database or disk is full"
SPACE = {"x": {"uniform": [0, 1]}, "kind": ["a", "b"]}


def table(path: Path) -> list[dict]:
    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    rows = [dict(row) for row in connection.execute("SELECT * FROM trials ORDER BY family, trial")]
    connection.close()
    for row in rows:
        row["config"], row["scores"] = json.loads(row["config"]), json.loads(row["scores"])
    return rows


def records(path: Path, kind: str) -> list[tuple]:
    connection = sqlite3.connect(path)
    found = connection.execute(
        "SELECT family, trial, attempt, status, body FROM records WHERE kind = ? ORDER BY seq", [kind]
    ).fetchall()
    connection.close()
    return [(*row[:4], json.loads(row[4])) for row in found]


def run(tmp_path, objective=objectives.plain, space=SPACE, **options):
    options = {"n_trials": 6, "family": "f", "selection": "dev", "direction": "max", "progress": False} | options
    return run_trials(objective, space, ledger=tmp_path / "s.db", **options)


@pytest.mark.parametrize("engine", ["inline", "local"])
def test_every_planned_trial_is_recorded_with_its_draw(tmp_path, engine):
    done = run(tmp_path, engine=engine, seed=5, reported="test", n_trials=12)
    assert done.finished
    assert done.families == (("f", 12, 12, 0),)
    space = Space(SPACE)
    rows = table(tmp_path / "s.db")
    assert [row["trial"] for row in rows] == list(range(12))
    for row in rows:
        config, seed = space.draw(5, 0, row["trial"])
        assert (row["config"], row["seed"], row["status"]) == (config, seed, "ok")
        assert row["scores"] == {"dev": config["x"], "test": seed / 2**31}
        assert row["cost"] == row["wall"]
    found = verify_ledger(tmp_path / "s.db")
    assert found.whole
    assert found.head == done.head
    assert done.head in str(done)


def test_a_name_and_a_command_say_the_same_as_the_function(tmp_path, monkeypatch):
    for name, objective in {
        "function": objectives.plain,
        "name": "objectives:plain",
        "command": [sys.executable, "-c", "import sys; print('{{\"dev\": ' + sys.argv[1] + '}}')", "{x}"],
    }.items():
        (tmp_path / name).mkdir()
        monkeypatch.chdir(HERE)
        run(tmp_path / name, objective, n_trials=4)
    tables = [table(tmp_path / name / "s.db") for name in ("function", "name", "command")]
    for rows in zip(*tables, strict=True):
        assert rows[0]["config"] == rows[1]["config"] == rows[2]["config"]
        assert rows[0]["scores"]["dev"] == rows[1]["scores"]["dev"] == rows[2]["scores"]["dev"]


def test_running_again_runs_nothing_and_a_larger_plan_adds(tmp_path):
    first = run(tmp_path)
    again = run(tmp_path)
    assert len(records(tmp_path / "s.db", "start")) == 6
    assert again.families == first.families
    more = run(tmp_path, n_trials=9)
    assert more.families == (("f", 9, 9, 0),)
    assert len(records(tmp_path / "s.db", "start")) == 9
    assert [body["n_trials"] for *_, body in records(tmp_path / "s.db", "plan")] == [6, 9]
    (tmp_path / "other").mkdir()
    run(tmp_path / "other", n_trials=9)
    bare = [(row["config"], row["seed"], row["scores"]) for row in table(tmp_path / "s.db")]
    assert bare == [(row["config"], row["seed"], row["scores"]) for row in table(tmp_path / "other" / "s.db")]
    with pytest.raises(DataError, match="can grow and not shrink, 9 trials were planned and the study now says 3"):
        run(tmp_path, n_trials=3)


def test_a_second_family_joins_and_draws_its_own(tmp_path):
    run(tmp_path, n_trials=3)
    # Metric, seed and cost are the ledger's where they are left out.
    done = run_trials(
        objectives.number, SPACE, n_trials=3, family="g", ledger=tmp_path / "s.db", progress=False
    )  # fmt: skip
    assert done.families == (("f", 3, 3, 0), ("g", 3, 3, 3))  # g reports no "dev"
    rows = table(tmp_path / "s.db")
    assert [row["config"] for row in rows[3:]] == [Space(SPACE).draw(0, 1, i)[0] for i in range(3)]
    assert rows[3]["reason"] == "reported no dev; it reported score"


def test_seeds_per_configuration(tmp_path):
    run(tmp_path, n_trials=6, seeds=3)
    rows = table(tmp_path / "s.db")
    assert rows[0]["config"] == rows[1]["config"] == rows[2]["config"] != rows[3]["config"]
    assert len({row["seed"] for row in rows}) == 6
    assert verify_ledger(tmp_path / "s.db").whole


@pytest.mark.parametrize(
    ("objective", "status", "reason"),
    [
        (objectives.raises, "failed", "ValueError: no good at x"),
        (objectives.nan, "diverged", "dev is NaN"),
        (objectives.nothing, "failed", "TypeError: an objective returns a number or a dict"),
        (objectives.number, "failed", "reported no dev; it reported score"),
        (objectives.exits, "failed", r"exit code 3: called exit\(3\)"),
        (objectives.hard_exit, "failed", "exit code 7: ended without handing over its scores"),
        (objectives.segfault, "failed", "ended by SIGSEGV"),
        (objectives.killed, "failed", "ended by SIGKILL from outside, perhaps out of memory; tried 2 times"),
    ],
)
def test_a_failure_is_recorded_with_its_reason_and_the_study_goes_on(tmp_path, objective, status, reason):
    done = run(tmp_path, objective, n_trials=2, retries=1)
    assert done.finished
    assert done.families == (("f", 2, 2, 2),)
    for row in table(tmp_path / "s.db"):
        assert row["status"] == status
        assert re.match(reason, row["reason"]), row["reason"]
    assert verify_ledger(tmp_path / "s.db").whole


def test_only_infrastructure_failures_are_tried_again(tmp_path):
    space = {"folder": str(tmp_path), "i": {"integer": [0, 10**6]}}
    run(tmp_path, objectives.kills_worker, space, n_trials=4)
    rows = table(tmp_path / "s.db")
    assert [row["status"] for row in rows] == ["ok"] * 4
    assert len({row["config"]["i"] for row in rows}) == 4
    ends = records(tmp_path / "s.db", "end")
    assert [end[3] for end in ends].count("lost") == 4
    starts = {(trial, attempt): body for _, trial, attempt, _, body in records(tmp_path / "s.db", "start")}
    assert set(starts) == {(trial, attempt) for trial in range(4) for attempt in (1, 2)}
    for trial in range(4):
        assert starts[trial, 1].pop("mark") != starts[trial, 2].pop("mark")
        assert starts[trial, 1] == starts[trial, 2]  # the same configuration and seed
    (tmp_path / "bad").mkdir()
    run(tmp_path / "bad", objectives.nan, n_trials=3)
    assert len(records(tmp_path / "bad" / "s.db", "start")) == 3  # a bad score is a score


def test_intermediate_scores_and_costs_are_kept(tmp_path):
    run(tmp_path, objectives.steps, n_trials=2, cost={"of": "epoch", "rate": 3, "unit": "cents"})
    for row in table(tmp_path / "s.db"):
        assert row["cost"] == 6
    for *_, body in records(tmp_path / "s.db", "end"):
        assert [step["epoch"] for step in body["steps"]] == [0, 1, 2]


def test_the_environment_is_captured_once_and_names_no_one(tmp_path):
    import getpass
    import socket

    run(tmp_path, n_trials=1)
    run(tmp_path, n_trials=2)
    (found,) = records(tmp_path / "s.db", "environment")
    body = found[-1]
    assert body["packages"]["numpy"]
    assert {"python", "machine", "cpus", "code", "levelbest"} <= set(body)
    text = json.dumps([records(tmp_path / "s.db", kind) for kind in ("study", "environment", "family", "start", "end")])
    assert str(tmp_path) not in text
    for private in (socket.gethostname(), getpass.getuser()):
        assert len(private) < 4 or private not in text
    sessions = records(tmp_path / "s.db", "session")
    assert [s[-1]["process"] for s in sessions] == [os.getpid()] * 2
    assert [s[-1]["reason"] for s in records(tmp_path / "s.db", "stop")] == ["finished"] * 2


def study(tmp_path, **changes) -> Path:
    family = {"command": "echo '{{\"dev\": {x}}}'", "space": {"x": {"uniform": [0, 1]}}, "n_trials": 4}
    given = {"metric": {"selection": "dev", "direction": "max"}, "families": {"f": family | changes.pop("family", {})}}
    path = tmp_path / "s.json"
    path.write_text(json.dumps(given | changes))
    return path


def test_a_changed_family_is_refused_with_the_difference_and_can_be_kept_beside(tmp_path, capsys):
    assert main(["run", str(study(tmp_path)), "--quiet"]) == 0
    before = table(tmp_path / "s.db")
    changed = study(tmp_path, family={"space": {"x": {"uniform": [0, 2]}, "y": 1}, "time_limit": 9})
    capsys.readouterr()
    assert main(["run", str(changed), "--quiet"]) == 1
    said = capsys.readouterr().err
    assert "family f changed after it began (nothing was run)" in said
    assert '- space.x: {"uniform": [0, 1]}' in said
    assert '+ space.x: {"uniform": [0, 2]}' in said
    assert "+ space.y: 1" in said
    assert "- time_limit: null" in said
    assert "--new-family f-2" in said
    assert table(tmp_path / "s.db") == before

    assert main(["run", str(changed), "--quiet", "--new-family", "f-2"]) == 0
    assert "f: 4 of 4 trials; f-2: 4 of 4 trials" in capsys.readouterr().out
    rows = table(tmp_path / "s.db")
    assert rows[:4] == before
    assert [row["config"]["x"] for row in rows[4:]] == [
        Space({"x": {"uniform": [0, 2]}}).draw(0, 1, i)[0]["x"] for i in range(4)
    ]
    # From here on the file's "f" is known as f-2, without being told again.
    changed = study(tmp_path, family={"space": {"x": {"uniform": [0, 2]}, "y": 1}, "time_limit": 9, "n_trials": 5})
    assert main(["run", str(changed), "--quiet"]) == 0
    assert "f-2: 5 of 5 trials" in capsys.readouterr().out
    again = study(tmp_path, family={"space": {"x": {"uniform": [0, 3]}}})
    assert main(["run", str(again), "--quiet"]) == 1
    assert "--new-family f-3 runs this one" in capsys.readouterr().err
    assert verify_ledger(tmp_path / "s.db").whole


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--new-family", "f"], "there is a family f already"),
        (["--new-family", "g=h"], "g has not changed"),
        (["--new-family", "f=f"], "there is a family f already"),
    ],
)
def test_new_family_is_checked(tmp_path, capsys, options, sentence):
    main(["run", str(study(tmp_path)), "--quiet"])
    changed = study(tmp_path, family={"time_limit": 9})
    assert main(["run", str(changed), "--quiet", *options]) == 2
    assert sentence in capsys.readouterr().err


def test_new_family_needs_a_ledger(tmp_path, capsys):
    assert main(["run", str(study(tmp_path)), "--new-family", "g"]) == 2
    assert "there is no s.db yet" in capsys.readouterr().err


def test_order_of_parameters_and_the_whole_study_are_guarded_too(tmp_path, capsys):
    two = {"space": {"x": {"uniform": [0, 1]}, "y": {"uniform": [0, 1]}}}
    main(["run", str(study(tmp_path, family=two)), "--quiet"])
    swapped = {"space": {"y": {"uniform": [0, 1]}, "x": {"uniform": [0, 1]}}}
    assert main(["run", str(study(tmp_path, family=swapped)), "--quiet"]) == 1
    assert "+ space (order): y, x" in capsys.readouterr().err
    assert main(["run", str(study(tmp_path, family=two, seed=1)), "--quiet"]) == 1
    said = capsys.readouterr().err
    assert "- seed: 0" in said
    assert "+ seed: 1" in said
    assert "begin another with --ledger" in said
    assert main(["run", str(study(tmp_path, family=two, seed=1)), "--quiet", "--ledger", str(tmp_path / "t.db")]) == 0


def test_a_program_that_does_not_exist_is_refused_before_anything_runs(tmp_path, capsys):
    assert main(["run", str(study(tmp_path, family={"command": "pyhton3 x.py {x}"}))]) == 2
    assert "family f: there is no program 'pyhton3' to run" in capsys.readouterr().err
    assert not (tmp_path / "s.db").exists()


def test_reports_by_file_and_by_exit_code(tmp_path):
    write = "import json, sys; json.dump({{'dev': float(sys.argv[1])}}, open(sys.argv[2] + '/m.json', 'w'))"
    given = {
        "metric": {"selection": "dev", "direction": "max"},
        "n_trials": 3,
        "space": {"x": {"uniform": [0, 1]}},
        "families": {
            "file": {"command": [sys.executable, "-c", write, "{x}", "{out}"], "report": {"file": "{out}/m.json"}},
            "none": {"command": "true", "report": {"file": "{out}/m.json"}},
            "good": {"command": "true", "report": "exit"},
            "bad": {"command": "false", "report": "exit"},
        },
    }
    run_study(Study.from_dict(given, folder=tmp_path, name="s"), tmp_path / "s.db")
    all_rows = table(tmp_path / "s.db")
    rows = {family: [row for row in all_rows if row["family"] == family] for family in given["families"]}
    assert [row["scores"]["dev"] for row in rows["file"]] == [row["config"]["x"] for row in rows["file"]]
    assert {row["reason"] for row in rows["none"]} == {"wrote no metrics file m.json"}
    assert {row["scores"]["dev"] for row in rows["good"]} == {1.0}
    assert {(row["status"], row["scores"]["dev"]) for row in rows["bad"]} == {("ok", 0.0)}


def test_a_metrics_file_of_an_earlier_run_is_not_taken_for_a_result(tmp_path):
    (tmp_path / "0.json").write_text('{"dev": 0.99}')
    family = {"command": "true", "report": {"file": "{trial}.json"}, "n_trials": 1}
    run_study(read_study(study(tmp_path, family=family)), tmp_path / "s.db")
    (row,) = table(tmp_path / "s.db")
    assert row["reason"] == "left the metrics file 0.json of an earlier run as it was"


def test_variables_reach_the_command(tmp_path):
    script = "import os; print('{\"dev\": %s, \"t\": %s}' % (os.environ['RATE'], os.environ['LEVELBEST_TRIAL']))"
    family = {"command": [sys.executable, "-c", script.replace("{", "{{").replace("}", "}}")], "env": {"RATE": "{x}"}}
    run_study(read_study(study(tmp_path, family=family)), tmp_path / "s.db")
    for row in table(tmp_path / "s.db"):
        assert row["scores"] == {"dev": row["config"]["x"], "t": row["trial"]}


def test_an_allentune_search_runs_as_it_is(tmp_path):
    space = {
        "LR": {"sampling strategy": "loguniform", "bounds": [1e-6, 0.1]},
        "WORDS": {"sampling strategy": "subset", "choices": ["a", "b", "c"]},
        "EPOCHS": 50,
    }
    (tmp_path / "search_space.jsonnet").write_text(json.dumps(space))
    script = (
        "import json, os; config = json.loads(os.environ['LEVELBEST_CONFIG']); "
        "assert os.environ['WORDS'] == ' '.join(config['WORDS']); "
        "print(json.dumps(dict(dev=float(os.environ['LR']), epochs=int(os.environ['EPOCHS']))))"
    )
    family = {"command": [sys.executable, "-c", script], "env": "parameters", "space": "search_space.jsonnet"}
    run_study(read_study(study(tmp_path, family=family)), tmp_path / "s.db")
    for row in table(tmp_path / "s.db"):
        assert row["scores"] == {"dev": row["config"]["LR"], "epochs": 50}


def test_json_prints_one_document(tmp_path, capsys):
    assert main(["run", str(study(tmp_path)), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["families"] == [{"family": "f", "n_planned": 4, "n_trials": 4, "n_failed": 0}]
    assert main(["verify", str(tmp_path / "s.db"), "--json", "--head", document["head"]]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["whole"], found["head"], found["grown"]) == (True, document["head"], 0)
    assert main(["verify", str(tmp_path / "s.db"), "--head", "0" * 64]) == 1
    assert "NOT intact" in capsys.readouterr().out


@pytest.mark.parametrize("how", ["--quiet", "--json"])
def test_a_study_in_which_nothing_succeeded_says_why_and_exits_with_1(tmp_path, capsys, how):
    path = study(tmp_path, family={"command": "echo '{{\"dev_acc\": {x}}}'", "n_trials": 3})
    assert main(["run", str(path), how]) == 1
    out, err = capsys.readouterr()
    assert "no trial succeeded" in err
    (reason,) = {row["reason"].splitlines()[0] for row in table(tmp_path / "s.db")}
    assert "dev" in reason
    if how == "--json":
        assert json.loads(out)["reasons"] == [{"reason": reason, "n_trials": 3, "families": ["f"]}]
    else:
        assert f"failed: 3 trials of f: {reason}" in out.splitlines()


def test_reasons_are_counted_most_frequent_first(tmp_path, capsys):
    command = ["sh", "-c", "case {kind} in a) exit 3;; b) exit 4;; esac; echo '{{\"dev\": 1}}'"]
    family = {"command": command, "space": {"kind": ["a", "c", "b"]}, "n_trials": 20}
    assert main(["run", str(study(tmp_path, family=family)), "--quiet"]) == 0
    out = capsys.readouterr().out
    rows = [row["reason"].splitlines()[0] for row in table(tmp_path / "s.db") if row["status"] != "ok"]
    counts = sorted(((rows.count(one), one) for one in set(rows)), key=lambda pair: -pair[0])
    assert len(counts) == 2
    assert counts[0][0] > counts[1][0]
    assert out.splitlines()[2:] == [f"failed: {count} trials of f: {reason}" for count, reason in counts]


def test_a_second_runner_on_one_ledger_is_refused(tmp_path, capsys):
    path = study(tmp_path, family={"command": "sleep 30"})
    first = subprocess.Popen([sys.executable, "-m", "levelbest", "run", str(path), "--quiet"], stderr=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 30
        while not (tmp_path / "s.db").exists() or not records(tmp_path / "s.db", "start"):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert main(["run", str(path), "--quiet"]) == 1
        assert f"s.db is already being run by process {first.pid}, since" in capsys.readouterr().err
    finally:
        first.send_signal(signal.SIGTERM)
        first.communicate(timeout=30)
    assert first.returncode == 130


def wait_for(condition, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.02)


def test_ctrl_c_lets_running_trials_end_and_twice_ends_them(tmp_path):
    family = {"command": ["sh", "-c", "sleep 1; echo '{{\"dev\": {x}}}'"], "n_trials": 8}
    path = study(tmp_path, family=family)

    def begin() -> subprocess.Popen:
        command = [sys.executable, "-m", "levelbest", "run", str(path), "--workers", "2"]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def started() -> int:
        return len(records(tmp_path / "s.db", "start")) if (tmp_path / "s.db").exists() else 0

    first = begin()
    wait_for(lambda: started() == 2)
    first.send_signal(signal.SIGINT)
    out, err = first.communicate(timeout=30)
    assert first.returncode == 130
    assert "waiting for 2 running trials to end" in err
    assert "f: 2 of 8 trials (stopped; the same command continues)" in out
    assert [row["trial"] for row in table(tmp_path / "s.db")] == [0, 1]

    second = begin()
    wait_for(lambda: started() == 4)
    second.send_signal(signal.SIGINT)
    time.sleep(0.1)
    second.send_signal(signal.SIGINT)
    began = time.monotonic()
    second.communicate(timeout=30)
    assert second.returncode == 130
    assert time.monotonic() - began < 10
    assert len(table(tmp_path / "s.db")) == 2
    assert [end[3] for end in records(tmp_path / "s.db", "end")][2:] == ["interrupted"] * 2
    assert verify_ledger(tmp_path / "s.db").whole

    done = run_study(read_study(path), tmp_path / "s.db", workers=4)
    assert done.families == (("f", 8, 8, 0),)
    assert [r["config"]["x"] for r in table(tmp_path / "s.db")] == [
        Space({"x": {"uniform": [0, 1]}}).draw(0, 0, i)[0]["x"] for i in range(8)
    ]
    assert verify_ledger(tmp_path / "s.db").whole


def test_a_full_disk_is_waited_out(tmp_path, monkeypatch):
    """The ledger is made to answer as on a full disk for a while: nothing is lost, and nothing starts meanwhile."""
    from levelbest.run import session
    from levelbest.run.ledger import CannotWrite, Ledger

    real, failures = Ledger.append, iter([False] * 4 + [True] * 3)

    def append(self, entries):
        if next(failures, False):
            raise CannotWrite(FULL)
        return real(self, entries)

    said = []
    monkeypatch.setattr(Ledger, "append", append)
    monkeypatch.setattr(session.time, "sleep", lambda _: None)
    monkeypatch.setattr(session.Reporter, "say", lambda _, sentence: said.append(sentence))
    assert run(tmp_path, n_trials=6).finished
    assert said == [f"{FULL}; waiting for room, nothing is lost so far"]
    assert verify_ledger(tmp_path / "s.db").families == (("f", 6, 6, 0),)


def test_a_disk_that_stays_full_ends_the_session_and_not_the_study(tmp_path, monkeypatch):
    from levelbest.run import session
    from levelbest.run.ledger import CannotWrite, Ledger

    real, count = Ledger.append, iter(range(10**6))

    def append(self, entries):
        if next(count) > 4:
            raise CannotWrite(FULL)
        return real(self, entries)

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "append", append)
        patch.setattr(session.Session.__init__, "__defaults__", (None, 0.0))
        with pytest.raises(DataError, match="Make room and run the same command again"):
            run(tmp_path, n_trials=6)
    assert verify_ledger(tmp_path / "s.db").whole
    assert run(tmp_path, n_trials=6).families == (("f", 6, 6, 0),)
    assert verify_ledger(tmp_path / "s.db").whole


def test_it_runs_beside_a_thread_and_from_one(tmp_path):
    found = []
    thread = threading.Thread(target=lambda: found.append(run(tmp_path, n_trials=4)))
    thread.start()
    thread.join()
    assert found[0].finished


def test_reading_a_ledger_never_imports_the_studys_code(tmp_path, monkeypatch, capsys):
    (tmp_path / "trap.py").write_text("def objective(config, seed):\n    return {'dev': config['x']}\n")
    monkeypatch.chdir(tmp_path)
    run(tmp_path, "trap:objective", n_trials=12)
    (tmp_path / "trap.py").write_text("raise SystemExit('study code was run')\n")
    assert main(["verify", "s.db"]) == 0
    assert main(["describe", "s.db"]) == 0
    assert main(["checklist", "s.db"]) == 0
    LedgerView(tmp_path / "s.db").close()
    assert "trap" not in sys.modules
    assert "study code was run" not in capsys.readouterr().err


def test_a_live_reader_sees_the_study_grow(tmp_path):
    seen = []

    class Watch(lb.run.session.Reporter):
        def begin(self, ledger, judge):  # noqa: ARG002
            self.view = LedgerView(ledger.path)

        def tick(self, *_):
            self.view.refresh()
            seen.append(self.view.family("f").counts.n_trials)

        def end(self):
            self.view.close()

    given = {"families": {"f": {"function": objectives.quick, "space": SPACE, "n_trials": 30}}}
    run_study(Study.from_dict(given, folder=tmp_path, name="s", metric={}), tmp_path / "s.db", reporter=Watch())
    assert seen == sorted(seen)
    assert seen[-1] == 30
    assert len(set(seen)) > 5


def test_progress_speaks_in_lines_and_bars(tmp_path, capsys):
    from levelbest.run.progress import best_so_far, reporter_for, time_left

    assert time_left(10, 5, 10) == "about 20 s left"
    assert time_left(60, 1, 120) == "about 2.0 h left"
    assert time_left(60, 0, 120) == ""
    run(tmp_path, n_trials=3, progress=None)  # no terminal here: lines
    assert "levelbest: 3 of 3 trials" in capsys.readouterr().err
    run(tmp_path, n_trials=5, progress=True)
    shown = capsys.readouterr().err
    assert "5/5" in shown
    assert "best dev" in shown
    view = LedgerView(tmp_path / "s.db")
    best = max(row["scores"]["dev"] for row in table(tmp_path / "s.db"))
    judge = Study.from_dict({"families": {"f": {"command": "a", "n_trials": 1}}}, folder=tmp_path, name="s",
                            metric={"selection": "dev", "direction": "max"}).judge  # fmt: skip
    assert best_so_far(view.family("f"), judge) == f"best dev {best:.4g}"
    view.close()
    with pytest.raises(InputError, match="unknown progress mode"):
        reporter_for("loud")
