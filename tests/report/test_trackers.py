"""Trials and curves back to trackers: by default into stand-ins that keep what they are told, with --long into them."""

import json
import math
import sys
import types
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import levelbest as lb
from levelbest.report.trackers.every_eval_ever import write_every_eval_ever

TABLE = {
    "model": ["cnn", "lr", "cnn", "lr", "cnn"],
    "val_acc": [0.8, 0.7, float("nan"), 0.72, None],
    "test_acc": [0.75, 0.71, None, 0.7, None],
    "seconds": [1.0, 0.5, 2.0, 1.5, 2.5],
    "lr": [0.1, 0.2, 0.3, 0.4, 0.5],
    "status": ["ok", "ok", "ok", "ok", "failed"],
}


def trials():
    return lb.read_trials(TABLE)


def record(**fields):
    return types.SimpleNamespace(**fields)


class FakeClient:
    """What MLflow's client is asked to keep."""

    runs: ClassVar[dict] = {}

    def __init__(self, tracking_uri=None):
        self.uri = tracking_uri

    def get_experiment_by_name(self, name):
        return record(experiment_id="known") if name == "known" else None

    def create_experiment(self, name, artifact_location):
        assert artifact_location.startswith("file:")
        return name

    def create_run(self, experiment, start_time, run_name, tags):
        assert set(tags) <= {"levelbest.status"}
        made = record(info=record(run_id=run_name), experiment=experiment, start=start_time, metrics=[], params=[])
        self.runs[run_name] = made
        return made

    def log_batch(self, run_id, metrics=(), params=()):
        assert len(metrics) <= 1000
        self.runs[run_id].metrics += metrics
        self.runs[run_id].params += params

    def set_terminated(self, run_id, status, end_time):
        self.runs[run_id].status, self.runs[run_id].end = status, end_time

    def log_dict(self, run_id, content, name):
        self.runs[run_id].files = {**getattr(self.runs[run_id], "files", {}), name: json.loads(json.dumps(content))}

    def log_figure(self, run_id, figure, name):
        self.runs[run_id].files[name] = figure


@pytest.fixture
def mlflow(monkeypatch):
    """A package called mlflow with nothing behind it."""
    FakeClient.runs = {}
    tracking, entities, errors = (types.ModuleType(f"mlflow.{name}") for name in ("tracking", "entities", "exceptions"))
    tracking.MlflowClient = FakeClient
    entities.Metric = lambda key, value, _, step: (key, value, step)
    entities.Param = lambda key, value: (key, value)
    errors.MlflowException = type("MlflowException", (Exception,), {})
    package = types.ModuleType("mlflow")
    package.active_run = lambda: None
    for name, module in {"mlflow": package, "mlflow.tracking": tracking, "mlflow.entities": entities}.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setitem(sys.modules, "mlflow.exceptions", errors)
    monkeypatch.delitem(sys.modules, "wandb", raising=False)
    return FakeClient.runs


def test_a_run_of_mlflow_for_each_trial(mlflow, tmp_path):
    lb.write_trials(trials(), tmp_path / "mlflow.db", kind="mlflow")
    assert list(mlflow) == ["cnn 1", "lr 1", "cnn 2", "lr 2", "cnn 3"]
    assert [run.experiment for run in mlflow.values()] == ["cnn", "lr", "cnn", "lr", "cnn"]
    assert [run.status for run in mlflow.values()] == ["FINISHED"] * 4 + ["FAILED"]
    assert mlflow["lr 1"].metrics == [("val_acc", 0.7, 0), ("test_acc", 0.71, 0), ("seconds", 0.5, 0)]
    assert mlflow["lr 1"].params == [("lr", "0.2")]
    assert mlflow["lr 1"].end - mlflow["lr 1"].start == 500
    assert np.isnan({key: value for key, value, _ in mlflow["cnn 2"].metrics}["val_acc"])  # it diverged
    assert [key for key, _, _ in mlflow["cnn 3"].metrics] == ["seconds"]


def test_hidden_columns_stay_out(mlflow, tmp_path):
    lb.write_trials(trials(), tmp_path / "mlflow.db", kind="mlflow", hide=("lr",))
    assert all(not run.params for run in mlflow.values())


@pytest.mark.usefixtures("mlflow")
def test_samples_of_problems_are_no_runs(tmp_path):
    samples = lb.read_trials({"model": ["a"] * 4, "problem": list("ppqq"), "correct": [1, 0, 1, 1]}, group="problem")
    with pytest.raises(lb.InputError, match="a run for each: write them as csv, parquet or every-eval-ever"):
        lb.write_trials(samples, tmp_path / "mlflow.db", kind="mlflow")


@pytest.mark.parametrize("tool", ["mlflow", "wandb"])
def test_a_tool_that_is_missing_is_named(monkeypatch, tmp_path, tool):
    for name in ("mlflow", "mlflow.entities", "wandb"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(lb.MissingExtra, match=rf"pip install 'levelbest\[{tool}\]'"):
        lb.write_trials(trials(), tmp_path / "out.db", kind=tool)
    assert not list(tmp_path.iterdir())


class FakeRun:
    """What a run of W&B is asked to keep."""

    def __init__(self, **settings):
        self.settings, self.rows, self.code, self.defined, self.id = settings, [], None, [], "id"

    def define_metric(self, name, **_):
        self.defined.append(name)

    def log(self, row):
        self.rows.append(row)

    def finish(self, exit_code=0):
        self.code = exit_code


@pytest.fixture
def wandb(monkeypatch):
    """A package called wandb that keeps its runs."""
    made = []
    package = types.ModuleType("wandb")
    package.init = lambda **settings: made.append(FakeRun(**settings)) or made[-1]
    package.Settings = dict
    package.Table = lambda columns, data: record(columns=columns, data=data)
    package.Image = lambda pixels: pixels
    package.run = None
    monkeypatch.setitem(sys.modules, "wandb", package)
    monkeypatch.delitem(sys.modules, "mlflow", raising=False)
    return made


def test_an_offline_run_of_wandb_for_each_trial(wandb, tmp_path):
    lb.write_trials(trials(), tmp_path / "runs", kind="wandb")
    assert [run.settings["project"] for run in wandb] == ["cnn", "lr", "cnn", "lr", "cnn"]
    assert {run.settings["mode"] for run in wandb} == {"offline"}
    assert [run.code for run in wandb] == [0, 0, 0, 0, 1]
    assert wandb[1].rows == [{"val_acc": 0.7, "test_acc": 0.71, "seconds": 0.5, "levelbest_status": "ok"}]
    assert wandb[1].settings["config"] == {"lr": 0.2}


def curves():
    rng = np.random.default_rng(0)
    return lb.family_curves({"model": ["a/b"] * 12 + ["c"] * 12, "val_acc": rng.random(24).tolist()}, n=[1, 2, 12])


@pytest.mark.usefixtures("mlflow")
def test_a_curve_as_metrics_over_n_in_mlflow():
    drawn = curves()
    run = FakeClient().create_run("x", 0, "run", {})
    lb.log_curve(drawn, run)
    logged = {(key, step): value for key, value, step in run.metrics}
    for curve in drawn:
        for place, n in enumerate([1, 2, 12]):
            assert logged[f"best_of_n/{curve.family}/value", n] == curve.value[place]
            if np.isfinite(curve.low[place]):
                assert logged[f"best_of_n/{curve.family}/low", n] == curve.low[place]
            else:
                assert (f"best_of_n/{curve.family}/low", n) not in logged
    assert set(run.files) == {"best_of_n.json", "best_of_n.table.json", "best_of_n.png"}
    assert run.files["best_of_n.table.json"]["n"] == [1, 2, 12] * 2
    assert [family["family"] for family in run.files["best_of_n.json"]["families"]] == ["a/b", "c"]


@pytest.mark.usefixtures("wandb")
def test_a_curve_as_metrics_over_n_in_wandb():
    drawn, run = curves(), FakeRun()
    lb.log_curve(drawn[1], run, name="best")
    rows = [row for row in run.rows if "best/n" in row]
    assert [row["best/n"] for row in rows] == [1, 2, 12]
    assert [row["best/c/value"] for row in rows] == drawn[1].value.tolist()
    assert run.defined == ["best/n", "best/c/*"]
    assert run.rows[-1]["best/table"].columns == ["family", "n", "value", "low", "high"]
    assert run.rows[-1]["best/figure"].ndim == 3


@pytest.mark.usefixtures("wandb")
def test_what_is_no_run_or_no_curve_is_refused():
    with pytest.raises(lb.InputError, match="no run of MLflow or W&B is active"):
        lb.log_curve(curves())
    with pytest.raises(lb.InputError, match="needs a run of MLflow or W&B, got str"):
        lb.log_curve(curves(), "run")
    with pytest.raises(lb.InputError, match="takes curves over trials, got str"):
        lb.log_curve(["curve"], FakeRun())


def test_every_eval_ever_and_back(tmp_path):
    """Exact numbers: 2 of 3 and 1 of 3 right; what the schema asks for is there."""
    table = {"model": ["org/a"] * 6 + ["b"] * 6, "problem": list("ppqqrr") * 2, "correct": [1, 1, 1, 0, 0, 1] + [0] * 6}
    samples = lb.read_trials(table, group="problem")
    write_every_eval_ever(samples, tmp_path, timestamp=1.5)
    files = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.json"))
    assert [Path(file).parent.as_posix() for file in files] == ["correct/b", "correct/org/a"]
    document = json.loads((tmp_path / files[1]).read_text())
    required = ("schema_version", "evaluation_id", "retrieved_timestamp", "source_metadata", "model_info")
    assert set(document) >= {*required, "eval_library", "evaluation_results"}
    (result,) = document["evaluation_results"]
    assert set(result) >= {"evaluation_name", "source_data", "metric_config", "score_details"}
    assert result["score_details"]["score"] == pytest.approx(4 / 6)
    assert result["metric_config"]["lower_is_better"] is False
    limits = result["score_details"]["uncertainty"]["confidence_interval"]
    assert limits["lower"] <= 4 / 6 <= limits["upper"]
    assert document["detailed_evaluation_results"]["total_rows"] == 6
    back = lb.read_trials(tmp_path)
    assert (back.families, len(back), len(back.groups)) == (("b", "org/a"), 12, 3)
    assert back.selection[back.family == 1].mean() == pytest.approx(4 / 6)
    names = [path.name for path in tmp_path.rglob("*.json")]
    write_every_eval_ever(samples, tmp_path / "again", timestamp=1.5)
    assert sorted(names) == sorted(path.name for path in (tmp_path / "again").rglob("*.json"))


RESULT_KEYS = {
    *("schema_version", "evaluation_id", "retrieved_timestamp", "source_metadata", "model_info", "eval_library"),
    *("evaluation_results", "detailed_evaluation_results", "evaluation_timestamp", "dedupe_identity"),
}
SAMPLE_KEYS = {
    *("schema_version", "evaluation_id", "model_id", "evaluation_name", "sample_id", "interaction_type", "input"),
    *("output", "answer_attribution", "evaluation"),
}


def check_result(document):
    """What eval.schema.json of Every Eval Ever (0.2.1 and 0.2.2) asks for, rule by rule."""
    assert set(document) <= RESULT_KEYS  # no further ones are allowed
    assert set(document) >= RESULT_KEYS - {"detailed_evaluation_results", "evaluation_timestamp", "dedupe_identity"}
    assert all(isinstance(document[key], str) for key in ("schema_version", "evaluation_id", "retrieved_timestamp"))
    source = document["source_metadata"]
    assert source["source_type"] in ("documentation", "evaluation_run")
    assert source["evaluator_relationship"] in ("first_party", "third_party", "collaborative", "other")
    assert isinstance(source["source_organization_name"], str)
    assert all(isinstance(document["eval_library"][key], str) for key in ("name", "version"))
    assert all(isinstance(document["model_info"][key], str) for key in ("name", "id"))
    for result in document["evaluation_results"]:
        assert isinstance(result["evaluation_name"], str)
        assert result["source_data"]["source_type"] == "other"  # a URL or a data set of the hub needs more
        assert isinstance(result["source_data"]["dataset_name"], str)
        metric, score = result["metric_config"], result["score_details"]
        assert isinstance(metric["lower_is_better"], bool)
        # Without a score_type the rule of levels applies, as "if" holds for what is not there.
        assert metric["score_type"] in ("binary", "continuous")
        if metric["score_type"] == "continuous":
            assert all(isinstance(metric[key], int | float) for key in ("min_score", "max_score"))
        assert math.isfinite(score["score"])
        for details in (score.get("details", {}), metric.get("additional_details", {})):
            assert all(isinstance(value, str) for value in details.values())
        doubt = score["uncertainty"]
        assert isinstance(doubt["num_samples"], int)
        if limits := doubt.get("confidence_interval"):
            assert math.isfinite(limits["lower"] + limits["upper"])
            assert 0 <= limits["confidence_level"] <= 1
            assert isinstance(limits["method"], str)


def check_sample(sample, identities):
    """What instance_level_eval.schema.json asks for of an answer in one turn."""
    assert set(sample) == SAMPLE_KEYS
    assert sample["evaluation_id"] in identities
    assert sample["interaction_type"] == "single_turn"
    assert isinstance(sample["sample_id"], str)
    assert (type(sample["input"]["raw"]), type(sample["input"]["reference"])) == (str, list)
    assert isinstance(sample["output"]["raw"], list)
    assert isinstance(sample["answer_attribution"], list)
    assert (type(sample["evaluation"]["score"]), type(sample["evaluation"]["is_correct"])) == (float, bool)


@pytest.mark.parametrize("kind", ["problems", "trials", "bounded"])
def test_every_eval_ever_keeps_to_the_published_schemas(tmp_path, kind):
    if kind == "problems":
        table = {"model": ["org/a"] * 4 + ["b"] * 4, "problem": list("ppqq") * 2, "correct": [1, 1, 1, 0, 0, 1, 0, 0]}
        written = lb.read_trials(table, group="problem")
    else:
        table = {"model": list("aabb"), "rmse": [3.0, 2.5, 4.0, 3.5]}
        written = lb.read_trials(table, bounds=(0, 10) if kind == "bounded" else None)
    write_every_eval_ever(written, tmp_path, timestamp=1.5)
    documents = [json.loads(path.read_text()) for path in tmp_path.rglob("*.json")]
    assert len(documents) == 2
    for document in documents:
        check_result(document)
    lines = [line for path in tmp_path.rglob("*.jsonl") for line in path.read_text().splitlines()]
    assert len(lines) == (8 if kind == "problems" else 0)
    for line in lines:
        check_sample(json.loads(line), {document["evaluation_id"] for document in documents})
    back = lb.read_trials(tmp_path)  # bounds that nobody gave are none
    assert back.metric.bounds == {"problems": (None, None), "trials": (None, None), "bounded": (0, 10)}[kind]


def test_every_eval_ever_of_trials_without_problems(tmp_path):
    write_every_eval_ever(trials(), tmp_path, timestamp=1.5)
    (path,) = (tmp_path / "test_acc" / "lr").iterdir()
    score = json.loads(path.read_text())["evaluation_results"][0]["score_details"]
    assert score["score"] == pytest.approx((0.71 + 0.7) / 2)
    assert score["details"]["n_trials"] == "2"


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # of the tools themselves
def test_mlflow_itself_and_back(tmp_path):
    tool = pytest.importorskip("mlflow")
    lb.write_trials(trials(), tmp_path / "mlflow.db", kind="mlflow")
    back = lb.read_trials(tmp_path / "mlflow.db", selection="val_acc", reported="test_acc", cost="seconds")
    same_trials(back)
    tool.set_tracking_uri(f"sqlite:///{tmp_path / 'log.db'}")
    tool.create_experiment("x", artifact_location=(tmp_path / "artifacts").as_uri())
    with tool.start_run(experiment_id=tool.get_experiment_by_name("x").experiment_id) as run:
        lb.log_curve(curves())
    client = tool.tracking.MlflowClient()
    history = client.get_metric_history(run.info.run_id, "best_of_n/c/value")
    assert {point.step: point.value for point in history} == dict(zip([1, 2, 12], curves()[1].value, strict=True))
    kept = {one.path for one in client.list_artifacts(run.info.run_id)}
    assert kept == {"best_of_n.json", "best_of_n.table.json", "best_of_n.png"}


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # of the tools themselves
def test_wandb_itself_and_back(tmp_path):
    tool = pytest.importorskip("wandb")
    lb.write_trials(trials(), tmp_path / "runs", kind="wandb")
    same_trials(lb.read_trials(tmp_path / "runs", selection="val_acc", reported="test_acc", cost="seconds"))
    run = tool.init(project="x", mode="offline", dir=str(tmp_path), settings=tool.Settings(silent=True))
    lb.log_curve(curves(), run)
    run.finish()
    assert list(tmp_path.glob("wandb/*/files/media/images/best_of_n/*.png"))


def same_trials(back):
    own = trials()
    assert back.families == own.families
    for code, _ in enumerate(own.families):
        mine, theirs = own.family == code, back.family == code
        assert back.status[theirs].tolist() == own.status[mine].tolist()
        for role in ("selection", "reported", "cost"):
            assert getattr(back, role)[theirs].tolist() == pytest.approx(getattr(own, role)[mine].tolist(), nan_ok=True)
        (settings,) = back.configuration.values()
        assert settings[theirs].tolist() == pytest.approx(own.configuration["lr"][mine].tolist())
