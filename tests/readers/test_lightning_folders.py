"""Folders of Lightning's CSVLogger: the numbers that make_lightning.py trained."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from levelbest.errors import DataError
from levelbest.readers import read_trials
from levelbest.readers.formats.lightning import READERS

(READER,) = READERS

ARTEFACTS = Path(__file__).parent / "artefacts"
LOGS = ARTEFACTS / "lightning" / "logs"


def weight(lr, steps):
    """Gradient descent on (w - 1)^2 from 0: the distance to 1 shrinks by 1 - 2 lr at each step."""
    return 1 - (1 - 2 * lr) ** steps


def check(logs):
    assert READER.recognises(logs)
    (table,) = READER.read(logs)
    assert table.roles == {
        "family": "name",
        "trial": "version",
        "status": "status",
        "order": "order",
        "seed": "hparams.seed",
    }
    columns = table.columns
    first = columns["version"] == "version_0"
    # Two steps in each of three epochs; validation after each epoch, in a row of its own with the step before it.
    assert columns["step"][first].tolist()[:6] == [0, 1, 2, 3, 4, 5]
    validation = columns["val_acc"][first]
    np.testing.assert_allclose(validation[[1, 3, 5]], [weight(0.1, k) for k in (2, 4, 6)], rtol=1e-6)
    assert np.ma.getmaskarray(validation)[[0, 2, 4]].all()
    losses = columns["train_loss_step"][first][:6]
    np.testing.assert_allclose(losses, [(1 - weight(0.1, k)) ** 2 for k in range(6)], rtol=1e-5)
    np.testing.assert_allclose(columns["test_acc"][first], weight(0.1, 6) - 0.1, rtol=1e-6)
    assert set(columns["hparams.act"]) == {"torch.nn.modules.activation.ReLU"}  # a class, read as its name
    assert set(columns["hparams.betas"]) == {"[0.9, 0.99]"}
    assert table.skipped == []
    trials = read_trials(logs, selection="val_acc", reported="test_acc")
    assert trials.families == ("cnn",)
    assert (trials.n_trials, trials.n_failed) == (3, 1)  # the third divided by zero
    np.testing.assert_allclose(trials.selection[:2], [weight(0.1, 6), weight(0.2, 6)], rtol=1e-6)
    np.testing.assert_allclose(trials.reported[:2], [weight(0.1, 6) - 0.1, weight(0.2, 6) - 0.1], rtol=1e-6)


def test_committed_folder():
    check(LOGS)


def test_one_version_alone():
    for path in (LOGS / "cnn" / "version_1", LOGS / "cnn" / "version_1" / "metrics.csv"):
        assert READER.recognises(path)
        (table,) = READER.read(path)
        assert set(table.columns["version"]) == {"version_1"}
        assert set(table.columns["hparams.lr"]) == {0.2}


def test_versions_that_left_nothing_failed(tmp_path):
    logs = Path(shutil.copytree(LOGS, tmp_path / "logs"))
    (logs / "cnn" / "version_1" / "metrics.csv").unlink()
    (logs / "cnn" / "version_2" / "metrics.csv").write_text("epoch,step,val_acc\n")
    (table,) = READER.read(logs)
    by_version = dict(zip(table.columns["version"], table.columns["status"], strict=True))
    assert by_version == {"version_0": "ok", "version_1": "failed", "version_2": "failed"}
    assert [one.why for one in table.skipped] == ["not read: it has no row below its header"]


def test_ragged_rows_and_bad_parameters_are_listed(tmp_path):
    logs = Path(shutil.copytree(LOGS, tmp_path / "logs"))
    file = logs / "cnn" / "version_0" / "metrics.csv"
    file.write_text(file.read_text() + "9,9\n")
    (logs / "cnn" / "version_0" / "hparams.yaml").write_text("a: [1")
    (table,) = READER.read(logs)
    assert sorted(one.where.rsplit("/", 1)[-1] for one in table.skipped) == ["hparams.yaml", "metrics.csv, line 15"]


def test_parameters_run_nothing(tmp_path):
    folder = tmp_path / "version_0"
    folder.mkdir()
    (folder / "metrics.csv").write_text("step,val_acc\n0,0.5\n")
    mark = tmp_path / "mark"
    (folder / "hparams.yaml").write_text(f"evil: !!python/object/apply:os.system ['touch {mark}']\nlr: 0.5\n")
    (table,) = READER.read(tmp_path)
    assert table.columns["hparams.lr"].tolist() == [0.5]
    assert not mark.exists()


def test_what_is_no_log(tmp_path):
    assert not READER.recognises(tmp_path)
    (tmp_path / "metrics.csv").write_text("a,b\n1,2\n")
    assert not READER.recognises(tmp_path)  # any table may be called metrics.csv
    assert not READER.recognises(tmp_path / "metrics.csv")
    (tmp_path / "nothing").mkdir()
    with pytest.raises(DataError, match="CSVLogger"):
        READER.read(tmp_path / "nothing")


@pytest.mark.long
def test_fresh_folder(tmp_path):
    pytest.importorskip("lightning")
    script = str(ARTEFACTS / "make_lightning.py")
    out = tmp_path / "out"
    subprocess.run([sys.executable, script, str(out)], check=True, cwd=tmp_path, capture_output=True)
    check(out / "logs")
