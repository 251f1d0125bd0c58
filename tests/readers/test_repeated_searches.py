"""Searches that were run again: every format that records a study per search gives the unit of a comparison."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import levelbest as lb
from levelbest.readers.formats._searches import search_family

ARTEFACTS = Path(__file__).parent / "artefacts"


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("tpe-seed0", "tpe"), ("tpe_seed=12", "tpe"), ("seed3/tpe", "tpe"), ("cnn-tpe-run2", "cnn-tpe"),
        ("train_2026-01-31_12-00-59", "train"), ("bo-2026-01-31-12-00-59-123", "bo"), ("tpe rep 4", "tpe"),
        ("resnet-50", "resnet-50"), ("gpt-2", "gpt-2"), ("model-v1", "model-v1"), ("seed7", "seed7"),
        ("seedling-3", "seedling-3"), ("research2", "research2"),
    ],
)  # fmt: skip
def test_a_repetition_is_told_by_its_name(name, family):
    assert search_family(name) == family


def optuna_storage(folder, names, kind):
    """Studies that Optuna itself runs and stores."""
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    if kind == "sqlite":
        path = folder / "studies.db"
        storage = f"sqlite:///{path}"
    else:
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend

        path = folder / "studies.log"
        storage = JournalStorage(JournalFileBackend(str(path)))
    for place, name in enumerate(names):
        sampler = optuna.samplers.TPESampler(seed=place)
        study = optuna.create_study(storage=storage, study_name=name, direction="maximize", sampler=sampler)
        lift = 2.0 if (name or "").startswith("wide") else 0.0
        study.optimize(lambda trial, lift=lift: lift - trial.suggest_float("x", -1, 1) ** 2, n_trials=6)
    return path


@pytest.mark.parametrize("kind", ["sqlite", "journal"])
def test_studies_of_optuna_are_searches(tmp_path, kind):
    names = [f"{family}-seed{seed}" for family in ("wide", "narrow") for seed in range(3)]
    path = optuna_storage(tmp_path, names, kind)
    trials = lb.read_trials(path)
    assert set(trials.families) == {"wide", "narrow"}
    assert set(trials.searches) == set(names)
    verdict = lb.compare(trials)
    assert verdict.terms.design == "searches"
    assert verdict.pairs[0].n_searches == (3, 3)
    assert verdict.pair("wide", "narrow").verdict_at(6) == "wide"
    notes = [str(caution) for caution in trials.cautions if caution.kind == "searches"]
    assert "6 studies whose names differ only in a seed, a run number or a time" in notes[0]
    apart = lb.read_trials(path, family="study")
    assert (set(apart.families), apart.search) == (set(names), None)
    pooled = lb.read_trials(path, search="none")
    assert (set(pooled.families), pooled.search) == ({"wide", "narrow"}, None)


def test_studies_of_other_names_stay_families(tmp_path):
    trials = lb.read_trials(optuna_storage(tmp_path, ["resnet-18", "resnet-50"], "sqlite"))
    assert (set(trials.families), trials.search) == ({"resnet-18", "resnet-50"}, None)


def test_experiments_of_ray_tune_are_searches(tmp_path):
    for moment in ("2026-01-31_12-00-59", "2026-01-31_13-10-09", "2026-02-01_09-30-00"):
        shutil.copytree(ARTEFACTS / "ray_tune" / "cnn", tmp_path / "results" / f"train_{moment}")
    trials = lb.read_trials(tmp_path / "results")
    assert trials.families == ("train",)
    assert len(trials.searches) == 3
    assert trials.search is not None
    assert np.bincount(trials.search).tolist() == [4, 4, 4]
    assert lb.curve(trials).estimator == "best so far"


def test_sweeps_of_wandb_are_searches(tmp_path):
    rng = np.random.default_rng(0)
    head = "Name,State,Sweep,Created,Runtime,lr,val_acc"
    rows = [
        f"run-{i},finished,sweep{i // 5},2026-01-01T00:{i:02d}:00.000Z,{60 + i},{rng.random():.4f},{rng.random():.4f}"
        for i in range(15)
    ]
    path = tmp_path / "wandb_export.csv"
    path.write_text("\n".join([head, *rows]) + "\n")
    trials = lb.read_trials(path)
    assert trials.searches == ("sweep0", "sweep1", "sweep2")
    one = tmp_path / "one.csv"
    one.write_text("\n".join([head, *rows[:5]]) + "\n")
    assert lb.read_trials(one).search is None


def test_parent_runs_of_mlflow_are_searches(tmp_path):
    mlruns = tmp_path / "mlruns" / "1"
    mlruns.mkdir(parents=True)
    (mlruns / "meta.yaml").write_text("artifact_location: x\nexperiment_id: '1'\nlifecycle_stage: active\nname: cnn\n")

    def run(name, start, tags, metric=None):
        folder = mlruns / name
        for part in ("metrics", "params", "tags"):
            (folder / part).mkdir(parents=True)
        (folder / "meta.yaml").write_text(
            f"run_id: {name}\nrun_uuid: {name}\nrun_name: {tags['mlflow.runName']}\nexperiment_id: '1'\n"
            f"lifecycle_stage: active\nstatus: 3\nstart_time: {start}\nend_time: {start + 5}\n"
        )
        for key, value in tags.items():
            (folder / "tags" / key).write_text(value)
        if metric is not None:
            (folder / "metrics" / "val_acc").write_text(f"{start} {metric} 0\n")

    for search in range(3):
        run(f"p{search}", 100 * search, {"mlflow.runName": f"tpe-seed{search}"})
        for trial in range(4):
            tags = {"mlflow.runName": f"t{trial}", "mlflow.parentRunId": f"p{search}"}
            run(f"r{search}{trial}", 100 * search + trial + 1, tags, 0.5 + 0.1 * trial)
    trials = lb.read_trials(tmp_path / "mlruns", selection="metrics.val_acc", direction="max")
    assert trials.searches == ("tpe-seed0", "tpe-seed1", "tpe-seed2")
    assert lb.curve(trials).value[-1] == pytest.approx(0.8)


def test_histories_of_smac_are_searches_by_the_names_of_their_folders(tmp_path):
    history = ARTEFACTS / "smac"
    found = sorted(history.rglob("runhistory.json"))
    assert found
    for seed in range(2):
        home = tmp_path / f"bo-seed{seed}"
        home.mkdir()
        shutil.copy(found[0], home / "runhistory.json")
        (home / "scenario.json").write_text(json.dumps({"name": f"bo-seed{seed}"}))
    trials = lb.read_trials(tmp_path)
    assert (trials.families, trials.searches) == (("bo",), ("bo-seed0", "bo-seed1"))


def hydra_sweep(folder, *, sweeper="hydra_plugins.hydra_optuna_sweeper.OptunaSweeper", fixed="cnn"):
    """A sweep as Hydra writes it, with what the program wrote into every job's folder."""
    for place in range(4):
        inner = folder / str(place) / ".hydra"
        inner.mkdir(parents=True)
        (inner / "config.yaml").write_text(f"lr: 0.{place + 1}\nmodel: {fixed}\nseed: {folder.name[:2]}\n")
        (inner / "hydra.yaml").write_text(
            f"hydra:\n  sweeper:\n    sampler:\n      _target_: optuna.samplers.TPESampler\n    _target_: {sweeper}\n"
            "  job:\n    name: train\n"
        )
        (folder / str(place) / "metrics.json").write_text(json.dumps({"val_acc": 0.5 + place / 10}))


@pytest.mark.parametrize("given", ["tree", "arguments"])
def test_sweeps_of_hydra_by_a_sampler_are_searches(tmp_path, given):
    moments = [tmp_path / "multirun" / "2026-01-31" / moment for moment in ("12-00-59", "13-10-09", "14-30-00")]
    for moment in moments:
        hydra_sweep(moment)
    trials = lb.read_trials(tmp_path / "multirun" if given == "tree" else moments)
    assert trials.families == ("train",)
    assert trials.search is not None
    assert np.bincount(trials.search).tolist() == [4, 4, 4]
    assert lb.curve(trials).estimator == "best so far"
    assert any("3 studies" in str(caution) for caution in trials.cautions if caution.kind == "searches")
    pooled = lb.read_trials(tmp_path / "multirun" if given == "tree" else moments, search="none")
    assert (pooled.families, pooled.search) == (("train",), None)


@pytest.mark.parametrize("given", ["tree", "arguments"])
def test_sweeps_of_hydra_of_two_models_are_two_families(tmp_path, given):
    moments = [tmp_path / "multirun" / "2026-01-31" / moment for moment in ("12-00-59", "13-10-09")]
    for moment, model in zip(moments, ("cnn", "vit"), strict=True):
        hydra_sweep(moment, fixed=model)
    trials = lb.read_trials(tmp_path / "multirun" if given == "tree" else moments)
    assert (len(trials.families), trials.search) == (2, None)


def test_sweeps_of_hydra_over_lists_are_no_searches(tmp_path):
    for moment in ("12-00-59", "13-10-09"):
        hydra_sweep(tmp_path / "multirun" / "2026-01-31" / moment, sweeper="hydra._internal.core_plugins.BasicSweeper")
    for path in (tmp_path / "multirun").rglob("hydra.yaml"):
        path.write_text(path.read_text().replace("    sampler:\n      _target_: optuna.samplers.TPESampler\n", ""))
    for given in (tmp_path / "multirun", sorted(tmp_path.glob("multirun/*/*"))):
        trials = lb.read_trials(given)
        assert (trials.families, trials.search) == (("12-00-59", "13-10-09"), None)


@pytest.mark.parametrize("kind", ["sqlite", "journal"])
@pytest.mark.parametrize(
    ("files", "studies", "families"),
    [
        (["a", "b", "c"], ["tpe-seed0", "tpe-seed1", "wide-seed0"], ["tpe", "tpe", "wide"]),
        (["tpe-seed0", "tpe-seed1", "wide-seed0"], ["cnn"] * 3, ["tpe", "tpe", "wide"]),
        (["seed0", "seed1", "seed2"], ["cnn"] * 3, ["cnn"] * 3),
        (["tpe-run1", "tpe-run2", "tpe-run3"], [None] * 3, ["tpe"] * 3),
        (["tpe-seed0", "tpe-seed1", "tpe-seed2"], ["cnn", "vit", "mlp"], None),  # studies of other names are families
        (["tpe", "random", "cma"], ["cnn"] * 3, None),  # arguments are families
    ],
)
def test_files_of_optuna_that_hold_a_search_each(tmp_path, kind, files, studies, families):
    paths = []
    for file, study in zip(files, studies, strict=True):
        home = tmp_path / file
        home.mkdir()
        made = optuna_storage(home, [study], kind)
        paths.append(made.rename(tmp_path / f"{file}{made.suffix}"))
    trials = lb.read_trials(paths)
    if families is None:
        assert (len(trials.families), trials.search) == (3, None)
        return
    assert trials.search is not None
    assert [trials.families[code] for code in trials.family[::6]] == families
    assert len(trials.searches) == 3
    assert any("3 studies" in str(caution) for caution in trials.cautions if caution.kind == "searches")
    apart = lb.read_trials(paths, search="none")
    assert (set(apart.families), apart.search) == (set(families), None)
