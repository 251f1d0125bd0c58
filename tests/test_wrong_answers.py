"""Answers that were wrong once: each test fails on the code that gave them."""

import json
import math

import numpy as np
import pytest

import levelbest as lb
from levelbest.cautions import Caution
from levelbest.cli.main import main
from levelbest.errors import DataError, InputError
from levelbest.report.build import build_view
from levelbest.trials import Trials, one_table

FAST = {"n_resamples": 199}


def _searches():
    rng = np.random.default_rng(0)
    return Trials.from_arrays(
        rng.normal(size=60),
        direction="max",
        family=["a"] * 30 + ["b"] * 30,
        search=[*np.repeat(range(3), 10)] * 2,
        order=[*range(29, -1, -1), *range(30)],
    )


def test_joined_tables_keep_searches_and_the_order_of_trials():
    whole = _searches()
    joined = one_table([whole["a"], whole["b"]])
    assert joined.searches == whole.searches
    assert joined.search.tolist() == whole.search.tolist()
    assert joined.order.tolist() == whole.order.tolist()
    assert lb.compare([whole["a"], whole["b"]]).terms.design == "searches"


def test_joined_tables_keep_no_bound_on_which_they_disagree():
    first = Trials.from_arrays([0.1, 0.2], direction="max", family="a", bounds=(0, 1))
    second = Trials.from_arrays([10.0, 20.0], direction="max", family="b", bounds=(0, 100))
    assert one_table([first, second]).metric.bounds == (0, None)


def test_arrays_of_the_caller_stay_theirs():
    seed = np.arange(3)
    configuration = {"lr": np.ones(3)}
    Trials.from_arrays([0.1, 0.2, 0.3], direction="max", seed=seed, configuration=configuration)
    seed[0], configuration["lr"][0] = 7, 2  # both are still writeable
    assert seed[0] == 7


def test_arrays_of_another_shape_are_refused():
    with pytest.raises(InputError, match=r"selection must be one-dimensional, .* got shape \(2, 2\)"):
        Trials.from_arrays([[0.1, 0.2], [0.3, 0.4]], direction="max")
    with pytest.raises(InputError, match="one value per trial: lr has 2 of 3"):
        Trials.from_arrays([0.1, 0.2, 0.3], direction="max", configuration={"lr": [1, 2]})


def test_a_target_equal_to_the_best_observed_is_reached():
    # the mean of the best of all trials is the best trial, but for rounding: .1 + .2 is not .3 in floating point
    scores = np.array([0.1, 0.3, 0.7, 0.9]) + 0.056
    (reach,) = lb.reach(scores, 0.956, direction="max", **FAST)
    assert reach.n == 4


def test_one_missing_cost_does_not_hide_the_others():
    trials = Trials.from_arrays([0.1, 0.2, 0.3, 0.4], direction="max", cost=[1.0, math.nan, 2.0, 3.0])
    (reach,) = lb.reach(trials, 0.25, **FAST)
    assert reach.cost == pytest.approx(2.0 * reach.n)


@pytest.fixture
def with_failures(tmp_path):
    rng = np.random.default_rng(3)
    lines = [f"{m},{'' if i % 5 == 0 and m == 'a' else f'{rng.normal(5, 1):.3f}'}" for m in "ab" for i in range(30)]
    path = tmp_path / "r.csv"
    path.write_text("\n".join(["model,val_acc", *lines]))
    return str(path)


def test_both_failure_policies_are_both(with_failures, capsys):
    assert main(["reach", with_failures, "--target", "5.5", "--failed", "both", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["targets"]
    assert {(row["family"], row["failed"]) for row in rows} == {(f, p) for f in "ab" for p in ("worst", "drop")}
    assert {row["n_trials"] for row in rows if row["family"] == "a"} == {30, 24}
    assert main(["plan", with_failures, "--n", "2", "--failed", "both", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["other_failure_policy"]["widths"][0]["pilot"] == [24]
    gate = ["gate", with_failures, "--baseline", "a", "--claimed", "9", "--attempts", "2", "--failed", "both", "--json"]
    main(gate)
    document = json.loads(capsys.readouterr().out)
    assert (document["baseline_trials"], document["other_failure_policy"]["baseline_trials"]) == (30, 24)
    assert main(["checklist", with_failures, "--failed", "both"]) == 2
    assert "one failure policy" in capsys.readouterr().err


def test_spearman_is_one_number():
    rng = np.random.default_rng(1)
    selection = rng.normal(size=20)
    selection[::5] = np.nan
    reported = np.where(np.isnan(selection), np.nan, selection + rng.normal(size=20))
    trials = Trials.from_arrays(selection, direction="max", reported=reported)
    (described,) = lb.describe(trials)
    (family,) = build_view(trials, statistics=("mean",), **FAST).families
    ok = ~np.isnan(selection)
    ranks = [np.argsort(np.argsort(column[ok])) for column in (selection, reported)]
    assert described.spearman == pytest.approx(np.corrcoef(*ranks)[0, 1])
    assert family.spearman == described.spearman


def test_limits_at_every_look_take_the_selection_score_where_told():
    scores, reported = np.random.default_rng(2).random((2, 60))
    reported[3] = np.nan
    trials = Trials.from_arrays(
        scores, direction="max", reported=reported, family=["a"] * 30 + ["b"] * 30, bounds=(0, 1)
    )
    with pytest.raises(InputError, match="missing= selection"):
        lb.compare(trials, while_running=True)
    assert lb.compare(trials, while_running=True, missing="selection").terms.while_running


def test_a_family_without_a_score_is_left_out_everywhere():
    scores = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, math.nan, math.nan]
    trials = Trials.from_arrays(scores, direction="max", family=["a"] * 3 + ["b"] * 3 + ["lost"] * 2)
    compared, curves = lb.compare(trials, **FAST), lb.family_curves(trials, **FAST)
    assert compared.families == ("a", "b")
    assert [drawn.family for drawn in curves] == ["a", "b"]
    assert any(c.kind == "left-out" and c.family == "lost" for c in compared.cautions)
    with pytest.raises(DataError, match="lost: none of 2 finished trials has a score"):
        lb.compare(trials, baseline="lost")


def test_the_first_cost_budget_is_one_number():
    rng = np.random.default_rng(4)
    cost = np.r_[rng.exponential(1, 30), rng.exponential(3, 30)] + 0.1
    trials = Trials.from_arrays(rng.normal(size=60), direction="max", family=["a"] * 30 + ["b"] * 30, cost=cost)
    first = min(np.median(cost[:30]), np.median(cost[30:]))
    compared = lb.compare(trials, axis="cost", **FAST)
    assert compared.pairs[0].budget[0] == pytest.approx(first)
    lines = [line for line in build_view(trials, **FAST).lines if line.axis == "cost"]
    assert min(line.x[0] for line in lines) == pytest.approx(first)


def test_a_gaussian_curve_past_the_trials_says_what_it_is():
    skewed = np.random.default_rng(5).exponential(size=40) ** 3
    drawn = lb.curve(skewed, direction="max", estimator="gaussian", n=[10, 200], **FAST)
    codes = {caution.code: caution for caution in drawn.cautions}
    assert codes["extrapolated"].value == 200
    assert codes["not-normal"].value < 0.05


@pytest.mark.parametrize("estimator", ["v", "naive"])
def test_an_estimator_without_limits_of_its_own_has_none(estimator):
    scores = np.random.default_rng(6).normal(size=30)
    drawn = lb.curve(scores, direction="max", estimator=estimator, n=[1, 5], **FAST)
    assert np.isnan(drawn.low).all()
    assert drawn.method == "none"


def _adaptive(families):
    rng = np.random.default_rng(7)
    scores = np.concatenate([rng.normal(3 * i, 1, 20) for i in range(len(families))])
    trials = Trials.from_arrays(scores, direction="max", family=[name for name in families for _ in range(20)])
    told = Caution.of("adaptive-sampler", "tpe", sampler="TPESampler")
    return type(trials)(**{**trials.__dict__, "cautions": (told,)})


def test_one_adaptive_search_has_no_interval_and_no_verdict():
    trials = _adaptive(("tpe", "random", "other"))
    compared = lb.compare(trials, **FAST)
    for other in ("random", "other"):
        (verdict,) = compared.pair("tpe", other).verdicts
        assert (verdict.verdict, verdict.reason) == ("not comparable", "adaptive")
    assert compared.pair("random", "other").verdict_at(1) == "other"
    alone = lb.compare(trials[["random", "other"]], **FAST)
    assert compared.pair("random", "other").low == pytest.approx(alone.pairs[0].low)  # costs the others nothing
    assert np.isnan(lb.curve(trials["tpe"], **FAST).low).all()
    first = lb.compare(trials[["tpe", "random"]], **FAST).summary[0]
    assert "learns from its own trials" in first


def test_verbs_take_whatever_is_read_or_explain(tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(8)
    frame = pandas.DataFrame({"model": ["a"] * 9 + ["b"] * 9, "val_acc": rng.random(18), "test_acc": rng.random(18)})
    named = {"family": "model", "selection": "val_acc", "reported": "test_acc"}
    assert lb.compare(frame, **named, **FAST).families == ("a", "b")
    assert len(lb.family_curves(frame, **named, **FAST)) == 2
    assert len(lb.reach(frame, 0.5, **named, **FAST)) == 2
    assert lb.write_report(frame, tmp_path / "r.html", page_only=True, **named, **FAST).page.exists()
    with pytest.raises(InputError, match="direction= 'max'"):
        lb.curve([0.1, 0.5])
    assert lb.curve([0.1, 0.5], direction="max").value.tolist() == [0.3, 0.5]
    with pytest.raises(InputError, match="these trials are read already; leave out family="):
        lb.compare(lb.read_trials(frame, **named), family="model")
    with pytest.raises(InputError, match="a curve is of one family, and here are 'a', 'b'"):
        lb.curve(frame, **named)


def test_a_difference_too_small_to_be_worth_having_is_said_to_be():
    rng = np.random.default_rng(9)
    runs = {"model": ["a"] * 10 + ["b"] * 10, "seed": [*range(10)] * 2, "acc": [*rng.normal(0.8, 0.001, 20)]}
    compared = lb.compare(runs, worth=0.01)
    assert compared.terms.design == "seeds"
    assert compared.pairs[0].effect.negligible
    assert compared.pairs[0].verdicts[0].negligible
    assert not lb.compare(runs).pairs[0].effect.negligible


def test_a_budget_is_named_in_advance_only_where_it_was_named():
    rng = np.random.default_rng(10)
    trials = Trials.from_arrays(rng.normal(size=60), direction="max", family=["a"] * 30 + ["b"] * 30)
    named = {}
    for key, options in {"none": {}, "several": {"n": [1, 5]}, "one": {"n": 5}, "headline": {"headline": 5}}.items():
        compared = lb.compare(trials, **options, **FAST)
        named[key] = (compared.terms.named, compared.pairs[0].effect.named, compared.terms.headline)
    assert named["none"][:2] == named["several"][:2] == (False, False)
    assert named["one"] == named["headline"] == (True, True, 5)


def test_equal_seed_numbers_are_no_pairing():
    rng = np.random.default_rng(12)
    runs = {"model": ["a"] * 8 + ["b"] * 8, "seed": [*range(8)] * 2, "acc": [*rng.random(16)]}
    assert lb.compare(runs).terms.design == "seeds"
    assert not lb.compare(runs).pairs[0].paired
    assert lb.compare(runs, paired=True, **FAST).terms.design == "pairs"
    assert not any(caution.code == "paired-design" for caution in lb.read_trials(runs).cautions)
    many = {"model": ["a"] * 51 + ["b"] * 51, "seed": [*range(51)] * 2, "acc": [*rng.random(102)]}
    assert lb.compare(many, **FAST).terms.design == "trials"  # a search whose settings were not recorded


def test_the_verdict_at_a_budget_named_in_advance_is_the_one_tested_there():
    rng = np.random.default_rng(13)
    scores = np.concatenate([rng.normal(0.9, 1, 50), rng.normal(0, 1, 50), rng.normal(0, 1, 50)])
    trials = Trials.from_arrays(scores, direction="max", family=["a"] * 50 + ["b"] * 50 + ["c"] * 50)
    compared = lb.compare(trials, headline=3, **FAST)
    for pair in compared.pairs:
        assert pair.verdict_at(3) == (pair.effect.winner or "undecided")
        at = int(np.flatnonzero(pair.budget == 3)[0])
        assert (pair.low[at], pair.high[at]) == (pair.effect.low, pair.effect.high)
    assert compared.pair("a", "b").effect.winner == "a"
    # far out on a thinned grid the budget is one of those compared
    many = Trials.from_arrays(rng.normal(size=800), direction="max", family=["a"] * 400 + ["b"] * 400)
    assert 77 in lb.compare(many, headline=77, **FAST).pairs[0].budget


def test_what_cannot_be_compared_is_refused_in_a_sentence():
    rng = np.random.default_rng(14)
    names = ["a"] * 20 + ["b"] * 20
    with pytest.raises(DataError, match="a: none of 20 finished trials has a score"):
        lb.compare(Trials.from_arrays([*np.full(20, np.nan), *rng.random(20)], direction="max", family=names))
    with pytest.raises(InputError, match="a headline must be at most the number of trials of two families, 20, got 21"):
        lb.compare(Trials.from_arrays(rng.random(40), direction="max", family=names), headline=21)
    for verb in (lb.curve, lb.compare):
        with pytest.raises(InputError, match="the list is empty"):
            verb([])
