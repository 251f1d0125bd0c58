"""Runs, rows and letters that would be lost in silence: each is listed or kept."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

try:
    from compression import zstd
except ImportError:  # before Python 3.14
    from backports import zstd

import levelbest as lb
from levelbest.errors import LevelbestError
from levelbest.readers.registry import reader_for

HERE = Path(__file__).parent / "artefacts"


def hydra_jobs(folder):
    for job in range(4):
        inner = folder / str(job) / ".hydra"
        inner.mkdir(parents=True)
        (inner / "config.yaml").write_text(f"lr: 0.{job + 1}\n")
        (inner / "overrides.yaml").write_text("[]\n")
        (inner.parent / "metrics.json").write_text(json.dumps({"val_acc": 0.5 + job / 10}))
    return folder, folder / "2" / ".hydra" / "config.yaml", "2"


def mlflow_runs(folder):
    shutil.unpack_archive(HERE / "mlflow" / "mlruns.tar.gz", folder)
    runs = sorted(path for path in folder.rglob("meta.yaml") if (path.parent / "metrics").is_dir())
    return folder, runs[0], str(runs[0].parent.relative_to(folder))


def wandb_runs(folder):
    shutil.copytree(HERE / "wandb" / "wandb", folder)
    runs = sorted(path for path in folder.rglob("*.wandb") if path.parent.name.startswith(("run-", "offline-run-")))
    (runs[0].parent / "logs.txt").write_text("x")
    return folder, runs[0], str(runs[0].parent.relative_to(folder))


def allentune_runs(folder):
    for run in range(4):
        inner = folder / f"run_{run}_x" / "trial"
        inner.mkdir(parents=True)
        (inner / "config.json").write_text(json.dumps({"lr": run}))
        (inner / "metrics.json").write_text(
            json.dumps({"best_validation_accuracy": 0.5, "training_duration": "0:00:10"})
        )
    return folder, folder / "run_2_x" / "trial" / "config.json", "run_2_x/trial"


@pytest.mark.parametrize("make", [hydra_jobs, mlflow_runs, wandb_runs, allentune_runs])
@pytest.mark.parametrize("gone", ["missing", "a folder"])
def test_a_run_without_its_description_is_listed(tmp_path, make, gone):
    folder, described, run = make(tmp_path / "runs")
    described.unlink()
    if gone == "a folder":
        described.mkdir()
    skipped = [lost for table in reader_for(folder).read(folder) for lost in table.skipped]
    assert [lost.why for lost in skipped if lost.where == run and "without its" in lost.why], skipped


POOLING = {"attention": 0.8, "mean": 0.7, "max": 0.6}


@pytest.mark.parametrize("rows", [3, 6, 12])
def test_families_that_are_called_like_summaries_are_families(tmp_path, rows):
    path = tmp_path / "pooling.csv"
    names = [name for name in POOLING for _ in range(rows // 3)]
    lines = [f"{name},{POOLING[name] + place / 1000}" for place, name in enumerate(names)]
    path.write_text("\n".join(["model,val_acc", *lines]) + "\n")
    trials = lb.read_trials(path, family="model")
    assert trials.families == tuple(POOLING)
    assert (trials.n_trials, trials.skipped) == (rows, ())


def test_summaries_are_still_left_out(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("model,val_acc\na,.5\nb,.7\nc,.9\nMean,.7\nStd. dev,.2\nMax,.9\n")
    trials = lb.read_trials(path, family="model")
    assert trials.families == ("a", "b", "c")
    assert len(trials.skipped) == 3


def test_a_flipped_bit_in_a_compressed_table_is_one_line(tmp_path):
    data = zstd.compress("\n".join(["val_acc", *(f"{i / 977}" for i in range(900))]).encode())
    refused = []
    for place in range(0, len(data), max(1, len(data) // 60)):
        path = tmp_path / "runs.csv.zst"
        path.write_bytes(data[:place] + bytes([data[place] ^ 16]) + data[place + 1 :])
        try:
            lb.read_trials(path)
        except LevelbestError as error:
            refused.append(str(error))
    assert len(refused) > 10
    assert not [message for message in refused if "\n" in message]


def test_a_number_beyond_all_numbers_in_a_journal_is_listed(tmp_path):
    text = (HERE / "optuna" / "study.journal").read_text().splitlines()
    odd = json.dumps({"op_code": 7, "worker_id": "x", "trial_id": 0, "step": 1, "intermediate_value": 2}).replace(
        '"step": 1', '"step": 1e999'
    )
    path = tmp_path / "study.journal"
    path.write_text("\n".join([*text, odd.replace('"trial_id": 0', '"trial_id": 1e999'), odd]) + "\n")
    trials = lb.read_trials(path, study="cnn")
    assert any("no operation of an Optuna journal" in lost.why for lost in trials.skipped)


FORMULAS = ["=1+1", "+1", "-x", "@SUM(A1)", "'=1", "''-1", "plain", "'quoted'"]


def test_formulas_are_guarded_and_read_back(tmp_path):
    settings = {"=cmd": np.array(FORMULAS, dtype=object), "opt": np.array(FORMULAS[::-1], dtype=object)}
    trials = lb.Trials.from_arrays(np.arange(8.0), direction="max", family=FORMULAS, configuration=settings)
    path = lb.write_trials(trials, tmp_path / "trials.csv")
    cells = [cell.strip('"') for line in path.read_text().splitlines() for cell in line.split(",")]
    assert not [
        cell for cell in cells if cell[:1] in "=+-@" and cell and not cell.lstrip("-").replace(".", "").isdigit()
    ]
    back = lb.read_trials(path)
    assert back.families == tuple(FORMULAS)
    assert back.configuration["config.=cmd"].tolist() == FORMULAS
    again = lb.write_trials(back, tmp_path / "again.csv")
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_names_that_a_terminal_cannot_show_are_spelled_out(tmp_path, encoding):
    path = tmp_path / "runs.jsonl"
    rows = [{"model": name, "val_acc": 0.5 + i / 10} for i in range(3) for name in ("\ud800x", "模型")]
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    env = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    for arguments in (["describe", str(path)], ["convert", str(path)], ["convert", str(path), "--out", "x.csv"]):
        command = [sys.executable, "-m", "levelbest", *arguments, "--family", "model"]
        run = subprocess.run(command, capture_output=True, env=env, cwd=tmp_path, check=False)
        assert run.returncode == 0, run.stderr[-300:]
        assert b"Traceback" not in run.stderr


def nested(depth=150):
    value = 1
    for _ in range(depth):
        value = {"a": value}
    return value


def deep_allentune(folder):
    run = {"training_duration": "0:00:10", "best_validation_accuracy": 0.5}
    lines = [run, {**run, "model": nested()}, run]
    (folder / "results.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder / "results.jsonl"


def deep_optuna(folder):
    lines = (HERE / "optuna" / "study.journal").read_text().splitlines()
    place = next(place for place, line in enumerate(lines) if json.loads(line)["op_code"] == 8)
    lines[place] = json.dumps({**json.loads(lines[place]), "user_attr": {"deep": nested()}})
    (folder / "study.journal").write_text("\n".join(lines) + "\n")
    return folder / "study.journal"


def deep_inspect(folder):
    log = json.loads((HERE / "inspect" / "model.json").read_text())
    log["eval"]["task_args"] = nested()
    (folder / "model.json").write_text(json.dumps(log))
    return folder / "model.json"


@pytest.mark.parametrize("make", [deep_allentune, deep_optuna, deep_inspect])
def test_a_value_that_nests_without_end_is_listed(tmp_path, make):
    path = make(tmp_path)
    skipped = [lost for table in reader_for(path).read(path) for lost in table.skipped]
    assert [lost.why for lost in skipped if "nested" in lost.why] == ["not read: it is nested too deeply"]
