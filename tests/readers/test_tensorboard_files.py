"""TensorBoard event files, against TensorBoard's own EventAccumulator."""

import runpy
import shutil
import struct
from pathlib import Path

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from levelbest.errors import DataError
from levelbest.readers.formats.tensorboard import READERS

(READER,) = READERS

ARTEFACTS = Path(__file__).parent / "artefacts"


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """Event files that the installed TensorBoard wrote just now."""
    folder = tmp_path_factory.mktemp("tensorboard") / "logs"
    runpy.run_path(str(ARTEFACTS / "make_tensorboard.py"))["write_runs"](folder)
    return folder


@pytest.fixture(params=["fresh", "committed"])
def logs(request, fresh):
    return fresh if request.param == "fresh" else ARTEFACTS / "tensorboard"


def accumulated(folder):
    """Tag -> {step: value} as TensorBoard reads it: scalars of both forms."""
    reader = EventAccumulator(str(folder), size_guidance={"tensors": 0, "scalars": 0})
    reader.Reload()
    tags = reader.Tags()
    found = {tag: {e.step: e.value for e in reader.Scalars(tag)} for tag in tags["scalars"]}
    for tag in tags["tensors"]:
        if not tag.startswith("_hparams_"):
            found[tag] = {
                e.step: np.frombuffer(e.tensor_proto.tensor_content, np.float32)[0]
                if e.tensor_proto.tensor_content
                else e.tensor_proto.float_val[0]
                for e in reader.Tensors(tag)
            }
    return found


def test_agrees_with_tensorboard(logs):
    assert READER.recognises(logs)
    (table,) = READER.read(logs)
    assert table.roles == {
        "family": "folder",
        "trial": "run",
        "status": "status",
        "order": "order",
        "cost": "wall_time_s",
    }
    runs = set(table.columns["run"])
    assert runs == {"cnn/run0", "cnn/run1", "cnn/run2", "mlp/run0", "mlp/run1", "lstm/run0"}
    for run in sorted(runs):
        rows = np.flatnonzero(table.columns["run"] == run)
        ours = {column.split(":")[0] for column in table.columns}
        folders = {"": logs / run}
        if run == "lstm/run0":
            folders = {f"{part}/": logs / run / part for part in ("train", "validation")}
        for prefix, folder in folders.items():
            for tag, values in accumulated(folder).items():
                assert prefix + tag in ours
                column = table.columns[prefix + tag]
                for row in rows:
                    step = table.columns["step"][row]
                    if step in values:
                        np.testing.assert_array_equal(column[row], np.float64(np.float32(values[step])))
    assert table.skipped == []


def test_what_the_script_wrote(logs):
    (table,) = READER.read(logs)
    columns = table.columns
    assert set(zip(columns["run"], columns["status"], strict=True)) >= {("cnn/run1", "ok"), ("cnn/run2", "failed")}
    assert set(columns["folder"]) == {"cnn", "mlp", "lstm"}
    run1 = columns["run"] == "cnn/run1"
    assert columns["step"][run1].tolist() == [0, 1, 2, 3, 100]
    np.testing.assert_allclose(columns["val/acc"][run1][:4], [0.52, 0.58, 0.6, 0.58], rtol=1e-6)
    np.testing.assert_allclose(columns["test/acc"][run1], 0.5, rtol=1e-6)  # logged once: it is of the whole run
    assert np.isnan(columns["loss"][run1][3])
    assert np.ma.getmaskarray(columns["loss"][run1])[4]  # never logged at step 100: not a NaN
    # The file's own header event is stamped when it is written, long after the steps here.
    assert len(set(columns["wall_time_s"][run1])) == 1
    assert columns["wall_time_s"][run1][0] >= 50
    assert set(columns["hparams.lr"][run1]) == {0.02}
    assert set(columns["hparams.act"][run1]) == {"relu"}
    assert set(columns["hparams.flag"][run1]) == {1}
    mlp = columns["run"] == "mlp/run1"
    assert set(columns["hparams.width"][mlp]) == {2.0}
    assert set(columns["final"][mlp]) == {0.25}
    lstm = columns["run"] == "lstm/run0"
    assert columns["train/epoch_acc"][lstm].tolist() == [0.25, 1.25]
    assert columns["validation/epoch_acc"][lstm].tolist() == [0.5, 1.5]


def test_one_file_is_named_after_its_folder(logs, tmp_path):
    source = next(file for file in sorted((logs / "mlp" / "run1").iterdir()) if file.is_file())
    folder = tmp_path / "my run"
    folder.mkdir()
    (folder / "hparams.yaml").write_text("lr: 0.5\nbetas: !!python/tuple [0.9, 0.99]\n")
    path = Path(shutil.copy(source, folder / source.name))
    assert READER.recognises(path)
    (table,) = READER.read(path)
    assert (table.source, set(table.columns["run"])) == ("my run", {"my run"})
    assert set(table.columns["hparams.lr"]) == {0.5}
    assert set(table.columns["hparams.betas"]) == {"[0.9, 0.99]"}


def test_damage_is_listed(fresh, tmp_path):
    source = next(file for file in sorted((fresh / "mlp" / "run1").iterdir()) if file.is_file())
    whole = source.read_bytes()
    path = tmp_path / source.name
    path.write_bytes(whole[:-3])
    (table,) = READER.read(path)
    assert "ends in the middle" in table.skipped[0].why
    assert table.n_rows == 2
    first = 16 + struct.unpack("<Q", whole[:8])[0]
    second = first + 16 + struct.unpack("<Q", whole[first : first + 8])[0]
    damaged = bytearray(whole)
    damaged[second] ^= 1
    path.write_bytes(damaged)
    (table,) = READER.read(path)
    assert "damaged event" in table.skipped[0].why
    assert source.name not in table.skipped[0].where  # the file's name tells the host's
    rng = np.random.default_rng(5)
    for _ in range(200):
        broken = bytearray(whole)
        for place in rng.integers(len(whole), size=3):
            broken[place] = rng.integers(256)
        path.write_bytes(broken)
        try:
            READER.read(path)
        except DataError:
            continue


def test_what_is_no_log(tmp_path):
    assert not READER.recognises(tmp_path)
    with pytest.raises(DataError, match="holds no TensorBoard event files"):
        READER.read(tmp_path)
    empty = tmp_path / "events.out.tfevents.1.host.1.0"
    empty.write_bytes(b"")
    with pytest.raises(
        DataError, match=r"holds no TensorBoard event files .* with a scalar: its event files hold no scalar"
    ):
        READER.read(tmp_path)
