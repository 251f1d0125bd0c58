"""NNI's database and exports, each read against the other and against the file itself."""

import csv
import json
import shutil
import sqlite3
from pathlib import Path

import pytest

import levelbest as lb
from levelbest.trials import STATUSES

HERE = Path(__file__).parent / "artefacts" / "nni"
DATABASE = HERE / "mlp" / "db" / "nni.sqlite"


def rows(query):
    with sqlite3.connect(f"file:{DATABASE}?mode=ro", uri=True) as connection:
        return connection.execute(query).fetchall()


@pytest.mark.parametrize("path", [DATABASE, HERE / "mlp"], ids=["file", "folder"])
def test_the_database_holds_failed_trials_too(path):
    trials = lb.read_trials(path)
    assert (trials.families, trials.metric.direction, trials.metric.cost_unit) == (("mlp",), "max", "s")
    ends = dict(rows("SELECT sequenceId, event FROM TrialJobEvent ORDER BY timestamp"))
    words = {"SUCCEEDED": "ok", "FAILED": "failed"}
    assert [STATUSES[code] for code in trials.status] == [words[ends[place]] for place in range(6)]
    assert 0 < trials.n_failed < 6
    exported = json.loads((HERE / "export.json").read_text())
    scores = sorted(json.loads(trial["value"])["default"] for trial in exported)
    assert sorted(trials.selection[trials.status == 0].tolist()) == scores
    begun, ended = (
        dict(rows(f"SELECT sequenceId, timestamp FROM TrialJobEvent WHERE event {which} 'RUNNING'"))
        for which in ("=", "<>")
    )
    assert trials.cost.tolist() == [(ended[place] - begun[place]) / 1000 for place in range(6)]
    assert "adaptive-sampler" in {caution.code for caution in trials.cautions}  # TPE


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_an_export_says_what_it_lacks(kind):
    path = HERE / f"export.{kind}"
    with pytest.raises(lb.LevelbestError, match="higher 'value' better"):
        lb.read_trials(path)  # NNI heads a loss with "reward" as well
    trials = lb.read_trials(path, direction="max")
    with (HERE / "export.csv").open() as file:
        expected = [float(row["default"]) for row in csv.DictReader(file)]
    assert trials.selection.tolist() == expected
    assert ("failures", "not-written") in {(caution.code, caution.kind) for caution in trials.cautions}
    prefix = "parameters." if kind == "json" else ""
    assert {f"{prefix}lr", f"{prefix}layers"} <= set(trials.configuration)


def test_a_plain_reward_and_experiments_of_one_name(tmp_path):
    one = tmp_path / "export.csv"
    one.write_text("reward,trialJobId,lr\n0.5,a,1\n0.25,b,2\n")
    assert lb.read_trials(one, direction="min").selection.tolist() == [0.5, 0.25]
    for place in range(3):
        shutil.copytree(HERE / "mlp", tmp_path / "experiments" / f"id{place}")
    trials = lb.read_trials(tmp_path / "experiments")
    assert trials.families == ("mlp",)
    assert trials.search.tolist() == [place for place in range(3) for _ in range(6)]
