"""What a question may name and a table may hold: budgets named in advance, adaptive searches, seeds, what is read."""

import numpy as np
import pytest

import levelbest as lb
from levelbest.cautions import Caution
from levelbest.errors import DataError, InputError
from levelbest.trials import Trials, one_table

FAST = {"n_resamples": 199}


def test_joined_tables_keep_no_bound_on_which_they_disagree():
    first = Trials.from_arrays([0.1, 0.2], direction="max", family="a", bounds=(0, 1))
    second = Trials.from_arrays([10.0, 20.0], direction="max", family="b", bounds=(0, 100))
    assert one_table([first, second]).metric.bounds == (0, None)


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
    with pytest.raises(InputError, match="these trials have been read already; leave out family="):
        lb.compare(lb.read_trials(frame, **named), family="model")
    drawn = lb.curve(frame, n=4, **named, **FAST)
    assert [(own.family, own.n.tolist()) for own in drawn] == [("a", [4]), ("b", [4])]


def test_a_comparison_is_indexed_by_two_families():
    runs = {"model": ["a"] * 5 + ["b"] * 5, "seed": [*range(5)] * 2, "acc": [*np.linspace(0.5, 0.6, 10)]}
    compared = lb.compare(runs)
    assert compared["b", "a"].difference[0] == -compared["a", "b"].difference[0] > 0
    for wrong in ("a", ("a", "c"), ("a", "b", "c")):
        with pytest.raises(KeyError, match=r"two families that were compared, such as \['a', 'b'\]"):
            compared[wrong]


def test_a_table_of_tasks_is_compared_over_them():
    rng = np.random.default_rng(3)
    games = ["Pong", "Breakout", "Seaquest"]
    rows = [(algo, game, seed) for algo in ("dqn", "rainbow") for game in games for seed in range(6)]
    table = {
        "algo": [row[0] for row in rows],
        "game": [row[1] for row in rows],
        "seed": [row[2] for row in rows],
        "score": [1 + games.index(g) + (a == "rainbow") + 0.1 * rng.normal() for a, g, _ in rows],
    }
    named = {"family": "algo", "task": "game", "selection": "score", "direction": "max"}
    compared = lb.compare(table, **named, **FAST)
    assert compared["rainbow", "dqn"].verdict_at(1) == "rainbow"
    assert compared["Pong"]["rainbow", "dqn"].verdict_at(1) == "rainbow"
    again = lb.compare_tasks(table, **named, **FAST)
    assert again.overall.pairs[0].low.tolist() == compared.overall.pairs[0].low.tolist()
    with pytest.raises(InputError, match="over tasks, means of trials are compared"):
        lb.compare(table, **named, statistic="median")


def test_a_difference_too_small_to_be_worth_having_is_said_to_be():
    rng = np.random.default_rng(9)
    runs = {"model": ["a"] * 10 + ["b"] * 10, "seed": [*range(10)] * 2, "acc": [*rng.normal(0.8, 0.001, 20)]}
    assert not lb.compare(runs, worth=0.01).pairs[0].effect.negligible  # a failure that none shows could be anywhere
    runs = {"model": ["a"] * 45 + ["b"] * 45, "seed": [*range(45)] * 2, "acc": [*rng.normal(0.8, 0.001, 90)]}
    compared = lb.compare(runs, worth=0.08, bounds=(0, 1))
    assert compared.terms.design == "seeds"
    assert compared.pairs[0].effect.negligible
    assert compared.pairs[0].verdicts[0].negligible
    assert not lb.compare(runs).pairs[0].effect.negligible


def test_a_budget_is_tested_alone_only_where_it_was_asked_for():
    rng = np.random.default_rng(10)
    trials = Trials.from_arrays(rng.normal(size=60), direction="max", family=["a"] * 30 + ["b"] * 30)
    named = {}
    for key, options in {"none": {}, "several": {"n": [1, 5]}, "one": {"n": 5}, "headline": {"headline": 5}}.items():
        compared = lb.compare(trials, **options, **FAST)
        assert not compared.terms.registered  # a table does not show when a budget was chosen
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
