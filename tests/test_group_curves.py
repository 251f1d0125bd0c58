"""Curves and comparisons over many problems: what is averaged, what is undefined, and what is said of it."""

import json

import numpy as np
import pytest

from levelbest.cli.main import main
from levelbest.designs.compare import compare
from levelbest.designs.curve import curve, family_curves
from levelbest.designs.plan import plan_trials
from levelbest.designs.selecting import verifier_effects
from levelbest.errors import DataError, InputError
from levelbest.readers import read_trials
from levelbest.readers.tables.tidy import write_table
from levelbest.report.words.curves import rule_words
from levelbest.report.words.plans import plan_rows, plan_summary
from levelbest.stats import all_of_k, expected_best_by_group, group_interval, pass_at_k
from levelbest.trials import Trials

FAST = {"n_resamples": 500, "rng": 0}


def systems(n_problems=40, samples=8, lift=0.0, seed=0, **more):
    """Two systems on the same problems, 0/1; the second solves each with a lift of its chance."""
    rng = np.random.default_rng(seed)
    rate = rng.beta(0.5, 0.8, n_problems)
    rates = np.stack([rate, np.clip(rate + lift, 0, 1)])
    scores = (rng.random((2, n_problems, samples)) < rates[..., None]).astype(float)
    return Trials.from_arrays(
        scores.ravel(),
        direction="max",
        family=np.repeat(["base", "new"], n_problems * samples),
        group=np.tile(np.repeat([f"p{i}" for i in range(n_problems)], samples), 2),
        **more,
    )


def codes(result):
    return {caution.code: caution for caution in result.cautions}


def test_a_curve_with_problems_is_pass_at_k_with_an_interval_over_problems():
    trials = systems()["base"]
    found = curve(trials, **FAST)
    correct = trials.selection.reshape(40, 8).sum(axis=1)
    assert found.n.tolist() == list(range(1, 9))
    assert found.value == pytest.approx(pass_at_k(correct, 8, found.n).mean(axis=0))
    assert found.method == "gaffke"
    assert "40 problems" in rule_words(found.rule)
    assert (found.low < found.value).all()
    assert (found.value < found.high).all()
    assert found.problems.groups.tolist() == sorted(f"p{i}" for i in range(40))
    assert "from 320 samples of 40 problems" in str(found)
    document = found.to_dict()
    assert document["n_groups"] == 40
    assert document["points"][0]["n_groups"] == 40
    assert "oracle" in codes(found)["no-reported"].sentence


def test_unequal_problems_are_counted_and_the_curve_ends_where_they_get_few():
    rng = np.random.default_rng(1)
    sizes = np.r_[np.full(6, 3), np.full(5, 5), np.full(3, 9)]
    group = np.repeat(np.arange(14), sizes)
    trials = Trials.from_arrays(rng.random(group.size), direction="max", group=group, bounds=(0, 1))
    found = curve(trials, **FAST)
    assert found.n[-1] == 5  # 8 of 14 have 5 samples, 3 have 6
    assert found.problems.n_groups.tolist() == [14, 14, 14, 8, 8]
    message = codes(found)["unequal-groups"].sentence
    assert "8 of 14 at n = 5" in message
    assert "the curve ends there" in message
    asked = curve(trials, n=[1, 9, 12], **FAST)
    assert asked.n.tolist() == [1, 9]
    assert asked.problems.n_groups.tolist() == [14, 3]
    assert codes(asked)["beyond-trials"].value == 12
    with pytest.raises(InputError, match="samples of a problem, 9, got 10"):
        curve(trials, n=10, **FAST)


def test_a_curve_that_was_asked_to_end_says_nothing_of_where_it_ends():
    trials = Trials.from_arrays(np.arange(15.0), direction="max", group=["a"] * 3 + ["b"] * 6 + ["c"] * 6, family="m")
    message = codes(curve(trials, n=[1, 2], **FAST))["unequal-groups"].sentence
    assert "between 3 and 6 samples" in message
    assert "ends there" not in message


def test_one_problem_has_a_value_and_no_interval():
    found = curve(Trials.from_arrays([0, 1, 0, 0], direction="max", group=["p"] * 4), **FAST)
    assert found.value[1] == pytest.approx(0.5)
    assert np.isnan(found.low).all()
    assert "one cluster does not exist" in codes(found)["beyond-horizon"].sentence


def test_one_sample_each_is_said():
    found = curve(Trials.from_arrays([0, 1, 0, 0], direction="max", group=list("abcd")), **FAST)
    assert found.n.tolist() == [1]
    assert "every problem has one sample" in codes(found)["beyond-trials"].sentence
    one_each = Trials.from_arrays(
        [0, 1, 0, 0, 1, 0], direction="max", group=list("abcabc"), family=["x"] * 3 + ["y"] * 3
    )
    with pytest.raises(DataError, match=r"3 problems has one sample, so the best of n = 2 is unknown: draw more"):
        curve(one_each["x"], n=2, **FAST)
    with pytest.raises(DataError, match="best of n = 4 is unknown"):
        plan_trials(one_each, n=4)
    assert [own.n for _, own in plan_trials(one_each).problems] == [1, 1]  # nobody asked for more than there is
    # one sample of each problem is enough to compare at n = 1
    assert compare(one_each, **FAST).pairs[0].budget.tolist() == [1]


def test_a_plan_that_nobody_gave_a_budget_is_for_one_sample():
    assert [own.n for _, own in plan_trials(systems(samples=8), **FAST).problems] == [1, 1]
    with pytest.raises(InputError, match="n must be at most the samples of a problem, 8, got 10"):
        plan_trials(systems(samples=8), n=10, **FAST)


def test_problems_that_are_all_alike_are_said_to_tell_nothing():
    trials = Trials.from_arrays([1, 0, 1, 0, 0, 1], direction="max", group=["a", "a", "b", "b", "c", "c"])
    plan = plan_trials(trials, **FAST)
    ((_, own),) = plan.problems
    assert (own.n, own.error) == (1, 0.0)  # each problem is solved half the time
    assert "all problems have the same value" in plan_summary(plan)
    assert "no plan" in str(plan_rows(plan))


def test_failed_generations_follow_the_policy():
    scores = [1, np.nan, 1, 1, 1, 1]
    trials = Trials.from_arrays(scores, direction="max", group=["a", "a", "a", "b", "b", "b"])
    worst, dropped = (curve(trials, failed=policy, **FAST) for policy in ("worst", "drop"))
    assert worst.value[0] == pytest.approx((2 / 3 + 1) / 2)  # 0, though no other sample is 0
    assert dropped.value[0] == 1.0
    assert dropped.problems.sizes.tolist() == [2, 3]
    assert "1 of 6 samples failed" in codes(worst)["failures"].sentence


def test_a_verifier_lies_between_chance_and_the_oracle():
    rng = np.random.default_rng(2)
    group = np.repeat(np.arange(30), 10)
    correct = (rng.random(300) < rng.beta(1, 1, 30)[group]).astype(float)
    verifier = correct + rng.normal(0, 1, 300)
    trials = Trials.from_arrays(verifier, reported=correct, direction="max", group=group)
    (effect,) = verifier_effects(trials)
    assert effect.random == pytest.approx(np.full(10, correct.mean()))
    assert effect.oracle == pytest.approx(pass_at_k(correct.reshape(30, 10).sum(axis=1), 10, effect.n).mean(axis=0))
    assert effect.verifier == pytest.approx(expected_best_by_group(verifier, group, effect.n, correct).value)
    assert effect.oracle[0] == pytest.approx(effect.verifier[0])
    assert (effect.verifier[1:] < effect.oracle[1:]).all()
    assert 0 < effect.gained[4] < 1
    assert np.isnan(effect.gained[0])
    assert curve(trials, **FAST).value == pytest.approx(effect.verifier)
    with pytest.raises(InputError, match="reported="):
        verifier_effects(systems()["base"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"statistic": "median"}, "'mean' .the average over problems of the best of n. or 'all' .* got 'median'"),
        ({"estimator": "v"}, "the unbiased one, got 'v'"),
        ({"interval": "bca"}, "unknown interval over problems 'bca'"),
    ],
)
def test_what_problems_do_not_have(options, message):
    with pytest.raises(InputError, match=message):
        curve(systems()["base"], **FAST, **options)


def test_the_same_sample_twice_is_refused():
    twice = Trials.from_arrays([0, 1, 1, 0], direction="max", group=["a", "a", "a", "b"], seed=[0, 1, 1, 0])
    with pytest.raises(DataError, match=r"1 sample id occurs more than once .* \(first: 1 of problem a\)"):
        curve(twice, **FAST)
    other = Trials.from_arrays([0, 1, 0, 0], direction="max", group=["a", "a", "a", "b"], seed=[0, 1, 1, 0])
    assert "with different scores" in codes(curve(other, **FAST))["repeated-configurations"].sentence
    constant = Trials.from_arrays([0, 1, 0, 0], direction="max", group=["a", "a", "a", "b"], seed=[7, 7, 7, 7])
    assert "repeated-configurations" not in codes(curve(constant, **FAST))


def test_systems_are_compared_problem_by_problem():
    trials = systems(n_problems=300, lift=0.1)
    result = compare(trials, **FAST)
    (pair,) = result.pairs
    means = [one.value for one in family_curves(trials, **FAST)]
    assert pair.paired
    assert pair.difference == pytest.approx(means[0] - means[1])
    assert pair.verdict_at(2) == "new"
    assert "With 1 sample (pass@1): new, better than base by" in str(result)
    assert "The same with 1 to 8 samples." in str(result)
    assert "2400 samples each, of 300 problems, none failed" in str(result)
    assert codes(result)["paired-design"].value == 300
    apart = compare(trials, paired=False, **FAST).pairs[0]
    assert not apart.paired
    assert apart.difference == pytest.approx(pair.difference)
    assert (apart.high - apart.low > pair.high - pair.low).all()


def test_equal_systems_are_undecided():
    (pair,) = compare(systems(n_problems=50), **FAST).pairs
    assert {v.verdict for v in pair.verdicts} == {"undecided"}


def test_problems_that_differ_are_listed():
    group = ["p1", "p1", "p2", "p2", "p3", "p3", "p1", "p1", "p2", "p2", "p4", "p4"]
    trials = Trials.from_arrays([0, 1] * 6, direction="max", family=["a"] * 6 + ["b"] * 6, group=group)
    result = compare(trials, **FAST)
    said = [c.sentence for c in result.cautions if c.code == "unequal-groups"]
    assert said[0] == "1 of 3 problems are not in every family (p3): they are left out of the comparison"
    assert "(p4)" in said[1]
    assert result.pairs[0].n_trials == (4, 4)
    with pytest.raises(InputError, match=r"1 of 3 problems of a are not in every family \(p3\)"):
        compare(trials, paired=True, **FAST)
    none = Trials.from_arrays([0, 1] * 2, direction="max", family=["a"] * 2 + ["b"] * 2, group=["x", "x", "y", "y"])
    with pytest.raises(DataError, match="no problem in common"):
        compare(none, **FAST)


def test_several_tables_keep_their_problems():
    trials = systems(n_problems=60, lift=0.2)
    one, other = compare(trials, **FAST), compare([trials["base"], trials["new"]], **FAST)
    assert one.pairs[0].difference == pytest.approx(other.pairs[0].difference)
    assert other.pairs[0].paired


def test_dropped_failures_and_the_other_policy():
    trials = systems(n_problems=60, lift=0.2)
    scores = trials.selection.copy()
    scores[:40] = np.nan
    broken = Trials.from_arrays(
        scores,
        direction="max",
        family=np.array(trials.families)[trials.family],
        group=np.array(trials.groups)[trials.group],
    )
    result = compare(broken, **FAST)
    assert result.pairs[0].n_failed == (40, 0)
    assert "with failed samples dropped" in str(result)
    dropped = compare(broken, failed="drop", **FAST)
    assert codes(dropped)["paired-design"].value == 55  # five problems have no sample left


def test_from_the_command_line(tmp_path, capsys):
    path = tmp_path / "samples.csv"
    trials = systems(n_problems=30, samples=4, lift=0.3)
    rows = ["model,problem,correct"]
    rows += [
        f"{trials.families[f]},{trials.groups[g]},{s:g}"
        for f, g, s in zip(trials.family, trials.group, trials.selection, strict=True)
    ]
    path.write_text("\n".join(rows))
    common = [str(path), "--family", "model", "--selection", "correct", "--group", "problem", "--direction", "max"]
    assert main(["curve", *common, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [one["n_groups"] for one in document["families"]] == [30, 30]
    assert main(["curve", *common]) == 0
    assert "pass@k (correct) of k samples of 30 problems" in " ".join(capsys.readouterr().out.split())
    assert main(["compare", *common, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["comparisons"][0]["paired"] is True
    assert main(["curve", *common, "--statistic", "median"]) == 2
    assert "the average over problems" in capsys.readouterr().err


def write_samples(path, rows, head):
    path.write_text("\n".join([head, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return str(path)


NAMED = ["--group", "problem", "--selection", "correct", "--direction", "max"]


def divided(path, seed=3):
    """Two systems, twenty problems of two difficulties and weights, four samples each, with a verifier."""
    rng = np.random.default_rng(seed)
    rows = []
    for model in ("base", "new"):
        for p in range(20):
            level, weight = ("easy", 1) if p < 12 else ("hard", 2.5)
            for s in range(4):
                correct = int(rng.random() < (0.8 if p < 12 else 0.3))
                rows.append((model, f"p{p}", level, weight, s, round(correct + rng.normal(0, 0.5), 3), correct))
    return write_samples(path, rows, "model,problem,level,points,sample,verifier,correct"), rows


def test_weights_and_strata_from_the_command_line(tmp_path, capsys):
    path, rows = divided(tmp_path / "s.csv")
    options = [path, *NAMED, "--weight", "points", "--stratum", "level"]
    assert main(["curve", *options, "--json"]) == 0
    base, _ = json.loads(capsys.readouterr().out)["families"]
    mine = [row for row in rows if row[0] == "base"]
    correct = {p: sum(r[6] for r in mine if r[1] == p) for p in dict.fromkeys(r[1] for r in mine)}
    weight = {r[1]: r[3] for r in mine}
    whole = sum(weight.values())
    for point in base["points"]:
        by_problem = {p: pass_at_k(c, 4, point["n"]) for p, c in correct.items()}
        assert point["value"] == pytest.approx(sum(weight[p] * v for p, v in by_problem.items()) / whole, abs=1e-12)
    assert base["weighted"] is True
    assert [(one["stratum"], one["n_groups"]) for one in base["strata"]] == [("easy", 12), ("hard", 8)]
    easy = np.array([correct[name] for name in sorted(f"p{i}" for i in range(12))])
    assert base["strata"][0]["points"][1]["value"] == pytest.approx(pass_at_k(easy, 4, 2).mean(), abs=1e-12)
    alone = group_interval(
        expected_best_by_group(
            np.concatenate([[1] * c + [0] * (4 - c) for c in easy]), np.repeat(np.arange(12), 4), [1, 2, 3, 4]
        ),
        bounds=(0, 1), rng=0, n_resamples=2000,
    )  # fmt: skip
    assert [p["low"] for p in base["strata"][0]["points"]] == pytest.approx(alone.low.tolist())
    assert main(["curve", *options]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "base by stratum, with the number of its problems stratum n = 1 n = 2 n = 4 easy (12)" in shown
    assert "of 20 problems, weighted" in shown
    assert main(["compare", *options, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [one["stratum"] for one in document["strata"]] == ["easy", "hard"]
    assert "problems weighted" in document["adjustment"]
    values = {}
    for model in ("base", "new"):
        own = [row for row in rows if row[0] == model]
        values[model] = sum(row[3] * row[6] for row in own) / 4 / whole
    first = document["comparisons"][0]["points"][0]["difference"]
    assert first == pytest.approx(values["base"] - values["new"], abs=1e-12)
    assert main(["compare", *options]) == 0
    assert "stratum easy, by itself:" in capsys.readouterr().out
    assert main(["plan", *options, "--n", "2", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [one["family"] for one in document["problems"]][:3] == ["base", "base, easy", "base, hard"]
    page = str(tmp_path / "page.html")
    assert main(["report", *options, "--out", page, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    titles = [one["title"] for one in document["sections"]]
    assert titles == ["pass^k", "Strata", "Problems"]
    assert document["sections"][2]["heads"][:3] == ["Problem", "level", "points"]
    assert "weighted by points" in document["methods"]


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([("a", 1, "x", 0), ("a", 2, "x", 1)], ["--weight", "w"], "a problem has one weight, and 1 of 1 have several"),
        ([("a", 1, "x", 0), ("a", 1, "y", 1)], ["--stratum", "d"], "a has x and y"),
        ([("a", -1, "x", 0), ("b", 1, "x", 1)], ["--weight", "w"], "weights must be at least 0 and not all 0, and 'a'"),
        ([("a", "", "x", 0), ("b", 1, "x", 1)], ["--weight", "w"], "every problem needs a weight, and 'a' has none"),
        ([("a", 1, "x", 0), ("b", 1, "x", 1)], ["--stratum", "dd"], "no column 'dd' for --stratum; did you mean 'd'"),
    ],
)
def test_weights_and_strata_that_are_none(tmp_path, capsys, rows, options, message):
    path = write_samples(tmp_path / "s.csv", rows, "problem,w,d,correct")
    assert main(["curve", path, *NAMED, *options]) in (1, 2)
    assert message in " ".join(capsys.readouterr().err.split())


def test_weights_need_problems(tmp_path, capsys):
    path = write_samples(tmp_path / "s.csv", [(1, 0), (2, 1)], "w,correct")
    assert main(["curve", path, "--selection", "correct", "--direction", "max", "--weight", "w"]) == 2
    assert "--weight applies to problems: name the column of the problem with --group" in capsys.readouterr().err
    with pytest.raises(InputError, match="weights must name every group, and 1 of 2 are missing: b"):
        Trials.from_arrays([0, 1], direction="max", group=["a", "b"], weights={"a": 1})


def test_all_of_n_succeed(tmp_path, capsys):
    trials = systems(n_problems=25, samples=6, lift=0.2)
    correct = trials["base"].selection.reshape(25, 6).sum(axis=1)
    found = curve(trials["base"], statistic="all", **FAST)
    assert found.value == pytest.approx(all_of_k(correct, 6, found.n).mean(axis=0), abs=1e-12)
    assert found.statistic == "all"
    assert (found.low <= found.value).all()
    assert (found.value <= found.high).all()
    assert str(found).startswith("base: pass^6 (selection) of 6 samples is")
    assert "no-reported" not in codes(found)
    pair = compare(trials, statistic="all", **FAST).pairs[0]
    other = trials["new"].selection.reshape(25, 6).sum(axis=1)
    both = [all_of_k(c, 6, pair.budget).mean(axis=0) for c in (correct, other)]
    assert pair.difference == pytest.approx(both[0] - both[1], abs=1e-12)
    assert "all of n samples succeed (pass^k)" in pair.sentence
    path, rows = divided(tmp_path / "s.csv")
    # what a verifier picks does not matter where all must succeed
    named = ["--group", "problem", "--selection", "verifier", "--reported", "correct", "--direction", "max"]
    assert main(["curve", path, *named, "--statistic", "all", "--json"]) == 0
    point = json.loads(capsys.readouterr().out)["families"][0]["points"][3]
    solved = [p for p in range(20) if all(r[6] for r in rows if r[0] == "base" and r[1] == f"p{p}")]
    assert point["value"] == pytest.approx(len(solved) / 20)
    assert main(["curve", path, *named, "--statistic", "all"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "pass^k (correct) of k samples of 20 problems; 95 %" in shown


def test_all_of_n_is_refused_where_it_means_nothing(tmp_path, capsys):
    path = write_samples(tmp_path / "s.csv", [("a", 0.5), ("a", 1), ("b", 0)], "problem,correct")
    assert main(["curve", path, *NAMED, "--statistic", "all"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "is for scores 0 and 1 with direction max, and 'correct' is not one; use statistic 'mean'" in said
    # the expected maximum of the same scores
    assert main(["curve", path, *NAMED, "--n", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["families"][0]["points"][0]["value"] == pytest.approx(1.0)
    assert main(["curve", path, *NAMED[:-1], "min", "--statistic", "all"]) == 2
    assert "with direction max" in capsys.readouterr().err
    assert (
        main(["curve", path, "--selection", "correct", "--group", "none", "--direction", "max", "--statistic", "all"])
        == 2
    )
    assert "name them with --group" in capsys.readouterr().err


def test_one_sample_each_from_the_command_line(tmp_path, capsys):
    path = write_samples(tmp_path / "s.csv", [(f"p{i}", i % 2) for i in range(6)], "problem,correct")
    for command in (["curve", "--n", "3"], ["plan", "--n", "3"]):
        assert main([command[0], path, *NAMED, *command[1:]]) == 1
        said = " ".join(capsys.readouterr().err.split())
        assert "every one of the 6 problems of 'problem' has one sample, so the best of n = 3 is unknown" in said
        assert "name the column that distinguishes problems (not samples) with --group" in said
    assert main(["curve", path, *NAMED]) == 0
    assert "every problem of 'problem' has one sample" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("column", ["sample", "trial", "attempt"])
def test_sample_ids_that_repeat_are_found_by_the_column(tmp_path, capsys, column):
    rows = [("a", 0, 1), ("a", 1, 0), ("a", 2, 1), ("b", 0, 1), ("b", 1, 1), ("a", 2, 1)]
    path = write_samples(tmp_path / "s.csv", rows, f"problem,{column},correct")
    for more in ([], ["--trial", column], ["--seed-column", column]):
        assert main(["curve", path, *NAMED, *more]) == 1, more
        said = " ".join(capsys.readouterr().err.split())
        assert (
            "1 sample id occurs more than once within a problem, with the same scores (first: 2 of problem a)" in said
        )
    rows[-1] = ("a", 2, 0)
    path = write_samples(tmp_path / "s.csv", rows, f"problem,{column},correct")
    assert main(["curve", path, *NAMED, "--details"]) == 0
    assert "they count as separate samples" in " ".join(capsys.readouterr().out.split())


def test_one_file_read_twice_is_refused(tmp_path, capsys):
    rows = [("m", p, s, (p + s) % 2) for p in range(3) for s in range(3)]
    paths = [write_samples(tmp_path / name, rows, "model,problem,sample,correct") for name in ("a.csv", "b.csv")]
    for more in ([], ["--trial", "sample"]):
        assert main(["curve", *paths, *NAMED, *more]) == 1
        assert "9 sample ids occur more than once" in " ".join(capsys.readouterr().err.split())


def test_settings_tell_samples_of_one_id_apart(tmp_path, capsys):
    rows = [("a", s, t, 0) for s in (0, 1) for t in (0.2, 0.8)] + [("b", s, t, 1) for s in (0, 1) for t in (0.2, 0.8)]
    path = write_samples(tmp_path / "s.csv", rows, "problem,sample,temperature,correct")
    assert main(["curve", path, *NAMED]) == 0
    assert "4 sample ids occur more than once" in " ".join(capsys.readouterr().out.split())


def test_weights_and_strata_survive_conversion(tmp_path):
    path, _ = divided(tmp_path / "s.csv")
    options = {"group": "problem", "selection": "correct", "direction": "max", "weight": "points", "stratum": "level"}
    trials = read_trials(path, **options)
    again = read_trials(write_table(trials, tmp_path / "tidy.csv"))
    assert again.strata == trials.strata
    assert again.weights.tolist() == trials.weights.tolist()
    one, other = (curve(t["base"], **FAST) for t in (trials, again))
    assert one.value.tobytes() == other.value.tobytes()
    assert one.strata[1].best.value.tobytes() == other.strata[1].best.value.tobytes()
    both = compare([trials["base"], trials["new"]], **FAST)
    assert both.pairs[0].difference == pytest.approx(compare(trials, **FAST).pairs[0].difference)
    assert len(both.strata) == 2


def test_a_verifier_is_weighed_as_the_curve_is(tmp_path):
    path, _ = divided(tmp_path / "s.csv")
    options = {"group": "problem", "selection": "verifier", "reported": "correct", "direction": "max"}
    trials = read_trials(path, weight="points", **options)["base"]
    (effect,) = verifier_effects(trials)
    assert effect.verifier == pytest.approx(curve(trials, **FAST).value)
    assert effect.oracle[0] == pytest.approx(effect.random[0]) == pytest.approx(effect.verifier[0])


def test_one_sample_of_each_problem_read_twice_is_refused(tmp_path, capsys):
    rows = [("m", p, 0, p % 2) for p in range(4)]
    paths = [write_samples(tmp_path / name, rows, "model,problem,sample,correct") for name in ("a.csv", "b.csv")]
    assert main(["curve", *paths, *NAMED]) == 1
    assert "4 sample ids occur more than once" in " ".join(capsys.readouterr().err.split())
    more = [("m", p, 0, (p + s) % 2) for p in range(4) for s in range(3)]
    path = write_samples(tmp_path / "c.csv", more, "model,problem,sample,correct")
    assert main(["curve", path, *NAMED]) == 0  # a column that says 0 throughout numbers nothing
    assert "sample id" not in capsys.readouterr().out


def points_in(text):
    document = json.loads(text)
    return (document.get("comparisons") or document["families"])[0]["points"]


def test_budgets_of_cost_do_not_forget_the_problems(tmp_path, capsys):
    rows = [(model, p, int(p == s), 1 + s) for model in ("a", "b") for p in range(6) for s in range(6)]
    path = write_samples(tmp_path / "s.csv", rows, "model,problem,correct,seconds")
    for command in ("curve", "compare"):
        assert main([command, path, *NAMED, "--axis", "cost", "--cost", "seconds", "--json"]) == 0
        shown = capsys.readouterr().out
        assert max(point.get("cost") or point["n"] for point in points_in(shown)) < 21  # of one problem, not of all
