"""Curves and comparisons over many problems: what is averaged, what is undefined, and what is said of it."""

import json

import numpy as np
import pytest

from levelbest.cli.main import main
from levelbest.comparisons import compare
from levelbest.curves import curve, family_curves
from levelbest.errors import DataError, InputError
from levelbest.group_curves import verifier_effect
from levelbest.stats import expected_best_by_group, pass_at_k
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
    assert "40 groups" in found.note
    assert (found.low < found.value).all()
    assert (found.value < found.high).all()
    assert found.problems.groups.tolist() == [f"p{i}" for i in range(40)]
    assert "from 320 samples of 40 problems" in str(found)
    document = found.to_dict()
    assert document["n_groups"] == 40
    assert document["points"][0]["n_groups"] == 40
    assert "oracle" in codes(found)["no-reported"].message


def test_unequal_problems_are_counted_and_the_curve_ends_where_they_get_few():
    rng = np.random.default_rng(1)
    sizes = np.r_[np.full(6, 3), np.full(5, 5), np.full(3, 9)]
    group = np.repeat(np.arange(14), sizes)
    trials = Trials.from_arrays(rng.random(group.size), direction="max", group=group, bounds=(0, 1))
    found = curve(trials, **FAST)
    assert found.n[-1] == 5  # 8 of 14 have 5 samples, 3 have 6
    assert found.problems.n_groups.tolist() == [14, 14, 14, 8, 8]
    message = codes(found)["unequal-groups"].message
    assert "8 of 14 at n = 5" in message
    assert "the curve ends there" in message
    asked = curve(trials, n=[1, 9, 12], **FAST)
    assert asked.n.tolist() == [1, 9]
    assert asked.problems.n_groups.tolist() == [14, 3]
    assert codes(asked)["beyond-trials"].value == 12
    with pytest.raises(InputError, match="samples of a problem, 9, got 10"):
        curve(trials, n=10, **FAST)


def test_one_problem_has_a_value_and_no_interval():
    found = curve(Trials.from_arrays([0, 1, 0, 0], direction="max", group=["p"] * 4), **FAST)
    assert found.value[1] == pytest.approx(0.5)
    assert np.isnan(found.low).all()
    assert "one cluster does not exist" in codes(found)["beyond-horizon"].message


def test_one_sample_each_is_said():
    found = curve(Trials.from_arrays([0, 1, 0, 0], direction="max", group=list("abcd")), **FAST)
    assert found.n.tolist() == [1]
    assert "every problem has one sample" in codes(found)["beyond-trials"].message


def test_failed_generations_follow_the_policy():
    scores = [1, np.nan, 1, 1, 1, 1]
    trials = Trials.from_arrays(scores, direction="max", group=["a", "a", "a", "b", "b", "b"])
    worst, dropped = (curve(trials, failed=policy, **FAST) for policy in ("worst", "drop"))
    assert worst.value[0] == pytest.approx((2 / 3 + 1) / 2)  # 0, though no other sample is 0
    assert dropped.value[0] == 1.0
    assert dropped.problems.sizes.tolist() == [2, 3]
    assert "1 of 6 samples failed" in codes(worst)["failures"].message


def test_a_verifier_lies_between_chance_and_the_oracle():
    rng = np.random.default_rng(2)
    group = np.repeat(np.arange(30), 10)
    correct = (rng.random(300) < rng.beta(1, 1, 30)[group]).astype(float)
    verifier = correct + rng.normal(0, 1, 300)
    trials = Trials.from_arrays(verifier, reported=correct, direction="max", group=group)
    effect = verifier_effect(trials)
    assert effect.random == pytest.approx(np.full(10, correct.mean()))
    assert effect.oracle == pytest.approx(pass_at_k(correct.reshape(30, 10).sum(axis=1), 10, effect.n).mean(axis=0))
    assert effect.verifier == pytest.approx(expected_best_by_group(verifier, group, effect.n, correct).value)
    assert effect.oracle[0] == pytest.approx(effect.verifier[0])
    assert (effect.verifier[1:] < effect.oracle[1:]).all()
    assert 0 < effect.gained[4] < 1
    assert np.isnan(effect.gained[0])
    assert curve(trials, **FAST).value == pytest.approx(effect.verifier)
    with pytest.raises(InputError, match="--reported"):
        verifier_effect(systems()["base"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"statistic": "median"}, "the average over problems, got 'median'"),
        ({"estimator": "v"}, "the unbiased one, got 'v'"),
        ({"interval": "bca"}, "unknown interval over problems 'bca'"),
    ],
)
def test_what_problems_do_not_have(options, message):
    with pytest.raises(InputError, match=message):
        curve(systems()["base"], **FAST, **options)


def test_the_same_sample_twice_is_refused():
    twice = Trials.from_arrays([0, 1, 1, 0], direction="max", group=["a", "a", "a", "b"], seed=[0, 1, 1, 0])
    with pytest.raises(DataError, match=r"1 sample ids occur more than once .* \(first: 1 of problem a\)"):
        curve(twice, **FAST)
    other = Trials.from_arrays([0, 1, 0, 0], direction="max", group=["a", "a", "a", "b"], seed=[0, 1, 1, 0])
    assert "with other scores" in codes(curve(other, **FAST))["repeated-configurations"].message
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
    assert "2400 samples of 300 problems" in str(result)
    assert " samples; " in str(result) or " samples (" in str(result)
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
    said = [c.message for c in result.cautions if c.code == "unequal-groups"]
    assert said[0] == "1 of 3 problems of a are not in every family (p3): they are left out of the comparison"
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
    assert "120 samples of 30" in " ".join(capsys.readouterr().out.split())
    assert main(["compare", *common, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["comparisons"][0]["paired"] is True
    assert main(["curve", *common, "--statistic", "median"]) == 2
    assert "the average over problems" in capsys.readouterr().err
