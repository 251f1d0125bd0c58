"""Results in the shapes people have them: each is read as what it is, or asked about, and the reading is said."""

import json

import numpy as np
import pytest

import levelbest as lb
from levelbest.errors import InputError

rng = np.random.default_rng(16)


def said(trials, code="guessed-columns"):
    return " ".join(caution.sentence for caution in trials.cautions if caution.code == code)


def of_code(trials, code):
    return [caution for caution in trials.cautions if caution.code == code]


# ------------------------------------------------------------------------------------------------ runs and checkpoints


def log_of(runs=5, epochs=6):
    """One row per epoch: the best of run r is 0.5 + r / 100, at the last epoch but one."""
    rows = [(f"log{r}", e, 0.5 + r / 100 - (e - epochs + 2) ** 2 / 1000) for r in range(runs) for e in range(epochs)]
    return {"log": [r[0] for r in rows], "epoch": [r[1] for r in rows], "val_acc": [r[2] for r in rows]}


def test_a_row_per_epoch_is_a_trial_per_run():
    trials = lb.read_trials(log_of())
    assert trials.n_trials == 5
    assert trials.selection.tolist() == pytest.approx([0.50, 0.51, 0.52, 0.53, 0.54])
    assert "rows are checkpoints of the 5 runs in 'log'" in said(trials)
    assert lb.read_trials(log_of(), trial="none").n_trials == 30


def test_seeds_tell_runs_apart_where_nothing_else_does():
    columns = log_of()
    columns["seed"] = [int(name[3:]) for name in columns.pop("log")]
    columns["model"] = ["cnn"] * 30
    assert lb.read_trials(columns).n_trials == 5


def test_epochs_without_runs_are_asked_about():
    columns = log_of()
    del columns["log"]
    with pytest.raises(InputError, match="rows look like checkpoints, since 'epoch' goes up"):
        lb.read_trials(columns)
    assert lb.read_trials(columns, trial="none").n_trials == 30
    one_run = {"epoch": list(range(10)), "val_loss": rng.random(10)}
    with pytest.raises(InputError, match="rows look like checkpoints"):
        lb.read_trials(one_run)


def test_the_epoch_of_the_best_checkpoint_is_no_counter():
    columns = {"epoch": rng.integers(1, 50, 40), "val_acc": rng.random(40), "run": [f"r{i}" for i in range(40)]}
    assert lb.read_trials(columns).n_trials == 40
    searched = {"iteration": np.arange(40), "val_acc": rng.random(40), "lr": rng.random(40)}
    assert lb.read_trials(searched).n_trials == 40


def test_a_list_of_many_objects_is_no_single_trial(tmp_path):
    path = tmp_path / "all.json"
    results = [{"acc": float(x)} for x in rng.random(200)]
    path.write_text(json.dumps({"meta": {"user": "x"}, "notes": [1, 2], "results": results}))
    with pytest.raises(InputError, match="one record, and 'results' a list of 200 items without a step"):
        lb.read_trials(path, selection="results.acc")


@pytest.mark.parametrize("end", ["NaN", "Infinity"])
def test_curves_that_end_in_nan_are_diverged(tmp_path, end):
    path = tmp_path / "curves.json"
    path.write_text(f'[{{"acc": [0.1, 0.9, {end}]}}, {{"acc": [0.2, null]}}, {{"acc": [0.3, NaN, 0.25]}}]')
    trials = lb.read_trials(path, selection="acc")
    assert trials.n_failed == 1
    assert [lb.trials.STATUSES[code] for code in trials.status] == ["diverged", "ok", "ok"]
    assert trials.selection.tolist()[1:] == [0.2, 0.3]


def test_runs_whose_last_row_is_nan_are_diverged(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("run,epoch,val_acc\na,1,.5\na,2,nan\nb,1,.6\nb,2,\nc,1,nan\nc,2,.7\n")
    trials = lb.read_trials(path)
    assert [lb.trials.STATUSES[code] for code in trials.status] == ["diverged", "ok", "ok"]
    assert trials.selection.tolist()[1:] == [0.6, 0.7]


# ------------------------------------------------------------------------------------------------ roles


def test_a_column_with_one_trial_in_nearly_every_family_is_none():
    zoo = {"model": [f"net{i}" for i in range(12)], "val_acc": rng.random(12)}
    trials = lb.read_trials(zoo)
    assert len(trials.families) == 1
    assert "'model' has 12 values in 12 rows: it tells trials apart and not families" in said(trials)
    assert len(lb.read_trials(zoo, family="model").families) == 12


def test_family_none():
    columns = {"model": ["a", "b"] * 10, "val_acc": rng.random(20)}
    assert lb.read_trials(columns).families == ("a", "b")
    assert lb.read_trials(columns, family="none").families == ("dataframe",)


@pytest.mark.parametrize(("name", "direction"), [("test_acc", "max"), ("test_loss", "min")])
def test_the_only_score_is_the_selection_score(name, direction):
    trials = lb.read_trials({name: [0.5, 0.6, 0.7], "lr": [1, 2, 3]})
    assert (trials.metric.selection, trials.metric.reported, trials.metric.direction) == (name, None, direction)
    assert of_code(trials, "no-reported")


@pytest.mark.parametrize("name", ["passed", "correct", "solved"])
def test_the_direction_of_successes_is_plain(name):
    trials = lb.read_trials({"problem": ["a", "a", "b", "b"], name: [True, False, False, False]})
    assert (trials.metric.direction, trials.groups) == ("max", ("a", "b"))


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("2:31", 151), ("1:02:03", 3723), ("1h 2m", 3720), ("90 min", 5400), ("2m30s", 150), ("1 day, 0:00:10", 86410),
        ("45s", 45), ("1d 2h", 93600),
    ],
)  # fmt: skip
def test_durations_as_people_write_them(written, seconds):
    trials = lb.read_trials({"val_acc": [0.5, 0.6], "runtime": [written, "0:10"]})
    assert trials.cost.tolist() == [seconds, 10]
    assert trials.metric.cost_unit == "s"
    assert "hours, minutes and seconds" in said(trials, "converted-numbers")


def test_a_column_may_be_named_without_its_tools_prefix():
    columns = {"user_attrs_test_acc": [0.5], "params_lr": [0.1], "value": [0.4]}
    trials = lb.read_trials(columns, selection="value", reported="test_acc", direction="max")
    assert trials.metric.reported == "user_attrs_test_acc"
    both = {"metrics.rmse": [0.5], "params.rmse": [0.1]}
    with pytest.raises(InputError, match=r"could be any of 'metrics.rmse', 'params.rmse'"):
        lb.read_trials(both, selection="rmse")


def test_at_most_ten_names_the_nearest_first():
    columns = {f"column_{i}": [1.0] for i in range(40)} | {"name": [1.0], "a.metrics.rmse": [1.0]}
    with pytest.raises(InputError) as caught:
        lb.read_trials(columns, selection="rmse")
    message = str(caught.value)
    assert "did you mean 'a.metrics.rmse'? known: a.metrics.rmse, " in message
    assert message.count(",") <= 10
    assert "and 32 more" in message


# ------------------------------------------------------------------------------------------------ directions and scales


def test_scores_that_point_different_ways():
    columns = {"td_error": [3.0, 1.0, 2.0], "reward": [10.0, 30.0, 20.0]}
    trials = lb.read_trials(columns, selection="td_error", reported="reward")
    assert trials.metric.direction == "max"
    assert trials.selection.tolist() == [-3.0, -1.0, -2.0]
    told = lb.read_trials(
        {"val_x": [3.0, 1.0], "reward": [10.0, 30.0]}, selection="val_x", reported="reward", selection_direction="min"
    )
    assert told.selection.tolist() == [-3.0, -1.0]
    same = lb.read_trials({"v": [3.0, 1.0], "reward": [10.0, 30.0]}, selection="v", reported="reward")
    assert "the name 'v' does not tell which way is better: a higher one is taken to be" in said(same)


def test_percent_beside_shares_is_asked_about():
    columns = {"model": ["a"] * 5 + ["b"] * 5, "val_acc": [0.8, 0.82, 0.9, 0.7, 0.85, 81, 92, 75, 88, 90]}
    with pytest.raises(
        InputError, match=r"between 0.7 and 0.9 in 'a' and between 75 and 92 in 'b': are some in percent"
    ):
        lb.read_trials(columns)
    assert lb.read_trials(columns, bounds=(0, 100)).n_trials == 10


# ------------------------------------------------------------------------------------------------ designs


def wandb_csv(tmp_path, n=24):
    """A W&B export of a grid, 2 x 3 settings, with 4 seeds each."""
    cells = [(lr, layers, seed) for lr in (0.1, 0.01) for layers in (1, 2, 3) for seed in range(4)][:n]
    rows = [
        f"run-{i},finished,2026-01-{i + 1:02d},{60 + i},{lr},{layers},{seed},{rng.random():.6f},{rng.random():.6f}"
        for i, (lr, layers, seed) in enumerate(cells)
    ]
    path = tmp_path / "wandb_export.csv"
    path.write_text("\n".join(["Name,State,Created,Runtime,lr,layers,seed,val_acc,test_acc", *rows]) + "\n")
    return path


def test_a_wandb_export_keeps_its_hyperparameters(tmp_path):
    trials = lb.read_trials(wandb_csv(tmp_path))
    assert set(trials.configuration) == {"lr", "layers"}
    (caution,) = of_code(trials, "nested-seeds")
    assert (caution.value, caution.fact("several")) == (6.0, 6)
    assert of_code(trials, "grid")[0].fact("levels") == (2, 3)


SEEDED = {
    "lr": [lr for lr in (0.1, 0.2, 0.3, 0.4, 0.5) for _ in range(5)],
    "seed": list(range(5)) * 5,
    "val_acc": rng.random(25),
}


@pytest.mark.parametrize(
    "stray",
    [
        {"grad_norm": rng.random(25)},
        {"learning_rate": SEEDED["lr"]},
        {"lr_class": ["low" if lr < 0.25 else "high" for lr in SEEDED["lr"]]},
        {"config.momentum": [0.9] * 25},
        {"epochs_done": rng.integers(1, 100, 25)},
        {"best_epoch": rng.integers(1, 100, 25)},
        {"lr": np.array(SEEDED["lr"]) * (1 + 1e-12 * rng.random(25))},
    ],
)
def test_a_stray_column_does_not_hide_the_seeds(stray):
    (caution,) = of_code(lb.read_trials(SEEDED | stray), "nested-seeds")
    assert caution.value == 5.0


def test_numbered_configurations_are_configurations():
    columns = {
        "config_id": [c for c in range(6) for _ in range(4)],
        "seed": list(range(4)) * 6,
        "val_acc": rng.random(24),
    }
    (caution,) = of_code(lb.read_trials(columns), "nested-seeds")
    assert caution.value == 6.0
    alone = lb.read_trials({"config_id": range(24), "val_acc": rng.random(24)})
    assert not of_code(alone, "grid")


def test_several_seeds_are_said_where_there_are_several():
    lr = [*np.linspace(0.1, 0.9, 20), 0.1, 0.1]
    trials = lb.read_trials({"lr": lr, "seed": range(22), "val_acc": rng.random(22)})
    assert not of_code(trials, "nested-seeds")
    assert of_code(trials, "repeated-configurations")[0].value == 2.0
    most = lb.read_trials({"lr": [1, 1, 2, 2, 3, 3, 4], "seed": range(7), "val_acc": rng.random(7)})
    assert "4 configurations, 3 of them with several seeds" in said(most, "nested-seeds")


def test_random_search_is_no_design():
    """One categorical and two continuous settings drawn at random, 200 times: at most 3 false alarms (expected < 1)."""
    alarms = 0
    for seed in range(200):
        draw = np.random.default_rng(seed)
        columns = {
            "lr": draw.random(20), "wd": draw.random(20), "opt": draw.choice(["adam", "sgd"], 20),
            "layers": draw.integers(1, 4, 20).astype(float), "seed": draw.integers(0, 10**6, 20).astype(float),
            "val_acc": draw.random(20),
        }  # fmt: skip
        found = lb.read_trials(columns)
        alarms += any(of_code(found, code) for code in ("grid", "nested-seeds", "repeated-configurations"))
    assert alarms <= 3


def test_converting_twice_adds_one_prefix(tmp_path):
    first = lb.write_trials(lb.read_trials(SEEDED), tmp_path / "one.csv")
    second = lb.write_trials(lb.read_trials(first), tmp_path / "two.csv")
    assert first.read_text() == second.read_text()
    assert "config.lr" in second.read_text().splitlines()[0].split(",")
