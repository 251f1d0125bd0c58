"""Ray Tune folders, against the table that Ray itself made of the same experiment."""

import json
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest

from levelbest.errors import DataError, InputError
from levelbest.readers.formats.ray_tune import READERS

(READER,) = READERS

ARTEFACTS = Path(__file__).parent / "artefacts"
EXPERIMENT = ARTEFACTS / "ray_tune" / "cnn"
CONFIGURATIONS = [(0.01, "adam", 3), (0.02, "sgd", 5), (0.99, "sgd", 7), (0.04, "adam", 9)]  # make_ray_tune.py


def per_trial(table):
    names = list(dict.fromkeys(table.columns["trial"]))
    return {name: np.flatnonzero(table.columns["trial"] == name) for name in names}


def check(table, expected):
    assert table.roles == {
        "family": "experiment",
        "trial": "trial",
        "status": "status",
        "order": "order",
        "cost": "trial_time_s",
        "selection": "val_acc",
    }
    trials = per_trial(table)
    assert len(trials) == 4  # Ray's own table drops the one that failed before its first report
    assert set(table.configuration) == {"config.lr", "config.opt", "config.net.width"}
    found = {}
    for place, (name, rows) in enumerate(trials.items()):
        settings = tuple(table.columns[f"config.{key}"][rows[0]] for key in ("lr", "opt", "net.width"))
        assert settings == CONFIGURATIONS[place]
        assert set(table.columns["order"][rows]) == {place}
        assert set(table.columns["status"][rows]) == {"failed" if place > 1 else "ok"}
        scores = np.ma.filled(table.columns["val_acc"][rows], np.nan)
        if not np.isnan(scores).all():
            best = rows[np.nanargmax(scores)]
            trial_id = "_".join(name.split("_")[1:3])
            found[trial_id] = (table.columns["val_acc"][best], table.columns["test.acc"][best])
            # The cost of a trial is all it used, whichever of its rows is chosen.
            assert set(table.columns["trial_time_s"][rows]) == {table.columns["time_total_s"][rows].max()}
    assert found == {
        one["trial_id"]: (pytest.approx(one["val_acc"]), pytest.approx(one["test/acc"])) for one in expected
    }
    assert not {"hostname", "node_ip", "pid"} & set(table.columns)


@pytest.fixture
def experiment(tmp_path):
    return Path(shutil.copytree(EXPERIMENT, tmp_path / "cnn"))


def test_folder_agrees_with_ray():
    assert READER.recognises(EXPERIMENT)
    (table,) = READER.read(EXPERIMENT)
    assert table.source == "cnn"
    check(table, json.loads((EXPERIMENT.parent / "expected.json").read_text()))
    assert table.skipped == []


def test_packed_folder_is_the_same(tmp_path):
    path = tmp_path / "results.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(EXPERIMENT, arcname="./cnn")
    assert READER.recognises(path)
    (packed,), (plain,) = READER.read(path), READER.read(EXPERIMENT)
    assert {k: v.tolist() for k, v in packed.columns.items()}.__repr__() == {
        k: v.tolist() for k, v in plain.columns.items()
    }.__repr__()
    assert (packed.roles, packed.facts) == (plain.roles, plain.facts)
    cut = tmp_path / "cut.tar.gz"
    cut.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(DataError, match="not a readable archive"):
        READER.read(cut)


def test_an_archive_is_not_read_past_its_measure(tmp_path, monkeypatch):
    path = tmp_path / "results.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(EXPERIMENT, arcname="cnn")
    monkeypatch.setenv("LEVELBEST_MAX_EXPANDED", "2000")
    with pytest.raises(DataError, match="unpack it yourself and name the folder"):
        READER.read(path)


def test_progress_csv_serves_where_result_json_is_missing(experiment):
    (before,) = READER.read(experiment)
    for trial in experiment.iterdir():
        if (trial / "progress.csv").exists():
            (trial / "result.json").unlink()
    (after,) = READER.read(experiment)
    for column in ("val_acc", "test.acc", "training_iteration", "trial_time_s", "config.lr"):
        np.testing.assert_array_equal(after.columns[column], before.columns[column])


def test_states_of_an_experiment_that_is_not_over(experiment):
    (state,) = experiment.glob("experiment_state*")
    content = json.loads(state.read_text())
    for entry, status in zip(content["trial_data"], ["RUNNING", "PENDING", "ERROR", "ERROR"], strict=True):
        trial = json.loads(entry[0])
        trial["status"] = status
        entry[0] = json.dumps(trial)
        if status == "PENDING":
            shutil.rmtree(experiment / trial["relative_logdir"])
            folder = experiment / trial["relative_logdir"]
            folder.mkdir()
            (folder / "params.json").write_text("{}")
    state.write_text(json.dumps(content))
    (table,) = READER.read(experiment)
    assert sorted(set(table.columns["status"])) == ["failed", "running"]
    assert [one.why for one in table.skipped] == ["planned, never started"]


def test_two_experiments_are_two_families(experiment):
    shutil.copytree(experiment, experiment.with_name("lstm"))
    tables = READER.read(experiment.parent)
    assert [table.source for table in tables] == ["cnn", "lstm"]
    assert set(tables[1].columns["experiment"]) == {"lstm"}


def test_broken_lines_are_listed(experiment):
    (first, *_) = sorted(experiment.glob("*/result.json"))
    first.write_text(first.read_text() + '{"val_acc": 0.9, "trunc')
    (experiment / "experiment_state-9999.json").write_text("{}")
    (table,) = READER.read(experiment)
    assert any("line 4" in one.where and "not JSON" in one.why for one in table.skipped)
    assert any("experiment_state-9999" in one.where for one in table.skipped)
    # Without the state file, error.txt still tells the failures.
    assert set(zip(table.columns["trial"], table.columns["status"], strict=True)) == set(
        zip(*(READER.read(EXPERIMENT)[0].columns[k] for k in ("trial", "status")), strict=True)
    )


def test_what_is_no_experiment(tmp_path):
    assert not READER.recognises(tmp_path)
    with pytest.raises(DataError, match="holds no Ray Tune trials"):
        READER.read(tmp_path)
    with pytest.raises(InputError, match="no file or folder"):
        READER.read(tmp_path / "absent")
    (tmp_path / "x.tar.gz").write_bytes(b"nothing")
    assert not READER.recognises(tmp_path / "x.tar.gz")


@pytest.mark.long
def test_fresh_experiment(tmp_path):
    pytest.importorskip("ray")
    script = ARTEFACTS / "make_ray_tune.py"
    subprocess.run([sys.executable, str(script), str(tmp_path / "out")], check=True, cwd=tmp_path, capture_output=True)
    (table,) = READER.read(tmp_path / "out" / "cnn")
    check(table, json.loads((tmp_path / "out" / "expected.json").read_text()))
    assert table.facts["sampler:cnn"] == "BasicVariantGenerator"
