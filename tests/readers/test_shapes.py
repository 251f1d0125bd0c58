"""Results in the shapes people have them: each is read as what it is, or asked about, and the reading is said."""

import json

import numpy as np
import pytest

import levelbest as lb
from levelbest.errors import Ambiguous, InputError
from levelbest.readers.steps.designs import designs_of

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


def test_epochs_without_runs_are_runs_that_begin_again():
    columns = log_of()
    expected = lb.read_trials(columns).selection.tolist()
    del columns["log"]
    assert lb.read_trials(columns).selection.tolist() == expected
    assert lb.read_trials(columns, trial="none").n_trials == 30
    one_run = {"epoch": list(range(10)), "val_loss": rng.random(10)}
    assert lb.read_trials(one_run).selection.tolist() == [min(one_run["val_loss"])]
    with pytest.raises(
        Ambiguous, match="'iteration' goes up from row to row: does it count the checkpoints of one run"
    ):
        lb.read_trials({"iteration": list(range(10)), "val_loss": rng.random(10)})


def test_the_epoch_of_the_best_checkpoint_is_no_counter():
    columns = {"epoch": rng.integers(1, 50, 40), "val_acc": rng.random(40), "run": [f"r{i}" for i in range(40)]}
    assert lb.read_trials(columns).n_trials == 40
    searched = {"iteration": np.arange(40), "val_acc": rng.random(40), "lr": rng.random(40)}
    assert lb.read_trials(searched).n_trials == 40


def test_a_list_of_many_objects_is_the_table_of_its_file(tmp_path):
    path = tmp_path / "all.json"
    results = [{"acc": float(x)} for x in rng.random(200)]
    path.write_text(json.dumps({"meta": {"user": "x"}, "notes": [1, 2], "results": results}))
    trials = lb.read_trials(path)
    assert trials.selection.tolist() == [result["acc"] for result in results]
    assert [(lost.where, lost.why) for lost in trials.skipped] == [
        ("all.json, notes", "it is stored beside the rows in 'results', not among them")
    ]


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
    assert "'model' has 12 values in 12 rows: it identifies trials rather than families" in said(trials)
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
    assert "the name 'v' does not say which direction is better: higher is assumed" in said(same)


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


def test_seeds_within_configurations_are_carried_as_data():
    trials = lb.read_trials(SEEDED | {"grad_norm": rng.random(25)})
    assert trials.setting.tolist() == [place for place in range(5) for _ in range(5)]
    (design,) = designs_of(trials)
    assert design.to_dict() == {"family": "dataframe", "kind": "seeds", "units": 5, "n_trials": 25}
    assert trials.take(np.arange(5)).setting.tolist() == [0] * 5
    alone = lb.read_trials({"lr": rng.random(25), "val_acc": rng.random(25)})
    assert (alone.setting, designs_of(alone)[0].kind) == (None, "trials")


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


# ------------------------------------------------------------------------------------------------ files and folders


def json_runs(folder, *, lost=()):
    for model in ("resnet", "vit"):
        for seed in range(4):
            path = folder / model / f"run_seed{seed}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            score = {} if (model, seed) in lost else {"val_acc": 0.5 + seed / 10}
            path.write_text(json.dumps({"config": {"lr": 0.1 * (seed + 1), "wd": 0.01 * seed}, **score}))


def test_a_folder_of_json_files_is_one_table(tmp_path):
    json_runs(tmp_path / "runs", lost={("vit", 2)})
    trials = lb.read_trials(tmp_path / "runs")
    assert trials.families == ("resnet", "vit")
    assert (trials.n_trials, trials.n_failed) == (8, 1)
    assert sorted(set(trials.seed.tolist())) == [0, 1, 2, 3]
    assert set(trials.configuration) == {"config.lr", "config.wd"}
    assert trials.configuration["config.lr"][:4].tolist() == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert "each of 8 files is one run, and all are one table, distinguished by 'folder' and 'seed'" in said(trials)


def test_json_files_are_never_one_family_each(tmp_path):
    json_runs(tmp_path)
    trials = lb.read_trials(str(tmp_path / "vit" / "*.json"))
    assert trials.families == ("vit",)
    assert trials.n_trials == 4
    listed = lb.read_trials(sorted((tmp_path / "vit").glob("*.json")), where="seed > 1")
    assert listed.selection.tolist() == pytest.approx([0.7, 0.8])


def test_logs_of_one_run_each_are_a_trial_each(tmp_path):
    for run in range(6):
        lines = [f"{e},{0.5 + run / 10 - (e - 3) ** 2 / 100}" for e in range(8)]
        (tmp_path / f"lr=0.{run + 1}.csv").write_text("\n".join(["epoch,val_acc", *lines]) + "\n")
    trials = lb.read_trials(str(tmp_path / "*.csv"))
    assert trials.selection.tolist() == pytest.approx([0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
    assert trials.configuration["lr"].tolist() == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])


def test_csv_files_of_many_trials_stay_a_family_each(tmp_path):
    for name in ("cnn", "lr"):
        (tmp_path / f"{name}.csv").write_text("val_acc\n" + "\n".join(map(str, rng.random(5))) + "\n")
    assert lb.read_trials(tmp_path).families == ("cnn", "lr")


def test_a_file_that_cannot_be_read_is_listed(tmp_path):
    json_runs(tmp_path)
    (tmp_path / "vit" / "broken.json").write_text('{"val_acc": ')
    trials = lb.read_trials(tmp_path)
    assert trials.n_trials == 8
    assert [lost.where for lost in trials.skipped] == ["vit/broken.json"]


def test_two_folders_are_two_families(tmp_path):
    for place in ("one", "two"):
        for job in range(3):
            folder = tmp_path / place / str(job) / ".hydra"
            folder.mkdir(parents=True)
            (folder / "config.yaml").write_text(f"lr: 0.{job + 1}\n")
            (folder / "hydra.yaml").write_text("hydra:\n  job:\n    name: train\n")
            (folder.parent / "metrics.json").write_text(json.dumps({"val_acc": 0.5 + job / 10}))
    trials = lb.read_trials([tmp_path / "one", tmp_path / "two"])
    assert trials.families == ("one", "two")
    assert "the 2 sources name the same families" in said(trials)
    assert lb.read_trials(tmp_path / "one").n_trials == 3


# ------------------------------------------------------------------------------------------------ other shapes


def test_lists_by_task_are_problems(tmp_path):
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps({f"HumanEval/{i}": [1, 0, i % 2] for i in range(6)}))
    trials = lb.read_trials(path)
    assert (len(trials.groups), trials.n_trials, trials.metric.direction) == (6, 18, "max")
    assert trials.selection.sum() == 9
    objects = {f"HumanEval/{i}": [{"passed": True}, {"passed": False}] for i in range(3)}
    path.write_text(json.dumps(objects))
    assert lb.read_trials(path).groups == ("HumanEval/0", "HumanEval/1", "HumanEval/2")


def test_lists_by_model_are_families(tmp_path):
    path = tmp_path / "models.json"
    path.write_text(json.dumps({"resnet": [0.5, 0.6, 0.55], "vit": [0.7, 0.65]}))
    trials = lb.read_trials(path, direction="max")
    assert trials.families == ("resnet", "vit")
    assert [trials[name].n_trials for name in trials.families] == [3, 2]


def test_columns_as_lists_stay_columns(tmp_path):
    path = tmp_path / "columns.json"
    path.write_text(json.dumps({"lr": [0.1, 0.2], "val_acc": [0.5, 0.6], "model": ["a", "b"]}))
    assert lb.read_trials(path).selection.tolist() == [0.5, 0.6]
    path.write_text(json.dumps({"lr": [0.1, 0.2], "acc": [0.5, 0.6]}))
    assert lb.read_trials(path).selection.tolist() == [0.5, 0.6]


@pytest.mark.parametrize("n_samples", [2, 5])
def test_samples_by_their_number_are_transposed(tmp_path, n_samples):
    path = tmp_path / "samples.json"
    path.write_text(json.dumps({f"sample_{s}": [int(p >= s) for p in range(7)] for s in range(n_samples)}))
    trials = lb.read_trials(path, direction="max")
    assert (len(trials.groups), trials.n_trials) == (7, 7 * n_samples)
    assert np.bincount(trials.group, weights=trials.selection).tolist() == [min(p + 1, n_samples) for p in range(7)]


def test_a_column_for_each_model_and_a_row_for_each_seed():
    columns = {"seed": [1, 2, 3], "resnet": [0.9, 0.91, 0.92], "vit": [0.8, 0.85, 0.81]}
    with pytest.raises(InputError, match="is a higher 'score' better"):
        lb.read_trials(columns)
    trials = lb.read_trials(columns, direction="max")
    assert trials.families == ("resnet", "vit")
    assert trials["vit"].selection.tolist() == [0.8, 0.85, 0.81]
    assert trials["vit"].seed.tolist() == [1, 2, 3]
    assert "each column is a family ('resnet' and 'vit'), and each row one seed" in said(trials)
    with pytest.raises(InputError, match="no column is obviously the selection score"):
        lb.read_trials({"seed": [1, 2], "lr": [0.1, 0.2], "layers": [12, 24]}, direction="max")


def test_counts_of_successes_are_samples():
    columns = {"task_id": ["a", "b", "c"], "n": [10, 10, 4], "c": [3, 0, 4]}
    trials = lb.read_trials(columns)
    assert (trials.groups, trials.n_trials, trials.metric.direction) == (("a", "b", "c"), 24, "max")
    assert np.bincount(trials.group, weights=trials.selection).tolist() == [3, 0, 4]
    assert "'c' of 'n' samples were successes: 24 samples" in said(trials)
    flags = {"task_id": ["a", "a", "b"], "n": [1, 2, 3], "correct": [1, 0, 1]}
    assert lb.read_trials(flags).n_trials == 3


# ------------------------------------------------------------------------------------------------ scores


def test_sampling_that_stops_after_a_batch_with_a_success():
    """30 problems in batches of 5 until one has a success, at most 4 batches."""
    draw = np.random.default_rng(9)
    rows = []
    for problem in range(30):
        for _ in range(4):
            batch = (draw.random(5) < 0.2).astype(float).tolist()
            rows += [(problem, value) for value in batch]
            if any(batch):
                break
    trials = lb.read_trials({"problem": [r[0] for r in rows], "correct": [r[1] for r in rows]})
    (caution,) = of_code(trials, "stops-at-success")
    assert (caution.kind, caution.fact("batch")) == ("batches", 5)
    fixed = {"problem": np.repeat(range(30), 10), "correct": (draw.random(300) < 0.2).astype(float)}
    assert not of_code(lb.read_trials(fixed), "stops-at-success")


def test_exploded_losses_are_said():
    losses = np.r_[0.07 + 0.01 * rng.random(40), 1e9]
    (caution,) = of_code(lb.read_trials({"val_loss": losses}), "outlier")
    assert (caution.kind, caution.fact("score"), caution.fact("count")) == ("worse", 1e9, 1)
    assert not of_code(lb.read_trials({"val_loss": np.random.default_rng(1).lognormal(0, 1, 200)}), "outlier")


def test_a_path_into_other_lists_is_no_traceback(tmp_path):
    path = tmp_path / "x.json"
    rows = [{"task": f"t{i}", "nums": [0.1, i / 10], "steps": [{"step": 1, "a": 0.2}]} for i in range(4)]
    path.write_text(json.dumps(rows))
    with pytest.raises(InputError, match=r"'steps.a' for .* leads into a list that has no number"):
        lb.read_trials(path, selection="nums", cost="steps.a", group="task", direction="max")


def test_trials_that_are_numbered_in_several_files_stay_trials(tmp_path):
    for name in ("a", "b"):
        rows = [f"{i},{rng.random()},{rng.integers(1, 9)},{rng.random()}" for i in range(30)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["step,dropout,width,val_acc", *rows]) + "\n")
    trials = lb.read_trials([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert trials.families == ("a", "b")
    assert trials.n_trials == 60


TITLED = {
    "padded, decimal commas": (
        "Results exported 2026-01-02;;;\nmodel;val_acc;test_acc;lr\ncnn;0,81;0,80;0,1\nvit;0,85;0,84;0,3\n",
        "line 1: above the header, which is in line 2: 'Results exported 2026-01-02'",
    ),
    "several lines, one with a comma": (
        "My sweep\n\nDate: 2026-01-02, by me\n\nmodel,val_acc,test_acc,lr\ncnn,.81,.8,1\nvit,.85,.84,2\n",
        "lines 1 to 3: above the header, which is in line 5: 'My sweep'",
    ),
    "keys and values": (
        "Run;resnet;;\nDate;2026-01-02;;\nmodel;val_acc;test_acc;lr\ncnn;0,81;0,80;0,1\nvit;0,85;0,84;0,3\n",
        "lines 1 to 2: above the header, which is in line 3: 'Run;resnet'",
    ),
    "below a comment": (
        "# by hand\nSweep of March\nmodel\tval_acc\ncnn\t.81\nvit\t.85\n",
        "lines 1 to 2: above the header, which is in line 3: 'Sweep of March'",
    ),
}


@pytest.mark.parametrize(("text", "told"), TITLED.values(), ids=list(TITLED))
def test_a_title_above_the_header_is_passed_over_and_told(tmp_path, text, told):
    path = tmp_path / "runs.csv"
    path.write_text(text)
    trials = lb.read_trials(path)
    assert (trials.families, trials.selection.tolist()) == (("cnn", "vit"), [0.81, 0.85])
    assert [f"{lost.where}: {lost.why}" for lost in trials.skipped] == [f"runs.csv, {told}"]


@pytest.mark.parametrize(
    "text",
    [
        ",val_acc\n0,.81\n1,.85\n",  # a header without a name for the row numbers
        "val_acc,\n.81,a\n.85,b\n",
        "model,,,val_acc\ncnn,x,y,.81\nvit,z,w,.85\n",
        "#run,val_acc\n1,.81\n2,.85\n",
        "# a comment\nrun,val_acc\n1,.81\n2,.85\n",
        "model,val_acc\ncnn,.81\ncnn,.85\n",
    ],
)
def test_a_header_is_not_taken_for_a_title(tmp_path, text):
    path = tmp_path / "runs.csv"
    path.write_text(text)
    trials = lb.read_trials(path)
    assert (trials.selection.tolist(), trials.skipped) == ([0.81, 0.85], ())


def test_a_title_above_a_table_too_big_to_hold(tmp_path, monkeypatch):
    monkeypatch.setattr("levelbest.readers.formats.plain.IN_MEMORY_UP_TO", 100)
    path = tmp_path / "runs.csv"
    path.write_text("My sweep;;\nmodel;val_acc;lr\n" + "".join(f"m{x % 2};0.{x + 100};{x}\n" for x in range(200)))
    trials = lb.read_trials(path)
    assert (len(trials), [lost.where for lost in trials.skipped]) == (200, ["runs.csv, line 1"])


def test_a_column_of_any_name_tells_runs_apart_where_epochs_begin_again_with_it(tmp_path):
    rng = np.random.default_rng(5)
    lengths = [3, 5, 4, 6]
    rows = [(f"night {run}", epoch, round(rng.random(), 3)) for run, n in enumerate(lengths) for epoch in range(n)]
    path = tmp_path / "logs.csv"
    path.write_text("batch of,epoch,val_acc\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))
    trials = lb.read_trials(path)
    assert trials.columns["trial"] == "batch of"
    assert trials.selection.tolist() == [max(c for a, _, c in rows if a == f"night {run}") for run in range(4)]
    assert "checkpoints" in {caution.kind for caution in trials.cautions}


def test_a_setting_is_not_taken_for_the_name_of_a_run(tmp_path):
    rows = [(lr, epoch, 0.5 + lr * epoch / 10) for lr in (0.1, 0.2, 0.4) for epoch in range(5)]
    path = tmp_path / "logs.csv"
    path.write_text("lr,epoch,val_acc\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))
    for given in ({}, {"trial": "lr"}):
        assert lb.read_trials(path, **given).selection.tolist() == pytest.approx([0.54, 0.58, 0.66])
    assert lb.read_trials(path).configuration["lr"].tolist() == [0.1, 0.2, 0.4]  # and it stays a setting


@pytest.mark.parametrize("counter", ["iteration", "epoch"])
def test_a_counter_of_trials_within_data_sets_is_not_taken_for_epochs(tmp_path, counter):
    """Ten draws whose settings vary from row to row are trials; epochs are never, whatever else varies."""
    rng = np.random.default_rng(6)
    rows = [(data, draw, round(rng.random(), 3), int(rng.integers(100))) for data in "abc" for draw in range(10)]
    path = tmp_path / "draws.csv"
    path.write_text(f"corpus,{counter},val_acc,width\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    assert len(lb.read_trials(path)) == (30 if counter == "iteration" else 3)
    path.write_text(f"corpus,{counter},val_acc\n" + "".join(",".join(map(str, row[:3])) + "\n" for row in rows))
    if counter == "iteration":
        with pytest.raises(Ambiguous, match="does it count the checkpoints of 3 runs"):
            lb.read_trials(path)
    else:
        assert "checkpoints" in {caution.kind for caution in lb.read_trials(path).cautions}


def test_objects_in_one_record_are_no_checkpoints_of_one_run(tmp_path):
    path = tmp_path / "runs.json"
    path.write_text(json.dumps({"runs": [{"acc": 0.5}, {"acc": 0.6}], "values": [1, 2, 3]}))
    assert lb.read_trials(path).n_trials == 2
    curve = [{"epoch": epoch, "acc": 0.5 + epoch / 100} for epoch in range(5)]
    path.write_text(json.dumps({"curve": curve, "config": {"lr": 0.1}}))
    assert lb.read_trials(path, selection="curve.acc").selection.tolist() == [0.54]


@pytest.mark.parametrize("cells", [[1, 0, 1], [0.25, 0.5, 1.0]], ids=["right or wrong", "scores"])
def test_samples_that_are_right_or_wrong_need_no_direction(tmp_path, cells):
    path = tmp_path / "samples.csv"
    path.write_text("task_id,sample_0,sample_1,sample_2\n" + f"t1,{cells[0]},{cells[1]},{cells[2]}\n" * 4)
    if cells[0] == 1:
        trials = lb.read_trials(path)
        assert (trials.columns["selection"], trials.metric.direction, len(trials)) == ("correct", "max", 12)
    else:
        with pytest.raises(InputError, match="higher 'score' better"):
            lb.read_trials(path)


def test_settings_in_the_names_of_folders_are_columns_and_the_rest_is_a_family(tmp_path):
    for model in ("bert", "gpt"):
        for place in range(4):
            run = tmp_path / f"{model}_lr0.{place + 1}_s{place}" / "metrics.json"
            run.parent.mkdir()
            run.write_text(json.dumps({"eval": {"f1": 0.5 + place / 10 + (model == "gpt") / 100}}))
    trials = lb.read_trials(tmp_path, selection="eval.f1")
    assert trials.families == ("bert", "gpt")
    assert trials.selection[trials.family == 1].tolist() == pytest.approx([0.51, 0.61, 0.71, 0.81])
    assert trials.configuration["lr"].tolist() == pytest.approx([0.1, 0.2, 0.3, 0.4] * 2)


def test_a_frame_that_pandas_split(tmp_path):
    path = tmp_path / "runs.json"
    rows = [["cnn", 0.7, 0.1], ["vit", 0.8, 0.2], ["cnn", 0.75], ["vit", 0.9, 0.3]]
    path.write_text(json.dumps({"columns": ["model", "val_acc", "lr"], "index": [0, 1, 2, 3], "data": rows}))
    trials = lb.read_trials(path)
    assert (trials.families, trials.selection.tolist()) == (("cnn", "vit"), [0.7, 0.8, 0.9])
    assert [(lost.where, lost.why) for lost in trials.skipped] == [
        ("runs.json, record 3", "it is not a list of 3 cells")
    ]


@pytest.mark.parametrize("given", ["folder", "folders", "files"])
def test_a_number_that_belongs_to_a_name_is_no_setting(tmp_path, given):
    """resnet18 and resnet50 are two models; seed0 and seed1, width18 and width50 are settings."""
    for model in ("resnet18", "resnet50"):
        for seed in range(4):
            run = tmp_path / model / f"width{2 ** (seed % 2)}_seed{seed}.json"
            run.parent.mkdir(exist_ok=True)
            run.write_text(json.dumps({"val_acc": 0.5 + seed / 100, "lr": 0.1}))
    paths = {
        "folder": tmp_path,
        "folders": sorted(tmp_path.iterdir()),
        "files": sorted(tmp_path.glob("*/*.json")),
    }
    trials = lb.read_trials(paths[given])
    assert trials.families == ("resnet18", "resnet50")
    assert np.bincount(trials.family).tolist() == [4, 4]
    assert trials.columns["seed"] == "seed"
    assert sorted(trials.configuration["width"].tolist()) == [1] * 4 + [2] * 4
    assert "resnet" not in trials.configuration


def test_the_one_word_that_differs_in_the_names_of_files_is_a_family(tmp_path):
    for place in range(6):
        for model in ("resnet", "vit"):
            run = tmp_path / f"{model}_seed{place}.json"
            run.write_text(json.dumps({"val_acc": 0.5 + place / 100 + (model == "vit") / 10}))
    trials = lb.read_trials(tmp_path)
    assert (trials.families, trials.columns["family"], trials.columns["seed"]) == (("resnet", "vit"), "name 1", "seed")
    for file in tmp_path.iterdir():
        file.rename(file.with_name(file.name.replace("seed", f"{file.stem[-1]}x")))
    with pytest.raises(Ambiguous, match=r"'name 1' \(resnet, vit\) and 'name 2' \(0x0, 1x1, 2x2 ...\) vary"):
        lb.read_trials(tmp_path)
    assert lb.read_trials(tmp_path, family="name 1").families == ("resnet", "vit")
    assert len(lb.read_trials(tmp_path, family="name 1,name 2").families) == 12
    assert len(lb.read_trials(tmp_path, family="none").families) == 1


def tables_of_trials(home, *names):
    for place, name in enumerate(names):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        scores = 0.5 + place / 10 + np.arange(8) / 1000
        (home / name).write_text("val_acc,lr\n" + "".join(f"{score},{rng.random()}\n" for score in scores))


def test_arguments_are_families_whatever_their_files_are_called(tmp_path):
    tables_of_trials(tmp_path, "adam/run1.csv", "adam/run2.csv", "sgd/run1.csv", "sgd/run2.csv")
    for source in ([tmp_path / "adam", tmp_path / "sgd"], tmp_path, sorted(tmp_path.glob("*/*.csv"))):
        trials = lb.read_trials(source)
        assert trials.families == ("adam", "sgd")
        assert [round(float(trials[name].selection.mean()), 2) for name in trials.families] == [0.55, 0.75]


def test_two_parts_of_paths_that_cross_are_a_question(tmp_path):
    tables_of_trials(tmp_path, *(f"{a}/{b}.csv" for a in ("adam", "sgd") for b in ("resnet", "vit")))
    with pytest.raises(Ambiguous, match=r"'folder' \(adam, sgd\) and 'name 1' \(resnet, vit\) vary"):
        lb.read_trials(tmp_path)
    assert lb.read_trials(tmp_path, family="folder").families == ("adam", "sgd")
    assert lb.read_trials(tmp_path, family="folder,name 1").families[1] == "adam / vit"


@pytest.mark.parametrize(
    ("inner", "seeds", "settings"),
    [
        ("", {"1.0", "2.0"}, {}),
        ("seed", {"0.0", "1.0", "2.0"}, {"s": {"1.0", "2.0"}}),  # two parts are two columns
        ("rep", None, {"s": {"1.0", "2.0"}, "rep": {"0.0", "1.0", "2.0"}}),
    ],
)
def test_s_is_short_for_seed_where_nothing_else_tells_runs_apart(inner, seeds, settings, tmp_path):
    for family in ("resnet", "vit"):
        for s in (1, 2):
            for run in range(3) if inner else (0,):
                folder = tmp_path / family / f"s{s}" / (f"{inner}{run}" if inner else "")
                folder.mkdir(parents=True)
                (folder / "metrics.json").write_text(json.dumps({"val_acc": (s + run) / 10}))
    trials = lb.read_trials(tmp_path)
    assert (None if trials.seed is None else {str(seed) for seed in trials.seed}) == seeds
    assert {name: {str(value) for value in column} for name, column in trials.configuration.items()} == settings


@pytest.mark.parametrize(
    ("first", "second"), [("val", "test"), ("train", "test"), ("mean", "std"), ("x", "y"), ("resnet", "vit")]
)
def test_lists_by_name_are_read_as_the_same_table_is(first, second, tmp_path):
    """As a mapping, a JSON document or a CSV file: the same families, or the same question."""
    columns = {first: [0.51, 0.55, 0.53, 0.57], second: [0.5, 0.54, 0.52, 0.56]}
    (tmp_path / "t.json").write_text(json.dumps(columns))
    rows = [f"{a},{b}" for a, b in zip(*columns.values(), strict=True)]
    (tmp_path / "t.csv").write_text("\n".join([f"{first},{second}", *rows]) + "\n")
    readings = []
    for source in (columns, tmp_path / "t.json", tmp_path / "t.csv"):
        try:
            trials = lb.read_trials(source, direction="max")
            readings.append((len(trials), len(trials.families), trials.metric.selection, trials.metric.reported))
        except Ambiguous as question:
            readings.append(str(question).partition(": ")[2])
    assert readings[0] == readings[1] == readings[2]
    assert isinstance(readings[0], str) or readings[0] in ((4, 1, "val", "test"), (8, 2, "score", None))


@pytest.mark.parametrize(("names", "families"), [("fold1,fold2", None), ("resnet18,resnet50", 2), ("v0,w1", 2)])
def test_columns_that_are_counted_are_no_families(names, families, tmp_path):
    (tmp_path / "t.csv").write_text(f"{names}\n.51,.5\n.55,.54\n.53,.52\n.57,.56\n")
    if families is None:
        with pytest.raises(Ambiguous, match="where each of these columns is a family"):
            lb.read_trials(tmp_path / "t.csv", direction="max")
    else:
        assert len(lb.read_trials(tmp_path / "t.csv", direction="max").families) == families


def test_levels_of_folders_that_repeat_are_no_families(tmp_path):
    for algorithm in ("PPO", "A2C"):
        for number in (1, 2, 3):
            run = tmp_path / f"{algorithm}_{number}" / "metrics.json"
            run.parent.mkdir()
            run.write_text(json.dumps({"val_acc": 0.5 + number / 100}))
    trials = lb.read_trials(tmp_path)
    assert (trials.families, trials.n_trials) == (("A2C", "PPO"), 6)
    for size in (18, 50, 101):
        tables_of_trials(tmp_path / "nets", f"resnet_{size}/log.csv")
    assert lb.read_trials(tmp_path / "nets").families == ("resnet_101", "resnet_18", "resnet_50")


def test_a_model_of_one_name_does_not_pool_the_arguments(tmp_path):
    for name in ("before", "after"):
        rows = "".join(f"cnn,{rng.random()}\n" for _ in range(6))
        (tmp_path / name).mkdir()
        (tmp_path / name / "results.csv").write_text("model,val_acc\n" + rows)
    assert lb.read_trials([tmp_path / "before", tmp_path / "after"]).families == ("before", "after")
    for name in ("before", "after"):  # parts of one table of two models
        (tmp_path / name / "results.csv").write_text("model,val_acc\ncnn,.5\ncnn,.6\nvit,.7\nvit,.8\n")
    assert lb.read_trials([tmp_path / "before", tmp_path / "after"]).families == ("cnn", "vit")


def test_no_family_and_no_group_can_be_said_of_wide_tables():
    table = {"model": ["m", "m", "k"], "problem": ["a", "b", "a"], "s0": [1, 0, 1], "s1": [0, 0, 1], "s2": [1, 1, 1]}
    trials = lb.read_trials(table, family="none", diagnostics=False)
    assert (len(trials.families), trials.groups, len(trials)) == (1, ("a", "b"), 9)
    trials = lb.read_trials(table, group="none", diagnostics=False)
    assert (trials.families, trials.groups, len(trials)) == (("m", "k"), (), 9)
    alone = {name: column for name, column in table.items() if name != "model"}
    assert lb.read_trials(alone, group="none", diagnostics=False).group is None
