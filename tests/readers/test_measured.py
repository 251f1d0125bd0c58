"""What was measured of each run is no setting: it would make every run a configuration of its own."""

import csv

import numpy as np
import pytest

import levelbest as lb
from levelbest.cli.main import main
from levelbest.errors import Ambiguous

FAST = {"n_resamples": 199}
K, R = 8, 3
N = 2 * K * R


def study(rate="lr", **more):
    """Eight configurations of two models with the seeds 0, 1 and 2 each; None leaves a column out."""
    rng = np.random.default_rng(4)
    rates = 10 ** rng.uniform(-4, -1, 2 * K)
    table = {
        "model": ["cnn"] * (K * R) + ["vit"] * (K * R),
        rate: np.repeat(rates, R),
        "seed": np.tile(np.arange(R), 2 * K),
        "val_acc": np.repeat(rng.normal(0.8, 0.02, 2 * K), R) + rng.normal(0, 0.01, N),
    }
    return {name: column for name, column in (table | more).items() if column is not None}


def random(kind="normal", seed=0):
    rng = np.random.default_rng(seed)
    return {
        "normal": rng.normal(size=N),
        "counts": rng.integers(0, 40, N),
        "small": rng.integers(0, 12, N),
        "flag": rng.integers(0, 2, N),
        "seldom": np.where(rng.random(N) < 0.8, 100, rng.integers(20, 90, N)),
    }[kind]


def measured(table, **options):
    return [
        name
        for caution in lb.read_trials(table, **options).cautions
        if (caution.code, caution.kind) == ("guessed-columns", "measured")
        for name in caution.fact("columns")
    ]


LISTED = {
    "train_acc": random(),
    "train_loss": random(),
    "grad_norm": random(),
    "throughput": random(),
    "best_epoch": random("counts"),
    "runtime": random("counts"),
    "n_params": [10] * (N // 2) + [20] * (N // 2),
    "gpu_mem": random(),
    "batch_size": [64] * N,
}


@pytest.mark.parametrize("rate", ["lr", "tau"])
@pytest.mark.parametrize(
    "columns",
    [
        {"grad_cos": random()},
        {"dead_units": random("counts")},
        {"dead_units": random("small")},
        {"final_lr": np.repeat(np.random.default_rng(1).random(2 * K), R) * (1 + 0.1 * random())},
        {"grad_cos": random(), "dead_units": random("small", 1), "sharpness": random("normal", 2)},
        LISTED | {"grad_cos": random("normal", 3), "final_lr": random("normal", 5)},
        {"init_seed": np.tile([1000, 1001, 1002], 2 * K)},
    ],
)
def test_configurations_times_seeds_remain_the_design(rate, columns):
    table = study(rate, **columns)
    trials = lb.read_trials(table)
    assert set(trials.configuration) <= {rate, "batch_size"}
    assert np.unique(trials.setting).size == 2 * K
    assert set(measured(table)) == set(columns) - set(LISTED)
    compared, plain = lb.compare(table, **FAST), lb.compare(study(rate), **FAST)
    assert compared.pairs[0].n_trials == (K, K)
    assert compared.pairs[0].difference.tolist() == plain.pairs[0].difference.tolist()


def test_it_is_said_which_columns_were_taken_so():
    table = study(grad_cos=random(), dead_units=random("counts"))
    said = [str(caution) for caution in lb.compare(table, **FAST).cautions if caution.kind == "measured"]
    assert said == [
        "'grad_cos' and 'dead_units' differ between runs of the same settings: measured, and no settings "
        "(configuration= names the settings)"
    ]
    assert set(lb.read_trials(table, configuration="lr,grad_cos").configuration) == {"lr", "grad_cos"}
    assert lb.read_trials(table, configuration="lr,grad_cos").setting is None


def test_a_few_runs_may_be_missing_failed_or_run_again():
    table = study(grad_cos=random(), dead_units=random("small"))
    kept = [row for row in range(N) if row not in (5, 30)]
    missing = {name: np.array(column)[kept] for name, column in table.items()}
    again = {name: np.append(np.array(column), np.array(column)[[4, 5]]) for name, column in table.items()}
    again["grad_cos"][-2:] += 0.1
    failed = {name: np.array(column) for name, column in table.items()}
    failed["val_acc"][[5, 30]] = failed["grad_cos"][[5, 30]] = np.nan
    for changed in (missing, again, failed):
        assert measured(changed) == ["grad_cos", "dead_units"]
        assert lb.compare(changed, **FAST).pairs[0].n_trials == (K, K)


def test_tasks_and_several_settings():
    rng = np.random.default_rng(6)
    cells = [
        (model, data, lr, tau, seed)
        for model in ("cnn", "vit")
        for data in "abc"
        for lr in (0.1, 0.01)
        for tau in (1, 2)
        for seed in range(3)
    ]
    columns = dict(zip(("model", "dataset", "lr", "tau", "seed"), map(list, zip(*cells, strict=True)), strict=True))
    table = columns | {"val_acc": rng.random(len(cells)), "grad_cos": rng.random(len(cells))}
    assert measured(table) == ["grad_cos"]
    assert set(lb.read_trials(table).configuration) == {"lr", "tau"}
    given = lb.read_trials(table, configuration="lr,tau")  # named settings do not make a setting of the tasks
    assert given.tasks == ("a", "b", "c")


@pytest.mark.parametrize(
    "table",
    [
        study(grad_cos=random(), seed=None),
        study(grad_cos=random(), seed=[7] * N),
        study(converged=random("flag")),  # two values
        study(stopped=random("seldom")),  # the same in some configurations
    ],
)
def test_what_is_not_clear_is_asked(table):
    (column,) = set(table) - set(study())
    with pytest.raises(
        Ambiguous,
        match=rf"'{column}' differs between runs with the same 'lr': is it a result of each run "
        rf"\(configuration='lr'\), or a setting \(configuration='lr,{column}'\)\?",
    ):
        lb.compare(table, **FAST)
    assert lb.compare(table, configuration="lr", **FAST).pairs[0].n_trials == (K, K)
    assert min(lb.compare(table, configuration=["lr", column], **FAST).pairs[0].n_trials) > K


def test_what_all_runs_of_a_seed_share_was_not_measured():
    table = study(offset=np.tile([1000, 1001, 1002], 2 * K))
    with pytest.raises(Ambiguous, match="'offset' differs between runs with the same 'lr'"):
        lb.read_trials(table)
    assert set(lb.read_trials(table, configuration="lr").configuration) == {"lr"}


def test_the_command_line_asks_and_takes_the_answer(tmp_path, capsys):
    table = study(grad_cos=random(), seed=None)
    path = tmp_path / "runs.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([list(table), *zip(*table.values(), strict=True)])
    assert main(["compare", str(path)]) == 1
    assert "(--configuration lr), or a setting (--configuration lr,grad_cos)?" in capsys.readouterr().err
    assert main(["compare", str(path), "--configuration", "lr"]) == 0
    assert "configurations" in capsys.readouterr().out


def test_it_is_not_asked_where_either_gives_the_same_answer():
    rng = np.random.default_rng(8)
    words = {"model": ["a"] * 24 + ["b"] * 24, "optimizer": list("uvwxyz") * 8, "tau": rng.random(48)}
    assert "tau" in lb.read_trials(words | {"val_acc": rng.random(48)}).configuration


@pytest.mark.parametrize("seeds", ["of its own", "large", "one", "few", "none"])
def test_settings_that_a_random_search_draws_anew_are_settings(seeds):
    """Drawn at random from few seeds and settings, 24 runs of two models meet once in 1,000 tables as planned ones."""
    for number in range(30):
        rng = np.random.default_rng(number)
        table = {"model": ["a"] * 24 + ["b"] * 24, "tau": rng.random(48), "zeta": rng.random(48)}
        table |= {"layers": rng.integers(1, 4, 48), "opt": rng.choice(["adam", "sgd"], 48), "val_acc": rng.random(48)}
        columns = {
            "of its own": np.tile(np.arange(24), 2),
            "large": rng.integers(0, 10**6, 48),
            "one": np.zeros(48),
            "few": rng.integers(0, 3, 48),
        }
        if seeds in columns:
            table["seed"] = columns[seeds]
        assert set(lb.read_trials(table).configuration) >= {"tau", "zeta", "layers", "opt"}


@pytest.mark.parametrize("prefix", ["", "config.", "optim."])
def test_a_known_hyperparameter_drawn_for_every_run_is_a_setting(prefix):
    """Each optimizer with the seeds 0 to 9, which number the draws."""
    rng = np.random.default_rng(2)
    cells = [(model, opt, seed) for model in "ab" for opt in ("adam", "sgd") for seed in range(10)]
    model, opt, seed = map(list, zip(*cells, strict=True))
    table = {"model": model, "optimizer": opt, "seed": seed, "val_acc": rng.random(40)}
    known = lb.read_trials(table | {f"{prefix}lr": rng.random(40)})
    assert f"{prefix}lr" in known.configuration
    assert known.setting is None
    with pytest.raises(Ambiguous, match="'tau' differs between runs with the same"):  # many seeds, few optimizers
        lb.read_trials(table | {"tau": rng.random(40)})


UNEVEN = [3, 4, 5, 4, 3, 5, 5, 3, 4, 3, 5, 4]


@pytest.mark.parametrize("seeds", ["of each configuration", "of its own"])
def test_one_unknown_column_does_not_turn_repeats_into_trials(seeds):
    """Six configurations of two models, with runs that have counts and hashes beside them."""
    rng = np.random.default_rng(11)
    counts = UNEVEN if seeds == "of each configuration" else [4] * 12
    n = sum(counts)
    table = {
        "model": ["cnn"] * sum(counts[:6]) + ["vit"] * sum(counts[6:]),
        "lr": np.repeat(10 ** rng.uniform(-4, -1, 12), counts),
        "seed": np.concatenate([np.arange(count) for count in counts]),
        "val_acc": rng.normal(0.8, 0.02, n),
    }
    if seeds == "of its own":
        table["seed"] = rng.permutation(10**6)[:n]
    assert np.unique(lb.read_trials(table).setting).size == 12
    for column in (rng.integers(0, 40, n), rng.normal(size=n), [f"{value:x}-b" for value in rng.integers(0, 10**9, n)]):
        with pytest.raises(Ambiguous, match="'extra' differs between runs with the same 'lr'") as asked:
            lb.read_trials(table | {"extra": column})
        assert "configuration='lr'), or a setting (configuration='lr,extra')" in str(asked.value)
        assert np.unique(lb.read_trials(table | {"extra": column}, configuration="lr").setting).size == 12


def test_seeds_alone_with_an_unknown_column_are_asked_about():
    rng = np.random.default_rng(12)
    table = {"algo": ["dqn"] * 8 + ["rainbow"] * 8, "seed": [*range(8)] * 2, "n_collapses": rng.integers(0, 30, 16)}
    table["episode_return"] = np.repeat([100.0, 400.0], 8) + rng.normal(0, 90, 16)
    with pytest.raises(Ambiguous, match="'n_collapses' differs between runs, and no known setting does"):
        lb.compare(table, **FAST)
    compared = lb.compare(table, configuration="none", **FAST)
    assert (compared.terms.design, compared["rainbow", "dqn"].verdict_at(1)) == ("seeds", "rainbow")
    assert lb.compare(table, configuration="n_collapses", **FAST).terms.design != "seeds"


def test_folds_with_an_unknown_column_are_asked_about():
    rng = np.random.default_rng(13)
    hard = np.tile(rng.normal(0, 0.05, 10), 2)
    table = {"model": ["a"] * 10 + ["b"] * 10, "fold": [*range(10)] * 2, "hd95": rng.random(20)}
    table["dice"] = 0.8 + hard + np.repeat([0.0, 0.02], 10) + rng.normal(0, 0.005, 20)
    with pytest.raises(Ambiguous, match="'hd95' differs between runs, and beside 'fold' no known"):
        lb.compare(table, **FAST)
    assert lb.compare(table, configuration="fold", **FAST)["a", "b"].verdict_at(1) == "b"


def test_recorded_settings_are_not_asked_about():
    rng = np.random.default_rng(14)
    table = {"config.model": ["a"] * 8 + ["b"] * 8, "config.seed": [*range(8)] * 2, "config.tau": rng.random(16)}
    table["val_acc"] = rng.random(16)
    assert "config.tau" in lb.read_trials(table).configuration
    renamed = {name: column for name, column in table.items() if name != "config.tau"} | {"dead_units": rng.random(16)}
    assert lb.compare(renamed, **FAST).terms.design == "seeds"  # what is recorded elsewhere is no setting


def test_settings_chosen_within_each_fold_are_asked_about():
    rng = np.random.default_rng(15)
    table = {"model": ["a"] * 10 + ["b"] * 10, "fold": [*range(10)] * 2, "lr": rng.choice([0.1, 0.01, 0.001], 20)}
    table["acc"] = np.tile(rng.normal(0.8, 0.05, 10), 2) + np.repeat([0.0, 0.02], 10) + rng.normal(0, 0.005, 20)
    with pytest.raises(Ambiguous, match="beside 'fold' no known setting does: is it a result of each run"):
        lb.compare(table, **FAST)
    assert lb.compare(table, configuration="fold", **FAST)["a", "b"].verdict_at(1) == "b"


@pytest.mark.parametrize("column", ["l2_reg", "lr_decay", "hidden_units", "adam_beta", "batch_size"])
def test_a_search_over_known_words_is_not_asked_about(column):
    rng = np.random.default_rng(16)
    table = {"model": ["a"] * 12 + ["b"] * 12, "seed": [*range(12)] * 2, column: rng.random(24), "acc": rng.random(24)}
    assert column in lb.read_trials(table).configuration
