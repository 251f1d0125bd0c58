"""AllenTune's results, in the two forms it writes: the folder of a search, and the report made from it.

AllenTune needs AllenNLP 1.0, which no Python of today installs: the files here follow what its report reads and writes.
"""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from levelbest import describe, write_report, write_trials
from levelbest.cli.main import cli
from levelbest.errors import DataError
from levelbest.readers import read_trials
from levelbest.readers.formats.allentune import READERS

(READER,) = READERS

RUNS = [
    ("0:01:30.500000", 0.81, 0.79, 1e-3, 11),
    ("1 day, 0:00:01", 0.84, 0.78, 1e-2, 12),
    ("0:00:59", 0.5, 0.52, 1e-4, 13),
]


@pytest.fixture
def search(tmp_path):
    """run_*/trial as AllenNLP leaves it: config.json at the start, metrics.json at the end."""
    folder = tmp_path / "classifier_search"
    for place, (duration, validation, test, lr, seed) in enumerate(RUNS):
        trial = folder / f"run_{place}_2020-01-01_00-00-0{place}" / "trial"
        trial.mkdir(parents=True)
        config = {"model": {"type": "cnn", "dropout": 0.1 * place}, "trainer": {"optimizer": {"lr": lr}}}
        (trial / "config.json").write_text(json.dumps(config))
        (trial / "stdout.log").write_text(f"...\nrandom_seed = {seed}\nnumpy_seed = 1\npytorch_seed = 2\n")
        metrics = {
            "best_epoch": 3,
            "training_duration": duration,
            "training_accuracy": 0.99,
            "validation_accuracy": validation - 0.01,
            "best_validation_accuracy": validation,
            "best_validation_loss": 1 - validation,
            "test_accuracy": test,
        }
        (trial / "metrics.json").write_text(json.dumps(metrics))
    crashed = folder / "run_3_2020-01-01_00-00-03" / "trial"
    crashed.mkdir(parents=True)
    (crashed / "config.json").write_text(json.dumps({"model": {"type": "cnn"}, "trainer": {"optimizer": {"lr": 1.0}}}))
    return folder


def report(search, model=None):
    """What ``allentune report`` writes: one flat line for each run that finished, durations in seconds."""
    rows = []
    for trial in sorted(search.glob("run_*/trial")):
        if (trial / "metrics.json").exists():
            metrics, config = (json.loads((trial / f"{name}.json").read_text()) for name in ("metrics", "config"))
            seeds = {"random_seed": "11", "pytorch_seed": "2", "numpy_seed": "1"}
            rows.append({**config, **metrics, **seeds, "directory": str(trial)})
    frame = pd.json_normalize(rows)
    frame["training_duration"] = pd.to_timedelta(frame["training_duration"]).dt.total_seconds()
    if model:
        frame["model"] = model
    path = search / "results.jsonl"
    frame.to_json(path, lines=True, orient="records")
    return path


def test_report(search):
    path = report(search, model="CNN")
    assert READER.recognises(path)
    trials = read_trials(path)
    assert trials.families == ("CNN",)
    assert trials.selection.tolist() == [0.81, 0.84, 0.5]
    assert trials.reported.tolist() == [0.79, 0.78, 0.52]
    assert trials.cost.tolist() == [90.5, 86401, 59]
    assert (trials.metric.direction, trials.metric.cost_unit) == ("max", "s")
    assert set(trials.configuration) == {"model.type", "model.dropout", "trainer.optimizer.lr"}
    assert not any(str(search) in str(value) for value in vars(trials).values())  # no path of the machine


def test_folder_counts_the_run_that_the_report_drops(search):
    assert READER.recognises(search)
    trials = read_trials(search)
    assert (trials.n_trials, trials.n_failed) == (4, 1)
    assert trials.selection.tolist()[:3] == [0.81, 0.84, 0.5]
    assert trials.cost.tolist()[:3] == [90.5, 86401, 59]
    assert trials.seed.tolist()[:3] == [11, 12, 13]
    np.testing.assert_allclose(trials.configuration["trainer.optimizer.lr"], [1e-3, 1e-2, 1e-4, 1.0])


def test_the_best_model_keeps_its_configuration_and_path(search, tmp_path):
    """As ``allentune report`` names the directory of the best model."""
    best = "run_1_2020-01-01_00-00-01/trial"
    windows = report(search)
    windows.write_text(windows.read_text().replace(json.dumps(str(search))[1:-1], "C:\\\\logs\\\\search"))
    for source in (search, windows, write_trials(read_trials(search), tmp_path / "tidy.csv")):
        (described,) = describe(str(source))
        assert described.winner.path == best
        assert described.winner.selection == 0.84
        assert described.winner.reported == 0.78
        assert float(next(v for k, v in described.winner.configuration.items() if k.endswith("lr"))) == 0.01
        assert described.to_dict()["best"]["path"] == best
    told = CliRunner().invoke(cli, ["describe", str(search)])
    assert "trainer.optimizer.lr = 0.01" in " ".join(told.output.split())
    assert best in told.output
    page = tmp_path / "r.html"
    view = write_report(str(search), page, n_resamples=99).view
    answer = next(item.answer for item in view.checklist if item.key == "configuration")
    assert f"trainer.optimizer.lr = 0.01 ({best})" in answer
    assert best in (tmp_path / "r" / "appendix.tex").read_text().replace(r"\_", "_")
    assert str(search.parent) not in page.read_text()  # no path of the machine


def test_the_files_that_ray_leaves_beside_do_not_mislead(search):
    """AllenTune runs on Ray, which writes its own files into the same folders."""
    for run in search.iterdir():
        (run / "params.json").write_text("{}")
        (run / "result.json").write_text('{"done": true, "config": {}}\n')
    trials = read_trials(search)
    assert trials.facts["format"] == "AllenTune results"
    assert trials.n_trials == 4


def test_other_metrics(search):
    path = report(search)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        line["best_validation_f1"] = line.pop("best_validation_accuracy")
        del line["test_accuracy"]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + "{broken\n")
    (table,) = READER.read(path)
    assert table.roles["selection"] == "best_validation_f1"
    assert "reported" not in table.roles
    assert [one.where for one in table.skipped] == ["results.jsonl, line 4"]
    for line in lines:
        line["best_validation_bleu"] = 1.0
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (table,) = READER.read(path)
    assert "selection" not in table.roles  # two: the user is asked


def test_broken_files_are_listed(search):
    (first, *_) = sorted(search.glob("run_*/trial"))
    (first / "metrics.json").write_text("{")
    (table,) = READER.read(search)
    assert table.columns["status"].tolist() == ["failed", "ok", "ok", "failed"]
    assert "metrics.json" in table.skipped[0].where


def test_what_is_no_result(tmp_path):
    path = tmp_path / "other.jsonl"
    path.write_text('{"training_duration": 1}\n')
    assert not READER.recognises(path)
    assert not READER.recognises(tmp_path)
    assert not READER.recognises(tmp_path / "absent.jsonl")
    path.write_text("")
    with pytest.raises(DataError, match="no results of AllenTune"):
        READER.read(path)


def test_the_searches_of_a_folder_are_families(tmp_path):
    """``allentune search --log-dir logs --experiment-name NAME`` makes a folder for each search."""
    for name, score in (("cnn", 0.8), ("lr", 0.6)):
        for run in range(3):
            trial = tmp_path / "logs" / name / f"run_{run}_2020-01-01_00-00-0{run}" / "trial"
            trial.mkdir(parents=True)
            (trial / "config.json").write_text(json.dumps({"trainer": {"lr": run / 10}}))
            metrics = {"best_validation_accuracy": score + run / 100, "training_duration": "0:01:00"}
            (trial / "metrics.json").write_text(json.dumps(metrics))
    trials = read_trials(tmp_path / "logs")
    assert trials.families == ("cnn", "lr")
    assert trials["cnn"].selection.tolist() == pytest.approx([0.8, 0.81, 0.82])
    assert trials["lr"].selection.tolist() == pytest.approx([0.6, 0.61, 0.62])


def test_convert_loses_no_column_and_survives_a_merge(search, tmp_path):
    """Every column of ``allentune report`` is in the tidy table, renamed at most, also beside another tool's trials."""
    from levelbest.cli.main import main

    path = report(search, model="CNN")
    other = tmp_path / "mine.csv"
    other.write_text("model,best_validation_accuracy,test_accuracy,batch\nmlp,0.5,0.4,32\nmlp,0.6,0.5,64\n")
    for i, files in enumerate(([path], [path, other])):
        out = tmp_path / f"tidy{i}.csv"
        assert main(["convert", *map(str, files), "--out", str(out)]) == 0
        tidy = pd.read_csv(out)
        cnn = tidy[tidy["family"] == "CNN"] if len(files) == 2 else tidy
        names = {column.split(".", 1)[-1] if column.startswith(("other.", "config.")) else column for column in tidy}
        for column in ("best_validation_loss", "training_accuracy", "best_epoch", "pytorch_seed", "numpy_seed"):
            assert column in names, (i, column, sorted(names))
        kept = next(column for column in tidy if column.endswith("best_validation_loss"))
        assert sorted(cnn[kept].dropna().round(6)) == sorted(round(1 - run[1], 6) for run in RUNS)
