"""W&B offline run files: the numbers that make_wandb.py logged."""

import shutil
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

from levelbest.errors import DataError
from levelbest.readers import read_trials
from levelbest.readers.formats.wandb_offline import READERS

(READER,) = READERS

ARTEFACTS = Path(__file__).parent / "artefacts"
HOME = ARTEFACTS / "wandb"


def check(folder, steps):
    assert READER.recognises(folder)
    (table,) = READER.read(folder)
    assert table.roles == {
        "family": "project",
        "status": "status",
        "order": "order",
        "cost": "runtime_s",
        "seed": "config.seed",
    }
    assert table.columns["run"].tolist() == ["trial0", "trial1", "trial2", "trial3"]
    assert table.columns["status"].tolist() == ["ok", "failed", "ok", "running"]
    assert set(table.columns["project"]) == {"cnn"}
    last = [0.5 + 0.1 * i - 0.02 * (steps - 2) ** 2 / steps for i in range(3)]
    np.testing.assert_allclose(table.columns["val.acc"][:3], last, rtol=1e-12)
    np.testing.assert_allclose(table.columns["test_acc"][:3], [0.4, 0.5, 0.6], rtol=1e-12)
    np.testing.assert_allclose(table.columns["loss"][:3], [1 / steps, 1 / steps, np.nan])
    names = ("lr", "net.act", "net.width", "seed", "late")
    assert sorted(table.configuration) == sorted(f"config.{name}" for name in names)
    assert table.columns["config.net.width"].tolist()[:3] == [1, 2, 4]
    assert table.columns["config.late"].tolist()[:3] == ["yes"] * 3
    assert (table.columns["runtime_s"][:3] > 0).all()
    (by_step,) = READER.read(folder, history=True)
    second = by_step.columns["run"] == "trial1"
    expected = [0.6 - 0.02 * (step - 1) ** 2 / steps for step in range(steps)]
    np.testing.assert_allclose(by_step.columns["val.acc"][second], expected, rtol=1e-12)
    np.testing.assert_array_equal(by_step.columns["step"][second], np.arange(steps))
    # Set once in the summary: it belongs to every checkpoint.
    np.testing.assert_allclose(by_step.columns["test_acc"][second], 0.5)
    assert by_step.roles["trial"] == "run"
    return table


def test_committed_runs():
    table = check(HOME / "wandb", 3)
    assert table.skipped == []


def one_file():
    (file,) = HOME.glob("wandb/*/run-trial0.wandb")
    return file


def test_one_file_alone():
    assert READER.recognises(one_file())
    (table,) = READER.read(one_file())
    assert table.columns["run"].tolist() == ["trial0"]


def parts_of(content):
    place = 7
    while place < len(content):
        _, length, kind = struct.unpack("<IHB", content[place : place + 7])
        yield kind, content[place + 7 : place + 7 + length]
        place += 7 + length


def framed(records):
    """The records in LevelDB's framing: blocks of 32 KiB that no part crosses."""
    out = bytearray(one_file().read_bytes()[:7])
    for record in records:
        begun = False
        while True:
            room = 32768 - len(out) % 32768
            if room < 7:
                out += bytes(room)
                continue
            part, record = record[: room - 7], record[room - 7 :]
            kind = {(False, False): 1, (False, True): 2, (True, True): 3, (True, False): 4}[begun, bool(record)]
            out += struct.pack("<IHB", zlib.crc32(part, zlib.crc32(bytes([kind]))), len(part), kind) + part
            begun = True
            if not record:
                break
    return bytes(out)


def test_records_across_blocks(tmp_path):
    """The same records, repeated until some lie across two and three blocks."""
    records = [part for kind, part in parts_of(one_file().read_bytes())]
    assert framed(records) == one_file().read_bytes()
    large = b"\x9a\x01" + b"\xa0\x8d\x06" + b"x" * 100_000  # a field 19 that the reader has no use for
    path = tmp_path / "run-trial0.wandb"
    path.write_bytes(framed([*records[:3], large, *records[3:8] * 60, *records[8:]]))
    assert path.stat().st_size > 3 * 32768
    (table,) = READER.read(path)
    (plain,) = READER.read(one_file())
    assert table.skipped == []
    for column in ("val.acc", "test_acc", "loss", "config.lr", "status"):
        assert table.columns[column].tolist() == plain.columns[column].tolist()


def test_damage_is_listed(tmp_path):
    whole = one_file().read_bytes()
    path = tmp_path / "run-trial0.wandb"
    path.write_bytes(whole[:-4])
    (table,) = READER.read(path)
    assert "ends in the middle" in table.skipped[0].why
    assert table.columns["status"].tolist() == ["running"]  # how it ended stood in what is lost
    assert table.columns["test_acc"].tolist() == [0.4]
    flipped = bytearray(whole)
    flipped[400] ^= 1
    path.write_bytes(flipped)
    (table,) = READER.read(path)
    assert "damaged record" in table.skipped[0].why
    rng = np.random.default_rng(7)
    for _ in range(300):
        damaged = bytearray(whole)
        for place in rng.integers(len(whole), size=5):
            damaged[place] = rng.integers(256)
        path.write_bytes(damaged)
        try:
            (table,) = READER.read(path)
        except DataError:
            continue
        assert table.n_rows == 1
        assert table.skipped


def test_a_record_that_passes_its_checksum_but_is_no_message(tmp_path):
    path = tmp_path / "run-x.wandb"
    path.write_bytes(framed([b"\xff" * 20, b"\x12\x03\x0a\x50\x00"]))
    (table,) = READER.read(path)
    assert len(table.skipped) == 2
    assert all("cannot be read" in one.why for one in table.skipped)


def test_a_resumed_run_is_one_trial(tmp_path):
    for place, name in enumerate(("offline-run-20260101_000000-trial1", "offline-run-20260101_000001-trial1")):
        (tmp_path / name).mkdir()
        source = next(HOME.glob(f"wandb/*/run-trial{1 - place}.wandb"))
        shutil.copy(source, tmp_path / name / "run-trial1.wandb")
    (table,) = READER.read(tmp_path)
    assert table.columns["run"].tolist() == ["trial1"]
    assert table.columns["status"].tolist() == ["ok"]  # as its last part ended
    assert table.columns["test_acc"].tolist() == [0.4]


def test_what_is_no_run(tmp_path):
    assert not READER.recognises(tmp_path)
    with pytest.raises(DataError, match="holds no W&B run files"):
        READER.read(tmp_path)
    (tmp_path / "run-x.wandb").write_bytes(b"something else")
    assert not READER.recognises(tmp_path / "run-x.wandb")
    with pytest.raises(DataError, match="does not start with ':W&B'"):
        READER.read(tmp_path / "run-x.wandb")


@pytest.mark.long
def test_fresh_runs(tmp_path):
    pytest.importorskip("wandb")
    script = str(ARTEFACTS / "make_wandb.py")
    out = tmp_path / "out"
    subprocess.run([sys.executable, script, str(out), "300"], check=True, cwd=tmp_path, capture_output=True)
    assert next(out.glob("wandb/*trial0/*.wandb")).stat().st_size > 32768
    check(out, 300)


@pytest.mark.parametrize(("sweeps", "searches"), [("aabb", ("a", "b")), ("aaaa", None), ("aab ", None)])
def test_runs_of_several_sweeps_are_searches(tmp_path, sweeps, searches):
    """RunRecord.sweep_id is field 12, and the run is field 17 of a record (wandb_internal.proto)."""
    records = [part for kind, part in parts_of(one_file().read_bytes())]
    for place, sweep in enumerate(sweeps):
        inner = b"\x62\x01" + sweep.encode() if sweep.strip() else b""
        added = b"\x8a\x01" + bytes([len(inner)]) + inner
        folder = tmp_path / "wandb" / f"offline-run-20260101_00000{place}-trial{place}"
        folder.mkdir(parents=True)
        (folder / f"run-trial{place}.wandb").write_bytes(framed([*records[:3], added, *records[3:]]))
    trials = read_trials(tmp_path / "wandb", selection="val.acc")
    assert trials.families == ("cnn",)
    if searches is None:  # one sweep is one search, and a run outside of the sweeps belongs to none
        assert trials.search is None
    else:
        assert (trials.searches, trials.search.tolist()) == (searches, [0, 0, 1, 1])
