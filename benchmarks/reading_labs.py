"""Tables as some thirty laboratories write them, for ``python benchmarks/reading.py --labs``.

Written without looking at the rules that read them, from memory of public result files: each function is one habit
(columns, their names, their order, what is repeated), with the parts that may be written otherwise drawn at random.
The order of columns is the laboratory's. What a question may leave open (two scores of equal rank, say) is labelled
with all the readings that are right.
"""

from __future__ import annotations

import numpy as np

from _labelled import Columns, Labelled, Rng, beside, crossed, pick, scored, some
from reading_suites import SUITES

MODELS = ["resnet18", "vit_small", "convnext", "mixer", "swin_t", "regnet"]


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


def table_of_runs(rng: Rng) -> Labelled:
    """A supplement's table: a method, the number of the run, a percentage."""
    family, score = (
        pick(rng, "Method", "Model", "Approach"),
        pick(rng, "Top-1 (%)", "Accuracy [%]", "Top-1 Acc", "mIoU"),
    )
    columns = crossed(
        **{family: some(rng, [*MODELS, "Ours"], 2, 5), pick(rng, "Run", "Trial", "Seed", "#"): range(1, 6)}
    )
    columns[score] = scored(rng, columns, (family,), centre=76, spread=2, noise=0.4, digits=2)
    return Labelled("runs", columns, {"family": family, "selection": score}, set(), len(columns[score]), 2)


def federated(rng: Rng) -> Labelled:
    """Rounds of communication within runs."""
    counter = pick(rng, "round", "comm_round", "rnd")
    columns = crossed(
        **{"algorithm": some(rng, ["FedAvg", "FedProx", "SCAFFOLD"], 2, 3), "seed": range(5), counter: range(1, 41)}
    )
    gain = 0.4 * (1 - np.exp(-np.array(columns[counter]) / 10))
    columns["test_acc"] = (
        (np.array(scored(rng, columns, ("algorithm",), centre=0.4, spread=0.03, noise=0.01)) + gain).round(4).tolist()
    )
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
    columns = crossed(
        **{
            family: some(rng, ["ucb1", "thompson", "eps-greedy"], 2, 3),
            pick(rng, "rep", "repetition", "trial", "replicate"): range(30),
        }
    )
    columns[score] = scored(rng, columns, (family,), centre=200, spread=15, noise=10, digits=2)
    return Labelled(
        "bandits", columns, {"family": family, "selection": score, "direction": "min"}, set(), len(columns[score]), 2
    )


def histories(rng: Rng) -> Labelled:
    """Histories of training, one below the other."""
    run, counter = pick(rng, "run", "run_id", "seed", "rep"), pick(rng, "epoch", "Epoch", "ep")
    columns = crossed(model=some(rng, MODELS, 2, 3), **{run: range(1, 6), counter: range(1, 26)})
    rise = 0.25 * (1 - np.exp(-np.array(columns[counter]) / 6))
    columns["loss"] = (1.2 - 3 * rise + 0.02 * rng.standard_normal(rise.size)).round(4).tolist()
    columns["accuracy"] = (0.6 + rise + 0.01 * rng.standard_normal(rise.size)).round(4).tolist()
    columns["val_loss"] = (1.3 - 2.5 * rise + 0.03 * rng.standard_normal(rise.size)).round(4).tolist()
    columns["val_accuracy"] = (
        (np.array(scored(rng, columns, ("model",), centre=0.55, spread=0.02, noise=0.01)) + rise).round(4).tolist()
    )
    roles = {"family": "model", "selection": ("val_accuracy", "val_loss")}
    return Labelled("histories", columns, roles, set(), len(set(columns["model"])) * 5, 2, ordered=True)


def active_learning(rng: Rng) -> Labelled:
    """The number of labels rises within a run."""
    counter = pick(rng, "n_labeled", "num_labels", "labeled_size", "query")
    columns = crossed(
        strategy=some(rng, ["random", "entropy", "bald", "coreset"], 2, 4),
        seed=range(5),
        **{counter: range(100, 1100, 100)},
    )
    rise = 0.2 * np.log10(np.array(columns[counter]) / 100)
    columns["accuracy"] = (
        (np.array(scored(rng, columns, ("strategy",), centre=0.6, spread=0.02, noise=0.01)) + rise).round(4).tolist()
    )
    return Labelled(
        "labels",
        columns,
        {"family": "strategy", "selection": "accuracy"},
        set(),
        len(set(columns["strategy"])) * 5,
        2,
        ordered=True,
    )


def evolution(rng: Rng) -> Labelled:
    """The best so far of every generation."""
    columns = crossed(optimizer=some(rng, ["cma-es", "de", "pso"], 2, 3), run=range(10), generation=range(50))
    rows = len(columns["run"])
    fitness = np.array(scored(rng, columns, ("optimizer",), centre=0, spread=0.3, noise=1)).reshape(-1, 50)
    columns["best_fitness"] = np.maximum.accumulate(fitness, axis=1).ravel().tolist()
    columns["mean_fitness"] = (fitness - 1).round(4).ravel().tolist()
    del rows
    return Labelled(
        "traces",
        columns,
        {"family": "optimizer", "selection": "best_fitness"},
        set(),
        len(set(columns["optimizer"])) * 10,
        2,
        ordered=True,
    )


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
    labelled.columns[pick(rng, "status", "state", "outcome", "exit")] = [
        word if cell else pick(rng, "ok") for cell in bad
    ]
    for role in ("selection", "reported"):
        column = labelled.columns[labelled.roles[role]]
        labelled.columns[labelled.roles[role]] = [
            "" if cell else score for cell, score in zip(bad, column, strict=True)
        ]
    labelled.n_failed = int(bad.sum())
    return labelled


def european(rng: Rng) -> Labelled:
    """Semicolons and decimal commas."""
    labelled = (pick(rng, "search", "runs") == "search" and random_search(rng)) or table_of_runs(rng)
    labelled.kind, labelled.decimal = "european", ","
    return labelled


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
    labelled = Labelled(
        "losses", columns, {"family": "model", "selection": score, "direction": "min"}, {"lr", "warmup"}, rows, 2
    )
    labelled.nothing = {"exp", "tokens", "train_loss"}
    return labelled


def searches(rng: Rng) -> Labelled:
    """Tuners run several times, each a search of many evaluations with the best so far."""
    columns = crossed(
        tuner=some(rng, ["random", "tpe", "smac", "bohb"], 2, 4), repeat=range(8), evaluation=range(1, 31)
    )
    values = np.array(scored(rng, columns, ("tuner",), centre=0.3, spread=0.01, noise=0.05)).reshape(-1, 30)
    columns["incumbent_error"] = np.minimum.accumulate(values, axis=1).ravel().tolist()
    return Labelled(
        "searches",
        columns,
        {"family": "tuner", "search": "repeat", "selection": "incumbent_error", "direction": "min"},
        set(),
        len(columns["tuner"]),
        2,
        ordered=True,
    )


LABS = (
    *SUITES,
    sweep_export,
    table_of_runs,
    federated,
    random_search,
    job_array,
    bandits,
    histories,
    active_learning,
    evolution,
    seeds_of_configurations,
    with_failures,
    european,
    losses,
    searches,
)


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
