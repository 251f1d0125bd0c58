"""Options of single readers, from Python and from the command line."""

import json
from pathlib import Path

import numpy as np
import pytest

import levelbest as lb
from levelbest.cli.main import main
from levelbest.errors import InputError
from levelbest.readers.registry import options_of, readers

ARTEFACTS = Path(__file__).parent / "artefacts"


def test_a_slip_of_the_pen_is_an_error(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("model,val_acc\ncnn,0.5\n")
    with pytest.raises(InputError, match=r"unknown option 'selecton' for table; did you mean 'selection'"):
        lb.read_trials(path, selecton="val_acc")
    with pytest.raises(InputError, match="unknown option 'study' for dataframe"):
        lb.read_trials({"model": ["a"], "val_acc": [0.5]}, study="cnn")
    with pytest.raises(InputError, match=r"unknown option 'studdy' for optuna; did you mean 'study'"):
        lb.read_trials(ARTEFACTS / "optuna" / "study.db", studdy="cnn")


def test_an_option_goes_to_the_readers_that_know_it(tmp_path):
    path = tmp_path / "more.csv"
    path.write_text("study,value,state\nmore,0.5,ok\n")
    trials = lb.read_trials([ARTEFACTS / "optuna" / "study.db", path], study="cnn", family="study", selection="value")
    assert trials.families == ("cnn", "more")


def test_options_are_listed():
    listed = {reader.name: set(options_of(reader)) for reader in readers()}
    assert listed["optuna"] == {"study"}
    assert listed["mlflow"] == {"experiment", "history"}
    assert listed["hydra"] == {"metrics"}
    assert listed["table"] == {"rows"}


def described(capsys, *arguments):
    status = main(["describe", *map(str, arguments), "--json"])
    told = capsys.readouterr()
    return json.loads(told.out) if status == 0 else (status, told.err)


def test_command_line(capsys):
    store = ARTEFACTS / "optuna" / "study.db"
    found = described(capsys, store, "--reader-option", "study=grid")
    assert [one["family"] for one in found["families"]] == ["grid"]
    found = described(capsys, ARTEFACTS / "hydra", "--reader-option", "metrics=steps.jsonl")
    assert found["families"][0]["max"] == pytest.approx(0.54)
    found = described(capsys, ARTEFACTS / "mlflow" / "mlflow.db", "--reader-option", "history=yes")
    # The best of three epochs, and not the last: make_mlflow.py logs 0.48, 0.50, 0.48 for its first run.
    assert found["families"][0]["min"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("study", "is not KEY=VALUE"),
        ("studdy=grid", "did you mean 'study'"),
        ("study=grids", "did you mean 'grid'"),
    ],
)
def test_command_line_mistakes(capsys, given, message):
    status, told = described(capsys, ARTEFACTS / "optuna" / "study.db", "--reader-option", given)
    assert status == 2
    assert message in told


def test_truth_values(capsys):
    status, told = described(capsys, ARTEFACTS / "mlflow" / "mlflow.db", "--reader-option", "history=maybe")
    assert status == 2
    assert "history is true or false, got 'maybe'" in told


def test_columns_of_several_names_are_joined_and_what_cannot_be_is_listed(tmp_path, capsys):
    """200 results of people who call one score by three names, and of one who has another: vit is better by 5 sd."""
    rng = np.random.default_rng(7)
    people = (("alice", "accuracy"), ("bob", "test_acc"), ("carol", "acc"), ("dave", "f1"))
    for person, metric in people:
        for model, level in (("cnn", 0.8), ("vit", 0.9)):
            folder = tmp_path / "runs" / person / model
            folder.mkdir(parents=True)
            for i in range(25):
                run = {"seed": i, metric: round(float(rng.normal(level, 0.02)), 4)}
                (folder / f"r{i}.json").write_text(json.dumps(run))
    command = ["compare", str(tmp_path / "runs"), "--map", "acc=accuracy,test_acc", "--family", "folder 2"]
    assert main([*command, "--resamples", "199"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "vit, better than cnn by" in out
    trials = lb.read_trials(tmp_path / "runs", map={"acc": ["accuracy", "test_acc"]}, family="folder 2")
    assert len(trials) == 150
    assert len(trials.skipped) == 50
    assert trials.skipped[0].why == "it has none of acc, accuracy, test_acc"
    with pytest.raises(InputError, match="no column is called top1 or top5"):
        lb.read_trials(tmp_path / "runs", map="top1=top5", family="folder 2")
    with pytest.raises(InputError, match="such as 'acc=accuracy,test_acc', got 'acc'"):
        lb.read_trials(tmp_path / "runs", map="acc", family="folder 2")
    with pytest.raises(InputError, match="have different values"):
        lb.read_trials({"model": ["a", "b"], "acc": [0.1, 0.2], "accuracy": [0.1, 0.3]}, map="acc=accuracy")
