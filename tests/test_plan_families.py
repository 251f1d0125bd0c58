"""Plans for families of trials, and for systems on problems."""

import json
import re
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from levelbest import Trials, compare, plan_trials
from levelbest.cautions import Caution
from levelbest.cli.main import main
from levelbest.errors import InputError
from levelbest.report.terminal.console import console
from levelbest.report.terminal.curves import print_plan
from levelbest.report.words.plans import plan_rows, plan_sentences
from levelbest.results import TrialPlan
from levelbest.stats import horizon
from levelbest.stats.budgets import Needed
from levelbest.stats.inference import Hypotheses
from levelbest.stats.problems import expected_best_by_group, problem_contrasts


@pytest.fixture(scope="module")
def trials():
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.normal(0.8, 1, 48), rng.normal(0, 1, 40)])
    return Trials.from_arrays(scores, direction="max", family=["a"] * 48 + ["b"] * 40)


def test_widths_separations_and_horizons(trials):
    found = plan_trials(trials, n=5, width=0.3, n_resamples=300)
    assert [name for name, _ in found.widths] == ["a", "b"]
    assert [(first, second) for first, second, _ in found.separations] == [("a", "b")]
    assert dict(found.horizons)[50] == horizon(50) == 7
    assert set(dict(found.horizons)) >= {48, 40}
    text = str(found)
    assert "would make it 0.3" in text
    assert "would tell them apart in 80 of 100 cases" in text
    json.dumps(found.to_dict())


def test_half_the_present_width_is_the_default(trials):
    found = plan_trials(trials["a"], n=5, n_resamples=300)
    ((_, one),) = found.widths
    assert one.goal == pytest.approx(one.now / 2, rel=0.2)
    assert found.separations == ()


def test_problems():
    rng = np.random.default_rng(1)
    solved = (rng.random((30, 8)) < rng.beta(0.5, 0.5, 30)[:, None]).astype(float)
    trials = Trials.from_arrays(
        solved.ravel(), direction="max", family="m", group=np.repeat([f"p{i}" for i in range(30)], 8), bounds=(0, 1)
    )
    found = plan_trials(trials, n=2, width=0.05)
    ((_, one),) = found.problems
    assert one.target == pytest.approx(0.05 / 3.919928, rel=1e-5)
    assert one.groups_needed > 30
    assert "More problems" in str(found)


def test_bad_input(trials):
    with pytest.raises(InputError, match=r"there is no family 'A' to use as the baseline"):
        plan_trials(trials, baseline="A", n_resamples=200)
    with pytest.raises(InputError, match="at least two families"):
        plan_trials(trials["a"], baseline="a", n_resamples=200)
    with pytest.raises(InputError, match="power must lie in"):
        plan_trials(trials, power=1.5)


def test_command(tmp_path, capsys):
    rng = np.random.default_rng(2)
    path = tmp_path / "r.csv"
    path.write_text(
        "model,val_acc\n" + "\n".join(f"{m},{rng.normal(i, 1)}" for i, m in enumerate("ab") for _ in range(30))
    )
    assert main(["plan", str(path), "--n", "4", "--json", "--resamples", "200"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert {"widths", "separations", "horizons", "warnings"} <= set(document)
    assert main(["plan", str(path), "--n", "20", "--resamples", "200"]) == 0
    assert "a quarter of their number" in " ".join(capsys.readouterr().out.split())
    assert main(["plan", str(path), "--n", "4", "--resamples", "200", "--details"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert all(" ".join(sentence.split()) in shown for sentence in document["sentences"])
    assert main(["plan", str(path), "--width", "-1", "--resamples", "200"]) == 2
    assert "target width must be more than 0" in capsys.readouterr().err


def test_a_plan_for_five_families_is_one_screen(capsys):
    """Made by hand: of ten pairs three are told apart, five need more, one differs too little, one is left open."""
    inf, nan, names = float("inf"), float("nan"), ("boosting", "forest", "linear", "network", "svm")
    wanted = [12, 20, 9, 31, 44, 130, 58, 399, 12_000, nan]
    codes = [""] * 8 + ["small", "few"]
    pairs = [
        (first, second, Needed(number, number / 2, 9 * number, 0.95, 4, 4, 0.05 + i / 20, 0.8, (20, 20), code=codes[i]))
        for i, ((first, second), number) in enumerate(zip(combinations(names, 2), wanted, strict=True))
    ]
    pairs[9] = (*pairs[9][:2], replace(pairs[9][2], low=26.0, high=inf))
    widths = [(name, Needed(77, 40, 300, 0.95, 4, 10, 0.04, 0.02, (20,))) for name in names]
    plan = TrialPlan(tuple(widths), tuple(pairs), (), ((20, 2),), 0.95, 0.8, "acc", 0)
    print_plan(plan, console())
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 23  # of a terminal, beside the prompt
    assert all(len(line) <= 80 for line in lines)
    top = " ".join(lines[: lines.index("")])
    assert top == (
        "3 pairs can be told apart with the present trials; 5 pairs would need about 31 to 400 trials of each; "
        "network and svm have too few trials to say how many it takes; "
        "linear and svm differ too little for 10,000 trials of each."
    )
    assert any(re.fullmatch(r"pair or family +trials +needed +apart at n = 4", line) for line in lines)
    table = [re.match(r"(\w+ and \w+) +(20) +(.*?) +(now .*)", line) for line in lines]
    rows = {match[1]: match.groups()[1:] for match in table if match}
    assert rows["boosting and svm"] == ("20", "31 (16 to 280)", "now 20 %")
    assert (rows["network and svm"][1], rows["linear and svm"][1]) == ("26 or more", "over 10,000")
    assert len(rows) == 7  # those with enough trials are counted in the first sentence
    assert "svm: the 95 % interval of the best of 4 is 0.04 wide with 20 trials; about 77" in str(plan)
    assert "at the latest after 400 trials of each" in str(plan)
    assert "Planned for n = 4, not 10" in " ".join(lines)


def test_a_stratum_without_a_plan_leaves_the_others_theirs(tmp_path, capsys):
    rng = np.random.default_rng(3)
    rows = ["problem,level,correct"]
    for i in range(12):
        level = "easy" if i < 8 else "hard" if i < 11 else "odd"
        rows += [f"p{i},{level},{int(rng.random() < 0.1 + 0.07 * i)}" for _ in range(3 if level == "hard" else 8)]
    path = tmp_path / "m.csv"
    path.write_text("\n".join(rows) + "\n")
    options = ["--group", "problem", "--stratum", "level", "--selection", "correct", "--direction", "max", "--json"]
    assert main(["plan", str(path), *options, "--n", "4"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [one["family"] for one in document["problems"]] == ["m", "m, easy"]
    assert [one["stratum"] for one in document["unplanned"]] == ["hard", "odd"]
    said = " ".join(document["sentences"])
    assert "m, hard: no plan, since n must be at most the samples of a problem, 3, got 4" in said
    assert "m, odd: no plan, since " in said
    assert main(["plan", str(path), *options, "--n", "9"]) == 2


def test_plan_and_compare_say_the_same_number_of_runs():
    rng = np.random.default_rng(4)
    centres = {"a": 0.912, "b": 0.931, "c": 0.928, "d": 0.9325, "e": 0.894}
    table = {
        "model": np.repeat(list(centres), 30),
        "seed": np.tile(np.arange(30), 5),
        "acc": np.concatenate([rng.normal(centre, 0.005, 30) for centre in centres.values()]),
    }
    reading = {"family": "model", "selection": "acc", "direction": "max"}
    further = {pair.families: pair.further for pair in compare(table, **reading).pairs if pair.further}
    needed = {(a, b): own.needed for a, b, own in plan_trials(table, **reading).separations}
    assert 1 <= len(further) <= 5
    for pair, more in further.items():
        assert needed[pair] == 30 + more


def test_many_trials_of_one_family_are_not_enough_for_both():
    rng = np.random.default_rng(5)
    scores = np.concatenate([rng.normal(0.6, 1, 400), rng.normal(0, 1, 30)])
    plan = plan_trials(Trials.from_arrays(scores, direction="max", family=["many"] * 400 + ["few"] * 30), n=3)
    ((_, _, needed),) = plan.separations
    assert 30 < needed.needed < 400  # so that the larger family alone has enough
    assert needed.now < 0.7  # of the 0.8 that are wanted
    assert not any("are enough" in sentence for sentence in plan.sentences)
    assert "enough" not in str(plan_rows(plan))


def test_the_order_of_rows_and_families_plays_no_part():
    rng = np.random.default_rng(99)
    scores = np.r_[rng.gamma(2, 1, 16), 3 - rng.gamma(2, 1, 12)]
    names = np.array(["a"] * 16 + ["b"] * 12)
    plans = []
    for order in (np.arange(28), np.arange(28)[::-1]):
        trials = Trials.from_arrays(scores[order], direction="max", family=names[order].tolist())
        ((*_, needed),) = plan_trials(trials, n=3, n_resamples=99).separations
        plans.append((needed.needed, needed.low, needed.high, needed.now))
    assert plans[0] == plans[1]


def test_pairs_are_planned_for_as_they_are_compared():
    """New is better than old by .02 in each of 30 configurations, which differ by far more among themselves."""
    rng = np.random.default_rng(4)
    setting = rng.random(30)
    old = 0.5 + 0.4 * setting + rng.normal(0, 0.005, 30)
    new = old + 0.02 + rng.normal(0, 0.005, 30)
    trials = Trials.from_arrays(
        np.concatenate([new, old]),
        direction="max",
        family=["new"] * 30 + ["old"] * 30,
        configuration={"lr": np.tile(setting, 2)},
    )
    (pair,) = compare(trials, n_resamples=199).pairs
    assert pair.paired
    assert pair.verdict_at(5) == "new"
    plan = plan_trials(trials, n=5, n_resamples=199)
    ((_, _, needed),) = plan.separations
    assert needed.needed < 30
    assert needed.now > 0.8
    assert needed.decided
    assert any("decide it" in sentence for sentence in plan.sentences)


def test_a_plan_in_the_unit_that_is_paid():
    """Every trial of a costs 2 hours and of b 3: so many of each cost 5 times their number."""
    rng = np.random.default_rng(2)
    trials = Trials.from_arrays(
        np.concatenate([rng.normal(0.45, 1, 40), rng.normal(0, 1, 40)]),
        direction="max",
        family=["a"] * 40 + ["b"] * 40,
        cost=[2.0] * 40 + [3.0] * 40,
        cost_unit="gpu_hours",
    )
    plan = plan_trials(trials, n=1, n_resamples=99)
    ((_, _, needed),) = plan.separations
    assert not needed.decided
    assert plan.total_cost == pytest.approx(5 * needed.needed)
    document = plan.to_dict()
    assert document["separations"][0]["cost"]["low"] == pytest.approx(5 * needed.low)
    assert document["cost_unit"] == "gpu_hours"
    few = plan_trials(replace(trials, cost=None), n=1, n_resamples=99)
    assert few.to_dict()["separations"][0]["cost"] is None


def test_problems_have_a_plan_for_each_pair():
    """Fifty problems of which the second system solves a tenth more; and one that is the first again."""
    rng = np.random.default_rng(2)
    rates = 0.9 * rng.random(50)
    solved = [rng.random((50, 8)) < own[:, None] for own in (rates, rates + 0.1, rates)]
    trials = Trials.from_arrays(
        np.concatenate(solved).ravel().astype(float),
        direction="max",
        family=np.repeat(["old", "new", "again"], 400),
        group=np.tile(np.repeat(np.arange(50), 8), 3),
        bounds=(0, 1),
    )
    plan = plan_trials(trials, n=1)
    needed = {(first, second): own for first, second, own in plan.separations}
    assert len(needed) == 3
    assert all(own.pilot == (50, 50) for own in needed.values())
    apart = needed["old", "new"]
    assert apart.low < apart.needed < apart.high
    same = needed["old", "again"]
    assert (same.code, np.isnan(same.needed), same.high) == ("open", True, np.inf)  # equal: no number is promised
    assert needed["old", "again"].high == float("inf")  # equal systems are promised nothing
    # a paired t of as many problems shows so much in 80 of 100 cases: about (2.4 + .84) standard errors of .03
    assert 0.05 < apart.detectable < 0.2
    assert "problems" in plan.sentences[0]


def test_searches_are_planned_by_the_search():
    rng = np.random.default_rng(3)
    scores = np.concatenate([rng.normal(0.4, 1, 160), rng.normal(0, 1, 160)])
    trials = Trials.from_arrays(
        scores, direction="max", family=["a"] * 160 + ["b"] * 160, search=np.repeat(np.arange(80), 4).tolist()
    )
    plan = plan_trials(trials, n=4, n_resamples=99)
    ((_, _, needed),) = plan.separations
    assert needed.pilot == (40, 40)
    assert plan.widths == ()  # trials of one search are no sample
    assert "searches" in plan.sentences[0]


@pytest.mark.parametrize("size", [8, 10, 29])
def test_a_small_pilot_has_no_number_and_calls_no_difference_too_small(size):
    for seed in range(8):
        rng = np.random.default_rng([size, seed])
        scores = np.concatenate([rng.gumbel(0.8, 1, size), rng.gumbel(0, 1, size)])
        trials = Trials.from_arrays(scores, direction="max", family=["a"] * size + ["b"] * size)
        ((_, _, needed),) = plan_trials(trials, n=1, n_resamples=99).separations
        assert (needed.code, np.isnan(needed.needed)) == ("few", True)
        assert needed.to_dict()["needed"] is None
        assert needed.low < needed.high


@pytest.fixture(scope="module")
def priced():
    """Two families that differ by .6 standard deviations of a trial, at 2 and 3 GPU hours a trial."""
    rng = np.random.default_rng(5)
    scores = np.r_[rng.normal(0.6, 1, 40), rng.normal(0, 1, 40)]
    table = {"model": ["a"] * 40 + ["b"] * 40, "score": scores, "gpu_hours": [2.0] * 40 + [3.0] * 40}
    named = {"family": "model", "selection": "score", "cost": "gpu_hours", "direction": "max"}
    return plan_trials(table, n=1, n_resamples=200, price="2.5 EUR", **named)


def test_what_is_still_to_pay_is_the_further_trials_of_both(priced):
    ((first, second, needed),) = priced.separations
    assert not needed.decided
    value, low, high = priced.further_cost(first, second)
    assert value == pytest.approx(5 * (needed.needed - 40))
    assert low == pytest.approx(5 * max(needed.low - 40, 0))
    assert high == pytest.approx(5 * (needed.high - 40)) or needed.high == high == np.inf
    document = priced.to_dict()
    assert document["further_cost"]["money"]["value"] == pytest.approx(2.5 * value)
    assert document["separations"][0]["further_cost"]["value"] == pytest.approx(value)
    assert (document["price"], document["currency"], document["cost_unit"]) == (2.5, "EUR", "GPU h")


def test_the_rule_for_stopping_says_when_at_the_latest_and_what_it_costs(priced):
    (rule,) = (sentence for sentence in priced.sentences if sentence.startswith("When to stop"))
    assert "at the latest after" in rule
    assert "GPU h" in rule
    assert "EUR" in rule
    assert f"in {100 * priced.power:.0f} of 100 cases" in rule
    assert "compare once then" in rule  # what that detects is not what limits valid at every look detect
    budget = priced.separations[0][2].n
    assert re.search(
        rf"while_running\W+headline\W+{budget} and statistic\W+median\W+these limits are valid at every", rule
    )
    few = plan_trials({"m": ["a"] * 12 + ["b"] * 12, "acc": [*np.linspace(0, 1, 24) % 0.37]}, family="m", n=1)
    assert "at the latest after 48 trials of each" in " ".join(
        few.sentences
    )  # four times the pilot: the number is open


def test_the_picture_of_power_reaches_the_goal_at_the_number_planned(priced):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    ((_, _, needed),) = priced.separations
    mean, low, high = needed.power_at(np.array([needed.needed, needed.low]))
    assert mean[0] == pytest.approx(priced.power, abs=0.01)
    assert high[1] == pytest.approx(priced.power, abs=0.03)
    assert (low <= mean).all()
    assert (mean <= high).all()
    ax = priced.plot()
    assert ax.get_xlabel() == "cost of both families (GPU h)"
    line = ax.get_lines()[0]
    assert (np.diff(line.get_ydata()) > 0).all()
    assert np.interp(5 * needed.needed, line.get_xdata(), line.get_ydata()) == pytest.approx(priced.power, abs=0.02)


@pytest.mark.parametrize(("price", "paid"), [("$2", (2.0, "$")), (1.5, (1.5, "USD")), ("3 CHF", (3.0, "CHF"))])
def test_prices(trials, price, paid):
    plan = plan_trials(trials, n=1, n_resamples=99, price=price)
    assert (plan.price, plan.currency) == paid


def test_a_price_that_is_none_is_refused(trials):
    for price in ("much", "0", "2 EUR 3"):
        with pytest.raises(InputError, match="the price of one unit of cost"):
            plan_trials(trials, n=1, price=price)


def _systems(seed, problems, samples, lift):
    rng = np.random.default_rng(seed)
    rates = rng.beta(2, 2, problems) * (1 - lift)
    right = [rng.random((problems, samples)) < (rates + extra)[:, None] for extra in (0.0, lift)]
    names = np.repeat(np.arange(problems), samples)
    return {
        "model": ["a"] * names.size + ["b"] * names.size,
        "problem": np.tile(names, 2),
        "correct": np.concatenate([part.ravel() for part in right]).astype(float),
        "dollars": np.r_[np.full(names.size, 0.01), np.full(names.size, 0.03)],
    }


def test_a_spend_is_divided_into_problems_and_samples():
    """Every way costs what may be spent; a way like the pilot shows what the pilot shows, and more problems tell more
    than more samples of each."""
    table = _systems(1, 80, 4, 0.05)
    plan = plan_trials(table, group="problem", cost="dollars", spend=80 * 4 * 0.04)
    ((first, second, ways),) = plan.ways
    assert (first, second) == ("a", "b")
    assert [(way.problems, way.samples) for way in ways][:3] == [(320, 1), (160, 2), (80, 4)]
    assert all(way.spend == pytest.approx(way.problems * way.samples * 0.04) for way in ways)
    now = ways[2]
    ((*_, needed),) = plan.separations
    assert now.detectable == pytest.approx(needed.detectable, rel=1e-9)
    assert now.power == pytest.approx(needed.now, rel=1e-9)
    shown = [way.detectable for way in ways]
    assert shown == sorted(shown)
    assert [way["problems"] for way in plan.to_dict()["ways"][0]["ways"]] == [way.problems for way in ways]
    counted = plan_trials(table, group="problem", cost="dollars", runs=320)
    assert [way.problems for way in counted.ways[0][2]] == [way.problems for way in ways]
    assert (counted.spend, counted.samples, plan.samples) == (None, 320, None)
    assert "320 samples of each to divide" in " ".join(map(str, plan_sentences(counted)))  # samples are no dollars
    with pytest.raises(InputError, match="give one"):
        plan_trials(table, group="problem", cost="dollars", runs=320, spend=5.0)


def test_the_detectable_difference_of_a_way_is_that_of_simulated_studies():
    """From a pilot of 400 problems: 100 problems with 2 samples of each show the difference in about .80 of 200
    studies. The standard error of the share is .028, and that of the pilot's variance 4 %, or .03 of power."""
    plan = plan_trials(_systems(2, 400, 8, 0.1), group="problem", runs=200)
    (way,) = (way for way in plan.ways[0][2] if way.samples == 2)
    assert way.problems == 100
    decided = 0
    for seed in range(200):
        correct = _systems([3, seed], 100, 2, way.detectable)["correct"].reshape(2, -1)
        bests = [expected_best_by_group(part, np.repeat(np.arange(100), 2), [1]) for part in correct]
        decided += int(problem_contrasts(bests, Hypotheses(((0, 1),), bounds=(0, 1))).pairs[0].certified[0] == -1)
    assert 0.80 - 0.12 < decided / 200 < 0.80 + 0.12


def test_a_spend_needs_problems_and_costs(trials):
    with pytest.raises(InputError, match="name the problem"):
        plan_trials(trials, spend=10)
    table = {name: column for name, column in _systems(1, 20, 4, 0.1).items() if name != "dollars"}
    with pytest.raises(InputError, match="needs costs"):
        plan_trials(table, group="problem", spend=10)


def test_for_equal_systems_over_problems_no_number_is_promised():
    """Of 40 pilots of equal systems more than 7 promise a number with a chance below .001: each does so where it names
    a false winner almost, at most in .05 of them."""
    promised = 0
    for seed in range(40):
        plan = plan_trials(_systems([4, seed], 60, 4, 0.0), group="problem", n_resamples=99)
        ((*_, needed),) = plan.separations
        promised += np.isfinite(needed.needed) and not needed.decided
        if needed.code == "open":
            assert "or more" in plan_rows(plan)[0][2]
    assert promised <= 7


def seeds(decimals):
    rng = np.random.default_rng(1)
    scores = np.concatenate([rng.normal(level, 0.02, 10) for level in (0.6, 0.615)]).round(decimals)
    return Trials.from_arrays(scores, direction="max", family=["a"] * 10 + ["b"] * 10, seed=np.tile(np.arange(10), 2))


@pytest.mark.parametrize(("n", "planned"), [(None, 1), (1, 1), (2, 2), (10, 2)])
def test_the_best_of_several_runs_is_planned_for_where_it_is_asked_for(n, planned):
    """Of 10 runs, n up to a quarter: 2. What was planned for was one run, with the reason of a small pilot."""
    plan = plan_trials(seeds(6), n=n, n_resamples=200)
    assert plan.separations[0][2].n == planned
    assert ("Planned for n = 2, not 10" in str(plan)) == (n == 10)


def test_a_family_of_equal_scores_does_not_end_the_plan(recwarn):
    """Resamples of ten scores, seven of them equal, have no spread: the width was infinite, and the plan an error."""
    plan = plan_trials(seeds(2), n=2, n_resamples=200)
    assert [name for name, _, _ in plan.unplanned] == ["a"]
    assert "a: no plan, since too many of its 10 scores are equal" in str(plan)
    assert plan.separations
    assert not recwarn.list


def test_cautions_about_the_best_of_runs_are_left_out_of_a_plan_for_one_run():
    tied = seeds(2)
    tied = replace(tied, cautions=(*tied.cautions, Caution.of("ties", "a", 0.8, share=0.8)))
    assert "ties" in {caution.code for caution in tied.cautions}
    assert "ties" not in {caution.code for caution in plan_trials(tied, n_resamples=200).cautions}
