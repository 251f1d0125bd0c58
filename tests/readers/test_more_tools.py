"""Keras Tuner, SMAC3, AMLTK, EvalPlus, Ray Tune's dataframe and Syne Tune: read against the files themselves."""

import csv
import json
import re
import shutil
import sys
import zipfile
from pathlib import Path

import pytest

import levelbest as lb

sys.path.insert(0, str(Path(__file__).parent))
import makers

HERE = Path(__file__).parent / "artefacts"


def test_keras_tuner(tmp_path):
    path = shutil.copytree(HERE / "keras_tuner", tmp_path / "keras_tuner") / "accuracy"
    begun = json.loads((path / "oracle.json").read_text())["start_order"]
    states = [json.loads((path / f"trial_{trial}" / "trial.json").read_text()) for trial in begun]
    trials = lb.read_trials(path)
    assert (trials.families, trials.metric.direction) == (("accuracy",), "max")
    assert (trials.n_trials, trials.n_failed) == (len(states), sum(state["status"] != "COMPLETED" for state in states))
    assert trials.n_failed >= 1
    assert trials.selection[trials.status == 0].tolist() == [s["score"] for s in states if s["score"] is not None]
    assert set(trials.configuration) == {"hyperparameters.lr", "hyperparameters.units"}
    assert "adaptive-sampler" not in {caution.code for caution in trials.cautions}
    (path / "trial_02" / "trial.json").write_text("{")
    assert any("trial_02/trial.json" in lost.where for lost in lb.read_trials(path).skipped)


def test_keras_tuner_projects_are_families_and_their_directions_differ():
    trials = lb.read_trials(HERE / "keras_tuner", where="project = 'loss'")
    assert (trials.families, trials.metric.direction) == (("loss",), "min")  # the mean of two executions each
    assert "adaptive-sampler" in {caution.code for caution in trials.cautions}
    with pytest.raises(lb.LevelbestError, match=r"different directions: accuracy \(max\), loss \(min\)"):
        lb.read_trials(HERE / "keras_tuner")


@pytest.mark.parametrize("version", ["2.2", "2.0", "1", "dict"])
def test_smac(tmp_path, version):
    path = makers.smac(tmp_path)
    file = path / "runhistory.json"
    history = json.loads(file.read_text())
    names = ("config_id", "instance", "seed", "budget", "cost", "time", "cpu_time", "status", "starttime", "endtime")
    if version == "2.0":
        history["data"] = [run[:6] + run[7:] for run in history["data"]]
    elif version == "dict":
        history["data"] = [dict(zip(names, run, strict=False)) for run in history["data"]]
    elif version == "1":
        words = {1: "StatusType.SUCCESS", 2: "StatusType.CRASHED"}
        history["data"] = [
            [run[:4], [run[4], run[5], {"__enum__": words[run[7]]}, run[8], run[9], {}]] for run in history["data"]
        ]
    file.write_text(json.dumps(history))
    for source in (path, file):
        trials = lb.read_trials(source)
        assert (trials.families, trials.metric.direction) == (("smac_run",), "min")
        assert [lb.trials.STATUSES[code] for code in trials.status] == ["ok", "failed", "ok", "ok"]
        assert trials.selection[trials.status == 0].tolist() == [0.25, 0.125, 0.5]
        assert trials.cost.tolist() == [1.5, 0.2, 2.0, 1.0]
        assert set(trials.configuration) == {"config.C", "config.kernel"}
        assert "adaptive-sampler" in {caution.code for caution in trials.cautions}


def test_evalplus():
    """EvalPlus itself printed pass@1 of .800 on its basic tests and of .400 on all of them."""
    path = HERE / "evalplus/some-model_eval_results.json"
    trials = lb.read_trials(path)
    assert (trials.families, trials.metric.direction, trials.metric.bounds) == (("some-model",), "max", (0, 1))
    assert (len(trials), len(trials.groups)) == (15, 3)
    assert trials.selection.mean() == 0.4
    assert lb.read_trials(path, selection="passed").selection.mean() == 0.8


def test_bigcodebench():
    """BigCodeBench itself printed pass@1 of .750; a time-out is no pass."""
    (path,) = HERE.glob("bigcodebench/*_eval_results.json")
    trials = lb.read_trials(path)
    assert trials.families == ("some-model--bigcodebench-complete",)
    assert (len(trials), len(trials.groups), trials.selection.mean()) == (8, 2, 0.75)


@pytest.mark.parametrize("given", ["file", "frame"])
def test_ray_table(given):
    """Ray's own table lacks a trial that failed at once, and shows one that failed later like any other."""
    path = HERE / "ray_tune/table.csv"
    with path.open() as file:
        rows = list(csv.DictReader(file))
    source = path if given == "file" else pytest.importorskip("pandas").read_csv(path)
    trials = lb.read_trials(source, selection="val_acc")
    assert trials.selection.tolist() == [float(row["val_acc"]) for row in rows] == [0.52, 0.54, 0.54]
    assert trials.cost.tolist() == [float(row["time_total_s"]) for row in rows]
    assert set(trials.configuration) == {"config/lr", "config/opt", "config/net/width"}
    assert ("failures", "not-written") in {(caution.code, caution.kind) for caution in trials.cautions}


def test_smac_by_itself():
    """Each seed of a scenario is a search, with the numbers of SMAC's own files."""
    trials = lb.read_trials(HERE / "smac")
    runs = [
        run for seed in (1, 2) for run in json.loads((HERE / f"smac/svm/{seed}/runhistory.json").read_text())["data"]
    ]
    assert (trials.families, trials.metric.direction, len(trials)) == (("svm",), "min", len(runs))
    assert trials.selection[trials.status == 0].tolist() == [run["cost"] for run in runs if run["status"] == 1]
    assert trials.n_failed == sum(run["status"] == 2 for run in runs) > 0
    assert trials.search.tolist() == [0] * 8 + [1] * 8
    alone = lb.read_trials(HERE / "smac/svm/1/runhistory.json")
    assert (alone.families, alone.search, len(alone)) == (("svm",), None, 8)


def test_amltk():
    rows = list(csv.DictReader((HERE / "amltk/one_metric.csv").read_text().splitlines()))
    trials = lb.read_trials(HERE / "amltk/one_metric.csv")
    scores = [float(row["metric:accuracy [0.0, 1.0] (maximize)"] or "nan") for row in rows]
    assert trials.selection.tolist() == pytest.approx(scores, nan_ok=True)
    assert (trials.metric.direction, trials.metric.bounds, trials.n_failed) == ("max", (0, 1), 1)
    assert trials.cost.tolist() == [float(row["profile:fit:time:duration"]) for row in rows]
    assert set(trials.configuration) == {"config:lr", "config:opt"}
    assert "bucket" not in str(trials.columns)
    loss = lb.read_trials(HERE / "amltk/two_metrics.csv", selection="loss")
    assert (loss.columns["selection"], loss.metric.direction) == ("metric:loss", "min")
    with pytest.raises(lb.LevelbestError, match=r"'metric:accuracy', 'metric:loss'"):
        lb.read_trials(HERE / "amltk/two_metrics.csv")


def syne_rows(path):
    with zipfile.ZipFile(path) as packed:
        return list(csv.DictReader(packed.read(packed.namelist()[0]).decode().splitlines()))


def test_syne_tune():
    """The best report of each trial, from the folder, the experiment or its table."""
    (table,) = HERE.glob("syne_tune/*/results.csv.zip")
    rows = syne_rows(table)
    by_trial = {
        row["trial_id"]: [float(r["val_loss"]) for r in rows if r["trial_id"] == row["trial_id"]] for row in rows
    }
    for path in (HERE / "syne_tune", table.parent, table):
        trials = lb.read_trials(path)
        assert (trials.families, trials.metric.direction) == (("mlp",), "min")
        assert trials.selection.tolist() == [min(losses) for losses in by_trial.values()]
        assert set(trials.configuration) == {"config_lr", "config_layers"}
        assert "adaptive-sampler" not in {caution.code for caution in trials.cautions}
        assert not trials.skipped


def test_syne_tune_experiments_of_one_name_are_searches(tmp_path):
    (home,) = HERE.glob("syne_tune/mlp-*")
    for place in range(3):
        shutil.copytree(home, tmp_path / f"mlp-2026-01-0{place + 1}-10-00-00-123")
    trials = lb.read_trials(tmp_path)
    assert trials.families == ("mlp",)
    assert trials.search.tolist() == [place for place in range(3) for _ in range(len(trials) // 3)]
    (tmp_path / "mlp-2026-01-02-10-00-00-123" / "results.csv.zip").write_bytes(b"PK broken")
    assert [lost.where for lost in lb.read_trials(tmp_path).skipped] == ["mlp-2026-01-02-10-00-00-123/results.csv.zip"]


def test_artefacts_name_no_folder_of_the_machine_that_made_them():
    artefacts = Path(__file__).parent / "artefacts"
    told = [file for file in artefacts.rglob("*.json") if re.search(r'File \\+"/', file.read_text())]
    assert told == []
