"""Lists of scores in JSON: tasks, repeats and checkpoints are told apart by what stands beside them, or asked about."""

import json

import pytest

import levelbest as lb
from levelbest.errors import Ambiguous

MODELS = {"a": 0.5, "b": 0.6}


def read(tmp_path, rows, **given):
    path = tmp_path / "results.json"
    path.write_text(json.dumps(rows))
    return lb.read_trials(path, direction="max", **given)


def listed(**more):
    """Three scores in each of four rows: .5, .6, .7 of the first model with its first seed."""
    return [
        {"model": model, "seed": seed, "acc": [round(level + seed / 100 + place / 10, 2) for place in range(3)], **more}
        for model, level in MODELS.items()
        for seed in (0, 1)
    ]


def test_numbers_without_a_word_of_time_are_asked_about(tmp_path):
    with pytest.raises(Ambiguous, match=r"'acc' lists 3 numbers .*trial='acc'.*task='acc'.*seed_column='acc'"):
        read(tmp_path, listed(), selection="acc")
    assert read(tmp_path, listed(), selection="acc", trial="acc").selection.tolist() == [0.7, 0.71, 0.8, 0.81]
    tasks = read(tmp_path, listed(), selection="acc", task="acc")
    assert (len(tasks), tasks.tasks, tasks.selection[:3].tolist()) == (12, ("1", "2", "3"), [0.5, 0.6, 0.7])
    folds = read(tmp_path, listed(), selection="acc", seed_column="acc")
    assert (len(folds), folds.seed[:3].tolist()) == (12, ["1", "2", "3"])


@pytest.mark.parametrize("name", ["languages", "subsets", "tasks", "datasets"])
def test_names_in_a_list_beside_are_tasks(tmp_path, name):
    trials = read(tmp_path, listed(**{name: ["en", "de", "fr"]}), selection="acc")
    assert (len(trials), trials.tasks) == (12, ("en", "de", "fr"))


def test_objects_with_the_name_of_a_task_are_tasks(tmp_path):
    rows = [
        {**row, "results": [{"language": key, "acc": acc} for key, acc in zip("xyz", row.pop("acc"), strict=True)]}
        for row in listed()
    ]
    trials = read(tmp_path, rows, selection="results.acc")
    assert (trials.tasks, len(trials), trials.selection[:3].tolist()) == (("x", "y", "z"), 12, [0.5, 0.6, 0.7])


def test_a_history_stays_one_run(tmp_path):
    rows = [{"model": model, "learning_curve": [0.1, 0.5, level]} for model, level in MODELS.items() for _ in range(2)]
    assert read(tmp_path, rows, selection="learning_curve").selection.tolist() == [0.5, 0.5, 0.6, 0.6]
    long = [{"model": "a", "val_acc": [place / 100 for place in range(size)]} for size in (20, 20, 20)]
    assert len(read(tmp_path, long, selection="val_acc")) == 3
    unequal = [{"model": "a", "acc": [0.1] * size} for size in (3, 4)]
    assert len(read(tmp_path, unequal, selection="acc")) == 2
