"""Tables of tasks and problems as laboratories write them: agents on games, models on questions, patients."""

from __future__ import annotations

import numpy as np

from _labelled import Columns, Labelled, Rng, crossed, pick, scored, some

RL = ["PPO", "SAC", "TD3", "DQN", "A2C", "Rainbow"]
TABULAR = ["XGBoost", "CatBoost", "RandomForest", "LogisticRegression", "MLP", "kNN"]
LLMS = ["llama-3-8b", "mistral-7b", "qwen2-7b", "gemma-2-9b", "phi-3-mini"]


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
    roles = {
        "family": "model",
        "selection": ("mse", "mae"),
        "task": ("dataset", "dataset,pred_len"),
        "direction": "min",
    }
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
    columns["eval_accuracy"] = scored(
        rng, columns, ("task_name", "model_name_or_path"), centre=0.8, spread=0.03, noise=0.01
    )
    columns["train_runtime"] = rng.uniform(100, 900, len(columns["seed"])).round(2).tolist()
    roles = {"family": "model_name_or_path", "task": "task_name", "selection": ("eval_accuracy", "eval_loss")}
    return Labelled("glue", columns, roles, set(), len(columns["seed"]), 2)


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
    family, group = (
        pick(rng, "prompt", "prompt_version", "variant"),
        pick(rng, "example_id", "case_id", "input_id", "test_case"),
    )
    columns = crossed(
        **{family: ["v1", "v2", "v3"][: int(rng.integers(2, 4))], group: [f"case-{row}" for row in range(60)]}
    )
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
    labelled = Labelled(
        "agents", columns, {"family": "agent", "group": group, "selection": "resolved"}, set(), chance.size, 2
    )
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
    columns = crossed(
        system=some(rng, ["whisper-small", "wav2vec2", "conformer"], 2, 3),
        **{group: [f"1089-{row:04}" for row in range(80)]},
    )
    columns["wer"] = (
        np.clip(scored(rng, columns, ("system", group), centre=0.15, spread=0.04, noise=0.02), 0, 1).round(4).tolist()
    )
    roles = {"family": "system", "group": group, "selection": "wer", "direction": "min"}
    return Labelled("utterances", columns, roles, set(), len(columns["wer"]), 2)


def translation(rng: Rng) -> Labelled:
    """Systems, language pairs, seeds, two scores."""
    task = pick(rng, "lang_pair", "lang", "language_pair", "direction")
    columns = crossed(
        **{
            "system": ["baseline", "back-translation", "ours"][: int(rng.integers(2, 4))],
            task: some(rng, ["en-de", "en-fr", "de-en", "en-ru"], 2, 4),
            "seed": [1, 2, 3, 4, 5],
        }
    )
    columns["bleu"] = scored(rng, columns, ("system", task), centre=28, spread=2, noise=0.3, digits=2)
    columns["chrf"] = scored(rng, columns, ("system", task), centre=55, spread=2, noise=0.3, digits=2)
    roles = {"family": "system", "task": task, "selection": ("bleu", "chrf")}
    return Labelled("translation", columns, roles, set(), len(columns["bleu"]), 2)


def quantised(rng: Rng) -> Labelled:
    """Models by precision on benchmarks: one score for each cell, families of two columns."""
    columns = crossed(
        model=some(rng, LLMS, 2, 3),
        quant=["fp16", "int8", "int4"],
        benchmark=["mmlu", "arc_challenge", "hellaswag", "gsm8k"],
    )
    columns["score"] = scored(rng, columns, ("model", "quant", "benchmark"), centre=0.6, spread=0.05, noise=0.01)
    roles = {"family": ("model", "model,quant", "quant"), "task": "benchmark", "selection": "score"}
    return Labelled("quantised", columns, roles, {"quant", "model"}, len(columns["score"]), 2)


def judged_pairs(rng: Rng) -> Labelled:
    """A judge's grade from 1 to 10 for each prompt of a chat benchmark."""
    columns = crossed(question_id=range(81, 161), model=some(rng, LLMS, 2, 4), turn=[1, 2])
    columns["judge"] = ["gpt-4"] * len(columns["turn"])
    columns["score"] = (
        np.clip(scored(rng, columns, ("question_id", "model"), centre=7, spread=1, noise=1), 1, 10)
        .round()
        .astype(int)
        .tolist()
    )
    roles = {"family": "model", "selection": "score", "group": "question_id"}
    return Labelled("judge", columns, roles, set(), len(columns["turn"]), 2)


def clinical(rng: Rng) -> Labelled:
    """Segmentation: a Dice score for each patient and fold."""
    columns = crossed(
        network=some(rng, ["nnUNet", "SwinUNETR", "UNETR"], 2, 3),
        **{pick(rng, "patient", "case", "subject_id", "PatientID"): [f"BraTS_{row:03}" for row in range(60)]},
    )
    group = list(columns)[1]
    score = pick(rng, "dice", "Dice", "DSC")
    columns[score] = (
        np.clip(scored(rng, columns, ("network", group), centre=0.85, spread=0.04, noise=0.02), 0, 1).round(4).tolist()
    )
    return Labelled(
        "patients", columns, {"family": "network", "group": group, "selection": score}, set(), len(columns[score]), 2
    )


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
    return Labelled(
        "folds", columns, {"family": family, "task": task, "selection": score}, set(), len(columns[score]), 2
    )


SUITES = (
    model_samples,
    forecasting,
    glue,
    automl_benchmark,
    prompts,
    coding_agents,
    graphs,
    utterances,
    translation,
    quantised,
    judged_pairs,
    clinical,
    rl_benchmark,
    classifiers_by_fold,
)
