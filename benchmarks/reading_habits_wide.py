"""Tables with one column for each seed, fold, model, metric or data set, and means in their last columns."""

from __future__ import annotations

import numpy as np

from _labelled import Columns, Labelled, Rng, crossed, pick, scored, some

MODELS = ["TextCNN", "BiLSTM", "BERT-base", "RoBERTa", "FastText"]


def _by_model(columns: Columns, models: list[str]) -> dict[str, float]:
    return {model: float(np.mean(columns[model])) for model in models}


def seeds_across(rng: Rng) -> Labelled:
    """A row for each model, a column for each seed, and often the mean and the deviation."""
    models, count = some(rng, MODELS, 2, 5), int(rng.integers(3, 7))
    family, stem = pick(rng, "model", "Method", "system"), pick(rng, "seed_{}", "seed {}", "Seed{}", "run{}", "run_{}")
    columns: Columns = {family: models}
    centres = rng.uniform(80, 90, len(models))
    scores = (centres[:, None] + 0.5 * rng.standard_normal((len(models), count))).round(2)
    for place in range(count):
        columns[stem.format(place + 1)] = scores[:, place].tolist()
    if rng.random() < 0.6:
        columns[pick(rng, "mean", "avg", "Average")] = scores.mean(1).round(2).tolist()
        columns[pick(rng, "std", "sd", "±")] = scores.std(1, ddof=1).round(2).tolist()
    means = dict(zip(models, scores.mean(1), strict=True))
    return Labelled(
        "seeds-across", columns, {"family": family}, set(), scores.size, 2, means=means, then={"direction": "max"}
    )


def models_across(rng: Rng) -> Labelled:
    """A row for each seed, a column for each model."""
    models, rows = some(rng, MODELS, 2, 4), int(rng.integers(5, 12))
    columns: Columns = {pick(rng, "seed", "run", "Seed"): list(range(1, rows + 1))}
    for model in models:
        columns[model] = (rng.uniform(0.8, 0.9) + 0.01 * rng.standard_normal(rows)).round(4).tolist()
    return Labelled(
        "models-across",
        columns,
        {},
        set(),
        rows * len(models),
        2,
        means=_by_model(columns, models),
        then={"direction": "max"},
    )


def data_sets_across(rng: Rng) -> Labelled:
    """A row for each model and seed, a column for each data set."""
    sets = some(rng, ["Cora", "CiteSeer", "PubMed", "ogbn-arxiv"], 3, 4)
    columns = crossed(model=some(rng, ["GCN", "GAT", "GraphSAGE", "APPNP"], 2, 4), seed=range(5))
    for name in sets:
        columns[name] = scored(rng, columns, ("model",), centre=rng.uniform(70, 85), spread=1, noise=0.5, digits=2)
    rows = len(columns["seed"])
    return Labelled(
        "data-across", columns, {"family": "model"}, set(), rows * len(sets), 2, then={"wide": sets, "direction": "max"}
    )


def folds_across(rng: Rng) -> Labelled:
    """A search with one column for each fold and their mean."""
    rows = int(rng.integers(20, 40))
    columns: Columns = {"model": rng.choice(["svm", "rf", "knn"][: int(rng.integers(2, 4))], rows).tolist()}
    columns["p1"], columns["p2"] = rng.uniform(0, 1, rows).round(3).tolist(), rng.uniform(1, 9, rows).round(2).tolist()
    folds = rng.normal(0.8, 0.03, (rows, 1)) + rng.normal(0, 0.02, (rows, 5))
    for place in range(5):
        columns[f"fold{place}_acc"] = folds[:, place].round(4).tolist()
    columns["mean_acc"] = folds.mean(1).round(4).tolist()
    roles = {"family": "model", "selection": "mean_acc", "direction": "max"}
    return Labelled("folds-across", columns, roles, {"p1", "p2"}, rows, 2, nothing={f"fold{k}_acc" for k in range(5)})


def samples_across(rng: Rng) -> Labelled:
    """A row for each problem and model, how many samples were drawn and how many were right."""
    columns = crossed(
        problem=[f"HumanEval/{number}" for number in range(30)],
        model=some(rng, ["deepseek", "starcoder", "codellama"], 2, 3),
    )
    rows = len(columns["problem"])
    columns["n"] = [20] * rows
    columns["c"] = rng.binomial(20, rng.uniform(0.05, 0.9, rows)).tolist()
    roles = {"family": "model", "group": "problem"}
    return Labelled("counts", columns, roles, set(), 20 * rows, 2)


def metrics_across(rng: Rng) -> Labelled:
    """Classifiers by seed with five metrics of equal rank."""
    columns = crossed(classifier=some(rng, MODELS, 2, 4), random_state=range(int(rng.integers(4, 8))))
    names = ["accuracy", "precision", "recall", "f1", "auc"]
    for name in names:
        columns[name] = scored(rng, columns, ("classifier",), centre=0.85, spread=0.02, noise=0.01)
    roles = {"family": "classifier", "selection": tuple(names), "direction": "max"}
    return Labelled("metrics-across", columns, roles, set(), len(columns["f1"]), 2, then={"selection": "auc"})


def splits_across(rng: Rng) -> Labelled:
    """Training, validation and test columns of one metric for each seed, the training columns first."""
    metric = pick(rng, "acc", "f1", "auc", "accuracy")
    columns = crossed(model=some(rng, MODELS, 2, 4), seed=range(int(rng.integers(4, 9))))
    for split, centre in (("train", 0.97), (pick(rng, "val", "dev", "valid"), 0.86), ("test", 0.85)):
        columns[f"{split}_{metric}"] = scored(rng, columns, ("model",), centre=centre, spread=0.01, noise=0.008)
    names = list(columns)
    roles = {"family": "model", "selection": (names[3], names[4]), "reported": (names[4], None), "direction": "max"}
    return Labelled("splits-across", columns, roles, set(), len(columns["seed"]), 2, nothing={names[2]})


WIDE = (seeds_across, models_across, data_sets_across, folds_across, samples_across, metrics_across, splits_across)
