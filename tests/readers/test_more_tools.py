"""Keras Tuner, SMAC3, EvalPlus, Ray Tune's dataframe and Syne Tune: read against the files themselves."""

import csv
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import levelbest as lb

sys.path.insert(0, str(Path(__file__).parent))
import makers


def test_keras_tuner(tmp_path):
    path = makers.keras_tuner(tmp_path)
    states = [json.loads(file.read_text()) for file in sorted(path.rglob("trial.json"))]
    trials = lb.read_trials(path)
    assert trials.metric.direction == "max"
    assert (trials.n_trials, trials.n_failed) == (6, 1)
    assert trials.selection[trials.status == 0].tolist() == [s["score"] for s in states if s["score"] is not None]
    assert set(trials.configuration) == {"hyperparameters.lr", "hyperparameters.units"}
    (path / "trial_0002" / "trial.json").write_text("{")
    assert any("trial_0002/trial.json" in lost.where for lost in lb.read_trials(path).skipped)


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


def test_evalplus(tmp_path):
    path = makers.evalplus(tmp_path)
    samples = json.loads(path.read_text())["eval"]
    trials = lb.read_trials(path)
    assert trials.families == ("some-model",)
    passed = [s["base_status"] == s["plus_status"] == "pass" for task in samples.values() for s in task]
    assert trials.selection.tolist() == [float(x) for x in passed]
    assert (len(trials.groups), trials.metric.direction, trials.metric.bounds) == (8, "max", (0, 1))
    base = lb.read_trials(path, selection="passed")
    assert base.selection.sum() == sum(s["base_status"] == "pass" for task in samples.values() for s in task)


@pytest.mark.parametrize("given", ["file", "frame"])
def test_ray_table(tmp_path, given):
    path = makers.ray_table(tmp_path)
    rows = list(csv.DictReader(path.read_text().splitlines()))
    source = path if given == "file" else pytest.importorskip("pandas").read_csv(path)
    trials = lb.read_trials(source)
    assert trials.selection.tolist() == [float(row["val_acc"]) for row in rows]
    assert trials.cost.tolist() == [float(row["time_total_s"]) for row in rows]
    assert set(trials.configuration) == {"config/lr", "config/layers"}


def test_syne_tune(tmp_path):
    path = makers.syne_tune(tmp_path)
    trials = lb.read_trials(path)
    assert (trials.families, trials.metric.direction, trials.n_trials) == (("search-2026",), "min", 5)
    assert trials.cost.tolist() == [8.0] * 5  # the clock of a worker at its last report
    assert trials.configuration["config_lr"].tolist() == pytest.approx(0.01 * np.arange(1, 6))
    assert "adaptive-sampler" not in {caution.code for caution in trials.cautions}
