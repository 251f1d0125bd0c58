"""Checkpoints that tie at the best selection score: which one counts is said, and either can be taken."""

import pytest

import levelbest as lb
from levelbest.errors import InputError

TABLE = {
    "run": [1, 1, 1, 2, 2, 2],
    "epoch": [1, 2, 3, 1, 2, 3],
    "val_acc": [0.5, 0.7, 0.7, 0.5, 0.6, 0.8],
    "test_acc": [0.4, 0.6, 0.65, 0.4, 0.5, 0.7],
}


@pytest.mark.parametrize(("tied", "reported"), [("first", [0.6, 0.7]), ("last", [0.65, 0.7])])
def test_either_counts_and_it_is_said(tied, reported):
    trials = lb.read_trials(TABLE, trial="run", tied=tied)
    assert trials.reported.tolist() == reported
    (note,) = [caution for caution in trials.cautions if caution.kind == "tied-checkpoints"]
    assert (note.value, note.fact("runs"), note.fact("tied")) == (1, 2, tied)


def test_nothing_is_said_where_it_changes_nothing():
    same = {**TABLE, "test_acc": [0.4, 0.6, 0.6, 0.4, 0.5, 0.7]}
    assert "tied-checkpoints" not in {caution.kind for caution in lb.read_trials(same, trial="run").cautions}


def test_another_word_is_refused():
    with pytest.raises(InputError, match="first"):
        lb.read_trials(TABLE, trial="run", tied="middle")
