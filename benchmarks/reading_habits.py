"""Tables as people keep them, for ``python benchmarks/reading.py --habits``: the third set.

Written before its author had read the rules that read them: in the first run 47.0 % of 200 were answered, and 9.5 % of
them wrongly. Each function is one habit: words of several languages,
an index that came along, notes, units in headers, one column for each seed, fold, model or data set, samples of
language models, agents, reinforcement learning, sweeps, ablations, benchmarks of solvers. What a question may leave
open is labelled with all the readings that are right. `habit_table` adds columns that mean nothing and shuffles.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from _labelled import Columns, Labelled, Rng, crossed, pick, scored, some
from reading_habits_suites import ANSWERS, BENCHMARKS, PATIENTS
from reading_habits_wide import WIDE

NETS = ["ResNet50", "EfficientNet-B0", "DeiT-S", "MobileNetV3", "DenseNet121", "RegNetY"]

WORDS = {  # model, learning rate, layers, validation accuracy, test accuracy, seed, run time
    "de": ("Modell", "Lernrate", "Schichten", "Genauigkeit (Val)", "Genauigkeit (Test)", "Startwert", "Laufzeit [s]"),
    "fr": ("modèle", "taux_apprentissage", "couches", "exactitude_val", "exactitude_test", "graine", "durée_s"),
    "es": ("modelo", "tasa_aprendizaje", "capas", "exactitud_val", "exactitud_test", "semilla", "tiempo (s)"),
    "it": ("modello", "learning rate", "strati", "accuratezza val", "accuratezza test", "seme", "tempo (s)"),
    "pt": ("modelo", "taxa_de_aprendizado", "camadas", "acuracia_val", "acuracia_teste", "semente", "tempo_s"),
    "nl": ("model", "leersnelheid", "lagen", "nauwkeurigheid_val", "nauwkeurigheid_test", "seed", "looptijd_s"),
    "zh": ("模型", "学习率", "层数", "验证准确率", "测试准确率", "随机种子", "训练时间(s)"),
    "pl": ("model", "wsp_uczenia", "warstwy", "dokładność_val", "dokładność_test", "ziarno", "czas_s"),
}


def _rate(rng: Rng, rows: int, low: float = -5, high: float = -2) -> list[float]:
    return [float(f"{rate:.3g}") for rate in 10 ** rng.uniform(low, high, rows)]


def _near(rng: Rng, scores: list[float], shift: float, noise: float, digits: int = 4) -> list[float]:
    return (np.array(scores) + shift + noise * rng.standard_normal(len(scores))).round(digits).tolist()


def foreign_search(rng: Rng) -> Labelled:
    """A random search, headers in the author's language; half of them with commas for points."""
    words = WORDS[pick(rng, *WORDS)]
    rows = int(rng.integers(24, 60))
    columns: Columns = {words[0]: rng.choice(some(rng, NETS, 2, 3), rows).tolist()}
    columns[words[1]] = _rate(rng, rows)
    columns[words[2]] = rng.choice([2, 3, 4, 6], rows).tolist()
    columns[words[3]] = scored(rng, columns, (words[0],), centre=0.8, spread=0.03, noise=0.03)
    columns[words[4]] = _near(rng, columns[words[3]], -0.01, 0.01)
    if rng.random() < 0.5:
        columns[words[6]] = rng.uniform(90, 900, rows).round(1).tolist()
    roles = {"family": words[0], "selection": words[3], "reported": words[4], "direction": "max"}
    labelled = Labelled("foreign", columns, roles, {words[1], words[2]}, rows, 2)
    labelled.decimal = "," if rng.random() < 0.5 else "."
    return labelled


def foreign_seeds(rng: Rng) -> Labelled:
    """Seeds of a few models, headers in the author's language."""
    words = WORDS[pick(rng, *WORDS)]
    columns = crossed(**{words[0]: some(rng, NETS, 2, 4), words[5]: range(int(rng.integers(3, 9)))})
    columns[words[4]] = scored(rng, columns, (words[0],), centre=0.85, spread=0.02, noise=0.006)
    roles = {"family": words[0], "selection": words[4], "direction": "max"}
    return Labelled("foreign-seeds", columns, roles, set(), len(columns[words[4]]), 2)


def units_in_headers(rng: Rng) -> Labelled:
    """Headers for a reader of paper: units in brackets, spaces, abbreviations."""
    rows = int(rng.integers(20, 50))
    family = pick(rng, "Network", "Backbone", "Model name", "Architecture")
    selection, reported = pick(rng, "Val. Acc. [%]", "Validation accuracy (%)", "Acc. val (%)"), "Test Acc. [%]"
    columns: Columns = {family: rng.choice(some(rng, NETS, 2, 3), rows).tolist()}
    columns["LR"] = _rate(rng, rows)
    columns["Batch size"] = rng.choice([32, 64, 128, 256], rows).tolist()
    columns["Weight decay (1e-4)"] = rng.uniform(0.1, 10, rows).round(2).tolist()
    columns[selection] = scored(rng, columns, (family,), centre=74, spread=2, noise=2, digits=2)
    columns[reported] = _near(rng, columns[selection], -0.8, 0.5, 2)
    columns[pick(rng, "Training time (h)", "GPU time [h]", "Time (min)")] = rng.uniform(1, 9, rows).round(2).tolist()
    columns[pick(rng, "Comments", "Remarks", "Note")] = [
        ("diverged at first, restarted" if row == 3 else "") for row in range(rows)
    ]
    roles = {"family": family, "selection": selection, "reported": reported, "direction": "max"}
    return Labelled("units", columns, roles, {"LR", "Batch size", "Weight decay (1e-4)"}, rows, 2)


def sweep_of_losses(rng: Rng) -> Labelled:
    """A sweep of optimisers judged by losses, the training loss beside them."""
    rows = int(rng.integers(30, 80))
    family = pick(rng, "optimizer", "optim", "opt")
    selection, reported = ("final_val_loss", "final_test_loss") if rng.random() < 0.5 else ("val_nll", "test_nll")
    columns: Columns = {"run_id": [f"{number:04d}" for number in range(rows)]}
    columns[family] = rng.choice(["sgd", "adamw", "lion", "shampoo"][: int(rng.integers(2, 5))], rows).tolist()
    columns["lr"] = _rate(rng, rows)
    columns["warmup_frac"] = rng.choice([0, 0.02, 0.1], rows).tolist()
    columns["train_loss"] = rng.uniform(1.8, 2.2, rows).round(4).tolist()
    columns[selection] = scored(rng, columns, (family,), centre=2.3, spread=0.05, noise=0.1)
    columns[reported] = _near(rng, columns[selection], 0.02, 0.01)
    columns["epochs"] = [30] * rows
    roles = {"family": family, "selection": selection, "reported": reported, "direction": "min"}
    labelled = Labelled("losses", columns, roles, {"lr", "warmup_frac"}, rows, 2)
    labelled.nothing = {"run_id", "train_loss"}
    labelled.then = {"family": family}  # or a setting among others
    return labelled


def ablation(rng: Rng) -> Labelled:
    """Variants of one system with seeds and two metrics of translation."""
    family = pick(rng, "variant", "ablation", "setting", "Configuration")
    variants = some(rng, ["full", "w/o attention", "w/o pretraining", "- dropout", "small"], 2, 5)
    columns = crossed(**{family: variants, "seed": some(rng, ["1", "7", "13", "42", "1234"], 3, 5)})
    columns["BLEU"] = scored(rng, columns, (family,), centre=27, spread=1, noise=0.3, digits=2)
    columns["chrF"] = scored(rng, columns, (family,), centre=55, spread=1, noise=0.3, digits=2)
    roles = {"family": family, "selection": ("BLEU", "chrF"), "direction": "max"}
    return Labelled("ablation", columns, roles, set(), len(columns["BLEU"]), 2, then={"selection": "BLEU"})


def crashed_sweep(rng: Rng) -> Labelled:
    """A sweep in which some runs ran out of memory."""
    rows = int(rng.integers(30, 60))
    columns: Columns = {"backbone": rng.choice(some(rng, NETS, 2, 3), rows).tolist()}
    columns["lr"], columns["dropout"] = _rate(rng, rows), rng.uniform(0, 0.6, rows).round(3).tolist()
    failed = rng.random(rows) < 0.12
    word = pick(rng, "OOM", "CUDA error", "nan loss", "FAILED", "crashed")
    columns[pick(rng, "status", "state", "outcome", "exit")] = [word if bad else "ok" for bad in failed]
    scores = scored(rng, columns, ("backbone",), centre=0.7, spread=0.03, noise=0.04)
    filler = pick(rng, "", "nan", "0.0")
    columns["val_mIoU"] = [filler if bad else score for bad, score in zip(failed, scores, strict=True)]
    roles = {"family": "backbone", "selection": "val_mIoU", "direction": "max"}
    return Labelled("crashed", columns, roles, {"lr", "dropout"}, rows, 2, n_failed=int(failed.sum()))


def epochs_of_runs(rng: Rng) -> Labelled:
    """A log of all epochs of all runs of a sweep."""
    models, runs, epochs = some(rng, NETS, 2, 3), int(rng.integers(12, 24)), int(rng.integers(6, 15))
    family = pick(rng, "model", "net", "backbone")
    of_run, rate = [models[run % len(models)] for run in range(runs)], _rate(rng, runs)
    name = pick(rng, "run", "run_name", "experiment", "exp_id")
    cells = [(run, epoch) for run in range(runs) for epoch in range(1, epochs + 1)]
    columns: Columns = {name: [f"exp{run:02d}" for run, _ in cells], family: [of_run[run] for run, _ in cells]}
    columns["lr"], columns["epoch"] = [rate[run] for run, _ in cells], [epoch for _, epoch in cells]
    columns["loss"] = [round(2 * np.exp(-epoch / 5) + 0.1 * rng.random(), 4) for _, epoch in cells]
    gain = 0.3 * (1 - np.exp(-np.array(columns["epoch"]) / 4))
    columns["val_acc"] = (
        (np.array(scored(rng, columns, (family, name), centre=0.5, spread=0.03, noise=0.01)) + gain).round(4).tolist()
    )
    roles = {"family": family, "selection": "val_acc", "direction": "max"}
    return Labelled("epochs", columns, roles, {"lr"}, runs, 2, ordered=True, nothing={"loss"})


def generators(rng: Rng) -> Labelled:
    """Generative models by FID, a few seeds each."""
    family, score = pick(rng, "gan", "generator", "method", "model"), pick(rng, "FID", "fid_50k", "FID↓")
    columns = crossed(
        **{family: some(rng, ["StyleGAN2", "DDPM", "EDM", "BigGAN"], 2, 4), "seed": range(int(rng.integers(3, 8)))}
    )
    columns[score] = scored(rng, columns, (family,), centre=8, spread=2, noise=0.3, digits=3)
    columns["img_per_sec"] = rng.uniform(100, 300, len(columns[score])).round(1).tolist()
    return Labelled(
        "fid", columns, {"family": family, "selection": score, "direction": "min"}, set(), len(columns[score]), 2
    )


def architecture_search(rng: Rng) -> Labelled:
    """Random architectures of two spaces, with sizes and a hash."""
    rows = int(rng.integers(40, 100))
    columns: Columns = {"arch_hash": ["".join(rng.choice(list("0123456789abcdef"), 16)) for _ in range(rows)]}
    family = pick(rng, "search_space", "space")
    columns[family] = rng.choice(["nasbench101", "darts", "nasbench201"][: int(rng.integers(2, 4))], rows).tolist()
    columns["params_M"], columns["flops_M"] = (
        rng.uniform(0.5, 5, rows).round(3).tolist(),
        rng.uniform(50, 600, rows).round(1).tolist(),
    )
    columns["validation_accuracy"] = scored(rng, columns, (family,), centre=0.91, spread=0.01, noise=0.01)
    columns["test_accuracy"] = _near(rng, columns["validation_accuracy"], -0.005, 0.004)
    columns["training_time"] = rng.uniform(600, 2000, rows).round(1).tolist()
    roles = {"family": family, "selection": "validation_accuracy", "reported": "test_accuracy", "direction": "max"}
    return Labelled("nas", columns, roles, set(), rows, 2, nothing={"arch_hash"})


def regressors(rng: Rng) -> Labelled:
    """A search over regressors: errors of validation and test, R² beside them."""
    rows = int(rng.integers(30, 70))
    family = pick(rng, "regressor", "estimator", "model_type", "learner")
    columns: Columns = {family: rng.choice(["ridge", "gbdt", "svr", "mlp"][: int(rng.integers(2, 5))], rows).tolist()}
    columns["alpha"], columns["n_features"] = _rate(rng, rows, -3, 1), rng.choice([10, 20, 40], rows).tolist()
    selection, reported = (
        pick(rng, "rmse_val", "val_rmse", "RMSE (validation)"),
        pick(rng, "rmse_test", "test_rmse", "RMSE (test)"),
    )
    columns[selection] = scored(rng, columns, (family,), centre=3.1, spread=0.2, noise=0.3)
    columns[reported] = _near(rng, columns[selection], 0.05, 0.05)
    columns["fit_seconds"] = rng.gamma(2, 3, rows).round(2).tolist()
    roles = {"family": family, "selection": selection, "reported": reported, "direction": "min"}
    return Labelled("regressors", columns, roles, {"alpha", "n_features"}, rows, 2)


def kaggle_log(rng: Rng) -> Labelled:
    """A notebook's log of experiments: cross-validation and leaderboard."""
    rows = int(rng.integers(20, 45))
    columns: Columns = {"exp": [f"exp{number + 1:03d}" for number in range(rows)]}
    columns["date"] = [f"2024-03-{1 + number // 3:02d}" for number in range(rows)]
    columns["model"] = rng.choice(["lgbm", "xgb", "catboost"][: int(rng.integers(2, 4))], rows).tolist()
    columns["max_depth"], columns["eta"] = rng.integers(3, 12, rows).tolist(), _rate(rng, rows, -2.5, -0.5)
    columns["cv_auc"] = scored(rng, columns, ("model",), centre=0.79, spread=0.01, noise=0.01)
    columns["public_lb"] = _near(rng, columns["cv_auc"], -0.005, 0.004)
    columns["memo"] = ["new features" if number % 7 == 0 else "" for number in range(rows)]
    roles = {"family": "model", "selection": "cv_auc", "reported": ("public_lb", None), "direction": "max"}
    return Labelled(
        "kaggle", columns, roles, {"max_depth", "eta"}, rows, 2, ordered=True, nothing={"exp", "date", "memo"}
    )


def pretrained_sizes(rng: Rng) -> Labelled:
    """Language models of two recipes, random settings, perplexities."""
    rows = int(rng.integers(24, 48))
    columns: Columns = {"recipe": rng.choice(["mamba", "transformer"], rows).tolist()}
    columns["d_model"], columns["peak_lr"] = rng.choice([256, 512, 768], rows).tolist(), _rate(rng, rows, -4, -2.5)
    columns["tokens_B"] = [10] * rows
    columns["val_ppl"] = scored(rng, columns, ("recipe",), centre=18, spread=0.5, noise=0.7, digits=3)
    columns["gpu_hours"] = rng.uniform(20, 60, rows).round(1).tolist()
    roles = {"family": "recipe", "selection": "val_ppl", "direction": "min", "cost": "gpu_hours"}
    return Labelled("perplexity", columns, roles, {"d_model", "peak_lr"}, rows, 2)


def long_metrics(rng: Rng) -> Labelled:
    """One row for each metric: only a question can be right, or one metric of each run."""
    columns = crossed(model=some(rng, NETS, 2, 3), seed=range(5), metric=["accuracy", "f1", "auroc"])
    columns["value"] = scored(rng, columns, ("model", "metric"), centre=0.8, spread=0.05, noise=0.01)
    runs = 5 * len(set(columns["model"]))
    return Labelled(
        "long-metrics", columns, {"family": "model", "selection": "f1"}, set(), runs, 2, then={"selection": "f1"}
    )


def long_splits(rng: Rng) -> Labelled:
    """One row for each split of each run."""
    rows = int(rng.integers(20, 40))
    models, rate = rng.choice(some(rng, NETS, 2, 3), rows).tolist(), _rate(rng, rows)
    cells = [(row, split) for row in range(rows) for split in ("valid", "test")]
    columns: Columns = {"run": [row for row, _ in cells], "model": [models[row] for row, _ in cells]}
    columns["lr"], columns["split"] = [rate[row] for row, _ in cells], [split for _, split in cells]
    columns["accuracy"] = scored(rng, columns, ("run",), centre=0.8, spread=0.04, noise=0.01)
    return Labelled("long-splits", columns, {"family": "model"}, {"lr"}, rows, 2)


HABITS: tuple[Callable[[Rng], Labelled], ...] = (
    foreign_search, foreign_seeds, units_in_headers, sweep_of_losses, ablation, crashed_sweep, *ANSWERS, epochs_of_runs,
    *BENCHMARKS, generators, architecture_search, *PATIENTS, regressors, kaggle_log, pretrained_sizes, long_metrics,
    long_splits,
    *WIDE,
)  # fmt: skip


def _clutter(rng: Rng, rows: int, used: Columns) -> Columns:
    made: dict[str, Callable[[], list[object]]] = {
        "index": lambda: list(range(rows)),
        "": lambda: list(range(rows)),
        "ID": lambda: [1000 + number for number in range(rows)],
        "timestamp": lambda: [
            f"2025-02-{1 + number % 28:02d}T1{number % 10}:{10 + number % 50}:00Z" for number in range(rows)
        ],
        "gpu": lambda: rng.choice(["A100", "V100"], rows).tolist(),
        "branch": lambda: ["main"] * rows,
        "log": lambda: [f"runs/2025/{number:04d}/stdout.txt" for number in range(rows)],
        "owner": lambda: rng.choice(["ana", "tim", "wei"], rows).tolist(),
        "energy_kwh": lambda: rng.uniform(0.2, 2, rows).round(3).tolist(),
        "max_mem_mb": lambda: rng.integers(4000, 16000, rows).tolist(),
        "done": lambda: [True] * rows,
        "checksum": lambda: ["".join(rng.choice(list("0123456789abcdef"), 40)) for _ in range(rows)],
        "comment": lambda: ["rerun" if number % 9 == 0 else "" for number in range(rows)],
        "framework": lambda: ["pytorch 2.3"] * rows,
    }
    free = [name for name in made if name not in used and name.lower() not in {key.lower() for key in used}]
    chosen = some(rng, free, 0, 3)
    return {
        name: made[name]()
        for name in chosen
        if not (name in ("index", "", "ID") and {"index", "", "ID"} & set(chosen[: chosen.index(name)]))
    }


def habit_table(seed: int) -> Labelled:
    """The table of this number: a habit, what else people keep, columns in any order in half of them."""
    rng = np.random.default_rng([33, seed])
    labelled = HABITS[seed % len(HABITS)](rng)
    rows = len(next(iter(labelled.columns.values())))
    clutter = _clutter(rng, rows, labelled.columns)
    labelled.nothing |= set(clutter)
    columns = labelled.columns | clutter
    numbered = labelled.ordered or {"", "index", "ID"} & set(clutter)
    order = np.arange(rows) if numbered or rng.random() < 0.5 else rng.permutation(rows)
    names = list(columns) if rng.random() < 0.5 else [str(name) for name in rng.permutation(list(columns))]
    labelled.columns = {name: [columns[name][row] for row in order] for name in names}
    return labelled
