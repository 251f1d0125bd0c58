"""Configurations with several seeds: n counts configurations, each judged by the mean over its runs."""

from itertools import combinations

import numpy as np
import pytest

import levelbest as lb
from levelbest.designs import Request, design_of
from levelbest.errors import InputError
from levelbest.report.build import build_view
from levelbest.report.words.reading import reading_lines
from levelbest.stats import best_interval, expected_best
from levelbest.stats.best import new_run_of_best, normal_best


def runs(k=8, r=4, families=("a",), *, sd=(1.0, 1.0), seed=0, lift=0.0):
    """Random configurations of each family, all with the seeds 0 to r - 1."""
    rng = np.random.default_rng(seed)
    columns = {"model": [], "lr": [], "seed": [], "val_acc": []}
    for place, family in enumerate(families):
        for lr in rng.random(k):
            worth = sd[0] * rng.normal() + lift * place
            for number in range(r):
                columns["model"].append(family)
                columns["lr"].append(lr)
                columns["seed"].append(number)
                columns["val_acc"].append(0.5 + 0.01 * (worth + sd[1] * rng.normal()))
    return columns


def test_a_curve_is_of_configurations_and_their_means():
    columns = runs()
    means = np.reshape(columns["val_acc"], (8, 4)).mean(axis=1)
    drawn = lb.curve(columns, selection="val_acc", direction="max")
    assert (drawn.n_trials, drawn.n_runs, drawn.unit) == (8, 32, "configuration")
    assert drawn.n.tolist() == list(range(1, 9))
    for n in (1, 3, 8):  # every subset of n configurations
        every = [max(subset) for subset in combinations(means, n)]
        assert drawn.value[n - 1] == pytest.approx(np.mean(every))
    alone = best_interval(means, [1, 3], direction="max", rng=0)
    assert drawn.low[[0, 2]].tolist() == pytest.approx(alone.low.tolist())
    assert drawn.to_dict()["unit"] == "configuration"
    assert drawn.to_dict()["points"][2]["new_run"] == pytest.approx(drawn.new_run[2])
    assert list(drawn.to_frame().columns)[-1] == "new_run"
    sentence = str(drawn)
    assert "best val_acc of 8 configurations" in sentence
    assert "from 8 configurations with 32 runs in all" in sentence
    assert "A new run of it is expected to score" in sentence


def test_reported_scores_and_costs_are_those_of_whole_configurations():
    columns = runs(5, 3) | {"test_acc": np.random.default_rng(4).random(15), "gpu_hours": np.ones(15)}
    drawn = lb.curve(columns, selection="val_acc", reported="test_acc", cost="gpu_hours", direction="max")
    chosen = np.reshape(columns["val_acc"], (5, 3)).mean(axis=1)
    claimed = np.reshape(columns["test_acc"], (5, 3)).mean(axis=1)
    assert drawn.value[-1] == pytest.approx(claimed[np.argmax(chosen)])
    assert drawn.cost.tolist() == [3.0, 6.0, 9.0, 12.0, 15.0]


def test_a_new_run_is_held_out_in_turn():
    scores, configuration = np.array([0.9, 0.5, 0.7, 0.1, 0.6, 0.2]), np.array([0, 0, 0, 1, 1, 1])
    expected = []
    for held in range(3):  # both configurations lose the run of this seed, the mean of the others chooses
        rest = [np.delete(scores[:3], held).mean(), np.delete(scores[3:], held).mean()]
        expected.append(scores[3 * int(np.argmax(rest)) + held])
    assert new_run_of_best(scores, configuration, np.array([2]))[0] == pytest.approx(np.mean(expected))
    assert new_run_of_best(scores, configuration, np.array([1]))[0] == pytest.approx(scores.mean())
    alone = new_run_of_best([0.9, 0.5, 0.3], np.array([0, 0, 1]), np.array([1, 2]))
    assert alone[0] == pytest.approx(0.7)
    assert np.isnan(alone[1])


def test_a_new_run_is_not_flattered_and_the_mean_is():
    """Normal configurations and seeds: both expectations are known."""
    rng, n, r = np.random.default_rng(5), 5, 3
    again, means = [], []
    for _ in range(600):
        y = rng.normal(size=10)[:, None] + rng.normal(size=(10, r))
        configuration = np.repeat(np.arange(10), r)
        again.append(new_run_of_best(y.ravel(), configuration, np.array([n]))[0])
        means.append(expected_best(y.mean(axis=1), n))
    top = float(normal_best(n))
    # Chosen by two of three seeds: c_n / sqrt(1 + 1/2); standard errors .026 and .019, so 4 of them.
    assert np.mean(again) == pytest.approx(top / np.sqrt(1.5), abs=0.1)
    assert np.mean(means) == pytest.approx(top * np.sqrt(1 + 1 / r), abs=0.08)


def test_equal_families_are_told_apart_as_seldom_as_promised():
    """5 x 5 is not 25: taken as 25 trials, equal families get a winner far more often."""
    named = {"configurations": 0, "trials": 0}
    for seed in range(60):
        columns = runs(5, 5, ("a", "b"), sd=(1.0, 0.2), seed=seed)
        trials = lb.read_trials(columns, family="model", selection="val_acc", direction="max")
        nested = lb.compare(trials, n=1, n_resamples=200)
        assert nested.terms.design == "configurations"
        named["configurations"] += nested.pairs[0].decided
        flat = lb.Trials.from_arrays(trials.selection, direction="max", family=columns["model"])
        named["trials"] += lb.compare(flat, n=1, n_resamples=200).pairs[0].decided
    # A test of 5 % names more than 8 of 60 once in 500; 25 correlated trials have an error of about .4.
    assert named["configurations"] <= 8 < named["trials"], named


def test_compare_counts_configurations_in_words_and_data():
    columns = runs(12, 4, ("a", "b"), lift=4.0)
    verdict = lb.compare(columns, family="model", selection="val_acc", direction="max", n_resamples=500)
    assert verdict.pair("a", "b").n_trials == (12, 12)
    assert verdict.pair("a", "b").verdict_at(1) == "b"
    assert "12 configurations each, none failed" in " ".join(verdict.summary)
    notes = [str(caution) for caution in verdict.cautions if caution.code == "averaged-runs"]
    assert "48 runs are 12 configurations with 4 runs each: n counts configurations" in notes[0]
    assert not [caution for caution in verdict.cautions if caution.code == "nested-seeds"]


def test_the_same_configurations_in_both_families_are_pairs():
    columns = runs(8, 3, ("a", "b"))
    columns["lr"][24:] = columns["lr"][:24]
    trials = lb.read_trials(columns, family="model", selection="val_acc", direction="max")
    design = design_of(trials, Request.of())
    assert (design.name, design.paired, design.scores[0].n_trials) == ("configurations", True, 8)
    assert not design_of(trials, Request.of(paired=False)).paired
    by = [caution.fact("by") for caution in design.cautions if caution.code == "paired-design"]
    assert by == ["configuration"]


def test_failed_runs_count_within_their_configuration():
    columns = runs(6, 3, ("a", "b"))
    columns["val_acc"][0] = float("nan")
    reading = {"family": "model", "selection": "val_acc", "direction": "max"}
    worst = lb.compare(columns, **reading, n_resamples=200)
    assert worst.pairs[0].n_failed == (1, 0)
    assert "6 configurations each; 1 run failed (counted as the worst score)" in " ".join(worst.summary)
    dropped = lb.family_curves(columns, failed="drop", **reading)
    assert dropped[0].n_trials == 6
    first = np.reshape(columns["val_acc"][:18], (6, 3))
    assert dropped[0].value[0] == pytest.approx(np.nanmean(first, axis=1).mean())


def test_several_tables_keep_their_configurations():
    tables = [
        lb.read_trials(runs(6, 3, (name,), seed=place), family="model", selection="val_acc", direction="max")
        for place, name in enumerate("ab")
    ]
    assert lb.compare(tables, n_resamples=200).terms.design == "configurations"


def test_settings_can_be_named_in_python():
    scores = np.random.default_rng(1).random(12)
    trials = lb.Trials.from_arrays(scores, direction="max", setting=list("aabbccddeeff"))
    assert lb.curve(trials).n_trials == 6
    own = lb.Trials.from_arrays(scores, direction="max", setting=list(range(12)))
    assert lb.curve(own).unit == "trial"


@pytest.mark.parametrize("column", ["fold", "config.split"])
def test_a_data_split_is_no_hyperparameter(column):
    rng = np.random.default_rng(2)
    lr = np.repeat(rng.random(6), 5)
    trials = lb.read_trials({"lr": lr, column: np.tile(np.arange(5), 6), "val_acc": rng.random(30)})
    assert np.unique(trials.setting).size == 6
    (caution,) = [one for one in trials.cautions if one.code == "nested-seeds"]
    assert "6 configurations, with several data splits each" in str(caution)
    assert "6 configurations with several data splits" in " ".join(reading_lines(trials)[-1].split())
    assert not [one for one in trials.cautions if one.code == "grid"]


def test_repeats_without_a_seed_are_runs_where_nearly_all_have_as_many():
    rng = np.random.default_rng(3)
    lr = np.repeat(rng.random(6), 3)
    trials = lb.read_trials({"lr": lr, "val_acc": rng.random(18)})
    assert np.unique(trials.setting).size == 6
    again = lb.read_trials({"lr": np.r_[lr, lr[0]], "val_acc": rng.random(19)})
    assert np.unique(again.setting).size == 6
    uneven = lb.read_trials({"lr": np.r_[lr, lr[:6]], "val_acc": rng.random(24)})
    assert uneven.setting is None
    copied = lb.read_trials({"lr": lr, "val_acc": np.repeat(rng.random(6), 3)})
    assert copied.setting is None


def test_random_draws_from_few_settings_stay_trials():
    """Each with a seed of its own: independent trials, though configurations recur."""
    alarms = 0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        columns = {"depth": rng.integers(1, 5, 60), "width": rng.integers(1, 5, 60), "seed": rng.permutation(60)}
        alarms += lb.read_trials(columns | {"val_acc": rng.random(60)}).setting is not None
    # Dispersion below one half of what chance has (15 degrees of freedom): 6 in 100.
    assert alarms <= 9


def test_the_order_of_runs_within_a_configuration_is_no_trend():
    """Configurations one after the other: by their runs 1 family in 3 would look sorted, by their means 1 in 100."""
    alarms = 0
    for seed in range(60):
        trials = lb.read_trials(runs(12, 8, sd=(1.0, 0.1), seed=seed), family="model", selection="val_acc")
        alarms += any(caution.code == "trend" for caution in trials.cautions)
    assert alarms <= 4


def test_data_sets_are_no_configurations():
    rng = np.random.default_rng(4)
    columns = {"dataset": np.repeat(list("abcde"), 5), "seed": np.tile(np.arange(5), 5), "val_acc": rng.random(25)}
    assert lb.read_trials(columns).setting is None
    unnamed = {"task": np.repeat(list("ab"), 12), "val_acc": rng.random(24)}
    assert lb.read_trials(unnamed).setting is None
    words = {"shape": np.repeat(list("ab"), 12), "val_acc": rng.random(24)}
    assert lb.read_trials(words).setting is None  # no seed, no number: nobody says that these are repeats


def test_reach_costs_and_checklists_are_of_whole_configurations():
    columns = runs(10, 3, ("a", "b"), lift=2.0)
    columns |= {"test_acc": np.random.default_rng(8).random(60), "gpu_hours": np.ones(60)}
    reading = {"family": "model", "selection": "val_acc", "direction": "max"}
    reached = lb.reach(columns, 0.51, cost="gpu_hours", **reading, n_resamples=200).targets[1]
    assert (reached.unit, reached.n_trials) == ("configuration", 10)
    assert reached.cost == pytest.approx(3 * reached.n)
    over_cost = lb.compare(columns, axis="cost", cost="gpu_hours", **reading, n_resamples=200)
    assert over_cost.terms.unit == "configuration"
    assert not [caution for caution in over_cost.cautions if caution.code == "nested-seeds"]
    trials = lb.read_trials(columns, reported="test_acc", **reading)
    (first, _) = build_view(trials, n_resamples=200).families
    chosen = np.reshape(columns["val_acc"][:30], (10, 3)).mean(axis=1)
    claimed = np.reshape(columns["test_acc"][:30], (10, 3)).mean(axis=1)
    assert (first.chosen, first.winner) == pytest.approx((chosen.max(), claimed[np.argmax(chosen)]))


def test_looks_while_runs_arrive_need_one_run_of_each_configuration():
    columns = runs(8, 3, ("a", "b"))
    with pytest.raises(
        InputError, match=r"48 runs are 16 configurations .* whose means change as runs arrive"
    ) as raised:
        lb.compare(columns, while_running=True, statistic="median", direction="max")
    assert "where" in str(raised.value)
    looked = lb.compare(columns, where="seed = 0", while_running=True, statistic="median", direction="max")
    assert (looked.terms.unit, looked.pairs[0].n_trials) == ("trial", (8, 8))
