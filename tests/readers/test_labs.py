"""Tables as laboratories and people write them (`benchmarks/reading_*.py`): none is read wrongly, some are asked.

The rules behind them are named by what the cells hold, and not by a list of names.
"""

import importlib
import sys
from math import factorial
from pathlib import Path

import numpy as np
import pytest

import levelbest as lb
from levelbest.errors import Ambiguous
from levelbest.readers.steps.kinds import is_numbered
from levelbest.readers.steps.problems import is_planned, is_shared

HERE = Path(__file__).parents[2] / "benchmarks"
LABS = 28
OPEN = {"forecasting", "translation", "traces", "quantised", "labels"}
"""Two scores of equal rank, a direction that no name tells, a counter that may be a setting."""


HABITS = 30


@pytest.fixture(scope="module")
def labs():
    sys.path.insert(0, str(HERE))
    try:
        yield [importlib.import_module(name) for name in ("reading_labs", "_labelled", "reading_habits")]
    finally:
        sys.path.remove(str(HERE))


@pytest.mark.parametrize("number", range(LABS))
def test_no_table_of_a_laboratory_is_read_wrongly(labs, number, tmp_path):
    tables, labelled, _ = labs
    assert len(tables.LABS) == LABS
    table = tables.lab_table(number)
    judged, why = labelled.judge(table, tmp_path / "results.csv")
    assert judged != "wrong", (table.kind, why)
    assert judged == "question" if table.kind in OPEN else True, (table.kind, why)


@pytest.mark.parametrize("number", range(HABITS))
def test_what_a_table_tells_is_read_and_what_it_does_not_tell_is_asked(labs, number, tmp_path):
    _, labelled, tables = labs
    assert len(tables.HABITS) == HABITS
    table = tables.habit_table(number)
    judged, why = labelled.judge(table, tmp_path / "results.csv")
    assert judged == ("asked" if table.then else "right"), (table.kind, why)


def test_equal_counts_are_a_plan_where_chance_hardly_gives_them():
    # Two families of six rows with two values three times each: (6! / 3! 3! / 2**6) ** 2 = .098; of 18 rows with three
    # values six times each: (18! / (6!)**3 / 3**18) ** 2 = .00196; with four families its square.
    chance = factorial(18) / factorial(6) ** 3 / 3**18
    assert chance**2 > 1e-3 > chance**4
    assert not is_planned(np.full((2, 2), 3))
    assert not is_planned(np.full((2, 3), 6))
    assert is_planned(np.full((4, 3), 6))
    assert not is_planned(np.array([[6, 6, 6]] * 3 + [[6, 5, 7]]))


def test_values_are_shared_where_a_few_rows_are_missing():
    counts = np.ones((2, 20), dtype=int)
    counts[0, 3] = 0
    assert is_shared(counts)
    assert not is_shared(np.eye(4, dtype=int))
    assert not is_shared(np.ones((1, 20), dtype=int))


def test_runs_are_numbered_and_models_are_not():
    assert is_numbered(np.array(["night 1", "night 2"], dtype=object))
    assert not is_numbered(np.array(["resnet18", "vit"], dtype=object))


def crossed(rows, **columns):
    return {"model": ["a"] * rows + ["b"] * rows, "acc": np.linspace(0.4, 0.8, 2 * rows).tolist(), **columns}


def test_what_all_families_answered_is_asked_about_or_taken_by_its_name():
    keys = [f"{word}{end}" for word in ("ash", "elm", "oak", "fir") for end in ("wood", "tree", "leaf")] * 2
    with pytest.raises(Ambiguous, match=r"the 12 values of 'plot', which all families have, problems .*group='plot'"):
        lb.read_trials(crossed(12, plot=keys))
    assert lb.read_trials(crossed(12, image=keys)).columns["group"] == "image"
    assert "group" not in lb.read_trials(crossed(12, plot=keys), task="none").columns


def test_words_that_every_family_has_equally_often_are_asked_about():
    site = ["north", "south", "east"] * 20
    with pytest.raises(Ambiguous, match=r"the 3 values of 'site' equally often: .*task='site'.*task='none'"):
        lb.read_trials(crossed(30, site=site))
    with pytest.raises(Ambiguous, match="'site' equally often"):  # few rows, but in blocks
        lb.read_trials(crossed(12, site=sorted(site[:12]) * 2))
    with pytest.raises(Ambiguous, match="'site' equally often"):  # or each with every seed
        lb.read_trials(crossed(12, site=site[:24], seed=[0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3] * 2))
    assert len(lb.read_trials(crossed(12, site=site[:24]))) == 24
    assert lb.read_trials(crossed(30, site=site), task="site").tasks == ("north", "south", "east")
    assert lb.read_trials(crossed(30, optimizer=site)).configuration.keys() == {"optimizer"}


def test_a_ladder_within_every_seed_is_asked_about():
    table = {
        "model": ["a"] * 20 + ["b"] * 20,
        "seed": np.repeat([1, 2, 1, 2], 10).tolist(),
        "n_labeled": [100 * (place + 1) for place in range(10)] * 4,
        "acc": np.linspace(0.4, 0.8, 40).tolist(),
    }
    with pytest.raises(Ambiguous, match=r"'n_labeled' goes up by equal steps in each of 4 runs: .*trial='seed'"):
        lb.read_trials(table)
    assert len(lb.read_trials(table, trial="seed")) == 4
    assert len(lb.read_trials(table, trial="none")) == 40


def test_the_only_test_score_is_reported_by_whatever_word():
    table = {"val_acc": [0.1, 0.2], "test_top1": [0.2, 0.3]}
    assert lb.read_trials(table).metric.reported == "test_top1"
    assert lb.read_trials({"val_acc": [0.1], "test_loss": [0.2]}).metric.reported is None


def test_a_trainers_log_is_of_the_share_that_was_asked_for():
    scores = {"val_loss": [0.5, 0.4], "val_accuracy": [0.7, 0.8]}
    assert lb.read_trials({"loss": [0.4, 0.3], **scores}).metric.selection == "val_accuracy"
    with pytest.raises(Ambiguous, match="could be any of 'val_loss', 'val_accuracy'"):
        lb.read_trials(scores)


def test_where_the_best_checkpoint_stands_is_no_setting():
    rng = np.random.default_rng(3)
    rows = [(a, e, s, 1000 * t) for a in ("ppo", "dqn") for e in ("x", "y") for s in range(4) for t in range(20)]
    table = dict(zip(("algo", "env_id", "seed", "global_step"), map(list, zip(*rows, strict=True)), strict=True))
    trials = lb.read_trials({**table, "episodic_return": rng.normal(size=len(rows)).tolist()})
    assert (len(trials), trials.tasks, dict(trials.configuration)) == (16, ("x", "y"), {})
    assert "nested-seeds" not in {caution.code for caution in trials.cautions}
