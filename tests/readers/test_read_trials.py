"""``read_trials`` on small tables: roles, numbers, failures, several files."""

import gzip
import json

import numpy as np
import pytest

import levelbest as lb
from levelbest.errors import DataError, InputError
from levelbest.trials import STATUSES

CSV = "model,val_acc,test_acc,gpu_hours\ncnn,.8,.75,1\nlr,.7,.71,.5\ncnn,.9,.85,2\n"


def codes(trials):
    return [caution.code for caution in trials.cautions]


def said(trials, code):
    return " ".join(str(caution) for caution in trials.cautions if caution.code == code)


@pytest.fixture
def table(tmp_path):
    def write(text, name="runs.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_obvious_names_are_taken_and_said(table):
    trials = lb.read_trials(table(CSV))
    assert trials.families == ("cnn", "lr")
    assert trials["cnn"].selection.tolist() == [0.8, 0.9]
    assert trials["cnn"].reported.tolist() == [0.75, 0.85]
    assert trials.cost.tolist() == [1.0, 0.5, 2.0]
    assert (trials.metric.direction, trials.metric.cost_unit) == ("max", "GPU h")
    assert "selection = 'val_acc'" in said(trials, "guessed-columns")


def test_bom_delimiters_and_compression_do_not_matter(table):
    plain = lb.read_trials(table(CSV))
    forms = {
        "bom.csv": b"\xef\xbb\xbf" + CSV.encode(),
        "tabs.tsv": CSV.replace(",", "\t"),
        "semicolons.csv": CSV.replace(",", ";"),
        "windows.csv": CSV.replace("\n", "\r\n"),
        "wide.csv": CSV.encode("utf-16"),
        "packed.csv.gz": gzip.compress(CSV.encode()),
    }
    for name, content in forms.items():
        read = lb.read_trials(table(content, name))
        assert read.families == plain.families, name
        assert read.reported.tolist() == plain.reported.tolist(), name


def test_failures_are_told_apart(table):
    trials = lb.read_trials(table("val_acc,x\n.5,1\n,2\nnan,3\nOOM,4\ninf,5\n"))
    assert [lb.trials.STATUSES[s] for s in trials.status] == ["ok", "failed", "diverged", "failed", "diverged"]
    assert (trials.n_trials, trials.n_failed) == (5, 4)
    assert "failures" in codes(trials)


def test_a_score_that_is_no_number_is_skipped_aloud(table):
    trials = lb.read_trials(table("val_acc,x\n.5,1\nabc,2\n.7,3\n.8,3\n"))
    assert trials.n_trials == 3
    assert [(one.where, one.why) for one in trials.skipped] == [
        ("runs.csv, line 3", "its selection score 'abc' is not a number")
    ]
    assert "skipped-rows" in codes(trials)


def test_percent_signs_and_thousands_are_read_and_said(table):
    trials = lb.read_trials(table('val_acc,cost\n84.5%,"1,234"\n90%,"12,000.5"\n'))
    assert trials.selection.tolist() == [0.845, 0.9]
    assert trials.cost.tolist() == [1234.0, 12000.5]
    assert codes(trials).count("converted-numbers") == 2


def test_decimal_commas_are_not_thousands(table):
    trials = lb.read_trials(table("model;val_acc\na;0,843\na;1,234\n"))
    assert trials.selection.tolist() == [0.843, 1.234]


def test_two_candidates_are_asked_about(table):
    with pytest.raises(
        InputError, match=r"could be any of 'val_acc', 'val_loss'; choose one with (--selection|selection=)"
    ):
        lb.read_trials(table("val_acc,val_loss\n.5,1\n"))


def test_an_unknown_column_names_the_nearest(table):
    with pytest.raises(InputError, match="did you mean 'val_acc'"):
        lb.read_trials(table(CSV), selection="val_ac")


def test_an_unknown_direction_is_asked_for(table):
    with pytest.raises(InputError, match=r"(--direction|direction=) max or min"):
        lb.read_trials(table("val_score\n1\n2\n"))


def test_selection_by_loss_reported_accuracy_is_turned(table):
    trials = lb.read_trials(table("val_loss,test_acc\n.5,.8\n.2,.9\n"), reported="test_acc")
    assert trials.metric.direction == "max"
    assert trials.selection.tolist() == [-0.5, -0.2]
    assert "negated" in said(trials, "guessed-columns")


def test_best_checkpoint_is_chosen_by_selection_never_by_reported(table):
    rows = "run,epoch,val_acc,test_acc,seconds\na,1,.5,.9,10\na,2,.6,.1,20\nb,1,.7,.3,10\nb,2,,.99,25\n"
    trials = lb.read_trials(table(rows), trial="run", cost="seconds")
    assert trials.selection.tolist() == [0.6, 0.7]
    assert trials.reported.tolist() == [0.1, 0.3]
    assert trials.cost.tolist() == [20.0, 25.0]


def test_checkpoints_inside_json(table):
    runs = [
        {"lr": 0.1, "curves": {"val": [[1, 0.5], [2, 0.8], [3, 0.7]], "test": [[1, 0.9], [3, 0.6], [2, 0.4]]}},
        {"lr": 0.2, "curves": {"val": [], "test": []}},
        {"lr": 0.3, "curves": {"val": [[1, float("nan")], [2, 0.3]], "test": [[1, 0.1], [2, 0.2]]}},
    ]
    path = table("\n".join(map(json.dumps, runs)), "runs.jsonl")
    trials = lb.read_trials(path, selection="curves.val", reported="curves.test", direction="max")
    assert np.array_equal(trials.selection, [0.8, np.nan, 0.3], equal_nan=True)
    assert np.array_equal(trials.reported, [0.4, np.nan, 0.2], equal_nan=True)
    assert trials.n_failed == 1
    assert trials.configuration["lr"].tolist() == [0.1, 0.2, 0.3]


def test_several_files_are_families_by_their_stems(table):
    one, two = table("val_acc\n.5\n.6\n", "cnn.csv"), table("val_acc\n.7\n", "lr.csv")
    trials = lb.read_trials([one, two])
    assert trials.families == ("cnn", "lr")
    assert trials.family.tolist() == [0, 0, 1]
    assert lb.read_trials(str(one.parent / "*.csv")).families == ("cnn", "lr")


def test_where_filters_rows(table):
    assert lb.read_trials(table(CSV), where="model = 'cnn' and gpu_hours < 2").selection.tolist() == [0.8]
    with pytest.raises(DataError, match="leaves none of 3 rows"):
        lb.read_trials(table(CSV), where="gpu_hours > 99")


def test_wide_tables_have_one_trial_per_sample(table):
    trials = lb.read_trials(table("problem,s0,s1,s2\np1,1,0,1\np2,0,0,\n"), direction="max")
    assert trials.groups == ("p1", "p2")
    assert trials.selection.tolist() == [1, 0, 1, 0, 0]
    assert trials.group.tolist() == [0, 0, 0, 1, 1]
    assert trials.order.tolist() == [0, 1, 2, 0, 1]


def test_missing_reported_scores_are_a_warning_with_the_count(table):
    trials = lb.read_trials(table("val_acc,test_acc\n.5,\n.6,\n.7,.65\n"))
    (caution,) = [one for one in trials.cautions if one.code == "missing-reported"]
    assert caution.value == 1.0
    assert "1 of 3" in caution.sentence


@pytest.mark.parametrize("kind", ["series", "numbers", "levels", "one name", "records by number"])
def test_frames_whose_columns_have_no_plain_names(kind):
    """Names that are no texts are written as texts; a single column is a table of one."""
    pandas = pytest.importorskip("pandas")
    models, scores = ["a", "b"] * 4, [place / 10 for place in range(8)]
    index = pandas.Index(models, name="model")
    several = pandas.MultiIndex.from_arrays([models, models, range(8)], names=["model", "model", None])
    sources = {
        "series": pandas.Series(scores, index=index, name="acc"),
        "numbers": pandas.DataFrame({0: scores}, index=index),
        "levels": pandas.DataFrame({("val", "acc"): scores}, index=index),
        "one name": pandas.DataFrame({"acc": scores}, index=several),
        "records by number": [{0: score, "model": model} for model, score in zip(models, scores, strict=True)],
    }
    name = {"numbers": "0", "levels": "val.acc", "records by number": "0"}.get(kind, "acc")
    trials = lb.read_trials(sources[kind], family="model", selection=name, direction="max")
    assert (trials.families, trials.selection.tolist()) == (("a", "b"), scores)


def test_columns_of_one_name_are_refused():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InputError, match=r"must have different names; rename them: .*'acc' 2 times"):
        lb.read_trials(pandas.DataFrame([[0.1, 0.2]], columns=["acc", "acc"]))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "lazy", "dict"])
def test_any_dataframe(library):
    columns = {"model": ["a", "b", "a"], "val_acc": [0.1, 0.2, 0.3], "seed": [1, 2, 3]}
    if library == "pandas":
        frame = pytest.importorskip("pandas").DataFrame(columns)
    elif library == "pyarrow":
        frame = pytest.importorskip("pyarrow").table(columns)
    elif library == "dict":
        frame = columns
    else:
        polars = pytest.importorskip("polars")
        frame = polars.DataFrame(columns)
        frame = frame.lazy() if library == "lazy" else frame
    trials = lb.read_trials(frame)
    assert trials.families == ("a", "b")
    assert trials["a"].selection.tolist() == [0.1, 0.3]
    assert [int(seed) for seed in trials.seed] == [1, 2, 3]


def test_a_clock_that_falls_across_a_gap_is_none():
    """Costs 3, none, 1 of one run are summed: a clock does not go back, whether or not a row between is empty."""
    table = {"run": ["a", "a", "a", "b", "b"], "val_acc": [0.1, 0.2, 0.3, 0.4, 0.5], "seconds": [3, np.nan, 1, 2, 5]}
    trials = lb.read_trials(table, trial="run", cost="seconds")
    assert trials.cost.tolist() == [4.0, 7.0]


def test_costs_of_checkpoints_in_a_list_have_steps_of_their_own(tmp_path):
    """A clock read more often than the score: the run cost what it says last, and its last score is still its last."""
    path = tmp_path / "runs.json"
    clock = [[step, float(step)] for step in range(1, 10)]
    runs = [{"val_acc": [0.2, 0.9, 0.8], "seconds": clock}, {"val_acc": [0.4, 0.5, float("nan")], "seconds": clock[:4]}]
    path.write_text(json.dumps(runs))
    trials = lb.read_trials(path, selection="val_acc", cost="seconds")
    assert trials.cost.tolist() == [9.0, 4.0]
    assert trials.selection[0] == 0.9
    assert [STATUSES[code] for code in trials.status] == ["ok", "diverged"]
