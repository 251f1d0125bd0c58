"""Big text files go through the engine or piece by piece, and give what small ones give."""

import bz2
import gzip
import json

import numpy as np
import pytest

import levelbest as lb
from levelbest.errors import DataError
from levelbest.readers.formats import plain

HEADER = "model,val_acc,test_acc,seconds,note"


def lines(rng, size=400):
    rows = [f"m{i % 3},{a:.6f},{b:.6f},{c:.2f},fine" for i, (a, b, c) in enumerate(rng.uniform(size=(size, 3)))]
    rows[7] = 'm0,0.5,0.25,1,"two\nlines, quoted ""here"""'
    rows[11] = "m1,nan,,3,diverged"
    rows[12] = "m1,,0.5,3,failed"
    rows[13] = ' m1 , 0.125 ,12%,"1,234",'
    return rows


@pytest.fixture
def both(tmp_path, monkeypatch):
    """Read a file the small way and the large way."""

    def read(name, data, **options):
        path = tmp_path / name
        path.write_bytes(data)
        small = lb.read_trials(path, **options)
        monkeypatch.setattr(plain, "IN_MEMORY_UP_TO", 1000)
        large = lb.read_trials(path, **options)
        monkeypatch.undo()
        return small, large

    return read


def assert_same(small, large):
    assert small.families == large.families
    assert small.family.tolist() == large.family.tolist()
    for name in ("selection", "reported", "cost"):
        assert np.array_equal(getattr(small, name), getattr(large, name), equal_nan=True), name
    assert small.status.tolist() == large.status.tolist()
    assert len(small.skipped) == len(large.skipped)
    assert small.metric == large.metric


@pytest.mark.parametrize("pack", [None, gzip.compress, bz2.compress])
def test_csv(both, pack):
    text = "\n".join([HEADER, *lines(np.random.default_rng(0))]) + "\n"
    data = b"\xef\xbb\xbf" + text.encode()
    name = {None: "runs.csv", gzip.compress: "runs.csv.gz", bz2.compress: "runs.csv.bz2"}[pack]
    small, large = both(name, data if pack is None else pack(data))
    assert_same(small, large)
    assert large.n_trials == 400
    assert large.n_failed == 2
    assert "converted-numbers" in [caution.code for caution in large.cautions]


def test_csv_losses_are_told(both):
    rows = lines(np.random.default_rng(1))
    rows.insert(50, "m0,0.1,0.2")
    rows.insert(60, "m0,0.1,0.2,3,4,5,6")
    rows.insert(70, ",,,,")
    rows += ["Mean,0.5,0.5,0.5,", "Maximum,0.9,0.9,0.9,"]
    small, large = both("runs.csv", "\n".join([HEADER, *rows]).encode())
    assert_same(small, large)
    assert len(large.skipped) == 5
    assert sum("summary" in one.why for one in large.skipped) == 2


def test_tsv_without_header_asks_like_the_small_one(tmp_path, monkeypatch):
    path = tmp_path / "runs.tsv"
    path.write_text("\n".join(f"{i}\t{i / 7}" for i in range(300)))
    said = []
    for limit in (10**9, 1000):
        monkeypatch.setattr(plain, "IN_MEMORY_UP_TO", limit)
        with pytest.raises(lb.InputError) as caught:
            lb.read_trials(path)
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_json_lines(both, monkeypatch):
    monkeypatch.setattr("levelbest.readers.formats.jsonfile._PIECE", 37)
    rng = np.random.default_rng(2)
    records = [
        {"model": f"m{i % 3}", "val": {"acc": a}, "test_acc": b, "seconds": i, **({"late": "x"} if i > 200 else {})}
        for i, (a, b) in enumerate(rng.uniform(size=(300, 2)).tolist())
    ]
    text = [json.dumps(record) for record in records]
    text.insert(100, "not json")
    text.insert(200, "[1, 2]")
    small, large = both("runs.jsonl", "\n".join(text).encode(), selection="val.acc", reported="test_acc")
    assert_same(small, large)
    assert [one.where for one in large.skipped] == ["runs.jsonl, line 101", "runs.jsonl, line 201"]
    assert [str(v) for v in small.configuration.get("late", [])] == [
        str(v) for v in large.configuration.get("late", [])
    ]


def test_what_is_no_table_is_our_error(tmp_path, monkeypatch):
    monkeypatch.setattr(plain, "IN_MEMORY_UP_TO", 1000)
    path = tmp_path / "odd.csv"
    path.write_text("a,b,c\n" + "\n".join("x" * (i % 90) for i in range(200)))
    with pytest.raises(DataError, match="does not look like one table"):
        lb.read_trials(path, selection="b", direction="max")
    path.write_bytes(b"a,b\n" + np.random.default_rng(0).bytes(5000).replace(b"\x00", b"1"))
    with pytest.raises(lb.LevelbestError):
        lb.read_trials(path, selection="b", direction="max")


def test_latin_text_is_read_whole(both):
    text = "\n".join([HEADER, *lines(np.random.default_rng(3))]).replace("fine", "größe")
    small, large = both("runs.csv", text.encode("latin-1"))
    assert_same(small, large)


def test_a_declared_delimiter_above_a_large_table(both):
    rows = [f"m{i % 2};{i / 400}" for i in range(400)]
    small, large = both("excel.csv", "\n".join(["sep=;", "model;val_acc", *rows, ""]).encode())
    assert large.families == small.families == ("m0", "m1")
    assert large.selection.tolist() == small.selection.tolist() == [i / 400 for i in range(400)]


def test_columns_of_one_name_are_told_apart_and_said_to_be(tmp_path, monkeypatch):
    monkeypatch.setattr("levelbest.readers.formats.plain.IN_MEMORY_UP_TO", 50)
    path = tmp_path / "runs.csv"
    path.write_text(
        "model,val_acc,lr,lr\n" + "".join(f"m,0.{row + 100},{row / 100},{row / 100}\n" for row in range(40))
    )
    trials = lb.read_trials(path)
    assert set(trials.configuration) == {"lr", "lr (2)"}
    assert "renamed" in {caution.kind for caution in trials.cautions}
