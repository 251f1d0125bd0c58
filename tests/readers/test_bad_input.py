"""What is no results file, and dataframes with everything in them: one clear sentence, or the right rows."""

import datetime
import gzip
import json
import pickle
import zipfile

import numpy as np
import pytest

import levelbest as lb
from levelbest.errors import DataError, InputError, LevelbestError

CSV = "model,val_acc\na,0.5\nb,0.6\n"


def complaint(path, **options):
    with pytest.raises(LevelbestError) as caught:
        lb.read_trials(path, **options)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_missing_files_and_near_names(tmp_path):
    (tmp_path / "results.csv").write_text(CSV)
    assert "did you mean" in complaint(tmp_path / "result.csv")
    assert "no file matches" in complaint(str(tmp_path / "*.parquet"))
    assert "does not exist" in complaint(tmp_path / "nowhere" / "a.csv")
    assert "the list of files is empty" in complaint([])


def test_the_folder_one_stands_in_has_a_name(tmp_path, monkeypatch):
    folder = tmp_path / "sweep"
    (folder / "inner").mkdir(parents=True)
    (folder / "notes.txt").write_text("x")
    monkeypatch.chdir(folder)
    said = complaint(".")
    assert "the folder 'sweep' is not recognised" in said
    assert said.endswith("'*.csv'")
    monkeypatch.chdir(folder / "inner")
    said = complaint("..")
    assert "the folder 'sweep' is not recognised" in said
    assert said.endswith("'../*.csv'")


@pytest.mark.parametrize("first", ["sep=;", "\ufeffsep=;", '"sep=;"', "SEP=;;", "\nsep=;\n# of today"])
def test_the_delimiter_that_excel_declares_is_no_header(tmp_path, first):
    path = tmp_path / "excel.csv"
    path.write_text(f"{first}\r\nmodel;val_acc\r\na;0,5\r\nb;0,625\r\n", encoding="utf-8", newline="")
    trials = lb.read_trials(path)
    assert trials.families == ("a", "b")
    assert trials.selection.tolist() == [0.5, 0.625]
    assert not trials.skipped
    path.write_text(f"{first}\nmodel,val_acc\na,0.5\nb,0.625\n", encoding="utf-8")  # declared and not kept to
    assert lb.read_trials(path).selection.tolist() == [0.5, 0.625]


def test_folders_of_nothing_known(tmp_path):
    assert "it is empty" in complaint(tmp_path)
    (tmp_path / "notes.md").write_text("hello")
    assert "it holds notes.md" in complaint(tmp_path)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"  \n\n", "is empty"),
        (b"\x89PNG\r\n\x1a\n" + b"\x00" * 50, "looks like a picture"),
        (pickle.dumps({"val_acc": [1, 2]}), "a pickle is never opened"),
        (b"\x00\x01\x02" * 100, "looks like a binary file"),
        (b"val_acc\n", "no rows|no row"),
        (gzip.compress(CSV.encode())[:20], "cannot be read"),
        (b"PAR1 but not really", "cannot be read as Parquet"),
    ],
    ids=["empty", "blank", "picture", "pickle", "binary", "header", "cut gzip", "no Parquet"],
)
def test_files_that_are_no_tables(tmp_path, content, sentence):
    path = tmp_path / "runs.csv"
    path.write_bytes(content)
    with pytest.raises(LevelbestError, match=sentence):
        lb.read_trials(path)


def test_an_unknown_ending_is_named(tmp_path):
    path = tmp_path / "runs.xyz"
    path.write_text(CSV)
    assert "is in no known format" in complaint(path)
    assert lb.read_trials(path, reader="table").n_trials == 2
    assert "unknown reader 'tabel'; did you mean 'table'" in complaint(path, reader="tabel")


def test_sources_that_are_none():
    for source in (None, 3, b"bytes"):
        with pytest.raises(InputError, match="a source must be a path"):
            lb.read_trials(source)


def test_zip_files(tmp_path):
    one, two = tmp_path / "one.csv.zip", tmp_path / "two.csv.zip"
    with zipfile.ZipFile(one, "w") as packed:
        packed.writestr("inside.csv", CSV)
    with zipfile.ZipFile(two, "w") as packed:
        packed.writestr("a.csv", CSV)
        packed.writestr("b.csv", CSV)
    assert lb.read_trials(one).n_trials == 2
    assert "holds 2 files" in complaint(two)


def test_csv_with_comments_row_names_and_doubled_headers(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("# made by hand\n\n# second line\n" + CSV)
    assert lb.read_trials(path).n_trials == 2
    path.write_text("#run,val_acc\n1,0.5\n2,0.6\n")
    assert lb.read_trials(path).n_trials == 2
    path.write_text("model,val_acc\n1,a,0.5\n2,b,0.6\n")  # as R writes it
    assert lb.read_trials(path).families == ("a", "b")
    path.write_text("val_acc,val_acc,x\n0.5,0.6,1\n")
    assert "could be any of 'val_acc', 'val_acc (2)'" in complaint(path)
    path.write_text('a,b\n"x\n1,2\n3,4\n5,6\n')
    trials = lb.read_trials(path, selection="b", direction="max")
    assert trials.selection.tolist() == [2.0, 4.0, 6.0]
    assert len(trials.skipped) == 1


def test_json_of_many_shapes(tmp_path):
    rows = [{"model": "a", "val_acc": 0.5}, {"model": "b", "val_acc": 0.6}]
    shapes = {
        "list": rows,
        "columns": {"model": ["a", "b"], "val_acc": [0.5, 0.6]},
        "inside": {"version": 1, "results": rows},
        "named": {"x": rows[0], "y": rows[1]},
    }
    for name, value in shapes.items():
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(value))
        trials = lb.read_trials(path)
        assert trials.selection.tolist() == [0.5, 0.6], name
        assert trials.families == ("a", "b"), name
    lines = tmp_path / "lines.json"
    lines.write_text("\n".join(map(json.dumps, rows)))
    assert lb.read_trials(lines).n_trials == 2
    for broken in ("[1, 2", "3", "[]", "{}", "[[1]]", "[" * 100_000):
        path = tmp_path / "broken.json"
        path.write_text(broken)
        with pytest.raises(DataError):
            lb.read_trials(path)


def test_pandas_with_everything():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "model": pandas.Categorical(["a", "b", "a"]),
            "val_acc": pandas.array([0.5, None, 0.7], dtype="Float64"),
            "when": pandas.to_datetime(["2024-01-01"] * 3),
            "big": [2**60, 1, 2],
            "nullable": pandas.array([1, None, 3], dtype="Int64"),
            "flag": pandas.array([True, None, False], dtype="boolean"),
            "listed": [[1], [2], [3]],
        },
        index=["x", "y", "z"],
    )
    trials = lb.read_trials(frame)
    assert [lb.trials.STATUSES[code] for code in trials.status] == ["ok", "failed", "ok"]
    assert trials.families == ("a", "b")
    assert str(trials.configuration["big"][0]) == str(2**60)
    assert np.isnan(trials.configuration["nullable"][1])
    assert trials.configuration["flag"].tolist() == [True, None, False]


def test_polars_and_arrow_with_everything():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(
        {
            "model": polars.Series(["a", "b", None], dtype=polars.Categorical),
            "val_acc": [0.5, float("nan"), None],
            "day": [datetime.date(2024, 1, 1)] * 3,
            "curve": [[0.1, 0.9], [0.2], []],
            "inner": [{"x": 1}, {"x": 2}, {"x": 3}],
        }
    )
    for source in (frame, frame.to_arrow()):
        trials = lb.read_trials(source)
        assert trials.n_trials == 2  # the third has no model
        assert [lb.trials.STATUSES[code] for code in trials.status] == ["ok", "diverged"]
        assert len(trials.skipped) == 1
        best = lb.read_trials(source, selection="curve", direction="max", family=["day"])
        assert best.selection[:2].tolist() == [0.9, 0.2]
        assert best.n_failed == 1


def test_mappings_of_columns():
    with pytest.raises(InputError, match="every column needs one value per row"):
        lb.read_trials({"val_acc": [1, 2], "x": [1]})
    with pytest.raises(InputError, match="must be a list or array"):
        lb.read_trials({"val_acc": 0.5})
    with pytest.raises(InputError, match="needs columns"):
        lb.read_trials({})
    with pytest.raises(DataError, match="no rows"):
        lb.read_trials({"val_acc": []})


def test_parquet_keeps_types_and_lists(tmp_path):
    polars = pytest.importorskip("polars")
    path = tmp_path / "runs.parquet"
    polars.DataFrame(
        {
            "model": ["a", "b", "a", None],
            "val": [[0.1, 0.3], [0.2], [], [0.5]],
            "seed": [2**62, 1, 2, 3],
            "ok": [True, False, True, True],
            "lr": [0.1, None, float("nan"), 1.0],
        }
    ).write_parquet(path)
    trials = lb.read_trials(path, selection="val", direction="max")
    assert trials.families == ("a", "b")
    assert np.array_equal(trials.selection, [0.3, 0.2, np.nan], equal_nan=True)
    assert trials.n_failed == 1
    assert int(trials.seed[0]) == 2**62
    assert trials.configuration["ok"].tolist() == [True, False, True]


@pytest.mark.parametrize("name", ["results.xlsx", "results.xls", "results.ods"])
def test_a_spreadsheet_is_to_be_saved_as_csv(tmp_path, name):
    with zipfile.ZipFile(tmp_path / name, "w") as packed:
        packed.writestr("xl/workbook.xml", "<workbook/>")
    with pytest.raises(InputError, match=rf"{name} is a spreadsheet, which is not read: save the sheet .* as CSV"):
        lb.read_trials(tmp_path / name)
