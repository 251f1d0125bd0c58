"""The CSV that Weights & Biases' page exports. The file here has its header and its words, with made-up runs."""

import gzip
from pathlib import Path

from levelbest.readers import read_trials
from levelbest.readers.registry import readers

READER = next(reader for reader in readers() if reader.name == "wandb-csv")
FILE = Path(__file__).parent / "artefacts" / "wandb_export" / "runs.csv"


def check(trials):
    assert trials.families == ("runs",)
    assert (trials.n_trials, trials.n_failed, trials.n_running) == (3, 1, 1)
    assert trials.cost.tolist() == [35, 12, 301, 300]
    assert trials.metric.cost_unit == "s"
    assert trials.order.tolist() == [3, 2, 1, 0]  # the newest run is exported first
    assert trials.metric.selection == "val_acc"
    assert trials.metric.reported == "test_acc"
    assert trials.seed.tolist() == [4, 3, 2, 1]


def test_export(tmp_path):
    assert READER.recognises(FILE)
    check(read_trials(FILE))
    packed = tmp_path / "runs.csv.gz"
    packed.write_bytes(gzip.compress(FILE.read_bytes()))
    assert READER.recognises(packed)
    check(read_trials(packed))


def test_other_tables_are_not_taken_for_it(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("Name,State,val_acc\na,finished,0.5\n")
    assert not READER.recognises(path)
    path.write_bytes(b"\x1f\x8bnot really packed")
    assert not READER.recognises(path)
    assert not READER.recognises(tmp_path)
