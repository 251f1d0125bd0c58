"""Each warning about a sample appears where it should, with its number, and nowhere else."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import levelbest as lb
from levelbest.readers.steps.diagnose import diagnose
from levelbest.trials import Skipped

rng = np.random.default_rng(0)
SELECTION = rng.normal(size=40)
REPORTED = SELECTION + rng.normal(size=40) / 2


def trials(selection=SELECTION, reported=REPORTED, **more):
    facts = more.pop("facts", {})
    made = lb.Trials.from_arrays(selection, direction=more.pop("direction", "max"), reported=reported, **more)
    return replace(made, facts=facts)


def found(table, code):
    return [caution for caution in diagnose(table) if caution.code == code]


def test_a_random_sample_raises_no_doubt():
    assert diagnose(trials()) == ()


def test_trend():
    (caution,) = found(trials(np.sort(SELECTION) + rng.normal(size=40) / 3), "trend")
    assert caution.value > 0.5
    assert "better with the order" in caution.sentence
    (lost,) = found(trials(np.sort(SELECTION)), "trend")
    assert "sorted by their score" in lost.sentence


def test_order_column_decides_the_trend():
    shuffle = rng.permutation(40)
    rising = np.linspace(0, 1, 40) + rng.normal(size=40) / 10
    assert found(trials(rising[shuffle], None, order=shuffle), "trend")[0].value > 0.8


def test_failures_running_and_missing():
    status = ["failed"] * 3 + ["pruned"] + ["running"] * 2 + ["ok"] * 34
    reported = REPORTED.copy()
    reported[10:15] = np.nan
    table = trials(reported=reported, status=status)
    (caution,) = found(table, "failures")
    assert (caution.value, caution.sentence) == (4.0, "4 of 38 trials have no score (3 failed, 1 pruned)")
    assert found(table, "still-running")[0].value == 2.0
    assert "29 of 34 finished trials" in found(table, "missing-reported")[0].sentence


def test_no_reported_and_identical_columns():
    assert [c.code for c in diagnose(trials(reported=None))] == ["no-reported"]
    (caution,) = found(trials(reported=SELECTION), "selection-is-reported")
    assert caution.value == 40.0


def test_uncorrelated_selection():
    (caution,) = found(trials(reported=rng.permutation(REPORTED)), "selection-uncorrelated")
    assert abs(caution.value) < 0.4
    assert "at random" in caution.sentence
    (turned,) = found(trials(reported=-REPORTED), "selection-uncorrelated")
    assert turned.value < -0.5
    assert "picks the wrong trials; check" in turned.sentence
    assert "at random" not in turned.sentence


def test_few_values_and_ties():
    coarse = np.round(SELECTION)
    assert found(trials(coarse, None), "few-values")[0].value == len(set(coarse))
    assert found(trials(coarse, None), "ties")[0].value > 0.5
    assert found(trials(np.r_[SELECTION, SELECTION[:10]], None), "ties") == []


def test_outlier_on_the_better_side_only():
    wild = np.r_[SELECTION, 30.0]
    assert found(trials(wild, None), "outlier")[0].value > 3
    assert found(trials(wild, None, direction="min"), "outlier") == []
    assert found(trials(-wild, None, direction="min"), "outlier") != []


def test_leaky_reported_by_its_name():
    table = lb.read_trials({"val_acc": SELECTION, "best_test_acc": REPORTED}, reported="best_test_acc")
    assert "leaky-reported" in [c.code for c in table.cautions]


def test_recorded_samplers():
    for sampler, code in [("TPESampler", "adaptive-sampler"), ("GridSampler", "grid"), ("RandomSampler", None)]:
        table = trials(family="cnn", facts={"sampler:cnn": sampler})
        assert [c.code for c in diagnose(table)] == ([code] if code else [])


@pytest.mark.parametrize("sampler", ["QMCSampler", "ax.SobolGenerator", "quasirandom", "LatinHypercube"])
def test_points_spread_evenly_do_not_learn_and_are_no_independent_draws(sampler):
    (caution,) = diagnose(trials(family="cnn", facts={"sampler:cnn": sampler}))
    assert caution.code == "grid"
    assert caution.sentence.startswith(f"the source records {sampler}, which spreads its points evenly")
    assert "does not learn" in caution.sentence
    assert "not independent draws" in caution.sentence


def test_grid_with_one_default_beside_it():
    cells = [*itertools.product([1, 2, 4], [0.1, 0.2], ["a", "b", "c", "d"])]
    width, lr, kind = zip(*cells, strict=True)
    settings = {"width": [*width, None], "lr": [*lr, None], "kind": [*kind, None]}
    scores = rng.normal(size=25)
    table = lb.read_trials({"val_acc": scores, **settings})
    (caution,) = [c for c in table.cautions if c.code == "grid"]
    assert caution.value == 24.0
    assert "3 x 2 x 4" in caution.sentence


def test_a_grid_for_each_data_set_is_said():
    widths = {"a": [1, 2, 3], "b": [2, 3, 4], "c": [5, 6, 7]}
    rows = [(data, *cell) for data in "abc" for cell in itertools.product(widths[data], [0.1, 0.2], [3, 4])]
    data, width, lr, depth = zip(*rows, strict=True)
    settings = {"data": np.array(data, dtype=object), "width": width, "lr": lr, "depth": depth}
    (caution,) = found(trials(SELECTION[:36], None, configuration=settings), "grid")
    assert caution.value == 36.0
    assert "within each data" in caution.sentence


def test_a_ladder_of_one_hyperparameter_is_a_grid():
    table = trials(SELECTION[:6], None, configuration={"lr": 10.0 ** -np.arange(6)})
    assert found(table, "grid")[0].value == 6.0


def test_nested_seeds_and_repeated_configurations():
    lr = np.repeat(rng.uniform(size=8), 5)
    seeds = np.tile(np.arange(5), 8)
    (nested,) = found(trials(configuration={"lr": lr}, seed=seeds), "nested-seeds")
    assert nested.value == 8.0
    (unnamed,) = found(trials(configuration={"lr": lr}), "nested-seeds")  # five of each, with other scores
    assert unnamed.fact("what") == ("runs",)
    uneven = np.r_[lr[:32], lr[:8]]
    (repeated,) = found(trials(configuration={"lr": uneven}), "repeated-configurations")
    assert repeated.value == 33.0
    (one_seed,) = found(trials(configuration={"lr": lr}, seed=np.zeros(40)), "nested-seeds")  # it tells nothing apart
    assert (one_seed.value, one_seed.fact("what")) == (8.0, ("runs",))
    assert found(trials(configuration={"lr": uneven}, seed=np.zeros(40)), "repeated-configurations")[0].value == 33.0
    # One configuration and many seeds is a family of seeds, not a nested design.
    assert diagnose(trials(configuration={"lr": np.full(40, 0.1)}, seed=np.arange(40))) == ()


def test_paired_designs_by_configuration_seed_or_problem():
    lr = rng.uniform(size=20)
    family = ["a"] * 20 + ["b"] * 20
    (caution,) = found(trials(family=family, configuration={"lr": np.r_[lr, rng.permutation(lr)]}), "paired-design")
    assert caution.value == 20.0
    assert "configurations" in caution.sentence
    assert found(trials(family=family, seed=np.tile(np.arange(20), 2)), "paired-design") == []  # numbers, no pairing
    problems = trials(None or np.tile([0.0, 1.0], 20), None, family=family, group=np.tile(np.arange(10), 4))
    assert "10 problems" in found(problems, "paired-design")[0].sentence


def test_groups_of_unequal_size_and_stopping_at_success():
    group, score = [], []
    for problem in range(12):
        tries = problem % 4 + 2
        group += [problem] * tries
        score += [0.0] * (tries - 1) + [1.0]
    table = trials(score, None, group=group)
    assert found(table, "unequal-groups")[0].value == 2.0
    assert found(table, "stops-at-success")[0].value == 12.0
    fair = trials(rng.permutation(score), None, group=group)
    assert found(fair, "stops-at-success") == []


def test_a_failed_sample_is_no_success_where_lower_is_better():
    size = [2, 4] * 6
    group = np.repeat([f"p{i}" for i in range(12)], size)
    error = np.concatenate([[1.0] * (k - 1) + [np.nan] for k in size])  # each problem ends with a failed sample
    assert found(trials(error, None, group=group, direction="min"), "stops-at-success") == []


def test_every_message_ends_as_a_sentence_part_and_names_its_family():
    table = trials(np.sort(SELECTION), family="cnn", status=["failed"] * 4 + ["ok"] * 36)
    for caution in diagnose(table):
        assert caution.sentence[0].islower() or caution.sentence[0].isdigit()
        assert str(caution).startswith("cnn: ")


def test_skipped_rows_are_counted():
    lost = (Skipped("a.csv, line 2", "it is odd"),)
    table = replace(lb.Trials.from_arrays([1.0], direction="max"), skipped=lost)
    assert found(table, "skipped-rows")[0].value == 1.0


def test_large_families_are_thinned_not_refused(monkeypatch):
    monkeypatch.setattr("levelbest.readers.steps.diagnose._RANKED_UP_TO", 1000)
    rising = np.arange(20_000) / 20_000 + np.random.default_rng(1).normal(size=20_000)
    (caution,) = found(trials(rising, None), "trend")
    assert caution.value == pytest.approx(0.27, abs=0.09)


def test_copies_of_rows_are_called_repeated_rows():
    rng = np.random.default_rng(11)
    scores, rate = np.round(rng.normal(0.8, 0.05, 12), 4), rng.random(12)
    copied = lb.Trials.from_arrays(np.tile(scores, 2), direction="max", configuration={"lr": np.tile(rate, 2)})
    (caution,) = [caution for caution in diagnose(copied) if caution.code in ("repeated-configurations", "ties")]
    assert (caution.kind, caution.value) == ("rows", 12.0)
    assert "12 of 24 rows repeat another row in every cell" in caution.sentence
    failed = lb.Trials.from_arrays(np.append(np.tile(scores, 2), np.full(9, np.nan)), direction="max")
    assert [caution.value for caution in found(failed, "repeated-configurations")] == [12.0]  # no score is no copy
    alone = lb.Trials.from_arrays(np.tile(scores, 3), direction="max")
    assert [caution.kind for caution in found(alone, "repeated-configurations")] == ["rows"]


def test_scores_that_tie_by_chance_are_no_copies():
    rng = np.random.default_rng(12)
    for _ in range(200):  # accuracies of 50 examples, with one setting of three values: ties abound
        scores, width = rng.binomial(50, 0.8, 30) / 50, rng.integers(1, 4, 30)
        table = lb.Trials.from_arrays(scores, direction="max", configuration={"width": width})
        assert "rows" not in [caution.kind for caution in found(table, "repeated-configurations")]
