"""A tidy table read back is the same trials, in each format, whatever the names and numbers."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import levelbest as lb
from levelbest.cli.main import main
from levelbest.errors import InputError
from levelbest.readers.tables.tidy import FORMATS, tidy_columns, tidy_text
from levelbest.trials import STATUSES


def cells(column):
    """Comparable values: numbers as floats, missing as None, all else as text."""
    found = []
    for cell in np.asarray(column, dtype=object).tolist():
        if cell is None or cell != cell:
            found.append(None)
        else:
            found.append(float(cell) if isinstance(cell, (int, float, bool)) else str(cell))
    return found


def assert_same(one, two):
    assert one.families == two.families
    assert one.family.tolist() == two.family.tolist()
    assert np.array_equal(one.selection, two.selection, equal_nan=True)
    assert one.status.tolist() == two.status.tolist()
    assert one.metric == two.metric
    for name in ("reported", "cost"):
        a, b = getattr(one, name), getattr(two, name)
        assert (a is None) == (b is None)
        assert a is None or np.array_equal(a, b, equal_nan=True)
    for name in ("group", "search", "order"):
        a, b = getattr(one, name), getattr(two, name)
        assert (a is None) == (b is None)
        assert a is None or a.tolist() == b.tolist()
    assert (one.groups, one.searches) == (two.groups, two.searches)
    assert (one.seed is None) == (two.seed is None)
    assert one.seed is None or cells(one.seed) == cells(two.seed)
    assert {key.removeprefix("config.") for key in two.configuration} == set(one.configuration)
    for key, column in one.configuration.items():
        assert cells(column) == cells(two.configuration[f"config.{key}"]), key


RANDOM = lb.Trials.from_arrays(
    [0.1, np.nan, 1 / 3, np.inf, 0.25],
    direction="max",
    family=["a, b", 'say "c"', "007", "a, b", "1.50"],
    reported=[0.5, np.nan, 2e-300, np.nan, np.nan],
    cost=[1.0, 2.0, np.nan, 4.0, 1e22],
    cost_unit="GPU h",
    group=["1", "2", "1", "3", "x\ny"],
    search=["s1", "s1", "s2", "s2", "s2"],
    seed=[1, 2, 3, 4, 2**52],
    status=["ok", "failed", "ok", "diverged", "running"],
    configuration={
        "lr": [0.1, np.nan, 1e-5, 0.3, 7.0],
        "opt": np.array(["adam", None, "sgd", "ä", "adam"], dtype=object),
        "big": np.array([True, False, True, True, False]),
        "depth": [1, 2, 3, 4, 5],
    },
    bounds=(0, None),
    order=np.array([3, 1, 2, 5, 4]),
)
TRIALS = replace(RANDOM, facts={"sampler:007": "TPESampler"})


@pytest.mark.parametrize("kind", FORMATS)
def test_every_column_comes_back(kind, tmp_path):
    path = lb.write_trials(TRIALS, tmp_path / f"tidy.{kind}")
    back = lb.read_trials(path, diagnostics=False)
    assert_same(TRIALS, back)
    assert back.facts["sampler:007"] == "TPESampler"
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zs", "Zl", "Zp", "Cf"]), min_size=1)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=45)
@given(st.data(), st.sampled_from(FORMATS), st.sampled_from(["max", "min"]))
def test_any_names_and_numbers_come_back(tmp_path_factory, data, kind, direction):
    size = data.draw(st.integers(1, 12))
    family = data.draw(st.lists(NAMES, min_size=size, max_size=size))
    scores = data.draw(st.lists(NUMBERS, min_size=size, max_size=size))
    reported = data.draw(st.lists(NUMBERS | st.just(float("nan")), min_size=size, max_size=size))
    trials = lb.Trials.from_arrays(scores, direction=direction, family=family, reported=reported)
    path = tmp_path_factory.mktemp("tidy") / f"t.{kind}"
    assert_same(trials, lb.read_trials(lb.write_trials(trials, path), diagnostics=False))


def test_what_was_read_is_what_is_read_back(tmp_path):
    source = tmp_path / "runs.csv"
    source.write_text("model,dev_f1,test_f1,gpu_hours,lr\ncnn,.8,.7,1,.1\nlr,.6,,2,.2\ncnn,nan,.3,3,.3\n")
    trials = lb.read_trials(source)
    for kind in FORMATS:
        back = lb.read_trials(lb.write_trials(trials, tmp_path / f"t.{kind}"))
        assert_same(trials, back)
        assert back.metric.selection == "dev_f1"
        assert back.metric.cost_unit == "GPU h"


def test_hidden_columns_are_not_written():
    assert "config.lr" not in tidy_columns(TRIALS, hide=("lr",))
    with pytest.raises(InputError, match="no configuration column 'lrr' to hide; did you mean 'lr'"):
        tidy_columns(TRIALS, hide=("lrr",))


def test_json_lines_are_strict_json():
    def refuse(constant):
        raise AssertionError(constant)

    for line in tidy_text(TRIALS, "jsonl").splitlines():
        json.loads(line, parse_constant=refuse)


def test_errors_are_ours(tmp_path):
    with pytest.raises(InputError, match="unknown table format 'xlsx'"):
        lb.write_trials(TRIALS, tmp_path / "a.xlsx")
    with pytest.raises(InputError, match="cannot be written"):
        lb.write_trials(TRIALS, tmp_path / "no" / "a.csv")
    mixed = tmp_path / "mixed.csv"
    mixed.write_text("family,selection,status,direction,selection_name\na,1,ok,max,x\na,1,ok,min,x\n")
    with pytest.raises(InputError, match="direction must be the same in every row, got max, min"):
        lb.read_trials(mixed)


def test_all_statuses_are_words():
    assert set(tidy_columns(TRIALS)["status"]) == {"ok", "failed", "diverged", "running"} <= set(STATUSES)


def test_what_plays_no_part_is_kept_beside_the_trials(tmp_path, capsys):
    path = tmp_path / "log.csv"
    path.write_text(
        "model,run_name,status,lr,val_acc,test_acc,val_f1,runtime_note\n"
        "a,fox,done,.1,.8,.79,.7,ok\na,owl,crash,.2,,,,oom\nb,cat,keep,.3,.9,.85,.8,\nb,dog,discard,.1,.7,.75,.6,\n"
    )
    out = tmp_path / "tidy.csv"
    assert main(["convert", str(path), "--selection", "val_acc", "--out", str(out)]) == 0
    kept = pd.read_csv(out)
    assert kept["other.status"].tolist() == ["done", "crash", "keep", "discard"]
    assert kept["other.run_name"].tolist() == ["fox", "owl", "cat", "dog"]
    assert kept["other.val_f1"].tolist()[2:] == [0.8, 0.6]
    first, back = lb.read_trials(path, selection="val_acc"), lb.read_trials(out)
    assert not first.others
    assert not back.others
    assert back.status.tolist() == first.status.tolist() == [0, 1, 0, 0]
    assert back.cost is None
    assert set(back.configuration) == {"config.lr"}
    assert main(["convert", str(path), "--selection", "val_acc", "--hide", "run_name"]) == 0
    assert "fox" not in capsys.readouterr().out


def test_tasks_are_kept(tmp_path):
    table = {"algo": ["a", "b"] * 8, "game": ["pong"] * 8 + ["qbert"] * 8, "seed": list(range(16)), "score": range(16)}
    trials = lb.read_trials(table | {"score": [float(s) for s in table["score"]]}, task="game", direction="max")
    back = lb.read_trials(lb.write_trials(trials, tmp_path / "tidy.csv"))
    assert back.tasks == trials.tasks == ("pong", "qbert")
    assert back.task.tolist() == trials.task.tolist()
