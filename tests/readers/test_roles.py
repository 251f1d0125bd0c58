"""What columns are taken for, by their names alone; and what is asked instead."""

import json

import numpy as np
import pytest

import levelbest as lb
from levelbest.errors import InputError
from levelbest.readers.steps import names
from levelbest.readers.steps.cells import status_of


def said(trials, code="guessed-columns"):
    return " ".join(caution.sentence for caution in trials.cautions if caution.code == code)


@pytest.mark.parametrize(
    ("name", "direction"),
    [
        ("val_acc", "max"), ("dev F1", "max"), ("valAUC", "max"), ("top_1", "max"), ("reward", "max"), ("r2", "max"),
        ("val_loss", "min"), ("RMSE", "min"), ("test/perplexity", "min"), ("wer", "min"), ("val_error", "min"),
        ("neg_mean_squared_error", "max"), ("val_score", None), ("objective", None), ("epoch_40/val_vs0_fqe", None),
        ("accuracy_loss", None), ("metric:normal [0.0; 1.0] (maximize)", "max"), ("cost (minimise)", "min"),
    ],
)  # fmt: skip
def test_direction_by_name(name, direction):
    assert names.direction_of(name)[0] == direction


def test_bounds_written_in_a_name():
    assert names.direction_of("metric:accuracy [0.0; 1.0] (maximize)") == ("max", (0.0, 1.0))
    assert names.direction_of("acc [low; high]")[1] == (None, None)


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("gpu_hours", "GPU h"), ("time_seconds", "s"), ("time_total_s", "s"), ("train_minutes", "min"), ("hours", "h"),
        ("cost_usd", "USD"), ("runtime", None), ("tpu_days", "TPU d"), ("n_messages", "messages"), ("latency_ms", "ms"),
    ],
)  # fmt: skip
def test_unit_by_name(name, unit):
    assert names.cost_unit_of(name) == unit


def test_leaky_names():
    assert names.leaky_name("Best Precision_test")
    assert names.leaky_name("max_test_acc")
    assert not names.leaky_name("test_acc")
    assert not names.leaky_name("test_acc_at_best_val")


@pytest.mark.parametrize(
    ("word", "status"),
    [
        ("COMPLETE", "ok"), ("TrialState.PRUNED", "pruned"), ("FAIL", "failed"), ("TERMINATED", "ok"), ("maybe", None),
        ("timeout", "failed"), ("killed", "failed"), ("NaN", "diverged"), ("RUNNING", "running"),
        ("not evaluated", "running"),
    ],
)  # fmt: skip
def test_status_words(word, status):
    assert status_of(word) == status


def table(**columns):
    return lb.read_trials(columns)


def test_a_test_score_of_the_same_metric_is_the_reported_one():
    trials = lb.read_trials({"val_acc": [0.1], "test_acc": [0.2], "test_f1": [0.3]})
    assert trials.metric.reported == "test_acc"
    alone = lb.read_trials({"valid.accuracy": [0.1], "init.test.accuracy": [0.2]})
    assert alone.metric.reported is None
    assert "'init.test.accuracy' could be the reported" in said(alone)


def test_none_means_none():
    trials = lb.read_trials({"val_acc": [0.1], "test_acc": [0.2], "seconds": [1.0]}, reported="none", cost="none")
    assert trials.reported is None
    assert trials.cost is None


def test_the_same_column_twice_is_said():
    trials = lb.read_trials({"acc": [0.1, 0.2]}, selection="acc", reported="acc")
    assert trials.reported is None
    assert "one column, 'acc'" in said(trials, "selection-is-reported")


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"val_acc": [1], "model": ["a"], "method": ["b"]}, "the family could be any of 'model', 'method'"),
        ({"val_acc": [1], "dev_acc": [1]}, "the selection score could be any of 'val_acc', 'dev_acc'"),
        (
            {"val_acc": [1], "test_acc": [1], "test-acc": [1]},
            "the reported score could be any of 'test_acc', 'test-acc'",
        ),
        ({"train_acc": [1], "lr": [1]}, "no column is obviously the selection score; name it with"),
        ({"val_acc": ["high", "low", "mid"]}, "no column is obviously the selection score"),
    ],
)
def test_two_candidates_are_asked_about(columns, sentence):
    with pytest.raises(InputError, match=sentence):
        lb.read_trials(columns)


def test_two_costs_are_left_open_and_said():
    trials = lb.read_trials({"val_acc": [0.1], "train_time": [1.0], "runtime": [2.0]})
    assert trials.cost is None
    assert "could be the cost (" in said(trials)


def test_cumulative_and_scored_times_are_no_cost():
    trials = lb.read_trials({"val_acc": [0.1], "cum_cost_usd": [1.0], "start_time": [2.0], "val_time": [3.0]})
    assert trials.cost is None


def test_names_may_differ_in_case_and_punctuation():
    assert lb.read_trials({"Val Acc.": [0.1]}, selection="val_acc").metric.selection == "Val Acc."
    with pytest.raises(
        InputError, match=r"could be any of 'val_acc', 'val-acc'; give (--selection|selection=) exactly"
    ):
        lb.read_trials({"val_acc": [0.1], "val-acc": [0.1]}, selection="val acc")


def test_families_of_several_columns_and_of_a_name_with_a_comma():
    columns = {"val_acc": [0.1, 0.2, 0.3], "data": ["x", "x", "y"], "model": ["a", "b", "a"]}
    assert lb.read_trials(columns, family="data,model").families == ("x / a", "x / b", "y / a")
    assert lb.read_trials(columns, family=["model", "data"]).family.tolist() == [0, 1, 2]
    comma = {"val_acc": [0.1, 0.2], "a,b": ["x", "y"]}
    assert lb.read_trials(comma, family="a,b").families == ("x", "y")


def test_a_row_without_family_is_skipped_aloud():
    trials = lb.read_trials({"val_acc": [0.1, 0.2], "model": ["a", None]})
    assert [one.why for one in trials.skipped] == ["it has no model"]
    assert trials.n_trials == 1


def test_rows_that_look_like_checkpoints_are_pointed_out():
    columns = {"run": ["a", "a", "b", "b"], "epoch": [1, 2, 1, 2], "val_acc": [0.1, 0.2, 0.3, 0.4]}
    taken = lb.read_trials(columns)
    assert "rows are checkpoints of the 2 runs in 'run'" in said(taken)
    assert taken.selection.tolist() == lb.read_trials(columns, trial="run").selection.tolist() == [0.2, 0.4]
    assert "checkpoints" not in said(lb.read_trials(columns, trial="run"))
    assert lb.read_trials(columns, trial="none").n_trials == 4


def test_statuses_of_tools_and_of_flags():
    trials = lb.read_trials({"val_acc": [0.1, 0.2, 0.3], "State": ["finished", "crashed", "running"]})
    assert (trials.n_trials, trials.n_failed, trials.n_running) == (2, 1, 1)
    odd = lb.read_trials({"val_acc": [0.1, 0.2], "status": ["published", "draft"]})
    assert odd.n_failed == 0  # no words of a status: not one
    with pytest.raises(InputError, match="holds words that are not a status, such as 'published'"):
        lb.read_trials({"val_acc": [0.1, 0.2], "status": ["published", "draft"]}, status="status")
    flagged = lb.read_trials({"val_acc": [0.1, None, 0.3], "diverged": [False, True, True]})
    assert [lb.trials.STATUSES[code] for code in flagged.status] == ["ok", "diverged", "ok"]


def test_wide_tables_of_models_are_families():
    trials = lb.read_trials(
        {"model": ["a", "b"], "seed0": [0.1, 0.2], "seed1": [0.3, 0.4], "seed2": [0.5, 0.6]}, direction="max"
    )
    assert trials.families == ("a", "b")
    assert trials.group is None
    assert trials["b"].selection.tolist() == [0.2, 0.4, 0.6]


def test_wide_columns_by_pattern():
    columns = {"item": ["p", "q"], "try-a": [1, 0], "try-b": [0, 0]}
    trials = lb.read_trials(columns, wide="try-*", direction="max")
    assert (len(trials), trials.groups) == (4, ("p", "q"))
    with pytest.raises(InputError, match=r"no column of dataframe matches (--wide|wide=) s"):
        lb.read_trials(columns, wide="s*", direction="max")


def test_searches_and_seeds():
    trials = lb.read_trials({"val_acc": [0.1, 0.2, 0.3], "search": [1, 1, 2], "seed": [7, 8, 9]})
    assert trials.searches == ("1", "2")
    assert [int(seed) for seed in trials.seed] == [7, 8, 9]


def test_percentages_outside_bounds_are_hinted_at():
    with pytest.raises(InputError, match="are these percentages"):
        lb.read_trials({"val_acc": [55.0, 60.0]}, bounds=(0, 1))


def test_a_column_of_text_is_refused_as_a_score():
    with pytest.raises(InputError, match="must hold numbers, and 2 of 2 cells do not"):
        lb.read_trials({"note": ["x", "y"], "val_acc": [1, 2]}, selection="note", direction="max")


def test_words_in_a_cost_do_not_cost_the_trial():
    trials = lb.read_trials({"val_acc": [0.1, 0.2, 0.3], "cost": ["1", "2", "free"]})
    assert trials.n_trials == 3
    assert np.isnan(trials.cost[2])
    assert "'free' is not a number; read as empty" in trials.skipped[0].why


def test_settings_of_a_nested_file_play_their_parts(tmp_path):
    """A folder of JSON files, one a run, as a training script leaves it: the model and the seed are settings."""
    for i in range(12):
        model, score = ("bert", 0.80) if i < 6 else ("roberta", 0.84)
        config = {"model": model, "lr": 1e-5 * (i + 1), "seed": i % 6}
        document = {"config": config, "metrics": {"dev": {"f1": score + 0.001 * i}}}
        (tmp_path / f"{model}_{i % 6}.json").write_text(json.dumps(document))
    trials = lb.read_trials(tmp_path)
    assert trials.families == ("bert", "roberta")
    assert trials.columns["family"] == "config.model"
    assert trials.columns["seed"] == "config.seed"
    # the numbers in the files' names and equal seeds are no equal configurations: nothing is compared pair by pair
    assert lb.compare(trials, n=[2], n_resamples=50).terms.design == "trials"


def test_a_plain_name_goes_before_a_setting():
    rows = {"method": ["a", "a", "b", "b"], "config.model": ["x", "y", "x", "y"], "acc": [0.1, 0.2, 0.3, 0.4]}
    assert lb.read_trials(rows).families == ("a", "b")
