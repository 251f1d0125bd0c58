"""Trials and curves back to trackers: by default into stand-ins that keep what they are told, with --long into them."""

import json
import sys
import types
from typing import ClassVar

import numpy as np
import pytest

import levelbest as lb

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
    with pytest.raises(lb.InputError, match="a run for each: write them as csv or parquet"):
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
