"""Samples of a problem that are a list in one cell are trials, not checkpoints of one run."""

import json

import pytest

import levelbest as lb
from levelbest.errors import DataError

ROWS = [
    {"model": "a", "problem_id": "p0", "correct": [1, 0, 0, 0]},
    {"model": "a", "problem_id": "p1", "correct": [0, 0, 1, 1]},
    {"model": "b", "problem_id": "p0", "correct": [0, 0, 0, 0]},
    {"model": "b", "problem_id": "p1", "correct": [True, True, False, True]},
]


def written(tmp_path, rows, name="samples.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def long(rows, key="correct"):
    return [{**row, key: item} for row in rows for item in row[key]]


def test_lists_give_what_one_row_per_sample_gives(tmp_path):
    listed = lb.read_trials(written(tmp_path, ROWS), group="problem_id", selection="correct")
    plain = lb.read_trials(written(tmp_path, long(ROWS), "long.jsonl"), group="problem_id", selection="correct")
    assert listed.selection.tolist() == plain.selection.tolist() == [1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 1]
    assert listed.families == plain.families == ("a", "b")
    assert listed.family.tolist() == plain.family.tolist()
    assert [listed.groups[code] for code in listed.group] == [plain.groups[code] for code in plain.group]
    assert listed.order.tolist() == [0, 1, 2, 3] * 4
    assert not listed.configuration
    assert any("each item of the lists in 'correct' is one sample" in c.sentence for c in listed.cautions)


def test_objects_in_lists_keep_verifier_and_truth_together(tmp_path):
    rows = [
        {"model": "a", "problem_id": "p0", "samples": [{"v": 0.1, "correct": True}, {"v": 0.7, "correct": False}]},
        {"model": "a", "problem_id": "p1", "samples": [{"v": 0.3, "correct": False}, {"v": None, "correct": True}]},
    ]
    trials = lb.read_trials(
        written(tmp_path, rows),
        group="problem_id",
        selection="samples.v",
        reported="samples.correct",
        direction="max",
    )
    assert trials.selection[:3].tolist() == [0.1, 0.7, 0.3]
    assert trials.reported.tolist() == [1, 0, 0, 1]
    assert trials.status.tolist()[:3] == [0, 0, 0]
    assert trials.status[3] != 0


def test_several_files_and_a_filter(tmp_path):
    first = written(tmp_path, [{k: v for k, v in row.items() if k != "model"} for row in ROWS[:2]], "a.jsonl")
    second = written(tmp_path, [{k: v for k, v in row.items() if k != "model"} for row in ROWS[2:]], "b.jsonl")
    trials = lb.read_trials([first, second], group="problem_id", selection="correct", where="problem_id == 'p1'")
    assert trials.families == ("a", "b")
    assert trials.selection.tolist() == [0, 0, 1, 1, 1, 1, 0, 1]
    assert trials.groups == ("p1",)


def test_a_problem_without_samples_is_said(tmp_path):
    rows = [*ROWS, {"model": "b", "problem_id": "p2", "correct": []}]
    trials = lb.read_trials(written(tmp_path, rows), group="problem_id", selection="correct")
    assert len(trials) == 16
    assert [(one.where, one.why) for one in trials.skipped] == [
        ("samples.jsonl, line 5", "its list 'correct' is empty: it has no samples")
    ]


def test_lists_of_different_lengths_are_refused(tmp_path):
    rows = [{"problem_id": "p0", "v": [0.1, 0.2], "correct": [1, 0, 0]}]
    with pytest.raises(DataError, match=r"line 1: 'v' lists 2 samples and 'correct' lists 3"):
        lb.read_trials(written(tmp_path, rows), group="problem_id", selection="v", reported="correct", direction="max")


def test_steps_and_trials_stay_checkpoints(tmp_path):
    curve = [{"run": i, "problem_id": "p", "h": [{"step": 1, "acc": 0.1}, {"step": 2, "acc": 0.4}]} for i in range(3)]
    assert len(lb.read_trials(written(tmp_path, curve), group="problem_id", selection="h.acc")) == 3
    runs = [{"run": i, "problem_id": "p", "acc": [0.1, 0.4]} for i in range(3)]
    trials = lb.read_trials(written(tmp_path, runs), group="problem_id", selection="acc", trial="run")
    assert trials.selection.tolist() == [0.4] * 3
    assert len(lb.read_trials(written(tmp_path, runs), group="none", selection="acc")) == 3
