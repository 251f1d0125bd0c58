"""Answers that were wrong once: each test speaks to the command line or to `levelbest` alone, and fails on the code
that gave them."""

import csv
import json
import math
from importlib import resources

import numpy as np
import pytest

import levelbest as lb
import levelbest.stats
from levelbest.cli.main import main

FAST = {"n_resamples": 199}
RESAMPLES = ["--resamples", "199"]


def written(path, columns):
    """A CSV file of columns, empty where a value is missing."""
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(columns)
        for row in zip(*columns.values(), strict=True):
            table.writerow(["" if value is None or value != value else value for value in row])
    return str(path)


def printed(capsys, *arguments):
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


# ---- one question, one answer


def test_compare_and_report_decide_the_shipped_results_alike(tmp_path, capsys):
    shipped = str(resources.files("levelbest") / "data" / "digits.csv")
    reading = ["--where", "family == 'svm' or family == 'random-forest'", "--direction", "max", "--bounds", "0", "1"]
    compared = printed(capsys, "compare", shipped, *reading)["comparisons"]
    reported = printed(capsys, "report", shipped, *reading, "--out", str(tmp_path / "page.html"))["pairs"]
    ranges = {
        tuple(pair["families"]): [(row["start"], row["end"], row["verdict"]) for row in pair["ranges"]]
        for pair in reported
        if (pair["statistic"], pair["axis"]) == ("mean", "trials")
    }
    verdicts = {
        tuple(pair["families"]): [(row["from"], row["to"], row["verdict"]) for row in pair["verdicts"]]
        for pair in compared
    }
    assert ranges == verdicts


def test_a_plan_does_not_depend_on_the_order_of_the_families(tmp_path, capsys):
    rng = np.random.default_rng(1)
    skewed, plain = rng.exponential(size=24) ** 2, 1 + rng.normal(size=24)
    plans = []
    for name, first, second in (("ab", skewed, plain), ("ba", plain, skewed)):
        columns = {"model": [name[0]] * 24 + [name[1]] * 24, "val": [*first, *second]}
        given = written(tmp_path / f"{name}.csv", columns)
        document = printed(capsys, "plan", given, "--n", "3", "--direction", "max", "--selection", "val")
        (pair,) = document["separations"]
        plans.append((pair["needed"], pair["low"], pair["high"]))
    assert plans[0] == plans[1]


def test_spearman_is_one_number(tmp_path, capsys):
    rng = np.random.default_rng(1)
    selection = rng.normal(size=20)
    reported = selection + rng.normal(size=20)
    selection[::5] = reported[::5] = np.nan
    given = written(tmp_path / "r.csv", {"model": ["a"] * 20, "val_acc": selection, "test_acc": reported})
    ok = ~np.isnan(selection)
    ranks = [np.argsort(np.argsort(column[ok])) for column in (selection, reported)]
    exact = np.corrcoef(*ranks)[0, 1]
    (described,) = printed(capsys, "describe", given)["families"]
    (family,) = printed(capsys, "report", given, *RESAMPLES, "--out", str(tmp_path / "page.html"))["families"]
    assert described["spearman"] == pytest.approx(exact)
    assert family["spearman"] == pytest.approx(exact)


def test_describe_shows_both_scores(tmp_path, capsys):
    columns = {"model": ["a"] * 4, "val_acc": [0.1, 0.2, 0.3, 0.4], "test_acc": [0.25, 0.45, 0.65, 0.85]}
    assert main(["describe", written(tmp_path / "r.csv", columns)]) == 0
    shown = capsys.readouterr().out
    assert "median" in shown
    assert "0.550" in shown  # the mean and the median of the reported score
    assert "0.850" in shown


def test_the_first_cost_budget_is_one_number(tmp_path, capsys):
    rng = np.random.default_rng(4)
    cost = np.r_[rng.exponential(1, 30), rng.exponential(3, 30)] + 0.1
    columns = {"model": ["a"] * 30 + ["b"] * 30, "val_acc": rng.normal(size=60), "gpu_hours": cost}
    given = written(tmp_path / "r.csv", columns)
    reading = ["--cost", "gpu_hours", *RESAMPLES]
    (compared,) = printed(capsys, "compare", given, "--axis", "cost", *reading)["comparisons"]
    report = printed(capsys, "report", given, *reading, "--out", str(tmp_path / "page.html"))
    lines = [line for line in report["lines"] if line["axis"] == "cost"]
    first = min(np.median(cost[:30]), np.median(cost[30:]))
    assert compared["points"][0].get("cost", compared["points"][0]["n"]) == pytest.approx(first)
    assert min(line["x"][0] for line in lines) == pytest.approx(first)


# ---- an interval belongs to the estimate beside it


@pytest.mark.parametrize("estimator", ["v", "naive"])
def test_an_estimator_without_limits_of_its_own_has_none(estimator):
    scores = np.random.default_rng(6).normal(size=30)
    trials = lb.Trials.from_arrays(scores, direction="max")
    drawn = lb.curve(trials, estimator=estimator, n=[1, 5], **FAST)
    assert np.isnan(drawn.low).all()
    assert drawn.method == "none"


def test_limits_hold_the_gaussian_value_beside_them(tmp_path, capsys):
    accuracy = [*(0.9 + 0.03 * np.random.default_rng(0).random(40)), *np.linspace(0, 0.1, 8)]
    given = written(tmp_path / "r.csv", {"model": ["a"] * 48, "val_acc": accuracy})
    (family,) = printed(capsys, "curve", given, "--estimator", "gaussian", "--bounds", "0", "1", *RESAMPLES)["families"]
    for point in family["points"]:
        assert point["low"] is None or point["low"] <= point["value"] <= point["high"]


def test_a_gaussian_curve_past_the_trials_says_what_it_is():
    skewed = np.random.default_rng(5).exponential(size=40) ** 3
    drawn = lb.curve(lb.Trials.from_arrays(skewed, direction="max"), estimator="gaussian", n=[10, 200], **FAST)
    codes = {caution.code: caution for caution in drawn.cautions}
    assert codes["extrapolated"].value == 200
    assert codes["not-normal"].value < 0.05


def test_smoothed_limits_hold_the_estimate():
    scores = np.minimum(1.0, 0.9 + 0.1 * np.random.default_rng(0).beta(3, 1, 20))
    scores[:6] = 1.0
    trials = lb.Trials.from_arrays(scores, direction="max", bounds=(0, 1))
    drawn = lb.curve(trials, interval="smoothed", **FAST)
    assert (drawn.low <= drawn.value + 1e-12).all()
    assert (drawn.value <= drawn.high + 1e-12).all()


def test_a_coverage_is_that_of_the_interval_asked_for():
    scores = np.random.default_rng(3).normal(size=50)
    usual = levelbest.stats.best_interval(scores, [1, 30], **FAST)
    assert usual.coverage is not None
    for other in ({"confidence": 0.5}, {"simultaneous": True}):
        assert levelbest.stats.best_interval(scores, [1, 30], **other, **FAST).coverage != usual.coverage


# ---- tables


def test_joined_tables_keep_searches_and_the_order_of_trials():
    rng = np.random.default_rng(0)
    whole = lb.Trials.from_arrays(
        rng.normal(size=60),
        direction="max",
        family=["a"] * 30 + ["b"] * 30,
        search=np.tile(np.repeat(range(3), 10), 2),
        order=np.array([*range(29, -1, -1), *range(30)]),
    )
    (together,) = lb.compare(whole, **FAST).pairs
    (joined,) = lb.compare([whole["a"], whole["b"]], **FAST).pairs
    assert joined.difference == pytest.approx(together.difference)
    assert joined.low == pytest.approx(together.low)


def test_nothing_to_compare_is_said():
    with pytest.raises(lb.InputError, match=r"empty|at least two|nothing"):
        lb.compare([])


def test_arrays_of_the_caller_stay_theirs():
    seed = np.arange(3)
    lb.Trials.from_arrays([0.1, 0.2, 0.3], direction="max", seed=seed)
    seed[0] = 7  # still writeable


def test_arrays_of_another_shape_are_refused():
    with pytest.raises(lb.InputError, match=r"selection must be one-dimensional, .* got shape \(2, 2\)"):
        lb.Trials.from_arrays([[0.1, 0.2], [0.3, 0.4]], direction="max")
    with pytest.raises(lb.InputError, match="one value per trial: lr has 2 of 3"):
        lb.Trials.from_arrays([0.1, 0.2, 0.3], direction="max", configuration={"lr": [1, 2]})


def test_conditions_on_empty_cells_are_those_of_sql(tmp_path, capsys):
    """``not (temp >= 0.5)`` is unknown where there is no temperature, and unknown rows are not kept."""
    temperatures = [0.2] * 6 + [0.9] * 5 + [None] * 4
    columns = {"model": ["a"] * 15, "temp": temperatures, "val_acc": np.linspace(0.1, 0.9, 15)}
    given = written(tmp_path / "r.csv", columns)
    (family,) = printed(capsys, "describe", given, "--where", "not (temp >= 0.5)")["families"]
    assert family["n_trials"] == 6


# ---- reach and cost


def test_a_target_equal_to_the_best_observed_is_reached(tmp_path, capsys):
    # the mean of the best of all trials is the best trial, but for rounding: .1 + .2 is not .3 in floating point
    rng = np.random.default_rng(0)
    for m in range(4, 60):
        scores = np.round(rng.random(m), 3)
        given = written(tmp_path / "r.csv", {"model": ["a"] * m, "val_acc": scores})
        (row,) = printed(capsys, "reach", given, "--target", str(scores.max()), *RESAMPLES)["targets"]
        assert row["n"] is not None
        assert row["n"] <= m


def test_one_missing_cost_does_not_hide_the_others(tmp_path, capsys):
    columns = {"model": ["a"] * 4, "val_acc": [0.1, 0.2, 0.3, 0.4], "gpu_hours": [1.0, None, 2.0, 3.0]}
    reading = ["--target", "0.25", "--cost", "gpu_hours", *RESAMPLES]
    (row,) = printed(capsys, "reach", written(tmp_path / "r.csv", columns), *reading)["targets"]
    assert row["cost"] == pytest.approx(2.0 * row["n"])


def test_both_failure_policies_are_both(tmp_path, capsys):
    rng = np.random.default_rng(3)
    scores = [None if i % 5 == 0 and m == "a" else round(rng.normal(5, 1), 3) for m in "ab" for i in range(30)]
    given = written(tmp_path / "r.csv", {"model": ["a"] * 30 + ["b"] * 30, "val_acc": scores})
    rows = printed(capsys, "reach", given, "--target", "5.5", "--failed", "both", *RESAMPLES)["targets"]
    assert {row["n_trials"] for row in rows if row["family"] == "a"} == {30, 24}
    assert {(row["family"], row["failed"]) for row in rows} == {(f, p) for f in "ab" for p in ("worst", "drop")}
    document = printed(capsys, "plan", given, "--n", "2", "--failed", "both")
    assert document["other_failure_policy"]["widths"][0]["pilot"] == [24]
    main(["claim", given, "--baseline", "a", "--claimed", "9", "--attempts", "2", "--failed", "both", "--json"])
    document = json.loads(capsys.readouterr().out)
    assert (document["baseline_trials"], document["other_failure_policy"]["baseline_trials"]) == (30, 24)
    assert main(["checklist", given, "--failed", "both"]) == 2
    assert "one failure policy" in capsys.readouterr().err


def test_problems_are_not_forgotten_over_cost(tmp_path, capsys):
    rng = np.random.default_rng(7)
    problems, samples = 20, 8
    solved = [int(rng.random() < 0.9 * (i % 2)) for i in range(problems) for _ in range(samples)]
    columns = {
        "model": ["a"] * (problems * samples),
        "problem": np.repeat(np.arange(problems), samples),
        "correct": solved,
        "tokens": np.ones(problems * samples),
    }
    given = written(tmp_path / "r.csv", columns)
    reading = ["--group", "problem", "--selection", "correct", "--reported", "correct", "--cost", "tokens"]
    code = main(["curve", given, "--axis", "cost", *reading, "--direction", "max", "--json", *RESAMPLES])
    answer = capsys.readouterr()
    if code == 0:  # half of the problems are never solved, at any cost
        (family,) = json.loads(answer.out)["families"]
        assert max(point["value"] for point in family["points"]) <= 0.55
    else:
        assert "problem" in answer.err


# ---- names, verdicts, families


def test_text_from_data_is_never_markup(tmp_path, capsys):
    rng = np.random.default_rng(8)
    columns = {"model": ["cnn[big]"] * 9 + ["lr[/b]"] * 9, "val_acc": rng.random(18)}
    given = written(tmp_path / "r.csv", columns)
    for command in (["describe"], ["curve"], ["compare"], ["reach", "--target", "0.5"], ["plan", "--n", "2"]):
        assert main([command[0], given, *command[1:]]) == 0
        shown = capsys.readouterr().out
        assert "cnn[big]" in shown
        assert "lr[/b]" in shown


def test_words_of_the_data_are_not_rewritten(tmp_path, capsys):
    """A family called old trials was told as old samples."""
    rng = np.random.default_rng(9)
    columns = {
        "model": np.repeat(["old trials", "new trials"], 40),
        "problem": [*np.repeat(np.arange(10), 4)] * 2,
        "clinical_trial_success": [int(rng.random() < (0.2 if i < 40 else 0.8)) for i in range(80)],
    }
    given = written(tmp_path / "r.csv", columns)
    reading = ["--group", "problem", "--selection", "clinical_trial_success", "--direction", "max", *RESAMPLES]
    assert main(["compare", given, *reading, "--reported", "none"]) == 0
    shown = capsys.readouterr().out
    assert "old trials" in shown
    assert "old samples" not in shown
    page = tmp_path / "page.html"
    assert main(["report", given, *reading, "--reported", "none", "--out", str(page)]) == 0
    assert "old samples" not in page.read_text()
    assert "clinical_sample" not in page.read_text()


def test_limits_at_every_look_take_the_selection_score_where_told():
    scores, reported = np.random.default_rng(2).random((2, 60))
    reported[3] = np.nan
    trials = lb.Trials.from_arrays(
        scores, direction="max", reported=reported, family=["a"] * 30 + ["b"] * 30, bounds=(0, 1)
    )
    with pytest.raises(lb.InputError, match="missing"):
        lb.compare(trials, while_running=True)
    assert lb.compare(trials, while_running=True, missing="selection").pairs


def test_a_family_without_a_score_is_left_out_everywhere():
    scores = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, math.nan, math.nan]
    trials = lb.Trials.from_arrays(scores, direction="max", family=["a"] * 3 + ["b"] * 3 + ["lost"] * 2)
    compared, curves = lb.compare(trials, **FAST), lb.family_curves(trials, **FAST)
    assert compared.families == ("a", "b")
    assert [drawn.family for drawn in curves] == ["a", "b"]
    assert any(caution.family == "lost" for caution in compared.cautions)
    with pytest.raises(lb.DataError, match="lost: none of 2 finished trials has a score"):
        lb.compare(trials, baseline="lost")


def test_budgets_asked_for_are_those_spoken_of(tmp_path, capsys):
    """A verdict at n = 1 and n = 5 is none at 2, 3 and 4."""
    rng = np.random.default_rng(0)
    columns = {"model": ["a"] * 30 + ["b"] * 30, "val_acc": [*rng.normal(3, 1, 30), *rng.normal(0, 1, 30)]}
    assert main(["compare", written(tmp_path / "r.csv", columns), "--n", "1,5", *RESAMPLES]) == 0
    shown = capsys.readouterr().out
    assert "1 to 5" not in shown
    assert "1 and 5" in shown


def test_a_budget_of_cost_without_a_cost_axis_is_not_passed_over(tmp_path, capsys):
    scores = np.random.default_rng(1).random(20)
    given = written(tmp_path / "r.csv", {"model": ["a", "b"] * 10, "acc": scores, "seconds": scores + 1})
    for command in ("curve", "compare"):
        assert main([command, given, "--budget", "3"]) == 2
        assert "--budget is in cost, for --axis cost; of trials it is --n" in capsys.readouterr().err
    with pytest.raises(lb.InputError, match="budget= is in cost, for axis= cost"):
        lb.compare(given, budget=[3])


@pytest.mark.parametrize("given", [["--n", "1,5"], ["--headline", "5"], ["--while-running"]])
def test_what_is_about_trials_is_not_passed_over_on_a_cost_axis(tmp_path, capsys, given):
    scores = np.random.default_rng(1).random(20)
    file = written(tmp_path / "r.csv", {"model": ["a", "b"] * 10, "acc": scores, "seconds": scores + 1})
    assert main(["compare", file, "--axis", "cost", *given]) == 2
    assert f"{given[0]} is about numbers of trials" in capsys.readouterr().err


def test_an_empty_name_is_not_the_whole_folder(tmp_path, monkeypatch):
    written(tmp_path / "r.csv", {"model": ["a", "b"], "acc": [0.5, 0.6]})
    monkeypatch.chdir(tmp_path)
    with pytest.raises(lb.InputError, match="the name of a file is empty"):
        lb.read_trials("")
