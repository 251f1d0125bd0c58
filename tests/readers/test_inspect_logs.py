"""inspect_ai's logs: the scores that make_inspect.py scripted. Problem i is right in its first i samples."""

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

try:
    from compression import zstd
except ImportError:  # before Python 3.14
    from backports import zstd

from levelbest.errors import DataError, InputError
from levelbest.readers import read_trials
from levelbest.readers.formats.inspect_ai import READERS

(READER,) = READERS

ARTEFACTS = Path(__file__).parent / "artefacts"
HOME = ARTEFACTS / "inspect"
RIGHT = {(i, k): float(k <= i) for i in range(4) for k in (1, 2, 3)}
ERROR = (3, 2)


def check(path):
    assert READER.recognises(path)
    (table,) = READER.read(path)
    assert table.roles == {
        "family": "system",
        "group": "problem",
        "order": "epoch",
        "status": "status",
        "cost": "working_time",
        "selection": "score.match",
    }
    found = {}
    for row in range(table.n_rows):
        key = int(table.columns["problem"][row][-1]), int(table.columns["epoch"][row])
        found[key] = table.columns["score.match"][row], table.columns["status"][row]
        if key != ERROR:
            assert table.columns["input_tokens"][row] == 10 + key[0]
            assert table.columns["output_tokens"][row] == key[1]
    assert len(found) == 12
    assert found.pop(ERROR)[1] == "failed"
    assert found == {key: (value, "ok") for key, value in RIGHT.items() if key != ERROR}
    assert set(table.columns["problem"]) == {f"arithmetic #q{i}" for i in range(4)}
    trials = read_trials(path)
    assert trials.families == ("mockllm/model",)
    assert len(trials.groups) == 4
    assert trials.metric.direction == "max"
    assert (trials.n_trials, trials.n_failed) == (12, 1)


@pytest.mark.parametrize("name", ["model.eval", "model.json"])
def test_committed_logs(name):
    check(HOME / name)


def test_the_log_is_packed_with_zstandard():
    with zipfile.ZipFile(HOME / "model.eval") as packed:
        assert {one.compress_type for one in packed.infolist()} == {93}


def test_several_scorers_must_be_chosen_from():
    path = HOME / "two" / "second.eval"
    with pytest.raises(InputError, match=r"score\.match.*score\.length"):
        read_trials(path)
    assert read_trials(path, selection="score.match").metric.direction == "max"
    with pytest.raises(InputError, match=r"(--direction|direction=) max or min"):  # longer is not known to be better
        read_trials(path, selection="score.length")
    lengths = read_trials(path, selection="score.length", direction="min").selection
    assert set(lengths[np.isfinite(lengths)]) == {1, 4}  # a digit, or "none"


def test_a_folder_of_logs(tmp_path):
    shutil.copy(HOME / "model.eval", tmp_path / "a.eval")
    shutil.copy(HOME / "two" / "second.eval", tmp_path / "b.eval")
    shutil.copy(HOME / "model.eval", tmp_path / "copy.eval")
    (tmp_path / "broken.eval").write_bytes((HOME / "model.eval").read_bytes()[:-4000])
    (tmp_path / "notes.json").write_text("{}")
    assert READER.recognises(tmp_path)
    tables = READER.read(tmp_path)
    assert [table.source for table in tables] == ["a.eval", "b.eval"]
    notes = {one.where: one.why for one in tables[0].skipped}
    assert notes["copy.eval"] == "another copy of a.eval"
    trials = read_trials(tmp_path, selection="score.match")
    assert set(trials.families) == {"mockllm/model", "mockllm/second"}
    assert len(trials) == 24
    assert len(trials.groups) == 4  # the same problems: models can be compared on them


def repack(source, target, change):
    """The log with its parts changed, packed as older versions packed it."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        content = source.read_bytes()
        for info in old.infolist():
            start = info.header_offset + 30
            start += sum(int.from_bytes(content[info.header_offset + at :][:2], "little") for at in (26, 28))
            data = zstd.decompress(content[start : start + info.compress_size])
            data = change(info.filename, data)
            if data is not None:
                new.writestr(info.filename, data)


def test_a_log_that_has_not_ended(tmp_path):
    path = tmp_path / "live.eval"
    repack(HOME / "model.eval", path, lambda name, data: None if name in ("header.json", "summaries.json") else data)
    with zipfile.ZipFile(path) as packed:
        names = packed.namelist()
    assert "_journal/start.json" in names
    (table,) = READER.read(path)
    assert table.n_rows == 12
    assert [one.why for one in table.skipped] == ["the evaluation has not ended"]


def test_samples_alone_serve_where_there_is_no_summary(tmp_path):
    path = tmp_path / "bare.eval"
    repack(HOME / "model.eval", path, lambda name, data: None if "summaries" in name else data)
    check(path)


def test_partial_and_missing_answers(tmp_path):
    def change(name, data):
        if name != "summaries.json":
            return data
        samples = json.loads(data)
        for sample, value in zip(samples, ["P", "N", "yes", True, 0.25, {"a": 1, "b": "I"}], strict=False):
            sample["scores"] = {"match": {"value": value}}
        return json.dumps(samples)

    path = tmp_path / "words.eval"
    repack(HOME / "model.eval", path, change)
    (table,) = READER.read(path)
    assert table.columns["score.match"].tolist()[:5] == [0.5, 0, 1, 1, 0.25]
    assert table.columns["score.match.a"].tolist()[5] == 1
    assert table.columns["score.match.b"].tolist()[5] == 0


def test_cancelled_and_unscored_logs(tmp_path):
    stored = json.loads((HOME / "model.json").read_text())
    stored["status"] = "cancelled"
    stored["samples"] = stored["samples"][:5]
    path = tmp_path / "log.json"
    path.write_text(json.dumps(stored))
    (table,) = READER.read(path)
    assert [one.why for one in table.skipped] == ["the evaluation was cancelled; 7 of its samples never ran"]
    for sample in stored["samples"]:
        sample["scores"] = {}
    path.write_text(json.dumps(stored))
    with pytest.raises(DataError, match="score the log first"):
        READER.read(path)


def test_damaged_logs(tmp_path):
    path = tmp_path / "x.eval"
    whole = (HOME / "model.eval").read_bytes()
    rng = np.random.default_rng(3)
    for _ in range(200):
        damaged = bytearray(whole)
        for place in rng.integers(len(whole), size=4):
            damaged[place] = rng.integers(256)
        path.write_bytes(damaged)
        READER.recognises(path)
        try:
            READER.read(path)
        except (DataError, InputError):
            continue
    path.write_bytes(b"no zip")
    assert not READER.recognises(path)
    with pytest.raises(DataError, match="not a log of inspect_ai"):
        READER.read(path)
    assert not READER.recognises(tmp_path / "absent.eval")
    (tmp_path / "empty").mkdir()
    assert not READER.recognises(tmp_path / "empty")


@pytest.mark.long
def test_fresh_logs(tmp_path):
    pytest.importorskip("inspect_ai")
    script = str(ARTEFACTS / "make_inspect.py")
    out = tmp_path / "out"
    subprocess.run([sys.executable, script, str(out)], check=True, cwd=tmp_path, capture_output=True)
    check(out / "model.eval")
    check(out / "model.json")


def test_dollars_of_the_evaluated_model_are_the_cost(tmp_path):
    """Not those of a grader; where another log knows no price, both have working time."""
    document = json.loads((HOME / "model.json").read_text(encoding="utf-8"))
    model = document["eval"]["model"]
    for sample in document["samples"]:
        usage = sample.setdefault("model_usage", {})
        for name, cost in ((model, 0.5), ("grader", 4.0)):
            usage[name] = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, "total_cost": cost}
    path = tmp_path / "priced.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    priced = read_trials(path)
    assert (priced.metric.cost, priced.metric.cost_unit) == ("cost_usd", "$")
    assert set(priced.cost.tolist()) == {0.5}
    both = read_trials([path, HOME / "model.json"])
    assert (both.metric.cost, both.metric.cost_unit) == ("working_time", "s")


def test_one_damaged_sample_does_not_cost_an_old_log(tmp_path):
    """Summaries of old logs have no tokens: samples are read for them, and one that cannot be read is said."""
    broken = []

    def change(name, data):
        if name == "header.json":
            return json.dumps(json.loads(data) | {"stats": {"model_usage": {"m": {"input_tokens": 1}}}})
        if name == "summaries.json":
            return json.dumps([{k: v for k, v in one.items() if k != "model_usage"} for one in json.loads(data)])
        if name.startswith("samples/") and not broken:
            broken.append(name)
            return b"{"
        return data

    repack(HOME / "model.eval", tmp_path / "old.eval", change)
    (table,) = READER.read(tmp_path / "old.eval")
    assert table.n_rows == 12
    assert [row.where for row in table.skipped if "not read" in row.why] == [f"old.eval, {broken[0]}"]
