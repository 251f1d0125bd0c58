"""Data splits that families share: folds that differ much, families that differ little, compared fold by fold."""

import numpy as np
import pytest

import levelbest as lb
from levelbest.cli.main import main
from levelbest.designs import Request, design_of

FAST = {"n_resamples": 99}


def scored(rng, *, folds=10, runs=1, families=("cnn", "vit"), gap=0.01, noise=None, column="fold", labels=None):
    """Runs of families on shared folds, which differ by five times the gap; the last family is better by the gap."""
    rows = {"model": [], column: [], **({"seed": []} if runs > 1 else {}), "accuracy": []}
    hard = rng.normal(0, 0.05, folds)
    for name in families:
        for fold in range(folds):
            drawn = rng.normal(0, 0.004, runs) if noise is None else 0.01 * noise(runs)
            rows["model"] += [name] * runs
            rows[column] += [fold if labels is None else labels[fold]] * runs
            rows["accuracy"] += (0.8 + hard[fold] + gap * (name == families[-1]) + drawn).tolist()
            if runs > 1:
                rows["seed"] += range(runs)
    return rows


def without(rows, keep):
    kept = [place for place in range(len(rows["model"])) if keep({key: column[place] for key, column in rows.items()})]
    return {key: [column[place] for place in kept] for key, column in rows.items()}


@pytest.mark.parametrize(
    "column",
    [
        "fold",
        "cv_fold",
        "CV-Fold",
        "split",
        "data_seed",
        "config.fold",
        "fold_id",
        "Fold No.",
        "Fold #",
        "cv",
        "outer_fold",
        "outer",
        "val_fold",
    ],
)
def test_runs_on_the_same_data_splits_are_compared_split_by_split(column):
    rows = scored(np.random.default_rng(1), column=column)
    paired = lb.compare(rows, **FAST)
    assert paired.terms.design == "folds"
    assert paired.pairs[0].paired
    assert paired["vit", "cnn"].verdict_at(1) == "vit"
    assert lb.compare(rows, paired=False, **FAST)["vit", "cnn"].verdict_at(1) == "undecided"
    by = np.array(rows["accuracy"]).reshape(2, -1)
    assert paired["vit", "cnn"].effect.difference == pytest.approx(by[1].mean() - by[0].mean())


@pytest.mark.parametrize("labels", [[f"fold_{i}" for i in range(10)], "abcdefghij"])
def test_folds_may_be_named(labels):
    compared = lb.compare(scored(np.random.default_rng(2), labels=labels), **FAST)
    assert (compared.terms.design, compared["vit", "cnn"].verdict_at(1)) == ("folds", "vit")


@pytest.mark.parametrize("column", ["seed", "run", "repeat"])
def test_equal_numbers_of_seeds_and_runs_are_no_splits(column):
    compared = lb.compare(scored(np.random.default_rng(1), column=column), **FAST)
    assert (compared.terms.design, compared["vit", "cnn"].verdict_at(1)) == ("seeds", "undecided")


def test_the_pairing_is_said_with_the_way_to_undo_it_and_what_folds_share(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = scored(np.random.default_rng(1))
    lines = ["model,fold,accuracy", *(",".join(map(str, row)) for row in zip(*rows.values(), strict=True))]
    (tmp_path / "folds.csv").write_text("\n".join(lines) + "\n")
    assert main(["compare", "folds.csv", "--details"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.startswith("For a fold: vit, better than cnn by 0.01")
    assert "compared fold by fold: every family has one run on each of the 10 folds in 'fold' (--unpaired" in printed
    assert "note folds ('fold') share training data: the interval is for these data" in printed
    assert "for these data" in printed[printed.index("95 % confidence") :]
    assert main(["compare", "folds.csv", "--unpaired"]) == 0
    assert "For a fold: vit or cnn" in " ".join(capsys.readouterr().out.split())
    assert main(["convert", "folds.csv", "--out", "tidy.csv"]) == 0
    assert main(["compare", "tidy.csv"]) == 0
    assert "For a fold: vit, better than cnn by 0.01" in " ".join(capsys.readouterr().out.split())


def test_several_runs_on_each_fold_count_once():
    """Thirty runs on ten folds are ten folds: that models differ by fold is no noise of a run."""
    rng = np.random.default_rng(3)
    rows = scored(rng, runs=3)
    compared = lb.compare(rows, **FAST)
    assert compared.terms.design == "folds"
    assert compared["vit", "cnn"].n_trials == (10, 10)
    assert compared["vit", "cnn"].verdict_at(1) == "vit"
    by_fold = np.array(rows["accuracy"]).reshape(2, 10, 3).mean(axis=2)
    alone = {"model": ["cnn"] * 10 + ["vit"] * 10, "fold": [*range(10)] * 2, "accuracy": by_fold.ravel().tolist()}
    same = lb.compare(alone, **FAST)["vit", "cnn"].effect
    assert (same.low, same.high) == pytest.approx(
        (compared["vit", "cnn"].effect.low, compared["vit", "cnn"].effect.high)
    )
    renamed = {"repeat" if key == "seed" else key: column for key, column in rows.items()}  # of a cross-validation
    assert lb.compare(renamed, **FAST)["vit", "cnn"].n_trials == (10, 10)
    unpaired = lb.compare(rows, paired=False, **FAST)
    assert (unpaired.terms.design, unpaired["vit", "cnn"].verdict_at(1)) == ("folds", "undecided")


def test_runs_with_a_fold_effect_of_their_own_are_no_further_evidence():
    """Two models that differ by fold, and not on average: 50 runs of 5 folds were taken for 50 pairs."""
    wrong = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        rows = scored(rng, folds=5, runs=10, gap=0)
        own = rng.normal(0, 0.02, (2, 5))
        rows["accuracy"] = (np.array(rows["accuracy"]).reshape(2, 5, 10) + own[:, :, None]).ravel().tolist()
        wrong += lb.compare(rows, **FAST)["vit", "cnn"].verdict_at(1) != "undecided"
    assert wrong <= 7  # 3 on average at .05; before, 55 of 60


def test_a_fold_that_some_model_lacks_is_said():
    rows = without(scored(np.random.default_rng(1)), lambda row: (row["model"], row["fold"]) != ("cnn", 3))
    compared = lb.compare(rows, **FAST)
    assert not compared.pairs[0].paired
    assert any(caution.code == "shared-splits" and caution.kind == "apart" for caution in compared.cautions)
    with pytest.raises(lb.InputError, match="the same data splits in every family, and those in 'fold' are not"):
        lb.compare(rows, paired=True, **FAST)


def test_a_failed_run_takes_its_pair_along_where_failures_are_dropped():
    rows = scored(np.random.default_rng(1))
    rows["accuracy"][3] = float("nan")
    compared = lb.compare(rows, failed="drop", **FAST)
    assert compared["vit", "cnn"].n_trials == (9, 9)
    assert compared["vit", "cnn"].verdict_at(1) == "vit"
    assert lb.compare(rows, **FAST)["cnn", "vit"].n_failed == (1, 0)


def test_folds_that_get_easier_are_no_search_that_learns():
    rng = np.random.default_rng(4)
    scores = np.concatenate([0.6 + 0.01 * np.arange(20) + rng.normal(0, 0.02, 20) for _ in range(2)])
    rows = {"model": ["a"] * 20 + ["b"] * 20, "fold": [*range(20)] * 2, "accuracy": scores.tolist()}
    assert not {"trend", "adaptive-sampler"} & {caution.code for caution in lb.read_trials(rows).cautions}
    as_seeds = {"seed" if key == "fold" else key: column for key, column in rows.items()}
    assert "adaptive-sampler" in {caution.code for caution in lb.read_trials(as_seeds).cautions}


def test_a_search_whose_configurations_have_folds_is_one_of_configurations():
    rng = np.random.default_rng(5)
    rates = np.repeat(10 ** rng.uniform(-4, -1, 16), 5)
    rows = {"model": ["a"] * 40 + ["b"] * 40, "lr": rates.tolist(), "fold": [*range(5)] * 16}
    rows["val_acc"] = rng.normal(0.8, 0.02, 80).tolist()
    assert lb.compare(rows, **FAST).terms.design == "configurations"


def test_a_budget_that_was_asked_for_is_answered_as_before():
    trials = lb.read_trials(scored(np.random.default_rng(1)))
    assert design_of(trials, Request.of(n=3)).name == "trials"
    assert design_of(trials, Request.of(n=3, paired=True)).name == "pairs"


def test_each_data_set_is_compared_fold_by_fold():
    rng = np.random.default_rng(6)
    parts = [scored(rng) | {"dataset": [name] * 20} for name in ("iris", "wine", "heart")]
    rows = {key: [cell for part in parts for cell in part[key]] for key in parts[0]}
    compared = lb.compare(rows, **FAST)
    assert [one["vit", "cnn"].verdict_at(1) for one in compared.tasks.values()] == ["vit"] * 3
    assert compared.overall.terms.words.single == "a fold"


@pytest.mark.parametrize("noise", ["normal", "lognormal"])
@pytest.mark.parametrize("folds", [5, 10])
def test_equal_models_have_no_winner(folds, noise):
    """Of 1,000 samples in at most .06: the whole way, from the table to the verdict, on 150 of them."""
    rng = np.random.default_rng(20260705)
    drawn = {"normal": lambda size: rng.normal(0, 1, size), "lognormal": lambda size: rng.lognormal(0, 1, size)}[noise]
    wins = 0
    for _ in range(150):
        compared = lb.compare(scored(rng, folds=folds, gap=0, noise=drawn), **FAST)
        assert compared.terms.design == "folds"
        wins += compared["vit", "cnn"].verdict_at(1) != "undecided"
    assert wins <= 15  # binomial with .05: more once in 200


@pytest.mark.parametrize("columns", [("outer_fold", "inner_fold"), ("outer", "inner"), ("fold", "repeat")])
def test_the_folds_of_nested_validation_are_the_outer_ones(columns):
    outer, inner = columns
    table = scored(np.random.default_rng(3), runs=4, column=outer)
    table[inner] = table.pop("seed")
    compared = lb.compare(table)
    assert (compared.terms.design, compared["vit", "cnn"].n_trials) == ("folds", (10, 10))


def test_splits_with_names_that_differ_by_a_number_are_no_tasks():
    table = scored(np.random.default_rng(3), column="split", labels=[f"fold_{place}" for place in range(10)])
    assert lb.compare(table).terms.design == "folds"
