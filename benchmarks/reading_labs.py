"""Tables as some thirty laboratories write them, for ``python benchmarks/reading.py --labs``.

Written without looking at the rules that read them, from memory of public result files: each function is one habit
(columns, their names, their order, what is repeated), with the parts that may be written otherwise drawn at random.
The order of columns is the laboratory's. What a question may leave open (two scores of equal rank, say) is labelled
with all the readings that are right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

import numpy as np

from reading import Columns, Labelled

Rng = np.random.Generator


def pick(rng: Rng, *names: str) -> str:
    """One of these."""
    return str(rng.choice(list(names)))


def some(rng: Rng, names: Iterable[str], low: int, high: int) -> list[str]:
    """Between ``low`` and ``high`` of these, in any order."""
    names = list(names)
    return [str(name) for name in rng.permutation(names)[: int(rng.integers(low, min(high, len(names)) + 1))]]


def crossed(**factors: Iterable[Any]) -> Columns:
    """One row for each combination, the last factor fastest."""
    rows = list(product(*factors.values()))
    return {name: [row[place] for row in rows] for place, name in enumerate(factors)}


def scored(
    rng: Rng, columns: Columns, by: Iterable[str], *, centre: float, spread: float, noise: float, digits: int = 4
) -> list[float]:
    """A score for each row: an effect for each value of these columns, and noise."""
    count = len(next(iter(columns.values())))
    total = np.full(count, centre)
    for name in by:
        effects = {value: spread * rng.standard_normal() for value in dict.fromkeys(columns[name])}
        total += [effects[value] for value in columns[name]]
    total += noise * rng.standard_normal(count)
    return total.round(digits).tolist()


def beside(rng: Rng, rows: int, used: Columns) -> Columns:
    """Columns that say nothing about the trial: up to four."""
    hexes = lambda size: ["".join(rng.choice(list("0123456789abcdef"), size)) for _ in range(rows)]  # noqa: E731
    made: dict[str, Callable[[], list[Any]]] = {
        "git_sha": lambda: hexes(7)[:1] * rows,
        "hostname": lambda: rng.choice(["node-03", "node-11", "gpu17"], rows).tolist(),
        "ckpt_path": lambda: [f"/ckpts/{text}/last.pt" for text in hexes(6)],
        "finished_at": lambda: [
            f"2024-0{1 + row % 9}-1{row % 10} 0{row % 8}:{10 + row % 50}:07" for row in range(rows)
        ],
        "peak_mem_gb": lambda: rng.uniform(3, 11, rows).round(2).tolist(),
        "wandb_url": lambda: [f"https://wandb.ai/lab/proj/runs/{text}" for text in hexes(8)],
        "slurm_job": lambda: (4_410_000 + np.cumsum(rng.integers(1, 5, rows))).tolist(),
        "torch_version": lambda: ["2.1.0"] * rows,
        "notes": lambda: [""] * rows,
        "num_params": lambda: [11_689_512] * rows,
        "uuid": lambda: hexes(32),
        "user": lambda: rng.choice(["mk", "jl"], rows).tolist(),
        "throughput": lambda: rng.uniform(900, 1100, rows).round(1).tolist(),
    }
    free = [name for name in made if name not in used]
    return {name: made[name]() for name in some(rng, free, 0, 4)}


MODELS = ["resnet18", "vit_small", "convnext", "mixer", "swin_t", "regnet"]
RL = ["PPO", "SAC", "TD3", "DQN", "A2C", "Rainbow"]
TABULAR = ["XGBoost", "CatBoost", "RandomForest", "LogisticRegression", "MLP", "kNN"]
LLMS = ["llama-3-8b", "mistral-7b", "qwen2-7b", "gemma-2-9b", "phi-3-mini"]


def rl_benchmark(rng: Rng) -> Labelled:
    """Agents, environments and seeds."""
    family, task = pick(rng, "algo", "agent", "alg", "algorithm"), pick(rng, "env", "env_name", "env_id", "environment")
    score = pick(rng, "final_return", "mean_reward", "episodic_return", "eval_return")
    columns = crossed(
        **{
            task: some(rng, ["HalfCheetah-v4", "Hopper-v4", "Walker2d-v4", "Ant-v4"], 2, 4),
            family: some(rng, RL, 2, 3),
            "seed": range(int(rng.integers(4, 9))),
        }
    )
    columns[score] = scored(rng, columns, (task, family), centre=3000, spread=800, noise=250, digits=1)
    if rng.random() < 0.5:
        columns["total_steps"] = [1_000_000] * len(columns[score])
    return Labelled("rl", columns, {"family": family, "task": task, "selection": score}, set(), len(columns[score]), 2)


def classifiers_by_fold(rng: Rng) -> Labelled:
    """Classifiers on data sets, by cross-validation."""
    family, task = pick(rng, "classifier", "clf", "estimator", "model"), pick(rng, "dataset", "data", "data_set")
    score = pick(rng, "accuracy", "balanced_accuracy", "roc_auc", "f1_macro")
    columns = crossed(
        **{
            task: some(rng, ["adult", "covertype", "higgs", "jannis", "volkert"], 2, 5),
            family: some(rng, TABULAR, 2, 4),
            "fold": range(int(rng.choice([5, 10]))),
        }
    )
    columns[score] = scored(rng, columns, (task, family), centre=0.8, spread=0.04, noise=0.01)
    columns["fit_time"] = rng.uniform(0.2, 30, len(columns[score])).round(3).tolist()
    return Labelled("folds", columns, {"family": family, "task": task, "selection": score}, set(), len(columns[score]), 2)


def sweep_export(rng: Rng) -> Labelled:
    """An experiment tracker's export of a random sweep."""
    rows = int(rng.integers(30, 60))
    models = some(rng, MODELS, 2, 3)
    names = ["dashing-sweep", "lunar-sweep", "misty-sweep", "bumbling-sweep"]
    family, learning = pick(rng, "model", "arch", "backbone"), pick(rng, "learning_rate", "lr", "optim.lr")
    selection = pick(rng, "val/acc", "val_acc", "best_val_acc", "val.top1")
    reported = pick(rng, "test/acc", "test_acc", "test_top1")
    columns: Columns = {"Name": [f"{names[row % 4]}-{row + 1}" for row in range(rows)]}
    columns["State"] = ["finished"] * rows
    columns["Runtime"] = rng.integers(900, 5000, rows).tolist()
    columns[family] = rng.choice(models, rows).tolist()
    columns[learning] = (10 ** rng.uniform(-5, -2, rows)).tolist()
    columns["dropout"] = rng.uniform(0, 0.5, rows).tolist()
    columns["batch_size"] = rng.choice([32, 64, 128], rows).tolist()
    columns[selection] = scored(rng, columns, (family,), centre=0.75, spread=0.03, noise=0.03)
    columns[reported] = (np.array(columns[selection]) - 0.01 + 0.01 * rng.standard_normal(rows)).round(4).tolist()
    columns["train/loss"] = rng.uniform(0.1, 0.4, rows).round(4).tolist()
    columns["_step"] = [9_999] * rows
    roles = {"family": family, "selection": selection, "reported": reported}
    settings = {learning, "dropout", "batch_size"}
    labelled = Labelled("sweep", columns, roles, settings, rows, 2)
    labelled.nothing = {"train/loss", "Runtime", "_step", "Name"}
    return labelled


def model_samples(rng: Rng) -> Labelled:
    """Language models, questions, several samples of each."""
    family = pick(rng, "model", "model_id", "llm", "engine")
    group = pick(rng, "question_id", "qid", "problem_id", "task_id", "example_id")
    score = pick(rng, "is_correct", "correct", "passed", "success")
    columns = crossed(
        **{
            family: some(rng, LLMS, 2, 3),
            group: [f"{prefix}{number}" for prefix in [pick(rng, "q", "gsm8k-", "HumanEval/")] for number in range(40)],
            pick(rng, "sample_idx", "sample", "completion_id", "attempt"): range(int(rng.integers(3, 7))),
        }
    )
    chance = np.array(scored(rng, columns, (family, group), centre=0.5, spread=0.15, noise=0))
    right = rng.random(chance.size) < chance
    written = int(rng.integers(3))
    columns[score] = [bool(cell) if written == 0 else int(cell) for cell in right]
    columns["latency_s"] = rng.uniform(0.4, 9, chance.size).round(2).tolist()
    return Labelled("samples", columns, {"family": family, "group": group, "selection": score}, set(), chance.size, 2)


def table_of_runs(rng: Rng) -> Labelled:
    """A supplement's table: a method, the number of the run, a percentage."""
    family, score = pick(rng, "Method", "Model", "Approach"), pick(rng, "Top-1 (%)", "Accuracy [%]", "Top-1 Acc", "mIoU")
    columns = crossed(**{family: some(rng, [*MODELS, "Ours"], 2, 5), pick(rng, "Run", "Trial", "Seed", "#"): range(1, 6)})
    columns[score] = scored(rng, columns, (family,), centre=76, spread=2, noise=0.4, digits=2)
    return Labelled("runs", columns, {"family": family, "selection": score}, set(), len(columns[score]), 2)


def forecasting(rng: Rng) -> Labelled:
    """Forecasts: data sets, horizons, two errors of equal rank."""
    columns = crossed(
        model=some(rng, ["PatchTST", "DLinear", "iTransformer", "TimesNet"], 2, 4),
        dataset=some(rng, ["ETTh1", "ETTm2", "Weather", "Traffic"], 2, 4),
        pred_len=[96, 192, 336, 720],
        seed=[2021, 2022, 2023],
    )
    columns["mse"] = scored(rng, columns, ("model", "dataset", "pred_len"), centre=0.4, spread=0.03, noise=0.004)
    columns["mae"] = scored(rng, columns, ("model", "dataset", "pred_len"), centre=0.4, spread=0.03, noise=0.004)
    roles = {"family": "model", "selection": ("mse", "mae"), "task": ("dataset", "dataset,pred_len"), "direction": "min"}
    return Labelled("forecasting", columns, roles, set(), len(columns["mse"]), 2)


def glue(rng: Rng) -> Labelled:
    """Fine-tuned models on tasks of a suite."""
    columns = crossed(
        task_name=some(rng, ["rte", "mrpc", "cola", "sst2", "qnli"], 2, 5),
        model_name_or_path=some(rng, ["bert-base-uncased", "roberta-base", "microsoft/deberta-v3-base"], 2, 3),
        seed=some(rng, ["13", "42", "100", "2023", "7"], 3, 5),
    )
    columns["epoch"] = [3.0] * len(columns["seed"])
    columns["eval_loss"] = scored(rng, columns, (), centre=0.5, spread=0, noise=0.05)
    columns["eval_accuracy"] = scored(rng, columns, ("task_name", "model_name_or_path"), centre=0.8, spread=0.03, noise=0.01)
    columns["train_runtime"] = rng.uniform(100, 900, len(columns["seed"])).round(2).tolist()
    roles = {"family": "model_name_or_path", "task": "task_name", "selection": ("eval_accuracy", "eval_loss")}
    return Labelled("glue", columns, roles, set(), len(columns["seed"]), 2)


def federated(rng: Rng) -> Labelled:
    """Rounds of communication within runs."""
    counter = pick(rng, "round", "comm_round", "rnd")
    columns = crossed(
        **{"algorithm": some(rng, ["FedAvg", "FedProx", "SCAFFOLD"], 2, 3), "seed": range(5), counter: range(1, 41)}
    )
    gain = 0.4 * (1 - np.exp(-np.array(columns[counter]) / 10))
    columns["test_acc"] = (np.array(scored(rng, columns, ("algorithm",), centre=0.4, spread=0.03, noise=0.01)) + gain).round(4).tolist()
    runs = len(set(columns["algorithm"])) * 5
    return Labelled("rounds", columns, {"family": "algorithm", "selection": "test_acc"}, set(), runs, 2, ordered=True)


def random_search(rng: Rng) -> Labelled:
    """A table of a search with short names."""
    rows = int(rng.integers(40, 90))
    family = pick(rng, "arch", "net", "encoder", "model_type")
    columns: Columns = {family: rng.choice(some(rng, MODELS, 2, 3), rows).tolist()}
    columns["lr"] = (10 ** rng.uniform(-4, -1, rows)).round(6).tolist()
    columns["wd"] = (10 ** rng.uniform(-6, -3, rows)).tolist()
    columns["bs"] = rng.choice([64, 128, 256], rows).tolist()
    columns["aug"] = rng.choice(["none", "randaug", "mixup"], rows).tolist()
    selection, reported = pick(rng, "val_top1", "dev_acc", "valid_score"), pick(rng, "test_top1", "test_score")
    columns[selection] = scored(rng, columns, (family, "aug"), centre=70, spread=2, noise=2, digits=2)
    columns[reported] = (np.array(columns[selection]) - 0.7 + 0.5 * rng.standard_normal(rows)).round(2).tolist()
    columns[pick(rng, "wallclock_h", "gpu_h", "train_hours")] = rng.uniform(0.5, 6, rows).round(2).tolist()
    roles = {"family": family, "selection": selection, "reported": reported}
    return Labelled("search", columns, roles, {"lr", "wd", "bs", "aug"}, rows, 2)


def automl_benchmark(rng: Rng) -> Labelled:
    """Frameworks, tasks and folds, as the AutoML benchmark writes them."""
    columns = crossed(
        task=some(rng, ["credit-g", "kc1", "vehicle", "blood"], 2, 4),
        framework=some(rng, ["AutoGluon", "FLAML", "H2OAutoML", "autosklearn"], 2, 4),
        fold=range(10),
    )
    rows = len(columns["fold"])
    made: Columns = {"id": [f"openml.org/t/{3 + len(task)}" for task in columns["task"]], **columns}
    made["constraint"] = ["1h8c"] * rows
    made["result"] = scored(rng, columns, ("task", "framework"), centre=0.8, spread=0.03, noise=0.02, digits=6)
    made["metric"] = ["auc"] * rows
    made["mode"] = ["local"] * rows
    made["duration"] = rng.uniform(3000, 3700, rows).round(1).tolist()
    made["models_count"] = rng.integers(10, 400, rows).tolist()
    made["seed"] = rng.integers(0, 2**31, rows).tolist()
    made["auc"] = list(made["result"])
    roles = {"family": "framework", "task": ("task", "id"), "selection": ("result", "auc"), "direction": "max"}
    labelled = Labelled("automl", made, roles, set(), rows, 2)
    labelled.nothing = {"models_count"}
    return labelled


def prompts(rng: Rng) -> Labelled:
    """Versions of a prompt on the same examples."""
    family, group = pick(rng, "prompt", "prompt_version", "variant"), pick(rng, "example_id", "case_id", "input_id", "test_case")
    columns = crossed(**{family: ["v1", "v2", "v3"][: int(rng.integers(2, 4))], group: [f"case-{row}" for row in range(60)]})
    chance = np.array(scored(rng, columns, (family, group), centre=0.6, spread=0.15, noise=0))
    score = pick(rng, "pass", "passed", "score", "grade")
    written = [["FAIL", "PASS"], ["fail", "pass"], ["False", "True"], ["0", "1"]][int(rng.integers(4))]
    columns[score] = [written[int(cell)] for cell in rng.random(chance.size) < chance]
    return Labelled("prompts", columns, {"family": family, "group": group, "selection": score}, set(), chance.size, 2)


def coding_agents(rng: Rng) -> Labelled:
    """Agents on issues, one or several attempts."""
    group = pick(rng, "instance_id", "issue", "task_id")
    attempts = int(rng.choice([1, 1, 3]))
    columns = crossed(
        agent=some(rng, ["swe-agent", "openhands", "aider"], 2, 3),
        **{group: [f"django__django-{11000 + 7 * row}" for row in range(50)], "attempt": range(1, attempts + 1)},
    )
    if attempts == 1:
        del columns["attempt"]
    chance = np.array(scored(rng, columns, ("agent", group), centre=0.4, spread=0.15, noise=0))
    columns["resolved"] = (rng.random(chance.size) < chance).tolist()
    columns["cost_usd"] = rng.uniform(0.05, 2, chance.size).round(3).tolist()
    columns["n_turns"] = rng.integers(4, 60, chance.size).tolist()
    labelled = Labelled("agents", columns, {"family": "agent", "group": group, "selection": "resolved"}, set(), chance.size, 2)
    labelled.nothing = {"n_turns"}
    return labelled


def graphs(rng: Rng) -> Labelled:
    """Graph networks: random splits, validation and test."""
    columns = crossed(
        dataset=some(rng, ["Cora", "CiteSeer", "PubMed"], 2, 3),
        model=some(rng, ["GCN", "GAT", "GIN", "SAGE"], 2, 4),
        **{pick(rng, "split_id", "split", "rep", "run"): range(10)},
    )
    rows = len(columns["model"])
    columns["val_acc"] = scored(rng, columns, ("dataset", "model"), centre=80, spread=2, noise=1, digits=2)
    columns["test_acc"] = (np.array(columns["val_acc"]) - 1 + rng.standard_normal(rows)).round(2).tolist()
    roles = {"family": "model", "task": "dataset", "selection": "val_acc", "reported": "test_acc"}
    return Labelled("graphs", columns, roles, set(), rows, 2)


def utterances(rng: Rng) -> Labelled:
    """Recognisers, an error for each utterance."""
    group = pick(rng, "utt_id", "utterance", "file", "audio_id")
    columns = crossed(system=some(rng, ["whisper-small", "wav2vec2", "conformer"], 2, 3), **{group: [f"1089-{row:04}" for row in range(80)]})
    columns["wer"] = np.clip(scored(rng, columns, ("system", group), centre=0.15, spread=0.04, noise=0.02), 0, 1).round(4).tolist()
    roles = {"family": "system", "group": group, "selection": "wer", "direction": "min"}
    return Labelled("utterances", columns, roles, set(), len(columns["wer"]), 2)


def translation(rng: Rng) -> Labelled:
    """Systems, language pairs, seeds, two scores."""
    task = pick(rng, "lang_pair", "lang", "language_pair", "direction")
    columns = crossed(**{"system": ["baseline", "back-translation", "ours"][: int(rng.integers(2, 4))], task: some(rng, ["en-de", "en-fr", "de-en", "en-ru"], 2, 4), "seed": [1, 2, 3, 4, 5]})
    columns["bleu"] = scored(rng, columns, ("system", task), centre=28, spread=2, noise=0.3, digits=2)
    columns["chrf"] = scored(rng, columns, ("system", task), centre=55, spread=2, noise=0.3, digits=2)
    roles = {"family": "system", "task": task, "selection": ("bleu", "chrf")}
    return Labelled("translation", columns, roles, set(), len(columns["bleu"]), 2)


def job_array(rng: Rng) -> Labelled:
    """A job array: a job number, a host, an exit status."""
    rows = int(rng.integers(40, 80))
    columns: Columns = {pick(rng, "job_id", "SLURM_ARRAY_TASK_ID", "array_idx"): list(range(rows))}
    columns["host"] = rng.choice(["n1", "n2", "n3"], rows).tolist()
    columns["method"] = rng.choice(["transformer", "lstm", "cnn"][: int(rng.integers(2, 4))], rows).tolist()
    columns["lr"] = (10 ** rng.uniform(-4, -2, rows)).tolist()
    columns["hidden_dim"] = rng.choice([128, 256, 512], rows).tolist()
    columns["dev_bleu"] = scored(rng, columns, ("method",), centre=25, spread=2, noise=1.5, digits=2)
    columns["test_bleu"] = (np.array(columns["dev_bleu"]) - 0.5 + 0.4 * rng.standard_normal(rows)).round(2).tolist()
    columns["elapsed"] = rng.integers(600, 7000, rows).tolist()
    roles = {"family": "method", "selection": "dev_bleu", "reported": "test_bleu"}
    labelled = Labelled("array", columns, roles, {"lr", "hidden_dim"}, rows, 2)
    labelled.nothing = {"host", "elapsed"}
    return labelled


def bandits(rng: Rng) -> Labelled:
    """Policies and repetitions, regret."""
    family, score = pick(rng, "policy", "strategy", "learner"), pick(rng, "regret", "cumulative_regret", "final_regret")
    columns = crossed(**{family: some(rng, ["ucb1", "thompson", "eps-greedy"], 2, 3), pick(rng, "rep", "repetition", "trial", "replicate"): range(30)})
    columns[score] = scored(rng, columns, (family,), centre=200, spread=15, noise=10, digits=2)
    return Labelled("bandits", columns, {"family": family, "selection": score, "direction": "min"}, set(), len(columns[score]), 2)


def histories(rng: Rng) -> Labelled:
    """Histories of training, one below the other."""
    run, counter = pick(rng, "run", "run_id", "seed", "rep"), pick(rng, "epoch", "Epoch", "ep")
    columns = crossed(model=some(rng, MODELS, 2, 3), **{run: range(1, 6), counter: range(1, 26)})
    rise = 0.25 * (1 - np.exp(-np.array(columns[counter]) / 6))
    columns["loss"] = (1.2 - 3 * rise + 0.02 * rng.standard_normal(rise.size)).round(4).tolist()
    columns["accuracy"] = (0.6 + rise + 0.01 * rng.standard_normal(rise.size)).round(4).tolist()
    columns["val_loss"] = (1.3 - 2.5 * rise + 0.03 * rng.standard_normal(rise.size)).round(4).tolist()
    columns["val_accuracy"] = (np.array(scored(rng, columns, ("model",), centre=0.55, spread=0.02, noise=0.01)) + rise).round(4).tolist()
    roles = {"family": "model", "selection": ("val_accuracy", "val_loss")}
    return Labelled("histories", columns, roles, set(), len(set(columns["model"])) * 5, 2, ordered=True)


def active_learning(rng: Rng) -> Labelled:
    """The number of labels rises within a run."""
    counter = pick(rng, "n_labeled", "num_labels", "labeled_size", "query")
    columns = crossed(strategy=some(rng, ["random", "entropy", "bald", "coreset"], 2, 4), seed=range(5), **{counter: range(100, 1100, 100)})
    rise = 0.2 * np.log10(np.array(columns[counter]) / 100)
    columns["accuracy"] = (np.array(scored(rng, columns, ("strategy",), centre=0.6, spread=0.02, noise=0.01)) + rise).round(4).tolist()
    return Labelled("labels", columns, {"family": "strategy", "selection": "accuracy"}, set(), len(set(columns["strategy"])) * 5, 2, ordered=True)


def evolution(rng: Rng) -> Labelled:
    """The best so far of every generation."""
    columns = crossed(optimizer=some(rng, ["cma-es", "de", "pso"], 2, 3), run=range(10), generation=range(50))
    rows = len(columns["run"])
    fitness = np.array(scored(rng, columns, ("optimizer",), centre=0, spread=0.3, noise=1)).reshape(-1, 50)
    columns["best_fitness"] = np.maximum.accumulate(fitness, axis=1).ravel().tolist()
    columns["mean_fitness"] = (fitness - 1).round(4).ravel().tolist()
    del rows
    return Labelled("traces", columns, {"family": "optimizer", "selection": "best_fitness"}, set(), len(set(columns["optimizer"])) * 10, 2, ordered=True)


def seeds_of_configurations(rng: Rng) -> Labelled:
    """Configurations, each with the same few seeds."""
    family = pick(rng, "model", "method", "variant")
    columns: Columns = {family: [], "lr": [], "weight_decay": [], "seed": []}
    for name in some(rng, MODELS, 2, 3):
        for _ in range(8):
            lr, decay = float(10 ** rng.uniform(-4, -2)), float(10 ** rng.uniform(-6, -3))
            for seed in range(3):
                for column, cell in zip(columns.values(), (name, lr, decay, seed), strict=True):
                    column.append(cell)
    columns["val_f1"] = scored(rng, columns, (family, "lr"), centre=0.7, spread=0.03, noise=0.01)
    columns["test_f1"] = scored(rng, columns, (family, "lr"), centre=0.69, spread=0.03, noise=0.01)
    roles = {"family": family, "selection": "val_f1", "reported": "test_f1", "seed": "seed"}
    return Labelled("nested", columns, roles, {"lr", "weight_decay"}, len(columns["lr"]), 2)


def with_failures(rng: Rng) -> Labelled:
    """A search of which some runs crashed."""
    labelled = random_search(rng)
    labelled.kind = "failures"
    rows = labelled.n_trials
    bad = rng.random(rows) < 0.12
    word = pick(rng, "FAILED", "crashed", "OOM", "timeout", "error")
    labelled.columns[pick(rng, "status", "state", "outcome", "exit")] = [word if cell else pick(rng, "ok") for cell in bad]
    for role in ("selection", "reported"):
        column = labelled.columns[labelled.roles[role]]
        labelled.columns[labelled.roles[role]] = ["" if cell else score for cell, score in zip(bad, column, strict=True)]
    labelled.n_failed = int(bad.sum())
    return labelled


def european(rng: Rng) -> Labelled:
    """Semicolons and decimal commas."""
    labelled = pick(rng, "search", "runs") == "search" and random_search(rng) or table_of_runs(rng)
    labelled.kind, labelled.decimal = "european", ","
    return labelled


def quantised(rng: Rng) -> Labelled:
    """Models by precision on benchmarks: one score for each cell, families of two columns."""
    columns = crossed(model=some(rng, LLMS, 2, 3), quant=["fp16", "int8", "int4"], benchmark=["mmlu", "arc_challenge", "hellaswag", "gsm8k"])
    columns["score"] = scored(rng, columns, ("model", "quant", "benchmark"), centre=0.6, spread=0.05, noise=0.01)
    roles = {"family": ("model", "model,quant", "quant"), "task": "benchmark", "selection": "score"}
    return Labelled("quantised", columns, roles, {"quant", "model"}, len(columns["score"]), 2)


def losses(rng: Rng) -> Labelled:
    """Pretraining: optimizers by validation loss, a random search."""
    rows = int(rng.integers(30, 60))
    score = pick(rng, "val_loss", "valid_ppl", "val_perplexity", "eval/loss", "dev_nll")
    columns: Columns = {"exp": [f"exp_{row:03}" for row in range(rows)]}
    columns["model"] = rng.choice(["gpt2-small", "mamba-130m", "rwkv-169m"][: int(rng.integers(2, 4))], rows).tolist()
    columns["lr"] = (10 ** rng.uniform(-4, -2, rows)).tolist()
    columns["warmup"] = rng.choice([100, 500, 2000], rows).tolist()
    columns["tokens"] = [2_000_000_000] * rows
    columns["train_loss"] = rng.uniform(2.8, 3.3, rows).round(4).tolist()
    columns[score] = scored(rng, columns, ("model",), centre=3.2, spread=0.05, noise=0.08)
    labelled = Labelled("losses", columns, {"family": "model", "selection": score, "direction": "min"}, {"lr", "warmup"}, rows, 2)
    labelled.nothing = {"exp", "tokens", "train_loss"}
    return labelled


def judged_pairs(rng: Rng) -> Labelled:
    """A judge's grade from 1 to 10 for each prompt of a chat benchmark."""
    columns = crossed(question_id=range(81, 161), model=some(rng, LLMS, 2, 4), turn=[1, 2])
    columns["judge"] = ["gpt-4"] * len(columns["turn"])
    columns["score"] = np.clip(scored(rng, columns, ("question_id", "model"), centre=7, spread=1, noise=1), 1, 10).round().astype(int).tolist()
    roles = {"family": "model", "selection": "score", "group": "question_id"}
    labelled = Labelled("judge", columns, roles, set(), len(columns["turn"]), 2)
    return labelled


def clinical(rng: Rng) -> Labelled:
    """Segmentation: a Dice score for each patient and fold."""
    columns = crossed(network=some(rng, ["nnUNet", "SwinUNETR", "UNETR"], 2, 3), **{pick(rng, "patient", "case", "subject_id", "PatientID"): [f"BraTS_{row:03}" for row in range(60)]})
    group = list(columns)[1]
    score = pick(rng, "dice", "Dice", "DSC")
    columns[score] = np.clip(scored(rng, columns, ("network", group), centre=0.85, spread=0.04, noise=0.02), 0, 1).round(4).tolist()
    return Labelled("patients", columns, {"family": "network", "group": group, "selection": score}, set(), len(columns[score]), 2)


def searches(rng: Rng) -> Labelled:
    """Tuners run several times, each a search of many evaluations with the best so far."""
    columns = crossed(tuner=some(rng, ["random", "tpe", "smac", "bohb"], 2, 4), repeat=range(8), evaluation=range(1, 31))
    values = np.array(scored(rng, columns, ("tuner",), centre=0.3, spread=0.01, noise=0.05)).reshape(-1, 30)
    columns["incumbent_error"] = np.minimum.accumulate(values, axis=1).ravel().tolist()
    return Labelled("searches", columns, {"family": "tuner", "selection": "incumbent_error", "direction": "min"}, set(), len(set(columns["tuner"])) * 8, 2, ordered=True)


LABS = (rl_benchmark, classifiers_by_fold, sweep_export, model_samples, table_of_runs, forecasting, glue, federated)
LABS += (random_search, automl_benchmark, prompts, coding_agents, graphs, utterances, translation, job_array, bandits)
LABS += (histories, active_learning, evolution, seeds_of_configurations, with_failures, european, quantised, losses)
LABS += (judged_pairs, clinical, searches)


def lab_table(seed: int) -> Labelled:
    """The table of this number."""
    rng = np.random.default_rng([2029, seed])
    labelled = LABS[seed % len(LABS)](rng)
    rows = len(next(iter(labelled.columns.values())))
    extra = beside(rng, rows, labelled.columns)
    labelled.nothing |= set(extra)
    before = rng.random() < 0.3
    columns = extra | labelled.columns if before else labelled.columns | extra
    order = rng.permutation(rows) if not labelled.ordered and rng.random() < 0.3 else np.arange(rows)
    if rng.random() < 0.15:
        columns = {"": list(range(rows))} | columns
    labelled.columns = {name: [cells[row] for row in order] for name, cells in columns.items()}
    return labelled
