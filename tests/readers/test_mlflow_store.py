"""MLflow stores, against the table that MLflow's search_runs made of the same runs."""

import json
import shutil
import sqlite3
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest

from levelbest.errors import DataError, InputError
from levelbest.readers.formats.mlflow_store import READERS

READER, FOLDER = READERS

ARTEFACTS = Path(__file__).parent / "artefacts"
HOME = ARTEFACTS / "mlflow"
STATUS = {"FINISHED": "ok", "FAILED": "failed", "KILLED": "failed", "RUNNING": "running"}


@pytest.fixture
def mlruns(tmp_path):
    with tarfile.open(HOME / "mlruns.tar.gz") as archive:
        # Python 3.11.2 (Debian 12) has no filters yet; 3.12 and later warn without one.
        safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(tmp_path, **safely)
    return tmp_path / "mlruns"


def check(tables, expected):
    assert [table.source for table in tables] == ["cnn search", "lstm"]
    cnn, _ = tables
    assert cnn.roles == {
        "family": "experiment",
        "status": "status",
        "order": "order",
        "cost": "duration_s",
        "seed": "params.seed",
    }
    by_run = {one["run_id"]: one for one in expected}
    for table in tables:
        for place, run in enumerate(table.columns["run"]):
            theirs = by_run.pop(run)
            assert table.columns["status"][place] == STATUS[theirs["status"]]
            for column in ("metrics.val/acc", "metrics.test_acc", "params.lr"):
                ours = table.columns[column][place] if column in table.columns else None
                if theirs[column] is None:
                    assert ours is None or ours is np.ma.masked or np.isnan(ours)
                else:
                    assert ours == pytest.approx(float(theirs[column]), rel=1e-14)
    # Only the sweep's parent is in MLflow's table and not in ours; deleted runs are in neither.
    assert len(by_run) == 1
    lost = [(one.where.partition(",")[0], one.why) for table in tables for one in table.skipped]
    assert lost == [("cnn search", "the parent of other runs, not a trial itself"), ("lstm", "deleted")]
    assert cnn.columns["name"].tolist() == [f"run {i}" for i in range(5)]
    assert cnn.columns["duration_s"].tolist()[:4] == [2.5] * 4
    assert cnn.columns["status"].tolist() == ["ok", "ok", "ok", "failed", "running"]
    assert cnn.columns["params.opt/name"].tolist() == ["sgd", "adam", "sgd", "adam", "sgd"]
    assert cnn.columns["params.seed"].tolist() == [0, 1, 2, 3, 4]
    assert cnn.columns["metrics.worst"][2] == np.inf
    assert np.isnan(cnn.columns["metrics.loss"][2])
    assert cnn.columns["tags.note"].tolist() == [f"n{i}" for i in range(5)]
    assert not any("mlflow" in column for column in cnn.columns)


def expected(name):
    return json.loads((HOME / f"expected_{name}.json").read_text())


def test_database_agrees_with_search_runs():
    assert READER.recognises(HOME / "mlflow.db")
    assert not FOLDER.recognises(HOME / "mlflow.db")
    check(READER.read(HOME / "mlflow.db"), expected("mlflow.db"))


def test_folder_agrees_with_search_runs(mlruns):
    for path in (mlruns, HOME / "mlruns.tar.gz"):
        assert FOLDER.recognises(path)
        check(FOLDER.read(path), expected("mlruns"))


def test_history_has_a_row_for_each_step(mlruns):
    for reader, path in ((READER, HOME / "mlflow.db"), (FOLDER, mlruns)):
        table = reader.read(path, experiment="cnn search", history=True)[0]
        assert table.roles["trial"] == "run"
        assert table.n_rows == 15
        second = table.columns["name"] == "run 1"
        np.testing.assert_allclose(table.columns["metrics.val/acc"][second], [0.58, 0.6, 0.58])  # make_mlflow.py
        # Logged once, after training: it belongs to every checkpoint of its run.
        np.testing.assert_allclose(table.columns["metrics.test_acc"][second], [0.5] * 3)
        with pytest.raises(InputError, match="did you mean 'cnn search'"):
            reader.read(path, experiment="cnn-search")


def test_broken_parts_are_listed(mlruns):
    run = next(p for p in sorted(mlruns.glob("*/*/metrics/test_acc")) if ".trash" not in str(p)).parents[1]
    (run / "metrics" / "test_acc").write_text("1700000000000 0.5 0\nabc\n")
    other = next(p for p in sorted(mlruns.glob("*/*/meta.yaml")) if p.parent != run)
    other.write_text("a: [1, 2")
    notes = [(one.where, one.why) for table in FOLDER.read(mlruns) for one in table.skipped]
    assert any("test_acc, line 2" in where for where, _ in notes)
    assert any(other.parent.name in where and "not read" in why for where, why in notes)


def test_what_is_no_store(tmp_path):
    assert not FOLDER.recognises(tmp_path)
    with pytest.raises(DataError, match="holds no run of MLflow"):
        FOLDER.read(tmp_path)
    with sqlite3.connect(tmp_path / "x.db") as connection:
        connection.execute("CREATE TABLE runs (a)")
    connection.close()
    assert not READER.recognises(tmp_path / "x.db")
    with pytest.raises(DataError, match="no table experiments, metrics, params"):
        READER.read(tmp_path / "x.db")
    bare = Path(shutil.copy(HOME / "mlflow.db", tmp_path / "bare.db"))
    with sqlite3.connect(bare) as connection:
        connection.execute("DELETE FROM runs")
    connection.close()
    with pytest.raises(DataError, match="holds no run of MLflow"):
        READER.read(bare)


@pytest.mark.long
def test_fresh_stores(tmp_path):
    pytest.importorskip("mlflow")
    out = tmp_path / "out"
    script = str(ARTEFACTS / "make_mlflow.py")
    subprocess.run([sys.executable, script, str(out)], check=True, cwd=tmp_path, capture_output=True)
    for reader, name in ((READER, "mlflow.db"), (FOLDER, "mlruns")):
        check(reader.read(out / name), json.loads((out / f"expected_{name}.json").read_text()))
