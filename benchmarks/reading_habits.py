"""Tables as people keep them, for ``python benchmarks/reading.py --habits``: the third set.

Written before its author had read the rules that read them. Each function is one habit: words of several languages,
an index that came along, notes, units in headers, one column for each seed, fold, model or data set, samples of
language models, agents, reinforcement learning, sweeps, ablations, benchmarks of solvers. What a question may leave
open is labelled with all the readings that are right. `habit_table` adds columns that mean nothing and shuffles.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from _labelled import Columns, Labelled, Rng, crossed, pick, scored, some
from reading_habits_wide import WIDE

NETS = ["ResNet50", "EfficientNet-B0", "DeiT-S", "MobileNetV3", "DenseNet121", "RegNetY"]
CHAT = ["gpt-4o-mini", "claude-3-haiku", "Llama-3.1-8B-Instruct", "Qwen2.5-7B", "gemma-2-9b-it"]

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
    return labelled


def ablation(rng: Rng) -> Labelled:
    """Variants of one system with seeds and two metrics of translation."""
    family = pick(rng, "variant", "ablation", "setting", "Configuration")
    variants = some(rng, ["full", "w/o attention", "w/o pretraining", "- dropout", "small"], 2, 5)
    columns = crossed(**{family: variants, "seed": some(rng, ["1", "7", "13", "42", "1234"], 3, 5)})
    columns["BLEU"] = scored(rng, columns, (family,), centre=27, spread=1, noise=0.3, digits=2)
    columns["chrF"] = scored(rng, columns, (family,), centre=55, spread=1, noise=0.3, digits=2)
    roles = {"family": family, "selection": ("BLEU", "chrF"), "direction": "max"}
    return Labelled("ablation", columns, roles, set(), len(columns["BLEU"]), 2)


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


def chat_samples(rng: Rng) -> Labelled:
    """Samples of chat models with their text, tokens and a grade."""
    family, group = pick(rng, "model", "model_name", "llm"), pick(rng, "prompt_id", "question", "item", "id")
    score = pick(rng, "correct", "pass", "graded_correct", "exact_match")
    columns = crossed(**{group: range(int(rng.integers(20, 40))), family: some(rng, CHAT, 2, 3), "sample": range(4)})
    rows = len(columns[group])
    chance = np.clip(scored(rng, columns, (family, group), centre=0.5, spread=0.2, noise=0), 0.02, 0.98)
    columns["response"] = [f"The answer is {number}." for number in rng.integers(0, 90, rows)]
    columns["temperature"] = [0.8] * rows
    columns["prompt_tokens"] = [120 + 3 * number for number in columns[group]]
    columns["completion_tokens"] = rng.integers(20, 400, rows).tolist()
    columns[score] = [pick_word if hit else other for hit in rng.random(rows) < chance for pick_word, other in [(1, 0)]]
    if rng.random() < 0.3:
        columns[score] = ["yes" if cell else "no" for cell in columns[score]]
    return Labelled("chat", columns, {"family": family, "group": group, "selection": score}, set(), rows, 2)


def rated_answers(rng: Rng) -> Labelled:
    """Ratings of answers by several people."""
    columns = crossed(
        prompt=[f"p{number:02d}" for number in range(30)], system=some(rng, CHAT, 2, 3), annotator=["A1", "A2", "A3"]
    )
    score = pick(rng, "rating", "helpfulness", "score_1_5", "likert")
    columns[score] = (
        np.clip(np.round(scored(rng, columns, ("system", "prompt"), centre=3.4, spread=0.4, noise=0.8)), 1, 5)
        .astype(int)
        .tolist()
    )
    roles = {"family": "system", "group": "prompt", "selection": score}
    return Labelled("ratings", columns, roles, set(), len(columns[score]), 2, nothing={"annotator"})


def agent_runs(rng: Rng) -> Labelled:
    """Agents on tasks, several attempts each, with money and turns."""
    task, attempt = (
        pick(rng, "task_id", "task", "instance_id", "scenario"),
        pick(rng, "attempt", "trial", "k", "rollout"),
    )
    columns = crossed(
        **{
            "agent": some(rng, ["react", "plan-act", "swe-agent", "baseline"], 2, 3),
            task: [f"task_{number}" for number in range(25)],
            attempt: range(1, 4),
        }
    )
    rows = len(columns["agent"])
    chance = np.clip(scored(rng, columns, ("agent", task), centre=0.45, spread=0.2, noise=0), 0.02, 0.98)
    score = pick(rng, "reward", "solved", "success", "resolved")
    columns[score] = (rng.random(rows) < chance).astype(int).tolist()
    columns["cost_usd"] = rng.gamma(2, 0.1, rows).round(4).tolist()
    columns["n_turns"] = rng.integers(2, 30, rows).tolist()
    columns["termination"] = rng.choice(["agent_stop", "max_turns"], rows).tolist()
    roles = {"family": "agent", "selection": score, "direction": "max"}
    labelled = Labelled("agents", columns, roles | {"group": task}, set(), rows, 2)
    labelled.nothing = {"n_turns", "termination"}
    return labelled


def returns_at_the_end(rng: Rng) -> Labelled:
    """Agents on environments: the final return of each seed."""
    family, task = (
        pick(rng, "agent", "algo", "exp_name", "method"),
        pick(rng, "env", "env_name", "environment", "env_id"),
    )
    envs = some(rng, ["HalfCheetah-v4", "Hopper-v4", "Walker2d-v4", "Ant-v4", "Humanoid-v4"], 2, 5)
    columns = crossed(**{task: envs, family: some(rng, ["PPO", "SAC", "TD3", "REDQ"], 2, 4), "seed": range(5)})
    score = pick(rng, "final_return", "eval/mean_reward", "avg_return", "episodic_return", "mean_return")
    columns[score] = scored(rng, columns, (task, family), centre=4000, spread=900, noise=300, digits=1)
    columns["wallclock_h"] = rng.uniform(2, 9, len(columns[score])).round(2).tolist()
    roles = {"family": family, "task": task, "selection": score, "direction": "max"}
    return Labelled("returns", columns, roles, set(), len(columns[score]), 2)


def returns_over_time(rng: Rng) -> Labelled:
    """One environment: evaluations during training."""
    family, counter = pick(rng, "algo", "agent", "config"), pick(rng, "timesteps", "env_steps", "global_step", "frames")
    columns = crossed(
        **{family: some(rng, ["PPO", "SAC", "TD3"], 2, 3), "seed": range(5), counter: range(10_000, 210_000, 10_000)}
    )
    gain = 2000 * (1 - np.exp(-np.array(columns[counter]) / 60_000))
    score = pick(rng, "eval_return", "episode_reward", "mean_return")
    columns[score] = (
        (np.array(scored(rng, columns, (family, "seed"), centre=300, spread=80, noise=60)) + gain).round(1).tolist()
    )
    runs = 5 * len(set(columns[family]))
    roles = {"family": family, "selection": score, "direction": "max"}
    return Labelled("over-time", columns, roles, set(), runs, 2, ordered=True)


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


def solvers(rng: Rng) -> Labelled:
    """Heuristics on instances: the gap to the best known solution."""
    family, task = pick(rng, "solver", "heuristic", "algorithm"), pick(rng, "instance", "problem", "graph")
    columns = crossed(
        **{
            task: [f"rand{size}-{number}" for size in (50, 100) for number in range(int(rng.integers(4, 8)))],
            family: some(rng, ["LNS", "tabu", "GA", "SA", "ACO"], 2, 4),
            pick(rng, "seed", "run", "rep"): range(1, 6),
        }
    )
    score = pick(rng, "gap_percent", "gap (%)", "optimality_gap")
    columns[score] = np.abs(scored(rng, columns, (task, family), centre=4, spread=0.8, noise=0.3, digits=3)).tolist()
    columns["time_s"] = rng.uniform(10, 60, len(columns[score])).round(2).tolist()
    roles = {"family": family, "selection": score, "direction": "min"}
    labelled = Labelled("solvers", columns, roles, set(), len(columns[score]), 2)
    return labelled


def recommenders(rng: Rng) -> Labelled:
    """Recommenders on data sets, with the best epoch noted."""
    family = pick(rng, "algo", "recommender", "Model")
    columns = crossed(
        **{
            family: some(rng, ["BPR-MF", "LightGCN", "SASRec", "ItemKNN"], 2, 4),
            "dataset": some(rng, ["ml-1m", "gowalla", "yelp2018", "amazon-books"], 2, 4),
            "seed": [2020, 2021, 2022, 2023, 2024],
        }
    )
    columns["Recall@20"] = scored(rng, columns, (family, "dataset"), centre=0.15, spread=0.02, noise=0.003)
    columns["NDCG@20"] = scored(rng, columns, (family, "dataset"), centre=0.12, spread=0.02, noise=0.003)
    columns["best_epoch"] = rng.integers(20, 200, len(columns["seed"])).tolist()
    roles = {"family": family, "task": "dataset", "selection": ("Recall@20", "NDCG@20"), "direction": "max"}
    return Labelled("recommenders", columns, roles, set(), len(columns["seed"]), 2, nothing={"best_epoch"})


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


def hospital_folds(rng: Rng) -> Labelled:
    """Segmentation networks by fold and patient."""
    columns = crossed(
        Network=some(rng, ["nnU-Net", "UNETR", "SwinUNETR", "V-Net"], 2, 3),
        Case=[f"case_{number:03d}" for number in range(int(rng.integers(15, 30)))],
    )
    columns["Fold"] = [int(case[-1]) % 5 for case in columns["Case"]]
    columns["Dice"] = np.clip(
        scored(rng, columns, ("Network", "Case"), centre=0.84, spread=0.04, noise=0.02), 0, 1
    ).tolist()
    columns["HD95 (mm)"] = rng.gamma(3, 2, len(columns["Case"])).round(2).tolist()
    roles = {"family": "Network", "selection": ("Dice", "HD95 (mm)"), "group": "Case"}
    return Labelled("segmentation", columns, roles, set(), len(columns["Case"]), 2)


def speech(rng: Rng) -> Labelled:
    """Recognisers on test sets, by seed: word error rates."""
    columns = crossed(
        **{
            pick(rng, "system", "model", "recipe"): some(
                rng, ["conformer", "whisper-small", "wav2vec2", "zipformer"], 2, 4
            ),
            pick(rng, "test_set", "testset", "subset"): some(rng, ["test-clean", "test-other", "ted", "ami"], 2, 4),
            "seed": range(4),
        }
    )
    family, task, _ = columns
    columns["WER"] = scored(rng, columns, (family, task), centre=8, spread=1.5, noise=0.2, digits=2)
    return Labelled(
        "speech",
        columns,
        {"family": family, "task": task, "selection": "WER", "direction": "min"},
        set(),
        len(columns["WER"]),
        2,
    )


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
    return Labelled("long-metrics", columns, {"family": "model", "selection": "value"}, set(), runs, 2)


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
    foreign_search, foreign_seeds, units_in_headers, sweep_of_losses, ablation, crashed_sweep, chat_samples,
    rated_answers, agent_runs, returns_at_the_end, returns_over_time, epochs_of_runs, solvers, recommenders, generators,
    architecture_search, hospital_folds, speech, regressors, kaggle_log, pretrained_sizes, long_metrics, long_splits,
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
