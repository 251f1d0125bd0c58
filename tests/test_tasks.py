"""Several tasks, directions mixed: a verdict for each and one over all."""

import json
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
from scipy import stats as scipy_stats

import levelbest as lb
from levelbest import Trials, compare, read_trials, write_report
from levelbest.cli.main import main
from levelbest.designs.tasks import compare_tasks, split_tasks
from levelbest.errors import DataError, InputError
from levelbest.stats import expected_best, normal_best

FAST = {"n_resamples": 300}


def tasks(shift=0.6, k=4, m=30, families=("a", "b"), seed=0):
    found = {}
    for t in range(k):
        rng = np.random.default_rng([seed, t])
        scale, sign = 10.0**t, 1 if t % 2 == 0 else -1
        scores = [sign * scale * rng.normal(shift if name == "a" else 0.0, 1, m) for name in families]
        found[f"t{t}"] = Trials.from_arrays(
            np.concatenate(scores), direction="max" if sign > 0 else "min", family=np.repeat(families, m)
        )
    return found


def test_the_overall_difference_is_the_mean_in_standard_deviations():
    given = tasks()
    found = compare_tasks(given, n=[1, 5], **FAST)
    expected = np.zeros(2)
    for one in given.values():
        sign = 1 if one.metric.direction == "max" else -1
        a, b = (expected_best(one[f].selection, [1, 5], direction=one.metric.direction) for f in "ab")
        expected += sign * (a - b) / one.selection.std() / 4
    assert found.overall.pairs[0].difference == pytest.approx(expected, rel=1e-6)
    assert set(found.tasks) == {"t0", "t1", "t2", "t3"}


def test_many_tasks_decide_what_one_cannot():
    found = compare_tasks(tasks(shift=0.7, k=6), n=[1, 2], **FAST)
    overall = found.overall.pairs[0]
    one = found.tasks["t0"].pairs[0]
    assert overall.verdict_at(1) == "a"
    assert (overall.high - overall.low)[0] < (one.high - one.low)[0]
    assert found.sentences[0].startswith("Over 6 tasks, with 2 trials: a, better than b")
    assert any(text.startswith("t3: ") for text in found.sentences)


def test_ranks():
    found = compare_tasks(tasks(shift=9.0, families=("a", "b", "c")), n=[1], **FAST)
    ranks = {rank.family: rank for rank in found.ranks}
    assert ranks["a"].value == ranks["a"].low == ranks["a"].high == 1.0
    assert ranks["b"].value + ranks["c"].value == pytest.approx(5.0)
    assert ranks["b"].low <= ranks["b"].value <= ranks["b"].high
    assert "Mean rank over 4 tasks at n = 1: a 1.00" in str(found)


@pytest.mark.parametrize("sign", [1, -1])
def test_scores_that_differ_by_rounding_alone_are_ties(sign):
    by_task = {}
    for task in "xyz":
        printed = [0.3, 0.6, 0.7, 0.8]  # 0.1 + 0.2 and so on differ from these in the last bit
        summed = [0.1 + 0.2, 0.1 + 0.2 + 0.3, 0.1 + 0.6, 0.1 + 0.1 + 0.6]
        assert sum(a != b for a, b in zip(printed, summed, strict=True)) > 1
        by_task[task] = Trials.from_arrays(
            sign * np.array([*printed, *summed, 0.1, 0.11, 0.12, 0.13]),
            direction="max" if sign > 0 else "min",
            family=np.repeat(["printed", "summed", "low"], 4),
        )
    result = compare_tasks(by_task, n=[1], **FAST)
    assert {row.family: row.value for row in result.ranks} == {"printed": 1.5, "summed": 1.5, "low": 3.0}
    chances = {row.families: row.value for row in result.improvements}
    assert chances["printed", "summed"] == pytest.approx(0.5, abs=1e-12)
    assert chances["printed", "low"] == pytest.approx(1, abs=1e-12)


def test_scores_with_bounds_are_averaged_as_they_are_scored():
    rng = np.random.default_rng(6)
    given = {
        task: Trials.from_arrays(rng.random(24), direction="min", family=["a", "b"] * 12, bounds=(0, 1))
        for task in ("x", "y", "z")
    }
    found = compare_tasks(given, n=[1, 2], **FAST)
    assert found.as_scored
    for row in found.iqm:
        if row.n == 1:
            pooled = np.concatenate([one[row.family].selection for one in given.values()])
            assert row.value == pytest.approx(scipy_stats.trim_mean(pooled, 0.25), abs=1e-12)
    chance = {row.n: row for row in found.improvements}[1]
    ratios = [
        scipy_stats.mannwhitneyu(one["b"].selection, one["a"].selection).statistic / 144 for one in given.values()
    ]
    assert chance.value == pytest.approx(np.mean(ratios), abs=1e-12)  # the lower score is the better one


def test_seeds_on_every_task_are_about_a_new_run():
    rng = np.random.default_rng(8)
    given = {
        task: Trials.from_arrays(
            rng.normal(size=10) + 3 * np.tile([1, 0], 5),
            direction="max",
            family=["a", "b"] * 5,
            seed=np.repeat(np.arange(5), 2),
        )
        for task in ("x", "y", "z", "w")
    }
    found = compare_tasks(given, **FAST)
    assert found.overall.terms.unit == "run"
    assert found.overall.pairs[0].budget.tolist() == [1]
    assert "a new run" in found.sentences[0]


def test_seeds_of_one_configuration_are_no_further_trials(tmp_path):
    rng = np.random.default_rng(9)
    rows = ["model,dataset,lr,seed,val_acc"]
    for task in ("x", "y"):
        for model in ("a", "b"):
            for lr in range(1, 7):
                rows += [f"{model},{task},{lr / 100},{seed},{rng.random():.4f}" for seed in range(3)]
    path = tmp_path / "runs.csv"
    path.write_text("\n".join(rows))
    found = compare_tasks(split_tasks(read_trials(str(path), group="dataset")), **FAST)
    assert found.overall.terms.unit == "configuration"
    assert found.overall.pairs[0].n_trials == (12, 12)  # 6 configurations on each of 2 tasks, with 3 runs each
    assert {own.terms.unit for own in found.tasks.values()} == {"configuration"}
    alone = compare(str(path), where="dataset = 'x'", paired=False, **FAST)
    assert found.tasks["x"].to_dict()["comparisons"] == alone.to_dict()["comparisons"]
    assert [own.family for own in found.variances] == ["a on x", "b on x", "a on y", "b on y"]
    assert found.variances[0].components == alone.variances[0].components
    page = tmp_path / "page.html"
    write_report(str(path), page, task="dataset", n_resamples=50)
    written = page.read_text(encoding="utf-8")
    assert "Variance by source" in written
    assert f"{found.variances[3]['seed'].sd:.3g}" in written


def test_an_adaptive_search_is_not_compared_over_tasks_either():
    rng = np.random.default_rng(10)
    table = Trials.from_arrays(
        rng.normal(size=80) + 5 * np.tile([0, 1], 40),
        direction="max",
        family=["a", "b"] * 40,
        group=np.repeat(["x", "y"], 40),
    )
    table = replace(table, facts={"sampler:b": "TPESampler"})
    found = compare_tasks(split_tasks(table), **FAST)
    for own in (found.overall, *found.tasks.values()):
        assert {(row.verdict, row.reason) for row in own.pairs[0].verdicts} == {("not comparable", "adaptive")}
    assert {row.family: bool(np.isfinite(row.low)) for row in found.iqm} == {"a": True, "b": False}
    assert not any(np.isfinite(row.low) for row in (*found.improvements, *found.ranks))
    assert "nan" not in " ".join(found.sentences)


def test_the_mean_of_standardised_curves_covers():
    # Three tasks of equal normal laws: the standardised curve of a family is the normal's own. Of 40 samples at a
    # rate of .95 fewer than 32 cover with probability 2e-4.
    budgets, truth = [1, 4, 10], normal_best([1, 4, 10])
    covered = 0
    for seed in range(40):
        curve = compare_tasks(tasks(0.0, 3, 20, seed=seed), n=budgets, n_resamples=150).curves[0]
        covered += bool(((curve.low <= truth) & (truth <= curve.high)).all())
    assert covered >= 32


def test_equal_families_are_seldom_told_apart():
    # 20 aggregates over equal laws: more than 5 false verdicts have probability 3e-4 at a rate of 5 % or less
    false = sum(
        compare_tasks(tasks(0.0, 3, 20, seed=s), n=[1, 3, 8], n_resamples=150).overall.pairs[0].verdicts[0].verdict
        != "undecided"
        for s in range(20)
    )
    assert false <= 5


def test_tasks_from_one_table():
    table = Trials.from_arrays(
        np.arange(24.0), direction="max", family=["a", "b"] * 12, group=np.repeat(["x", "y", "z"], 8), bounds=(0, 99)
    )
    parts = split_tasks(table, {"y": "min"})
    assert [len(one) for one in parts.values()] == [8, 8, 8]
    assert parts["y"].metric.direction == "min"
    assert parts["y"].metric.bounds == (None, None)
    assert parts["x"].metric.bounds == (0, 99)
    with pytest.raises(InputError, match=r"there is no task 'yy'; did you mean 'y'\?"):
        split_tasks(table, {"yy": "min"})


def test_refusals():
    given = tasks()
    with pytest.raises(InputError, match="at least two tasks, got 1"):
        compare_tasks({"t0": given["t0"]})
    with pytest.raises(InputError, match="every family needs trials on every task: b is missing on t1"):
        compare_tasks({"t0": given["t0"], "t1": given["t1"]["a"]})
    searched = {
        name: Trials.from_arrays(
            one.selection, direction="max", family=["a", "b"] * 30, search=np.repeat(np.arange(6), 10).astype(str)
        )
        for name, one in given.items()
    }
    with pytest.raises(InputError, match="repeated searches are compared on one task at a time"):
        compare_tasks(searched)
    with pytest.raises(InputError, match="half the trials of the smallest family on any task, 15, got 16"):
        compare_tasks(given, n=[16])


def test_command(tmp_path, capsys):
    rng = np.random.default_rng(3)
    path = tmp_path / "r.csv"
    rows = [
        f"{m},{t},{(1 if t != 'ppl' else -1) * rng.normal(4 * (m == 'a'), 1)}"
        for t in ("acc", "f1", "ppl") for m in "ab" for _ in range(20)
    ]  # fmt: skip
    path.write_text("\n".join(["model,dataset,val_score", *rows]))
    base = [
        "compare",
        str(path),
        "--selection",
        "val_score",
        "--direction",
        "max",
        "--task",
        "dataset",
        "--resamples",
        "200",
    ]
    assert main([*base, "--task-direction", "ppl=min", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["comparisons"][0]["verdicts"][0]["verdict"] == "a"
    assert set(document["tasks"]) == {"acc", "f1", "ppl"}
    assert document["tasks"]["ppl"]["comparisons"][0]["verdicts"][0]["verdict"] == "a"
    assert {row["family"] for row in document["ranks"]} == {"a", "b"}
    assert document["iqm_scale"] == "sd"
    assert {(row["family"], row["n"]) for row in document["iqm"]} == {("a", 1), ("a", 5), ("b", 1), ("b", 5)}
    surely = document["probability_of_improvement"][0]
    assert surely["families"] == ["a", "b"]
    assert surely["low"] <= surely["value"] <= surely["high"] <= 1
    assert surely["value"] > 0.95
    assert main([*base, "--task-direction", "ppl=min", "--details"]) == 0
    told = capsys.readouterr().out
    assert "a over b" in told
    assert "interquartile mean" in told
    assert main([*base, "--task-direction", "ppl"]) == 2
    assert "write perplexity=min" in capsys.readouterr().err


def test_limits_over_tasks_do_not_depend_on_the_order_of_tasks_families_or_rows():
    given = tasks()

    def limits(tables):
        (pair,) = compare_tasks(tables, n=[1, 5], baseline="b", **FAST).overall.pairs
        assert pair.families == ("a", "b")
        return pair.low.tolist(), pair.high.tolist()

    other_tasks = dict(reversed(given.items()))
    other_rows = {task: table.take(np.arange(table.n_trials)[::-1]) for task, table in given.items()}
    assert limits(given) == limits(other_tasks) == limits(other_rows)


def test_a_performance_profile_is_the_share_of_runs_above_each_score():
    rng = np.random.default_rng(2)
    scores = {game: {name: rng.uniform(0, 1, 4).round(3) for name in "ab"} for game in ("x", "y", "z")}
    rows = [(name, game, s) for game, own in scores.items() for name, runs in own.items() for s in runs.tolist()]
    table = {"algo": [r[0] for r in rows], "game": [r[1] for r in rows], "normalized_score": [r[2] for r in rows]}
    table["seed"] = [*range(4)] * 6
    named = {"family": "algo", "task": "game", "selection": "normalized_score", "direction": "max"}
    found = compare_tasks(table, **named, **FAST)
    assert found.as_scored  # by its name, without bounds that nobody knows
    for own in found.profiles:
        runs = np.concatenate([scores[game][own.family] for game in scores])
        np.testing.assert_allclose(own.value, [(runs > s).mean() for s in own.score])
        assert (own.low <= own.value).all()
        assert (own.value <= own.high).all()
    middle = {row.family: row for row in found.iqm}
    for name in "ab":
        runs = np.concatenate([scores[game][name] for game in scores])
        assert middle[name].value == pytest.approx(scipy.stats.trim_mean(runs, 0.25))
    table["return"] = table.pop("normalized_score")
    assert not compare_tasks(table, **(named | {"selection": "return"}), **FAST).as_scored


def test_a_report_over_tasks_has_the_figures_and_the_table_of_aggregates(tmp_path):
    rng = np.random.default_rng(3)
    rows = [(a, g, s) for a in ("dqn", "rainbow") for g in ("Pong", "Qbert") for s in range(4)]
    table = {
        "algo": [row[0] for row in rows],
        "game": [row[1] for row in rows],
        "seed": [row[2] for row in rows],
        "normalized_score": [(row[0] == "rainbow") + 0.1 * rng.normal() for row in rows],
    }
    lb.write_report(table, tmp_path / "r.html", family="algo", task="game", direction="max", **FAST)
    for name in ("iqm.svg", "profiles.svg"):
        assert "rainbow" in (tmp_path / "r" / name).read_text(encoding="utf-8")
    latex = (tmp_path / "r" / "families.tex").read_text(encoding="utf-8")
    assert "& IQM &" in latex
    assert latex.index("rainbow &") < latex.index("dqn &")


def test_one_run_on_each_of_several_tasks_is_judged_over_the_tasks():
    """Twelve data sets that differ much, one run of two models on each: the last is better by two points everywhere."""
    rng = np.random.default_rng(6)
    hard = rng.normal(0.7, 0.1, 12)
    table = {
        "model": ["base"] * 12 + ["large"] * 12,
        "dataset": [f"set {letter}" for letter in "abcdefghijkl"] * 2,
        "test_acc": np.concatenate([hard, hard + 0.02]) + rng.normal(0, 0.005, 24),
    }
    compared = lb.compare(table, n_resamples=199)
    assert compared.terms.design == "problems"
    assert (compared["base", "large"].verdict_at(1), compared["base", "large"].n_trials) == ("large", (12, 12))
    few = {name: [*column[:4], *column[12:16]] for name, column in table.items()}
    with pytest.raises(DataError, match="each of the 2 families has one score"):
        lb.compare(few, n_resamples=199)
