"""Real files of trackers, written by others."""

import csv
import json
import sqlite3

import numpy as np
import pytest

from levelbest.cli.main import main
from levelbest.errors import DataError
from levelbest.readers import read_trials
from levelbest.readers.formats import optuna, ray_tune, tensorboard


@pytest.mark.parametrize(
    ("name", "studies"),
    [
        ("eatpytorch.db", {"mnist-tf": 20, "fashion_mnist_torch": 20, "ensemble": 100, "optuna_ensemble": 2000}),
        ("proqsar_example.db", {"my_study": 1273, "freesolv_random": 200, "esol": 117}),
        ("schema_0.9.0.a.db", {"single": 1}),
        ("schema_2.6.0.a.db", {"single": 1, "multi": 1, "schema migration": 1}),
        ("schema_3.2.0.a.db", {"single": 1, "multi": 1, "schema migration": 1}),
    ],
)
def test_optunas_of_every_schema(real_data, name, studies):
    path = real_data / "optuna" / name
    assert optuna.READERS[0].recognises(path)
    tables = optuna.READERS[0].read(path)
    assert {table.source: table.n_rows for table in tables} == studies


def test_optuna_states_and_values(real_data):
    tables = {t.source: t for t in optuna.READERS[0].read(real_data / "optuna" / "proqsar_example.db")}
    states = [s for t in tables.values() for s in t.columns["state"]]
    assert states.count("ok") == 1494  # as many as the store has values
    old = optuna.READERS[0].read(real_data / "optuna" / "schema_0.9.0.a.db")[0]
    assert old.columns["value"].tolist() == [74.05761401453037]
    assert old.columns["intermediate_last"].tolist() == [0.5]
    assert old.columns["number"].tolist() == [0]
    assert old.direction == "min"
    assert old.columns["duration"][0] == pytest.approx(0.061491)
    assert old.columns["params_y"].tolist() == [5]


def test_optuna_running_trials_are_counted_apart(real_data):
    with sqlite3.connect(f"file:{real_data}/optuna/proqsar_example.db?mode=ro", uri=True) as connection:
        query = "SELECT s.study_name, t.state, count(*) FROM trials t JOIN studies s USING (study_id) GROUP BY 1, 2"
        stored = {(study, state): count for study, state, count in connection.execute(query)}
    connection.close()
    trials = read_trials(real_data / "optuna" / "proqsar_example.db")
    assert set(trials.families) == {study for study, _ in stored}
    for name in trials.families:
        one = trials[name]
        assert one.n_running == stored.get((name, "RUNNING"), 0)
        assert one.n_trials - one.n_failed == stored[name, "COMPLETE"]
    assert trials.n_running > 0


def test_freesolv_random_is_flagged_for_its_trend(real_data):
    """Its name says random; its trials say otherwise."""
    trials = read_trials(real_data / "optuna" / "proqsar_example.db", study="freesolv_random")
    assert len(trials) == 200
    (trend,) = [one for one in trials.cautions if one.code == "trend"]
    ranks = np.argsort(np.argsort(trials.selection))
    correlation = np.corrcoef(ranks, trials.order)[0, 1]
    assert trend.value == pytest.approx(correlation, abs=0.01)
    assert correlation > 0.5


def test_ray_tune_folders_packed(real_data):
    tables = ray_tune.READERS[0].read(real_data / "deepcave" / "RayTune_run_1_2.tar.gz")
    trials = {table.source: len(set(table.columns["trial"])) for table in tables}
    assert sum(trials.values()) == 84
    assert trials == {"run_1": 81, "run_2": 3}
    assert [table.facts[f"sampler:{table.source}"] for table in tables] == ["BasicVariantGenerator", "SearchGenerator"]
    assert set(tables[0].columns["config.gamma"]) == {0.7, 0.8, 0.9}


def test_algoperf_events_agree_with_its_csv(real_data):
    """One run, logged twice: as event files and as a table."""
    folder = real_data / "algoperf" / "raw_trial"
    (table,) = tensorboard.READERS[0].read(folder)
    with (folder / "measurements.csv").open(newline="") as file:
        logged = list(csv.DictReader(file))
    by_step = {}
    for place, step in enumerate(table.columns["step"]):
        by_step[int(step)] = place
    compared = 0
    for row in logged:
        place = by_step[int(float(row["global_step"]))]
        for name in ("loss", "validation/mean_average_precision", "test/mean_average_precision"):
            if row[name]:
                np.testing.assert_allclose(table.columns[name][place], float(row[name]), rtol=1e-6)
                compared += 1
    assert compared > 500
    assert set(table.columns["hparams.learning_rate"]) == {0.001308209823469072}
    assert len(set(table.columns["run"])) == 1


def test_wandb_export(real_data):
    trials = read_trials(
        real_data / "eop" / "wandb_host.csv",
        family=["env", "alg"],
        selection="epoch_40/val_vs0_fqe",
        reported="epoch_40/online_vs0",
        direction="max",
    )
    assert len(trials) == 710
    assert trials.metric.cost_unit == "s"
    assert trials.cost.min() == 2057
    assert trials.facts["format"] == "Weights & Biases CSV export"


def test_inspect_logs(real_data):
    folder = real_data / "inspect"
    scored = read_trials(next(folder.glob("*mj7khqpMM4GBCfVQozKgzB.eval")))
    assert (scored.families, len(scored), len(scored.groups)) == (("openai/gpt-4o-mini",), 10, 10)
    with pytest.raises(DataError, match="has a score: score the log first"):
        read_trials(next(folder.glob("*dPiJifoWeEQBrfWsAopzWr.eval")))
    both = [read_trials(folder / f"log_formats.{kind}") for kind in ("eval", "json")]
    assert [one.selection.tolist() for one in both] == [[0.0], [0.0]]
    everything = read_trials(folder)
    assert len(everything) == 12  # the log that is there as .eval and as .json is counted once


@pytest.mark.parametrize(
    ("source", "options", "families"),
    [
        ("optuna/eatpytorch.db", [], 4),
        ("optuna/schema_0.9.0.a.db", [], 1),
        ("optuna/schema_2.6.0.a.db", ["--where", "study != 'multi'"], 2),
        ("optuna/schema_3.2.0.a.db", ["--reader-option", "study=multi", "--selection", "values_1"], 1),
        ("deepcave/RayTune_run_1_2.tar.gz", ["--selection", "score", "--direction", "max"], 2),
        ("algoperf/raw_trial", ["--selection", "validation/mean_average_precision"], 1),
        ("inspect", [], 3),
        ("inspect/log_formats.json", [], 1),
    ],
)
def test_one_command_reads_it(real_data, capsys, source, options, families):
    assert main(["describe", str(real_data / source), *options, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document["families"]) == families
