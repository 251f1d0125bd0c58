"""Verdicts: what they say, when they refuse, and that they read well."""

import json
from dataclasses import replace

import numpy as np
import pytest

from levelbest import Trials, compare, family_curves, read_trials
from levelbest.errors import DataError, InputError
from levelbest.results import Verdict, crossings_of, verdict_ranges
from levelbest.stats import expected_best

FAST = {"n_resamples": 300}


def two_families(seed=0, m=40, shift=1.0, **more):
    rng = np.random.default_rng(seed)
    scores = np.concatenate([rng.normal(shift, 1, m), rng.normal(0, 1, m)])
    return Trials.from_arrays(scores, direction="max", family=["cnn"] * m + ["lr"] * m, **more)


def test_a_clear_winner_is_named_with_confidence_trials_and_failures():
    result = compare(two_families(shift=3.0), **FAST)
    (pair,) = result.pairs
    assert pair.families == ("cnn", "lr")
    assert pair.verdict_at(1) == "cnn"
    assert pair.verdict_at(20) == "cnn"
    assert pair.verdicts == (Verdict(1, 20, "cnn"), Verdict(21, 40, "not comparable", "beyond-half"))
    text = str(result)
    assert "With 5 trials: cnn, better than lr by" in text
    assert "The same with 1 to 20 trials;" in text
    assert "cnn is better than lr with 1 to 20 trials" in pair.sentence
    assert "95 % confidence" in text
    assert "40 trials each, none failed" in text
    assert repr(result) == "Comparison(cnn - lr: cnn at 1 to 20, not comparable at 21 to 40)"


def test_equal_families_are_undecided():
    (pair,) = compare(two_families(seed=3, shift=0.0), **FAST).pairs
    assert {one.verdict for one in pair.verdicts} == {"undecided", "not comparable"}
    assert "cannot tell cnn from lr with 1 to 20 trials" in pair.sentence


def test_direction_turns_the_difference():
    up = two_families(shift=2.0)
    down = Trials.from_arrays(-up.selection, direction="min", family=[up.families[c] for c in up.family])
    (one,), (two,) = compare(up, **FAST).pairs, compare(down, **FAST).pairs
    assert one.difference == pytest.approx(two.difference)
    assert one.low == pytest.approx(two.low)
    assert two.verdict_at(5) == "cnn"


def test_json_has_the_documented_form():
    document = json.loads(json.dumps(compare(two_families(), **FAST).to_dict()))
    (pair,) = document["comparisons"]
    assert pair["families"] == ["cnn", "lr"]
    assert set(pair["points"][0]) == {"n", "difference", "low", "high"}
    assert [set(row) - {"reason"} for row in pair["verdicts"]] == [{"from", "to", "verdict", "unseen"}] * len(
        pair["verdicts"]
    )
    assert {row["verdict"] for row in pair["verdicts"]} <= {"cnn", "lr", "undecided", "not comparable"}
    assert pair["verdicts"][0]["from"] == 1
    for before, after in zip(pair["verdicts"], pair["verdicts"][1:], strict=False):
        assert after["from"] == before["to"] + 1
    scores = two_families()
    expected = expected_best(scores["cnn"].selection, 5) - expected_best(scores["lr"].selection, 5)
    assert pair["points"][4]["difference"] == pytest.approx(expected)
    assert isinstance(document["warnings"], list)


def test_budgets_past_half_the_trials_have_a_difference_but_no_limits():
    document = compare(two_families(m=10), n=[1, 5, 6, 10], **FAST).to_dict()
    points = document["comparisons"][0]["points"]
    assert points[2]["difference"] is not None
    assert points[2]["low"] is None
    assert document["comparisons"][0]["verdicts"][-1]["verdict"] == "not comparable"


def test_baseline_and_all_pairs_name_the_adjustment():
    rng = np.random.default_rng(1)
    trials = Trials.from_arrays(rng.normal(size=90), direction="max", family=["a"] * 30 + ["b"] * 30 + ["c"] * 30)
    every, against = compare(trials, **FAST), compare(trials, baseline="b", **FAST)
    assert [one.families for one in every.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [one.families for one in against.pairs] == [("a", "b"), ("c", "b")]
    assert every.to_dict()["adjustment"] != against.to_dict()["adjustment"]
    assert "over all budgets and 2 pairs" in str(against)
    wide, narrow = every.pairs[0], against.pairs[0]
    assert (wide.high - wide.low)[4] > (narrow.high - narrow.low)[4]


def test_failures_are_named_and_the_other_policy_tried():
    trials = two_families(shift=3.0)
    scores = trials.selection.copy()
    scores[:4] = np.nan
    broken = Trials.from_arrays(
        scores, direction="max", family=[trials.families[c] for c in trials.family], bounds=(-9, 9)
    )
    result = compare(broken, **FAST)
    assert "4 of 80 failed (counted as the worst score)" in str(result)
    assert [c.value for c in result.cautions if c.code == "failures"] == [4]
    assert (result.pairs[0].n_trials, result.pairs[0].n_failed) == ((40, 40), (4, 0))
    assert result.pairs[0].survives is True
    dropped = compare(broken, failed="drop", **FAST)
    assert (dropped.pairs[0].n_trials, dropped.pairs[0].n_failed) == ((36, 40), (4, 0))
    assert "the verdict is the same with failed trials counted as the worst score" in str(dropped)


def test_a_verdict_that_rests_on_dropping_failures_does_not_survive():
    rng = np.random.default_rng(2)
    good, even = rng.normal(0.8, 0.02, 40), rng.normal(0.7, 0.02, 40)
    good[rng.permutation(40)[:30]] = np.nan
    trials = Trials.from_arrays(
        np.concatenate([good, even]), direction="max", family=["a"] * 40 + ["b"] * 40, bounds=(0, 1)
    )
    dropped = compare(trials, failed="drop", n=[1, 2], **FAST)
    assert dropped.pairs[0].verdict_at(1) == "a"
    assert dropped.pairs[0].survives is False
    assert "the verdict changes with failed trials counted as the worst score" in str(dropped)


def test_claims_at_unequal_budgets_follow_the_rule():
    rng = np.random.default_rng(3)
    few, many = rng.normal(1, 0.1, 10), rng.normal(0, 0.1, 40)

    def claim(first, second):
        trials = Trials.from_arrays(
            np.concatenate([first, second]), direction="max", family=["a"] * first.size + ["b"] * second.size
        )
        return compare(trials, **FAST).pairs[0].to_dict()["unequal_budgets"]

    assert "from fewer trials: that favours it, but one best score is one draw" in claim(few, many)
    assert "from more trials: a larger search finds a better best score even of equal families" in claim(few - 2, many)
    assert claim(few, many[:10]) is None


def test_pairs_are_found_by_configuration_and_seed_and_said():
    rng = np.random.default_rng(4)
    m = 30
    shared = rng.normal(size=m)
    order = rng.permutation(m)
    rate = np.round(rng.random(m), 4)
    scores = np.concatenate([shared + 0.1 + 0.01 * rng.normal(size=m), shared[order]])
    trials = Trials.from_arrays(
        scores, direction="max", family=["a"] * m + ["b"] * m, configuration={"lr": np.concatenate([rate, rate[order]])}
    )
    paired, apart = compare(trials, **FAST), compare(trials, paired=False, **FAST)
    assert paired.pairs[0].paired
    assert not apart.pairs[0].paired
    assert paired.pairs[0].verdict_at(5) == "a"
    assert ((apart.pairs[0].high - apart.pairs[0].low) > 5 * (paired.pairs[0].high - paired.pairs[0].low))[:10].all()
    assert any(
        c.code == "paired-design" and c.kind == "used" and c.fact("by") == "configuration" for c in paired.cautions
    )
    seeds = Trials.from_arrays(
        scores, direction="max", family=["a"] * m + ["b"] * m, seed=np.concatenate([np.arange(m), np.arange(m)[order]])
    )
    assert compare(seeds, paired=True, **FAST).pairs[0].difference == pytest.approx(paired.pairs[0].difference)


def test_pairs_that_do_not_match_are_refused():
    with pytest.raises(InputError, match="needs the same configurations, seeds or problems"):
        compare(two_families(), paired=True, **FAST)


def test_dropping_failures_drops_whole_pairs():
    trials = two_families(m=20, seed=5, group=[f"p{i}" for i in range(20)] * 2)
    scores = trials.selection.copy()
    scores[[0, 25]] = np.nan
    broken = Trials.from_arrays(
        scores, direction="max", family=["cnn"] * 20 + ["lr"] * 20, group=[f"p{i}" for i in range(20)] * 2
    )
    (pair,) = compare(broken, failed="drop", **FAST).pairs
    assert pair.n_trials == (18, 18)
    assert pair.n_failed == (1, 1)
    assert pair.difference[0] == pytest.approx(
        np.delete(scores[:20], [0, 5]).mean() - np.delete(scores[20:], [0, 5]).mean()
    )


def test_medians_are_decided_as_means_are():
    result = compare(two_families(shift=4.0), statistic="median", **FAST)
    (pair,) = result.pairs
    assert pair.basis == "permutation"
    assert pair.verdict_at(1) == "cnn"
    assert pair.verdicts[-1].verdict == "not comparable"
    assert (pair.verdicts[-1].end, pair.verdicts[-1].reason) == (40, "beyond-half")


def test_ranges_end_where_the_bands_do():
    rng = np.random.default_rng(2)
    trials = Trials.from_arrays(rng.random(60), family=["a"] * 50 + ["b"] * 10, direction="max")
    (pair,) = compare(trials, n_resamples=199).pairs
    assert pair.verdicts[-2].end == 5
    assert pair.verdicts[-1] == Verdict(6, 50, "not comparable", "beyond-half")


def test_nothing_is_said_of_budgets_between_those_asked_for():
    rng = np.random.default_rng(2)
    trials = Trials.from_arrays(rng.random(60), family=["a"] * 50 + ["b"] * 10, direction="max")
    (pair,) = compare(trials, n=[1, 3, 4, 8], n_resamples=199).pairs
    assert [(one.start, one.end) for one in pair.verdicts] == [(1, 1), (3, 4), (8, 8)]
    assert pair.verdicts[-1] == Verdict(8, 8, "not comparable", "beyond-half")
    assert pair.verdict_at(2) == "not comparable"
    (alone,) = compare(trials, n=[8], n_resamples=199, p_values=True).pairs
    assert alone.equal_p is None


def test_relative_improvement_and_chances():
    rng = np.random.default_rng(6)
    scores = np.concatenate([rng.normal(0.8, 0.02, 60), rng.normal(0.6, 0.02, 60)])
    (pair,) = compare(Trials.from_arrays(scores, direction="max", family=["a"] * 60 + ["b"] * 60), **FAST).pairs
    n, value, low, high = pair.relative[0]
    assert n == 1
    assert value == pytest.approx(scores[:60].mean() / scores[60:].mean() - 1)
    assert low < value < high
    assert high - low < 0.05
    chances = dict(pair.chance)
    assert chances[1.0] == pytest.approx(np.mean(scores[:60, None] > scores[60:]))


def test_p_values_are_asked_for():
    (pair,) = compare(two_families(shift=3.0), p_values=True, **FAST).pairs
    assert pair.equal_p < 1 / 700  # no one of at least 699 permutations reaches so large a t
    assert pair.to_dict()["p_value"] == pair.equal_p
    assert compare(two_families(), **FAST).pairs[0].equal_p is None


def test_costs_as_budgets():
    rng = np.random.default_rng(7)
    m = 40
    scores = np.concatenate([rng.normal(3, 1, m), rng.normal(0, 1, m)])
    cost = np.concatenate([rng.exponential(100, m) + 10, rng.exponential(50, m) + 10])
    trials = Trials.from_arrays(scores, direction="max", family=["a"] * m + ["b"] * m, cost=cost, cost_unit="s")
    result = compare(trials, axis="cost", n_resamples=100)
    assert (result.terms.axis, result.terms.cost_unit) == ("cost", "s")
    assert "With a budget of " in str(result)
    assert "a is better than b with a budget of" in result.pairs[0].sentence
    assert " min" in str(result)
    assert len(result.pairs[0].to_dict()["mean_cost_scaling"]) == result.pairs[0].budget.size
    assert result.pairs[0].scaled[-1] == pytest.approx(result.pairs[0].difference[-1], abs=0.8)
    many = compare(trials, axis="cost", budget=[200, 400], workers=2, n_resamples=100)
    assert list(many.pairs[0].budget) == [200, 400]
    assert (many.pairs[0].difference > 0).all()


def test_a_search_that_still_runs():
    rng = np.random.default_rng(8)
    scores = np.concatenate([rng.normal(9, 1, 60), rng.normal(0, 1, 60)])
    status = ["ok"] * 120
    status[50] = "running"
    trials = Trials.from_arrays(scores, direction="max", family=["a"] * 60 + ["b"] * 60, status=status)
    plain = compare(trials, **FAST)
    assert any(c.code == "fixed-sample" and "while_running=" in c.sentence for c in plain.cautions)
    looked = compare(trials, while_running=True, statistic="median", **FAST)
    assert looked.terms.while_running
    assert not any(c.code == "fixed-sample" for c in looked.cautions)
    assert looked.pairs[0].n_trials == (50, 60)  # the finished prefix of the plan, not all that finished
    assert looked.pairs[0].verdict_at(1) == "a"
    fixed = compare(trials, statistic="median", **FAST)
    assert (looked.pairs[0].high - looked.pairs[0].low)[0] > (fixed.pairs[0].high - fixed.pairs[0].low)[0]
    with pytest.raises(InputError, match="need the bounds of the score"):
        compare(trials, while_running=True, **FAST)


def test_bad_input_is_a_sentence():
    trials = two_families()
    with pytest.raises(InputError, match=r"there is no family 'cn' to use as the baseline; did you mean 'cnn'\?"):
        compare(trials, baseline="cn", **FAST)
    with pytest.raises(InputError, match="at least two families, and there is only 'cnn'"):
        compare(trials["cnn"], **FAST)
    with pytest.raises(InputError, match="needs a cost for every trial, and there is none"):
        compare(trials, axis="cost", **FAST)
    half = two_families(cost=np.r_[np.full(40, np.nan), np.ones(40)])
    with pytest.raises(DataError, match="cnn: the cost 'cost' is known for 0 of 40 trials"):
        compare(half, axis="cost", **FAST)
    with pytest.raises(InputError, match="unknown axis 'time'"):
        compare(trials, axis="time", **FAST)
    with pytest.raises(InputError, match="one metric in one direction"):
        compare([trials["cnn"], Trials.from_arrays([1.0, 2.0], direction="min", family="x")], **FAST)
    with pytest.raises(InputError, match="the list is empty"):
        compare([])


def test_one_trial_compares_with_nothing_and_costs_the_others_nothing():
    trials = two_families()
    lonely = Trials.from_arrays([1.0], direction="max", family="x")
    with_it = compare([trials["cnn"], trials["lr"], lonely], **FAST)
    assert with_it.pair("cnn", "lr").low == pytest.approx(compare(trials, **FAST).pairs[0].low)
    assert with_it.families == ("cnn", "lr")
    assert [(c.family, c.sentence) for c in with_it.cautions if c.kind == "one-trial"] == [
        ("x", "one trial (selection 1), too few to compare")
    ]
    (pair,) = compare([trials["cnn"], lonely], **FAST).pairs
    assert pair.verdicts == (Verdict(1, 40, "not comparable", "few-trials"),)


def test_tables_with_one_metric_are_joined():
    trials = two_families()
    joined = compare([trials["cnn"], trials["lr"]], **FAST)
    assert joined.pairs[0].difference == pytest.approx(compare(trials, **FAST).pairs[0].difference)


def test_ranges_cover_every_budget_once_and_certify_only_what_was_seen():
    n = np.array([1, 2, 4, 8, 16])
    certified = np.array([0, 1, 1, 0, -1])
    rows = verdict_ranges(n, certified, np.ones(5, dtype=bool), ("a", "b"))
    assert [(r.start, r.end, r.verdict) for r in rows] == [
        (1, 1, "undecided"),
        (2, 4, "a"),
        (5, 15, "undecided"),
        (16, 16, "b"),
    ]


def test_crossings_lie_between_certified_budgets():
    n = np.arange(1, 11)
    difference = np.array([-3, -2, -1, -0.5, 0.5, 1, 2, 2, 2, 2.0])
    certified = np.array([-1, -1, 0, 0, 0, 0, 1, 1, 1, 1])
    (one,) = crossings_of(n, difference, certified)
    assert (one.low, one.high) == (2, 7)
    assert one.budget == pytest.approx(4.5)
    assert crossings_of(n, difference, np.zeros(10, dtype=int)) == ()


def test_the_same_seed_gives_the_same_document():
    trials = two_families(shift=0.5)
    one, same, other = (json.dumps(compare(trials, rng=seed, **FAST).to_dict()) for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_rows_for_a_frame():
    frame = compare(two_families(shift=3.0), n=[1, 5], **FAST).to_frame()
    assert frame["budget"].tolist() == [1, 5]
    assert set(frame["verdict"]) == {"cnn"}


def test_the_pair_in_the_other_order_is_mirrored():
    result = compare(two_families(shift=3.0), headline=5, **FAST)
    one, other = result.pair("cnn", "lr"), result.pair("lr", "cnn")
    assert other.families == ("lr", "cnn")
    assert (other.difference == -one.difference).all()
    assert (other.low == -one.high).all()
    assert other.effect.high == -one.effect.low
    assert other.verdicts == one.verdicts
    assert dict(other.chance)[5] == pytest.approx(1 - dict(one.chance)[5])
    with pytest.raises(KeyError):
        result.pair("cnn", "x")


def test_further_trials_of_the_default_test_are_not_those_of_gaffke():
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.normal(0.5, 0.1, 60), rng.normal(0.53, 0.1, 60)]).clip(0, 1)
    trials = Trials.from_arrays(scores, direction="max", bounds=(0, 1), family=["a"] * 60 + ["b"] * 60)
    by_default, bounded = (compare(trials, n=[1], interval=name) for name in ("default", "gaffke"))
    assert by_default.pairs[0].further > 0
    assert np.isnan(bounded.pairs[0].further)
    assert bounded.to_dict()["comparisons"][0]["further_trials"] is None
    apart = replace(trials, selection=scores * 0.1 + 0.8 * np.repeat([0, 1], 60))
    assert compare(apart, n=[1], interval="gaffke").pairs[0].further == 0


def test_a_curve_does_not_advise_to_compare_in_pairs(tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"{name},{lr:.4f},{rng.normal():.4f}" for name in "ab" for lr in np.linspace(0.1, 0.9, 20) ** 2]
    (tmp_path / "t.csv").write_text("\n".join(["model,lr,val_acc", *rows]) + "\n")
    trials = read_trials(tmp_path / "t.csv")
    assert "paired-design" in {caution.code for caution in trials.cautions}
    assert "paired-design" not in {c.code for drawn in family_curves(trials, n=[1]) for c in drawn.cautions}
