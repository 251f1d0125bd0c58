"""What headers and cells say in words: other languages, arrows, ratings, phrases of a status, splits and metrics."""

import json

import numpy as np
import pytest

import levelbest as lb
from levelbest.errors import Ambiguous
from levelbest.readers.steps import names
from levelbest.readers.steps.cells import status_of


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Genauigkeit (Val)", ("accuracy", "val")),
        ("Modèle", ("model",)),
        ("exactitud_prueba", ("accuracy", "test")),
        ("dokładność_test", ("accuracy", "test")),
        ("验证准确率", ("validation", "accuracy")),
        ("モデル", ("model",)),
        ("точность", ("accuracy",)),
        ("학습률", ("learning", "rate")),
        ("chrF", ("chrf",)),
        ("valAcc", ("val", "acc")),
    ],
)
def test_words_of_other_languages_and_of_metrics(name, words):
    assert names.tokens(name) == words


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("FID ↓", "min"),
        ("Quality ↑", "max"),
        ("Ours ↑↓", None),
        ("gap (%)", "min"),
        ("human_normalized_score", "max"),
        ("score", None),
    ],
)
def test_an_arrow_or_a_gap_tells_the_direction(name, way):
    assert names.direction_of(name)[0] == way


@pytest.mark.parametrize(
    ("phrase", "status"),
    [
        ("CUDA error", "failed"),
        ("nan loss", "diverged"),
        ("no error", None),
        ("killed by user", "failed"),
        ("fine", None),
    ],
)
def test_a_phrase_says_how_a_trial_ended(phrase, status):
    assert status_of(phrase) == status


RUNS = 12
RNG = np.random.default_rng(29)
VALID, TEST = RNG.uniform(0.7, 0.9, (2, RUNS)).round(4)
RATES = RNG.uniform(0, 1, RUNS).round(4)


def by_split(**more):
    """Two rows for each run of two models, the test scores last."""
    columns = {"model": ["a", "b"] * RUNS, "lr": [*RATES, *RATES], "split": ["valid"] * RUNS + ["test"] * RUNS}
    return columns | {"acc": [*VALID, *TEST]} | {name: [*cells] for name, cells in more.items()}


@pytest.mark.parametrize(
    "more", [{}, {"time_stamp": np.arange(2 * RUNS)}, {"energy_kwh": RNG.random(2 * RUNS).round(1)}]
)
def test_rows_of_splits_are_one_trial(more):
    trials = lb.read_trials(by_split(**more))
    assert (trials.columns["selection"], trials.columns["reported"]) == ("valid_acc", "test_acc")
    assert sorted(trials.selection) == sorted(VALID)
    assert dict(zip(trials.selection, trials.reported, strict=True)) == dict(zip(VALID, TEST, strict=True))
    assert sorted(trials.configuration["lr"]) == sorted(RATES)


def test_rows_of_splits_that_nothing_joins_are_asked_about():
    columns = {"model": ["a"] * 6 + ["b"] * 6, "split": ["valid", "test"] * 6, "acc": np.linspace(0.5, 0.8, 12)}
    with pytest.raises(Ambiguous, match="nothing says which of them belong to one run"):
        lb.read_trials(columns)
    assert len(lb.read_trials(columns, where="split = 'test'")) == 6


def test_rows_of_metrics_are_columns():
    seeds = np.tile(np.repeat(np.arange(4), 2), 2)
    columns = {"model": ["a"] * 8 + ["b"] * 8, "seed": seeds, "metric": ["f1", "loss"] * 8, "value": np.arange(16) / 20}
    with pytest.raises(Ambiguous, match="could be any of 'f1', 'loss'"):
        lb.read_trials(columns)
    trials = lb.read_trials(columns, selection="loss")
    assert (len(trials), trials.metric.direction) == (8, "min")
    assert sorted(trials.selection) == [number / 20 for number in range(1, 16, 2)]


def test_the_mean_of_folds_is_the_score():
    folds = RNG.uniform(0.6, 0.9, (3, 20)).round(4)
    columns = {"model": ["a", "b"] * 10, "lr": RNG.random(20), "mean_acc": folds.mean(0).round(4)}
    for name in ("acc_{}", "fold{}_acc"):
        parts = {name.format(place): fold for place, fold in enumerate(folds, 1)}
        assert lb.read_trials(columns | parts).columns["selection"] == "mean_acc"
    with pytest.raises(Ambiguous):
        lb.read_trials(columns | parts | {"mean_acc": folds.mean(0).round(4) + 0.001})


def test_ids_of_questions_are_problems_where_answers_are_right_or_wrong():
    ids, right = np.tile(np.arange(40), 2), RNG.integers(0, 2, 80)
    columns = {"model": ["a"] * 40 + ["b"] * 40, "id": ids, "correct": right}
    assert lb.read_trials(columns).columns["group"] == "id"
    scores = {"model": columns["model"], "id": ids, "accuracy": RNG.random(80)}
    assert "group" not in lb.read_trials(scores).columns


def test_numbered_attempts_at_tasks_are_samples_of_problems():
    cells = [(agent, task, attempt) for agent in "ab" for task in range(15) for attempt in range(3)]
    columns = {"agent": [cell[0] for cell in cells], "task": [f"t{cell[1]}" for cell in cells]}
    columns |= {"attempt": [cell[2] for cell in cells], "reward": RNG.integers(0, 2, len(cells))}
    assert lb.read_trials(columns).columns["group"] == "task"
    del columns["attempt"]
    with pytest.raises(Ambiguous, match="are the 15 values of 'task' problems"):
        lb.read_trials(columns)


def test_a_column_of_any_name_says_how_runs_ended():
    columns = {"model": ["a", "b"] * 10, "ending": ["ok"] * 18 + ["OOM"] * 2, "val_acc": [0.0] * 20}
    columns["val_acc"] = [*RNG.uniform(0.7, 0.8, 18), 0.0, 0.0]
    trials = lb.read_trials(columns)
    assert (trials.columns["status"], int((trials.status > 0).sum())) == ("ending", 2)


def test_what_is_said_of_a_problem_is_no_family():
    columns = {"index": np.arange(60), "gold_label": ["yes", "no", "maybe"] * 20, "accuracy": RNG.random(60)}
    assert len(lb.read_trials(columns).families) == 1


def test_an_error_and_its_negative_are_one_score():
    rmse = RNG.random(20).round(4)
    columns = {"model": ["a", "b"] * 10, "seed": np.arange(20) // 2, "val.score": -rmse, "val.rmse": rmse}
    trials = lb.read_trials(columns)
    assert (trials.columns["selection"], trials.metric.direction) == ("val.rmse", "min")


@pytest.mark.parametrize(("counter", "steps"), [("megatokens", 1000), ("queries", 50)])
def test_a_number_of_any_name_that_a_learning_curve_follows_is_asked_about(counter, steps):
    place = np.arange(1, 26)
    run = {counter: steps * place, "lr": 0.1 * 0.97**place, "val_loss": 1.5 / place + 0.01 * RNG.random(25)}
    with pytest.raises(Ambiguous, match=f"'{counter}' goes up from row to row"):
        lb.read_trials(run)
    assert len(lb.read_trials(run | {"val_loss": RNG.random(25)})) == 25
    assert len(lb.read_trials(run | {"lr": RNG.random(25)})) == 25


@pytest.mark.parametrize("counter", ["kimg", "env_frames", "num_updates", "it"])
def test_counters_of_more_tools_make_one_run(counter):
    place = np.arange(1, 26)
    assert len(lb.read_trials({counter: 10 * place, "val_loss": 1 / place})) == 1


def test_the_only_score_is_a_list_and_words_are_no_score(tmp_path):
    rows = [
        {"model": name, "languages": ["de", "fr"], "accuracies": [0.5, 0.6 + k / 9]} for name in "ab" for k in (1, 2)
    ]
    path = tmp_path / "languages.json"
    path.write_text(json.dumps(rows))
    trials = lb.read_trials(path)
    assert (len(trials), trials.columns["task"]) == (8, "accuracies task")
    with pytest.raises(Ambiguous, match="'score' holds words such as 'good'"):
        lb.read_trials({"model": ["a", "b"] * 4, "score": ["good"] * 8})
    path.write_text(json.dumps([{"lr": 0.1 * k, "curve": [{"step": 1, "top": 0.5}]} for k in range(1, 5)]))
    with pytest.raises(Ambiguous, match=r"inside lists: 'curve.step', 'curve.top'"):
        lb.read_trials(path)
