"""What a ledger recorded reaches the checklist and the report: nothing has to be typed again."""

import json
import sys
from pathlib import Path

import pytest

from levelbest.cli.main import main
from levelbest.run.ledger import Ledger
from levelbest.run.runner import run_study
from levelbest.run.study import Study

sys.path.insert(0, str(Path(__file__).parent))
from ledgers import ended, opening, started

SCRIPT = "import sys, json; x = float(sys.argv[1]); print(json.dumps(dict(val_loss=x, test_loss=x + .1)))"
SPACE = {
    "x": {"loguniform": [0.001, 1]},
    "kind": {"choice": ["a", "b"], "weights": [1, 3]},
    "width": {"integer": [2, 9], "when": {"kind": "b"}},
    "secret": {"normal": [5, 2]},
    "fixed": 3,
}


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    given = {
        "seed": 7,
        "metric": {"selection": "val_loss", "reported": "test_loss", "direction": "min", "bounds": [0, None]},
        "families": {"f": {"command": [sys.executable, "-c", SCRIPT, "{x}"], "space": SPACE, "n_trials": 12}},
    }
    done = run_study(Study.from_dict(given, folder=folder, name="s"), folder / "s.db", workers=2)
    return folder / "s.db", done.head


def _items(capsys, *arguments):
    assert main(["checklist", *map(str, arguments), "--json"]) == 0
    return {one["key"]: one for one in json.loads(capsys.readouterr().out)["items"]}


def test_the_checklist_is_filled_from_the_ledger(ledger, capsys):
    items = _items(capsys, ledger[0])
    for key in ("infrastructure", "packages", "bounds", "sampling", "seeds"):
        assert items[key]["source"] == "ledger", key
    assert "CPUs" in items["infrastructure"]["answer"]
    assert items["packages"]["answer"].startswith(f"Python {sys.version.split()[0]}, ")
    assert "numpy " in items["packages"]["answer"]
    assert items["bounds"]["answer"] == (
        "f: x: log-uniform from 0.001 to 1, kind: one of a, b with weights 1, 3, "
        "width: whole numbers from 2 to 9 where kind is b, secret: normal with mean 5 and sd 2, fixed: 3"
    )
    assert items["sampling"]["answer"].endswith("seed 7 before any result; selected by val_loss")
    assert items["trials"]["answer"] == "f: 12 trials"
    for key in ("splits", "code", "parameters"):  # what no ledger knows stays a question
        assert items[key]["answer"] is None


def test_an_answers_file_has_the_last_word(ledger, capsys, tmp_path):
    (tmp_path / "answers.yaml").write_text("infrastructure: a cluster of 8 nodes\n")
    found = _items(capsys, ledger[0], "--answers", tmp_path / "answers.yaml")["infrastructure"]
    assert (found["answer"], found["source"]) == ("a cluster of 8 nodes", "answers")


def test_the_report_prints_the_head_and_hides_what_is_hidden(ledger, capsys, tmp_path):
    path, head = ledger
    page = tmp_path / "report.html"
    assert main(["report", str(path), "--hide", "config.secret", "--out", str(page)]) == 0
    said = capsys.readouterr()
    assert head in page.read_text(encoding="utf-8")
    assert head in said.out.replace("\n", "")
    assert "guessed" not in said.out + said.err  # the study says the direction: nothing was guessed
    everything = "".join(one.read_text(encoding="utf-8", errors="replace") for one in tmp_path.rglob("*.*"))
    assert "secret" not in everything


@pytest.mark.parametrize("finished", [17, 30])
def test_a_plan_that_is_not_finished_is_said(tmp_path, capsys, finished):
    ledger = Ledger.create(tmp_path / "s.db", opening(30, ("cnn", "lr")))
    for trial in range(finished):
        for family in (0, 1):
            ledger.append([started(trial, family)])
            ledger.append([ended(trial, family)])
    ledger.close()
    for command, options in (("curve", []), ("compare", ["--resamples", "200"])):
        main([command, str(tmp_path / "s.db"), "--json", *options])
        said = [one for one in json.loads(capsys.readouterr().out)["warnings"] if one["code"] == "fixed-sample"]
        assert [one["family"] for one in said] == ([] if finished == 30 else ["cnn", "lr"]), command
        assert all("13 of 30 planned trials have not run" in one["message"] for one in said)
    main(["compare", str(tmp_path / "s.db"), "--json", "--while-running", "--missing-reported", "selection"])
    warnings = json.loads(capsys.readouterr().out)["warnings"]
    assert "fixed-sample" not in [one["code"] for one in warnings]


def test_describe_says_why_trials_failed(tmp_path, capsys):
    ledger = Ledger.create(tmp_path / "s.db", opening(12, ("cnn", "lr")))
    for trial in range(12):
        for family in (0, 1):
            status = "diverged" if trial == 5 else "failed" if family and trial % 4 == 0 else "ok"
            ledger.append([started(trial, family)])
            ledger.append([ended(trial, family, status=status)])
    ledger.close()
    assert main(["describe", str(tmp_path / "s.db")]) == 0
    said = [line for line in capsys.readouterr().out.splitlines() if line.startswith("failed:")]
    assert said == ["failed: 3 trials of lr: made to be failed", "failed: 2 trials of cnn, lr: made to be diverged"]
    assert main(["describe", str(tmp_path / "s.db"), "--json"]) == 0
    reasons = json.loads(capsys.readouterr().out)["reasons"]
    assert reasons[0] == {"reason": "made to be failed", "n_trials": 3, "families": ["lr"]}
