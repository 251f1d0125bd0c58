"""Rows that repeat a configuration and a seed are further runs: they do not make every row its own configuration."""

import numpy as np
import pytest

import levelbest as lb
from levelbest.readers.steps.designs import designs_of

FAST = {"n_resamples": 199}
K, R = 8, 3


def study(again=(4, 5), *, models=("cnn", "vit"), **columns):
    """Configurations times seeds of each model, and these rows of the first model again with a slightly other score."""
    rng = np.random.default_rng(4)
    rows = []
    for model in models:
        for lr in 10 ** rng.uniform(-4, -1, K):
            worth = rng.normal(0.8, 0.02)
            rows += [(model, lr, seed, worth + rng.normal(0, 0.01)) for seed in range(R)]
    rows += [(*rows[place][:3], rows[place][3] + 0.003) for place in again]
    table = dict(zip(("model", "lr", "seed", "val_acc"), map(list, zip(*rows, strict=True)), strict=True))
    for name, column in columns.items():
        if column is None:
            del table[name]
        else:
            table[name] = column
    return table


def units(table):
    return {design.family: (design.kind, design.units) for design in designs_of(lb.read_trials(table))}


def notes(table, kind="runs"):
    cautions = lb.read_trials(table).cautions
    return [one for one in cautions if (one.code, one.kind) == ("repeated-configurations", kind)]


@pytest.mark.parametrize(
    "table",
    [
        study(),
        study(again=(0, 1, 2)),  # one configuration, all of its seeds
        study(again=range(0, K * R, 3)),  # a run of each configuration
        study(run_id=[f"run_{i:03d}" for i in range(2 * K * R + 2)]),
        study(run_id=list(range(2 * K * R + 2))),
        study(seed=[*range(2 * K * R), 4, 5]),  # each run has a seed of its own
        study(fold=study()["seed"], seed=None),
    ],
)
def test_configurations_times_seeds_remain_the_design(table):
    assert units(table) == {"cnn": ("seeds", K), "vit": ("seeds", K)}
    (note,) = notes(table)
    assert note.family == "cnn"
    assert note.value == len(table["lr"]) - 2 * K * R
    compared = lb.compare(table, **FAST)
    assert compared.terms.design == "configurations"
    assert compared.pairs[0].n_trials == (K, K)


def test_a_run_again_is_one_more_run_of_its_configuration():
    table = study()
    curves = {curve.family: curve for curve in lb.family_curves(table)}
    assert (curves["cnn"].n_trials, curves["cnn"].n_runs) == (K, K * R + 2)
    lr, score = np.array(table["lr"]), np.array(table["val_acc"])
    means = [score[lr == rate].mean() for rate in dict.fromkeys(table["lr"][: K * R])]
    assert curves["cnn"].value[0] == pytest.approx(np.mean(means))
    assert curves["cnn"].value[-1] == pytest.approx(max(means))
    clean = {curve.family: curve for curve in lb.family_curves(study(again=()))}
    assert curves["vit"].value.tolist() == clean["vit"].value.tolist()
    assert notes(table)[0].sentence.startswith("2 of 26 rows repeat the configuration and seed of another row")


@pytest.mark.parametrize("seed", [None, [42] * (2 * K * R + 2)])
@pytest.mark.parametrize("again", [(4, 5), (0, 4)])
def test_so_are_runs_that_no_seed_tells_apart(seed, again):
    assert units(study(again, seed=seed)) == {"cnn": ("seeds", K), "vit": ("seeds", K)}


def test_many_rows_again_of_one_family_count_as_in_the_others():
    """Uneven numbers of runs that nothing tells apart, or all of them again: the other family shows what repeats."""
    for table in (study(again=(0, 0, 0, 0, 1, 1, 9), seed=None), study(again=range(K * R))):
        assert lb.compare(table, **FAST).pairs[0].n_trials == (K, K)


def test_many_rows_again_of_all_families_may_be_of_something_that_is_not_recorded():
    half = study(again=(), models=("cnn",))
    twice = {name: [*column, *column] for name, column in half.items()}
    twice["val_acc"] = np.random.default_rng(1).random(2 * K * R)
    assert lb.read_trials(twice).setting is None
    assert notes(twice, "")[0].value == K * R


@pytest.mark.parametrize("status", [False, True])
def test_a_failed_run_that_was_run_again_counts_under_its_configuration(status):
    table = study(again=(4,))
    table["val_acc"][4] = float("nan")
    if status:
        table["status"] = ["finished"] * len(table["lr"])
        table["status"][4] = "crashed"
    compared = lb.compare(table, **FAST)
    assert compared.pairs[0].n_trials == (K, K)
    assert compared.pairs[0].n_failed == (1, 0)
    assert len(notes(table)) == 1
    again = {curve.family: curve for curve in lb.family_curves(table, failed="drop")}
    clean = study(again=())
    clean["val_acc"][4] = table["val_acc"][-1]  # what counts then is the run that succeeded
    assert again["cnn"].value.tolist() == pytest.approx(lb.family_curves(clean)[0].value.tolist())


def test_two_failures_or_a_tie_do_not_hide_runs_of_configurations():
    failed = study(again=(), seed=None)
    failed["val_acc"][0] = failed["val_acc"][1] = float("nan")
    tied = study(again=(), seed=None)
    tied["val_acc"][0] = tied["val_acc"][1]
    assert units(failed)["cnn"] == units(tied)["cnn"] == ("seeds", K)


@pytest.mark.parametrize(("name", "score"), [("seed", "val_acc"), ("run", "accuracy"), ("fold", "accuracy")])
def test_seeds_without_configurations_remain_seeds(name, score):
    rng = np.random.default_rng(2)
    table = {"model": ["a"] * 12 + ["b"] * 12 + ["a"] * 2, name: [*range(12), *range(12), 3, 4]}
    table[score] = rng.normal(0.8, 0.02, 26)
    compared = lb.compare(table, **FAST)
    assert compared.terms.design == "seeds"
    assert compared.pairs[0].n_trials == (14, 12)
    (note,) = notes(table)
    assert (note.family, note.value) == ("a", 2)
    hidden = {"model": ["a"] * 12 + ["b"] * 12, "seed": [*range(6)] * 4, "val_acc": table[score][:24]}
    assert lb.compare(hidden, **FAST).terms.design != "seeds"  # each seed twice: something else varies
    assert not notes(hidden)


def test_copies_of_rows_are_left_out():
    table = study(again=())
    copied = {name: [*column, *column[4:10]] for name, column in table.items()}
    assert len(lb.read_trials(copied).skipped) == 6
    assert not notes(copied)
    assert units(copied)["cnn"] == ("seeds", K)
    same = lb.compare(table, **FAST).pairs[0]
    assert lb.compare(copied, **FAST).pairs[0].low.tolist() == same.low.tolist()


def test_a_few_rows_again_make_no_configurations_of_a_random_search():
    rng = np.random.default_rng(9)
    table = {"lr": rng.random(24), "seed": np.arange(24), "val_acc": rng.random(24)}
    table = {name: np.r_[column, column[:2]] for name, column in table.items()}
    table["val_acc"][-2:] += 0.01
    trials = lb.read_trials(table)
    assert trials.setting is None
    assert notes(table, "")[0].value == 2
