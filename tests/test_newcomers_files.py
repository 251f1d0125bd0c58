"""Files that newcomers tried: each reading is checked against what its rows hold."""

import csv
import json

import numpy as np
import pytest

import levelbest as lb
from levelbest.cli.main import main
from levelbest.errors import Ambiguous, DataError


def write(path, rows):
    """A CSV file of dictionaries."""
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    return path


def learning_curves(counter, unit):
    """Six seeds of two algorithms at four checkpoints; the last is the best of each run, 20 apart."""
    return [
        {"algo": algo, "seed": s, counter: int(place * unit), "episode_return": gain * level + (s * 5) % 7 - 3}
        for algo, level in (("PPO", 100), ("DQN", 80))
        for s in range(6)
        for place, gain in ((1, 0.4), (2, 0.6), (5, 0.85), (10, 1))
    ]


@pytest.mark.parametrize("counter", ["step", "timesteps", "total_timesteps", "frames", "env_frames", "num_timesteps"])
def test_steps_in_an_environment_are_checkpoints(counter, tmp_path):
    path = write(tmp_path / "runs.csv", learning_curves(counter, 1e6))
    trials = lb.read_trials(path)
    assert (len(trials), dict(trials.configuration)) == (12, {})
    effect = lb.compare(path).pairs[0].effect
    assert (effect.winner, effect.difference) == ("PPO", pytest.approx(20))


def test_frames_of_a_video_are_a_setting(tmp_path):
    path = write(tmp_path / "runs.csv", learning_curves("frames", 8))
    trials = lb.read_trials(path)
    assert len(trials) == 48
    assert "frames" in trials.configuration


def suite(column, label, n_tests=60):
    """Ten runs of each test on two branches, all passed but those of one test on one branch."""
    return [
        {"branch": branch, column: label(test), "run": run, "pass": int((branch, test) != ("pr", 7))}
        for branch in ("main", "pr")
        for test in range(n_tests)
        for run in range(10)
    ]


CASES = [("test", label, n_tests) for label in ("t{:02d}".format, "{}".format) for n_tests in (9, 60)]
CASES += [(name, "t{:02d}".format, 9) for name in ("tests", "Test Case", "test_id", "testcase", "check", "nodeid")]


@pytest.mark.parametrize(("column", "label", "n_tests"), CASES)
def test_a_test_that_fails_in_every_run_is_a_regression(column, label, n_tests, tmp_path):
    path = write(tmp_path / "suite.csv", suite(column, label, n_tests))
    gate = lb.gate(path, baseline="main", candidate="pr", family="branch")
    assert (gate.decision, [row.problem for row in gate.broken]) == ("regressed", [label(7)])
    trials = lb.read_trials(path)
    assert (trials.families, trials.columns["group"], len(trials.groups)) == (("main", "pr"), column, n_tests)
    alone = lb.read_trials(path, where="branch = 'main'", family="none")
    assert (alone.columns["group"], alone.reported) == (column, None)


def test_a_deleted_test_lets_nothing_pass(tmp_path):
    once = [row for row in suite("test", "t{:02d}".format) if row["run"] == 0 and row["test"] != "t07"]
    alone = {"branch": "main", "test": "t07", "run": 0, "pass": 1}
    gate = lb.gate(write(tmp_path / "suite.csv", [*once, alone]), baseline="main", candidate="pr", family="branch")
    assert (gate.decision == "pass", gate.absent) == (False, ("t07",))


@pytest.mark.parametrize("n_tests", [9, 60])
def test_scenarios_are_no_repeated_trials(n_tests, tmp_path, capsys):
    path = str(write(tmp_path / "suite.csv", suite("scenario", "t{:02d}".format, n_tests)))
    assert main(["gate", path, "--baseline", "main", "--candidate", "pr", "--family", "branch"]) > 0
    assert "--group" in capsys.readouterr().err


def test_a_column_named_test_may_be_a_score():
    runs = {
        "model": ["a"] * 4 + ["b"] * 4,
        "val_acc": [0.7, 0.8, 0.75, 0.72] * 2,
        "test": [0.6, 0.7, 0.65, 0.61, 0.6, 0.7, 0.66, 0.63],
    }
    assert lb.read_trials(runs, direction="max").metric.reported == "test"
    whole = {**runs, "val_acc": [70, 80, 75, 72] * 2, "test": [60, 70, 65, 61, 62, 71, 66, 64]}
    assert lb.read_trials(whole, direction="max").metric.reported == "test"


@pytest.mark.parametrize("outcome", ["result", "ending", "status"])
def test_an_outcome_that_repeats_the_score_is_no_failure(outcome, tmp_path):
    words = ["passed", "failed: AssertionError", "timed out", "passed", "failed: NameError"]
    rows = [(f"HumanEval/{task}", words[(task + 2 * sample) % 5]) for task in range(15) for sample in range(10)]
    path = tmp_path / "samples.jsonl"
    lines = [{"task_id": task, "completion": "x", outcome: word, "passed": word == "passed"} for task, word in rows]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    trials = lb.read_trials(path)
    assert (trials.n_failed, trials.columns.get("status"), dict(trials.configuration)) == (0, None, {})
    for failed in ("worst", "drop"):
        assert lb.curve(path, n=1, failed=failed).value == pytest.approx([2 / 5])
    lines[0][outcome] = "timed out"  # the word and the score disagree: it says more than the score
    lines[0]["passed"] = True
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert lb.read_trials(path).columns["status"] == outcome


def test_runs_in_paths_that_differ_in_a_number(tmp_path):
    accuracies = {"resnet": [0.80, 0.81, 0.79, 0.82, 0.80], "vit": [0.84, 0.85, 0.83, 0.86, 0.84]}
    path, pattern = tmp_path / "nested.json", "results.seed_*.{}.acc"
    for split in ("test", "val"):
        models = {
            model: {"results": {f"seed_{seed}": {split: {"acc": x, "loss": 1 - x}} for seed, x in enumerate(values)}}
            for model, values in accuracies.items()
        }
        path.write_text(json.dumps(models))
        with pytest.raises(Ambiguous) as question:
            lb.read_trials(path)
        assert f"wide='{pattern.format(split)}'" in str(question.value)
        with pytest.raises(Ambiguous, match="is each row a family"):
            lb.read_trials(path, wide=pattern.format(split))
        trials = lb.read_trials(path, wide=pattern.format(split), family="key")
        assert (trials.metric.score, trials.metric.direction, len(trials.seed)) == ("acc", "max", 10)
        for model, values in accuracies.items():
            assert trials[model].selection.tolist() == values


def test_families_that_are_yes_or_no_are_called_by_their_column(tmp_path, capsys):
    runs = {"mixup": [True] * 4 + [False] * 4, "val_acc": [0.8, 0.82, 0.81, 0.83, 0.7, 0.72, 0.71, 0.73]}
    assert lb.read_trials(runs, family="mixup").families == ("mixup = True", "mixup = False")
    words = {**runs, "mixup": ["yes"] * 4 + ["no"] * 4, "model": ["cnn", "vit"] * 4}
    assert lb.read_trials(words, family="mixup").families == ("mixup = yes", "mixup = no")
    rows = [dict(zip(words, row, strict=True)) for row in zip(*words.values(), strict=True)]
    path = str(write(tmp_path / "runs.csv", rows))
    assert main(["compare", path, "--family", "mixup", "--name", "mixup = yes=With mixup"]) == 0
    assert "With mixup, better than mixup = no" in capsys.readouterr().out
    joint = lb.read_trials(words, family="model,mixup").families
    assert set(joint) == {f"{model} / mixup = {mixup}" for model in ("cnn", "vit") for mixup in ("yes", "no")}


def test_families_are_named_as_they_are_over_tasks(tmp_path, capsys):
    rows = [
        {"model": model, "dataset": data, "seed": seed, "accuracy": level + seed / 1000}
        for model, level in (("vit", 0.8), ("cnn", 0.7))
        for data in ("cifar", "svhn")
        for seed in range(8)
    ]
    assert main(["compare", str(write(tmp_path / "tasks.csv", rows))]) == 0
    printed = capsys.readouterr().out
    assert "cifar  vit, better than cnn" in printed
    assert "Vit" not in printed


def test_columns_of_one_metric_are_families(tmp_path):
    rows = [{"subject": f"s{i}", "acc_before": 0.6 + i / 200, "acc_after": 0.7 + (i * 7 % 20) / 200} for i in range(20)]
    trials = lb.read_trials(write(tmp_path / "subjects.csv", rows), family="columns")
    assert (trials.families, trials.metric.score) == (("acc_before", "acc_after"), "acc")
    for name in trials.families:
        assert trials[name].selection.tolist() == [row[name] for row in rows]
    rows = [{"subject": row["subject"], "acc": row["acc_before"], "loss": row["acc_after"]} for row in rows]
    with pytest.raises(DataError, match="'acc' and 'loss' are of two metrics"):
        lb.read_trials(write(tmp_path / "two.csv", rows), family="columns")


def rounds_of_trials(name="round"):
    """Two models in three rounds of ten trials, each round with a narrower range of learning rates."""
    rng = np.random.default_rng(5)
    rows = []
    for model, level in (("unet", 0.80), ("segformer", 0.83)):
        for count in (1, 2, 3):
            for trial in range(10):
                rate = 10 ** rng.uniform(-5 + count / 2, -1 - count / 2.5)
                score = round(level + count / 100 + rng.normal(0, 0.01), 4)
                rows.append({"model": model, name: count, "trial": trial, "lr": rate, "val_dice": score})
    return rows


@pytest.mark.parametrize("name", ["round", "search_round", "generation"])
def test_rounds_of_a_search_are_asked_about(name, tmp_path):
    path = write(tmp_path / "rounds.csv", rounds_of_trials(name))
    with pytest.raises(Ambiguous) as question:
        lb.read_trials(path)
    for answer in ("model", name, "none"):
        assert f"(search='{answer}')" in str(question.value)
    counts = {search: lb.read_trials(path, search=search).searches for search in ("model", name, "none")}
    assert {search: len(searches) for search, searches in counts.items()} == {"model": 2, name: 3, "none": 0}
    assert {tuple(lb.read_trials(path, search=search).configuration) for search in counts} == {("lr",)}
    one = lb.compare(path, search="model")
    assert (one.families, one.pairs[0].verdicts[0].verdict) == (("unet", "segformer"), "not comparable")


def test_rounds_of_federated_training_are_checkpoints(tmp_path):
    rows = [
        {"model": model, "seed": seed, "lr": 0.1, "round": place, "val_acc": level + place / 100 + seed / 1000}
        for model, level in (("a", 0.5), ("b", 0.6))
        for seed in range(4)
        for place in range(1, 11)
    ]
    assert len(lb.read_trials(write(tmp_path / "rounds.csv", rows))) == 8


LEADERBOARDS = [
    ("Model,Accuracy (mean),Accuracy (std),Seeds", "sd"),
    ("model,acc_mean,acc_std,n", "sd"),
    ("model,mean_acc,std_acc,n_seeds", "sd"),
    ("model,acc,acc_stderr,n_runs", "se"),
    ("Method,Accuracy,Std. Dev.,# runs", "sd"),
    ("method,mean,sd,n", "sd"),
]


@pytest.mark.parametrize(("header", "kind"), LEADERBOARDS)
def test_means_and_their_spread_are_a_claim_and_no_trials(header, kind, tmp_path, capsys):
    path = tmp_path / "means.csv"
    path.write_text(f"{header}\nX,84.2,0.3,5\nY,87.6,0.4,5\n")
    for command in ("compare", "report", "plan", "curve"):
        assert main([command, str(path), "--direction", "max"]) == 1
        assert f"levelbest claim {path.name} --direction max" in capsys.readouterr().err
    read = lb.claim(path)
    assert [(row.name, row.mean, row.spread, row.n, row.reading) for row in (read.baseline, read.pairs[0].claim)] == [
        ("X", 84.2, 0.3, 5, kind),
        ("Y", 87.6, 0.4, 5, kind),
    ]


def test_of_two_metrics_one_is_claimed(tmp_path):
    path = tmp_path / "means.csv"
    path.write_text("model,acc_mean,acc_std,loss_mean,loss_std,n\nX,84.2,0.3,0.52,0.02,5\nY,87.6,0.4,0.41,0.01,5\n")
    with pytest.raises(Ambiguous, match="'acc_mean' or 'loss_mean'"):
        lb.claim(path)
    read = lb.claim(path, selection="loss_mean")
    assert (read.direction, read.baseline.mean, read.baseline.spread) == ("min", 0.52, 0.02)


def test_means_of_configurations_are_trials():
    rates = [0.1, 0.01, 0.001, 0.0001]
    searched = {"model": list("abcd"), "lr": rates, "acc_mean": [0.7, 0.8, 0.82, 0.75], "acc_std": [0.01] * 4}
    assert len(lb.read_trials(searched, family="none", selection="acc_mean")) == 4
    assert len(lb.read_trials(searched, selection="acc_mean")) == 4


def test_an_interval_or_a_score_alone_is_no_sample(tmp_path, capsys):
    path = tmp_path / "scores.csv"
    path.write_text("model,BLEU,ci_low,ci_high\nX,24.2,23.8,24.6\nY,27.6,27.1,28.1\n")
    with pytest.raises(DataError, match="one score with an interval"):
        lb.compare(path)
    with pytest.raises(Ambiguous, match="nothing says its confidence"):
        lb.claim(path)
    path.write_text("model,accuracy\nX,84.2\nY,87.6\nZ,85\n")
    for command in ("compare", "report", "plan"):
        assert main([command, str(path)]) == 1
        printed = capsys.readouterr()
        assert "each of the 3 families has one score" in printed.err
        assert "levelbest claim scores.csv" in printed.err
        assert not printed.out
