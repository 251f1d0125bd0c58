"""Numbers with a few values that every family has: conditions of the evaluation, or settings that are searched over."""

import numpy as np
import pytest

import levelbest as lb
from levelbest.cli.main import main
from levelbest.errors import Ambiguous

FAST = {"n_resamples": 99}


def runs(column, values, *, runs=6, seeded=True, families=("cnn", "vit"), **more):
    """Several runs of each family at each value; the last family is better by four standard deviations everywhere."""
    rng = np.random.default_rng(3)
    rows = [(name, value, run) for name in families for value in values for run in range(runs)]
    table = {"model": [row[0] for row in rows], column: [row[1] for row in rows]}
    table |= {"seed": [row[2] for row in rows]} if seeded else {}
    better = np.array([0.04 * (name == families[-1]) + 0.02 * values.index(value) for name, value, _ in rows])
    return table | {"accuracy": (0.6 + better + rng.normal(0, 0.01, len(rows))).round(4).tolist()} | more


@pytest.mark.parametrize("seeded", [True, False])
@pytest.mark.parametrize(
    ("column", "values"),
    [("shots", [0, 1, 5]), ("n_shots", [0, 5]), ("Few-Shot", [0, 8]), ("noise_level", [0.0, 0.1, 0.3])],
)
def test_what_can_only_be_a_condition_is_a_task(column, values, seeded):
    table = runs(column, values, seeded=seeded)
    trials = lb.read_trials(table)
    assert trials.columns["task"] == column
    assert column not in trials.configuration
    compared = lb.compare(table, **FAST)
    assert list(compared.tasks) == [str(value) if value else "0" for value in values]
    assert all(each["vit", "cnn"].verdict_at(1) == "vit" for each in compared.tasks.values())


def test_many_levels_of_a_condition_are_tasks_too():
    levels = [*range(-20, 20, 2)]
    assert len(lb.read_trials(runs("snr", levels)).tasks) == 20


def test_the_choice_is_said_and_undone(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = runs("shots", [0, 1, 5])
    lines = [",".join(table), *(",".join(map(str, row)) for row in zip(*table.values(), strict=True))]
    (tmp_path / "shots.csv").write_text("\n".join(lines) + "\n")
    assert main(["compare", "shots.csv", "--details"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.startswith("Over 3 tasks, for a new run: vit, better than cnn")
    assert "the 3 values of 'shots' are conditions, each with a verdict (--task none if it is a setting)" in printed
    assert main(["compare", "shots.csv", "--task", "none"]) == 0
    assert "configuration" in capsys.readouterr().out
    (tmp_path / "noise.csv").write_text((tmp_path / "shots.csv").read_text().replace("shots", "noise"))
    assert main(["compare", "noise.csv"]) == 1
    asked = capsys.readouterr().err
    assert "values of 'noise' (0, 1, 5): are they conditions, each with a verdict (--task noise), or a setting" in asked
    assert "(--task none)?" in asked
    for answer, answered in (("noise", "Over 3 tasks"), ("none", "With 1 configuration")):
        assert main(["compare", "noise.csv", "--task", answer]) == 0
        assert capsys.readouterr().out.startswith(answered)


@pytest.mark.parametrize("seeded", [True, False])
@pytest.mark.parametrize(
    ("column", "values"),
    [("noise", [0.0, 0.1, 0.3]), ("context_length", [2048, 8192]), ("n_agents", [1, 2, 4]), ("train_size", [10, 1000])],
)
def test_other_numbers_that_every_family_has_are_asked_about(column, values, seeded):
    table = runs(column, values, seeded=seeded)
    with pytest.raises(Ambiguous, match=rf"values of '{column}' .*\(task='{column}'\).*\(task='none'\)\?"):
        lb.read_trials(table)
    assert lb.read_trials(table, task=column).tasks
    assert column in lb.read_trials(table, task="none").configuration


def test_a_missing_run_and_a_measured_column_change_nothing():
    table = runs("noise", [0.0, 0.1, 0.3])
    fewer = {key: column[:4] + column[5:] for key, column in table.items()}
    drawn = table | {"weighted_gap": np.random.default_rng(0).random(36).tolist()}
    for one in (fewer, drawn):
        with pytest.raises(Ambiguous, match="values of 'noise'"):
            lb.read_trials(one, selection="accuracy")


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("lr", [0.1, 0.01, 0.001]),
        ("batch_size", [16, 32]),
        ("encoder_layers", [2, 4]),
        ("config.noise", [0, 1]),
    ],
)
def test_hyperparameters_are_not_asked_about(column, values):
    assert column in lb.read_trials(runs(column, values)).configuration


def test_a_grid_of_several_settings_is_not_asked_about():
    one = runs("noise", [0.0, 0.1])
    grid = {key: column * 2 for key, column in one.items()} | {"lr": [0.1] * 24 + [0.01] * 24}
    assert {"noise", "lr"} <= set(lb.read_trials(grid).configuration)
    assert lb.read_trials({("shots" if key == "noise" else key): column for key, column in grid.items()}).columns[
        "task"
    ] == ("shots")


def test_where_no_answer_differs_nothing_is_asked():
    assert len(lb.read_trials(runs("noise", [0.0, 0.1, 0.3], families=("cnn",))).families) == 1
    assert "noise" in lb.read_trials(runs("noise", [0.0, 0.1, 0.3], runs=1)).configuration  # one run of each
    assert "noise" in lb.read_trials(runs("noise", [0, 1, 2, 5, 10, 20, 50, 70, 100])).configuration  # many values


def test_settings_that_a_search_draws_are_not_asked_about():
    rng = np.random.default_rng(7)
    for _ in range(50):
        table = {"model": ["a"] * 20 + ["b"] * 20, "n_agents": rng.integers(1, 4, 40).tolist()}
        table["val_acc"] = rng.normal(0.8, 0.02, 40).tolist()
        assert "n_agents" in lb.read_trials(table).configuration


def test_two_conditions_are_asked_about():
    one = runs("shots", [0, 5])
    table = {key: column * 2 for key, column in one.items()} | {"dataset": ["x"] * 24 + ["y"] * 24}
    with pytest.raises(Ambiguous, match=r"by 'dataset' and 'shots'; keep one value .*\(where=\"shots = '0'\"\)"):
        lb.read_trials(table)
    assert lb.read_trials(table, where="shots = 0").columns["task"] == "dataset"


def test_conditions_and_folds():
    one = runs("fold", [0, 1, 2, 3, 4], runs=1, seeded=False)
    table = {key: column * 2 for key, column in one.items()} | {"shots": [0] * 10 + [5] * 10}
    compared = lb.compare(table, **FAST)
    assert {each.terms.design for each in compared.tasks.values()} == {"folds"}


@pytest.mark.parametrize("column", ["version", "noise", "n_agents", "release"])
def test_seeds_that_begin_again_show_conditions_of_uneven_counts(column):
    """The worse family has most of its runs where all score best: pooled, it would win."""
    rng = np.random.default_rng(301)
    counts = {"base": (0.6, (2, 2, 12)), "large": (0.63, (12, 2, 2))}
    plan = [(name, value, mean, n) for name, (mean, each) in counts.items() for value, n in enumerate(each, start=1)]
    table = {"model": [], column: [], "seed": [], "accuracy": []}
    for name, value, mean, count in plan:
        table["model"] += [name] * count
        table[column] += [value] * count
        table["seed"] += range(count)
        table["accuracy"] += (mean + 0.06 * value + rng.normal(0, 0.01, count)).tolist()
    with pytest.raises(Ambiguous, match=f"with each of the 3 values of {column!r}"):
        lb.compare(table, **FAST)
    each = lb.compare(table, task=column, **FAST).tasks
    assert {value: compared["base", "large"].verdict_at(1) for value, compared in each.items()}["1"] != "base"


def test_a_number_beside_tasks_is_asked_about():
    rng = np.random.default_rng(5)
    rows = [(m, d, v, s) for m in ("cnn", "vit") for d in "abcd" for v in (0.0, 0.2, 0.4) for s in range(5)]
    table = {name: [row[at] for row in rows] for at, name in enumerate(("model", "dataset", "noise_rate", "seed"))}
    table["test_acc"] = [0.8 - 0.3 * row[2] + 0.05 * (row[0] == "vit") + rng.normal(0, 0.01) for row in rows]
    with pytest.raises(Ambiguous, match="of the 3 values of 'noise_rate' and of 'dataset': keep one value"):
        lb.compare(table, **FAST)
    kept = lb.compare(table, where="noise_rate = 0.2", **FAST)
    assert all(each["vit", "cnn"].verdict_at(1) == "vit" for each in kept.tasks.values())
    assert "noise_rate" in lb.read_trials(table, task="dataset").configuration
